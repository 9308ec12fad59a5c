//! The readers: from the bytes of a document to Markdown. Anything may be in those bytes; what goes wrong is a value.

mod markdown;
mod odf;
mod pdf;
mod sheet;
mod slides;
mod word;
mod xml;

use std::io;

use chatos_tool::Text;
use serde::{Deserialize, Serialize};

use crate::kind::Kind;
use crate::{SHEET_ROWS, TEXT_BYTES};

/// What a person should know about a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Note {
    /// Pictures of pages: no text could be read.
    Scanned,
    /// Some pages could not be read; the text says which.
    Pages,
    /// Sheets were longer than what is read; the text says where.
    Rows,
    /// Longer than what is kept.
    Cut,
}

impl Note {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Scanned => "scanned",
            Self::Pages => "pages",
            Self::Rows => "rows",
            Self::Cut => "cut",
        }
    }
}

/// The text of one document.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Read {
    /// Written as Markdown, without what cannot be text.
    pub text: String,
    /// What a person should know.
    #[serde(default)]
    pub note: Option<Note>,
}

/// Why a document could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unread {
    /// `encrypted`, `damaged`, `too_large`, `slow`, `memory`, `crashed`, `unavailable`.
    pub code: String,
    /// In words, as the end of a sentence about the file.
    pub why: (String, String),
}

impl Unread {
    pub(crate) fn new(code: &str, en: impl Into<String>, zh: impl Into<String>) -> Self {
        Self { code: code.to_owned(), why: (en.into(), zh.into()) }
    }

    pub(crate) fn damaged(detail: impl std::fmt::Display) -> Self {
        Self::new("damaged", format!("it is damaged ({detail})"), format!("文件已损坏（{detail}）"))
    }

    /// It needs a password.
    pub fn encrypted() -> Self {
        Self::new("encrypted", "it needs a password", "文件有密码保护")
    }

    /// It unpacks to more than anybody reads.
    pub fn too_large() -> Self {
        Self::new("too_large", "it unpacks to far more than its size", "解压后的内容远大于文件本身")
    }

    /// The archive of a document is not sound.
    pub fn archive(detail: &dyn std::fmt::Display) -> Self {
        Self::damaged(detail)
    }

    /// As a sentence about a file.
    pub fn said(&self, name: &str) -> Text {
        let (en, zh) = &self.why;
        Text::new(format!("`{name}` cannot be read: {en}"), format!("无法读取“{name}”：{zh}"))
    }
}

impl From<io::Error> for Unread {
    fn from(error: io::Error) -> Self {
        Self::new("unavailable", format!("{error}"), format!("{error}"))
    }
}

/// The files inside an archive, read one by one within limits.
pub trait Members {
    /// The content of one; nothing when there is none of this name.
    fn member(&mut self, name: &str) -> Result<Option<Vec<u8>>, Unread>;
}

/// Reads a document. `archive` opens its bytes as an archive, where it is one.
pub fn read(
    kind: Kind,
    bytes: Vec<u8>,
    archive: impl FnOnce(Vec<u8>) -> Result<Box<dyn Members>, Unread>,
) -> Result<Read, Unread> {
    let mut read = match kind {
        Kind::Text => Read { text: String::from_utf8(bytes).map_err(Unread::damaged)?, note: None },
        Kind::Pdf => pdf::read(&bytes)?,
        Kind::Docx => word::read(archive(bytes)?.as_mut())?,
        Kind::Pptx => slides::read(archive(bytes)?.as_mut())?,
        Kind::Xlsx => sheet::read(archive(bytes)?.as_mut(), SHEET_ROWS)?,
        Kind::Odt | Kind::Odp | Kind::Ods => odf::read(archive(bytes)?.as_mut(), SHEET_ROWS)?,
    };
    if read.text.len() > TEXT_BYTES {
        let end = (0..=TEXT_BYTES).rev().find(|at| read.text.is_char_boundary(*at)).unwrap_or_default();
        read.text.truncate(end);
        read.text.push_str("\n\n[the rest is not here: only the first 2 MiB of text are kept]\n");
        read.note = Some(Note::Cut);
    }
    Ok(read)
}

/// A member that a document cannot be without.
fn needed(members: &mut dyn Members, name: &str) -> Result<Vec<u8>, Unread> {
    members.member(name)?.ok_or_else(|| Unread::damaged(format!("{name} is missing")))
}
