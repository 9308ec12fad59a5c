//! How many questions the host can write, and what a durable answer costs beside a bare fdatasync.

use std::fs::File;
use std::io::Write;
use std::time::Instant;

use anyhow::{Result, ensure};
use chatos_prompts::{Answerer, Ask, Owner, Respond, Surface};
use serde_json::{Value, json};

use super::open;
use crate::measure::{Times, human, ratio};

const REQUESTS: usize = 40_000;
/// Questions whose sync is shared when one caller asks many.
const AHEAD: usize = 256;
const ANSWERS: usize = 1_000;

pub(super) fn run() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let prompts = open(dir.path())?;
    let ask =
        Ask::new(Owner::user(), "bench", json!({"kind":"choice","options":[{"value":"x"},{"value":"y"}]}));
    let start = Instant::now();
    let mut ids = Vec::with_capacity(REQUESTS);
    let mut open_receipts = Vec::with_capacity(AHEAD);
    for _ in 0..REQUESTS {
        open_receipts.push(prompts.request_begin(&ask)?);
        if open_receipts.len() == AHEAD {
            ids.extend(open_receipts.drain(..).map(|receipt| receipt.finish(&prompts)));
        }
    }
    ids.extend(open_receipts.drain(..).map(|receipt| receipt.finish(&prompts)));
    let took = start.elapsed();
    ensure!(ids.iter().all(|asked| asked.mirrored), "a question is not in the log");
    ensure!(prompts.counts().needs_you == REQUESTS, "a question is not in the queue");
    println!(
        "requests by one caller, sync shared by {AHEAD}: {:.0}/s ({} each), validated, signed, durable",
        REQUESTS as f64 / took.as_secs_f64(),
        human(took / REQUESTS as u32),
    );

    let mut plain = File::options().append(true).create(true).open(dir.path().join("plain.txt"))?;
    let line = vec![b'x'; 400];
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    let response = json!({"status":"ok","selection":"x"});
    for asked in ids.iter().take(ANSWERS) {
        let start = Instant::now();
        prompts.respond(&Respond {
            id: &asked.request_id,
            response: &response,
            shown: None,
            run_id: &Value::Null,
            by: Answerer::Person(Surface::Ui),
            seen: false,
            pid: None,
        })?;
        ours.push(start.elapsed());
        let start = Instant::now();
        plain.write_all(&line)?;
        plain.sync_data()?;
        bare.push(start.elapsed());
    }
    let (ours, bare) = (Times::new(ours), Times::new(bare));
    println!(
        "one durable answer at {REQUESTS} open: p50 {} p99 {}; bare write + fdatasync p50 {}; ratio {:.1}",
        human(ours.median()),
        human(ours.at(99)),
        human(bare.median()),
        ratio(ours.median(), bare.median()),
    );

    let threads = 32;
    let start = Instant::now();
    std::thread::scope(|scope| -> Result<()> {
        let tasks: Vec<_> = (0..threads)
            .map(|_| scope.spawn(|| (0..500).all(|_| prompts.request(&ask).is_ok_and(|a| a.mirrored))))
            .collect();
        for task in tasks {
            ensure!(task.join().unwrap_or(false), "a question failed");
        }
        Ok(())
    })?;
    let took = start.elapsed();
    let count = threads * 500;
    println!(
        "requests by {threads} callers, each waits for its sync: {:.0}/s",
        f64::from(count) / took.as_secs_f64()
    );
    println!("must: ≥ 20,000 requests/s without a sync per line\n");
    Ok(())
}
