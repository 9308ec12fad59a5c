//! The state as a whole: taking over an older one.

use std::path::PathBuf;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::routing::{get, post};
use chatos_host::{iso_from_ms, store_fault};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::operations::OperationView;
use super::tasks::blocking;
use crate::api::{ApiError, Body, Routes, lang_of};
use crate::app::App;

/// What to take over.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ImportBody {
    /// An absolute path of an older database; without it every known place is looked at.
    path: Option<PathBuf>,
}

/// Imports there were, newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ImportList {
    items: Vec<ImportView>,
}

/// One import.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ImportView {
    source: String,
    imported_at: String,
    /// Per table of the source: found, imported, updated, skipped, repaired.
    counts: Value,
    /// The file with every skipped row and its reason.
    report: PathBuf,
}

pub(crate) fn add(routes: &mut Routes) {
    let path = "/api/v1/state/import";
    routes.write::<ImportBody, OperationView>(
        Method::POST,
        path,
        "Take over the state of an older program",
        202,
        post(import),
    );
    routes.read::<ImportList>("/api/v1/state/imports", "What was taken over", &[], get(imports));
}

async fn import(
    State(app): State<App>,
    headers: HeaderMap,
    Body(body): Body<ImportBody>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let lang = lang_of(&headers, app.host().lang());
    let operation = app.host().import_state(body.path)?;
    Ok((StatusCode::ACCEPTED, Json(operation.view(lang))))
}

async fn imports(State(app): State<App>) -> Result<Json<ImportList>, ApiError> {
    let rows = blocking(&app, |host| host.store().imports().map_err(|error| store_fault(&error))).await?;
    let items = rows
        .into_iter()
        .map(|(source, at, counts, report)| ImportView {
            source,
            imported_at: iso_from_ms(at),
            counts,
            report,
        })
        .collect();
    Ok(Json(ImportList { items }))
}
