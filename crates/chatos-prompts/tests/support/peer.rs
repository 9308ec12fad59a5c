//! A second process for the tests of this crate: appends like any program, asks or answers like one of
//! ours, and is killed in the middle of it. Says on standard output what was acknowledged to it.
#![expect(clippy::print_stdout, reason = "the tests read what was acknowledged from standard output")]

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use chatos_prompts::testing::{TestRecords, config};
use chatos_prompts::{Answerer, Ask, Owner, Prompts, Query, Respond, RespondError, Role, Surface};
use serde_json::{Value, json};

fn main() -> std::process::ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["append", dir, prefix, count] => append(Path::new(dir), prefix, number(count), usize::MAX),
        ["append-in-steps", dir, prefix, count, step] => {
            append(Path::new(dir), prefix, number(count), number(step).max(1))
        }
        ["ask", dir, prefix, count] => ask(Path::new(dir), prefix, number(count)),
        ["serve", dir] => serve(Path::new(dir)),
        _ => Err("usage: prompts-peer append|ask|serve DIR …".into()),
    };
    match done {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            say("error", &error.to_string());
            std::process::ExitCode::FAILURE
        }
    }
}

type Done = Result<(), Box<dyn std::error::Error>>;

fn number(text: &str) -> usize {
    text.parse().unwrap_or(0)
}

fn say(word: &str, rest: &str) {
    println!("{word} {rest}");
    std::io::stdout().flush().ok();
}

/// One plain write per line, no lock. After every `step` lines it waits for a line on standard input.
fn append(dir: &Path, prefix: &str, count: usize, step: usize) -> Done {
    let mut file = std::fs::File::options().append(true).create(true).open(dir.join("ui-prompts.jsonl"))?;
    for i in 0..count {
        if i > 0 && i % step == 0 {
            std::io::stdin().read_line(&mut String::new())?;
        }
        let entry = json!({"ts":"2026-01-11T00:00:00.000Z","type":"ui_prompt","action":"request",
            "requestId":format!("{prefix}-{i}"),"prompt":{"kind":"choice","options":[{"value":"x"}]}});
        file.write_all(format!("{entry}\n").as_bytes())?;
        say("appended", &format!("{prefix}-{i}"));
    }
    Ok(())
}

fn open(dir: &Path, role: Role) -> Result<Prompts, Box<dyn std::error::Error>> {
    let records = Arc::new(TestRecords::file(&dir.join("records.jsonl"))?);
    let prompts = Prompts::open(config(dir, records, role))?;
    prompts.ready_within(Duration::from_secs(60))?;
    Ok(prompts)
}

/// Asks; each acknowledged question is named.
fn ask(dir: &Path, prefix: &str, count: usize) -> Done {
    let prompts = open(dir, Role::Visitor)?;
    for i in 0..count {
        let mut ask = Ask::new(Owner::user(), "peer", json!({"kind":"choice","options":[{"value":"x"}]}));
        ask.request_id = format!("{prefix}-{i}").into();
        let asked = prompts.request(&ask)?;
        say("asked", asked.request_id.as_str());
    }
    Ok(())
}

/// Answers whatever is open, for ever; each acknowledged answer is named.
fn serve(dir: &Path) -> Done {
    let prompts = open(dir, Role::Host)?;
    say("serving", "");
    let response = json!({"status":"ok","selection":"x","remark":std::process::id().to_string()});
    loop {
        let page = prompts.list(&Query { limit: 20, ..Query::default() })?;
        if page.items.is_empty() {
            std::thread::sleep(Duration::from_millis(1));
        }
        for item in page.items {
            let answer = Respond {
                id: &item.request_id,
                response: &response,
                shown: item.shown.as_deref(),
                run_id: &Value::Null,
                by: Answerer::Person(Surface::Ui),
                seen: false,
                pid: None,
            };
            match prompts.respond(&answer) {
                Ok(_) => say("answered", &format!("{} {}", item.request_id, std::process::id())),
                Err(RespondError::AlreadyAnswered { .. }) => say("late", item.request_id.as_str()),
                Err(error) => return Err(error.into()),
            }
        }
    }
}
