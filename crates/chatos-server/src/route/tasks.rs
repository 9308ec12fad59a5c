//! Tasks for the page and the command line; the task server uses the same tables.

use chatos_store::{AddedTasks, NewTask, Task, TaskContext, TaskFilter, TaskPatch, iso_from_ms};
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::status::Done;
use chatos_wire::task::{
    TaskChange, TaskClearing, TaskCompletion, TaskInput, TaskList, TaskNote, TaskQuery, TaskView,
    TasksCleared,
};

use crate::answer::Kept;
use crate::api::ApiError;
use crate::app::App;
use crate::blocking::blocking;
use crate::caller::Caller;
use crate::input::{Body, Path, Query};
use crate::table::Routes;

pub(crate) fn add(routes: &mut Routes) {
    routes.get("/api/v1/tasks", "Tasks, most recently updated first", list);
    routes.post("/api/v1/tasks", "Make a task", create);
    routes.get("/api/v1/tasks/{id}", "One task", read);
    routes.patch("/api/v1/tasks/{id}", "Change a task", change);
    routes.delete("/api/v1/tasks/{id}", "Delete a task", remove);
    routes.post("/api/v1/tasks/{id}/complete", "Mark a task done with a note", complete);
    routes.post("/api/v1/tasks/clear", "Delete finished or all tasks", clear);
}

async fn list(app: App, _: Caller, Query(wanted): Query<TaskQuery>) -> Result<TaskList, ApiError> {
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
    let (tasks, total, open) =
        blocking(app.host(), move |host| host.list_tasks(&filter, limit, offset)).await?;
    let next = u64::from(offset) + tasks.len() as u64;
    Ok(TaskList {
        items: tasks.into_iter().map(view).collect(),
        total,
        open,
        next_cursor: (next < total).then(|| next.to_string()),
    })
}

async fn create(app: App, _: Caller, Body(input): Body<TaskInput>) -> Result<Kept<TaskView>, ApiError> {
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
        blocking(app.host(), move |host| host.add_tasks(context, vec![task])).await?;
    let was_there = created.is_empty();
    let task = created.into_iter().chain(deduped.into_iter().map(|(task, _)| task)).next();
    let task = task.ok_or_else(|| Fault::new(ErrorCode::Internal, Text::same("no task was made")))?;
    Ok(Kept { new: !was_there, value: view(task) })
}

async fn read(app: App, _: Caller, Path(id): Path<String>) -> Result<TaskView, ApiError> {
    Ok(view(blocking(app.host(), move |host| host.get_task(&id)).await?))
}

async fn change(
    app: App,
    _: Caller,
    (Path(id), Body(change)): (Path<String>, Body<TaskChange>),
) -> Result<TaskView, ApiError> {
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
    Ok(view(blocking(app.host(), move |host| host.update_task(&id, patch)).await?.0))
}

async fn remove(app: App, _: Caller, Path(id): Path<String>) -> Result<Done, ApiError> {
    blocking(app.host(), move |host| host.delete_task(&id)).await?;
    Ok(Done { ok: true })
}

async fn complete(
    app: App,
    _: Caller,
    (Path(id), Body(body)): (Path<String>, Body<TaskCompletion>),
) -> Result<TaskView, ApiError> {
    Ok(view(blocking(app.host(), move |host| host.complete_task(&id, &body.note)).await?))
}

async fn clear(app: App, _: Caller, Body(body): Body<TaskClearing>) -> Result<TasksCleared, ApiError> {
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
    let (cleared, remaining) = blocking(app.host(), move |host| host.clear_tasks(filter)).await?;
    Ok(TasksCleared { cleared, remaining })
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
