//! The resources of servers that are granted to an agent: for a person who attaches one, and for other programs behind
//! the gateway (packages §5.3).

use std::sync::Arc;
use std::time::Duration;

use chatos_mcp::ResourceList;
use chatos_policy::Outcome;
use chatos_tool::Fault;
use serde_json::{Map, Value};

use crate::servers::Servers;

/// How long a server may take over a resource.
const READING: Duration = Duration::from_secs(60);
/// How long it may take over suggestions; later ones help nobody.
const COMPLETING: Duration = Duration::from_secs(2);

/// The resources of one server.
#[derive(Debug, Clone)]
pub struct ServerResources {
    /// The key of grants.
    pub identity: String,
    /// Its name, as people and land_configs have it.
    pub server: String,
    /// What it offers, in its own order.
    pub list: Arc<ResourceList>,
}

impl Servers {
    /// The resources of every granted server that tells them within `wait`, and the names of those that have not yet:
    /// they go on, and the next call has theirs. Without patience only what was told before is given.
    pub async fn resources(
        &self,
        outcome: &Outcome,
        wait: Duration,
    ) -> Result<(Vec<ServerResources>, Vec<String>), Fault> {
        let (found, late) = self
            .told(
                outcome,
                wait,
                |connection| connection.known_resources(),
                |connection| async move { connection.resources().await },
            )
            .await?;
        let found = found.into_iter().map(|(known, list)| ServerResources {
            identity: known.identity().as_str().to_owned(),
            server: known.name().to_owned(),
            list,
        });
        Ok((found.collect(), late))
    }

    /// What is at an address of a granted server, as it gave it (`resources/read`).
    pub async fn read_granted(&self, outcome: &Outcome, server: &str, uri: &str) -> Result<Value, Fault> {
        self.with_granted(outcome, server, |connection| async move {
            connection.read_resource(uri, READING).await
        })
        .await
    }

    /// What a granted server suggests for a variable of its template, and whether there is more.
    pub async fn complete_template(
        &self,
        outcome: &Outcome,
        server: &str,
        template: &str,
        variable: (&str, &str),
        others: Map<String, Value>,
    ) -> Result<(Vec<String>, bool), Fault> {
        self.with_granted(outcome, server, |connection| async move {
            connection.complete_template(template, variable, others, COMPLETING).await
        })
        .await
    }
}
