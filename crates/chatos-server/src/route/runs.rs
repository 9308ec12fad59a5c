//! Runs, traces, tokens and money.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::Method;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use chatos_wire::run::{
    BranchOrder, Corrected, Correction, RunPage, RunQuery, RunView, TraceView, UsageList,
};
use chatos_wire::session::SessionView;
use chatos_wire::status::{Done, Empty};
use serde::Deserialize;

use crate::api::{ApiError, Body, Query, Routes};
use crate::app::App;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ExportQuery {
    format: String,
    /// As JSON instead of as a file.
    wrap: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct UsageQuery {
    by: String,
    since: Option<String>,
}

pub(crate) fn add(routes: &mut Routes) {
    routes.read::<RunPage>(
        "/api/v1/runs",
        "Runs, newest first",
        &[
            ("sessionId", "of one chat"),
            ("state", "in one state"),
            ("kind", "chat, sub or cli"),
            ("limit", "at most so many"),
            ("cursor", "the next page"),
        ],
        get(list),
    );
    routes.read::<RunView>("/api/v1/runs/{id}", "One run with its steps", &[], get(show));
    routes.write::<Empty, Done>(Method::POST, "/api/v1/runs/{id}/abort", "Stops a run", 200, post(abort));
    routes.write::<Empty, Done>(
        Method::POST,
        "/api/v1/runs/{id}/resume",
        "Continues an interrupted run",
        202,
        post(resume),
    );
    routes.write::<Empty, Done>(
        Method::POST,
        "/api/v1/runs/{id}/discard",
        "Gives up an interrupted run",
        200,
        post(discard),
    );
    routes.write::<Correction, Corrected>(
        Method::POST,
        "/api/v1/runs/{id}/steer",
        "Corrects a run under way",
        200,
        post(steer),
    );
    routes.write::<BranchOrder, SessionView>(
        Method::POST,
        "/api/v1/runs/{id}/branch",
        "A new chat whose history ends at a step",
        201,
        post(branch),
    );
    routes.router = std::mem::take(&mut routes.router).route("/api/v1/runs/{id}/export", get(export));
    routes.read::<TraceView>("/api/v1/traces/{id}", "All spans of a trace", &[], get(trace));
    routes.read::<UsageList>(
        "/api/v1/usage",
        "Tokens and money",
        &[("by", "model, agent, day or session"), ("since", "a date or time")],
        get(usage),
    );
}

async fn list(State(app): State<App>, Query(query): Query<RunQuery>) -> Result<Json<RunPage>, ApiError> {
    Ok(Json(app.host().runs().list(query).await?))
}

async fn show(State(app): State<App>, Path(id): Path<String>) -> Result<Json<RunView>, ApiError> {
    Ok(Json(app.host().runs().show(&id, false).await?))
}

async fn abort(
    State(app): State<App>,
    Path(id): Path<String>,
    _body: Body<Empty>,
) -> Result<Json<Done>, ApiError> {
    app.host().runs().abort(&id).await?;
    Ok(Json(Done { ok: true }))
}

async fn resume(
    State(app): State<App>,
    Path(id): Path<String>,
    _body: Body<Empty>,
) -> Result<(axum::http::StatusCode, Json<Done>), ApiError> {
    app.host().runs().resume(&id).await?;
    Ok((axum::http::StatusCode::ACCEPTED, Json(Done { ok: true })))
}

async fn discard(
    State(app): State<App>,
    Path(id): Path<String>,
    _body: Body<Empty>,
) -> Result<Json<Done>, ApiError> {
    app.host().runs().discard(&id).await?;
    Ok(Json(Done { ok: true }))
}

async fn steer(
    State(app): State<App>,
    Path(id): Path<String>,
    Body(correction): Body<Correction>,
) -> Result<Json<Corrected>, ApiError> {
    let message_id = app.host().runs().steer(&id, &correction.text, correction.abort_call).await?;
    Ok(Json(Corrected { ok: true, message_id }))
}

async fn branch(
    State(app): State<App>,
    Path(id): Path<String>,
    Body(branch): Body<BranchOrder>,
) -> Result<(axum::http::StatusCode, Json<SessionView>), ApiError> {
    let session = app.host().runs().branch(&id, branch.step).await?;
    Ok((axum::http::StatusCode::CREATED, Json(session)))
}

async fn export(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(query): Query<ExportQuery>,
) -> Result<Response, ApiError> {
    let format = if query.format.is_empty() { "jsonl" } else { &query.format };
    let made = app.host().runs().export(&id, format).await?;
    if query.wrap {
        let value = match made.mime {
            "application/zip" => serde_json::json!({ "name": made.name, "base64": base64(&made.bytes) }),
            "application/x-ndjson" => {
                let lines: Vec<serde_json::Value> = made
                    .bytes
                    .split(|byte| *byte == b'\n')
                    .filter_map(|line| serde_json::from_slice(line).ok())
                    .collect();
                serde_json::json!({ "name": made.name, "lines": lines })
            }
            _ => serde_json::from_slice(&made.bytes).unwrap_or_default(),
        };
        return Ok(Json(value).into_response());
    }
    let mut response = made.bytes.into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(made.mime));
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{}\"", made.name)) {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, value);
    }
    Ok(response)
}

fn base64(bytes: &[u8]) -> String {
    chatos_host::encode_base64(bytes)
}

async fn trace(State(app): State<App>, Path(id): Path<String>) -> Result<Json<TraceView>, ApiError> {
    Ok(Json(app.host().runs().trace(&id).await?))
}

async fn usage(State(app): State<App>, Query(query): Query<UsageQuery>) -> Result<Json<UsageList>, ApiError> {
    let items = app.host().runs().usage(&query.by, query.since.as_deref()).await?;
    Ok(Json(UsageList { items }))
}
