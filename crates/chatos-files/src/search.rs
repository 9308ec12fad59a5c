//! Searching text in files: complete or saying why not, in the same order in every run (servers §4).
//!
//! The tree is walked first; then files are searched in path order by a few threads. A match counts
//! once every file before it is done, so the first N matches are the same whatever the timing.

mod file;
mod query;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

pub use file::Hit;
pub use query::{Mode, Query};

use super::entry::Kind;
use super::error::{FileError, Result, Stopped};
use super::list::{LeftOut, globs, path_of, prefix_len};
use super::resolve::Last;
use super::root::Root;
use super::stop::Stop;
use super::walk::{WalkOptions, walk};
use file::{FileOutcome, Searching};

/// Files below which threads cost more than they give.
const PARALLEL_AT: usize = 64;
/// Files the threads may be ahead of the first unfinished one; bounds what is held.
const WINDOW: usize = 512;

/// What to search and how much to give.
#[derive(Debug, Clone)]
pub struct Request {
    /// The text or pattern.
    pub query: Query,
    /// File or directory.
    pub path: String,
    /// Only these files; all when empty.
    pub glob: Vec<String>,
    /// Not these.
    pub exclude_glob: Vec<String>,
    /// Lines around a hit.
    pub context_lines: usize,
    /// Names that begin with a dot.
    pub hidden: bool,
    /// What ignore files name.
    pub ignored: bool,
    /// Hits to skip.
    pub offset: usize,
    /// Hits to give.
    pub limit: usize,
    /// `filesystemSearchMaxFiles`.
    pub max_files: usize,
}

/// Files that were not searched, by reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Skipped {
    /// Binary files.
    pub binary: usize,
    /// Files above 50 MiB.
    pub too_large: usize,
    /// Files and directories that could not be read.
    pub unreadable: usize,
}

/// Why a search ended before the last file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// All hits asked for were found and there are more.
    Enough,
    /// The limit of files.
    Files,
    /// The deadline.
    Deadline,
}

/// The outcome of a search.
#[derive(Debug)]
pub struct Found {
    /// The hits of the part, in order.
    pub hits: Vec<Hit>,
    /// Files looked at, binary ones included.
    pub files_scanned: usize,
    /// Files not searched.
    pub skipped: Skipped,
    /// Why it ended early.
    pub ended: Option<Ended>,
    /// What the walk left out.
    pub left_out: LeftOut,
}

/// Searches.
pub fn search(root: &Root, request: &Request, stop: &dyn Stop) -> Result<Found> {
    let matcher = request.query.compile()?;
    let include = globs("/glob", &request.glob)?;
    let exclude = globs("/exclude_glob", &request.exclude_glob)?;
    let place = root.existing(&request.path, Last::Follow)?;
    let mut files: Vec<Vec<u8>> = Vec::new();
    let mut left_out = LeftOut::default();
    let mut ended = None;
    match place.kind() {
        Some(Kind::File) => files.push(place.rel.clone().into_bytes()),
        Some(Kind::Directory) => {
            let start = super::list::directory(root, &request.path)?;
            let options = WalkOptions { hidden: request.hidden, ignored: request.ignored, depth: usize::MAX };
            let tree = walk(root, start.rel(), options, stop)?;
            match tree.stopped {
                Some(Stopped::Canceled) => return Err(FileError::Stopped(Stopped::Canceled)),
                Some(Stopped::Deadline) => ended = Some(Ended::Deadline),
                None if tree.cut => ended = Some(Ended::Files),
                None => {}
            }
            left_out = LeftOut {
                unreadable: tree.unreadable,
                protected: tree.protected,
                incomplete: tree.cut || tree.stopped.is_some(),
            };
            let prefix = prefix_len(start.rel());
            tree.visit(|entry| {
                if entry.kind != Kind::File || files.len() > request.max_files {
                    return;
                }
                let rel = entry.rel();
                let below = path_of(&rel[prefix.min(rel.len())..]);
                let wanted = request.glob.is_empty() || include.is_match(below);
                if wanted && (request.exclude_glob.is_empty() || !exclude.is_match(below)) {
                    files.push(rel);
                }
            });
        }
        _ => {
            return Err(FileError::Unsupported {
                path: request.path.clone(),
                what: "a device, socket or pipe",
                size: None,
            });
        }
    }
    if files.len() > request.max_files {
        files.truncate(request.max_files);
        ended = ended.or(Some(Ended::Files));
    }
    // A single file may be reached through a link that leaves the root (policy `allow`).
    let direct = (place.kind() == Some(Kind::File)).then_some(request.path.as_str());
    let job = Job {
        root,
        files,
        direct,
        request,
        searching: Searching::new(&matcher, request, root.protected()),
        stop,
        next: AtomicUsize::new(0),
        over: AtomicBool::new(false),
        order: Mutex::new(Order::default()),
        advanced: Condvar::new(),
    };
    job.run();
    let order = job.order.into_inner().unwrap_or_else(PoisonError::into_inner);
    match order.stopped {
        Some(Stopped::Canceled) => return Err(FileError::Stopped(Stopped::Canceled)),
        Some(Stopped::Deadline) => ended = Some(Ended::Deadline),
        None => {}
    }
    let mut hits = order.hits;
    if hits.len() > request.limit {
        hits.truncate(request.limit);
        ended = Some(Ended::Enough);
    }
    let mut skipped = order.skipped;
    skipped.unreadable += left_out.unreadable;
    Ok(Found { hits, files_scanned: order.done, skipped, ended, left_out })
}

struct Job<'a> {
    root: &'a Root,
    files: Vec<Vec<u8>>,
    direct: Option<&'a str>,
    request: &'a Request,
    searching: Searching<'a>,
    stop: &'a dyn Stop,
    next: AtomicUsize,
    over: AtomicBool,
    order: Mutex<Order>,
    advanced: Condvar,
}

/// What is known in file order.
#[derive(Default)]
struct Order {
    /// Files finished without a gap.
    done: usize,
    /// Finished files beyond the first unfinished one; the front is `done`.
    ahead: VecDeque<Option<FileOutcome>>,
    /// Hits passed over because of the offset.
    passed: usize,
    hits: Vec<Hit>,
    skipped: Skipped,
    stopped: Option<Stopped>,
}

impl Job<'_> {
    fn run(&self) {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(4);
        if threads == 1 || self.files.len() < PARALLEL_AT {
            self.work();
            return;
        }
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|| self.work());
            }
            self.work();
        });
    }

    fn work(&self) {
        let mut buffers = self.searching.buffers();
        loop {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(rel) = self.files.get(at) else { return };
            if !self.wait_for_window(at) {
                return;
            }
            if let Some(reason) = self.stop.stopped() {
                let mut order = self.lock();
                order.stopped.get_or_insert(reason);
                self.over.store(true, Ordering::Relaxed);
                self.advanced.notify_all();
                return;
            }
            let outcome = self.searching.file(self.root, rel, self.direct, &mut buffers, &self.over);
            self.finish(at, outcome);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Order> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits while this thread is too far ahead; false when the search is over.
    fn wait_for_window(&self, at: usize) -> bool {
        if self.over.load(Ordering::Relaxed) {
            return false;
        }
        let mut order = self.lock();
        while at >= order.done + WINDOW {
            if self.over.load(Ordering::Relaxed) {
                return false;
            }
            order = self.advanced.wait(order).unwrap_or_else(PoisonError::into_inner);
        }
        !self.over.load(Ordering::Relaxed)
    }

    fn finish(&self, at: usize, outcome: FileOutcome) {
        let mut order = self.lock();
        let slot = at - order.done;
        while order.ahead.len() <= slot {
            order.ahead.push_back(None);
        }
        order.ahead[slot] = Some(outcome);
        while let Some(Some(_)) = order.ahead.front() {
            let Some(Some(outcome)) = order.ahead.pop_front() else { break };
            order.done += 1;
            order.take(outcome, self.request);
            if order.hits.len() > self.request.limit {
                // Files beyond this one do not count: the numbers are the same in every run.
                self.over.store(true, Ordering::Relaxed);
                order.ahead.clear();
                order.ahead.push_front(None);
                break;
            }
        }
        self.advanced.notify_all();
    }
}

impl Order {
    fn take(&mut self, outcome: FileOutcome, request: &Request) {
        match outcome {
            FileOutcome::Hits(hits) => {
                for hit in hits {
                    if self.passed < request.offset {
                        self.passed += 1;
                    } else if self.hits.len() <= request.limit {
                        self.hits.push(hit);
                    }
                }
            }
            FileOutcome::Binary => self.skipped.binary += 1,
            FileOutcome::TooLarge => self.skipped.too_large += 1,
            FileOutcome::Unreadable => self.skipped.unreadable += 1,
        }
    }
}

#[cfg(test)]
mod tests;
