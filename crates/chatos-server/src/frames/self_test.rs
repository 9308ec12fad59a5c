//! What must be true before the first frame is served (security T4): no byte of the page or the API under
//! a plugin's name, no byte of a plugin under the page's name outside `/plugin-frame/`, and there only in
//! a sandbox; and both are kept off the network. Asked of the running program itself, by the road every request takes.

use axum::body::Body;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use chatos_apps::frame_hash;
use chatos_tool::{ErrorCode, Fault, Text};

use crate::app::App;

/// Asks, and says what is wrong.
pub(crate) async fn run(app: &App) -> Result<(), Fault> {
    // Any name does: nothing of a plugin is looked for, so that a broken one cannot keep the host from
    // starting.
    let (id, hash) = ("com.chatos.notes", frame_hash("com.chatos.notes"));
    let port = app.port();
    let (page, own) = (format!("127.0.0.1:{port}"), format!("p-{hash}.localhost:{port}"));
    for path in ["/", "/index.html", "/api/v1/status", "/api/v1/openapi.json", "/healthz", "/favicon.svg"] {
        let answer = ask(app, &own, path).await;
        expect(answer.status == StatusCode::NOT_FOUND, &own, path)?;
        expect(path.starts_with("/api") || answer.confined, &own, path)?;
    }
    for path in
        [format!("/r/x/{id}"), format!("/{id}/plugin.json"), format!("/{hash}/plugin.json"), "/view/x".into()]
    {
        let answer = ask(app, &page, &path).await;
        expect(answer.status == StatusCode::NOT_FOUND, &page, &path)?;
    }
    let below = format!("/plugin-frame/{hash}/index.html");
    let Answer { status, policy, confined } = ask(app, &page, &below).await;
    let sandboxed = policy.split(';').any(|part| part.trim().starts_with("sandbox "));
    let opaque = sandboxed && !policy.contains("allow-same-origin");
    expect(!status.is_success() && opaque && confined, &page, &below)
}

/// What the test looks at.
#[derive(Default)]
struct Answer {
    status: StatusCode,
    policy: String,
    /// The browser is told what may be reached (inbox §8.2, L1).
    confined: bool,
}

async fn ask(app: &App, host: &str, path: &str) -> Answer {
    let request = Request::builder().uri(path).header(header::HOST, host).body(Body::empty());
    let Ok(request) = request else { return Answer::default() };
    let response = app.answer(request).await;
    let policy = response.headers().get(header::CONTENT_SECURITY_POLICY);
    Answer {
        status: response.status(),
        policy: policy.and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned(),
        confined: response.headers().contains_key("connection-allowlist"),
    }
}

fn expect(holds: bool, host: &str, path: &str) -> Result<(), Fault> {
    if holds {
        return Ok(());
    }
    Err(Fault::new(
        ErrorCode::Internal,
        Text::new(
            format!("apps would not be kept apart: http://{host}{path} answers what it must not"),
            format!("应用无法被隔离：http://{host}{path} 的回答不符合要求"),
        ),
    )
    .code("isolation_self_test")
    .hint(Text::fixed(
        "the host does not start like this; please report it with this address",
        "主机不会在此状态下启动；请附上该地址报告",
    )))
}
