//! The history on a real database.

use super::*;
use crate::db::tests::options;
use crate::{ChangedContent, NewFileChange};

fn change<'a>(
    path: &'a str,
    kind: &'a str,
    before: Option<&'a str>,
    after: Option<&'a str>,
) -> NewFileChange<'a> {
    let content = |text: Option<&'a str>| match text {
        Some(text) => ChangedContent::Bytes(text.as_bytes()),
        None => ChangedContent::Absent,
    };
    NewFileChange {
        run_id: "run-1",
        session_id: "session-1",
        user_message_id: "",
        server: "code_writer",
        tool: "edit_file",
        root: "/w",
        path,
        change: kind,
        before: content(before),
        after: content(after),
        diff: "--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n--- not a header\n-old\n+new\n",
    }
}

fn ids(found: &[RecordedChange]) -> Vec<&str> {
    found.iter().map(|change| change.row.id.as_str()).collect()
}

#[test]
fn changes_are_found_by_every_field_in_pages_newest_first() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(options(dir.path())).unwrap();
    let one = store.record_file_change(&change("src/a_b.rs", "created", None, Some("new"))).unwrap();
    let two = NewFileChange {
        run_id: "run-2",
        root: "/v",
        tool: "move_path",
        diff: "rename from old\nrename to x\nrename to src/axb.rs\n",
        ..change("src/axb.rs", "moved", Some("same"), Some("same"))
    };
    let two = store.record_file_change(&two).unwrap();
    let three = store.record_file_change(&change("src/a_b.rs", "deleted", Some("new"), None)).unwrap();
    let any = ChangeFilter::default();
    let (first, more) = store.changes(&any, 2).unwrap();
    assert_eq!((ids(&first), more), (vec![three.as_str(), two.as_str()], true));
    let next = ChangeFilter { before: Some(two.clone()), ..any.clone() };
    let (second, more) = store.changes(&next, 2).unwrap();
    assert_eq!((ids(&second), more), (vec![one.as_str()], false));
    let unknown = ChangeFilter { before: Some("nothing".to_owned()), ..any.clone() };
    assert_eq!(store.changes(&unknown, 2).unwrap_err().kind, StoreErrorKind::NotFound);
    let text = str::to_owned;
    for (filter, found) in [
        (ChangeFilter { path: text("A_B"), ..any.clone() }, vec![&three, &one]),
        (ChangeFilter { path: text("%"), ..any.clone() }, vec![]),
        (ChangeFilter { run_id: text("run-2"), ..any.clone() }, vec![&two]),
        (ChangeFilter { root: text("/v"), ..any.clone() }, vec![&two]),
        (ChangeFilter { tool: text("move_path"), ..any.clone() }, vec![&two]),
        (
            ChangeFilter { change: text("deleted"), session_id: text("session-1"), ..any.clone() },
            vec![&three],
        ),
        (ChangeFilter { server: text("shell"), ..any.clone() }, vec![]),
    ] {
        let (got, _) = store.changes(&filter, 10).unwrap();
        assert_eq!(ids(&got), found, "{filter:?}");
    }
    assert_eq!(first[1].from.as_deref(), Some("old\nrename to x"), "names may hold line ends");
    assert_eq!((first[0].added, first[0].removed), (1, 2));
    assert_eq!(first[0].after.state, ContentState::Absent);
    assert_eq!((first[0].before.state, first[0].before.size), (ContentState::Kept, Some(3)));
    assert!(store.change("nothing").unwrap().is_none());
}

#[test]
fn contents_say_what_became_of_them() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(options(dir.path())).unwrap();
    let large = NewFileChange {
        before: ChangedContent::Omitted("ab", 9),
        ..change("a", "modified", None, Some("now"))
    };
    let large = store.change(&store.record_file_change(&large).unwrap()).unwrap().unwrap();
    assert_eq!((large.before.state, large.before.size), (ContentState::Omitted, Some(9)));
    let kept = large.after.sha256.clone().unwrap();
    std::fs::remove_file(store.blob_file(&kept)).unwrap();
    let gone = store.change(&large.row.id).unwrap().unwrap().after;
    assert_eq!((gone.state, gone.sha256, gone.size), (ContentState::Lost, Some(kept), Some(3)));
    // A command changed it, and nobody knew the content before.
    let id = store.record_file_change(&change("b", "modified", None, Some("now"))).unwrap();
    assert_eq!(store.change(&id).unwrap().unwrap().before.state, ContentState::Lost);
}

#[test]
fn an_undo_counts_until_it_is_undone_itself() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(options(dir.path())).unwrap();
    let record = || store.record_file_change(&change("a", "modified", Some("1"), Some("2"))).unwrap();
    let (first, undo, redo, again) = (record(), record(), record(), record());
    let undone = |id: &str| store.change(id).unwrap().unwrap().undone_by;
    store.note_undo(&undo, std::slice::from_ref(&first)).unwrap();
    assert_eq!(undone(&first).as_deref(), Some(undo.as_str()));
    assert_eq!(store.change(&undo).unwrap().unwrap().undoes, std::slice::from_ref(&first));
    store.note_undo(&redo, std::slice::from_ref(&undo)).unwrap();
    assert_eq!((undone(&first), undone(&undo).as_deref()), (None, Some(redo.as_str())));
    store.note_undo(&again, std::slice::from_ref(&redo)).unwrap();
    assert_eq!(undone(&first).as_deref(), Some(undo.as_str()));
    let seq = store.change(&first).unwrap().unwrap().seq;
    assert_eq!(store.later_changes("/w", "a", seq, 9).unwrap(), [undo, again.clone()]);
    assert_eq!(store.later_changes("/w", "a", seq, 1).unwrap().len(), 1);
    let stamp = store.changes_stamp().unwrap();
    record();
    assert_ne!(store.changes_stamp().unwrap(), stamp);
}
