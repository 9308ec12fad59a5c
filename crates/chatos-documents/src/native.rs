//! PDF files that a model reads itself: which of a chat go along as they are (working-day §7).
//!
//! Vendors count the pages and bytes of a whole request, so the newest files go and older ones are sent as text.

use crate::attached::Attached;
use crate::kind::Kind;
use crate::read::Note;

/// Pages that vendors take in one request.
const PAGES: u64 = 100;
/// Bytes of files in one request.
const BYTES: u64 = 20 * 1024 * 1024;
/// What a page costs: its text and its picture.
const PAGE_TOKENS: u64 = 2_000;

/// Pages of a PDF, by its text; nothing for other files.
pub fn pages_of(text: &str) -> Option<u64> {
    let count = text.strip_prefix("[page 1 of ")?.split_once(']')?.0;
    count.parse().ok()
}

/// How much of its files a model still takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Native {
    pages: u64,
    bytes: u64,
    tokens: u64,
}

impl Native {
    /// All of it, for a model with a window of so many tokens. Half of the window is left for everything else.
    pub fn new(window: u64) -> Self {
        Self { pages: PAGES, bytes: BYTES, tokens: window / 2 }
    }

    /// Nothing: every file goes as text.
    pub fn none() -> Self {
        Self { pages: 0, bytes: 0, tokens: 0 }
    }

    /// Whether a file of this kind, size and text goes along. After one that does not, no other does: what goes
    /// should be the newest files and no holes between them.
    pub fn takes(&mut self, mime: &str, bytes: u64, text: &str) -> bool {
        let Some(pages) = pages_of(text).filter(|_| mime == Kind::Pdf.mime()) else { return false };
        let left = (
            self.pages.checked_sub(pages),
            self.bytes.checked_sub(bytes),
            self.tokens.checked_sub(pages * PAGE_TOKENS),
        );
        match left {
            (Some(pages), Some(bytes), Some(tokens)) => {
                *self = Self { pages, bytes, tokens };
                true
            }
            _ => {
                *self = Self::none();
                false
            }
        }
    }
}

/// What names a PDF in the text of its message, and its tokens. `id` is what `read_result` knows its text by.
pub fn label(name: &str, origin: &str, id: &str, text: &str) -> (String, u64) {
    let pages = pages_of(text).unwrap_or(1);
    let from =
        if origin.is_empty() { String::new() } else { format!(", attached by the person from {origin}") };
    let name: String = name.chars().filter(|c| !matches!(c, '[' | ']') && !c.is_control()).collect();
    let said =
        format!("\n\n[file {name}{from}: {pages} pages, sent as it is; its text: read_result id={id}]");
    (said, pages * PAGE_TOKENS)
}

/// Takes the warning away that a scan has no text, where the model reads the file itself.
pub fn seen_by_model(files: &mut [Attached], mut left: Native) {
    for file in files.iter_mut().rev() {
        if left.takes(&file.mime, file.bytes.len() as u64, &file.text) && file.note == Note::Scanned.as_str()
        {
            file.note.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pdf(pages: u64) -> String {
        format!("[page 1 of {pages}]\nwords")
    }

    #[test]
    fn the_newest_files_go_along_within_what_vendors_take() {
        let mime = Kind::Pdf.mime();
        assert_eq!(pages_of(&pdf(30)), Some(30));
        assert_eq!((pages_of("words"), pages_of("[page 1 of many]")), (None, None));
        let mut wide = Native::new(1_000_000);
        assert!(wide.takes(mime, 1, &pdf(60)) && wide.takes(mime, 1, &pdf(40)));
        assert!(!wide.takes(mime, 1, &pdf(1)), "the hundred pages are used up");
        let mut heavy = Native::new(1_000_000);
        assert!(!heavy.takes(mime, BYTES + 1, &pdf(1)) && !heavy.takes(mime, 1, &pdf(1)));
        // A file that is no PDF takes nothing away.
        let mut small = Native::new(8_192);
        assert!(!small.takes("text/plain", 1, "words") && small.takes(mime, 1, &pdf(2)));
        assert!(!small.takes(mime, 1, &pdf(1)), "half of the window is for everything else");
        assert!(!Native::none().takes(mime, 1, &pdf(1)));
    }
}
