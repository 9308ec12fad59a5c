//! The file engine of every server that touches files: confinement, reading, searching, changing.
//!
//! It knows nothing of tools, envelopes or languages of people beyond its messages; the servers
//! `project_files`, `code_writer` and `code_maintainer` put their tools on top of it.

pub mod change;
pub mod commit;
pub mod diff;
pub mod digest;
pub mod edit;
pub mod entry;
pub mod error;
pub mod fs;
mod hard_links;
pub mod held;
mod lines;
pub mod list;
mod nearest;
pub mod patch;
pub mod plan;
pub mod read;
pub mod resolve;
pub mod root;
pub mod search;
pub mod stop;
#[cfg(test)]
pub(crate) mod testing;
pub mod text;
pub mod tree;
pub mod walk;

pub use digest::Digest;
pub use error::{ConflictKind, DenyRule, FileError, Resource, Result, Stopped};
pub use resolve::{Last, Place};
pub use root::{Anchor, Protected, Root, SymlinkPolicy};
