//! What a run needs from its host: the journal, the events, the tools and the person (agents §8).
//!
//! Every method that writes is durable when its future resolves; an error ends the run where it stands,
//! to be continued later.

use std::path::PathBuf;
use std::sync::Arc;

use chatos_mcp::Later;
use chatos_model::{Effort, Prices, Provider, Reasoning, Replay, ToolCall, Usage, Window};
use chatos_policy::Role;
use chatos_tool::{Fault, Lang, Trace};
use chatos_wire::{RunEnd, Severity};
use serde_json::{Map, Value};

use crate::dispatch::{CallEnd, CallObserver, CallOrder};
use crate::transcript::{Origin, Pending, Transcript, WindowMark};
use chatos_servers::Toolset;

/// The model a run talks to.
#[derive(Debug, Clone)]
pub struct ModelFacts {
    /// Its record.
    pub id: String,
    /// The vendor's name of it.
    pub model: String,
    /// Whose own blocks it understands.
    pub origin: Origin,
    /// How much it can read.
    pub window: Window,
    /// Longest answer.
    pub max_output_tokens: Option<u32>,
    /// Randomness.
    pub temperature: Option<f64>,
    /// How much it thinks.
    pub effort: Option<Effort>,
    /// Thinks before it answers.
    pub thinks: bool,
    /// Sees pictures.
    pub vision: bool,
    /// Calls tools.
    pub tools: bool,
    /// Several in one answer.
    pub parallel_tools: bool,
    /// Tools are offered only until the first tool round.
    pub tools_once: bool,
    /// What it wants of its thinking sent back.
    pub replay: Replay,
    /// Members put into every request.
    pub extra_body: Map<String, Value>,
    /// What it costs.
    pub prices: Prices,
}

/// What bounds a run (security T23).
#[derive(Debug, Clone)]
pub struct Limits {
    /// Model calls.
    pub passes: usize,
    /// Tool calls in all.
    pub calls: usize,
    /// Minutes of work.
    pub minutes: u64,
    /// Repeats of a failed model call.
    pub retries: u32,
    /// Tokens after which the conversation is summarised; 0 leaves it to the window.
    pub summary_tokens: u64,
    /// Hundredths of the room after which it is.
    pub compact_share: u64,
    /// Longest result in a request, in characters.
    pub result_chars: usize,
}

/// A model that only makes summaries.
pub struct Summariser {
    pub provider: Arc<dyn Provider>,
    /// What is known of it.
    pub model: ModelFacts,
}

/// Which run.
#[derive(Debug, Clone)]
pub struct RunFacts {
    /// Its id.
    pub id: String,
    /// Its own span; calls fill in theirs.
    pub trace: Trace,
    /// For whom.
    pub role: Role,
    /// Where its tools work.
    pub workdir: PathBuf,
    /// The language of what its model reads.
    pub lang: Lang,
    /// The language people are asked in.
    pub people: Lang,
    /// The message that began it.
    pub user_message_id: Option<String>,
}

/// An answer being written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answering {
    /// Its message.
    pub message_id: String,
    /// Its step.
    pub seq: i64,
    /// Its span.
    pub span_id: String,
}

/// A step of another kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallStep {
    /// Its place in the run.
    pub seq: i64,
    /// The call.
    pub call_id: String,
    /// Its span.
    pub span_id: String,
}

/// What goes to the model, for the journal.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestFacts {
    /// SHA-256 or any digest of the request.
    pub digest: String,
    /// How many messages.
    pub messages: usize,
    /// How many tools.
    pub tools: usize,
    /// Estimated tokens.
    pub estimate: u64,
}

/// Which text grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the words say it")]
pub enum DeltaKind {
    Text,
    Reasoning,
}

/// A complete answer.
#[derive(Debug, Clone)]
pub struct Finished {
    /// Its text.
    pub text: String,
    /// What it thought.
    pub reasoning: Vec<Reasoning>,
    /// Its calls, with ids that are unique in the run.
    pub calls: Vec<ToolCall>,
    /// Tokens.
    pub usage: Usage,
    /// Why it ended.
    pub stop: RunEnd,
    /// The tools on offer, for names of servers.
    pub set: Arc<Toolset>,
    /// Bytes of the request and the tokens the vendor counted for them.
    pub measured: Option<(u64, u64)>,
    /// How full the window is.
    pub context: ContextFacts,
}

/// How full a model's window is, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextFacts {
    pub used: u64,
    pub window: Window,
    pub system: u64,
    pub tools: u64,
    /// What stands for the beginning.
    pub summary: u64,
    pub messages: u64,
    pub results: u64,
}

/// A call about to be made.
#[derive(Debug, Clone)]
pub struct PlannedCall {
    /// The call.
    pub pending: Pending,
    /// What is known of the tool; nothing for an unknown one.
    pub server_identity: String,
    /// The server's name.
    pub server: String,
    /// The raw name of the tool.
    pub tool: String,
    /// By a word that counts.
    pub read_only: bool,
    /// By a word that counts.
    pub idempotent: bool,
    /// An earlier step goes on instead of a new one.
    pub goes_on: Option<CallStep>,
}

/// What a person said about a call whose outcome nobody knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// It worked.
    Worked,
    /// It failed; the model is told.
    Failed,
    /// Run it again; with the question in which the call they were shown was approved.
    Again(Option<String>),
}

/// A failed attempt that is repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retry {
    /// Which repeat comes, from 1.
    pub attempt: u32,
    /// Why.
    pub class: &'static str,
    /// After how long.
    pub delay_ms: u64,
}

/// Why a conversation is made smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompactKind {
    /// Old results became lines.
    Prune,
    /// The beginning was summarised.
    Summary,
    /// The vendor refused the request as too long.
    Overflow,
}

impl CompactKind {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Prune => "prune",
            Self::Summary => "summary",
            Self::Overflow => "overflow",
        }
    }
}

/// Something that changes what is sent from now on, kept before it counts.
#[derive(Debug, Clone, PartialEq)]
pub enum Mark {
    /// Results up to this place become lines.
    Prune {
        to_seq: i64,
        /// How many results there are before.
        messages: usize,
        /// Estimated before and after.
        tokens: (u64, u64),
        /// Whether a refusal led to it.
        kind: CompactKind,
    },
    /// Results up to this place become short.
    Squeeze { to_seq: i64 },
    /// What a vendor said about its window.
    Window(WindowMark),
}

/// A summary to keep.
#[derive(Debug, Clone, PartialEq)]
pub struct Compacted {
    pub kind: CompactKind,
    /// Made by the host, because no model made one.
    pub mechanical: bool,
    /// How many messages it stands for.
    pub messages: usize,
    /// What is sent for it.
    pub block: String,
    /// Runs it does not stand for.
    pub left_out: Vec<String>,
    /// Everything up to this place is covered.
    pub to_seq: i64,
    /// From here.
    pub from_seq: i64,
    /// The text.
    pub text: String,
    /// Estimated before.
    pub tokens_before: u64,
    /// Estimated after.
    pub tokens_after: u64,
    /// What making it used.
    pub usage: Usage,
}

/// The host, as one run sees it.
pub trait Stage: Send + Sync + 'static {
    /// Before the first request of a run: decides what is sent before the person's message, and writes it down.
    fn prepare(&self) -> Later<Result<(), Fault>>;
    /// The newest texts of the project this chat was sent; empty when there are none.
    fn instructions(&self) -> Later<Result<String, Fault>>;
    /// The chat as it is written now.
    fn chat(&self) -> Later<Result<Transcript, Fault>>;
    /// The tools of the next pass.
    fn tools(&self) -> Later<Result<Arc<Toolset>, Fault>>;
    /// The vendor takes at most so many: later toolsets and system prompts are made for that.
    fn fewer_tools(&self, most: u64) -> Later<Result<(), Fault>>;
    /// The system prompt, in blocks.
    fn system(&self, set: Arc<Toolset>) -> Later<Result<Vec<String>, Fault>>;
    /// Whether the budget allows another model call; asks the person when it is used up.
    fn budget(&self) -> Later<Result<bool, Fault>>;

    /// An answer begins: its step, and its message unless `again` names one that was begun before.
    fn begin_answer(&self, again: Option<String>, facts: RequestFacts) -> Later<Result<Answering, Fault>>;
    /// More of it, for whoever watches. `offset` counts UTF-16 units, as browsers do.
    fn delta(&self, answering: &Answering, kind: DeltaKind, delta: &str, offset: usize);
    /// What there is of it so far.
    fn flush(&self, answering: &Answering, text: String, reasoning: String) -> Later<Result<(), Fault>>;
    /// An attempt failed: its text is void.
    fn retry(&self, answering: &Answering, retry: Retry) -> Later<Result<(), Fault>>;
    /// It is complete.
    fn finish_answer(&self, answering: &Answering, finished: Finished) -> Later<Result<(), Fault>>;
    /// It stopped in the middle; its text stays.
    fn stop_answer(
        &self,
        answering: &Answering,
        text: String,
        reasoning: String,
        why: &'static str,
    ) -> Later<Result<(), Fault>>;

    /// A call is planned.
    fn begin_call(&self, planned: PlannedCall) -> Later<Result<CallStep, Fault>>;
    /// Who hears of it on its way.
    fn observer(&self, step: &CallStep) -> Arc<dyn CallObserver>;
    /// Makes it.
    fn call(&self, set: Arc<Toolset>, order: CallOrder, observer: Arc<dyn CallObserver>) -> Later<CallEnd>;
    /// It ended.
    fn finish_call(&self, step: CallStep, pending: Pending, end: CallEnd) -> Later<Result<(), Fault>>;
    /// Asks the person about a call whose outcome nobody knows. Asked once, also over restarts.
    fn uncertain(&self, pending: Pending) -> Later<Result<Word, Fault>>;
    /// The person's word is the result.
    fn settle_call(&self, pending: Pending, worked: bool) -> Later<Result<(), Fault>>;

    /// A summary is being made of this range.
    fn begin_compact(&self, kind: CompactKind, from_seq: i64, to_seq: i64) -> Later<Result<CallStep, Fault>>;
    fn finish_compact(&self, step: CallStep, done: Compacted) -> Later<Result<(), Fault>>;
    /// A smaller context that needs no model.
    fn mark(&self, mark: Mark) -> Later<Result<(), Fault>>;
    /// How things stand beside the conversation: open tasks, changed files, live sessions, open questions.
    fn standing(&self) -> Later<Result<String, Fault>>;

    /// Something a person should know.
    fn notice(&self, level: Severity, code: &str, message: &chatos_tool::Text);
}
