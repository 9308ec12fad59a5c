//! Reads a long file quickly: several threads read and parse blocks of it, the caller folds what they
//! found in the order of the file.
//!
//! A block is cut wherever it falls. The whole lines inside it are parsed by the thread that read it;
//! the pieces of lines at its two ends go through the caller's [`Tail`], which joins them. What comes
//! out is therefore exactly what feeding the bytes in order gives, torn, glued and endless lines included.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};

use chatos_lines::{Fs, lock};

use crate::entry::Head;
use crate::entry::usual::Usual;
use crate::queue::IdHasher;
use crate::tail::{LineFault, Sink, Tail};

/// Large enough that handing one over costs nothing, small enough to stay in a core's cache.
const BLOCK: usize = 512 << 10;

/// So many ids are announced at once.
const AHEAD: usize = 32;

/// More threads than this only wait for the one that folds.
const MAX_THREADS: usize = 4;

/// A file to be read from where `tail` stands up to `end`.
pub(super) struct Long<'a> {
    pub(super) fs: &'a dyn Fs,
    pub(super) file: &'a File,
    pub(super) end: u64,
    pub(super) hasher: IdHasher,
    pub(super) threads: usize,
}

/// How many threads are worth it here.
pub(super) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS)
}

impl Long<'_> {
    /// Reads until the end, or until the file turns out to be shorter.
    pub(super) fn read<S: Sink>(
        &self,
        tail: &mut Tail,
        sink: &mut S,
        mut progress: impl FnMut(&mut S, u64),
    ) -> io::Result<()> {
        let start = tail.offset();
        let next = AtomicU64::new(0);
        let (to_free, free) = mpsc::channel();
        let (done, results) = mpsc::channel();
        for _ in 0..self.threads * 2 + 2 {
            // The receiver lives until the end of this function.
            to_free.send(Block::default()).map_err(io::Error::other)?;
        }
        let free = Mutex::new(free);
        std::thread::scope(|scope| {
            for _ in 0..self.threads {
                let (free, next, done) = (&free, &next, done.clone());
                let clean = tail.is_between_lines();
                std::thread::Builder::new()
                    .name("prompts-fold".into())
                    .spawn_scoped(scope, move || self.work(start, clean, free, next, &done))?;
            }
            drop(done);
            // Dropped at the end of this closure: whoever waits for a free block stops.
            let to_free = to_free;
            let blocks = (self.end - start).div_ceil(BLOCK as u64);
            let mut early: BTreeMap<u64, io::Result<Block>> = BTreeMap::new();
            for index in 0..blocks {
                let block = loop {
                    if let Some(block) = early.remove(&index) {
                        break block?;
                    }
                    let (at, block) = results.recv().map_err(io::Error::other)?;
                    early.insert(at, block);
                };
                block.fold(tail, sink);
                progress(sink, tail.offset());
                if block.short {
                    break;
                }
                if to_free.send(block).is_err() {
                    break;
                }
            }
            Ok(())
        })
    }

    fn work(
        &self,
        start: u64,
        clean: bool,
        free: &Mutex<Receiver<Block>>,
        next: &AtomicU64,
        done: &Sender<(u64, io::Result<Block>)>,
    ) {
        loop {
            let Ok(mut block) = lock(free).recv() else { return };
            let index = next.fetch_add(1, Ordering::Relaxed);
            let at = start + index * BLOCK as u64;
            if at >= self.end {
                return;
            }
            let mut answer = Answer { index, done, block: None };
            let wanted = BLOCK.min((self.end - at) as usize);
            let filled = block.fill(self.fs, self.file, at, wanted);
            answer.block = Some(filled.map(|()| {
                block.parse(index == 0 && clean, &self.hasher);
                block
            }));
        }
    }
}

/// Sends the outcome of one block, also when the thread dies over it: the caller must not wait for ever.
struct Answer<'a> {
    index: u64,
    done: &'a Sender<(u64, io::Result<Block>)>,
    block: Option<io::Result<Block>>,
}

impl Drop for Answer<'_> {
    fn drop(&mut self) {
        let gone = || Err(io::Error::other("the parser of a part of the log failed"));
        let block = self.block.take().unwrap_or_else(gone);
        if self.done.send((self.index, block)).is_err() {
            // The caller stopped early and wants no more.
            tracing::trace!("a block of the prompt log is not needed any more");
        }
    }
}

/// A piece of the file and what its whole lines hold.
#[derive(Default)]
struct Block {
    at: u64,
    bytes: Vec<u8>,
    /// The file ended inside this block although it was longer before.
    short: bool,
    /// The whole lines are `bytes[lines.0..lines.1]`.
    lines: (usize, usize),
    found: Found,
}

#[derive(Default)]
struct Found {
    /// Offset of the first whole line.
    base: u64,
    entries: Vec<Packed>,
    /// Of the ids of the entries.
    hashes: Vec<u64>,
    /// Ids and runs of the entries, one after the other; not those that are like the ones before.
    texts: String,
    /// Where the id of the last entry stands there, if that was the last thing found.
    id: Option<(usize, usize)>,
    /// The run of the last entry, to notice that the next is of the same.
    run: String,
    /// What is not a usual line, with the number of entries before it.
    odd: Vec<(usize, Odd)>,
    hasher: IdHasher,
}

/// A usual line: where it is, and its head. Its texts are next in [`Found::texts`].
struct Packed {
    at: u32,
    len: u32,
    usual: Usual,
    /// 0: that of the entry before.
    id_len: u16,
    run: PackedRun,
}

enum PackedRun {
    None,
    Same,
    New(u16),
}

enum Odd {
    Entry(u64, u32, Head<'static>),
    Fault(u64, LineFault),
}

impl Block {
    fn fill(&mut self, fs: &dyn Fs, file: &File, at: u64, wanted: usize) -> io::Result<()> {
        self.at = at;
        self.bytes.resize(wanted, 0);
        let mut filled = 0;
        while filled < wanted {
            match fs.read_at(file, &mut self.bytes[filled..], at + filled as u64)? {
                0 => break,
                n => filled += n,
            }
        }
        self.short = filled < wanted;
        self.bytes.truncate(filled);
        Ok(())
    }

    // `clean`: the block begins with a line, not inside one.
    fn parse(&mut self, clean: bool, hasher: &IdHasher) {
        let bytes = &self.bytes;
        let front = if clean { Some(0) } else { memchr::memchr(b'\n', bytes).map(|at| at + 1) };
        let back = memchr::memrchr(b'\n', bytes).map(|at| at + 1);
        self.lines = match (front, back) {
            (Some(front), Some(back)) if front < back => (front, back),
            _ => (bytes.len(), bytes.len()),
        };
        let base = self.at + self.lines.0 as u64;
        let found = &mut self.found;
        found.base = base;
        found.hasher = hasher.clone();
        found.entries.clear();
        found.hashes.clear();
        found.texts.clear();
        found.run.clear();
        found.id = None;
        found.odd.clear();
        Tail::at(base).feed(&bytes[self.lines.0..self.lines.1], found);
    }

    fn fold(&self, tail: &mut Tail, sink: &mut impl Sink) {
        let (front, back) = self.lines;
        tail.feed(&self.bytes[..front], sink);
        if front == back {
            return;
        }
        let found = &self.found;
        let mut odd = found.odd.iter().peekable();
        let mut pos = 0;
        let (mut id, mut run) = ("", None);
        let raw = |at: u64, len: u32| {
            let start = (at - self.at) as usize;
            &self.bytes[start..start + len as usize]
        };
        let mut tell = |entries: usize, sink: &mut _| {
            while let Some((_, odd)) = odd.next_if(|(before, _)| *before == entries) {
                match odd {
                    Odd::Entry(at, len, head) => Sink::entry(sink, *at, raw(*at, *len), head),
                    Odd::Fault(at, fault) => Sink::fault(sink, *at, *fault),
                }
            }
        };
        for (i, packed) in found.entries.iter().enumerate() {
            if i % AHEAD == 0 {
                sink.ahead(&found.hashes[i..found.hashes.len().min(i + AHEAD)]);
            }
            tell(i, sink);
            let mut text = |len: u16| {
                let end = pos + usize::from(len);
                let text = found.texts.get(pos..end).unwrap_or_default();
                pos = end;
                text
            };
            if packed.id_len != 0 {
                id = text(packed.id_len);
            }
            match packed.run {
                PackedRun::None => run = None,
                PackedRun::Same => {}
                PackedRun::New(len) => run = Some(text(len)),
            }
            let at = found.base + u64::from(packed.at);
            let mut head = packed.usual.head_of(id, run, Some(found.hashes[i]));
            head.repeats = packed.id_len == 0;
            sink.entry(at, raw(at, packed.len), &head);
        }
        tell(found.entries.len(), sink);
        tail.skip_to(self.at + back as u64);
        tail.feed(&self.bytes[back..], sink);
    }
}

impl Sink for Found {
    fn entry(&mut self, at: u64, raw: &[u8], head: &Head<'_>) {
        self.id = None;
        self.odd.push((self.entries.len(), Odd::Entry(at, raw.len() as u32, head.to_owned())));
    }

    fn fault(&mut self, at: u64, fault: LineFault) {
        self.odd.push((self.entries.len(), Odd::Fault(at, fault)));
    }

    fn usual(&mut self, at: u64, line: &str, usual: Usual) {
        let id = usual.id(line);
        let repeats = self.id.and_then(|(start, end)| self.texts.get(start..end)) == Some(id);
        let hash = match self.hashes.last() {
            Some(hash) if repeats => *hash,
            _ => self.hasher.hash(id),
        };
        if !repeats {
            self.id = Some((self.texts.len(), self.texts.len() + id.len()));
            self.texts.push_str(id);
        }
        let run = match usual.run(line) {
            None => {
                self.run.clear();
                PackedRun::None
            }
            Some(run) if run == self.run => PackedRun::Same,
            Some(run) => {
                self.texts.push_str(run);
                self.run.clear();
                self.run.push_str(run);
                PackedRun::New(run.len() as u16)
            }
        };
        self.hashes.push(hash);
        self.entries.push(Packed {
            at: (at - self.base) as u32,
            len: line.len() as u32,
            usual,
            id_len: if repeats { 0 } else { id.len() as u16 },
            run,
        });
    }
}

#[cfg(test)]
mod tests;
