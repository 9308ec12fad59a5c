//! Why a tool did not do its work: a typed reason, from which status, code and details follow (tools §6).
//!
//! Nothing here or above ever looks at the words of a message to find out what happened.

mod os;

pub use os::Opening as OsOpening;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::error_code::ErrorCode;
use crate::note::persons_note;
use crate::text::{Lang, Text};
use crate::validation::Issue;

/// A failed call: the typed reason, a sentence, and what to do next.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolError {
    /// What happened, for programs.
    pub reason: Reason,
    /// What happened, for people and models.
    pub message: Text,
    /// What to do next.
    pub hint: Option<Text>,
    /// What was gathered before the failure; it becomes the envelope's `data`.
    pub data: Option<Value>,
}

/// The closed list of reasons with their details.
#[derive(Debug, Clone, PartialEq)]
pub enum Reason {
    /// The arguments cannot be used; every problem at once.
    InvalidArgument {
        /// The problems.
        issues: Vec<Issue>,
    },
    /// The named thing does not exist.
    NotFound {
        /// What sort of thing.
        what: String,
        /// Its id, when it has one.
        id: Option<String>,
        /// Its path, when it has one.
        path: Option<String>,
        /// Names that do exist and look alike.
        nearest: Vec<String>,
    },
    /// A rule forbids it.
    PermissionDenied {
        /// The rule.
        rule: DenyRule,
        /// The path it is about, relative to the root.
        path: Option<String>,
    },
    /// A clock ran out.
    Timeout {
        /// The clock's setting.
        limit_ms: u64,
        /// What the call was doing.
        phase: Phase,
    },
    /// A limit or the machine is used up.
    ResourceExhausted {
        /// Of what.
        resource: Resource,
        /// The limit, when it is a number of ours.
        limit: Option<u64>,
        /// What was needed.
        actual: Option<u64>,
    },
    /// It contradicts the present state.
    Conflict {
        /// In which way.
        kind: ConflictKind,
        /// What the caller expected.
        expected: Option<Value>,
        /// What was there.
        found: Option<Value>,
        /// Where.
        path: Option<String>,
    },
    /// Somebody ended it.
    Canceled {
        /// Who.
        by: CanceledBy,
    },
    /// Something it needs is not there.
    Unavailable {
        /// What is missing.
        what: Needed,
        /// The command that installs it.
        install: Option<String>,
    },
    /// This program does not do that.
    NotSupported {
        /// What.
        what: String,
    },
    /// Too many at once.
    RateLimited {
        /// When to try again.
        retry_after_ms: u64,
    },
    /// A bug of ours, or an error of the system nobody expected.
    Internal {
        /// The id of the log record that has more.
        reference: String,
    },
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$item:meta])* $variant:ident => $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
        pub enum $name { $($(#[$item])* #[serde(rename = $word)] $variant,)+ }

        impl $name {
            /// The word on the wire.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }
    };
}

words! {
    /// Which rule refused a call.
    DenyRule {
        /// The path is outside the root.
        OutsideRoot => "outside_root",
        /// The tool works in a folder, and the program that calls gave none.
        RootRequired => "root_required",
        /// The folder of the program that calls lies outside the agent's own.
        RootOutsideAgent => "root_outside_agent",
        /// A link leads outside the root.
        SymlinkEscape => "symlink_escape",
        /// This server may not write.
        WritesDisabled => "writes_disabled",
        /// The land_config does not grant the tool.
        LandConfig => "land_config",
        /// The path is never touched by tools.
        ProtectedPath => "protected_path",
        /// The command is refused in every mode.
        ShellBlocked => "shell_blocked",
        /// A person had to be asked and none can be reached.
        NoPerson => "no_person",
        /// A rule of the person refuses it.
        ApprovalRule => "approval_rule",
        /// The file's mode or owner forbids it.
        FileMode => "file_mode",
        /// The tool is new or changed, and no person approved it since.
        ToolNotApproved => "tool_not_approved",
        /// The server wants a person to sign in, or to give more rights than the last time.
        SignInNeeded => "sign_in_needed",
        /// The plugin is not trusted, or its files changed since it was.
        Untrusted => "untrusted",
    }
}

words! {
    /// What a call was doing when its time ran out.
    Phase {
        /// Waiting for a place.
        Queue => "queue",
        /// Working.
        Run => "run",
        /// Waiting for a person.
        Prompt => "prompt",
    }
}

words! {
    /// What is used up.
    Resource {
        /// The size of one file.
        FileBytes => "file_bytes",
        /// The size of one write.
        WriteBytes => "write_bytes",
        /// The number of files.
        Files => "files",
        /// Memory.
        Memory => "memory",
        /// The disk.
        Disk => "disk",
        /// Output.
        Output => "output",
        /// Live sessions.
        Sessions => "sessions",
        /// Entries of a list.
        Entries => "entries",
    }
}

words! {
    /// What contradicts what.
    ConflictKind {
        /// The file is not the one that was read or shown.
        ChangedOnDisk => "changed_on_disk",
        /// It is there already.
        Exists => "exists",
        /// Another number of places than expected.
        CountMismatch => "count_mismatch",
        /// A part of a patch does not fit.
        HunkFailed => "hunk_failed",
        /// The patch is in the file already.
        AlreadyApplied => "already_applied",
        /// Two edits touch the same place.
        Overlap => "overlap",
        /// The document has another version.
        Version => "version",
        /// The prompt has its answer.
        AlreadyAnswered => "already_answered",
        /// The approval allowed one thing once, and that was done.
        AlreadyUsed => "already_used",
        /// What was approved is not what would happen.
        ShownMismatch => "shown_mismatch",
    }
}

words! {
    /// Who ended a call.
    CanceledBy {
        /// The person said no.
        Person => "person",
        /// The caller withdrew it.
        Caller => "caller",
        /// The server stops.
        Shutdown => "shutdown",
    }
}

words! {
    /// What is missing.
    Needed {
        /// A program that should run.
        Process => "process",
        /// A language server.
        LanguageServer => "language server",
        /// The database.
        Database => "database",
        /// The running host.
        Host => "host",
        /// A package.
        Package => "package",
    }
}

impl ToolError {
    /// A failure with its sentence.
    pub fn new(reason: Reason, message: Text) -> Self {
        Self { reason, message, hint: None, data: None }
    }

    /// The arguments are refused; the sentence counts the problems, the hint repeats the first one's.
    pub fn invalid(issues: Vec<Issue>) -> Self {
        let message = match issues.len() {
            1 => Text::fixed("1 argument problem", "1 个参数问题"),
            n => Text::new(format!("{n} argument problems"), format!("{n} 个参数问题")),
        };
        let hint = issues.iter().find_map(|issue| issue.hint.clone());
        Self { reason: Reason::InvalidArgument { issues }, message, hint, data: None }
    }

    /// A rule refuses it.
    pub fn denied(rule: DenyRule, message: Text) -> Self {
        Self::new(Reason::PermissionDenied { rule, path: None }, message)
    }

    /// Somebody ended it.
    pub fn canceled(by: CanceledBy) -> Self {
        let message = match by {
            CanceledBy::Person => {
                Text::fixed("the person declined; nothing was changed", "用户拒绝，未做任何更改")
            }
            CanceledBy::Caller => Text::fixed("the caller canceled the call", "调用方已取消此次调用"),
            CanceledBy::Shutdown => Text::fixed("the server is stopping", "服务正在停止"),
        };
        Self::new(Reason::Canceled { by }, message)
    }

    /// A person said no, and perhaps why: their words reach the model as theirs.
    pub fn declined(note: Option<&str>) -> Self {
        let mut error = Self::canceled(CanceledBy::Person);
        if let Some(note) = note.and_then(persons_note) {
            error.message = Text::new(
                format!("{}. Their note: \"{note}\"", error.message.en),
                format!("{}。备注：“{note}”", error.message.zh),
            );
        }
        error
    }

    /// A clock ran out.
    pub fn timeout(limit_ms: u64, phase: Phase) -> Self {
        let message = match phase {
            Phase::Queue => Text::new(
                format!("no free place within {limit_ms} ms"),
                format!("{limit_ms} 毫秒内没有空闲的执行位置"),
            ),
            Phase::Run => Text::new(
                format!("not finished within {limit_ms} ms"),
                format!("未能在 {limit_ms} 毫秒内完成"),
            ),
            Phase::Prompt => Text::new(
                format!("nobody answered within {limit_ms} ms"),
                format!("{limit_ms} 毫秒内无人回答"),
            ),
        };
        Self::new(Reason::Timeout { limit_ms, phase }, message)
    }

    /// Something it needs is not there.
    pub fn unavailable(what: Needed, message: Text) -> Self {
        Self::new(Reason::Unavailable { what, install: None }, message)
    }

    /// A bug. The words say nothing about the machine; the log record has the rest (tools §6).
    pub fn internal(reference: impl Into<String>) -> Self {
        let reference = reference.into();
        let message = Text::new(
            format!("the tool failed unexpectedly (log record {reference})"),
            format!("工具意外失败（日志记录 {reference}）"),
        );
        Self::new(Reason::Internal { reference }, message)
    }

    /// Adds advice.
    pub fn hint(mut self, hint: Text) -> Self {
        self.hint = Some(hint);
        self
    }

    /// Adds what was gathered before the failure.
    pub fn data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    /// The general code.
    pub fn code(&self) -> ErrorCode {
        match &self.reason {
            Reason::InvalidArgument { .. } => ErrorCode::InvalidArgument,
            Reason::NotFound { .. } => ErrorCode::NotFound,
            Reason::PermissionDenied { .. } => ErrorCode::PermissionDenied,
            Reason::Timeout { .. } => ErrorCode::Timeout,
            Reason::ResourceExhausted { .. } => ErrorCode::ResourceExhausted,
            Reason::Conflict { .. } => ErrorCode::Conflict,
            Reason::Canceled { .. } => ErrorCode::Canceled,
            Reason::Unavailable { .. } => ErrorCode::Unavailable,
            Reason::NotSupported { .. } => ErrorCode::NotSupported,
            Reason::RateLimited { .. } => ErrorCode::RateLimited,
            Reason::Internal { .. } => ErrorCode::Internal,
        }
    }

    /// The envelope's `error.details` in one language; keys without a value are left out.
    pub fn details(&self, lang: Lang) -> Value {
        let mut details = Map::new();
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                details.insert(key.to_owned(), value);
            }
        };
        let text = |value: &Option<String>| value.as_ref().map(|text| json!(text));
        match &self.reason {
            Reason::InvalidArgument { issues } => {
                put("issues", Some(issues.iter().map(|issue| issue.to_json(lang)).collect()));
            }
            Reason::NotFound { what, id, path, nearest } => {
                put("what", Some(json!(what)));
                put("id", text(id));
                put("path", text(path));
                put("nearest", (!nearest.is_empty()).then(|| json!(nearest)));
            }
            Reason::PermissionDenied { rule, path } => {
                put("rule", Some(json!(rule)));
                put("path", text(path));
            }
            Reason::Timeout { limit_ms, phase } => {
                put("limitMs", Some(json!(limit_ms)));
                put("phase", Some(json!(phase)));
            }
            Reason::ResourceExhausted { resource, limit, actual } => {
                put("resource", Some(json!(resource)));
                put("limit", limit.map(Value::from));
                put("actual", actual.map(Value::from));
            }
            Reason::Conflict { kind, expected, found, path } => {
                put("kind", Some(json!(kind)));
                put("expected", expected.clone());
                // What is found of a patch that does not fit is the list of its hunks (servers §4).
                put(if *kind == ConflictKind::HunkFailed { "hunks" } else { "found" }, found.clone());
                put("path", text(path));
            }
            Reason::Canceled { by } => put("by", Some(json!(by))),
            Reason::Unavailable { what, install } => {
                put("what", Some(json!(what)));
                put("install", text(install));
            }
            Reason::NotSupported { what } => put("what", Some(json!(what))),
            Reason::RateLimited { retry_after_ms } => put("retryAfterMs", Some(json!(retry_after_ms))),
            Reason::Internal { reference } => put("ref", Some(json!(reference))),
        }
        Value::Object(details)
    }
}

impl std::fmt::Display for ToolError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message.en)
    }
}

impl std::error::Error for ToolError {}

#[cfg(test)]
mod tests;
