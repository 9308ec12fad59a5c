//! Whether a person is at a page: then they see what waits, and other channels keep silent.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// A page counts this long after it was last used.
const FRESH_MS: i64 = 60_000;
/// Most pages that are remembered.
const PAGES: usize = 64;

/// Pages in view, by the name each gave itself, with the moment it was last used, on the clock of the machine's start.
#[derive(Default)]
pub(crate) struct Presence(Mutex<HashMap<String, i64>>);

impl Presence {
    /// A page was used just now, or went out of sight.
    pub(crate) fn told(&self, page: &str, visible: bool, now: i64) {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pages.retain(|_, used| now - *used < FRESH_MS);
        if !visible {
            pages.remove(page);
        } else if page.len() <= 64 && (pages.len() < PAGES || pages.contains_key(page)) {
            pages.insert(page.to_owned(), now);
        }
    }

    /// Until when somebody counts as being there, if nothing is used any more.
    pub(crate) fn until(&self, now: i64) -> Option<i64> {
        let pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pages.values().map(|used| used + FRESH_MS).filter(|end| *end > now).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_counts_while_it_is_in_view_and_used() {
        let presence = Presence::default();
        presence.told("a", true, 1_000);
        assert_eq!(presence.until(2_000), Some(61_000));
        assert_eq!(presence.until(61_000), None);
        presence.told("b", true, 50_000);
        presence.told("a", false, 50_001);
        assert_eq!(presence.until(50_002), Some(110_000));
        presence.told("b", false, 50_003);
        assert_eq!(presence.until(50_004), None);
    }
}
