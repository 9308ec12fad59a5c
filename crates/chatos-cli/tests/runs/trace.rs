//! Main agent, subagent, tool: one chain of spans, with the same nine fields wherever it is written down
//! (agents §12, §16.7, §16.8, §16.10).

use std::collections::BTreeMap;

use chatos_testkit::{McpClient, McpEra, Script};
use serde_json::{Value, json};

use crate::support::{Stand, last, messages, offered, send, session, until};

const FIELDS: [&str; 9] = [
    "traceId",
    "spanId",
    "parentSpanId",
    "rootAgentId",
    "agentId",
    "subAgentId",
    "runId",
    "sessionId",
    "toolName",
];

/// The main agent hands its message to a subagent, which calls `meta` with it as its key.
fn chain(request: &Value) -> Script {
    let (role, text) = last(request);
    match (role.as_str(), offered(request, "run_sub_agent"), offered(request, "meta")) {
        ("tool", ..) => Script::say(format!("got: {text}")),
        (_, Some(router), _) => {
            Script::call("to-sub", router, &json!({ "task": text, "agent_id": "researcher" }))
        }
        (_, None, Some(meta)) => Script::call("to-tool", meta, &json!({ "key": text })),
        _ => Script::say("no tool"),
    }
}

#[test]
fn main_sub_tool_is_one_chain_with_the_same_fields_everywhere() {
    let stand = Stand::with_subs(chain);
    let host = stand.sandbox.serve();
    let chat = session(&host, &stand.agent);
    let run = send(&host, &chat, "one");
    let run = until(&host, &run, &["done", "failed"]);
    assert_eq!(run["state"], "done", "{run}");
    assert_eq!(stand.counted("one"), 1);

    let trace_id = run["traceId"].as_str().unwrap();
    assert_eq!(trace_id.len(), 32);
    let trace = host.ask("GET", &format!("/api/v1/traces/{trace_id}"), None).json();
    let spans = trace["spans"].as_array().unwrap();
    let find = |kind: &str, name: &str| {
        let found = spans.iter().filter(|span| span["kind"] == kind && span["trace"]["toolName"] == name);
        let found: Vec<&Value> = found.collect();
        assert_eq!(found.len(), 1, "{kind} {name}: {spans:?}");
        found[0].clone()
    };
    let (routed, called) = (find("tool", "run_sub_agent"), find("tool", "meta"));
    let runs: Vec<&Value> = spans.iter().filter(|span| span["kind"] == "run").collect();
    assert_eq!(runs.len(), 2, "{spans:?}");
    let root = runs.iter().find(|span| span["spanId"] == run["spanId"]).unwrap();
    let child = runs.iter().find(|span| span["spanId"] != run["spanId"]).unwrap();
    assert_eq!(routed["parentSpanId"], root["spanId"]);
    assert_eq!(child["parentSpanId"], routed["spanId"]);
    assert_eq!(called["parentSpanId"], child["spanId"]);
    // For people by its name, for programs by its identity.
    assert_eq!(called["serverName"], "counter");
    assert!(called["server"].as_str().is_some_and(|identity| identity.starts_with("admin:")), "{called}");
    for span in spans {
        assert_eq!(span["trace"]["traceId"], trace_id, "one trace: {span}");
        let names: Vec<&str> = span["trace"].as_object().unwrap().keys().map(String::as_str).collect();
        assert!(FIELDS.iter().all(|field| names.contains(field)) && names.len() == 9, "{span}");
    }
    assert_eq!(called["trace"]["rootAgentId"], stand.agent.as_str());
    assert_eq!(called["trace"]["agentId"], stand.agent.as_str());
    assert_eq!(called["trace"]["subAgentId"], "chatos-general/researcher");
    assert_eq!(called["trace"]["sessionId"], chat.as_str());
    assert_eq!(called["trace"]["runId"], child["trace"]["runId"]);
    assert_eq!(root["trace"]["subAgentId"], Value::Null);

    // What the tool's server got.
    let metas = stand.metas("meta");
    assert_eq!(metas.len(), 1);
    assert_eq!(metas[0]["chatos"]["trace"], called["trace"]);
    let parent = format!("00-{trace_id}-{}-01", called["spanId"].as_str().unwrap());
    assert_eq!(metas[0]["traceparent"], parent.as_str());

    // The tool log: both calls, each with its end, joined by (traceId, spanId).
    let log = stand.lines("tool-log.jsonl");
    for span in [&routed, &called] {
        let lines: Vec<&Value> =
            log.iter().filter(|line| line["trace"]["spanId"] == span["spanId"]).collect();
        let kinds: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["tool_call", "tool_result"], "{span}");
        assert!(lines.iter().all(|line| line["trace"] == span["trace"]), "{lines:?} {span}");
        assert!(lines.iter().all(|line| line["runId"] == span["trace"]["runId"]));
    }

    // The record of events.
    let events = stand.lines("events.jsonl");
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for event in &events {
        let named = event["payload"]["trace"].as_object().map(|trace| trace.len());
        assert_eq!((named, event["payload"].get("sessionId").is_some()), (Some(9), true), "{event}");
        for span in [&routed, &called] {
            if event["payload"]["trace"]["spanId"] == span["spanId"] {
                assert_eq!(event["payload"]["trace"], span["trace"], "{event}");
                *kinds.entry(event["type"].as_str().unwrap()).or_default() += 1;
            }
        }
    }
    assert_eq!((kinds.get("tool_started"), kinds.get("tool_finished")), (Some(&2), Some(&2)), "{kinds:?}");

    // The journal, and its export: one tree with one root.
    let id = child["trace"]["runId"].as_str().unwrap();
    let journal = host.ask("GET", &format!("/api/v1/runs/{id}"), None).json();
    let step = journal["steps"].as_array().unwrap().iter().find(|step| step["kind"] == "tool").unwrap();
    assert_eq!((&step["spanId"], &step["tool"]), (&called["spanId"], &json!("meta")));
    let path = format!("/api/v1/runs/{}/export?format=otlp", run["id"].as_str().unwrap());
    let otlp = host.ask("GET", &path, None).json();
    let exported = otlp["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap();
    assert_eq!(exported.len(), spans.len());
    assert_eq!(exported.iter().filter(|span| span["parentSpanId"] == "").count(), 1);
    assert!(exported.iter().all(|span| span["traceId"] == trace_id));

    // agents §16.7: the subagent had the land_config's sub flow, and never the router.
    let offers: Vec<Vec<String>> = stand.model.requests().iter().map(tools).collect();
    assert!(offers.iter().any(|names| names.iter().any(|name| name.ends_with("_run_sub_agent"))));
    let of_sub: Vec<&Vec<String>> =
        offers.iter().filter(|names| !names.iter().any(|name| name.ends_with("_run_sub_agent"))).collect();
    assert_eq!(of_sub.len(), 2, "{offers:?}");
    assert!(of_sub.iter().all(|names| names.iter().all(|name| !name.contains("sub_agent"))));
    assert!(of_sub.iter().all(|names| names.iter().any(|name| name.ends_with("_meta"))));
}

fn tools(request: &Value) -> Vec<String> {
    let tools = request["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    tools.iter().filter_map(|tool| tool["function"]["name"].as_str()).map(str::to_owned).collect()
}

#[test]
fn a_sub_agent_that_was_cut_off_goes_on_with_its_parent() {
    let stand = Stand::with_subs(|request| {
        let (role, text) = last(request);
        match (role.as_str(), offered(request, "run_sub_agent"), offered(request, "slow")) {
            ("tool", ..) => Script::say(format!("got: {text}")),
            (_, Some(router), _) => {
                Script::call("to-sub", router, &json!({ "task": text, "agent_id": "researcher" }))
            }
            (_, None, Some(slow)) => Script::call("to-tool", slow, &json!({ "key": text })),
            _ => Script::say("no tool"),
        }
    });
    let host = stand.sandbox.serve();
    let chat = session(&host, &stand.agent);
    let run = send(&host, &chat, "cut");
    let began = std::time::Instant::now();
    while stand.counted("cut") == 0 {
        assert!(began.elapsed().as_secs() < 60, "the tool was not called");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    host.kill();
    let host = stand.sandbox.serve();
    let parent = until(&host, &run, &["interrupted"]);
    let jobs = host.ask("GET", "/api/v1/runs?kind=sub", None).json();
    let job = &jobs["items"][0];
    assert_eq!(job["state"], "interrupted", "{job}");
    assert_eq!(job["traceId"], parent["traceId"]);
    // It is the parent that is continued; its child goes on first, and asks what became of its call.
    let alone =
        host.ask("POST", &format!("/api/v1/runs/{}/resume", job["id"].as_str().unwrap()), Some(&json!({})));
    assert_eq!(alone.status, 409, "{}", alone.text());
    let resumed = host.ask("POST", &format!("/api/v1/runs/{run}/resume"), Some(&json!({})));
    assert_eq!(resumed.status, 202, "{}", resumed.text());
    let asked = loop {
        let list = host.ask("GET", "/api/v1/prompts?view=needs_you", None).json();
        if let Some(id) = list["items"][0]["requestId"].as_str() {
            break id.to_owned();
        }
        assert!(began.elapsed().as_secs() < 120, "nobody is asked");
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    let whole = host.ask("GET", &format!("/api/v1/prompts/{asked}"), None).json();
    let body = json!({ "response": { "status": "ok", "selection": "worked" }, "shown": whole["shown"] });
    assert_eq!(host.ask("POST", &format!("/api/v1/prompts/{asked}/response"), Some(&body)).status, 200);
    let done = until(&host, &run, &["done", "failed"]);
    assert_eq!(done["state"], "done");
    assert_eq!(done["traceId"], parent["traceId"], "a continued run keeps its trace");
    assert_eq!(stand.counted("cut"), 1, "nothing ran twice");
    let jobs = host.ask("GET", "/api/v1/runs?kind=sub", None).json();
    assert_eq!(jobs["items"].as_array().unwrap().len(), 1, "and no second subagent was started");
    assert_eq!(jobs["items"][0]["state"], "done");
    let said = messages(&host, &chat);
    let roles: Vec<&str> = said.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant"]);
}

#[test]
fn a_client_of_the_router_reaches_the_sub_agents_of_the_running_host() {
    let stand = Stand::with_subs(|request| {
        let (role, text) = last(request);
        match (role.as_str(), offered(request, "meta")) {
            ("user", Some(meta)) if text == "slowly" => Script::call("c1", meta, &json!({ "key": text })),
            _ => Script::say(format!("reported: {text}")),
        }
    });
    let client = || {
        let command = stand.sandbox.command(&["mcp", "subagent_router"]);
        McpClient::connect(command, McpEra::Legacy, json!({})).0
    };
    let task = json!({ "task": "look around", "agent_id": "researcher" });
    let alone = client().call("run_sub_agent", task.clone());
    assert_eq!(alone["structuredContent"]["code"], "unavailable", "no host, no subagent: {alone}");
    let host = stand.sandbox.serve();
    let mut client = client();
    let done = client.call("run_sub_agent", task.clone());
    assert_eq!(done["structuredContent"]["status"], "ok", "{done}");
    assert_eq!(done["structuredContent"]["data"]["response"], "reported: look around");
    let job = client.call("start_sub_agent_async", task);
    let id = job["structuredContent"]["data"]["job_id"].as_str().unwrap().to_owned();
    let state = client.call("get_sub_agent_status", json!({ "job_id": id, "wait_ms": 60_000 }));
    assert_eq!(state["structuredContent"]["data"]["status"], "done", "{state}");
    let unknown = client.call("run_sub_agent", json!({ "task": "x", "agent_id": "nobody" }));
    assert_eq!(unknown["structuredContent"]["code"], "not_found", "{unknown}");
    // Both are runs of the host, in its journal.
    let jobs = host.ask("GET", "/api/v1/runs?kind=sub", None).json();
    assert_eq!(jobs["items"].as_array().unwrap().len(), 2, "{jobs}");
}

#[test]
fn two_chats_with_different_servers_keep_their_tools_over_many_turns() {
    let stand = Stand::new(|request| {
        let (role, text) = last(request);
        if role == "tool" {
            return Script::say("next");
        }
        let wanted = if text.starts_with("count") { "count" } else { "list_tasks" };
        let other = if wanted == "count" { "list_tasks" } else { "count" };
        match (offered(request, wanted), offered(request, other)) {
            (Some(name), None) if wanted == "count" => Script::call("c", name, &json!({ "key": "turn" })),
            (Some(name), None) => Script::call("c", name, &json!({})),
            found => Script::say(format!("wrong tools: {found:?}")),
        }
    });
    let host = stand.sandbox.serve();
    let body = json!({ "name": "tasks", "mode": "flow", "landConfigId": "lc_safe_default" });
    let tasks = host.ask("POST", "/api/v1/agents", Some(&body)).json()["id"].as_str().unwrap().to_owned();
    let (one, other) = (session(&host, &stand.agent), session(&host, &tasks));
    // agents §16.4: a hundred turns of each, side by side; starts and ends of runs interleave.
    std::thread::scope(|scope| {
        for (chat, text) in [(&one, "count"), (&other, "tasks")] {
            let host = &host;
            scope.spawn(move || {
                for _ in 0..100 {
                    let run = send(host, chat, text);
                    assert_eq!(until(host, &run, &["done", "failed"])["state"], "done");
                }
            });
        }
    });
    assert_eq!(stand.counted("turn"), 100);
    for chat in [&one, &other] {
        let said = messages(&host, chat);
        let results: Vec<&Value> = said.iter().filter(|message| message["role"] == "tool").collect();
        assert_eq!(results.len(), 100);
        assert!(results.iter().all(|message| message["status"] == "ok"), "a tool disappeared");
    }
}

#[test]
fn an_explanation_says_whether_a_server_offers_its_tools_now() {
    let stand = Stand::new(chain);
    let host = stand.sandbox.serve();
    let explained = || {
        let path = format!("/api/v1/agents/{}/explain", stand.agent);
        let whole = host.ask("GET", &path, None).json();
        let servers = whole["servers"].as_array().unwrap();
        servers.iter().find(|server| server["name"] == "counter").unwrap().clone()
    };
    let names = |server: &Value| -> Vec<String> {
        let tools = server["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
        tools.iter().filter_map(|tool| Some(tool["tool"].as_str()?.to_owned())).collect()
    };
    // Never seen.
    assert_eq!((explained()["tools"].clone(), explained()["toolsFrom"].clone()), (Value::Null, Value::Null));
    let chat = session(&host, &stand.agent);
    assert_eq!(until(&host, &send(&host, &chat, "one"), &["done", "failed"])["state"], "done");
    let now = explained();
    assert_eq!(
        (names(&now), &now["toolsFrom"]),
        (vec!["big".into(), "count".into(), "meta".into(), "slow".into()], &json!("now"))
    );
    let id = now["identity"].as_str().unwrap().strip_prefix("admin:").unwrap();
    let stopped = host.ask("POST", &format!("/api/v1/mcp-servers/{id}/stop"), Some(&json!({})));
    assert!(stopped.status < 300, "{}", stopped.text());
    let seen = explained();
    assert_eq!((names(&seen), &seen["toolsFrom"]), (names(&now), &json!("lastSeen")));
    let said = stand.sandbox.run(&["agent", "explain", &stand.agent]);
    assert!(said.stdout.contains("not connected; its tools as last seen"), "{said:?}");
    host.stop();
}
