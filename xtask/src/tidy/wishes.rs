//! The tests that `docs/wishes.md` names are there: a wish whose test was moved or removed is a promise nobody keeps.

use anyhow::Result;

use crate::tidy::finding::Finding;
use crate::workspace::Workspace;

const PAGE: &str = "docs/wishes.md";
/// Where names without a folder of their own are.
const PLACES: [&str; 5] = ["", "crates/", "crates/chatos-cli/tests/", "ui/tests/e2e/", "tests/agent-peers/"];
const WISHES: usize = 30;

pub(crate) fn check(workspace: &Workspace, files: &[String]) -> Result<Vec<Finding>> {
    if !workspace.has(PAGE) {
        return Ok(Vec::new());
    }
    Ok(judge(&workspace.read(PAGE)?, files, &|path| workspace.read(path).unwrap_or_default()))
}

fn judge(page: &str, files: &[String], read: &dyn Fn(&str) -> String) -> Vec<Finding> {
    let mut findings = Vec::new();
    let rows: Vec<&str> =
        page.lines().filter(|line| line.starts_with("| ") && starts_with_number(line)).collect();
    if rows.len() != WISHES {
        findings.push(Finding::error("wishes", PAGE, format!("has {} rows, not {WISHES}", rows.len())));
    }
    for row in rows {
        let cell = row.trim_end_matches('|').rsplit('|').next().unwrap_or_default();
        // `::name` is a test of the file that was named last.
        let mut last = String::new();
        for name in cell.split('`').skip(1).step_by(2).filter(|name| name.contains(['.', '/', ':'])) {
            let (path, test) = name.split_once("::").map_or((name, None), |(path, test)| (path, Some(test)));
            if !path.is_empty() {
                last = found(path, files).unwrap_or_default();
            }
            let is_there =
                !last.is_empty() && test.is_none_or(|test| read(&last).contains(&format!("fn {test}(")));
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

/// The file or folder that is meant.
fn found(name: &str, files: &[String]) -> Option<String> {
    let paths = PLACES.iter().map(|place| format!("{place}{name}"));
    paths.into_iter().find(|path| {
        files
            .iter()
            .any(|file| file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
    })
}

fn starts_with_number(row: &str) -> bool {
    row[2..].chars().next().is_some_and(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_named_test_is_there() {
        let files = [
            "crates/chatos-cli/tests/runs/away.rs",
            "ui/tests/e2e/quiet.spec.ts",
            "crates/chatos-lsp/src/lib.rs",
        ]
        .map(str::to_owned);
        let page = |cell: &str| (1..=30).map(|n| format!("| {n} | a | b | {cell} |\n")).collect::<String>();
        let judge = |page: &str| judge(page, &files, &|_| "#[test]\nfn one() {}\nfn two() {}".to_owned());
        assert_eq!(
            judge(&page("`runs/away.rs::one`, `::two`; `quiet.spec.ts` (the card `sub`), `chatos-lsp`")),
            []
        );
        assert_eq!(judge(&page("–")), []);
        assert_eq!(judge(&page("`runs/gone.rs`")).len(), 30);
        assert_eq!(judge(&page("`runs/away.rs::three`, `::on`")).len(), 60);
        assert_eq!(judge("| 1 | a | b | – |").len(), 1);
    }
}
