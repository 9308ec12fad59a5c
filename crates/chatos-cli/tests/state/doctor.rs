//! `chatos doctor`: each finding with the trouble really made, and `--fix` where nothing is lost.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use chatos_testkit::{Outcome, Sandbox};
use rusqlite::Connection;
use serde_json::{Value, json};

use super::backup::with_input;
use super::sandbox;

fn finding(outcome: &Outcome, code: &str) -> Option<Value> {
    outcome.json()["findings"].as_array().unwrap().iter().find(|finding| finding["code"] == code).cloned()
}

/// The trouble is found with words in both languages, and gone after `--fix` when it says so.
fn check(sandbox: &Sandbox, code: &str, severity: &str, fixable: bool) {
    let found = sandbox.run(&["doctor", "--json"]);
    let one = finding(&found, code).unwrap_or_else(|| panic!("no {code} in {found:?}"));
    assert_eq!(
        (one["severity"].as_str(), one["fixable"].as_bool()),
        (Some(severity), Some(fixable)),
        "{one}"
    );
    assert!(one["message"].as_str().is_some_and(|text| text.len() > 5), "{one}");
    assert!(one["action"].as_str().is_some_and(|text| text.len() > 5), "{one}");
    assert_eq!(found.status, i32::from(severity == "error"), "{found:?}");
    let zh = sandbox.run(&["doctor", "--json", "--lang", "zh"]);
    let text = finding(&zh, code).unwrap()["message"].as_str().unwrap().to_owned();
    assert!(text.chars().any(|c| c >= '\u{4e00}'), "{text}");
    let after = sandbox.run(&["doctor", "--fix", "--json"]);
    assert_eq!(finding(&after, code).is_none(), fixable, "{after:?}");
}

fn used() -> Sandbox {
    let sandbox = sandbox();
    assert!(sandbox.serve().stop().success());
    sandbox
}

fn key_file(sandbox: &Sandbox) -> PathBuf {
    let keys = sandbox.home().join(".config/chatos/keys");
    fs::read_dir(keys).unwrap().flatten().next().unwrap().path()
}

fn age(path: &Path) {
    let old = SystemTime::now() - Duration::from_secs(7200);
    fs::File::open(path).unwrap().set_modified(old).unwrap();
}

#[test]
fn a_healthy_state_has_no_findings_worth_a_word() {
    let sandbox = used();
    let outcome = sandbox.run(&["doctor", "--deep", "--json"]);
    assert_eq!(outcome.status, 0, "{outcome:?}");
    for code in ["database", "disk", "audit", "prompt_log", "state_key", "secrets", "blobs"] {
        let one = finding(&outcome, code).unwrap_or_else(|| panic!("no {code} in {outcome:?}"));
        assert_eq!(one["severity"], "ok", "{one}");
    }
}

#[test]
fn language_servers_are_found_also_under_version_managers_and_a_broken_list_is_said() {
    let sandbox = used();
    let bin = sandbox.home().join(".nvm/versions/node/v22.1.0/bin");
    fs::create_dir_all(&bin).unwrap();
    let program = bin.join("typescript-language-server");
    fs::write(&program, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let one = finding(&sandbox.run(&["doctor", "--json"]), "language_servers").unwrap();
    assert_eq!(one["severity"], "ok", "{one}");
    assert!(one["message"].as_str().unwrap().contains("typescript"), "{one}");
    assert!(one["action"].as_str().unwrap().contains("csharp: dotnet tool install"), "{one}");
    fs::write(sandbox.state().join("lsp-servers.json"), r#"{"servers": {"zig": {"command": 5}}}"#).unwrap();
    check(&sandbox, "language_servers_config", "error", false);
}

#[test]
fn modes_are_found_and_narrowed() {
    let sandbox = used();
    let audit = fs::read_dir(sandbox.state().join("audit")).unwrap().flatten().next().unwrap().path();
    fs::set_permissions(&audit, fs::Permissions::from_mode(0o644)).unwrap();
    check(&sandbox, "mode_wide", "warning", true);
    assert_eq!(fs::metadata(&audit).unwrap().permissions().mode() & 0o777, 0o600);
    let key = key_file(&sandbox);
    fs::set_permissions(&key, fs::Permissions::from_mode(0o640)).unwrap();
    check(&sandbox, "state_key_wide", "warning", true);
    assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn secrets_of_another_key_are_named_not_told() {
    let sandbox = used();
    assert_eq!(with_input(&sandbox, &["secrets", "set", "API_KEY"], "canary-abcdefgh").status, 0);
    fs::write(key_file(&sandbox), "ab".repeat(32)).unwrap();
    let outcome = sandbox.run(&["doctor", "--json"]);
    // The chain of audit records was made with the lost key too, so that is an error of its own.
    assert_eq!(outcome.status, 1, "{outcome:?}");
    let one = finding(&outcome, "secrets_sealed").unwrap_or_else(|| panic!("{outcome:?}"));
    assert_eq!((one["severity"].as_str(), one["fixable"].as_bool()), (Some("warning"), Some(false)));
    assert!(outcome.stdout.contains("API_KEY") && !outcome.stdout.contains("canary"), "{outcome:?}");
}

#[test]
fn a_key_file_that_vanishes_is_noticed_while_it_can_be_helped() {
    let sandbox = used();
    let host = sandbox.serve();
    fs::remove_file(key_file(&sandbox)).unwrap();
    let doctor = host.ask("GET", "/api/v1/doctor", None).json();
    let gone = doctor["findings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|finding| finding["code"] == "state_key_gone")
        .unwrap()
        .clone();
    assert_eq!(gone["severity"], "error", "{doctor}");
}

#[test]
fn lost_and_miscounted_contents_are_found() {
    let sandbox = used();
    let database = sandbox.state().join("state.db");
    let sha = "a".repeat(64);
    let sql = "INSERT INTO file_changes (id, server, tool, root, path, change, diff_blob, created_at)
         VALUES ('f', 's', 't', '/', 'p', 'modified', ?1, 1)";
    Connection::open(&database).unwrap().execute(sql, [&sha]).unwrap();
    check(&sandbox, "blobs_missing", "error", false);
    Connection::open(&database)
        .unwrap()
        .execute_batch("DELETE FROM file_changes; INSERT INTO blobs (sha256, size, refs, created_at) VALUES ('b', 1, 5, 1)")
        .unwrap();
    check(&sandbox, "blobs_miscounted", "warning", true);
}

#[test]
fn leftovers_of_killed_work_are_removed_only_when_old() {
    let sandbox = used();
    let backups = sandbox.state().join("backups");
    fs::create_dir_all(&backups).unwrap();
    let (old, young, kept) =
        (backups.join("daily-1.partial"), backups.join("daily-2.partial"), backups.join("mine.db"));
    for path in [&old, &young, &kept] {
        fs::write(path, "x").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    }
    age(&old);
    age(&kept);
    check(&sandbox, "leftovers", "warning", true);
    assert!(!old.exists() && young.exists() && kept.exists());
    // A start holds the lock: nobody is at work on what it finds.
    assert!(sandbox.serve().stop().success());
    assert!(!young.exists() && kept.exists());
}

#[test]
fn a_killed_host_and_bad_lines_are_told() {
    let sandbox = used();
    sandbox.serve().kill();
    check(&sandbox, "host_json_stale", "info", true);
    fs::write(sandbox.state().join("ui-prompts.jsonl"), "{\"ts\":1}\nnot json at all\n{\"half\":\n").unwrap();
    check(&sandbox, "prompt_lines_unreadable", "warning", false);
}

#[test]
fn the_link_at_the_older_place_is_made_again() {
    let sandbox = sandbox();
    let run = |args: &[&str]| sandbox.run_command(sandbox.bare(args));
    assert_eq!(run(&["settings", "get", "retry"]).status, 0);
    let link = sandbox.home().join(".deepseek_cli/chatos");
    assert!(link.symlink_metadata().is_ok_and(|meta| meta.is_symlink()), "the first start made it");
    fs::remove_file(&link).unwrap();
    let mut command = sandbox.bare(&["serve", "--no-open", "--port", "0", "--ready-json"]);
    command.env("CHATOS_SET_LEGACY_LINK", "false");
    let host = chatos_testkit::RunningHost::start(command).unwrap_or_else(|outcome| panic!("{outcome:?}"));
    assert!(link.symlink_metadata().is_err());
    let quiet = host.ask("GET", "/api/v1/doctor", None).json();
    assert!(!quiet.to_string().contains("legacy_link_missing"), "{quiet}");
    assert!(host.stop().success());
    assert_eq!(run(&["doctor", "--fix", "--json"]).status, 0);
    assert!(link.symlink_metadata().is_ok_and(|meta| meta.is_symlink()));
    assert_eq!(json!(fs::read_link(&link).unwrap()), json!(sandbox.home().join(".chatos/chatos")));
}
