//! `chatos chats`, and names as people write them, with and without a host.

use chatos_testkit::Script;
use serde_json::{Value, json};

use crate::support::{Stand, last, messages, offered, send, session, until};

fn decide(request: &Value) -> Script {
    let (role, text) = last(request);
    match text.split_once(' ') {
        _ if role == "tool" => Script::say("It is counted."),
        Some(("count", key)) => {
            Script::call("call-1", offered(request, "count").unwrap(), &json!({ "key": key }))
        }
        _ => Script::say(format!("you said {text}")),
    }
}

#[test]
fn chats_are_listed_read_found_exported_renamed_put_away_and_deleted() {
    let stand = Stand::new(decide);
    let host = stand.sandbox.serve();
    let secret = "sk-ant-api03-canary0123456789abcdefghijklmnopqrstuvwxyz";
    let first = session(&host, &stand.agent);
    until(&host, &send(&host, &first, "count seven"), &["done"]);
    let second = session(&host, &stand.agent);
    until(&host, &send(&host, &second, &format!("remember {secret}")), &["done"]);
    for (chat, title) in [(&first, "The count"), (&second, "Secrets 秘密")] {
        let renamed = stand.sandbox.run(&["chats", "rename", chat, title]);
        assert!(renamed.status == 0 && renamed.stdout.contains(title), "{renamed:?}");
    }
    // The rest is the same without a host.
    let mut host = Some(host);
    for with_host in [true, false] {
        if let Some(host) = host.take_if(|_| !with_host) {
            host.stop();
        }
        let run = |args: &[&str]| stand.sandbox.run(args);
        let list = run(&["chats", "list", "--json"]).json();
        let titles: Vec<&str> =
            list["items"].as_array().unwrap().iter().map(|chat| chat["title"].as_str().unwrap()).collect();
        assert_eq!(titles, ["Secrets 秘密", "The count"], "{list}");
        assert_eq!(run(&["chats", "list", "--json", "--since", "2100-01-01"]).json()["items"], json!([]));
        assert_eq!(run(&["chats", "list", "--agent", "nobody", "--json"]).status, 4);
        let listed = run(&["chats", "list", "--agent", "counter", "--since", "1d"]);
        assert!(listed.stdout.contains("The count") && listed.stdout.contains(&first), "{listed:?}");
        assert_eq!(run(&["chats", "list", "--since", "soon"]).status, 1);

        let shown = run(&["chats", "show", "the c"]);
        assert!(
            shown.stdout.contains("> count seven") && shown.stdout.contains("→ counter count"),
            "{shown:?}"
        );
        assert_eq!(
            run(&["chats", "show", "The count", "--last", "1", "--json"]).json()["messages"]
                .as_array()
                .unwrap()
                .len(),
            1
        );
        let found = run(&["chats", "search", "seven", "--json"]).json();
        assert_eq!(found["items"][0]["sessionId"], first.as_str(), "{found}");
        assert!(run(&["chats", "search", "nowhere at all"]).stdout.contains("No matching messages"));

        let markdown = run(&["chats", "export", "The count"]);
        assert!(markdown.stdout.starts_with("# The count\n\n## You · "), "{markdown:?}");
        assert!(markdown.stdout.contains("**counter · count**"), "{markdown:?}");
        let plain = run(&["chats", "export", "The count", "--no-tools", "--lang", "zh"]);
        assert!(plain.stdout.contains("## 助手 · ") && !plain.stdout.contains("counter"), "{plain:?}");
        let page = stand.sandbox.root().join("chat.html");
        let written = run(&["chats", "export", "The count", "-o", page.to_str().unwrap(), "--short-tools"]);
        assert_eq!(written.status, 0, "{written:?}");
        let page = std::fs::read_to_string(&page).unwrap();
        assert!(page.starts_with("<!doctype html>") && page.contains("counter · count"), "{page}");
        let whole = run(&["chats", "export", "The count", "--format", "json", "--all-versions"]);
        let whole: Value = serde_json::from_str(&whole.stdout).unwrap();
        assert_eq!(whole["otherVersions"], json!([]), "{whole}");
        let file = stand.sandbox.root().join("chat.json");
        let written = run(&["chats", "export", "秘密", "-o", file.to_str().unwrap()]);
        assert_eq!(written.status, 4, "a beginning, not any part: {written:?}");
        let written = run(&["chats", "export", "secrets", "-o", file.to_str().unwrap()]);
        assert_eq!(written.status, 0, "{written:?}");
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(!text.contains("canary"), "{text}");
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&value["format"], &value["session"]["id"]), (&json!("chatos-chat/1"), &json!(second)));
        assert!(!run(&["chats", "export", "last"]).stdout.contains("canary"));
    }
    let run = |args: &[&str]| stand.sandbox.run(args);
    assert_eq!(run(&["chats", "archive", "The count"]).status, 0);
    assert_eq!(run(&["chats", "list", "--json"]).json()["items"].as_array().unwrap().len(), 1);
    assert_eq!(run(&["chats", "list", "--archived", "--json"]).json()["items"][0]["id"], first.as_str());
    assert_eq!(run(&["chats", "archive", "The count", "--undo"]).status, 0);
    assert_eq!(run(&["chats", "remove", "The count"]).status, 1, "not without a word");
    assert_eq!(run(&["chats", "remove", "The count", "--yes"]).status, 0);
    assert_eq!(run(&["chats", "show", &first]).status, 4);
}

#[test]
fn names_mean_one_thing_or_are_refused() {
    let stand = Stand::new(decide);
    let run = |args: &[&str]| stand.sandbox.run(args);
    for name in ["My helper", "My other"] {
        assert_eq!(
            run(&["agent", "create", "--name", name, "--mode", "flow", "--land", "COUNTING"]).status,
            0
        );
    }
    let id = run(&["agent", "show", "my helper", "--json"]).json()["id"].as_str().unwrap().to_owned();
    for written in ["My helper", "MY HELPER", "my h", id.as_str()] {
        let shown = run(&["agent", "show", written, "--json"]);
        assert_eq!(shown.json()["id"], id.as_str(), "{written}: {shown:?}");
    }
    let both = run(&["agent", "show", "my"]);
    assert!(
        both.status == 2 && both.stderr.contains("My helper") && both.stderr.contains("My other"),
        "{both:?}"
    );
    let both = run(&["chat", "--agent", "my", "-p", "x", "--json"]);
    assert_eq!((both.status, both.json()["error"]["code"].clone()), (2, json!("ambiguous_name")), "{both:?}");
    let none = run(&["agent", "show", "My helpr"]);
    assert!(none.status == 4 && none.stderr.contains("`My helper`"), "{none:?}");
    assert_eq!(run(&["agent", "show", "default", "--json"]).json()["id"], "agent_default");

    assert_eq!(
        run(&[
            "models",
            "add",
            "scripted-two",
            "--name",
            "Second (Vendor)",
            "--provider",
            "openai",
            "--url",
            "http://127.0.0.1:9/v1"
        ])
        .status,
        0
    );
    let edited = run(&["agent", "edit", "my h", "--model", "second", "--json"]);
    assert_eq!(edited.status, 0, "{edited:?}");
    let models = run(&["models", "list", "--json"]).json();
    let second =
        models["items"].as_array().unwrap().iter().find(|model| model["name"] == "Second (Vendor)").unwrap()
            ["id"]
            .clone();
    assert_eq!(edited.json()["modelId"], second);
    assert_eq!(run(&["models", "default", "nothing like it"]).status, 4);
    assert_eq!(run(&["models", "remove", "sec"]).status, 0);

    assert_eq!(run(&["land", "show", "count", "--json"]).json()["name"], "counting");
    assert_eq!(run(&["mcp", "servers", "show", "count", "--json"]).json()["name"], "counter");
    let gone = run(&["mcp", "servers", "show", "conuter"]);
    assert!(gone.status == 4 && gone.stderr.contains("`counter`"), "{gone:?}");
    let called = run(&["tools", "call", "coun", "count", "key=named", "--agent", "counter"]);
    assert_eq!(called.status, 0, "{called:?}");
    assert_eq!(stand.counted("named"), 1);
    // A number is a number where the tool of another maker wants one.
    assert_eq!(run(&["tools", "call", "counter", "big", "key=7", "size=3"]).status, 0);
    let last = std::fs::read_to_string(format!("{}.args", stand.counts.display())).unwrap();
    assert_eq!(last.lines().last().unwrap(), r#"{"key":"7","size":3}"#);
    let said = run(&["chat", "--agent", "My other", "-p", "hello"]);
    assert_eq!(said.stdout, "you said hello\n", "{said:?}");
    assert_eq!(
        run(&["runs", "list", "--session", "last", "--json"]).json()["items"].as_array().unwrap().len(),
        1
    );
}

#[test]
fn a_chat_is_exported_over_the_api() {
    let stand = Stand::new(decide);
    let host = stand.sandbox.serve();
    let chat = session(&host, &stand.agent);
    until(&host, &send(&host, &chat, "count two"), &["done"]);
    let path = format!("/api/v1/sessions/{chat}/export");
    let made = host.ask("GET", &path, None).json();
    assert_eq!(
        (&made["mime"], made["name"].as_str().unwrap().split('.').next_back()),
        (&json!("text/markdown"), Some("md"))
    );
    let whole = host.ask("GET", &format!("{path}?format=json"), None).json();
    let whole: Value = serde_json::from_str(whole["text"].as_str().unwrap()).unwrap();
    assert_eq!(whole["messages"].as_array().unwrap().len(), messages(&host, &chat).len());
    let page = host.ask("GET", &format!("{path}?format=html&tools=short&thinking=1"), None).json();
    assert_eq!(
        (&page["mime"], page["name"].as_str().unwrap().contains(".html")),
        (&json!("text/html"), true)
    );
    let page = page["text"].as_str().unwrap();
    assert!(page.starts_with("<!doctype html>") && page.contains("It is counted."), "{page}");
    assert!(page.contains("counter · count") && page.contains("default-src 'none'"), "{page}");
    for tag in ["<script", "<link", "<iframe", "src=\"http"] {
        assert!(!page.contains(tag), "{tag}: {page}");
    }
    let left_out = host.ask("GET", &format!("{path}?format=html&tools=none"), None).json();
    assert!(!left_out["text"].as_str().unwrap().contains("counter · count"));
    assert_eq!(host.ask("GET", &format!("{path}?format=html&branch=all"), None).status, 422);
    assert_eq!(host.ask("GET", &format!("{path}?format=pdf"), None).status, 400);
    assert_eq!(host.ask("GET", "/api/v1/sessions/none/export", None).status, 404);
}

#[test]
fn the_api_takes_names_where_it_is_asked_to() {
    let stand = Stand::new(decide);
    let run = |args: &[&str]| stand.sandbox.run(args);
    for name in ["My helper", "My other", "写作 助手"] {
        assert_eq!(
            run(&["agent", "create", "--name", name, "--mode", "flow", "--land", "counting"]).status,
            0
        );
    }
    let host = stand.sandbox.serve();
    let ask = |path: &str| host.ask("GET", &format!("/api/v1/{path}"), None);
    assert_eq!(ask("agents/My%20helper").status, 404, "an id is an id");
    for (path, name) in [
        ("agents/My%20helper?resolve=1", "My helper"),
        ("agents/MY%20H?resolve=1", "My helper"),
        ("agents/%E5%86%99%E4%BD%9C?resolve=1", "写作 助手"),
        ("agents/default?resolve=1", "ChatOS"),
        ("models/SCRIPT?resolve=1", "scripted"),
        ("models/default?resolve=1", "scripted"),
        ("land-configs/count?resolve=1", "counting"),
    ] {
        let found = ask(path);
        assert_eq!((found.status, &found.json()["name"]), (200, &json!(name)), "{path}: {}", found.text());
    }
    let explained = ask("agents/my%20h/explain?role=main&resolve=1");
    assert_eq!(explained.status, 200, "{}", explained.text());
    let both = ask("agents/my?resolve=1");
    assert_eq!(
        (both.status, &both.json()["error"]["code"]),
        (409, &json!("ambiguous_name")),
        "{}",
        both.text()
    );
    assert!(both.text().contains("My helper") && both.text().contains("My other"), "{}", both.text());
    let none = ask("agents/My%20helpr?resolve=1");
    assert!(none.status == 404 && none.text().contains("`My helper`"), "{}", none.text());
    assert_eq!(ask("sessions/last?resolve=1").status, 404, "there is none yet");
    let chat = session(&host, &stand.agent);
    until(&host, &send(&host, &chat, "hello there"), &["done"]);
    host.ask("PATCH", &format!("/api/v1/sessions/{chat}"), Some(&json!({ "title": "The count" })));
    for path in ["sessions/last?resolve=1", "sessions/the%20c?resolve=1", "sessions/The%20count?resolve=1"] {
        assert_eq!(ask(path).json()["id"], json!(chat), "{path}");
    }
    assert_eq!(ask("sessions/the%20c/messages?resolve=1").json()["messages"].as_array().unwrap().len(), 2);
    assert_eq!(ask("agents/%zz?resolve=1").status, 422);
    // In queries and in bodies, too.
    let by_name = ask("runs?sessionId=The%20count&resolve=1");
    assert_eq!(by_name.json(), ask(&format!("runs?sessionId={chat}")).json(), "{}", by_name.text());
    let body = json!({ "agentId": "my h", "modelId": "SCRIPT" });
    let made = host.ask("POST", "/api/v1/sessions?resolve=1", Some(&body));
    assert_eq!(made.status, 201, "{}", made.text());
    let helper = ask("agents/My%20helper?resolve=1").json()["id"].clone();
    let model = ask("models/scripted?resolve=1").json()["id"].clone();
    assert_eq!((&made.json()["agentId"], &made.json()["modelId"]), (&helper, &model));
    let plain = host.ask("POST", "/api/v1/sessions", Some(&body));
    assert_eq!(plain.status, 404, "{}", plain.text());
    let unsure = host.ask("POST", "/api/v1/sessions?resolve=1", Some(&json!({ "agentId": "my" })));
    assert_eq!((unsure.status, &unsure.json()["error"]["code"]), (409, &json!("ambiguous_name")));
}

#[test]
fn the_model_names_a_chat_after_its_first_answer_where_a_person_wants_it() {
    fn decide(request: &Value) -> Script {
        let (_, text) = last(request);
        if text.starts_with("Name the conversation below") {
            Script::counted(Script::say("**Title: “Counting to seven.”**"), 11)
        } else {
            Script::counted(Script::say("One, two, three."), 100)
        }
    }
    let stand = Stand::new(decide);
    let host = stand.sandbox.serve();
    let title = |chat: &str| {
        let view = host.ask("GET", &format!("/api/v1/sessions/{chat}"), None).json();
        view["title"].as_str().unwrap().to_owned()
    };
    // A model in this network is not asked, unless a person wants that.
    let first = session(&host, &stand.agent);
    until(&host, &send(&host, &first, "count up to seven please"), &["done"]);
    let wish = |word: &str| {
        let set = stand.sandbox.run(&["settings", "set", "chatTitles", word]);
        assert_eq!(set.status, 0, "{set:?}");
    };
    wish("always");
    let second = session(&host, &stand.agent);
    until(&host, &send(&host, &second, "count up to seven please"), &["done"]);
    chatos_testkit::eventually("the chat is named", || (title(&second) == "Counting to seven").then_some(()));
    assert_eq!(title(&first), "count up to seven please");
    let asked = stand.model.requests().len();
    assert_eq!(asked, 3, "one call for one title");
    let naming = stand.model.requests().pop().unwrap();
    assert!(naming["tools"].is_null(), "{naming}");
    let view = host.ask("GET", &format!("/api/v1/sessions/{second}"), None).json();
    assert_eq!(view["usage"][0]["input"], 111, "it is counted: {view}");
    // Named once; what a person calls it stays, and nobody asks again.
    until(&host, &send(&host, &second, "go on"), &["done"]);
    assert_eq!(stand.sandbox.run(&["chats", "rename", &first, "Mine"]).status, 0);
    until(&host, &send(&host, &first, "go on"), &["done"]);
    wish("off");
    let third = session(&host, &stand.agent);
    until(&host, &send(&host, &third, "count up to seven please"), &["done"]);
    host.stop();
    assert_eq!(stand.model.requests().len(), asked + 3, "no second name and none when it is off");
}
