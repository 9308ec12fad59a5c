//! A source with every table: counts add up, agents keep exactly their tools, nothing is taken twice,
//! and the source is left as it was.
#![expect(clippy::disallowed_methods, reason = "tests make and look into databases of their own")]

use chatos_keys::{KeyPlace, StateKey};
use chatos_store::OpenOptions;
use serde_json::{Value, json};

use super::*;

const OLD_KEY: &str = "BQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQU=";
const SEALED: &str = "enc:v1:AAECAwQFBgcICQoL:Uqre/GKH8dyoqpF9hUTxMQ==:qcWrTunfiT8EjgDF5KPnRDXteQc=";
const PROJECT_FILES: &str = "8fe4e8f4-b8d1-4f59-967d-374a55f61417";

struct Bench {
    dir: tempfile::TempDir,
    store: Store,
    key: SubKey,
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(OpenOptions {
            path: dir.path().join("state.db"),
            backups: dir.path().join("backups"),
            migrate: true,
            wal: true,
            used: false,
            check: true,
        })
        .unwrap();
        let place = KeyPlace::new(dir.path().join("keys"));
        let key = StateKey::open(&place, &store.instance_id().unwrap()).unwrap().sub_key("secrets");
        Self { dir, store, key }
    }

    fn source(&self, rows: &[(&str, &str, Value)]) -> PathBuf {
        let folder = self.dir.path().join("old");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(".secrets.key"), OLD_KEY).unwrap();
        let path = folder.join("chatos.db.sqlite");
        make_source(&path, rows);
        path
    }

    fn import(&self, source: &Path) -> ImportOutcome {
        let order = ImportOrder {
            source: source.to_owned(),
            folder: self.dir.path().join("import"),
            secrets: self.key.clone(),
            old_key: None,
        };
        import(&self.store, order).unwrap()
    }

    fn done(&self, source: &Path) -> Imported {
        match self.import(source) {
            ImportOutcome::Done(imported) => *imported,
            other => panic!("{other:?}"),
        }
    }

    fn rows(&self, sql: &str) -> Vec<String> {
        self.store
            .read(|connection| {
                let mut statement = connection.prepare(sql)?;
                let columns = statement.column_count();
                let rows = statement.query_map([], |row| {
                    let cells: Result<Vec<String>, _> = (0..columns)
                        .map(|index| {
                            row.get::<_, rusqlite::types::Value>(index).map(|value| match value {
                                rusqlite::types::Value::Null => "-".to_owned(),
                                rusqlite::types::Value::Integer(number) => number.to_string(),
                                rusqlite::types::Value::Real(number) => number.to_string(),
                                rusqlite::types::Value::Text(text) => text,
                                rusqlite::types::Value::Blob(_) => "blob".to_owned(),
                            })
                        })
                        .collect();
                    Ok(cells?.join(" "))
                })?;
                Ok(rows.collect::<Result<_, _>>()?)
            })
            .unwrap()
    }
}

fn make_source(path: &Path, rows: &[(&str, &str, Value)]) {
    std::fs::remove_file(path).ok();
    let connection = Connection::open(path).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE records (table_name TEXT NOT NULL, id TEXT NOT NULL, payload TEXT NOT NULL,
               created_at TEXT, updated_at TEXT, PRIMARY KEY (table_name, id))",
        )
        .unwrap();
    for (table, id, payload) in rows {
        let payload = payload.as_str().map_or_else(|| payload.to_string(), str::to_owned);
        connection
            .execute(
                "INSERT INTO records VALUES (?1, ?2, ?3, '2025-01-01T00:00:00.000Z', '2025-02-01T00:00:00.000Z')",
                (table, id, payload),
            )
            .unwrap();
    }
}

fn everything() -> Vec<(&'static str, &'static str, Value)> {
    vec![
        (
            "models",
            "m1",
            json!({ "id": "m1", "name": "Main", "provider": "deepseek", "model": "chat", "apiKeyEnv": "KEY_ONE", "isDefault": true, "reasoningEffort": "wild", "colour": "red" }),
        ),
        (
            "models",
            "m2",
            json!({ "name": "main", "provider": "openai", "model": "b", "is_default": true, "api_key_env": "PLAIN", "supports_vision": 1 }),
        ),
        ("models", "m3", json!({ "name": "No model" })),
        ("secrets", "s1", json!({ "name": "KEY_ONE", "value": SEALED })),
        ("secrets", "s2", json!({ "name": "PLAIN", "value": "in the open" })),
        (
            "secrets",
            "s3",
            json!({ "name": "LOST", "value": "enc:v1:AAAAAAAAAAAAAAAA:AAAAAAAAAAAAAAAAAAAAAA==:AAAA" }),
        ),
        ("secrets", "s4", json!({ "name": "bad name", "value": "x" })),
        (
            "mcpServers",
            "v1",
            json!({ "name": "mine", "url": "https://example.com/mcp", "auth": { "token": "t0ken-t0ken-t0ken" }, "tags": ["a", "a", "b"], "enabled": false }),
        ),
        ("mcpServers", PROJECT_FILES, json!({ "name": "other name", "url": "cmd://x", "enabled": false })),
        ("mcpServers", "v3", json!({ "name": "from app", "url": "cmd://x", "tags": ["uiapp:com.x.y"] })),
        ("prompts", "p1", json!({ "name": "mine", "content": "be kind", "type": "system" })),
        (
            "prompts",
            "p2",
            json!({ "name": "default", "builtin": true, "content": "edited", "defaultContent": "as shipped" }),
        ),
        (
            "prompts",
            "p3",
            json!({ "name": "internal_main", "builtin": true, "content": "same", "defaultContent": "same" }),
        ),
        (
            "landConfigs",
            "l1",
            json!({ "name": "Work", "main": { "mcpServers": [{ "id": "gone", "tools": { "allow": [], "ask": ["run_*"] } }, "v1"], "apps": [{ "pluginId": "p", "appId": "a" }], "prompts": ["default"] }, "sub": {} }),
        ),
        (
            "chatAgents",
            "a1",
            json!({ "name": "Plain", "mcpServerIds": ["v1"], "uiApps": [{ "pluginId": "p", "appId": "a", "mcpServerIds": ["v9"] }], "promptIds": ["p1"] }),
        ),
        ("chatAgents", "a2", json!({ "name": "Flow", "mode": "flow", "landConfigId": "l1" })),
        ("chatAgents", "a3", json!({ "name": "Odd", "mode": "strange" })),
        ("chatSessions", "c1", json!({ "title": "Talk", "agentId": "a1" })),
        ("chatSessions", "c2", json!({ "title": "Room", "mode": "room" })),
        (
            "chatMessages",
            "n2",
            json!({ "sessionId": "c1", "role": "assistant", "content": "你好", "createdAt": "2025-01-01T00:00:02Z", "toolCalls": [{ "id": "call1", "function": { "name": "read_file", "arguments": "{\"path\":\"a\"}" } }] }),
        ),
        (
            "chatMessages",
            "n1",
            json!({ "sessionId": "c1", "role": "user", "createdAt": "2025-01-01T00:00:01Z", "content": [{ "type": "text", "text": "look" }, { "type": "image_url", "image_url": { "url": "data:image/png;base64,iVBORw0KGgo=" } }] }),
        ),
        (
            "chatMessages",
            "n3",
            json!({ "sessionId": "c1", "role": "system", "hidden": true, "kind": "conversation_summary", "content": "they said hello", "createdAt": "2025-01-01T00:00:03Z" }),
        ),
        ("chatMessages", "n4", json!({ "sessionId": "c2", "role": "user", "content": "in the room" })),
        ("chatMessages", "n5", json!("{ not json")),
        (
            "tasks",
            "t1",
            json!({ "title": "One", "details": "x", "status": "doing", "priority": "high", "tags": ["a"] }),
        ),
        ("tasks_cli", "t2", json!({ "title": "", "details": "first line\nsecond", "status": "whatever" })),
        ("tasks_chat", "t3", json!({ "title": "Three", "status": "done", "sessionId": "c1" })),
        (
            "settings",
            "runtime",
            json!({ "maxToolPasses": 99, "retry": 99, "filesystemSymlinkPolicy": "allow", "injectSecretsToEnv": true, "confirmFileChanges": false, "noSuch": 1 }),
        ),
        ("subagents", "sub1", json!({ "enabled": false })),
        (
            "fileChanges",
            "f1",
            json!({ "path": "src/a.rs", "changeType": "create", "diff": "+a", "runId": "r" }),
        ),
        ("events", "e1", json!({})),
        ("mcpGrants", "g1", json!({})),
    ]
}

fn numbers(imported: &Imported, table: &str) -> (u64, u64, u64, u64, u64) {
    let count = imported.report.counts()[table];
    (count.found, count.imported, count.updated, count.skipped, count.repaired)
}

#[test]
fn every_table_is_taken_and_every_row_accounted_for() {
    let bench = Bench::new();
    let rows = everything();
    let source = bench.source(&rows);
    let before = std::fs::read(&source).unwrap();
    let imported = bench.done(&source);
    for (table, count) in imported.report.counts() {
        assert_eq!(count.found, count.imported + count.updated + count.skipped, "{table}");
    }
    let found: u64 = imported.report.counts().values().map(|count| count.found).sum();
    assert_eq!(found, rows.len() as u64);
    assert_eq!(numbers(&imported, "models"), (3, 2, 0, 1, 0));
    assert_eq!(numbers(&imported, "secrets"), (4, 2, 0, 2, 0));
    assert_eq!(numbers(&imported, "mcpServers"), (3, 2, 0, 1, 0));
    assert_eq!(numbers(&imported, "chatMessages"), (5, 3, 0, 2, 0));
    assert_eq!(numbers(&imported, "tasks_cli"), (1, 1, 0, 0, 1));
    assert_eq!(numbers(&imported, "settings"), (1, 1, 0, 0, 1));
    assert_eq!(numbers(&imported, "events"), (1, 0, 0, 1, 0));
    assert_eq!(
        bench.rows("SELECT name, api_key_name, is_default, reasoning_effort FROM models ORDER BY id"),
        ["Main KEY_ONE 1 ", "main (imported) PLAIN 0 "]
    );
    let secret =
        |name: &str| bench.store.use_secret(&bench.key, name).unwrap().map(|v| v.expose().to_owned());
    assert_eq!(secret("KEY_ONE").as_deref(), Some("sk-秘密-1234567890"));
    assert_eq!(secret("PLAIN").as_deref(), Some("in the open"));
    assert_eq!(secret("LOST"), None);
    assert_eq!(
        bench.rows(
            "SELECT name, source, enabled, locked, allow_main, allow_sub FROM mcp_servers ORDER BY name"
        ),
        ["mine import 0 0 1 1", "project_files builtin 0 1 1 1"]
    );
    assert_eq!(
        bench.rows("SELECT name, builtin, content FROM prompts ORDER BY name"),
        ["default 1 edited", "mine 0 be kind"]
    );
    assert_eq!(bench.rows("SELECT value FROM synced_values"), ["as shipped"]);
    assert_eq!(
        bench.rows("SELECT role, seq, content FROM messages ORDER BY seq"),
        ["user 1 look", "assistant 2 你好"]
    );
    assert_eq!(bench.rows("SELECT from_seq, to_seq, text FROM summaries"), ["1 2 they said hello"]);
    assert_eq!(bench.rows("SELECT kind, mime, size FROM message_attachments"), ["image image/png 8"]);
    assert_eq!(
        bench.rows("SELECT call_id, name, args_preview FROM message_tool_calls"),
        [r#"call1 read_file {"path":"a"}"#]
    );
    assert_eq!(bench.rows("SELECT refs FROM blobs ORDER BY sha256"), ["1", "1", "1"]);
    assert_eq!(
        bench.rows("SELECT scope, title, status, priority FROM tasks ORDER BY id"),
        ["default One doing high", "cli first line todo medium", "chat Three done medium"]
    );
    assert_eq!(
        bench.rows("SELECT key, value, updated_by FROM settings ORDER BY key"),
        ["confirmFileChanges false import", "maxToolPasses 99 import"]
    );
    assert_eq!(imported.report.weakened, ["confirmFileChanges"]);
    let report: Value = serde_json::from_slice(&std::fs::read(&imported.report_path).unwrap()).unwrap();
    assert_eq!(report["counts"], imported.report.counts_json());
    assert_eq!(report["unknownKeys"]["models"], json!(["colour"]));
    assert_eq!(report["unknownKeys"]["settings"], json!(["injectSecretsToEnv", "noSuch"]));
    let reasons: Vec<_> = report["skipped"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["id"].as_str().unwrap(), row["code"].as_str().unwrap()))
        .collect();
    for expected in [
        ("m3", "missing_field"),
        ("s3", "cannot_be_opened"),
        ("s4", "bad_name"),
        ("v3", "from_plugin"),
        ("p3", "unedited"),
        ("a3", "unknown_value"),
        ("c2", "room"),
        ("n4", "no_session"),
        ("n5", "not_json"),
        ("sub1", "not_installed"),
    ] {
        assert!(reasons.contains(&expected), "{expected:?} in {reasons:?}");
    }
    assert_eq!(std::fs::read(&source).unwrap(), before);
    assert!(imported.backup.path.exists() && imported.old_key_file.is_some());
    assert_eq!(bench.rows("PRAGMA foreign_key_check"), Vec::<String>::new());
    let report = std::fs::read_to_string(&imported.report_path).unwrap();
    assert!(!report.contains("in the open") && !report.contains("t0ken-t0ken"));
}

#[test]
fn an_agent_without_limits_keeps_exactly_its_tools() {
    let bench = Bench::new();
    bench.done(&bench.source(&everything()));
    let agents = bench.rows("SELECT name, mode, servers_mode, subagents_mode FROM agents ORDER BY id");
    assert_eq!(agents, ["Plain custom list land", "Flow flow land land"]);
    let land = bench.rows("SELECT land_config_id FROM agents WHERE id = 'a1'").remove(0);
    let listed = |role: &str| {
        bench.rows(&format!(
            "SELECT server_id, tools_restricted FROM land_config_servers WHERE land_config_id = '{land}' AND role = '{role}' ORDER BY position"
        ))
    };
    assert_eq!(listed("main"), ["v1 0", "v9 0"]);
    assert_eq!(listed("sub").len(), 4);
    assert!(listed("sub").contains(&format!("{PROJECT_FILES} 0")));
    assert_eq!(
        bench.rows(&format!("SELECT role, agent_apps, agent_prompts FROM land_config_flows WHERE land_config_id = '{land}' ORDER BY role")),
        ["main none any", "sub trusted any"]
    );
    assert_eq!(
        bench.rows(&format!("SELECT name FROM land_configs WHERE id = '{land}'")),
        ["Imported: Plain"]
    );
    assert_eq!(
        bench.rows("SELECT s.server_id, s.tools_restricted, t.list, t.glob FROM land_config_servers s LEFT JOIN land_config_tools t ON t.entry_id = s.id WHERE s.land_config_id = 'l1' ORDER BY s.position"),
        ["gone 1 ask run_*", "v1 0 - -"]
    );
}

#[test]
fn the_same_source_is_taken_once_and_a_changed_one_only_where_it_is_newer() {
    let bench = Bench::new();
    let mut rows = everything();
    let source = bench.source(&rows);
    assert_eq!(import_state(&bench.store, &source).unwrap(), ImportState::New);
    bench.done(&source);
    assert_eq!(import_state(&bench.store, &source).unwrap(), ImportState::Done);
    assert!(matches!(bench.import(&source), ImportOutcome::AlreadyDone { .. }));
    let everything_here = || {
        bench.rows("SELECT id, title, updated_at FROM tasks UNION ALL SELECT id, name, updated_at FROM models UNION ALL SELECT id, content, seq FROM messages ORDER BY 1")
    };
    let before = everything_here();
    // A person renames a task here; the source gains a newer task, a message and a long note.
    let patch = chatos_store::TaskPatch { title: Some("Mine".to_owned()), ..Default::default() };
    bench.store.update_task("t1", patch).unwrap();
    let padding = "x".repeat(20_000);
    rows.push(("tasks", "t9", json!({ "title": "New", "details": padding })));
    rows.push(("chatMessages", "n9", json!({ "sessionId": "c1", "role": "user", "content": "later" })));
    let source = bench.source(&rows);
    assert_eq!(import_state(&bench.store, &source).unwrap(), ImportState::Changed);
    let imported = bench.done(&source);
    assert_eq!(numbers(&imported, "tasks"), (2, 1, 0, 1, 0));
    assert_eq!(numbers(&imported, "chatMessages").1, 1);
    assert_eq!(bench.rows("SELECT title FROM tasks WHERE id IN ('t1', 't9') ORDER BY id"), ["Mine", "New"]);
    assert_eq!(bench.rows("SELECT seq FROM messages WHERE id = 'n9'"), ["3"]);
    assert_eq!(everything_here().len(), before.len() + 2);
    assert_eq!(imports(&bench.store).unwrap().len(), 1);
}

#[test]
fn a_newer_row_wins_a_locked_one_stays_and_names_step_aside() {
    let bench = Bench::new();
    bench.done(&bench.source(&everything()));
    bench
        .store
        .write(|connection| {
            connection.execute_batch(
                "UPDATE mcp_servers SET locked = 1 WHERE id = 'v1';
                 UPDATE models SET updated_at = 0 WHERE id = 'm1';
                 UPDATE secrets SET id = 'mine' WHERE name = 'PLAIN';",
            )?;
            Ok(())
        })
        .unwrap();
    let mut rows = everything();
    rows.push(("events", "e2", json!({})));
    let imported = bench.done(&bench.source(&rows));
    assert_eq!(numbers(&imported, "models").2, 1);
    let report = imported.report.to_json();
    let reason = |id: &str| {
        let rows = report["skipped"].as_array().unwrap();
        rows.iter().find(|row| row["id"] == id).map(|row| row["code"].as_str().unwrap().to_owned())
    };
    assert_eq!(reason("v1").as_deref(), Some("locked"));
    assert_eq!(reason("m2").as_deref(), Some("already_there"));
    assert_eq!(bench.rows("SELECT name FROM secrets ORDER BY name"), ["KEY_ONE", "PLAIN", "PLAIN_imported"]);
}

#[test]
fn what_is_something_else_is_left_alone() {
    let bench = Bench::new();
    let other = bench.dir.path().join("other.db");
    Connection::open(&other).unwrap().execute_batch("CREATE TABLE records (id, payload)").unwrap();
    assert!(matches!(bench.import(&other), ImportOutcome::NotOurs));
    let garbage = bench.dir.path().join("garbage.db");
    std::fs::write(&garbage, vec![7; 9000]).unwrap();
    let order = |source: PathBuf| ImportOrder {
        source,
        folder: bench.dir.path().join("import"),
        secrets: bench.key.clone(),
        old_key: None,
    };
    assert_eq!(import(&bench.store, order(garbage)).unwrap_err().kind, StoreErrorKind::Corrupt);
    let missing = import(&bench.store, order(bench.dir.path().join("missing"))).unwrap_err();
    assert_eq!(missing.kind, StoreErrorKind::NotFound);
    assert_eq!(import_state(&bench.store, bench.dir.path()).unwrap(), ImportState::Absent);
    assert!(imports(&bench.store).unwrap().is_empty());
}

#[test]
fn a_source_in_use_is_read_with_its_log_and_not_changed() {
    let bench = Bench::new();
    let source = bench.source(&[("tasks", "t1", json!({ "title": "In the file" }))]);
    let writer = Connection::open(&source).unwrap();
    writer.pragma_update(None, "journal_mode", "WAL").unwrap();
    writer
        .execute("INSERT INTO records VALUES ('tasks', 't2', '{\"title\":\"In the log\"}', 1, 2)", [])
        .unwrap();
    let bytes = |suffix: &str| std::fs::read(chatos_store::door::beside(&source, suffix)).unwrap();
    let before = (bytes(""), bytes("-wal"));
    bench.done(&source);
    assert_eq!(bench.rows("SELECT title FROM tasks ORDER BY id"), ["In the file", "In the log"]);
    assert!((bytes(""), bytes("-wal")) == before);
    let left: Vec<_> = std::fs::read_dir(bench.dir.path().join("import")).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "only the report stays: {left:?}");
}

#[test]
fn a_failure_in_the_middle_leaves_nothing() {
    let bench = Bench::new();
    let mut rows = everything();
    for index in 0..50 {
        rows.push(("tasks", Box::leak(format!("x{index}").into_boxed_str()), json!({ "title": "t" })));
    }
    let source = bench.source(&rows);
    // The report cannot be written: the last step before the commit fails.
    let digest = Source::open(&source, &bench.dir.path().join("s")).unwrap().unwrap().fingerprint;
    let name = &digest.split(':').nth(1).unwrap()[..16];
    std::fs::create_dir_all(bench.dir.path().join(format!("import/import-{name}.partial"))).unwrap();
    let order = ImportOrder {
        source,
        folder: bench.dir.path().join("import"),
        secrets: bench.key.clone(),
        old_key: None,
    };
    assert!(import(&bench.store, order).is_err());
    for table in ["tasks", "models", "messages", "secrets", "agents", "settings", "imports"] {
        assert_eq!(bench.rows(&format!("SELECT count(*) FROM {table}")), ["0"], "{table}");
    }
}
