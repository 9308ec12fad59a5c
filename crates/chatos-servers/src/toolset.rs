//! The tools of a run: which exist, under which names a model sees them, and where each is called
//! (agents §5). Built from what the policy granted; names are looked up, never parsed back.

mod deferral;
mod resources;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chatos_contribution::{AsyncTask, ServerIdentity, names};
use chatos_mcp::{ServerKey, plain_for_model};
use chatos_tool::{Lang, Text, Transport, validation};
use serde_json::{Map, Value, json};

pub use deferral::{
    CALL_READONLY, CALL_TOOL, FIND_TOOLS, Room, TOO_MANY_TOOLS, ToolSearch, USUAL_MOST, search_tools,
};
pub use resources::{LIST_RESOURCES, READ_RESOURCE};

/// The tool every run has (agents §5.1).
pub const CURRENT_TIME: &str = "get_current_time";
const CURRENT_TIME_ABOUT: Text = Text::fixed(
    "The current date and time of this machine, with its time zone.",
    "本机当前的日期、时间与时区。",
);
/// The tool every run of a chat has: what was cut or left out of its context (working-day §2).
pub const READ_RESULT: &str = "read_result";
const READ_RESULT_ABOUT: Text = Text::fixed(
    "Reads the whole result of an earlier call of this chat, or a file beside a message, by lines: for results that \
     were cut or pruned.",
    "按行读取此会话中较早调用的完整结果，或消息所附的文件：用于被截断或省略的结果。",
);
/// Longest description a model is given.
const DESCRIPTION_CHARS: usize = 1_024;

/// A tool a model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct GrantedTool {
    /// What the model calls.
    pub name: String,
    /// Whose it is.
    pub identity: ServerIdentity,
    /// What people call that server.
    pub server: String,
    /// The server's own name of the tool.
    pub tool: String,
    /// For people.
    pub title: Option<String>,
    /// As the model sees it.
    pub description: String,
    pub input_schema: Value,
    /// Hints of the server; for display.
    pub annotations: Value,
    /// What clients are told of it that it is passed on to.
    pub told: Arc<Told>,
    /// A person is asked before each call.
    pub ask: bool,
    /// The tool asks the person itself when `ask` is set; nobody else does then (tools §15).
    pub asks_itself: bool,
    /// Changes nothing, by a word that counts (agents §7).
    pub read_only: bool,
    /// May be repeated, by a word that counts.
    pub idempotent: bool,
    /// Its server may ask a model, when a person agrees (ui-prompts §10.3).
    pub sampling: bool,
}

/// Over which road a server's calls go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Road {
    /// The toolset's own tools.
    Own,
    /// A built-in server of this process, by its name.
    BuiltIn,
    /// A server of the pool.
    Pool(ServerKey),
}

/// The app a server belongs to; with the call's own directories it is `chatos.uiApp`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppPlace {
    pub plugin_id: String,
    pub app_id: String,
    /// Where the plugin is installed.
    pub plugin_dir: PathBuf,
    /// Where it may keep data.
    pub data_dir: PathBuf,
}

/// What a call needs to know about its server.
#[derive(Debug, Clone)]
pub struct ServerRoute {
    /// The key of grants and routing.
    pub identity: ServerIdentity,
    /// What people call it.
    pub name: String,
    /// Its allocated name, of which tool names are made.
    pub normalized: String,
    /// Where calls go.
    pub road: Road,
    /// The word in the tool log.
    pub transport: Transport,
    /// The app it belongs to.
    pub app: Option<AppPlace>,
    /// As declared, unexpanded.
    pub call_meta: Option<Map<String, Value>>,
    /// Which of its tools answer through the prompt log.
    pub async_task: Option<AsyncTask>,
    /// Folders a person set for this server, which it may ask for; none unless somebody did.
    pub roots: Vec<String>,
    /// Limits of a call to this server, where they differ.
    pub idle: Option<Duration>,
    /// See above.
    pub total: Option<Duration>,
}

impl ServerRoute {
    /// The tool that cancels a task of this server, where one is declared (ai-contributions §11.1).
    pub fn cancel_tool(&self) -> Option<&str> {
        let meta = self.call_meta.as_ref()?;
        let named = meta.get("cancelTool").or_else(|| meta.get("cancel_tool"))?;
        named.as_str().map(str::trim).filter(|name| !name.is_empty())
    }

    /// Whether `text` means this server: its identity, its row id, or its name.
    pub fn answers_to(&self, text: &str) -> bool {
        let identity = self.identity.as_str();
        identity == text || identity.strip_prefix("admin:") == Some(text) || self.name == text
    }
}

/// What the policy and the pins say about one tool.
#[derive(Debug, Clone, PartialEq)]
pub enum Word {
    /// May be called.
    Allow,
    /// May be called when a person said yes.
    Ask,
    /// Not offered; the code and the words a caller gets.
    Refuse {
        /// Such as `tool_filtered`.
        code: &'static str,
        why: Text,
    },
}

/// What a server says of a tool that models do not read, for clients it is passed on to (other-agents §3.4).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Told {
    /// What it does, in full and in the server's own words.
    pub description: String,
    /// What its structured result looks like, where the server says so.
    pub output_schema: Option<Value>,
    pub icons: Option<Value>,
    /// What else the server attached.
    pub meta: Option<Value>,
}

/// One tool of a server, before it has a name for models.
#[derive(Debug, Clone, PartialEq)]
pub struct OfferedTool {
    /// The server's own name.
    pub tool: String,
    pub title: Option<String>,
    /// What it does, in full.
    pub description: String,
    pub input_schema: Value,
    /// Hints of the server.
    pub annotations: Value,
    /// What clients are told of it that it is passed on to.
    pub told: Arc<Told>,
    /// May it be used?
    pub word: Word,
    /// See [`GrantedTool::asks_itself`].
    pub asks_itself: bool,
    /// By a word that counts.
    pub read_only: bool,
    /// By a word that counts.
    pub idempotent: bool,
}

/// A server with its tools in the order of its own list.
#[derive(Debug, Clone)]
pub struct ServerOffer {
    /// The server.
    pub route: Arc<ServerRoute>,
    /// Its tools.
    pub tools: Vec<OfferedTool>,
    /// The grant lets it ask a model.
    pub sampling: bool,
}

/// A tool that exists but is not granted here.
#[derive(Debug, Clone, PartialEq)]
pub struct RefusedTool {
    /// Whose it is.
    pub identity: ServerIdentity,
    /// What people call that server.
    pub server: String,
    /// The server's own name of the tool.
    pub tool: String,
    /// Why, for programs.
    pub code: &'static str,
    /// Why, for people and models.
    pub why: Text,
}

/// Something a person should know about the tools of a run; the run goes on.
#[derive(Debug, Clone, PartialEq)]
pub struct SetProblem {
    /// Which server.
    pub server: String,
    /// Which tool of it.
    pub tool: Option<String>,
    /// For programs.
    pub code: &'static str,
    /// In words.
    pub message: Text,
    /// The last lines of its error stream, where it did not start.
    pub stderr: Vec<String>,
}

/// What a run may use.
#[derive(Debug, Clone, Default)]
pub struct Toolset {
    tools: BTreeMap<String, GrantedTool>,
    refused: BTreeMap<String, RefusedTool>,
    pairs: HashMap<(ServerIdentity, String), String>,
    routes: BTreeMap<ServerIdentity, Arc<ServerRoute>>,
    problems: Vec<SetProblem>,
    // Names of tools whose definitions the model is not given.
    deferred: std::collections::BTreeSet<String>,
    // Granted servers that have resources.
    with_resources: std::collections::BTreeSet<ServerIdentity>,
    // Keeps its servers from being stopped as unused, as long as the set is used.
    holds: Vec<Arc<dyn std::any::Any + Send + Sync>>,
}

impl Toolset {
    /// Gives every tool its name and sorts them. Names are given over all tools of the servers, granted
    /// or not, so that a grant never renames another tool.
    pub fn build(offers: Vec<ServerOffer>, problems: Vec<SetProblem>, lang: Lang) -> Self {
        let mut set = Self { problems, ..Self::default() };
        let lists: Vec<names::ServerTools<'_>> = offers
            .iter()
            .map(|offer| names::ServerTools {
                identity: &offer.route.identity,
                normalized: &offer.route.normalized,
                tools: offer.tools.iter().map(|tool| tool.tool.as_str()).collect(),
            })
            .collect();
        let named: HashMap<(ServerIdentity, String), String> = names::offer_tools(&lists)
            .into_iter()
            .map(|named| ((named.identity, named.tool), named.name))
            .collect();
        for offer in offers {
            let route = &offer.route;
            set.routes.insert(route.identity.clone(), Arc::clone(route));
            for tool in offer.tools {
                let pair = (route.identity.clone(), tool.tool.clone());
                let Some(name) = named.get(&pair).cloned() else { continue };
                set.pairs.insert(pair, name.clone());
                set.add(name, route, tool, offer.sampling);
            }
        }
        set.tools.insert(CURRENT_TIME.to_owned(), current_time(lang));
        set
    }

    fn add(&mut self, name: String, route: &ServerRoute, tool: OfferedTool, sampling: bool) {
        let ask = match tool.word {
            Word::Allow => false,
            Word::Ask => true,
            Word::Refuse { code, why } => {
                self.refused.insert(
                    name,
                    RefusedTool {
                        identity: route.identity.clone(),
                        server: route.name.clone(),
                        tool: tool.tool,
                        code,
                        why,
                    },
                );
                return;
            }
        };
        let description = description(&route.name, tool.title.as_deref(), &tool.description);
        self.tools.insert(
            name.clone(),
            GrantedTool {
                name,
                identity: route.identity.clone(),
                server: route.name.clone(),
                tool: tool.tool,
                title: tool.title,
                description,
                input_schema: tool.input_schema,
                annotations: tool.annotations,
                told: tool.told,
                ask,
                asks_itself: tool.asks_itself,
                read_only: tool.read_only,
                idempotent: tool.idempotent,
                sampling,
            },
        );
    }

    /// Keeps something alive with the set: the leases of its servers.
    pub fn hold(&mut self, held: Arc<dyn std::any::Any + Send + Sync>) {
        self.holds.push(held);
    }

    /// Adds the tool that reads what was left out of a chat's context.
    pub fn offer_results(&mut self, lang: Lang) {
        self.tools.insert(READ_RESULT.to_owned(), read_result(lang));
    }

    /// The granted tools, sorted by name so that providers' caches hit.
    pub fn specs(&self) -> impl Iterator<Item = &GrantedTool> {
        self.tools.values()
    }

    /// How many are granted.
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether there is nothing but the clock.
    pub fn is_empty(&self) -> bool {
        self.tools.len() <= 1
    }

    /// A granted tool by its name.
    pub fn get(&self, name: &str) -> Option<&GrantedTool> {
        self.tools.get(name)
    }

    /// A tool that exists but may not be used.
    pub fn refused(&self, name: &str) -> Option<&RefusedTool> {
        self.refused.get(name)
    }

    /// All of those.
    pub fn refusals(&self) -> impl Iterator<Item = (&str, &RefusedTool)> {
        self.refused.iter().map(|(name, refused)| (name.as_str(), refused))
    }

    /// The name of a tool by its server (identity, row id or name) and its own name.
    pub fn name_of(&self, server: &str, tool: &str) -> Option<&str> {
        let route = self.route_of(server)?;
        self.pairs.get(&(route.identity.clone(), tool.to_owned())).map(String::as_str)
    }

    /// A server of this set, by identity, row id or name. A plain name means the first.
    pub fn route_of(&self, server: &str) -> Option<&Arc<ServerRoute>> {
        let exact = self.routes.values().find(|route| route.identity.as_str() == server);
        exact.or_else(|| self.routes.values().find(|route| route.answers_to(server)))
    }

    /// The server with this identity.
    pub fn route(&self, identity: &ServerIdentity) -> Option<&Arc<ServerRoute>> {
        self.routes.get(identity)
    }

    /// The servers of this set.
    pub fn routes(&self) -> impl Iterator<Item = &Arc<ServerRoute>> {
        self.routes.values()
    }

    /// Up to three granted names that look like `name`.
    pub fn nearest(&self, name: &str) -> Vec<String> {
        let mut left: Vec<&str> = self.tools.keys().map(String::as_str).collect();
        let mut found = Vec::new();
        while found.len() < 3
            && let Some(near) = validation::nearest(name, left.iter().copied())
        {
            found.push(near.to_owned());
            left.retain(|known| *known != near);
        }
        if found.is_empty() {
            // A model that forgot the prefix wrote the tool's own name.
            let own = self.tools.values().filter(|tool| tool.tool == name || tool.name.ends_with(name));
            found.extend(own.take(3).map(|tool| tool.name.clone()));
        }
        found
    }

    /// What a person should know.
    pub fn problems(&self) -> &[SetProblem] {
        &self.problems
    }
}

/// The description a model reads: where it comes from, its title, what it does.
fn description(server: &str, title: Option<&str>, text: &str) -> String {
    let title = title.map(str::trim).filter(|title| !title.is_empty());
    let whole = match title {
        Some(title) => format!("[{server}] {title}. {}", text.trim()),
        None => format!("[{server}] {}", text.trim()),
    };
    let plain = plain_for_model(&whole);
    let plain = plain.trim_end();
    match plain.char_indices().nth(DESCRIPTION_CHARS) {
        None => plain.to_owned(),
        Some(_) => {
            let cut: String = plain.chars().take(DESCRIPTION_CHARS - 1).collect();
            format!("{cut}…")
        }
    }
}

/// The clock: no server, no road, no question.
fn current_time(lang: Lang) -> GrantedTool {
    let schema = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    own_tool(CURRENT_TIME, CURRENT_TIME_ABOUT.get(lang), schema)
}

fn read_result(lang: Lang) -> GrantedTool {
    let zh = lang == Lang::Zh;
    let id = if zh {
        "调用或文件的标识符，即标记中所写的。"
    } else {
        "Id of the call or the file, as the marker names it."
    };
    let pattern = if zh {
        "只返回包含此文本的行，不区分大小写。"
    } else {
        "Only lines with this text, in any case of letters."
    };
    let schema = json!({
        "type": "object",
        "properties": {
            "id": { "type": "string", "description": id },
            "start_line": { "type": "integer", "minimum": 1, "default": 1 },
            "lines": { "type": "integer", "minimum": 1, "maximum": 2000, "default": 400 },
            "pattern": { "type": "string", "description": pattern },
        },
        "required": ["id"],
        "additionalProperties": false,
    });
    own_tool(READ_RESULT, READ_RESULT_ABOUT.get(lang), schema)
}

/// A tool of the host itself; it changes nothing.
fn own_tool(name: &str, description: &str, input_schema: Value) -> GrantedTool {
    GrantedTool {
        name: name.to_owned(),
        identity: ServerIdentity::admin("chatos"),
        server: "chatos".to_owned(),
        tool: name.to_owned(),
        title: None,
        description: description.to_owned(),
        input_schema,
        annotations: json!({ "readOnlyHint": true, "idempotentHint": true, "openWorldHint": false }),
        told: Arc::new(Told { description: description.to_owned(), ..Told::default() }),
        ask: false,
        asks_itself: false,
        read_only: true,
        idempotent: true,
        sampling: false,
    }
}

#[cfg(test)]
mod tests;
