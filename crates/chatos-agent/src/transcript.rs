//! A chat as the loop sees it: entries in the order they were written, and what stands for the oldest
//! of them.

use chatos_model::{Document, Image, Reasoning, ToolCall};

use crate::resume::StepFacts;

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the words say it")]
pub enum Speaker {
    User,
    Assistant,
    Tool,
    /// For people only; no model sees it.
    #[default]
    Notice,
}

/// Which model said something: its thinking goes back to exactly the same.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origin {
    /// How it is spoken to.
    pub protocol: String,
    /// Where it answers; empty in what older programs wrote.
    pub host: String,
    /// The vendor's name of it; empty as above.
    pub model: String,
}

impl Origin {
    /// Whether what `self` gave may go back to `other` unchanged.
    pub fn gives_back_to(&self, other: &Self) -> bool {
        let same = |one: &str, other: &str| one.is_empty() || one == other;
        self.protocol == other.protocol && same(&self.host, &other.host) && same(&self.model, &other.model)
    }
}

/// One message. By default one that no model sees.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Entry {
    /// Its id.
    pub id: String,
    /// Its place in the chat.
    pub seq: i64,
    /// The run it belongs to; empty for what was imported.
    pub run_id: String,
    /// Who.
    pub speaker: Speaker,
    /// The text.
    pub text: String,
    /// Of a person's message: what ChatOS put before it, such as texts of the project. Nobody's words.
    pub block: String,
    /// Pictures beside it.
    pub images: Vec<Image>,
    /// Files beside it that go along as they are.
    pub documents: Vec<Document>,
    /// Thinking, with the vendor's own parts.
    pub reasoning: Vec<Reasoning>,
    /// Who gave those parts.
    pub origin: Origin,
    /// Of an answer: bytes of the request and the tokens the vendor counted for them.
    pub measured: Option<(u64, u64)>,
    /// Calls an answer asked for.
    pub calls: Vec<ToolCall>,
    /// Of a tool's result: which call.
    pub call_id: String,
    /// Of a tool's result: the name the model knows.
    pub tool_name: String,
    /// Of a tool's result: it failed.
    pub is_error: bool,
    /// An answer that is not complete.
    pub partial: bool,
}

/// What stands for the oldest part of a chat in the model's context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Its id.
    pub id: String,
    /// Everything up to this place is covered.
    pub to_seq: i64,
    /// The run that made it.
    pub run_id: String,
    /// The text.
    pub text: String,
    /// What a model is sent for it: the task, the text, how things stand.
    pub block: String,
    /// Runs inside the range that waited for their turn; it does not stand for them.
    pub left_out: Vec<String>,
}

/// What was found out about a chat's context while it was used.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Marks {
    /// Results up to this place are one line each.
    pub pruned_to: i64,
    /// Results up to this place are short.
    pub squeezed_to: i64,
    /// What vendors said about their windows, oldest first.
    pub windows: Vec<WindowMark>,
}

/// A vendor's word about its window.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WindowMark {
    /// The record of the model.
    pub model_id: String,
    /// The newest place at that time.
    pub to_seq: i64,
    /// The window, where that was said or follows.
    pub window: Option<u64>,
    /// Bytes of a request and its tokens, where that was said.
    pub measured: Option<(u64, u64)>,
}

/// A chat at one moment of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Transcript {
    /// In the order they were written, what the summary covers left out where possible.
    pub entries: Vec<Entry>,
    /// The newest summary.
    pub summary: Option<Summary>,
    /// Runs that wait for their turn: what they say is not part of this one yet.
    pub queued: Vec<String>,
    /// The newest journal step of each call of this run.
    pub steps: Vec<StepFacts>,
    /// What is left out of requests, and how large they may be.
    pub marks: Marks,
}

/// A call that has no result yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Pending {
    /// The answer that asked for it.
    pub message_id: String,
    /// The call.
    pub call: ToolCall,
    /// What the journal knows of it.
    pub step: Option<StepFacts>,
}

/// What a run has to do next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Run these calls.
    Calls(Vec<Pending>),
    /// Ask the model; the given answer was begun and not finished.
    Answer(Option<String>),
    /// Nothing: the last answer is final.
    Nothing,
}

impl Transcript {
    /// What comes next in a run, from what is written alone: a fresh run and a continued one take the
    /// same road.
    pub fn next(&self, run_id: &str) -> Next {
        let own: Vec<&Entry> = self.entries.iter().filter(|entry| entry.run_id == run_id).collect();
        let answered = |call: &str| own.iter().any(|e| e.speaker == Speaker::Tool && e.call_id == call);
        let last_answer = own.iter().rposition(|entry| entry.speaker == Speaker::Assistant);
        let Some(at) = last_answer else { return Next::Answer(None) };
        let answer = own[at];
        if answer.partial && answer.calls.is_empty() {
            let corrected = own[at..].iter().any(|entry| entry.speaker == Speaker::User);
            return Next::Answer((!corrected).then(|| answer.id.clone()));
        }
        let pending: Vec<Pending> = answer
            .calls
            .iter()
            .filter(|call| !answered(&call.id))
            .map(|call| Pending {
                message_id: answer.id.clone(),
                call: call.clone(),
                step: self.steps.iter().find(|step| step.call_id == call.id).cloned(),
            })
            .collect();
        if !pending.is_empty() {
            return Next::Calls(pending);
        }
        let more = own[at + 1..].iter().any(|e| matches!(e.speaker, Speaker::Tool | Speaker::User));
        if more { Next::Answer(None) } else { Next::Nothing }
    }

    /// Ids of all calls of a run, to keep them apart.
    pub fn call_ids<'a>(&'a self, run_id: &'a str) -> impl Iterator<Item = &'a str> {
        let own = self.entries.iter().filter(move |entry| entry.run_id == run_id);
        own.flat_map(|entry| entry.calls.iter().map(|call| call.id.as_str()))
    }

    /// How many calls a run has made, and how many answers it got.
    pub fn counts(&self, run_id: &str) -> (usize, usize) {
        let own = self.entries.iter().filter(|entry| entry.run_id == run_id);
        own.fold((0, 0), |(calls, answers), entry| {
            let answer = usize::from(entry.speaker == Speaker::Assistant && !entry.partial);
            (calls + entry.calls.len(), answers + answer)
        })
    }
}
