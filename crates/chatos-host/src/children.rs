//! How this program starts other people's programs: through itself, watched by itself, written down
//! for the next start (security T12). One for tool servers and backends alike.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use chatos_child::{ChildRecords, Launcher, Spawning, Warden, end_leftovers};

use crate::host::Host;

/// The program's word for "prepare yourself, then become another program".
pub const LAUNCH_COMMAND: &str = "__child-launch";
/// The program's word for "end what is left when the host is gone".
pub const WARDEN_COMMAND: &str = "__child-warden";
/// This very program, also when its file was replaced by a newer one meanwhile.
pub(crate) const OWN_PROGRAM: &str = "/proc/self/exe";

impl Host {
    /// How children are started. The first call starts the warden.
    pub fn spawning(&self) -> Spawning {
        self.spawning_cell().get_or_init(|| self.make_spawning()).clone()
    }

    fn make_spawning(&self) -> Spawning {
        // A library under test is another program: it starts children plainly.
        if !self.launches() {
            return Spawning { launcher: None, records: Some(self.child_records()), warden: None };
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
        Spawning { launcher: Some(launcher), records: Some(self.child_records()), warden }
    }

    fn child_records(&self) -> ChildRecords {
        ChildRecords::new(self.dir().runtime().join("children"))
    }

    /// Ends what a killed host left; before the first child of this one.
    pub(crate) fn end_leftover_children(&self) {
        let ended = end_leftovers(&self.child_records());
        if ended > 0 {
            tracing::info!(ended, "processes of an earlier host were ended");
        }
    }
}
