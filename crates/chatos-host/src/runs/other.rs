//! Runs of agents that are programs of other makers (decision 0055): what a turn of theirs is made of. What it does is
//! in `chatos-acp`.

use std::sync::Arc;

use chatos_acp::{AcpTurn, Allowed, Audit, Launching, PLACES};
use chatos_agent::{End, RunFacts, Turn};
use chatos_child::child_environment;
use chatos_contribution::ServerIdentity;
use chatos_policy::{Outcome, ToolDecision};
use chatos_store::{AcpLaunch, AgentRecord};
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::RunState;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::RunDesk;
use super::active::Active;
use super::stage::HostStage;
use crate::host::Host;

/// What a run does.
pub(super) enum Work {
    Model(Box<Turn>),
    Other(Box<AcpTurn>),
}

impl Work {
    pub(super) fn cancel(&self) -> &CancellationToken {
        match self {
            Self::Model(turn) => &turn.cancel,
            Self::Other(turn) => &turn.cancel,
        }
    }

    pub(super) async fn run(self) -> Result<End, Fault> {
        match self {
            Self::Model(turn) => turn.run().await,
            Self::Other(turn) => turn.run().await,
        }
    }

    pub(super) async fn compact_now(&self, wish: &str) -> Result<bool, Fault> {
        match self {
            Self::Model(turn) => turn.compact_now(wish).await,
            Self::Other(turn) => Err(not_for_acp(Text::new(
                format!("{} keeps its own context; ChatOS cannot summarise it", turn.agent),
                format!("{} 自行管理上下文，ChatOS 无法总结", turn.agent),
            ))),
        }
    }
}

pub(super) fn not_for_acp(message: Text) -> Fault {
    Fault::new(ErrorCode::InvalidArgument, message).code("not_for_acp")
}

struct HostAudit(Arc<Host>);

impl Audit for HostAudit {
    fn audit(&self, event: &'static str, details: Value) {
        if let Value::Object(fields) = details {
            self.0.audit(event, fields);
        }
    }
}

/// What the permissions profile lets such an agent ask for.
fn allowed(host: &Host, outcome: &Outcome) -> Allowed {
    let may = |server: &str, tool: &str| {
        let id = chatos_builtin::server_info(server).map(|info| ServerIdentity::admin(info.id));
        let decision = id.and_then(|id| outcome.tool(&id, tool));
        matches!(decision, Some(ToolDecision::Allow | ToolDecision::Ask))
    };
    Allowed {
        execute: may("shell_tasks", "run_shell_command"),
        edit: may("code_writer", "write_file"),
        read: may("project_files", "read_file"),
        reads_pass: host.settings().bool("acpAllowReads"),
    }
}

impl Host {
    /// An answer to a question of a turn that was cut off lets it go on (other-agents §4.9).
    pub(crate) fn tend_others(self: &Arc<Self>) {
        let host = Arc::clone(self);
        self.life().spawn(Box::pin(async move {
            let mut told = host.events().subscribe(None);
            loop {
                let frame = tokio::select! {
                    () = host.shutdown().cancelled() => return,
                    frame = told.next() => frame,
                };
                let Some(frame) = frame else {
                    told = host.events().subscribe(None);
                    continue;
                };
                if !frame.text.contains("\"prompt_answered\"") {
                    continue;
                }
                let whole: Value = serde_json::from_str(&frame.text).unwrap_or_default();
                let run = whole["data"]["runId"].as_str().or_else(|| whole["data"]["item"]["runId"].as_str());
                if let Some(run) = run
                    && let Err(fault) = host.runs().answered(run.to_owned()).await
                {
                    tracing::debug!(%fault, run, "an answered run does not go on by itself");
                }
            }
        }));
    }
}

impl RunDesk {
    /// A question of this run was answered: an interrupted turn of another program goes on.
    async fn answered(&self, id: String) -> Result<(), Fault> {
        let found = self.work(move |store| {
            let Some(run) = store.run(&id)? else { return Ok(None) };
            let other = store.agent(&run.agent_id)?.is_some_and(|agent| agent.acp.is_some());
            Ok((other && run.state == RunState::Interrupted).then_some(run.id))
        });
        match found.await? {
            Some(id) => self.resume(&id).await,
            None => Ok(()),
        }
    }

    /// The turn of an agent of another maker.
    #[expect(clippy::too_many_arguments, reason = "what a run is made of, read at its start")]
    pub(super) fn other(
        &self,
        host: &Arc<Host>,
        stage: &HostStage,
        launch: AcpLaunch,
        agent: &AgentRecord,
        outcome: &Outcome,
        run: RunFacts,
        active: &Active,
        minutes: u64,
    ) -> AcpTurn {
        let named: Vec<String> =
            launch.pass_env.iter().cloned().chain(PLACES.iter().map(|name| (*name).to_owned())).collect();
        let variables =
            host.environment().variables().iter().map(|(name, value)| (name.into(), value.into()));
        AcpTurn {
            stage: Arc::new(stage.clone()),
            inbox: host.inbox().clone(),
            store: host.store().clone(),
            seats: self.seats.clone(),
            launching: Launching {
                life: host.life().clone(),
                spawning: host.spawning(),
                environment: child_environment(variables, &named, &[]),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            },
            launch,
            agent_id: agent.id.clone(),
            agent: agent.name.clone(),
            session_id: stage.parts.run.session_id.clone(),
            run,
            allowed: allowed(host, outcome),
            audit: Arc::new(HostAudit(Arc::clone(host))),
            cancel: active.cancel.clone(),
            steer: Arc::clone(&active.steer),
            clock: Arc::clone(&stage.parts.clock),
            minutes,
        }
    }
}
