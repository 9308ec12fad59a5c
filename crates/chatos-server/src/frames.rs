//! What app frames are served: files of plugins under their own origin, the bootstrap page, and the
//! host's shared modules (host-api §2, security T4). Nothing of the API and nothing of the UI is here.

mod page;
mod path;
mod policy;
mod self_test;

use std::sync::Arc;

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chatos_apps::{FrameAsset, Looked, Revision, View};
use chatos_tool::hex;
use sha2::{Digest, Sha256};

use crate::api::bare;
use crate::app::App;
use crate::assets;
use path::{Asked, Shared};
pub(crate) use policy::Place;
pub(crate) use self_test::run as self_test;

/// Files under a revision never change; what is under development is never kept.
const KEEP: &str = "private, max-age=31536000, immutable";
/// The one page of a plugin, below its revision.
const FRAME_PAGE: &str = "__chatos/frame.html";
const PROBE: &str = "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>ChatOS</title>\
    <script type=\"module\" src=\"probe.js\"></script></head><body></body></html>\n";
/// Says that it is there; asked by the page around it, it tries one request to that page's own address and
/// says whether an answer came.
const PROBE_SCRIPT: &str = "\
    const tell = (left) => parent.postMessage({ chatos: 'probe', v: 1, left }, '*');\n\
    addEventListener('message', ({ source, origin, data }) => {\n\
    \x20 if (source !== parent || data?.chatos !== 'try') return;\n\
    \x20 const to = `${origin}/plugin-frame/probe/__chatos/seen`;\n\
    \x20 fetch(to, { mode: 'no-cors', cache: 'no-store' }).then(() => tell(true), () => tell(false));\n\
    });\n\
    tell(null);\n";

/// An answer before its policy is known to fit.
struct Reply {
    response: Response,
    whose: Whose,
}

/// Decides the policy of an answer.
enum Whose {
    /// What belongs to no revision: the host's own files, and refusals.
    Nobody,
    /// The page by which the browser is measured.
    Probe {
        /// With the header that is measured.
        confined: bool,
    },
    /// Files of a plugin.
    Plugin(Arc<Revision>),
    /// Those of them that a browser could show as a page.
    Document(Arc<Revision>),
    /// A page of a tool server.
    View(Arc<View>),
}

impl Reply {
    fn bare(status: StatusCode) -> Self {
        Self { response: bare(status), whose: Whose::Nobody }
    }
}

/// Answers a request that came by a plugin's name or below `/plugin-frame/`.
pub(crate) async fn serve(app: &App, place: &Place, request: &Parts) -> Response {
    let head_only = request.method == Method::HEAD;
    let mut reply = answer(app, place, request).await;
    if head_only {
        let length = reply.response.headers().get(header::CONTENT_LENGTH).cloned();
        *reply.response.body_mut() = Body::empty();
        if let Some(length) = length {
            reply.response.headers_mut().insert(header::CONTENT_LENGTH, length);
        }
    }
    policy::add_headers(place, &reply.whose, reply.response.headers_mut());
    reply.response
}

async fn answer(app: &App, place: &Place, request: &Parts) -> Reply {
    if is_service_worker(&request.headers) {
        return Reply::bare(StatusCode::FORBIDDEN);
    }
    let Some(asked) = path::parse(place.rest(request.uri.path())) else {
        return Reply::bare(StatusCode::NOT_FOUND);
    };
    let page = match &asked {
        Asked::Probe { .. } | Asked::View(_) => true,
        Asked::Revised { path, .. } => path == FRAME_PAGE,
        Asked::ProbeScript | Asked::ProbeSeen | Asked::Shared(_) => false,
    };
    if !page && is_document(&request.headers) {
        return Reply::bare(StatusCode::FORBIDDEN);
    }
    if place.is_probe() {
        let response = match asked {
            Asked::Probe { .. } => typed(PROBE, "text/html; charset=utf-8"),
            Asked::ProbeScript => typed(PROBE_SCRIPT, "text/javascript; charset=utf-8"),
            Asked::ProbeSeen => StatusCode::NO_CONTENT.into_response(),
            _ => bare(StatusCode::NOT_FOUND),
        };
        let confined = matches!(asked, Asked::Probe { confined: true });
        return Reply { response, whose: Whose::Probe { confined } };
    }
    match asked {
        Asked::Probe { .. } | Asked::ProbeScript | Asked::ProbeSeen => Reply::bare(StatusCode::NOT_FOUND),
        Asked::Shared(shared) => match app.host().apps().frame_plugin_trusted(place.hash()) {
            Ok(Some(true)) => Reply { response: shared_module(app, request, &shared), whose: Whose::Nobody },
            Ok(Some(false)) => Reply::bare(StatusCode::FORBIDDEN),
            Ok(None) => Reply::bare(StatusCode::NOT_FOUND),
            Err(fault) => failed(&fault),
        },
        Asked::View(id) => match app.host().apps().view(place.hash(), &id) {
            Some(view) if place.belongs_to(&view.ui_origin) => {
                let mut response = typed(page::view(app, &view.html), "text/html; charset=utf-8");
                cache(&mut response, true);
                Reply { response, whose: Whose::View(view) }
            }
            // Whoever looks for one that is not open learns nothing about those that are.
            _ => Reply::bare(StatusCode::GONE),
        },
        Asked::Revised { rev, path } => match app.host().apps().frame_revision(place.hash(), &rev) {
            Ok(Looked::Found(revision)) if place.serves(&revision) => {
                let response = revised(app, request, &revision, &path).await;
                let own = path.starts_with("__chatos/");
                let whose: fn(Arc<Revision>) -> Whose = if own { Whose::Plugin } else { of_file(&path) };
                Reply { response, whose: whose(revision) }
            }
            Ok(Looked::Found(_) | Looked::Gone) => Reply::bare(StatusCode::GONE),
            Ok(Looked::Untrusted) => Reply::bare(StatusCode::FORBIDDEN),
            Ok(Looked::Unknown) => Reply::bare(StatusCode::NOT_FOUND),
            Err(fault) => failed(&fault),
        },
    }
}

fn failed(fault: &chatos_tool::Fault) -> Reply {
    tracing::error!(code = %fault.code, "a frame cannot be served: {fault}");
    Reply::bare(StatusCode::SERVICE_UNAVAILABLE)
}

/// Old code must not answer for newly trusted code (security T4).
fn is_service_worker(headers: &HeaderMap) -> bool {
    says(headers, "service-worker", "script") || says(headers, "sec-fetch-dest", "serviceworker")
}

/// The browser would show the answer as a page. Only the page of a frame is one: a file of a plugin would
/// be a fresh place for its code, beside the one that was opened (inbox §8.2, L3).
fn is_document(headers: &HeaderMap) -> bool {
    ["document", "iframe", "frame", "fencedframe", "object", "embed"]
        .iter()
        .any(|word| says(headers, "sec-fetch-dest", word))
}

fn says(headers: &HeaderMap, name: &str, word: &str) -> bool {
    headers
        .get_all(name)
        .iter()
        .any(|value| value.to_str().is_ok_and(|value| value.trim().eq_ignore_ascii_case(word)))
}

/// By its name; what a browser that sends no `Sec-Fetch-Dest` shows as a page is still without code.
fn of_file(path: &str) -> fn(Arc<Revision>) -> Whose {
    let end = path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    match end.as_str() {
        "html" | "htm" | "svg" | "xml" | "xhtml" | "xht" | "pdf" => Whose::Document,
        _ => Whose::Plugin,
    }
}

async fn revised(app: &App, request: &Parts, revision: &Arc<Revision>, path: &str) -> Response {
    if let Some(own) = path.strip_prefix("__chatos/") {
        let mut response = match own {
            "frame.html" => page::frame(app, request.uri.query().unwrap_or_default()),
            "bootstrap.js" | "confine.js" | "frame.css" => host_file(app, own),
            _ => match own.strip_prefix("ui/") {
                Some(name) => host_file(app, &format!("ui/{name}")),
                None => bare(StatusCode::NOT_FOUND),
            },
        };
        if own != "frame.html" {
            cache(&mut response, app.options().ui_dir.is_some());
        }
        return response;
    }
    let (reading, wanted) = (Arc::clone(revision), path.to_owned());
    let read = chatos_blocking::run(move || reading.read(&wanted)).await;
    match read {
        Ok(FrameAsset::Bytes(bytes)) => {
            let mut response = typed(bytes, assets::media_type(path));
            cache(&mut response, revision.dev);
            response
        }
        Ok(FrameAsset::Missing) => match path.strip_prefix("common/ui/") {
            Some(name) => {
                let mut response = host_file(app, &format!("ui/{name}"));
                cache(&mut response, app.options().ui_dir.is_some());
                response
            }
            None => bare(StatusCode::NOT_FOUND),
        },
        Ok(FrameAsset::Changed) => bare(StatusCode::GONE),
        Err(error) => {
            tracing::error!(%error, "reading a file of a plugin failed");
            bare(StatusCode::INTERNAL_SERVER_ERROR)
        }
    }
}

fn cache(response: &mut Response, never: bool) {
    let value = if never || !response.status().is_success() { "no-store" } else { KEEP };
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(value));
}

/// A shared module at an address without a revision: checked again every time, because the next
/// version of the program may bring another.
fn shared_module(app: &App, request: &Parts, shared: &Shared) -> Response {
    let mut response = host_file(app, &format!("ui/{}", shared.name));
    if !response.status().is_success() {
        return response;
    }
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    let known = request.headers.get(header::IF_NONE_MATCH).cloned();
    if known.is_some() && known.as_ref() == response.headers().get(header::ETAG) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        *response.body_mut() = Body::empty();
        response.headers_mut().remove(header::CONTENT_LENGTH);
    }
    response
}

/// A file of the UI build that is meant for frames: `frame/<name>`; `x.mjs` is `x.js`.
fn host_file(app: &App, name: &str) -> Response {
    let file = |name: &str| assets::file(app, &format!("frame/{name}"));
    let plain = name.strip_suffix(".mjs").map(|stem| format!("{stem}.js"));
    let Some(bytes) = file(name).or_else(|| plain.and_then(|plain| file(&plain))) else {
        return bare(StatusCode::NOT_FOUND);
    };
    let tag = format!("\"{}\"", hex(&Sha256::digest(&bytes)[..12]));
    let mut response = typed(bytes.into_owned(), assets::media_type(name));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

fn typed(body: impl Into<bytes::Bytes>, kind: &'static str) -> Response {
    let body: bytes::Bytes = body.into();
    let length = body.len();
    let mut response = body.into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    response
}
