//! Files that come with a message: taken from the wire, told apart by their bytes, within limits; and how a model reads
//! them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::session::Attachment;
use serde_json::json;

use crate::extractor::Extractor;
use crate::kind::{Kind, fence, kind_of, old_office};
use crate::{FILE_BYTES, FILES, MESSAGE_BYTES};

/// Pictures of one message (agents §7).
const PICTURES: usize = 4;
/// What a file without its text is marked with.
pub const NAME_ONLY: &str = "name_only";

/// A file of a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attached {
    /// As the person's system has it.
    pub name: String,
    /// Its media type, by what its bytes say.
    pub mime: String,
    /// The file as the person has it.
    pub bytes: Vec<u8>,
    /// The text of a document, once it is read.
    pub text: String,
    /// What a person should know about that text: a word of [`crate::Note`], [`NAME_ONLY`], or nothing.
    pub note: String,
    /// The server that gave it; empty for a file of the person.
    pub origin: String,
}

impl Attached {
    /// Whether models get it as a picture.
    pub fn is_picture(&self) -> bool {
        self.mime.starts_with("image/")
    }

    fn document(&self) -> Option<Kind> {
        let kind = if self.is_picture() { None } else { kind_of(&self.bytes) };
        kind.filter(|kind| *kind != Kind::Text && self.text.is_empty() && self.note.is_empty())
    }
}

fn wrong(path: &str, en: impl AsRef<str>, zh: impl AsRef<str>) -> Fault {
    let text = Text::new(format!("{path}: {}", en.as_ref()), format!("{path}：{}", zh.as_ref()));
    Fault::new(ErrorCode::InvalidArgument, text)
}

/// The files of a message, checked.
pub fn attached(orders: &[Attachment]) -> Result<Vec<Attached>, Fault> {
    if orders.len() > FILES {
        return Err(wrong("/attachments", format!("at most {FILES} files"), format!("最多 {FILES} 个文件"))
            .code("too_many_attachments"));
    }
    let mut files = Vec::new();
    let mut whole = 0_usize;
    for (index, order) in orders.iter().enumerate() {
        let file = one(&format!("/attachments/{index}"), order)?;
        whole += file.bytes.len();
        if whole > MESSAGE_BYTES {
            return Err(wrong("/attachments", "at most 50 MiB together", "合计最多 50 MiB")
                .code("attachment_too_large"));
        }
        files.push(file);
    }
    if files.iter().filter(|file| file.is_picture()).count() > PICTURES {
        let (en, zh) = (format!("at most {PICTURES} images"), format!("最多 {PICTURES} 张图片"));
        return Err(wrong("/attachments", en, zh).code("too_many_attachments"));
    }
    Ok(files)
}

fn clean(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(200).collect()
}

fn one(at: &str, order: &Attachment) -> Result<Attached, Fault> {
    let (mime, data) = match (&order.data, &order.data_url) {
        (Some(data), _) => (order.mime.clone(), data.as_str()),
        (None, Some(url)) => {
            let parsed = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
            let (mime, data) = parsed
                .ok_or_else(|| wrong(at, "dataUrl is not a base64 data URL", "dataUrl 不是 base64 数据"))?;
            (mime.to_owned(), data)
        }
        (None, None) => return Err(wrong(at, "data is missing", "缺少 data")),
    };
    let too_large = || wrong(at, "at most 25 MiB", "最多 25 MiB").code("attachment_too_large");
    if data.len() / 4 * 3 > FILE_BYTES + 3 {
        return Err(too_large());
    }
    let bytes =
        STANDARD.decode(data.trim()).map_err(|_| wrong(at, "data is not Base64", "data 不是 Base64"))?;
    if bytes.len() > FILE_BYTES {
        return Err(too_large());
    }
    let mime = mime.trim().to_ascii_lowercase();
    let name = clean(&order.name);
    let origin = order.origin.as_deref().map(clean).unwrap_or_default();
    let note = if order.name_only { NAME_ONLY.to_owned() } else { String::new() };
    if mime.starts_with("image/") {
        if !chatos_pictures::is_picture(&mime, &bytes) {
            return Err(wrong(at, "not a PNG, JPEG, GIF or WebP image", "不是 PNG、JPEG、GIF 或 WebP 图片"));
        }
        return Ok(Attached { name, mime, bytes, origin, ..Attached::default() });
    }
    let mime = match kind_of(&bytes) {
        // What a text is called by whoever sent it says more than that it is one.
        Some(Kind::Text) if !mime.is_empty() && mime != "application/octet-stream" => mime,
        Some(kind) => kind.mime().to_owned(),
        None => return Err(unsupported(&name, &bytes)),
    };
    Ok(Attached { name, mime, bytes, note, origin, ..Attached::default() })
}

/// Nothing here reads such a file; said with what can be attached.
pub fn unsupported(name: &str, bytes: &[u8]) -> Fault {
    let hint = if old_office(bytes) {
        Text::fixed(
            "save it as .docx, .pptx or .xlsx without a password",
            "请另存为不带密码的 .docx、.pptx 或 .xlsx",
        )
    } else {
        Text::fixed(
            "attach text or code in UTF-8, PDF, docx, pptx, xlsx, odt, odp, ods, or a PNG, JPEG, GIF or WebP image",
            "可附加 UTF-8 文本或代码、PDF、docx、pptx、xlsx、odt、odp、ods，或 PNG、JPEG、GIF、WebP 图片",
        )
    };
    Fault::new(
        ErrorCode::InvalidArgument,
        Text::new(format!("`{name}` is a file that cannot be read here"), format!("不支持读取文件“{name}”")),
    )
    .code("unsupported_file")
    .hint(hint)
}

impl Extractor {
    /// Reads the documents among the files of a message. One that cannot be read fails all, so that a person decides
    /// whether to send its name alone.
    pub async fn read_all(&self, files: &mut [Attached]) -> Result<(), Fault> {
        for file in files {
            let Some(kind) = file.document() else { continue };
            match self.extract(kind, file.bytes.clone()).await {
                Ok(read) => {
                    file.text = read.text;
                    file.note = read.note.map_or("", crate::Note::as_str).to_owned();
                }
                Err(unread) => {
                    let details = json!({ "file": file.name, "reason": unread.code });
                    return Err(Fault::new(ErrorCode::InvalidArgument, unread.said(&file.name))
                        .code("extract_failed")
                        .details(details)
                        .hint(Text::fixed(
                            "send only its name, or send the message without it",
                            "可以只发送文件名，或不带该文件发送",
                        )));
                }
            }
        }
        Ok(())
    }
}

/// A file as a model reads it: its text with its name, or its name alone.
pub fn in_message(name: &str, origin: &str, mime: &str, size: i64, text: Option<&str>) -> String {
    match text {
        Some(text) if !origin.is_empty() => {
            let label = format!("{name}, attached by the person from {origin}");
            format!("\n\n{}", chatos_tool::fenced(&label, text))
        }
        Some(text) => fence(name, text),
        None => format!("\n\n[file {name}: {size} bytes of {mime}; its content is not here]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(name: &str, mime: &str, bytes: &[u8]) -> Attachment {
        let data = Some(STANDARD.encode(bytes));
        Attachment { name: name.to_owned(), mime: mime.to_owned(), data, ..Attachment::default() }
    }

    fn refused(orders: &[Attachment]) -> String {
        attached(orders).unwrap_err().code.into_owned()
    }

    #[test]
    fn files_are_what_they_say_or_refused() {
        let png = b"\x89PNG\r\n\x1a\nrest";
        let good = order("a.png", "image/png", png);
        assert_eq!(attached(std::slice::from_ref(&good)).unwrap()[0].bytes, png);
        let url = format!("data:image/png;base64,{}", STANDARD.encode(png));
        let url = Attachment { data_url: Some(url), ..Attachment::default() };
        assert_eq!(attached(&[url]).unwrap()[0].mime, "image/png");
        let pdf = order("a.txt", "text/plain", b"%PDF-1.7 \x00");
        assert_eq!(attached(&[pdf]).unwrap()[0].mime, "application/pdf");
        assert_eq!(attached(&[order("a.rs", "text/x-rust", b"fn")]).unwrap()[0].mime, "text/x-rust");
        for (mime, bytes) in [("image/svg+xml", &b"<svg>"[..]), ("image/png", b"\0\0\0"), ("", b"\x7fELF\0")]
        {
            assert!(attached(&[order("x", mime, bytes)]).is_err(), "{mime}");
        }
        let garbage = Attachment { data: Some("%%%".to_owned()), ..Attachment::default() };
        assert!(attached(&[garbage, Attachment::default()]).is_err());
        let old = order("a.doc", "", &[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, 0]);
        assert!(attached(&[old]).unwrap_err().hint.unwrap().en.contains("without a password"));
        assert_eq!(refused(&vec![good; 5]), "too_many_attachments");
    }

    #[test]
    fn a_message_holds_ten_files_25_mib_each_and_50_together() {
        let of = |size: usize| order("a.txt", "text/plain", &vec![b'a'; size]);
        assert_eq!(refused(&vec![of(1); 11]), "too_many_attachments");
        assert_eq!(attached(&vec![of(1); 10]).unwrap().len(), 10);
        assert_eq!(refused(&[of(FILE_BYTES + 1)]), "attachment_too_large");
        assert_eq!(attached(&[of(FILE_BYTES), of(FILE_BYTES)]).unwrap().len(), 2);
        assert_eq!(refused(&[of(FILE_BYTES), of(FILE_BYTES), of(1)]), "attachment_too_large");
    }
}
