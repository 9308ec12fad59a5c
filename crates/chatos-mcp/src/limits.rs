//! Every cap and time of the client (mcp "children", security T11), in one place.

use std::time::Duration;

use chatos_tool::limits;

/// Longest message in either direction. A longer line ends the connection: what follows it could not
/// be told from its rest.
pub(crate) const MESSAGE_BYTES: usize = limits::MESSAGE_BYTES;
/// Pages of one listing.
pub const LIST_PAGES: usize = 100;
/// Tools of one server; more would only drown the model.
pub const LIST_TOOLS: usize = 1_000;
/// Prompts of one server; more would only drown the person who looks for one (packages §5.1).
pub const LIST_PROMPTS: usize = 200;
/// Resources of one server that are listed, and its templates beside them.
pub const LIST_RESOURCES: usize = 1_000;
/// Longest address of a resource.
pub(crate) const URI_BYTES: usize = 2_048;
/// Arguments of one prompt.
pub(crate) const PROMPT_ARGUMENTS: usize = 50;
/// Values that are suggested for an argument at a time.
pub(crate) const COMPLETIONS: usize = 100;
/// Largest schema of a tool, as compact JSON.
pub const SCHEMA_BYTES: usize = 64 * 1024;
/// Deepest nesting of a schema.
pub const SCHEMA_DEPTH: usize = 32;
/// Deepest nesting of anything about a tool. Less than a parser takes.
pub(crate) const TOOL_DEPTH: usize = 2 * SCHEMA_DEPTH;
/// Longest name of a tool.
pub const TOOL_NAME_BYTES: usize = 256;
/// Largest description of one tool with all its texts, as compact JSON. Four times what both schemas
/// may have; a larger one is an attack on memory, not a tool.
pub const TOOL_BYTES: usize = 256 * 1024;
/// All tools of one listing.
pub const LIST_BYTES: usize = 16 * 1024 * 1024;
/// Memory that the trees of a list may take, and that of any message which is not the result of a call.
pub(crate) const TREE_BYTES: usize = 32 * 1024 * 1024;
/// Messages up to this length are read without weighing them first.
pub(crate) const LIGHT_BYTES: usize = 256 * 1024;
/// Longest cursor of a listing.
pub(crate) const CURSOR_BYTES: usize = 64 * 1024;
/// Longest message of a progress report.
pub(crate) const PROGRESS_BYTES: usize = 4 * 1024;
/// Calls one server works on at a time.
pub const IN_FLIGHT: usize = 64;
/// Calls that may wait for one of those places. A thousand calls over a few servers is a busy day;
/// ten thousand on one is a loop.
pub const WAITING: usize = 2_048;
/// Longest line of a child's error stream.
pub const STDERR_LINE_BYTES: usize = 64 * 1024;
/// Messages waiting to be written to one server.
pub(crate) const OUT_QUEUE: usize = 128;
/// Requests of one server that are being answered at a time; more are refused.
pub(crate) const SERVER_REQUESTS: usize = 16;
/// Lines of log a server may add per second, its error stream and its log messages each.
pub(crate) const LOG_LINES_PER_SECOND: u32 = 200;
/// Times a redirect is followed (security T20).
pub(crate) const REDIRECTS: usize = 5;
/// Bytes of a refusal's body that are read to explain it.
pub(crate) const REFUSAL_BYTES: usize = 64 * 1024;

/// Times of one server's connection. The defaults are those of the specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// From the start of the process or connection to the end of the handshake.
    pub init: Duration,
    /// How long the probe for the newest protocol may stay unanswered before the older handshake is
    /// sent as well.
    pub probe: Duration,
    /// A whole listing of tools.
    pub list: Duration,
    /// A call without a sign of life (`mcpTimeoutMs`).
    pub call_idle: Duration,
    /// A call, whatever it reports (`mcpMaxTimeoutMs`).
    pub call_total: Duration,
    /// Handing one message to a server that does not read.
    pub send: Duration,
    /// From the closed input to the first signal.
    pub stop_gentle: Duration,
    /// From the first signal to the last.
    pub stop_firm: Duration,
    /// Shortest time between two listings.
    pub relist: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            init: Duration::from_secs(15),
            probe: Duration::from_secs(2),
            list: Duration::from_secs(15),
            call_idle: Duration::from_millis(limits::IDLE_MS),
            call_total: Duration::from_millis(limits::TOTAL_MS),
            send: Duration::from_secs(30),
            stop_gentle: Duration::from_secs(2),
            stop_firm: Duration::from_secs(3),
            relist: Duration::from_secs(1),
        }
    }
}
