//! An MCP client on the pipes of a `chatos mcp …` process, in either era of the protocol.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::process::{spawn, wait};

/// Nothing a test waits for takes this long on a healthy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// How a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McpEra {
    /// `initialize` first; 2025-11-25.
    Legacy,
    /// Every request says who asks; 2026-07-28.
    Modern,
}

/// A client with its server; the server is killed when dropped.
pub struct McpClient {
    process: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    stderr: Arc<Mutex<String>>,
    era: McpEra,
    capabilities: Value,
    next_id: u64,
}

impl McpClient {
    /// Starts a server without saying anything to it.
    pub fn start(mut command: Command, era: McpEra, capabilities: Value) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = spawn(command);
        let (sender, lines) = channel();
        if let Some(stdout) = process.stdout.take() {
            std::thread::spawn(move || {
                for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                    if sender.send(line).is_err() {
                        return;
                    }
                }
            });
        }
        let stderr = Arc::new(Mutex::new(String::new()));
        if let Some(mut pipe) = process.stderr.take() {
            let kept = Arc::clone(&stderr);
            std::thread::spawn(move || {
                let mut chunk = [0; 4096];
                while let Ok(count @ 1..) = pipe.read(&mut chunk) {
                    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                    kept.push_str(&String::from_utf8_lossy(&chunk[..count]));
                }
            });
        }
        let stdin = process.stdin.take();
        Self { process, stdin, lines, stderr, era, capabilities, next_id: 0 }
    }

    /// Starts a server and shakes hands; gives what it said about itself.
    pub fn connect(command: Command, era: McpEra, capabilities: Value) -> (Self, Value) {
        let mut client = Self::start(command, era, capabilities);
        let hello = match era {
            McpEra::Modern => client.request("server/discover", json!({})),
            McpEra::Legacy => {
                let params = json!({
                    "protocolVersion": "2025-11-25", "capabilities": client.capabilities,
                    "clientInfo": { "name": "test", "version": "1" },
                });
                let hello = client.request("initialize", params);
                client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
                hello
            }
        };
        (client, hello)
    }

    /// The server's process.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// What the server said on stderr so far.
    pub fn stderr(&self) -> String {
        self.stderr.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sends bytes as they are; a server that is gone does not mind.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        if let Some(stdin) = &mut self.stdin {
            stdin.write_all(bytes).and_then(|()| stdin.flush()).ok();
        }
    }

    /// Sends one message.
    pub fn send(&mut self, message: &Value) {
        self.send_bytes(format!("{message}\n").as_bytes());
    }

    /// Sends a request and gives its id, to be waited for with [`McpClient::answer`].
    pub fn begin(&mut self, method: &str, mut params: Value) -> u64 {
        self.next_id += 1;
        if self.era == McpEra::Modern {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            meta["io.modelcontextprotocol/clientInfo"] = json!({ "name": "test", "version": "1" });
            meta["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        }
        let id = self.next_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Begins a call of a tool.
    pub fn begin_call(&mut self, tool: &str, arguments: Value) -> u64 {
        self.begin("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// The next message of the server.
    pub fn message(&mut self) -> Value {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => match serde_json::from_str(&line) {
                Ok(message) => message,
                Err(error) => panic!("stdout carries something else than the protocol ({error}): {line}"),
            },
            Err(RecvTimeoutError::Timeout) => panic!("the server says nothing; stderr: {}", self.stderr()),
            Err(RecvTimeoutError::Disconnected) => panic!("the server is gone; stderr: {}", self.stderr()),
        }
    }

    /// The next message whose `field` is there, others are passed over.
    pub fn message_with(&mut self, field: &str) -> Value {
        loop {
            let message = self.message();
            if message.get(field).is_some() {
                return message;
            }
        }
    }

    /// The whole answer to a request; other messages that come first are passed over.
    pub fn reply(&mut self, id: u64) -> Value {
        loop {
            let message = self.message();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }

    /// The result of a request.
    pub fn answer(&mut self, id: u64) -> Value {
        let mut reply = self.reply(id);
        assert!(reply.get("error").is_none(), "{reply}");
        reply["result"].take()
    }

    /// Sends a request and waits for its result.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.answer(id)
    }

    /// Calls a tool and waits for its result.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.begin_call(tool, arguments);
        self.answer(id)
    }

    /// Withdraws a request.
    pub fn cancel(&mut self, id: u64) {
        self.send(&json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id },
        }));
    }

    /// Closes the server's standard input.
    pub fn hang_up(&mut self) {
        self.stdin = None;
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        if let Some(pid) = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw) {
            kill_process(pid, signal).ok();
        }
    }

    /// Waits for an end that is due.
    pub fn ended(&mut self) -> ExitStatus {
        wait(&mut self.process)
    }
}

impl Drop for McpClient {
    fn drop(&mut self) {
        // Both fail harmlessly when it has ended already.
        self.process.kill().ok();
        self.process.wait().ok();
    }
}
