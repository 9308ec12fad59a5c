//! Runs of agents that are programs of other makers (decision 0055): what a turn of theirs is made of. What it does is
//! in `chatos-acp`.

use std::sync::Arc;

use chatos_acp::{AcpTurn, Allowed, Audit, Deed, Hands, Launching, OurTool, PLACES};
use chatos_agent::{CallEnd, CallObserver, CallOrder, End, RunFacts, ToolRef, Turn};
use chatos_child::child_environment;
use chatos_contribution::ServerIdentity;
use chatos_policy::{Outcome, ToolDecision};
use chatos_servers::{Toolset, ToolsetOrder};
use chatos_store::{AcpLaunch, AgentRecord};
use chatos_tool::{ErrorCode, Fault, Text, Trace};
use chatos_wire::RunState;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::active::Active;
use super::desk::Runs;
use super::parts::RunParts;
use super::stage::{HostStage, Later};

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
            Self::Other(turn) => Box::pin(turn.run()).await,
        }
    }

    pub(super) async fn compact_now(&self, wish: &str) -> Result<bool, Fault> {
        match self {
            Self::Model(turn) => turn.compact_now(wish).await,
            Self::Other(turn) => Err(own_context(turn)),
        }
    }

    pub(super) async fn can_compact(&self) -> Result<bool, Fault> {
        match self {
            Self::Model(turn) => turn.can_compact().await,
            Self::Other(turn) => Err(own_context(turn)),
        }
    }
}

fn own_context(turn: &AcpTurn) -> Fault {
    not_for_acp(Text::new(
        format!("{} keeps its own context; ChatOS cannot summarize it", turn.agent),
        format!("{} 自行管理上下文，ChatOS 无法总结", turn.agent),
    ))
}

pub(super) fn not_for_acp(message: Text) -> Fault {
    Fault::new(ErrorCode::InvalidArgument, message).code("not_for_acp")
}

struct TurnAudit(chatos_store::Audit);

impl Audit for TurnAudit {
    fn audit(&self, event: &'static str, details: Value) {
        if let Value::Object(fields) = details {
            self.0.note(event, fields);
        }
    }
}

/// The servers whose work such an agent does itself, or lets us do.
const OWN: [&str; 4] = ["project_files", "code_writer", "code_maintainer", "shell_tasks"];

/// Our file and shell tools for such an agent, within its profile.
struct HostHands {
    parts: Arc<RunParts>,
    outcome: Outcome,
    run: RunFacts,
    set: tokio::sync::OnceCell<Arc<Toolset>>,
    /// What its gateway offers: everything that is granted but for what it does itself.
    behind: Outcome,
    offered: tokio::sync::OnceCell<Arc<Toolset>>,
}

impl HostHands {
    fn new(parts: &Arc<RunParts>, outcome: &Outcome, run: &RunFacts) -> Self {
        let (mut own, mut behind) = (outcome.clone(), outcome.clone());
        own.grants.retain(|_, grant| OWN.contains(&grant.server.as_str()));
        behind.grants.retain(|_, grant| !OWN.contains(&grant.server.as_str()));
        let (set, offered) = (tokio::sync::OnceCell::new(), tokio::sync::OnceCell::new());
        Self { parts: Arc::clone(parts), outcome: own, run: run.clone(), set, behind, offered }
    }

    async fn made(&self, cell: &tokio::sync::OnceCell<Arc<Toolset>>, outcome: &Outcome) -> Arc<Toolset> {
        let made = cell.get_or_try_init(|| async {
            let order = ToolsetOrder::new(outcome, self.run.lang);
            self.parts.servers.open().toolset(order).await.map(Arc::new)
        });
        match made.await {
            Ok(set) => Arc::clone(set),
            Err(fault) => {
                tracing::warn!(%fault, "an agent has no tools of ours");
                Arc::default()
            }
        }
    }
}

/// Shared by the calls of a turn.
struct SharedHands(Arc<HostHands>);

impl Hands for SharedHands {
    fn call(&self, deed: Deed, observer: Arc<dyn CallObserver>) -> Later<CallEnd> {
        let hands = Arc::clone(&self.0);
        Box::pin(async move {
            let (set, run) = (hands.made(&hands.set, &hands.outcome).await, &hands.run);
            let order = CallOrder {
                tool: ToolRef::Direct { server: deed.server.to_owned(), tool: deed.tool.to_owned() },
                arguments: deed.arguments,
                raw_arguments: None,
                call_id: format!("acp_{}", deed.span),
                trace: Trace { span_id: Some(deed.span), ..run.trace.clone() },
                user_message_id: run.user_message_id.clone(),
                role: run.role,
                workdir: run.workdir.clone(),
                lang: run.lang,
                people: run.people,
                cancel: deed.cancel,
                extra_meta: serde_json::Map::new(),
                resume: None,
                to_queue: false,
                together: None,
            };
            hands.parts.calls.dispatcher().call(&set, order, observer).await
        })
    }

    fn offered(&self, name: String) -> Later<Option<OurTool>> {
        let hands = Arc::clone(&self.0);
        Box::pin(async move {
            let set = hands.made(&hands.offered, &hands.behind).await;
            let tool = set.get(&name)?;
            Some(OurTool { server: tool.identity.to_string(), tool: tool.tool.clone() })
        })
    }
}

/// The command of our gateway for this agent: what its profile grants, but for what it does itself.
fn gateway(parts: &RunParts, launch: &AcpLaunch, agent: &AgentRecord) -> Vec<String> {
    let Ok(program) = std::env::current_exe() else { return Vec::new() };
    if !launch.gateway {
        return Vec::new();
    }
    let dir = parts.dir.path().to_string_lossy().into_owned();
    let mut words =
        vec![program.to_string_lossy().into_owned(), "gateway".to_owned(), "--state-dir".to_owned(), dir];
    words.extend(["--agent".to_owned(), agent.id.clone()]);
    words.extend(OWN.iter().flat_map(|server| ["--without".to_owned(), (*server).to_owned()]));
    words
}

/// What the permissions profile lets such an agent ask for.
fn allowed(parts: &RunParts, outcome: &Outcome, launch: &AcpLaunch) -> Allowed {
    let may = |server: &str, tool: &str| {
        let id = chatos_builtin::server_info(server).map(|info| ServerIdentity::admin(info.id));
        let decision = id.and_then(|id| outcome.tool(&id, tool));
        matches!(decision, Some(ToolDecision::Allow | ToolDecision::Ask))
    };
    Allowed {
        execute: may("shell_tasks", "run_shell_command"),
        edit: may("code_writer", "write_file"),
        read: may("project_files", "read_file"),
        files: may("code_maintainer", "read_file_raw"),
        reads_pass: parts.settings.bool("acpAllowReads"),
        gateway: launch.gateway,
    }
}

impl Runs {
    /// An answer to a question of a turn that was cut off lets it go on (other-agents §4.9).
    pub(super) fn tend_others(&self) {
        let runs = self.clone();
        self.parts().life.spawn(Box::pin(async move {
            let parts = runs.parts();
            let mut told = parts.events.subscribe(None);
            loop {
                let frame = tokio::select! {
                    () = parts.life.stop().cancelled() => return,
                    frame = told.next() => frame,
                };
                let Some(frame) = frame else {
                    told = parts.events.subscribe(None);
                    continue;
                };
                if !frame.text.contains("\"prompt_answered\"") {
                    continue;
                }
                let whole: Value = serde_json::from_str(&frame.text).unwrap_or_default();
                let run = whole["data"]["runId"].as_str().or_else(|| whole["data"]["item"]["runId"].as_str());
                let Some(run) = run.map(str::to_owned) else { continue };
                let asked = runs.clone();
                parts.life.spawn(Box::pin(async move {
                    if let Err(fault) = asked.answered(&run).await {
                        tracing::debug!(%fault, run, "an answered run does not go on by itself");
                    }
                }));
            }
        }));
    }

    /// A question of this run was answered: an interrupted turn of another program goes on, unless it is to stop.
    async fn answered(&self, id: &str) -> Result<(), Fault> {
        if self.heed_stop(id).await? {
            return Ok(());
        }
        let id = id.to_owned();
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
        stage: &HostStage,
        launch: AcpLaunch,
        agent: &AgentRecord,
        outcome: &Outcome,
        run: RunFacts,
        active: &Active,
        minutes: u64,
    ) -> AcpTurn {
        let parts = self.parts();
        let named: Vec<String> =
            launch.pass_env.iter().cloned().chain(PLACES.iter().map(|name| (*name).to_owned())).collect();
        let variables = parts.environment.variables().iter().map(|(name, value)| (name.into(), value.into()));
        AcpTurn {
            stage: Arc::new(stage.clone()),
            inbox: parts.inbox.clone(),
            store: parts.store.clone(),
            seats: parts.seats.clone(),
            launching: Launching {
                life: parts.life.clone(),
                spawning: (parts.spawning)(),
                environment: child_environment(variables, &named, &[]),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                gateway: gateway(parts, &launch, agent),
            },
            hands: Arc::new(SharedHands(Arc::new(HostHands::new(parts, outcome, &run)))),
            allowed: allowed(parts, outcome, &launch),
            launch,
            agent_id: agent.id.clone(),
            agent: agent.name.clone(),
            session_id: stage.parts.run.session_id.clone(),
            run,
            audit: Arc::new(TurnAudit(parts.audit.clone())),
            cancel: active.cancel.clone(),
            steer: Arc::clone(&active.steer),
            clock: Arc::clone(&stage.parts.clock),
            minutes,
        }
    }
}
