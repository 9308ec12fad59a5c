//! Cold start to the first reply, memory, and the round trip of a ping.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;

use super::client::Client;
use super::{Peer, Place, row};
use crate::measure::Times;

const ROUNDS: usize = 15;
const PINGS: usize = 2000;

pub(crate) fn run(place: &Place) -> Result<()> {
    let ours = place.ours("project_files", &[]);
    let peers = place.peers();
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); peers.len() + 1];
    let mut bare = Vec::new();
    // Interleaved, so that a busy moment hits all of them.
    for _ in 0..ROUNDS {
        for (index, peer) in std::iter::once(&ours).chain(&peers).enumerate() {
            times[index].push(Client::start(peer)?.1);
        }
        bare.push(nothing()?);
    }
    let medians: Vec<Duration> = times.into_iter().map(|times| Times::new(times).median()).collect();
    let named: Vec<(&str, Duration)> =
        peers.iter().map(|peer| peer.name).zip(medians[1..].iter().copied()).collect();
    row("cold start → first reply", medians[0], &named, Some(("/bin/true", Times::new(bare).median())));
    memory(&ours, &peers)?;
    pings(&ours, &peers)
}

/// The time of a process that does nothing.
fn nothing() -> Result<Duration> {
    let began = Instant::now();
    #[expect(clippy::disallowed_methods, reason = "the limit of starting anything; reaped at once")]
    let status = Command::new("/bin/true").status()?;
    ensure!(status.success());
    Ok(began.elapsed())
}

fn memory(ours: &Peer, peers: &[Peer]) -> Result<()> {
    let resident = |peer: &Peer| -> Result<String> {
        let (mut client, _) = Client::start(peer)?;
        client.request("tools/list", json!({}))?;
        Ok(format!("{:.1} MB", client.resident()? as f64 / 1e6))
    };
    let others: Vec<String> =
        peers.iter().map(|peer| Ok(format!("{} {}", peer.name, resident(peer)?))).collect::<Result<_>>()?;
    println!("| resident memory of one server | {} | {} | – | – |", resident(ours)?, others.join(", "));
    Ok(())
}

fn pings(ours: &Peer, peers: &[Peer]) -> Result<()> {
    let mut clients: Vec<Client> =
        std::iter::once(ours).chain(peers).map(|peer| Ok(Client::start(peer)?.0)).collect::<Result<_>>()?;
    let mut cat = Echo::start()?;
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); clients.len()];
    let mut limit = Vec::new();
    for _ in 0..PINGS / 100 {
        for (index, client) in clients.iter_mut().enumerate() {
            for _ in 0..100 {
                let began = Instant::now();
                client.request("ping", json!({}))?;
                times[index].push(began.elapsed());
            }
        }
        for _ in 0..100 {
            limit.push(cat.turn()?);
        }
    }
    let medians: Vec<Duration> = times.into_iter().map(|times| Times::new(times).median()).collect();
    let named: Vec<(&str, Duration)> =
        peers.iter().map(|peer| peer.name).zip(medians[1..].iter().copied()).collect();
    row("ping round trip p50", medians[0], &named, Some(("`cat`", Times::new(limit).median())));
    Ok(())
}

/// `cat`: the least a line through a process can take.
pub(crate) struct Echo {
    process: std::process::Child,
    lines: BufReader<std::process::ChildStdout>,
}

impl Echo {
    pub(crate) fn start() -> Result<Self> {
        #[expect(clippy::disallowed_methods, reason = "the limit of a round trip; ended when dropped")]
        let mut process = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let lines = BufReader::new(process.stdout.take().context("no stdout")?);
        Ok(Self { process, lines })
    }

    pub(crate) fn turn(&mut self) -> Result<Duration> {
        let began = Instant::now();
        let stdin = self.process.stdin.as_mut().context("no stdin")?;
        stdin.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n")?;
        let mut line = String::new();
        self.lines.read_line(&mut line)?;
        Ok(began.elapsed())
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}
