//! `write_file` and `edit_file`, computed (servers §4).

use std::sync::{Arc, OnceLock};

use super::{Before, Plan, Planned, PlannedFile, document, sensitive};
use crate::change::ChangeKind;
use crate::commit::Step;
use crate::diff::Diff;
use crate::digest::Digest;
use crate::edit::{self, Strategy};
use crate::entry::{Kind, size_of};
use crate::error::{ConflictKind, FileError, Resource, Result};
use crate::held::Held;
use crate::read::{self, ScanCache};
use crate::resolve::{Last, Place};
use crate::root::{Opened, Root};
use crate::stop::Stop;
use crate::text::{BOM, Eol, push_crlf, to_lf};

/// Files up to this size are held to show what changes in them.
const HOLD_BYTES: u64 = 16 << 20;

/// What to do with an existing file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteMode {
    /// Replace it.
    Overwrite,
    /// Add to it.
    Append,
    /// Refuse it.
    Create,
}

/// A write.
#[derive(Debug, Clone)]
pub struct WriteRequest {
    /// Where.
    pub path: String,
    /// The bytes as given.
    pub payload: Vec<u8>,
    /// They were given as text, so the file's own form applies.
    pub plain: bool,
    /// Write them exactly.
    pub exact: bool,
    /// Existing files.
    pub mode: WriteMode,
    /// The digest the file must have.
    pub expected: Option<Digest>,
    /// `filesystemMaxWriteBytes`.
    pub max_bytes: u64,
}

/// What a write makes.
#[derive(Debug, Clone)]
pub struct WriteSummary {
    /// The path.
    pub rel: String,
    /// The file is new.
    pub created: bool,
    /// Its size.
    pub bytes: u64,
    /// Characters that were given.
    pub chars: usize,
    /// Its line ends.
    pub eol: Eol,
    /// Its content.
    after: Held,
    file: Arc<PlannedFile>,
}

impl WriteSummary {
    /// Its digest.
    pub fn sha256(&self) -> &Digest {
        self.after.digest()
    }

    /// Lines added and removed.
    pub fn diff(&self) -> &Diff {
        self.file.diff()
    }
}

/// Computes a write.
pub fn write_file(
    root: &Root,
    cache: &ScanCache,
    request: &WriteRequest,
    stop: &dyn Stop,
) -> Result<Planned<WriteSummary>> {
    let place = target(root, &request.path)?;
    if request.mode == WriteMode::Append {
        // What would be too large in the end is not read first.
        let there = place.stat.as_ref().map_or(0, size_of);
        check_size(&place.rel, there.saturating_add(request.payload.len() as u64), request.max_bytes)?;
    }
    let (before, eol, bom) = match place.kind() {
        None => (Before::Absent, Eol::None, false),
        Some(_) if request.mode == WriteMode::Create => return Err(FileError::exists(place.rel)),
        Some(_) => load(root, cache, &request.path, &place, stop)?,
    };
    if let Some(expected) = &request.expected
        && before.digest().as_ref() != Some(expected)
    {
        let found = before.digest().map(|digest| digest.as_str().to_owned());
        return Err(FileError::changed(place.rel, Some(expected.as_str().to_owned()), found));
    }
    let old_size = match &before {
        Before::Absent => 0,
        Before::Bytes(bytes) => bytes.len() as u64,
        Before::Large(_, size) => *size,
    };
    let given = request.payload.len() as u64;
    let total = if request.mode == WriteMode::Append { old_size + given } else { given };
    check_size(&place.rel, total, request.max_bytes)?;
    let formed =
        if request.plain && !request.exact { form(&request.payload, eol) } else { request.payload.clone() };
    let after: Vec<u8> = match (request.mode, &before) {
        (WriteMode::Append, Before::Bytes(old)) => [old, formed.as_slice()].concat(),
        (WriteMode::Overwrite, _) if bom && request.plain && !request.exact && !formed.starts_with(BOM) => {
            [BOM, formed.as_slice()].concat()
        }
        _ => formed,
    };
    check_size(&place.rel, after.len() as u64, request.max_bytes)?;
    let after = Held::from(after);
    let unchanged = match &before {
        Before::Absent => false,
        Before::Bytes(bytes) => *bytes == after,
        Before::Large(digest, _) => digest == after.digest(),
    };
    let created = matches!(before, Before::Absent);
    let file = PlannedFile {
        path: place.rel.clone(),
        from: None,
        kind: if created { ChangeKind::Created } else { ChangeKind::Modified },
        mode: match request.mode {
            WriteMode::Append => "append",
            _ if created => "create",
            _ => "overwrite",
        },
        before,
        after: Some(after.clone()),
        made: OnceLock::new(),
    };
    let file = Arc::new(file);
    let summary = WriteSummary {
        rel: place.rel.clone(),
        created,
        bytes: after.len() as u64,
        chars: String::from_utf8_lossy(&request.payload).chars().count(),
        eol: Eol::of(&after),
        after,
        file: file.clone(),
    };
    if unchanged {
        return Ok(Planned::Noop(summary));
    }
    Ok(Planned::Change(Box::new(single(root, request.path.clone(), file)), summary))
}

fn single(root: &Root, path: String, file: Arc<PlannedFile>) -> Plan {
    let step = Step::Put {
        path,
        expected: file.before.expected(),
        content: file.after.clone().unwrap_or_else(|| Vec::new().into()),
        mode: None,
        like: None,
    };
    let sensitive = sensitive(&root.path().join(&file.path));
    Plan { steps: vec![step], files: vec![file], tree: None, sensitive }
}

/// The place of a file that is written: no directory, no device, permitted.
pub(super) fn target(root: &Root, path: &str) -> Result<Place> {
    if path.ends_with('/') {
        return Err(FileError::invalid(
            "/path",
            format!("`{path}` names a directory"),
            format!("`{path}` 是目录"),
        ));
    }
    let place = root.resolve(path, Last::Follow)?;
    match place.kind() {
        None => {}
        Some(Kind::File) => place.check_writable()?,
        Some(Kind::Directory) => {
            return Err(FileError::invalid(
                "/path",
                format!("`{path}` is a directory, not a file"),
                format!("`{path}` 是目录，不是文件"),
            ));
        }
        Some(_) => {
            return Err(FileError::Unsupported {
                path: path.to_owned(),
                what: "a device, socket or pipe",
                size: None,
            });
        }
    }
    Ok(place)
}

fn load(
    root: &Root,
    cache: &ScanCache,
    path: &str,
    place: &Place,
    stop: &dyn Stop,
) -> Result<(Before, Eol, bool)> {
    if place.stat.as_ref().map_or(0, size_of) > HOLD_BYTES {
        let (scan, digest) = read::scan(root, cache, path, stop)?;
        let bom = scan.bom && scan.encoding == crate::text::Encoding::Utf8;
        return Ok((Before::Large(digest, scan.size_bytes), scan.eol, bom));
    }
    let opened = root.open_file(path)?;
    let bytes = read::read_whole(&opened, HOLD_BYTES * 2)?;
    let (eol, bom) = (Eol::of(&bytes), bytes.starts_with(BOM));
    Ok((Before::Bytes(bytes.into()), eol, bom))
}

/// servers §2.4: text with only LF written over a CRLF file becomes CRLF.
fn form(payload: &[u8], eol: Eol) -> Vec<u8> {
    if eol != Eol::Crlf || memchr::memmem::find(payload, b"\r\n").is_some() {
        return payload.to_vec();
    }
    let Ok(text) = std::str::from_utf8(payload) else { return payload.to_vec() };
    let mut out = Vec::with_capacity(payload.len() + payload.len() / 16);
    push_crlf(&mut out, text);
    out
}

pub(super) fn check_size(path: &str, actual: u64, limit: u64) -> Result<()> {
    if actual <= limit {
        return Ok(());
    }
    Err(FileError::Exhausted {
        resource: Resource::WriteBytes,
        limit,
        actual: Some(actual),
        path: path.to_owned(),
    })
}

/// An edit.
#[derive(Debug, Clone)]
pub struct EditRequest {
    /// Where.
    pub path: String,
    /// What goes.
    pub old: String,
    /// What comes.
    pub new: String,
    /// How often.
    pub expected_replacements: usize,
    /// Strategies after the exact one are allowed.
    pub tolerant: bool,
    /// The digest the file must have.
    pub expected: Option<Digest>,
    /// `filesystemMaxWriteBytes`.
    pub max_bytes: u64,
}

/// What an edit makes.
#[derive(Debug, Clone)]
pub struct EditSummary {
    /// The path.
    pub rel: String,
    /// How often it was replaced.
    pub occurrences: usize,
    /// How it was found.
    pub strategy: Strategy,
    /// Where.
    pub lines: Vec<u64>,
    after: Held,
    file: Arc<PlannedFile>,
}

impl EditSummary {
    /// The new digest.
    pub fn sha256(&self) -> &Digest {
        self.after.digest()
    }

    /// Lines added and removed.
    pub fn diff(&self) -> &Diff {
        self.file.diff()
    }
}

/// Computes an edit.
pub fn edit_file(root: &Root, request: &EditRequest) -> Result<Planned<EditSummary>> {
    let (old, new) = (to_lf(&request.old), to_lf(&request.new));
    if old == new && !old.is_empty() {
        return Err(FileError::invalid(
            "/new_string",
            "old_string and new_string are identical",
            "old_string 与 new_string 相同",
        ));
    }
    let place = target(root, &request.path)?;
    if old.is_empty() {
        return create(root, request, place, new);
    }
    let opened: Opened = root.open_file(&request.path)?;
    let bytes = Held::from(read::read_whole(&opened, request.max_bytes)?);
    if let Some(expected) = &request.expected
        && expected != bytes.digest()
    {
        let (expected, found) = (expected.as_str().to_owned(), bytes.digest().as_str().to_owned());
        return Err(FileError::changed(place.rel, Some(expected), Some(found)));
    }
    let document = document(&place.rel, &bytes)?;
    let edited = edit::apply(&document.text, &old, &new, request.expected_replacements, request.tolerant)
        .map_err(|mismatch| count_mismatch(&place.rel, request.expected_replacements, &mismatch))?;
    let after = Held::from(document.render(&edited.text));
    check_size(&place.rel, after.len() as u64, request.max_bytes)?;
    let unchanged = after == bytes;
    let file = PlannedFile {
        path: place.rel.clone(),
        from: None,
        kind: ChangeKind::Modified,
        mode: "edit",
        before: Before::Bytes(bytes),
        after: Some(after.clone()),
        made: OnceLock::new(),
    };
    let file = Arc::new(file);
    let summary = EditSummary {
        rel: place.rel.clone(),
        occurrences: edited.occurrences,
        strategy: edited.strategy,
        lines: edited.lines,
        after,
        file: file.clone(),
    };
    if unchanged {
        return Ok(Planned::Noop(summary));
    }
    Ok(Planned::Change(Box::new(single(root, request.path.clone(), file)), summary))
}

fn create(root: &Root, request: &EditRequest, place: Place, new: String) -> Result<Planned<EditSummary>> {
    if place.stat.is_some() {
        return Err(FileError::exists(place.rel));
    }
    if let Some(expected) = &request.expected {
        return Err(FileError::changed(place.rel, Some(expected.as_str().to_owned()), None));
    }
    // A new file has no form of its own: the text is taken as it was given.
    drop(new);
    let after = Held::from(request.new.as_bytes());
    check_size(&place.rel, after.len() as u64, request.max_bytes)?;
    let file = PlannedFile {
        path: place.rel.clone(),
        from: None,
        kind: ChangeKind::Created,
        mode: "create",
        before: Before::Absent,
        after: Some(after.clone()),
        made: OnceLock::new(),
    };
    let file = Arc::new(file);
    let summary = EditSummary {
        rel: place.rel,
        occurrences: 1,
        strategy: Strategy::Create,
        lines: vec![1],
        after,
        file: file.clone(),
    };
    Ok(Planned::Change(Box::new(single(root, request.path.clone(), file)), summary))
}

fn count_mismatch(path: &str, expected: usize, mismatch: &edit::Mismatch) -> FileError {
    let lines: Vec<String> = mismatch.lines.iter().map(u64::to_string).collect();
    let (mut message, mut zh) = if mismatch.found == 0 {
        (format!("old_string was not found in `{path}`"), format!("在 `{path}` 中没有找到 old_string"))
    } else {
        (
            format!(
                "old_string was found {} time(s) in `{path}`, expected {expected} (lines {})",
                mismatch.found,
                lines.join(", ")
            ),
            format!(
                "old_string 在 `{path}` 中出现 {} 次，预期 {expected} 次（行 {}）",
                mismatch.found,
                lines.join("、")
            ),
        )
    };
    if let Some(nearest) = &mismatch.nearest {
        message = format!("{message}; the nearest text is at line {}:\n{}", nearest.line, nearest.text);
        zh = format!("{zh}；最接近的文本在第 {} 行：\n{}", nearest.line, nearest.text);
    }
    FileError::Conflict {
        kind: ConflictKind::CountMismatch,
        path: path.to_owned(),
        message,
        zh,
        expected: Some(expected.to_string()),
        found: Some(mismatch.found.to_string()),
        hunks: Vec::new(),
    }
}
