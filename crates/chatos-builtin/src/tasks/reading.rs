//! `list_tasks` and `get_task`.

use chatos_layer::{Body, CallCx, Outcome, ServerEnv, Tool};
use chatos_store::TaskFilter;
use chatos_tool::{Annotations, Confirm, Cut, Keep, Lang, Text, ToolError, ToolSpec, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::adding::Status;
use super::{ID_CHARS, TAG_CHARS, TaskData, context, no_task, scope};

static LIST: ToolSpec = ToolSpec {
    name: "list_tasks",
    title: Text::fixed("List tasks", "列出任务"),
    description: Text::fixed(
        "Lists tasks, most recently updated first, with the total and the number of open ones. Only those of the \
         current session and run, unless allSessions, allRuns, sessionId or runId say otherwise. A longer list is cut \
         and continues with offset.",
        "列出任务，最近更新的在前，并给出总数和未完成数。默认只列出当前会话和当前运行的任务，可用 allSessions、allRuns、sessionId \
         或 runId 更改。过长的列表会被截断，用 offset 继续。",
    ),
    annotations: Annotations::of("R I"),
    confirm: Confirm::None,
    version: 1,
};

/// Lists.
pub(super) struct ListTasks(pub(super) ServerEnv);

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ListArgs {
    /// Only tasks in this state
    #[serde(default)]
    #[schemars(extend("x-zh" = "只列出此状态的任务", "x-no-default" = true))]
    status: Option<Status>,
    /// Only tasks with exactly this tag
    #[serde(default)]
    #[schemars(length(max = TAG_CHARS), extend("x-zh" = "只列出带有此标签的任务", "x-no-default" = true))]
    tag: Option<String>,
    /// Tasks to return
    #[serde(default = "fifty")]
    #[schemars(range(min = 1, max = 200), extend("x-zh" = "返回的任务数"))]
    limit: u32,
    /// Tasks to skip
    #[serde(default)]
    #[schemars(range(min = 0, max = 1_000_000_000), extend("x-zh" = "跳过的任务数"))]
    offset: u32,
    /// Finished tasks as well
    #[serde(default = "yes", rename = "includeDone")]
    #[schemars(extend("x-zh" = "包含已完成的任务"))]
    include_done: bool,
    /// Tasks of every session
    #[serde(default, rename = "allSessions")]
    #[schemars(extend("x-zh" = "所有会话的任务"))]
    all_sessions: bool,
    /// Tasks of every run
    #[serde(default, rename = "allRuns")]
    #[schemars(extend("x-zh" = "所有运行的任务"))]
    all_runs: bool,
    /// Tasks of this run; the current one when absent
    #[serde(default, rename = "runId")]
    #[schemars(length(max = ID_CHARS), extend("x-zh" = "此运行的任务；缺省为当前运行", "x-no-default" = true, "x-no-nul" = true))]
    run_id: Option<String>,
    /// Tasks of this session; the current one when absent
    #[serde(default, rename = "sessionId")]
    #[schemars(length(max = ID_CHARS), extend("x-zh" = "此会话的任务；缺省为当前会话", "x-no-default" = true, "x-no-nul" = true))]
    session_id: Option<String>,
}

fn fifty() -> u32 {
    50
}
fn yes() -> bool {
    true
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ListData {
    tasks: Vec<TaskData>,
    /// Tasks that fit
    total: u64,
    /// Of these, not done
    open: u64,
    truncated: bool,
}

/// Which runs and sessions a call means: asked for, else the current ones, else all.
pub(super) fn filter(
    cx: &CallCx,
    env: &ServerEnv,
    (all_runs, run_id): (bool, Option<String>),
    (all_sessions, session_id): (bool, Option<String>),
) -> TaskFilter {
    // An argument names what is wanted here, so it wins over where the call comes from.
    let own = context(cx, env, None, None);
    let pick = |all: bool, asked: Option<String>, own: String| {
        if all { String::new() } else { asked.filter(|text| !text.trim().is_empty()).unwrap_or(own) }
    };
    TaskFilter {
        scope: scope(cx, env).to_owned(),
        run_id: pick(all_runs, run_id, own.run_id),
        session_id: pick(all_sessions, session_id, own.session_id),
        ..TaskFilter::default()
    }
}

impl Tool for ListTasks {
    type Args = ListArgs;
    type Data = ListData;

    fn spec(&self) -> &'static ToolSpec {
        &LIST
    }

    async fn call(&self, args: ListArgs, cx: &CallCx) -> Result<Outcome<ListData>, ToolError> {
        let filter = TaskFilter {
            status: args.status.map(|status| status.as_str().to_owned()).unwrap_or_default(),
            tag: args.tag.unwrap_or_default(),
            open_only: !args.include_done,
            ..filter(cx, &self.0, (args.all_runs, args.run_id), (args.all_sessions, args.session_id))
        };
        let (limit, offset) = (args.limit, args.offset);
        let (tasks, total, open) =
            self.0.store.run(cx, move |store| store.list_tasks(&filter, limit, offset)).await?;
        let tasks: Vec<TaskData> = tasks.into_iter().map(TaskData::from).collect();
        let mut text: String = tasks.iter().map(|task| format!("{}\n", task.line())).collect();
        if tasks.is_empty() {
            text.push_str(match (total, cx.lang) {
                (0, Lang::En) => "Task list is empty.\n",
                (0, Lang::Zh) => "任务列表为空。\n",
                (_, Lang::En) => "No more tasks.\n",
                (_, Lang::Zh) => "没有更多任务。\n",
            });
        }
        let next = u64::from(offset) + tasks.len() as u64;
        let left = total.saturating_sub(next);
        let truncated = left > 0 && !tasks.is_empty();
        let mut cuts = Vec::new();
        if truncated {
            text.push_str(&match cx.lang {
                Lang::En => format!("[… {left} tasks omitted; continue with offset={next} …]\n"),
                Lang::Zh => format!("[… 省略 {left} 个任务；用 offset={next} 继续 …]\n"),
            });
            cuts.push(Cut {
                field: "/tasks".to_owned(),
                unit: Unit::Items,
                keep: Keep::Head,
                limit: u64::from(limit),
                kept: tasks.len() as u64,
                total: Some(total),
                next: Some(json!({ "offset": next })),
            });
        }
        text.push_str(&match cx.lang {
            Lang::En => format!("({total} total, {open} open)"),
            Lang::Zh => format!("（共 {total} 个，{open} 个未完成）"),
        });
        Ok(Outcome::Ok(Body::content(ListData { tasks, total, open, truncated }, text).truncated(cuts)))
    }
}

static GET: ToolSpec = ToolSpec {
    name: "get_task",
    title: Text::fixed("Show a task", "查看任务"),
    description: Text::fixed(
        "Shows one task with its details and notes. An unknown id is not_found; list_tasks shows the ids.",
        "显示一个任务及其说明和备注。编号不存在为 not_found；list_tasks 会列出编号。",
    ),
    annotations: Annotations::of("R I"),
    confirm: Confirm::None,
    version: 1,
};

/// Shows one.
pub(super) struct GetTask(pub(super) ServerEnv);

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct IdArgs {
    /// The task's id
    #[schemars(length(min = 1, max = ID_CHARS), extend("x-zh" = "任务编号", "x-no-nul" = true))]
    id: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct GetData {
    task: TaskData,
}

impl Tool for GetTask {
    type Args = IdArgs;
    type Data = GetData;

    fn spec(&self) -> &'static ToolSpec {
        &GET
    }

    async fn call(&self, args: IdArgs, cx: &CallCx) -> Result<Outcome<GetData>, ToolError> {
        let id = args.id.clone();
        let task = self.0.store.run(cx, move |store| store.get_task(&id)).await?;
        let task: TaskData = task.ok_or_else(|| no_task(&args.id))?.into();
        let text = task.whole(cx.lang);
        Ok(Outcome::Ok(Body::content(GetData { task }, text)))
    }
}
