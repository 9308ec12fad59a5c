//! Plugins over HTTP: uploads as operations that report and can be stopped, snapshots with a tag, events
//! about what changes on disk, and the yes for addresses inside the network.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use chatos_testkit::zips::{plugin_entries, stored, zip};
use chatos_testkit::{Answer, Random, RunningHost, Sandbox};
use serde_json::{Value, json};

use crate::socket;
use crate::support::{data_of, good, installed, sandbox, simple, tree, write};

/// Sends a package as its bytes.
fn upload(host: &RunningHost, query: &str, body: &[u8]) -> Answer {
    let head = format!(
        "POST /api/v1/plugins/install{query} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/zip\r\nContent-Length: {}\r\n\r\n",
        host.authority(),
        host.token,
        body.len()
    );
    host.connect().raw(&head, body).unwrap()
}

/// Asks about an operation until it is over.
pub(crate) fn ended(host: &RunningHost, operation: &Value) -> Value {
    let path = format!("/api/v1/operations/{}", operation["id"].as_str().unwrap());
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        let view = host.ask("GET", &path, None).json();
        if view["state"] != "running" {
            return view;
        }
        assert!(Instant::now() < deadline, "never ends: {view}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn listing(host: &RunningHost) -> Value {
    host.ask("GET", "/api/v1/plugins", None).json()
}

fn entry(host: &RunningHost, id: &str) -> Option<Value> {
    let listing = listing(host);
    listing["plugins"].as_array().unwrap().iter().find(|plugin| plugin["id"] == id).cloned()
}

/// Waits for a listing that fits; every step there is announced by an event before.
fn until(host: &RunningHost, events: &mut socket::Socket, fits: impl Fn(&Value) -> bool) -> Value {
    loop {
        let found = listing(host);
        if fits(&found) {
            return found;
        }
        events.event_of("plugins_changed");
    }
}

fn install_path(host: &RunningHost, path: &Path) -> Value {
    let begun = host.ask("POST", "/api/v1/plugins/install", Some(&json!({ "path": path })));
    assert_eq!(begun.status, 202, "{}", begun.text());
    ended(host, &begun.json())
}

#[test]
fn an_upload_reports_and_ends_in_the_documented_result() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    let mut events = socket::open(&host, "");
    let mut entries = plugin_entries("com.example.up");
    // Enough to be read in many pieces; random, so that no ratio is suspicious.
    entries.push(stored("big.bin", &Random::with_seed(7).bytes(3 << 20)));
    let begun = upload(&host, "", &zip(&entries, b""));
    assert_eq!(begun.status, 202, "{}", begun.text());
    let operation = begun.json();
    assert_eq!(operation["kind"], "install");
    let id = operation["id"].clone();
    let mut progress = Vec::new();
    let last = loop {
        let event = events.event_of("operation_changed");
        assert_eq!((&event["topic"], &event["data"]["id"]), (&json!("admin"), &id));
        if event["data"]["state"] != "running" {
            break event["data"].clone();
        }
        progress.push(event["data"]["progress"].clone());
    };
    assert_eq!(last["state"], "done", "{last}");
    progress.retain(|step| !step.is_null());
    assert!(!progress.is_empty() && progress.iter().all(|step| step["unit"] == "bytes"), "{progress:?}");
    assert_eq!(ended(&host, &operation)["result"], last["result"]);
    let plugin = &last["result"]["plugins"][0];
    assert_eq!(
        json!([plugin["id"], plugin["version"], plugin["replaced"], plugin["trust"], plugin["files"]]),
        json!(["com.example.up", "2", false, "untrusted", 3])
    );
    assert!(fs::read_dir(sandbox.state().join("ui_apps/.staging")).unwrap().next().is_none());
    let shown = host.ask("GET", "/api/v1/plugins/com.example.up", None).json();
    assert_eq!(shown["digest"], plugin["digest"]);
    let files = host.ask("GET", "/api/v1/plugins/com.example.up/files", None).json();
    assert_eq!(files["files"].as_array().unwrap().len(), 3);

    // A dry run says what would change and changes nothing.
    let begun = upload(&host, "?dryRun=true", &zip(&plugin_entries("com.example.up"), b""));
    let done = ended(&host, &begun.json());
    assert_eq!(done["result"]["dryRun"], true);
    assert_eq!(done["result"]["plugins"][0]["changes"][0]["path"], "big.bin");
    assert!(installed(&sandbox, "com.example.up").join("big.bin").exists());
}

#[test]
fn refused_uploads_leave_nothing() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    // Folders of data come with the servers of apps, whenever those are looked at.
    let kept = |sandbox: &Sandbox| {
        let mut found = tree(&sandbox.state().join("ui_apps"));
        found.retain(|(name, ..)| !name.starts_with("data"));
        found
    };
    let before = kept(&sandbox);
    let failed = ended(&host, &upload(&host, "", b"not a zip").json());
    assert_eq!((&failed["state"], &failed["error"]["code"]), (&json!("failed"), &json!("package_corrupt")));
    assert!(failed["error"]["hint"].is_string() && failed["error"]["details"]["logId"].is_string());
    assert_eq!(ended(&host, &upload(&host, "", b"").json())["error"]["code"], "package_corrupt");
    // Declared too large: refused before a byte is read.
    let head = format!(
        "POST /api/v1/plugins/install HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/zip\r\nContent-Length: {}\r\n\r\n",
        host.authority(),
        host.token,
        (200 << 20) + 1
    );
    assert_eq!(host.connect().raw(&head, b"").unwrap().status, 413);
    // Cut off in the middle.
    let mut wire = host.connect();
    wire.send(head.replace(&((200 << 20) + 1).to_string(), "1000").as_bytes()).unwrap();
    wire.send(b"PK\x03\x04 some bytes").unwrap();
    drop(wire);
    // Other types are not packages; JSON needs an absolute path.
    let other = head.replace("application/zip", "text/plain").replace(&((200 << 20) + 1).to_string(), "0");
    assert_eq!(host.connect().raw(&other, b"").unwrap().status, 415);
    let relative = host.ask("POST", "/api/v1/plugins/install", Some(&json!({ "path": "x.zip" })));
    assert_eq!((relative.status, &relative.json()["error"]["code"]), (422, &json!("invalid_argument")));
    let missing = host.ask("POST", "/api/v1/plugins/install", Some(&json!({})));
    assert_eq!(missing.status, 400, "{}", missing.text());
    let deadline = Instant::now() + Duration::from_secs(60);
    while kept(&sandbox) != before {
        assert!(Instant::now() < deadline, "something is left of a refused upload");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn an_install_that_waits_can_be_canceled() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    let source = sandbox.root().join("source");
    simple(&source, "com.example.a", "1", &["x"]);
    listing(&host);
    // Another install, as far as the host can tell.
    let lock = fs::File::options()
        .append(true)
        .create(true)
        .open(sandbox.state().join("ui_apps/install.lock"))
        .unwrap();
    lock.lock().unwrap();
    let begun = host.ask("POST", "/api/v1/plugins/install", Some(&json!({ "path": source }))).json();
    let path = format!("/api/v1/operations/{}", begun["id"].as_str().unwrap());
    let deadline = Instant::now() + Duration::from_secs(25);
    while host.ask("GET", &path, None).json()["progress"]["message"] != "waiting for another install" {
        assert!(Instant::now() < deadline, "never waits");
        std::thread::sleep(Duration::from_millis(5));
    }
    let asked = host.ask("POST", &format!("{path}/cancel"), Some(&json!({})));
    assert_eq!(asked.status, 200);
    let over = ended(&host, &begun);
    assert_eq!((&over["state"], &over["error"]["code"]), (&json!("canceled"), &json!("canceled")));
    assert!(!installed(&sandbox, "com.example.a").exists());
    // Ctrl-C in a terminal does the same to the host's work.
    let mut command = sandbox.command(&["plugin", "install", source.to_str().unwrap(), "--json"]);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let child = command.spawn().unwrap();
    let begun = loop {
        let all = host.ask("GET", "/api/v1/operations", None).json();
        let newest = all["items"][0].clone();
        if newest["progress"]["message"] == "waiting for another install" && newest["state"] == "running" {
            break newest;
        }
        assert!(Instant::now() < deadline, "the command asks for nothing");
        std::thread::sleep(Duration::from_millis(5));
    };
    let pid = rustix::process::Pid::from_raw(child.id() as i32).unwrap();
    // Once more if the first came before the command listened; it would have ended by it.
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    if output.status.code().is_some() {
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&output.stdout).contains("\"canceled\""), "{output:?}");
        assert_eq!(ended(&host, &begun)["state"], "canceled");
    }
    drop(lock);
    assert_eq!(install_path(&host, &source)["state"], "done");
}

#[test]
fn the_listing_has_a_tag_and_answers_304() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    let get = |tag: &str| {
        let head = format!(
            "GET /api/v1/plugins HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nIf-None-Match: {tag}\r\n\r\n",
            host.authority(),
            host.token
        );
        host.connect().raw(&head, b"").unwrap()
    };
    let first = get("\"other\"");
    assert_eq!(first.status, 200);
    let tag = first.header("etag").unwrap().to_owned();
    let same = get(&format!("\"x\", {tag}"));
    assert_eq!((same.status, same.body.len(), same.header("etag")), (304, 0, Some(tag.as_str())));
    let source = sandbox.root().join("source");
    simple(&source, "com.example.a", "1", &["x"]);
    install_path(&host, &source);
    let changed = get(&tag);
    assert_eq!(changed.status, 200);
    assert_ne!(changed.header("etag"), Some(tag.as_str()));
    assert_eq!(get(changed.header("etag").unwrap()).status, 304);
}

#[test]
fn what_changes_on_disk_is_announced_and_listed() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    let mut events = socket::open(&host, "");
    let user = sandbox.state().join("ui_apps/plugins");
    let has =
        |listing: &Value, id: &str| listing["plugins"].as_array().unwrap().iter().any(|p| p["id"] == id);
    // Dropped into the folder by hand.
    simple(&sandbox.root().join("hand"), "com.example.hand", "1", &["x"]);
    fs::create_dir_all(&user).unwrap();
    fs::rename(sandbox.root().join("hand"), user.join("any name")).unwrap();
    let first = until(&host, &mut events, |listing| has(listing, "com.example.hand"));
    // Trusted, then one byte is edited.
    let digest = host.ask("GET", "/api/v1/plugins/com.example.hand", None).json()["digest"].clone();
    let trusted =
        host.ask("POST", "/api/v1/plugins/com.example.hand/trust", Some(&json!({ "digest": digest })));
    assert_eq!((trusted.status, &trusted.json()["trusted"]), (200, &json!(true)));
    write(&user.join("any name/x/index.mjs"), "export function mount() {} //\n");
    let second = until(&host, &mut events, |listing| {
        let plugins = listing["plugins"].as_array().unwrap();
        plugins.iter().any(|p| p["id"] == "com.example.hand" && p["trust"]["state"] == "changed")
    });
    assert!(second["revision"].as_u64() > first["revision"].as_u64());
    // Back to the trusted bytes: trusted again, without asking.
    write(&user.join("any name/x/index.mjs"), "export function mount() {}\n");
    until(&host, &mut events, |listing| {
        let plugins = listing["plugins"].as_array().unwrap();
        plugins.iter().any(|p| p["id"] == "com.example.hand" && p["trusted"] == true)
    });
    // Broken: said where, and everything else stays.
    write(&user.join("any name/plugin.json"), "{");
    let broken = until(&host, &mut events, |listing| !has(listing, "com.example.hand"));
    assert!(has(&broken, "com.chatos.notes"));
    assert_eq!(broken["errors"][0]["code"], "manifest_syntax");
    fs::remove_dir_all(user.join("any name")).unwrap();
    until(&host, &mut events, |listing| listing["errors"] == json!([]));
}

#[test]
fn two_installs_at_once_both_end_well() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    let sources: Vec<_> = (0..2).map(|n| sandbox.root().join(format!("source-{n}"))).collect();
    for (n, source) in sources.iter().enumerate() {
        // The same plugin in two versions: one of them is the result, whole.
        simple(source, "com.example.a", &n.to_string(), &["x"]);
        for file in 0..50 {
            write(&source.join(format!("lib/{file}.mjs")), format!("{n}").repeat(2000));
        }
    }
    for round in 0..5 {
        let begun: Vec<Value> = sources
            .iter()
            .map(|source| {
                host.ask("POST", "/api/v1/plugins/install", Some(&json!({ "path": source }))).json()
            })
            .collect();
        for operation in &begun {
            let over = ended(&host, operation);
            assert_eq!(over["state"], "done", "round {round}: {over}");
        }
        let version = entry(&host, "com.example.a").unwrap()["version"].as_str().unwrap().to_owned();
        let source = &sources[version.parse::<usize>().unwrap()];
        let files =
            |dir: &Path| tree(dir).into_iter().map(|(name, _, bytes)| (name, bytes)).collect::<Vec<_>>();
        assert_eq!(files(&installed(&sandbox, "com.example.a")), files(source), "round {round}: a mixture");
    }
}

#[test]
fn addresses_inside_the_network_need_their_own_yes() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    let source = sandbox.root().join("source");
    simple(&source, "com.example.a", "1", &["x"]);
    let manifest = |url: &str| {
        let manifest = json!({ "id": "com.example.a", "name": "A", "apps": [
            { "id": "x", "name": "X", "entry": "x/index.mjs", "ai": { "mcp": { "url": url } } } ] });
        write(&source.join("plugin.json"), manifest.to_string());
        assert_eq!(install_path(&host, &source)["state"], "done");
        host.ask("GET", "/api/v1/plugins/com.example.a/trust-sheet", None).json()
    };
    let trust = |body: Value| host.ask("POST", "/api/v1/plugins/com.example.a/trust", Some(&body));
    for (url, class) in [
        ("http://127.0.0.1:9999/mcp", "loopback"),
        ("ws://localhost:9999/", "loopback"),
        ("https://192.168.1.5/mcp", "private"),
        ("http://[fd12::1]/mcp", "private"),
        ("http://169.254.1.1/mcp", "link_local"),
    ] {
        let sheet = manifest(url);
        assert_eq!(sheet["servers"][0]["hostClass"], class, "{url}");
        let refused = trust(json!({ "digest": sheet["digest"] }));
        assert_eq!(
            (refused.status, &refused.json()["error"]["code"]),
            (403, &json!("inside_network")),
            "{url}"
        );
        assert_eq!(refused.json()["error"]["details"]["addresses"], json!([url]));
        let refused = trust(json!({ "digest": sheet["digest"], "allowInsideNetwork": false }));
        assert_eq!(refused.status, 403);
        assert_eq!(entry(&host, "com.example.a").unwrap()["trusted"], false);
        let allowed = trust(json!({ "digest": sheet["digest"], "allowInsideNetwork": true }));
        assert_eq!(allowed.status, 200, "{url}: {}", allowed.text());
        assert_eq!(host.ask("POST", "/api/v1/plugins/com.example.a/untrust", Some(&json!({}))).status, 200);
    }
    let sheet = manifest("https://mcp.example.com/");
    assert_eq!(trust(json!({ "digest": sheet["digest"] })).status, 200, "a public address needs no tick");
    let cli = |more: &[&str]| {
        let sheet = manifest("http://127.0.0.1:9999/mcp");
        let mut args =
            vec!["plugin", "trust", "com.example.a", "--json", "--digest", sheet["digest"].as_str().unwrap()];
        args.extend(more);
        sandbox.run(&args)
    };
    let refused = cli(&[]);
    assert_eq!((refused.status, refused.code().as_str()), (3, "inside_network"));
    assert_eq!(cli(&["--allow-inside-network"]).status, 0);
}

#[test]
fn an_untrusted_app_contributes_nothing_unless_it_is_only_shown() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    let source = sandbox.root().join("source");
    simple(&source, "com.example.a", "1", &["x"]);
    let manifest = json!({ "id": "com.example.a", "name": "A", "apps": [
        { "id": "x", "name": "X", "entry": "x/index.mjs", "ai": { "mcp": { "entry": "x/index.mjs" } } } ] });
    write(&source.join("plugin.json"), manifest.to_string());
    install_path(&host, &source);
    let ai = |query: &str| host.ask("GET", &format!("/api/v1/apps/com.example.a.x/ai{query}"), None);
    let refused = ai("");
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (403, &json!("permission_denied")));
    assert_eq!(refused.json()["error"]["message"], "Plugin com.example.a is not trusted");
    let shown = ai("?preview=true");
    assert_eq!((shown.status, &shown.json()["trusted"]), (200, &json!(false)));
    assert_eq!(shown.json()["contribution"]["mcp"]["name"], "com.example.a.x");
    let digest = host.ask("GET", "/api/v1/plugins/com.example.a", None).json()["digest"].clone();
    host.ask("POST", "/api/v1/plugins/com.example.a/trust", Some(&json!({ "digest": digest })));
    assert_eq!(ai("").status, 200);
    // One bit of mode, one name, one byte: each takes it back, at once for whoever asks.
    let file = installed(&sandbox, "com.example.a").join("x/index.mjs");
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    host.ask("POST", "/api/v1/plugins/refresh", Some(&json!({})));
    assert_eq!(ai("").status, 403);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    host.ask("POST", "/api/v1/plugins/refresh", Some(&json!({ "deep": true })));
    assert_eq!(ai("").status, 200);
    fs::write(file.with_file_name("added.txt"), "").unwrap();
    host.ask("POST", "/api/v1/plugins/refresh", Some(&json!({})));
    assert_eq!(ai("").status, 403);
}

#[test]
fn unusual_requests_have_clear_answers() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    for (method, path, body, status) in [
        ("GET", "/api/v1/plugins/com.example.none", None, 404),
        ("GET", "/api/v1/plugins/..%2F..", None, 404),
        ("GET", "/api/v1/plugins/com.chatos.notes/diff?path=../../x", None, 404),
        ("GET", "/api/v1/apps/none/ai", None, 404),
        ("DELETE", "/api/v1/plugins/com.chatos.notes?data=keep", None, 403),
        ("DELETE", "/api/v1/plugins/com.chatos.notes?data=shred", None, 422),
        ("DELETE", "/api/v1/plugins/com.example.none", None, 404),
        ("POST", "/api/v1/plugins/com.example.none/trust", Some(json!({ "digest": "x" })), 422),
        ("POST", "/api/v1/plugins/com.example.none/untrust", Some(json!({})), 404),
        ("POST", "/api/v1/operations/none/cancel", Some(json!({})), 404),
    ] {
        let answer = host.ask(method, path, body.as_ref());
        assert_eq!(answer.status, status, "{method} {path}: {}", answer.text());
        assert!(answer.json()["error"]["code"].is_string(), "{method} {path}: {}", answer.text());
    }
}

#[test]
fn removing_over_the_api_keeps_or_deletes_data() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    let source = sandbox.root().join("source");
    simple(&source, "com.example.a", "1", &["x"]);
    for (query, word) in [("", "kept"), ("?data=delete", "deleted")] {
        install_path(&host, &source);
        let data = data_of(&sandbox, "com.example.a");
        write(&data.join("notes.md"), "mine");
        let removed = host.ask("DELETE", &format!("/api/v1/plugins/com.example.a{query}"), None).json();
        assert_eq!(removed["data"], word);
        assert_eq!(data.exists(), word == "kept");
        assert!(entry(&host, "com.example.a").is_none());
    }
    // A data directory that is a link loses the link, not what it leads to.
    install_path(&host, &source);
    let home = sandbox.home();
    write(&home.join("letter.txt"), "mine");
    fs::create_dir_all(sandbox.state().join("ui_apps/data")).unwrap();
    std::os::unix::fs::symlink(&home, data_of(&sandbox, "com.example.a")).unwrap();
    host.ask("DELETE", "/api/v1/plugins/com.example.a?data=delete", None);
    assert!(fs::symlink_metadata(data_of(&sandbox, "com.example.a")).is_err());
    assert_eq!(fs::read_to_string(home.join("letter.txt")).unwrap(), "mine");
    drop(host);
    audit_names_what_happened(&sandbox);
}

fn audit_names_what_happened(sandbox: &Sandbox) {
    let mut text = String::new();
    for file in fs::read_dir(sandbox.state().join("audit")).unwrap() {
        text.push_str(&fs::read_to_string(file.unwrap().path()).unwrap());
    }
    assert!(text.contains("plugin_install") && text.contains("plugin_remove"), "{text}");
    assert_eq!(good(sandbox, &["audit", "verify"])["ok"], true);
}
