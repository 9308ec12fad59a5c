//! Apps while they are used: revisions of their frames, what they may call, and their backends
//! (host-api). The rules of frames as HTTP are in the server; processes are in `chatos-plugins`.

mod agents;
mod backends;
mod capabilities;
mod complete;
mod confinement;
mod events;
mod fault;
mod frames;
mod need;
mod open;
mod own;
mod roots;
mod unstarted;
mod views;

pub use backends::BackendCall;
pub use frames::{FrameAsset, FramePolicy, Looked, Revision, frame_hash};
pub use need::{AppNeed, OpenPage};
pub use open::{OpenOrder, Opened};
pub use own::AppCaller;
pub use roots::RunPlace;
pub use views::{OpenedView, View, ViewOrder};

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use chatos_manifest::{AppId, PluginId};
use chatos_plugins::Touched;
use chatos_plugins::backend::Backends;
use confinement::Measured;
use frames::Revisions;
use tokio::sync::watch;
use views::Views;

use crate::host::Host;

/// The apps of one host.
#[derive(Default)]
pub struct AppDesk {
    revisions: Mutex<Revisions>,
    views: Mutex<Views>,
    /// What browsers do with the header that confines frames.
    browsers: Mutex<Vec<Measured>>,
    backends: OnceLock<Backends>,
    /// For work that files and plugins cause on threads without one.
    runtime: OnceLock<tokio::runtime::Handle>,
    /// Pages in browsers that follow this host.
    pages: watch::Sender<usize>,
    /// Apps that have to be mounted, each with the calls that wait for it.
    needed: Mutex<HashMap<(PluginId, AppId), Vec<String>>>,
    /// What apps tried and may not, told already.
    wished: Mutex<HashSet<(String, &'static str)>>,
    /// Which programs use the shared modules, and where those are.
    /// One wish for a folder at a time.
    wishing: tokio::sync::Mutex<()>,
}

impl AppDesk {
    fn needed(&self) -> MutexGuard<'_, HashMap<(PluginId, AppId), Vec<String>>> {
        self.needed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wished(&self) -> MutexGuard<'_, HashSet<(String, &'static str)>> {
        self.wished.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn revisions(&self) -> MutexGuard<'_, Revisions> {
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
            self.backend_touched(dir);
        }
    }
}
