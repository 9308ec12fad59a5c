//! The web UI: embedded at build time, or read from a folder while somebody works on it.

use std::borrow::Cow;
use std::path::Path;

use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

use crate::api::{ApiError, hex};
use crate::app::App;
use crate::caller::Caller;

/// Serves a file of the UI; everything else is 404.
pub(crate) async fn serve(app: App, _: Caller, request: Request) -> Result<Response, ApiError> {
    let path = request.uri().path();
    if path.starts_with("/api") {
        return Err(ApiError::Status(StatusCode::NOT_FOUND));
    }
    let name = match path.trim_start_matches('/') {
        "" => "index.html",
        name => name,
    };
    let Some(body) = file(&app, name) else { return Err(ApiError::Status(StatusCode::NOT_FOUND)) };
    let tag = format!("\"{}\"", hex(&Sha256::digest(&body)[..12]));
    let known = request.headers().get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let mut response = if known == Some(tag.as_str()) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        body.into_owned().into_response()
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type(name)));
    // Names under assets/ carry a hash of their content, so they never change.
    let cache = if name.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" };
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    Ok(response)
}

/// A file of the UI build.
pub(crate) fn file(app: &App, name: &str) -> Option<Cow<'static, [u8]>> {
    match &app.options().ui_dir {
        Some(folder) => from_disk(folder, name).map(Into::into),
        None => app.options().page.iter().find(|(known, _)| *known == name).map(|(_, bytes)| (*bytes).into()),
    }
}

fn from_disk(folder: &Path, name: &str) -> Option<Vec<u8>> {
    let plain = name.split('/').all(|part| !part.is_empty() && !part.starts_with('.'));
    plain.then(|| std::fs::read(folder.join(name)).ok())?
}

pub(crate) fn media_type(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase().as_str() {
        "html" | "htm" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "avif" => "image/avif",
        "webp" => "image/webp",
        "ico" => "image/x-icon",
        "json" | "map" | "webmanifest" => "application/json",
        "woff" => "font/woff",
        "woff2" => "font/woff2",
        "ttf" => "font/ttf",
        "otf" => "font/otf",
        "mp3" => "audio/mpeg",
        "ogg" => "audio/ogg",
        "wav" => "audio/wav",
        "mp4" => "video/mp4",
        "webm" => "video/webm",
        "pdf" => "application/pdf",
        "wasm" => "application/wasm",
        "txt" | "md" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
