//! Reject and stop (inbox §1.4): the no ends the run that asked, and what started it; its model is not asked again, reads
//! the note another time, and a kill between the answer and the stop changes none of it.

use chatos_testkit::{RunningHost, Script, eventually};
use serde_json::{Value, json};

use crate::support::{Stand, last, messages, offered, send, session, until};

const NOTE: &str = "wrong folder";

/// Calls `count` twice in one answer, through a subagent where there is a router, and then says what came back.
fn counting(request: &Value) -> Script {
    let (role, text) = last(request);
    match (role.as_str(), offered(request, "run_sub_agent"), offered(request, "count")) {
        ("tool", ..) => Script::say(format!("got: {text}")),
        (_, Some(router), _) => {
            Script::call("to-sub", router, &json!({ "task": text, "agent_id": "researcher" }))
        }
        (_, None, Some(count)) => {
            let call = |id: &str| (id.to_owned(), count.clone(), json!({ "key": text }).to_string());
            Script::Answer { text: String::new(), calls: vec![call("first"), call("second")] }
        }
        _ => Script::say("no tool"),
    }
}

fn open(host: &RunningHost) -> Value {
    host.ask("GET", "/api/v1/prompts?view=needs_you", None).json()["items"].clone()
}

fn question(host: &RunningHost) -> Value {
    let id = eventually("a question", || open(host)[0]["requestId"].as_str().map(str::to_owned));
    host.ask("GET", &format!("/api/v1/prompts/{id}"), None).json()
}

fn respond(host: &RunningHost, asked: &Value, response: &Value) -> chatos_testkit::Answer {
    let path = format!("/api/v1/prompts/{}/response", asked["requestId"].as_str().unwrap());
    host.ask("POST", &path, Some(&json!({ "response": response, "shown": asked["shown"] })))
}

fn stop() -> Value {
    json!({ "status": "canceled", "stop": true, "remark": NOTE })
}

#[test]
fn the_run_ends_with_the_no_and_its_model_reads_the_note_another_time() {
    let stand = Stand::asking("count", counting);
    let host = stand.sandbox.serve();
    let chat = session(&host, &stand.agent);
    let run = send(&host, &chat, "one");
    let asked = question(&host);
    assert_eq!(asked["card"]["stops"], true, "{asked}");
    // Only a no stops.
    let yes = respond(&host, &asked, &json!({ "status": "ok", "selection": "once", "stop": true }));
    assert_eq!((yes.status, &yes.json()["error"]["code"]), (422, &json!("cannot_stop")), "{}", yes.text());
    assert_eq!(respond(&host, &asked, &stop()).status, 200);
    until(&host, &run, &["aborted"]);
    assert_eq!(stand.model.requests().len(), 1, "the model was not asked again");
    assert_eq!(stand.counted("one"), 0);
    assert_eq!(open(&host), json!([]), "the second call of the answer asks nobody");
    let told = messages(&host, &chat).into_iter().find(|message| message["toolCallId"] == "first");
    assert!(told.is_some_and(|message| message.to_string().contains(NOTE)));

    // The chat goes on, and the model knows why.
    let next = send(&host, &chat, "two");
    let asked = question(&host);
    assert_eq!(respond(&host, &asked, &stop()).status, 200);
    until(&host, &next, &["aborted"]);
    let requests = stand.model.requests();
    assert!(requests[1].to_string().contains(NOTE), "{}", requests[1]);
    host.stop();
}

#[test]
fn a_no_to_a_sub_agent_ends_the_run_that_waits_for_it() {
    let stand = Stand::asking_subs("count", counting);
    let host = stand.sandbox.serve();
    let chat = session(&host, &stand.agent);
    let run = send(&host, &chat, "one");
    let asked = question(&host);
    assert_ne!(asked["runId"], run.as_str(), "{asked}");
    assert_eq!(respond(&host, &asked, &stop()).status, 200);
    until(&host, &run, &["aborted"]);
    until(&host, asked["runId"].as_str().unwrap(), &["aborted"]);
    assert_eq!(stand.model.requests().len(), 2, "one of the agent, one of its subagent");
    assert_eq!((stand.counted("one"), open(&host)), (0, json!([])));
    host.stop();
}

#[test]
fn a_no_given_without_a_host_ends_the_run_at_the_next_start() {
    let stand = Stand::asking("count", counting);
    let host = stand.sandbox.serve();
    let chat = session(&host, &stand.agent);
    let run = send(&host, &chat, "one");
    let id = question(&host)["requestId"].as_str().unwrap().to_owned();
    host.kill();
    let done = stand.sandbox.run(&["prompts", "answer", &id, "--cancel", "--stop", "--remark", NOTE]);
    assert_eq!(done.status, 0, "{}", done.stderr);
    let host = stand.sandbox.serve();
    until(&host, &run, &["aborted"]);
    assert_eq!((stand.model.requests().len(), stand.counted("one")), (1, 0));
    assert_eq!(open(&host), json!([]));
    let told = messages(&host, &chat).into_iter().find(|message| message["toolCallId"] == "first");
    assert!(told.is_some_and(|message| message.to_string().contains(NOTE)));
    host.stop();
}

#[test]
fn what_nobody_can_end_is_not_stopped() {
    let stand = Stand::asking("count", counting);
    let host = stand.sandbox.serve();
    let order = json!({ "prompt": { "kind": "choice", "title": "Which?", "options": [{ "value": "a" }] } });
    assert_eq!(host.ask("POST", "/api/v1/prompts", Some(&order)).status, 200);
    let asked = question(&host);
    let refused = respond(&host, &asked, &stop());
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (422, &json!("cannot_stop")));
    assert_eq!(open(&host)[0]["requestId"], asked["requestId"], "and it is still open");
    host.stop();
}
