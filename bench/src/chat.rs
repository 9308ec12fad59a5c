//! Chats: what a streamed token costs on its way, many chats at once with tools, a chat of 10,000 messages.
//!
//! The program is the built one (`target/release/chatos`, or the path given); the model is a server of
//! this process whose tokens carry the moment they were sent, so the way to the browser's event is one
//! subtraction. The limit beside it is the same socket without ChatOS in between.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use chatos_store::{MessageRow, NewMessage, OpenOptions, SessionRow, Store, now_ms};
use chatos_wire::MessageRole;
use serde_json::{Value, json};

use crate::measure::{Times, human, monotonic_nanos, ratio};

const TOKENS: usize = 1500;
const CHATS: usize = 200;
const MESSAGES: usize = 10_000;

pub(crate) fn run(args: &[&str]) -> Result<()> {
    let program = match args {
        [path] => PathBuf::from(path),
        _ => PathBuf::from("target/release/chatos"),
    };
    if !program.is_file() {
        bail!("build it first: cargo build --release -p chatos-cli ({})", program.display());
    }
    let home = tempfile::tempdir()?;
    let long = fill(&program, home.path())?;
    let model = model_server()?;
    let host = Host::start(&program, home.path())?;
    let made = host.api(
        "POST",
        "models",
        Some(&json!({ "name": "bench", "provider": "openai", "model": "bench", "baseUrl": model })),
    )?;
    host.api(
        "POST",
        &format!("models/{}/default", made["id"].as_str().unwrap_or_default()),
        Some(&json!({})),
    )?;
    println!("| measured | p50 | p99 | limit p50 | ratio | bar |");
    println!("|---|---|---|---|---|---|");
    let (ours, limit) = (tokens(&host)?, bare_tokens(&model)?);
    println!(
        "| a token, model byte → WebSocket event | {} | {} | {} | {:.1} | ≤ 1 ms |",
        human(ours.median()),
        human(ours.at(99)),
        human(limit.median()),
        ratio(ours.median(), limit.median())
    );
    many(&host)?;
    open_long(&host, &long)?;
    paint(&host, &long)
}

/// From choosing the chat to seeing its messages, in a real browser. Left out where there is none.
#[expect(clippy::disallowed_methods, reason = "starts Node, which drives the browser")]
fn paint(host: &Host, id: &str) -> Result<()> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../ui/scripts/first-paint.mjs");
    let done = Command::new("node").args([script, &host.sign_in, id]).stderr(Stdio::inherit()).output();
    let Some(done) = done.ok().filter(|done| done.status.success()) else {
        println!(
            "| the same chat, chosen → painted in Chromium | not measured: no Node or no browser | – | – | – | ≤ 150 ms |"
        );
        return Ok(());
    };
    let told: Value = serde_json::from_slice(&done.stdout)?;
    println!(
        "| the same chat, chosen → painted in Chromium | {} ms | {} ms | – | – | ≤ 150 ms |",
        told["p50"], told["p99"]
    );
    Ok(())
}

/// A state with a chat of many messages in it; made before the host is there.
fn fill(program: &Path, home: &Path) -> Result<String> {
    // The first start makes the database.
    drop(Host::start(program, home)?);
    let state = home.join("state");
    let store = Store::open(OpenOptions {
        path: state.join("state.db"),
        backups: state.join("backups"),
        migrate: true,
        wal: true,
        used: true,
        check: false,
    })?;
    let id = "bench-long".to_owned();
    let now = now_ms();
    store.create_session(SessionRow {
        id: id.clone(),
        created_at: now,
        updated_at: now,
        ..SessionRow::default()
    })?;
    std::thread::scope(|scope| -> Result<()> {
        let lanes: Vec<_> = (0..16)
            .map(|_| {
                let (store, id) = (&store, &id);
                scope.spawn(move || -> Result<()> {
                    for number in 0..MESSAGES / 16 {
                        let row = MessageRow {
                            id: format!("{:?}-{number}", std::thread::current().id()),
                            session_id: id.clone(),
                            role: if number % 2 == 0 { MessageRole::User } else { MessageRole::Assistant },
                            content: "A sentence of ordinary length, as people write them. ".repeat(6),
                            created_at: now,
                            ..MessageRow::default()
                        };
                        store.append_message(NewMessage { row, ..NewMessage::default() })?;
                    }
                    Ok(())
                })
            })
            .collect();
        for lane in lanes {
            lane.join().map_err(|_| anyhow::anyhow!("a writer failed"))??;
        }
        Ok(())
    })?;
    store.close();
    Ok(id)
}

/// What each token of one long answer took from the model's write to the event at a client.
fn tokens(host: &Host) -> Result<Times> {
    let mut socket = host.events()?;
    let session = host.api("POST", "sessions", Some(&json!({})))?;
    let id = session["id"].as_str().context("no chat")?.to_owned();
    host.api("POST", &format!("sessions/{id}/send"), Some(&json!({ "text": "stream" })))?;
    let mut times = Vec::with_capacity(TOKENS);
    while times.len() < TOKENS {
        let frame = socket.frame()?;
        let now = monotonic_nanos();
        let event: Value = serde_json::from_slice(&frame)?;
        ensure!(event["type"] != "assistant_error", "the run failed: {event}");
        if event["type"] == "assistant_delta" {
            for stamp in event["data"]["delta"].as_str().unwrap_or_default().split_whitespace() {
                let sent: u64 = stamp.parse().context("not a stamp")?;
                times.push(Duration::from_nanos(now.saturating_sub(sent)));
            }
        }
    }
    Ok(Times::new(times))
}

/// The same tokens read straight from the model's socket.
fn bare_tokens(model: &str) -> Result<Times> {
    let address = model.trim_start_matches("http://").split('/').next().unwrap_or_default();
    let mut stream = TcpStream::connect(address)?;
    let body = json!({ "messages": [{ "role": "user", "content": "stream" }] }).to_string();
    write!(stream, "POST /v1/chat/completions HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}", body.len())?;
    let mut times = Vec::new();
    for line in BufReader::new(stream).lines() {
        let line = line?;
        let now = monotonic_nanos();
        let Some(data) = line.strip_prefix("data: ") else { continue };
        let Ok(chunk) = serde_json::from_str::<Value>(data) else { continue };
        if let Some(sent) = chunk["choices"][0]["delta"]["content"].as_str() {
            let sent: u64 = sent.trim().parse().context("not a stamp")?;
            times.push(Duration::from_nanos(now.saturating_sub(sent)));
        }
    }
    Ok(Times::new(times))
}

/// Many chats at once, each with a tool call; meanwhile somebody looks whether the host still answers.
fn many(host: &Host) -> Result<()> {
    let ids: Vec<String> = (0..CHATS)
        .map(|_| {
            let session = host.api("POST", "sessions", Some(&json!({})))?;
            Ok(session["id"].as_str().context("no chat")?.to_owned())
        })
        .collect::<Result<_>>()?;
    let began = Instant::now();
    let mut runs = Vec::with_capacity(CHATS);
    for id in &ids {
        let sent = host.api("POST", &format!("sessions/{id}/send"), Some(&json!({ "text": "tool" })))?;
        runs.push(sent["runId"].as_str().context("no run")?.to_owned());
    }
    let mut answers = Vec::new();
    let mut resident = 0;
    loop {
        let asked = Instant::now();
        let status = host.api("GET", "status", None)?;
        answers.push(asked.elapsed());
        resident = resident.max(status["rssBytes"].as_u64().unwrap_or_default());
        if status["counts"]["runningChats"] == 0 {
            break;
        }
        ensure!(began.elapsed() < Duration::from_secs(300), "the chats do not end");
        std::thread::sleep(Duration::from_millis(20));
    }
    let whole = began.elapsed();
    for id in &runs {
        let run = host.api("GET", &format!("runs/{id}"), None)?;
        ensure!(run["state"] == "done", "a run is {}", run["state"]);
    }
    let longest = answers.iter().max().copied().unwrap_or_default();
    let answers = Times::new(answers);
    println!(
        "| {CHATS} chats with a tool call at once: all done in {}; an answer of the host meanwhile, the slowest {} | {} | {} | – | – | no stall over 250 ms |",
        human(whole),
        human(longest),
        human(answers.median()),
        human(answers.at(99))
    );
    println!("| resident memory meanwhile | {} MiB | – | – | – | ≤ 300 MB |", resident >> 20);
    Ok(())
}

fn open_long(host: &Host, id: &str) -> Result<()> {
    let mut times = Vec::new();
    for _ in 0..40 {
        let asked = Instant::now();
        let page = host.api("GET", &format!("sessions/{id}/messages?limit=100"), None)?;
        times.push(asked.elapsed());
        ensure!(page["messages"].as_array().is_some_and(|all| all.len() == 100), "not a page");
    }
    let times = Times::new(times);
    println!(
        "| the newest page of a chat of {MESSAGES} messages | {} | {} | – | – | ≤ 150 ms to first paint |",
        human(times.median()),
        human(times.at(99))
    );
    Ok(())
}

/// A model: `stream` gets stamped tokens, `tool` a call of `get_current_time`, everything else a word.
fn model_server() -> Result<String> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let port = listener.local_addr()?.port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A client that goes away in the middle ends its own thread only.
            std::thread::spawn(move || answer(stream).ok());
        }
    });
    Ok(format!("http://127.0.0.1:{port}/v1"))
}

fn answer(stream: TcpStream) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut out = stream;
    let (mut length, mut line) = (0, String::new());
    loop {
        line.clear();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let request: Value = serde_json::from_slice(&body)?;
    let last = request["messages"].as_array().and_then(|all| all.last()).cloned().unwrap_or_default();
    out.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")?;
    let mut chunk = |delta: Value, finish: Option<&str>| -> Result<()> {
        let data = json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] });
        Ok(write!(out, "data: {data}\n\n")?)
    };
    let said = last["content"].to_string();
    if last["role"] == "user" && said.contains("stream") {
        for _ in 0..TOKENS {
            chunk(json!({ "content": format!("{} ", monotonic_nanos()) }), None)?;
            std::thread::sleep(Duration::from_millis(1));
        }
        chunk(json!({}), Some("stop"))?;
    } else if last["role"] == "user" && said.contains("tool") {
        let call = json!({ "index": 0, "id": "c1", "type": "function",
                           "function": { "name": "get_current_time", "arguments": "{}" } });
        chunk(json!({ "tool_calls": [call] }), None)?;
        chunk(json!({}), Some("tool_calls"))?;
    } else {
        chunk(json!({ "content": "done" }), None)?;
        chunk(json!({}), Some("stop"))?;
    }
    out.write_all(b"data: [DONE]\n\n")?;
    Ok(())
}

/// The program, serving.
pub(crate) struct Host {
    process: Child,
    port: u16,
    token: String,
    /// Opens the page, once.
    sign_in: String,
}

impl Host {
    #[expect(clippy::disallowed_methods, reason = "starts the program it measures")]
    pub(crate) fn start(program: &Path, home: &Path) -> Result<Self> {
        let mut process = Command::new(program)
            .args(["serve", "--port", "0", "--no-open", "--ready-json", "--state-dir"])
            .arg(home.join("state"))
            .env("HOME", home)
            .stdout(Stdio::piped())
            .stdin(Stdio::null())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().context("no output")?).read_line(&mut line)?;
        let ready: Value = serde_json::from_str(&line)?;
        let port = u16::try_from(ready["port"].as_u64().unwrap_or_default())?;
        let word = |key: &str| ready[key].as_str().unwrap_or_default().to_owned();
        Ok(Self { process, port, token: word("token"), sign_in: word("signInUrl") })
    }

    pub(crate) fn api(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        let body = body.map(Value::to_string).unwrap_or_default();
        write!(
            stream,
            "{method} /api/v1/{path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.port,
            self.token,
            body.len()
        )?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        let text = String::from_utf8_lossy(&answer);
        let (head, body) = text.split_once("\r\n\r\n").context("no answer")?;
        ensure!(
            head.starts_with("HTTP/1.1 2"),
            "{method} {path}: {}",
            head.lines().next().unwrap_or_default()
        );
        let body = if head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
            unchunk(body)
        } else {
            body.to_owned()
        };
        Ok(serde_json::from_str(&body).unwrap_or_default())
    }

    fn events(&self) -> Result<Socket> {
        let ticket = self.api("POST", "events/ticket", Some(&json!({})))?;
        let ticket = ticket["ticket"].as_str().context("no ticket")?;
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        write!(
            stream,
            "GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1:{0}\r\nOrigin: http://127.0.0.1:{0}\r\n\
             Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
             Sec-WebSocket-Protocol: chatos.v1, ticket.{ticket}\r\n\r\n",
            self.port
        )?;
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line)?;
        ensure!(line.contains("101"), "no socket: {line}");
        while line.trim() != "" {
            line.clear();
            reader.read_line(&mut line)?;
        }
        Ok(Socket(reader))
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let pid = i32::try_from(self.process.id()).ok().and_then(rustix::process::Pid::from_raw);
        if let Some(pid) = pid {
            rustix::process::kill_process(pid, rustix::process::Signal::TERM).ok();
        }
        self.process.wait().ok();
    }
}

fn unchunk(body: &str) -> String {
    let (mut rest, mut whole) = (body, String::new());
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or_default();
        if size == 0 || after.len() < size {
            break;
        }
        whole.push_str(&after[..size]);
        rest = after[size..].trim_start_matches("\r\n");
    }
    whole
}

/// Frames of a WebSocket, as the server sends them: unmasked and whole.
struct Socket(BufReader<TcpStream>);

impl Socket {
    fn frame(&mut self) -> Result<Vec<u8>> {
        loop {
            let mut head = [0; 2];
            self.0.read_exact(&mut head)?;
            let length = match head[1] & 0x7f {
                126 => {
                    let mut more = [0; 2];
                    self.0.read_exact(&mut more)?;
                    u64::from(u16::from_be_bytes(more))
                }
                127 => {
                    let mut more = [0; 8];
                    self.0.read_exact(&mut more)?;
                    u64::from_be_bytes(more)
                }
                length => u64::from(length),
            };
            let mut data = vec![0; usize::try_from(length)?];
            self.0.read_exact(&mut data)?;
            if head[0] & 0x0f == 1 {
                return Ok(data);
            }
        }
    }
}
