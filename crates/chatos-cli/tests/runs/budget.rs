//! A run that reaches its budget asks before it spends more, and ends or goes on as the person says (agents §7).

use chatos_testkit::{Script, eventually};
use serde_json::{Value, json};

use crate::support::{Stand, last, offered, send, session, until};

/// Calls the tool once, and says so.
fn counting(request: &Value) -> Script {
    let (role, text) = last(request);
    match (role.as_str(), offered(request, "count")) {
        ("tool", _) => Script::say(format!("done: {text}")),
        (_, Some(name)) => Script::call(format!("c-{text}"), name, &json!({ "key": text })),
        _ => Script::say("no tool"),
    }
}

#[test]
fn a_run_over_its_budget_asks_with_the_limit_and_does_what_the_person_says() {
    let stand = Stand::new(counting);
    let host = stand.sandbox.serve();
    let agent = host.ask("GET", &format!("/api/v1/agents/{}", stand.agent), None).json();
    let place = format!("/api/v1/land-configs/{}", agent["landConfigId"].as_str().unwrap());
    let profile = host.ask("GET", &place, None).json();
    let limited = json!({
        "name": profile["name"], "main": profile["main"], "sub": profile["sub"], "limits": { "maxTokens": 2 },
    });
    let kept = host.ask("PUT", &place, Some(&limited));
    assert!(kept.status < 300, "{}", kept.text());
    let chat = session(&host, &stand.agent);
    for (word, end, said) in [("continue", Value::Null, 1), ("stop", json!("budget"), 0)] {
        let run = send(&host, &chat, word);
        // Each yes allows as much again, so it may ask more than once.
        let mut asked = Vec::new();
        let state = eventually("the run is over", || {
            let list = host.ask("GET", "/api/v1/prompts?view=needs_you", None).json();
            if let Some(id) = list["items"][0]["requestId"].as_str() {
                let question = host.ask("GET", &format!("/api/v1/prompts/{id}"), None).json();
                let body = json!({
                    "response": { "status": "ok", "selection": word }, "shown": question["shown"],
                });
                let answered = host.ask("POST", &format!("/api/v1/prompts/{id}/response"), Some(&body));
                assert_eq!(answered.status, 200, "{}", answered.text());
                asked.push(question);
            }
            let now = host.ask("GET", &format!("/api/v1/runs/{run}"), None).json();
            matches!(now["state"].as_str(), Some("done" | "failed" | "aborted")).then_some(now)
        });
        until(&host, &run, &["done", "failed"]);
        let first = asked.first().unwrap();
        assert_eq!(first["effect"], "budget", "{first}");
        assert_eq!(first["card"]["verb"], "go_over_budget", "{first}");
        let title = first["prompt"]["title"].as_str().unwrap();
        assert_eq!(title, "Keep going over the limit of 2 tokens?");
        // The call was made before the money was spent; what the model says of it costs more.
        assert_eq!(stand.counted(word), 1, "{word}");
        let requests = stand.model.requests();
        let told = requests.iter().map(last).filter(|(role, text)| role == "tool" && text.contains(word));
        assert_eq!(told.count(), said, "{word}: {state}");
        if !end.is_null() {
            assert_eq!(state["stopReason"], end, "{state}");
        }
    }
    host.stop();
}
