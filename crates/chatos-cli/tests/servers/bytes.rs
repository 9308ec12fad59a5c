//! Nothing but the bytes a person trusted is started: not when it is called right after an edit, not when it
//! is started again, and by nobody.

use std::path::{Path, PathBuf};

use chatos_testkit::{Answer, McpClient, McpEra, RunningHost, Sandbox};
use serde_json::{Value, json};

use crate::support::{plugin, sandbox, until};

const SERVER: &str = "app:com.example.echo/main";

struct Stand {
    sandbox: Sandbox,
    /// The file that is run.
    file: PathBuf,
    /// What a person trusted.
    good: String,
    /// Is there once other bytes have run.
    canary: PathBuf,
}

impl Stand {
    fn new() -> Self {
        let sandbox = sandbox();
        plugin(&sandbox, &json!({}), None);
        let file = sandbox.state().join("ui_apps/plugins/com.example.echo/echo.mjs");
        let good = std::fs::read_to_string(&file).unwrap();
        let canary = sandbox.root().join("canary");
        Self { sandbox, file, good, canary }
    }

    /// Somebody edits the file; whoever runs it from now on leaves a trace.
    fn edit(&self) {
        let canary = json!(self.canary);
        let line = format!("(await import(\"node:fs\")).writeFileSync({canary}, \"ran\");\n");
        std::fs::write(&self.file, format!("{line}{}", self.good)).unwrap();
    }

    /// The trusted bytes again; they are trusted still.
    fn mend(&self, host: &RunningHost) {
        std::fs::write(&self.file, &self.good).unwrap();
        until("the plugin is trusted again", || {
            host.ask("POST", "/api/v1/plugins/refresh", Some(&json!({})));
            let listed = host.ask("GET", "/api/v1/plugins", None).json();
            let own = listed["plugins"].as_array().unwrap().iter().find(|it| it["id"] == "com.example.echo");
            (own.unwrap()["trusted"] == true).then_some(())
        });
    }

    fn assert_nothing_ran(&self, what: &str) {
        assert!(!Path::exists(&self.canary), "changed bytes ran: {what}");
    }
}

fn call(host: &RunningHost, tool: &str) -> Answer {
    let body = json!({ "server": SERVER, "tool": tool, "arguments": {} });
    host.ask("POST", "/api/v1/tools/call", Some(&body))
}

/// The host has looked at its servers: nothing but an edit makes it look again.
fn settle(host: &RunningHost) {
    let listed = host.ask("GET", "/api/v1/mcp-servers", None);
    assert!(listed.text().contains(SERVER), "{}", listed.text());
}

fn refused(answer: &Answer, what: &str) {
    let error = answer.json()["error"].clone();
    assert_eq!((answer.status, &error["code"]), (403, &json!("untrusted")), "{what}: {}", answer.text());
}

#[test]
fn a_server_whose_bytes_were_just_changed_is_not_started() {
    let stand = Stand::new();
    let host = stand.sandbox.serve();
    for round in 0..12 {
        let what = format!("round {round}");
        settle(&host);
        stand.edit();
        let answer = match round % 3 {
            1 => act(&host, "connect"),
            2 => act(&host, "restart"),
            _ => call(&host, "echo.params"),
        };
        refused(&answer, &what);
        stand.assert_nothing_ran(&what);
        // Also when everybody knows.
        refused(&call(&host, "echo.params"), &what);
        stand.mend(&host);
        assert_eq!(call(&host, "echo.params").status, 200, "{what}");
        stand.edit();
        // What runs is what was trusted; what would be started now is not.
        call(&host, "crash");
        refused(&call(&host, "echo.params"), &what);
        stand.assert_nothing_ran(&what);
        stand.mend(&host);
    }
    host.stop();
    stand.assert_nothing_ran("the end");
}

#[test]
fn a_changed_server_is_not_started_while_other_files_are_rewritten_all_the_time() {
    let stand = Stand::new();
    let host = stand.sandbox.serve();
    let noise = stand.sandbox.state().join("ui_apps/plugins/com.example.noise");
    std::fs::create_dir_all(&noise).unwrap();
    let over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut turn = 0_u64;
            while !over.load(std::sync::atomic::Ordering::Relaxed) {
                turn += 1;
                std::fs::write(noise.join(format!("f{}", turn % 50)), turn.to_string()).unwrap();
            }
        });
        for round in 0..6 {
            settle(&host);
            stand.edit();
            let answer = call(&host, "echo.params");
            let nothing = !stand.canary.exists();
            if round == 5 || !nothing || answer.status != 403 {
                over.store(true, std::sync::atomic::Ordering::Relaxed);
            }
            refused(&answer, &format!("round {round}"));
            assert!(nothing, "changed bytes ran in round {round}");
            stand.mend(&host);
        }
    });
    host.stop();
    stand.assert_nothing_ran("the end");
}

#[test]
fn a_changed_server_is_refused_as_untrusted_through_the_gateway_and_in_the_terminal() {
    let stand = Stand::new();
    let host = stand.sandbox.serve();
    let post = |path: &str, body: Value| {
        let answer = host.ask("POST", &format!("/api/v1/{path}"), Some(&body));
        assert!(answer.status < 300, "{path}: {}", answer.text());
        answer.json()
    };
    let flow = json!({ "apps": [{ "pluginId": "com.example.echo", "appId": "main" }] });
    let land = post("land-configs", json!({ "name": "echo", "main": flow, "sub": {} }));
    post("agents", json!({ "name": "outside", "mode": "flow", "landConfigId": land["id"] }));
    let work = stand.sandbox.root().join("clients");
    std::fs::create_dir(&work).unwrap();
    let command = stand.sandbox.command(&["gateway", "--agent", "outside", "--root", work.to_str().unwrap()]);
    let (mut client, _) = McpClient::connect(command, McpEra::Legacy, json!({}));
    let listed = client.request("tools/list", json!({}));
    let tools = listed["tools"].as_array().unwrap().clone();
    let named = |end: &str| {
        let names = tools.iter().filter_map(|tool| tool["name"].as_str());
        names.into_iter().find(|name| name.ends_with(end)).unwrap().to_owned()
    };
    let echo = named("_echo_params");
    assert_ne!(client.call(&echo, json!({}))["isError"], true);
    for round in 0..4 {
        // It runs now; it ends, and is asked for at once with other bytes.
        client.call(&named("_crash"), json!({}));
        stand.edit();
        let answer = client.call(&echo, json!({}));
        assert!(answer["isError"] == true, "round {round}: {answer}");
        assert!(answer.to_string().contains("not trusted"), "round {round}: {answer}");
        stand.assert_nothing_ran("through the gateway");
        stand.mend(&host);
        stand.edit();
        let said = stand.sandbox.run(&["tools", "call", "com.example.echo.main", "echo.params", "--json"]);
        assert_eq!(said.code(), "untrusted", "round {round}: {said:?}");
        stand.assert_nothing_ran("in the terminal");
        stand.mend(&host);
        assert_ne!(client.call(&echo, json!({}))["isError"], true, "round {round}");
    }
    client.hang_up();
    host.stop();
    // Without a host that runs, the command starts it itself.
    stand.edit();
    let said = stand.sandbox.run(&["tools", "call", "com.example.echo.main", "echo.params", "--json"]);
    assert_eq!(said.code(), "untrusted", "{said:?}");
    stand.assert_nothing_ran("without a host");
}

/// What a person does with it on its page.
fn act(host: &RunningHost, what: &str) -> Answer {
    let id = SERVER.replace(':', "%3A").replace('/', "%2F");
    host.ask("POST", &format!("/api/v1/mcp-servers/{id}/{what}"), Some(&json!({})))
}
