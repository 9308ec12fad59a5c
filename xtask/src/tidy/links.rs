//! Links between our own documents lead somewhere, and so do the paths that the top documents name.
//!
//! A link to a source file may name a test in it (`tests/a.rs#the_test`, `e2e/a.spec.ts#the-title-of-the-test`);
//! a promise in `docs/security.md` whose test was renamed or removed is found this way.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use anyhow::Result;

use crate::tidy::finding::Finding;
use crate::tidy::markdown;
use crate::workspace::{Workspace, extension};

/// Folders whose paths are checked when a top document names them in inline code.
const NAMED: [&str; 7] = ["crates/", "ui/", "xtask/", "docs/", "plugins/", "scripts/", "bench/"];
/// Made by a command, so not in a fresh clone.
const MADE: [&str; 4] = ["node_modules", "test-results", "dist", "target"];

pub(crate) fn check(workspace: &Workspace, files: &[String]) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let mut anchors = BTreeMap::new();
    for file in files.iter().filter(|file| is_document(file)) {
        let document = markdown::parse(&workspace.read(file)?);
        if !file.contains('/') {
            for named in document.code.iter().filter(|code| is_path(&code.target)) {
                if !workspace.has(&named.target) {
                    let message = format!("names `{}`, which does not exist", named.target);
                    findings.push(Finding::error("links", file, message).line(named.line));
                }
            }
        }
        for link in document.links {
            if let Some(problem) = problem(workspace, file, &link.target, &mut anchors)? {
                findings.push(Finding::error("links", file, problem).line(link.line));
            }
        }
    }
    Ok(findings)
}

/// A path of this repository, not an example with a placeholder and not something a command makes.
fn is_path(code: &str) -> bool {
    NAMED.iter().any(|folder| code.starts_with(folder))
        && !code.contains([' ', '<', '*', '{', '…'])
        && !code.split('/').any(|part| MADE.contains(&part))
}

/// Documents are those at the top, those in `docs/`, and every README.
fn is_document(file: &str) -> bool {
    extension(file) == "md"
        && (!file.contains('/') || file.starts_with("docs/") || file.ends_with("/README.md"))
}

fn problem(
    workspace: &Workspace,
    file: &str,
    target: &str,
    anchors: &mut BTreeMap<String, Vec<String>>,
) -> Result<Option<String>> {
    if target.is_empty() {
        return Ok(Some(String::from("has a link without a target")));
    }
    if target.contains("://") || target.starts_with("mailto:") {
        return Ok(None);
    }
    let (path, anchor) = target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)));
    let Some(resolved) = resolve(file, path) else {
        return Ok(Some(format!("links to `{target}`, which leaves the repository")));
    };
    if !workspace.has(&resolved) {
        return Ok(Some(format!("links to `{target}`, which does not exist")));
    }
    let Some(anchor) = anchor else {
        return Ok(None);
    };
    if !is_document(&resolved) {
        let known = has_test(&resolved, &workspace.read(&resolved)?, anchor);
        return Ok((!known).then(|| format!("links to `{target}`, but `{resolved}` has no test of that name")));
    }
    if !anchors.contains_key(&resolved) {
        anchors.insert(resolved.clone(), anchors_of(&workspace.read(&resolved)?));
    }
    let known = anchors.get(&resolved).is_some_and(|list| list.iter().any(|known| known == anchor));
    Ok((!known).then(|| format!("links to `{target}`, but `{resolved}` has no heading `#{anchor}`")))
}

/// Whether a source file has the test: a function of that name, or a title that gives this slug.
fn has_test(file: &str, text: &str, anchor: &str) -> bool {
    if extension(file) == "rs" {
        return text.contains(&format!("fn {anchor}("));
    }
    text.lines().any(|line| markdown::slug(line).contains(anchor))
}

/// The path of a link, relative to the root; an empty one is the document itself.
fn resolve(file: &str, target: &str) -> Option<String> {
    if target.is_empty() {
        return Some(file.to_owned());
    }
    let mut resolved = PathBuf::new();
    let base = Path::new(file).parent().unwrap_or(Path::new(""));
    for component in base.join(target).components() {
        match component {
            Component::Normal(name) => resolved.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                if !resolved.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(resolved.to_string_lossy().into_owned())
}

/// Heading anchors in order; a repeated heading gets `-1`, `-2`, ….
fn anchors_of(text: &str) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let headings = markdown::parse(text).headings;
    let slugs = headings.iter().map(|heading| markdown::slug(&heading.text));
    slugs
        .map(|slug| {
            let count = counts.entry(slug.clone()).or_default();
            *count += 1;
            if *count == 1 { slug } else { format!("{slug}-{}", *count - 1) }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_are_resolved_from_the_document() {
        assert_eq!(resolve("docs/a.md", "../README.md").as_deref(), Some("README.md"));
        assert_eq!(resolve("docs/a.md", "decisions/").as_deref(), Some("docs/decisions"));
        assert_eq!(resolve("docs/a.md", "").as_deref(), Some("docs/a.md"));
        assert_eq!(resolve("README.md", "../x.md"), None);
        assert_eq!(resolve("README.md", "/etc/hosts"), None);
    }

    #[test]
    fn paths_are_told_from_examples() {
        assert!(is_path("crates/chatos-paths/src/lib.rs"));
        assert!(!is_path("crates/chatos-<noun>"));
        assert!(!is_path("ui/node_modules"));
        assert!(!is_path("cargo xtask tidy"));
    }

    #[test]
    fn a_path_that_moved_is_found() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("MAP.md"), "# Map\n\nSee `crates/old.rs`.\n").unwrap();
        let workspace = Workspace::at(dir.path()).unwrap();
        let found = check(&workspace, &workspace.files().unwrap()).unwrap();
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found, ["error[links] MAP.md:3: names `crates/old.rs`, which does not exist"]);
    }

    #[test]
    fn tests_that_are_gone_are_found() {
        assert!(has_test("a.rs", "async fn it_holds() {", "it_holds"));
        assert!(!has_test("a.rs", "fn it_holds_no_more() {", "it_holds"));
        assert!(has_test("a.spec.ts", "test('an app, asked twice', async () => {", "an-app-asked-twice"));
        assert!(!has_test("a.spec.ts", "test('an app', async () => {", "an-app-asked-twice"));
    }

    #[test]
    fn broken_targets_and_anchors_are_found() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("docs")).unwrap();
        std::fs::write(dir.path().join("docs/b.md"), "# One\n## Two words\n## Two words\n").unwrap();
        let text = "[1](docs/b.md) [2](docs/c.md) [3](docs/b.md#two-words-1) [4](docs/b.md#three) [5](#top)\n# Top\n";
        std::fs::write(dir.path().join("A.md"), text).unwrap();
        let workspace = Workspace::at(dir.path()).unwrap();
        let found = check(&workspace, &workspace.files().unwrap()).unwrap();
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "error[links] A.md:1: links to `docs/c.md`, which does not exist",
                "error[links] A.md:1: links to `docs/b.md#three`, but `docs/b.md` has no heading `#three`",
            ]
        );
    }
}
