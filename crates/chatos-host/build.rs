//! Puts the built-in plugins (`plugins/*/plugin.json`) into the binary as a table of files.
#![expect(clippy::disallowed_methods, reason = "cargo tells a build script its places by variables")]

use std::fmt::Write;
use std::path::{Path, PathBuf};

fn main() {
    let root =
        PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../plugins");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&root).into_iter().flatten().flatten() {
        if entry.path().join("plugin.json").is_file() {
            collect(&root, &entry.path(), &mut files);
        }
    }
    files.sort();
    let mut code = String::from("pub(super) const FILES: &[(&str, &[u8])] = &[\n");
    for (name, path) in &files {
        println!("cargo::rerun-if-changed={}", path.display());
        writeln!(code, "    ({name:?}, include_bytes!({:?})),", path.display().to_string())
            .unwrap_or_default();
    }
    code.push_str("];\n");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default()).join("builtin_plugins.rs");
    if let Err(error) = std::fs::write(&out, code) {
        println!("cargo::error=cannot write {}: {error}", out.display());
    }
}

fn collect(root: &Path, dir: &Path, files: &mut Vec<(String, PathBuf)>) {
    println!("cargo::rerun-if-changed={}", dir.display());
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let name = entry.file_name();
        if path.is_dir() {
            if name != "node_modules" {
                collect(root, &path, files);
            }
        } else if let (Ok(name), Ok(real)) = (path.strip_prefix(root), path.canonicalize()) {
            files.push((name.to_string_lossy().replace('\\', "/"), real));
        }
    }
}
