//! Programs that ask over a connection of their own, and which of them may decide about their own calls
//! (inbox §1.5).

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use axum::routing::{get, post};
use chatos_host::AllowOrder;
use chatos_wire::client::{AllowClient, ClientList, ClientsForgotten, ForgetClient};
use serde_json::Value;

use super::tasks::blocking;
use crate::api::{ApiError, Body, Routes};
use crate::app::App;

pub(crate) fn add(routes: &mut Routes) {
    let path = "/api/v1/clients";
    routes.read::<ClientList>(path, "Programs that ask over a connection of their own", &[], get(list));
    let path = "/api/v1/clients/allow";
    let what = "Let a program decide about its own calls";
    routes.write::<AllowClient, Value>(Method::POST, path, what, 200, post(allow));
    let path = "/api/v1/clients/forget";
    routes.write::<ForgetClient, ClientsForgotten>(Method::POST, path, "Forget a program", 200, post(forget));
}

async fn list(State(app): State<App>) -> Result<Json<ClientList>, ApiError> {
    Ok(Json(ClientList { items: blocking(&app, |host| host.clients()).await? }))
}

async fn allow(State(app): State<App>, Body(body): Body<AllowClient>) -> Result<Json<Value>, ApiError> {
    let order = AllowOrder {
        name: body.name,
        program: body.program,
        project: body.project.map(Into::into),
        pid: body.pid,
    };
    Ok(Json(blocking(&app, move |host| host.allow_client(&order)).await?))
}

async fn forget(
    State(app): State<App>,
    Body(body): Body<ForgetClient>,
) -> Result<Json<ClientsForgotten>, ApiError> {
    let forgotten = blocking(&app, move |host| host.forget_client(&body.id)).await?;
    Ok(Json(ClientsForgotten { ok: true, forgotten }))
}
