//! Random choices for kill loops and hostile inputs; the seed is in every failure message.

use std::time::{SystemTime, UNIX_EPOCH};

/// A small generator. Not for secrets.
#[derive(Debug, Clone)]
pub struct Random {
    seed: u64,
    state: u64,
}

impl Random {
    /// Another sequence every time.
    pub fn new() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_nanos() as u64);
        Self::with_seed(now ^ (u64::from(std::process::id()) << 32))
    }

    /// The sequence of a failure message.
    pub fn with_seed(seed: u64) -> Self {
        Self { seed, state: seed | 1 }
    }

    /// What to put into failure messages.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The next number (splitmix64).
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next_u64() % end.max(1)
    }

    /// Bytes.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next_u64() as u8).collect()
    }
}

impl Default for Random {
    fn default() -> Self {
        Self::new()
    }
}
