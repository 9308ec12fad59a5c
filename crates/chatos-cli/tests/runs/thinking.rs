//! Vendors over chat completions that want their thinking back: fifty passes with tools over a summary and a change of
//! the model, or thirty in one run that is summarised on its way, each vendor holding what it is sent against its own rule
//! (working-day §4).

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use chatos_testkit::{RunningHost, Script, ScriptedModel};
use serde_json::{Value, json};

use crate::support::{Stand, last, offered, send, session, until};

/// Calls before the model says that it is done.
const CALLS: usize = 12;

/// What a vendor of these accepts of its answers when they come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// Its thinking word for word; a call of somebody else may have none, but has the member.
    DeepSeek,
    /// The member with every call.
    Kimi,
    /// Its thinking word for word where it is there: GLM, Qwen.
    Unchanged,
}

/// A vendor and what it said.
#[derive(Debug, Default)]
struct Said {
    thoughts: HashMap<String, String>,
    refused: Vec<String>,
    passes: usize,
}

struct Vendor {
    model: ScriptedModel,
    said: Arc<Mutex<Said>>,
}

impl Vendor {
    fn new(name: &'static str, rule: Rule) -> Self {
        let said = Arc::new(Mutex::new(Said::default()));
        let model = ScriptedModel::start({
            let said = said.clone();
            move |request| answer(name, rule, &mut said.lock().unwrap(), request)
        });
        Self { model, said }
    }
}

/// What is wrong with a request by the vendor's rule, in its words.
fn wrong(rule: Rule, said: &Said, request: &Value) -> Option<String> {
    for (index, message) in request["messages"].as_array()?.iter().enumerate() {
        let Some(calls) = message["tool_calls"].as_array() else { continue };
        let thinking = message["reasoning_content"].as_str();
        let own = calls.iter().find_map(|call| said.thoughts.get(call["id"].as_str()?));
        let must = matches!(rule, Rule::DeepSeek | Rule::Kimi);
        if must && thinking.is_none() {
            return Some(match rule {
                Rule::DeepSeek => {
                    "The `reasoning_content` in the thinking mode must be passed back to the API.".to_owned()
                }
                _ => format!(
                    "thinking is enabled but reasoning_content is missing in assistant tool call message at index {index}"
                ),
            });
        }
        if let (Some(own), Some(thinking)) = (own, thinking)
            && thinking != own
        {
            return Some(format!("reasoning_content of message {index} was changed"));
        }
    }
    None
}

fn answer(name: &str, rule: Rule, said: &mut Said, request: &Value) -> Script {
    if request.get("tools").is_none() {
        return Script::say("a summary of what was done");
    }
    if let Some(text) = wrong(rule, said, request) {
        said.refused.push(text.clone());
        let body = json!({ "error": { "message": text, "type": "invalid_request_error" } });
        return Script::Refuse { status: 400, headers: Vec::new(), body };
    }
    let messages = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let since = messages.iter().rev().take_while(|message| message["role"] != "user").count() / 2;
    let Some(tool) = offered(request, "count").filter(|_| since < CALLS) else {
        return Script::say(format!("{name} is done: {}", last(request).1));
    };
    said.passes += 1;
    let (id, thought) =
        (format!("{name}_{}", said.passes), format!("{name} thinks for the time {}", said.passes));
    said.thoughts.insert(id.clone(), thought.clone());
    let key = format!("{name}-{}", said.passes);
    Script::thinking(thought, Script::call(id, tool, &json!({ "key": key })))
}

fn model(host: &RunningHost, name: &str, vendor: &Vendor) -> String {
    let body = json!({
        "name": name, "provider": "openai_compatible", "model": name, "baseUrl": vendor.model.base_url(),
    });
    let made = host.ask("POST", "/api/v1/models", Some(&body));
    assert!(made.status < 300, "{}", made.text());
    made.json()["id"].as_str().unwrap().to_owned()
}

/// Two vendors take turns in one chat: the first begins, a summary is made, the second goes on, and the first ends it.
fn turns(first: (&'static str, Rule), second: (&'static str, Rule)) {
    let stand = Stand::new(|_| Script::say("nobody asks this one"));
    let host = stand.sandbox.serve();
    let vendors = [first, second].map(|(name, rule)| Vendor::new(name, rule));
    let ids = [model(&host, first.0, &vendors[0]), model(&host, second.0, &vendors[1])];
    let chat = session(&host, &stand.agent);
    let place = format!("/api/v1/sessions/{chat}");
    for (turn, who) in [0, 0, 1, 1, 0].into_iter().enumerate() {
        let chosen = host.ask("PATCH", &place, Some(&json!({ "modelId": ids[who] })));
        assert_eq!(chosen.status, 200, "{}", chosen.text());
        let run = until(&host, &send(&host, &chat, &format!("turn {turn}")), &["done", "failed"]);
        assert_eq!(run["state"], "done", "{} in turn {turn}: {run} {:?}", ids[who], vendors[who].said);
        // In the middle of either vendor's work, with calls of both before it the second time.
        if turn == 1 || turn == 3 {
            let made = host.ask("POST", &format!("{place}/compact"), Some(&json!({})));
            assert_eq!(made.status, 200, "{}", made.text());
        }
    }
    host.stop();
    let mut passes = 0;
    for (vendor, (name, _)) in vendors.iter().zip([first, second]) {
        let said = vendor.said.lock().unwrap();
        passes += said.passes;
        // A vendor at an address that nobody knows says once what it wants.
        assert!(said.refused.len() <= 1, "{name}: {:?}", said.refused);
        for pass in 1..=said.passes {
            assert_eq!(stand.counted(&format!("{name}-{pass}")), 1, "{name}, pass {pass}");
        }
        // Its own thinking came back, and nobody else's words.
        let back = vendor.model.requests();
        let told = back
            .iter()
            .flat_map(|request| request["messages"].as_array().unwrap())
            .filter_map(|message| message["reasoning_content"].as_str().filter(|text| !text.is_empty()));
        let told: Vec<&str> = told.collect();
        assert!(told.len() > 10 && told.iter().all(|text| text.starts_with(name)), "{name}: {}", told.len());
    }
    assert!(passes >= 50, "{passes} passes");
}

#[test]
fn deepseek_and_kimi_take_turns() {
    turns(("deepseek", Rule::DeepSeek), ("kimi", Rule::Kimi));
}

#[test]
fn glm_and_qwen_take_turns() {
    turns(("glm", Rule::Unchanged), ("qwen", Rule::Unchanged));
}

#[test]
fn kimi_and_qwen_take_turns() {
    turns(("kimi", Rule::Kimi), ("qwen", Rule::Unchanged));
}

/// Passes of a run that thinks more than its window holds.
const LONG: usize = 30;

/// One run of a model that must get its thinking back, behind calls of another one, and summarised on the way; how often
/// it had to say its rule.
fn long_thoughts(model: &str) -> usize {
    let stand = Stand::new(|request| match last(request).0.as_str() {
        "user" => Script::call("c-1", offered(request, "count").unwrap(), &json!({ "key": "before" })),
        _ => Script::say("counted without a thought"),
    });
    let host = stand.sandbox.serve();
    let said = Arc::new(Mutex::new(Said::default()));
    let vendor = ScriptedModel::start({
        let said = said.clone();
        move |request| {
            let mut said = said.lock().unwrap();
            let tokens = request.to_string().len() as u64 / 3;
            if request.get("tools").is_none() {
                return Script::counted(Script::say("a summary of what was done"), tokens);
            }
            if let Some(text) = wrong(Rule::DeepSeek, &said, request) {
                said.refused.push(text.clone());
                let body = json!({ "error": { "message": text, "type": "invalid_request_error" } });
                return Script::Refuse { status: 400, headers: Vec::new(), body };
            }
            if said.passes == LONG {
                return Script::say("thought through");
            }
            said.passes += 1;
            let id = format!("call_{}", said.passes);
            let thought =
                format!("thought {}: {}", said.passes, "on the one hand, on the other. ".repeat(70));
            said.thoughts.insert(id.clone(), thought.clone());
            let key = json!({ "key": format!("k-{}", said.passes) });
            let call = Script::call(id, offered(request, "count").unwrap(), &key);
            Script::counted(Script::thinking(thought, call), tokens)
        }
    });
    let body = json!({ "name": model, "provider": "openai_compatible", "model": model,
        "baseUrl": vendor.base_url(), "contextTokens": 16_384 });
    let made = host.ask("POST", "/api/v1/models", Some(&body));
    assert!(made.status < 300, "{}", made.text());
    let chat = session(&host, &stand.agent);
    until(&host, &send(&host, &chat, "count once"), &["done"]);
    let chosen = json!({ "modelId": made.json()["id"] });
    assert_eq!(host.ask("PATCH", &format!("/api/v1/sessions/{chat}"), Some(&chosen)).status, 200);
    let run = until(&host, &send(&host, &chat, "think it through"), &["done", "failed"]);
    let said = said.lock().unwrap();
    assert_eq!(run["state"], "done", "{} {:?}", run["error"], said.refused);
    host.stop();
    let requests = vendor.requests();
    let summaries = requests.iter().filter(|request| request.get("tools").is_none()).count();
    assert!(summaries > 0, "it was never summarised");
    for pass in 1..=LONG {
        assert_eq!(stand.counted(&format!("k-{pass}")), 1, "pass {pass}");
    }
    // Behind the summary as before it: the newest thoughts stand beside their calls, word for word.
    let last = requests.last().unwrap()["messages"].to_string();
    assert!(last.contains("a summary of what was done") && !last.contains("thought 1: "), "{last:.400}");
    assert!(last.contains(&format!("thought {LONG}: ")));
    said.refused.len()
}

#[test]
fn thinking_comes_back_behind_a_summary_within_a_run() {
    // What a vendor wants back is known by its address: at another one its models say it once, known or not.
    for model in ["deepseek-v4-pro", "nobody-knows-this-one"] {
        assert_eq!(long_thoughts(model), 1, "{model}");
    }
}
