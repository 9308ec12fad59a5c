//! Percentiles and times as people read them.

use std::time::Duration;

/// Sorted measurements.
pub(crate) struct Times(Vec<Duration>);

impl Times {
    pub(crate) fn new(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self(times)
    }

    pub(crate) fn at(&self, percent: usize) -> Duration {
        let index = (self.0.len() * percent / 100).min(self.0.len().saturating_sub(1));
        self.0.get(index).copied().unwrap_or_default()
    }

    pub(crate) fn median(&self) -> Duration {
        self.at(50)
    }

    pub(crate) fn best(&self) -> Duration {
        self.0.first().copied().unwrap_or_default()
    }
}

/// `1.23 ms`.
pub(crate) fn human(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    if micros < 1000.0 { format!("{micros:.0} µs") } else { format!("{:.2} ms", micros / 1000.0) }
}

pub(crate) fn ratio(ours: Duration, limit: Duration) -> f64 {
    ours.as_secs_f64() / limit.as_secs_f64().max(1e-9)
}

/// Nanoseconds of the monotonic clock, the same in every process of this machine.
pub(crate) fn monotonic_nanos() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}
