//! What confines a command: the operating system's boundary, how much of it there is here, and what a
//! call may touch (servers §3.1). Looking at the text of a command is no part of it.

#[cfg(target_os = "linux")]
mod calls;
mod grants;
#[cfg(target_os = "linux")]
mod paths;
mod toolchain;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) use grants::{Places, Programs, Why, boundary, grants, home_of};
pub use toolchain::Pruned;
pub use toolchain::prune_caches;
pub(super) use toolchain::{Toolchains, note_use};

/// How much the system confines a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Not at all: the person's approval is the boundary.
    None,
    /// Files, but truncation outside the granted paths or system calls are not covered.
    Fs,
    /// Files and system calls.
    Full,
}

impl Level {
    /// The word in results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Fs => "fs",
            Self::Full => "full",
        }
    }
}

/// What the kernel offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kernel {
    /// The version of Landlock; 0 without.
    pub landlock: u32,
    /// Filters of system calls.
    pub seccomp: bool,
}

impl Kernel {
    /// Nothing.
    pub const NONE: Self = Self { landlock: 0, seccomp: false };

    /// Asks the running kernel, once per process.
    pub fn here() -> Self {
        static FOUND: OnceLock<Kernel> = OnceLock::new();
        *FOUND.get_or_init(probe)
    }

    /// The level this gives.
    pub fn level(self) -> Level {
        match (self.landlock, self.seccomp) {
            (0, _) => Level::None,
            (3.., true) => Level::Full,
            _ => Level::Fs,
        }
    }
}

#[cfg(target_os = "linux")]
fn probe() -> Kernel {
    // Both are tried on a thread that ends at once: what it gave up is gone with it.
    let tried = std::thread::Builder::new()
        .name("shell-probe".to_owned())
        .spawn(|| Kernel { landlock: paths::version(), seccomp: calls::available() });
    tried.ok().and_then(|thread| thread.join().ok()).unwrap_or(Kernel::NONE)
}

#[cfg(not(target_os = "linux"))]
fn probe() -> Kernel {
    Kernel::NONE
}

/// What a command may do, as the supervisor is told. Paths are without links: what is protected is found by
/// comparing them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Boundary {
    /// What is used of the kernel.
    pub(super) kernel: Kernel,
    /// May read and execute beneath these.
    pub(super) read: Vec<PathBuf>,
    /// May read, execute and change beneath these.
    pub(super) write: Vec<PathBuf>,
    /// Device files and the like that may be read and written, nothing made.
    pub(super) devices: Vec<PathBuf>,
    /// Closed places that a person opened by name for reading.
    #[serde(default)]
    pub(super) opened: Vec<PathBuf>,
    /// Made for this program alone: may be changed although it lies beneath a protected place.
    #[serde(default)]
    pub(super) own: Vec<PathBuf>,
    /// State, keys and plugins: nobody opens them.
    #[serde(default)]
    pub(super) never: Vec<PathBuf>,
    /// Closed wherever they lie, those included.
    pub(super) protected: Vec<PathBuf>,
    /// Sockets may be made.
    pub(super) network: bool,
    /// The one port of this machine that may be connected to; nothing where the network is open or closed as a whole.
    #[serde(default)]
    pub(super) proxy: Option<u16>,
}

/// The first version of Landlock that can hold a command to one port.
const PORTS: u32 = 4;

impl Kernel {
    /// Whether commands can be held to single machines.
    pub(super) fn holds_hosts(self) -> bool {
        self.landlock >= PORTS && self.seccomp
    }
}

impl Boundary {
    /// Whether a command may read a path, which is without links.
    pub(super) fn may_read(&self, path: &Path) -> bool {
        let beneath = |places: &[PathBuf]| places.iter().any(|place| path.starts_with(place));
        beneath(&self.opened)
            || beneath(&self.own)
            || !beneath(&self.protected)
                && (beneath(&self.read) || beneath(&self.write) || beneath(&self.devices))
    }

    /// Whether a command may change a path, which is without links.
    pub(super) fn may_write(&self, path: &Path) -> bool {
        let beneath = |places: &[PathBuf]| places.iter().any(|place| path.starts_with(place));
        beneath(&self.own) || !beneath(&self.protected) && (beneath(&self.write) || beneath(&self.devices))
    }

    /// Whether a path belongs to ChatOS itself.
    pub(super) fn never_opens(&self, path: &Path) -> bool {
        self.never.iter().any(|never| path.starts_with(never))
    }
}

/// Draws the boundary around the calling thread and all it starts from now on. For a thread that does
/// nothing else afterwards than starting the command.
#[cfg(target_os = "linux")]
pub(super) fn confine(boundary: &Boundary) -> Result<Level, String> {
    rustix::thread::set_no_new_privs(true).map_err(|errno| format!("no_new_privs: {errno}"))?;
    drop_privileges().map_err(|errno| format!("capabilities: {errno}"))?;
    if boundary.kernel.landlock > 0 {
        paths::restrict(boundary)?;
    }
    if boundary.kernel.seccomp {
        calls::refuse(match (boundary.network, boundary.proxy) {
            (true, _) => calls::Sockets::Open,
            (false, Some(_)) => calls::Sockets::Proxy,
            (false, None) => calls::Sockets::Closed,
        })?;
    }
    Ok(boundary.kernel.level())
}

/// Closes everything to the calling thread and all it starts: no file can be opened, no socket made, no other process
/// reached. For a process that has been given all it needs.
pub fn seal() -> Result<(), String> {
    let nothing = Boundary {
        kernel: Kernel::here(),
        read: Vec::new(),
        write: Vec::new(),
        devices: Vec::new(),
        opened: Vec::new(),
        own: Vec::new(),
        never: Vec::new(),
        protected: Vec::new(),
        network: false,
        proxy: None,
    };
    confine(&nothing).map(drop)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn confine(_: &Boundary) -> Result<Level, String> {
    Ok(Level::None)
}

/// A command of root keeps the rights over files that the boundary grants, nothing that reaches around
/// it: no administration, no raw devices, no other processes.
#[cfg(target_os = "linux")]
fn drop_privileges() -> rustix::io::Result<()> {
    use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
    let dangerous = CapabilitySet::SYS_ADMIN
        | CapabilitySet::SYS_MODULE
        | CapabilitySet::SYS_RAWIO
        | CapabilitySet::SYS_PTRACE
        | CapabilitySet::SYS_BOOT
        | CapabilitySet::SYS_RESOURCE
        | CapabilitySet::SYS_TIME
        | CapabilitySet::SYS_PACCT
        | CapabilitySet::SYSLOG
        | CapabilitySet::MKNOD
        | CapabilitySet::NET_ADMIN
        | CapabilitySet::NET_RAW
        | CapabilitySet::MAC_ADMIN
        | CapabilitySet::MAC_OVERRIDE
        | CapabilitySet::BPF
        | CapabilitySet::PERFMON
        | CapabilitySet::CHECKPOINT_RESTORE;
    let mut sets = capabilities(None)?;
    if !(sets.permitted | sets.effective | sets.inheritable).intersects(dangerous) {
        return Ok(());
    }
    sets.effective -= dangerous;
    sets.permitted -= dangerous;
    sets.inheritable -= dangerous;
    set_capabilities(None, sets)
}
