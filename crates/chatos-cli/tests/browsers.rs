//! Browsers that stay signed in (inbox §7), over real sockets against the real program: what each half opens alone, what
//! a restart, a kill and a copy of a profile do, signing out by page and command, and the port that stays.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]
#![expect(clippy::disallowed_methods, reason = "tests look into the database with a connection of their own")]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chatos_testkit::{Answer, RunningHost, Sandbox, eventually};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_chatos"))
}

/// The same state on the same port again.
fn again(sandbox: &Sandbox, port: u16) -> RunningHost {
    sandbox.serve_with(&["--port", &port.to_string()])
}

fn send(host: &RunningHost, method: &str, path: &str, body: Option<&Value>, lines: &[String]) -> Answer {
    let body = body.map(Value::to_string).unwrap_or_default();
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\n", host.authority());
    if !body.is_empty() {
        head.push_str(&format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len()));
    }
    for line in lines {
        head.push_str(&format!("{line}\r\n"));
    }
    host.connect().raw(&format!("{head}\r\n"), body.as_bytes()).unwrap()
}

fn code(host: &RunningHost, token: &str) -> Option<String> {
    let bearer = format!("Authorization: Bearer {token}");
    let link = send(host, "POST", "/api/v1/auth/link", Some(&json!({})), &[bearer]).json();
    Some(link["signInUrl"].as_str()?.split_once("#code=")?.1.to_owned())
}

/// A profile of a browser: a key, and what its jar holds.
struct Profile {
    key: EcdsaKeyPair,
    id: String,
    jar: String,
}

impl Profile {
    fn new() -> Self {
        let random = SystemRandom::new();
        let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, made.as_ref(), &random).unwrap();
        let digest = Sha256::digest(key.public_key().as_ref());
        let id = digest[..16].iter().map(|byte| format!("{byte:02x}")).collect();
        Self { key, id, jar: String::new() }
    }

    fn keep(&mut self, answer: &Answer) -> Option<String> {
        let line = answer.header("set-cookie")?.to_owned();
        self.jar = line.split(';').next()?.to_owned();
        Some(line)
    }

    /// Signs in with a fresh code; gives the token.
    fn sign_in(&mut self, host: &RunningHost) -> String {
        self.try_sign_in(host, &host.token).unwrap()
    }

    /// As [`Profile::sign_in`], by the host's token, which may be another one by then.
    fn try_sign_in(&mut self, host: &RunningHost, token: &str) -> Option<String> {
        let key = URL_SAFE_NO_PAD.encode(self.key.public_key().as_ref());
        let body = json!({ "code": code(host, token)?, "publicKey": key, "name": "Firefox · Linux" });
        let answer = send(host, "POST", "/api/v1/auth/exchange", Some(&body), &[]);
        self.keep(&answer)?;
        assert_eq!(answer.json()["browserId"], self.id.as_str());
        Some(answer.json()["token"].as_str()?.to_owned())
    }

    fn ask(&self, host: &RunningHost, lines: &[String]) -> Answer {
        let challenge = send(host, "GET", "/api/v1/auth/challenge", None, &[]).json();
        let challenge = challenge["challenge"].as_str().unwrap();
        let text = format!("chatos-renew-v1\nhttp://{}\n{}\n{challenge}", host.authority(), self.id);
        let sig = self.key.sign(&SystemRandom::new(), text.as_bytes()).unwrap();
        let body = json!({ "browserId": self.id, "challenge": challenge, "sig": URL_SAFE_NO_PAD.encode(sig.as_ref()) });
        send(host, "POST", "/api/v1/auth/renew", Some(&body), lines)
    }

    fn renew(&mut self, host: &RunningHost) -> Option<String> {
        let answer = self.ask(host, &[format!("Cookie: {}", self.jar)]);
        self.keep(&answer);
        (answer.status == 200).then(|| answer.json()["token"].as_str().unwrap().to_owned())
    }
}

fn opens(host: &RunningHost, token: &str) -> bool {
    let answer = send(host, "GET", "/api/v1/status", None, &[format!("Authorization: Bearer {token}")]);
    assert!(matches!(answer.status, 200 | 401), "{answer:?}");
    answer.status == 200
}

fn audited(sandbox: &Sandbox, kind: &str) -> usize {
    let folder = fs::read_dir(sandbox.state().join("audit")).unwrap();
    let text: String = folder.flatten().map(|file| fs::read_to_string(file.path()).unwrap()).collect();
    text.lines().filter(|line| line.contains(&format!("\"{kind}\""))).count()
}

#[test]
fn a_browser_is_signed_in_once_over_restarts_and_kills() {
    let sandbox = sandbox();
    let mut host = sandbox.serve();
    let port = host.port;
    let mut one = Profile::new();
    let first = one.sign_in(&host);
    assert!(opens(&host, &first));
    for round in 0..4 {
        if round % 2 == 0 {
            host.kill();
        } else {
            assert!(host.stop().success());
        }
        host = again(&sandbox, port);
        assert!(!opens(&host, &first), "a token lives as long as its host");
        let token = one.renew(&host).unwrap();
        assert!(opens(&host, &token) && token != first);
    }
    // A reply that never arrived: the cookie was changed, the browser has the one before.
    let before = one.jar.clone();
    one.renew(&host).unwrap();
    host.kill();
    let host = again(&sandbox, port);
    one.jar = before;
    assert!(one.renew(&host).is_some() && one.renew(&host).is_some());
    // Nothing of it is in the clear anywhere below the state directory, or in the log of requests.
    let (_, value) = one.jar.split_once('=').unwrap();
    for file in files(sandbox.state()) {
        let bytes = fs::read(&file).unwrap_or_default();
        assert!(!bytes.windows(value.len()).any(|part| part == value.as_bytes()), "{}", file.display());
    }
}

fn files(dir: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            all.extend(files(&entry.path()));
        } else if kind.is_file() {
            all.push(entry.path());
        }
    }
    all
}

#[test]
fn the_cookie_goes_to_the_sign_in_routes_and_opens_no_route_alone() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    let mut one = Profile::new();
    one.sign_in(&host);
    let line = one.keep(&one.ask(&host, &[format!("Cookie: {}", one.jar)])).unwrap();
    let (name, flags) = line.split_once('=').unwrap();
    assert!(name.len() == 15 && name.starts_with("chatos_"), "{line}");
    let flags: Vec<&str> = flags.split("; ").skip(1).collect();
    assert_eq!(flags, ["HttpOnly", "SameSite=Strict", "Path=/api/v1/auth", "Max-Age=2592000"]);
    let cookie = format!("Cookie: {}", one.jar);
    let document = host.ask("GET", "/api/v1/openapi.json", None).json();
    let mut bodies = BTreeSet::new();
    let mut seen = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        let fill = |part: &str| if part.starts_with('{') { "x".to_owned() } else { part.to_owned() };
        let filled = path.split('/').map(fill).collect::<Vec<_>>().join("/");
        for method in item.as_object().unwrap().keys().map(|method| method.to_ascii_uppercase()) {
            let body = matches!(method.as_str(), "POST" | "PUT" | "PATCH").then(|| json!({}));
            let answer = send(&host, &method, &filled, body.as_ref(), std::slice::from_ref(&cookie));
            assert!(answer.header("set-cookie").is_none(), "{method} {path}");
            match filled.as_str() {
                "/api/v1/auth/challenge" => assert_eq!(answer.status, 200),
                "/api/v1/auth/exchange" | "/api/v1/auth/renew" => assert_eq!(answer.status, 400),
                _ => {
                    assert_eq!(answer.status, 401, "{method} {path}");
                    bodies.insert(answer.text());
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 100 && bodies.len() == 1, "{seen} {bodies:?}");
    assert!(one.renew(&host).is_some());
}

#[test]
fn each_half_alone_and_every_forged_one_is_the_same_401() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    let (mut one, mut other) = (Profile::new(), Profile::new());
    one.sign_in(&host);
    other.sign_in(&host);
    let mut bodies = BTreeSet::new();
    let mut refused = |answer: Answer| {
        assert_eq!(answer.status, 401, "{answer:?}");
        assert!(answer.header("set-cookie").is_none());
        bodies.insert(answer.text());
    };
    refused(one.ask(&host, &[]));
    refused(one.ask(&host, &["Cookie: other=1".to_owned()]));
    let cookie = format!("Cookie: {}", one.jar);
    // Whoever collects the cookie on another port has no key: not another's, not none.
    let thief = Profile { key: other.key, id: one.id.clone(), jar: one.jar.clone() };
    refused(thief.ask(&host, std::slice::from_ref(&cookie)));
    let (id, jar) = (&one.id, std::slice::from_ref(&cookie));
    for body in [
        json!({ "browserId": id, "challenge": "x", "sig": "x" }),
        json!({ "browserId": id, "challenge": "", "sig": "" }),
        json!({ "browserId": "", "challenge": "x".repeat(100_000), "sig": "x".repeat(100_000) }),
    ] {
        refused(send(&host, "POST", "/api/v1/auth/renew", Some(&body), jar));
    }
    assert_eq!(bodies.len(), 1, "{bodies:?}");
    // A page of another origin is refused with everything right, and so is a rebound name.
    for line in [
        "Origin: http://evil.example".to_owned(),
        "Origin: null".to_owned(),
        format!("Origin: http://127.0.0.1:{}", host.port ^ 1),
        format!("Origin: http://p-0123456789abcdef0123.localhost:{}", host.port),
        "Sec-Fetch-Site: same-site".to_owned(),
        "Sec-Fetch-Site: cross-site".to_owned(),
    ] {
        assert_eq!(one.ask(&host, &[cookie.clone(), line.clone()]).status, 403, "{line}");
        let answer = send(&host, "GET", "/api/v1/auth/challenge", None, std::slice::from_ref(&line));
        assert_eq!(answer.status, 403, "{line}");
    }
    assert!(one.renew(&host).is_some(), "none of it has changed anything");
    // Beyond counting, failures are refused without a record; what is right goes on.
    let wrong = json!({ "code": "wrong" });
    let statuses: Vec<u16> =
        (0..70).map(|_| send(&host, "POST", "/api/v1/auth/exchange", Some(&wrong), &[]).status).collect();
    assert_eq!(statuses.last(), Some(&429));
    assert!(audited(&sandbox, "sign_in_failed") <= 60);
    assert!(one.renew(&host).is_some());
    let signed =
        send(&host, "POST", "/api/v1/auth/exchange", Some(&json!({ "code": code(&host, &host.token) })), &[]);
    assert_eq!((signed.status, signed.header("set-cookie")), (200, None));
}

#[test]
fn a_copied_profile_is_signed_out_recorded_and_told() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    let port = host.port;
    let mut one = Profile::new();
    one.sign_in(&host);
    let stolen = one.jar.clone();
    // A new cookie at most once a minute and at each start of the host.
    let mut host = host;
    for _ in 0..3 {
        host.kill();
        host = again(&sandbox, port);
        one.renew(&host).unwrap();
        one.renew(&host).unwrap();
    }
    let token = one.renew(&host).unwrap();
    assert_ne!(one.jar, stolen);
    assert_eq!(one.ask(&host, &[format!("Cookie: {stolen}")]).status, 401);
    assert!(!opens(&host, &token), "nobody knows which of the two is the person");
    assert!(one.renew(&host).is_none());
    assert_eq!(audited(&sandbox, "cookie_reuse"), 1);
    assert_eq!(host.ask("GET", "/api/v1/browsers", None).json()["items"], json!([]));
}

#[test]
fn browsers_are_listed_and_signed_out_by_command_and_by_page() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    let mut all: Vec<Profile> = (0..4).map(|_| Profile::new()).collect();
    let tokens: Vec<String> = all.iter_mut().map(|one| one.sign_in(&host)).collect();
    let listed = sandbox.run(&["browsers", "list", "--json"]).json();
    assert_eq!(listed["items"].as_array().unwrap().len(), 4);
    let bearer = format!("Authorization: Bearer {}", tokens[0]);
    let seen = send(&host, "GET", "/api/v1/browsers", None, std::slice::from_ref(&bearer)).json();
    let own: Vec<&Value> =
        seen["items"].as_array().unwrap().iter().filter(|item| item["current"] == true).collect();
    assert_eq!((own.len(), own[0]["id"].as_str()), (1, Some(all[0].id.as_str())));
    let text = sandbox.run(&["browsers", "list"]).stdout;
    assert!(text.contains("Firefox · Linux") && text.contains(&all[3].id), "{text}");
    // By the beginning of its id.
    let revoked = sandbox.run(&["browsers", "revoke", &all[1].id[..12]]);
    assert_eq!(revoked.status, 0, "{revoked:?}");
    assert!(!opens(&host, &tokens[1]) && all[1].renew(&host).is_none());
    assert!(opens(&host, &tokens[0]) && all[0].renew(&host).is_some());
    let unknown = sandbox.run(&["browsers", "revoke", "nothing", "--json"]);
    assert_eq!((unknown.status != 0, unknown.code()), (true, "unknown_browser".to_owned()));
    for bad in [&["browsers", "revoke"][..], &["browsers", "revoke", "x", "--all"]] {
        assert_eq!(sandbox.run(bad).status, 2);
    }
    // Signing out takes the cookie away, and every tab of the browser with it.
    let second = all[0].renew(&host).unwrap();
    let out = send(&host, "POST", "/api/v1/auth/sign-out", Some(&json!({})), std::slice::from_ref(&bearer));
    assert!(out.header("set-cookie").unwrap().contains("Max-Age=0"), "{out:?}");
    assert!(!opens(&host, &tokens[0]) && !opens(&host, &second) && all[0].renew(&host).is_none());
    let rest = sandbox.run(&["browsers", "revoke", "--all", "--json"]).json();
    assert_eq!(rest["revoked"], 2);
    assert!(!opens(&host, &tokens[2]) && opens(&host, &host.token));
    assert_eq!(audited(&sandbox, "browser_revoked"), 4);
    // Without a host, too.
    let mut late = Profile::new();
    late.sign_in(&host);
    let port = host.port;
    assert!(host.stop().success());
    assert_eq!(sandbox.run(&["browsers", "revoke", "--all", "--json"]).json()["revoked"], 1);
    let host = again(&sandbox, port);
    assert!(late.renew(&host).is_none());
}

#[test]
fn who_signed_in_while_the_token_could_be_read_is_signed_out() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    let (mut before, mut since) = (Profile::new(), Profile::new());
    before.sign_in(&host);
    let port = host.port;
    assert!(host.stop().success());
    let host = again(&sandbox, port);
    let file = sandbox.state().join("host.json");
    let current = || {
        let told: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        told["token"].as_str().unwrap().to_owned()
    };
    // The host looks twice a second, and may be faster than we are: then once more.
    eventually("a sign-in while the token can be read", || {
        let token = current();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        since.try_sign_in(&host, &token)
    });
    eventually("who signed in since is signed out", || since.renew(&host).is_none().then_some(()));
    assert!(!opens(&host, &host.token));
    assert!(before.renew(&host).is_some(), "it was there before anything could be read");
}

#[test]
fn the_port_of_the_last_start_is_taken_again() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    let port = host.port;
    assert!(host.stop().success());
    // As if that start had not been told its port: one that was asked for is for that start only.
    let database = rusqlite::Connection::open(sandbox.state().join("state.db")).unwrap();
    database.execute("INSERT INTO meta (key, value) VALUES ('last_port', ?1)", [port.to_string()]).unwrap();
    let kept = || {
        database
            .query_row("SELECT value FROM meta WHERE key = 'last_port'", [], |row| row.get::<_, String>(0))
    };
    let serve = || RunningHost::start(sandbox.command(&["serve", "--no-open", "--ready-json"])).unwrap();
    let second = serve();
    assert_eq!(second.port, port);
    assert!(second.stop().success());
    // Taken by somebody else: another one, and that one from then on.
    let _other = std::net::TcpListener::bind(("127.0.0.1", port)).unwrap();
    let third = serve();
    assert_ne!(third.port, port);
    assert_eq!(kept().unwrap(), third.port.to_string());
    assert!(third.stop().success());
}
