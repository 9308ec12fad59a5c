//! `add_task`: one or many tasks at once, de-duplicated by key, shown to the person first where a setting says so.

use std::sync::LazyLock;

use chatos_layer::consent::Consent;
use chatos_layer::{Body, CallCx, Caller, Outcome, ServerEnv, Tool, arguments_schema};
use chatos_store::{AddedTasks, NewTask, Task};
use chatos_tool::{Annotations, Confirm, Issue, IssueCode, Lang, Text, ToolError, ToolSpec, validation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::draft::{self, UserChanges};
use super::{DETAILS_CHARS, ID_CHARS, TAG_CHARS, TAGS, TITLE_CHARS, caller, context};

/// Details shorter than this get a hint.
const SHORT_DETAILS: usize = 15;
const MAX_TASKS: usize = 100;
/// `tasks` as text: 100 tasks at their longest, escaped, fit.
const TASKS_BYTES: usize = 8 << 20;

static SPEC: ToolSpec = ToolSpec {
    name: "add_task",
    title: Text::fixed("Add tasks", "添加任务"),
    description: Text::fixed(
        "Adds one task (title) or up to 100 (tasks) to the list the person sees. Nothing is added when one of them is \
         wrong. With dedupe_key a repeated call answers noop with the first task; data.deduped[].differs says that \
         its content was another. The person may be asked first and may edit, reorder, add or remove tasks: what they \
         confirm is what is created, and data.user_changes tells the difference. canceled means that nothing was \
         created.",
        "向用户可见的列表添加一个任务（title）或最多 100 个（tasks）。任何一个有误则全部不添加。提供 dedupe_key 时，重复调用返回 noop \
         和第一次创建的任务；data.deduped[].differs 表示内容不同。可能先请用户确认，用户可以编辑、排序、增删任务：\
         以用户确认的为准，差异见 data.user_changes。canceled 表示没有创建。",
    ),
    annotations: Annotations::NONE,
    confirm: Confirm::Task,
    version: 1,
};

/// Adds tasks.
pub(super) struct AddTask(pub(super) ServerEnv);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Priority {
    High,
    #[default]
    Medium,
    Low,
}

impl Priority {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Status {
    #[default]
    Todo,
    Doing,
    Blocked,
    Done,
}

impl Status {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Todo => "todo",
            Self::Doing => "doing",
            Self::Blocked => "blocked",
            Self::Done => "done",
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Args {
    /// What is to be done; instead of tasks
    #[serde(default)]
    #[schemars(length(min = 1, max = TITLE_CHARS), extend("x-zh" = "要做的事；与 tasks 二选一", "x-no-default" = true))]
    title: Option<String>,
    /// Everything needed to do it
    #[serde(default)]
    #[schemars(length(max = DETAILS_CHARS), extend("x-zh" = "完成任务所需的说明"))]
    details: String,
    /// How urgent
    #[serde(default)]
    #[schemars(extend("x-zh" = "优先级"))]
    priority: Priority,
    /// How far it is
    #[serde(default)]
    #[schemars(extend("x-zh" = "状态"))]
    status: Status,
    /// Words to find it by
    #[serde(default)]
    #[schemars(length(max = TAGS), inner(length(min = 1, max = TAG_CHARS)), extend("x-zh" = "标签"))]
    tags: Vec<String>,
    /// The same key creates one task, however often it is called
    #[serde(default)]
    #[schemars(length(min = 1, max = 256), extend("x-zh" = "去重键：相同的键只创建一个任务", "x-no-default" = true, "x-no-nul" = true))]
    dedupe_key: Option<String>,
    /// Several tasks at once, as a list or as its JSON text; instead of title
    #[serde(default)]
    #[schemars(extend("x-zh" = "一次添加多个任务：列表或其 JSON 文本；与 title 二选一", "x-no-default" = true))]
    tasks: Option<TaskList>,
    /// The run the tasks belong to; the call's own wins
    #[serde(default, rename = "runId")]
    #[schemars(length(max = ID_CHARS), extend("x-zh" = "任务所属的运行；以调用自身的为准", "x-no-default" = true, "x-no-nul" = true))]
    run_id: Option<String>,
    /// The session the tasks belong to; the call's own wins
    #[serde(default, rename = "sessionId")]
    #[schemars(length(max = ID_CHARS), extend("x-zh" = "任务所属的会话；以调用自身的为准", "x-no-default" = true, "x-no-nul" = true))]
    session_id: Option<String>,
    /// The message that led to them; the call's own wins
    #[serde(default, rename = "userMessageId")]
    #[schemars(length(max = ID_CHARS), extend("x-zh" = "对应的用户消息；以调用自身的为准", "x-no-default" = true, "x-no-nul" = true))]
    user_message_id: Option<String>,
    /// main, or subagent (also: sub, worker); the host knows better
    #[serde(default)]
    #[schemars(length(max = 64), extend("x-zh" = "调用者：main 或 subagent（也可写 sub、worker）；以主机所知为准", "x-no-default" = true))]
    caller: Option<String>,
}

/// A list, or a text that holds one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum TaskList {
    List(#[schemars(length(min = 1, max = MAX_TASKS))] Vec<TaskItem>),
    Text(#[schemars(length(min = 2), extend("x-max-bytes" = TASKS_BYTES))] String),
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
struct TaskItem {
    /// What is to be done
    #[schemars(length(min = 1, max = TITLE_CHARS), extend("x-zh" = "要做的事"))]
    title: String,
    /// Everything needed to do it
    #[serde(default)]
    #[schemars(length(max = DETAILS_CHARS), extend("x-zh" = "完成任务所需的说明"))]
    details: String,
    /// How urgent
    #[serde(default)]
    #[schemars(extend("x-zh" = "优先级"))]
    priority: Priority,
    /// How far it is
    #[serde(default)]
    #[schemars(extend("x-zh" = "状态"))]
    status: Status,
    /// Words to find it by
    #[serde(default)]
    #[schemars(length(max = TAGS), inner(length(min = 1, max = TAG_CHARS)), extend("x-zh" = "标签"))]
    tags: Vec<String>,
    /// The same key creates one task
    #[serde(default)]
    #[schemars(length(min = 1, max = 256), extend("x-zh" = "去重键：相同的键只创建一个任务", "x-no-default" = true, "x-no-nul" = true))]
    dedupe_key: Option<String>,
}

/// The list alone, to check one that came as text by the same rules.
#[derive(Debug, Deserialize, JsonSchema)]
struct OnlyTasks {
    /// The tasks
    #[schemars(length(min = 1, max = MAX_TASKS), extend("x-zh" = "任务列表"))]
    tasks: Vec<TaskItem>,
}

static ONLY_TASKS: LazyLock<Value> = LazyLock::new(arguments_schema::<OnlyTasks>);

impl Args {
    /// The tasks that are meant, however they were given.
    fn tasks(&self) -> Result<Vec<NewTask>, Vec<Issue>> {
        let items = match (&self.title, &self.tasks) {
            (Some(_), Some(_)) => {
                let message =
                    Text::fixed("title and tasks exclude each other", "title 与 tasks 不能同时使用");
                return Err(vec![Issue::new("/tasks", IssueCode::Exclusive, message)]);
            }
            (None, None) => {
                let message = Text::fixed("a title, or tasks, is needed", "需要 title 或 tasks");
                return Err(vec![Issue::new("/title", IssueCode::Missing, message)]);
            }
            (Some(title), None) => vec![TaskItem {
                title: title.clone(),
                details: self.details.clone(),
                priority: self.priority,
                status: self.status,
                tags: self.tags.clone(),
                dedupe_key: self.dedupe_key.clone(),
            }],
            (None, Some(TaskList::List(items))) => items.clone(),
            (None, Some(TaskList::Text(text))) => from_text(text)?,
        };
        let blank =
            items.iter().enumerate().filter(|(_, item)| item.title.trim().is_empty()).map(|(index, _)| {
                let path =
                    if self.tasks.is_some() { format!("/tasks/{index}/title") } else { "/title".to_owned() };
                Issue::new(
                    path,
                    IssueCode::Missing,
                    Text::fixed("a title must not be blank", "标题不能为空白"),
                )
            });
        let blank: Vec<Issue> = blank.collect();
        if !blank.is_empty() {
            return Err(blank);
        }
        Ok(items.into_iter().map(TaskItem::into_new).collect())
    }
}

impl TaskItem {
    fn into_new(self) -> NewTask {
        let mut tags: Vec<String> = Vec::new();
        for tag in self.tags {
            let tag = tag.trim();
            if !tag.is_empty() && !tags.iter().any(|known| known == tag) {
                tags.push(tag.to_owned());
            }
        }
        NewTask {
            title: self.title,
            details: self.details,
            priority: self.priority.as_str().to_owned(),
            status: self.status.as_str().to_owned(),
            tags,
            dedupe_key: self.dedupe_key,
        }
    }
}

fn from_text(text: &str) -> Result<Vec<TaskItem>, Vec<Issue>> {
    let wrong = |error: serde_json::Error| {
        let message = Text::new(
            format!("the text is not a JSON list of tasks: {error}"),
            format!("文本不是任务列表的 JSON：{error}"),
        );
        vec![Issue::new("/tasks", IssueCode::Format, message)]
    };
    let tasks: Value = serde_json::from_str(text).map_err(wrong)?;
    let checked = validation::check(&ONLY_TASKS, Some(json!({ "tasks": tasks })))?;
    let only: OnlyTasks = serde_json::from_value(Value::Object(checked)).map_err(wrong)?;
    Ok(only.tasks)
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Data {
    /// main or subagent
    caller: &'static str,
    created: Vec<Created>,
    deduped: Vec<Deduped>,
    user_changes: UserChanges,
    /// Open tasks of the list afterwards
    open: u64,
    #[serde(flatten)]
    consent: Consent,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Created {
    id: String,
    title: String,
    status: String,
    priority: String,
}

impl From<&Task> for Created {
    fn from(task: &Task) -> Self {
        Self {
            id: task.id.clone(),
            title: task.title.clone(),
            status: task.status.clone(),
            priority: task.priority.clone(),
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
struct Deduped {
    #[serde(flatten)]
    task: Created,
    /// The key was used with another content
    differs: bool,
}

impl Tool for AddTask {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    fn check(&self, args: &Args) -> Vec<Issue> {
        args.tasks().err().unwrap_or_default()
    }

    async fn call(&self, args: Args, cx: &CallCx) -> Result<Outcome<Data>, ToolError> {
        let proposed = args.tasks().map_err(ToolError::invalid)?;
        let who = caller(cx, args.caller.as_deref());
        let mut context = context(cx, &self.0, args.run_id, args.session_id);
        who.as_str().clone_into(&mut context.caller);
        if context.user_message_id.is_empty() {
            context.user_message_id = args.user_message_id.unwrap_or_default();
        }
        let ttl_days = i64::from(cx.settings.task_key_days);
        let switch = match who {
            Caller::Main => cx.settings.confirm_main_tasks,
            Caller::Subagent => cx.settings.confirm_sub_tasks,
        };
        let (mut tasks, mut changes, mut consent) = (proposed, UserChanges::default(), Consent::default());
        if switch || cx.ask {
            // What a key made already is not asked about again: the person has decided.
            let (known, new) = self.split(cx, &context, tasks, ttl_days).await?;
            tasks = known;
            if !new.is_empty() {
                let (accepted, differences, agreed) = draft::confirm(cx, who, new).await?;
                tasks.extend(accepted);
                (changes, consent) = (differences, agreed);
            }
        }
        let short = tasks.iter().any(|task| task.details.chars().count() < SHORT_DETAILS);
        let added = self.0.store.run(cx, move |store| store.add_tasks(context, tasks, ttl_days)).await?;
        let noop = added.created.is_empty();
        let mut text = headline(&added, cx.lang);
        text.push_str(&changes.lines(cx.lang));
        text.push_str(&consent.line(cx.lang));
        if short && !noop {
            text.push_str(match cx.lang {
                Lang::En => {
                    "\nHint: some details are very short; say enough that the task can be done later."
                }
                Lang::Zh => "\n提示：部分任务的说明很短；请写得足够详细，以便之后完成。",
            });
        }
        let data = Data {
            caller: who.as_str(),
            created: added.created.iter().map(Created::from).collect(),
            deduped: added
                .deduped
                .iter()
                .map(|(task, differs)| Deduped { task: task.into(), differs: *differs })
                .collect(),
            user_changes: changes,
            open: added.open,
            consent,
        };
        let body = Body::new(data, text);
        Ok(if noop { Outcome::Noop(body) } else { Outcome::Ok(body) })
    }
}

impl AddTask {
    /// Tasks whose keys are used, and the others.
    async fn split(
        &self,
        cx: &CallCx,
        context: &chatos_store::TaskContext,
        tasks: Vec<NewTask>,
        ttl_days: i64,
    ) -> Result<(Vec<NewTask>, Vec<NewTask>), ToolError> {
        let keys: Vec<String> = tasks.iter().filter_map(|task| task.dedupe_key.clone()).collect();
        if keys.is_empty() {
            return Ok((Vec::new(), tasks));
        }
        let (context, asked) = (context.clone(), keys.clone());
        let found =
            self.0.store.run(cx, move |store| store.tasks_of_keys(&context, &asked, ttl_days)).await?;
        let used: Vec<&String> =
            keys.iter().zip(&found).filter(|(_, task)| task.is_some()).map(|(key, _)| key).collect();
        Ok(tasks
            .into_iter()
            .partition(|task| task.dedupe_key.as_ref().is_some_and(|key| used.contains(&key))))
    }
}

fn headline(added: &AddedTasks, lang: Lang) -> String {
    let (new, open, old) = (added.created.len(), added.open, added.deduped.len());
    let mut text = match lang {
        Lang::En => format!("Created {new} task(s) ({open} total open, {old} deduped)"),
        Lang::Zh => format!("已创建 {new} 个任务（共 {open} 个未完成，{old} 个重复）"),
    };
    for task in &added.created {
        text.push_str(&format!("\n- [{}/{}] {} (id={})", task.status, task.priority, task.title, task.id));
    }
    for (task, differs) in &added.deduped {
        let note = match (differs, lang) {
            (false, Lang::En) => "already there",
            (true, Lang::En) => "already there, with another content",
            (false, Lang::Zh) => "已存在",
            (true, Lang::Zh) => "已存在，内容不同",
        };
        text.push_str(&format!(
            "\n= [{}/{}] {} (id={}, {note})",
            task.status, task.priority, task.title, task.id
        ));
    }
    text
}
