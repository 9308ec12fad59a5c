//! What handlers are made of: the route table, bounded JSON bodies, errors in the caller's language.

use std::time::Duration;

use axum::Router;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::MethodRouter;
use chatos_host::{ErrorCode, Fault, Lang, Text};
use http_body_util::{BodyExt, Limited};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;

use crate::app::App;

/// security T2.8: a JSON body is at most this large unless a route says otherwise.
pub(crate) const BODY_BYTES: usize = 1024 * 1024;
/// A body that has not arrived by then is given up.
const BODY_TIME: Duration = Duration::from_secs(30);

/// Every route with what it takes and gives; routing and the OpenAPI document come from it.
pub(crate) struct Routes {
    pub(crate) router: Router<App>,
    pub(crate) docs: Vec<RouteDoc>,
    pub(crate) schemas: SchemaGenerator,
}

/// One route as documented.
pub(crate) struct RouteDoc {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) request: Option<Schema>,
    pub(crate) response: Option<Schema>,
    pub(crate) status: u16,
    pub(crate) query: &'static [(&'static str, &'static str)],
}

impl Routes {
    pub(crate) fn new() -> Self {
        Self {
            router: Router::new(),
            docs: Vec::new(),
            schemas: schemars::generate::SchemaSettings::draft2020_12()
                .with(|settings| settings.definitions_path = "/components/schemas".into())
                .into_generator(),
        }
    }

    /// Registers a route that gives `Out` and takes no body.
    pub(crate) fn read<Out: JsonSchema>(
        &mut self,
        path: &'static str,
        summary: &'static str,
        query: &'static [(&'static str, &'static str)],
        handler: MethodRouter<App>,
    ) {
        let response = Some(self.schemas.subschema_for::<Out>());
        self.push(
            RouteDoc { method: Method::GET, path, summary, request: None, response, status: 200, query },
            handler,
        );
    }

    /// Registers a route that takes `In` as JSON and gives `Out`.
    pub(crate) fn write<In: JsonSchema, Out: JsonSchema>(
        &mut self,
        method: Method,
        path: &'static str,
        summary: &'static str,
        status: u16,
        handler: MethodRouter<App>,
    ) {
        let request = Some(self.schemas.subschema_for::<In>());
        let response = Some(self.schemas.subschema_for::<Out>());
        self.push(RouteDoc { method, path, summary, request, response, status, query: &[] }, handler);
    }

    /// Documents a further method of a path whose handlers were registered together.
    pub(crate) fn document<In: JsonSchema, Out: JsonSchema>(
        &mut self,
        method: Method,
        path: &'static str,
        summary: &'static str,
    ) {
        let request = Some(self.schemas.subschema_for::<In>());
        let response = Some(self.schemas.subschema_for::<Out>());
        self.docs.push(RouteDoc { method, path, summary, request, response, status: 200, query: &[] });
    }

    /// As [`Routes::document`], for a method without a body.
    pub(crate) fn document_act<Out: JsonSchema>(
        &mut self,
        method: Method,
        path: &'static str,
        summary: &'static str,
    ) {
        let response = Some(self.schemas.subschema_for::<Out>());
        self.docs.push(RouteDoc { method, path, summary, request: None, response, status: 200, query: &[] });
    }

    fn push(&mut self, doc: RouteDoc, handler: MethodRouter<App>) {
        self.router = std::mem::take(&mut self.router).route(doc.path, handler);
        self.docs.push(doc);
    }
}

/// The values of a query; what cannot be read is said in the caller's language.
pub(crate) struct Query<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Self::Rejection> {
        let read = axum::extract::Query::<T>::from_request_parts(parts, state).await;
        read.map(|query| Self(query.0)).map_err(|error| {
            let text = error.body_text();
            ApiError::Malformed(
                Fault::new(
                    ErrorCode::InvalidArgument,
                    Text::new(
                        format!("the query cannot be read: {text}"),
                        format!("无法解析查询参数：{text}"),
                    ),
                )
                .hint(Text::fixed(
                    "use the names and values that the API description gives",
                    "请使用 API 说明中的名称和取值",
                )),
            )
        })
    }
}

/// A JSON body of at most `LIMIT` bytes.
pub(crate) struct Body<T, const LIMIT: usize = BODY_BYTES>(pub(crate) T);

impl<T: DeserializeOwned, const LIMIT: usize, S: Send + Sync> FromRequest<S> for Body<T, LIMIT> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _state: &S) -> Result<Self, Self::Rejection> {
        let kind = request
            .headers()
            .get(header::CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        if !kind.to_ascii_lowercase().starts_with("application/json") {
            return Err(ApiError::Status(StatusCode::UNSUPPORTED_MEDIA_TYPE));
        }
        let bytes = read_body(request, LIMIT).await?;
        serde_json::from_slice(&bytes).map(Self).map_err(|error| {
            let text = error.to_string();
            ApiError::Malformed(
                Fault::new(
                    ErrorCode::InvalidArgument,
                    Text::new(
                        format!("the body cannot be read: {text}"),
                        format!("无法解析请求内容：{text}"),
                    ),
                )
                .hint(Text::fixed(
                    "send the JSON object that the API description names",
                    "请按 API 说明发送 JSON 对象",
                )),
            )
        })
    }
}

/// Reads a body up to `limit` bytes, within a bounded time.
pub(crate) async fn read_body(request: Request, limit: usize) -> Result<bytes::Bytes, ApiError> {
    let too_large = || ApiError::Status(StatusCode::PAYLOAD_TOO_LARGE);
    let declared =
        request.headers().get(header::CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse::<usize>().ok());
    if declared.is_some_and(|length| length > limit) {
        return Err(too_large());
    }
    let collected = tokio::time::timeout(BODY_TIME, Limited::new(request.into_body(), limit).collect()).await;
    match collected {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.downcast_ref::<http_body_util::LengthLimitError>().is_some() => {
            Err(too_large())
        }
        Ok(Err(_)) => Err(ApiError::Status(StatusCode::BAD_REQUEST)),
        Err(_) => Err(ApiError::Status(StatusCode::REQUEST_TIMEOUT)),
    }
}

/// How a handler fails.
#[derive(Debug)]
pub(crate) enum ApiError {
    /// With an error of the product.
    Fault(Fault),
    /// With a body that is not JSON or not the right JSON: 400.
    Malformed(Fault),
    /// With a bare status of the protocol.
    Status(StatusCode),
}

impl From<Fault> for ApiError {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// Carries a failure through axum to [`render`], which knows the caller's language.
#[derive(Clone)]
struct Unrendered(Fault);

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let (status, fault) = match self {
            Self::Status(status) => return bare(status),
            Self::Malformed(fault) => (StatusCode::BAD_REQUEST, fault),
            Self::Fault(fault) => {
                let status = StatusCode::from_u16(fault.class.http_status());
                (status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), fault)
            }
        };
        let mut response = status.into_response();
        response.extensions_mut().insert(Unrendered(fault));
        response
    }
}

/// Writes the error object of a failed answer in the caller's language.
pub(crate) fn render(mut response: Response, lang: Lang) -> Response {
    let Some(Unrendered(fault)) = response.extensions_mut().remove::<Unrendered>() else { return response };
    if fault.class == ErrorCode::Internal {
        tracing::error!(code = %fault.code, "{fault}");
    }
    json_response(response.status(), &fault.to_json(lang))
}

/// The constant answers of the protocol itself: no detail, same body every time.
pub(crate) fn bare(status: StatusCode) -> Response {
    let (code, message) = match status.as_u16() {
        400 => ("bad_request", "the request is malformed"),
        401 => ("unauthorized", "sign in first"),
        403 => ("permission_denied", "refused"),
        404 => ("not_found", "there is nothing here"),
        405 => ("method_not_allowed", "this method is not allowed here"),
        408 => ("timeout", "the request did not arrive in time"),
        413 => ("too_large", "the request is too large"),
        415 => ("unsupported_media_type", "send application/json"),
        426 => ("upgrade_required", "this address speaks WebSocket"),
        503 => ("unavailable", "the host is stopping"),
        _ => ("internal", "the host made a mistake"),
    };
    let mut response =
        json_response(status, &serde_json::json!({ "error": { "code": code, "message": message } }));
    if status == StatusCode::UNAUTHORIZED {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

fn json_response(status: StatusCode, value: &serde_json::Value) -> Response {
    let mut response = (status, value.to_string()).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// The language a caller asks for, else the host's.
pub(crate) fn lang_of(headers: &HeaderMap, fallback: Lang) -> Lang {
    headers
        .get(header::ACCEPT_LANGUAGE)
        .and_then(|value| value.to_str().ok())
        .filter(|value| !value.trim().is_empty() && *value != "*")
        .map_or(fallback, Lang::from_locale)
}
