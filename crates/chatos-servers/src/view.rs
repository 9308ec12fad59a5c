//! A server as pages and commands show it.

use chatos_mcp::{Failure, LastError, Phase, ServerStatus};
use chatos_store::{iso_from_ms, now_ms};
use chatos_tool::{Fault, Lang};
use chatos_wire::server::{AuthView, ServerFailure, ServerStateView, ServerView};

use crate::catalogue::ServerRecord;
use crate::servers::{Inner, Servers};

/// Lines of an error stream with an error.
const STDERR_LINES: usize = 30;

impl Servers {
    /// Every server.
    pub async fn list(&self, lang: Lang) -> Result<Vec<ServerView>, Fault> {
        let catalogue = self.inner().catalogue().await?;
        Ok(catalogue.servers.iter().map(|known| self.inner().view(known, lang)).collect())
    }

    /// One server by id, identity or name.
    pub async fn show(&self, id: &str, lang: Lang) -> Result<ServerView, Fault> {
        let catalogue = self.inner().catalogue().await?;
        let known = catalogue.wanted(id)?;
        Ok(self.inner().view(known, lang))
    }
}

impl Inner {
    pub(crate) fn view(&self, known: &ServerRecord, lang: Lang) -> ServerView {
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
            start_timeout_ms: known.start_timeout_ms,
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
            sign_in: self.sign_in_view(known, lang),
            source: known.source.as_str().to_owned(),
            plugin_id: known.plugin_id.clone(),
            app_id: known.app_id.clone(),
            tags: known.tags.clone(),
            state: self.state(known, lang),
        }
    }

    pub(crate) fn state(&self, known: &ServerRecord, lang: Lang) -> ServerStateView {
        let started = iso_from_ms(self.parts.started_at);
        let mut view = ServerStateView {
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
                view.tools =
                    (self.parts.built_in)(known.name()).ok().map(|server| server.tool_names().count());
            }
            return view;
        }
        if let Some(fault) = &known.problem {
            "failed".clone_into(&mut view.phase);
            if !known.enabled || !known.trusted {
                "off".clone_into(&mut view.phase);
            }
            view.last_error = Some(ServerFailure {
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
        self.fill(&mut view, &status, lang);
        view
    }

    fn fill(&self, view: &mut ServerStateView, status: &ServerStatus, lang: Lang) {
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
        let redactor = &self.parts.redactor;
        // Wanting a sign-in is no failure to remember once somebody signed in.
        let counts = |last: &&LastError| {
            status.phase == Phase::SignIn || !matches!(last.failure, Failure::SignInNeeded { .. })
        };
        view.last_error = status.last_error.as_ref().filter(counts).map(|last| {
            let at = last.at.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
            ServerFailure {
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
pub(crate) fn phase_word(phase: Phase) -> &'static str {
    match phase {
        Phase::Idle | Phase::Stopped => "stopped",
        Phase::Starting => "starting",
        Phase::Ready => "ready",
        Phase::Waiting => "backoff",
        Phase::SignIn => "sign_in",
        Phase::Failed => "failed",
    }
}
