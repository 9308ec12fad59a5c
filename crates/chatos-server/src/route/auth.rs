//! Signing in: a one-time code for a session token, a browser's own two halves for another one (inbox §7), and new
//! codes for those who are signed in already.

use axum::http::StatusCode;
use chatos_browsers::{Refusal, Renewal, SignInError};
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::auth::{Challenge, Renew, SignIn, SignInLink, SignedIn};
use chatos_wire::event::{ChangedId, HostEvent};
use chatos_wire::status::{Done, Empty};
use serde_json::{Map, Value, json};

use super::browsers::work;
use crate::answer::WithCookie;
use crate::api::ApiError;
use crate::app::App;
use crate::auth::SESSION_LIFE;
use crate::caller::Caller;
use crate::input::Body;
use crate::table::Routes;

pub(crate) fn add(routes: &mut Routes) {
    routes.post("/api/v1/auth/exchange", "Exchange a one-time code for a session token", exchange);
    routes.get("/api/v1/auth/challenge", "Something for a signed-in browser to sign", challenge);
    routes.post(
        "/api/v1/auth/renew",
        "A session token for a signed-in browser, by cookie and signature",
        renew,
    );
    routes.post("/api/v1/auth/link", "Make a fresh one-time sign-in link", link);
    routes.post("/api/v1/auth/sign-out", "End this session and sign its browser out", sign_out);
}

fn fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// A failure; all of them are alike. Those beyond counting leave no record, so that nobody fills the disk.
fn refused(app: &App) -> ApiError {
    if !app.auth().failed() {
        return ApiError::Status(StatusCode::TOO_MANY_REQUESTS);
    }
    app.host().audit("sign_in_failed", Map::new());
    ApiError::Status(StatusCode::UNAUTHORIZED)
}

fn signed_in(app: &App, browser: Option<String>, set_cookie: Option<String>) -> WithCookie<SignedIn> {
    let token = app.auth().begin(browser.clone());
    let expires_in_ms = SESSION_LIFE.as_millis() as u64;
    WithCookie { value: SignedIn { token, expires_in_ms, browser_id: browser }, set_cookie }
}

async fn exchange(app: App, cx: Caller, Body(body): Body<SignIn>) -> Result<WithCookie<SignedIn>, ApiError> {
    work(&app, move |app| {
        if !app.auth().take_code(&body.code) {
            return Err(refused(app));
        }
        let Some(key) = body.public_key else {
            app.host().audit("sign_in", Map::new());
            return Ok(signed_in(app, None, None));
        };
        let name = body.name.unwrap_or_default();
        let done = app.browsers().sign_in(&key, &name, &cx.address).map_err(|error| match error {
            SignInError::Key => Fault::new(
                ErrorCode::InvalidArgument,
                Text::fixed("/publicKey: that is no key of P-256", "/publicKey：不是 P-256 公钥"),
            )
            .hint(Text::fixed("leave it out to sign in for one page", "省略它则仅登录当前页面")),
            SignInError::Random => Fault::new(
                ErrorCode::Unavailable,
                Text::fixed("the system gives no random bytes", "系统无法提供随机数"),
            ),
            SignInError::Store(error) => error.into(),
        })?;
        app.host().audit("sign_in", fields(json!({ "browser": done.browser })));
        app.host().events().publish(HostEvent::BrowsersChanged(ChangedId { id: done.browser.clone() }));
        Ok(signed_in(app, Some(done.browser), Some(done.set_cookie)))
    })
    .await
}

async fn challenge(app: App, _: Caller, (): ()) -> Result<Challenge, ApiError> {
    let expires_in_ms = app.browsers().challenge_life_ms();
    let challenge = app.browsers().challenge().ok_or(ApiError::Status(StatusCode::SERVICE_UNAVAILABLE))?;
    Ok(Challenge { challenge, expires_in_ms })
}

async fn renew(app: App, cx: Caller, Body(body): Body<Renew>) -> Result<WithCookie<SignedIn>, ApiError> {
    work(&app, move |app| {
        let origin = cx.origin.as_ref().map(|origin| origin.0.as_str()).unwrap_or_default();
        let renewed = app.browsers().renew(&Renewal {
            browser: &body.browser_id,
            challenge: &body.challenge,
            sig: &body.sig,
            // As browsers write it: the default port is left out.
            origin: origin.strip_suffix(":80").unwrap_or(origin),
            cookies: &cx.cookies(),
            address: &cx.address,
        });
        match renewed {
            Ok(done) => Ok(signed_in(app, Some(done.browser), Some(done.set_cookie))),
            Err(Refusal::Reused(row)) => {
                app.auth().end_browser(&row.id);
                app.tell_revoked(&row, "cookie_reuse");
                Err(refused(app))
            }
            Err(Refusal::Unknown) => Err(refused(app)),
            Err(Refusal::Store(error)) => Err(Fault::from(error).into()),
        }
    })
    .await
}

async fn link(app: App, _: Caller, _: Body<Empty>) -> Result<SignInLink, ApiError> {
    Ok(SignInLink { sign_in_url: app.sign_in_url() })
}

async fn sign_out(app: App, cx: Caller, _: Body<Empty>) -> Result<WithCookie<Done>, ApiError> {
    let session = cx.session()?;
    work(&app, move |app| {
        let browser = app.auth().browser_of(session);
        app.auth().sign_out(session);
        if let Some(browser) = &browser {
            app.revoke(Some(browser))?;
        }
        let set_cookie = browser.map(|_| app.browsers().without_cookie());
        Ok(WithCookie { value: Done { ok: true }, set_cookie })
    })
    .await
}
