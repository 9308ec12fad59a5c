//! The wiring: opens every resource of one state directory in the right order and closes it again.
//!
//! It holds no rules of its own: those live in the contract and resource crates below. The edges (HTTP, command
//! line) reach the product through [`Host`] and import the types they need from the crates that define them.

mod announced;
mod app_host;
mod base64;
mod changes;
mod children;
mod doctor;
mod host;
mod host_log;
mod modes;
mod offered;
mod plugins;
mod scratch;
mod tasks;
mod upkeep;
mod visit;

pub use announced::TokenKeeper;
pub use base64::{decode_base64, encode_base64};
pub use changes::{ChangeDetail, UndoOrder, UndoOutcome};
pub use children::{LAUNCH_COMMAND, WARDEN_COMMAND};
pub use doctor::failed_to_open;
pub use host::{EmbeddedFiles, Host, HostConfig};
pub use host_log::log_to_stderr;
pub use visit::{Visit, visit_inbox};

/// The version of ChatOS, the one number every surface shows.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
