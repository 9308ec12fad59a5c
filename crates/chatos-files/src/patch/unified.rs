//! The unified form: `---`/`+++` or `diff --git` headers, hunks `@@ -a,b +c,d @@`.

use super::{FilePatch, Hunk, Line, Patch, bad};
use crate::error::FileError;

/// The numbers of a hunk header.
pub(super) struct Ranges {
    pub(super) old_start: usize,
    old_count: usize,
    new_count: usize,
}

/// Reads `@@ -a,b +c,d @@`.
pub(super) fn ranges(line: &str) -> Option<Ranges> {
    let body = line.strip_prefix("@@ -")?;
    let (ranges, _) = body.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let pair = |text: &str| -> Option<(usize, usize)> {
        match text.split_once(',') {
            Some((start, count)) => Some((start.trim().parse().ok()?, count.trim().parse().ok()?)),
            None => Some((text.trim().parse().ok()?, 1)),
        }
    };
    let ((old_start, old_count), (_, new_count)) = (pair(old)?, pair(new)?);
    Some(Ranges { old_start, old_count, new_count })
}

pub(super) fn parse(lines: &[String]) -> Result<Patch, FileError> {
    let mut files = Vec::new();
    let mut notes = Vec::new();
    let mut at = 0;
    let mut ignored = 0;
    while at < lines.len() {
        if lines[at].starts_with("diff --git ") || is_file_header(lines, at) {
            let (file, next) = file(lines, at, &mut notes)?;
            files.push(file);
            at = next;
        } else {
            ignored += usize::from(!lines[at].trim().is_empty() && !lines[at].starts_with("Index: "));
            at += 1;
        }
    }
    if ignored > 0 {
        notes.push(format!("ignored {ignored} line(s) between or after the hunks"));
    }
    Ok(Patch { files, notes, strippable: true })
}

fn is_file_header(lines: &[String], at: usize) -> bool {
    lines[at].starts_with("--- ") && lines.get(at + 1).is_some_and(|next| next.starts_with("+++ "))
}

fn file(lines: &[String], mut at: usize, notes: &mut Vec<String>) -> Result<(FilePatch, usize), FileError> {
    let mut file = FilePatch::default();
    let (mut created, mut deleted) = (false, false);
    if let Some(names) = lines[at].strip_prefix("diff --git ") {
        (file.old, file.new) = git_names(names);
        file.git_prefixes = true;
        at += 1;
        while at < lines.len() && !lines[at].starts_with("diff --git ") && !is_file_header(lines, at) {
            let line = lines[at].as_str();
            if line.starts_with("@@") {
                break;
            }
            if let Some(mode) = line.strip_prefix("new file mode ") {
                created = true;
                file.executable = executable(mode)?;
            } else if let Some(mode) = line.strip_prefix("new mode ") {
                file.executable = executable(mode)?;
            } else if line.starts_with("deleted file mode ") {
                deleted = true;
            } else if let Some(path) = line.strip_prefix("rename from ") {
                file.old = Some(prefixed('a', path));
            } else if let Some(path) = line.strip_prefix("rename to ") {
                file.new = Some(prefixed('b', path));
            } else if line.starts_with("copy from ") || line.starts_with("copy to ") {
                return Err(bad("copies in a patch are not supported", "不支持补丁中的复制"));
            } else if line.starts_with("Binary files ") || line.starts_with("GIT binary patch") {
                return Err(bad("binary patches are not supported", "不支持二进制补丁"));
            }
            at += 1;
        }
    }
    if at < lines.len() && is_file_header(lines, at) {
        let old = header_path(&lines[at][4..]);
        let new = header_path(&lines[at + 1][4..]);
        file.git_prefixes |= old.as_deref().is_none_or(|path| path.starts_with("a/"))
            && new.as_deref().is_none_or(|path| path.starts_with("b/"))
            && (old.is_some() || new.is_some());
        // Without a git header the new name of a changed file is often a copy of the old one's.
        (file.old, file.new) = (old, new);
        at += 2;
    }
    if created {
        file.old = None;
    }
    if deleted {
        file.new = None;
    }
    while at < lines.len() && lines[at].starts_with("@@") {
        let (hunk, next) = hunk(lines, at, notes)?;
        file.hunks.push(hunk);
        at = next;
    }
    if file.old.is_none() && file.new.is_none() {
        return Err(bad("a section of the patch names no path", "补丁的一个部分没有路径"));
    }
    if file.old.is_none() {
        file.added = Some(added_text(&file)?);
        file.hunks.clear();
    }
    let unchanged = file.hunks.is_empty() && file.added.is_none() && file.executable.is_none();
    if unchanged && file.new.is_some() && same_target(&file) {
        let path = file.new.unwrap_or_default();
        return Err(bad(format!("the section of `{path}` has no hunks"), format!("`{path}` 的部分没有区块")));
    }
    Ok((file, at))
}

fn same_target(file: &FilePatch) -> bool {
    let bare = |path: &Option<String>| {
        let path = path.as_deref().unwrap_or_default();
        if file.git_prefixes { super::strip(path, 1).unwrap_or(path).to_owned() } else { path.to_owned() }
    };
    bare(&file.old) == bare(&file.new)
}

/// Paths of `rename from` have no prefix; the others do, and one strip level is for all.
fn prefixed(side: char, path: &str) -> String {
    format!("{side}/{}", unquote(path.trim_end()))
}

fn executable(mode: &str) -> Result<Option<bool>, FileError> {
    match mode.trim() {
        "100755" => Ok(Some(true)),
        "100644" | "100664" => Ok(Some(false)),
        "120000" => Err(bad("links in a patch are not supported", "不支持补丁中的链接")),
        other => {
            Err(bad(format!("file mode `{other}` is not supported"), format!("不支持文件模式 `{other}`")))
        }
    }
}

/// `a/x b/y`; with spaces in names only equal halves can be told apart.
fn git_names(names: &str) -> (Option<String>, Option<String>) {
    let names = names.trim_end();
    if let Some(inner) = names.strip_prefix('"') {
        let end = inner.find("\" ").map(|at| at + 2);
        if let Some(end) = end {
            return (Some(unquote(&names[..end])), Some(unquote(names[end..].trim_start())));
        }
    }
    let halves = names.match_indices(" b/").find_map(|(at, _)| {
        let (old, new) = (&names[..at], &names[at + 1..]);
        (super::strip(old, 1) == super::strip(new, 1)).then_some((old, new))
    });
    match halves.or_else(|| names.split_once(' ')) {
        Some((old, new)) => (Some(unquote(old)), Some(unquote(new))),
        None => (None, None),
    }
}

/// A path of a `---` or `+++` line: without time stamp and quotes; nothing for `/dev/null`.
fn header_path(text: &str) -> Option<String> {
    let path = text.split('\t').next().unwrap_or_default().trim_end();
    let path = unquote(path);
    (path != "/dev/null").then_some(path)
}

/// Undoes git's quoting of unusual names.
fn unquote(text: &str) -> String {
    let Some(inner) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) else {
        return text.to_owned();
    };
    let mut out = Vec::new();
    let mut bytes = inner.bytes().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        match bytes.next() {
            Some(b'n') => out.push(b'\n'),
            Some(b't') => out.push(b'\t'),
            Some(digit @ b'0'..=b'7') => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    if let Some(next @ b'0'..=b'7') = bytes.peek().copied() {
                        value = value * 8 + u32::from(next - b'0');
                        bytes.next();
                    }
                }
                out.push(value as u8);
            }
            Some(other) => out.push(other),
            None => out.push(b'\\'),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn hunk(lines: &[String], start: usize, notes: &mut Vec<String>) -> Result<(Hunk, usize), FileError> {
    let mut hunk = Hunk::default();
    let counts = ranges(&lines[start]);
    let (mut old_left, mut new_left) = match &counts {
        Some(ranges) => {
            hunk.old_start = Some(ranges.old_start);
            (ranges.old_count, ranges.new_count)
        }
        None => {
            let anchor = lines[start].trim_start_matches('@').trim();
            if !anchor.is_empty() {
                hunk.anchors.push(anchor.to_owned());
            }
            (usize::MAX, usize::MAX)
        }
    };
    let counted = counts.is_some();
    let mut at = start + 1;
    let mut last_added = false;
    while at < lines.len() {
        let line = lines[at].as_str();
        let satisfied = counted && old_left == 0 && new_left == 0;
        if line.starts_with("\\ ") {
            if last_added {
                hunk.new_unterminated = true;
            } else {
                hunk.old_unterminated = true;
                // After a context line it holds for both sides.
                if matches!(hunk.lines.last(), Some(Line::Context(_))) {
                    hunk.new_unterminated = true;
                }
            }
            at += 1;
            continue;
        }
        let header = is_file_header(lines, at) && (old_left == 0 || !counted);
        if line.starts_with("@@") || line.starts_with("diff --git ") || header {
            break;
        }
        if satisfied && (line.is_empty() || !line.starts_with([' ', '+', '-'])) {
            break;
        }
        if let Some(text) = line.strip_prefix('+') {
            hunk.lines.push(Line::Added(text.to_owned()));
            new_left = new_left.saturating_sub(1);
            last_added = true;
        } else if let Some(text) = line.strip_prefix('-') {
            hunk.lines.push(Line::Removed(text.to_owned()));
            old_left = old_left.saturating_sub(1);
            last_added = false;
        } else if line.is_empty() || line.starts_with(' ') {
            hunk.lines.push(Line::Context(line.strip_prefix(' ').unwrap_or(line).to_owned()));
            old_left = old_left.saturating_sub(1);
            new_left = new_left.saturating_sub(1);
            last_added = false;
        } else {
            break;
        }
        at += 1;
    }
    let fits = counts.as_ref().is_some_and(|ranges| {
        hunk.old_lines().len() == ranges.old_count && hunk.new_lines().len() == ranges.new_count
    });
    if !fits {
        while hunk.lines.last() == Some(&Line::Context(String::new())) && hunk.lines.len() > 1 {
            hunk.lines.pop();
            let again = counts.as_ref().is_some_and(|ranges| {
                hunk.old_lines().len() == ranges.old_count && hunk.new_lines().len() == ranges.new_count
            });
            if again {
                break;
            }
        }
        let fits = counts.as_ref().is_some_and(|ranges| {
            hunk.old_lines().len() == ranges.old_count && hunk.new_lines().len() == ranges.new_count
        });
        if counted && !fits {
            notes.push(format!("recomputed the counts of the hunk at line {} of the patch", start + 1));
        }
    }
    if hunk.lines.is_empty() {
        return Err(bad(
            format!("the hunk at line {} of the patch is empty", start + 1),
            format!("补丁第 {} 行的区块是空的", start + 1),
        ));
    }
    let only_added = hunk.lines.iter().all(|line| matches!(line, Line::Added(_)));
    if let (Some(ranges), true) = (&counts, only_added) {
        // With a count of nothing the number is that of the line before; else that of the line itself.
        hunk.old_start = Some(if ranges.old_count == 0 { ranges.old_start + 1 } else { ranges.old_start });
    }
    if only_added && hunk.old_start.is_none() && hunk.anchors.is_empty() {
        return Err(bad(
            format!("the hunk at line {} only adds lines and says not where", start + 1),
            format!("补丁第 {} 行的区块只有新增行且没有位置", start + 1),
        ));
    }
    Ok((hunk, at))
}

fn added_text(file: &FilePatch) -> Result<String, FileError> {
    let mut text = String::new();
    let mut unterminated = false;
    for hunk in &file.hunks {
        for line in &hunk.lines {
            match line {
                Line::Added(line) => {
                    text.push_str(line);
                    text.push('\n');
                }
                Line::Context(line) if line.is_empty() => text.push('\n'),
                _ => {
                    let path = file.new.clone().unwrap_or_default();
                    return Err(bad(
                        format!("the new file `{path}` has lines that are not added"),
                        format!("新文件 `{path}` 含有非新增行"),
                    ));
                }
            }
        }
        unterminated |= hunk.new_unterminated;
    }
    if unterminated {
        text.pop();
    }
    Ok(text)
}
