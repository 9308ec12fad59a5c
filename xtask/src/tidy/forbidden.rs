//! Words that must not be committed: switched-off tests, unfinished code, silenced lints.

use anyhow::Result;

use crate::tidy::finding::Finding;
use crate::workspace::{Workspace, extension};

/// What is looked for, in which files, and what to do instead.
///
/// The needles are written in two halves: this file is checked as well.
struct Word {
    halves: [&'static str; 2],
    applies: fn(&str) -> bool,
    advice: &'static str,
}

const WORDS: [Word; 9] = [
    Word {
        halves: ["#[ign", "ore"],
        applies: is_rust,
        advice: "a test that does not run proves nothing; fix or delete it",
    },
    Word { halves: ["#[should_", "panic"], applies: is_rust, advice: "match the error instead" },
    Word { halves: ["todo", "!("], applies: is_rust, advice: "finish it or leave it out" },
    Word { halves: ["unimple", "mented!("], applies: is_rust, advice: "return an error that says so" },
    Word { halves: [".on", "ly("], applies: is_script_test, advice: "it switches the other tests off" },
    Word {
        halves: [".sk", "ip("],
        applies: is_script_test,
        advice: "a test that does not run proves nothing; fix or delete it",
    },
    Word {
        halves: [".fix", "me("],
        applies: is_script_test,
        advice: "a test that does not run proves nothing; fix or delete it",
    },
    Word {
        halves: ["@ts-", "ignore"],
        applies: is_script,
        advice: "use `@ts-expect-error` with a reason, or fix the type",
    },
    Word { halves: ["@ts-no", "check"], applies: is_script, advice: "fix the types" },
];

pub(crate) fn check(workspace: &Workspace, files: &[String]) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| is_rust(file) || is_script(file)) {
        findings.extend(check_text(file, &workspace.read(file)?));
    }
    Ok(findings)
}

fn check_text(file: &str, text: &str) -> Vec<Finding> {
    let words: Vec<(String, &Word)> =
        WORDS.iter().filter(|word| (word.applies)(file)).map(|word| (word.halves.concat(), word)).collect();
    let silenced = ["#[all", "ow("].concat();
    let silenced_file = ["#![all", "ow("].concat();
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for (needle, word) in &words {
            if line.contains(needle.as_str()) {
                findings.push(
                    Finding::error("forbidden", file, format!("contains `{needle}`"))
                        .line(index + 1)
                        .hint(word.advice),
                );
            }
        }
        let silences = line.contains(&silenced) || line.contains(&silenced_file);
        if is_rust(file) && silences && !has_reason(text, index) {
            findings.push(
                Finding::error("forbidden", file, "silences a lint without a reason")
                    .line(index + 1)
                    .hint("use `#[expect(lint, reason = \"…\")]`"),
            );
        }
    }
    findings
}

/// Whether the attribute that starts on this line gives a reason before it closes.
fn has_reason(text: &str, start: usize) -> bool {
    let attribute = text.lines().skip(start).take(6);
    let mut seen = String::new();
    for line in attribute {
        seen.push_str(line);
        if line.contains(")]") {
            break;
        }
    }
    seen.contains("reason =")
}

fn is_rust(file: &str) -> bool {
    extension(file) == "rs"
}

fn is_script(file: &str) -> bool {
    matches!(extension(file), "ts" | "mjs" | "js" | "svelte")
}

/// Outside tests `.skip(` is an iterator's method.
fn is_script_test(file: &str) -> bool {
    is_script(file)
        && (file.contains(".test.")
            || file.contains(".spec.")
            || file.contains("/tests/")
            || file.contains("/e2e/"))
}

#[cfg(test)]
mod tests {
    use super::check_text;

    fn messages(file: &str, text: &str) -> Vec<String> {
        check_text(file, text)
            .iter()
            .map(|finding| finding.to_string().lines().next().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn switched_off_tests_are_found() {
        let text = ["#[test]\n#[ign", "ore = \"slow\"]\nfn f() {}\n"].concat();
        let needle = ["#[ign", "ore"].concat();
        assert_eq!(messages("a.rs", &text), [format!("error[forbidden] a.rs:2: contains `{needle}`")]);
    }

    #[test]
    fn skip_is_only_forbidden_in_script_tests() {
        let text = ["x.sk", "ip(1)"].concat();
        assert_eq!(messages("a.rs", &text), Vec::<String>::new());
        assert_eq!(messages("ui/src/list.ts", &text), Vec::<String>::new());
        assert_eq!(messages("ui/src/list.test.ts", &text).len(), 1);
    }

    #[test]
    fn a_silenced_lint_needs_a_reason() {
        let bare = ["#[all", "ow(dead_code)]\n"].concat();
        assert_eq!(messages("a.rs", &bare), ["error[forbidden] a.rs:1: silences a lint without a reason"]);
        let explained = ["#[all", "ow(\n    dead_code,\n    reason = \"used on Windows\"\n)]\n"].concat();
        assert_eq!(messages("a.rs", &explained), Vec::<String>::new());
    }
}
