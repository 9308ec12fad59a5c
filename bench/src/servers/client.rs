//! A small MCP client over stdio: as fast as a client can be, so that the server is what is measured.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};

use super::peer::Peer;

pub(crate) struct Client {
    process: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    next: u64,
}

impl Client {
    /// Starts a server and waits for its first reply; gives the time that took.
    pub(crate) fn start(peer: &Peer) -> Result<(Self, Duration)> {
        let began = Instant::now();
        let (program, args) = peer.argv.split_first().context("no program")?;
        #[expect(clippy::disallowed_methods, reason = "a benchmark starts what it measures and reaps it")]
        let mut process = Command::new(program)
            .args(args)
            .env("HOME", &peer.home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {program}"))?;
        let stdin = process.stdin.take().context("no stdin")?;
        let stdout = BufReader::with_capacity(1 << 20, process.stdout.take().context("no stdout")?);
        let mut client = Self { process, stdin, stdout, next: 0 };
        let hello = client.request(
            "initialize",
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}),
        )?;
        let time = began.elapsed();
        ensure!(hello["serverInfo"]["name"].is_string(), "{hello}");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok((client, time))
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        self.stdin.write_all(&line)?;
        Ok(())
    }

    /// The next reply; notifications are passed over.
    fn reply(&mut self) -> Result<Value> {
        let mut line = Vec::new();
        loop {
            line.clear();
            ensure!(self.stdout.read_until(b'\n', &mut line)? > 0, "the server ended");
            let message: Value = serde_json::from_slice(&line)?;
            if message.get("id").is_some() && message.get("method").is_none() {
                return Ok(message);
            }
        }
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Result<Value> {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        let mut reply = self.reply()?;
        ensure!(reply["id"] == id, "an answer to another request");
        if reply.get("error").is_some() {
            bail!("{reply}");
        }
        Ok(reply["result"].take())
    }

    /// Calls a tool; an error result is an error here.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Result<Value> {
        let result = self.request("tools/call", json!({"name": tool, "arguments": arguments}))?;
        ensure!(result["isError"] != true, "{tool}: {result}");
        Ok(result)
    }

    /// The same call again and again, each timed and checked.
    pub(crate) fn repeat(
        &mut self,
        times: usize,
        tool: &str,
        arguments: &Value,
        check: impl Fn(&Value) -> bool,
    ) -> Result<Vec<Duration>> {
        (0..times)
            .map(|_| {
                let began = Instant::now();
                let result = self.call(tool, arguments.clone())?;
                let time = began.elapsed();
                ensure!(check(&result), "{tool}: an incomplete reply: {:.300}", result.to_string());
                Ok(time)
            })
            .collect()
    }

    /// Many calls with `window` of them under way; gives the time for all.
    pub(crate) fn flood(
        &mut self,
        times: usize,
        window: usize,
        tool: &str,
        arguments: &Value,
    ) -> Result<Duration> {
        let began = Instant::now();
        let (mut sent, mut done) = (0, 0);
        while done < times {
            while sent < times && sent - done < window {
                self.next += 1;
                let params = json!({"name": tool, "arguments": arguments});
                let id = self.next;
                self.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}))?;
                sent += 1;
            }
            let reply = self.reply()?;
            ensure!(reply["result"]["isError"] != true && reply.get("error").is_none(), "{reply}");
            done += 1;
        }
        Ok(began.elapsed())
    }

    /// Resident memory in bytes.
    pub(crate) fn resident(&self) -> Result<u64> {
        self.memory("VmRSS:")
    }

    /// The most it ever was.
    pub(crate) fn peak(&self) -> Result<u64> {
        self.memory("VmHWM:")
    }

    fn memory(&self, what: &str) -> Result<u64> {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let line = text.lines().find_map(|line| line.strip_prefix(what)).context("no such line")?;
        let kib: u64 = line.trim().trim_end_matches(" kB").trim().parse()?;
        Ok(kib << 10)
    }

    /// Bytes this process caused to be written.
    pub(crate) fn written(&self) -> Result<u64> {
        let text = std::fs::read_to_string(format!("/proc/{}/io", self.process.id()))?;
        let line = text.lines().find_map(|line| line.strip_prefix("wchar:")).context("no wchar")?;
        Ok(line.trim().parse()?)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Both fail harmlessly when it has ended already.
        self.process.kill().ok();
        self.process.wait().ok();
    }
}
