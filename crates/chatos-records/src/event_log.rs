//! `events.jsonl`: one line per event, written by the host alone, rotated by renaming (agents §13).
//!
//! Runs go on from the journal, never from this file: a line that cannot be written is reported once and
//! costs nothing else.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};

use chatos_wire::run_line::RunRecord;
use serde_json::Value;

/// A file of this size is put aside.
const ROTATE: u64 = 64 * 1024 * 1024;
/// So many are kept.
const KEEP: u32 = 10;
/// Lines that wait for the disk; more are dropped, a run is never slowed.
const QUEUE: usize = 8192;

/// The record of one host.
#[derive(Clone)]
pub struct EventLog {
    lines: SyncSender<RunRecord>,
    full: Arc<AtomicBool>,
}

impl EventLog {
    /// Writes to this file on a thread of its own.
    pub fn new(path: PathBuf) -> Self {
        let (lines, inbox) = sync_channel::<RunRecord>(QUEUE);
        let started = std::thread::Builder::new().name("events-log".to_owned()).spawn(move || {
            let mut writer = Writer { path, file: None, size: 0, seq: 0, failed: false };
            while let Ok(line) = inbox.recv() {
                writer.write(line);
                // What waits already goes out with the same buffer.
                while let Ok(line) = inbox.try_recv() {
                    writer.write(line);
                }
            }
        });
        if let Err(error) = started {
            tracing::warn!(%error, "events are not recorded");
        }
        Self { lines, full: Arc::default() }
    }

    /// Adds a line.
    pub fn append(&self, line: RunRecord) {
        match self.lines.try_send(line) {
            Ok(()) => self.full.store(false, Ordering::Relaxed),
            Err(TrySendError::Full(_)) => {
                if !self.full.swap(true, Ordering::Relaxed) {
                    tracing::warn!("events come faster than they can be recorded; some are left out");
                }
            }
            Err(TrySendError::Disconnected(_)) => {}
        }
    }
}

struct Writer {
    path: PathBuf,
    file: Option<File>,
    size: u64,
    seq: u64,
    failed: bool,
}

impl Writer {
    fn write(&mut self, mut line: RunRecord) {
        if self.seq == 0 {
            self.seq = last_seq(&self.path);
        }
        self.seq += 1;
        line.seq = self.seq;
        let put = serde_json::to_vec(&line).map_err(std::io::Error::from).and_then(|mut text| {
            text.push(b'\n');
            self.put(&text)
        });
        match put {
            Ok(()) => self.failed = false,
            Err(error) => {
                self.file = None;
                if !std::mem::replace(&mut self.failed, true) {
                    tracing::warn!(%error, path = %self.path.display(), "events cannot be recorded");
                }
            }
        }
    }

    fn put(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        if self.size + bytes.len() as u64 > ROTATE && self.size > 0 {
            self.file = None;
            rotate(&self.path)?;
        }
        if self.file.is_none() {
            let file = OpenOptions::new().append(true).create(true).mode(0o600).open(&self.path)?;
            self.size = file.metadata()?.len();
            self.file = Some(file);
        }
        if let Some(file) = &mut self.file {
            file.write_all(bytes)?;
            self.size += bytes.len() as u64;
        }
        Ok(())
    }
}

/// The number of the last whole line, so that numbers go on over starts.
fn last_seq(path: &Path) -> u64 {
    newest_events(path, 256 * 1024, 1).first().and_then(|line| line.get("seq")?.as_u64()).unwrap_or_default()
}

/// The newest whole lines among the last `bytes` of the file, newest first. No file has no lines.
pub fn newest_events(path: &Path, bytes: u64, most: usize) -> Vec<Value> {
    use std::io::{Read, Seek, SeekFrom};
    let tail = (|| {
        let mut file = File::open(path).ok()?;
        let size = file.metadata().ok()?.len();
        file.seek(SeekFrom::Start(size.saturating_sub(bytes))).ok()?;
        let mut tail = Vec::new();
        file.read_to_end(&mut tail).ok()?;
        Some(tail)
    })();
    let tail = tail.unwrap_or_default();
    let lines = tail.split(|byte| *byte == b'\n').rev();
    let whole = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    whole.filter(|line| line["seq"].is_u64()).take(most).collect()
}

fn rotate(path: &Path) -> std::io::Result<()> {
    let numbered = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{number}"));
        PathBuf::from(name)
    };
    for number in (1..KEEP).rev() {
        match std::fs::rename(numbered(number), numbered(number + 1)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    std::fs::rename(path, numbered(1))
}

#[cfg(test)]
mod tests {
    use chatos_tool::Trace;
    use chatos_wire::run_line::{RunLine, RunPayload, TextLine};

    use super::*;

    fn line() -> RunRecord {
        let trace: Trace = serde_json::from_str("{}").unwrap();
        let line = RunLine::User(TextLine { message_id: "m".to_owned(), text: "hi".to_owned() });
        RunRecord {
            seq: 0,
            ts: "t".to_owned(),
            kind: line.kind(),
            run_id: "r".to_owned(),
            payload: RunPayload { session_id: "s".to_owned(), trace, line },
        }
    }

    #[test]
    fn lines_are_numbered_over_starts_and_files_are_put_aside() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("events.jsonl");
        let new = || Writer { path: path.clone(), file: None, size: 0, seq: 0, failed: false };
        let mut writer = new();
        writer.write(line());
        writer.write(line());
        let mut writer = new();
        writer.write(line());
        let text = std::fs::read_to_string(&path).unwrap();
        let seqs: Vec<u64> = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["seq"].as_u64().unwrap())
            .collect();
        assert_eq!(seqs, [1, 2, 3]);
        for _ in 0..12 {
            rotate(&path).unwrap();
            std::fs::write(&path, "x").unwrap();
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 11);
    }
}
