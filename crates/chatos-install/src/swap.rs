//! One program takes the place of another, so that at every moment there is a working one under its name.
//!
//! The new one is written beside it and synced, the present one gets a second name (`chatos.former`), then one rename
//! does it. Whatever a kill leaves besides is removed by the next upgrade.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use chatos_paths::sync_dir;
use chatos_tool::{ErrorCode, Fault, Text};
use rustix::fs::{FlockOperation, flock};

/// The place of a program while it is exchanged; only one process at a time has it.
pub(crate) struct Place {
    program: PathBuf,
    folder: PathBuf,
    // Held until the exchange is over.
    _lock: File,
}

impl Place {
    pub(crate) fn of(program: &Path) -> Result<Self, Fault> {
        let folder = program.parent().unwrap_or(Path::new("/")).to_owned();
        let lock = File::open(&folder).map_err(|error| not_writable(&folder, &error))?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(|_| {
            Fault::new(ErrorCode::Conflict, Text::fixed("another upgrade is at work", "另一个升级正在进行"))
                .code("upgrade_running")
                .hint(Text::fixed("wait until it is done", "请等待其完成"))
        })?;
        let place = Self { program: program.to_owned(), folder, _lock: lock };
        place.remove_leftovers();
        Ok(place)
    }

    /// Writes the new program beside the present one, complete and synced.
    pub(crate) fn put(&self, content: &[u8]) -> Result<PathBuf, Fault> {
        let path = self.beside(&format!(".new-{}", std::process::id()));
        let write = || -> io::Result<()> {
            let mut file =
                std::fs::OpenOptions::new().write(true).create_new(true).mode(0o755).open(&path)?;
            step();
            let half = content.len() / 2;
            file.write_all(&content[..half])?;
            step();
            file.write_all(&content[half..])?;
            file.sync_all()?;
            step();
            Ok(())
        };
        if let Err(error) = write() {
            // The error matters more than a leftover.
            std::fs::remove_file(&path).ok();
            return Err(not_writable(&self.folder, &error));
        }
        Ok(path)
    }

    /// The present program becomes the former one, the new one the present one.
    pub(crate) fn exchange(&self, new: &Path) -> Result<(), Fault> {
        let kept = self.beside(&format!(".old-{}", std::process::id()));
        let exchange = || -> io::Result<()> {
            // Where no second name can be made for a file, it is copied.
            if std::fs::hard_link(&self.program, &kept).is_err() {
                std::fs::copy(&self.program, &kept)?;
                File::open(&kept)?.sync_all()?;
            }
            step();
            std::fs::rename(&kept, former(&self.program))?;
            // Two names of the same file, as a kill right here leaves them, are both kept by a rename.
            match std::fs::remove_file(&kept) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            step();
            sync_dir(&self.folder)?;
            std::fs::rename(new, &self.program)?;
            step();
            sync_dir(&self.folder)
        };
        exchange().map_err(|error| {
            std::fs::remove_file(new).ok();
            std::fs::remove_file(&kept).ok();
            not_writable(&self.folder, &error)
        })
    }

    fn beside(&self, ending: &str) -> PathBuf {
        self.folder.join(format!("{}{ending}", self.prefix()))
    }

    /// What the names of half-made files begin with.
    fn prefix(&self) -> String {
        format!(".{}", self.program.file_name().unwrap_or_default().to_string_lossy())
    }

    fn remove_leftovers(&self) {
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let rest = name.strip_prefix(&self.prefix());
            if rest.is_some_and(|rest| rest.starts_with(".new-") || rest.starts_with(".old-")) {
                // What cannot be removed is in nobody's way.
                std::fs::remove_file(entry.path()).ok();
            }
        }
    }
}

/// Where the program before the last upgrade is.
pub(crate) fn former(program: &Path) -> PathBuf {
    let mut name = program.file_name().map(OsString::from).unwrap_or_default();
    name.push(".former");
    program.with_file_name(name)
}

/// Brings the former program back; the present one becomes the former.
pub fn undo(program: &Path) -> Result<PathBuf, Fault> {
    let place = Place::of(program)?;
    let kept = former(program);
    let content = std::fs::read(&kept).map_err(|error| {
        Fault::new(
            ErrorCode::NotFound,
            Text::new(
                format!("there is no former program: {}", kept.display()),
                format!("没有之前的程序：{}", kept.display()),
            ),
        )
        .code("no_former")
        .caused_by(&error)
        .hint(Text::fixed(
            "only an upgrade leaves one; install another version with the install script",
            "只有升级才会留下它；可用安装脚本安装其他版本",
        ))
    })?;
    let new = place.put(&content)?;
    place.exchange(&new)?;
    Ok(kept)
}

fn not_writable(folder: &Path, error: &io::Error) -> Fault {
    Fault::new(
        ErrorCode::Unavailable,
        Text::new(
            format!("cannot write beside the program in {}; it stays as it is", folder.display()),
            format!("无法写入程序所在的 {}；程序保持原样", folder.display()),
        ),
    )
    .code("program_not_writable")
    .caused_by(error)
    .hint(Text::fixed(
        "check the free space, or upgrade as the person who installed it",
        "请检查磁盘空间，或以安装者的身份升级",
    ))
}

#[cfg(debug_assertions)]
mod armed {
    use std::sync::atomic::{AtomicU32, Ordering};

    static AT: AtomicU32 = AtomicU32::new(0);
    static STEPS: AtomicU32 = AtomicU32::new(0);

    pub fn halt_at(step: u32) {
        AT.store(step, Ordering::SeqCst);
    }

    pub(super) fn step() {
        if STEPS.fetch_add(1, Ordering::SeqCst) + 1 == AT.load(Ordering::SeqCst)
            && rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL).is_ok()
        {
            // The signal is on its way; nothing else of this thread happens.
            std::thread::park();
        }
    }
}

#[cfg(not(debug_assertions))]
mod armed {
    pub fn halt_at(_: u32) {}

    pub(super) fn step() {}
}

/// Ends the process at the n-th step of an exchange, as a power cut would; for tests, in debug builds only.
pub use armed::halt_at;
use armed::step;
