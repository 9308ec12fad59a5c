//! What servers ask in the middle of a call; answered by whoever knows the calls on their way.

use chatos_mcp::{Asked, ElicitAnswer, Elicitation, Later};
use serde_json::Value;

/// Who answers what servers ask. `server` is what people call the one that asks.
pub trait ServerQuestions: Send + Sync {
    /// A question for the person; the error is what the server is told.
    fn elicit(&self, asked: Asked, server: String, ask: Elicitation) -> Later<Result<ElicitAnswer, String>>;
    /// A model's answer for a server, when the person agrees; the parameters are those of `sampling/createMessage`.
    fn sample(&self, asked: Asked, server: String, params: Value) -> Later<Result<Value, String>>;
}
