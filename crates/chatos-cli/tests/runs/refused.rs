//! What the sandbox refuses in the built program: told to the model and to the person with what lifts it, opened to the
//! project by one word, run outside once and never remembered (working-day §1.5, §1.6, §13 point 2).

use std::path::PathBuf;

use chatos_testkit::{Outcome, RunningHost, Sandbox, Script, ScriptedModel, eventually, skip};
use serde_json::{Value, json};

use crate::lived::{self, SECRET, put};
use crate::support::{last, messages, offered, send, session, until};
use crate::terminal::pty::Terminal;

struct Desk {
    sandbox: Sandbox,
    _model: ScriptedModel,
    home: PathBuf,
    root: PathBuf,
    agent: String,
}

/// An agent that runs what it is told, word for word, and repeats what came of it.
fn desk() -> Desk {
    let mut sandbox = Sandbox::new(lived::chatos());
    let model = ScriptedModel::start(|request| {
        let (role, text) = last(request);
        match serde_json::from_str::<Value>(&text) {
            Ok(arguments) if role == "user" => {
                Script::call("call", offered(request, "run_shell_command").unwrap(), &arguments)
            }
            _ => Script::say(format!("got: {text}")),
        }
    });
    lived::settle(&mut sandbox);
    let home = sandbox.home().canonicalize().unwrap();
    let root = home.join("code/project");
    std::fs::create_dir_all(&root).unwrap();
    put(&home, "notes/a.txt", "noted elsewhere\n");
    let host = sandbox.serve();
    let post = |path: &str, body: Value| {
        let made = host.ask("POST", &format!("/api/v1/{path}"), Some(&body));
        assert!(made.status < 300, "{path}: {}", made.text());
        made.json()["id"].as_str().map(str::to_owned)
    };
    let scripted =
        json!({ "name": "scripted", "provider": "openai", "model": "scripted", "baseUrl": model.base_url() });
    let made = post("models", scripted).unwrap();
    host.ask("POST", &format!("/api/v1/models/{made}/default"), Some(&json!({})));
    let worker =
        json!({ "name": "worker", "mode": "flow", "landConfigId": "lc_developer", "workspaceRoot": root });
    let agent = post("agents", worker).unwrap();
    host.stop();
    Desk { sandbox, _model: model, home, root, agent }
}

/// Runs a command in a new chat; the message of its result.
fn ran(host: &RunningHost, desk: &Desk, arguments: &Value) -> Value {
    let chat = session(host, &desk.agent);
    let run = send(host, &chat, &arguments.to_string());
    until(host, &run, &["done"]);
    messages(host, &chat).into_iter().find(|message| message["role"] == "tool").unwrap()
}

fn content(message: &Value) -> &str {
    message["content"].as_str().unwrap_or_default()
}

#[test]
fn what_is_refused_names_what_lifts_it_until_it_is_taken_back() {
    let desk = desk();
    let host = desk.sandbox.serve();
    let notes = desk.home.join("notes/a.txt");
    let read = json!({ "command": format!("echo once >> ran.log; cat '{}'", notes.display()) });
    let refused = ran(&host, &desk, &read);
    if !content(&refused).contains("sandbox: full") {
        skip!("the kernel does not confine fully (Landlock 3, seccomp)");
    }
    assert!(content(&refused).contains("sandbox_denied") && !content(&refused).contains("noted elsewhere"));
    let sandbox = &refused["toolStructuredContent"]["data"]["sandbox"];
    assert_eq!(sandbox["root"], desk.root.to_str().unwrap());
    let opens = &sandbox["denied"][0]["opens"];
    assert_eq!(opens, &json!({ "kind": "read", "value": notes }), "{sandbox}");
    // Opened to the project it is open, also after a restart; nothing ran again by itself.
    let body = json!({ "root": sandbox["root"], "kind": opens["kind"], "value": opens["value"] });
    assert_eq!(host.ask("POST", "/api/v1/access", Some(&body)).status, 200);
    assert!(content(&ran(&host, &desk, &read)).contains("noted elsewhere"));
    host.stop();
    let host = desk.sandbox.serve();
    assert!(content(&ran(&host, &desk, &read)).contains("noted elsewhere"), "after a restart as well");
    let taken = desk.sandbox.run(&["access", "revoke", notes.to_str().unwrap()]);
    assert_eq!(taken.status, 0, "{taken:?}");
    assert!(!content(&ran(&host, &desk, &read)).contains("noted elsewhere"), "it was taken back");
    assert_eq!(std::fs::read_to_string(desk.root.join("ran.log")).unwrap().lines().count(), 4);
    // Something new is made in a directory, which is what is opened for it; never the home itself.
    let write = json!({ "command": "echo new > ~/notes/b.txt" });
    let refused = ran(&host, &desk, &write);
    let opens = &refused["toolStructuredContent"]["data"]["sandbox"]["denied"][0]["opens"];
    assert_eq!(opens, &json!({ "kind": "write", "value": desk.home.join("notes") }), "{}", content(&refused));
    let body = json!({ "root": desk.root, "kind": "write", "value": desk.home.join("notes") });
    assert_eq!(host.ask("POST", "/api/v1/access", Some(&body)).status, 200);
    ran(&host, &desk, &write);
    assert_eq!(std::fs::read_to_string(desk.home.join("notes/b.txt")).unwrap(), "new\n");
    for closed in ["echo new > ~/c.txt", "cat ~/.aws/credentials"] {
        let refused = ran(&host, &desk, &json!({ "command": closed }));
        let denied = &refused["toolStructuredContent"]["data"]["sandbox"]["denied"][0];
        assert_eq!((&denied["certain"], denied.get("opens")), (&json!(true), None), "{closed}: {denied}");
        assert!(content(&refused).contains("\"outside\": true"), "{}", content(&refused));
        assert!(!content(&refused).contains(SECRET));
    }
    let asked = host.ask("GET", "/api/v1/prompts?view=all", None).json();
    assert_eq!(asked["items"], json!([]), "nobody was asked");
    for whole in [desk.home.clone(), desk.home.join("code/.."), desk.sandbox.root().to_owned()] {
        let refused = desk.sandbox.run(&["access", "allow", "read", whole.to_str().unwrap()]);
        assert!(refused.status != 0 && refused.stderr.contains("whole home directory"), "{refused:?}");
    }
    for (kind, closed) in [("read", ".aws"), ("write", ".ssh/id_ed25519"), ("read", ".npmrc")] {
        let refused = desk.sandbox.run(&["access", "allow", kind, desk.home.join(closed).to_str().unwrap()]);
        assert!(refused.status != 0 && refused.stderr.contains("`shellReadPaths`"), "{refused:?}");
    }
    let open = host.ask("GET", "/api/v1/access", None).json();
    assert_eq!(open["items"].as_array().map(Vec::len), Some(1), "nothing closed is listed as open: {open}");
    host.stop();
}

#[test]
fn outside_is_asked_each_time_in_the_terminal_and_over_the_api() {
    let desk = desk();
    let plain = json!({ "command": "cat ~/.aws/credentials" });
    let outside =
        json!({ "command": "cat ~/.aws/credentials", "access": { "outside": true, "reason": "to sign in" } });
    let host = desk.sandbox.serve();
    if !content(&ran(&host, &desk, &plain)).contains("sandbox: full") {
        skip!("the kernel does not confine fully (Landlock 3, seccomp)");
    }
    // Over the API: the question names the command and the reason, and has two answers.
    for (selection, comes) in [("no", false), ("outside", true), ("no", false)] {
        let chat = session(&host, &desk.agent);
        let run = send(&host, &chat, &outside.to_string());
        let id = eventually("a question", || {
            let list = host.ask("GET", "/api/v1/prompts?view=needs_you", None).json();
            list["items"][0]["requestId"].as_str().map(str::to_owned)
        });
        let asked = host.ask("GET", &format!("/api/v1/prompts/{id}"), None).json();
        let text = asked.to_string();
        assert!(text.contains("to sign in") && text.contains("cat ~/.aws/credentials"), "{text}");
        assert!(!text.contains("Always in this project"), "{text}");
        let answer =
            json!({ "response": { "status": "ok", "selection": selection }, "shown": asked["shown"] });
        let done = host.ask("POST", &format!("/api/v1/prompts/{id}/response"), Some(&answer));
        assert_eq!(done.status, 200, "{}", done.text());
        until(&host, &run, &["done"]);
        let told = messages(&host, &chat).into_iter().find(|message| message["role"] == "tool").unwrap();
        assert_eq!(content(&told).contains(SECRET), comes, "{selection}: {}", content(&told));
    }
    host.stop();
    // On a terminal, which is the host now.
    let mut terminal = Terminal::start_as(&desk.sandbox, &["chat", "--agent", "worker"], "xterm");
    terminal.expect("/help lists commands").expect("> ");
    terminal.enter(&plain.to_string()).expect("The sandbox didn’t let the command read");
    terminal.expect("once outside the sandbox").expect("got: ").expect("> ");
    let notes = desk.home.join("notes/a.txt");
    terminal.enter(&json!({ "command": format!("cat {}", notes.display()) }).to_string());
    terminal.expect(&format!(
        "chatos access allow read {} --project {}",
        notes.display(),
        desk.root.display()
    ));
    terminal.expect("got: ").expect("> ");
    terminal.enter(&outside.to_string()).expect("Once, outside the sandbox").expect("c = ").enter("1");
    terminal.expect(&format!("got: {}", "$ cat")).expect(SECRET).expect("> ");
    terminal.enter(&outside.to_string()).expect("Once, outside the sandbox").expect("c = ").enter("2");
    terminal.expect("got: ").expect("> ").press("\u{4}");
    let (status, screen) = terminal.end();
    assert_eq!(status, Some(0), "{screen}");
    assert_eq!(screen.matches(SECRET).count(), 1, "{screen}");
}

/// `chatos access explain` in the project, with these options, of these words.
fn explain(desk: &Desk, options: &[&str], words: &[&str]) -> Outcome {
    let (root, state) = (desk.root.to_str().unwrap(), desk.sandbox.state().to_str().unwrap());
    let before = ["access", "explain", "--state-dir", state, "--project", root];
    let all: Vec<&str> = before.iter().chain(options).chain(&["--"]).chain(words).copied().collect();
    let done = desk.sandbox.run_command(desk.sandbox.bare(&all));
    assert_eq!(done.status, 0, "{done:?}");
    done
}

fn explained(desk: &Desk, command: &str) -> Value {
    explain(desk, &["--json"], &[command]).json()
}

/// The reason for which a place or a machine is open, and the id where a person opened it.
fn reason<'a>(explained: &'a Value, kind: &str, value: &str) -> (&'a str, Option<&'a str>) {
    let mut all = explained["grants"].as_array().unwrap().iter();
    let found = all.find(|grant| grant["kind"] == kind && grant["value"] == value);
    found.map_or(("closed", None), |grant| (grant["reason"].as_str().unwrap(), grant["id"].as_str()))
}

#[test]
fn what_a_command_could_touch_is_said_before_it_runs_and_is_what_it_gets() {
    let desk = desk();
    let host = desk.sandbox.serve();
    let (root, notes) = (desk.root.to_str().unwrap(), desk.home.join("notes"));
    let seen = explained(&desk, "touch ran.log");
    if seen["level"] != "full" {
        assert_eq!(
            (&seen["decision"], seen["grants"] == json!([])),
            (&json!("ask"), seen["level"] == "none")
        );
        skip!("the kernel does not confine fully (Landlock 3, seccomp)");
    }
    assert_eq!(
        (&seen["decision"], &seen["why"], &seen["network"]),
        (&json!("allow"), &json!([]), &json!("off"))
    );
    assert!(!desk.root.join("ran.log").exists(), "nothing runs");
    assert_eq!(reason(&seen, "write", root), ("project", None));
    assert_eq!(reason(&seen, "read", "/usr"), ("system", None));
    assert_eq!(reason(&seen, "write", "/dev/null").0, "device");
    let reasons: Vec<&str> =
        seen["grants"].as_array().unwrap().iter().map(|grant| grant["reason"].as_str().unwrap()).collect();
    assert!(["toolchain", "cache", "temporary"].iter().all(|reason| reasons.contains(reason)), "{seen:#}");
    let closed = seen["closed"].as_array().unwrap();
    for place in [desk.home.join(".aws"), desk.home.join(".ssh"), desk.sandbox.state().to_owned()] {
        assert!(closed.contains(&json!(place.canonicalize().unwrap())), "{}: {seen:#}", place.display());
    }
    // What is not in the list is refused to a command, and what is opened comes into it.
    assert_eq!(reason(&seen, "read", notes.to_str().unwrap()), ("closed", None));
    let read = json!({ "command": format!("cat '{}/a.txt'", notes.display()) });
    assert!(content(&ran(&host, &desk, &read)).contains("sandbox_denied"));
    for (kind, value) in [("read", notes.to_str().unwrap()), ("host", "packages.example:8443")] {
        let body = json!({ "root": root, "kind": kind, "value": value });
        let opened = host.ask("POST", "/api/v1/access", Some(&body)).json();
        let now = explained(&desk, "touch ran.log");
        if kind == "host" && now["network"] == "off" {
            continue;
        }
        assert_eq!(reason(&now, kind, value), ("granted", opened["id"].as_str()), "{now:#}");
    }
    assert!(content(&ran(&host, &desk, &read)).contains("noted elsewhere"));
    let named = json!({ "value": [desk.home.join("code")] });
    assert_eq!(host.ask("PUT", "/api/v1/settings/shellReadPaths", Some(&named)).status, 200);
    let code = desk.home.join("code");
    assert_eq!(reason(&explained(&desk, "ls"), "read", code.to_str().unwrap()).0, "setting");
    // Asked and refused, with the reason of the gate.
    let asked = explained(&desk, "git reset --hard");
    assert_eq!(asked["decision"], "ask", "{asked:#}");
    assert_eq!(asked["findings"][0]["id"], "hard_reset", "{asked:#}");
    let ssh = explained(&desk, "git clone git@example.org:a/b.git");
    assert!(ssh["decision"] == "ask" && ssh["why"].to_string().contains("ssh_remote"), "{ssh:#}");
    assert_eq!(explained(&desk, "mkfs.ext4 /dev/sda")["decision"], "deny");
    // As a person reads it, in either language, with words that the shell has taken apart put together again.
    let told = explain(&desk, &[], &["echo", "two words"]);
    assert!(told.stdout.starts_with("echo 'two words'\nin "), "{told:?}");
    for line in ["runs without asking", "may write and read", "the project", "stays closed", "you opened it"]
    {
        assert!(told.stdout.contains(line), "{line}: {}", told.stdout);
    }
    let told = explain(&desk, &["--lang", "zh"], &["ls"]);
    assert!(told.stdout.contains("直接运行，不询问") && told.stdout.contains("项目文件夹"), "{told:?}");
}

#[test]
fn it_is_the_same_for_another_user() {
    let tests = [
        "refused::what_a_command_could_touch_is_said_before_it_runs_and_is_what_it_gets",
        "refused::what_is_refused_names_what_lifts_it_until_it_is_taken_back",
        "refused::outside_is_asked_each_time_in_the_terminal_and_over_the_api",
    ];
    if let Some(why) = lived::as_another_user(&Sandbox::new(lived::chatos()), &tests, &[]) {
        skip!("{why}");
    }
}
