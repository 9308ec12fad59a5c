//! Apps while they are used: opening a frame, what it may call, its backend.

use axum::extract::{Path, Query, State};
use axum::http::Method;
use axum::routing::{get, post};
use axum::{Extension, Json};
use chatos_host::{CapabilityView, GrantChange, GrantView, OpenOrder, Surface};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::api::{ApiError, Body, Routes};
use crate::app::{App, UiOrigin};
use crate::frames::Place;
use crate::route::plugins::blocking;

/// How an app is to be shown.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(crate) struct OpenBody {
    /// `full` or `compact`.
    #[serde(default)]
    surface: Surface,
    /// The page's colours, so that the frame begins with them.
    #[serde(default)]
    theme: Option<Theme>,
    /// The page's language.
    #[serde(default)]
    lang: Option<FrameLang>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Theme {
    Light,
    Dark,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FrameLang {
    En,
    Zh,
}

/// Where the frame of an app is, and what the page needs to talk to it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OpenedApp {
    /// On the plugin's own origin.
    frame_url: String,
    /// Below the page's own origin, for a sandbox without an origin.
    fallback_url: String,
    /// The origin of `frameUrl`.
    origin: String,
    /// The frame shows it in its first message.
    nonce: String,
    /// The files that are served.
    rev: String,
    /// The module, relative to the plugin.
    entry: String,
    /// What the app may call now.
    capabilities: Vec<String>,
    /// What the frame is told at its start.
    snapshot: Value,
}

/// Decisions about capabilities.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct GrantList {
    items: Vec<GrantView>,
}

/// Capabilities of a plugin.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CapabilityList {
    items: Vec<CapabilityView>,
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
        Some(Theme::Dark) => "dark",
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

async fn capabilities(
    State(app): State<App>,
    Path(plugin): Path<String>,
) -> Result<Json<CapabilityList>, ApiError> {
    let items = blocking(&app, move |host| host.capabilities(&plugin)).await?;
    Ok(Json(CapabilityList { items }))
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
