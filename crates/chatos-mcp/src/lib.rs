//! The MCP client: other programs' tool servers, their processes and sockets.
//!
//! # What callers use
//!
//! A host makes one [`Pool`] with its [`Hooks`], puts a [`ServerSpec`] in for every server it knows, and
//! closes the pool when it ends. Whoever runs tools takes a [`Lease`] per server, reads
//! [`Pool::tools`], compares the list with what a person approved ([`ToolList::compare`]), and calls
//! with [`Pool::call`]. A [`CallOutcome`] is a result, a question to answer and call again with
//! ([`Resume`]), or a task to look after ([`Connection::task`]). A [`CallError`] says whether the server
//! may have seen the call.
//!
//! | wanted | call |
//! |---|---|
//! | a server of a plugin or a person | [`Endpoint::Command`], [`Endpoint::remote`], [`Endpoint::InProcess`] |
//! | the variables a child may see | [`child_environment`] |
//! | know, start, stop, restart, forget it | [`Pool::put`], [`Pool::connect`], [`Pool::stop`], [`Pool::restart`], [`Pool::remove`] |
//! | its state with the last error and its last words | [`Pool::status`], [`Pool::statuses`], [`Pool::changes`] |
//! | its tools, checked, sorted and digested | [`Pool::tools`], [`ToolList::pins`], [`ToolList::compare`] |
//! | a call with deadline, cancel and progress | [`Pool::call`], [`CallRequest`] |
//! | its prompts, filled and completed | [`Connection::prompts`], [`Connection::prompt`], [`Connection::complete_prompt`] |
//! | its resources, listed, completed and read | [`Connection::resources`], [`Connection::complete_template`], [`Connection::read_resource`] |
//! | any other request | [`Connection::request`] |
//! | its questions to the person or the model | [`Hooks::elicit`], [`Hooks::sample`], [`Hooks::roots`] |
//! | an error for people, in two languages | [`Failure::fault`] |
//! | somebody to sign in at a server's authorization server | [`begin_sign_in`], [`finish_sign_in`], [`revoke_grant`], [`Grants`] |
//! | no process left behind | [`Launcher`] with [`exec`], [`Warden`] with [`watch`], [`ChildRecords`] with [`end_leftovers`] |
//!
//! # What is promised
//!
//! - Whatever a server does costs its own calls and nobody else's (security P8): lines, queues, times
//!   and restarts are bounded per server ([`limits`]).
//! - Only a reply with exactly the id of a waiting request is taken for one.
//! - Credentials go to the configured origin and nowhere else; they have no readable form.
//! - A stopped server leaves no process, not even a grandchild's.
//!
//! The protocol is read here and not by a library, because a library's types refuse a whole message
//! for one wrong field, and then a call would wait for its time-out; see the decision records.

pub mod limits;

mod endpoint;
mod failure;
mod hooks;

mod elicitation;
mod message;
mod router;

mod lines;
mod net;
mod oauth;
mod transport;

mod child;

mod handshake;
mod session;

mod call;
mod catalog;
mod connection;
mod prompt_list;
mod prompts;
mod resource_list;
mod resources;
mod result;
mod task;

mod pool;

pub use call::{CallError, CallRequest, Resume};
pub use catalog::{INSTRUCTIONS, PinReport, Tool, ToolDigest, ToolList, ToolProblem, plain_for_model};
pub use chatos_child::{
    ChildRecords, Launcher, MARK, Spawning, Warden, child_environment, end_leftovers, exec, watch,
};
pub use connection::{Connect, ConnectError, Connection};
pub use elicitation::{ElicitAnswer, Elicitation, InputRequest};
pub use endpoint::{Addresses, Auth, CommandLine, Credentials, Endpoint, EndpointError, InProcess, Remote};
pub use failure::{Failure, Waited};
pub use handshake::{Era, Identity, LEGACY, MODERN, Peer};
pub use hooks::{Asked, Hooks, Later, LogLine, LogSource, NoHooks, Offers, Root, ServerKey, file_uri};
pub use limits::Times;
pub use message::{RpcError, Weight, weigh};
pub use oauth::{
    Challenge, Grant, Grants, Pending, Secret, SignInError, SignInOptions, Turn, begin as begin_sign_in,
    finish as finish_sign_in, revoke as revoke_grant,
};
pub use pool::{LastError, Lease, Phase, Pool, PoolOptions, Restarts, ServerSpec, ServerStatus};
pub use prompt_list::{Prompt, PromptArgument};
pub use resource_list::{Resource, ResourceList};
pub use result::{Block, CallOutcome, Extra, InputRequired, ToolResult};
pub use router::{Noise, Progress};
pub use task::{TaskState, TaskStatus};
