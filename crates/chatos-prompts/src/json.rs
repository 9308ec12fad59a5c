//! JSON as questions need it: objects, places in them, and the canonical form.

pub(crate) mod canonical;

use serde_json::{Map, Value};

/// A JSON object with its keys in order.
pub type Object = Map<String, Value>;

/// Escapes one segment of a JSON pointer.
pub(crate) fn pointer_segment(text: &str) -> String {
    text.replace('~', "~0").replace('/', "~1")
}

/// How deeply `value` is nested; a scalar is 0. Walks with its own stack.
pub(crate) fn depth(value: &Value) -> usize {
    let mut deepest = 0;
    let mut todo = vec![(value, 0usize)];
    while let Some((value, at)) = todo.pop() {
        match value {
            Value::Array(items) => {
                deepest = deepest.max(at + 1);
                todo.extend(items.iter().map(|v| (v, at + 1)));
            }
            Value::Object(map) => {
                deepest = deepest.max(at + 1);
                todo.extend(map.values().map(|v| (v, at + 1)));
            }
            _ => {}
        }
    }
    deepest
}
