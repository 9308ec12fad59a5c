//! The tests that `docs/wishes.md` and `docs/faults.md` name are there: a wish whose test was moved or removed is a
//! promise nobody keeps, and a fault without one comes back.

use anyhow::Result;

use crate::tidy::finding::Finding;
use crate::workspace::{Workspace, extension};

const PAGES: [&str; 2] = ["docs/wishes.md", "docs/faults.md"];
/// Where names without a folder of their own are.
const PLACES: [&str; 6] =
    ["", "crates/", "crates/chatos-cli/tests/", "ui/tests/e2e/", "ui/", "tests/agent-peers/"];
const ROWS: usize = 30;

pub(crate) fn check(workspace: &Workspace, files: &[String]) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for name in PAGES.into_iter().filter(|name| workspace.has(name)) {
        let page = workspace.read(name)?;
        findings.extend(judge(name, &page, files, &|path| workspace.read(path).unwrap_or_default()));
    }
    Ok(findings)
}

fn judge(of: &str, page: &str, files: &[String], read: &dyn Fn(&str) -> String) -> Vec<Finding> {
    let mut findings = Vec::new();
    let rows: Vec<&str> =
        page.lines().filter(|line| line.starts_with("| ") && starts_with_number(line)).collect();
    if rows.len() != ROWS {
        findings.push(Finding::error("wishes", of, format!("has {} rows, not {ROWS}", rows.len())));
    }
    for row in rows {
        let cell = row.trim_end_matches('|').rsplit('|').next().unwrap_or_default();
        // `::name` is a test of the file that was named last; of TypeScript, words of its title.
        let mut last = String::new();
        for (place, name) in cell.split('`').enumerate() {
            // Between two names: what stands in quotation marks is the title of a test of the one before.
            if place % 2 == 0 {
                findings.extend(
                    titles(name)
                        .into_iter()
                        .filter(|title| !has_title(&read(&last), title))
                        .map(|title| Finding::error("wishes", of, format!("`{last}` has no test “{title}”"))),
                );
                continue;
            }
            if !name.contains(['.', '/', ':']) {
                continue;
            }
            let (path, test) = name.split_once("::").map_or((name, None), |(path, test)| (path, Some(test)));
            if !path.is_empty() {
                last = found(path, files).unwrap_or_default();
            }
            let shape =
                |test: &str| if extension(&last) == "rs" { format!("fn {test}(") } else { test.to_owned() };
            let is_there = !last.is_empty() && test.is_none_or(|test| read(&last).contains(&shape(test)));
            if !is_there {
                findings.push(
                    Finding::error("wishes", of, format!("names the test `{name}`, which is not there"))
                        .hint(
                            "name the test that fails when the wish is broken, or say that it is not there",
                        ),
                );
            }
        }
    }
    findings
}

/// Titles in quotation marks; one may be cut off with an ellipsis.
fn titles(text: &str) -> Vec<&str> {
    let parts = text.split('“').skip(1).filter_map(|part| part.split_once('”'));
    parts.map(|(title, _)| title.trim_end_matches('…').trim()).collect()
}

/// Quotation marks inside a title differ from those around it.
fn has_title(file: &str, title: &str) -> bool {
    let bare = |text: &str| text.replace(['“', '”', '‘', '’', '\'', '"', '`', '\\'], "");
    bare(file).contains(&bare(title))
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
        let judge = |page: &str| {
            judge("docs/wishes.md", page, &files, &|_| "#[test]\nfn one() {}\nfn two() {}".to_owned())
        };
        assert_eq!(
            judge(&page("`runs/away.rs::one`, `::two`; `quiet.spec.ts` (the card `sub`), `chatos-lsp`")),
            []
        );
        assert_eq!(judge(&page("–")), []);
        assert_eq!(judge(&page("`runs/gone.rs`")).len(), 30);
        assert_eq!(judge(&page("`runs/away.rs::three`, `::on`")).len(), 60);
        assert_eq!(judge(&page("`quiet.spec.ts::fn one`")), []);
        assert_eq!(judge(&page("`quiet.spec.ts::three files`")).len(), 30);
        assert_eq!(judge(&page("`quiet.spec.ts` “fn one …”, “‘fn’ two”; `runs/away.rs`")), []);
        assert_eq!(judge(&page("`quiet.spec.ts` “fn one …” and “three”")).len(), 30);
        assert_eq!(judge("| 1 | a | b | – |").len(), 1);
    }
}
