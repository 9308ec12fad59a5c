//! Secrets a person entered for this run: named by reference in a call, resolved here and nowhere else
//! (servers §8, §3.7).

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use chatos_layer::CallCx;
use chatos_layer::person::UI_PROMPTER;
use chatos_prompts::{Owner, RequestId};
use chatos_tool::{Reason, Text, ToolError};
use serde_json::Value;

/// Secrets resolved so far. Values are delivered once by the queue, so they are kept while the server runs.
#[derive(Default)]
pub(super) struct Secrets {
    known: Mutex<BTreeMap<(String, String), Known>>,
}

struct Known {
    run_id: Option<String>,
    value: String,
}

impl Secrets {
    /// The value behind a reference; any other text is itself.
    pub(super) async fn resolve(&self, cx: &CallCx, text: &str) -> Result<String, ToolError> {
        let Some((id, key)) = text.strip_prefix("secret:").and_then(|rest| rest.split_once('/')) else {
            return Ok(text.to_owned());
        };
        let name = (id.to_owned(), key.to_owned());
        let run_id = cx.trace.run_id.clone();
        {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(known) = known.get(&name) {
                // Valid for the run that asked (servers §8).
                return if known.run_id == run_id { Ok(known.value.clone()) } else { Err(unknown(text)) };
            }
        }
        let request = RequestId::parse(id).map_err(|_| unknown(text))?;
        let owner = Owner::host_server(UI_PROMPTER);
        let taken = cx.unless_stopped(cx.queue.take(&request, &owner, true)).await?;
        let response = taken.ok().flatten().ok_or_else(|| unknown(text))?;
        let values = response.get("values").and_then(Value::as_object).ok_or_else(|| unknown(text))?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        for (key, value) in values {
            if let Some(value) = value.as_str() {
                cx.redactor().learn(value);
                known.insert(
                    (id.to_owned(), key.clone()),
                    Known { run_id: run_id.clone(), value: value.to_owned() },
                );
            }
        }
        known.get(&name).map(|known| known.value.clone()).ok_or_else(|| unknown(text))
    }
}

fn unknown(reference: &str) -> ToolError {
    ToolError::new(
        Reason::NotFound {
            what: "secret".to_owned(),
            id: Some(reference.to_owned()),
            path: None,
            nearest: Vec::new(),
        },
        Text::fixed("the secret is not known in this run", "此次运行中没有该密钥"),
    )
    .hint(Text::fixed("ask the person again with prompt_key_values", "请用 prompt_key_values 再次询问用户"))
}
