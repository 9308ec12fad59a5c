//! The one reading of the process environment, by the command line at its start; everybody else gets values
//! passed in.

use std::collections::BTreeMap;
use std::path::PathBuf;

use chatos_tool::Lang;

use crate::error::PathError;
use crate::state_dir::{Locations, PathInputs};

/// What the environment says, frozen.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    variables: BTreeMap<String, String>,
    current_dir: PathBuf,
}

impl Environment {
    /// Reads the environment of this process. Values that are not UTF-8 are treated as absent.
    pub fn of_process() -> Self {
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
        Lang::of_variables(|name| self.get(name))
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

    /// A person sits in front of a screen of this machine.
    pub fn has_display(&self) -> bool {
        cfg!(target_os = "macos") || self.get("DISPLAY").is_some() || self.get("WAYLAND_DISPLAY").is_some()
    }
}
