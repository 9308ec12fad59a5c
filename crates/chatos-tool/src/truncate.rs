//! Cutting what is too long, at places that leave whole characters and lines, and saying so (tools §7).
//!
//! Everything here is pure: a cut is first a split of a text into head, omitted part and tail, so the
//! three always add up to the original; then the notice that replaces the omitted part.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Value, json};

use crate::limits::{LINE_BOUNDARY_BYTES, TextLimits};
use crate::text::{Lang, Text};

/// What a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// UTF-8 bytes.
    Bytes,
    /// Lines, ended by LF or CRLF.
    Lines,
    /// Unicode scalar values.
    Chars,
    /// Items of a list.
    Items,
}

/// Which part stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Keep {
    /// The start: reads, lists, search.
    #[serde(rename = "head")]
    Head,
    /// The end: session output.
    #[serde(rename = "tail")]
    Tail,
    /// A quarter at the start and the rest at the end: shell output, diffs.
    #[serde(rename = "head+tail")]
    HeadTail,
}

/// One cut as the result reports it in `_meta.chatos.truncated`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cut {
    /// JSON pointer into `data`, or `text` for the text block.
    pub field: String,
    /// What was counted.
    pub unit: Unit,
    /// Which part stayed.
    pub keep: Keep,
    /// The limit.
    pub limit: u64,
    /// How much stayed.
    pub kept: u64,
    /// How much there was; `null` when nobody counted.
    pub total: Option<u64>,
    /// The arguments that fetch the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Value>,
}

/// A text in three parts, of which the middle one goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Split<'a> {
    /// Stays at the start.
    pub head: &'a str,
    /// Goes.
    pub omitted: &'a str,
    /// Stays at the end.
    pub tail: &'a str,
}

/// Splits a text so that what stays has at most `limit` of `unit`.
///
/// Neither cut divides a character or a CRLF pair, and each lies on a line boundary when there is one
/// within 512 bytes. [`Unit::Items`] does not apply to texts and keeps everything.
pub fn split(text: &str, keep: Keep, unit: Unit, limit: usize) -> Split<'_> {
    let whole = Split { head: text, omitted: "", tail: "" };
    let total = match unit {
        Unit::Bytes => text.len(),
        Unit::Chars => text.chars().count(),
        Unit::Lines => text.split_inclusive('\n').count(),
        Unit::Items => return whole,
    };
    if total <= limit {
        return whole;
    }
    let (first, last) = match keep {
        Keep::Head => (limit, 0),
        Keep::Tail => (0, limit),
        Keep::HeadTail => (limit / 4, limit - limit / 4),
    };
    let end_of_head = match unit {
        Unit::Bytes => head_end(text, first),
        Unit::Chars => head_end(text, char_offset(text, first)),
        _ => text.split_inclusive('\n').take(first).map(str::len).sum(),
    };
    let start_of_tail = match unit {
        Unit::Bytes => tail_start(text, text.len() - last),
        Unit::Chars => tail_start(text, char_offset(text, total - last)),
        _ => text.split_inclusive('\n').take(total - last).map(str::len).sum(),
    };
    let start_of_tail = start_of_tail.max(end_of_head);
    Split {
        head: &text[..end_of_head],
        omitted: &text[end_of_head..start_of_tail],
        tail: &text[start_of_tail..],
    }
}

fn char_offset(text: &str, count: usize) -> usize {
    text.char_indices().nth(count).map_or(text.len(), |(at, _)| at)
}

/// The largest end of a head that is at most `at`.
fn head_end(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !is_boundary(text, at) {
        at -= 1;
    }
    let near = at.saturating_sub(LINE_BOUNDARY_BYTES);
    match text.as_bytes()[near..at].iter().rposition(|b| *b == b'\n') {
        Some(newline) => near + newline + 1,
        None => at,
    }
}

/// The smallest start of a tail that is at least `at`.
fn tail_start(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !is_boundary(text, at) {
        at += 1;
    }
    let starts_line = at == 0 || text.as_bytes()[at - 1] == b'\n';
    let near = (at + LINE_BOUNDARY_BYTES).min(text.len());
    match text.as_bytes()[at..near].iter().position(|b| *b == b'\n') {
        Some(newline) if !starts_line => at + newline + 1,
        _ => at,
    }
}

fn is_boundary(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let inside_crlf = at > 0 && at < bytes.len() && bytes[at - 1] == b'\r' && bytes[at] == b'\n';
    text.is_char_boundary(at) && !inside_crlf
}

impl Split<'_> {
    /// Something goes.
    pub fn is_cut(&self) -> bool {
        !self.omitted.is_empty()
    }

    /// The text with the notice at the place of the cut. `next` is the text form of the arguments that
    /// continue, such as `start_line=841`.
    pub fn join(&self, next: Option<&str>, lang: Lang) -> String {
        if !self.is_cut() {
            return self.head.to_owned();
        }
        let notice = omitted_notice(self.omitted.len(), lines_in(self.omitted), next);
        let mut text = String::with_capacity(self.head.len() + self.tail.len() + 96);
        text.push_str(self.head);
        if !self.head.is_empty() && !self.head.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(notice.get(lang));
        if !self.tail.is_empty() {
            text.push('\n');
            text.push_str(self.tail);
        }
        text
    }
}

/// `[… 12345 bytes, 210 lines omitted; continue with start_line=841 …]`
pub fn omitted_notice(bytes: usize, lines: usize, next: Option<&str>) -> Text {
    let (en, zh) = match next {
        Some(next) => (format!("; continue with {next}"), format!("；使用 {next} 继续")),
        None => Default::default(),
    };
    Text::new(
        format!("[… {bytes} bytes, {lines} lines omitted{en} …]"),
        format!("[… 省略 {bytes} 字节、{lines} 行{zh} …]"),
    )
}

/// Lines of a text; an unfinished last one counts.
pub fn lines_in(text: &str) -> usize {
    text.split_inclusive('\n').count()
}

/// Cuts single lines that are longer than `max` characters; each ends in ` …(+N chars)`.
pub fn long_lines(text: &str, max: usize) -> Cow<'_, str> {
    // Bytes are never fewer than characters, so a text of short lines is not looked at twice.
    if lines_within(text.as_bytes(), max) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut cut = false;
    for line in text.split_inclusive('\n') {
        let body = line.strip_suffix('\n').unwrap_or(line);
        let body = body.strip_suffix('\r').unwrap_or(body);
        let chars = body.chars().count();
        if chars <= max {
            out.push_str(line);
            continue;
        }
        cut = true;
        out.push_str(&body[..char_offset(body, max)]);
        out.push_str(&format!(" …(+{} chars)", chars - max));
        out.push_str(&line[body.len()..]);
    }
    if cut { Cow::Owned(out) } else { Cow::Borrowed(text) }
}

/// Whether no line has more than `max` bytes: from one end of a line to the last one that is near enough.
fn lines_within(mut text: &[u8], max: usize) -> bool {
    while text.len() > max {
        match memchr::memrchr(b'\n', &text[..=max]) {
            Some(at) => text = &text[at + 1..],
            None => return false,
        }
    }
    true
}

/// A text within the limits of a result: long lines first, then the whole. `None` where it is within them already;
/// else the shorter text, and what was cut beyond single lines.
pub fn fit_text(text: &str, limits: TextLimits, keep: Keep, lang: Lang) -> Option<(String, Option<Cut>)> {
    let lines = long_lines(text, limits.line_chars);
    let whole = |lines: Cow<'_, str>| match lines {
        Cow::Owned(shorter) => Some((shorter, None)),
        Cow::Borrowed(_) => None,
    };
    if lines.len() <= limits.result_chars {
        return whole(lines);
    }
    let total = lines.chars().count();
    if total <= limits.result_chars {
        return whole(lines);
    }
    // Room for the notice itself, so that the block with it is still within the limit.
    let room = limits.result_chars.saturating_sub(NOTICE_CHARS);
    let parts = split(&lines, keep, Unit::Chars, room);
    let kept = parts.head.chars().count() + parts.tail.chars().count();
    let cut = Cut {
        field: "text".to_owned(),
        unit: Unit::Chars,
        keep,
        limit: limits.result_chars as u64,
        kept: kept as u64,
        total: Some(total as u64),
        next: None,
    };
    Some((parts.join(None, lang), Some(cut)))
}

/// The longest notice without `next` has 2 × 20 digits and some forty letters.
const NOTICE_CHARS: usize = 96;

/// Brings `data` within `max` bytes of compact JSON by cutting its largest text or list, again and
/// again; numbers, ids and small values stay. Sets `data.truncated` and gives what was cut.
pub fn fit_data(data: &mut Value, max: usize) -> Vec<Cut> {
    let mut cuts: Vec<Cut> = Vec::new();
    // Each round at least halves the largest part; twenty rounds bring a gigabyte to a kilobyte.
    for _ in 0..20 {
        let size = compact_len(data);
        if size <= max {
            break;
        }
        let Some((field, _)) = largest(data, "", 0) else { break };
        let Some(part) = data.pointer_mut(&field) else { break };
        let Some(cut) = shrink(part, size - max, &field) else { break };
        match cuts.iter_mut().find(|known| known.field == cut.field) {
            Some(known) => known.kept = cut.kept,
            None => cuts.push(cut),
        }
    }
    if !cuts.is_empty()
        && let Some(map) = data.as_object_mut()
    {
        map.insert("truncated".to_owned(), json!(true));
    }
    for cut in &mut cuts {
        cut.limit = max as u64;
    }
    cuts
}

/// Bytes of the compact JSON.
pub fn compact_len<T: Serialize + ?Sized>(value: &T) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // Counting cannot fail, and what is counted here always serialises.
    serde_json::to_writer(&mut count, value).ok();
    count.0
}

/// The text or list that weighs most; a list inside a heavy list loses to its parent.
fn largest(value: &Value, at: &str, depth: usize) -> Option<(String, usize)> {
    const SMALL: usize = 256;
    match value {
        Value::String(text) if text.len() > SMALL => Some((at.to_owned(), text.len())),
        Value::Array(items) if items.len() > 1 => {
            let weight = compact_len(value);
            let inner = items
                .iter()
                .enumerate()
                .filter_map(|(index, item)| largest(item, &format!("{at}/{index}"), depth + 1));
            // One item that is most of the list is the bulk, not the list.
            match inner.max_by_key(|(_, weight)| *weight) {
                Some((field, heavy)) if heavy * 2 > weight => Some((field, heavy)),
                _ => Some((at.to_owned(), weight)),
            }
        }
        Value::Array(items) => items.first().and_then(|item| largest(item, &format!("{at}/0"), depth + 1)),
        Value::Object(map) if depth < 8 => map
            .iter()
            .filter_map(|(key, value)| largest(value, &crate::validation::pointer(at, key), depth + 1))
            .max_by_key(|(_, weight)| *weight),
        _ => None,
    }
}

fn shrink(part: &mut Value, excess: usize, field: &str) -> Option<Cut> {
    let new = |unit, kept: usize, total: usize| Cut {
        field: field.to_owned(),
        unit,
        keep: Keep::Head,
        limit: 0,
        kept: kept as u64,
        total: Some(total as u64),
        next: None,
    };
    match part {
        Value::String(text) => {
            let total = text.len();
            // Escapes may make the JSON longer than the text; at least halving it always ends.
            let wanted = total.saturating_sub(excess).min(total - total / 8).max(total / 2);
            let head = split(text, Keep::Head, Unit::Bytes, wanted).head.len();
            text.truncate(head);
            Some(new(Unit::Bytes, head, total))
        }
        Value::Array(items) => {
            let total = items.len();
            let mut freed = 0;
            while items.len() > 1 && freed < excess {
                freed += items.pop().as_ref().map_or(0, compact_len) + 1;
            }
            Some(new(Unit::Items, items.len(), total))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
