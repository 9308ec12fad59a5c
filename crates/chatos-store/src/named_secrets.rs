//! Named secrets as a person deals with them: set and removed, with a record of it, opened only where they are used.

use chatos_events::Events;
use chatos_keys::{StateKey, SubKey};
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::event::{ChangedName, HostEvent};
use serde_json::{Map, json};

use crate::audit::Audit;
use crate::db::Store;
use crate::secrets::{SecretInfo, SecretValue, is_secret_name};

/// The secrets of one state. Clones are the same ones.
#[derive(Clone)]
pub struct Secrets {
    store: Store,
    key: SubKey,
    audit: Audit,
    events: Events,
}

impl Secrets {
    /// The secrets this key seals. Nothing is read before the first use.
    pub fn new(store: Store, key: &StateKey, audit: Audit, events: Events) -> Self {
        Self { store, key: key.sub_key("secrets"), audit, events }
    }

    /// What may be told about secrets.
    pub fn list(&self) -> Result<Vec<SecretInfo>, Fault> {
        Ok(self.store.list_secrets(&self.key)?)
    }

    /// Sets a secret. Returns whether it was new.
    pub fn set(&self, name: &str, value: &str, description: Option<String>) -> Result<bool, Fault> {
        if !is_secret_name(name) {
            return Err(bad_name(name));
        }
        if value.is_empty() || value.len() > 64 * 1024 {
            return Err(Fault::new(
                ErrorCode::InvalidArgument,
                Text::fixed("a secret has 1 to 65536 bytes", "密钥长度应为 1 到 65536 字节"),
            )
            .hint(Text::fixed("give its value on standard input", "请通过标准输入提供其值")));
        }
        let new = self.store.set_secret(&self.key, name, value.as_bytes(), description)?;
        self.changed(name, if new { "secret_set" } else { "secret_changed" });
        Ok(new)
    }

    /// Removes a secret.
    pub fn remove(&self, name: &str) -> Result<(), Fault> {
        if !self.store.remove_secret(name)? {
            return Err(no_secret(name));
        }
        self.changed(name, "secret_removed");
        Ok(())
    }

    /// Opens a secret for the one place that uses it.
    pub fn open(&self, name: &str) -> Result<Option<SecretValue>, Fault> {
        self.store.use_secret(&self.key, name).map_err(|error| {
            Fault::new(
                ErrorCode::Unavailable,
                Text::new(error.message.clone(), format!("无法打开密钥 `{name}`")),
            )
            .code("secret_unreadable")
            .hint(Text::fixed(
                "put the former state key back, or set the secret again",
                "请放回原来的状态密钥，或重新设置该密钥",
            ))
        })
    }

    fn changed(&self, name: &str, what: &'static str) {
        let mut fields = Map::new();
        fields.insert("name".to_owned(), json!(name));
        self.audit.note(what, fields);
        self.events.publish(HostEvent::SecretsChanged(ChangedName { name: name.to_owned() }));
    }
}

fn bad_name(name: &str) -> Fault {
    Fault::new(
        ErrorCode::InvalidArgument,
        Text::new(format!("`{name}` cannot name a secret"), format!("`{name}` 不能用作密钥名称")),
    )
    .hint(Text::fixed(
        "use letters, digits and underscores, not beginning with a digit, as in OPENAI_API_KEY",
        "请使用字母、数字和下划线，且不以数字开头，例如 OPENAI_API_KEY",
    ))
}

/// No secret has this name.
fn no_secret(name: &str) -> Fault {
    Fault::new(
        ErrorCode::NotFound,
        Text::new(format!("there is no secret `{name}`"), format!("没有名为 `{name}` 的密钥")),
    )
    .hint(Text::fixed("`chatos secrets list` names them", "`chatos secrets list` 会列出全部名称"))
}
