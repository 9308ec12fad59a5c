//! The tool calls of a turn: each a card in the chat and a step in the journal, from its announcement to its end.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use chatos_agent::{CallEnd, CallObserver, CallStep, Pending, PlannedCall, Sending, Stage, StepFacts};
use chatos_contribution::ServerIdentity;
use chatos_mcp::Block;
use chatos_tool::{
    Answer, Ended, Envelope, Fault, Keep, Lang, Needed, Opening, Stamp, Text, TextLimits, ToolError, Trace,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::message::{Progress, ToolCall};
use crate::ours::Promise;
use crate::permission::patch;

/// Most calls of one turn; what comes after them is not followed.
pub(crate) const CALLS: usize = 5_000;

/// What the open calls of a turn may hold together. An agent that announces more is followed, and what it told of that
/// call is not kept.
const HELD_BYTES: usize = 12 << 20;
/// One that holds more is kept where the others hold no more than this: a person can be asked about a large change.
const ALMOST_ALONE: usize = 1 << 20;
/// What a call may hold in any case: however many there are, that is not much.
const SMALL_BYTES: usize = 2 << 10;

/// One call of the turn.
pub(crate) struct Open {
    pub(crate) call: ToolCall,
    pub(crate) step: CallStep,
    pub(crate) pending: Pending,
    pub(crate) observer: Arc<dyn CallObserver>,
    /// The journal says that it may run.
    pub(crate) sent: bool,
    /// What of it a person approved.
    pub(crate) approved: Option<Value>,
    /// It said that it would use a tool of our gateway, and nobody was asked.
    pub(crate) promise: Option<Promise>,
    /// Why it ended, where that was not the agent's doing.
    pub(crate) refused: Option<ToolError>,
    began: Instant,
    /// What it held when that was looked at.
    held: usize,
}

/// Whether a call that holds so much is too much beside the others. What did not grow was not.
fn too_much(others: usize, before: usize, now: usize) -> bool {
    now > before && now > SMALL_BYTES && others > ALMOST_ALONE && others + now > HELD_BYTES
}

/// Our id of an agent's call: an agent may use the same one in every turn.
pub(crate) fn call_id(run_id: &str, theirs: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(format!("{run_id}\n{theirs}"));
    let digest = hash.finalize();
    let hex: String = digest[..12].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("acp_{hex}")
}

/// The calls of a turn, by the agent's ids.
#[derive(Default)]
pub(crate) struct Calls {
    pub(crate) open: HashMap<String, Open>,
    pub(crate) ended: std::collections::HashSet<String>,
}

/// What all calls of a turn share.
pub(crate) struct Scene<'a> {
    pub(crate) stage: &'a Arc<dyn Stage>,
    pub(crate) run_id: &'a str,
    pub(crate) agent_id: &'a str,
    pub(crate) agent: &'a str,
    pub(crate) root: &'a Path,
    pub(crate) trace: &'a Trace,
    pub(crate) lang: Lang,
}

/// The call as the chat's message names it.
pub(crate) fn model_call(scene: &Scene<'_>, call: &ToolCall) -> chatos_model::ToolCall {
    chatos_model::ToolCall {
        id: call_id(scene.run_id, &call.id),
        name: name(call),
        arguments: call.arguments(scene.root).to_string(),
        opaque: None,
    }
}

/// The name of a call's card: its kind where the page has words for it.
pub(crate) fn name(call: &ToolCall) -> String {
    match call.kind {
        crate::message::Kind::Other if !call.title.is_empty() => call.title.chars().take(80).collect(),
        kind => kind.word().to_owned(),
    }
}

impl Calls {
    /// Writes a call down that the message `message_id` announced.
    pub(crate) async fn begin(
        &mut self,
        scene: &Scene<'_>,
        message_id: String,
        call: ToolCall,
    ) -> Result<(), Fault> {
        let pending = Pending { message_id, call: model_call(scene, &call), step: None };
        let planned = PlannedCall {
            pending: pending.clone(),
            server_identity: format!("acp:{}", scene.agent_id),
            server: scene.agent.to_owned(),
            tool: name(&call),
            read_only: call.kind.only_looks(),
            idempotent: false,
            goes_on: None,
        };
        let step = scene.stage.begin_call(planned).await?;
        let observer = scene.stage.observer(&step);
        let began = Instant::now();
        let id = call.id.clone();
        let mut open = Open {
            call,
            step,
            pending,
            observer,
            sent: false,
            approved: None,
            promise: None,
            refused: None,
            began,
            held: 0,
        };
        open.held = open.holds();
        self.open.insert(id, open);
        Ok(())
    }

    /// A call that is about to be written down holds no more than there is room for.
    pub(crate) fn fit(&self, call: &mut ToolCall) {
        if too_much(self.held_without(&call.id), 0, call.held()) {
            call.shed();
        }
    }

    /// Keeps what the open calls hold in bounds, after this one was told more of.
    pub(crate) fn bound(&mut self, id: &str) {
        let others = self.held_without(id);
        let Some(open) = self.open.get_mut(id) else { return };
        if too_much(others, open.held, open.holds()) {
            open.call.shed();
        }
        open.held = open.holds();
    }

    fn held_without(&self, id: &str) -> usize {
        self.open.iter().filter(|(other, _)| *other != id).map(|(_, open)| open.held).sum()
    }

    /// Brings the journal and the cards to what was told of a call.
    pub(crate) async fn follow(&mut self, scene: &Scene<'_>, id: &str) -> Result<(), Fault> {
        let Some(open) = self.open.get_mut(id) else { return Ok(()) };
        match open.call.progress {
            Progress::Pending => {}
            Progress::Running => open.mark_sent(scene).await?,
            Progress::Done | Progress::Failed => {
                if let Some(open) = self.open.remove(id) {
                    self.ended.insert(id.to_owned());
                    open.end(scene).await?;
                }
            }
        }
        Ok(())
    }

    /// The turn is over: what has no outcome gets one. `certain`: the agent said that its turn is over.
    pub(crate) async fn end_all(&mut self, scene: &Scene<'_>, certain: bool) -> Result<(), Fault> {
        for (id, mut open) in self.open.drain() {
            self.ended.insert(id);
            let ran = open.sent && !open.call.kind.only_looks();
            if open.refused.is_none() && !(certain && open.sent) {
                open.refused = Some(unfinished(ran));
            }
            let known = certain || !ran;
            open.end_as(scene, known).await?;
        }
        Ok(())
    }
}

fn unfinished(ran: bool) -> ToolError {
    let text = if ran {
        Text::fixed(
            "the agent stopped before it told how this ended; it may have run",
            "智能体在告知结果之前已停止；此调用可能已执行",
        )
    } else {
        Text::fixed(
            "the agent stopped before this began; it was not run",
            "智能体在开始之前已停止；此调用未执行",
        )
    };
    ToolError::unavailable(Needed::Process, text)
}

impl Open {
    fn holds(&self) -> usize {
        self.call.held() + self.pending.call.arguments.len()
    }

    /// The journal learns that the call may run now, before anything that lets it.
    pub(crate) async fn mark_sent(&mut self, scene: &Scene<'_>) -> Result<(), Fault> {
        if self.sent {
            return Ok(());
        }
        let sending = Sending {
            call_id: self.step.call_id.clone(),
            identity: ServerIdentity::admin(&format!("acp-{}", scene.agent_id)),
            server: scene.agent.to_owned(),
            tool: name(&self.call),
            arguments: serde_json::Map::new(),
            meta: serde_json::Map::new(),
            read_only: self.call.kind.only_looks(),
            idempotent: false,
            task: None,
            attempt: 1,
        };
        self.observer.sending(sending).await?;
        self.sent = true;
        Ok(())
    }

    async fn end(self, scene: &Scene<'_>) -> Result<(), Fault> {
        self.end_as(scene, true).await
    }

    async fn end_as(self, scene: &Scene<'_>, certain: bool) -> Result<(), Fault> {
        let elapsed_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let end = call_end(scene, &self.call, self.refused, &self.step.span_id, elapsed_ms, certain);
        let facts =
            StepFacts { seq: self.step.seq, call_id: self.step.call_id.clone(), ..StepFacts::default() };
        let pending = Pending { step: Some(facts), ..self.pending };
        scene.stage.finish_call(self.step, pending, end).await
    }
}

/// How a call ended, as the chat shows it.
pub(crate) fn call_end(
    scene: &Scene<'_>,
    call: &ToolCall,
    refused: Option<ToolError>,
    span_id: &str,
    elapsed_ms: u64,
    certain: bool,
) -> CallEnd {
    let diff = patch(call, scene.root);
    let mut text = call.text.clone();
    if text.is_empty() {
        text.clone_from(&call.output);
    }
    if text.is_empty() && !diff.is_empty() {
        text.clone_from(&diff);
    }
    if text.is_empty() && (call.shed || call.cut) {
        let said = Text::fixed("too large to be shown", "内容过大，无法显示");
        said.get(scene.lang).clone_into(&mut text);
    }
    let mut data = json!({});
    if !diff.is_empty() {
        data["diff"] = json!(diff);
    }
    let failed = call.progress == Progress::Failed;
    let error = refused.or_else(|| {
        failed.then(|| {
            let said: String = text.chars().take(2_000).collect();
            let said = if said.is_empty() { "the agent says that this failed".to_owned() } else { said };
            ToolError::unavailable(Needed::Process, Text::same(said))
        })
    });
    let stamp = Stamp {
        server: scene.agent.to_owned(),
        tool: name(call),
        trace: Trace {
            span_id: Some(span_id.to_owned()),
            tool_name: Some(name(call)),
            ..scene.trace.clone()
        },
        elapsed_ms,
        ts: jiff::Timestamp::now().to_string(),
    };
    let answer = match error {
        Some(error) => Answer { data, ..Answer::failed(error) },
        None => Answer {
            ended: Ended::Ok,
            data,
            text,
            opening: Opening::Header,
            product: None,
            keep: Keep::HeadTail,
            cuts: Vec::new(),
            private: Vec::new(),
            parts: Vec::new(),
        },
    };
    let envelope = Envelope::seal(answer, stamp, TextLimits::default(), scene.lang);
    let (is_error, structured) = (envelope.status.is_error(), envelope.structured());
    let blocks = vec![Block::Text(envelope.text.clone())];
    let extra = chatos_mcp::Extra::default();
    CallEnd { envelope, blocks, structured, extra, is_error, elapsed_ms, certain }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beside_a_large_call_small_ones_are_kept_and_large_ones_are_not() {
        assert!(!too_much(ALMOST_ALONE, 0, 2 * HELD_BYTES));
        assert!(!too_much(HELD_BYTES, 0, SMALL_BYTES));
        assert!(too_much(HELD_BYTES, SMALL_BYTES, SMALL_BYTES + 1));
        assert!(!too_much(HELD_BYTES, 1 << 20, 1 << 20), "it did not grow");
    }
}
