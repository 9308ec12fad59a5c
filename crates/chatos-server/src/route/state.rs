//! The state as a whole: copies of it, taking over an older one, removing what is no longer wanted.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::routing::{get, post};
use chatos_host::{BackupOrder, iso_from_ms, store_fault};
use chatos_wire::operation::OperationView;
use chatos_wire::state::{BackupBody, PruneBody, PruneView, StateImportBody, StateImportView, StateImports};
use serde_json::Value;

use super::tasks::blocking;
use crate::api::{ApiError, Body, Routes, lang_of};
use crate::app::App;

pub(crate) fn add(routes: &mut Routes) {
    let path = "/api/v1/state/import";
    routes.write::<StateImportBody, OperationView>(
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
    routes.read::<StateImports>("/api/v1/state/imports", "What was taken over", &[], get(imports));
}

async fn import(
    State(app): State<App>,
    headers: HeaderMap,
    Body(body): Body<StateImportBody>,
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

async fn imports(State(app): State<App>) -> Result<Json<StateImports>, ApiError> {
    let rows = blocking(&app, |host| host.store().imports().map_err(|error| store_fault(&error))).await?;
    let items = rows
        .into_iter()
        .map(|(source, at, counts, report)| StateImportView {
            source,
            imported_at: iso_from_ms(at),
            counts,
            report,
        })
        .collect();
    Ok(Json(StateImports { items }))
}
