//! Views of MCP servers: opening one, and what its frame asks of its own server. Which server that is
//! was decided when it was opened; nothing in a request can name another (security T5).

use axum::extract::{Path, State};
use axum::http::{HeaderMap, Method};
use axum::routing::{get, post};
use axum::{Extension, Json};
use chatos_host::{ErrorCode, Fault, Text, ViewOrder};
use chatos_wire::app::{OpenView, OpenedView, ViewCall, ViewList, ViewRead};
use serde::Deserialize;
use serde_json::Value;

use crate::api::{ApiError, Body, Query, Routes, lang_of};
use crate::app::{App, UiOrigin};
use crate::frames::Place;

/// Arguments of a call (security T2).
const CALL_BYTES: usize = 8 << 20;

#[derive(Debug, Deserialize)]
struct ListQuery {
    server: Option<String>,
}

pub(crate) fn add(routes: &mut Routes) {
    routes.read::<ViewList>(
        "/api/v1/views",
        "Tools of a server that have a view, as far as they were listed",
        &[("server", "The server's identity, row id or name")],
        get(list).post(open),
    );
    routes.document::<OpenView, OpenedView>(
        Method::POST,
        "/api/v1/views",
        "Read the view of a tool from its server, to be shown in a frame",
    );
    routes.write::<ViewCall, Value>(
        Method::POST,
        "/api/v1/views/{view}/call",
        "Call a tool of a view's own server",
        200,
        post(call),
    );
    routes.write::<ViewRead, Value>(
        Method::POST,
        "/api/v1/views/{view}/read",
        "Read a resource of a view's own server",
        200,
        post(read),
    );
}

async fn list(State(app): State<App>, Query(query): Query<ListQuery>) -> Result<Json<ViewList>, ApiError> {
    let Some(server) = query.server.filter(|server| !server.is_empty()) else {
        return Err(Fault::new(
            ErrorCode::InvalidArgument,
            Text::fixed("`server` is required", "缺少 `server`"),
        )
        .into());
    };
    Ok(Json(ViewList { items: app.host().tools_with_views(&server).await? }))
}

async fn open(
    State(app): State<App>,
    headers: HeaderMap,
    ui: Option<Extension<UiOrigin>>,
    Body(body): Body<OpenView>,
) -> Result<Json<OpenedView>, ApiError> {
    let ui_origin = match ui {
        Some(Extension(UiOrigin(origin))) => origin,
        None => app.url().trim_end_matches('/').to_owned(),
    };
    let order = ViewOrder {
        server: body.server,
        tool: body.tool,
        agent: body.agent,
        ui_origin,
        allow_hosts: body.allow_hosts,
        lang: lang_of(&headers, app.host().lang()),
    };
    let opened = app.host().open_view(order).await?;
    let place = Place::plugin(&opened.view.hash, app.port());
    let id = opened.view.id.clone();
    Ok(Json(OpenedView {
        frame_url: format!("{}/view/{id}", place.origin()),
        fallback_url: format!("/plugin-frame/{}/view/{id}", opened.view.hash),
        origin: place.origin().to_owned(),
        id,
        server: opened.server,
        uri: opened.uri,
        tool: opened.tool,
        asks: opened.asks,
        allowed: opened.view.hosts.clone(),
        prefers_border: opened.prefers_border,
    }))
}

async fn call(
    State(app): State<App>,
    Path(view): Path<String>,
    headers: HeaderMap,
    Body(body): Body<ViewCall, CALL_BYTES>,
) -> Result<Json<Value>, ApiError> {
    let lang = lang_of(&headers, app.host().lang());
    let host = app.host();
    Ok(Json(host.view_call(&view, &body.tool, body.arguments, body.session, lang).await?))
}

async fn read(
    State(app): State<App>,
    Path(view): Path<String>,
    Body(body): Body<ViewRead>,
) -> Result<Json<Value>, ApiError> {
    Ok(Json(app.host().view_read(&view, &body.uri).await?))
}
