//! The same thing done by all of them in turn, so that a busy moment hits all alike.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::client::Client;
use super::peer::{Kind, Peer};
use crate::measure::Times;

/// The servers of one measurement, started; ours is the first.
pub(crate) struct Contest {
    servers: Vec<(Kind, Client)>,
}

/// What came of it.
pub(crate) struct Outcome {
    pub(crate) ours: Times,
    /// `None`: it gave an error or a reply that was not complete.
    pub(crate) peers: Vec<(Kind, Option<Duration>)>,
    pub(crate) limit: Times,
}

impl Outcome {
    pub(crate) fn of(&self, kind: Kind) -> Option<Duration> {
        self.peers.iter().find(|(peer, _)| *peer == kind).and_then(|(_, time)| *time)
    }
}

impl Contest {
    pub(crate) fn new(ours: &Peer, peers: &[Peer]) -> Result<Self> {
        let servers: Result<Vec<_>> =
            std::iter::once(ours).chain(peers).map(|peer| Ok((peer.kind, Client::start(peer)?.0))).collect();
        Ok(Self { servers: servers? })
    }

    pub(crate) fn ours(&mut self) -> Result<&mut Client> {
        self.servers.first_mut().map(|(_, client)| client).context("no server")
    }

    pub(crate) fn all(&mut self) -> impl Iterator<Item = &mut (Kind, Client)> {
        self.servers.iter_mut()
    }

    /// `rounds` times: each server `each` times, then the limit as often. A reply is checked before its
    /// time counts; ours must be right, a peer that is wrong once is out.
    pub(crate) fn run(
        &mut self,
        rounds: usize,
        each: usize,
        work: impl Fn(Kind, &mut Client) -> Option<Result<Value>>,
        check: impl Fn(Kind, &Value) -> bool,
        mut limit: impl FnMut() -> Result<Duration>,
    ) -> Result<Outcome> {
        let mut times: Vec<Option<Vec<Duration>>> = self.servers.iter().map(|_| Some(Vec::new())).collect();
        let mut absent = Vec::new();
        let mut bare = Vec::new();
        // What is opened once is opened before anything counts.
        for round in 0..=rounds {
            for ((kind, client), times) in self.servers.iter_mut().zip(&mut times) {
                for _ in 0..each {
                    let Some(sofar) = times.as_mut() else { continue };
                    let began = Instant::now();
                    let Some(reply) = work(*kind, client) else {
                        absent.push(*kind);
                        *times = None;
                        continue;
                    };
                    let took = began.elapsed();
                    let right = reply.as_ref().is_ok_and(|reply| check(*kind, reply));
                    if *kind == Kind::Ours {
                        anyhow::ensure!(
                            right,
                            "our own reply is not complete: {:.400}",
                            format!("{reply:?}")
                        );
                    } else if !right {
                        *times = None;
                        continue;
                    }
                    if round > 0 {
                        sofar.push(took);
                    }
                }
            }
            if round > 0 {
                for _ in 0..each {
                    bare.push(limit()?);
                }
            }
        }
        let mut medians = times.into_iter();
        let ours = Times::new(medians.next().flatten().context("nothing was measured")?);
        let peers = self.servers.iter().skip(1).map(|(kind, _)| *kind).zip(medians);
        let peers = peers
            .filter(|(kind, _)| !absent.contains(kind))
            .map(|(kind, times)| (kind, times.map(|times| Times::new(times).median())))
            .collect();
        Ok(Outcome { ours, peers, limit: Times::new(bare) })
    }
}
