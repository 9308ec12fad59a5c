//! Orders for whoever tries a tool through a chat (devkit §4.5): `/call TOOL {…}`, and `/calls [{"tool", "args"}, …]`
//! one after the other. The calls go the way every model's calls go.

use serde_json::{Map, Value};

/// One call as it was ordered.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Order {
    /// The tool's own name, or the name it is offered under.
    pub(super) tool: String,
    pub(super) arguments: Value,
}

/// What a message orders: calls, or why it cannot be read. `None`: it is an ordinary message.
pub(super) fn orders(text: &str) -> Option<Result<Vec<Order>, String>> {
    let text = text.trim();
    let after = |word: &str| text.strip_prefix(word).filter(|rest| rest.starts_with(char::is_whitespace));
    if let Some(rest) = after("/call") {
        return Some(one(rest.trim()).map(|order| vec![order]));
    }
    after("/calls").map(|rest| several(rest.trim()))
}

fn one(rest: &str) -> Result<Order, String> {
    let (tool, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let arguments = match arguments.trim() {
        "" => Value::Object(Map::new()),
        text => serde_json::from_str(text).map_err(|error| error.to_string())?,
    };
    order(tool, arguments)
}

fn several(rest: &str) -> Result<Vec<Order>, String> {
    let listed: Vec<Value> = serde_json::from_str(rest).map_err(|error| error.to_string())?;
    let each = listed.into_iter().map(|mut entry| {
        let arguments = entry.get_mut("args").map_or_else(|| Value::Object(Map::new()), Value::take);
        order(entry["tool"].as_str().unwrap_or_default(), arguments)
    });
    each.collect()
}

fn order(tool: &str, arguments: Value) -> Result<Order, String> {
    match (tool, &arguments) {
        ("", _) => Err("\"tool\"".to_owned()),
        (_, Value::Object(_)) => Ok(Order { tool: tool.to_owned(), arguments }),
        _ => Err("\"args\": {…}".to_owned()),
    }
}
