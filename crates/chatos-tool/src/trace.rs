//! The nine trace fields that tie a call to its run, its agent and its log lines (tools §4, agents §12).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::hex::hex;

/// Where a call belongs. All nine fields are always written; unknown is `null`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Trace {
    /// 32 lower-case hex digits.
    pub trace_id: Option<String>,
    /// 16 lower-case hex digits: the call's own span.
    pub span_id: Option<String>,
    /// The span that made the call.
    pub parent_span_id: Option<String>,
    /// The agent at the root of the chain.
    pub root_agent_id: Option<String>,
    /// The agent that calls.
    pub agent_id: Option<String>,
    /// The subagent that calls, `<plugin>/<agent>`.
    pub sub_agent_id: Option<String>,
    /// The run.
    pub run_id: Option<String>,
    /// The conversation.
    pub session_id: Option<String>,
    /// The server's own name of the tool.
    pub tool_name: Option<String>,
}

/// Makes the ids that a caller did not give.
pub trait IdSource {
    /// 16 random bytes.
    fn trace_id(&mut self) -> [u8; 16];
    /// 8 random bytes.
    fn span_id(&mut self) -> [u8; 8];
}

impl Trace {
    /// Reads the trace of a call from its `_meta`.
    ///
    /// `chatos.trace` counts first, then `traceparent`, then new ids. What has the wrong type or form
    /// is left out and named in `warnings`; it is never an error (tools §4).
    pub fn from_meta(
        meta: &Map<String, Value>,
        tool_name: &str,
        ids: &mut impl IdSource,
        warnings: &mut Vec<String>,
    ) -> Self {
        let given = match meta.get("chatos").and_then(|chatos| chatos.get("trace")) {
            None | Some(Value::Null) => None,
            Some(Value::Object(map)) => Some(map),
            Some(_) => {
                warnings.push("_meta.chatos.trace is not an object".to_owned());
                None
            }
        };
        let mut field = |name: &str| text_field(given?, name, "_meta.chatos.trace", warnings);
        let mut trace = Self {
            trace_id: field("traceId"),
            span_id: field("spanId"),
            parent_span_id: field("parentSpanId"),
            root_agent_id: field("rootAgentId"),
            agent_id: field("agentId"),
            sub_agent_id: field("subAgentId"),
            run_id: field("runId"),
            session_id: field("sessionId"),
            tool_name: Some(tool_name.to_owned()),
        };
        trace.drop_malformed(warnings);
        let parent = match meta.get("traceparent") {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => {
                let parsed = parse_traceparent(text);
                if parsed.is_none() {
                    warnings.push("_meta.traceparent is not a W3C trace parent".to_owned());
                }
                parsed
            }
            Some(_) => {
                warnings.push("_meta.traceparent is not a string".to_owned());
                None
            }
        };
        if trace.trace_id.is_none()
            && let Some((trace_id, span_id)) = parent
        {
            trace.trace_id = Some(trace_id);
            trace.span_id.get_or_insert(span_id);
        }
        if trace.trace_id.is_none() {
            // A span of another trace cannot be continued under a new trace id.
            trace.span_id = None;
            trace.parent_span_id = None;
        }
        trace.trace_id.get_or_insert_with(|| hex(&ids.trace_id()));
        trace.span_id.get_or_insert_with(|| hex(&ids.span_id()));
        trace
    }

    fn drop_malformed(&mut self, warnings: &mut Vec<String>) {
        let ids = [
            ("traceId", &mut self.trace_id, 32),
            ("spanId", &mut self.span_id, 16),
            ("parentSpanId", &mut self.parent_span_id, 16),
        ];
        for (name, id, digits) in ids {
            if id.as_deref().is_some_and(|text| !is_id(text, digits)) {
                warnings.push(format!("_meta.chatos.trace.{name} is not {digits} lower-case hex digits"));
                *id = None;
            }
        }
    }

    /// `00-<traceId>-<spanId>-01`, when both ids are there.
    pub fn traceparent(&self) -> Option<String> {
        Some(format!("00-{}-{}-01", self.trace_id.as_deref()?, self.span_id.as_deref()?))
    }
}

/// A non-empty text of `_meta`, under its own name; a wrong type is a warning.
pub(crate) fn text_field(
    map: &Map<String, Value>,
    name: &str,
    at: &str,
    warnings: &mut Vec<String>,
) -> Option<String> {
    match map.get(name) {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) if text.trim().is_empty() => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(_) => {
            warnings.push(format!("{at}.{name} is not a string"));
            None
        }
    }
}

fn is_id(text: &str, digits: usize) -> bool {
    text.len() == digits
        && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
        && text.bytes().any(|b| b != b'0')
}

/// `version-traceid-parentid-flags`; later versions may have more parts (W3C Trace Context §3.2).
fn parse_traceparent(text: &str) -> Option<(String, String)> {
    let mut parts = text.trim().split('-');
    let version = parts.next()?;
    let (trace_id, span_id, flags) = (parts.next()?, parts.next()?, parts.next()?);
    let hex2 = |part: &str| {
        part.len() == 2 && part.bytes().all(|b| b.is_ascii_hexdigit() && !b.is_ascii_uppercase())
    };
    let fits = hex2(version)
        && version != "ff"
        && hex2(flags)
        && is_id(trace_id, 32)
        && is_id(span_id, 16)
        && (version != "00" || parts.next().is_none());
    fits.then(|| (trace_id.to_owned(), span_id.to_owned()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    struct Fixed;

    impl IdSource for Fixed {
        fn trace_id(&mut self) -> [u8; 16] {
            [0xab; 16]
        }
        fn span_id(&mut self) -> [u8; 8] {
            [0xcd; 8]
        }
    }

    fn read(meta: &Value) -> (Value, Vec<String>) {
        let mut warnings = Vec::new();
        let trace = Trace::from_meta(meta.as_object().unwrap(), "t", &mut Fixed, &mut warnings);
        (serde_json::to_value(trace).unwrap(), warnings)
    }

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const SPAN: &str = "00f067aa0ba902b7";
    const NEW_TRACE: &str = "abababababababababababababababab";
    const NEW_SPAN: &str = "cdcdcdcdcdcdcdcd";

    #[test]
    fn all_nine_fields_are_there_and_new_ids_are_made() {
        let (trace, warnings) = read(&json!({}));
        assert_eq!(
            trace,
            json!({"traceId": NEW_TRACE, "spanId": NEW_SPAN, "parentSpanId": null, "rootAgentId": null,
                   "agentId": null, "subAgentId": null, "runId": null, "sessionId": null, "toolName": "t"})
        );
        assert!(warnings.is_empty());
    }

    #[test]
    fn the_trace_object_wins_over_traceparent() {
        let (trace, warnings) = read(&json!({
            "chatos": {"trace": {"traceId": TRACE, "spanId": SPAN, "parentSpanId": "b7ad6b7169203331",
                                  "agentId": "a1", "toolName": "forged"}},
            "traceparent": format!("00-{NEW_TRACE}-{NEW_SPAN}-01"),
        }));
        assert_eq!(trace["traceId"], TRACE);
        assert_eq!(trace["spanId"], SPAN);
        assert_eq!(trace["agentId"], "a1");
        assert_eq!(trace["toolName"], "t", "the server knows its own tool's name");
        assert!(warnings.is_empty());
    }

    #[test]
    fn with_only_a_traceparent_the_ids_come_from_it() {
        let (trace, _) = read(&json!({ "traceparent": format!("00-{TRACE}-{SPAN}-01") }));
        assert_eq!((&trace["traceId"], &trace["spanId"]), (&json!(TRACE), &json!(SPAN)));
        let (later, _) = read(&json!({ "traceparent": format!("01-{TRACE}-{SPAN}-01-more") }));
        assert_eq!(later["traceId"], TRACE, "a later version may have more parts");
    }

    #[test]
    fn wrong_types_and_forms_are_warnings() {
        for meta in [
            json!({ "chatos": { "trace": 7 } }),
            json!({ "chatos": { "trace": { "traceId": 7 } } }),
            json!({ "chatos": { "trace": { "traceId": TRACE.to_uppercase() } } }),
            json!({ "chatos": { "trace": { "traceId": "0".repeat(32) } } }),
            json!({ "traceparent": "00-xyz" }),
            json!({ "traceparent": format!("ff-{TRACE}-{SPAN}-01") }),
            json!({ "traceparent": format!("00-{TRACE}-{SPAN}-01-more") }),
            json!({ "traceparent": ["a"] }),
        ] {
            let (trace, warnings) = read(&meta);
            assert_eq!(
                (&trace["traceId"], &trace["spanId"]),
                (&json!(NEW_TRACE), &json!(NEW_SPAN)),
                "{meta}"
            );
            assert_eq!(warnings.len(), 1, "{meta}: {warnings:?}");
        }
    }

    #[test]
    fn the_header_form_reads_back() {
        let (trace, _) = read(&json!({ "traceparent": format!("00-{TRACE}-{SPAN}-00") }));
        let trace: Trace = serde_json::from_value(trace).unwrap();
        assert_eq!(trace.traceparent().unwrap(), format!("00-{TRACE}-{SPAN}-01"));
    }
}
