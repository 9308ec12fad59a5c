//! Contributions mirrored into the Admin tables: on request only, never over what a person edited.
#![expect(clippy::disallowed_methods, reason = "tests look into the database with a connection of their own")]

use chatos_testkit::Sandbox;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::support::{good, sandbox, simple, write};

const ID: &str = "com.example.a";
const SETTING: &str = "uiApps.syncAiContributes";

fn database(sandbox: &Sandbox) -> Connection {
    Connection::open(sandbox.state().join("state.db")).unwrap()
}

fn plugin(sandbox: &Sandbox, mcp: Value, zh: &str) {
    let source = sandbox.root().join("source");
    simple(&source, ID, "1", &["x"]);
    let manifest = json!({ "id": ID, "name": "A", "apps": [
        { "id": "x", "name": "X", "entry": "x/index.mjs", "ai": { "mcp": mcp, "mcpPrompt": { "zh": { "content": zh } } } } ] });
    write(&source.join("plugin.json"), manifest.to_string());
    good(sandbox, &["plugin", "install", source.to_str().unwrap()]);
    let digest = good(sandbox, &["plugin", "show", ID])["digest"].as_str().unwrap().to_owned();
    good(sandbox, &["plugin", "trust", ID, "--digest", &digest]);
}

type Server = (String, String, String, bool, bool, String, Option<String>);

fn servers(sandbox: &Sandbox) -> Vec<Server> {
    let database = database(sandbox);
    let mut rows = database
        .prepare("SELECT name, url, description, enabled, allow_sub, source, auth_sealed FROM mcp_servers WHERE name = ?1 AND id <> 'own'")
        .unwrap();
    let rows = rows.query_map([format!("{ID}.x")], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?))
    });
    rows.unwrap().collect::<Result<_, _>>().unwrap()
}

fn prompts(sandbox: &Sandbox) -> Vec<(String, String, String)> {
    let database = database(sandbox);
    let mut rows = database
        .prepare("SELECT name, content, source FROM prompts WHERE name LIKE ?1 ORDER BY name")
        .unwrap();
    let rows = rows.query_map(["mcp_com_example_a%"], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    rows.unwrap().collect::<Result<_, _>>().unwrap()
}

fn tags(sandbox: &Sandbox) -> Vec<String> {
    let database = database(sandbox);
    let mut rows = database.prepare("SELECT tag FROM mcp_server_tags JOIN mcp_servers ON id = server_id WHERE plugin_id = ?1 ORDER BY tag").unwrap();
    rows.query_map([ID], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

fn server(description: &str) -> Value {
    json!({ "url": "https://example.com/mcp", "description": description, "tags": ["data"],
            "auth": { "token": "canary-token" } })
}

#[test]
fn rows_appear_on_request_and_a_persons_edits_are_never_reverted() {
    let sandbox = sandbox();
    plugin(&sandbox, server("first"), "提示一");
    assert!(servers(&sandbox).is_empty() && prompts(&sandbox).is_empty(), "off by default");
    good(&sandbox, &["settings", "set", SETTING, "true"]);
    let rows = servers(&sandbox);
    assert_eq!(rows.len(), 1, "{rows:?}");
    let (name, url, description, enabled, allow_sub, source, auth) = rows[0].clone();
    assert_eq!(
        (name.as_str(), url.as_str(), description.as_str()),
        ("com.example.a.x", "https://example.com/mcp", "first")
    );
    assert_eq!((enabled, allow_sub, source.as_str()), (true, true, "app"));
    assert!(
        auth.as_ref().is_some_and(|sealed| !sealed.contains("canary")),
        "credentials are sealed: {auth:?}"
    );
    assert_eq!(
        prompts(&sandbox),
        [("mcp_com_example_a_x".to_owned(), "提示一".to_owned(), "app".to_owned())]
    );
    assert_eq!(
        tags(&sandbox),
        ["data", "uiapp", "uiapp:com.example.a", "uiapp:com.example.a.x", "uiapp:com.example.a:x"]
    );

    // The person edits one field of each; the plugin then changes all of them.
    let database = database(&sandbox);
    database.execute("UPDATE mcp_servers SET description = 'mine', allow_sub = 0", []).unwrap();
    database.execute("UPDATE prompts SET content = '我的'", []).unwrap();
    drop(database);
    let mut changed = server("second");
    changed["url"] = json!("https://example.com/v2");
    changed["tags"] = json!(["other"]);
    plugin(&sandbox, changed, "提示二");
    let rows = servers(&sandbox);
    assert_eq!(
        (rows[0].1.as_str(), rows[0].2.as_str(), rows[0].4),
        ("https://example.com/v2", "mine", false)
    );
    assert!(tags(&sandbox).contains(&"other".to_owned()) && !tags(&sandbox).contains(&"data".to_owned()));
    assert_eq!(prompts(&sandbox)[0].1, "我的");
    // Nothing changed: nothing is written.
    let before = stamp(&sandbox);
    good(&sandbox, &["plugin", "list"]);
    let host = sandbox.serve();
    host.ask("POST", "/api/v1/plugins/refresh", Some(&json!({ "deep": true })));
    drop(host);
    assert_eq!(stamp(&sandbox), before);

    // Off: rows nobody edited go, edited ones become the person's own.
    good(&sandbox, &["settings", "set", SETTING, "false"]);
    assert_eq!(servers(&sandbox)[0].5, "user");
    assert_eq!(prompts(&sandbox)[0].2, "user");
}

fn stamp(sandbox: &Sandbox) -> i64 {
    database(sandbox).query_row("SELECT max(updated_at) FROM mcp_servers", [], |row| row.get(0)).unwrap()
}

#[test]
fn untrusted_plugins_and_taken_names_are_left_alone_and_removal_takes_the_rows() {
    let sandbox = sandbox();
    good(&sandbox, &["settings", "set", SETTING, "true"]);
    // The person has a server and a prompt of these names.
    let database = database(&sandbox);
    let insert = "INSERT INTO mcp_servers (id, name, url, source, created_at, updated_at)
                  VALUES ('own', 'com.example.a.x', 'https://own.example/', 'user', 1, 1)";
    database.execute(insert, []).unwrap();
    drop(database);
    plugin(&sandbox, server("first"), "提示");
    assert!(servers(&sandbox).is_empty(), "the name is the person's");
    assert_eq!(prompts(&sandbox).len(), 1);
    let host = sandbox.serve();
    let listing = host.ask("GET", "/api/v1/plugins", None).json();
    let taken =
        listing["errors"].as_array().unwrap().iter().find(|problem| problem["code"] == "sync_name_taken");
    assert_eq!(taken.unwrap()["pluginId"], ID);
    let own: String = self::database(&sandbox)
        .query_row("SELECT url FROM mcp_servers WHERE id = 'own'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(own, "https://own.example/");
    let removed = host.ask("DELETE", &format!("/api/v1/plugins/{ID}"), None).json();
    assert_eq!(removed["rowsRemoved"], 1);
    assert!(prompts(&sandbox).is_empty());
    drop(host);

    // Untrusted: nothing is mirrored, whatever the setting says.
    let source = sandbox.root().join("source");
    good(&sandbox, &["plugin", "install", source.to_str().unwrap()]);
    assert!(prompts(&sandbox).is_empty());
    let database = self::database(&sandbox);
    database.execute("DELETE FROM mcp_servers WHERE id = 'own'", []).unwrap();
    drop(database);
    let digest = good(&sandbox, &["plugin", "show", ID])["digest"].as_str().unwrap().to_owned();
    good(&sandbox, &["plugin", "trust", ID, "--digest", &digest]);
    assert_eq!((servers(&sandbox).len(), prompts(&sandbox).len()), (1, 1));
    good(&sandbox, &["plugin", "untrust", ID]);
    let removed = good(&sandbox, &["plugin", "remove", ID]);
    assert_eq!(removed["rowsRemoved"], 2);
    assert!(servers(&sandbox).is_empty() && prompts(&sandbox).is_empty());
}

/// A token in a manifest is shown to nobody and written nowhere but sealed.
#[test]
fn credentials_of_a_manifest_do_not_leak() {
    let sandbox = sandbox();
    good(&sandbox, &["settings", "set", SETTING, "true"]);
    plugin(&sandbox, server("first"), "提示");
    let host = sandbox.serve();
    let mut said = String::new();
    for path in ["", "/com.example.a", "/com.example.a/trust-sheet", "/com.example.a/log"] {
        said.push_str(&host.ask("GET", &format!("/api/v1/plugins{path}"), None).text());
    }
    said.push_str(&host.ask("GET", "/api/v1/apps/com.example.a.x/ai", None).text());
    drop(host);
    for args in [["plugin", "show", ID], ["plugin", "ai", "com.example.a.x"]] {
        let outcome = sandbox.run(&args);
        said.push_str(&outcome.stdout);
        said.push_str(&outcome.stderr);
    }
    assert!(!said.contains("canary-token"), "{said}");
    let mut found = Vec::new();
    for (name, _, bytes) in crate::support::tree(sandbox.state()) {
        let holds = bytes.windows(12).any(|window| window == b"canary-token");
        if holds && !name.starts_with("ui_apps/plugins/") {
            found.push(name);
        }
    }
    assert!(found.is_empty(), "{found:?}");
}
