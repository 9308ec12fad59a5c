//! Versions of messages: what is said differently and answered again takes the place of what was there, for the person
//! and for the model; nothing is lost, and a chat can be forked at any message.

use chatos_testkit::{RunningHost, Script};
use serde_json::{Value, json};

use crate::support::{Stand, messages, send, session, until};

/// Says what it was told, all of it, in order.
fn listening(request: &Value) -> Script {
    let said = request["messages"].as_array().into_iter().flatten().filter(|one| one["role"] == "user");
    let texts: Vec<&str> = said.filter_map(|one| one["content"].as_str()).collect();
    Script::say(format!("heard: {}", texts.join(" | ")))
}

fn texts(host: &RunningHost, chat: &str) -> Vec<String> {
    messages(host, chat).iter().map(|one| one["content"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_is_said_differently_takes_the_place_of_what_was_said() {
    let stand = Stand::new(listening);
    let host = stand.sandbox.serve();
    let chat = session(&host, &stand.agent);
    for text in ["one", "two"] {
        until(&host, &send(&host, &chat, text), &["done"]);
    }
    assert_eq!(texts(&host, &chat), ["one", "heard: one", "two", "heard: one | two"]);
    let first = messages(&host, &chat)[0]["id"].as_str().unwrap().to_owned();

    // The model hears the new text alone, and so does the person.
    let path = format!("/api/v1/sessions/{chat}/send");
    let sent = host.ask("POST", &path, Some(&json!({ "text": "uno", "replaces": first })));
    assert_eq!(sent.status, 202, "{}", sent.text());
    until(&host, sent.json()["runId"].as_str().unwrap(), &["done"]);
    assert_eq!(texts(&host, &chat), ["uno", "heard: uno"]);
    let shown = messages(&host, &chat);
    let second = shown[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(shown[0]["versions"], json!([first, second]));
    assert_eq!(shown[1].get("versions"), None);

    // Answered again: no second question.
    let again = host.ask("POST", &format!("/api/v1/sessions/{chat}/retry"), Some(&json!({})));
    assert_eq!(again.status, 202, "{}", again.text());
    until(&host, again.json()["runId"].as_str().unwrap(), &["done"]);
    assert_eq!(texts(&host, &chat), ["uno", "heard: uno"]);
    assert_eq!(messages(&host, &chat)[0]["versions"].as_array().unwrap().len(), 3);

    // Back to the first version, which goes on where it was.
    let select = |id: &str| {
        let path = format!("/api/v1/sessions/{chat}/messages/{id}/select");
        host.ask("POST", &path, Some(&json!({}))).status
    };
    assert_eq!(select(&first), 200);
    assert_eq!(texts(&host, &chat), ["one", "heard: one", "two", "heard: one | two"]);
    until(&host, &send(&host, &chat, "three"), &["done"]);
    assert_eq!(texts(&host, &chat).last().unwrap(), "heard: one | two | three");
    let found = host.ask("GET", "/api/v1/sessions/search?q=uno", None).json();
    assert_eq!(found["items"], json!([]), "what was left is not found");

    // What is not there cannot be replaced or chosen.
    for wrong in [json!(second), json!("nobody"), messages(&host, &chat)[1]["id"].clone()] {
        let sent = host.ask("POST", &path, Some(&json!({ "text": "x", "replaces": wrong })));
        assert_eq!(sent.status, 404, "{wrong}: {}", sent.text());
    }
    assert_eq!(select("nobody"), 404);
    let empty = host.ask("POST", &path, Some(&json!({ "text": " ", "replaces": first })));
    assert_eq!(empty.status, 422, "{}", empty.text());
}

#[test]
fn a_fork_is_a_chat_that_begins_the_same_way() {
    let stand = Stand::new(listening);
    let host = stand.sandbox.serve();
    let chat = session(&host, &stand.agent);
    for text in ["one", "two"] {
        until(&host, &send(&host, &chat, text), &["done"]);
    }
    let answer = messages(&host, &chat)[1]["id"].as_str().unwrap().to_owned();
    let path = |id: &str| format!("/api/v1/sessions/{chat}/messages/{id}/fork");
    let made = host.ask("POST", &path(&answer), Some(&json!({})));
    assert_eq!(made.status, 201, "{}", made.text());
    let fork = made.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(texts(&host, &fork), ["one", "heard: one"]);
    until(&host, &send(&host, &fork, "zwei"), &["done"]);
    assert_eq!(texts(&host, &fork).last().unwrap(), "heard: one | zwei");
    assert_eq!(texts(&host, &chat).len(), 4, "the first chat is as it was");
    assert_eq!(host.ask("POST", &path("nobody"), Some(&json!({}))).status, 404);
}
