//! What every handler stands on: bounded bodies, and errors in the caller's language.

use std::time::Duration;

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chatos_tool::{ErrorCode, Fault, Lang};
use http_body_util::{BodyExt, Limited};

/// security T2.8: a JSON body is at most this large unless a route says otherwise.
pub(crate) const BODY_BYTES: usize = 1024 * 1024;
/// A body that has not arrived by then is given up.
const BODY_TIME: Duration = Duration::from_secs(30);

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
        429 => ("rate_limited", "too many failed sign-ins; wait a minute"),
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
    json_bytes(status, value.to_string().into_bytes())
}

/// JSON that is written already.
pub(crate) fn json_bytes(status: StatusCode, bytes: Vec<u8>) -> Response {
    let mut response = (status, bytes).into_response();
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
