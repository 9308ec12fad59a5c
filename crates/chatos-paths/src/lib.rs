//! Where ChatOS keeps its state, and proof that a path stays where it may.
//!
//! This crate knows directories and files as places, never their content: it resolves the state
//! directory from flags and environment (given to it, it reads none itself), moves the older
//! location once, takes advisory locks, replaces files atomically, and resolves untrusted relative
//! paths beneath a directory in the kernel. It imports no other crate of ours.

mod atomic;
mod error;
mod filesystem;
mod inside;
mod legacy;
mod lock;
mod state_dir;

pub use atomic::{replace_file, sync_dir};
pub use error::PathError;
pub use filesystem::{FileSystemKind, file_system_kind, free_bytes};
pub use inside::{Beneath, Inside, InsideError};
pub use legacy::{LegacyOutcome, LegacyWarning, ensure_link, move_legacy};
pub use lock::{FileLock, LockError};
pub use state_dir::{Locations, Notice, PathInputs, StateDir};
