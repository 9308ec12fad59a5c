//! Texts with places: `$ARGUMENTS`, `$1` to `$9`, the words a person typed, and the files a text names with `@`.

/// The words of a line; quotes keep spaces and are gone.
pub fn words(line: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), c) if c == open => quote = None,
            (None, c) if c.is_whitespace() => all.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    all.extend(word);
    all
}

/// A text with what was typed in its places, looked at once: what was typed is never a place itself. Without a place,
/// what was typed stands at the end.
pub(crate) fn fill(text: &str, typed: &str) -> String {
    let typed = typed.trim();
    let words = words(typed);
    let mut filled = String::with_capacity(text.len() + typed.len());
    let mut places = 0;
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        filled.push_str(&rest[..at]);
        let behind = &rest[at + 1..];
        let digit = behind.bytes().next().filter(|byte| (b'1'..=b'9').contains(byte));
        if let Some(after) = behind.strip_prefix("ARGUMENTS").filter(|after| !goes_on(after)) {
            filled.push_str(typed);
            rest = after;
            places += 1;
        } else if let Some(digit) = digit.filter(|_| !behind[1..].starts_with(|c: char| c.is_ascii_digit())) {
            let word = words.get(usize::from(digit - b'1'));
            filled.push_str(word.map(String::as_str).unwrap_or_default());
            rest = &behind[1..];
            places += 1;
        } else {
            filled.push('$');
            rest = behind;
        }
    }
    filled.push_str(rest);
    if places == 0 && !typed.is_empty() {
        filled.truncate(filled.trim_end().len());
        filled.push_str("\n\n");
        filled.push_str(typed);
    }
    filled
}

/// Whether a name goes on, so that another one is meant.
fn goes_on(after: &str) -> bool {
    after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
}

/// The paths a text names with `@`: at the beginning of a word, up to the next space, without what ends a sentence.
/// Each is named once.
pub fn mentioned(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for word in
        text.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '"' | '\'' | '`' | '，' | '。'))
    {
        let Some(path) = word.strip_prefix('@') else { continue };
        let path = path.trim_end_matches(['.', ',', ';', ':', '!', '?']);
        if !path.is_empty() && !all.iter().any(|known| known == path) {
            all.push(path.to_owned());
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_at_spaces_and_quotes_join() {
        assert_eq!(words(r#"one "two words" 'it''s' """#), ["one", "two words", "its", ""]);
        assert_eq!(words("  "), Vec::<String>::new());
        assert_eq!(words("open \"quote"), ["open", "quote"]);
    }

    #[test]
    fn places_are_filled_once_and_nothing_typed_is_a_place() {
        for (text, typed, expected) in [
            ("Review $ARGUMENTS.", "a  b", "Review a  b."),
            ("From $1 to $2, $3!", "x 'y z'", "From x to y z, !"),
            ("$1 and $ARGUMENTS", "$2 $ARGUMENTS", "$2 and $2 $ARGUMENTS"),
            ("Costs $10, $0 and $ARGUMENTS_LIST", "", "Costs $10, $0 and $ARGUMENTS_LIST"),
            ("Explain.\n", "this file", "Explain.\n\nthis file"),
            ("Explain.", "", "Explain."),
            ("ends with $", "x", "ends with $\n\nx"),
            ("价格 $1 元", "五", "价格 五 元"),
        ] {
            assert_eq!(fill(text, typed), expected, "{text}");
        }
    }

    #[test]
    fn a_text_names_files_with_an_at_sign_at_the_beginning_of_words() {
        let text = "Look at @src/main.rs, (@docs/a.md) and me@example.com; @src/main.rs again. @ @。";
        assert_eq!(mentioned(text), ["src/main.rs", "docs/a.md"]);
    }
}
