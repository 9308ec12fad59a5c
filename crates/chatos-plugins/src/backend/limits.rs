//! Sizes and times of backends (host-api §9).

use std::time::Duration;

/// Longest message in either direction.
pub const MESSAGE_BYTES: usize = 32 * 1024 * 1024;
/// Calls one backend works on at a time.
pub const IN_FLIGHT: usize = 32;
/// Calls that may wait for one of those places.
pub const QUEUED: usize = 256;
/// Completions of models one backend may wait for at a time.
pub const COMPLETIONS: usize = 4;
/// Without a word from the caller a call may take this long.
pub const CALL_TIME: Duration = Duration::from_secs(10 * 60);
/// Bounds of what a caller may ask for.
pub const CALL_TIME_LEAST: Duration = Duration::from_secs(1);
/// See [`CALL_TIME_LEAST`].
pub const CALL_TIME_MOST: Duration = Duration::from_secs(2 * 60 * 60);
/// The factory must be done by then.
pub const START_TIME: Duration = Duration::from_secs(30);
/// A loop that is blocked for this long is dead.
pub const SILENCE: Duration = Duration::from_secs(30);
/// How often a backend is asked whether it lives.
pub const PING_EVERY: Duration = Duration::from_secs(5);
/// Without calls, timers and sockets for this long it is stopped.
pub const IDLE: Duration = Duration::from_secs(15 * 60);
/// The old process of a changed plugin may finish its calls for this long.
pub const FINISH: Duration = Duration::from_secs(5);
/// `dispose()` may take this long, then TERM, then after [`TERM_TIME`] KILL: 5 s in all.
pub const DISPOSE: Duration = Duration::from_secs(3);
/// See [`DISPOSE`].
pub const TERM_TIME: Duration = Duration::from_secs(2);
/// A call waits this long for the end of a back-off.
pub const BACKOFF_WAIT: Duration = Duration::from_secs(5);
/// First pause after a crash; doubled each time.
pub const BACKOFF_FIRST: Duration = Duration::from_millis(500);
/// Longest pause.
pub const BACKOFF_MOST: Duration = Duration::from_secs(30);
/// A process that lived this long is healthy again.
pub const HEALTHY: Duration = Duration::from_secs(60);
/// This many crashes …
pub const CRASHES: usize = 5;
/// … in this time are a failure.
pub const CRASH_WINDOW: Duration = Duration::from_secs(5 * 60);
/// How long the last words of a dead process may take to arrive.
pub const LAST_WORDS: Duration = Duration::from_millis(300);
/// Lines of its output given with the error of a crash.
pub const TOLD_LINES: usize = 20;
