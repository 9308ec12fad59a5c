//! `apply_patch`, computed: every file in memory, all or nothing (servers §4, §2.5).

use std::collections::BTreeMap;

use super::content::check_size;
use super::states::{State, States};
use super::{Planned, document};
use crate::change::ChangeKind;
use crate::diff::Diff;
use crate::digest::Digest;
use crate::entry::Kind;
use crate::error::{ConflictKind, FileError, Result};
use crate::held::Held;
use crate::patch::{self, Applied, FilePatch, HunkFailure, PlaceError, Relaxed};
use crate::resolve::Last;
use crate::root::Root;

/// A patch to apply.
#[derive(Debug, Clone)]
pub struct PatchRequest {
    /// The base directory; a file means its parent.
    pub base: String,
    /// The text.
    pub patch: String,
    /// Digests that files must have, by path.
    pub expected: BTreeMap<String, Digest>,
    /// `filesystemMaxWriteBytes`, for each file.
    pub max_bytes: u64,
}

/// What a patch makes.
#[derive(Debug, Clone)]
pub struct PatchSummary {
    /// The base directory.
    pub base: String,
    /// The files, in the order of the patch.
    pub files: Vec<PatchedFile>,
    /// What was read leniently.
    pub notes: Vec<String>,
    /// Lines added and removed.
    pub diff: Diff,
}

/// One file of a patch.
#[derive(Debug, Clone)]
pub struct PatchedFile {
    /// The path after.
    pub path: String,
    /// What happens.
    pub change: ChangeKind,
    /// The path before.
    pub from: Option<String>,
    /// Hunks applied.
    pub hunks: usize,
    /// Relaxations.
    pub fuzz: Vec<Relaxed>,
    /// The new digest; nothing for a deleted file.
    pub sha256: Option<Digest>,
}

struct Work<'a> {
    root: &'a Root,
    request: &'a PatchRequest,
    base: String,
    states: States,
    failures: Vec<HunkFailure>,
    already: Vec<String>,
}

/// Computes a patch.
pub fn apply_patch(root: &Root, request: &PatchRequest) -> Result<Planned<PatchSummary>> {
    let base = base_dir(root, &request.base)?;
    let parsed = patch::parse(&request.patch)?;
    let joined = |path: &str| if base == "." { path.to_owned() } else { format!("{base}/{path}") };
    let level = patch::strip_level(&parsed, |path| {
        root.resolve(&joined(path), Last::Follow).is_ok_and(|place| place.stat.is_some())
    })?;
    let mut work =
        Work { root, request, base, states: States::default(), failures: Vec::new(), already: Vec::new() };
    let mut files = Vec::new();
    for file in &parsed.files {
        if let Some(patched) = work.file(file, level)? {
            files.push(patched);
        }
    }
    work.check_expected()?;
    if !work.failures.is_empty() {
        return Err(failed(work.failures));
    }
    if !work.already.is_empty() {
        if files.is_empty() {
            let files = work.already.iter().map(|path| work.unchanged(path)).collect();
            let diff = Diff::default();
            return Ok(Planned::Noop(PatchSummary { base: work.base, files, notes: parsed.notes, diff }));
        }
        let path = work.already[0].clone();
        let message =
            format!("the change of `{path}` is applied already, others are not; nothing was written");
        let zh = format!("`{path}` 的更改已应用，其他的没有；未写入任何内容");
        return Err(FileError::conflict(ConflictKind::AlreadyApplied, path, message, zh));
    }
    let plan = work.states.plan(root, "patch");
    for file in &mut files {
        file.sha256 = work.states.digest(&file.path);
    }
    let summary = PatchSummary { base: work.base, files, notes: parsed.notes, diff: plan.diff() };
    if plan.steps.is_empty() {
        return Ok(Planned::Noop(summary));
    }
    Ok(Planned::Change(Box::new(plan), summary))
}

fn base_dir(root: &Root, base: &str) -> Result<String> {
    let place = root.existing(base, Last::Follow)?;
    if place.kind() == Some(Kind::Directory) {
        return Ok(place.rel);
    }
    Ok(place.rel.rsplit_once('/').map_or(".", |(parent, _)| parent).to_owned())
}

fn failed(hunks: Vec<HunkFailure>) -> FileError {
    let first = &hunks[0];
    let near = first.nearest_line.map(|line| format!(" (nearest: line {line})")).unwrap_or_default();
    let near_zh = first.nearest_line.map(|line| format!("（最接近：第 {line} 行）")).unwrap_or_default();
    FileError::Conflict {
        kind: ConflictKind::HunkFailed,
        path: first.file.clone(),
        message: format!(
            "{} hunk(s) do not apply; nothing was written. `{}` hunk {}: {}{near}; expected `{}`",
            hunks.len(),
            first.file,
            first.hunk,
            first.reason,
            first.expected_first_line
        ),
        zh: format!(
            "{} 个区块无法应用；未写入任何内容。`{}` 第 {} 块：{}{near_zh}；应为 `{}`",
            hunks.len(),
            first.file,
            first.hunk,
            first.reason_zh,
            first.expected_first_line
        ),
        expected: Some(first.expected_first_line.clone()),
        found: None,
        hunks,
    }
}

impl Work<'_> {
    /// The resolved path, read when it is met first.
    fn load(&mut self, path: &str) -> Result<String> {
        let given = if path.starts_with('/') || self.base == "." {
            path.to_owned()
        } else {
            format!("{}/{path}", self.base)
        };
        self.states.load(self.root, given, self.request.max_bytes)
    }

    fn state(&mut self, rel: &str) -> Result<&mut State> {
        self.states.of(rel)
    }

    /// Works one section in; nothing when it is applied already.
    fn file(&mut self, file: &FilePatch, level: usize) -> Result<Option<PatchedFile>> {
        let stripped = |path: &Option<String>| -> Option<String> {
            path.as_deref().map(|path| patch::strip(path, level).unwrap_or(path).to_owned())
        };
        let (old, new) = (stripped(&file.old), stripped(&file.new));
        match (old, new) {
            (None, Some(new)) => self.add(file, &new),
            (Some(old), None) => self.delete(file, &old),
            (Some(old), Some(new)) => self.update(file, &old, &new),
            (None, None) => Ok(None),
        }
    }

    fn add(&mut self, file: &FilePatch, path: &str) -> Result<Option<PatchedFile>> {
        let rel = self.load(path)?;
        let content: Held = file.added.clone().unwrap_or_default().into_bytes().into();
        check_size(&rel, content.len() as u64, self.request.max_bytes)?;
        let executable = file.executable;
        let state = self.state(&rel)?;
        match &state.now {
            Some(now) if **now == *content => {
                self.already.push(rel);
                return Ok(None);
            }
            Some(_) => return Err(FileError::exists(rel)),
            None => {}
        }
        state.now = Some(content);
        state.executable = executable.filter(|executable| *executable);
        Ok(Some(PatchedFile {
            path: rel,
            change: ChangeKind::Created,
            from: None,
            hunks: file.hunks.len().max(1),
            fuzz: Vec::new(),
            sha256: None,
        }))
    }

    fn delete(&mut self, file: &FilePatch, path: &str) -> Result<Option<PatchedFile>> {
        let rel = self.load(path)?;
        let Some(now) = self.state(&rel)?.now.clone() else {
            self.already.push(rel);
            return Ok(None);
        };
        if !file.hunks.is_empty() {
            // A unified deletion names the content; another content is not the file that was meant.
            let document = document(&rel, &now)?;
            match patch::apply(&rel, &document.text, &file.hunks) {
                Ok(Applied::Text { text, .. }) if text.is_empty() => {}
                Err(PlaceError::Failed(mut failures)) => self.failures.append(&mut failures),
                _ => self.failures.push(HunkFailure {
                    file: rel.clone(),
                    hunk: 1,
                    expected_first_line: file.hunks[0].old_lines().first().unwrap_or(&"").to_string(),
                    nearest_line: None,
                    reason: "the file holds more than the patch deletes".to_owned(),
                    reason_zh: "文件内容多于补丁要删除的内容".to_owned(),
                }),
            }
        }
        self.state(&rel)?.now = None;
        Ok(Some(PatchedFile {
            path: rel,
            change: ChangeKind::Deleted,
            from: None,
            hunks: file.hunks.len(),
            fuzz: Vec::new(),
            sha256: None,
        }))
    }

    fn update(&mut self, file: &FilePatch, old: &str, new: &str) -> Result<Option<PatchedFile>> {
        let rel = self.load(old)?;
        let target = if old == new { rel.clone() } else { self.load(new)? };
        let moved = rel != target;
        let Some(now) = self.state(&rel)?.now.clone() else {
            if moved && self.is_done(file, &target)? {
                self.already.push(target);
                return Ok(None);
            }
            let nearest = self.root.resolve(&self.state(&rel)?.given.clone(), Last::Follow);
            let nearest = nearest.map(|place| crate::nearest::names(&place)).unwrap_or_default();
            return Err(FileError::NotFound { path: rel, nearest });
        };
        if moved && self.state(&target)?.now.is_some() {
            return Err(FileError::exists(target));
        }
        let mut fuzz = Vec::new();
        let content: Held = if file.hunks.is_empty() {
            now
        } else {
            let document = document(&rel, &now)?;
            match patch::apply(&rel, &document.text, &file.hunks) {
                Ok(Applied::Text { text, relaxed }) => {
                    fuzz = relaxed;
                    document.render(&text).into()
                }
                Ok(Applied::Already) => {
                    self.already.push(rel);
                    return Ok(None);
                }
                Err(PlaceError::AlreadyApplied(count)) => {
                    let message =
                        format!("{count} hunk(s) of `{rel}` are applied already; nothing was written");
                    let zh = format!("`{rel}` 的 {count} 个区块已应用；未写入任何内容");
                    return Err(FileError::conflict(ConflictKind::AlreadyApplied, rel, message, zh));
                }
                Err(PlaceError::Failed(mut failures)) => {
                    self.failures.append(&mut failures);
                    now
                }
            }
        };
        check_size(&target, content.len() as u64, self.request.max_bytes)?;
        if moved {
            self.states.rename(&rel, &target)?;
        }
        let state = self.state(&target)?;
        state.now = Some(content);
        state.executable = file.executable.or(state.executable);
        Ok(Some(PatchedFile {
            path: target,
            change: if moved { ChangeKind::Moved } else { ChangeKind::Modified },
            from: moved.then_some(rel),
            hunks: file.hunks.len(),
            fuzz,
            sha256: None,
        }))
    }

    /// Whether a move was made already: the new file is there with every hunk in it.
    fn is_done(&mut self, file: &FilePatch, target: &str) -> Result<bool> {
        let Some(now) = self.state(target)?.now.clone() else { return Ok(false) };
        if file.hunks.is_empty() {
            return Ok(true);
        }
        let document = document(target, &now)?;
        Ok(matches!(patch::apply(target, &document.text, &file.hunks), Ok(Applied::Already)))
    }

    /// A file that is already as the patch wants it.
    fn unchanged(&self, path: &str) -> PatchedFile {
        let state = self.states.get(path);
        let there = state.and_then(|state| state.now.as_ref());
        PatchedFile {
            path: path.to_owned(),
            change: if there.is_some() { ChangeKind::Modified } else { ChangeKind::Deleted },
            from: None,
            hunks: 0,
            fuzz: Vec::new(),
            sha256: there.map(|there| there.digest().clone()),
        }
    }

    fn check_expected(&self) -> Result<()> {
        for (path, expected) in &self.request.expected {
            let joined = if self.base == "." { path.clone() } else { format!("{}/{path}", self.base) };
            let rel = self.root.resolve(&joined, Last::Follow).map(|place| place.rel);
            let state = rel.ok().and_then(|rel| self.states.get(&rel)).or_else(|| self.states.get(path));
            let Some(state) = state else { continue };
            let found = state.disk.as_ref().map(|disk| disk.digest().clone());
            if found.as_ref() != Some(expected) {
                let found = found.map(|digest| digest.as_str().to_owned());
                return Err(FileError::changed(path.clone(), Some(expected.as_str().to_owned()), found));
            }
        }
        Ok(())
    }
}
