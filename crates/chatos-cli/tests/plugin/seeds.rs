//! The examples of the protocol documents this product was asked for, byte for byte as they are printed
//! there (acceptance 4): the minimal plugin, the app with server and prompts, every printed form of
//! `entry` and `ai`.

use std::fs;

use chatos_testkit::Sandbox;
use serde_json::{Value, json};

use crate::support::{copy, fixture, give_node, good, installed, json_run, sandbox, tree, write};

fn printed(name: &str) -> Value {
    serde_json::from_slice(&fs::read(fixture(name)).unwrap()).unwrap()
}

fn plugin<'a>(listing: &'a Value, id: &str) -> &'a Value {
    let plugins = listing["plugins"].as_array().unwrap();
    plugins.iter().find(|plugin| plugin["id"] == id).unwrap_or_else(|| panic!("no {id} in {listing}"))
}

/// Packs and installs a folder; what is installed must be the packed bytes, and the digest the same
/// three times.
fn pack_and_install(sandbox: &Sandbox, source: &std::path::Path) -> Value {
    let zip = sandbox.root().join("packed.zip");
    let zip = zip.to_str().unwrap();
    let packed = good(sandbox, &["plugin", "pack", source.to_str().unwrap(), "-o", zip]);
    let validated = good(sandbox, &["plugin", "validate", zip]);
    assert_eq!(validated["errors"], json!([]));
    let report = good(sandbox, &["plugin", "install", zip]);
    let one = &report["plugins"][0];
    assert_eq!((&one["digest"], &validated["digest"]), (&packed["digest"], &packed["digest"]));
    let files = |dir: &std::path::Path| -> Vec<(String, Vec<u8>)> {
        tree(dir).into_iter().map(|(name, _, content)| (name, content)).collect()
    };
    assert_eq!(files(&installed(sandbox, one["id"].as_str().unwrap())), files(source), "byte for byte");
    report
}

#[test]
fn the_minimal_plugin_works_as_printed() {
    let sandbox = sandbox();
    give_node(&sandbox);
    let source = fixture("module");
    let report = good(&sandbox, &["plugin", "validate", source.to_str().unwrap(), "--strict"]);
    assert_eq!((&report["errors"], &report["warnings"]), (&json!([]), &json!([])));
    let report = pack_and_install(&sandbox, &source);
    assert_eq!(report["warnings"], json!([]));
    let one = &report["plugins"][0];
    let found = json!([
        one["id"],
        one["name"],
        one["version"],
        one["previousVersion"],
        one["replaced"],
        one["trust"]
    ]);
    assert_eq!(found, json!(["com.example.tools", "Example Tools", "0.1.0", null, false, "untrusted"]));

    let listing = good(&sandbox, &["plugin", "list"]);
    assert_eq!(listing["errors"], json!([]));
    let entry = plugin(&listing, "com.example.tools");
    assert_eq!(
        json!([
            entry["description"],
            entry["publisher"],
            entry["source"],
            entry["trusted"],
            entry["backend"]
        ]),
        json!(["", null, "user", false, null])
    );
    let app = listing["apps"].as_array().unwrap().iter().find(|app| app["id"] == "hello").unwrap();
    assert_eq!(
        *app,
        json!({
            "id": "hello", "name": "Hello App（Module）", "description": "", "icon": "",
            "iconView": { "kind": "letter", "value": "H" },
            "entry": { "type": "module", "path": "hello/index.mjs",
                       "url": "chatos-plugin://com.example.tools/hello/index.mjs" },
            "ai": null, "route": "apps/plugin/com.example.tools/hello",
            "plugin": { "id": "com.example.tools", "name": "Example Tools", "version": "0.1.0", "source": "user",
                        "trusted": false, "backend": null },
        })
    );
    let shown = sandbox.run(&["plugin", "show", "com.example.tools"]);
    assert!(shown.stdout.contains("Example Tools 0.1.0") && shown.stdout.contains("untrusted"), "{shown:?}");
    let ai = good(&sandbox, &["plugin", "ai", "com.example.tools.hello"]);
    assert_eq!((&ai["mcp"], &ai["mcpPrompt"]), (&Value::Null, &Value::Null));
}

/// The printed app is an excerpt: it goes into the printed minimal manifest, with a backend, as the
/// heading above it says.
fn server_plugin(dir: &std::path::Path) {
    copy(&fixture("server"), dir);
    fs::remove_file(dir.join("app.json")).unwrap();
    fs::remove_file(dir.join("call-meta.json")).unwrap();
    let mut manifest = printed("module/plugin.json");
    manifest["backend"] = json!({ "entry": "backend/index.mjs" });
    manifest["apps"] = json!([printed("server/app.json")]);
    write(&dir.join("plugin.json"), manifest.to_string());
}

#[test]
fn the_app_with_server_and_prompts_works_as_printed() {
    let sandbox = sandbox();
    give_node(&sandbox);
    let source = sandbox.root().join("source");
    server_plugin(&source);
    let report = good(&sandbox, &["plugin", "validate", source.to_str().unwrap()]);
    assert_eq!(report["errors"], json!([]));
    // The printed server imports the SDK, which this folder does not bring along: ChatOS lends it.
    assert_eq!(report["warnings"], json!([]));
    assert_eq!(report["lent"], json!(["@modelcontextprotocol/sdk 1.32.2"]));
    assert_eq!(report["derived"][0]["server"], "com.example.tools.db-client");
    pack_and_install(&sandbox, &source);

    let dir = installed(&sandbox, "com.example.tools");
    let entry = dir.join("db-client/mcp-server.mjs");
    let ai = good(&sandbox, &["plugin", "ai", "com.example.tools.db-client"]);
    let server = json!({
        "identity": "app:com.example.tools/db-client", "name": "com.example.tools.db-client",
        "normalizedName": "com_example_tools_db-client", "url": format!("cmd://node {}", entry.display()),
        "argv": ["node", entry], "callMeta": null, "description": "",
        "tags": ["uiapp", "uiapp:com.example.tools", "uiapp:com.example.tools.db-client",
                 "uiapp:com.example.tools:db-client"],
        "enabled": true, "allowMain": true, "allowSub": true, "auth": null,
    });
    assert_eq!(ai["mcp"], server);
    assert_eq!(
        ai["mcpPrompt"],
        json!({
            "title": "数据库客户端 MCP Prompt",
            "names": { "zh": "mcp_com_example_tools_db-client", "en": "mcp_com_example_tools_db-client__en" },
            "zh": "# 数据库客户端\n\n查询前先列出表。", "en": "# Database client\n\nList the tables before you query.",
        })
    );
    assert_eq!(
        (&ai["mcpServers"], &ai["prompts"], &ai["trusted"]),
        (&Value::Null, &Value::Null, &json!(false))
    );
    let shown = sandbox.run(&["plugin", "ai", "com.example.tools.db-client"]).stdout;
    assert!(
        shown.contains("mcp_com_example_tools_db-client__en") && shown.contains("# 数据库客户端"),
        "{shown}"
    );

    // Trusted: the same contribution is in use.
    let digest = good(&sandbox, &["plugin", "show", "com.example.tools"])["digest"].clone();
    good(&sandbox, &["plugin", "trust", "com.example.tools", "--digest", digest.as_str().unwrap()]);
    let host = sandbox.serve();
    let used = host.ask("GET", "/api/v1/apps/com.example.tools.db-client/ai", None).json();
    assert_eq!((&used["trusted"], &used["contribution"]["mcp"]), (&json!(true), &server));
    let listing = host.ask("GET", "/api/v1/plugins", None).json();
    assert_eq!(listing["errors"], json!([]));
    assert_eq!(plugin(&listing, "com.example.tools")["backend"]["available"], true);
}

/// One app per printed form, in one plugin.
#[test]
fn every_printed_form_is_accepted() {
    let sandbox = sandbox();
    let source = sandbox.root().join("forms");
    let ai = |name: &str| printed(&format!("forms/{name}.json"));
    let server = |extra: Value| {
        let mut mcp = json!({ "url": "https://example.com/mcp" });
        mcp.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        json!({ "mcp": mcp })
    };
    let apps = json!([
        { "id": "entry", "entry": ai("entry") },
        { "id": "compact", "entry": ai("entry-compact") },
        { "id": "inline", "ai": ai("ai-inline")["ai"] },
        { "id": "path", "ai": ai("ai-path")["ai"] },
        { "id": "config", "ai": ai("ai-config")["ai"] },
        { "id": "auth", "ai": server(ai("auth")) },
        { "id": "meta", "ai": printed("server/call-meta.json")["ai"] },
        { "id": "prompt-path", "ai": ai("prompt-path") },
        { "id": "prompt-both", "ai": ai("prompt-both") },
        { "id": "prompt-source", "ai": { "mcpPrompt": { "zh": ai("prompt-source") } } },
        { "id": "switch", "ai": printed("panel/ai.json")["ai"] },
    ]);
    let mut manifest = printed("module/plugin.json");
    manifest["apps"] = apps
        .as_array()
        .unwrap()
        .iter()
        .map(|app| {
            let mut app = app.clone();
            app["name"] = app["id"].clone();
            if app["entry"].is_null() {
                app["entry"] = ai("entry");
            }
            app
        })
        .collect();
    write(&source.join("plugin.json"), manifest.to_string());
    for name in ["index.mjs", "compact.mjs", "mcp-server.mjs"] {
        write(&source.join("my-app").join(name), "export function mount() {}\n");
    }
    fs::copy(fixture("panel/ai.yaml"), source.join("my-app/ai.yaml")).unwrap();
    write(&source.join("my-app/mcp-prompt.zh.md"), "中文");
    write(&source.join("my-app/mcp-prompt.en.md"), "English");
    write(&source.join("relative.md"), "from the file");

    let report = good(&sandbox, &["plugin", "validate", source.to_str().unwrap()]);
    let warned: Vec<&Value> =
        report["warnings"].as_array().unwrap().iter().filter(|w| w["code"] != "node_unavailable").collect();
    assert!(warned.is_empty(), "{warned:?}");
    good(&sandbox, &["plugin", "install", source.to_str().unwrap()]);
    let of = |app: &str| good(&sandbox, &["plugin", "ai", &format!("com.example.tools.{app}")]);
    let list = json!(["project_files", "task_manager"]);
    let prompts = json!(["default", "internal_main", "mcp_project_files", "mcp_task_manager"]);
    for (app, servers, prompts, by) in [
        ("inline", &json!(true), &json!(true), "inline"),
        ("path", &list, &prompts, "file"),
        ("config", &list, &prompts, "file"),
        ("switch", &json!(true), &json!(true), "inline"),
    ] {
        let found = of(app);
        assert_eq!((&found["mcpServers"], &found["prompts"]), (servers, prompts), "{app}");
        assert_eq!(found["decidedBy"]["mcpServers"], by, "{app}");
    }
    assert_eq!(of("meta")["mcp"]["callMeta"], json!({ "workdir": "$dataDir" }));
    let auth = of("auth")["mcp"]["auth"].to_string();
    assert!(auth.contains("********") && !auth.contains("bar"), "credentials are masked: {auth}");
    assert_eq!(of("prompt-path")["mcpPrompt"]["zh"], "中文");
    let both = of("prompt-both");
    assert_eq!(both["mcpPrompt"]["title"], "My App · MCP Prompt");
    assert_eq!((&both["mcpPrompt"]["zh"], &both["mcpPrompt"]["en"]), (&json!("中文"), &json!("English")));
    assert_eq!(of("prompt-source")["mcpPrompt"]["zh"], "inline markdown…", "inline text wins over a path");
    let listing = good(&sandbox, &["plugin", "list"]);
    let compact = listing["apps"].as_array().unwrap().iter().find(|app| app["id"] == "compact").unwrap();
    assert_eq!(compact["entry"]["compact"]["path"], "my-app/compact.mjs");
    let refused = json_run(&sandbox, &["plugin", "ai", "com.example.tools.none"]);
    assert_eq!((refused.status, refused.code().as_str()), (4, "not_found"));
}
