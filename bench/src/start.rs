//! From the start of the process: `--version`, a host that serves, and what it costs while idle.
//!
//! The program is the built one (`target/release/chatos`, or the path given). Beside it stand the limits:
//! a process that does nothing, and one that only binds a port and says so.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::measure::{Times, human, ratio};

const ROUNDS: usize = 40;

pub(crate) fn run(args: &[&str]) -> Result<()> {
    let program = match args {
        [path] => PathBuf::from(path),
        _ => PathBuf::from("target/release/chatos"),
    };
    if !program.is_file() {
        bail!("build it first: cargo build --release -p chatos-cli ({})", program.display());
    }
    let home = tempfile::tempdir()?;
    // The first start makes the state; the measured ones find it, as a person's do.
    serve(&program, home.path())?;
    let (mut nothing, mut version, mut listener, mut ready) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut resident = Vec::new();
    for _ in 0..ROUNDS {
        nothing.push(timed(child("/bin/true"))?);
        let mut command = child(&program);
        command.arg("--version");
        version.push(timed(command)?);
        listener.push(bare_listener()?);
        let (time, bytes) = serve(&program, home.path())?;
        ready.push(time);
        resident.push(bytes);
    }
    resident.sort_unstable();
    let (nothing, version) = (Times::new(nothing), Times::new(version));
    let (listener, ready) = (Times::new(listener), Times::new(ready));
    println!("| measured | p50 | p95 | limit p50 | ratio | bar |");
    println!("|---|---|---|---|---|---|");
    let row = |name: &str, ours: &Times, limit: &Times, bar: &str| {
        println!(
            "| {name} | {} | {} | {} | {:.1} | {bar} |",
            human(ours.median()),
            human(ours.at(95)),
            human(limit.median()),
            ratio(ours.median(), limit.median())
        );
    };
    row("`chatos --version` (limit: /bin/true)", &version, &nothing, "≤ 5 ms");
    row(
        "`chatos serve`, process start → ready line (limit: a process that binds a port)",
        &ready,
        &listener,
        "≤ 300 ms",
    );
    let idle = resident[resident.len() / 2] as f64 / 1_048_576.0;
    println!("| resident memory of an idle host | {idle:.1} MiB | – | – | – | ≤ 60 MB |");
    Ok(())
}

/// A process of our own that binds a port and prints it: see the hidden word `listen` in `main.rs`.
pub(crate) fn listen() -> Result<()> {
    let socket = TcpListener::bind(("127.0.0.1", 0))?;
    println!("{}", socket.local_addr()?.port());
    std::io::stdout().flush()?;
    Ok(())
}

fn bare_listener() -> Result<Duration> {
    let mut command = child(std::env::current_exe()?);
    command.arg("listen").stdout(Stdio::piped());
    let started = Instant::now();
    let mut process = command.spawn()?;
    let line = first_line(&mut process)?;
    let took = started.elapsed();
    let _: u16 = line.trim().parse().context("the listener said no port")?;
    process.wait()?;
    Ok(took)
}

pub(crate) fn serve(program: &Path, home: &Path) -> Result<(Duration, u64)> {
    let mut command = child(program);
    command
        .args(["serve", "--no-open", "--port", "0", "--ready-json"])
        .env_clear()
        .env("HOME", home)
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let started = Instant::now();
    let mut process = command.spawn()?;
    let line = first_line(&mut process)?;
    let took = started.elapsed();
    let ready: Value = serde_json::from_str(&line).context("the host did not say that it is ready")?;
    let port = ready["port"].as_u64().and_then(|port| u16::try_from(port).ok()).context("no port")?;
    answers(port)?;
    // What starts after readiness has settled by then: the look for Node, the scan of plugins.
    std::thread::sleep(Duration::from_millis(400));
    let bytes = resident(process.id())?;
    process.kill()?;
    process.wait()?;
    Ok((took, bytes))
}

/// Ready means that it answers.
fn answers(port: u16) -> Result<()> {
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", port))?;
    write!(stream, "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n")?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    if line.starts_with("HTTP/1.1 200") { Ok(()) } else { bail!("the host answered {line:?}") }
}

fn resident(pid: u32) -> Result<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/statm"))?;
    let pages: u64 = text.split(' ').nth(1).context("statm")?.parse()?;
    Ok(pages * rustix::param::page_size() as u64)
}

fn first_line(process: &mut Child) -> Result<String> {
    let mut line = String::new();
    BufReader::new(process.stdout.take().context("no output")?).read_line(&mut line)?;
    Ok(line)
}

fn timed(mut command: Command) -> Result<Duration> {
    command.stdout(Stdio::null());
    let started = Instant::now();
    let status = command.status()?;
    let took = started.elapsed();
    if status.success() { Ok(took) } else { bail!("{command:?} failed") }
}

#[expect(clippy::disallowed_methods, reason = "a benchmark owns and reaps what it starts")]
fn child(program: impl AsRef<std::ffi::OsStr>) -> Command {
    Command::new(program)
}
