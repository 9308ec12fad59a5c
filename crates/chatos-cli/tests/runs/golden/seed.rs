//! The state that is recorded: a bit of everything, and one chat with a tool call, a question and a subagent.

use chatos_testkit::{RunningHost, Script, eventually};
use serde_json::{Value, json};

use super::Record;
use super::events::Listener;
use super::plain::Plain;
use crate::prompts::install;
use crate::support::{Stand, node, offered, until};

/// A host with that state, and what its parts are called.
pub(crate) struct Seeded {
    pub(crate) stand: Stand,
    pub(crate) host: RunningHost,
    pub(crate) events: Vec<Value>,
    pub(crate) chat: String,
    run: String,
    trace: String,
    prompt: String,
    server: String,
    model: String,
    land: String,
    text: String,
    task: String,
    entry: String,
    change: String,
    operation: String,
}

/// The main agent hands on, then calls a tool that a person is asked about; the subagent calls one freely.
fn decide(request: &Value) -> Script {
    let messages = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let results = messages.iter().filter(|message| message["role"] == "tool").count();
    match (offered(request, "run_sub_agent"), results) {
        (Some(router), 0) => {
            Script::call("to-sub", router, &json!({ "task": "count one", "agent_id": "researcher" }))
        }
        (Some(_), 1) => Script::call("to-tool", offered(request, "count").unwrap(), &json!({ "key": "two" })),
        (Some(_), _) => Script::say("Both were counted."),
        (None, 0) => Script::call("sub-tool", offered(request, "meta").unwrap(), &json!({ "key": "one" })),
        (None, _) => Script::say("It was counted."),
    }
}

impl Seeded {
    pub(crate) fn new(record: &mut Record) -> Self {
        let stand = Stand::asking_subs("count", decide);
        std::os::unix::fs::symlink(node(), stand.sandbox.root().join("bin/node")).unwrap();
        install(&stand.sandbox);
        let host = stand.sandbox.serve();
        let plain = Plain::new(&stand.sandbox, host.port);
        let listener = Listener::start(&host);
        let mut say = |method: &str, route: &str, path: &str, body: Value| {
            let answer =
                host.ask(method, &format!("/api/v1/{path}"), Some(&body).filter(|_| method != "GET"));
            assert!(answer.status < 300, "{method} {path}: {} {}", answer.status, answer.text());
            record.keep(method, &format!("/api/v1/{route}"), answer.status, plain.value(&answer.json()));
            answer.json()
        };
        let text = |value: &Value| value.as_str().unwrap().to_owned();

        let model = json!({ "name": "second", "provider": "openai", "model": "m", "baseUrl": stand.model.base_url(),
                            "apiKeyName": "SECOND_KEY", "apiKey": "sk-1234567890", "priceInput": 1.5 });
        let model = text(&say("POST", "models", "models", model)["id"]);
        say("POST", "models/recognise", "models/recognise", json!({ "text": "https://api.openai.com/v1" }));
        let server = host.ask("GET", "/api/v1/mcp-servers/counter", None).json();
        let server = text(&server["id"]);
        say("POST", "mcp-servers/{id}/connect", &format!("mcp-servers/{server}/connect"), json!({}));
        let land = json!({ "name": "none", "main": { "agentApps": "trusted" }, "sub": {} });
        let land = text(&say("POST", "land-configs", "land-configs", land)["id"]);
        let prompt = json!({ "name": "tone", "title": "Tone", "content": "Be brief.", "lang": "en" });
        let prompt_text = text(&say("POST", "system-prompts", "system-prompts", prompt)["id"]);
        let second = json!({ "name": "second", "mode": "custom", "landConfigId": land, "promptIds": [prompt_text],
                             "uiApps": [{ "pluginId": "com.example.tools", "appId": "window" }] });
        say("POST", "agents", "agents", second);
        say("PUT", "secrets/{name}", "secrets/OTHER_KEY", json!({ "value": "v", "description": "another" }));
        say("PUT", "settings/{key}", "settings/confirmFileChanges", json!({ "value": false }));
        let task = json!({ "title": "Write it down", "priority": "high", "tags": ["a"], "scope": "chat" });
        let task = text(&say("POST", "tasks", "tasks", task)["id"]);
        say("PATCH", "tasks/{id}", &format!("tasks/{task}"), json!({ "appendNote": "half of it" }));
        let entry = json!({ "title": "First", "summary": "It began.", "tags": ["a"], "files": ["x.rs"] });
        let entry = text(&say("POST", "journal", "journal", entry)["id"]);
        let work = stand.sandbox.root().join("work");
        std::fs::create_dir(&work).unwrap();
        let write = json!({ "arguments": { "path": "a.txt", "contents": "one\n" }, "root": work });
        say("POST", "tools/{server}/{tool}/call", "tools/code_maintainer/write_file/call", write);
        let change = host.ask("GET", "/api/v1/changes", None).json();
        let change = text(&change["changes"][0]["id"]);
        say("POST", "changes/undo", "changes/undo", json!({ "ids": [change], "dryRun": true }));
        let grant = json!({ "pluginId": "com.example.tools", "appId": "window", "capability": "chat.own", "allow": true });
        host.ask("PUT", "/api/v1/grants", Some(&grant));
        let copy = json!({ "path": stand.sandbox.root().join("copy.tar.zst") });
        // How far it is at once is for the clock to say.
        let operation = host.ask("POST", "/api/v1/state/backup", Some(&copy)).json();
        let operation = text(&operation["id"]);
        eventually("the copy", || {
            let now = host.ask("GET", &format!("/api/v1/operations/{operation}"), None).json();
            (now["state"] != "running").then_some(())
        });

        let made =
            say("POST", "sessions", "sessions", json!({ "agentId": stand.agent, "title": "Counting" }));
        let chat = text(&made["id"]);
        let sent =
            say("POST", "sessions/{id}/send", &format!("sessions/{chat}/send"), json!({ "text": "count" }));
        let run = text(&sent["runId"]);
        let prompt = eventually("the question", || {
            let list = host.ask("GET", "/api/v1/prompts?view=needs_you", None).json();
            list["items"][0]["requestId"].as_str().map(str::to_owned)
        });
        let asked = host.ask("GET", &format!("/api/v1/prompts/{prompt}"), None).json();
        say("GET", "sessions/{id} (with a run)", &format!("sessions/{chat}"), json!(null));
        let draft = json!({ "draft": { "remark": "perhaps" } });
        say("PUT", "prompts/{id}/draft", &format!("prompts/{prompt}/draft?client=one"), draft);
        let answer = json!({ "response": { "status": "ok", "selection": "once" }, "shown": asked["shown"] });
        say("POST", "prompts/{id}/response", &format!("prompts/{prompt}/response"), answer);
        let ended = until(&host, &run, &["done", "failed"]);
        assert_eq!(ended["state"], "done", "{ended}");
        assert_eq!((stand.counted("one"), stand.counted("two")), (1, 1));
        listener.until("assistant_done", "/data/runId", &json!(run));
        listener.until("prompt_counts", "/data/needsYou", &json!(0));
        say("POST", "plugins/{id}/untrust", "plugins/com.example.tools/untrust", json!({}));
        listener.until("plugins_changed", "/topic", &json!("plugins"));
        let trace = text(&ended["traceId"]);
        let events = listener.end();
        Self {
            host,
            events,
            chat,
            run,
            trace,
            prompt,
            server,
            model,
            land,
            text: prompt_text,
            task,
            entry,
            change,
            operation,
            stand,
        }
    }

    /// What a route is asked for: how the answer is called, and the path.
    pub(crate) fn asked(&self, route: &str) -> Vec<(String, String)> {
        let plain = route.trim_start_matches("/api/v1/");
        let of = |value: &str| {
            let (head, tail) = plain.split_once('{').unwrap();
            let tail = tail.split_once('}').map_or("", |(_, tail)| tail);
            format!("{head}{value}{tail}")
        };
        let Seeded { prompt, run, chat, server, .. } = self;
        let paths = match plain {
            "settings/{key}" => vec![of("confirmFileChanges"), of("no.such.setting")],
            "prompts" => vec![plain.to_owned(), format!("{plain}?view=history")],
            "prompts/{id}" | "prompts/{id}/wait" | "prompts/{id}/diff" | "prompts/{id}/together" => {
                vec![of(prompt)]
            }
            "prompts/{id}/draft" => vec![format!("{}?client=one", of(prompt))],
            "prompts/find" => vec![format!("{plain}?prefix={}", &prompt[..8])],
            "runs/{id}" => vec![of(run), of("none")],
            "traces/{id}" => vec![of(&self.trace)],
            "usage" => vec![format!("{plain}?by=model"), format!("{plain}?by=agent")],
            "sessions/search" => vec![format!("{plain}?q=counted")],
            "sessions/{id}/events" => vec![format!("{}?since=1&waitMs=0", of(chat))],
            "sessions/{id}/export" => vec![format!("{}?format=json", of(chat))],
            "sessions/{id}" | "sessions/{id}/messages" | "acp/sessions/{id}" => vec![of(chat)],
            "tasks/{id}" => vec![of(&self.task)],
            "changes/{id}" => vec![of(&self.change)],
            "tools" => vec![plain.to_owned(), format!("{plain}?agent={}", self.stand.agent)],
            "tools/{server}" => vec![of("task_manager"), of("counter")],
            "tools/calls/{callId}" | "clients/{id}" => vec![of("none")],
            "mcp-servers/{id}" | "mcp-servers/{id}/tools" | "mcp-servers/{id}/log" => vec![of(server)],
            "tool-pins" => vec![format!("{plain}?state=all")],
            "plugins/{id}/diff" => vec![format!("{}?path=server.mjs", of("com.example.tools"))],
            "plugins/{id}/apps/{app}/icon" => vec!["plugins/com.example.tools/apps/window/icon".to_owned()],
            "apps/{app}/ai" => vec![format!("{}?preview=true", of("com.example.tools.window"))],
            "views" => vec![format!("{plain}?server=counter")],
            "commands" => vec![format!("{plain}?session={chat}&waitMs=0")],
            "instructions" => vec![format!("{plain}?session={chat}")],
            "mentions" => vec![format!("{plain}?session={chat}&q=no.such.file")],
            "operations/{id}" => vec![of(&self.operation)],
            "journal/{id}" => vec![of(&self.entry)],
            "models/{id}" => vec![of(&self.model)],
            "agents/{id}" | "agents/{id}/explain" => vec![of(&self.stand.agent)],
            "land-configs/{id}" => vec![of(&self.land)],
            "system-prompts/{id}" => vec![of(&self.text)],
            _ if plain.starts_with("plugins/{id}") || plain.starts_with("apps/{plugin}") => {
                vec![of("com.example.tools")]
            }
            _ => vec![plain.to_owned()],
        };
        assert!(paths.iter().all(|path| !path.contains('{')), "say what {route} is asked for");
        let count = paths.len();
        let label = |index: usize| if count == 1 { route.to_owned() } else { format!("{route} ({index})") };
        let numbered = paths.into_iter().enumerate();
        numbered.map(|(index, path)| (label(index), format!("/api/v1/{path}"))).collect()
    }
}
