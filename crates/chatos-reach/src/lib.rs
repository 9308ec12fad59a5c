//! Telling a person who is elsewhere that a question waits for them (inbox §5): which channels there are, when each is
//! told, in which words, and what may be answered from there.
//!
//! What has to be told is rows of the store, written with the question itself; [`Reach`] works them off. Nothing here
//! approves anything.

mod channel;
mod desk;
mod desktop;
mod doctor;
mod http;
mod plan;
mod presence;
mod quiet;
mod rows;
mod send;
mod tend;
mod words;

pub use desk::{Reach, ReachParts};
pub use quiet::Quiet;
pub use rows::{ChannelRow, NoticeRow, Outbox};
