//! The API as commands see it: the running host over loopback, or the state opened for a moment.
//!
//! Every command is written once against the routes; whether a host runs only decides who answers.

use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use chatos_host::{Host, HostConfig};
use chatos_paths::{Announcement, Environment, StateDir, running_host};
use chatos_server::LocalApi;
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use http_body_util::{BodyExt, Full};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::net::TcpStream;

use crate::args::Global;
use crate::output::Output;

/// A call that takes longer than this has lost its host.
const CALL_TIME: Duration = Duration::from_secs(120);
/// Longer than the longest total limit a setting allows, and than any answer of a person is waited for.
const PATIENT_TIME: Duration = Duration::from_secs(30 * 24 * 3600);
/// How long one look at a running call stays open.
const NEWS_WAIT_MS: u32 = 20_000;
/// Between two looks at a call that has not begun or is just ending.
const NEWS_PAUSE: Duration = Duration::from_millis(50);

/// An answer of the API: what came, for `--json`, and the same as its type.
#[derive(Debug, Clone)]
pub(crate) struct Answer<T> {
    /// As it came, with members this version does not know.
    pub(crate) raw: Value,
    /// As this version reads it.
    pub(crate) body: T,
}

impl<T> std::ops::Deref for Answer<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.body
    }
}

/// Reads an answer as its type.
pub(crate) fn typed<T: DeserializeOwned>(raw: Value) -> Result<Answer<T>, Fault> {
    match T::deserialize(&raw) {
        Ok(body) => Ok(Answer { raw, body }),
        Err(error) => Err(Fault::new(
            ErrorCode::Unavailable,
            Text::fixed(
                "the answer has another form than this version of `chatos` reads",
                "应答的格式与此版本的 `chatos` 不符",
            ),
        )
        .code("answer_unknown")
        .caused_by(&error)
        .hint(Text::fixed(
            "the running host may be of another version: `chatos stop`, then start it again",
            "正在运行的主机可能是其他版本：请用 `chatos stop` 停止后重新启动",
        ))),
    }
}

/// Who answers.
pub(crate) enum Api {
    /// The running host.
    Remote(Announcement),
    /// This process, holding the state while the command runs.
    Embedded(LocalApi),
}

impl Api {
    /// The running host of this state directory, if there is one.
    pub(crate) fn running(global: &Global, environment: &Environment) -> Result<Option<Announcement>, Fault> {
        let Some(dir) = existing_dir(global, environment)? else { return Ok(None) };
        Ok(running_host(&dir))
    }

    /// The running host, or the state opened by this process.
    pub(crate) fn connect(global: &Global, environment: Environment) -> Result<Self, Fault> {
        Self::open(global, environment, false)
    }

    /// As [`Api::connect`], and a database nobody has open is looked at before it is touched.
    pub(crate) fn connect_carefully(global: &Global, environment: Environment) -> Result<Self, Fault> {
        Self::open(global, environment, true)
    }

    fn open(global: &Global, environment: Environment, check: bool) -> Result<Self, Fault> {
        if let Some(host) = Self::running(global, &environment)? {
            return Ok(Self::Remote(host));
        }
        let host = Host::open(HostConfig {
            state_dir: global.state_dir.clone(),
            project: global.project.clone(),
            log_to_stderr: global.verbose,
            check,
            launches: true,
            plugins: chatos_assets::PLUGINS,
            ..HostConfig::new(environment)
        })?;
        Ok(Self::Embedded(LocalApi::new(host)))
    }

    /// Says that this command shows the questions of its calls to the person at its terminal.
    pub(crate) fn attend(&self) {
        if let Self::Embedded(api) = self {
            api.host().inbox().attend();
        }
    }

    /// The same state through another door of this process.
    pub(crate) fn replaced(mut self, by: LocalApi) -> Self {
        if let Self::Embedded(api) = &mut self {
            *api = by;
        }
        self
    }

    /// A running host answers, with a page and a queue of its own.
    pub(crate) fn is_remote(&self) -> bool {
        matches!(self, Self::Remote(_))
    }

    /// Ends what the call started in this process: servers and their processes.
    pub(crate) async fn finish(&self) {
        if let Self::Embedded(api) = self {
            api.host().shutdown().cancel();
            api.host().settle().await;
        }
    }

    /// Calls a route and gives its answer, or its error as a fault.
    pub(crate) async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        lang: Lang,
    ) -> Result<Value, Fault> {
        self.within(CALL_TIME, method, path, body, lang).await
    }

    /// As [`Api::call`] for work that has limits of its own: a tool may run for hours, or wait for a person.
    pub(crate) async fn call_patiently(
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
        let (status, value) = match self {
            Self::Embedded(api) => {
                let (status, value) = api.call(method, path, body, lang).await;
                (status.as_u16(), value)
            }
            Self::Remote(host) => {
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
                tokio::time::timeout(limit, exchange).await.unwrap_or_else(|_| Err(late(host)))?
            }
        };
        if (200..300).contains(&status) { Ok(value) } else { Err(Output::remote_fault(status, &value)) }
    }

    /// Reads a resource as its type.
    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &str, lang: Lang) -> Result<Answer<T>, Fault> {
        typed(self.get_json(path, lang).await?)
    }

    /// Writes, and reads what came of it.
    pub(crate) async fn ask<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        lang: Lang,
    ) -> Result<Answer<T>, Fault> {
        typed(self.call(method, path, body, lang).await?)
    }

    /// Reads a resource as bare JSON.
    pub(crate) async fn get_json(&self, path: &str, lang: Lang) -> Result<Value, Fault> {
        self.call(Method::GET, path, None, lang).await
    }

    /// The next question of a running call, or what it says. A call that has not begun, or a host that does not
    /// answer, is looked at again until the call itself says how it ended.
    pub(crate) async fn call_news(&self, call_id: &str, asked: usize, said: u64, lang: Lang) -> CallNews {
        let id = encode(call_id);
        let path = format!("/api/v1/tools/calls/{id}?after={asked}&said={said}&waitMs={NEWS_WAIT_MS}");
        loop {
            let state = self.get_json(&path, lang).await.unwrap_or_default();
            if let Some(id) = state["questions"][asked].as_str() {
                return CallNews::Asks(id.to_owned());
            }
            if let (Some(count), Some(message)) = (state["said"].as_u64(), state["says"].as_str())
                && count > said
            {
                return CallNews::Says(message.to_owned(), count);
            }
            if state["running"] != true {
                tokio::time::sleep(NEWS_PAUSE).await;
            }
        }
    }
}

/// What is heard of a call before its result: a question, or a message with how many there were.
pub(crate) enum CallNews {
    Asks(String),
    Says(String, u64),
}

impl Drop for Api {
    fn drop(&mut self) {
        if let Self::Embedded(api) = self {
            api.host().close();
        }
    }
}

/// Text from a person as part of an address: what is not a plain name is percent-encoded.
pub(crate) fn encode(text: &str) -> String {
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

/// The state directory, when it exists.
pub(crate) fn existing_dir(global: &Global, environment: &Environment) -> Result<Option<StateDir>, Fault> {
    let places = environment.locations(global.state_dir.clone())?;
    Ok(StateDir::existing(&places.state_dir).ok())
}

/// The path where the state is or would be, for messages.
pub(crate) fn state_path(global: &Global, environment: &Environment) -> Result<PathBuf, Fault> {
    let places = environment.locations(global.state_dir.clone())?;
    Ok(places.state_dir)
}

/// A runtime for one command: one thread, nothing heavy.
pub(crate) fn block_on<T>(future: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime
        .map_err(|error| Fault::new(ErrorCode::Unavailable, Text::same("cannot start")).caused_by(&error))?
        .block_on(future)
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
