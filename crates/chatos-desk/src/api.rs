//! The running host over loopback: one request each, its errors as faults.

use std::time::Duration;

use bytes::Bytes;
use chatos_paths::Announcement;
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use http_body_util::{BodyExt, Full};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

/// A call that takes longer than this has lost its host.
const CALL_TIME: Duration = Duration::from_secs(120);
/// Longer than the longest total limit a setting allows, and than any answer of a person is waited for.
const PATIENT_TIME: Duration = Duration::from_secs(30 * 24 * 3600);
/// How long one look at a running call stays open.
const NEWS_WAIT_MS: u32 = 20_000;
/// Between two looks at a call that has not begun or is just ending.
const NEWS_PAUSE: Duration = Duration::from_millis(50);

/// A host that was announced; it may be gone by now.
pub struct HostApi {
    host: Announcement,
}

impl HostApi {
    /// The API of this host.
    pub fn new(host: Announcement) -> Self {
        Self { host }
    }

    /// Calls a route and gives its answer, or its error as a fault.
    pub async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        lang: Lang,
    ) -> Result<Value, Fault> {
        self.within(CALL_TIME, method, path, body, lang).await
    }

    /// As [`HostApi::call`] for work that has limits of its own: a tool may run for hours, or wait for a person.
    pub async fn call_patiently(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        lang: Lang,
    ) -> Result<Value, Fault> {
        self.within(PATIENT_TIME, method, path, body, lang).await
    }

    async fn within(
        &self,
        limit: Duration,
        method: Method,
        path: &str,
        body: Option<&Value>,
        lang: Lang,
    ) -> Result<Value, Fault> {
        let host = &self.host;
        let exchange = async {
            let answer = remote(host, method.clone(), path, body, lang).await?;
            // Refused before anything was done; the token may have been renewed since it was read.
            if answer.0 == 401
                && let Some(host) = host.renewed()
            {
                return remote(&host, method, path, body, lang).await;
            }
            Ok(answer)
        };
        let (status, value) =
            tokio::time::timeout(limit, exchange).await.unwrap_or_else(|_| Err(late(host)))?;
        if (200..300).contains(&status) { Ok(value) } else { Err(host_fault(status, &value)) }
    }

    /// As [`call_news`], of a call in this host.
    pub(crate) async fn call_news(&self, call_id: &str, asked: usize, said: u64, lang: Lang) -> CallNews {
        let get = |path: String| async move { self.call(Method::GET, &path, None, lang).await };
        call_news(call_id, asked, said, get).await
    }
}

/// What is heard of a call before its result: a question, or how far it is.
pub enum CallNews {
    /// It has asked the question with this id.
    Asks(String),
    /// It says this; so many times it spoke.
    Says(Spoken, u64),
}

/// How far a call is, as its server tells it.
#[derive(Default)]
pub struct Spoken {
    /// In words; empty where there are none.
    pub message: String,
    /// How far it is by its own count.
    pub progress: Option<f64>,
    /// Of how much, where the server says it.
    pub total: Option<f64>,
}

/// The next question of a running call, or what it says. A call that has not begun, or a host that does not
/// answer, is looked at again until the call itself says how it ended. `get` reads an address of the API.
pub async fn call_news<F>(call_id: &str, asked: usize, said: u64, get: impl Fn(String) -> F) -> CallNews
where
    F: Future<Output = Result<Value, Fault>>,
{
    let id = encode(call_id);
    let path = format!("/api/v1/tools/calls/{id}?after={asked}&said={said}&waitMs={NEWS_WAIT_MS}");
    loop {
        let state = get(path.clone()).await.unwrap_or_default();
        if let Some(id) = state["questions"][asked].as_str() {
            return CallNews::Asks(id.to_owned());
        }
        if let Some(count) = state["said"].as_u64().filter(|count| *count > said) {
            let spoken = Spoken {
                message: state["says"].as_str().unwrap_or_default().to_owned(),
                progress: state["progress"].as_f64(),
                total: state["total"].as_f64(),
            };
            return CallNews::Says(spoken, count);
        }
        if state["running"] != true {
            tokio::time::sleep(NEWS_PAUSE).await;
        }
    }
}

/// Text from a person as part of an address: what is not a plain name is percent-encoded.
pub fn encode(text: &str) -> String {
    use std::fmt::Write;
    text.bytes().fold(String::with_capacity(text.len()), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            write!(out, "%{byte:02X}").ok();
        }
        out
    })
}

/// An error object that came over the API, with the exit status of its HTTP status.
pub fn host_fault(status: u16, body: &Value) -> Fault {
    let error = &body["error"];
    let text = |name: &str| error[name].as_str().map(str::to_owned);
    let class = match status {
        400 | 415 | 422 => ErrorCode::InvalidArgument,
        401 | 403 => ErrorCode::PermissionDenied,
        404 => ErrorCode::NotFound,
        409 => ErrorCode::Conflict,
        413 | 507 => ErrorCode::ResourceExhausted,
        429 => ErrorCode::RateLimited,
        501 => ErrorCode::NotSupported,
        503 => ErrorCode::Unavailable,
        504 => ErrorCode::Timeout,
        _ => ErrorCode::Internal,
    };
    let class = text("code").and_then(|code| ErrorCode::parse(&code)).unwrap_or(class);
    let message = text("message").unwrap_or_else(|| format!("the host answered with status {status}"));
    let mut fault = Fault::new(class, Text::same(message));
    if let Some(code) = text("code") {
        fault = fault.code(code);
    }
    if let Some(hint) = text("hint") {
        fault = fault.hint(Text::same(hint));
    }
    if !error["details"].is_null() {
        fault = fault.details(error["details"].clone());
    }
    fault
}

async fn remote(
    host: &Announcement,
    method: Method,
    path: &str,
    body: Option<&Value>,
    lang: Lang,
) -> Result<(u16, Value), Fault> {
    let stream =
        TcpStream::connect(("127.0.0.1", host.port)).await.map_err(|error| unreachable(host, &error))?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|e| unreachable(host, &e))?;
    let driver = tokio::spawn(connection);
    let bytes = body.map(|value| Bytes::from(value.to_string())).unwrap_or_default();
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", format!("127.0.0.1:{}", host.port))
        .header("authorization", format!("Bearer {}", host.token))
        .header("accept-language", lang.as_str());
    if body.is_some() {
        request = request.header("content-type", "application/json");
    }
    let request = request.body(Full::new(bytes)).map_err(|e| unreachable(host, &e))?;
    let response = sender.send_request(request).await.map_err(|e| unreachable(host, &e))?;
    let status = response.status().as_u16();
    let bytes = response.into_body().collect().await.map_err(|e| unreachable(host, &e))?.to_bytes();
    driver.abort();
    Ok((status, serde_json::from_slice(&bytes).unwrap_or(Value::Null)))
}

fn late(host: &Announcement) -> Fault {
    Fault::new(
        ErrorCode::Timeout,
        Text::new(
            format!("the host did not answer in time (pid {})", host.pid),
            format!("主机未及时响应（进程 {}）", host.pid),
        ),
    )
}

fn unreachable(host: &Announcement, error: &dyn std::error::Error) -> Fault {
    Fault::new(
        ErrorCode::Unavailable,
        Text::new(
            format!("the running host does not answer (pid {}, {})", host.pid, host.url),
            format!("正在运行的主机没有响应（进程 {}，{}）", host.pid, host.url),
        ),
    )
    .code("host_unreachable")
    .caused_by(error)
    .hint(Text::fixed("try again, or stop it with `chatos stop`", "请重试，或用 `chatos stop` 停止它"))
}
