//! `delete_path`, `move_path` and `copy_path`, computed (servers §4, §5).

use super::{Plan, Planned, TreeChange, sensitive};
use crate::change::ChangeKind;
use crate::commit::Step;
use crate::digest::Digest;
use crate::entry::Kind;
use crate::error::{ConflictKind, DenyRule, FileError, Result};
use crate::read;
use crate::resolve::{Last, Place};
use crate::root::Root;
use crate::stop::Stop;
use crate::tree::{self, Measure, Purpose};

/// A move or copy.
#[derive(Debug, Clone)]
pub struct TransferRequest {
    /// From.
    pub from: String,
    /// To.
    pub to: String,
    /// Replace what is there.
    pub overwrite: bool,
}

/// What a delete, move or copy touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransferSummary {
    /// The path before.
    pub from: String,
    /// The path after.
    pub to: String,
    /// Files and links.
    pub files: usize,
    /// Bytes.
    pub bytes: u64,
}

/// Computes a deletion.
pub fn delete_path(
    root: &Root,
    path: &str,
    recursive: bool,
    expected: Option<&Digest>,
    stop: &dyn Stop,
) -> Result<Planned<TransferSummary>> {
    let place = match root.resolve(path, Last::Itself) {
        Ok(place) => place,
        Err(FileError::NotFound { .. }) => {
            let rel = path.to_owned();
            return Ok(Planned::Noop(TransferSummary { from: rel.clone(), to: rel, files: 0, bytes: 0 }));
        }
        Err(error) => return Err(error),
    };
    let rel = place.rel.clone();
    if place.stat.is_none() {
        return Ok(Planned::Noop(TransferSummary { from: rel.clone(), to: rel, files: 0, bytes: 0 }));
    }
    refuse_root(root, &place, path)?;
    let measure = tree::measure(root, &place, Purpose::Delete, stop)?;
    let is_dir = place.kind() == Some(Kind::Directory);
    if is_dir && !recursive && measure.entries.len() > 1 {
        let message = format!("`{rel}` is not empty and recursive is false");
        let zh = format!("`{rel}` 非空且 recursive 为 false");
        return Err(FileError::conflict(ConflictKind::Exists, rel, message, zh));
    }
    let digest = match (place.kind(), expected) {
        (Some(Kind::File), Some(expected)) => {
            let (_, found) = read::scan(root, &read::ScanCache::default(), path, stop)?;
            if found != *expected {
                let (expected, found) = (expected.as_str().to_owned(), found.as_str().to_owned());
                return Err(FileError::changed(rel, Some(expected), Some(found)));
            }
            Some(expected.clone())
        }
        (_, Some(_)) => {
            return Err(FileError::invalid(
                "/expected_sha256",
                format!("`{rel}` is not a file and has no digest"),
                format!("`{rel}` 不是文件，没有摘要"),
            ));
        }
        // A small file's content is part of what a person agrees to.
        (Some(Kind::File), None) if measure.bytes <= 16 << 20 => {
            read::scan(root, &read::ScanCache::default(), path, stop).ok().map(|(_, digest)| digest)
        }
        _ => None,
    };
    if !is_dir {
        place.check_writable_parent()?;
    }
    let summary =
        TransferSummary { from: rel.clone(), to: rel.clone(), files: measure.files, bytes: measure.bytes };
    let plan = Plan {
        steps: vec![Step::Remove { path: path.to_owned(), expected: digest.map(Into::into) }],
        files: Vec::new(),
        sensitive: sensitive_tree(root, &rel, &measure),
        tree: Some(TreeChange {
            kind: ChangeKind::Deleted,
            from: rel.clone(),
            to: rel,
            mode: "delete",
            measure,
            replaced: None,
        }),
    };
    Ok(Planned::Change(Box::new(plan), summary))
}

/// Computes a move.
pub fn move_path(
    root: &Root,
    request: &TransferRequest,
    stop: &dyn Stop,
) -> Result<Planned<TransferSummary>> {
    let Some(checked) = check(root, request, stop)? else { return noop(root, request) };
    let Checked { from, to, measure, replaced } = checked;
    let mode = if to.stat.is_some() { "move_overwrite" } else { "move" };
    let (source, target) = (request.from.clone(), request.to.clone());
    // Another device: copy, make durable, swap in, then delete, all in one commit.
    let other_device = from.parent_id.dev() != to.parent_id.dev()
        || from.id().is_some_and(|id| id.dev() != from.parent_id.dev());
    let overwrite = request.overwrite;
    let steps = if other_device {
        vec![
            Step::Copy { from: source.clone(), to: target, overwrite, measure: measure.clone() },
            Step::Remove { path: source, expected: None },
        ]
    } else {
        vec![Step::Rename { from: source, to: target, overwrite }]
    };
    Ok(planned(root, ChangeKind::Moved, mode, &from, &to, steps, (measure, replaced)))
}

/// Computes a copy.
pub fn copy_path(
    root: &Root,
    request: &TransferRequest,
    stop: &dyn Stop,
) -> Result<Planned<TransferSummary>> {
    let Some(checked) = check(root, request, stop)? else { return noop(root, request) };
    let Checked { from, to, measure, replaced } = checked;
    let mode = if to.stat.is_some() { "copy_overwrite" } else { "copy" };
    let step = Step::Copy {
        from: request.from.clone(),
        to: request.to.clone(),
        overwrite: request.overwrite,
        measure: measure.clone(),
    };
    Ok(planned(root, ChangeKind::Created, mode, &from, &to, vec![step], (measure, replaced)))
}

struct Checked {
    from: Place,
    to: Place,
    measure: Measure,
    /// What the destination holds.
    replaced: Option<Measure>,
}

/// The common rules; nothing when both paths are one entry.
fn check(root: &Root, request: &TransferRequest, stop: &dyn Stop) -> Result<Option<Checked>> {
    let from = root.existing(&request.from, Last::Itself).map_err(|error| error.of_argument("/from"))?;
    refuse_root(root, &from, &request.from)?;
    let to = root.resolve(&request.to, Last::Itself).map_err(|error| error.of_argument("/to"))?;
    // The same entry by this or another spelling, or by another case where the system ignores case.
    if to.rel == from.rel || (to.id() == from.id() && same_entry(&from, &to)) {
        return Ok(None);
    }
    refuse_root(root, &to, &request.to)?;
    if from.kind() == Some(Kind::Directory) && inside(root, &from, &request.to)? {
        return Err(FileError::invalid(
            "/to",
            format!("`{}` lies inside `{}`", to.rel, from.rel),
            format!("`{}` 在 `{}` 之内", to.rel, from.rel),
        ));
    }
    if to.kind() == Some(Kind::Directory) && from.rel.starts_with(&format!("{}/", to.rel)) {
        return Err(FileError::invalid(
            "/to",
            format!("`{}` holds `{}` and cannot be replaced by it", to.rel, from.rel),
            format!("`{}` 包含 `{}`，不能被其替换", to.rel, from.rel),
        ));
    }
    if to.stat.is_some() && !request.overwrite {
        return Err(FileError::exists(to.rel));
    }
    let mut replaced = None;
    if to.stat.is_some() {
        replaced = Some(tree::measure(root, &to, Purpose::Delete, stop)?);
        if to.kind() == Some(Kind::File) {
            to.check_writable()?;
        }
    }
    let measure = tree::measure(root, &from, Purpose::Transfer, stop)?;
    tree::check_links(root, &from, &measure, &to.rel)?;
    Ok(Some(Checked { from, to, measure, replaced }))
}

/// Two names in one directory for one entry are hard links, unless only their case differs.
fn same_entry(from: &Place, to: &Place) -> bool {
    from.id().is_some()
        && from.parent_id == to.parent_id
        && String::from_utf8_lossy(&from.name).to_lowercase()
            == String::from_utf8_lossy(&to.name).to_lowercase()
}

/// Whether a path leads through a directory, by identity.
fn inside(root: &Root, dir: &Place, path: &str) -> Result<bool> {
    let to = root.resolve(path, Last::Itself)?;
    let mut rel = to.rel.as_str();
    while let Some((parent, _)) = rel.rsplit_once('/') {
        if let Ok(place) = root.resolve(parent, Last::Follow)
            && place.id().is_some()
            && place.id() == dir.id()
        {
            return Ok(true);
        }
        rel = parent;
    }
    Ok(false)
}

fn refuse_root(root: &Root, place: &Place, given: &str) -> Result<()> {
    if place.is_root() || place.id() == Some(root.id()) {
        return Err(FileError::denied(DenyRule::ProtectedPath, given));
    }
    Ok(())
}

fn noop(root: &Root, request: &TransferRequest) -> Result<Planned<TransferSummary>> {
    let (from, to) = (root.resolve(&request.from, Last::Itself)?, root.resolve(&request.to, Last::Itself)?);
    Ok(Planned::Noop(TransferSummary { from: from.rel, to: to.rel, files: 0, bytes: 0 }))
}

fn sensitive_tree(root: &Root, rel: &str, measure: &Measure) -> Option<super::Sensitive> {
    let top = root.path().join(rel);
    sensitive(&top).or_else(|| {
        let below = measure.entries.iter().filter(|(rel, _)| !rel.is_empty());
        below.map(|(rel, _)| top.join(&*String::from_utf8_lossy(rel))).find_map(|path| sensitive(&path))
    })
}

fn planned(
    root: &Root,
    kind: ChangeKind,
    mode: &'static str,
    from: &Place,
    to: &Place,
    steps: Vec<Step>,
    (measure, replaced): (Measure, Option<Measure>),
) -> Planned<TransferSummary> {
    let summary = TransferSummary {
        from: from.rel.clone(),
        to: to.rel.clone(),
        files: measure.files,
        bytes: measure.bytes,
    };
    let source = (kind == ChangeKind::Moved).then(|| sensitive_tree(root, &from.rel, &measure)).flatten();
    let sensitive = source.or_else(|| sensitive_tree(root, &to.rel, &measure));
    let tree = TreeChange { kind, from: from.rel.clone(), to: to.rel.clone(), mode, measure, replaced };
    Planned::Change(Box::new(Plan { steps, files: Vec::new(), tree: Some(tree), sensitive }), summary)
}

impl Place {
    /// A single entry goes only where its directory may be written.
    fn check_writable_parent(&self) -> Result<()> {
        use rustix::fs::{Access, AtFlags};
        match rustix::fs::accessat(&self.parent, ".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS) {
            Err(rustix::io::Errno::ACCESS | rustix::io::Errno::PERM | rustix::io::Errno::ROFS) => {
                Err(FileError::denied(DenyRule::FileMode, self.rel.clone()))
            }
            _ => Ok(()),
        }
    }
}
