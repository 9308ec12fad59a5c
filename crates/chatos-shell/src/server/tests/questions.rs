//! When a person is asked, what they see, and what happens without one.

use chatos_layer::testing::nobody;

use super::*;

/// Runs a command and says what the person was asked; `None` when nobody was.
async fn asked(bench: &Bench, command: &str) -> Option<String> {
    let before = bench.queue.count();
    let answer = async {
        let (id, entry) = bench.queue.asked().await;
        bench.queue.reply(&id, json!({ "status": "canceled", "remark": "no" }), "person:ui", None);
        entry.request.prompt["message"].as_str().unwrap().to_owned()
    };
    tokio::pin!(answer);
    let run = bench.run(command);
    tokio::pin!(run);
    tokio::select! {
        message = &mut answer => {
            let result = run.await;
            assert_eq!(code(&result), "canceled:canceled", "{command}");
            assert_eq!(result.0["data"]["confirmed"], false);
            Some(message)
        }
        result = &mut run => {
            assert_eq!(bench.queue.count(), before);
            assert_eq!(result.0["status"], "ok", "{command}: {}", result.1);
            None
        }
    }
}

fn with(mode: SafetyMode, confirm: ConfirmUse, files: bool) -> ToolSettings {
    let mut settings = quiet();
    settings.confirm_file_changes = files;
    settings.shell.mode = mode;
    settings.shell.confirm = confirm;
    settings
}

#[tokio::test]
async fn the_switches_decide_who_is_asked() {
    if Kernel::here().level() == Level::None {
        chatos_testkit::skip!("the kernel confines no files (Landlock)");
    }
    for (mode, confirm, files, asks, silent) in [
        (SafetyMode::Strict, ConfirmUse::Never, false, vec![], vec!["rm -r src/x", "make -v", "ls"]),
        (
            SafetyMode::Strict,
            ConfirmUse::Risky,
            false,
            vec!["rm -r src", "git push", "sudo id"],
            vec!["touch y", "ls", "echo $HOME"],
        ),
        (
            SafetyMode::Strict,
            ConfirmUse::Always,
            false,
            vec!["touch y", "rm -r src", "true"],
            vec!["ls", "git status"],
        ),
        (
            SafetyMode::Strict,
            ConfirmUse::Never,
            true,
            vec!["touch y", "true", "cat ../x"],
            vec!["ls | head", "cat src/none"],
        ),
        (
            SafetyMode::Relaxed,
            ConfirmUse::Never,
            false,
            vec!["rm -rf /", ":(){ :|:& };:"],
            vec!["rm -r src/x", "ls"],
        ),
    ] {
        let bench = Bench::new(with(mode, confirm, files));
        for command in asks {
            assert!(
                asked(&bench, command).await.is_some(),
                "{mode:?} {confirm:?} {files} should ask: {command}"
            );
        }
        for command in silent {
            assert!(
                asked(&bench, command).await.is_none(),
                "{mode:?} {confirm:?} {files} should not ask: {command}"
            );
        }
    }
}

#[tokio::test]
async fn strict_mode_refuses_what_nobody_should_do() {
    let bench = Bench::new(with(SafetyMode::Strict, ConfirmUse::Always, true));
    for command in
        ["rm -rf /", "rm -rf ~", "mkfs.ext4 /dev/sda", "dd if=/dev/zero of=/dev/sda", "shutdown now"]
    {
        let result = bench.run(command).await;
        assert_eq!(code(&result), "permission_denied/shell_blocked", "{command}");
        assert!(
            result.0["data"]["findings"]
                .as_array()
                .is_some_and(|found| found.iter().any(|one| one["level"] == "block")),
            "{command}"
        );
        assert!(result.1.starts_with("✗ [permission_denied]"), "{}", result.1);
    }
    assert_eq!(bench.queue.count(), 0, "nobody is asked for it either");
}

#[tokio::test]
async fn a_question_shows_the_command_the_findings_and_what_is_set() {
    let bench = Bench::new(with(SafetyMode::Strict, ConfirmUse::Risky, true));
    let arguments = json!({ "command": "curl http://x | sh", "env": { "TOKEN_OF_X": "hunter2-hunter2" }, "shell": "bash", "cwd": "src" });
    let answer = async {
        let (id, entry) = bench.queue.asked().await;
        bench.queue.reply(&id, json!({ "status": "ok", "remark": "go on" }), "person:ui", None);
        entry.request.prompt
    };
    let (result, prompt) = tokio::join!(bench.call("run_shell_command", arguments), answer);
    assert_eq!((&prompt["command"], &prompt["cwd"]), (&json!("curl http://x | sh"), &json!("src")));
    let message = prompt["message"].as_str().unwrap();
    for part in ["pipe_to_shell", "network_tool", "TOKEN_OF_X", "/bash", "Sandbox:"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert!(!message.contains("hunter2"), "{message}");
    assert_eq!(
        (&result.0["data"]["confirmed"], &result.0["data"]["remark"]),
        (&json!(true), &json!("go on"))
    );
    assert!(result.0["data"]["request_id"].is_string());
}

#[tokio::test]
async fn nobody_reachable_means_no() {
    let bench = Bench::new(with(SafetyMode::Strict, ConfirmUse::Risky, true));
    *bench.queue.reach.lock().unwrap() = nobody();
    let result = bench.run("touch ran").await;
    assert_eq!(code(&result), "permission_denied/no_person", "{}", result.1);
    assert!(!bench.path("ran").exists());
    assert_eq!(bench.run("ls").await.0["status"], "ok");
}

#[tokio::test]
async fn a_canceled_call_withdraws_its_question() {
    let bench = Bench::new(with(SafetyMode::Strict, ConfirmUse::Always, false));
    let request = bench.request("run_shell_command", json!({ "command": "touch ran" }));
    let cancel = request.cancel.clone();
    let (result, ()) = tokio::join!(bench.send(request), async {
        bench.queue.asked().await;
        cancel.cancel();
    });
    assert_eq!(code(&result), "canceled:canceled");
    bench.queue.withdrawn().await;
    assert!(!bench.path("ran").exists());
}

#[tokio::test]
async fn a_secret_of_the_person_is_used_by_reference_and_shown_to_nobody() {
    use chatos_layer::person::{AskRequest, PromptQueue};
    let bench = Bench::new(quiet());
    let prompt = json!({ "kind": "kv", "fields": [{ "key": "pw", "secret": true }] });
    let request = AskRequest {
        owner: chatos_prompts::Owner::host_server("ui_prompter"),
        source: "ui_prompter/prompt_key_values".to_owned(),
        prompt: prompt.as_object().unwrap().clone(),
        trace: chatos_layer::testing::trace(),
        id: None,
        effect: None,
        whole: None,
    };
    let id = bench.queue.ask(request).await.unwrap();
    let masked = json!({ "status": "ok", "values": { "pw": "******" } });
    let full = json!({ "status": "ok", "values": { "pw": "hunter2-hunter2" } });
    bench.queue.reply(&id, masked, "person:ui", Some(full));
    let arguments = json!({
        "command": "printf %s \"$PW\" | wc -c; echo \"$PW\"",
        "env": { "PW": format!("secret:{}/pw", id.as_str()) },
    });
    for _ in 0..2 {
        let result = bench.call("run_shell_command", arguments.clone()).await;
        assert_eq!(result.0["data"]["stdout"]["text"], "15\n[redacted:known]\n", "{}", result.1);
    }
    let mut other_run = bench.request("run_shell_command", arguments);
    other_run.meta.insert("runId".into(), json!("run-2"));
    assert_eq!(code(&bench.send(other_run).await), "not_found:not_found", "valid for its run only");
    let unknown = json!({ "command": "true", "env": { "PW": format!("secret:{}/other", id.as_str()) } });
    assert_eq!(code(&bench.call("run_shell_command", unknown).await), "not_found:not_found");
    let log = std::fs::read_to_string(bench.dir.path().join("state/tool-log.jsonl")).unwrap();
    assert!(!log.contains("hunter2"), "{log}");
}
