//! A built-in server: a fixed identity and a set of tools, registered in one way (tools §1.1).

use std::collections::BTreeMap;

use chatos_tool::{Lang, Text, validation};
use serde_json::Value;

use crate::access::Access;
use crate::tool::{AnyTool, Registered, Tool};

/// What a server says about itself.
#[derive(Debug)]
pub struct ServerInfo {
    /// The stable public name.
    pub name: &'static str,
    /// The fixed id that land_configs refer to (servers §1).
    pub id: &'static str,
    /// One line for people.
    pub title: Text,
    /// What a model should know before using it; sent at the start of a connection.
    pub instructions: Text,
    /// Whether its tools work inside a root directory.
    pub needs_root: bool,
    /// Calls at once (tools §11).
    pub slots: usize,
    /// A call that waits for a person keeps its place: the limit is about waiting calls.
    pub waits_hold_slot: bool,
}

/// A server with its tools.
pub struct Server {
    info: &'static ServerInfo,
    tools: BTreeMap<&'static str, Box<dyn AnyTool>>,
}

impl Server {
    /// A server without tools yet.
    pub fn new(info: &'static ServerInfo) -> Self {
        Self { info, tools: BTreeMap::new() }
    }

    /// Registers a tool. A name that is taken is a mistake of the program; the later tool wins and a
    /// test of every server's list shows it.
    pub fn with(mut self, tool: impl Tool) -> Self {
        let registered = Registered::new(tool);
        self.tools.insert(registered.spec().name, Box::new(registered));
        self
    }

    /// What it says about itself.
    pub fn info(&self) -> &'static ServerInfo {
        self.info
    }

    /// The definitions of the tools that `access` grants, sorted by name, in one language.
    pub fn definitions(&self, access: &Access, lang: Lang) -> Vec<Value> {
        let granted = self.tools.values().filter(|tool| access.allows(tool.spec().name));
        granted.map(|tool| tool.spec().definition(tool.arguments(), tool.output(), lang)).collect()
    }

    /// Names of all tools, sorted.
    pub fn tool_names(&self) -> impl Iterator<Item = &'static str> {
        self.tools.keys().copied()
    }

    /// The tool name that a mistyped one probably means.
    pub fn nearest_tool(&self, name: &str) -> Option<&'static str> {
        validation::nearest(name, self.tools.keys().copied())
            .and_then(|near| self.tools.keys().copied().find(|known| *known == near))
    }

    /// What breaks the rules every tool has to keep; for the tests of each server.
    pub fn lint(&self) -> Vec<String> {
        let mut found = Vec::new();
        for tool in self.tools.values() {
            found.extend(tool.spec().lint());
            let name = tool.spec().name;
            found.extend(
                chatos_tool::schema::lint(tool.arguments()).into_iter().map(|issue| format!("{name}{issue}")),
            );
        }
        found
    }

    /// The digest of a tool's definition as this build has it.
    pub fn tool_digest(&self, name: &str) -> Option<&str> {
        self.tool(name).map(|tool| tool.digest())
    }

    pub(crate) fn tool(&self, name: &str) -> Option<&dyn AnyTool> {
        self.tools.get(name).map(|tool| &**tool)
    }
}
