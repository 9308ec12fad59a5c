//! The HTTP edge: the API under `/api/v1`, the event WebSocket, the embedded web UI.
//!
//! Only this crate knows HTTP. It imports the host and nothing below it. Every route is registered
//! in one table (`app.rs`), from which routing, the OpenAPI document and the security tests follow.

mod api;
mod app;
mod assets;
mod auth;
mod frames;
mod guard;
mod line;
mod local;
mod narrow;
mod openapi;
mod route;
mod serve;
mod socket;

pub use app::{App, AppOptions};
pub use local::LocalApi;
pub use openapi::document as openapi_document;
pub use serve::{BindError, ServeOptions, Server};
