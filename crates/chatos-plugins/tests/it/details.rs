//! What a person sees before deciding.

use std::fs;

use chatos_manifest::Lang;
use chatos_wire::plugin::PluginDetails;
use serde_json::json;

use crate::support::{World, id, simple, write_files};

fn details(world: &World, plugin: &str) -> PluginDetails {
    let snapshot = world.scan();
    let plugin = snapshot.plugin_for_person(&id(plugin)).unwrap().clone();
    world.registry.details(&snapshot, &plugin, Lang::En, &|_| "stopped")
}

#[test]
fn everything_it_would_run_and_read() {
    let world = World::new();
    simple(&world.builtin("x"), "com.example.x", &["a"]);
    let text = json!({"id": "com.example.x", "name": "X", "publisher": {"name": "P"}, "capabilities": ["chat.read"],
        "homepage": "https://h/", "backend": {"entry": "b.mjs"}, "apps": [
        {"id": "local", "name": "L", "entry": "a.mjs", "ai": {"mcp": {"entry": "s.mjs", "command": "python3", "args": ["--flag", "a b"],
            "allowSub": false, "callMeta": {"workdir": "/etc"}}, "mcpPrompt": {"en": {"content": "hello"}}}},
        {"id": "remote", "name": "R", "entry": "a.mjs", "ai": {"mcp": {"url": "https://api.example.com/mcp", "auth": {"token": "canary"}}, "mcpServers": ["fs"]}}]});
    write_files(
        &world.user("com.example.x"),
        &[
            ("plugin.json", &text.to_string()),
            ("a.mjs", "export function mount() {}"),
            ("b.mjs", ""),
            ("s.mjs", ""),
            ("run*", "#!"),
        ],
    );
    let found = details(&world, "com.example.x");
    let wire = serde_json::to_value(&found).unwrap();
    assert!(!wire.to_string().contains("canary"));
    assert!(found.overrides_builtin);
    let entry = world.user("com.example.x/s.mjs").to_string_lossy().into_owned();
    assert_eq!(wire["servers"][0]["argv"], json!(["python3", entry, "--flag", "a b"]));
    assert_eq!(
        (&wire["servers"][0]["unusualCommand"], &wire["servers"][0]["workdirOutside"]),
        (&json!(true), &json!("/etc"))
    );
    assert_eq!(wire["servers"][1]["url"], "https://api.example.com/mcp");
    assert_eq!(wire["servers"][1]["authHosts"], json!(["api.example.com"]));
    assert_eq!(wire["exposure"][1]["mcpServers"], json!(["fs"]));
    assert_eq!(
        wire["prompts"],
        json!([{"appId": "local", "language": "en", "name": "mcp_com_example_x_local__en", "title": "L MCP Prompt", "bytes": 5}])
    );
    assert_eq!((found.file_count, wire["files"][3]["executable"].clone()), (5, json!(true)));
    assert_eq!(wire["changes"], serde_json::Value::Null);
    assert!(!found.data.exists);
    assert_eq!(found.problems.len(), 2, "{:?}", found.problems);
}

#[test]
fn what_changed_since_it_was_trusted() {
    let world = World::new();
    let dir = world.user("com.example.x");
    simple(&dir, "com.example.x", &["a"]);
    write_files(
        &dir,
        &[
            ("same.txt", "same"),
            ("edit.txt", "one\ntwo\n"),
            ("gone.txt", "bye"),
            ("big.txt", &"x".repeat(300_000)),
        ],
    );
    fs::write(dir.join("bin"), [0, 1, 2]).unwrap();
    world.trust("com.example.x");
    write_files(&dir, &[("edit.txt", "one\nTWO\n"), ("new.txt", "hi"), ("big.txt", "small")]);
    fs::write(dir.join("bin"), [0, 1, 3]).unwrap();
    fs::remove_file(dir.join("gone.txt")).unwrap();
    let found = details(&world, "com.example.x");
    let changes = serde_json::to_value(found.changes.unwrap()).unwrap();
    assert_eq!(
        changes,
        json!({"added": [{"path": "new.txt", "size": 2}], "removed": [{"path": "gone.txt", "size": 3}],
            "changed": [{"path": "big.txt", "size": 5, "oldSize": 300_000}, {"path": "bin", "size": 3, "oldSize": 3}, {"path": "edit.txt", "size": 8, "oldSize": 8}]})
    );
    let snapshot = world.scan();
    let plugin = snapshot.plugin(&id("com.example.x")).unwrap();
    let diff = |path: &str| world.registry.file_diff(plugin, path).unwrap();
    let edit = diff("edit.txt").unwrap();
    assert_eq!(
        (edit.kind.as_str(), edit.old_text.as_deref(), edit.new_text.as_deref()),
        ("text", Some("one\ntwo\n"), Some("one\nTWO\n"))
    );
    assert!(edit.unified.unwrap().contains("-two\n+TWO\n"));
    assert_eq!(diff("bin").unwrap().kind, "binary");
    assert_eq!(diff("big.txt").unwrap().kind, "too_large");
    assert_eq!(diff("gone.txt").unwrap().new_text, None);
    assert_eq!(diff("new.txt").unwrap().old_text, None);
    for outside in ["../../../../etc/passwd", "/etc/passwd", "", "nothing", "./edit.txt"] {
        assert!(diff(outside).is_none(), "{outside}");
    }
}

/// Two files made to be hard to compare, and more text than is kept: still an answer, soon.
#[test]
fn hostile_texts_are_compared_within_bounds() {
    let world = World::new();
    let dir = world.user("com.example.t");
    simple(&dir, "com.example.t", &["x"]);
    let lines = |seed: u32| -> String {
        let mut n = seed;
        (0..60_000)
            .map(|_| {
                n = n.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                format!("{}\n", (n >> 16) % 7)
            })
            .collect()
    };
    write_files(&dir, &[("hard.txt", &lines(1))]);
    // 100 texts of 250 KiB: 25 MiB, of which 16 are kept.
    for n in 0..100 {
        write_files(&dir, &[(&format!("many/{n:03}.txt"), &format!("{n}{}", "y".repeat(250 * 1024)))]);
    }
    world.trust("com.example.t");
    write_files(&dir, &[("hard.txt", &lines(2)), ("many/000.txt", "new"), ("many/099.txt", "new")]);
    let snapshot = world.scan();
    let plugin = snapshot.plugin_for_person(&id("com.example.t")).unwrap();
    let kind = |path: &str| world.registry.file_diff(plugin, path).unwrap().unwrap().kind;
    assert_eq!(kind("hard.txt"), "text");
    assert_eq!(kind("many/000.txt"), "text");
    assert_eq!(kind("many/099.txt"), "unavailable", "beyond what is kept");
    let changes = details(&world, "com.example.t").changes.unwrap();
    assert_eq!(changes.changed.len(), 3, "every changed file is named all the same");
}

/// A token in a manifest appears in no difference.
#[test]
fn credentials_are_masked_in_differences() {
    let world = World::new();
    let dir = world.user("com.example.t");
    simple(&dir, "com.example.t", &["x"]);
    let manifest = |version: &str| {
        json!({ "id": "com.example.t", "name": "T", "version": version, "apps": [ { "id": "x", "name": "X", "entry": "x.mjs",
            "ai": { "mcp": { "url": "https://example.com/", "auth": { "token": "canary \"quoted\"",
                "headers": { "X-Key": "canary-header" } } } } } ] })
        .to_string()
    };
    write_files(&dir, &[("plugin.json", &manifest("1"))]);
    world.trust("com.example.t");
    write_files(&dir, &[("plugin.json", &manifest("2"))]);
    let snapshot = world.scan();
    let plugin = snapshot.plugin_for_person(&id("com.example.t")).unwrap();
    let diff = world.registry.file_diff(plugin, "plugin.json").unwrap().unwrap();
    let shown = serde_json::to_string(&diff).unwrap();
    assert!(!shown.contains("canary") && shown.contains("********"), "{shown}");
    assert!(diff.unified.unwrap().contains("\"version\":\"2\""));
}
