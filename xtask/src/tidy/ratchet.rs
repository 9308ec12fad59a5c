//! Habits that are being given up: how often each is still found stands in `xtask/tidy.toml` and only falls.

use anyhow::Result;

use crate::tidy::finding::Finding;
use crate::tidy::settings::{FILE, Settings};
use crate::tidy::source::Source;
use crate::workspace::{Workspace, extension};

/// What is counted in product code, and what to do instead.
struct Habit {
    /// Its heading in the table.
    name: &'static str,
    count: fn(&str) -> usize,
    /// Crates whose business it is.
    free: &'static [&'static str],
    instead: &'static str,
}

const HABITS: [Habit; 5] = [
    Habit {
        name: "forwarded crates",
        // A derive can only be defined in a crate of macros, and goes with its trait.
        count: |text| {
            lines(text, |line| {
                line.starts_with("pub use chatos_") && !line.starts_with("pub use chatos_described::")
            })
        },
        free: &[],
        instead: "import the crate that defines it",
    },
    Habit {
        name: "tokio::spawn",
        count: |text| text.matches("tokio::spawn(").count(),
        free: &["chatos-events"],
        instead: "let the part's `Lifetime` spawn it, so that stopping waits for it",
    },
    Habit {
        name: "schemas outside the wire",
        count: |text| lines(text, |line| line.starts_with("#[derive(") && line.contains("JsonSchema")),
        // Arguments and results of tools are read by clients from their schemas.
        free: &[
            "chatos-wire",
            "chatos-policy",
            "chatos-tool",
            "chatos-layer",
            "chatos-builtin",
            "chatos-access",
            "chatos-shell",
            "chatos-lsp",
        ],
        instead: "what crosses the wire is a type of `chatos-wire`",
    },
    Habit {
        name: "untyped answers",
        count: |text| text.matches("Json<Value>").count(),
        free: &[],
        instead: "answer with a type of `chatos-wire`",
    },
    Habit {
        name: "short doc comments",
        count: |text| lines(text, is_short_doc),
        free: &[],
        instead: "say it so that it is understood without the code below, or leave it out",
    },
];

pub(crate) fn check(
    workspace: &Workspace,
    files: &[String],
    sources: &[Source],
    settings: &Settings,
) -> Result<Vec<Finding>> {
    let mut counts: Vec<(&str, &str, usize)> = HABITS
        .iter()
        .map(|habit| {
            let ours = sources.iter().filter(|source| !habit.free.contains(&source.krate.as_str()));
            (habit.name, habit.instead, ours.map(|source| (habit.count)(&source.text)).sum())
        })
        .collect();
    let mut sleeps = 0;
    for file in files.iter().filter(|file| extension(file) == "rs" && file.contains("/tests/")) {
        sleeps += workspace.read(file)?.matches(&["thread::", "sleep("].concat()).count();
    }
    counts.push(("sleeping tests", "wait for the condition with `testkit::eventually`", sleeps));
    Ok(counts
        .into_iter()
        .filter_map(|(name, instead, count)| judge(name, instead, count, settings))
        .collect())
}

fn judge(name: &str, instead: &str, count: usize, settings: &Settings) -> Option<Finding> {
    let allowed = settings.habits.get(name).copied().unwrap_or_default();
    if count > allowed {
        let message = format!("{name}: {count}, allowed are {allowed}");
        return Some(Finding::error("ratchet", FILE, message).hint(instead));
    }
    (count < allowed)
        .then(|| Finding::warning("ratchet", FILE, format!("{name}: {count}; lower the {allowed}")))
}

fn lines(text: &str, counts: fn(&str) -> bool) -> usize {
    text.lines().filter(|line| counts(line.trim_start())).count()
}

/// A doc comment of one line with three words or fewer.
fn is_short_doc(line: &str) -> bool {
    line.strip_prefix("/// ")
        .is_some_and(|words| words.ends_with('.') && words.split_whitespace().count() <= 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_only_falls() {
        let settings = Settings { habits: [("x".to_owned(), 2)].into(), ..Settings::default() };
        let said = |count| judge("x", "do better", count, &settings).map(|finding| finding.to_string());
        assert!(said(3).unwrap().starts_with("error[ratchet] xtask/tidy.toml: x: 3, allowed are 2"));
        assert_eq!(said(2), None);
        assert!(said(1).unwrap().contains("lower the 2"));
    }

    #[test]
    fn a_short_doc_comment_is_known() {
        assert!(is_short_doc("/// In words."));
        assert!(!is_short_doc("/// What the server says it is doing."));
        assert!(!is_short_doc("// Why."));
    }
}
