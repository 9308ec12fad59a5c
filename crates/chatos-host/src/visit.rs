//! The queue without a running host (ui-prompts §12.3): a command that writes makes the state first.

use std::path::PathBuf;

use chatos_inbox::Questions;
use chatos_paths::Environment;
use chatos_tool::Fault;

use crate::host::{Host, HostConfig};

/// What the visitor wants to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visit {
    /// Look; creates nothing.
    Read,
    /// Ask, answer, archive: the state is made when it is missing.
    Write,
}

/// The queue of a state directory that nobody serves. `state_dir` as given on the command line.
pub fn visit_inbox(
    environment: &Environment,
    state_dir: Option<PathBuf>,
    visit: Visit,
) -> Result<Questions, Fault> {
    let places = environment.locations(state_dir.clone())?;
    if !places.state_dir.join("state.db").exists() {
        match visit {
            Visit::Read => return chatos_inbox::unrecorded(&places.state_dir),
            // Makes directory, database and key, and releases them again.
            Visit::Write => {
                Host::open(HostConfig { state_dir, ..HostConfig::new(environment.clone()) })?.close();
            }
        }
    }
    chatos_inbox::recorded(environment, &places)
}
