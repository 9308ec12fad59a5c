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
        let mut command =
            self.sandbox.command(&["gateway", "--agent", self.agent.as_str(), "--session", "night shift"]);
        command.current_dir(self.sandbox.root().join("project"));
        McpClient::connect(command, era, json!({})).0
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
fn an_answer_given_while_no_host_runs_is_used_by_the_next_one() {
    let desk = Desk::start();
    let mut client = desk.client(McpEra::Modern);
    let id = write(&mut client);
    let item = question(&desk.host);
    let Desk { sandbox, host, agent } = desk;
    host.kill();
    let request = item["requestId"].as_str().unwrap();
    let answered = sandbox.run(&["prompts", "answer", request, "--ok", "--json"]);
    assert_eq!(answered.status, 0, "{}", answered.stderr);
    let desk = Desk { host: Desk::serve(&sandbox), sandbox, agent };
    let result = client.answer(id);
    assert_eq!(result["isError"], false, "{result}");
    assert_eq!(desk.written().as_deref(), Some("x\n"));
    assert!(open(&desk.host).is_empty());
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
