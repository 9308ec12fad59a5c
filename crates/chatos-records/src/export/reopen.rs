//! An exported run (`.chatosrun`) read again, on whatever machine: nothing of it is written anywhere
//! (agents §14).

use std::path::Path;

use chatos_tool::{ErrorCode, Fault, Text};
use serde_json::Value;

/// Larger files are not read.
const MOST: u64 = 512 << 20;

/// What an exported run holds, for showing.
#[derive(Debug, Clone, PartialEq)]
pub struct Reopened {
    /// Of which run, made when and by which version.
    pub manifest: Value,
    /// The run and those of its subagents, each with its steps.
    pub runs: Vec<Value>,
    /// All spans.
    pub trace: Value,
    /// What happened, in order.
    pub lines: Vec<Value>,
}

impl Reopened {
    /// Reads a file. Blocks.
    pub fn read(path: &Path) -> Result<Self, Fault> {
        let wrong = |en: &str, zh: &str| {
            let text = Text::new(format!("{en}: {}", path.display()), format!("{zh}：{}", path.display()));
            Fault::new(ErrorCode::InvalidArgument, text).hint(Text::fixed(
                "make one with `chatos runs export ID --format chatosrun --output FILE`",
                "可用 `chatos runs export ID --format chatosrun --output FILE` 生成",
            ))
        };
        let size = std::fs::metadata(path)
            .map_err(|error| wrong("the file cannot be read", "无法读取文件").caused_by(&error))?;
        if !size.is_file() || size.len() > MOST {
            return Err(wrong(
                "this is no exported run, or it is larger than 512 MiB",
                "不是导出的运行，或超过 512 MiB",
            ));
        }
        let bytes = std::fs::read(path)
            .map_err(|error| wrong("the file cannot be read", "无法读取文件").caused_by(&error))?;
        let damaged = || wrong("this is no exported run, or it is damaged", "不是导出的运行，或文件已损坏");
        let member = |name: &str| member(&bytes, name).ok_or_else(damaged);
        let json = |name: &str| -> Result<Value, Fault> {
            serde_json::from_slice(member(name)?).map_err(|_| damaged())
        };
        let manifest = json("manifest.json")?;
        if manifest["format"] != "chatosrun" {
            return Err(damaged());
        }
        if manifest["version"] != 1 {
            return Err(wrong("this run was exported by a newer ChatOS", "该运行由更新版本的 ChatOS 导出"));
        }
        let Value::Array(runs) = json("runs.json")? else { return Err(damaged()) };
        let text = std::str::from_utf8(member("events.jsonl")?).map_err(|_| damaged())?;
        let lines: Result<Vec<Value>, _> = text.lines().map(serde_json::from_str).collect();
        let lines = lines.map_err(|_| damaged())?;
        Ok(Self { manifest, runs, trace: json("trace.json")?, lines })
    }

    /// The run it was made of.
    pub fn run(&self) -> Option<&Value> {
        self.runs.iter().find(|run| run["id"] == self.manifest["runId"]).or(self.runs.first())
    }
}

/// A stored member by its name, whole and as it was written.
fn member<'a>(bytes: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let number = |at: usize, length: usize| -> Option<usize> {
        let part = bytes.get(at..at.checked_add(length)?)?;
        Some(part.iter().rev().fold(0, |sum, byte| (sum << 8) | usize::from(*byte)))
    };
    let end = bytes.len().checked_sub(22)?;
    if bytes.get(end..end + 4)? != b"PK\x05\x06" {
        return None;
    }
    let (count, mut at) = (number(end + 10, 2)?, number(end + 16, 4)?);
    for _ in 0..count {
        if bytes.get(at..at + 4)? != b"PK\x01\x02" {
            return None;
        }
        let (method, checksum, size) = (number(at + 10, 2)?, number(at + 16, 4)?, number(at + 24, 4)?);
        let (named, extra, comment) = (number(at + 28, 2)?, number(at + 30, 2)?, number(at + 32, 2)?);
        let place = number(at + 42, 4)?;
        let own = bytes.get(at + 46..(at + 46).checked_add(named)?)?;
        if own == name.as_bytes() {
            let from = place.checked_add(30 + number(place + 26, 2)? + number(place + 28, 2)?)?;
            let content = bytes.get(from..from.checked_add(size)?)?;
            let whole = method == 0 && crc32fast::hash(content) as usize == checksum;
            return whole.then_some(content);
        }
        at = at.checked_add(46 + named + extra + comment)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::zip::Zip;
    use serde_json::json;

    fn archive() -> Vec<u8> {
        let mut zip = Zip::default();
        zip.add(
            "manifest.json",
            json!({ "format": "chatosrun", "version": 1, "runId": "r" }).to_string().as_bytes(),
        );
        zip.add("runs.json", json!([{ "id": "s" }, { "id": "r", "steps": [] }]).to_string().as_bytes());
        zip.add("events.jsonl", b"{\"type\":\"user\"}\n{\"type\":\"end\"}\n");
        zip.add("trace.json", b"{\"spans\":[]}");
        zip.finish()
    }

    #[test]
    fn what_was_exported_is_read_and_what_is_damaged_is_said() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("x.chatosrun");
        let whole = archive();
        std::fs::write(&file, &whole).unwrap();
        let run = Reopened::read(&file).unwrap();
        assert_eq!((run.run().unwrap()["id"].as_str(), run.lines.len()), (Some("r"), 2));
        for at in (0..whole.len()).step_by(7) {
            std::fs::write(&file, &whole[..at]).unwrap();
            assert!(Reopened::read(&file).is_err(), "cut at {at}");
        }
        let mut changed = whole.clone();
        changed[60] ^= 1;
        std::fs::write(&file, &changed).unwrap();
        assert!(Reopened::read(&file).is_err(), "a changed byte is found");
        assert!(Reopened::read(dir.path()).is_err());
        assert!(Reopened::read(&dir.path().join("none")).is_err());
    }
}
