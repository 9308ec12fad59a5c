//! `ui_apps/installed.json`: what was installed, with the digest it had then. Only a folder that is still
//! exactly that is ever deleted; everything else in the user root was put there by somebody else.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::os::fd::AsFd;

use chatos_manifest::PluginId;
use serde::{Deserialize, Serialize};

use crate::digest::{self, Digest};
use crate::fs::{Fs, exists, open_path, write_all};
use crate::layout::UiApps;

const FILE: &str = "installed.json";
const TEMPORARY: &str = "installed.tmp";

/// Digests by plugin.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Installs {
    version: u32,
    plugins: BTreeMap<String, String>,
}

impl Installs {
    /// What is written down. A file that cannot be read says nothing, and then nothing is deleted.
    pub(super) fn read(ui_apps: &UiApps) -> Self {
        let read = std::fs::read(ui_apps.installed_file());
        let read = read.and_then(|bytes| serde_json::from_slice(&bytes).map_err(io::Error::from));
        read.unwrap_or_else(|error| {
            if error.kind() != io::ErrorKind::NotFound {
                tracing::warn!(%error, "the record of installed plugins cannot be read");
            }
            Self::default()
        })
    }

    /// Whether a directory of the user root is what was installed as `id`, byte for byte.
    pub(super) fn is(&self, ui_apps: &UiApps, id: &PluginId, name: &OsStr) -> bool {
        let Some(then) = self.plugins.get(id.as_str()).filter(|_| name == OsStr::new(id.as_str())) else {
            return false;
        };
        let now = open_path(&ui_apps.plugins().join(name)).and_then(|dir| digest::digest_of(dir.as_fd()));
        now.is_ok_and(|now| now.as_str() == then)
    }

    pub(super) fn set(&mut self, id: &PluginId, digest: &str) {
        self.plugins.insert(id.to_string(), digest.to_owned());
    }

    pub(super) fn remove(&mut self, id: &PluginId) {
        self.plugins.remove(id.as_str());
    }

    /// Replaces the file.
    pub(super) fn write(&mut self, fs: &dyn Fs, ui_apps: &UiApps) -> io::Result<()> {
        self.version = 1;
        let bytes = serde_json::to_vec_pretty(self)?;
        let dir = open_path(ui_apps.root())?;
        let dir = dir.as_fd();
        if exists(dir, TEMPORARY.as_ref())? {
            fs.unlink(dir, TEMPORARY.as_ref())?;
        }
        let file = fs.create(dir, TEMPORARY.as_ref(), 0o600)?;
        write_all(fs, file.as_fd(), &bytes)?;
        fs.sync(file.as_fd())?;
        fs.replace(dir, TEMPORARY.as_ref(), FILE.as_ref())?;
        fs.sync(dir)
    }
}

/// Writes down what is in place now; without that the folders count as somebody else's and are kept.
pub(super) fn note<'a>(
    fs: &dyn Fs,
    ui_apps: &UiApps,
    plugins: impl IntoIterator<Item = (&'a PluginId, Option<&'a str>)>,
) {
    let mut installs = Installs::read(ui_apps);
    for (id, digest) in plugins {
        match digest {
            Some(digest) => installs.set(id, digest),
            None => installs.remove(id),
        }
    }
    if let Err(error) = installs.write(fs, ui_apps) {
        tracing::warn!(%error, "what was installed is not written down; its folder is kept when it is replaced");
    }
}

/// The digest as it is written down.
pub(super) fn text(digest: &Digest) -> String {
    digest.as_str().to_owned()
}
