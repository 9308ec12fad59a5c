//! Building plugin directories and hosts for tests.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chatos_contribution::DefaultLists;
use chatos_manifest::{PluginId, Problem};
use chatos_plugins::{MemoryTrust, Refresh, Registry, Roots, Snapshot, TrustStore, UiApps};
use serde_json::{Value, json};

/// The minimal manifest of seed 001 §8.1.
pub(crate) const MINIMAL: &str = r#"{
  "manifestVersion": 1,
  "id": "com.example.tools",
  "name": "Example Tools",
  "version": "0.1.0",
  "apps": [
    {
      "id": "hello",
      "name": "Hello App（Module）",
      "entry": { "type": "module", "path": "hello/index.mjs" }
    }
  ]
}"#;

/// A directory in memory where there is one: these tests sync thousands of times.
pub(crate) fn tempdir() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Writes files; a name ending in `*` is made executable (without the star).
pub(crate) fn write_files(dir: &Path, files: &[(&str, &str)]) {
    for (name, content) in files {
        let (name, executable) = name.strip_suffix('*').map_or((*name, false), |name| (name, true));
        let path = dir.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        let mode = if executable { 0o755 } else { 0o644 };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }
}

/// A plugin with one app per name, each with its entry file.
pub(crate) fn simple(dir: &Path, id: &str, apps: &[&str]) {
    let list: Vec<Value> =
        apps.iter().map(|app| json!({"id": app, "name": app, "entry": format!("{app}.mjs")})).collect();
    let manifest = json!({"id": id, "name": id, "version": "1", "apps": list}).to_string();
    write_files(dir, &[("plugin.json", &manifest)]);
    for app in apps {
        write_files(dir, &[(&format!("{app}.mjs"), "export function mount() {}\n")]);
    }
}

/// A state directory with a registry over it.
pub(crate) struct World {
    pub(crate) temp: tempfile::TempDir,
    pub(crate) trust: Arc<MemoryTrust>,
    pub(crate) registry: Arc<Registry>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with_defaults(&[])
    }

    pub(crate) fn with_defaults(lists: &[(&str, &str)]) -> Self {
        let temp = tempdir();
        let user = UiApps::of_state_dir(temp.path());
        user.prepare().unwrap();
        fs::create_dir(temp.path().join("builtin")).unwrap();
        let trust = Arc::new(MemoryTrust::default());
        let registry = open(temp.path(), Arc::clone(&trust), lists, &[]);
        Self { temp, trust, registry }
    }

    /// The same state as a new process would see it.
    pub(crate) fn restart(&mut self) {
        self.registry = open(self.temp.path(), Arc::clone(&self.trust), &[], &[]);
    }

    pub(crate) fn restart_with_dev(&mut self, dev: &[PathBuf]) {
        self.registry = open(self.temp.path(), Arc::clone(&self.trust), &[], dev);
    }

    pub(crate) fn ui_apps(&self) -> UiApps {
        UiApps::of_state_dir(self.temp.path())
    }

    /// A directory in the user root.
    pub(crate) fn user(&self, name: &str) -> PathBuf {
        self.ui_apps().plugins().join(name)
    }

    pub(crate) fn builtin(&self, name: &str) -> PathBuf {
        self.temp.path().join("builtin").join(name)
    }

    pub(crate) fn scan(&self) -> Arc<Snapshot> {
        self.registry.refresh(&Refresh::Check)
    }

    /// Trusts what is on disk now.
    pub(crate) fn trust(&self, id: &str) {
        let id = PluginId::parse(id).unwrap();
        let snapshot = self.scan();
        let digest = self.registry.digest(snapshot.plugin_for_person(&id).unwrap()).unwrap();
        self.registry.trust(&id, &digest, "test", 1_768_089_600_000).unwrap();
    }
}

/// A registry over an existing state directory, for a child process.
pub(crate) fn open_existing(state: &Path) -> Arc<Registry> {
    open(state, Arc::default(), &[], &[])
}

fn open(state: &Path, trust: Arc<MemoryTrust>, lists: &[(&str, &str)], dev: &[PathBuf]) -> Arc<Registry> {
    let roots =
        Roots { builtin: Some(state.join("builtin")), user: UiApps::of_state_dir(state), dev: dev.to_vec() };
    let defaults =
        DefaultLists::new(lists.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())));
    Arc::new(Registry::open(roots, trust as Arc<dyn TrustStore>, defaults))
}

/// `code path` of each problem.
pub(crate) fn codes(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(|problem| format!("{} {}", problem.code, problem.path)).collect()
}

pub(crate) fn id(text: &str) -> PluginId {
    PluginId::parse(text).unwrap()
}

/// Every path below `dir` with type, mode and content, to compare whole trees.
pub(crate) fn tree(dir: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    walk(dir, dir, &mut found);
    found.sort();
    found
}

fn walk(root: &Path, dir: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
        let meta = fs::symlink_metadata(&path).unwrap();
        let mode = meta.permissions().mode() & 0o7777;
        if meta.is_dir() {
            walk(root, &path, found);
        } else if meta.is_file() {
            let content = fs::read(&path).unwrap();
            let shown = if content.len() > 64 {
                format!("{} bytes", content.len())
            } else {
                String::from_utf8_lossy(&content).into_owned()
            };
            found.push((name, format!("{mode:o} {shown}")));
        } else {
            found.push((name, format!("special {mode:o}")));
        }
    }
}
