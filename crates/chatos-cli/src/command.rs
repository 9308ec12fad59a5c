//! The commands, one file each.

pub(crate) mod agents;
pub(crate) mod audit;
pub(crate) mod backup;
pub(crate) mod changes;
pub(crate) mod chat;
pub(crate) mod clients;
pub(crate) mod completions;
pub(crate) mod doctor;
pub(crate) mod journal;
pub(crate) mod mcp;
pub(crate) mod models;
pub(crate) mod open;
pub(crate) mod operation;
pub(crate) mod plugin;
pub(crate) mod prompts;
pub(crate) mod recover;
pub(crate) mod runs;
pub(crate) mod secrets;
pub(crate) mod serve;
pub(crate) mod servers;
pub(crate) mod settings;
pub(crate) mod state;
pub(crate) mod status;
pub(crate) mod stop;
pub(crate) mod tasks;
pub(crate) mod tools;
