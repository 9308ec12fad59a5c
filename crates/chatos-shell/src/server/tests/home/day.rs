//! A day of real work: this repository, cloned into a home that has been lived in, with three faults in it that are found
//! and mended with git, cargo and npm. Nobody is asked for ordinary commands, and what is refused says why.

use super::*;

/// A fault: the file, what is right, and what was made of it.
const FAULTS: [(&str, &str, &str); 3] = [
    (
        "crates/chatos-assets/src/lib.rs",
        "if made::PAGE.is_empty() { PLACEHOLDER }",
        "if !made::PAGE.is_empty() { PLACEHOLDER }",
    ),
    ("plugins/com.chatos.taskboard/lib/board.mjs", "inColumn.length > limit", "inColumn.length < limit"),
    ("plugins/com.chatos.notes/lib/note.mjs", "id === '' ? word", "id !== '' ? word"),
];

/// Names the repository to clone where it is another than that of these sources.
pub(super) const SOURCES: &str = "CHATOS_TEST_SOURCES";

#[expect(clippy::disallowed_methods, reason = "what a person did before: cloning, and a history with faults")]
pub(super) fn git(dir: &Path, arguments: &[&str]) -> bool {
    let told =
        [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "safe.directory"), ("GIT_CONFIG_VALUE_0", "*")];
    let own = ["-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false"];
    let done =
        std::process::Command::new("git").args(own).args(arguments).envs(told).current_dir(dir).output();
    done.is_ok_and(|done| done.status.success())
}

/// Where to clone from: this repository, unless the test was told of a copy it may read.
pub(super) fn sources() -> String {
    let told = std::env::vars().find(|(name, _)| name == SOURCES).map(|(_, value)| PathBuf::from(value));
    let repository = told.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    format!("file://{}", repository.display())
}

/// The clone, with one commit for each fault and one for something else.
fn clone(lived: &Lived) -> bool {
    let address = sources();
    if !git(&lived.home, &["clone", "-q", "--depth", "1", &address, lived.root.to_str().unwrap()]) {
        return false;
    }
    for (at, (file, right, wrong)) in FAULTS.iter().enumerate() {
        let path = lived.root.join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(right), "{file} is another by now");
        std::fs::write(&path, text.replace(right, wrong)).unwrap();
        assert!(git(&lived.root, &["commit", "-qam", &format!("a change of no. {at}")]));
    }
    put(&lived.root, "notes.txt", "nothing\n");
    git(&lived.root, &["add", "notes.txt"]) && git(&lived.root, &["commit", "-qm", "notes"])
}

#[tokio::test]
async fn faults_are_found_and_mended_with_git_and_npm() {
    if !full() {
        skip!("the kernel does not confine fully (Landlock 3, seccomp)");
    }
    let (Some(_), Some(_), Some(_)) = (program("git"), program("node"), program("npm")) else {
        skip!("git, node or npm is not installed")
    };
    let lived = Lived::new(usual());
    if !clone(&lived) {
        skip!("these sources are in no repository of git that can be cloned");
    }
    assert_eq!(lived.works("git status --short").await, "");
    assert!(lived.works("git log --oneline -5").await.contains("a change of no. 1"));
    // One is found by its test, mended and committed.
    lived
        .works(
            "mkdir check && printf '{\"name\":\"check\",\"type\":\"module\",\"scripts\":{\"test\":\"node --test\"}}' > check/package.json",
        )
        .await;
    let test = "import assert from 'node:assert/strict';\nimport { test } from 'node:test';\n\
        import { arrange } from '../plugins/com.chatos.taskboard/lib/board.mjs';\n\
        test('a column over its limit says so', () => {\n\
        const view = { groupBy: 'status', wip: { doing: 1 } };\n\
        const tasks = [1, 2].map((id) => ({ id, status: 'doing', title: 't' + id, updatedAt: '' }));\n\
        assert.equal(arrange(view, tasks).columns.find((column) => column.key === 'doing').over, true);\n});\n";
    std::fs::write(lived.root.join("check/board.test.mjs"), test).unwrap();
    let failed = lived.run("cd check && npm test --offline 2>&1").await;
    assert_ne!(failed.0["data"]["exit_code"], 0, "{}", failed.1);
    assert!(!ids(&failed).iter().any(|id| id.starts_with("sandbox")), "it was no refusal: {}", failed.1);
    lived
        .works("sed -i 's/inColumn.length < limit/inColumn.length > limit/' plugins/com.chatos.taskboard/lib/board.mjs")
        .await;
    lived.works("cd check && npm test --offline 2>&1").await;
    let kept = lived.run("git add -A && git commit -qm 'board: a column over its limit says so'").await;
    assert_eq!(kept.0["data"]["exit_code"], 0, "{}", kept.1);
    assert!(ids(&kept).contains(&"unsigned_commit".to_owned()), "{}", kept.1);
    // The other is looked for in the history, and taken back.
    put(
        &lived.root,
        "check/id.mjs",
        "import { idFromTitle } from '../plugins/com.chatos.notes/lib/note.mjs';\n\
         process.exit(idFromTitle('Trip to town') === 'trip-to-town' ? 0 : 1);\n",
    );
    let found = lived
        .works(
            "git bisect start HEAD HEAD~5 && git bisect run node check/id.mjs 2>&1 && git bisect reset 2>&1",
        )
        .await;
    assert!(found.contains("is the first bad commit"), "{found}");
    assert!(found.contains("a change of no. 2"), "{found}");
    lived
        .works("git revert --no-edit \"$(git log --format=%h --grep='no. 2' -1)\" && node check/id.mjs")
        .await;
    // What stays closed is said to be, with the one thing that lifts it.
    for (command, way) in [
        ("cat ~/.ssh/id_ed25519", "\"outside\": true"),
        ("echo x > ~/notes.txt", "\"write\": ["),
        ("git clone -q https://example.org/a.git 2>&1", "\"hosts\": [\"example.org\"]"),
    ] {
        let refused = lived.run(command).await;
        assert!(ids(&refused).contains(&"sandbox_denied".to_owned()), "{command}: {}", refused.1);
        if !way.contains("hosts") || Kernel::here().holds_hosts() {
            assert!(refused.1.contains(way), "{command}: {}", refused.1);
        }
    }
    assert_eq!(lived.bench.queue.count(), 0, "nobody was asked all day");
}

#[tokio::test]
async fn a_fault_is_found_and_mended_with_cargo() {
    if !full() {
        skip!("the kernel does not confine fully (Landlock 3, seccomp)");
    }
    let variable = |wanted: &str| std::env::vars().find(|(name, _)| name == wanted).map(|(_, value)| value);
    let Some(real_home) = variable("HOME").map(PathBuf::from) else { skip!("no home directory") };
    let cargo_home = variable("CARGO_HOME").map_or_else(|| real_home.join(".cargo"), PathBuf::from);
    if program("cargo").is_none() || !cargo_home.join("registry/index").is_dir() {
        skip!("cargo or its registry is not there");
    }
    let mut lived = Lived::new(usual());
    if !clone(&lived) {
        skip!("these sources are in no repository of git that can be cloned");
    }
    // The toolchain of this machine is this home's.
    for (name, usual) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
        let place = variable(name).map_or_else(|| real_home.join(usual), PathBuf::from);
        lived.variables.insert(name.to_owned(), place.display().to_string());
    }
    lived.bench.server = server(&home_with(&lived.bench, &lived.variables));
    let test = "cargo test --offline --locked -q -p chatos-assets 2>&1";
    let failed = lived.run(test).await;
    if failed.1.contains("no matching package named") || failed.1.contains("without --offline") {
        skip!("the registry of this machine does not have what this workspace needs");
    }
    assert_ne!(failed.0["data"]["exit_code"], 0, "{}", failed.1);
    assert!(failed.1.contains("there_is_always_a_page"), "{}", failed.1);
    lived
        .works("grep -rn 'PLACEHOLDER' crates/chatos-assets/src/lib.rs && git log -S'!made::PAGE' --oneline")
        .await;
    lived
        .works(
            "sed -i 's/if !made::PAGE.is_empty()/if made::PAGE.is_empty()/' crates/chatos-assets/src/lib.rs",
        )
        .await;
    lived.works(test).await;
    lived
        .works("git add -u && git commit -qm 'assets: there is always a page' && git status --short --branch")
        .await;
}
