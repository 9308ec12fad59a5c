//! Where a server is and what it gets there: its endpoint, its variables, what a sign-in gave.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use chatos_contribution::cmd_url;
use chatos_manifest::PluginId;
use chatos_mcp::{Addresses, CommandLine, Endpoint, child_environment};
use chatos_plugins::{Plugin, node_entry};
use chatos_tool::{ErrorCode, Fault, Text};
use serde_json::Value;

use super::{CatalogueBuilder, Parts, bad_address};
use crate::auth::StoredAuth;
use crate::sign_in::SignInKept;

impl CatalogueBuilder<'_> {
    /// Where a server is, with exactly what it gets.
    #[expect(clippy::too_many_arguments, reason = "the parts of an endpoint, gathered by two callers")]
    pub(crate) fn endpoint(
        &self,
        url: &str,
        argv: Option<&[String]>,
        auth: &StoredAuth,
        private: bool,
        directory: &Path,
        named: &[String],
        own: &[(OsString, OsString)],
    ) -> Result<Endpoint, Fault> {
        let Some(argv) = argv else {
            if url.starts_with("cmd://") {
                let error = cmd_url::parse(url).err();
                return Err(bad_address(&error.map(|error| error.message().en).unwrap_or_default()));
            }
            let addresses = if private { Addresses::Private } else { Addresses::Public };
            return Endpoint::remote(url, &auth.for_client(), addresses)
                .map_err(|error| bad_address(&error.to_string()).hint(Text::same(error.hint())));
        };
        let [program, arguments @ ..] = argv else { return Err(bad_address("no program")) };
        let program = match program.as_str() {
            "node" | "nodejs" => self.node(program)?,
            other => OsString::from(other),
        };
        let variables = self.parts.environment.variables();
        let variables = variables.iter().map(|(name, value)| (name.into(), value.into()));
        Ok(Endpoint::Command(CommandLine {
            program,
            arguments: arguments.iter().map(OsString::from).collect(),
            directory: Some(directory.to_owned()),
            environment: child_environment(variables, named, own),
        }))
    }

    /// With the modules ChatOS lends, where the host's Node runs a file of the plugin that needs them.
    pub(crate) fn with_lent_modules(
        &self,
        plugin: &Plugin,
        argv: Option<&[String]>,
        endpoint: Endpoint,
    ) -> Result<Endpoint, Fault> {
        let entry = argv.and_then(|argv| node_entry(&plugin.loaded.dir, argv));
        let (Endpoint::Command(mut command), Some(entry), Some(_)) = (endpoint.clone(), entry, self.node)
        else {
            return Ok(endpoint);
        };
        if let Some(import) = self.parts.lending.to(plugin, &entry)? {
            command.arguments.splice(0..0, ["--import".into(), import.into()]);
        }
        Ok(Endpoint::Command(command))
    }

    /// The host's Node. An old one is refused here, because it would fail with a syntax error of its own.
    fn node(&self, written: &str) -> Result<OsString, Fault> {
        match self.node {
            Some(node) if node.is_new_enough() => Ok(node.path.clone().into()),
            Some(node) => Err(Fault::new(
                ErrorCode::Unavailable,
                Text::new(
                    format!("it needs Node 20 or newer; this machine has {}", node.version),
                    format!("需要 Node 20 或更新版本；本机为 {}", node.version),
                ),
            )
            .code("node_too_old")
            .hint(Text::fixed(
                "install a newer Node, or name one in the setting nodePath",
                "请安装更新的 Node，或在设置 nodePath 中指定",
            ))),
            None => Ok(written.into()),
        }
    }

    /// plugins §1.3.
    pub(crate) fn app_variables(&self, plugin: &PluginId, data: &Path) -> Vec<(OsString, OsString)> {
        vec![
            ("MODEL_CLI_HOST_APP".into(), self.parts.places.host_app.clone().into()),
            ("MODEL_CLI_SESSION_ROOT".into(), self.parts.session_root.clone().into()),
            ("CHATOS_STATE_DIR".into(), self.parts.dir.path().into()),
            ("CHATOS_PLUGIN_ID".into(), plugin.as_str().into()),
            ("CHATOS_DATA_DIR".into(), data.into()),
        ]
    }

    pub(crate) fn named_variables(&self, plugin: &PluginId) -> Vec<String> {
        let value = self.parts.settings.effective(&format!("pluginEnv.{plugin}")).map(|known| known.value);
        let names = value.as_ref().and_then(Value::as_array);
        names.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// What a person's sign-in gave, for a remote server that nothing else is sent to.
    pub(crate) fn sign_in(&self, identity: &str, parts: &Parts) -> Option<Arc<SignInKept>> {
        let remote = parts.endpoint.as_ref().ok()?.as_remote().filter(|_| !parts.auth.authorizes())?;
        let (name, url, oauth) = (&parts.name, &parts.url, &parts.auth.oauth);
        Some(Arc::new(SignInKept::new(self.parts, identity, name, url, remote.clone(), oauth)))
    }
}
