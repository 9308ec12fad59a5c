//! One file per protocol.

pub mod anthropic;
pub mod gemini;
pub mod openai;
