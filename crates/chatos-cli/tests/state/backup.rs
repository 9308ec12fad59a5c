//! `chatos backup` and `chatos restore`.

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use chatos_testkit::{Outcome, Random, Sandbox, make_dir};
use serde_json::{Value, json};

use super::{number, sandbox};

/// Runs a command with text on its standard input.
pub(crate) fn with_input(sandbox: &Sandbox, args: &[&str], text: &str) -> Outcome {
    let mut child = sandbox
        .command(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    Outcome {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn file(sandbox: &Sandbox, name: &str) -> String {
    sandbox.root().join(name).to_string_lossy().into_owned()
}

fn add_task(sandbox: &Sandbox, title: &str) {
    let outcome = sandbox.run(&["tasks", "add", title]);
    assert_eq!(outcome.status, 0, "{outcome:?}");
}

fn titles(sandbox: &Sandbox) -> Vec<String> {
    let list = sandbox.run(&["tasks", "list", "--all", "--json"]);
    let items = list.json()["items"].as_array().unwrap().clone();
    items.iter().map(|task| task["title"].as_str().unwrap().to_owned()).collect()
}

/// state §11.5: a backup made under load is whole, holds every commit from before, and starts elsewhere
/// with the same questions waiting.
#[test]
fn a_backup_under_load_is_restored_elsewhere() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    let data = sandbox.state().join("ui_apps/data/com.example.notes");
    make_dir(&data, 0o700);
    fs::write(data.join("note.txt"), "kept").unwrap();
    symlink("/etc/hostname", data.join("link")).unwrap();
    let prompt = json!({ "prompt": { "kind": "choice", "title": "Tea?", "options": [{ "value": "y" }, { "value": "n" }] } });
    for _ in 0..3 {
        let asked = host.ask("POST", "/api/v1/prompts", Some(&prompt));
        assert!((200..300).contains(&asked.status), "{asked:?}");
    }
    let waiting = |state: &Sandbox| {
        let list = state.run(&["prompts", "list", "--json"]);
        let mut ids: Vec<String> = Vec::new();
        for item in list.json()["items"].as_array().unwrap() {
            ids.push(item["requestId"].as_str().unwrap_or_default().to_owned());
        }
        ids.sort();
        ids
    };
    let before = waiting(&sandbox);
    assert_eq!(before.len(), 3, "{before:?}");
    let (stop, acknowledged) = (AtomicBool::new(false), AtomicU64::new(0));
    let archive = file(&sandbox, "all.tar.zst");
    let earlier = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let task = json!({ "title": "load" });
                assert_eq!(host.ask("POST", "/api/v1/tasks", Some(&task)).status, 201);
                acknowledged.fetch_add(1, Ordering::SeqCst);
            }
        });
        while acknowledged.load(Ordering::SeqCst) < 20 {
            std::thread::sleep(Duration::from_millis(1));
        }
        let earlier = acknowledged.load(Ordering::SeqCst);
        let made = sandbox.run(&["backup", &archive, "--json"]);
        stop.store(true, Ordering::Relaxed);
        assert_eq!(made.status, 0, "{made:?}");
        let report = made.json();
        assert_eq!(report["leftOut"], json!(["ui_apps/data/com.example.notes/link"]));
        assert!(report["files"].as_u64().unwrap() >= 4, "{report}");
        earlier
    });
    assert!(host.stop().success());
    let dry = sandbox.run(&["restore", &archive, "--dry-run", "--into", &file(&sandbox, "other"), "--json"]);
    assert_eq!((dry.status, &dry.json()["state"]), (0, &json!("verified")), "{dry:?}");
    assert!(!sandbox.root().join("other").exists());
    let done = sandbox.run(&["restore", &archive, "--into", &file(&sandbox, "other"), "--json"]);
    assert_eq!((done.status, &done.json()["key"]), (0, &json!("present")), "{done:?}");
    let mut elsewhere = sandbox;
    elsewhere.set_state(elsewhere.root().join("other"));
    let rows = number(&elsewhere.state().join("state.db"), "SELECT count(*) FROM tasks").unsigned_abs();
    assert!(rows >= earlier && rows <= acknowledged.load(Ordering::SeqCst), "{rows} {earlier}");
    assert_eq!(
        fs::read_to_string(elsewhere.state().join("ui_apps/data/com.example.notes/note.txt")).unwrap(),
        "kept"
    );
    let host = elsewhere.serve();
    assert_eq!(waiting(&elsewhere), before);
    assert!(host.stop().success());
    let doctor = elsewhere.run(&["doctor", "--deep", "--json"]);
    assert_eq!(doctor.status, 0, "{doctor:?}");
    assert!(!doctor.stdout.contains("database_behind"), "{doctor:?}");
    assert_eq!(elsewhere.run(&["audit", "verify"]).status, 0);
}

#[test]
fn restoring_keeps_what_was_there_and_refuses_a_state_in_use() {
    let sandbox = sandbox();
    add_task(&sandbox, "first");
    let archive = file(&sandbox, "b.tar.zst");
    let made = sandbox.run(&["backup", &archive]);
    assert!(made.status == 0 && made.stdout.contains("checked"), "{made:?}");
    let again = sandbox.run(&["backup", &archive, "--json"]);
    assert_eq!((again.status, again.code().as_str()), (3, "file_exists"), "{again:?}");
    add_task(&sandbox, "second");
    let host = sandbox.serve();
    let busy = sandbox.run(&["restore", &archive, "--json"]);
    assert_eq!((busy.status, busy.code().as_str()), (5, "already_running"), "{busy:?}");
    assert_eq!(host.ask("GET", "/api/v1/tasks", None).json()["total"], 2);
    assert!(host.stop().success());
    let done = sandbox.run(&["restore", &archive, "--json"]);
    assert_eq!(done.status, 0, "{done:?}");
    let previous = done.json()["previous"].as_str().unwrap().to_owned();
    assert_eq!(titles(&sandbox), ["first"]);
    assert_eq!(number(&Path::new(&previous).join("state.db"), "SELECT count(*) FROM tasks"), 2);
    assert!(!sandbox.root().join("state.restoring").exists());
    for (args, code) in
        [(["restore", "missing.tar.zst"], "not_found"), (["backup", "no/such/folder.zst"], "not_found")]
    {
        let outcome = sandbox.run(&[args[0], args[1], "--json"]);
        assert_eq!((outcome.status, outcome.code().as_str()), (4, code), "{outcome:?}");
        assert!(outcome.json()["error"]["hint"].is_string());
    }
}

#[test]
fn a_damaged_cut_or_foreign_backup_changes_nothing() {
    let sandbox = sandbox();
    add_task(&sandbox, "mine");
    let archive = sandbox.root().join("b.tar.zst");
    assert_eq!(sandbox.run(&["backup", archive.to_str().unwrap()]).status, 0);
    let whole = fs::read(&archive).unwrap();
    let mut flipped = whole.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0xff;
    let cases: [(&[u8], &str); 4] = [
        (&flipped, "backup_damaged"),
        (&whole[..whole.len() - 40], "backup_damaged"),
        (b"hello", "backup_not_recognised"),
        (b"", "backup_not_recognised"),
    ];
    for (bytes, code) in cases {
        let path = sandbox.root().join("bad");
        fs::write(&path, bytes).unwrap();
        let outcome = sandbox.run(&["restore", path.to_str().unwrap(), "--json"]);
        assert_eq!(outcome.code(), code, "{outcome:?}");
        assert_ne!(outcome.status, 0);
        let zh = sandbox.run(&["restore", path.to_str().unwrap(), "--lang", "zh"]);
        assert!(zh.stderr.contains("备份") && zh.stderr.contains("提示："), "{zh:?}");
    }
    assert_eq!(titles(&sandbox), ["mine"]);
    assert_eq!(fs::read_dir(sandbox.root()).unwrap().count(), 5, "home, bin, state, two files");
}

#[test]
fn with_its_key_a_backup_opens_secrets_on_another_machine() {
    let sandbox = sandbox();
    let set = with_input(&sandbox, &["secrets", "set", "API_KEY"], "canary-value-0123456789\n");
    assert_eq!(set.status, 0, "{set:?}");
    let archive = file(&sandbox, "k.tar.zst");
    let short = with_input(&sandbox, &["backup", &archive, "--with-key", "--json"], "short\n");
    assert_eq!(short.code(), "passphrase_short", "{short:?}");
    let made = with_input(&sandbox, &["backup", &archive, "--with-key", "--json"], "a long passphrase\n");
    assert!(made.status == 0 && made.json()["withKey"] == true, "{made:?}");
    let other = super::sandbox();
    let wrong = with_input(&other, &["restore", &archive, "--json"], "not the passphrase\n");
    assert_eq!((wrong.status, wrong.code().as_str()), (3, "passphrase_wrong"), "{wrong:?}");
    assert!(!other.state().exists());
    let done = with_input(&other, &["restore", &archive, "--json"], "a long passphrase\n");
    assert!(done.status == 0 && done.json()["key"] == "restored", "{done:?}");
    let list = other.run(&["secrets", "list", "--json"]).json();
    assert_eq!((&list["items"][0]["name"], &list["items"][0]["openable"]), (&json!("API_KEY"), &json!(true)));
    // Without the key everything else is there, and the secret says that it cannot be opened.
    let third = super::sandbox();
    let done = with_input(&third, &["restore", &archive, "--json"], "\n");
    assert!(done.status == 0 && done.json()["key"] == "in_backup", "{done:?}");
    let list = third.run(&["secrets", "list", "--json"]).json();
    assert_eq!(list["items"][0]["openable"], json!(false), "{list}");
}

/// state §11.1: whatever moment a restore is killed at, the state is the old one or the new one.
#[test]
fn kills_during_a_restore_leave_the_old_or_the_new_state() {
    let mut random = Random::new();
    let sandbox = sandbox();
    add_task(&sandbox, "old");
    let archive = file(&sandbox, "b.tar.zst");
    for index in 0..60 {
        let folder = sandbox.state().join(format!("ui_apps/data/com.example.p{index}"));
        make_dir(&folder, 0o700);
        fs::write(folder.join("data.bin"), random.bytes(60_000)).unwrap();
    }
    assert_eq!(sandbox.run(&["backup", &archive]).status, 0);
    add_task(&sandbox, "new");
    let (mut replaced, mut kept) = (0, 0);
    for round in 0..14 {
        let expected = titles(&sandbox).len();
        let mut command = sandbox.command(&["restore", &archive]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(random.below(60 + 40 * round)));
        child.kill().unwrap();
        let ended = child.wait().unwrap();
        let now = titles(&sandbox);
        assert!(now == ["old"] || now.len() == expected, "{now:?} seed {}", random.seed());
        if now == ["old"] && expected > 1 {
            replaced += 1;
            add_task(&sandbox, "new");
        } else if !ended.success() {
            kept += 1;
        }
        let files = fs::read_dir(sandbox.state().join("ui_apps/data")).unwrap().count();
        assert_eq!(files, 60, "seed {}", random.seed());
    }
    let done = sandbox.run(&["restore", &archive, "--json"]);
    assert_eq!(done.status, 0, "{done:?}");
    assert_eq!(titles(&sandbox), ["old"]);
    assert!(!sandbox.state().join(".restoring").exists());
    let left: Vec<_> =
        fs::read_dir(sandbox.root()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert!(left.iter().any(|name| name.to_string_lossy().contains(".before-restore-")), "{left:?}");
    eprintln!("{replaced} kills came after the exchange, {kept} before it");
}

#[test]
fn progress_and_refusals_also_over_the_api() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    let ask = |body: Value| host.ask("POST", "/api/v1/state/backup", Some(&body));
    assert_eq!(ask(json!({ "path": "relative" })).status, 422);
    assert_eq!(ask(json!({ "path": "/x", "more": 1 })).status, 400);
    let target = file(&sandbox, "api.tar.zst");
    let begun = ask(json!({ "path": target }));
    assert_eq!(begun.status, 202, "{begun:?}");
    let id = begun.json()["id"].as_str().unwrap().to_owned();
    let started = std::time::Instant::now();
    loop {
        let now = host.ask("GET", &format!("/api/v1/operations/{id}"), None).json();
        if now["state"] == "done" {
            assert!(now["result"]["bytes"].as_u64().unwrap() > 0);
            break;
        }
        assert_eq!(now["state"], "running", "{now}");
        assert!(started.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(ask(json!({ "path": target })).status, 409);
}
