//! Stand-ins for tests of this crate and of the crates above it: a store of records in memory or in a
//! file, a clock that is set by hand, a file system that fails on demand.

mod faults;
mod records;

pub use faults::{Fault, FaultFs};
pub use records::TestRecords;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use chatos_lines::{DiskFs, Paths};

use crate::{Clock, Config, KeySigner, LogMode, Records, Role, SystemClock};

/// The key every test signs with.
pub const KEY: [u8; 32] = [7; 32];

/// A queue in `dir` with the given records; real clock, real files.
pub fn config(dir: &Path, records: Arc<dyn Records>, role: Role) -> Config {
    Config {
        paths: Paths::in_state_dir(dir),
        records,
        signer: Arc::new(KeySigner::new(KEY)),
        clock: Arc::new(SystemClock),
        fs: Arc::new(DiskFs),
        role,
        mode: LogMode::Full,
    }
}

/// A clock that stands still until it is moved.
#[derive(Debug)]
pub struct ManualClock {
    wall: AtomicI64,
    monotonic: AtomicU64,
    boots: AtomicU64,
}

impl ManualClock {
    pub fn at(wall_ms: i64) -> Self {
        Self { wall: AtomicI64::new(wall_ms), monotonic: AtomicU64::new(1_000), boots: AtomicU64::new(0) }
    }

    /// Time passes.
    pub fn advance(&self, by: Duration) {
        let ms = u64::try_from(by.as_millis()).unwrap_or(u64::MAX);
        self.wall.fetch_add(ms.cast_signed(), Ordering::SeqCst);
        self.monotonic.fetch_add(ms, Ordering::SeqCst);
    }

    /// The machine is started anew; its time begins again.
    pub fn reboot(&self) {
        self.boots.fetch_add(1, Ordering::SeqCst);
        self.monotonic.store(0, Ordering::SeqCst);
    }

    /// Somebody sets the wall clock; no time passes.
    pub fn jump(&self, by_ms: i64) {
        self.wall.fetch_add(by_ms, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now_ms(&self) -> i64 {
        self.wall.load(Ordering::SeqCst)
    }

    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.monotonic.load(Ordering::SeqCst))
    }

    fn boot_id(&self) -> String {
        format!("boot-{}", self.boots.load(Ordering::SeqCst))
    }
}
