//! What the tests share: the fixture as an endpoint, a pool around it, and what is left behind.

use std::ffi::OsString;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chatos_mcp::{
    CallError, CallOutcome, CallRequest, CommandLine, Endpoint, Hooks, Launcher, LogLine, NoHooks, Offers,
    Pool, PoolOptions, Restarts, ServerKey, ServerSpec, Spawning, Times, ToolResult,
};
use serde_json::{Map, Value};

/// Nothing a test waits for takes this long on a healthy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) const FIXTURE: &str = env!("CARGO_BIN_EXE_mcp-fixture");

pub(crate) fn words(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

/// A program with only a `PATH`.
pub(crate) fn command(program: &str, arguments: &[&str]) -> Endpoint {
    let path = std::env::var_os("PATH").unwrap_or_default();
    Endpoint::Command(CommandLine {
        program: program.into(),
        arguments: words(arguments),
        directory: None,
        environment: vec![("PATH".into(), path)],
    })
}

/// The misbehaving server.
pub(crate) fn fixture(switches: &[&str]) -> Endpoint {
    let mut arguments = vec!["serve"];
    arguments.extend(switches);
    command(FIXTURE, &arguments)
}

/// Times that let a test see a time-out; a slow machine still gets its work done within them.
pub(crate) fn times() -> Times {
    Times { probe: Duration::from_millis(500), ..Times::default() }
}

pub(crate) fn launcher() -> Launcher {
    Launcher { program: FIXTURE.into(), arguments: words(&["launch"]) }
}

pub(crate) fn options(hooks: Arc<dyn Hooks>) -> PoolOptions {
    let mut options = PoolOptions::new(hooks);
    options.spawning = Spawning { launcher: Some(launcher()), ..Spawning::default() };
    options.restarts = Restarts { first: Duration::from_millis(20), ..Restarts::default() };
    options
}

pub(crate) fn spec(key: &str, endpoint: Endpoint) -> ServerSpec {
    ServerSpec {
        key: ServerKey::new(key),
        name: key.to_owned(),
        endpoint,
        digest: String::new(),
        offers: Offers { elicitation: true, sampling: true, roots: true, tasks: true, views: false },
        times: times(),
        idle: None,
    }
}

/// A pool with one server called `s`.
pub(crate) fn pool_of(endpoint: Endpoint) -> (Pool, ServerKey) {
    pool_with(spec("s", endpoint), Arc::new(NoHooks))
}

pub(crate) fn pool_with(spec: ServerSpec, hooks: Arc<dyn Hooks>) -> (Pool, ServerKey) {
    let pool = Pool::new(options(hooks));
    let key = spec.key.clone();
    pool.put(spec);
    (pool, key)
}

pub(crate) fn request(tool: &str, arguments: Value) -> CallRequest {
    let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap_or_default();
    CallRequest { tool: tool.to_owned(), arguments, ..CallRequest::default() }
}

pub(crate) async fn call(
    pool: &Pool,
    key: &ServerKey,
    tool: &str,
    arguments: Value,
) -> Result<ToolResult, CallError> {
    match within(pool.call(key, request(tool, arguments))).await? {
        CallOutcome::Complete(result) => Ok(result),
        other => panic!("not finished: {other:?}"),
    }
}

/// The text of a call that must succeed.
pub(crate) async fn text(pool: &Pool, key: &ServerKey, tool: &str, arguments: Value) -> String {
    match call(pool, key, tool, arguments).await {
        Ok(result) => result.text(),
        Err(error) => panic!("`{tool}` failed: {error}"),
    }
}

/// Fails the test instead of hanging it.
pub(crate) async fn within<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, work).await.expect("nothing happened for too long")
}

/// Waits until something is so.
pub(crate) async fn eventually(what: &str, mut so: impl FnMut() -> bool) {
    let end = std::time::Instant::now() + PATIENCE;
    while !so() {
        assert!(std::time::Instant::now() < end, "never: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Whether a process lives; a zombie does not.
pub(crate) fn alive(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim().chars().next());
    !matches!(state, Some('Z' | 'X') | None)
}

/// Open descriptors of this process that are not of the runtime itself.
pub(crate) fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").map(|entries| entries.count()).unwrap_or_default()
}

/// Hooks that write down what they are told.
#[derive(Default)]
pub(crate) struct Recorder {
    pub(crate) lines: Mutex<Vec<LogLine>>,
    pub(crate) changes: Mutex<usize>,
}

impl Hooks for Recorder {
    fn log(&self, _server: &ServerKey, line: LogLine) {
        self.lines.lock().unwrap().push(line);
    }

    fn tools_changed(&self, _server: &ServerKey) {
        *self.changes.lock().unwrap() += 1;
    }
}
