//! A wall clock that somebody sets while the real program runs (inbox §1.6); `libfaketime` sets it for that
//! program alone.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

use std::path::PathBuf;

use chatos_testkit::{RunningHost, Sandbox, eventually};
use serde_json::{Value, json};

/// The library of Debian's package `libfaketime`, which `./scripts/setup` installs.
fn faketime() -> PathBuf {
    let folders = std::fs::read_dir("/usr/lib").unwrap().flatten().map(|entry| entry.path());
    let found = folders.map(|folder| folder.join("faketime/libfaketime.so.1")).find(|file| file.is_file());
    found.unwrap_or_else(|| panic!("libfaketime is missing: run `./scripts/setup test`"))
}

fn ask(host: &RunningHost, timeout_ms: u64) -> String {
    let prompt = json!({ "kind": "kv", "fields": [{ "key": "a" }], "timeoutMs": timeout_ms });
    let asked = host.ask("POST", "/api/v1/prompts", Some(&json!({ "prompt": prompt })));
    assert_eq!(asked.status, 200, "{}", asked.text());
    asked.json()["requestId"].as_str().unwrap().to_owned()
}

fn item(host: &RunningHost, id: &str) -> Value {
    host.ask("GET", &format!("/api/v1/prompts/{id}"), None).json()
}

#[test]
fn setting_the_clock_ends_no_question_and_keeps_none() {
    let mut sandbox = Sandbox::new(env!("CARGO_BIN_EXE_chatos"));
    let clock = sandbox.root().join("clock");
    let set = |by: &str| std::fs::write(&clock, by).unwrap();
    set("+0");
    sandbox.set_variable("LD_PRELOAD", faketime().to_str().unwrap());
    sandbox.set_variable("FAKETIME_TIMESTAMP_FILE", clock.to_str().unwrap());
    sandbox.set_variable("FAKETIME_NO_CACHE", "1");
    // Only the wall clock can be set; the others are the machine's.
    sandbox.set_variable("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    let host = sandbox.serve();
    let mut waiting = Vec::new();
    for by in ["-10d", "+3650d", "-20d", "+0"] {
        set(by);
        // One that has an hour, one that has a second: when the second is over, the hour is not.
        waiting.push(ask(&host, 3_600_000));
        let short = ask(&host, 1_000);
        let ended = eventually("the end of its time", || {
            let item = item(&host, &short);
            (item["state"] == "closed").then_some(item)
        });
        assert_eq!(ended["answer"]["response"]["status"], "timeout", "set by {by}: {ended}");
        for id in &waiting {
            let item = item(&host, id);
            assert_eq!(item["state"], "pending", "set by {by}: {item}");
        }
    }
    let asked = |id: &String| item(&host, id)["ts"].as_str().unwrap().to_owned();
    assert!(asked(&waiting[1]) > asked(&waiting[3]), "the clock was not set");
    // Started anew, with another clock again.
    host.stop();
    set("-400d");
    let host = sandbox.serve();
    for id in &waiting {
        let item = item(&host, id);
        assert_eq!(item["state"], "pending", "started anew: {item}");
    }
    host.stop();
}
