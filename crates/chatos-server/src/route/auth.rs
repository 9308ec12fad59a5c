//! Signing in: a one-time code for a session token, and new codes for those who already are.

use chatos_wire::auth::{SignIn, SignInLink, SignedIn};
use chatos_wire::status::{Done, Empty};
use serde_json::Map;

use crate::api::ApiError;
use crate::app::App;
use crate::caller::Caller;
use crate::input::Body;
use crate::table::Routes;

pub(crate) fn add(routes: &mut Routes) {
    routes.post("/api/v1/auth/exchange", "Exchange a one-time code for a session token", exchange);
    routes.post("/api/v1/auth/link", "Make a fresh one-time sign-in link", link);
    routes.post("/api/v1/auth/sign-out", "End this session", sign_out);
}

async fn exchange(app: App, _: Caller, Body(body): Body<SignIn>) -> Result<SignedIn, ApiError> {
    let token = app.auth().exchange(&body.code);
    let kind = if token.is_some() { "sign_in" } else { "sign_in_failed" };
    let host = app.host().clone();
    let recorded = tokio::task::spawn_blocking(move || host.audit(kind, Map::new())).await;
    if let Err(error) = recorded {
        tracing::error!(%error, "the sign-in could not be recorded");
    }
    match token {
        Some(token) => Ok(SignedIn { token }),
        None => Err(ApiError::Status(axum::http::StatusCode::UNAUTHORIZED)),
    }
}

async fn link(app: App, _: Caller, _: Body<Empty>) -> Result<SignInLink, ApiError> {
    Ok(SignInLink { sign_in_url: app.sign_in_url() })
}

async fn sign_out(app: App, cx: Caller, _: Body<Empty>) -> Result<Done, ApiError> {
    let session = cx.session()?;
    app.auth().sign_out(session);
    Ok(Done { ok: true })
}
