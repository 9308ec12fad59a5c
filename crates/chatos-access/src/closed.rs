//! What stays closed to commands in every mode, also where a parent is open: keys, tokens, what browsers and
//! other agents keep (working-day §1.2).

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Beneath the home directory. A `*` in the last part stands for anything.
const CLOSED: [&str; 55] = [
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".config/gcloud",
    ".kube",
    ".docker/config.json",
    ".config/containers/auth.json",
    ".netrc",
    ".git-credentials",
    ".config/git/credentials",
    ".config/gh",
    ".config/glab-cli",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".cargo/credentials*",
    ".gem/credentials",
    ".m2/settings*.xml",
    ".gradle/gradle.properties",
    ".terraform.d",
    ".vault-token",
    ".config/op",
    ".password-store",
    ".local/share/keyrings",
    // Browsers and mail.
    ".mozilla",
    ".thunderbird",
    ".config/google-chrome*",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge*",
    ".config/vivaldi",
    ".config/opera",
    // What was typed into shells and interpreters.
    ".bash_history",
    ".zsh_history",
    ".*_history",
    ".zsh_sessions",
    ".histfile",
    ".lesshst",
    ".local/share/fish/fish_history",
    ".local/state/bash/history",
    // Other agents.
    ".claude/.credentials.json",
    ".claude.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".local/share/opencode/auth.json",
    ".config/goose",
    // The same where the system keeps it.
    "Library/Keychains",
    "Library/Cookies",
    "Library/Safari",
    "Library/Application Support/Google/Chrome",
    "Library/Application Support/Firefox",
    "Library/Application Support/gcloud",
    "Library/Thunderbird",
    "Library/Mail",
];

/// Variables that put one of these places elsewhere.
const MOVED: [(&str, &str); 4] = [
    ("CARGO_HOME", "credentials*"),
    ("GNUPGHOME", ""),
    ("DOCKER_CONFIG", "config.json"),
    ("GRADLE_USER_HOME", "gradle.properties"),
];

/// The closed places of a person that are there, without links. Around each of them everything is granted by name, so one
/// that is not there would only keep people from what they opened. `variable` reads the person's environment.
pub fn closed<'a>(variable: impl Fn(&str) -> Option<&'a str>) -> Vec<PathBuf> {
    let variable = |name: &str| variable(name).map(Path::new).filter(|path| path.is_absolute());
    let Some(home) = variable("HOME").map(real) else { return Vec::new() };
    let mut all = Vec::new();
    for place in CLOSED {
        expand(&home.join(place), &mut all);
    }
    for (name, place) in MOVED {
        let Some(moved) = variable(name) else { continue };
        if place.is_empty() { all.push(moved.to_owned()) } else { expand(&moved.join(place), &mut all) }
    }
    all.retain(|path| std::fs::symlink_metadata(path).is_ok());
    all.iter().map(|path| real(path)).collect()
}

/// Whether a path is or lies in a closed place.
pub fn is_closed<'a>(path: &Path, variable: impl Fn(&str) -> Option<&'a str>) -> bool {
    let path = real(path);
    closed(variable).iter().any(|closed| path.starts_with(closed))
}

/// The path without links as far as it exists.
pub fn real(path: &Path) -> PathBuf {
    let mut existing = path;
    let mut rest = Vec::new();
    loop {
        if let Ok(found) = std::fs::canonicalize(existing) {
            return rest.iter().rev().fold(found, |path: PathBuf, name: &&OsStr| path.join(name));
        }
        match (existing.parent(), existing.file_name()) {
            (Some(parent), Some(name)) => {
                rest.push(name);
                existing = parent;
            }
            _ => return path.to_owned(),
        }
    }
}

/// A path whose last part may hold a `*`: what is there now.
pub fn expand(pattern: &Path, into: &mut Vec<PathBuf>) {
    let (Some(parent), Some(name)) = (pattern.parent(), pattern.file_name().and_then(OsStr::to_str)) else {
        return;
    };
    let Some((before, after)) = name.split_once('*') else {
        into.push(pattern.to_owned());
        return;
    };
    let Ok(entries) = std::fs::read_dir(parent) else { return };
    let names = entries.flatten().map(|entry| entry.file_name());
    let matching = names.filter(|name| {
        let bytes = name.as_encoded_bytes();
        bytes.len() >= before.len() + after.len()
            && bytes.starts_with(before.as_bytes())
            && bytes.ends_with(after.as_bytes())
    });
    let mut found: Vec<PathBuf> = matching.map(|name| parent.join(name)).collect();
    found.sort();
    into.extend(found);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_and_names_find_what_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        std::fs::create_dir(home.join(".cargo")).unwrap();
        for name in [".cargo/credentials.toml", ".cargo/credentials", ".cargo/config.toml", ".psql_history"] {
            std::fs::write(home.join(name), "x").unwrap();
        }
        let moved = home.join("keys");
        std::fs::create_dir(&moved).unwrap();
        std::fs::create_dir(home.join(".ssh")).unwrap();
        let variable = |name: &str| match name {
            "HOME" => home.to_str(),
            "GNUPGHOME" => moved.to_str(),
            _ => None,
        };
        let all = closed(variable);
        let has = |name: &str| all.contains(&home.join(name));
        assert!(has(".cargo/credentials") && has(".cargo/credentials.toml") && has(".psql_history"));
        assert!(has(".ssh") && !has(".netrc"), "what is there");
        assert!(!has(".cargo/config.toml") && !has(".cargo"));
        assert!(all.contains(&moved));
        assert!(
            is_closed(&home.join(".ssh/config"), variable) && is_closed(&home.join("keys/../.ssh"), variable)
        );
        assert!(!is_closed(&home.join(".cargo"), variable) && !is_closed(&home.join("work"), variable));
    }
}
