//! What a modern call carries through the client while a person is asked: sealed, short-lived, and
//! bound to the connection, the tool and its arguments (mcp, server side).
//!
//! The client echoes it back verbatim, so nothing in it is believed without its seal. The key lives as
//! long as the process: a state of another process is refused, and the call simply asks again.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chatos_prompts::RequestId;
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// A form may stay open for a day; a client that comes back later asks anew.
const LIFE_MS: i64 = 24 * 60 * 60 * 1000;

/// Seals and opens states.
pub(super) struct StateSeal {
    key: [u8; 64],
}

#[derive(Debug, Serialize, Deserialize)]
struct State {
    until: i64,
    connection: String,
    call: String,
    id: Option<String>,
    // What the person was shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shown: Option<String>,
    // What the tool itself wants back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    own: Option<Value>,
}

/// What a state carries.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Carried {
    /// The question in the queue.
    pub(super) id: Option<RequestId>,
    /// The digest of what the person was shown.
    pub(super) shown: Option<String>,
    /// What the tool itself wants back.
    pub(super) own: Option<Value>,
}

/// Why a state is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum StateError {
    #[error("requestState was not made here")]
    Forged,
    #[error("requestState is too old")]
    Expired,
    #[error("requestState belongs to another call")]
    OtherCall,
}

impl StateSeal {
    pub(super) fn new() -> Self {
        // Four random UUIDs have 488 random bits between them.
        let mut key = [0; 64];
        for part in key.chunks_mut(16) {
            part.copy_from_slice(uuid::Uuid::new_v4().as_bytes());
        }
        Self { key }
    }

    pub(super) fn seal(
        &self,
        connection: &str,
        tool: &str,
        arguments: &Value,
        carried: Carried,
        now: i64,
    ) -> String {
        let state = State {
            until: now + LIFE_MS,
            connection: connection.to_owned(),
            call: digest(tool, arguments),
            id: carried.id.map(|id| id.as_str().to_owned()),
            shown: carried.shown,
            own: carried.own,
        };
        // Strings, numbers and JSON always serialise.
        let body = serde_json::to_vec(&state).unwrap_or_default();
        let tag = self.mac(&body).finalize().into_bytes();
        format!("{}.{}", URL_SAFE_NO_PAD.encode(&body), URL_SAFE_NO_PAD.encode(tag))
    }

    pub(super) fn open(
        &self,
        text: &str,
        connection: &str,
        tool: &str,
        arguments: &Value,
        now: i64,
    ) -> Result<Carried, StateError> {
        let (body, tag) = text.split_once('.').ok_or(StateError::Forged)?;
        let body = URL_SAFE_NO_PAD.decode(body).map_err(|_| StateError::Forged)?;
        let tag = URL_SAFE_NO_PAD.decode(tag).map_err(|_| StateError::Forged)?;
        self.mac(&body).verify_slice(&tag).map_err(|_| StateError::Forged)?;
        let state: State = serde_json::from_slice(&body).map_err(|_| StateError::Forged)?;
        if now > state.until {
            return Err(StateError::Expired);
        }
        if state.connection != connection || state.call != digest(tool, arguments) {
            return Err(StateError::OtherCall);
        }
        let id = state.id.map(|id| RequestId::parse(&id).map_err(|_| StateError::Forged)).transpose()?;
        Ok(Carried { id, shown: state.shown, own: state.own })
    }

    fn mac(&self, body: &[u8]) -> Hmac<Sha256> {
        let mut mac = <Hmac<Sha256> as KeyInit>::new(&self.key.into());
        mac.update(body);
        mac
    }
}

/// The same call has the same digest however its keys are ordered.
fn digest(tool: &str, arguments: &Value) -> String {
    let mut hash = Sha256::new();
    hash.update(tool.as_bytes());
    hash.update([0]);
    chatos_tool::canonical(arguments, &mut |part| hash.update(part));
    URL_SAFE_NO_PAD.encode(hash.finalize())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_the_same_call_opens_its_state() {
        let seal = StateSeal::new();
        let id = RequestId::parse("q-1").unwrap();
        let arguments = json!({"a": 1, "b": [true, {"c": "d"}]});
        let carried =
            Carried { id: Some(id), shown: Some("sha256:0".to_owned()), own: Some(json!({"step": 1})) };
        let state = seal.seal("conn", "tool", &arguments, carried.clone(), 1000);
        let open =
            |connection, tool, arguments: &Value, now| seal.open(&state, connection, tool, arguments, now);
        let reordered = json!({"b": [true, {"c": "d"}], "a": 1});
        assert_eq!(open("conn", "tool", &reordered, 2000), Ok(carried));
        assert_eq!(open("conn", "tool", &json!({"a": 2}), 2000), Err(StateError::OtherCall));
        assert_eq!(open("conn", "other", &arguments, 2000), Err(StateError::OtherCall));
        assert_eq!(open("else", "tool", &arguments, 2000), Err(StateError::OtherCall));
        assert_eq!(open("conn", "tool", &arguments, 1000 + LIFE_MS + 1), Err(StateError::Expired));
    }

    #[test]
    fn a_changed_or_foreign_state_is_refused() {
        let (seal, other) = (StateSeal::new(), StateSeal::new());
        let state = seal.seal("c", "t", &json!({}), Carried::default(), 0);
        assert_eq!(seal.open(&state, "c", "t", &json!({}), 0), Ok(Carried::default()));
        assert_eq!(other.open(&state, "c", "t", &json!({}), 0), Err(StateError::Forged));
        for at in 0..state.len() {
            let mut bytes = state.clone().into_bytes();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            let text = String::from_utf8(bytes).unwrap();
            assert!(seal.open(&text, "c", "t", &json!({}), 0).is_err(), "{at}");
        }
        for text in ["", ".", "a.b", "no dot", "é.é"] {
            assert_eq!(seal.open(text, "c", "t", &json!({}), 0), Err(StateError::Forged));
        }
    }
}
