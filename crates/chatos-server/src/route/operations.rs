//! Long work: how far it is, and stopping it.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Method};
use axum::routing::{get, post};
use chatos_host::{ErrorCode, Fault, Text};
use chatos_wire::operation::{OperationList, OperationView};
use chatos_wire::status::Empty;
use serde_json::Value;

use crate::api::{ApiError, Body, Routes, lang_of};
use crate::app::App;

pub(crate) fn add(routes: &mut Routes) {
    routes.read::<OperationList>(
        "/api/v1/operations",
        "Long work of this start, newest first",
        &[],
        get(list),
    );
    routes.read::<OperationView>("/api/v1/operations/{id}", "How far long work is", &[], get(read));
    let path = "/api/v1/operations/{id}/cancel";
    routes.write::<Empty, OperationView>(Method::POST, path, "Ask long work to stop", 200, post(cancel));
}

async fn list(State(app): State<App>, headers: HeaderMap) -> Json<Value> {
    let lang = lang_of(&headers, app.host().lang());
    let items: Vec<Value> =
        app.host().operations().list().iter().map(|operation| operation.view(lang)).collect();
    Json(serde_json::json!({ "items": items }))
}

async fn read(
    State(app): State<App>,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let lang = lang_of(&headers, app.host().lang());
    let operation = app.host().operations().get(&id).ok_or_else(|| unknown(&id))?;
    Ok(Json(operation.view(lang)))
}

async fn cancel(
    State(app): State<App>,
    headers: HeaderMap,
    Path(id): Path<String>,
    _body: Body<Empty>,
) -> Result<Json<Value>, ApiError> {
    let lang = lang_of(&headers, app.host().lang());
    let operation = app.host().operations().get(&id).ok_or_else(|| unknown(&id))?;
    operation.cancel();
    Ok(Json(operation.view(lang)))
}

fn unknown(id: &str) -> Fault {
    Fault::new(
        ErrorCode::NotFound,
        Text::new(format!("there is no operation `{id}`"), format!("没有操作 `{id}`")),
    )
    .hint(Text::fixed("operations are forgotten when ChatOS stops", "ChatOS 停止后不再保留操作记录"))
}
