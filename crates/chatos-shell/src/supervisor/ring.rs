//! The output of a session on disk: the last bytes of it, in a file that never grows beyond its limit
//! (servers §3.7). While the session lives the file is a circle; at its end it is put in order.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use serde::{Deserialize, Serialize};

const CHUNK: usize = 64 << 10;

/// Where the bytes of a circle are; kept in `meta.json`, so that a reader after a crash finds them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Marks {
    /// Bytes ever written.
    pub(crate) total: u64,
    /// Bytes no longer there.
    pub(crate) dropped: u64,
    /// Lines no longer there.
    pub(crate) dropped_lines: u64,
    /// Line ends ever written.
    pub(crate) lines: u64,
    /// Size of the circle; 0 when the file is in order from its start.
    pub(crate) size: u64,
}

/// The file with its marks.
#[derive(Debug)]
pub(crate) struct Ring {
    file: File,
    pub(crate) marks: Marks,
}

/// Lines of the output.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lines {
    /// The first line, counted from 1.
    pub(crate) from: u64,
    /// The last line; less than `from` when there is none.
    pub(crate) to: u64,
    /// All lines, also those no longer there.
    pub(crate) total: u64,
    /// The bytes.
    pub(crate) bytes: Vec<u8>,
    /// Earlier lines were asked for and are gone.
    pub(crate) gone: bool,
}

impl Ring {
    /// A new file of at most `size` bytes.
    pub(super) fn create(path: &Path, size: u64) -> io::Result<Self> {
        let file = File::options().read(true).write(true).create_new(true).mode(0o600).open(path)?;
        Ok(Self { file, marks: Marks { size: size.max(1), ..Marks::default() } })
    }

    /// A file that is there, with the marks it was left with.
    pub(crate) fn open(path: &Path, marks: Marks) -> io::Result<Self> {
        Ok(Self { file: File::open(path)?, marks })
    }

    /// Adds output; the oldest goes when there is no room.
    pub(super) fn push(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let size = self.marks.size;
            let at = self.marks.total % size;
            let room = usize::try_from(size - at).unwrap_or(usize::MAX);
            let (part, rest) = bytes.split_at(bytes.len().min(room).min(CHUNK));
            let kept = self.marks.total - self.marks.dropped;
            let over = (kept + part.len() as u64).saturating_sub(size);
            if over > 0 {
                let mut old = vec![0; usize::try_from(over).unwrap_or_default()];
                self.read(self.marks.dropped, &mut old)?;
                self.marks.dropped += over;
                self.marks.dropped_lines += count(&old);
            }
            self.file.write_all_at(part, at)?;
            self.marks.total += part.len() as u64;
            self.marks.lines += count(part);
            bytes = rest;
        }
        Ok(())
    }

    /// Reads bytes by their place in the whole output.
    fn read(&self, place: u64, buffer: &mut [u8]) -> io::Result<()> {
        if self.marks.size == 0 {
            return self.file.read_exact_at(buffer, place - self.marks.dropped);
        }
        let at = place % self.marks.size;
        let first = usize::try_from(self.marks.size - at).unwrap_or(usize::MAX).min(buffer.len());
        let (one, other) = buffer.split_at_mut(first);
        self.file.read_exact_at(one, at)?;
        self.file.read_exact_at(other, 0)
    }

    /// All lines, an unfinished last one included.
    pub(crate) fn total_lines(&self) -> io::Result<u64> {
        if self.marks.total == self.marks.dropped {
            return Ok(self.marks.lines);
        }
        let mut last = [0];
        self.read(self.marks.total - 1, &mut last)?;
        Ok(self.marks.lines + u64::from(last[0] != b'\n'))
    }

    /// The last `count` lines, or `count` lines from a line on; at most `max` bytes of them.
    pub(crate) fn lines(&self, from: Option<u64>, count_wanted: u64, max: usize) -> io::Result<Lines> {
        let total = self.total_lines()?;
        let first_kept = self.marks.dropped_lines + 1;
        let wanted = from.unwrap_or_else(|| total.saturating_sub(count_wanted) + 1).max(1);
        let start = wanted.max(first_kept);
        let gone = wanted < first_kept && self.marks.dropped > 0;
        let mut lines = Lines { from: start, to: start - 1, total, bytes: Vec::new(), gone };
        // Forward over what is kept: sixteen megabytes of newlines are counted in a few milliseconds.
        let mut line = first_kept;
        let mut place = self.marks.dropped;
        let mut buffer = vec![0; CHUNK];
        let end = start.saturating_add(count_wanted);
        while place < self.marks.total && line < end {
            let left = usize::try_from(self.marks.total - place).unwrap_or(usize::MAX);
            let chunk = &mut buffer[..left.min(CHUNK)];
            self.read(place, chunk)?;
            place += chunk.len() as u64;
            let mut rest = &chunk[..];
            while !rest.is_empty() && line < end {
                let (piece, after) = match memchr::memchr(b'\n', rest) {
                    Some(at) => rest.split_at(at + 1),
                    None => (rest, &rest[rest.len()..]),
                };
                if line >= start {
                    lines.to = line;
                    lines.bytes.extend_from_slice(piece);
                    // The end is what a reader wants when it does not say where to begin.
                    if from.is_none() && lines.bytes.len() > 2 * max {
                        let cut = lines.bytes.len() - max;
                        lines.from += count(&lines.bytes[..cut]);
                        lines.bytes.drain(..cut);
                        lines.gone = true;
                    }
                    if from.is_some() && lines.bytes.len() >= max {
                        return Ok(lines);
                    }
                }
                line += u64::from(piece.ends_with(b"\n"));
                rest = after;
            }
        }
        if lines.bytes.len() > max {
            let cut = lines.bytes.len() - max;
            lines.from += count(&lines.bytes[..cut]);
            lines.bytes.drain(..cut);
            lines.gone = true;
        }
        Ok(lines)
    }

    /// The last bytes, for finding out whether the program asks something.
    pub(super) fn tail(&self, most: usize) -> Vec<u8> {
        let kept = usize::try_from(self.marks.total - self.marks.dropped).unwrap_or(usize::MAX);
        let mut bytes = vec![0; kept.min(most)];
        let place = self.marks.total - bytes.len() as u64;
        if self.read(place, &mut bytes).is_err() {
            bytes.clear();
        }
        bytes
    }

    /// Puts the file in order: from now on it is what a person expects of a log.
    pub(super) fn straighten(&mut self, path: &Path) -> io::Result<()> {
        if self.marks.dropped > 0 {
            let next = path.with_extension("tmp");
            let file =
                File::options().write(true).read(true).create(true).truncate(true).mode(0o600).open(&next)?;
            let (mut place, mut at) = (self.marks.dropped, 0);
            let mut buffer = vec![0; CHUNK];
            while place < self.marks.total {
                let left = usize::try_from(self.marks.total - place).unwrap_or(usize::MAX);
                let chunk = &mut buffer[..left.min(CHUNK)];
                self.read(place, chunk)?;
                file.write_all_at(chunk, at)?;
                place += chunk.len() as u64;
                at += chunk.len() as u64;
            }
            std::fs::rename(&next, path)?;
            self.file = file;
        }
        self.marks.size = 0;
        Ok(())
    }
}

fn count(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(ring: &Ring, from: Option<u64>, count: u64) -> (u64, u64, u64, String, bool) {
        let lines = ring.lines(from, count, 1 << 20).unwrap();
        (lines.from, lines.to, lines.total, String::from_utf8(lines.bytes).unwrap(), lines.gone)
    }

    #[test]
    fn lines_keep_their_numbers_when_the_oldest_go() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out.log");
        let mut ring = Ring::create(&path, 20).unwrap();
        assert_eq!(text(&ring, None, 10), (1, 0, 0, String::new(), false));
        for number in 1..=9 {
            ring.push(format!("line{number}\n").as_bytes()).unwrap();
        }
        ring.push(b"end").unwrap();
        // 57 bytes, of which 20 are there: "ne7\n" and so on.
        assert_eq!(text(&ring, None, 2), (9, 10, 10, "line9\nend".to_owned(), false));
        let (from, to, total, kept, gone) = text(&ring, Some(1), 100);
        assert_eq!((to, total, gone), (10, 10, true));
        assert!(kept.ends_with("line8\nline9\nend") && from >= 7);
        assert_eq!(text(&ring, Some(8), 1), (8, 8, 10, "line8\n".to_owned(), false));
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 20);
        let before = text(&ring, Some(1), 100);
        ring.straighten(&path).unwrap();
        assert_eq!(text(&ring, Some(1), 100), before);
        let marks = ring.marks;
        assert_eq!(text(&Ring::open(&path, marks).unwrap(), Some(1), 100), before);
        assert!(std::fs::read_to_string(&path).unwrap().ends_with("line8\nline9\nend"));
    }

    #[test]
    fn a_line_longer_than_the_circle_and_a_cap_on_bytes() {
        let dir = tempfile::tempdir().unwrap();
        let mut ring = Ring::create(&dir.path().join("out.log"), 100).unwrap();
        ring.push(&[b'x'; 1000]).unwrap();
        assert_eq!((ring.marks.total, ring.marks.dropped, ring.marks.lines), (1000, 900, 0));
        ring.push(b"\nlast").unwrap();
        let lines = ring.lines(None, 5, 10).unwrap();
        assert_eq!((lines.bytes.len(), lines.gone), (10, true));
        assert!(lines.bytes.ends_with(b"\nlast"));
        assert_eq!(ring.tail(4), b"last");
    }
}
