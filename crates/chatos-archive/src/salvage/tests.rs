//! Databases damaged in every page, one at a time: the rest is always saved.

use super::*;
use chatos_store::{NewTask, TaskContext, TaskFilter};

fn options(dir: &Path) -> OpenOptions {
    OpenOptions {
        path: dir.join("state.db"),
        backups: dir.join("backups"),
        migrate: true,
        wal: true,
        used: false,
        check: true,
    }
}

const TASKS: u64 = 600;

fn filled(dir: &Path) -> PathBuf {
    let store = Store::open(options(dir)).unwrap();
    let context = TaskContext { scope: "default".to_owned(), ..Default::default() };
    let tasks = (0..TASKS)
        .map(|index| NewTask {
            title: format!("task {index}"),
            details: "some words ".repeat(20),
            priority: "medium".to_owned(),
            status: "todo".to_owned(),
            tags: vec!["a".to_owned()],
            dedupe_key: None,
        })
        .collect();
    store.add_tasks(context, tasks, 7).unwrap();
    store.set_meta("marker", "here").unwrap();
    store.close();
    dir.join("state.db")
}

fn counted(salvage: &Salvage, name: &str) -> u64 {
    salvage.tables.iter().find(|table| table.name == name).map_or(0, |table| table.rows)
}

#[test]
fn a_whole_database_is_whole_and_saved_completely() {
    let dir = tempfile::tempdir().unwrap();
    let database = filled(dir.path());
    assert_eq!(damage_of(&database).unwrap(), None);
    let before = std::fs::read(&database).unwrap();
    let saved = salvage(&database, &dir.path().join("new.db")).unwrap();
    assert!(saved.complete());
    assert_eq!(counted(&saved, "tasks"), TASKS);
    assert_eq!(counted(&saved, "task_tags"), TASKS);
    assert_eq!(std::fs::read(&database).unwrap(), before);
    let mut options = options(dir.path());
    options.path = dir.path().join("new.db");
    let store = Store::open(options).unwrap();
    assert_eq!(store.meta("marker").unwrap().as_deref(), Some("here"));
    // Counters and the search index were made anew, once.
    let filter = TaskFilter { scope: "default".to_owned(), ..Default::default() };
    assert_eq!(store.list_tasks(&filter, 1, 0).unwrap().1, TASKS);
}

#[test]
fn one_damaged_page_costs_at_most_its_own_rows() {
    let dir = tempfile::tempdir().unwrap();
    let database = filled(dir.path());
    let whole = std::fs::read(&database).unwrap();
    let pages = whole.len() / 4096;
    let (mut found, mut worst) = (0, TASKS);
    // The first ones hold the list of tables; of the others a sample, the rest is of the same kinds.
    let sample: Vec<usize> = (0..3).chain((3..pages).step_by(pages / 8)).collect();
    for &page in &sample {
        let mut bytes = whole.clone();
        for (at, byte) in bytes[page * 4096..(page + 1) * 4096].iter_mut().enumerate() {
            *byte = (at * 7 + page) as u8;
        }
        std::fs::write(&database, &bytes).unwrap();
        found += usize::from(damage_of(&database).unwrap().is_some());
        let saved = salvage(&database, &dir.path().join("new.db"))
            .unwrap_or_else(|error| panic!("page {}: {}", page + 1, error.message));
        worst = worst.min(counted(&saved, "tasks"));
        assert!(std::fs::read(&database).unwrap() == bytes, "page {}", page + 1);
        assert_eq!(damage_of(&dir.path().join("new.db")).unwrap(), None, "page {}", page + 1);
    }
    // Pages that belong to nothing yet may be damaged without anybody noticing.
    assert!(found * 10 >= sample.len() * 7, "{found} of {}", sample.len());
    assert!(worst * 10 >= TASKS * 9, "only {worst} of {TASKS}");
}

#[test]
fn a_database_cut_in_half_gives_what_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let database = filled(dir.path());
    let whole = std::fs::read(&database).unwrap();
    std::fs::write(&database, &whole[..whole.len() * 3 / 4 + 100]).unwrap();
    assert!(damage_of(&database).unwrap().is_some());
    let saved = salvage(&database, &dir.path().join("new.db")).unwrap();
    assert!(counted(&saved, "tasks") > 0 && !saved.complete());
    std::fs::write(&database, "not a database at all").unwrap();
    assert!(salvage(&database, &dir.path().join("new.db")).is_err());
    std::fs::write(&database, vec![0x41; 50_000]).unwrap();
    let nothing = salvage(&database, &dir.path().join("new.db"));
    assert!(nothing.is_err() || nothing.is_ok_and(|saved| saved.rows() == 0));
}

#[test]
fn commits_in_the_log_are_saved_too() {
    let dir = tempfile::tempdir().unwrap();
    let database = filled(dir.path());
    let store = Store::open(options(dir.path())).unwrap();
    store.set_meta("late", "in the log").unwrap();
    // As after a kill: the log is there and not worked in.
    let aside = tempfile::tempdir().unwrap();
    for suffix in ["", "-wal"] {
        std::fs::copy(beside(&database, suffix), aside.path().join(format!("state.db{suffix}"))).unwrap();
    }
    store.close();
    let damaged = aside.path().join("state.db");
    salvage(&damaged, &aside.path().join("new.db")).unwrap();
    let connection = open_copy(&aside.path().join("new.db")).unwrap();
    let late: String =
        connection.query_row("SELECT value FROM meta WHERE key = 'late'", [], |row| row.get(0)).unwrap();
    assert_eq!(late, "in the log");
}
