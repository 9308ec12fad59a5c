//! The one unified diff of the program (servers §2.6); no external `diff` is used.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use similar::{Algorithm, ChangeTag, TextDiff};

use super::text::is_binary;

/// Lines of context.
const CONTEXT: usize = 3;
/// Time after which a diff of unlike files becomes a coarse one: it must not hold up a change.
const BUDGET: Duration = Duration::from_millis(500);

/// A diff and its counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diff {
    /// Unified text, empty when nothing differs.
    pub text: String,
    /// Lines added.
    pub added: usize,
    /// Lines removed.
    pub removed: usize,
}

/// Compares two contents; `None` is a missing file.
pub fn diff(old_path: &str, old: Option<&[u8]>, new_path: &str, new: Option<&[u8]>) -> Diff {
    if old == new && old_path == new_path {
        return Diff::default();
    }
    let mut out = Diff::default();
    let header = |path: &str, side: char, content: Option<&[u8]>| match content {
        Some(_) => format!("{side}/{path}"),
        None => "/dev/null".to_owned(),
    };
    let (from, to) = (header(old_path, 'a', old), header(new_path, 'b', new));
    let (before, after) = (old.unwrap_or_default(), new.unwrap_or_default());
    if is_binary(before) || is_binary(after) {
        // A string cannot fail to take text.
        let _infallible = writeln!(
            out.text,
            "--- {from}\n+++ {to}\nBinary files differ ({} -> {} bytes)",
            before.len(),
            after.len()
        );
        return out;
    }
    let _infallible = writeln!(out.text, "--- {from}\n+++ {to}");
    let (before, after) = (String::from_utf8_lossy(before), String::from_utf8_lossy(after));
    let lines = |text: &str| -> Vec<String> { text.split_inclusive('\n').map(str::to_owned).collect() };
    let (old_lines, new_lines) = (lines(&before), lines(&after));
    let old_refs: Vec<&str> = old_lines.iter().map(String::as_str).collect();
    let new_refs: Vec<&str> = new_lines.iter().map(String::as_str).collect();
    let diff = TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .deadline(Instant::now() + BUDGET)
        .diff_slices(&old_refs, &new_refs);
    for group in diff.grouped_ops(CONTEXT) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let range = |start: usize, end: usize| {
            let len = end - start;
            let shown = if len == 0 { start } else { start + 1 };
            if len == 1 { format!("{shown}") } else { format!("{shown},{len}") }
        };
        let _infallible = writeln!(
            out.text,
            "@@ -{} +{} @@",
            range(first.old_range().start, last.old_range().end),
            range(first.new_range().start, last.new_range().end)
        );
        for op in &group {
            for change in diff.iter_changes(op) {
                let sign = match change.tag() {
                    ChangeTag::Delete => {
                        out.removed += 1;
                        '-'
                    }
                    ChangeTag::Insert => {
                        out.added += 1;
                        '+'
                    }
                    ChangeTag::Equal => ' ',
                };
                out.text.push(sign);
                let line: &str = change.value();
                out.text.push_str(line);
                if !line.ends_with('\n') {
                    out.text.push_str("\n\\ No newline at end of file\n");
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_is_that_of_every_patch_program() {
        let old = b"one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";
        let new = b"one\ntwo\nthree\nfour\nFIVE\nsix\nseven\neight\nnine";
        let made = diff("a.txt", Some(old), "a.txt", Some(new));
        assert_eq!(
            made.text,
            "--- a/a.txt\n+++ b/a.txt\n@@ -2,8 +2,8 @@\n two\n three\n four\n-five\n+FIVE\n six\n seven\n eight\n\
             -nine\n+nine\n\\ No newline at end of file\n"
        );
        assert_eq!((made.added, made.removed), (2, 2));
        assert_eq!(diff("n", None, "n", Some(b"x\n")).text, "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n");
        assert_eq!(
            diff("n", Some(b"\0\0"), "n", None).text,
            "--- a/n\n+++ /dev/null\nBinary files differ (2 -> 0 bytes)\n"
        );
        assert_eq!(diff("n", Some(b"x"), "n", Some(b"x")), Diff::default());
    }
}
