//! A wall clock that somebody sets while the real program runs (inbox §1.6); `libfaketime` sets it for that
//! program alone.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

use std::path::PathBuf;
use std::time::{Duration, Instant};

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

/// A place whose wall clock is set by what is written into the file.
fn place() -> (Sandbox, PathBuf) {
    let mut sandbox = Sandbox::new(env!("CARGO_BIN_EXE_chatos"));
    let clock = sandbox.root().join("clock");
    std::fs::write(&clock, "+0").unwrap();
    sandbox.set_variable("LD_PRELOAD", faketime().to_str().unwrap());
    sandbox.set_variable("FAKETIME_TIMESTAMP_FILE", clock.to_str().unwrap());
    sandbox.set_variable("FAKETIME_NO_CACHE", "1");
    // Only the wall clock can be set; the others are the machine's.
    sandbox.set_variable("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    sandbox.set_variable("CHATOS_SET_CONFIRM_FILE_CHANGES", "true");
    (sandbox, clock)
}

/// Writes a file; gives by which rule, or that somebody had to be asked, who says no.
fn written(host: &RunningHost, root: &std::path::Path, rule: bool) -> Option<String> {
    let mut wire = host.connect();
    let (token, root) = (host.token.clone(), root.to_owned());
    let call = std::thread::spawn(move || {
        let arguments = json!({ "path": "a.txt", "contents": "x\n", "mode": "append" });
        let body =
            json!({ "server": "code_writer", "tool": "write_file", "root": root, "arguments": arguments });
        wire.ask(&token, "POST", "/api/v1/tools/call", Some(&body)).unwrap().json()
    });
    let mut answered = false;
    eventually("the call is over", || {
        let list = host.ask("GET", "/api/v1/prompts?view=needs_you", None).json();
        let found = list["items"].as_array().unwrap().iter().find(|item| item["effect"] == "file_change");
        if let Some(id) = found.and_then(|item| item["requestId"].as_str())
            && !answered
        {
            let shown = item(host, id)["shown"].clone();
            let mut body = json!({ "response": { "status": "canceled" }, "shown": shown });
            if rule {
                body["response"]["status"] = json!("ok");
                body["rule"] = json!({ "scope": "project", "days": 5 });
            }
            let done = host.ask("POST", &format!("/api/v1/prompts/{id}/response"), Some(&body));
            assert_eq!(done.status, 200, "{}", done.text());
            answered = true;
        }
        call.is_finished().then_some(())
    });
    let said = call.join().unwrap();
    assert_eq!(answered, said["structuredContent"]["data"]["by_rule"].is_null(), "{said}");
    said["structuredContent"]["data"]["by_rule"].as_str().map(str::to_owned)
}

/// A rule holds between its making and its end by the wall clock. Wherever that is set, the worst that happens is a
/// question; set right again, the rule answers as before.
#[test]
fn a_clock_that_is_set_makes_no_rule_answer_outside_its_days() {
    let (sandbox, clock) = place();
    let set = |by: &str| std::fs::write(&clock, by).unwrap();
    let root = sandbox.root().join("work");
    std::fs::create_dir(&root).unwrap();
    let mut host = sandbox.serve();
    assert_eq!(written(&host, &root, true), None);
    for (by, rules) in [
        ("+0", true),
        ("-10d", false),
        ("+3650d", false),
        ("+4d", true),
        ("+6d", false),
        ("-1d", false),
        ("+0", true),
    ] {
        set(by);
        assert_eq!(written(&host, &root, false).is_some(), rules, "set by {by}");
        host.stop();
        host = sandbox.serve();
        assert_eq!(written(&host, &root, false).is_some(), rules, "set by {by}, started anew");
    }
    host.stop();
}

#[test]
fn setting_the_clock_ends_no_question_and_keeps_none() {
    let (sandbox, clock) = place();
    let set = |by: &str| std::fs::write(&clock, by).unwrap();
    let host = sandbox.serve();
    let mut waiting = Vec::new();
    for by in ["-10d", "+3650d", "-20d", "+0"] {
        set(by);
        // One that has an hour, one that has three seconds and one that has four: when these are over, the hour is not.
        waiting.push(ask(&host, 3_600_000));
        let began = Instant::now();
        let (short, longer) = (ask(&host, 3_000), ask(&host, 4_000));
        let ended = eventually("the end of its time", || {
            let item = item(&host, &short);
            (item["state"] == "closed").then_some(item)
        });
        assert_eq!(ended["answer"]["response"]["status"], "timeout", "set by {by}: {ended}");
        let took = began.elapsed();
        println!("3 s with the clock set by {by}: ended after {took:?}");
        assert!(took >= Duration::from_secs(3), "set by {by}: ended early, after {took:?}");
        // Whoever sleeps until a set clock comes round would be here much later, if at all.
        assert!(took < Duration::from_secs(30), "set by {by}: nobody looked for {took:?}");
        // The clock is set once more while the other one waits.
        set("+30d");
        eventually("the end of the other one", || (item(&host, &longer)["state"] == "closed").then_some(()));
        set(by);
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
