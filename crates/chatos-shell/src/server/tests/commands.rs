//! `run_shell_command` and `list_workspace_files`: output, endings, bad input.

use super::*;

#[tokio::test]
async fn a_command_answers_with_everything_about_it() {
    let bench = Bench::new(quiet());
    let result = bench.run("echo out; echo err >&2; exit 3").await;
    let data = &result.0["data"];
    assert_eq!(result.0["status"], "ok", "a non-zero exit is a result: {}", result.1);
    assert_eq!(
        (&data["exit_code"], &data["signal"], &data["timed_out"]),
        (&json!(3), &json!(null), &json!(false))
    );
    assert_eq!((&data["stdout"]["text"], &data["stderr"]["text"]), (&json!("out\n"), &json!("err\n")));
    assert_eq!(
        (&data["cwd"], &data["shell"], &data["mode"]),
        (&json!("."), &json!("/bin/sh"), &json!("strict"))
    );
    assert!(
        result.1.starts_with("$ echo out; echo err >&2; exit 3 | cwd: . | exit code: 3 | elapsed: "),
        "{}",
        result.1
    );
    assert!(
        result.1.contains(&format!("\n{}\nSTDOUT:\nout\n\nSTDERR:\nerr", "-".repeat(40))),
        "{}",
        result.1
    );
    let silent = bench.run("true").await;
    assert!(silent.1.ends_with("STDOUT: <empty>\n\nSTDERR: <empty>"), "{}", silent.1);
}

#[tokio::test]
async fn supervisors_are_used_again_and_nothing_of_one_command_is_in_the_next() {
    let bench = Bench::new(quiet());
    for round in 0..5 {
        let result = bench
            .call(
                "run_shell_command",
                json!({ "command": "echo $ROUND; ulimit -t", "env": { "ROUND": round.to_string() } }),
            )
            .await;
        assert!(
            result.0["data"]["stdout"]["text"].as_str().unwrap().starts_with(&format!("{round}\n")),
            "{}",
            result.1
        );
    }
    let many: Vec<_> =
        (0..12).map(|n| bench.run(Box::leak(format!("echo {n}; sleep 0.05").into_boxed_str()))).collect();
    for (n, result) in futures_util::future::join_all(many).await.into_iter().enumerate() {
        assert_eq!(result.0["data"]["stdout"]["text"], format!("{n}\n"));
    }
}

#[tokio::test]
async fn signals_directories_environment_and_shells() {
    let bench = Bench::new(quiet());
    let killed = bench.run("kill -SEGV $$").await;
    assert_eq!(
        (&killed.0["data"]["exit_code"], &killed.0["data"]["signal"]),
        (&json!(null), &json!("SIGSEGV"))
    );
    assert!(killed.1.contains("signal: SIGSEGV"));
    let there = bench.call("run_shell_command", json!({ "command": "pwd", "cwd": "src" })).await;
    let expected = format!("{}\n", bench.path("src").canonicalize().unwrap().display());
    assert_eq!(there.0["data"]["stdout"]["text"], expected);
    let env = bench.call("run_shell_command", json!({ "command": "env", "env": { "MINE": "yes" } })).await;
    let text = env.0["data"]["stdout"]["text"].as_str().unwrap().to_owned();
    assert!(
        text.contains("MINE=yes\n")
            && text.contains("PAGER=cat\n")
            && text.contains("GIT_TERMINAL_PROMPT=0\n")
    );
    assert!(!text.contains("canary"), "row 49: {text}");
    let temp = text.lines().find_map(|line| line.strip_prefix("TMPDIR=")).unwrap();
    assert!(!Path::new(temp).exists(), "the private directory is gone afterwards");
    let made = bench.run("echo x > $TMPDIR/f && cat $TMPDIR/f").await;
    assert_eq!(made.0["data"]["stdout"]["text"], "x\n", "{}", made.1);
    let bash = bench
        .call("run_shell_command", json!({ "command": "echo ${BASH_VERSION:+bash}", "shell": "bash" }))
        .await;
    assert_eq!(bash.0["data"]["stdout"]["text"], "bash\n");
}

#[tokio::test]
async fn bad_arguments_are_refused_before_anything_runs() {
    let bench = Bench::new(quiet());
    std::os::unix::fs::symlink("/etc", bench.path("out")).unwrap();
    std::os::unix::fs::symlink("missing", bench.path("dangling")).unwrap();
    std::fs::write(bench.path("file"), "x").unwrap();
    let touch = "touch ran";
    for (arguments, expected) in [
        (json!({}), "invalid:invalid_argument"),
        (json!({ "command": "" }), "invalid:invalid_argument"),
        (json!({ "command": "   " }), "invalid:invalid_argument"),
        (json!({ "command": "touch ran\0" }), "invalid:invalid_argument"),
        (json!({ "command": "x".repeat(32_769) }), "invalid:invalid_argument"),
        (json!({ "command": touch, "comand": 1 }), "invalid:invalid_argument"),
        (json!({ "command": touch, "timeout_ms": 999 }), "invalid:invalid_argument"),
        (json!({ "command": touch, "timeout_ms": 900_001 }), "invalid:invalid_argument"),
        (json!({ "command": touch, "env": { "A B": "x" } }), "invalid:invalid_argument"),
        (json!({ "command": touch, "env": { "A": 1 } }), "invalid:invalid_argument"),
        (json!({ "command": touch, "env": { "A": "x\0y" } }), "invalid:invalid_argument"),
        (json!({ "command": touch, "env": { "A": "x".repeat(8193) } }), "invalid:invalid_argument"),
        (json!({ "command": touch, "env": { "LD_PRELOAD": "x" } }), "permission_denied/shell_blocked"),
        (json!({ "command": touch, "env": { "BASH_ENV": "x" } }), "permission_denied/shell_blocked"),
        (json!({ "command": touch, "env": { "CHATOS_X": "x" } }), "permission_denied/shell_blocked"),
        (json!({ "command": touch, "shell": "python3" }), "permission_denied/shell_blocked"),
        (json!({ "command": touch, "shell": "/tmp/sh" }), "permission_denied/shell_blocked"),
        (json!({ "command": touch, "cwd": "missing" }), "not_found:not_found"),
        (json!({ "command": touch, "cwd": "dangling" }), "not_found:not_found"),
        (json!({ "command": touch, "cwd": "file" }), "invalid:invalid_argument"),
        (json!({ "command": touch, "cwd": ".." }), "permission_denied/outside_root"),
        (json!({ "command": touch, "cwd": "src/../.." }), "permission_denied/outside_root"),
        (json!({ "command": touch, "cwd": "/etc" }), "permission_denied/outside_root"),
        (json!({ "command": touch, "cwd": "/proc/self/root" }), "permission_denied/outside_root"),
        (json!({ "command": touch, "cwd": "out" }), "permission_denied/symlink_escape"),
        (json!({ "command": touch, "cwd": "out/ssl" }), "permission_denied/symlink_escape"),
        (json!({ "command": touch, "cwd": "x\0y" }), "invalid:invalid_argument"),
    ] {
        let result = bench.call("run_shell_command", arguments.clone()).await;
        assert_eq!(code(&result), expected, "{arguments}: {}", result.1);
    }
    let typo = bench.call("run_shell_command", json!({ "command": "true", "timeoutMs": 5000 })).await;
    assert!(typo.1.contains("timeout_ms"), "{}", typo.1);
    assert!(!bench.path("ran").exists());
    let state = bench.dir.path().join("state");
    assert!(!state.join("shell").exists(), "nothing was started");
}

#[tokio::test]
async fn the_deadline_ends_the_whole_tree_and_keeps_what_was_printed() {
    let bench = Bench::new(quiet());
    let mark = mark();
    // Ignores TERM, detaches a child with setsid, double-forks another.
    let command = format!(
        "trap '' TERM; (setsid sleep {mark} &) ; setsid sh -c 'trap \"\" TERM; sleep {mark}' & echo before; sleep {mark}"
    );
    let result = bench.call("run_shell_command", json!({ "command": command, "timeout_ms": 1000 })).await;
    assert_eq!(code(&result), "timeout:timeout", "{}", result.1);
    assert_eq!(
        (&result.0["data"]["timed_out"], &result.0["data"]["stdout"]["text"]),
        (&json!(true), &json!("before\n"))
    );
    assert!(
        result.1.contains("timed out") && result.1.contains("before"),
        "the text alone is enough: {}",
        result.1
    );
    assert_eq!(alive(&mark), Vec::<String>::new());
}

#[tokio::test]
async fn a_canceled_call_answers_at_once_and_its_command_ends() {
    let bench = Bench::new(quiet());
    let mark = mark();
    let command = format!("echo started; sleep {mark} & sleep {mark}");
    let request = bench.request("run_shell_command", json!({ "command": command }));
    let cancel = request.cancel.clone();
    let (result, ()) = tokio::join!(bench.send(request), async {
        until("the command", || alive(&mark).len() >= 2).await;
        cancel.cancel();
    });
    assert_eq!(code(&result), "canceled:canceled");
    assert_eq!(result.0["data"]["stdout"]["text"], "started\n");
    until("the end of the command", || alive(&mark).is_empty()).await;
}

#[tokio::test]
async fn floods_are_read_to_their_end_in_bounded_memory() {
    let settings = quiet();
    let bench = Bench::new(settings);
    let result = bench.run("i=0; while [ $i -lt 200 ]; do head -c 100000 /dev/zero | tr '\\0' 'x'; echo; i=$((i+1)); done; echo THE-END").await;
    let stdout = &result.0["data"]["stdout"];
    assert_eq!(stdout["bytes"], json!(200 * 100_001 + 8), "{}", result.1.len());
    assert_eq!(stdout["truncated"], true);
    assert!(stdout["text"].as_str().unwrap().ends_with("THE-END\n"));
    assert_eq!(result.0["data"]["exit_code"], 0);
    assert!(result.1.chars().count() <= 120_000, "{}", result.1.chars().count());
    let cuts = result.0["_meta"]["truncated"].as_array().unwrap();
    assert!(cuts.iter().any(|cut| cut["field"] == "/stdout/text" && cut["keep"] == "head+tail"), "{cuts:?}");
    let endless = bench.call("run_shell_command", json!({ "command": "yes", "timeout_ms": 1000 })).await;
    assert_eq!(code(&endless), "timeout:timeout");
    assert!(endless.0["data"]["stdout"]["bytes"].as_u64().unwrap() > 1 << 20);
    assert!(endless.0["data"]["stdout"]["text"].as_str().unwrap().len() < 600_000);
}

#[tokio::test]
async fn odd_output_is_made_readable() {
    let bench = Bench::new(quiet());
    for (command, text) in [
        ("printf '\\377\\376abc\\n'", "\u{fffd}\u{fffd}abc\n"),
        ("printf '\\033[31mred\\033[0m\\n'", "red\n"),
        ("printf '1%%\\r50%%\\r100%%\\n'", "100%\n"),
        ("printf 'a\\r\\nb\\r\\n'", "a\nb\n"),
        ("printf 'no newline'", "no newline"),
        ("printf '\\177ELF\\0\\0\\0\\0'", "[binary output, 8 bytes]"),
    ] {
        let result = bench.run(command).await;
        assert_eq!(result.0["data"]["stdout"]["text"], text, "{command}");
    }
}

#[tokio::test]
async fn input_is_empty_and_a_question_is_only_a_hint() {
    let bench = Bench::new(quiet());
    let cat = bench.run("cat; read x; echo \"got:$x\"").await;
    assert_eq!(cat.0["data"]["stdout"]["text"], "got:\n");
    // Row 9: prints a question, goes on by itself, and is not ended because of it.
    let result = bench.run("printf 'Password: '; sleep 3; printf '\\ndone\\n'").await;
    assert_eq!((&result.0["status"], &result.0["data"]["exit_code"]), (&json!("ok"), &json!(0)));
    assert!(result.0["data"]["stdout"]["text"].as_str().unwrap().ends_with("done\n"));
    let stuck = bench
        .call("run_shell_command", json!({ "command": "printf 'Password: '; sleep 30", "timeout_ms": 4000 }))
        .await;
    assert_eq!(stuck.0["data"]["input_hint"]["kind"], "password", "{}", stuck.1);
    let no_terminal = bench.run("test -t 0 || echo none; (: < /dev/tty) 2>/dev/null || echo no tty").await;
    assert_eq!(no_terminal.0["data"]["stdout"]["text"], "none\nno tty\n");
}

#[tokio::test]
async fn a_background_child_does_not_hold_the_call() {
    let bench = Bench::new(quiet());
    let mark = mark();
    let result = bench.run(&format!("sleep {mark} & echo here")).await;
    assert_eq!((&result.0["status"], &result.0["data"]["exit_code"]), (&json!("ok"), &json!(0)));
    assert_eq!(result.0["data"]["stdout"]["text"], "here\n");
    assert!(ids(&result).contains(&"output_held".to_owned()), "{}", result.1);
    // servers §3.5: it is ended at the end of the server, not before.
    assert_eq!(alive(&mark).len(), 1);
    bench.layer.close(Duration::from_secs(10)).await;
    assert_eq!(alive(&mark), Vec::<String>::new());
}

#[tokio::test]
async fn changes_are_found_recorded_and_never_put_back() {
    let bench = Bench::new(quiet());
    std::fs::write(bench.path("src/a.txt"), "old\n").unwrap();
    std::fs::write(bench.path("gone.txt"), "x\n").unwrap();
    std::fs::write(bench.path(".gitignore"), "build/\n").unwrap();
    std::fs::create_dir(bench.path("build")).unwrap();
    let result =
        bench.run("echo new > src/a.txt; echo b > src/b.txt; rm gone.txt; echo x > build/x; exit 1").await;
    assert_eq!(
        result.0["data"]["changed_files"],
        json!([
            { "path": "gone.txt", "change": "deleted" },
            { "path": "src/a.txt", "change": "modified" },
            { "path": "src/b.txt", "change": "created" },
        ]),
        "{}",
        result.1
    );
    let kept = bench.kept.0.lock().unwrap().clone();
    let modified = kept.iter().find(|(_, change)| change.path == "src/a.txt").unwrap();
    assert!(modified.1.diff.contains("-old") && modified.1.diff.contains("+new"), "{}", modified.1.diff);
    assert_eq!((modified.0.server, modified.0.tool), ("shell_tasks", "run_shell_command"));
    assert_eq!(std::fs::read_to_string(bench.path("src/a.txt")).unwrap(), "new\n", "row 11");
    let none = bench.run("ls; cat src/a.txt").await;
    assert_eq!(none.0["data"]["changed_files"], json!(null));
}

#[tokio::test]
async fn listing_names() {
    let bench = Bench::new(quiet());
    std::fs::write(bench.path("b.txt"), "").unwrap();
    std::fs::write(bench.path(".hidden"), "").unwrap();
    std::os::unix::fs::symlink("/etc", bench.path("link")).unwrap();
    let result = bench.call("list_workspace_files", json!({})).await;
    assert_eq!(result.1, "- .hidden\n- b.txt\n- link\n- src");
    assert_eq!(result.0["data"]["entries"][2], json!({ "name": "link", "type": "symlink" }));
    let empty = bench.call("list_workspace_files", json!({ "path": "src" })).await;
    assert_eq!((empty.1.as_str(), &empty.0["data"]["total"]), ("<empty>", &json!(0)));
    for (path, expected) in [
        ("b.txt", "invalid:invalid_argument"),
        ("none", "not_found:not_found"),
        ("..", "permission_denied/outside_root"),
        ("link", "permission_denied/symlink_escape"),
    ] {
        let result = bench.call("list_workspace_files", json!({ "path": path })).await;
        assert_eq!(code(&result), expected, "{path}");
    }
    for n in 0..150 {
        std::fs::write(bench.path(&format!("src/{n:03}")), "").unwrap();
    }
    let cut = bench.call("list_workspace_files", json!({ "path": "src" })).await;
    assert_eq!((&cut.0["data"]["total"], &cut.0["data"]["truncated"]), (&json!(150), &json!(true)));
    assert!(cut.1.contains("- 099\n") && !cut.1.contains("- 100\n") && cut.1.contains("50 more names"));
}

#[tokio::test]
async fn secrets_do_not_reach_results_or_the_log() {
    let bench = Bench::new(quiet());
    bench.redactor.learn("hunter2-hunter2");
    let result = bench
        .call("run_shell_command", json!({ "command": "echo $PASS", "env": { "PASS": "hunter2-hunter2" } }))
        .await;
    assert_eq!(result.0["data"]["stdout"]["text"], "[redacted:known]\n");
    bench.run("echo --token abcdefgh12345678 > /dev/null").await;
    let log = std::fs::read_to_string(bench.dir.path().join("state/tool-log.jsonl")).unwrap();
    assert!(!log.contains("hunter2") && !log.contains("abcdefgh12345678"), "{log}");
    assert!(log.contains("\"PASS\":\"[redacted:env]\""), "{log}");
}

#[tokio::test]
async fn a_runaway_that_forks_is_ended() {
    let bench = Bench::new(quiet());
    let mark = mark();
    // Not the famous one, which is refused: a loop that leaves hundreds behind and detaches them.
    let command = format!(
        "i=0; while [ $i -lt 300 ]; do (setsid sleep {mark} >/dev/null 2>&1 &); i=$((i+1)); done; sleep {mark}"
    );
    let result = bench.call("run_shell_command", json!({ "command": command, "timeout_ms": 15000 })).await;
    assert_eq!(code(&result), "timeout:timeout");
    until("the end of all", || alive(&mark).is_empty()).await;
    let bomb = bench.run(":(){ :|:& };:").await;
    assert_eq!(code(&bomb), "permission_denied/shell_blocked");
    assert!(ids(&bomb).contains(&"fork_bomb".to_owned()));
}
