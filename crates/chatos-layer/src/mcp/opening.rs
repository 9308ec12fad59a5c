//! The beginning of a message that is too long to be read: whom to answer.

use std::borrow::Cow;
use std::fmt;

use rmcp::model::RequestId;
use serde::Deserializer as _;
use serde::de::{IgnoredAny, MapAccess, Visitor};

/// The id, when what can be seen is a request; an answer has an id of ours.
pub(super) fn request_id(head: &[u8]) -> Option<RequestId> {
    let mut seen = Seen::default();
    // It is cut short, so it always fails in the end; what was read before counts.
    drop(serde_json::Deserializer::from_slice(head.trim_ascii_start()).deserialize_map(&mut seen));
    seen.id.filter(|_| seen.method)
}

#[derive(Default)]
struct Seen {
    id: Option<RequestId>,
    method: bool,
}

impl<'de> Visitor<'de> for &mut Seen {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            match &*key {
                "id" => self.id = Some(map.next_value()?),
                key => {
                    self.method |= key == "method";
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_is_cut_short_is_known_by_its_id() {
        let id = |text: &str| request_id(text.as_bytes()).map(|id| id.to_string());
        let text = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"write_file","argum"#;
        assert_eq!(id(text).as_deref(), Some("7"));
        assert_eq!(id(r#" {"method":"x","id":"a","params":"#).as_deref(), Some("a"));
        for other in [
            "",
            "[",
            "xxxx",
            r#"{"id":7,"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{"#,
            r#"{"method":"x","params":{"#,
            r#"{"method":"x","id":{},"#,
        ] {
            assert_eq!(id(other), None, "{other}");
        }
    }
}
