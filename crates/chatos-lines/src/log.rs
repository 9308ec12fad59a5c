//! The append side of `ui-prompts.jsonl` (`ui-prompts §3.1`, `security §3.2`).
//!
//! One in-process writer at a time, an advisory lock between processes that is never waited for
//! longer than two seconds, one `write(2)` per line, and a shared `fdatasync`. Nothing here reads
//! entries; nothing here ever truncates or rewrites.

mod sync;

pub use sync::Ticket;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::fs::{Fs, Stat, is_full};
use crate::sync::lock;

/// How long the advisory lock is waited for. Longer would keep a question from the person, shorter
/// would miss a healthy archive run.
const LOCK_WAIT: Duration = Duration::from_secs(2);

/// How long a foreign writer in the middle of a line is given to finish it.
const NEWLINE_WAIT: Duration = Duration::from_millis(50);

/// Where the log and its companions live.
#[derive(Debug, Clone)]
pub struct Paths {
    pub dir: PathBuf,
    pub log: PathBuf,
    pub lock: PathBuf,
    pub archive: PathBuf,
}

impl Paths {
    pub fn in_state_dir(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            log: dir.join("ui-prompts.jsonl"),
            lock: dir.join("ui-prompts.lock"),
            archive: dir.join("prompt-archive"),
        }
    }
}

/// Why a line is not in the log.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AppendError {
    #[error("no space left for the prompt log: {}", path.display())]
    Full {
        path: PathBuf,
        #[source]
        source: Arc<io::Error>,
    },
    #[error("cannot append to the prompt log: {}", path.display())]
    Unavailable {
        path: PathBuf,
        #[source]
        source: Arc<io::Error>,
    },
}

impl AppendError {
    fn new(path: &Path, source: io::Error) -> Self {
        let (path, source) = (path.to_owned(), Arc::new(source));
        if is_full(&source) { Self::Full { path, source } } else { Self::Unavailable { path, source } }
    }

    pub fn is_full(&self) -> bool {
        matches!(self, Self::Full { .. })
    }
}

/// Where a line landed, and the promise that it will be durable.
pub struct Written {
    /// Offset of the first byte of the line.
    pub at: u64,
    pub ticket: Ticket,
}

/// The append side of one log.
pub struct Log {
    fs: Arc<dyn Fs>,
    pub paths: Paths,
    writer: Mutex<Writer>,
    sync: Arc<sync::GroupSync>,
    lock_missed: AtomicU64,
    narrowed: AtomicU64,
}

#[derive(Default)]
struct Writer {
    file: Option<(Arc<File>, Stat)>,
    lock: Option<File>,
}

impl Log {
    pub fn new(fs: Arc<dyn Fs>, paths: Paths) -> Self {
        let sync = Arc::new(sync::GroupSync::new(fs.clone()));
        Self {
            fs,
            paths,
            writer: Mutex::new(Writer::default()),
            sync,
            lock_missed: AtomicU64::new(0),
            narrowed: AtomicU64::new(0),
        }
    }

    /// How often a line was written without the advisory lock.
    pub fn lock_missed(&self) -> u64 {
        self.lock_missed.load(Ordering::Relaxed)
    }

    /// How often a wider mode of the log was narrowed to 0600.
    pub fn narrowed(&self) -> u64 {
        self.narrowed.load(Ordering::Relaxed)
    }

    /// Lines at or after this offset may not be durable yet; `u64::MAX` when all are.
    pub fn unsynced_from(&self) -> u64 {
        self.sync.unsynced_from()
    }

    /// Takes the in-process turn and, within two seconds, the advisory lock.
    pub fn lock(&self) -> Locked<'_> {
        let mut writer = lock(&self.writer);
        let held = self.take_side_lock(&mut writer);
        if !held {
            // A stuck lock must not stop a question: foreign writers never lock either.
            self.lock_missed.fetch_add(1, Ordering::Relaxed);
        }
        Locked { log: self, writer, held }
    }

    fn take_side_lock(&self, writer: &mut Writer) -> bool {
        let deadline = Instant::now() + LOCK_WAIT;
        let mut pause = Duration::from_micros(20);
        loop {
            if writer.lock.is_none() {
                writer.lock = self.open_side_lock();
            }
            let Some(file) = &writer.lock else { return false };
            match self.fs.try_lock(file) {
                Ok(true) if self.is_current_lock(file) => return true,
                Ok(true) => {
                    // The lock file was replaced while we waited: ours guards nothing any more.
                    writer.lock = None;
                    continue;
                }
                Ok(false) => {}
                Err(_) => return false,
            }
            if Instant::now() >= deadline {
                return false;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(2));
        }
    }

    fn open_side_lock(&self) -> Option<File> {
        if let Ok(file) = self.fs.open_lock(&self.paths.lock) {
            return Some(file);
        }
        self.fs.create_dir(&self.paths.dir).ok()?;
        self.fs.open_lock(&self.paths.lock).ok()
    }

    fn is_current_lock(&self, file: &File) -> bool {
        match (self.fs.stat(&self.paths.lock), self.fs.fstat(file)) {
            (Ok(Some(path)), Ok(held)) => path.same_file(&held),
            _ => false,
        }
    }
}

/// The right to append.
pub struct Locked<'a> {
    log: &'a Log,
    writer: MutexGuard<'a, Writer>,
    held: bool,
}

impl Locked<'_> {
    /// False when the advisory lock was missed: others may write at the same time.
    pub fn held(&self) -> bool {
        self.held
    }

    /// Appends one line, which must end with its only newline.
    pub fn append(&mut self, line: &[u8]) -> Result<Written, AppendError> {
        let path = &self.log.paths.log;
        self.append_inner(line).map_err(|source| AppendError::new(path, source))
    }

    /// Forgets the open file after a failed sync: a second sync on it could falsely succeed (`security §3.4`).
    pub fn reopen(&mut self) {
        self.writer.file = None;
    }

    fn append_inner(&mut self, line: &[u8]) -> io::Result<Written> {
        debug_assert!(line.ends_with(b"\n") && memchr::memchr(b'\n', line) == Some(line.len() - 1));
        let fs = &self.log.fs;
        let (file, size) = self.current_file()?;
        let leading = size > 0 && !self.ends_with_newline(&file, size)?;
        let mut bytes = Vec::with_capacity(line.len() + 1);
        if leading {
            bytes.push(b'\n');
        }
        bytes.extend_from_slice(line);
        let ticket = self.log.sync.begin(size, &file);
        let mut written = fs.write(&file, &bytes)?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        let end_of_first = fs.position(&file)?;
        let at = end_of_first - written as u64 + u64::from(leading);
        while written < bytes.len() {
            match fs.write(&file, &bytes[written..])? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                n => written += n,
            }
        }
        Ok(Written { at, ticket })
    }

    // The open log and its size, opened again when the path means another file.
    fn current_file(&mut self) -> io::Result<(Arc<File>, u64)> {
        let fs = &self.log.fs;
        let path = &self.log.paths.log;
        let on_path = fs.stat(path)?;
        if let (Some((file, known)), Some(now)) = (&self.writer.file, &on_path)
            && known.same_file(now)
            && now.is_file
        {
            return Ok((file.clone(), now.size));
        }
        self.writer.file = None;
        let file = match fs.open_append(path)? {
            Some(file) => file,
            None => self.create()?,
        };
        let stat = fs.fstat(&file)?;
        let me = rustix::process::geteuid().as_raw();
        if stat.uid != me {
            let text = format!("owned by uid {}, this process is uid {me}", stat.uid);
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
        }
        if stat.mode & 0o077 != 0 {
            fs.set_private(&file)?;
            self.log.narrowed.fetch_add(1, Ordering::Relaxed);
        }
        let file = Arc::new(file);
        self.writer.file = Some((file.clone(), stat));
        Ok((file, stat.size))
    }

    fn create(&self) -> io::Result<File> {
        let fs = &self.log.fs;
        let Paths { dir, log, .. } = &self.log.paths;
        fs.create_dir(dir)?;
        match fs.create(log) {
            Ok(file) => {
                fs.sync_dir(dir)?;
                Ok(file)
            }
            // Another process was first.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                fs.open_append(log)?.ok_or_else(|| io::ErrorKind::NotFound.into())
            }
            Err(e) => Err(e),
        }
    }

    // §3.1 step 3: a foreign writer may be in the middle of a line.
    fn ends_with_newline(&self, file: &File, size: u64) -> io::Result<bool> {
        let fs = &self.log.fs;
        let deadline = Instant::now() + NEWLINE_WAIT;
        let mut size = size;
        loop {
            let mut last = [0u8];
            let read = if size == 0 { 1 } else { fs.read_at(file, &mut last, size - 1)? };
            if size == 0 || (read == 1 && last[0] == b'\n') {
                return Ok(true);
            }
            if Instant::now() >= deadline {
                return Ok(false);
            }
            std::thread::sleep(Duration::from_millis(1));
            size = fs.fstat(file)?.size;
        }
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        if self.held
            && let Some(file) = self.writer.lock.take()
        {
            // Kept open for the next append; if it cannot be unlocked, closing it will.
            if self.log.fs.unlock(&file).is_ok() {
                self.writer.lock = Some(file);
            }
        }
    }
}
