//! Where ChatOS keeps its state, and proof that a path stays where it may.
//!
//! This crate knows directories and files as places, never their content: it resolves the state
//! directory from flags and environment (given to it, it reads none itself), moves the older
//! location once, takes advisory locks, replaces files atomically, and resolves untrusted relative
//! paths beneath a directory in the kernel. It also knows which process holds a state directory and what the
//! environment of this one says; only the command line has that read.

mod atomic;
mod environment;
mod error;
mod fault;
mod filesystem;
mod halt;
mod inside;
mod instance;
mod legacy;
mod lock;
mod process;
mod state_dir;

pub use atomic::{replace_file, sync_dir};
pub use environment::Environment;
pub use error::PathError;
pub use filesystem::{FileSystemKind, file_system_kind, free_bytes};
pub use halt::{halt_around, halt_at};
pub use inside::{Beneath, Inside, InsideError};
pub use instance::{Announcement, read_announcement, running_host, take_lock};
pub use legacy::{LegacyOutcome, LegacyWarning, ensure_link, move_legacy};
pub use lock::{FileLock, LockError};
pub use process::{port_owner, raise_file_limit, resident_bytes};
pub use state_dir::{Locations, Notice, PathInputs, StateDir};
