//! Documents among the files that are read: PDF and office files give their text (working-day §7).

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use chatos_child::Spawning;
use chatos_documents::{Extractor, FILE_BYTES, Kind, kind_of};
use chatos_files::entry::human_size;
use chatos_files::read::{self, LineRange, Lines, RangeLimits};
use chatos_files::{Digest, FileError};
use chatos_layer::{CallCx, Shelf, explain};
use chatos_tool::{Reason, ToolError};

/// Reads documents in a process that can open nothing.
pub(super) struct Documents(Extractor);

/// A document whose text was read.
pub(super) struct Document {
    pub(super) rel: String,
    pub(super) kind: Kind,
    pub(super) size: u64,
    pub(super) sha256: String,
    pub(super) lines: Lines,
    pub(super) line_count: u64,
}

impl Documents {
    pub(super) fn new(program: OsString) -> Self {
        Self(Extractor::new(Spawning::default(), Some(program), ""))
    }

    /// Whether a path has the name of a document.
    pub(super) fn is_named_so(path: &str) -> bool {
        let ending = Path::new(path).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        Kind::of_word(&ending.to_ascii_lowercase()).is_some_and(|kind| kind != Kind::Text)
    }

    /// The lines of a document; nothing where the file is none after all.
    pub(super) async fn read(
        &self,
        shelf: &Arc<Shelf>,
        cx: &CallCx,
        path: &str,
        range: LineRange,
        limits: RangeLimits,
    ) -> Result<Option<Document>, ToolError> {
        let path = path.to_owned();
        let looked = move |job: &chatos_layer::Job| -> Result<_, FileError> {
            let opened = job.root.open_file(&path)?;
            let bytes = read::read_whole(&opened, FILE_BYTES as u64)?;
            Ok((opened.rel, Digest::of(&bytes), bytes))
        };
        let (rel, digest, bytes) = shelf.job(cx, looked).await?;
        let Some(kind) = kind_of(&bytes).filter(|kind| *kind != Kind::Text) else { return Ok(None) };
        let size = bytes.len() as u64;
        let found = self.0.extract(kind, bytes).await.map_err(|unread| {
            let what = format!("the text of this {} file", kind.as_str());
            ToolError::new(Reason::NotSupported { what }, unread.said(&rel))
        })?;
        let (lines, line_count) = read::lines_of(&found.text, range, &limits).map_err(explain)?;
        Ok(Some(Document { rel, kind, size, sha256: digest.as_str().to_owned(), lines, line_count }))
    }
}

impl Document {
    /// The line above the text.
    pub(super) fn header(&self) -> String {
        let (rel, kind, size) = (&self.rel, self.kind.as_str(), human_size(self.size));
        let (start, end, count) = (self.lines.start, self.lines.end, self.line_count);
        if start <= 1 && end == count {
            format!("# {rel} (text of a {kind} file, size: {size})")
        } else {
            format!("# {rel} (lines {start}-{end} of {count} of the text of a {kind} file, size: {size})")
        }
    }
}
