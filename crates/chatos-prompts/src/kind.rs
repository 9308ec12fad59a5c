//! The five kinds of prompt: strict checking for askers that go through the host, lenient reading
//! for lines found in the file (`ui-prompts §5`), and the typed form answers are checked against.

pub mod choice;
mod common;
pub mod file_change_confirm;
pub mod kv;
pub mod result;
pub mod task_confirm;

use serde_json::Value;

pub(crate) use common::{Checker, Mode};

use crate::elicitation::Schema;
use crate::ids::RequestId;
use crate::json::Object;
use crate::problem::{Code, Problem, quoted};

/// What a prompt asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    Kv,
    Choice,
    TaskConfirm,
    FileChangeConfirm,
    Result,
}

impl Kind {
    pub const ALL: [Kind; 5] =
        [Kind::Kv, Kind::Choice, Kind::TaskConfirm, Kind::FileChangeConfirm, Kind::Result];

    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Kv => "kv",
            Kind::Choice => "choice",
            Kind::TaskConfirm => "task_confirm",
            Kind::FileChangeConfirm => "file_change_confirm",
            Kind::Result => "result",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|k| k.as_str() == text)
    }

    /// `ui-prompts §6`: these decide an effect, so an answer must carry the digest of what was shown.
    pub fn decides_effect(self) -> bool {
        matches!(self, Kind::TaskConfirm | Kind::FileChangeConfirm)
    }
}

/// A prompt that can be drawn and answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    pub kind: Kind,
    pub title: Option<String>,
    pub message: Option<String>,
    pub source: Option<String>,
    pub allow_cancel: bool,
    /// 0 or absent in the payload = none.
    pub timeout_ms: Option<u64>,
    pub body: Body,
    /// The schema an elicitation came with (`ui-prompts §10.1`); answers must fit it.
    pub schema: Option<Schema>,
    /// The normal form: known keys in seed order, then the unknown ones as given.
    pub normal: Object,
}

/// The part that depends on the kind.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    Kv(kv::Kv),
    Choice(choice::Choice),
    TaskConfirm(task_confirm::TaskConfirm),
    FileChangeConfirm,
    Result(result::ResultText),
}

impl Prompt {
    /// Keys of secret fields; empty for other kinds.
    pub fn secret_keys(&self) -> Vec<&str> {
        match &self.body {
            Body::Kv(kv) => kv.fields.iter().filter(|f| f.secret).map(|f| f.key.as_str()).collect(),
            _ => Vec::new(),
        }
    }
}

/// The outcome of checking one prompt.
#[derive(Debug)]
pub struct Checked {
    /// `None` when it cannot be drawn: refused for a caller, a problem card for a line of the file.
    pub prompt: Option<Prompt>,
    /// Strict: every problem at once. Lenient: what makes it a problem card.
    pub problems: Vec<Problem>,
    /// What was repaired or is worth saying.
    pub warnings: Vec<Problem>,
}

/// Checks a caller's prompt (`ui-prompts §5`, strict column). `default_source` fills an empty `source`.
pub fn check_strict(prompt: &Value, id: &RequestId, default_source: &str) -> Checked {
    check(prompt, id, Mode::Strict, Some(default_source))
}

/// Reads a prompt found in the file (`ui-prompts §5`, lenient column).
pub fn read_lenient(prompt: &Object, id: &RequestId) -> Checked {
    check_object(prompt, id, Mode::Lenient, None)
}

fn check(prompt: &Value, id: &RequestId, mode: Mode, default_source: Option<&str>) -> Checked {
    match prompt {
        Value::Object(map) => check_object(map, id, mode, default_source),
        _ => Checked {
            prompt: None,
            problems: vec![Problem::new(Code::PromptRequired, "/prompt")],
            warnings: Vec::new(),
        },
    }
}

fn check_object(prompt: &Object, id: &RequestId, mode: Mode, default_source: Option<&str>) -> Checked {
    let mut ck = Checker::new(mode);
    let mut normal = Object::new();
    let kind = match prompt.get("kind") {
        None | Some(Value::Null) => {
            ck.fatal(Problem::new(Code::KindRequired, "/prompt/kind"));
            None
        }
        Some(Value::String(text)) if text.trim().is_empty() => {
            ck.fatal(Problem::new(Code::KindRequired, "/prompt/kind"));
            None
        }
        Some(value) => {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let kind = value.as_str().and_then(Kind::parse);
            if kind.is_none() {
                ck.fatal(Problem::new(Code::KindUnsupported, "/prompt/kind").arg(quoted(&text)));
            }
            kind
        }
    };
    if let Some(kind) = kind {
        normal.insert("kind".into(), kind.as_str().into());
    }
    let title = ck.text(prompt, "title", "/prompt", &mut normal);
    let message = ck.text(prompt, "message", "/prompt", &mut normal);
    let source = source(&mut ck, prompt, default_source, &mut normal);
    let allow_cancel = ck.flag(prompt, "allowCancel", "/prompt", true);
    if !allow_cancel {
        normal.insert("allowCancel".into(), false.into());
    }
    let body = kind.map(|kind| match kind {
        Kind::Kv => kv::check(&mut ck, prompt, &mut normal).map(Body::Kv),
        Kind::Choice => choice::check(&mut ck, prompt, &mut normal).map(Body::Choice),
        Kind::TaskConfirm => Some(Body::TaskConfirm(task_confirm::check(&mut ck, prompt, id, &mut normal))),
        Kind::FileChangeConfirm => {
            file_change_confirm::check(&mut ck, prompt, &mut normal);
            Some(Body::FileChangeConfirm)
        }
        Kind::Result => Some(Body::Result(result::check(&mut ck, prompt, &mut normal))),
    });
    let timeout_ms = common::timeout(&mut ck, prompt, &mut normal);
    common::chain(&mut ck, prompt, &mut normal);
    for (key, value) in prompt {
        // ui-prompts §5: unknown keys pass through. A known key that was dropped stays dropped.
        if !common::is_known(kind, key) {
            normal.insert(key.clone(), value.clone());
        }
    }
    let schema = prompt.get("requestedSchema").and_then(|schema| Schema::parse(schema).ok());
    let (problems, warnings, usable) = ck.finish();
    let prompt = match (kind, body) {
        (Some(kind), Some(Some(body))) if usable => {
            Some(Prompt { kind, title, message, source, allow_cancel, timeout_ms, body, schema, normal })
        }
        _ => None,
    };
    Checked { prompt, problems, warnings }
}

// ui-prompts §5: an empty source is filled with the asker's name, seed 004 §2.
fn source(ck: &mut Checker, prompt: &Object, default: Option<&str>, normal: &mut Object) -> Option<String> {
    let mut found = Object::new();
    let given = ck.text(prompt, "source", "/prompt", &mut found);
    let source = match (given, default) {
        (Some(text), Some(default)) if text.trim().is_empty() => Some(default.to_owned()),
        (None, Some(default)) => Some(default.to_owned()),
        (given, _) => given,
    };
    if let Some(source) = &source {
        normal.insert("source".into(), source.as_str().into());
    }
    source
}
