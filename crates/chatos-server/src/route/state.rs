//! The state as a whole: copies of it, taking over an older one, removing what is no longer wanted.

use std::path::PathBuf;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::routing::{get, post};
use chatos_host::{BackupOrder, iso_from_ms, store_fault};
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

/// What to keep. It has no `Debug`: the passphrase must not reach a log by accident.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct BackupBody {
    /// The file to make, absolute; it must not exist.
    path: PathBuf,
    /// Leave out the content of changed files, attachments and tool results.
    #[serde(default)]
    no_blobs: bool,
    /// Add the state key, locked with this.
    passphrase: Option<String>,
}

/// What to remove.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PruneBody {
    /// Runs that finished before this time: ISO 8601, or days as in `90d`.
    runs_before: String,
    /// Only say what would go.
    #[serde(default)]
    dry_run: bool,
}

/// What went, or would go.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PruneView {
    dry_run: bool,
    before: String,
    runs: u64,
    steps: u64,
    /// When the first and the last of them finished.
    oldest: Option<String>,
    newest: Option<String>,
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
    let path = "/api/v1/state/backup";
    routes.write::<BackupBody, OperationView>(
        Method::POST,
        path,
        "Keep the whole state in a file",
        202,
        post(backup),
    );
    let path = "/api/v1/state/prune";
    routes.write::<PruneBody, PruneView>(Method::POST, path, "Remove old finished runs", 200, post(prune));
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

async fn backup(
    State(app): State<App>,
    headers: HeaderMap,
    Body(body): Body<BackupBody>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let lang = lang_of(&headers, app.host().lang());
    let order = BackupOrder {
        target: body.path,
        blobs: !body.no_blobs,
        passphrase: body.passphrase.map(zeroize::Zeroizing::new),
        lang,
    };
    let operation = app.host().backup(order)?;
    Ok((StatusCode::ACCEPTED, Json(operation.view(lang))))
}

async fn prune(State(app): State<App>, Body(body): Body<PruneBody>) -> Result<Json<PruneView>, ApiError> {
    let dry_run = body.dry_run;
    let (before, pruned) = blocking(&app, move |host| host.prune(&body.runs_before, body.dry_run)).await?;
    Ok(Json(PruneView {
        dry_run,
        before: iso_from_ms(before),
        runs: pruned.runs,
        steps: pruned.steps,
        oldest: pruned.span.map(|(oldest, _)| iso_from_ms(oldest)),
        newest: pruned.span.map(|(_, newest)| iso_from_ms(newest)),
    }))
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
