//! Patterns with `*` (any characters) and `?` (one), over words, names and paths.

/// Longest pattern that is read.
pub(crate) const MAX_PATTERN: usize = 512;

/// Whether `text` fits `pattern`. `stop` is a character that `*` and `?` do not stand for; `**` stands for it too.
pub(crate) fn fits(pattern: &str, text: &str, stop: Option<char>) -> bool {
    if pattern.len() > MAX_PATTERN {
        return false;
    }
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    // Row by row: which beginnings of the text fit the pattern so far.
    let mut fit = vec![false; text.len() + 1];
    fit[0] = true;
    let mut i = 0;
    while i < pattern.len() {
        let deep = pattern[i] == '*' && pattern.get(i + 1) == Some(&'*');
        let free = |c: char| deep || Some(c) != stop;
        let mut next = vec![false; text.len() + 1];
        match pattern[i] {
            '*' => {
                let mut open = false;
                for at in 0..=text.len() {
                    if at > 0 && !free(text[at - 1]) {
                        open = false;
                    }
                    open |= fit[at];
                    next[at] = open;
                }
            }
            '?' => (0..text.len()).for_each(|at| next[at + 1] = fit[at] && free(text[at])),
            c => (0..text.len()).for_each(|at| next[at + 1] = fit[at] && text[at] == c),
        }
        fit = next;
        i += if deep { 2 } else { 1 };
    }
    fit[text.len()]
}

/// Whether it stands for exactly one text.
pub(crate) fn is_exact(pattern: &str) -> bool {
    !pattern.contains(['*', '?'])
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn stars_stay_inside_a_part_of_a_path() {
        for (pattern, text, yes) in [
            ("src/*.rs", "src/a.rs", true),
            ("src/*.rs", "src/b/a.rs", false),
            ("src/**", "src/b/a.rs", true),
            ("**/a.rs", "src/b/a.rs", true),
            ("a?c", "abc", true),
            ("a?c", "a/c", false),
            ("*", "", true),
            ("", "a", false),
        ] {
            assert_eq!(fits(pattern, text, Some('/')), yes, "{pattern} {text}");
        }
        assert!(fits("--*=x", "--a/b=x", None));
        assert!(!fits(&"*".repeat(600), "a", None));
    }
}
