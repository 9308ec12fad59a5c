//! Follows the file behind the path: notices growth, truncation, replacement and rewriting, and hands
//! new bytes to [`Tail`] (`ui-prompts §3.3–3.4`).

mod blocks;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chatos_lines::{Fs, Stat};

use crate::queue::IdHasher;
use crate::tail::{Sink, Tail};

/// Read in pieces of this size: large enough that the system call does not count, small enough to
/// stay in the cache while it is scanned.
const CHUNK: usize = 256 << 10;

/// From this much on several threads parse; below, starting them costs more than it saves.
const LONG: u64 = 4 << 20;

/// How many bytes before the offset are remembered to notice a rewrite.
const FINGERPRINT: usize = 4 << 10;

/// What happened to the file since the last look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// Nothing new.
    Same,
    /// More bytes after the offset.
    Grown,
    /// Another file is behind the path, or this one was cut or rewritten: read from the start.
    Restart,
    /// Nothing is behind the path.
    Missing,
}

/// The reading position: `(device, inode, offset, fingerprint)`.
pub(crate) struct Reader {
    fs: Arc<dyn Fs>,
    path: PathBuf,
    open: Option<Open>,
    buf: Vec<u8>,
    /// Room for the bytes a fingerprint is compared with.
    before: Vec<u8>,
}

struct Open {
    file: Arc<File>,
    stat: Stat,
    tail: Tail,
    fingerprint: Fingerprint,
    /// `changed` of the last look at which everything had been read.
    settled: i128,
}

impl Reader {
    pub(crate) fn new(fs: Arc<dyn Fs>, path: &Path) -> Self {
        Self { fs, path: path.to_owned(), open: None, buf: Vec::new(), before: Vec::new() }
    }

    /// The open file and what is read of it.
    pub(crate) fn file(&self) -> Option<&Arc<File>> {
        self.open.as_ref().map(|o| &o.file)
    }

    pub(crate) fn stat(&self) -> Option<Stat> {
        self.open.as_ref().map(|o| o.stat)
    }

    /// How far the file is read; 0 without one.
    pub(crate) fn offset(&self) -> u64 {
        self.open.as_ref().map_or(0, |o| o.tail.offset())
    }

    /// Looks at the path without reading entries.
    pub(crate) fn look(&mut self) -> io::Result<Found> {
        let now = self.fs.stat(&self.path)?;
        let Some(open) = &mut self.open else {
            return Ok(if now.is_some() { Found::Restart } else { Found::Missing });
        };
        let Some(now) = now else { return Ok(Found::Missing) };
        if !now.is_file {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        if !now.same_file(&open.stat) || now.size < open.tail.offset() {
            return Ok(Found::Restart);
        }
        if now.size == open.tail.offset() && now.changed == open.settled {
            return Ok(Found::Same);
        }
        if !open.fingerprint.matches(&*self.fs, &open.file, open.tail.offset(), &mut self.before)? {
            return Ok(Found::Restart);
        }
        open.stat = now;
        if now.size == open.tail.offset() {
            open.settled = now.changed;
            return Ok(Found::Same);
        }
        Ok(Found::Grown)
    }

    /// Opens what is behind the path now, to be read from the start. `false`: nothing is there.
    pub(crate) fn restart(&mut self) -> io::Result<bool> {
        self.open = None;
        let file = match self.fs.open_read(&self.path) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(e) => return Err(e),
        };
        let stat = self.fs.fstat(&file)?;
        self.open = Some(Open {
            file: Arc::new(file),
            stat,
            tail: Tail::default(),
            fingerprint: Fingerprint::default(),
            settled: i128::MIN,
        });
        Ok(true)
    }

    /// The same from an offset that is the start of a line.
    pub(crate) fn restart_at(&mut self, offset: u64) -> io::Result<bool> {
        let there = self.restart()?;
        if let Some(open) = &mut self.open {
            open.tail = Tail::at(offset);
        }
        Ok(there)
    }

    /// Begins at the end of the file instead of its start, at the next line.
    pub(crate) fn skip_to_end(&mut self) -> io::Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        open.stat = self.fs.fstat(&open.file)?;
        open.tail = Tail::at(open.stat.size);
        open.fingerprint = Fingerprint::read(&*self.fs, &open.file, open.stat.size)?;
        Ok(())
    }

    /// [`Reader::drain`] for a first fold: several threads parse when there is much to read. `hasher` is
    /// that of the queue that is filled.
    pub(crate) fn drain_long<S: Sink>(
        &mut self,
        hasher: &IdHasher,
        sink: &mut S,
        mut progress: impl FnMut(&mut S, u64),
    ) -> io::Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let end = self.fs.fstat(&open.file)?.size;
        let threads = blocks::threads();
        if threads > 1 && end.saturating_sub(open.tail.offset()) >= LONG {
            let fs = &*self.fs;
            let long = blocks::Long { fs, file: &open.file, end, hasher: hasher.clone(), threads };
            long.read(&mut open.tail, sink, &mut progress)?;
            open.fingerprint = Fingerprint::read(fs, &open.file, open.tail.offset())?;
        }
        self.drain(sink, progress)
    }

    /// Reads everything up to what is the end now, also of a file that has no name any more. Bytes that
    /// others append meanwhile wait for the next call, so a flood of them holds nobody up for longer than
    /// what was there. Calls `progress` after each piece.
    pub(crate) fn drain<S: Sink>(
        &mut self,
        sink: &mut S,
        mut progress: impl FnMut(&mut S, u64),
    ) -> io::Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        if self.buf.is_empty() {
            self.buf = vec![0; CHUNK];
        }
        let now = self.fs.fstat(&open.file)?;
        while open.tail.offset() < now.size {
            let read = self.fs.read_at(&open.file, &mut self.buf, open.tail.offset())?;
            if read == 0 {
                break;
            }
            open.fingerprint.extend(&self.buf[..read]);
            open.tail.feed(&self.buf[..read], sink);
            progress(sink, open.tail.offset());
            if read < self.buf.len() {
                // Short: the end, unless somebody is still writing; the next look will tell.
                break;
            }
        }
        open.tail.settle(sink);
        progress(sink, open.tail.offset());
        // Taken before reading: a write during the read shows as a change at the next look.
        open.settled = now.changed;
        if self.buf.len() > CHUNK {
            self.buf.truncate(CHUNK);
        }
        Ok(())
    }
}

/// The bytes before the offset, as they were when they were read. They are kept from what was read, so
/// only the comparison costs a system call.
#[derive(Default)]
struct Fingerprint(Vec<u8>);

impl Fingerprint {
    fn read(fs: &dyn Fs, file: &File, offset: u64) -> io::Result<Self> {
        let mut bytes = Vec::new();
        read_before(fs, file, offset, &mut bytes)?;
        Ok(Self(bytes))
    }

    fn extend(&mut self, read: &[u8]) {
        let read = &read[read.len().saturating_sub(FINGERPRINT)..];
        let keep = self.0.len().min(FINGERPRINT - read.len());
        self.0.drain(..self.0.len() - keep);
        self.0.extend_from_slice(read);
    }

    fn matches(&self, fs: &dyn Fs, file: &File, offset: u64, room: &mut Vec<u8>) -> io::Result<bool> {
        read_before(fs, file, offset, room)?;
        // After a start in the middle of the file fewer bytes are known than there are.
        Ok(room.len() >= self.0.len() && room.ends_with(&self.0))
    }
}

fn read_before(fs: &dyn Fs, file: &File, offset: u64, into: &mut Vec<u8>) -> io::Result<()> {
    let length = offset.min(FINGERPRINT as u64);
    into.resize(length as usize, 0);
    let mut filled = 0;
    while filled < into.len() {
        match fs.read_at(file, &mut into[filled..], offset - length + filled as u64)? {
            0 => break,
            n => filled += n,
        }
    }
    into.truncate(filled);
    Ok(())
}

/// Reads `len` bytes at `at`, or `None` when the file is shorter now.
pub(crate) fn read_exact_at(fs: &dyn Fs, file: &File, at: u64, len: usize) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = vec![0; len];
    let mut filled = 0;
    while filled < len {
        match fs.read_at(file, &mut bytes[filled..], at + filled as u64)? {
            0 => return Ok(None),
            n => filled += n,
        }
    }
    Ok(Some(bytes))
}
