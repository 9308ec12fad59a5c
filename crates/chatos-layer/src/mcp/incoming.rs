//! Bytes of a client, cut into lines: what came together is looked at once, and a line that is too long
//! is skipped in constant memory.

use std::time::Instant;

/// As much of a line that is too long is looked at.
const HEAD: usize = 1024;

/// One line without its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) bytes: Vec<u8>,
    /// When it was here, at the latest.
    pub(super) arrived: Instant,
    /// The next line is here already.
    pub(super) more: bool,
}

/// What the bytes that are here give.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    Line(Line),
    /// A line is longer than allowed: its beginning. The rest of it will be skipped. Told once for each.
    TooLong(Vec<u8>),
    /// More bytes have to come.
    Wait,
}

/// Bytes that came and were not taken.
#[derive(Debug)]
pub(super) struct Incoming {
    most: usize,
    buffer: Vec<u8>,
    // Where the next line begins; what lies before it was taken.
    start: usize,
    // Bytes up to here hold no newline that was not taken.
    searched: usize,
    // Where the line after the next ends, when that is known.
    ahead: Option<usize>,
    skipping: bool,
    arrived: Instant,
}

impl Incoming {
    /// For lines of at most `most` bytes.
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            buffer: Vec::new(),
            start: 0,
            searched: 0,
            ahead: None,
            skipping: false,
            arrived: Instant::now(),
        }
    }

    /// Takes bytes that came now.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.searched -= self.start;
            self.start = 0;
        }
        self.buffer.extend_from_slice(bytes);
        self.arrived = Instant::now();
    }

    /// The next line, if it is here.
    pub(super) fn next(&mut self) -> Next {
        loop {
            let Some(end) = self.ahead.take().or_else(|| self.newline()) else {
                return self.unfinished();
            };
            let begin = std::mem::replace(&mut self.start, end + 1);
            if std::mem::take(&mut self.skipping) {
                continue;
            }
            self.ahead = self.newline();
            let bytes = self.take(begin, end);
            return Next::Line(Line { bytes, arrived: self.arrived, more: self.ahead.is_some() });
        }
    }

    /// Where the first newline that was not found yet is.
    fn newline(&mut self) -> Option<usize> {
        match memchr::memchr(b'\n', &self.buffer[self.searched..]) {
            Some(at) => {
                let end = self.searched + at;
                self.searched = end + 1;
                Some(end)
            }
            None => {
                self.searched = self.buffer.len();
                None
            }
        }
    }

    /// A line that has the buffer for itself takes it; small ones of many are copied.
    fn take(&mut self, begin: usize, end: usize) -> Vec<u8> {
        if begin > 0 || end + 1 < self.buffer.len() {
            return self.buffer[begin..end].to_vec();
        }
        let mut line = std::mem::take(&mut self.buffer);
        (self.start, self.searched) = (0, 0);
        line.pop();
        line
    }

    fn unfinished(&mut self) -> Next {
        let too_long = self.buffer.len() - self.start > self.most;
        let first = (too_long && !self.skipping)
            .then(|| self.buffer[self.start..].iter().take(HEAD).copied().collect());
        self.skipping |= too_long;
        if self.skipping {
            self.buffer.clear();
            (self.start, self.searched) = (0, 0);
        }
        first.map_or(Next::Wait, Next::TooLong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pushes pieces and gives what came of them: lines, `!` for one that was too long; `+` marks `more`.
    fn all(most: usize, pieces: &[&[u8]]) -> Vec<String> {
        let mut incoming = Incoming::new(most);
        let mut found = Vec::new();
        for piece in pieces {
            incoming.push(piece);
            loop {
                match incoming.next() {
                    Next::Line(line) => {
                        let more = if line.more { "+" } else { "" };
                        found.push(format!("{}{more}", String::from_utf8(line.bytes).unwrap()));
                    }
                    Next::TooLong(head) => {
                        assert!(head.len() <= HEAD && head.iter().all(|byte| b"xy".contains(byte)));
                        found.push("!".to_owned());
                    }
                    Next::Wait => break,
                }
            }
        }
        found
    }

    #[test]
    fn lines_are_the_same_however_the_bytes_come() {
        let text = b"one\n\ntwo two\nthree\n";
        assert_eq!(all(100, &[text]), ["one+", "+", "two two+", "three"]);
        let single: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(all(100, &single), ["one", "", "two two", "three"]);
        for at in 0..text.len() {
            let lines = all(100, &[&text[..at], &text[at..]]);
            let bare: Vec<&str> = lines.iter().map(|line| line.trim_end_matches('+')).collect();
            assert_eq!(bare, ["one", "", "two two", "three"], "cut at {at}");
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_told_once_and_the_next_one_is_read() {
        let long = vec![b'x'; 50];
        assert_eq!(all(10, &[b"a\n", &long, &long, b"end\nb\nc\n"]), ["a", "!", "b+", "c"]);
        // Twice in a row, the second with its beginning in the same bytes.
        assert_eq!(all(10, &[&long, b"\nyyyyyyyyyyyyyyyyyyyy", b"\nb\n"]), ["!", "!", "b"]);
        // A long line that is here as a whole is read: the limit is for memory, not for content.
        assert_eq!(all(10, &[b"0123456789abcdef\n"]), ["0123456789abcdef"]);
    }

    #[test]
    fn memory_stays_small_whatever_is_skipped() {
        let mut incoming = Incoming::new(1000);
        let chunk = [b'x'; 700];
        for _ in 0..1000 {
            incoming.push(&chunk);
            incoming.next();
            assert!(incoming.buffer.len() <= 1400, "{}", incoming.buffer.len());
        }
    }

    #[test]
    fn a_line_is_not_older_than_its_last_byte() {
        let mut incoming = Incoming::new(100);
        incoming.push(b"a");
        assert_eq!(incoming.next(), Next::Wait);
        std::thread::sleep(std::time::Duration::from_millis(2));
        let before = Instant::now();
        incoming.push(b"b\nc\n");
        let mut line = || match incoming.next() {
            Next::Line(line) => line,
            other => panic!("{other:?}"),
        };
        let (first, second) = (line(), line());
        assert!(first.arrived >= before && second.arrived == first.arrived);
    }
}
