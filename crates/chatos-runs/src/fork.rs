//! Chats that begin as a copy of what another one shows: up to a message, or up to a step of a run.

use chatos_records::{no_run, session_view};
use chatos_store::{RunRow, SessionRow, Store, StoreError, now_ms};
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::event::ChatChange;
use chatos_wire::session::SessionView;
use chatos_wire::{MessageRole, RunKind};

use super::desk::Runs;

impl Runs {
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
