//! A day of real work (issue 18): this repository, cloned into a home that has been lived in, with faults in it. An agent
//! with a scripted model finds and mends them with git, npm and cargo, through the host and its sandbox. Nobody is asked
//! for ordinary commands, and what is refused says why.

use std::path::{Path, PathBuf};

use chatos_testkit::{Sandbox, Script, ScriptedModel, child, skip};
use serde_json::{Value, json};

use crate::lived::{self, put, variable};
use crate::support::{last, messages, offered, send, session, until};

/// A fault: the file, what is right, and what was made of it.
const FAULTS: [(&str, &str, &str); 3] = [
    ("plugins/com.chatos.taskboard/lib/board.mjs", "inColumn.length > limit", "inColumn.length < limit"),
    ("plugins/com.chatos.notes/lib/note.mjs", "id === '' ? word", "id !== '' ? word"),
    (
        "crates/chatos-assets/src/lib.rs",
        "if made::PAGE.is_empty() { PLACEHOLDER }",
        "if !made::PAGE.is_empty() { PLACEHOLDER }",
    ),
];
/// Names the repository where this runs as somebody who does not reach the usual one.
const SOURCES: &str = "CHATOS_TEST_SOURCES";

const BOARD_TEST: &str = "import assert from 'node:assert/strict';\nimport { test } from 'node:test';\n\
    import { arrange } from '../plugins/com.chatos.taskboard/lib/board.mjs';\n\
    test('a column over its limit says so', () => {\n\
    const view = { groupBy: 'status', wip: { doing: 1 } };\n\
    const tasks = [1, 2].map((id) => ({ id, status: 'doing', title: 't' + id, updatedAt: '' }));\n\
    assert.equal(arrange(view, tasks).columns.find((column) => column.key === 'doing').over, true);\n});\n";
const ID_CHECK: &str = "import { idFromTitle } from '../plugins/com.chatos.notes/lib/note.mjs';\n\
    process.exit(idFromTitle('Trip to town') === 'trip-to-town' ? 0 : 1);\n";

/// What the model does next, from what it was told last, and what has to come of it.
struct Step {
    tool: &'static str,
    arguments: fn(&str) -> Value,
    /// What the result has to say.
    tells: &'static [&'static str],
}

fn run(command: &str) -> Value {
    json!({ "command": command, "timeout_ms": 600_000 })
}

fn mend(at: usize) -> Value {
    let (path, right, wrong) = FAULTS[at];
    json!({ "path": path, "old_string": wrong, "new_string": right })
}

const fn command(arguments: fn(&str) -> Value, tells: &'static [&'static str]) -> Step {
    Step { tool: "run_shell_command", arguments, tells }
}

const fn edit(arguments: fn(&str) -> Value) -> Step {
    Step { tool: "edit_file", arguments, tells: &[] }
}

/// The commit that a bisection named.
fn first_bad(told: &str) -> String {
    let line = told.lines().find(|line| line.ends_with("is the first bad commit"));
    line.and_then(|line| line.split(' ').next()).unwrap_or("nothing").to_owned()
}

/// One fault by its test, one by bisection, one by cargo; then what is closed.
static STEPS: [Step; 18] = [
    command(
        |_| run("git status --short && git log --oneline -5"),
        &["exit code: 0", "sandbox: full", "a change of no. 1"],
    ),
    command(
        |_| run("cd check && npm test --offline 2>&1"),
        &["exit code: 1", "a column over its limit says so"],
    ),
    command(
        |_| run("grep -n 'limit' plugins/com.chatos.taskboard/lib/board.mjs"),
        &["inColumn.length < limit"],
    ),
    edit(|_| mend(0)),
    command(|_| run("cd check && npm test --offline 2>&1"), &["exit code: 0"]),
    command(
        |_| {
            run("git add -A && git commit -qm 'board: a column over its limit says so' && git status --short")
        },
        &["exit code: 0", "unsigned_commit"],
    ),
    command(
        |_| {
            run(
                "git bisect start HEAD HEAD~4 && git bisect run node check/id.mjs 2>&1 && git bisect reset 2>&1",
            )
        },
        &["exit code: 0", "is the first bad commit"],
    ),
    command(
        |told| run(&format!("git revert --no-edit {} && node check/id.mjs", first_bad(told))),
        &["exit code: 0", "a change of no. 1"],
    ),
    command(|_| run("cat ~/.ssh/id_ed25519"), &["sandbox_denied", "\"outside\": true"]),
    command(|_| run("echo done > ~/notes/today.txt"), &["sandbox_denied", "\"write\": ["]),
    command(|_| run("echo done > ~/today.txt"), &["sandbox_denied", "\"outside\": true"]),
    command(|_| run("git clone -q https://example.org/a.git 2>&1"), &["sandbox_denied", "example.org"]),
    command(|_| run("python3 -c 'print(6 * 7)' && git st && git stash list"), &["exit code: 0", "42"]),
    command(
        |_| run("cargo test --offline --locked -q -p chatos-assets 2>&1"),
        &["exit code: 101", "there_is_always_a_page"],
    ),
    command(
        |_| {
            run(
                "git log -S'!made::PAGE' --oneline -- crates/chatos-assets && grep -n PLACEHOLDER crates/chatos-assets/src/lib.rs",
            )
        },
        &["exit code: 0", "a change of no. 2"],
    ),
    edit(|_| mend(2)),
    command(|_| run("cargo test --offline --locked -q -p chatos-assets 2>&1"), &["exit code: 0"]),
    command(
        |_| run("git commit -qam 'assets: there is always a page' && git log --oneline -8"),
        &["exit code: 0"],
    ),
];
/// So many of them need no cargo.
const WITHOUT_CARGO: usize = 13;

/// What a person did before: cloning, and a history with faults.
fn git(dir: &Path, arguments: &[&str]) -> bool {
    let told =
        [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "safe.directory"), ("GIT_CONFIG_VALUE_0", "*")];
    let own = ["-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false"];
    let done = child("git").args(own).args(arguments).envs(told).current_dir(dir).output();
    done.is_ok_and(|done| done.status.success())
}

fn sources() -> String {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let repository = variable(SOURCES).map_or(own, PathBuf::from);
    format!("file://{}", repository.display())
}

/// The clone, with checks and one commit for each fault.
fn clone(root: &Path) -> bool {
    std::fs::create_dir_all(root.parent().unwrap()).unwrap();
    let place = root.to_str().unwrap();
    if !git(root.parent().unwrap(), &["clone", "-q", "--depth", "1", &sources(), place]) {
        return false;
    }
    put(
        root,
        "check/package.json",
        "{\"name\":\"check\",\"type\":\"module\",\"scripts\":{\"test\":\"node --test\"}}",
    );
    put(root, "check/board.test.mjs", BOARD_TEST);
    put(root, "check/id.mjs", ID_CHECK);
    assert!(git(root, &["add", "check"]) && git(root, &["commit", "-qm", "checks"]));
    for (at, (file, right, wrong)) in FAULTS.iter().enumerate() {
        let path = root.join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(right), "{file} is another by now");
        std::fs::write(&path, text.replace(right, wrong)).unwrap();
        assert!(git(root, &["commit", "-qam", &format!("a change of no. {at}")]));
    }
    true
}

/// Does the first steps of the day; gives why it could not, where it could not.
fn work(steps: &'static [Step]) -> Option<&'static str> {
    let mut sandbox = Sandbox::new(lived::chatos());
    let model = ScriptedModel::start(move |request| {
        let done = request["messages"]
            .as_array()
            .map_or(0, |all| all.iter().filter(|said| said["role"] == "tool").count());
        let Some(step) = steps.get(done) else { return Script::say("The faults are mended.") };
        let arguments = (step.arguments)(&last(request).1);
        Script::call(format!("call-{done}"), offered(request, step.tool).unwrap(), &arguments)
    });
    let lived = lived::settle(&mut sandbox);
    if !(lived.git && lived.npm && lived.python) {
        return Some("git, node, npm or python3 is not installed in the system");
    }
    if steps.len() > WITHOUT_CARGO && !lived.cargo {
        return Some("rustup with a toolchain is not installed");
    }
    let home = sandbox.home().canonicalize().unwrap();
    let root = home.join("code/project");
    std::fs::create_dir_all(home.join("notes")).unwrap();
    if !clone(&root) {
        return Some("these sources are in no repository of git that can be cloned");
    }
    let host = sandbox.serve();
    let post = |path: &str, body: Value| {
        let made = host.ask("POST", &format!("/api/v1/{path}"), Some(&body));
        assert!(made.status < 300, "{path}: {}", made.text());
        made.json()["id"].as_str().map(str::to_owned)
    };
    let scripted = json!({ "name": "scripted", "provider": "openai", "model": "scripted", "baseUrl": model.base_url(),
        "contextTokens": 400_000 });
    let made = post("models", scripted).unwrap();
    host.ask("POST", &format!("/api/v1/models/{made}/default"), Some(&json!({})));
    // A person who works all day lets the agent write; commands ask by themselves.
    let set = host.ask("PUT", "/api/v1/settings/confirmFileChanges", Some(&json!({ "value": false })));
    assert!(set.status < 300, "{}", set.text());
    let worker =
        json!({ "name": "worker", "mode": "flow", "landConfigId": "lc_developer", "workspaceRoot": root });
    let chat = session(&host, &post("agents", worker).unwrap());
    let run = send(&host, &chat, "Three things are wrong in this project. Find and mend them.");
    let ended = until(&host, &run, &["done", "failed", "aborted", "waiting_prompt", "interrupted"]);
    let asked = host.ask("GET", "/api/v1/prompts?view=all&limit=50", None).json();
    assert_eq!(asked["items"], json!([]), "nobody was asked all day");
    let said = messages(&host, &chat);
    let results: Vec<&str> = said
        .iter()
        .filter(|message| message["role"] == "tool")
        .map(|message| message["content"].as_str().unwrap_or_default())
        .collect();
    if results.first().is_some_and(|first| !first.contains("sandbox: full")) {
        return Some("the kernel does not confine fully (Landlock 3, seccomp)");
    }
    for (at, (step, told)) in steps.iter().zip(&results).enumerate() {
        if told.contains("no matching package named") || told.contains("without --offline") {
            return Some("the registry of this machine does not have what this workspace needs");
        }
        for wanted in step.tells {
            assert!(told.contains(wanted), "step {at} does not say {wanted}: {told}");
        }
    }
    assert_eq!((ended["state"].as_str(), results.len()), (Some("done"), steps.len()), "{ended}");
    let mended = if steps.len() > WITHOUT_CARGO { &FAULTS[..] } else { &FAULTS[..2] };
    for (file, right, _) in mended {
        assert!(std::fs::read_to_string(root.join(file)).unwrap().contains(right), "{file} is mended");
    }
    assert!(!home.join("today.txt").exists() && !home.join("notes/today.txt").exists());
    let sent = model.requests().iter().map(Value::to_string).collect::<String>();
    assert!(!sent.contains(lived::SECRET), "no secret of the home left it");
    host.stop();
    None
}

#[test]
fn three_faults_are_found_and_mended_with_git_npm_and_cargo() {
    if let Some(why) = work(&STEPS) {
        skip!("{why}");
    }
}

#[test]
fn two_faults_are_found_and_mended_without_cargo() {
    if let Some(why) = work(&STEPS[..WITHOUT_CARGO]) {
        skip!("{why}");
    }
}

/// The same as another user than root. The toolchain of root is none of theirs, so cargo is left out.
#[test]
fn it_is_done_by_another_user_as_well() {
    let place = Sandbox::new(lived::chatos());
    // The sources may lie where only root reads; somebody else works on a copy of their own.
    if !git(place.root(), &["clone", "-q", "--bare", "--depth", "1", &sources(), "sources.git"]) {
        skip!("these sources are in no repository of git that can be cloned");
    }
    let more = [(SOURCES, place.root().join("sources.git"))];
    let test = "day::two_faults_are_found_and_mended_without_cargo";
    if let Some(why) = lived::as_another_user(&place, &[test], &more) {
        skip!("{why}");
    }
}
