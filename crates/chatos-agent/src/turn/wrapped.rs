//! A call of a tool on demand: `call_tool {name, arguments}` is that tool's own call, before policy, journal,
//! approval and log see it. Only the conversation keeps the wrapper, as the vendor wants it back.

use chatos_servers::{CALL_TOOL, GrantedTool, Toolset};
use chatos_tool::{Reason, Text, ToolError};
use serde_json::{Map, Value, json};

use crate::args::{self, Arguments};
use crate::transcript::Pending;

/// The call inside, where there is one; else the call as it is.
pub(super) fn unwrapped(set: &Toolset, mut pending: Pending) -> Pending {
    if pending.call.name != CALL_TOOL || set.get(CALL_TOOL).is_none() {
        return pending;
    }
    let map = match args::read(&pending.call.arguments) {
        Arguments::Plain(map) | Arguments::Repaired(map) => map,
        Arguments::Broken { .. } => return pending,
    };
    let Some(name) = map.get("name").and_then(Value::as_str).map(str::trim).filter(|name| !name.is_empty())
    else {
        return pending;
    };
    let arguments = match map.get("arguments") {
        None | Some(Value::Null) => "{}".to_owned(),
        Some(arguments @ Value::Object(_)) => arguments.to_string(),
        // Some models write the object as a text.
        Some(Value::String(text)) => text.clone(),
        Some(_) => return pending,
    };
    // A tool may be called by its server's own name for it where that is clear.
    let mut same = set.specs().filter(|tool| tool.tool == name && set.is_deferred(&tool.name));
    let named = match (set.get(name), same.next(), same.next()) {
        (None, Some(only), None) => only.name.clone(),
        _ => name.to_owned(),
    };
    if named == CALL_TOOL {
        return pending;
    }
    (pending.call.name, pending.call.arguments) = (named, arguments);
    pending
}

/// Arguments of a tool whose definition the model may not have seen: what is missing is said with the schema, so that
/// the next call is right.
pub(super) fn complete(tool: &GrantedTool, map: Map<String, Value>) -> Result<Map<String, Value>, ToolError> {
    let required = tool.input_schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let missing: Vec<&str> = required.filter(|name| !map.contains_key(*name)).collect();
    if missing.is_empty() {
        return Ok(map);
    }
    let (list, schema) = (missing.join(", "), &tool.input_schema);
    Err(ToolError::new(
        Reason::InvalidArgument { issues: Vec::new() },
        Text::new(
            format!("`{}` needs {list}; its parameters: {schema}", tool.name),
            format!("`{}` 缺少 {list}；其参数为：{schema}", tool.name),
        ),
    )
    .data(json!({ "parameters": schema })))
}
