//! The home of a sandbox as a login shell finds it after years: `chatos_testkit::lived`, and a search path that leads to it.

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

pub(crate) use chatos_testkit::lived::{CANARY as SECRET, program, put};
use chatos_testkit::lived::{put_canaries, put_git, put_nvm, put_pyenv, put_rustup, registry};
use chatos_testkit::{Sandbox, child};

/// Names the program where tests run as somebody who does not reach the usual one.
const PROGRAM: &str = "CHATOS_TEST_PROGRAM";
const SOMEBODY: u32 = 12_345;

/// What the home has of the machine's programs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lived {
    pub(crate) git: bool,
    pub(crate) npm: bool,
    pub(crate) cargo: bool,
    pub(crate) python: bool,
}

#[expect(clippy::disallowed_methods, reason = "what the machine has is put into the home of the test")]
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Fills the home of a sandbox, and sets its search path as a login shell would.
pub(crate) fn settle(sandbox: &mut Sandbox) -> Lived {
    let home = sandbox.home().canonicalize().unwrap();
    put_canaries(&home);
    put_git(&home);
    let (nvm, pyenv, rustup) = (put_nvm(&home), put_pyenv(&home), put_rustup(&home));
    if let (Some(_), Some(registry)) = (&rustup, registry()) {
        // What was downloaded before is this home's, too.
        symlink(registry, home.join(".cargo/registry")).unwrap();
    }
    let lived = Lived {
        git: program("git").is_some(),
        npm: nvm.is_some(),
        cargo: rustup.is_some(),
        python: pyenv.is_some(),
    };
    let system = ["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from);
    let path = std::env::join_paths([nvm, pyenv, rustup].into_iter().flatten().chain(system)).unwrap();
    sandbox.set_variable("PATH", path.to_str().unwrap());
    sandbox.set_variable("SHELL", "/bin/bash");
    lived
}

/// The program under test.
pub(crate) fn chatos() -> String {
    variable(PROGRAM).unwrap_or_else(|| env!("CARGO_BIN_EXE_chatos").to_owned())
}

/// Makes a tree of files another user's.
fn give(place: &Path, user: u32) {
    chown(place, Some(user), Some(user)).unwrap();
    if place.is_dir() && !place.is_symlink() {
        for entry in std::fs::read_dir(place).unwrap() {
            give(&entry.unwrap().path(), user);
        }
    }
}

/// Runs tests of this program once more as another user, in a place that is theirs, or says why not: rights over files
/// must not come from being root.
pub(crate) fn as_another_user(
    place: &Sandbox,
    tests: &[&str],
    more: &[(&str, PathBuf)],
) -> Option<&'static str> {
    if std::fs::metadata("/proc/self").map_or(1, |own| own.uid()) != 0 {
        return Some(
            "only root can become somebody else; the other tests ran as a user who is not root already",
        );
    }
    let Some(setpriv) = program("setpriv") else { return Some("setpriv is not installed") };
    let dir = place.root();
    let own = std::env::current_exe().unwrap();
    for (from, to) in [(own.as_path(), "tests"), (place.program(), "chatos")] {
        std::fs::copy(from, dir.join(to)).unwrap();
        std::fs::set_permissions(dir.join(to), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    give(dir, SOMEBODY);
    let who = [format!("--reuid={SOMEBODY}"), format!("--regid={SOMEBODY}"), "--clear-groups".to_owned()];
    for test in tests {
        let output = child(&setpriv)
            .args(&who)
            .arg(dir.join("tests"))
            .args([*test, "--exact", "--nocapture"])
            .env("TMPDIR", dir)
            .env("HOME", dir)
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env(PROGRAM, dir.join("chatos"))
            .envs(more.iter().map(|(name, path)| (name, path)))
            .current_dir(dir)
            .output()
            .unwrap();
        let said =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let passed = output.status.success() && said.contains("1 passed") && !said.contains("skipped:");
        assert!(passed, "{test}: {said}");
    }
    None
}
