//! The HTTP edge: the API under `/api/v1`, the event WebSocket, the embedded web UI.
//!
//! Only this crate knows HTTP. Every route is registered once, with the types it takes and gives, in one table
//! (`app.rs`), from which routing, the OpenAPI document and the security tests follow.

mod answer;
mod api;
mod app;
mod assets;
mod auth;
mod blocking;
mod caller;
mod frames;
mod guard;
mod input;
mod line;
mod local;
mod narrow;
#[cfg(feature = "schema")]
mod openapi;
mod resolve;
mod route;
mod serve;
mod socket;
mod table;

pub use app::{App, AppOptions};
pub use local::LocalApi;
#[cfg(feature = "schema")]
pub use openapi::document as openapi_document;
pub use serve::{BindError, ServeOptions, Server};
