//! `chatos prompts`: the queue of questions in a terminal, with a running host and without one.

mod answer;
mod ask;
mod bulk;
mod desk;
mod form;
pub mod input;
pub mod show;
mod snooze;
mod task_editor;
mod together;
mod watch;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use chatos_host::Visit;
use chatos_paths::Environment;
use chatos_tool::{ErrorCode, Fault, Text};
use serde_json::{Value, json};

use crate::args::{Global, Prompts, PromptsList};
use crate::client::block_on;
use crate::output::Output;
pub use desk::Desk;

/// How long a question may take into the queue after it was announced.
const ON_ITS_WAY: Duration = Duration::from_secs(10);

/// Asks one question of a chat or a call in this terminal; `false` when the person leaves it open.
pub async fn answer_here(desk: &Desk, output: &Output, id: &str) -> Result<bool, Fault> {
    // Whoever waits for it may have said so before it was in the queue.
    let since = Instant::now();
    let item = loop {
        match desk.show(id, output.lang).await {
            Err(fault) if fault.code == "unknown_request" && since.elapsed() < ON_ITS_WAY => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            shown => break shown?,
        }
    };
    match form::ask(desk, output, id, item, None, None).await? {
        form::Outcome::Sent(done) => answer::told(output, &done),
        form::Outcome::Closed => {}
        form::Outcome::Left => return Ok(false),
    }
    Ok(true)
}

pub fn run(
    global: &Global,
    environment: Environment,
    output: &Output,
    action: Prompts,
) -> Result<ExitCode, Fault> {
    let visit = match action {
        Prompts::List(_) | Prompts::Show { .. } | Prompts::Check | Prompts::Watch { answer: false } => {
            Visit::Read
        }
        _ => Visit::Write,
    };
    let desk = Desk::open(global, environment, visit)?;
    block_on(async {
        match action {
            Prompts::List(wanted) => list(&desk, output, &wanted).await,
            Prompts::Show { id, diff } => {
                let id = desk.resolve(&id, output.lang).await?;
                let mut item = desk.show(&id, output.lang).await?;
                let whole = if diff { desk.whole(&id, &item, output.lang).await? } else { None };
                if let Some(text) = whole {
                    // All of it is there now.
                    item["prompt"]["diffRef"]["shownLines"] = item["prompt"]["diffRef"]["lines"].clone();
                    item["prompt"]["diff"] = text.into();
                }
                if output.json {
                    output.json_line(&item);
                } else {
                    show::item(output, &item, show::Part::Whole);
                }
                Ok(ExitCode::SUCCESS)
            }
            Prompts::Answer(flags) => answer::run(&desk, output, &flags).await,
            Prompts::Snooze { id, until } => snooze::run(&desk, output, &id, &until).await,
            Prompts::Request { file, wait, timeout } => ask::run(&desk, output, &file, wait, timeout).await,
            Prompts::Watch { answer } => watch::run(&desk, output, answer).await,
            Prompts::Archive { before } => {
                let report = desk.archive(&before, output.lang).await?;
                if output.json {
                    output.json_line(&report);
                } else {
                    show::archived(output, &report);
                }
                Ok(ExitCode::SUCCESS)
            }
            Prompts::Check => {
                let report = desk.check(output.lang).await?;
                if output.json {
                    output.json_line(&report);
                } else {
                    show::health(output, &report);
                }
                Ok(if report["ok"] == json!(true) { ExitCode::SUCCESS } else { ExitCode::from(1) })
            }
        }
    })
}

async fn list(desk: &Desk, output: &Output, wanted: &PromptsList) -> Result<ExitCode, Fault> {
    let view = match wanted {
        PromptsList { all: true, .. } => "all",
        PromptsList { results: true, .. } => "results",
        PromptsList { history: true, .. } => "history",
        PromptsList { snoozed: true, .. } => "snoozed",
        _ => "needs_you",
    };
    let filters = [
        ("runId", &wanted.run),
        ("source", &wanted.source),
        ("kind", &wanted.kind),
        ("q", &wanted.query),
        ("agent", &wanted.agent),
        ("project", &wanted.folder),
        ("client", &wanted.client),
        ("risk", &wanted.risk),
    ];
    let mut whole = json!({ "items": [] });
    let mut cursor: Option<String> = None;
    let most = wanted.limit as usize;
    loop {
        let have = whole["items"].as_array().map_or(0, Vec::len);
        let mut query = vec![("view", view.to_owned()), ("limit", (most - have).min(200).to_string())];
        query.extend(filters.iter().filter_map(|(name, value)| Some((*name, value.as_ref()?.clone()))));
        query.extend(cursor.take().map(|cursor| ("cursor", cursor)));
        let mut page = desk.list(&query, output.lang).await?;
        let items = page["items"].take();
        if let (Value::Array(all), Value::Array(items)) = (&mut whole["items"], items) {
            all.extend(items);
        }
        cursor = page["nextCursor"].as_str().map(str::to_owned);
        let have = whole["items"].as_array().map_or(0, Vec::len);
        if cursor.is_none() || have >= most {
            for key in ["nextCursor", "counts", "problems"] {
                whole[key] = page[key].take();
            }
            break;
        }
    }
    if output.json {
        output.json_line(&whole);
    } else {
        show::list(output, &whole, view);
    }
    Ok(ExitCode::SUCCESS)
}

/// Wrong usage that clap could not see: exit 2.
fn usage(en: impl Into<String>, zh: impl Into<String>) -> Fault {
    Fault::new(ErrorCode::InvalidArgument, Text::new(en.into(), zh.into())).code("usage")
}

/// Prints a fault; wrong usage has its own exit status.
fn finish(output: &Output, fault: &Fault) -> ExitCode {
    if fault.code == "usage" { crate::output::usage_fault(output, fault) } else { output.fault(fault) }
}
