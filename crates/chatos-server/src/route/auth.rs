//! Signing in: a one-time code for a session token, and new codes for those who already are.

use axum::extract::{Extension, State};
use axum::routing::post;
use axum::{Json, http::Method};
use chatos_wire::auth::{SignIn, SignInLink, SignedIn};
use chatos_wire::status::{Done, Empty};
use serde_json::Map;

use crate::api::{ApiError, Body, Routes};
use crate::app::App;
use crate::auth::SessionId;

pub(crate) fn add(routes: &mut Routes) {
    routes.write::<SignIn, SignedIn>(
        Method::POST,
        "/api/v1/auth/exchange",
        "Exchange a one-time code for a session token",
        200,
        post(exchange),
    );
    routes.write::<Empty, SignInLink>(
        Method::POST,
        "/api/v1/auth/link",
        "Make a fresh one-time sign-in link",
        200,
        post(link),
    );
    routes.write::<Empty, Done>(
        Method::POST,
        "/api/v1/auth/sign-out",
        "End this session",
        200,
        post(sign_out),
    );
}

async fn exchange(State(app): State<App>, Body(body): Body<SignIn>) -> Result<Json<SignedIn>, ApiError> {
    let token = app.auth().exchange(&body.code);
    let kind = if token.is_some() { "sign_in" } else { "sign_in_failed" };
    let host = app.host().clone();
    let recorded = tokio::task::spawn_blocking(move || host.audit(kind, Map::new())).await;
    if let Err(error) = recorded {
        tracing::error!(%error, "the sign-in could not be recorded");
    }
    match token {
        Some(token) => Ok(Json(SignedIn { token })),
        None => Err(ApiError::Status(axum::http::StatusCode::UNAUTHORIZED)),
    }
}

async fn link(State(app): State<App>, _body: Body<Empty>) -> Json<SignInLink> {
    Json(SignInLink { sign_in_url: app.sign_in_url() })
}

async fn sign_out(
    State(app): State<App>,
    Extension(session): Extension<SessionId>,
    _body: Body<Empty>,
) -> Json<Done> {
    app.auth().sign_out(session);
    Json(Done { ok: true })
}
