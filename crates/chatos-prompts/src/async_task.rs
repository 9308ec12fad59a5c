//! AsyncTask (seed 003, `ai-contributions §11`): the result of a tool call that arrives in the prompt log.
//!
//! The dispatcher sends the call; this module mints the id, recognises the result, waits for it and
//! says how it ended.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::ids::{RequestId, TWIN_PREFIX, TaskId};
use crate::json::Object;
use crate::kind::result::ResultText;
use crate::prompts::{Cursor, Prompts, ResultEntry, ResultWait, WaitError};

/// Bounds of the safety poll.
pub const MIN_POLL: Duration = Duration::from_millis(200);
pub const MAX_POLL: Duration = Duration::from_secs(5);

/// How long a result waits for an ACK that is still outstanding.
const ACK_GRACE: Duration = Duration::from_secs(5);

/// How long a result waits for its own line that takes it off the list.
const CONSUME_GRACE: Duration = Duration::from_millis(5);

/// An id a server says it minted itself must have this many characters.
const ACK_ID_CHARS: std::ops::RangeInclusive<usize> = 8..=256;

/// How a task ended well.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskResult {
    /// As written in the log: the task id or its twin.
    pub request_id: RequestId,
    pub text: ResultText,
    /// `prompt.isError === true`.
    pub is_error: bool,
    /// Matched by an id from the server's ACK, not by the minted one.
    pub id_from_ack: bool,
    task: String,
}

impl TaskResult {
    /// The text for the caller; a task without one says so.
    pub fn text(&self) -> String {
        match self.text.as_str() {
            Some(text) => text.to_owned(),
            None => format!("The task finished without a result text (task {}).", self.task),
        }
    }

    /// True when there was no text: worth a warning in the tool log.
    pub fn is_empty(&self) -> bool {
        self.text == ResultText::Empty
    }
}

/// How a task ended otherwise.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TaskError {
    #[error("No result for task {task} after {} in {}; {seen} result entries were seen, none with this id.", human(*after), file.display())]
    Timeout { task: String, after: Duration, file: PathBuf, seen: u64 },
    #[error("Canceled while waiting for task {task}.")]
    Canceled { task: String },
    #[error("The prompt log {} cannot be read: {reason}", file.display())]
    Unavailable { file: PathBuf, reason: String },
}

/// What the server answered to the call.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ack {
    pub structured: Option<Value>,
    /// The text blocks.
    pub texts: Vec<String>,
}

impl Ack {
    /// The id the server says it minted itself, when that is not ours.
    pub fn own_id(&self, ours: &str, task_id_key: &str) -> Option<String> {
        let named = |value: &Value| value.get(task_id_key).and_then(Value::as_str).map(str::to_owned);
        let from_text = || {
            self.texts.iter().find_map(|text| {
                let value: Value = serde_json::from_str(text.trim()).ok()?;
                value.is_object().then(|| named(&value)).flatten()
            })
        };
        let id = self.structured.as_ref().and_then(named).or_else(from_text)?;
        (id != ours && ACK_ID_CHARS.contains(&id.chars().count())).then_some(id)
    }
}

/// How a call ended without a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallError<E> {
    /// The ACK was an error; as the transport gave it.
    Ack(E),
    Task(TaskError),
}

/// A task whose result is waited for. Begin it before the call is sent; drop it to give up.
pub struct AsyncTask {
    prompts: Prompts,
    wait: ResultWait,
    id: TaskId,
    cursor: Cursor,
    began: Instant,
}

impl AsyncTask {
    /// Takes the cursor and registers the id and its twin. Call this before sending.
    pub fn begin(prompts: &Prompts, id: TaskId) -> std::io::Result<Self> {
        let cursor = prompts.cursor()?;
        Ok(Self::resume(prompts, id, cursor))
    }

    /// Goes on with a wait that was recorded with its cursor before a restart.
    pub fn resume(prompts: &Prompts, id: TaskId, cursor: Cursor) -> Self {
        let wait = prompts.expect_result(&spellings(id.as_str()), cursor);
        Self { prompts: prompts.clone(), wait, id, cursor, began: Instant::now() }
    }

    /// So much of its time was over before this process began.
    pub fn after(mut self, waited: Duration) -> Self {
        self.began = self.began.checked_sub(waited).unwrap_or(self.began);
        self
    }

    /// Also takes a result under this id, which the server named in its ACK.
    pub fn also(&mut self, id: &str) {
        for spelling in spellings(id) {
            self.wait.also(&spelling);
        }
    }

    pub fn id(&self) -> &TaskId {
        &self.id
    }

    /// The offset to store with the call record.
    pub fn cursor(&self) -> Cursor {
        self.cursor
    }

    /// Looks at the ACK: a server that ignores `_meta` and mints its own id names it there
    /// (`ai-contributions §11.2` step 3).
    pub fn acknowledged(&mut self, ack: &Ack, task_id_key: &str) {
        if let Some(id) = ack.own_id(self.id.as_str(), task_id_key) {
            self.also(&id);
        }
    }

    /// Waits until a result line appears. The first matching line in file order counts. The result is
    /// acknowledged in the log, so that it does not stay open.
    pub async fn finish(
        &mut self,
        poll: Duration,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Result<TaskResult, TaskError> {
        let deadline = self.began + timeout;
        match self.wait.wait(poll.clamp(MIN_POLL, MAX_POLL), Some(deadline), cancel).await {
            Ok(found) => Ok(self.consume(found).await),
            Err(error) => Err(self.ended(error, timeout)),
        }
    }

    /// [`AsyncTask::finish`] while the ACK is outstanding: the result may come before it. An ACK that is
    /// an error ends the call; a result that came first is returned after the ACK had five seconds more
    /// (`ai-contributions §11.2` steps 3 and 8).
    pub async fn finish_with_ack<E>(
        &mut self,
        ack: impl Future<Output = Result<Ack, E>>,
        task_id_key: &str,
        poll: Duration,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Result<TaskResult, CallError<E>> {
        tokio::pin!(ack);
        let deadline = Some(self.began + timeout);
        let poll = poll.clamp(MIN_POLL, MAX_POLL);
        let early = tokio::select! {
            biased;
            answered = &mut ack => match answered {
                Ok(ack) => {
                    self.acknowledged(&ack, task_id_key);
                    None
                }
                Err(error) => return Err(CallError::Ack(error)),
            },
            found = self.wait.wait(poll, deadline, cancel) => Some(found),
        };
        let found = match early {
            None => self.wait.wait(poll, deadline, cancel).await,
            Some(Ok(found)) => {
                // Whatever it says now, the work is done.
                let late = tokio::time::timeout(ACK_GRACE, ack).await;
                tracing::debug!(in_time = late.is_ok(), task = %self.id, "the result came before the ACK");
                Ok(found)
            }
            Some(failed) => failed,
        };
        match found {
            Ok(found) => Ok(self.consume(found).await),
            Err(error) => Err(CallError::Task(self.ended(error, timeout))),
        }
    }

    // ai-contributions §11.2 steps 6 and 7. The caller does not wait for a slow disk: the line that takes
    // the entry off the list is written beside.
    async fn consume(&self, found: ResultEntry) -> TaskResult {
        let (prompts, id) = (self.prompts.clone(), found.request_id.clone());
        let consumed = chatos_blocking::run(move || {
            if let Err(error) = prompts.consume_result(&id) {
                // The result counts all the same; it only stays listed.
                tracing::warn!(%error, task = %id, "cannot acknowledge the result of a task");
            }
        });
        let in_time = tokio::time::timeout(CONSUME_GRACE, consumed).await.is_ok();
        tracing::trace!(in_time, task = %self.id, "the result is taken off the list");
        let id_from_ack = !is_spelling_of(found.request_id.as_str(), self.id.as_str());
        TaskResult {
            text: ResultText::of(&found.prompt),
            is_error: found.prompt.get("isError") == Some(&Value::Bool(true)),
            request_id: found.request_id,
            id_from_ack,
            task: self.id.as_str().to_owned(),
        }
    }

    fn ended(&self, error: WaitError, timeout: Duration) -> TaskError {
        let task = self.id.as_str().to_owned();
        let file = self.prompts.paths().log.clone();
        match error {
            WaitError::Timeout => {
                TaskError::Timeout { task, after: timeout, file, seen: self.wait.results_seen() }
            }
            WaitError::LogUnreadable { path, reason } => TaskError::Unavailable { file: path, reason },
            WaitError::Canceled | WaitError::Closed | WaitError::UnknownRequest(_) => {
                TaskError::Canceled { task }
            }
        }
    }
}

/// The arguments of the server's cancel tool: every spelling of the id and the call that its input schema
/// allows (`ai-contributions §11.3`).
pub fn cancel_arguments(
    task: &TaskId,
    task_id_key: &str,
    session_id: Option<&str>,
    tool_call_id: Option<&str>,
    input_schema: &Value,
) -> Object {
    let id = Some(task.as_str());
    let offered = [
        ("taskId", id),
        ("task_id", id),
        (task_id_key, id),
        ("sessionId", session_id),
        ("toolCallId", tool_call_id),
        ("tool_call_id", tool_call_id),
    ];
    let open = input_schema.get("additionalProperties") != Some(&Value::Bool(false));
    let allowed = |key: &str| open || input_schema.get("properties").is_some_and(|p| p.get(key).is_some());
    offered
        .into_iter()
        .filter(|(key, _)| allowed(key))
        .filter_map(|(key, value)| Some((key.to_owned(), value?.into())))
        .collect()
}

/// True when `entry` (a whole line) is the result of `task` (seed 003 §4). The waiting above uses the
/// index; this is the rule in one place, for sandboxes and tests.
pub fn is_result_of(entry: &Object, task: &str) -> bool {
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    text("type") == Some("ui_prompt")
        && text("action") == Some("request")
        && entry.get("prompt").and_then(|p| p.get("kind")).and_then(Value::as_str) == Some("result")
        && text("requestId").is_some_and(|id| is_spelling_of(id.trim(), task))
}

fn is_spelling_of(id: &str, task: &str) -> bool {
    id == task || id.strip_prefix(TWIN_PREFIX) == Some(task)
}

fn spellings(id: &str) -> Vec<RequestId> {
    let twin = format!("{TWIN_PREFIX}{id}");
    [id, &twin].into_iter().filter_map(|id| RequestId::parse(id).ok()).collect()
}

fn human(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0 => format!("{} ms", duration.as_millis()),
        s if s % 3600 == 0 => format!("{} h", s / 3600),
        s if s % 60 == 0 => format!("{} min", s / 60),
        s => format!("{s} s"),
    }
}
