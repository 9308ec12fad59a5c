//! Commands in a home that has been lived in: version managers, configuration with includes and secrets, and canaries
//! in every closed place (working-day §1.1–1.3, §13 point 1).

use std::os::unix::fs::PermissionsExt;

use chatos_testkit::lived::{self, CANARIES, CachedCrate, contents, program, put};
use chatos_testkit::skip;

use super::*;

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
        lived::put_canaries(&home);
        lived::put_git(&home);
        let variables = home_of(bench.dir.path());
        bench.server = server(&home_with(&bench, &variables));
        Self { bench, home, root, variables }
    }

    /// Puts something in front of the search path.
    fn first_on_path(&mut self, place: &Path) {
        let path = format!("{}:{}", place.display(), self.variables["PATH"]);
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
    let Some(cached) = CachedCrate::find() else { skip!("no small crate in the registry cache") };
    let mut lived = Lived::new(usual());
    let Some(bin) = lived::put_rustup(&lived.home) else { skip!("rustup is not installed") };
    let config = "[net]\nretry = 7\n[registries.own]\ntoken = \"canary-of-the-home\"\n";
    // Beneath the home cargo reads the real file as well: there it is without a secret.
    put(&lived.home, ".cargo/config.toml", "[net]\nretry = 7\n");
    cached.put(&lived.home.join(".cargo/registry"));
    lived.first_on_path(&bin);
    let before = contents(&lived.home.join(".cargo"));
    lived.works("cargo --version").await;
    cached.put_project(&lived.root);
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

#[tokio::test]
async fn node_and_npm_work_from_a_version_manager() {
    if !full() {
        skip!("the kernel does not confine fully (Landlock 3, seccomp)");
    }
    let mut lived = Lived::new(usual());
    let Some(bin) = lived::put_nvm(&lived.home) else {
        skip!("node and npm do not lie in a directory of the system")
    };
    lived.first_on_path(&bin);
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
    let mut lived = Lived::new(usual());
    let Some(shims) = lived::put_pyenv(&lived.home) else { skip!("python3 is not installed in the system") };
    lived.first_on_path(&shims);
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
