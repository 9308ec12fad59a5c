//! How much of something may happen per second.

use std::time::{Duration, Instant};

/// Counts within one-second windows. Coarse on purpose: it bounds floods, it does not meter.
#[derive(Debug)]
pub struct Rate {
    limit: u32,
    used: u32,
    since: Instant,
    /// What was refused since the last time somebody asked.
    missed: u64,
}

impl Rate {
    /// At most `limit` per second.
    pub fn per_second(limit: u32) -> Self {
        Self { limit, used: 0, since: Instant::now(), missed: 0 }
    }

    /// Whether one more is fine now.
    pub fn take(&mut self) -> bool {
        if self.since.elapsed() >= Duration::from_secs(1) {
            self.since = Instant::now();
            self.used = 0;
        }
        self.used = self.used.saturating_add(1);
        if self.used > self.limit {
            self.missed += 1;
            return false;
        }
        true
    }

    /// How many were refused, once.
    pub fn missed(&mut self) -> u64 {
        std::mem::take(&mut self.missed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_cut_and_counted() {
        let mut rate = Rate::per_second(10);
        let passed = (0..10_000).filter(|_| rate.take()).count();
        assert!((10..=200).contains(&passed), "{passed}");
        assert_eq!(rate.missed(), 10_000 - passed as u64);
        assert_eq!(rate.missed(), 0);
    }
}
