//! The end of what a child said, bounded.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Kept of one stream (security T11).
const BYTES: usize = 1024 * 1024;

/// The last lines of a stream, at most 1 MiB of them.
#[derive(Debug, Default)]
pub struct Tail {
    lines: Mutex<Ring>,
}

#[derive(Debug, Default)]
struct Ring {
    lines: VecDeque<String>,
    bytes: usize,
}

impl Tail {
    /// Adds a line.
    pub fn push(&self, line: String) {
        let mut ring = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        // Every line has a price beyond its bytes, so empty ones are bounded too.
        ring.bytes += line.len() + 32;
        ring.lines.push_back(line);
        while ring.bytes > BYTES {
            let Some(old) = ring.lines.pop_front() else { break };
            ring.bytes -= old.len() + 32;
        }
    }

    /// The last lines, oldest first.
    pub fn last(&self, count: usize) -> Vec<String> {
        let ring = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        ring.lines.iter().skip(ring.lines.len().saturating_sub(count)).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_keeps_its_end() {
        let tail = Tail::default();
        for number in 0..200_000 {
            tail.push(format!("line {number}"));
        }
        assert_eq!(tail.last(2), ["line 199998", "line 199999"]);
        assert!(tail.lines.lock().unwrap().bytes <= BYTES);
    }
}
