//! Merging the layers of one app (ai-contributions §2): default list, config file, inline.

use chatos_manifest::{AgentTemplate, AiLayer, McpDecl, McpPromptDecl, Slot};

use crate::exposure::{self, Layer, Outcome};

/// What is left of `ai` after merging, before any file it names was looked at.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Merged {
    /// The app's own server and the layer it comes from.
    pub mcp: Option<(McpDecl, Layer)>,
    /// The app's own prompt and the layer it comes from.
    pub mcp_prompt: Option<(McpPromptDecl, Layer)>,
    /// The agent template.
    pub agent: Option<AgentTemplate>,
    /// Selectable servers.
    pub mcp_servers: Outcome,
    /// Selectable prompts.
    pub prompts: Outcome,
}

/// Merges. A layer that is missing, or was dropped as a whole, is `None`.
pub fn merge(inline: &AiLayer, file: Option<&AiLayer>, default: Option<&AiLayer>) -> Merged {
    let empty = AiLayer::default();
    let file = file.unwrap_or(&empty);
    let default = default.unwrap_or(&empty);
    Merged {
        mcp: strongest(&inline.mcp, &file.mcp),
        mcp_prompt: strongest(&inline.mcp_prompt, &file.mcp_prompt),
        agent: strongest(&inline.agent, &file.agent).map(|(agent, _)| agent),
        mcp_servers: exposure::combine(&inline.mcp_servers, &file.mcp_servers, &default.mcp_servers),
        prompts: exposure::combine(&inline.prompts, &file.prompts, &default.prompts),
    }
}

/// The whole value of the strongest layer that has the key. A dropped value hides the weaker one:
/// falling back silently would run something the author overrode.
fn strongest<T: Clone>(inline: &Slot<T>, file: &Slot<T>) -> Option<(T, Layer)> {
    let (slot, layer) = if inline.is_declared() { (inline, Layer::Inline) } else { (file, Layer::File) };
    match slot {
        Slot::Present(value) => Some((value.clone(), layer)),
        Slot::Absent | Slot::Dropped => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chatos_manifest::{AppId, AppRef, McpTarget, PluginId, parse_layer};
    use serde_json::json;

    fn layer(value: serde_json::Value) -> AiLayer {
        let app = AppRef { index: 0, id: Some(AppId::parse("a").unwrap()) };
        parse_layer(value.as_object().unwrap(), "x", &PluginId::parse("p").unwrap(), &app).0
    }

    fn url(merged: &Merged) -> Option<String> {
        match &merged.mcp.as_ref()?.0.target {
            McpTarget::Url { url, .. } => Some(url.clone()),
            McpTarget::Entry { .. } => None,
        }
    }

    #[test]
    fn whole_values_win_and_nothing_is_merged_deeply() {
        let file =
            layer(json!({"mcp": {"url": "https://file/", "description": "from file"}, "mcpPrompt": "p.md"}));
        let inline = layer(json!({"mcp": {"url": "https://inline/"}}));
        let merged = merge(&inline, Some(&file), None);
        assert_eq!(url(&merged).as_deref(), Some("https://inline/"));
        assert_eq!(merged.mcp.as_ref().unwrap().0.description, "");
        assert_eq!(merged.mcp_prompt.as_ref().unwrap().1, Layer::File);
    }

    #[test]
    fn a_dropped_value_does_not_let_the_weaker_one_through() {
        let file = layer(json!({"mcp": {"url": "https://file/"}}));
        let inline = layer(json!({"mcp": {"command": "node"}}));
        assert_eq!(merge(&inline, Some(&file), None).mcp, None);
        assert_eq!(url(&merge(&AiLayer::default(), Some(&file), None)).as_deref(), Some("https://file/"));
    }

    #[test]
    fn a_default_list_brings_exposure_only_when_asked() {
        let default = layer(json!({"mcpServers": ["d"], "prompts": ["d"]}));
        let inline = layer(json!({"mcpServers": true}));
        let merged = merge(&inline, None, Some(&default));
        assert_eq!(merged.mcp_servers.decided_by, Layer::Default);
        assert_eq!(merged.prompts, Outcome::default());
    }
}
