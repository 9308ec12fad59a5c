//! Where the program of a language server is: the search path, the places version managers put programs, and what
//! a project brought with its own packages.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Beneath the home directory; `*` stands for the newest version.
const MANAGED: [&str; 15] = [
    ".local/bin",
    ".cargo/bin",
    "go/bin",
    ".nvm/versions/node/*/bin",
    ".local/share/fnm/node-versions/*/installation/bin",
    ".volta/bin",
    ".asdf/shims",
    ".local/share/mise/shims",
    ".pyenv/shims",
    ".rbenv/shims",
    ".dotnet/tools",
    ".bun/bin",
    ".npm-global/bin",
    ".local/share/pnpm",
    ".local/share/nvim/mason/bin",
];

/// What a project brings itself; used only inside a boundary.
const PROJECT: [&str; 3] = ["node_modules/.bin", ".venv/bin", "venv/bin"];

/// A program, where there is one. `project` is a folder whose own programs may be used.
pub fn program(
    command: &str,
    variables: &BTreeMap<String, String>,
    project: Option<&Path>,
) -> Option<PathBuf> {
    if command.contains('/') {
        let path = PathBuf::from(command);
        return (path.is_absolute() && is_program(&path)).then_some(path);
    }
    let own = project.into_iter().flat_map(|folder| PROJECT.iter().map(|place| folder.join(place)));
    let path = variables.get("PATH").map(String::as_str).unwrap_or("/usr/local/bin:/usr/bin:/bin");
    let named = path.split(':').map(PathBuf::from).filter(|path| path.is_absolute());
    let home = variables.get("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let managed = home.iter().flat_map(|home| MANAGED.iter().filter_map(|place| managed(home, place)));
    let mut all = own.chain(named).chain(managed).map(|folder| folder.join(command));
    all.find(|path| is_program(path) && !is_empty_proxy(path, variables))
}

/// rustup puts a program of every name it knows beside itself; without the component it only complains.
fn is_empty_proxy(path: &Path, variables: &BTreeMap<String, String>) -> bool {
    let same = |path: &Path| std::fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()));
    let (Some(own), Some(name)) = (same(path), path.file_name()) else { return false };
    if name == "rustup" || same(&path.with_file_name("rustup")) != Some(own) {
        return false;
    }
    let rustup = variables.get("RUSTUP_HOME").map(PathBuf::from);
    let rustup = rustup.or_else(|| Some(PathBuf::from(variables.get("HOME")?).join(".rustup")));
    let toolchains = rustup.and_then(|home| std::fs::read_dir(home.join("toolchains")).ok());
    !toolchains.into_iter().flatten().flatten().any(|one| one.path().join("bin").join(name).is_file())
}

fn managed(home: &Path, place: &str) -> Option<PathBuf> {
    let Some((before, after)) = place.split_once("/*/") else { return Some(home.join(place)) };
    let versions = std::fs::read_dir(home.join(before)).ok()?.flatten();
    let newest =
        versions.map(|entry| entry.file_name()).max_by_key(|name| version(&name.to_string_lossy()))?;
    Some(home.join(before).join(newest).join(after))
}

fn version(name: &str) -> Vec<u64> {
    name.trim_start_matches('v').split('.').map(|part| part.parse().unwrap_or(0)).collect()
}

fn is_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// What runs a script: named in its first line, or looked for in the search path where `env` is.
fn interpreter(script: &Path, variables: &BTreeMap<String, String>) -> Option<PathBuf> {
    let mut head = [0; 256];
    let length = std::fs::File::open(script).and_then(|mut file| file.read(&mut head)).ok()?;
    let line = head[..length].strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let mut words = std::str::from_utf8(line).ok()?.split_whitespace();
    let first = words.next()?;
    if !first.ends_with("/env") {
        return Some(PathBuf::from(first));
    }
    let name = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
    program(name, variables, None)
}

/// What has to be readable for a program to run: where it, what runs it and their libraries lie.
pub(crate) fn surroundings(
    program: &Path,
    variables: &BTreeMap<String, String>,
    reads: &[String],
) -> Vec<PathBuf> {
    let home = variables.get("HOME").map(PathBuf::from);
    let home = home.as_deref();
    let mut all: Vec<PathBuf> = Vec::new();
    let runs = interpreter(program, variables);
    let own = [Some(program.to_path_buf()), runs].into_iter().flatten();
    let paths: Vec<PathBuf> =
        own.flat_map(|path| [std::fs::canonicalize(&path).ok(), Some(path)]).flatten().collect();
    for path in &paths {
        // Packages of one manager lie side by side and need each other.
        let packages =
            path.ancestors().filter(|place| place.file_name().is_some_and(|name| name == "node_modules"));
        all.extend(packages.last().map(Path::to_path_buf));
        let Some(folder) = path.parent() else { continue };
        all.push(folder.to_path_buf());
        // `…/v22/bin` belongs to `…/v22`; a folder that holds more than one installation is not opened.
        let shared = |place: &Path| {
            home.is_some_and(|home| home.starts_with(place) || place.parent() == Some(home))
                || place.parent().is_none()
        };
        let prefix = folder.parent().filter(|place| folder.ends_with("bin") && !shared(place));
        all.extend(prefix.map(Path::to_path_buf));
    }
    all.extend(home.into_iter().flat_map(|home| reads.iter().map(|place| home.join(place))));
    all.retain(|path| path.exists());
    all.sort();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn programs_are_found_where_people_have_them() {
        let dir = tempfile::tempdir().unwrap();
        let (home, project) = (dir.path().join("home"), dir.path().join("project"));
        let variables: BTreeMap<String, String> = [
            ("HOME".to_owned(), home.display().to_string()),
            ("PATH".to_owned(), format!("{}:relative", dir.path().join("bin").display())),
        ]
        .into();
        let find = |project: Option<&Path>| program("ls-x", &variables, project);
        assert_eq!(find(Some(&project)), None);
        put(&home.join(".nvm/versions/node/v9.1.0/bin/ls-x"));
        put(&home.join(".nvm/versions/node/v22.10.1/bin/ls-x"));
        assert_eq!(find(None), Some(home.join(".nvm/versions/node/v22.10.1/bin/ls-x")));
        put(&dir.path().join("bin/ls-x"));
        assert_eq!(find(None), Some(dir.path().join("bin/ls-x")));
        put(&project.join("node_modules/.bin/ls-x"));
        assert_eq!(
            find(None),
            Some(dir.path().join("bin/ls-x")),
            "a project's programs are not used unasked"
        );
        assert_eq!(find(Some(&project)), Some(project.join("node_modules/.bin/ls-x")));
        put(&home.join(".cargo/bin/rustup"));
        std::fs::hard_link(home.join(".cargo/bin/rustup"), home.join(".cargo/bin/rust-x")).unwrap();
        assert_eq!(program("rust-x", &variables, None), None, "a proxy of what is not installed");
        put(&home.join(".rustup/toolchains/stable/bin/rust-x"));
        assert_eq!(program("rust-x", &variables, None), Some(home.join(".cargo/bin/rust-x")));
        std::fs::write(dir.path().join("plain"), "x").unwrap();
        assert_eq!(program(dir.path().join("plain").to_str().unwrap(), &variables, None), None);
        assert_eq!(program("bin/ls-x", &variables, None), None);
    }

    #[test]
    fn only_what_a_program_needs_is_opened() {
        let dir = tempfile::tempdir().unwrap();
        let home = std::fs::canonicalize(dir.path()).unwrap();
        put(&home.join(".nvm/versions/node/v22/lib/node_modules/x/cli.js"));
        std::fs::create_dir_all(home.join(".nvm/versions/node/v22/bin")).unwrap();
        let link = home.join(".nvm/versions/node/v22/bin/x");
        std::os::unix::fs::symlink(home.join(".nvm/versions/node/v22/lib/node_modules/x/cli.js"), &link)
            .unwrap();
        let variables: BTreeMap<String, String> = [("HOME".to_owned(), home.display().to_string())].into();
        let all = surroundings(&link, &variables, &[".cargo/bin".to_owned()]);
        assert!(all.contains(&home.join(".nvm/versions/node/v22/lib/node_modules")));
        assert!(all.contains(&home.join(".nvm/versions/node/v22")));
        assert!(!all.contains(&home.join(".cargo/bin")), "what is not there needs nothing");
        put(&home.join(".local/bin/y"));
        let all = surroundings(&home.join(".local/bin/y"), &variables, &[]);
        assert!(all.contains(&home.join(".local/bin")));
        assert!(!all.contains(&home.join(".local")), "~/.local holds more than programs");
        // A script of a virtual environment is run by what that environment is made of.
        put(&home.join(".pyenv/versions/3.11/bin/python3"));
        put(&home.join("tools/.venv/bin/z"));
        let python = home.join("tools/.venv/bin/python");
        std::os::unix::fs::symlink(home.join(".pyenv/versions/3.11/bin/python3"), &python).unwrap();
        std::fs::write(home.join("tools/.venv/bin/z"), format!("#!{}\nprint()\n", python.display())).unwrap();
        let all = surroundings(&home.join("tools/.venv/bin/z"), &variables, &[]);
        assert!(all.contains(&home.join("tools/.venv")));
        assert!(all.contains(&home.join(".pyenv/versions/3.11")));
    }
}
