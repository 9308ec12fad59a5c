//! What servers may ask of the host, and what the host is told: implemented above this crate.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::elicitation::{ElicitAnswer, Elicitation};
use crate::failure::Failure;

/// Names one connection of the pool. Two uses of a server that need different environments or
/// directories have different keys.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServerKey(Arc<str>);

impl ServerKey {
    /// A key; usually the server's identity (`app:…`, `admin:…`).
    pub fn new(key: impl Into<Arc<str>>) -> Self {
        Self(key.into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ServerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for ServerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An answer that takes its time.
pub type Later<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Who asks, and in what context.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The server.
    pub server: ServerKey,
    /// Tags of the calls it is working on. An old server does not say which one it asks for.
    pub calls: Vec<String>,
    /// Cancelled when the server withdraws the question or is gone.
    pub canceled: CancellationToken,
}

/// Which questions a server is told it may ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Offers {
    /// Questions to the person, as a form or an address.
    pub elicitation: bool,
    /// Text from the model; only where a person allowed it.
    pub sampling: bool,
    /// Folders; only where a person set some for it.
    pub roots: bool,
    /// Long work as a task (`io.modelcontextprotocol/tasks`); only for a caller that keeps tasks.
    pub tasks: bool,
    /// Results may come with a page that shows them (`io.modelcontextprotocol/ui`).
    pub views: bool,
}

/// A folder a server is told about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// `file://…`.
    pub uri: String,
    /// For people.
    pub name: Option<String>,
}

/// The address of a folder.
pub fn file_uri(path: &str) -> String {
    let mut uri = "file://".to_owned();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

/// Where a line of a server's log came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogSource {
    /// Its error stream.
    Stderr,
    /// A log message of the protocol.
    Message,
    /// This client, about the server.
    Client,
}

/// A line of a server's log.
#[derive(Debug, Clone, PartialEq)]
pub struct LogLine {
    /// Where from.
    pub source: LogSource,
    /// The level the server gave, for messages.
    pub level: Option<String>,
    /// The text, at most 64 KiB.
    pub text: String,
}

/// What the host does for servers. Every method has the answer of a host that does nothing of it.
///
/// The methods that return nothing are called from the task that reads the server; they must not wait.
pub trait Hooks: Send + Sync + 'static {
    /// Whether a server may be started or connected to now: asked right before every attempt, and about a
    /// server that is not (or no longer) there, to say why.
    fn admit(&self, _server: &ServerKey) -> Later<Result<(), Failure>> {
        Box::pin(async { Ok(()) })
    }

    /// A question to the person. The error says why it cannot be asked, and is the server's to correct.
    fn elicit(&self, asked: Asked, ask: Elicitation) -> Later<Result<ElicitAnswer, String>> {
        drop((asked, ask));
        Box::pin(async { Ok(ElicitAnswer::Cancel) })
    }

    /// A request for text from the model; the parameters and the result are those of
    /// `sampling/createMessage`. The error is the reason the server is told.
    fn sample(&self, asked: Asked, params: Value) -> Later<Result<Value, String>> {
        drop((asked, params));
        Box::pin(async { Err("sampling is not allowed".to_owned()) })
    }

    /// The folders a person set for this server.
    fn roots(&self, asked: Asked) -> Later<Vec<Root>> {
        drop(asked);
        Box::pin(async { Vec::new() })
    }

    /// A line for the server's log.
    fn log(&self, server: &ServerKey, line: LogLine) {
        tracing::debug!(%server, source = ?line.source, "{}", line.text);
    }

    /// The server's list of tools is another one now.
    fn tools_changed(&self, server: &ServerKey) {
        tracing::debug!(%server, "tools changed");
    }

    /// A task of the server has a new state (`notifications/tasks`); the value is what `tasks/get`
    /// would answer. Only a hint to look at once instead of at the next interval.
    fn task_changed(&self, server: &ServerKey, task: Value) {
        tracing::debug!(%server, %task, "task changed");
    }
}

/// A host that answers nothing; for tests and tools.
#[derive(Debug, Default)]
pub struct NoHooks;

impl Hooks for NoHooks {}
