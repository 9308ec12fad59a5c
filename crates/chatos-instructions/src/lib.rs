//! Texts of a project that go with a person's messages: `AGENTS.md`, `CLAUDE.md`, and the person's own (packages §4).
//!
//! Such a text is a stranger's word: it is used only where a person said so, it stands on the person's side of a request
//! under a label, and it grants nothing. Nothing here runs or sends anything.

mod block;
mod desk;
mod environment;
mod imports;
mod project;
mod question;
mod reading;
mod text;

pub use block::{Block, MOST_BYTES, Used, WITHDRAWN};
pub use desk::{Desk, Notice, Plan, Wanted, set_consent};
pub use environment::environment;
pub use project::Project;
pub use reading::{COMMANDS, Candidate, Content, Reading, SKILLS, read};
