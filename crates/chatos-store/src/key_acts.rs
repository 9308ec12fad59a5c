//! The state key as a person deals with it: a new one, or another place for it (state §6). Only the host
//! that holds the state does either; a command reaches it over the API.

use chatos_events::Events;
use chatos_keys::{KeyMove, KeyProblem, KeyTo, KeyWhere, Rotated, StateKey};
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::event::{ChangedKey, HostEvent};
use serde_json::{Map, json};

use crate::audit::Audit;
use crate::db::Store;
use crate::error::StoreError;

/// What may be told about the key.
#[derive(Debug, Clone)]
pub struct KeyState {
    /// Names the key without telling it.
    pub id: String,
    /// Where it is.
    pub place: KeyWhere,
    /// Keys before this one.
    pub former: usize,
}

/// The key of one state as a person changes it. Clones are the same one.
#[derive(Clone)]
pub struct StateKeys {
    key: StateKey,
    store: Store,
    audit: Audit,
    events: Events,
}

impl StateKeys {
    /// Changes of this key are recorded and published.
    pub fn new(key: StateKey, store: Store, audit: Audit, events: Events) -> Self {
        Self { key, store, audit, events }
    }

    /// The key itself, for those who seal and sign with it.
    pub fn key(&self) -> &StateKey {
        &self.key
    }

    /// The key in force and where it is.
    pub fn state(&self) -> KeyState {
        KeyState { id: self.key.id(), place: self.key.place(), former: self.key.former() }
    }

    /// A new key; everything sealed is sealed anew, all or nothing.
    pub fn rotate(&self) -> Result<Rotated, Fault> {
        let rotated = self
            .audit
            .between(|last| self.key.rotate(&self.store, last))
            .map_err(|problem| change_fault(&problem))?;
        let mut fields = Map::new();
        fields.insert("from".to_owned(), json!(rotated.from));
        fields.insert("to".to_owned(), json!(rotated.to));
        fields.insert("resealed".to_owned(), json!(rotated.resealed));
        self.audit.note("state_key_rotated", fields);
        self.events.publish(HostEvent::StateKeyChanged(ChangedKey { key_id: rotated.to.clone() }));
        Ok(rotated)
    }

    /// Moves the key to the keychain or back into a file.
    pub fn move_to(&self, to: KeyTo) -> Result<KeyMove, Fault> {
        let done = self.key.move_to(&self.store, to).map_err(|problem| change_fault(&problem))?;
        if done == KeyMove::Moved {
            let mut fields = Map::new();
            fields.insert("to".to_owned(), json!(if to == KeyTo::Keychain { "keychain" } else { "file" }));
            self.audit.note("state_key_moved", fields);
            self.events.publish(HostEvent::StateKeyChanged(ChangedKey { key_id: self.key.id() }));
        }
        Ok(done)
    }
}

fn change_fault(problem: &KeyProblem) -> Fault {
    let zh = |text: String| Text::new(problem.to_string(), text);
    match problem {
        KeyProblem::NotOurs { path } => Fault::new(
            ErrorCode::PermissionDenied,
            zh(format!("状态密钥位于 CHATOS_MASTER_KEY_FILE 指定的文件中，ChatOS 不会更改它：{}", path.display())),
        )
        .code("state_key_not_ours")
        .hint(Text::fixed(
            "to let ChatOS look after the key, copy that file into the folder of keys as <instance>.key and start without the variable",
            "如需由 ChatOS 管理密钥，请将该文件以 <实例>.key 的名称复制到密钥文件夹，并在启动时去掉该变量",
        )),
        KeyProblem::Keychain { reason } => {
            Fault::new(ErrorCode::Unavailable, zh(format!("系统钥匙串无法使用：{reason}")))
                .code("keychain_unusable")
                .hint(Text::fixed(
                    "unlock the keychain of your desktop and install `secret-tool` (package libsecret-tools); the key stays where it is",
                    "请解锁桌面钥匙串并安装 `secret-tool`（软件包 libsecret-tools）；密钥保持在原处",
                ))
        }
        KeyProblem::Rows(error) => error.downcast_ref::<StoreError>().map_or_else(|| problem.into(), Fault::from),
        KeyProblem::Seal(error) => {
            Fault::new(ErrorCode::Unavailable, zh(format!("无法更换状态密钥：{error}"))).code("state_key_unusable")
        }
        KeyProblem::Io { .. } | KeyProblem::Malformed { .. } => problem.into(),
    }
}
