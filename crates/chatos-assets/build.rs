//! Writes the tables of embedded files: `ui/dist` as it was built, every folder of `plugins/` with a
//! `plugin.json`, the templates of new plugins, and the types that go with them. Of a file of the page that was
//! built with a compressed copy beside it (`<name>.gz`) only the copy is embedded.
#![expect(clippy::disallowed_methods, reason = "cargo tells a build script its places by variables")]

use std::fmt::Write;
use std::path::{Path, PathBuf};

fn main() {
    let project = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../..");
    let plugins = project.join("plugins");
    println!("cargo::rerun-if-changed={}", plugins.display());
    let with_manifest: Vec<PathBuf> = std::fs::read_dir(&plugins)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|folder| folder.join("plugin.json").is_file())
        .collect();
    let page = project.join("ui/dist");
    let mut code = String::new();
    table(&mut code, "PLUGINS", &plugins, &with_manifest);
    let templates = plugins.join("templates");
    table(&mut code, "TEMPLATES", &templates, std::slice::from_ref(&templates));
    table(&mut code, "TYPES", &project, &[project.join("sdk"), project.join("docs/schemas")]);
    table(&mut code, "PAGE", &page, std::slice::from_ref(&page));
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default()).join("files.rs");
    if let Err(error) = std::fs::write(&out, code) {
        println!("cargo::error=cannot write {}: {error}", out.display());
    }
}

/// Adds one constant: the files below `folders`, named from `root`.
fn table(code: &mut String, name: &str, root: &Path, folders: &[PathBuf]) {
    let mut files = Vec::new();
    for folder in folders {
        collect(root, folder, &mut files);
    }
    files.sort();
    if name == "PAGE" {
        let packed: Vec<String> =
            files.iter().filter_map(|(name, _)| name.strip_suffix(".gz").map(str::to_owned)).collect();
        files.retain(|(name, _)| !packed.contains(name));
    }
    let _ = writeln!(code, "pub(super) const {name}: super::Files = &[");
    for (name, path) in &files {
        println!("cargo::rerun-if-changed={}", path.display());
        let _ = writeln!(code, "    ({name:?}, include_bytes!({:?})),", path.display().to_string());
    }
    code.push_str("];\n");
}

fn collect(root: &Path, dir: &Path, files: &mut Vec<(String, PathBuf)>) {
    println!("cargo::rerun-if-changed={}", dir.display());
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            if entry.file_name() != "node_modules" {
                collect(root, &path, files);
            }
        } else if let (Ok(name), Ok(real)) = (path.strip_prefix(root), path.canonicalize()) {
            files.push((name.to_string_lossy().replace('\\', "/"), real));
        }
    }
}
