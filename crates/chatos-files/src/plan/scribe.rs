//! Who remembers the files of a change while it is made: digests, diff and contents beside the commit, the
//! records once it stands. The disk is waited for once, not once for the files and then for their records.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, Scope, ScopedJoinHandle};

use super::PlannedFile;
use crate::change::ChangeLog;

/// At work from its beginning to its end.
pub(super) struct Scribe<'a, 'scope> {
    files: &'a [Arc<PlannedFile>],
    log: &'a dyn ChangeLog,
    /// Told when the change stands; gone without a word when it does not.
    stands: Option<Sender<()>>,
    thread: Option<ScopedJoinHandle<'scope, usize>>,
    unrecorded: usize,
}

impl<'a: 'scope, 'scope> Scribe<'a, 'scope> {
    /// Begins to keep the contents.
    pub(super) fn begin<'env>(
        scope: &'scope Scope<'scope, 'env>,
        files: &'a [Arc<PlannedFile>],
        log: &'a dyn ChangeLog,
    ) -> Self {
        let (stands, verdict) = channel();
        let work = move || keep_and_record(files, log, &verdict);
        // Without a second thread the records are made afterwards.
        let thread = match files {
            [] => None,
            _ => Builder::new().name("changes".to_owned()).spawn_scoped(scope, work).ok(),
        };
        Self { files, log, stands: Some(stands), thread, unrecorded: 0 }
    }

    /// The change stands: it is recorded.
    pub(super) fn record(&mut self) {
        if self.thread.is_some() {
            // One that panicked does not listen; the end counts what it did not record.
            self.stands.take().map(|stands| stands.send(()).ok());
        } else {
            let lost = |file: &&Arc<PlannedFile>| self.log.record(file.change()).is_err();
            self.unrecorded += self.files.iter().filter(lost).count();
        }
    }

    /// How many records could not be stored.
    pub(super) fn end(mut self) -> usize {
        drop(self.stands.take());
        let recorded = self.thread.take().map_or(Ok(0), ScopedJoinHandle::join);
        self.unrecorded + recorded.unwrap_or(self.files.len())
    }
}

fn keep_and_record(files: &[Arc<PlannedFile>], log: &dyn ChangeLog, verdict: &Receiver<()>) -> usize {
    let changes: Vec<_> = files.iter().map(|file| file.change()).collect();
    for change in &changes {
        log.keep_ahead(change);
    }
    if verdict.recv().is_err() {
        for change in &changes {
            log.give_up(change);
        }
        return 0;
    }
    changes.into_iter().filter_map(|change| log.record(change).err()).count()
}
