//! `chatos plugin validate` without Node (devkit §2.1): the production loader and the installer's
//! reader, read strictly. Nothing of the plugin is executed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use chatos_contribution::{DefaultLists, Endpoint, Exposed, server_name};
use chatos_manifest::{Dropped, PluginManifest, Problem, ProblemCode, Source, Text, quote};

use crate::digest::Digest;
use crate::layout::Origin;
use crate::load::{self, LoadedApp, LoadedPlugin};
use crate::module_scan::{ModuleFacts, scan_module};
use crate::pack::{PackageContent, content_of_directory};
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

    /// Modules that should be checked with Node: (label, pointer, path, app).
    pub fn modules(&self) -> Vec<ModuleToCheck> {
        let Some(plugin) = &self.plugin else { return Vec::new() };
        let mut modules = Vec::new();
        for app in &plugin.apps {
            let place = (app.manifest.index, app.manifest.id.clone());
            let entry = &app.manifest.entry;
            modules.push(ModuleToCheck {
                pointer: entry.module.pointer.clone(),
                label: "entry.path",
                path: plugin.dir.join(entry.module.path.as_str()),
                role: ModuleRole::Page,
                app: Some(place.clone()),
            });
            if let Some(compact) = &entry.compact {
                modules.push(ModuleToCheck {
                    pointer: compact.pointer.clone(),
                    label: "entry.compact.path",
                    path: plugin.dir.join(compact.path.as_str()),
                    role: ModuleRole::Page,
                    app: Some(place),
                });
            }
        }
        if let Some(backend) = &plugin.backend {
            modules.push(ModuleToCheck {
                pointer: "/backend/entry".to_owned(),
                label: "backend.entry",
                path: backend.clone(),
                role: ModuleRole::Backend,
                app: None,
            });
        }
        modules
    }

    /// The problem of a module that does not parse.
    pub fn module_problem(&self, module: &ModuleToCheck, error: &str) -> Problem {
        let label = module.label;
        let message = Text::new(
            format!("{label} is not a valid module: {error}"),
            format!("{label} 不是有效的模块：{error}"),
        );
        self.at(module, ProblemCode::ModuleSyntax, message)
    }

    fn at(&self, module: &ModuleToCheck, code: ProblemCode, message: Text) -> Problem {
        let dropped = match module.role {
            ModuleRole::Page => Dropped::App,
            ModuleRole::Backend => Dropped::Backend,
        };
        let mut problem =
            Problem::new(code, module.pointer.clone(), message).source(Source::Entry).dropping(dropped);
        if let Some(plugin) = &self.plugin {
            problem = problem.of_plugin(plugin.id());
        }
        if let Some((index, id)) = &module.app {
            problem = problem.of_app(*index, id);
        }
        problem
    }
}

/// A module Node can check.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "see `Validation::modules`")]
pub struct ModuleToCheck {
    pub pointer: String,
    pub label: &'static str,
    pub path: PathBuf,
    pub role: ModuleRole,
    pub app: Option<(usize, chatos_manifest::AppId)>,
}

/// What a module is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModuleRole {
    /// Mounted in a frame.
    Page,
    /// Run by Node.
    Backend,
}

/// Looks at the plugin in `dir`. `user_root` is where the installer puts plugins: only there does the
/// directory's name matter.
pub fn validate(
    dir: &Path,
    user_root: Option<&Path>,
    defaults: &DefaultLists,
) -> Result<Validation, PackageError> {
    let loaded = load::load(dir, Origin::User, defaults).ok_or_else(PackageError::no_manifest)?;
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
    let (content, package) = match content_of_directory(dir) {
        Ok(content) => (Some(content), None),
        Err(error) => (None, Some(error)),
    };
    let mut validation =
        Validation { dir: dir.to_owned(), plugin, problems, declared_apps, package, content, derived };
    let found = scan_modules(&validation);
    validation.problems.extend(found);
    Ok(validation)
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

/// Bytes of a module that is scanned; bundles are often megabytes.
const SCANNED_BYTES: u64 = 8 * 1024 * 1024;

/// Exports of pages, and imports nothing will resolve after an install.
fn scan_modules(validation: &Validation) -> Vec<Problem> {
    let mut problems = Vec::new();
    for module in validation.modules() {
        let Some(facts) = facts_of(&module.path) else { continue };
        if module.role == ModuleRole::Page && !facts.can_mount() {
            let label = module.label;
            let message = Text::new(
                format!("{label} exports neither mount nor a default"),
                format!("{label} 既没有导出 mount，也没有默认导出"),
            );
            problems.push(validation.at(&module, ProblemCode::ModuleExport, message));
        }
        problems.extend(
            unbundled(&facts, module.label)
                .map(|message| validation.at(&module, ProblemCode::UnbundledImport, message)),
        );
    }
    let Some(plugin) = &validation.plugin else { return problems };
    for app in &plugin.apps {
        let Some(server) = app.ai.as_ref().and_then(|ai| ai.mcp.as_ref()) else { continue };
        let Endpoint::Command { argv } = &server.endpoint else { continue };
        let entry = argv.get(1).map(PathBuf::from).filter(|path| path.starts_with(&plugin.dir));
        let Some(facts) = entry.and_then(|path| facts_of(&path)) else { continue };
        for message in unbundled(&facts, "ai.mcp.entry") {
            problems.push(
                Problem::new(ProblemCode::UnbundledImport, format!("{}/entry", server.decl.pointer), message)
                    .source(Source::Ai)
                    .of_plugin(plugin.id())
                    .of_app(app.manifest.index, &app.manifest.id),
            );
        }
    }
    problems
}

fn facts_of(path: &Path) -> Option<ModuleFacts> {
    let is_script = path.extension().is_some_and(|extension| {
        ["js", "mjs", "cjs"].iter().any(|known| extension.eq_ignore_ascii_case(known))
    });
    let small = std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() <= SCANNED_BYTES);
    if !is_script || !small {
        return None;
    }
    // Text that is not UTF-8 is Node's to complain about.
    std::fs::read_to_string(path).ok().map(|text| scan_module(&text))
}

fn unbundled(facts: &ModuleFacts, label: &str) -> impl Iterator<Item = Text> {
    facts.unbundled().map(move |specifier| {
        let shown = quote(specifier);
        Text::new(
            format!("{label} imports {shown}, which is not in the package"),
            format!("{label} 导入了 {shown}，但安装包中没有它"),
        )
    })
}
