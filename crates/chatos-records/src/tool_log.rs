//! Pages of the tool log, newest first: read from the end, through the files that were renamed away.

pub(crate) mod tail;

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use chatos_tool::{ErrorCode, Fault, Text};
use serde_json::Value;

/// Read at once.
const CHUNK: u64 = 256 << 10;
/// A request looks at no more than this; the page then says where to go on.
const MOST: u64 = 64 << 20;
/// A longer line is no record of ours (tools §8).
const LINE: usize = 256 << 10;

/// Which records are wanted. Empty texts mean any.
#[derive(Debug, Clone, Default)]
pub struct ToolLogFilter {
    /// `tool_call`, `tool_result` or `tool_error`.
    pub kind: String,
    /// The server.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// `ok`, `denied`, …
    pub status: String,
    /// `ok`, `permission_denied`, …
    pub code: String,
    /// The run.
    pub run_id: String,
    /// The session.
    pub session_id: String,
    /// The call.
    pub call_id: String,
    /// Only failed ones, or only others.
    pub is_error: Option<bool>,
    /// Anywhere in the record, ignoring ASCII case.
    pub query: String,
    /// Not before this time, ISO 8601.
    pub since: String,
    /// Not after it.
    pub until: String,
    /// Most records.
    pub limit: usize,
    /// From the page before.
    pub cursor: Option<String>,
}

/// One page.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolLogPage {
    /// Records as they were written, newest first.
    pub items: Vec<Value>,
    /// Where older ones begin; absent at the end.
    pub next_cursor: Option<String>,
}

impl ToolLogFilter {
    fn fits(&self, line: &[u8], record: &Value) -> bool {
        let same = |key: &str, wanted: &str| wanted.is_empty() || record[key] == *wanted;
        let time = record["ts"].as_str().unwrap_or_default();
        same("type", &self.kind)
            && same("server", &self.server)
            && same("toolName", &self.tool)
            && same("status", &self.status)
            && same("code", &self.code)
            && same("runId", &self.run_id)
            && same("sessionId", &self.session_id)
            && same("callId", &self.call_id)
            && self.is_error.is_none_or(|wanted| record["isError"] == wanted)
            && (self.since.is_empty() || time >= self.since.as_str())
            && (self.until.is_empty() || time <= self.until.as_str())
            && (self.query.is_empty() || contains(line, self.query.as_bytes()))
    }
}

fn contains(line: &[u8], wanted: &[u8]) -> bool {
    line.windows(wanted.len()).any(|window| window.eq_ignore_ascii_case(wanted))
}

/// Reads a page. A missing log is an empty one.
pub fn read(path: &Path, filter: &ToolLogFilter) -> Result<ToolLogPage, Fault> {
    let mut from = filter.cursor.as_deref().map(parse_cursor).transpose()?;
    let mut page = ToolLogPage::default();
    let mut budget = MOST;
    for file in files(path) {
        let Ok(meta) = file.metadata() else { continue };
        let end = match from {
            // Files that are newer than the cursor's were read before.
            Some((inode, _)) if inode != meta.ino() => continue,
            Some((_, at)) => at.min(meta.len()),
            None => meta.len(),
        };
        from = None;
        let stopped = back(&file, end, &mut budget, |at, line| {
            let Ok(record) = serde_json::from_slice::<Value>(line) else { return true };
            if filter.fits(line, &record) {
                page.items.push(record);
                page.next_cursor = Some(format!("{}-{at}", meta.ino()));
            }
            page.items.len() < filter.limit.max(1)
        });
        match stopped {
            Ok(None) => {}
            Ok(Some(at)) => {
                page.next_cursor = Some(format!("{}-{at}", meta.ino()));
                return Ok(page);
            }
            Err(error) => return Err(unreadable(path, &error)),
        }
    }
    // Everything was seen.
    page.next_cursor = None;
    Ok(page)
}

/// Walks lines from the end to the start; the visitor says whether to go on. Gives where it stopped, or
/// nothing when the start was reached.
fn back(
    file: &File,
    end: u64,
    budget: &mut u64,
    mut visit: impl FnMut(u64, &[u8]) -> bool,
) -> io::Result<Option<u64>> {
    // Bytes from `at` on that belong to a line whose beginning is not read yet.
    let (mut at, mut rest) = (end, Vec::new());
    while at > 0 {
        let take = at.min(CHUNK);
        if *budget < take {
            return Ok(Some(at + rest.len() as u64));
        }
        *budget -= take;
        let mut chunk = vec![0; usize::try_from(take).unwrap_or_default()];
        file.read_exact_at(&mut chunk, at - take)?;
        at -= take;
        chunk.append(&mut rest);
        let mut stop = chunk.len();
        while let Some(newline) = chunk[..stop].iter().rposition(|byte| *byte == b'\n') {
            let line = &chunk[newline + 1..stop];
            let begins = at + newline as u64 + 1;
            if !line.is_empty() && line.len() <= LINE && !visit(begins, line) {
                return Ok(Some(begins));
            }
            stop = newline;
        }
        chunk.truncate(stop);
        // A line without end is not held; what is left of it is told apart by its size.
        if chunk.len() > LINE {
            chunk.truncate(LINE + 1);
        }
        rest = chunk;
    }
    if !rest.is_empty() && rest.len() <= LINE && !visit(0, &rest) {
        return Ok(Some(0));
    }
    Ok(None)
}

/// The log and what was renamed away, newest first.
fn files(path: &Path) -> Vec<File> {
    let mut former: Vec<PathBuf> = Vec::new();
    if let (Some(dir), Some(stem)) = (path.parent(), path.file_stem().and_then(|stem| stem.to_str())) {
        let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
        former.extend(entries.map(|entry| entry.path()).filter(|other| {
            let name = other.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.starts_with(&format!("{stem}-")) && other.extension() == path.extension()
        }));
    }
    // The names hold the time of the rename, so they sort by age.
    former.sort();
    former.reverse();
    std::iter::once(path.to_owned())
        .chain(former)
        .filter_map(|path| File::open(path).ok())
        .filter(|file| file.metadata().is_ok_and(|meta| meta.is_file()))
        .collect()
}

fn parse_cursor(cursor: &str) -> Result<(u64, u64), Fault> {
    cursor.split_once('-').and_then(|(inode, at)| Some((inode.parse().ok()?, at.parse().ok()?))).ok_or_else(
        || {
            Fault::new(
                ErrorCode::InvalidArgument,
                Text::fixed("/cursor: not a cursor of this log", "/cursor：不是此日志的游标"),
            )
            .hint(Text::fixed("use nextCursor of the page before", "请使用上一页的 nextCursor"))
        },
    )
}

fn unreadable(path: &Path, error: &io::Error) -> Fault {
    Fault::new(
        ErrorCode::Unavailable,
        Text::new(
            format!("the tool log cannot be read: {}", path.display()),
            format!("无法读取工具日志：{}", path.display()),
        ),
    )
    .caused_by(error)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use serde_json::json;

    use super::*;

    fn write(path: &Path, numbers: std::ops::Range<u32>) {
        let mut text = String::new();
        for n in numbers {
            let (server, error) = if n % 2 == 0 { ("even", false) } else { ("odd", true) };
            writeln!(text, "{}", json!({"n": n, "server": server, "isError": error, "ts": format!("2026-01-01T00:00:{n:02}Z"), "pad": "x".repeat(n as usize % 97)})).unwrap();
        }
        std::fs::write(path, text).unwrap();
    }

    fn numbers(path: &Path, filter: &ToolLogFilter) -> Vec<u64> {
        let (mut filter, mut all) = (filter.clone(), Vec::new());
        loop {
            let page = read(path, &filter).unwrap();
            assert!(page.items.len() <= filter.limit);
            all.extend(page.items.iter().map(|item| item["n"].as_u64().unwrap()));
            match page.next_cursor {
                Some(cursor) => filter.cursor = Some(cursor),
                None => return all,
            }
        }
    }

    #[test]
    fn pages_go_from_the_newest_to_the_oldest_through_every_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tool-log.jsonl");
        assert_eq!(
            read(&path, &ToolLogFilter { limit: 5, ..ToolLogFilter::default() }).unwrap(),
            ToolLogPage::default()
        );
        write(&dir.path().join("tool-log-2026-01-01.jsonl"), 0..7);
        write(&dir.path().join("tool-log-2026-01-02.jsonl"), 7..20);
        write(&path, 20..50);
        std::fs::write(dir.path().join("other-log-1.jsonl"), "{\"n\":99}\n").unwrap();
        for limit in [1, 3, 50, 1000] {
            let all = numbers(&path, &ToolLogFilter { limit, ..ToolLogFilter::default() });
            assert_eq!(all, (0..50).rev().collect::<Vec<_>>(), "{limit}");
        }
        let odd = ToolLogFilter {
            limit: 4,
            server: "odd".into(),
            is_error: Some(true),
            ..ToolLogFilter::default()
        };
        assert_eq!(numbers(&path, &odd).len(), 25);
        let some = ToolLogFilter {
            limit: 10,
            since: "2026-01-01T00:00:10Z".into(),
            until: "2026-01-01T00:00:12Z".into(),
            query: "EVEN".into(),
            ..ToolLogFilter::default()
        };
        assert_eq!(numbers(&path, &some), [12, 10]);
        // A torn line, a line that is no JSON and one that is far too long are left out.
        let mut text = std::fs::read_to_string(&path).unwrap();
        writeln!(text, "nonsense\n{{\"n\":50,\"pad\":\"{}\"}}", "y".repeat(700_000)).unwrap();
        text.push_str("{\"n\":51}\n{\"n\":");
        std::fs::write(&path, text).unwrap();
        let all = numbers(&path, &ToolLogFilter { limit: 2, ..ToolLogFilter::default() });
        assert_eq!((all[0], all[1], all.len()), (51, 49, 51));
        let bad = ToolLogFilter { cursor: Some("x".into()), ..ToolLogFilter::default() };
        assert_eq!(read(&path, &bad).unwrap_err().class, ErrorCode::InvalidArgument);
    }
}
