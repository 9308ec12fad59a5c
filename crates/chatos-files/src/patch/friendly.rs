//! The friendly form: `*** Begin Patch`, a section per file, hunks opened by `@@`.

use super::{FilePatch, Hunk, Line, Patch, bad};
use crate::error::FileError;

pub(super) fn parse(lines: &[String]) -> Result<Patch, FileError> {
    let mut files: Vec<FilePatch> = Vec::new();
    let mut notes = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at].as_str();
        at += 1;
        if line.starts_with("*** Begin Patch") || line.trim().is_empty() {
            continue;
        }
        if line.starts_with("*** End Patch") {
            let rest = lines[at..].iter().filter(|line| !line.trim().is_empty()).count();
            if rest > 0 {
                notes.push(format!("ignored {rest} line(s) after the patch"));
            }
            break;
        }
        if let Some(path) = line.strip_prefix("*** Add File:") {
            let (file, next) = add(path_of(path)?, lines, at);
            files.push(file);
            at = next;
        } else if let Some(path) = line.strip_prefix("*** Delete File:") {
            files.push(FilePatch { old: Some(path_of(path)?), ..FilePatch::default() });
        } else if let Some(path) = line.strip_prefix("*** Update File:") {
            let path = path_of(path)?;
            let mut file = FilePatch { old: Some(path.clone()), new: Some(path), ..FilePatch::default() };
            if let Some(to) = lines.get(at).and_then(|line| line.strip_prefix("*** Move to:")) {
                file.new = Some(path_of(to)?);
                at += 1;
            }
            at = hunks(&mut file, lines, at)?;
            if file.hunks.is_empty() && file.old == file.new {
                let path = file.old.unwrap_or_default();
                return Err(bad(
                    format!("the section of `{path}` changes nothing"),
                    format!("`{path}` 的部分没有任何更改"),
                ));
            }
            files.push(file);
        } else {
            return Err(bad(
                format!("line {at} of the patch is not understood: `{}`", short(line)),
                format!("补丁第 {at} 行无法理解：`{}`", short(line)),
            ));
        }
    }
    Ok(Patch { files, notes, strippable: false })
}

fn path_of(text: &str) -> Result<String, FileError> {
    let path = text.trim();
    if path.is_empty() {
        return Err(bad("a section of the patch names no path", "补丁的一个部分没有路径"));
    }
    Ok(path.to_owned())
}

fn short(line: &str) -> String {
    line.chars().take(80).collect()
}

/// `*** ` begins a section or ends a hunk; a removed line `** x` begins with `-` and is no such line.
fn is_section(line: &str) -> bool {
    ["*** Add File:", "*** Delete File:", "*** Update File:", "*** End Patch", "*** Begin Patch"]
        .iter()
        .any(|marker| line.starts_with(marker))
}

fn add(path: String, lines: &[String], mut at: usize) -> (FilePatch, usize) {
    let mut body: Vec<&str> = Vec::new();
    let mut terminated = true;
    while at < lines.len() && !is_section(&lines[at]) {
        let line = lines[at].as_str();
        at += 1;
        if line.starts_with("\\ No newline at end of file") {
            terminated = false;
        } else if !line.starts_with("*** End of File") {
            body.push(line);
        }
    }
    // Without `+` the empty lines before the next section are layout.
    while body.last().is_some_and(|line| line.is_empty()) {
        body.pop();
    }
    let mut text: String =
        body.iter().map(|line| line.strip_prefix('+').unwrap_or(line)).collect::<Vec<_>>().join("\n");
    if terminated && !body.is_empty() {
        text.push('\n');
    }
    (FilePatch { new: Some(path), added: Some(text), ..FilePatch::default() }, at)
}

fn hunks(file: &mut FilePatch, lines: &[String], mut at: usize) -> Result<usize, FileError> {
    let mut hunk: Option<Hunk> = None;
    let mut last_added = false;
    while at < lines.len() && !is_section(&lines[at]) {
        let line = lines[at].as_str();
        at += 1;
        if let Some(rest) = line.strip_prefix("@@") {
            // `@@ a` directly followed by `@@ b` narrows the place further.
            let mut next = match hunk.take() {
                Some(open) if open.lines.is_empty() => open,
                Some(open) => {
                    finish(file, open)?;
                    Hunk::default()
                }
                None => Hunk::default(),
            };
            match super::unified::ranges(line) {
                Some(ranges) => next.old_start = Some(ranges.old_start),
                None => {
                    let anchor = rest.trim().trim_end_matches("@@").trim();
                    if !anchor.is_empty() {
                        next.anchors.push(anchor.to_owned());
                    }
                }
            }
            hunk = Some(next);
            continue;
        }
        let open = hunk.get_or_insert_with(Hunk::default);
        if line.starts_with("*** End of File") {
            open.at_end = true;
        } else if line.starts_with("\\ No newline") {
            if last_added {
                open.new_unterminated = true;
            } else {
                open.old_unterminated = true;
            }
        } else if line.is_empty() {
            open.lines.push(Line::Context(String::new()));
        } else if let Some(text) = line.strip_prefix('+') {
            open.lines.push(Line::Added(text.to_owned()));
            last_added = true;
        } else if let Some(text) = line.strip_prefix('-') {
            open.lines.push(Line::Removed(text.to_owned()));
            last_added = false;
        } else if let Some(text) = line.strip_prefix(' ') {
            open.lines.push(Line::Context(text.to_owned()));
            last_added = false;
        } else {
            return Err(bad(
                format!("line {at} of the patch begins with none of ` `, `+`, `-`, `@@`: `{}`", short(line)),
                format!("补丁第 {at} 行不以 ` `、`+`、`-`、`@@` 开头：`{}`", short(line)),
            ));
        }
    }
    if let Some(open) = hunk {
        finish(file, open)?;
    }
    Ok(at)
}

fn finish(file: &mut FilePatch, mut hunk: Hunk) -> Result<(), FileError> {
    // Empty lines between a hunk and the next marker are layout, unless nothing else is there.
    while hunk.lines.last() == Some(&Line::Context(String::new())) && hunk.lines.len() > 1 {
        hunk.lines.pop();
    }
    let path = file.old.clone().unwrap_or_default();
    if hunk.lines.is_empty() || hunk.lines.iter().all(|line| *line == Line::Context(String::new())) {
        return Err(bad(format!("a hunk of `{path}` is empty"), format!("`{path}` 的一个区块是空的")));
    }
    let only_added = hunk.lines.iter().all(|line| matches!(line, Line::Added(_)));
    if only_added && hunk.anchors.is_empty() && !hunk.at_end && hunk.old_start.is_none() {
        return Err(bad(
            format!(
                "a hunk of `{path}` only adds lines and says not where; use `@@ text of the line before` or \
                 `*** End of File`"
            ),
            format!("`{path}` 的一个区块只有新增行且没有位置；请用 `@@ 前一行文本` 或 `*** End of File`"),
        ));
    }
    file.hunks.push(hunk);
    Ok(())
}
