//! `update_task`, `complete_task`, `clear_tasks` and `delete_task`.

use chatos_layer::{Body, CallCx, Outcome, ServerEnv, Tool};
use chatos_store::{StoreErrorKind, TaskFilter, TaskPatch};
use chatos_tool::{Annotations, Confirm, Issue, IssueCode, Lang, Text, ToolError, ToolSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::adding::{Priority, Status};
use super::reading::filter;
use super::{DETAILS_CHARS, ID_CHARS, TAG_CHARS, TAGS, TITLE_CHARS, TaskData, no_task};

/// Details of an existing task may have any length; this only bounds a message.
const ANY_DETAILS_BYTES: usize = 4 << 20;

static UPDATE: ToolSpec = ToolSpec {
    name: "update_task",
    title: Text::fixed("Update a task", "修改任务"),
    description: Text::fixed(
        "Changes the given fields of a task; the others stay. append_note adds a note and keeps the details. Nothing \
         to change is a noop. Use complete_task to finish a task. An unknown id is not_found.",
        "修改任务中给出的字段，其余保持不变。append_note 添加一条备注而不改动说明。没有变化为 noop。完成任务请用 complete_task。\
         编号不存在为 not_found。",
    ),
    annotations: Annotations::NONE,
    confirm: Confirm::None,
    version: 1,
};

/// Changes one.
pub(super) struct UpdateTask(pub(super) ServerEnv);

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct UpdateArgs {
    /// The task's id
    #[schemars(length(min = 1, max = ID_CHARS), extend("x-zh" = "任务编号", "x-no-nul" = true))]
    id: String,
    /// New title
    #[serde(default)]
    #[schemars(length(min = 1, max = TITLE_CHARS), extend("x-zh" = "新标题", "x-no-default" = true))]
    title: Option<String>,
    /// New details; may be empty
    #[serde(default)]
    #[schemars(extend("x-zh" = "新说明；可以为空", "x-no-default" = true, "x-max-bytes" = ANY_DETAILS_BYTES))]
    details: Option<String>,
    /// A note to add
    #[serde(default)]
    #[schemars(length(max = DETAILS_CHARS), extend("x-zh" = "要添加的备注", "x-no-default" = true))]
    append_note: Option<String>,
    /// New priority
    #[serde(default)]
    #[schemars(extend("x-zh" = "新优先级", "x-no-default" = true))]
    priority: Option<Priority>,
    /// New status
    #[serde(default)]
    #[schemars(extend("x-zh" = "新状态", "x-no-default" = true))]
    status: Option<Status>,
    /// New tags, instead of the old ones
    #[serde(default)]
    #[schemars(length(max = TAGS), inner(length(min = 1, max = TAG_CHARS)), extend("x-zh" = "新标签，取代原有的", "x-no-default" = true))]
    tags: Option<Vec<String>>,
    /// Move it to this run
    #[serde(default, rename = "runId")]
    #[schemars(length(max = ID_CHARS), extend("x-zh" = "移到此运行", "x-no-default" = true, "x-no-nul" = true))]
    run_id: Option<String>,
    /// Move it to this session
    #[serde(default, rename = "sessionId")]
    #[schemars(length(max = ID_CHARS), extend("x-zh" = "移到此会话", "x-no-default" = true, "x-no-nul" = true))]
    session_id: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct UpdateData {
    task: TaskData,
    /// Names of the fields that changed
    changed: Vec<&'static str>,
}

impl Tool for UpdateTask {
    type Args = UpdateArgs;
    type Data = UpdateData;

    fn spec(&self) -> &'static ToolSpec {
        &UPDATE
    }

    fn check(&self, args: &UpdateArgs) -> Vec<Issue> {
        let blank = args.title.as_ref().is_some_and(|title| title.trim().is_empty());
        let message = Text::fixed("a title must not be blank", "标题不能为空白");
        blank.then(|| Issue::new("/title", IssueCode::Missing, message)).into_iter().collect()
    }

    async fn call(&self, args: UpdateArgs, cx: &CallCx) -> Result<Outcome<UpdateData>, ToolError> {
        let patch = TaskPatch {
            title: args.title,
            details: args.details,
            append_note: args.append_note,
            priority: args.priority.map(|priority| priority.as_str().to_owned()),
            status: args.status.map(|status| status.as_str().to_owned()),
            tags: args.tags,
            run_id: args.run_id,
            session_id: args.session_id,
        };
        let id = args.id.clone();
        let updated = self.0.store.run(cx, move |store| present(store.update_task(&id, patch))).await?;
        let (task, changed) = updated.ok_or_else(|| no_task(&args.id))?;
        let task = TaskData::from(task);
        let changed: Vec<&'static str> = changed
            .into_iter()
            .map(|column| match column {
                "run_id" => "runId",
                "session_id" => "sessionId",
                other => other,
            })
            .collect();
        let noop = changed.is_empty();
        let list = changed.join(", ");
        let head = match (cx.lang, noop) {
            (Lang::En, true) => "Nothing to change.".to_owned(),
            (Lang::Zh, true) => "没有变化。".to_owned(),
            (Lang::En, false) => format!("Updated {list}."),
            (Lang::Zh, false) => format!("已更新 {list}。"),
        };
        let text = format!("{head}\n{}", task.whole(cx.lang));
        let body = Body::new(UpdateData { task, changed }, text);
        Ok(if noop { Outcome::Noop(body) } else { Outcome::Ok(body) })
    }
}

static COMPLETE: ToolSpec = ToolSpec {
    name: "complete_task",
    title: Text::fixed("Finish a task", "完成任务"),
    description: Text::fixed(
        "Marks a task done and keeps a note of what was achieved, at least 5 characters. A task that is done already \
         with the same note is a noop. An unknown id is not_found.",
        "将任务标记为完成，并记录完成说明（至少 5 个字符）。已经以相同说明完成的任务为 noop。编号不存在为 not_found。",
    ),
    annotations: Annotations::of("I"),
    confirm: Confirm::None,
    version: 1,
};

/// Finishes one.
pub(super) struct CompleteTask(pub(super) ServerEnv);

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct CompleteArgs {
    /// The task's id
    #[schemars(length(min = 1, max = ID_CHARS), extend("x-zh" = "任务编号", "x-no-nul" = true))]
    id: String,
    /// What was achieved
    #[schemars(length(min = 5, max = DETAILS_CHARS), extend("x-zh" = "完成了什么"))]
    note: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CompleteData {
    task: TaskData,
}

impl Tool for CompleteTask {
    type Args = CompleteArgs;
    type Data = CompleteData;

    fn spec(&self) -> &'static ToolSpec {
        &COMPLETE
    }

    async fn call(&self, args: CompleteArgs, cx: &CallCx) -> Result<Outcome<CompleteData>, ToolError> {
        let (id, note) = (args.id.clone(), args.note);
        let done = self.0.store.run(cx, move |store| present(store.complete_task(&id, &note))).await?;
        let (task, changed) = done.ok_or_else(|| no_task(&args.id))?;
        let task = TaskData::from(task);
        let head = match (cx.lang, changed) {
            (Lang::En, true) => "Completed.",
            (Lang::Zh, true) => "已完成。",
            (Lang::En, false) => "It was done already, with the same note.",
            (Lang::Zh, false) => "该任务此前已以相同说明完成。",
        };
        let body = Body::new(CompleteData { task: task.clone() }, format!("{head}\n{}", task.whole(cx.lang)));
        Ok(if changed { Outcome::Ok(body) } else { Outcome::Noop(body) })
    }
}

static CLEAR: ToolSpec = ToolSpec {
    name: "clear_tasks",
    title: Text::fixed("Clear tasks", "清除任务"),
    description: Text::fixed(
        "Deletes finished tasks (mode done) or all tasks (mode all) of the current session and run; allSessions, \
         allRuns, sessionId and runId choose others. Tasks that are added meanwhile stay. This cannot be undone.",
        "删除当前会话和当前运行中已完成的任务（mode 为 done）或全部任务（mode 为 all）；可用 allSessions、allRuns、sessionId、runId \
         选择其他范围。期间新增的任务会保留。此操作无法撤销。",
    ),
    annotations: Annotations::of("D"),
    confirm: Confirm::None,
    version: 1,
};

/// Clears.
pub(super) struct ClearTasks(pub(super) ServerEnv);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ClearMode {
    #[default]
    Done,
    All,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ClearArgs {
    /// Finished tasks, or all
    #[serde(default)]
    #[schemars(extend("x-zh" = "清除已完成的任务或全部任务"))]
    mode: ClearMode,
    /// In every session
    #[serde(default, rename = "allSessions")]
    #[schemars(extend("x-zh" = "所有会话"))]
    all_sessions: bool,
    /// In every run
    #[serde(default, rename = "allRuns")]
    #[schemars(extend("x-zh" = "所有运行"))]
    all_runs: bool,
    /// In this run; the current one when absent
    #[serde(default, rename = "runId")]
    #[schemars(length(max = ID_CHARS), extend("x-zh" = "此运行；缺省为当前运行", "x-no-default" = true, "x-no-nul" = true))]
    run_id: Option<String>,
    /// In this session; the current one when absent
    #[serde(default, rename = "sessionId")]
    #[schemars(length(max = ID_CHARS), extend("x-zh" = "此会话；缺省为当前会话", "x-no-default" = true, "x-no-nul" = true))]
    session_id: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ClearData {
    cleared: u64,
    remaining: u64,
}

impl Tool for ClearTasks {
    type Args = ClearArgs;
    type Data = ClearData;

    fn spec(&self) -> &'static ToolSpec {
        &CLEAR
    }

    async fn call(&self, args: ClearArgs, cx: &CallCx) -> Result<Outcome<ClearData>, ToolError> {
        let found = filter(cx, &self.0, (args.all_runs, args.run_id), (args.all_sessions, args.session_id));
        let filter = TaskFilter {
            status: if args.mode == ClearMode::Done { "done".to_owned() } else { String::new() },
            // A call that belongs to no session deletes nothing of any session unless it says so.
            without_run: !args.all_runs && found.run_id.is_empty(),
            without_session: !args.all_sessions && found.session_id.is_empty(),
            ..found
        };
        let (cleared, remaining) = self.0.store.run(cx, move |store| store.clear_tasks(filter)).await?;
        let text = match cx.lang {
            Lang::En => format!("Cleared {cleared} task(s), {remaining} remaining."),
            Lang::Zh => format!("已清除 {cleared} 个任务，剩余 {remaining} 个。"),
        };
        let body = Body::new(ClearData { cleared, remaining }, text);
        Ok(if cleared == 0 { Outcome::Noop(body) } else { Outcome::Ok(body) })
    }
}

static DELETE: ToolSpec = ToolSpec {
    name: "delete_task",
    title: Text::fixed("Delete a task", "删除任务"),
    description: Text::fixed(
        "Deletes one task for good; confirm must be true. To finish a task use complete_task instead. A task that is \
         not there, or not any more, is not_found.",
        "永久删除一个任务；confirm 必须为 true。完成任务请改用 complete_task。任务不存在或已被删除为 not_found。",
    ),
    annotations: Annotations::of("D I"),
    confirm: Confirm::None,
    version: 1,
};

/// Deletes one.
pub(super) struct DeleteTask(pub(super) ServerEnv);

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct DeleteArgs {
    /// The task's id
    #[schemars(length(min = 1, max = ID_CHARS), extend("x-zh" = "任务编号", "x-no-nul" = true))]
    id: String,
    /// Must be true
    #[schemars(extend("x-zh" = "必须为 true"))]
    confirm: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DeleteData {
    /// The id of the task that is gone
    deleted: String,
}

impl Tool for DeleteTask {
    type Args = DeleteArgs;
    type Data = DeleteData;

    fn spec(&self) -> &'static ToolSpec {
        &DELETE
    }

    fn check(&self, args: &DeleteArgs) -> Vec<Issue> {
        let message = Text::fixed("must be true to delete a task", "删除任务时必须为 true");
        (!args.confirm).then(|| Issue::new("/confirm", IssueCode::Enum, message)).into_iter().collect()
    }

    async fn call(&self, args: DeleteArgs, cx: &CallCx) -> Result<Outcome<DeleteData>, ToolError> {
        let id = args.id.clone();
        if !self.0.store.run(cx, move |store| store.delete_task(&id)).await? {
            return Err(no_task(&args.id));
        }
        let text = match cx.lang {
            Lang::En => format!("Deleted task {}.", args.id),
            Lang::Zh => format!("已删除任务 {}。", args.id),
        };
        Ok(Outcome::Ok(Body::new(DeleteData { deleted: args.id }, text)))
    }
}

/// A missing row is an answer here, not a failure of the database.
fn present<T>(result: Result<T, chatos_store::StoreError>) -> Result<Option<T>, chatos_store::StoreError> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind == StoreErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
