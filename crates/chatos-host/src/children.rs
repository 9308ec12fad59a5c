//! How this program starts other people's programs: through itself, watched by itself, written down
//! for the next start (security T12). One for tool servers and backends alike.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use chatos_child::{ChildRecords, Launcher, Spawning, Warden, end_leftovers};
use chatos_paths::StateDir;

/// The program's word for "prepare yourself, then become another program".
pub const LAUNCH_COMMAND: &str = "__child-launch";
/// The program's word for "end what is left when the host is gone".
pub const WARDEN_COMMAND: &str = "__child-warden";
/// This very program, also when its file was replaced by a newer one meanwhile.
const OWN_PROGRAM: &str = "/proc/self/exe";

/// How children of a host are started. Clones are the same.
#[derive(Clone)]
pub(crate) struct Children(Arc<Inner>);

struct Inner {
    /// This program answers to [`LAUNCH_COMMAND`] and [`WARDEN_COMMAND`].
    launches: bool,
    records: ChildRecords,
    spawning: OnceLock<Spawning>,
}

impl Children {
    pub(crate) fn new(launches: bool, dir: &StateDir) -> Self {
        let records = ChildRecords::new(dir.runtime().join("children"));
        Self(Arc::new(Inner { launches, records, spawning: OnceLock::new() }))
    }

    /// How children are started. The first call starts the warden.
    pub(crate) fn spawning(&self) -> Spawning {
        self.0.spawning.get_or_init(|| self.make()).clone()
    }

    fn make(&self) -> Spawning {
        let records = Some(self.0.records.clone());
        // A library under test is another program: it starts children plainly.
        if !self.0.launches {
            return Spawning { launcher: None, records, warden: None };
        }
        let launcher =
            Launcher { program: PathBuf::from(OWN_PROGRAM), arguments: vec![OsString::from(LAUNCH_COMMAND)] };
        let warden = match Warden::start(OWN_PROGRAM.as_ref(), &[OsString::from(WARDEN_COMMAND)]) {
            Ok(warden) => Some(Arc::new(warden)),
            Err(error) => {
                tracing::warn!(%error, "there is no warden; the next start ends what a killed host leaves");
                None
            }
        };
        Spawning { launcher: Some(launcher), records, warden }
    }

    /// This program, where it may be started again for work of its own.
    pub(crate) fn own_program(&self) -> Option<OsString> {
        self.0.launches.then(|| OWN_PROGRAM.into())
    }

    /// Ends what a killed host left; before the first child of this one.
    pub(crate) fn end_leftovers(&self) {
        let ended = end_leftovers(&self.0.records);
        if ended > 0 {
            tracing::info!(ended, "processes of an earlier host were ended");
        }
    }
}
