//! A run as a file: lines, OpenTelemetry spans, or an archive that opens anywhere (agents §14).

pub(super) mod otlp;
mod reopen;
mod zip;

use chatos_store::{RunRow, SessionRow, Store, StoreError, iso_from_ms, now_ms};
use chatos_tool::{ErrorCode, Fault, Redactor, Text};
use chatos_wire::event::ChatChange;
use chatos_wire::session::SessionView;
use chatos_wire::{MessageKind, MessageRole, RunEnd, RunKind};
use serde_json::{Value, json};

pub use reopen::Reopened;

use super::read::{spans_of, whole_run};
use super::views::{message_view, run_view, session_view};
use super::{RunDesk, no_run};

/// A run as bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// A name for the file.
    pub name: String,
    /// Its type.
    pub mime: &'static str,
    /// Its content.
    pub bytes: Vec<u8>,
}

impl RunDesk {
    /// A run, with the runs of its sub agents, as a file. Nothing secret is in it.
    pub async fn export(&self, run_id: &str, format: &str) -> Result<Exported, Fault> {
        let host = self.host()?;
        let redactor = std::sync::Arc::clone(host.redactor());
        let id = run_id.to_owned();
        let found = self
            .work(move |store| {
                let Some(run) = store.run(&id)? else { return Ok(None) };
                let family = family(store, &run)?;
                Ok(Some((run, family)))
            })
            .await?;
        let (run, family) = found.ok_or_else(|| no_run(run_id))?;
        let name = format!("run-{}", run.id);
        match format {
            "jsonl" => {
                let bytes = self.work(move |store| lines(store, &redactor, &family)).await?;
                Ok(Exported { name: format!("{name}.jsonl"), mime: "application/x-ndjson", bytes })
            }
            "otlp" => {
                let content = host.settings().text("otlpContent") == "on";
                let bytes = self
                    .work(move |store| {
                        let document = otlp::of_trace(store, &redactor, &run.trace_id, content)?;
                        Ok(document.to_string().into_bytes())
                    })
                    .await?;
                Ok(Exported { name: format!("{name}.otlp.json"), mime: "application/json", bytes })
            }
            "chatosrun" => {
                let settings = public_settings(&host);
                let bytes =
                    self.work(move |store| archive(store, &redactor, &run, &family, &settings)).await?;
                Ok(Exported { name: format!("{name}.chatosrun"), mime: "application/zip", bytes })
            }
            other => Err(Fault::new(
                ErrorCode::InvalidArgument,
                Text::new(format!("there is no format `{other}`"), format!("没有格式 `{other}`")),
            )
            .hint(Text::fixed("use jsonl, otlp or chatosrun", "请使用 jsonl、otlp 或 chatosrun"))),
        }
    }

    /// A new chat whose history ends at a message of another, with the results of its calls.
    pub async fn fork(&self, session: &str, message: &str) -> Result<SessionView, Fault> {
        let (id, wanted) = (session.to_owned(), message.to_owned());
        let made = self.work(move |store| fork_at(store, &id, &wanted)).await?;
        let row = made.ok_or_else(|| {
            Fault::new(
                ErrorCode::NotFound,
                Text::new(
                    format!("this chat shows no message `{message}`"),
                    format!("此会话中没有显示消息 `{message}`"),
                ),
            )
        })?;
        self.sessions_changed(&row.id, ChatChange::Created);
        Ok(session_view(row, None, None))
    }

    /// A new chat whose history ends at a step of a run.
    pub async fn branch(&self, run_id: &str, step: i64) -> Result<SessionView, Fault> {
        let id = run_id.to_owned();
        let made = self
            .work(move |store| {
                let Some(run) = store.run(&id)? else { return Ok(None) };
                let steps = store.steps(&id)?;
                let Some(at) = steps.iter().find(|known| known.seq == step) else {
                    return Ok(Some(Err(step)));
                };
                branch_at(store, &run, at.started_at.unwrap_or(i64::MAX), at, step).map(|row| Some(Ok(row)))
            })
            .await?;
        let row = made.ok_or_else(|| no_run(run_id))?.map_err(|step| {
            Fault::new(
                ErrorCode::NotFound,
                Text::new(format!("the run has no step {step}"), format!("该运行没有步骤 {step}")),
            )
            .hint(Text::fixed("`chatos runs show` lists its steps", "`chatos runs show` 会列出其步骤"))
        })?;
        self.sessions_changed(&row.id, ChatChange::Created);
        Ok(session_view(row, None, None))
    }
}

/// A run and everything below it, parents first.
fn family(store: &Store, run: &RunRow) -> Result<Vec<RunRow>, StoreError> {
    let mut all = vec![run.clone()];
    let mut at = 0;
    while at < all.len() && all.len() < 1000 {
        let children = store.child_runs(&all[at].id)?;
        all.extend(children);
        at += 1;
    }
    Ok(all)
}

/// One line per thing that happened, in order; what replay shows.
fn lines(store: &Store, redactor: &Redactor, family: &[RunRow]) -> Result<Vec<u8>, StoreError> {
    let mut all: Vec<(i64, i64, Value)> = Vec::new();
    let shown = |text: &str| redactor.trimmed(text, 200);
    for run in family {
        let task = shown(&run.task);
        let line = json!({
            "type": "run_started", "at": run.created_at, "ts": iso_from_ms(run.created_at), "runId": run.id,
            "summary": task, "run": run_view(run.clone()),
        });
        all.push((run.created_at, 0, line));
        for row in store.messages_of_run(&run.id)? {
            let kind = match (row.role, row.kind) {
                (MessageRole::User, MessageKind::Correction) => MessageKind::Correction.as_str(),
                (MessageRole::System, _) => MessageKind::Notice.as_str(),
                (role, _) => role.as_str(),
            };
            let role = row.role;
            let (at, seq) = (row.created_at, row.seq);
            let view = message_view(store, row);
            let summary = match role {
                MessageRole::Tool => format!(
                    "{} → {} {}",
                    view.tool.as_deref().unwrap_or_default(),
                    view.status.as_deref().unwrap_or_default(),
                    shown(&view.content)
                ),
                _ if view.content.is_empty() => {
                    view.tool_calls.iter().map(|call| call.tool.clone()).collect::<Vec<_>>().join(", ")
                }
                _ => shown(&view.content),
            };
            let message = redactor.value(&json!(view), usize::MAX / 2);
            let line = json!({
                "type": kind, "at": at, "ts": iso_from_ms(at), "runId": run.id, "summary": summary,
                "message": message,
            });
            all.push((at, seq, line));
        }
        let view = whole_run(store, redactor, run.clone(), true)?;
        for step in view.steps.into_iter().flatten() {
            let at = run.created_at;
            let summary = format!(
                "{} {} {}",
                step.kind,
                step.tool.as_deref().unwrap_or_default(),
                step.status.as_deref().unwrap_or(step.state.as_str())
            );
            let line = json!({
                "type": "step", "at": step.started_at.as_deref().and_then(chatos_store::parse_time).unwrap_or(at),
                "ts": step.started_at, "runId": run.id, "summary": summary, "step": step,
            });
            all.push((line["at"].as_i64().unwrap_or(at), i64::MAX, line));
        }
        if let Some(at) = run.finished_at {
            let line = json!({
                "type": "run_finished", "at": at, "ts": iso_from_ms(at), "runId": run.id, "summary": run.state,
                "state": run.state, "stopReason": run.stop_reason.map_or("", RunEnd::as_str),
            });
            all.push((at, i64::MAX, line));
        }
    }
    all.sort_by_key(|(at, seq, _)| (*at, *seq));
    let mut bytes = Vec::new();
    for (_, _, line) in all {
        bytes.extend_from_slice(line.to_string().as_bytes());
        bytes.push(b'\n');
    }
    Ok(bytes)
}

/// Settings that differ from their defaults, without anything secret.
fn public_settings(host: &crate::host::Host) -> Value {
    let changed: serde_json::Map<String, Value> = chatos_settings::SETTINGS
        .iter()
        .filter_map(|spec| Some((spec.key.to_owned(), host.settings().effective(spec.key)?.value)))
        .map(|(key, value)| (key, host.redactor().value(&value, 2000)))
        .collect();
    Value::Object(changed)
}

fn archive(
    store: &Store,
    redactor: &Redactor,
    run: &RunRow,
    family: &[RunRow],
    settings: &Value,
) -> Result<Vec<u8>, StoreError> {
    let mut runs = Vec::new();
    let mut blobs = std::collections::BTreeSet::new();
    for row in family {
        for step in store.steps(&row.id)? {
            blobs.extend([step.input_blob, step.output_blob].into_iter().filter(|column| column.len() == 64));
        }
        runs.push(whole_run(store, redactor, row.clone(), true)?);
    }
    let manifest = json!({
        "format": "chatosrun", "version": 1, "runId": run.id, "traceId": run.trace_id,
        "exportedAt": iso_from_ms(now_ms()), "chatos": crate::VERSION,
    });
    let mut zip = zip::Zip::default();
    zip.add("manifest.json", manifest.to_string().as_bytes());
    zip.add("runs.json", json!(runs).to_string().as_bytes());
    zip.add("events.jsonl", &lines(store, redactor, family)?);
    zip.add("settings.json", settings.to_string().as_bytes());
    zip.add("trace.json", json!(spans_of(store, redactor, &run.trace_id)?).to_string().as_bytes());
    for sha256 in blobs {
        // What a blob holds is redacted like everything else; its name stays that of the original.
        if let Some(text) = store.kept(&sha256) {
            zip.add(&format!("blobs/{sha256}"), redactor.text(&text).as_bytes());
        }
    }
    Ok(zip.finish())
}

/// Copies what a chat shows, up to a message, into a new one.
fn fork_at(store: &Store, session: &str, message: &str) -> Result<Option<SessionRow>, StoreError> {
    let Some(old) = store.session(session)? else { return Ok(None) };
    let rows = store.messages_after(session, 0)?;
    let Some(at) = rows.iter().position(|row| row.id == message && !row.partial) else { return Ok(None) };
    let results = rows[at + 1..].iter().take_while(|row| row.role == MessageRole::Tool).count();
    let now = now_ms();
    let made = SessionRow {
        id: uuid::Uuid::now_v7().to_string(),
        title: format!("↳ {}", old.title),
        agent_id: old.agent_id,
        model_id: old.model_id,
        workspace_root: old.workspace_root,
        branched_from_run: rows[at].run_id.clone(),
        created_at: now,
        updated_at: now,
        ..SessionRow::default()
    };
    let made = store.create_session(made)?;
    for row in rows.into_iter().take(at + 1 + results) {
        store.append_message(copy(store, &made.id, row)?)?;
    }
    Ok(Some(made))
}

/// Copies the history up to a step into a new chat.
fn branch_at(
    store: &Store,
    run: &RunRow,
    at: i64,
    step: &chatos_store::StepRow,
    number: i64,
) -> Result<SessionRow, StoreError> {
    let transcript = if run.kind == RunKind::Sub { &run.id } else { &run.session_id };
    let old = store.session(transcript)?;
    let now = now_ms();
    let title = old.as_ref().map(|old| old.title.clone()).unwrap_or_default();
    let session = SessionRow {
        id: uuid::Uuid::now_v7().to_string(),
        title: format!("↳ {title}"),
        agent_id: run.agent_id.clone(),
        model_id: old.as_ref().map(|old| old.model_id.clone()).unwrap_or_default(),
        workspace_root: old.map(|old| old.workspace_root).unwrap_or_default(),
        branched_from_run: run.id.clone(),
        branched_at_step: Some(number),
        created_at: now,
        updated_at: now,
        ..SessionRow::default()
    };
    // A step of a model or a tool is part of the history; what came of later ones is not.
    let until = step.finished_at.unwrap_or(at);
    let session = store.create_session(session)?;
    for row in store.messages_after(transcript, 0)? {
        if row.created_at > until || row.partial {
            break;
        }
        store.append_message(copy(store, &session.id, row)?)?;
    }
    Ok(session)
}

fn copy(
    store: &Store,
    session: &str,
    row: chatos_store::MessageRow,
) -> Result<chatos_store::NewMessage, StoreError> {
    let again = |column: &str| match store.kept(column) {
        Some(text) => store.keep(&text),
        None => Ok(chatos_store::Kept::default()),
    };
    let structured = again(&row.structured_blob)?;
    let mut calls = Vec::new();
    for call in &row.tool_calls {
        calls.push((call.clone(), again(&call.args_blob)?));
    }
    let mut files = Vec::new();
    for file in &row.attachments {
        let Some(kept) = store.kept_blob(&file.blob) else { continue };
        let copy = chatos_store::AttachmentRow { id: uuid::Uuid::now_v7().to_string(), ..file.clone() };
        files.push((copy, kept, again(&file.text_blob)?));
    }
    let row = chatos_store::MessageRow {
        id: uuid::Uuid::now_v7().to_string(),
        session_id: session.to_owned(),
        // The run stays where it was: a copy belongs to none.
        run_id: String::new(),
        version_of: String::new(),
        left_with: String::new(),
        ..row
    };
    Ok(chatos_store::NewMessage { row, structured, calls, files })
}
