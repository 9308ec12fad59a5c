//! The plugin under development as the page and scripts see it.

use std::path::PathBuf;
use std::sync::Arc;

use chatos_contribution::DefaultLists;
use chatos_host::Host;
use chatos_plugins::listing::{Reader, problem_entry};
use chatos_plugins::{Origin, Plugin, UiApps, check_modules, manifest_lang, package_fault, validate};
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use chatos_wire::dev::{AsyncTestInput, AsyncTestResult, DevInfo, DevPaths, DevPlugin, DevProblems};
use chatos_wire::plugin::ProblemEntry;

use crate::{agent, async_test};

/// What a sandbox is started with.
#[derive(Debug, Clone)]
pub struct SandboxOptions {
    /// The folder that holds `plugin.json`.
    pub dir: PathBuf,
    /// The app to begin with.
    pub app: Option<String>,
    /// Saved files are taken at once.
    pub reload: bool,
}

/// One plugin under development on one host.
pub struct Sandbox {
    host: Arc<Host>,
    options: SandboxOptions,
}

impl std::fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sandbox").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Sandbox {
    /// A sandbox on a host whose one directory under development is that of `options`. Makes the agent.
    /// Blocks on the database.
    pub fn open(host: Arc<Host>, options: SandboxOptions) -> Result<Self, Fault> {
        let sandbox = Self { host, options };
        agent::keep(&sandbox.host, sandbox.plugin()?.as_deref())?;
        Ok(sandbox)
    }

    /// The plugin as it is in use; `None` while its folder holds none that can be read.
    pub fn plugin(&self) -> Result<Option<Arc<Plugin>>, Fault> {
        let snapshot = self.host.plugins()?.snapshot();
        Ok(snapshot.plugins.iter().find(|plugin| plugin.loaded.origin == Origin::Dev).cloned())
    }

    /// What is under development here, and where. Blocks on disk.
    pub fn info(&self) -> Result<DevInfo, Fault> {
        let (host, plugin) = (&self.host, self.plugin()?);
        let agent_id = agent::keep(host, plugin.as_deref())?;
        let shown = |path: &std::path::Path| path.display().to_string();
        let state = host.dir().path();
        let data = |plugin: &Arc<Plugin>| shown(&UiApps::of_state_dir(state).data_of(plugin.id()));
        Ok(DevInfo {
            app: self.options.app.clone(),
            paths: DevPaths {
                plugin_dir: shown(&self.options.dir),
                data_dir: plugin.as_ref().map(data),
                state_dir: shown(state),
                session_root: shown(&host.session_root()),
                project_root: shown(host.project()),
                prompt_log: shown(&host.inbox().questions()?.prompts().paths().log),
            },
            reload: self.options.reload,
            pending: !self.options.reload && self.differs(plugin.as_deref())?,
            agent_id,
            plugin: plugin.map(|plugin| DevPlugin {
                id: plugin.id().to_string(),
                name: plugin.loaded.manifest.name.clone(),
                version: plugin.loaded.manifest.version.clone(),
                digest: plugin.trust.digest.as_ref().map(ToString::to_string),
            }),
        })
    }

    /// Whether the files are others than those in use.
    fn differs(&self, plugin: Option<&Plugin>) -> Result<bool, Fault> {
        let Some(plugin) = plugin else { return Ok(self.options.dir.join("plugin.json").exists()) };
        // A tree that cannot be read now is looked at again in a moment; it is not what is in use.
        let now = self.host.plugins()?.registry().inventory(plugin).ok();
        Ok(now.is_none_or(|found| Some(&found.digest) != plugin.trust.digest.as_ref()))
    }

    /// What `chatos plugin validate` says about the files as they are.
    pub async fn problems(&self, lang: Lang) -> Result<DevProblems, Fault> {
        let dir = self.options.dir.clone();
        let looked = chatos_blocking::run(move || validate(&dir, None, &DefaultLists::embedded()));
        let looked = looked.await.map_err(|error| {
            Fault::new(ErrorCode::Internal, Text::same("looking at the plugin failed")).caused_by(&error)
        })?;
        let mut found = looked.map_err(|error| package_fault(&error, lang, None))?;
        let node = self.host.find_node().await;
        if let Some(plugin) = &found.plugin {
            found.problems.extend(check_modules(node.as_ref(), plugin).await);
        }
        let words = manifest_lang(lang);
        let entry = |problem| problem_entry(problem, words, Reader::Person);
        let (mut errors, warnings): (Vec<ProblemEntry>, Vec<ProblemEntry>) =
            found.problems.iter().map(entry).partition(|problem| problem.severity == "error");
        errors.extend(found.package.as_ref().map(|error| ProblemEntry {
            path: error.entry.clone().unwrap_or_default(),
            code: error.code.as_str().to_owned(),
            severity: "error".to_owned(),
            message: error.message.get(words).to_owned(),
            hint: error.hint(words).to_owned(),
            dir: None,
            plugin_id: None,
            app_id: None,
            source: "install".to_owned(),
        }));
        Ok(DevProblems { errors, warnings })
    }

    /// Writes the result of a made-up task and waits for it as a tool call does.
    pub async fn async_test(&self, input: &AsyncTestInput) -> Result<AsyncTestResult, Fault> {
        async_test::run(self.host.inbox().questions()?.prompts(), input).await
    }
}
