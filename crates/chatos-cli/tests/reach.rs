//! Being told elsewhere and putting off, with the real program: a question asked while no host runs is told once by the
//! next one, a killed host repeats nothing, and the commands do what they say (inbox §3.4, §5).
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use chatos_testkit::{BOT_TOKEN, Receiver, Sandbox, Telegram, child, eventually, skip};
use serde_json::{Value, json};

fn place() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_chatos"))
}

/// Asks without waiting; gives the id.
fn ask(sandbox: &Sandbox, title: &str) -> String {
    let prompt = json!({ "kind": "choice", "title": title, "options": [{ "value": "a" }, { "value": "b" }] });
    let file = sandbox.root().join("question.json");
    std::fs::write(&file, prompt.to_string()).unwrap();
    let asked = sandbox.run(&["prompts", "request", "--file", file.to_str().unwrap(), "--json"]).json();
    asked["requestId"].as_str().unwrap().to_owned()
}

#[test]
fn what_was_asked_without_a_host_is_told_once_and_a_killed_host_repeats_nothing() {
    let (sandbox, receiver) = (place(), Receiver::start());
    let url = receiver.url("/hook");
    let added = sandbox.run(&[
        "reach",
        "add",
        "webhook",
        &url,
        "--name",
        "room",
        "--privacy",
        "title",
        "--delay",
        "0",
        "--on-my-network",
        "--json",
    ]);
    assert_eq!(added.status, 0, "{added:?}");
    ask(&sandbox, "Told by the next host?");
    assert_eq!(receiver.received().len(), 0);
    let host = sandbox.serve();
    let told = eventually("the question is told", || receiver.received().first().cloned());
    assert!(told.body.contains("Told by the next host?"), "{}", told.body);
    host.kill();
    let host = sandbox.serve();
    let test = sandbox.run(&["reach", "test", "room", "--json"]);
    assert_eq!(test.status, 0, "{test:?}");
    let counts: Vec<Value> = receiver.received().iter().map(|got| got.json()["count"].clone()).collect();
    assert_eq!(counts, [json!(1), json!(0)], "one notice and one test");
    assert!(host.stop().success());
}

#[test]
fn a_chat_is_connected_and_answers_with_the_real_program() {
    let (sandbox, telegram) = (place(), Telegram::start());
    let host = sandbox.serve();
    let url = telegram.url();
    let add = |more: &[&str], key: &'static str| {
        let args = [&["reach", "add", "telegram", &url, "--on-my-network", "--json"], more].concat();
        let file = sandbox.root().join("key");
        std::fs::write(&file, key).unwrap();
        let mut command = sandbox.command(&args);
        command.stdin(std::fs::File::open(&file).unwrap());
        sandbox.run_command(command)
    };
    let refused = add(&[], "not a token");
    assert_eq!((refused.status, refused.code().as_str()), (1, "channel_invalid"));
    // Whoever is in the chat presses Start while the command waits.
    let seen = std::thread::scope(|scope| {
        let pressing = scope.spawn(|| {
            let text = eventually("the code is shown", || {
                let list = sandbox.run(&["reach", "list", "--json"]).json();
                list["items"][1]["connect"]["text"].as_str().map(str::to_owned)
            });
            telegram.say(42, &text);
        });
        let added =
            add(&["--name", "bot", "--privacy", "full", "--delay", "0", "--answer", "direct"], BOT_TOKEN);
        pressing.join().unwrap();
        added
    });
    assert_eq!(seen.status, 0, "{seen:?}");
    assert!(seen.stdout.contains("Anna @user42") && !seen.stdout.contains(BOT_TOKEN), "{seen:?}");
    assert!(seen.stderr.contains("Warning: "), "{seen:?}");
    let less = sandbox.run(&["reach", "change", "bot", "--privacy", "title", "--json"]);
    assert_eq!((less.status, less.code().as_str()), (1, "channel_invalid"));
    assert_eq!(sandbox.run(&["reach", "change", "bot", "--answer", "reject"]).status, 0);
    let id = ask(&sandbox, "From there?");
    let told = eventually("the question is told", || {
        telegram.messages().into_iter().find(|m| !m.buttons.is_empty())
    });
    telegram.press(42, 42, &told.button("Reject").unwrap());
    let closed = eventually("it is rejected", || {
        let item = sandbox.run(&["prompts", "show", &id, "--json"]).json();
        (item["state"] == "closed").then_some(item)
    });
    assert_eq!(closed["answer"]["by"], "person:link:telegram");
    // The token of the bot is written nowhere in plain text.
    assert!(host.stop().success());
    let stored = std::fs::read(sandbox.state().join("state.db")).unwrap();
    assert!(!stored.windows(BOT_TOKEN.len()).any(|part| part == BOT_TOKEN.as_bytes()));
}

#[test]
fn channels_are_listed_paused_and_removed_and_bad_ones_are_refused() {
    let (sandbox, receiver) = (place(), Receiver::start());
    let list = || sandbox.run(&["reach", "list", "--json"]).json()["items"].clone();
    assert_eq!(list()[0]["id"], "desktop");
    assert_eq!(list()[0]["state"], "unavailable");
    let doctor = sandbox.run(&["doctor", "--json"]).json().to_string();
    assert!(doctor.contains("desktop_unavailable"), "{doctor}");
    let refused = sandbox.run(&["reach", "add", "webhook", &receiver.url("/"), "--json"]);
    assert_eq!((refused.status, refused.code().as_str()), (1, "channel_invalid"));
    assert_eq!(sandbox.run(&["reach", "add", "pigeon", "https://a.example"]).status, 2);
    let mut add = sandbox.command(&[
        "reach",
        "add",
        "slack",
        &receiver.url("/services/T/B/canary-key"),
        "--name",
        "team",
    ]);
    add.args(["--on-my-network", "--json"]);
    assert_eq!(sandbox.run_command(add).status, 0);
    assert!(!list().to_string().contains("canary-key"));
    assert_eq!(sandbox.run(&["reach", "test", "team"]).status, 0);
    assert_eq!(receiver.received()[0].path, "/services/T/B/canary-key");
    assert_eq!(sandbox.run(&["reach", "pause", "team"]).status, 0);
    assert_eq!(list()[1]["state"], "paused");
    assert_eq!(sandbox.run(&["reach", "resume", "team"]).status, 0);
    assert_eq!(list()[1]["state"], "ok");
    // Neither the address nor its key is written anywhere in plain text.
    let stored = std::fs::read(sandbox.state().join("state.db")).unwrap();
    assert!(!stored.windows(10).any(|part| part == b"canary-key"));
    assert_eq!(sandbox.run(&["reach", "remove", "team"]).status, 0);
    assert_eq!(list().as_array().unwrap().len(), 1);
    assert_eq!(sandbox.run(&["reach", "remove", "desktop"]).status, 1);
    assert_eq!(sandbox.run(&["reach", "test", "nobody"]).status, 4);
    assert_eq!(sandbox.run(&["secrets", "list", "--json"]).json()["items"], json!([]));
}

#[test]
fn a_question_is_put_off_and_back_with_and_without_a_host() {
    let sandbox = place();
    let id = ask(&sandbox, "Later?");
    let ids = |flags: &[&str]| -> Vec<String> {
        let args = [&["prompts", "list", "--json"], flags].concat();
        let items = sandbox.run(&args).json()["items"].as_array().cloned().unwrap();
        items.iter().map(|item| item["requestId"].as_str().unwrap().to_owned()).collect()
    };
    for serving in [false, true] {
        let host = serving.then(|| sandbox.serve());
        assert_eq!(ids(&[]), std::slice::from_ref(&id));
        let put_off = sandbox.run(&["prompts", "snooze", &id, "2h", "--json"]);
        assert_eq!(put_off.status, 0, "{put_off:?}");
        assert!(put_off.json()["snoozedUntil"].is_string());
        assert_eq!((ids(&[]), ids(&["--snoozed"])), (vec![], vec![id.clone()]));
        assert_eq!(sandbox.run(&["prompts", "snooze", &id, "off"]).status, 0);
        assert_eq!((ids(&[]), ids(&["--snoozed"])), (vec![id.clone()], vec![]));
        let far = sandbox.run(&["prompts", "snooze", &id, "31d", "--json"]);
        assert_eq!((far.status, far.code().as_str()), (1, "until_too_far"));
        assert_eq!(sandbox.run(&["prompts", "snooze", &id, "soon"]).status, 1);
        drop(host);
    }
    assert_eq!(sandbox.run(&["prompts", "answer", &id, "--cancel"]).status, 0);
    let late = sandbox.run(&["prompts", "snooze", &id, "1h", "--json"]);
    assert_eq!((late.status, late.code().as_str()), (1, "already_answered"));
}

/// Where nobody wakes whoever tells, it looks by itself a minute later; that would be a defect nobody sees here.
#[expect(clippy::print_stdout, reason = "how long it took, for whoever asks with --no-capture")]
fn told_at_once(who: &str, began: Instant) {
    let took = began.elapsed();
    println!("asked in a terminal → {who} told: {took:?}");
    assert!(took < Duration::from_secs(30), "{who} was told only after {took:?}");
}

/// A program that ends with the test.
struct Beside(Child);

impl Beside {
    /// Starts it; its first line, where it says one. Nothing: it is not installed.
    fn start(command: &mut Command) -> Option<(Self, String)> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = Self(command.spawn().ok()?);
        let mut line = String::new();
        BufReader::new(process.0.stdout.take()?).read_line(&mut line).ok()?;
        Some((process, line.trim().to_owned()))
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// A desktop with dunst and no page: the program tells there at once, what another program of the session says was
/// pressed changes nothing, and what is answered elsewhere is taken back.
#[test]
fn the_desktop_is_told_and_a_press_that_is_none_answers_nothing() {
    let mut bus = child("dbus-daemon");
    bus.args(["--session", "--nofork", "--nopidfile", "--print-address"]);
    let Some((_bus, address)) = Beside::start(&mut bus) else { skip!("no dbus-daemon here") };
    let mut screen = child("Xvfb");
    screen.args(["-displayfd", "1", "-screen", "0", "640x480x8", "-nolisten", "tcp"]);
    let Some((_screen, number)) = Beside::start(&mut screen) else { skip!("no Xvfb here") };
    let on_bus = |program: &str| {
        let mut command = child(program);
        command.env("DBUS_SESSION_BUS_ADDRESS", &address).env("DISPLAY", format!(":{number}"));
        command
    };
    let mut dunst = on_bus("dunst");
    dunst.env("HOME", "/nonexistent").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(dunst) = dunst.spawn() else { skip!("no dunst here") };
    let _dunst = Beside(dunst);
    let displayed = || {
        let mut command = on_bus("dunstctl");
        command.args(["count", "displayed"]).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut running = command.spawn().unwrap();
        let mut text = String::new();
        running.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        running.wait().unwrap();
        text.trim().to_owned()
    };
    eventually("dunst is there", || (displayed() == "0").then_some(()));
    let mut sandbox = place();
    sandbox.set_variable("DBUS_SESSION_BUS_ADDRESS", &address);
    let host = sandbox.serve();
    let began = Instant::now();
    let id = ask(&sandbox, "Blue or green?");
    eventually("dunst shows it", || (displayed() == "1").then_some(()));
    told_at_once("the desktop", began);
    // Another program of the session says that everything was pressed.
    for number in 0..20 {
        for action in ["reject", "snooze", "approve", "ok", "default"] {
            let mut forged = on_bus("dbus-send");
            forged.args(["--session", "--type=signal", "/org/freedesktop/Notifications"]);
            forged.arg("org.freedesktop.Notifications.ActionInvoked");
            forged.args([format!("uint32:{number}"), format!("string:{action}")]);
            assert!(forged.status().unwrap().success());
        }
    }
    // What the host says on the same bus afterwards is answered after those.
    let test = sandbox.run(&["reach", "test", "desktop", "--json"]);
    assert_eq!(test.status, 0, "{test:?}");
    let item = || sandbox.run(&["prompts", "show", &id, "--json"]).json();
    assert_eq!((&item()["state"], &item()["snoozedUntil"]), (&json!("pending"), &Value::Null));
    eventually("the test is shown, too", || (displayed() == "2").then_some(()));
    assert_eq!(sandbox.run(&["prompts", "answer", &id, "--cancel"]).status, 0);
    eventually("it is taken back", || (displayed() == "1").then_some(()));
    assert_eq!(item()["answer"]["by"], "person:cli");
    assert!(host.stop().success());
}

/// Ten that were asked while no host ran are one notice of the next one.
#[test]
fn a_burst_is_one_notice_of_the_real_program() {
    let (sandbox, receiver) = (place(), Receiver::start());
    let add = ["reach", "add", "webhook", &receiver.url("/hook"), "--name", "room", "--delay", "0"];
    let added = sandbox.run(&[&add[..], &["--on-my-network"]].concat());
    assert_eq!(added.status, 0, "{added:?}");
    for number in 0..10 {
        ask(&sandbox, &format!("Question {number}?"));
    }
    let host = sandbox.serve();
    eventually("they are told", || (!receiver.received().is_empty()).then_some(()));
    let test = sandbox.run(&["reach", "test", "room", "--json"]);
    assert_eq!(test.status, 0, "{test:?}");
    let counts: Vec<Value> = receiver.received().iter().map(|got| got.json()["count"].clone()).collect();
    assert_eq!(counts, [json!(10), json!(0)]);
    assert!(host.stop().success());
}

/// A stored secret, which stands in everything that is asked about.
const SECRET: &str = "canary-secret-0123456789";

/// Has a tool called that a person is asked about, with a webhook at each level; gives what each was told.
fn told_of(server: &str, tool: &str, arguments: &Value) -> [(&'static str, String); 4] {
    let (mut sandbox, receiver) = (place(), Receiver::start());
    for (name, value) in [
        ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        ("CHATOS_SET_SHELL_CONFIRM", "always"),
        ("CHATOS_SET_CONFIRM_FILE_CHANGES", "true"),
    ] {
        sandbox.set_variable(name, value);
    }
    assert_eq!(sandbox.run_elsewhere(&["secrets", "set", "CANARY"], SECRET).status, 0);
    let levels = ["count", "tool", "title", "full"];
    for level in levels {
        let url = receiver.url(&format!("/{level}"));
        let add = ["reach", "add", "webhook", &url, "--name", level, "--privacy", level, "--delay", "0"];
        let added = sandbox.run(&[&add[..], &["--on-my-network"]].concat());
        assert_eq!(added.status, 0, "{added:?}");
    }
    let project = sandbox.root().join("canary-project");
    std::fs::create_dir_all(&project).unwrap();
    let host = sandbox.serve_with(&["--project", project.to_str().unwrap()]);
    let body = json!({ "server": server, "tool": tool, "root": project, "arguments": arguments });
    let (mut wire, token) = (host.connect(), host.token.clone());
    let began = Instant::now();
    let calling = std::thread::spawn(move || {
        wire.ask(&token, "POST", "/api/v1/tools/call", Some(&body)).unwrap().json()
    });
    let told = |level: &str| {
        let all = receiver.received();
        let of = all.iter().filter(|got| got.path == format!("/{level}"));
        of.map(|got| format!("{:?} {}", got.headers, got.body)).collect::<Vec<_>>().join("\n")
    };
    eventually("every webhook is told", || levels.iter().all(|level| !told(level).is_empty()).then_some(()));
    told_at_once("the webhooks", began);
    let list = host.ask("GET", "/api/v1/prompts?view=needs_you", None).json();
    let id = list["items"][0]["requestId"].as_str().unwrap();
    assert_eq!(sandbox.run(&["prompts", "answer", id, "--cancel"]).status, 0);
    assert_eq!(calling.join().unwrap()["structuredContent"]["status"], "canceled");
    assert!(host.stop().success());
    levels.map(|level| (level, told(level)))
}

/// A webhook is told what its level names and nothing else, of a command and of a file as they are really asked about. No
/// level names contents, and a secret stands nowhere.
#[test]
fn no_level_tells_more_than_it_names_and_none_a_secret() {
    let command = format!("canary-command --token {SECRET} < /canary-folder/x");
    let file = json!({ "path": "canary-path/a.txt", "contents": format!("canary-contents {SECRET}\n") });
    for told in [
        told_of("shell_tasks", "run_shell_command", &json!({ "command": command })),
        told_of("code_writer", "write_file", &file),
    ] {
        let is_command = told[3].1.contains("run_shell_command");
        let tool = if is_command { "run_shell_command" } else { "write_file" };
        for (rank, (level, text)) in told.iter().enumerate() {
            for never in ["canary-secret", "canary-contents"] {
                assert!(!text.contains(never), "{level}: {text}");
            }
            assert_eq!(text.contains(tool), rank >= 1, "{level}: {text}");
            assert_eq!(text.contains("canary-project"), rank >= 2, "{level}: {text}");
            assert_eq!(text.contains("canary-path"), !is_command && rank >= 2, "{level}: {text}");
            assert_eq!(text.contains("canary-command"), is_command && rank == 3, "{level}: {text}");
            assert_eq!(text.contains("/canary-folder"), is_command && rank == 3, "{level}: {text}");
        }
    }
}
