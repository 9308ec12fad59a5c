//! Cold fold of a long log beside a bare read of the same file.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use chatos_prompts::{Query, View};

use super::{Order, open, write_log};
use crate::measure::{Times, human, ratio};

const ROUNDS: usize = 7;

pub(super) fn run(lines: usize) -> Result<()> {
    measure(lines, Order::Paired)?;
    measure(lines, Order::Apart)?;
    println!("must: fold ≤ 8 × read\n");
    Ok(())
}

fn measure(lines: usize, order: Order) -> Result<()> {
    let dir = tempfile::tempdir()?;
    let log = dir.path().join("ui-prompts.jsonl");
    let bytes = write_log(&log, lines, order)?;
    let how = match order {
        Order::Paired => "each answer after its question",
        Order::Apart => "all answers after all questions",
    };
    println!(
        "cold fold of {lines} lines ({} MB), {how}, page cache warm, {ROUNDS} rounds interleaved",
        bytes / 1_000_000
    );
    read(&log)?;
    let (mut folds, mut reads, mut lists) = (Vec::new(), Vec::new(), Vec::new());
    let mut memory = 0;
    for _ in 0..ROUNDS {
        reads.push(read(&log)?);
        let before = resident();
        let start = Instant::now();
        let prompts = open(dir.path())?;
        folds.push(start.elapsed());
        memory = memory.max(resident().saturating_sub(before));
        ensure!(prompts.counts().needs_you == 20, "the fold is wrong: {:?}", prompts.counts());
        let start = Instant::now();
        let page = prompts.list(&Query { view: View::NeedsYou, limit: 200, ..Query::default() })?;
        let history = prompts.list(&Query { view: View::History, limit: 200, ..Query::default() })?;
        lists.push(start.elapsed());
        ensure!(page.items.len() == 20 && history.items.len() == 200, "a list is wrong");
    }
    let (folds, reads) = (Times::new(folds), Times::new(reads));
    println!(
        "  bare read {} (best {}), fold {} (best {}), ratio {:.1} (best to best {:.1}), {:.0} MB/s",
        human(reads.median()),
        human(reads.best()),
        human(folds.median()),
        human(folds.best()),
        ratio(folds.median(), reads.median()),
        ratio(folds.best(), reads.best()),
        bytes as f64 / 1e6 / folds.median().as_secs_f64(),
    );
    println!("  index: {} MiB resident; both lists: {}", memory >> 20, human(Times::new(lists).median()));
    Ok(())
}

fn read(path: &Path) -> Result<Duration> {
    let start = Instant::now();
    let mut file = File::open(path)?;
    let mut buf = vec![0; 256 << 10];
    let mut total = 0u64;
    loop {
        match file.read(&mut buf)? {
            0 => break,
            n => total += n as u64,
        }
    }
    ensure!(total > 0, "the file is empty");
    Ok(start.elapsed())
}

fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}
