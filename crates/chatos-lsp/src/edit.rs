//! Edits of a language server as operations of the file engine: inside the root or not at all, of the version that
//! is open, without overlaps (servers §10).

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use chatos_files::plan::{FileOp, Otherwise};
use chatos_files::{ConflictKind as FileConflict, FileError};
use chatos_tool::{ConflictKind, DenyRule, Reason, Text, ToolError};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::desk::convert;
use crate::documents::Document;
use crate::place::Stretch;
use crate::position::{Encoding, Lines};
use crate::shapes::{DocumentChange, FileChange, Options, TextEdit, WorkspaceEdit};
use crate::uri;

/// Most operations of one change; more is no refactoring a person could look at.
const MAX_OPS: usize = 5_000;

/// An edit in the terms of tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct EditData {
    path: String,
    range: Stretch,
    pub(crate) new_text: String,
}

/// A change as a server wants it: what the file engine does, and the edits in the terms of tools. Those are known once
/// it was computed, because only the engine reads the texts.
#[derive(Default)]
pub(crate) struct Edits {
    pub(crate) ops: Vec<FileOp>,
    pub(crate) made: Made,
}

/// The edits of a change that was computed, by the number of the operation.
#[derive(Clone, Default)]
pub(crate) struct Made(Arc<Mutex<BTreeMap<usize, Vec<EditData>>>>);

impl Made {
    fn put(&self, number: usize, edits: Vec<EditData>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(number, edits);
    }

    /// All of them, in the order of the change.
    pub(crate) fn all(&self) -> Vec<EditData> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().flatten().cloned().collect()
    }
}

/// What is known of the files an edit is about.
pub(crate) struct Ground<'a> {
    pub(crate) root: &'a Path,
    pub(crate) encoding: Encoding,
    /// Texts the server has open, by address.
    pub(crate) open: &'a HashMap<String, Document>,
}

impl Ground<'_> {
    /// Adds the operations of an edit, in its order.
    pub(crate) fn operations(&self, edit: WorkspaceEdit, to: &mut Edits) -> Result<(), ToolError> {
        if let Some(changes) = edit.document_changes {
            for change in changes {
                match change {
                    DocumentChange::Text(text) => {
                        self.text(&text.text_document.uri, text.text_document.version, text.edits, to)?;
                    }
                    DocumentChange::File(change) => to.ops.push(self.file(change)?),
                }
            }
        } else {
            for (uri, edits) in edit.changes.unwrap_or_default() {
                self.text(&uri, None, edits, to)?;
            }
        }
        let count = to.ops.len();
        if count > MAX_OPS {
            return Err(ToolError::new(
                Reason::ResourceExhausted {
                    resource: chatos_tool::Resource::Files,
                    limit: Some(MAX_OPS as u64),
                    actual: Some(count as u64),
                },
                Text::new(
                    format!("the language server wants {count} changes at once; nothing was done"),
                    format!("语言服务器一次要求 {count} 处更改；未做任何更改"),
                ),
            ));
        }
        Ok(())
    }

    /// Adds the edits of one file.
    pub(crate) fn text(
        &self,
        uri: &str,
        version: Option<i64>,
        edits: Vec<TextEdit>,
        to: &mut Edits,
    ) -> Result<(), ToolError> {
        let path = self.inside(uri)?;
        let open = self.open.get(&uri::same(uri));
        if let Some(version) = version
            && open.is_none_or(|open| open.version != version)
        {
            return Err(other_version(&path, version, open.map(|open| open.version)));
        }
        let expected = open.map(|open| open.digest.clone());
        let (encoding, named) = (self.encoding, path.clone());
        let (made, number) = (to.made.clone(), to.ops.len());
        let rewrite = Box::new(move |text: &str| {
            let new = apply(&named, text, &edits, encoding)?;
            let lines = Lines::of(text);
            let one = |edit: &TextEdit| EditData {
                path: named.clone(),
                range: Stretch::of(convert(edit.range, text, &lines, encoding)),
                new_text: edit.new_text.clone(),
            };
            made.put(number, edits.iter().map(one).collect());
            Ok(new)
        });
        to.ops.push(FileOp::Edit { path, expected, rewrite });
        Ok(())
    }

    fn file(&self, change: FileChange) -> Result<FileOp, ToolError> {
        let taken = |options: Options| match (options.overwrite, options.ignore_if_exists) {
            // The protocol: overwriting wins.
            (true, _) => Otherwise::Replace,
            (false, true) => Otherwise::Skip,
            (false, false) => Otherwise::Refuse,
        };
        Ok(match change {
            FileChange::Create { uri, options } => {
                FileOp::Create { path: self.inside(&uri)?, existing: taken(options) }
            }
            FileChange::Rename { old_uri, new_uri, options } => FileOp::Rename {
                from: self.inside(&old_uri)?,
                to: self.inside(&new_uri)?,
                existing: taken(options),
            },
            FileChange::Delete { uri, options } => {
                let missing = if options.ignore_if_not_exists { Otherwise::Skip } else { Otherwise::Refuse };
                FileOp::Delete { path: self.inside(&uri)?, missing }
            }
        })
    }

    /// The path beneath the root; an edit of anything else refuses the whole.
    fn inside(&self, uri: &str) -> Result<String, ToolError> {
        let path = uri::path(uri);
        let beneath = path.as_deref().and_then(|path| path.strip_prefix(self.root).ok());
        beneath.and_then(Path::to_str).filter(|path| !path.is_empty()).map(str::to_owned).ok_or_else(|| {
            ToolError::new(
                Reason::PermissionDenied { rule: DenyRule::OutsideRoot, path: None },
                Text::new(
                    format!("the change touches a file outside the root; nothing was done: {uri}"),
                    format!("更改涉及根目录之外的文件；未做任何更改：{uri}"),
                ),
            )
        })
    }
}

fn other_version(path: &str, wanted: i64, found: Option<i64>) -> ToolError {
    ToolError::new(
        Reason::Conflict {
            kind: ConflictKind::Version,
            expected: Some(json!(wanted)),
            found: found.map(|found| json!(found)),
            path: Some(path.to_owned()),
        },
        Text::new(
            format!("the change is for another version of `{path}` than the one on disk; nothing was done"),
            format!("更改针对的是 `{path}` 的另一个版本，与磁盘上的不同；未做任何更改"),
        ),
    )
    .hint(Text::fixed("call again: the file is read anew", "请重新调用：文件会被重新读取"))
}

/// The text after the edits; all of them are about the text as it was.
pub(crate) fn apply(
    path: &str,
    text: &str,
    edits: &[TextEdit],
    encoding: Encoding,
) -> Result<String, FileError> {
    let lines = Lines::of(text);
    let misfit = |line: u32| {
        FileError::conflict(
            FileConflict::ChangedOnDisk,
            path,
            format!("an edit of `{path}` is about line {}, which is not there; nothing was done", line + 1),
            format!("对 `{path}` 的编辑涉及不存在的第 {} 行；未做任何更改", line + 1),
        )
    };
    let mut places = Vec::with_capacity(edits.len());
    for edit in edits {
        let start =
            lines.byte(text, edit.range.start, encoding).ok_or_else(|| misfit(edit.range.start.line))?;
        let end = lines.byte(text, edit.range.end, encoding).ok_or_else(|| misfit(edit.range.end.line))?;
        if end < start {
            return Err(misfit(edit.range.end.line));
        }
        places.push((start, end, edit.new_text.replace("\r\n", "\n")));
    }
    // Stable: what is inserted at one place keeps its order.
    places.sort_by_key(|(start, end, _)| (*start, *end));
    let mut made = String::with_capacity(text.len());
    let mut from = 0;
    for (start, end, new) in places {
        if start < from {
            let line = lines.place(text, start, encoding).line + 1;
            return Err(FileError::conflict(
                FileConflict::Overlap,
                path,
                format!("edits of `{path}` overlap at line {line}; nothing was done"),
                format!("对 `{path}` 的编辑在第 {line} 行重叠；未做任何更改"),
            ));
        }
        made.push_str(&text[from..start]);
        made.push_str(&new);
        from = end;
    }
    made.push_str(&text[from..]);
    Ok(made)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::position::{Position, Range};

    fn edit(from: (u32, u32), to: (u32, u32), new: &str) -> TextEdit {
        let at = |(line, character): (u32, u32)| Position { line, character };
        TextEdit { range: Range { start: at(from), end: at(to) }, new_text: new.to_owned() }
    }

    #[test]
    fn edits_are_about_the_text_as_it_was() {
        let text = "fn a() {}\nfn b() {}\n";
        let edits = [
            edit((1, 3), (1, 4), "bee"),
            edit((0, 3), (0, 4), "ay"),
            edit((2, 0), (2, 0), "// end\r\n"),
            edit((0, 0), (0, 0), "1"),
            edit((0, 0), (0, 0), "2"),
        ];
        let made = apply("x", text, &edits, Encoding::Utf16).unwrap();
        assert_eq!(made, "12fn ay() {}\nfn bee() {}\n// end\n");
        assert_eq!(apply("x", "中x", &[edit((0, 3), (0, 4), "y")], Encoding::Utf8).unwrap(), "中y");
    }

    #[test]
    fn what_overlaps_or_does_not_fit_is_refused() {
        let fails = |edits: &[TextEdit]| apply("x", "abc\n", edits, Encoding::Utf16).unwrap_err().to_string();
        assert!(fails(&[edit((0, 0), (0, 2), "x"), edit((0, 1), (0, 3), "y")]).contains("overlap"));
        assert!(fails(&[edit((0, 0), (0, 2), "x"), edit((0, 0), (0, 2), "x")]).contains("overlap"));
        assert!(fails(&[edit((7, 0), (7, 1), "x")]).contains("line 8"));
        assert!(fails(&[edit((0, 2), (0, 1), "x")]).contains("line 1"));
    }

    #[test]
    fn nothing_outside_the_root_and_no_older_version() {
        let open = HashMap::new();
        let ground = Ground { root: Path::new("/root"), encoding: Encoding::Utf16, open: &open };
        let code = |edit: Value| {
            let edit = serde_json::from_value(edit).unwrap();
            ground.operations(edit, &mut Edits::default()).err().map(|error| error.code().as_str())
        };
        assert_eq!(code(json!({"changes": {"file:///root/a.rs": []}})), None);
        for outside in [
            "file:///etc/passwd",
            "file:///root",
            "file:///rootless/x",
            "untitled:x",
            "file:///root/%2E%2E/x",
        ] {
            let refused = code(json!({"changes": {(outside): []}}));
            if outside.contains("%2E") {
                assert_eq!(refused, None, "the file engine refuses it");
            } else {
                assert_eq!(refused, Some("permission_denied"), "{outside}");
            }
        }
        let versioned = json!({"documentChanges": [{"textDocument": {"uri": "file:///root/a", "version": 4}, "edits": []}]});
        assert_eq!(code(versioned), Some("conflict"));
    }
}
