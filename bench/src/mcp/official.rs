//! The client of the official library against the same program: nothing of ours between.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use chatos_host::Host;
use rmcp::model::CallToolRequestParams;
use rmcp::service::{RoleClient, RunningService};
use rmcp::{Peer, ServiceExt as _};
use serde_json::json;

use super::{CALLS, call, row};
use crate::measure::{Times, human};

/// A server and the library's client for it.
struct Bare {
    client: RunningService<RoleClient, ()>,
    // Ends with this value.
    _process: tokio::process::Child,
}

async fn start(fixture: &Path) -> Result<Bare> {
    #[expect(clippy::disallowed_methods, reason = "measured beside: a bare process")]
    let command = std::process::Command::new(fixture);
    let mut command = tokio::process::Command::from(command);
    command.arg("serve").kill_on_drop(true);
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut process = command.stderr(std::process::Stdio::null()).spawn()?;
    let input = process.stdin.take().context("no input")?;
    let output = process.stdout.take().context("no output")?;
    Ok(Bare { client: ().serve((output, input)).await?, _process: process })
}

async fn echo(peer: &Peer<RoleClient>) -> Result<Duration> {
    let arguments = json!({ "text": "x" }).as_object().cloned().unwrap_or_default();
    let began = Instant::now();
    let result = peer.call_tool(CallToolRequestParams::new("echo").with_arguments(arguments)).await?;
    let took = began.elapsed();
    ensure!(!result.content.is_empty(), "no content");
    Ok(took)
}

/// One call at a time, ours and theirs in turn.
pub(super) async fn one(host: &Arc<Host>, fixture: &Path, project: &Path) -> Result<()> {
    let bare = start(fixture).await?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for n in 0..CALLS + 100 {
        let began = Instant::now();
        call(host, "one", "echo", json!({ "text": "x" }), project).await?;
        let took = began.elapsed();
        let limit = echo(bare.client.peer()).await?;
        if n >= 100 {
            ours.push(took);
            theirs.push(limit);
        }
    }
    let (ours, theirs) = (Times::new(ours), Times::new(theirs));
    row("child server, echo, p50, beside a bare rmcp client", &ours, &theirs, 50, None);
    row("child server, echo, p99, beside a bare rmcp client", &ours, &theirs, 99, None);
    Ok(())
}

/// As many servers and calls at once as ours had.
pub(super) async fn many(fixture: &Path, servers: usize, calls: usize) -> Result<()> {
    let mut clients = Vec::new();
    for _ in 0..servers {
        clients.push(start(fixture).await?);
    }
    let began = Instant::now();
    let mut work = tokio::task::JoinSet::new();
    for n in 0..calls {
        let peer = clients[n % servers].client.peer().clone();
        work.spawn(async move { echo(&peer).await });
    }
    let mut times = Vec::new();
    while let Some(done) = work.join_next().await {
        times.push(done??);
    }
    let whole = began.elapsed();
    let times = Times::new(times);
    println!(
        "| the same with {servers} bare rmcp clients | {} (p50 {}, slowest {}) | – | – | – |",
        human(whole),
        human(times.at(50)),
        human(times.at(100)),
    );
    Ok(())
}
