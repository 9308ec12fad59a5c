//! The tool contract: what a tool says, in which words and codes. Pure; no input or output.
//!
//! Every surface (command line, HTTP, tool envelopes) speaks of failures with the same closed list
//! of codes, and of everything a person reads in two languages.

mod error_code;
mod fault;
mod text;

pub use error_code::ErrorCode;
pub use fault::Fault;
pub use text::{Lang, Text};
