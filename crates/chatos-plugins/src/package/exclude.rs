//! What is never installed or packed (plugins §8): left out silently and counted.

/// True for a path below `node_modules` or `.git`, for `.DS_Store`, and for source maps.
pub(crate) fn is_excluded(path: &str) -> bool {
    path.split('/').any(is_excluded_name) || path.to_ascii_lowercase().ends_with(".map")
}

/// True for a name that is left out with everything below it.
pub(crate) fn is_excluded_name(name: &str) -> bool {
    matches!(name, "node_modules" | ".git" | ".DS_Store")
}
