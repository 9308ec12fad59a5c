//! The end of the tool log as events, whoever writes it: this host, or servers in processes of their own.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;
use std::time::Duration;

use chatos_events::Events;
use chatos_wire::event::{HostEvent, Nothing, ToolLogLine};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// How often the size of the file is looked at.
const TICK: Duration = Duration::from_millis(250);
/// Most bytes told at once; a burst beyond it is told as a gap, and readers ask for the pages.
const BURST: u64 = 1 << 20;

/// Follows the log until `stop`.
pub async fn follow(path: PathBuf, events: Events, stop: CancellationToken) {
    let mut tail = Tail::at_end(path);
    let mut tick = tokio::time::interval(TICK);
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = tick.tick() => {}
        }
        // One stat; the rest only when there is something new.
        if !tail.grew() {
            continue;
        }
        let read = chatos_blocking::run(move || {
            let news = tail.read();
            (tail, news)
        });
        match read.await {
            Ok((back, news)) => {
                tail = back;
                tell(&events, news);
            }
            Err(error) => {
                tracing::error!(%error, "following the tool log failed");
                return;
            }
        }
    }
}

fn tell(events: &Events, news: io::Result<(Vec<Value>, bool)>) {
    match news {
        Ok((records, gap)) => {
            if gap {
                events.publish(HostEvent::ToolLogGap(Nothing {}));
            }
            for record in records {
                events.publish(HostEvent::ToolLog(ToolLogLine(record)));
            }
        }
        Err(error) => tracing::debug!(%error, "the tool log cannot be read now"),
    }
}

struct Tail {
    path: PathBuf,
    file: Option<File>,
    at: u64,
}

impl Tail {
    fn at_end(path: PathBuf) -> Self {
        let file = open(&path);
        let at = file.as_ref().and_then(|file| file.metadata().ok()).map_or(0, |meta| meta.len());
        Self { path, file, at }
    }

    /// Whether the file is longer than what was read, or another one.
    fn grew(&self) -> bool {
        let Ok(now) = std::fs::symlink_metadata(&self.path) else { return false };
        let Some(Ok(known)) = self.file.as_ref().map(File::metadata) else { return true };
        known.len() > self.at || (now.dev(), now.ino()) != (known.dev(), known.ino())
    }

    /// Whole new lines, first of the file that was renamed away, then of the new one.
    fn read(&mut self) -> io::Result<(Vec<Value>, bool)> {
        let (mut records, mut gap) = (Vec::new(), false);
        for _ in 0..2 {
            if let Some(file) = &self.file {
                gap |= lines(file, &mut self.at, &mut records)?;
                let same = std::fs::symlink_metadata(&self.path)
                    .ok()
                    .zip(file.metadata().ok())
                    .is_some_and(|(now, known)| (now.dev(), now.ino()) == (known.dev(), known.ino()));
                if same {
                    break;
                }
            }
            self.file = open(&self.path);
            self.at = 0;
        }
        Ok((records, gap))
    }
}

fn open(path: &PathBuf) -> Option<File> {
    File::open(path).ok().filter(|file| file.metadata().is_ok_and(|meta| meta.is_file()))
}

/// Reads from `at` to the last newline; `true` when a part was skipped.
fn lines(file: &File, at: &mut u64, records: &mut Vec<Value>) -> io::Result<bool> {
    let len = file.metadata()?.len();
    let skip = len.saturating_sub(*at) > BURST;
    if skip {
        *at = len - BURST;
    }
    let mut bytes = vec![0; usize::try_from(len.saturating_sub(*at)).unwrap_or_default()];
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], *at + filled as u64)? {
            0 => break,
            read => filled += read,
        }
    }
    bytes.truncate(filled);
    let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') else { return Ok(skip) };
    let mut whole = bytes[..=end].split(|byte| *byte == b'\n');
    if skip {
        // The first piece is the end of a line whose beginning was skipped.
        whole.next();
    }
    records.extend(whole.filter_map(|line| serde_json::from_slice(line).ok()));
    *at += end as u64 + 1;
    Ok(skip)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use std::io::Write as _;

    use super::*;

    fn append(path: &std::path::Path, text: &str) {
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    #[test]
    fn whole_lines_are_told_once_also_over_a_rotation() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tool-log.jsonl");
        append(&path, "{\"n\":0}\n");
        let mut tail = Tail::at_end(path.clone());
        assert!(!tail.grew());
        append(&path, "{\"n\":1}\n{\"n\":");
        assert!(tail.grew());
        assert_eq!(tail.read().unwrap(), (vec![json!({"n": 1})], false));
        append(&path, "2}\nnot json\n");
        std::fs::rename(&path, dir.path().join("tool-log-1.jsonl")).unwrap();
        append(&path, "{\"n\":3}\n");
        assert_eq!(tail.read().unwrap().0, [json!({"n": 2}), json!({"n": 3})]);
        assert!(!tail.grew());
        append(&path, &format!("{{\"n\":4,\"t\":\"{}\"}}\n{{\"n\":5}}\n", "x".repeat(2 << 20)));
        let (records, gap) = tail.read().unwrap();
        assert_eq!((records, gap), (vec![json!({"n": 5})], true));
    }
}
