//! A run for which the chat became too long: with a summary it goes on where it stopped (working-day §2).

use chatos_testkit::{Script, eventually};
use serde_json::{Value, json};

use crate::support::{Stand, last, messages, offered, send, session, until};

/// Stands before what was summarised.
const SUMMARISED: &str = "The beginning of this conversation was summarized";

/// What a vendor says that names no number but the window everybody knew of.
fn too_long() -> Script {
    Script::Refuse {
        status: 400,
        headers: Vec::new(),
        body: json!({ "error": { "type": "invalid_request_error", "code": "context_length_exceeded",
                                 "message": "Range of input length should be [1, 128000]" } }),
    }
}

/// Counts twice and then has no room for an answer until it is sent a summary.
fn counter(request: &Value) -> Script {
    let (role, text) = last(request);
    let count =
        |id: &str, key: &str| Script::call(id, offered(request, "count").unwrap(), &json!({ "key": key }));
    if request["tools"].is_null() {
        return Script::say("one was counted");
    }
    match (role.as_str(), text.as_str()) {
        _ if request["messages"].to_string().contains(SUMMARISED) => Script::say("all is counted"),
        ("tool", text) if text.contains("counted one") => count("second", "two"),
        ("tool", _) => too_long(),
        (_, text) if text.ends_with("count them") => count("first", "one"),
        (_, text) if text.ends_with("hello") => Script::say("hello"),
        _ => too_long(),
    }
}

fn stand() -> Stand {
    Stand::speaking(&json!({ "contextTokens": 128_000 }), counter)
}

fn resume(host: &chatos_testkit::RunningHost, run: &str) -> (u16, Value) {
    let answer = host.ask("POST", &format!("/api/v1/runs/{run}/resume"), Some(&json!({})));
    (answer.status, answer.json())
}

#[test]
fn a_run_that_failed_for_its_length_goes_on_behind_a_summary_and_repeats_nothing() {
    let stand = stand();
    let host = stand.sandbox.serve();
    let chat = session(&host, &stand.agent);
    let id = send(&host, &chat, "count them");
    let failed = until(&host, &id, &["done", "failed"]);
    assert_eq!((&failed["state"], &failed["error"]["code"]), (&json!("failed"), &json!("context_length")));
    assert!(messages(&host, &chat).iter().any(|message| message["kind"] == "notice"));
    let (status, said) = resume(&host, &id);
    assert_eq!(status, 202, "{said}");
    let run = until(&host, &id, &["done", "failed"]);
    assert_eq!(
        (&run["state"], &run["stopReason"], &run["error"]),
        (&json!("done"), &json!("end"), &Value::Null)
    );
    // One run, one message of the person, and no tool ran again.
    assert_eq!((stand.counted("one"), stand.counted("two")), (1, 1));
    let now = messages(&host, &chat);
    let kinds: Vec<&str> = now.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["user", "assistant", "tool", "assistant", "tool", "assistant"], "{now:?}");
    assert_eq!(now.last().unwrap()["content"], "all is counted");
    // What was asked for stands in the request word for word, and the newest result as it was.
    let answered = stand.model.requests().last().unwrap()["messages"].to_string();
    assert!(answered.contains("one was counted") && answered.contains("count them"), "{answered}");
    assert!(answered.contains("counted two") && !answered.contains("counted one"), "{answered}");
    // Over is over.
    let (status, said) = resume(&host, &id);
    assert_eq!(status, 409, "{said}");
}

#[test]
fn without_anything_to_summarise_both_ways_say_so_and_the_failure_stays() {
    let stand = stand();
    let host = stand.sandbox.serve();
    let chat = session(&host, &stand.agent);
    let id = send(&host, &chat, "too much at once");
    let failed = until(&host, &id, &["done", "failed"]);
    assert_eq!(failed["error"]["code"], "context_length", "{failed}");
    let path = format!("/api/v1/sessions/{chat}/compact");
    let compact = host.ask("POST", &path, Some(&json!({})));
    for (status, said) in [(compact.status, compact.json()), resume(&host, &id)] {
        assert_eq!((status, &said["error"]["code"]), (409, &json!("nothing_to_compact")), "{said}");
        assert!(said["error"]["hint"].as_str().unwrap().contains("larger window"), "{said}");
    }
    let now = until(&host, &id, &["done", "failed"]);
    assert_eq!((&now["state"], &now["error"]), (&failed["state"], &failed["error"]));
    // Something was said since: what failed is the past.
    let next = send(&host, &chat, "hello");
    until(&host, &next, &["done"]);
    let (status, said) = resume(&host, &id);
    assert_eq!((status, &said["error"]["code"]), (409, &json!("conflict")), "{said}");
}

#[test]
fn the_tools_a_model_knows_are_told_with_its_window() {
    let stand = stand();
    let host = stand.sandbox.serve();
    let chat = session(&host, &stand.agent);
    let id = send(&host, &chat, "hello");
    until(&host, &id, &["done"]);
    let used = eventually("what it used", || {
        let mut all = stand.lines("events.jsonl").into_iter();
        let own =
            |event: &Value| event["payload"]["trace"]["runId"] == id.as_str() && event["type"] == "usage";
        all.find(own)
    });
    let sent = stand.model.requests()[0]["tools"].as_array().unwrap().len();
    let tools = &used["payload"]["context"]["tools"];
    assert_eq!(tools, &json!({ "loaded": sent, "all": sent }), "{used}");
}
