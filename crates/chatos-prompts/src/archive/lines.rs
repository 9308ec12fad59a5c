//! Walks the physical lines of the log in bounded memory.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io;

use chatos_lines::Fs;

use super::Move;
use crate::queue::SlotId;

const CHUNK: usize = 256 << 10;

/// A line longer than this is given in pieces; only bad lines are that long.
const MAX_PIECE: usize = 32 << 20;

/// A line, or a piece of one that is too long to hold.
pub(super) struct Line<'b> {
    pub(super) at: u64,
    /// Without the newline.
    pub(super) bytes: &'b [u8],
    /// A newline follows.
    pub(super) ended: bool,
}

/// The lines of `file` from `from` to `end`.
pub(super) struct Lines<'a> {
    fs: &'a dyn Fs,
    file: &'a File,
    at: u64,
    end: u64,
    buf: Vec<u8>,
    start: usize,
    line: usize,
}

impl<'a> Lines<'a> {
    pub(super) fn new(fs: &'a dyn Fs, file: &'a File, from: u64, end: u64) -> Self {
        Self { fs, file, at: from, end, buf: Vec::new(), start: 0, line: 0 }
    }

    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.start += self.line;
        self.at += self.line as u64;
        loop {
            if let Some(found) = memchr::memchr(b'\n', &self.buf[self.start..]) {
                self.line = found + 1;
                let bytes = &self.buf[self.start..self.start + found];
                return Ok(Some(Line { at: self.at, bytes, ended: true }));
            }
            let have = self.buf.len() - self.start;
            let left = self.end.saturating_sub(self.at + have as u64);
            if left == 0 || have >= MAX_PIECE {
                self.line = have;
                let bytes = &self.buf[self.start..];
                return Ok((!bytes.is_empty()).then_some(Line { at: self.at, bytes, ended: false }));
            }
            self.buf.drain(..self.start);
            self.start = 0;
            let want = (CHUNK as u64).min(left) as usize;
            self.buf.resize(have + want, 0);
            let read = self.fs.read_at(self.file, &mut self.buf[have..], self.at + have as u64)?;
            self.buf.truncate(have + read);
            if read == 0 {
                self.end = self.at + have as u64;
            }
        }
    }

    pub(super) fn count(mut self) -> io::Result<u64> {
        let mut count = 0;
        while let Some(line) = self.next()? {
            count += u64::from(line.ended);
        }
        Ok(count)
    }
}

/// Offset after the last newline. A line somebody is still writing stays out; it is copied later.
pub(super) fn whole_lines_end(fs: &dyn Fs, file: &File) -> io::Result<u64> {
    let mut end = fs.fstat(file)?.size;
    let mut buf = vec![0; 64 << 10];
    while end > 0 {
        let from = end.saturating_sub(buf.len() as u64);
        let want = (end - from) as usize;
        let read = fs.read_at(file, &mut buf[..want], from)?;
        if let Some(found) = memchr::memrchr(b'\n', &buf[..read]) {
            return Ok(from + found as u64 + 1);
        }
        end = from;
    }
    Ok(0)
}

/// Prompts with a line that holds more than their entry (glued, salvaged): they stay in the log.
pub(super) fn not_alone(fs: &dyn Fs, file: &File, end: u64, moves: &[Move]) -> io::Result<HashSet<SlotId>> {
    let mut wanted: HashMap<u64, (SlotId, u32)> = HashMap::with_capacity(moves.len() * 2);
    for m in moves {
        wanted.insert(m.request.offset, (m.slot, m.request.len));
        wanted.insert(m.response.offset, (m.slot, m.response.len));
    }
    let mut odd: HashSet<SlotId> = moves.iter().map(|m| m.slot).collect();
    let mut alone: HashMap<SlotId, u8> = HashMap::with_capacity(moves.len());
    let mut lines = Lines::new(fs, file, 0, end);
    while let Some(line) = lines.next()? {
        if let Some((slot, len)) = wanted.get(&line.at)
            && line.ended
            && line
                .bytes
                .get(*len as usize..)
                .is_some_and(|rest| rest.iter().all(|b| matches!(b, b' ' | b'\r' | b'\t')))
        {
            let count = alone.entry(*slot).or_default();
            *count += 1;
            if *count == 2 {
                odd.remove(slot);
            }
        }
    }
    Ok(odd)
}
