//! A server on loopback with the shape of ntfy: JSON and plain publishing, an access token, the stream of a topic with
//! what was published before, and buttons that post elsewhere.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::receiver::read_request;

#[derive(Default)]
struct State {
    /// Every message, as a subscriber gets it.
    messages: Vec<Value>,
    streams: usize,
    over: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    news: Condvar,
    key: Option<String>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The server; it ends when this is dropped.
pub struct Ntfy {
    port: u16,
    stop: Arc<AtomicBool>,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

impl Ntfy {
    /// Starts it; with a key, publishing as JSON and reading need it, and plain messages are taken from everybody.
    pub fn start(key: Option<&str>) -> Self {
        let listener = match TcpListener::bind(("127.0.0.1", 0)) {
            Ok(listener) => listener,
            Err(error) => panic!("no port for an ntfy server: {error}"),
        };
        let port = listener.local_addr().map(|address| address.port()).unwrap_or_default();
        let stop = Arc::new(AtomicBool::new(false));
        let shared = Arc::new(Shared { key: key.map(str::to_owned), ..Shared::default() });
        let (ended, kept) = (Arc::clone(&stop), Arc::clone(&shared));
        let accepting = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if ended.load(Ordering::Relaxed) {
                    return;
                }
                let (Ok(stream), kept) = (stream, Arc::clone(&kept)) else { continue };
                std::thread::spawn(move || serve(stream, &kept).ok());
            }
        });
        Self { port, stop, shared, accepting: Some(accepting) }
    }

    /// The address of a topic.
    pub fn url(&self, topic: &str) -> String {
        format!("http://127.0.0.1:{}/{topic}", self.port)
    }

    /// What was published to a topic, oldest first.
    pub fn published(&self, topic: &str) -> Vec<Value> {
        self.shared.lock().messages.iter().filter(|message| message["topic"] == topic).cloned().collect()
    }

    /// A phone presses a button of a message: it does what the button says. Gives the status.
    pub fn press(&self, action: &Value) -> u16 {
        let text = |key: &str| action[key].as_str().unwrap_or_default().to_owned();
        let (url, body) = (text("url"), text("body"));
        let Some(path) = url.strip_prefix(&format!("http://127.0.0.1:{}", self.port)) else { return 0 };
        let sent = || -> std::io::Result<String> {
            let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
            write!(
                stream,
                "{} {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}",
                text("method"),
                body.len()
            )?;
            let mut said = String::new();
            std::io::Read::read_to_string(&mut stream, &mut said)?;
            Ok(said)
        };
        sent().ok().and_then(|said| said.split(' ').nth(1)?.parse().ok()).unwrap_or_default()
    }

    /// Somebody posts anything to a topic.
    pub fn post(&self, topic: &str, body: &str) -> u16 {
        self.press(&json!({ "url": self.url(topic), "method": "POST", "body": body }))
    }

    /// How many streams were opened.
    pub fn streams(&self) -> usize {
        self.shared.lock().streams
    }
}

impl Drop for Ntfy {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.shared.lock().over = true;
        self.shared.news.notify_all();
        TcpStream::connect(("127.0.0.1", self.port)).ok();
        if let Some(accepting) = self.accepting.take() {
            accepting.join().ok();
        }
    }
}

fn serve(mut stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let request = read_request(&stream)?;
    let known = shared.key.as_ref().map(|key| format!("Bearer {key}"));
    let allowed = known.is_none() || known.as_deref() == request.header("authorization");
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let path = path.trim_start_matches('/');
    let says = |stream: &mut TcpStream, status: u16, body: &Value| {
        let text = body.to_string();
        let length = text.len();
        write!(
            stream,
            "HTTP/1.1 {status} Said\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{text}"
        )
    };
    if let Some(topic) = path.strip_suffix("/json").filter(|_| request.method == "GET") {
        if !allowed {
            return says(&mut stream, 403, &json!({ "code": 40301, "http": 403, "error": "forbidden" }));
        }
        return subscribe(&mut stream, shared, topic, query);
    }
    let mut message =
        if path.is_empty() { request.json() } else { json!({ "topic": path, "message": request.body }) };
    if path.is_empty() && !allowed {
        return says(&mut stream, 403, &json!({ "code": 40301, "http": 403, "error": "forbidden" }));
    }
    let fits = message["topic"].as_str().is_some_and(|topic| !topic.is_empty() && topic.len() <= 64);
    let actions = message["actions"].as_array().map_or(0, Vec::len);
    if !fits || actions > 3 {
        return says(&mut stream, 400, &json!({ "code": 40000, "http": 400, "error": "invalid request" }));
    }
    let mut state = shared.lock();
    message["id"] = format!("m{:011}", state.messages.len() + 1).into();
    message["time"] = seconds().into();
    message["event"] = "message".into();
    state.messages.push(message.clone());
    shared.news.notify_all();
    drop(state);
    says(&mut stream, 200, &message)
}

fn subscribe(stream: &mut TcpStream, shared: &Shared, topic: &str, query: &str) -> std::io::Result<()> {
    let since = query.strip_prefix("since=").unwrap_or("none").to_owned();
    let mut state = shared.lock();
    state.streams += 1;
    let known = state.messages.iter().position(|message| message["id"] == since.as_str());
    let mut at = match (since.as_str(), known) {
        ("none", _) => state.messages.len(),
        (_, Some(at)) => at + 1,
        _ => 0,
    };
    drop(state);
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes())?;
    let mut line = |value: &Value| {
        let text = format!("{value}\n");
        write!(stream, "{:x}\r\n{text}\r\n", text.len()).and_then(|()| stream.flush())
    };
    line(&json!({ "id": "open", "time": seconds(), "event": "open", "topic": topic }))?;
    loop {
        let mut state = shared.lock();
        while state.messages.len() <= at && !state.over {
            let (next, waited) = shared
                .news
                .wait_timeout(state, Duration::from_secs(1))
                .unwrap_or_else(PoisonError::into_inner);
            state = next;
            if waited.timed_out() {
                break;
            }
        }
        if state.over {
            return Ok(());
        }
        let fresh: Vec<Value> = state.messages.iter().skip(at).cloned().collect();
        at = state.messages.len();
        drop(state);
        if fresh.is_empty() {
            line(&json!({ "id": "alive", "time": seconds(), "event": "keepalive", "topic": topic }))?;
        }
        for message in fresh.iter().filter(|message| message["topic"] == topic) {
            line(message)?;
        }
    }
}

fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map(|since| since.as_secs()).unwrap_or_default()
}
