//! What the modules of a plugin say about themselves before anything of them runs: whether a page can be mounted, and
//! which packages the backend and the tool servers import that are not files of the plugin (packages §10).

use std::path::{Path, PathBuf};

use chatos_contribution::Endpoint;
use chatos_manifest::{AppId, Dropped, Problem, ProblemCode, Severity, Source, Text, quote};
use chatos_modules::{ModuleFacts, Needs, SharedPackage, needs, scan_module};

use crate::load::LoadedPlugin;

/// A module Node can check.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "see `modules_of`")]
pub struct ModuleToCheck {
    pub pointer: String,
    pub label: &'static str,
    pub path: PathBuf,
    pub role: ModuleRole,
    pub app: Option<(usize, AppId)>,
}

/// What a module is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModuleRole {
    /// It is mounted in a frame.
    Page,
    /// Node runs it as the plugin's backend.
    Backend,
    /// Node runs it as a tool server.
    Server,
}

/// Pages, the backend and the tool servers that Node runs.
pub(crate) fn modules_of(plugin: &LoadedPlugin) -> Vec<ModuleToCheck> {
    let mut modules = Vec::new();
    for app in &plugin.apps {
        let place = (app.manifest.index, app.manifest.id.clone());
        let entry = &app.manifest.entry;
        let page = |pointer: &String, label, path: &str| ModuleToCheck {
            pointer: pointer.clone(),
            label,
            path: plugin.dir.join(path),
            role: ModuleRole::Page,
            app: Some(place.clone()),
        };
        modules.push(page(&entry.module.pointer, "entry.path", entry.module.path.as_str()));
        if let Some(compact) = &entry.compact {
            modules.push(page(&compact.pointer, "entry.compact.path", compact.path.as_str()));
        }
        let Some(server) = app.ai.as_ref().and_then(|ai| ai.mcp.as_ref()) else { continue };
        let Endpoint::Command { argv } = &server.endpoint else { continue };
        if let Some(path) = node_entry(&plugin.dir, argv) {
            modules.push(ModuleToCheck {
                pointer: format!("{}/entry", server.decl.pointer),
                label: "ai.mcp.entry",
                path,
                role: ModuleRole::Server,
                app: Some(place.clone()),
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

/// The script of a command line that is Node with a file of the plugin; other programs are none of ours.
pub fn node_entry(dir: &Path, argv: &[String]) -> Option<PathBuf> {
    let [program, entry, ..] = argv else { return None };
    let is_node = matches!(program.as_str(), "node" | "nodejs");
    is_node.then(|| PathBuf::from(entry)).filter(|path| path.starts_with(dir))
}

/// What was found about the modules of one plugin.
#[derive(Debug, Default)]
pub(crate) struct Imports {
    pub(crate) problems: Vec<Problem>,
    /// Packages it takes from ChatOS.
    pub(crate) lent: Vec<SharedPackage>,
    /// Folders outside the plugin that Node would take packages from.
    pub(crate) outside: Vec<PathBuf>,
}

/// Looks at all of them. Reads files, runs nothing.
pub(crate) fn imports_of(plugin: &LoadedPlugin) -> Imports {
    let mut found = Imports::default();
    for module in modules_of(plugin) {
        let problem = |code, message| problem_at(plugin, &module, code, message);
        if module.role == ModuleRole::Page {
            let Some(facts) = facts_of(&module.path) else { continue };
            let label = module.label;
            if !facts.can_mount() {
                let message = Text::new(
                    format!("{label} exports neither mount nor a default"),
                    format!("{label} 既没有导出 mount，也没有默认导出"),
                );
                found.problems.push(problem(ProblemCode::ModuleExport, message));
            }
            // A browser has no packages, so nothing is lent to pages.
            for specifier in facts.unbundled() {
                let shown = quote(specifier);
                let message = Text::new(
                    format!("{label} imports {shown}, which a page cannot load"),
                    format!("{label} 导入了 {shown}，页面无法加载它"),
                );
                found.problems.push(problem(ProblemCode::UnbundledImport, message));
            }
            continue;
        }
        let needed = needs(&plugin.dir, &module.path);
        if let Some(from) = &needed.older_place {
            let shown = quote(from);
            let message = Text::new(
                format!(
                    "{shown} uses `.deepseek_cli` by itself; with another state directory the app's page and its tools would see different data"
                ),
                format!(
                    "{shown} 自行使用 `.deepseek_cli`；使用其他状态文件夹时，应用页面与它的工具会看到不同的数据"
                ),
            );
            found.problems.push(problem(ProblemCode::OlderPlace, message));
        }
        for message in missing(&module, plugin, &needed) {
            found.problems.push(problem(ProblemCode::UnbundledImport, message));
        }
        found.lent.extend(needed.lent);
        found.outside.extend(needed.outside);
    }
    found.lent.sort_by(|a, b| a.name.cmp(&b.name));
    found.lent.dedup();
    found.outside.sort();
    found.outside.dedup();
    found
}

fn missing(module: &ModuleToCheck, plugin: &LoadedPlugin, needed: &Needs) -> Vec<Text> {
    let own = module.path.strip_prefix(&plugin.dir).unwrap_or(&module.path).to_string_lossy().into_owned();
    let label = module.label;
    let said = needed.missing.iter().map(|missing| {
        let shown = quote(&missing.specifier);
        let from = if missing.from == own { String::new() } else { format!(" ({})", quote(&missing.from)) };
        Text::new(
            format!("{label} imports {shown}{from}, which neither the package nor ChatOS has"),
            format!("{label} 导入了 {shown}{from}，但安装包和 ChatOS 都没有它"),
        )
    });
    said.collect()
}

/// A problem of one module.
pub(crate) fn problem_at(
    plugin: &LoadedPlugin,
    module: &ModuleToCheck,
    code: ProblemCode,
    message: Text,
) -> Problem {
    let (dropped, source) = match module.role {
        ModuleRole::Page => (Dropped::App, Source::Entry),
        ModuleRole::Backend => (Dropped::Backend, Source::Entry),
        ModuleRole::Server => (Dropped::Ai, Source::Ai),
    };
    let mut problem = Problem::new(code, module.pointer.clone(), message)
        .source(source)
        .dropping(dropped)
        .of_plugin(plugin.id());
    if let Some((index, id)) = &module.app {
        problem = problem.of_app(*index, id);
    }
    problem
}

impl Imports {
    /// The problems as warnings: who installs or looks at a plugin is told what `validate` refuses, and goes on.
    pub(crate) fn warnings(self) -> Vec<Problem> {
        self.problems.into_iter().map(softened).collect()
    }
}

/// What `validate` refuses, as a warning.
pub(crate) fn softened(problem: Problem) -> Problem {
    Problem { severity: Severity::Warning, dropped: Dropped::Nothing, ..problem }
}

/// Folders outside a plugin that Node would take packages of it from; they are not part of what was trusted.
pub fn modules_outside(plugin: &LoadedPlugin) -> Vec<PathBuf> {
    imports_of(plugin).outside
}

/// What is said of a plugin that uses the place where states were before by itself.
pub fn older_place(plugin: &LoadedPlugin) -> Vec<Problem> {
    imports_of(plugin)
        .problems
        .into_iter()
        .filter(|problem| problem.code == ProblemCode::OlderPlace)
        .collect()
}

/// Bytes of a page that is scanned; bundles are often megabytes.
const SCANNED_BYTES: u64 = 8 * 1024 * 1024;

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
