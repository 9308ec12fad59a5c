//! Tasks of a server (`io.modelcontextprotocol/tasks`): what it says about them, and the three
//! requests. Keeping them over a restart is the caller's; the id is all that is needed.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::connection::Connection;
use crate::elicitation::InputRequest;
use crate::failure::{Failure, Waited};
use crate::message::{self, RpcError};
use crate::result::ToolResult;
use crate::session::Wait;

/// One request about a task.
const REQUEST: Duration = Duration::from_secs(60);
/// Between two looks, when the server does not say.
const POLL: Duration = Duration::from_secs(5);
/// Bounds of what it may say.
const POLL_MIN: Duration = Duration::from_millis(200);
const POLL_MAX: Duration = Duration::from_secs(300);

/// A task as the server describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskState {
    /// The server's id of it.
    pub id: String,
    /// Where it is.
    pub status: TaskStatus,
    /// In words.
    pub message: Option<String>,
    /// When to look again.
    pub poll: Duration,
    /// How long the server keeps it, from its beginning.
    pub ttl: Option<Duration>,
}

/// Where a task is.
#[derive(Debug, Clone, PartialEq)]
pub enum TaskStatus {
    /// It goes on.
    Working,
    /// It waits for answers, by the server's own keys.
    InputRequired(Vec<(String, InputRequest)>),
    /// It is done.
    Completed(ToolResult),
    /// It failed.
    Failed(RpcError),
    /// It was cancelled.
    Cancelled,
}

impl TaskStatus {
    /// Nothing more happens with it.
    pub fn is_over(&self) -> bool {
        matches!(self, Self::Completed(_) | Self::Failed(_) | Self::Cancelled)
    }
}

impl TaskState {
    /// Reads a task, as it comes from a call, from `tasks/get` and from notifications.
    pub fn read(raw: &Value) -> Result<Self, String> {
        let text = |key: &str| raw.get(key).and_then(Value::as_str).map(str::to_owned);
        let millis = |key: &str| raw.get(key).and_then(Value::as_u64).map(Duration::from_millis);
        let id = text("taskId").filter(|id| !id.is_empty() && id.len() <= 1_024);
        let id = id.ok_or("its task has no id")?;
        let status = match raw.get("status").and_then(Value::as_str) {
            Some("working") => TaskStatus::Working,
            Some("input_required") => {
                let requests = raw.get("inputRequests").and_then(Value::as_object);
                let requests = requests.into_iter().flatten();
                TaskStatus::InputRequired(
                    requests.map(|(key, request)| (key.clone(), InputRequest::from_json(request))).collect(),
                )
            }
            Some("completed") => {
                let result = raw.get("result").cloned().unwrap_or(Value::Null);
                TaskStatus::Completed(ToolResult::read(result, None))
            }
            Some("failed") => {
                TaskStatus::Failed(message::rpc_error(raw.get("error").cloned().unwrap_or(Value::Null)))
            }
            Some("cancelled") => TaskStatus::Cancelled,
            other => return Err(format!("its task has the unknown status {other:?}")),
        };
        let poll = millis("pollIntervalMs").unwrap_or(POLL).clamp(POLL_MIN, POLL_MAX);
        Ok(Self { id, status, message: text("statusMessage"), poll, ttl: millis("ttlMs") })
    }

    /// Whether nothing more will come.
    pub fn is_over(&self) -> bool {
        matches!(self.status, TaskStatus::Completed(_) | TaskStatus::Failed(_) | TaskStatus::Cancelled)
    }
}

impl Connection {
    /// Where a task is now.
    pub async fn task(&self, id: &str) -> Result<TaskState, Failure> {
        let result = self.about_task("tasks/get", id, Map::new()).await?;
        TaskState::read(&result).map_err(|detail| Failure::Protocol { detail })
    }

    /// Answers the questions of a task; the values are those of the protocol.
    pub async fn answer_task(&self, id: &str, answers: Map<String, Value>) -> Result<(), Failure> {
        let mut params = Map::new();
        params.insert("inputResponses".to_owned(), Value::Object(answers));
        self.about_task("tasks/update", id, params).await.map(drop)
    }

    /// Asks the server to end a task.
    pub async fn cancel_task(&self, id: &str) -> Result<(), Failure> {
        self.about_task("tasks/cancel", id, Map::new()).await.map(drop)
    }

    async fn about_task(
        &self,
        method: &str,
        id: &str,
        mut params: Map<String, Value>,
    ) -> Result<Value, Failure> {
        params.insert("taskId".to_owned(), json!(id));
        let ask = self.ask(method, params, Wait::total(Waited::Request, REQUEST));
        self.session.ask(ask).await.map_err(|ended| ended.failure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_is_read_and_the_interval_is_bounded() {
        let read = |raw: Value| TaskState::read(&raw);
        let working =
            read(json!({ "taskId": "t", "status": "working", "pollIntervalMs": 1, "ttlMs": null })).unwrap();
        assert_eq!((working.poll, working.ttl, working.is_over()), (POLL_MIN, None, false));
        let done = read(
            json!({ "taskId": "t", "status": "completed", "result": { "content": [{ "type": "text", "text": "x" }] } }),
        );
        assert!(matches!(done.unwrap().status, TaskStatus::Completed(result) if result.text() == "x"));
        let failed =
            read(json!({ "taskId": "t", "status": "failed", "error": { "code": -1, "message": "no" } }))
                .unwrap();
        assert!(failed.is_over());
        let asks = read(
            json!({ "taskId": "t", "status": "input_required", "inputRequests": { "a": { "method": "roots/list" } } }),
        );
        assert!(matches!(asks.unwrap().status, TaskStatus::InputRequired(requests) if requests.len() == 1));
        assert!(read(json!({ "taskId": "t", "status": "dreaming" })).is_err());
        assert!(read(json!({ "status": "working" })).is_err());
    }
}
