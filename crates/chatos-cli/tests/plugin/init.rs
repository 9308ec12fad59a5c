//! `chatos plugin init`: every template in both languages is a plugin that passes, tests itself, packs and installs.

use std::fs;
use std::path::Path;
use std::process::Command;

use chatos_testkit::{RunningHost, Sandbox};
use serde_json::{Value, json};

use super::support::{give_node, good, json_run, sandbox, tree};

const TEMPLATES: [&str; 4] = ["async-task", "basic", "notepad", "server-only"];

fn init(sandbox: &Sandbox, dir: &Path, more: &[&str]) -> Value {
    let mut args = vec!["plugin", "init", dir.to_str().unwrap()];
    args.extend(["--id", "com.example.demo", "--name", "Demo \"1\""]);
    args.extend(more);
    good(sandbox, &args)
}

#[expect(clippy::disallowed_methods, reason = "runs the tests a project brings, as its author would")]
fn own_tests(sandbox: &Sandbox, dir: &Path) {
    let tests = dir.join("tests/plugin.test.mjs");
    let output = Command::new(sandbox.root().join("bin/node"))
        .arg("--test")
        .arg(tests)
        .current_dir(dir)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn each_template_passes_tests_itself_packs_and_installs() {
    let sandbox = sandbox();
    give_node(&sandbox);
    for template in TEMPLATES {
        for lang in ["zh", "en"] {
            let dir = sandbox.root().join(format!("{template}-{lang}"));
            let made = init(&sandbox, &dir, &["-t", template, "--app-id", "my-app", "--lang", lang]);
            assert_eq!((&made["template"], &made["kept"]), (&json!(template), &json!([])));
            let path = dir.to_str().unwrap();
            let report = good(&sandbox, &["plugin", "validate", path, "--strict"]);
            assert_eq!(report["plugin"]["id"], "com.example.demo");
            assert_eq!(report["plugin"]["name"], "Demo \"1\"");
            assert_eq!(report["lent"], json!([]), "it needs nothing of anybody");
            own_tests(&sandbox, &dir);
            let readme = fs::read_to_string(dir.join("README.md")).unwrap();
            assert_eq!(readme.contains("两条规则"), lang == "zh", "{readme}");
            for (name, _, content) in tree(&dir) {
                let text = String::from_utf8_lossy(&content);
                assert!(!text.contains("__PLUGIN") && !text.contains("__APP_ID"), "{name}");
                assert!(!text.contains("//zh") && !text.contains("//en"), "{name}");
            }
            assert!(dir.join("apps/my-app/mcp-server.mjs").is_file());
            let [one, two] =
                ["one.zip", "two.zip"].map(|name| sandbox.root().join(format!("{template}-{lang}-{name}")));
            let packed = good(&sandbox, &["plugin", "pack", path, "-o", one.to_str().unwrap()]);
            good(&sandbox, &["plugin", "pack", path, "-o", two.to_str().unwrap()]);
            assert_eq!(fs::read(&one).unwrap(), fs::read(&two).unwrap(), "the same bytes every time");
            let installed = good(&sandbox, &["plugin", "install", one.to_str().unwrap()]);
            assert_eq!(installed["plugins"][0]["digest"], packed["digest"]);
            assert_eq!(installed["warnings"], json!([]), "{installed}");
        }
    }
    // The last one: trusted, its tool is called through the host.
    let digest = good(&sandbox, &["plugin", "show", "com.example.demo"])["digest"].clone();
    good(&sandbox, &["plugin", "trust", "com.example.demo", "--digest", digest.as_str().unwrap()]);
    let called = good(&sandbox, &["tools", "call", "com.example.demo.my-app", "count", "name=a"]);
    assert!(called.to_string().contains("\\\"value\\\": 1"), "{called}");
}

#[test]
fn what_is_there_stays_and_what_is_wrong_is_refused_before_anything_is_written() {
    let sandbox = sandbox();
    let dir = sandbox.root().join("demo");
    init(&sandbox, &dir, &[]);
    let again = json_run(&sandbox, &["plugin", "init", dir.to_str().unwrap(), "--id", "a.b", "--name", "X"]);
    assert_eq!((again.status, again.code().as_str()), (3, "dir_not_empty"), "{again:?}");
    assert!(again.stdout.contains("--force"));
    fs::write(dir.join("README.md"), "mine").unwrap();
    fs::remove_file(dir.join("plugin.json")).unwrap();
    let forced = init(&sandbox, &dir, &["--force", "--version", "2.0.0"]);
    assert_eq!(forced["files"], json!(1), "{forced}");
    assert_eq!(fs::read_to_string(dir.join("README.md")).unwrap(), "mine");
    assert!(fs::read_to_string(dir.join("plugin.json")).unwrap().contains("\"2.0.0\""));

    let other = sandbox.root().join("other");
    let other_dir = other.to_str().unwrap();
    for (args, status, code) in [
        (vec!["--id", "../x", "--name", "X"], 2, "id_invalid"),
        (vec!["--id", "a.b", "--name", "X", "--app-id", "a b"], 2, "id_invalid"),
        (vec!["--id", "a.b", "--name", "X", "-t", "nothing"], 4, "not_found"),
    ] {
        let mut all = vec!["plugin", "init", other_dir];
        all.extend(&args);
        let refused = json_run(&sandbox, &all);
        assert_eq!((refused.status, refused.code().as_str()), (status, code), "{args:?}: {refused:?}");
        assert!(!other.exists(), "{args:?}");
    }
    let nowhere = json_run(&sandbox, &["plugin", "init"]);
    assert_eq!((nowhere.status, nowhere.code().as_str()), (2, "usage"), "{nowhere:?}");
    assert!(nowhere.stdout.contains("DIR"), "{nowhere:?}");
    // Nobody can be asked: the folder's name gives both.
    let plain = sandbox.root().join("My Tools");
    let made = good(&sandbox, &["plugin", "init", plain.to_str().unwrap()]);
    assert_eq!(made["id"], "com.example.my-tools", "{made}");
    assert!(fs::read_to_string(plain.join("plugin.json")).unwrap().contains("\"My Tools\""));
    let listed = good(&sandbox, &["plugin", "init", "--list-templates"]);
    let names: Vec<&str> = listed["templates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|template| template["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, TEMPLATES);
}

#[test]
fn offline_leaves_nothing_that_asks_a_registry() {
    let sandbox = sandbox();
    // There is Node, and no npm.
    give_node(&sandbox);
    for (at, template) in TEMPLATES.iter().enumerate() {
        let dir = sandbox.root().join(template);
        let lang = if at % 2 == 0 { "zh" } else { "en" };
        init(&sandbox, &dir, &["-t", template, "--lang", lang, "--offline"]);
        let package = fs::read_to_string(dir.join("package.json")).unwrap();
        assert!(!package.contains("esbuild") && !dir.join("build.mjs").exists(), "{package}");
        let readme = fs::read_to_string(dir.join("README.md")).unwrap();
        assert!(!readme.contains("npm run build"), "{readme}");
        let shown = dir.to_str().unwrap();
        good(&sandbox, &["plugin", "validate", shown, "--strict"]);
        own_tests(&sandbox, &dir);
        good(&sandbox, &["plugin", "pack", shown, "-o", sandbox.root().join("packed.zip").to_str().unwrap()]);
        // What is written, in `chatos dev`: its tool server starts and lists its tools.
        let args = ["dev", shown, "--no-open", "--ready-json", "--port", "0"];
        let host = RunningHost::start(sandbox.command(&args)).unwrap_or_else(|outcome| panic!("{outcome:?}"));
        let tools = host.ask("GET", "/api/v1/mcp-servers/app:com.example.demo%2Fapp/tools", None).json();
        assert!(!tools["items"].as_array().unwrap().is_empty(), "{tools}");
        assert!(host.stop().success());
    }
}

#[test]
fn who_installs_a_module_that_does_not_parse_is_told() {
    let sandbox = sandbox();
    give_node(&sandbox);
    let dir = sandbox.root().join("demo");
    init(&sandbox, &dir, &[]);
    fs::write(dir.join("backend/index.mjs"), "const x = ;\n").unwrap();
    let installed = good(&sandbox, &["plugin", "install", dir.to_str().unwrap()]);
    let warning = &installed["warnings"][0];
    assert_eq!(
        (warning["code"].as_str(), warning["severity"].as_str()),
        (Some("module_syntax"), Some("warning"))
    );
    assert!(warning["message"].as_str().unwrap().contains("line 1"), "{installed}");
}
