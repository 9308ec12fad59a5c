//! Replacing text in a file: exactly, by whole lines, or by words, each only when the one before found
//! nothing, and only as often as expected (servers §4 `edit_file`). Works on LF text.

use serde::Serialize;

/// Lines named in a failure.
const MAX_LINES_NAMED: usize = 20;

/// How a match was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Strategy {
    /// A new file was made.
    Create,
    /// The text as it is.
    Exact,
    /// Whole lines, whatever their indentation.
    Flexible,
    /// The same words with other white space between them.
    Regex,
}

impl Strategy {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Exact => "exact",
            Self::Flexible => "flexible",
            Self::Regex => "regex",
        }
    }
}

/// Text after an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The whole new text.
    pub text: String,
    /// How often it was replaced.
    pub occurrences: usize,
    /// How it was found.
    pub strategy: Strategy,
    /// The lines where the matches began.
    pub lines: Vec<u64>,
}

/// An edit whose matches are not as many as expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Matches found.
    pub found: usize,
    /// Where, at most twenty.
    pub lines: Vec<u64>,
    /// The block that resembles the text most, when nothing was found.
    pub nearest: Option<Nearest>,
}

/// A block that resembles what was looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nearest {
    /// Its first line.
    pub line: u64,
    /// Its text, a few lines of it.
    pub text: String,
}

/// One place to be replaced.
struct Match {
    start: usize,
    end: usize,
    new: String,
}

/// Replaces `old` by `new`. `tolerant` allows the strategies after the exact one.
pub fn apply(text: &str, old: &str, new: &str, expected: usize, tolerant: bool) -> Result<Edited, Mismatch> {
    let mut strategy = Strategy::Exact;
    let mut matches = exact(text, old, new);
    let blank = old.trim().is_empty();
    if matches.is_empty() && tolerant && !blank {
        strategy = Strategy::Flexible;
        matches = flexible(text, old, new);
    }
    if matches.is_empty() && tolerant && !blank {
        strategy = Strategy::Regex;
        matches = by_words(text, old, new);
    }
    let lines = line_numbers(text, matches.iter().map(|found| found.start));
    if matches.len() != expected {
        let nearest = if matches.is_empty() { nearest(text, old) } else { None };
        let named = lines.into_iter().take(MAX_LINES_NAMED).collect();
        return Err(Mismatch { found: matches.len(), lines: named, nearest });
    }
    let mut out = String::with_capacity(text.len() + new.len());
    let mut at = 0;
    for found in &matches {
        out.push_str(&text[at..found.start]);
        out.push_str(&found.new);
        at = found.end;
    }
    out.push_str(&text[at..]);
    Ok(Edited { text: out, occurrences: matches.len(), strategy, lines })
}

fn exact(text: &str, old: &str, new: &str) -> Vec<Match> {
    memchr::memmem::find_iter(text.as_bytes(), old.as_bytes())
        .map(|start| Match { start, end: start + old.len(), new: new.to_owned() })
        .collect()
}

/// Whole lines equal after trimming both ends; the replacement takes the block's indentation.
fn flexible(text: &str, old: &str, new: &str) -> Vec<Match> {
    let (body, ended) = match old.strip_suffix('\n') {
        Some(body) => (body, true),
        None => (old, false),
    };
    let wanted: Vec<&str> = body.split('\n').map(str::trim).collect();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let trimmed: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
    let mut offsets = Vec::with_capacity(lines.len());
    let mut offset = 0;
    for line in &lines {
        offsets.push(offset);
        offset += line.len();
    }
    let old_indent = body.split('\n').find(|line| !line.trim().is_empty()).map_or("", indent);
    let mut matches = Vec::new();
    let mut at = 0;
    while at + wanted.len() <= lines.len() {
        if trimmed[at..at + wanted.len()] != wanted[..] {
            at += 1;
            continue;
        }
        let last = at + wanted.len() - 1;
        let mut end = offsets[last] + lines[last].len();
        if !ended && lines[last].ends_with('\n') {
            end -= 1;
        }
        let block = &lines[at..=last];
        let block_indent = block.iter().find(|line| !line.trim().is_empty()).map_or("", |line| indent(line));
        matches.push(Match { start: offsets[at], end, new: reindent(new, old_indent, block_indent) });
        at = last + 1;
    }
    matches
}

/// The words of `old` in order with some white space wherever it has white space.
fn by_words(text: &str, old: &str, new: &str) -> Vec<Match> {
    let words: Vec<&str> = old.split_whitespace().collect();
    let Some((first, rest)) = words.split_first() else { return Vec::new() };
    let lead = &old[..old.len() - old.trim_start().len()];
    let trail = &old[old.trim_end().len()..];
    let core = new.strip_prefix(lead).unwrap_or(new);
    let core = core.strip_suffix(trail).unwrap_or(core);
    let old_indent = old.lines().find(|line| !line.trim().is_empty()).map_or("", indent);
    let mut matches: Vec<Match> = Vec::new();
    let mut from = 0;
    for start in memchr::memmem::find_iter(text.as_bytes(), first.as_bytes()) {
        if start < from {
            continue;
        }
        let mut end = start + first.len();
        let all = rest.iter().all(|word| {
            let tail = &text[end..];
            let next = tail.trim_start();
            let gap = tail.len() - next.len();
            if gap == 0 || !next.starts_with(word) {
                return false;
            }
            end += gap + word.len();
            true
        });
        if all {
            let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
            let block_indent = indent(&text[line_start..]);
            let new = match core.split_once('\n') {
                Some((head, tail)) => format!("{head}\n{}", reindent(tail, old_indent, block_indent)),
                None => core.to_owned(),
            };
            matches.push(Match { start, end, new });
            from = end;
        }
    }
    matches
}

/// The white space a line begins with.
pub(super) fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Moves text from one indentation to another; blank lines stay as they are.
pub(super) fn reindent(text: &str, from: &str, to: &str) -> String {
    if from == to {
        return text.to_owned();
    }
    let lines: Vec<String> = text
        .split('\n')
        .map(|line| {
            if line.trim().is_empty() {
                line.to_owned()
            } else if let Some(rest) = line.strip_prefix(from) {
                format!("{to}{rest}")
            } else if let Some(more) = to.strip_suffix(from) {
                format!("{more}{line}")
            } else if let Some(less) = from.strip_suffix(to) {
                // Less deep than the first line and the block is less deep too: as far as it goes.
                let own = indent(line);
                let cut = own.len().min(less.len());
                line[cut..].to_owned()
            } else {
                line.to_owned()
            }
        })
        .collect();
    lines.join("\n")
}

fn line_numbers(text: &str, starts: impl Iterator<Item = usize>) -> Vec<u64> {
    let mut line = 1;
    let mut at = 0;
    starts
        .map(|start| {
            line += memchr::memchr_iter(b'\n', &text.as_bytes()[at..start]).count() as u64;
            at = start;
            line
        })
        .collect()
}

/// The window of as many lines that has most lines in common, or the most similar single line.
fn nearest(text: &str, old: &str) -> Option<Nearest> {
    const MAX_WORK: usize = 4_000_000;
    let wanted: Vec<&str> = old.trim_matches('\n').split('\n').map(str::trim).collect();
    let lines: Vec<&str> = text.lines().collect();
    let first = wanted.iter().find(|line| !line.is_empty())?;
    let span = wanted.len().min(lines.len()).max(1);
    let mut best: Option<(usize, usize)> = None;
    if lines.len().saturating_mul(span) <= MAX_WORK {
        for at in 0..lines.len().saturating_sub(span - 1) {
            let pairs = lines[at..at + span].iter().zip(&wanted);
            let score: usize = pairs
                .map(|(line, want)| if want.is_empty() { 0 } else { similarity(line.trim(), want) })
                .sum();
            if score > 0 && best.is_none_or(|(top, _)| score > top) {
                best = Some((score, at));
            }
        }
    } else {
        let at = lines.iter().position(|line| line.trim() == *first)?;
        best = Some((1, at));
    }
    let (_, at) = best?;
    let mut shown: String = lines[at..(at + span.min(6)).min(lines.len())].join("\n");
    if let Some((cut, _)) = shown.char_indices().nth(600) {
        shown.truncate(cut);
        shown.push('…');
    }
    Some(Nearest { line: at as u64 + 1, text: shown })
}

/// Equal lines count most; else the common beginning and end count when they are most of the line.
fn similarity(line: &str, want: &str) -> usize {
    if line == want {
        return 100;
    }
    let prefix = line.bytes().zip(want.bytes()).take_while(|(a, b)| a == b).count();
    let suffix = line.bytes().rev().zip(want.bytes().rev()).take_while(|(a, b)| a == b).count();
    let common = (prefix + suffix).min(line.len()).min(want.len());
    let longer = line.len().max(want.len()).max(1);
    let percent = common * 100 / longer;
    if percent >= 40 { percent / 2 } else { 0 }
}

#[cfg(test)]
mod tests;
