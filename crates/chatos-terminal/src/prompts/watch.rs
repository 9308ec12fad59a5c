//! `chatos prompts watch`: says what comes and goes; with `--answer` it asks each question here.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;

use chatos_tool::{Fault, Text};
use serde_json::{Value, json};

use super::desk::Desk;
use super::form::{self, Outcome};
use super::{answer, finish, input, show, usage};
use crate::output::Output;

/// How often the queue is looked at: quick enough for a person, nothing for the host.
const EVERY: Duration = Duration::from_millis(400);

pub(super) async fn run(desk: &Desk, output: &Output, answers: bool) -> Result<ExitCode, Fault> {
    let terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    if answers && (output.json || !terminal) {
        let fault = usage("`--answer` needs a terminal", "`--answer` 需要终端");
        return Ok(finish(output, &fault));
    }
    if answers {
        input::heed_interrupts(true);
    }
    let mut known: BTreeMap<String, Value> = BTreeMap::new();
    let mut first = true;
    let mut left = std::collections::HashSet::new();
    let stop = tokio::signal::ctrl_c();
    tokio::pin!(stop);
    loop {
        let now = open(desk, output).await?;
        for (id, item) in &now {
            if !known.contains_key(id) {
                told(output, "prompt_requested", item);
            }
        }
        for id in known.keys().filter(|id| !now.contains_key(*id)) {
            match desk.show(id, output.lang).await {
                Ok(item) => told(output, closing(&item), &item),
                Err(fault) if fault.code == "unknown_request" => {}
                Err(fault) => return Err(fault),
            }
        }
        if first && now.is_empty() && !output.json {
            output.say(&Text::fixed("Nothing waits; watching…", "没有待处理的问题；正在关注…"));
        }
        first = false;
        known = now;
        if answers && let Some((id, _)) = oldest(&known).filter(|(id, _)| !left.contains(*id)) {
            let item = desk.show(id, output.lang).await?;
            match form::ask(desk, output, id, item, None, None).await? {
                Outcome::Sent(done) => answer::told(output, &done),
                // Left for another surface; not asked again here.
                Outcome::Left => {
                    left.insert(id.clone());
                }
                Outcome::Closed => {}
            }
            continue;
        }
        tokio::select! {
            _ = &mut stop => return Ok(ExitCode::SUCCESS),
            () = tokio::time::sleep(EVERY) => {}
        }
    }
}

fn oldest(known: &BTreeMap<String, Value>) -> Option<(&String, &Value)> {
    known.iter().min_by_key(|(id, item)| (item["ts"].as_str().unwrap_or_default().to_owned(), (*id).clone()))
}

async fn open(desk: &Desk, output: &Output) -> Result<BTreeMap<String, Value>, Fault> {
    let mut all = BTreeMap::new();
    let mut cursor: Option<String> = None;
    loop {
        let mut query = vec![("view", "needs_you".to_owned()), ("limit", "200".to_owned())];
        query.extend(cursor.take().map(|cursor| ("cursor", cursor)));
        let mut page = desk.list(&query, output.lang).await?;
        if let Value::Array(items) = page["items"].take() {
            for item in items {
                let id = item["requestId"].as_str().unwrap_or_default().to_owned();
                all.insert(id, item);
            }
        }
        cursor = page["nextCursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            return Ok(all);
        }
    }
}

fn closing(item: &Value) -> &'static str {
    if item["answer"]["status"] == "timeout" { "prompt_expired" } else { "prompt_answered" }
}

fn told(output: &Output, kind: &str, item: &Value) {
    if output.json {
        output.json_line(&json!({ "type": kind, "item": item }));
    } else {
        output.line(&show::summary(output, item));
    }
}
