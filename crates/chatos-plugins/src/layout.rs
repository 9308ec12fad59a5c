//! Where plugins live: the roots that are scanned and the installer's own places below the state
//! directory (plugins §1.1).

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use chatos_manifest::PluginId;
use serde::Serialize;

/// Where a plugin comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Shipped with the binary.
    Builtin,
    /// Installed or placed by the person.
    User,
    /// A directory given to `chatos dev`.
    Dev,
}

impl Origin {
    /// As in listings.
    pub fn as_str(self) -> &'static str {
        match self {
            Origin::Builtin => "builtin",
            Origin::User => "user",
            Origin::Dev => "dev",
        }
    }
}

/// The directories of one host, in the order they are scanned.
#[derive(Debug, Clone)]
pub struct Roots {
    /// Holds one directory per built-in plugin; read-only.
    pub builtin: Option<PathBuf>,
    /// The installer's places.
    pub user: UiApps,
    /// Plugin directories themselves, for this process only.
    pub dev: Vec<PathBuf>,
}

/// `<stateDir>/ui_apps`.
#[derive(Debug, Clone)]
pub struct UiApps {
    root: PathBuf,
}

impl UiApps {
    /// The places below a state directory. Nothing is created.
    pub fn of_state_dir(state_dir: &Path) -> Self {
        Self { root: state_dir.join("ui_apps") }
    }

    /// `ui_apps` itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The user root: one directory per installed plugin.
    pub fn plugins(&self) -> PathBuf {
        self.root.join("plugins")
    }

    /// Parent of all data directories.
    pub fn data(&self) -> PathBuf {
        self.root.join("data")
    }

    /// The data directory of one plugin; created before its first process, never by a scan.
    pub fn data_of(&self, id: &PluginId) -> PathBuf {
        self.data().join(id.as_str())
    }

    /// Installs in progress.
    pub fn staging(&self) -> PathBuf {
        self.root.join(".staging")
    }

    /// Allocated names.
    pub fn names_file(&self) -> PathBuf {
        self.root.join("names.json")
    }

    /// What was installed, with the digest it had then.
    pub fn installed_file(&self) -> PathBuf {
        self.root.join("installed.json")
    }

    /// Folders that stood in the way of an install or a removal and were not installed: one directory per
    /// time.
    pub fn kept(&self) -> PathBuf {
        self.root.join("kept")
    }

    /// Held while something is installed or removed.
    pub fn lock_file(&self) -> PathBuf {
        self.root.join("install.lock")
    }

    /// Creates the directories an install needs, mode 0700.
    pub fn prepare(&self) -> io::Result<()> {
        for dir in [self.root.clone(), self.plugins(), self.data(), self.staging()] {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        }
        Ok(())
    }
}
