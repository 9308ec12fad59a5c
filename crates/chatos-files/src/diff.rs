//! The one unified diff of the program (servers §2.6); no external `diff` is used.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use similar::{DiffTag, group_diff_ops};

use crate::lines::compare;
use crate::text::is_binary;

/// Lines of context.
const CONTEXT: usize = 3;
/// Equal lines around a change that take part in the comparison, so that a repeated line may be shown
/// where it would be without leaving anything out.
const KEPT: usize = 32;
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
        Some(_) => quoted(format!("{side}/{path}")),
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
    let (skipped, before, after) = trim(before, after);
    let (before, after) = (String::from_utf8_lossy(before), String::from_utf8_lossy(after));
    let old_refs: Vec<&str> = before.split_inclusive('\n').collect();
    let new_refs: Vec<&str> = after.split_inclusive('\n').collect();
    let ops = compare(&old_refs, &new_refs, Some(Instant::now() + BUDGET));
    for group in group_diff_ops(ops, CONTEXT) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let range = |start: usize, end: usize| {
            let (len, start) = (end - start, skipped + start);
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
            let (gone, come) = (&old_refs[op.old_range()], &new_refs[op.new_range()]);
            if op.tag() == DiffTag::Equal {
                for line in gone {
                    push_line(&mut out.text, ' ', line);
                }
                continue;
            }
            for line in gone {
                push_line(&mut out.text, '-', line);
            }
            for line in come {
                push_line(&mut out.text, '+', line);
            }
            out.removed += gone.len();
            out.added += come.len();
        }
    }
    out
}

fn push_line(text: &mut String, sign: char, line: &str) {
    text.push(sign);
    text.push_str(line);
    if !line.ends_with('\n') {
        text.push_str("\n\\ No newline at end of file\n");
    }
}

/// A name as git writes it: one with control characters would look like lines of the diff to whoever has to
/// agree to it.
fn quoted(name: String) -> String {
    if !name.chars().any(char::is_control) {
        return name;
    }
    let mut out = String::from("\"");
    for c in name.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let mut bytes = [0; 4];
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    let _infallible = write!(out, "\\{byte:03o}");
                }
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The two texts without the lines that are equal at their start and end, except those a diff may show or
/// slide over, and how many lines are left out before them: most changes of a large file touch few lines.
fn trim<'a>(old: &'a [u8], new: &'a [u8]) -> (usize, &'a [u8], &'a [u8]) {
    let alike = common_start(old, new);
    // The start of the line in which they begin to differ, then some whole lines back.
    let head = memchr::memrchr_iter(b'\n', &old[..alike]).nth(KEPT).map_or(0, |at| at + 1);
    let (one, other) = (&old[head..], &new[head..]);
    let alike = common_end(one, other);
    // The first whole line of what is equal at the end, then some whole lines on.
    let tail = memchr::memchr_iter(b'\n', &one[one.len() - alike..]).nth(KEPT).map_or(0, |at| alike - at - 1);
    let skipped = memchr::memchr_iter(b'\n', &old[..head]).count();
    (skipped, &one[..one.len() - tail], &other[..other.len() - tail])
}

/// Bytes compared at once: whole blocks are compared by the machine, the rest one by one.
const BLOCK: usize = 256;

/// How many bytes two contents have in common at their start.
fn common_start(one: &[u8], other: &[u8]) -> usize {
    let blocks = one.chunks_exact(BLOCK).zip(other.chunks_exact(BLOCK));
    let whole = blocks.take_while(|(one, other)| one == other).count() * BLOCK;
    let rest = one[whole..].iter().zip(&other[whole..]);
    whole + rest.take_while(|(one, other)| one == other).count()
}

/// How many bytes two contents have in common at their end.
fn common_end(one: &[u8], other: &[u8]) -> usize {
    let blocks = one.rchunks_exact(BLOCK).zip(other.rchunks_exact(BLOCK));
    let whole = blocks.take_while(|(one, other)| one == other).count() * BLOCK;
    let rest = one[..one.len() - whole].iter().rev().zip(other[..other.len() - whole].iter().rev());
    whole + rest.take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use similar::TextDiff;

    use super::*;

    #[test]
    fn a_name_with_control_characters_is_one_line_and_a_patch_finds_it_again() {
        let name = "a\n-gone\n@@ -1 +1 @@\u{1b}[2J\"\\.txt";
        let text = diff(name, Some(b"x\n"), name, Some(b"y\n")).text;
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], r#"+++ "b/a\n-gone\n@@ -1 +1 @@\033[2J\"\\.txt""#);
        assert_eq!(lines[2..], ["@@ -1 +1 @@", "-x", "+y"]);
        let patch = crate::patch::parse(&text).unwrap();
        assert!(
            format!("{patch:?}").contains(&format!("{name:?}").trim_matches('"').to_owned()),
            "{patch:?}"
        );
    }

    #[test]
    fn what_is_left_out_at_both_ends_does_not_change_the_diff() {
        let line = |n: usize| format!("line {}\n", n % 7);
        let old: Vec<String> = (0..400).map(line).collect();
        let whole = |old: &str, new: &str| {
            let made = TextDiff::from_lines(old, new);
            made.unified_diff().context_radius(CONTEXT).header("a/f", "b/f").to_string()
        };
        let mut cases = Vec::new();
        for at in [0, 1, 3, 4, 40, 41, 200, 359, 396, 398, 399] {
            let mut changed = old.clone();
            changed[at] = "other\n".to_owned();
            cases.push(changed);
            let mut longer = old.clone();
            longer.insert(at, "new\n".to_owned());
            cases.push(longer);
            let mut shorter = old.clone();
            shorter.remove(at);
            cases.push(shorter);
            let mut both = old.clone();
            both[at] = "one\n".to_owned();
            both[399 - at] = "last, without an end".to_owned();
            cases.push(both);
        }
        cases.push(old[..200].to_vec());
        cases.push(old.iter().chain(&old).cloned().collect());
        cases.push(Vec::new());
        let old = old.concat();
        for new in cases.into_iter().map(|lines| lines.concat()) {
            for (from, to) in [(&old, &new), (&new, &old)] {
                let made = diff("f", Some(from.as_bytes()), "f", Some(to.as_bytes()));
                assert_eq!(made.text, whole(from, to));
            }
        }
        let (old, new) = ("ä\n".repeat(50), format!("{}ö\n", "ä\n".repeat(49)));
        assert_eq!(diff("f", Some(old.as_bytes()), "f", Some(new.as_bytes())).text, whole(&old, &new));
    }

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
