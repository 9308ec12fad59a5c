//! `chatos plugin …` as a person and as a script use it, with and without a running host.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use chatos_testkit::zips::{plugin_entries, zip};
use chatos_testkit::{Sandbox, Terminal};
use serde_json::{Value, json};

use crate::support::{copy, data_of, good, installed, json_run, sandbox, simple, tree, write};

fn digest_of(sandbox: &Sandbox, id: &str) -> String {
    good(sandbox, &["plugin", "show", id])["digest"].as_str().unwrap().to_owned()
}

fn trust(sandbox: &Sandbox, id: &str) {
    good(sandbox, &["plugin", "trust", id, "--digest", &digest_of(sandbox, id)]);
}

fn state_of(sandbox: &Sandbox, id: &str) -> Value {
    let listing = good(sandbox, &["plugin", "list", "--source", "user"]);
    let found = listing["plugins"].as_array().unwrap().iter().find(|plugin| plugin["id"] == id);
    found.map_or(Value::Null, |plugin| plugin["trust"]["state"].clone())
}

#[test]
fn a_folder_and_a_zip_install_the_same_with_and_without_a_host() {
    for with_host in [false, true] {
        let sandbox = sandbox();
        let host = with_host.then(|| sandbox.serve());
        let source = sandbox.root().join("a folder");
        simple(&source, "com.example.a", "1.0", &["one", "two"]);
        write(&source.join("bin/run.sh"), "#!/bin/sh\n");
        fs::set_permissions(source.join("bin/run.sh"), fs::Permissions::from_mode(0o4777)).unwrap();
        write(&source.join("node_modules/x/index.js"), "left out");
        write(&source.join("one/index.mjs.map"), "left out");
        let from_folder = good(&sandbox, &["plugin", "install", source.to_str().unwrap()]);
        let first = tree(&installed(&sandbox, "com.example.a"));
        let one = &from_folder["plugins"][0];
        assert_eq!(json!([one["files"], one["excluded"], one["replaced"]]), json!([4, 2, false]));
        assert_eq!(one["pluginDir"], json!(installed(&sandbox, "com.example.a")));
        assert!(from_folder["logId"].as_str().unwrap().starts_with("ins_"));
        let run = first.iter().find(|(name, ..)| name == "bin/run.sh").unwrap();
        assert_eq!(run.1 & 0o7777, 0o755, "modes are normalised");

        let file = sandbox.root().join("p.ZIP");
        good(&sandbox, &["plugin", "pack", source.to_str().unwrap(), "-o", file.to_str().unwrap()]);
        let from_zip = good(&sandbox, &["plugin", "install", file.to_str().unwrap()]);
        let two = &from_zip["plugins"][0];
        assert_eq!((&two["digest"], &two["replaced"]), (&one["digest"], &json!(true)));
        assert_eq!(two["previousVersion"], "1.0");
        assert_eq!(tree(&installed(&sandbox, "com.example.a")), first);
        let apps = good(&sandbox, &["plugin", "list"]);
        let names: Vec<&Value> = apps["apps"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|app| app["plugin"]["id"] == "com.example.a")
            .map(|app| &app["id"])
            .collect();
        assert_eq!(names, [&json!("one"), &json!("two")]);
        let staging: Vec<_> = fs::read_dir(sandbox.state().join("ui_apps/.staging")).unwrap().collect();
        assert!(staging.is_empty(), "{staging:?}");
        drop(host);
    }
}

#[test]
fn several_plugins_in_one_package_are_installed_together_or_not_at_all() {
    let sandbox = sandbox();
    let source = sandbox.root().join("pair");
    simple(&source.join("a"), "com.example.a", "1", &["x"]);
    simple(&source.join("b"), "com.example.b", "1", &["x"]);
    write(&source.join("README.md"), "beside");
    let report = good(&sandbox, &["plugin", "install", source.to_str().unwrap()]);
    let ids: Vec<&Value> = report["plugins"].as_array().unwrap().iter().map(|plugin| &plugin["id"]).collect();
    assert_eq!(ids, [&json!("com.example.a"), &json!("com.example.b")]);
    assert_eq!(report["warnings"][0]["code"], "files_ignored");
    let before = (tree(&installed(&sandbox, "com.example.a")), tree(&installed(&sandbox, "com.example.b")));
    simple(&source.join("a"), "com.example.a", "2", &["x", "y"]);
    fs::remove_file(source.join("b/x/index.mjs")).unwrap();
    let refused = json_run(&sandbox, &["plugin", "install", source.to_str().unwrap()]);
    assert_eq!((refused.status, refused.code().as_str()), (1, "path_missing"));
    let after = (tree(&installed(&sandbox, "com.example.a")), tree(&installed(&sandbox, "com.example.b")));
    assert_eq!(after, before);
    simple(&source.join("b"), "com.example.a", "1", &["x"]);
    let refused = json_run(&sandbox, &["plugin", "install", source.to_str().unwrap()]);
    assert_eq!((refused.status, refused.code().as_str()), (1, "duplicate_plugin"));
}

#[test]
fn a_changed_byte_asks_again_and_names_the_files() {
    let sandbox = sandbox();
    let source = sandbox.root().join("source");
    simple(&source, "com.example.a", "1", &["x"]);
    write(&source.join("lib/gone.txt"), "old\n");
    write(&source.join("lib/kept.txt"), "same\n");
    write(&source.join("tool.sh"), "#!/bin/sh\n");
    good(&sandbox, &["plugin", "install", source.to_str().unwrap()]);
    assert_eq!(state_of(&sandbox, "com.example.a"), "untrusted");
    trust(&sandbox, "com.example.a");
    assert_eq!(state_of(&sandbox, "com.example.a"), "trusted");
    let again = good(&sandbox, &["plugin", "install", source.to_str().unwrap()]);
    assert_eq!(again["plugins"][0]["trust"], "trusted", "identical bytes stay trusted");

    write(&source.join("x/index.mjs"), "export function mount() { /* new */ }\n");
    fs::remove_file(source.join("lib/gone.txt")).unwrap();
    write(&source.join("lib/new.txt"), "new\n");
    fs::set_permissions(source.join("tool.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    let dry = good(&sandbox, &["plugin", "install", source.to_str().unwrap(), "--dry-run"]);
    let mut named: Vec<String> = dry["plugins"][0]["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| format!("{} {}", change["change"].as_str().unwrap(), change["path"].as_str().unwrap()))
        .collect();
    named.sort();
    let expected = ["added lib/new.txt", "changed tool.sh", "changed x/index.mjs", "removed lib/gone.txt"];
    assert_eq!(named, expected);
    assert_eq!(state_of(&sandbox, "com.example.a"), "trusted", "a dry run changes nothing");

    let report = good(&sandbox, &["plugin", "install", source.to_str().unwrap()]);
    assert_eq!(report["plugins"][0]["trust"], "changed");
    assert_eq!(state_of(&sandbox, "com.example.a"), "changed");
    let sheet = good(&sandbox, &["plugin", "trust", "com.example.a", "--show"]);
    let paths = |key: &str| -> Vec<&str> {
        sheet["changes"][key].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect()
    };
    assert_eq!(paths("added"), ["lib/new.txt"]);
    assert_eq!(paths("removed"), ["lib/gone.txt"]);
    assert_eq!(paths("changed"), ["tool.sh", "x/index.mjs"]);
    let tool = &sheet["changes"]["changed"][0];
    assert_eq!((&tool["executable"], &tool["oldExecutable"]), (&json!(true), &json!(false)), "{tool}");
    let diffs = sheet["diffs"].as_array().unwrap();
    let page = diffs.iter().find(|diff| diff["path"] == "x/index.mjs").unwrap();
    assert!(page["unified"].as_str().unwrap().contains("+export function mount() { /* new */ }"));
    let shown = sandbox.run(&["plugin", "trust", "com.example.a", "--show"]).stdout;
    for line in ["+ lib/new.txt", "- lib/gone.txt", "~ x/index.mjs", "~ tool.sh"] {
        assert!(shown.contains(line), "{line} in {shown}");
    }
    assert_eq!(state_of(&sandbox, "com.example.a"), "changed", "looking decides nothing");
    trust(&sandbox, "com.example.a");
    assert_eq!(state_of(&sandbox, "com.example.a"), "trusted");
    good(&sandbox, &["plugin", "untrust", "com.example.a"]);
    assert_eq!(state_of(&sandbox, "com.example.a"), "untrusted");
}

#[test]
fn only_a_person_or_a_pinned_digest_gives_trust() {
    let sandbox = sandbox();
    let source = sandbox.root().join("source");
    simple(&source, "com.example.a", "1", &["x"]);
    let before = json_run(&sandbox, &["plugin", "install", source.to_str().unwrap(), "--trust"]);
    assert_eq!((before.status, before.code().as_str()), (3, "needs_person"));
    assert!(!installed(&sandbox, "com.example.a").exists(), "refused before anything is installed");
    good(&sandbox, &["plugin", "install", source.to_str().unwrap(), "--yes"]);
    let refused = json_run(&sandbox, &["plugin", "trust", "com.example.a"]);
    assert_eq!((refused.status, refused.code().as_str()), (3, "needs_person"));
    let other = format!("sha256:{}", "0".repeat(64));
    let refused = json_run(&sandbox, &["plugin", "trust", "com.example.a", "--digest", &other]);
    assert_eq!((refused.status, refused.code().as_str()), (3, "conflict"));
    let error = refused.json()["error"].clone();
    assert_eq!(error["details"], json!({ "expected": other, "found": digest_of(&sandbox, "com.example.a") }));
    let refused = json_run(&sandbox, &["plugin", "trust", "com.example.a", "--digest", "sha256:12"]);
    assert_eq!((refused.status, refused.code().as_str()), (1, "digest_invalid"));
    let refused = json_run(&sandbox, &["plugin", "trust", "com.chatos.notes", "--digest", &other]);
    assert_eq!((refused.status, refused.code().as_str()), (3, "trust_not_needed"));
    assert_eq!(state_of(&sandbox, "com.example.a"), "untrusted");
}

#[test]
fn a_person_at_a_terminal_types_the_id() {
    let sandbox = sandbox();
    let source = sandbox.root().join("source");
    simple(&source, "com.example.a", "1", &["x"]);
    let manifest = json!({ "id": "com.example.a", "name": "A\u{202e}evil", "apps": [
        { "id": "x", "name": "X", "entry": "x/index.mjs",
          "ai": { "mcp": { "entry": "x/index.mjs", "args": ["--flag", "two words"] } } } ] });
    write(&source.join("plugin.json"), manifest.to_string());
    let install = ["plugin", "install", source.to_str().unwrap(), "--trust"];
    let mut terminal = Terminal::start(sandbox.command(&install));
    terminal.wait_for("type its id");
    terminal.type_line("yes");
    let (status, shown) = terminal.end();
    assert_eq!(status, 3, "{shown}");
    assert!(!shown.contains('\u{202e}') && shown.contains("\\u{202e}"), "made visible: {shown}");
    assert!(shown.contains("two words") && shown.contains("unverified") || shown.contains("not given"));
    assert_eq!(state_of(&sandbox, "com.example.a"), "untrusted", "installed, not trusted");
    let mut terminal = Terminal::start(sandbox.command(&["plugin", "trust", "com.example.a"]));
    terminal.wait_for("type its id");
    terminal.type_line("com.example.a");
    // The last question is who may use it.
    terminal.wait_for("to an agent?");
    terminal.type_line("");
    terminal.wait_for("Ask before each tool?");
    terminal.type_line("");
    let (status, shown) = terminal.end();
    assert_eq!(status, 0, "{shown}");
    assert!(shown.contains("ChatOS can use") && shown.contains("asks before each tool"), "{shown}");
    assert_eq!(state_of(&sandbox, "com.example.a"), "trusted");
    // Removing asks about data; Enter keeps it.
    write(&data_of(&sandbox, "com.example.a").join("notes.md"), "mine");
    let mut terminal = Terminal::start(sandbox.command(&["plugin", "remove", "com.example.a"]));
    terminal.wait_for("Type delete");
    terminal.type_line("");
    assert_eq!(terminal.end().0, 0);
    assert!(data_of(&sandbox, "com.example.a").join("notes.md").exists());
}

#[test]
fn problems_name_their_place_and_hide_nothing() {
    let sandbox = sandbox();
    good(&sandbox, &["plugin", "list"]);
    let user = sandbox.state().join("ui_apps/plugins");
    simple(&user.join("good"), "com.example.good", "1", &["x"]);
    write(&user.join("syntax/plugin.json"), "{ \"id\": ");
    write(&user.join("twice/plugin.json"), r#"{"id":"com.example.t","id":"com.example.t","name":"T"}"#);
    write(&user.join("noname/plugin.json"), r#"{"id":"com.example.noname"}"#);
    write(&user.join("reserved/plugin.json"), r#"{"id":"con","name":"C"}"#);
    simple(&user.join("mixed"), "com.example.mixed", "1", &["one", "two", "three"]);
    fs::remove_file(user.join("mixed/two/index.mjs")).unwrap();
    let escape = json!({ "id": "com.example.escape", "name": "E", "apps": [
        { "id": "a", "name": "A", "entry": { "type": "module", "path": "../../../etc/passwd" } },
        { "id": "b", "name": "B", "entry": { "type": "iframe", "path": "x" } } ] });
    write(&user.join("escape/plugin.json"), escape.to_string());
    let listing = good(&sandbox, &["plugin", "list"]);
    let ids: Vec<&str> = listing["plugins"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|plugin| plugin["source"] == "user")
        .map(|plugin| plugin["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["com.example.escape", "com.example.good", "com.example.mixed"]);
    let mut found: Vec<String> = listing["errors"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|problem| problem["severity"] == "error")
        .map(|problem| {
            assert!(!problem["message"].as_str().unwrap().is_empty() && problem["hint"].is_string());
            let dir = problem["dir"].as_str().unwrap().rsplit('/').next().unwrap();
            format!("{dir} {} {}", problem["path"].as_str().unwrap(), problem["code"].as_str().unwrap())
        })
        .collect();
    found.sort();
    assert_eq!(
        found,
        [
            "escape /apps/0/entry/path path_outside",
            "escape /apps/1/entry/type entry_type",
            "mixed /apps/1/entry path_missing",
            "noname /name missing_field",
            "reserved /id id_reserved",
            "syntax  manifest_syntax",
            "twice  manifest_duplicate_key",
        ]
    );
    let apps: Vec<&str> = listing["apps"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|app| app["plugin"]["id"] == "com.example.mixed")
        .map(|app| app["id"].as_str().unwrap())
        .collect();
    assert_eq!(apps, ["one", "three"], "one broken app costs itself");
    let shown = sandbox.run(&["plugin", "list", "--problems"]).stdout;
    assert!(shown.contains("com.example.escape /apps/0/entry/path  path_outside"), "{shown}");
    let zh = sandbox.run(&["plugin", "list", "--problems", "--lang", "zh"]).stdout;
    assert!(zh.contains("path_outside") && zh != shown, "{zh}");

    // The same folder: refused as a package, or installed as far as it works.
    let refused = json_run(&sandbox, &["plugin", "install", user.join("mixed").to_str().unwrap()]);
    assert_eq!((refused.status, refused.code().as_str()), (1, "path_missing"));
    assert_eq!(refused.json()["error"]["details"]["errors"][0]["path"], "/apps/1/entry");
    let source = sandbox.root().join("mixed");
    copy(&user.join("mixed"), &source);
    let report = good(&sandbox, &["plugin", "install", source.to_str().unwrap(), "--allow-problems"]);
    assert_eq!(report["warnings"][0]["code"], "path_missing");
    let refused =
        json_run(&sandbox, &["plugin", "install", user.join("noname").to_str().unwrap(), "--allow-problems"]);
    assert_eq!((refused.status, refused.code().as_str()), (1, "missing_field"), "not tolerable");
}

#[test]
fn removing_with_and_without_data() {
    let sandbox = sandbox();
    let source = sandbox.root().join("source");
    simple(&source, "com.example.a", "1", &["x"]);
    simple(&sandbox.root().join("other"), "com.example.b", "1", &["x"]);
    for folder in ["source", "other"] {
        good(&sandbox, &["plugin", "install", sandbox.root().join(folder).to_str().unwrap()]);
    }
    let other = tree(&installed(&sandbox, "com.example.b"));
    let data = data_of(&sandbox, "com.example.a");
    write(&data.join("deep/notes.md"), "mine");
    trust(&sandbox, "com.example.a");
    let removed = good(&sandbox, &["plugin", "remove", "com.example.a"]);
    assert_eq!(
        json!([
            removed["ok"],
            removed["pluginId"],
            removed["removed"],
            removed["data"],
            removed["rowsRemoved"]
        ]),
        json!([true, "com.example.a", true, "kept", 0])
    );
    assert!(!installed(&sandbox, "com.example.a").exists());
    assert_eq!(fs::read_to_string(data.join("deep/notes.md")).unwrap(), "mine");
    // Trust went with it: the same bytes ask again.
    good(&sandbox, &["plugin", "install", source.to_str().unwrap()]);
    assert_eq!(state_of(&sandbox, "com.example.a"), "untrusted");
    let removed = good(&sandbox, &["plugin", "remove", "com.example.a", "--data", "delete"]);
    assert_eq!(removed["data"], "deleted");
    assert!(!data.exists());
    assert_eq!(tree(&installed(&sandbox, "com.example.b")), other);
    let again = json_run(&sandbox, &["plugin", "remove", "com.example.a"]);
    assert_eq!((again.status, again.code().as_str()), (4, "not_found"));
    for id in ["..", ".", "../plugins", "a/b", ""] {
        let refused = json_run(&sandbox, &["plugin", "remove", id, "--data", "delete"]);
        assert_eq!((refused.status, refused.code().as_str()), (4, "not_found"), "{id}");
    }
    assert!(
        sandbox.state().join("ui_apps/plugins").is_dir() && sandbox.state().join("ui_apps/data").is_dir()
    );
    let builtin = json_run(&sandbox, &["plugin", "remove", "com.chatos.notes"]);
    assert_eq!((builtin.status, builtin.code().as_str()), (3, "builtin_not_removable"));
}

#[test]
fn a_built_in_is_overridden_only_by_a_trusted_copy() {
    let sandbox = sandbox();
    let source = sandbox.root().join("source");
    simple(&source, "com.chatos.notes", "99", &["mine"]);
    let report = good(&sandbox, &["plugin", "install", source.to_str().unwrap()]);
    assert_eq!(report["plugins"][0]["trust"], "untrusted");
    let listing = good(&sandbox, &["plugin", "list"]);
    let mut both: Vec<String> = listing["plugins"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|plugin| plugin["id"] == "com.chatos.notes")
        .map(|plugin| format!("{} {} {}", plugin["source"], plugin["trusted"], plugin["shadows"]))
        .collect();
    both.sort();
    assert_eq!(both, [r#""builtin" true null"#, r#""user" false "builtin""#]);
    assert!(listing["errors"].as_array().unwrap().iter().any(|p| p["code"] == "overrides_builtin"));
    assert_eq!(good(&sandbox, &["plugin", "show", "com.chatos.notes"])["overridesBuiltin"], true);
    trust(&sandbox, "com.chatos.notes");
    let listing = good(&sandbox, &["plugin", "list"]);
    let apps: Vec<&Value> = listing["apps"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|app| app["plugin"]["id"] == "com.chatos.notes")
        .map(|app| &app["id"])
        .collect();
    assert_eq!(apps, [&json!("mine")]);
    good(&sandbox, &["plugin", "remove", "com.chatos.notes"]);
    let listing = good(&sandbox, &["plugin", "list", "--source", "builtin"]);
    assert!(listing["plugins"].as_array().unwrap().iter().any(|plugin| plugin["id"] == "com.chatos.notes"));
}

#[test]
fn what_is_no_package_and_wrong_usage() {
    let sandbox = sandbox();
    let run = |args: &[&str]| {
        let outcome = json_run(&sandbox, args);
        (outcome.status, outcome.code())
    };
    let file = sandbox.root().join("p.tar");
    fs::write(&file, zip(&plugin_entries("com.example.z"), b"")).unwrap();
    assert_eq!(run(&["plugin", "install", "/nowhere/at/all"]), (4, "not_found".to_owned()));
    assert_eq!(run(&["plugin", "install", file.to_str().unwrap()]), (1, "not_a_package".to_owned()));
    let empty = sandbox.root().join("empty");
    fs::create_dir(&empty).unwrap();
    assert_eq!(run(&["plugin", "install", empty.to_str().unwrap()]), (1, "package_no_manifest".to_owned()));
    assert_eq!(run(&["plugin", "validate", empty.to_str().unwrap()]).0, 4);
    assert_eq!(run(&["plugin", "show", "com.example.none"]), (4, "not_found".to_owned()));
    assert_eq!(sandbox.run(&["plugin", "install"]).status, 2);
    assert_eq!(sandbox.run(&["plugin", "remove", "x", "--data", "shred"]).status, 2);
}

#[test]
fn commands_without_a_host_wait_for_each_other() {
    let sandbox = sandbox();
    good(&sandbox, &["plugin", "list"]);
    std::thread::scope(|scope| {
        for n in 0..4 {
            let sandbox = &sandbox;
            scope.spawn(move || {
                let source = sandbox.root().join(format!("source-{n}"));
                simple(&source, &format!("com.example.p{n}"), "1", &["x"]);
                good(sandbox, &["plugin", "install", source.to_str().unwrap()]);
            });
        }
    });
    let listing = good(&sandbox, &["plugin", "list", "--source", "user"]);
    assert_eq!(listing["plugins"].as_array().unwrap().len(), 4);
}
