//! A home that has been lived in: Git's configuration with includes and signing, version managers, and a canary in every
//! place that is closed to commands (working-day §13).

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// What stands in closed places; nobody but their owner may ever see it.
pub const CANARY: &str = "canary-of-the-home";

/// Closed places with something in them (working-day §1.2).
pub const CANARIES: [&str; 44] = [
    ".ssh/id_ed25519",
    ".gnupg/private-keys-v1.d/a.key",
    ".aws/credentials",
    ".azure/accessTokens.json",
    ".config/gcloud/credentials.db",
    ".kube/config",
    ".docker/config.json",
    ".config/containers/auth.json",
    ".netrc",
    ".git-credentials",
    ".config/git/credentials",
    ".config/gh/hosts.yml",
    ".config/glab-cli/config.yml",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".cargo/credentials.toml",
    ".cargo/credentials",
    ".gem/credentials",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    ".terraform.d/credentials.tfrc.json",
    ".vault-token",
    ".config/op/config",
    ".password-store/a.gpg",
    ".local/share/keyrings/login.keyring",
    ".mozilla/firefox/p/logins.json",
    ".thunderbird/p/logins.json",
    ".config/google-chrome-beta/Default/Cookies",
    ".config/chromium/Default/Cookies",
    ".config/BraveSoftware/Cookies",
    ".config/microsoft-edge/Cookies",
    ".config/vivaldi/Default/Cookies",
    ".config/opera/Cookies",
    ".bash_history",
    ".zsh_history",
    ".psql_history",
    ".claude/.credentials.json",
    ".claude.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".local/share/opencode/auth.json",
    ".config/goose/secrets.yaml",
];

const GITCONFIG: &str = "\
[user]
\tname = Somebody
\temail = somebody@example.com
[include]
\tpath = .config/git/more
[includeIf \"gitdir:~/\"]
\tpath = ~/.gitconfig-home
[commit]
\tgpgsign = true
[tag]
\tgpgsign = true
[alias]
\tst = status --short
[init]
\tdefaultBranch = main
[core]
\texcludesFile = ~/.gitignore_global
[safe]
\tdirectory = *
";

fn must<T>(what: &str, done: std::io::Result<T>) -> T {
    done.unwrap_or_else(|error| panic!("{what}: {error}"))
}

/// Writes a file and the directories it lies in.
pub fn put(base: &Path, name: &str, text: &str) -> PathBuf {
    let path = base.join(name);
    must(name, path.parent().map_or(Ok(()), std::fs::create_dir_all));
    must(name, std::fs::write(&path, text));
    path
}

/// As [`put`], and it can be run.
pub fn put_program(base: &Path, name: &str, text: &str) {
    let path = put(base, name, text);
    must(name, std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)));
}

/// A variable of whoever runs the tests.
#[expect(clippy::disallowed_methods, reason = "what the machine has is put into the home of a test")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// A program of the machine.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = variable("PATH")?;
    std::env::split_paths(&path).map(|place| place.join(name)).find(|path| path.is_file())
}

/// A canary in every closed place, and among what npm and pip are set to.
pub fn put_canaries(home: &Path) {
    for name in CANARIES {
        put(home, name, &format!("{CANARY}\n"));
    }
    put(home, ".npmrc", &format!("fund=false\n//registry.example/:_authToken={CANARY}\n"));
    put(home, ".config/pip/pip.conf", &format!("[global]\nindex-url = https://me:{CANARY}@pypi.example/\n"));
}

/// Git's configuration: what it includes counts, and commits are to be signed.
pub fn put_git(home: &Path) {
    put(home, ".gitconfig", GITCONFIG);
    put(home, ".config/git/more", "[pull]\n\trebase = true\n");
    put(home, ".gitconfig-home", "[color]\n\tui = never\n");
    put(home, ".gitignore_global", "*.ignored\n");
}

/// nvm with a version of Node, whose programs are links into the system; what stands on the search path for it, or
/// `None` where the machine's Node lies elsewhere.
pub fn put_nvm(home: &Path) -> Option<PathBuf> {
    let of_the_system = |name: &str| {
        let real = program(name)?.canonicalize().ok()?;
        (real.starts_with("/usr") || real.starts_with("/opt")).then_some(real)
    };
    let (node, npm) = (of_the_system("node")?, of_the_system("npm")?);
    let bin = home.join(".nvm/versions/node/v1.0.0/bin");
    must("nvm", std::fs::create_dir_all(&bin));
    must("node", symlink(node, bin.join("node")));
    must("npm", symlink(npm, bin.join("npm")));
    put_program(home, ".nvm/versions/node/v1.0.0/lib/tool.sh", "#!/bin/sh\necho from-nvm\n");
    must("a tool", symlink("../lib/tool.sh", bin.join("own-tool")));
    Some(bin)
}

/// pyenv, as it lays itself out: a shim calls the program, which looks for the version.
pub fn put_pyenv(home: &Path) -> Option<PathBuf> {
    if !Path::new("/usr/bin/python3").is_file() {
        return None;
    }
    let root = home.join(".pyenv");
    let shim = format!(
        "#!/bin/sh\nexport PYENV_ROOT='{0}'\nexec '{0}/libexec/pyenv' exec python3 \"$@\"\n",
        root.display()
    );
    put_program(&root, "shims/python3", &shim);
    put_program(
        &root,
        "libexec/pyenv",
        "#!/bin/sh\nshift\nread -r version < \"$PYENV_ROOT/version\"\nname=$1; shift\nexec \"$PYENV_ROOT/versions/$version/bin/$name\" \"$@\"\n",
    );
    put(&root, "version", "3.1\n");
    must("pyenv", std::fs::create_dir_all(root.join("versions/3.1/bin")));
    must("python3", symlink("/usr/bin/python3", root.join("versions/3.1/bin/python3")));
    Some(root.join("shims"))
}

/// Where cargo keeps what it downloaded, on this machine.
pub fn registry() -> Option<PathBuf> {
    Some(cargo_home()?.join("registry")).filter(|place| place.is_dir())
}

fn cargo_home() -> Option<PathBuf> {
    let usual = || variable("HOME").map(|home| Path::new(&home).join(".cargo"));
    variable("CARGO_HOME").map(PathBuf::from).or_else(usual)
}

/// rustup with a linked toolchain of the machine.
pub fn put_rustup(home: &Path) -> Option<PathBuf> {
    let usual = || variable("HOME").map(|home| Path::new(&home).join(".rustup"));
    let rustup = variable("RUSTUP_HOME").map(PathBuf::from).or_else(usual)?;
    let program = cargo_home()?.join("bin/rustup");
    let mut toolchains = std::fs::read_dir(rustup.join("toolchains")).ok()?.flatten();
    let toolchain = toolchains.find(|one| one.path().join("bin/cargo").is_file())?.path();
    if !program.is_file() {
        return None;
    }
    let bin = home.join(".cargo/bin");
    must("rustup", std::fs::create_dir_all(home.join(".rustup/toolchains")));
    must("cargo", std::fs::create_dir_all(&bin));
    must("a toolchain", symlink(toolchain, home.join(".rustup/toolchains/mine")));
    let settings = "version = \"12\"\ndefault_toolchain = \"mine\"\nprofile = \"default\"\n\n[overrides]\n";
    put(home, ".rustup/settings.toml", settings);
    for name in ["rustup", "cargo", "rustc", "rustdoc"] {
        must(name, std::fs::copy(&program, bin.join(name)));
    }
    Some(bin)
}

/// A crate without dependencies that was downloaded once, with what cargo needs to find it offline.
pub struct CachedCrate {
    name: String,
    version: String,
    files: Vec<(PathBuf, Vec<u8>)>,
}

impl CachedCrate {
    /// One of this machine.
    pub fn find() -> Option<Self> {
        let registry = registry()?;
        let mut indexes = std::fs::read_dir(registry.join("index")).ok()?.flatten();
        let index = indexes.find(|entry| entry.path().join(".cache/cf/g-/cfg-if").is_file())?;
        let source = index.file_name();
        let crates = registry.join("cache").join(&source);
        let mut files = std::fs::read_dir(crates).ok()?.flatten();
        let file = files.find(|entry| entry.file_name().to_string_lossy().starts_with("cfg-if-1"))?;
        let name = file.file_name().to_string_lossy().into_owned();
        let version = name.strip_prefix("cfg-if-")?.strip_suffix(".crate")?.to_owned();
        let at = |place: &str, rest: &str| Path::new(place).join(&source).join(rest);
        let entry = ".cache/cf/g-/cfg-if";
        let files = vec![
            (at("index", entry), std::fs::read(index.path().join(entry)).ok()?),
            (at("index", "config.json"), std::fs::read(index.path().join("config.json")).ok()?),
            (at("cache", &name), std::fs::read(file.path()).ok()?),
        ];
        Some(Self { name: "cfg-if".to_owned(), version, files })
    }

    /// Puts it into another registry.
    pub fn put(&self, registry: &Path) {
        for (name, bytes) in &self.files {
            let path = registry.join(name);
            must("a crate", path.parent().map_or(Ok(()), std::fs::create_dir_all));
            must("a crate", std::fs::write(path, bytes));
        }
    }

    /// A project that needs it.
    pub fn put_project(&self, root: &Path) {
        let manifest = format!(
            "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\n{} = \"={}\"\n",
            self.name, self.version
        );
        put(root, "Cargo.toml", &manifest);
        put(root, "src/main.rs", "fn main() {}\n");
    }
}

/// Every file beneath a directory with its bytes.
pub fn contents(place: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    let mut open = vec![place.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in must("a directory", std::fs::read_dir(&dir)).flatten() {
            let kind = must("a file", entry.file_type());
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() {
                all.push((entry.path(), must("a file", std::fs::read(entry.path()))));
            }
        }
    }
    all.sort();
    all
}
