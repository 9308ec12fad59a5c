//! What tools changed in files, for people: the list, the contents, and undoing (servers §2.7).

use std::collections::HashSet;

use chatos_builtin::undo::{self, Intent, UndoHome, UndoStep};
use chatos_store::{ChangeFilter, ContentState, MOST_CHANGES_AT_ONCE, RecordedChange, StoreErrorKind};
use chatos_tool::{ErrorCode, Fault, Issues, Text};
use chatos_wire::event::{ChangedIds, HostEvent};
use serde_json::{Map, json};

use crate::host::Host;

/// Bytes of a diff that are shown; the contents can be had as a whole.
const DIFF_BYTES: usize = 1 << 20;
/// Ids that an audit record names; it always has their number.
const AUDITED_IDS: usize = 100;
/// Changes of one page, at most.
const MOST_LISTED: usize = 200;
/// As long as a path may be.
const PATH_CHARS: usize = 4096;
const KINDS: [&str; 4] = ["created", "modified", "deleted", "moved"];

/// One change with everything a person wants to see of it.
#[derive(Debug)]
pub struct ChangeDetail {
    /// The change.
    pub change: RecordedChange,
    /// Its diff.
    pub diff: String,
    /// The diff is longer than what is shown.
    pub diff_truncated: bool,
    /// Why it cannot be undone as the file is now.
    pub refusal: Option<Fault>,
}

/// What is to be undone: some changes, or all of a run that are in force.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UndoOrder {
    /// These changes.
    pub ids: Vec<String>,
    /// All changes of this run.
    pub run_id: Option<String>,
    /// Only look.
    pub dry_run: bool,
}

/// What an undo did, or would do.
#[derive(Debug)]
pub struct UndoOutcome {
    /// The root.
    pub root: String,
    /// What happens to each file.
    pub steps: Vec<UndoStep>,
    /// The records of the undo itself.
    pub changes: Vec<RecordedChange>,
    /// What a person should know besides.
    pub warnings: Vec<String>,
}

impl Host {
    /// Changes of files, newest first, and where the next page begins.
    pub fn list_changes(
        &self,
        filter: &ChangeFilter,
        limit: usize,
    ) -> Result<(Vec<RecordedChange>, Option<String>), Fault> {
        let mut issues = Issues::default();
        if !filter.change.is_empty() {
            issues.one_of("/change", &filter.change, &KINDS);
        }
        issues.longest("/path", &filter.path, PATH_CHARS);
        if !(1..=MOST_LISTED).contains(&limit) {
            let (en, zh) = (format!("use 1 to {MOST_LISTED}"), format!("请使用 1 到 {MOST_LISTED}"));
            issues.add("/limit", "range", &en, &zh);
        }
        issues.done()?;
        let (found, more) = self.store().changes(filter, limit).map_err(|error| match error.kind {
            StoreErrorKind::NotFound => no_change(filter.before.as_deref().unwrap_or_default()),
            _ => Fault::from(error),
        })?;
        let next = more.then(|| found.last().map(|change| change.row.id.clone())).flatten();
        Ok((found, next))
    }

    /// One change, its diff, and whether it can be undone now.
    pub fn get_change(&self, id: &str) -> Result<ChangeDetail, Fault> {
        let change = self.find_change(id)?;
        let mut diff = self.store().change_diff(&change.row);
        let diff_truncated = diff.len() > DIFF_BYTES;
        if diff_truncated {
            let line_end = |byte: &u8| *byte == b'\n';
            let end = diff.as_bytes()[..DIFF_BYTES].iter().rposition(line_end).map_or(0, |at| at + 1);
            diff.truncate(end);
        }
        let only = std::slice::from_ref(&change);
        let refusal = undo::plan(self.store(), &self.undo_home(), only, Intent::Look).err();
        Ok(ChangeDetail { change, diff, diff_truncated, refusal })
    }

    /// The file name and the bytes before or after a change.
    pub fn change_content(&self, id: &str, before: bool) -> Result<(String, Vec<u8>), Fault> {
        let change = self.find_change(id)?;
        let path = match (&change.from, before) {
            (Some(from), true) => from,
            _ => &change.row.path,
        };
        let content = if before { &change.before } else { &change.after };
        let missing = |code: &'static str, message: Text| {
            Err(Fault::new(ErrorCode::NotFound, message).code(code).hint(Text::fixed(
                "the diff of the change may still show what changed",
                "更改的差异中可能仍有相关内容",
            )))
        };
        match content.state {
            ContentState::Absent => missing(
                "content_absent",
                Text::new(format!("there was no file `{path}` then"), format!("当时没有文件 `{path}`")),
            ),
            ContentState::Omitted => missing(
                "content_omitted",
                Text::new(
                    format!("the content of `{path}` was too large to keep; only its digest is known"),
                    format!("`{path}` 的内容过大，未保存；只有摘要"),
                ),
            ),
            ContentState::Kept | ContentState::Lost => {
                let bytes = content.sha256.as_deref().and_then(|sha256| self.store().blob(sha256));
                match bytes {
                    Some(bytes) => {
                        let name = path.rsplit('/').next().unwrap_or_default().to_owned();
                        Ok((name, bytes))
                    }
                    None => missing(
                        "content_lost",
                        Text::new(
                            format!("the content of `{path}` is not kept, or not any more"),
                            format!("`{path}` 的内容未保存或已被清理"),
                        ),
                    ),
                }
            }
        }
    }

    /// Undoes changes, all of them or none.
    pub fn undo_changes(&self, order: &UndoOrder) -> Result<UndoOutcome, Fault> {
        let chosen = self.chosen_changes(order)?;
        let intent = if order.dry_run { Intent::Look } else { Intent::Undo };
        let plan = undo::plan(self.store(), &self.undo_home(), &chosen, intent)?;
        let (root, steps) = (plan.root(), plan.steps().cloned().collect::<Vec<_>>());
        if order.dry_run {
            return Ok(UndoOutcome { root, steps, changes: Vec::new(), warnings: Vec::new() });
        }
        let undone = plan.commit(self.store())?;
        let ids: Vec<&str> = chosen.iter().map(|change| change.row.id.as_str()).collect();
        let mut fields = Map::new();
        fields.insert("root".to_owned(), json!(root));
        fields.insert("files".to_owned(), json!(steps.len()));
        fields.insert("changes".to_owned(), json!(ids.len()));
        fields.insert("ids".to_owned(), json!(ids.iter().take(AUDITED_IDS).collect::<Vec<_>>()));
        if let Some(run_id) = &order.run_id {
            fields.insert("runId".to_owned(), json!(run_id));
        }
        self.audit("file_changes_undone", fields);
        let ids = undone.changes.clone();
        self.events().publish(HostEvent::FileChangesChanged(ChangedIds { ids }));
        let changes = self.store().changes_by_id(&undone.changes)?;
        Ok(UndoOutcome { root, steps, changes, warnings: undone.warnings })
    }

    fn chosen_changes(&self, order: &UndoOrder) -> Result<Vec<RecordedChange>, Fault> {
        let too_many = order.ids.len() > MOST_CHANGES_AT_ONCE;
        let chosen = match (&order.run_id, order.ids.as_slice()) {
            (Some(run_id), []) if !run_id.is_empty() => {
                let filter = ChangeFilter { run_id: run_id.clone(), ..ChangeFilter::default() };
                let found = self.store().changes(&filter, MOST_CHANGES_AT_ONCE);
                let (found, more) = found?;
                if more {
                    return Err(at_most());
                }
                if found.is_empty() {
                    return Err(no_changes_of(run_id));
                }
                // What is undone already stays so.
                found.into_iter().filter(|change| change.undone_by.is_none()).collect()
            }
            (None, ids) if !ids.is_empty() && !too_many => {
                let found = self.store().changes_by_id(ids)?;
                let there: HashSet<&str> = found.iter().map(|change| change.row.id.as_str()).collect();
                if let Some(id) = ids.iter().find(|id| !there.contains(id.as_str())) {
                    return Err(no_change(id));
                }
                found
            }
            _ if too_many => return Err(at_most()),
            _ => {
                return Err(Fault::new(
                    ErrorCode::InvalidArgument,
                    Text::fixed(
                        "give either `ids`, at least one, or `runId`",
                        "请提供 `ids`（至少一个）或 `runId` 之一",
                    ),
                )
                .hint(Text::fixed(
                    "`chatos changes list` shows the ids",
                    "`chatos changes list` 会列出编号",
                )));
            }
        };
        Ok(chosen)
    }

    fn find_change(&self, id: &str) -> Result<RecordedChange, Fault> {
        self.store().change(id)?.ok_or_else(|| no_change(id))
    }

    pub(crate) fn undo_home(&self) -> UndoHome {
        let places = self.places();
        let protected = [Some(places.key_dir.clone()), places.legacy_dir.clone()];
        UndoHome {
            state_dir: self.dir().path().to_owned(),
            protected: protected.into_iter().flatten().collect(),
        }
    }
}

fn no_change(id: &str) -> Fault {
    Fault::new(
        ErrorCode::NotFound,
        Text::new(format!("there is no change `{id}`"), format!("没有更改 `{id}`")),
    )
    .hint(Text::fixed("`chatos changes list` shows what there is", "`chatos changes list` 会列出现有更改"))
}

fn no_changes_of(run_id: &str) -> Fault {
    Fault::new(
        ErrorCode::NotFound,
        Text::new(
            format!("no file was changed in the run `{run_id}`"),
            format!("运行 `{run_id}` 没有更改任何文件"),
        ),
    )
    .hint(Text::fixed("`chatos changes list` shows what there is", "`chatos changes list` 会列出现有更改"))
}

fn at_most() -> Fault {
    Fault::new(
        ErrorCode::ResourceExhausted,
        Text::new(
            format!("more than {MOST_CHANGES_AT_ONCE} changes cannot be undone at once"),
            format!("不能一次撤销超过 {MOST_CHANGES_AT_ONCE} 项更改"),
        ),
    )
    .code("too_much")
    .hint(Text::fixed("undo fewer changes at a time", "请一次撤销较少的更改"))
}
