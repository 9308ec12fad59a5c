//! Signing in to a server that wants it, with a real authorization server in Node: from the button over the
//! browser's return to renewed tokens, more rights, and the end; with what strangers can send in between.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use chatos_testkit::{Answer, RunningHost, Sandbox, Wire, child};
use serde_json::{Value, json};

use crate::support::{sandbox, until};

const SCRIPT: &str = include_str!("sign-in.mjs");

/// The server and the place of its sign-in.
pub(crate) struct Place {
    process: Child,
    pub(crate) port: u16,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

impl Place {
    pub(crate) fn start(sandbox: &Sandbox) -> Self {
        let script = sandbox.root().join("sign-in.mjs");
        std::fs::write(&script, SCRIPT).unwrap();
        let mut command = child(sandbox.root().join("bin/node"));
        let mut process = command.arg(script).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap();
        let port = u16::try_from(ready["port"].as_u64().unwrap()).unwrap();
        Self { process, port }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    pub(crate) fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Answer {
        Wire::open(self.port).unwrap().ask("", method, path, body).unwrap()
    }

    pub(crate) fn log(&self) -> Value {
        self.ask("GET", "/log", None).json()
    }

    pub(crate) fn control(&self, wanted: &Value) {
        assert_eq!(self.ask("POST", "/control", Some(wanted)).status, 200);
    }

    /// What a browser does with the address: looks at the page, says yes or no, and is sent back. Gives
    /// the path and query it is sent to.
    pub(crate) fn decide(&self, url: &str, allow: bool) -> String {
        let (_, query) = url.split_once('?').unwrap();
        let page = self.ask("GET", &format!("/authorize?{query}"), None);
        assert_eq!(page.status, 200, "{}", page.text());
        let answer = self.ask("GET", &format!("/decide?allow={}&{query}", u8::from(allow)), None);
        assert_eq!(answer.status, 302);
        answer.header("location").unwrap().to_owned()
    }
}

/// Adds the server, which then waits for a person.
pub(crate) fn added(host: &RunningHost, place: &Place) -> String {
    let body = json!({ "name": "notes", "url": place.url(), "allowPrivate": true });
    let made = host.ask("POST", "/api/v1/mcp-servers", Some(&body)).json();
    let id = made["id"].as_str().unwrap().to_owned();
    assert_eq!((&made["signIn"]["state"], &made["signIn"]["possible"]), (&json!("none"), &json!(true)));
    let refused = host.ask("POST", &format!("/api/v1/mcp-servers/{id}/connect"), Some(&json!({})));
    assert_eq!((refused.status, refused.json()["error"]["code"].as_str()), (403, Some("sign_in_needed")));
    let seen = server(host);
    assert_eq!((&seen["state"]["phase"], &seen["signIn"]["state"]), (&json!("sign_in"), &json!("needed")));
    assert_eq!(seen["signIn"]["wanted"], json!(["notes.read"]));
    id
}

pub(crate) fn server(host: &RunningHost) -> Value {
    host.ask("GET", "/api/v1/mcp-servers/notes", None).json()
}

fn begin(host: &RunningHost) -> Value {
    let begun = host.ask("POST", "/api/v1/mcp-servers/notes/sign-in", Some(&json!({})));
    assert_eq!(begun.status, 200, "{}", begun.text());
    begun.json()
}

/// A browser comes to an address of the host: with no token, from another site.
pub(crate) fn visit(port: u16, address: &str, more: &str) -> Answer {
    let path = address.strip_prefix(&format!("http://127.0.0.1:{port}")).unwrap_or(address);
    let head = format!(
        "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n\
         Sec-Fetch-Dest: document\r\nAccept-Language: en\r\n{more}\r\n"
    );
    Wire::open(port).unwrap().raw(&head, b"").unwrap()
}

pub(crate) fn phase(host: &RunningHost, wanted: &str) {
    until("the server is in its phase", || (server(host)["state"]["phase"] == wanted).then_some(()));
}

pub(crate) fn call(host: &RunningHost, tool: &str) -> Value {
    host.ask("POST", &format!("/api/v1/tools/notes/{tool}/call"), Some(&json!({ "arguments": {} }))).json()
}

pub(crate) fn sign_in(host: &RunningHost, place: &Place) {
    let back = place.decide(begin(host)["url"].as_str().unwrap(), true);
    let page = visit(host.port, &back, "");
    assert_eq!(page.status, 200, "{}", page.text());
    assert!(page.text().contains("You are signed in"), "{}", page.text());
}

#[test]
fn a_person_signs_in_tokens_renew_more_rights_are_asked_for_and_the_end_is_told() {
    let sandbox = sandbox();
    let place = Place::start(&sandbox);
    let host = sandbox.serve();
    let id = added(&host, &place);
    let begun = begin(&host);
    assert_eq!(
        (&begun["host"], &begun["scopes"]),
        (&json!(format!("127.0.0.1:{}", place.port)), &json!(["notes.read"]))
    );
    assert_eq!(begun["issuer"], format!("http://127.0.0.1:{}", place.port));
    assert_eq!(server(&host)["signIn"]["state"], "pending");
    sign_in(&host, &place);
    phase(&host, "ready");
    let seen = server(&host);
    assert_eq!((&seen["signIn"]["state"], &seen["state"]["lastError"]), (&json!("signed_in"), &Value::Null));
    assert_eq!(
        (&seen["signIn"]["canRefresh"], &seen["signIn"]["scopes"]),
        (&json!(true), &json!(["notes.read"]))
    );
    assert_eq!(call(&host, "read")["content"][0]["text"], "read done");
    // An ended token is renewed without a word.
    place.control(&json!({ "expire": true }));
    assert_eq!(call(&host, "read")["content"][0]["text"], "read done");
    assert_eq!(place.log()["refreshes"], 1);
    // A call that needs more says so; the rest goes on.
    let refused = call(&host, "write");
    assert_eq!(refused["isError"], true);
    assert_eq!(
        (&refused["_meta"]["chatos"]["status"], &refused["_meta"]["chatos"]["code"]),
        (&json!("denied"), &json!("permission_denied"))
    );
    let said = refused["content"][0]["text"].as_str().unwrap();
    assert!(said.contains("`notes.write`") && said.contains("chatos mcp servers sign-in notes"), "{said}");
    let shown = sandbox.run(&["tools", "call", "notes", "write"]);
    assert!(shown.status == 3 && shown.stdout.contains("`notes.write`"), "{shown:?}");
    let seen = server(&host);
    assert_eq!(
        (&seen["signIn"]["state"], &seen["signIn"]["wanted"]),
        (&json!("needed"), &json!(["notes.write"]))
    );
    assert_eq!(seen["state"]["phase"], "ready");
    assert_eq!(call(&host, "read")["content"][0]["text"], "read done");
    sign_in(&host, &place);
    assert_eq!(place.log()["asked"].as_array().unwrap().last().unwrap(), "notes.read notes.write");
    until("the new rights are used", || {
        (call(&host, "write")["content"][0]["text"] == "write done").then_some(())
    });
    assert_eq!(server(&host)["signIn"]["state"], "signed_in");
    assert_eq!(place.log()["registrations"], 2, "once per beginning until somebody is signed in");
    // Nothing of it is to be read anywhere.
    let backup = sandbox.root().join("copy.tar");
    let saved = sandbox.run(&["backup", backup.to_str().unwrap()]);
    assert_eq!(saved.status, 0, "{saved:?}");
    let answers = [
        server(&host).to_string(),
        host.ask("GET", "/api/v1/secrets", None).text(),
        host.ask("GET", "/api/v1/audit", None).text(),
        host.ask("GET", &format!("/api/v1/mcp-servers/{id}/log"), None).text(),
    ];
    assert!(answers[1].contains("\"kind\":\"grant\""), "{}", answers[1]);
    let out = host.ask("DELETE", "/api/v1/mcp-servers/notes/sign-in", None);
    assert_eq!((out.status, &out.json()["revoked"]), (200, &json!(true)));
    phase(&host, "sign_in");
    assert_eq!(server(&host)["signIn"]["state"], "needed");
    assert!(!host.ask("GET", "/api/v1/secrets", None).text().contains("grant"));
    let log = place.log();
    assert!(!log["revoked"].as_array().unwrap().is_empty());
    host.stop();
    let given: Vec<&str> = log["given"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(given.len() >= 8);
    for text in answers {
        assert!(given.iter().all(|secret| !text.contains(secret)), "{text}");
    }
    unread(sandbox.root(), &given);
}

/// No file below holds one of these texts.
fn unread(folder: &std::path::Path, secrets: &[&str]) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let kind = std::fs::symlink_metadata(&path).unwrap().file_type();
        if kind.is_dir() {
            unread(&path, secrets);
        } else if kind.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            let text = String::from_utf8_lossy(&bytes);
            assert!(secrets.iter().all(|secret| !text.contains(secret)), "{}", path.display());
        }
    }
}

#[test]
fn a_sign_in_outlives_the_host_and_another_port_registers_anew() {
    let sandbox = sandbox();
    let place = Place::start(&sandbox);
    let host = sandbox.serve();
    added(&host, &place);
    let back = place.decide(begin(&host)["url"].as_str().unwrap(), true);
    let port = host.port;
    host.kill();
    let host = sandbox.serve_with(&["--port", &port.to_string()]);
    assert_eq!(server(&host)["signIn"]["state"], "pending");
    assert_eq!(visit(port, &back, "").status, 200);
    phase(&host, "ready");
    host.kill();
    // What was given is there again, and the server with it.
    let host = sandbox.serve();
    assert_ne!(host.port, port);
    assert_eq!(call(&host, "read")["content"][0]["text"], "read done");
    sign_in(&host, &place);
    assert_eq!(place.log()["registrations"], 2);
    // A changed address gets nothing of what the old one was given.
    let other = json!({ "url": format!("http://127.0.0.1:{}/other", place.port) });
    assert_eq!(host.ask("PUT", "/api/v1/mcp-servers/notes", Some(&other)).json()["signIn"]["state"], "none");
    assert_eq!(host.ask("GET", "/api/v1/secrets", None).json()["items"], json!([]));
    until("the end is told", || (!place.log()["revoked"].as_array().unwrap().is_empty()).then_some(()));
    assert_eq!(host.ask("DELETE", "/api/v1/mcp-servers/notes", None).status, 200);
    host.stop();
}

#[test]
fn a_return_that_nobody_waits_for_does_nothing_and_shows_nothing() {
    let sandbox = sandbox();
    let place = Place::start(&sandbox);
    let host = sandbox.serve();
    added(&host, &place);
    let back = place.decide(begin(&host)["url"].as_str().unwrap(), true);
    let (_, query) = back.split_once('?').unwrap();
    let state = query.split('&').find_map(|pair| pair.strip_prefix("state=")).unwrap();
    let path = "/oauth/callback";
    let mut pages = std::collections::BTreeSet::new();
    for wrong in [
        String::new(),
        "?".to_owned(),
        "?code=x".to_owned(),
        "?code=x&state=%3Cscript%3Ealert(1)%3C/script%3E".to_owned(),
        format!("?code=x&state={}", "A".repeat(state.len())),
        format!("?code=x&state={}x", &state[..state.len() - 1]),
        format!("?code=x&state={state}&state={state}"),
        format!("?error=%3Cb%3E&error_description={}", "y".repeat(9_000)),
    ] {
        let page = visit(host.port, &format!("{path}{wrong}"), "");
        assert_eq!(page.status, 400, "{wrong}");
        pages.insert(page.text());
    }
    assert_eq!(pages.len(), 1, "one page for all of them");
    // A look ahead, a picture, a frame, a script, another method or name is no person's return.
    for more in ["Sec-Purpose: prefetch\r\n", "Sec-Fetch-Dest: iframe\r\n", "Origin: null\r\n"] {
        assert_eq!(visit(host.port, &back, more).status, 403, "{more}");
    }
    let raw = |head: &str| host.connect().raw(head, b"").unwrap().status;
    let line = format!("Host: {}\r\n\r\n", host.authority());
    assert_eq!(raw(&format!("HEAD {path}?{query} HTTP/1.1\r\n{line}")), 405);
    assert_eq!(raw(&format!("POST {path}?{query} HTTP/1.1\r\nContent-Length: 0\r\n{line}")), 405);
    assert_eq!(raw(&format!("GET {path}?{query} HTTP/1.1\r\nHost: evil.example:{}\r\n\r\n", host.port)), 403);
    let plugin = format!("p-{}.localhost:{}", "0".repeat(20), host.port);
    assert_eq!(raw(&format!("GET {path}?{query} HTTP/1.1\r\nHost: {plugin}\r\n\r\n")), 404);
    assert_eq!(server(&host)["signIn"]["state"], "pending", "nothing of that counted");
    // The real one counts once.
    let page = visit(host.port, &back, "");
    assert_eq!(page.status, 200);
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    assert_eq!(
        (page.header("cache-control"), page.header("x-frame-options")),
        (Some("no-store"), Some("DENY"))
    );
    assert!(!page.text().contains(state) && page.text().contains("你已登录"));
    assert_eq!(visit(host.port, &back, "").text(), pages.pop_first().unwrap());
    phase(&host, "ready");
    host.stop();
}

#[test]
fn a_refused_sign_in_and_a_refused_renewal_are_told_with_what_to_do() {
    let sandbox = sandbox();
    let place = Place::start(&sandbox);
    let host = sandbox.serve();
    added(&host, &place);
    let back = place.decide(begin(&host)["url"].as_str().unwrap(), false);
    let page = visit(host.port, &back, "");
    assert_eq!(page.status, 400);
    assert!(
        page.text().contains("The sign-in was refused") && !page.text().contains("<b>"),
        "{}",
        page.text()
    );
    let seen = server(&host);
    assert_eq!(
        (&seen["signIn"]["state"], &seen["signIn"]["error"]["code"]),
        (&json!("needed"), &json!("sign_in_refused"))
    );
    sign_in(&host, &place);
    phase(&host, "ready");
    assert_eq!(server(&host)["signIn"]["error"], Value::Null);
    // What was given ends and is not renewed: a person is needed again, and nothing is tried meanwhile.
    place.control(&json!({ "expire": true, "refuseRefresh": true }));
    assert_eq!(call(&host, "read")["isError"], true);
    phase(&host, "sign_in");
    assert_eq!(server(&host)["state"]["restarts"], 0);
    place.control(&json!({ "refuseRefresh": false }));
    sign_in(&host, &place);
    phase(&host, "ready");
    // A place that lets nobody register names what helps; a client of one's own is used.
    place.control(&json!({ "register": false }));
    host.ask("DELETE", "/api/v1/mcp-servers/notes/sign-in", None);
    let refused = host.ask("POST", "/api/v1/mcp-servers/notes/sign-in", Some(&json!({})));
    assert_eq!(refused.json()["error"]["code"], "sign_in_client_needed", "{}", refused.text());
    assert!(refused.json()["error"]["hint"].is_string());
    let own = json!({ "oauth": { "clientId": "client-1", "scopes": ["notes.write"] } });
    let seen = host.ask("PUT", "/api/v1/mcp-servers/notes", Some(&own)).json();
    assert_eq!(
        seen["auth"]["oauth"],
        json!({ "clientId": "client-1", "hasSecret": false, "scopes": ["notes.write"] })
    );
    sign_in(&host, &place);
    phase(&host, "ready");
    assert_eq!(server(&host)["signIn"]["scopes"], json!(["notes.write"]));
    // Credentials of its own take the place of a sign-in.
    let token = json!({ "auth": { "kind": "token", "token": "a-token-of-its-own" } });
    assert_eq!(
        host.ask("PUT", "/api/v1/mcp-servers/notes", Some(&token)).json()["signIn"]["possible"],
        false
    );
    let refused = host.ask("POST", "/api/v1/mcp-servers/notes/sign-in", Some(&json!({})));
    assert_eq!(refused.json()["error"]["code"], "no_sign_in");
    host.stop();
}

#[test]
fn a_terminal_without_a_host_waits_for_the_browser_itself() {
    let sandbox = sandbox();
    let place = Place::start(&sandbox);
    let add = ["mcp", "servers", "add", "notes", &place.url(), "--allow-private"];
    assert_eq!(sandbox.run(&add).status, 0);
    let mut command = sandbox.command(&["mcp", "servers", "sign-in", "notes", "--no-open", "--json"]);
    let mut waiting = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(waiting.stdout.take().unwrap()).lines();
    let begun: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    let back = place.decide(begun["url"].as_str().unwrap(), true);
    let port = back.strip_prefix("http://127.0.0.1:").unwrap().split('/').next().unwrap().parse().unwrap();
    assert_eq!(visit(port, &back, "").status, 200);
    let ready: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!((&ready["state"]["phase"], &ready["state"]["tools"]), (&json!("ready"), &json!(2)));
    assert!(waiting.wait().unwrap().success());
    let called = sandbox.run(&["tools", "call", "notes", "read"]);
    assert_eq!((called.status, called.stdout.trim()), (0, "read done"), "{called:?}");
    let shown = sandbox.run(&["mcp", "servers", "show", "notes"]);
    assert!(shown.stdout.contains("signed in at"), "{shown:?}");
    let out = sandbox.run(&["mcp", "servers", "sign-out", "notes"]);
    assert!(out.status == 0 && out.stdout.contains("signed out of `notes`"), "{out:?}");
    let refused = sandbox.run(&["tools", "call", "notes", "read", "--json"]);
    assert_eq!(refused.code(), "sign_in_needed", "{refused:?}");
}
