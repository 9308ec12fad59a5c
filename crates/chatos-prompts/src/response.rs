//! Checks an answer against its question and brings it into the form that is written (`ui-prompts §6`).
//!
//! The first four checks (known, open, owner, shown) need the queue and live with it; this file does
//! the rest, all problems at once.

use serde_json::Value;

use crate::ids::{Answerer, HostReason, Owner};
use crate::json::{Object, pointer_segment};
use crate::kind::{Body, Checker, Mode, Prompt, choice::Choice, kv::Kv, task_confirm};
use crate::problem::{Code, Problem, quoted};

/// Longest remark in bytes.
pub const MAX_REMARK: usize = 16 * 1024;

/// What stands in the log for a secret value.
pub const MASK: &str = "******";

/// How a prompt ended, as every reader understands it (`ui-prompts §4`, status as read).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    Ok,
    Canceled,
    Timeout,
    Error,
}

impl Status {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Canceled => "canceled",
            Self::Timeout => "timeout",
            Self::Error => "error",
        }
    }

    /// Reads the status of any line. Everything unknown means "not confirmed".
    pub fn read(text: &str) -> Self {
        match text.trim() {
            "ok" => Self::Ok,
            "timeout" => Self::Timeout,
            "canceled" | "cancel" | "cancelled" | "dismissed" | "rejected" => Self::Canceled,
            _ => Self::Error,
        }
    }
}

/// An answer that fits its question, in normal form.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub status: Status,
    /// As the asker gets it, secrets in clear.
    pub full: Object,
}

impl Answer {
    /// Without the values of secret fields: what is written, logged and shown.
    pub fn masked(&self, secret_keys: &[&str]) -> Object {
        let mut masked = self.full.clone();
        if let Some(Value::Object(values)) = masked.get_mut("values") {
            for key in secret_keys {
                if let Some(value) = values.get_mut(*key)
                    && value.as_str() != Some("")
                {
                    *value = MASK.into();
                }
            }
        }
        masked
    }
}

/// Checks `response` by `who` against `prompt`. `prompt` is `None` for a problem card, which can only
/// be dismissed. `asked_by_answerer` says whether the answerer is the prompt's owner.
pub fn check(
    prompt: Option<&Prompt>,
    response: &Value,
    who: &Answerer,
    owner: Option<&Owner>,
) -> Result<Answer, Vec<Problem>> {
    let Some(map) = response.as_object() else {
        return Err(vec![Problem::new(Code::ResponseRequired, "/response")]);
    };
    let mut problems = Vec::new();
    let status = status(map, prompt, who, owner, &mut problems);
    let mut full = Object::new();
    if let Some(status) = status {
        full.insert("status".into(), status.as_str().into());
    }
    if let (Some(Status::Ok), Some(prompt)) = (status, prompt) {
        payload(prompt, map, &mut full, &mut problems);
    }
    extras(map, who, status, &mut full, &mut problems);
    match status {
        Some(status) if problems.is_empty() => Ok(Answer { status, full }),
        _ => Err(problems),
    }
}

fn status(
    map: &Object,
    prompt: Option<&Prompt>,
    who: &Answerer,
    owner: Option<&Owner>,
    problems: &mut Vec<Problem>,
) -> Option<Status> {
    const AT: &str = "/response/status";
    let text = match map.get("status") {
        Some(Value::String(text)) if !text.trim().is_empty() => text.trim(),
        None | Some(Value::Null | Value::String(_)) => {
            problems.push(Problem::new(Code::StatusRequired, AT));
            return None;
        }
        Some(other) => {
            problems.push(Problem::new(Code::StatusUnsupported, AT).arg(quoted(&other.to_string())));
            return None;
        }
    };
    let status = match text {
        "ok" => Status::Ok,
        "canceled" | "cancel" | "cancelled" => Status::Canceled,
        "timeout" => Status::Timeout,
        "error" => Status::Error,
        _ => {
            problems.push(Problem::new(Code::StatusUnsupported, AT).arg(quoted(text)));
            return None;
        }
    };
    let is_owner = matches!(who, Answerer::App(app) if owner == Some(app));
    let allowed = match (status, who) {
        (_, Answerer::Host(_)) => true,
        // A prompt that cannot be drawn can only be dismissed (§4).
        (Status::Ok, _) => prompt.is_some(),
        (Status::Canceled, _) => true,
        (Status::Error, _) => is_owner,
        (Status::Timeout, _) => false,
    };
    if !allowed {
        problems.push(Problem::new(Code::StatusUnsupported, AT).arg(text));
        return None;
    }
    let by_person = matches!(who, Answerer::Person(_));
    if status == Status::Canceled && by_person && prompt.is_some_and(|p| !p.allow_cancel) {
        problems.push(Problem::new(Code::CancelNotAllowed, AT));
        return None;
    }
    Some(status)
}

fn payload(prompt: &Prompt, map: &Object, full: &mut Object, problems: &mut Vec<Problem>) {
    match &prompt.body {
        Body::Kv(kv) => {
            let before = problems.len();
            let values = values(kv, map, problems);
            if let (Some(schema), true) = (&prompt.schema, problems.len() == before) {
                problems.extend(schema.check_values(&values));
            }
            full.insert("values".into(), values.into());
        }
        Body::Choice(choice) => {
            let before = problems.len();
            let selected = selection(choice, map, problems);
            if let (Some(schema), true) = (&prompt.schema, problems.len() == before) {
                problems.extend(schema.check_selection(&selected));
            }
            let form = if choice.multiple { selected.into() } else { selected.first().cloned().into() };
            full.insert("selection".into(), form);
        }
        Body::TaskConfirm(_) => {
            let tasks = tasks(map, problems);
            full.insert("tasks".into(), tasks.into());
        }
        Body::FileChangeConfirm | Body::Result(_) => {}
    }
}

fn values(kv: &Kv, map: &Object, problems: &mut Vec<Problem>) -> Object {
    let mut out = Object::new();
    let Some(Value::Object(given)) = map.get("values") else {
        problems.push(Problem::new(Code::ValuesRequired, "/response/values"));
        return out;
    };
    let at = |key: &str| format!("/response/values/{}", pointer_segment(key));
    for (key, value) in given {
        if !kv.fields.iter().any(|f| f.key == *key) {
            problems.push(Problem::new(Code::UnknownKey, at(key)).arg(quoted(key)));
        } else if !value.is_string() {
            problems.push(Problem::new(Code::ValueType, at(key)).arg(quoted(key)));
        }
    }
    for field in &kv.fields {
        let text = match given.get(&field.key) {
            Some(Value::String(text)) => Some(text.as_str()),
            Some(_) => continue, // reported above
            None => None,
        };
        let blank = text.is_none_or(|t| t.trim().is_empty());
        // §6: a missing key, or a blank required one, takes the default first.
        let text = match (text, &field.default) {
            (None, Some(default)) => default,
            (Some(_), Some(default)) if field.required && blank => default,
            (Some(text), _) => text,
            (None, None) => "",
        };
        if field.required && text.trim().is_empty() {
            problems.push(Problem::new(Code::RequiredMissing, at(&field.key)).arg(quoted(&field.key)));
        }
        out.insert(field.key.clone(), text.into());
    }
    out
}

fn selection(choice: &Choice, map: &Object, problems: &mut Vec<Problem>) -> Vec<String> {
    const AT: &str = "/response/selection";
    let given: Vec<&str> = match map.get("selection") {
        None | Some(Value::Null) => {
            problems.push(Problem::new(Code::SelectionRequired, AT));
            return Vec::new();
        }
        Some(Value::String(one)) if !choice.multiple => {
            if one.is_empty() {
                problems.push(Problem::new(Code::SelectionRequired, AT));
                return Vec::new();
            }
            vec![one]
        }
        Some(Value::Array(many)) if choice.multiple && many.iter().all(Value::is_string) => {
            many.iter().filter_map(Value::as_str).collect()
        }
        Some(_) => {
            let wanted = if choice.multiple { "string[]" } else { "string" };
            problems.push(Problem::new(Code::SelectionType, AT).arg(wanted));
            return Vec::new();
        }
    };
    for (i, value) in given.iter().enumerate() {
        let at = if choice.multiple { format!("{AT}/{i}") } else { AT.to_owned() };
        if !choice.options.iter().any(|o| o.value == *value) {
            problems.push(Problem::new(Code::SelectionUnknown, at).arg(quoted(value)));
        } else if given[..i].contains(value) {
            problems.push(Problem::new(Code::SelectionDuplicate, at).arg(quoted(value)));
        }
    }
    if choice.multiple && given.len() < choice.min {
        problems.push(Problem::new(Code::TooFew, AT).arg(choice.min).arg(given.len()));
    }
    if choice.multiple && given.len() > choice.max {
        problems.push(Problem::new(Code::TooMany, AT).arg(choice.max).arg(given.len()));
    }
    // Written in option order, so that equal answers are equal lines.
    choice.options.iter().map(|o| o.value.clone()).filter(|v| given.contains(&v.as_str())).collect()
}

fn tasks(map: &Object, problems: &mut Vec<Problem>) -> Vec<Value> {
    const AT: &str = "/response/tasks";
    let Some(Value::Array(given)) = map.get("tasks") else {
        problems.push(Problem::new(Code::TasksRequired, AT));
        return Vec::new();
    };
    let mut ck = Checker::new(Mode::Strict);
    if given.len() > task_confirm::MAX_TASKS {
        ck.fatal(Problem::new(Code::TasksType, AT));
    }
    let mint = |_| uuid::Uuid::now_v7().to_string();
    let tasks = task_confirm::list(&mut ck, given, AT, Code::DraftDuplicate, mint);
    for (i, value) in given.iter().enumerate().take(task_confirm::MAX_TASKS) {
        let title = value.get("title").and_then(Value::as_str).unwrap_or("");
        if value.is_object() && title.trim().is_empty() {
            ck.fatal(Problem::new(Code::TaskTitleRequired, format!("{AT}/{i}/title")).arg(i + 1));
        }
    }
    problems.extend(ck.finish().0);
    tasks.iter().map(task_confirm::Task::to_json).collect()
}

// The keys allowed with every status: remark; and stop, declined, message, code when it is not ok.
fn extras(
    map: &Object,
    who: &Answerer,
    status: Option<Status>,
    full: &mut Object,
    problems: &mut Vec<Problem>,
) {
    match map.get("remark") {
        None => {}
        Some(Value::String(text)) if text.len() <= MAX_REMARK => {
            full.insert("remark".into(), text.as_str().into());
        }
        Some(_) => problems.push(Problem::new(Code::RemarkType, "/response/remark")),
    }
    if status == Some(Status::Ok) {
        if *who == Answerer::Host(HostReason::Auto) {
            full.insert("auto".into(), true.into());
        }
        // The person agreed to content that no surface could show.
        if map.get("withoutSeeing") == Some(&Value::Bool(true)) {
            full.insert("withoutSeeing".into(), true.into());
        }
        // What the person wrote instead of what was asked (inbox §2.4); whether it may, the inbox has looked at.
        if let Some(edited @ Value::Object(_)) = map.get("edited") {
            full.insert("edited".into(), edited.clone());
        }
        return;
    }
    // `stop`: the run that asked ends with it (inbox §1.4); whether it may, the inbox has looked at.
    for key in ["declined", "stop"] {
        if let Some(Value::Bool(said)) = map.get(key) {
            full.insert(key.into(), (*said).into());
        }
    }
    for key in ["message", "code"] {
        if let Some(Value::String(text)) = map.get(key)
            && text.len() <= MAX_REMARK
        {
            full.insert(key.into(), text.as_str().into());
        }
    }
}
