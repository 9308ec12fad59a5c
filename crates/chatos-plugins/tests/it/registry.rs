//! Scan, precedence, trust, names and listing over a real state directory.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;

use chatos_contribution::ServerIdentity;
use chatos_manifest::{AppId, Lang};
use chatos_plugins::listing::Reader;
use chatos_plugins::{ExternalNames, Origin, Refresh, TrustError, TrustState, TrustStore, Unverified};
use serde_json::{Value, json};

use crate::support::{MINIMAL, World, codes, id, simple, tempdir, write_files};

fn ids(world: &World) -> Vec<String> {
    let shown = |plugin: &Arc<chatos_plugins::Plugin>| {
        let mark = if plugin.active { "" } else { "(waits)" };
        format!("{}@{}{mark}", plugin.id(), plugin.loaded.origin.as_str())
    };
    world.scan().plugins.iter().map(shown).collect()
}

fn listing(world: &World) -> Value {
    let snapshot = world.registry.snapshot();
    serde_json::to_value(world.registry.listing(&snapshot, Lang::En, Reader::Person, &|_| "stopped")).unwrap()
}

#[test]
fn a_broken_plugin_never_hides_the_others() {
    let world = World::new();
    simple(&world.user("b"), "com.example.b", &["x"]);
    simple(&world.user("a"), "com.example.a", &["x"]);
    write_files(&world.user("broken"), &[("plugin.json", "{")]);
    write_files(&world.user("bad-id"), &[("plugin.json", r#"{"id":"..","name":"x"}"#)]);
    fs::create_dir(world.user("no-plugin")).unwrap();
    fs::write(world.ui_apps().plugins().join("file.txt"), "").unwrap();
    assert_eq!(ids(&world), ["com.example.a@user", "com.example.b@user"]);
    assert_eq!(codes(&world.registry.snapshot().problems), ["id_invalid /id", "manifest_syntax "]);
}

#[test]
fn revision_grows_only_with_content() {
    let world = World::new();
    simple(&world.user("a"), "com.example.a", &["x"]);
    let first = world.scan();
    assert_eq!(first.revision, 1);
    assert_eq!(world.scan().revision, 1);
    assert_eq!(world.registry.refresh(&Refresh::Deep).revision, 1, "read again, nothing differs");
    // Touching a file is no change.
    fs::write(world.user("a").join("x.mjs"), "export function mount() {}\n").unwrap();
    assert_eq!(world.scan().revision, 1);
    simple(&world.user("a"), "com.example.a", &["x", "y"]);
    let second = world.scan();
    assert_eq!((second.revision, second.plugins[0].loaded.apps.len()), (2, 2));
    assert_eq!(first.plugins[0].loaded.apps.len(), 1, "a snapshot in use does not change");
    fs::remove_dir_all(world.user("a")).unwrap();
    assert_eq!((world.scan().revision, world.scan().plugins.len()), (3, 0));
}

#[test]
fn only_what_changed_is_read_again() {
    let world = World::new();
    simple(&world.user("a"), "com.example.a", &["x"]);
    simple(&world.user("b"), "com.example.b", &["x"]);
    world.scan();
    // Stamps of files written just now are not believed; let them age.
    std::thread::sleep(std::time::Duration::from_millis(150));
    let before = world.scan();
    simple(&world.user("b"), "com.example.b", &["x", "y"]);
    let after = world.scan();
    assert!(Arc::ptr_eq(&before.plugins[0].loaded, &after.plugins[0].loaded));
    assert!(!Arc::ptr_eq(&before.plugins[1].loaded, &after.plugins[1].loaded));
    // A file that was missing is noticed when it appears, and the other way round.
    fs::remove_file(world.user("a").join("x.mjs")).unwrap();
    assert_eq!(world.scan().plugins[0].loaded.apps.len(), 0);
    fs::write(world.user("a").join("x.mjs"), "").unwrap();
    assert_eq!(world.scan().plugins[0].loaded.apps.len(), 1);
}

#[test]
fn duplicates_and_linked_directories() {
    let world = World::new();
    simple(&world.user("b"), "com.example.same", &["second"]);
    simple(&world.user("a"), "com.example.same", &["first"]);
    let outside = tempdir();
    simple(outside.path(), "com.example.linked", &["x"]);
    symlink(outside.path(), world.user("link")).unwrap();
    symlink("/nowhere", world.user("dangling")).unwrap();
    let snapshot = world.scan();
    assert_eq!(snapshot.plugins.len(), 1);
    assert_eq!(snapshot.plugins[0].loaded.apps[0].manifest.id.as_str(), "first");
    assert_eq!(codes(&snapshot.problems), ["duplicate_plugin /id", "path_symlink "]);
    assert_eq!(
        snapshot.problems[0].message.en,
        "Plugin id \"com.example.same\" is in both \"a\" and \"b\"; \"a\" is used"
    );
}

#[test]
fn an_unreadable_root_is_a_problem_and_an_absent_one_is_empty() {
    let world = World::new();
    fs::remove_dir_all(world.temp.path().join("builtin")).unwrap();
    fs::write(world.temp.path().join("builtin"), "not a directory").unwrap();
    fs::remove_dir_all(world.ui_apps().plugins()).unwrap();
    assert_eq!(codes(&world.scan().problems), ["root_unreadable "]);
}

#[test]
fn row_22_a_user_plugin_overrides_a_built_in_only_once_trusted() {
    let world = World::new();
    simple(&world.builtin("com.example.x"), "com.example.x", &["old"]);
    simple(&world.user("com.example.x"), "com.example.x", &["new"]);
    assert_eq!(ids(&world), ["com.example.x@builtin", "com.example.x@user(waits)"]);
    let snapshot = world.scan();
    assert_eq!(snapshot.plugin(&id("com.example.x")).unwrap().loaded.origin, Origin::Builtin);
    assert_eq!(codes(&snapshot.problems), ["overrides_builtin /id"]);
    let list = listing(&world);
    assert_eq!(list["plugins"][1]["shadows"], "builtin");
    assert_eq!(list["apps"].as_array().unwrap().len(), 1, "only what is in use: {list}");

    world.trust("com.example.x");
    assert_eq!(ids(&world), ["com.example.x@user"]);
    // A changed byte gives the built-in back.
    fs::write(world.user("com.example.x").join("new.mjs"), "changed").unwrap();
    assert_eq!(ids(&world), ["com.example.x@builtin", "com.example.x@user(waits)"]);
    let snapshot = world.scan();
    assert_eq!(snapshot.plugin_for_person(&id("com.example.x")).unwrap().trust.state, TrustState::Changed);
}

#[test]
fn a_development_directory_overrides_both_and_may_be_a_link() {
    let mut world = World::new();
    let dev = tempdir();
    simple(&dev.path().join("real"), "com.example.x", &["dev"]);
    symlink(dev.path().join("real"), dev.path().join("link")).unwrap();
    simple(&world.builtin("x"), "com.example.x", &["builtin"]);
    simple(&world.user("x"), "com.example.x", &["user"]);
    world.restart_with_dev(&[dev.path().join("link")]);
    assert_eq!(ids(&world), ["com.example.x@dev"]);
    assert!(world.scan().plugins[0].is_trusted());
}

#[test]
fn trust_is_for_exact_bytes_and_survives_a_restart() {
    let mut world = World::new();
    let dir = world.user("com.example.tools");
    write_files(
        &dir,
        &[("plugin.json", MINIMAL), ("hello/index.mjs", "1"), ("node_modules/x/index.js", "1")],
    );
    assert_eq!(world.scan().plugins[0].trust.state, TrustState::Untrusted);
    world.trust("com.example.tools");
    assert_eq!(world.registry.snapshot().plugins[0].trust.state, TrustState::Trusted);
    world.restart();
    assert_eq!(world.scan().plugins[0].trust.state, TrustState::Trusted);
    let plugin = Arc::clone(&world.scan().plugins[0]);
    assert!(world.registry.verify(&plugin).is_ok());

    // Row 20: a file the manifest does not name, with its times set back.
    let file = dir.join("node_modules/x/index.js");
    let before = fs::metadata(&file).unwrap().modified().unwrap();
    fs::write(&file, "2").unwrap();
    fs::File::options().write(true).open(&file).unwrap().set_modified(before).unwrap();
    assert!(
        matches!(world.registry.verify(&plugin), Err(Unverified::NotTrusted(TrustState::Changed))),
        "checked on disk before every start"
    );
    assert_eq!(world.scan().plugins[0].trust.state, TrustState::Changed);
    fs::write(&file, "1").unwrap();
    assert_eq!(world.scan().plugins[0].trust.state, TrustState::Trusted);
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(world.scan().plugins[0].trust.state, TrustState::Changed, "the executable bit");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    fs::write(dir.join("extra"), "").unwrap();
    assert_eq!(world.scan().plugins[0].trust.state, TrustState::Changed, "an added file");
    fs::remove_file(dir.join("extra")).unwrap();
    assert_eq!(world.scan().plugins[0].trust.state, TrustState::Trusted);
    assert!(world.registry.untrust(&id("com.example.tools")).unwrap());
    assert_eq!(world.registry.snapshot().plugins[0].trust.state, TrustState::Untrusted);
}

#[test]
fn trusting_something_else_than_was_shown_is_refused() {
    let world = World::new();
    let dir = world.user("com.example.tools");
    write_files(&dir, &[("plugin.json", MINIMAL), ("hello/index.mjs", "1")]);
    let snapshot = world.scan();
    let shown = world.registry.digest(&snapshot.plugins[0]).unwrap();
    fs::write(dir.join("hello/index.mjs"), "2").unwrap();
    let error = world.registry.trust(&id("com.example.tools"), &shown, "test", 0).unwrap_err();
    assert!(matches!(error, TrustError::Mismatch { .. }), "{error}");
    assert!(world.trust.list().unwrap().is_empty());
    assert!(matches!(
        world.registry.trust(&id("com.example.none"), &shown, "t", 0),
        Err(TrustError::NotFound(_))
    ));
    simple(&world.builtin("b"), "com.example.b", &[]);
    world.scan();
    assert!(matches!(
        world.registry.trust(&id("com.example.b"), &shown, "t", 0),
        Err(TrustError::NotNeeded { .. })
    ));
}

#[test]
fn an_unreadable_trust_store_trusts_nothing() {
    struct Broken;
    impl TrustStore for Broken {
        fn get(
            &self,
            _: &chatos_manifest::PluginId,
        ) -> Result<Option<chatos_plugins::TrustRecord>, chatos_plugins::TrustStoreError> {
            Err(chatos_plugins::TrustStoreError("disk".into()))
        }
        fn list(&self) -> Result<Vec<chatos_plugins::TrustRecord>, chatos_plugins::TrustStoreError> {
            Err(chatos_plugins::TrustStoreError("disk".into()))
        }
        fn put(
            &self,
            _: &chatos_plugins::TrustRecord,
            _: &[chatos_plugins::TrustedFile],
            _: &std::collections::BTreeMap<String, Vec<u8>>,
        ) -> Result<(), chatos_plugins::TrustStoreError> {
            Err(chatos_plugins::TrustStoreError("disk".into()))
        }
        fn remove(&self, _: &chatos_manifest::PluginId) -> Result<bool, chatos_plugins::TrustStoreError> {
            Err(chatos_plugins::TrustStoreError("disk".into()))
        }
        fn files(
            &self,
            _: &chatos_manifest::PluginId,
        ) -> Result<Vec<chatos_plugins::TrustedFile>, chatos_plugins::TrustStoreError> {
            Err(chatos_plugins::TrustStoreError("disk".into()))
        }
        fn text(&self, _: &str) -> Result<Option<Vec<u8>>, chatos_plugins::TrustStoreError> {
            Err(chatos_plugins::TrustStoreError("disk".into()))
        }
    }
    let world = World::new();
    simple(&world.user("a"), "com.example.a", &["x"]);
    let registry = chatos_plugins::Registry::open(
        world.registry.roots().clone(),
        Arc::new(Broken),
        chatos_contribution::DefaultLists::default(),
    );
    let snapshot = registry.refresh(&Refresh::Check);
    assert_eq!(snapshot.plugins[0].trust.state, TrustState::Untrusted);
    let refused = registry.verify(&snapshot.plugins[0]);
    assert!(matches!(refused, Err(Unverified::NotTrusted(TrustState::Untrusted))), "{refused:?}");
    assert_eq!(codes(&snapshot.problems), ["trust_unreadable "]);
}

fn with_server(dir: &std::path::Path, plugin: &str, app: &str) {
    let text = json!({"id": plugin, "name": plugin, "apps": [{"id": app, "name": app, "entry": "x.mjs",
        "ai": {"mcp": {"entry": "x.mjs"}, "mcpPrompt": {"zh": {"content": "提示"}}}}]});
    write_files(dir, &[("plugin.json", &text.to_string()), ("x.mjs", "")]);
}

fn server_of(world: &World, plugin: &str, app: &str) -> Option<String> {
    let contribution = world.registry.snapshot().contribution(&id(plugin), &AppId::parse(app).unwrap())?;
    Some(contribution.mcp?.normalized_name)
}

#[test]
fn names_stay_with_who_had_them_first() {
    let mut world = World::new();
    with_server(&world.user("first"), "com.example", "ok.a");
    world.trust("com.example");
    assert_eq!(server_of(&world, "com.example", "ok.a").as_deref(), Some("com_example_ok_a"));
    // By identity bytes the newcomer would be first.
    with_server(&world.user("second"), "com.example.ok", "a");
    world.scan();
    assert_eq!(server_of(&world, "com.example.ok", "a"), None, "not trusted: no contribution");
    assert!(
        !fs::read_to_string(world.ui_apps().names_file()).unwrap().contains("com.example.ok/a"),
        "and nothing reserved"
    );
    world.trust("com.example.ok");
    world.restart();
    let snapshot = world.scan();
    assert_eq!(server_of(&world, "com.example", "ok.a").as_deref(), Some("com_example_ok_a"));
    assert_eq!(server_of(&world, "com.example.ok", "a").as_deref(), Some("com_example_ok_a_2"));
    assert_eq!(codes(&snapshot.problems), ["name_collision /apps/0/id"]);
    let contribution = snapshot.contribution(&id("com.example.ok"), &AppId::parse("a").unwrap()).unwrap();
    assert_eq!(contribution.mcp.as_ref().unwrap().name, "com.example.ok.a", "kept for display");
    assert_eq!(contribution.mcp_prompt.unwrap().names.zh, "mcp_com_example_ok_a_2");
}

#[test]
fn user_added_servers_and_prompts_take_part() {
    let world = World::new();
    with_server(&world.user("a"), "com.example", "a");
    let external = ExternalNames {
        servers: vec![(ServerIdentity::admin("7"), "com example a".into())],
        prompts: ["mcp_com_example_a_2".to_owned()].into(),
    };
    world.registry.set_external_names(external);
    world.trust("com.example");
    assert_eq!(server_of(&world, "com.example", "a").as_deref(), Some("com_example_a_2"));
    let contribution =
        world.registry.snapshot().contribution(&id("com.example"), &AppId::parse("a").unwrap()).unwrap();
    assert_eq!(contribution.mcp_prompt.unwrap().names.zh, "mcp_com_example_a_2_2");
}

#[test]
fn a_broken_names_file_is_a_problem_and_is_replaced() {
    let mut world = World::new();
    fs::write(world.ui_apps().names_file(), "{").unwrap();
    with_server(&world.user("a"), "com.example", "a");
    world.restart();
    assert_eq!(codes(&world.scan().problems), ["names_unusable "]);
    world.trust("com.example");
    assert!(world.registry.snapshot().problems.is_empty());
    assert!(
        fs::read_to_string(world.ui_apps().names_file())
            .unwrap()
            .contains("\"app:com.example/a\": \"com_example_a\"")
    );
}

#[test]
fn default_lists_count_when_the_manifest_says_true() {
    let world = World::with_defaults(&[(
        "com.example__a.yaml",
        "mcpServers: [task_manager]\nprompts: [default]\nmcp: {}\n",
    )]);
    let text = json!({"id": "com.example", "name": "x", "apps": [{"id": "a", "name": "a", "entry": "x.mjs", "ai": {"mcpServers": true}}]});
    write_files(&world.user("a"), &[("plugin.json", &text.to_string()), ("x.mjs", "")]);
    let snapshot = world.scan();
    assert_eq!(codes(&snapshot.problems), ["default_list_key com.example__a.yaml#"]);
    let list = listing(&world);
    assert_eq!(list["apps"][0]["ai"]["mcpServers"], json!(["task_manager"]));
    assert_eq!(list["apps"][0]["ai"]["prompts"], Value::Null);
}

#[test]
fn the_listing() {
    let world = World::new();
    let dir = world.user("com.example.tools");
    let text = json!({"id": "com.example.tools", "name": "Example Tools", "version": "0.1.0", "x-more": [1],
        "publisher": "Someone", "backend": {"entry": "backend/index.mjs"}, "apps": [
        {"id": "db-client", "name": "DB Client", "icon": "🗄", "entry": {"type": "module", "path": "db client/100%.mjs", "compact": "c.mjs"},
         "ai": {"mcp": {"url": "https://mcp.example.com/", "auth": {"token": "canary"}, "callMeta": {"k": "canary"}},
                "mcpPrompt": {"zh": "p.md", "en": {"content": "canary text"}}, "prompts": ["default"]}},
        {"id": "zeta", "name": "Ärger", "entry": "c.mjs"}]});
    write_files(
        &dir,
        &[
            ("plugin.json", &text.to_string()),
            ("db client/100%.mjs", ""),
            ("c.mjs", ""),
            ("p.md", "canary"),
            ("backend/index.mjs", ""),
        ],
    );
    world.trust("com.example.tools");
    let list = listing(&world);
    assert!(!list.to_string().contains("canary"), "auth, callMeta and texts are never listed");
    let plugin = &list["plugins"][0];
    assert_eq!(plugin["trust"]["state"], "trusted");
    assert_eq!(plugin["trust"]["decidedAt"], "2026-01-11T00:00:00.000Z");
    assert!(plugin["trust"]["digest"].as_str().unwrap().starts_with("sha256:"));
    assert_eq!(
        plugin["backend"],
        json!({"entry": "backend/index.mjs", "available": true, "state": "stopped"})
    );
    assert_eq!(plugin["extra"], json!({"x-more": [1]}));
    assert_eq!(plugin["publisher"]["name"], "Someone");
    let app = &list["apps"][1];
    assert_eq!(list["apps"][0]["name"], "Ärger", "accents do not move names to the end");
    assert_eq!(app["entry"]["url"], "chatos-plugin://com.example.tools/db%20client/100%25.mjs");
    assert_eq!(app["entry"]["compact"]["path"], "c.mjs");
    assert_eq!(app["route"], "apps/plugin/com.example.tools/db-client");
    assert_eq!(
        app["ai"],
        json!({"mcp": {"name": "com.example.tools.db-client", "url": "https://mcp.example.com/", "description": "",
                "tags": ["uiapp", "uiapp:com.example.tools", "uiapp:com.example.tools.db-client", "uiapp:com.example.tools:db-client"],
                "enabled": true, "allowMain": true, "allowSub": true, "hasAuth": true},
            "mcpPrompt": {"title": "DB Client MCP Prompt", "zh": {"path": "p.md"}, "en": {"path": null},
                "names": {"zh": "mcp_com_example_tools_db-client", "en": "mcp_com_example_tools_db-client__en"}},
            "mcpServers": null, "prompts": ["default"], "agent": null})
    );
    // Apps see no directories.
    write_files(&world.user("broken"), &[("plugin.json", "[]")]);
    let snapshot = world.scan();
    let for_app =
        serde_json::to_value(world.registry.listing(&snapshot, Lang::Zh, Reader::App, &|_| "stopped"))
            .unwrap();
    assert!(!for_app.to_string().contains(&*world.temp.path().to_string_lossy()), "{for_app}");
    assert_eq!(for_app["errors"][0]["message"], "plugin.json 必须是 JSON 对象，实际为 array");
}

#[test]
fn group_a_14_five_hundred_plugins_fifty_broken() {
    let world = World::new();
    for n in 0..500 {
        let dir = world.user(&format!("p{n:03}"));
        if n % 10 == 0 {
            write_files(&dir, &[("plugin.json", "{\"id\":")]);
        } else {
            simple(&dir, &format!("com.example.p{n}"), &["a"]);
        }
    }
    let list = {
        world.scan();
        listing(&world)
    };
    assert_eq!(list["plugins"].as_array().unwrap().len(), 450);
    assert_eq!(list["errors"].as_array().unwrap().len(), 50);
}

#[test]
fn group_a_11_unusual_but_valid() {
    let world = World::new();
    let apps: Vec<Value> = (0..100).map(|n| json!({"id": format!("a_{n}.x-y"), "name": format!("应用 {n} 🎉"), "entry": "入口/模块 1.mjs"})).collect();
    let text = format!(
        "\u{feff}{}",
        json!({"id": "Com.Example_1.x-2", "name": "名字 <b>", "apps": apps, "version": "v1-β", "x": 1e300})
    );
    write_files(&world.user("任意 目录"), &[("plugin.json", &text), ("入口/模块 1.mjs", "")]);
    let snapshot = world.scan();
    assert_eq!((snapshot.plugins[0].loaded.apps.len(), snapshot.problems.len()), (100, 0));
}
