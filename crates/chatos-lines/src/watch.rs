//! Wakes the reader when the log changes: inotify on the file and its directory, an event to wake it
//! from inside, and a timeout as the safety net (`ui-prompts §3.3`).

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec};

/// Wakes a sleeping [`Watch`] from any thread.
#[derive(Debug, Clone)]
pub struct Waker(Arc<OwnedFd>);

impl Waker {
    pub fn wake(&self) {
        if let Err(error) = rustix::io::write(&*self.0, &1u64.to_ne_bytes()) {
            // The counter is at its limit only when a wake is pending anyway.
            tracing::trace!(%error, "wake of the prompt log reader");
        }
    }
}

pub struct Watch {
    wake: Waker,
    dir: PathBuf,
    name: OsString,
    /// More files beside the log whose changes matter (the old inode after an archive).
    also: Vec<PathBuf>,
    files: Files,
}

impl Watch {
    pub fn new(log: &Path, also: Vec<PathBuf>) -> io::Result<Self> {
        let wake = rustix::event::eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        let mut watch = Self {
            wake: Waker(Arc::new(wake)),
            dir: log.parent().unwrap_or(Path::new(".")).to_owned(),
            name: log.file_name().unwrap_or_default().to_owned(),
            also,
            files: Files::new(),
        };
        watch.refresh();
        Ok(watch)
    }

    pub fn waker(&self) -> Waker {
        self.wake.clone()
    }

    /// Puts the watches on what is behind the paths now. Cheap; called at every safety poll too, since
    /// a directory may appear late or be replaced.
    pub fn refresh(&mut self) {
        self.files.watch_dir(&self.dir);
        self.files.watch_file(0, &self.dir.join(&self.name));
        for (i, path) in self.also.iter().enumerate() {
            self.files.watch_file(i + 1, path);
        }
    }

    /// Sleeps until something changed, somebody called the waker, or the time is over.
    pub fn wait(&mut self, timeout: Duration) {
        let timeout = Timespec {
            tv_sec: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(timeout.subsec_nanos()),
        };
        let mut fds = vec![PollFd::from_borrowed_fd(self.wake.0.as_fd(), PollFlags::IN)];
        if let Some(fd) = self.files.fd() {
            fds.push(PollFd::from_borrowed_fd(fd, PollFlags::IN));
        }
        if rustix::event::poll(&mut fds, Some(&timeout)).is_err() {
            // Interrupted by a signal: the caller looks and sleeps again.
            return;
        }
        let changed = fds.get(1).is_some_and(|fd| !fd.revents().is_empty());
        let mut counter = [0u8; 8];
        if let Err(error) = rustix::io::read(&*self.wake.0, &mut counter) {
            // Nothing to read: the file woke us, or the time.
            tracing::trace!(%error, "counter of the prompt log reader");
        }
        if changed && self.files.drain(&self.name) {
            self.refresh();
        }
    }
}

#[cfg(target_os = "linux")]
use linux::Files;

#[cfg(target_os = "linux")]
mod linux {
    //! The inotify side.

    use std::ffi::OsStr;
    use std::mem::MaybeUninit;
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};

    pub(super) struct Files {
        /// `None`: the system refused an instance; the safety poll carries on alone.
        inotify: Option<OwnedFd>,
        dir: Option<i32>,
        watched: Vec<Option<i32>>,
    }

    impl Files {
        pub(super) fn new() -> Self {
            let inotify = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok();
            Self { inotify, dir: None, watched: Vec::new() }
        }

        pub(super) fn fd(&self) -> Option<BorrowedFd<'_>> {
            self.inotify.as_ref().map(AsFd::as_fd)
        }

        // The directory only for names that come and go: watching it for writes would wake the
        // reader for every other file in it.
        pub(super) fn watch_dir(&mut self, dir: &Path) {
            let flags = WatchFlags::CREATE
                | WatchFlags::MOVED_TO
                | WatchFlags::MOVED_FROM
                | WatchFlags::DELETE
                | WatchFlags::ONLYDIR;
            if let Some(fd) = &self.inotify {
                self.dir = inotify::add_watch(fd, dir, flags).ok();
            }
        }

        pub(super) fn watch_file(&mut self, index: usize, path: &Path) {
            let flags = WatchFlags::MODIFY
                | WatchFlags::ATTRIB
                | WatchFlags::MOVE_SELF
                | WatchFlags::DELETE_SELF
                | WatchFlags::DONT_FOLLOW;
            let Some(fd) = &self.inotify else { return };
            if self.watched.len() <= index {
                self.watched.resize(index + 1, None);
            }
            let before = self.watched[index].take();
            self.watched[index] = inotify::add_watch(fd, path, flags).ok();
            // Another inode is behind the name now. The old one may be gone already, which removed
            // its watch; a file still watched under another index keeps it.
            if let Some(old) = before
                && !self.watched.contains(&Some(old))
                && let Err(error) = inotify::remove_watch(fd, old)
            {
                tracing::trace!(%error, "watch of the previous prompt log");
            }
        }

        /// Empties the queue; true when the watches must be renewed.
        pub(super) fn drain(&mut self, name: &OsStr) -> bool {
            let Some(fd) = &self.inotify else { return false };
            let mut renew = false;
            let mut buf = [MaybeUninit::<u8>::uninit(); 4096];
            let mut events = inotify::Reader::new(fd, &mut buf);
            while let Ok(event) = events.next() {
                let gone = ReadFlags::IGNORED
                    | ReadFlags::MOVE_SELF
                    | ReadFlags::DELETE_SELF
                    | ReadFlags::QUEUE_OVERFLOW;
                let named = event.file_name().is_some_and(|n| n.to_bytes() == name.as_bytes());
                renew |= event.events().intersects(gone) || named || Some(event.wd()) == self.dir;
            }
            renew
        }
    }
}

#[cfg(not(target_os = "linux"))]
struct Files;

#[cfg(not(target_os = "linux"))]
impl Files {
    // Elsewhere the safety poll alone carries the reader for now.
    fn new() -> Self {
        Self
    }

    fn fd(&self) -> Option<std::os::fd::BorrowedFd<'_>> {
        None
    }

    fn watch_dir(&mut self, _: &Path) {}

    fn watch_file(&mut self, _: usize, _: &Path) {}

    fn drain(&mut self, _: &std::ffi::OsStr) -> bool {
        false
    }
}
