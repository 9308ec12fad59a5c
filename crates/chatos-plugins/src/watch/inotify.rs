//! The watched directories of an inotify instance and whose they are.

use std::collections::HashMap;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

use crate::development::Skip;

/// Directories watched at once. The system's own limit is often 8,192 or more per user and shared
/// with editors; past this one, polling takes over.
const MAX_WATCHES: usize = 16_384;
/// Directories inside directories of a plugin.
const MAX_DEPTH: usize = 64;

/// What an event says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// Something in this plugin directory changed.
    Plugin(PathBuf),
    /// A plugin directory appeared or went.
    Root,
    /// Events were lost.
    Lost,
}

#[derive(Debug)]
struct Watch {
    path: PathBuf,
    /// The plugin directory it belongs to; `None` for a root.
    plugin: Option<PathBuf>,
}

#[derive(Debug)]
pub(super) struct Inotify {
    fd: OwnedFd,
    watches: HashMap<i32, Watch>,
    by_path: HashMap<PathBuf, i32>,
    roots: Vec<PathBuf>,
    degraded: bool,
}

impl Inotify {
    pub(super) fn new() -> io::Result<Self> {
        let fd = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        Ok(Self { fd, watches: HashMap::new(), by_path: HashMap::new(), roots: Vec::new(), degraded: false })
    }

    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// True when some directory could not be watched.
    pub(super) fn is_degraded(&self) -> bool {
        self.degraded
    }

    /// True while a root does not exist; it is looked for by polling.
    pub(super) fn misses_a_root(&self) -> bool {
        self.roots.iter().any(|root| !self.by_path.contains_key(root))
    }

    pub(super) fn knows(&self, dir: &Path) -> bool {
        self.by_path.contains_key(dir)
    }

    pub(super) fn set_roots(&mut self, roots: Vec<PathBuf>) {
        self.roots = roots;
        self.watch_roots();
    }

    pub(super) fn watch_roots(&mut self) {
        for root in self.roots.clone() {
            self.add(&root, None);
        }
    }

    /// Watches a plugin directory and every directory below it but those `skip` names. A link is not
    /// followed, wherever it leads.
    pub(super) fn watch_plugin(&mut self, dir: &Path, skip: Skip) {
        let mut pending = vec![(dir.to_owned(), 0)];
        while let Some((path, depth)) = pending.pop() {
            if !self.add(&path, Some(dir)) {
                continue;
            }
            if depth == MAX_DEPTH {
                self.degraded = true;
                continue;
            }
            // A directory that went in the meantime has nothing to watch.
            let Ok(entries) = std::fs::read_dir(&path) else { continue };
            for entry in entries.flatten() {
                let inner = entry.path();
                let inside = inner.strip_prefix(dir).map(|inside| inside.as_os_str().as_bytes());
                let skipped = inside.is_ok_and(skip);
                if !skipped && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    pending.push((inner, depth + 1));
                }
            }
        }
    }

    /// True when the directory is watched.
    fn add(&mut self, path: &Path, plugin: Option<&Path>) -> bool {
        if self.watches.len() >= MAX_WATCHES && !self.by_path.contains_key(path) {
            self.degraded = true;
            return false;
        }
        let flags = WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MODIFY
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::ATTRIB
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF
            | WatchFlags::ONLYDIR
            | WatchFlags::EXCL_UNLINK;
        // A root may be reached through a link; a directory of a plugin may not.
        let flags = if plugin.is_some() { flags | WatchFlags::DONT_FOLLOW } else { flags };
        match inotify::add_watch(&self.fd, path, flags) {
            Ok(wd) => {
                let watch = Watch { path: path.to_owned(), plugin: plugin.map(Path::to_owned) };
                if let Some(old) = self.watches.insert(wd, watch)
                    && old.path != path
                {
                    self.by_path.remove(&old.path);
                }
                self.by_path.insert(path.to_owned(), wd);
                true
            }
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {
                self.by_path.remove(path);
                false
            }
            Err(errno) => {
                tracing::warn!(%errno, path = %path.display(), "a plugin directory cannot be watched");
                self.degraded = true;
                false
            }
        }
    }

    /// All events that are waiting.
    pub(super) fn read(&mut self) -> io::Result<Vec<Seen>> {
        let mut seen = Vec::new();
        let mut gone = Vec::new();
        let mut buffer = [MaybeUninit::uninit(); 16 * 1024];
        let mut reader = Reader::new(&self.fd, &mut buffer);
        loop {
            let event = match reader.next() {
                Ok(event) => event,
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => continue,
                Err(errno) => return Err(errno.into()),
            };
            if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
                seen.push(Seen::Lost);
                continue;
            }
            if let Some(watch) = self.watches.get(&event.wd()) {
                seen.push(match &watch.plugin {
                    Some(plugin) => Seen::Plugin(plugin.clone()),
                    None => Seen::Root,
                });
            }
            if event.events().contains(ReadFlags::IGNORED) {
                gone.push(event.wd());
            }
        }
        for wd in gone {
            if let Some(watch) = self.watches.remove(&wd)
                && self.by_path.get(&watch.path) == Some(&wd)
            {
                self.by_path.remove(&watch.path);
            }
        }
        seen.dedup();
        Ok(seen)
    }
}
