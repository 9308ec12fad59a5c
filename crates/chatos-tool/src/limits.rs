//! Every cap of the tool contract in one place, and the few that a person may change.
//!
//! Caps that a setting decides have their default and range in `state §4`; the constants here are
//! the defaults for a process that has no settings, and the bounds nobody may change.

/// Longest tool name: models see it behind a server prefix, 64 bytes in all (tools §1.5, §2).
pub const TOOL_NAME_CHARS: usize = 48;
/// Longest title of a tool, per language.
pub const TITLE_CHARS: usize = 40;
/// Longest description of a tool, per language. Longer ones cost every model call.
pub const DESCRIPTION_CHARS: usize = 1_200;

/// Largest sum of all text blocks of one result (`toolResultChars`).
pub const RESULT_CHARS: usize = 120_000;
/// `data` may have this many times the characters of the text, in bytes (tools §7).
pub const DATA_FACTOR: usize = 4;
/// Longest single line of a text (`toolLineMaxChars`).
pub const LINE_CHARS: usize = 2_000;
/// A cut moves to a line boundary that is at most this far away (tools §7).
pub const LINE_BOUNDARY_BYTES: usize = 512;

/// Longest string in the tool log (`toolLogMaxFieldChars`).
pub const LOG_FIELD_CHARS: usize = 4_000;
/// Largest record of the tool log. Smaller would lose arguments people look for, larger would let
/// one call push a hundred others out of the file.
pub const LOG_RECORD_BYTES: usize = 64 * 1024;

/// Longest path argument.
pub const PATH_BYTES: usize = 4_096;
/// Longest message over stdio or HTTP.
pub const MESSAGE_BYTES: usize = 8 * 1024 * 1024;
/// Deepest nesting of arguments; deeper ones are refused before anything recurses on them.
pub const ARGUMENT_DEPTH: usize = 64;
/// Most problems reported for one call; a model needs a handful, not ten thousand.
pub const ISSUES: usize = 50;

/// Shortest text that counts as a known secret (tools §9.2). Shorter ones would blank out ordinary words.
pub const KNOWN_SECRET_CHARS: usize = 8;

/// Idle and total time of a call (`mcpTimeoutMs`, `mcpMaxTimeoutMs`).
pub const IDLE_MS: u64 = 600_000;
/// See [`IDLE_MS`].
pub const TOTAL_MS: u64 = 7_200_000;
/// How long a call that was told to stop may take to hand over what it has (tools §12).
pub const GRACE_MS: u64 = 2_000;
/// At most one progress notification per this time.
pub const PROGRESS_MIN_MS: u64 = 200;
/// At least one progress notification per this time while something goes on.
pub const PROGRESS_MAX_MS: u64 = 10_000;
/// Everything of a server process ends within this time after it was asked to (tools §16.2).
pub const SHUTDOWN_MS: u64 = 3_000;

/// Calls at once in one process (`toolMaxConcurrent`).
pub const CONCURRENT: usize = 16;
/// Calls waiting for a place, per server (`toolQueueMax`).
pub const QUEUE: usize = 64;

/// The text limits of one call, from the settings in force when it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextLimits {
    /// Sum of all text blocks, in characters.
    pub result_chars: usize,
    /// One line, in characters.
    pub line_chars: usize,
}

impl TextLimits {
    /// Most bytes of compact JSON that `data` may have.
    pub fn data_bytes(self) -> usize {
        self.result_chars.saturating_mul(DATA_FACTOR)
    }
}

impl Default for TextLimits {
    fn default() -> Self {
        Self { result_chars: RESULT_CHARS, line_chars: LINE_CHARS }
    }
}
