//! `chatos state recover` and `prune` on databases damaged in several ways.

use std::fs;
use std::path::{Path, PathBuf};

use chatos_testkit::Sandbox;
use rusqlite::Connection;
use serde_json::json;

use super::{number, sandbox};

const TASKS: usize = 120;

fn used() -> (Sandbox, PathBuf) {
    let sandbox = sandbox();
    let host = sandbox.serve();
    for index in 0..TASKS {
        let task = json!({ "title": format!("task {index}"), "details": "words ".repeat(60) });
        assert_eq!(host.ask("POST", "/api/v1/tasks", Some(&task)).status, 201);
    }
    let set = host.ask("PUT", "/api/v1/settings/retry", Some(&json!({ "value": 7 })));
    assert_eq!(set.status, 200);
    assert!(host.stop().success());
    let database = sandbox.state().join("state.db");
    (sandbox, database)
}

/// Noise over a leaf page of the tasks table.
fn damage(database: &Path) {
    let page: i64 = number(
        database,
        "SELECT pageno FROM dbstat WHERE name = 'tasks' AND pagetype = 'leaf' ORDER BY pageno LIMIT 1 OFFSET 2",
    );
    let mut bytes = fs::read(database).unwrap();
    let at = (page as usize - 1) * 4096;
    for (index, byte) in bytes[at..at + 4096].iter_mut().enumerate() {
        *byte = (index * 13) as u8;
    }
    fs::write(database, bytes).unwrap();
}

#[test]
fn a_whole_database_is_left_alone() {
    let (sandbox, database) = used();
    let before = fs::read(&database).unwrap();
    let outcome = sandbox.run(&["state", "recover", "--json"]);
    assert_eq!((outcome.status, outcome.json()["state"].as_str()), (0, Some("whole")), "{outcome:?}");
    assert!(fs::read(&database).unwrap() == before);
    let host = sandbox.serve();
    let busy = sandbox.run(&["state", "recover", "--json"]);
    assert_eq!((busy.status, busy.code().as_str()), (5, "already_running"), "{busy:?}");
    assert!(host.stop().success());
}

#[test]
fn what_can_be_read_is_saved_and_the_damaged_file_kept() {
    let (sandbox, database) = used();
    damage(&database);
    let damaged = fs::read(&database).unwrap();
    let start = sandbox.try_serve(&["--json"]).err().unwrap();
    assert_eq!((start.status, start.code().as_str()), (5, "database_corrupt"), "{start:?}");
    assert!(start.stdout.contains("chatos state recover"));
    // Without a choice it only shows what there is.
    let shown = sandbox.run(&["state", "recover", "--json"]);
    assert_eq!(shown.status, 1, "{shown:?}");
    let report = shown.json();
    let tasks = report["salvaged"]["tables"]
        .as_array()
        .unwrap()
        .iter()
        .find(|t| t["name"] == "tasks")
        .unwrap()
        .clone();
    assert_eq!(tasks["damaged"], true);
    assert!(tasks["rows"].as_u64().unwrap() as usize > TASKS / 2, "{tasks}");
    assert!(fs::read(&database).unwrap() == damaged);
    assert!(!sandbox.state().join("state.db.recovered").exists());
    let people = sandbox.run(&["state", "recover", "--lang", "zh"]);
    assert!(people.status == 1 && people.stdout.contains("不完整"), "{people:?}");
    let done = sandbox.run(&["state", "recover", "--use", "salvaged", "--json"]);
    assert_eq!((done.status, done.json()["used"].as_str()), (0, Some("salvaged")), "{done:?}");
    assert!(fs::read(done.json()["kept"].as_str().unwrap()).unwrap() == damaged);
    let host = sandbox.serve();
    assert_eq!(host.ask("GET", "/api/v1/tasks", None).json()["total"], tasks["rows"]);
    assert_eq!(host.ask("GET", "/api/v1/settings/retry", None).json()["value"], 7);
    assert!(host.stop().success());
    assert_eq!(sandbox.run(&["doctor", "--deep", "--json"]).status, 0);
}

#[test]
fn a_backup_takes_the_place_of_what_cannot_be_read_at_all() {
    let (sandbox, database) = used();
    // The daily copy of the first start holds no tasks; a newer one is made by an import.
    let source = sandbox.root().join("old.sqlite");
    Connection::open(&source)
        .unwrap()
        .execute_batch("CREATE TABLE records (table_name, id, payload, created_at, updated_at)")
        .unwrap();
    assert_eq!(sandbox.run(&["state", "import", source.to_str().unwrap()]).status, 0);
    fs::write(&database, vec![0x5a; 300_000]).unwrap();
    let none = sandbox.run(&["state", "recover", "--use", "salvaged", "--json"]);
    assert_eq!((none.status, none.code().as_str()), (4, "nothing_to_use"), "{none:?}");
    let done = sandbox.run(&["state", "recover", "--use", "backup", "--json"]);
    assert_eq!(done.status, 0, "{done:?}");
    let host = sandbox.serve();
    assert_eq!(host.ask("GET", "/api/v1/tasks", None).json()["total"], TASKS);
    assert!(host.stop().success());
}

#[test]
fn a_lost_database_and_a_newer_one_are_told_apart() {
    let (sandbox, database) = used();
    let sql = "INSERT INTO schema_migrations VALUES (999, 'future', 'x', 1)";
    Connection::open(&database).unwrap().execute(sql, []).unwrap();
    let newer = sandbox.run(&["state", "recover", "--json"]);
    assert_eq!((newer.status, newer.code().as_str()), (5, "database_newer"), "{newer:?}");
    fs::remove_file(&database).unwrap();
    let lost = sandbox.run(&["state", "recover", "--json"]);
    assert_eq!(lost.status, 1, "{lost:?}");
    assert_eq!(lost.json()["salvaged"]["rows"], 0);
    let nowhere =
        sandbox.run_command(sandbox.bare(&["state", "recover", "--json", "--state-dir", "/nowhere/at/all"]));
    assert_eq!((nowhere.status, nowhere.code().as_str()), (4, "not_found"), "{nowhere:?}");
}

#[test]
fn pruning_shows_first_and_removes_only_what_was_finished() {
    let (sandbox, database) = used();
    Connection::open(&database)
        .unwrap()
        .execute_batch(
            "INSERT INTO runs (id, kind, state, created_at, updated_at, finished_at) VALUES
               ('a', 'chat', 'done', 1, 1, 1000), ('b', 'chat', 'running', 1, 1, NULL),
               ('c', 'chat', 'done', 1, 1, 9000000000000);
             INSERT INTO run_steps (run_id, seq, kind, state) VALUES ('a', 1, 'tool', 'done');",
        )
        .unwrap();
    let shown = sandbox.run(&["state", "prune", "--runs-before", "30d", "--json"]);
    assert_eq!(shown.json()["runs"], 1, "{shown:?}");
    assert_eq!((shown.json()["steps"].as_u64(), shown.json()["dryRun"].as_bool()), (Some(1), Some(true)));
    let people = sandbox.run(&["state", "prune", "--runs-before", "2030-01-01"]);
    assert!(people.status == 0 && people.stdout.contains("nothing was removed"), "{people:?}");
    let gone = sandbox.run(&["state", "prune", "--runs-before", "30d", "--yes", "--json"]);
    assert_eq!((gone.json()["runs"].as_u64(), gone.json()["dryRun"].as_bool()), (Some(1), Some(false)));
    assert_eq!(number(&database, "SELECT count(*) FROM runs"), 2);
    assert_eq!(number(&database, "SELECT count(*) FROM run_steps"), 0);
    let nonsense = sandbox.run(&["state", "prune", "--runs-before", "soon", "--json"]);
    assert_eq!(nonsense.code(), "invalid_argument", "{nonsense:?}");
    assert_eq!(sandbox.run(&["state", "prune", "--json"]).status, 2);
}
