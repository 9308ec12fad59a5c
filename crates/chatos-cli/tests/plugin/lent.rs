//! Plugins that import what they did not bundle, with the real Node (packages §10, acceptance 9).

use std::fs;
use std::path::Path;

use chatos_testkit::{RunningHost, Sandbox, eventually};
use serde_json::{Value, json};

use super::support::{copy, fixture, give_node, good, installed, json_run, sandbox, write};

const TOOL: &str = "server.tool('say', { text: z.string() }, async ({ text }) => ({ content: [{ type: 'text', text: `said ${text}` }] }));";

/// A plugin with one app per server file, and a backend if there is one.
fn plugin(dir: &Path, id: &str, servers: &[(&str, &str, String)], backend: Option<(&str, &str)>) {
    let apps: Vec<Value> = servers
        .iter()
        .map(|(app, file, _)| {
            json!({ "id": app, "name": app, "entry": "page.mjs", "ai": { "mcp": { "entry": file } } })
        })
        .collect();
    let mut manifest = json!({ "id": id, "name": "Lent", "version": "1.0.0", "apps": apps });
    for (_, file, text) in servers {
        write(&dir.join(file), text);
    }
    if let Some((file, text)) = backend {
        manifest["backend"] = json!({ "entry": file });
        write(&dir.join(file), text);
    }
    write(&dir.join("page.mjs"), "export function mount() {}\n");
    write(&dir.join("plugin.json"), manifest.to_string());
}

fn esm(zod: &str) -> String {
    format!(
        "import {{ McpServer }} from '@modelcontextprotocol/sdk/server/mcp.js';
import {{ StdioServerTransport }} from '@modelcontextprotocol/sdk/server/stdio.js';
import {{ z }} from '{zod}';
const server = new McpServer({{ name: 'lent', version: '0.1.0' }});
{TOOL}
await server.connect(new StdioServerTransport());
"
    )
}

fn cjs() -> String {
    format!(
        "const {{ McpServer }} = require('@modelcontextprotocol/sdk/server/mcp.js');
const {{ StdioServerTransport }} = require('@modelcontextprotocol/sdk/server/stdio.js');
const {{ z }} = require('./zod.cjs');
const server = new McpServer({{ name: 'lent', version: '0.1.0' }});
{TOOL}
void server.connect(new StdioServerTransport());
"
    )
}

fn trust(sandbox: &Sandbox, id: &str) {
    let digest = good(sandbox, &["plugin", "show", id])["digest"].clone();
    good(sandbox, &["plugin", "trust", id, "--digest", digest.as_str().unwrap()]);
}

fn invoke(host: &RunningHost, id: &str, app: &str, method: &str) -> Value {
    let body = json!({ "method": method, "params": { "a": "1" } });
    host.ask("POST", &format!("/api/v1/apps/{id}/{app}/backend"), Some(&body)).json()
}

/// What a tool says when it is called by hand.
fn said(sandbox: &Sandbox, server: &str) -> String {
    let outcome = json_run(sandbox, &["tools", "call", server, "say", "text=hello"]);
    assert_eq!(outcome.status, 0, "{server}: {outcome:?}");
    outcome.stdout
}

#[test]
fn the_skeleton_of_the_seed_runs_as_it_is_printed() {
    let sandbox = sandbox();
    give_node(&sandbox);
    let source = sandbox.root().join("source");
    copy(&fixture("server/db-client"), &source.join("db-client"));
    let app = json!({ "id": "db-client", "name": "DB", "entry": "db-client/index.mjs",
        "ai": { "mcp": { "entry": "db-client/mcp-server.mjs", "command": "node" } } });
    let manifest = json!({ "id": "com.example.tools", "name": "Tools", "version": "0.1.0", "apps": [app] });
    write(&source.join("plugin.json"), manifest.to_string());
    let report = good(&sandbox, &["plugin", "validate", source.to_str().unwrap(), "--strict"]);
    assert_eq!(report["lent"], json!(["@modelcontextprotocol/sdk 1.32.2"]));
    good(&sandbox, &["plugin", "install", source.to_str().unwrap()]);
    trust(&sandbox, "com.example.tools");
    let shown = sandbox.run(&["plugin", "show", "com.example.tools"]).stdout;
    assert!(shown.contains("ChatOS's copy of @modelcontextprotocol/sdk 1.32.2"), "{shown}");

    let host = sandbox.serve();
    let server = "com.example.tools.db-client";
    let listed = json_run(&sandbox, &["mcp", "servers", "tools", server]);
    assert_eq!(listed.status, 0, "{listed:?}");
    let listing = host.ask("GET", "/api/v1/plugins", None).json();
    assert_eq!(listing["errors"], json!([]), "{listing}");
}

#[test]
fn both_kinds_of_modules_and_both_versions_of_zod_are_lent_and_an_own_copy_wins() {
    let sandbox = sandbox();
    give_node(&sandbox);
    // By hand, so that `node_modules` stays: an installed plugin has none.
    let dir = installed(&sandbox, "com.example.lent");
    let servers = [
        ("esm", "esm/mcp.mjs", esm("zod")),
        ("four", "four/mcp.mjs", esm("zod/v4")),
        ("cjs", "cjs/mcp.cjs", cjs()),
        ("own", "own/mcp.mjs", "import { say } from 'zod';\n".to_owned() + &bare("say")),
        ("plain", "plain/mcp.mjs", bare("'plain'")),
    ];
    let backend = "import { z } from 'zod';\nexport const createUiAppsBackend = async () => ({ methods: {\n\
        check: (params) => z.object({ a: z.string() }).parse(params),\n\
        argv: () => process.execArgv.length } });\n";
    plugin(&dir, "com.example.lent", &servers, Some(("backend/index.mjs", backend)));
    write(&dir.join("cjs/zod.cjs"), "module.exports = require('zod');\n");
    write(
        &dir.join("own/node_modules/zod/package.json"),
        r#"{"name":"zod","type":"module","exports":"./index.js"}"#,
    );
    write(&dir.join("own/node_modules/zod/index.js"), "export const say = 'own copy';\n");
    let host = sandbox.serve();
    trust(&sandbox, "com.example.lent");
    for app in ["esm", "four", "cjs"] {
        assert!(said(&sandbox, &format!("com.example.lent.{app}")).contains("said hello"), "{app}");
    }
    assert!(said(&sandbox, "com.example.lent.own").contains("own copy, 0 options"));
    assert!(said(&sandbox, "com.example.lent.plain").contains("plain, 0 options"), "its argv is as ever");
    let answer = invoke(&host, "com.example.lent", "esm", "check");
    assert_eq!(answer["result"], json!({ "a": "1" }), "{answer}");

    // Switched off, nothing is lent.
    good(&sandbox, &["settings", "set", "nodeSharedModules", "off"]);
    let refused = json_run(&sandbox, &["tools", "call", "com.example.lent.esm", "say", "text=x"]);
    assert_eq!(refused.code(), "module_missing", "{refused:?}");
    good(&sandbox, &["settings", "set", "nodeSharedModules", "auto"]);
    eventually("it is lent again", || {
        let again = json_run(&sandbox, &["tools", "call", "com.example.lent.esm", "say", "text=x"]);
        (again.status == 0).then_some(())
    });
}

/// A server without any import that says `word` and how many options Node was started with.
fn bare(word: &str) -> String {
    format!(
        "process.stdin.setEncoding('utf8');
let rest = '';
process.stdin.on('data', (chunk) => {{
  const lines = (rest + chunk).split('\\n');
  rest = lines.pop();
  for (const line of lines) {{
    const {{ id, method, params }} = JSON.parse(line);
    if (id === undefined) continue;
    const results = {{
      initialize: () => ({{ protocolVersion: params.protocolVersion, capabilities: {{ tools: {{}} }}, serverInfo: {{ name: 'bare', version: '1' }} }}),
      'tools/list': () => ({{ tools: [{{ name: 'say', inputSchema: {{ type: 'object' }} }}] }}),
      'tools/call': () => ({{ content: [{{ type: 'text', text: {word} + ', ' + process.execArgv.length + ' options' }}] }}),
    }};
    const known = results[method];
    const answer = known ? {{ result: known() }} : {{ error: {{ code: -32601, message: 'unknown' }} }};
    process.stdout.write(JSON.stringify({{ jsonrpc: '2.0', id, ...answer }}) + '\\n');
  }}
}});
"
    )
}

#[test]
fn a_module_nobody_has_is_told_everywhere_until_it_is_there() {
    let sandbox = sandbox();
    give_node(&sandbox);
    let id = "com.example.lacks";
    let source = sandbox.root().join("source");
    let server = "import leftPad from 'left-pad';\n".to_owned() + &bare("leftPad('x', 2)");
    let backend = "import './deep.mjs';\nexport const createUiAppsBackend = async () => ({ methods: { ping: () => 1 } });\n";
    plugin(&source, id, &[("app", "mcp.mjs", server)], Some(("backend/index.mjs", backend)));
    write(&source.join("backend/deep.mjs"), "import 'right-pad';\n");
    let report = good(&sandbox, &["plugin", "install", source.to_str().unwrap()]);
    let warned: Vec<&str> = report["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|warning| warning["code"].as_str().unwrap())
        .collect();
    assert_eq!(warned, ["unbundled_import", "unbundled_import"], "{report}");
    let host = sandbox.serve();
    let sheet = host.ask("GET", &format!("/api/v1/plugins/{id}/trust-sheet"), None).json();
    assert!(sheet["problems"].to_string().contains("backend/deep.mjs"), "{}", sheet["problems"]);
    trust(&sandbox, id);

    let refused = json_run(&sandbox, &["tools", "call", &format!("{id}.app"), "say"]);
    assert_eq!(refused.code(), "module_missing", "{refused:?}");
    let answer = invoke(&host, id, "app", "ping");
    assert!(answer["error"]["message"].to_string().contains("right-pad"), "{answer}");
    let sentence =
        "Its tool server needs the module \\\"left-pad\\\", which neither the package nor ChatOS has.";
    let listing = host.ask("GET", "/api/v1/plugins", None).text();
    assert!(listing.contains(sentence) && listing.contains("Its backend needs the module"), "{listing}");
    for args in [vec!["plugin", "show", id], vec!["plugin", "list", "--problems"]] {
        let shown = sandbox.run(&args).stdout;
        assert!(shown.contains("left-pad") && shown.contains("The author has to bundle it"), "{shown}");
    }
    let doctor = sandbox.run(&["doctor"]).stdout;
    assert!(doctor.contains("left-pad") && doctor.contains("right-pad"), "{doctor}");

    // The author bundles it; what was wrong is not said any more.
    fs::remove_file(source.join("backend/deep.mjs")).unwrap();
    write(&source.join("backend/deep.mjs"), "\n");
    write(&source.join("mcp.mjs"), bare("'mended'"));
    good(&sandbox, &["plugin", "install", source.to_str().unwrap()]);
    trust(&sandbox, id);
    assert!(said(&sandbox, &format!("{id}.app")).contains("mended"));
    assert_eq!(invoke(&host, id, "app", "ping")["result"], json!(1));
    let listing = host.ask("GET", "/api/v1/plugins", None).json();
    assert_eq!(listing["errors"], json!([]), "{listing}");
}

#[test]
fn a_plugin_that_looks_for_the_older_place_by_itself_is_warned_about() {
    let sandbox = sandbox();
    let dir = sandbox.root().join("older");
    let server = "import { place } from '../lib/place.mjs';\nconsole.error(place);\n".to_owned();
    plugin(&dir, "com.example.older", &[("app", "app/mcp.mjs", server)], None);
    write(
        &dir.join("lib/place.mjs"),
        "import { homedir } from 'node:os';\nexport const place = `${homedir()}/.deepseek_cli/chatos`;\n",
    );
    let shown = dir.to_str().unwrap();
    let warned = |report: &Value, of: &str| {
        let list = report[of].as_array().unwrap().iter();
        let found = list.clone().find(|problem| problem["code"] == "older_place");
        let found = found.unwrap_or_else(|| panic!("{report}"));
        assert_eq!(found["severity"], "warning", "{found}");
        assert!(found["message"].as_str().unwrap().contains("lib/place.mjs"), "{found}");
    };
    warned(&good(&sandbox, &["plugin", "validate", shown]), "warnings");
    warned(&good(&sandbox, &["plugin", "install", shown]), "warnings");
    warned(&good(&sandbox, &["plugin", "show", "com.example.older"]), "problems");
    assert!(json_run(&sandbox, &["doctor"]).stdout.contains("older_place"));
    // The usual place has a link at the older one: both are the same data there.
    let usual = |args: &[&str]| sandbox.bare(args).output().unwrap();
    assert!(usual(&["plugin", "install", shown]).status.success());
    let doctor = String::from_utf8(usual(&["doctor", "--json"]).stdout).unwrap();
    assert!(doctor.contains("\"plugins\"") && !doctor.contains("older_place"), "{doctor}");
}
