//! Changes, computed completely before anything happens: what a person is shown is what is committed.

mod content;
mod patching;
mod rewriting;
mod scribe;
mod sensitive;
mod states;
mod transfer;

use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, OnceLock};

pub use content::{EditRequest, EditSummary, WriteMode, WriteRequest, WriteSummary, edit_file, write_file};
pub use patching::{PatchRequest, PatchSummary, PatchedFile, apply_patch};
pub use rewriting::{FileOp, Otherwise, Rewrite, RewriteSummary, RewrittenFile, rewrite};
pub use sensitive::{Sensitive, sensitive};
pub use transfer::{TransferRequest, TransferSummary, copy_path, delete_path, move_path};

use chatos_prompts::Approval;
use serde::Serialize;
use serde_json::{Value, json};

use super::change::{ChangeKind, ChangeLog, Content, FileChange, MAX_KEPT_BYTES, MAX_ROWS};
use super::commit::{Engine, Expected, Step, Witness};
use super::diff::{Diff, diff};
use super::digest::Digest;
use super::entry::Kind;
use super::error::{FileError, Result};
use super::held::Held;
use super::resolve::open_nofollow;
use super::root::Root;
use super::stop::Stop;
use super::tree::{self, Measure, Purpose};
use super::walk::join;
use scribe::Scribe;

/// Either nothing is to be done, or this.
#[derive(Debug)]
pub enum Planned<T> {
    /// The wanted state is there already.
    Noop(T),
    /// The change and its summary.
    Change(Box<Plan>, T),
}

/// A change that waits to be shown and committed.
#[derive(Debug, Default)]
pub struct Plan {
    /// What will be done.
    pub steps: Vec<Step>,
    /// Files whose contents change.
    pub files: Vec<Arc<PlannedFile>>,
    /// A tree that is deleted, moved or copied.
    pub tree: Option<TreeChange>,
    /// Why a person must be asked even with confirmations off.
    pub sensitive: Option<Sensitive>,
}

/// A file whose content changes.
#[derive(Debug, Clone)]
pub struct PlannedFile {
    /// The path after the change.
    pub path: String,
    /// The path before, when it differs.
    pub from: Option<String>,
    /// What happens.
    pub kind: ChangeKind,
    /// The record's mode.
    pub mode: &'static str,
    /// The content before.
    pub before: Before,
    /// The content after.
    pub after: Option<Held>,
    /// Made when it is wanted first.
    pub made: OnceLock<Diff>,
}

/// A file whose content no surface can show.
#[derive(Debug, Clone, Serialize)]
pub struct Hidden {
    pub path: String,
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub bytes: u64,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// A content before a change.
#[derive(Debug, Clone)]
pub enum Before {
    /// No file.
    Absent,
    /// The bytes.
    Bytes(Held),
    /// Too large to hold.
    Large(Digest, u64),
}

/// A tree that changes as a whole.
#[derive(Debug, Clone)]
pub struct TreeChange {
    /// What happens.
    pub kind: ChangeKind,
    /// Where it was.
    pub from: String,
    /// Where it will be; the same for a deletion.
    pub to: String,
    /// The record's mode.
    pub mode: &'static str,
    /// What it holds.
    pub measure: Measure,
    /// What it replaces.
    pub replaced: Option<Measure>,
}

impl Before {
    /// The bytes, when they are held.
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The digest of what is there.
    pub fn digest(&self) -> Option<Digest> {
        match self {
            Self::Absent => None,
            Self::Bytes(bytes) => Some(bytes.digest().clone()),
            Self::Large(digest, _) => Some(digest.clone()),
        }
    }

    /// What has to be there still when the change is made.
    pub fn expected(&self) -> Option<Expected> {
        match self {
            Self::Absent => None,
            Self::Bytes(bytes) => Some(bytes.clone().into()),
            Self::Large(digest, _) => Some(digest.clone().into()),
        }
    }

    /// What is remembered of it.
    pub fn content(&self) -> Content {
        match self {
            Self::Absent => Content::Absent,
            Self::Bytes(bytes) => Content::keep(bytes),
            Self::Large(sha256, size) => Content::Large { sha256: sha256.clone(), size: *size },
        }
    }
}

impl PlannedFile {
    /// The unified diff of this file.
    pub fn diff(&self) -> &Diff {
        self.made.get_or_init(|| self.compare())
    }

    /// What is remembered of it.
    pub fn change(&self) -> FileChange {
        FileChange {
            kind: self.kind,
            path: self.path.clone(),
            mode: self.mode,
            before: self.before.content(),
            after: self.after.as_ref().map_or(Content::Absent, Content::keep),
            diff: self.diff().text.clone(),
        }
    }

    fn compare(&self) -> Diff {
        if let Before::Large(_, size) = &self.before {
            let new = self.after.as_ref().map_or(0, |after| after.len());
            let text =
                format!("--- a/{0}\n+++ b/{0}\nLarge file replaced ({size} -> {new} bytes)\n", self.path);
            return Diff { text, added: 0, removed: 0 };
        }
        let old_path = self.from.as_deref().unwrap_or(&self.path);
        let mut made = diff(old_path, self.before.bytes(), &self.path, self.after.as_deref());
        if let Some(from) = &self.from {
            made.text = format!("rename from {from}\nrename to {}\n{}", self.path, made.text);
        }
        made
    }
}

impl Plan {
    /// The diff of everything, with its counts.
    pub fn diff(&self) -> Diff {
        let mut all = Diff::default();
        for file in &self.files {
            let one = file.diff();
            all.text.push_str(&one.text);
            all.added += one.added;
            all.removed += one.removed;
        }
        if let Some(tree) = &self.tree {
            all.text.push_str(&tree.words());
        }
        all
    }

    /// Paths of files that will have another content or place.
    pub fn written(&self) -> Vec<String> {
        let written = self.files.iter().filter(|file| file.after.is_some());
        written.map(|file| file.path.clone()).collect()
    }

    /// How many files it is about.
    pub fn count(&self) -> usize {
        self.files.len() + self.tree.as_ref().map_or(0, |tree| tree.measure.files)
    }

    /// Everything that decides the effect, for the `shown` digest (security T24): paths with the digests
    /// of what is there and what will be, sorted.
    pub fn facts(&self) -> Value {
        let mut all: Vec<Value> = self
            .files
            .iter()
            .map(|file| {
                json!({
                    "path": file.path, "from": file.from, "change": file.kind.as_str(), "mode": file.mode,
                    "before": file.before.digest().map(|digest| digest.as_str().to_owned()),
                    "after": file.after.as_ref().map(|after| after.digest().as_str().to_owned()),
                })
            })
            .collect();
        if let Some(tree) = &self.tree {
            let stamp = |measure: &Measure| {
                let (files, bytes) = (measure.files, measure.bytes);
                json!({ "files": files, "bytes": bytes, "stamp": Digest::of(&measure.stamp).as_str() })
            };
            all.push(json!({
                "path": tree.to, "from": tree.from, "change": tree.kind.as_str(), "mode": tree.mode,
                "before": stamp(&tree.measure), "after": tree.replaced.as_ref().map(stamp),
            }));
        }
        all.sort_by_cached_key(|row| row["path"].as_str().unwrap_or_default().to_owned());
        Value::Array(all)
    }

    /// Files whose content no diff can show.
    pub fn hidden(&self) -> Vec<Hidden> {
        let binary = |bytes: Option<&[u8]>| bytes.is_some_and(super::text::is_binary);
        let hidden = self.files.iter().filter_map(|file| {
            let kind = match &file.before {
                Before::Large(..) => "large",
                _ if binary(file.before.bytes()) || binary(file.after.as_deref()) => "binary",
                _ => return None,
            };
            let held = file.after.as_ref().map(|after| after.len() as u64);
            Some(Hidden {
                path: file.path.clone(),
                kind,
                bytes: held.unwrap_or_else(|| file.before.bytes().map_or(0, |bytes| bytes.len() as u64)),
                before: file.before.digest().map(|digest| digest.as_str().to_owned()),
                after: file.after.as_ref().map(|after| after.digest().as_str().to_owned()),
            })
        });
        hidden.collect()
    }

    /// Commits and records. The outcome has a warning for every record that could not be stored.
    /// The approval is spent, whatever comes of it.
    pub fn commit(
        self,
        approval: Approval,
        engine: &Engine<'_>,
        log: &dyn ChangeLog,
        stop: &dyn Stop,
    ) -> Result<Vec<String>> {
        drop(approval);
        let Self { steps, files, tree, .. } = self;
        if let Some(tree) = &tree {
            tree.still(engine.root, stop)?;
        }
        let (committed, mut unrecorded) = std::thread::scope(|scope| {
            let mut watcher = Watcher {
                scribe: Scribe::begin(scope, &files, log),
                tree: tree.as_ref(),
                log,
                unrecorded: 0,
            };
            let committed = engine.commit(steps, stop, &mut watcher);
            (committed, watcher.unrecorded + watcher.scribe.end())
        });
        let committed = committed?;
        if let Some(tree) = tree.as_ref().filter(|tree| tree.kind != ChangeKind::Deleted)
            && let Ok(place) = engine.root.resolve(&tree.to, super::resolve::Last::Itself)
            && let Ok(parent) = place.reopen_parent()
        {
            each_row(tree, &parent, &place.name, &mut |change| {
                unrecorded += usize::from(log.record(change).is_err());
            });
        }
        let mut warnings = committed.warnings;
        if unrecorded > 0 {
            warnings.push(format!(
                "change_not_recorded: {unrecorded} change(s) cannot be undone from the history"
            ));
        }
        Ok(warnings)
    }
}

/// Sees to it that a commit is remembered.
struct Watcher<'a, 'scope> {
    scribe: Scribe<'a, 'scope>,
    tree: Option<&'a TreeChange>,
    log: &'a dyn ChangeLog,
    unrecorded: usize,
}

impl<'a: 'scope, 'scope> Witness for Watcher<'a, 'scope> {
    fn committed(&mut self) {
        self.scribe.record();
    }

    fn removing(&mut self, path: &str, dir: &OwnedFd, name: &[u8]) {
        // One at a time: a tree of large files must not be held in memory as a whole.
        if let Some(gone) = self.tree.and_then(|tree| tree.removal(path)) {
            each_row(&gone, dir, name, &mut |change| {
                self.unrecorded += usize::from(self.log.record(change).is_err());
            });
        }
    }
}

impl TreeChange {
    /// security T24: what was shown is what is done; a tree that changed since is refused.
    fn still(&self, root: &Root, stop: &dyn Stop) -> Result<()> {
        let place = root.existing(&self.from, super::resolve::Last::Itself)?;
        let purpose = if self.kind == ChangeKind::Deleted { Purpose::Delete } else { Purpose::Transfer };
        if tree::measure(root, &place, purpose, stop)? == self.measure {
            return Ok(());
        }
        Err(FileError::changed(self.from.clone(), None, None))
    }

    /// What is recorded of a path that this change removes: the deleted tree, or what was replaced.
    fn removal(&self, path: &str) -> Option<TreeChange> {
        let measure = match (self.kind, &self.replaced) {
            (ChangeKind::Deleted, _) => self.measure.clone(),
            (_, Some(replaced)) if path == self.to => replaced.clone(),
            _ => return None,
        };
        let (from, to) = (path.to_owned(), path.to_owned());
        Some(TreeChange { kind: ChangeKind::Deleted, from, to, mode: self.mode, measure, replaced: None })
    }

    fn words(&self) -> String {
        let (files, bytes) = (self.measure.files, self.measure.bytes);
        match self.kind {
            ChangeKind::Deleted => {
                let mut text = format!("delete {} ({files} files, {bytes} bytes)\n", self.from);
                for (rel, kind) in self.measure.entries.iter().filter(|(rel, _)| !rel.is_empty()) {
                    let slash = if *kind == Kind::Directory { "/" } else { "" };
                    text.extend(["- ", &self.from, "/", &String::from_utf8_lossy(rel), slash, "\n"]);
                }
                text
            }
            ChangeKind::Moved => {
                format!("rename from {}\nrename to {}\n({files} files)\n", self.from, self.to)
            }
            _ => format!("copy from {}\ncopy to {}\n({files} files, {bytes} bytes)\n", self.from, self.to),
        }
    }
}

/// A record per file of a tree that lies under `name` now, at most 500, then one for the rest.
fn each_row(tree: &TreeChange, dir: &OwnedFd, name: &[u8], each: &mut dyn FnMut(FileChange)) {
    let files = tree.measure.entries.iter().filter(|(_, kind)| *kind != Kind::Directory);
    let mut rows = 0;
    for (rel, kind) in files {
        if rows == MAX_ROWS {
            let path = tree.to.clone();
            let diff = format!("{}\nand {} more files\n", tree.words(), tree.measure.files - rows);
            each(FileChange {
                kind: tree.kind,
                path,
                mode: tree.mode,
                before: Content::Absent,
                after: Content::Absent,
                diff,
            });
            return;
        }
        let content = if *kind == Kind::File { read_content(dir, name, rel) } else { Content::Absent };
        let below =
            |top: &str| String::from_utf8_lossy(&join(top.as_bytes(), rel)).trim_end_matches('/').to_owned();
        let (path, from) = (below(&tree.to), below(&tree.from));
        let text = match &content {
            Content::Bytes(bytes) => Some(bytes.clone()),
            _ => None,
        };
        let (before, after, words) = match tree.kind {
            ChangeKind::Deleted => {
                let words = diff(&path, text.as_deref(), &path, None).text;
                (content, Content::Absent, words)
            }
            ChangeKind::Moved => {
                (content.clone(), content, format!("rename from {from}\nrename to {path}\n"))
            }
            _ => (Content::Absent, content, format!("copy from {from}\ncopy to {path}\n")),
        };
        each(FileChange { kind: tree.kind, path, mode: tree.mode, before, after, diff: words });
        rows += 1;
    }
    if rows == 0 {
        // An empty directory is a change too.
        let (before, after) = (Content::Absent, Content::Absent);
        each(FileChange {
            kind: tree.kind,
            path: tree.to.clone(),
            mode: tree.mode,
            before,
            after,
            diff: tree.words(),
        });
    }
}

fn read_content(dir: &OwnedFd, name: &[u8], rel: &[u8]) -> Content {
    use std::io::Read;
    let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    // A file by itself lies under the name alone; with a slash behind it, it would have to be a directory.
    let path = if rel.is_empty() { name.to_vec() } else { join(name, rel) };
    let Ok(fd) = open_nofollow(dir.as_fd(), &path, flags) else { return Content::Absent };
    let mut file = std::fs::File::from(fd);
    let mut bytes = Vec::new();
    if Read::by_ref(&mut file).take(MAX_KEPT_BYTES as u64 + 1).read_to_end(&mut bytes).is_err() {
        return Content::Absent;
    }
    if bytes.len() <= MAX_KEPT_BYTES {
        return Content::Bytes(bytes.into());
    }
    let mut hasher = <sha2::Sha256 as sha2::Digest>::new_with_prefix(&bytes);
    let mut size = bytes.len() as u64;
    let mut buffer = vec![0; 256 * 1024];
    while let Ok(read) = file.read(&mut buffer) {
        if read == 0 {
            break;
        }
        sha2::Digest::update(&mut hasher, &buffer[..read]);
        size += read as u64;
    }
    Content::Large { sha256: Digest::finish(hasher), size }
}

/// servers §2.2: text that is not UTF-8 is neither edited nor patched.
fn document(path: &str, bytes: &[u8]) -> Result<super::text::Document> {
    super::text::Document::parse(bytes).ok_or_else(|| FileError::Unsupported {
        path: path.to_owned(),
        what: if super::text::is_binary(bytes) {
            "editing a binary file"
        } else {
            "editing text that is not UTF-8"
        },
        size: Some(bytes.len() as u64),
    })
}

#[cfg(test)]
mod tests;
