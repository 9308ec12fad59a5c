//! The prompt queue: wake-up of a waiter, cold fold, appends.

mod append;
mod fold;
mod latency;

pub(crate) use latency::writer;

use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use chatos_prompts::testing::{TestRecords, config};
use chatos_prompts::{Prompts, Role};

pub(crate) fn run(only: &[&str]) -> Result<()> {
    // A number makes the log of the fold shorter or longer than a million lines.
    let lines = only.iter().find_map(|word| word.parse::<usize>().ok()).unwrap_or(1_000_000).max(1000);
    let only: Vec<&str> = only.iter().copied().filter(|word| word.parse::<usize>().is_err()).collect();
    let wanted = |name: &str| only.is_empty() || only.contains(&name);
    if wanted("latency") {
        latency::run()?;
    }
    if wanted("fold") {
        fold::run(lines)?;
    }
    if wanted("append") {
        append::run()?;
    }
    Ok(())
}

/// Where the answers stand.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Order {
    Paired,
    Apart,
}

/// A log of `lines` lines of about 200 bytes: questions of other programs and their answers, the last
/// few still open.
pub(super) fn write_log(path: &Path, lines: usize, order: Order) -> Result<u64> {
    let mut file = BufWriter::with_capacity(1 << 20, std::fs::File::create(path)?);
    let open = 20.min(lines);
    let closed = (lines - open) / 2;
    match order {
        Order::Paired => {
            for i in 0..closed {
                request(&mut file, i)?;
                response(&mut file, i)?;
            }
        }
        Order::Apart => {
            (0..closed).try_for_each(|i| request(&mut file, i))?;
            (0..closed).try_for_each(|i| response(&mut file, i))?;
        }
    }
    for i in 0..open {
        writeln!(
            file,
            r#"{{"ts":"2026-01-11T00:00:00.000Z","type":"ui_prompt","action":"request","requestId":"open-{i}","prompt":{{"kind":"kv","fields":[{{"key":"name"}}]}}}}"#
        )?;
    }
    file.flush()?;
    Ok(file.get_ref().metadata()?.len())
}

fn request(file: &mut impl Write, i: usize) -> Result<()> {
    Ok(writeln!(
        file,
        r#"{{"ts":"2026-01-11T00:00:00.000Z","type":"ui_prompt","action":"request","requestId":"0198c0de-0000-7000-8000-{i:012}","runId":"run-{}","prompt":{{"kind":"kv","title":"Input needed for step {i}","fields":[{{"key":"name"}}]}}}}"#,
        i / 50
    )?)
}

fn response(file: &mut impl Write, i: usize) -> Result<()> {
    Ok(writeln!(
        file,
        r#"{{"ts":"2026-01-11T00:00:10.000Z","type":"ui_prompt","action":"response","requestId":"0198c0de-0000-7000-8000-{i:012}","runId":"run-{}","response":{{"status":"ok","values":{{"name":"Alice and her long answer"}}}}}}"#,
        i / 50
    )?)
}

pub(super) fn open(dir: &Path) -> Result<Prompts> {
    let prompts = Prompts::open(config(dir, Arc::new(TestRecords::memory()), Role::Host))?;
    prompts.ready_within(Duration::from_secs(120))?;
    Ok(prompts)
}
