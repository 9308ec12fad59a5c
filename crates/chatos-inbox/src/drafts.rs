//! What a person has typed into a form and not sent yet, kept per browser (ui-prompts §12.2).

use chatos_prompts::{Item, ItemState};
use chatos_store::now_ms;
use chatos_tool::{ErrorCode, Fault, Text};
use serde_json::{Map, Value, json};

use crate::fault::wrong;
use crate::questions::{Questions, parse};

/// Largest draft that is kept, in bytes.
const MAX_DRAFT: usize = 1 << 20;

impl Questions {
    /// `GET /prompts/{id}/draft`.
    pub fn draft(&self, id: &str, client: &str) -> Result<Value, Fault> {
        let id = parse(id)?;
        let open = self.item(&id)?.state == ItemState::Pending;
        let saved = match &self.store {
            Some(store) if open => store.prompt_draft(id.as_str(), client)?,
            _ => None,
        };
        let (draft, at) = match saved {
            Some((text, at)) => (serde_json::from_str(&text).unwrap_or(Value::Null), Some(at)),
            None => (Value::Null, None),
        };
        Ok(json!({ "draft": draft, "updatedAt": at.map(chatos_prompts::format_ms) }))
    }

    /// `PUT /prompts/{id}/draft`; values of secret fields are never kept.
    pub fn save_draft(&self, id: &str, client: &str, draft: &Value) -> Result<Value, Fault> {
        let id = parse(id)?;
        let client = client_id(client)?;
        let Some(draft) = draft.as_object() else {
            return Err(wrong("draft", &draft.to_string(), "an object", "对象"));
        };
        let item = self.item(&id)?;
        if item.state != ItemState::Pending {
            return Ok(json!({ "ok": false }));
        }
        let mut draft = draft.clone();
        drop_secrets(&item, &mut draft);
        let text = Value::Object(draft).to_string();
        if text.len() > MAX_DRAFT {
            return Err(Fault::new(
                ErrorCode::InvalidArgument,
                Text::fixed("a draft is at most 1 MiB", "草稿最大 1 MiB"),
            )
            .code("too_large"));
        }
        if let Some(store) = &self.store {
            store.save_prompt_draft(id.as_str(), client, text, now_ms())?;
        }
        Ok(json!({ "ok": true }))
    }

    /// `DELETE /prompts/{id}/draft`.
    pub fn delete_draft(&self, id: &str, client: &str) -> Result<Value, Fault> {
        let id = parse(id)?;
        if let Some(store) = &self.store {
            store.delete_prompt_drafts(id.as_str(), Some(client))?;
        }
        Ok(json!({ "ok": true }))
    }
}

fn client_id(client: &str) -> Result<&str, Fault> {
    let fits = (1..=128).contains(&client.len()) && client.bytes().all(|b| b.is_ascii_graphic());
    if fits {
        Ok(client)
    } else {
        Err(wrong("client", client, "an id of 1 to 128 characters", " 1 到 128 个字符的标识"))
    }
}

fn drop_secrets(item: &Item, draft: &mut Map<String, Value>) {
    let fields = item.prompt.get("fields").and_then(Value::as_array);
    let secret: Vec<&str> = fields
        .into_iter()
        .flatten()
        .filter(|field| field.get("secret") == Some(&Value::Bool(true)))
        .filter_map(|field| field.get("key").and_then(Value::as_str))
        .collect();
    draft.retain(|key, _| !secret.contains(&key.as_str()));
    for value in draft.values_mut() {
        if let Value::Object(inner) = value {
            inner.retain(|key, _| !secret.contains(&key.as_str()));
        }
    }
}
