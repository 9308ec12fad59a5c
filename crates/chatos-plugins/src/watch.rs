//! Noticing changes on disk (plugins §5): inotify on the roots and every directory of every plugin,
//! 150 ms of quiet (80 under development) before looking, and polling every 2 s where watching fails.

mod inotify;

use std::collections::HashSet;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use chatos_manifest::{Problem, ProblemCode, Source, Text};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

use crate::development;
use crate::registry::{Refresh, Registry, Snapshot};
use crate::scan;
use inotify::{Inotify, Seen};

/// Quiet time after the last event. Editors write in bursts; shorter would scan half-written files,
/// longer would be felt.
const DEBOUNCE: Duration = Duration::from_millis(150);
/// The same for somebody who saved a file and looks at the app (devkit §4.6); a file that was half written is read
/// again with the next event.
const DEV_DEBOUNCE: Duration = Duration::from_millis(80);
/// A directory that never gets quiet is looked at anyway after this long.
const MAX_DELAY: Duration = Duration::from_secs(1);
/// Interval where watching is not possible.
const POLL: Duration = Duration::from_secs(2);

/// Where files changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Touched {
    /// Below these plugin directories.
    Dirs(HashSet<PathBuf>),
    /// It is not known where, or nobody can watch: any of them may have changed.
    Any,
}

/// A running watch. Dropping it stops and joins its thread.
#[derive(Debug)]
pub struct Watcher {
    stop: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl Watcher {
    /// Watches what `registry` looks at and refreshes it; `on_change` is called on the watcher's
    /// thread with each snapshot whose revision is new.
    pub fn start(
        registry: Arc<Registry>,
        on_change: impl Fn(Arc<Snapshot>) + Send + 'static,
    ) -> io::Result<Self> {
        Self::start_with(registry, on_change, |_| {})
    }

    /// As [`Watcher::start`]; `on_touch` is also told about every change of files, those included that
    /// no snapshot shows, after the refresh.
    pub fn start_with(
        registry: Arc<Registry>,
        on_change: impl Fn(Arc<Snapshot>) + Send + 'static,
        on_touch: impl Fn(&Touched) + Send + 'static,
    ) -> io::Result<Self> {
        let stop = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let stopped = Arc::clone(&stop);
        let revision = registry.snapshot().revision;
        let run =
            move || Loop::new(registry, Box::new(on_change), Box::new(on_touch), revision).run(&stopped);
        let thread = std::thread::Builder::new().name("plugin-watch".to_owned()).spawn(run)?;
        Ok(Self { stop, thread: Some(thread) })
    }

    /// Stops watching and waits for the thread.
    pub fn stop(mut self) {
        self.join();
    }

    fn join(&mut self) {
        if let Some(thread) = self.thread.take() {
            if let Err(errno) = rustix::io::write(&*self.stop, &1_u64.to_ne_bytes()) {
                tracing::error!(%errno, "the plugin watcher cannot be told to stop");
                return;
            }
            if thread.join().is_err() {
                tracing::error!("the plugin watcher ended with a panic");
            }
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.join();
    }
}

struct Loop {
    registry: Arc<Registry>,
    on_change: Box<dyn Fn(Arc<Snapshot>) + Send>,
    on_touch: Box<dyn Fn(&Touched) + Send>,
    revision: u64,
    quiet: Duration,
    /// `None` when the system gave no inotify instance.
    inotify: Option<Inotify>,
    /// Plugin directories to look at; `all` when it is not known which.
    dirty: HashSet<PathBuf>,
    all: bool,
    first_event: Option<Instant>,
    last_event: Instant,
    next_poll: Instant,
}

impl Loop {
    fn new(
        registry: Arc<Registry>,
        on_change: Box<dyn Fn(Arc<Snapshot>) + Send>,
        on_touch: Box<dyn Fn(&Touched) + Send>,
        revision: u64,
    ) -> Self {
        let now = Instant::now();
        let inotify =
            Inotify::new().inspect_err(|error| tracing::warn!(%error, "inotify is not available")).ok();
        let quiet = if registry.roots().dev.is_empty() { DEBOUNCE } else { DEV_DEBOUNCE };
        Self {
            registry,
            quiet,
            on_change,
            on_touch,
            revision,
            inotify,
            dirty: HashSet::new(),
            all: false,
            first_event: None,
            last_event: now,
            next_poll: now + POLL,
        }
    }

    fn run(&mut self, stop: &OwnedFd) {
        self.watch_everything();
        // What changed between the caller's scan and the first watch.
        self.refresh(&Refresh::Check);
        loop {
            match self.wait(stop) {
                Ok(true) => return,
                Ok(false) => {}
                Err(error) => {
                    tracing::error!(%error, "watching plugins failed; looking every 2 s instead");
                    self.inotify = None;
                    self.announce();
                }
            }
            self.read_events();
            self.act();
        }
    }

    /// Waits for an event, a deadline or the end; true to stop.
    fn wait(&self, stop: &OwnedFd) -> io::Result<bool> {
        let now = Instant::now();
        let deadline = match (self.first_event, self.needs_polling()) {
            (Some(first), _) => Some((self.last_event + self.quiet).min(first + MAX_DELAY)),
            (None, true) => Some(self.next_poll),
            (None, false) => None,
        };
        let timeout = deadline.map(|deadline| {
            let left = deadline.saturating_duration_since(now);
            Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) }
        });
        let mut fds = vec![PollFd::new(stop, PollFlags::IN)];
        if let Some(inotify) = &self.inotify {
            fds.push(PollFd::from_borrowed_fd(inotify.as_fd(), PollFlags::IN));
        }
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) => Ok(!fds[0].revents().is_empty()),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(errno) => Err(errno.into()),
        }
    }

    fn needs_polling(&self) -> bool {
        self.inotify.as_ref().is_none_or(|inotify| {
            inotify.is_degraded()
                || inotify.misses_a_root()
                || self.dev_dirs().any(|dir| !inotify.knows(&dir))
        })
    }

    /// Directories under development, one that went included: it is looked for until it is back.
    fn dev_dirs(&self) -> impl Iterator<Item = PathBuf> {
        self.registry.roots().dev.iter().map(|dir| std::fs::canonicalize(dir).unwrap_or_else(|_| dir.clone()))
    }

    fn read_events(&mut self) {
        let Some(inotify) = &mut self.inotify else { return };
        let seen = match inotify.read() {
            Ok(seen) => seen,
            Err(error) => {
                tracing::error!(%error, "cannot read file events; looking every 2 s instead");
                self.inotify = None;
                self.announce();
                return;
            }
        };
        let now = Instant::now();
        for event in seen {
            self.first_event.get_or_insert(now);
            self.last_event = now;
            match event {
                Seen::Plugin(dir) => {
                    self.dirty.insert(dir);
                }
                Seen::Root => {}
                Seen::Lost => self.all = true,
            }
        }
    }

    fn act(&mut self) {
        let now = Instant::now();
        let quiet = self
            .first_event
            .is_some_and(|first| now >= self.last_event + self.quiet || now >= first + MAX_DELAY);
        let poll_due = self.first_event.is_none() && self.needs_polling() && now >= self.next_poll;
        if !quiet && !poll_due {
            return;
        }
        self.first_event = None;
        self.next_poll = now + POLL;
        let dirty = std::mem::take(&mut self.dirty);
        let all = std::mem::take(&mut self.all) || poll_due;
        // Watches first, then the look: what happens in between is seen by one or the other.
        if all {
            self.watch_everything();
            self.refresh(&Refresh::Check);
            (self.on_touch)(&Touched::Any);
        } else {
            let unseen = self.watch_changed(&dirty);
            self.refresh(&Refresh::Dirs(dirty.union(&unseen).cloned().collect()));
            if !dirty.is_empty() {
                (self.on_touch)(&Touched::Dirs(dirty));
            }
        }
    }

    fn refresh(&mut self, what: &Refresh) {
        let snapshot = self.registry.refresh(what);
        if snapshot.revision != self.revision {
            self.revision = snapshot.revision;
            (self.on_change)(snapshot);
        }
    }

    fn watch_everything(&mut self) {
        let roots = self.registry.roots().clone();
        if let Some(inotify) = &mut self.inotify {
            let mut root_dirs = vec![roots.user.plugins()];
            root_dirs.extend(roots.builtin.clone());
            inotify.set_roots(root_dirs);
            // After the roots are watched: one that comes later makes an event of its own.
            let (candidates, _) = scan::candidates(&roots);
            for candidate in candidates {
                inotify.watch_plugin(&candidate.dir, development::skip(candidate.origin));
            }
        }
        self.announce();
    }

    /// Watches what came or changed. Returns the directories that were not watched until now: somebody may have listed
    /// one of them already, and what was written since then made no event.
    fn watch_changed(&mut self, dirty: &HashSet<PathBuf>) -> HashSet<PathBuf> {
        let mut unseen = HashSet::new();
        if let Some(inotify) = &mut self.inotify {
            inotify.watch_roots();
            let (candidates, _) = scan::candidates(self.registry.roots());
            for candidate in candidates {
                let known = inotify.knows(&candidate.dir);
                if !known || dirty.contains(&candidate.dir) {
                    inotify.watch_plugin(&candidate.dir, development::skip(candidate.origin));
                }
                if !known {
                    unseen.insert(candidate.dir);
                }
            }
        }
        self.announce();
        unseen
    }

    fn announce(&self) {
        let degraded = self.inotify.as_ref().is_none_or(Inotify::is_degraded);
        let problem = degraded.then(|| {
            let message = Text::new(
                "The system cannot watch all plugin files; changes are noticed within two seconds",
                "系统无法监视所有插件文件；变化会在两秒内被发现",
            );
            Problem::new(ProblemCode::WatchUnavailable, "", message).source(Source::Scan)
        });
        self.registry.set_watch_problem(problem);
    }
}
