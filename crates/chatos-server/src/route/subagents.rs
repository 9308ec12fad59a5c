//! The catalogue of sub agents.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::Method;
use axum::routing::{delete, get, post};
use chatos_host::SubImport;
use chatos_host::builtin_api::subagent::SubPlugin;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::{ApiError, Body, Done, Empty, Routes};
use crate::app::App;
use crate::route::tasks::blocking_arc;

/// The catalogue, and what could not be read.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Catalogue {
    plugins: Vec<SubPlugin>,
    problems: Vec<String>,
}

/// A folder to take sub agents from.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct ImportOrder {
    path: String,
    /// Write it into the catalogue.
    #[serde(default)]
    apply: bool,
    /// What was shown; a folder that changed since is refused.
    digest: Option<String>,
}

pub(crate) fn add(routes: &mut Routes) {
    routes.read::<Catalogue>("/api/v1/subagents", "Sub agents by plugin", &[], get(list));
    routes.write::<ImportOrder, SubImport>(
        Method::POST,
        "/api/v1/subagents/import",
        "Sub agents of a folder: shown first, taken with `apply`",
        200,
        post(import),
    );
    routes.router = std::mem::take(&mut routes.router).route("/api/v1/subagents/{id}", delete(remove));
    routes.document_act::<Done>(Method::DELETE, "/api/v1/subagents/{id}", "Removes a plugin of sub agents");
    routes.write::<Empty, Done>(
        Method::POST,
        "/api/v1/subagents/{id}/enable",
        "Switches a plugin of sub agents on",
        200,
        post(enable),
    );
    routes.write::<Empty, Done>(
        Method::POST,
        "/api/v1/subagents/{id}/disable",
        "Switches a plugin of sub agents off",
        200,
        post(disable),
    );
}

async fn import(State(app): State<App>, Body(order): Body<ImportOrder>) -> Result<Json<SubImport>, ApiError> {
    Ok(Json(app.host().runs().import_subagents(&order.path, order.apply, order.digest).await?))
}

async fn remove(State(app): State<App>, Path(id): Path<String>) -> Result<Json<Done>, ApiError> {
    app.host().runs().remove_subagents(&id).await?;
    Ok(Json(Done { ok: true }))
}

async fn list(State(app): State<App>) -> Result<Json<Catalogue>, ApiError> {
    let (plugins, problems) = blocking_arc(&app, |host| host.runs().subagents()).await?;
    Ok(Json(Catalogue { plugins, problems }))
}

async fn enable(
    State(app): State<App>,
    Path(id): Path<String>,
    _body: Body<Empty>,
) -> Result<Json<Done>, ApiError> {
    app.host().runs().enable_subagents(&id, true).await?;
    Ok(Json(Done { ok: true }))
}

async fn disable(
    State(app): State<App>,
    Path(id): Path<String>,
    _body: Body<Empty>,
) -> Result<Json<Done>, ApiError> {
    app.host().runs().enable_subagents(&id, false).await?;
    Ok(Json(Done { ok: true }))
}
