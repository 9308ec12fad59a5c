//! `mcp-fixture drive`: the client driven from outside, for tests with servers of other makers.
//!
//! Standard input is one JSON object: `servers` (name → `{command: […], env?}` or `{url, token?}`) and
//! `steps` (`{server, list}`, `{server, call, arguments}` or `{server, status}`, run in order). Standard output is the list of what
//! came of each step.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::sync::Arc;

use chatos_mcp::{
    Addresses, Asked, Auth, Block, CallOutcome, CallRequest, CommandLine, ElicitAnswer, Elicitation,
    Endpoint, Hooks, Later, Launcher, Offers, Pool, PoolOptions, Root, ServerKey, ServerSpec, Times,
};
use serde_json::{Map, Value, json};

/// A host that accepts every form with what its schema calls the default.
pub(crate) struct Obliging;

/// What it answers to a question.
pub(crate) fn answer(ask: Elicitation) -> ElicitAnswer {
    match ask {
        Elicitation::Form { schema, .. } => {
            let fields = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
            ElicitAnswer::Accept(fields.into_iter().map(|(name, field)| (name, sample(&field))).collect())
        }
        Elicitation::Url { .. } => ElicitAnswer::Accept(Map::new()),
    }
}

/// What it says as the model.
pub(crate) fn sampled() -> Value {
    json!({ "role": "assistant", "model": "none", "stopReason": "endTurn",
            "content": { "type": "text", "text": "sampled text" } })
}

impl Hooks for Obliging {
    fn elicit(&self, _asked: Asked, ask: Elicitation) -> Later<Result<ElicitAnswer, String>> {
        Box::pin(async move { Ok(answer(ask)) })
    }

    fn sample(&self, _asked: Asked, _params: Value) -> Later<Result<Value, String>> {
        Box::pin(async { Ok(sampled()) })
    }

    fn roots(&self, _asked: Asked) -> Later<Vec<Root>> {
        Box::pin(async { vec![Root { uri: "file:///project".to_owned(), name: Some("project".to_owned()) }] })
    }
}

/// A value that fits a field of a schema.
pub(crate) fn sample(field: &Value) -> Value {
    if let Some(default) = field.get("default") {
        return default.clone();
    }
    if let Some(first) = field.pointer("/enum/0").or_else(|| field.pointer("/oneOf/0/const")) {
        return first.clone();
    }
    match (field["type"].as_str(), field["format"].as_str()) {
        (Some("boolean"), _) => json!(true),
        (Some("integer" | "number"), _) => field.get("minimum").cloned().unwrap_or(json!(42)),
        (Some("array"), _) => {
            let item = field.pointer("/items/enum/0").or_else(|| field.pointer("/items/anyOf/0/const"));
            json!([item.cloned().unwrap_or(json!("item"))])
        }
        (_, Some("email")) => json!("a@example.org"),
        (_, Some("uri")) => json!("https://example.org/"),
        (_, Some("date")) => json!("2026-01-01"),
        _ => json!("text of the person"),
    }
}

pub(crate) fn run() -> io::Result<()> {
    let mut input = String::new();
    io::stdin().take(1024 * 1024).read_to_string(&mut input)?;
    let plan: Value = serde_json::from_str(&input).map_err(io::Error::other)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outcomes = runtime.block_on(drive(&plan))?;
    writeln!(io::stdout(), "{}", Value::Array(outcomes))
}

/// A host that starts a server with two grandchildren, prints all three numbers, and waits to be killed.
pub(crate) fn hold() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let own = std::env::current_exe()?;
        let mut options = PoolOptions::new(Arc::new(Obliging));
        let launch = vec![OsString::from("launch")];
        options.spawning.launcher = Some(Launcher { program: own.clone(), arguments: launch });
        let warden = chatos_mcp::Warden::start(&own, &[OsString::from("warden")])?;
        options.spawning.warden = Some(Arc::new(warden));
        let pool = Pool::new(options);
        let key = ServerKey::new("s");
        pool.put(spec("s", endpoint(&json!({ "command": [own.to_string_lossy(), "serve", "ignore-eof"] }))?));
        for tool in ["pid", "grandchild", "daemon"] {
            let outcome = take(&pool, &key, &json!({ "call": tool })).await;
            writeln!(io::stdout(), "{}", outcome["text"].as_str().unwrap_or_default())?;
        }
        std::future::pending().await
    })
}

fn spec(name: &str, endpoint: Endpoint) -> ServerSpec {
    ServerSpec {
        key: ServerKey::new(name),
        name: name.to_owned(),
        endpoint,
        digest: String::new(),
        offers: Offers { elicitation: true, sampling: true, roots: true, tasks: true, views: false },
        times: Times::default(),
        idle: None,
    }
}

async fn drive(plan: &Value) -> io::Result<Vec<Value>> {
    let mut options = PoolOptions::new(Arc::new(Obliging));
    let launch = vec![OsString::from("launch")];
    options.spawning.launcher = Some(Launcher { program: std::env::current_exe()?, arguments: launch });
    let pool = Pool::new(options);
    for (name, server) in plan["servers"].as_object().into_iter().flatten() {
        pool.put(spec(name, endpoint(server)?));
    }
    let mut outcomes = Vec::new();
    for step in plan["steps"].as_array().into_iter().flatten() {
        let key = ServerKey::new(step["server"].as_str().unwrap_or_default());
        outcomes.push(take(&pool, &key, step).await);
    }
    pool.close().await;
    Ok(outcomes)
}

fn endpoint(server: &Value) -> io::Result<Endpoint> {
    if let Some(url) = server["url"].as_str() {
        let auth = Auth { token: server["token"].as_str().map(str::to_owned), ..Auth::default() };
        return Endpoint::remote(url, &auth, Addresses::Private).map_err(io::Error::other);
    }
    let mut words =
        server["command"].as_array().into_iter().flatten().filter_map(Value::as_str).map(OsString::from);
    let program = words.next().ok_or_else(|| io::Error::other("a server needs `url` or `command`"))?;
    let kept = ["PATH", "HOME", "LANG", "TMPDIR"];
    let mut environment: Vec<(OsString, OsString)> =
        std::env::vars_os().filter(|(name, _)| kept.iter().any(|kept| name == kept)).collect();
    for (name, value) in server["env"].as_object().into_iter().flatten() {
        environment.push((name.into(), value.as_str().unwrap_or_default().into()));
    }
    Ok(Endpoint::Command(CommandLine { program, arguments: words.collect(), directory: None, environment }))
}

async fn take(pool: &Pool, key: &ServerKey, step: &Value) -> Value {
    if step.get("status").is_some() {
        let Some(status) = pool.status(key) else { return json!({ "error": "unknown" }) };
        let peer = status
            .peer
            .map(|peer| json!({ "era": peer.era.as_str(), "version": peer.version, "info": peer.info }));
        return json!({ "phase": status.phase.as_str(), "peer": peer, "noise": status.noise.framing });
    }
    let Some(tool) = step["call"].as_str() else {
        return match pool.tools(key).await {
            Ok(list) => {
                let names: Vec<&str> = list.tools.iter().map(|tool| tool.name.as_str()).collect();
                let problems: Vec<String> =
                    list.problems.iter().map(|problem| problem.reason.clone()).collect();
                json!({ "tools": names, "problems": problems, "partial": list.partial })
            }
            Err(error) => json!({ "error": error.failure.to_string(), "stderr": error.stderr }),
        };
    };
    let (sender, mut progress) = tokio::sync::mpsc::channel(256);
    let request = CallRequest {
        tool: tool.to_owned(),
        arguments: step["arguments"].as_object().cloned().unwrap_or_default(),
        progress: Some(sender),
        ..CallRequest::default()
    };
    let outcome = pool.call(key, request).await;
    let mut seen = 0;
    while progress.try_recv().is_ok() {
        seen += 1;
    }
    match outcome {
        Ok(CallOutcome::Complete(result)) => json!({
            "text": result.text(), "isError": result.is_error, "structured": result.structured,
            "kinds": result.content.iter().map(kind).collect::<Vec<_>>(), "problems": result.problems, "progress": seen,
        }),
        Ok(other) => json!({ "other": format!("{other:?}") }),
        Err(error) => json!({ "error": error.to_string(), "sent": error.sent }),
    }
}

fn kind(block: &Block) -> &'static str {
    match block {
        Block::Text(_) => "text",
        Block::Image { .. } => "image",
        Block::Audio { .. } => "audio",
        Block::ResourceLink { .. } => "resource_link",
        Block::Resource { .. } => "resource",
        Block::Unknown(_) => "unknown",
    }
}
