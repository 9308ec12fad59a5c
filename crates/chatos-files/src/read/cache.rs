//! Looks at large files, kept while the files do not change.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use super::scan::{self, CHUNK, Scan, Stamp};
use crate::error::Result;
use crate::root::Opened;
use crate::stop::Stop;

/// How many files are remembered. The index of a 10 GB file takes 320 KB.
const ENTRIES: usize = 16;

/// Remembers looks at files larger than one chunk; small ones are quicker to read than to remember.
#[derive(Debug, Default)]
pub struct ScanCache {
    kept: Mutex<VecDeque<Arc<Scan>>>,
}

impl ScanCache {
    /// With a digest when `digest` says so; one that is known already is always given.
    pub(super) fn get_or_scan(&self, opened: &Opened, digest: bool, stop: &dyn Stop) -> Result<Arc<Scan>> {
        let stamp = Stamp::of(&opened.stat);
        {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            let found = kept.iter().position(|scan| scan.stamp.settled() && scan.stamp.same(&stamp));
            let found = found.filter(|at| !digest || kept[*at].sha256.is_some());
            if let Some(scan) = found.and_then(|at| kept.remove(at)) {
                kept.push_front(scan.clone());
                return Ok(scan);
            }
        }
        let scan = Arc::new(scan::scan(opened, digest, stop)?);
        if scan.size_bytes > CHUNK as u64 && stamp.settled() && scan.stamp.still(&opened.file) {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.retain(|old| !old.stamp.same(&stamp));
            kept.push_front(scan.clone());
            kept.truncate(ENTRIES);
        }
        Ok(scan)
    }
}
