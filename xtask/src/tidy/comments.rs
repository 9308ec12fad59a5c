//! Every Rust file opens by saying what it is.

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
        if !opens_with_a_sentence(&workspace.read(file)?) {
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

#[cfg(test)]
mod tests {
    use super::opens_with_a_sentence;

    #[test]
    fn the_first_line_decides() {
        assert!(opens_with_a_sentence("//! Finds things.\nfn f() {}\n"));
        assert!(!opens_with_a_sentence("//!\nfn f() {}\n"));
        assert!(!opens_with_a_sentence("// Finds things.\n"));
        assert!(!opens_with_a_sentence("\n//! Finds things.\n"));
        assert!(!opens_with_a_sentence(""));
    }
}
