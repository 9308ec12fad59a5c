//! What several changes did to each path in the end: what must be there now, and what was there before.

use std::collections::BTreeMap;

use chatos_store::{ChangeContent, ContentState, RecordedChange};
use chatos_tool::Fault;

use super::refuse;

/// Names are recorded as text; this stands for bytes that were none.
const NOT_TEXT: char = char::REPLACEMENT_CHARACTER;

/// What is known of a path at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Side {
    /// Nothing is there.
    Absent,
    /// This content.
    Content {
        /// Its digest.
        sha256: String,
        /// Its size, where it is known.
        size: Option<u64>,
        /// What became of the bytes.
        state: ContentState,
    },
    /// Something whose content nobody kept or knew: a link, an empty directory, a file a command changed.
    Unknown,
}

impl Side {
    fn of(content: &ChangeContent) -> Self {
        match (&content.sha256, content.state) {
            (_, ContentState::Absent) => Self::Absent,
            (Some(sha256), state) => Self::Content { sha256: sha256.clone(), size: content.size, state },
            (None, _) => Self::Unknown,
        }
    }

    /// Whether one can be the other. What is not known contradicts nothing.
    fn fits(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Absent, Self::Absent) => true,
            (Self::Content { sha256: one, .. }, Self::Content { sha256: other, .. }) => one == other,
            (Self::Unknown, Self::Content { .. } | Self::Unknown) => true,
            (Self::Content { .. }, Self::Unknown) => true,
            _ => false,
        }
    }

    fn same(&self, other: &Self) -> bool {
        *self != Self::Unknown && *other != Self::Unknown && self.fits(other)
    }
}

/// One path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Net {
    pub(super) path: String,
    /// What was there before the oldest change.
    pub(super) first: Side,
    /// What the newest change left.
    pub(super) last: Side,
    /// The changes that touched it.
    pub(super) ids: Vec<String>,
    /// What is there came from this path, by moves.
    pub(super) from: Option<String>,
}

/// The root all of them have; one commit works beneath one root.
pub(super) fn common_root<'a>(changes: &[&'a RecordedChange]) -> Result<&'a str, Fault> {
    let mut roots: Vec<&str> = changes.iter().map(|change| change.row.root.as_str()).collect();
    roots.sort_unstable();
    roots.dedup();
    match roots.as_slice() {
        [] => Err(refuse::nothing()),
        [root] => Ok(root),
        several => Err(refuse::several_roots(several)),
    }
}

/// What changes, the oldest first, did together; paths that are as they were are left out.
pub(super) fn effect(changes: &[&RecordedChange]) -> Result<Vec<Net>, Fault> {
    let mut nets: BTreeMap<String, Net> = BTreeMap::new();
    for change in changes {
        let (path, id) = (change.row.path.as_str(), change.row.id.as_str());
        if [Some(path), change.from.as_deref()].into_iter().flatten().any(|path| path.contains(NOT_TEXT)) {
            return Err(refuse::name_unknown(path));
        }
        if let Some(undo) = &change.undone_by {
            return Err(refuse::already_undone(id, path, undo));
        }
        let (before, after) = (Side::of(&change.before), Side::of(&change.after));
        match change.row.change.as_str() {
            "created" => go_on(&mut nets, path, Side::Absent, after, id)?,
            "deleted" => go_on(&mut nets, path, before, Side::Absent, id)?,
            "moved" => {
                let from = change.from.as_deref().ok_or_else(|| refuse::old_path_unknown(path))?;
                let origin = nets.get(from).and_then(|net| net.from.clone());
                go_on(&mut nets, from, before, Side::Absent, id)?;
                go_on(&mut nets, path, Side::Absent, after, id)?;
                if let Some(net) = nets.get_mut(path) {
                    net.from = Some(origin.unwrap_or_else(|| from.to_owned()));
                }
            }
            _ => go_on(&mut nets, path, before, after, id)?,
        }
    }
    Ok(nets.into_values().filter(|net| !net.first.same(&net.last)).collect())
}

fn go_on(
    nets: &mut BTreeMap<String, Net>,
    path: &str,
    before: Side,
    after: Side,
    id: &str,
) -> Result<(), Fault> {
    let net = nets.entry(path.to_owned()).or_insert_with(|| Net {
        path: path.to_owned(),
        first: before.clone(),
        last: before.clone(),
        ids: Vec::new(),
        from: None,
    });
    if !net.last.fits(&before) {
        return Err(refuse::changed_between(path, id));
    }
    if before == Side::Absent || after == Side::Absent {
        net.from = None;
    }
    net.last = after;
    if net.ids.last().map(String::as_str) != Some(id) {
        net.ids.push(id.to_owned());
    }
    Ok(())
}
