//! What every kind shares: the two ways of checking, and the common optional keys.

use serde_json::Value;

use super::Kind;
use crate::json::Object;
use crate::problem::{Code, Problem};

/// Who gave the prompt decides how much is forgiven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// A caller of the host: every problem is an error.
    Strict,
    /// A line of the file: repaired where possible, a problem card where not.
    Lenient,
}

/// Collects what is wrong while a payload is walked.
pub(crate) struct Checker {
    mode: Mode,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
}

impl Checker {
    pub(crate) fn new(mode: Mode) -> Self {
        Self { mode, problems: Vec::new(), warnings: Vec::new() }
    }

    pub(crate) fn strict(&self) -> bool {
        self.mode == Mode::Strict
    }

    /// Cannot be repaired in either mode.
    pub(crate) fn fatal(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// An error for a caller; for a line of the file the caller of this function repairs it.
    pub(crate) fn repairable(&mut self, problem: Problem) {
        match self.mode {
            Mode::Strict => self.problems.push(problem),
            Mode::Lenient => self.warnings.push(problem),
        }
    }

    pub(crate) fn warn(&mut self, problem: Problem) {
        self.warnings.push(problem);
    }

    /// (problems, warnings, whether the prompt can be used)
    pub(crate) fn finish(self) -> (Vec<Problem>, Vec<Problem>, bool) {
        let usable = self.problems.is_empty();
        (self.problems, self.warnings, usable)
    }

    /// A string if present, copied to `normal` verbatim.
    pub(crate) fn text(
        &mut self,
        from: &Object,
        key: &str,
        path: &str,
        normal: &mut Object,
    ) -> Option<String> {
        match from.get(key) {
            None => None,
            Some(Value::String(text)) => {
                normal.insert(key.to_owned(), text.as_str().into());
                Some(text.clone())
            }
            Some(_) => {
                self.repairable(Problem::new(Code::TypeString, format!("{path}/{key}")).arg(key));
                None
            }
        }
    }

    /// A boolean if present, else `default`.
    pub(crate) fn flag(&mut self, from: &Object, key: &str, path: &str, default: bool) -> bool {
        match from.get(key) {
            None => default,
            Some(Value::Bool(flag)) => *flag,
            Some(_) => {
                self.repairable(Problem::new(Code::TypeBoolean, format!("{path}/{key}")).arg(key));
                default
            }
        }
    }
}

/// A whole number, also when written as `2.0`.
pub(crate) fn whole(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| {
        let f = value.as_f64()?;
        (f.fract() == 0.0 && f.abs() < 9e15).then_some(f as i64)
    })
}

pub(super) fn timeout(ck: &mut Checker, prompt: &Object, normal: &mut Object) -> Option<u64> {
    let value = prompt.get("timeoutMs")?;
    match whole(value) {
        Some(0) => {
            normal.insert("timeoutMs".into(), 0.into());
            None
        }
        Some(ms @ 1_000..=2_147_483_647) => {
            normal.insert("timeoutMs".into(), ms.into());
            Some(ms as u64)
        }
        _ => {
            ck.repairable(Problem::new(Code::TimeoutRange, "/prompt/timeoutMs"));
            None
        }
    }
}

pub(super) fn chain(ck: &mut Checker, prompt: &Object, normal: &mut Object) {
    let Some(value) = prompt.get("chain") else { return };
    let fits = value.as_object().is_some_and(|chain| {
        let id = chain.get("id").and_then(Value::as_str).is_some_and(|id| (1..=128).contains(&id.len()));
        let step = chain.get("step").and_then(whole).is_some_and(|step| step >= 1);
        let of = chain.get("of").is_none_or(|of| whole(of).is_some_and(|of| of >= 1));
        id && step && of
    });
    if fits {
        normal.insert("chain".into(), value.clone());
    } else {
        ck.repairable(Problem::new(Code::ChainShape, "/prompt/chain"));
    }
}

const COMMON: [&str; 7] = ["kind", "title", "message", "source", "allowCancel", "timeoutMs", "chain"];

/// Keys this crate normalises itself; all others pass through untouched.
pub(super) fn is_known(kind: Option<Kind>, key: &str) -> bool {
    let own: &[&str] = match kind {
        None => &[],
        Some(Kind::Kv) => &["fields"],
        Some(Kind::Choice) => &["multiple", "options", "default", "minSelections", "maxSelections"],
        Some(Kind::TaskConfirm) => &["tasks", "defaultRemark"],
        Some(Kind::FileChangeConfirm) => &["path", "command", "cwd", "diff", "defaultRemark"],
        Some(Kind::Result) => &["markdown", "result", "content", "mimeType"],
    };
    COMMON.contains(&key) || own.contains(&key)
}
