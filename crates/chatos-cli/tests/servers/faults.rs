//! Every fault of the list through the host, one after the other: the call ends as the table
//! says, another server works meanwhile, and afterwards nothing is left, neither a process nor an open
//! file (security §4 E).

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use chatos_testkit::{RunningHost, Sandbox};
use serde_json::{Value, json};

use crate::support::{self, add, until};

/// How a call of `echo` ends.
enum Ends {
    /// `right…`, in spite of everything.
    Well,
    /// With an error whose text or code has this word.
    With(&'static str),
}

use Ends::{Well, With};

const FAULTS: &[(&str, Ends)] = &[
    ("crash-start", With("dies at once")),
    ("crash-initialize", With("dies in the handshake")),
    ("crash-list", With("dies in the listing")),
    ("crash-call", With("outcome unknown")),
    ("hang-call", With("timeout")),
    ("garbage-start", Well),
    ("garbage", Well),
    ("binary", Well),
    ("gigabyte-line", With("8 MiB")),
    ("wrong-ids", Well),
    ("twice", Well),
    ("endless-cursors", Well),
    ("100000-tools", Well),
    ("deep-schema", Well),
    ("deeper-schema", Well),
    ("not-a-list", With("tools")),
    ("notifications", Well),
    ("requests", Well),
    ("stderr", Well),
    ("slow-drip", Well),
    ("invalid-utf8", Well),
    ("null-result", With("")),
    ("deep-result", With("")),
    ("stops-reading", With("timeout")),
    ("grandchildren", Well),
    ("ignores-term", Well),
];

/// Hanging at the start and in the listing takes the whole limit; these two wait together.
const SLOW: [(&str, Ends); 2] = [("hang-start", With("7")), ("hang-list", With("7"))];

/// What of this test runs: every process that names its folder, and the host's open files, by name. The
/// database opens connections as it likes.
fn census(sandbox: &Sandbox, host: &RunningHost) -> (Vec<String>, Vec<String>) {
    let root = sandbox.root().to_str().unwrap();
    let mut programs = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let read = |name: &str| std::fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
        let line = String::from_utf8_lossy(&read("cmdline")).replace('\0', " ");
        // A grandchild does not name the folder; what it inherited does.
        let inherited = String::from_utf8_lossy(&read("environ")).contains(root);
        let dead = String::from_utf8_lossy(&read("stat")).contains(") Z ");
        if !dead && (line.contains(root) || inherited) {
            programs.push(line.trim().to_owned());
        }
    }
    programs.sort();
    let open = std::fs::read_dir(format!("/proc/{}/fd", host.pid())).unwrap().flatten();
    let open = open.filter_map(|file| std::fs::read_link(file.path()).ok());
    let named = open.map(|target| {
        let target = target.to_string_lossy().into_owned();
        // Sockets and pipes have numbers; how many there are is what counts.
        let end = target.find(":[").unwrap_or(target.len());
        target[..end].to_owned()
    });
    // The database opens readers as it needs them, and the log of tools is followed a moment after its
    // first line: both have a number of their own.
    let shared = |target: &String| target.contains("state.db") || target.ends_with("tool-log.jsonl");
    let mut files: Vec<String> = named.filter(|target| !shared(target)).collect();
    files.sort();
    (programs, files)
}

fn call(host: &RunningHost, server: &str, session: &str) -> Value {
    let body = json!({ "server": server, "tool": "echo", "session": session });
    host.ask("POST", "/api/v1/tools/call", Some(&body)).json()
}

fn check(fault: &str, ends: &Ends, result: &Value) {
    let text = result.to_string();
    match ends {
        Well => {
            assert_eq!(result["isError"], false, "{fault}: {text}");
            let said = result["content"][0]["text"].as_str().unwrap_or_default();
            assert!(said.starts_with("right"), "{fault}: {text}");
        }
        With(word) => {
            assert!(result["isError"] == true || result["error"].is_object(), "{fault}: {text}");
            assert!(text.contains(word), "{fault}: {text}");
        }
    }
}

/// Calls a faulty server; the other one works meanwhile, for another chat.
fn meanwhile(host: &RunningHost, faulty: &str) -> Value {
    std::thread::scope(|scope| {
        let calling = scope.spawn(|| call(host, faulty, "one"));
        let body = json!({ "server": "good", "tool": "echo.params", "session": "other" });
        let other = host.ask("POST", "/api/v1/tools/call", Some(&body)).json();
        assert_eq!(other["isError"], false, "{faulty}: {other}");
        calling.join().unwrap()
    })
}

fn make(sandbox: &Sandbox, host: &RunningHost, name: &str, fault: &str) {
    let script = sandbox.root().join("faulty.mjs");
    let argv = json!(["node", script.to_str().unwrap(), fault]);
    // Those that end by their limit only have a short one.
    let hangs = matches!(fault, "hang-call" | "stops-reading");
    let limit = if hangs { 1500 } else { 60_000 };
    let body = json!({ "name": name, "argv": argv, "timeoutMs": limit, "cwd": sandbox.root() });
    let made = host.ask("POST", "/api/v1/mcp-servers", Some(&body));
    assert_eq!(made.status, 201, "{}", made.text());
}

fn remove(host: &RunningHost, name: &str) {
    let gone = host.ask("DELETE", &format!("/api/v1/mcp-servers/{name}"), None);
    assert!(gone.status < 300, "{}", gone.text());
}

#[test]
fn after_every_fault_nothing_is_left_and_nobody_else_noticed() {
    let sandbox = support::sandbox();
    std::fs::write(sandbox.root().join("faulty.mjs"), include_str!("faulty.mjs")).unwrap();
    let host = sandbox.serve();
    let limit = serde_json::json!({ "value": 7_000 });
    assert_eq!(host.ask("PUT", "/api/v1/settings/mcpStartTimeoutMs", Some(&limit)).status, 200);
    add(&sandbox, "good", &[]);
    // Everything that is opened once is open before anything is counted.
    for name in ["none", "binary"] {
        make(&sandbox, &host, name, name);
        check(name, &Well, &meanwhile(&host, name));
        remove(&host, name);
    }
    let before = until("it is quiet", || {
        let (now, again) = (census(&sandbox, &host), census(&sandbox, &host));
        (now == again && !now.0.iter().any(|line| line.contains("faulty.mjs"))).then_some(now)
    });
    let quiet = |what: &str| {
        let mut last = None;
        let same = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            until(what, || {
                let now = census(&sandbox, &host);
                last = Some(now.clone());
                (now == before).then_some(())
            });
        }));
        assert!(same.is_ok(), "{what} leaves something: {last:?}, before {before:?}");
    };
    std::thread::scope(|scope| {
        for (fault, ends) in &SLOW {
            make(&sandbox, &host, fault, fault);
            let (host, fault) = (&host, *fault);
            scope.spawn(move || check(fault, ends, &meanwhile(host, fault)));
        }
    });
    for (fault, _) in &SLOW {
        remove(&host, fault);
    }
    quiet("a start that hangs");
    for (fault, ends) in FAULTS {
        make(&sandbox, &host, fault, fault);
        check(fault, ends, &meanwhile(&host, fault));
        remove(&host, fault);
        quiet(fault);
    }
    assert_eq!(host.stop().code(), Some(0));
}

/// A web server that answers every request in one way and keeps what it was asked.
struct Web {
    port: u16,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Web {
    fn start(answer: impl Fn() -> String + Send + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::<Mutex<Vec<String>>>::default();
        let kept = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut lines = BufReader::new(stream.try_clone().unwrap());
                let mut head = String::new();
                while lines.read_line(&mut head).is_ok_and(|read| read > 2) {}
                kept.lock().unwrap().push(head);
                let mut stream = stream;
                // Whoever asked may be gone.
                stream.write_all(answer().as_bytes()).ok();
            }
        });
        Self { port, seen }
    }
}

#[test]
fn addresses_that_lead_elsewhere_are_refused_and_credentials_stay_home() {
    let sandbox = support::sandbox();
    let host = sandbox.serve();
    let thief =
        Web::start(|| "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}".to_owned());
    let port = thief.port;
    let home = Web::start(move || {
        format!(
            "HTTP/1.1 307 Temporary\r\nLocation: http://localhost:{port}/mcp\r\nContent-Length: 0\r\n\
             Connection: close\r\n\r\n"
        )
    });
    let web = |name: &str, url: String, private: bool| {
        let auth = json!({ "kind": "token", "token": "canary-of-the-web-123" });
        let body = json!({ "name": name, "url": url, "allowPrivate": private, "auth": auth });
        let made = host.ask("POST", "/api/v1/mcp-servers", Some(&body));
        assert_eq!(made.status, 201, "{}", made.text());
        let result = call(&host, name, "one");
        assert!(result["error"].is_object(), "{name}: {result}");
        assert!(!result.to_string().contains("canary"), "{name}: {result}");
        result
    };
    // A redirect is followed, without what belongs to the first origin; what it leads to is no server.
    web("moved", format!("http://127.0.0.1:{}/mcp", home.port), true);
    assert!(home.seen.lock().unwrap()[0].contains("canary"), "its own origin gets the token");
    let stolen = thief.seen.lock().unwrap().clone();
    assert!(!stolen.iter().any(|head| head.to_ascii_lowercase().contains("authorization")), "{stolen:?}");
    let tls = web("tls", format!("https://127.0.0.1:{port}/mcp"), true);
    assert!(tls["error"]["message"].as_str().unwrap().contains("no secure connection"), "{tls}");
    // A name for this machine is this machine.
    let asked = thief.seen.lock().unwrap().len();
    for (name, url) in [
        ("named", format!("http://localhost:{port}/mcp")),
        ("mapped", format!("http://[::ffff:127.0.0.1]:{port}/mcp")),
        ("socket", format!("ws://localhost:{port}/mcp")),
    ] {
        let refused = web(name, url, false);
        assert_eq!(refused["error"]["code"], "address_refused", "{name}: {refused}");
        assert!(refused["error"]["hint"].is_string(), "{name}: {refused}");
    }
    assert_eq!(thief.seen.lock().unwrap().len(), asked, "nothing was sent");
    host.stop();
}

#[test]
fn without_a_usable_node_it_is_said_what_to_install() {
    use std::os::unix::fs::PermissionsExt;
    for (old, word) in [(None, "20"), (Some("v14.21.3"), "v14.21.3")] {
        let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_chatos"));
        if let Some(version) = old {
            let program = sandbox.root().join("bin/node");
            std::fs::write(&program, format!("#!/bin/sh\necho {version}\n")).unwrap();
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let host = sandbox.serve();
        let body = json!({ "name": "n", "argv": ["node", "/nowhere/server.mjs"] });
        let made = host.ask("POST", "/api/v1/mcp-servers", Some(&body));
        assert_eq!(made.status, 201, "{}", made.text());
        let refused = call(&host, "n", "one");
        let (message, hint) = (refused["error"]["message"].to_string(), refused["error"]["hint"].to_string());
        assert!(message.contains("node") || message.contains("Node"), "{refused}");
        assert!(format!("{message}{hint}").contains(word), "{refused}");
        assert!(hint.contains("install") && hint.contains("Node"), "{refused}");
        host.stop();
    }
}

/// A server that takes its time to start has as long as the person who added it says, on every road.
#[test]
fn a_server_has_the_time_to_start_that_a_person_gave_it() {
    let sandbox = support::sandbox();
    let script = sandbox.root().join("late.mjs");
    let late = "await new Promise((ready) => setTimeout(ready, 2500));\nawait import('./echo.mjs');\n";
    std::fs::write(&script, late).unwrap();
    let host = sandbox.serve();
    // `--` ends the flags, so the state directory comes first.
    let mut command = sandbox.bare::<&str>(&[]);
    command.arg("--state-dir").arg(sandbox.state());
    command.args(["mcp", "servers", "add", "late", "--start-timeout", "1000", "--", "node"]).arg(&script);
    let added = sandbox.run_command(command);
    assert_eq!(added.status, 0, "{added:?}");
    let list = || host.ask("GET", "/api/v1/mcp-servers", None).json();
    let late =
        |list: Value| list["items"].as_array().unwrap().iter().find(|item| item["name"] == "late").cloned();
    let id = late(list()).unwrap()["id"].as_str().unwrap().to_owned();
    assert_eq!(late(list()).unwrap()["startTimeoutMs"], 1000);
    let tools = || host.ask("GET", &format!("/api/v1/mcp-servers/{id}/tools"), None);
    let failed = tools();
    assert!(failed.status >= 500 && failed.text().contains("1 s"), "{}", failed.text());
    let change = |ms: Value| {
        host.ask("PUT", &format!("/api/v1/mcp-servers/{id}"), Some(&json!({ "startTimeoutMs": ms })))
    };
    let refused = change(json!(999));
    assert!(refused.status == 422 && refused.text().contains("/startTimeoutMs"), "{}", refused.text());
    assert_eq!(change(json!(20_000)).status, 200);
    assert_eq!(tools().status, 200, "{}", tools().text());
    assert_eq!(change(Value::Null).status, 200);
    assert!(late(list()).unwrap()["startTimeoutMs"].is_null());
    assert!(host.stop().success());
}
