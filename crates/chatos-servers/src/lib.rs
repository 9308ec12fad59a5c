//! Every server this host knows: built-in ones, those of apps, and those a person added; what each offers, which of
//! its tools a person approved, how a person signs in to it, and the one pool that runs them.
//!
//! [`Servers`] is the part of a host. A [`Toolset`] is what a run or a person may call of them, under the names models
//! see. Calling is done by whoever holds a toolset; what servers ask in return goes to [`ServerQuestions`].

mod acts;
mod admit;
mod approvals;
mod auth;
mod catalogue;
mod direct;
mod doctor;
mod home;
mod hooks;
mod import;
mod instructions;
mod logs;
mod memory;
mod offer;
mod parts;
mod passed_on;
mod pins;
mod prompts;
mod questions;
mod resources;
mod rows;
mod search;
mod servers;
mod sign_in;
mod sync;
mod tend;
mod toolset;
mod view;
mod view_meta;
mod views;

pub use catalogue::{Catalogue, ServerRecord, seed};
pub use home::ServerHome;
pub use offer::{ToolsetOrder, unapproved};
pub use parts::{BuiltIn, ServersParts};
pub use prompts::ServerPrompts;
pub use questions::ServerQuestions;
pub use resources::ServerResources;
pub use search::search;
pub use servers::Servers;
pub use sign_in::{Leaving, RETURN_PATH, Returned, SIGN_IN, SIGN_IN_PREFIX, pending};
pub use sync::SETTING as SYNC_SETTING;
pub use toolset::{
    AppPlace, CALL_READONLY, CALL_TOOL, CURRENT_TIME, FIND_TOOLS, GrantedTool, LIST_RESOURCES, OfferedTool,
    READ_RESOURCE, READ_RESULT, RefusedTool, Road, Room, ServerOffer, ServerRoute, SetProblem,
    TOO_MANY_TOOLS, Told, ToolSearch, Toolset, USUAL_MOST, Word, search_tools,
};
pub use view_meta::UiMeta;
