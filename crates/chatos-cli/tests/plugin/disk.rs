//! A full disk and a killed program: the old version stays whole, the reason is said, nothing is left.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use chatos_testkit::{Random, Sandbox};
use serde_json::Value;

use crate::support::{data_of, good, installed, sandbox, simple, tree, write};
use crate::surroundings::Surroundings;

const ID: &str = "com.example.a";

/// A plugin of about `bytes` random bytes in a few files.
fn version(dir: &Path, version: &str, bytes: usize) {
    simple(dir, ID, version, &["x"]);
    let mut random = Random::with_seed(version.len() as u64 + bytes as u64);
    for n in 0..8 {
        write(&dir.join(format!("lib/{n}/code.bin")), random.bytes(bytes / 8));
    }
    write(&dir.join("version.txt"), version);
}

fn files(dir: &Path) -> Vec<(String, Vec<u8>)> {
    tree(dir).into_iter().map(|(name, _, bytes)| (name, bytes)).collect()
}

/// The JSON lines a script's commands printed.
fn lines(stdout: &str) -> Vec<Value> {
    stdout.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{stdout}"))).collect()
}

#[test]
fn a_full_disk_is_a_clear_error_and_the_old_version_stays() {
    let sandbox = sandbox();
    let Some(own) = Surroundings::own_mounts() else {
        // The limit of the next test needs no rights.
        chatos_testkit::skip!("nobody like us may mount here (unshare)")
    };
    version(&sandbox.root().join("small"), "1", 100_000);
    version(&sandbox.root().join("large"), "2", 40 << 20);
    let root = sandbox.root().display();
    let script = format!(
        "mkdir -p {root}/state && mount -t tmpfs -o size=24m none {root}/state && chmod 700 {root}/state
         run() {{ {program} plugin \"$@\" --json --state-dir {root}/state; }}
         run install {root}/small
         mkdir -p {root}/state/ui_apps/data/{ID} && echo mine > {root}/state/ui_apps/data/{ID}/notes.md
         run install {root}/large
         run show {ID}
         ls -A {root}/state/ui_apps/.staging | wc -l
         cat {root}/state/ui_apps/plugins/{ID}/version.txt | wc -c
         cat {root}/state/ui_apps/data/{ID}/notes.md | wc -c
         run install {root}/small",
        program = sandbox.program().display(),
    );
    let outcome = own.script(&sandbox, &script);
    let said = lines(&outcome.stdout);
    assert_eq!(said[0]["ok"], true, "{outcome:?}");
    let error = &said[1]["error"];
    assert_eq!(error["code"], "resource_exhausted", "{outcome:?}");
    assert!(error["hint"].as_str().unwrap().contains("space"), "{error}");
    assert_eq!(
        (&said[2]["plugin"]["version"], &said[2]["digest"]),
        (&Value::from("1"), &said[0]["plugins"][0]["digest"])
    );
    assert_eq!(said[3], 0, "staging is empty");
    assert_eq!((said[4].as_u64(), said[5].as_u64()), (Some(1), Some(5)), "old version and data are there");
    assert_eq!(said[6]["plugins"][0]["digest"], said[0]["plugins"][0]["digest"], "and it goes on working");
}

#[test]
fn a_file_size_limit_is_told_like_a_full_disk() {
    let sandbox = sandbox();
    version(&sandbox.root().join("small"), "1", 100_000);
    version(&sandbox.root().join("large"), "2", 64 << 20);
    good(&sandbox, &["plugin", "install", sandbox.root().join("small").to_str().unwrap()]);
    let before = files(&installed(&sandbox, ID));
    // 4 MiB: room for the database, not for the files of the new version (8 MiB each).
    let plain = Surroundings::without_rights();
    let large = sandbox.root().join("large");
    let outcome =
        plain.run(&sandbox, "ulimit -f 8192", &["plugin", "install", large.to_str().unwrap(), "--json"]);
    assert_eq!((outcome.status, outcome.code().as_str()), (5, "resource_exhausted"), "{outcome:?}");
    assert_eq!(files(&installed(&sandbox, ID)), before);
    assert!(fs::read_dir(sandbox.state().join("ui_apps/.staging")).unwrap().next().is_none());
    // The same inside a running host, which goes on serving.
    let mut command = plain.command(
        &sandbox,
        "ulimit -f 8192",
        &[
            "serve",
            "--no-open",
            "--ready-json",
            "--port",
            "0",
            "--state-dir",
            sandbox.state().to_str().unwrap(),
        ],
    );
    command.stdin(Stdio::null());
    let mut host =
        chatos_testkit::RunningHost::start(command).unwrap_or_else(|outcome| panic!("{outcome:?}"));
    let outcome = sandbox.run(&["plugin", "install", large.to_str().unwrap(), "--json"]);
    assert_eq!(outcome.code(), "resource_exhausted", "{outcome:?}");
    assert!(host.is_running());
    assert_eq!(files(&installed(&sandbox, ID)), before);
}

/// What one killed command leaves must be one of the two versions, whole, after the next command.
#[test]
fn the_real_program_killed_at_any_moment_leaves_one_whole_version() {
    let sandbox = sandbox();
    let sources = ["1", "2"].map(|number| {
        let source = sandbox.root().join(format!("source-{number}"));
        version(&source, number, 400_000);
        source
    });
    let whole: Vec<_> = sources.iter().map(|source| files(source)).collect();
    good(&sandbox, &["plugin", "install", sources[0].to_str().unwrap()]);
    write(&data_of(&sandbox, ID).join("notes.md"), "mine");
    let mut random = Random::new();
    let (mut seen, mut cut_short) = ([0_usize; 2], 0);
    let mut whole_time = Duration::ZERO;
    for kill in 0..60 {
        let current = usize::from(files(&installed(&sandbox, ID)) == whole[1]);
        // Always the other version, so that every install has something to exchange.
        let started = std::time::Instant::now();
        let mut child = begin(&sandbox, &sources[1 - current]);
        if kill % 10 == 0 {
            // Left alone now and then, to know how long it takes on this machine today.
            assert!(child.wait().unwrap().success());
            whole_time = started.elapsed();
        } else {
            std::thread::sleep(Duration::from_micros(random.below(whole_time.as_micros() as u64 * 6 / 5)));
            child.kill().unwrap();
            cut_short += usize::from(!child.wait().unwrap().success());
        }
        // Any command repairs first.
        let shown = good(&sandbox, &["plugin", "show", ID]);
        let found = files(&installed(&sandbox, ID));
        let which = whole.iter().position(|version| *version == found);
        let which = which.unwrap_or_else(|| panic!("kill {kill}, seed {}: a mixture", random.seed()));
        assert_eq!(shown["plugin"]["version"], (which + 1).to_string());
        assert_eq!(fs::read_to_string(data_of(&sandbox, ID).join("notes.md")).unwrap(), "mine");
        let left = fs::read_dir(sandbox.state().join("ui_apps/.staging")).unwrap().count();
        assert_eq!(left, 0, "kill {kill}, seed {}", random.seed());
        seen[which] += 1;
    }
    assert!(
        seen[0] > 0 && seen[1] > 0 && cut_short > 0,
        "{seen:?}, {cut_short} killed, seed {}",
        random.seed()
    );
}

fn begin(sandbox: &Sandbox, source: &Path) -> std::process::Child {
    let mut command = sandbox.command(&["plugin", "install", source.to_str().unwrap(), "--json"]);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// A serving host killed while it installs; the next start repairs, says so, and serves.
#[test]
fn a_host_killed_while_it_installs_starts_again() {
    let sandbox = sandbox();
    let source = sandbox.root().join("source");
    version(&source, "1", 8 << 20);
    let whole = files(&source);
    for round in 0..10 {
        let host = sandbox.serve();
        let body = serde_json::json!({ "path": source });
        assert_eq!(host.ask("POST", "/api/v1/plugins/install", Some(&body)).status, 202);
        std::thread::sleep(Duration::from_millis(round * 8));
        host.kill();
        let host = sandbox.serve();
        let listing = host.ask("GET", "/api/v1/plugins", None).json();
        let there = listing["plugins"].as_array().unwrap().iter().any(|plugin| plugin["id"] == ID);
        assert_eq!(installed(&sandbox, ID).exists(), there);
        if there {
            assert_eq!(files(&installed(&sandbox, ID)), whole, "round {round}");
            assert_eq!(host.ask("DELETE", &format!("/api/v1/plugins/{ID}"), None).status, 200);
        }
        assert_eq!(
            fs::read_dir(sandbox.state().join("ui_apps/.staging")).unwrap().count(),
            0,
            "round {round}"
        );
    }
}

/// A removal that is killed is finished, or has not begun.
#[test]
fn a_killed_removal_is_whole() {
    let sandbox = sandbox();
    let source = sandbox.root().join("source");
    version(&source, "1", 200_000);
    let whole = files(&source);
    let mut random = Random::new();
    for kill in 0..20 {
        if !installed(&sandbox, ID).exists() {
            good(&sandbox, &["plugin", "install", source.to_str().unwrap()]);
            write(&data_of(&sandbox, ID).join("notes.md"), "mine");
        }
        let mut command = sandbox.command(&["plugin", "remove", ID, "--data", "delete", "--json"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(random.below(40_000)));
        child.kill().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        child.wait().unwrap();
        good(&sandbox, &["plugin", "list"]);
        let (plugin, data) = (installed(&sandbox, ID), data_of(&sandbox, ID));
        if plugin.exists() {
            assert!(line.is_empty(), "kill {kill}: it said it was removed: {line}");
            assert_eq!(files(&plugin), whole, "kill {kill}, seed {}", random.seed());
            assert_eq!(fs::read_to_string(data.join("notes.md")).unwrap(), "mine");
        } else {
            assert!(!data.exists(), "kill {kill}, seed {}: the data was to go too", random.seed());
        }
    }
}
