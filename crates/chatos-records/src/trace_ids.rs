//! Ids of traces and spans, and the tree of one trace (agents §12).

use chatos_tool::{IdSource, Trace, hex};

/// A new span id.
pub fn new_span() -> String {
    let bytes = uuid::Uuid::new_v4();
    hex(&bytes.as_bytes()[8..])
}

/// A new trace id.
pub fn new_trace() -> String {
    // The version bits of a UUID make it non-zero.
    hex(uuid::Uuid::new_v4().as_bytes())
}

struct Random;

impl IdSource for Random {
    fn trace_id(&mut self) -> [u8; 16] {
        *uuid::Uuid::new_v4().as_bytes()
    }
    fn span_id(&mut self) -> [u8; 8] {
        let mut id = [0; 8];
        id.copy_from_slice(&uuid::Uuid::new_v4().as_bytes()[8..]);
        id
    }
}

/// The trace and parent span of an incoming `traceparent`; nothing when it is malformed.
pub fn incoming(traceparent: &str) -> Option<(String, String)> {
    let mut meta = serde_json::Map::new();
    meta.insert("traceparent".to_owned(), traceparent.into());
    let mut warnings = Vec::new();
    let trace = Trace::from_meta(&meta, "", &mut Random, &mut warnings);
    warnings.is_empty().then_some((trace.trace_id?, trace.span_id?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_their_form_and_a_parent_is_taken_over() {
        assert_eq!((new_span().len(), new_trace().len()), (16, 32));
        let (trace, span) = (new_trace(), new_span());
        let header = format!("00-{trace}-{span}-01");
        assert_eq!(incoming(&header), Some((trace, span)));
        assert_eq!(incoming("00-zz-1-01"), None);
    }
}
