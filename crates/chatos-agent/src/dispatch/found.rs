//! The answers of `find_tools`, and of a `call_tool` that names nothing.

use chatos_servers::{GrantedTool, Road, Toolset, search};
use chatos_tool::{Reason, Text, ToolError};
use serde_json::{Map, Value, json};

use super::answer::Ended;

/// Tools of one answer, and those given when nobody says how many.
const MOST: usize = 20;
const USUAL: usize = 8;
const DESCRIPTION_CHARS: usize = 300;
const QUERY_CHARS: usize = 200;

/// The tools a query is about. Only what is granted is ever in it.
pub(super) fn find_tools(set: &Toolset, arguments: &Map<String, Value>) -> Ended {
    let query = arguments.get("query").and_then(Value::as_str).map(str::trim).unwrap_or_default();
    if query.is_empty() || query.chars().count() > QUERY_CHARS {
        return Ended::failed(invalid(
            "`query` has to say in at most 200 characters what the tool should do",
            "`query` 需用不超过 200 个字符说明工具的用途",
        ));
    }
    let limit = arguments.get("limit").and_then(Value::as_u64).unwrap_or(USUAL as u64);
    let limit = usize::try_from(limit).unwrap_or(MOST).clamp(1, MOST);
    let server =
        arguments.get("server").and_then(Value::as_str).map(str::trim).filter(|name| !name.is_empty());
    let there = |tool: &&GrantedTool| {
        let route = set.route(&tool.identity);
        route.is_some_and(|route| {
            route.road != Road::Own
                && server.is_none_or(|server| route.answers_to(server) || route.normalized == server)
        })
    };
    let tools: Vec<&GrantedTool> = set.specs().filter(there).collect();
    let found: Vec<&GrantedTool> = match query.strip_prefix("select:") {
        Some(names) => {
            let named =
                |name: &str| tools.iter().copied().find(|tool| tool.name == name || tool.tool == name);
            names.split(',').map(str::trim).filter_map(named).collect()
        }
        None => search(&tools, query),
    };
    let total = found.len();
    let shown: Vec<Value> = found.into_iter().take(limit).map(shown).collect();
    let mut data = json!({ "tools": shown, "total": total });
    if total == 0 {
        let mut servers: Vec<&str> = tools.iter().map(|tool| tool.server.as_str()).collect();
        servers.dedup();
        servers.sort_unstable();
        servers.dedup();
        data["nearest"] = json!(set.nearest(query.trim_start_matches("select:")));
        data["servers"] = json!(servers);
    }
    Ended::text(data.to_string(), Some(data))
}

fn shown(tool: &GrantedTool) -> Value {
    let description: String = tool.description.chars().take(DESCRIPTION_CHARS).collect();
    json!({
        "name": tool.name, "server": tool.server, "description": description, "parameters": tool.input_schema,
        "needsApproval": tool.ask,
    })
}

/// A `call_tool` whose arguments could not be taken apart.
pub(super) fn call_tool() -> Ended {
    Ended::failed(invalid(
        "`call_tool` needs `name`, a tool as find_tools gave it, and `arguments`, an object",
        "`call_tool` 需要 `name`（find_tools 返回的工具名）和 `arguments`（对象）",
    ))
}

fn invalid(en: &'static str, zh: &'static str) -> ToolError {
    ToolError::new(Reason::InvalidArgument { issues: Vec::new() }, Text::fixed(en, zh))
}
