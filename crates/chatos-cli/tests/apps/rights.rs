//! What an app reaches of the person's files, chats and agents: its own by default, more where a person said
//! so, decided by the server whatever the page does (host-api §5).

use std::fs;
use std::path::Path;

use chatos_testkit::{Answer, RunningHost, Sandbox, Script, ScriptedModel};
use serde_json::{Value, json};

use crate::callers::as_app;
use crate::support::{eventually, failure, place, sandbox, serve, trust, write};

const CLOCK: &str = "com.example.clock";
const APP: &str = "com.example.clock/clock";
const KEY: &str = "CANARY-PRIVATE-KEY-4711";

/// A plugin of one page; `capabilities` as its manifest would name them.
fn clock(sandbox: &Sandbox, capabilities: Option<&[&str]>) {
    let dir = place(sandbox, CLOCK);
    let mut manifest = json!({ "id": CLOCK, "name": "Clock", "apps": [
        { "id": "clock", "name": "Clock", "entry": { "type": "module", "path": "clock.mjs" } },
    ] });
    if let Some(names) = capabilities {
        manifest["capabilities"] = json!(names);
    }
    write(&dir.join("plugin.json"), manifest.to_string());
    write(&dir.join("clock.mjs"), "export function mount() {}\n");
}

fn data_dir(sandbox: &Sandbox) -> String {
    let dir = sandbox.state().join("ui_apps/data").join(CLOCK);
    dir.canonicalize().unwrap().to_str().unwrap().to_owned()
}

/// A model that reads the file a message names, and says what it got.
fn reader() -> ScriptedModel {
    ScriptedModel::start(|request| {
        let messages = request["messages"].as_array().cloned().unwrap_or_default();
        let last = messages.last().cloned().unwrap_or_default();
        let text = last["content"].as_str().unwrap_or_default().to_owned();
        if last["role"] == "tool" {
            return Script::say(format!("it said: {text}"));
        }
        let offered = request["tools"].as_array().cloned().unwrap_or_default();
        let name = offered.iter().filter_map(|tool| tool["function"]["name"].as_str());
        match name.into_iter().find(|name| name.ends_with("_read_file")) {
            Some(name) => Script::call("c1", name, &json!({ "path": text })),
            None => Script::say("nothing to read with"),
        }
    })
}

fn use_model(host: &RunningHost, model: &ScriptedModel) {
    let body =
        json!({ "name": "reader", "provider": "openai", "model": "reader", "baseUrl": model.base_url() });
    let made = host.ask("POST", "/api/v1/models", Some(&body)).json();
    let path = format!("/api/v1/models/{}/default", made["id"].as_str().unwrap());
    assert_eq!(host.ask("POST", &path, Some(&json!({}))).status, 200);
}

fn post(host: &RunningHost, path: &str, body: &Value) -> Answer {
    as_app(host, APP, "POST", &format!("/api/v1/{path}"), Some(body))
}

fn get(host: &RunningHost, path: &str) -> Answer {
    as_app(host, APP, "GET", &format!("/api/v1/{path}"), None)
}

fn made(answer: &Answer) -> Value {
    assert_eq!(answer.status, 201, "{}", answer.text());
    answer.json()
}

/// Everything that was said in a chat after a message of the app was answered.
fn said(host: &RunningHost, session: &str, text: &str) -> String {
    let sent = post(host, &format!("sessions/{session}/send"), &json!({ "text": text }));
    assert_eq!(sent.status, 202, "{}", sent.text());
    let run = sent.json()["runId"].as_str().unwrap().to_owned();
    let ended = || host.ask("GET", &format!("/api/v1/runs/{run}"), None).json();
    eventually("the run ends", || matches!(ended()["state"].as_str(), Some("done" | "failed")));
    assert_eq!(ended()["state"], "done", "{}", ended());
    get(host, &format!("sessions/{session}/messages")).text()
}

/// Open questions about folders.
fn questions(host: &RunningHost) -> Vec<Value> {
    let listed = host.ask("GET", "/api/v1/prompts?view=needs_you", None).json();
    let all = listed["items"].as_array().unwrap().clone();
    all.into_iter().filter(|item| item["owner"] == "host:app_roots").collect()
}

fn answer(host: &RunningHost, id: &str, selection: &str) {
    let shown = host.ask("GET", &format!("/api/v1/prompts/{id}"), None).json()["shown"].clone();
    let body = json!({ "response": { "status": "ok", "selection": selection }, "shown": shown });
    let answered = host.ask("POST", &format!("/api/v1/prompts/{id}/response"), Some(&body));
    assert_eq!(answered.status, 200, "{}", answered.text());
}

fn mode(host: &RunningHost, root: &Path) -> String {
    let listed = host.ask("GET", &format!("/api/v1/apps/{CLOCK}/capabilities"), None).json();
    let roots = listed["roots"].as_array().unwrap().clone();
    let found = roots.iter().find(|row| row["root"] == root.to_str().unwrap());
    found.map(|row| row["mode"].as_str().unwrap().to_owned()).unwrap_or_default()
}

#[test]
fn a_clock_that_wishes_for_a_key_folder_reads_nothing_and_raises_one_question() {
    let sandbox = sandbox();
    clock(&sandbox, None);
    let keys = sandbox.home().join(".ssh");
    write(&keys.join("id_rsa"), KEY);
    let keys = keys.canonicalize().unwrap();
    let model = reader();
    let host = serve(&sandbox);
    use_model(&host, &model);
    trust(&host, CLOCK);
    let wish = json!({ "agentId": "agent_default", "workspaceRoot": keys });
    let session = made(&post(&host, "sessions", &wish));
    assert_eq!(session["workspaceRoot"], data_dir(&sandbox), "{session}");
    let question = session["pendingRoot"].as_str().unwrap().to_owned();
    // The same wish again, also for an agent, is the same question.
    assert_eq!(made(&post(&host, "sessions", &wish))["pendingRoot"], question);
    let agent = made(&post(&host, "agents", &json!({ "name": "Key keeper", "workspaceRoot": keys })));
    assert_eq!(agent["pendingRoot"], question, "{agent}");
    assert_eq!(agent["workspaceRoot"], data_dir(&sandbox), "{agent}");
    let open = questions(&host);
    assert_eq!(open.len(), 1, "{open:?}");
    assert_eq!(open[0]["title"], format!("Let Clock work in {}?", keys.display()));

    let id = session["id"].as_str().unwrap();
    let by_name = keys.join("id_rsa").to_str().unwrap().to_owned();
    for path in ["id_rsa", "../../../../home/.ssh/id_rsa", by_name.as_str()] {
        let all = said(&host, id, path);
        assert!(!all.contains(KEY), "{path}: {all}");
    }
    // The app does not answer for the person.
    let yes = json!({ "response": { "status": "ok", "selection": "folder" }, "shown": open[0]["shown"] });
    let refused = post(&host, &format!("prompts/{question}/response"), &yes);
    assert_eq!(failure(&refused).0, "not_owner");

    answer(&host, &question, "no");
    eventually("the no is kept", || mode(&host, &keys) == "no");
    let again = made(&post(&host, "sessions", &wish));
    assert_eq!((&again["pendingRoot"], &again["workspaceRoot"]), (&Value::Null, &json!(data_dir(&sandbox))));
    assert!(questions(&host).is_empty());
    assert!(!said(&host, id, "id_rsa").contains(KEY));
}

#[test]
fn a_folder_a_person_chose_counts_also_after_a_restart_until_it_is_taken_back() {
    let sandbox = sandbox();
    clock(&sandbox, None);
    let folder = sandbox.root().join("project");
    write(&folder.join("deep/notes.txt"), "the notes");
    let folder = folder.canonicalize().unwrap();
    let model = reader();
    let host = serve(&sandbox);
    use_model(&host, &model);
    trust(&host, CLOCK);
    let wish = json!({ "agentId": "agent_default", "workspaceRoot": folder });
    let session = made(&post(&host, "sessions", &wish));
    let (id, question) = (session["id"].as_str().unwrap(), session["pendingRoot"].as_str().unwrap());
    assert!(!said(&host, id, "deep/notes.txt").contains("the notes"));
    host.stop();
    // The question outlives the host that asked it.
    let host = serve(&sandbox);
    answer(&host, question, "read");
    eventually("the yes is kept", || mode(&host, &folder) == "read");
    assert_eq!(get(&host, &format!("sessions/{id}")).json()["workspaceRoot"], folder.to_str().unwrap());
    assert!(said(&host, id, "deep/notes.txt").contains("the notes"));
    // A folder inside it needs no further question.
    let inside = json!({ "agentId": "agent_default", "workspaceRoot": folder.join("deep") });
    let inside = made(&post(&host, "sessions", &inside));
    assert_eq!(
        (&inside["pendingRoot"], &inside["workspaceRoot"]),
        (&Value::Null, &json!(folder.join("deep")))
    );
    let path = format!("/api/v1/apps/{CLOCK}/roots/forget");
    assert_eq!(
        failure(&as_app(&host, APP, "POST", &path, Some(&json!({ "root": folder })))).0,
        "permission_denied"
    );
    assert_eq!(host.ask("POST", &path, Some(&json!({ "root": folder }))).json()["ok"], true);
    assert_eq!(get(&host, &format!("sessions/{id}")).json()["workspaceRoot"], data_dir(&sandbox));
    let lost = said(&host, inside["id"].as_str().unwrap(), "notes.txt");
    assert!(!lost.contains("the notes"), "{lost}");
}

#[test]
fn folders_of_chatos_and_the_home_as_a_whole_are_never_asked_for() {
    let sandbox = sandbox();
    clock(&sandbox, None);
    let home = sandbox.home();
    let started = home.join(".config/autostart");
    fs::create_dir_all(&started).unwrap();
    let git = sandbox.root().join("repo/.git/hooks");
    fs::create_dir_all(&git).unwrap();
    std::os::unix::fs::symlink(sandbox.state(), sandbox.root().join("innocent")).unwrap();
    let host = serve(&sandbox);
    trust(&host, CLOCK);
    let plugins = place(&sandbox, "");
    let places = [
        sandbox.state().to_owned(),
        plugins,
        home,
        started,
        git,
        "/".into(),
        "/proc".into(),
        sandbox.root().join("innocent"),
    ];
    for root in places {
        let order = json!({ "agentId": "agent_default", "workspaceRoot": root });
        let session = made(&post(&host, "sessions", &order));
        assert_eq!(session["workspaceRoot"], data_dir(&sandbox), "{}", root.display());
        assert_eq!(session["pendingRoot"], Value::Null, "{}", root.display());
    }
    assert!(questions(&host).is_empty());
    let missing = post(&host, "sessions", &json!({ "workspaceRoot": sandbox.root().join("missing") }));
    assert_eq!(failure(&missing).0, "invalid_argument");
    // Many wishes are not many questions.
    for name in ["a", "b", "c", "d", "e"] {
        let root = sandbox.root().join(name);
        fs::create_dir_all(&root).unwrap();
        made(&post(&host, "sessions", &json!({ "agentId": "agent_default", "workspaceRoot": root })));
    }
    assert_eq!(questions(&host).len(), 3);
}

#[test]
fn an_app_that_declares_nothing_has_its_own_chats_and_agents_and_no_others() {
    let sandbox = sandbox();
    clock(&sandbox, None);
    let model = reader();
    let host = serve(&sandbox);
    use_model(&host, &model);
    trust(&host, CLOCK);
    let theirs = host.ask("POST", "/api/v1/sessions", Some(&json!({ "title": "diary" }))).json();
    let theirs = theirs["id"].as_str().unwrap();
    let their_agent = host.ask("POST", "/api/v1/agents", Some(&json!({ "name": "Secretary" }))).json();
    let their_agent = their_agent["id"].as_str().unwrap();
    let ids = |answer: &Answer| -> Vec<String> {
        assert_eq!(answer.status, 200, "{}", answer.text());
        let items = answer.json()["items"].as_array().unwrap().clone();
        items.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
    };
    assert!(ids(&get(&host, "sessions")).is_empty());
    // The default agent by its name alone; nothing of the others.
    let agents = get(&host, "agents").json()["items"].clone();
    let default = host.ask("GET", "/api/v1/agents/agent_default", None).json();
    assert_eq!(agents, json!([{ "id": "agent_default", "name": default["name"] }]));
    assert_eq!(get(&host, "agents/agent_default").json(), agents[0]);

    let own_agent = made(&post(&host, "agents", &json!({ "name": "Mine", "landConfigId": "lc_developer" })));
    assert_eq!(
        (&own_agent["landConfigId"], &own_agent["madeBy"]),
        (&json!("lc_safe_default"), &json!(CLOCK))
    );
    let own_agent = own_agent["id"].as_str().unwrap();
    let own = made(&post(&host, "sessions", &json!({ "title": "mine" })));
    assert_eq!((&own["agentId"], &own["madeBy"]), (&json!(own_agent), &json!(CLOCK)));
    let own = own["id"].as_str().unwrap();
    assert_eq!(ids(&get(&host, "sessions")), [own]);
    assert_eq!(ids(&get(&host, "agents")).len(), 2);
    assert!(said(&host, own, "clock.txt").contains("it said"));

    let text = json!({ "text": "me too" });
    let not_theirs = [
        ("GET", format!("sessions/{theirs}"), None, "chat.read"),
        ("GET", format!("sessions/{theirs}/messages"), None, "chat.read"),
        ("GET", format!("agents/{their_agent}"), None, "chat.read"),
        ("POST", format!("sessions/{theirs}/send"), Some(text.clone()), "chat.write"),
        ("POST", format!("sessions/{theirs}/abort"), Some(json!({})), "chat.write"),
        ("POST", "sessions".to_owned(), Some(json!({ "agentId": their_agent })), "chat.write"),
        (
            "POST",
            format!("sessions/{own}/send"),
            Some(json!({ "text": "x", "agentId": their_agent })),
            "chat.write",
        ),
        ("PUT", format!("agents/{their_agent}"), Some(json!({ "name": "Taken" })), "agents.write"),
        ("DELETE", format!("agents/{their_agent}"), None, "agents.write"),
        ("GET", "admin/state".to_owned(), None, "admin.read"),
        ("GET", "models".to_owned(), None, "admin.read"),
        ("GET", "secrets".to_owned(), None, "admin.read"),
    ];
    for (method, path, body, capability) in &not_theirs {
        let refused = as_app(&host, APP, method, &format!("/api/v1/{path}"), body.as_ref());
        let expected = format!("Capability \"{capability}\" is not granted to {CLOCK}");
        assert_eq!(failure(&refused), ("permission_denied".to_owned(), expected), "{method} {path}");
    }
    for path in ["sessions/search?q=x", "sessions/none/events"] {
        assert_eq!(failure(&get(&host, path)).0, "permission_denied", "{path}");
    }
    assert_eq!(failure(&post(&host, "sessions/none/send", &text)).0, "not_found");
    // The plugin's page says what it wanted.
    let rights = host.ask("GET", &format!("/api/v1/apps/{CLOCK}/capabilities"), None).json();
    let wanted = rights["items"].as_array().unwrap().iter().filter(|right| right["wanted"] == true);
    let wanted: Vec<&str> = wanted.map(|right| right["capability"].as_str().unwrap()).collect();
    assert_eq!(wanted, ["admin.read", "chat.read", "chat.write", "agents.write"]);
}

#[test]
fn what_reaches_beyond_an_app_counts_once_declared_and_ticked() {
    let sandbox = sandbox();
    clock(&sandbox, Some(&["chat.read", "chat.write", "navigate"]));
    let model = reader();
    let host = serve(&sandbox);
    use_model(&host, &model);
    // Trusting without a tick gives nothing of it.
    trust(&host, CLOCK);
    let theirs = host.ask("POST", "/api/v1/sessions", Some(&json!({ "title": "diary" }))).json();
    let theirs = theirs["id"].as_str().unwrap();
    assert!(get(&host, "sessions").json()["items"].as_array().unwrap().is_empty());
    let sheet = host.ask("GET", &format!("/api/v1/plugins/{CLOCK}/trust-sheet"), None).json();
    let right = |name: &str| -> Value {
        let all = sheet["rights"].as_array().unwrap();
        all.iter().find(|right| right["capability"] == name).unwrap().clone()
    };
    assert_eq!(
        (&right("chat.read")["level"], &right("chat.read")["state"]),
        (&json!("amber"), &json!("off"))
    );
    assert_eq!((&right("chat.own")["level"], &right("chat.own")["state"]), (&json!("grey"), &json!("on")));
    assert_eq!(right("admin.read")["declared"], false);
    assert_eq!(right("backend")["state"], "off");
    let path = format!("/api/v1/plugins/{CLOCK}/trust");
    let tick =
        |names: &[&str]| host.ask("POST", &path, Some(&json!({ "digest": sheet["digest"], "allow": names })));
    assert_eq!(failure(&tick(&["admin.read"])).0, "invalid_argument");
    assert_eq!(tick(&["chat.read"]).status, 200);
    assert_eq!(get(&host, "sessions").json()["items"].as_array().unwrap().len(), 1);
    let text = json!({ "text": "clock.txt" });
    let send = || post(&host, &format!("sessions/{theirs}/send"), &text);
    assert_eq!(failure(&send()).1, format!("Capability \"chat.write\" is not granted to {CLOCK}"));
    assert_eq!(tick(&["chat.write"]).status, 200);
    assert!(get(&host, "sessions").json()["items"].as_array().unwrap().is_empty());
    assert_eq!(send().status, 202);
}

#[test]
fn a_run_of_an_app_has_safe_default_whatever_its_agent_has() {
    let sandbox = sandbox();
    clock(&sandbox, None);
    let model = reader();
    let host = serve(&sandbox);
    use_model(&host, &model);
    trust(&host, CLOCK);
    let wider = json!({ "landConfigId": "lc_developer", "mode": "flow" });
    assert_eq!(host.ask("PUT", "/api/v1/agents/agent_default", Some(&wider)).status, 200);
    let session = made(&post(&host, "sessions", &json!({ "agentId": "agent_default" })));
    let id = session["id"].as_str().unwrap();
    said(&host, id, "x.txt");
    let offered = || -> Vec<String> {
        let request = model.requests().last().cloned().unwrap();
        let tools = request["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
    };
    let by_app = offered();
    assert!(by_app.iter().any(|name| name.ends_with("_read_file")), "{by_app:?}");
    let strong = |name: &&String| {
        ["write_file", "run_shell_command", "delete_path"].iter().any(|word| name.ends_with(word))
    };
    assert_eq!(by_app.iter().filter(strong).count(), 0, "{by_app:?}");
    // The person in the same chat has what the agent has.
    let sent = host.ask("POST", &format!("/api/v1/sessions/{id}/send"), Some(&json!({ "text": "y.txt" })));
    assert_eq!(sent.status, 202, "{}", sent.text());
    eventually("the person's run asks the model", || offered().iter().any(|name| strong(&name)));
}

#[test]
fn the_terminal_shows_what_a_plugin_may_do_in_three_levels() {
    let sandbox = sandbox();
    clock(&sandbox, Some(&["chat.read", "chat.own", "navigate"]));
    let dir = place(&sandbox, "com.example.heavy");
    let manifest =
        json!({ "id": "com.example.heavy", "name": "Heavy", "backend": { "entry": "back.mjs" }, "apps": [] });
    write(&dir.join("plugin.json"), manifest.to_string());
    write(&dir.join("back.mjs"), "export const createUiAppsBackend = () => ({ methods: {} });");
    let levels = |id: &str, lang: &str| -> Vec<String> {
        let shown = sandbox.run(&["plugin", "trust", id, "--show", "--lang", lang]);
        assert_eq!(shown.status, 0, "{shown:?}");
        let lines: Vec<String> = shown.stdout.lines().map(str::to_owned).collect();
        let from = lines.iter().position(String::is_empty).unwrap();
        lines[from + 1..].to_vec()
    };
    let light = levels(CLOCK, "en");
    assert_eq!(
        light[..8],
        [
            "Runs no programs",
            "Sees or does things beyond itself",
            "  [ ] chat.read  reads all your chats",
            "  off unless you allow it: `chatos plugin trust ID --allow NAME`",
            "Keeps to itself",
            "  holds chats and agents of its own",
            "  opens other pages of ChatOS",
            "If you trust it, the commands above run as your user. Nothing is signed: check where it comes from.",
        ]
    );
    let heavy = levels("com.example.heavy", "zh");
    assert_eq!(heavy[..3], ["以你的身份运行程序", "  node back.mjs", "不接触自身以外的内容"]);
}
