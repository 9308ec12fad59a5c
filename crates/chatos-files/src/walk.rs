//! Directory trees: read through handles, following no link, in parallel where that pays.
//!
//! A tree is collected first and ordered afterwards, so that results are the same in every run
//! whatever the number of threads. Names live in one block per directory.

mod ignoring;

use std::collections::HashSet;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use rustix::fs::{AtFlags, FileType, RawDir};
use rustix::io::Errno;

use super::entry::{FileId, Kind};
use super::error::{FileError, Result, Stopped};
use super::root::{ProtectedIds, Root};
use super::stop::Stop;
use ignoring::Rules;

/// Entries after which a walk ends and says so: bounds memory at about 60 MB.
const MAX_ENTRIES: usize = 2_000_000;
/// Directories waiting before a second thread is worth its start.
const PARALLEL_AT: usize = 16;

/// What a walk visits.
#[derive(Debug, Clone, Copy)]
pub struct WalkOptions {
    /// Names that begin with a dot.
    pub hidden: bool,
    /// What ignore files name (servers §2.8).
    pub ignored: bool,
    /// Levels below the start; 1 is the start's own entries.
    pub depth: usize,
}

/// One directory of a tree.
#[derive(Debug, Default)]
pub struct Dir {
    /// The path relative to the root; empty for the root itself.
    pub rel: Vec<u8>,
    names: Vec<u8>,
    entries: Vec<Item>,
}

#[derive(Debug, Clone, Copy)]
struct Item {
    at: u32,
    len: u16,
    kind: Kind,
    /// The directory's place in the tree, when it was entered.
    child: u32,
}

/// A collected tree.
#[derive(Debug, Default)]
pub struct Tree {
    dirs: Vec<Dir>,
    /// Directories that could not be read.
    pub unreadable: usize,
    /// Protected directories that were left out.
    pub protected: usize,
    /// The walk ended at the limit of entries.
    pub cut: bool,
    /// The walk was stopped.
    pub stopped: Option<Stopped>,
}

const NO_CHILD: u32 = u32::MAX;

/// An entry as a visitor sees it.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    /// The directory.
    pub dir: &'a Dir,
    /// The name.
    pub name: &'a [u8],
    /// What it is.
    pub kind: Kind,
}

impl Entry<'_> {
    /// The path relative to the root.
    pub fn rel(&self) -> Vec<u8> {
        join(&self.dir.rel, self.name)
    }
}

impl Tree {
    /// Every entry in the byte order of full paths, directories before what they hold.
    pub fn visit(&self, mut each: impl FnMut(Entry<'_>)) {
        // (directory, position) pairs; recursion would follow the depth of the tree.
        let mut stack: Vec<(usize, usize)> = vec![(0, 0)];
        while let Some((dir_at, at)) = stack.pop() {
            let Some(dir) = self.dirs.get(dir_at) else { continue };
            let Some(item) = dir.entries.get(at) else { continue };
            stack.push((dir_at, at + 1));
            each(dir.entry(item));
            if item.child != NO_CHILD {
                stack.push((item.child as usize, 0));
            }
        }
    }

    /// Every entry, level by level; in each directory directories first, then by name.
    pub fn breadth_first(&self, mut each: impl FnMut(Entry<'_>)) {
        let mut level: Vec<usize> = vec![0];
        while !level.is_empty() {
            let mut next = Vec::new();
            for dir_at in level {
                let Some(dir) = self.dirs.get(dir_at) else { continue };
                let directories = dir.entries.iter().filter(|item| item.kind == Kind::Directory);
                let others = dir.entries.iter().filter(|item| item.kind != Kind::Directory);
                let mut ordered: Vec<&Item> = directories.collect();
                // `entries` sorts directories as if their names ended in `/`; here the name decides.
                ordered.sort_by(|a, b| dir.name(a).cmp(dir.name(b)));
                for item in ordered.iter().copied().chain(others) {
                    each(dir.entry(item));
                    if item.child != NO_CHILD {
                        next.push(item.child as usize);
                    }
                }
            }
            level = next;
        }
    }
}

impl Dir {
    fn name(&self, item: &Item) -> &[u8] {
        let at = item.at as usize;
        self.names.get(at..at + usize::from(item.len)).unwrap_or_default()
    }

    fn entry<'a>(&'a self, item: &Item) -> Entry<'a> {
        Entry { dir: self, name: self.name(item), kind: item.kind }
    }
}

/// Joins a relative directory and a name.
pub(crate) fn join(dir: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(dir.len() + name.len() + 1);
    path.extend_from_slice(dir);
    if !path.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}

/// Reads a directory: every name but `.` and `..`, with the kind the directory itself states.
pub fn read_dir(handle: &OwnedFd, mut each: impl FnMut(&[u8], FileType)) -> rustix::io::Result<()> {
    let mut buffer = vec![MaybeUninit::<u8>::uninit(); 32 * 1024];
    let mut entries = RawDir::new(handle.as_fd(), &mut buffer);
    while let Some(entry) = entries.next() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(Errno::INTR) => continue,
            Err(errno) => return Err(errno),
        };
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            each(name, entry.file_type());
        }
    }
    Ok(())
}

struct Task {
    rel: Vec<u8>,
    depth: usize,
    rules: Rules,
    /// Where the result belongs: the parent's place in the tree and the entry in it.
    parent: Option<(usize, usize)>,
}

struct Shared<'a> {
    root: &'a Root,
    options: WalkOptions,
    protected: ProtectedIds,
    stop: &'a dyn Stop,
    state: Mutex<State>,
    wake: Condvar,
    entries: AtomicUsize,
}

#[derive(Default)]
struct State {
    tasks: Vec<Task>,
    running: usize,
    tree: Tree,
    seen: HashSet<FileId>,
    fault: Option<FileError>,
}

/// Collects the tree below a directory given by its resolved relative path (empty for the root).
pub fn walk(root: &Root, start: &str, options: WalkOptions, stop: &dyn Stop) -> Result<Tree> {
    let start: &[u8] = if start == "." { b"" } else { start.as_bytes() };
    let rules = if options.ignored { Rules::none() } else { Rules::above(root, start) };
    let first = Task { rel: start.to_vec(), depth: 1, rules, parent: None };
    let shared = Shared {
        root,
        options,
        protected: root.protected(),
        stop,
        state: Mutex::new(State { tasks: vec![first], ..State::default() }),
        wake: Condvar::new(),
        entries: AtomicUsize::new(0),
    };
    // One thread until there is enough to share: a single directory needs no threads.
    shared.work(PARALLEL_AT);
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(4);
    let left = shared.state.lock().unwrap_or_else(PoisonError::into_inner).tasks.len();
    if left > 0 {
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|| shared.work(usize::MAX));
            }
            shared.work(usize::MAX);
        });
    }
    let state = shared.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    match state.fault {
        Some(error) => Err(error),
        None => Ok(state.tree),
    }
}

impl Shared<'_> {
    /// Works until nothing is left, or until more than `share_at` directories wait.
    fn work(&self, share_at: usize) {
        loop {
            let task = {
                let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                loop {
                    if state.tree.stopped.is_some() || state.tree.cut || state.fault.is_some() {
                        state.tasks.clear();
                    }
                    if state.tasks.len() > share_at {
                        return;
                    }
                    if let Some(task) = state.tasks.pop() {
                        state.running += 1;
                        break task;
                    }
                    if state.running == 0 {
                        self.wake.notify_all();
                        return;
                    }
                    state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
            };
            let outcome = self.list(&task);
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.running -= 1;
            if let Some(reason) = self.stop.stopped() {
                state.tree.stopped = Some(reason);
            }
            match outcome {
                Ok(Some((dir, rules))) => self.add(&mut state, &task, dir, &rules),
                Ok(None) => state.tree.protected += 1,
                Err(errno) if task.parent.is_none() => {
                    let path = String::from_utf8_lossy(&task.rel).into_owned();
                    state.fault = Some(FileError::os("list", path, errno));
                }
                Err(_) => state.tree.unreadable += 1,
            }
            self.wake.notify_all();
        }
    }

    fn add(&self, state: &mut State, task: &Task, dir: Dir, rules: &Rules) {
        let at = state.tree.dirs.len();
        if let Some((parent, item)) = task.parent {
            state.tree.dirs[parent].entries[item].child = at as u32;
        }
        if self.entries.fetch_add(dir.entries.len(), Ordering::Relaxed) > MAX_ENTRIES {
            state.tree.cut = true;
        }
        if task.depth < self.options.depth {
            for (position, item) in dir.entries.iter().enumerate() {
                if item.kind == Kind::Directory {
                    state.tasks.push(Task {
                        rel: join(&dir.rel, dir.name(item)),
                        depth: task.depth + 1,
                        rules: rules.clone(),
                        parent: Some((at, position)),
                    });
                }
            }
        }
        state.tree.dirs.push(dir);
    }

    /// Lists one directory; nothing when it is protected.
    fn list(&self, task: &Task) -> rustix::io::Result<Option<(Dir, Rules)>> {
        let handle = self.root.open_dir_nofollow(&task.rel)?;
        let stat = rustix::fs::fstat(&handle)?;
        let id = FileId::of(&stat);
        if self.protected.contains(id) {
            return Ok(None);
        }
        if id.dev() != self.root.id().dev() && super::resolve::kernel_file_system(&handle) {
            return Ok(None);
        }
        {
            // A bind mount of an upper directory would never end.
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            if !state.seen.insert(id) {
                return Ok(None);
            }
        }
        let mut dir = Dir { rel: task.rel.clone(), ..Dir::default() };
        let rules = if self.options.ignored { Rules::none() } else { task.rules.enter(&handle, &task.rel) };
        let (names, entries) = (&mut dir.names, &mut dir.entries);
        let mut unknown = false;
        read_dir(&handle, |name, file_type| {
            if !self.options.hidden && name.starts_with(b".") {
                return;
            }
            let kind = Kind::from_entry(file_type);
            unknown |= kind.is_none();
            let at = names.len() as u32;
            names.extend_from_slice(name);
            entries.push(Item {
                at,
                len: name.len() as u16,
                kind: kind.unwrap_or(Kind::Other),
                child: NO_CHILD,
            });
        })?;
        if unknown {
            for item in dir.entries.iter_mut().filter(|item| item.kind == Kind::Other) {
                let at = item.at as usize;
                let name = &dir.names[at..at + usize::from(item.len)];
                if let Ok(stat) = rustix::fs::statat(&handle, name, AtFlags::SYMLINK_NOFOLLOW) {
                    item.kind = Kind::of(&stat);
                }
            }
        }
        let Dir { rel, names, mut entries } = dir;
        let name_of = |item: &Item| &names[item.at as usize..item.at as usize + usize::from(item.len)];
        if !self.options.ignored {
            entries.retain(|item| !rules.ignores(&rel, name_of(item), item.kind == Kind::Directory));
        }
        // The byte order of full paths: a directory sorts as its name with a slash.
        entries.sort_unstable_by(|a, b| {
            let tail = |item: &Item| (item.kind == Kind::Directory).then_some(b'/');
            name_of(a).iter().copied().chain(tail(a)).cmp(name_of(b).iter().copied().chain(tail(b)))
        });
        Ok(Some((Dir { rel, names, entries }, rules)))
    }
}

#[cfg(test)]
mod tests;
