//! The one reading of the process environment, at start; everybody else gets values passed in.

use std::collections::BTreeMap;
use std::path::PathBuf;

use chatos_paths::{Locations, PathError, PathInputs};
use chatos_store::KeyPlace;
use chatos_tool::Lang;

/// What the environment says, frozen.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    variables: BTreeMap<String, String>,
    current_dir: PathBuf,
}

impl Environment {
    /// Reads the environment of this process. Values that are not UTF-8 are treated as absent.
    pub fn read() -> Self {
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        // A deleted working directory is no reason to fail; relative paths then start at the root.
        let current_dir = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        Self { variables, current_dir }
    }

    /// An environment made for a test or another embedding.
    pub fn with(variables: BTreeMap<String, String>, current_dir: PathBuf) -> Self {
        Self { variables, current_dir }
    }

    /// A variable that is set and not blank.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.trim().is_empty())
    }

    /// The directory the process was started in.
    pub fn current_dir(&self) -> &std::path::Path {
        &self.current_dir
    }

    /// All variables, for the settings that have environment names.
    pub fn variables(&self) -> &BTreeMap<String, String> {
        &self.variables
    }

    /// The language the environment asks for.
    pub fn lang(&self) -> Lang {
        let named = ["LC_ALL", "LC_MESSAGES", "LANG"].iter().find_map(|name| self.get(name));
        named.map_or(Lang::En, Lang::from_locale)
    }

    /// Resolves every location.
    pub fn locations(&self, state_dir_flag: Option<PathBuf>) -> Result<Locations, PathError> {
        let path = |name| self.get(name).map(PathBuf::from);
        Locations::resolve(&PathInputs {
            state_dir_flag,
            state_dir_env: path("CHATOS_STATE_DIR"),
            state_root_env: path("CHATOS_STATE_ROOT"),
            host_app_env: self.get("MODEL_CLI_HOST_APP").map(str::to_owned),
            home: path("HOME"),
            config_home: path("XDG_CONFIG_HOME"),
            cache_home: path("XDG_CACHE_HOME"),
            current_dir: self.current_dir.clone(),
        })
    }

    /// Where the state key is.
    pub fn key_place(&self, places: &Locations) -> KeyPlace {
        KeyPlace {
            dir: places.key_dir.clone(),
            override_file: self.get("CHATOS_MASTER_KEY_FILE").map(PathBuf::from),
            search: self.get("PATH").map(std::ffi::OsString::from),
        }
    }

    /// A person sits in front of a screen of this machine.
    pub fn has_display(&self) -> bool {
        cfg!(target_os = "macos") || self.get("DISPLAY").is_some() || self.get("WAYLAND_DISPLAY").is_some()
    }
}
