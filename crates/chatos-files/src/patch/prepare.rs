//! Finding the patch in what was given: fences, words around it and indentation are removed, and said.

use super::bad;
use crate::error::FileError;

pub(super) struct Prepared {
    pub(super) lines: Vec<String>,
    pub(super) friendly: bool,
    pub(super) notes: Vec<String>,
}

/// Whether a line begins a patch.
fn is_marker(line: &str, next: Option<&str>) -> bool {
    line.starts_with("*** Begin Patch")
        || line.starts_with("*** Add File:")
        || line.starts_with("*** Update File:")
        || line.starts_with("*** Delete File:")
        || line.starts_with("diff --git ")
        || (line.starts_with("--- ") && next.is_some_and(|next| next.trim_start().starts_with("+++ ")))
}

pub(super) fn prepare(text: &str) -> Result<Prepared, FileError> {
    let text = text.replace("\r\n", "\n");
    let text = text.trim_start_matches('\u{feff}');
    let mut lines: Vec<&str> = text.split('\n').collect();
    let mut notes = Vec::new();
    let marker_at = |lines: &[&str]| {
        (0..lines.len()).find(|at| is_marker(lines[*at].trim_start(), lines.get(at + 1).copied()))
    };
    let first_text = lines.iter().position(|line| !line.trim().is_empty()).unwrap_or(0);
    if marker_at(&lines) != Some(first_text)
        && let Some(block) = best_fence(&lines, &marker_at)
    {
        notes.push("used the fenced block of the text".to_owned());
        lines = block;
    }
    let Some(start) = marker_at(&lines) else {
        return Err(bad(
            "no patch found; begin with `*** Begin Patch` or with `---`/`+++` headers",
            "没有找到补丁；请以 `*** Begin Patch` 或 `---`/`+++` 头开始",
        ));
    };
    let words = lines[..start].iter().filter(|line| !line.trim().is_empty()).count();
    if words > 0 {
        notes.push(format!("removed {words} line(s) before the patch"));
    }
    let lines = &lines[start..];
    let depth = lines[0].len() - lines[0].trim_start().len();
    let margin = &lines[0][..depth];
    if depth > 0 {
        notes.push(format!("removed an indentation of {depth} character(s)"));
    }
    let lines: Vec<String> =
        lines.iter().map(|line| line.strip_prefix(margin).unwrap_or(line).to_owned()).collect();
    let friendly = lines[0].starts_with("*** ");
    Ok(Prepared { lines, friendly, notes })
}

/// The fenced block with a patch in it; the longest when there are several.
fn best_fence<'a>(lines: &[&'a str], marker_at: &impl Fn(&[&str]) -> Option<usize>) -> Option<Vec<&'a str>> {
    let mut best: Option<Vec<&str>> = None;
    let mut at = 0;
    while at < lines.len() {
        let trimmed = lines[at].trim_start();
        let ticks = trimmed.bytes().take_while(|byte| *byte == b'`').count();
        if ticks < 3 {
            at += 1;
            continue;
        }
        let closes = |line: &&str| {
            let line = line.trim();
            line.len() >= ticks && line.bytes().all(|byte| byte == b'`')
        };
        let end = lines[at + 1..].iter().position(closes).map_or(lines.len(), |offset| at + 1 + offset);
        let block = &lines[at + 1..end];
        if marker_at(block).is_some() && best.as_ref().is_none_or(|best| best.len() < block.len()) {
            best = Some(block.to_vec());
        }
        at = end + 1;
    }
    best
}
