//! Loading one plugin directory: the manifest, and everything on disk that it names
//! (plugins §3, ai-contributions §1, §6). Texts are kept as bytes that were read once; paths are
//! kept only after they were proven to be inside.

mod files;
mod icon;

use std::io::Read;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use chatos_contribution::{
    ConfigFault, DefaultLists, LoadedAi, Merged, PromptText, ResolvedAi, merge, parse_config, resolve,
};
use chatos_manifest::{
    AiLayer, AppId, AppManifest, AppRef, Dropped, McpProgram, McpTarget, Parsed, PluginId, PluginManifest,
    Problem, ProblemCode, PromptSource, RelPath, Source, Text, limits, parse_layer, visible,
};
use chatos_paths::Beneath;
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

pub(crate) use files::Watched;
use files::{Files, Refusal};
pub use icon::Icon;

use crate::layout::Origin;
use crate::stamp::Stamp;

/// A plugin whose directory was read.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedPlugin {
    /// Where it comes from.
    pub origin: Origin,
    /// Its directory, absolute.
    pub dir: PathBuf,
    /// The manifest; `apps` in it are those of [`LoadedPlugin::apps`].
    pub manifest: PluginManifest,
    /// The backend module, proven; `None` when none is declared or it cannot be used.
    pub backend: Option<PathBuf>,
    /// Apps whose entry exists.
    pub apps: Vec<LoadedApp>,
    /// Errors and warnings found on the way.
    pub problems: Vec<Problem>,
}

/// An app whose entry exists.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedApp {
    /// What the manifest says; `entry.compact` is gone when its file is not usable.
    pub manifest: AppManifest,
    /// What may be drawn for it.
    pub icon: Icon,
    /// What it contributes, before names; `None` when `ai` is absent or nothing survived.
    pub ai: Option<ResolvedAi>,
}

impl LoadedPlugin {
    /// The id.
    pub fn id(&self) -> &PluginId {
        &self.manifest.id
    }

    /// An app by id.
    pub fn app(&self, id: &AppId) -> Option<&LoadedApp> {
        self.apps.iter().find(|app| app.manifest.id == *id)
    }
}

/// What reading a directory gave.
#[derive(Debug)]
pub struct Loaded {
    /// `None` when the plugin was dropped.
    pub plugin: Option<LoadedPlugin>,
    /// Its problems, also in [`LoadedPlugin::problems`] when there is one.
    pub problems: Vec<Problem>,
    /// Ids of the apps the manifest declares, those included whose files cannot be used.
    pub declared_apps: Vec<AppId>,
    /// Files the result depends on.
    pub(crate) watched: Vec<Watched>,
}

/// Reads the plugin in `dir`. `None` when there is no `plugin.json` at all.
pub fn load(dir: &Path, origin: Origin, defaults: &DefaultLists) -> Option<Loaded> {
    let shown = dir.to_string_lossy().into_owned();
    let root = match Beneath::open(dir) {
        Ok(root) => root,
        Err(error) => {
            let message = Text::new(
                format!("The plugin directory cannot be opened: {error}"),
                format!("无法打开插件目录：{error}"),
            );
            let problem =
                Problem::new(ProblemCode::ManifestUnreadable, "", message).source(Source::Scan).in_dir(shown);
            return Some(Loaded {
                plugin: None,
                problems: vec![problem],
                declared_apps: Vec::new(),
                watched: Vec::new(),
            });
        }
    };
    let (parsed, manifest_stamp) = read_manifest(&root)?;
    let mut loader = Loader { files: Files::new(&root), problems: parsed.problems, defaults };
    loader.files.watched.push(Watched {
        path: b"plugin.json".to_vec(),
        follow: false,
        stamp: manifest_stamp,
    });
    let declared_apps = match &parsed.manifest {
        Some(manifest) => manifest.apps.iter().map(|app| app.id.clone()).collect(),
        None => Vec::new(),
    };
    let mut plugin = parsed.manifest.map(|manifest| loader.plugin(manifest, dir, origin));
    for problem in &mut loader.problems {
        problem.dir = Some(shown.clone());
    }
    if let Some(plugin) = &mut plugin {
        plugin.problems.clone_from(&loader.problems);
    }
    Some(Loaded { plugin, problems: loader.problems, declared_apps, watched: loader.files.watched })
}

/// Reads `plugin.json` without following links and without blocking on a FIFO (plugins §2.1).
fn read_manifest(root: &Beneath) -> Option<(Parsed, Option<Stamp>)> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let not_regular =
        || Parsed::unreadable(Text::new("plugin.json is not a regular file", "plugin.json 不是普通文件"));
    let unreadable = |error: std::io::Error| {
        Parsed::unreadable(Text::new(
            format!("plugin.json cannot be read: {error}"),
            format!("无法读取 plugin.json：{error}"),
        ))
    };
    let lstat = || Stamp::at(root.as_fd(), b"plugin.json", false);
    let file = match rustix::fs::openat(root.as_fd(), "plugin.json", flags, Mode::empty()) {
        Ok(fd) => std::fs::File::from(fd),
        Err(Errno::NOENT) => return None,
        Err(Errno::LOOP | Errno::NXIO) => return Some((not_regular(), lstat())),
        Err(errno) => return Some((unreadable(errno.into()), lstat())),
    };
    let stat = match rustix::fs::fstat(&file) {
        Ok(stat) => stat,
        Err(errno) => return Some((unreadable(errno.into()), None)),
    };
    let stamp = Some(Stamp::of(&stat));
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Some((not_regular(), stamp));
    }
    let size = stat.st_size as u64;
    if size > limits::MANIFEST_BYTES as u64 {
        return Some((Parsed::too_large(size), stamp));
    }
    let mut bytes = Vec::with_capacity(size as usize + 1);
    match file.take(limits::MANIFEST_BYTES as u64 + 1).read_to_end(&mut bytes) {
        Ok(_) => Some((chatos_manifest::parse(&bytes), stamp)),
        Err(error) => Some((unreadable(error), stamp)),
    }
}

struct Loader<'a> {
    files: Files<'a>,
    problems: Vec<Problem>,
    defaults: &'a DefaultLists,
}

/// Where a problem about a file belongs.
struct Place<'a> {
    plugin: &'a PluginId,
    app: Option<(usize, &'a AppId)>,
    pointer: &'a str,
    source: Source,
    dropped: Dropped,
}

impl Loader<'_> {
    fn report(&mut self, place: &Place<'_>, code: ProblemCode, message: Text) {
        let mut problem = Problem::new(code, place.pointer, message)
            .source(place.source)
            .dropping(place.dropped)
            .of_plugin(place.plugin);
        if let Some((index, id)) = place.app {
            problem = problem.of_app(index, id);
        }
        self.problems.push(problem);
    }

    fn refuse(&mut self, place: &Place<'_>, label: &str, path: &RelPath, refusal: Refusal) {
        let (code, message) = refusal.describe(label, path.as_str());
        self.report(place, code, message);
    }

    fn plugin(&mut self, mut manifest: PluginManifest, dir: &Path, origin: Origin) -> LoadedPlugin {
        let id = manifest.id.clone();
        let backend = manifest.backend.as_ref().and_then(|backend| backend.path.clone()).and_then(|path| {
            let place = Place {
                plugin: &id,
                app: None,
                pointer: "/backend/entry",
                source: Source::Backend,
                dropped: Dropped::Backend,
            };
            match self.files.prove(path.as_str()) {
                Ok(real) => Some(real),
                Err(refusal) => {
                    self.refuse(&place, "backend.entry", &path, refusal);
                    None
                }
            }
        });
        let declared = std::mem::take(&mut manifest.apps);
        let apps: Vec<LoadedApp> = declared.into_iter().filter_map(|app| self.app(&id, app)).collect();
        manifest.apps = apps.iter().map(|app| app.manifest.clone()).collect();
        LoadedPlugin { origin, dir: dir.to_owned(), manifest, backend, apps, problems: Vec::new() }
    }

    fn app(&mut self, plugin: &PluginId, mut app: AppManifest) -> Option<LoadedApp> {
        let id = app.id.clone();
        let index = app.index;
        let place = |pointer, dropped| Place {
            plugin,
            app: Some((index, &id)),
            pointer,
            source: Source::Entry,
            dropped,
        };
        let entry_ok = match self.files.check(app.entry.module.path.as_str()) {
            Ok(()) => true,
            Err(refusal) => {
                self.refuse(
                    &place(&app.entry.module.pointer, Dropped::App),
                    "entry.path",
                    &app.entry.module.path,
                    refusal,
                );
                false
            }
        };
        if let Some(compact) = app.entry.compact.take() {
            match self.files.check(compact.path.as_str()) {
                Ok(()) => app.entry.compact = Some(compact),
                Err(refusal) => {
                    self.refuse(
                        &place(&compact.pointer, Dropped::Compact),
                        "entry.compact.path",
                        &compact.path,
                        refusal,
                    );
                }
            }
        }
        // Problems of `ai` are reported even when the app goes, so that an author sees all at once.
        let ai = app.ai.is_some().then(|| self.ai(plugin, &app)).filter(|ai| !ai.is_empty());
        if !entry_ok {
            return None;
        }
        let icon = icon::of(&app.icon, &app.name, &mut self.files);
        Some(LoadedApp { manifest: app, icon, ai })
    }

    fn ai(&mut self, plugin: &PluginId, app: &AppManifest) -> ResolvedAi {
        let Some(declared) = &app.ai else { return ResolvedAi::default() };
        let file =
            declared.config.as_ref().and_then(|(path, pointer)| self.config(plugin, app, path, pointer));
        let default = self.defaults.layer(plugin, &app.id, app.index).map(|(layer, problems)| {
            self.problems.extend(problems);
            layer
        });
        let mut loaded = LoadedAi {
            merged: merge(&declared.inline, file.as_ref(), default.as_ref()),
            ..LoadedAi::default()
        };
        self.server_files(plugin, app, &mut loaded);
        self.prompt_texts(plugin, app, &mut loaded);
        let (resolved, problems) = resolve(plugin, app, loaded);
        self.problems.extend(problems);
        resolved
    }

    fn config(
        &mut self,
        plugin: &PluginId,
        app: &AppManifest,
        path: &RelPath,
        pointer: &str,
    ) -> Option<AiLayer> {
        let place = Place {
            plugin,
            app: Some((app.index, &app.id)),
            pointer,
            source: Source::Ai,
            dropped: Dropped::Ai,
        };
        let fault = match self.files.read(path.as_str(), limits::CONFIG_BYTES as u64) {
            Err(refusal) => {
                self.refuse(&place, "ai.config", path, refusal);
                return None;
            }
            Ok(Err(size)) => ConfigFault::too_large(size),
            Ok(Ok(bytes)) => match parse_config(&bytes, path.as_str()) {
                Ok(map) => {
                    let app_ref = AppRef { index: app.index, id: Some(app.id.clone()) };
                    let (layer, problems) = parse_layer(&map, path.as_str(), plugin, &app_ref);
                    self.problems.extend(problems);
                    return Some(layer);
                }
                Err(fault) => fault,
            },
        };
        let pointer = format!("{path}#");
        self.report(&Place { pointer: &pointer, ..place }, fault.code, fault.message);
        None
    }

    /// Proves the files `ai.mcp` names; one that cannot be used drops the server.
    fn server_files(&mut self, plugin: &PluginId, app: &AppManifest, loaded: &mut LoadedAi) {
        let Some((decl, _)) = &loaded.merged.mcp else { return };
        let McpTarget::Entry { entry, program, .. } = &decl.target else { return };
        let mut wanted = vec![(entry, "entry", "ai.mcp.entry")];
        if let McpProgram::File(path) = program {
            wanted.push((path, "command", "ai.mcp.command"));
        }
        let mut proven: Vec<String> = Vec::new();
        let mut refused = Vec::new();
        for (path, key, label) in wanted {
            match self.files.prove(path.as_str()) {
                // An address is text: a directory whose name is not cannot be written into one.
                Ok(real) => match real.into_os_string().into_string() {
                    Ok(text) => proven.push(text),
                    Err(_) => refused.push((path.clone(), key, label, Refusal::NotText)),
                },
                Err(refusal) => refused.push((path.clone(), key, label, refusal)),
            }
        }
        if refused.is_empty() {
            let mut proven = proven.into_iter();
            loaded.entry = proven.next();
            loaded.program = proven.next();
            return;
        }
        let pointer = decl.pointer.clone();
        for (path, key, label, refusal) in refused {
            let pointer = format!("{pointer}/{key}");
            let place = Place {
                plugin,
                app: Some((app.index, &app.id)),
                pointer: &pointer,
                source: Source::Ai,
                dropped: Dropped::Ai,
            };
            self.refuse(&place, label, &path, refusal);
        }
        loaded.merged = Merged { mcp: None, ..std::mem::take(&mut loaded.merged) };
    }

    /// Reads the prompt texts; a language that cannot be read is left out.
    fn prompt_texts(&mut self, plugin: &PluginId, app: &AppManifest, loaded: &mut LoadedAi) {
        let Some((decl, _)) = loaded.merged.mcp_prompt.clone() else { return };
        let zh = decl.zh.and_then(|source| self.prompt_text(plugin, app, source, "ai.mcpPrompt.zh"));
        let en = decl.en.and_then(|source| self.prompt_text(plugin, app, source, "ai.mcpPrompt.en"));
        if zh.is_some() || en.is_some() {
            loaded.prompt = Some(PromptText { zh, en });
        }
    }

    fn prompt_text(
        &mut self,
        plugin: &PluginId,
        app: &AppManifest,
        source: PromptSource,
        label: &str,
    ) -> Option<String> {
        let (path, pointer) = match source {
            PromptSource::Inline(text) => return Some(text),
            PromptSource::File { path, pointer } => (path, pointer),
        };
        let place = Place {
            plugin,
            app: Some((app.index, &app.id)),
            pointer: &pointer,
            source: Source::Ai,
            dropped: Dropped::Ai,
        };
        let fault = match self.files.read(path.as_str(), limits::PROMPT_BYTES as u64) {
            Err(refusal) => {
                self.refuse(&place, label, &path, refusal);
                return None;
            }
            Ok(Err(size)) => PromptSource::too_large_file(size, label),
            Ok(Ok(bytes)) => match PromptSource::text_of_file(&bytes, label) {
                Ok(text) => return Some(text),
                Err(fault) => fault,
            },
        };
        self.report(&place, fault.0, fault.1);
        None
    }
}

/// A path as messages show it.
pub(crate) fn shown(path: &Path) -> String {
    visible(&path.to_string_lossy())
}
