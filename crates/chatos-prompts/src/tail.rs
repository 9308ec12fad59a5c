//! Turns bytes, in whatever pieces they arrive, into entries (`ui-prompts §3.3`).
//!
//! Knows no file. The result does not depend on where the pieces were cut: a complete object at the
//! front of an unfinished line is taken at once, whatever follows it later. A bad line hides nothing
//! but itself, and a line that never ends costs no memory beyond its limit.

use chatos_lines::scan::{self, ScanError};

use crate::clock::Days;
use crate::entry::usual::Usual;
use crate::entry::{self, Head};

/// Longer lines are skipped as a stream.
pub(crate) const MAX_LINE: usize = 16 << 20;

/// How many object starts are tried when the front of a line is torn.
const MAX_TRIES: usize = 64;

/// What was noticed about a line. The names are what `chatos prompts check` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LineFault {
    BadUtf8,
    BadJson,
    BadEntry,
    TooLong,
    /// A further object on the same line; it counts as an entry.
    Glued,
    /// An object found behind a torn front; it counts as an entry.
    Salvaged,
    /// A second request with an id that was used before; ignored.
    ReusedId,
}

impl LineFault {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BadUtf8 => "bad_utf8",
            Self::BadJson => "bad_json",
            Self::BadEntry => "bad_entry",
            Self::TooLong => "too_long",
            Self::Glued => "glued",
            Self::Salvaged => "salvaged",
            Self::ReusedId => "reused_id",
        }
    }

    /// Bad lines are unreadable; the others are only worth knowing.
    pub fn is_bad(self) -> bool {
        matches!(self, Self::BadUtf8 | Self::BadJson | Self::BadEntry | Self::TooLong)
    }
}

/// Receives what the bytes hold, in file order.
pub(crate) trait Sink {
    /// One entry: its offset, its bytes, its head.
    fn entry(&mut self, at: u64, raw: &[u8], head: &Head<'_>);
    fn fault(&mut self, at: u64, fault: LineFault);
    /// One entry that is all of its line and of the usual form.
    fn usual(&mut self, at: u64, line: &str, usual: Usual) {
        self.entry(at, line.as_bytes(), &usual.head(line));
    }
    /// The hashes of the ids that come next, for a sink whose table is larger than the cache.
    fn ahead(&mut self, _hashes: &[u64]) {}
}

/// The state between two reads.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    /// Offset of the first byte of the line being read.
    line_start: u64,
    /// Offset of the next byte to come.
    offset: u64,
    /// Bytes of the unfinished line that were not consumed yet.
    carry: Vec<u8>,
    /// Objects already taken from this line.
    taken: u32,
    /// Inside a line that is too long.
    skipping: bool,
    balance: Balance,
    days: Days,
}

impl Tail {
    /// Starts at `offset`, which must be the start of a line.
    pub(crate) fn at(offset: u64) -> Self {
        Self { line_start: offset, offset, ..Self::default() }
    }

    /// True between two lines: nothing of the next one was seen yet.
    pub(crate) fn is_between_lines(&self) -> bool {
        self.offset == self.line_start
    }

    /// Goes on at `offset`, the start of a line; what lies before it was read elsewhere.
    pub(crate) fn skip_to(&mut self, offset: u64) {
        debug_assert!(self.is_between_lines() && offset >= self.offset);
        (self.line_start, self.offset) = (offset, offset);
    }

    /// Offset of the next byte this wants to see.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Takes the next bytes of the file.
    pub(crate) fn feed(&mut self, mut bytes: &[u8], sink: &mut impl Sink) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (line, rest) = bytes.split_at(end);
            if self.skipping {
                self.skipping = false;
            } else if self.carry.is_empty() {
                let at = self.offset;
                self.finish_line(line, at, sink);
            } else {
                self.carry.extend_from_slice(line);
                let at = self.offset + line.len() as u64 - self.carry.len() as u64;
                let carry = std::mem::take(&mut self.carry);
                self.finish_line(&carry, at, sink);
                self.carry = carry;
                self.carry.clear();
                // One huge line must not keep its memory for the life of the process.
                if self.carry.capacity() > 1 << 20 {
                    self.carry.shrink_to(1 << 16);
                }
            }
            self.offset += end as u64 + 1;
            self.line_start = self.offset;
            self.taken = 0;
            self.balance = Balance::default();
            bytes = &rest[1..];
        }
        self.offset += bytes.len() as u64;
        if self.skipping || bytes.is_empty() {
            return;
        }
        self.carry.extend_from_slice(bytes);
        self.balance.feed(bytes);
        if self.offset - self.line_start > MAX_LINE as u64 {
            let carry = std::mem::take(&mut self.carry);
            let at = self.offset - carry.len() as u64;
            self.too_long(&carry, at, sink);
            self.skipping = true;
        }
    }

    /// No more bytes for now: takes the objects an unfinished line already holds whole.
    pub(crate) fn settle(&mut self, sink: &mut impl Sink) {
        if self.carry.is_empty() || !self.balance.closed {
            return;
        }
        let at = self.offset - self.carry.len() as u64;
        let carry = std::mem::take(&mut self.carry);
        let (used, front) = self.objects(&carry, at, std::str::from_utf8(&carry).is_ok(), sink);
        self.carry = carry;
        self.carry.drain(..used);
        // Only a front that may still become whole is looked at again before the newline.
        self.balance = Balance { hopeless: front == Front::Broken, ..Balance::default() };
        self.balance.feed(&self.carry);
        self.balance.closed = false;
    }

    // Takes what is whole within the limit, whatever pieces the bytes came in; the rest is skipped.
    fn too_long(&mut self, line: &[u8], at: u64, sink: &mut impl Sink) {
        let allowed = (self.line_start + MAX_LINE as u64).saturating_sub(at) as usize;
        let line = &line[..allowed.min(line.len())];
        self.objects(line, at, std::str::from_utf8(line).is_ok(), sink);
        sink.fault(self.line_start, LineFault::TooLong);
    }

    // `line` is what is left of a finished line, starting at offset `at`.
    fn finish_line(&mut self, line: &[u8], at: u64, sink: &mut impl Sink) {
        if at + line.len() as u64 - self.line_start > MAX_LINE as u64 {
            self.too_long(line, at, sink);
            return;
        }
        let text = std::str::from_utf8(line);
        if at == self.line_start
            && let Ok(text) = text
            && let Some(usual) = entry::usual::read(text, &mut self.days)
        {
            sink.usual(at, text, usual);
            return;
        }
        let (used, _) = self.objects(line, at, text.is_ok(), sink);
        let rest = &line[used..];
        if rest.iter().all(|b| is_filler(*b)) {
            return;
        }
        let fault = if std::str::from_utf8(rest).is_ok() { LineFault::BadJson } else { LineFault::BadUtf8 };
        sink.fault(self.line_start, fault);
        salvage(rest, at + used as u64, sink);
    }

    // Takes whole objects from the front of `bytes`; returns how many bytes they and the filler before
    // them took, and what stands in front now.
    fn objects(&mut self, bytes: &[u8], at: u64, valid: bool, sink: &mut impl Sink) -> (usize, Front) {
        let mut used = 0;
        loop {
            let start = skip_filler(bytes, used);
            let found = match bytes.get(start) {
                Some(b'{') => scan::object(bytes, start),
                Some(_) => Err(ScanError::Invalid),
                None => Err(ScanError::Incomplete),
            };
            let found = match found {
                Ok(found) => found,
                Err(ScanError::Incomplete) => return (used, Front::Open),
                Err(ScanError::Invalid | ScanError::TooDeep) => return (used, Front::Broken),
            };
            // No lossy decoding: an id could change. Checked per object, so what was taken before the
            // bad byte arrived stays taken.
            if !valid && std::str::from_utf8(&bytes[start..found.end]).is_err() {
                return (used, Front::Broken);
            }
            self.taken += 1;
            if self.taken > 1 {
                sink.fault(at + start as u64, LineFault::Glued);
            }
            emit(bytes, start, &found, at, sink);
            used = found.end;
        }
    }
}

fn emit(bytes: &[u8], start: usize, found: &scan::Object, at: u64, sink: &mut impl Sink) {
    let offset = at + start as u64;
    match entry::read_head(bytes, found) {
        entry::Read::Entry(head) => sink.entry(offset, &bytes[start..found.end], &head),
        entry::Read::Other => {}
        entry::Read::Bad => sink.fault(offset, LineFault::BadEntry),
    }
}

// §3.3: a torn front, complete objects at the end of the line (appends glued to a torn one). Works
// from the end so that every whole object behind the tear is found.
fn salvage(rest: &[u8], at: u64, sink: &mut impl Sink) {
    let mut found: Vec<(usize, scan::Object)> = Vec::new();
    let mut end = rest.len();
    let mut tries = 0;
    'again: loop {
        while end > 0 && is_filler(rest[end - 1]) {
            end -= 1;
        }
        // First the starts that look like an entry, so that a long list inside it does not use up the tries; then any.
        for only_entries in [true, false] {
            let mut limit = end;
            while let Some(start) = memchr::memrchr(b'{', &rest[..limit]) {
                limit = start;
                if looks_like_entry(&rest[start..]) != only_entries {
                    continue;
                }
                if tries == MAX_TRIES {
                    break 'again;
                }
                tries += 1;
                match scan::object(&rest[..end], start) {
                    Ok(object) if object.end == end && std::str::from_utf8(&rest[start..end]).is_ok() => {
                        found.push((start, object));
                        end = start;
                        continue 'again;
                    }
                    _ => {}
                }
            }
        }
        break;
    }
    for (start, object) in found.iter().rev() {
        sink.fault(at + *start as u64, LineFault::Salvaged);
        emit(rest, *start, object, at, sink);
    }
}

fn looks_like_entry(from: &[u8]) -> bool {
    let key = scan::skip_space(from, 1);
    let name = from.get(key + 1..).unwrap_or_default();
    from.get(key) == Some(&b'"')
        && [
            &b"ts\""[..],
            b"type\"",
            b"action\"",
            b"requestId\"",
            b"runId\"",
            b"prompt\"",
            b"response\"",
            b"chatos\"",
        ]
        .iter()
        .any(|k| name.starts_with(k))
}

// Between objects: blanks, CR, and the NULs a lost block leaves behind.
fn is_filler(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\r' | 0)
}

fn skip_filler(b: &[u8], mut pos: usize) -> usize {
    loop {
        match b.get(pos) {
            Some(byte) if is_filler(*byte) => pos += 1,
            Some(0xef) if b[pos..].starts_with(b"\xef\xbb\xbf") => pos += 3,
            _ => return pos,
        }
    }
}

/// What stands at the front of an unfinished line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Front {
    /// Nothing yet, or an object that may still become whole.
    Open,
    /// No further byte can make it an object.
    Broken,
}

/// Cheap count of braces, so that a slowly growing line is scanned when an object may have ended and
/// not each time a byte arrives.
#[derive(Debug, Default)]
struct Balance {
    depth: u32,
    /// Some object may have ended since the last look.
    closed: bool,
    in_string: bool,
    escaped: bool,
    /// The front can never become an object; wait for the newline.
    hopeless: bool,
}

impl Balance {
    fn feed(&mut self, bytes: &[u8]) {
        if self.hopeless {
            return;
        }
        for b in bytes {
            match (self.in_string, b) {
                (true, _) if self.escaped => self.escaped = false,
                (true, b'\\') => self.escaped = true,
                (true, b'"') => self.in_string = false,
                (true, _) => {}
                (false, b'"') => self.in_string = true,
                (false, b'{') => self.depth += 1,
                (false, b'}') => {
                    self.closed |= self.depth == 1;
                    self.depth = self.depth.saturating_sub(1);
                }
                (false, _) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests;
