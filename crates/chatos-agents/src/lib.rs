//! An agent: its configuration, the land_config that says what it may use, the texts its model is given, and the
//! explanation of every grant and refusal (agents §3–§6).
//!
//! The decision itself is `chatos-policy`, pure; here it meets the records and the state of servers and apps.

mod agents;
mod blocks;
mod book;
mod edit;
mod explain;
mod fault;
mod give;
mod known;
mod lands;
mod prompts;
mod seeds;
mod sub_import;
mod world;

pub use agents::{AgentParts, Agents};
pub use blocks::{Block, BlockContext, PromptUse, SubTexts, SystemBlocks};
pub use seeds::{FIRST_AGENT, seed};
pub use sub_import::{read_sub_folder, write_sub_plugin};
