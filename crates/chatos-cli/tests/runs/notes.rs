//! What a person writes beside a no reaches the model that asked, in the language of the host (inbox §1.4).

use chatos_testkit::{RunningHost, Script, eventually};
use serde_json::{Value, json};

use crate::support::{Stand, last, offered, send, session, until};

const NOTE: &str = "take the other\nfolder\u{1b}";
const WANTED: [(&str, &str); 2] = [
    ("en_US.UTF-8", "– the person declined; nothing was changed. Their note: \"take the other folder\""),
    ("zh_CN.UTF-8", "– 用户拒绝，未做任何更改。备注：“take the other folder”"),
];

/// Calls `count` once, through a subagent where there is a router, and then says what came back.
fn counting(request: &Value) -> Script {
    let (role, text) = last(request);
    match (role.as_str(), offered(request, "run_sub_agent"), offered(request, "count")) {
        ("tool", ..) => Script::say(format!("got: {text}")),
        (_, Some(router), _) => {
            Script::call("to-sub", router, &json!({ "task": text, "agent_id": "researcher" }))
        }
        (_, None, Some(count)) => Script::call("to-tool", count, &json!({ "key": text })),
        _ => Script::say("no tool"),
    }
}

fn question(host: &RunningHost) -> Value {
    let id = eventually("a question", || {
        let list = host.ask("GET", "/api/v1/prompts?view=needs_you", None).json();
        list["items"][0]["requestId"].as_str().map(str::to_owned)
    });
    host.ask("GET", &format!("/api/v1/prompts/{id}"), None).json()
}

/// Every text a model was given as the result of a tool.
fn told(stand: &Stand) -> Vec<String> {
    let requests = stand.model.requests();
    requests.iter().map(last).filter(|(role, _)| role == "tool").map(|(_, text)| text).collect()
}

#[test]
fn the_note_of_a_no_to_a_tool_call_is_in_the_next_request_of_the_model() {
    for (locale, wanted) in WANTED {
        let mut stand = Stand::asking("count", counting);
        stand.sandbox.set_variable("LANG", locale);
        let host = stand.sandbox.serve();
        let chat = session(&host, &stand.agent);
        // Both ways to say no: the option, and closing the question.
        for response in [
            json!({ "status": "ok", "selection": "no", "remark": NOTE }),
            json!({ "status": "canceled", "remark": NOTE }),
        ] {
            let run = send(&host, &chat, "one");
            let asked = question(&host);
            let path = format!("/api/v1/prompts/{}/response", asked["requestId"].as_str().unwrap());
            let answer = json!({ "response": response, "shown": asked["shown"] });
            assert_eq!(host.ask("POST", &path, Some(&answer)).status, 200);
            until(&host, &run, &["done"]);
            let told = told(&stand);
            assert!(told.last().is_some_and(|text| text.contains(wanted)), "{locale}: {told:?}");
        }
        assert_eq!(stand.counted("one"), 0);
        host.stop();
    }
}

#[test]
fn the_note_of_a_no_reaches_the_sub_agent_that_asked() {
    for (locale, wanted) in WANTED {
        let mut stand = Stand::asking_subs("count", counting);
        stand.sandbox.set_variable("LANG", locale);
        let host = stand.sandbox.serve();
        let chat = session(&host, &stand.agent);
        let run = send(&host, &chat, "one");
        let asked = question(&host);
        let path = format!("/api/v1/prompts/{}/response", asked["requestId"].as_str().unwrap());
        let answer = json!({
            "response": { "status": "ok", "selection": "no", "remark": NOTE }, "shown": asked["shown"],
        });
        assert_eq!(host.ask("POST", &path, Some(&answer)).status, 200);
        until(&host, &run, &["done"]);
        let told = told(&stand);
        assert!(told.first().is_some_and(|text| text.contains(wanted)), "{locale}: {told:?}");
        assert_eq!(stand.counted("one"), 0);
        host.stop();
    }
}
