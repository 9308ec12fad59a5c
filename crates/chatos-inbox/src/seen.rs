//! Which lines of long texts each page and terminal was given; what was not shown cannot be approved
//! (ui-prompts §6, `not_shown`).
//!
//! Kept in memory: after a restart a page loads the text again.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use chatos_prompts::{Prompts, RequestId, whole};

/// Most (question, viewer) pairs that are remembered; beyond, all are forgotten and load again.
const MOST: usize = 1_000;

/// Ranges of lines, sorted and apart.
type Ranges = Vec<(usize, usize)>;

/// What was given to whom, by question and viewer.
#[derive(Default)]
pub(crate) struct Seen(Mutex<HashMap<(String, String), Ranges>>);

impl Seen {
    /// Lines `from..from + count` went to this viewer.
    pub(crate) fn given(&self, id: &RequestId, viewer: &str, from: usize, count: usize) {
        if count == 0 {
            return;
        }
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (id.as_str().to_owned(), viewer.to_owned());
        if all.len() >= MOST && !all.contains_key(&key) {
            all.clear();
        }
        let ranges = all.entry(key).or_default();
        ranges.push((from, from + count));
        ranges.sort_unstable();
        let mut merged: Ranges = Vec::with_capacity(ranges.len());
        for (from, to) in ranges.drain(..) {
            match merged.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                _ => merged.push((from, to)),
            }
        }
        *ranges = merged;
    }

    /// Whether this viewer has every line that the question itself does not show.
    pub(crate) fn has_all(&self, prompts: &Prompts, id: &RequestId, viewer: &str) -> bool {
        let Some(item) = prompts.get(id) else { return false };
        let Some((_, lines, shown)) = whole::cut_reference(&item.prompt) else { return true };
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ranges = all.get(&(id.as_str().to_owned(), viewer.to_owned()));
        ranges.is_some_and(|ranges| ranges.iter().any(|(from, to)| *from <= shown && *to >= lines))
    }
}
