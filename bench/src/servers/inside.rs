//! A call inside the host's process: the same layer without a transport, with trace and log.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use chatos_builtin::find_server;
use chatos_layer::{
    Access, CallRequest, Caller, FixedSettings, Layer, LayerParts, NoQueue, Nobody, Redactor, Reply, Root,
    ServerEnv, ToolLog, ToolSettings,
};
use chatos_tool::{Lang, Transport};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::Place;
use super::table::{Bar, row};
use crate::measure::Times;

pub(crate) fn run(place: &Place) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let times = runtime.block_on(calls(place))?;
    let own = times.median();
    let (must, aim) =
        (Bar::at_most(own, Duration::from_micros(150)), Bar::at_most(own, Duration::from_micros(60)));
    row("tool call in the host's process (policy, trace, log)", own, &[], None, Some(must), Some(aim));
    Ok(())
}

async fn calls(place: &Place) -> Result<Times> {
    std::fs::write(place.root().join("inside.txt"), "a line of text\n".repeat(20))?;
    let settings = ToolSettings { lang: Lang::En, ..ToolSettings::default() };
    let layer = Layer::new(LayerParts {
        settings: Arc::new(FixedSettings::new(settings)),
        log: Some(ToolLog::new(place.dir.path().join("inside.jsonl"), Box::new(|_, _| {}))),
        redactor: Arc::new(Redactor::new()),
        queue: Arc::new(NoQueue),
        observer: Arc::new(Nobody),
    });
    let server = find_server("project_files", &ServerEnv::default()).context("no server")?;
    let root = Arc::new(Root::open(&place.root())?);
    let mut times = Vec::new();
    for _ in 0..3000 {
        let request = CallRequest {
            tool: "read_file".to_owned(),
            arguments: Some(json!({ "path": "inside.txt" })),
            meta: serde_json::Map::new(),
            transport: Transport::InProcess,
            session: "bench".to_owned(),
            access: Arc::new(Access::All),
            caller: Caller::Main,
            root: Some(Arc::clone(&root)),
            cancel: CancellationToken::new(),
            closed: CancellationToken::new(),
            progress: None,
            elicitor: None,
            resume: None,
            asked: None,
            client: None,
            batch: None,
            approved: None,
            together: None,
        };
        let began = Instant::now();
        let reply = layer.call(&server, request).await?;
        times.push(began.elapsed());
        let Reply::Done(envelope) = reply else { anyhow::bail!("no result") };
        ensure!(envelope.text.matches("a line of text").count() == 20, "{}", envelope.text);
    }
    // The first ones open what is opened once.
    Ok(Times::new(times.split_off(100)))
}
