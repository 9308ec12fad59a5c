//! land_configs (agents §2).

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{Method, StatusCode};
use axum::routing::{get, post};
use chatos_host::policy_api::{DEVELOPER, LandConfig, SAFE_DEFAULT, schema};
use chatos_host::{Fault, Host};
use chatos_wire::agent::{CopyInput, LandList, LandName, LandView};
use chatos_wire::status::Done;
use serde_json::{Map, Value};

use super::tasks::blocking;
use crate::api::{ApiError, Body, Routes};
use crate::app::App;

pub(crate) fn add(routes: &mut Routes) {
    let path = "/api/v1/land-configs";
    routes.read::<LandList>(path, "land_configs", &[], get(list).post(create));
    routes.document::<LandConfig, LandView>(Method::POST, path, "Make a land_config");
    routes.read::<Value>("/api/v1/land-configs/schema", "JSON Schema of a land_config", &[], get(described));
    let one = "/api/v1/land-configs/{id}";
    routes.read::<LandView>(one, "One land_config", &[], get(read).put(update).delete(remove));
    routes.document::<LandConfig, LandView>(Method::PUT, one, "Replace a land_config");
    routes.document_act::<Done>(Method::DELETE, one, "Remove a land_config nobody uses");
    routes.write::<CopyInput, LandView>(
        Method::POST,
        "/api/v1/land-configs/{id}/copy",
        "Copy a land_config under another name",
        201,
        post(copy),
    );
}

async fn list(State(app): State<App>) -> Result<Json<LandList>, ApiError> {
    let items = blocking(&app, |host| {
        host.agents().land_configs()?.into_iter().map(|land| view(host, land, Vec::new())).collect()
    })
    .await?;
    Ok(Json(LandList { items }))
}

async fn described() -> Json<Value> {
    Json(schema())
}

async fn read(State(app): State<App>, Path(id): Path<String>) -> Result<Json<LandView>, ApiError> {
    Ok(Json(blocking(&app, move |host| view(host, host.agents().land_config(&id)?, Vec::new())).await?))
}

async fn create(
    State(app): State<App>,
    Body(body): Body<Map<String, Value>>,
) -> Result<(StatusCode, Json<LandView>), ApiError> {
    let view = blocking(&app, move |host| {
        let (land, warnings) = host.agents().create_land(body)?;
        view(host, land, warnings)
    })
    .await?;
    Ok((StatusCode::CREATED, Json(view)))
}

async fn update(
    State(app): State<App>,
    Path(id): Path<String>,
    Body(body): Body<Map<String, Value>>,
) -> Result<Json<LandView>, ApiError> {
    let view = blocking(&app, move |host| {
        let (land, warnings) = host.agents().update_land(&id, body)?;
        view(host, land, warnings)
    })
    .await?;
    Ok(Json(view))
}

async fn remove(State(app): State<App>, Path(id): Path<String>) -> Result<Json<Done>, ApiError> {
    blocking(&app, move |host| host.agents().remove_land(&id)).await?;
    Ok(Json(Done { ok: true }))
}

async fn copy(
    State(app): State<App>,
    Path(id): Path<String>,
    Body(body): Body<CopyInput>,
) -> Result<(StatusCode, Json<LandView>), ApiError> {
    let view =
        blocking(&app, move |host| view(host, host.agents().copy_land(&id, &body.name)?, Vec::new())).await?;
    Ok((StatusCode::CREATED, Json(view)))
}

fn view(host: &Host, land: LandConfig, warnings: Vec<String>) -> Result<LandView, Fault> {
    let users = host.agents().land_users(&land.id)?;
    Ok(LandView {
        builtin: land.id == SAFE_DEFAULT || land.id == DEVELOPER,
        used_by: users.into_iter().map(|(id, name)| LandName { id, name }).collect(),
        land,
        warnings,
    })
}
