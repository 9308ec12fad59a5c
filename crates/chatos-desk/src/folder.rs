//! The folder a client of the gateway works in (other-agents §3.2): a flag, what the client says, where it
//! started this process, or none; never the host's.

use std::path::{Path, PathBuf};

use chatos_paths::Environment;

/// What is known of it before a client has said anything.
pub struct ClientFolder {
    /// By `--root`.
    flag: Option<PathBuf>,
    /// Where this process was started, when that says something about the client.
    cwd: Option<PathBuf>,
    home: Option<PathBuf>,
    /// A caller over the network does not choose folders.
    over_http: bool,
}

impl ClientFolder {
    /// `flag`: what a person named; it exists. `over_http`: clients come over the network.
    pub fn new(environment: &Environment, flag: Option<PathBuf>, over_http: bool, state_dir: &Path) -> Self {
        let home = environment.get("HOME").map(|home| real(Path::new(&home)));
        let cwd = real(environment.current_dir());
        let client = client_folder();
        let says_nothing = cwd == Path::new("/")
            || home.as_ref() == Some(&cwd)
            || cwd == real(state_dir)
            || client.as_ref() == Some(&cwd);
        let cwd = (!over_http && !says_nothing).then_some(cwd);
        Self { flag, cwd, home, over_http }
    }

    /// Whether the client is asked where it works.
    pub(crate) fn asks_roots(&self) -> bool {
        self.flag.is_none() && !self.over_http
    }

    /// Where a call works. The home directory itself is nobody's project unless a person said so by the flag.
    pub(crate) fn of(&self, roots: &[PathBuf]) -> Option<PathBuf> {
        let of_client = || roots.iter().map(|root| real(root)).find(|root| self.home.as_ref() != Some(root));
        self.flag.clone().or_else(of_client).or_else(|| self.cwd.clone())
    }
}

impl ClientFolder {
    /// Where the folder comes from, in a word of the record (other-agents §2.1).
    pub(crate) fn from(&self, roots: &[PathBuf]) -> &'static str {
        match (self.of(roots), self.of(&[])) {
            (None, _) => "none",
            (Some(_), _) if self.flag.is_some() => "flag",
            (Some(now), alone) if alone.as_ref() == Some(&now) => "cwd",
            (Some(_), _) => "roots",
        }
    }
}

/// The path without links, where it can be followed.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Where the program that started this one lies: a desktop program starts its servers there.
fn client_folder() -> Option<PathBuf> {
    let parent = std::os::unix::process::parent_id();
    let program = std::fs::read_link(format!("/proc/{parent}/exe")).ok()?;
    program.parent().map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_applies_is_the_folder() {
        let place = tempfile::tempdir().unwrap();
        let dir = |name: &str| {
            let path = place.path().canonicalize().unwrap().join(name);
            std::fs::create_dir_all(&path).unwrap();
            path
        };
        let (flag, root, cwd, home) = (dir("flag"), dir("root"), dir("cwd"), dir("home"));
        let all = || ClientFolder {
            flag: Some(flag.clone()),
            cwd: Some(cwd.clone()),
            home: Some(home.clone()),
            over_http: false,
        };
        let said = [root.clone()];
        assert_eq!(all().of(&said), Some(flag.clone()));
        assert!(!all().asks_roots());
        let no_flag = ClientFolder { flag: None, ..all() };
        assert!(no_flag.asks_roots());
        assert_eq!(no_flag.of(&said), Some(root.clone()));
        assert_eq!(no_flag.of(&[]), Some(cwd.clone()));
        assert_eq!((all().from(&said), no_flag.from(&said), no_flag.from(&[])), ("flag", "roots", "cwd"));
        assert_eq!(
            no_flag.of(std::slice::from_ref(&home)),
            Some(cwd.clone()),
            "the home directory only by the flag"
        );
        assert_eq!(no_flag.of(&[home.clone(), root.clone()]), Some(root));
        assert_eq!(ClientFolder { flag: Some(home.clone()), ..all() }.of(&[]), Some(home.clone()));
        let none = ClientFolder { flag: None, cwd: None, ..all() };
        assert_eq!((none.of(&[]), none.of(std::slice::from_ref(&home))), (None, None));
        let http = ClientFolder { flag: None, cwd: None, over_http: true, ..all() };
        assert!(!http.asks_roots());
    }
}
