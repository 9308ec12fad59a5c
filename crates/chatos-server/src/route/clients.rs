//! Programs that ask over a connection of their own, and which of them may decide about their own calls
//! (inbox §1.5).

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use axum::routing::{get, post};
use chatos_host::AllowOrder;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::tasks::blocking;
use crate::api::{ApiError, Body, Routes};
use crate::app::App;

/// Programs that were seen.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ClientList {
    /// `{id, name, program, script?, uid, project?, seenAt, allowed, allowedAt?}` each.
    items: Vec<Value>,
}

/// Which program may decide about its own calls.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Allow {
    /// What it calls itself.
    name: String,
    /// Its executable or script, where several have that name.
    program: Option<String>,
    /// Only under this directory; everywhere when absent.
    project: Option<String>,
    /// The process that asks for it; no program allows itself.
    pid: Option<u32>,
}

/// Which program is forgotten.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Forget {
    /// Its id, or what it calls itself.
    id: String,
}

/// How many were forgotten.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Forgotten {
    ok: bool,
    forgotten: usize,
}

pub(crate) fn add(routes: &mut Routes) {
    let path = "/api/v1/clients";
    routes.read::<ClientList>(path, "Programs that ask over a connection of their own", &[], get(list));
    let path = "/api/v1/clients/allow";
    let what = "Let a program decide about its own calls";
    routes.write::<Allow, Value>(Method::POST, path, what, 200, post(allow));
    let path = "/api/v1/clients/forget";
    routes.write::<Forget, Forgotten>(Method::POST, path, "Forget a program", 200, post(forget));
}

async fn list(State(app): State<App>) -> Result<Json<ClientList>, ApiError> {
    Ok(Json(ClientList { items: blocking(&app, |host| host.clients()).await? }))
}

async fn allow(State(app): State<App>, Body(body): Body<Allow>) -> Result<Json<Value>, ApiError> {
    let order = AllowOrder {
        name: body.name,
        program: body.program,
        project: body.project.map(Into::into),
        pid: body.pid,
    };
    Ok(Json(blocking(&app, move |host| host.allow_client(&order)).await?))
}

async fn forget(State(app): State<App>, Body(body): Body<Forget>) -> Result<Json<Forgotten>, ApiError> {
    let forgotten = blocking(&app, move |host| host.forget_client(&body.id)).await?;
    Ok(Json(Forgotten { ok: true, forgotten }))
}
