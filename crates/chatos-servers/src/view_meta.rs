//! What a tool says about the view that shows its results (`_meta.ui`, extension `io.modelcontextprotocol/ui`).

use chatos_mcp::Tool;
use serde_json::Value;

/// The resource that shows results of a tool, and who may call the tool.
pub struct UiMeta<'a>(Option<&'a Value>);

impl<'a> UiMeta<'a> {
    /// What a tool says.
    pub fn of(tool: &'a Tool) -> Self {
        Self(tool.meta.as_ref())
    }

    /// `ui.resourceUri`, or its older spelling.
    pub fn uri(&self) -> Option<&'a str> {
        let meta = self.0?;
        let uri = meta.pointer("/ui/resourceUri").or_else(|| meta.get("ui/resourceUri"))?.as_str()?;
        uri.starts_with("ui://").then_some(uri)
    }

    fn is_for(&self, word: &str) -> bool {
        let listed = self.0.and_then(|meta| meta.pointer("/ui/visibility")).and_then(Value::as_array);
        listed.is_none_or(|listed| listed.iter().any(|entry| entry == word))
    }

    /// Agents may call it.
    pub fn for_model(&self) -> bool {
        self.is_for("model")
    }

    /// Views of its server may call it.
    pub fn for_view(&self) -> bool {
        self.is_for("app")
    }
}
