//! Apps while they are used: opening a frame, what it may call, its backend.

use std::time::Duration;

use axum::http::header;
use chatos_apps::{BackendCall, OpenOrder};
use chatos_wire::app::{
    BackendCallBody, BackendResult, BackendStatus, CapabilityList, FrameLang, FrameTheme, GrantChange,
    GrantList, GrantQuery, MeasuredBody, NeededApps, OpenBody, OpenedApp, RootBody, WantedBody,
};
use chatos_wire::plugin::{LogQuery, PluginLog};
use chatos_wire::status::{Done, Empty};

use crate::api::ApiError;
use crate::app::App;
use crate::blocking::blocking;
use crate::caller::{Caller, UiOrigin};
use crate::frames::Place;
use crate::input::{Body, Path, Query};
use crate::table::Routes;

/// Parameters and what surrounds them (host-api §2.4).
const CALL_BYTES: usize = 32 * 1024 * 1024 + 64 * 1024;

pub(crate) fn add(routes: &mut Routes) {
    routes.post("/api/v1/apps/{plugin}/{app}/open", "Address and handshake of an app's frame", open);
    routes.post("/api/v1/apps/{plugin}/{app}/backend", "Call a method of an app's own backend", call);
    routes.post(
        "/api/v1/apps/{plugin}/{app}/closed",
        "A frame was closed: private values of its questions are erased",
        closed,
    );
    routes.post(
        "/api/v1/apps/{plugin}/{app}/wanted",
        "The page refused an app a capability; shown on the plugin's page",
        wanted,
    );
    routes.post(
        "/api/v1/apps/{plugin}/roots/forget",
        "Take a folder back from a plugin's apps; they may ask for it again",
        forget_root,
    );
    routes.post("/api/v1/apps/calls/{call}/cancel", "Cancel a call of a backend by its callId", cancel);
    routes.get("/api/v1/apps/needed", "Apps whose front end is needed now", needed);
    routes.put(
        "/api/v1/apps/confinement",
        "The page says whether its browser keeps pages of apps off the network",
        measured,
    );
    routes.get("/api/v1/apps/{plugin}/backend", "How the backend of a plugin stands", backend);
    routes.post("/api/v1/apps/{plugin}/backend/restart", "Start the backend of a plugin again", restart);
    routes.get("/api/v1/apps/{plugin}/log", "Newest output of a plugin's processes", log);
    routes.get(
        "/api/v1/admin/state",
        "What apps may know of the settings: models, servers, prompts; secrets masked",
        crate::route::admin_state::read,
    );
    routes.get("/api/v1/apps/{plugin}/capabilities", "What the apps of a plugin may call", capabilities);
    routes.get("/api/v1/grants", "Decisions about capabilities of apps", grants);
    routes.put(
        "/api/v1/grants",
        "Give a capability to apps, take it back, or forget the decision",
        set_grant,
    );
}

async fn open(
    app: App,
    cx: Caller,
    (Path((plugin, app_id)), Body(body)): (Path<(String, String)>, Body<OpenBody>),
) -> Result<OpenedApp, ApiError> {
    let ui = cx.origin;
    let ui_origin = match ui {
        Some(UiOrigin(origin)) => origin,
        None => app.url().trim_end_matches('/').to_owned(),
    };
    let order = OpenOrder {
        plugin_id: plugin,
        app_id: app_id.clone(),
        surface: body.surface,
        ui_origin: ui_origin.clone(),
    };
    let opened = blocking(app.host(), move |host| host.apps().open_app(&order)).await?;
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
    Ok(OpenedApp {
        frame_url: place.address(&rev, &page),
        fallback_url: format!("/plugin-frame/{}/r/{rev}/{page}", opened.hash),
        origin: place.origin().to_owned(),
        nonce: opened.nonce,
        rev,
        entry: opened.entry,
        capabilities: opened.capabilities,
        snapshot: opened.snapshot,
    })
}

async fn measured(app: App, cx: Caller, Body(body): Body<MeasuredBody>) -> Result<Done, ApiError> {
    let browser = cx.header(&header::USER_AGENT).unwrap_or_default();
    app.host().apps().measured(browser, body.confinement);
    Ok(Done { ok: true })
}

async fn call(
    app: App,
    _: Caller,
    (Path((plugin, app_id)), Body(body)): (Path<(String, String)>, Body<BackendCallBody, CALL_BYTES>),
) -> Result<BackendResult, ApiError> {
    let call = BackendCall {
        plugin_id: plugin,
        app_id,
        method: body.method.unwrap_or_default(),
        params: body.params,
        timeout: body.timeout_ms.map(Duration::from_millis),
        call_id: body.call_id,
    };
    // The plugin's own bytes, not read again: only the host wrote around them.
    Ok(BackendResult { result: app.host().apps().invoke_backend(call).await? })
}

async fn cancel(app: App, _: Caller, (Path(call), _): (Path<String>, Body<Empty>)) -> Result<Done, ApiError> {
    // A call that has ended needs no cancelling.
    let found = app.host().apps().backends()?.cancel(&call);
    tracing::debug!(found, "a call of a backend is cancelled");
    Ok(Done { ok: true })
}

async fn closed(
    app: App,
    _: Caller,
    (Path((plugin, app_id)), _): (Path<(String, String)>, Body<Empty>),
) -> Result<Done, ApiError> {
    blocking(app.host(), move |host| host.inbox().questions()?.app_closed(&format!("{plugin}/{app_id}")))
        .await?;
    Ok(Done { ok: true })
}

async fn needed(app: App, _: Caller, (): ()) -> Result<NeededApps, ApiError> {
    Ok(NeededApps { items: app.host().apps().needed_apps() })
}

async fn backend(app: App, _: Caller, Path(plugin): Path<String>) -> Result<BackendStatus, ApiError> {
    Ok(app.host().apps().backend_status(&plugin)?)
}

async fn restart(
    app: App,
    _: Caller,
    (Path(plugin), _): (Path<String>, Body<Empty>),
) -> Result<BackendStatus, ApiError> {
    Ok(app.host().apps().restart_backend(&plugin).await?)
}

async fn log(
    app: App,
    _: Caller,
    (Path(plugin), Query(query)): (Path<String>, Query<LogQuery>),
) -> Result<PluginLog, ApiError> {
    let limit = query.limit.unwrap_or(500).min(10_000);
    blocking(app.host(), move |host| host.plugins()?.log(&plugin, limit)).await
}

async fn capabilities(app: App, _: Caller, Path(plugin): Path<String>) -> Result<CapabilityList, ApiError> {
    let read = move |host: &std::sync::Arc<chatos_host::Host>| {
        Ok(CapabilityList {
            items: host.apps().capabilities(&plugin)?,
            roots: host.apps().app_roots(&plugin)?,
        })
    };
    blocking(app.host(), read).await
}

async fn wanted(
    app: App,
    _: Caller,
    (Path((plugin, app_id)), Body(body)): (Path<(String, String)>, Body<WantedBody>),
) -> Result<Done, ApiError> {
    blocking(app.host(), move |host| {
        if !host.apps().app_allowed(&plugin, &app_id)?.contains(&body.capability.as_str()) {
            host.apps().note_wish(&plugin, &body.capability);
        }
        Ok(())
    })
    .await?;
    Ok(Done { ok: true })
}

async fn forget_root(
    app: App,
    _: Caller,
    (Path(plugin), Body(body)): (Path<String>, Body<RootBody>),
) -> Result<Done, ApiError> {
    let ok = blocking(app.host(), move |host| host.apps().forget_root(&plugin, &body.root, "person")).await?;
    Ok(Done { ok })
}

async fn grants(app: App, _: Caller, Query(query): Query<GrantQuery>) -> Result<GrantList, ApiError> {
    let items = blocking(app.host(), move |host| host.apps().grants(query.plugin_id.as_deref())).await?;
    Ok(GrantList { items })
}

async fn set_grant(app: App, _: Caller, Body(change): Body<GrantChange>) -> Result<GrantList, ApiError> {
    let items = blocking(app.host(), move |host| host.apps().set_grant(&change, "ui")).await?;
    Ok(GrantList { items })
}
