//! From another process's append to the return of the waiter, at four log sizes, beside a bare inotify
//! wake-up with a read of the same line.

use std::fs::File;
use std::io::{BufRead, Write};
use std::mem::MaybeUninit;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use chatos_prompts::RequestId;
use rustix::fs::inotify;
use tokio_util::sync::CancellationToken;

use super::{Order, open, write_log};
use crate::measure::{Times, human, monotonic_nanos, ratio};

const ROUNDS: usize = 400;
const SIZES: [usize; 4] = [0, 10_000, 100_000, 1_000_000];

pub(super) fn run() -> Result<()> {
    println!("append by another process → waiter returns ({ROUNDS} rounds each, interleaved with the limit)");
    println!("{:>10}  {:>22}  {:>22}  {:>6}", "lines", "waiter p50 / p99", "bare inotify p50 / p99", "ratio");
    for lines in SIZES {
        let dir = tempfile::tempdir()?;
        let log = dir.path().join("ui-prompts.jsonl");
        if lines > 0 {
            write_log(&log, lines, Order::Paired)?;
        }
        let (ours, bare) = measure(dir.path(), &log)?;
        println!(
            "{lines:>10}  {:>22}  {:>22}  {:>6.2}",
            format!("{} / {}", human(ours.median()), human(ours.at(99))),
            format!("{} / {}", human(bare.median()), human(bare.at(99))),
            ratio(ours.median(), bare.median()),
        );
    }
    println!("must: p50 ≤ 2 ms, p99 ≤ 10 ms, flat over the sizes, p50 ≤ 3 × the limit\n");
    Ok(())
}

fn measure(dir: &Path, log: &Path) -> Result<(Times, Times)> {
    let plain = dir.join("plain.txt");
    File::create(&plain)?;
    let prompts = open(dir)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let mut child = Writer::start(log, &plain)?;
    let bare_wakes = watch_plain(&plain)?;
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS + 20 {
        let id = RequestId::parse(&format!("bench-{round}"))?;
        let mut waiting = prompts.expect_result(std::slice::from_ref(&id), prompts.cursor()?);
        child.say(&format!("log {id}"))?;
        let (found, now) = runtime.block_on(async {
            let deadline = tokio::time::Instant::now() + Duration::from_secs(10);
            let found = waiting.wait(Duration::from_secs(5), Some(deadline), &CancellationToken::new()).await;
            (found, monotonic_nanos())
        });
        let found = found.context("the waiter did not return")?;
        ensure!(found.request_id == id, "another result came");
        let stamp: u64 = found.prompt["markdown"].as_str().unwrap_or_default().parse()?;
        let mine = Duration::from_nanos(now.saturating_sub(stamp));
        child.say("plain x")?;
        let limit = bare_wakes.recv_timeout(Duration::from_secs(10))?;
        // The first rounds warm caches and threads.
        if round >= 20 {
            ours.push(mine);
            bare.push(limit);
        }
    }
    child.stop()?;
    Ok((Times::new(ours), Times::new(bare)))
}

// A thread that does only what must be done: wait for the file, read the new bytes.
fn watch_plain(path: &Path) -> Result<Receiver<Duration>> {
    let (sender, receiver) = sync_channel(1);
    let watch = inotify::init(inotify::CreateFlags::CLOEXEC)?;
    inotify::add_watch(&watch, path, inotify::WatchFlags::MODIFY)?;
    let file = File::open(path)?;
    std::thread::spawn(move || -> Option<()> {
        let mut at = 0;
        let mut buf = [MaybeUninit::uninit(); 4096];
        let mut line = [0u8; 256];
        loop {
            inotify::Reader::new(&watch, &mut buf).next().ok()?;
            let read = file.read_at(&mut line, at).ok()?;
            if read == 0 {
                continue;
            }
            let now = monotonic_nanos();
            at += read as u64;
            let stamp: u64 = std::str::from_utf8(&line[..read]).ok()?.trim().parse().ok()?;
            sender.send(Duration::from_nanos(now.saturating_sub(stamp))).ok()?;
        }
    });
    Ok(receiver)
}

struct Writer {
    child: Child,
    stdin: ChildStdin,
}

impl Writer {
    #[expect(clippy::disallowed_methods, reason = "the append must come from another process")]
    fn start(log: &Path, plain: &Path) -> Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg("prompts-writer")
            .arg(log)
            .arg(plain)
            .stdin(Stdio::piped())
            .spawn()?;
        let stdin = child.stdin.take().context("no pipe to the writer")?;
        Ok(Self { child, stdin })
    }

    fn say(&mut self, line: &str) -> Result<()> {
        Ok(writeln!(self.stdin, "{line}")?)
    }

    fn stop(mut self) -> Result<()> {
        drop(self.stdin);
        self.child.wait()?;
        Ok(())
    }
}

/// The other process: one plain append per line it is told, stamped just before the write.
pub(crate) fn writer(log: &Path, plain: &Path) -> Result<()> {
    let open = |path: &Path| File::options().append(true).create(true).open(path);
    let (mut log, mut plain) = (open(log)?, open(plain)?);
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        // A moment apart from what woke us, as a program that works would be.
        std::thread::sleep(Duration::from_micros(300));
        match line.split_once(' ') {
            Some(("log", id)) => {
                let text = format!(
                    r#"{{"ts":"2026-01-11T00:00:00.000Z","type":"ui_prompt","action":"request","requestId":"{id}","prompt":{{"kind":"result","markdown":"{}"}}}}"#,
                    monotonic_nanos()
                );
                log.write_all(format!("{text}\n").as_bytes())?;
            }
            _ => plain.write_all(format!("{}\n", monotonic_nanos()).as_bytes())?,
        }
    }
    Ok(())
}
