//! Plugin folders: finding them, reading them, trusting them, installing and removing them
//! (`docs/protocols/plugin-manifest.md`).
//!
//! This crate is the only one that touches plugin directories. It blocks on disk and uses no async
//! runtime; callers put it on a blocking thread. It never opens the database (trust goes through
//! [`TrustStore`]) and never starts a process.

mod digest;
mod layout;
pub mod listing;
mod load;
mod names_file;
mod registry;
mod scan;
mod stamp;
mod tree;
mod trust;
mod watch;

pub use digest::{Digest, Inventory, TreeFile, digest_of, inventory};
pub use layout::{Origin, Roots, UiApps};
pub use load::{Icon, Loaded, LoadedApp, LoadedPlugin, load};
pub use registry::{AppNames, ExternalNames, Plugin, Refresh, Registry, Snapshot, TrustError};
pub use trust::{
    Change, FileChange, MemoryTrust, Trust, TrustRecord, TrustState, TrustStore, TrustStoreError,
    TrustedFile, changes,
};
pub use watch::Watcher;
