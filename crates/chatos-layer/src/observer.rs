//! What the layer tells the host while a call goes on; the host writes it to its own event stream
//! (tools §8).

use chatos_tool::{Status, Trace};
use serde_json::Value;

/// One thing that happened to a call. Nothing here holds arguments, results or secrets.
#[derive(Debug, Clone)]
pub enum CallEvent {
    /// It runs now.
    Started {
        /// The server.
        server: &'static str,
        /// Where it belongs, with the tool's name.
        trace: Trace,
    },
    /// It says how far it is.
    Progress {
        /// Where it belongs.
        trace: Trace,
        /// Rising number.
        progress: f64,
        /// The number at the end, when known.
        total: Option<f64>,
        /// For people.
        message: String,
        /// Structured detail.
        detail: Option<Value>,
    },
    /// A person is being asked.
    Waiting {
        /// The call, as in the log.
        call_id: String,
        /// Where it belongs.
        trace: Trace,
        /// The prompt.
        request_id: String,
    },
    /// It is over.
    Finished {
        /// The server.
        server: &'static str,
        /// Where it belongs.
        trace: Trace,
        /// How it ended.
        status: Status,
        /// `ok` or the reason.
        code: &'static str,
        /// Time of work.
        elapsed_ms: u64,
        /// Bytes of the result.
        size: usize,
    },
}

/// Hears about calls. Must return at once.
pub trait Observer: Send + Sync {
    /// Something happened.
    fn event(&self, event: CallEvent);
}

/// Nobody listens: a server in its own process.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nobody;

impl Observer for Nobody {
    fn event(&self, _event: CallEvent) {}
}
