//! A server as pages and commands show it.

use chatos_mcp::{Failure, LastError, Phase, ServerStatus};
use chatos_store::{iso_from_ms, now_ms};
use chatos_tool::{Fault, Lang};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::sign_in::SignInView;
use super::{Known, ServerDesk, Shared};
use crate::host::Host;

/// Lines of an error stream with an error.
const STDERR_LINES: usize = 30;

/// A server.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerView {
    /// Names it in this API.
    pub id: String,
    /// The key of grants: `admin:<id>` or `app:<pluginId>/<appId>`.
    pub identity: String,
    pub name: String,
    pub url: String,
    /// The words of a program, as they are started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub argv: Option<Vec<String>>,
    /// `in-process`, `stdio`, `http` or `ws`.
    pub transport: String,
    pub description: String,
    pub enabled: bool,
    /// Only `enabled` may be changed.
    pub locked: bool,
    pub allow_main: bool,
    pub allow_sub: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_timeout_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_meta: Option<Map<String, Value>>,
    /// Where a program runs; empty = the project of the host.
    pub cwd: String,
    /// Addresses of this machine and its network are allowed.
    pub allow_private: bool,
    /// Folders it is told about when it asks (`roots/list`): those a person set, none otherwise.
    pub roots: Vec<String>,
    pub auth: AuthView,
    pub sign_in: SignInView,
    /// `builtin`, `app`, `user` or `import`.
    pub source: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_id: Option<String>,
    pub tags: Vec<String>,
    pub state: StateView,
}

/// What may be told about credentials.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthView {
    /// `none`, `token`, `basic` or `headers`.
    pub kind: String,
    /// Something is stored; it is never shown.
    pub has_value: bool,
    pub header_names: Vec<String>,
    /// Names of variables a program gets.
    pub env_names: Vec<String>,
    /// What a person said about signing in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oauth: Option<OauthView>,
}

/// What a person said about signing in to a server.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OauthView {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// A secret is stored; it is never shown.
    pub has_secret: bool,
    pub scopes: Vec<String>,
}

/// Where a server is in its life.
#[derive(Debug, Clone, Serialize, JsonSchema, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct StateView {
    /// `off`, `stopped`, `starting`, `ready`, `backoff`, `failed`, or `sign_in`: a person has to sign in.
    pub phase: String,
    /// When that began.
    pub since: String,
    /// `legacy` or `modern`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub era: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<String>,
    /// As the server says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_info: Option<Value>,
    /// Tools in its newest list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<usize>,
    /// Calls it works on.
    pub in_flight: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Times it was started again after a failure.
    pub restarts: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_try_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<ErrorView>,
}

/// The last failure.
#[derive(Debug, Clone, Serialize, JsonSchema, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct ErrorView {
    pub code: String,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    pub at: String,
    /// The last lines of its error stream.
    pub stderr: Vec<String>,
}

impl ServerDesk {
    /// Every server.
    pub async fn list(&self, lang: Lang) -> Result<Vec<ServerView>, Fault> {
        let catalogue = self.shared().catalogue().await?;
        let host = self.shared().host()?;
        Ok(catalogue.servers.iter().map(|known| self.shared().view(&host, known, lang)).collect())
    }

    /// One server by id, identity or name.
    pub async fn show(&self, id: &str, lang: Lang) -> Result<ServerView, Fault> {
        let catalogue = self.shared().catalogue().await?;
        let known = catalogue.wanted(id)?;
        let host = self.shared().host()?;
        Ok(self.shared().view(&host, known, lang))
    }
}

impl Shared {
    pub(crate) fn view(&self, host: &Host, known: &Known, lang: Lang) -> ServerView {
        ServerView {
            id: known.id.clone(),
            identity: known.identity().to_string(),
            name: known.name().to_owned(),
            url: known.url.clone(),
            argv: known.argv.clone(),
            transport: known.transport.to_owned(),
            description: known.description.clone(),
            enabled: known.enabled,
            locked: known.locked,
            allow_main: known.allow_main,
            allow_sub: known.allow_sub,
            timeout_ms: known.timeout_ms,
            max_timeout_ms: known.max_timeout_ms,
            call_meta: known.route.call_meta.clone(),
            cwd: known.cwd.clone(),
            allow_private: known.allow_private,
            roots: known.route.roots.clone(),
            auth: AuthView {
                kind: known.auth.kind.to_owned(),
                has_value: known.auth.has_value,
                header_names: known.auth.header_names.clone(),
                env_names: known.auth.env_names.clone(),
                oauth: known.auth.oauth.clone(),
            },
            sign_in: self.sign_in_view(host, known, lang),
            source: known.source.as_str().to_owned(),
            plugin_id: known.plugin_id.clone(),
            app_id: known.app_id.clone(),
            tags: known.tags.clone(),
            state: self.state(host, known, lang),
        }
    }

    pub(crate) fn state(&self, host: &Host, known: &Known, lang: Lang) -> StateView {
        let started = iso_from_ms(host.started_at());
        let mut view = StateView {
            phase: "off".to_owned(),
            since: started,
            era: None,
            protocol_version: None,
            server_info: None,
            tools: None,
            in_flight: 0,
            pid: None,
            restarts: 0,
            next_try_at: None,
            last_error: None,
        };
        if known.is_built_in() {
            if known.enabled {
                "ready".clone_into(&mut view.phase);
                view.tools = host.built_in_tool_count(known.name());
            }
            return view;
        }
        if let Some(fault) = &known.problem {
            "failed".clone_into(&mut view.phase);
            if !known.enabled || !known.trusted {
                "off".clone_into(&mut view.phase);
            }
            view.last_error = Some(ErrorView {
                code: fault.code.to_string(),
                message: fault.message.get(lang).to_owned(),
                hint: fault.hint.as_ref().map(|hint| hint.get(lang).to_owned()),
                at: view.since.clone(),
                stderr: Vec::new(),
            });
            return view;
        }
        let Some(status) = known.key().and_then(|key| self.pool.status(key)).filter(|_| known.enabled) else {
            return view;
        };
        self.fill(&mut view, host, &status, lang);
        view
    }

    fn fill(&self, view: &mut StateView, host: &Host, status: &ServerStatus, lang: Lang) {
        phase_word(status.phase).clone_into(&mut view.phase);
        if let Some(note) = self.phase_note(&status.key) {
            view.since = iso_from_ms(note.since);
            view.restarts = note.restarts;
        }
        if let Some(peer) = &status.peer {
            view.era = Some(peer.era.as_str().to_owned());
            view.protocol_version = Some(peer.version.clone());
            view.server_info = Some(peer.info.clone()).filter(|info| !info.is_null());
        }
        view.tools = status.tools;
        view.in_flight = status.calls;
        view.pid = status.pid;
        view.next_try_at = status
            .next_attempt
            .map(|left| iso_from_ms(now_ms() + i64::try_from(left.as_millis()).unwrap_or_default()));
        let redactor = host.redactor();
        // Wanting a sign-in is no failure to remember once somebody signed in.
        let counts = |last: &&LastError| {
            status.phase == Phase::SignIn || !matches!(last.failure, Failure::SignInNeeded { .. })
        };
        view.last_error = status.last_error.as_ref().filter(counts).map(|last| {
            let at = last.at.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
            ErrorView {
                code: last.failure.domain_code().to_owned(),
                message: redactor.message(last.failure.text().get(lang)).into_owned(),
                hint: last.failure.hint().map(|hint| hint.get(lang).to_owned()),
                at: iso_from_ms(i64::try_from(at.as_millis()).unwrap_or_default()),
                stderr: last
                    .stderr
                    .iter()
                    .rev()
                    .take(STDERR_LINES)
                    .rev()
                    .map(|line| redactor.text(line).into_owned())
                    .collect(),
            }
        });
    }
}

/// The word of a phase on the wire.
pub(super) fn phase_word(phase: Phase) -> &'static str {
    match phase {
        Phase::Idle | Phase::Stopped => "stopped",
        Phase::Starting => "starting",
        Phase::Ready => "ready",
        Phase::Waiting => "backoff",
        Phase::SignIn => "sign_in",
        Phase::Failed => "failed",
    }
}
