//! What a server answered, as an envelope: the text a model reads, what programs find, and the one list
//! of failures in the words of tools (tools §5, §6).

use std::borrow::Cow;

use chatos_mcp::{Block, CallError, Extra, Failure, ToolResult};
use chatos_tool::{
    CanceledBy, DenyRule, Issue, IssueCode, Lang, Needed, Phase, Reason, Resource, Status, Text, ToolError,
};
use serde_json::{Value, json};

/// How a call ended, before it has an envelope.
#[derive(Debug, Clone)]
pub(super) enum Ended {
    /// This host says why there is no result.
    Failed {
        /// Why.
        error: ToolError,
        /// False: the call went out and what it did is unknown.
        certain: bool,
    },
    /// The server answered, or this host with a text of its own.
    Answered {
        /// Its blocks.
        blocks: Vec<Block>,
        /// Its structured part.
        structured: Option<Value>,
        /// What stood beside that in the result, which no model reads.
        extra: Extra,
        /// It says it failed.
        is_error: bool,
        /// What was wrong with the answer.
        problems: Vec<String>,
        /// Words for the log.
        warnings: Vec<String>,
    },
}

impl Ended {
    pub(super) fn failed(error: ToolError) -> Self {
        Self::Failed { error, certain: true }
    }

    /// A text of this host.
    pub(super) fn text(text: String, structured: Option<Value>) -> Self {
        Self::Answered {
            blocks: vec![Block::Text(text)],
            structured,
            extra: Extra::default(),
            is_error: false,
            problems: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

impl From<ToolResult> for Ended {
    fn from(result: ToolResult) -> Self {
        Self::Answered {
            blocks: result.content,
            structured: result.structured,
            extra: result.extra,
            is_error: result.is_error,
            problems: result.problems,
            warnings: Vec::new(),
        }
    }
}

/// The words a model gets for the blocks of a result: texts as they are, the rest named.
pub(crate) fn text_of(blocks: &[Block], structured: Option<&Value>, problems: &[String]) -> String {
    let mut parts: Vec<Cow<'_, str>> = Vec::new();
    for block in blocks {
        parts.push(match block {
            Block::Text(text) => Cow::Borrowed(text.as_str()),
            Block::Image { data, mime } => Cow::Owned(format!("[image {mime}, {}]", size_of(data))),
            Block::Audio { data, mime } => Cow::Owned(format!("[audio {mime}, {}]", size_of(data))),
            Block::ResourceLink { uri, name, .. } => Cow::Owned(match name {
                Some(name) => format!("[resource {name}: {uri}]"),
                None => format!("[resource: {uri}]"),
            }),
            Block::Resource { text: Some(text), .. } => Cow::Borrowed(text.as_str()),
            Block::Resource { uri, mime, blob, .. } => Cow::Owned(format!(
                "[resource {uri}, {}{}]",
                mime.as_deref().unwrap_or("unknown type"),
                blob.as_deref().map(|blob| format!(", {}", size_of(blob))).unwrap_or_default()
            )),
            Block::Unknown(raw) => Cow::Owned(raw.to_string()),
        });
    }
    // A server that answers programs only still has to say something to the model.
    if parts.iter().all(|part| part.trim().is_empty())
        && let Some(structured) = structured
    {
        parts.push(Cow::Owned(structured.to_string()));
    }
    let text = parts.join("\n");
    if text.trim().is_empty() && !problems.is_empty() { problems.join("; ") } else { text }
}

fn size_of(base64: &str) -> String {
    let bytes = base64.len() / 4 * 3;
    if bytes < 1024 { format!("{bytes} bytes") } else { format!("{} KiB", bytes / 1024) }
}

/// Why a call over the pool has no result.
pub(super) fn failure(error: &CallError, server: &str) -> Ended {
    // An answer, even one that says no, is an outcome; a refusal before sending is one too.
    let answered = matches!(
        error.failure,
        Failure::Rpc(_)
            | Failure::AuthRefused { .. }
            | Failure::SignInNeeded { .. }
            | Failure::Http { .. }
            | Failure::Busy { .. }
    );
    let certain = answered || !error.sent;
    let mut mapped = of_failure(&error.failure, server);
    if !certain && error.failure != Failure::Canceled {
        mapped.message = Text::new(
            format!("{}; outcome unknown: the call may have been carried out", mapped.message.en),
            format!("{}；结果未知：调用可能已被执行", mapped.message.zh),
        );
    }
    Ended::Failed { error: mapped, certain }
}

/// A failure of a server in the words of tools.
pub(super) fn of_failure(failure: &Failure, server: &str) -> ToolError {
    let said = failure.text();
    let message = Text::new(format!("`{server}`: {}", said.en), format!("`{server}`：{}", said.zh));
    let reason = match failure {
        Failure::Canceled => return ToolError::canceled(CanceledBy::Caller),
        Failure::TimedOut { after, .. } | Failure::NotReading { after } => {
            Reason::Timeout { limit_ms: millis(*after), phase: Phase::Run }
        }
        Failure::Busy { .. } => Reason::RateLimited { retry_after_ms: 1_000 },
        Failure::TooLong => Reason::ResourceExhausted {
            resource: Resource::Output,
            limit: Some(chatos_tool::limits::MESSAGE_BYTES as u64),
            actual: None,
        },
        Failure::UnknownServer => Reason::NotFound {
            what: "server".to_owned(),
            id: Some(server.to_owned()),
            path: None,
            nearest: Vec::new(),
        },
        Failure::Rpc(error) if error.code == -32602 => {
            Reason::InvalidArgument { issues: vec![Issue::new("", IssueCode::Format, message.clone())] }
        }
        Failure::Rpc(error) if error.code == -32601 => Reason::NotSupported { what: "tools/call".to_owned() },
        // Trying again is of no use before a person did something.
        Failure::SignInNeeded { .. } => Reason::PermissionDenied { rule: DenyRule::SignInNeeded, path: None },
        Failure::Untrusted { .. } => Reason::PermissionDenied { rule: DenyRule::Untrusted, path: None },
        Failure::CommandNotFound { .. } | Failure::ModuleMissing { .. } | Failure::EntryMissing { .. } => {
            Reason::Unavailable { what: Needed::Package, install: None }
        }
        _ => Reason::Unavailable { what: Needed::Process, install: None },
    };
    let mut error = ToolError::new(reason, message);
    error.hint = failure.hint_for(server);
    if let Failure::SignInNeeded { challenge, .. } = failure {
        error.data = Some(json!({ "server": server, "scopes": challenge.scopes() }));
    }
    error
}

/// The error object of an answer that says it failed.
pub(super) fn told_error(text: &str) -> Value {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("the tool failed");
    let message: String = line.chars().take(400).collect();
    json!({ "type": "internal", "message": message, "retryable": false })
}

/// Status and code of an answer.
pub(super) fn status_of(is_error: bool) -> (Status, &'static str) {
    if is_error { (Status::Error, "internal") } else { (Status::Ok, "ok") }
}

/// The clock of every run.
pub(super) fn current_time(lang: Lang) -> Ended {
    let now = jiff::Zoned::now();
    let zone = now.time_zone().iana_name().unwrap_or("local").to_owned();
    let local = now.strftime("%Y-%m-%d %H:%M:%S %:z").to_string();
    let day = now.strftime("%A").to_string();
    let text = match lang {
        Lang::En => format!("{local} ({zone}), {day}"),
        Lang::Zh => format!("{local}（{zone}）"),
    };
    let data = json!({ "utc": now.timestamp().to_string(), "local": local, "zone": zone });
    Ended::text(text, Some(data))
}

pub(super) fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
