//! Views of MCP servers: opening one, and what its frame asks of its own server. Which server that is
//! was decided when it was opened; nothing in a request can name another (security T5).

use chatos_apps::ViewOrder;
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::app::{OpenView, OpenedView, ViewCall, ViewList, ViewQuery, ViewRead};
use serde_json::Value;

use crate::api::ApiError;
use crate::app::App;
use crate::caller::{Caller, UiOrigin};
use crate::frames::Place;
use crate::input::{Body, Path, Query};
use crate::table::Routes;

/// Arguments of a call (security T2).
const CALL_BYTES: usize = 8 << 20;

pub(crate) fn add(routes: &mut Routes) {
    routes.get("/api/v1/views", "Tools of a server that have a view, as far as they were listed", list);
    routes.post("/api/v1/views", "Read the view of a tool from its server, to be shown in a frame", open);
    routes.post("/api/v1/views/{view}/call", "Call a tool of a view's own server", call);
    routes.post("/api/v1/views/{view}/read", "Read a resource of a view's own server", read);
}

async fn list(app: App, _: Caller, Query(query): Query<ViewQuery>) -> Result<ViewList, ApiError> {
    let Some(server) = query.server.filter(|server| !server.is_empty()) else {
        return Err(Fault::new(
            ErrorCode::InvalidArgument,
            Text::fixed("`server` is required", "缺少 `server`"),
        )
        .into());
    };
    Ok(ViewList { items: app.host().apps().tools_with_views(&server).await? })
}

async fn open(app: App, cx: Caller, Body(body): Body<OpenView>) -> Result<OpenedView, ApiError> {
    let ui = cx.origin;
    let ui_origin = match ui {
        Some(UiOrigin(origin)) => origin,
        None => app.url().trim_end_matches('/').to_owned(),
    };
    let order = ViewOrder {
        server: body.server,
        tool: body.tool,
        agent: body.agent,
        ui_origin,
        allow_hosts: body.allow_hosts,
        lang: cx.lang,
    };
    let opened = app.host().apps().open_view(order).await?;
    let place = Place::plugin(&opened.view.hash, app.port());
    let id = opened.view.id.clone();
    Ok(OpenedView {
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
    })
}

async fn call(
    app: App,
    cx: Caller,
    (Path(view), Body(body)): (Path<String>, Body<ViewCall, CALL_BYTES>),
) -> Result<Value, ApiError> {
    let lang = cx.lang;
    let host = app.host();
    Ok(host.apps().view_call(&view, &body.tool, body.arguments, body.session, lang).await?)
}

async fn read(
    app: App,
    _: Caller,
    (Path(view), Body(body)): (Path<String>, Body<ViewRead>),
) -> Result<Value, ApiError> {
    Ok(app.host().apps().view_read(&view, &body.uri).await?)
}
