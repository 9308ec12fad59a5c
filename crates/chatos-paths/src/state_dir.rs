//! The state directory: where it is, what lies in it, and taking possession of it at start.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::error::PathError;
use crate::filesystem::{FileSystemKind, file_system_kind};

/// Everything outside this crate that decides the locations. `chatos-host` fills it from flags and
/// environment, so that tests and other callers need no process-wide state.
#[derive(Debug, Clone, Default)]
pub struct PathInputs {
    /// `--state-dir`.
    pub state_dir_flag: Option<PathBuf>,
    /// `CHATOS_STATE_DIR`.
    pub state_dir_env: Option<PathBuf>,
    /// `CHATOS_STATE_ROOT`.
    pub state_root_env: Option<PathBuf>,
    /// `MODEL_CLI_HOST_APP`.
    pub host_app_env: Option<String>,
    /// `HOME`.
    pub home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`.
    pub config_home: Option<PathBuf>,
    /// `XDG_CACHE_HOME`.
    pub cache_home: Option<PathBuf>,
    /// The directory the process was started in; relative `--state-dir` is taken from here.
    pub current_dir: PathBuf,
}

/// The resolved places (plugins §1.1, state §1). Nothing has been created yet.
#[derive(Debug, Clone)]
pub struct Locations {
    /// The state directory as asked for.
    pub state_dir: PathBuf,
    /// `<stateRoot>`; absent when the state directory was named explicitly.
    pub state_root: Option<PathBuf>,
    /// `<legacyStateRoot>/<hostApp>`; absent when the state directory was named explicitly.
    pub legacy_dir: Option<PathBuf>,
    /// The host application's name, `chatos` unless overridden.
    pub host_app: String,
    /// Where the master key is kept; never inside the state directory.
    pub key_dir: PathBuf,
    /// May be deleted at any time.
    pub cache_dir: PathBuf,
}

impl Locations {
    /// Decides every place from the inputs, refusing what cannot be meant.
    pub fn resolve(inputs: &PathInputs) -> Result<Self, PathError> {
        let host_app = match inputs.host_app_env.as_deref().map(str::trim) {
            None | Some("") => "chatos".to_owned(),
            Some(value) if is_host_app(value) => value.to_owned(),
            Some(value) => return Err(PathError::HostApp { value: value.to_owned() }),
        };
        let home = |what| -> Result<&Path, PathError> {
            match inputs.home.as_deref() {
                Some(path) if path.is_absolute() => Ok(path),
                _ => Err(PathError::NoHome { what }),
            }
        };
        let explicit = inputs.state_dir_flag.as_ref().or(inputs.state_dir_env.as_ref());
        let (state_dir, state_root, legacy_dir) = if let Some(path) = explicit {
            (inputs.current_dir.join(path), None, None)
        } else {
            let root = match &inputs.state_root_env {
                Some(root) if root.is_absolute() => root.clone(),
                Some(root) => {
                    let value = root.display().to_string();
                    return Err(PathError::NotAbsolute { name: "CHATOS_STATE_ROOT", value });
                }
                None => home("state directory")?.join(".chatos"),
            };
            let legacy = match home("older state directory") {
                Ok(home) => Some(home.join(".deepseek_cli").join(&host_app)),
                Err(_) => None, // CHATOS_STATE_ROOT without HOME: there is no older place to look at.
            };
            (root.join(&host_app), Some(root), legacy)
        };
        let below = |base: &Option<PathBuf>, fallback: &str, what| -> Result<PathBuf, PathError> {
            match base {
                Some(path) if path.is_absolute() => Ok(path.join("chatos")),
                _ => Ok(home(what)?.join(fallback).join("chatos")),
            }
        };
        let key_dir = below(&inputs.config_home, ".config", "key directory")?.join("keys");
        let cache_dir = below(&inputs.cache_home, ".cache", "cache directory")
            .unwrap_or_else(|_| state_dir.join("cache"));
        Ok(Self { state_dir, state_root, legacy_dir, host_app, key_dir, cache_dir })
    }
}

/// The rule of plugins §2.3, because the name becomes a directory and an environment value.
fn is_host_app(value: &str) -> bool {
    let bytes = value.as_bytes();
    (1..=128).contains(&bytes.len())
        && bytes[0].is_ascii_alphanumeric()
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
        && !value.contains("..")
        && !value.ends_with('.')
}

/// One thing that was changed or noticed while preparing a directory; shown once, never fatal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// Stable code, e.g. `mode_narrowed`.
    pub code: &'static str,
    /// The path it is about.
    pub path: PathBuf,
}

/// The state directory, existing, ours, writable, as its real path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateDir {
    path: PathBuf,
}

impl StateDir {
    /// Creates the directory where needed and takes possession of it (state §2, security T21).
    pub fn prepare(path: &Path, allow_network: bool) -> Result<(Self, Vec<Notice>), PathError> {
        let fail = |action, path: &Path, source| PathError::Io { action, path: path.to_owned(), source };
        match fs::metadata(path) {
            Ok(meta) if meta.is_dir() => {}
            Ok(_) => return Err(PathError::NotADirectory { path: path.to_owned() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::DirBuilder::new()
                    .recursive(true)
                    .mode(0o700)
                    .create(path)
                    .map_err(|e| fail("create the state directory", path, e))?;
            }
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                return Err(PathError::NotADirectory { path: path.to_owned() });
            }
            Err(error) => return Err(fail("open the state directory", path, error)),
        }
        let real = fs::canonicalize(path).map_err(|e| fail("open the state directory", path, e))?;
        if let FileSystemKind::Network(kind) =
            file_system_kind(&real).map_err(|e| fail("examine the state directory", &real, e))?
            && !allow_network
        {
            return Err(PathError::NetworkFileSystem { path: real, kind });
        }
        let mut notices = Vec::new();
        let meta = fs::metadata(&real).map_err(|e| fail("examine the state directory", &real, e))?;
        let us = rustix::process::geteuid().as_raw();
        if meta.uid() != us {
            return Err(PathError::ForeignOwner { path: real, owner: meta.uid(), us });
        }
        if meta.permissions().mode() & 0o077 != 0 {
            fs::set_permissions(&real, fs::Permissions::from_mode(0o700))
                .map_err(|e| fail("narrow the mode of the state directory", &real, e))?;
            notices.push(Notice { code: "mode_narrowed", path: real.clone() });
        }
        let dir = Self { path: real };
        dir.probe_writable()?;
        Ok((dir, notices))
    }

    /// Uses an existing directory without creating or changing anything.
    pub fn existing(path: &Path) -> Result<Self, PathError> {
        let real = fs::canonicalize(path).map_err(|source| PathError::Io {
            action: "open the state directory",
            path: path.to_owned(),
            source,
        })?;
        Ok(Self { path: real })
    }

    /// Asks the file system, not the mode bits: root passes any mode, nobody passes a read-only mount.
    fn probe_writable(&self) -> Result<(), PathError> {
        let probe = self.path.join(format!(".probe-{}", std::process::id()));
        let made = fs::OpenOptions::new().write(true).create(true).truncate(true).open(&probe);
        let done = made.and_then(|_| match fs::remove_file(&probe) {
            // A host that tidies up after killed ones may have been quicker.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done,
        });
        done.map_err(|source| PathError::Io {
            action: "write to the state directory",
            path: self.path.clone(),
            source,
        })
    }

    /// The directory itself, a real path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// `state.db`, opened by `chatos-store` alone.
    pub fn database(&self) -> PathBuf {
        self.path.join("state.db")
    }

    /// Held for the life of a host.
    pub fn host_lock(&self) -> PathBuf {
        self.path.join("host.lock")
    }

    /// Address and token of the running host, mode 0600.
    pub fn host_json(&self) -> PathBuf {
        self.path.join("host.json")
    }

    /// The prompt log.
    pub fn prompt_log(&self) -> PathBuf {
        self.path.join("ui-prompts.jsonl")
    }

    /// Plugins a person installed.
    pub fn user_plugins(&self) -> PathBuf {
        self.path.join("ui_apps").join("plugins")
    }

    /// Data directories of plugins.
    pub fn plugin_data(&self) -> PathBuf {
        self.path.join("ui_apps").join("data")
    }

    /// Installs in progress.
    pub fn plugin_staging(&self) -> PathBuf {
        self.path.join("ui_apps").join(".staging")
    }

    /// Captured output of plugin processes.
    pub fn plugin_logs(&self) -> PathBuf {
        self.path.join("logs").join("plugins")
    }

    /// Hash-chained audit records.
    pub fn audit(&self) -> PathBuf {
        self.path.join("audit")
    }

    /// Automatic database copies.
    pub fn backups(&self) -> PathBuf {
        self.path.join("backups")
    }

    /// Content-addressed blobs.
    pub fn blobs(&self) -> PathBuf {
        self.path.join("blobs")
    }

    /// Import reports.
    pub fn import(&self) -> PathBuf {
        self.path.join("import")
    }

    /// The host's own log.
    pub fn host_log(&self) -> PathBuf {
        self.path.join("host-log.jsonl")
    }

    /// Files rewritten at every start: backend runner, child records.
    pub fn runtime(&self) -> PathBuf {
        self.path.join("runtime")
    }

    /// Locks of those who renew a sign-in to a server, one per server.
    pub fn sign_in_locks(&self) -> PathBuf {
        self.runtime().join("sign-ins")
    }

    /// Creates a sub-directory with mode 0700 and returns it.
    pub fn ensure(&self, path: PathBuf) -> Result<PathBuf, PathError> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&path).map_err(|source| PathError::Io {
            action: "create a directory",
            path: path.clone(),
            source,
        })?;
        Ok(path)
    }
}

#[cfg(test)]
mod tests;
