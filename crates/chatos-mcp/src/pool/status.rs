//! What the pool tells about a server.

use std::time::{Duration, SystemTime};

use crate::failure::Failure;
use crate::handshake::Peer;
use crate::hooks::ServerKey;
use crate::oauth::Challenge;
use crate::router::Noise;

/// Where a server is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Known, not running; starts when somebody needs it.
    Idle,
    /// Being started.
    Starting,
    /// Connected.
    Ready,
    /// Failed; the next attempt comes by itself.
    Waiting,
    /// Waits for a person to sign in at its authorization server; nothing happens by itself.
    SignIn,
    /// Failed too often; a person has to restart it.
    Failed,
    /// Stopped by a person.
    Stopped,
}

impl Phase {
    /// As text.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Waiting => "waiting",
            Self::SignIn => "sign_in",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
        }
    }
}

/// The last failure.
#[derive(Debug, Clone)]
pub struct LastError {
    /// Why.
    pub failure: Failure,
    /// The end of the child's error stream then.
    pub stderr: Vec<String>,
    /// When.
    pub at: SystemTime,
}

/// A server as pages and commands show it.
#[derive(Debug, Clone)]
pub struct ServerStatus {
    /// Its key.
    pub key: ServerKey,
    /// For people.
    pub name: String,
    /// `stdio`, `http`, `ws` or `in-process`.
    pub kind: &'static str,
    /// Where it is.
    pub phase: Phase,
    /// Who it says it is, while connected.
    pub peer: Option<Peer>,
    /// Its process.
    pub pid: Option<u32>,
    /// Calls it works on.
    pub calls: usize,
    /// Who holds it.
    pub leases: usize,
    /// Tools in the newest list, where there is one.
    pub tools: Option<usize>,
    /// The last failure, also after it works again.
    pub last_error: Option<LastError>,
    /// Rights that a call lacked; a person may sign in for them.
    pub wanted: Option<Challenge>,
    /// When the next attempt begins.
    pub next_attempt: Option<Duration>,
    /// The end of its error stream now.
    pub stderr: Vec<String>,
    /// What came that was no message.
    pub noise: Noise,
}
