//! One fixture server with a tool per way a call can end.

use std::collections::BTreeSet;

use chatos_tool::{Annotations, Confirm, LogRules, Resource, Status, TextLimits, ToolSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::server::ServerInfo;
use crate::testing::{Bench, bench, call};
use crate::tool::{Body, NeedsInput, Outcome, Tool};

static INFO: ServerInfo = ServerInfo {
    name: "fixture",
    id: "00000000-0000-4000-8000-000000000000",
    title: Text::fixed("Fixture", "测试"),
    instructions: Text::fixed("For tests.", "用于测试。"),
    needs_root: true,
    slots: 1,
    waits_hold_slot: false,
};

static SPEC: ToolSpec = ToolSpec {
    name: "do_it",
    title: Text::fixed("Do it", "执行"),
    description: Text::fixed("Ends in the way it is told to.", "按要求的方式结束。"),
    annotations: Annotations::of("R"),
    confirm: Confirm::None,
    version: 1,
};

#[derive(Debug, Deserialize, JsonSchema)]
struct Args {
    /// How to end
    #[schemars(length(max = 20), extend("x-zh" = "方式"))]
    how: String,
    /// How often
    #[serde(default)]
    #[schemars(range(min = 0, max = 100_000), extend("x-zh" = "次数"))]
    times: u32,
    /// A secret
    #[serde(default)]
    #[schemars(length(max = 100), extend("x-zh" = "密码"))]
    password: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Data {
    lines: Vec<String>,
}

struct DoIt;

impl Tool for DoIt {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    fn timeout(&self, args: &Args) -> Option<Duration> {
        (args.how == "own_limit").then(|| Duration::from_millis(5))
    }

    async fn call(&self, args: Args, cx: &CallCx) -> Result<Outcome<Data>, ToolError> {
        assert!(args.password.len() < 100);
        let data = || Data { lines: vec!["a line".to_owned(); args.times as usize] };
        let exhausted = || {
            ToolError::new(
                Reason::ResourceExhausted { resource: Resource::Files, limit: Some(1), actual: None },
                Text::fixed("stopped", "已停止"),
            )
        };
        match args.how.as_str() {
            "ok" => Ok(Outcome::Ok(Body::new(data(), "a line\n".repeat(args.times as usize + 1)))),
            "noop" => Ok(Outcome::Noop(Body::new(data(), "nothing to do"))),
            "partial" => Ok(Outcome::Partial(Body::new(data(), "some"), exhausted())),
            "fail" => Err(exhausted()),
            "needs" => Ok(Outcome::NeedsInput(
                NeedsInput {
                    kind: "stdin",
                    fields: Map::new(),
                    tool: "go_on",
                    arguments: json!({"x": 1}),
                    text: "Password:".into(),
                },
                None,
            )),
            "panic" => panic!("on purpose"),
            "wait" | "own_limit" => {
                cx.stopped().await;
                Err(ToolError::canceled(CanceledBy::Caller).data(json!({"lines": ["so far"]})))
            }
            "finish" => {
                cx.stopped().await;
                Ok(Outcome::Ok(Body::new(data(), "finished all the same")))
            }
            "stubborn" => std::future::pending().await,
            "alive" => {
                for step in 0..args.times {
                    tokio::time::sleep(Duration::from_millis(400)).await;
                    cx.progress(Some(f64::from(step) + 1.0), None, &Text::fixed("step", "步骤"), None);
                }
                Ok(Outcome::Ok(Body::new(data(), "done")))
            }
            "root" => Ok(Outcome::Ok(Body::new(
                Data {
                    lines: vec![
                        cx.root.as_ref().map(|root| root.path().display().to_string()).unwrap_or_default(),
                    ],
                },
                "root",
            ))),
            other => panic!("{other}"),
        }
    }
}

fn server() -> Server {
    Server::new(&INFO).with(DoIt)
}

async fn run(bench: &Bench, request: CallRequest) -> Envelope {
    match bench.layer.call(&server(), request).await.unwrap() {
        Reply::Done(envelope) => *envelope,
        other => panic!("{other:?}"),
    }
}

fn how(how: &str) -> CallRequest {
    call("do_it", json!({ "how": how }))
}

fn published() -> Value {
    server().definitions(&Access::All, chatos_tool::Lang::En)[0]["outputSchema"].clone()
}

fn english() -> ToolSettings {
    ToolSettings { lang: chatos_tool::Lang::En, ..ToolSettings::default() }
}

#[tokio::test(start_paused = true)]
async fn every_end_has_its_status_and_fits_the_schema() {
    let bench = bench(english(), None);
    let rows = [
        ("ok", Status::Ok, "ok", "✓ a line"),
        ("noop", Status::Noop, "ok", "= nothing to do"),
        ("partial", Status::Partial, "resource_exhausted", "◐ some\n[resource_exhausted] stopped"),
        ("fail", Status::Error, "resource_exhausted", "✗ [resource_exhausted] stopped"),
        ("needs", Status::NeedsInput, "needs_input", "? Password:"),
        ("panic", Status::Error, "internal", "✗ [internal] the tool failed unexpectedly"),
        ("own_limit", Status::Timeout, "timeout", "✗ [timeout] not finished within 5 ms"),
    ];
    for (name, status, code, text) in rows {
        let envelope = run(&bench, how(name)).await;
        assert_eq!((envelope.status, envelope.code), (status, code), "{name}");
        assert!(envelope.text.starts_with(text), "{name}: {}", envelope.text);
        assert_eq!(
            chatos_tool::schema::mismatches(&published(), &envelope.structured().unwrap()),
            Vec::<String>::new(),
            "{name}"
        );
    }
    let needs = run(&bench, how("needs")).await;
    assert_eq!(needs.data["needs"]["resume"], json!({"tool": "go_on", "arguments": {"x": 1}}));
    assert_eq!(run(&bench, how("ok")).await.status, Status::Ok, "a panic does not end the server");
}

#[tokio::test]
async fn refusals_are_results_and_unknown_tools_are_not() {
    let bench = bench(english(), None);
    let invalid = run(&bench, call("do_it", json!({"How": "ok", "times": 200_000}))).await;
    assert_eq!(invalid.status, Status::Invalid);
    let codes: Vec<_> = invalid.error.as_ref().unwrap()["details"]["issues"]
        .as_array()
        .unwrap()
        .iter()
        .map(|issue| issue["code"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(codes, ["missing", "unknown_key", "range"]);

    let denied = CallRequest {
        access: Arc::new(Access::Listed { allow: BTreeSet::new(), ask: BTreeSet::new() }),
        ..how("ok")
    };
    let access = Arc::clone(&denied.access);
    let envelope = run(&bench, denied).await;
    assert_eq!(envelope.status, Status::Denied);
    assert_eq!(envelope.error.unwrap()["details"], json!({"rule": "land_config"}));
    assert_eq!(server().definitions(&access, chatos_tool::Lang::En), Vec::<Value>::new());

    let unknown = bench.layer.call(&server(), call("do_ti", json!({}))).await.unwrap_err();
    assert_eq!((unknown.to_string().as_str(), unknown.nearest), ("unknown tool `do_ti`", Some("do_it")));
}

#[tokio::test(start_paused = true)]
async fn a_canceled_call_ends_at_once_and_hands_over_what_it_has() {
    let bench = bench(english(), None);
    for (name, status, data) in [
        ("wait", Status::Canceled, json!({"lines": ["so far"]})),
        ("stubborn", Status::Canceled, Value::Null),
        ("finish", Status::Ok, json!({"lines": []})),
    ] {
        let request = how(name);
        let cancel = request.cancel.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(50)).await;
            cancel.cancel();
        });
        let began = tokio::time::Instant::now();
        let envelope = run(&bench, request).await;
        assert_eq!((envelope.status, envelope.data), (status, data), "{name}");
        let most = if name == "stubborn" { limits::GRACE_MS } else { 0 };
        assert_eq!(began.elapsed(), Duration::from_millis(50 + most), "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_clocks_end_a_call_and_progress_keeps_it_alive() {
    let settings =
        ToolSettings { idle: Duration::from_millis(500), total: Duration::from_secs(2), ..english() };
    let bench = bench(settings, None);
    let idle = run(&bench, how("wait")).await;
    assert_eq!(idle.status, Status::Timeout);
    assert_eq!(idle.error.unwrap()["details"], json!({"limitMs": 500, "phase": "run"}));
    assert_eq!(idle.data, json!({"lines": ["so far"]}));
    let alive = run(&bench, call("do_it", json!({"how": "alive", "times": 4}))).await;
    assert_eq!(alive.status, Status::Ok);
    let total = run(&bench, call("do_it", json!({"how": "alive", "times": 400}))).await;
    assert_eq!(total.error.unwrap()["details"]["limitMs"], 2_000);
}

#[tokio::test(start_paused = true)]
async fn places_are_limited_queued_calls_can_be_canceled_and_a_shutdown_ends_all() {
    let bench = bench(ToolSettings { queue: 1, ..english() }, None);
    let start = |request: CallRequest| {
        let layer = Arc::clone(&bench.layer);
        tokio::spawn(async move {
            match layer.call(&server(), request).await.unwrap() {
                Reply::Done(envelope) => *envelope,
                _ => unreachable!(),
            }
        })
    };
    let running = start(how("wait"));
    tokio::time::sleep(Duration::from_millis(10)).await;
    let cancel = CancellationToken::new();
    let queued = start(CallRequest { cancel: cancel.clone(), ..how("wait") });
    tokio::time::sleep(Duration::from_millis(10)).await;
    let refused = run(&bench, how("ok")).await;
    assert_eq!((refused.status, refused.code), (Status::Error, "rate_limited"));
    assert_eq!(refused.error.unwrap()["details"]["retryAfterMs"], 1000);
    cancel.cancel();
    assert_eq!(queued.await.unwrap().status, Status::Canceled);
    let queued = start(how("wait"));
    tokio::time::sleep(Duration::from_millis(10)).await;
    bench.layer.close(Duration::from_secs(3)).await;
    for task in [running, queued] {
        let envelope = task.await.unwrap();
        assert_eq!(envelope.status, Status::Canceled);
        assert_eq!(envelope.error.unwrap()["details"]["by"], "shutdown");
    }
}

fn log_lines(path: &std::path::Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test(start_paused = true)]
async fn each_call_has_its_two_lines_without_secrets() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tool-log.jsonl");
    let bench = bench(english(), Some(&path));
    let mut request = call("do_it", json!({"how": "ok", "password": "hunter22"}));
    request.meta = json!({"toolCallId": "c1", "runId": "r1", "sessionId": "s1", "workdir": 7})
        .as_object()
        .unwrap()
        .clone();
    run(&bench, request).await;
    run(&bench, how("fail")).await;
    run(&bench, call("do_it", json!({}))).await;
    let lines = log_lines(&path);
    let kinds: Vec<_> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["tool_call", "tool_result", "tool_call", "tool_error", "tool_call", "tool_error"]);
    for pair in lines.chunks(2) {
        assert_eq!(pair[0]["callId"], pair[1]["callId"]);
        assert_eq!(pair[0]["trace"], pair[1]["trace"]);
    }
    assert_eq!(lines[0]["args"], json!({"how": "ok", "password": "[redacted:key]"}));
    assert_eq!(lines[0]["warnings"], json!(["_meta.workdir is not a string"]));
    assert_eq!(
        (&lines[0]["callId"], &lines[0]["runId"], &lines[0]["sessionId"]),
        (&json!("c1"), &json!("r1"), &json!("s1"))
    );
    assert_eq!((&lines[5]["status"], &lines[5]["code"]), (&json!("invalid"), &json!("invalid_argument")));
    assert!(!std::fs::read_to_string(&path).unwrap().contains("hunter22"));
}

#[tokio::test]
async fn log_levels_differ() {
    for (level, count) in
        [(LogLevel::Off, 0), (LogLevel::Error, 2), (LogLevel::Info, 4), (LogLevel::Debug, 4)]
    {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tool-log.jsonl");
        let log = LogRules { level, field_chars: 4000 };
        let bench = bench(ToolSettings { log, ..english() }, Some(&path));
        run(&bench, how("ok")).await;
        run(&bench, how("fail")).await;
        let lines = log_lines(&path);
        assert_eq!(lines.len(), count, "{level:?}");
        if level == LogLevel::Error {
            assert_eq!((&lines[0]["type"], &lines[1]["type"]), (&json!("tool_call"), &json!("tool_error")));
        }
        assert_eq!(lines.iter().any(|line| line.get("text").is_some()), level == LogLevel::Debug);
    }
}

#[tokio::test]
async fn long_results_are_cut_and_say_so() {
    let text = TextLimits { result_chars: 1_000, line_chars: 200 };
    let bench = bench(ToolSettings { text, ..english() }, None);
    let envelope = run(&bench, call("do_it", json!({"how": "ok", "times": 5_000}))).await;
    assert_eq!(envelope.status, Status::Ok);
    assert!(envelope.text.chars().count() <= 1_000 && envelope.text.contains("lines omitted"));
    assert_eq!(envelope.data["truncated"], true);
    let fields: Vec<_> = envelope.cuts.iter().map(|cut| cut.field.as_str()).collect();
    assert_eq!(fields, ["/lines", "text"]);
    assert_eq!(
        chatos_tool::schema::mismatches(&published(), &envelope.structured().unwrap()),
        Vec::<String>::new()
    );
}

#[tokio::test]
async fn a_workdir_chooses_inside_the_root_only() {
    let bench = bench(english(), None);
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("sub")).unwrap();
    let root = Arc::new(Root::open(dir.path()).unwrap());
    let request = |workdir: &str| {
        let mut request = how("root");
        request.root = Some(Arc::clone(&root));
        request.meta = json!({ "workdir": workdir }).as_object().unwrap().clone();
        request
    };
    let inside = run(&bench, request("sub")).await;
    assert!(inside.data["lines"][0].as_str().unwrap().ends_with("/sub"));
    let outside = run(&bench, request("/etc")).await;
    assert_eq!(outside.error.unwrap()["details"]["rule"], "outside_root");
}

#[tokio::test(start_paused = true)]
async fn the_host_hears_of_every_call() {
    let bench = bench(english(), None);
    run(&bench, call("do_it", json!({"how": "alive", "times": 1}))).await;
    run(&bench, how("fail")).await;
    assert_eq!(
        *bench.heard.0.lock().unwrap(),
        ["started", "progress step", "finished ok", "started", "finished error"]
    );
}
