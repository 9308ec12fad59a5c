//! PDF: the text of each page with its number. A page that cannot be read does not take the others with it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pdf_extract::{Document, PlainTextOutput, output_doc_page};

use super::{Note, Read, Unread};

/// Fewer characters per page are the traces of a scan.
const SCANNED: usize = 20;

pub(super) fn read(bytes: &[u8]) -> Result<Read, Unread> {
    // Anything before the first mark counts as not there.
    let from = memchr::memmem::find(bytes, b"%PDF-").unwrap_or_default();
    let mut document = catch_unwind(|| Document::load_mem(&bytes[from..]))
        .map_err(|_| Unread::damaged("its structure"))?
        .map_err(|error| if is_locked(&error) { Unread::encrypted() } else { Unread::damaged(error) })?;
    // Many files only ask not to be printed: they open without a password.
    if document.is_encrypted() {
        document.decrypt("").map_err(|_| Unread::encrypted())?;
    }
    let pages = document.get_pages().len();
    if pages == 0 {
        return Err(Unread::damaged("it has no pages"));
    }
    let (mut text, mut letters, mut unread) = (String::new(), 0_usize, 0_usize);
    for number in 1..=pages as u32 {
        let page = catch_unwind(AssertUnwindSafe(|| {
            let mut page = String::new();
            output_doc_page(&document, &mut PlainTextOutput::new(&mut page), number).map(|()| page)
        }));
        text.push_str(&format!("[page {number} of {pages}]\n"));
        if let Ok(Ok(page)) = page {
            let page = tidy(&page);
            letters += page.chars().filter(|c| !c.is_whitespace()).count();
            text.push_str(&page);
        } else {
            unread += 1;
            text.push_str("[this page could not be read]");
        }
        text.push_str("\n\n");
        if text.len() > crate::TEXT_BYTES {
            break;
        }
    }
    if unread == pages {
        return Err(Unread::damaged("none of its pages could be read"));
    }
    let scanned = letters < SCANNED * pages;
    if scanned {
        text.push_str("[scanned: hardly any text could be read from these pages]\n");
    }
    let note = if scanned { Some(Note::Scanned) } else { (unread > 0).then_some(Note::Pages) };
    Ok(Read { text: text.trim_end().to_owned(), note })
}

fn is_locked(error: &impl std::fmt::Display) -> bool {
    let said = error.to_string().to_lowercase();
    said.contains("password") || said.contains("decrypt") || said.contains("encrypt")
}

/// Lines without their trailing spaces, and no two empty ones together.
fn tidy(page: &str) -> String {
    let mut out = String::with_capacity(page.len());
    for line in page.replace('\0', "").lines().map(str::trim_end) {
        if line.is_empty() && (out.is_empty() || out.ends_with("\n\n")) {
            continue;
        }
        out.push_str(line);
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    out
}
