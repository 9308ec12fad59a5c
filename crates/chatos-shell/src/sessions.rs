//! Sessions: commands that go on after the call, found by name by every process of the user
//! (servers §3.7).
//!
//! The truth about a session is with its supervisor while that lives, and in its files afterwards.

pub(super) mod capture;
mod client;
mod holding;
pub(super) mod input;
pub(super) mod interactive;
pub(super) mod list;
pub(super) mod run;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use chatos_layer::StoreHandle;
use chatos_store::ShellSessionRow;
use chatos_tool::{Needed, Reason, Text, ToolError, validation};
use rustix::process::Signal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::sandbox::Level;
use super::supervisor::ring::{Lines, Marks};
use super::supervisor::tree::{self, ProcessId};
use crate::server::Shop;

/// Files of a session.
pub(super) const CTL: &str = "ctl.sock";
pub(super) const LOG: &str = "out.log";
const META: &str = "meta.json";

/// servers §3.7.
pub(super) const MAX_LIVE: usize = 16;
const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);
/// Largest `meta.json`: a command of 128 KiB in JSON and some.
const MAX_META: u64 = 2 << 20;

/// Whether a session runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    /// Its program runs.
    Running,
    /// It ended.
    Exited,
    /// Its supervisor is gone.
    Lost,
}

/// What `meta.json` says.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) command: String,
    pub(super) cwd: String,
    /// The root it was started in.
    pub(super) root: String,
    pub(super) window: String,
    pub(super) pty: bool,
    pub(super) state: State,
    pub(super) pid: i32,
    pub(super) start_time: u64,
    pub(super) supervisor_pid: i32,
    pub(super) supervisor_start_time: u64,
    /// Numbers of processes mean nothing after a restart of the machine.
    pub(super) boot_id: String,
    pub(super) started_at: String,
    pub(super) exited_at: Option<String>,
    pub(super) exit_code: Option<i32>,
    pub(super) signal: Option<String>,
    pub(super) level: Level,
    pub(super) network: bool,
    pub(super) marks: Marks,
    pub(super) updated_at: String,
    /// Opens its control socket. Empty in the file of an older program, whose supervisor asks for none.
    #[serde(default)]
    pub(super) secret: Secret,
}

/// What only those know who can read the files of a session (working-day §1.7).
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Secret(String);

impl Secret {
    /// 32 random bytes.
    pub(super) fn draw() -> io::Result<Self> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// Compares without stopping at the first difference. An empty one opens nothing.
    pub(super) fn opens(&self, other: &Self) -> bool {
        let (one, other) = (self.0.as_bytes(), other.0.as_bytes());
        let difference = one.iter().zip(other).fold(0, |sum, (a, b)| sum | (a ^ b));
        !one.is_empty() && one.len() == other.len() && difference == 0
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// What a client asks a supervisor.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Ask {
    /// The first frame of a connection; without it every other ends the connection.
    Open { secret: Secret },
    /// How is it?
    Status,
    /// Answered with the status when there is output beyond this, or when it ended.
    Watch { beyond: u64 },
    /// Output.
    Lines { from: Option<u64>, count: u64, max: usize },
    /// Type this.
    Input { data: String },
    /// Send this.
    Signal { signal: i32 },
    /// End everything; answered by the end of the connection.
    Kill { grace_ms: u64 },
}

/// What it answers.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    Status { record: Box<Record>, silent_ms: u64, tail: String, reading: bool },
    Lines(Lines),
    Taken { bytes: u64 },
    Delivered(bool),
    Full { limit: u64 },
    Refused(String),
}

/// A session as results show it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Session {
    name: String,
    pid: i32,
    command: String,
    cwd: String,
    window: String,
    pty: bool,
    state: State,
    running: bool,
    started_at: String,
    exited_at: Option<String>,
    exit_code: Option<i32>,
    signal: Option<String>,
    platform: &'static str,
    output_bytes: u64,
    log_truncated: bool,
    output_path: String,
    status_path: String,
    updated_at: String,
}

/// A session that was found.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) record: Record,
    pub(super) dir: PathBuf,
}

impl Record {
    /// Writes `meta.json` whole or not at all.
    pub(super) fn save(&self, dir: &Path) -> io::Result<()> {
        let next = dir.join("meta.tmp");
        let mut file =
            fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&next)?;
        serde_json::to_writer(&mut file, self)?;
        fs::rename(next, dir.join(META))
    }

    fn load(dir: &Path) -> Option<Self> {
        let path = dir.join(META);
        if fs::metadata(&path).ok()?.len() > MAX_META {
            return None;
        }
        serde_json::from_slice(&fs::read(path).ok()?).ok()
    }

    /// Its supervisor is there.
    fn is_held(&self) -> bool {
        let holder = ProcessId { pid: self.supervisor_pid, start_time: self.supervisor_start_time };
        self.boot_id == boot_id() && tree::is_alive(holder)
    }

    /// Something of it runs, if only what its program started.
    fn runs_on(&self) -> bool {
        self.is_held() && !tree::descendants(self.supervisor_pid).is_empty()
    }

    /// The record as it is now: a session whose supervisor is gone is lost, and what is left of it ends.
    fn now(mut self) -> Self {
        if self.state != State::Running {
            return self;
        }
        if self.is_held() {
            return self;
        }
        let same_boot = self.boot_id == boot_id();
        self.state = State::Lost;
        let first = ProcessId { pid: self.pid, start_time: self.start_time };
        // security T12: leftovers are ended; a number that means somebody else by now is never hit.
        if same_boot && tree::is_alive(first) {
            for process in tree::descendants(self.pid) {
                tree::signal(process, Signal::KILL);
            }
            tree::signal(first, Signal::KILL);
        }
        self
    }
}

impl Found {
    pub(super) fn running(&self) -> bool {
        self.record.state == State::Running
    }

    /// As results show it.
    pub(super) fn session(&self) -> Session {
        let Record {
            name,
            pid,
            command,
            cwd,
            window,
            pty,
            state,
            started_at,
            exited_at,
            exit_code,
            signal,
            marks,
            updated_at,
            ..
        } = self.record.clone();
        Session {
            name,
            pid,
            command,
            cwd,
            window,
            pty,
            state,
            running: state == State::Running,
            started_at,
            exited_at,
            exit_code,
            signal,
            platform: std::env::consts::OS,
            output_bytes: marks.total,
            log_truncated: marks.dropped > 0,
            output_path: self.dir.join(LOG).display().to_string(),
            status_path: self.dir.join(META).display().to_string(),
            updated_at,
        }
    }
}

/// The start of this machine.
pub(super) fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

/// All sessions, newest first. Files of sessions that ended a week ago go. Blocks.
pub(super) fn all(base: &Path) -> Vec<Found> {
    let mut found = Vec::new();
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        let dir = entry.path();
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let Some(record) = Record::load(&dir).map(Record::now) else {
            // A start that failed, or a foreign directory: removed when nothing touched it for a week.
            if is_old(&dir) {
                fs::remove_dir_all(&dir).ok();
            }
            continue;
        };
        if record.state != State::Running && is_old(&dir.join(META)) {
            fs::remove_dir_all(&dir).ok();
            continue;
        }
        found.push(Found { record, dir });
    }
    found.sort_by(|one, other| {
        other.record.started_at.cmp(&one.record.started_at).then(other.record.id.cmp(&one.record.id))
    });
    found
}

fn is_old(path: &Path) -> bool {
    let changed = fs::metadata(path).and_then(|facts| facts.modified());
    changed.is_ok_and(|changed| SystemTime::now().duration_since(changed).is_ok_and(|age| age > KEPT))
}

/// Sessions this process started, so that a changed setting reaches them.
#[derive(Default)]
pub(super) struct Book {
    keep: Mutex<Option<watch::Sender<bool>>>,
}

impl Book {
    /// Follows `shellKeepSessions`, which every call says anew.
    pub(super) fn keep(&self, keep: bool) -> watch::Receiver<bool> {
        let mut sender = self.keep.lock().unwrap_or_else(PoisonError::into_inner);
        let sender = sender.get_or_insert_with(|| watch::channel(keep).0);
        sender.send_if_modified(|now| {
            let changed = *now != keep;
            *now = keep;
            changed
        });
        sender.subscribe()
    }
}

impl Shop {
    /// Where sessions are kept.
    fn sessions_dir(&self) -> Result<PathBuf, ToolError> {
        let Some(state) = &self.state_dir else {
            return Err(ToolError::unavailable(
                Needed::Host,
                Text::fixed(
                    "sessions need a state directory and there is none",
                    "会话需要状态文件夹，但没有状态文件夹",
                ),
            ));
        };
        Ok(state.join("shell"))
    }

    /// All sessions of the state directory.
    pub(super) async fn all_sessions(&self) -> Result<Vec<Found>, ToolError> {
        let base = self.sessions_dir()?;
        let task = chatos_blocking::run(move || all(&base));
        Ok(task.await.unwrap_or_default())
    }

    /// The session of this name: the one that runs, else the newest.
    pub(super) async fn session(&self, name: &str) -> Result<Found, ToolError> {
        let sessions = self.all_sessions().await?;
        let named = || sessions.iter().filter(|found| found.record.name == name);
        if let Some(found) = named().find(|found| found.running()).or_else(|| named().next()) {
            return Ok(found.clone());
        }
        let names: Vec<&str> = sessions.iter().map(|found| found.record.name.as_str()).collect();
        let mut nearest: Vec<String> =
            validation::nearest(name, names.iter().copied()).into_iter().map(str::to_owned).collect();
        for other in names.iter().take(5) {
            if !nearest.iter().any(|known| known == other) {
                nearest.push((*other).to_owned());
            }
        }
        let known = nearest.join(", ");
        let hint = if known.is_empty() {
            Text::fixed(
                "there are no sessions; start one with session_run",
                "没有会话；请用 session_run 启动",
            )
        } else {
            Text::new(format!("sessions here: {known}"), format!("现有会话：{known}"))
        };
        let reason =
            Reason::NotFound { what: "session".to_owned(), id: Some(name.to_owned()), path: None, nearest };
        Err(ToolError::new(
            reason,
            Text::new(format!("there is no session `{name}`"), format!("没有名为 `{name}` 的会话")),
        )
        .hint(hint))
    }
}

/// Remembers a session in the database. The files are the truth; a database that cannot be written is no
/// reason to refuse a session.
pub(super) fn remember(store: &StoreHandle, dir: &Path) {
    let Some(record) = Record::load(dir) else { return };
    let ms = |iso: &str| iso.parse::<jiff::Timestamp>().map(jiff::Timestamp::as_millisecond).ok();
    let row = ShellSessionRow {
        name: record.name.clone(),
        command: record.command.clone(),
        cwd: record.cwd.clone(),
        pid: Some(i64::from(record.pid)),
        pid_start_time: i64::try_from(record.start_time).ok(),
        started_at: ms(&record.started_at).unwrap_or_default(),
        exited_at: record.exited_at.as_deref().and_then(ms),
        exit_code: record.exit_code.map(i64::from),
        signal: record.signal.clone().unwrap_or_default(),
        log_path: dir.join(LOG).display().to_string(),
        id: record.id,
    };
    let kept = i64::try_from(KEPT.as_millis()).unwrap_or(i64::MAX);
    let saved = store.get().and_then(|store| match store {
        Some(store) => {
            store.save_shell_session(&row)?;
            store.forget_shell_sessions(chatos_store::now_ms().saturating_sub(kept))
        }
        None => Ok(()),
    });
    if let Err(error) = saved {
        tracing::warn!(%error, session = row.name, "a session is not in the database");
    }
}

/// A directory only this user can enter.
fn private_dir(path: &Path) -> io::Result<()> {
    match fs::DirBuilder::new().recursive(true).mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Names of the signals a session takes.
pub(super) fn signals() -> BTreeMap<&'static str, i32> {
    [
        ("SIGINT", Signal::INT),
        ("SIGTERM", Signal::TERM),
        ("SIGKILL", Signal::KILL),
        ("SIGHUP", Signal::HUP),
        ("SIGQUIT", Signal::QUIT),
        ("SIGUSR1", Signal::USR1),
        ("SIGUSR2", Signal::USR2),
        ("SIGSTOP", Signal::STOP),
        ("SIGCONT", Signal::CONT),
    ]
    .into_iter()
    .map(|(name, signal)| (name, signal.as_raw()))
    .collect()
}
