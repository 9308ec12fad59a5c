//! The call path of the host: a built-in tool in this process with grants, trace, log and audit on; a child
//! server beside the bare pipe to the same program and beside the client of the official library; the
//! result of a task that another process appends; many servers and many calls at once.

mod later;
#[cfg(feature = "rmcp")]
mod official;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, ensure};
use chatos_calls::ToolCall;
use chatos_host::{Host, HostConfig};
use chatos_paths::Environment;
use chatos_tool::{Fault, Lang};
use chatos_wire::server::ServerInput;
use serde_json::{Value, json};

use crate::measure::{Times, human, ratio};

const CALLS: usize = 2_000;
const SERVERS: usize = 64;
const BUSY_SERVERS: usize = 20;
const BUSY_CALLS: usize = 1_000;
/// The bar of a call in this process.
const IN_PROCESS: Duration = Duration::from_micros(150);

pub(crate) fn run() -> Result<()> {
    let own = std::env::current_exe()?;
    let fixture = own.with_file_name("mcp-fixture");
    ensure!(fixture.exists(), "build it first: cargo build --release -p chatos-mcp ({})", fixture.display());
    let dir = tempfile::tempdir()?;
    let project = dir.path().join("project");
    std::fs::create_dir_all(&project)?;
    std::fs::write(project.join("a.txt"), "one\n")?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let mut config = HostConfig::new(Environment::of_process());
        config.state_dir = Some(dir.path().join("state"));
        config.project = Some(project.clone());
        let host = Host::open(config).map_err(failed)?;
        println!("| operation | ChatOS | limit | ratio | must |\n|---|---|---|---|---|");
        in_process(&host, &project).await?;
        over_stdio(&host, &fixture, &project).await?;
        #[cfg(feature = "rmcp")]
        official::one(&host, &fixture, &project).await?;
        later::run(&host, &fixture, &project).await?;
        many_servers(&host, &fixture).await?;
        many_calls(&host, &project).await?;
        #[cfg(feature = "rmcp")]
        official::many(&fixture, BUSY_SERVERS, BUSY_CALLS).await?;
        #[cfg(not(feature = "rmcp"))]
        println!("\nwith `--features rmcp` the client of the official library is measured beside");
        host.shutdown().cancel();
        host.settle().await;
        Ok(())
    })
}

fn failed(fault: Fault) -> anyhow::Error {
    anyhow!("{}", fault.to_json(Lang::En))
}

async fn call(host: &Arc<Host>, server: &str, tool: &str, arguments: Value, root: &Path) -> Result<Value> {
    let call = ToolCall {
        server: server.to_owned(),
        tool: tool.to_owned(),
        arguments: Some(arguments),
        root: root.to_owned(),
        session: "bench".to_owned(),
        ..ToolCall::default()
    };
    let result = host.calls().call(call).await.map_err(failed)?;
    ensure!(result["isError"] == false, "the call failed: {result}");
    Ok(result)
}

async fn in_process(host: &Arc<Host>, project: &Path) -> Result<()> {
    let mut times = Vec::new();
    let mut bare = Vec::new();
    for n in 0..CALLS + 100 {
        let began = Instant::now();
        let result = call(host, "project_files", "read_file", json!({ "path": "a.txt" }), project).await?;
        let took = began.elapsed();
        ensure!(result["content"][0]["text"].as_str().is_some_and(|text| text.contains("one")), "{result}");
        let began = Instant::now();
        let read = std::fs::read(project.join("a.txt"))?;
        let limit = began.elapsed();
        ensure!(read == b"one\n", "another file");
        if n >= 100 {
            times.push(took);
            bare.push(limit);
        }
    }
    row("in process, read_file, p50", &Times::new(times), &Times::new(bare), 50, Some(IN_PROCESS));
    Ok(())
}

fn row(name: &str, ours: &Times, limit: &Times, percent: usize, most: Option<Duration>) {
    let (ours, limit) = (ours.at(percent), limit.at(percent));
    let ratio = ratio(ours, limit);
    println!("| {name} | {} | {} | {ratio:.1} | {} |", human(ours), human(limit), must(ours, most));
}

/// Whether a bar is met.
fn must(ours: Duration, most: Option<Duration>) -> String {
    match most {
        None => "–".to_owned(),
        Some(most) if ours <= most => format!("≤ {}: met", human(most)),
        Some(most) => format!("≤ {}: MISSED", human(most)),
    }
}

/// The same program without anything of ours between.
struct Pipe {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Pipe {
    #[expect(clippy::disallowed_methods, reason = "the limit is measured on a bare process")]
    fn open(fixture: &Path) -> Result<Self> {
        let mut command = std::process::Command::new(fixture);
        command.arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let input = child.stdin.take().context("no input")?;
        let output = BufReader::new(child.stdout.take().context("no output")?);
        let mut pipe = Self { child, input, output };
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "bench", "version": "1" } });
        pipe.ask("initialize", 0, &params)?;
        Ok(pipe)
    }

    fn ask(&mut self, method: &str, id: usize, params: &Value) -> Result<Value> {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        // In one piece: the limit is the pipe, not how often it is written to.
        self.input.write_all(format!("{message}\n").as_bytes())?;
        self.input.flush()?;
        loop {
            let mut line = String::new();
            ensure!(self.output.read_line(&mut line)? > 0, "the server ended");
            let reply: Value = serde_json::from_str(&line)?;
            if reply["id"] == json!(id) {
                return Ok(reply);
            }
        }
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        // Both fail harmlessly when it has ended already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

async fn add(host: &Arc<Host>, name: &str, fixture: &Path) -> Result<()> {
    let argv = vec![fixture.to_string_lossy().into_owned(), "serve".to_owned()];
    let input = ServerInput { name: Some(name.to_owned()), argv: Some(argv), ..ServerInput::default() };
    host.servers().add_own(input, Lang::En).await.map(drop).map_err(failed)
}

async fn over_stdio(host: &Arc<Host>, fixture: &Path, project: &Path) -> Result<()> {
    add(host, "one", fixture).await?;
    let mut pipe = Pipe::open(fixture)?;
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for n in 0..CALLS + 100 {
        let began = Instant::now();
        let result = call(host, "one", "echo", json!({ "text": "x" }), project).await?;
        let took = began.elapsed();
        ensure!(result["content"][0]["type"] == "text", "{result}");
        let began = Instant::now();
        let params = json!({ "name": "echo", "arguments": { "text": "x" } });
        let reply = pipe.ask("tools/call", n + 1, &params)?;
        let limit = began.elapsed();
        ensure!(reply["result"]["content"].is_array(), "{reply}");
        if n >= 100 {
            ours.push(took);
            bare.push(limit);
        }
    }
    let (ours, bare) = (Times::new(ours), Times::new(bare));
    row("child server, echo, p50", &ours, &bare, 50, None);
    row("child server, echo, p99", &ours, &bare, 99, None);
    Ok(())
}

async fn many_servers(host: &Arc<Host>, fixture: &Path) -> Result<()> {
    for n in 0..SERVERS {
        add(host, &format!("s{n}"), fixture).await?;
    }
    let began = Instant::now();
    let mut starts = tokio::task::JoinSet::new();
    for n in 0..SERVERS {
        let host = Arc::clone(host);
        starts.spawn(async move { host.servers().connect(&format!("s{n}"), Lang::En).await.map_err(failed) });
    }
    while let Some(started) = starts.join_next().await {
        let view = started??;
        ensure!(view.state.phase == "ready", "{:?}", view.state);
    }
    println!("| {SERVERS} servers started at once | {} | – | – | – |", human(began.elapsed()));
    Ok(())
}

async fn many_calls(host: &Arc<Host>, project: &Path) -> Result<()> {
    let before = resident()?;
    let began = Instant::now();
    let mut calls = tokio::task::JoinSet::new();
    for n in 0..BUSY_CALLS {
        let (host, project) = (Arc::clone(host), project.to_owned());
        calls.spawn(async move {
            let began = Instant::now();
            let server = format!("s{}", n % BUSY_SERVERS);
            call(&host, &server, "echo", json!({ "text": "x" }), &project).await.map(|_| began.elapsed())
        });
    }
    let mut times: Vec<Duration> = Vec::new();
    while let Some(done) = calls.join_next().await {
        times.push(done??);
    }
    let whole = began.elapsed();
    let times = Times::new(times);
    let grown = resident()?.saturating_sub(before) / 1024;
    println!(
        "| {BUSY_CALLS} calls at once on {BUSY_SERVERS} servers | {} (p50 {}, slowest {}, memory +{grown} MiB) | – | – | – |",
        human(whole),
        human(times.at(50)),
        human(times.at(100)),
    );
    Ok(())
}

/// KiB of this process in memory.
fn resident() -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    Ok(line.trim().trim_end_matches(" kB").trim().parse()?)
}
