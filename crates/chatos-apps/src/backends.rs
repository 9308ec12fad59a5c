//! Backends of plugins on this host: what they are started with, when they are stopped, who is told
//! (host-api §9).

use std::ffi::OsString;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;

use chatos_child::child_environment;
use chatos_manifest::{PluginId, Source};
use chatos_plugins::backend::{
    BackendError, BackendPort, Backends, CallContext, Invocation, Later, Launch, runner_file,
};
use chatos_plugins::{Origin, Plugin, Snapshot, UiApps, Unverified};
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::app::BackendStatus;
use chatos_wire::event::{BackendChanged, HostEvent};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::apps::{Apps, Inner};
use crate::fault::{no_plugin, not_trusted};

/// A call of a backend as it comes over the API.
#[derive(Debug)]
pub struct BackendCall {
    /// Id of the plugin whose backend is called.
    pub plugin_id: String,
    /// The app that calls.
    pub app_id: String,
    /// Name of the backend's method.
    pub method: String,
    /// Parameters of the method as the page sent them.
    pub params: Option<Box<RawValue>>,
    /// How long the caller is willing to wait.
    pub timeout: Option<Duration>,
    /// The caller's name for the call.
    pub call_id: Option<String>,
}

/// The apps as backends see them.
pub(crate) struct Port {
    pub(crate) apps: Weak<Inner>,
}

impl Port {
    fn apps(&self) -> Option<Apps> {
        self.apps.upgrade().map(Apps)
    }
}

impl BackendPort for Port {
    fn prepare(&self, plugin: &PluginId) -> Later<Result<Launch, BackendError>> {
        let (apps, plugin) = (self.apps(), plugin.clone());
        Box::pin(async move {
            let apps = apps.ok_or_else(stopping)?;
            let node = apps.backend_node().await?;
            let work = chatos_blocking::run(move || apps.prepare_backend(&plugin, node));
            match work.await {
                Ok(done) => done,
                Err(error) => Err(BackendError::new("internal", error.to_string(), error.to_string())),
            }
        })
    }

    fn context(&self, plugin: &PluginId) -> CallContext {
        let values = match self.apps() {
            Some(apps) => apps.backend_context(plugin, None),
            None => json!({}),
        };
        CallContext { values }
    }

    fn complete(
        &self,
        plugin: &PluginId,
        payload: Value,
        cancel: CancellationToken,
    ) -> Later<Result<Value, BackendError>> {
        let (apps, plugin) = (self.apps(), plugin.clone());
        Box::pin(async move {
            let apps = apps.ok_or_else(stopping)?;
            crate::complete::complete(&apps, &plugin, &payload, cancel).await
        })
    }

    fn changed(&self, plugin: &PluginId, status: &BackendStatus) {
        if let Some(apps) = self.apps() {
            apps.events().publish(HostEvent::BackendState(BackendChanged {
                status: status.clone(),
                plugin_id: plugin.to_string(),
                error: status.last_error.as_ref().map(|error| error.message.clone()),
            }));
        }
    }
}

fn stopping() -> BackendError {
    BackendError::new("unavailable", "the host is stopping", "主机正在停止")
}

/// The error object of a call that failed.
pub(crate) fn backend_fault(error: BackendError) -> Fault {
    let class = match error.code {
        "invalid_argument" => ErrorCode::InvalidArgument,
        "not_found" => ErrorCode::NotFound,
        "permission_denied" => ErrorCode::PermissionDenied,
        "timeout" => ErrorCode::Timeout,
        "canceled" => ErrorCode::Canceled,
        "conflict" => ErrorCode::Conflict,
        "resource_exhausted" => ErrorCode::ResourceExhausted,
        "unavailable" => ErrorCode::Unavailable,
        "not_supported" => ErrorCode::NotSupported,
        "rate_limited" => ErrorCode::RateLimited,
        "needs_input" => ErrorCode::NeedsInput,
        _ => ErrorCode::Internal,
    };
    let mut fault = Fault::new(class, Text::new(error.message.en, error.message.zh)).code(error.code);
    if let Some(hint) = error.hint {
        fault = fault.hint(Text::new(hint.en, hint.zh));
    }
    if error.data.is_empty() { fault } else { fault.details(Value::Object(error.data)) }
}

impl Apps {
    /// The backends of all plugins, running or not.
    pub fn backends(&self) -> Result<&Backends, Fault> {
        self.0.backends.get().ok_or_else(|| backend_fault(stopping()))
    }

    pub(crate) fn wire_backends(&self) {
        let port = Port { apps: Arc::downgrade(&self.0) };
        let logs = self.dir().plugin_logs();
        let backends = self.0.backends.get_or_init(|| Backends::new(Arc::new(port), logs));
        self.plugin_home().set_backends(backends.clone());
    }

    /// A plugin with a backend that may be called.
    fn backend_plugin(&self, id: &str) -> Result<Arc<Plugin>, Fault> {
        let snapshot = self.plugins()?.snapshot();
        let parsed = PluginId::parse(id).map_err(|_| no_plugin(id))?;
        let plugin = snapshot.plugin(&parsed).ok_or_else(|| no_plugin(id))?;
        if !plugin.is_trusted() {
            return Err(not_trusted(id));
        }
        check_backend(&snapshot, plugin).map_err(backend_fault)?;
        Ok(Arc::clone(plugin))
    }

    /// Calls a method of an app's own backend.
    pub async fn invoke_backend(&self, call: BackendCall) -> Result<Box<RawValue>, Fault> {
        self.remember_runtime();
        let plugin = self.backend_plugin(&call.plugin_id)?;
        self.require_capability(&call.plugin_id, &call.app_id, "backend")?;
        let invocation = Invocation {
            plugin: plugin.id().clone(),
            method: call.method,
            params: call.params,
            timeout: call.timeout,
            call_id: call.call_id,
        };
        self.backends()?.invoke(invocation).await.map_err(backend_fault)
    }

    /// How a plugin's backend stands.
    pub fn backend_status(&self, plugin_id: &str) -> Result<BackendStatus, Fault> {
        let snapshot = self.plugins()?.snapshot();
        let id = PluginId::parse(plugin_id).map_err(|_| no_plugin(plugin_id))?;
        let plugin = snapshot.plugin_for_person(&id).ok_or_else(|| no_plugin(plugin_id))?;
        if plugin.loaded.manifest.backend.is_none() {
            return Err(backend_fault(not_configured(plugin_id)));
        }
        Ok(self.backends()?.status(&id))
    }

    /// A person wants it started again.
    pub async fn restart_backend(&self, plugin_id: &str) -> Result<BackendStatus, Fault> {
        self.remember_runtime();
        let plugin = self.backend_plugin(plugin_id)?;
        self.backends()?.restart(plugin.id()).await.map_err(backend_fault)?;
        Ok(self.backends()?.status(plugin.id()))
    }

    /// Node, looked for again where the last look found none that can be used.
    async fn backend_node(&self) -> Result<PathBuf, BackendError> {
        let setting = self.settings().text("nodePath");
        let known = self.0.parts.node.find().await.filter(|node| {
            node.is_new_enough()
                && node.path.is_file()
                && (setting.is_empty() || node.path == Path::new(&setting))
        });
        let found = match known {
            Some(node) => Some(node),
            None => chatos_child::find_node(&setting, self.environment().get("PATH")).await,
        };
        let needed = "Node.js 20 or newer is needed";
        match found {
            Some(node) if node.is_new_enough() => Ok(node.path),
            Some(node) => {
                let (version, path) = (node.version, node.path.display());
                Err(BackendError::new(
                    "unavailable",
                    format!("{needed}; found {version} at {path}"),
                    format!("需要 Node.js 20 或更新版本；在 {path} 找到的是 {version}"),
                )
                .hint(
                    "install a newer one, or name it in the setting `nodePath`",
                    "请安装更新版本，或在设置 `nodePath` 中指定",
                ))
            }
            None => Err(BackendError::new(
                "unavailable",
                format!("{needed}; none was found on PATH (setting \"nodePath\")"),
                "需要 Node.js 20 或更新版本；在 PATH 中没有找到（设置 \"nodePath\"）",
            )
            .hint(
                "install Node.js, or name its program in the setting `nodePath`",
                "请安装 Node.js，或在设置 `nodePath` 中指定程序",
            )),
        }
    }

    /// Everything for one start, checked now. Blocks on disk.
    fn prepare_backend(&self, id: &PluginId, node: PathBuf) -> Result<Launch, BackendError> {
        let failed = |error: &dyn std::fmt::Display| {
            let text = format!("Backend of {id} failed to start: {error}");
            BackendError::new("unavailable", text.clone(), text)
        };
        let desk = self.plugins().map_err(|fault| failed(&fault))?;
        let snapshot = desk.snapshot();
        let plugin = snapshot.plugin(id).ok_or_else(|| {
            BackendError::new("not_found", format!("Plugin not found: {id}"), format!("没有找到插件：{id}"))
        })?;
        let entry = check_backend(&snapshot, plugin)?;
        // plugins §7: the bytes are looked at again before a process starts.
        let found = self.plugin_home().verify(plugin).map_err(|reason| match reason {
            Unverified::Unreadable(error) => failed(&error),
            Unverified::NotTrusted(_) => BackendError::new(
                "permission_denied",
                format!("Plugin {id} is not trusted"),
                format!("插件 {id} 未被信任"),
            ),
        })?;
        let runner = runner_file(&self.dir().runtime()).map_err(|error| failed(&error))?;
        let directory = UiApps::of_state_dir(self.dir().path()).data_of(id);
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&directory)
            .map_err(|error| failed(&error))?;
        let import = self.0.parts.lending.to(plugin, &entry).map_err(|fault| failed(&fault))?;
        Ok(Launch {
            node,
            runner,
            entry,
            import,
            environment: self.plugin_environment(id, &directory),
            ctx: self.backend_context(id, Some(&plugin.loaded.dir)),
            directory,
            spawning: self.0.parts.host.spawning().map_err(|fault| failed(&fault))?,
            fingerprint: found.digest.to_string(),
        })
    }

    /// The environment of a plugin's processes (plugins §1.3).
    fn plugin_environment(&self, id: &PluginId, data: &Path) -> Vec<(OsString, OsString)> {
        let named: Vec<String> = self
            .settings()
            .effective(&format!("pluginEnv.{id}"))
            .and_then(|setting| serde_json::from_value(setting.value).ok())
            .unwrap_or_default();
        let own: Vec<(OsString, OsString)> = [
            ("MODEL_CLI_HOST_APP", OsString::from(&self.0.parts.places.host_app)),
            ("MODEL_CLI_SESSION_ROOT", self.0.parts.session_root.clone().into_os_string()),
            ("CHATOS_STATE_DIR", self.dir().path().as_os_str().to_owned()),
            ("CHATOS_PLUGIN_ID", OsString::from(id.as_str())),
            ("CHATOS_DATA_DIR", data.as_os_str().to_owned()),
        ]
        .into_iter()
        .map(|(name, value)| (OsString::from(name), value))
        .collect();
        let host = self.environment().variables().iter();
        child_environment(host.map(|(name, value)| (name.into(), value.into())), &named, &own)
    }

    /// `ctx` (host-api §9.3); `llm` as a boolean.
    fn backend_context(&self, id: &PluginId, dir: Option<&Path>) -> Value {
        let state = self.dir().path();
        let mut ctx = json!({
            "pluginId": id,
            "dataDir": UiApps::of_state_dir(state).data_of(id),
            "stateDir": state,
            "sessionRoot": self.0.parts.session_root,
            "projectRoot": self.project(),
            "llm": crate::complete::has_model(self),
        });
        if let Some(dir) = dir {
            ctx["pluginDir"] = json!(dir);
        }
        ctx
    }

    /// Work that outlives a call needs the runtime the call ran on.
    pub fn remember_runtime(&self) {
        if let Ok(handle) = tokio::runtime::Handle::try_current() {
            self.0.runtime.get_or_init(|| handle);
        }
    }

    /// Stops or renews backends whose plugin may not run any more or has other bytes.
    pub fn backends_follow(&self, snapshot: &Snapshot) {
        let (Some(backends), Some(runtime)) = (self.0.backends.get(), self.0.runtime.get()) else {
            return;
        };
        let _inside = runtime.enter();
        for id in backends.used() {
            match snapshot.plugin(&id) {
                Some(plugin) if plugin.is_trusted() => {
                    let digest = plugin.trust.digest.as_ref().map(ToString::to_string);
                    let known = backends.fingerprint(&id);
                    if known.is_some() && known != digest {
                        match plugin.loaded.origin {
                            Origin::Builtin => {}
                            Origin::User => backends.reload(&id),
                            Origin::Dev => backends.renew(&id),
                        }
                    }
                }
                _ => {
                    let backends = backends.clone();
                    runtime.spawn(async move { backends.stop(&id).await });
                }
            }
        }
    }

    /// Files of a plugin changed that no snapshot shows.
    pub(crate) fn backend_touched(&self, dir: &Path) {
        let (Some(backends), Some(runtime)) = (self.0.backends.get(), self.0.runtime.get()) else {
            return;
        };
        let Ok(desk) = self.plugins() else { return };
        let snapshot = desk.snapshot();
        let Some(plugin) = snapshot.plugins.iter().find(|plugin| plugin.active && plugin.loaded.dir == dir)
        else {
            return;
        };
        let ours = plugin.loaded.origin == Origin::Builtin && backends.used().contains(plugin.id());
        if !ours {
            return;
        }
        let now = desk.registry().inventory(plugin).map(|found| found.digest.to_string()).ok();
        if now.is_none() || backends.fingerprint(plugin.id()) != now {
            let _inside = runtime.enter();
            backends.reload(plugin.id());
        }
    }

    /// Ends the backend of a plugin that is about to be removed, and waits for it. Blocks.
    pub fn end_backend(&self, id: &PluginId) {
        let (Some(backends), Some(runtime)) = (self.0.backends.get(), self.0.runtime.get()) else {
            return;
        };
        if backends.used().contains(id) {
            runtime.block_on(backends.stop(id));
        }
    }
}

fn not_configured(id: &str) -> BackendError {
    BackendError::new(
        "unavailable",
        format!("Plugin backend not configured: {id}"),
        format!("插件没有配置后端：{id}"),
    )
}

/// The module of a plugin's backend, or why there is none.
fn check_backend(snapshot: &Snapshot, plugin: &Plugin) -> Result<PathBuf, BackendError> {
    let id = plugin.id();
    if plugin.loaded.manifest.backend.is_none() {
        return Err(not_configured(id.as_str()));
    }
    if let Some(entry) = &plugin.loaded.backend {
        return Ok(entry.clone());
    }
    let problem = snapshot.problems_of(id).find(|problem| problem.source == Source::Backend);
    let (en, zh) = match problem {
        Some(problem) => (problem.message.en.clone(), problem.message.zh.clone()),
        None => ("its entry cannot be used".to_owned(), "无法使用其入口".to_owned()),
    };
    Err(BackendError::new(
        "unavailable",
        format!("Plugin backend not available: {id}: {en}"),
        format!("插件后端不可用：{id}：{zh}"),
    ))
}
