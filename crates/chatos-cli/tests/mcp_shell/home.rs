//! Ordinary work in a home that has been lived in (working-day §1.1–1.3, §13 point 1), as root and as another user: Git,
//! npm, cargo and a shim of pyenv do what they do outside the boundary without a question, what the home had stays as it
//! was, and nothing closed is read in either mode.

use chatos_testkit::lived::{self, CANARIES, CANARY, CachedCrate};

use super::*;

const SOMEBODY: u32 = 12_345;
/// Inside the home, as projects are.
const PROJECT: &str = "home/code/project";

struct Home {
    ground: Ground,
    path: String,
}

impl Home {
    fn new(user: Option<u32>) -> Self {
        let ground = Ground::new(user);
        let home = ground.path("home");
        lived::put_canaries(&home);
        lived::put_git(&home);
        for cache in [".npm/_cacache/kept", ".cache/pip/kept", ".cargo/registry/kept"] {
            lived::put(&home, cache, "kept");
        }
        std::fs::create_dir_all(ground.path(PROJECT)).unwrap();
        Self { ground, path: "/usr/local/bin:/usr/bin:/bin".to_owned() }
    }

    fn first_on_path(&mut self, place: &Path) {
        self.path = format!("{}:{}", place.display(), self.path);
    }

    /// The tools of the project. Nobody is there to be asked, and nothing is set: what would ask is refused.
    fn connect(&self, mode: &str) -> McpClient {
        let root = self.ground.path(PROJECT).to_string_lossy().into_owned();
        let mut command = self.ground.command(&["mcp", "shell_tasks", "--lang", "en", "--root", &root]);
        command.env_remove("CHATOS_SET_CONFIRM_FILE_CHANGES").env_remove("CHATOS_SET_SHELL_CONFIRM");
        command.env("PATH", &self.path).env("CHATOS_SET_SHELL_SAFETY_MODE", mode);
        McpClient::connect(command, McpEra::Legacy, json!({})).0
    }

    /// What the person has, but the project and what ChatOS keeps.
    fn kept(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let home = self.ground.path("home");
        let own = ["code", ".cache/chatos", ".config/chatos"].map(|name| home.join(name));
        let mut all = lived::contents(&home);
        all.retain(|(path, _)| !own.iter().any(|own| path.starts_with(own)));
        all
    }

    /// Runs commands that have to go well with all that confines them; gives what the last one said.
    fn works(&self, commands: &[&str]) -> String {
        let before = self.kept();
        let mut client = self.connect("strict");
        let mut said = String::new();
        for command in commands {
            let reply =
                client.call("run_shell_command", json!({ "command": command, "timeout_ms": 300_000 }));
            let data = data(&reply);
            assert_eq!(data["exit_code"], 0, "{command}: {reply}");
            assert_eq!(data["sandbox"]["level"], "full", "{command}: {reply}");
            assert!(!reply.to_string().contains(CANARY), "{command}: {reply}");
            data["stdout"]["text"].as_str().unwrap().clone_into(&mut said);
        }
        drop(client);
        assert!(self.kept() == before, "what the home had is not as it was");
        let asked = self.ground.command(&["prompts", "list", "--all", "--json"]).output().unwrap();
        let asked: Value = serde_json::from_slice(&asked.stdout).unwrap();
        assert_eq!(asked["items"], json!([]), "nobody was asked");
        said
    }
}

/// Each of these as root and as another user.
macro_rules! both {
    ($($root:ident, $user:ident: $check:ident;)*) => {$(
        #[test]
        fn $root() {
            needs!(root);
            $check(None);
        }

        #[test]
        fn $user() {
            needs!(root);
            $check(Some(SOMEBODY));
        }
    )*};
}

both! {
    git_works_for_root, git_works_for_another_user: git_works;
    npm_works_for_root, npm_works_for_another_user: npm_works;
    cargo_works_for_root, cargo_works_for_another_user: cargo_works;
    python_works_for_root, python_works_for_another_user: python_works;
    nothing_closed_is_read_by_root, nothing_closed_is_read_by_another_user: nothing_closed_is_read;
}

fn git_works(user: Option<u32>) {
    if lived::program("git").is_none() {
        skip!("git is not installed");
    }
    let home = Home::new(user);
    let said = home.works(&[
        "git init -q . && echo one > a && echo x > b.ignored",
        "git status",
        "git add a",
        "git commit -q -m first",
        "echo two >> a && git diff",
        "git commit -q -a -m second",
        "git log --format='%an %s' && git st && git config pull.rebase && git config color.ui",
    ]);
    assert_eq!(said, "Somebody second\nSomebody first\ntrue\nnever\n");
}

/// A lock file for a package of a registry that nobody reaches: what is not in the cache fails.
const LOCK: &str = r"
const { createHash } = require('crypto');
const { readFileSync, writeFileSync } = require('fs');
const integrity = 'sha512-' + createHash('sha512').update(readFileSync('dep.tgz')).digest('base64');
const resolved = 'http://registry.invalid/dep/-/dep-1.0.0.tgz';
const root = { name: 'p', version: '1.0.0', dependencies: { dep: '1.0.0' } };
const packages = { '': root, 'node_modules/dep': { version: '1.0.0', resolved, integrity } };
writeFileSync('package.json', JSON.stringify(root));
writeFileSync('package-lock.json', JSON.stringify({ ...root, lockfileVersion: 3, requires: true, packages }));
";

fn npm_works(user: Option<u32>) {
    let mut home = Home::new(user);
    let Some(bin) = lived::put_nvm(&home.ground.path("home")) else {
        skip!("node and npm do not lie in a directory of the system")
    };
    home.first_on_path(&bin);
    let root = home.ground.path(PROJECT);
    lived::put(&root, "package/package.json", "{\"name\":\"dep\",\"version\":\"1.0.0\",\"main\":\"dep.js\"}");
    lived::put(&root, "package/dep.js", "module.exports = 'from the cache';");
    lived::put(&root, "lock.cjs", LOCK);
    let said = home.works(&[
        "node -v && own-tool",
        "tar -czf dep.tgz package && node lock.cjs && npm cache add ./dep.tgz",
        "npm ci --offline --no-audit && rm node_modules/dep/dep.js",
        "npm ci --offline --no-audit",
        "node -p \"require('dep')\"",
    ]);
    assert_eq!(said, "from the cache\n");
}

fn cargo_works(user: Option<u32>) {
    let mut home = Home::new(user);
    let Some(bin) = lived::put_rustup(&home.ground.path("home")) else { skip!("rustup is not installed") };
    let toolchain = home.ground.path("home/.rustup/toolchains/mine/bin/cargo");
    if !home.ground.run_free(&toolchain).arg("--version").output().is_ok_and(|done| done.status.success()) {
        skip!("the toolchain of this machine lies where only its owner reads");
    }
    let Some(cached) = CachedCrate::find() else { skip!("no small crate in the registry cache") };
    home.first_on_path(&bin);
    cached.put(&home.ground.path("home/.cargo/registry"));
    cached.put_project(&home.ground.path(PROJECT));
    home.works(&["cargo --version", "cargo build --offline 2>&1", "cargo build --offline --release 2>&1"]);
    assert!(home.ground.path(PROJECT).join("target/debug/p").is_file());
}

fn python_works(user: Option<u32>) {
    let mut home = Home::new(user);
    let Some(shims) = lived::put_pyenv(&home.ground.path("home")) else {
        skip!("python3 is not installed in the system")
    };
    home.first_on_path(&shims);
    let root = home.ground.path(PROJECT);
    lived::put(&root, "own.py", "x = 1\n");
    let said = home.works(&["python3 -c 1", "python3 -c 'import own'", "command -v python3"]);
    assert!(said.contains(".pyenv/shims"), "{said}");
    assert!(!root.join("__pycache__").exists(), "compiled files go into the cache");
}

fn nothing_closed_is_read(user: Option<u32>) {
    let home = Home::new(user);
    for mode in ["strict", "relaxed"] {
        let mut client = home.connect(mode);
        for name in CANARIES {
            let reply = client.call("run_shell_command", json!({ "command": format!("cat ~/{name}") }));
            assert!(!reply.to_string().contains(CANARY), "{mode} {name}: {reply}");
            assert_ne!(data(&reply)["exit_code"], 0, "{mode} {name}: {reply}");
        }
        let all = CANARIES.map(|name| format!("\"$HOME/{name}\"")).join(" ");
        for way in [
            "head -c 99",
            "cp -t .",
            "tar -cf all.tar",
            "python3 -c 'import sys; [open(f) for f in sys.argv[1:]]'",
        ] {
            let reply = client.call("run_shell_command", json!({ "command": format!("{way} {all}") }));
            assert!(!reply.to_string().contains(CANARY), "{mode} {way}: {reply}");
            assert_ne!(data(&reply)["exit_code"], 0, "{mode} {way}: {reply}");
        }
    }
    let root = home.ground.path(PROJECT);
    let stolen = lived::contents(&root);
    let stolen = stolen.iter().find(|(_, bytes)| String::from_utf8_lossy(bytes).contains(CANARY));
    assert!(stolen.is_none(), "{stolen:?}");
    // They may be read by this very user outside: it is the boundary that keeps them closed.
    for name in CANARIES {
        let read = home.ground.run_free("cat").arg(home.ground.path("home").join(name)).output().unwrap();
        assert!(String::from_utf8_lossy(&read.stdout).contains(CANARY), "{name}");
    }
}
