//! What every pass of a run costs before the model is asked: the estimate of a long chat and what pruning would free, the
//! search over many tools, and the bytes of a request whose agent has many servers.
//!
//! The first two are measured in this process; the bytes are those that the built program (`target/release/chatos`, or the
//! path given) sends to a model of this process.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use chatos_agent::{Entry, Marks, Speaker, Transcript, weigh};
use chatos_contribution::ServerIdentity;
use chatos_model::{Source, ToolCall, Window};
use chatos_servers::{GrantedTool, search};
use serde_json::{Value, json};

use crate::chat::Host;
use crate::measure::{Times, human};

const ROUNDS: usize = 50;
const MESSAGES: usize = 1_000;
const TOOLS: usize = 1_200;
const SERVERS: [usize; 2] = [3, 30];

pub(crate) fn run(args: &[&str]) -> Result<()> {
    let program = match args {
        [path] => PathBuf::from(path),
        _ => PathBuf::from("target/release/chatos"),
    };
    if !program.is_file() {
        bail!("build it first: cargo build --release -p chatos-cli ({})", program.display());
    }
    println!("| measured | p50 | p99 | bar |");
    println!("|---|---|---|---|");
    let chat = chat();
    let window = Window { tokens: 128_000, source: Source::Person };
    let (used, freed) = weigh(&chat, "run", window, 24_000);
    ensure!(used > 128_000 && freed.is_some(), "{used} tokens, {freed:?} freed");
    let took = timed(|| assert!(weigh(&chat, "run", window, 24_000).1.is_some()));
    line(
        &format!("estimate and pruning of {MESSAGES} messages, {used} tokens"),
        &took,
        Duration::from_millis(5),
    );
    let tools = tools();
    let tools: Vec<&GrantedTool> = tools.iter().collect();
    ensure!(!search(&tools, "delete the old branch 订单").is_empty(), "nothing was found");
    let took = timed(|| drop(search(&tools, "delete the old branch 订单")));
    line(&format!("`find_tools` over {TOOLS} tools"), &took, Duration::from_millis(10));
    let [few, many] = SERVERS.map(|servers| request_bytes(&program, servers));
    let (few, many) = (few?, many?);
    let ratio = many as f64 / few as f64;
    println!(
        "| bytes of a request with {} servers × 12 tools, beside {} | {many} | {few} | {ratio:.2} ≤ 1.25 {} |",
        SERVERS[1],
        SERVERS[0],
        if ratio <= 1.25 { "✓" } else { "✗" }
    );
    Ok(())
}

fn line(what: &str, took: &Times, bar: Duration) {
    let met = if took.median() <= bar { "✓" } else { "✗" };
    println!("| {what} | {} | {} | ≤ {} {met} |", human(took.median()), human(took.at(99)), human(bar));
}

fn timed(mut work: impl FnMut()) -> Times {
    let round = |_| {
        let began = Instant::now();
        work();
        began.elapsed()
    };
    Times::new((0..ROUNDS).map(round).collect())
}

/// One message of a person and passes with a result each, some of them long.
fn chat() -> Transcript {
    let entry = |seq: usize, speaker: Speaker| Entry {
        id: format!("m{seq}"),
        seq: seq as i64,
        run_id: "run".to_owned(),
        speaker,
        ..Entry::default()
    };
    let mut entries = vec![Entry { text: "Read all of it.".to_owned(), ..entry(0, Speaker::User) }];
    for seq in (1..MESSAGES).step_by(2) {
        let id = format!("call-{seq}");
        let arguments = json!({ "path": format!("src/part-{seq}.rs") }).to_string();
        let call = ToolCall { id: id.clone(), name: "read_file".to_owned(), arguments, opaque: None };
        entries.push(Entry { calls: vec![call], ..entry(seq, Speaker::Assistant) });
        let text = "A line of a file, as people write them.\n".repeat(if seq % 10 == 1 { 2_000 } else { 40 });
        let tool_name = "read_file".to_owned();
        entries.push(Entry { text, call_id: id, tool_name, ..entry(seq + 1, Speaker::Tool) });
    }
    Transcript { entries, summary: None, queued: Vec::new(), steps: Vec::new(), marks: Marks::default() }
}

/// Tools as servers describe them, in two languages.
fn tools() -> Vec<GrantedTool> {
    const VERBS: [&str; 4] = ["create", "search", "delete", "update"];
    const NOUNS: [&str; 6] = ["issue", "branch", "message", "订单", "document", "playlist"];
    let one = |number: usize| {
        let (verb, noun) = (VERBS[number % VERBS.len()], NOUNS[number / 4 % NOUNS.len()]);
        let (server, tool) = (format!("server{}", number / 12), format!("{verb}_{number}"));
        let description =
            format!("Can {verb} one {noun} or several, by name, date or number {number}. ").repeat(4);
        GrantedTool {
            name: format!("mcp_{server}_{tool}"),
            identity: ServerIdentity::admin(&server),
            server,
            tool,
            title: Some(format!("{verb} {noun}")),
            description,
            input_schema: schema(),
            annotations: json!({}),
            told: std::sync::Arc::default(),
            ask: false,
            asks_itself: false,
            read_only: false,
            idempotent: false,
            sampling: false,
        }
    };
    (0..TOOLS).map(one).collect()
}

fn schema() -> Value {
    json!({ "type": "object", "properties": {
        "name": { "type": "string", "description": "The name of it, as people call it" },
        "since": { "type": "string", "description": "Only what is newer than this date" },
        "limit": { "type": "integer", "description": "So many at most" } }, "required": ["name"] })
}

/// A server with twelve tools of ordinary length.
const SERVER: &str = r"
const lines = require('readline').createInterface({ input: process.stdin });
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');
const inputSchema = JSON.parse(process.argv[2]);
const description = 'What this tool does, at the length at which people write it. '.repeat(8);
const tools = Array.from({ length: 12 }, (_, n) => ({ name: `tool_${n}`, description, inputSchema }));
lines.on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (method === 'initialize') {
    send({ id, result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } } });
  } else if (method === 'tools/list') send({ id, result: { tools } });
  else if (id !== undefined) send({ id, result: {} });
});
";

/// Bytes of the request of an agent with so many servers, in its second message: all servers are there by then.
fn request_bytes(program: &Path, servers: usize) -> Result<usize> {
    let home = tempfile::tempdir()?;
    let script = home.path().join("server.cjs");
    std::fs::write(&script, SERVER)?;
    let (model, asked) = model_server()?;
    let host = Host::start(program, home.path())?;
    let id = |made: Value| made["id"].as_str().map(str::to_owned).context("no id");
    let model = json!({ "name": "bench", "provider": "openai", "model": "bench", "baseUrl": model, "contextTokens": 128_000 });
    let model = id(host.api("POST", "models", Some(&model))?)?;
    host.api("POST", &format!("models/{model}/default"), Some(&json!({})))?;
    let node = crate::servers::Place::program(&["node"]).context("Node is not installed")?;
    let mut granted = Vec::new();
    for number in 0..servers {
        let argv = json!([node, script, schema().to_string()]);
        let server = json!({ "name": format!("server{number}"), "argv": argv });
        granted.push(json!({ "id": id(host.api("POST", "mcp-servers", Some(&server))?)? }));
    }
    let land = json!({ "name": "bench", "main": { "mcpServers": granted }, "sub": { "mcpServers": [] } });
    let land = id(host.api("POST", "land-configs", Some(&land))?)?;
    let agent = json!({ "name": "bench", "mode": "flow", "landConfigId": land });
    let agent = id(host.api("POST", "agents", Some(&agent))?)?;
    let tools = 12 * servers;
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        let session = id(host.api("POST", "sessions", Some(&json!({ "agentId": agent })))?)?;
        host.api("POST", &format!("sessions/{session}/send"), Some(&json!({ "text": "hello" })))?;
        let request = asked.recv_timeout(Duration::from_secs(60)).context("the model was not asked")?;
        // Servers that are late join later: counted is the request in which all of them are.
        let known =
            request.matches("server").count() > 0 && request.contains(&format!("server{}", servers - 1));
        let all =
            request.matches("What this tool does").count() == tools * 8 || request.contains("find_tools");
        if known && all {
            return Ok(request.len());
        }
        ensure!(Instant::now() < deadline, "the servers did not start");
    }
}

/// A model that says a word to everything; the requests that come with tools are given on.
fn model_server() -> Result<(String, Receiver<String>)> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let port = listener.local_addr()?.port();
    let (asked, requests) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let asked = asked.clone();
            // A client that goes away in the middle ends its own thread only.
            std::thread::spawn(move || answer(stream, &asked).ok());
        }
    });
    Ok((format!("http://127.0.0.1:{port}/v1"), requests))
}

fn answer(mut stream: TcpStream, asked: &Sender<String>) -> Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut length, mut line) = (0, String::new());
    while reader.read_line(&mut line)? > 0 && !line.trim().is_empty() {
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body = String::from_utf8(body)?;
    if body.contains("\"tools\"") {
        asked.send(body)?;
    }
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")?;
    let said =
        json!({ "choices": [{ "index": 0, "delta": { "content": "done" }, "finish_reason": "stop" }] });
    write!(stream, "data: {said}\n\ndata: [DONE]\n\n")?;
    Ok(())
}
