//! Calls that wait for a person as tasks (`io.modelcontextprotocol/tasks`): the client gets an id at once and looks for
//! the result later, on this connection or another one of the same endpoint. For clients without tasks, and with little
//! patience, a model waits instead, with a tool ([`WAIT_TOOL`]).
//!
//! Tasks live as long as this process: over restarts of the host and of a client over HTTP, not of the gateway itself.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chatos_tool::{Lang, Text};
use rmcp::model::{
    CallToolResult, ContentBlock, DetailedTask, ErrorData, GetTaskResult, JsonObject, ResultType, Task,
    TaskPayload, TaskStatus,
};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// A call that works longer than this is a task, too.
pub(super) const SOFT: Duration = Duration::from_secs(60);
/// Between two looks of a client.
const POLL_MS: u64 = 2_000;
/// Tasks kept at most; the oldest that is over goes first.
const MOST: usize = 1_000;

/// The tasks of an endpoint.
#[derive(Default)]
pub(super) struct Tasks(Mutex<HashMap<String, Arc<Entry>>>);

struct Entry {
    created_at: i64,
    ttl: Duration,
    cancel: CancellationToken,
    over: CancellationToken,
    now: Mutex<Now>,
}

struct Now {
    changed_at: i64,
    payload: TaskPayload,
}

impl Entry {
    fn put(&self, payload: TaskPayload) {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(now.payload, TaskPayload::Working) {
            *now = Now { changed_at: chatos_store::now_ms(), payload };
            self.over.cancel();
        }
    }

    fn is_over(&self) -> bool {
        self.over.is_cancelled()
    }

    fn told(&self, id: &str, lang: Lang) -> DetailedTask {
        let now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        let mut task = Task::new(
            id,
            TaskStatus::Working,
            chatos_store::iso_from_ms(self.created_at),
            chatos_store::iso_from_ms(now.changed_at),
        )
        .with_ttl_ms(u64::try_from(self.ttl.as_millis()).unwrap_or(u64::MAX))
        .with_poll_interval_ms(POLL_MS);
        if matches!(now.payload, TaskPayload::Working) {
            task = task.with_status_message(WAITING.get(lang));
        }
        DetailedTask::new(task, now.payload.clone())
    }
}

const WAITING: Text =
    Text::fixed("working, or waiting for an answer in ChatOS", "正在执行，或等待在 ChatOS 中回答");

const UNKNOWN: Text =
    Text::fixed("there is no such call, or its result was given already", "没有这个调用，或其结果已经给出");
const WITHDRAWN: Text =
    Text::fixed("the call was withdrawn; nothing more comes", "该调用已撤回，不会再有结果");

/// The tool a model waits with.
pub(super) const WAIT_TOOL: &str = "chatos_wait";

/// Its definition.
pub(super) fn wait_tool(lang: Lang) -> Value {
    let about = Text::fixed(
        "Waits for the result of a call that was answered with needs_input because a person has to answer first.",
        "等待某个调用的结果：该调用因需要用户先回答而返回了 needs_input。",
    );
    json!({
        "name": WAIT_TOOL, "description": about.get(lang), "annotations": { "readOnlyHint": true },
        "inputSchema": {
            "type": "object", "required": ["call"], "additionalProperties": false,
            "properties": { "call": { "type": "string" } },
        },
    })
}

fn said(text: &str, failed: bool) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.is_error = Some(failed);
    result
}

/// What a model is told of a call that goes on without it.
pub(super) fn parked(id: &str, lang: Lang) -> CallToolResult {
    said(
        &match lang {
            Lang::En => format!(
                "needs_input: a person has to answer in ChatOS first. Do not repeat the call; get its result with {WAIT_TOOL} {{\"call\": \"{id}\"}}."
            ),
            Lang::Zh => format!(
                "needs_input：需要用户先在 ChatOS 中回答。请勿重复调用；用 {WAIT_TOOL} {{\"call\": \"{id}\"}} 获取结果。"
            ),
        },
        false,
    )
}

/// A call under way.
pub(super) type Work = JoinHandle<Result<CallToolResult, ErrorData>>;

impl Tasks {
    /// Keeps a call that goes on; gives what the client is told of it.
    pub(super) fn keep(&self, work: Work, cancel: CancellationToken, ttl: Duration, lang: Lang) -> Task {
        let id = uuid::Uuid::new_v4().simple().to_string();
        let at = chatos_store::now_ms();
        let now = Mutex::new(Now { changed_at: at, payload: TaskPayload::Working });
        let over = CancellationToken::new();
        let entry = Arc::new(Entry { created_at: at, ttl, cancel: cancel.clone(), over, now });
        {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let expired = |entry: &Entry| {
                at - entry.created_at > i64::try_from(entry.ttl.as_millis()).unwrap_or(i64::MAX)
            };
            all.retain(|_, entry| !expired(entry));
            if all.len() >= MOST {
                let over = all.iter().filter(|(_, entry)| entry.is_over());
                if let Some(oldest) = over.min_by_key(|(_, entry)| entry.created_at).map(|(id, _)| id.clone())
                {
                    all.remove(&oldest);
                }
            }
            all.insert(id.clone(), Arc::clone(&entry));
        }
        let told = entry.told(&id, lang).task;
        // Ends with the call, which ends with its process.
        tokio::spawn(async move {
            let mut work = work;
            let payload = tokio::select! {
                ended = &mut work => ended_as(ended, cancel.is_cancelled()),
                () = tokio::time::sleep(ttl) => {
                    cancel.cancel();
                    TaskPayload::Cancelled
                }
            };
            entry.put(payload);
        });
        told
    }

    fn find(&self, id: &str) -> Result<Arc<Entry>, ErrorData> {
        let found = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned();
        found.ok_or_else(|| ErrorData::invalid_params("unknown task", None))
    }

    /// How a task stands.
    pub(super) fn get(&self, id: &str, lang: Lang) -> Result<GetTaskResult, ErrorData> {
        Ok(GetTaskResult::new(self.find(id)?.told(id, lang)))
    }

    /// Answers to questions a task has; none has any, because they are asked elsewhere.
    pub(super) fn update(&self, id: &str) -> Result<(), ErrorData> {
        self.find(id).map(drop)
    }

    /// What a model that waits with [`WAIT_TOOL`] is told: the result, once, or that it is not there yet.
    pub(super) async fn wait(&self, id: &str, patience: Duration, lang: Lang) -> CallToolResult {
        let Ok(entry) = self.find(id) else { return said(UNKNOWN.get(lang), true) };
        if tokio::time::timeout(patience, entry.over.cancelled()).await.is_err() {
            return parked(id, lang);
        }
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        let now = entry.now.lock().unwrap_or_else(PoisonError::into_inner);
        match &now.payload {
            TaskPayload::Completed { result } => serde_json::from_value(Value::Object(result.clone()))
                .unwrap_or_else(|_| said(WITHDRAWN.get(lang), true)),
            TaskPayload::Failed { error } => {
                said(error.get("message").and_then(Value::as_str).unwrap_or_default(), true)
            }
            _ => said(WITHDRAWN.get(lang), true),
        }
    }

    /// Withdraws a call; one that is over stays what it is.
    pub(super) fn cancel(&self, id: &str) -> Result<(), ErrorData> {
        let entry = self.find(id)?;
        entry.cancel.cancel();
        entry.put(TaskPayload::Cancelled);
        Ok(())
    }
}

type Ended = Result<Result<CallToolResult, ErrorData>, tokio::task::JoinError>;

fn ended_as(ended: Ended, canceled: bool) -> TaskPayload {
    match ended {
        Ok(Ok(mut result)) => {
            result.result_type = Some(ResultType::COMPLETE);
            TaskPayload::Completed { result: object(&result) }
        }
        _ if canceled => TaskPayload::Cancelled,
        Ok(Err(error)) => TaskPayload::Failed { error: object(&error) },
        Err(error) => {
            tracing::error!(%error, "a call ended without a result");
            TaskPayload::Failed { error: object(&ErrorData::internal_error("internal", None)) }
        }
    }
}

fn object(value: &impl Serialize) -> JsonObject {
    serde_json::to_value(value).ok().and_then(|value| value.as_object().cloned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_task_is_looked_at_until_it_is_over_and_withdrawn_only_before() {
        let tasks = Tasks::default();
        let day = Duration::from_secs(86_400);
        let (go, wait) = tokio::sync::oneshot::channel::<()>();
        let work: Work = tokio::spawn(async move {
            wait.await.ok();
            Ok(CallToolResult::success(Vec::new()))
        });
        let id = tasks.keep(work, CancellationToken::new(), day, Lang::En).task_id;
        let status = |tasks: &Tasks, id: &str| tasks.get(id, Lang::En).unwrap().task.status();
        assert_eq!(status(&tasks, &id), TaskStatus::Working);
        tasks.update(&id).unwrap();
        go.send(()).unwrap();
        while status(&tasks, &id) == TaskStatus::Working {
            tokio::task::yield_now().await;
        }
        let TaskPayload::Completed { result } = tasks.get(&id, Lang::En).unwrap().task.payload else {
            panic!("it has a result");
        };
        assert_eq!(result["resultType"], "complete");
        tasks.cancel(&id).unwrap();
        assert_eq!(status(&tasks, &id), TaskStatus::Completed, "what is done stays done");

        let cancel = CancellationToken::new();
        let work: Work = tokio::spawn(std::future::pending());
        let id = tasks.keep(work, cancel.clone(), day, Lang::En).task_id;
        tasks.cancel(&id).unwrap();
        assert!(cancel.is_cancelled());
        assert_eq!(status(&tasks, &id), TaskStatus::Cancelled);
        assert!(tasks.get("other", Lang::En).is_err() && tasks.cancel("other").is_err());
    }

    #[tokio::test]
    async fn a_model_gets_a_result_once() {
        let tasks = Tasks::default();
        let (go, wait) = tokio::sync::oneshot::channel::<()>();
        let work: Work = tokio::spawn(async move {
            wait.await.ok();
            Ok(said("done", false))
        });
        let id = tasks.keep(work, CancellationToken::new(), Duration::from_secs(86_400), Lang::En).task_id;
        let text =
            |result: CallToolResult| object(&result)["content"][0]["text"].as_str().unwrap().to_owned();
        assert!(text(tasks.wait(&id, Duration::ZERO, Lang::En).await).contains(&id), "not yet");
        go.send(()).unwrap();
        let patience = Duration::from_secs(600);
        assert_eq!(text(tasks.wait(&id, patience, Lang::En).await), "done");
        let again = tasks.wait(&id, patience, Lang::En).await;
        assert_eq!(again.is_error, Some(true));
    }
}
