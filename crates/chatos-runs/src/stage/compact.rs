//! A context made smaller, in the journal: summaries, marks, and how things stand beside the conversation
//! (working-day §2).

use chatos_agent::{CallStep, CompactKind, Compacted, Mark};
use chatos_store::{ChangeFilter, ContextMark, RunWrite, StepRow, StepWrite, SummaryRow, TaskFilter, now_ms};
use chatos_tool::{Fault, Lang};
use chatos_wire::chat_event::{ChatBody, CompactedBody};
use chatos_wire::run_line::RunLine;
use chatos_wire::{RunKind, RunState, StepKind, StepState};
use serde_json::{Value, json};

use super::state::{Inner, kept};

/// Open tasks that are named.
const TASKS: u32 = 50;
/// Changed files that are named.
const FILES: usize = 50;
/// Changes that are looked at for them.
const CHANGES: usize = 1_000;
/// Live shell sessions that are named.
const SESSIONS: usize = 20;

impl Inner {
    pub(super) fn plan_compact(
        &self,
        kind: CompactKind,
        from_seq: i64,
        to_seq: i64,
    ) -> Result<CallStep, Fault> {
        let row = self.row(StepKind::Compact);
        let step = CallStep { seq: row.seq, call_id: String::new(), span_id: row.span_id.clone() };
        let input = json!({ "kind": kind.as_str(), "fromSeq": from_seq, "toSeq": to_seq });
        let input = kept(self.store().keep(&input.to_string()))?;
        let steps = vec![StepWrite::Plan { row: Box::new(row), input }];
        kept(self.store().write_run(RunWrite { steps, ..self.moment() }))?;
        Ok(step)
    }

    pub(super) fn compacted(&self, step: &CallStep, done: Compacted) -> Result<(), Fault> {
        let id = uuid::Uuid::now_v7().to_string();
        let told = CompactedBody {
            kind: done.kind.as_str().to_owned(),
            summary_id: Some(id.clone()),
            messages: done.messages as u64,
            before_tokens: done.tokens_before,
            after_tokens: done.tokens_after,
        };
        let mut write = self.moment();
        if done.usage.input + done.usage.output > 0 {
            write.usage.push(self.usage_row(&done.usage, "", step.seq));
        }
        let kind = if done.mechanical { "mechanical" } else { done.kind.as_str() };
        write.summary = Some(SummaryRow {
            id,
            session_id: self.parts.transcript.clone(),
            from_seq: done.from_seq,
            to_seq: done.to_seq,
            text: done.text,
            tokens_before: Some(done.tokens_before as i64),
            tokens_after: Some(done.tokens_after as i64),
            model_id: self.parts.model_id.clone(),
            run_id: self.parts.run.id.clone(),
            created_at: now_ms(),
            block: done.block,
            kind: kind.to_owned(),
            messages: done.messages as i64,
            left_out: json!(done.left_out).to_string(),
        });
        write.steps.push(StepWrite::Finish {
            seq: step.seq,
            state: StepState::Done,
            status: "ok".to_owned(),
            code: String::new(),
            elapsed_ms: None,
            output: kept(self.store().keep(&json!(told).to_string()))?,
        });
        kept(self.store().write_run(write))?;
        self.tell_compacted(told, &step.span_id);
        Ok(())
    }

    /// A mark and its step are one write: it counts from the next request on, also after a restart.
    pub(super) fn marked(&self, mark: Mark) -> Result<(), Fault> {
        let blank = ContextMark {
            session_id: self.parts.transcript.clone(),
            run_id: self.parts.run.id.clone(),
            ..ContextMark::default()
        };
        let number = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        let mut told = None;
        let (input, row): (Value, ContextMark) = match mark {
            Mark::Prune { to_seq, messages, tokens, kind } => {
                told = Some(CompactedBody {
                    kind: kind.as_str().to_owned(),
                    summary_id: None,
                    messages: messages as u64,
                    before_tokens: tokens.0,
                    after_tokens: tokens.1,
                });
                let input = json!({ "kind": "prune", "toSeq": to_seq });
                (input, ContextMark { kind: "prune".to_owned(), to_seq, ..blank })
            }
            Mark::Squeeze { to_seq } => {
                let input = json!({ "kind": "squeeze", "toSeq": to_seq });
                (input, ContextMark { kind: "squeeze".to_owned(), to_seq, ..blank })
            }
            Mark::Window(said) => {
                let input = json!({
                    "kind": "window", "model": said.model_id, "window": said.window, "measured": said.measured,
                });
                let row = ContextMark {
                    kind: "window".to_owned(),
                    to_seq: said.to_seq,
                    model_id: said.model_id,
                    window: said.window.map(number),
                    bytes: said.measured.map(|measured| number(measured.0)),
                    tokens: said.measured.map(|measured| number(measured.1)),
                    ..blank
                };
                (input, row)
            }
        };
        let step = StepRow { state: StepState::Done, status: "ok".to_owned(), ..self.row(StepKind::Compact) };
        let span = step.span_id.clone();
        let input = kept(self.store().keep(&input.to_string()))?;
        kept(self.store().write_run(RunWrite {
            steps: vec![StepWrite::Plan { row: Box::new(step), input }],
            marks: vec![row],
            ..self.moment()
        }))?;
        if let Some(told) = told {
            self.tell_compacted(told, &span);
        }
        Ok(())
    }

    fn tell_compacted(&self, told: CompactedBody, span: &str) {
        self.parts.emitter.chat(ChatBody::ContextCompacted(told.clone()));
        self.parts.emitter.traced(RunLine::Summary(told), &self.span(span, None));
    }

    /// What a summary must not lose, from the host's own books.
    pub(super) fn how_things_stand(&self) -> Result<String, Fault> {
        let run = &self.parts.run;
        let sub = run.kind == RunKind::Sub;
        let en = self.parts.lang == Lang::En;
        let mut lines: Vec<String> = Vec::new();
        let filter = TaskFilter {
            session_id: if sub { String::new() } else { run.session_id.clone() },
            run_id: if sub { run.id.clone() } else { String::new() },
            open_only: true,
            ..TaskFilter::default()
        };
        let (tasks, _, _) = kept(self.store().list_tasks(&filter, TASKS, 0))?;
        if !tasks.is_empty() {
            lines.push(if en { "Open tasks:" } else { "未完成的任务：" }.to_owned());
            lines.extend(
                tasks.iter().rev().map(|task| format!("- {} [{}] {}", task.id, task.status, task.title)),
            );
        }
        let filter = ChangeFilter { run_id: run.id.clone(), ..ChangeFilter::default() };
        let (changes, more) = kept(self.store().changes(&filter, CHANGES))?;
        let mut files: Vec<(String, String)> = Vec::new();
        for change in changes {
            if files.len() < FILES && !files.iter().any(|(path, _)| *path == change.row.path) {
                files.push((change.row.path, change.row.change));
            }
        }
        if !files.is_empty() {
            lines.push(if en { "Files this run changed:" } else { "本次运行改动的文件：" }.to_owned());
            lines.extend(files.iter().map(|(path, change)| format!("- {path} ({change})")));
            if more || files.len() == FILES {
                lines.push("- …".to_owned());
            }
        }
        let live = kept(self.store().shell_sessions(200))?;
        let here = live.iter().filter(|session| {
            session.exited_at.is_none() && std::path::Path::new(&session.cwd).starts_with(&self.parts.workdir)
        });
        let here: Vec<String> = here
            .take(SESSIONS)
            .map(|session| {
                let command: String = session.command.chars().take(120).collect();
                format!("- {} {}: {command}", session.id, session.name)
            })
            .collect();
        if !here.is_empty() {
            lines.push(if en { "Shell sessions that run:" } else { "正在运行的终端会话：" }.to_owned());
            lines.extend(here);
        }
        let children = kept(self.store().child_runs(&run.id))?;
        let open = [RunState::Queued, RunState::Running, RunState::WaitingPrompt, RunState::WaitingAsync];
        let jobs: Vec<String> = children
            .iter()
            .filter(|child| open.contains(&child.state))
            .map(|child| format!("- {} {}", child.job_id.as_deref().unwrap_or(&child.id), child.task))
            .collect();
        if !jobs.is_empty() {
            lines.push(if en { "Subagents at work:" } else { "正在工作的子智能体：" }.to_owned());
            lines.extend(jobs);
        }
        Ok(lines.join("\n"))
    }
}
