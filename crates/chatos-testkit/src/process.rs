//! The real `chatos` program, run in a home directory of its own.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::wait::eventually;
use crate::wire::{Answer, Wire};

/// Nothing a test waits for takes this long on a healthy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A home with nothing in it, and the program to run there.
pub struct Sandbox {
    program: PathBuf,
    root: tempfile::TempDir,
    state: PathBuf,
    variables: Vec<(String, String)>,
}

/// How a command ended.
#[derive(Debug)]
pub struct Outcome {
    /// Exit status; -1 for a signal.
    pub status: i32,
    /// All of stdout.
    pub stdout: String,
    /// All of stderr.
    pub stderr: String,
}

impl Outcome {
    /// Stdout as the one JSON value it must be.
    pub fn json(&self) -> Value {
        match serde_json::from_str(self.stdout.trim()) {
            Ok(value) => value,
            Err(error) => panic!("not one JSON value ({error}): {self:?}"),
        }
    }

    /// `error.code` of a failed `--json` command.
    pub fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }
}

impl Sandbox {
    /// A fresh home. `program` is `env!("CARGO_BIN_EXE_chatos")` of the calling test.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        let root = match tempfile::Builder::new().prefix("chatos-test-").tempdir() {
            Ok(root) => root,
            Err(error) => panic!("no temporary directory: {error}"),
        };
        make_dir(&root.path().join("home"), 0o700);
        make_dir(&root.path().join("bin"), 0o755);
        let state = root.path().join("state");
        Self { program: program.into(), root, state, variables: Vec::new() }
    }

    /// The directory everything of this sandbox lies in.
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// `HOME`.
    pub fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// The state directory commands get.
    pub fn state(&self) -> &Path {
        &self.state
    }

    /// The program.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Uses another state directory from now on.
    pub fn set_state(&mut self, state: impl Into<PathBuf>) {
        self.state = state.into();
    }

    /// Sets a variable for all later commands.
    pub fn set_variable(&mut self, name: &str, value: impl Into<String>) {
        self.variables.push((name.to_owned(), value.into()));
    }

    /// A command of the program without `--state-dir`, with a clean environment.
    pub fn bare<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let mut command = child(&self.program);
        self.dress(&mut command);
        command.args(args);
        command
    }

    /// A command of the program on this sandbox's state.
    pub fn command<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let mut command = self.bare(args);
        command.arg("--state-dir").arg(&self.state);
        command
    }

    /// A command under another program that changes its surroundings, e.g. `unshare -m sh -c …`.
    pub fn under(&self, outer: &str) -> Command {
        let mut command = child(outer);
        self.dress(&mut command);
        // The outer program is a system one; ChatOS itself must not find more than this.
        command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        command
    }

    fn dress(&self, command: &mut Command) {
        command
            .env_clear()
            .env("HOME", self.home())
            // An empty folder: no Node, no opener, nothing of the machine.
            .env("PATH", self.root.path().join("bin"))
            .env("LANG", "C.UTF-8")
            // Machines that run tests are slow; what is under test is seldom this wait.
            .env("CHATOS_SET_MCP_FIRST_WAIT_MS", "15000")
            .current_dir(self.root.path())
            .stdin(Stdio::null());
        for (name, value) in &self.variables {
            command.env(name, value);
        }
    }

    /// Runs a command to its end.
    pub fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> Outcome {
        outcome(self.command(args))
    }

    /// Runs a command to its end as a person in another terminal does: nobody here started it.
    pub fn run_elsewhere<S: AsRef<OsStr>>(&self, args: &[S], stdin: &str) -> Outcome {
        let Ok(place) = tempfile::Builder::new().prefix("elsewhere-").tempdir_in(self.root()) else {
            panic!("no temporary directory");
        };
        let file = |name: &str| place.path().join(name);
        if let Err(error) = std::fs::write(file("in"), stdin) {
            panic!("no input: {error}");
        }
        let mut command = self.under("sh");
        // The shell that is started ends at once, so what it leaves belongs to nobody.
        let script = "place=$1; shift; { \"$@\" <$place/in >$place/out 2>$place/err; echo $? >$place/ended; mv $place/ended $place/status; } &";
        command.args(["-c", script, "sh"]).arg(place.path()).arg(&self.program).args(args);
        command.arg("--state-dir").arg(&self.state).stdout(Stdio::null()).stderr(Stdio::null());
        if let Err(error) = spawn(command).wait() {
            panic!("the shell: {error}");
        }
        let status = eventually("the end of a command elsewhere", || {
            std::fs::read_to_string(file("status")).ok()?.trim().parse().ok()
        });
        let text = |name: &str| std::fs::read_to_string(file(name)).unwrap_or_default();
        Outcome { status, stdout: text("out"), stderr: text("err") }
    }

    /// Runs a prepared command to its end.
    pub fn run_command(&self, command: Command) -> Outcome {
        outcome(command)
    }

    /// Starts `chatos serve` on any free port and waits until it is ready.
    pub fn serve(&self) -> RunningHost {
        self.serve_with(&[])
    }

    /// As [`Sandbox::serve`], with further flags.
    pub fn serve_with(&self, more: &[&str]) -> RunningHost {
        match self.try_serve(more) {
            Ok(host) => host,
            Err(outcome) => panic!("the host did not start: {outcome:?}"),
        }
    }

    /// Starts a host, or tells how it ended.
    pub fn try_serve(&self, more: &[&str]) -> Result<RunningHost, Outcome> {
        let mut args = vec!["serve", "--no-open", "--ready-json"];
        if !more.contains(&"--port") {
            args.extend(["--port", "0"]);
        }
        args.extend(more);
        RunningHost::start(self.command(&args))
    }
}

/// A running host, killed when dropped.
pub struct RunningHost {
    process: Child,
    /// What `--ready-json` said.
    pub ready: Value,
    /// Where it listens.
    pub port: u16,
    /// Its API token.
    pub token: String,
}

impl RunningHost {
    /// Starts a prepared `serve --ready-json` command and waits for its line.
    pub fn start(mut command: Command) -> Result<Self, Outcome> {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = spawn(command);
        let mut line = String::new();
        if let Some(out) = process.stdout.take() {
            let mut reader = BufReader::new(out);
            let read = reader.read_line(&mut line);
            assert!(read.is_ok(), "cannot read from the host: {read:?}");
            // What it says later is read and dropped, so that it never waits for us.
            std::thread::spawn(move || std::io::copy(&mut reader, &mut std::io::sink()).ok());
        }
        let ready: Value = serde_json::from_str(line.trim()).unwrap_or(Value::Null);
        let port = ready["port"].as_u64().and_then(|port| u16::try_from(port).ok());
        let Some(port) = port else {
            // A line that is neither readiness nor an error: it serves and says so to people.
            if !line.is_empty() && ready["error"].is_null() {
                process.kill().ok();
            }
            let mut stderr = String::new();
            if let Some(mut err) = process.stderr.take() {
                err.read_to_string(&mut stderr).ok();
            }
            let status = wait(&mut process).code().unwrap_or(-1);
            return Err(Outcome { status, stdout: line, stderr });
        };
        if let Some(mut err) = process.stderr.take() {
            std::thread::spawn(move || std::io::copy(&mut err, &mut std::io::sink()).ok());
        }
        let token = ready["token"].as_str().unwrap_or_default().to_owned();
        Ok(Self { process, ready, port, token })
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Kills it the hard way and waits until it is gone.
    pub fn kill(mut self) {
        self.process.kill().ok();
        wait(&mut self.process);
    }

    /// Sends a signal without waiting.
    pub fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid {
            kill_process(pid, signal).ok();
        }
    }

    /// Asks it to stop, as Ctrl-C does, and waits for the end.
    pub fn stop(mut self) -> ExitStatus {
        self.signal(Signal::TERM);
        wait(&mut self.process)
    }

    /// Waits for an end that is due.
    pub fn ended(mut self) -> ExitStatus {
        wait(&mut self.process)
    }

    /// Still there?
    pub fn is_running(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(None))
    }

    /// The `Host` value of a request.
    pub fn authority(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// A connection to it.
    pub fn connect(&self) -> Wire {
        match Wire::open(self.port) {
            Ok(wire) => wire,
            Err(error) => panic!("cannot connect to the host: {error}"),
        }
    }

    /// One request with the token on a connection of its own.
    pub fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Answer {
        match self.try_ask(method, path, body) {
            Ok(answer) => answer,
            Err(error) => panic!("{method} {path}: {error}"),
        }
    }

    /// As [`RunningHost::ask`], for a host that may die meanwhile.
    pub fn try_ask(&self, method: &str, path: &str, body: Option<&Value>) -> std::io::Result<Answer> {
        Wire::open(self.port)?.ask(&self.token, method, path, body)
    }
}

impl Drop for RunningHost {
    fn drop(&mut self) {
        // Both fail harmlessly when it has ended already.
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

/// A command; tests own and reap what they start.
#[expect(clippy::disallowed_methods, reason = "the one place where tests start processes")]
pub fn child(program: impl AsRef<OsStr>) -> Command {
    Command::new(program)
}

/// Makes a directory with exactly this mode.
pub fn make_dir(path: &Path, mode: u32) {
    let made = std::fs::DirBuilder::new().recursive(true).mode(mode).create(path);
    assert!(made.is_ok(), "cannot make {}: {made:?}", path.display());
}

pub(crate) fn spawn(mut command: Command) -> Child {
    match command.spawn() {
        Ok(process) => process,
        Err(error) => panic!("cannot start {command:?}: {error}"),
    }
}

fn outcome(mut command: Command) -> Outcome {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    match spawn(command).wait_with_output() {
        Ok(output) => Outcome {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        },
        Err(error) => panic!("cannot wait for a command: {error}"),
    }
}

pub(crate) fn wait(process: &mut Child) -> ExitStatus {
    let started = Instant::now();
    loop {
        match process.try_wait() {
            Ok(Some(status)) => return status,
            Ok(None) if started.elapsed() < PATIENCE => std::thread::sleep(Duration::from_millis(2)),
            Ok(None) => panic!("process {} does not end", process.id()),
            Err(error) => panic!("cannot wait for process {}: {error}", process.id()),
        }
    }
}
