//! A turn of another agent as a run (other-agents §4.6–§4.9): its session, the message, what it tells, what it asks,
//! its end. Everything is written down through the same [`Stage`] as a model's run, in the order it was told.

mod ask;
mod told;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use chatos_agent::{
    Answering, CallObserver, CallStep, ContextFacts, End, Pending, PersonsWord, PlannedCall, RequestFacts,
    RunClock, RunFacts, Speaker, Stage, Steer, Transcript,
};
use chatos_inbox::Inbox;
use chatos_model::Usage;
use chatos_prompts::Owner;
use chatos_store::{AcpLaunch, AcpSessionRow, Store};
use chatos_tool::{Fault, Needed, Text, ToolError};
use chatos_wire::{RunEnd, Severity};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::calls::{Calls, Scene, call_end};
use crate::link::{Incoming, Refusal};
use crate::message::ToolCall;
use crate::permission::Allowed;
use crate::recover::{self, Fate};
use crate::seat::{Launching, NoSeat, Opened, Seat, Seats, no_seat, sign_in};
use ask::Decided;

/// How often an agent that dies in one turn is started again.
const LIVES: u32 = 2;
/// What an agent has to end a canceled turn by itself.
const PATIENCE: Duration = Duration::from_millis(900);
/// Text that came is kept this often.
const FLUSH: Duration = Duration::from_millis(700);

/// Where what matters for safety is written down.
pub trait Audit: Send + Sync {
    fn audit(&self, event: &'static str, details: Value);
}

/// One turn, ready to go on from what is written.
pub struct AcpTurn {
    pub stage: Arc<dyn Stage>,
    pub inbox: Inbox,
    pub store: Store,
    pub seats: Seats,
    pub launching: Launching,
    pub launch: AcpLaunch,
    pub agent_id: String,
    /// The name people gave it.
    pub agent: String,
    /// The chat whose turn this is.
    pub session_id: String,
    pub run: RunFacts,
    pub allowed: Allowed,
    pub audit: Arc<dyn Audit>,
    pub cancel: CancellationToken,
    pub steer: Arc<Steer>,
    pub clock: Arc<RunClock>,
    /// Longest work of a run.
    pub minutes: u64,
}

/// A question that is open, and the call it is about.
struct Waiting {
    rpc_id: Value,
    observer: Arc<dyn CallObserver>,
}

/// What is known while the turn goes on.
pub(crate) struct Work<'a> {
    turn: &'a AcpTurn,
    seat: Option<Seat>,
    incoming: Option<mpsc::Receiver<Incoming>>,
    answering: Option<Answering>,
    text: String,
    thought: String,
    /// What was kept of the two.
    flushed: usize,
    message: Option<String>,
    calls: Calls,
    /// A call that may be told more about before it is shown.
    held: Option<ToolCall>,
    asking: JoinSet<Result<Decided, Fault>>,
    waiting: HashMap<String, Waiting>,
    /// Questions whose answer the agent has.
    delivered: HashSet<String>,
    /// Questions of this run that were there when the turn went on.
    left: HashSet<String>,
    /// What a person wrote beside their answers.
    remarks: Vec<String>,
    context: Option<(u64, u64)>,
    usage: Usage,
    /// It did something else than was approved.
    alarm: bool,
    plan: Option<(usize, usize)>,
}

/// How one try went.
enum Tried {
    Ended(End),
    /// The agent went away in the middle.
    Died(NoSeat),
}

/// What the agent is told next.
enum Say {
    /// What the person wrote.
    Message,
    /// That the turn was cut off.
    Recover,
}

impl AcpTurn {
    /// Runs to the end. The caller writes the end down; an error leaves the run to be continued.
    pub async fn run(self) -> Result<End, Fault> {
        let limit = Duration::from_secs(self.minutes.saturating_mul(60));
        let mut work = Work::new(&self);
        let end = tokio::select! {
            biased;
            () = self.cancel.cancelled() => None,
            end = work.go() => Some(end?),
            () = self.clock.over(limit) => Some(End::Done { reason: RunEnd::MaxMinutes }),
        };
        let cut = matches!(end, None | Some(End::Done { reason: RunEnd::MaxMinutes }));
        if cut {
            work.stop().await?;
        }
        work.settle().await;
        Ok(end.unwrap_or(End::Aborted))
    }
}

impl<'a> Work<'a> {
    fn new(turn: &'a AcpTurn) -> Self {
        Self {
            turn,
            seat: None,
            incoming: None,
            answering: None,
            text: String::new(),
            thought: String::new(),
            flushed: 0,
            message: None,
            calls: Calls::default(),
            held: None,
            asking: JoinSet::new(),
            waiting: HashMap::new(),
            delivered: HashSet::new(),
            left: HashSet::new(),
            remarks: Vec::new(),
            context: None,
            usage: Usage::default(),
            alarm: false,
            plan: None,
        }
    }

    fn scene(&self) -> Scene<'a> {
        let turn = self.turn;
        Scene {
            stage: &turn.stage,
            run_id: &turn.run.id,
            agent_id: &turn.agent_id,
            agent: &turn.agent,
            root: &turn.run.workdir,
            trace: &turn.run.trace,
            lang: turn.run.people,
        }
    }

    async fn go(&mut self) -> Result<End, Fault> {
        let chat = self.turn.stage.chat().await?;
        let own = |entry: &&chatos_agent::Entry| entry.run_id == self.turn.run.id;
        let begun = chat.entries.iter().filter(own).any(|entry| entry.speaker == Speaker::Assistant);
        // An answer that has no word yet is the one to write on.
        let last = chat.entries.iter().filter(own).rfind(|entry| entry.speaker == Speaker::Assistant);
        let mut again = last
            .filter(|entry| entry.partial && entry.text.is_empty() && entry.calls.is_empty())
            .map(|entry| entry.id.clone());
        let mut say = if begun { Say::Recover } else { Say::Message };
        let mut lives = LIVES;
        loop {
            match self.attempt(&say, again.take()).await? {
                Tried::Ended(end) => return Ok(end),
                Tried::Died(why) => {
                    let prompted = self.fall().await?;
                    if lives == 0 || !prompted || self.alarm {
                        let code = if self.alarm { "changed_after_approval" } else { why.code };
                        return Ok(End::Failed { code, message: why.message });
                    }
                    self.turn.stage.notice(Severity::Warning, "agent_restarted", &why.message);
                    tokio::time::sleep(Duration::from_secs(u64::from(LIVES - lives + 1))).await;
                    lives -= 1;
                    say = Say::Recover;
                }
            }
        }
    }

    /// One try: a session, the message, everything until the agent says that its turn is over.
    async fn attempt(&mut self, say: &Say, again: Option<String>) -> Result<Tried, Fault> {
        let turn = self.turn;
        let root = turn.run.workdir.clone();
        let known = self.known_session().await?;
        let kept = turn.seats.take(&turn.session_id, &turn.launch, &root);
        let (seat, opened) = match kept {
            Some(seat) => (seat, Opened::Again(Vec::new())),
            None => match Seat::open(&turn.launching, &turn.launch, &turn.agent, &root, known.as_deref())
                .await
            {
                Ok(opened) => opened,
                Err(why) => return Ok(Tried::Ended(End::Failed { code: why.code, message: why.message })),
            },
        };
        self.keep_session(&seat).await?;
        self.seat = Some(seat);
        let chat = turn.stage.chat().await?;
        let mut blocks = match (say, opened) {
            (Say::Recover, Opened::Lost) => {
                return Ok(Tried::Ended(End::Failed { code: "session_lost", message: lost(&turn.agent) }));
            }
            (Say::Recover, Opened::Again(replayed)) => self.recovered(&chat, &replayed).await?,
            (Say::Message, Opened::Lost) => {
                turn.stage.notice(Severity::Warning, "session_lost", &begins_anew(&turn.agent));
                self.message_blocks(&chat)
            }
            (Say::Recover, Opened::New) | (Say::Message, _) => self.message_blocks(&chat),
        };
        let mut again = again;
        loop {
            let seen = turn.steer.seen();
            let said = chat_seq(&turn.stage.chat().await?, &turn.run.id);
            // Written down before the first word goes out.
            self.begin_answer(again.take(), &blocks).await?;
            let stop = match self.prompt(blocks).await? {
                Ok(stop) => stop,
                Err(tried) => return Ok(tried),
            };
            if self.alarm {
                return Ok(Tried::Ended(changed_after(&turn.agent)));
            }
            if let Some(end) = end_of(&stop, &turn.agent) {
                return Ok(Tried::Ended(end));
            }
            let remarks = std::mem::take(&mut self.remarks);
            if !remarks.is_empty() {
                blocks = remarks.iter().map(|text| json!({ "type": "text", "text": text })).collect();
                continue;
            }
            if turn.steer.close(seen).await {
                return Ok(Tried::Ended(End::Done { reason: RunEnd::End }));
            }
            // A correction that came meanwhile is the next message of the same run.
            let chat = turn.stage.chat().await?;
            let new = chat.entries.iter().filter(|entry| {
                entry.run_id == turn.run.id && entry.speaker == Speaker::User && entry.seq > said
            });
            blocks = new.map(|entry| json!({ "type": "text", "text": entry.text })).collect();
        }
    }

    /// Sends a message and follows the turn to its end: its stop reason, or how the try went instead.
    async fn prompt(&mut self, blocks: Vec<Value>) -> Result<Result<String, Tried>, Fault> {
        let Some(seat) = &self.seat else { return Ok(Err(Tried::Died(gone("")))) };
        let link = seat.link.clone();
        self.incoming = Some(link.listen());
        let order = json!({ "sessionId": seat.session, "prompt": blocks });
        let asked = match link.ask("session/prompt", order).await {
            Ok(asked) => asked,
            Err(refusal) => return Ok(Err(self.refused(&refusal))),
        };
        let answer = asked.answer();
        tokio::pin!(answer);
        let mut tick = tokio::time::interval(FLUSH);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let answer = loop {
            let Some(incoming) = self.incoming.as_mut() else { break Err(Refusal::Gone(String::new())) };
            tokio::select! {
                biased;
                one = incoming.recv() => match one {
                    Some(Incoming::Gone(why)) => break Err(Refusal::Gone(why)),
                    Some(one) => self.heard(one).await?,
                    None => break Err(Refusal::Gone("it ended".to_owned())),
                },
                Some(decided) = self.asking.join_next() => match decided {
                    Ok(decided) => self.decided(decided?).await?,
                    Err(error) => tracing::warn!(%error, "a question of an agent was not followed"),
                },
                answer = &mut answer => break answer,
                _ = tick.tick() => self.flush().await?,
            }
        };
        // What was told before the answer is in the queue by now.
        while let Some(one) = self.incoming.as_mut().and_then(|incoming| incoming.try_recv().ok()) {
            self.heard(one).await?;
        }
        let answer = match answer {
            Ok(answer) => answer,
            Err(Refusal::Said { code, message, data }) => {
                self.release().await?;
                self.close_answer(Vec::new()).await?;
                self.calls.end_all(&self.scene(), false).await?;
                return Ok(Err(self.refused(&Refusal::Said { code, message, data })));
            }
            Err(refusal) => return Ok(Err(self.refused(&refusal))),
        };
        let tokens = |key: &str| answer["usage"][key].as_u64().unwrap_or_default();
        self.usage = Usage {
            input: tokens("inputTokens"),
            output: tokens("outputTokens"),
            cache_read: tokens("cachedReadTokens"),
            cache_write: tokens("cachedWriteTokens"),
            estimated: false,
        };
        self.release().await?;
        self.close_answer(Vec::new()).await?;
        self.withdraw_waiting().await;
        self.calls.end_all(&self.scene(), true).await?;
        Ok(Ok(answer["stopReason"].as_str().unwrap_or("end_turn").to_owned()))
    }

    fn refused(&self, refusal: &Refusal) -> Tried {
        let Some(seat) = &self.seat else { return Tried::Died(gone("")) };
        let why = match refusal {
            Refusal::Said { code: crate::link::AUTH_REQUIRED, message, .. } => {
                sign_in(&self.turn.agent, &self.turn.launch, message, &Value::Null)
            }
            Refusal::Said { message, data, .. } => {
                let more = data["details"].as_str().or(data["message"].as_str()).unwrap_or_default();
                let text = chatos_wire::card::plain(format!("{message} {more}").trim());
                let name = &self.turn.agent;
                NoSeat {
                    code: "agent_error",
                    message: Text::new(format!("{name}: {text}"), format!("{name}：{text}")),
                    died: false,
                }
            }
            Refusal::Gone(_) | Refusal::Silent => {
                let words = seat.last_words();
                let log = chatos_child::Tail::default();
                if !words.is_empty() {
                    log.push(words);
                }
                no_seat(&self.turn.agent, &self.turn.launch, "session/prompt", refusal, &log, &Value::Null)
            }
        };
        if why.died {
            Tried::Died(why)
        } else {
            Tried::Ended(End::Failed { code: why.code, message: why.message })
        }
    }

    /// What a person wrote in this run, as the agent is given it.
    fn message_blocks(&self, chat: &Transcript) -> Vec<Value> {
        let images = self.seat.as_ref().is_some_and(|seat| seat.images);
        let own = chat.entries.iter();
        let said = own.filter(|entry| entry.run_id == self.turn.run.id && entry.speaker == Speaker::User);
        let mut blocks = Vec::new();
        for entry in said {
            blocks.push(json!({ "type": "text", "text": entry.text }));
            for image in entry.images.iter().filter(|image| !image.data.is_empty()) {
                blocks.push(if images {
                    json!({ "type": "image", "mimeType": image.mime, "data": image.data })
                } else {
                    json!({ "type": "text", "text": "[an image that this agent cannot see]" })
                });
            }
        }
        blocks
    }

    /// Judges every call that was cut off and says what became of them.
    async fn recovered(&mut self, chat: &Transcript, replayed: &[Value]) -> Result<Vec<Value>, Fault> {
        let turn = self.turn;
        let open = recover::open_calls(chat, &turn.run.id);
        self.left.extend(open.iter().filter_map(|call| call.step.as_ref()?.request_id.clone()));
        let told = recover::replayed(&turn.run.id, replayed);
        let (mut not_run, mut worked, mut failed, mut unknown) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for pending in open {
            let name = name_of(&pending);
            match recover::fate(&pending, &told) {
                Fate::Told(call) => self.close_call(pending, &call, None).await?,
                Fate::NotRun => {
                    self.close_call(pending, &ToolCall::default(), Some(not_run_error())).await?;
                    not_run.push(name);
                }
                Fate::Uncertain => match turn.stage.uncertain(pending.clone()).await? {
                    PersonsWord::Worked => {
                        turn.stage.settle_call(pending, true).await?;
                        worked.push(name);
                    }
                    PersonsWord::Failed => {
                        turn.stage.settle_call(pending, false).await?;
                        failed.push(name);
                    }
                    PersonsWord::Again => {
                        self.close_call(pending, &ToolCall::default(), Some(unknown_error())).await?;
                        unknown.push(name);
                    }
                },
            }
        }
        let mut text = recover::words(turn.run.lang, &not_run, &worked, &failed, &unknown);
        // The agent may have been cut off before the message reached it.
        let asked =
            chat.entries.iter().rfind(|entry| entry.run_id == turn.run.id && entry.speaker == Speaker::User);
        if let Some(asked) = asked {
            let quoted: String = asked.text.chars().take(20_000).collect();
            text.push_str(match turn.run.lang {
                chatos_tool::Lang::En => "\nThe message of that turn, in case it did not arrive:\n\n",
                chatos_tool::Lang::Zh => "\n该轮的消息如下，以防未送达：\n\n",
            });
            text.push_str(&quoted);
        }
        let notice = Text::new(
            format!("{} goes on where it was cut off.", turn.agent),
            format!("{} 从中断处继续。", turn.agent),
        );
        turn.stage.notice(Severity::Info, "acp_continued", &notice);
        Ok(vec![json!({ "type": "text", "text": text })])
    }

    async fn close_call(
        &self,
        pending: Pending,
        call: &ToolCall,
        error: Option<ToolError>,
    ) -> Result<(), Fault> {
        let Some(facts) = &pending.step else { return Ok(()) };
        let before = CallStep { seq: facts.seq, call_id: pending.call.id.clone(), span_id: String::new() };
        let planned = PlannedCall {
            pending: pending.clone(),
            server_identity: String::new(),
            server: self.turn.agent.clone(),
            tool: pending.call.name.clone(),
            read_only: false,
            idempotent: false,
            goes_on: Some(before),
        };
        let step = self.turn.stage.begin_call(planned).await?;
        let mut end = call_end(&self.scene(), call, error, &step.span_id, 0, true);
        end.envelope.stamp.tool.clone_from(&pending.call.name);
        self.turn.stage.finish_call(step, pending, end).await
    }

    async fn known_session(&self) -> Result<Option<String>, Fault> {
        let (store, chat, agent) =
            (self.turn.store.clone(), self.turn.session_id.clone(), self.turn.agent_id.clone());
        let row = blocking(move || store.acp_session(&chat, &agent)).await?;
        Ok(row.map(|row| row.acp_session_id))
    }

    async fn keep_session(&self, seat: &Seat) -> Result<(), Fault> {
        let row = AcpSessionRow {
            session_id: self.turn.session_id.clone(),
            agent_id: self.turn.agent_id.clone(),
            acp_session_id: seat.session.clone(),
            cwd: self.turn.run.workdir.to_string_lossy().into_owned(),
            program: seat.program.clone(),
        };
        let store = self.turn.store.clone();
        blocking(move || store.keep_acp_session(row)).await
    }

    /// The agent went away: what is journaled stays as it is, open questions stay open. Gives whether the turn had
    /// begun for the agent.
    async fn fall(&mut self) -> Result<bool, Fault> {
        self.seat = None;
        self.incoming = None;
        self.stop_asking();
        self.held = None;
        self.plan = None;
        let prompted = self.answering.is_some() || self.message.is_some();
        if let Some(answering) = self.answering.take() {
            let (text, thought) = (std::mem::take(&mut self.text), std::mem::take(&mut self.thought));
            self.turn.stage.stop_answer(&answering, text, thought, "agent_gone").await?;
        }
        self.calls.open.clear();
        Ok(prompted)
    }

    /// Nobody follows the open questions any more; they stay where they are.
    fn stop_asking(&mut self) {
        self.asking.abort_all();
        for (request_id, waiting) in self.waiting.drain() {
            waiting.observer.answered(&request_id, "canceled");
            self.left.insert(request_id);
        }
    }

    /// The agent's turn is over although it had asked something: nobody waits for that answer.
    async fn withdraw_waiting(&mut self) {
        self.stop_asking();
        for id in self.left.drain() {
            self.turn.inbox.withdraw(id, Owner::host_run(), "asker_gone").await;
        }
    }

    /// A person stopped the run, or its time is over: the agent is told, and has a moment.
    async fn stop(&mut self) -> Result<(), Fault> {
        let Some(link) = self.seat.as_ref().map(|seat| seat.link.clone()) else { return Ok(()) };
        let session = self.seat.as_ref().map(|seat| seat.session.clone()).unwrap_or_default();
        let cancelled = link.tell("session/cancel", json!({ "sessionId": session })).await;
        for waiting in self.waiting.values() {
            link.refuse(waiting.rpc_id.clone(), "session/request_permission").await;
        }
        self.stop_asking();
        let quiet = tokio::time::sleep(PATIENCE);
        tokio::pin!(quiet);
        while let Some(incoming) = self.incoming.as_mut() {
            tokio::select! {
                () = &mut quiet => break,
                one = incoming.recv() => match one {
                    Some(Incoming::Request { id, method, .. }) => link.refuse(id, &method).await,
                    Some(Incoming::Note { .. }) if cancelled.is_ok() => {}
                    _ => break,
                },
            }
        }
        // An agent that was cut off is started anew with its session next time: what it still does is ended.
        self.seat = None;
        if let Some(answering) = self.answering.take() {
            let (text, thought) = (std::mem::take(&mut self.text), std::mem::take(&mut self.thought));
            self.turn.stage.stop_answer(&answering, text, thought, "canceled").await?;
        }
        self.calls.end_all(&self.scene(), false).await
    }

    /// After the end: questions nobody asks any more are closed, the agent stays for the next turn.
    async fn settle(&mut self) {
        self.withdraw_waiting().await;
        if let Some(seat) = self.seat.take() {
            self.turn.seats.keep(&self.turn.session_id, seat, &self.turn.launching.life);
        }
    }

    async fn begin_answer(&mut self, again: Option<String>, blocks: &[Value]) -> Result<(), Fault> {
        if self.answering.is_some() {
            return Ok(());
        }
        let size = json!(blocks).to_string().len();
        let facts = RequestFacts {
            digest: chatos_prompts::effect::digest_of(&json!(blocks)),
            messages: blocks.len(),
            tools: 0,
            estimate: (size / 4) as u64,
        };
        let answering = self.turn.stage.begin_answer(again, facts).await?;
        self.message = Some(answering.message_id.clone());
        self.answering = Some(answering);
        (self.flushed, self.text, self.thought) = (0, String::new(), String::new());
        Ok(())
    }

    fn context(&self) -> ContextFacts {
        let (used, tokens) = self.context.unwrap_or_default();
        let window = chatos_model::Window { tokens, source: chatos_model::Source::Vendor };
        ContextFacts { used, window, system: 0, tools: 0, summary: 0, messages: used, results: 0 }
    }
}

/// The newest place in the chat that this run's person had written to.
fn chat_seq(chat: &Transcript, run_id: &str) -> i64 {
    let own = chat.entries.iter().filter(|entry| entry.run_id == run_id && entry.speaker == Speaker::User);
    own.map(|entry| entry.seq).max().unwrap_or_default()
}

/// A call in words, for the agent.
fn name_of(pending: &Pending) -> String {
    let arguments: Value = serde_json::from_str(&pending.call.arguments).unwrap_or_default();
    let about = ["command", "path", "title"].iter().find_map(|key| arguments[*key].as_str());
    match about {
        Some(about) => format!("{}: {}", pending.call.name, about.chars().take(400).collect::<String>()),
        None => pending.call.name.clone(),
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, chatos_store::StoreError> + Send + 'static,
) -> Result<T, Fault> {
    let done = tokio::task::spawn_blocking(work).await;
    let done = done.map_err(|error| {
        Fault::new(chatos_tool::ErrorCode::Internal, Text::same("work of a turn failed")).caused_by(&error)
    })?;
    done.map_err(Fault::from)
}

/// The end a stop reason stands for; `None` where the turn is simply complete.
fn end_of(stop: &str, agent: &str) -> Option<End> {
    match stop {
        "cancelled" => Some(End::Failed {
            code: "agent_canceled",
            message: Text::new(
                format!("{agent} stopped this turn by itself"),
                format!("{agent} 自行停止了本轮"),
            ),
        }),
        "refusal" => Some(End::Done { reason: RunEnd::ContentFilter }),
        "max_tokens" => Some(End::Done { reason: RunEnd::Length }),
        "max_turn_requests" => Some(End::Done { reason: RunEnd::MaxPasses }),
        _ => None,
    }
}

fn changed_after(agent: &str) -> End {
    End::Failed {
        code: "changed_after_approval",
        message: Text::new(
            format!(
                "{agent} announced something else after you had approved it. The turn was stopped; look at what it changed."
            ),
            format!("{agent} 在你批准之后又改变了内容。本轮已停止；请检查它做了哪些更改。"),
        ),
    }
}

fn lost(agent: &str) -> Text {
    Text::new(
        format!(
            "{agent} cannot load the session of this chat, so the cut-off turn cannot go on. Send a message to begin anew; look first at what was done."
        ),
        format!("{agent} 无法载入此会话，中断的一轮无法继续。请先检查已完成的内容，再发送消息重新开始。"),
    )
}

fn begins_anew(agent: &str) -> Text {
    Text::new(
        format!(
            "{agent} could not load its earlier session: it does not know what was said before in this chat."
        ),
        format!("{agent} 无法载入先前的会话：它不了解此会话中之前的内容。"),
    )
}

fn gone(why: &str) -> NoSeat {
    NoSeat {
        code: "agent_gone",
        message: Text::new(format!("the agent is gone {why}"), format!("智能体已退出 {why}")),
        died: true,
    }
}

fn not_run_error() -> ToolError {
    let text = Text::fixed("cut off before it began; it was not run", "在开始之前已中断；未执行");
    ToolError::unavailable(Needed::Process, text)
}

fn unknown_error() -> ToolError {
    let text = Text::fixed("cut off; the agent looks whether it ran", "已中断；由智能体检查是否已执行");
    ToolError::unavailable(Needed::Process, text)
}
