//! One host per state directory: the lock that decides, and the file that tells others about it.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use chatos_tool::{ErrorCode, Fault, Text};
use serde::{Deserialize, Serialize};

use crate::atomic::replace_file;
use crate::lock::{FileLock, LockError};
use crate::process::{hostname, start_time};
use crate::state_dir::StateDir;

/// The content of `host.json`, mode 0600: how to reach the running host.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Announcement {
    /// The host's process.
    pub pid: u32,
    /// Where it listens.
    pub port: u16,
    /// The API token of this start.
    pub token: String,
    /// ISO time of its start.
    pub started_at: String,
    /// Its version.
    pub version: String,
    /// Start time of the process in ticks, so that a reused pid is not taken for it.
    pub pid_start: Option<u64>,
    /// The machine it runs on.
    pub hostname: String,
    /// The address a browser uses.
    pub url: String,
    /// The file it was read from.
    #[serde(skip)]
    file: Option<PathBuf>,
}

impl Announcement {
    /// Describes this process, a ChatOS of this version.
    pub fn of_this_process(version: &str, port: u16, url: String, token: String, started_at: String) -> Self {
        let pid = std::process::id();
        Self {
            pid,
            port,
            token,
            started_at,
            version: version.to_owned(),
            pid_start: start_time(pid),
            hostname: hostname(),
            url,
            file: None,
        }
    }

    /// The same host as its file describes it now, when the token has been made anew since this was read.
    pub fn renewed(&self) -> Option<Self> {
        let now = read_from(self.file.as_deref()?)?;
        let same = (now.pid, now.pid_start, now.port) == (self.pid, self.pid_start, self.port);
        (same && now.token != self.token).then_some(now)
    }

    /// Writes it for other processes of this user.
    pub fn publish(&self, dir: &StateDir) -> std::io::Result<()> {
        let text = serde_json::to_vec(self).map_err(std::io::Error::other)?;
        replace_file(&dir.host_json(), &text, 0o600)
    }

    /// The process it names is alive and the same one.
    pub fn is_alive(&self) -> bool {
        self.hostname != hostname()
            || start_time(self.pid).is_some_and(|now| self.pid_start.is_none_or(|then| then == now))
    }
}

/// What `host.json` says, whether or not it is still true.
pub fn read_announcement(dir: &StateDir) -> Option<Announcement> {
    read_from(&dir.host_json())
}

fn read_from(file: &Path) -> Option<Announcement> {
    let read: Announcement = serde_json::from_slice(&std::fs::read(file).ok()?).ok()?;
    Some(Announcement { file: Some(file.to_owned()), ..read })
}

/// The host that runs on this state directory, if one does. The lock decides, not the file.
pub fn running_host(dir: &StateDir) -> Option<Announcement> {
    match FileLock::try_exclusive(&dir.host_lock()) {
        Err(LockError::Held { .. }) => read_announcement(dir).filter(Announcement::is_alive),
        // Free, or not even lockable (read-only): nobody serves it.
        _ => None,
    }
}

/// Takes the lock for the life of a host.
///
/// A command without a host holds it for a moment too, so a lock without a living announcement is
/// waited for; a lock with one is a running host and is reported at once.
pub fn take_lock(dir: &StateDir, patience: Duration) -> Result<FileLock, Fault> {
    let started = Instant::now();
    loop {
        match FileLock::try_exclusive(&dir.host_lock()) {
            Ok(lock) => return Ok(lock),
            Err(LockError::Held { path }) => {
                if let Some(other) = read_announcement(dir).filter(Announcement::is_alive) {
                    return Err(already_running(dir.path(), &other));
                }
                if started.elapsed() >= patience {
                    return Err(busy(&path));
                }
                std::thread::sleep(Duration::from_millis(10));
            }
            Err(error @ LockError::Io { .. }) => {
                return Err(Fault::new(
                    ErrorCode::Unavailable,
                    Text::new(error.to_string(), format!("无法锁定状态文件夹：{}", dir.path().display())),
                )
                .code("host_lock_unusable")
                .caused_by(&error)
                .hint(Text::fixed(
                    "check the permissions of host.lock, or choose another directory with --state-dir",
                    "请检查 host.lock 的权限，或用 --state-dir 选择其他目录",
                )));
            }
        }
    }
}

fn already_running(dir: &Path, other: &Announcement) -> Fault {
    let since = other.started_at.get(11..16).unwrap_or(&other.started_at);
    Fault::new(
        ErrorCode::Unavailable,
        Text::new(
            format!(
                "ChatOS already runs on {} (pid {}, {}, since {since} UTC)",
                dir.display(),
                other.pid,
                other.url
            ),
            format!(
                "ChatOS 已在 {} 上运行（进程 {}，{}，自 {since} UTC 起）",
                dir.display(),
                other.pid,
                other.url
            ),
        ),
    )
    .code("already_running")
    .hint(Text::fixed(
        "open that address, stop it with \"chatos stop\", or choose another directory with --state-dir",
        "请打开该地址，用 \"chatos stop\" 停止它，或用 --state-dir 选择其他目录",
    ))
    .details(serde_json::json!({ "pid": other.pid, "url": other.url, "startedAt": other.started_at }))
}

fn busy(lock: &Path) -> Fault {
    Fault::new(
        ErrorCode::Unavailable,
        Text::new(
            format!("another chatos command is using the state directory: {}", lock.display()),
            format!("另一个 chatos 命令正在使用状态文件夹：{}", lock.display()),
        ),
    )
    .code("host_locked")
    .hint(Text::fixed("wait for it to finish and try again", "请等待其结束后重试"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_was_refused_finds_the_renewed_token_of_the_same_host() {
        let folder = tempfile::tempdir().unwrap();
        let (dir, _) = StateDir::prepare(folder.path(), true).unwrap();
        let at = |port, token: &str| {
            Announcement::of_this_process("1.2.3", port, String::new(), token.to_owned(), String::new())
        };
        at(1, "former").publish(&dir).unwrap();
        let known = read_announcement(&dir).unwrap();
        assert!(known.renewed().is_none());
        at(1, "next").publish(&dir).unwrap();
        assert_eq!(known.renewed().map(|now| now.token).as_deref(), Some("next"));
        // Another host has another token; what was asked was not asked of it.
        at(2, "other").publish(&dir).unwrap();
        assert!(known.renewed().is_none());
    }
}
