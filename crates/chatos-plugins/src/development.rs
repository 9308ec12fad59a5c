//! What counts of a directory under development: what could be installed from it. Modules that were
//! fetched, the history of the sources and what editors and `pack` leave beside them are not watched, not
//! part of its digest, and so reload nothing (devkit §4.6).

use crate::layout::Origin;
use crate::package::is_excluded_name;

/// Decides by the path relative to the plugin whether it is left out, with everything below it.
pub(crate) type Skip = fn(&[u8]) -> bool;

/// What is left out of the digest of a plugin that comes from there: nothing where a person decides by it.
pub(crate) fn skip(origin: Origin) -> Skip {
    match origin {
        Origin::Builtin | Origin::User => nothing,
        Origin::Dev => beside,
    }
}

pub(crate) fn nothing(_: &[u8]) -> bool {
    false
}

/// True for what lies beside the sources.
fn beside(path: &[u8]) -> bool {
    let Ok(path) = std::str::from_utf8(path) else { return false };
    let name = path.rsplit('/').next().unwrap_or(path);
    let package = path.strip_prefix("dist/").is_some_and(|rest| !rest.contains('/') && has_end(rest, ".zip"));
    is_excluded_name(name) || has_end(name, ".map") || package || is_scratch(name)
}

fn has_end(name: &str, end: &str) -> bool {
    name.to_ascii_lowercase().ends_with(end)
}

/// Files that editors write while a person types and take away again.
fn is_scratch(name: &str) -> bool {
    // vim looks with a file of this name whether it may write into the folder.
    const PROBE: &str = "4913";
    let swap = name.starts_with('.') && (has_end(name, ".swp") || has_end(name, ".swx"));
    swap || name == PROBE || name.ends_with('~') || name.starts_with(".#")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_count_and_what_lies_beside_them_does_not() {
        for counts in [
            "plugin.json",
            "apps/a/index.mjs",
            "dist/server.mjs",
            "dist/a/x.zip",
            "data.zip",
            ".chatosignore",
        ] {
            assert!(!beside(counts.as_bytes()), "{counts}");
        }
        for not in [
            "node_modules",
            "a/node_modules",
            ".git",
            "a/.DS_Store",
            "a/x.mjs.map",
            "dist/p-0.1.0.zip",
            "apps/.index.mjs.swp",
            "apps/4913",
            "apps/index.mjs~",
            "apps/.#index.mjs",
        ] {
            assert!(beside(not.as_bytes()), "{not}");
        }
        assert!(!skip(Origin::User)(b"node_modules"), "trust has no exceptions");
    }
}
