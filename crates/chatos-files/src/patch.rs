//! Patches: unified and friendly, parsed leniently, placed strictly (servers §4 `apply_patch`).
//!
//! Pure: text in, text out. The caller reads the files, checks where they are, and commits.

mod friendly;
mod place;
mod prepare;
mod unified;

pub use place::{Applied, PlaceError, Relaxed, apply};

use super::error::FileError;

/// A parsed patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// The files in order.
    pub files: Vec<FilePatch>,
    /// What was removed around the patch, in words.
    pub notes: Vec<String>,
    /// Paths may carry leading directories that do not belong to them.
    pub strippable: bool,
}

/// What a patch does to one file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FilePatch {
    /// The path before; nothing for an added file.
    pub old: Option<String>,
    /// The path after; nothing for a deleted file.
    pub new: Option<String>,
    /// The content of an added file.
    pub added: Option<String>,
    /// The changes.
    pub hunks: Vec<Hunk>,
    /// New mode: whether it is executable.
    pub executable: Option<bool>,
    /// The header had `a/` and `b/`, as git writes them.
    pub git_prefixes: bool,
}

/// A piece of change.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hunk {
    /// The line in the old file, when the header says.
    pub old_start: Option<usize>,
    /// Texts of lines after which the hunk lies, outermost first.
    pub anchors: Vec<String>,
    /// It ends at the end of the file.
    pub at_end: bool,
    /// The lines.
    pub lines: Vec<Line>,
    /// The old last line has no line end.
    pub old_unterminated: bool,
    /// The new last line has none.
    pub new_unterminated: bool,
}

/// A line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// It stays.
    Context(String),
    /// It goes.
    Removed(String),
    /// It comes.
    Added(String),
}

impl Hunk {
    /// The lines that must be there.
    pub fn old_lines(&self) -> Vec<&str> {
        let kept = |line: &'_ Line| !matches!(line, Line::Added(_));
        self.lines.iter().filter(|line| kept(line)).map(Line::text).collect()
    }

    /// The lines that will be there.
    pub fn new_lines(&self) -> Vec<&str> {
        self.lines.iter().filter(|line| !matches!(line, Line::Removed(_))).map(Line::text).collect()
    }
}

impl Line {
    /// The text without the sign.
    pub fn text(&self) -> &str {
        match self {
            Self::Context(text) | Self::Removed(text) | Self::Added(text) => text,
        }
    }
}

/// A hunk that has no place.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct HunkFailure {
    /// The file.
    pub file: String,
    /// The hunk's number, from 1.
    pub hunk: usize,
    /// What its first line should have been.
    pub expected_first_line: String,
    /// The line that resembles it most.
    pub nearest_line: Option<usize>,
    /// Why.
    pub reason: String,
    /// 中文原因。
    #[serde(skip)]
    pub reason_zh: String,
}

/// Parses a patch of either form.
pub fn parse(text: &str) -> Result<Patch, FileError> {
    let prepared = prepare::prepare(text)?;
    let mut patch =
        if prepared.friendly { friendly::parse(&prepared.lines)? } else { unified::parse(&prepared.lines)? };
    let mut notes = prepared.notes;
    notes.append(&mut patch.notes);
    patch.notes = notes;
    if patch.files.is_empty() {
        return Err(bad("the patch names no file", "补丁没有包含任何文件"));
    }
    Ok(patch)
}

fn bad(message: impl Into<String>, zh: impl Into<String>) -> FileError {
    FileError::invalid("/patch", message, zh)
}

/// The strip level under which most old paths exist (servers §4): 1, 0, 2, 3. `exists` is asked with
/// paths relative to the base. A tie between levels that lead to other files is refused.
pub fn strip_level(patch: &Patch, exists: impl Fn(&str) -> bool) -> Result<usize, FileError> {
    if !patch.strippable {
        return Ok(0);
    }
    let paths = || patch.files.iter().flat_map(|file| [file.old.as_deref(), file.new.as_deref()]).flatten();
    let usable: Vec<usize> =
        [1, 0, 2, 3].into_iter().filter(|level| paths().all(|path| strip(path, *level).is_some())).collect();
    let score = |level: usize| {
        let olds = patch.files.iter().filter_map(|file| file.old.as_deref());
        olds.filter_map(|path| strip(path, level)).filter(|path| exists(path)).count()
    };
    let preferred = usize::from(patch.files.iter().all(|file| file.git_prefixes));
    let best = usable.iter().map(|level| score(*level)).max().unwrap_or(0);
    if best == 0 {
        let first = usable.first().copied().unwrap_or(0);
        return Ok(if usable.contains(&preferred) { preferred } else { first });
    }
    let top: Vec<usize> = usable.into_iter().filter(|level| score(*level) == best).collect();
    if top.len() > 1 {
        return Err(FileError::conflict(
            super::error::ConflictKind::Overlap,
            "",
            format!(
                "the paths of the patch fit equally well with {} and {} leading parts removed",
                top[0], top[1]
            ),
            format!("补丁路径去掉 {} 级或 {} 级前缀同样符合", top[0], top[1]),
        ));
    }
    Ok(top[0])
}

/// A path without its first `level` parts; nothing when it has no more.
pub fn strip(path: &str, level: usize) -> Option<&str> {
    let mut rest = path;
    for _ in 0..level {
        rest = rest.split_once('/')?.1.trim_start_matches('/');
    }
    (!rest.is_empty()).then_some(rest)
}

#[cfg(test)]
mod tests;
