//! Models behind a proxy: a real one on loopback, with and without a name and a password; whatever is on
//! this machine goes straight, and the password is in no file.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use chatos_testkit::{RunningHost, Sandbox, Script, ScriptedModel};
use serde_json::{Value, json};

use crate::faults::look;

const USER: &str = "somebody:canary-92eb5ffee6ae2fec3ad71c777531578f";

/// A proxy that wants a name: passes every plain request on to one port, whatever host it names, and
/// opens no tunnels. Keeps the first line of what it was asked and whether the name was right.
struct Proxy {
    port: u16,
    asked: Arc<Mutex<Vec<(String, bool)>>>,
}

impl Proxy {
    fn start(upstream: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::<Mutex<Vec<(String, bool)>>>::default();
        let kept = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = Arc::clone(&kept);
                // A client that leaves in the middle costs nobody else.
                std::thread::spawn(move || pass(stream, upstream, &kept).ok());
            }
        });
        Self { port, asked }
    }

    fn heard(&self) -> Vec<(String, bool)> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

fn pass(mut stream: TcpStream, upstream: u16, asked: &Mutex<Vec<(String, bool)>>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        if line == "\r\n" {
            break;
        }
        lines.push(line.trim_end().to_owned());
    }
    let header = |name: &str| {
        let of = |line: &String| {
            let (given, value) = line.split_once(':')?;
            given.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
        };
        lines.iter().find_map(of)
    };
    let wanted = format!("Basic {}", chatos_host::encode_base64(USER.as_bytes()));
    let allowed = header("proxy-authorization").is_some_and(|given| given == wanted);
    asked.lock().unwrap().push((lines[0].clone(), allowed));
    let mut body = vec![0; header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0)];
    reader.read_exact(&mut body)?;
    let refusal = match (allowed, lines[0].starts_with("CONNECT ")) {
        (false, _) => Some("407 Proxy Authentication Required"),
        (true, true) => Some("502 No tunnels"),
        (true, false) => None,
    };
    if let Some(refusal) = refusal {
        return stream.write_all(
            format!("HTTP/1.1 {refusal}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").as_bytes(),
        );
    }
    let mut words = lines[0].split(' ');
    let (method, address) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = address.strip_prefix("http://model.invalid").unwrap_or(address);
    let mut target = TcpStream::connect(("127.0.0.1", upstream))?;
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: model.invalid\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    target.write_all(head.as_bytes())?;
    target.write_all(&body)?;
    target.shutdown(std::net::Shutdown::Write)?;
    let mut answer = Vec::new();
    target.read_to_end(&mut answer)?;
    stream.write_all(&answer)?;
    stream.shutdown(std::net::Shutdown::Both)
}

fn set(host: &RunningHost, key: &str, value: &str) {
    let done = host.ask("PUT", &format!("/api/v1/settings/{key}"), Some(&json!({ "value": value })));
    assert_eq!(done.status, 200, "{}", done.text());
}

fn try_model(host: &RunningHost, base_url: &str) -> Value {
    let model = json!({ "name": "m", "provider": "openai", "model": "m", "baseUrl": base_url });
    let answer = host.ask("POST", "/api/v1/models/test", Some(&model));
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

#[test]
fn models_are_asked_through_the_proxy_and_this_machine_never() {
    let model = ScriptedModel::start(|_| Script::say("OK"));
    let upstream = model.base_url().rsplit(':').next().and_then(|rest| rest.split('/').next()?.parse().ok());
    let proxy = Proxy::start(upstream.unwrap());
    let address = format!("http://127.0.0.1:{}", proxy.port);
    let far = "http://model.invalid/v1";
    let mut sandbox = Sandbox::new(env!("CARGO_BIN_EXE_chatos"));
    let host = sandbox.serve();
    for wrong in ["socks5://127.0.0.1:1", "http://u:p@127.0.0.1:1", "http://h/x", "proxy"] {
        let refused = host.ask("PUT", "/api/v1/settings/modelProxy", Some(&json!({ "value": wrong })));
        assert_eq!(refused.status, 422, "{wrong}: {}", refused.text());
    }
    set(&host, "modelProxy", &address);
    // Without a name.
    let refused = try_model(&host, far);
    assert_eq!((&refused["ok"], &refused["class"]), (&json!(false), &json!("config")), "{refused}");
    assert!(refused.to_string().contains("wants a name and a password"), "{refused}");
    assert_eq!(proxy.heard(), [(format!("POST {far}/chat/completions HTTP/1.1"), false)]);
    // With one.
    assert_eq!(host.ask("PUT", "/api/v1/secrets/PROXY", Some(&json!({ "value": USER }))).status, 200);
    set(&host, "modelProxySecret", "PROXY");
    let answered = try_model(&host, far);
    assert_eq!(answered["ok"], true, "{answered}");
    assert_eq!((proxy.heard().len(), model.asked()), (1, 1));
    // With TLS it is a tunnel.
    let tunnel = try_model(&host, "https://model.invalid/v1");
    assert!(tunnel.to_string().contains("refused with 502"), "{tunnel}");
    assert_eq!(proxy.heard(), [("CONNECT model.invalid:443 HTTP/1.1".to_owned(), true)]);
    // This machine, an exception, and none at all: straight.
    assert_eq!(try_model(&host, &model.base_url())["ok"], true);
    set(&host, "modelNoProxy", "other.example, .invalid");
    assert_eq!(try_model(&host, far)["class"], "network");
    set(&host, "modelNoProxy", "");
    set(&host, "modelProxy", "off");
    assert_eq!(try_model(&host, far)["class"], "network");
    assert_eq!((proxy.heard().len(), model.asked()), (0, 2));
    assert!(host.ask("DELETE", "/api/v1/settings/modelProxy", None).status < 300);
    assert!(host.stop().success());
    // From the environment, name and all.
    sandbox.set_variable("HTTP_PROXY", format!("http://{USER}@127.0.0.1:{}", proxy.port));
    let host = sandbox.serve();
    assert_eq!(try_model(&host, far)["ok"], true);
    assert!(host.stop().success());
    assert_eq!(proxy.heard(), [(format!("POST {far}/chat/completions HTTP/1.1"), true)]);
    let mut found = Vec::new();
    look(sandbox.root(), USER.rsplit(':').next().unwrap(), &mut found);
    assert_eq!(found, Vec::<std::path::PathBuf>::new());
}
