//! Files that go with a message.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use chatos_tool::{ErrorCode, Fault, Text};
use serde_json::{Value, json};

/// The host takes no larger file; more than this is not read.
const MOST: u64 = 10 * 1024 * 1024;

/// A file as a message carries it.
#[derive(Debug, Clone)]
pub(super) struct File {
    pub(super) name: String,
    bytes: Vec<u8>,
    /// The server that gave it; nothing for a file of the person.
    origin: Option<String>,
}

impl File {
    pub(super) fn new(name: &str, bytes: Vec<u8>, origin: Option<String>) -> Self {
        Self { name: name.to_owned(), bytes, origin }
    }

    pub(super) fn to_json(&self) -> Value {
        let data = chatos_host::encode_base64(&self.bytes);
        json!({ "name": self.name, "mime": kind(&self.bytes), "data": data, "origin": self.origin })
    }
}

/// What a file is, by its first bytes: pictures, text, or something else.
fn kind(bytes: &[u8]) -> &'static str {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => "image/png",
        [0xff, 0xd8, 0xff, ..] => "image/jpeg",
        [b'G', b'I', b'F', b'8', ..] => "image/gif",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "image/webp",
        _ if std::str::from_utf8(bytes).is_ok() => "text/plain",
        _ => "application/octet-stream",
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
                format!("{} is larger than 10 MiB", path.display()),
                format!("{} 超过 10 MiB", path.display()),
            ),
        )
        .code("attachment_too_large"));
    }
    if kind(&bytes) == "application/octet-stream" {
        return Err(Fault::new(
            ErrorCode::InvalidArgument,
            Text::new(
                format!("{} is neither text nor a picture", path.display()),
                format!("{} 既不是文本也不是图片", path.display()),
            ),
        )
        .code("unsupported_file")
        .hint(Text::fixed(
            "attach text in UTF-8, or a PNG, JPEG, GIF or WebP image",
            "可附加 UTF-8 文本，或 PNG、JPEG、GIF、WebP 图片",
        )));
    }
    let name = path.file_name().map_or_else(|| "file".to_owned(), |name| name.to_string_lossy().into_owned());
    Ok(File { name, bytes, origin: None })
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
            (b"\xfe\x00", "application/octet-stream"),
        ] {
            assert_eq!(kind(bytes), expected, "{bytes:?}");
        }
    }
}
