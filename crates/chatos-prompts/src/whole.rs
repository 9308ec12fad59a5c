//! A text that is too long for its question: what is shown of it, and the reference to the rest
//! (`ui-prompts §5`, `prompt.diffRef`).

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::json::Object;

/// Characters of a text in a question; the rest is loaded.
pub const SHOWN_CHARS: usize = 60_000;
/// Largest text a question can be about; a larger one is not asked.
pub const MAX_BYTES: usize = 16 << 20;
/// Most files a question can be about.
pub const MAX_FILES: usize = 2_000;
/// Lines of one delivery.
pub const MAX_LINES: usize = 5_000;

/// A text as a question has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Whole<'a> {
    /// What is in the question.
    pub shown: &'a str,
    /// Whether that is not all.
    pub is_cut: bool,
    sha256: String,
    bytes: usize,
    lines: usize,
    shown_lines: usize,
}

impl<'a> Whole<'a> {
    /// Cuts at a hunk, else at a line, where the text is longer than `chars`.
    pub fn of(text: &'a str, chars: usize) -> Self {
        let shown = cut(text, chars);
        let is_cut = shown.len() < text.len();
        let lines = count(text);
        // A line that is shown in part is not shown.
        let shown_lines = if is_cut { shown.matches('\n').count() } else { lines };
        Self { shown, is_cut, sha256: sha256(text.as_bytes()), bytes: text.len(), lines, shown_lines }
    }

    /// Lines that are not in the question.
    pub fn left(&self) -> usize {
        self.lines - self.shown_lines
    }

    /// `prompt.diffRef`.
    pub fn reference(&self) -> Value {
        json!({
            "sha256": self.sha256, "bytes": self.bytes, "lines": self.lines, "shownLines": self.shown_lines,
        })
    }

    /// What the material says of it.
    pub fn facts(&self) -> Value {
        json!({ "sha256": self.sha256, "bytes": self.bytes, "lines": self.lines })
    }
}

/// The reference of a prompt whose text is cut: the digest of the whole, its lines, how many are shown.
pub fn cut_reference(prompt: &Object) -> Option<(&str, usize, usize)> {
    let reference = prompt.get("diffRef")?;
    let number = |key: &str| reference.get(key).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    let (lines, shown) = (number("lines")?, number("shownLines")?);
    let sha256 = reference.get("sha256")?.as_str()?;
    (shown < lines).then_some((sha256, lines, shown))
}

/// Whether the prompt is about contents that no surface can show.
pub fn hides(prompt: &Object) -> bool {
    let hidden = prompt.get("diffRef").and_then(|reference| reference.get("hidden"));
    hidden.and_then(Value::as_array).is_some_and(|hidden| !hidden.is_empty())
}

/// Whether the prompt itself does not show everything it is about.
pub fn is_partial(prompt: &Object) -> bool {
    cut_reference(prompt).is_some() || hides(prompt)
}

/// Lines `from..from+lines` of a text, and how many those are.
pub fn part(text: &str, from: usize, lines: usize) -> (&str, usize) {
    let starts = || std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
    let all = count(text);
    let lines = lines.min(all.saturating_sub(from));
    let at = |line: usize| starts().nth(line).unwrap_or(text.len()).min(text.len());
    if lines == 0 {
        return ("", 0);
    }
    (&text[at(from)..at(from + lines)], lines)
}

/// Lower-case hex.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn count(text: &str) -> usize {
    text.matches('\n').count() + usize::from(!text.is_empty() && !text.ends_with('\n'))
}

fn cut(text: &str, chars: usize) -> &str {
    let Some((end, _)) = text.char_indices().nth(chars) else { return text };
    let head = &text[..end];
    let hunk = head.rfind("\n@@ ").or_else(|| head.rfind("\n--- "));
    let at = hunk.or_else(|| head.rfind('\n')).map_or(end, |at| at + 1);
    // A first hunk that is too long by itself is shown as far as it goes.
    let at = if at < end / 2 { head.rfind('\n').map_or(end, |at| at + 1) } else { at };
    &text[..at]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_diff_is_cut_at_a_hunk_and_counted() {
        assert!(!Whole::of("--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n", SHOWN_CHARS).is_cut);
        let hunk = format!("@@ -1 +1 @@\n{}", "+line of text\n".repeat(1000));
        let diff = format!("--- a\n+++ b\n{}", hunk.repeat(10));
        let whole = Whole::of(&diff, SHOWN_CHARS);
        assert!(whole.shown.ends_with("+line of text\n") && whole.shown.chars().count() <= SHOWN_CHARS);
        assert_eq!(whole.shown.lines().count() + whole.left(), diff.lines().count());
        assert!(diff[whole.shown.len()..].starts_with("@@ -1 +1 @@"));
        let single = format!("@@ -1 +1 @@\n{}", "+line of text\n".repeat(10_000));
        assert!(Whole::of(&single, SHOWN_CHARS).shown.chars().count() > SHOWN_CHARS - 100);
        let endless = "x".repeat(100_000);
        assert_eq!(Whole::of(&endless, SHOWN_CHARS).left(), 1, "a line in part is not shown");
    }

    #[test]
    fn texts_that_differ_behind_the_cut_have_other_references() {
        let text = |last: &str| format!("{}{last}", "+a line\n".repeat(20_000));
        let (one, two) = (text("+1\n"), text("+2\n"));
        let (one, two) = (Whole::of(&one, SHOWN_CHARS), Whole::of(&two, SHOWN_CHARS));
        assert_eq!(one.shown, two.shown);
        assert_ne!(one.reference(), two.reference());
    }

    #[test]
    fn parts_put_together_are_the_text() {
        for text in ["", "a", "a\n", "a\nb", "a\n\nb\n", &"x\ny".repeat(700)] {
            let (mut all, mut from) = (String::new(), 0);
            loop {
                let (part, lines) = part(text, from, 3);
                all.push_str(part);
                from += lines;
                if lines == 0 {
                    break;
                }
            }
            assert_eq!(all, text);
        }
    }
}
