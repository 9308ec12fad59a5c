//! The catalogue of sub agents.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::Method;
use axum::routing::{delete, get, post};
use chatos_wire::status::{Done, Empty};
use chatos_wire::subagent::{SubImport, SubImportOrder, SubagentCatalogue};

use crate::api::{ApiError, Body, Routes};
use crate::app::App;
use crate::route::tasks::blocking_arc;

pub(crate) fn add(routes: &mut Routes) {
    routes.read::<SubagentCatalogue>("/api/v1/subagents", "Sub agents by plugin", &[], get(list));
    routes.write::<SubImportOrder, SubImport>(
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

async fn import(
    State(app): State<App>,
    Body(order): Body<SubImportOrder>,
) -> Result<Json<SubImport>, ApiError> {
    Ok(Json(app.host().runs().import_subagents(&order.path, order.apply, order.digest).await?))
}

async fn remove(State(app): State<App>, Path(id): Path<String>) -> Result<Json<Done>, ApiError> {
    app.host().runs().remove_subagents(&id).await?;
    Ok(Json(Done { ok: true }))
}

async fn list(State(app): State<App>) -> Result<Json<SubagentCatalogue>, ApiError> {
    let (plugins, problems) = blocking_arc(&app, |host| host.runs().subagents()).await?;
    Ok(Json(SubagentCatalogue { plugins, problems }))
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
