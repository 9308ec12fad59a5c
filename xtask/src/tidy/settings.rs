//! `xtask/tidy.toml`: the exceptions, each with its reason.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use serde::Deserialize;

use crate::workspace::Workspace;

const FILE: &str = "xtask/tidy.toml";

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    /// Path → why this file may be longer than the limit (a table, a dictionary, a generated file).
    #[serde(default)]
    pub(crate) long: BTreeMap<String, String>,
}

impl Settings {
    pub(crate) fn load(workspace: &Workspace) -> Result<Self> {
        if !workspace.has(FILE) {
            return Ok(Self::default());
        }
        toml::from_str(&workspace.read(FILE)?).with_context(|| format!("cannot parse `{FILE}`"))
    }
}
