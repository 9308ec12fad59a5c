//! Text in files: what counts as binary, which encoding, which line ends (servers §2.2, §2.4).

use serde::Serialize;
use similar::DiffOp;

use crate::lines::compare;

/// How much of a file decides whether it is binary.
pub const SNIFF_BYTES: usize = 8_192;
/// The UTF-8 byte order mark.
pub const BOM: &[u8] = b"\xef\xbb\xbf";

/// The encoding of a text file as results name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Encoding {
    /// Valid UTF-8.
    #[serde(rename = "utf-8")]
    Utf8,
    /// UTF-16, little end first, with its mark.
    #[serde(rename = "utf-16le")]
    Utf16Le,
    /// UTF-16, big end first, with its mark.
    #[serde(rename = "utf-16be")]
    Utf16Be,
    /// Some 8-bit text; shown with U+FFFD.
    #[serde(rename = "unknown-8bit")]
    Unknown8Bit,
}

/// The line ends of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Eol {
    /// LF only.
    Lf,
    /// CRLF only.
    Crlf,
    /// Both.
    Mixed,
    /// No line end at all.
    None,
}

impl Eol {
    /// From the number of all LF and of those after a CR.
    pub fn from_counts(newlines: u64, crlf: u64) -> Self {
        match (newlines, crlf) {
            (0, _) => Self::None,
            (_, 0) => Self::Lf,
            (all, some) if all == some => Self::Crlf,
            _ => Self::Mixed,
        }
    }

    /// The line ends of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let newlines = memchr::memchr_iter(b'\n', bytes).count() as u64;
        Self::from_counts(newlines, memchr::memmem::find_iter(bytes, b"\r\n").count() as u64)
    }
}

/// UTF-16 by its mark, when there is one.
pub fn utf16_mark(head: &[u8]) -> Option<Encoding> {
    match head {
        [0xff, 0xfe, 0, 0, ..] => None, // UTF-32; its NUL bytes make it binary
        [0xff, 0xfe, ..] => Some(Encoding::Utf16Le),
        [0xfe, 0xff, ..] => Some(Encoding::Utf16Be),
        _ => None,
    }
}

/// servers §2.2: NUL in the first 8 192 bytes, or more than 30 % control bytes there.
pub fn is_binary(head: &[u8]) -> bool {
    let head = &head[..head.len().min(SNIFF_BYTES)];
    if utf16_mark(head).is_some() {
        return false;
    }
    if memchr::memchr(0, head).is_some() {
        return true;
    }
    let control = head.iter().filter(|b| {
        (**b < 0x20 && !matches!(**b, b'\n' | b'\r' | b'\t' | 0x0c | 0x1b | 0x08)) || **b == 0x7f
    });
    control.count() * 10 > head.len() * 3
}

/// Decodes UTF-16 after its mark.
pub fn decode_utf16(bytes: &[u8], encoding: Encoding) -> String {
    let body = bytes.get(2..).unwrap_or_default();
    let units = body.chunks_exact(2).map(|pair| match encoding {
        Encoding::Utf16Be => u16::from_be_bytes([pair[0], pair[1]]),
        _ => u16::from_le_bytes([pair[0], pair[1]]),
    });
    let mut text: String =
        char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    if body.len() % 2 == 1 {
        text.push(char::REPLACEMENT_CHARACTER);
    }
    text
}

/// A file's text as edits see it: LF only, no mark; with what is needed to write the file's own form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// LF text without byte order mark.
    pub text: String,
    /// The mark was there.
    pub bom: bool,
    /// The line ends that were there.
    pub eol: Eol,
    /// The original text after the mark; kept only for mixed line ends, where each line matters.
    original: Option<String>,
}

impl Document {
    /// Reads a file's bytes; `None` when they are not UTF-8 text.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        if is_binary(bytes) {
            return None;
        }
        let (bom, body) = match bytes.strip_prefix(BOM) {
            Some(rest) => (true, rest),
            None => (false, bytes),
        };
        let body = std::str::from_utf8(body).ok()?;
        let eol = Eol::of(body.as_bytes());
        let text = if matches!(eol, Eol::Crlf | Eol::Mixed) { to_lf(body) } else { body.to_owned() };
        let original = (eol == Eol::Mixed).then(|| body.to_owned());
        Some(Self { text, bom, eol, original })
    }

    /// The bytes of new LF text in this file's own form (servers §2.4).
    pub fn render(&self, new: &str) -> Vec<u8> {
        let mut out = Vec::with_capacity(new.len() + new.len() / 16 + 3);
        if self.bom {
            out.extend_from_slice(BOM);
        }
        match (self.eol, &self.original) {
            (Eol::Crlf, _) => push_crlf(&mut out, new),
            (Eol::Mixed, Some(original)) => render_mixed(&mut out, original, new),
            _ => out.extend_from_slice(new.as_bytes()),
        }
        out
    }
}

/// CRLF to LF; a lone CR stays.
pub fn to_lf(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// LF text written with CRLF. Text that already holds CRLF is not doubled.
pub fn push_crlf(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    while let Some(at) = memchr::memchr(b'\n', rest) {
        out.extend_from_slice(&rest[..at]);
        if out.last() != Some(&b'\r') || at == 0 {
            out.push(b'\r');
        }
        out.push(b'\n');
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

/// Untouched lines keep their own ending, new lines take that of the line before.
fn render_mixed(out: &mut Vec<u8>, original: &str, new: &str) {
    let old_lines: Vec<&str> = original.split_inclusive('\n').collect();
    let bare = |line: &'_ str| -> usize {
        line.strip_suffix("\r\n").or_else(|| line.strip_suffix('\n')).unwrap_or(line).len()
    };
    let old_bare: Vec<&str> = old_lines.iter().map(|line| &line[..bare(line)]).collect();
    let new_lines: Vec<&str> = new.split_inclusive('\n').collect();
    let new_bare: Vec<&str> = new_lines.iter().map(|line| &line[..bare(line)]).collect();
    let ends_crlf = |line: &str| line.ends_with("\r\n");
    // The first line has none before it; it takes the ending the file begins with.
    let mut previous = old_lines.first().is_some_and(|line| ends_crlf(line));
    let push = |out: &mut Vec<u8>, bare: &str, terminated: bool, crlf: bool| {
        out.extend_from_slice(bare.as_bytes());
        if terminated {
            out.extend_from_slice(if crlf { b"\r\n" } else { b"\n" });
        }
    };
    for op in compare(&old_bare, &new_bare, None) {
        let (old, new_range) = (op.old_range(), op.new_range());
        let kept = matches!(op, DiffOp::Equal { .. });
        for (step, index) in new_range.enumerate() {
            if kept && old_lines[old.start + step].ends_with('\n') {
                previous = ends_crlf(old_lines[old.start + step]);
            }
            push(out, new_bare[index], new_lines[index].ends_with('\n'), previous);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_is_decided_by_nul_and_control_bytes_of_the_head() {
        assert!(!is_binary(b""));
        assert!(!is_binary("plain \u{4e2d}\u{6587}\n\tx\r\n".as_bytes()));
        assert!(is_binary(b"a\0b"));
        assert!(is_binary(&[1, 2, 3, b'a', b'b', b'c', b'd']));
        assert!(!is_binary(&[1, 2, 3, b'a', b'b', b'c', b'd', b'e', b'f', b'g']));
        let mut late = vec![b'a'; SNIFF_BYTES];
        late.push(0);
        assert!(!is_binary(&late));
        assert!(!is_binary(b"\xff\xfea\0b\0"));
        assert!(is_binary(b"\xff\xfe\0\0a\0\0\0"));
    }

    #[test]
    fn the_form_of_a_file_survives_a_change() {
        let crlf = Document::parse(b"\xef\xbb\xbfa\r\nb\r\n").unwrap();
        assert_eq!((crlf.text.as_str(), crlf.bom, crlf.eol), ("a\nb\n", true, Eol::Crlf));
        assert_eq!(crlf.render("a\nx\nb\n"), b"\xef\xbb\xbfa\r\nx\r\nb\r\n");
        assert_eq!(Document::parse(b"a\r\nb").unwrap().render("a\nc"), b"a\r\nc");
        assert_eq!(Document::parse(b"a\nb").unwrap().render("a\nc"), b"a\nc");
        assert!(Document::parse(b"caf\xe9").is_none());
    }

    #[test]
    fn a_mixed_file_keeps_each_untouched_ending() {
        let mixed = Document::parse(b"one\r\ntwo\nthree\r\nfour\n").unwrap();
        assert_eq!(mixed.eol, Eol::Mixed);
        assert_eq!(mixed.render("one\ntwo\nthree\nfour\n"), b"one\r\ntwo\nthree\r\nfour\n");
        assert_eq!(
            mixed.render("one\nnew a\ntwo\nnew b\nthree\nfour\n"),
            b"one\r\nnew a\r\ntwo\nnew b\nthree\r\nfour\n"
        );
        assert_eq!(mixed.render("top\none\n"), b"top\r\none\r\n");
        assert_eq!(mixed.render("one\ntwo\nthree\nfour"), b"one\r\ntwo\nthree\r\nfour");
    }

    #[test]
    fn utf16_is_decoded_both_ways() {
        assert_eq!(decode_utf16(b"\xff\xfeh\0i\0\x3d\xd8\x00\xde", Encoding::Utf16Le), "hi\u{1f600}");
        assert_eq!(decode_utf16(b"\xfe\xff\0h\0i", Encoding::Utf16Be), "hi");
        assert_eq!(decode_utf16(b"\xff\xfe\x3d\xd8h", Encoding::Utf16Le), "\u{fffd}\u{fffd}");
    }

    #[test]
    fn crlf_is_never_doubled() {
        let mut out = Vec::new();
        push_crlf(&mut out, "a\nb\r\n\n");
        assert_eq!(out, b"a\r\nb\r\n\r\n");
    }
}
