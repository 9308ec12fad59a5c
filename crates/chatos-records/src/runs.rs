//! Reading runs: lists, steps, trees of spans, sums of tokens and money (agents §12, §15).

use std::sync::Arc;

use chatos_settings::Settings;
use chatos_store::{
    RunFilter, RunRow, StepRow, Store, StoreError, UsageBy, UsageRow, iso_from_ms, parse_time,
};
use chatos_tool::{ErrorCode, Fault, Redactor, Text};
use chatos_wire::run::{RunPage, RunQuery, RunView, SpanView, StepView, TraceView, UsageView};
use chatos_wire::{RunKind, RunState, StepKind, UnknownWord};
use serde_json::{Value, json};

use crate::views::{run_view, step_view, usage_view};

/// What one state keeps of its runs.
#[derive(Clone)]
pub struct RunRecords {
    store: Store,
    pub(crate) redactor: Arc<Redactor>,
    pub(crate) settings: Settings,
}

impl RunRecords {
    /// Reads this store; nothing leaves that `redactor` would hide.
    pub fn new(store: Store, redactor: Arc<Redactor>, settings: Settings) -> Self {
        Self { store, redactor, settings }
    }

    /// Reads off the async threads.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, Fault> {
        let store = self.store.clone();
        let done = chatos_blocking::run(move || work(&store)).await;
        done.map_err(|error| {
            Fault::new(ErrorCode::Internal, Text::same("reading what is kept of runs failed"))
                .caused_by(&error)
        })?
        .map_err(Fault::from)
    }

    /// Runs, newest first.
    pub async fn list(&self, query: RunQuery) -> Result<RunPage, Fault> {
        let limit = query.limit.unwrap_or(50).clamp(1, 200);
        let before = query.cursor.as_deref().map(parse_cursor).transpose()?;
        let filter = RunFilter {
            session_id: query.session_id,
            state: filter_word("state", query.state.as_deref(), RunState::ALL)?,
            kind: filter_word("kind", query.kind.as_deref(), RunKind::ALL)?,
            before,
            limit: limit + 1,
        };
        self.work(move |store| {
            let mut rows = store.runs(&filter)?;
            let more = rows.len() > limit as usize;
            rows.truncate(limit as usize);
            let last = rows.last().map(|row| format!("{}.{}", row.created_at, row.id));
            let items = rows
                .into_iter()
                .map(|row| {
                    let usage = usage_of(store, &row)?;
                    Ok(RunView { usage: Some(usage), ..run_view(row) })
                })
                .collect::<Result<_, StoreError>>()?;
            Ok(RunPage { items, next_cursor: last.filter(|_| more) })
        })
        .await
    }

    /// One run with its steps; with their whole inputs and outputs when `whole`.
    pub async fn show(&self, id: &str, whole: bool) -> Result<RunView, Fault> {
        let redactor = Arc::clone(&self.redactor);
        let wanted = id.to_owned();
        let found = self
            .work(move |store| {
                let Some(row) = store.run(&wanted)? else { return Ok(None) };
                whole_run(store, &redactor, row, whole).map(Some)
            })
            .await?;
        found.ok_or_else(|| no_run(id))
    }

    /// All spans of a trace.
    pub async fn trace(&self, trace_id: &str) -> Result<TraceView, Fault> {
        let redactor = Arc::clone(&self.redactor);
        let wanted = trace_id.to_owned();
        let spans = self.work(move |store| spans_of(store, &redactor, &wanted)).await?;
        if spans.is_empty() {
            return Err(Fault::new(
                ErrorCode::NotFound,
                Text::new(format!("there is no trace `{trace_id}`"), format!("没有跟踪 `{trace_id}`")),
            )
            .hint(Text::fixed(
                "`chatos runs show` names the trace of a run",
                "`chatos runs show` 会给出运行的跟踪 ID",
            )));
        }
        Ok(TraceView { trace_id: trace_id.to_owned(), spans })
    }

    /// Tokens and money by model, agent or day.
    pub async fn usage(&self, by: &str, since: Option<&str>) -> Result<Vec<UsageView>, Fault> {
        let by = match by {
            "model" | "" => UsageBy::Model,
            "agent" => UsageBy::Agent,
            "day" => UsageBy::Day,
            "session" => UsageBy::Session,
            other => {
                return Err(Fault::new(
                    ErrorCode::InvalidArgument,
                    Text::new(
                        format!("by: use model, agent, day or session, not `{other}`"),
                        format!("by：请使用 model、agent、day 或 session，而不是 `{other}`"),
                    ),
                ));
            }
        };
        let since = match since {
            None => 0,
            Some(text) => parse_time(text).ok_or_else(|| {
                Fault::new(
                    ErrorCode::InvalidArgument,
                    Text::new(
                        format!("since: `{text}` is not a date or time"),
                        format!("since：`{text}` 不是日期或时间"),
                    ),
                )
                .hint(Text::fixed("write it as 2026-01-31", "请写成 2026-01-31"))
            })?,
        };
        self.work(move |store| {
            let names: std::collections::HashMap<String, String> = match by {
                UsageBy::Model => store.models()?.into_iter().map(|model| (model.id, model.name)).collect(),
                UsageBy::Agent => store.agents()?.into_iter().map(|agent| (agent.id, agent.name)).collect(),
                _ => std::collections::HashMap::new(),
            };
            let sums = store.usage(by, since, None)?;
            Ok(sums
                .into_iter()
                .map(|sum| {
                    let name = names.get(&sum.key).cloned();
                    UsageView { name, ..usage_view(sum) }
                })
                .collect())
        })
        .await
    }
}

/// No chat has this id.
pub fn no_session(id: &str) -> Fault {
    Fault::new(ErrorCode::NotFound, Text::new(format!("there is no chat `{id}`"), format!("没有会话 `{id}`")))
        .hint(Text::fixed("the list of chats shows what there is", "会话列表会显示现有会话"))
}

/// Nothing is kept of a run with this id.
pub fn no_run(id: &str) -> Fault {
    Fault::new(ErrorCode::NotFound, Text::new(format!("there is no run `{id}`"), format!("没有运行 `{id}`")))
        .hint(Text::fixed("`chatos runs list` shows what there is", "`chatos runs list` 会列出现有运行"))
}

/// A word a list is narrowed by; one that is no word of its list is refused with those there are.
fn filter_word<T>(name: &str, text: Option<&str>, all: &[T]) -> Result<Option<T>, Fault>
where
    T: std::str::FromStr<Err = UnknownWord> + std::fmt::Display,
{
    let Some(text) = text else { return Ok(None) };
    text.parse().map(Some).map_err(|error: UnknownWord| {
        let words: Vec<String> = all.iter().map(T::to_string).collect();
        let words = words.join(", ");
        Fault::new(
            ErrorCode::InvalidArgument,
            Text::new(
                format!("{name}: there is no `{}`", error.word),
                format!("{name}：没有 `{}`", error.word),
            ),
        )
        .hint(Text::new(format!("use one of {words}"), format!("可用：{words}")))
    })
}

fn parse_cursor(text: &str) -> Result<(i64, String), Fault> {
    let parsed = text.split_once('.').and_then(|(at, id)| Some((at.parse().ok()?, id.to_owned())));
    parsed.ok_or_else(|| {
        Fault::new(
            ErrorCode::InvalidArgument,
            Text::fixed("cursor: not one of this list", "cursor：不属于此列表"),
        )
    })
}

/// Tokens and money of a run, its subagents included when it is a root.
fn usage_of(store: &Store, row: &RunRow) -> Result<Vec<UsageView>, StoreError> {
    let by = if row.root_run_id == row.id { UsageBy::RootRun } else { UsageBy::Run };
    Ok(store.usage(by, 0, Some(&row.id))?.into_iter().map(usage_view).collect())
}

pub(crate) fn whole_run(
    store: &Store,
    redactor: &Redactor,
    row: RunRow,
    whole: bool,
) -> Result<RunView, StoreError> {
    let usage = usage_of(store, &row)?;
    let used = store.usage_of_run(&row.id)?;
    let steps = store.steps(&row.id)?;
    let steps: Vec<StepView> = steps
        .into_iter()
        .map(|step| {
            let usage = step_usage(&used, &step);
            let view = step_view(store, redactor, step, whole);
            StepView { usage: usage.or(view.usage.clone()), ..view }
        })
        .collect();
    let children = store.child_runs(&row.id)?.into_iter().map(|run| run.id).collect();
    Ok(RunView { usage: Some(usage), steps: Some(steps), children: Some(children), ..run_view(row) })
}

fn step_usage(used: &[UsageRow], step: &StepRow) -> Option<Value> {
    let row = used.iter().find(|row| row.step_seq == Some(step.seq))?;
    Some(json!({
        "input": row.input, "output": row.output, "cacheRead": row.cache_read, "cacheWrite": row.cache_write,
        "estimated": row.estimated, "cost": row.cost,
        "currency": (!row.currency.is_empty()).then_some(&row.currency),
    }))
}

/// All spans of a trace, parents before their children.
pub(crate) fn spans_of(
    store: &Store,
    redactor: &Redactor,
    trace_id: &str,
) -> Result<Vec<SpanView>, StoreError> {
    let mut spans = Vec::new();
    let runs = store.runs_of_trace(trace_id)?;
    for run in &runs {
        let root = runs.iter().find(|root| root.id == run.root_run_id).unwrap_or(run);
        spans.push(run_span(store, run, &root.agent_id)?);
        let used = store.usage_of_run(&run.id)?;
        for step in store.steps(&run.id)? {
            let usage = step_usage(&used, &step);
            spans.push(step_span(store, redactor, run, &root.agent_id, step, usage));
        }
    }
    let edges: Vec<(String, String)> =
        spans.iter().filter_map(|span| Some((span.parent_span_id.clone()?, span.span_id.clone()))).collect();
    for span in &mut spans {
        span.children = edges
            .iter()
            .filter(|(parent, _)| *parent == span.span_id)
            .map(|(_, child)| child.clone())
            .collect();
    }
    Ok(spans)
}

fn nine(run: &RunRow, root_agent: &str, span: &str, parent: &str, tool: Option<&str>) -> Value {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    json!({
        "traceId": run.trace_id, "spanId": span, "parentSpanId": some(parent),
        "rootAgentId": some(root_agent), "agentId": some(&run.agent_id), "subAgentId": some(&run.subagent_id),
        "runId": run.id, "sessionId": some(&run.session_id), "toolName": tool,
    })
}

fn run_span(store: &Store, run: &RunRow, root_agent: &str) -> Result<SpanView, StoreError> {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let usage = store.usage(UsageBy::Run, 0, Some(&run.id))?;
    let usage: Vec<UsageView> = usage.into_iter().map(usage_view).collect();
    let name =
        if run.kind == RunKind::Sub { run.subagent_id.clone() } else { run.task.chars().take(60).collect() };
    Ok(SpanView {
        span_id: run.span_id.clone(),
        parent_span_id: some(&run.parent_span_id),
        kind: "run".to_owned(),
        name,
        server: None,
        server_name: None,
        tool: None,
        call_id: None,
        run_id: run.id.clone(),
        started_at: run.started_at.map(iso_from_ms),
        finished_at: run.finished_at.map(iso_from_ms),
        duration_ms: run.started_at.zip(run.finished_at).map(|(from, to)| to - from),
        status: run.state.to_string(),
        code: some(&run.error_code),
        sizes: None,
        usage: Some(json!(usage)),
        trace: nine(run, root_agent, &run.span_id, &run.parent_span_id, None),
        children: Vec::new(),
    })
}

fn step_span(
    store: &Store,
    redactor: &Redactor,
    run: &RunRow,
    root_agent: &str,
    step: StepRow,
    usage: Option<Value>,
) -> SpanView {
    let duration = step.started_at.zip(step.finished_at).map(|(from, to)| to - from);
    let parent =
        if step.parent_span_id.is_empty() { run.span_id.clone() } else { step.parent_span_id.clone() };
    let tool = (!step.tool.is_empty()).then(|| step.tool.clone());
    let trace = nine(run, root_agent, &step.span_id, &parent, tool.as_deref());
    let view = step_view(store, redactor, step, false);
    SpanView {
        name: match (&view.tool, view.kind) {
            (Some(tool), _) => tool.clone(),
            (None, StepKind::Model) => run.model_id.clone(),
            (None, kind) => kind.to_string(),
        },
        span_id: view.span_id,
        parent_span_id: Some(parent),
        kind: view.kind.to_string(),
        server: view.server,
        server_name: view.server_name,
        tool: view.tool,
        call_id: view.call_id,
        run_id: run.id.clone(),
        started_at: view.started_at,
        finished_at: view.finished_at,
        duration_ms: duration,
        status: view.status.unwrap_or_else(|| view.state.to_string()),
        code: view.code,
        sizes: view.sizes,
        usage,
        trace,
        children: Vec::new(),
    }
}
