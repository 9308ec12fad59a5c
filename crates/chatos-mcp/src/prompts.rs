//! The prompts of a connected server: listed when somebody wants them, kept until it says they changed, filled and
//! completed by the server itself.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::connection::Connection;
use crate::failure::{Failure, Waited};
use crate::limits::{COMPLETIONS, CURSOR_BYTES, LIST_PAGES};
use crate::prompt_list::{self, Prompt};

impl Connection {
    /// The prompts, listed once and again after the server said they changed. A server without any has none.
    pub async fn prompts(&self) -> Result<Arc<Vec<Prompt>>, Failure> {
        if !self.has("prompts") {
            return Ok(Arc::default());
        }
        let mut known = self.prompts.lock().await;
        let revision = self.session.router.prompts.load(Ordering::SeqCst);
        if let Some((of, list)) = known.as_ref()
            && *of == revision
        {
            return Ok(Arc::clone(list));
        }
        let list = Arc::new(self.list_prompts().await?);
        *known = Some((revision, Arc::clone(&list)));
        Ok(list)
    }

    async fn list_prompts(&self) -> Result<Vec<Prompt>, Failure> {
        let mut list = Vec::new();
        self.pages("prompts/list", "prompts", |page| prompt_list::take(&mut list, page)).await?;
        Ok(list)
    }

    /// Reads a list page by page: `take` gets what stands under `key` and says whether it wants another page.
    pub(crate) async fn pages(
        &self,
        method: &str,
        key: &str,
        mut take: impl FnMut(&[Value]) -> bool,
    ) -> Result<(), Failure> {
        let total = self.session.times.list;
        let deadline = Instant::now() + total;
        let mut cursor: Option<String> = None;
        for _ in 0..LIST_PAGES {
            let mut params = Map::new();
            if let Some(cursor) = &cursor {
                params.insert("cursor".to_owned(), json!(cursor));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let page = self.request(method, params, left).await.map_err(|failure| match failure {
                Failure::TimedOut { noise, .. } => {
                    Failure::TimedOut { what: Waited::List, after: total, noise }
                }
                other => other,
            })?;
            let Some(items) = page[key].as_array() else {
                return Err(Failure::Protocol { detail: format!("its list of {key} is no list") });
            };
            let more = take(items);
            let next =
                page["nextCursor"].as_str().filter(|next| !next.is_empty() && next.len() <= CURSOR_BYTES);
            match next {
                Some(next) if more && cursor.as_deref() != Some(next) => cursor = Some(next.to_owned()),
                _ => break,
            }
        }
        Ok(())
    }

    /// The messages of a prompt (`prompts/get`), as the server gave them.
    pub async fn prompt(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        within: Duration,
    ) -> Result<Value, Failure> {
        let mut params = Map::new();
        params.insert("name".to_owned(), json!(name));
        params.insert("arguments".to_owned(), Value::Object(arguments));
        self.request("prompts/get", params, within).await
    }

    /// Values for an argument of a prompt that begins with `value`, and whether there are others. A server that
    /// completes nothing has none.
    pub async fn complete_prompt(
        &self,
        name: &str,
        argument: (&str, &str),
        others: Map<String, Value>,
        within: Duration,
    ) -> Result<(Vec<String>, bool), Failure> {
        self.complete(json!({ "type": "ref/prompt", "name": name }), argument, others, within).await
    }

    /// As [`Connection::complete_prompt`], of whatever `of` refers to.
    pub(crate) async fn complete(
        &self,
        of: Value,
        argument: (&str, &str),
        others: Map<String, Value>,
        within: Duration,
    ) -> Result<(Vec<String>, bool), Failure> {
        if !self.has("completions") {
            return Ok((Vec::new(), false));
        }
        let params = json!({
            "ref": of,
            "argument": { "name": argument.0, "value": argument.1 },
            "context": { "arguments": others },
        });
        let params = params.as_object().cloned().unwrap_or_default();
        let result = self.request("completion/complete", params, within).await?;
        let completion = &result["completion"];
        let all = completion["values"].as_array().map(Vec::as_slice).unwrap_or_default();
        let values: Vec<String> =
            all.iter().filter_map(Value::as_str).take(COMPLETIONS).map(str::to_owned).collect();
        let more = completion["hasMore"] == Value::Bool(true) || all.len() > values.len();
        Ok((values, more))
    }

    /// Whether the server said that it has this.
    pub fn has(&self, capability: &str) -> bool {
        self.peer.capabilities.get(capability).is_some_and(|value| !value.is_null())
    }
}
