//! What a file is, by its bytes alone: names and types of browsers say little.

/// A file that models get as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the formats")]
pub enum Kind {
    /// UTF-8 without zeroes: prose, code, tables, logs.
    Text,
    Pdf,
    Docx,
    Pptx,
    Xlsx,
    Odt,
    Odp,
    Ods,
}

const ALL: [(Kind, &str, &str); 8] = [
    (Kind::Text, "text", "text/plain"),
    (Kind::Pdf, "pdf", "application/pdf"),
    (Kind::Docx, "docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    (Kind::Pptx, "pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    (Kind::Xlsx, "xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    (Kind::Odt, "odt", "application/vnd.oasis.opendocument.text"),
    (Kind::Odp, "odp", "application/vnd.oasis.opendocument.presentation"),
    (Kind::Ods, "ods", "application/vnd.oasis.opendocument.spreadsheet"),
];

impl Kind {
    /// The word for it, which is also the usual ending of its names.
    pub fn as_str(self) -> &'static str {
        ALL.iter().find(|(kind, ..)| *kind == self).map_or("", |(_, word, _)| word)
    }

    /// The media type it is sent and kept with.
    pub fn mime(self) -> &'static str {
        ALL.iter().find(|(kind, ..)| *kind == self).map_or("", |(.., mime)| mime)
    }

    /// The kind a word names.
    pub fn of_word(word: &str) -> Option<Self> {
        ALL.iter().find(|(_, known, _)| *known == word).map(|(kind, ..)| *kind)
    }
}

/// What a file is; nothing for what no reader here reads, pictures included.
pub fn kind_of(bytes: &[u8]) -> Option<Kind> {
    // Some writers put a few bytes in front.
    if memchr::memmem::find(&bytes[..bytes.len().min(1024)], b"%PDF-").is_some() {
        return Some(Kind::Pdf);
    }
    if bytes.starts_with(b"PK\x03\x04") {
        return packed(bytes);
    }
    std::str::from_utf8(bytes).is_ok_and(|text| !text.contains('\0')).then_some(Kind::Text)
}

/// Names inside an archive stand in it uncompressed; OpenDocument says what it is at its very beginning.
fn packed(bytes: &[u8]) -> Option<Kind> {
    let head = &bytes[..bytes.len().min(256)];
    for kind in [Kind::Odt, Kind::Odp, Kind::Ods] {
        if memchr::memmem::find(head, format!("mimetype{}", kind.mime()).as_bytes()).is_some() {
            return Some(kind);
        }
    }
    let parts: [(&[u8], Kind); 3] = [
        (b"word/document.xml", Kind::Docx),
        (b"ppt/presentation.xml", Kind::Pptx),
        (b"xl/workbook.xml", Kind::Xlsx),
    ];
    parts.into_iter().find(|(name, _)| memchr::memmem::find(bytes, name).is_some()).map(|(_, kind)| kind)
}

/// A file of the old Office, or a new one behind a password: both have this form.
pub fn old_office(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1])
}

/// A file's text as part of a message: its name, and a fence longer than any inside.
pub fn fence(name: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    let name: String = name.chars().map(|c| if c == '`' || c.is_control() { ' ' } else { c }).collect();
    format!("\n\nFile `{name}`:\n{fence}\n{}\n{fence}", text.strip_suffix('\n').unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_say_what_a_file_is() {
        let odt = b"PK\x03\x04..........................mimetypeapplication/vnd.oasis.opendocument.text";
        for (bytes, expected) in [
            (&b"%PDF-1.7\n\x00"[..], Some(Kind::Pdf)),
            (b"\xef\xbb\xbf%PDF-1.4", Some(Kind::Pdf)),
            (b"PK\x03\x04 word/document.xml", Some(Kind::Docx)),
            (b"PK\x03\x04 a.txt", None),
            (odt, Some(Kind::Odt)),
            ("你好".as_bytes(), Some(Kind::Text)),
            (b"", Some(Kind::Text)),
            (b"a\0b", None),
            (b"\xff\xfe", None),
        ] {
            assert_eq!(kind_of(bytes), expected, "{bytes:?}");
        }
        for (kind, word, _) in ALL {
            assert_eq!(Kind::of_word(word), Some(kind));
        }
    }

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        assert_eq!(fence("a`b.md", "x\n```\ny\n"), "\n\nFile `a b.md`:\n````\nx\n```\ny\n````");
    }
}
