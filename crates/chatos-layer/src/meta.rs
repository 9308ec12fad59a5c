//! What a caller says about a call besides its arguments: `_meta` (tools §4).

use chatos_tool::{IdSource, Lang, Trace};
use serde_json::{Map, Value};

/// The context of one call. Values of a wrong type are left out and named in `warnings`.
#[derive(Debug, Clone)]
pub(crate) struct CallMeta {
    /// The directory the call works in.
    pub(crate) workdir: Option<String>,
    /// The message of the person that led to it.
    pub(crate) user_message_id: Option<String>,
    /// The caller's id of the call.
    pub(crate) tool_call_id: Option<String>,
    /// The language a person who calls by hand reads; the settings decide for everybody else.
    pub(crate) lang: Option<Lang>,
    /// The language of the person who is asked, where the host knows it.
    pub(crate) people: Option<Lang>,
    /// Where it belongs; run and session are in it.
    pub(crate) trace: Trace,
    /// What was wrong.
    pub(crate) warnings: Vec<String>,
}

impl CallMeta {
    /// Reads `_meta` of a call to `tool`.
    pub(crate) fn read(meta: &Map<String, Value>, tool: &str) -> Self {
        let mut warnings = Vec::new();
        let mut trace = Trace::from_meta(meta, tool, &mut RandomIds, &mut warnings);
        let mut text = |names: &[&str]| {
            names.iter().find_map(|name| match meta.get(*name) {
                None | Some(Value::Null) => None,
                Some(Value::String(text)) if text.trim().is_empty() => None,
                Some(Value::String(text)) => Some(text.clone()),
                Some(_) => {
                    warnings.push(format!("_meta.{name} is not a string"));
                    None
                }
            })
        };
        let run_id = text(&["runId", "run_id"]);
        let session_id = text(&["sessionId", "session_id"]);
        let workdir = text(&["workdir"]);
        let user_message_id = text(&["userMessageId", "user_message_id"]);
        let tool_call_id = text(&["toolCallId", "tool_call_id"]);
        let lang = text(&["chatos.lang"]).and_then(|lang| lang.parse().ok());
        let people = text(&["chatos.peopleLang"]).and_then(|lang| lang.parse().ok());
        // The flat fields name the same run and session as the trace; where both are given they agree,
        // and where they do not, the flat ones are what tools have always read.
        trace.run_id = run_id.or(trace.run_id);
        trace.session_id = session_id.or(trace.session_id);
        Self { workdir, user_message_id, tool_call_id, lang, people, trace, warnings }
    }
}

/// Ids from the system's random source.
struct RandomIds;

impl IdSource for RandomIds {
    fn trace_id(&mut self) -> [u8; 16] {
        // UUIDv4 has 122 random bits, which is what a trace id needs to be unique.
        *uuid::Uuid::new_v4().as_bytes()
    }

    fn span_id(&mut self) -> [u8; 8] {
        let mut id = [0; 8];
        id.copy_from_slice(&uuid::Uuid::new_v4().as_bytes()[8..]);
        // The first bits of this half are the UUID's variant: never all zero.
        id
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(meta: &Value) -> CallMeta {
        CallMeta::read(meta.as_object().unwrap(), "t")
    }

    #[test]
    fn both_spellings_are_read() {
        let camel = read(
            &json!({"runId": "r", "sessionId": "s", "userMessageId": "u", "toolCallId": "c", "workdir": "/w"}),
        );
        let snake = read(
            &json!({"run_id": "r", "session_id": "s", "user_message_id": "u", "tool_call_id": "c", "workdir": "/w"}),
        );
        for meta in [camel, snake] {
            assert_eq!(meta.trace.run_id.as_deref(), Some("r"));
            assert_eq!(meta.trace.session_id.as_deref(), Some("s"));
            assert_eq!(meta.user_message_id.as_deref(), Some("u"));
            assert_eq!(meta.tool_call_id.as_deref(), Some("c"));
            assert_eq!(meta.workdir.as_deref(), Some("/w"));
            assert!(meta.warnings.is_empty());
        }
    }

    #[test]
    fn wrong_types_are_warnings_and_the_twin_counts() {
        let meta =
            read(&json!({"runId": 7, "run_id": "r", "workdir": [], "sessionId": "", "toolCallId": null}));
        assert_eq!(meta.trace.run_id.as_deref(), Some("r"));
        assert_eq!((meta.workdir, meta.trace.session_id, meta.tool_call_id), (None, None, None));
        assert_eq!(meta.warnings, ["_meta.runId is not a string", "_meta.workdir is not a string"]);
    }

    #[test]
    fn ids_are_new_for_each_call() {
        let (a, b) = (read(&json!({})), read(&json!({})));
        assert_ne!(a.trace.trace_id, b.trace.trace_id);
        assert_ne!(a.trace.span_id, b.trace.span_id);
    }
}
