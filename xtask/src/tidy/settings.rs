//! `xtask/tidy.toml`: the exceptions, each with its reason, and the numbers that only fall.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use serde::Deserialize;

use crate::workspace::Workspace;

pub(crate) const FILE: &str = "xtask/tidy.toml";

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    /// Path → why this file may be longer than the limit (a table, a dictionary, a generated file).
    #[serde(default)]
    pub(crate) long: BTreeMap<String, String>,
    /// Crate → lines of product code it may have until it is split. Only falls.
    #[serde(default)]
    pub(crate) large: BTreeMap<String, usize>,
    /// Crate → files its largest circle may have until it is cut. Only falls.
    #[serde(default)]
    pub(crate) circles: BTreeMap<String, usize>,
    /// A habit that is being given up → how often it is still found. Only falls.
    #[serde(default)]
    pub(crate) habits: BTreeMap<String, usize>,
}

impl Settings {
    pub(crate) fn load(workspace: &Workspace) -> Result<Self> {
        if !workspace.has(FILE) {
            return Ok(Self::default());
        }
        toml::from_str(&workspace.read(FILE)?).with_context(|| format!("cannot parse `{FILE}`"))
    }
}
