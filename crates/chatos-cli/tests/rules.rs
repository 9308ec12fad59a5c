//! Rules that answer for a person, with the real program: one is made with an answer, lets the next call like it
//! through and no other, is seen where calls are recorded, and can be taken back (inbox §4).
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

use std::path::{Path, PathBuf};

use chatos_testkit::{Answer, RunningHost, Sandbox, eventually, skip};
use serde_json::{Value, json};

#[path = "support/socket.rs"]
#[expect(dead_code, reason = "these tests use a part of it")]
mod socket;

#[path = "../../chatos-rules/tests/tricks/mod.rs"]
mod tricks;

/// A host with a project whose commands and changes are asked about.
struct Place {
    sandbox: Sandbox,
    project: PathBuf,
}

impl Place {
    fn new() -> Self {
        let mut sandbox = Sandbox::new(env!("CARGO_BIN_EXE_chatos"));
        for (name, value) in [
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("CHATOS_SET_CONFIRM_FILE_CHANGES", "true"),
            ("CHATOS_SET_SHELL_CONFIRM", "always"),
        ] {
            sandbox.set_variable(name, value);
        }
        let project = sandbox.root().join("project");
        std::fs::create_dir_all(project.join("src")).unwrap();
        let project = std::fs::canonicalize(project).unwrap();
        Self { sandbox, project }
    }

    fn serve(&self) -> RunningHost {
        self.sandbox.serve_with(&["--project", self.project.to_str().unwrap()])
    }

    /// The kernel here may confine nothing; then no rule about commands holds.
    fn confines(&self) -> bool {
        !self.sandbox.run(&["doctor", "--json"]).json().to_string().contains("shell_sandbox_none")
    }

    /// Begins a call; the answer comes when somebody, or a rule, has answered.
    fn call(&self, host: &RunningHost, tool: &str, arguments: &Value) -> std::thread::JoinHandle<Value> {
        let server = if tool == "run_shell_command" { "shell_tasks" } else { "code_writer" };
        let body = json!({ "server": server, "tool": tool, "root": self.project, "arguments": arguments });
        let mut wire = host.connect();
        let text = std::fs::read_to_string(self.sandbox.state().join("host.json")).unwrap();
        let token = serde_json::from_str::<Value>(&text).unwrap()["token"].as_str().unwrap().to_owned();
        std::thread::spawn(move || {
            let answer = wire.ask(&token, "POST", "/api/v1/tools/call", Some(&body)).unwrap();
            answer.json()["structuredContent"].clone()
        })
    }

    fn run(&self, host: &RunningHost, command: &str) -> std::thread::JoinHandle<Value> {
        self.call(host, "run_shell_command", &json!({ "command": command }))
    }

    /// Runs a command that must be asked about, and refuses it.
    fn asked(&self, host: &RunningHost, arguments: &Value) {
        let call = self.call(host, "run_shell_command", arguments);
        let question = question(host);
        assert_eq!(question["prompt"]["command"], arguments["command"], "{question}");
        assert_eq!(respond(host, &question, &json!({ "response": { "status": "canceled" } })).status, 200);
        assert_eq!(call.join().unwrap()["status"], "canceled", "{arguments}");
    }

    fn audit(&self, kind: &str) -> Vec<Value> {
        let folder = self.sandbox.state().join("audit");
        let mut files: Vec<PathBuf> = match std::fs::read_dir(&folder) {
            Ok(entries) => entries.map(|entry| entry.unwrap().path()).collect(),
            Err(_) => vec![self.sandbox.state().join("audit.jsonl")],
        };
        files.sort();
        let lines = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect::<String>();
        let lines = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.filter(|line| line.to_string().contains(&format!("\"{kind}\""))).collect()
    }
}

fn question(host: &RunningHost) -> Value {
    let id = eventually("the question", || {
        let list = host.ask("GET", "/api/v1/prompts?view=needs_you", None).json();
        list["items"][0]["requestId"].as_str().map(str::to_owned)
    });
    host.ask("GET", &format!("/api/v1/prompts/{id}"), None).json()
}

fn respond(host: &RunningHost, asked: &Value, body: &Value) -> Answer {
    let mut body = body.clone();
    body["shown"] = asked["shown"].clone();
    let path = format!("/api/v1/prompts/{}/response", asked["requestId"].as_str().unwrap());
    host.ask("POST", &path, Some(&body))
}

fn rules(host: &RunningHost) -> Vec<Value> {
    host.ask("GET", "/api/v1/rules", None).json()["rules"].as_array().unwrap().clone()
}

fn approve(scope: &str) -> Value {
    json!({ "response": { "status": "ok" }, "rule": { "scope": scope } })
}

#[test]
fn a_rule_made_with_an_answer_lets_the_same_command_through_and_no_other() {
    let place = Place::new();
    if !place.confines() {
        skip!("nothing here confines commands");
    }
    let host = place.serve();
    let mut events = socket::open(&host, "");
    let first = place.run(&host, "touch src/a");
    let asked = question(&host);
    assert_eq!(asked["card"]["verb"], "run_command", "{asked}");
    let done = respond(&host, &asked, &approve("project"));
    assert_eq!(done.status, 200, "{}", done.text());
    let rule = done.json()["rule"].as_str().unwrap().to_owned();
    let result = first.join().unwrap();
    assert_eq!((&result["status"], &result["data"]["by_rule"]), (&json!("ok"), &Value::Null), "{result}");

    // The same again: nobody is asked, and the result says by which rule.
    for same in ["touch src/a", " touch  'src/a' "] {
        let result = place.run(&host, same).join().unwrap();
        assert_eq!(
            (&result["status"], &result["data"]["by_rule"]),
            (&json!("ok"), &json!("touch src/a")),
            "{result}"
        );
        assert_eq!(result["data"]["command"], same, "{result}");
    }
    assert_eq!(rules(&host)[0]["uses"], 2);
    assert_eq!(events.event_of("rule_changed")["data"]["id"], rule.as_str());
    let told = events.event_of("rule_used");
    assert_eq!((&told["data"]["id"], &told["data"]["decision"]), (&json!(rule), &json!("allow")), "{told}");
    let used = place.audit("rule_used");
    assert_eq!(used.len(), 2, "{used:?}");
    assert!(used[0].to_string().contains(&format!("rule:{rule}")), "{used:?}");

    assert!(place.project.join("src/a").exists());

    // Everything else is asked, and none of it happens.
    let canary = place.project.join("canary");
    for trick in [
        "touch src/a; touch canary",
        "touch src/a && touch canary",
        "touch src/a | tee canary",
        "touch src/a $(touch canary)",
        "touch src/a `touch canary`",
        "touch src/a > canary",
        "touch src/a\ntouch canary",
        "PATH=. touch src/a",
        "./touch src/a",
        "touch -c src/a",
        "touch src/a canary",
        "env touch src/a",
        "touch src/../canary",
    ] {
        place.asked(&host, &json!({ "command": trick }));
        assert!(!canary.exists(), "{trick}");
    }
    for more in [
        json!({ "env": { "LC_ALL": "C" } }),
        json!({ "network": true }),
        json!({ "shell": "fish" }),
        json!({ "interactive": true }),
    ] {
        if more["shell"] == "fish" && !Path::new("/usr/bin/fish").exists() {
            continue;
        }
        let mut arguments = json!({ "command": "touch src/a" });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        place.asked(&host, &arguments);
    }

    // Paused, it answers nothing; it is there after a restart; removed, it is gone.
    let path = format!("/api/v1/rules/{rule}");
    assert_eq!(host.ask("PATCH", &path, Some(&json!({ "paused": true }))).status, 200);
    place.asked(&host, &json!({ "command": "touch src/a" }));
    host.stop();
    let host = place.serve();
    place.asked(&host, &json!({ "command": "touch src/a" }));
    assert_eq!(host.ask("PATCH", &path, Some(&json!({ "paused": false }))).status, 200);
    assert_eq!(place.run(&host, "touch src/a").join().unwrap()["data"]["by_rule"], "touch src/a");
    assert_eq!(host.ask("DELETE", &path, None).status, 200);
    place.asked(&host, &json!({ "command": "touch src/a" }));
    assert_eq!(rules(&host), Vec::<Value>::new());
    host.stop();
}

#[test]
fn a_program_that_the_search_path_finds_elsewhere_does_not_ride_on_a_rule() {
    let mut place = Place::new();
    if !place.confines() {
        skip!("nothing here confines commands");
    }
    let folder = place.sandbox.root().join("tools");
    std::fs::create_dir(&folder).unwrap();
    std::fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    place.sandbox.set_variable("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", folder.display()));
    let host = place.serve();
    let first = place.run(&host, "touch src/a");
    assert_eq!(respond(&host, &question(&host), &approve("project")).status, 200);
    assert_eq!(first.join().unwrap()["status"], "ok");
    // Sandboxes of tests lie where everybody can write, as does what a command finds there.
    let own = folder.join("touch");
    std::fs::write(&own, "#!/bin/sh\n/usr/bin/touch canary\n").unwrap();
    std::fs::set_permissions(&own, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    place.asked(&host, &json!({ "command": "touch src/a" }));
    assert!(!place.project.join("canary").exists());
    host.stop();
}

#[test]
fn no_rule_stands_without_its_answer() {
    let place = Place::new();
    let host = place.serve();
    let call = place.call(&host, "write_file", &json!({ "path": "a.txt", "contents": "one\n" }));
    let asked = question(&host);
    let id = asked["requestId"].as_str().unwrap().to_owned();

    // Looking keeps nothing.
    let seen = host.ask("POST", &format!("/api/v1/prompts/{id}/rule"), Some(&json!({ "scope": "project" })));
    assert_eq!(
        (seen.status, &seen.json()["rule"]["paths"]["globs"]),
        (200, &json!(["a.txt"])),
        "{}",
        seen.text()
    );
    // A refusal, another question than was shown, a scope that is none: neither an answer nor a rule.
    let other = json!({ "requestId": id, "shown": "0".repeat(64) });
    for (asked, body) in [
        (&asked, json!({ "response": { "status": "canceled" }, "rule": { "scope": "project" } })),
        (&other, approve("project")),
        (&asked, approve("everywhere")),
        (&asked, approve("chat")),
        (&asked, json!({ "response": { "status": "ok" }, "rule": "project" })),
        (&asked, json!({ "response": { "status": "ok" }, "rule": { "scope": "project" }, "by": "client" })),
        (&asked, json!({ "response": { "status": "ok" }, "rule": { "scope": "project" }, "app": "a/b" })),
    ] {
        let refused = respond(&host, asked, &body);
        assert!(refused.status >= 400, "{body}: {}", refused.text());
        let now = host.ask("GET", &format!("/api/v1/prompts/{id}"), None).json();
        assert_eq!(now["state"], "pending", "{body}");
        assert_eq!(rules(&host), Vec::<Value>::new(), "{body}");
    }
    assert!(!place.project.join("a.txt").exists());

    assert_eq!(respond(&host, &asked, &approve("project")).status, 200);
    assert_eq!(call.join().unwrap()["status"], "ok");
    assert_eq!(rules(&host).len(), 1);
    // Answered already: no second rule.
    assert_eq!(respond(&host, &asked, &approve("project")).status, 409);
    assert_eq!(rules(&host).len(), 1);
    let again = place.call(&host, "write_file", &json!({ "path": "a.txt", "contents": "two\n" }));
    assert_eq!(again.join().unwrap()["data"]["by_rule"], "a.txt");
    host.stop();
}

#[test]
fn rules_come_from_what_was_approved_and_never_over_what_was_refused() {
    let place = Place::new();
    let host = place.serve();
    let write = |path: &str, text: &str| {
        place.call(&host, "write_file", &json!({ "path": path, "contents": format!("{text}\n") }))
    };
    let answer = |status: &str| {
        let asked = question(&host);
        assert_eq!(respond(&host, &asked, &json!({ "response": { "status": status } })).status, 200);
    };
    let proposals = || {
        let found = host.ask("GET", "/api/v1/rules/proposals", None);
        assert_eq!(found.status, 200, "{}", found.text());
        found.json()["proposals"].as_array().unwrap().clone()
    };

    // Refused once: no rule over it, however often it is approved later.
    let call = write("no.txt", "0");
    answer("canceled");
    assert_eq!(call.join().unwrap()["status"], "canceled");
    let call = write("no.txt", "1");
    let asked = question(&host);
    let refused = respond(&host, &asked, &approve("project"));
    assert_eq!((refused.status, refused.json()["error"]["code"].as_str()), (409, Some("refused_before")));
    let id = asked["requestId"].as_str().unwrap();
    let seen = host.ask("POST", &format!("/api/v1/prompts/{id}/rule"), Some(&json!({ "scope": "project" })));
    let rule = seen.json()["rule"].clone();
    let compared = host.ask("POST", "/api/v1/rules/backtest", Some(&json!({ "rule": rule }))).json();
    assert_eq!(
        (&compared["considered"], &compared["same"], &compared["different"], &compared["stillAsked"]),
        (&json!(1), &json!(0), &json!(1), &json!(0)),
        "{compared}"
    );
    assert_eq!(compared["refusedIds"], compared["differentIds"]);
    for also in [false, true] {
        let body = json!({ "rule": rule, "alsoDifferent": also });
        assert_eq!(host.ask("POST", "/api/v1/rules", Some(&body)).status, 409);
    }
    answer("ok");
    assert_eq!(call.join().unwrap()["status"], "ok");

    // Approved five times: proposed, compared, kept, and it answers.
    for i in 0..5 {
        assert_eq!(proposals(), Vec::<Value>::new(), "{i}");
        let call = write("yes.txt", &i.to_string());
        answer("ok");
        assert_eq!(call.join().unwrap()["status"], "ok");
    }
    let found = proposals();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((&found[0]["rule"]["name"], &found[0]["count"]), (&json!("yes.txt"), &json!(5)));
    assert_eq!(
        found[0]["backtest"]["sentence"],
        "Would have answered 5 of your last 7 the same way, 0 differently; 2 would still ask."
    );
    let zh = place.sandbox.run(&["rules", "propose", "--lang", "zh"]);
    assert!(zh.stdout.contains("可替你回答最近 7 次中的 5 次，结果一致；0 次不同；2 次仍会询问。"), "{zh:?}");
    let kept = host.ask("POST", "/api/v1/rules", Some(&json!({ "rule": found[0]["rule"] })));
    assert_eq!(kept.status, 200, "{}", kept.text());
    assert_eq!(write("yes.txt", "9").join().unwrap()["data"]["by_rule"], "yes.txt");
    assert_eq!(proposals(), Vec::<Value>::new());

    // In the terminal: what would happen, and how it compares.
    let tool = ["rules", "test", "--tool", "code_writer", "write_file", "--args"];
    let project = place.project.to_str().unwrap();
    let test = |path: &str| {
        let arguments = json!({ "path": path }).to_string();
        let more = [arguments.as_str(), "--project", project];
        place.sandbox.run(&[&tool[..], &more[..]].concat()).status
    };
    assert_eq!((test("yes.txt"), test("no.txt")), (0, 1));
    let id = kept.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(place.sandbox.run(&["rules", "backtest", &id]).status, 0);
    let arguments = json!({ "path": "yes.txt" }).to_string();
    let explained = place.sandbox.run(&[
        "agent",
        "explain",
        "default",
        "write_file",
        "--args",
        &arguments,
        "--project",
        project,
    ]);
    assert_eq!(explained.status, 0, "{explained:?}");
    host.stop();
}

/// Another program wrote into the database: its rule answers nothing, and somebody is told.
#[test]
#[expect(clippy::disallowed_methods, reason = "another program changes the row")]
fn a_rule_that_was_changed_in_the_database_answers_nothing_and_is_reported() {
    let place = Place::new();
    let host = place.serve();
    let write =
        || place.call(&host, "write_file", &json!({ "path": "a.txt", "contents": "x\n", "mode": "append" }));
    let first = write();
    assert_eq!(respond(&host, &question(&host), &approve("project")).status, 200);
    assert_eq!(first.join().unwrap()["status"], "ok");
    assert_eq!(write().join().unwrap()["data"]["by_rule"], "a.txt");
    let doctor = || place.sandbox.run(&["doctor", "--json"]).json().to_string();
    assert!(!doctor().contains("approval_rules_foreign"));
    let database = rusqlite::Connection::open(place.sandbox.state().join("state.db")).unwrap();
    let kept: String = database.query_row("SELECT record FROM approval_rules", [], |row| row.get(0)).unwrap();
    for changed in [
        kept.replace("a.txt", "*.txt"),
        kept.replace("\"allow\"", "\"deny\""),
        "{}".to_owned(),
        "null".to_owned(),
    ] {
        assert_ne!(changed, kept);
        database.execute("UPDATE approval_rules SET record = ?1", [&changed]).unwrap();
        let call = write();
        let asked = question(&host);
        assert_eq!(respond(&host, &asked, &json!({ "response": { "status": "canceled" } })).status, 200);
        assert_eq!(call.join().unwrap()["status"], "canceled", "{changed}");
        assert!(doctor().contains("approval_rules_foreign"), "{changed}");
    }
    // As it was, it is ours again.
    database.execute("UPDATE approval_rules SET record = ?1", [&kept]).unwrap();
    assert_eq!(write().join().unwrap()["data"]["by_rule"], "a.txt");
    assert!(!doctor().contains("approval_rules_foreign"));
    host.stop();
}

/// The rules of somebody who is generous, in the real program: no rule lets a trick through in any shell: it is asked
/// about or refused, unless it only reads, and nothing of it happens. What the rules are about runs.
#[test]
fn no_trick_passes_a_rule_in_any_shell() {
    let place = Place::new();
    if !place.confines() {
        skip!("nothing here confines commands");
    }
    let host = place.serve();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    let until = u64::try_from(now).unwrap() + 86_400_000;
    for (commands, join) in [
        (json!([{ "program": "git", "argv": ["status"] }]), "none"),
        (json!([{ "program": "git", "argv": ["log"], "more": "words" }]), "none"),
        (json!([{ "program": "git", "argv": ["diff"], "more": "paths" }]), "none"),
        (
            json!([{ "program": "ls", "more": "paths" }, { "program": "ls", "argv": ["-l"], "more": "paths" }]),
            "none",
        ),
        (json!([{ "program": "cat", "more": "paths" }, { "program": "wc", "argv": ["-l"] }]), "pipe"),
        (json!([{ "program": "touch", "argv": ["src/made"] }]), "none"),
    ] {
        let rule = json!({ "rule": {
            "name": "generous", "effect": "allow", "scope": { "kind": "project", "id": place.project },
            "until": until, "server": "builtin:shell_tasks", "tool": "run_shell_command",
            "shell": { "commands": commands, "join": join },
        } });
        let kept = host.ask("POST", "/api/v1/rules", Some(&rule));
        assert_eq!(kept.status, 200, "{}", kept.text());
    }
    for canary in ["x", "a", "b"] {
        std::fs::write(place.project.join(canary), "kept\n").unwrap();
    }
    let names = || {
        let mut names: Vec<_> =
            std::fs::read_dir(&place.project).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = names();
    let mut asked = 0;
    // All of them in one shell, each of them in one more: what decides has not begun to run any.
    for (turn, shell) in ["sh", "bash", "dash", "zsh"].into_iter().enumerate() {
        if !Path::new("/usr/bin").join(shell).exists() {
            continue;
        }
        let arguments = json!({ "command": "touch src/made", "shell": shell });
        let result = place.call(&host, "run_shell_command", &arguments).join().unwrap();
        assert_eq!(result["data"]["by_rule"], "generous", "{shell}: {result}");
        let some = tricks::TRICKS.iter().enumerate().filter(|(n, _)| turn == 0 || n % 3 == turn - 1);
        for (_, trick) in some {
            let call = place.call(&host, "run_shell_command", &json!({ "command": trick, "shell": shell }));
            eventually("it is asked about, or refused", || {
                let list = host.ask("GET", "/api/v1/prompts?view=needs_you", None).json();
                if let Some(id) = list["items"][0]["requestId"].as_str() {
                    let question = host.ask("GET", &format!("/api/v1/prompts/{id}"), None).json();
                    let no = json!({ "response": { "status": "canceled" } });
                    asked += usize::from(respond(&host, &question, &no).status == 200);
                }
                call.is_finished().then_some(())
            });
            let result = call.join().unwrap();
            // What only reads is not asked about in a sandbox; no rule let it through.
            assert!(result["data"]["by_rule"].is_null(), "{shell} {trick:?}: {result}");
        }
        assert_eq!(names(), before, "{shell}");
    }
    assert!(asked > tricks::TRICKS.len(), "{asked}");
    host.stop();
}
