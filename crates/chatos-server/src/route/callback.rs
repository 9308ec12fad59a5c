//! Where a browser comes back to after a person signed in to an MCP server.
//!
//! Any page can send a browser here, so the address alone does nothing: what counts is the one-time state
//! of a sign-in that a person began. The answer is one of four fixed pages; nothing of the request is in
//! it, and nothing on it can load, run or be framed.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use chatos_servers::Returned;
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use sha2::{Digest, Sha256};

use crate::api::ApiError;
use crate::app::App;
use crate::caller::{Caller, UiOrigin};

/// The path.
pub(crate) const PATH: &str = chatos_servers::RETURN_PATH;

/// The redirect address for whoever asks. Loopback is named by its number: what RFC 8252 recommends, and
/// what a place of sign-in compares without regard to the port.
pub(crate) fn address(app: &App, origin: Option<&UiOrigin>) -> Result<String, Fault> {
    let port = app.port();
    if port == 0 {
        return Err(Fault::new(
            ErrorCode::Unavailable,
            Text::fixed("a browser cannot come back to this command", "浏览器无法返回到此命令"),
        )
        .code("not_running")
        .hint(Text::fixed("start `chatos serve` first", "请先运行 `chatos serve`")));
    }
    let elsewhere = origin.map(|UiOrigin(origin)| origin.as_str()).filter(|origin| {
        let name = origin.trim_start_matches("http://");
        !["127.0.0.1:", "localhost:", "[::1]:"].iter().any(|own| name.starts_with(own))
    });
    let own = format!("http://127.0.0.1:{port}");
    Ok(format!("{}{PATH}", elsewhere.unwrap_or(&own)))
}

/// Takes the browser's return.
pub(crate) async fn returned(app: App, cx: Caller, request: Request) -> Result<Response, ApiError> {
    if request.method() != Method::GET {
        return Err(ApiError::Status(StatusCode::METHOD_NOT_ALLOWED));
    }
    // A page that only looks ahead, or that wants it as a picture, a frame or a script, is no person.
    if !is_navigation(request.headers()) {
        return Err(ApiError::Status(StatusCode::FORBIDDEN));
    }
    let query = request.uri().query().unwrap_or_default().to_owned();
    // On its own: a browser that closes the connection now does not leave half a sign-in.
    let host = app.host().clone();
    let work = tokio::spawn(async move { host.servers().finish_sign_in(&query).await });
    let outcome = work.await.unwrap_or(Returned::Failed);
    let status = if outcome == Returned::SignedIn { StatusCode::OK } else { StatusCode::BAD_REQUEST };
    let mut response = (status, page(outcome, cx.lang)).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Ok(policy) = HeaderValue::from_str(&policy()) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    Ok(response)
}

fn is_navigation(headers: &HeaderMap) -> bool {
    let only = |name: &str, wanted: &str| headers.get_all(name).iter().all(|value| value == wanted);
    only("sec-fetch-dest", "document")
        && only("sec-fetch-mode", "navigate")
        && !headers.contains_key("sec-purpose")
        && !headers.contains_key(header::ORIGIN)
}

/// Nothing but the one style sheet of this very page.
fn policy() -> String {
    let digest = BASE64_STANDARD.encode(Sha256::digest(STYLE));
    format!(
        "default-src 'none'; style-src 'sha256-{digest}'; form-action 'none'; base-uri 'none'; \
         frame-ancestors 'none'; sandbox"
    )
}

const STYLE: &str = "\
:root{color-scheme:light dark}\
body{margin:0;min-height:100vh;display:grid;place-content:center;font:16px/1.5 system-ui,sans-serif;\
background:Canvas;color:CanvasText}\
main{max-width:34rem;padding:2rem}\
h1{font-size:1.4rem;margin:0 0 .5rem}\
p{margin:0 0 1rem}\
.other{border-top:1px solid GrayText;padding-top:1rem;font-size:.9rem}";

fn page(outcome: Returned, lang: Lang) -> String {
    let (title, text) = words(outcome);
    let other = if lang == Lang::Zh { Lang::En } else { Lang::Zh };
    let (first, second) = (lang.as_str(), other.as_str());
    format!(
        "<!doctype html><html lang=\"{first}\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <title>{} – ChatOS</title><style>{STYLE}</style></head><body><main>\
         <h1>{}</h1><p>{}</p><p class=\"other\" lang=\"{second}\"><strong>{}</strong><br>{}</p>\
         </main></body></html>",
        title.get(lang),
        title.get(lang),
        text.get(lang),
        title.get(other),
        text.get(other),
    )
}

fn words(outcome: Returned) -> (Text, Text) {
    match outcome {
        Returned::SignedIn => (
            Text::fixed("You are signed in", "你已登录"),
            Text::fixed(
                "ChatOS connects to the server now. You can close this tab.",
                "ChatOS 正在连接该服务器。你可以关闭此标签页。",
            ),
        ),
        Returned::Unknown => (
            Text::fixed("This sign-in is not known", "未知的登录"),
            Text::fixed(
                "It was finished already, took longer than ten minutes, or was not begun here. Nothing was changed. To sign in, go back to ChatOS and begin again.",
                "它已经完成、超过了十分钟，或并非从这里开始。没有任何更改。如需登录，请回到 ChatOS 重新开始。",
            ),
        ),
        Returned::Denied => (
            Text::fixed("The sign-in was refused", "登录被拒绝"),
            Text::fixed(
                "You, or the place where you signed in, did not allow it. To try again, go back to ChatOS and begin again.",
                "你或登录服务没有允许此次登录。如需重试，请回到 ChatOS 重新开始。",
            ),
        ),
        Returned::Failed => (
            Text::fixed("The sign-in failed", "登录失败"),
            Text::fixed(
                "The page of the server in ChatOS says why. You can begin again there.",
                "原因显示在 ChatOS 中该服务器的页面上。你可以在那里重新开始。",
            ),
        ),
    }
}
