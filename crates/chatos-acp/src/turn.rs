//! A turn of another agent as a run (other-agents §4.6–§4.9): its session, the message, what it tells, what it asks,
//! its end. Everything is written down through the same [`Stage`] as a model's run, in the order it was told.

mod acts;
mod ask;
mod cut_off;
mod elicit;
mod promised;
mod steering;
mod texts;
mod told;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use chatos_agent::{
    Answering, CallObserver, ContextFacts, End, RequestFacts, RunClock, RunFacts, Speaker, Stage, Steer,
    Transcript,
};
use chatos_inbox::Inbox;
use chatos_model::Usage;
use chatos_prompts::Owner;
use chatos_store::{AcpLaunch, AcpSessionRow, Store};
use chatos_tool::{Fault, Text};
use chatos_wire::{RunEnd, Severity};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::calls::{Calls, Scene};
use crate::link::{Ear, Incoming, Refusal};
use crate::message::ToolCall;
use crate::permission::Allowed;
use crate::recover::{self, Replay};
use crate::seat::{Before, Launching, NoSeat, Opened, Seat, Seats, Whose, no_seat, sign_in};
use crate::session;
use acts::{Cover, Done, Terminal};
pub use acts::{Deed, Hands};
use ask::{Decided, Pen};
use texts::{begins_anew, end_of, first_again, gone, lost, stopped, waits};

/// How often an agent that dies in one turn is started again.
const LIVES: u32 = 2;
/// What an agent has to end a canceled turn by itself.
const PATIENCE: Duration = Duration::from_millis(900);
/// Text that came is kept this often.
const FLUSH: Duration = Duration::from_millis(700);
/// What an agent has to take what was chosen for its session.
const CHOOSING: Duration = Duration::from_secs(20);

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
    /// Our own tools, for what the agent lets us do.
    pub hands: Arc<dyn Hands>,
    pub cancel: CancellationToken,
    pub steer: Arc<Steer>,
    pub clock: Arc<RunClock>,
    /// Longest work of a run.
    pub minutes: u64,
}

/// A question that is open, and the call it is about.
struct Waiting {
    rpc_id: Value,
    /// What the agent asked with.
    method: &'static str,
    observer: Arc<dyn CallObserver>,
}

/// What is known while the turn goes on.
pub(crate) struct Work<'a> {
    turn: &'a AcpTurn,
    seat: Option<Seat>,
    incoming: Option<Ear>,
    answering: Option<Answering>,
    text: Growing,
    thought: Growing,
    /// What was kept of the two.
    flushed: usize,
    /// What was kept of this turn's text, and whether a person was told that there is more.
    kept: usize,
    cut: bool,
    message: Option<String>,
    calls: Calls,
    /// A call that may be told more about before it is shown.
    held: Option<ToolCall>,
    asking: JoinSet<Result<Decided, Fault>>,
    pen: Pen,
    waiting: HashMap<String, Waiting>,
    /// Questions whose answer the agent has.
    delivered: HashSet<String>,
    /// Questions of this run that were there when the turn went on.
    left: HashSet<String>,
    /// What a person wrote beside their answers.
    remarks: Vec<String>,
    /// A person said no to something of this turn.
    declined: bool,
    context: Option<(u64, u64)>,
    usage: Usage,
    /// It did something else than it announced, in a word.
    alarm: Option<&'static str>,
    plan: Option<(usize, usize)>,
    /// The call that stands for the plan; empty before there is one.
    plan_id: String,
    /// What we do for it at this moment.
    doing: JoinSet<Done>,
    covered: Vec<Cover>,
    terminals: HashMap<String, Terminal>,
    /// What released terminals had printed.
    shown: HashMap<String, String>,
    /// Something of its session is not kept yet.
    news: bool,
    /// The session its questions name, where it lost that one in its first turn: the same call is the same question.
    asked_as: Option<String>,
    /// How many corrections there were, and the newest message of the person, that the agent has.
    had: Had,
    /// A correction is on its way into the turn that goes on.
    steering: JoinSet<Option<Had>>,
    /// It takes none in this turn; they are its next message.
    unsteered: bool,
}

/// Text that grows, with its length as the page counts it.
#[derive(Default)]
struct Growing {
    text: String,
    units: usize,
}

impl Growing {
    /// Adds to it; gives where that begins.
    fn push(&mut self, more: &str) -> usize {
        let began = self.units;
        self.text.push_str(more);
        self.units += more.encode_utf16().count();
        began
    }

    fn take(&mut self) -> String {
        std::mem::take(self).text
    }
}

/// What of the person's messages an agent has.
#[derive(Debug, Clone, Copy, Default)]
struct Had {
    corrections: u64,
    seq: i64,
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
            text: Growing::default(),
            thought: Growing::default(),
            flushed: 0,
            kept: 0,
            cut: false,
            message: None,
            calls: Calls::default(),
            held: None,
            asking: JoinSet::new(),
            pen: Pen::new(&turn.inbox, &turn.launching.life),
            waiting: HashMap::new(),
            delivered: HashSet::new(),
            left: HashSet::new(),
            remarks: Vec::new(),
            declined: false,
            context: None,
            usage: Usage::default(),
            alarm: None,
            plan: None,
            plan_id: String::new(),
            doing: JoinSet::new(),
            covered: Vec::new(),
            terminals: HashMap::new(),
            shown: HashMap::new(),
            news: false,
            asked_as: None,
            had: Had::default(),
            steering: JoinSet::new(),
            unsteered: false,
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
                    if let Some(code) = self.alarm {
                        return Ok(stopped(&self.turn.agent, code));
                    }
                    if lives == 0 || !prompted {
                        return Ok(End::Failed { code: why.code, message: why.message });
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
        let kept = turn.seats.take(&turn.session_id, &turn.launch, &root, turn.allowed);
        let pausing =
            |left: Duration| turn.stage.notice(Severity::Info, "session_waits", &waits(&turn.agent, left));
        let whose =
            Whose { name: &turn.agent, chat: &turn.session_id, offered: turn.allowed, pausing: &pausing };
        let (seat, opened) = match kept {
            Some(seat) => (seat, Opened::Again(Replay::default())),
            None => match Seat::open(&turn.launching, &turn.launch, whose, &root, known.as_ref()).await {
                Ok((mut seat, opened)) => {
                    self.keep_session(&seat).await?;
                    self.set_wanted(&mut seat).await?;
                    (seat, opened)
                }
                Err(why) => return Ok(Tried::Ended(End::Failed { code: why.code, message: why.message })),
            },
        };
        turn.seats.enter(&turn.session_id, &seat);
        self.seat = Some(seat);
        self.news = true;
        let chat = turn.stage.chat().await?;
        let mut blocks = match (say, opened) {
            // Of its first turn nothing is missing: the message is told again, with what became of each call.
            (Say::Recover, Opened::Lost) if chat.entries.iter().all(|entry| entry.run_id == turn.run.id) => {
                turn.stage.notice(Severity::Warning, "session_lost", &first_again(&turn.agent));
                self.asked_as = self.asked_as.take().or(known.map(|before| before.session));
                self.recovered(&chat, &Replay::default()).await?
            }
            (Say::Recover, Opened::Lost) => {
                return Ok(Tried::Ended(End::Failed { code: "session_lost", message: lost(&turn.agent) }));
            }
            (Say::Recover, Opened::Again(replayed)) => self.recovered(&chat, &replayed).await?,
            (Say::Message, Opened::Lost) => {
                turn.stage.notice(Severity::Warning, "session_lost", &begins_anew(&turn.agent));
                let before = recover::before(&chat, &turn.run.id, turn.run.lang);
                let mut blocks: Vec<Value> =
                    before.map(|text| json!({ "type": "text", "text": text })).into_iter().collect();
                blocks.extend(self.message_blocks(&chat));
                blocks
            }
            (Say::Recover, Opened::New) | (Say::Message, _) => self.message_blocks(&chat),
        };
        let mut again = again;
        loop {
            let corrections = turn.steer.seen();
            self.had = Had { corrections, seq: chat_seq(&turn.stage.chat().await?, &turn.run.id) };
            // Written down before the first word goes out.
            self.begin_answer(again.take(), &blocks).await?;
            let stop = match self.prompt(blocks).await? {
                Ok(stop) => stop,
                Err(tried) => return Ok(tried),
            };
            if let Some(code) = self.alarm {
                return Ok(Tried::Ended(stopped(&turn.agent, code)));
            }
            // Some end their turn at a no: that is what the person wanted, and their note is still said.
            let declined = std::mem::take(&mut self.declined) && stop == "cancelled";
            if let Some(end) = end_of(&stop, &turn.agent).filter(|_| !declined) {
                return Ok(Tried::Ended(end));
            }
            let remarks = std::mem::take(&mut self.remarks);
            if !remarks.is_empty() {
                blocks = remarks.iter().map(|text| json!({ "type": "text", "text": text })).collect();
                continue;
            }
            if turn.steer.close(self.had.corrections).await {
                return Ok(Tried::Ended(End::Done { reason: RunEnd::End }));
            }
            // A correction that came meanwhile is the next message of the same run.
            (blocks, _) = self.corrections().await?;
        }
    }

    /// Sends a message and follows the turn to its end: its stop reason, or how the try went instead.
    async fn prompt(&mut self, blocks: Vec<Value>) -> Result<Result<String, Tried>, Fault> {
        let Some(seat) = &mut self.seat else { return Ok(Err(Tried::Died(gone("")))) };
        let (link, seat_steers) = (seat.link.clone(), seat.steers);
        self.incoming = Some(seat.early.take().unwrap_or_else(|| link.listen()));
        let order = json!({ "sessionId": seat.session, "prompt": blocks });
        let asked = match link.ask("session/prompt", order).await {
            Ok(asked) => asked,
            Err(refusal) => return Ok(Err(self.refused(&refusal))),
        };
        let answer = asked.answer();
        tokio::pin!(answer);
        let mut tick = tokio::time::interval(FLUSH);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        self.unsteered = !seat_steers;
        let steer = Arc::clone(&self.turn.steer);
        let answer = loop {
            let (had, open) = (self.had.corrections, !self.unsteered && self.steering.is_empty());
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
                Some(done) = self.doing.join_next() => match done {
                    Ok(done) => self.acted(done).await?,
                    Err(error) => tracing::warn!(%error, "something done for an agent was not followed"),
                },
                Some(steered) = self.steering.join_next() => self.steered(steered.ok().flatten()).await?,
                answer = &mut answer => break answer,
                () = steer.changed(had), if open => self.steer().await?,
                _ = tick.tick() => {
                    self.flush().await?;
                    self.keep_told().await?;
                }
            }
        };
        self.steered_last().await?;
        // What was told before the answer is in the queue by now.
        while let Some(one) = self.incoming.as_mut().and_then(|incoming| incoming.try_recv()) {
            self.heard(one).await?;
        }
        self.end_acts().await?;
        self.keep_told().await?;
        if answer.is_ok() {
            self.broken_promises().await?;
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

    async fn known_session(&self) -> Result<Option<Before>, Fault> {
        let (store, chat, agent) =
            (self.turn.store.clone(), self.turn.session_id.clone(), self.turn.agent_id.clone());
        let row = blocking(move || store.acp_session(&chat, &agent)).await?;
        let before = row.map(|row| Before { session: row.acp_session_id, begun_at: row.begun_at });
        Ok(before.filter(|before| !before.session.is_empty()))
    }

    /// Tells a new process what a person chose for this chat. What makes it stop asking is told once.
    async fn set_wanted(&self, seat: &mut Seat) -> Result<(), Fault> {
        let turn = self.turn;
        let (store, chat, agent) = (turn.store.clone(), turn.session_id.clone(), turn.agent_id.clone());
        let row = blocking(move || store.acp_session(&chat, &agent)).await?;
        let (wanted, before) = row.map(|row| (row.wanted, row.told)).unwrap_or_default();
        // An agent that loads a session does not always tell its commands again.
        if seat.told.commands.is_empty() {
            let before: chatos_wire::agent::AcpTold = serde_json::from_str(&before).unwrap_or_default();
            seat.told.commands = before.commands;
        }
        let mut wanted: session::Wanted = serde_json::from_str(&wanted).unwrap_or_default();
        let mut once = false;
        let mut orders = wanted.clone();
        for option in &seat.told.options {
            // Agents keep their mode themselves; that it stops asking is a person's word each time.
            if session::is_unasked(option, &option.value)
                && !orders.contains_key(&option.id)
                && let Some(asks) = option.choices.iter().find(|choice| !choice.unasked)
            {
                orders.insert(option.id.clone(), asks.id.clone());
            }
        }
        for (id, value) in orders {
            let Some(option) = seat.told.options.iter().find(|option| option.id == id).cloned() else {
                continue;
            };
            if session::is_unasked(&option, &value) {
                wanted.remove(&id);
                once = true;
            }
            if option.value == value || !option.choices.iter().any(|choice| choice.id == value) {
                continue;
            }
            let (method, order) = session::choosing(&seat.session, &option, &value);
            match seat.link.call(method, order, CHOOSING).await {
                Ok(answer) => session::chosen(&mut seat.told, &id, &value, &answer),
                Err(refusal) => {
                    tracing::info!(?refusal, option = id, "an agent did not take what was chosen");
                }
            }
        }
        if once {
            let (store, chat, agent) = (turn.store.clone(), turn.session_id.clone(), turn.agent_id.clone());
            let text = json!(wanted).to_string();
            blocking(move || store.keep_acp_told(&chat, &agent, None, Some(&text))).await?;
        }
        Ok(())
    }

    /// Keeps what the agent told about its session, when that is new.
    async fn keep_told(&mut self) -> Result<(), Fault> {
        let Some(seat) = self.seat.as_ref().filter(|_| self.news) else { return Ok(()) };
        let turn = self.turn;
        let (store, chat, agent) = (turn.store.clone(), turn.session_id.clone(), turn.agent_id.clone());
        let text = json!(seat.told).to_string();
        self.news = false;
        blocking(move || store.keep_acp_told(&chat, &agent, Some(&text), None)).await
    }

    async fn keep_session(&self, seat: &Seat) -> Result<(), Fault> {
        let row = AcpSessionRow {
            session_id: self.turn.session_id.clone(),
            agent_id: self.turn.agent_id.clone(),
            acp_session_id: seat.session.clone(),
            cwd: self.turn.run.workdir.to_string_lossy().into_owned(),
            program: seat.program.clone(),
            ..AcpSessionRow::default()
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
        // What we had begun for it ends, and is known.
        self.end_acts().await?;
        self.held = None;
        self.steering.abort_all();
        self.plan = None;
        self.plan_id.clear();
        let prompted = self.answering.is_some() || self.message.is_some();
        if let Some(answering) = self.answering.take() {
            let (text, thought) = (self.text.take(), self.thought.take());
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
        while self.asking.join_next().await.is_some() {}
        self.pen.rests().await;
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
            link.call_off(waiting.rpc_id.clone(), waiting.method).await;
        }
        self.stop_asking();
        self.end_acts().await?;
        let quiet = tokio::time::sleep(PATIENCE);
        tokio::pin!(quiet);
        while let Some(incoming) = self.incoming.as_mut() {
            tokio::select! {
                () = &mut quiet => break,
                one = incoming.recv() => match one {
                    Some(Incoming::Request { id, method, .. }) => link.call_off(id, &method).await,
                    Some(Incoming::Note { .. }) if cancelled.is_ok() => {}
                    _ => break,
                },
            }
        }
        // An agent that was cut off is started anew with its session next time: what it still does is ended.
        self.seat = None;
        if let Some(answering) = self.answering.take() {
            let (text, thought) = (self.text.take(), self.thought.take());
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
        (self.flushed, self.text, self.thought) = (0, Growing::default(), Growing::default());
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

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, chatos_store::StoreError> + Send + 'static,
) -> Result<T, Fault> {
    blocking_fault(move || work().map_err(Fault::from)).await
}

/// Work at the database, off the runtime's threads.
pub(crate) async fn blocking_fault<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    let done = chatos_blocking::run(work).await;
    done.map_err(|error| {
        Fault::new(chatos_tool::ErrorCode::Internal, Text::same("work of a turn failed")).caused_by(&error)
    })?
}
