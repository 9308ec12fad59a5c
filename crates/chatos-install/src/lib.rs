//! This program as it is installed on a machine: which release it is, getting a newer one, and running as a service.
//!
//! Nothing here happens by itself: a person asks for each of it. The state of ChatOS is not touched; what a newer
//! version does with it at its first start is for the store.

mod fetch;
mod release;
mod service;
mod signature;
mod swap;
mod upgrade;

pub use release::Version;
pub use service::{Service, ServiceDone};
pub use signature::PublicKey;
pub use swap::{halt_at, undo};
pub use upgrade::{UpgradeOrder, UpgradeReport, upgrade};

/// Where releases of this program are, when it was built for one.
pub const RELEASES: Option<&str> = option_env!("CHATOS_RELEASE_URL");
/// Whose signature they have.
pub const PUBLIC_KEY: Option<&str> = option_env!("CHATOS_RELEASE_PUBLIC_KEY");

/// What releases call the system this program was built for.
pub fn system() -> String {
    let system = if cfg!(target_os = "macos") { "macos" } else { std::env::consts::OS };
    format!("{}-{system}", std::env::consts::ARCH)
}
