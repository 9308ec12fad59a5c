//! The handlers, one file per resource.

pub(crate) mod access;
pub(crate) mod acp;
pub(crate) mod admin_state;
pub(crate) mod agents;
pub(crate) mod apps;
pub(crate) mod audit;
pub(crate) mod auth;
pub(crate) mod browsers;
pub(crate) mod callback;
pub(crate) mod changes;
pub(crate) mod channels;
pub(crate) mod chat_file;
mod chat_page;
pub(crate) mod clients;
pub(crate) mod commands;
pub(crate) mod dev;
pub(crate) mod doctor;
pub(crate) mod events;
pub(crate) mod instructions;
pub(crate) mod journal;
pub(crate) mod land_configs;
pub(crate) mod models;
pub(crate) mod operations;
pub(crate) mod plugins;
pub(crate) mod prompts;
pub(crate) mod rules;
pub(crate) mod runs;
pub(crate) mod secrets;
pub(crate) mod servers;
pub(crate) mod sessions;
pub(crate) mod settings;
pub(crate) mod state;
pub(crate) mod state_key;
pub(crate) mod status;
pub(crate) mod subagents;
pub(crate) mod system_prompts;
pub(crate) mod tasks;
pub(crate) mod tools;
pub(crate) mod views;

use axum::http::header;
use axum::response::{IntoResponse, Response};

use crate::api::ApiError;
use crate::app::App;
use crate::caller::Caller;

/// Is the process there? The one route of the API that needs no token; it tells nothing else.
pub(crate) async fn healthz(_: App, _: Caller, (): ()) -> Result<Response, ApiError> {
    Ok(axum::Json(serde_json::json!({ "ok": true })).into_response())
}

/// The description of the API, as `cargo xtask codegen` wrote it; CI compares it with the routes (decision 0077).
const OPENAPI: &str = include_str!("../../../docs/protocols/openapi.json");

/// Gives the description of the API.
pub(crate) async fn openapi(_: App, _: Caller, (): ()) -> Result<Response, ApiError> {
    Ok(([(header::CONTENT_TYPE, "application/json")], OPENAPI).into_response())
}
