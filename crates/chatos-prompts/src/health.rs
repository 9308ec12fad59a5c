//! What is wrong with the log, counted: unreadable lines, missed locks, a log that cannot be written.
//!
//! Shown in the hub ("3 unreadable lines") and by `chatos prompts check`; nothing here is ever fixed by
//! deleting lines.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::tail::LineFault;

/// How many offsets are kept per sort of fault.
const MAX_OFFSETS: usize = 20;

/// One sort of fault.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FaultCount {
    pub count: u64,
    /// Offsets of the first twenty.
    pub offsets: Vec<u64>,
}

/// The state of the log as `check` shows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Health {
    pub faults: BTreeMap<LineFault, FaultCount>,
    /// Lines written without the advisory lock.
    pub lock_missed: u64,
    /// Wider modes narrowed to 0600.
    pub narrowed: u64,
    /// The file was cut, replaced or rewritten by another program, this many times since the start.
    pub replaced: u64,
    /// The log is gone although it was read before.
    pub missing: bool,
    /// Why the log cannot be read right now.
    pub unreadable: Option<String>,
    /// Why lines cannot be appended right now; they wait in the store.
    pub unwritable: Option<String>,
    /// Foreign questions that vanished with a rewrite of the file.
    pub lost: u64,
    /// Why the old inode of the last archive is still followed, if it is.
    pub previous: Option<String>,
}

impl Health {
    pub(crate) fn fault(&mut self, at: u64, fault: LineFault) {
        let entry = self.faults.entry(fault).or_default();
        entry.count += 1;
        if entry.offsets.len() < MAX_OFFSETS {
            entry.offsets.push(at);
        }
    }

    /// Lines nobody can read.
    pub fn unreadable_lines(&self) -> u64 {
        self.faults.iter().filter(|(fault, _)| fault.is_bad()).map(|(_, c)| c.count).sum()
    }

    /// Everything can be read and written, and no question is gone.
    pub fn is_fine(&self) -> bool {
        self.unreadable_lines() == 0
            && self.unreadable.is_none()
            && self.unwritable.is_none()
            && !self.missing
            && self.lost == 0
    }

    pub fn to_json(&self) -> Value {
        let faults: serde_json::Map<String, Value> = self
            .faults
            .iter()
            .map(|(fault, c)| (fault.as_str().to_owned(), json!({"count": c.count, "offsets": c.offsets})))
            .collect();
        json!({
            "unreadableLines": self.unreadable_lines(),
            "lines": faults,
            "lockMissed": self.lock_missed,
            "modeNarrowed": self.narrowed,
            "replaced": self.replaced,
            "missing": self.missing,
            "unreadable": self.unreadable,
            "unwritable": self.unwritable,
            "lost": self.lost,
            "previous": self.previous,
        })
    }
}
