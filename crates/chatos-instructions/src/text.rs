//! A text file as a model reads it: without front matter, without comments on lines of their own, without characters
//! that hide. Pure.

/// Most of a file that is looked at.
pub(crate) const MOST_READ: usize = 1024 * 1024;

/// Why the bytes of a file are not taken for text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoText {
    Nul,
    Utf8,
}

/// The text of a file of which at most [`MOST_READ`] bytes were read.
pub(crate) fn decode(bytes: &[u8]) -> Result<&str, NoText> {
    if bytes.contains(&0) {
        return Err(NoText::Nul);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text),
        // Reading stopped inside a character.
        Err(error) if error.error_len().is_none() && bytes.len() >= MOST_READ => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).map_err(|_| NoText::Utf8)
        }
        Err(_) => Err(NoText::Utf8),
    }
}

/// Without front matter, comments and hidden characters.
pub(crate) fn clean(text: &str) -> String {
    let plain = chatos_mcp::plain_for_model(text);
    let body = without_front_matter(&plain);
    without_comments(body).trim().to_owned()
}

fn without_front_matter(text: &str) -> &str {
    let Some(rest) = text.strip_prefix("---\n") else { return text };
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        at += line.len();
        if line.trim_end() == "---" {
            return &rest[at..];
        }
    }
    text
}

fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut fence = Fence::default();
    let mut rest = text;
    while let Some(line) = rest.split_inclusive('\n').next() {
        if !fence.inside_after(line) && line.trim_start().starts_with("<!--") {
            let lead = line.len() - line.trim_start().len();
            let closed = rest[lead + 4..].find("-->").map(|at| lead + 4 + at + 3);
            if let Some(end) = closed {
                let tail = rest[end..].split_inclusive('\n').next().unwrap_or_default();
                if tail.trim().is_empty() {
                    rest = &rest[end + tail.len()..];
                    continue;
                }
            }
        }
        kept.push_str(line);
        rest = &rest[line.len()..];
    }
    kept
}

/// Whether lines lie in a fenced block of code.
#[derive(Debug, Default)]
pub(crate) struct Fence {
    open: Option<(char, usize)>,
}

impl Fence {
    /// Takes the next line; whether it is part of a block.
    pub(crate) fn inside_after(&mut self, line: &str) -> bool {
        let line = line.trim();
        let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'));
        let length = mark.map_or(0, |mark| line.chars().take_while(|c| *c == mark).count());
        match self.open {
            None => {
                if let Some(mark) = mark.filter(|_| length >= 3) {
                    self.open = Some((mark, length));
                }
                self.open.is_some()
            }
            Some((open, least)) => {
                if mark == Some(open) && length >= least && line.len() == length {
                    self.open = None;
                }
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_on_lines_of_their_own_and_front_matter_go() {
        for (text, expected) in [
            ("---\nx: 1\n---\n# A\n", "# A"),
            ("---\nnever ends\n", "---\nnever ends"),
            ("a\n<!-- gone -->\nb", "a\nb"),
            ("a\n<!-- gone\nover\nlines -->\nb", "a\nb"),
            ("a <!-- stays --> b", "a <!-- stays --> b"),
            ("<!-- x --> y", "<!-- x --> y"),
            ("<!-- open\nb", "<!-- open\nb"),
            ("```\n<!-- code -->\n```\n<!-- gone -->", "```\n<!-- code -->\n```"),
            ("a\r\nb\u{202e}c\u{e0041}", "a\nbc"),
            ("", ""),
            ("<!---->\nx", "x"),
        ] {
            assert_eq!(clean(text), expected, "{text:?}");
        }
    }

    #[test]
    fn what_is_no_text_is_told_apart() {
        assert_eq!(decode(b"a\0b"), Err(NoText::Nul));
        assert_eq!(decode(b"a\xff"), Err(NoText::Utf8));
        assert_eq!(decode("界".as_bytes()), Ok("界"));
        let mut cut = vec![b'x'; MOST_READ - 1];
        cut.push("界".as_bytes()[0]);
        assert_eq!(decode(&cut).map(str::len), Ok(MOST_READ - 1));
        assert_eq!(decode(&cut[1..]), Err(NoText::Utf8));
    }
}
