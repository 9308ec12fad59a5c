//! Calls that outlive what people or hosts wait for: past the soft deadline the result comes into the
//! queue; a question of a modern server outlives the host, one of an old server does not; what was
//! allowed for a run stays allowed; a server asks the model with consent only.

use std::time::{Duration, Instant};

use chatos_testkit::{RunningHost, Script, eventually};
use serde_json::{Value, json};

use crate::plugin::{Plugged, post};
use crate::support::{last, messages, node, offered, send, session, until};

/// A server of the newest revision: `confirm` needs an answer before it does anything.
const MODERN: &str = r#"
import { createInterface } from "node:readline";
import { appendFileSync } from "node:fs";
const file = process.argv[2];
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === "server/discover") {
    send({ id, result: { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: { tools: {} } } });
  } else if (method === "tools/list") {
    const inputSchema = { type: "object", properties: { key: { type: "string" } } };
    send({ id, result: { resultType: "complete", tools: [{ name: "confirm", inputSchema }] } });
  } else if (method === "tools/call") {
    const { name, arguments: args, inputResponses, requestState } = params;
    appendFileSync(file, `${JSON.stringify({ name, args, inputResponses, requestState })}\n`);
    if (inputResponses === undefined) {
      const schema = { type: "object", required: ["n"], properties: { n: { type: "integer" } } };
      const ask = { method: "elicitation/create", params: { message: "How many?", requestedSchema: schema } };
      send({ id, result: { resultType: "input_required", requestState: "sealed", inputRequests: { count: ask } } });
    } else {
      const text = JSON.stringify(inputResponses);
      send({ id, result: { resultType: "complete", content: [{ type: "text", text }] } });
    }
  } else {
    send({ id, error: { code: -32601, message: "no" } });
  }
});
"#;

/// Calls the tool its first word names, then says what it got; answers what a server asks.
fn obedient(request: &Value) -> Script {
    let (role, text) = last(request);
    if role == "tool" {
        return Script::say(format!("got: {text}"));
    }
    if let Some(key) = text.strip_prefix("sampled ") {
        return Script::say(format!("the model says {key}"));
    }
    let words: Vec<&str> = text.split(' ').collect();
    match words.as_slice() {
        [tool, key] if offered(request, tool).is_some() => {
            Script::call(format!("call-{key}"), offered(request, tool).unwrap(), &json!({ "key": key }))
        }
        // The same tool twice, one call after the other.
        [tool, first, second] => {
            let calls = [first, second].map(|key| {
                (format!("call-{key}"), offered(request, tool).unwrap(), json!({ "key": key }).to_string())
            });
            Script::Answer { text: String::new(), calls: calls.to_vec() }
        }
        _ => Script::say("no tool"),
    }
}

fn stand(entry: &Value) -> Plugged {
    let mut app = json!({ "pluginId": "com.example.tools", "appId": "window" });
    for (key, value) in entry.as_object().unwrap() {
        app[key] = value.clone();
    }
    let land = json!({ "name": "window", "main": { "apps": [app] }, "sub": {} });
    Plugged::new(&json!({}), &land, obedient)
}

/// The oldest question in the queue.
fn question(host: &RunningHost) -> Value {
    let began = Instant::now();
    loop {
        let list = host.ask("GET", "/api/v1/prompts?view=needs_you", None).json();
        if let Some(id) = list["items"][0]["requestId"].as_str() {
            return host.ask("GET", &format!("/api/v1/prompts/{id}"), None).json();
        }
        assert!(began.elapsed() < Duration::from_secs(90), "nobody asks");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn answer(host: &RunningHost, asked: &Value, response: &Value) {
    let path = format!("prompts/{}/response", asked["requestId"].as_str().unwrap());
    post(host, &path, &json!({ "response": response, "shown": asked["shown"] }));
}

/// Results that wait to be read.
fn results(host: &RunningHost) -> Vec<Value> {
    let list = host.ask("GET", "/api/v1/prompts?view=results", None).json();
    list["items"].as_array().unwrap().clone()
}

fn tool_text(host: &RunningHost, chat: &str) -> String {
    let said = messages(host, chat);
    let tool = said.iter().rev().find(|message| message["role"] == "tool").unwrap();
    tool["content"].as_str().unwrap().to_owned()
}

#[test]
fn the_result_of_a_long_call_comes_into_the_queue() {
    let stand = stand(&json!({}));
    let host = stand.sandbox.serve();
    let chat = session(&host, &stand.agent);
    let run = send(&host, &chat, "slow short");
    until(&host, &run, &["done"]);
    assert_eq!(results(&host), Vec::<Value>::new(), "within the deadline it is shown on its card only");
    let set = host.ask("PUT", "/api/v1/settings/mcpSoftDeadlineMs", Some(&json!({ "value": 1000 })));
    assert!(set.status < 300, "{}", set.text());
    let run = send(&host, &chat, "slow one");
    until(&host, &run, &["done"]);
    let found = results(&host);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((&found[0]["kind"], &found[0]["runId"]), (&json!("result"), &json!(run)));
    assert_eq!(found[0]["prompt"]["markdown"], "slow one");
    assert_eq!(found[0]["prompt"]["source"], "com.example.tools.window/slow");
    // Called by hand it is the same.
    let called = stand.sandbox.run(&["tools", "call", "com.example.tools.window", "slow", "key=hand"]);
    assert_eq!(called.stdout.trim(), "slow hand", "{called:?}");
    assert_eq!(results(&host)[0]["prompt"]["markdown"], "slow hand");
    host.stop();
}

#[test]
fn a_modern_question_outlives_the_host_and_an_old_one_does_not() {
    let stand = stand(&json!({}));
    let script = stand.sandbox.root().join("modern.mjs");
    std::fs::write(&script, MODERN).unwrap();
    let calls = stand.sandbox.root().join("modern-calls");
    let made = || -> Vec<Value> {
        let text = std::fs::read_to_string(&calls).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let host = stand.sandbox.serve();
    let argv = json!([node(), script.to_str().unwrap(), calls.to_str().unwrap()]);
    let server = post(&host, "mcp-servers", &json!({ "name": "modern", "argv": argv }));
    let land = json!({ "name": "modern", "main": { "mcpServers": [{ "id": server["id"] }] }, "sub": {} });
    let land = post(&host, "land-configs", &land);
    let agent = post(&host, "agents", &json!({ "name": "m", "mode": "flow", "landConfigId": land["id"] }));
    let agent = agent["id"].as_str().unwrap().to_owned();

    // By hand: the host is killed while the question is open, and nobody waits for the call any more.
    let mut waiting = stand.sandbox.command(&["tools", "call", "modern", "confirm", "key=hand"]);
    waiting.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut waiting = waiting.spawn().unwrap();
    let asked = question(&host);
    host.kill();
    waiting.wait().unwrap();
    let host = stand.sandbox.serve();
    assert_eq!(question(&host)["requestId"], asked["requestId"], "the same question");
    answer(&host, &question(&host), &json!({ "status": "ok", "values": { "n": "12" } }));
    let found = eventually("the result is in the queue", || results(&host).into_iter().next());
    assert_eq!(found["prompt"]["markdown"], r#"{"count":{"action":"accept","content":{"n":12}}}"#, "{found}");
    let sent = made();
    assert_eq!(sent.len(), 2, "once, and once with the answer: {sent:?}");
    assert_eq!((&sent[1]["args"], &sent[1]["requestState"]), (&json!({ "key": "hand" }), &json!("sealed")));

    // In a run: continued, it waits for the same answer and sends the call with it.
    let chat = session(&host, &agent);
    let run = send(&host, &chat, "confirm chat");
    until(&host, &run, &["waiting_prompt"]);
    let asked = question(&host);
    host.kill();
    let host = stand.sandbox.serve();
    until(&host, &run, &["interrupted"]);
    let resumed = host.ask("POST", &format!("/api/v1/runs/{run}/resume"), Some(&json!({})));
    assert_eq!(resumed.status, 202, "{}", resumed.text());
    until(&host, &run, &["waiting_prompt"]);
    assert_eq!(question(&host)["requestId"], asked["requestId"], "the same question");
    answer(&host, &question(&host), &json!({ "status": "ok", "values": { "n": "3" } }));
    until(&host, &run, &["done"]);
    assert_eq!(tool_text(&host, &chat), r#"{"count":{"action":"accept","content":{"n":3}}}"#);
    assert_eq!(made().len(), 4);

    // An old server's question dies with its connection: its prompt is closed, and the call is asked
    // about, never repeated.
    let chat = session(&host, &stand.agent);
    let run = send(&host, &chat, "ask old");
    until(&host, &run, &["waiting_prompt"]);
    let asked = question(&host);
    host.kill();
    let host = stand.sandbox.serve();
    let path = format!("/api/v1/prompts/{}", asked["requestId"].as_str().unwrap());
    let closed = eventually("the question is closed", || {
        let now = host.ask("GET", &path, None).json();
        (now["state"] != "pending").then_some(now)
    });
    assert_eq!(
        closed["answer"]["response"],
        json!({ "status": "canceled", "code": "asker_gone" }),
        "{closed}"
    );
    until(&host, &run, &["interrupted"]);
    host.ask("POST", &format!("/api/v1/runs/{run}/resume"), Some(&json!({})));
    until(&host, &run, &["waiting_prompt"]);
    let uncertain = question(&host);
    answer(&host, &uncertain, &json!({ "status": "ok", "selection": "failed" }));
    until(&host, &run, &["done"]);
    let asks = stand.received().iter().filter(|call| call["name"] == "ask").count();
    assert_eq!(asks, 1, "not sent again");
    host.stop();
}

#[test]
fn what_is_allowed_for_a_run_stays_allowed_when_the_host_is_killed() {
    let stand = stand(&json!({ "tools": { "ask": ["*"] } }));
    let host = stand.sandbox.serve();
    let chat = session(&host, &stand.agent);
    let run = send(&host, &chat, "slow first second");
    let asked = question(&host);
    answer(&host, &asked, &json!({ "status": "ok", "selection": "run" }));
    // The first call is on its way, or the second already: neither asks again.
    eventually("it was called", || (!stand.received().is_empty()).then_some(()));
    host.kill();
    let host = stand.sandbox.serve();
    until(&host, &run, &["interrupted"]);
    host.ask("POST", &format!("/api/v1/runs/{run}/resume"), Some(&json!({})));
    let began = Instant::now();
    loop {
        let now = host.ask("GET", &format!("/api/v1/runs/{run}"), None).json();
        if now["state"] == "done" {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(90), "{now}");
        let list = host.ask("GET", "/api/v1/prompts?view=needs_you", None).json();
        if let Some(id) = list["items"][0]["requestId"].as_str() {
            let whole = host.ask("GET", &format!("/api/v1/prompts/{id}"), None).json();
            let values: Vec<&str> = whole["prompt"]["options"]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(|option| option["value"].as_str())
                .collect();
            assert!(values.contains(&"worked"), "only what is uncertain is asked: {whole}");
            answer(&host, &whole, &json!({ "status": "ok", "selection": "worked" }));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    host.stop();
}

#[test]
fn a_server_asks_the_model_only_where_granted_and_with_consent() {
    let refused = stand(&json!({}));
    let host = refused.sandbox.serve();
    let chat = session(&host, &refused.agent);
    let run = send(&host, &chat, "sample no");
    until(&host, &run, &["done"]);
    assert!(tool_text(&host, &chat).contains("-32601"), "it was not offered: {}", tool_text(&host, &chat));
    host.stop();
    drop(refused);

    let stand = stand(&json!({ "sampling": true }));
    let host = stand.sandbox.serve();
    let chat = session(&host, &stand.agent);
    for (key, choice) in [("denied", "deny"), ("one", "once"), ("two", "session")] {
        let run = send(&host, &chat, &format!("sample {key}"));
        let asked = question(&host);
        let message = asked["prompt"]["message"].as_str().unwrap();
        assert!(message.contains(&format!("sampled {key}")) && message.contains("scripted"), "{message}");
        assert!(message.contains("50"), "the limit is shown: {message}");
        let bare = json!({ "response": { "status": "ok", "selection": "once" } });
        let path = format!("/api/v1/prompts/{}/response", asked["requestId"].as_str().unwrap());
        assert!(host.ask("POST", &path, Some(&bare)).status >= 400, "what was shown has to be named");
        answer(&host, &asked, &json!({ "status": "ok", "selection": choice }));
        until(&host, &run, &["done"]);
        let told: Value = serde_json::from_str(&tool_text(&host, &chat)).unwrap();
        if choice == "deny" {
            assert_eq!((&told["code"], &told["message"]), (&json!(-1), &json!("rejected by the user")));
        } else {
            let text = format!("the model says {key}");
            assert_eq!(told["content"], json!({ "type": "text", "text": text }));
            assert_eq!(told["role"], "assistant");
        }
    }
    // Allowed for this chat: not asked again; and it is counted with its run.
    let run = send(&host, &chat, "sample three");
    until(&host, &run, &["done"]);
    assert!(tool_text(&host, &chat).contains("the model says three"));
    let view = host.ask("GET", &format!("/api/v1/runs/{run}"), None).json();
    assert_eq!(view["usage"][0]["input"], json!(30), "two passes and one question of the server: {view}");
    host.stop();
}
