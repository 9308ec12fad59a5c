//! The API as commands see it: the running host over loopback, or the state opened for a moment.
//!
//! Every command is written once against the routes; whether a host runs only decides who answers.

use std::path::PathBuf;

use chatos_desk::{CallNews, HostApi, host_fault};
use chatos_host::{Host, HostConfig};
use chatos_paths::{Announcement, Environment, StateDir, running_host};
use chatos_server::LocalApi;
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use hyper::Method;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::args::Global;

/// An answer of the API: what came, for `--json`, and the same as its type.
#[derive(Debug, Clone)]
pub struct Answer<T> {
    /// As it came, with members this version does not know.
    pub raw: Value,
    /// As this version reads it.
    pub body: T,
}

impl<T> std::ops::Deref for Answer<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.body
    }
}

/// Reads an answer as its type.
pub fn typed<T: DeserializeOwned>(raw: Value) -> Result<Answer<T>, Fault> {
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
pub enum Api {
    /// The running host.
    Remote(Announcement),
    /// This process, holding the state while the command runs.
    Embedded(LocalApi),
}

impl Api {
    /// The running host of this state directory, if there is one.
    pub fn running(global: &Global, environment: &Environment) -> Result<Option<Announcement>, Fault> {
        let Some(dir) = existing_dir(global, environment)? else { return Ok(None) };
        Ok(running_host(&dir))
    }

    /// The running host, or the state opened by this process.
    pub fn connect(global: &Global, environment: Environment) -> Result<Self, Fault> {
        Self::open(global, environment, false)
    }

    /// As [`Api::connect`], and a database nobody has open is looked at before it is touched.
    pub fn connect_carefully(global: &Global, environment: Environment) -> Result<Self, Fault> {
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
            plugins: global.plugins,
            ..HostConfig::new(environment)
        })?;
        Ok(Self::Embedded(LocalApi::new(host)))
    }

    /// Says that this command shows the questions of its calls to the person at its terminal.
    pub fn attend(&self) {
        if let Self::Embedded(api) = self {
            api.host().inbox().attend();
        }
    }

    /// Waits until the queue of questions is read; a running host has done that.
    pub(crate) async fn queue_read(&self) -> Result<(), Fault> {
        if let Self::Embedded(api) = self {
            api.host().inbox().opened().await?.prompts().ready().await;
        }
        Ok(())
    }

    /// The same state through another door of this process.
    pub fn replaced(mut self, by: LocalApi) -> Self {
        if let Self::Embedded(api) = &mut self {
            *api = by;
        }
        self
    }

    /// A running host answers, with a page and a queue of its own.
    pub fn is_remote(&self) -> bool {
        matches!(self, Self::Remote(_))
    }

    /// Ends what the call started in this process: servers and their processes.
    pub async fn finish(&self) {
        if let Self::Embedded(api) = self {
            api.host().shutdown().cancel();
            api.host().settle().await;
        }
    }

    /// Calls a route and gives its answer, or its error as a fault.
    pub async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        lang: Lang,
    ) -> Result<Value, Fault> {
        match self {
            Self::Remote(host) => HostApi::new(host.clone()).call(method, path, body, lang).await,
            Self::Embedded(api) => embedded(api, method, path, body, lang).await,
        }
    }

    /// As [`Api::call`] for work that has limits of its own: a tool may run for hours, or wait for a person.
    pub async fn call_patiently(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        lang: Lang,
    ) -> Result<Value, Fault> {
        match self {
            Self::Remote(host) => HostApi::new(host.clone()).call_patiently(method, path, body, lang).await,
            Self::Embedded(api) => embedded(api, method, path, body, lang).await,
        }
    }

    /// Reads a resource as its type.
    pub async fn get<T: DeserializeOwned>(&self, path: &str, lang: Lang) -> Result<Answer<T>, Fault> {
        typed(self.get_json(path, lang).await?)
    }

    /// Writes, and reads what came of it.
    pub async fn ask<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        lang: Lang,
    ) -> Result<Answer<T>, Fault> {
        typed(self.call(method, path, body, lang).await?)
    }

    /// Reads a resource as bare JSON.
    pub async fn get_json(&self, path: &str, lang: Lang) -> Result<Value, Fault> {
        self.call(Method::GET, path, None, lang).await
    }

    /// As [`chatos_desk::call_news`].
    pub async fn call_news(&self, call_id: &str, asked: usize, said: u64, lang: Lang) -> CallNews {
        let get = |path: String| async move { self.get_json(&path, lang).await };
        chatos_desk::call_news(call_id, asked, said, get).await
    }
}

/// This process answers itself; its work ends by its own limits.
async fn embedded(
    api: &LocalApi,
    method: Method,
    path: &str,
    body: Option<&Value>,
    lang: Lang,
) -> Result<Value, Fault> {
    let (status, value) = api.call(method, path, body, lang).await;
    if status.is_success() { Ok(value) } else { Err(host_fault(status.as_u16(), &value)) }
}

impl Drop for Api {
    fn drop(&mut self) {
        if let Self::Embedded(api) = self {
            api.host().close();
        }
    }
}

/// The state directory, when it exists.
pub fn existing_dir(global: &Global, environment: &Environment) -> Result<Option<StateDir>, Fault> {
    let places = environment.locations(global.state_dir.clone())?;
    Ok(StateDir::existing(&places.state_dir).ok())
}

/// The path where the state is or would be, for messages.
pub fn state_path(global: &Global, environment: &Environment) -> Result<PathBuf, Fault> {
    let places = environment.locations(global.state_dir.clone())?;
    Ok(places.state_dir)
}

/// A runtime for one command: one thread, nothing heavy.
pub fn block_on<T>(future: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime
        .map_err(|error| Fault::new(ErrorCode::Unavailable, Text::same("cannot start")).caused_by(&error))?
        .block_on(future)
}
