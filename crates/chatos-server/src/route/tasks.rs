//! Tasks for the page and the command line; the task server uses the same tables.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use chatos_host::{
    AddedTasks, ErrorCode, Fault, Host, NewTask, Task, TaskContext, TaskFilter, TaskPatch, Text, iso_from_ms,
};
use chatos_wire::status::Done;
use chatos_wire::task::{
    TaskChange, TaskClearing, TaskCompletion, TaskInput, TaskList, TaskNote, TaskView, TasksCleared,
};
use serde::Deserialize;

use crate::api::{ApiError, Body, Query, Routes};
use crate::app::App;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Wanted {
    scope: String,
    session_id: String,
    run_id: String,
    status: String,
    priority: String,
    tag: String,
    q: String,
    open: bool,
    limit: Option<u32>,
    cursor: Option<u32>,
}

pub(crate) fn add(routes: &mut Routes) {
    let query = &[
        ("scope", "default, cli or chat"),
        ("sessionId", "only this session"),
        ("runId", "only this run"),
        ("status", "todo, doing, blocked or done"),
        ("priority", "high, medium or low"),
        ("tag", "exact"),
        ("q", "in title or details"),
        ("open", "true: leave finished ones out"),
        ("limit", "1 to 200"),
        ("cursor", "from the page before"),
    ];
    routes.read::<TaskList>(
        "/api/v1/tasks",
        "Tasks, most recently updated first",
        query,
        get(list).post(create),
    );
    routes.document::<TaskInput, TaskView>(Method::POST, "/api/v1/tasks", "Make a task");
    let one = get(read).patch(change).delete(remove);
    routes.read::<TaskView>("/api/v1/tasks/{id}", "One task", &[], one);
    routes.document::<TaskChange, TaskView>(Method::PATCH, "/api/v1/tasks/{id}", "Change a task");
    routes.document_act::<Done>(Method::DELETE, "/api/v1/tasks/{id}", "Delete a task");
    let path = "/api/v1/tasks/{id}/complete";
    routes.write::<TaskCompletion, TaskView>(
        Method::POST,
        path,
        "Mark a task done with a note",
        200,
        post(complete),
    );
    routes.write::<TaskClearing, TasksCleared>(
        Method::POST,
        "/api/v1/tasks/clear",
        "Delete finished or all tasks",
        200,
        post(clear),
    );
}

async fn list(State(app): State<App>, Query(wanted): Query<Wanted>) -> Result<Json<TaskList>, ApiError> {
    let (limit, offset) = (wanted.limit.unwrap_or(50).clamp(1, 200), wanted.cursor.unwrap_or_default());
    let filter = TaskFilter {
        scope: wanted.scope,
        run_id: wanted.run_id,
        session_id: wanted.session_id,
        status: wanted.status,
        priority: wanted.priority,
        tag: wanted.tag,
        query: wanted.q,
        open_only: wanted.open,
        ..TaskFilter::default()
    };
    let (tasks, total, open) = blocking(&app, move |host| host.list_tasks(&filter, limit, offset)).await?;
    let next = u64::from(offset) + tasks.len() as u64;
    Ok(Json(TaskList {
        items: tasks.into_iter().map(view).collect(),
        total,
        open,
        next_cursor: (next < total).then(|| next.to_string()),
    }))
}

async fn create(State(app): State<App>, Body(input): Body<TaskInput>) -> Result<Response, ApiError> {
    if !["default", "cli", "chat"].contains(&input.scope.as_str()) {
        return Err(Fault::new(
            ErrorCode::InvalidArgument,
            Text::fixed("/scope: use default, cli or chat", "/scope：请使用 default、cli 或 chat"),
        )
        .into());
    }
    let context = TaskContext {
        scope: input.scope,
        caller: "person".to_owned(),
        run_id: input.run_id,
        session_id: input.session_id,
        user_message_id: String::new(),
    };
    let task = NewTask {
        title: input.title,
        details: input.details,
        priority: input.priority,
        status: input.status,
        tags: input.tags,
        dedupe_key: input.dedupe_key,
    };
    let AddedTasks { created, deduped, .. } =
        blocking(&app, move |host| host.add_tasks(context, vec![task])).await?;
    let was_there = created.is_empty();
    let task = created.into_iter().chain(deduped.into_iter().map(|(task, _)| task)).next();
    let task = task.ok_or_else(|| Fault::new(ErrorCode::Internal, Text::same("no task was made")))?;
    let status = if was_there { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, Json(view(task))).into_response())
}

async fn read(State(app): State<App>, Path(id): Path<String>) -> Result<Json<TaskView>, ApiError> {
    Ok(Json(view(blocking(&app, move |host| host.get_task(&id)).await?)))
}

async fn change(
    State(app): State<App>,
    Path(id): Path<String>,
    Body(change): Body<TaskChange>,
) -> Result<Json<TaskView>, ApiError> {
    let patch = TaskPatch {
        title: change.title,
        details: change.details,
        append_note: change.append_note,
        priority: change.priority,
        status: change.status,
        tags: change.tags,
        run_id: None,
        session_id: None,
    };
    Ok(Json(view(blocking(&app, move |host| host.update_task(&id, patch)).await?.0)))
}

async fn remove(State(app): State<App>, Path(id): Path<String>) -> Result<Json<Done>, ApiError> {
    blocking(&app, move |host| host.delete_task(&id)).await?;
    Ok(Json(Done { ok: true }))
}

async fn complete(
    State(app): State<App>,
    Path(id): Path<String>,
    Body(body): Body<TaskCompletion>,
) -> Result<Json<TaskView>, ApiError> {
    Ok(Json(view(blocking(&app, move |host| host.complete_task(&id, &body.note)).await?)))
}

async fn clear(
    State(app): State<App>,
    Body(body): Body<TaskClearing>,
) -> Result<Json<TasksCleared>, ApiError> {
    let status = match body.mode.as_str() {
        "done" => "done".to_owned(),
        "all" => String::new(),
        _ => {
            return Err(Fault::new(
                ErrorCode::InvalidArgument,
                Text::fixed("/mode: use done or all", "/mode：请使用 done 或 all"),
            )
            .into());
        }
    };
    let filter = TaskFilter {
        scope: body.scope,
        session_id: body.session_id,
        run_id: body.run_id,
        status,
        ..TaskFilter::default()
    };
    let (cleared, remaining) = blocking(&app, move |host| host.clear_tasks(filter)).await?;
    Ok(Json(TasksCleared { cleared, remaining }))
}

/// Runs work on the database off the async threads.
pub(crate) async fn blocking<T: Send + 'static>(
    app: &App,
    work: impl FnOnce(&Host) -> Result<T, Fault> + Send + 'static,
) -> Result<T, ApiError> {
    let host = app.host().clone();
    let done = tokio::task::spawn_blocking(move || work(&host)).await;
    let result = done.map_err(|error| Fault::new(ErrorCode::Internal, Text::same(error.to_string())))?;
    Ok(result?)
}

/// As [`blocking`], for work that needs the host itself.
pub(crate) async fn blocking_arc<T: Send + 'static>(
    app: &App,
    work: impl FnOnce(&std::sync::Arc<Host>) -> Result<T, Fault> + Send + 'static,
) -> Result<T, ApiError> {
    let host = app.host().clone();
    let done = tokio::task::spawn_blocking(move || work(&host)).await;
    let result = done.map_err(|error| Fault::new(ErrorCode::Internal, Text::same(error.to_string())))?;
    Ok(result?)
}

fn view(task: Task) -> TaskView {
    TaskView {
        id: task.id,
        title: task.title,
        details: task.details,
        status: task.status,
        priority: task.priority,
        scope: task.scope,
        tags: task.tags,
        run_id: task.run_id,
        session_id: task.session_id,
        created_at: iso_from_ms(task.created_at),
        updated_at: iso_from_ms(task.updated_at),
        completed_at: task.completed_at.map(iso_from_ms),
        notes: task
            .notes
            .into_iter()
            .map(|note| TaskNote {
                kind: note.kind,
                text: note.text,
                created_at: iso_from_ms(note.created_at),
            })
            .collect(),
    }
}
