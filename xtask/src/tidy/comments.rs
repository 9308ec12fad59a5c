//! Every Rust file opens by saying what it is, and holds no example that nothing runs.

use anyhow::Result;

use crate::tidy::finding::Finding;
use crate::workspace::{Workspace, extension};

pub(crate) fn check(workspace: &Workspace, files: &[String]) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| extension(file) == "rs") {
        // In a tests folder `common/mod.rs` is how cargo tells a shared file from a test of its own.
        if file.ends_with("/mod.rs") && !file.contains("/tests/") {
            findings.push(
                Finding::error("comments", file, "is a `mod.rs`")
                    .hint("use `name.rs` beside the folder `name/`"),
            );
        }
        let text = workspace.read(file)?;
        if let Some(line) = example(&text) {
            findings.push(
                Finding::error("comments", file, format!("line {line}: an example in a comment")).hint(
                    "examples in comments are not compiled here: write a test, or mark the block ```text",
                ),
            );
        }
        if !opens_with_a_sentence(&text) {
            findings.push(
                Finding::error("comments", file, "does not open with `//!`")
                    .hint("say in one sentence what the file is, then who calls it or what it is not"),
            );
        }
    }
    Ok(findings)
}

fn opens_with_a_sentence(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    first.strip_prefix("//!").is_some_and(|rest| rest.split_whitespace().count() >= 2)
}

/// The line of the first block of code in a doc comment. There is no step that would compile it.
fn example(text: &str) -> Option<usize> {
    let mut inside = false;
    for (line, words) in (1..).zip(text.lines().map(str::trim_start)) {
        let comment = words.strip_prefix("///").or_else(|| words.strip_prefix("//!"));
        let Some(fence) = comment.and_then(|comment| comment.trim().strip_prefix("```")) else { continue };
        if !inside && fence != "text" {
            return Some(line);
        }
        inside = !inside;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{example, opens_with_a_sentence};

    #[test]
    fn an_example_that_nothing_runs_is_found() {
        let block = |kind: &str| {
            format!("//! A file.\n\n/// Adds.\n/// ```{kind}\n/// add(1, 2)\n/// ```\nfn add() {{}}\n")
        };
        assert_eq!(example(&block("")), Some(4));
        assert_eq!(example(&block("no_run")), Some(4));
        assert_eq!(example(&block("text")), None);
        assert_eq!(example("let fence = \"/// ```\";\n"), None);
    }

    #[test]
    fn the_first_line_decides() {
        assert!(opens_with_a_sentence("//! Finds things.\nfn f() {}\n"));
        assert!(!opens_with_a_sentence("//!\nfn f() {}\n"));
        assert!(!opens_with_a_sentence("// Finds things.\n"));
        assert!(!opens_with_a_sentence("\n//! Finds things.\n"));
        assert!(!opens_with_a_sentence(""));
    }
}
