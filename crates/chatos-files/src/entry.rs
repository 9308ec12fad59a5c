//! What a directory entry is: its kind, its identity and how its facts are written.

use rustix::fs::{FileType, Stat};
use serde::Serialize;

/// Device and inode: the one identity that no spelling changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId {
    dev: u64,
    ino: u64,
}

impl FileId {
    /// The identity in a stat.
    #[allow(clippy::unnecessary_cast, reason = "the widths differ between platforms")]
    pub fn of(stat: &Stat) -> Self {
        Self { dev: stat.st_dev as u64, ino: stat.st_ino as u64 }
    }

    /// From its two numbers.
    pub fn new(dev: u64, ino: u64) -> Self {
        Self { dev, ino }
    }

    /// The device.
    pub fn dev(self) -> u64 {
        self.dev
    }

    /// Its number on the device.
    pub fn ino(self) -> u64 {
        self.ino
    }
}

/// The four kinds results speak of (servers §4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A pipe, socket or device.
    Other,
}

impl Kind {
    /// The kind in a stat.
    pub fn of(stat: &Stat) -> Self {
        Self::from_type(FileType::from_raw_mode(stat.st_mode))
    }

    /// The kind of a directory entry; `None` when the file system does not say.
    pub fn from_entry(file_type: FileType) -> Option<Self> {
        (file_type != FileType::Unknown).then(|| Self::from_type(file_type))
    }

    fn from_type(file_type: FileType) -> Self {
        match file_type {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Directory,
            FileType::Symlink => Self::Symlink,
            _ => Self::Other,
        }
    }
}

/// The size of a stat.
pub fn size_of(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}

/// The modification time in milliseconds UTC.
#[allow(clippy::unnecessary_cast, reason = "the widths differ between platforms")]
pub fn mtime_ms(stat: &Stat) -> i64 {
    (stat.st_mtime as i64).saturating_mul(1000).saturating_add(stat.st_mtime_nsec as i64 / 1_000_000)
}

/// ISO 8601 UTC with milliseconds (servers §1).
pub fn iso(ms: i64) -> String {
    match jiff::Timestamp::from_millisecond(ms) {
        Ok(time) => format!("{time:.3}"),
        Err(_) => "1970-01-01T00:00:00.000Z".to_owned(),
    }
}

/// `1.2 KB (1234 B)`, or `12 B` below a kilobyte (servers §4).
pub fn human_size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {} ({bytes} B)", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_read_as_specified() {
        assert_eq!(human_size(12), "12 B");
        assert_eq!(human_size(1234), "1.2 KB (1234 B)");
        assert_eq!(human_size(5 << 30), "5.0 GB (5368709120 B)");
        assert_eq!(iso(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(iso(1_768_089_600_123), "2026-01-11T00:00:00.123Z");
    }
}
