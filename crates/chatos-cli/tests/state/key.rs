//! `chatos secrets rotate` and `move-key`: another key, or another place for it, also when the host dies
//! in between (state §6).

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use chatos_testkit::{RunningHost, Sandbox, Wire};
use serde_json::{Value, json};

use super::backup::with_input;
use super::{number, sandbox};

const VALUE: &str = "canary-0cc175b9c0f1b6a831c399e269772661";

/// A state with a secret, and a server whose credentials are sealed.
fn filled() -> Sandbox {
    let sandbox = sandbox();
    assert_eq!(with_input(&sandbox, &["secrets", "set", "ONE"], VALUE).status, 0);
    let host = sandbox.serve();
    let server = json!({
        "name": "far", "url": "https://mcp.invalid/mcp", "enabled": false, "auth": { "kind": "token", "token": VALUE },
    });
    let made = host.ask("POST", "/api/v1/mcp-servers", Some(&server));
    assert!(made.status < 300, "{made:?}");
    assert!(host.stop().success());
    sandbox
}

fn key_of(sandbox: &Sandbox) -> Value {
    let host = sandbox.serve();
    let key = host.ask("GET", "/api/v1/state-key", None).json();
    assert!(host.stop().success());
    key
}

fn key_files(sandbox: &Sandbox, key: &Value) -> Vec<String> {
    let path = key["path"].as_str().map(PathBuf::from);
    let folder = path.and_then(|path| Some(path.parent()?.to_owned()));
    let folder = folder.unwrap_or_else(|| sandbox.home().join(".config/chatos/keys"));
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Everything opens, everything is sealed with the key in force, and the audit log is whole.
fn is_whole(sandbox: &Sandbox, context: &str) -> Value {
    let key = key_of(sandbox);
    let list = sandbox.run(&["secrets", "list", "--json"]).json();
    assert!(
        list["items"].as_array().is_some_and(|items| items.iter().all(|item| item["openable"] == true)),
        "{context}: {list}"
    );
    let id = key["keyId"].as_str().unwrap();
    let database = sandbox.state().join("state.db");
    let sealed = |table: &str, column: &str| {
        format!("SELECT count(*) FROM {table} WHERE {column} LIKE 'enc:v2:{id}:%'")
    };
    assert_eq!(number(&database, &sealed("secrets", "sealed")), 1, "{context}");
    assert_eq!(number(&database, &sealed("mcp_servers", "auth_sealed")), 1, "{context}");
    let audit = sandbox.run(&["audit", "verify", "--json"]);
    assert_eq!(audit.status, 0, "{context}: {audit:?}");
    key
}

#[test]
fn a_new_key_seals_everything_anew_and_old_records_still_verify() {
    let sandbox = filled();
    let before = is_whole(&sandbox, "before");
    // Without a host, through the state itself.
    let rotated = sandbox.run(&["secrets", "rotate", "--json"]);
    assert_eq!(rotated.status, 0, "{rotated:?}");
    let rotated = rotated.json();
    assert_eq!(
        (&rotated["from"], &rotated["resealed"], &rotated["left"]),
        (&before["keyId"], &json!(2), &json!(0))
    );
    let after = is_whole(&sandbox, "after");
    assert_eq!((&after["keyId"], &after["former"]), (&rotated["to"], &json!(1)));
    assert_eq!(key_files(&sandbox, &after), key_files(&sandbox, &before), "the old key is gone");
    // Through a host that runs, which goes on with the new key.
    let host = sandbox.serve();
    let again = sandbox.run(&["secrets", "rotate"]);
    assert!(again.status == 0 && again.stdout.contains("sealed anew: 2"), "{again:?}");
    let used = host.ask("GET", "/api/v1/secrets", None).json();
    assert_eq!(used["items"][0]["openable"], true, "{used}");
    let put = host.ask("PUT", "/api/v1/secrets/ONE", Some(&json!({ "value": VALUE })));
    assert_eq!(put.status, 200, "{put:?}");
    assert!(host.ask("GET", "/api/v1/audit/verify", None).json()["ok"] == true);
    assert!(host.stop().success());
    let last = is_whole(&sandbox, "last");
    assert_eq!(last["former"], 2);
    let doctor = sandbox.run(&["doctor", "--json"]);
    assert!(doctor.stdout.contains("rotated 2 times"), "{doctor:?}");
    // A record that was changed shows, whichever key signed it.
    let audit = fs::read_dir(sandbox.state().join("audit")).unwrap().flatten().next().unwrap().path();
    let text = fs::read_to_string(&audit).unwrap();
    for (from, to) in [("\"secret_set\"", "\"secret_sat\""), ("\"resealed\":2", "\"resealed\":3")] {
        assert!(text.contains(from));
        fs::write(&audit, text.replacen(from, to, 1)).unwrap();
        assert_eq!(sandbox.run(&["audit", "verify", "--json"]).status, 1, "{from}");
    }
}

#[test]
fn a_host_killed_anywhere_in_a_rotation_loses_nothing() {
    let mut sandbox = filled();
    let mut before = is_whole(&sandbox, "before");
    // Before and after: the next key is kept, the database is changed, the next key takes its place.
    for (at, changed) in [(-1, false), (1, false), (-2, false), (2, true), (-3, true), (3, true)] {
        sandbox.set_variable("CHATOS_TEST_HALT_AT", at.to_string());
        let host = sandbox.serve();
        assert!(
            host.try_ask("POST", "/api/v1/state-key/rotate", Some(&json!({}))).is_err(),
            "{at}: it lives"
        );
        host.ended();
        sandbox.set_variable("CHATOS_TEST_HALT_AT", "0");
        let after = is_whole(&sandbox, &format!("killed at {at}"));
        assert_eq!(after["keyId"] != before["keyId"], changed, "{at}");
        assert_eq!(key_files(&sandbox, &after).len(), 1, "{at}: {:?}", key_files(&sandbox, &after));
        before = after;
    }
    assert_eq!(sandbox.run(&["secrets", "rotate"]).status, 0);
    is_whole(&sandbox, "at last");
}

#[test]
fn whoever_sets_secrets_meanwhile_loses_none() {
    let sandbox = filled();
    let host = sandbox.serve();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for name in ["A", "B"] {
            let (port, token, stop) = (host.port, host.token.clone(), &stop);
            scope.spawn(move || {
                let mut wire = Wire::open(port).unwrap();
                while !stop.load(Ordering::Relaxed) {
                    let path = format!("/api/v1/secrets/{name}");
                    let set = wire.ask(&token, "PUT", &path, Some(&json!({ "value": VALUE }))).unwrap();
                    assert_eq!(set.status, 200, "{set:?}");
                }
            });
        }
        for _ in 0..10 {
            let rotated = host.ask("POST", "/api/v1/state-key/rotate", Some(&json!({})));
            assert_eq!(rotated.status, 200, "{rotated:?}");
        }
        stop.store(true, Ordering::Relaxed);
    });
    let list = host.ask("GET", "/api/v1/secrets", None).json();
    assert!(list["items"].as_array().unwrap().iter().all(|item| item["openable"] == true), "{list}");
    assert_eq!(host.ask("GET", "/api/v1/audit/verify", None).json()["ok"], true);
    assert!(host.stop().success());
}

/// A stand-in for the program of the Secret Service, with its entries in files.
fn keychain(sandbox: &mut Sandbox, script: &str) {
    let bin = sandbox.root().join("bin");
    fs::create_dir_all(&bin).unwrap();
    let program = bin.join("secret-tool");
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    sandbox.set_variable("PATH", format!("{}:/usr/bin:/bin", bin.display()));
}

const KEEPS: &str = r#"#!/bin/sh
word=$1; shift
case "$1" in --label=*) shift;; esac
entry="$HOME/entries/$2-$4"
case $word in
  store) mkdir -p "$HOME/entries" && cat > "$entry";;
  lookup) [ -f "$entry" ] && cat "$entry";;
  clear) rm -f "$entry";;
esac
"#;

fn entries(sandbox: &Sandbox) -> usize {
    fs::read_dir(sandbox.home().join("entries")).map_or(0, Iterator::count)
}

fn with_keychain(host: &RunningHost, to: &str) -> Value {
    host.ask("POST", "/api/v1/state-key/move", Some(&json!({ "to": to }))).json()
}

#[test]
fn the_key_moves_to_the_keychain_and_back() {
    let mut sandbox = filled();
    let before = key_of(&sandbox);
    // No program, one that complains: the key stays where it is.
    sandbox.set_variable("PATH", "/nowhere");
    let none = sandbox.run(&["secrets", "move-key", "keychain", "--json"]);
    assert_eq!(none.code(), "keychain_unusable", "{none:?}");
    keychain(&mut sandbox, "#!/bin/sh\necho 'no such service' >&2\nexit 1\n");
    let refused = sandbox.run(&["secrets", "move-key", "keychain", "--json"]);
    assert!(
        refused.code() == "keychain_unusable" && refused.stdout.contains("no such service"),
        "{refused:?}"
    );
    // One that forgets.
    keychain(&mut sandbox, "#!/bin/sh\ncat >/dev/null\n");
    let forgets = sandbox.run(&["secrets", "move-key", "keychain", "--json"]);
    assert_eq!(forgets.code(), "keychain_unusable", "{forgets:?}");
    assert_eq!(key_files(&sandbox, &before).len(), 1);
    keychain(&mut sandbox, KEEPS);
    let moved = sandbox.run(&["secrets", "move-key", "keychain", "--json"]);
    assert!(moved.status == 0 && moved.json()["moved"] == true, "{moved:?}");
    assert_eq!((key_files(&sandbox, &before).len(), entries(&sandbox)), (0, 1));
    let there = is_whole(&sandbox, "in the keychain");
    assert_eq!((&there["where"], &there["keyId"]), (&json!("keychain"), &before["keyId"]));
    // A rotation there, then back.
    assert_eq!(sandbox.run(&["secrets", "rotate"]).status, 0);
    let rotated = is_whole(&sandbox, "rotated in the keychain");
    assert_ne!(rotated["keyId"], before["keyId"]);
    assert_eq!(entries(&sandbox), 1);
    let back = sandbox.run(&["secrets", "move-key", "file"]);
    assert!(back.status == 0 && back.stdout.contains("in a file now"), "{back:?}");
    assert_eq!((key_files(&sandbox, &before).len(), entries(&sandbox)), (1, 0));
    let again = sandbox.run(&["secrets", "move-key", "file", "--json"]);
    assert_eq!(again.json()["moved"], false, "{again:?}");
    assert_eq!(is_whole(&sandbox, "back")["keyId"], rotated["keyId"]);
    assert_eq!(sandbox.run(&["secrets", "move-key", "cloud"]).status, 2);
}

#[test]
fn a_host_killed_anywhere_in_a_move_finds_its_key() {
    let mut sandbox = filled();
    keychain(&mut sandbox, KEEPS);
    let before = key_of(&sandbox);
    for to in ["keychain", "file"] {
        for at in [-1, 1, -2, 2, -3, 3] {
            sandbox.set_variable("CHATOS_TEST_HALT_AT", at.to_string());
            let host = sandbox.serve();
            let moved = host.try_ask("POST", "/api/v1/state-key/move", Some(&json!({ "to": to })));
            // Once it is there, there is nothing left to do, and nothing to die of.
            assert!(moved.is_err() || moved.unwrap().json()["moved"] == false, "{to} {at}: it lives");
            host.kill();
            sandbox.set_variable("CHATOS_TEST_HALT_AT", "0");
            let key = is_whole(&sandbox, &format!("{to}, killed at {at}"));
            assert_eq!(key["keyId"], before["keyId"], "{to} {at}");
        }
        let host = sandbox.serve();
        assert_eq!(with_keychain(&host, to)["key"]["where"], to);
        assert!(host.stop().success());
    }
    assert_eq!((key_files(&sandbox, &before).len(), entries(&sandbox)), (1, 0));
}

#[test]
fn a_key_file_that_a_person_named_is_never_changed() {
    let mut sandbox = sandbox();
    let file = sandbox.root().join("my.key");
    fs::write(&file, "7".repeat(64)).unwrap();
    sandbox.set_variable("CHATOS_MASTER_KEY_FILE", file.to_str().unwrap());
    for action in [&["secrets", "rotate", "--json"][..], &["secrets", "move-key", "keychain", "--json"]] {
        let refused = sandbox.run(action);
        assert_eq!((refused.status, refused.code().as_str()), (3, "state_key_not_ours"), "{refused:?}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "7".repeat(64));
    assert_eq!(sandbox.run(&["audit", "verify"]).status, 0);
}

#[test]
fn a_backup_from_before_a_rotation_comes_back_with_its_own_key() {
    let sandbox = filled();
    let archive = sandbox.root().join("before.tar.zst");
    let archive = archive.to_str().unwrap();
    let made = with_input(&sandbox, &["backup", archive, "--with-key", "--json"], "a long passphrase\n");
    assert_eq!(made.status, 0, "{made:?}");
    let before = key_of(&sandbox);
    assert_eq!(sandbox.run(&["secrets", "rotate"]).status, 0);
    let done = with_input(&sandbox, &["restore", archive, "--json"], "a long passphrase\n");
    assert!(done.status == 0 && done.json()["key"] == "restored", "{done:?}");
    assert_eq!(is_whole(&sandbox, "restored")["keyId"], before["keyId"]);
    // The key it is made with now is retired by the next rotation, wherever it lay.
    assert_eq!(sandbox.run(&["secrets", "rotate"]).status, 0);
    is_whole(&sandbox, "rotated again");
}
