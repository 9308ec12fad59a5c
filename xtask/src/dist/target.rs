//! The systems a program is made for, and what each is called where packages are named.

use anyhow::{Context as _, Result};

/// One system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Target {
    /// As Rust calls it.
    pub(super) triple: &'static str,
    /// As the files of a release and the install script call it.
    pub(super) name: &'static str,
    /// As zig calls it; `None` where the system's own compiler is used.
    pub(super) zig: Option<&'static str>,
    /// As npm calls system and processor.
    pub(super) npm: (&'static str, &'static str),
    /// As Debian and containers call the processor; `None` where there are neither.
    pub(super) debian: Option<&'static str>,
}

pub(super) const TARGETS: [Target; 4] = [
    Target {
        triple: "x86_64-unknown-linux-musl",
        name: "x86_64-linux",
        zig: Some("x86_64-linux-musl"),
        npm: ("linux", "x64"),
        debian: Some("amd64"),
    },
    Target {
        triple: "aarch64-unknown-linux-musl",
        name: "aarch64-linux",
        zig: Some("aarch64-linux-musl"),
        npm: ("linux", "arm64"),
        debian: Some("arm64"),
    },
    Target {
        triple: "aarch64-apple-darwin",
        name: "aarch64-macos",
        zig: None,
        npm: ("darwin", "arm64"),
        debian: None,
    },
    Target {
        triple: "x86_64-apple-darwin",
        name: "x86_64-macos",
        zig: None,
        npm: ("darwin", "x64"),
        debian: None,
    },
];

impl Target {
    pub(super) fn named(triple: &str) -> Result<Self> {
        let known = || TARGETS.map(|target| target.triple).join(", ");
        let found = TARGETS.into_iter().find(|target| target.triple == triple || target.name == triple);
        found.with_context(|| format!("unknown target `{triple}`; known are {}", known()))
    }

    /// What a release has for the machine this runs on.
    pub(super) fn here() -> Result<Self> {
        let system = if cfg!(target_os = "macos") { "macos" } else { "linux" };
        Self::named(&format!("{}-{system}", std::env::consts::ARCH))
    }
}
