//! A run as a file: lines, OpenTelemetry spans, or an archive that opens anywhere (agents §14).

pub(crate) mod otlp;
mod reopen;
mod zip;

use chatos_store::{RunRow, Store, StoreError, iso_from_ms, now_ms};
use chatos_tool::{ErrorCode, Fault, Redactor, Text};
use chatos_wire::{MessageKind, MessageRole, RunEnd};
use serde_json::{Value, json};

pub use reopen::Reopened;

use crate::runs::{RunRecords, no_run, spans_of, whole_run};
use crate::views::{message_view, run_view};

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

impl RunRecords {
    /// A run, with the runs of its subagents, as a file. Nothing secret is in it.
    pub async fn export(&self, run_id: &str, format: &str) -> Result<Exported, Fault> {
        let redactor = std::sync::Arc::clone(&self.redactor);
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
                let content = self.settings.text("otlpContent") == "on";
                let bytes = self
                    .work(move |store| {
                        let document = otlp::of_trace(store, &redactor, &run.trace_id, content)?;
                        Ok(document.to_string().into_bytes())
                    })
                    .await?;
                Ok(Exported { name: format!("{name}.otlp.json"), mime: "application/json", bytes })
            }
            "chatosrun" => {
                let settings = self.public_settings();
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

    /// Settings that differ from their defaults, without anything secret.
    fn public_settings(&self) -> Value {
        let changed: serde_json::Map<String, Value> = chatos_settings::SETTINGS
            .iter()
            .filter_map(|spec| Some((spec.key.to_owned(), self.settings.effective(spec.key)?.value)))
            .map(|(key, value)| (key, self.redactor.value(&value, 2000)))
            .collect();
        Value::Object(changed)
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
        "exportedAt": iso_from_ms(now_ms()), "chatos": env!("CARGO_PKG_VERSION"),
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
