//! A model server of our own on loopback: it speaks the protocol it is asked in, and every answer is what a test says.

mod shape;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

use shape::{Said, Shape};

/// What the model does with a request.
#[derive(Debug, Clone)]
pub enum Script {
    /// Says something and calls tools: id, name, arguments as text.
    Answer {
        /// The text.
        text: String,
        /// The calls.
        calls: Vec<(String, String, String)>,
    },
    /// Says something, one piece at a time with a pause in between.
    Slow {
        /// The pieces.
        pieces: Vec<String>,
        /// The pause.
        pause: Duration,
    },
    /// Refuses with a status, headers and a body.
    Refuse {
        /// Such as 429.
        status: u16,
        /// `Name: value`.
        headers: Vec<String>,
        /// The body.
        body: Value,
    },
    /// These bytes as its stream, and the end.
    Raw {
        /// Lines of a stream, right or wrong.
        body: String,
    },
    /// Does this, and says how many tokens it was asked with.
    Counted { script: Box<Script>, input: Input },
    /// Thinks this before it does that, as vendors show it.
    Thinking {
        /// What it thinks.
        thought: String,
        /// What it does then.
        script: Box<Script>,
    },
    /// Begins to say something and goes away.
    Cut {
        /// What it says before.
        text: String,
    },
}

/// Tokens of a request, and how many of them were read from a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Input {
    pub all: u64,
    pub cached: u64,
}

impl Script {
    /// Says this.
    pub fn say(text: impl Into<String>) -> Self {
        Self::Answer { text: text.into(), calls: Vec::new() }
    }

    /// Does this and counts the request.
    pub fn counted(script: Script, input: u64) -> Self {
        Self::Counted { script: Box::new(script), input: Input { all: input, cached: 0 } }
    }

    /// Does this and says how much of the request was read from a cache.
    pub fn cached(script: Script, all: u64, cached: u64) -> Self {
        Self::Counted { script: Box::new(script), input: Input { all, cached } }
    }

    /// Thinks this, then does that.
    pub fn thinking(thought: impl Into<String>, script: Script) -> Self {
        Self::Thinking { thought: thought.into(), script: Box::new(script) }
    }

    /// Calls one tool.
    pub fn call(id: impl Into<String>, name: impl Into<String>, arguments: &Value) -> Self {
        Self::Answer { text: String::new(), calls: vec![(id.into(), name.into(), arguments.to_string())] }
    }
}

type Decide = dyn Fn(&Value) -> Script + Send + Sync;

/// The server; it ends when this is dropped.
pub struct ScriptedModel {
    port: u16,
    stop: Arc<AtomicBool>,
    asked: Arc<AtomicUsize>,
    requests: Arc<Mutex<Vec<Value>>>,
    keys: Arc<Mutex<Vec<String>>>,
    accepting: Option<JoinHandle<()>>,
}

impl ScriptedModel {
    /// Starts it; `decide` is asked for every request.
    pub fn start(decide: impl Fn(&Value) -> Script + Send + Sync + 'static) -> Self {
        let listener = match TcpListener::bind(("127.0.0.1", 0)) {
            Ok(listener) => listener,
            Err(error) => panic!("no port for a model: {error}"),
        };
        let port = listener.local_addr().map(|address| address.port()).unwrap_or_default();
        let stop = Arc::new(AtomicBool::new(false));
        let (asked, requests) = (Arc::new(AtomicUsize::new(0)), Arc::<Mutex<Vec<Value>>>::default());
        let decide: Arc<Decide> = Arc::new(decide);
        let (ended, count, kept) = (Arc::clone(&stop), Arc::clone(&asked), Arc::clone(&requests));
        let keys = Arc::<Mutex<Vec<String>>>::default();
        let given = Arc::clone(&keys);
        let accepting = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if ended.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let (decide, count, kept) = (Arc::clone(&decide), Arc::clone(&count), Arc::clone(&kept));
                let given = Arc::clone(&given);
                std::thread::spawn(move || {
                    // A host that is killed leaves in the middle; that is what these tests are for.
                    serve(stream, &*decide, &count, &kept, &given).ok();
                });
            }
        });
        Self { port, stop, asked, requests, keys, accepting: Some(accepting) }
    }

    /// The base URL a model record has.
    pub fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// How often it was asked.
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }

    /// The keys it was given, one per request that had one.
    pub fn keys(&self) -> Vec<String> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What it was asked.
    pub fn requests(&self) -> Vec<Value> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Wakes the accepting thread; it may be gone already.
        TcpStream::connect(("127.0.0.1", self.port)).ok();
        if let Some(accepting) = self.accepting.take() {
            accepting.join().ok();
        }
    }
}

fn serve(
    stream: TcpStream,
    decide: &Decide,
    asked: &AtomicUsize,
    kept: &Mutex<Vec<Value>>,
    keys: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut out = stream;
    let (mut length, mut is_question, mut path) = (0, false, String::new());
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        if line.starts_with("POST ") {
            is_question = true;
            path = line.split(' ').nth(1).unwrap_or_default().to_owned();
        }
        let whole = line.trim_end().to_owned();
        let line = whole.to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if line.starts_with("authorization: bearer ") {
            let key = whole["authorization: bearer ".len()..].to_owned();
            keys.lock().unwrap_or_else(PoisonError::into_inner).push(key);
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or_default();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    if !is_question {
        // Asked for its list of models, which it does not have.
        let nothing = Script::Refuse { status: 404, headers: Vec::new(), body: json!({}) };
        return answer(&mut out, Shape::Chat, nothing, None, Input::default());
    }
    let request: Value =
        serde_json::from_str(&without_environment(&String::from_utf8_lossy(&body))).unwrap_or_default();
    asked.fetch_add(1, Ordering::Relaxed);
    let script = decide(&request);
    kept.lock().unwrap_or_else(PoisonError::into_inner).push(request);
    answer(&mut out, Shape::of(&path), script, None, Input { all: 10, cached: 0 })
}

/// What ChatOS says about date, folder and branch stands before the words of the person and is another one every day:
/// scripts and comparisons see the words alone.
fn without_environment(body: &str) -> String {
    const ENDS: &str = "[end of environment]\\n\\n";
    let mut rest = body;
    let mut out = String::with_capacity(body.len());
    while let Some(at) = rest.find("[environment] ") {
        let Some(end) = rest[at..].find(ENDS) else { break };
        out.push_str(&rest[..at]);
        rest = &rest[at + end + ENDS.len()..];
    }
    out.push_str(rest);
    out
}

fn answer(
    out: &mut TcpStream,
    shape: Shape,
    script: Script,
    thought: Option<&str>,
    input: Input,
) -> std::io::Result<()> {
    match script {
        Script::Counted { script, input } => answer(out, shape, *script, thought, input),
        Script::Thinking { thought, script } => answer(out, shape, *script, Some(&thought), input),
        Script::Refuse { status, headers, body } => {
            let body = body.to_string();
            let more: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
            write!(
                out,
                "HTTP/1.1 {status} No\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
                 Connection: close\r\n{more}\r\n{body}",
                body.len()
            )
        }
        Script::Answer { text, calls } => {
            shape.head(out)?;
            shape.write(out, &Said { thought, text: pieces(&text), calls: &calls, input })
        }
        Script::Slow { pieces, pause } => {
            shape.head(out)?;
            for piece in &pieces {
                shape.begin(out, piece)?;
                std::thread::sleep(pause);
            }
            shape.write(out, &Said { thought, text: Vec::new(), calls: &[], input })
        }
        Script::Raw { body } => {
            shape.head(out)?;
            out.write_all(body.as_bytes())?;
            out.flush()
        }
        Script::Cut { text } => {
            shape.head(out)?;
            for piece in pieces(&text) {
                shape.begin(out, &piece)?;
            }
            out.flush()?;
            out.shutdown(std::net::Shutdown::Both)
        }
    }
}

fn pieces(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(7).map(|part| part.iter().collect()).collect()
}
