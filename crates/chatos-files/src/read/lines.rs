//! Taking a range of lines out of a file without holding more than what is handed out.

use super::scan::{CHUNK, Scan, read_at};
use crate::error::{FileError, Result};
use crate::root::Opened;
use crate::stop::Stop;
use crate::text::BOM;

/// How much one answer may hold.
#[derive(Debug, Clone, Copy)]
pub struct RangeLimits {
    /// `filesystemMaxFileBytes`: bytes of file content.
    pub max_bytes: u64,
    /// Characters of the text, line numbers included.
    pub max_chars: usize,
    /// Lines.
    pub max_lines: Option<u64>,
    /// `toolLineMaxChars`.
    pub line_chars: usize,
    /// Whether lines are numbered as `%6d | text`.
    pub numbered: bool,
}

/// Lines handed out.
#[derive(Debug, Default)]
pub struct Lines {
    /// The text, each line ended by LF except perhaps the last.
    pub text: String,
    /// First line handed out; 0 for an empty file.
    pub start: u64,
    /// Last line handed out.
    pub end: u64,
    /// Last line asked for.
    pub wanted_end: u64,
    /// Bytes of the file that were asked for and not handed out.
    pub omitted_bytes: u64,
    /// Lines that were cut because they are too long.
    pub cut_lines: u64,
}

impl Lines {
    /// Whether lines that were asked for are missing.
    pub fn truncated(&self) -> bool {
        self.end < self.wanted_end
    }
}

/// Takes lines out of decoded text.
pub(super) fn from_text(text: &str, start: u64, end: u64, limits: &RangeLimits) -> Lines {
    let mut taker = Taker::new(start, end, limits);
    for line in text.split_inclusive('\n') {
        if taker.full {
            taker.lines.omitted_bytes += line.len() as u64;
        } else if !taker.piece(line.as_bytes()) {
            break;
        }
    }
    taker.finish()
}

/// Takes lines out of a small file that is in memory.
pub(super) fn from_bytes(bytes: &[u8], scan: &Scan, start: u64, end: u64, limits: &RangeLimits) -> Lines {
    let mut taker = Taker::new(start, end, limits);
    let rest = bytes.strip_prefix(BOM).unwrap_or(bytes);
    taker.chunk(rest, bytes.len() as u64, scan, end);
    taker.finish()
}

/// Takes lines out of a file, from the nearest mark before the first of them.
pub(super) fn from_file(
    opened: &Opened,
    scan: &Scan,
    start: u64,
    end: u64,
    limits: &RangeLimits,
    stop: &dyn Stop,
) -> Result<Lines> {
    let mut taker = Taker::new(start, end, limits);
    // The chunk that holds the line end before the first line: counting goes on from its mark.
    let mark = scan.marks.partition_point(|before| before + 1 < start).saturating_sub(1);
    taker.line = scan.marks.get(mark).copied().unwrap_or(0) + 1;
    let mut offset = (mark * CHUNK) as u64;
    let mut done = false;
    let mut buffer = vec![0; CHUNK.min(usize::try_from(scan.size_bytes).unwrap_or(CHUNK)).max(1)];
    while offset < scan.size_bytes && !done {
        stop.check()?;
        let want = usize::try_from(scan.size_bytes - offset).unwrap_or(CHUNK).min(buffer.len());
        let read = read_at(&opened.file, &mut buffer[..want], offset)
            .map_err(|error| FileError::os("read", opened.rel.clone(), error))?;
        if read == 0 {
            break;
        }
        let mut bytes = &buffer[..read];
        if offset == 0 && bytes.starts_with(BOM) {
            bytes = &bytes[BOM.len()..];
        }
        offset += read as u64;
        done = taker.chunk(bytes, offset, scan, end);
    }
    Ok(taker.finish())
}

/// An estimate that is exact when the range goes to the end of the file, which it does unless the
/// caller named a last line.
fn remaining(scan: &Scan, from: u64, end: u64) -> u64 {
    if end >= scan.line_count {
        return scan.size_bytes.saturating_sub(from);
    }
    let mark = scan.marks.partition_point(|before| *before < end) as u64;
    (mark * CHUNK as u64).min(scan.size_bytes).saturating_sub(from)
}

/// Collects lines from pieces, a piece being a line or a part of one.
struct Taker<'a> {
    limits: &'a RangeLimits,
    start: u64,
    end: u64,
    /// The number of the line that the next piece belongs to.
    line: u64,
    lines: Lines,
    chars: usize,
    bytes: u64,
    /// The beginning of the present line, as much as may be shown.
    held: Vec<u8>,
    /// Characters of the present line beyond what is held.
    beyond: usize,
    full: bool,
}

impl<'a> Taker<'a> {
    fn new(start: u64, end: u64, limits: &'a RangeLimits) -> Self {
        let lines = Lines { start: 0, end: 0, wanted_end: end, ..Lines::default() };
        let end = match limits.max_lines {
            Some(max) => end.min(start.saturating_add(max - 1)),
            None => end,
        };
        Self {
            limits,
            start,
            end,
            line: 1,
            lines,
            chars: 0,
            bytes: 0,
            held: Vec::new(),
            beyond: 0,
            full: false,
        }
    }

    /// Takes what is wanted of a chunk that ends at `offset` of the file; true when that was all.
    fn chunk(&mut self, mut bytes: &[u8], offset: u64, scan: &Scan, end: u64) -> bool {
        while !bytes.is_empty() {
            let cut = memchr::memchr(b'\n', bytes).map_or(bytes.len(), |at| at + 1);
            let more = self.piece(&bytes[..cut]);
            if self.full {
                // Only the size of the rest is still of interest; it begins with this piece.
                self.lines.omitted_bytes = remaining(scan, offset - bytes.len() as u64, end);
                return true;
            }
            bytes = &bytes[cut..];
            if !more {
                return true;
            }
        }
        false
    }

    /// Takes a piece; false when nothing more is wanted.
    fn piece(&mut self, piece: &[u8]) -> bool {
        let ended = piece.ends_with(b"\n");
        if self.line < self.start {
            self.line += u64::from(ended);
            return true;
        }
        if self.line > self.end {
            self.full = self.end < self.lines.wanted_end;
            return false;
        }
        let body = if ended { &piece[..piece.len() - 1] } else { piece };
        if ended && self.held.is_empty() && self.beyond == 0 {
            self.flush(body, 0, true);
        } else {
            self.hold(body);
            if ended {
                let held = std::mem::take(&mut self.held);
                let beyond = std::mem::take(&mut self.beyond);
                self.flush(&held, beyond, true);
            }
        }
        !self.full && (self.line <= self.end || self.end < self.lines.wanted_end)
    }

    /// Keeps four bytes per character that may be shown and counts the rest.
    fn hold(&mut self, body: &[u8]) {
        let room = (self.limits.line_chars * 4 + 4).saturating_sub(self.held.len());
        let take = room.min(body.len());
        self.held.extend_from_slice(&body[..take]);
        self.beyond += body[take..].iter().filter(|byte| (**byte & 0xc0) != 0x80).count();
    }

    fn flush(&mut self, mut line: &[u8], mut beyond: usize, ended: bool) {
        if ended && beyond == 0 {
            line = line.strip_suffix(b"\r").unwrap_or(line);
        }
        let text = String::from_utf8_lossy(line);
        let mut shown: &str = &text;
        if line.len() > self.limits.line_chars
            && let Some((at, _)) = text.char_indices().nth(self.limits.line_chars)
        {
            beyond += text[at..].chars().count();
            shown = &text[..at];
        }
        let number = if self.limits.numbered { 9 } else { 0 };
        let chars = shown.chars().count() + number + 1;
        let raw = line.len() as u64;
        let first = self.lines.end == 0;
        let fits = self.chars + chars <= self.limits.max_chars && self.bytes + raw <= self.limits.max_bytes;
        // The first line is always handed out, else a caller could not get past it.
        if !fits && !first {
            self.full = true;
            return;
        }
        if first {
            self.lines.start = self.line;
        }
        let out = &mut self.lines.text;
        if self.limits.numbered {
            push_number(out, self.line);
        }
        out.push_str(shown);
        if beyond > 0 {
            out.extend([" …(+", &beyond.to_string(), " chars)"]);
            self.lines.cut_lines += 1;
        }
        if ended {
            out.push('\n');
        }
        self.chars += chars;
        self.bytes += raw + u64::from(ended);
        self.lines.end = self.line;
        self.line += 1;
    }

    fn finish(mut self) -> Lines {
        if !self.full && (!self.held.is_empty() || self.beyond > 0) && self.line <= self.end {
            let held = std::mem::take(&mut self.held);
            self.flush(&held, self.beyond, false);
        }
        self.lines
    }
}

/// `%6d | `, without the cost of formatting for each of a million lines.
fn push_number(out: &mut String, mut number: u64) {
    let mut digits = [b' '; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    let from = at.min(digits.len() - 6);
    out.extend(digits[from..].iter().map(|digit| char::from(*digit)));
    out.push_str(" | ");
}
