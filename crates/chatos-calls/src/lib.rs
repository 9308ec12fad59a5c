//! Calls of tools inside the host: the one dispatcher, what it needs around it, and what servers ask while calls
//! are on their way.

mod active;
mod desk;
mod left;
mod parts;
mod ports;
mod questions;
mod results;
mod sampling;
mod tools;
mod whole;

pub use desk::{Calls, CallsSlot};
pub use parts::{CallParts, RunsOfCalls};
pub use results::text_of;
pub use tools::{ToolCall, Tools};
