//! Cold start to the first reply, memory, and the round trip of a ping.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;

use super::Place;
use super::client::Client;
use super::contest::Contest;
use super::peer::{Kind, Peer};
use super::table::{Bar, row, words};
use crate::measure::Times;

const ROUNDS: usize = 15;

pub(crate) fn run(place: &Place) -> Result<()> {
    let ours = place.ours("project_files", &[]);
    let peers = place.peers();
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); peers.len() + 1];
    let mut bare = Vec::new();
    // Interleaved, so that a busy moment hits all of them.
    for round in 0..ROUNDS {
        for (index, peer) in std::iter::once(&ours).chain(&peers).enumerate() {
            // Those that need half a second are started less often.
            if index == 0 || peer.kind == Kind::Rust || round < 5 {
                times[index].push(Client::start(peer)?.1);
            }
        }
        bare.push(nothing()?);
    }
    let medians: Vec<Duration> = times.into_iter().map(|times| Times::new(times).median()).collect();
    let named: Vec<(Kind, Option<Duration>)> =
        peers.iter().map(|peer| peer.kind).zip(medians[1..].iter().copied().map(Some)).collect();
    let rust = named.iter().find(|(kind, _)| *kind == Kind::Rust).and_then(|(_, time)| *time);
    let (own, limit) = (medians[0], Times::new(bare).median());
    let must = Bar::times(own, limit, 6.0).and(Bar::rust(own, rust, 2.0));
    let aim = Bar::times(own, limit, 3.0);
    row("cold start → first reply", own, &named, Some(("/bin/true", limit)), Some(must), Some(aim));
    memory(place, &ours, &peers)?;
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

fn memory(place: &Place, ours: &Peer, peers: &[Peer]) -> Result<()> {
    let resident = |peer: &Peer| -> Result<u64> {
        let (mut client, _) = Client::start(peer)?;
        client.request("tools/list", json!({}))?;
        client.resident()
    };
    let megabytes = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
    let others: Vec<String> = peers
        .iter()
        .map(|peer| Ok(format!("{} {}", peer.kind.name(), megabytes(resident(peer)?))))
        .collect::<Result<_>>()?;
    let own = resident(ours)?;
    let bar = |most: u64| Some(Bar::new(format!("≤ {most} MB"), own <= most * 1_000_000));
    words("resident memory of one server", &megabytes(own), &others.join(", "), "", "", bar(20), bar(14));
    let (_, host) = crate::start::serve(&place.chatos, &place.dir.path().join("home"))?;
    let bar = |most: u64| Some(Bar::new(format!("≤ {most} MB"), host <= most * 1_000_000));
    words("resident memory of an idle host", &megabytes(host), "", "", "", bar(60), bar(40));
    Ok(())
}

fn pings(ours: &Peer, peers: &[Peer]) -> Result<()> {
    let mut contest = Contest::new(ours, peers)?;
    let mut cat = Echo::start()?;
    let outcome = contest.run(
        20,
        100,
        |_, client| Some(client.request("ping", json!({}))),
        |_, reply| reply.is_object(),
        || cat.turn(),
    )?;
    let (own, limit) = (outcome.ours.median(), outcome.limit.median());
    let must = Bar::rust(own, outcome.of(Kind::Rust), 1.0);
    let aim = Bar::times(own, limit, 1.5);
    row("ping round trip p50", own, &outcome.peers, Some(("`cat`", limit)), must, Some(aim));
    Ok(())
}

/// `cat`: the least a line through a process can take.
pub(crate) struct Echo {
    process: std::process::Child,
    lines: BufReader<std::process::ChildStdout>,
}

const LINE: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";

impl Echo {
    pub(crate) fn start() -> Result<Self> {
        #[expect(clippy::disallowed_methods, reason = "the limit of a round trip; ended when dropped")]
        let mut process = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let lines = BufReader::new(process.stdout.take().context("no stdout")?);
        Ok(Self { process, lines })
    }

    pub(crate) fn turn(&mut self) -> Result<Duration> {
        self.flood(1, 1)
    }

    /// Many lines with `window` of them under way.
    pub(crate) fn flood(&mut self, times: usize, window: usize) -> Result<Duration> {
        let began = Instant::now();
        let stdin = self.process.stdin.as_mut().context("no stdin")?;
        let (mut sent, mut line) = (0, String::new());
        for done in 0..times {
            while sent < times && sent - done < window {
                stdin.write_all(LINE)?;
                sent += 1;
            }
            line.clear();
            ensure!(self.lines.read_line(&mut line)? == LINE.len(), "cat lost something");
        }
        Ok(began.elapsed())
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}
