//! The lines of the tool log: each call once, its end once, joined by the call's id (tools §8).
//!
//! This makes the lines; who writes them where is `chatos-builtin`'s business (or the host's, for
//! servers of others).

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Value, json};

use crate::envelope::{Envelope, Status};
use crate::limits;
use crate::redact::Redactor;
use crate::trace::Trace;
use crate::truncate::compact_len;

/// Characters of an id that a line shows.
const ID_CHARS: usize = 256;

/// How much is logged (`toolLogLevel`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// Nothing.
    Off,
    /// Failed calls only, with their arguments.
    Error,
    /// Every call with its arguments, results without data.
    Info,
    /// Also previews of data and text.
    Debug,
}

impl LogLevel {
    /// Reads the setting; an unknown word is the default.
    pub fn parse(word: &str) -> Self {
        match word {
            "off" => Self::Off,
            "error" => Self::Error,
            "debug" => Self::Debug,
            _ => Self::Info,
        }
    }
}

/// What the settings say about the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogRules {
    /// How much.
    pub level: LogLevel,
    /// `toolLogMaxFieldChars`.
    pub field_chars: usize,
}

impl Default for LogRules {
    fn default() -> Self {
        Self { level: LogLevel::Info, field_chars: limits::LOG_FIELD_CHARS }
    }
}

/// Over which road a call came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// From the host itself.
    InProcess,
    /// Standard input and output.
    Stdio,
    /// Streamable HTTP.
    Http,
    /// WebSocket.
    WebSocket,
}

impl Transport {
    /// The word in the log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InProcess => "inproc",
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::WebSocket => "ws",
        }
    }
}

/// One call as the log sees it.
#[derive(Debug, Clone)]
pub struct CallRecord {
    /// `_meta.toolCallId`, else a UUID.
    pub call_id: String,
    /// The server's name.
    pub server: String,
    /// The tool's own name.
    pub tool: String,
    /// Over which road.
    pub transport: Transport,
    /// `main` or `subagent`.
    pub caller: &'static str,
    /// Where it belongs.
    pub trace: Trace,
}

/// The end of a call beyond its envelope.
#[derive(Debug, Clone, Copy, Default)]
pub struct Finish {
    /// Milliseconds in the queue.
    pub queued_ms: u64,
    /// Milliseconds a person was being asked.
    pub waited_ms: u64,
}

impl CallRecord {
    /// The `tool_call` line, without its newline. `private` are pointers into the arguments that no
    /// log may show, `warnings` what was wrong with `_meta`.
    pub fn call_line(
        &self,
        ts: &str,
        arguments: &Value,
        private: &[String],
        warnings: &[String],
        redactor: &Redactor,
        rules: LogRules,
    ) -> String {
        let size = compact_len(arguments);
        let shown = without(arguments, private);
        let fit = |field_chars: usize| {
            let mut line = self.line(ts, "tool_call");
            line.transport = Some(self.transport.as_str());
            line.caller = Some(self.caller);
            line.size = size;
            line.args = Some(redactor.value(&shown, field_chars));
            line.warnings = warnings;
            line.text()
        };
        within_limit(rules.field_chars, fit)
    }

    /// The `tool_result` or `tool_error` line, without its newline.
    pub fn finish_line(
        &self,
        ts: &str,
        envelope: &Envelope,
        finish: Finish,
        redactor: &Redactor,
        rules: LogRules,
    ) -> String {
        let is_error = envelope.status.is_error();
        let fit = |field_chars: usize| {
            let mut line = self.line(ts, if is_error { "tool_error" } else { "tool_result" });
            line.end = Some(End {
                status: envelope.status,
                code: envelope.code,
                is_error,
                elapsed_ms: envelope.stamp.elapsed_ms,
                queued_ms: finish.queued_ms,
                waited_ms: finish.waited_ms,
            });
            line.size = envelope.size;
            line.truncated = !envelope.cuts.is_empty();
            if let Some(error) = envelope.error.as_ref().filter(|_| is_error) {
                let message = redactor.trimmed(error["message"].as_str().unwrap_or_default(), field_chars);
                line.error = Some(json!({ "type": error["type"], "message": message }));
            }
            if rules.level == LogLevel::Debug {
                let data = without(&envelope.data, &envelope.private);
                line.data = Some(redactor.value(&data, field_chars));
                line.shown = Some(redactor.trimmed(&envelope.text, field_chars));
            }
            line.text()
        };
        within_limit(rules.field_chars, fit)
    }

    /// What every line says.
    fn line<'a>(&'a self, ts: &'a str, kind: &'static str) -> Line<'a> {
        let trace = &self.trace;
        Line {
            v: 1,
            ts,
            kind,
            call_id: short(&self.call_id),
            run_id: trace.run_id.as_deref().map(short),
            session_id: trace.session_id.as_deref().map(short),
            server: &self.server,
            tool_name: &self.tool,
            transport: None,
            caller: None,
            end: None,
            size: 0,
            args: None,
            truncated: false,
            error: None,
            data: None,
            shown: None,
            warnings: &[],
            trace: shortened(trace),
        }
    }
}

/// One line; its fields stand in this order (tools §8).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    v: u8,
    ts: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    call_id: &'a str,
    run_id: Option<&'a str>,
    session_id: Option<&'a str>,
    server: &'a str,
    tool_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    transport: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    caller: Option<&'static str>,
    #[serde(flatten)]
    end: Option<End>,
    size: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<Value>,
    #[serde(skip_serializing_if = "is_false")]
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Value>,
    #[serde(rename = "text", skip_serializing_if = "Option::is_none")]
    shown: Option<String>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
    trace: Cow<'a, Trace>,
}

/// How a call ended.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
struct End {
    status: Status,
    code: &'static str,
    is_error: bool,
    elapsed_ms: u64,
    queued_ms: u64,
    waited_ms: u64,
}

impl Line<'_> {
    /// Compact JSON escapes every control character, so a line never holds a raw newline.
    fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The data with a marker in the places that no log may show.
fn without<'a>(data: &'a Value, private: &[String]) -> Cow<'a, Value> {
    if private.is_empty() {
        return Cow::Borrowed(data);
    }
    let mut data = data.clone();
    for pointer in private {
        if let Some(value) = data.pointer_mut(pointer) {
            *value = json!("[redacted:secret]");
        }
    }
    Cow::Owned(data)
}

/// Ids come from outside; one of a megabyte is no id.
fn short(id: &str) -> &str {
    if id.len() <= ID_CHARS {
        return id;
    }
    id.char_indices().nth(ID_CHARS).map_or(id, |(at, _)| &id[..at])
}

/// The trace with ids that are no longer than ids are.
fn shortened(trace: &Trace) -> Cow<'_, Trace> {
    let given =
        [&trace.root_agent_id, &trace.agent_id, &trace.sub_agent_id, &trace.run_id, &trace.session_id];
    if given.into_iter().flatten().all(|id| id.len() <= ID_CHARS) {
        return Cow::Borrowed(trace);
    }
    let own = |id: &Option<String>| id.as_deref().map(|id| short(id).to_owned());
    Cow::Owned(Trace {
        root_agent_id: own(&trace.root_agent_id),
        agent_id: own(&trace.agent_id),
        sub_agent_id: own(&trace.sub_agent_id),
        run_id: own(&trace.run_id),
        session_id: own(&trace.session_id),
        ..trace.clone()
    })
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks this way")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// Shortens the strings until the record is at most 64 KiB; the last resort drops the payload and
/// says so.
fn within_limit(field_chars: usize, fit: impl Fn(usize) -> String) -> String {
    let mut chars = field_chars;
    let mut line = fit(chars);
    while line.len() > limits::LOG_RECORD_BYTES && chars > 16 {
        chars /= 4;
        line = fit(chars);
    }
    if line.len() <= limits::LOG_RECORD_BYTES {
        return line;
    }
    let bytes = line.len();
    let Ok(Value::Object(mut record)) = serde_json::from_str(&line) else { return line };
    for key in ["args", "data", "text", "warnings"] {
        if let Some(value) = record.get_mut(key) {
            *value = json!(format!("…({bytes} bytes)"));
        }
    }
    Value::Object(record).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envelope::{Answer, Ended, Opening, Stamp};
    use crate::limits::TextLimits;
    use crate::text::{Lang, Text};
    use crate::tool_error::{ConflictKind, Reason, ToolError};
    use crate::truncate::Keep;

    fn record() -> CallRecord {
        let trace = Trace {
            trace_id: Some("4bf92f3577b34da6a3ce929d0e0e4736".into()),
            span_id: Some("00f067aa0ba902b7".into()),
            parent_span_id: None,
            root_agent_id: None,
            agent_id: None,
            sub_agent_id: None,
            run_id: Some("run-1".into()),
            session_id: Some("s1".into()),
            tool_name: Some("run_shell_command".into()),
        };
        CallRecord {
            call_id: "c1".into(),
            server: "shell_tasks".into(),
            tool: "run_shell_command".into(),
            transport: Transport::InProcess,
            caller: "main",
            trace,
        }
    }

    fn envelope(ended: Ended, data: Value) -> Envelope {
        let answer = Answer {
            ended,
            data,
            text: "done".into(),
            opening: Opening::Sign,
            product: None,
            keep: Keep::Head,
            cuts: Vec::new(),
            private: Vec::new(),
            parts: Vec::new(),
        };
        let stamp = Stamp {
            server: "shell_tasks".into(),
            tool: "run_shell_command".into(),
            trace: record().trace,
            elapsed_ms: 5120,
            ts: "t".into(),
        };
        Envelope::seal(answer, stamp, TextLimits::default(), Lang::En)
    }

    fn parse(line: &str) -> Value {
        assert!(!line.contains('\n'));
        serde_json::from_str(line).unwrap()
    }

    #[test]
    fn the_call_line_has_the_documented_fields_in_their_order() {
        let line = record().call_line(
            "T",
            &json!({"command": "npm test", "password": "p"}),
            &[],
            &[],
            &Redactor::new(),
            LogRules::default(),
        );
        let trace = serde_json::to_string(&record().trace).unwrap();
        assert_eq!(
            line,
            format!(
                r#"{{"v":1,"ts":"T","type":"tool_call","callId":"c1","runId":"run-1","sessionId":"s1","server":"shell_tasks","toolName":"run_shell_command","transport":"inproc","caller":"main","size":37,"args":{{"command":"npm test","password":"[redacted:key]"}},"trace":{trace}}}"#
            )
        );
    }

    #[test]
    fn levels_differ() {
        let done = envelope(Ended::Ok, json!({"a": "b"}));
        let line = |level| {
            let rules = LogRules { level, field_chars: 4000 };
            parse(&record().finish_line(
                "T",
                &done,
                Finish { queued_ms: 1, waited_ms: 2 },
                &Redactor::new(),
                rules,
            ))
        };
        let info = line(LogLevel::Info);
        assert_eq!(
            (&info["type"], &info["queuedMs"], &info["waitedMs"]),
            (&json!("tool_result"), &json!(1), &json!(2))
        );
        assert!(info.get("data").is_none() && info.get("text").is_none());
        let mut hidden = envelope(Ended::Ok, json!({"values": {"pin": "1234", "a": "b"}}));
        hidden.private = vec!["/values/pin".into()];
        let rules = LogRules { level: LogLevel::Debug, field_chars: 4000 };
        let line_of = record().finish_line("T", &hidden, Finish::default(), &Redactor::new(), rules);
        assert_eq!(parse(&line_of)["data"], json!({"values": {"pin": "[redacted:secret]", "a": "b"}}));
        let debug = line(LogLevel::Debug);
        assert_eq!((&debug["data"]["a"], &debug["text"]), (&json!("b"), &json!("✓ done")));
    }

    #[test]
    fn a_failure_is_a_tool_error_with_its_reason() {
        let error = ToolError::new(
            Reason::Conflict { kind: ConflictKind::ChangedOnDisk, expected: None, found: None, path: None },
            Text::fixed("changed on disk, token=abc", "磁盘内容已改变"),
        );
        let line = parse(&record().finish_line(
            "T",
            &envelope(Ended::Failed(error), Value::Null),
            Finish::default(),
            &Redactor::new(),
            LogRules::default(),
        ));
        assert_eq!((&line["type"], &line["isError"]), (&json!("tool_error"), &json!(true)));
        assert_eq!(
            line["error"],
            json!({"type": "conflict", "message": "changed on disk, token=[redacted:assignment]"})
        );
    }

    #[test]
    fn no_record_is_larger_than_its_limit() {
        let wide: Vec<String> = (0..5000).map(|i| format!("{i:0100}")).collect();
        let lines = [
            json!({"contents": "x".repeat(10_000_000)}),
            json!({"many": wide}),
            json!({"deep": vec!["y".repeat(3000); 200]}),
        ];
        for arguments in lines {
            let line = record().call_line("T", &arguments, &[], &[], &Redactor::new(), LogRules::default());
            assert!(line.len() <= limits::LOG_RECORD_BYTES, "{}", line.len());
            assert_eq!(parse(&line)["callId"], "c1");
        }
        let cut = record().call_line(
            "T",
            &json!({"a": "x".repeat(5000)}),
            &[],
            &[],
            &Redactor::new(),
            LogRules::default(),
        );
        assert!(cut.contains("x…(1000 more chars)"));
    }
}
