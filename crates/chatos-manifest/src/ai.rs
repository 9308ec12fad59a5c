//! `ai` of an app and the layers it is made of (ai-contributions §1–2). The same reader serves the
//! manifest, an `ai.config` file and a default list; only where the pointers go differs.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::fields::{Object, Read, Refused, Report, Scope};
use crate::{
    AppRef, Dropped, McpDecl, McpPromptDecl, PluginId, Problem, ProblemCode, RelPath, Source, Text, json,
    limits, mcp, mcp_prompt,
};

/// `ai` as the manifest has it.
#[derive(Debug, Clone, PartialEq)]
pub struct AiManifest {
    /// The config file and where it is named.
    pub config: Option<(RelPath, String)>,
    /// What stands in the manifest itself.
    pub inline: AiLayer,
}

/// One layer: the manifest's inline part, a config file, or a default list.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AiLayer {
    /// The app's own server.
    pub mcp: Slot<McpDecl>,
    /// The app's own prompt.
    pub mcp_prompt: Slot<McpPromptDecl>,
    /// Existing servers a person may select for the app.
    pub mcp_servers: Exposure,
    /// Existing prompts a person may select for the app.
    pub prompts: Exposure,
    /// A template for an agent.
    pub agent: Slot<AgentTemplate>,
    /// Unknown keys, verbatim.
    pub extra: Map<String, Value>,
}

/// A key that may be absent, used, or there and dropped. The third state matters: a dropped value
/// must not let a weaker layer's value through (ai-contributions §2).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Slot<T> {
    /// The key is not there.
    #[default]
    Absent,
    /// The key is there and could not be used.
    Dropped,
    /// The value.
    Present(T),
}

impl<T> Slot<T> {
    fn read(key: Option<&Value>, read: impl FnOnce(&Value) -> Read<T>) -> Self {
        match key.map(read) {
            None => Slot::Absent,
            Some(Ok(value)) => Slot::Present(value),
            Some(Err(Refused)) => Slot::Dropped,
        }
    }

    /// True unless the key is absent.
    pub fn is_declared(&self) -> bool {
        !matches!(self, Slot::Absent)
    }
}

/// What one layer says about `mcpServers` or `prompts`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub enum Exposure {
    /// The key is absent, or its value had a wrong type (never wider).
    #[default]
    Unset,
    /// `false`, or an empty list.
    Off,
    /// `true`.
    All,
    /// Names, trimmed, each once, in order.
    List(Vec<String>),
}

/// `ai.agent`: shown as a template, otherwise only echoed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentTemplate {
    /// Name of the agent to be made.
    pub name: String,
    /// Plain text.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Wished model, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_id: Option<String>,
    /// Unknown keys, verbatim.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

pub(crate) const AI: Scope = Scope { source: Source::Ai, dropped: Dropped::Ai };

const KEYS: &[&str] = &["config", "mcp", "mcpPrompt", "mcpServers", "prompts", "agent"];

/// Reads `apps[i].ai`.
pub(crate) fn parse_manifest(value: &Value, pointer: &str, report: &mut Report) -> Option<AiManifest> {
    match value {
        Value::String(text) => {
            // The string form is exactly `{"config": …}`.
            let config = match RelPath::parse(text.trim()) {
                Ok(path) => Some((path, pointer.to_owned())),
                Err(fault) => {
                    report.refuse(AI, fault.code(), pointer.to_owned(), fault.message("ai", text.trim()));
                    None
                }
            };
            Some(AiManifest { config, inline: AiLayer::default() })
        }
        Value::Object(map) => {
            let object = Object { map, pointer: pointer.to_owned(), label: "ai", scope: AI };
            let config = object.path(report, "config").ok().flatten().map(|path| (path, object.at("config")));
            Some(AiManifest { config, inline: layer(&object, report) })
        }
        other => {
            let found = json::type_name(other);
            let message = Text::new(
                format!("ai must be an object or the path of a config file, found {found}"),
                format!("ai 必须是对象或配置文件的路径，实际为 {found}"),
            );
            report.refuse(AI, ProblemCode::WrongType, pointer.to_owned(), message);
            None
        }
    }
}

/// Reads the object of a config file or default list called `file`. Problems point to
/// `<file>#<pointer>`; `config` in it is refused, because files do not chain.
pub fn parse_layer(
    map: &Map<String, Value>,
    file: &str,
    plugin_id: &PluginId,
    app: &AppRef,
) -> (AiLayer, Vec<Problem>) {
    let mut report =
        Report { problems: Vec::new(), plugin_id: Some(plugin_id.clone()), app: Some(app.clone()) };
    let object = Object { map, pointer: format!("{file}#"), label: "ai", scope: AI };
    if map.contains_key("config") {
        let message = Text::new(
            "ai.config: a config file cannot name another config file",
            "ai.config：配置文件不能再引用另一个配置文件",
        );
        object.refuse(&mut report, ProblemCode::ConfigNested, "config", message);
        return (AiLayer::default(), report.problems);
    }
    let layer = layer(&object, &mut report);
    (layer, report.problems)
}

fn layer(object: &Object<'_>, report: &mut Report) -> AiLayer {
    AiLayer {
        mcp: Slot::read(object.get("mcp"), |value| mcp::parse(value, object.at("mcp"), report)),
        mcp_prompt: Slot::read(object.get("mcpPrompt"), |value| {
            mcp_prompt::parse(value, &object.at("mcpPrompt"), report)
        }),
        mcp_servers: exposure(object, "mcpServers", report),
        prompts: exposure(object, "prompts", report),
        agent: Slot::read(object.get("agent"), |value| agent(value, object.at("agent"), report)),
        extra: object.extra(report, KEYS),
    }
}

fn exposure(object: &Object<'_>, key: &str, report: &mut Report) -> Exposure {
    let wrong = |report: &mut Report| {
        let message = Text::new(
            format!("ai.{key} must be true, false or a list of names"),
            format!("ai.{key} 必须是 true、false 或名称列表"),
        );
        object.refuse(report, ProblemCode::WrongType, key, message);
        Exposure::Unset
    };
    let items = match object.get(key) {
        None => return Exposure::Unset,
        Some(Value::Bool(true)) => return Exposure::All,
        Some(Value::Bool(false)) => return Exposure::Off,
        Some(Value::Array(items)) => items,
        Some(_) => return wrong(report),
    };
    if object.check_count(report, key, items.len(), limits::EXPOSED_NAMES).is_err() {
        return Exposure::Unset;
    }
    let mut names: Vec<String> = Vec::new();
    for item in items {
        let Value::String(name) = item else { return wrong(report) };
        let name = name.trim();
        if !name.is_empty() && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    if names.is_empty() {
        let message = Text::new(
            format!("ai.{key} is an empty list, which exposes nothing"),
            format!("ai.{key} 是空列表，不会暴露任何内容"),
        );
        report.warn(Source::Ai, ProblemCode::ExposureEmptyList, object.at(key), message);
        return Exposure::Off;
    }
    Exposure::List(names)
}

fn agent(value: &Value, pointer: String, report: &mut Report) -> Read<AgentTemplate> {
    let object = Object::of(value, pointer, "ai.agent", AI, report)?;
    let name = object.required_name(report, "name");
    let description = object.short(report, "description", limits::DESCRIPTION_CHARS);
    let model_id = object.name_text(report, "modelId");
    let extra = object.extra(report, &["name", "description", "modelId"]);
    Ok(AgentTemplate {
        name: name?,
        description: description?.unwrap_or_default().to_owned(),
        model_id: model_id?.filter(|text| !text.is_empty()).map(str::to_owned),
        extra,
    })
}
