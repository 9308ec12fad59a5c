//! What a Node program needs beside its own files: the bare imports of its entry and of every module it imports
//! relatively, and where each of them would come from. Nothing is run.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::path::{Path, PathBuf};

use crate::scan::scan_module;
use crate::shared::{SharedPackage, shared_packages};

/// Files looked at for one entry; a program of more is a bundle that imports nothing anyway.
const FILES: usize = 500;
/// Where states were before; some plugins compute it themselves.
const OLDER_PLACE: &str = ".deepseek_cli";
/// Bytes looked at for one entry.
const BYTES: u64 = 16 * 1024 * 1024;

/// What one entry imports that is not a file of the plugin.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Needs {
    /// Packages it takes from ChatOS.
    pub lent: Vec<SharedPackage>,
    /// Packages that are imported and that nobody has.
    pub missing: Vec<Missing>,
    /// Folders outside the plugin that Node would take packages from.
    pub outside: Vec<PathBuf>,
    /// The first module that names the place where states were before (plugins §1.2), below the plugin's folder.
    pub older_place: Option<String>,
}

/// A package that is imported and nowhere to be found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Missing {
    /// As it is written.
    pub specifier: String,
    /// The module that imports it, below the plugin's folder.
    pub from: String,
}

/// Looks at `entry` and what it imports within `root`.
pub fn needs(root: &Path, entry: &Path) -> Needs {
    let (Ok(root), Ok(entry)) = (root.canonicalize(), entry.canonicalize()) else { return Needs::default() };
    let mut names = BTreeSet::new();
    let mut missing = BTreeSet::new();
    let mut outside = BTreeSet::new();
    let mut older_place = None;
    let below = |file: &Path| file.strip_prefix(&root).unwrap_or(file).to_string_lossy().into_owned();
    let mut seen = HashSet::from([entry.clone()]);
    let mut pending = VecDeque::from([entry]);
    let mut left = BYTES;
    while let Some(file) = pending.pop_front() {
        let Some(text) = read_script(&file, &mut left) else { continue };
        if older_place.is_none() && text.contains(OLDER_PLACE) {
            older_place = Some(below(&file));
        }
        let facts = scan_module(&text);
        for specifier in &facts.imports {
            if !specifier.starts_with('.') {
                continue;
            }
            let found = relative(&file, specifier).filter(|found| found.starts_with(&root));
            if let Some(found) = found
                && seen.len() < FILES
                && seen.insert(found.clone())
            {
                pending.push_back(found);
            }
        }
        for specifier in facts.unbundled() {
            let name = package_name(specifier);
            match provider(&file, name) {
                Some(folder) if folder.starts_with(&root) => {}
                Some(folder) => {
                    outside.insert(folder);
                }
                None if shared_packages().iter().any(|package| package.name == name) => {
                    names.insert(name.to_owned());
                }
                None => {
                    missing.insert(Missing { specifier: specifier.to_owned(), from: below(&file) });
                }
            }
        }
    }
    Needs {
        lent: shared_packages().iter().filter(|package| names.contains(&package.name)).cloned().collect(),
        missing: missing.into_iter().collect(),
        outside: outside.into_iter().collect(),
        older_place,
    }
}

/// The text of a module, while there is room for it.
fn read_script(path: &Path, left: &mut u64) -> Option<String> {
    let is_script = path
        .extension()
        .is_some_and(|ending| ["js", "mjs", "cjs"].iter().any(|known| ending.eq_ignore_ascii_case(known)));
    let size = path.metadata().ok().filter(|meta| meta.is_file())?.len();
    if !is_script || size > *left {
        return None;
    }
    *left -= size;
    // What is not UTF-8 is for Node to complain about.
    std::fs::read_to_string(path).ok()
}

/// The file a relative import means; `require` leaves endings out.
fn relative(from: &Path, specifier: &str) -> Option<PathBuf> {
    let plain = specifier.split(['?', '#']).next().unwrap_or(specifier);
    let base = from.parent()?.join(plain);
    let endings = ["", ".js", ".mjs", ".cjs", "/index.js", "/index.mjs", "/index.cjs"];
    endings.iter().find_map(|ending| {
        let mut path = base.clone().into_os_string();
        path.push(ending);
        PathBuf::from(path).canonicalize().ok().filter(|found| found.is_file())
    })
}

fn package_name(specifier: &str) -> &str {
    let parts = if specifier.starts_with('@') { 2 } else { 1 };
    specifier.match_indices('/').nth(parts - 1).map_or(specifier, |(at, _)| &specifier[..at])
}

/// The `node_modules` Node finds this package in: beside the module, or in any folder above it.
fn provider(from: &Path, name: &str) -> Option<PathBuf> {
    from.ancestors()
        .skip(1)
        .map(|folder| folder.join("node_modules"))
        .find(|modules| modules.join(name).is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, name: &str, text: &str) {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn what_is_imported_over_files_is_found_and_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("plugin");
        write(&root, "app/mcp.mjs", "import './lib/a.mjs'; import { z } from 'zod/v4'; import fs from 'fs';");
        write(&root, "app/lib/a.mjs", "import '../mcp.mjs'; import '@scope/pkg/sub'; require('./b');");
        write(&root, "app/lib/b.js", "require('own-thing'); require('../../../elsewhere.mjs')");
        write(&root, "node_modules/own-thing/package.json", "{}");
        write(dir.path(), "elsewhere.mjs", "import 'never-seen'");
        write(dir.path(), "node_modules/@scope/pkg/package.json", "{}");
        let found = needs(&root, &root.join("app/mcp.mjs"));
        assert_eq!(found.lent.iter().map(|package| package.name.as_str()).collect::<Vec<_>>(), ["zod"]);
        assert_eq!(found.missing, []);
        assert_eq!(found.outside, [dir.path().canonicalize().unwrap().join("node_modules")]);

        write(&root, "app/lib/b.js", "require('left-pad')");
        let missing = needs(&root, &root.join("app/mcp.mjs")).missing;
        assert_eq!(missing, [Missing { specifier: "left-pad".into(), from: "app/lib/b.js".into() }]);

        write(&root, "node_modules/zod/package.json", "{}");
        assert!(needs(&root, &root.join("app/mcp.mjs")).lent.is_empty(), "its own copy wins");
        assert_eq!(needs(&root, &root.join("nothing.mjs")), Needs::default());
    }

    #[test]
    fn a_program_of_many_files_ends() {
        let dir = tempfile::tempdir().unwrap();
        for at in 0..700 {
            write(dir.path(), &format!("m{at}.mjs"), &format!("import './m{}.mjs'", at + 1));
        }
        write(dir.path(), "m700.mjs", "import 'zod'");
        assert_eq!(needs(dir.path(), &dir.path().join("m0.mjs")), Needs::default());
        assert_eq!(needs(dir.path(), &dir.path().join("m600.mjs")).lent.len(), 1);
    }

    #[test]
    fn names_of_packages() {
        for (specifier, name) in
            [("zod", "zod"), ("zod/v4", "zod"), ("@a/b", "@a/b"), ("@a/b/c/d.js", "@a/b"), ("@a", "@a")]
        {
            assert_eq!(package_name(specifier), name);
        }
    }
}
