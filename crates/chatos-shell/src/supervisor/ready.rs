//! The next command's boundary, drawn before the command comes.
//!
//! Drawing it takes as long as starting a shell does, and the next command nearly always has the same: so
//! a thread with it waits while the supervisor has nothing to do. It is used only when the order asks for
//! exactly that boundary and every granted path still leads to what it led to; else it goes unused, and the
//! boundary is drawn anew.

use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use super::launch::{self, Confined};
use crate::sandbox::Boundary;
use crate::wire::Job;

/// What a path led to.
type Fact = Option<(u64, u64)>;

/// A thread inside a boundary that waits for its command.
pub(super) struct Ready {
    boundary: Boundary,
    /// The private directory that the boundary grants.
    temp: PathBuf,
    facts: Vec<Fact>,
    // Taken when it is used.
    thread: Option<(SyncSender<Command>, JoinHandle<Confined>)>,
}

impl Ready {
    /// Gets ready for another command like this one; nothing where that cannot be known before.
    pub(super) fn like(job: &Job) -> Option<Self> {
        let mut boundary = job.boundary.clone()?;
        // Around protected directories everything is granted by name; a new name must count at once.
        let granted = || boundary.read.iter().chain(&boundary.write);
        if boundary.protected.iter().any(|protected| granted().any(|path| protected.starts_with(path))) {
            return None;
        }
        // Granted under the name the command knows.
        if !boundary.write.contains(&job.temp) {
            return None;
        }
        let temp = job.temp.with_file_name(format!("chatos-shell-{}", uuid::Uuid::new_v4().simple()));
        replace(&mut boundary, &job.temp, &temp);
        std::fs::DirBuilder::new().mode(0o700).create(&temp).ok()?;
        let mut ready = Self { boundary, temp, facts: Vec::new(), thread: None };
        // Before the boundary is drawn: what changes meanwhile differs from this.
        ready.facts = ready.look();
        let (give, take) = sync_channel::<Command>(1);
        let drawn = ready.boundary.clone();
        let thread = std::thread::Builder::new().name("shell-launch".to_owned());
        let thread = thread.spawn(move || launch::confined(Some(&drawn), || take.recv().ok())).ok()?;
        ready.thread = Some((give, thread));
        Some(ready)
    }

    /// Takes the job over when it fits: with the directory that was made for it.
    pub(super) fn fits(&self, job: &mut Job) -> bool {
        let Some(mut wanted) = job.boundary.clone() else { return false };
        replace(&mut wanted, &job.temp, &self.temp);
        if wanted != self.boundary || self.look() != self.facts {
            return false;
        }
        let (old, new) = (job.temp.display().to_string(), self.temp.display().to_string());
        for (_, value) in job.env.iter_mut().filter(|(_, value)| *value == old) {
            value.clone_from(&new);
        }
        job.boundary = Some(wanted);
        job.temp.clone_from(&self.temp);
        true
    }

    /// Starts the command.
    pub(super) fn start(mut self, command: Command) -> Confined {
        let Some((give, thread)) = self.thread.take() else { return launch::panicked() };
        // A thread that could not draw its boundary has ended and says why.
        give.send(command).ok();
        thread.join().unwrap_or_else(|_| launch::panicked())
    }

    /// Devices are left out: whoever may change them needs no boundary of ours.
    fn look(&self) -> Vec<Fact> {
        let Boundary { read, write, opened, .. } = &self.boundary;
        let fact = |path: &PathBuf| std::fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()));
        read.iter().chain(write).chain(opened).map(fact).collect()
    }
}

impl Drop for Ready {
    fn drop(&mut self) {
        // Unused: the thread ends with its channel. The command that uses it removes the directory itself.
        if self.thread.take().is_some() {
            std::fs::remove_dir(&self.temp).ok();
        }
    }
}

fn replace(boundary: &mut Boundary, old: &Path, new: &Path) {
    for path in boundary.write.iter_mut().filter(|path| *path == old) {
        new.clone_into(path);
    }
}
