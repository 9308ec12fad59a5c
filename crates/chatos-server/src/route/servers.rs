//! MCP servers, what was approved of their tools, and servers from other clients' files.

use axum::extract::{Path, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json};
use chatos_host::{ErrorCode, Fault, Text};
use chatos_wire::server::{
    ApproveInput, Approved, ApprovedTool, PinList, ServerImport, ServerImportInput, ServerInput, ServerList,
    ServerLogView, ServerTools, ServerView, SignInBody, SignInStart, SignedOut,
};
use chatos_wire::status::{Done, Empty};
use serde::Deserialize;

use super::callback;
use crate::api::{ApiError, Body, Query, Routes, lang_of};
use crate::app::{App, UiOrigin};

/// A file of another client may be large.
const IMPORT_BYTES: usize = 4 << 20;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PinQuery {
    state: Option<String>,
    server: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct LogQuery {
    limit: Option<usize>,
}

pub(crate) fn add(routes: &mut Routes) {
    routes.read::<ServerList>(
        "/api/v1/mcp-servers",
        "Every MCP server the host knows, with its state",
        &[],
        get(list).post(create),
    );
    routes.document::<ServerInput, ServerView>(Method::POST, "/api/v1/mcp-servers", "Add a server");
    routes.read::<ServerView>(
        "/api/v1/mcp-servers/{id}",
        "One server",
        &[],
        get(show).put(edit).delete(remove),
    );
    routes.document::<ServerInput, ServerView>(
        Method::PUT,
        "/api/v1/mcp-servers/{id}",
        "Change a server; absent keys stay as they are",
    );
    routes.document_act::<Done>(
        Method::DELETE,
        "/api/v1/mcp-servers/{id}",
        "Remove a server and end its process",
    );
    routes.write::<ServerImportInput, ServerImport>(
        Method::POST,
        "/api/v1/mcp-servers/import",
        "Read the servers of another client's file, and take them over with `apply`",
        200,
        post(import),
    );
    routes.write::<Empty, ServerView>(
        Method::POST,
        "/api/v1/mcp-servers/{id}/connect",
        "Start a server and wait for it",
        200,
        post(connect),
    );
    routes.write::<Empty, ServerView>(
        Method::POST,
        "/api/v1/mcp-servers/{id}/restart",
        "Start a server anew; its failures are forgotten",
        200,
        post(restart),
    );
    routes.write::<Empty, ServerView>(
        Method::POST,
        "/api/v1/mcp-servers/{id}/stop",
        "Stop a server until it is restarted",
        200,
        post(stop),
    );
    routes.write::<SignInBody, SignInStart>(
        Method::POST,
        "/api/v1/mcp-servers/{id}/sign-in",
        "Begin a sign-in to a server that wants one; the person goes to the address",
        200,
        post(sign_in).delete(sign_out),
    );
    routes.document_act::<SignedOut>(
        Method::DELETE,
        "/api/v1/mcp-servers/{id}/sign-in",
        "Sign out: end what was given, there and here",
    );
    routes.read::<ServerTools>(
        "/api/v1/mcp-servers/{id}/tools",
        "The tools of a server; it is started for that",
        &[],
        get(tools),
    );
    routes.read::<ServerLogView>(
        "/api/v1/mcp-servers/{id}/log",
        "The newest lines of a server's log",
        &[("limit", "1 to 2000")],
        get(log),
    );
    routes.read::<PinList>(
        "/api/v1/tool-pins",
        "Tools that differ from what was approved",
        &[
            ("state", "changed, new, approved or all; changed and new when absent"),
            ("server", "id, identity or name"),
        ],
        get(pins),
    );
    routes.write::<ApproveInput, Approved>(
        Method::POST,
        "/api/v1/tool-pins/approve",
        "Approve tools as they were shown",
        200,
        post(approve),
    );
}

async fn list(State(app): State<App>, headers: HeaderMap) -> Result<Json<ServerList>, ApiError> {
    let lang = lang_of(&headers, app.host().lang());
    Ok(Json(ServerList { items: app.host().servers().list(lang).await? }))
}

async fn create(
    State(app): State<App>,
    headers: HeaderMap,
    Body(input): Body<ServerInput>,
) -> Result<Response, ApiError> {
    let lang = lang_of(&headers, app.host().lang());
    let made = app.host().servers().add_own(input, lang).await?;
    Ok((StatusCode::CREATED, Json(made)).into_response())
}

async fn show(
    State(app): State<App>,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Result<Json<ServerView>, ApiError> {
    let lang = lang_of(&headers, app.host().lang());
    Ok(Json(app.host().servers().show(&id, lang).await?))
}

async fn edit(
    State(app): State<App>,
    headers: HeaderMap,
    Path(id): Path<String>,
    Body(input): Body<ServerInput>,
) -> Result<Json<ServerView>, ApiError> {
    let lang = lang_of(&headers, app.host().lang());
    Ok(Json(app.host().servers().edit(&id, input, lang).await?))
}

async fn remove(State(app): State<App>, Path(id): Path<String>) -> Result<Json<Done>, ApiError> {
    app.host().servers().remove(&id).await?;
    Ok(Json(Done { ok: true }))
}

async fn import(
    State(app): State<App>,
    headers: HeaderMap,
    Body(input): Body<ServerImportInput, IMPORT_BYTES>,
) -> Result<Json<ServerImport>, ApiError> {
    let lang = lang_of(&headers, app.host().lang());
    let text = match (input.text, input.json) {
        (Some(text), _) => text,
        (None, Some(json)) => json.to_string(),
        (None, None) => {
            return Err(Fault::new(
                ErrorCode::InvalidArgument,
                Text::fixed("/text or /json: one of them is needed", "/text 或 /json：需要其中之一"),
            )
            .into());
        }
    };
    Ok(Json(app.host().servers().import(&text, input.apply, lang).await?))
}

async fn connect(
    State(app): State<App>,
    headers: HeaderMap,
    Path(id): Path<String>,
    Body(Empty {}): Body<Empty>,
) -> Result<Json<ServerView>, ApiError> {
    let lang = lang_of(&headers, app.host().lang());
    Ok(Json(app.host().servers().connect(&id, lang).await?))
}

async fn restart(
    State(app): State<App>,
    headers: HeaderMap,
    Path(id): Path<String>,
    Body(Empty {}): Body<Empty>,
) -> Result<Json<ServerView>, ApiError> {
    let lang = lang_of(&headers, app.host().lang());
    Ok(Json(app.host().servers().restart(&id, lang).await?))
}

async fn stop(
    State(app): State<App>,
    headers: HeaderMap,
    Path(id): Path<String>,
    Body(Empty {}): Body<Empty>,
) -> Result<Json<ServerView>, ApiError> {
    let lang = lang_of(&headers, app.host().lang());
    Ok(Json(app.host().servers().stop(&id, lang).await?))
}

async fn sign_in(
    State(app): State<App>,
    origin: Option<Extension<UiOrigin>>,
    Path(id): Path<String>,
    Body(body): Body<SignInBody>,
) -> Result<Json<SignInStart>, ApiError> {
    let redirect = callback::address(&app, origin.as_ref().map(|Extension(origin)| origin))?;
    Ok(Json(app.host().servers().begin_sign_in(&id, &redirect, body.issuer).await?))
}

async fn sign_out(State(app): State<App>, Path(id): Path<String>) -> Result<Json<SignedOut>, ApiError> {
    Ok(Json(app.host().servers().sign_out(&id).await?))
}

async fn tools(
    State(app): State<App>,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Result<Json<ServerTools>, ApiError> {
    let lang = lang_of(&headers, app.host().lang());
    Ok(Json(app.host().servers().tools(&id, lang).await?))
}

async fn log(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(query): Query<LogQuery>,
) -> Result<Json<ServerLogView>, ApiError> {
    let limit = query.limit.unwrap_or(200).clamp(1, 2_000);
    Ok(Json(app.host().servers().log(&id, limit).await?))
}

async fn pins(State(app): State<App>, Query(query): Query<PinQuery>) -> Result<Json<PinList>, ApiError> {
    if let Some(state) = query.state.as_deref()
        && !["changed", "new", "approved", "all"].contains(&state)
    {
        return Err(Fault::new(
            ErrorCode::InvalidArgument,
            Text::fixed("state: changed, new, approved or all", "state：changed、new、approved 或 all"),
        )
        .into());
    }
    let items = app.host().servers().pins(query.state.as_deref(), query.server.as_deref()).await?;
    Ok(Json(PinList { items }))
}

async fn approve(
    State(app): State<App>,
    Body(input): Body<ApproveInput>,
) -> Result<Json<Approved>, ApiError> {
    let tools = input.tools.into_iter().map(|tool| match tool {
        ApprovedTool::Name(name) => (name, None),
        ApprovedTool::Shown { tool, digest } => (tool, Some(digest)),
    });
    let approved = app.host().servers().approve_pins(&input.identity, tools.collect(), "person").await?;
    Ok(Json(Approved { approved }))
}
