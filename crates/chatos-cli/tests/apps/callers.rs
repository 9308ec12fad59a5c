//! Calls the page makes for an app: stamped and narrowed by the server (host-api §5–6, security T5).

use chatos_testkit::{Answer, RunningHost};
use serde_json::{Value, json};

use crate::support::{PLUGIN, failure, place, sandbox, serve, trust, with_backend};

const OTHER: &str = "com.example.other";

pub(crate) fn as_app(
    host: &RunningHost,
    app: &str,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> Answer {
    let text = body.map(Value::to_string).unwrap_or_default();
    let mut head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nX-ChatOS-App: {app}\r\n",
        host.authority(),
        host.token
    );
    if body.is_some() {
        head.push_str(&format!("Content-Type: application/json\r\nContent-Length: {}\r\n", text.len()));
    }
    host.connect().raw(&format!("{head}\r\n"), text.as_bytes()).unwrap()
}

fn question(title: &str) -> Value {
    json!({ "prompt": { "kind": "kv", "title": title, "fields": [{ "key": "k", "secret": true }] } })
}

#[test]
fn an_apps_questions_are_its_own() {
    let sandbox = sandbox();
    for id in [PLUGIN, OTHER] {
        with_backend(&sandbox, id, "export const createUiAppsBackend = () => ({ methods: {} });");
    }
    let host = serve(&sandbox);
    trust(&host, PLUGIN);
    trust(&host, OTHER);
    let (own, other) = (format!("{PLUGIN}/hello"), format!("{OTHER}/hello"));
    // Whatever the body says about who asks.
    let mut body = question("mine");
    body["owner"] = json!(format!("app:{other}"));
    let asked = as_app(&host, &own, "POST", "/api/v1/prompts", Some(&body));
    assert_eq!(asked.status, 200, "{}", asked.text());
    let id = asked.json()["requestId"].as_str().unwrap().to_owned();
    let theirs = as_app(&host, &other, "POST", "/api/v1/prompts", Some(&question("theirs"))).json();
    let their_id = theirs["requestId"].as_str().unwrap();
    let entries =
        |app: &str| as_app(&host, app, "GET", "/api/v1/prompts/log", None).json()["entries"].clone();
    let find = |entries: &Value, id: &str| -> Value {
        let mut all = entries.as_array().unwrap().iter();
        all.find(|entry| entry["requestId"] == id && entry["action"] == "request")
            .cloned()
            .unwrap_or(Value::Null)
    };
    let seen = entries(&own);
    assert_eq!(find(&seen, &id)["prompt"]["title"], "mine");
    assert_eq!(find(&seen, &id)["prompt"]["source"], format!("{PLUGIN}:hello"));
    assert_eq!(find(&seen, their_id)["prompt"]["fields"], Value::Null, "{seen}");
    let answer = json!({ "response": { "status": "ok", "values": { "k": "hunter2" } } });
    let path = |id: &str, what: &str| format!("/api/v1/prompts/{id}/{what}");
    let refused = as_app(&host, &own, "POST", &path(their_id, "response"), Some(&answer));
    assert_eq!(failure(&refused).0, "not_owner");
    assert_eq!(failure(&as_app(&host, &own, "GET", &path(their_id, "wait"), None)).0, "not_owner");
    // The person answers; the app reads the value, others do not, and closing the frame erases it.
    let answered = host.ask("POST", &path(&id, "response"), Some(&answer));
    assert_eq!(answered.status, 200, "{}", answered.text());
    let waited = as_app(&host, &own, "GET", &path(&id, "wait"), None).json();
    assert_eq!(waited["response"]["values"]["k"], "hunter2", "{waited}");
    assert!(entries(&own).to_string().contains("hunter2"));
    assert!(!entries(&other).to_string().contains("hunter2"));
    let closed = as_app(&host, &own, "POST", &format!("/api/v1/apps/{own}/closed"), Some(&json!({})));
    assert_eq!(closed.status, 200, "{}", closed.text());
    assert!(!entries(&own).to_string().contains("hunter2"));
    // With the grant, others' entries are readable, their secrets never.
    let grant = json!({ "pluginId": PLUGIN, "capability": "prompts.readAll", "state": "granted" });
    assert_eq!(host.ask("PUT", "/api/v1/grants", Some(&grant)).status, 200);
    assert_eq!(find(&entries(&own), their_id)["prompt"]["fields"][0]["key"], "k");
}

#[test]
fn an_app_reaches_nothing_that_is_not_a_member() {
    let sandbox = sandbox();
    with_backend(&sandbox, PLUGIN, "export const createUiAppsBackend = () => ({ methods: {} });");
    let host = serve(&sandbox);
    trust(&host, PLUGIN);
    let own = format!("{PLUGIN}/hello");
    for (method, path) in [
        ("GET", "/api/v1/settings"),
        ("PUT", "/api/v1/grants"),
        ("GET", "/api/v1/prompts"),
        ("GET", "/api/v1/audit"),
        ("POST", "/api/v1/plugins/com.example.tools/trust"),
        ("POST", "/api/v1/apps/com.chatos.notes/notes/backend"),
        ("POST", "/api/v1/tools/call"),
        ("GET", "/api/v1/nothing"),
    ] {
        let body = json!({});
        let answer = as_app(&host, &own, method, path, (method != "GET").then_some(&body));
        assert_eq!(
            (answer.status, failure(&answer).0.as_str()),
            (403, "permission_denied"),
            "{method} {path}"
        );
    }
    for app in ["", "x", "com.example.none/hello", "com.example.tools/none", "../x"] {
        let answer = as_app(&host, app, "GET", "/api/v1/plugins", None);
        assert!(matches!(answer.status, 404 | 422), "{app}: {}", answer.status);
    }
    let listing = as_app(&host, &own, "GET", "/api/v1/plugins", None);
    assert_eq!(listing.status, 200);
    assert!(!listing.text().contains(place(&sandbox, "").to_str().unwrap()), "{}", listing.text());
    // What the person configured is shown once the person allows it.
    let refused = as_app(&host, &own, "GET", "/api/v1/admin/state", None);
    assert_eq!(failure(&refused).1, format!("Capability \"admin.read\" is not granted to {PLUGIN}"));
    let decide = |state: &str| {
        let grant = json!({ "pluginId": PLUGIN, "capability": "admin.read", "state": state });
        assert_eq!(host.ask("PUT", "/api/v1/grants", Some(&grant)).status, 200);
    };
    decide("granted");
    let state = as_app(&host, &own, "GET", "/api/v1/admin/state", None).json();
    assert_eq!(state["dbPath"], "");
    for key in [
        "models",
        "secrets",
        "mcpServers",
        "subagents",
        "prompts",
        "events",
        "tasks",
        "settings",
        "landConfigs",
    ] {
        assert!(state["data"][key].is_array(), "{key}: {state}");
    }
    decide("withdrawn");
    let refused = as_app(&host, &own, "GET", "/api/v1/admin/state", None);
    assert_eq!(failure(&refused).1, format!("Capability \"admin.read\" is not granted to {PLUGIN}"));
}
