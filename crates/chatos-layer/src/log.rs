//! The tool log file: one write per line, or for the lines of calls that came together, under an advisory lock, rotated by rename (tools §8, §10).
//!
//! Several processes write the same file. Logging never fails a call: the first failure is told once,
//! later ones are silent until a write succeeds again.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::fs::{FlockOperation, OFlags};

use crate::settings::Rotation;

/// A lock held longer than this belongs to a stuck process; a line of the log is not worth waiting for.
const LOCK_PATIENCE: Duration = Duration::from_millis(100);

/// Bytes that wait to be written with others.
const HELD_BYTES: usize = 32 * 1024;

/// Hears that the log cannot be written: path and reason.
pub type Warn = Box<dyn Fn(&Path, &io::Error) + Send + Sync>;

/// A log file shared by processes.
pub struct ToolLog {
    path: PathBuf,
    state: Mutex<State>,
    warned: AtomicBool,
    warn: Warn,
}

#[derive(Default)]
struct State {
    open: Option<Open>,
    // Lines that wait to be written with others.
    held: String,
    // How they are to be written; none when there are none.
    rotation: Option<Rotation>,
}

struct Open {
    file: Arc<File>,
    // Device and inode.
    id: (u64, u64),
    // Where our last line ended; nobody else wrote while the file ends there.
    end: u64,
    // Lines up to this offset are counted; others may have written more.
    counted_to: u64,
    lines: u64,
}

impl ToolLog {
    /// A log at this path; the file appears with the first line.
    pub fn new(path: PathBuf, warn: Warn) -> Self {
        Self { path, state: Mutex::default(), warned: AtomicBool::new(false), warn }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends whole lines, given without their last newline.
    pub fn append(&self, lines: &str, rotation: Rotation) {
        let mut state = self.state();
        if state.rotation.is_none() {
            self.try_write(&mut state.open, lines, rotation);
        } else {
            state.hold(lines, rotation);
            self.write_all(&mut state);
        }
    }

    /// The same with the next ones, at the latest by [`Self::write_held`].
    pub fn hold(&self, lines: &str, rotation: Rotation) {
        if rotation.max_lines > 0 {
            // Lines that are counted are written where they are counted.
            return self.append(lines, rotation);
        }
        let mut state = self.state();
        state.hold(lines, rotation);
        if state.held.len() >= HELD_BYTES {
            self.write_all(&mut state);
        }
    }

    /// Appends the lines that wait.
    pub fn write_held(&self) {
        self.write_all(&mut self.state());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_all(&self, state: &mut State) {
        if let Some(rotation) = state.rotation.take() {
            self.try_write(&mut state.open, &state.held, rotation);
            state.held.clear();
        }
    }

    fn try_write(&self, open: &mut Option<Open>, lines: &str, rotation: Rotation) {
        match self.write(open, lines, rotation) {
            Ok(()) => self.warned.store(false, Ordering::Relaxed),
            Err(error) => {
                // A handle that failed is not trusted again.
                *open = None;
                if !self.warned.swap(true, Ordering::Relaxed) {
                    (self.warn)(&self.path, &error);
                }
            }
        }
    }

    fn write(&self, open: &mut Option<Open>, lines: &str, rotation: Rotation) -> io::Result<()> {
        let count = lines.matches('\n').count() as u64 + 1;
        let mut rotated = false;
        loop {
            let mut current = match open.take() {
                Some(current) => current,
                None => self.open_file()?,
            };
            let file = Arc::clone(&current.file);
            let lock = Lock::take(&file)?;
            // security §3.2 in small: another process may have renamed the file before we had the lock.
            let at_path = std::fs::symlink_metadata(&self.path).ok();
            let Some(meta) = at_path.filter(|meta| (meta.dev(), meta.ino()) == current.id) else {
                drop(lock);
                continue;
            };
            let size = meta.len();
            let torn = size > 0 && size != current.end && last_byte(&current.file, size)? != b'\n';
            let added = lines.len() as u64 + 1 + u64::from(torn);
            if rotation.max_lines > 0 {
                current.count(size)?;
            }
            let too_large = rotation.max_bytes > 0 && size + added > rotation.max_bytes;
            let too_long = rotation.max_lines > 0 && current.lines + count > rotation.max_lines;
            if (too_large || too_long) && size > 0 && !rotated {
                self.rotate(rotation.keep_files)?;
                rotated = true;
                drop(lock);
                continue;
            }
            let mut bytes = Vec::with_capacity(lines.len() + 2);
            if torn {
                bytes.push(b'\n');
            }
            bytes.extend_from_slice(lines.as_bytes());
            bytes.push(b'\n');
            // One write: readers and writers without our lock see whole lines or a torn last one.
            let written = (&*file).write(&bytes)?;
            if written < bytes.len() {
                (&*file).write_all(&bytes[written..])?;
            }
            current.end = size + bytes.len() as u64;
            if rotation.max_lines > 0 {
                current.counted_to = size + bytes.len() as u64;
                current.lines += count + u64::from(torn);
            }
            drop(lock);
            *open = Some(current);
            return Ok(());
        }
    }

    fn open_file(&self) -> io::Result<Open> {
        let file = std::fs::OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
            .open(&self.path)?;
        let meta = file.metadata()?;
        if !meta.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        if meta.permissions().mode() & 0o077 != 0 {
            file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
        }
        Ok(Open { id: (meta.dev(), meta.ino()), file: Arc::new(file), end: 0, counted_to: 0, lines: 0 })
    }

    /// Renames the file and forgets the oldest former ones. The caller holds the lock.
    fn rotate(&self, keep: usize) -> io::Result<()> {
        let (prefix, suffix) = self.former_name();
        let stamp = now_stamp();
        let mut name = format!("{prefix}{stamp}{suffix}");
        for n in 1..1000 {
            if !self.path.with_file_name(&name).exists() {
                break;
            }
            name = format!("{prefix}{stamp}_{n:03}{suffix}");
        }
        std::fs::rename(&self.path, self.path.with_file_name(&name))?;
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let mut former: Vec<String> = std::fs::read_dir(folder)?
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| name.starts_with(&prefix) && name.ends_with(&suffix))
            .filter(|name| name[prefix.len()..].starts_with(|c: char| c.is_ascii_digit()))
            .collect();
        former.sort();
        let surplus = former.len().saturating_sub(keep);
        for name in &former[..surplus] {
            // Another process may have removed it already.
            std::fs::remove_file(folder.join(name)).ok();
        }
        Ok(())
    }

    /// `tool-log-` and `.jsonl`.
    fn former_name(&self) -> (String, String) {
        let part = |part: Option<&std::ffi::OsStr>| {
            part.map(|text| text.to_string_lossy().into_owned()).unwrap_or_default()
        };
        let extension = part(self.path.extension());
        let suffix = if extension.is_empty() { String::new() } else { format!(".{extension}") };
        (format!("{}-", part(self.path.file_stem())), suffix)
    }
}

impl State {
    fn hold(&mut self, lines: &str, rotation: Rotation) {
        if self.rotation.is_some() {
            self.held.push('\n');
        }
        self.held.push_str(lines);
        self.rotation = Some(rotation);
    }
}

impl Open {
    /// Counts the lines others wrote since; a file that shrank is counted from its start.
    fn count(&mut self, size: u64) -> io::Result<()> {
        if size < self.counted_to {
            self.counted_to = 0;
            self.lines = 0;
        }
        (&*self.file).seek(SeekFrom::Start(self.counted_to))?;
        let mut part = (&*self.file).take(size - self.counted_to);
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let read = part.read(&mut buffer)?;
            if read == 0 {
                break;
            }
            self.lines += memchr::memchr_iter(b'\n', &buffer[..read]).count() as u64;
        }
        self.counted_to = size;
        Ok(())
    }
}

/// The advisory lock on a file, released when dropped.
struct Lock<'a>(&'a File);

impl<'a> Lock<'a> {
    fn take(file: &'a File) -> io::Result<Self> {
        let started = std::time::Instant::now();
        loop {
            match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Self(file)),
                Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => {
                    if started.elapsed() >= LOCK_PATIENCE {
                        return Err(io::Error::new(
                            io::ErrorKind::WouldBlock,
                            "another process holds its lock",
                        ));
                    }
                    std::thread::sleep(Duration::from_micros(200));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        // Closing the file would release it as well.
        rustix::fs::flock(self.0, FlockOperation::Unlock).ok();
    }
}

fn last_byte(file: &File, size: u64) -> io::Result<u8> {
    let mut byte = [0];
    file.read_exact_at(&mut byte, size - 1)?;
    Ok(byte[0])
}

/// A time that sorts and is a legal file name everywhere.
fn now_stamp() -> String {
    chatos_store::now_iso().replace(':', "-")
}

#[cfg(test)]
mod tests;
