//! Whether a backend's loop still turns, and whether anybody needs it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{Process, limits, lock};

/// When it was used, and whether it answers.
pub(super) struct Health {
    pub(super) last_used: Instant,
    /// A ping that was not answered yet, with its id.
    waiting_since: Option<(u64, Instant)>,
    busy: u64,
    /// Why it is being killed.
    pub(super) verdict: Option<&'static str>,
}

/// What is to be done about a process.
#[derive(Debug, PartialEq, Eq)]
enum Standing {
    Fine,
    /// Its loop is blocked.
    Silent,
    /// Nobody needs it.
    Idle,
}

impl Health {
    pub(super) fn new(now: Instant) -> Self {
        Self { last_used: now, waiting_since: None, busy: 0, verdict: None }
    }

    fn standing(&self, now: Instant, calls: usize) -> Standing {
        if self.waiting_since.is_some_and(|(_, since)| now - since >= limits::SILENCE) {
            Standing::Silent
        } else if calls == 0 && self.busy == 0 && now - self.last_used >= limits::IDLE {
            Standing::Idle
        } else {
            Standing::Fine
        }
    }
}

impl Process {
    /// Pings until the end: a blocked loop is killed, an idle process stopped.
    pub(super) async fn watch_health(self: Arc<Self>) {
        loop {
            tokio::select! {
                () = sleep(limits::PING_EVERY) => {}
                _ = self.wait_for_end() => return,
            }
            let calls = self.calls();
            let standing = lock(&self.health).standing(Instant::now(), calls);
            match standing {
                Standing::Silent => {
                    self.kill_for("no answer for 30 s");
                    return;
                }
                Standing::Idle => {
                    self.log.line("host", "not used for 15 minutes; the next call starts it again");
                    self.stop(false).await;
                    return;
                }
                Standing::Fine => {}
            }
            if lock(&self.health).waiting_since.is_none() {
                let process = Arc::clone(&self);
                tokio::spawn(process.ping());
            }
        }
    }

    async fn ping(self: Arc<Self>) {
        let id = self.next.load(Ordering::Relaxed);
        lock(&self.health).waiting_since = Some((id, Instant::now()));
        let answer = self.request("ping", &json!({})).await;
        let mut health = lock(&self.health);
        health.waiting_since = None;
        if let Ok(answer) = answer {
            let seen: Value = serde_json::from_str(answer.get()).unwrap_or(Value::Null);
            health.busy = seen["busy"].as_u64().unwrap_or(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_blocked_loop_is_silent_and_an_unused_one_idle() {
        let start = Instant::now();
        let health = |waiting: bool, busy| Health {
            last_used: start,
            waiting_since: waiting.then_some((1, start)),
            busy,
            verdict: None,
        };
        let later = |seconds| start + Duration::from_secs(seconds);
        let minutes = 60;
        for (health, seconds, calls, expected) in [
            (health(true, 0), 29, 1, Standing::Fine),
            (health(true, 0), 30, 1, Standing::Silent),
            (health(true, 0), 30, 0, Standing::Silent),
            (health(false, 0), 14 * minutes, 0, Standing::Fine),
            (health(false, 0), 15 * minutes, 0, Standing::Idle),
            // A call under way, a timer or a socket is use.
            (health(false, 0), 20 * minutes, 1, Standing::Fine),
            (health(false, 2), 20 * minutes, 0, Standing::Fine),
        ] {
            assert_eq!(health.standing(later(seconds), calls), expected, "{seconds} s, {calls} calls");
        }
    }
}
