//! What a command changed in the root: files compared before and after by size, time and inode
//! (servers §3.7, side effects). Nothing is ever put back by the tool.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;

use chatos_files::Root;
use chatos_files::change::{ChangeKind, Content, FileChange, MAX_KEPT_BYTES};
use chatos_files::entry::{Kind, size_of};
use chatos_files::root::ProtectedIds;
use chatos_files::stop::Stop;
use chatos_files::walk::{WalkOptions, walk};
use rustix::fs::{AtFlags, Stat};
use schemars::JsonSchema;
use serde::Serialize;

/// Files that are compared.
const MAX_FILES: usize = 20_000;
/// Changes that are listed and remembered.
const MAX_LISTED: usize = 200;
/// Files whose content is kept from before, and their size.
const MAX_KEPT: usize = 25;
const MAX_KEPT_SIZE: u64 = 256 << 10;

/// A file that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Changed {
    /// Relative to the root
    pub(super) path: String,
    /// created, modified or deleted
    pub(super) change: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Facts {
    size: u64,
    mtime: (i64, i64),
    inode: u64,
}

/// The files of a root at one moment.
#[derive(Debug, Default)]
pub(super) struct Before {
    files: BTreeMap<Vec<u8>, Facts>,
    cut: bool,
    contents: BTreeMap<Vec<u8>, Vec<u8>>,
}

/// What is different.
#[derive(Debug, Default)]
pub(super) struct After {
    /// At most [`MAX_LISTED`].
    pub(super) changed: Vec<Changed>,
    /// All of them.
    pub(super) total: usize,
    /// The same for the record of changes.
    pub(super) records: Vec<FileChange>,
}

/// Looks at the root before a command; `named` are files whose content is worth keeping.
pub(super) fn before(root: &Root, named: &[PathBuf], stop: &dyn Stop) -> Option<Before> {
    let (files, cut) = look(root, stop)?;
    let (protected, mut contents) = (root.protected(), BTreeMap::new());
    for path in named.iter().take(MAX_KEPT) {
        let rel = path.as_os_str().as_encoded_bytes().to_vec();
        if files.get(&rel).is_some_and(|facts| facts.size <= MAX_KEPT_SIZE)
            && let Some(bytes) = content(root, &protected, &rel, MAX_KEPT_SIZE)
        {
            contents.insert(rel, bytes);
        }
    }
    Some(Before { files, cut, contents })
}

/// Looks again.
pub(super) fn after(root: &Root, before: &Before, stop: &dyn Stop) -> After {
    let Some((now, cut)) = look(root, stop) else { return After::default() };
    // Where one of the two looks ended early, only what both have seen can be compared.
    let seen = |files: &BTreeMap<Vec<u8>, Facts>, cut: bool| {
        cut.then(|| files.keys().next_back().cloned()).flatten()
    };
    let end = match (seen(&before.files, before.cut), seen(&now, cut)) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    };
    let compared = |rel: &Vec<u8>| end.as_ref().is_none_or(|end| rel <= end);
    let mut found: Vec<(&Vec<u8>, ChangeKind)> = Vec::new();
    for (rel, facts) in now.iter().filter(|(rel, _)| compared(rel)) {
        match before.files.get(rel) {
            None => found.push((rel, ChangeKind::Created)),
            Some(old) if old != facts => found.push((rel, ChangeKind::Modified)),
            Some(_) => {}
        }
    }
    let gone = before.files.keys().filter(|rel| compared(rel) && !now.contains_key(*rel));
    found.extend(gone.map(|rel| (rel, ChangeKind::Deleted)));
    found.sort_by(|one, other| one.0.cmp(other.0));
    let (total, protected) = (found.len(), root.protected());
    let mut result = After { total, ..After::default() };
    for (rel, kind) in found.into_iter().take(MAX_LISTED) {
        let path = String::from_utf8_lossy(rel).into_owned();
        let old = before.contents.get(rel);
        let new = (kind != ChangeKind::Deleted)
            .then(|| content(root, &protected, rel, MAX_KEPT_BYTES as u64))
            .flatten();
        // Touched, not changed.
        if kind == ChangeKind::Modified && old.is_some() && old == new.as_ref() {
            result.total -= 1;
            continue;
        }
        result.records.push(record(&path, kind, old, new.as_deref()));
        result.changed.push(Changed { path, change: kind.as_str() });
    }
    result
}

fn record(path: &str, kind: ChangeKind, old: Option<&Vec<u8>>, new: Option<&[u8]>) -> FileChange {
    if old.is_some() || kind == ChangeKind::Created {
        let change = FileChange::of(path, "shell", old.map(Vec::as_slice), new);
        return FileChange { kind, ..change };
    }
    FileChange {
        kind,
        path: path.to_owned(),
        mode: "shell",
        before: Content::Absent,
        after: new.map_or(Content::Absent, |new| Content::keep(&new.into())),
        diff: "(the content before is not known)".to_owned(),
    }
}

fn look(root: &Root, stop: &dyn Stop) -> Option<(BTreeMap<Vec<u8>, Facts>, bool)> {
    let options = WalkOptions { hidden: true, ignored: false, depth: usize::MAX };
    let tree = walk(root, ".", options, stop).ok()?;
    if tree.stopped.is_some() {
        return None;
    }
    let mut files = BTreeMap::new();
    let mut cut = tree.cut;
    tree.visit(|entry| {
        if entry.kind == Kind::Directory {
            return;
        }
        if files.len() >= MAX_FILES {
            cut = true;
            return;
        }
        let rel = entry.rel();
        if let Ok(stat) = rustix::fs::statat(root.handle(), rel.as_slice(), AtFlags::SYMLINK_NOFOLLOW) {
            files.insert(rel, facts(&stat));
        }
    });
    Some((files, cut))
}

#[allow(clippy::unnecessary_cast, reason = "the widths differ between platforms")]
fn facts(stat: &Stat) -> Facts {
    Facts {
        size: size_of(stat),
        mtime: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
        inode: stat.st_ino as u64,
    }
}

fn content(root: &Root, protected: &ProtectedIds, rel: &[u8], most: u64) -> Option<Vec<u8>> {
    let file = std::fs::File::from(root.open_file_nofollow(rel).ok()?);
    let stat = rustix::fs::fstat(&file).ok()?;
    if Kind::of(&stat) != Kind::File || protected.holds(&stat) {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= most).then_some(bytes)
}
