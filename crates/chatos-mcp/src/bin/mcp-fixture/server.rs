//! The loop of the fixture: reads requests, answers or does not, as its switches say.

use std::io::{self, BufRead, Write};
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::tools;

/// The switches of a run, such as `list=endless`.
pub(crate) struct Switches(Vec<String>);

impl Switches {
    pub(crate) fn has(&self, word: &str) -> bool {
        self.0.iter().any(|known| known == word)
    }

    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.0.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
    }
}

/// What the server remembers between messages.
pub(crate) struct Server {
    pub(crate) switches: Switches,
    pub(crate) out: io::Stdout,
    pub(crate) cancelled: Vec<Value>,
    pub(crate) replies: Vec<Value>,
    pub(crate) held: Vec<Value>,
    pub(crate) listed: u64,
    pub(crate) version: u64,
    pub(crate) listener: Option<Value>,
    pub(crate) polls: u64,
    pub(crate) deaf: bool,
}

pub(crate) fn run(words: Vec<String>) -> io::Result<()> {
    let switches = Switches(words);
    if let Some(path) = switches.value("touch") {
        std::fs::write(path, "")?;
    }
    if let Some(text) = switches.value("stderr") {
        writeln!(io::stderr(), "{text}")?;
    }
    if let Some(code) = switches.value("exit") {
        return Err(io::Error::other(format!("exits at once as told ({code})")));
    }
    if let Some(ms) = switches.value("delay").and_then(|ms| ms.parse().ok()) {
        std::thread::sleep(Duration::from_millis(ms));
    }
    let mut server = Server {
        switches,
        out: io::stdout(),
        cancelled: Vec::new(),
        replies: Vec::new(),
        held: Vec::new(),
        listed: 0,
        version: 0,
        listener: None,
        polls: 0,
        deaf: false,
    };
    if server.switches.has("banner") {
        server.raw(
            b"Welcome to the server!\r\n\n\xef\xbb\xbf\n{\"half\": \n\x00\x01\x02\xff\xfe\n[1,2]\n{}\n",
        )?;
    }
    let stdin = io::stdin();
    let mut line = Vec::new();
    loop {
        line.clear();
        if server.deaf {
            std::thread::sleep(Duration::from_secs(3_600));
        }
        if stdin.lock().read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let Ok(message) = serde_json::from_slice::<Value>(&line) else { continue };
        server.message(message)?;
    }
    while server.switches.has("ignore-eof") {
        std::thread::sleep(Duration::from_secs(3_600));
    }
    Ok(())
}

impl Server {
    /// Writes bytes as they are.
    pub(crate) fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.out.flush()
    }

    /// Writes one message in the framing of this run.
    pub(crate) fn send(&mut self, message: &Value) -> io::Result<()> {
        let text = message.to_string();
        let framed = match self.switches.value("framing") {
            Some("content-length") => format!("Content-Length: {}\r\n\r\n{text}", text.len()),
            Some("pretty") => format!("{message:#}\n"),
            Some("batch") => format!("[{text}]\n"),
            Some("twice-on-a-line") => format!("{text}{text}\n"),
            _ => format!("{text}\n"),
        };
        self.raw(framed.as_bytes())
    }

    pub(crate) fn reply(&mut self, id: &Value, result: Value) -> io::Result<()> {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))
    }

    pub(crate) fn refuse(&mut self, id: &Value, code: i64, message: &str) -> io::Result<()> {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }))
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) -> io::Result<()> {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
    }

    fn message(&mut self, message: Value) -> io::Result<()> {
        let method = message.get("method").and_then(Value::as_str).map(str::to_owned);
        let id = message.get("id").cloned();
        let params = message.get("params").cloned().unwrap_or(json!({}));
        let (Some(method), Some(id)) = (&method, &id) else {
            match method.as_deref() {
                Some("notifications/cancelled") => self.cancelled.push(params["requestId"].clone()),
                Some(_) => {}
                // An answer to something we asked; the call that asked is answered with it.
                None => tools::answered(self, &message)?,
            }
            return Ok(());
        };
        if self.switches.has("silent") {
            return Ok(());
        }
        let modern = self.switches.has("era=modern") || self.switches.has("era=both");
        match method.as_str() {
            "server/discover" if modern => self.reply(
                id,
                json!({ "resultType": "complete", "supportedVersions": ["2026-07-28"],
                        "capabilities": { "tools": { "listChanged": true }, "extensions": { "io.modelcontextprotocol/tasks": {} } },
                        "instructions": "be kind", "ttlMs": 0, "cacheScope": "private",
                        "_meta": { "io.modelcontextprotocol/serverInfo": { "name": "fixture", "version": "9" } } }),
            ),
            "initialize" if self.switches.has("era=modern") => self.refuse(id, -32601, "no such method"),
            "initialize" => {
                if self.switches.has("crash=initialize") {
                    return Err(io::Error::other("crashes in the handshake as told"));
                }
                let version = self.switches.value("version").unwrap_or("2025-06-18").to_owned();
                let result = json!({ "protocolVersion": version, "capabilities": { "tools": { "listChanged": true } },
                                      "serverInfo": { "name": "fixture", "version": "1" } });
                if self.switches.has("handshake-twice") {
                    // A reply before its request, then the real one twice.
                    self.reply(&json!(9_999), json!({}))?;
                    self.reply(id, result.clone())?;
                }
                self.reply(id, result)
            }
            "tools/list" => self.list(id, &params),
            "tools/call" => tools::call(self, id, &params),
            "subscriptions/listen" if modern => {
                self.listener = Some(id.clone());
                let meta = json!({ "io.modelcontextprotocol/subscriptionId": id });
                self.notify("notifications/subscriptions/acknowledged", json!({ "notifications": params["notifications"], "_meta": meta }))
            }
            "tasks/get" if modern => tools::task(self, id, &params),
            "tasks/update" | "tasks/cancel" if modern => {
                self.replies.push(params.clone());
                self.reply(id, json!({ "resultType": "complete" }))
            }
            _ if self.switches.has("unknown=ignore") => Ok(()),
            _ if self.switches.has("unknown=exit") => Err(io::Error::other(format!("`{method}` is too new for me"))),
            _ => self.refuse(id, -32601, "no such method"),
        }
    }

    fn list(&mut self, id: &Value, params: &Value) -> io::Result<()> {
        self.listed += 1;
        let cursor = params["cursor"].as_str().and_then(|cursor| cursor.parse::<u64>().ok()).unwrap_or(0);
        let tool = |name: String| json!({ "name": name, "description": "a tool", "inputSchema": { "type": "object" } });
        let mut all: Vec<Value> = tools::NAMES.iter().map(|name| tool((*name).to_owned())).collect();
        let mut result = Map::new();
        match self.switches.value("list") {
            Some("hang") => return Ok(()),
            Some("crash") => return Err(io::Error::other("crashes in the listing as told")),
            Some("object") => {
                return self.reply(id, json!({ "tools": { "a": 1 } }));
            }
            Some("deep") => {
                // Deeper than any parser goes, in a schema and in a hint; one tool between them is sound.
                let deep = format!("{}1{}", "{\"a]\\\"\":".repeat(5_000), "}".repeat(5_000));
                return self.raw(
                    format!(
                        "{{\"jsonrpc\":\"2.0\",\"result\":{{\"tools\":[{{\"name\":\"schema\",\"inputSchema\":{deep}}},{},\
                         {{\"name\":\"hint\",\"annotations\":{deep}}}]}},\"id\":{id}}}\n",
                        tool("echo".to_owned())
                    )
                    .as_bytes(),
                );
            }
            Some("endless") => {
                all = vec![tool(format!("t{cursor}"))];
                result.insert("nextCursor".to_owned(), json!((cursor + 1).to_string()));
            }
            Some("loop") => {
                result.insert("nextCursor".to_owned(), json!("1"));
            }
            Some("changing") => {
                let description = format!("version {}", self.version);
                all = vec![
                    json!({ "name": "echo", "description": description, "inputSchema": { "type": "object" } }),
                ];
            }
            Some(count) => {
                all = (0..count.parse().unwrap_or(0)).map(|n: u32| tool(format!("tool-{n:06}"))).collect();
            }
            None => {}
        }
        result.insert("tools".to_owned(), json!(all));
        self.reply(id, Value::Object(result))
    }
}
