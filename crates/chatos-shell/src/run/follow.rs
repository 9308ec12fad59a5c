//! Following a command from its start to its end: both streams, the deadline, the caller, questions the
//! program seems to ask, and what it leaves behind.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chatos_layer::{CallCx, Stop};
use chatos_tool::{Needed, Text, ToolError};
use serde_json::json;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio::time::sleep_until;

use super::{Prepared, not_started};
use crate::check::{Finding, Grade};
use crate::output::{Capture, Printed, clean};
use crate::pool::{self, Link, Pipes, Pool};
use crate::prompting::{self, InputHint};
use crate::sandbox::Level;
use crate::server::Shop;
use crate::wire::{Order, Report};

/// servers §3.5: from TERM to KILL.
pub(crate) const GRACE_MS: u64 = 2_000;
/// At the end of the server there is less time: everything has to be over in three seconds.
const SHUTDOWN_GRACE_MS: u64 = 1_000;
/// After KILL the system needs a moment to let go.
const AFTER_KILL: Duration = Duration::from_secs(3);
/// servers §3.4: a background child may hold the streams open.
const HELD: Duration = Duration::from_millis(500);
/// Most commands print little; one that fills this is read in large pieces from then on.
const FIRST_BYTES: usize = 8 << 10;
const READ_BYTES: usize = 256 << 10;
const TICK: Duration = Duration::from_millis(500);

/// How a command went.
pub(crate) struct Followed {
    pub(super) level: Level,
    pub(super) exit_code: Option<i32>,
    pub(super) signal: Option<i32>,
    pub(super) timed_out: bool,
    /// Somebody wanted it to stop.
    pub(super) stopped: Option<Stop>,
    pub(super) elapsed: Duration,
    pub(super) stdout: Printed,
    pub(super) stderr: Printed,
    pub(super) findings: Vec<Finding>,
    pub(super) input_hint: Option<InputHint>,
}

/// Ends the command when the call is dropped without a word.
struct Guard {
    link: Option<Link>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(link) = &self.link {
            link.send_now(&Order::End { grace_ms: GRACE_MS });
        }
    }
}

/// Starts the command and follows it.
pub(super) async fn follow(
    shop: &Arc<Shop>,
    cx: &CallCx,
    prepared: &Prepared,
    timeout: Duration,
) -> Result<Followed, ToolError> {
    use std::os::fd::AsFd;
    tracing::debug!(approved = ?prepared.approval.request_id(), "a command starts");
    let started = shop.pool.run(prepared.job.clone(), prepared.dir.handle.as_fd()).await;
    let (link, pipes) = started.map_err(|error| not_running(&error))?;
    let mut guard = Guard { link: Some(link) };
    let room = cx.settings.shell.buffer_bytes;
    let mut run = Run {
        pipes: Some(pipes),
        out: Capture::new(room),
        err: Capture::new(room),
        out_open: true,
        err_open: true,
        level: None,
        ended: None,
        idle: false,
        lost: false,
        began: Instant::now(),
        printed_at: Instant::now(),
        elapsed: Duration::ZERO,
        deadline: Instant::now() + timeout,
        ending: None,
        timed_out: false,
        stopped: None,
        held: false,
        too_many: None,
        left: 0,
        hint: None,
    };
    run.until_done(cx, &mut guard).await?;
    let Run { mut pipes, out, err, .. } = run;
    // What is left of it goes on, or ends, without this call.
    if let Some(link) = guard.link.take() {
        if run.idle {
            shop.pool.put(link);
        } else if run.lost {
            let token = prepared.token.clone();
            cx.tracker.spawn_blocking(move || pool::sweep(&token));
        } else {
            let rest =
                Rest { link, pipes: pipes.take(), ending: run.ending.is_some(), pool: shop.pool.clone() };
            let shutdown = cx.shutdown.clone();
            cx.tracker.spawn(async move {
                rest.settle(shutdown).await;
            });
        }
    }
    let findings = findings(cx, run.held, run.left, run.too_many, run.lost);
    Ok(Followed {
        level: run.level.unwrap_or(Level::None),
        exit_code: run.ended.and_then(|(code, _)| code),
        signal: run.ended.and_then(|(_, signal)| signal),
        timed_out: run.timed_out,
        stopped: run.stopped,
        elapsed: run.elapsed,
        stdout: out.finish(cx.redactor()),
        stderr: err.finish(cx.redactor()),
        findings,
        input_hint: run.hint,
    })
}

struct Run {
    pipes: Option<Pipes>,
    out: Capture,
    err: Capture,
    out_open: bool,
    err_open: bool,
    level: Option<Level>,
    ended: Option<(Option<i32>, Option<i32>)>,
    idle: bool,
    lost: bool,
    began: Instant,
    printed_at: Instant,
    elapsed: Duration,
    deadline: Instant,
    /// When it has to be over after it was told to end.
    ending: Option<Instant>,
    timed_out: bool,
    stopped: Option<Stop>,
    held: bool,
    too_many: Option<usize>,
    left: usize,
    hint: Option<InputHint>,
}

impl Run {
    async fn until_done(&mut self, cx: &CallCx, guard: &mut Guard) -> Result<(), ToolError> {
        let (mut one, mut two) = (vec![0; FIRST_BYTES], vec![0; FIRST_BYTES]);
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut held_until: Option<Instant> = None;
        // Made once: a new one each time round would wake the clock's keeper each time.
        let mut late = std::pin::pin!(at(self.deadline));
        loop {
            let (Some(pipes), Some(link)) = (&mut self.pipes, &mut guard.link) else { return Ok(()) };
            let Pipes { stdout, stderr } = pipes;
            tokio::select! {
                read = stdout.read(&mut one), if self.out_open => {
                    self.out_open = take(read, &mut one, &mut self.out);
                    self.printed_at = Instant::now();
                }
                read = stderr.read(&mut two), if self.err_open => {
                    self.err_open = take(read, &mut two, &mut self.err);
                    self.printed_at = Instant::now();
                }
                report = link.report(), if !self.idle && !self.lost => {
                    self.hear(report, link)?;
                    if self.ended.is_some() && held_until.is_none() {
                        held_until = Some(Instant::now() + HELD);
                    }
                }
                () = &mut late, if self.ending.is_none() && self.ended.is_none() => {
                    self.timed_out = true;
                    self.end(link, GRACE_MS).await;
                }
                reason = cx.stopped(), if self.stopped.is_none() => {
                    self.stopped = Some(reason);
                    self.timed_out |= matches!(reason, Stop::Timeout { .. });
                    let grace = if reason == Stop::Shutdown { SHUTDOWN_GRACE_MS } else { GRACE_MS };
                    self.end(link, grace).await;
                }
                _ = tick.tick() => self.tell(cx),
                () = at_some(held_until), if held_until.is_some() => self.held = true,
                () = at_some(self.ending), if self.ending.is_some() => self.lost = self.ended.is_none(),
            }
            let drained = !self.out_open && !self.err_open;
            // A canceled call answers at once; its command ends on its own (tools §12).
            let over = self.stopped.is_some()
                || self.lost
                || (self.ended.is_some() && (drained || self.held))
                || (self.idle && drained)
                || self.ending.is_some_and(|ending| Instant::now() >= ending);
            if over {
                if let (true, None, Some(pipes)) = (self.held, self.stopped, &self.pipes) {
                    drain(&pipes.stdout, &mut one, &mut self.out);
                    drain(&pipes.stderr, &mut two, &mut self.err);
                }
                if self.elapsed.is_zero() {
                    self.elapsed = self.began.elapsed();
                }
                // The last word of the supervisor is usually there already; then it can be used again.
                if drained && !self.idle && !self.lost && self.stopped.is_none() {
                    let wait = tokio::time::timeout(Duration::from_millis(20), link.report()).await;
                    if let Ok(report) = wait {
                        self.hear(report, link)?;
                    }
                }
                return Ok(());
            }
        }
    }

    fn hear(&mut self, report: Option<Report>, link: &mut Link) -> Result<(), ToolError> {
        match report {
            Some(Report::Started { level, .. }) => {
                self.level = Some(level);
                self.began = Instant::now();
                self.printed_at = self.began;
            }
            Some(Report::Failed { what, message }) => return Err(not_started(what, &message)),
            Some(Report::Exited { code, signal, left, last }) => {
                self.ended = Some((code, signal));
                self.left = left;
                if last {
                    // It cleans up and takes the next command; nobody has to wait for that.
                    self.idle = true;
                    link.is_done();
                }
                // What ended by itself asked nothing that mattered; what had to be ended still says why.
                if self.ending.is_none() {
                    self.hint = None;
                }
                self.elapsed = self.began.elapsed();
            }
            Some(Report::TooMany { limit }) => {
                self.too_many = Some(limit);
                self.ending = Some(Instant::now() + AFTER_KILL);
            }
            // Commands are not bound in memory.
            Some(Report::TooLarge { .. }) => {}
            Some(Report::Idle) => self.idle = true,
            None => self.lost = true,
        }
        Ok(())
    }

    async fn end(&mut self, link: &mut Link, grace_ms: u64) {
        if self.ending.is_none() {
            self.ending = Some(Instant::now() + Duration::from_millis(grace_ms) + AFTER_KILL);
            if link.send(&Order::End { grace_ms }, &[]).await.is_err() {
                self.lost = true;
            }
        }
    }

    /// Signs of life, and the suspicion that the program asks something (servers §3.6).
    fn tell(&mut self, cx: &CallCx) {
        let bytes = self.out.total() + self.err.total();
        let silent = self.printed_at.elapsed();
        let last = [&self.out, &self.err].map(|capture| capture.last_bytes(512));
        if self.ended.is_none() {
            self.hint = last.iter().find_map(|bytes| prompting::hint(bytes, silent));
        }
        let seconds = self.began.elapsed().as_secs();
        let message = match &self.hint {
            Some(hint) => Text::new(
                format!("{seconds} s, seems to wait for input it does not get: {}", hint.line),
                format!("{seconds} 秒，似乎在等待无法得到的输入：{}", hint.line),
            ),
            None => Text::new(
                format!("{seconds} s, {bytes} bytes printed"),
                format!("{seconds} 秒，已输出 {bytes} 字节"),
            ),
        };
        let newest = if last[0].is_empty() { &last[1] } else { &last[0] };
        let preview = clean(newest);
        let preview = cx.redactor().known(&preview).into_owned();
        cx.progress(
            None,
            None,
            &message,
            Some(json!({ "kind": "shell_output", "bytes": bytes, "tail": preview })),
        );
    }
}

/// What outlives a call: read to its end, so that it never waits for us, and ended with the server.
struct Rest {
    link: Link,
    pipes: Option<Pipes>,
    ending: bool,
    pool: Arc<Pool>,
}

impl Rest {
    async fn settle(mut self, shutdown: tokio_util::sync::CancellationToken) {
        let mut buffer = vec![0; 16 << 10];
        let mut other = vec![0; 16 << 10];
        let (mut out, mut err) = match self.pipes.take() {
            Some(Pipes { stdout, stderr }) => (Some(stdout), Some(stderr)),
            None => (None, None),
        };
        let mut told = false;
        loop {
            tokio::select! {
                report = self.link.report() => match report {
                    Some(Report::Idle) => {
                        if !shutdown.is_cancelled() {
                            self.pool.put(self.link);
                        }
                        return;
                    }
                    Some(_) => {}
                    None => return,
                },
                () = shutdown.cancelled(), if !told => {
                    told = true;
                    if !self.ending && self.link.send(&Order::End { grace_ms: SHUTDOWN_GRACE_MS }, &[]).await.is_err() {
                        return;
                    }
                }
                read = read_some(&mut out, &mut buffer), if out.is_some() => if !read { out = None },
                read = read_some(&mut err, &mut other), if err.is_some() => if !read { err = None },
            }
        }
    }
}

async fn read_some(pipe: &mut Option<Receiver>, buffer: &mut [u8]) -> bool {
    match pipe {
        Some(pipe) => pipe.read(buffer).await.is_ok_and(|count| count > 0),
        None => false,
    }
}

fn take(read: io::Result<usize>, buffer: &mut Vec<u8>, capture: &mut Capture) -> bool {
    match read {
        Ok(0) | Err(_) => false,
        Ok(count) => {
            capture.push(&buffer[..count]);
            if count == FIRST_BYTES && buffer.len() == FIRST_BYTES {
                // Not grown: its content is used up.
                *buffer = vec![0; READ_BYTES];
            }
            true
        }
    }
}

/// Takes what the command wrote before it ended, however slow this machine is: a pipe full of it at most.
fn drain(pipe: &Receiver, buffer: &mut [u8], capture: &mut Capture) {
    let mut left = pool::PIPE_BYTES;
    while left > 0 {
        match pipe.try_read(buffer) {
            Ok(count @ 1..) => {
                capture.push(&buffer[..count]);
                left = left.saturating_sub(count);
            }
            Ok(0) | Err(_) => return,
        }
    }
}

async fn at(instant: Instant) {
    sleep_until(instant.into()).await;
}

async fn at_some(instant: Option<Instant>) {
    match instant {
        Some(instant) => at(instant).await,
        None => std::future::pending().await,
    }
}

fn not_running(error: &io::Error) -> ToolError {
    tracing::error!(%error, "a supervisor of commands cannot be started");
    ToolError::unavailable(Needed::Process, Text::fixed("commands cannot be started now", "目前无法启动命令"))
        .hint(Text::fixed(
            "try again; `chatos doctor` may say more",
            "请重试；`chatos doctor` 可能有更多信息",
        ))
}

fn findings(cx: &CallCx, held: bool, left: usize, too_many: Option<usize>, lost: bool) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut add = |id: &'static str, level: Grade, text: Text| {
        found.push(Finding {
            id,
            level,
            message: text.get(cx.lang).to_owned(),
            said: None,
            text: None,
            denied: None,
        });
    };
    if held {
        add(
            "output_held",
            Grade::Warn,
            Text::new(
                format!(
                    "{left} process(es) of the command still run in the background and hold its output; they end with the server. Use session_run for such programs"
                ),
                format!(
                    "命令仍有 {left} 个进程在后台运行并占用输出；它们会随服务结束。此类程序请使用 session_run"
                ),
            ),
        );
    } else if left > 0 {
        add(
            "left_running",
            Grade::Info,
            Text::new(
                format!(
                    "{left} process(es) of the command still run in the background; they end with the server"
                ),
                format!("命令仍有 {left} 个进程在后台运行；它们会随服务结束"),
            ),
        );
    }
    if let Some(limit) = too_many {
        add(
            "too_many_processes",
            Grade::Warn,
            Text::new(
                format!("the command had more than {limit} processes and was ended"),
                format!("命令的进程超过 {limit} 个，已被结束"),
            ),
        );
    }
    if lost {
        add(
            "supervisor_lost",
            Grade::Warn,
            Text::fixed(
                "the process that held the command was killed; the command was ended",
                "管理该命令的进程被杀死；命令已被结束",
            ),
        );
    }
    found
}
