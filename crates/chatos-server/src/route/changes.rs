//! What tools changed in files: seen, downloaded and undone.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chatos_host::{UndoOrder, UndoOutcome};
use chatos_store::{ChangeContent, ChangeFilter, ContentState, RecordedChange, iso_from_ms};
use chatos_tool::Text;
use chatos_wire::change::{
    ChangeQuery, FileChangeDetail, FileChangeList, FileChangeView, FileContent, UndoAnswer, UndoRequest,
    UndoState, UndoneFile,
};
use chatos_wire::setting::TextPair;

use crate::api::ApiError;
use crate::app::App;
use crate::blocking::blocking;
use crate::caller::Caller;
use crate::input::{Body, Path, Query};
use crate::table::Routes;

pub(crate) fn add(routes: &mut Routes) {
    routes.get("/api/v1/changes", "What tools changed in files, newest first", list);
    routes.get("/api/v1/changes/{id}", "One change with its diff, and whether it can be undone", read);
    routes.post("/api/v1/changes/undo", "Undo changes of one root, all or none", undo);
    routes.bytes("/api/v1/changes/{id}/content/{side}", content);
}

async fn list(app: App, _: Caller, Query(wanted): Query<ChangeQuery>) -> Result<FileChangeList, ApiError> {
    let limit = wanted.limit.unwrap_or(50);
    let filter = ChangeFilter {
        root: wanted.root,
        path: wanted.path,
        run_id: wanted.run_id,
        session_id: wanted.session_id,
        server: wanted.server,
        tool: wanted.tool,
        change: wanted.change,
        before: wanted.before.filter(|before| !before.is_empty()),
    };
    let (found, next) = blocking(app.host(), move |host| host.list_changes(&filter, limit)).await?;
    Ok(FileChangeList { changes: found.into_iter().map(view).collect(), next })
}

async fn read(app: App, _: Caller, Path(id): Path<String>) -> Result<FileChangeDetail, ApiError> {
    let detail = blocking(app.host(), move |host| host.get_change(&id)).await?;
    let undo = match detail.refusal {
        Some(fault) => UndoState {
            possible: false,
            code: Some(fault.code.into_owned()),
            reason: Some(both(fault.message)),
            hint: fault.hint.map(both),
        },
        None => UndoState { possible: true, code: None, reason: None, hint: None },
    };
    Ok(FileChangeDetail {
        change: view(detail.change),
        diff: detail.diff,
        diff_truncated: detail.diff_truncated,
        undo,
    })
}

/// The bytes, never shown by a browser: they are whatever a tool wrote (security T3).
async fn content(
    app: App,
    _: Caller,
    Path((id, side)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    let before = match side.as_str() {
        "before" => true,
        "after" => false,
        _ => return Err(ApiError::Status(StatusCode::NOT_FOUND)),
    };
    let (name, bytes) = blocking(app.host(), move |host| host.change_content(&id, before)).await?;
    let mut response = bytes.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    let plain = |c: char| if c.is_ascii_alphanumeric() || ".-_".contains(c) { c } else { '_' };
    let name: String = name.chars().map(plain).collect();
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        headers.insert(header::CONTENT_DISPOSITION, value);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    Ok(response)
}

async fn undo(app: App, _: Caller, Body(request): Body<UndoRequest>) -> Result<UndoAnswer, ApiError> {
    let order = UndoOrder { ids: request.ids, run_id: request.run_id, dry_run: request.dry_run };
    let UndoOutcome { root, steps, changes, warnings } =
        blocking(app.host(), move |host| host.undo_changes(&order)).await?;
    let step = |step: chatos_builtin::undo::UndoStep| UndoneFile {
        root: root.clone(),
        path: step.path,
        action: step.action.as_str().to_owned(),
        changes: step.changes,
    };
    Ok(UndoAnswer {
        steps: steps.into_iter().map(step).collect(),
        changes: changes.into_iter().map(view).collect(),
        warnings,
    })
}

fn both(text: Text) -> TextPair {
    TextPair { en: text.en.into_owned(), zh: text.zh.into_owned() }
}

fn view(change: RecordedChange) -> FileChangeView {
    let content = |content: ChangeContent| FileContent {
        state: match content.state {
            ContentState::Absent => "absent",
            ContentState::Kept => "kept",
            ContentState::Omitted => "omitted",
            ContentState::Lost => "lost",
        }
        .to_owned(),
        sha256: content.sha256,
        size: content.size,
    };
    let row = change.row;
    FileChangeView {
        id: row.id,
        run_id: row.run_id,
        session_id: row.session_id,
        user_message_id: row.user_message_id,
        server: row.server,
        tool: row.tool,
        root: row.root,
        path: row.path,
        from: change.from,
        change: row.change,
        before: content(change.before),
        after: content(change.after),
        added: change.added,
        removed: change.removed,
        created_at: iso_from_ms(row.created_at),
        undone_by: change.undone_by,
        undoes: change.undoes,
    }
}
