//! Commands in a home that has been lived in: version managers, configuration with includes and secrets, and canaries
//! in every closed place (working-day §1.1–1.3, §13 point 1).

use std::os::unix::fs::{PermissionsExt, symlink};

use chatos_testkit::skip;

use super::*;

/// Closed places with something in them.
const CANARIES: [&str; 42] = [
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
";

fn put(base: &Path, name: &str, text: &str) -> PathBuf {
    let path = base.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path
}

fn script(base: &Path, name: &str, text: &str) {
    let path = put(base, name, text);
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// A home with everything in it; the root lies inside it, as projects do.
struct Lived {
    bench: Bench,
    home: PathBuf,
    root: PathBuf,
    variables: BTreeMap<String, String>,
}

impl Lived {
    fn new(settings: ToolSettings) -> Self {
        let mut bench = Bench::new(settings);
        let home = bench.dir.path().canonicalize().unwrap().join("home");
        let root = home.join("code/project");
        std::fs::create_dir_all(&root).unwrap();
        for name in CANARIES {
            put(&home, name, "canary-of-the-home\n");
        }
        put(&home, ".gitconfig", GITCONFIG);
        put(&home, ".config/git/more", "[pull]\n\trebase = true\n");
        put(&home, ".gitconfig-home", "[color]\n\tui = never\n");
        put(&home, ".gitignore_global", "*.ignored\n");
        put(&home, ".npmrc", "fund=false\n//registry.example/:_authToken=canary-of-the-home\n");
        put(
            &home,
            ".config/pip/pip.conf",
            "[global]\nindex-url = https://me:canary-of-the-home@pypi.example/\n",
        );
        let variables = home_of(bench.dir.path());
        bench.server = server(&home_with(&bench, &variables));
        Self { bench, home, root, variables }
    }

    /// Puts something in front of the search path.
    fn first_on_path(&mut self, place: &str) {
        let path = format!("{}:{}", self.home.join(place).display(), self.variables["PATH"]);
        self.variables.insert("PATH".to_owned(), path);
        self.bench.server = server(&home_with(&self.bench, &self.variables));
    }

    async fn run(&self, command: &str) -> (Value, String) {
        let mut request = self.bench.request("run_shell_command", json!({ "command": command }));
        request.root = Some(Arc::new(Root::open(&self.root).unwrap()));
        tokio::time::timeout(PATIENCE, self.bench.send(request)).await.expect("a person was asked")
    }

    /// Runs a command that has to go well, with nobody asked.
    async fn works(&self, command: &str) -> String {
        let result = self.run(command).await;
        assert_eq!(result.0["data"]["exit_code"], 0, "{command}: {}", result.1);
        assert_eq!(result.0["data"]["sandbox"]["level"], "full", "{command}");
        assert_eq!(self.bench.queue.count(), 0, "{command} asked");
        result.0["data"]["stdout"]["text"].as_str().unwrap().to_owned()
    }

    fn cache(&self) -> PathBuf {
        let base = self.home.join(".cache/chatos/shell");
        let mut caches = std::fs::read_dir(base).unwrap();
        caches.next().unwrap().unwrap().path()
    }
}

fn home_of(dir: &Path) -> BTreeMap<String, String> {
    home(dir, None, None).variables
}

fn home_with(bench: &Bench, variables: &BTreeMap<String, String>) -> ShellHome {
    ShellHome { variables: variables.clone(), ..home(bench.dir.path(), Some(bench.kept.clone()), None) }
}

/// As they are when nobody changed anything.
fn usual() -> ToolSettings {
    ToolSettings { lang: Lang::En, ..ToolSettings::default() }
}

fn full() -> bool {
    Kernel::here().level() == Level::Full
}

fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::vars().find(|(key, _)| key == "PATH").map(|(_, value)| value)?;
    path.split(':').map(|place| Path::new(place).join(name)).find(|path| path.is_file())
}

/// Digest of everything beneath a directory.
fn contents(place: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    let mut open = vec![place.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).unwrap().flatten() {
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() {
                all.push((entry.path(), std::fs::read(entry.path()).unwrap()));
            }
        }
    }
    all.sort();
    all
}

#[tokio::test]
async fn git_works_in_a_home_with_a_configuration() {
    if !full() {
        skip!("the kernel does not confine fully (Landlock 3, seccomp)");
    }
    if program("git").is_none() {
        skip!("git is not installed");
    }
    let lived = Lived::new(usual());
    lived.works("git init -q . && echo one > a && echo x > b.ignored").await;
    assert_eq!(lived.works("git st").await, "?? a\n", "alias and excludes file count");
    lived.works("git add a").await;
    let commit = lived.run("git commit -q -m first").await;
    assert_eq!(commit.0["data"]["exit_code"], 0, "{}", commit.1);
    assert!(ids(&commit).contains(&"unsigned_commit".to_owned()), "{}", commit.1);
    lived.works("git tag -a v1 -m v1").await;
    lived.works("echo two >> a").await;
    assert!(lived.works("git diff").await.contains("+two"));
    assert!(lived.works("git log --format=%an").await.contains("Somebody"));
    assert_eq!(lived.works("git config pull.rebase; git config color.ui").await, "true\nnever\n");
    assert_eq!(lived.works("git status --short").await, " M a\n");
    // The call's own configuration wins.
    let mut own = lived.bench.request(
        "run_shell_command",
        json!({ "command": "git config user.name", "env": { "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "user.name", "GIT_CONFIG_VALUE_0": "Call" } }),
    );
    own.root = Some(Arc::new(Root::open(&lived.root).unwrap()));
    assert_eq!(lived.bench.send(own).await.0["data"]["stdout"]["text"], "Call\n");
}

#[tokio::test]
async fn a_configuration_of_git_with_a_secret_is_seen_without_it() {
    if !full() || program("git").is_none() {
        skip!("the kernel does not confine fully (Landlock 3, seccomp), or git is not installed");
    }
    let lived = Lived::new(usual());
    put(&lived.home, ".gitconfig-home", "[github]\n\ttoken = canary-of-the-home\n[color]\n\tui = never\n");
    let result = lived.run("git init -q . && git config color.ui && git config alias.st").await;
    assert_eq!(result.0["data"]["stdout"]["text"], "never\nstatus --short\n", "{}", result.1);
    assert!(ids(&result).contains(&"config_filtered".to_owned()), "{}", result.1);
    let looked = lived.run("git config --list --show-origin; cat ~/.gitconfig-home; env").await;
    assert!(!looked.1.contains("canary"), "{}", looked.1);
}

#[tokio::test]
async fn closed_places_stay_closed_in_both_modes() {
    if Kernel::here().level() == Level::None {
        skip!("the kernel confines no files (Landlock)");
    }
    for mode in [SafetyMode::Strict, SafetyMode::Relaxed] {
        let mut settings = quiet();
        settings.shell.mode = mode;
        let lived = Lived::new(settings.clone());
        // Also when a person opened what is around them.
        settings.shell.read_paths = vec![lived.home.clone()];
        settings.shell.write_paths = vec![lived.home.join(".config")];
        let open = testing::bench(settings, None);
        for name in CANARIES {
            for layer in [&lived.bench.layer, &open.layer] {
                let path = lived.home.join(name);
                let mut request = lived.bench.request(
                    "run_shell_command",
                    json!({ "command": format!("cat '{0}'; cp '{0}' here; : >> '{0}'; rm -f '{0}'", path.display()) }),
                );
                request.root = Some(Arc::new(Root::open(&lived.root).unwrap()));
                let Reply::Done(envelope) = layer.call(&lived.bench.server, request).await.unwrap() else {
                    panic!("no envelope")
                };
                assert!(!envelope.text.contains("canary"), "{mode:?} {name}: {}", envelope.text);
                assert!(!lived.root.join("here").exists(), "{mode:?} {name}");
                assert!(path.exists(), "{mode:?} {name}");
            }
        }
        let all = lived.run("cat ~/.cache/chatos/shell/*/config/* 2>/dev/null; env; true").await;
        assert!(!all.1.contains("canary"), "{}", all.1);
    }
}

#[tokio::test]
async fn a_person_opens_a_closed_place_only_by_its_name() {
    if Kernel::here().level() == Level::None {
        skip!("the kernel confines no files (Landlock)");
    }
    let mut settings = quiet();
    let lived = Lived::new(settings.clone());
    settings.shell.read_paths = vec![lived.home.join(".aws"), lived.bench.dir.path().join("state")];
    let mut lived = lived;
    lived.bench.layer = testing::bench(settings, None).layer;
    assert!(lived.run("cat ~/.aws/credentials").await.1.contains("canary"));
    assert_ne!(lived.run(": >> ~/.aws/credentials").await.0["data"]["exit_code"], 0, "for reading only");
    assert!(!lived.run("cat ~/.kube/config").await.1.contains("canary"));
    let state = lived.run(&format!("cat {}/state/secret.txt", lived.bench.dir.path().display())).await;
    assert!(!state.1.contains("state-content"), "nobody opens the state");
}

#[tokio::test]
async fn a_refusal_is_explained() {
    if !full() {
        skip!("the kernel does not confine fully (Landlock 3, seccomp)");
    }
    let lived = Lived::new(usual());
    let result = lived.run("cat ~/.aws/credentials").await;
    let finding =
        &result.0["data"]["findings"].as_array().unwrap().iter().find(|one| one["id"] == "sandbox_denied");
    let finding = finding.unwrap_or_else(|| panic!("{}", result.1));
    let path = lived.home.join(".aws/credentials").display().to_string();
    assert_eq!(finding["path"], path);
    assert_eq!((&finding["certain"], &finding["access"]), (&json!(true), &json!("read")));
    assert_eq!(finding["setting"], "shellReadPaths");
    assert_eq!(result.0["data"]["sandbox"]["denied"][0]["path"], path);
    assert!(result.1.contains("not at fault") && result.1.contains(&path), "{}", result.1);
    let write = lived.run("touch ~/new").await;
    assert_eq!(write.0["data"]["sandbox"]["denied"][0]["access"], "write", "{}", write.1);
    let offline = lived.run("echo 'curl: (6) Could not resolve host: example.com' >&2; exit 6").await;
    assert_eq!(offline.0["data"]["sandbox"]["denied"][0]["host"], "example.com", "{}", offline.1);
    assert!(lived.run("true").await.0["data"]["sandbox"].get("denied").is_none());
}

#[tokio::test]
async fn a_project_is_told_once_how_commands_run() {
    if !full() {
        skip!("the kernel does not confine fully (Landlock 3, seccomp)");
    }
    let mut lived = Lived::new(usual());
    let told = |result: &(Value, String)| ids(result).contains(&"first_use".to_owned());
    assert!(told(&lived.run("true").await));
    assert!(!told(&lived.run("true").await));
    lived.bench.server = server(&home_with(&lived.bench, &lived.variables));
    assert!(!told(&lived.run("true").await), "also after a restart");
}

#[tokio::test]
async fn nothing_is_opened_or_set_when_toolchains_are_off() {
    if !full() || program("git").is_none() {
        skip!("the kernel does not confine fully (Landlock 3, seccomp), or git is not installed");
    }
    let mut settings = usual();
    settings.shell.toolchains = chatos_layer::ToolchainUse::Off;
    let lived = Lived::new(settings);
    let result = lived.run("git config user.name; env | grep -c -e _CACHE -e GIT_CONFIG").await;
    assert!(!result.1.contains("Somebody"), "{}", result.1);
    assert_eq!(result.0["data"]["stdout"]["text"], "0\n", "{}", result.1);
    assert!(!lived.home.join(".cache").exists());
}

#[tokio::test]
async fn rust_builds_offline_with_what_the_home_has() {
    if !full() {
        skip!("the kernel does not confine fully (Landlock 3, seccomp)");
    }
    let Some(real_home) =
        std::env::vars().find(|(name, _)| name == "HOME").map(|(_, home)| PathBuf::from(home))
    else {
        skip!("no home directory")
    };
    let (rustup, toolchains) = (real_home.join(".cargo/bin/rustup"), real_home.join(".rustup/toolchains"));
    let toolchain = std::fs::read_dir(&toolchains).ok().and_then(|mut all| all.next()).and_then(Result::ok);
    let (Some(toolchain), true) = (toolchain, rustup.is_file()) else { skip!("rustup is not installed") };
    let Some(cached) = cached_crate(&real_home.join(".cargo/registry")) else {
        skip!("no small crate in the registry cache")
    };
    let mut lived = Lived::new(usual());
    std::fs::create_dir_all(lived.home.join(".rustup/toolchains")).unwrap();
    std::fs::create_dir_all(lived.home.join(".cargo/bin")).unwrap();
    symlink(toolchain.path(), lived.home.join(".rustup/toolchains/mine")).unwrap();
    put(
        &lived.home,
        ".rustup/settings.toml",
        "version = \"12\"\ndefault_toolchain = \"mine\"\nprofile = \"default\"\n\n[overrides]\n",
    );
    for name in ["rustup", "cargo", "rustc"] {
        std::fs::copy(&rustup, lived.home.join(".cargo/bin").join(name)).unwrap();
    }
    let config = "[net]\nretry = 7\n[registries.own]\ntoken = \"canary-of-the-home\"\n";
    // Beneath the home cargo reads the real file as well: there it is without a secret.
    put(&lived.home, ".cargo/config.toml", "[net]\nretry = 7\n");
    for (name, bytes) in &cached.files {
        let path = lived.home.join(".cargo/registry").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    lived.first_on_path(".cargo/bin");
    let before = contents(&lived.home.join(".cargo"));
    lived.works("cargo --version").await;
    put(
        &lived.root,
        "Cargo.toml",
        &format!(
            "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\n{} = \"={}\"\n",
            cached.name, cached.version
        ),
    );
    put(&lived.root, "src/main.rs", "fn main() {}\n");
    lived.works("cargo build --offline 2>&1").await;
    assert_eq!(contents(&lived.home.join(".cargo")), before, "the real caches are as they were");
    assert!(lived.cache().join("cargo/registry/cache").is_symlink());
    // Elsewhere a secret in the file is taken out, and the rest is used.
    put(&lived.home, ".cargo/config.toml", config);
    std::fs::remove_file(lived.cache().join("cargo/config.toml")).unwrap();
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    lived.run("true").await;
    let copy = std::fs::read_to_string(lived.cache().join("cargo/config.toml")).unwrap();
    assert!(copy.contains("retry = 7") && !copy.contains("canary"), "{copy}");
}

struct Cached {
    name: String,
    version: String,
    files: Vec<(PathBuf, Vec<u8>)>,
}

/// A crate without dependencies that the real registry has, with what cargo needs to find it offline.
fn cached_crate(registry: &Path) -> Option<Cached> {
    let mut indexes = std::fs::read_dir(registry.join("index")).ok()?.flatten();
    let index = indexes.find(|entry| entry.path().join(".cache/cf/g-/cfg-if").is_file())?;
    let source = index.file_name();
    let entry = index.path().join(".cache/cf/g-/cfg-if");
    let crates = registry.join("cache").join(&source);
    let file = std::fs::read_dir(&crates)
        .ok()?
        .flatten()
        .find(|entry| entry.file_name().to_string_lossy().starts_with("cfg-if-1"))?;
    let name = file.file_name().to_string_lossy().into_owned();
    let version = name.strip_prefix("cfg-if-")?.strip_suffix(".crate")?.to_owned();
    let at = |place: &str, rest: &Path| Path::new(place).join(&source).join(rest);
    Some(Cached {
        name: "cfg-if".to_owned(),
        version,
        files: vec![
            (at("index", Path::new(".cache/cf/g-/cfg-if")), std::fs::read(entry).ok()?),
            (at("index", Path::new("config.json")), std::fs::read(index.path().join("config.json")).ok()?),
            (at("cache", Path::new(&name)), std::fs::read(file.path()).ok()?),
        ],
    })
}

#[tokio::test]
async fn node_and_npm_work_from_a_version_manager() {
    if !full() {
        skip!("the kernel does not confine fully (Landlock 3, seccomp)");
    }
    let (Some(node), Some(_)) = (program("node"), program("npm")) else {
        skip!("node or npm is not installed")
    };
    let node = node.canonicalize().unwrap();
    if !node.starts_with("/usr") && !node.starts_with("/opt") {
        skip!("node does not lie in a directory of the system");
    }
    let mut lived = Lived::new(usual());
    let bin = lived.home.join(".nvm/versions/node/v1.0.0/bin");
    std::fs::create_dir_all(&bin).unwrap();
    script(&lived.home, ".nvm/versions/node/v1.0.0/lib/tool.sh", "#!/bin/sh\necho from-nvm\n");
    symlink(&node, bin.join("node")).unwrap();
    symlink("../lib/tool.sh", bin.join("own-tool")).unwrap();
    lived.first_on_path(".nvm/versions/node/v1.0.0/bin");
    assert!(lived.works("node -v").await.starts_with('v'));
    assert_eq!(lived.works("own-tool").await, "from-nvm\n");
    put(&lived.root, "dep/package.json", "{\"name\":\"dep\",\"version\":\"1.0.0\"}");
    put(
        &lived.root,
        "package.json",
        "{\"name\":\"p\",\"version\":\"1.0.0\",\"dependencies\":{\"dep\":\"file:dep.tgz\"}}",
    );
    lived
        .works("tar -czf dep.tgz --transform 's,^dep,package,' dep && npm install --offline --no-audit")
        .await;
    lived
        .works("rm node_modules/dep/package.json && rmdir node_modules/dep && npm ci --offline --no-audit")
        .await;
    assert!(lived.root.join("node_modules/dep/package.json").is_file());
    assert!(lived.cache().join("npm/_cacache").is_dir());
    assert!(!lived.home.join(".npm").exists());
    assert_eq!(
        lived.works("npm config get fund").await,
        "false\n",
        "what is not secret of the person's file counts"
    );
    assert!(!lived.run("npm config list --json; cat \"$NPM_CONFIG_USERCONFIG\"").await.1.contains("canary"));
}

#[tokio::test]
async fn python_works_through_the_shim_of_pyenv() {
    if !full() {
        skip!("the kernel does not confine fully (Landlock 3, seccomp)");
    }
    if !Path::new("/usr/bin/python3").is_file() {
        skip!("python3 is not installed in the system");
    }
    let mut lived = Lived::new(usual());
    // As pyenv lays itself out: a shim calls the program, which looks for the version.
    script(
        &lived.home,
        ".pyenv/shims/python3",
        &format!(
            "#!/bin/sh\nexport PYENV_ROOT='{0}/.pyenv'\nexec '{0}/.pyenv/libexec/pyenv' exec python3 \"$@\"\n",
            lived.home.display()
        ),
    );
    script(
        &lived.home,
        ".pyenv/libexec/pyenv",
        "#!/bin/sh\nshift\nread -r version < \"$PYENV_ROOT/version\"\nname=$1; shift\nexec \"$PYENV_ROOT/versions/$version/bin/$name\" \"$@\"\n",
    );
    put(&lived.home, ".pyenv/version", "3.1\n");
    std::fs::create_dir_all(lived.home.join(".pyenv/versions/3.1/bin")).unwrap();
    symlink("/usr/bin/python3", lived.home.join(".pyenv/versions/3.1/bin/python3")).unwrap();
    lived.first_on_path(".pyenv/shims");
    put(&lived.root, "own.py", "x = 1\n");
    lived.works("python3 -c 'import own'").await;
    let found = lived.works("command -v python3").await;
    assert!(found.contains(".pyenv/shims"), "{found}");
    assert!(!lived.root.join("__pycache__").exists(), "compiled files go into the cache");
}

/// The same as another user than root: rights over files must not come from being root.
#[test]
fn it_works_as_another_user() {
    let is_root = rustix::process::getuid().is_root();
    if !is_root {
        skip!("only root can become somebody else; the tests ran as a user who is not root already");
    }
    let Some(setpriv) = program("setpriv") else { skip!("setpriv is not installed") };
    let own = std::env::current_exe().unwrap();
    let dir = tempfile::tempdir().unwrap();
    // Where everybody may reach it.
    let copy = dir.path().join("tests");
    std::fs::copy(&own, &copy).unwrap();
    let open = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(dir.path(), open.clone()).unwrap();
    std::fs::set_permissions(&copy, open).unwrap();
    for name in [
        "git_works_in_a_home_with_a_configuration",
        "closed_places_stay_closed_in_both_modes",
        "node_and_npm_work_from_a_version_manager",
        "a_refusal_is_explained",
    ] {
        #[expect(clippy::disallowed_methods, reason = "this test program again, as another user")]
        let output = std::process::Command::new(&setpriv)
            .args(["--reuid=12345", "--regid=12345", "--clear-groups"])
            .arg(&copy)
            .args([&format!("server::tests::home::{name}"), "--exact", "--nocapture"])
            .env("TMPDIR", dir.path())
            .env("HOME", dir.path())
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .current_dir(dir.path())
            .output()
            .unwrap();
        let said =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && said.contains("1 passed"), "{name}: {said}");
    }
}
