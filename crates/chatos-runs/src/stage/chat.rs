//! The chat of a run as the loop reads it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chatos_agent::{Entry, Marks, Origin, Speaker, StepFacts, Summary, Transcript, WindowMark};
use chatos_documents::Native;
use chatos_model::{Document, Image, Reasoning, ToolCall};
use chatos_prompts::{ItemState, RequestId};
use chatos_store::{AttachmentRow, MessageRow, StepRow};
use chatos_tool::Fault;
use chatos_wire::{MessageKind, MessageRole, RunState, StepKind, StepState};
use serde_json::Value;

use super::super::parts::RunParts;
use super::state::{Inner, kept};

/// Newest pictures of a chat that are read for a request, of which fewer are sent.
const PICTURES: usize = 40;

impl Inner {
    pub(super) fn read_chat(&self) -> Result<Transcript, Fault> {
        let store = self.store();
        let run = &self.parts.run;
        let summary = kept(store.summaries(&self.parts.transcript))?.pop();
        let covered = summary.as_ref().map_or(0, |summary| summary.to_seq);
        let left_out: Vec<String> = summary
            .as_ref()
            .and_then(|summary| serde_json::from_str(&summary.left_out).ok())
            .unwrap_or_default();
        // What waited for its turn lies before the end of what another run summarised.
        let own = kept(store.message(&run.user_message_id))?.map_or(i64::MAX, |message| message.seq);
        let mut after = covered.min(own.saturating_sub(1));
        for id in &left_out {
            let first = kept(store.messages_of_run(id))?.first().map_or(i64::MAX, |message| message.seq);
            after = after.min(first.saturating_sub(1));
        }
        let rows = kept(store.messages_after(&self.parts.transcript, after))?;
        let queued: Vec<String> = kept(store.open_runs(&run.session_id))?
            .into_iter()
            .filter(|other| {
                other.id != run.id && matches!(other.state, RunState::Queued | RunState::Interrupted)
            })
            .filter(|other| (other.created_at, &other.id) > (run.created_at, &run.id))
            .map(|other| other.id)
            .collect();
        let images = |row: &MessageRow| row.attachments.iter().filter(|file| file.kind == "image").count();
        // Older ones are in no request any more.
        let mut unread = rows.iter().map(images).sum::<usize>().saturating_sub(PICTURES);
        let native = self.native(&rows);
        let mut blocks: HashMap<String, String> =
            kept(store.message_blocks(&self.parts.transcript))?.into_iter().collect();
        let entries: Vec<Entry> = rows
            .into_iter()
            .map(|row| Entry {
                block: blocks.remove(&row.id).unwrap_or_default(),
                ..self.entry(row, &mut unread, &native)
            })
            .collect();
        let open = entries.iter().any(|entry| {
            entry.run_id == run.id
                && entry.calls.iter().any(|call| !entries.iter().any(|result| result.call_id == call.id))
        });
        let steps = if open { asked(self.ports(), kept(store.steps(&run.id))?) } else { Vec::new() };
        let summary = summary.map(|row| Summary {
            // What an older program kept has no block of its own.
            block: if row.block.is_empty() {
                format!("[conversation_summary]\n{}", row.text)
            } else {
                row.block
            },
            id: row.id,
            to_seq: row.to_seq,
            run_id: row.run_id,
            text: row.text,
            left_out,
        });
        let marks = marks(kept(store.context_marks(&self.parts.transcript))?);
        Ok(Transcript { entries, summary, queued, steps, marks })
    }

    fn entry(&self, row: MessageRow, unread: &mut usize, native: &HashSet<String>) -> Entry {
        let store = self.store();
        let opaque: Value = serde_json::from_str(&row.opaque).unwrap_or_default();
        let reasoning: Vec<Reasoning> = opaque
            .get("reasoning")
            .and_then(|value| serde_json::from_value(value.clone()).ok())
            .unwrap_or_default();
        let word = |member: &str| opaque[member].as_str().unwrap_or_default().to_owned();
        let speaker = match (row.role, row.kind) {
            (_, MessageKind::Notice) | (MessageRole::System, _) => Speaker::Notice,
            (MessageRole::Assistant, _) => Speaker::Assistant,
            (MessageRole::Tool, _) => Speaker::Tool,
            (MessageRole::User, _) => Speaker::User,
        };
        let calls = row.tool_calls.iter().enumerate().map(|(index, call)| ToolCall {
            id: call.call_id.clone(),
            name: call.name.clone(),
            arguments: store.kept(&call.args_blob).unwrap_or_default(),
            opaque: opaque.pointer(&format!("/calls/{index}")).filter(|part| !part.is_null()).cloned(),
        });
        let (mut text, mut images, mut documents) = (row.content, Vec::new(), Vec::new());
        for file in &row.attachments {
            if file.kind == "image" && !file.origin.is_empty() {
                let (name, from) = (&file.name, &file.origin);
                text.push_str(&format!("\n\n[picture {name}, attached by the person from {from}]"));
            }
            if let Some(document) = native.contains(&file.id).then(|| self.document(file)).flatten() {
                text.push_str(&document.label);
                documents.push(document);
            } else if file.kind != "image" {
                text.push_str(&self.file_text(file));
            } else if !self.parts.vision && speaker != Speaker::Tool {
                text.push_str("\n[an image that this model cannot see]");
            } else if *unread > 0 && self.parts.vision {
                *unread -= 1;
                images.push(Image::default());
            } else if let Some(bytes) = store.blob(&file.blob) {
                let pixels = chatos_pictures::size_of(&bytes);
                if self.parts.vision {
                    images.push(Image { mime: file.mime.clone(), data: STANDARD.encode(bytes), pixels });
                } else {
                    let words = chatos_pictures::in_words(&file.mime, pixels, bytes.len());
                    chatos_agent::unseen(&mut text, &words, &file.blob);
                }
            }
        }
        Entry {
            calls: calls.collect(),
            images,
            documents,
            id: row.id,
            seq: row.seq,
            run_id: row.run_id,
            speaker,
            text,
            block: String::new(),
            reasoning,
            origin: Origin { protocol: word("protocol"), host: word("host"), model: word("model") },
            measured: opaque["measured"][0].as_u64().zip(opaque["measured"][1].as_u64()),
            call_id: row.tool_call_id,
            tool_name: row.tool_name,
            is_error: row.is_error,
            partial: row.partial,
        }
    }

    /// The files that go along as they are, the newest first.
    fn native(&self, rows: &[MessageRow]) -> HashSet<String> {
        let mut left = self.parts.native;
        let files = rows.iter().rev().flat_map(|row| row.attachments.iter().rev());
        let fits = |file: &&AttachmentRow| {
            if left == Native::none() || file.text_blob.is_empty() {
                return false;
            }
            let text = self.store().kept(&file.text_blob).unwrap_or_default();
            left.takes(&file.mime, file.size.unsigned_abs(), &text)
        };
        files.filter(fits).map(|file| file.id.clone()).collect()
    }

    fn document(&self, file: &AttachmentRow) -> Option<Document> {
        let bytes = self.store().blob(&file.blob)?;
        let text = self.store().kept(&file.text_blob)?;
        let (label, tokens) = chatos_documents::label(&file.name, &file.origin, &file.id, &text);
        let (name, mime, data) = (file.name.clone(), file.mime.clone(), STANDARD.encode(bytes));
        Some(Document { name, mime, data, tokens, label, text: self.file_text(file) })
    }

    /// A file beside a message, as text.
    fn file_text(&self, file: &AttachmentRow) -> String {
        let text = chatos_calls::text_of(self.store(), file);
        let text = text.map(|text| chatos_agent::cut_result(&text, self.parts.result_chars, Some(&file.id)));
        chatos_documents::in_message(&file.name, &file.origin, &file.mime, file.size, text.as_deref())
    }
}

/// What was found out about the chat's context.
fn marks(rows: Vec<chatos_store::ContextMark>) -> Marks {
    let mut marks = Marks::default();
    for row in rows {
        let number = |value: Option<i64>| value.and_then(|value| u64::try_from(value).ok());
        match row.kind.as_str() {
            "prune" => marks.pruned_to = marks.pruned_to.max(row.to_seq),
            "squeeze" => marks.squeezed_to = marks.squeezed_to.max(row.to_seq),
            _ => marks.windows.push(WindowMark {
                window: number(row.window),
                measured: number(row.bytes).zip(number(row.tokens)),
                model_id: row.model_id,
                to_seq: row.to_seq,
            }),
        }
    }
    marks
}

/// The newest step of each call. A built-in tool that waited for a person when the host stopped has done
/// nothing yet while its question is open or its approval is unused, whenever the answer came and whoever
/// took it: it goes on with the same question (agents §8). One that may be repeated finds the answer it had.
pub(super) fn asked(parts: &Arc<RunParts>, rows: Vec<StepRow>) -> Vec<StepFacts> {
    let own: HashMap<i64, &'static str> =
        rows.iter().filter_map(|row| Some((row.seq, built_in(&row.server_identity)?))).collect();
    let run_id = rows.first().map(|row| row.run_id.clone()).unwrap_or_default();
    let mut steps = facts(rows);
    mark_open_asks(&parts.store, &run_id, &mut steps);
    // Asked together with others and not begun: what the host withdrew when it stopped is asked anew.
    for step in steps.iter_mut().filter(|step| !step.sent && own.contains_key(&step.seq)) {
        let id = step.request_id.as_deref().and_then(|id| RequestId::parse(id).ok());
        let item = id.and_then(|id| parts.inbox.questions().ok()?.prompts().get(&id));
        let by = item.and_then(|item| item.answer?.by);
        if by.is_some_and(|by| by.starts_with("host:")) {
            step.request_id = None;
        }
    }
    for step in steps.iter_mut().filter(|step| step.sent) {
        let Some(server) = own.get(&step.seq) else { continue };
        // Tools that only ask have no other effect.
        let only_asks = *server == "ui_prompter";
        let Some(id) = step.request_id.clone() else {
            step.sent = !only_asks;
            continue;
        };
        let (Ok(desk), Ok(request)) = (parts.inbox.questions(), RequestId::parse(&id)) else { continue };
        if desk.prompts().ready_within(Duration::from_secs(30)).is_err() {
            continue;
        }
        // Written down and never asked: the tool had not come further.
        let Some(item) = desk.prompts().get(&request) else {
            step.asked = Some(id);
            continue;
        };
        let harmless = step.read_only || step.idempotent || only_asks;
        match (&item.state, &item.answer) {
            (ItemState::Pending, _) => step.asked = Some(id),
            // The host withdrew it when it stopped: the tool heard no yes.
            (_, Some(answer)) if answer.by.as_deref().is_some_and(|by| by.starts_with("host:")) => {
                (step.sent, step.request_id) = (false, None);
            }
            (_, Some(_)) if harmless => step.asked = Some(id),
            // What was not allowed did not happen, and what was allowed happens after the approval is used.
            (_, Some(_)) if !is_used(parts, &id) => step.asked = Some(id),
            _ => {}
        }
    }
    steps
}

/// Whether an approval was used. Where nobody can say, it may have been.
fn is_used(parts: &RunParts, id: &str) -> bool {
    let Ok(request) = RequestId::parse(id) else { return false };
    match parts.inbox.questions() {
        Ok(desk) => desk.prompts().is_used(&request).unwrap_or(true),
        Err(_) => true,
    }
}

/// The built-in server with this identity.
fn built_in(identity: &str) -> Option<&'static str> {
    let id = identity.strip_prefix("admin:")?;
    let mut all = chatos_builtin::server_names().filter_map(chatos_builtin::server_info);
    all.find(|info| info.id == id).map(|info| info.name)
}

/// Which calls wait for an answer that a modern server gets with the call sent again.
pub(super) fn mark_open_asks(store: &chatos_store::Store, run_id: &str, steps: &mut [StepFacts]) {
    let open = match store.open_asks() {
        Ok(open) => open,
        Err(error) => {
            // Without them such a call is asked about, never repeated.
            tracing::warn!(%error, "open questions of servers cannot be read");
            return;
        }
    };
    for step in steps {
        let key = chatos_agent::call_key(Some(run_id), &step.call_id);
        step.open_ask = open.iter().any(|row| row.call_id == key);
    }
}

/// The newest step of each call, with what a person decided about it.
pub(super) fn facts(rows: Vec<StepRow>) -> Vec<StepFacts> {
    let mut newest: HashMap<String, StepFacts> = HashMap::new();
    for row in rows {
        let detail: Value = serde_json::from_str(&row.detail).unwrap_or_default();
        if row.kind == StepKind::Prompt {
            let about = detail["for"].as_str().unwrap_or_default();
            if row.status == "again"
                && let Some(step) = newest.get_mut(about)
            {
                step.run_again = true;
                step.approved = super::person::question_of(&detail);
            }
            continue;
        }
        let (Some(call_id), StepKind::Tool) = (row.call_id.clone(), row.kind) else { continue };
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let cursor = detail["cursor"].as_u64().unwrap_or_default();
        let step = StepFacts {
            seq: row.seq,
            call_id: call_id.clone(),
            sent: matches!(row.state, StepState::Sent | StepState::Uncertain),
            read_only: row.read_only,
            idempotent: row.idempotent,
            attempt: row.attempt,
            request_id: some(&row.request_id),
            task: some(&row.task_id).map(|id| (id, cursor)),
            ack_id: detail["ackId"].as_str().map(str::to_owned),
            open_ask: false,
            mcp_task: detail["mcpTask"].as_str().map(str::to_owned),
            child_run_id: some(&row.child_run_id),
            asked: None,
            run_again: false,
            approved: None,
        };
        // It was about to be run again and had not gone out.
        let step = match newest.remove(&call_id) {
            Some(before) if !step.sent && step.request_id.is_none() => {
                StepFacts { approved: before.approved, ..step }
            }
            _ => step,
        };
        newest.insert(call_id, step);
    }
    newest.into_values().collect()
}
