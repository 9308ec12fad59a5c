//! Changes of several files that another program computed, such as a language server: texts rewritten, files
//! made, moved and removed, in its order, all or nothing (servers §10, §2.5).

use super::content::check_size;
use super::states::States;
use super::{Planned, document};
use crate::change::ChangeKind;
use crate::diff::Diff;
use crate::digest::Digest;
use crate::entry::Kind;
use crate::error::{FileError, Result};
use crate::resolve::Last;
use crate::root::Root;

/// Makes the new text of a file of its present one; LF, without a mark.
pub type Rewrite = Box<dyn Fn(&str) -> Result<String> + Send + Sync>;

/// What happens when something is there already, or is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Otherwise {
    /// The whole change is refused.
    #[default]
    Refuse,
    /// This operation is left out.
    Skip,
    /// What is there is replaced.
    Replace,
}

pub enum FileOp {
    Edit {
        path: String,
        /// The digest it must have; any when absent.
        expected: Option<Digest>,
        rewrite: Rewrite,
    },
    /// A new file without content.
    Create { path: String, existing: Otherwise },
    /// Another path for a file.
    Rename {
        from: String,
        to: String,
        /// When the new path exists.
        existing: Otherwise,
    },
    Delete {
        path: String,
        /// When it does not exist.
        missing: Otherwise,
    },
}

#[derive(Debug, Clone)]
pub struct RewriteSummary {
    /// Every file that changes, sorted by path.
    pub files: Vec<RewrittenFile>,
    /// The diff of everything.
    pub diff: Diff,
}

/// One file of it.
#[derive(Debug, Clone)]
pub struct RewrittenFile {
    pub path: String,
    /// The path before, when it differs.
    pub from: Option<String>,
    pub change: ChangeKind,
    /// The new digest; nothing for a deleted file.
    pub sha256: Option<Digest>,
}

/// Computes the change; `max_bytes` is for each file.
pub fn rewrite(root: &Root, ops: &[FileOp], max_bytes: u64) -> Result<Planned<RewriteSummary>> {
    let mut states = States::default();
    for op in ops {
        match op {
            FileOp::Edit { path, expected, rewrite } => {
                let rel = states.load(root, path.clone(), max_bytes)?;
                let state = states.of(&rel)?;
                if let Some(expected) = expected {
                    let found = state.disk.as_ref().map(|disk| disk.digest().clone());
                    if found.as_ref() != Some(expected) {
                        let found = found.map(|digest| digest.as_str().to_owned());
                        return Err(FileError::changed(rel, Some(expected.as_str().to_owned()), found));
                    }
                }
                let Some(now) = state.now.clone() else {
                    return Err(FileError::NotFound { path: rel, nearest: Vec::new() });
                };
                let document = document(&rel, &now)?;
                let bytes = document.render(&rewrite(&document.text)?);
                check_size(&rel, bytes.len() as u64, max_bytes)?;
                state.now = Some(bytes.into());
            }
            FileOp::Create { path, existing } => {
                let rel = states.load(root, path.clone(), max_bytes)?;
                let state = states.of(&rel)?;
                match (state.now.is_some(), existing) {
                    (true, Otherwise::Refuse) => return Err(FileError::exists(rel)),
                    (true, Otherwise::Skip) => {}
                    _ => state.now = Some(Vec::new().into()),
                }
            }
            FileOp::Rename { from, to, existing } => {
                no_directory(root, from)?;
                let from = states.load(root, from.clone(), max_bytes)?;
                let to = states.load(root, to.clone(), max_bytes)?;
                if states.of(&from)?.now.is_none() {
                    return Err(FileError::NotFound { path: from, nearest: Vec::new() });
                }
                if from == to {
                    continue;
                }
                match (states.of(&to)?.now.is_some(), existing) {
                    (true, Otherwise::Refuse) => return Err(FileError::exists(to)),
                    (true, Otherwise::Skip) => {}
                    _ => states.rename(&from, &to)?,
                }
            }
            FileOp::Delete { path, missing } => {
                no_directory(root, path)?;
                let rel = states.load(root, path.clone(), max_bytes)?;
                let state = states.of(&rel)?;
                if state.now.take().is_none() && *missing == Otherwise::Refuse {
                    return Err(FileError::NotFound { path: rel, nearest: Vec::new() });
                }
            }
        }
    }
    let plan = states.plan(root, "edit");
    let files = plan.files.iter().map(|file| RewrittenFile {
        path: file.path.clone(),
        from: file.from.clone(),
        change: file.kind,
        sha256: file.after.as_ref().map(|after| after.digest().clone()),
    });
    let summary = RewriteSummary { files: files.collect(), diff: plan.diff() };
    Ok(if plan.steps.is_empty() { Planned::Noop(summary) } else { Planned::Change(Box::new(plan), summary) })
}

/// Whole directories are moved and removed by the tools for that, where a person sees what is in them.
fn no_directory(root: &Root, path: &str) -> Result<()> {
    let place = root.resolve(path, Last::Follow)?;
    if place.kind() == Some(Kind::Directory) {
        let what = "moving or deleting a directory in a computed change";
        return Err(FileError::Unsupported { path: path.to_owned(), what, size: None });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::{Protected, SymlinkPolicy};

    fn place() -> (tempfile::TempDir, Root) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.txt"), "one\r\ntwo\r\n").unwrap();
        std::fs::write(dir.path().join("b.txt"), "b\n").unwrap();
        std::fs::create_dir(dir.path().join("sub")).unwrap();
        let root = Root::open(dir.path(), SymlinkPolicy::Deny, Protected::default()).unwrap();
        (dir, root)
    }

    fn edit(path: &str, from: &'static str, to: &'static str) -> FileOp {
        let rewrite: Rewrite = Box::new(move |text| Ok(text.replace(from, to)));
        FileOp::Edit { path: path.to_owned(), expected: None, rewrite }
    }

    fn planned(root: &Root, ops: &[FileOp]) -> RewriteSummary {
        match rewrite(root, ops, 1 << 20).unwrap() {
            Planned::Change(_, summary) | Planned::Noop(summary) => summary,
        }
    }

    #[test]
    fn operations_follow_each_other_and_keep_the_form_of_files() {
        let (_dir, root) = place();
        let summary = planned(
            &root,
            &[
                edit("a.txt", "two", "2"),
                FileOp::Rename { from: "a.txt".into(), to: "sub/c.txt".into(), existing: Otherwise::Refuse },
                edit("sub/c.txt", "one", "1"),
                FileOp::Create { path: "new.txt".into(), existing: Otherwise::Refuse },
                edit("new.txt", "", "fresh\n"),
                FileOp::Delete { path: "b.txt".into(), missing: Otherwise::Refuse },
            ],
        );
        let seen: Vec<(&str, &str)> =
            summary.files.iter().map(|file| (file.path.as_str(), file.change.as_str())).collect();
        assert_eq!(seen, [("b.txt", "deleted"), ("new.txt", "created"), ("sub/c.txt", "moved")]);
        let moved = summary.files.last().unwrap();
        assert_eq!(moved.from.as_deref(), Some("a.txt"));
        assert_eq!(moved.sha256, Some(Digest::of(b"1\r\n2\r\n")));
    }

    #[test]
    fn what_does_not_fit_refuses_the_whole() {
        let (_dir, root) = place();
        let code = |op: FileOp| rewrite(&root, &[op], 1 << 20).unwrap_err().to_string();
        let taken = FileOp::Create { path: "a.txt".into(), existing: Otherwise::Refuse };
        assert!(code(taken).contains("a.txt"));
        let onto = FileOp::Rename { from: "a.txt".into(), to: "b.txt".into(), existing: Otherwise::Refuse };
        assert!(code(onto).contains("b.txt"));
        assert!(code(FileOp::Delete { path: "sub".into(), missing: Otherwise::Skip }).contains("directory"));
        assert!(code(FileOp::Delete { path: "none".into(), missing: Otherwise::Refuse }).contains("none"));
        assert!(code(edit("../x", "a", "b")).contains("../x"));
        let older = FileOp::Edit {
            path: "a.txt".into(),
            expected: Some(Digest::of(b"older")),
            rewrite: Box::new(|text| Ok(text.to_owned())),
        };
        assert!(code(older).contains("changed"));
        let same = planned(
            &root,
            &[
                FileOp::Create { path: "a.txt".into(), existing: Otherwise::Skip },
                FileOp::Delete { path: "none".into(), missing: Otherwise::Skip },
                edit("a.txt", "nothing", "x"),
            ],
        );
        assert!(same.files.is_empty());
    }
}
