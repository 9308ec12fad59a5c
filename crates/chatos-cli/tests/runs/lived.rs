//! A home that has been lived in: a configuration of Git with includes and signing, version managers, and things that are
//! nobody's business.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use chatos_testkit::Sandbox;

/// What is closed to commands; none of it may ever be in a request.
pub(crate) const SECRET: &str = "canary-of-the-home";

const GITCONFIG: &str = "[user]\n\tname = Somebody\n\temail = somebody@example.com\n[include]\n\tpath = .config/git/more\n\
    [includeIf \"gitdir:~/\"]\n\tpath = ~/.gitconfig-home\n[commit]\n\tgpgsign = true\n[alias]\n\tst = status --short\n\
    [init]\n\tdefaultBranch = main\n[safe]\n\tdirectory = *\n";

/// What the home has of the machine's programs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lived {
    pub(crate) git: bool,
    pub(crate) npm: bool,
    pub(crate) cargo: bool,
    pub(crate) python: bool,
}

pub(crate) fn put(base: &Path, name: &str, text: &str) -> PathBuf {
    let path = base.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path
}

fn script(base: &Path, name: &str, text: &str) {
    let path = put(base, name, text);
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[expect(clippy::disallowed_methods, reason = "what the machine has is put into the home of the test")]
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// A program of the machine.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    let path = variable("PATH")?;
    std::env::split_paths(&path).map(|place| place.join(name)).find(|path| path.is_file())
}

/// Fills the home of a sandbox, and sets its search path as a login shell would.
pub(crate) fn settle(sandbox: &mut Sandbox) -> Lived {
    let home = sandbox.home().canonicalize().unwrap();
    let mut path = Vec::new();
    put(&home, ".gitconfig", GITCONFIG);
    put(&home, ".config/git/more", "[pull]\n\trebase = true\n");
    put(&home, ".gitconfig-home", "[color]\n\tui = never\n");
    for closed in [".ssh/id_ed25519", ".aws/credentials", ".netrc", ".config/gh/hosts.yml", ".bash_history"] {
        put(&home, closed, SECRET);
    }
    put(&home, ".npmrc", &format!("fund=false\n//registry.example/:_authToken={SECRET}\n"));
    let mut lived = Lived { git: program("git").is_some(), ..Lived::default() };
    // nvm: a version with its programs, which are links into the system here.
    let bin = home.join(".nvm/versions/node/v1.0.0/bin");
    std::fs::create_dir_all(&bin).unwrap();
    for name in ["node", "npm"] {
        let real = program(name).and_then(|found| found.canonicalize().ok());
        let real = real.filter(|real| real.starts_with("/usr") || real.starts_with("/opt"));
        lived.npm = real.as_ref().is_some_and(|real| symlink(real, bin.join(name)).is_ok());
    }
    path.push(bin);
    // pyenv: a shim calls the program, which looks for the version.
    if Path::new("/usr/bin/python3").is_file() {
        let root = home.join(".pyenv").display().to_string();
        let shim = format!(
            "#!/bin/sh\nexport PYENV_ROOT='{root}'\nexec '{root}/libexec/pyenv' exec python3 \"$@\"\n"
        );
        script(&home, ".pyenv/shims/python3", &shim);
        let pyenv = "#!/bin/sh\nshift\nread -r version < \"$PYENV_ROOT/version\"\nname=$1; shift\nexec \"$PYENV_ROOT/versions/$version/bin/$name\" \"$@\"\n";
        script(&home, ".pyenv/libexec/pyenv", pyenv);
        put(&home, ".pyenv/version", "3.1\n");
        std::fs::create_dir_all(home.join(".pyenv/versions/3.1/bin")).unwrap();
        symlink("/usr/bin/python3", home.join(".pyenv/versions/3.1/bin/python3")).unwrap();
        path.push(home.join(".pyenv/shims"));
        lived.python = true;
    }
    lived.cargo = rustup(&home).is_some();
    path.push(home.join(".cargo/bin"));
    path.extend(["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from));
    let path = std::env::join_paths(path).unwrap();
    sandbox.set_variable("PATH", path.to_str().unwrap());
    sandbox.set_variable("SHELL", "/bin/bash");
    lived
}

/// rustup with a linked toolchain of the machine.
fn rustup(home: &Path) -> Option<()> {
    let real_home = variable("HOME").map(PathBuf::from)?;
    let place = |name: &str, usual: &str| variable(name).map_or_else(|| real_home.join(usual), PathBuf::from);
    let (cargo, rustup) = (place("CARGO_HOME", ".cargo"), place("RUSTUP_HOME", ".rustup"));
    let program = cargo.join("bin/rustup");
    let mut toolchains = std::fs::read_dir(rustup.join("toolchains")).ok()?.flatten();
    let toolchain = toolchains.find(|one| one.path().join("bin/cargo").is_file())?.path();
    std::fs::create_dir_all(home.join(".rustup/toolchains")).ok()?;
    std::fs::create_dir_all(home.join(".cargo/bin")).ok()?;
    symlink(toolchain, home.join(".rustup/toolchains/mine")).ok()?;
    let settings = "version = \"12\"\ndefault_toolchain = \"mine\"\nprofile = \"default\"\n\n[overrides]\n";
    put(home, ".rustup/settings.toml", settings);
    for name in ["rustup", "cargo", "rustc", "rustdoc"] {
        std::fs::copy(&program, home.join(".cargo/bin").join(name)).ok()?;
    }
    // What was downloaded before is this home's, too.
    let registry = cargo.join("registry");
    if registry.is_dir() {
        symlink(registry, home.join(".cargo/registry")).ok()?;
    }
    Some(())
}
