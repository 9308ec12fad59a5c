//! What comes back while a model answers.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Usage;

/// One step of an answer, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// More text.
    Text(String),
    /// More thinking, for a person to read.
    Reasoning(String),
    /// A block of thinking is complete; `opaque` must go back with the next request.
    ReasoningBlock {
        /// The vendor's own block.
        opaque: Value,
    },
    /// More of a tool call. The first one of an index has the id and the name.
    ToolUse {
        /// Which call of this answer, from 0.
        index: usize,
        /// Its id, once.
        id: Option<String>,
        /// Its name, once.
        name: Option<String>,
        /// More of its arguments.
        args_delta: String,
        /// The vendor's own part, to go back unchanged.
        opaque: Option<Value>,
    },
    /// Tokens so far; the last one counts.
    Usage(Usage),
    /// The answer is complete.
    Done(Stop),
}

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// It was finished.
    End,
    /// It wants tools.
    ToolUse,
    /// It reached the longest answer.
    Length,
    /// The vendor cut it for its content.
    ContentFilter,
}
