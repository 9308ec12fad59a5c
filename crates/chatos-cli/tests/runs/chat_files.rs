//! Chats that come from a file, and versions that are deleted: through the API and the terminal.

use chatos_testkit::{RunningHost, Script};
use serde_json::{Value, json};

use crate::support::{Stand, messages, offered, send, session, until};

fn answering(request: &Value) -> Script {
    let said = request["messages"].as_array().unwrap();
    match (said.last().map(|last| last["role"] == "tool"), offered(request, "count")) {
        (Some(false), Some(name)) if said.last().unwrap()["content"] == "count" => {
            Script::call("c1", name, &json!({ "key": "k" }))
        }
        _ => Script::say(format!("answer {}", said.len())),
    }
}

fn texts(host: &RunningHost, chat: &str) -> Vec<String> {
    messages(host, chat).iter().map(|one| one["content"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_exported_chat_comes_back_to_be_read_and_goes_on_in_a_copy() {
    let stand = Stand::new(answering);
    let host = stand.sandbox.serve();
    let chat = session(&host, &stand.agent);
    for text in ["<b>bold</b>", "count"] {
        until(&host, &send(&host, &chat, text), &["done"]);
    }
    let whole = texts(&host, &chat);
    let file = stand.sandbox.root().join("chat.json");
    let exported = stand.sandbox.run(&["chats", "export", &chat, "-o", file.to_str().unwrap()]);
    assert_eq!(exported.status, 0, "{exported:?}");
    let made = stand.sandbox.run(&["chats", "import", file.to_str().unwrap(), "--json"]);
    assert_eq!(made.status, 0, "{made:?}");
    let made = made.json();
    let copy = made["id"].as_str().unwrap();
    assert!(copy != chat && made["importedAt"].is_string(), "{made}");
    assert_eq!(texts(&host, copy), whole);
    assert_eq!(messages(&host, copy)[3]["toolCalls"][0]["tool"], "count");

    // It is only read.
    for (path, body) in [("send", json!({ "text": "x" })), ("retry", json!({})), ("compact", json!({}))] {
        let refused = host.ask("POST", &format!("/api/v1/sessions/{copy}/{path}"), Some(&body));
        assert_eq!(
            (refused.status, &refused.json()["error"]["code"]),
            (409, &json!("chat_read_only")),
            "{path}"
        );
    }
    let end = messages(&host, copy).last().unwrap()["id"].as_str().unwrap().to_owned();
    let fork =
        host.ask("POST", &format!("/api/v1/sessions/{copy}/messages/{end}/fork"), Some(&json!({}))).json();
    let fork = fork["id"].as_str().unwrap();
    until(&host, &send(&host, fork, "and on"), &["done"]);
    assert_eq!(texts(&host, fork)[..whole.len()], whole[..]);

    // What is broken is said in words and leaves nothing behind.
    let count = || host.ask("GET", "/api/v1/sessions", None).json()["items"].as_array().unwrap().len();
    let before = count();
    for text in [
        "",
        "{",
        "[]",
        "{\"format\":\"chatos-chat/9\"}",
        "{\"format\":\"chatos-chat/1\",\"messages\":[{\"role\":\"x\"}]}",
    ] {
        let refused = host.ask("POST", "/api/v1/sessions/import", Some(&json!({ "text": text })));
        assert_eq!(
            (refused.status, &refused.json()["error"]["code"]),
            (422, &json!("chat_file_invalid")),
            "{text}"
        );
    }
    let bad = stand.sandbox.root().join("bad.json");
    std::fs::write(&bad, "not json").unwrap();
    let refused = stand.sandbox.run(&["chats", "import", bad.to_str().unwrap()]);
    assert!(refused.status == 1 && refused.stderr.contains("not JSON"), "{refused:?}");
    assert_eq!(stand.sandbox.run(&["chats", "import", "nowhere.json"]).status, 4);
    assert_eq!(count(), before);
}

#[test]
fn a_version_is_deleted_with_what_hangs_on_it_after_a_question_and_never_under_a_run() {
    let stand = Stand::new(answering);
    let host = stand.sandbox.serve();
    let chat = session(&host, &stand.agent);
    for text in ["one", "count"] {
        until(&host, &send(&host, &chat, text), &["done"]);
    }
    let first = messages(&host, &chat)[0]["id"].as_str().unwrap().to_owned();
    let body = json!({ "text": "uno", "replaces": first });
    let sent = host.ask("POST", &format!("/api/v1/sessions/{chat}/send"), Some(&body)).json();
    until(&host, sent["runId"].as_str().unwrap(), &["done"]);
    let second = messages(&host, &chat)[0]["id"].as_str().unwrap().to_owned();
    let delete = |id: &str, dry: bool| {
        let path = format!("/api/v1/sessions/{chat}/messages/{id}?dryRun={dry}");
        let answer = host.ask("DELETE", &path, None);
        (answer.status, answer.json())
    };
    let (status, size) = delete(&first, true);
    assert_eq!((status, &size), (200, &json!({ "deleted": false, "messages": 4, "others": 1 })));
    assert_eq!(delete("nothing", false).0, 404);
    assert_eq!(delete(messages(&host, &chat)[1]["id"].as_str().unwrap(), false).0, 404, "not an answer");
    // Without a terminal only --yes says yes.
    let remove = ["chats", "remove", &chat, "--message", &second];
    assert_ne!(stand.sandbox.run(&remove).status, 0);
    assert_eq!(texts(&host, &chat)[0], "uno");
    let removed = stand.sandbox.run(&[&remove[..], &["--yes", "--json"]].concat());
    assert_eq!((removed.status, removed.json()["messages"].clone()), (0, json!(2)), "{removed:?}");
    assert_eq!(texts(&host, &chat)[0], "one");
    assert_eq!(messages(&host, &chat)[0].get("versions"), None);
    // The last version takes everything; the chat stays and goes on.
    assert_eq!(delete(&first, false).0, 200);
    assert!(messages(&host, &chat).is_empty());
    until(&host, &send(&host, &chat, "anew"), &["done"]);
    assert_eq!(texts(&host, &chat)[0], "anew");
    let logs = std::fs::read_dir(stand.sandbox.state().join("audit")).unwrap();
    let audit: String =
        logs.filter_map(|entry| std::fs::read_to_string(entry.unwrap().path()).ok()).collect();
    assert_eq!(audit.matches("messages_deleted").count(), 2, "{audit}");
    let doctor = stand.sandbox.run(&["doctor", "--deep", "--json"]);
    assert!(!doctor.stdout.contains("miscounted"), "{doctor:?}");
}
