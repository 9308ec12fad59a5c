//! The file servers through the layer: every tool, every path trick, confirmations, and results that
//! fit their published schemas.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::{Arc, Mutex};

use chatos_files::change::FileChange;
use chatos_layer::person::{AskRequest, PromptQueue, QueueError, Reach, Verdict, Withdraw};
use chatos_layer::{
    Access, BoxFuture, CallRequest, Caller, ChangeContext, ChangeStore, FixedSettings, Layer, LayerParts,
    Nobody, Reply, Root, ToolSettings,
};
use chatos_prompts::response::Status;
use chatos_prompts::{Approval, Effect, Object, Owner, RequestId, Unasked};
use chatos_tool::{Lang, Redactor, Transport, schema};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::*;

/// A person who always says the same, and what they were asked.
struct Person {
    status: Status,
    remark: &'static str,
    /// Done between the question and the answer.
    meanwhile: Mutex<Option<Box<dyn FnOnce() + Send>>>,
    asked: Mutex<Vec<Object>>,
    effects: Mutex<Vec<Effect>>,
    wholes: Mutex<Vec<String>>,
}

impl PromptQueue for Person {
    fn reach(&self) -> BoxFuture<'_, Reach> {
        Box::pin(async { Reach::Host })
    }

    fn ask(&self, request: AskRequest) -> BoxFuture<'_, Result<RequestId, QueueError>> {
        self.effects.lock().unwrap().extend(request.effect);
        self.wholes.lock().unwrap().extend(request.whole);
        self.asked.lock().unwrap().push(request.prompt);
        Box::pin(async { Ok(RequestId::mint()) })
    }

    fn wait<'a>(&'a self, _: &'a RequestId) -> BoxFuture<'a, Result<Verdict, QueueError>> {
        if let Some(work) = self.meanwhile.lock().unwrap().take() {
            work();
        }
        let mut response = Object::new();
        response.insert("status".into(), json!(if self.status == Status::Ok { "ok" } else { "canceled" }));
        response.insert("remark".into(), json!(self.remark));
        let verdict = Verdict { status: self.status, response, by: Some("person:ui".into()), private: false };
        Box::pin(async move { Ok(verdict) })
    }

    fn verdict<'a>(&'a self, _: &'a RequestId) -> BoxFuture<'a, Result<Option<Verdict>, QueueError>> {
        Box::pin(async { Ok(None) })
    }

    fn take<'a>(
        &'a self,
        _: &'a RequestId,
        _: &'a Owner,
        _: bool,
    ) -> BoxFuture<'a, Result<Option<Object>, QueueError>> {
        Box::pin(async { Ok(None) })
    }

    fn withdraw<'a>(
        &'a self,
        _: &'a RequestId,
        _: &'a Owner,
        _: Withdraw,
    ) -> BoxFuture<'a, Result<(), QueueError>> {
        Box::pin(async { Ok(()) })
    }

    fn answer<'a>(
        &'a self,
        _: &'a RequestId,
        _: &'a Value,
        _: &'a str,
    ) -> BoxFuture<'a, Result<(), QueueError>> {
        Box::pin(async { Ok(()) })
    }

    fn use_approval<'a>(
        &'a self,
        _: &'a RequestId,
        effect: &'a Effect,
    ) -> BoxFuture<'a, Result<Approval, QueueError>> {
        let same = self.effects.lock().unwrap().last() == Some(effect);
        let used =
            if same { Ok(Approval::unasked(Unasked::NotWanted)) } else { Err(QueueError::ShownMismatch) };
        Box::pin(async { used })
    }
}

#[derive(Default)]
struct Kept(Mutex<Vec<(ChangeContext, FileChange)>>);

impl ChangeStore for Kept {
    fn record(&self, context: &ChangeContext, change: FileChange) -> Result<(), String> {
        self.0.lock().unwrap().push((context.clone(), change));
        Ok(())
    }
}

struct Bench {
    dir: tempfile::TempDir,
    layer: Layer,
    person: Arc<Person>,
    kept: Arc<Kept>,
    home: FileHome,
}

impl Bench {
    fn new(confirm: bool, status: Status) -> Self {
        let settings =
            ToolSettings { confirm_file_changes: confirm, lang: Lang::En, ..ToolSettings::default() };
        Self::with(settings, status)
    }

    fn with(settings: ToolSettings, status: Status) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["root/state", "root/src"] {
            std::fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        let person = Arc::new(Person {
            status,
            remark: "fine",
            meanwhile: Mutex::default(),
            asked: Mutex::default(),
            effects: Mutex::default(),
            wholes: Mutex::default(),
        });
        let layer = Layer::new(LayerParts {
            settings: Arc::new(FixedSettings::new(settings)),
            log: None,
            redactor: Arc::new(Redactor::new()),
            queue: person.clone(),
            observer: Arc::new(Nobody),
        });
        let kept = Arc::new(Kept::default());
        let home = FileHome {
            state_dir: Some(dir.path().join("root/state")),
            protected: Vec::new(),
            changes: Some(kept.clone()),
            write: true,
            ..FileHome::default()
        };
        Self { dir, layer, person, kept, home }
    }

    fn path(&self, rel: &str) -> std::path::PathBuf {
        self.dir.path().join("root").join(rel)
    }

    fn write(&self, rel: &str, bytes: impl AsRef<[u8]>) {
        std::fs::create_dir_all(self.path(rel).parent().unwrap()).unwrap();
        std::fs::write(self.path(rel), bytes).unwrap();
    }

    /// Calls a tool; the result must fit the schema it was published with.
    async fn call(&self, server: &Server, tool: &str, arguments: Value) -> (Value, String) {
        let root = Root::open(&self.dir.path().join("root")).unwrap();
        let mut meta = Map::new();
        meta.insert("runId".into(), json!("run-1"));
        let request = CallRequest {
            tool: tool.to_owned(),
            arguments: Some(arguments.clone()),
            meta,
            transport: Transport::InProcess,
            session: "s".into(),
            access: Arc::new(Access::All),
            caller: Caller::Main,
            root: Some(Arc::new(root)),
            cancel: CancellationToken::new(),
            closed: CancellationToken::new(),
            progress: None,
            elicitor: None,
            resume: None,
            asked: None,
            together: None,
            client: None,
            batch: None,
            approved: None,
        };
        let Reply::Done(envelope) = self.layer.call(server, request).await.unwrap() else {
            panic!("no envelope")
        };
        let mut structured = envelope.structured().unwrap();
        let definitions = server.definitions(&Access::All, Lang::En);
        let definition = definitions.iter().find(|definition| definition["name"] == tool).unwrap();
        let wrong = schema::mismatches(&definition["outputSchema"], &structured);
        assert_eq!(wrong, Vec::<String>::new(), "{tool} {arguments}: {structured:#}");
        structured["_meta"] = envelope.context();
        (structured, envelope.text.clone())
    }
}

fn code(result: &(Value, String)) -> String {
    let details = &result.0["error"]["details"];
    let detail =
        [&details["rule"], &details["kind"], &details["resource"]].into_iter().find_map(Value::as_str);
    match detail {
        Some(detail) => format!("{}/{detail}", result.0["code"].as_str().unwrap()),
        None => format!("{}:{}", result.0["status"].as_str().unwrap(), result.0["code"].as_str().unwrap()),
    }
}

#[test]
fn each_server_lists_its_tools_and_keeps_the_rules() {
    let bench = Bench::new(false, Status::Ok);
    let reads = ["find_files", "list_directory", "read_file", "search_text", "stat_path"];
    let writes = ["apply_patch", "delete_path", "edit_file", "write_file"];
    let more = ["copy_path", "move_path", "read_file_range", "read_file_raw"];
    let sorted = |groups: &[&[&'static str]]| {
        let mut all: Vec<&str> = groups.concat();
        all.sort_unstable();
        all
    };
    let names = |server: &Server| server.tool_names().collect::<Vec<_>>();
    assert_eq!(names(&project_files(&bench.home)), sorted(&[&reads]));
    assert_eq!(names(&code_writer(&bench.home)), sorted(&[&reads, &writes]));
    assert_eq!(names(&code_maintainer(&bench.home)), sorted(&[&reads, &writes, &more]));
    let closed = FileHome { write: false, ..bench.home.clone() };
    assert_eq!(names(&code_writer(&closed)), sorted(&[&reads]));
    let stateless = FileHome { state_dir: None, ..bench.home.clone() };
    assert_eq!(names(&code_writer(&stateless)), sorted(&[&reads]));
    for server in [project_files(&bench.home), code_writer(&bench.home), code_maintainer(&bench.home)] {
        assert_eq!(server.lint(), Vec::<String>::new(), "{}", server.info().name);
    }
}

#[tokio::test]
async fn reading_tools_give_the_documented_texts() {
    let bench = Bench::new(false, Status::Ok);
    bench.write("src/a.txt", "one\ntwo\nthree\n");
    let server = code_maintainer(&bench.home);
    let (read, text) = bench.call(&server, "read_file", json!({"path": "src/a.txt"})).await;
    assert!(text.starts_with("# src/a.txt (size: 14 B)\n\n     1 | one\n     2 | two\n"), "{text}");
    assert_eq!((&read["data"]["line_count"], &read["data"]["eol"]), (&json!(3), &json!("lf")));
    let (part, text) = bench.call(&server, "read_file", json!({"path": "src/a.txt", "max_lines": 1})).await;
    assert!(text.contains("[… 10 bytes, 2 lines omitted; continue with start_line=2 …]"), "{text}");
    assert_eq!(part["_meta"]["truncated"][0]["next"], json!({"start_line": 2}));
    let (_, text) = bench
        .call(&server, "read_file_range", json!({"path": "src/a.txt", "start_line": 2, "end_line": 99}))
        .await;
    assert!(text.starts_with("# src/a.txt (lines 2-3 of 3)\n\ntwo\nthree"), "{text}");
    let (_, text) = bench.call(&server, "read_file_raw", json!({"path": "src/a.txt", "offset": 4})).await;
    assert_eq!(text, "two\nthree\n");
    let (listing, text) = bench.call(&server, "list_directory", json!({"depth": 2})).await;
    assert!(text.contains("📁 src (-)") && text.contains("📄 src/a.txt (14 B)"), "{text}");
    assert!(text.contains("1 protected"), "{text}");
    assert_eq!(listing["data"]["entries"][0]["type"], "directory");
    let (_, text) = bench.call(&server, "search_text", json!({"query": "two"})).await;
    assert_eq!(text.lines().next(), Some("src/a.txt:2 two"));
    let (none, text) = bench.call(&server, "search_text", json!({"query": "nowhere"})).await;
    assert!(text.starts_with("No matches found.") && none["data"]["complete"] == true);
    let (found, _) = bench.call(&server, "find_files", json!({"pattern": "*.txt"})).await;
    assert_eq!(found["data"]["files"][0]["path"], "src/a.txt");
    let (stat, text) = bench.call(&server, "stat_path", json!({"path": "nothing"})).await;
    assert_eq!(
        (&stat["status"], &stat["data"]["exists"], text.as_str()),
        (&json!("ok"), &json!(false), "Not found: nothing")
    );
}

/// Issue 5, bad input: every trick for every tool that takes a path.
#[tokio::test]
async fn no_tool_reaches_outside_by_any_trick() {
    let bench = Bench::new(false, Status::Ok);
    bench.write("src/a.txt", "inside\n");
    bench.write("state/state.db", "secret");
    std::fs::write(bench.dir.path().join("secret"), "secret\n").unwrap();
    std::fs::create_dir(bench.dir.path().join("root-twin")).unwrap();
    symlink("../secret", bench.path("link")).unwrap();
    symlink("..", bench.path("up")).unwrap();
    symlink("../fresh", bench.path("dangling")).unwrap();
    symlink("state", bench.path("alias")).unwrap();
    let server = code_maintainer(&bench.home);
    let secret = bench.dir.path().join("secret").display().to_string();
    let twin = bench.dir.path().join("root-twin/x").display().to_string();
    let tricks = [
        ("../secret", "permission_denied/outside_root"),
        (secret.as_str(), "permission_denied/outside_root"),
        (twin.as_str(), "permission_denied/outside_root"),
        ("/proc/self/environ", "permission_denied/outside_root"),
        ("/dev/zero", "permission_denied/outside_root"),
        ("src/../../secret", "permission_denied/outside_root"),
        ("up/secret", "permission_denied/symlink_escape"),
        ("up/new", "permission_denied/symlink_escape"),
        ("state/state.db", "permission_denied/protected_path"),
        ("alias/state.db", "permission_denied/protected_path"),
        ("a\0b", "invalid:invalid_argument"),
        ("", "invalid:invalid_argument"),
    ];
    let long = "x".repeat(5000);
    for (path, expected) in tricks.into_iter().chain([(long.as_str(), "invalid:invalid_argument")]) {
        for (tool, arguments) in [
            ("list_directory", json!({"path": path})),
            ("read_file", json!({"path": path})),
            ("read_file_raw", json!({"path": path})),
            ("read_file_range", json!({"path": path, "start_line": 1, "end_line": 1})),
            ("search_text", json!({"path": path, "query": "s"})),
            ("find_files", json!({"path": path, "pattern": "*"})),
            ("stat_path", json!({"path": path})),
            ("write_file", json!({"path": path, "contents": "x"})),
            ("edit_file", json!({"path": path, "old_string": "s", "new_string": "t"})),
            ("delete_path", json!({"path": path})),
            ("apply_patch", json!({"path": path, "patch": "*** Add File: n\n+x\n"})),
            ("apply_patch", json!({"patch": format!("*** Add File: {path}\n+x\n")})),
            ("move_path", json!({"from": path, "to": "m"})),
            ("move_path", json!({"from": "src/a.txt", "to": path})),
            ("copy_path", json!({"from": path, "to": "m"})),
            ("copy_path", json!({"from": "src/a.txt", "to": path})),
        ] {
            let result = bench.call(&server, tool, arguments.clone()).await;
            let seen = code(&result);
            let fits = seen == expected || (expected.starts_with("invalid") && seen.starts_with("invalid"));
            assert!(fits, "{tool} {arguments}: {seen}, expected {expected}");
        }
    }
    for tool in ["read_file", "write_file"] {
        for path in ["link", "dangling"] {
            let result = bench.call(&server, tool, json!({"path": path, "contents": "x"})).await;
            let seen = code(&result);
            assert!(seen.contains("symlink_escape") || seen.starts_with("invalid"), "{tool} {path}: {seen}");
        }
    }
    assert_eq!(std::fs::read(bench.dir.path().join("secret")).unwrap(), b"secret\n");
    assert!(!bench.dir.path().join("fresh").exists() && !Path::new(&twin).exists());
    assert_eq!(std::fs::read(bench.path("src/a.txt")).unwrap(), b"inside\n");
    assert!(bench.kept.0.lock().unwrap().is_empty(), "nothing was changed");
}

#[tokio::test]
async fn changes_are_made_recorded_and_told() {
    let bench = Bench::new(false, Status::Ok);
    let server = code_maintainer(&bench.home);
    let (made, text) =
        bench.call(&server, "write_file", json!({"path": "n/a.js", "contents": "let a = 1;\n"})).await;
    assert!(text.starts_with("✓ Created n/a.js (11 chars)."), "{text}");
    assert_eq!((&made["data"]["created"], &made["data"]["confirmed"]), (&json!(true), &json!(false)));
    let edit = json!({"path": "n/a.js", "old_string": "a = 1", "new_string": "a = 2"});
    let (edited, text) = bench.call(&server, "edit_file", edit.clone()).await;
    assert!(text.starts_with("✓ Edited n/a.js via edit_file (1 replacement, exact)."), "{text}");
    let again = bench.call(&server, "edit_file", edit).await;
    assert_eq!(code(&again), "conflict/count_mismatch");
    let stale = json!({"path": "n/a.js", "contents": "x", "expected_sha256": made["data"]["sha256"]});
    assert_eq!(code(&bench.call(&server, "write_file", stale).await), "conflict/changed_on_disk");
    let fresh = json!({"path": "n/a.js", "contents": "x", "expected_sha256": edited["data"]["sha256"]});
    assert_eq!(code(&bench.call(&server, "write_file", fresh.clone()).await), "ok:ok");
    let same = bench.call(&server, "write_file", json!({"path": "n/a.js", "contents": "x"})).await;
    assert_eq!((code(&same), same.1.starts_with('=')), ("noop:ok".into(), true));
    let patch = "*** Begin Patch\n*** Update File: n/a.js\n@@\n-x\n+y\n*** Add File: n/b\n+b\n*** End Patch";
    let dry = bench.call(&server, "apply_patch", json!({"patch": patch, "dry_run": true})).await;
    assert_eq!((code(&dry), bench.path("n/b").exists()), ("ok:ok".into(), false));
    assert_eq!(code(&bench.call(&server, "apply_patch", json!({"patch": patch})).await), "ok:ok");
    assert_eq!(code(&bench.call(&server, "apply_patch", json!({"patch": patch})).await), "noop:ok");
    let bad = bench
        .call(
            &server,
            "apply_patch",
            json!({"patch": patch.replace("-x", "-zzz").replace("+y", "+q").replace("n/b", "n/c")}),
        )
        .await;
    assert_eq!(code(&bad), "conflict/hunk_failed");
    assert_eq!(bad.0["error"]["details"]["hunks"][0]["file"], "n/a.js");
    assert_eq!(code(&bench.call(&server, "copy_path", json!({"from": "n", "to": "m"})).await), "ok:ok");
    assert_eq!(code(&bench.call(&server, "move_path", json!({"from": "m", "to": "k/m"})).await), "ok:ok");
    assert_eq!(code(&bench.call(&server, "move_path", json!({"from": "n", "to": "./n"})).await), "noop:ok");
    assert_eq!(code(&bench.call(&server, "delete_path", json!({"path": "k"})).await), "ok:ok");
    assert_eq!(code(&bench.call(&server, "delete_path", json!({"path": "k"})).await), "noop:ok");
    assert_eq!(
        code(&bench.call(&server, "delete_path", json!({"path": "."})).await),
        "permission_denied/protected_path"
    );
    let kept = bench.kept.0.lock().unwrap();
    assert!(kept.iter().all(|(context, _)| context.run_id == "run-1" && context.server == "code_maintainer"));
    let tools: Vec<&str> = kept.iter().map(|(context, _)| context.tool).collect();
    assert_eq!(tools.iter().filter(|tool| **tool == "apply_patch").count(), 2, "{tools:?}");
    assert!(bench.person.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn payloads_are_exactly_one_and_decodable() {
    let bench = Bench::new(false, Status::Ok);
    let server = code_writer(&bench.home);
    for arguments in [
        json!({"path": "p"}),
        json!({"path": "p", "contents": "a", "contents_base64": "YQ=="}),
        json!({"path": "p", "contents_base64": "%%%"}),
        json!({"path": "p", "contents": "not base64!", "encoding": "base64"}),
        json!({"path": "p", "chunks": [{"content": "a"}, {"content": "?", "encoding": "base64"}]}),
        json!({"path": "p", "content": "a"}),
    ] {
        let result = bench.call(&server, "write_file", arguments.clone()).await;
        assert_eq!(code(&result), "invalid:invalid_argument", "{arguments}");
        assert!(!bench.path("p").exists(), "{arguments}");
    }
    for (base64, bytes) in [("_-8", vec![0xff, 0xef]), ("/+8=", vec![0xff, 0xef]), ("", Vec::new())] {
        let result = bench.call(&server, "write_file", json!({"path": "p", "contents_base64": base64})).await;
        assert!(code(&result).ends_with(":ok"), "{base64}: {}", result.1);
        assert_eq!(std::fs::read(bench.path("p")).unwrap(), bytes);
    }
}

#[tokio::test]
async fn a_person_sees_the_diff_first_and_decides() {
    let bench = Bench::new(true, Status::Ok);
    bench.write("a.txt", "one\n");
    let server = code_writer(&bench.home);
    let edit = json!({"path": "a.txt", "old_string": "one", "new_string": "two"});
    let (done, text) = bench.call(&server, "edit_file", edit.clone()).await;
    assert_eq!((&done["data"]["confirmed"], &done["data"]["remark"]), (&json!(true), &json!("fine")));
    assert!(text.contains("User remark: fine"), "{text}");
    let asked = bench.person.asked.lock().unwrap()[0].clone();
    assert_eq!((&asked["kind"], &asked["path"]), (&json!("file_change_confirm"), &json!("a.txt")));
    assert!(asked["diff"].as_str().unwrap().contains("-one\n+two"));

    let bench = Bench::new(true, Status::Canceled);
    bench.write("a.txt", "one\n");
    let server = code_writer(&bench.home);
    let refused = bench.call(&server, "edit_file", edit).await;
    assert_eq!(
        (code(&refused), &refused.0["data"]["confirmed"]),
        ("canceled:canceled".into(), &json!(false))
    );
    assert_eq!(std::fs::read(bench.path("a.txt")).unwrap(), b"one\n");
    assert!(bench.kept.0.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_file_that_changed_after_the_answer_is_not_written_and_asked_about_again() {
    let bench = Bench::new(true, Status::Ok);
    bench.write("a.txt", "one\n");
    let path = bench.path("a.txt");
    *bench.person.meanwhile.lock().unwrap() =
        Some(Box::new(move || std::fs::write(path, "theirs\n").unwrap()));
    let server = code_writer(&bench.home);
    let write = json!({"path": "a.txt", "contents": "mine\n"});
    let (done, _) = bench.call(&server, "write_file", write).await;
    assert_eq!(done["data"]["confirmed"], true);
    let asked = bench.person.asked.lock().unwrap().clone();
    assert_eq!(asked.len(), 2, "the first yes was for another change");
    assert!(asked[0]["diff"].as_str().unwrap().contains("-one"));
    assert!(asked[1]["diff"].as_str().unwrap().contains("-theirs"));
    let message = asked[1]["message"].as_str().unwrap();
    assert!(message.starts_with("a.txt changed on disk after you approved."), "{message}");
    assert_eq!(std::fs::read(bench.path("a.txt")).unwrap(), b"mine\n");

    // What cannot be done any more is not done.
    let bench = Bench::new(true, Status::Ok);
    bench.write("a.txt", "one\n");
    let path = bench.path("a.txt");
    *bench.person.meanwhile.lock().unwrap() =
        Some(Box::new(move || std::fs::write(path, "theirs\n").unwrap()));
    let server = code_writer(&bench.home);
    let edit = json!({"path": "a.txt", "old_string": "one", "new_string": "two"});
    let (refused, _) = bench.call(&server, "edit_file", edit).await;
    assert_eq!(refused["status"], "error", "{refused}");
    assert_eq!(std::fs::read(bench.path("a.txt")).unwrap(), b"theirs\n");
}

#[tokio::test]
async fn a_file_in_a_tree_that_changed_after_the_answer_is_not_deleted_with_it() {
    let bench = Bench::new(true, Status::Ok);
    bench.write("tree/a.txt", "one\n");
    let path = bench.path("tree/a.txt");
    // The same length: only looking at the file itself tells.
    *bench.person.meanwhile.lock().unwrap() = Some(Box::new(move || std::fs::write(path, "two\n").unwrap()));
    let server = code_writer(&bench.home);
    bench.call(&server, "delete_path", json!({"path": "tree", "recursive": true})).await;
    assert_eq!(bench.person.asked.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn two_long_changes_that_differ_in_their_last_byte_are_two_questions() {
    let mut shown = std::collections::BTreeSet::new();
    for last in ["1", "2"] {
        let bench = Bench::new(true, Status::Canceled);
        let server = code_writer(&bench.home);
        let contents = format!("{}{last}", "a line of a long file, with something in it\n".repeat(2_000));
        bench.call(&server, "write_file", json!({"path": "long.txt", "contents": contents})).await;
        let asked = bench.person.asked.lock().unwrap()[0].clone();
        let effect = bench.person.effects.lock().unwrap()[0].clone();
        assert!(asked["diff"].as_str().unwrap().chars().count() <= 60_000);
        let reference = &asked["diffRef"];
        assert!(reference["shownLines"].as_u64() < reference["lines"].as_u64(), "{reference}");
        let whole = bench.person.wholes.lock().unwrap()[0].clone();
        assert_eq!(reference["sha256"], json!(chatos_prompts::whole::sha256(whole.as_bytes())));
        assert!(whole.contains(&format!("+{last}\n")), "all of it is kept");
        for key in ["toolDigest", "arguments", "root", "files", "diff", "identity"] {
            assert!(!effect.material[key].is_null(), "{key}");
        }
        shown.insert(chatos_prompts::shown::digest(&asked, Some(&effect.material)));
    }
    assert_eq!(shown.len(), 2);
}

#[tokio::test]
async fn what_is_too_large_to_be_shown_is_neither_asked_nor_done() {
    let mut settings = ToolSettings { confirm_file_changes: true, lang: Lang::En, ..ToolSettings::default() };
    settings.files.max_write_bytes = 100 << 20;
    let bench = Bench::with(settings, Status::Ok);
    let server = code_writer(&bench.home);
    let contents = "0123456789abcde\n".repeat((17 << 20) / 16);
    let result = bench.call(&server, "write_file", json!({"path": "huge.txt", "contents": contents})).await;
    assert_eq!(code(&result), "resource_exhausted/output", "{}", result.1);
    assert!(result.1.contains("too_large"), "{}", result.1);
    for n in 0..2_001 {
        bench.write(&format!("many/{n}"), "");
    }
    let result = bench.call(&server, "delete_path", json!({"path": "many", "recursive": true})).await;
    assert_eq!(code(&result), "resource_exhausted/entries", "{}", result.1);
    assert!(bench.person.asked.lock().unwrap().is_empty(), "nothing was asked");
    assert!(!bench.path("huge.txt").exists() && bench.path("many/2000").exists(), "nothing was done");
}

#[tokio::test]
async fn content_that_cannot_be_shown_is_named_with_its_digests() {
    let bench = Bench::new(true, Status::Canceled);
    bench.write("a.bin", [0, 1, 2, 3]);
    let server = code_writer(&bench.home);
    let write = json!({"path": "a.bin", "contents": "text now\n"});
    bench.call(&server, "write_file", write).await;
    let asked = bench.person.asked.lock().unwrap()[0].clone();
    let hidden = &asked["diffRef"]["hidden"][0];
    assert_eq!((&hidden["path"], &hidden["type"]), (&json!("a.bin"), &json!("binary")), "{asked:?}");
    assert!(hidden["before"].as_str().unwrap().len() == 64 && hidden["after"].as_str().unwrap().len() == 64);
}

#[tokio::test]
async fn sensitive_paths_ask_even_with_confirmations_off() {
    let bench = Bench::new(false, Status::Canceled);
    let server = code_writer(&bench.home);
    for path in [".git/hooks/pre-commit", ".bashrc", ".mcp.json", "home/.ssh/authorized_keys"] {
        let result = bench.call(&server, "write_file", json!({"path": path, "contents": "x"})).await;
        assert_eq!(code(&result), "canceled:canceled", "{path}");
        assert!(!bench.path(path).exists());
    }
    assert_eq!(bench.person.asked.lock().unwrap().len(), 4);
}
