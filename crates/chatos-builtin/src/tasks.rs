//! The server `task_manager`: tasks in the database, the same ones a person sees and edits (servers §6).

mod adding;
mod changing;
mod draft;
mod reading;

use chatos_layer::{CallCx, Caller, Server, ServerEnv, ServerInfo, TaskScope};
use chatos_store::{Task, TaskContext, iso_from_ms};
use chatos_tool::{Lang, Reason, Text, ToolError, Transport};
use schemars::JsonSchema;
use serde::Serialize;

/// `task_manager`.
pub static INFO: ServerInfo = ServerInfo {
    name: "task_manager",
    id: "56b1ee50-8160-4ec8-89ed-b65c81b8a3fd",
    title: Text::fixed("Tasks", "任务"),
    instructions: Text::fixed(
        "Keeps a list of tasks that the person sees and can edit. Add tasks before long work, update them while you \
         work, complete them with a note of what was done. Give a dedupe_key when a call may be repeated. Lists show \
         the tasks of the current session and run unless asked otherwise.",
        "维护一份用户可见、可编辑的任务列表。开始较长的工作前添加任务，过程中更新，完成时附上说明。调用可能重复时请提供 \
         dedupe_key。列表默认只显示当前会话和当前运行的任务。",
    ),
    needs_root: false,
    slots: 8,
    waits_hold_slot: false,
};

/// `task_manager` with its tools.
pub fn server(env: &ServerEnv) -> Server {
    Server::new(&INFO)
        .with(adding::AddTask(env.clone()))
        .with(reading::ListTasks(env.clone()))
        .with(reading::GetTask(env.clone()))
        .with(changing::UpdateTask(env.clone()))
        .with(changing::CompleteTask(env.clone()))
        .with(changing::ClearTasks(env.clone()))
        .with(changing::DeleteTask(env.clone()))
}

/// Characters of a title.
const TITLE_CHARS: usize = 300;
/// Characters of details and notes.
const DETAILS_CHARS: usize = 16_000;
/// Tags of a task, and characters of one.
const TAGS: usize = 20;
const TAG_CHARS: usize = 64;
/// Characters of ids that come from outside.
const ID_CHARS: usize = 256;

/// A task as results show it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TaskData {
    id: String,
    title: String,
    details: String,
    status: String,
    priority: String,
    tags: Vec<String>,
    run_id: String,
    session_id: String,
    user_message_id: String,
    created_at: String,
    updated_at: String,
    completed_at: Option<String>,
    notes: Vec<NoteData>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct NoteData {
    /// note or completion
    kind: String,
    text: String,
    created_at: String,
}

impl From<Task> for TaskData {
    fn from(task: Task) -> Self {
        let notes = task.notes.into_iter().map(|note| NoteData {
            kind: note.kind,
            text: note.text,
            created_at: iso_from_ms(note.created_at),
        });
        Self {
            id: task.id,
            title: task.title,
            details: task.details,
            status: task.status,
            priority: task.priority,
            tags: task.tags,
            run_id: task.run_id,
            session_id: task.session_id,
            user_message_id: task.user_message_id,
            created_at: iso_from_ms(task.created_at),
            updated_at: iso_from_ms(task.updated_at),
            completed_at: task.completed_at.map(iso_from_ms),
            notes: notes.collect(),
        }
    }
}

impl TaskData {
    /// `[status/priority] title (id=…, session=…) #tag`
    fn line(&self) -> String {
        let session = match self.session_id.as_str() {
            "" => String::new(),
            session => format!(", session={session}"),
        };
        let tags: String = self.tags.iter().map(|tag| format!(" #{tag}")).collect();
        format!("[{}/{}] {} (id={}{session}){tags}", self.status, self.priority, self.title, self.id)
    }

    /// The line, the details and every note.
    fn whole(&self, lang: Lang) -> String {
        let mut text = self.line();
        if !self.details.is_empty() {
            text.push('\n');
            text.push_str(&self.details);
        }
        for note in &self.notes {
            let word = match (note.kind.as_str(), lang) {
                ("completion", Lang::En) => format!("Completed {}: ", note.created_at),
                ("completion", Lang::Zh) => format!("完成于 {}: ", note.created_at),
                (_, Lang::En) => "Note: ".to_owned(),
                (_, Lang::Zh) => "备注: ".to_owned(),
            };
            text.push_str(&format!("\n{word}{}", note.text));
        }
        text
    }
}

/// Where a call's tasks belong. `_meta` wins over arguments, arguments over the environment; what nobody
/// says stays empty.
fn context(cx: &CallCx, env: &ServerEnv, run_id: Option<String>, session_id: Option<String>) -> TaskContext {
    let pick = |meta: &Option<String>, given: Option<String>, own: &Option<String>| {
        let given = given.filter(|text| !text.trim().is_empty());
        meta.clone().or(given).or_else(|| own.clone()).unwrap_or_default()
    };
    TaskContext {
        scope: scope(cx, env).to_owned(),
        caller: cx.caller.as_str().to_owned(),
        run_id: pick(&cx.trace.run_id, run_id, &env.run_id),
        session_id: pick(&cx.trace.session_id, session_id, &env.session_id),
        user_message_id: cx.user_message_id.clone().unwrap_or_default(),
    }
}

/// The list a call works on: as the process was told, else by who calls.
fn scope(cx: &CallCx, env: &ServerEnv) -> &'static str {
    let by_caller = if cx.transport == Transport::InProcess { TaskScope::Chat } else { TaskScope::Default };
    env.task_scope.unwrap_or(by_caller).as_str()
}

/// Who adds tasks. In the host the context knows; another process is told by its client.
fn caller(cx: &CallCx, given: Option<&str>) -> Caller {
    if cx.caller == Caller::Subagent || cx.transport == Transport::InProcess {
        return cx.caller;
    }
    match given.map(|word| word.trim().to_ascii_lowercase()).as_deref() {
        Some("sub" | "subagent" | "worker") => Caller::Subagent,
        _ => Caller::Main,
    }
}

fn no_task(id: &str) -> ToolError {
    let reason = Reason::NotFound {
        what: "task".to_owned(),
        id: Some(id.to_owned()),
        path: None,
        nearest: Vec::new(),
    };
    ToolError::new(reason, Text::new(format!("there is no task `{id}`"), format!("没有任务 `{id}`"))).hint(
        Text::fixed(
            "list_tasks with allSessions shows every id",
            "用 list_tasks 并设 allSessions 可查看全部编号",
        ),
    )
}

#[cfg(test)]
mod tests;
