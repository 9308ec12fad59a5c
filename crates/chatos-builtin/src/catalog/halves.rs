//! Either half of a result is enough: every tool of every server is called, and what it made is looked for in the
//! text alone and in the structured part alone (tools §5). Programs that hand their model only one of them exist of
//! both kinds.
//!
//! A tool without a call here fails the test: whoever adds one says what its result has to hold.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chatos_layer::testing::{self, call};
use chatos_layer::{
    Access, BoxFuture, ConfirmUse, Reply, Root, ShellSettings, StoreHandle, SubDone, SubOrder,
    SubagentRunner, ToolSettings,
};
use chatos_store::{OpenOptions, Store};
use chatos_tool::truncate::compact_len;
use chatos_tool::{Lang, ToolError, Trace, schema};
use chatos_wire::subagent::{SubAgent, SubCommand, SubPlugin};
use serde_json::{Value, json};

use super::*;

/// A supervisor, when started as one; nothing in an ordinary run of the tests.
#[test]
fn supervisor_entry() {
    if std::env::args().any(|arg| arg == "as-supervisor") {
        chatos_shell::supervise();
    }
}

/// What success may cost beside `data`, in bytes.
const ENVELOPE_BYTES: usize = 60;

/// A server in a place of its own, and which of its tools were called.
struct Walk {
    dir: tempfile::TempDir,
    bench: testing::Bench,
    server: Arc<Server>,
    definitions: Vec<Value>,
    called: BTreeSet<String>,
}

fn store(dir: &std::path::Path) -> Store {
    Store::open(OpenOptions {
        path: dir.join("state.db"),
        backups: dir.join("backups"),
        migrate: true,
        wal: true,
        used: false,
        check: false,
    })
    .unwrap()
}

impl Walk {
    fn new(name: &str) -> Self {
        let shell = ShellSettings { confirm: ConfirmUse::Never, ..ShellSettings::default() };
        Self::with(name, ToolSettings { confirm_file_changes: false, shell, ..ToolSettings::default() })
    }

    fn with(name: &str, settings: ToolSettings) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["root/sub", "state", "home"] {
            std::fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        let path = std::env::vars().find(|(name, _)| name == "PATH").map(|(_, value)| value).unwrap();
        let home = dir.path().join("home").display().to_string();
        let variables = [("PATH", path), ("HOME", home), ("SHELL", "/bin/sh".to_owned())];
        let env = ServerEnv {
            state_dir: Some(dir.path().join("state")),
            write: true,
            store: StoreHandle::open(store(dir.path())),
            variables: Arc::new(variables.map(|(name, value)| (name.to_owned(), value)).into()),
            subagents: Some(Arc::new(Agents)),
            ..ServerEnv::default()
        };
        // A supervisor is this test program again.
        let entry = [
            "/proc/self/exe",
            "catalog::halves::supervisor_entry",
            "as-supervisor",
            "--exact",
            "--nocapture",
        ];
        let launcher = entry.iter().map(OsString::from).collect();
        let home = ShellHome { launcher, ..ShellHome::of(&env) };
        let server = match name {
            "shell_tasks" => shell::server(&home),
            "lsp_bridge" => lsp::server_with(&env, &home),
            _ => find_server(name, &env).unwrap(),
        };
        let definitions = server.definitions(&Access::All, Lang::En);
        let bench = testing::bench(ToolSettings { lang: Lang::En, ..settings }, None);
        Self { dir, bench, server: Arc::new(server), definitions, called: BTreeSet::new() }
    }

    fn has(&self, tool: &str) -> bool {
        self.server.tool_names().any(|name| name == tool)
    }

    fn write(&self, name: &str, content: &str) {
        std::fs::write(self.dir.path().join("root").join(name), content).unwrap();
    }

    /// Starts a call; the answer comes with [`Walk::ended`].
    fn start(&self, tool: &str, arguments: Value) -> tokio::task::JoinHandle<Reply> {
        let mut request = call(tool, arguments);
        request.root = Some(Arc::new(Root::open(&self.dir.path().join("root")).unwrap()));
        let (layer, server) = (Arc::clone(&self.bench.layer), Arc::clone(&self.server));
        tokio::spawn(async move { layer.call(&server, request).await.unwrap() })
    }

    /// The result of a call that succeeded; it fits what the tool published, and costs what it may.
    async fn ended(&mut self, tool: &str, call: tokio::task::JoinHandle<Reply>) -> Halves {
        let Reply::Done(envelope) = call.await.unwrap() else { panic!("{tool}: no envelope") };
        let result = envelope.result();
        let structured = result["structuredContent"].clone();
        assert!(matches!(structured["status"].as_str(), Some("ok" | "noop")), "{tool}: {result:#}");
        let definition = self.definitions.iter().find(|definition| definition["name"] == tool).unwrap();
        let wrong = schema::mismatches(&definition["outputSchema"], &structured);
        assert_eq!(wrong, Vec::<String>::new(), "{tool}: {structured:#}");
        let beside = compact_len(&structured) - compact_len(&structured["data"]);
        assert!(beside <= ENVELOPE_BYTES, "{tool}: {beside} bytes of envelope: {structured:#}");
        let chatos = &result["_meta"]["chatos"];
        assert_eq!((&chatos["server"], &chatos["tool"]), (&json!(self.server.info().name), &json!(tool)));
        self.called.insert(tool.to_owned());
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        Halves {
            tool: tool.to_owned(),
            text,
            data: structured["data"].clone(),
            structured: structured.to_string(),
        }
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> Halves {
        let call = self.start(tool, arguments);
        self.ended(tool, call).await
    }

    /// Every tool was called.
    fn done(self) {
        let left: Vec<&str> = self.server.tool_names().filter(|tool| !self.called.contains(*tool)).collect();
        assert_eq!(
            left,
            Vec::<&str>::new(),
            "{}: no call here looks at their results",
            self.server.info().name
        );
    }
}

/// A result as two kinds of clients see it.
struct Halves {
    tool: String,
    text: String,
    data: Value,
    structured: String,
}

impl Halves {
    /// Each half holds all of these.
    #[track_caller]
    fn hold(&self, marks: &[&str]) {
        for mark in marks {
            assert!(
                !mark.is_empty() && self.text.contains(mark),
                "{}: {mark} is not in the text: {}",
                self.tool,
                self.text
            );
            assert!(self.structured.contains(mark), "{}: {mark} is not in {}", self.tool, self.structured);
        }
    }

    /// Each half holds what the structured one has at a place.
    #[track_caller]
    fn holds_value_of(&self, pointer: &str) {
        let value = self
            .data
            .pointer(pointer)
            .unwrap_or_else(|| panic!("{}: no {pointer}: {}", self.tool, self.data));
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        self.hold(&[&value]);
    }
}

async fn files(walk: &mut Walk) {
    walk.write("notes.txt", "alpha\nneedle INSIDE-THE-FILE\nomega\n");
    walk.write("mark-of-a-name.txt", "x\n");
    walk.call("list_directory", json!({})).await.hold(&["mark-of-a-name.txt"]);
    walk.call("find_files", json!({"pattern": "*.txt"})).await.hold(&["mark-of-a-name.txt"]);
    walk.call("search_text", json!({"query": "needle"})).await.hold(&["INSIDE-THE-FILE"]);
    let read = walk.call("read_file", json!({"path": "notes.txt"})).await;
    read.hold(&["INSIDE-THE-FILE"]);
    read.holds_value_of("/sha256");
    walk.call("stat_path", json!({"path": "notes.txt"})).await.holds_value_of("/sha256");
    if walk.has("read_file_raw") {
        let raw = walk.call("read_file_raw", json!({"path": "notes.txt"})).await;
        raw.hold(&["INSIDE-THE-FILE"]);
        assert_eq!(raw.data["text"], "alpha\nneedle INSIDE-THE-FILE\nomega\n", "and nothing else");
        let range = json!({"path": "notes.txt", "start_line": 2, "end_line": 2});
        let range = walk.call("read_file_range", range).await;
        range.hold(&["INSIDE-THE-FILE"]);
        range.holds_value_of("/sha256");
        assert_eq!(range.data["text"], "needle INSIDE-THE-FILE\n");
    }
    if !walk.has("write_file") {
        return;
    }
    for (tool, arguments, place) in [
        ("write_file", json!({"path": "new.txt", "contents": "one\n"}), "/sha256"),
        ("edit_file", json!({"path": "new.txt", "old_string": "one", "new_string": "two"}), "/sha256"),
        (
            "apply_patch",
            json!({"patch": "--- a/new.txt\n+++ b/new.txt\n@@ -1 +1 @@\n-two\n+three\n"}),
            "/files/0/sha256",
        ),
    ] {
        let changed = walk.call(tool, arguments).await;
        changed.hold(&["new.txt"]);
        changed.holds_value_of(place);
    }
    if walk.has("copy_path") {
        walk.call("copy_path", json!({"from": "new.txt", "to": "sub/copied.txt"}))
            .await
            .hold(&["sub/copied.txt"]);
        walk.call("move_path", json!({"from": "sub/copied.txt", "to": "moved.txt"}))
            .await
            .hold(&["moved.txt"]);
    }
    for number in 0..37 {
        walk.write(&format!("sub/f{number}"), "");
    }
    let deleted = walk.call("delete_path", json!({"path": "sub"})).await;
    deleted.hold(&["sub"]);
    deleted.holds_value_of("/files");
}

async fn journal(walk: &mut Walk) {
    let entry = json!({"title": "TITLE-OF-IT", "summary": "SUMMARY-OF-IT", "details": "needle DETAILS-OF-IT",
                       "files": ["src/of-it.rs"], "next_steps": ["NEXT-OF-IT"]});
    let added = walk.call("add_exec_log", entry).await;
    added.hold(&["TITLE-OF-IT"]);
    added.holds_value_of("/entry/id");
    let id = added.data["entry"]["id"].clone();
    for (tool, arguments) in [("list_exec_logs", json!({})), ("search_exec_logs", json!({"query": "needle"}))]
    {
        walk.call(tool, arguments).await.hold(&["TITLE-OF-IT", "SUMMARY-OF-IT", id.as_str().unwrap()]);
    }
    let whole = walk.call("get_exec_log", json!({ "id": id })).await;
    whole.hold(&["SUMMARY-OF-IT", "DETAILS-OF-IT", "src/of-it.rs", "NEXT-OF-IT"]);
    let iteration = json!({"title": "ITERATION-OF-IT", "summary": "GAIN-OF-IT"});
    walk.call("add_project_iteration", iteration).await.holds_value_of("/iteration/id");
    let set = walk
        .call("set_project_info", json!({"notes": "NOTES-OF-IT", "git_url": "https://e.org/of-it"}))
        .await;
    set.hold(&["NOTES-OF-IT", "https://e.org/of-it"]);
    let known = walk.call("get_project_info", json!({})).await;
    known.hold(&["NOTES-OF-IT", "ITERATION-OF-IT", "GAIN-OF-IT"]);
}

async fn tasks(walk: &mut Walk) {
    let added = walk.call("add_task", json!({"title": "TITLE-OF-IT", "details": "DETAILS-OF-IT"})).await;
    added.hold(&["TITLE-OF-IT"]);
    added.holds_value_of("/created/0/id");
    let id = added.data["created"][0]["id"].as_str().unwrap().to_owned();
    walk.call("list_tasks", json!({})).await.hold(&["TITLE-OF-IT", &id]);
    walk.call("get_task", json!({ "id": id })).await.hold(&["TITLE-OF-IT", "DETAILS-OF-IT"]);
    walk.call("update_task", json!({"id": id, "append_note": "NOTE-OF-IT"})).await.hold(&["NOTE-OF-IT", &id]);
    walk.call("complete_task", json!({"id": id, "note": "DONE-OF-IT"})).await.hold(&["DONE-OF-IT", &id]);
    walk.call("delete_task", json!({"id": id, "confirm": true})).await.hold(&[&id]);
    let many: Vec<Value> = (0..37).map(|n| json!({"title": format!("t{n}"), "status": "done"})).collect();
    walk.call("add_task", json!({ "tasks": many })).await;
    walk.call("clear_tasks", json!({})).await.hold(&["37"]);
}

/// Calls until what a program prints is there.
async fn shown(walk: &mut Walk, tool: &str, arguments: Value, mark: &str) -> Halves {
    let began = Instant::now();
    loop {
        let seen = walk.call(tool, arguments.clone()).await;
        if seen.text.contains(mark) {
            return seen;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{tool}: {mark} did not come: {}", seen.text);
    }
}

async fn commands(walk: &mut Walk) {
    walk.write("mark-of-a-name.txt", "");
    walk.call("list_workspace_files", json!({})).await.hold(&["mark-of-a-name.txt"]);
    // The commands themselves do not hold what they print.
    let command = "printf 'OUT-%s\\n' SIDE; printf 'ERR-%s\\n' SIDE >&2; exit 37";
    walk.call("run_shell_command", json!({ "command": command })).await.hold(&["OUT-SIDE", "ERR-SIDE", "37"]);
    let command = "printf 'OUT-%s\\n' SIDE; exec cat";
    let run = json!({"command": command, "session": "talk", "preview_wait_ms": 5000, "pty": false});
    // Asked for again while it runs, it is the same session with what it has printed by now.
    shown(walk, "session_run", run, "OUT-SIDE").await.hold(&["talk", "OUT-SIDE"]);
    let list = walk.call("session_list", json!({})).await;
    list.hold(&["talk", "exec cat"]);
    list.holds_value_of("/sessions/0/pid");
    let typed = "x".repeat(36);
    walk.call("session_send_input", json!({"session": "talk", "data": typed, "enter": true}))
        .await
        .hold(&["37"]);
    let capture = json!({"session": "talk", "wait_ms": 200});
    shown(walk, "session_capture_output", capture, &typed).await.hold(&["OUT-SIDE", &typed]);
    walk.call("session_send_signal", json!({"session": "talk"})).await.hold(&["SIGTERM", "talk"]);
    let killed = walk.call("session_kill", json!({"session": "talk"})).await;
    killed.hold(&["talk"]);
    killed.holds_value_of(if killed.data["signal"].is_null() { "/exitCode" } else { "/signal" });
}

async fn questions(walk: &mut Walk) {
    for (tool, arguments, answer) in [
        (
            "prompt_choices",
            json!({"options": [{"value": "a"}, {"value": "CHOSEN-ONE"}]}),
            json!({"status": "ok", "selection": "CHOSEN-ONE", "remark": "REMARK-ON-IT"}),
        ),
        (
            "prompt_key_values",
            json!({"fields": [{"key": "host"}]}),
            json!({"status": "ok", "values": {"host": "CHOSEN-ONE"}, "remark": "REMARK-ON-IT"}),
        ),
    ] {
        let call = walk.start(tool, arguments);
        let (id, _) = walk.bench.queue.asked().await;
        walk.bench.queue.reply(&id, answer, "person:ui", None);
        walk.ended(tool, call).await.hold(&["CHOSEN-ONE", "REMARK-ON-IT", id.as_str()]);
    }
}

async fn code(walk: &mut Walk) {
    let root = std::fs::canonicalize(walk.dir.path().join("root")).unwrap();
    walk.write("fixture.mjs", include_str!("../../../chatos-lsp/tests/bridge/fixture.mjs"));
    walk.write("one.fk", "alpha MARK \nis BAD MARK\n");
    let own = json!({ "servers": { "fake": {
        "command": "node", "args": [root.join("fixture.mjs"), "good"], "fileExtensions": ["fk"],
    } } });
    std::fs::write(walk.dir.path().join("state/lsp-servers.json"), own.to_string()).unwrap();
    walk.call("list_lsp_servers", json!({})).await.hold(&["fake", "rust_analyzer", "mts"]);
    walk.call("start_lsp_server", json!({"server_id": "fake"})).await.hold(&["fake"]);
    let spot = json!({"path": "one.fk", "line": 1, "symbol": "MARK"});
    walk.call("lsp_hover", spot.clone()).await.hold(&["**MARK**"]);
    walk.call("lsp_definition", spot.clone()).await.hold(&["alpha MARK"]);
    walk.call("lsp_references", spot.clone()).await.hold(&["alpha MARK", "is BAD MARK"]);
    walk.call("lsp_completion", spot.clone()).await.hold(&["fn beta()", "alpha"]);
    walk.call("lsp_document_symbols", json!({"path": "one.fk"})).await.hold(&["outer", "inner"]);
    let query = json!({"query": "QUERY-OF-IT", "server_id": "fake"});
    walk.call("lsp_workspace_symbols", query).await.hold(&["QUERY-OF-IT", "one.fk"]);
    walk.call("lsp_call_hierarchy", spot.clone()).await.hold(&["caller", "one.fk"]);
    walk.call("lsp_get_diagnostics", json!({"path": "one.fk"})).await.hold(&["bad word in line 2", "E1"]);
    let actions = walk.call("lsp_code_actions", json!({"path": "one.fk", "line": 2})).await;
    actions.hold(&["Fix the bad word", "quickfix"]);
    let mut rename = spot;
    rename["new_name"] = json!("NEW-NAME");
    let shown = walk.call("lsp_rename", rename).await;
    shown.hold(&["alpha NEW-NAME"]);
    shown.holds_value_of("/result/files/0/sha256");
    walk.call("lsp_format_document", json!({"path": "one.fk", "apply": true})).await.hold(&["alpha MARK"]);
    walk.call("stop_lsp_server", json!({"server_id": "fake"})).await.hold(&["fake"]);
}

/// Subagents of a host that is not there.
struct Agents;

impl SubagentRunner for Agents {
    fn catalogue(&self, _: &Trace) -> BoxFuture<'_, Result<Vec<SubPlugin>, ToolError>> {
        let agent = SubAgent {
            id: "digger".to_owned(),
            name: "Digger".to_owned(),
            description: "digs up words, DESCRIPTION-OF-IT".to_owned(),
            system: "INSTRUCTIONS-OF-IT".to_owned(),
            skills: vec!["SKILL-OF-IT".to_owned()],
            ..SubAgent::default()
        };
        let command = SubCommand { id: "COMMAND-OF-IT".to_owned(), ..SubCommand::default() };
        let plugin = SubPlugin {
            id: "tools".to_owned(),
            enabled: true,
            agents: vec![agent],
            commands: vec![command],
            ..SubPlugin::default()
        };
        Box::pin(async { Ok(vec![plugin]) })
    }

    fn run(
        &self,
        _: SubOrder,
        _: Trace,
        _: String,
        _: tokio::sync::mpsc::UnboundedSender<Value>,
    ) -> BoxFuture<'_, Result<SubDone, ToolError>> {
        let response = "REPORT-OF-IT".to_owned();
        let done = SubDone { data: json!({ "response": response }), response, failed: None };
        Box::pin(async { Ok(done) })
    }

    fn prefer(&self, _: String, _: Vec<(String, String)>, _: Trace) -> BoxFuture<'_, Option<(String, f64)>> {
        Box::pin(async { None })
    }

    fn start(&self, _: SubOrder, _: Trace, _: String) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async { Ok(json!({"job_id": "JOB-OF-IT", "status": "pending"})) })
    }

    fn status(&self, job_id: String, _: u64) -> BoxFuture<'_, Result<Value, ToolError>> {
        let result = json!({ "response": "REPORT-OF-IT" });
        Box::pin(async move { Ok(json!({"job_id": job_id, "status": "done", "result": result})) })
    }

    fn cancel(&self, job_id: String) -> BoxFuture<'_, Result<(Value, bool), ToolError>> {
        Box::pin(async move { Ok((json!({"job_id": job_id, "status": "canceled"}), false)) })
    }
}

async fn agents(walk: &mut Walk) {
    let shown = walk.call("get_sub_agent", json!({"agent_id": "digger"})).await;
    shown.hold(&["DESCRIPTION-OF-IT", "SKILL-OF-IT", "COMMAND-OF-IT", "INSTRUCTIONS-OF-IT"]);
    let task = json!({"task": "dig up words"});
    walk.call("suggest_sub_agent", task.clone()).await.hold(&["digger"]);
    walk.call("run_sub_agent", task.clone()).await.hold(&["REPORT-OF-IT"]);
    walk.call("start_sub_agent_async", task).await.hold(&["JOB-OF-IT"]);
    walk.call("get_sub_agent_status", json!({"job_id": "j"})).await.hold(&["done", "REPORT-OF-IT"]);
    walk.call("cancel_sub_agent_job", json!({"job_id": "j"})).await.hold(&["canceled"]);
}

#[tokio::test]
async fn either_half_of_every_result_is_enough() {
    for name in server_names() {
        let mut walk = Walk::new(name);
        match name {
            "code_maintainer" | "code_writer" | "project_files" => files(&mut walk).await,
            "lsp_bridge" => code(&mut walk).await,
            "project_journal" => journal(&mut walk).await,
            "shell_tasks" => commands(&mut walk).await,
            "subagent_router" => agents(&mut walk).await,
            "task_manager" => tasks(&mut walk).await,
            "ui_prompter" => questions(&mut walk).await,
            other => panic!("`{other}` is new: say what its results have to hold"),
        }
        walk.done();
    }
}

#[tokio::test]
async fn a_remark_on_a_yes_is_in_either_half() {
    let mut walk = Walk::with("code_writer", ToolSettings::default());
    let call = walk.start("write_file", json!({"path": "a.txt", "contents": "x"}));
    let (id, _) = walk.bench.queue.asked().await;
    walk.bench.queue.reply(&id, json!({"status": "ok", "remark": "REMARK-ON-IT"}), "person:ui", None);
    let done = walk.ended("write_file", call).await;
    done.hold(&["REMARK-ON-IT"]);
    assert_eq!((&done.data["remark"], &done.data["confirmed"]), (&json!("REMARK-ON-IT"), &json!(true)));
}

/// What is cut is cut in both halves, and both say how to go on.
#[tokio::test]
async fn a_long_file_is_cut_alike_in_either_half() {
    let text = chatos_tool::TextLimits { result_chars: 8_000, line_chars: 200 };
    let mut walk = Walk::with("code_maintainer", ToolSettings { text, ..ToolSettings::default() });
    walk.write("long.txt", &"a line of text\n".repeat(10_000));
    walk.write("wide.txt", &"wide ".repeat(1_000));
    for (tool, path, next) in [
        ("read_file", "long.txt", "start_line="),
        ("read_file_range", "long.txt", "start_line="),
        ("read_file_raw", "long.txt", "offset="),
        ("read_file", "wide.txt", "…(+"),
        ("read_file_raw", "wide.txt", "…(+"),
    ] {
        let mut arguments = json!({ "path": path });
        if tool == "read_file_range" {
            (arguments["start_line"], arguments["end_line"]) = (json!(1), json!(10_000));
        }
        let read = walk.call(tool, arguments).await;
        read.hold(&[next]);
        let shown = read.data["text"].as_str().unwrap();
        assert!(shown.chars().count() <= 8_000 && read.text.contains(shown), "{tool} {path}: {shown}");
    }
}
