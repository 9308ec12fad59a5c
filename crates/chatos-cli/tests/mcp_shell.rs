//! `chatos mcp shell_tasks`, the real program: commands and sessions over stdio, the boundary around them,
//! and nothing left behind when it is told to end or killed.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use chatos_testkit::{McpClient, McpEra, Sandbox, Wire, child, skip};
use rustix::process::Signal;
use serde_json::{Value, json};

#[path = "mcp_shell/asked.rs"]
mod asked;
#[path = "mcp_shell/doors.rs"]
mod doors;
#[path = "mcp_shell/home.rs"]
mod home;
#[path = "mcp_shell/hosts.rs"]
mod hosts;

const ERAS: [McpEra; 2] = [McpEra::Legacy, McpEra::Modern];

struct Place {
    sandbox: Sandbox,
}

impl Place {
    /// A root with nobody to ask, so commands are let through by the settings.
    fn new() -> Self {
        let mut sandbox = Sandbox::new(env!("CARGO_BIN_EXE_chatos"));
        std::fs::create_dir(sandbox.root().join("project")).unwrap();
        for (name, value) in [
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("CHATOS_SET_CONFIRM_FILE_CHANGES", "false"),
            ("CHATOS_SET_SHELL_CONFIRM", "never"),
            ("OPENAI_API_KEY", "canary-in-the-host"),
        ] {
            sandbox.set_variable(name, value);
        }
        Self { sandbox }
    }

    fn connect(&self, era: McpEra) -> McpClient {
        let root = self.sandbox.root().join("project");
        let root = root.to_str().unwrap();
        let command = self.sandbox.command(&["mcp", "shell_tasks", "--lang", "en", "--root", root]);
        McpClient::connect(command, era, json!({})).0
    }
}

/// The kernel here may confine nothing; then a person would have to be asked and there is none.
fn confined(place: &Place) -> bool {
    let doctor = place.sandbox.run(&["doctor", "--json"]).json();
    let text = doctor.to_string();
    assert!(text.contains("shell_sandbox"), "the doctor says what confines commands: {text}");
    !text.contains("shell_sandbox_none")
}

fn alive(mark: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if line.contains(mark) {
            found.push(line);
        }
    }
    found
}

fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < Duration::from_secs(60), "{what} did not happen");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A number of seconds nobody else sleeps.
fn mark(number: u32) -> String {
    format!("7{:07}{number}", std::process::id() % 10_000_000)
}

fn data(reply: &Value) -> &Value {
    &reply["structuredContent"]["data"]
}

#[test]
fn a_command_runs_inside_its_boundary_in_both_eras() {
    let place = Place::new();
    if !confined(&place) {
        skip!("the kernel confines no files (Landlock)");
    }
    std::fs::write(place.sandbox.home().join("secret.txt"), "home-content").unwrap();
    for era in ERAS {
        let mut client = place.connect(era);
        let reply =
            client.call("run_shell_command", json!({ "command": "echo out > made; cat made; env; exit 3" }));
        let data = data(&reply);
        assert_eq!((&data["exit_code"], &reply["isError"]), (&json!(3), &json!(false)), "{reply}");
        let text = data["stdout"]["text"].as_str().unwrap();
        assert!(text.starts_with("out\n") && !text.contains("canary"), "{text}");
        let outside =
            client.call("run_shell_command", json!({ "command": "cat ~/secret.txt; echo x > ~/new" }));
        assert!(!outside.to_string().contains("home-content"), "{outside}");
        assert!(!place.sandbox.home().join("new").exists());
        let state = place.sandbox.state().join("tool-log.jsonl");
        let closed =
            client.call("run_shell_command", json!({ "command": format!("cat {}", state.display()) }));
        assert_ne!(self::data(&closed)["exit_code"], 0, "{closed}");
    }
}

#[test]
fn without_a_person_what_has_to_be_asked_is_refused() {
    let mut place = Place::new();
    place.sandbox.set_variable("CHATOS_SET_SHELL_CONFIRM", "always");
    let mut client = place.connect(McpEra::Legacy);
    let reply = client.call("run_shell_command", json!({ "command": "touch ran" }));
    let error = &reply["structuredContent"]["error"];
    assert_eq!(
        (&error["type"], &error["details"]["rule"]),
        (&json!("permission_denied"), &json!("no_person"))
    );
    assert!(!place.sandbox.root().join("project/ran").exists());
    let listed = client.call("run_shell_command", json!({ "command": "ls" }));
    assert_eq!(data(&listed)["exit_code"], 0, "{listed}");
}

/// Whoever can call the tools of the server.
trait Caller {
    /// Makes a call and gives its result.
    fn result(&mut self, tool: &str, arguments: Value) -> Value;
    /// Makes a call that nobody waits for.
    fn begin(&mut self, tool: &str, arguments: Value);
}

impl Caller for McpClient {
    fn result(&mut self, tool: &str, arguments: Value) -> Value {
        self.call(tool, arguments)
    }

    fn begin(&mut self, tool: &str, arguments: Value) {
        self.begin_call(tool, arguments);
    }
}

/// Commands of every sort that try to stay.
fn start_all(client: &mut impl Caller, mark: &str) {
    let stubborn = format!(
        "trap '' TERM HUP INT; env -i setsid sh -c 'trap \"\" TERM HUP; sleep {mark}' & (env -i setsid sleep {mark} &); sleep {mark}; sleep {mark}"
    );
    for (name, pty) in [("a", true), ("b", false)] {
        let arguments = json!({ "command": stubborn, "session": name, "pty": pty, "preview_wait_ms": 0 });
        let reply = client.result("session_run", arguments);
        assert_eq!(reply["structuredContent"]["status"], "ok", "{reply}");
    }
    client.result(
        "run_shell_command",
        json!({ "command": format!("nohup setsid sleep {mark} >/dev/null 2>&1 &") }),
    );
    client.begin("run_shell_command", json!({ "command": stubborn, "timeout_ms": 600_000 }));
    let sleep = format!("sleep {mark} ");
    until("the commands", || {
        alive(mark)
            .iter()
            .filter(|line| line.starts_with(&sleep) || line.contains(&format!("/{sleep}")))
            .count()
            >= 10
    });
}

#[test]
fn nothing_is_left_when_the_server_is_killed() {
    let place = Place::new();
    if !confined(&place) {
        skip!("the kernel confines no files (Landlock)");
    }
    let mark = mark(1);
    let mut client = place.connect(McpEra::Legacy);
    start_all(&mut client, &mark);
    client.signal(Signal::KILL);
    client.ended();
    until("the end of everything", || alive(&mark).is_empty());
}

/// `chatos mcp shell_tasks --http`, or a host: calls over HTTP.
struct OverHttp<'a> {
    port: u16,
    head: &'a dyn Fn(&str) -> String,
    message: &'a dyn Fn(&str, Value) -> Value,
    // Calls nobody reads the answer of; their connections stay open.
    begun: Vec<Wire>,
}

impl OverHttp<'_> {
    fn send(&self, tool: &str, arguments: Value) -> Wire {
        let body = (self.message)(tool, arguments).to_string();
        let mut wire = Wire::open(self.port).unwrap();
        let head = (self.head)(tool);
        let head = format!("{head}Content-Length: {}\r\nConnection: close\r\n\r\n", body.len());
        wire.send(head.as_bytes()).unwrap();
        wire.send(body.as_bytes()).unwrap();
        wire
    }
}

impl Caller for OverHttp<'_> {
    fn result(&mut self, tool: &str, arguments: Value) -> Value {
        let text = self.send(tool, arguments).answer(false).unwrap().text();
        let mut last = text.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
        let last = last.rfind(|data| data.starts_with('{')).unwrap_or(text.trim()).to_owned();
        let answer: Value = serde_json::from_str(&last).unwrap_or_else(|error| panic!("{error}: {text}"));
        answer.get("result").unwrap_or(&answer).clone()
    }

    fn begin(&mut self, tool: &str, arguments: Value) {
        let wire = self.send(tool, arguments);
        self.begun.push(wire);
    }
}

#[test]
fn nothing_is_left_when_a_server_behind_http_is_killed() {
    let place = Place::new();
    if !confined(&place) {
        skip!("the kernel confines no files (Landlock)");
    }
    let mark = mark(4);
    let root = place.sandbox.root().join("project");
    let root = root.to_str().unwrap();
    let args = ["mcp", "shell_tasks", "--lang", "en", "--http", "127.0.0.1:0", "--root", root];
    let command = place.sandbox.command(&args);
    let mut server = McpClient::start(command, McpEra::Modern, json!({}));
    let mut port = None;
    until("it listens", || {
        let said = server.stderr();
        let found =
            said.split("http://127.0.0.1:").nth(1).and_then(|rest| rest.split('/').next()?.parse().ok());
        port = found.filter(|_| said.ends_with('\n'));
        port.is_some()
    });
    let port: u16 = port.unwrap();
    let token = std::fs::read_to_string(place.sandbox.state().join("mcp-token")).unwrap();
    let message = |tool: &str, arguments: Value| {
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": tool, "arguments": arguments, "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {},
            } } })
    };
    let head = |tool: &str| {
        format!(
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n\
             Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n\
             MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n"
        )
    };
    let mut client = OverHttp { port, head: &head, message: &message, begun: Vec::new() };
    start_all(&mut client, &mark);
    server.signal(Signal::KILL);
    server.ended();
    until("the end of everything", || alive(&mark).is_empty());
}

#[test]
fn nothing_is_left_when_the_host_is_killed() {
    let place = Place::new();
    if !confined(&place) {
        skip!("the kernel confines no files (Landlock)");
    }
    let mark = mark(5);
    let host = place.sandbox.serve();
    let root = place.sandbox.root().join("project");
    let message = |tool: &str, arguments: Value| json!({ "server": "shell_tasks", "tool": tool, "arguments": arguments, "root": root });
    let (authority, token) = (host.authority(), host.token.clone());
    let head = |_: &str| {
        format!(
            "POST /api/v1/tools/call HTTP/1.1\r\nHost: {authority}\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\n"
        )
    };
    let mut client = OverHttp { port: host.port, head: &head, message: &message, begun: Vec::new() };
    start_all(&mut client, &mark);
    host.kill();
    until("the end of everything", || alive(&mark).is_empty());
}

#[test]
fn nothing_is_left_when_the_server_is_told_to_end() {
    let place = Place::new();
    if !confined(&place) {
        skip!("the kernel confines no files (Landlock)");
    }
    for (number, by_signal) in [(2, true), (3, false)] {
        let mark = mark(number);
        let mut client = place.connect(McpEra::Modern);
        start_all(&mut client, &mark);
        if by_signal {
            client.signal(Signal::TERM);
        } else {
            client.hang_up();
        }
        let status = client.ended();
        assert!(status.success(), "{status:?}: {}", client.stderr());
        until("the end of everything", || alive(&mark).is_empty());
    }
}

const NOBODY: u32 = 65534;

/// The one user whom no right of the system passes over.
fn without_rights() -> Option<u32> {
    rustix::process::geteuid().is_root().then_some(NOBODY)
}

fn has_python() -> bool {
    child("python3").arg("-V").output().is_ok_and(|output| output.status.success())
}

/// Ends the calling test where it could not mean what it says: nothing confines, or nobody is root.
macro_rules! needs {
    (python) => {
        if !has_python() {
            skip!("this machine has no python3 to try it with");
        }
    };
    (boundary) => {
        if !confined(&Place::new()) {
            skip!("the kernel confines no files (Landlock)");
        }
    };
    (root) => {
        if !rustix::process::geteuid().is_root() {
            skip!("the tests do not run as root");
        }
        needs!(boundary);
    };
}
use needs;

/// Directories of their own for whoever runs the tests, or for another user, who owns all of it.
struct Ground {
    dir: tempfile::TempDir,
    program: PathBuf,
    user: Option<u32>,
}

impl Ground {
    fn new(user: Option<u32>) -> Self {
        let dir = tempfile::Builder::new().prefix("chatos-shell-").tempdir().unwrap();
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        for name in ["root", "outside", "home", "state"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        let mut program = PathBuf::from(env!("CARGO_BIN_EXE_chatos"));
        if user.is_some() {
            // The build directory may be closed to them.
            std::fs::copy(&program, dir.path().join("chatos")).unwrap();
            program = dir.path().join("chatos");
        }
        Self { dir, program, user }
    }

    fn path(&self, rel: &str) -> PathBuf {
        self.dir.path().join(rel)
    }

    /// The program on this ground, with nobody to ask.
    fn command(&self, args: &[&str]) -> Command {
        self.command_through(None, args)
    }

    /// As [`Ground::command`], started by this shell script, which gets it as its arguments.
    fn command_through(&self, script: Option<&str>, args: &[&str]) -> Command {
        if let Some(user) = self.user {
            let owner = format!("{user}:{user}");
            assert!(child("chown").args(["-hR", &owner]).arg(self.dir.path()).status().unwrap().success());
        }
        let mut command = match script {
            Some(script) => {
                let mut shell = self.run_free("sh");
                shell.args(["-c", script, "sh"]).arg(&self.program);
                shell
            }
            None => self.run_free(&self.program),
        };
        command
            .args(args)
            .arg("--state-dir")
            .arg(self.path("state"))
            .env_clear()
            .env("HOME", self.path("home"))
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("CHATOS_SET_CONFIRM_FILE_CHANGES", "false")
            .env("CHATOS_SET_SHELL_CONFIRM", "never")
            .current_dir(self.path("root"));
        command
    }

    /// Another program as the same user, without any boundary.
    fn run_free(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = child(program);
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        command
    }

    fn connect(&self, root: &str, variables: &[(&str, &str)]) -> McpClient {
        self.connect_through(None, root, variables)
    }

    fn connect_through(&self, script: Option<&str>, root: &str, variables: &[(&str, &str)]) -> McpClient {
        let root = self.path(root).to_string_lossy().into_owned();
        let args = ["mcp", "shell_tasks", "--lang", "en", "--root", &root];
        let mut command = self.command_through(script, &args);
        command.envs(variables.iter().copied());
        McpClient::connect(command, McpEra::Legacy, json!({})).0
    }
}

#[test]
fn the_boundary_holds_for_root() {
    needs!(root);
    the_boundary_holds(None);
}

#[test]
fn the_boundary_holds_for_a_user_without_rights() {
    needs!(boundary);
    the_boundary_holds(without_rights());
}

fn the_boundary_holds(user: Option<u32>) {
    let ground = Ground::new(user);
    let at = |rel: &str| ground.path(rel);
    std::fs::write(at("outside/secret.txt"), "TOP SECRET").unwrap();
    std::fs::write(at("home/secret.txt"), "TOP SECRET").unwrap();
    std::os::unix::fs::symlink(at("outside"), at("root/out")).unwrap();
    let mut client = ground.connect("root", &[]);
    let outside = at("outside").to_string_lossy().into_owned();
    let tries = [
        format!("cat {outside}/secret.txt"),
        "cat out/secret.txt".to_owned(),
        "cat ~/secret.txt".to_owned(),
        "cat ../outside/secret.txt".to_owned(),
        "cd / && cat proc/self/root\"$OLDPWD\"/../outside/secret.txt".to_owned(),
        format!("echo PWNED > {outside}/secret.txt"),
        format!("echo PWNED >> {outside}/new.txt"),
        "echo PWNED > out/new.txt".to_owned(),
        "echo PWNED > ~/new.txt".to_owned(),
        format!("rm -f {outside}/secret.txt"),
        format!("mv {outside}/secret.txt stolen.txt"),
        format!("ln {outside}/secret.txt hard.txt && cat hard.txt"),
        format!("cp {outside}/secret.txt stolen.txt"),
        format!("find {outside} -type f -exec cat {{}} +"),
        format!("exec 9<{outside}/secret.txt; cat <&9"),
        format!("(setsid sh -c 'cat {outside}/secret.txt')"),
    ];
    for command in tries {
        let reply = client.call("run_shell_command", json!({ "command": command }));
        let stdout = data(&reply)["stdout"]["text"].as_str().unwrap_or_default();
        assert!(!stdout.contains("TOP SECRET"), "{user:?} {command}: {reply}");
        let kept = std::fs::read_to_string(at("outside/secret.txt")).unwrap();
        assert_eq!(kept, "TOP SECRET", "{user:?} {command}");
        assert!(!at("outside/new.txt").exists() && !at("home/new.txt").exists(), "{user:?} {command}");
    }
    // The same user may do it without the boundary: it is the boundary that stopped them.
    let inside = client.call("run_shell_command", json!({ "command": "echo mine > own.txt && cat own.txt" }));
    assert_eq!(data(&inside)["exit_code"], 0, "{user:?} {inside}");
    let mut free = ground.run_free("cat");
    free.arg(at("outside/secret.txt"));
    assert_eq!(free.output().unwrap().stdout, b"TOP SECRET", "{user:?}");
}
