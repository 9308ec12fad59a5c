//! Backups and databases of other versions of ChatOS: older ones are brought back and start, newer ones
//! change nothing.

use std::fs;
use std::path::{Path, PathBuf};

use chatos_testkit::Sandbox;
use rusqlite::Connection;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{number, sandbox};

const TASKS: usize = 150;
/// A version nobody has made yet.
const FUTURE: u32 = 999;

/// The text of every migration, oldest first, with its name.
fn migrations() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../chatos-store/src/migrations");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()).collect();
    files.sort();
    let name = |path: &Path| path.file_stem().unwrap().to_string_lossy()[5..].to_owned();
    files.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A database as the version with this schema made it, with some tasks.
fn database(path: &Path, schema: usize) {
    let connection = Connection::open(path).unwrap();
    let table = "CREATE TABLE schema_migrations (
        version INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT";
    connection.execute_batch(table).unwrap();
    for (at, (name, sql)) in migrations().iter().take(schema).enumerate() {
        connection.execute_batch(sql).unwrap();
        connection
            .execute(
                "INSERT INTO schema_migrations VALUES (?1, ?2, ?3, 1)",
                (at as i64 + 1, name, hex(sql.as_bytes())),
            )
            .unwrap();
    }
    let meta = "INSERT INTO meta (key, value) VALUES ('instance_id', ?1), ('created_at', '1'), ('schema_min_reader', '1')";
    connection.execute(meta, ["018f0000-0000-7000-8000-000000000001"]).unwrap();
    for task in 0..TASKS {
        let sql = "INSERT INTO tasks (id, title, details, status, priority, scope, created_at, updated_at)
                   VALUES (?1, ?2, ?3, 'todo', 'medium', 'default', ?4, ?4)";
        let (title, details) = (format!("schema {schema}, task {task}"), "words ".repeat(60));
        connection.execute(sql, (format!("task-{task}"), title, details, 1000 + task as i64)).unwrap();
    }
}

/// A backup with these files, as any version writes it.
fn archive(path: &Path, files: &[(&str, Vec<u8>)], schema: u32) {
    let listed: Vec<Value> = files
        .iter()
        .map(
            |(name, bytes)| json!({ "path": name, "size": bytes.len(), "sha256": hex(bytes), "mode": 0o600 }),
        )
        .collect();
    let manifest = json!({
        "format": "chatos-backup", "version": 1, "createdAt": "2026-01-01T00:00:00.000Z", "chatos": "0.0.1",
        "schema": schema, "instanceId": "018f0000-0000-7000-8000-000000000001", "keyId": "00000000",
        "blobs": true, "files": listed,
    });
    let manifest = manifest.to_string().into_bytes();
    let mut tar = Vec::new();
    let members = files.iter().map(|(name, bytes)| (*name, bytes)).chain([("manifest.json", &manifest)]);
    for (name, bytes) in members {
        let mut head = [0_u8; 512];
        let mut put = |at: usize, bytes: &[u8]| head[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, name.as_bytes());
        put(100, b"0000600\0");
        put(108, b"0000000\0");
        put(116, b"0000000\0");
        put(124, format!("{:011o}\0", bytes.len()).as_bytes());
        put(136, b"00000000000\0");
        put(148, b"        ");
        put(156, b"0");
        put(257, b"ustar\x0000");
        let sum: u32 = head.iter().map(|byte| u32::from(*byte)).sum();
        head[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        tar.extend(head);
        tar.extend(bytes);
        tar.resize(tar.len().next_multiple_of(512), 0);
    }
    tar.resize(tar.len() + 1024, 0);
    fs::write(path, zstd(&tar)).unwrap();
}

/// A zstd stream of blocks that are not compressed.
fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut stream = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58];
    let blocks: Vec<&[u8]> = bytes.chunks(64 * 1024).collect();
    for (at, block) in blocks.iter().enumerate() {
        let last = u32::from(at + 1 == blocks.len());
        let head = last | (u32::try_from(block.len()).unwrap() << 3);
        stream.extend(&head.to_le_bytes()[..3]);
        stream.extend(*block);
    }
    stream
}

fn titles(sandbox: &Sandbox) -> Vec<String> {
    let list = sandbox.run(&["tasks", "list", "--all", "--limit", "200", "--json"]);
    assert_eq!(list.status, 0, "{list:?}");
    let items = list.json()["items"].as_array().unwrap().clone();
    items.iter().map(|task| task["title"].as_str().unwrap().to_owned()).collect()
}

/// A state of this version with one task of its own.
fn mine() -> Sandbox {
    let sandbox = sandbox();
    assert_eq!(sandbox.run(&["tasks", "add", "mine"]).status, 0);
    sandbox
}

#[test]
fn a_backup_of_every_older_version_is_restored_and_starts() {
    for schema in 1..=migrations().len() {
        let sandbox = mine();
        let made = sandbox.root().join("old.db");
        database(&made, schema);
        let backup = sandbox.root().join("old.tar.zst");
        let note = ("ui_apps/data/com.example.notes/note.txt", b"kept".to_vec());
        archive(&backup, &[("state.db", fs::read(&made).unwrap()), note], u32::try_from(schema).unwrap());
        let done = sandbox.run(&["restore", backup.to_str().unwrap(), "--json"]);
        assert_eq!((done.status, &done.json()["schema"]), (0, &json!(schema)), "{done:?}");
        let previous = PathBuf::from(done.json()["previous"].as_str().unwrap());
        assert_eq!(
            number(&previous.join("state.db"), "SELECT count(*) FROM tasks"),
            1,
            "the old one is kept"
        );
        let host = sandbox.serve();
        let list = host.ask("GET", "/api/v1/tasks", None).json();
        assert_eq!(list["total"], TASKS, "schema {schema}");
        assert_eq!(host.ask("POST", "/api/v1/tasks", Some(&json!({ "title": "new" }))).status, 201);
        assert_eq!(host.ask("GET", "/api/v1/agents", None).status, 200);
        assert!(host.stop().success());
        let held = titles(&sandbox);
        assert!(held.contains(&format!("schema {schema}, task 3")) && !held.contains(&"mine".to_owned()));
        let note = sandbox.state().join("ui_apps/data/com.example.notes/note.txt");
        assert_eq!(fs::read_to_string(note).unwrap(), "kept");
        let doctor = sandbox.run(&["doctor", "--deep", "--json"]);
        assert_eq!(doctor.status, 0, "schema {schema}: {doctor:?}");
        assert!(!doctor.stdout.contains("migration_changed"), "{doctor:?}");
    }
}

#[test]
fn a_backup_of_a_newer_version_changes_nothing() {
    let sandbox = mine();
    let made = sandbox.root().join("new.db");
    database(&made, migrations().len());
    let future = "INSERT INTO schema_migrations VALUES (?1, 'future', 'x', 1)";
    Connection::open(&made).unwrap().execute(future, [FUTURE]).unwrap();
    let bytes = fs::read(&made).unwrap();
    fs::remove_file(&made).unwrap();
    // It says so itself, or it does not.
    for said in [FUTURE, 1] {
        let backup = sandbox.root().join("new.tar.zst");
        archive(&backup, &[("state.db", bytes.clone())], said);
        for args in [&["--json"][..], &["--json", "--into", "other"]] {
            let mut all = vec!["restore", backup.to_str().unwrap()];
            all.extend(args);
            let refused = sandbox.run(&all);
            assert_eq!((refused.status, refused.code().as_str()), (5, "database_newer"), "{refused:?}");
        }
        fs::remove_file(&backup).unwrap();
    }
    assert_eq!(titles(&sandbox), ["mine"]);
    let left: Vec<_> = fs::read_dir(sandbox.root()).unwrap().flatten().map(|it| it.file_name()).collect();
    assert_eq!(left.len(), 3, "home, bin and state: {left:?}");
}

/// Noise over a leaf page of the tasks table.
fn damage(database: &Path) {
    let page = number(
        database,
        "SELECT pageno FROM dbstat WHERE name = 'tasks' AND pagetype = 'leaf' ORDER BY pageno LIMIT 1 OFFSET 2",
    );
    let mut bytes = fs::read(database).unwrap();
    let at = (usize::try_from(page).unwrap() - 1) * 4096;
    bytes[at..at + 4096].fill(0x5a);
    fs::write(database, bytes).unwrap();
}

#[test]
fn a_damaged_database_of_an_older_version_is_recovered_either_way() {
    for schema in [1, 4, migrations().len()] {
        for choice in ["salvaged", "backup"] {
            let sandbox = mine();
            let state = sandbox.state().join("state.db");
            for suffix in ["", "-wal", "-shm"] {
                fs::remove_file(sandbox.state().join(format!("state.db{suffix}"))).ok();
            }
            fs::remove_dir_all(sandbox.state().join("backups")).ok();
            database(&state, schema);
            chatos_testkit::make_dir(&sandbox.state().join("backups"), 0o700);
            fs::copy(&state, sandbox.state().join("backups/older.db")).unwrap();
            damage(&state);
            let damaged = fs::read(&state).unwrap();
            let refused = sandbox.try_serve(&["--json"]).err().unwrap();
            assert_eq!(refused.code(), "database_corrupt", "schema {schema}: {refused:?}");
            let done = sandbox.run(&["state", "recover", "--use", choice, "--json"]);
            let what = format!("schema {schema}, {choice}: {done:?}");
            assert_eq!((done.status, done.json()["used"].as_str()), (0, Some(choice)), "{what}");
            assert!(fs::read(done.json()["kept"].as_str().unwrap()).unwrap() == damaged, "{what}");
            let host = sandbox.serve();
            let total = host.ask("GET", "/api/v1/tasks", None).json()["total"].as_u64().unwrap() as usize;
            assert!(if choice == "backup" { total == TASKS } else { total > TASKS / 2 }, "{what}: {total}");
            assert_eq!(host.ask("POST", "/api/v1/tasks", Some(&json!({ "title": "new" }))).status, 201);
            assert!(host.stop().success());
            let doctor = sandbox.run(&["doctor", "--deep", "--json"]);
            assert_eq!(doctor.status, 0, "{what}: {doctor:?}");
        }
    }
}
