//! How long to wait before asking again (agents §7).

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;

/// Longest wait a vendor may ask for.
const LONGEST: Duration = Duration::from_secs(120);

/// The waits of one call: 1 s, 2 s, 4 s… with a fifth of jitter either way.
#[derive(Debug, Clone)]
pub struct Backoff {
    attempt: u32,
    most: u32,
}

impl Backoff {
    /// At most `most` repeats.
    pub fn new(most: u32) -> Self {
        Self { attempt: 0, most }
    }

    /// The wait before the next repeat, or `None` when there are no more. `asked` is the vendor's
    /// wish; `noise` is a random number from 0 to 1.
    pub fn next(&mut self, asked: Option<Duration>, noise: f64) -> Option<Duration> {
        if self.attempt >= self.most {
            return None;
        }
        let ours = Duration::from_secs(1 << self.attempt.min(6));
        self.attempt += 1;
        let ours = ours.mul_f64(0.8 + 0.4 * noise.clamp(0.0, 1.0));
        match asked {
            // Longer than we are willing to wait: the person should hear it now.
            Some(asked) if asked > LONGEST => None,
            Some(asked) => Some(asked.max(ours)),
            None => Some(ours),
        }
    }

    /// Which repeat comes next, from 1.
    pub fn attempt(&self) -> u32 {
        self.attempt + 1
    }
}

/// Reads a `Retry-After` header: seconds, or a date.
pub fn retry_after(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return (seconds.is_finite() && seconds >= 0.0).then(|| Duration::from_secs_f64(seconds.min(1e9)));
    }
    // A clock that names the wrong day of the week still tells the time.
    let date = DateTimeParser::new().relaxed_weekday(true).parse_timestamp(value).ok()?;
    Some(Duration::from_millis(u64::try_from((date.as_millisecond() - now.as_millisecond()).max(0)).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_and_end() {
        let mut backoff = Backoff::new(3);
        let waits: Vec<_> =
            std::iter::from_fn(|| backoff.next(None, 0.5)).map(|wait| wait.as_secs()).collect();
        assert_eq!(waits, [1, 2, 4]);
    }

    #[test]
    fn the_vendors_wish_counts_up_to_two_minutes() {
        let mut backoff = Backoff::new(9);
        assert_eq!(backoff.next(Some(Duration::from_secs(30)), 0.0), Some(Duration::from_secs(30)));
        assert_eq!(backoff.next(Some(Duration::from_secs(121)), 0.0), None);
        // Never less than our own wait: a vendor that says 0 is not hammered.
        assert!(Backoff::new(1).next(Some(Duration::ZERO), 0.0) >= Some(Duration::from_millis(800)));
    }

    #[test]
    fn both_forms_of_the_header() {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        assert_eq!(retry_after(" 2 ", now), Some(Duration::from_secs(2)));
        assert_eq!(retry_after("0.5", now), Some(Duration::from_millis(500)));
        assert_eq!(retry_after("Thu, 01 Jan 2026 00:00:10 GMT", now), Some(Duration::from_secs(10)));
        assert_eq!(retry_after("Thu, 01 Jan 2025 00:00:10 GMT", now), Some(Duration::ZERO));
        for bad in ["", "soon", "-1", "NaN", "inf"] {
            assert_eq!(retry_after(bad, now), None, "{bad}");
        }
    }
}
