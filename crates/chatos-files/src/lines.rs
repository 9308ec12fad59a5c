//! Which lines of two texts are the same. One function for every comparison in this program: each further kind of
//! input would be compiled anew.

use std::time::Instant;

use similar::DiffOp;
use similar::algorithms::{Capture, Compact, IdentifyDistinct, Replace, myers};

/// What makes `new` out of `old`, in order. After the deadline the rest is a coarse replacement.
pub(crate) fn compare(old: &[&str], new: &[&str], deadline: Option<Instant>) -> Vec<DiffOp> {
    // Equal lines get equal numbers, so that long lines are read once.
    let ids = IdentifyDistinct::<u32>::new(old, 0..old.len(), new, 0..new.len());
    let (before, after) = (ids.old_lookup(), ids.new_lookup());
    let mut hook = Compact::new(Replace::new(Capture::new()), before, after);
    let compared = myers::diff_deadline(&mut hook, before, ids.old_range(), after, ids.new_range(), deadline);
    let Ok(()) = compared;
    hook.into_inner().into_inner().into_ops()
}
