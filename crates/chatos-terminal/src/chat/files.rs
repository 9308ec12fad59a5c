//! Files that go with a message.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::session::AttachmentNote;
use serde_json::{Value, json};

/// The host takes no larger file; more than this is not read.
const MOST: u64 = chatos_documents::FILE_BYTES as u64;

/// A file as a message carries it.
#[derive(Debug, Clone)]
pub(super) struct File {
    pub(super) name: String,
    bytes: Vec<u8>,
    /// It goes without its text.
    pub(super) name_only: bool,
    /// The server that gave it; nothing for a file of the person.
    origin: Option<String>,
}

impl File {
    pub(super) fn new(name: &str, bytes: Vec<u8>, origin: Option<String>) -> Self {
        Self { name: name.to_owned(), bytes, name_only: false, origin }
    }

    /// Whether its text is read out of it.
    pub(super) fn is_document(&self) -> bool {
        !self.name_only
            && chatos_documents::kind_of(&self.bytes).is_some_and(|kind| kind != chatos_documents::Kind::Text)
    }

    pub(super) fn to_json(&self) -> Value {
        let data = chatos_host::encode_base64(&self.bytes);
        json!({
            "name": self.name, "mime": kind(&self.bytes), "data": data, "nameOnly": self.name_only,
            "origin": self.origin,
        })
    }
}

/// What a person should know about the text of a document, in words. That only its name goes was their own wish.
pub(super) fn noted(note: AttachmentNote) -> Option<Text> {
    Some(match note {
        AttachmentNote::Scanned => Text::fixed(
            "scanned, hardly any text could be read; choose a model that reads PDF (`/model`)",
            "扫描件，几乎没有可读取的文字；请选择可读取 PDF 的模型（`/model`）",
        ),
        AttachmentNote::Pages => Text::fixed("some pages could not be read", "部分页面无法读取"),
        AttachmentNote::Rows => {
            Text::fixed("only the first 2,000 rows of a sheet are read", "每个工作表只读取前 2,000 行")
        }
        AttachmentNote::Cut => Text::fixed("only the first 2 MiB of text are read", "只读取前 2 MiB 文本"),
        AttachmentNote::NameOnly => return None,
    })
}

/// What a file is, by its bytes: a picture, something with a text, or something else.
fn kind(bytes: &[u8]) -> &'static str {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => "image/png",
        [0xff, 0xd8, 0xff, ..] => "image/jpeg",
        [b'G', b'I', b'F', b'8', ..] => "image/gif",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "image/webp",
        _ => {
            chatos_documents::kind_of(bytes).map_or("application/octet-stream", chatos_documents::Kind::mime)
        }
    }
}

pub(super) fn read_all(paths: &[PathBuf], here: &Path) -> Result<Vec<File>, Fault> {
    paths.iter().map(|path| read(path, here)).collect()
}

pub(super) fn read(path: &Path, here: &Path) -> Result<File, Fault> {
    let mut bytes = Vec::new();
    std::fs::File::open(here.join(path))
        .and_then(|file| file.take(MOST + 1).read_to_end(&mut bytes))
        .map_err(|error| {
            Fault::new(
                ErrorCode::NotFound,
                Text::new(format!("cannot read {}", path.display()), format!("无法读取 {}", path.display())),
            )
            .caused_by(&error)
        })?;
    if bytes.len() as u64 > MOST {
        return Err(Fault::new(
            ErrorCode::InvalidArgument,
            Text::new(
                format!("{} is larger than 25 MiB", path.display()),
                format!("{} 超过 25 MiB", path.display()),
            ),
        )
        .code("attachment_too_large"));
    }
    if kind(&bytes) == "application/octet-stream" {
        return Err(chatos_documents::unsupported(&path.display().to_string(), &bytes));
    }
    let name = path.file_name().map_or_else(|| "file".to_owned(), |name| name.to_string_lossy().into_owned());
    Ok(File { name, bytes, name_only: false, origin: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_what_its_first_bytes_say() {
        for (bytes, expected) in [
            (&b"\x89PNG\r\n"[..], "image/png"),
            (b"\xff\xd8\xff\xe0", "image/jpeg"),
            (b"RIFF0000WEBPVP8", "image/webp"),
            ("你好".as_bytes(), "text/plain"),
            (b"", "text/plain"),
            (b"%PDF-1.7\n", "application/pdf"),
            (b"\xfe\x00", "application/octet-stream"),
        ] {
            assert_eq!(kind(bytes), expected, "{bytes:?}");
        }
    }
}
