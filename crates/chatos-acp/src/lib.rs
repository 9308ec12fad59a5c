//! Other coding agents inside ChatOS, over the Agent Client Protocol, version 1 (decision 0055): which of them are on
//! this machine (`known.rs`), their process and its line (`seat.rs`, `link.rs`, and of what is too large `head.rs`), what
//! their messages say (`message.rs`), their session and what a person chooses of it (`session.rs`, `choose.rs`), the question about what
//! they want to do (`permission.rs`), which of it our gateway sees (`ours.rs`), a turn as a run (`turn.rs`) and what they let us do in it (`turn/acts.rs`).
//!
//! An agent is a stranger: whatever it sends costs its own turn only, nothing it says is a yes, and what it does by
//! itself is shown as what it announced. What a run needs of the host is behind [`chatos_agent::Stage`].

mod calls;
mod choose;
mod head;
mod known;
mod link;
mod message;
mod ours;
mod permission;
mod recover;
mod seat;
mod session;
mod turn;

pub use choose::{choose, session};
pub use known::{Found, Known, PLACES, TABLE, detect, known};
pub use ours::OurTool;
pub use permission::Allowed;
pub use seat::{Launching, Seats};
pub use turn::{AcpTurn, Audit, Deed, Hands};
