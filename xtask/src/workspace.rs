//! The checkout: where it is, which files it holds, what cargo says about it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::Deserialize;

use crate::process;

/// Directories that hold nothing a person wrote; skipped when there is no git to ask.
const NOT_OURS: [&str; 7] = [".git", ".tools", "target", "node_modules", "dist", "test-results", "artifacts"];

/// A checkout of the project, or (in tests) something shaped like one.
pub(crate) struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// The checkout this tool was built from.
    pub(crate) fn find() -> Result<Self> {
        let manifest_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = manifest_dir.parent().context("xtask has no parent directory")?;
        Self::at(root)
    }

    /// A checkout at a given place.
    pub(crate) fn at(root: &Path) -> Result<Self> {
        let root =
            root.canonicalize().with_context(|| format!("cannot open workspace: {}", root.display()))?;
        Ok(Self { root })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    pub(crate) fn has(&self, relative: &str) -> bool {
        self.path(relative).exists()
    }

    pub(crate) fn read(&self, relative: &str) -> Result<String> {
        fs::read_to_string(self.path(relative)).with_context(|| format!("cannot read `{relative}`"))
    }

    /// Every file of the project, relative and sorted: tracked ones and new ones git does not ignore.
    pub(crate) fn files(&self) -> Result<Vec<String>> {
        let mut files =
            if self.root.join(".git").exists() { self.files_from_git()? } else { self.files_by_walking()? };
        files.sort();
        files.dedup();
        Ok(files)
    }

    fn files_from_git(&self) -> Result<Vec<String>> {
        let mut git = process::command("git", &self.root);
        git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
        let listing = process::capture(&mut git)?;
        let names = listing.split('\0').filter(|name| !name.is_empty());
        // A deleted file stays listed until the deletion is staged.
        Ok(names.filter(|name| self.path(name).is_file()).map(String::from).collect())
    }

    fn files_by_walking(&self) -> Result<Vec<String>> {
        let mut files = Vec::new();
        let mut pending = vec![self.root.clone()];
        while let Some(dir) = pending.pop() {
            for entry in
                fs::read_dir(&dir).with_context(|| format!("cannot list directory: {}", dir.display()))?
            {
                let entry = entry?;
                let kind = entry.file_type()?;
                let name = entry.file_name();
                if kind.is_dir() {
                    if !NOT_OURS.iter().any(|skipped| name == *skipped) {
                        pending.push(entry.path());
                    }
                } else if kind.is_file() {
                    let path = entry.path();
                    let relative = path.strip_prefix(&self.root)?;
                    files.push(relative.to_string_lossy().into_owned());
                }
            }
        }
        Ok(files)
    }

    /// What `cargo metadata` says about our own crates; needs no network and no lock file.
    pub(crate) fn metadata(&self) -> Result<Metadata> {
        let mut cargo = process::cargo(&self.root);
        cargo.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]);
        let text = process::capture(&mut cargo)?;
        serde_json::from_str(&text).context("cannot read the output of `cargo metadata`")
    }
}

/// The part of `cargo metadata` this tool looks at.
#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
    pub(crate) target_directory: PathBuf,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) manifest_path: PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) kind: Option<DependencyKind>,
}

/// A dependency without a kind is a normal one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DependencyKind {
    Dev,
    Build,
}

/// The ending of a file's name, without the dot; empty when it has none.
pub(crate) fn extension(file: &str) -> &str {
    Path::new(file).extension().and_then(|ending| ending.to_str()).unwrap_or_default()
}
