//! From the bytes a program sends to a terminal to the text a person would have seen.

/// Removes control sequences, turns CRLF into LF, and leaves the last state of lines that were rewritten: with CR or
/// backspace, or by going up to them, as programs do that draw several bars. Nothing else a sequence asks for is done:
/// what was printed is neither hidden nor moved. Bytes that are no UTF-8 become U+FFFD.
pub(crate) fn clean(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    // Most output has nothing to clean; looking is cheaper than copying.
    let plain = |c: u8| (c >= 0x20 && c != 0x7f) || c == b'\n' || c == b'\t';
    if text.bytes().all(plain) && !text.contains('\u{9b}') {
        return text.into_owned();
    }
    let mut lines = Lines::default();
    read(&text, &mut lines);
    lines.done.join("\n")
}

/// What a terminal shows, line by line.
struct Lines {
    done: Vec<String>,
    /// The line that is written to.
    at: usize,
    /// The next letter begins the line anew. An older, longer text does not shine through: who cares erases it.
    anew: bool,
}

impl Default for Lines {
    fn default() -> Self {
        Self { done: vec![String::new()], at: 0, anew: false }
    }
}

impl Lines {
    fn put(&mut self, c: char) {
        if let Some(line) = self.done.get_mut(self.at) {
            if std::mem::take(&mut self.anew) {
                line.clear();
            }
            line.push(c);
        }
    }

    fn back(&mut self) {
        match self.done.get_mut(self.at) {
            Some(line) if !self.anew => drop(line.pop()),
            _ => {}
        }
    }

    fn down(&mut self) {
        self.at += 1;
        // A line below that is there already is one that was gone up from.
        self.anew = self.at < self.done.len();
        if !self.anew {
            self.done.push(String::new());
        }
    }

    fn up(&mut self, lines: usize) {
        self.at = self.at.saturating_sub(lines.max(1));
        self.anew = true;
    }
}

/// Reads escape sequences and control characters; only going up, CR, LF, tab and backspace do something.
fn read(text: &str, lines: &mut Lines) {
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => match chars.next() {
                // CSI: parameters, then one final letter.
                Some('[') => sequence(&mut chars, lines),
                // OSC, DCS, SOS, PM, APC: text up to BEL or ST.
                Some(']' | 'P' | 'X' | '^' | '_') => {
                    let mut before = ' ';
                    for (count, c) in chars.by_ref().enumerate() {
                        // An unfinished one must not swallow everything that follows.
                        if c == '\u{7}' || (before == '\u{1b}' && c == '\\') || c == '\n' || count > 4096 {
                            if c == '\n' {
                                lines.down();
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
            '\u{9b}' => sequence(&mut chars, lines),
            '\n' => lines.down(),
            '\r' => lines.anew = true,
            '\u{8}' => lines.back(),
            c if c.is_control() && c != '\t' => {}
            c => lines.put(c),
        }
    }
}

/// A control sequence behind its introducer: `A` and `F` go up, all others do nothing.
fn sequence(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, lines: &mut Lines) {
    let mut count = String::new();
    while let Some(c) = chars.peek().copied() {
        // A sequence is short and has no line ends; anything else was none.
        if c == '\n' || c == '\u{1b}' {
            return;
        }
        chars.next();
        if ('\u{40}'..='\u{7e}').contains(&c) {
            if matches!(c, 'A' | 'F') {
                lines.up(count.parse().unwrap_or(1));
            }
            return;
        }
        count.push(c);
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
            // One bar, then two bars drawn again and again, as npm and docker do.
            (b"1/2\n\x1b[1A\x1b[2K2/2\ndone\n", "2/2\ndone\n"),
            (b"a 10%\nb 10%\n\x1b[2A\ra 100%\x1b[K\n\rb 50%\n\x1b[1Fb 100%\nend", "a 100%\nb 100%\nend"),
            // Going up and saying nothing changes nothing; nor does clearing the screen.
            (b"kept\nlast\n\x1b[2A\n\n", "kept\nlast\n"),
            (b"kept\n\x1b[2J\x1b[1;1Hnew\n", "kept\nnew\n"),
            (b"top\n\x1b[99999999999999999999Anew\n", "new\n"),
            (b"tab\tkept\n", "tab\tkept\n"),
        ] {
            assert_eq!(clean(bytes), text, "{:?}", String::from_utf8_lossy(bytes));
        }
    }
}
