//! The calls of one answer: together where every one only reads, alone otherwise (agents §7, §8).

use std::sync::Arc;

use chatos_mcp::Block;
use chatos_tool::{Answer, Envelope, Fault, Reason, Resource, Stamp, Text, TextLimits, ToolError, Trace};
use futures_util::{StreamExt, stream};
use serde_json::Map;
use tokio_util::sync::CancellationToken;

use super::{Turn, wrapped};
use crate::args::{self, Arguments};
use crate::dispatch::{CallEnd, CallOrder, Resumed, ToolRef};
use crate::repeat;
use crate::resume::{Decision, StepFacts, decide};
use crate::stage::{CallStep, PlannedCall, Word};
use crate::transcript::{Pending, Transcript};
use chatos_servers::Toolset;
use chatos_together::Member;

/// Calls at once.
const PARALLEL: usize = 8;
/// Most changes of files, and most commands, that are asked about together.
const FILES_TOGETHER: usize = 32;
const COMMANDS_TOGETHER: usize = 20;
/// How often a model is asked to send broken arguments again.
const RESENDS: usize = 3;
/// Calls of one answer that are made.
const PER_ANSWER: usize = 64;

impl Turn {
    /// Makes the calls that have no result yet. `made` counts all calls of the run so far.
    pub(super) async fn calls(
        &self,
        chat: &Transcript,
        made: usize,
        pending: Vec<Pending>,
    ) -> Result<(), Fault> {
        let set = self.stage.tools().await?;
        let pending: Vec<Pending> =
            pending.into_iter().map(|pending| wrapped::unwrapped(&set, pending)).collect();
        let cancel = self.steer.calls(&self.cancel);
        let over = made.saturating_sub(self.limits.calls).max(pending.len().saturating_sub(PER_ANSWER));
        let (run, refused) = pending.split_at(pending.len().saturating_sub(over));
        let mut rest = run;
        while let Some(first) = rest.first() {
            let together = rest.iter().take_while(|pending| self.may_share(&set, pending)).count();
            let asking = self.ask_together(&set, rest);
            if asking > 1 {
                let (group, left) = rest.split_at(asking);
                rest = left;
                self.together(chat, &set, group, &cancel).await?;
                continue;
            }
            if together < 2 {
                self.alone(chat, &set, first.clone(), &cancel).await?;
                rest = &rest[1..];
                continue;
            }
            let (group, left) = rest.split_at(together);
            rest = left;
            // Results come back in the order of the calls, whichever ends first.
            let mut ended = stream::iter(group.to_vec())
                .map(|pending| self.make(chat, &set, pending, &cancel, None, None))
                .buffered(PARALLEL);
            while let Some(done) = ended.next().await {
                let (step, pending, end) = done?;
                self.stage.finish_call(step, pending, end).await?;
            }
        }
        for pending in refused {
            let step = self.stage.begin_call(self.planned(&set, pending.clone(), None)).await?;
            let end = self.refusal(&step, &set, pending, too_many());
            self.stage.finish_call(step, pending.clone(), end).await?;
        }
        Ok(())
    }

    /// Only reads, by a word that counts, and is neither waiting nor uncertain.
    fn may_share(&self, set: &Toolset, pending: &Pending) -> bool {
        let reads = set.get(&pending.call.name).is_some_and(|tool| tool.read_only && !tool.ask);
        reads && matches!(decide(pending.step.as_ref()), Decision::Execute | Decision::Again)
    }

    /// How many of the next calls are planned first and asked about together: changes of files, or commands, that stand
    /// next to one another and were never begun (inbox §3.1).
    fn ask_together(&self, set: &Toolset, rest: &[Pending]) -> usize {
        let kind = |pending: &Pending| {
            let tool = set.get(&pending.call.name)?;
            let once_more = pending.step.as_ref().is_some_and(|step| step.approved.is_some());
            let fresh = matches!(decide(pending.step.as_ref()), Decision::Execute) && !once_more;
            if !fresh || !tool.asks_itself || self.arguments(set, pending).is_err() {
                return None;
            }
            match tool.tool.as_str() {
                "apply_patch" | "delete_path" | "edit_file" | "write_file" => Some("files"),
                "run_shell_command" => Some("commands"),
                _ => None,
            }
        };
        let first = rest.first().and_then(kind);
        let most = if first == Some("commands") { COMMANDS_TOGETHER } else { FILES_TOGETHER };
        if first.is_none() {
            return 0;
        }
        rest.iter().take(most).take_while(|pending| kind(pending) == first).count()
    }

    /// Makes calls that ask together: each plans, all are asked about, and they act one after the other.
    async fn together(
        &self,
        chat: &Transcript,
        set: &Arc<Toolset>,
        group: &[Pending],
        cancel: &CancellationToken,
    ) -> Result<(), Fault> {
        let name = uuid::Uuid::now_v7().to_string();
        let members = chatos_together::members(&name, group.len());
        let make = |(pending, member): (Pending, Member)| {
            self.make(chat, set, pending, cancel, None, Some(Arc::new(member)))
        };
        // All of them at once: whoever has not planned yet holds up the question.
        let mut ended =
            stream::iter(group.iter().cloned().zip(members)).map(make).buffered(group.len().max(1));
        while let Some(done) = ended.next().await {
            let (step, pending, end) = done?;
            self.stage.finish_call(step, pending, end).await?;
        }
        Ok(())
    }

    async fn alone(
        &self,
        chat: &Transcript,
        set: &Arc<Toolset>,
        pending: Pending,
        cancel: &CancellationToken,
    ) -> Result<(), Fault> {
        let goes_on = match decide(pending.step.as_ref()) {
            Decision::Execute | Decision::Again => pending.step.as_ref().and_then(StepFacts::once_more),
            Decision::Child => None,
            Decision::Wait(resumed) => Some(resumed),
            Decision::Uncertain => match self.stage.uncertain(pending.clone()).await? {
                Word::Again(approved) => approved.map(|request_id| Resumed::Again { request_id }),
                word => return self.stage.settle_call(pending, word == Word::Worked).await,
            },
        };
        let (step, pending, end) = self.make(chat, set, pending, cancel, goes_on, None).await?;
        self.stage.finish_call(step, pending, end).await
    }

    async fn make(
        &self,
        chat: &Transcript,
        set: &Arc<Toolset>,
        pending: Pending,
        cancel: &CancellationToken,
        resume: Option<Resumed>,
        together: Option<Arc<Member>>,
    ) -> Result<(CallStep, Pending, CallEnd), Fault> {
        let anew = matches!(resume, None | Some(Resumed::Again { .. }));
        let known = pending.step.as_ref().filter(|_| !anew);
        let goes_on = known.map(|step| CallStep {
            seq: step.seq,
            call_id: step.call_id.clone(),
            span_id: String::new(),
        });
        let step = self.stage.begin_call(self.planned(set, pending.clone(), goes_on)).await?;
        let (arguments, raw) = match self.arguments(set, &pending) {
            Ok(arguments) => (arguments, None),
            Err(error) if anew => {
                let before = repeat::resent(chat, &self.run.id, &pending.call.name, &pending.call.id);
                let error = if before >= RESENDS { given_up(&error) } else { error };
                let end = self.refusal(&step, set, &pending, error);
                return Ok((step, pending, end));
            }
            Err(_) => (Map::new(), Some(pending.call.arguments.clone())),
        };
        let order = CallOrder {
            tool: ToolRef::Name(pending.call.name.clone()),
            arguments,
            raw_arguments: raw,
            trace: self.trace(&step),
            call_id: pending.call.id.clone(),
            user_message_id: self.run.user_message_id.clone(),
            role: self.run.role,
            workdir: self.run.workdir.clone(),
            lang: self.run.lang,
            people: self.run.people,
            cancel: cancel.clone(),
            extra_meta: Map::new(),
            resume,
            to_queue: false,
            together,
        };
        let observer = self.stage.observer(&step);
        let end = self.stage.call(Arc::clone(set), order, observer).await;
        Ok((step, pending, end))
    }

    /// The arguments of a call. A repair is taken only where a wrong guess changes nothing.
    fn arguments(
        &self,
        set: &Toolset,
        pending: &Pending,
    ) -> Result<Map<String, serde_json::Value>, ToolError> {
        let tool = set.get(&pending.call.name);
        match args::read(&pending.call.arguments) {
            Arguments::Plain(map) => match tool.filter(|tool| set.is_deferred(&tool.name)) {
                Some(tool) => wrapped::complete(tool, map),
                None => Ok(map),
            },
            Arguments::Repaired(map) => match tool {
                Some(tool) if tool.read_only => {
                    let value = serde_json::Value::Object(map.clone());
                    if chatos_tool::schema::mismatches(&tool.input_schema, &value).is_empty() {
                        Ok(map)
                    } else {
                        Err(broken(0, "the arguments do not fit the tool's schema"))
                    }
                }
                _ => {
                    let (at, why) = fault_of(&pending.call.arguments);
                    Err(broken(at, &why))
                }
            },
            Arguments::Broken { at, why } => Err(broken(at, &why)),
        }
    }

    fn planned(&self, set: &Toolset, pending: Pending, goes_on: Option<CallStep>) -> PlannedCall {
        let tool = set.get(&pending.call.name);
        let refused = set.refused(&pending.call.name);
        PlannedCall {
            server_identity: tool
                .map(|tool| tool.identity.as_str().to_owned())
                .or_else(|| refused.map(|tool| tool.identity.as_str().to_owned()))
                .unwrap_or_default(),
            server: tool
                .map(|tool| tool.server.clone())
                .or_else(|| refused.map(|tool| tool.server.clone()))
                .unwrap_or_default(),
            tool: tool
                .map(|tool| tool.tool.clone())
                .or_else(|| refused.map(|tool| tool.tool.clone()))
                .unwrap_or_else(|| pending.call.name.clone()),
            read_only: tool.is_some_and(|tool| tool.read_only),
            idempotent: tool.is_some_and(|tool| tool.idempotent),
            pending,
            goes_on,
        }
    }

    fn trace(&self, step: &CallStep) -> Trace {
        Trace {
            span_id: Some(step.span_id.clone()),
            parent_span_id: self.run.trace.span_id.clone(),
            ..self.run.trace.clone()
        }
    }

    /// An answer the loop gives itself.
    fn refusal(&self, step: &CallStep, set: &Toolset, pending: &Pending, error: ToolError) -> CallEnd {
        let planned = self.planned(set, pending.clone(), None);
        let mut trace = self.trace(step);
        trace.tool_name = Some(planned.tool.clone());
        let stamp = Stamp {
            server: planned.server,
            tool: planned.tool,
            trace,
            elapsed_ms: 0,
            ts: jiff::Timestamp::now().to_string(),
        };
        let envelope = Envelope::seal(Answer::failed(error), stamp, TextLimits::default(), self.run.lang);
        CallEnd {
            blocks: vec![Block::Text(envelope.text.clone())],
            structured: envelope.structured(),
            extra: chatos_mcp::Extra::default(),
            is_error: envelope.status.is_error(),
            envelope,
            elapsed_ms: 0,
            certain: true,
        }
    }
}

fn fault_of(text: &str) -> (usize, String) {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(_) => (0, "the arguments are not a JSON object".to_owned()),
        Err(error) => (error.column().saturating_sub(1), error.to_string()),
    }
}

fn broken(at: usize, why: &str) -> ToolError {
    ToolError::new(
        Reason::InvalidArgument { issues: Vec::new() },
        Text::new(
            format!("the arguments are not a JSON object (at byte {at}: {why})"),
            format!("参数不是 JSON 对象（第 {at} 字节：{why}）"),
        ),
    )
    .hint(Text::fixed(
        "send the call again with complete, valid JSON arguments",
        "请以完整有效的 JSON 参数重新调用",
    ))
}

/// agents §7: asked to send it again often enough; the error stands.
fn given_up(error: &ToolError) -> ToolError {
    ToolError::new(Reason::InvalidArgument { issues: Vec::new() }, error.message.clone()).hint(Text::fixed(
        "the arguments of this tool were broken several times in a row; do not call it again, tell the person instead",
        "此工具的参数已连续多次无效；请不要再次调用，请直接告知用户",
    ))
}

fn too_many() -> ToolError {
    ToolError::new(
        Reason::ResourceExhausted {
            resource: Resource::Entries,
            limit: Some(PER_ANSWER as u64),
            actual: None,
        },
        Text::fixed("too many tool calls: this one was not made", "工具调用过多：此调用未执行"),
    )
}
