//! Long files: a warning where a second concept is likely, an error where it is certain.

use anyhow::Result;

use crate::tidy::finding::Finding;
use crate::tidy::settings::Settings;
use crate::workspace::{Workspace, extension};

/// At this length the author should ask what the second concept is.
const WARN: usize = 600;
/// At this length the file is split before anything is added.
const FAIL: usize = 800;

const CODE: [&str; 5] = ["rs", "ts", "svelte", "mjs", "js"];

pub(crate) fn check(workspace: &Workspace, files: &[String], settings: &Settings) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for path in settings.long.keys().filter(|path| !files.contains(path)) {
        findings.push(Finding::error("sizes", "xtask/tidy.toml", format!("`{path}` does not exist")));
    }
    for file in files.iter().filter(|file| CODE.contains(&extension(file))) {
        if settings.long.contains_key(file) || is_test(file) || file.ends_with(".d.ts") {
            continue;
        }
        findings.extend(judge(file, workspace.read(file)?.lines().count()));
    }
    Ok(findings)
}

fn judge(file: &str, lines: usize) -> Option<Finding> {
    let message = format!("has {lines} lines");
    if lines > FAIL {
        let hint = format!("split it by concept; a table may be excused in xtask/tidy.toml (limit {FAIL})");
        return Some(Finding::error("sizes", file, message).hint(hint));
    }
    (lines > WARN).then(|| Finding::warning("sizes", file, message))
}

/// Test files may be long: they are read one case at a time.
pub(crate) fn is_test(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    let in_folder = file.split('/').any(|part| matches!(part, "tests" | "testing" | "e2e"));
    in_folder
        || name == "tests.rs"
        || name == "testing.rs"
        || name.contains(".test.")
        || name.contains(".spec.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_limits() {
        assert_eq!(judge("a.rs", 600), None);
        assert_eq!(judge("a.rs", 601), Some(Finding::warning("sizes", "a.rs", "has 601 lines")));
        assert!(judge("a.rs", 801).unwrap().to_string().starts_with("error[sizes] a.rs: has 801 lines"));
    }

    #[test]
    fn tests_are_known_by_place_or_name() {
        assert!(is_test("crates/x/tests/all.rs"));
        assert!(is_test("crates/x/src/fold/tests.rs"));
        assert!(is_test("ui/src/api/http.test.ts"));
        assert!(!is_test("crates/x/src/contest.rs"));
    }
}
