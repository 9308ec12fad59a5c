//! Seed 003: from the append of a result by another process to the return of the call that waits for it.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use chatos_calls::ToolCall;
use chatos_host::Host;
use chatos_tool::Lang;
use chatos_wire::server::ServerInput;
use serde_json::json;

use super::{failed, must};
use crate::measure::{Times, human, monotonic_nanos};

const ROUNDS: usize = 500;
/// The bar (issue "AsyncTask").
const MOST: Duration = Duration::from_millis(20);

pub(super) async fn run(host: &Arc<Host>, fixture: &Path, project: &Path) -> Result<()> {
    let argv = vec![fixture.to_string_lossy().into_owned(), "serve".to_owned()];
    let call_meta = json!({ "asyncTask": { "tools": ["echo"], "pollIntervalMs": 5_000 } });
    let input = ServerInput {
        name: Some("later".to_owned()),
        argv: Some(argv),
        call_meta: Some(Some(call_meta)),
        ..ServerInput::default()
    };
    host.servers().add_own(input, Lang::En).await.map_err(failed)?;
    let log = host.dir().path().join("ui-prompts.jsonl");
    let plain = project.join("plain.txt");
    #[expect(clippy::disallowed_methods, reason = "the append must come from another process")]
    let mut writer = Command::new(std::env::current_exe()?)
        .arg("prompts-writer")
        .arg(&log)
        .arg(&plain)
        .stdin(Stdio::piped())
        .spawn()?;
    let mut orders = writer.stdin.take().context("no pipe to the writer")?;
    let mut times = Vec::new();
    for round in 0..ROUNDS + 20 {
        let id = format!("bench-task-{round}");
        let mut call = ToolCall {
            server: "later".to_owned(),
            tool: "echo".to_owned(),
            arguments: Some(json!({ "text": "accepted" })),
            root: project.to_owned(),
            ..ToolCall::default()
        };
        call.meta.insert("taskId".to_owned(), json!(id));
        let (calling, asked) = (Arc::clone(host), call);
        let waiting = tokio::spawn(async move {
            let result = calling.calls().call(asked).await;
            (result, monotonic_nanos())
        });
        // Long enough for the ACK; the result comes when somebody waits.
        tokio::time::sleep(Duration::from_millis(15)).await;
        writeln!(orders, "log {id}")?;
        let (result, returned) = waiting.await?;
        let result = result.map_err(failed)?;
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        let stamp: u64 = text.parse().with_context(|| format!("another answer came: {result}"))?;
        ensure!(returned > stamp, "the clock went back");
        if round >= 20 {
            times.push(Duration::from_nanos(returned - stamp));
        }
    }
    drop(orders);
    writer.wait()?;
    let times = Times::new(times);
    println!(
        "| task: append by another process → call returns | p50 {}, p99 {}, slowest {} | – | – | p99 {} |",
        human(times.at(50)),
        human(times.at(99)),
        human(times.at(100)),
        must(times.at(99), Some(MOST)),
    );
    Ok(())
}
