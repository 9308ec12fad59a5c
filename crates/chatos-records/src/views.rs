//! Chats, messages and runs as the API, the events and exports show them.

use chatos_store::{
    AttachmentRow, MessageRow, RunRow, SessionRow, StepRow, Store, SummaryRow, UsageSum, iso_from_ms,
};
use chatos_wire::MessageRole;
use chatos_wire::run::{RunError, RunView, Sizes, StepView, UsageView};
use chatos_wire::session::{AttachmentView, MessageView, RunBrief, SessionView, SummaryView, ToolCallView};
use serde_json::Value;

fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

pub fn session_view(row: SessionRow, run: Option<RunBrief>, usage: Option<Vec<UsageView>>) -> SessionView {
    SessionView {
        running: run.as_ref().is_some_and(|run| run.state.is_active()),
        run,
        id: row.id,
        title: row.title,
        agent_id: row.agent_id,
        model_id: some(&row.model_id),
        workspace_root: row.workspace_root,
        pinned: row.pinned,
        archived_at: row.archived_at.map(iso_from_ms),
        created_at: iso_from_ms(row.created_at),
        updated_at: iso_from_ms(row.updated_at),
        last_message_at: row.last_message_at.map(iso_from_ms),
        branched_from_run: some(&row.branched_from_run),
        imported_at: row.imported_at.map(iso_from_ms),
        made_by: None,
        pending_root: None,
        usage,
    }
}

/// A message with what its row refers to.
pub fn message_view(store: &Store, row: MessageRow) -> MessageView {
    let tool = row.role == MessageRole::Tool;
    let structured = some(&row.structured_blob)
        .and_then(|column| store.kept(&column))
        .and_then(|text| serde_json::from_str(&text).ok());
    let session = row.session_id.clone();
    let opaque: Value = serde_json::from_str(&row.opaque).unwrap_or_default();
    let versions = match row.role {
        MessageRole::User => store.versions(&row.id, &row.version_of).unwrap_or_else(|error| {
            tracing::warn!(%error, message = row.id, "the versions of a message cannot be read");
            Vec::new()
        }),
        _ => Vec::new(),
    };
    MessageView {
        versions,
        run_id: some(&row.run_id),
        seq: row.seq,
        reasoning: some(&row.reasoning),
        attachments: row.attachments.into_iter().map(|file| attachment(&session, file)).collect(),
        tool_calls: row
            .tool_calls
            .into_iter()
            .map(|call| ToolCallView {
                call_id: call.call_id,
                name: call.name,
                server: call.server,
                tool: call.tool,
                args: call.args_preview,
            })
            .collect(),
        tool_call_id: some(&row.tool_call_id),
        tool_name: some(&row.tool_name),
        server: some(&row.server),
        tool: some(&row.tool),
        status: some(&row.tool_status),
        code: some(&row.tool_code),
        tool_is_error: tool.then_some(row.is_error),
        tool_structured_content: structured,
        elapsed_ms: row.elapsed_ms,
        partial: row.partial,
        usage: opaque.get("usage").cloned(),
        created_at: iso_from_ms(row.created_at),
        id: row.id,
        session_id: row.session_id,
        role: row.role,
        kind: row.kind,
        content: row.content,
    }
}

fn attachment(session: &str, file: AttachmentRow) -> AttachmentView {
    AttachmentView {
        url: format!("/api/v1/sessions/{session}/attachments/{}", file.id),
        id: file.id,
        name: file.name,
        mime: file.mime,
        size: file.size,
        note: serde_json::from_value(Value::String(file.note)).ok(),
        origin: file.origin,
    }
}

pub fn summary_view(row: SummaryRow) -> SummaryView {
    SummaryView {
        id: row.id,
        from_seq: row.from_seq,
        to_seq: row.to_seq,
        text: row.text,
        tokens_before: row.tokens_before,
        tokens_after: row.tokens_after,
        kind: row.kind,
        messages: row.messages,
    }
}

pub fn run_view(row: RunRow) -> RunView {
    RunView {
        sub_agent_id: some(&row.subagent_id),
        job_id: row.job_id,
        parent_run_id: some(&row.parent_run_id),
        parent_call_id: some(&row.parent_call_id),
        stop_reason: row.stop_reason,
        error: some(&row.error_code).map(|code| RunError { code, message: row.error_message.clone() }),
        parent_span_id: some(&row.parent_span_id),
        created_at: iso_from_ms(row.created_at),
        started_at: row.started_at.map(iso_from_ms),
        updated_at: iso_from_ms(row.updated_at),
        finished_at: row.finished_at.map(iso_from_ms),
        id: row.id,
        kind: row.kind,
        session_id: row.session_id,
        agent_id: row.agent_id,
        land_config_id: row.land_config_id,
        root_run_id: row.root_run_id,
        role: row.role,
        model_id: row.model_id,
        task: row.task,
        state: row.state,
        trace_id: row.trace_id,
        span_id: row.span_id,
        passes: row.passes,
        usage: None,
        steps: None,
        children: None,
    }
}

/// Longest input or output of a step that is shown; the whole is in the export.
const SHOWN: usize = 6_000;

pub fn step_view(store: &Store, redactor: &chatos_tool::Redactor, row: StepRow, whole: bool) -> StepView {
    let max = if whole { usize::MAX / 2 } else { SHOWN };
    let read = |column: &str| {
        let text = store.kept(column)?;
        let size = text.len();
        let value = serde_json::from_str::<Value>(&text).unwrap_or(Value::String(text));
        let value = redactor.value(&value, max);
        let value = match value {
            Value::Object(_) | Value::Array(_) if !whole && value.to_string().len() > SHOWN * 4 => {
                Value::String(redactor.trimmed(&value.to_string(), SHOWN))
            }
            value => value,
        };
        Some((value, size))
    };
    let (input, output) = (read(&row.input_blob), read(&row.output_blob));
    let usage = output.as_ref().and_then(|(value, _)| value.get("usage").cloned());
    let sizes = (input.is_some() || output.is_some()).then(|| Sizes {
        input: input.as_ref().map_or(0, |(_, size)| *size),
        output: output.as_ref().map_or(0, |(_, size)| *size),
    });
    StepView {
        seq: row.seq,
        kind: row.kind,
        span_id: row.span_id,
        parent_span_id: row.parent_span_id,
        state: row.state,
        call_id: row.call_id,
        // A name that cannot be read only leaves the identity to be shown.
        server_name: store.server_name(&row.server_identity).ok().flatten(),
        server: some(&row.server_identity),
        tool: some(&row.tool),
        read_only: row.read_only,
        idempotent: row.idempotent,
        attempt: row.attempt,
        status: some(&row.status),
        code: some(&row.code),
        elapsed_ms: row.elapsed_ms,
        started_at: row.started_at.map(iso_from_ms),
        finished_at: row.finished_at.map(iso_from_ms),
        child_run_id: some(&row.child_run_id),
        request_id: some(&row.request_id),
        task_id: some(&row.task_id),
        input: input.map(|(value, _)| value),
        output: output.map(|(value, _)| value),
        sizes,
        usage,
    }
}

pub fn usage_view(sum: UsageSum) -> UsageView {
    UsageView {
        key: sum.key,
        name: None,
        calls: sum.calls,
        input: sum.input,
        output: sum.output,
        cache_read: sum.cache_read,
        cache_write: sum.cache_write,
        estimated: sum.estimated,
        cost: sum.cost,
        currency: some(&sum.currency),
        unknown_cost: sum.unknown_cost,
    }
}
