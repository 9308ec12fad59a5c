//! The two tools with which a model reads what servers offer beside their tools (packages §5.3). They are there only
//! where a granted server has resources.

use std::sync::Arc;

use chatos_contribution::ServerIdentity;
use chatos_tool::{Lang, Text};
use serde_json::json;

use super::{ServerRoute, Toolset, own_tool};

/// Lists the resources of granted servers.
pub const LIST_RESOURCES: &str = "list_mcp_resources";
/// Reads one of them.
pub const READ_RESOURCE: &str = "read_mcp_resource";

const ABOUT_LIST: Text = Text::fixed(
    "Lists resources (documents, data) that MCP servers offer to be read, and templates of their addresses.",
    "列出 MCP 服务器可供读取的资源（文档、数据）及其地址模板。",
);
const ABOUT_READ: Text = Text::fixed(
    "Reads a resource of an MCP server by its address: one of list_mcp_resources, of a filled template, or of a link in \
     a result.",
    "按地址读取 MCP 服务器的资源：来自 list_mcp_resources、填好的模板或结果中的链接。",
);

impl Toolset {
    /// Notes that a granted server of this set has resources.
    pub fn has_resources(&mut self, identity: ServerIdentity) {
        self.with_resources.insert(identity);
    }

    /// The granted servers with resources.
    pub fn resource_servers(&self) -> impl Iterator<Item = &Arc<ServerRoute>> {
        self.with_resources.iter().filter_map(|identity| self.routes.get(identity))
    }

    /// Adds the tools for them, where there are any.
    pub fn offer_resources(&mut self, lang: Lang) {
        if self.with_resources.is_empty() {
            return;
        }
        let text = |en: &'static str, zh: &'static str| Text::fixed(en, zh).get(lang).to_owned();
        let server = json!({ "type": "string", "description": text("Name of the server", "服务器名称") });
        let list = json!({
            "type": "object",
            "properties": {
                "server": server,
                "cursor": { "type": "string", "description": text("nextCursor of the last answer", "上次返回的 nextCursor") },
            },
            "additionalProperties": false,
        });
        let read = json!({
            "type": "object",
            "properties": { "server": server, "uri": { "type": "string" } },
            "required": ["server", "uri"],
            "additionalProperties": false,
        });
        for tool in [
            own_tool(LIST_RESOURCES, ABOUT_LIST.get(lang), list),
            own_tool(READ_RESOURCE, ABOUT_READ.get(lang), read),
        ] {
            self.tools.insert(tool.name.clone(), tool);
        }
    }
}
