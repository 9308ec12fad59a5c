//! What a command printed: kept head and tail in bounded memory, made readable, and laid out as text
//! (servers §3.4).

mod clean;

use std::collections::VecDeque;

use chatos_files::text::is_binary;
use chatos_tool::truncate::{self, Keep, Unit};
use chatos_tool::{Lang, Redactor};
use schemars::JsonSchema;
use serde::Serialize;

pub(super) use clean::clean;

/// How much of a stream decides whether it is binary (servers §2.2).
const SNIFF: usize = 8_192;

/// The bytes of one stream: a quarter of the room for its start, the rest for its end.
#[derive(Debug)]
pub(super) struct Capture {
    head: Vec<u8>,
    head_room: usize,
    tail: VecDeque<u8>,
    tail_room: usize,
    total: u64,
    newlines: u64,
    last: u8,
}

impl Capture {
    /// Keeps at most `room` bytes.
    pub(super) fn new(room: usize) -> Self {
        let head_room = room / 4;
        Self {
            head: Vec::new(),
            head_room,
            tail: VecDeque::new(),
            tail_room: room - head_room,
            total: 0,
            newlines: 0,
            last: b'\n',
        }
    }

    /// Adds what was read.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let Some(last) = bytes.last() else { return };
        self.last = *last;
        self.total += bytes.len() as u64;
        self.newlines += memchr::memchr_iter(b'\n', bytes).count() as u64;
        let (first, rest) = bytes.split_at(bytes.len().min(self.head_room - self.head.len()));
        self.head.extend_from_slice(first);
        // Of a piece longer than the room only its end can stay.
        let rest = &rest[rest.len().saturating_sub(self.tail_room)..];
        let over = (self.tail.len() + rest.len()).saturating_sub(self.tail_room);
        self.tail.drain(..over.min(self.tail.len()));
        self.tail.extend(rest);
    }

    /// Bytes ever added.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// The end of what was added, for finding out whether the program asks something.
    pub(super) fn last_bytes(&self, most: usize) -> Vec<u8> {
        if self.tail.is_empty() {
            return self.head[self.head.len().saturating_sub(most)..].to_vec();
        }
        let skip = self.tail.len().saturating_sub(most);
        self.tail.iter().skip(skip).copied().collect()
    }

    /// Makes it readable. Known secrets go before anything is cut further (tools §9).
    pub(super) fn finish(mut self, redactor: &Redactor) -> Printed {
        let lines = self.newlines + u64::from(self.last != b'\n');
        if is_binary(&self.head[..self.head.len().min(SNIFF)]) {
            return Printed { bytes: self.total, lines, binary: true, ..Printed::default() };
        }
        let kept = (self.head.len() + self.tail.len()) as u64;
        if kept == self.total {
            // Nothing is missing between the two.
            self.head.reserve_exact(self.tail.len());
            let (one, other) = self.tail.as_slices();
            self.head.extend_from_slice(one);
            self.head.extend_from_slice(other);
            let text = redactor.known(&clean(&self.head)).into_owned();
            return Printed { head: text, bytes: self.total, lines, ..Printed::default() };
        }
        let head = whole_lines_head(&self.head);
        let tail = self.tail.make_contiguous();
        let tail = whole_lines_tail(tail);
        let newlines = |bytes: &[u8]| memchr::memchr_iter(b'\n', bytes).count() as u64;
        let tail_lines = newlines(tail) + u64::from(!tail.is_empty() && self.last != b'\n');
        Printed {
            omitted_bytes: self.total - (head.len() + tail.len()) as u64,
            omitted_lines: lines.saturating_sub(newlines(head) + tail_lines),
            head: redactor.known(&clean(head)).into_owned(),
            tail: redactor.known(&clean(tail)).into_owned(),
            bytes: self.total,
            lines,
            binary: false,
        }
    }
}

/// The start up to a line end near its own end, or at least to a whole character.
fn whole_lines_head(bytes: &[u8]) -> &[u8] {
    let near = bytes.len().saturating_sub(chatos_tool::limits::LINE_BOUNDARY_BYTES);
    if let Some(at) = bytes[near..].iter().rposition(|b| *b == b'\n') {
        return &bytes[..=near + at];
    }
    let mut end = bytes.len();
    while end > 0 && bytes.len() - end < 4 && bytes[end - 1] & 0xc0 == 0x80 {
        end -= 1;
    }
    // A leading byte whose characters did not follow goes too.
    if end > 0 && bytes[end - 1] >= 0xc0 { &bytes[..end - 1] } else { bytes }
}

/// The end from a line start near its own start, or at least from a whole character.
fn whole_lines_tail(bytes: &[u8]) -> &[u8] {
    let near = bytes.len().min(chatos_tool::limits::LINE_BOUNDARY_BYTES);
    if let Some(at) = bytes[..near].iter().position(|b| *b == b'\n') {
        return &bytes[at + 1..];
    }
    let inside = bytes.iter().take(3).take_while(|b| **b & 0xc0 == 0x80).count();
    &bytes[inside..]
}

/// A stream that can be read.
#[derive(Debug, Default, Clone)]
pub(super) struct Printed {
    head: String,
    /// Empty when nothing is missing.
    tail: String,
    bytes: u64,
    lines: u64,
    omitted_bytes: u64,
    omitted_lines: u64,
    binary: bool,
}

/// One stream as results show it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Stream {
    /// What was printed, without control sequences
    pub(super) text: String,
    /// Bytes printed
    pub(super) bytes: u64,
    /// Lines printed
    pub(super) lines: u64,
    /// Something is left out of `text`
    pub(super) truncated: bool,
    /// Bytes left out
    pub(super) omitted_bytes: u64,
    /// Lines left out
    pub(super) omitted_lines: u64,
    /// The output is not text
    pub(super) binary: bool,
}

impl Printed {
    /// What was printed last.
    pub(super) fn end(&self) -> &str {
        if self.tail.is_empty() { &self.head } else { &self.tail }
    }

    /// Text that is there already, as a session's log gives it.
    pub(super) fn of(text: String, omitted_bytes: u64, omitted_lines: u64) -> Self {
        let lines = text.split_inclusive('\n').count() as u64 + omitted_lines;
        let bytes = text.len() as u64 + omitted_bytes;
        match omitted_bytes {
            0 => Self { head: text, bytes, lines, ..Self::default() },
            _ => Self { tail: text, bytes, lines, omitted_bytes, omitted_lines, ..Self::default() },
        }
    }

    /// Bytes that were printed, shown or not.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How much room it would like.
    pub(super) fn wish(&self) -> usize {
        self.head.len() + self.tail.len() + if self.omitted_bytes > 0 { NOTICE } else { 0 }
    }

    /// The stream with at most `room` bytes of text.
    pub(super) fn stream(&self, room: usize, lang: Lang) -> Stream {
        if self.binary {
            return Stream {
                text: match lang {
                    Lang::En => format!("[binary output, {} bytes]", self.bytes),
                    Lang::Zh => format!("[二进制输出，{} 字节]", self.bytes),
                },
                bytes: self.bytes,
                lines: self.lines,
                truncated: true,
                omitted_bytes: self.bytes,
                omitted_lines: self.lines,
                binary: true,
            };
        }
        if self.wish() <= room {
            return self.with(&self.head, &self.tail, self.omitted_bytes, self.omitted_lines, lang);
        }
        let room = room.saturating_sub(NOTICE);
        // What was left out before lies between head and tail, so both are cut towards each other.
        if self.omitted_bytes == 0 {
            let parts = truncate::split(&self.head, Keep::HeadTail, Unit::Bytes, room);
            let lines = parts.omitted.matches('\n').count() as u64;
            return self.with(parts.head, parts.tail, parts.omitted.len() as u64, lines.max(1), lang);
        }
        let head_room = (room / 4).max(room.saturating_sub(self.tail.len())).min(room);
        let head = truncate::split(&self.head, Keep::Head, Unit::Bytes, head_room);
        let tail = truncate::split(&self.tail, Keep::Tail, Unit::Bytes, room.saturating_sub(head.head.len()));
        let cut = head.omitted.len() + tail.omitted.len();
        let lines = head.omitted.matches('\n').count() + tail.omitted.matches('\n').count();
        let (bytes, lines) = (self.omitted_bytes + cut as u64, self.omitted_lines + lines as u64);
        self.with(head.head, tail.tail, bytes, lines, lang)
    }

    fn with(&self, head: &str, tail: &str, omitted_bytes: u64, omitted_lines: u64, lang: Lang) -> Stream {
        let mut text = head.to_owned();
        if omitted_bytes > 0 {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(&match lang {
                Lang::En => format!("[… {omitted_bytes} bytes, {omitted_lines} lines omitted …]\n"),
                Lang::Zh => format!("[… 省略 {omitted_bytes} 字节，{omitted_lines} 行 …]\n"),
            });
            text.push_str(tail);
        }
        Stream {
            text,
            bytes: self.bytes,
            lines: self.lines,
            truncated: omitted_bytes > 0,
            omitted_bytes,
            omitted_lines,
            binary: false,
        }
    }
}

/// The longest notice in bytes.
const NOTICE: usize = 120;

/// Divides room between two by need: a small one gets all it wants, the other the rest.
pub(super) fn share(room: usize, one: usize, other: usize) -> (usize, usize) {
    let half = room / 2;
    if one + other <= room {
        (one, other)
    } else if one <= half {
        (one, room - one)
    } else if other <= half {
        (room - other, other)
    } else {
        (room - half, half)
    }
}

/// `STDOUT:` and `STDERR:` with what they hold.
pub(super) fn sections(stdout: &Stream, stderr: &Stream) -> String {
    let section = |name: &str, stream: &Stream| match stream.text.trim_end_matches('\n') {
        "" => format!("{name}: <empty>"),
        text => format!("{name}:\n{text}"),
    };
    format!("{}\n\n{}", section("STDOUT", stdout), section("STDERR", stderr))
}

#[cfg(test)]
mod tests;
