//! One file per protocol, and what several of them share.

pub mod anthropic;
pub mod gemini;
pub mod ollama;
pub mod openai;
pub mod responses;
mod returned;
mod thinking;
