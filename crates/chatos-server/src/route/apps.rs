//! Apps while they are used: opening a frame, what it may call, its backend.

use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use axum::{Extension, Json};
use chatos_host::{BackendCall, OpenOrder};
use chatos_wire::app::{
    BackendCallBody, BackendResult, BackendStatus, CapabilityList, FrameLang, FrameTheme, GrantChange,
    GrantList, MeasuredBody, NeededApp, NeededApps, OpenBody, OpenedApp, RootBody, WantedBody,
};
use chatos_wire::plugin::PluginLog;
use chatos_wire::status::{Done, Empty};
use serde::Deserialize;
use serde_json::Value;

use crate::api::{ApiError, Body, Query, Routes};
use crate::app::{App, UiOrigin};
use crate::frames::Place;
use crate::route::plugins::blocking;

/// Parameters and what surrounds them (host-api §2.4).
const CALL_BYTES: usize = 32 * 1024 * 1024 + 64 * 1024;

#[derive(Debug, Default, Deserialize)]
struct LogQuery {
    limit: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct GrantQuery {
    plugin_id: Option<String>,
}

pub(crate) fn add(routes: &mut Routes) {
    routes.write::<OpenBody, OpenedApp>(
        Method::POST,
        "/api/v1/apps/{plugin}/{app}/open",
        "Address and handshake of an app's frame",
        200,
        post(open),
    );
    routes.write::<BackendCallBody, BackendResult>(
        Method::POST,
        "/api/v1/apps/{plugin}/{app}/backend",
        "Call a method of an app's own backend",
        200,
        post(call),
    );
    routes.write::<Empty, Done>(
        Method::POST,
        "/api/v1/apps/{plugin}/{app}/closed",
        "A frame was closed: private values of its questions are erased",
        200,
        post(closed),
    );
    routes.write::<WantedBody, Done>(
        Method::POST,
        "/api/v1/apps/{plugin}/{app}/wanted",
        "The page refused an app a capability; shown on the plugin's page",
        200,
        post(wanted),
    );
    routes.write::<RootBody, Done>(
        Method::POST,
        "/api/v1/apps/{plugin}/roots/forget",
        "Take a folder back from a plugin's apps; they may ask for it again",
        200,
        post(forget_root),
    );
    routes.write::<Empty, Done>(
        Method::POST,
        "/api/v1/apps/calls/{call}/cancel",
        "Cancel a call of a backend by its callId",
        200,
        post(cancel),
    );
    routes.read::<NeededApps>("/api/v1/apps/needed", "Apps whose front end is needed now", &[], get(needed));
    routes.write::<MeasuredBody, Done>(
        Method::PUT,
        "/api/v1/apps/confinement",
        "The page says whether its browser keeps pages of apps off the network",
        200,
        put(measured),
    );
    routes.read::<BackendStatus>(
        "/api/v1/apps/{plugin}/backend",
        "How the backend of a plugin stands",
        &[],
        get(backend),
    );
    routes.write::<Empty, BackendStatus>(
        Method::POST,
        "/api/v1/apps/{plugin}/backend/restart",
        "Start the backend of a plugin again",
        200,
        post(restart),
    );
    routes.read::<PluginLog>(
        "/api/v1/apps/{plugin}/log",
        "Newest output of a plugin's processes",
        &[("limit", "Lines at most, 500 by default")],
        get(log),
    );
    routes.read::<Value>(
        "/api/v1/admin/state",
        "What apps may know of the settings: models, servers, prompts; secrets masked",
        &[],
        get(crate::route::admin_state::read),
    );
    routes.read::<CapabilityList>(
        "/api/v1/apps/{plugin}/capabilities",
        "What the apps of a plugin may call",
        &[],
        get(capabilities),
    );
    routes.read::<GrantList>(
        "/api/v1/grants",
        "Decisions about capabilities of apps",
        &[("pluginId", "Only those about this plugin")],
        get(grants).put(set_grant),
    );
    routes.document::<GrantChange, GrantList>(
        Method::PUT,
        "/api/v1/grants",
        "Give a capability to apps, take it back, or forget the decision",
    );
}

async fn open(
    State(app): State<App>,
    Path((plugin, app_id)): Path<(String, String)>,
    ui: Option<Extension<UiOrigin>>,
    Body(body): Body<OpenBody>,
) -> Result<Json<OpenedApp>, ApiError> {
    let ui_origin = match ui {
        Some(Extension(UiOrigin(origin))) => origin,
        None => app.url().trim_end_matches('/').to_owned(),
    };
    let order = OpenOrder {
        plugin_id: plugin,
        app_id: app_id.clone(),
        surface: body.surface,
        ui_origin: ui_origin.clone(),
    };
    let opened = blocking(&app, move |host| host.open_app(&order)).await?;
    let theme = match body.theme {
        Some(FrameTheme::Dark) => "dark",
        _ => "light",
    };
    let lang = match body.lang {
        Some(FrameLang::Zh) => "zh",
        _ => "en",
    };
    // Ids of apps are plain words, so nothing in this address needs encoding.
    let page = format!(
        "__chatos/frame.html?app={app_id}&surface={}&theme={theme}&lang={lang}&nonce={}",
        body.surface.as_str(),
        opened.nonce
    );
    let place = Place::plugin(&opened.hash, app.port());
    let rev = opened.revision.rev.clone();
    Ok(Json(OpenedApp {
        frame_url: place.address(&rev, &page),
        fallback_url: format!("/plugin-frame/{}/r/{rev}/{page}", opened.hash),
        origin: place.origin().to_owned(),
        nonce: opened.nonce,
        rev,
        entry: opened.entry,
        capabilities: opened.capabilities,
        snapshot: opened.snapshot,
    }))
}

async fn measured(State(app): State<App>, headers: HeaderMap, Body(body): Body<MeasuredBody>) -> Json<Done> {
    let browser = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    app.host().apps().measured(browser, body.confinement);
    Json(Done { ok: true })
}

async fn call(
    State(app): State<App>,
    Path((plugin, app_id)): Path<(String, String)>,
    Body(body): Body<BackendCallBody, CALL_BYTES>,
) -> Result<Response, ApiError> {
    let call = BackendCall {
        plugin_id: plugin,
        app_id,
        method: body.method.unwrap_or_default(),
        params: body.params,
        timeout: body.timeout_ms.map(Duration::from_millis),
        call_id: body.call_id,
    };
    let result = app.host().invoke_backend(call).await?;
    // The plugin's own bytes, not read again: only the host wrote around them.
    let mut response = format!("{{\"result\":{}}}", result.get()).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

async fn cancel(
    State(app): State<App>,
    Path(call): Path<String>,
    Body(Empty {}): Body<Empty>,
) -> Result<Json<Done>, ApiError> {
    // A call that has ended needs no cancelling.
    let found = app.host().backends()?.cancel(&call);
    tracing::debug!(found, "a call of a backend is cancelled");
    Ok(Json(Done { ok: true }))
}

async fn closed(
    State(app): State<App>,
    Path((plugin, app_id)): Path<(String, String)>,
    Body(Empty {}): Body<Empty>,
) -> Result<Json<Done>, ApiError> {
    blocking(&app, move |host| host.prompts()?.app_closed(&format!("{plugin}/{app_id}"))).await?;
    Ok(Json(Done { ok: true }))
}

async fn needed(State(app): State<App>) -> Json<NeededApps> {
    let items = app.host().needed_apps().into_iter();
    Json(NeededApps { items: items.map(|(plugin_id, app_id)| NeededApp { plugin_id, app_id }).collect() })
}

async fn backend(
    State(app): State<App>,
    Path(plugin): Path<String>,
) -> Result<Json<BackendStatus>, ApiError> {
    Ok(Json(app.host().backend_status(&plugin)?))
}

async fn restart(
    State(app): State<App>,
    Path(plugin): Path<String>,
    Body(Empty {}): Body<Empty>,
) -> Result<Json<BackendStatus>, ApiError> {
    Ok(Json(app.host().restart_backend(&plugin).await?))
}

async fn log(
    State(app): State<App>,
    Path(plugin): Path<String>,
    Query(query): Query<LogQuery>,
) -> Result<Json<PluginLog>, ApiError> {
    let limit = query.limit.unwrap_or(500).min(10_000);
    Ok(Json(blocking(&app, move |host| host.plugins()?.log(&plugin, limit)).await?))
}

async fn capabilities(
    State(app): State<App>,
    Path(plugin): Path<String>,
) -> Result<Json<CapabilityList>, ApiError> {
    let read = move |host: &std::sync::Arc<chatos_host::Host>| {
        Ok(CapabilityList { items: host.capabilities(&plugin)?, roots: host.app_roots(&plugin)? })
    };
    Ok(Json(blocking(&app, read).await?))
}

async fn wanted(
    State(app): State<App>,
    Path((plugin, app_id)): Path<(String, String)>,
    Body(body): Body<WantedBody>,
) -> Result<Json<Done>, ApiError> {
    blocking(&app, move |host| {
        if !host.app_allowed(&plugin, &app_id)?.contains(&body.capability.as_str()) {
            host.note_wish(&plugin, &body.capability);
        }
        Ok(())
    })
    .await?;
    Ok(Json(Done { ok: true }))
}

async fn forget_root(
    State(app): State<App>,
    Path(plugin): Path<String>,
    Body(body): Body<RootBody>,
) -> Result<Json<Done>, ApiError> {
    let ok = blocking(&app, move |host| host.forget_root(&plugin, &body.root, "person")).await?;
    Ok(Json(Done { ok }))
}

async fn grants(
    State(app): State<App>,
    Query(query): Query<GrantQuery>,
) -> Result<Json<GrantList>, ApiError> {
    let items = blocking(&app, move |host| host.grants(query.plugin_id.as_deref())).await?;
    Ok(Json(GrantList { items }))
}

async fn set_grant(
    State(app): State<App>,
    Body(change): Body<GrantChange>,
) -> Result<Json<GrantList>, ApiError> {
    let items = blocking(&app, move |host| host.set_grant(&change, "ui")).await?;
    Ok(Json(GrantList { items }))
}
