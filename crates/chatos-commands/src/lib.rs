//! What a person types behind `/` and `@`: built-in commands, their own ones, skills, prompts of servers, files
//! of the workspace, resources of servers (packages §5).
//!
//! Everything here becomes text of a person's message before a model or a policy sees it; nothing is run, and no model
//! can start any of it. The server's routes call [`Desk`] and [`mentions`]; the terminal takes the table of
//! [`built_in`] from here.

pub mod built_in;

mod fill;
mod own;
mod prompts;
mod resources;
mod skills;

mod desk;

pub mod files;
pub mod mentions;

pub use desk::{Desk, Filling, PATIENCE, ProjectCommands};
pub use fill::{mentioned, words};
pub use skills::SkillPlace;
