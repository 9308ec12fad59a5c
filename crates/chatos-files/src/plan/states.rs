//! Files as they are on disk and as a change of several of them leaves them, step by step; and the plan that
//! leads from the one to the other.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use super::content::target;
use super::{Before, Plan, PlannedFile, sensitive};
use crate::change::ChangeKind;
use crate::commit::Step;
use crate::digest::Digest;
use crate::error::{FileError, Result};
use crate::held::Held;
use crate::read;
use crate::root::Root;

/// A file as it is on disk and as the change has left it so far.
pub(super) struct State {
    /// The path as it can be resolved again.
    pub(super) given: String,
    pub(super) disk: Option<Held>,
    pub(super) now: Option<Held>,
    pub(super) executable: Option<bool>,
    pub(super) mode: Option<u32>,
    /// It came from this path.
    pub(super) from: Option<String>,
}

/// All files a change is about, by their path.
#[derive(Default)]
pub(super) struct States(BTreeMap<String, State>);

impl States {
    /// The resolved path, read when it is met first.
    pub(super) fn load(&mut self, root: &Root, given: String, max_bytes: u64) -> Result<String> {
        let place = target(root, &given)?;
        let rel = place.rel.clone();
        if !self.0.contains_key(&rel) {
            let mode = place.stat.as_ref().map(|stat| stat.st_mode & 0o7777);
            let disk: Option<Held> = match place.stat {
                Some(_) => {
                    let opened = root.open_file(&given)?;
                    Some(read::read_whole(&opened, max_bytes)?.into())
                }
                None => None,
            };
            let state = State { given, now: disk.clone(), disk, executable: None, mode, from: None };
            self.0.insert(rel.clone(), state);
        }
        Ok(rel)
    }

    /// A file that was read.
    pub(super) fn get(&self, rel: &str) -> Option<&State> {
        self.0.get(rel)
    }

    /// A file that was read, to change it.
    pub(super) fn of(&mut self, rel: &str) -> Result<&mut State> {
        self.0.get_mut(rel).ok_or_else(|| FileError::NotFound { path: rel.to_owned(), nearest: Vec::new() })
    }

    /// Gives a file another path, with its mode; the content goes along.
    pub(super) fn rename(&mut self, from: &str, to: &str) -> Result<()> {
        let source = self.of(from)?;
        let content = source.now.take();
        let (mode, first) = (source.mode, source.from.clone());
        let target = self.of(to)?;
        target.from = Some(first.unwrap_or_else(|| from.to_owned()));
        target.mode = mode;
        target.now = content;
        Ok(())
    }

    /// The digest a file will have; nothing for a deleted one.
    pub(super) fn digest(&self, rel: &str) -> Option<Digest> {
        self.0.get(rel).and_then(|state| state.now.as_ref()).map(|now| now.digest().clone())
    }

    /// The steps from what is on disk to what the change wants.
    pub(super) fn plan(&self, root: &Root, recorded: &'static str) -> Plan {
        let mut plan = Plan::default();
        for (rel, state) in &self.0 {
            let mode = state.executable.map(|executable| {
                let base = state.mode.unwrap_or(0o644);
                // Those who may read may execute, as with `chmod +x` under the usual mask.
                if executable { base | ((base & 0o444) >> 2) } else { base & !0o111 }
            });
            let mode = mode.filter(|mode| state.disk.is_none() || state.mode != Some(*mode));
            if state.disk == state.now && mode.is_none() {
                continue;
            }
            if plan.sensitive.is_none() {
                plan.sensitive = sensitive(&root.path().join(rel));
            }
            let expected = state.disk.clone().map(Into::into);
            let gone = state.now.is_none();
            match &state.now {
                Some(content) => plan.steps.push(Step::Put {
                    path: state.given.clone(),
                    expected,
                    content: content.clone(),
                    mode,
                    like: state
                        .from
                        .as_ref()
                        .and_then(|from| self.0.get(from))
                        .map(|from| from.given.clone()),
                }),
                None => plan.steps.push(Step::Remove { path: rel.clone(), expected }),
            }
            let moved_on = gone && self.0.values().any(|other| other.from.as_ref() == Some(rel));
            if moved_on {
                continue; // recorded with the file it became
            }
            let source = state.from.as_ref().and_then(|from| self.0.get(from));
            let before = source.map_or(&state.disk, |source| &source.disk);
            plan.files.push(Arc::new(PlannedFile {
                path: rel.clone(),
                from: state.from.clone(),
                kind: match (&state.from, &state.disk, gone) {
                    (Some(_), ..) => ChangeKind::Moved,
                    (None, None, _) => ChangeKind::Created,
                    (None, Some(_), true) => ChangeKind::Deleted,
                    (None, Some(_), false) => ChangeKind::Modified,
                },
                mode: recorded,
                before: before.clone().map_or(Before::Absent, Before::Bytes),
                after: state.now.clone(),
                made: OnceLock::new(),
            }));
        }
        // A move writes its new file before the old one goes: attributes are taken from the old one.
        plan.steps.sort_by_key(|step| matches!(step, Step::Remove { .. }));
        plan
    }
}
