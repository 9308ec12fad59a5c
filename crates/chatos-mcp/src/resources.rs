//! The resources of a connected server: listed when somebody wants them, kept until it says they changed, read by their
//! address.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::connection::Connection;
use crate::failure::Failure;
use crate::resource_list::{self, ResourceList};

/// The code of a method that a server does not have.
const NO_METHOD: i64 = -32601;

impl Connection {
    /// The resources and their templates, listed once and again after the server said they changed. A server that
    /// does not offer resources has none.
    pub async fn resources(&self) -> Result<Arc<ResourceList>, Failure> {
        if !self.has("resources") {
            return Ok(Arc::default());
        }
        if let Some(known) = self.known_resources() {
            return Ok(known);
        }
        let mut known = self.resources.lock().await;
        let revision = self.session.router.resources.load(Ordering::SeqCst);
        if let Some((of, list)) = known.as_ref()
            && *of == revision
        {
            return Ok(Arc::clone(list));
        }
        let mut list = ResourceList::default();
        self.pages("resources/list", "resources", |page| {
            resource_list::take(&mut list.resources, page, "uri")
        })
        .await?;
        let templates = self
            .pages("resources/templates/list", "resourceTemplates", |page| {
                resource_list::take(&mut list.templates, page, "uriTemplate")
            })
            .await;
        match templates {
            // Many servers have resources and no templates, and do not know the word.
            Err(Failure::Rpc(error)) if error.code == NO_METHOD => {}
            listed => listed?,
        }
        let list = Arc::new(list);
        *known = Some((revision, Arc::clone(&list)));
        *self.newest_resources.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((revision, Arc::clone(&list)));
        Ok(list)
    }

    /// The list as it was last read, where the server has not said that it changed. Asks nobody.
    pub fn known_resources(&self) -> Option<Arc<ResourceList>> {
        if !self.has("resources") {
            return Some(Arc::default());
        }
        let newest = self.newest_resources.lock().unwrap_or_else(PoisonError::into_inner);
        let revision = self.session.router.resources.load(Ordering::SeqCst);
        newest.as_ref().filter(|(of, _)| *of == revision).map(|(_, list)| Arc::clone(list))
    }

    /// What is at an address (`resources/read`), as the server gave it.
    pub async fn read_resource(&self, uri: &str, within: Duration) -> Result<Value, Failure> {
        let mut params = Map::new();
        params.insert("uri".to_owned(), json!(uri));
        self.request("resources/read", params, within).await
    }

    /// As [`Connection::complete_prompt`], for a variable of a template.
    pub async fn complete_template(
        &self,
        template: &str,
        variable: (&str, &str),
        others: Map<String, Value>,
        within: Duration,
    ) -> Result<(Vec<String>, bool), Failure> {
        self.complete(json!({ "type": "ref/resource", "uri": template }), variable, others, within).await
    }
}
