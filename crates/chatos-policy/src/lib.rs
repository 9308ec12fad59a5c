//! Who may use what: land_configs, what an agent chose, and the one function that decides grants.
//!
//! Pure: it is given records and the state of servers and apps, and answers with what a run may
//! use and why everything else is refused. It opens nothing and calls nobody. No other crate
//! decides a grant.

mod agent_config;
mod built_in;
mod explain;
mod glob;
mod grant;
mod land_config;
mod refusal;
mod role;
mod world;

pub use agent_config::{AgentConfig, Mode, PromptLang, UiApp};
pub use built_in::{DEVELOPER, ROUTER_SERVER, SAFE_DEFAULT, built_in};
pub use explain::{Change, Explanation, changes, explain};
pub use glob::Glob;
pub use grant::{Grant, Outcome, ToolDecision, ToolRule, Via, grants};
pub use land_config::{
    AgentApps, AgentPrompts, AppEntry, Flow, LandConfig, LandConfigFault, Limits, PromptEntry, ServerEntry,
    ToolFilter, schema,
};
pub use refusal::{Code, Refusal, RunRefusal};
pub use role::Role;
pub use world::{AppFacts, ServerFacts, ServerState, World};
