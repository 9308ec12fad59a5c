//! What a web page, another user or a broken client can send to a running host (security T1–T3,
//! group C), over real sockets against the real program.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]
#![expect(clippy::disallowed_methods, reason = "tests look into the database with a connection of their own")]

#[path = "support/socket.rs"]
mod socket;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::time::Duration;

use chatos_testkit::{Answer, RunningHost, Sandbox, Wire};
use serde_json::json;
use socket::{ticket, upgrade};

fn start() -> (Sandbox, RunningHost) {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_chatos"));
    let host = sandbox.serve();
    (sandbox, host)
}

/// Every route of the API description as (method, path with its names filled in).
fn routes(host: &RunningHost) -> Vec<(String, String)> {
    let document = host.ask("GET", "/api/v1/openapi.json", None).json();
    let mut all = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        let filled = path.replace("{key}", "retry").split('/').map(fill).collect::<Vec<_>>().join("/");
        for method in item.as_object().unwrap().keys() {
            all.push((method.to_ascii_uppercase(), filled.clone()));
        }
    }
    assert!(all.len() > 10);
    all
}

fn fill(part: &str) -> &str {
    if part.starts_with('{') { "x" } else { part }
}

/// A request line, `Host`, further lines, and an empty JSON object where the method takes a body.
fn request(host: &RunningHost, method: &str, path: &str, lines: &[&str]) -> Answer {
    let body = if matches!(method, "POST" | "PUT" | "PATCH") { "{}" } else { "" };
    let mut head = format!("{method} {path} HTTP/1.1\r\n");
    if !lines.iter().any(|line| line.to_ascii_lowercase().starts_with("host:")) {
        head.push_str(&format!("Host: {}\r\n", host.authority()));
    }
    let has_kind = lines.iter().any(|line| line.to_ascii_lowercase().starts_with("content-type:"));
    if !body.is_empty() {
        if !has_kind {
            head.push_str("Content-Type: application/json\r\n");
        }
        head.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    for line in lines {
        head.push_str(&format!("{line}\r\n"));
    }
    host.connect().raw(&format!("{head}\r\n"), body.as_bytes()).unwrap()
}

fn resident(host: &RunningHost) -> u64 {
    let statm = fs::read_to_string(format!("/proc/{}/statm", host.pid())).unwrap();
    statm.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

/// Signing in needs no token.
const OPEN: &[&str] = &["/api/v1/auth/exchange", "/api/v1/auth/challenge", "/api/v1/auth/renew"];

// Tokens --------------------------------------------------------------------------------------

#[test]
fn every_route_refuses_every_bad_token_with_the_same_body() {
    let (_sandbox, host) = start();
    let wrong = "A".repeat(host.token.len());
    let near = format!("{}A", &host.token[..host.token.len() - 1]);
    let tokens = [
        String::new(),
        "Authorization:".to_owned(),
        "Authorization: Bearer".to_owned(),
        "Authorization: Bearer ".to_owned(),
        format!("Authorization: Bearer {wrong}"),
        format!("Authorization: Bearer {near}x"),
        format!("Authorization: Bearer {} {}", host.token, host.token),
        format!("Authorization: Basic {}", host.token),
        format!("Authorization: {}", host.token),
        format!("Authorization: Bearer {}\r\nAuthorization: Bearer {wrong}", host.token),
        format!("Cookie: token={}", host.token),
        format!("Authorization: Bearer {}", "x".repeat(8_000)),
    ];
    let mut bodies = BTreeSet::new();
    for (method, path) in routes(&host) {
        for token in &tokens {
            let open = OPEN.contains(&path.as_str());
            let lines: Vec<&str> = if token.is_empty() { Vec::new() } else { vec![token] };
            let answer = request(&host, &method, &path, &lines);
            if open {
                // The code is the proof there, or a signature; an empty object has none. A challenge is for everybody.
                let expected = if method == "GET" { 200..=200 } else { 400..=401 };
                assert!(expected.contains(&answer.status), "{method} {path}: {answer:?}");
                continue;
            }
            assert_eq!(answer.status, 401, "{method} {path} {token}");
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
            bodies.insert(answer.text());
        }
        // A token in the address is no token.
        if !OPEN.contains(&path.as_str()) {
            for name in ["token", "access_token", "authorization"] {
                let path = format!("{path}?{name}={}", host.token);
                assert_eq!(request(&host, &method, &path, &[]).status, 401, "{method} {path}");
            }
        }
    }
    for path in ["/api", "/api/", "/api/v1", "/api/v1/nothing", "/api/v2/status"] {
        let answer = request(&host, "GET", path, &[]);
        assert_eq!(answer.status, 401, "{path}");
        bodies.insert(answer.text());
    }
    assert_eq!(bodies.len(), 1, "{bodies:?}");
    // Beyond the limit of a head there is nothing to compare.
    let long = format!("Authorization: Bearer {}", "x".repeat(1024 * 1024));
    assert_eq!(request(&host, "GET", "/api/v1/status", &[&long]).status, 431);
    assert_eq!(host.ask("GET", "/api/v1/status", None).status, 200);
}

#[test]
fn a_sign_in_code_works_once_and_wrong_ones_are_all_alike() {
    let (_sandbox, host) = start();
    let exchange = |code: &str| {
        let body = json!({ "code": code }).to_string();
        let head = format!(
            "POST /api/v1/auth/exchange HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            host.authority(),
            body.len()
        );
        host.connect().raw(&head, body.as_bytes()).unwrap()
    };
    let link = host.ready["signInUrl"].as_str().unwrap().to_owned();
    let (_, code) = link.split_once("#code=").unwrap();
    let signed_in = exchange(code);
    assert_eq!(signed_in.status, 200);
    let token = signed_in.json()["token"].as_str().unwrap().to_owned();
    assert_ne!(token, host.token);
    let mut bodies = BTreeSet::new();
    for wrong in [code, "", "x", &"x".repeat(100_000), &host.token, &token] {
        let answer = exchange(wrong);
        assert_eq!(answer.status, 401, "{wrong}");
        bodies.insert(answer.text());
    }
    assert_eq!(bodies.len(), 1, "{bodies:?}");
    assert!(signed_in.header("set-cookie").is_none());
    // The session works until it is signed out, and the host's own token stays.
    let mut wire = host.connect();
    assert_eq!(wire.ask(&token, "GET", "/api/v1/status", None).unwrap().status, 200);
    assert_eq!(wire.ask(&token, "POST", "/api/v1/auth/sign-out", Some(&json!({}))).unwrap().status, 200);
    assert_eq!(wire.ask(&token, "GET", "/api/v1/status", None).unwrap().status, 401);
    assert_eq!(host.ask("GET", "/api/v1/status", None).status, 200);
}

#[test]
fn a_token_of_the_last_start_opens_nothing() {
    let (sandbox, host) = start();
    let old = host.token.clone();
    assert!(host.stop().success());
    let host = sandbox.serve();
    assert_ne!(host.token, old);
    let line = format!("Authorization: Bearer {old}");
    assert_eq!(request(&host, "GET", "/api/v1/status", &[&line]).status, 401);
}

// Names and origins ---------------------------------------------------------------------------

#[test]
fn only_our_names_are_answered_on_every_path() {
    let (_sandbox, host) = start();
    let port = host.port;
    let bearer = format!("Authorization: Bearer {}", host.token);
    for good in [format!("127.0.0.1:{port}"), format!("LocalHost:{port}"), format!("[::1]:{port}")] {
        let line = format!("Host: {good}");
        assert_eq!(request(&host, "GET", "/", &[&line]).status, 200, "{good}");
        assert_eq!(request(&host, "GET", "/api/v1/status", &[&line, &bearer]).status, 200, "{good}");
    }
    for bad in [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        format!("localhost.evil.example:{port}"),
        format!("127.0.0.1.evil.example:{port}"),
        format!("127.0.0.1.nip.io:{port}"),
        format!("localhost:{port}@evil.example"),
        format!("evil.example@localhost:{port}"),
        format!("localhost:{}", port ^ 1),
        "localhost".to_owned(),
        "127.0.0.1".to_owned(),
        format!("0.0.0.0:{port}"),
        format!("0x7f.1:{port}"),
        format!("127.1:{port}"),
        format!("[::ffff:127.0.0.1]:{port}"),
        format!("localhost.:{port}"),
        String::new(),
    ] {
        let line = format!("Host: {bad}");
        for path in [
            "/",
            "/healthz",
            "/assets/x.js",
            "/nothing",
            "/api/v1/status",
            "/api/v1/events",
            "/plugin-frame/x",
        ] {
            let answer = request(&host, "GET", path, &[&line, &bearer]);
            assert_eq!(answer.status, 403, "{bad} {path}");
        }
    }
    // None, two, two equal ones.
    let own = format!("Host: {}", host.authority());
    for head in [
        "GET / HTTP/1.1\r\n\r\n".to_owned(),
        format!("GET / HTTP/1.1\r\n{own}\r\n{own}\r\n\r\n"),
        format!("GET / HTTP/1.1\r\n{own}\r\nHost: evil.example\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: evil.example\r\n{own}\r\n\r\n"),
    ] {
        let answer = host.connect().raw(&head, b"").unwrap();
        assert!(matches!(answer.status, 400 | 403), "{head}: {answer:?}");
    }
    // A plugin's name reaches neither the page nor the API, whatever token is sent.
    let plugin = format!("Host: p-0123456789abcdef0123.localhost:{port}");
    for path in ["/", "/index.html", "/api/v1/status", "/healthz"] {
        assert_eq!(request(&host, "GET", path, &[&plugin, &bearer]).status, 404, "{path}");
    }
}

#[test]
fn the_target_must_agree_with_the_host_header() {
    let (_sandbox, host) = start();
    let own = host.authority();
    let ask = |target: &str, name: &str| {
        let head = format!("GET {target} HTTP/1.1\r\nHost: {name}\r\n\r\n");
        host.connect().raw(&head, b"").unwrap().status
    };
    assert_eq!(ask(&format!("http://{own}/healthz"), &own), 200);
    for (target, name) in [
        ("http://evil.example/healthz".to_owned(), own.clone()),
        (format!("http://{own}/healthz"), "evil.example".to_owned()),
        (format!("http://localhost:{}/healthz", host.port), own.clone()),
        (format!("https://{own}/healthz"), own.clone()),
        (format!("ftp://{own}/healthz"), own.clone()),
        (format!("http://user@{own}/healthz"), own.clone()),
    ] {
        assert!(matches!(ask(&target, &name), 400 | 403), "{target} {name}");
    }
}

#[test]
fn a_foreign_origin_is_refused_with_a_valid_token() {
    let (_sandbox, host) = start();
    let bearer = format!("Authorization: Bearer {}", host.token);
    let own = format!("Origin: http://{}", host.authority());
    assert_eq!(request(&host, "GET", "/api/v1/status", &[&bearer, &own]).status, 200);
    let foreign = [
        "http://evil.example".to_owned(),
        "null".to_owned(),
        format!("https://{}", host.authority()),
        format!("http://127.0.0.1:{}", host.port ^ 1),
        format!("http://localhost:{}", host.port),
        format!("http://p-0123456789abcdef0123.localhost:{}", host.port),
        format!("http://{}/", host.authority()),
        format!("http://{}.evil.example", host.authority()),
        "file://".to_owned(),
        String::new(),
    ];
    let settings = "/api/v1/settings/retry";
    let before = host.ask("GET", settings, None).json()["value"].clone();
    for origin in &foreign {
        let line = format!("Origin: {origin}");
        for (method, path) in [("GET", "/api/v1/status"), ("PUT", settings), ("DELETE", settings)] {
            assert_eq!(request(&host, method, path, &[&bearer, &line]).status, 403, "{origin} {method}");
        }
        let protocols = format!("chatos.v1, ticket.{}", ticket(&host));
        let refused = upgrade(&host, "", &protocols, &[&line]);
        assert_eq!(refused.err().map(|answer| answer.status), Some(403), "{origin}");
    }
    let two = [bearer.as_str(), own.as_str(), "Origin: http://evil.example"];
    assert_eq!(request(&host, "GET", "/api/v1/status", &two).status, 403);
    for site in ["cross-site", "same-site", "none", "x", ""] {
        let line = format!("Sec-Fetch-Site: {site}");
        assert_eq!(request(&host, "GET", "/api/v1/status", &[&bearer, &line]).status, 403, "{site}");
        assert_eq!(request(&host, "PUT", settings, &[&bearer, &line]).status, 403, "{site}");
    }
    assert_eq!(host.ask("GET", settings, None).json()["value"], before);
    // Without a token the origin alone is refused the same way: nobody learns which check spoke.
    assert_eq!(request(&host, "GET", "/api/v1/status", &["Origin: http://evil.example"]).status, 403);
}

#[test]
fn writes_need_a_json_content_type_and_no_preflight_succeeds() {
    let (_sandbox, host) = start();
    let bearer = format!("Authorization: Bearer {}", host.token);
    for (method, path) in routes(&host) {
        let answer = request(&host, "OPTIONS", &path, &[&bearer]);
        assert_eq!(answer.status, 405, "{path}");
        let cors = answer.headers.iter().find(|(name, _)| name.starts_with("access-control"));
        assert_eq!(cors, None, "{path}");
        if !matches!(method.as_str(), "POST" | "PUT" | "PATCH") {
            continue;
        }
        for kind in [
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=x",
            "application/jsonx",
            "text/json",
            "",
        ] {
            let line = format!("Content-Type: {kind}");
            let status = request(&host, &method, &path, &[&bearer, &line]).status;
            assert_eq!(status, 415, "{method} {path} {kind}");
        }
    }
    for method in ["TRACE", "CONNECT", "PROPFIND", "PUT", "POST", "DELETE"] {
        let status = request(&host, method, "/", &[]).status;
        assert!(matches!(status, 400 | 403 | 405), "{method} /: {status}");
    }
    let any = host.connect().raw(&format!("OPTIONS * HTTP/1.1\r\nHost: {}\r\n\r\n", host.authority()), b"");
    assert!(matches!(any.unwrap().status, 400 | 403 | 405));
}

// Framing -------------------------------------------------------------------------------------

#[test]
fn ambiguous_old_and_broken_requests_are_refused() {
    let (_sandbox, host) = start();
    let own = format!("Host: {}", host.authority());
    let bearer = format!("Authorization: Bearer {}", host.token);
    let put = format!(
        "PUT /api/v1/settings/retry HTTP/1.1\r\n{own}\r\n{bearer}\r\nContent-Type: application/json\r\n"
    );
    let body = "{\"value\":9}";
    let length = body.len();
    let chunked = format!("{length:x}\r\n{body}\r\n0\r\n\r\n");
    for head in [
        format!("{put}Transfer-Encoding: chunked\r\nContent-Length: {length}\r\n\r\n"),
        format!("{put}Content-Length: {length}\r\nTransfer-Encoding: chunked\r\n\r\n"),
        format!("{put}Transfer-Encoding: chunked\r\ncontent-length : {length}\r\n\r\n"),
        format!("{put}Transfer-Encoding: identity, chunked, identity\r\n\r\n"),
        format!("{put}Content-Length: {length}\r\nContent-Length: 0\r\n\r\n"),
        format!("{put}Content-Length: +{length}\r\n\r\n"),
        format!("{put}Content-Length: {length}, {length}\r\n\r\n"),
        format!("{put}Content-Length: -1\r\n\r\n"),
        format!("{put}Content-Length: 99999999999999999999999\r\n\r\n"),
        format!("GET / HTTP/1.0\r\n{own}\r\n\r\n"),
        "GET / HTTP/1.0\r\n\r\n".to_owned(),
        format!("GET / HTTP/0.9\r\n{own}\r\n\r\n"),
        format!("GET / HTTP/3.0\r\n{own}\r\n\r\n"),
        format!("GET / HTTP/1.1\r\n{own}\r\nX:\0y\r\n\r\n"),
        format!("GET / HTTP/1.1\r\n{own}\r\nX: a\r\n folded: b\r\n\r\n"),
        format!("GET / HTTP/1.1\r\n{own}\r\nBad Header: x\r\n\r\n"),
        format!("GET /\x7f HTTP/1.1\r\n{own}\r\n\r\n"),
        format!("G\0T / HTTP/1.1\r\n{own}\r\n\r\n"),
        "\x16\x03\x01\x02\x00\x01\x00\x01\u{fc}\x03\x03 not a TLS hello\r\n\r\n".to_owned(),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(),
        "\r\n\r\n\r\n\r\nnonsense\r\n\r\n".to_owned(),
    ] {
        let mut wire = host.connect();
        wire.send(head.as_bytes()).unwrap();
        wire.send(chunked.as_bytes()).ok();
        wire.finish().ok();
        // Refused with a status, or cut off without a word; never served.
        if let Ok(answer) = wire.answer(false) {
            assert!((400..500).contains(&answer.status), "{head:?}: {answer:?}");
            assert_ne!(answer.status, 404, "{head:?}: {answer:?}");
        }
    }
    let value = host.ask("GET", "/api/v1/settings/retry", None).json();
    assert_eq!(value["source"], "default", "{value}");
    // What a smuggler hides in the body is not taken for a second request.
    let hidden = format!("0\r\n\r\nDELETE /api/v1/settings/retry HTTP/1.1\r\n{own}\r\n{bearer}\r\n\r\n");
    host.ask("PUT", "/api/v1/settings/retry", Some(&json!({ "value": 9 })));
    let head = format!("{put}Content-Length: {}\r\nTransfer-Encoding: chunked\r\n\r\n", hidden.len());
    let mut wire = host.connect();
    wire.send(head.as_bytes()).unwrap();
    wire.send(hidden.as_bytes()).ok();
    wire.finish().ok();
    wire.rest().ok();
    assert_eq!(host.ask("GET", "/api/v1/settings/retry", None).json()["value"], 9);
}

#[test]
fn paths_cannot_be_spelled_around_the_token() {
    let (_sandbox, host) = start();
    for path in [
        "//api/v1/status",
        "/./api/v1/status",
        "/x/../api/v1/status",
        "/%61pi/v1/status",
        "/api%2fv1%2fstatus",
        "/API/v1/status",
        "/api/v1/./status",
        "/api/v1//status",
        "/api/v1/status/",
        "/api/v1/status;x",
        "/assets/../api/v1/status",
        "/assets/%2e%2e/%2e%2e/etc/passwd",
        "/../../etc/passwd",
        "/index.html/../../secret",
        "/.hidden",
        "/host.json",
        "/state.db",
    ] {
        let answer = request(&host, "GET", path, &[]);
        assert!(matches!(answer.status, 400 | 401 | 404), "{path}: {answer:?}");
        assert!(!answer.text().contains("stateDir") && !answer.text().contains("root:"), "{path}");
    }
}

// Sizes and slowness --------------------------------------------------------------------------

#[test]
fn too_much_of_anything_is_refused_in_bounded_memory() {
    let (_sandbox, host) = start();
    let own = format!("Host: {}", host.authority());
    let bearer = format!("Authorization: Bearer {}", host.token);
    let before = resident(&host);
    let json = "Content-Type: application/json";
    let put = format!("PUT /api/v1/settings/retry HTTP/1.1\r\n{own}\r\n{bearer}\r\n{json}\r\n");
    // 100 MB, declared and really sent.
    let mut wire = host.connect();
    wire.send(format!("{put}Content-Length: 100000000\r\n\r\n").as_bytes()).unwrap();
    let block = vec![b' '; 1_000_000];
    for _ in 0..100 {
        if wire.send(&block).is_err() {
            break;
        }
    }
    assert_eq!(wire.answer(false).unwrap().status, 413);
    // Chunks without an end.
    let mut wire = host.connect();
    wire.send(format!("{put}Transfer-Encoding: chunked\r\n\r\n").as_bytes()).unwrap();
    for _ in 0..100 {
        let sent = wire.send(b"f4240\r\n").and_then(|()| wire.send(&block)).and_then(|()| wire.send(b"\r\n"));
        if sent.is_err() {
            break;
        }
    }
    assert_eq!(wire.answer(false).unwrap().status, 413);
    // Without a token nobody may send anything large at all.
    let mut wire = host.connect();
    let head = format!(
        "PUT /api/v1/settings/retry HTTP/1.1\r\n{own}\r\n{json}\r\nContent-Length: 100000000\r\n\r\n"
    );
    wire.send(head.as_bytes()).unwrap();
    for _ in 0..100 {
        if wire.send(&block).is_err() {
            break;
        }
    }
    assert_eq!(wire.answer(false).unwrap().status, 401);
    // Ten thousand headers; one header, one address and one line that never end.
    let many: String = (0..10_000).map(|n| format!("X-{n}: y\r\n")).collect();
    let long = "x".repeat(2_000_000);
    for head in [
        format!("GET / HTTP/1.1\r\n{own}\r\n{many}\r\n"),
        format!("GET / HTTP/1.1\r\n{own}\r\nX: {long}\r\n\r\n"),
        format!("GET /{long} HTTP/1.1\r\n{own}\r\n\r\n"),
        long.clone(),
    ] {
        let mut wire = host.connect();
        wire.send(head.as_bytes()).ok();
        let answer = wire.answer(false).unwrap();
        assert!(matches!(answer.status, 400 | 414 | 431), "{answer:?}");
    }
    // A small, very deep and a very wide JSON body.
    for body in [
        format!("{{\"value\":{}1", "[".repeat(500_000)),
        format!("{{\"value\":[{}1]}}", "1,".repeat(400_000)),
    ] {
        let head = format!("{put}Content-Length: {}\r\n\r\n", body.len());
        let answer = host.connect().raw(&head, body.as_bytes()).unwrap();
        assert!(matches!(answer.status, 400 | 422), "{answer:?}");
    }
    let after = resident(&host);
    assert!(after < before + 64 * 1024 * 1024, "{before} → {after}");
    assert_eq!(host.ask("GET", "/api/v1/status", None).status, 200);
}

#[test]
fn half_open_connections_do_not_keep_others_out() {
    // The test holds more descriptors than a default limit allows; so must the host.
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let wanted = rustix::process::Rlimit { current: limit.maximum, maximum: limit.maximum };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, wanted).unwrap();
    let (_sandbox, host) = start();
    for count in [500, 1_100] {
        let mut idle: Vec<Wire> = Vec::new();
        for number in 0..count {
            // Near the limit the oldest that said nothing are dropped; connecting goes on.
            let mut wire = host.connect();
            if number % 2 == 0 {
                wire.send(b"GET / HTTP/1.1\r\nHost: ").ok();
            }
            idle.push(wire);
        }
        for _ in 0..20 {
            assert_eq!(host.ask("GET", "/api/v1/status", None).status, 200, "{count}");
        }
        let mut socket = socket::open(&host, "");
        assert_eq!(socket.event()["type"], "hello");
    }
}

#[test]
fn connections_without_a_token_do_not_keep_the_owner_out() {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let wanted = rustix::process::Rlimit { current: limit.maximum, maximum: limit.maximum };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, wanted).unwrap();
    let (_sandbox, host) = start();
    // One that the owner has open already, and the events of a page.
    let mut own = host.connect();
    let ask = |wire: &mut Wire, token: &str| {
        let head = format!(
            "GET /api/v1/status HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n\r\n",
            host.authority()
        );
        wire.raw(&head, b"").map(|answer| answer.status)
    };
    assert_eq!(ask(&mut own, &host.token).unwrap(), 200);
    let mut socket = socket::open(&host, "");
    assert_eq!(socket.event()["type"], "hello");
    // Strangers who send whole requests and keep their connections: without a token, with a wrong one, for
    // a page that anybody may read.
    let mut strangers: Vec<Wire> = Vec::new();
    for number in 0..1_100 {
        let mut wire = host.connect();
        match number % 3 {
            0 => assert_eq!(ask(&mut wire, "wrong").unwrap(), 401),
            1 => {
                let head = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", host.authority());
                assert_eq!(wire.raw(&head, b"").unwrap().status, 200);
            }
            _ => {
                let head = format!("GET /api/v1/status HTTP/1.1\r\nHost: {}\r\n\r\n", host.authority());
                assert_eq!(wire.raw(&head, b"").unwrap().status, 401);
            }
        }
        strangers.push(wire);
    }
    for _ in 0..20 {
        assert_eq!(host.ask("GET", "/api/v1/status", None).status, 200);
    }
    assert_eq!(ask(&mut own, &host.token).unwrap(), 200, "the owner's own connection stays");
    socket.send(1, br#"{"type":"ping"}"#, true).unwrap();
    assert_eq!(socket.event_of("pong")["type"], "pong", "and so do the events of a page");
}

#[test]
fn a_call_larger_than_a_message_is_refused_unread() {
    let (_sandbox, host) = start();
    let before = resident(&host);
    for path in ["/api/v1/tools/call", "/api/v1/tools/task_manager/list_tasks/call"] {
        let body = json!({ "server": "task_manager", "tool": "list_tasks", "arguments": { "x": "y".repeat(100 << 20) } });
        let body = body.to_string();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            host.authority(),
            host.token,
            body.len()
        );
        let mut wire = host.connect();
        wire.send(head.as_bytes()).unwrap();
        // The answer may come before the end is sent; the rest is then nobody's.
        wire.send(body.as_bytes()).ok();
        assert_eq!(wire.answer(false).unwrap().status, 413, "{path}");
    }
    let after = resident(&host);
    assert!(after < before + 64 * 1024 * 1024, "{before} → {after}");
    let large =
        json!({ "server": "task_manager", "tool": "list_tasks", "arguments": { "x": "y".repeat(7 << 20) } });
    assert_ne!(host.ask("POST", "/api/v1/tools/call", Some(&large)).status, 413);
}

#[test]
fn a_head_that_drips_is_cut_off() {
    let (_sandbox, host) = start();
    let mut dripping = host.connect();
    let mut silent = host.connect();
    dripping.send(b"GET / HTTP/1.1\r\n").unwrap();
    // One byte a second for ever; the host must end it, or this test never ends.
    let cut = loop {
        std::thread::sleep(Duration::from_secs(1));
        dripping.stream().set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        if dripping.send(b"X").is_err() {
            break true;
        }
        match dripping.answer(false) {
            Ok(answer) => break (400..500).contains(&answer.status),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => break true,
        }
        assert_eq!(host.ask("GET", "/healthz", None).status, 200);
    };
    assert!(cut);
    // One that never says a word, too.
    assert!(silent.rest().is_ok_and(|rest| rest.is_empty() || rest.starts_with(b"HTTP/1.1 4")));
}

#[test]
fn a_body_that_never_comes_holds_nobody_up() {
    let (_sandbox, host) = start();
    let mut waiting = Vec::new();
    for _ in 0..50 {
        let mut wire = host.connect();
        let head = format!(
            "PUT /api/v1/settings/retry HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{{\"val",
            host.authority(),
            host.token
        );
        wire.send(head.as_bytes()).unwrap();
        waiting.push(wire);
    }
    for number in 1..=9 {
        let put = host.ask("PUT", "/api/v1/settings/retry", Some(&json!({ "value": number })));
        assert_eq!(put.status, 200);
    }
    // They may still finish their sentence.
    let mut one = waiting.pop().unwrap();
    one.send(b"ue\":4}").unwrap();
    assert_eq!(one.answer(false).unwrap().status, 200);
    // A stop does not wait for the others.
    assert!(host.stop().success());
}

// WebSocket -----------------------------------------------------------------------------------

#[test]
fn a_socket_needs_a_fresh_ticket_in_the_right_place() {
    let (_sandbox, host) = start();
    let used = ticket(&host);
    let good = format!("chatos.v1, ticket.{used}");
    let mut socket = upgrade(&host, "", &good, &[]).unwrap_or_else(|answer| panic!("{answer:?}"));
    assert_eq!(socket.event()["type"], "hello");
    let fresh = || ticket(&host);
    for (query, protocols) in [
        (String::new(), String::new()),
        (String::new(), "chatos.v1".to_owned()),
        (String::new(), "chatos.v1, ticket.".to_owned()),
        (String::new(), "chatos.v1, ticket.nonsense".to_owned()),
        (String::new(), good.clone()),
        (String::new(), format!("chatos.v1, ticket.{}", host.token)),
        (format!("?ticket={}", fresh()), "chatos.v1".to_owned()),
        (format!("?token={}", host.token), "chatos.v1".to_owned()),
        (String::new(), format!("chatos.v1, {}", fresh())),
    ] {
        let refused = upgrade(&host, &query, &protocols, &[]);
        assert_eq!(refused.err().map(|answer| answer.status), Some(401), "{query} {protocols}");
    }
    // The bearer token does not replace a ticket.
    let bearer = format!("Authorization: Bearer {}", host.token);
    assert_eq!(upgrade(&host, "", "chatos.v1", &[&bearer]).err().map(|a| a.status), Some(401));
    // A ticket belongs to the session that asked for it.
    let link = host.ask("POST", "/api/v1/auth/link", Some(&json!({}))).json();
    let code = link["signInUrl"].as_str().unwrap().split_once("#code=").unwrap().1.to_owned();
    let signed_in = host.ask("POST", "/api/v1/auth/exchange", Some(&json!({ "code": code }))).json();
    let other = signed_in["token"].as_str().unwrap();
    let foreign = format!("chatos.v1, ticket.{}", fresh());
    let theirs = format!("Authorization: Bearer {other}");
    assert_eq!(upgrade(&host, "", &foreign, &[&theirs]).err().map(|a| a.status), Some(401));
    let made = host.connect().ask(other, "POST", "/api/v1/events/ticket", Some(&json!({}))).unwrap().json();
    let own = format!("chatos.v1, ticket.{}", made["ticket"].as_str().unwrap());
    host.connect().ask(other, "POST", "/api/v1/auth/sign-out", Some(&json!({}))).unwrap();
    assert_eq!(upgrade(&host, "", &own, &[]).err().map(|a| a.status), Some(401));
    // A plain GET there is no socket and tells nothing.
    assert_eq!(request(&host, "GET", "/api/v1/events", &[]).status, 401);
}

#[test]
fn two_sockets_on_one_ticket_exactly_one_opens() {
    let (_sandbox, host) = start();
    for _ in 0..20 {
        let protocols = format!("chatos.v1, ticket.{}", ticket(&host));
        let opened: usize = std::thread::scope(|scope| {
            let tries: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| usize::from(upgrade(&host, "", &protocols, &[]).is_ok())))
                .collect();
            tries.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(opened, 1);
    }
}

#[test]
fn signing_out_closes_the_sockets_of_that_session() {
    let (_sandbox, host) = start();
    let link = host.ask("POST", "/api/v1/auth/link", Some(&json!({}))).json();
    let code = link["signInUrl"].as_str().unwrap().split_once("#code=").unwrap().1.to_owned();
    let signed_in = host.ask("POST", "/api/v1/auth/exchange", Some(&json!({ "code": code }))).json();
    let token = signed_in["token"].as_str().unwrap();
    let made = host.connect().ask(token, "POST", "/api/v1/events/ticket", Some(&json!({}))).unwrap().json();
    let protocols = format!("chatos.v1, ticket.{}", made["ticket"].as_str().unwrap());
    let mut theirs = upgrade(&host, "", &protocols, &[]).unwrap_or_else(|answer| panic!("{answer:?}"));
    assert_eq!(theirs.event()["type"], "hello");
    let mut ours = socket::open(&host, "");
    assert_eq!(ours.event()["type"], "hello");
    host.connect().ask(token, "POST", "/api/v1/auth/sign-out", Some(&json!({}))).unwrap();
    assert_eq!(theirs.close_code(), Some(1008));
    host.ask("PUT", "/api/v1/settings/retry", Some(&json!({ "value": 6 })));
    ours.event_of("settings_changed");
}

#[test]
fn hostile_frames_close_the_socket_with_a_code() {
    let (_sandbox, host) = start();
    let before = resident(&host);
    let open = || {
        let mut socket = socket::open(&host, "");
        assert_eq!(socket.event()["type"], "hello");
        socket
    };
    // 64 MB announced, part of it sent.
    let mut large = open();
    large.stream().write_all(&socket::head(1, 64 * 1024 * 1024, true)).unwrap();
    large.stream().write_all(&vec![b'x'; 2 * 1024 * 1024]).ok();
    assert_eq!(large.close_code(), Some(1009));
    // One byte more than allowed, in one piece.
    let mut over = open();
    over.send(1, &vec![b'x'; 1024 * 1024 + 1], true).ok();
    assert_eq!(over.close_code(), Some(1009));
    // Not masked, binary, a reserved opcode, text that is no text, a flood of tiny frames.
    let mut unmasked = open();
    unmasked.send(1, b"{}", false).unwrap();
    assert_eq!(unmasked.close_code(), Some(1002));
    let mut binary = open();
    binary.send(2, b"x", true).unwrap();
    assert_eq!(binary.close_code(), Some(1003));
    let mut reserved = open();
    reserved.send(3, b"x", true).unwrap();
    assert_eq!(reserved.close_code(), Some(1002));
    let mut broken = open();
    broken.send(1, b"\xff\xfe", true).unwrap();
    assert_eq!(broken.close_code(), Some(1007));
    let mut flood = open();
    let tiny: Vec<u8> = std::iter::repeat_n(socket::head(1, 0, true), 10_000).flatten().collect();
    for _ in 0..100 {
        if flood.stream().write_all(&tiny).is_err() {
            break;
        }
    }
    assert_eq!(flood.close_code(), Some(1008));
    let mut pings = open();
    let tiny: Vec<u8> = std::iter::repeat_n(socket::head(9, 0, true), 10_000).flatten().collect();
    for _ in 0..100 {
        if pings.stream().write_all(&tiny).is_err() {
            break;
        }
    }
    // Nonsense that is text is ignored, a ping is answered.
    let mut chatty = open();
    chatty.send(1, b"not json", true).unwrap();
    chatty.send(1, b"{\"type\":\"ping\"}", true).unwrap();
    assert_eq!(chatty.event()["type"], "pong");
    chatty.send(8, &1000_u16.to_be_bytes(), true).unwrap();
    assert_eq!(chatty.close_code(), Some(1000));
    let after = resident(&host);
    assert!(after < before + 64 * 1024 * 1024, "{before} → {after}");
    assert_eq!(host.ask("GET", "/api/v1/status", None).status, 200);
}

#[test]
fn a_client_that_reads_late_misses_nothing_and_others_do_not_wait() {
    let (_sandbox, host) = start();
    let mut lazy = socket::open(&host, "");
    let mut reader = socket::open(&host, "");
    assert_eq!(reader.event()["type"], "hello");
    let mut wire = host.connect();
    for number in 0..100 {
        let body = json!({ "value": 1 + number % 9 });
        let put = wire.ask(&host.token, "PUT", "/api/v1/settings/retry", Some(&body)).unwrap();
        assert_eq!(put.status, 200);
        reader.event_of("settings_changed");
    }
    assert_eq!(lazy.event()["type"], "hello");
    let (mut last, mut found) = (None, 0);
    while found < 100 {
        let event = lazy.event();
        let seq = event["seq"].as_u64().unwrap();
        assert!(last.is_none_or(|last| seq == last + 1), "{last:?} → {seq}");
        last = Some(seq);
        found += u32::from(event["type"] == "settings_changed");
    }
}

#[test]
fn a_socket_resumes_where_it_was_and_says_when_it_cannot() {
    let (sandbox, host) = start();
    let put = |host: &RunningHost, value: u64| {
        host.ask("PUT", "/api/v1/settings/retry", Some(&json!({ "value": value })));
    };
    let mut first = socket::open(&host, "");
    let hello = first.event();
    assert_eq!(hello["type"], "hello");
    put(&host, 1);
    let seen = first.event_of("settings_changed")["seq"].as_u64().unwrap();
    drop(first);
    put(&host, 2);
    put(&host, 4);
    let mut again = socket::open(&host, &format!("?since={seen}"));
    let hello = again.event();
    assert_eq!((&hello["type"], &hello["data"]["resumed"]), (&json!("hello"), &json!(true)));
    let mut last = seen;
    for _ in 0..2 {
        loop {
            let event = again.event();
            let seq = event["seq"].as_u64().unwrap();
            assert_eq!(seq, last + 1);
            last = seq;
            if event["type"] == "settings_changed" {
                break;
            }
        }
    }
    for since in ["0", "18446744073709551615"] {
        let mut lost = socket::open(&host, &format!("?since={since}"));
        assert_eq!(lost.event()["type"], "resync", "{since}");
    }
    for since in ["x", "-1", "", "1.5", "99999999999999999999999"] {
        let protocols = format!("chatos.v1, ticket.{}", ticket(&host));
        let refused = upgrade(&host, &format!("?since={since}"), &protocols, &[]);
        assert_eq!(refused.err().map(|answer| answer.status), Some(400), "{since}");
    }
    // Another start is another stream.
    let boot = hello["data"]["bootId"].clone();
    host.kill();
    let host = sandbox.serve();
    let mut other = socket::open(&host, &format!("?since={seen}"));
    let event = other.event();
    assert_eq!(event["type"], "resync");
    assert_ne!(event["data"]["bootId"], boot);
    // A stop says goodbye.
    host.ask("POST", "/api/v1/stop", Some(&json!({})));
    assert_eq!(other.close_code(), Some(1001));
    assert!(host.ended().success());
}

// State, sockets, headers ---------------------------------------------------------------------

/// Every row of the database and every file beside it that is not a log of what was asked.
fn snapshot(sandbox: &Sandbox) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let database = rusqlite::Connection::open(sandbox.state().join("state.db")).unwrap();
    let tables: Vec<String> = database
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    for table in tables {
        let mut statement = database.prepare(&format!("SELECT * FROM \"{table}\"")).unwrap();
        let columns = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        let mut text = String::new();
        while let Some(row) = rows.next().unwrap() {
            for column in 0..columns {
                text.push_str(&format!("{:?}|", row.get_ref(column).unwrap()));
            }
            text.push('\n');
        }
        all.insert(table, text);
    }
    let mut open = vec![sandbox.state().to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.path().is_dir() {
                open.push(entry.path());
            } else if !name.starts_with("state.db") && name != "host-log.jsonl" {
                let bytes = fs::read(entry.path()).unwrap();
                all.insert(entry.path().display().to_string(), String::from_utf8_lossy(&bytes).into_owned());
            }
        }
    }
    all
}

#[test]
fn reading_everything_changes_nothing() {
    let (sandbox, host) = start();
    host.ask("PUT", "/api/v1/settings/retry", Some(&json!({ "value": 6 })));
    host.ask("GET", "/api/v1/doctor", None);
    // The daily copy of the first start is under way; it is no answer to a request.
    while !fs::read_dir(sandbox.state().join("backups")).is_ok_and(|mut d| {
        d.any(|entry| entry.is_ok_and(|entry| entry.path().extension().is_some_and(|e| e == "db")))
    }) {
        std::thread::sleep(Duration::from_millis(10));
    }
    let before = snapshot(&sandbox);
    assert!(!before["settings"].is_empty());
    for (method, path) in routes(&host) {
        if method != "GET" {
            continue;
        }
        for method in ["GET", "HEAD"] {
            let mut wire = host.connect();
            let answer = wire.ask(&host.token, method, &path, None).unwrap();
            assert!(answer.status < 500, "{method} {path}: {answer:?}");
        }
        // Named methods in headers or queries are not obeyed either.
        for trick in ["?_method=DELETE", "?method=put&value=1"] {
            host.ask("GET", &format!("{path}{trick}"), None);
        }
        let bearer = format!("Authorization: Bearer {}", host.token);
        request(&host, "GET", &path, &[&bearer, "X-HTTP-Method-Override: DELETE"]);
    }
    for path in ["/", "/index.html", "/healthz", "/nothing", "/api/v1/openapi.json"] {
        host.ask("GET", path, None);
    }
    let after = snapshot(&sandbox);
    for (name, content) in &before {
        assert_eq!(after.get(name), Some(content), "{name}");
    }
    assert_eq!(before.len(), after.len());
}

#[test]
fn only_loopback_is_listened_on() {
    let (_sandbox, host) = start();
    let mut inodes = BTreeSet::new();
    for entry in fs::read_dir(format!("/proc/{}/fd", host.pid())).unwrap().flatten() {
        if let Ok(link) = fs::read_link(entry.path())
            && let Some(inode) = link.to_string_lossy().strip_prefix("socket:[")
        {
            inodes.insert(inode.trim_end_matches(']').to_owned());
        }
    }
    let mut listening = Vec::new();
    for table in ["tcp", "tcp6", "udp", "udp6"] {
        let text = fs::read_to_string(format!("/proc/{}/net/{table}", host.pid())).unwrap_or_default();
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let listens = table.starts_with("udp") || fields[3] == "0A";
            if listens && inodes.contains(fields[9]) {
                listening.push(fields[1].rsplit_once(':').unwrap().0.to_owned());
            }
        }
    }
    assert!(!listening.is_empty());
    for address in &listening {
        // 127.0.0.1 and ::1 as the kernel writes them.
        let loopback = ["0100007F", "00000000000000000000000001000000"];
        assert!(loopback.contains(&address.as_str()), "{listening:?}");
    }
}

#[test]
fn every_answer_carries_the_security_headers() {
    let (_sandbox, host) = start();
    let bearer = format!("Authorization: Bearer {}", host.token);
    let page = request(&host, "GET", "/", &[]);
    let tag = format!("If-None-Match: {}", page.header("etag").unwrap());
    let answers = [
        ("page", page),
        ("not modified", request(&host, "GET", "/", &[&tag])),
        ("health", request(&host, "GET", "/healthz", &[])),
        ("missing file", request(&host, "GET", "/nothing.js", &[])),
        ("api", request(&host, "GET", "/api/v1/status", &[&bearer])),
        ("no token", request(&host, "GET", "/api/v1/status", &[])),
        ("foreign name", request(&host, "GET", "/", &["Host: evil.example"])),
        ("foreign origin", request(&host, "GET", "/api/v1/status", &[&bearer, "Origin: null"])),
        ("missing route", request(&host, "GET", "/api/v1/nothing", &[&bearer])),
        ("wrong method", request(&host, "POST", "/api/v1/status", &[&bearer])),
        ("preflight", request(&host, "OPTIONS", "/api/v1/status", &[])),
        (
            "wrong type",
            request(&host, "PUT", "/api/v1/settings/retry", &[&bearer, "Content-Type: text/plain"]),
        ),
        ("malformed", request(&host, "PUT", "/api/v1/settings/retry", &[&bearer])),
        ("unknown setting", request(&host, "GET", "/api/v1/settings/nope", &[&bearer])),
        ("refused value", {
            let body = json!({ "value": "many" });
            host.ask("PUT", "/api/v1/settings/retry", Some(&body))
        }),
        ("head", host.connect().ask(&host.token, "HEAD", "/api/v1/status", None).unwrap()),
        ("no ticket", upgrade(&host, "", "chatos.v1", &[]).err().unwrap()),
        ("old version", {
            let head = format!("GET / HTTP/1.0\r\nHost: {}\r\n\r\n", host.authority());
            host.connect().raw(&head, b"").unwrap()
        }),
    ];
    let mut statuses = BTreeSet::new();
    for (name, answer) in &answers {
        statuses.insert(answer.status);
        for (header, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("x-frame-options", "DENY"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(answer.header(header), Some(value), "{name}: {header}");
        }
        let policy = answer.header("content-security-policy").unwrap_or_default();
        for part in [
            "default-src 'none'",
            "script-src 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
            "form-action 'none'",
        ] {
            assert!(policy.contains(part), "{name}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{name}: {policy}");
        let permissions = answer.header("permissions-policy").unwrap_or_default();
        for device in ["camera=()", "microphone=()", "geolocation=()", "usb=()", "serial=()", "hid=()"] {
            assert!(permissions.contains(device), "{name}: {permissions}");
        }
        let names = answer.headers.iter().map(|(header, _)| header.as_str());
        for header in names {
            assert!(
                !header.starts_with("access-control") && header != "set-cookie" && header != "server",
                "{name}: {header}"
            );
        }
        let api = matches!(*name, "api" | "no token" | "missing route" | "malformed" | "head" | "no ticket");
        assert!(!api || answer.header("cache-control") == Some("no-store"), "{name}");
        if answer.status >= 400 {
            assert!(!answer.text().contains(&host.token), "{name}");
        }
    }
    assert!(statuses.is_superset(&[200, 304, 400, 401, 403, 404, 405, 415, 422].into()), "{statuses:?}");
}
