//! A host with a scripted model and a server whose tool counts its calls in a file.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use chatos_testkit::{RunningHost, Sandbox, Script, ScriptedModel};
use serde_json::{Value, json};

/// Nothing here takes this long on a healthy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// `subagent_router`.
const ROUTER: &str = "36bb1921-66e8-4901-9739-2177349f5dd4";

/// A server of MCP's older era whose tools count their calls in a file and keep the `_meta` they got.
const COUNTER: &str = r"
const fs = require('fs');
const file = process.argv[2];
const lines = require('readline').createInterface({ input: process.stdin });
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');
const chunk = (kind, data) => {
  const body = Buffer.concat([Buffer.from(kind), data]);
  let crc = -1;
  for (const byte of body) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(data.length, 0);
  ends.writeInt32BE(~crc, 4);
  return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
};
const png = (shade, width, height) => {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head[8] = 8;
  const rows = Buffer.alloc((width + 1) * height, shade);
  for (let row = 0; row < height; row += 1) rows[row * (width + 1)] = 0;
  const parts = [chunk('IHDR', head), chunk('tEXt', Buffer.from('where\0at home')),
    chunk('IDAT', require('zlib').deflateSync(rows)), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), ...parts]).toString('base64');
};
const schema = { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] };
lines.on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') {
    send({ id, result: { protocolVersion: '2025-06-18', capabilities: { tools: {} },
      serverInfo: { name: 'counter', version: '1' } } });
  } else if (method === 'tools/list') {
    send({ id, result: { tools: [
      { name: 'count', description: 'Counts.', inputSchema: schema },
      { name: 'slow', description: 'Counts, late.', inputSchema: schema },
      { name: 'meta', description: 'Gives its _meta.', inputSchema: schema },
      { name: 'big', description: 'Counts, and says much.', inputSchema: { type: 'object',
        properties: { key: { type: 'string' }, size: { type: 'integer' } }, required: ['key', 'size'] } },
    ] } });
  } else if (method === 'tools/call') {
    const key = params.arguments.key;
    fs.appendFileSync(file + '.began', key + '\n');
    const fd = fs.openSync(file, 'a');
    fs.writeSync(fd, key + '\n');
    fs.closeSync(fd);
    fs.appendFileSync(file + '.meta', JSON.stringify({ tool: params.name, meta: params._meta }) + '\n');
    fs.appendFileSync(file + '.args', JSON.stringify(params.arguments) + '\n');
    const line = key + ' abcdefghijklmnopqrstuvwxyz 0123456789\n';
    const text = params.name === 'meta' ? JSON.stringify(params._meta)
      : params.name === 'big' ? line.repeat(Math.ceil(params.arguments.size / line.length)) : 'counted ' + key;
    const content = [{ type: 'text', text }];
    // Keys such as `picture-3-40x30`: the same, and as many pictures of this size as the first number says.
    const asked = /^picture-(\d+)-(\d+)x(\d+)$/.exec(key);
    for (let n = 1; asked && n <= asked[1]; n += 1) {
      content.push({ type: 'image', mimeType: 'image/png', data: png(n, Number(asked[2]), Number(asked[3])) });
    }
    if (key === 'drawing') content.push({ type: 'image', mimeType: 'image/svg+xml', data: 'PHN2Zy8+' });
    const answer = () => send({ id, result: { content } });
    if (params.name === 'slow') setTimeout(answer, 30000); else answer();
  } else if (id !== undefined) {
    send({ id, result: {} });
  }
});
";

/// Everything a test of runs stands on.
pub(crate) struct Stand {
    pub(crate) sandbox: Sandbox,
    pub(crate) model: ScriptedModel,
    pub(crate) counts: PathBuf,
    pub(crate) agent: String,
}

impl Stand {
    /// A state with one model, one server and one agent that may use it.
    pub(crate) fn new(decide: impl Fn(&Value) -> Script + Send + Sync + 'static) -> Self {
        Self::with(&json!({}), false, &json!({}), decide)
    }

    /// The same, and these members of its model are otherwise.
    pub(crate) fn speaking(model: &Value, decide: impl Fn(&Value) -> Script + Send + Sync + 'static) -> Self {
        Self::with(&json!({}), false, model, decide)
    }

    /// The same, and the person is asked before each call of this tool.
    pub(crate) fn asking(tool: &str, decide: impl Fn(&Value) -> Script + Send + Sync + 'static) -> Self {
        Self::with(&json!({ "ask": [tool] }), false, &json!({}), decide)
    }

    /// The same, and subagents may use the server and nothing else. The router is listed for them, too.
    pub(crate) fn with_subs(decide: impl Fn(&Value) -> Script + Send + Sync + 'static) -> Self {
        Self::with(&json!({}), true, &json!({}), decide)
    }

    /// Subagents may use the server, and the person is asked before each call of this tool.
    pub(crate) fn asking_subs(tool: &str, decide: impl Fn(&Value) -> Script + Send + Sync + 'static) -> Self {
        Self::with(&json!({ "ask": [tool] }), true, &json!({}), decide)
    }

    fn with(
        tools: &Value,
        subs: bool,
        members: &Value,
        decide: impl Fn(&Value) -> Script + Send + Sync + 'static,
    ) -> Self {
        let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_chatos"));
        let model = ScriptedModel::start(decide);
        let counts = sandbox.root().join("counts");
        std::fs::write(&counts, "").unwrap();
        let script = sandbox.root().join("counter.cjs");
        std::fs::write(&script, COUNTER).unwrap();
        let host = sandbox.serve();
        let post = |path: &str, body: Value| {
            let answer = host.ask("POST", &format!("/api/v1/{path}"), Some(&body));
            assert!(answer.status < 300, "{path}: {} {}", answer.status, answer.text());
            answer.json()
        };
        let mut body = json!({ "name": "scripted", "provider": "openai", "model": "scripted",
                               "baseUrl": model.base_url(), "supportsVision": true });
        for (member, value) in members.as_object().into_iter().flatten() {
            body[member] = value.clone();
        }
        let made = post("models", body);
        post(&format!("models/{}/default", made["id"].as_str().unwrap()), json!({}));
        let server = post(
            "mcp-servers",
            json!({ "name": "counter", "argv": [node(), script.to_str().unwrap(), counts.to_str().unwrap()] }),
        );
        let mut main = vec![json!({ "id": server["id"], "tools": tools })];
        let mut sub = Vec::new();
        if subs {
            main.push(json!({ "id": ROUTER }));
            sub = vec![json!({ "id": server["id"], "tools": tools }), json!({ "id": ROUTER })];
        }
        let land = post(
            "land-configs",
            json!({ "name": "counting", "main": { "mcpServers": main }, "sub": { "mcpServers": sub } }),
        );
        let agent = post("agents", json!({ "name": "counter", "mode": "flow", "landConfigId": land["id"] }));
        let agent = agent["id"].as_str().unwrap().to_owned();
        host.stop();
        Self { sandbox, model, counts, agent }
    }

    /// The `_meta` of each call of a tool, as the server got it.
    pub(crate) fn metas(&self, tool: &str) -> Vec<Value> {
        let kept = std::fs::read_to_string(self.counts.with_extension("meta")).unwrap_or_default();
        let calls = kept.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        calls.filter(|call| call["tool"] == tool).map(|call| call["meta"].clone()).collect()
    }

    /// Lines of a file of the state.
    pub(crate) fn lines(&self, file: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.sandbox.state().join(file)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Whether the server was called with this key.
    pub(crate) fn began(&self, key: &str) -> bool {
        let began = std::fs::read_to_string(self.counts.with_extension("began")).unwrap_or_default();
        began.lines().any(|line| line == key)
    }

    /// How often each key was counted.
    pub(crate) fn counted(&self, key: &str) -> usize {
        std::fs::read_to_string(&self.counts).unwrap().lines().filter(|line| *line == key).count()
    }
}

/// Where Node is; sandboxes have a search path of their own.
#[expect(clippy::disallowed_methods, reason = "the sandbox hides the machine's PATH; this looks it up")]
pub(crate) fn node() -> String {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|dir| dir.join("node")).find(|program| program.is_file());
    found.unwrap().to_str().unwrap().to_owned()
}

/// A new chat of the agent.
pub(crate) fn session(host: &RunningHost, agent: &str) -> String {
    let made = host.ask("POST", "/api/v1/sessions", Some(&json!({ "agentId": agent })));
    assert_eq!(made.status, 201, "{}", made.text());
    made.json()["id"].as_str().unwrap().to_owned()
}

/// Sends a text; gives the run.
pub(crate) fn send(host: &RunningHost, session: &str, text: &str) -> String {
    let path = format!("/api/v1/sessions/{session}/send");
    let sent = host.ask("POST", &path, Some(&json!({ "text": text })));
    assert_eq!(sent.status, 202, "{}", sent.text());
    sent.json()["runId"].as_str().unwrap().to_owned()
}

/// Waits until a run is in one of these states.
pub(crate) fn until(host: &RunningHost, run: &str, states: &[&str]) -> Value {
    let began = Instant::now();
    loop {
        let now = host.ask("GET", &format!("/api/v1/runs/{run}"), None).json();
        if states.contains(&now["state"].as_str().unwrap_or_default()) {
            return now;
        }
        assert!(began.elapsed() < PATIENCE, "the run stays {}: {now}", now["state"]);
        std::thread::sleep(Duration::from_millis(15));
    }
}

/// All messages of a chat, read page by page.
pub(crate) fn messages(host: &RunningHost, session: &str) -> Vec<Value> {
    let path = format!("/api/v1/sessions/{session}/messages?limit=500");
    let mut all: Vec<Value> = Vec::new();
    loop {
        let before = all.first().map(|first| format!("&beforeId={}", first["id"].as_str().unwrap()));
        let page = host.ask("GET", &format!("{path}{}", before.unwrap_or_default()), None).json();
        let mut older = page["messages"].as_array().unwrap().clone();
        older.append(&mut all);
        all = older;
        if page["hasMore"] != true {
            return all;
        }
    }
}

/// The text of the last message of a request.
pub(crate) fn last(request: &Value) -> (String, String) {
    let message = request["messages"].as_array().and_then(|all| all.last()).cloned().unwrap_or_default();
    let text = match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    };
    (message["role"].as_str().unwrap_or_default().to_owned(), text)
}

/// The name under which a tool is offered, in the words of any vendor.
pub(crate) fn offered(request: &Value, tool: &str) -> Option<String> {
    let tools = match request.pointer("/tools/0/functionDeclarations") {
        Some(declared) => declared.as_array()?,
        None => request["tools"].as_array()?,
    };
    let mut names =
        tools.iter().filter_map(|one| one["function"]["name"].as_str().or_else(|| one["name"].as_str()));
    names.find(|name| name.ends_with(&format!("_{tool}"))).map(str::to_owned)
}
