//! From a row of the journal to a running loop.

use std::sync::Arc;

use chatos_agent::{Limits, ModelFacts, Origin, RunClock, RunFacts, Summariser, Turn};
use chatos_apps::AppCaller;
use chatos_model::{Effort, Provider, Source, Window, effort_of, prices_of, protocol_for, replay_of};
use chatos_policy::Role;
use chatos_records::no_session;
use chatos_servers::{Room, ToolSearch, USUAL_MOST};
use chatos_store::{AgentRecord, ModelRecord, RunRow, SessionRow};
use chatos_tool::{ErrorCode, Fault, Text, Trace};
use chatos_wire::RunKind;
use serde_json::Value;

use super::active::Active;
use super::budget::Budget;
use super::desk::Runs;
use super::emit::Emitter;
use super::other::Work;
use super::parts::RunParts;
use super::stage::{HostStage, StageParts};
use super::tools::RunTools;

/// Who answers and with which model; a run that cannot begin is refused here. Blocks.
pub(super) fn check(
    parts: &Arc<RunParts>,
    session: &SessionRow,
    order: &chatos_wire::session::SendOrder,
    by_app: Option<&AppCaller>,
    images: bool,
) -> Result<(String, String), Fault> {
    let given = order.agent_id.as_deref().filter(|id| !id.is_empty());
    let agent = agent_of(parts, given.unwrap_or(&session.agent_id))?;
    match by_app {
        Some(caller) => {
            // The chat's own agent was looked at when the chat was made, or chosen by a person since.
            if let Some(id) = given {
                parts.apps.reach_answering(caller, id)?;
            }
            parts.agents.outcome_for_app(&agent, Role::Main, Some(&caller.plugin_id))?;
        }
        None => {
            parts.agents.outcome(&agent, Role::Main)?;
        }
    }
    if agent.acp.is_some() {
        // It works with the person's own rights, which no app is given.
        return if by_app.is_some() {
            Err(super::other::not_for_acp(Text::new(
                format!("apps cannot start `{}`: it is another program", agent.name),
                format!("应用不能启动 `{}`：它是另一个程序", agent.name),
            )))
        } else {
            Ok((agent.id, String::new()))
        };
    }
    if let Some(word) = order.effort.as_deref().filter(|word| Effort::parse(word).is_none()) {
        let words = Effort::ALL.map(Effort::as_str).join(", ");
        return Err(Fault::new(
            ErrorCode::InvalidArgument,
            Text::new(format!("/effort: there is no `{word}`"), format!("/effort：没有 `{word}`")),
        )
        .hint(Text::new(format!("use one of {words}"), format!("可用：{words}"))));
    }
    let given = [&order.answer_by, &order.model_id].into_iter().flatten().find(|id| !id.is_empty());
    let given = given.map(String::as_str);
    let model = model_of(parts, given.unwrap_or(&session.model_id), &agent)?;
    if images && !model.supports_vision {
        return Err(Fault::new(
            ErrorCode::InvalidArgument,
            Text::new(
                format!("the model `{}` cannot see images", model.name),
                format!("模型 `{}` 无法识别图片", model.name),
            ),
        )
        .code("no_vision")
        .hint(Text::fixed(
            "choose a model that sees, or send the message without images",
            "请选择支持视觉的模型，或发送不带图片的消息",
        )));
    }
    Ok((agent.id, model.id))
}

pub(super) fn agent_of(parts: &RunParts, id: &str) -> Result<AgentRecord, Fault> {
    if id.is_empty() { parts.agents.first_agent() } else { parts.agents.agent(id) }
}

/// The model of a message: the chat's choice, else the agent's, else the default.
pub(super) fn model_of(
    parts: &Arc<RunParts>,
    chosen: &str,
    agent: &AgentRecord,
) -> Result<ModelRecord, Fault> {
    let wanted = Some(chosen).filter(|id| !id.is_empty()).or(agent.model_id.as_deref());
    parts.models.resolve(wanted)
}

/// The plugin whose app started a run, whatever became of the host since.
fn app_of(run: &RunRow) -> Option<String> {
    let options: Value = serde_json::from_str(&run.options).unwrap_or_default();
    options["app"].as_str().map(str::to_owned)
}

/// What is known of a model.
fn facts(parts: &RunParts, record: &ModelRecord) -> ModelFacts {
    ModelFacts {
        id: record.id.clone(),
        model: record.model.clone(),
        origin: Origin {
            protocol: match protocol_for(record) {
                Some(protocol) => protocol.as_str().to_owned(),
                None => record.provider.clone(),
            },
            host: host_of(&record.base_url),
            model: record.model.clone(),
        },
        window: parts.models.window(record),
        max_output_tokens: (record.max_output_tokens > 0).then_some(record.max_output_tokens),
        temperature: record.temperature,
        effort: effort_of(record),
        thinks: record.supports_reasoning,
        vision: record.supports_vision,
        tools: record.supports_tools,
        parallel_tools: record.supports_parallel_tools,
        tools_once: record.tool_followup == "none",
        replay: replay_of(record),
        // Filled in by the provider, which knows the secrets in it.
        extra_body: serde_json::Map::new(),
        prices: prices_of(record),
    }
}

/// What of a person's files this model reads itself.
pub(super) fn native(parts: &RunParts, record: &ModelRecord) -> chatos_documents::Native {
    if record.facts.pdf {
        chatos_documents::Native::new(parts.models.window(record).tokens)
    } else {
        chatos_documents::Native::none()
    }
}

/// Host and port of an address.
fn host_of(base_url: &str) -> String {
    let rest = base_url.split_once("://").map_or(base_url, |(_, rest)| rest);
    rest.split('/').next().unwrap_or_default().to_owned()
}

/// The model that makes summaries, where a person chose another one. One that cannot be used leaves it to the run's.
fn summariser(parts: &Arc<RunParts>) -> Option<Summariser> {
    let chosen = parts.settings.text("summaryModel");
    if chosen.is_empty() {
        return None;
    }
    let opened = parts.models.resolve(Some(&chosen)).and_then(|record| {
        let provider = parts.models.open(&record)?;
        Ok(Summariser { provider, model: facts(parts, &record) })
    });
    opened.inspect_err(|fault| tracing::warn!(%fault, "the model for summaries cannot be used")).ok()
}

/// How much room a model has for tools. Vendors spoken to as OpenAI take 128 of them where nobody knows better.
fn room_of(parts: &RunParts, record: &ModelRecord) -> Room {
    let most = usize::try_from(record.facts.max_tools).unwrap_or_default();
    let unlimited = matches!(record.provider.as_str(), "anthropic" | "gemini" | "ollama" | "demo");
    Room {
        // A window nobody knows is no reason to hide tools; the demo reads their names alone.
        window: match parts.models.window(record) {
            Window { source: Source::Default, .. } => u64::MAX,
            _ if record.provider == "demo" => u64::MAX,
            known => known.tokens,
        },
        most: match most {
            0 if unlimited => usize::MAX,
            0 => USUAL_MOST,
            most => most,
        },
        search: ToolSearch::parse(&parts.settings.text("toolSearch")),
    }
}

/// Everything a run needs, read at its start.
pub(super) struct Begun {
    pub(super) stage: HostStage,
    pub(super) turn: Work,
}

impl Runs {
    pub(super) fn emitter(&self, session_id: &str, run_id: &str) -> Emitter {
        let parts = self.parts();
        Emitter {
            events: parts.events.clone(),
            log: self.log().clone(),
            redactor: Arc::clone(&parts.redactor),
            session_id: session_id.to_owned(),
            run_id: run_id.to_owned(),
            quiet: false,
            trace: Trace {
                trace_id: None,
                span_id: None,
                parent_span_id: None,
                root_agent_id: None,
                agent_id: None,
                sub_agent_id: None,
                run_id: Some(run_id.to_owned()),
                session_id: Some(session_id.to_owned()),
                tool_name: None,
            },
        }
    }

    /// Prepares a run whose lease this host holds. Blocks.
    pub(super) fn begin(&self, run: RunRow, active: &Active) -> Result<Begun, Fault> {
        let parts = self.parts();
        let store = &parts.store;
        let sub = run.kind == RunKind::Sub;
        let transcript = if sub { run.id.clone() } else { run.session_id.clone() };
        let session = store.session(&run.session_id)?;
        let session = session.ok_or_else(|| no_session(&run.session_id))?;
        let agent = agent_of(parts, &run.agent_id)?;
        let role = run.role;
        let place = parts.apps.run_place(&session, &agent)?;
        let root = store.run(&run.root_run_id)?;
        let app = root.as_ref().and_then(app_of);
        let outcome = if app.is_some() || place.read_only {
            parts.agents.outcome_for_app(&agent, role, app.as_deref())?
        } else {
            parts.agents.outcome(&agent, role)?
        };
        let launch = agent.acp.clone();
        let record = match &launch {
            None => model_of(parts, &run.model_id, &agent)?,
            // It has its own; ours stay out of it.
            Some(launch) => ModelRecord {
                id: String::new(),
                supports_vision: true,
                ..ModelRecord::new(&agent.name, "acp", &launch.program)
            },
        };
        let provider: Option<Arc<dyn Provider>> =
            if launch.is_some() { None } else { Some(parts.models.open(&record)?) };
        let mut model = facts(parts, &record);
        let workdir = place.dir;
        let (people, lang) = (parts.lang(), parts.agents.language(&agent));
        let steps = store.steps(&run.id)?;
        let options: Value = serde_json::from_str(&run.options).unwrap_or_default();
        // Chosen for this message; a model that does not think is not told to.
        if let Some(word) = options["effort"].as_str().filter(|_| record.supports_reasoning) {
            let wanted = ModelRecord { reasoning_effort: word.to_owned(), ..record.clone() };
            model.effort = effort_of(&wanted).or(model.effort);
        }
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let trace = Trace {
            trace_id: text(&run.trace_id),
            span_id: text(&run.span_id),
            parent_span_id: text(&run.parent_span_id),
            root_agent_id: text(root.as_ref().map_or(&run.agent_id, |root| &root.agent_id)),
            agent_id: text(&run.agent_id),
            sub_agent_id: text(&run.subagent_id),
            run_id: Some(run.id.clone()),
            session_id: text(&run.session_id),
            tool_name: None,
        };
        let emitter = Emitter { quiet: sub, trace: trace.clone(), ..self.emitter(&run.session_id, &run.id) };
        let settings = &parts.settings;
        let number = |key: &str| u64::try_from(settings.int(key)).unwrap_or_default();
        let land = parts.agents.land_config(&outcome.land_id)?;
        let limits = Limits {
            passes: land.limits.max_passes.map_or(number("maxToolPasses"), u64::from) as usize,
            calls: number("runMaxToolCalls") as usize,
            minutes: if sub { number("runMaxMinutes").min(120) } else { number("runMaxMinutes") },
            retries: number("retry") as u32,
            summary_tokens: number("summaryTokenThreshold"),
            compact_share: number("compactShare"),
            result_chars: number("toolResultChars") as usize,
        };
        let clock = Arc::new(RunClock::default());
        // A continued run has no answer promised to anybody.
        let first_answer =
            steps.is_empty().then(|| options["answerId"].as_str().map(str::to_owned)).flatten();
        let facts = RunFacts {
            id: run.id.clone(),
            trace: trace.clone(),
            role,
            workdir: workdir.clone(),
            lang,
            people,
            user_message_id: text(&run.user_message_id),
        };
        let stage = HostStage::new(StageParts {
            runs: self.clone(),
            transcript,
            owner: self.owner().to_owned(),
            role,
            lang: people,
            workdir,
            model_id: record.id.clone(),
            origin: model.origin.clone(),
            vision: model.vision,
            native: native(parts, &record),
            room: room_of(parts, &record),
            prices: model.prices.clone(),
            trace,
            emitter,
            clock: Arc::clone(&clock),
            tools: RunTools::new(outcome.clone(), &options),
            next_step: steps
                .iter()
                .map(|step| step.seq)
                .filter(|seq| !super::correction::is_correction(*seq))
                .max()
                .map_or(1, |seq| seq + 1),
            first_answer,
            result_chars: number("toolResultChars") as usize,
            budget: Budget {
                tokens: land.limits.max_tokens.filter(|limit| *limit > 0),
                cost: land.limits.max_cost.filter(|limit| *limit > 0.0),
            },
            agent: agent.clone(),
            run,
        });
        let Some(provider) = provider else {
            let launch = launch.unwrap_or_default();
            let turn = self.other(&stage, launch, &agent, &outcome, facts, active, limits.minutes);
            return Ok(Begun { stage, turn: Work::Other(Box::new(turn)) });
        };
        let turn = Turn {
            stage: Arc::new(stage.clone()),
            provider,
            model,
            summariser: summariser(parts),
            limits,
            run: facts,
            cancel: active.cancel.clone(),
            steer: Arc::clone(&active.steer),
            clock,
        };
        Ok(Begun { stage, turn: Work::Model(Box::new(turn)) })
    }
}
