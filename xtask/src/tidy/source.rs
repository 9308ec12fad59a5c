//! Product code of our crates: what ships, without tests.

use anyhow::Result;

use crate::tidy::sizes::is_test;
use crate::workspace::{Workspace, extension};

/// One Rust file below the `src` of a crate.
pub(crate) struct Source {
    /// The crate's package name.
    pub(crate) krate: String,
    /// Module path inside the crate: `["runs", "state"]` for `src/runs/state.rs`, empty for `lib.rs` and `main.rs`.
    pub(crate) module: Vec<String>,
    /// The text up to the inline tests.
    pub(crate) text: String,
}

/// Every product file, tests left out.
pub(crate) fn product(workspace: &Workspace, files: &[String]) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    for file in files.iter().filter(|file| extension(file) == "rs" && !is_test(file)) {
        let Some((krate, inside)) = split(file) else { continue };
        let text = without_tests(&workspace.read(file)?);
        sources.push(Source { krate: krate.to_owned(), module: module(inside), text });
    }
    Ok(sources)
}

/// The crate and the path below its `src`.
fn split(file: &str) -> Option<(&str, &str)> {
    let (krate, inside) = file.strip_prefix("crates/")?.split_once("/src/")?;
    (!krate.contains('/')).then_some((krate, inside))
}

fn module(inside: &str) -> Vec<String> {
    let names = inside.trim_end_matches(".rs").split('/').map(str::to_owned);
    match names.collect::<Vec<_>>() {
        top if matches!(top.as_slice(), [only] if only == "lib" || only == "main") => Vec::new(),
        names => names,
    }
}

/// A file ends with its tests, so everything from their attribute on is left out.
fn without_tests(text: &str) -> String {
    let tests = text.find("\n#[cfg(test)]\nmod ").or_else(|| text.find("\n#[cfg(test)]\npub(crate) mod "));
    // A module of tests in a file of its own is one line; code may follow it.
    match tests.map(|at| text.split_at(at)) {
        Some((before, rest)) if !rest.lines().nth(2).is_some_and(|line| line.ends_with(';')) => {
            before.to_owned()
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_crate_and_module() {
        assert_eq!(split("crates/chatos-runs/src/turn/calls.rs"), Some(("chatos-runs", "turn/calls.rs")));
        assert_eq!(split("xtask/src/main.rs"), None);
        assert_eq!(module("turn/calls.rs"), ["turn", "calls"]);
        assert_eq!(module("lib.rs"), Vec::<String>::new());
    }

    #[test]
    fn inline_tests_do_not_count() {
        assert_eq!(without_tests("fn a() {}\n#[cfg(test)]\nmod tests {\n    x\n}\n"), "fn a() {}");
        let apart = "mod a;\n#[cfg(test)]\nmod tests;\nfn b() {}\n";
        assert_eq!(without_tests(apart), apart);
    }
}
