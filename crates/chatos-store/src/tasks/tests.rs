//! Adding, de-duplicating, changing and clearing tasks, also from several connections at once.

use super::*;

fn open(dir: &std::path::Path) -> Store {
    Store::open(crate::OpenOptions {
        path: dir.join("state.db"),
        backups: dir.join("backups"),
        migrate: true,
        wal: true,
        used: false,
        check: false,
    })
    .unwrap()
}

fn context(session: &str) -> TaskContext {
    TaskContext {
        scope: "chat".into(),
        caller: "main".into(),
        session_id: session.into(),
        ..TaskContext::default()
    }
}

fn task(title: &str, key: Option<&str>) -> NewTask {
    NewTask {
        title: title.into(),
        details: String::new(),
        priority: "medium".into(),
        status: "todo".into(),
        tags: vec!["b".into(), "a".into(), "a".into()],
        dedupe_key: key.map(str::to_owned),
    }
}

#[test]
fn a_key_makes_one_task_until_the_task_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let first =
        store.add_tasks(context("s"), vec![task("one", Some("k")), task("again", Some("k"))], 7).unwrap();
    assert_eq!((first.created.len(), first.deduped.len(), first.open), (1, 0, 1));
    assert_eq!(first.created[0].tags, ["a", "b"]);
    let second = store.add_tasks(context("s"), vec![task("two", Some("k"))], 7).unwrap();
    assert!(second.created.is_empty());
    assert_eq!((second.deduped[0].0.title.as_str(), second.deduped[0].1), ("one", true));
    let other = store.add_tasks(context("t"), vec![task("two", Some("k"))], 7).unwrap();
    assert_eq!(other.created.len(), 1);
    assert!(store.delete_task(&first.created[0].id).unwrap());
    assert!(!store.delete_task(&first.created[0].id).unwrap());
    assert_eq!(store.add_tasks(context("s"), vec![task("new", Some("k"))], 7).unwrap().created.len(), 1);
}

#[test]
fn lists_are_newest_first_filtered_and_paged() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let made =
        store.add_tasks(context("s"), (0..5).map(|n| task(&format!("任务 {n}"), None)).collect(), 7).unwrap();
    store
        .update_task(&made.created[0].id, TaskPatch { status: Some("doing".into()), ..TaskPatch::default() })
        .unwrap();
    let filter = TaskFilter { session_id: "s".into(), ..TaskFilter::default() };
    let (page, total, open) = store.list_tasks(&filter, 2, 0).unwrap();
    assert_eq!((page[0].title.as_str(), page[1].title.as_str(), total, open), ("任务 0", "任务 4", 5, 5));
    let (found, ..) =
        store.list_tasks(&TaskFilter { query: "务 3".into(), ..filter.clone() }, 10, 0).unwrap();
    assert_eq!(found.len(), 1);
    let (doing, ..) =
        store.list_tasks(&TaskFilter { status: "doing".into(), ..filter.clone() }, 10, 0).unwrap();
    assert_eq!(doing.len(), 1);
    assert_eq!(store.list_tasks(&TaskFilter { tag: "nope".into(), ..filter }, 10, 0).unwrap().1, 0);
}

#[test]
fn updates_tell_what_changed_and_completion_keeps_its_note() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let id = store.add_tasks(context("s"), vec![task("one", None)], 7).unwrap().created.remove(0).id;
    let patch = TaskPatch {
        title: Some("one".into()),
        details: Some("more".into()),
        tags: Some(vec!["a".into(), "b".into()]),
        append_note: Some("seen".into()),
        ..TaskPatch::default()
    };
    let (updated, changed) = store.update_task(&id, patch.clone()).unwrap();
    assert_eq!(changed, ["details", "notes"]);
    assert_eq!(updated.notes[0].text, "seen");
    let nothing = store.update_task(&id, TaskPatch { append_note: None, ..patch }).unwrap();
    assert!(nothing.1.is_empty());
    let (done, did) = store.complete_task(&id, "all good").unwrap();
    assert!(did && done.status == "done" && done.completed_at.is_some());
    assert!(!store.complete_task(&id, "all good").unwrap().1);
    let reopened =
        store.update_task(&id, TaskPatch { status: Some("todo".into()), ..TaskPatch::default() }).unwrap().0;
    assert_eq!(reopened.completed_at, None);
    assert_eq!(store.update_task("nope", TaskPatch::default()).unwrap_err().kind, StoreErrorKind::NotFound);
}

/// state §11.9: what is outside the cleared scope is never lost.
#[test]
fn two_connections_add_and_clear_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let (left, right) = (open(dir.path()), open(dir.path()));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 0..300 {
                left.add_tasks(context("keep"), vec![task(&format!("k{n}"), None)], 7).unwrap();
            }
        });
        scope.spawn(|| {
            for n in 0..300 {
                right.add_tasks(context("clear"), vec![task(&format!("c{n}"), None)], 7).unwrap();
                if n % 10 == 0 {
                    right
                        .clear_tasks(TaskFilter { session_id: "clear".into(), ..TaskFilter::default() })
                        .unwrap();
                }
            }
        });
    });
    let kept =
        left.list_tasks(&TaskFilter { session_id: "keep".into(), ..TaskFilter::default() }, 1, 0).unwrap().1;
    assert_eq!(kept, 300);
}

#[test]
fn two_connections_with_one_key_make_one_task() {
    let dir = tempfile::tempdir().unwrap();
    let stores = [open(dir.path()), open(dir.path())];
    let created: usize = std::thread::scope(|scope| {
        let workers: Vec<_> = stores
            .iter()
            .map(|store| {
                scope.spawn(move || {
                    (0..100)
                        .map(|n| {
                            store
                                .add_tasks(context("s"), vec![task("t", Some(&format!("k{n}")))], 7)
                                .unwrap()
                                .created
                                .len()
                        })
                        .sum::<usize>()
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    assert_eq!(created, 100);
}

#[test]
fn kept_counts_are_what_counting_gives() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let mut ids = Vec::new();
    for (session, number) in [("", 3), ("s", 4), ("t", 2)] {
        let tasks = (0..number).map(|n| task(&n.to_string(), None)).collect();
        ids.extend(
            store.add_tasks(context(session), tasks, 7).unwrap().created.into_iter().map(|task| task.id),
        );
    }
    store.complete_task(&ids[0], "done now").unwrap();
    store.complete_task(&ids[3], "done now").unwrap();
    store.update_task(&ids[4], TaskPatch { session_id: Some("t".into()), ..TaskPatch::default() }).unwrap();
    store.update_task(&ids[3], TaskPatch { status: Some("doing".into()), ..TaskPatch::default() }).unwrap();
    store.delete_task(&ids[1]).unwrap();
    let numbers = |filter: &TaskFilter| {
        let (tasks, total, open) = store.list_tasks(filter, 1000, 0).unwrap();
        assert_eq!(tasks.len() as u64, total);
        let counted = tasks.iter().filter(|task| task.status != "done").count() as u64;
        assert_eq!(counted, open);
        (total, open)
    };
    let of = |session: &str| TaskFilter { session_id: session.into(), ..TaskFilter::default() };
    assert_eq!(numbers(&TaskFilter::default()), (8, 7));
    assert_eq!(numbers(&of("s")), (3, 3));
    assert_eq!(numbers(&of("t")), (3, 3));
    assert_eq!(numbers(&TaskFilter { without_session: true, ..TaskFilter::default() }), (2, 1));
    assert_eq!(numbers(&TaskFilter { open_only: true, ..TaskFilter::default() }), (7, 7));
    let done = TaskFilter { status: "done".into(), without_session: true, ..TaskFilter::default() };
    assert_eq!(store.clear_tasks(done).unwrap(), (1, 1));
    assert_eq!(numbers(&TaskFilter::default()), (7, 7));
}

#[test]
fn a_key_can_be_looked_at_without_using_it() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let made = store.add_tasks(context("s"), vec![task("one", Some("k"))], 7).unwrap();
    let keys = ["k".to_owned(), "free".to_owned()];
    let found = store.tasks_of_keys(&context("s"), &keys, 7).unwrap();
    assert_eq!(found, [Some(made.created[0].clone()), None]);
    assert_eq!(store.tasks_of_keys(&context("t"), &keys, 7).unwrap(), [None, None]);
}
