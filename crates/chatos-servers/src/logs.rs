//! What servers say: the last lines of each in memory, everything in a file per server (mcp "children").

use std::collections::{HashMap, VecDeque};
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use chatos_mcp::{LogLine, LogSource};
use serde_json::{Value, json};

/// Lines kept in memory per server.
const RING: usize = 500;
/// A file is put aside at this size; one old one is kept.
const FILE_BYTES: u64 = 4 * 1024 * 1024;
/// Longest line that is kept.
const LINE_CHARS: usize = 8_000;

/// The logs of all servers.
pub(crate) struct Logs {
    folder: PathBuf,
    servers: Mutex<HashMap<String, ServerLog>>,
}

#[derive(Default)]
struct ServerLog {
    ring: VecDeque<Value>,
    file: Option<File>,
    size: u64,
    failed: bool,
}

impl Logs {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder, servers: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, ServerLog>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a line, redacted already. Never fails a server: what cannot be written stays in memory.
    pub(crate) fn add(&self, identity: &str, ts: &str, line: &LogLine, text: &str) {
        let text: String = text.chars().take(LINE_CHARS).collect();
        let source = match line.source {
            LogSource::Stderr => "stderr",
            LogSource::Message => "message",
            LogSource::Client => "client",
        };
        let entry = json!({ "ts": ts, "source": source, "level": line.level, "text": text });
        let mut servers = self.lock();
        let log = servers.entry(identity.to_owned()).or_default();
        if log.ring.len() == RING {
            log.ring.pop_front();
        }
        let bytes = format!("{entry}\n");
        log.ring.push_back(entry);
        if let Err(error) = log.write(&self.path(identity), bytes.as_bytes()) {
            log.file = None;
            if !log.failed {
                log.failed = true;
                tracing::warn!(%error, server = identity, "the log of a server cannot be written");
            }
        }
    }

    /// The newest lines, oldest first.
    pub(crate) fn tail(&self, identity: &str, limit: usize) -> Vec<Value> {
        {
            let servers = self.lock();
            if let Some(log) = servers.get(identity)
                && (log.ring.len() >= limit || log.ring.len() == RING)
            {
                return log.ring.iter().skip(log.ring.len().saturating_sub(limit)).cloned().collect();
            }
        }
        read_tail(&self.path(identity), limit).unwrap_or_default()
    }

    /// Where the log of a server is.
    pub(crate) fn path(&self, identity: &str) -> PathBuf {
        let safe: String = identity
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' })
            .collect();
        let safe: String = safe.chars().take(180).collect();
        self.folder.join(format!("{safe}.jsonl"))
    }

    /// A server does not run any more: its file is closed, its newest lines stay.
    pub(crate) fn close(&self, identity: &str) {
        if let Some(log) = self.lock().get_mut(identity) {
            log.file = None;
        }
    }

    /// A server is not known any more; its file stays.
    pub(crate) fn forget(&self, identity: &str) {
        self.lock().remove(identity);
    }

    pub(crate) fn flush(&self) {
        for log in self.lock().values_mut() {
            log.file = None;
        }
    }
}

impl ServerLog {
    fn write(&mut self, path: &Path, bytes: &[u8]) -> std::io::Result<()> {
        if self.size + bytes.len() as u64 > FILE_BYTES {
            self.file = None;
            std::fs::rename(path, path.with_extension("1.jsonl"))?;
        }
        let file = match &mut self.file {
            Some(file) => file,
            empty => {
                if let Some(folder) = path.parent() {
                    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
                }
                let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
                self.size = file.metadata()?.len();
                empty.insert(file)
            }
        };
        file.write_all(bytes)?;
        self.size += bytes.len() as u64;
        self.failed = false;
        Ok(())
    }
}

fn read_tail(path: &Path, limit: usize) -> std::io::Result<Vec<Value>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let start = length.saturating_sub(1024 * 1024);
    file.seek(SeekFrom::Start(start))?;
    let mut text = Vec::new();
    file.take(1024 * 1024).read_to_end(&mut text)?;
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let skip = lines.len().saturating_sub(limit);
    Ok(lines.into_iter().skip(skip).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_kept_in_memory_and_in_a_bounded_file() {
        let folder = tempfile::tempdir().unwrap();
        let logs = Logs::new(folder.path().join("servers"));
        let line = LogLine { source: LogSource::Stderr, level: None, text: String::new() };
        for n in 0..(RING + 10) {
            logs.add("app:a/b", "t", &line, &format!("line {n}"));
        }
        let tail = logs.tail("app:a/b", 3);
        assert_eq!(tail.last().unwrap()["text"], format!("line {}", RING + 9));
        assert_eq!(tail.len(), 3);
        let again = Logs::new(folder.path().join("servers"));
        assert_eq!(again.tail("app:a/b", 2).len(), 2, "an earlier process's lines are found");
        for _ in 0..700 {
            logs.add("app:a/b", "t", &line, &"x".repeat(LINE_CHARS * 2));
        }
        let size = std::fs::metadata(logs.path("app:a/b")).unwrap().len();
        assert!(size <= FILE_BYTES, "{size}");
    }
}
