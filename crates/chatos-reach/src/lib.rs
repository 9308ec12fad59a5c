//! Telling a person who is elsewhere that a question waits for them (inbox §5): which channels there are, when each is
//! told, in which words, and what may be answered from there.
//!
//! What has to be told is rows of the store, written with the question itself; [`Reach`] works them off. Where a person
//! allowed it, buttons of ntfy and Telegram answer: each carries a token for one question as it was shown (`tokens.rs`),
//! and what it says goes the way of every other answer.

mod answers;
mod buttons;
mod channel;
mod desk;
mod desktop;
mod doctor;
mod http;
mod listen;
mod plan;
mod presence;
mod quiet;
mod rows;
mod send;
mod telegram;
mod tend;
mod tokens;
mod words;

pub use desk::{Reach, ReachParts};
pub use quiet::Quiet;
pub use rows::{ChannelRow, NoticeRow, Outbox};
