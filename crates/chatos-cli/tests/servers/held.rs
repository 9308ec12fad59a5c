//! Calls through `chatos gateway` that wait for a person, while hosts and clients come and go: the card names who
//! asks, the question is asked once, and nothing runs twice or for nobody.

use chatos_testkit::{McpClient, McpEra, RunningHost, Sandbox, eventually, make_dir};
use serde_json::{Value, json};

use crate::support;

struct Desk {
    sandbox: Sandbox,
    host: RunningHost,
    agent: String,
}

fn ask(host: &RunningHost, path: &str, body: &Value) -> Value {
    let made = host.ask("POST", &format!("/api/v1/{path}"), Some(body));
    assert!(made.status < 300, "{path}: {}", made.text());
    made.json()
}

impl Desk {
    /// An agent that may write files after a question.
    fn start() -> Self {
        let sandbox = support::sandbox();
        for folder in ["elsewhere", "project"] {
            make_dir(&sandbox.root().join(folder), 0o755);
        }
        let host = Self::serve(&sandbox);
        let all = host.ask("GET", "/api/v1/mcp-servers", None).json();
        let id = |name: &str| {
            let found = all["items"].as_array().unwrap().iter().find(|item| item["name"] == name);
            json!({ "id": found.unwrap()["id"] })
        };
        let servers = json!([id("code_writer"), id("project_files")]);
        let land = json!({ "name": "l", "main": { "mcpServers": servers }, "sub": {} });
        let land = ask(&host, "land-configs", &land)["id"].clone();
        let agent = ask(&host, "agents", &json!({ "name": "a", "mode": "flow", "landConfigId": land }));
        let agent = agent["id"].as_str().unwrap().to_owned();
        Self { sandbox, host, agent }
    }

    fn serve(sandbox: &Sandbox) -> RunningHost {
        let elsewhere = sandbox.root().join("elsewhere");
        sandbox.serve_with(&["--project", elsewhere.to_str().unwrap()])
    }

    fn client(&self, era: McpEra) -> McpClient {
        self.client_with(era, &[], json!({}))
    }

    fn client_with(&self, era: McpEra, more: &[&str], capabilities: Value) -> McpClient {
        let mut args = vec!["gateway", "--agent", self.agent.as_str(), "--session", "night shift"];
        args.extend(more);
        let mut command = self.sandbox.command(&args);
        command.current_dir(self.sandbox.root().join("project"));
        McpClient::connect(command, era, capabilities).0
    }

    fn written(&self) -> Option<String> {
        std::fs::read_to_string(self.sandbox.root().join("project/a.txt")).ok()
    }
}

fn write(client: &mut McpClient) -> u64 {
    let list = client.request("tools/list", json!({}));
    let tools = list["tools"].as_array().unwrap();
    let tool = tools.iter().find(|tool| tool["name"].as_str().unwrap().ends_with("_write_file")).unwrap();
    assert_eq!(tool["annotations"]["readOnlyHint"], false, "hints arrive: {tool}");
    assert!(tool["title"].is_string(), "{tool}");
    let name = tool["name"].as_str().unwrap().to_owned();
    let arguments = json!({ "path": "a.txt", "contents": "x\n" });
    client.begin(
        "tools/call",
        json!({
            "name": name, "arguments": arguments, "_meta": { "progressToken": "p" },
        }),
    )
}

fn open(host: &RunningHost) -> Vec<Value> {
    // A host that has just started reads its log first.
    eventually("the questions", || {
        let list = host.ask("GET", "/api/v1/prompts?view=needs_you", None);
        (list.status == 200).then(|| list.json()["items"].as_array().unwrap().clone())
    })
}

fn question(host: &RunningHost) -> Value {
    eventually("the question", || open(host).into_iter().next())
}

fn answer(host: &RunningHost, item: &Value, response: &Value) -> u16 {
    let path = format!("/api/v1/prompts/{}/response", item["requestId"].as_str().unwrap());
    host.ask("POST", &path, Some(&json!({ "response": response, "shown": item["shown"] }))).status
}

#[test]
fn a_held_call_names_its_program_and_outlives_the_host() {
    for era in [McpEra::Legacy, McpEra::Modern] {
        let desk = Desk::start();
        let mut client = desk.client(era);
        let id = write(&mut client);
        let item = question(&desk.host);
        let asker = &item["client"];
        assert_eq!(
            (&asker["kind"], &asker["project"], &asker["label"]),
            (&json!("gateway"), &json!("project"), &json!("night shift"))
        );
        assert_eq!(asker["name"], "test", "{asker}");
        // A report at once, so that a client with a short limit goes on waiting.
        let report = client.message_with("method");
        assert_eq!(report["method"], "notifications/progress", "{report}");
        assert!(report["params"]["message"].as_str().unwrap().contains("waiting for your answer"));
        // And again and again while nobody answers, also after the call itself has said that it waits.
        let mut last = report["params"]["progress"].as_f64().unwrap();
        for _ in 0..3 {
            let next = client.message_with("method")["params"]["progress"].as_f64().unwrap();
            assert!(next > last, "{next} after {last}");
            last = next;
        }

        let Desk { sandbox, host, agent } = desk;
        host.kill();
        let host = Desk::serve(&sandbox);
        let desk = Desk { sandbox, host, agent };
        let again = question(&desk.host);
        assert_eq!(again["requestId"], item["requestId"]);
        assert_eq!(desk.written(), None);
        assert_eq!(answer(&desk.host, &again, &json!({ "status": "ok" })), 200);
        let result = client.answer(id);
        assert_eq!(result["isError"], false, "{result}");
        assert_eq!(desk.written().as_deref(), Some("x\n"));
        assert!(open(&desk.host).is_empty(), "asked once");
        let all = desk.host.ask("GET", "/api/v1/prompts?view=all", None).json();
        assert_eq!(all["items"].as_array().unwrap().len(), 1, "{all}");
    }
}

#[test]
fn a_client_that_knows_tasks_gets_one_and_its_result_after_a_restart_of_the_host() {
    let desk = Desk::start();
    let knows = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let mut client = desk.client_with(McpEra::Modern, &[], knows);
    let call = write(&mut client);
    let task = client.answer(call);
    assert_eq!((&task["resultType"], &task["status"]), (&json!("task"), &json!("working")), "{task}");
    assert_eq!(task["ttlMs"], 168 * 3_600_000_u64, "{task}");
    let get = |client: &mut McpClient| client.request("tasks/get", json!({ "taskId": task["taskId"] }));
    assert_eq!(get(&mut client)["status"], "working");
    let item = question(&desk.host);
    let Desk { sandbox, host, agent } = desk;
    host.kill();
    let desk = Desk { host: Desk::serve(&sandbox), sandbox, agent };
    let again = question(&desk.host);
    assert_eq!(again["requestId"], item["requestId"]);
    assert_eq!(answer(&desk.host, &again, &json!({ "status": "ok" })), 200);
    let done = eventually("the task is over", || {
        let now = get(&mut client);
        (now["status"] != "working").then_some(now)
    });
    assert_eq!((&done["status"], &done["result"]["isError"]), (&json!("completed"), &json!(false)), "{done}");
    assert_eq!(desk.written().as_deref(), Some("x\n"));

    // Another one is withdrawn: its question is closed, nothing is written.
    std::fs::remove_file(desk.sandbox.root().join("project/a.txt")).unwrap();
    let call = write(&mut client);
    let task = client.answer(call)["taskId"].clone();
    question(&desk.host);
    client.request("tasks/cancel", json!({ "taskId": task }));
    assert_eq!(client.request("tasks/get", json!({ "taskId": task }))["status"], "cancelled");
    eventually("the question is closed", || open(&desk.host).is_empty().then_some(()));
    assert_eq!(desk.written(), None);
    let other = client.begin("tasks/get", json!({ "taskId": "nobody's" }));
    assert_eq!(client.reply(other)["error"]["code"], -32_602);
}

#[test]
fn a_client_without_patience_has_its_model_wait() {
    let desk = Desk::start();
    let mut client = desk.client_with(McpEra::Legacy, &["--hold", "1s"], json!({}));
    let call = write(&mut client);
    let told = client.answer(call);
    let text = told["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("needs_input") && told["isError"] == false, "{told}");
    let id = text.split('"').nth(3).unwrap().to_owned();
    let waits = client.call("chatos_wait", json!({ "call": id }));
    assert!(waits["content"][0]["text"].as_str().unwrap().starts_with("needs_input"), "{waits}");
    let item = question(&desk.host);
    assert_eq!(answer(&desk.host, &item, &json!({ "status": "ok" })), 200);
    let result = eventually("the result", || {
        let result = client.call("chatos_wait", json!({ "call": id }));
        (!result["content"][0]["text"].as_str().unwrap().starts_with("needs_input")).then_some(result)
    });
    assert_eq!(result["isError"], false, "{result}");
    assert_eq!(desk.written().as_deref(), Some("x\n"));
    assert_eq!(client.call("chatos_wait", json!({ "call": id }))["isError"], true, "a result is given once");
}

#[test]
fn programs_are_listed_with_what_they_did_and_told_apart() {
    let desk = Desk::start();
    let (mut one, mut two) = (desk.client(McpEra::Legacy), desk.client(McpEra::Modern));
    let list = |what: &str| desk.sandbox.run(&["clients", what, "--json"]).json();
    one.request("tools/list", json!({}));
    let sessions = list("list")["sessions"].as_array().unwrap().clone();
    assert_eq!(sessions.len(), 1, "seen before its first call");
    write(&mut two);
    let item = question(&desk.host);
    assert_eq!((&item["client"]["name"], &item["client"]["number"]), (&json!("test"), &json!(2)), "{item}");
    let sessions = list("list")["sessions"].as_array().unwrap().clone();
    let mut numbers: Vec<u64> = sessions.iter().map(|row| row["number"].as_u64().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2]);
    let id = item["client"]["id"].as_str().unwrap();
    let shown = desk.sandbox.run(&["clients", "show", id, "--json"]).json();
    let session = &shown["session"];
    assert_eq!(
        (&session["connected"], &session["waiting"], &session["rootFrom"]),
        (&json!(true), &json!(1), &json!("cwd"))
    );
    assert_eq!(shown["questions"][0]["requestId"], item["requestId"]);
    assert!(shown["questions"][0]["status"].is_null(), "it is open: {shown}");
    let servers: Vec<&str> =
        shown["uses"].as_array().unwrap().iter().map(|each| each["server"].as_str().unwrap()).collect();
    assert_eq!(servers, ["chatos", "code_writer", "project_files"]);
    assert_eq!(answer(&desk.host, &item, &json!({ "status": "ok" })), 200);
    let shown = eventually("the call is in the record", || {
        let shown = desk.sandbox.run(&["clients", "show", id, "--json"]).json();
        (!shown["calls"].as_array().unwrap().is_empty()).then_some(shown)
    });
    assert_eq!(
        (&shown["calls"][0]["tool"], &shown["calls"][0]["isError"]),
        (&json!("write_file"), &json!(false))
    );
    let log = desk.host.ask("GET", &format!("/api/v1/tool-log?sessionId={id}"), None).json();
    assert_eq!(log["items"][0]["client"]["name"], "test", "{log}");
    two.hang_up();
    two.ended();
    let gone = desk.sandbox.run(&["clients", "show", &id[3..20], "--json"]).json();
    assert_eq!(gone["session"]["connected"], false, "the beginning of its id is enough: {gone}");
    assert_eq!(desk.sandbox.run(&["clients", "forget", id]).status, 0);
    assert_ne!(desk.sandbox.run(&["clients", "show", id]).status, 0);
}

#[test]
fn a_long_list_is_searched_and_only_reading_goes_the_short_way() {
    let desk = Desk::start();
    std::fs::write(desk.sandbox.root().join("project/a.txt"), "planted\n").unwrap();
    let mut client = desk.client_with(McpEra::Modern, &["--tools", "search"], json!({}));
    let list = client.request("tools/list", json!({}));
    let names: Vec<&str> =
        list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    for name in ["find_tools", "call_tool", "call_readonly_tool"] {
        assert!(names.contains(&name), "{names:?}");
    }
    assert!(names.iter().any(|name| name.ends_with("_read_file")), "files are always there: {names:?}");
    assert!(!names.iter().any(|name| name.ends_with("_write_file")), "{names:?}");
    let found = client.call("find_tools", json!({ "query": "write a file" }));
    let text = found["content"][0]["text"].as_str().unwrap();
    let found: Value = serde_json::from_str(text).unwrap();
    let write = found["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap());
    let write = write.clone().find(|name| name.ends_with("_write_file")).unwrap().to_owned();
    let read = names.iter().find(|name| name.ends_with("_read_file")).unwrap().to_string();

    let arguments = json!({ "path": "a.txt", "contents": "x\n" });
    let refused = client.call("call_readonly_tool", json!({ "name": write, "arguments": arguments }));
    assert_eq!(refused["isError"], true);
    assert!(refused["content"][0]["text"].as_str().unwrap().contains("not_read_only"), "{refused}");
    let seen = client.call("call_readonly_tool", json!({ "name": read, "arguments": { "path": "a.txt" } }));
    assert!(seen.to_string().contains("planted"), "{seen}");
    let wrong = client.call("call_tool", json!({ "name": "mcp_code_writer_write_fil", "arguments": {} }));
    assert!(wrong["isError"] == true && wrong.to_string().contains(&write), "near names: {wrong}");
    let id = client.begin_call("call_tool", json!({ "name": write, "arguments": arguments }));
    let item = question(&desk.host);
    assert_eq!(item["card"]["tool"], "write_file", "the question is about the tool itself: {item}");
    assert_eq!(answer(&desk.host, &item, &json!({ "status": "ok" })), 200);
    assert_eq!(client.answer(id)["isError"], false);
    assert_eq!(desk.written().as_deref(), Some("x\n"));
    let unknown = client.begin_call("mcp_code_writer_write_fil", json!({}));
    let unknown = client.reply(unknown);
    assert_eq!(unknown["error"]["code"], -32_602);
    assert!(unknown.to_string().contains(&write), "{unknown}");
}

#[test]
fn an_answer_given_while_no_host_runs_is_used_by_the_next_one() {
    let desk = Desk::start();
    let mut client = desk.client(McpEra::Modern);
    let id = write(&mut client);
    let item = question(&desk.host);
    let Desk { sandbox, host, agent } = desk;
    host.kill();
    let request = item["requestId"].as_str().unwrap();
    // The program of the client is this one.
    let inside = sandbox.run(&["prompts", "answer", request, "--ok", "--json"]);
    assert_eq!(inside.code(), "own_asker", "{inside:?}");
    let answered = sandbox.run_elsewhere(&["prompts", "answer", request, "--ok", "--json"], "");
    assert_eq!(answered.status, 0, "{}", answered.stderr);
    let desk = Desk { host: Desk::serve(&sandbox), sandbox, agent };
    let result = client.answer(id);
    assert_eq!(result["isError"], false, "{result}");
    assert_eq!(desk.written().as_deref(), Some("x\n"));
    assert!(open(&desk.host).is_empty());
}

#[test]
fn a_program_behind_the_gateway_does_not_answer_from_its_own_shell() {
    let desk = Desk::start();
    for era in [McpEra::Legacy, McpEra::Modern] {
        let mut client = desk.client(era);
        let id = write(&mut client);
        let item = question(&desk.host);
        let request = item["requestId"].as_str().unwrap();
        let inside = desk.sandbox.run(&["prompts", "answer", request, "--ok", "--json"]);
        assert_eq!(inside.code(), "own_asker", "{inside:?}");
        assert_eq!(desk.written(), None);
        assert_eq!(question(&desk.host)["requestId"], request, "it is still to be answered");
        let person = desk.sandbox.run_elsewhere(&["prompts", "answer", request, "--cancel", "--json"], "");
        assert_eq!(person.status, 0, "{}", person.stderr);
        let result = client.answer(id);
        assert_eq!(result["structuredContent"]["status"], "canceled", "{result}");
        assert_eq!(desk.written(), None);
    }
}

#[test]
fn a_question_nobody_waits_for_is_closed_and_its_late_answer_refused() {
    let desk = Desk::start();
    let mut client = desk.client(McpEra::Legacy);
    write(&mut client);
    let item = question(&desk.host);
    client.signal(rustix::process::Signal::KILL);
    eventually("the question is closed", || open(&desk.host).is_empty().then_some(()));
    assert_eq!(answer(&desk.host, &item, &json!({ "status": "ok" })), 409);
    assert_eq!(desk.written(), None);
}

#[test]
fn a_client_learns_that_its_tools_changed() {
    let desk = Desk::start();
    let mut client = desk.client(McpEra::Legacy);
    client.request("tools/list", json!({}));
    let land = desk.host.ask("GET", "/api/v1/land-configs", None).json();
    let land = land["items"].as_array().unwrap().iter().find(|item| item["name"] == "l").unwrap().clone();
    let path = format!("/api/v1/land-configs/{}", land["id"].as_str().unwrap());
    let less = json!({ "name": "l", "main": { "mcpServers": [] }, "sub": {} });
    let changed = desk.host.ask("PUT", &path, Some(&less));
    assert!(changed.status < 300, "{}", changed.text());
    let told = client.message_with("method");
    assert_eq!(told["method"], "notifications/tools/list_changed", "{told}");
}

/// The moments of a held call at which its host is killed.
const MOMENTS: [&str; 5] = ["asked", "answering", "answered", "written", "told"];

/// One client through all of it, which is never restarted: what it was told ran, ran once, and what ran without its
/// knowing is said to be unknown.
#[test]
fn a_host_killed_at_any_moment_of_a_held_call_runs_it_once_or_says_that_it_is_not_known() {
    let mut desk = Desk::start();
    let mut client = desk.client(McpEra::Legacy);
    let tool = client.request("tools/list", json!({}))["tools"].as_array().unwrap().iter().find_map(|tool| {
        tool["name"].as_str().filter(|name| name.ends_with("_write_file")).map(str::to_owned)
    });
    let tool = tool.unwrap();
    let count = desk.sandbox.root().join("project/count.txt");
    let lines = || std::fs::read_to_string(&count).map_or(0, |text| text.lines().count());
    let mut rounds = 0;
    for moment in MOMENTS.iter().cycle().take(MOMENTS.len() * 2) {
        let before = lines();
        let append = json!({ "path": "count.txt", "contents": "x\n", "mode": "append" });
        let id = client.begin("tools/call", json!({ "name": tool, "arguments": append }));
        rounds += 1;
        let item = question(&desk.host);
        let path = format!("/api/v1/prompts/{}/response", item["requestId"].as_str().unwrap());
        let body = json!({ "response": { "status": "ok" }, "shown": item["shown"] });
        let told = std::thread::scope(|scope| {
            // A host that dies meanwhile does not answer.
            let answering = || desk.host.try_ask("POST", &path, Some(&body)).ok();
            let mut told = None;
            match *moment {
                "asked" => {}
                "answering" => drop(scope.spawn(answering)),
                "answered" => assert_eq!(answering().unwrap().status, 200),
                "written" => {
                    answering();
                    eventually("the line", || (lines() > before).then_some(()));
                }
                _ => {
                    answering();
                    told = Some(client.answer(id));
                }
            }
            desk.host.signal(rustix::process::Signal::KILL);
            told
        });
        let Desk { sandbox, host, agent } = desk;
        host.kill();
        desk = Desk { host: Desk::serve(&sandbox), sandbox, agent };
        // An answer that the killed host did not take is given again.
        if let Some(item) = open(&desk.host).into_iter().next() {
            assert!(["asked", "answering"].contains(moment), "{moment}: {item}");
            assert_eq!(answer(&desk.host, &item, &json!({ "status": "ok" })), 200);
        }
        let result = told.unwrap_or_else(|| client.answer(id));
        let ran = lines() - before;
        let unknown = result["content"][0]["text"].as_str().unwrap().contains("It may have run");
        assert!(ran <= 1, "{moment}: it ran {ran} times");
        assert!(unknown || (result["isError"] == false && ran == 1), "{moment}: {ran} {result}");
        assert!(!unknown || ["answering", "answered", "written"].contains(moment), "{moment}: {result}");
        assert!(open(&desk.host).is_empty(), "{moment}");
    }
    let all = desk.host.ask("GET", "/api/v1/prompts?view=all&limit=100", None).json();
    assert_eq!(all["items"].as_array().unwrap().len(), rounds, "asked once each");
}
