//! Everything a person is shown before deciding about a plugin (plugins §7): the trust page, the
//! details drawer and `chatos plugin trust --show` are this one value.

use std::path::{Component, Path};
use std::sync::Arc;

use chatos_contribution::{Endpoint, ResolvedServer};
use chatos_manifest::url::{Address, HostClass, check};
use chatos_manifest::{Lang, McpProgram, McpTarget};
use chatos_modules::SharedPackage;
use chatos_wire::plugin::{
    ChangedFile, FileDiff, PluginChanges, PluginData, PluginDetails, PluginExposure, PluginFile,
    PluginPrompt, PluginServer,
};
use serde_json::Value;

use crate::digest::TreeFile;
use crate::imports::imports_of;
use crate::layout::Origin;
use crate::listing::{BackendState, Reader, problem_entry};
use crate::load::LoadedApp;
use crate::masking::Masking;
use crate::registry::{AppNames, DIFF_BYTES, Plugin, Registry, Snapshot, is_text, open_plugin_dir};
use crate::trust::{Change, changes};

/// Finding the smallest difference of two hostile files can take minutes; after this time a coarser one
/// is shown.
const DIFF_TIME: std::time::Duration = std::time::Duration::from_millis(100);

impl Registry {
    /// All about one plugin. Its files are read now.
    pub fn details(
        &self,
        snapshot: &Snapshot,
        plugin: &Arc<Plugin>,
        lang: Lang,
        state: BackendState<'_>,
    ) -> PluginDetails {
        let loaded = &plugin.loaded;
        let (files, digest, unreadable) = match self.inventory(plugin) {
            Ok(found) => (found.files, Some(found.digest.to_string()), None),
            Err(error) => (Vec::new(), None, Some(error.to_string())),
        };
        let apps: Vec<(&LoadedApp, Option<&AppNames>)> =
            loaded.apps.iter().zip(&plugin.names).map(|(app, names)| (app, names.as_ref())).collect();
        let imports = imports_of(loaded);
        let lent = imports.lent.iter().map(lent_entry).collect();
        let warned = imports.warnings();
        let data_dir = self.roots().user.data_of(plugin.id());
        PluginDetails {
            dir: loaded.dir.to_string_lossy().into_owned(),
            homepage: loaded.manifest.homepage.clone(),
            license: loaded.manifest.license.clone(),
            capabilities: loaded.manifest.capabilities.clone(),
            digest,
            unreadable,
            file_count: files.len(),
            total_bytes: files.iter().map(|file| file.size).sum(),
            servers: apps.iter().filter_map(|(app, _)| server_details(plugin, app, &data_dir)).collect(),
            exposure: apps.iter().filter_map(|(app, _)| exposure_details(app)).collect(),
            lent,
            prompts: apps.iter().flat_map(|(app, names)| prompt_details(app, *names)).collect(),
            changes: self.change_list(plugin, &files),
            files: files
                .iter()
                .map(|file| PluginFile {
                    path: file.path.clone(),
                    size: file.size,
                    executable: file.executable,
                })
                .collect(),
            overrides_builtin: loaded.origin == Origin::User && plugin.shadows == Some(Origin::Builtin),
            data: PluginData {
                exists: std::fs::symlink_metadata(&data_dir).is_ok(),
                bytes: size_of(&data_dir),
                dir: data_dir.to_string_lossy().into_owned(),
            },
            problems: snapshot
                .problems
                .iter()
                .filter(|problem| problem.dir.as_deref() == Some(loaded.dir.to_string_lossy().as_ref()))
                .chain(&warned)
                .map(|problem| problem_entry(problem, lang, Reader::Person))
                .collect(),
            plugin: self.entry(plugin, Reader::Person, state),
        }
    }

    /// `None` without a record; an unreadable record is shown as "everything is new".
    fn change_list(&self, plugin: &Plugin, files: &[TreeFile]) -> Option<PluginChanges> {
        if plugin.loaded.origin != Origin::User || plugin.trust.decided_at.is_none() {
            return None;
        }
        let trusted = self.trust_store().files(plugin.id()).unwrap_or_default();
        let mut list = PluginChanges::default();
        for change in changes(&trusted, files) {
            let modes = match (change.old_executable, change.new_executable) {
                (Some(then), Some(now)) if then != now => (Some(then), Some(now)),
                (None, Some(true)) => (None, Some(true)),
                _ => (None, None),
            };
            let file = |size: Option<u64>, old_size| ChangedFile {
                path: change.path.clone(),
                size: size.unwrap_or_default(),
                old_size,
                executable: modes.1,
                old_executable: modes.0,
            };
            match change.change {
                Change::Added => list.added.push(file(change.new_size, None)),
                Change::Removed => list.removed.push(file(change.old_size, None)),
                Change::Changed => list.changed.push(file(change.new_size, change.old_size)),
            }
        }
        Some(list)
    }

    /// One file as it was trusted and as it is (plugins §7: text up to 256 KiB).
    pub fn file_diff(&self, plugin: &Plugin, path: &str) -> std::io::Result<Option<FileDiff>> {
        let trusted = self.trust_store().files(plugin.id()).unwrap_or_default();
        let old_file = trusted.iter().find(|file| file.path == path);
        let new = read_file(&plugin.loaded.dir, path)?;
        if old_file.is_none() && new == Side::Absent {
            return Ok(None);
        }
        let old = match old_file {
            None => Side::Absent,
            Some(file) if file.size > DIFF_BYTES => Side::TooLarge,
            Some(file) => match self.trust_store().text(&file.sha256) {
                Ok(Some(bytes)) => Side::of(bytes),
                Ok(None) | Err(_) => Side::Unavailable,
            },
        };
        let masking = Masking::of(&plugin.loaded);
        Ok(Some(diff(path, old.masked(&masking), new.masked(&masking))))
    }
}

/// One side of a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Side {
    Absent,
    Text(String),
    Binary,
    TooLarge,
    Unavailable,
}

impl Side {
    fn of(bytes: Vec<u8>) -> Self {
        if !is_text(&bytes) {
            return Side::Binary;
        }
        String::from_utf8(bytes).map_or(Side::Binary, Side::Text)
    }

    fn masked(self, masking: &Masking) -> Self {
        match self {
            Side::Text(text) => Side::Text(masking.apply(text)),
            other => other,
        }
    }

    fn text(&self) -> Option<&str> {
        match self {
            Side::Text(text) => Some(text),
            _ => None,
        }
    }
}

fn diff(path: &str, old: Side, new: Side) -> FileDiff {
    let kind = [(Side::TooLarge, "too_large"), (Side::Binary, "binary"), (Side::Unavailable, "unavailable")]
        .into_iter()
        .find(|(side, _)| old == *side || new == *side)
        .map_or("text", |(_, kind)| kind);
    let unified = (kind == "text").then(|| {
        let (a, b) = (old.text().unwrap_or_default(), new.text().unwrap_or_default());
        similar::TextDiff::configure()
            .timeout(DIFF_TIME)
            .diff_lines(a, b)
            .unified_diff()
            .header(&format!("a/{path}"), &format!("b/{path}"))
            .to_string()
    });
    FileDiff {
        path: path.to_owned(),
        kind: kind.to_owned(),
        old_text: old.text().map(str::to_owned),
        new_text: new.text().map(str::to_owned),
        unified,
    }
}

/// Reads a file of a plugin for display: a regular file beneath its directory, links not followed.
fn read_file(dir: &Path, path: &str) -> std::io::Result<Side> {
    use std::io::Read;
    let relative = Path::new(path);
    if path.is_empty() || !relative.components().all(|part| matches!(part, Component::Normal(_))) {
        return Ok(Side::Absent);
    }
    let root = open_plugin_dir(dir)?;
    let mut found = Side::Absent;
    crate::tree::walk(std::os::fd::AsFd::as_fd(&root), &mut |entry| {
        if entry.path == path.as_bytes() && entry.kind == rustix::fs::FileType::RegularFile {
            if entry.stat.st_size as u64 > DIFF_BYTES {
                found = Side::TooLarge;
                return Ok(());
            }
            let mut bytes = Vec::new();
            entry.open()?.take(DIFF_BYTES + 1).read_to_end(&mut bytes)?;
            found = Side::of(bytes);
        }
        Ok(())
    })?;
    Ok(found)
}

fn server_details(plugin: &Plugin, app: &LoadedApp, data_dir: &Path) -> Option<PluginServer> {
    let server = app.ai.as_ref()?.mcp.as_ref()?;
    let decl = &server.decl;
    let (argv, class) = match &server.endpoint {
        Endpoint::Command { argv } => (Some(argv.clone()), None),
        Endpoint::Network { class } => (None, Some(*class)),
    };
    let auth_hosts = match (decl.auth.is_some(), check(&server.url)) {
        (true, Ok(Address::Network { host, .. })) => vec![host],
        _ => Vec::new(),
    };
    Some(PluginServer {
        app_id: app.manifest.id.to_string(),
        name: chatos_contribution::server_name(plugin.id(), &app.manifest.id),
        url: argv.is_none().then(|| server.url.clone()),
        host_class: class.map(|class| host_word(class).to_owned()),
        unusual_command: is_unusual(server),
        argv,
        auth_hosts,
        enabled: decl.enabled.unwrap_or(true),
        allow_main: decl.allow_main.unwrap_or(true),
        allow_sub: decl.allow_sub.unwrap_or(true),
        workdir_outside: decl
            .call_meta
            .as_ref()
            .and_then(|meta| workdir_outside(meta.get("workdir")?, data_dir)),
    })
}

/// A package and its version, as people write it.
fn lent_entry(package: &SharedPackage) -> String {
    format!("{} {}", package.name, package.version)
}

fn host_word(class: HostClass) -> &'static str {
    match class {
        HostClass::Public => "public",
        HostClass::Loopback => "loopback",
        HostClass::Private => "private",
        HostClass::LinkLocal => "link_local",
    }
}

fn is_unusual(server: &ResolvedServer) -> bool {
    match (&server.decl.target, &server.endpoint) {
        (McpTarget::Entry { program, .. }, _) => *program != McpProgram::Name("node".to_owned()),
        (McpTarget::Url { .. }, Endpoint::Command { argv }) => {
            argv.first().is_none_or(|program| program != "node")
        }
        (McpTarget::Url { .. }, Endpoint::Network { .. }) => false,
    }
}

/// A `workdir` that is neither below the data directory nor below the project (security T17).
fn workdir_outside(workdir: &Value, data_dir: &Path) -> Option<String> {
    let Value::String(text) = workdir else { return Some(workdir.to_string()) };
    let stays = |rest: &str| {
        (rest.is_empty() || rest.starts_with('/'))
            && !rest.split('/').any(|part| part == "..")
            && !rest.contains('$')
    };
    let by_variable =
        ["$dataDir", "$projectRoot"].iter().any(|name| text.strip_prefix(name).is_some_and(stays));
    let by_path = text.strip_prefix(data_dir.to_string_lossy().as_ref()).is_some_and(stays);
    (!by_variable && !by_path).then(|| text.clone())
}

fn exposure_details(app: &LoadedApp) -> Option<PluginExposure> {
    let ai = app.ai.as_ref()?;
    // Serialising null, true or names cannot fail.
    let value = |exposed| serde_json::to_value(exposed).unwrap_or(Value::Null);
    Some(PluginExposure {
        app_id: app.manifest.id.to_string(),
        mcp_servers: value(&ai.mcp_servers.exposed),
        prompts: value(&ai.prompts.exposed),
    })
}

fn prompt_details(app: &LoadedApp, names: Option<&AppNames>) -> Vec<PluginPrompt> {
    let (Some(prompt), Some(names)) = (app.ai.as_ref().and_then(|ai| ai.prompt.as_ref()), names) else {
        return Vec::new();
    };
    [("zh", &names.prompts.zh, &prompt.text.zh), ("en", &names.prompts.en, &prompt.text.en)]
        .into_iter()
        .filter_map(|(language, name, text)| {
            Some(PluginPrompt {
                app_id: app.manifest.id.to_string(),
                language: language.to_owned(),
                name: name.clone(),
                title: prompt.title.clone(),
                bytes: text.as_ref()?.len(),
            })
        })
        .collect()
}

/// Entries looked at when a data directory is measured; it is only a number to show.
const MEASURED: usize = 100_000;

/// Bytes of the files below a directory, links not followed.
fn size_of(dir: &Path) -> u64 {
    let mut total = 0;
    let mut seen = 0;
    let mut pending = vec![dir.to_owned()];
    while let Some(path) = pending.pop() {
        // What cannot be listed is not counted; the number is for display.
        let Ok(entries) = std::fs::read_dir(&path) else { continue };
        for entry in entries.flatten() {
            seen += 1;
            if seen > MEASURED {
                return total;
            }
            match entry.metadata() {
                Ok(meta) if meta.is_dir() => pending.push(entry.path()),
                Ok(meta) if meta.is_file() => total += meta.len(),
                _ => {}
            }
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn which_workdirs_are_worth_a_line() {
        let data = Path::new("/s/ui_apps/data/com.example.x");
        for inside in [
            "$dataDir",
            "$dataDir/work",
            "$projectRoot",
            "$projectRoot/a/b",
            "/s/ui_apps/data/com.example.x/y",
        ] {
            assert_eq!(workdir_outside(&json!(inside), data), None, "{inside}");
        }
        for outside in [
            "$dataDir/..",
            "$dataDirX",
            "$projectRoot/../x",
            "/",
            "/etc",
            "$stateDir",
            "relative",
            "$dataDir/$sessionRoot",
            "/s/ui_apps/data/com.example.xy",
        ] {
            assert_eq!(workdir_outside(&json!(outside), data).as_deref(), Some(outside));
        }
        assert_eq!(workdir_outside(&json!(5), data).as_deref(), Some("5"));
    }
}
