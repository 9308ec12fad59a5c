//! The journal of a swap: written before the first rename, so that whatever happens in between can
//! be undone or finished at the next start.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;

use chatos_manifest::PluginId;
use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};

use super::swap::Swap;
use crate::fs::{Fs, exists, write_all};

const FILE: &str = "journal.json";
const TEMPORARY: &str = "journal.tmp";
/// A journal lists the plugins of one package; this is far beyond any.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// What a journal says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub(super) enum Journal {
    /// Directories are being exchanged: undo it.
    #[serde(rename_all = "camelCase")]
    Install { version: u32, log_id: String, done: bool, plugins: Vec<JournalSwap> },
    /// A plugin is being removed: finish it, once its directory is gone.
    #[serde(rename_all = "camelCase")]
    Uninstall {
        version: u32,
        log_id: String,
        id: PluginId,
        dirs: Vec<String>,
        /// Those of them that were not installed.
        #[serde(default)]
        keep: Vec<String>,
        delete_data: bool,
    },
}

/// One exchange.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct JournalSwap {
    pub(super) id: PluginId,
    /// Where the new version waits, relative to the work directory.
    pub(super) from: String,
    /// Directories of the old version in the user root.
    pub(super) olds: Vec<String>,
    /// Those of them that were not installed.
    #[serde(default)]
    pub(super) keep: Vec<String>,
    /// What the new version is written down as.
    #[serde(default)]
    pub(super) digest: Option<String>,
}

impl Journal {
    pub(super) fn install(log_id: &str, swaps: &[Swap], done: bool) -> io::Result<Self> {
        let plugins = swaps
            .iter()
            .map(|swap| {
                let names = |names: &[OsString]| -> io::Result<Vec<String>> {
                    names.iter().map(|name| text(&PathBuf::from(name))).collect()
                };
                Ok(JournalSwap {
                    id: swap.id.clone(),
                    from: text(&swap.from)?,
                    olds: names(&swap.olds)?,
                    keep: names(&swap.keep)?,
                    digest: Some(swap.digest.clone()),
                })
            })
            .collect::<io::Result<_>>()?;
        Ok(Self::Install { version: 1, log_id: log_id.to_owned(), done, plugins })
    }

    /// Directories that were not installed and must outlive the work directory.
    pub(super) fn keep(&self) -> Vec<String> {
        match self {
            Self::Install { plugins, .. } => plugins.iter().flat_map(|swap| swap.keep.clone()).collect(),
            Self::Uninstall { keep, .. } => keep.clone(),
        }
    }

    /// Writes the journal of a work directory durably.
    pub(super) fn write(&self, fs: &dyn Fs, dir: BorrowedFd<'_>) -> io::Result<()> {
        let bytes = serde_json::to_vec_pretty(self)?;
        if exists(dir, TEMPORARY.as_ref())? {
            fs.unlink(dir, TEMPORARY.as_ref())?;
        }
        let file = fs.create(dir, TEMPORARY.as_ref(), 0o600)?;
        write_all(fs, file.as_fd(), &bytes)?;
        fs.sync(file.as_fd())?;
        fs.replace(dir, TEMPORARY.as_ref(), FILE.as_ref())?;
        fs.sync(dir)
    }

    /// Reads the journal of a work directory; `None` without one.
    pub(super) fn read(dir: BorrowedFd<'_>) -> io::Result<Option<Self>> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match rustix::fs::openat(dir, FILE, flags, Mode::empty()) {
            Ok(fd) => std::fs::File::from(fd),
            Err(rustix::io::Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(errno.into()),
        };
        let mut bytes = Vec::new();
        file.take(MAX_BYTES).read_to_end(&mut bytes)?;
        Ok(Some(serde_json::from_slice(&bytes)?))
    }
}

/// Directory names that are not UTF-8 cannot be journaled, so such a plugin is not replaced.
fn text(path: &std::path::Path) -> io::Result<String> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            "an installed plugin lies in a directory whose name is not UTF-8",
        )
    })
}

/// True when a work directory holds a journal that something still depends on; `finished` when what it
/// describes is done.
pub(super) fn is_pending(dir: BorrowedFd<'_>, finished: bool) -> bool {
    match Journal::read(dir) {
        Ok(None) => false,
        Ok(Some(journal)) => {
            let done = finished || matches!(journal, Journal::Install { done: true, .. });
            !done || super::kept::are_left(dir, &journal.keep()).unwrap_or(true)
        }
        Err(_) => !finished,
    }
}
