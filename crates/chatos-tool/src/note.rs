//! What a person writes beside an answer, as a model is given it (inbox §1.4).

/// Most characters of a note.
const CHARS: usize = 4_000;

/// The note as one line without control characters; `None` when nothing is left of it.
pub fn persons_note(text: &str) -> Option<String> {
    let plain = text.chars().filter_map(|c| match c {
        '\n' | '\t' | '\u{2028}' | '\u{2029}' => Some(' '),
        c if c.is_control() => None,
        c => Some(c),
    });
    let note: String = plain.take(CHARS).collect();
    let note = note.trim();
    (!note.is_empty()).then(|| note.to_owned())
}

/// Text that nobody takes for the person's own words: labelled, between fences it cannot close.
pub fn fenced(label: &str, text: &str) -> String {
    let label = label.split_whitespace().collect::<Vec<_>>().join(" ");
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("[{label}]\n{fence}\n{}\n{fence}", text.trim_end_matches('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_one_line_without_control_characters_and_has_an_end() {
        assert_eq!(
            persons_note(" use\nthe\tother\u{1b}[31m one\u{0} "),
            Some("use the other[31m one".to_owned())
        );
        assert_eq!(persons_note("\u{7}\n "), None);
        let long = "长".repeat(5_000);
        assert_eq!(persons_note(&long).unwrap().chars().count(), CHARS);
    }
}
