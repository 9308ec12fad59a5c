//! Tools on demand: where the definitions of all tools would fill a model's window, those of other people's servers are
//! left out of the request; the model finds them with `find_tools` and calls them with `call_tool`.

use std::collections::{BTreeMap, BTreeSet};

use chatos_tool::{ErrorCode, Fault, Lang, Text};
use serde_json::json;

use super::{GrantedTool, Road, Toolset, own_tool};

/// Finds tools by the words of a question.
pub const FIND_TOOLS: &str = "find_tools";
/// Calls a tool that was found.
pub const CALL_TOOL: &str = "call_tool";
/// Calls a tool that was found, if it only reads: a client of the gateway that never asks its person may use it.
pub const CALL_READONLY: &str = "call_readonly_tool";

/// The code of an agent with more tools than its model takes.
pub const TOO_MANY_TOOLS: &str = "too_many_tools";

/// Tools a request may hold where the vendor's limit is unknown.
pub const USUAL_MOST: usize = 128;
/// In a window below this our own tools are on demand, too, but those one cannot work without; and in a larger one where
/// they would leave too little for the conversation.
const SMALL_WINDOW: u64 = 32_768;
/// Tokens of a system prompt, about.
const SYSTEM: u64 = 2_000;
/// Most that is kept free for an answer.
const RESERVE: u64 = 20_000;
const ALWAYS: [&str; 9] = [
    "read_file",
    "search_text",
    "list_directory",
    "edit_file",
    "run_shell_command",
    "write_file",
    "update_task",
    "list_tasks",
    "add_task",
];
/// Servers named in the system prompt.
const NAMED_SERVERS: usize = 30;
const NAMED_TOOLS_CHARS: usize = 120;

const ABOUT_FIND: Text = Text::fixed(
    "Finds tools that are not in your list, by what they do. Gives names, descriptions and parameters; call one with call_tool.",
    "按用途查找不在列表中的工具，返回名称、说明与参数；用 call_tool 调用。",
);
const ABOUT_CALL: Text = Text::fixed(
    "Calls a tool that find_tools found, by its name and with its arguments.",
    "按名称和参数调用 find_tools 找到的工具。",
);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolSearch {
    /// Where the tools are too many.
    Auto,
    On,
    /// Never; too many are refused.
    Off,
}

impl ToolSearch {
    /// By the word of the setting.
    pub fn parse(word: &str) -> Self {
        match word {
            "on" => Self::On,
            "off" => Self::Off,
            _ => Self::Auto,
        }
    }
}

/// How much room a model has for tools.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// Its window, in tokens.
    pub window: u64,
    /// Tools of one request.
    pub most: usize,
    /// What the person wants.
    pub search: ToolSearch,
}

impl Room {
    /// Whether our own tools, which take so many tokens, would leave less than a conversation needs (working-day §2).
    fn is_short(self, tools: u64) -> bool {
        let taken = RESERVE.min(self.window / 4) + SYSTEM + tools;
        self.window < SMALL_WINDOW || self.window.saturating_sub(taken) < self.window / 4
    }
}

impl Toolset {
    /// Leaves the definitions of other people's tools to be found where there is too little room for all.
    pub fn fit(&mut self, room: Room, lang: Lang) -> Result<(), Fault> {
        let size = |tool: &GrantedTool| {
            (tool.name.len() + tool.description.len() + tool.input_schema.to_string().len() + 40) as u64 / 3
        };
        let road = |tool: &GrantedTool| self.routes.get(&tool.identity).map(|route| &route.road);
        let ours = self.tools.values().filter(|tool| !matches!(road(tool), Some(Road::Pool(_))));
        let short = room.is_short(ours.map(size).sum());
        // Several of our servers read files; where room is short, one of them does.
        let mut named = BTreeSet::new();
        let mut stays = |tool: &GrantedTool| match road(tool) {
            Some(Road::Pool(_)) => false,
            Some(Road::BuiltIn) if short => {
                ALWAYS.contains(&tool.tool.as_str()) && named.insert(tool.tool.clone())
            }
            Some(Road::BuiltIn | Road::Own) | None => true,
        };
        let later: Vec<&GrantedTool> = self.tools.values().filter(|tool| !stays(tool)).collect();
        // What would be left out is what has to be too much: our own tools stay whatever it is.
        let tokens: u64 = later.iter().map(|tool| size(tool)).sum();
        let too_many = self.tools.len() > room.most;
        let due = match room.search {
            ToolSearch::On => true,
            ToolSearch::Auto => too_many || tokens > room.window / 10,
            ToolSearch::Off if too_many => return Err(self.too_many(room.most)),
            ToolSearch::Off => false,
        };
        if !due {
            return Ok(());
        }
        self.deferred = later.into_iter().map(|tool| tool.name.clone()).collect();
        if self.deferred.is_empty() {
            return Ok(());
        }
        self.searchable(lang);
        Ok(())
    }

    /// Adds the two tools of the search, whether something is left out of the list or not.
    pub fn searchable(&mut self, lang: Lang) {
        for tool in [find_tools(lang), call_tool(lang)] {
            self.tools.insert(tool.name.clone(), tool);
        }
    }

    /// The tools whose definitions a model is given, sorted by name so that providers' caches hit.
    pub fn listed(&self) -> impl Iterator<Item = &GrantedTool> {
        self.tools.values().filter(|tool| !self.deferred.contains(&tool.name))
    }

    /// Whether a tool has to be found first.
    pub fn is_deferred(&self, name: &str) -> bool {
        self.deferred.contains(name)
    }

    /// How many have to be found first.
    pub fn deferred(&self) -> usize {
        self.deferred.len()
    }

    /// What the system prompt says about them: each server with how many tools and the first names. `None` where
    /// every tool is listed.
    pub fn on_demand(&self, lang: Lang) -> Option<String> {
        let mut servers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for tool in self.tools.values().filter(|tool| self.is_deferred(&tool.name)) {
            servers.entry(&tool.server).or_default().push(&tool.tool);
        }
        if servers.is_empty() {
            return None;
        }
        let mut lines = vec![match lang {
            Lang::En => "# Tools on demand\nThese servers have more tools than your list shows. Find them with `find_tools`, call them with `call_tool`.".to_owned(),
            Lang::Zh => "# 按需工具\n以下服务器的工具不在你的列表中。用 `find_tools` 查找，用 `call_tool` 调用。".to_owned(),
        }];
        let more = servers.len().saturating_sub(NAMED_SERVERS);
        for (server, tools) in servers.iter().take(NAMED_SERVERS) {
            let names: String = tools.join(", ").chars().take(NAMED_TOOLS_CHARS).collect();
            lines.push(format!("- {server} ({}): {names}", tools.len()));
        }
        if more > 0 {
            lines.push(format!("- +{more}"));
        }
        Some(lines.join("\n"))
    }

    fn too_many(&self, most: usize) -> Fault {
        let mut servers: BTreeMap<&str, usize> = BTreeMap::new();
        for tool in self.tools.values() {
            *servers.entry(&tool.server).or_default() += 1;
        }
        let mut servers: Vec<(&str, usize)> = servers.into_iter().collect();
        servers.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        let biggest: Vec<String> =
            servers.iter().take(3).map(|(server, count)| format!("`{server}` ({count})")).collect();
        let (count, biggest) = (self.tools.len(), biggest.join(", "));
        Fault::new(
            ErrorCode::Conflict,
            Text::new(
                format!("this agent has {count} tools and the model takes {most}; most are of {biggest}"),
                format!("该智能体有 {count} 个工具，而模型最多接受 {most} 个；最多的是 {biggest}"),
            ),
        )
        .code(TOO_MANY_TOOLS)
        .hint(Text::fixed(
            "set `toolSearch` to `auto`, or choose fewer servers in the permissions profile",
            "请将 `toolSearch` 设为 auto，或在授权配置中减少服务器",
        ))
    }
}

/// The definitions of `find_tools` and `call_tool`, for whoever lists tools elsewhere.
pub fn search_tools(lang: Lang) -> [GrantedTool; 2] {
    [find_tools(lang), call_tool(lang)]
}

fn find_tools(lang: Lang) -> GrantedTool {
    let text = |en: &'static str, zh: &'static str| Text::fixed(en, zh).get(lang).to_owned();
    let schema = json!({
        "type": "object",
        "properties": {
            "query": { "type": "string", "maxLength": 200, "description": text(
                "What the tool should do, in a few words; or select:name,name for tools whose names are known",
                "用几个词描述工具的用途；已知名称时用 select:名称,名称",
            ) },
            "server": { "type": "string", "description": text("Only tools of this server", "仅限该服务器的工具") },
            "limit": { "type": "integer", "minimum": 1, "maximum": 20, "default": 8 },
        },
        "required": ["query"],
        "additionalProperties": false,
    });
    own_tool(FIND_TOOLS, ABOUT_FIND.get(lang), schema)
}

fn call_tool(lang: Lang) -> GrantedTool {
    let text = |en: &'static str, zh: &'static str| Text::fixed(en, zh).get(lang).to_owned();
    let schema = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "description": text("As find_tools gave it", "find_tools 返回的名称") },
            "arguments": { "type": "object", "description": text("As its parameters want them", "符合其参数定义") },
        },
        "required": ["name", "arguments"],
        "additionalProperties": false,
    });
    // What it calls decides for itself whether it only reads and whether a person is asked.
    GrantedTool { read_only: false, idempotent: false, ..own_tool(CALL_TOOL, ABOUT_CALL.get(lang), schema) }
}
