//! The tests that `docs/wishes.md` names are there: a wish whose test was moved or removed is a promise nobody keeps.

use anyhow::Result;

use crate::tidy::finding::Finding;
use crate::workspace::Workspace;

const PAGE: &str = "docs/wishes.md";
/// Where names without a folder of their own are.
const PLACES: [&str; 3] = ["", "crates/chatos-cli/tests/", "ui/tests/e2e/"];
const WISHES: usize = 30;

pub(crate) fn check(workspace: &Workspace, files: &[String]) -> Result<Vec<Finding>> {
    if !workspace.has(PAGE) {
        return Ok(Vec::new());
    }
    Ok(judge(&workspace.read(PAGE)?, files))
}

fn judge(page: &str, files: &[String]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let rows: Vec<&str> =
        page.lines().filter(|line| line.starts_with("| ") && starts_with_number(line)).collect();
    if rows.len() != WISHES {
        findings.push(Finding::error("wishes", PAGE, format!("has {} rows, not {WISHES}", rows.len())));
    }
    for row in rows {
        let cell = row.trim_end_matches('|').rsplit('|').next().unwrap_or_default();
        for name in cell.split('`').skip(1).step_by(2) {
            let is_there = PLACES.iter().any(|place| {
                let path = format!("{place}{name}");
                files.iter().any(|file| *file == path || file.starts_with(&format!("{path}/")))
            });
            if !is_there {
                findings.push(
                    Finding::error("wishes", PAGE, format!("names the test `{name}`, which is not there"))
                        .hint(
                            "name the test that fails when the wish is broken, or say that it is not there",
                        ),
                );
            }
        }
    }
    findings
}

fn starts_with_number(row: &str) -> bool {
    row[2..].chars().next().is_some_and(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_named_test_is_a_file_or_a_folder() {
        let files = [
            "crates/chatos-cli/tests/runs/away.rs",
            "ui/tests/e2e/quiet.spec.ts",
            "crates/chatos-lsp/src/lib.rs",
        ]
        .map(str::to_owned);
        let page = |cell: &str| (1..=30).map(|n| format!("| {n} | a | b | {cell} |\n")).collect::<String>();
        assert_eq!(judge(&page("`runs/away.rs`, `quiet.spec.ts`, `crates/chatos-lsp`"), &files), []);
        assert_eq!(judge(&page("–"), &files), []);
        assert_eq!(judge(&page("`runs/gone.rs`"), &files).len(), 30);
        assert_eq!(judge("| 1 | a | b | – |", &files).len(), 1);
    }
}
