//! `chatos plugin validate` without Node (devkit §2.1): the production loader and the installer's
//! reader, read strictly. Nothing of the plugin is executed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use chatos_contribution::{DefaultLists, Endpoint, Exposed, server_name};
use chatos_manifest::{PluginManifest, Problem, ProblemCode, Source, Text, quote};
use chatos_modules::SharedPackage;

use crate::digest::Digest;
use crate::imports::imports_of;
use crate::layout::Origin;
use crate::load::{self, LoadedApp, LoadedPlugin};
use crate::pack::{PackageContent, content_of_directory, named_files};
use crate::package::PackageError;
use crate::registry::{AppNames, preview_names};

/// What was found about one plugin.
#[derive(Debug)]
pub struct Validation {
    /// The directory that was looked at.
    pub dir: PathBuf,
    /// The plugin, unless it was dropped.
    pub plugin: Option<Arc<LoadedPlugin>>,
    /// Errors and warnings, in manifest order.
    pub problems: Vec<Problem>,
    /// Ids of the declared apps, usable or not.
    pub declared_apps: Vec<chatos_manifest::AppId>,
    /// Why it could not be installed although its manifest is fine: links, names, limits.
    pub package: Option<PackageError>,
    /// What would be installed.
    pub content: Option<PackageContent>,
    /// What is derived per app.
    pub derived: Vec<Derived>,
    /// Packages it would take from ChatOS; other hosts may not have them.
    pub lent: Vec<SharedPackage>,
}

/// What the host derives for one app.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "field for field the documented JSON")]
pub struct Derived {
    pub app_id: String,
    pub server: Option<String>,
    pub argv: Option<Vec<String>>,
    pub url: Option<String>,
    pub prompt_zh: Option<String>,
    pub prompt_en: Option<String>,
    pub mcp_servers: Exposed,
    pub prompts: Exposed,
}

impl Validation {
    /// True without errors.
    pub fn is_ok(&self) -> bool {
        self.package.is_none() && !self.problems.iter().any(Problem::is_error)
    }

    /// The digest of what would be installed.
    pub fn digest(&self) -> Option<&Digest> {
        self.content.as_ref().map(|content| &content.digest)
    }

    /// The manifest, for the summary line.
    pub fn manifest(&self) -> Option<&PluginManifest> {
        self.plugin.as_ref().map(|plugin| &plugin.manifest)
    }
}

/// Looks at the plugin in `dir`. `user_root` is where the installer puts plugins: only there does the
/// directory's name matter.
pub fn validate(
    dir: &Path,
    user_root: Option<&Path>,
    defaults: &DefaultLists,
) -> Result<Validation, PackageError> {
    let loaded = load::load(dir, Origin::User, defaults).ok_or_else(PackageError::no_manifest)?;
    let named = named_files(&loaded.watched);
    let declared_apps = loaded.declared_apps;
    let plugin = loaded.plugin.map(Arc::new);
    let mut problems = loaded.problems;
    let mut derived = Vec::new();
    if let Some(plugin) = &plugin {
        let (names, collisions) = preview_names(plugin);
        problems.extend(collisions);
        problems.extend(dir_name_problem(plugin, user_root));
        derived =
            plugin.apps.iter().zip(&names).map(|(app, names)| derive(plugin, app, names.as_ref())).collect();
    }
    let (content, package) = match content_of_directory(dir, &named) {
        Ok(content) => (Some(content), None),
        Err(error) => (None, Some(error)),
    };
    let imports = plugin.as_ref().map(|plugin| imports_of(plugin)).unwrap_or_default();
    problems.extend(imports.problems);
    let lent = imports.lent;
    Ok(Validation { dir: dir.to_owned(), plugin, problems, declared_apps, package, content, derived, lent })
}

fn dir_name_problem(plugin: &LoadedPlugin, user_root: Option<&Path>) -> Option<Problem> {
    let root = std::fs::canonicalize(user_root?).ok()?;
    let dir = std::fs::canonicalize(&plugin.dir).ok()?;
    let name = dir.file_name()?.to_string_lossy().into_owned();
    if dir.parent() != Some(root.as_path()) || name == plugin.id().as_str() {
        return None;
    }
    let (name, id) = (quote(&name), quote(plugin.id().as_str()));
    let message = Text::new(
        format!("The directory is called {name}, the plugin {id}"),
        format!("目录名为 {name}，而插件 id 为 {id}"),
    );
    Some(
        Problem::new(ProblemCode::DirNameMismatch, "/id", message)
            .source(Source::Scan)
            .of_plugin(plugin.id()),
    )
}

fn derive(plugin: &LoadedPlugin, app: &LoadedApp, names: Option<&AppNames>) -> Derived {
    let ai = app.ai.as_ref();
    let server = ai.and_then(|ai| ai.mcp.as_ref());
    let prompt = ai.and_then(|ai| ai.prompt.as_ref());
    let (argv, url) = match server.map(|server| (&server.endpoint, &server.url)) {
        Some((Endpoint::Command { argv }, _)) => (Some(argv.clone()), None),
        Some((Endpoint::Network { .. }, url)) => (None, Some(url.clone())),
        None => (None, None),
    };
    let prompt_name =
        |has: bool, name: fn(&AppNames) -> &String| names.filter(|_| has).map(|names| name(names).clone());
    Derived {
        app_id: app.manifest.id.to_string(),
        server: server.map(|_| server_name(plugin.id(), &app.manifest.id)),
        argv,
        url,
        prompt_zh: prompt_name(prompt.is_some_and(|prompt| prompt.text.zh.is_some()), |names| {
            &names.prompts.zh
        }),
        prompt_en: prompt_name(prompt.is_some_and(|prompt| prompt.text.en.is_some()), |names| {
            &names.prompts.en
        }),
        mcp_servers: ai.map(|ai| ai.mcp_servers.exposed.clone()).unwrap_or_default(),
        prompts: ai.map(|ai| ai.prompts.exposed.clone()).unwrap_or_default(),
    }
}
