//! JavaScript modules of plugins: what they import, found without running them, and the pinned copies of a few
//! packages that ChatOS lends to plugins whose authors did not bundle them (decision 0028).
//!
//! It starts nothing and knows no plugin: callers give it a folder and an entry, and get what to start Node with.

mod needs;
mod scan;
mod shared;

pub use needs::{Missing, Needs, needs};
pub use scan::{ModuleFacts, scan_module};
pub use shared::{LendError, SharedPackage, lend, shared_packages, tidy_up};
