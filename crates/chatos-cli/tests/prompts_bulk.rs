//! One decision about many questions, a command the person writes anew, and what rules answered, with the real program
//! (inbox §2.4, §3.2, §3.3, §4.2).
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

use std::path::PathBuf;

use chatos_testkit::{Answer, RunningHost, Sandbox, eventually, skip};
use serde_json::{Value, json};

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
        let project = sandbox.root().join("shop");
        std::fs::create_dir_all(&project).unwrap();
        let project = std::fs::canonicalize(project).unwrap();
        Self { sandbox, project }
    }

    fn serve(&self) -> RunningHost {
        self.sandbox.serve_with(&["--project", self.project.to_str().unwrap()])
    }

    fn confines(&self) -> bool {
        !self.sandbox.run(&["doctor", "--json"]).json().to_string().contains("shell_sandbox_none")
    }

    fn call(
        &self,
        host: &RunningHost,
        tool: &str,
        arguments: &Value,
    ) -> std::thread::JoinHandle<Option<Value>> {
        let server = if tool == "run_shell_command" { "shell_tasks" } else { "code_writer" };
        let body = json!({ "server": server, "tool": tool, "root": self.project, "arguments": arguments });
        let mut wire = host.connect();
        let text = std::fs::read_to_string(self.sandbox.state().join("host.json")).unwrap();
        let token = serde_json::from_str::<Value>(&text).unwrap()["token"].as_str().unwrap().to_owned();
        std::thread::spawn(move || {
            let answer = wire.ask(&token, "POST", "/api/v1/tools/call", Some(&body)).ok()?;
            Some(answer.json())
        })
    }

    fn write(&self, host: &RunningHost, path: &str) -> std::thread::JoinHandle<Option<Value>> {
        self.call(host, "write_file", &json!({ "path": path, "contents": "x\n" }))
    }
}

fn open(host: &RunningHost, count: usize) -> Vec<String> {
    eventually("the questions", || {
        let list = host.ask("GET", "/api/v1/prompts?view=needs_you&limit=200", None).json();
        let items = list["items"].as_array()?.clone();
        let ids: Vec<String> =
            items.iter().filter_map(|item| item["requestId"].as_str().map(str::to_owned)).collect();
        (ids.len() == count).then_some(ids)
    })
}

fn post(host: &RunningHost, path: &str, body: &Value) -> Answer {
    host.ask("POST", &format!("/api/v1/{path}"), Some(body))
}

fn status(call: std::thread::JoinHandle<Option<Value>>) -> Value {
    call.join().unwrap().unwrap()["structuredContent"]["status"].clone()
}

#[test]
fn many_are_answered_with_one_digest_and_none_when_one_of_them_changed() {
    let place = Place::new();
    let host = place.serve();
    let calls: Vec<_> = (0..3).map(|i| place.write(&host, &format!("a{i}.txt"))).collect();
    let plain = json!({ "prompt": { "kind": "choice", "title": "Which?", "options": [{ "value": "y" }] } });
    assert!(post(&host, "prompts", &plain).status < 300);
    let risky = place.write(&host, ".bashrc");
    open(&host, 5);

    let select = json!({ "filter": { "project": "shop", "kind": "file_change" } });
    let look =
        |action: &str| post(&host, "prompts/bulk/preview", &json!({ "select": select, "action": action }));
    let seen = look("approve").json();
    let mut titles: Vec<&str> =
        seen["items"].as_array().unwrap().iter().filter_map(|item| item["title"].as_str()).collect();
    // The calls came at once, in any order.
    titles.sort_unstable();
    assert_eq!(titles, ["Create a0.txt?", "Create a1.txt?", "Create a2.txt?"], "{seen}");
    assert_eq!(seen["excluded"][0]["reason"], "high_risk", "{seen}");
    assert_ne!(seen["digest"], look("reject").json()["digest"], "the action is part of it");

    // One more came: nothing is answered, and what it is now comes with the refusal.
    let late = place.write(&host, "a3.txt");
    open(&host, 6);
    let order = |digest: &Value| json!({ "select": select, "action": "approve", "digest": digest });
    let refused = post(&host, "prompts/bulk", &order(&seen["digest"]));
    let body = refused.json();
    assert_eq!((refused.status, &body["error"]["code"]), (409, &json!("shown_mismatch")), "{body}");
    let again = &body["error"]["details"];
    assert_eq!(again["items"].as_array().map(Vec::len), Some(4), "{body}");
    open(&host, 6);
    assert!(!place.project.join("a0.txt").exists());

    let done = post(&host, "prompts/bulk", &order(&again["digest"])).json();
    assert_eq!((done["done"].as_array().map(Vec::len), &done["skipped"]), (Some(4), &json!([])), "{done}");
    for call in calls.into_iter().chain([late]) {
        assert_eq!(status(call), "ok");
    }
    // What is of high risk and what has an answer of its own stay; both can be refused at once.
    let ids = open(&host, 2);
    let select = json!({ "ids": ids });
    let seen = post(&host, "prompts/bulk/preview", &json!({ "select": select, "action": "approve" })).json();
    assert_eq!(seen["items"], json!([]), "{seen}");
    let seen = post(&host, "prompts/bulk/preview", &json!({ "select": select, "action": "reject" })).json();
    let order =
        json!({ "select": select, "action": "reject", "digest": seen["digest"], "remark": "not today" });
    assert_eq!(post(&host, "prompts/bulk", &order).json()["done"].as_array().map(Vec::len), Some(2));
    assert_eq!(status(risky), "canceled");
    assert!(!place.project.join(".bashrc").exists());
    // Wishes that are none.
    for wrong in [
        json!({ "select": {}, "action": "reject" }),
        json!({ "select": { "ids": [], "filter": {} }, "action": "reject" }),
        json!({ "select": { "filter": { "colour": "red" } }, "action": "reject" }),
        json!({ "select": { "ids": [] }, "action": "burn" }),
    ] {
        let answer = post(&host, "prompts/bulk/preview", &wrong);
        assert!((400..500).contains(&answer.status), "{wrong}: {}", answer.text());
    }
    host.stop();
}

#[test]
fn lists_are_filtered_and_counted_by_the_host() {
    let place = Place::new();
    let host = place.serve();
    let calls: Vec<_> = (0..3).map(|i| place.write(&host, &format!("b{i}.txt"))).collect();
    let risky = place.write(&host, ".bashrc");
    let form = json!({ "prompt": { "kind": "kv", "title": "Name?", "fields": [{ "key": "n" }] } });
    assert!(post(&host, "prompts", &form).status < 300);
    open(&host, 5);
    let get = |query: &str| host.ask("GET", &format!("/api/v1/prompts?facets=true&{query}"), None).json();
    let count = |list: &Value, facet: &str, value: &str| {
        let rows = list["facets"][facet].as_array().cloned().unwrap_or_default();
        rows.iter().find(|row| row["value"] == value).and_then(|row| row["count"].as_u64()).unwrap_or(0)
    };
    let all = get("");
    let project = place.project.to_str().unwrap();
    assert_eq!(count(&all, "project", project), 4, "{}", all["facets"]);
    assert_eq!(
        (count(&all, "risk", "high"), count(&all, "risk", "medium"), count(&all, "risk", "low")),
        (1, 3, 1)
    );
    assert_eq!((count(&all, "kind", "file_change"), count(&all, "kind", "kv")), (4, 1));
    let high = get("risk=high&project=shop");
    assert_eq!(high["items"].as_array().map(Vec::len), Some(1), "{high}");
    assert_eq!(high["items"][0]["card"]["object"], ".bashrc");
    // The facet itself is counted as if it were not chosen, the others as it is.
    assert_eq!(
        (count(&high, "risk", "medium"), count(&high, "kind", "file_change")),
        (3, 1),
        "{}",
        high["facets"]
    );
    assert_eq!(get("q=b1.txt")["items"].as_array().map(Vec::len), Some(1));
    assert_eq!(get("agent=nobody")["items"], json!([]));

    // In the terminal: shown first; a script answers what it saw, and nothing else.
    let filter = ["prompts", "answer", "--where", "project=shop kind=file_change", "--cancel"];
    let with = |more: &[&str]| place.sandbox.run(&[&filter[..], more].concat());
    let blind = with(&[]);
    assert_ne!(blind.status, 0, "{blind:?}");
    let seen = with(&["--json"]).json();
    assert_eq!(seen["items"].as_array().map(Vec::len), Some(4), "{seen}");
    let other = with(&["--json", "--digest", &"0".repeat(64)]);
    assert_eq!(other.code(), "shown_mismatch", "{other:?}");
    open(&host, 5);
    let digest = seen["digest"].as_str().unwrap();
    let done = with(&["--json", "--digest", digest, "--remark", "all of them"]);
    assert_eq!(done.json()["done"].as_array().map(Vec::len), Some(4), "{done:?}");
    for call in calls.into_iter().chain([risky]) {
        assert_eq!(status(call), "canceled");
    }
    open(&host, 1);
    host.stop();
}

#[test]
fn calls_of_tools_are_looked_at_with_their_arguments_and_put_off_and_back_as_one() {
    let place = Place::new();
    let host = place.serve();
    let ask = |id: &str, options: Value, arguments: Value| {
        let prompt = json!({ "kind": "choice", "title": "t", "options": options, "arguments": arguments });
        let material = json!({ "identity": "mcp:mail", "tool": "send_mail", "root": { "path": place.project },
            "arguments": arguments });
        let body = json!({ "prompt": prompt, "requestId": id, "owner": "host:mail",
            "effect": { "name": "tool_approval", "material": material } });
        let asked = post(&host, "prompts", &body);
        assert!(asked.status < 300, "{}", asked.text());
    };
    let once = json!([{ "value": "once" }, { "value": "no" }]);
    ask("ann", once.clone(), json!({ "to": "ann" }));
    ask("bob", once, json!({ "to": "bob" }));
    // Another program's own answers: only a person picks among them.
    ask("theirs", json!([{ "value": "proceed" }, { "value": "no" }]), json!({ "to": "eve" }));
    let select = json!({ "filter": { "kind": "tool_approval" } });
    let look = |action: &str| {
        post(&host, "prompts/bulk/preview", &json!({ "select": select, "action": action })).json()
    };
    let seen = look("approve");
    let about: Vec<&str> =
        seen["items"].as_array().unwrap().iter().filter_map(|item| item["about"].as_str()).collect();
    assert_eq!(about, [r#"{"to":"ann"}"#, r#"{"to":"bob"}"#], "{seen}");
    assert_eq!(
        (&seen["excluded"][0]["id"], &seen["excluded"][0]["reason"]),
        (&json!("theirs"), &json!("needs_its_own_answer")),
        "{seen}"
    );
    let order = json!({ "select": select, "action": "approve", "digest": seen["digest"] });
    let done = post(&host, "prompts/bulk", &order).json();
    assert_eq!((&done["done"], &done["skipped"]), (&json!(["ann", "bob"]), &json!([])), "{done}");
    let answer = host.ask("GET", "/api/v1/prompts/ann", None).json()["answer"].clone();
    assert_eq!(answer["response"]["selection"], "once", "{answer}");

    for id in ["one", "two"] {
        let prompt = json!({ "kind": "kv", "title": id, "fields": [{ "key": "n" }] });
        assert!(post(&host, "prompts", &json!({ "prompt": prompt, "requestId": id })).status < 300);
    }
    let counts = || host.ask("GET", "/api/v1/prompts?limit=1", None).json()["counts"].clone();
    let all = |snoozed: bool, until: Option<&str>| {
        let select = json!({ "filter": { "snoozed": snoozed } });
        let seen =
            post(&host, "prompts/bulk/preview", &json!({ "select": select, "action": "snooze" })).json();
        let order = json!({ "select": select, "action": "snooze", "digest": seen["digest"], "until": until });
        post(&host, "prompts/bulk", &order).json()["done"].as_array().unwrap().len()
    };
    let later = "2100-01-01T00:00:00Z";
    assert_eq!(all(false, Some(later)), 0, "further than 30 days away");
    let put_off = place.sandbox.run(&["prompts", "snooze", "one", "2h", "--json"]).json();
    assert_eq!(all(false, put_off["snoozedUntil"].as_str()), 2, "the others as well");
    assert_eq!((&counts()["needsYou"], &counts()["snoozed"]), (&json!(0), &json!(3)));
    assert_eq!(all(true, None), 3);
    assert_eq!((&counts()["needsYou"], &counts()["snoozed"]), (&json!(3), &json!(0)));
    host.stop();
}

/// How many questions are being answered when the host is killed.
const COUNT: usize = 60;

#[test]
fn a_host_killed_in_the_middle_of_many_answers_leaves_each_answered_or_open() {
    let place = Place::new();
    let host = place.serve();
    for i in 0..COUNT {
        let prompt = json!({ "kind": "choice", "title": format!("Q{i}"), "options": [{ "value": "y" }] });
        let asked = post(&host, "prompts", &json!({ "prompt": prompt, "requestId": format!("many-{i}") }));
        assert!(asked.status < 300, "{}", asked.text());
    }
    let select = json!({ "filter": { "q": "Q" } });
    let seen = post(&host, "prompts/bulk/preview", &json!({ "select": select, "action": "reject" })).json();
    assert_eq!(seen["items"].as_array().map(Vec::len), Some(COUNT));
    let order = json!({ "select": select, "action": "reject", "digest": seen["digest"] });
    let mut wire = host.connect();
    let text = std::fs::read_to_string(place.sandbox.state().join("host.json")).unwrap();
    let token = serde_json::from_str::<Value>(&text).unwrap()["token"].as_str().unwrap().to_owned();
    let answering =
        std::thread::spawn(move || drop(wire.ask(&token, "POST", "/api/v1/prompts/bulk", Some(&order))));
    // As soon as the first of them is answered.
    eventually("the first answer", || {
        let one = host.ask("GET", "/api/v1/prompts/many-0", None).json();
        (one["state"] == "closed").then_some(())
    });
    host.kill();
    answering.join().unwrap();
    let host = place.serve();
    let mut left = Vec::new();
    for i in 0..COUNT {
        let one = host.ask("GET", &format!("/api/v1/prompts/many-{i}"), None).json();
        match one["state"].as_str() {
            Some("pending") => left.push(format!("many-{i}")),
            Some("closed") => assert_eq!(one["answer"]["status"], "canceled", "{one}"),
            _ => panic!("{one}"),
        }
        let log = std::fs::read_to_string(place.sandbox.state().join("ui-prompts.jsonl")).unwrap();
        let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let answers =
            lines.filter(|line| line["action"] == "response" && line["requestId"] == format!("many-{i}"));
        // A host that was killed may write a line again that it is not sure of: the same, with the same signature.
        let mut answers: Vec<Value> = answers.collect();
        answers.dedup();
        assert_eq!(answers.len(), usize::from(one["state"] == "closed"), "{answers:#?}");
    }
    // What is open can be answered like any other; on a busy machine the kill may come after the last of them.
    if !left.is_empty() {
        let select = json!({ "ids": left });
        let seen =
            post(&host, "prompts/bulk/preview", &json!({ "select": select, "action": "reject" })).json();
        let order = json!({ "select": select, "action": "reject", "digest": seen["digest"] });
        let done = post(&host, "prompts/bulk", &order).json();
        assert_eq!(done["done"].as_array().map(Vec::len), Some(left.len()));
    }
    host.stop();
}

#[test]
fn a_person_writes_another_command_and_that_one_runs() {
    let place = Place::new();
    if !place.confines() {
        skip!("nothing here confines commands");
    }
    let host = place.serve();
    let run = |command: &str| place.call(&host, "run_shell_command", &json!({ "command": command }));
    let answer = |edited: &Value| {
        let id = open(&host, 1).remove(0);
        let asked = host.ask("GET", &format!("/api/v1/prompts/{id}"), None).json();
        let response = json!({ "status": "ok", "edited": edited });
        let body = json!({ "response": response, "shown": asked["shown"] });
        (asked, post(&host, &format!("prompts/{id}/response"), &body))
    };
    let call = run("touch wrong.txt");
    // What is no command is refused, and nothing is answered.
    for wrong in [
        json!({ "command": " " }),
        json!({ "command": 7 }),
        json!({ "arguments": {} }),
        json!({ "command": "a\0b" }),
    ] {
        let (asked, refused) = answer(&wrong);
        assert_eq!(asked["card"]["editable"], true, "{asked}");
        assert_eq!(
            (refused.status, refused.json()["error"]["code"].as_str()),
            (422, Some("not_editable")),
            "{wrong}"
        );
    }
    let (_, done) = answer(&json!({ "command": "touch right.txt" }));
    assert_eq!(done.status, 200, "{}", done.text());
    let result = call.join().unwrap().unwrap();
    let said = result["content"][0]["text"].as_str().unwrap_or_default();
    assert!(said.starts_with("The person changed the call to: touch right.txt"), "{said}");
    assert_eq!(result["structuredContent"]["data"]["edited"], "touch right.txt", "{result}");
    assert!(place.project.join("right.txt").exists() && !place.project.join("wrong.txt").exists());

    // Riskier than what was asked: it is shown once more, and only that approval counts.
    let call = run("touch harmless.txt");
    let (first, done) = answer(&json!({ "command": "git push" }));
    assert_eq!(done.status, 200, "{}", done.text());
    let next = eventually("the second question", || {
        let id = open(&host, 1).remove(0);
        let item = host.ask("GET", &format!("/api/v1/prompts/{id}"), None).json();
        (item["requestId"] != first["requestId"]).then_some(item)
    });
    assert_eq!(next["prompt"]["command"], "git push", "{next}");
    assert_eq!(next["card"]["risk"], "high", "{next}");
    let path = format!("prompts/{}/response", next["requestId"].as_str().unwrap());
    let no = json!({ "response": { "status": "canceled" }, "shown": next["shown"] });
    assert_eq!(post(&host, &path, &no).status, 200);
    assert_eq!(status(call), "canceled");
    assert!(!place.project.join("harmless.txt").exists());

    // A change of files cannot be written anew here.
    let call = place.write(&host, "file.txt");
    let (_, refused) = answer(&json!({ "command": "touch x" }));
    assert_eq!(refused.json()["error"]["code"], "not_editable");
    let id = open(&host, 1).remove(0);
    let asked = host.ask("GET", &format!("/api/v1/prompts/{id}"), None).json();
    let no = json!({ "response": { "status": "canceled" }, "shown": asked["shown"] });
    post(&host, &format!("prompts/{id}/response"), &no);
    assert_eq!(status(call), "canceled");
    // In the terminal as well.
    let call = run("touch one.txt");
    let id = open(&host, 1).remove(0);
    let done = place.sandbox.run(&["prompts", "answer", &id, "--ok", "--command", "touch two.txt"]);
    assert_eq!(done.status, 0, "{done:?}");
    assert_eq!(status(call), "ok");
    assert!(place.project.join("two.txt").exists() && !place.project.join("one.txt").exists());
    host.stop();
}

#[test]
fn what_a_rule_answered_is_in_the_history_with_the_way_back() {
    let place = Place::new();
    let host = place.serve();
    let first = place.write(&host, "notes.txt");
    let id = open(&host, 1).remove(0);
    let asked = host.ask("GET", &format!("/api/v1/prompts/{id}"), None).json();
    let body =
        json!({ "response": { "status": "ok" }, "shown": asked["shown"], "rule": { "scope": "project" } });
    let made = post(&host, &format!("prompts/{id}/response"), &body);
    assert_eq!(made.status, 200, "{}", made.text());
    assert_eq!(status(first), "ok");
    let call = place.call(&host, "write_file", &json!({ "path": "notes.txt", "contents": "two\n" }));
    assert_eq!(status(call), "ok");
    let uses = || host.ask("GET", "/api/v1/rules/uses", None).json()["uses"].as_array().unwrap().clone();
    let found = uses();
    assert_eq!(found.len(), 1, "{found:?}");
    let used = &found[0];
    assert_eq!((&used["decision"], &used["title"]), (&json!("allow"), &json!("Edit notes.txt?")), "{used}");
    assert_eq!((&used["name"], &used["active"]), (&json!("notes.txt"), &json!(true)), "{used}");
    // The change is found by what the row says, and undone.
    let (root, path) = (used["project"].as_str().unwrap(), used["path"].as_str().unwrap());
    let changes = host.ask("GET", &format!("/api/v1/changes?root={root}&path={path}"), None).json();
    let newest = changes["changes"][0]["id"].as_str().unwrap();
    let undone = post(&host, "changes/undo", &json!({ "ids": [newest] }));
    assert!(undone.status < 300, "{}", undone.text());
    assert_eq!(std::fs::read_to_string(place.project.join("notes.txt")).unwrap(), "x\n");
    // The rule is ended from there.
    let rule = used["rule"].as_str().unwrap();
    assert_eq!(
        host.ask("PATCH", &format!("/api/v1/rules/{rule}"), Some(&json!({ "paused": true }))).status,
        200
    );
    assert_eq!(uses()[0]["active"], false);
    let rules = host.ask("GET", "/api/v1/rules", None).json();
    assert_eq!(rules["rules"][0]["rule"]["createdBy"], "person:cli", "{rules}");
    host.stop();
}

#[test]
fn rules_from_files_are_refused_when_broken_and_rest_when_they_come_in() {
    let place = Place::new();
    let host = place.serve();
    let file = |name: &str, text: &str| {
        let path = place.sandbox.root().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let rule = json!({
        "name": "ls", "effect": "allow", "scope": { "kind": "everywhere", "client": "codex" }, "until": 4_000_000_000_000_i64,
        "server": "builtin:shell_tasks", "tool": "run_shell_command",
        "shell": { "commands": [{ "program": "ls" }] },
    });
    let good = |change: &dyn Fn(&mut Value)| {
        let mut rule = rule.clone();
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
        rule["until"] = json!(u64::try_from(now).unwrap() + 86_400_000);
        change(&mut rule);
        json!({ "version": 1, "rules": [rule] }).to_string()
    };
    for (name, text, code) in [
        ("torn.json", "{\"version\":1,\"rules\":[{".to_owned(), "rules_unreadable"),
        ("newer.json", json!({ "version": 2, "rules": [] }).to_string(), "rules_unreadable"),
        ("none.json", "[]".to_owned(), "rules_unreadable"),
        ("field.json", good(&|rule| rule["surprise"] = json!(1)), "rule_invalid"),
        ("word.json", good(&|rule| rule["effect"] = json!("permit")), "rule_invalid"),
        ("far.json", json!({ "version": 1, "rules": [rule] }).to_string(), "until_too_far"),
        (
            "open.json",
            good(&|rule| rule["shell"] = json!({ "commands": [{ "program": "bash", "more": "words" }] })),
            "carrier_open",
        ),
        ("scope.json", good(&|rule| rule["scope"] = json!({ "kind": "chat" })), "scope_unknown"),
        ("client.json", good(&|rule| rule["scope"]["client"] = json!(" ")), "scope_unknown"),
    ] {
        let refused = place.sandbox.run(&["rules", "import", &file(name, &text), "--json"]);
        assert_eq!(refused.code(), code, "{name}: {refused:?}");
        assert_eq!(host.ask("GET", "/api/v1/rules", None).json()["rules"], json!([]), "{name}");
    }
    // One broken rule among good ones: none comes in.
    let two = json!({ "version": 1, "rules": [
        serde_json::from_str::<Value>(&good(&|_| {})).unwrap()["rules"][0], { "name": "no rule" },
    ] });
    let refused = place.sandbox.run(&["rules", "import", &file("two.json", &two.to_string()), "--json"]);
    assert_eq!(refused.code(), "rule_invalid", "{refused:?}");
    assert_eq!(host.ask("GET", "/api/v1/rules", None).json()["rules"], json!([]), "none of them");

    let done = place.sandbox.run(&["rules", "import", &file("good.json", &good(&|_| {})), "--json"]);
    assert_eq!(done.status, 0, "{done:?}");
    let kept = host.ask("GET", "/api/v1/rules", None).json()["rules"][0]["rule"].clone();
    assert_eq!((&kept["paused"], &kept["createdBy"]), (&json!(true), &json!("import")), "{kept}");
    // What is written out is what comes in.
    let out = place.sandbox.run(&["rules", "export"]).json();
    assert_eq!((&out["version"], &out["rules"][0]["scope"]["client"]), (&json!(1), &json!("codex")), "{out}");
    // Only for that program.
    let id = kept["id"].as_str().unwrap();
    assert_eq!(
        host.ask("PATCH", &format!("/api/v1/rules/{id}"), Some(&json!({ "paused": false }))).status,
        200
    );
    let tried = |client: Option<&str>| {
        let body = json!({ "command": "ls", "project": place.project, "client": client });
        post(&host, "rules/decide", &body).json()["decision"].clone()
    };
    assert_eq!(
        (tried(Some("codex")), tried(Some("other")), tried(None)),
        (json!("allow"), json!("ask"), json!("ask"))
    );
    host.stop();
}

#[test]
fn no_rule_is_kept_that_would_be_wider_than_the_permissions_of_its_agent() {
    let place = Place::new();
    let host = place.serve();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    let until = u64::try_from(now).unwrap() + 86_400_000;
    let agent = |land: &str| {
        let body = json!({ "name": land, "mode": "flow", "landConfigId": land });
        post(&host, "agents", &body).json()["id"].as_str().unwrap().to_owned()
    };
    let rule = |agent: &str| {
        json!({ "rule": {
            "name": "ls", "effect": "allow", "scope": { "kind": "agent", "id": agent }, "until": until,
            "server": "builtin:shell_tasks", "tool": "run_shell_command",
            "shell": { "commands": [{ "program": "ls" }] },
        } })
    };
    let refused = post(&host, "rules", &rule(&agent("lc_safe_default")));
    assert_eq!(
        (refused.status, refused.json()["error"]["code"].as_str()),
        (422, Some("wider_than_profile")),
        "{}",
        refused.text()
    );
    let kept = post(&host, "rules", &rule(&agent("lc_developer")));
    assert_eq!(kept.status, 200, "{}", kept.text());
    host.stop();
}
