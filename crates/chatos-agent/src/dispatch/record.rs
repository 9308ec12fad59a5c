//! The lines of the tool log for everything that is not a built-in server's, and the end of every call
//! (tools §8). The layer of the built-in servers writes its own.

use std::sync::Arc;
use std::time::Duration;

use chatos_mcp::{Block, Extra};
use chatos_policy::Role;
use chatos_tool::{Answer, CallRecord, Envelope, Finish, Keep, Lang, LogLevel, Stamp, Transport, truncate};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::answer::{self, Ended, millis};
use super::ports::{CallSettings, Ports, ToolEvent};
use super::{CallEnd, CallOrder, Refused};

/// A call that has its line in the log.
pub(super) struct Record<'a> {
    ports: &'a Arc<dyn Ports>,
    settings: CallSettings,
    record: CallRecord,
    lang: Lang,
    arguments: Map<String, Value>,
    // Level `error` writes the call only when it failed.
    held_back: Option<String>,
}

impl<'a> Record<'a> {
    /// Writes the beginning.
    pub(super) fn begin(
        ports: &'a Arc<dyn Ports>,
        settings: &CallSettings,
        order: &CallOrder,
        server: &str,
        tool: &str,
        transport: Transport,
    ) -> Self {
        let record = CallRecord {
            call_id: order.call_id.clone(),
            server: server.to_owned(),
            tool: tool.to_owned(),
            transport,
            caller: caller(order.role),
            trace: order.trace.clone(),
        };
        let mut this = Self {
            ports,
            settings: settings.clone(),
            record,
            lang: order.lang,
            arguments: order.arguments.clone(),
            held_back: None,
        };
        this.log_call(&order.arguments);
        this
    }

    /// A call that is refused before it has a server.
    pub(super) fn refused(
        ports: &'a Arc<dyn Ports>,
        settings: &CallSettings,
        order: &mut CallOrder,
        refused: &Refused,
    ) -> Self {
        order.trace.tool_name = Some(refused.tool.clone());
        Self::begin(ports, settings, order, &refused.server, &refused.tool, Transport::InProcess)
    }

    fn log_call(&mut self, arguments: &Map<String, Value>) {
        let rules = self.settings.log;
        if rules.level == LogLevel::Off {
            return;
        }
        let arguments = Value::Object(arguments.clone());
        let redactor = self.ports.redactor();
        let line = self.record.call_line(&now(), &arguments, &[], &[], &redactor, rules);
        if rules.level == LogLevel::Error {
            self.held_back = Some(line);
        } else {
            self.ports.log(line);
        }
    }

    /// Makes the envelope, writes the end and tells it.
    pub(super) fn finish(self, ended: Ended, elapsed: Duration, waited_ms: u64) -> CallEnd {
        let elapsed_ms = millis(elapsed).saturating_sub(waited_ms);
        let stamp = Stamp {
            server: self.record.server.clone(),
            tool: self.record.tool.clone(),
            trace: self.record.trace.clone(),
            elapsed_ms,
            ts: now(),
        };
        let end = self.end(ended, stamp);
        self.log_end(&end.envelope, waited_ms);
        self.ports.event(ToolEvent::Finished { envelope: &end.envelope });
        audit(self.ports, &end.envelope, &self.arguments);
        end
    }

    fn end(&self, ended: Ended, stamp: Stamp) -> CallEnd {
        let elapsed_ms = stamp.elapsed_ms;
        let limits = self.settings.text;
        match ended {
            Ended::Failed { error, certain } => {
                let envelope = Envelope::seal(Answer::failed(error), stamp, limits, self.lang);
                end_of(envelope, certain)
            }
            Ended::Answered { blocks, structured, extra, is_error, problems, warnings } => {
                for warning in warnings {
                    tracing::warn!(server = stamp.server, tool = stamp.tool, "{warning}");
                }
                let (status, code) = answer::status_of(is_error);
                let mut whole = answer::text_of(&blocks, structured.as_ref(), &problems);
                // A model that gets something to read must still learn why it is no success.
                let reasons = problems.join("; ");
                if is_error && !whole.ends_with(&reasons) {
                    whole = format!("{whole}\n[{reasons}]");
                }
                let (text, cut) = match truncate::fit_text(&whole, limits, Keep::HeadTail, self.lang) {
                    Some(shorter) => shorter,
                    None => (whole, None),
                };
                let mut data = structured.clone().unwrap_or(Value::Null);
                let mut cuts = truncate::fit_data(&mut data, limits.data_bytes());
                cuts.extend(cut);
                let error = is_error.then(|| answer::told_error(&text));
                let size = text.len() + truncate::compact_len(&data);
                let envelope = Envelope {
                    status,
                    code,
                    data,
                    error,
                    text,
                    product: None,
                    size,
                    cuts,
                    private: Vec::new(),
                    parts: Vec::new(),
                    stamp,
                };
                CallEnd { envelope, blocks, structured, extra, is_error, elapsed_ms, certain: true }
            }
        }
    }

    fn log_end(&self, envelope: &Envelope, waited_ms: u64) {
        let rules = self.settings.log;
        let wanted = match rules.level {
            LogLevel::Off => false,
            LogLevel::Error => envelope.status.is_error(),
            LogLevel::Info | LogLevel::Debug => true,
        };
        if !wanted {
            return;
        }
        let redactor = self.ports.redactor();
        let finish = Finish { queued_ms: 0, waited_ms };
        let line = self.record.finish_line(&envelope.stamp.ts, envelope, finish, &redactor, rules);
        match &self.held_back {
            Some(call) => self.ports.log(format!("{call}\n{line}")),
            None => self.ports.log(line),
        }
    }
}

/// security T22: who called what and how it ended; of the arguments only their digest.
pub(super) fn audit(ports: &Arc<dyn Ports>, envelope: &Envelope, arguments: &Map<String, Value>) {
    let mut hash = Sha256::new();
    let arguments = Value::Object(arguments.clone());
    chatos_tool::canonical(&arguments, &mut |part| hash.update(part));
    let digest: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    let stamp = &envelope.stamp;
    ports.audit(
        "tool_call",
        json!({
            "server": stamp.server, "tool": stamp.tool, "arguments": digest,
            "argumentBytes": truncate::compact_len(&arguments), "size": envelope.size,
            "status": envelope.status.as_str(), "code": envelope.code, "traceId": stamp.trace.trace_id,
            "spanId": stamp.trace.span_id, "runId": stamp.trace.run_id, "agentId": stamp.trace.agent_id,
        }),
    );
}

/// The end of a call whose envelope is there already.
pub(super) fn end_of(envelope: Envelope, certain: bool) -> CallEnd {
    let elapsed_ms = envelope.stamp.elapsed_ms;
    let is_error = envelope.status.is_error();
    let blocks = vec![Block::Text(envelope.text.clone())];
    let structured = envelope.structured();
    CallEnd { envelope, blocks, structured, extra: Extra::default(), is_error, elapsed_ms, certain }
}

fn caller(role: Role) -> &'static str {
    match role {
        Role::Main => "main",
        Role::Sub => "subagent",
    }
}

pub(super) fn now() -> String {
    chatos_prompts::format_ms(jiff::Timestamp::now().as_millisecond())
}
