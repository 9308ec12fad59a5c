//! One spelling of a JSON value, whatever the order of its keys: what digests are made of.

use serde_json::Value;

/// Hands the bytes of `value` to `feed`, keys sorted, no white space. For digests, not for reading back:
/// every member and item ends with a comma.
pub fn canonical(value: &Value, feed: &mut impl FnMut(&[u8])) {
    match value {
        Value::Object(map) => {
            let mut members: Vec<(&String, &Value)> = map.iter().collect();
            members.sort_unstable_by_key(|(key, _)| *key);
            feed(b"{");
            for (key, member) in members {
                feed(Value::String(key.clone()).to_string().as_bytes());
                feed(b":");
                canonical(member, feed);
                feed(b",");
            }
            feed(b"}");
        }
        Value::Array(items) => {
            feed(b"[");
            for item in items {
                canonical(item, feed);
                feed(b",");
            }
            feed(b"]");
        }
        plain => feed(plain.to_string().as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn spelled(value: &Value) -> String {
        let mut bytes = Vec::new();
        canonical(value, &mut |part| bytes.extend_from_slice(part));
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn order_does_not_matter_and_nothing_else_is_lost() {
        assert_eq!(
            spelled(&json!({ "b": [1, "x"], "a": { "\"": null } })),
            r#"{"a":{"\"":null,},"b":[1,"x",],}"#
        );
        assert_eq!(spelled(&json!({ "b": 1, "a": 2 })), spelled(&json!({ "a": 2, "b": 1 })));
        assert_ne!(spelled(&json!([1, 2])), spelled(&json!([2, 1])));
        assert_ne!(spelled(&json!(["1"])), spelled(&json!([1])));
    }
}
