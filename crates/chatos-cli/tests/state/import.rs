//! `chatos state import`, and the import a start does by itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chatos_testkit::{Random, RunningHost, Sandbox, make_dir};
use rusqlite::Connection;
use serde_json::{Value, json};

use super::{number, sandbox};

fn make_source(path: &Path, rows: impl IntoIterator<Item = (&'static str, String, Value)>) {
    let mut connection = Connection::open(path).unwrap();
    connection
        .execute_batch("CREATE TABLE records (table_name TEXT, id TEXT, payload TEXT, created_at INTEGER, updated_at INTEGER)")
        .unwrap();
    let transaction = connection.transaction().unwrap();
    for (table, id, payload) in rows {
        let sql = "INSERT INTO records VALUES (?1, ?2, ?3, 1700000000000, 1700000001000)";
        transaction.execute(sql, (table, id, payload.to_string())).unwrap();
    }
    transaction.commit().unwrap();
}

fn small() -> Vec<(&'static str, String, Value)> {
    vec![
        ("tasks", "t1".to_owned(), json!({ "title": "Water the plants" })),
        (
            "secrets",
            "s1".to_owned(),
            json!({ "name": "API_KEY", "value": "canary-9f8e7d6c5b4a39281706f5e4" }),
        ),
        (
            "models",
            "m1".to_owned(),
            json!({ "name": "Mine", "model": "x", "provider": "openai", "apiKeyEnv": "API_KEY" }),
        ),
        ("models", "m2".to_owned(), json!({ "provider": "openai" })),
        ("settings", "runtime".to_owned(), json!({ "retry": 5, "confirmFileChanges": false })),
    ]
}

fn prepared() -> (Sandbox, PathBuf) {
    let sandbox = sandbox();
    make_dir(sandbox.state(), 0o700);
    let source = sandbox.state().join("chatos.db.sqlite");
    (sandbox, source)
}

fn notices(host: &RunningHost) -> Vec<String> {
    let doctor = host.ask("GET", "/api/v1/doctor", None).json();
    let findings = doctor["findings"].as_array().unwrap().clone();
    findings.iter().map(|finding| finding["code"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_start_takes_over_an_older_state_once_and_tells_it() {
    let (sandbox, source) = prepared();
    make_source(&source, small());
    let before = fs::read(&source).unwrap();
    let host = sandbox.serve();
    assert!(notices(&host).contains(&"state_imported".to_owned()));
    let tasks = host.ask("GET", "/api/v1/tasks", None).json();
    assert_eq!(tasks["items"][0]["title"], "Water the plants");
    assert_eq!(host.ask("GET", "/api/v1/settings/retry", None).json()["value"], 5);
    let imports = host.ask("GET", "/api/v1/state/imports", None).json();
    assert_eq!(
        imports["items"][0]["counts"]["models"],
        json!({ "found": 2, "imported": 1, "updated": 0, "skipped": 1, "repaired": 0 })
    );
    let report = fs::read_to_string(imports["items"][0]["report"].as_str().unwrap()).unwrap();
    assert!(report.contains("missing_field") && !report.contains("canary"));
    assert!(host.stop().success());
    assert_eq!(fs::read(&source).unwrap(), before);
    let audit = fs::read_dir(sandbox.state().join("audit")).unwrap().flatten().next().unwrap();
    let audit = fs::read_to_string(audit.path()).unwrap();
    assert!(audit.contains("state_import") && audit.contains("setting_weakened"));
    // No part of the secret lies in any file but the source itself.
    let mut open = vec![sandbox.state().to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten().filter(|entry| entry.path() != source) {
            if entry.path().is_dir() {
                open.push(entry.path());
            } else {
                let bytes = fs::read(entry.path()).unwrap();
                let found = bytes.windows(16).any(|part| part == b"9f8e7d6c5b4a3928");
                assert!(!found, "{}", entry.path().display());
            }
        }
    }
    let host = sandbox.serve();
    assert!(!notices(&host).contains(&"state_imported".to_owned()));
    // A changed source is offered, never taken by itself.
    assert!(host.stop().success());
    let sql = "INSERT INTO records VALUES ('tasks', 't2', ?1, 1, 2)";
    Connection::open(&source)
        .unwrap()
        .execute(sql, [json!({ "title": "x".repeat(9000) }).to_string()])
        .unwrap();
    let host = sandbox.serve();
    assert!(notices(&host).contains(&"import_source_changed".to_owned()));
    assert_eq!(host.ask("GET", "/api/v1/tasks", None).json()["total"], 1);
    let outcome = sandbox.run(&["state", "import", "--json"]);
    assert_eq!(outcome.status, 0, "{outcome:?}");
    assert_eq!(outcome.json()["items"][0]["counts"]["tasks"]["imported"], 1);
    assert_eq!(host.ask("GET", "/api/v1/tasks", None).json()["total"], 2);
}

#[test]
fn by_hand_it_says_what_it_did_also_without_a_host() {
    let sandbox = sandbox();
    let source = sandbox.root().join("elsewhere.sqlite");
    make_source(&source, small());
    let outcome = sandbox.run(&["state", "import", "elsewhere.sqlite"]);
    assert_eq!(outcome.status, 0, "{outcome:?}");
    for expected in ["1 new", "m2", "`name` is missing", "report: ", "backup from before: "] {
        assert!(outcome.stdout.contains(expected), "{expected} in {outcome:?}");
    }
    let again = sandbox.run(&["state", "import", "elsewhere.sqlite", "--lang", "zh"]);
    assert!(again.status == 0 && again.stdout.contains("没有任何更改"), "{again:?}");
    let none = sandbox.run(&["state", "import", "--json"]);
    assert_eq!((none.status, none.json()), (0, json!({ "items": [] })));
    let missing = sandbox.run(&["state", "import", "missing.sqlite", "--json"]);
    assert_eq!((missing.status, missing.code().as_str()), (4, "not_found"), "{missing:?}");
    let other = sandbox.root().join("other.sqlite");
    Connection::open(&other).unwrap().execute_batch("CREATE TABLE t (a)").unwrap();
    let other = sandbox.run(&["state", "import", "other.sqlite", "--json"]);
    assert_eq!(other.code(), "import_not_recognised", "{other:?}");
    assert!(other.json()["error"]["hint"].as_str().unwrap().contains("records("), "{other:?}");
}

#[test]
fn a_damaged_source_never_stops_a_start() {
    let (sandbox, source) = prepared();
    fs::write(&source, vec![0x55; 20_000]).unwrap();
    let host = sandbox.serve();
    assert!(notices(&host).contains(&"import_damaged".to_owned()), "{:?}", notices(&host));
    let outcome = sandbox.run(&["state", "import", source.to_str().unwrap(), "--json"]);
    assert_eq!(outcome.code(), "import_damaged", "{outcome:?}");
    assert_eq!(fs::read(&source).unwrap(), vec![0x55; 20_000]);
}

/// state §11.1: killed at any moment of the import, the next start has all of it or does all of it.
#[test]
fn kills_during_an_import_leave_all_or_nothing() {
    const MESSAGES: i64 = 4000;
    let mut random = Random::new();
    let (sandbox, source) = prepared();
    let session = ("chatSessions", "c".to_owned(), json!({ "title": "Long" }));
    let messages = (0..MESSAGES).map(|index| {
        let content = format!("message {index} {}", "word ".repeat(20));
        (
            "chatMessages",
            format!("n{index:05}"),
            json!({ "sessionId": "c", "role": "user", "content": content }),
        )
    });
    make_source(&source, std::iter::once(session).chain(messages));
    let database = sandbox.state().join("state.db");
    let mut partial = 0;
    for round in 0..12 {
        let mut command = sandbox.command(&["serve", "--no-open", "--port", "0", "--ready-json"]);
        let mut child =
            command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(random.below(120 + 60 * round)));
        child.kill().unwrap();
        child.wait().unwrap();
        if database.exists()
            && number(&database, "SELECT count(*) FROM sqlite_schema WHERE name = 'imports'") == 1
        {
            let rows = number(&database, "SELECT count(*) FROM messages");
            let done = number(&database, "SELECT count(*) FROM imports");
            assert!(
                (done, rows) == (0, 0) || (done, rows) == (1, MESSAGES),
                "{done} {rows} seed {}",
                random.seed()
            );
            partial += i64::from(done == 0);
        }
    }
    let host = sandbox.serve();
    assert!(host.stop().success());
    assert_eq!(number(&database, "SELECT count(*) FROM messages"), MESSAGES, "seed {}", random.seed());
    assert_eq!(number(&database, "SELECT count(*) FROM imports"), 1);
    assert_eq!(number(&database, "SELECT max(seq) FROM messages"), MESSAGES);
    assert_eq!(sandbox.run(&["doctor", "--deep", "--json"]).status, 0);
    eprintln!("{partial} kills found nothing taken over yet");
}
