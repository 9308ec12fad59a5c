//! From the bytes a program sends to a terminal to the text a person would have seen.

use std::borrow::Cow;

/// Removes control sequences, turns CRLF into LF, and leaves the last state of a line that was rewritten
/// with CR or backspace. Bytes that are no UTF-8 become U+FFFD.
pub(crate) fn clean(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    // Most output has nothing to clean; looking is cheaper than copying.
    let plain = |c: u8| (c >= 0x20 && c != 0x7f) || c == b'\n' || c == b'\t';
    if text.bytes().all(plain) && !text.contains('\u{9b}') {
        return text.into_owned();
    }
    let text = without_sequences(&text);
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (body, end) = match line.strip_suffix('\n') {
            Some(body) => (body, "\n"),
            None => (line, ""),
        };
        let body = body.trim_end_matches('\r');
        if body.contains(['\r', '\u{8}']) {
            overwritten(body, &mut out);
        } else {
            out.push_str(body);
        }
        out.push_str(end);
    }
    out
}

/// What a terminal shows of a line after carriage returns and backspaces.
fn overwritten(line: &str, out: &mut String) {
    // The last text behind a CR is the state of a progress line; an older, longer one does not shine
    // through, because programs that care erase it with a sequence that is gone by now.
    let last = line.rsplit('\r').find(|part| !part.is_empty()).unwrap_or_default();
    let mut shown: Vec<char> = Vec::with_capacity(last.len());
    for c in last.chars() {
        if c == '\u{8}' {
            shown.pop();
        } else {
            shown.push(c);
        }
    }
    out.extend(shown);
}

/// Drops escape sequences and control characters except tab, LF, CR and backspace.
fn without_sequences(text: &str) -> Cow<'_, str> {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => match chars.next() {
                // CSI: parameters, then one final letter.
                Some('[') => skip_until(&mut chars, |c| ('\u{40}'..='\u{7e}').contains(&c)),
                // OSC, DCS, SOS, PM, APC: text up to BEL or ST.
                Some(']' | 'P' | 'X' | '^' | '_') => {
                    let mut before = ' ';
                    for (count, c) in chars.by_ref().enumerate() {
                        // An unfinished one must not swallow everything that follows.
                        if c == '\u{7}' || (before == '\u{1b}' && c == '\\') || c == '\n' || count > 4096 {
                            if c == '\n' {
                                out.push('\n');
                            }
                            break;
                        }
                        before = c;
                    }
                }
                // Character sets and the like have one more letter.
                Some('(' | ')' | '*' | '+' | '#' | '%' | ' ') => {
                    chars.next();
                }
                _ => {}
            },
            '\u{9b}' => skip_until(&mut chars, |c| ('\u{40}'..='\u{7e}').contains(&c)),
            '\t' | '\n' | '\r' | '\u{8}' => out.push(c),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

fn skip_until(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, ends: impl Fn(char) -> bool) {
    while let Some(c) = chars.peek().copied() {
        // A sequence is short and has no line ends; anything else was none.
        if c == '\n' || c == '\u{1b}' {
            return;
        }
        chars.next();
        if ends(c) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_what_a_person_would_have_seen() {
        for (bytes, text) in [
            (&b"plain\n"[..], "plain\n"),
            (b"a\r\nb\r\n", "a\nb\n"),
            (b"\x1b[31mred\x1b[0m and \x1b[1;4mbold\x1b[m\n", "red and bold\n"),
            (b"10%\r50%\r100%\n", "100%\n"),
            (b"done\r\n50%\r", "done\n50%"),
            (b"abc\x08\x08xy\n", "axy\n"),
            (b"\x1b]0;title\x07shown\x1b]8;;http://x\x1b\\link\n", "shownlink\n"),
            (b"\x1b(Bx\x1b=y\x07\n", "xy\n"),
            (b"bad \xff\xfe bytes\n", "bad \u{fffd}\u{fffd} bytes\n"),
            ("中文 \u{1b}[32m绿\u{1b}[0m\n".as_bytes(), "中文 绿\n"),
            (b"\x1b]0;never closed\nnext\n", "\nnext\n"),
            (b"\x1b[", ""),
            (b"tab\tkept\n", "tab\tkept\n"),
        ] {
            assert_eq!(clean(bytes), text, "{:?}", String::from_utf8_lossy(bytes));
        }
    }
}
