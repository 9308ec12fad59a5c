//! The catalogue of sub agents.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::Method;
use axum::routing::{get, post};
use chatos_host::builtin_api::subagent::SubPlugin;
use schemars::JsonSchema;
use serde::Serialize;

use crate::api::{ApiError, Body, Done, Empty, Routes};
use crate::app::App;
use crate::route::tasks::blocking_arc;

/// The catalogue, and what could not be read.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Catalogue {
    plugins: Vec<SubPlugin>,
    problems: Vec<String>,
}

pub(crate) fn add(routes: &mut Routes) {
    routes.read::<Catalogue>("/api/v1/subagents", "Sub agents by plugin", &[], get(list));
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
