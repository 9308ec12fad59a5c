//! The web UI: embedded at build time, or read from a folder while somebody works on it.
//!
//! The build leaves compressed copies (`<name>.gz`) of what shrinks. They are what the program holds, and what a
//! browser gets as they are; only who cannot read them has them unpacked here.

use std::borrow::Cow;
use std::io::Read;
use std::path::Path;

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chatos_tool::hex;
use flate2::read::GzDecoder;
use sha2::{Digest, Sha256};

use crate::api::ApiError;
use crate::app::{App, DEV_PAGE};
use crate::caller::Caller;

/// Serves a file of the UI; everything else is 404.
pub(crate) async fn serve(app: App, _: Caller, request: Request) -> Result<Response, ApiError> {
    let path = request.uri().path();
    if path.starts_with("/api") {
        return Err(ApiError::Status(StatusCode::NOT_FOUND));
    }
    let name = match path.trim_start_matches('/') {
        "" => "index.html",
        // The same page; it sees its own address.
        DEV_PAGE if app.options().dev.is_some() => "index.html",
        name => name,
    };
    // A compressed copy has no address of its own.
    let found =
        if name.ends_with(PACKED) { None } else { Found::of(&app, name, reads_gzip(request.headers())) };
    let Some(Found { body, packed }) = found else { return Err(ApiError::Status(StatusCode::NOT_FOUND)) };
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
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if packed {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    if name == DIAGRAM {
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(DIAGRAM_POLICY));
        headers.insert(HeaderName::from_static("connection-allowlist"), HeaderValue::from_static("()"));
    }
    Ok(response)
}

/// The page of the frame that draws diagrams of chats.
pub(crate) const DIAGRAM: &str = "diagram.html";

/// What is written in it runs, in an origin of nobody, and reaches nothing; only the page may hold it.
const DIAGRAM_POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
     form-action 'none'; base-uri 'none'; frame-ancestors 'self'; sandbox allow-scripts";

const PACKED: &str = ".gz";

struct Found {
    body: Cow<'static, [u8]>,
    /// The body is the compressed copy.
    packed: bool,
}

impl Found {
    fn of(app: &App, name: &str, reads_gzip: bool) -> Option<Self> {
        let copy = if reads_gzip { stored(app, &format!("{name}{PACKED}")) } else { None };
        match copy {
            Some(body) => Some(Self { body, packed: true }),
            None => file(app, name).map(|body| Self { body, packed: false }),
        }
    }
}

/// Whether the caller takes gzip: named, or anything goes, and not ruled out with `q=0`.
fn reads_gzip(headers: &HeaderMap) -> bool {
    let given = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    given.flat_map(|value| value.split(',')).any(|one| {
        let mut parts = one.split(';').map(str::trim);
        let known = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip") || name == "*");
        known
            && !parts
                .any(|part| part.strip_prefix("q=").is_some_and(|q| q.parse::<f32>().is_ok_and(|q| q <= 0.0)))
    })
}

/// A file of the UI build, as it was before it was compressed.
pub(crate) fn file(app: &App, name: &str) -> Option<Cow<'static, [u8]>> {
    stored(app, name).or_else(|| {
        let packed = stored(app, &format!("{name}{PACKED}"))?;
        let mut body = Vec::new();
        match GzDecoder::new(&*packed).read_to_end(&mut body) {
            Ok(_) => Some(body.into()),
            Err(error) => {
                tracing::error!(name, %error, "a file of the page cannot be unpacked; build the page again");
                None
            }
        }
    })
}

/// A file under exactly this name.
fn stored(app: &App, name: &str) -> Option<Cow<'static, [u8]>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_for_those_who_read_it() {
        let reads = |given: &str| {
            let mut headers = HeaderMap::new();
            if let Ok(value) = HeaderValue::from_str(given) {
                headers.insert(header::ACCEPT_ENCODING, value);
            }
            reads_gzip(&headers)
        };
        for yes in ["gzip", "gzip, deflate, br, zstd", "br;q=1.0, GZIP;q=0.8", "*"] {
            assert!(reads(yes), "{yes}");
        }
        for no in ["", "br", "identity", "gzip;q=0", "gzip; q=0.0, br", "gzipped"] {
            assert!(!reads(no), "{no}");
        }
        assert!(!reads_gzip(&HeaderMap::new()));
    }
}
