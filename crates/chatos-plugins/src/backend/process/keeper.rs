//! Waits for the end of a backend, brings it about when told to, and leaves nothing of its family.

use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use chatos_child::{Signal, Started};
use serde_json::json;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};

use super::{BackendError, Ended, Process, limits, lock, to_line};

/// The one owner of the process and of the tasks around it.
pub(super) struct Keeper {
    pub(super) process: Arc<Process>,
    pub(super) started: Started,
    pub(super) reader: JoinHandle<String>,
    pub(super) writer: JoinHandle<()>,
    pub(super) outputs: [JoinHandle<()>; 2],
}

impl Keeper {
    pub(super) async fn run(mut self) -> Ended {
        enum Event {
            Exit(std::io::Result<ExitStatus>),
            Lost(String),
            Kill,
            Stop,
        }
        let event = tokio::select! {
            status = self.started.wait() => Event::Exit(status),
            reason = &mut self.reader => Event::Lost(reason.unwrap_or_default()),
            () = self.process.kill.cancelled() => Event::Kill,
            () = self.process.stop.cancelled() => Event::Stop,
        };
        // One time for all of it: whoever waits for an answer hears of the end at once.
        let last_words = Instant::now() + limits::LAST_WORDS;
        let end = match event {
            Event::Exit(status) => {
                // What it said before it died still counts, unless a grandchild holds the line.
                if !self.reader.is_finished() {
                    timeout_at(last_words, &mut self.reader).await.ok();
                }
                self.crashed(&how(status), last_words).await
            }
            Event::Lost(reason) => match timeout_at(last_words, self.started.wait()).await {
                Ok(status) => self.crashed(&how(status), last_words).await,
                Err(_) => {
                    let end = self.crashed(&reason, last_words).await;
                    self.kill().await;
                    end
                }
            },
            Event::Kill => {
                let why = lock(&self.process.health).verdict.unwrap_or("killed");
                self.started.signal(Signal::KILL);
                let end = self.crashed(why, last_words).await;
                self.kill().await;
                end
            }
            Event::Stop => {
                self.dispose().await;
                Ended::Stopped
            }
        };
        self.started.end_rest().await;
        self.reader.abort();
        self.writer.abort();
        for output in &self.outputs {
            output.abort();
        }
        end
    }

    async fn crashed(&mut self, how: &str, last_words: Instant) -> Ended {
        for output in &mut self.outputs {
            if !output.is_finished() {
                timeout_at(last_words, output).await.ok();
            }
        }
        let plugin = self.process.plugin.as_str();
        let error = BackendError::exited(plugin, how, self.process.log.last(limits::TOLD_LINES));
        self.process.log.line("host", &format!("the backend exited ({how})"));
        self.process.close(&error);
        Ended::Crashed(error)
    }

    async fn kill(&mut self) {
        self.started.signal(Signal::KILL);
        self.started.wait().await.ok();
    }

    /// `dispose()` in its time, TERM, KILL: 5 s in all (security T12).
    async fn dispose(&mut self) {
        let end = Instant::now() + limits::DISPOSE;
        let stopped = BackendError::stopped(self.process.plugin.as_str());
        // Calls under way are over now; the reply to `dispose` is the exit itself.
        let id = self.process.next.fetch_add(1, Ordering::Relaxed);
        let line = to_line(&json!({ "jsonrpc": "2.0", "id": id, "method": "dispose" }));
        self.process.out.try_send(line).ok();
        self.process.close(&stopped);
        if timeout_at(end, self.started.wait()).await.is_ok() {
            return;
        }
        self.process.log.line("host", "dispose() took longer than 3 s");
        if !self.process.hurry.load(Ordering::Relaxed) {
            self.started.signal(Signal::TERM);
            if timeout(limits::TERM_TIME, self.started.wait()).await.is_ok() {
                return;
            }
        }
        self.kill().await;
    }
}

/// `code 1`, `signal 9`.
fn how(status: std::io::Result<ExitStatus>) -> String {
    use std::os::unix::process::ExitStatusExt;
    match status {
        Ok(status) => match (status.code(), status.signal()) {
            (Some(code), _) => format!("code {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => "unknown status".to_owned(),
        },
        Err(error) => error.to_string(),
    }
}
