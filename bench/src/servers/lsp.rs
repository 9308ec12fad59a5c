//! `lsp_bridge` beside a bare client of the same language server: what the bridge adds to a question, a hundred open
//! files, twenty callers at once.
//!
//! The server of our own tests answers at once, so that what is measured is the bridge; the TypeScript server of the
//! peers, where it is there, shows what people feel.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::Place;
use super::client::Client;
use super::table::{self, Bar};
use crate::measure::{Times, human};

/// Most that the bridge may add to a question about an open file (issue 16).
const MOST: Duration = Duration::from_millis(3);
const FILES: usize = 100;
const AGENTS: usize = 20;
const ROUNDS: usize = 200;

pub(crate) fn run(place: &Place) -> Result<()> {
    let root = std::fs::canonicalize(place.root())?.join("code");
    std::fs::create_dir_all(&root)?;
    std::fs::write(root.join("tsconfig.json"), r#"{"compilerOptions":{"strict":true},"include":["*.ts"]}"#)?;
    for number in 0..FILES {
        let text = format!(
            "/** Number {number}. */\nexport function mark{number}(side: number): number {{ return side; }}\n"
        );
        std::fs::write(root.join(format!("f{number}.ts")), text)?;
    }
    let script = root.join("fixture.mjs");
    std::fs::write(&script, include_str!("../../../crates/chatos-lsp/tests/bridge/fixture.mjs"))?;
    let node = vec!["node".to_owned(), script.display().to_string(), "good".to_owned()];
    hovers(place, &root, "a server that answers at once", &node)?;
    shared(place, &root, &node)?;
    match typescript(place) {
        Some(argv) => hovers(place, &root, "typescript-language-server", &argv),
        None => {
            println!("\ntypescript-language-server: not among the peers, left out");
            Ok(())
        }
    }
}

fn typescript(place: &Place) -> Option<Vec<String>> {
    let program = place.peers.as_ref()?.join("node_modules/.bin/typescript-language-server");
    let program = std::fs::canonicalize(program).ok()?;
    Some(vec![program.display().to_string(), "--stdio".to_owned()])
}

/// Our bridge with this program for `.ts` files, and nothing else.
fn bridge(place: &Place, root: &Path, argv: &[String]) -> Result<Client> {
    let config = place.dir.path().join("lsp-servers.json");
    let own = json!({ "servers": { "bench": {
        "command": argv[0], "args": argv[1..], "fileExtensions": ["ts"], "languages": ["typescript"],
    } } });
    std::fs::write(&config, own.to_string())?;
    let config = config.display().to_string();
    let mut peer = place.ours("lsp_bridge", &["--config", &config]);
    let at = peer.argv.iter().position(|word| word == "--root").context("no root")?;
    peer.argv[at + 1] = root.display().to_string();
    Ok(Client::start(&peer)?.0)
}

fn hover(client: &mut Client, number: usize) -> Result<Duration> {
    let began = Instant::now();
    let arguments = json!({ "path": format!("f{number}.ts"), "line": 2, "symbol": format!("mark{number}") });
    let said = client.call("lsp_hover", arguments)?;
    let took = began.elapsed();
    let text = said["content"][0]["text"].as_str().unwrap_or_default();
    ensure!(text.contains(&format!("mark{number}")), "an incomplete reply: {text}");
    Ok(took)
}

/// The same question about open files by both, in turn.
fn hovers(place: &Place, root: &Path, name: &str, argv: &[String]) -> Result<()> {
    let began = Instant::now();
    let mut bare = Bare::start(root, argv)?;
    bare.open(root, 0)?;
    bare.hover(root, 0)?;
    let first_bare = began.elapsed();
    let began = Instant::now();
    let mut ours = bridge(place, root, argv)?;
    hover(&mut ours, 0)?;
    table::row(
        &format!("from nothing to the first hover, {name}"),
        began.elapsed(),
        &[],
        Some(("bare client", first_bare)),
        None,
        None,
    );
    for number in 1..FILES {
        bare.open(root, number)?;
        bare.hover(root, number)?;
        hover(&mut ours, number)?;
    }
    let (mut with, mut without, mut wide) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        with.push(hover(&mut ours, 0)?);
        without.push(bare.hover(root, 0)?);
        wide.push(hover(&mut ours, round % FILES)?);
    }
    let (with, without, wide) = (Times::new(with), Times::new(without), Times::new(wide));
    let added = with.median().saturating_sub(without.median());
    let limit = ("bare client", without.median());
    let bar = || Some(Bar::new(format!("adds ≤ {}", human(MOST)), added <= MOST));
    table::row(&format!("second hover, {name}"), with.median(), &[], Some(limit), bar(), None);
    table::words(&format!("the bridge adds, {name}"), &human(added), "", "", "", bar(), None);
    let operation = format!("hover in one of {FILES} open files, {name}");
    table::row(&operation, wide.median(), &[], Some(limit), None, None);
    Ok(())
}

/// What the server of the tests wrote down: how often it heard a method.
fn seen(root: &Path, method: &str) -> Result<usize> {
    let text = std::fs::read_to_string(root.join(".seen"))?;
    Ok(text.lines().filter(|line| line.split(' ').next() == Some(method)).count())
}

fn shared(place: &Place, root: &Path, argv: &[String]) -> Result<()> {
    std::fs::write(root.join(".seen"), "")?;
    let mut ours = bridge(place, root, argv)?;
    for _ in 0..2 {
        for number in 0..FILES {
            hover(&mut ours, number)?;
        }
    }
    let opened = seen(root, "textDocument/didOpen")?;
    let met = Bar::new(format!("{FILES}, none twice"), opened == FILES);
    let operation = format!("files opened for {} hovers in {FILES} files", 2 * FILES);
    table::words(&operation, &opened.to_string(), "", "", "", Some(met), None);
    let arguments = json!({ "path": "f0.ts", "line": 2, "symbol": "mark0" });
    let calls = 50 * AGENTS;
    let time = ours.flood(calls, AGENTS, "lsp_hover", &arguments)?;
    let started = seen(root, "initialize")?;
    let met = Bar::new("1 language server", started == 1);
    let each = format!("{} each, {started} started", human(time / calls as u32));
    let operation = format!("{calls} hovers, {AGENTS} at once");
    table::words(&operation, &each, "", "", "", Some(met), None);
    Ok(())
}

/// A client that does nothing but ask.
struct Bare {
    process: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    next: u64,
}

impl Bare {
    fn start(root: &Path, argv: &[String]) -> Result<Self> {
        #[expect(clippy::disallowed_methods, reason = "a benchmark starts what it measures and reaps it")]
        let mut process = Command::new(&argv[0])
            .args(&argv[1..])
            .current_dir(root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {}", argv[0]))?;
        let stdin = process.stdin.take().context("no stdin")?;
        let stdout = BufReader::new(process.stdout.take().context("no stdout")?);
        let mut bare = Self { process, stdin, stdout, next: 0 };
        let folder = uri(root);
        bare.request(
            "initialize",
            json!({ "processId": null, "rootUri": folder, "capabilities": {}, "workspaceFolders": [{ "uri": folder, "name": "code" }] }),
        )?;
        bare.send(&json!({ "jsonrpc": "2.0", "method": "initialized", "params": {} }))?;
        Ok(bare)
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        let body = serde_json::to_vec(message)?;
        let mut framed = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
        framed.extend(body);
        Ok(self.stdin.write_all(&framed)?)
    }

    fn read(&mut self) -> Result<Value> {
        let mut length = 0;
        loop {
            let mut line = String::new();
            ensure!(self.stdout.read_line(&mut line)? > 0, "the language server ended");
            match line.trim_end() {
                "" => break,
                head => {
                    if let Some(text) = head.strip_prefix("Content-Length: ") {
                        length = text.parse()?;
                    }
                }
            }
        }
        let mut body = vec![0; length];
        self.stdout.read_exact(&mut body)?;
        Ok(serde_json::from_slice(&body)?)
    }

    fn request(&mut self, method: &str, params: Value) -> Result<Value> {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let mut message = self.read()?;
            if message.get("method").is_some() {
                // What the server asks is answered with nothing.
                if let Some(id) = message.get("id") {
                    self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": null }))?;
                }
            } else if message["id"] == id {
                return Ok(message["result"].take());
            }
        }
    }

    fn open(&mut self, root: &Path, number: usize) -> Result<()> {
        let path = file(root, number);
        let text = std::fs::read_to_string(&path)?;
        let document = json!({ "uri": uri(&path), "languageId": "typescript", "version": 1, "text": text });
        self.send(
            &json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": { "textDocument": document } }),
        )
    }

    fn hover(&mut self, root: &Path, number: usize) -> Result<Duration> {
        let began = Instant::now();
        let place = json!({
            "textDocument": { "uri": uri(&file(root, number)) }, "position": { "line": 1, "character": 17 },
        });
        let said = self.request("textDocument/hover", place)?;
        let took = began.elapsed();
        ensure!(said.to_string().contains(&format!("mark{number}")), "an incomplete reply: {said}");
        Ok(took)
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        // Both fail harmlessly when it has ended already.
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

fn file(root: &Path, number: usize) -> PathBuf {
    root.join(format!("f{number}.ts"))
}

/// Temporary folders have plain names.
fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}
