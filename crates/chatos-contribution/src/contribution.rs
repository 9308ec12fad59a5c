//! The resolved contribution of one app (ai-contributions §5–7): the one place where an address,
//! tags and texts are put together.

use std::collections::BTreeSet;

use chatos_manifest::url::HostClass;
use chatos_manifest::{
    AgentTemplate, AppId, AppManifest, AsyncTask, Auth, Dropped, MASK, McpDecl, McpProgram, McpTarget,
    PluginId, Problem, PromptSource, Source, Text,
};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::exposure::Outcome;
use crate::names::{PromptNames, ServerIdentity, server_name};
use crate::{Exposed, Layer, Merged, cmd_url};

/// The merged declaration with everything that had to be read from disk.
#[derive(Debug, Clone, Default)]
pub struct LoadedAi {
    /// What the layers say. A part whose files were refused has been removed from it.
    pub merged: Merged,
    /// Absolute, proven path of `ai.mcp.entry`.
    pub entry: Option<String>,
    /// Absolute, proven path of a relative `ai.mcp.command`.
    pub program: Option<String>,
    /// Texts of the prompt.
    pub prompt: Option<PromptText>,
}

/// The texts of a prompt, trimmed; at least one is there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the two languages")]
pub struct PromptText {
    pub zh: Option<String>,
    pub en: Option<String>,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// A child process; no shell is involved.
    Command {
        /// Program and arguments.
        argv: Vec<String>,
    },
    /// A network address.
    Network {
        /// What kind of host it names.
        class: HostClass,
    },
}

/// A contribution before names are given; what a plugin directory alone determines.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ResolvedAi {
    /// The app's own server.
    pub mcp: Option<ResolvedServer>,
    /// The app's own prompt.
    pub prompt: Option<ResolvedPrompt>,
    /// Selectable servers.
    pub mcp_servers: Outcome,
    /// Selectable prompts.
    pub prompts: Outcome,
    /// Agent template.
    pub agent: Option<AgentTemplate>,
}

/// The app's own prompt before names are given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedPrompt {
    /// Shown to people.
    pub title: String,
    /// The texts.
    pub text: PromptText,
    /// File of the Chinese text, when it comes from one.
    pub zh_path: Option<String>,
    /// File of the English text, when it comes from one.
    pub en_path: Option<String>,
}

/// The app's own server before names are given.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedServer {
    /// Address as text.
    pub url: String,
    /// The same, taken apart.
    pub endpoint: Endpoint,
    /// Own tags and the host's.
    pub tags: Vec<String>,
    /// The declaration.
    pub decl: McpDecl,
}

impl ResolvedAi {
    /// True when nothing survived: the app lists `ai: null`.
    pub fn is_empty(&self) -> bool {
        self.mcp.is_none()
            && self.prompt.is_none()
            && self.agent.is_none()
            && self.mcp_servers.exposed == Exposed::None
            && self.prompts.exposed == Exposed::None
    }
}

/// Puts a loaded declaration together. A `cmd://` address that cannot be parsed drops the server.
pub fn resolve(plugin: &PluginId, app: &AppManifest, loaded: LoadedAi) -> (ResolvedAi, Vec<Problem>) {
    let mut problems = Vec::new();
    let LoadedAi { merged, entry, program, prompt } = loaded;
    let mcp = merged.mcp.and_then(|(decl, _)| match endpoint(&decl, entry, program) {
        Ok((url, endpoint)) => {
            Some(ResolvedServer { url, endpoint, tags: tags(plugin, &app.id, &decl), decl })
        }
        Err((code, message)) => {
            let problem = Problem::new(code, format!("{}/url", decl.pointer), message)
                .source(Source::Ai)
                .dropping(Dropped::Ai)
                .of_plugin(plugin)
                .of_app(app.index, &app.id);
            problems.push(problem);
            None
        }
    });
    let prompt = match (merged.mcp_prompt, prompt) {
        (Some((decl, _)), Some(text)) => Some(ResolvedPrompt {
            title: decl.title.unwrap_or_else(|| format!("{} MCP Prompt", app.name)),
            zh_path: text.zh.as_ref().and(decl.zh).and_then(path_of),
            en_path: text.en.as_ref().and(decl.en).and_then(path_of),
            text,
        }),
        _ => None,
    };
    let resolved = ResolvedAi {
        mcp,
        prompt,
        mcp_servers: merged.mcp_servers,
        prompts: merged.prompts,
        agent: merged.agent,
    };
    (resolved, problems)
}

fn path_of(source: PromptSource) -> Option<String> {
    match source {
        PromptSource::File { path, .. } => Some(path.as_str().to_owned()),
        PromptSource::Inline(_) => None,
    }
}

type Refusal = (chatos_manifest::ProblemCode, Text);

fn endpoint(
    decl: &McpDecl,
    entry: Option<String>,
    program: Option<String>,
) -> Result<(String, Endpoint), Refusal> {
    let from_cmd = |error: cmd_url::CmdError| (error.code(), error.message());
    match &decl.target {
        McpTarget::Url { url, class: Some(class) } => Ok((url.clone(), Endpoint::Network { class: *class })),
        McpTarget::Url { url, class: None } => {
            let argv = cmd_url::parse(url).map_err(from_cmd)?;
            Ok((url.clone(), Endpoint::Command { argv }))
        }
        McpTarget::Entry { entry: written, program: declared, args } => {
            let first = match declared {
                McpProgram::Name(name) => name.clone(),
                McpProgram::File(path) => program.unwrap_or_else(|| path.as_str().to_owned()),
            };
            let mut argv = vec![first, entry.unwrap_or_else(|| written.as_str().to_owned())];
            argv.extend(args.iter().cloned());
            let url = cmd_url::build(&argv).map_err(from_cmd)?;
            Ok((url, Endpoint::Command { argv }))
        }
    }
}

/// Own tags and the four the host sets, sorted by bytes (seed 001 §5).
fn tags(plugin: &PluginId, app: &AppId, decl: &McpDecl) -> Vec<String> {
    let mut tags: BTreeSet<String> = decl.tags.iter().cloned().collect();
    tags.extend([
        "uiapp".to_owned(),
        format!("uiapp:{plugin}"),
        format!("uiapp:{plugin}:{app}"),
        format!("uiapp:{plugin}.{app}"),
    ]);
    tags.into_iter().collect()
}

/// What `getAiContribution` answers for a trusted app.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "field for field the documented JSON")]
pub struct AppContribution {
    pub plugin_id: PluginId,
    pub app_id: AppId,
    pub plugin_dir: String,
    pub revision: u64,
    pub mcp: Option<ServerContribution>,
    pub mcp_prompt: Option<PromptContribution>,
    pub mcp_servers: Outcome,
    pub prompts: Outcome,
    pub agent: Option<AgentTemplate>,
}

/// The app's own server with its names.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "field for field the documented JSON")]
pub struct ServerContribution {
    pub identity: ServerIdentity,
    pub name: String,
    pub normalized_name: String,
    pub url: String,
    pub endpoint: Endpoint,
    /// Unexpanded.
    pub call_meta: Option<Map<String, Value>>,
    pub async_task: Option<AsyncTask>,
    pub start_timeout_ms: Option<u64>,
    pub description: String,
    pub tags: Vec<String>,
    pub enabled: bool,
    pub allow_main: bool,
    pub allow_sub: bool,
    pub auth: Option<Auth>,
}

/// The app's own prompt with its names; a language without a text is empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "field for field the documented JSON")]
pub struct PromptContribution {
    pub title: String,
    pub names: PromptNames,
    pub zh: String,
    pub en: String,
}

impl AppContribution {
    /// Gives names to a resolved contribution.
    pub fn new(
        plugin: &PluginId,
        app: &AppId,
        plugin_dir: &str,
        revision: u64,
        resolved: &ResolvedAi,
        normalized_name: &str,
        prompt_names: &PromptNames,
    ) -> Self {
        let mcp = resolved.mcp.as_ref().map(|server| ServerContribution {
            identity: ServerIdentity::app(plugin, app),
            name: server_name(plugin, app),
            normalized_name: normalized_name.to_owned(),
            url: server.url.clone(),
            endpoint: server.endpoint.clone(),
            call_meta: server.decl.call_meta.clone(),
            async_task: server.decl.async_task.clone(),
            start_timeout_ms: server.decl.start_timeout_ms,
            description: server.decl.description.clone(),
            tags: server.tags.clone(),
            enabled: server.decl.enabled.unwrap_or(true),
            allow_main: server.decl.allow_main.unwrap_or(true),
            allow_sub: server.decl.allow_sub.unwrap_or(true),
            auth: server.decl.auth.clone(),
        });
        let mcp_prompt =
            resolved.prompt.as_ref().map(|ResolvedPrompt { title, text, .. }| PromptContribution {
                title: title.clone(),
                names: prompt_names.clone(),
                zh: text.zh.clone().unwrap_or_default(),
                en: text.en.clone().unwrap_or_default(),
            });
        Self {
            plugin_id: plugin.clone(),
            app_id: app.clone(),
            plugin_dir: plugin_dir.to_owned(),
            revision,
            mcp,
            mcp_prompt,
            mcp_servers: resolved.mcp_servers.clone(),
            prompts: resolved.prompts.clone(),
            agent: resolved.agent.clone(),
        }
    }
}

impl Serialize for AppContribution {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("pluginId", &self.plugin_id)?;
        map.serialize_entry("appId", &self.app_id)?;
        map.serialize_entry("pluginDir", &self.plugin_dir)?;
        map.serialize_entry("revision", &self.revision)?;
        map.serialize_entry("mcp", &self.mcp)?;
        map.serialize_entry("mcpPrompt", &self.mcp_prompt)?;
        map.serialize_entry("mcpServers", &self.mcp_servers.exposed)?;
        map.serialize_entry("prompts", &self.prompts.exposed)?;
        map.serialize_entry("agent", &self.agent)?;
        map.serialize_entry(
            "decidedBy",
            &DecidedBy { servers: self.mcp_servers.decided_by, prompts: self.prompts.decided_by },
        )?;
        map.end()
    }
}

/// Which layer decided each exposure; an addition that `chatos plugin ai` shows.
#[derive(Serialize)]
struct DecidedBy {
    #[serde(rename = "mcpServers")]
    servers: Layer,
    prompts: Layer,
}

impl Serialize for ServerContribution {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("identity", &self.identity)?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("normalizedName", &self.normalized_name)?;
        map.serialize_entry("url", &self.url)?;
        if let Endpoint::Command { argv } = &self.endpoint {
            map.serialize_entry("argv", argv)?;
        }
        map.serialize_entry("callMeta", &self.call_meta)?;
        map.serialize_entry("description", &self.description)?;
        map.serialize_entry("tags", &self.tags)?;
        map.serialize_entry("enabled", &self.enabled)?;
        map.serialize_entry("allowMain", &self.allow_main)?;
        map.serialize_entry("allowSub", &self.allow_sub)?;
        map.serialize_entry("auth", &self.auth.as_ref().map(masked_auth))?;
        map.end()
    }
}

/// What may be shown of `auth`: which parts exist (ai-contributions §5: masked everywhere).
fn masked_auth(auth: &Auth) -> Value {
    let mut shown = Map::new();
    if auth.token.is_some() {
        shown.insert("token".to_owned(), json!(MASK));
    }
    if let Some(basic) = &auth.basic {
        shown.insert("basic".to_owned(), json!({ "username": basic.username, "password": MASK }));
    }
    if !auth.headers.is_empty() {
        let headers: Map<String, Value> =
            auth.headers.iter().map(|(name, _)| (name.clone(), json!(MASK))).collect();
        shown.insert("headers".to_owned(), Value::Object(headers));
    }
    Value::Object(shown)
}
