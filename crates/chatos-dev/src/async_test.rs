//! AsyncTask Test without a plugin (seed 003 §5): mints a task, waits for it as a tool call does, writes its
//! result into the log as a plugin does, and says what came of it. Reader, match and time-out are the real ones.

use std::time::Duration;

use chatos_lines::Paths;
use chatos_prompts::async_task::{Ack, AsyncTask, CallError, TaskResult};
use chatos_prompts::rehearsal;
use chatos_prompts::{Prompts, RequestId, TaskId, Viewer};
use chatos_store::now_iso;
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::dev::{
    AsyncFault, AsyncField, AsyncIdForm, AsyncTestInput, AsyncTestMoment, AsyncTestResult, AsyncTestStep,
};
use serde_json::json;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// As long as a person looks at a button; long enough to see that something waits.
const WORK: Duration = Duration::from_millis(800);
/// Between the pieces of a torn line, and between a result and an acknowledgement that comes after it.
const PAUSE: Duration = Duration::from_millis(200);
const POLL: Duration = Duration::from_millis(200);
/// The wait of the test; a real one has hours.
const PATIENCE: Duration = Duration::from_secs(8);
/// The line that takes the result off the list is written beside the answer.
const ANSWER_WAIT: Duration = Duration::from_secs(2);
/// How a result may name its task besides the plain id.
const PREFIX: &str = "mcp-task:";
const TEXT_BYTES: usize = 64 * 1024;

pub(crate) async fn run(prompts: &Prompts, input: &AsyncTestInput) -> Result<AsyncTestResult, Fault> {
    let text = input.text.as_deref().unwrap_or("final output");
    if text.len() > TEXT_BYTES {
        let fault = Text::fixed("/text: at most 65536 bytes", "/text：最多 65536 字节");
        return Err(Fault::new(ErrorCode::InvalidArgument, fault));
    }
    let id = TaskId::mint();
    let named = if input.fault == AsyncFault::WrongId { TaskId::mint() } else { id.clone() };
    let request_id = match input.id_form {
        AsyncIdForm::Plain => named.as_str().to_owned(),
        AsyncIdForm::Prefixed => format!("{PREFIX}{named}"),
    };
    let line = result_line(&request_id, input.field, text);
    let mut task = AsyncTask::begin(prompts, id.clone()).map_err(|error| unwritable(prompts, &error))?;
    let (moments, mut seen) = Moments::begin();
    let writer = Writer {
        paths: prompts.paths().clone(),
        fault: input.fault,
        line: format!("{line}\n"),
        moments: moments.clone(),
    };
    let late = input.fault == AsyncFault::BeforeAck;
    let ack = async {
        if late {
            sleep(PAUSE * 2).await;
        }
        moments.note(AsyncTestMoment::Acknowledged);
        Ok::<_, std::convert::Infallible>(Ack::default())
    };
    let cancel = CancellationToken::new();
    let waiting = async {
        let waited = task.finish_with_ack(ack, "taskId", POLL, PATIENCE, &cancel).await;
        let ended =
            moments.note(if waited.is_ok() { AsyncTestMoment::Matched } else { AsyncTestMoment::GaveUp });
        (waited, ended)
    };
    let ((waited, ended), written) = tokio::join!(waiting, writer.run());
    let written = written.map_err(|error| unwritable(prompts, &error))?;
    let (found, text) = match waited {
        Ok(result) => {
            let text = result.text();
            (Some(result), text)
        }
        Err(CallError::Task(error)) => (None, error.to_string()),
        Err(CallError::Ack(never)) => match never {},
    };
    let auto_response = match &found {
        Some(result) => answer_to(prompts, result).await,
        None => None,
    };
    drop(moments);
    Ok(AsyncTestResult {
        task_id: id.as_str().to_owned(),
        request_id,
        matched: found.is_some(),
        latency_ms: found.is_some().then(|| millis(ended.saturating_duration_since(written))),
        text,
        line,
        auto_response,
        timeline: Moments::all(&mut seen),
    })
}

/// One line, without its end, as a plugin would write it.
fn result_line(request_id: &str, field: AsyncField, text: &str) -> String {
    let mut prompt = json!({ "kind": "result", "title": "AsyncTask Test" });
    let name = match field {
        AsyncField::Markdown => Some("markdown"),
        AsyncField::Result => Some("result"),
        AsyncField::Content => Some("content"),
        AsyncField::None => None,
    };
    if let Some(name) = name {
        prompt[name] = json!(text);
    }
    let line = json!({
        "ts": now_iso(), "type": "ui_prompt", "action": "request", "requestId": request_id, "prompt": prompt,
    });
    line.to_string()
}

fn unwritable(prompts: &Prompts, error: &std::io::Error) -> Fault {
    let log = prompts.paths().log.display();
    Fault::new(
        ErrorCode::Unavailable,
        Text::new(format!("cannot use the prompt log: {log}"), format!("无法使用提示日志：{log}")),
    )
    .caused_by(error)
    .hint(Text::fixed("check the permissions and the free space", "请检查权限和剩余空间"))
}

/// The part of the plugin.
struct Writer {
    paths: Paths,
    fault: AsyncFault,
    line: String,
    moments: Moments,
}

impl Writer {
    /// Gives the moment at which the whole line was there.
    async fn run(self) -> std::io::Result<Instant> {
        if self.fault == AsyncFault::BeforeAck {
            sleep(PAUSE).await;
        } else {
            sleep(WORK).await;
        }
        match self.fault {
            AsyncFault::TornLine => {
                let whole = |at: &usize| self.line.is_char_boundary(*at);
                let half = (0..=self.line.len() / 2).rev().find(whole).unwrap_or_default();
                let (first, rest) = self.line.split_at(half);
                rehearsal::write(&self.paths, first, false)?;
                self.moments.note(AsyncTestMoment::Torn);
                sleep(PAUSE).await;
                rehearsal::write(&self.paths, rest, false)?;
            }
            AsyncFault::Truncate => {
                rehearsal::write(&self.paths, "", true)?;
                self.moments.note(AsyncTestMoment::Emptied);
                rehearsal::write(&self.paths, &self.line, false)?;
            }
            AsyncFault::None | AsyncFault::BeforeAck | AsyncFault::WrongId => {
                rehearsal::write(&self.paths, &self.line, false)?;
            }
        }
        Ok(self.moments.note(AsyncTestMoment::Written))
    }
}

/// The line the host answered the result with.
async fn answer_to(prompts: &Prompts, result: &TaskResult) -> Option<String> {
    let until = Instant::now() + ANSWER_WAIT;
    loop {
        let entries = prompts.read_entries(&Viewer::Person);
        let answer = entries.into_iter().find(|entry| {
            entry["action"] == "response"
                && entry["requestId"].as_str().and_then(|id| RequestId::parse(id).ok()).as_ref()
                    == Some(&result.request_id)
        });
        if answer.is_some() || Instant::now() >= until {
            return answer.map(|entry| entry.to_string());
        }
        sleep(Duration::from_millis(20)).await;
    }
}

#[derive(Clone)]
struct Moments {
    began: Instant,
    told: UnboundedSender<AsyncTestStep>,
}

impl Moments {
    fn begin() -> (Self, UnboundedReceiver<AsyncTestStep>) {
        let (told, seen) = unbounded_channel();
        let moments = Self { began: Instant::now(), told };
        moments.note(AsyncTestMoment::Began);
        (moments, seen)
    }

    fn note(&self, what: AsyncTestMoment) -> Instant {
        let now = Instant::now();
        let step = AsyncTestStep { at_ms: millis(now.saturating_duration_since(self.began)), what };
        // Read by the one who began it, which is there until the end.
        self.told.send(step).ok();
        now
    }

    fn all(seen: &mut UnboundedReceiver<AsyncTestStep>) -> Vec<AsyncTestStep> {
        std::iter::from_fn(|| seen.try_recv().ok()).collect()
    }
}

fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 10_000.0).round() / 10.0
}
