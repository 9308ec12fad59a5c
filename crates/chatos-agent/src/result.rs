//! What a model is told of a tool's result (agents §7): plain text, cut in the middle, with the id of the
//! whole.

/// The text without terminal codes and control characters; line breaks and tabs stay.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => match chars.peek() {
                Some('[') => {
                    chars.next();
                    // A control sequence ends with a letter or one of a few signs.
                    while chars.next().is_some_and(|c| !('\u{40}'..='\u{7e}').contains(&c)) {}
                }
                Some(']' | 'P' | '^' | '_') => {
                    // A string sequence ends with BEL or ESC \.
                    while let Some(c) = chars.next() {
                        if c == '\u{7}' {
                            break;
                        }
                        if c == '\u{1b}' {
                            chars.next_if_eq(&'\\');
                            break;
                        }
                    }
                }
                _ => {
                    chars.next();
                }
            },
            '\n' | '\t' => out.push(c),
            '\r' => {
                if chars.peek() != Some(&'\n') {
                    out.push('\n');
                }
            }
            c if c.is_control() || ('\u{e0000}'..='\u{e007f}').contains(&c) => {}
            c => out.push(c),
        }
    }
    out
}

/// At most `limit` characters: head and tail with a marker that says how the whole is read, by the id of the call
/// or the file.
pub fn cut(text: &str, limit: usize, id: Option<&str>) -> String {
    // A text has at least as many bytes as characters, and counting them is quick.
    if text.len() <= limit || text.chars().count() <= limit {
        return text.to_owned();
    }
    let (head, tail) = split(limit);
    let from_start = text.char_indices().nth(head).map_or(text.len(), |(at, _)| at);
    let from_end = tail.checked_sub(1).and_then(|last| text.char_indices().nth_back(last));
    left_out(text, from_start, from_end.map_or(text.len(), |(at, _)| at), id)
}

/// The same, bounded in bytes: what a model reads is counted in those.
pub(crate) fn within(text: &str, bytes: usize, id: Option<&str>) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let (head, tail) = split(bytes);
    let (mut from_start, mut from_end) = (head, text.len() - tail);
    while !text.is_char_boundary(from_start) {
        from_start -= 1;
    }
    while !text.is_char_boundary(from_end) {
        from_end += 1;
    }
    left_out(text, from_start, from_end, id)
}

/// How much of the beginning and of the end stays.
fn split(limit: usize) -> (usize, usize) {
    let head = limit * 3 / 4;
    (head, limit - head)
}

fn left_out(text: &str, from: usize, to: usize, id: Option<&str>) -> String {
    let omitted = text[from..to].chars().count();
    let whole = id.map(|id| format!("; read_result id={id} reads them")).unwrap_or_default();
    format!("{}\n[… {omitted} characters left out{whole} …]\n{}", &text[..from], &text[to..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_codes_go_and_text_stays() {
        assert_eq!(plain("a\u{1b}[31mred\u{1b}[0m\r\nb\rc\u{0}\u{7}\td"), "ared\nb\nc\td");
        assert_eq!(plain("x\u{1b}]0;title\u{7}y\u{1b}]8;;http://a\u{1b}\\z"), "xyz");
        assert_eq!(plain("tag\u{e0041}s \u{85}界"), "tags 界");
        assert_eq!(plain("end\u{1b}"), "end");
    }

    #[test]
    fn the_middle_goes_and_the_whole_is_named() {
        let text = format!("{}{}", "界".repeat(700), "z".repeat(700));
        let short = cut(&text, 1000, Some("abc"));
        assert!(short.starts_with('界') && short.ends_with('z'));
        assert!(short.contains("400 characters left out; read_result id=abc reads them"), "{short}");
        assert_eq!(cut("short", 1000, None), "short");
    }

    #[test]
    fn bytes_are_bounded_whatever_the_letters() {
        for (text, bytes) in
            [("界".repeat(700), 1_001), ("é".repeat(40) + &"z".repeat(9_000), 51), ("ab".repeat(9), 0)]
        {
            let short = within(&text, bytes, None);
            let (head, rest) = short.split_once("\n[… ").unwrap();
            let (omitted, tail) = rest.split_once(" characters left out …]\n").unwrap();
            assert!(head.len() + tail.len() <= bytes && head.len() + tail.len() + 6 >= bytes, "{bytes}");
            assert!(text.starts_with(head) && text.ends_with(tail));
            let kept = head.chars().count() + tail.chars().count();
            assert_eq!(omitted.parse::<usize>().unwrap(), text.chars().count() - kept);
        }
        assert_eq!(within("short", 5, None), "short");
    }
}
