//! What a server nobody knows is told, and what it costs: folders, memory, results and versions.

use chatos_testkit::{RunningHost, Sandbox, make_dir};
use serde_json::{Value, json};

use crate::support;

const STRANGER: &str = include_str!("stranger.mjs");

/// What a list may cost at most.
const ROOM: u64 = 64 << 20;

/// A sandbox with the script, added as `stranger` with these words and flags.
fn stranger(word: &str, flags: &[&str]) -> (Sandbox, RunningHost) {
    let sandbox = support::sandbox();
    let script = sandbox.root().join("stranger.mjs");
    std::fs::write(&script, STRANGER).unwrap();
    let host = sandbox.serve();
    let mut command = sandbox.bare::<&str>(&[]);
    command.arg("--state-dir").arg(sandbox.state()).args(["mcp", "servers", "add", "stranger"]);
    command.args(flags).arg("--").arg("node").arg(script).arg(word);
    let outcome = sandbox.run_command(command);
    assert_eq!(outcome.status, 0, "{outcome:?}");
    (sandbox, host)
}

fn call(host: &RunningHost, tool: &str) -> Value {
    let body = json!({ "server": "stranger", "tool": tool });
    host.ask("POST", "/api/v1/tools/call", Some(&body)).json()
}

/// The JSON in the text of a result.
fn told(result: &Value) -> Value {
    let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}"));
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_server_is_told_no_folder_unless_a_person_set_some_for_it() {
    let (sandbox, host) = stranger("", &[]);
    let offered = told(&call(&host, "capabilities"))["told"].clone();
    assert!(offered.is_object() && offered.get("roots").is_none(), "{offered}");
    // It may ask all the same; it learns nothing.
    assert_eq!(told(&call(&host, "roots"))["code"], -32601);
    let folder = sandbox.root().join("given");
    make_dir(&folder, 0o755);
    let given = folder.to_str().unwrap();
    let set = |roots: &[&str]| {
        let mut args = vec!["mcp", "servers", "edit", "stranger"];
        args.extend(roots.iter().flat_map(|root| ["--root", root]));
        sandbox.run(&args)
    };
    assert_eq!(set(&[given]).status, 0);
    let shown = sandbox.run(&["mcp", "servers", "show", "stranger", "--json"]).json();
    assert_eq!(shown["roots"], json!([given]));
    assert!(told(&call(&host, "capabilities"))["told"]["roots"].is_object());
    let answered = told(&call(&host, "roots"));
    assert_eq!(answered, json!({ "roots": [{ "uri": format!("file://{given}"), "name": "given" }] }));
    // It is kept over a restart, and can be taken back.
    host.stop();
    let host = sandbox.serve();
    assert_eq!(told(&call(&host, "roots"))["roots"][0]["name"], "given");
    assert_eq!(set(&[""]).status, 0);
    assert_eq!(told(&call(&host, "roots"))["code"], -32601);
    // What is no folder is not taken.
    for wrong in ["/no/such/folder", "/proc/self/status"] {
        let refused = set(&[wrong]);
        assert_eq!((refused.status, refused.stderr.contains("/roots")), (1, true), "{refused:?}");
    }
    let body = json!({ "roots": ["relative"] });
    let path = format!("/api/v1/mcp-servers/{}", shown["id"].as_str().unwrap());
    assert_eq!(host.ask("PUT", &path, Some(&body)).status, 422);
    host.stop();
}

#[test]
fn content_that_is_no_content_is_an_error_of_the_tool() {
    let (_sandbox, host) = stranger("", &[]);
    let result = call(&host, "number");
    assert_eq!(result["isError"], true, "{result}");
    assert_eq!(result["content"][0]["text"], "before", "what was sound is kept: {result}");
    assert_eq!(result["_meta"]["chatos"]["status"], "error", "{result}");
    let tomorrow = call(&host, "hologram");
    assert_eq!(tomorrow["isError"], false, "a kind nobody knows yet is no error: {tomorrow}");
    host.stop();
}

#[test]
fn a_server_of_a_version_that_never_was_is_refused() {
    let (sandbox, host) = stranger("1999", &[]);
    let refused = call(&host, "capabilities").to_string();
    assert!(refused.contains("1999-01-01") && refused.contains("2025-11-25"), "{refused}");
    let shown = sandbox.run(&["mcp", "servers", "show", "stranger", "--json"]).json();
    assert_ne!(shown["state"]["phase"], "ready", "{shown}");
    host.stop();
}

/// Memory of a process now and at most, in bytes.
fn memory(host: &RunningHost) -> (u64, u64) {
    let status = std::fs::read_to_string(format!("/proc/{}/status", host.pid())).unwrap();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim_start_matches(':').trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
    };
    (field("VmRSS"), field("VmHWM"))
}

#[test]
fn a_schema_of_a_quarter_million_parts_costs_nothing_that_stays() {
    let (sandbox, host) = stranger("wide", &[]);
    let good = |host: &RunningHost, before: (u64, u64)| {
        // The first call starts the server and reads its list.
        let result = call(host, "capabilities");
        assert_eq!(result["isError"], false, "{result}");
        let tools = host.ask("GET", "/api/v1/mcp-servers/stranger/tools", None).json();
        let mut names: Vec<&str> =
            tools["items"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        names.sort_unstable();
        assert_eq!(names, ["capabilities", "hologram", "number", "roots"]);
        let problems = tools["problems"].to_string();
        assert!(problems.contains("wide") && problems.contains("64 KiB"), "{problems}");
        for _ in 0..3 {
            assert_eq!(sandbox.run(&["mcp", "servers", "restart", "stranger"]).status, 0);
            assert_eq!(call(host, "capabilities")["isError"], false);
        }
        let after = memory(host);
        assert!(after.0 < before.0 + ROOM, "it keeps {} MiB", (after.0 - before.0) >> 20);
        assert!(after.1 < before.1 + ROOM, "it took {} MiB", (after.1 - before.1) >> 20);
    };
    let before = memory(&host);
    good(&host, before);
    // And again after a restart of the host.
    host.stop();
    let host = sandbox.serve();
    assert_eq!(host.ask("GET", "/api/v1/mcp-servers", None).status, 200);
    let before = memory(&host);
    good(&host, before);
    host.stop();
}
