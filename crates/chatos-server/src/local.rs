//! The API without a network: a command that opens the state itself calls the same routes in process.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::{Method, StatusCode, header};
use chatos_host::Host;
use chatos_tool::Lang;
use http_body_util::BodyExt;
use serde_json::Value;

use crate::api::render;
use crate::app::{App, AppOptions};
use crate::auth::HOST_SESSION;

/// Answers of such a call are collected up to this size.
const ANSWER_BYTES: usize = 64 * 1024 * 1024;

/// Calls routes of a host opened by this very process.
#[derive(Clone)]
pub struct LocalApi {
    app: App,
}

impl LocalApi {
    /// The API of `host`, reachable from this process only.
    pub fn new(host: Arc<Host>) -> Self {
        Self { app: App::new(host, AppOptions::default()) }
    }

    /// The API of an application that this process also serves.
    pub fn of(app: App) -> Self {
        Self { app }
    }

    /// The host behind it.
    pub fn host(&self) -> &Arc<Host> {
        self.app.host()
    }

    /// Makes one call. There is no guard to pass: whoever can call this holds the state itself.
    pub async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        lang: Lang,
    ) -> (StatusCode, Value) {
        let (kind, bytes) = match body {
            Some(value) => ("application/json", value.to_string().into_bytes()),
            None => ("", Vec::new()),
        };
        self.send(method, path, kind, bytes, lang).await
    }

    /// Makes one call with a body that is not JSON.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        content_type: &str,
        body: Vec<u8>,
        lang: Lang,
    ) -> (StatusCode, Value) {
        let mut request =
            Request::builder().method(method).uri(path).header(header::ACCEPT_LANGUAGE, lang.as_str());
        if !content_type.is_empty() {
            request = request.header(header::CONTENT_TYPE, content_type);
        }
        let Ok(mut request) = request.body(axum::body::Body::from(body)) else {
            return (StatusCode::BAD_REQUEST, Value::Null);
        };
        request.extensions_mut().insert(HOST_SESSION);
        let response = render(self.app.route(request).await, lang);
        let status = response.status();
        let body = http_body_util::Limited::new(response.into_body(), ANSWER_BYTES).collect().await;
        let value = body.ok().and_then(|body| serde_json::from_slice(&body.to_bytes()).ok());
        (status, value.unwrap_or(Value::Null))
    }
}
