//! Apps while they are used: revisions of their frames, what they may call, and their backends
//! (host-api). The rules of frames as HTTP are in the server; processes are in `chatos-plugins`.

mod capabilities;
mod fault;
mod frames;
mod open;

pub use capabilities::{CapabilityState, CapabilityView, GrantChange, GrantView};
pub use frames::{FrameAsset, FramePolicy, Looked, Revision, frame_hash};
pub use open::{OpenOrder, Opened, Surface};

use std::sync::{Mutex, PoisonError};

use chatos_plugins::Touched;
use frames::Revisions;

use crate::host::Host;

/// The apps of one host.
#[derive(Default)]
pub struct AppDesk {
    revisions: Mutex<Revisions>,
}

impl AppDesk {
    fn revisions(&self) -> std::sync::MutexGuard<'_, Revisions> {
        self.revisions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Host {
    /// Files of plugins changed, those included that no snapshot shows.
    pub(crate) fn plugin_files_touched(&self, what: &Touched) {
        let Ok(desk) = self.plugins() else { return };
        let snapshot = desk.snapshot();
        let dirs: Vec<&std::path::Path> = match what {
            Touched::Dirs(dirs) => dirs.iter().map(std::path::PathBuf::as_path).collect(),
            Touched::Any => snapshot.plugins.iter().map(|plugin| plugin.loaded.dir.as_path()).collect(),
        };
        for dir in dirs {
            self.frames_touched(dir);
        }
    }
}
