//! All backends of a host.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chatos_manifest::PluginId;
use chatos_wire::app::{BackendPhase, BackendStatus};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use super::error::BackendError;
use super::limits;
use super::log::PluginLogFile;
use super::port::BackendPort;
use super::unit::Unit;

/// One call.
#[derive(Debug)]
pub struct Invocation {
    /// Whose backend; it is known and trusted.
    pub plugin: PluginId,
    /// The method.
    pub method: String,
    /// JSON for it.
    pub params: Option<Box<RawValue>>,
    /// The caller's limit, clamped to what is allowed.
    pub timeout: Option<Duration>,
    /// The caller's name for the call, to cancel it by.
    pub call_id: Option<String>,
}

/// The backends of one host. Clones share them.
#[derive(Clone)]
pub struct Backends {
    shared: Arc<Shared>,
}

struct Shared {
    port: Arc<dyn BackendPort>,
    logs: PathBuf,
    units: Mutex<HashMap<PluginId, Arc<Unit>>>,
    /// Calls with a name, by that name.
    named: Mutex<HashMap<String, CancellationToken>>,
}

/// Forgets the name of a call when it ends.
struct Named<'a> {
    shared: &'a Shared,
    name: Option<String>,
}

impl Drop for Named<'_> {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            lock(&self.shared.named).remove(name);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Backends {
    /// Backends with their logs in `logs`. Nothing starts before the first call.
    pub fn new(port: Arc<dyn BackendPort>, logs: PathBuf) -> Self {
        let shared = Shared { port, logs, units: Mutex::default(), named: Mutex::default() };
        Self { shared: Arc::new(shared) }
    }

    fn unit(&self, plugin: &PluginId) -> Arc<Unit> {
        let mut units = lock(&self.shared.units);
        let unit = units.entry(plugin.clone()).or_insert_with(|| {
            let log = PluginLogFile::new(self.shared.logs.join(format!("{plugin}.log")));
            Unit::new(plugin.clone(), Arc::clone(&self.shared.port), Arc::new(log))
        });
        Arc::clone(unit)
    }

    fn known(&self, plugin: &PluginId) -> Option<Arc<Unit>> {
        lock(&self.shared.units).get(plugin).cloned()
    }

    /// Calls a method of a plugin's backend (host-api §9.4).
    pub async fn invoke(&self, call: Invocation) -> Result<Box<RawValue>, BackendError> {
        if call.method.trim().is_empty() {
            return Err(BackendError::method_required());
        }
        let params = call.params.map(one_line).transpose()?;
        if params.as_ref().is_some_and(|params| params.get().len() > limits::MESSAGE_BYTES - 1024) {
            return Err(BackendError::too_large(&call.method));
        }
        let limit = call
            .timeout
            .map_or(limits::CALL_TIME, |time| time.clamp(limits::CALL_TIME_LEAST, limits::CALL_TIME_MOST));
        let cancel = CancellationToken::new();
        let named = Named { shared: &self.shared, name: self.name(call.call_id, &cancel)? };
        let unit = self.unit(&call.plugin);
        let answer = unit.invoke(&call.method, params.as_deref(), limit, &cancel).await;
        drop(named);
        answer
    }

    fn name(&self, name: Option<String>, cancel: &CancellationToken) -> Result<Option<String>, BackendError> {
        let Some(name) = name else { return Ok(None) };
        let mut named = lock(&self.shared.named);
        if named.contains_key(&name) {
            return Err(BackendError::new(
                "conflict",
                format!("Call {name} is already under way"),
                format!("调用 {name} 已在进行"),
            ));
        }
        named.insert(name.clone(), cancel.clone());
        Ok(Some(name))
    }

    /// Cancels a call by its name; false when there is none.
    pub fn cancel(&self, call_id: &str) -> bool {
        let found = lock(&self.shared.named).get(call_id).cloned();
        if let Some(cancel) = &found {
            cancel.cancel();
        }
        found.is_some()
    }

    /// How a backend stands.
    pub fn status(&self, plugin: &PluginId) -> BackendStatus {
        match self.known(plugin) {
            Some(unit) => unit.status(),
            None => BackendStatus {
                state: BackendPhase::Stopped,
                pid: None,
                in_flight: 0,
                queued: 0,
                crashes: 0,
                retry_after_ms: None,
                last_error: None,
            },
        }
    }

    /// The module that kept a backend from starting the last time it was tried.
    pub fn missing_module(&self, plugin: &PluginId) -> Option<String> {
        self.known(plugin)?.missing_module()
    }

    /// Plugins whose backend runs, starts, waits or failed.
    pub fn used(&self) -> Vec<PluginId> {
        let units = lock(&self.shared.units);
        units.iter().filter(|(_, unit)| unit.is_used()).map(|(id, _)| id.clone()).collect()
    }

    /// The bytes the running process of a plugin was started from.
    pub fn fingerprint(&self, plugin: &PluginId) -> Option<String> {
        self.known(plugin)?.fingerprint()
    }

    /// The log of a plugin's processes, for others that capture output of the same plugin.
    pub fn log(&self, plugin: &PluginId) -> Arc<PluginLogFile> {
        Arc::clone(self.unit(plugin).log())
    }

    /// Its files changed.
    pub fn reload(&self, plugin: &PluginId) {
        if let Some(unit) = self.known(plugin) {
            unit.reload();
        }
    }

    /// Its files changed, and somebody looks at it: the new process is started at once, so that the next call does
    /// not wait for it. One that cannot start says so in the log, and to that call.
    pub fn renew(&self, plugin: &PluginId) {
        if let Some(unit) = self.known(plugin) {
            unit.reload();
            unit.begin();
        }
    }

    /// It may not run any more.
    pub async fn stop(&self, plugin: &PluginId) {
        if let Some(unit) = self.known(plugin) {
            unit.stop(false).await;
        }
    }

    /// A person wants it started again, also after it failed.
    pub async fn restart(&self, plugin: &PluginId) -> Result<(), BackendError> {
        self.unit(plugin).restart().await
    }

    /// Ends all of them, in parallel, within the time of one `dispose` (host-api §9.5).
    pub async fn close(&self) {
        let units: Vec<Arc<Unit>> = lock(&self.shared.units).values().cloned().collect();
        let ending: Vec<_> =
            units.into_iter().map(|unit| tokio::spawn(async move { unit.close().await })).collect();
        for end in ending {
            if let Err(error) = end.await {
                tracing::error!(%error, "a backend could not be ended");
            }
        }
    }
}

/// JSON without newlines between its tokens: a message is one line.
fn one_line(params: Box<RawValue>) -> Result<Box<RawValue>, BackendError> {
    if !params.get().contains(['\n', '\r']) {
        return Ok(params);
    }
    let unreadable = |error: serde_json::Error| {
        BackendError::new("invalid_argument", error.to_string(), error.to_string())
    };
    let value: Value = serde_json::from_str(params.get()).map_err(unreadable)?;
    serde_json::value::to_raw_value(&value).map_err(unreadable)
}
