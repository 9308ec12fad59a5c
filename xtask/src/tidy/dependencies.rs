//! Dependencies: each has a reason, and each is used.
//!
//! "Used" is a search for the crate's name in the sources of the crate that declares it: cheap, no build, and
//! right as long as nobody renames a dependency.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};

use crate::tidy::finding::Finding;
use crate::workspace::{Metadata, Package, Workspace, extension};

const ROOT: &str = "Cargo.toml";

pub(crate) fn check(workspace: &Workspace, metadata: &Metadata, files: &[String]) -> Result<Vec<Finding>> {
    let declared = declared(&workspace.read(ROOT)?);
    let mut findings = missing_reasons(&declared);
    let used: BTreeSet<&str> =
        metadata.packages.iter().flat_map(|p| &p.dependencies).map(|d| d.name.as_str()).collect();
    for entry in declared.iter().filter(|entry| !entry.ours && !used.contains(entry.name.as_str())) {
        findings.push(
            Finding::warning("dependencies", ROOT, format!("no crate uses `{}`", entry.name))
                .line(entry.line),
        );
    }
    for package in &metadata.packages {
        findings.extend(unused(workspace, package, files)?);
    }
    Ok(findings)
}

/// One line of `[workspace.dependencies]`.
struct Entry {
    name: String,
    line: usize,
    ours: bool,
    has_reason: bool,
}

fn declared(manifest: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut inside = false;
    for (index, line) in manifest.lines().enumerate() {
        if line.starts_with('[') {
            inside = line.trim() == "[workspace.dependencies]";
            continue;
        }
        if !inside || line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let has_reason = comment(line).is_some_and(|text| text.trim().len() > 2);
        let key = line.split('=').next().unwrap_or_default().trim();
        let is_entry = line.contains('=') && !line.starts_with([' ', '\t', ']', '}']);
        if is_entry {
            entries.push(Entry {
                name: key.trim_matches('"').to_owned(),
                line: index + 1,
                ours: line.contains("path ="),
                has_reason,
            });
        } else if let Some(last) = entries.last_mut() {
            // A value over several lines may carry its reason on any of them.
            last.has_reason |= has_reason;
        }
    }
    entries
}

/// The text after a `#` that is not inside a string.
fn comment(line: &str) -> Option<&str> {
    let mut quoted = false;
    for (at, c) in line.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '#' if !quoted => return Some(&line[at + 1..]),
            _ => {}
        }
    }
    None
}

fn missing_reasons(declared: &[Entry]) -> Vec<Finding> {
    let unexplained = declared.iter().filter(|entry| !entry.ours && !entry.has_reason);
    unexplained
        .map(|entry| {
            Finding::error("dependencies", ROOT, format!("`{}` has no reason", entry.name))
                .line(entry.line)
                .hint("end the line with `# what we use it for`")
        })
        .collect()
}

fn unused(workspace: &Workspace, package: &Package, files: &[String]) -> Result<Vec<Finding>> {
    let dir = package.manifest_path.parent().context("a manifest has a directory")?;
    let Ok(relative) = dir.strip_prefix(workspace.root()) else {
        return Ok(Vec::new());
    };
    let prefix = format!("{}/", relative.display());
    let mut sources = String::new();
    for file in files.iter().filter(|file| file.starts_with(&prefix) && extension(file) == "rs") {
        sources.push_str(&workspace.read(file)?);
    }
    let names: BTreeSet<&str> = package.dependencies.iter().map(|d| d.name.as_str()).collect();
    let unused = names.into_iter().filter(|name| !mentions(&sources, &name.replace('-', "_")));
    Ok(unused
        .map(|name| {
            Finding::error("dependencies", format!("{prefix}Cargo.toml"), format!("`{name}` is not used"))
                .hint("remove it from the manifest")
        })
        .collect())
}

/// Whether `name` occurs as a whole word.
fn mentions(sources: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    sources.match_indices(name).any(|(at, _)| {
        let before = sources[..at].chars().next_back();
        let after = sources[at + name.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reasons(manifest: &str) -> Vec<String> {
        missing_reasons(&declared(manifest)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_line_needs_a_reason_of_its_own() {
        let manifest = "[workspace.dependencies]\n\
            ours = { path = \"crates/ours\" }\n\
            a = \"1\" # for the letter a\n\
            b = \"1\"\n\
            c = { version = \"1#\", features = [\"x\"] }\n\
            d = \"1\" #\n\
            [profile.dev]\n\
            e = \"1\"\n";
        let found = reasons(manifest);
        assert_eq!(found.len(), 3);
        assert!(found[0].starts_with("error[dependencies] Cargo.toml:4: `b` has no reason"));
        assert!(found[1].starts_with("error[dependencies] Cargo.toml:5: `c` has no reason"));
        assert!(found[2].starts_with("error[dependencies] Cargo.toml:6: `d` has no reason"));
    }

    #[test]
    fn a_reason_may_stand_on_any_line_of_a_long_value() {
        let manifest =
            "[workspace.dependencies]\na = { version = \"1\", features = [\n  \"x\", # needed for x\n] }\n";
        assert_eq!(reasons(manifest), Vec::<String>::new());
    }

    #[test]
    fn a_name_counts_only_as_a_whole_word() {
        assert!(mentions("use serde::Serialize;", "serde"));
        assert!(!mentions("use serde_json::Value;", "serde"));
        assert!(!mentions("let myserde = 1;", "serde"));
    }
}
