//! What backends need from the host.

use std::ffi::OsString;
use std::path::PathBuf;
use std::pin::Pin;

use chatos_child::Spawning;
use chatos_manifest::PluginId;
use chatos_wire::app::BackendStatus;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::error::BackendError;

/// An answer that comes later.
pub type Later<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Everything to start one backend with. Made anew before every start, so that trust, Node and the
/// runner are checked then.
#[derive(Debug, Clone)]
pub struct Launch {
    /// Node.
    pub node: PathBuf,
    /// The runner, checked.
    pub runner: PathBuf,
    /// The module.
    pub entry: PathBuf,
    /// A module Node loads first, so that it finds what ChatOS lends.
    pub import: Option<String>,
    /// The whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// The plugin's data directory, which exists.
    pub directory: PathBuf,
    /// `ctx` of the factory, `llm` as a boolean.
    pub ctx: Value,
    /// How processes are started.
    pub spawning: Spawning,
    /// Names the bytes of the plugin; another one means other code.
    pub fingerprint: String,
}

/// Values of `ctx` that may differ from call to call.
#[derive(Debug, Clone)]
pub struct CallContext {
    /// The fields, `llm` as a boolean.
    pub values: Value,
}

/// The host, as backends see it.
pub trait BackendPort: Send + Sync {
    /// Checks that the plugin may run now and says how.
    fn prepare(&self, plugin: &PluginId) -> Later<Result<Launch, BackendError>>;
    /// Current values for a call.
    fn context(&self, plugin: &PluginId) -> CallContext;
    /// `ctx.llm.complete`.
    fn complete(
        &self,
        plugin: &PluginId,
        payload: Value,
        cancel: CancellationToken,
    ) -> Later<Result<Value, BackendError>>;
    /// The state of a backend is another now.
    fn changed(&self, plugin: &PluginId, status: &BackendStatus);
}
