//! `chatos dev` with the real program: its own state, saved files, broken ones, and what it leaves behind
//! (devkit §4).

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use chatos_testkit::{RunningHost, Sandbox, Script, ScriptedModel, eventually};
use rustix::process::Signal;
use serde_json::{Value, json};

use super::support::{copy, give_node, good, json_run, sandbox, simple, write};

const ID: &str = "com.example.demo";

/// A project of `plugin init`.
fn project(sandbox: &Sandbox, template: &str) -> PathBuf {
    let dir = sandbox.root().join("project");
    let args = ["plugin", "init", dir.to_str().unwrap(), "-t", template, "--id", ID, "--name", "Demo"];
    good(sandbox, &args);
    dir
}

fn start(sandbox: &Sandbox, dir: &Path, more: &[&str]) -> RunningHost {
    let mut args = vec!["dev", dir.to_str().unwrap(), "--no-open", "--ready-json", "--port", "0"];
    args.extend(more);
    RunningHost::start(sandbox.command(&args)).unwrap_or_else(|outcome| panic!("{outcome:?}"))
}

fn get(host: &RunningHost, path: &str) -> Value {
    let answer = host.ask("GET", &format!("/api/v1/{path}"), None);
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    answer.json()
}

fn post(host: &RunningHost, path: &str, body: &Value) -> Value {
    let answer = host.ask("POST", &format!("/api/v1/{path}"), Some(body));
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    answer.json()
}

/// Saved files are seen within a moment.
fn until(mut is: impl FnMut() -> bool) {
    eventually("the sandbox follows the files", || is().then_some(()));
}

fn digest(host: &RunningHost) -> String {
    get(host, "dev")["plugin"]["digest"].as_str().unwrap_or_default().to_owned()
}

fn call(host: &RunningHost, tool: &str, arguments: &Value) -> Value {
    post(host, &format!("tools/{ID}.app/{tool}/call"), &json!({ "arguments": arguments, "trail": true }))
}

/// Every Node that runs something of this sandbox.
fn processes_of(sandbox: &Sandbox) -> Vec<String> {
    let wanted = sandbox.root().to_string_lossy().into_owned();
    let lines = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let line = fs::read(entry.ok()?.path().join("cmdline")).ok()?;
        Some(String::from_utf8_lossy(&line).replace('\0', " "))
    });
    lines.filter(|line| line.contains(&wanted) && line.contains(".mjs")).collect()
}

#[test]
fn everything_of_the_plugin_runs_in_a_state_of_its_own_and_nothing_is_left() {
    let sandbox = sandbox();
    give_node(&sandbox);
    let dir = project(&sandbox, "basic");
    let host = start(&sandbox, &dir, &[]);
    let state = PathBuf::from(host.ready["stateDir"].as_str().unwrap());
    assert!(
        state.starts_with(sandbox.state().join("dev")) && state.ends_with("chatos"),
        "{}",
        state.display()
    );
    assert!(host.ready["url"].as_str().unwrap().ends_with("/dev"));
    let info = get(&host, "dev");
    assert_eq!(info["plugin"]["id"], ID);
    assert_eq!(info["paths"]["stateDir"], json!(state));
    assert_eq!(get(&host, "dev/problems"), json!({ "errors": [], "warnings": [] }));
    // The listing knows one plugin, trusted without a record.
    let listing = get(&host, "plugins");
    assert_eq!(listing["plugins"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&listing["plugins"][0]["source"], &listing["plugins"][0]["trusted"]),
        (&json!("dev"), &json!(true))
    );
    let pong = post(&host, &format!("apps/{ID}/app/backend"), &json!({ "method": "ping", "params": 1 }));
    assert!(pong["result"].is_object(), "{pong}");
    let echoed = call(&host, "echo", &json!({ "text": "hi" }));
    assert_eq!(echoed["content"][0]["text"], "hi");
    let meta = &echoed["trail"]["meta"]["chatos"]["uiApp"];
    assert_eq!((&meta["pluginDir"], &meta["stateDir"]), (&json!(dir), &json!(state)));
    assert_eq!(processes_of(&sandbox).len(), 2, "{:?}", processes_of(&sandbox));
    // Its agent may use the plugin and nothing else.
    let agent = get(&host, "agents/agent_default");
    assert_eq!(agent["landConfigId"], "lc_dev");
    let tools = get(&host, "tools?agent=agent_default");
    let granted = tools["tools"].as_array().unwrap().iter().filter(|tool| tool["granted"] == true);
    let servers: std::collections::BTreeSet<&str> =
        granted.filter_map(|tool| tool["server"].as_str()).collect();
    // Every agent has the clock.
    assert_eq!(servers.into_iter().collect::<Vec<_>>(), ["chatos".to_owned(), format!("{ID}.app")]);
    let asked = Instant::now();
    host.signal(Signal::INT);
    assert!(host.ended().success());
    assert!(asked.elapsed() < Duration::from_secs(3), "{:?}", asked.elapsed());
    assert_eq!(processes_of(&sandbox), Vec::<String>::new());
    // Of the real state only the folder around the sandbox is there.
    let names: Vec<_> =
        fs::read_dir(sandbox.state()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["dev"]);
}

#[test]
fn elsewhere_there_is_no_sandbox() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    for path in ["/dev", "/api/v1/dev", "/api/v1/dev/problems"] {
        assert_eq!(host.ask("GET", path, None).status, 404, "{path}");
    }
    assert_eq!(host.ask("POST", "/api/v1/dev/async-test", Some(&json!({}))).status, 404);
}

#[test]
fn a_saved_file_restarts_server_and_backend_and_broken_ones_change_nothing_that_runs() {
    let sandbox = sandbox();
    give_node(&sandbox);
    let dir = project(&sandbox, "basic");
    let host = start(&sandbox, &dir, &[]);
    assert_eq!(call(&host, "echo", &json!({ "text": "hi" }))["content"][0]["text"], "hi");
    let before = digest(&host);
    // The server's code changes: the next call is answered by the new one, without any approval.
    let server = dir.join("apps/app/mcp-server.mjs");
    let code = fs::read_to_string(&server).unwrap();
    write(&server, code.replace("Returns the text it is given.", "Says it again."));
    until(|| digest(&host) != before);
    let tools = get(&host, &format!("mcp-servers/app:{ID}%2Fapp/tools"));
    assert!(tools["items"][0]["description"].as_str().unwrap().contains("Says it again."), "{tools}");
    assert_eq!(call(&host, "echo", &json!({ "text": "more" }))["content"][0]["text"], "more");
    // A manifest that is broken while somebody types: what runs stays, and the problem is told.
    let manifest = dir.join("plugin.json");
    let good = fs::read_to_string(&manifest).unwrap();
    write(&manifest, good.replacen("\"id\"", "\"id", 1));
    until(|| !get(&host, "dev/problems")["errors"].as_array().unwrap().is_empty());
    let codes = || -> Vec<String> {
        let listing = get(&host, "plugins");
        listing["errors"].as_array().unwrap().iter().map(|p| p["code"].as_str().unwrap().to_owned()).collect()
    };
    until(|| codes().contains(&"manifest_kept".to_owned()));
    assert!(codes().contains(&"manifest_syntax".to_owned()), "{:?}", codes());
    assert_eq!(get(&host, "dev")["plugin"]["id"], ID);
    assert_eq!(call(&host, "echo", &json!({ "text": "still" }))["content"][0]["text"], "still");
    // An app whose page is missing for a moment stays, too.
    write(&manifest, good.replace("apps/app/index.mjs", "apps/app/indx.mjs"));
    until(|| codes().contains(&"path_missing".to_owned()));
    assert_eq!(get(&host, "plugins")["plugins"][0]["apps"].as_array().unwrap().len(), 1);
    // Put right, it is as new; another id is another plugin.
    write(&manifest, good.replace(ID, "com.example.renamed"));
    until(|| get(&host, "dev")["plugin"]["id"] == "com.example.renamed");
    assert_eq!(codes(), Vec::<String>::new());
    // The folder goes and comes back.
    let away = sandbox.root().join("away");
    fs::rename(&dir, &away).unwrap();
    until(|| codes().contains(&"manifest_gone".to_owned()));
    assert_eq!(get(&host, "dev").get("plugin"), None);
    fs::rename(&away, &dir).unwrap();
    until(|| get(&host, "dev")["plugin"]["id"] == "com.example.renamed");
}

#[test]
fn fetched_modules_and_packages_reload_nothing() {
    let sandbox = sandbox();
    let dir = sandbox.root().join("plain");
    simple(&dir, ID, "1.0.0", &["app"]);
    let host = start(&sandbox, &dir, &[]);
    let before = digest(&host);
    for (path, text) in [
        ("node_modules/left-pad/index.js", "1"),
        (".git/HEAD", "ref: x"),
        ("dist/com.example.demo-1.0.0.zip", "PK"),
        ("app/.index.mjs.swp", "b0VIM"),
        ("app/index.mjs.map", "{}"),
    ] {
        write(&dir.join(path), text);
    }
    // What comes after them is seen, and is all that is seen.
    write(&dir.join("app/more.mjs"), "export const more = 1;\n");
    until(|| digest(&host) != before);
    fs::remove_file(dir.join("app/more.mjs")).unwrap();
    until(|| digest(&host) == before);
}

#[test]
fn without_reload_files_are_taken_when_asked_for() {
    let sandbox = sandbox();
    let dir = sandbox.root().join("plain");
    simple(&dir, ID, "1.0.0", &["app"]);
    let host = start(&sandbox, &dir, &["--no-reload"]);
    let info = get(&host, "dev");
    assert_eq!((&info["reload"], &info["pending"]), (&json!(false), &json!(false)));
    simple(&dir, ID, "2.0.0", &["app"]);
    until(|| get(&host, "dev")["pending"] == true);
    assert_eq!(get(&host, "dev")["plugin"]["version"], "1.0.0");
    post(&host, "plugins/refresh", &json!({ "deep": false }));
    let info = get(&host, "dev");
    assert_eq!((&info["plugin"]["version"], &info["pending"]), (&json!("2.0.0"), &json!(false)));
}

#[test]
fn the_loop_of_an_async_task_in_all_its_forms() {
    let sandbox = sandbox();
    let dir = sandbox.root().join("plain");
    simple(&dir, ID, "1.0.0", &["app"]);
    let host = start(&sandbox, &dir, &[]);
    let test = |body: Value| post(&host, "dev/async-test", &body);
    for (body, text) in [
        (json!({}), "final output"),
        (json!({ "idForm": "prefixed", "field": "result", "text": "结果" }), "结果"),
        (json!({ "field": "content", "fault": "before_ack" }), "final output"),
        (json!({ "fault": "torn_line" }), "final output"),
        (json!({ "fault": "truncate" }), "final output"),
    ] {
        let found = test(body.clone());
        assert_eq!((&found["matched"], &found["text"]), (&json!(true), &json!(text)), "{body}: {found}");
        let answer: Value = serde_json::from_str(found["autoResponse"].as_str().unwrap()).unwrap();
        assert_eq!((&answer["action"], &answer["requestId"]), (&json!("response"), &found["requestId"]));
        let line: Value = serde_json::from_str(found["line"].as_str().unwrap()).unwrap();
        assert_eq!((&line["type"], &line["prompt"]["kind"]), (&json!("ui_prompt"), &json!("result")));
    }
    let empty = test(json!({ "field": "none" }));
    assert!(
        empty["matched"] == true && empty["text"].as_str().unwrap().contains("without a result text"),
        "{empty}"
    );
    let wrong = test(json!({ "fault": "wrong_id" }));
    assert_eq!(wrong["matched"], false);
    assert!(wrong["text"].as_str().unwrap().contains("1 result entries were seen"), "{wrong}");
    let refused = host.ask("POST", "/api/v1/dev/async-test", Some(&json!({ "fault": "fire" })));
    assert_eq!(refused.status, 400, "{}", refused.text());
}

#[test]
fn a_start_that_cannot_be_says_what_to_do() {
    let sandbox = sandbox();
    let dir = sandbox.root().join("plain");
    let shown = dir.to_str().unwrap();
    let nothing = json_run(&sandbox, &["dev", shown]);
    assert_eq!((nothing.status, nothing.code()), (4, "not_found".to_owned()), "{nothing:?}");
    write(&dir.join("plugin.json"), "{ \"id\": ");
    let broken = json_run(&sandbox, &["dev", shown]);
    assert_eq!((broken.status, broken.code()), (1, "manifest_syntax".to_owned()), "{broken:?}");
    simple(&dir, ID, "1.0.0", &["app"]);
    let no_app = json_run(&sandbox, &["dev", shown, "--app", "other"]);
    assert_eq!(no_app.status, 4, "{no_app:?}");
    // A second one on the same folder is told where the first one is.
    let host = start(&sandbox, &dir, &[]);
    let twice = json_run(&sandbox, &["dev", shown, "--port", "0"]);
    assert_eq!((twice.status, twice.code()), (5, "already_running".to_owned()), "{twice:?}");
    assert!(twice.json()["error"]["details"]["url"].as_str().unwrap().contains(&host.port.to_string()));
    let reset = json_run(&sandbox, &["dev", shown, "--reset", "--yes", "--port", "0"]);
    assert_eq!(reset.code(), "already_running", "{reset:?}");
    // A port that was asked for and is taken.
    let copy_dir = sandbox.root().join("copy");
    copy(&dir, &copy_dir);
    let port = host.port.to_string();
    let taken = json_run(&sandbox, &["dev", copy_dir.to_str().unwrap(), "--port", &port]);
    assert_eq!((taken.status, taken.code()), (5, "port_taken".to_owned()), "{taken:?}");
    assert!(host.stop().success());
    let unasked = json_run(&sandbox, &["dev", shown, "--reset"]);
    assert_eq!(unasked.status, 2, "{unasked:?}");
}

#[test]
fn reset_empties_the_sandbox_and_a_link_is_the_folder_it_leads_to() {
    let sandbox = sandbox();
    let dir = sandbox.root().join("plain");
    simple(&dir, ID, "1.0.0", &["app"]);
    let host = start(&sandbox, &dir, &[]);
    let state = PathBuf::from(host.ready["stateDir"].as_str().unwrap());
    assert!(host.stop().success());
    write(&state.join("ui_apps/data").join(ID).join("kept.txt"), "mine");
    let link = sandbox.root().join("link");
    std::os::unix::fs::symlink(&dir, &link).unwrap();
    let host = start(&sandbox, &link, &["--reset", "--yes"]);
    assert_eq!(host.ready["stateDir"], json!(state));
    assert!(!state.join("ui_apps/data").join(ID).join("kept.txt").exists());
    assert!(host.stop().success());
}

#[test]
fn faults_of_the_plugin_are_named_and_the_sandbox_stays() {
    let sandbox = sandbox();
    give_node(&sandbox);
    let dir = sandbox.root().join("faulty");
    simple(&dir, ID, "1.0.0", &["app"]);
    let manifest = json!({
        "id": ID, "name": "Faulty", "version": "1.0.0", "backend": { "entry": "backend.mjs" },
        "apps": [{ "id": "app", "name": "app", "entry": "app/index.mjs", "ai": { "mcp": { "entry": "server.mjs" } } }],
    });
    write(&dir.join("plugin.json"), manifest.to_string());
    write(&dir.join("backend.mjs"), "throw new Error('broken at import');\n");
    write(&dir.join("server.mjs"), "console.log('not the protocol'); throw new Error('server broken');\n");
    let host = start(&sandbox, &dir, &[]);
    let failed =
        host.ask("POST", &format!("/api/v1/apps/{ID}/app/backend"), Some(&json!({ "method": "ping" })));
    assert_eq!(failed.status, 503, "{}", failed.text());
    assert!(failed.text().contains("broken at import"), "{}", failed.text());
    let failed = host.ask("GET", &format!("/api/v1/mcp-servers/app:{ID}%2Fapp/tools"), None);
    assert!(failed.status >= 500, "{}", failed.text());
    // Put right, both run without a restart of the sandbox.
    write(
        &dir.join("backend.mjs"),
        "export function createUiAppsBackend() {\n  console.log('flood '.repeat(20000));\n  return { methods: { ping: () => 'pong' } };\n}\n",
    );
    until(|| {
        let answer =
            host.ask("POST", &format!("/api/v1/apps/{ID}/app/backend"), Some(&json!({ "method": "ping" })));
        answer.status == 200 && answer.json()["result"] == "pong"
    });
    assert!(host.stop().success());
}

#[test]
fn without_node_the_page_is_there_and_says_so() {
    let sandbox = sandbox();
    let dir = project(&sandbox, "basic");
    let host = start(&sandbox, &dir, &[]);
    let failed =
        host.ask("POST", &format!("/api/v1/apps/{ID}/app/backend"), Some(&json!({ "method": "ping" })));
    assert_eq!(failed.status, 503);
    assert!(failed.text().contains("Node.js 20 or newer is needed"), "{}", failed.text());
    let warnings = get(&host, "dev/problems")["warnings"].clone();
    assert!(warnings.to_string().contains("node_unavailable"), "{warnings}");
}

#[test]
fn a_server_written_as_the_protocol_prints_it_runs_in_the_sandbox() {
    let sandbox = sandbox();
    give_node(&sandbox);
    let dir = sandbox.root().join("seed");
    simple(&dir, ID, "0.1.0", &["app"]);
    let manifest = json!({
        "manifestVersion": 1, "id": ID, "name": "Seed", "version": "0.1.0",
        "apps": [{ "id": "app", "name": "App", "entry": { "type": "module", "path": "app/index.mjs" },
                   "ai": { "mcp": { "entry": "app/mcp-server.mjs", "command": "node", "allowMain": true, "allowSub": true } } }],
    });
    write(&dir.join("plugin.json"), manifest.to_string());
    let server = "import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';
const server = new McpServer({ name: 'my_server', version: '0.1.0' });
server.tool('say', { text: z.string() }, async ({ text }) => ({ content: [{ type: 'text', text }] }));
const transport = new StdioServerTransport();
await server.connect(transport);
";
    write(&dir.join("app/mcp-server.mjs"), server);
    let host = start(&sandbox, &dir, &[]);
    assert_eq!(call(&host, "say", &json!({ "text": "as printed" }))["content"][0]["text"], "as printed");
}

#[test]
fn a_model_without_a_key_of_its_own_takes_the_one_of_the_environment() {
    let sandbox = sandbox();
    let dir = sandbox.root().join("plain");
    simple(&dir, ID, "1.0.0", &["app"]);
    let model = ScriptedModel::start(|_| Script::say("from the endpoint"));
    let body = json!({ "name": "mine", "provider": "openai_compatible", "model": "any",
        "baseUrl": model.base_url(), "apiKeyName": "NOBODY_HAS_THIS_KEY" });
    let args = ["dev", dir.to_str().unwrap(), "--no-open", "--ready-json", "--port", "0"];
    let mut command = sandbox.command(&args);
    command.env("CHATOS_DEV_LLM_API_KEY", "sk-of-the-sandbox");
    let host = RunningHost::start(command).unwrap_or_else(|outcome| panic!("{outcome:?}"));
    let made = host.ask("POST", "/api/v1/models", Some(&body));
    assert!(made.status < 300, "{}", made.text());
    let tested = post(&host, "models/mine/test", &json!({}));
    assert_eq!(tested["ok"], true, "{tested}");
    assert!(model.keys().iter().all(|key| key.contains("sk-of-the-sandbox")), "{:?}", model.keys());
    assert!(!model.keys().is_empty());
    assert!(host.stop().success());
    // The real host does not look there.
    let mut command = sandbox.command(&["serve", "--no-open", "--ready-json", "--port", "0"]);
    command.env("CHATOS_DEV_LLM_API_KEY", "sk-of-the-sandbox");
    let host = RunningHost::start(command).unwrap_or_else(|outcome| panic!("{outcome:?}"));
    assert!(host.ask("POST", "/api/v1/models", Some(&body)).status < 300);
    let tested = host.ask("POST", "/api/v1/models/mine/test", Some(&json!({}))).json();
    assert_ne!(tested["ok"], true, "{tested}");
    assert!(host.stop().success());
}

#[test]
fn a_folder_that_changes_its_id_or_vanishes_for_a_while_stays_in_development() {
    let sandbox = sandbox();
    let dir = sandbox.root().join("moving");
    simple(&dir, ID, "1.0.0", &["app"]);
    let host = start(&sandbox, &dir, &[]);
    let id = |host: &_| get(host, "dev")["plugin"]["id"].clone();
    assert_eq!(id(&host), ID);
    simple(&dir, "com.example.other", "1.0.0", &["app"]);
    until(|| id(&host) == "com.example.other");
    let away = sandbox.root().join("away");
    fs::rename(&dir, &away).unwrap();
    until(|| get(&host, "dev/problems")["errors"].to_string().contains("not_found"));
    fs::rename(&away, &dir).unwrap();
    until(|| get(&host, "dev/problems")["errors"] == json!([]) && id(&host) == "com.example.other");
    assert!(host.stop().success());
}

#[test]
fn a_plugin_that_loops_or_floods_its_log_is_put_right_by_the_next_save() {
    let sandbox = sandbox();
    give_node(&sandbox);
    let dir = sandbox.root().join("wild");
    simple(&dir, ID, "1.0.0", &["app"]);
    let manifest = json!({
        "id": ID, "name": "Wild", "version": "1.0.0", "backend": { "entry": "backend.mjs" },
        "apps": [{ "id": "app", "name": "app", "entry": "app/index.mjs" }],
    });
    write(&dir.join("plugin.json"), manifest.to_string());
    let flood =
        "setInterval(() => { for (let i = 0; i < 500; i += 1) console.log('flood '.repeat(200)); }, 1)";
    let backend = |spin: &str| {
        let methods = format!(
            "{{ ping: () => 'pong', flood: () => {{ {flood}; return 'begun'; }}, spin: () => {spin} }}"
        );
        format!("export function createUiAppsBackend() {{ return {{ methods: {methods} }}; }}\n")
    };
    write(&dir.join("backend.mjs"), backend("{ for (;;); }"));
    let host = start(&sandbox, &dir, &[]);
    let invoke = |method: &str| {
        let body = json!({ "method": method, "timeoutMs": 2_000 });
        host.ask("POST", &format!("/api/v1/apps/{ID}/app/backend"), Some(&body))
    };
    // A flood: it still answers, and its log does not grow for ever.
    assert_eq!(invoke("flood").json()["result"], "begun");
    let state = PathBuf::from(host.ready["stateDir"].as_str().unwrap());
    let log = state.join("logs/plugins").join(format!("{ID}.log"));
    until(|| fs::metadata(&log).is_ok_and(|meta| meta.len() > 1 << 20));
    assert_eq!(invoke("ping").json()["result"], "pong");
    // A loop: the call ends in time, everything else of the sandbox goes on.
    assert!(invoke("spin").text().contains("took longer than 2000 ms"));
    assert_eq!(get(&host, "dev")["plugin"]["id"], ID);
    write(&dir.join("backend.mjs"), backend("'no longer'"));
    until(|| invoke("spin").json()["result"] == "no longer");
    assert!(host.stop().success());
    let size: u64 = fs::read_dir(log.parent().unwrap())
        .unwrap()
        .map(|file| file.unwrap().metadata().unwrap().len())
        .sum();
    assert!(size < 32 << 20, "{size} bytes of log");
    assert_eq!(processes_of(&sandbox), Vec::<String>::new());
}
