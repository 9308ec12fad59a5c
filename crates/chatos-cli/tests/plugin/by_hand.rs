//! Folders that a person put among the plugins by hand, and apps whose names clash.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{good, installed, json_run, sandbox, simple, tree, write};

fn folders(value: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let kept = value.as_array().unwrap_or_else(|| panic!("no list: {value}"));
    kept.iter().map(|kept| (text(&kept["from"]), text(&kept["to"]))).collect()
}

/// A folder's files: name, mode and content.
type Files = Vec<(String, u32, Vec<u8>)>;

/// Every folder of the person is where the program says, with every byte.
fn assert_kept(said: &Value, before: &[(String, Files)]) {
    let kept = folders(said);
    assert_eq!(kept.len(), before.len(), "{said}");
    for (from, content) in before {
        let (_, to) =
            kept.iter().find(|(was, _)| was == from).unwrap_or_else(|| panic!("{from} is not named"));
        assert_eq!(tree(Path::new(to)), *content, "{from}");
        assert!(!Path::new(from).join("mine.txt").exists());
    }
}

#[test]
fn install_and_remove_name_and_keep_folders_that_were_not_installed() {
    for with_host in [false, true] {
        let sandbox = sandbox();
        let by_hand = |names: &[&str]| -> Vec<_> {
            let made = names.iter().map(|name| {
                let folder = installed(&sandbox, name);
                simple(&folder, "com.example.a", "0.9", &["work"]);
                write(&folder.join("mine.txt"), *name);
                (folder.to_string_lossy().into_owned(), tree(&folder))
            });
            made.collect()
        };
        let mut mine = by_hand(&["com.example.a", "zz work"]);
        let host = with_host.then(|| sandbox.serve());
        let source = sandbox.root().join("source");
        simple(&source, "com.example.a", "1", &["x"]);
        let source = source.to_str().unwrap();
        let preview = good(&sandbox, &["plugin", "install", source, "--dry-run"]);
        assert_eq!(folders(&preview["plugins"][0]["kept"]).len(), 2, "{preview}");
        assert!(installed(&sandbox, "zz work/mine.txt").exists());
        let done = good(&sandbox, &["plugin", "install", source]);
        assert_kept(&done["plugins"][0]["kept"], &mine);
        let warned = done["warnings"].as_array().unwrap();
        assert_eq!(warned.iter().filter(|it| it["code"] == "folder_kept").count(), 2, "{done}");
        // What was installed is deleted; what came later by hand is not.
        mine = by_hand(&["zz more"]);
        let removed = good(&sandbox, &["plugin", "remove", "com.example.a"]);
        assert_kept(&removed["kept"], &mine);
        assert!(!installed(&sandbox, "com.example.a").exists());
        let listed = good(&sandbox, &["plugin", "list"]);
        assert!(!listed.to_string().contains("com.example.a"), "{listed}");
        // A person reads it, too, in both languages.
        for (lang, word) in [("en", "moved aside"), ("zh", "移到一旁")] {
            by_hand(&["com.example.a"]);
            let said = sandbox.run(&["plugin", "remove", "com.example.a", "--lang", lang]);
            assert!(said.status == 0 && said.stdout.contains(word), "{said:?}");
        }
        by_hand(&["com.example.a"]);
        let said = sandbox.run(&["plugin", "install", source]);
        assert!(said.stdout.contains("folder_kept") && said.stdout.contains("moved aside"), "{said:?}");
        if let Some(host) = host {
            host.stop();
        }
        let kept = fs::read_dir(sandbox.state().join("ui_apps/kept")).unwrap().count();
        assert_eq!(kept, 5, "one place for each time");
    }
}

#[test]
fn an_app_whose_name_two_plugins_have_is_not_guessed() {
    let sandbox = sandbox();
    // Both apps are called com.example.ok.a.
    for (plugin, app) in [("com.example", "ok.a"), ("com.example.ok", "a")] {
        let source = sandbox.root().join(plugin);
        let ai = json!({ "mcp": { "url": format!("https://{plugin}.invalid/") } });
        let manifest = json!({ "id": plugin, "name": plugin, "version": "1",
            "apps": [{ "id": app, "name": app, "entry": "a.mjs", "ai": ai }] });
        write(&source.join("plugin.json"), manifest.to_string());
        write(&source.join("a.mjs"), "export function mount() {}\n");
        good(&sandbox, &["plugin", "install", source.to_str().unwrap()]);
        let alone = good(&sandbox, &["plugin", "ai", &format!("{plugin}/{app}")]);
        assert_eq!((&alone["pluginId"], &alone["appId"]), (&json!(plugin), &json!(app)));
    }
    let guessed = json_run(&sandbox, &["plugin", "ai", "com.example.ok.a"]);
    assert_eq!((guessed.status != 0, guessed.code().as_str()), (true, "app_ambiguous"), "{guessed:?}");
    let error = &guessed.json()["error"];
    assert_eq!(error["details"]["apps"], json!(["com.example/ok.a", "com.example.ok/a"]));
    assert!(error["hint"].as_str().unwrap().contains("com.example.ok/a"), "{error}");
    for (written, plugin) in [("com.example/ok.a", "com.example"), ("app:com.example.ok/a", "com.example.ok")]
    {
        let found = good(&sandbox, &["plugin", "ai", written]);
        assert_eq!(found["pluginId"], plugin);
        assert!(found["mcp"]["url"].as_str().unwrap().contains(plugin), "{found}");
    }
    assert_eq!(json_run(&sandbox, &["plugin", "ai", "com.example/none"]).code(), "not_found");
}
