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
        (ChangeFilter { path: text("\0"), ..any.clone() }, vec![]),
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
    let row = change("a", "modified", Some("1"), Some("2"));
    let record = || store.record_file_change(&row).unwrap();
    let undo_of =
        |id: &String| store.record_undo(&[(row.clone(), std::slice::from_ref(id))]).unwrap().pop().unwrap();
    let undone = |id: &str| store.change(id).unwrap().unwrap().undone_by;
    let first = record();
    assert_eq!(undone(&first), None);
    let undo = undo_of(&first);
    assert_eq!(undone(&first).as_deref(), Some(undo.as_str()));
    assert_eq!(store.change(&undo).unwrap().unwrap().undoes, std::slice::from_ref(&first));
    let redo = undo_of(&undo);
    assert_eq!((undone(&first), undone(&undo).as_deref()), (None, Some(redo.as_str())));
    let again = undo_of(&redo);
    assert_eq!(undone(&first).as_deref(), Some(undo.as_str()));
    let seq = store.change(&first).unwrap().unwrap().seq;
    assert_eq!(store.later_changes("/w", "a", seq, 9).unwrap(), [undo.clone(), again.clone()]);
    assert_eq!(store.later_changes("/w", "a", seq, 1).unwrap().len(), 1);
    assert_eq!(store.newest_change().unwrap(), Some(again.clone()));
    // All of an undo or nothing: one of these does not exist.
    let ghost = "nothing".to_owned();
    let both = [(row.clone(), std::slice::from_ref(&again)), (row.clone(), std::slice::from_ref(&ghost))];
    store.record_undo(&both).unwrap_err();
    assert_eq!(store.newest_change().unwrap(), Some(again.clone()));
    // However long somebody goes on with it: each undo undoes the one before.
    store
        .write(move |connection| {
            let mut newest = again;
            for number in 0..3000 {
                let id = format!("z{number:05}");
                let row = "INSERT INTO file_changes (id, server, tool, root, path, change, created_at)
                           VALUES (?1, '', '', '', '', 'modified', 0)";
                connection.execute(row, [&id])?;
                connection.execute("INSERT INTO file_change_undos VALUES (?1, ?2)", [&newest, &id])?;
                newest = id;
            }
            Ok(())
        })
        .unwrap();
    assert_eq!(undone(&first), Some(undo));
    assert_eq!(undone("z02999"), None);
}

#[test]
fn rows_of_the_time_before_say_what_their_diffs_say() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(options(dir.path())).unwrap();
    let moved =
        NewFileChange { diff: "rename from o\nrename to p\n", ..change("p", "moved", Some("1"), Some("1")) };
    let ids = [
        store.record_file_change(&moved).unwrap(),
        store.record_file_change(&change("a", "modified", Some("1"), Some("2"))).unwrap(),
    ];
    let look = || ids.clone().map(|id| store.change(&id).unwrap().unwrap());
    let noted = look();
    assert_eq!((noted[0].from.as_deref(), noted[1].added, noted[1].removed), (Some("o"), 1, 2));
    let forget = "UPDATE file_changes SET added = NULL, removed = NULL, moved_from = NULL";
    store.write(move |connection| Ok(connection.execute(forget, [])?)).unwrap();
    assert_eq!(look(), noted);
}

#[test]
fn no_filter_reads_rows_it_does_not_show() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(options(dir.path())).unwrap();
    let text = || "x".to_owned();
    let any = ChangeFilter::default();
    for (filter, index) in [
        (any.clone(), "SCAN file_changes USING INDEX file_changes_by_time"),
        (ChangeFilter { root: text(), ..any.clone() }, "SCAN file_changes USING INDEX file_changes_by_time"),
        (ChangeFilter { path: text(), ..any.clone() }, "SCAN file_changes USING INDEX file_changes_by_time"),
        (
            ChangeFilter { session_id: text(), tool: text(), ..any.clone() },
            "SCAN file_changes USING INDEX file_changes_by_time",
        ),
        (
            ChangeFilter { server: text(), change: text(), ..any.clone() },
            "SCAN file_changes USING INDEX file_changes_by_time",
        ),
        (
            ChangeFilter { run_id: text(), path: text(), ..any.clone() },
            "SEARCH file_changes USING INDEX file_changes_by_run (run_id=?)",
        ),
    ] {
        let (sql, values) = statement(&filter, None, 51);
        let plan: Vec<String> = store
            .read(|connection| {
                let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
                let rows = statement.query_map(params_from_iter(values), |row| row.get(3))?;
                Ok(rows.collect::<Result<_, _>>()?)
            })
            .unwrap();
        assert_eq!(plan[0], index, "{filter:?}: {plan:?}");
    }
}
