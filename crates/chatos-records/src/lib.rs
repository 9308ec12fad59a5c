//! What is kept of runs and calls, as people and programs see it: lists, trees of spans, sums, files to take
//! along, the record of events and the log of tools.
//!
//! Nothing here starts, stops or changes a run; the host's runs write, this reads.

mod client_runs;
mod event_log;
mod export;
mod runs;
pub mod sub_steps;
mod tool_log;
pub mod trace_ids;
mod views;

pub use client_runs::{client_run, client_steps, is_client_run};
pub use event_log::{EventLog, newest_events};
pub use export::otlp::of_trace as otlp_of_trace;
pub use export::{Exported, Reopened};
pub use runs::{RunRecords, no_run, no_session};
pub use tool_log::tail::follow as follow_tool_log;
pub use tool_log::{ToolLogFilter, ToolLogPage, read as read_tool_log};
pub use views::{message_view, run_view, session_view, step_view, summary_view, usage_view};
