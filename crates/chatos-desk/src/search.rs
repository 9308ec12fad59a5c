//! Many tools for a client whose window nobody knows: a short list with a search instead of all definitions
//! (other-agents §3.10). The search is that of runs; only the way to it is here.

use chatos_servers::{CALL_READONLY, CALL_TOOL, FIND_TOOLS, search_tools};
use chatos_tool::{Lang, Text};
use serde_json::{Map, Value, json};

/// More tools, or more bytes of definitions, are left to the search.
const MOST: usize = 64;
const MOST_BYTES: usize = 96 << 10;
/// Servers whose tools are always listed.
const ALWAYS: [&str; 2] = ["project_files", "ui_prompter"];
/// Clients that search in long lists by themselves.
const SEARCH_THEMSELVES: [&str; 1] = ["claude-code"];

/// Which tools a client is told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ListMode {
    /// All, unless they are too many.
    #[default]
    Auto,
    All,
    /// The short list with the search.
    Search,
}

impl ListMode {
    /// By the word of the flag or the setting.
    pub fn parse(word: &str) -> Self {
        match word {
            "all" => Self::All,
            "search" => Self::Search,
            _ => Self::Auto,
        }
    }

    /// Whether this client gets the short list of these definitions.
    pub(crate) fn searches(self, tools: &[Value], client: &str) -> bool {
        match self {
            Self::All => false,
            Self::Search => true,
            Self::Auto => {
                let too_many = || {
                    let bytes: usize = tools.iter().map(|tool| tool.to_string().len()).sum();
                    tools.len() > MOST || bytes > MOST_BYTES
                };
                !SEARCH_THEMSELVES.contains(&client) && too_many()
            }
        }
    }
}

/// Whether the tools of this server are in the short list.
pub(crate) fn is_always(server: &str) -> bool {
    ALWAYS.contains(&server)
}

/// The tools of the search.
pub(crate) fn definitions(lang: Lang) -> Vec<Value> {
    let about = Text::fixed(
        "Calls a tool that find_tools found and that changes nothing; others are refused, use call_tool for them.",
        "调用 find_tools 找到的只读工具；其他工具会被拒绝，请改用 call_tool。",
    );
    let [find, call] = search_tools(lang);
    let readonly = json!({
        "name": CALL_READONLY, "description": about.get(lang), "inputSchema": call.input_schema,
        "annotations": { "readOnlyHint": true },
    });
    let mut all = vec![readonly];
    for tool in [find, call] {
        let annotations = json!({ "readOnlyHint": tool.read_only });
        all.push(json!({
            "name": tool.name, "description": tool.description, "inputSchema": tool.input_schema,
            "annotations": annotations,
        }));
    }
    all
}

/// What a call of a tool of the search means.
#[derive(Debug, PartialEq)]
pub(crate) enum Wrapped {
    /// Look for tools.
    Find,
    /// Call this one.
    Call { tool: String, arguments: Map<String, Value>, only_reads: bool },
    /// It cannot be read.
    Wrong,
}

/// Takes a call of the search apart; `None` for every other tool.
pub(crate) fn unwrap(tool: &str, arguments: &Map<String, Value>) -> Option<Wrapped> {
    let only_reads = match tool {
        FIND_TOOLS => return Some(Wrapped::Find),
        CALL_READONLY => true,
        CALL_TOOL => false,
        _ => return None,
    };
    let name = arguments.get("name").and_then(Value::as_str).filter(|name| !name.is_empty());
    let inner = match arguments.get("arguments") {
        None | Some(Value::Null) => Some(Map::new()),
        Some(Value::Object(inner)) => Some(inner.clone()),
        Some(_) => None,
    };
    Some(match (name, inner) {
        (Some(name), Some(arguments)) => Wrapped::Call { tool: name.to_owned(), arguments, only_reads },
        _ => Wrapped::Wrong,
    })
}

/// What a client is told of a call that cannot be taken apart.
pub(crate) const WRONG: Text = Text::fixed(
    "`name`, a tool as find_tools gave it, and `arguments`, an object, are needed",
    "需要 `name`（find_tools 返回的工具名）和 `arguments`（对象）",
);

/// What a client is told of a tool that may change something.
pub(crate) fn not_read_only(tool: &str) -> Text {
    Text::new(
        format!("denied (not_read_only): `{tool}` may change something; call it with call_tool"),
        format!("已拒绝（not_read_only）：`{tool}` 可能会更改内容；请用 call_tool 调用"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_is_searched_unless_the_client_does_it_itself() {
        let tools: Vec<Value> = (0..65).map(|n| json!({ "name": format!("t{n}") })).collect();
        assert!(ListMode::Auto.searches(&tools, "codex-mcp-client"));
        assert!(!ListMode::Auto.searches(&tools, "claude-code"));
        assert!(!ListMode::Auto.searches(&tools[..64], "codex-mcp-client"));
        let long = [json!({ "name": "t", "description": "x".repeat(97 << 10) })];
        assert!(ListMode::Auto.searches(&long, "") && !ListMode::All.searches(&long, ""));
        assert!(ListMode::Search.searches(&tools[..1], "claude-code"), "a person said so");
    }

    #[test]
    fn calls_of_the_search_are_taken_apart() {
        let of = |tool: &str, arguments: Value| unwrap(tool, arguments.as_object().unwrap());
        assert_eq!(of("mcp_x_y", json!({})), None);
        assert_eq!(of(FIND_TOOLS, json!({ "query": "x" })), Some(Wrapped::Find));
        let call = of(CALL_READONLY, json!({ "name": "mcp_x_y", "arguments": { "a": 1 } }));
        let arguments = json!({ "a": 1 }).as_object().cloned().unwrap();
        assert_eq!(call, Some(Wrapped::Call { tool: "mcp_x_y".to_owned(), arguments, only_reads: true }));
        for wrong in [json!({}), json!({ "name": 7 }), json!({ "name": "x", "arguments": [] })] {
            assert_eq!(of(CALL_TOOL, wrong), Some(Wrapped::Wrong));
        }
        assert_eq!(definitions(Lang::En).len(), 3);
    }
}
