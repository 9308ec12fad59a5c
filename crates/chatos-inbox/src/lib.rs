//! The inbox: the durable queue of questions as this product uses it. Its records are rows of `state.db`, its lines
//! are signed with the state key, and every surface (HTTP, terminal, runs, servers) goes through one [`Questions`].
//!
//! [`Inbox`] is the part of a host: it opens the queue at the first use, asks, waits for verdicts, and follows the
//! queue while the host runs. The protocol, the log and the rules of answers are `chatos-prompts`.

mod bulk;
mod card;
mod client_grants;
pub mod clients;
mod covered;
mod doctor;
mod drafts;
mod fault;
mod follow;
mod inbox;
mod page;
mod query;
mod question;
mod questions;
mod records;
mod rules;
mod seen;
mod sift;
mod snooze;
mod starter;
mod together;
mod visit;

pub use bulk::BulkReply;
pub use client_grants::{AllowOrder, covers};
pub use covered::Covered;
pub use inbox::{Inbox, InboxParts};
pub use page::{ServerVoice, page_effect, page_question};
pub use question::{Question, Verdict};
pub use questions::{PromptReply, Questions};
pub use rules::WantedRule;
pub use starter::{Starter, descends_from};
pub use together::TogetherReply;
pub use visit::{beside, recorded, unrecorded};
