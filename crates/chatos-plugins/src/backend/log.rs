//! The log of a plugin's processes: `logs/plugins/<id>.log`, three files of 10 MiB, lines of 64 KiB,
//! a bounded pace (host-api §9.2).

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use chatos_child::{Rate, Tail};

/// One file.
const FILE_BYTES: u64 = 10 * 1024 * 1024;
/// Files besides the current one.
const OLD_FILES: u32 = 2;
/// One line.
pub(super) const LINE_BYTES: usize = 64 * 1024;
/// Lines written per second; a flood is counted, not kept. Bursts of a start-up fit.
const LINES_PER_SECOND: u32 = 1_000;

/// The log of one plugin. Writers never wait for anything but the disk.
#[derive(Debug)]
pub struct PluginLogFile {
    path: PathBuf,
    tail: Tail,
    out: Mutex<Out>,
}

#[derive(Debug)]
struct Out {
    file: Option<(File, u64)>,
    rate: Rate,
    /// Lines are being left out, and that is written.
    flooded: bool,
    /// Told once, not once per line.
    broken: bool,
}

impl PluginLogFile {
    /// A log at `path`; nothing is created before the first line.
    pub fn new(path: PathBuf) -> Self {
        let out = Out { file: None, rate: Rate::per_second(LINES_PER_SECOND), flooded: false, broken: false };
        Self { path, tail: Tail::default(), out: Mutex::new(out) }
    }

    /// Writes a line with its time and where it comes from.
    pub fn line(&self, source: &str, text: &str) {
        self.tail.push(text.to_owned());
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let mut lines = String::new();
        if out.rate.take() {
            let (missed, now) = (out.rate.missed(), jiff::Timestamp::now());
            if missed > 0 {
                lines.push_str(&format!("{now:.3} host {missed} lines were left out\n"));
            }
            lines.push_str(&format!("{now:.3} {source} {text}\n"));
            out.flooded = false;
        } else if std::mem::replace(&mut out.flooded, true) {
            return;
        } else {
            // Said at once: a process that is quiet afterwards would never show its gap.
            let now = jiff::Timestamp::now();
            lines.push_str(&format!(
                "{now:.3} host lines are left out here: more than {LINES_PER_SECOND} in a second\n"
            ));
        }
        if let Err(error) = self.write(&mut out, lines.as_bytes()) {
            out.file = None;
            if !std::mem::replace(&mut out.broken, true) {
                tracing::warn!(%error, path = %self.path.display(), "the log of a plugin cannot be written");
            }
        } else {
            out.broken = false;
        }
    }

    /// The last lines of this start, without times.
    pub fn last(&self, count: usize) -> Vec<String> {
        self.tail.last(count)
    }

    fn write(&self, out: &mut Out, bytes: &[u8]) -> io::Result<()> {
        if out.file.as_ref().is_some_and(|(_, size)| size + bytes.len() as u64 > FILE_BYTES) {
            out.file = None;
            self.rotate()?;
        }
        if out.file.is_none() {
            if let Some(folder) = self.path.parent() {
                fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
            }
            let mut options = OpenOptions::new();
            // A link in its place would let a plugin have another file written.
            options
                .append(true)
                .create(true)
                .mode(0o600)
                .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
            let file = options.open(&self.path)?;
            let size = file.metadata()?.len();
            if size + bytes.len() as u64 > FILE_BYTES {
                drop(file);
                self.rotate()?;
                out.file = Some((options.open(&self.path)?, 0));
            } else {
                out.file = Some((file, size));
            }
        }
        if let Some((file, size)) = &mut out.file {
            file.write_all(bytes)?;
            *size += bytes.len() as u64;
        }
        Ok(())
    }

    /// `x.log` becomes `x.log.1`, that `x.log.2`, that is gone.
    fn rotate(&self) -> io::Result<()> {
        let old = |number: u32| {
            let mut name = self.path.clone().into_os_string();
            name.push(format!(".{number}"));
            PathBuf::from(name)
        };
        for number in (1..OLD_FILES).rev() {
            rename_if_there(&old(number), &old(number + 1))?;
        }
        rename_if_there(&self.path, &old(1))
    }
}

fn rename_if_there(from: &std::path::Path, to: &std::path::Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_turns_over_and_keeps_three_files() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/p.log");
        let log = PluginLogFile::new(path.clone());
        let long = "x".repeat(LINE_BYTES);
        for _ in 0..600 {
            log.line("out", &long);
        }
        let mut names: Vec<String> = fs::read_dir(dir.path().join("a"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["p.log", "p.log.1", "p.log.2"]);
        for name in names {
            assert!(fs::metadata(dir.path().join("a").join(name)).unwrap().len() <= FILE_BYTES);
        }
    }

    #[test]
    fn a_flood_is_counted_and_its_end_remembered() {
        let dir = tempfile::tempdir().unwrap();
        let log = PluginLogFile::new(dir.path().join("p.log"));
        for number in 0..50_000 {
            log.line("err", &format!("line {number}"));
        }
        assert_eq!(log.last(1), ["line 49999"]);
        let size = fs::metadata(dir.path().join("p.log")).unwrap().len();
        assert!(size < 50_000 * 20, "{size}");
    }
}
