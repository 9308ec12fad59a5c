//! Waiting for what another process does.

use std::time::{Duration, Instant};

/// Looks until it is there. A slow machine only takes longer; what never comes fails the test.
#[track_caller]
pub fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < Duration::from_secs(90), "never happened: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
