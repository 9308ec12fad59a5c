//! Sessions on terminals and pipes: started, read, typed into, signalled, ended, found by others.

use super::*;

async fn capture(bench: &Bench, session: &str, arguments: Value) -> (Value, String) {
    let mut all = json!({ "session": session });
    all.as_object_mut().unwrap().extend(arguments.as_object().unwrap().clone());
    bench.call("session_capture_output", all).await
}

/// Reads until a text is there.
async fn printed(bench: &Bench, session: &str, text: &str) -> String {
    let began = Instant::now();
    loop {
        let result = capture(bench, session, json!({ "wait_ms": 200 })).await;
        let shown = result.0["data"]["text"].as_str().unwrap_or_default().to_owned();
        if shown.contains(text) {
            return shown;
        }
        assert!(began.elapsed() < PATIENCE, "`{text}` did not come: {}", result.1);
    }
}

async fn ended(bench: &Bench, session: &str) -> Value {
    let began = Instant::now();
    loop {
        let result = capture(bench, session, json!({ "wait_ms": 200 })).await;
        if result.0["data"]["state"] == "exited" {
            return result.0["data"].clone();
        }
        assert!(began.elapsed() < PATIENCE, "{session} does not end: {}", result.1);
    }
}

#[tokio::test]
async fn a_session_lives_on_and_answers() {
    let bench = Bench::new(quiet());
    let command = "test -t 0 && test -t 1 && echo terminal; stty size; read line; echo \"got:$line\"; exit 7";
    let started = bench.call("session_run", json!({ "command": command, "session": "talk", "preview_wait_ms": 5000, "cols": 100, "rows": 30 })).await;
    assert_eq!(started.0["status"], "ok", "{}", started.1);
    let session = &started.0["data"]["session"];
    assert_eq!(
        (&session["state"], &session["pty"], &session["name"]),
        (&json!("running"), &json!(true), &json!("talk"))
    );
    assert!(started.1.contains("Session: talk | running"), "{}", started.1);
    let shown = printed(&bench, "talk", "30 100").await;
    assert!(shown.contains("terminal"), "{shown}");
    let list = bench.call("session_list", json!({})).await;
    assert_eq!(
        (&list.0["data"]["count"], &list.0["data"]["sessions"][0]["running"]),
        (&json!(1), &json!(true))
    );
    let sent =
        bench.call("session_send_input", json!({ "session": "talk", "data": "hello", "enter": true })).await;
    assert_eq!(sent.0["data"]["bytes"], 6, "{}", sent.1);
    printed(&bench, "talk", "got:hello").await;
    let data = ended(&bench, "talk").await;
    assert_eq!((&data["exitCode"], &data["session"]["running"]), (&json!(7), &json!(false)));
    let late = bench.call("session_send_input", json!({ "session": "talk", "data": "x" })).await;
    assert_eq!(late.0["code"], "conflict", "{}", late.1);
    let again = bench.call("session_kill", json!({ "session": "talk" })).await;
    assert_eq!((&again.0["status"], &again.0["data"]["exitCode"]), (&json!("noop"), &json!(7)));
    let path = session["outputPath"].as_str().unwrap();
    assert!(std::fs::read_to_string(path).unwrap().contains("got:hello"));
    let state = std::fs::metadata(Path::new(path).parent().unwrap()).unwrap();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&state.permissions()) & 0o777, 0o700);
}

#[tokio::test]
async fn names_are_found_again_and_never_confused() {
    let bench = Bench::new(quiet());
    let mark = mark();
    let arguments = json!({ "command": format!("sleep {mark}"), "session": "web", "preview_wait_ms": 0 });
    assert_eq!(bench.call("session_run", arguments.clone()).await.0["status"], "ok");
    let again = bench.call("session_run", arguments).await;
    assert_eq!(
        (&again.0["status"], &again.0["data"]["reused"]),
        (&json!("noop"), &json!(true)),
        "{}",
        again.1
    );
    // It was not waited for, so its process may only be about to begin; a second one would come as well.
    let running = || alive(&format!("sleep {mark}")).iter().filter(|line| !line.contains("sh -c")).count();
    for _ in 0..200 {
        if running() > 0 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(25)).await;
    }
    assert_eq!(running(), 1);
    let other = bench.call("session_run", json!({ "command": "sleep 1", "session": "web" })).await;
    assert_eq!(code(&other), "conflict/exists", "{}", other.1);
    for (tool, arguments, expected) in [
        ("session_run", json!({ "command": "x", "session": "a b" }), "invalid:invalid_argument"),
        ("session_run", json!({ "command": "x", "session": "../x" }), "invalid:invalid_argument"),
        ("session_run", json!({ "command": "x", "session": "" }), "invalid:invalid_argument"),
        ("session_run", json!({ "command": "x", "cwd": ".." }), "permission_denied/outside_root"),
        ("session_run", json!({ "command": "rm -rf /" }), "permission_denied/shell_blocked"),
        ("session_run", json!({ "command": "x", "shell": "/tmp/sh" }), "permission_denied/shell_blocked"),
        ("session_run", json!({ "command": "x", "cols": 5 }), "invalid:invalid_argument"),
        ("session_capture_output", json!({ "session": "wep" }), "not_found:not_found"),
        ("session_send_input", json!({ "session": "none", "data": "x" }), "not_found:not_found"),
        ("session_send_signal", json!({ "session": "web", "signal": "SIGSEGV" }), "invalid:invalid_argument"),
        ("session_send_signal", json!({ "session": "web", "signal": "9" }), "invalid:invalid_argument"),
        ("session_kill", json!({ "session": "none" }), "not_found:not_found"),
    ] {
        let result = bench.call(tool, arguments.clone()).await;
        assert_eq!(code(&result), expected, "{tool} {arguments}: {}", result.1);
    }
    let near = capture(&bench, "wep", json!({})).await;
    assert_eq!(near.0["error"]["details"]["nearest"], json!(["web"]));
    let killed = bench.call("session_kill", json!({ "session": "web" })).await;
    assert_eq!(killed.0["status"], "ok", "{}", killed.1);
    assert_eq!(killed.0["data"]["signal"], "SIGTERM", "{}", killed.1);
    assert_eq!(alive(&mark), Vec::<String>::new());
}

#[tokio::test]
async fn killing_takes_everything_also_what_detached_and_ignores() {
    let bench = Bench::new(quiet());
    let mark = mark();
    let command = format!(
        "trap '' TERM HUP; setsid sh -c 'trap \"\" TERM HUP; sleep {mark}' & (setsid sleep {mark} &); echo up; sleep {mark}; sleep {mark}"
    );
    let started = bench
        .call("session_run", json!({ "command": command, "session": "stubborn", "preview_wait_ms": 5000 }))
        .await;
    assert_eq!(started.0["status"], "ok", "{}", started.1);
    until("all of them", || alive(&mark).len() >= 4).await;
    let killed = bench.call("session_kill", json!({ "session": "stubborn" })).await;
    assert_eq!(
        (&killed.0["status"], &killed.0["data"]["signal"]),
        (&json!("ok"), &json!("SIGKILL")),
        "{}",
        killed.1
    );
    assert_eq!(alive(&mark), Vec::<String>::new());
}

#[tokio::test]
async fn signals_reach_the_program() {
    let bench = Bench::new(quiet());
    let command =
        "trap 'echo usr1' USR1; trap 'echo int; exit 5' INT; echo ready; while :; do sleep 0.1; done";
    bench.call("session_run", json!({ "command": command, "session": "s" })).await;
    printed(&bench, "s", "ready").await;
    let sent = bench.call("session_send_signal", json!({ "session": "s", "signal": "SIGUSR1" })).await;
    assert_eq!(sent.0["data"], json!({ "session": "s", "signal": "SIGUSR1", "delivered": true }));
    printed(&bench, "s", "usr1").await;
    bench.call("session_send_input", json!({ "session": "s", "data": "\u{3}" })).await;
    printed(&bench, "s", "int").await;
    assert_eq!(ended(&bench, "s").await["exitCode"], 5);
    let late = bench.call("session_send_signal", json!({ "session": "s" })).await;
    assert_eq!(late.0["data"]["delivered"], false);
}

#[tokio::test]
async fn output_is_paged_and_the_oldest_goes() {
    let mut settings = quiet();
    settings.shell.session_log_bytes = 1 << 20;
    let bench = Bench::new(settings);
    bench
        .call(
            "session_run",
            json!({ "command": "seq 1 300000", "session": "flood", "pty": false, "preview_wait_ms": 0 }),
        )
        .await;
    let data = ended(&bench, "flood").await;
    assert_eq!((&data["total_lines"], &data["to_line"]), (&json!(300_000), &json!(300_000)));
    assert!(data["text"].as_str().unwrap().ends_with("299999\n300000\n"));
    assert_eq!(
        (&data["session"]["logTruncated"], &data["session"]["outputBytes"]),
        (&json!(true), &json!(1_988_895))
    );
    let page = capture(&bench, "flood", json!({ "from_line": 299_990, "lines": 10 })).await;
    assert_eq!(
        (&page.0["data"]["from_line"], &page.0["data"]["to_line"]),
        (&json!(299_990), &json!(299_999))
    );
    assert!(page.0["data"]["text"].as_str().unwrap().starts_with("299990\n"));
    let gone = capture(&bench, "flood", json!({ "from_line": 1, "lines": 10 })).await;
    assert_eq!(gone.0["data"]["truncated"], true, "{}", gone.1);
    assert!(gone.1.contains("earlier lines omitted"), "{}", gone.1);
    assert!(gone.0["data"]["from_line"].as_u64().unwrap() > 100_000);
    let path = data["session"]["outputPath"].as_str().unwrap();
    assert!(std::fs::metadata(path).unwrap().len() <= 1 << 20);
}

#[tokio::test]
async fn a_program_that_asks_is_reported_and_keeps_running() {
    let bench = Bench::new(quiet());
    let command = "printf 'Password: '; stty -echo; read p; echo; echo \"len ${#p}\"";
    let asks = bench
        .call("run_shell_command", json!({ "command": command, "interactive": true, "timeout_ms": 60000 }))
        .await;
    assert_eq!(
        (&asks.0["status"], &asks.0["code"]),
        (&json!("needs_input"), &json!("needs_input")),
        "{}",
        asks.1
    );
    let needs = &asks.0["data"]["needs"];
    assert_eq!((&needs["kind"], &needs["prompt_kind"]), (&json!("stdin"), &json!("password")), "{needs}");
    assert_eq!(needs["resume"]["tool"], "session_send_input");
    let session = needs["session"].as_str().unwrap().to_owned();
    assert!(asks.1.contains(&session), "{}", asks.1);
    let mut arguments = needs["resume"]["arguments"].clone();
    arguments["data"] = json!("hunter2-hunter2");
    bench.call("session_send_input", arguments).await;
    printed(&bench, &session, "len 15").await;
    assert_eq!(ended(&bench, &session).await["exitCode"], 0);
    let log = std::fs::read_to_string(bench.dir.path().join("state/tool-log.jsonl")).unwrap();
    assert!(!log.contains("hunter2"), "what is typed is in no log: {log}");
    let ends =
        bench.call("run_shell_command", json!({ "command": "echo hi; exit 4", "interactive": true })).await;
    assert_eq!((&ends.0["status"], &ends.0["data"]["exit_code"]), (&json!("ok"), &json!(4)), "{}", ends.1);
    assert_eq!(ends.0["data"]["stdout"]["text"], "hi\n");
    let mark = mark();
    let late = bench
        .call(
            "run_shell_command",
            json!({ "command": format!("echo x; sleep {mark}"), "interactive": true, "timeout_ms": 1000 }),
        )
        .await;
    assert_eq!(
        (code(&late).as_str(), &late.0["data"]["stdout"]["text"]),
        ("timeout:timeout", &json!("x\n")),
        "{}",
        late.1
    );
    assert_eq!(alive(&mark), Vec::<String>::new());
}

#[tokio::test]
async fn what_is_typed_into_a_shell_is_checked_like_a_command() {
    let bench = Bench::new(quiet());
    bench.call("session_run", json!({ "command": "sh", "session": "sh" })).await;
    let blocked =
        bench.call("session_send_input", json!({ "session": "sh", "data": "rm -rf /", "enter": true })).await;
    assert_eq!(code(&blocked), "permission_denied/shell_blocked", "{}", blocked.1);
    let fine = bench
        .call("session_send_input", json!({ "session": "sh", "data": "echo $((40+2))", "enter": true }))
        .await;
    assert_eq!(fine.0["status"], "ok", "{}", fine.1);
    printed(&bench, "sh", "42").await;
    bench.call("session_kill", json!({ "session": "sh" })).await;
}

#[tokio::test]
async fn another_process_finds_the_session_and_the_limit_holds() {
    let bench = Bench::new(quiet());
    bench.call("session_run", json!({ "command": "cat", "session": "shared", "pty": false })).await;
    // A second server on the same state directory, as another program would have.
    let other = testing::bench(quiet(), None);
    let home = home(bench.dir.path(), None, None);
    let second = Bench {
        server: server(&home),
        layer: other.layer,
        queue: other.queue,
        redactor: other.redactor,
        kept: Arc::default(),
        dir: bench.dir,
    };
    let sent = second.call("session_send_input", json!({ "session": "shared", "data": "from afar\n" })).await;
    assert_eq!(sent.0["status"], "ok", "{}", sent.1);
    printed(&second, "shared", "from afar").await;
    for n in 1..16 {
        let result = second
            .call(
                "session_run",
                json!({ "command": "cat", "session": format!("s{n}"), "preview_wait_ms": 0, "pty": false }),
            )
            .await;
        assert_eq!(result.0["status"], "ok", "{}", result.1);
    }
    let full = second.call("session_run", json!({ "command": "cat", "session": "one-more" })).await;
    assert_eq!(code(&full), "resource_exhausted/sessions", "{}", full.1);
    let killed = second.call("session_kill", json!({ "session": "shared" })).await;
    assert_eq!(killed.0["status"], "ok", "{}", killed.1);
    second.layer.close(Duration::from_secs(20)).await;
    bench.layer.close(Duration::from_secs(20)).await;
    let list = crate::sessions::all(&second.dir.path().join("state/shell"));
    assert!(list.iter().all(|found| !found.running()), "all of them ended with their servers");
}

#[tokio::test]
async fn a_program_that_never_reads_does_not_swallow_input_without_end() {
    let bench = Bench::new(quiet());
    bench
        .call(
            "session_run",
            json!({ "command": "sleep 1000", "session": "deaf", "pty": false, "preview_wait_ms": 0 }),
        )
        .await;
    let mut refused = None;
    for _ in 0..12 {
        let result =
            bench.call("session_send_input", json!({ "session": "deaf", "data": "x".repeat(60_000) })).await;
        if result.0["status"] != "ok" {
            refused = Some(code(&result));
            break;
        }
    }
    assert_eq!(refused.as_deref(), Some("resource_exhausted/output"));
    bench.call("session_kill", json!({ "session": "deaf" })).await;
}

#[tokio::test]
async fn an_ended_session_is_kept_for_a_week_and_then_removed() {
    let bench = Bench::new(quiet());
    for name in ["young", "old"] {
        bench.call("session_run", json!({ "command": "echo x", "session": name })).await;
        bench.call("session_kill", json!({ "session": name })).await;
    }
    let base = bench.dir.path().join("state/shell");
    let old = crate::sessions::all(&base).into_iter().find(|found| found.record.name == "old").unwrap();
    let eight_days_ago = std::time::SystemTime::now() - Duration::from_secs(8 * 24 * 3600);
    let meta = std::fs::File::options().write(true).open(old.dir.join("meta.json")).unwrap();
    meta.set_modified(eight_days_ago).unwrap();
    let listed = bench.call("session_list", json!({})).await;
    let names: Vec<&str> = listed.0["data"]["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|session| session["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["young"], "{}", listed.1);
    assert!(!old.dir.exists(), "its files are gone too");
}
