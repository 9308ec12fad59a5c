//! Loading one directory: what files on disk make of a manifest (plugins §3–4, §10).

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use chatos_contribution::DefaultLists;
use chatos_plugins::{Icon, Loaded, LoadedPlugin, Origin, load};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};

use crate::support::{MINIMAL, codes, tempdir, write_files};

fn load_dir(dir: &Path) -> Loaded {
    load(dir, Origin::User, &DefaultLists::default()).unwrap()
}

fn plugin(dir: &Path) -> (LoadedPlugin, Vec<String>) {
    let loaded = load_dir(dir);
    let problems = codes(&loaded.problems);
    (loaded.plugin.unwrap_or_else(|| panic!("{problems:?}")), problems)
}

fn manifest(apps: Value) -> String {
    json!({"id": "com.example.ok", "name": "Ok", "apps": apps}).to_string()
}

fn one_app(entry: Value, ai: Value) -> String {
    let mut app = json!({"id": "a", "name": "A", "entry": entry});
    if !ai.is_null() {
        app["ai"] = ai;
    }
    manifest(json!([app]))
}

#[test]
fn row_1_the_minimal_example() {
    let dir = tempdir();
    write_files(dir.path(), &[("plugin.json", MINIMAL), ("hello/index.mjs", "export function mount() {}")]);
    let (plugin, problems) = plugin(dir.path());
    assert_eq!((plugin.apps.len(), problems.len()), (1, 0));
    assert_eq!(plugin.id().as_str(), "com.example.tools");
}

#[test]
fn a_directory_without_manifest_is_no_plugin() {
    let dir = tempdir();
    assert!(load(dir.path(), Origin::User, &DefaultLists::default()).is_none());
}

#[test]
fn row_5_bad_paths_cost_their_app_only() {
    let dir = tempdir();
    let app = |id: &str, path: &str| json!({"id": id, "name": id, "entry": {"type": "module", "path": path}});
    let text = manifest(json!([
        app("one", "one.mjs"),
        app("two", "../../etc/passwd"),
        app("three", "a..b/..foo.mjs")
    ]));
    write_files(dir.path(), &[("plugin.json", &text), ("one.mjs", ""), ("a..b/..foo.mjs", "")]);
    let (plugin, problems) = plugin(dir.path());
    let ids: Vec<&str> = plugin.apps.iter().map(|app| app.manifest.id.as_str()).collect();
    assert_eq!(ids, ["one", "three"], "rows 5 and 6");
    assert_eq!(problems, ["path_outside /apps/1/entry/path"]);
}

#[test]
fn row_7_links() {
    let dir = tempdir();
    for (target, expected) in [
        ("/etc/hostname", Some("path_symlink /apps/0/entry/path")),
        ("../../../etc/hostname", Some("path_symlink /apps/0/entry/path")),
        ("index.mjs", Some("path_symlink /apps/0/entry/path")),
        ("gone.mjs", Some("path_missing /apps/0/entry/path")),
        ("../real.mjs", None),
    ] {
        let dir = dir.path().join(target.replace('/', "_"));
        write_files(
            &dir,
            &[
                ("plugin.json", &one_app(json!({"type": "module", "path": "a/index.mjs"}), Value::Null)),
                ("real.mjs", ""),
            ],
        );
        fs::create_dir(dir.join("a")).unwrap();
        symlink(target, dir.join("a/index.mjs")).unwrap();
        let (plugin, problems) = plugin(&dir);
        assert_eq!(problems, Vec::from_iter(expected), "{target}");
        assert_eq!(plugin.apps.len(), usize::from(expected.is_none()));
    }
}

#[test]
fn a_linked_directory_does_not_lead_out() {
    let dir = tempdir();
    let outside = tempdir();
    fs::write(outside.path().join("index.mjs"), "").unwrap();
    write_files(dir.path(), &[("plugin.json", &one_app(json!("sub/index.mjs"), Value::Null))]);
    symlink(outside.path(), dir.path().join("sub")).unwrap();
    assert_eq!(plugin(dir.path()).1, ["path_symlink /apps/0/entry"]);
}

#[test]
fn rows_8_and_9_compact_and_backend() {
    let dir = tempdir();
    let text = json!({"id": "com.example.ok", "name": "Ok", "backend": {"entry": "a"}, "apps": [
        {"id": "a", "name": "A", "entry": {"type": "module", "path": "a/index.mjs", "compact": "a/compact.mjs"}}]});
    write_files(dir.path(), &[("plugin.json", &text.to_string()), ("a/index.mjs", "")]);
    let (found, problems) = plugin(dir.path());
    assert_eq!(problems, ["path_not_file /backend/entry", "path_missing /apps/0/entry/compact"]);
    assert!(found.apps[0].manifest.entry.compact.is_none() && found.backend.is_none());
    assert!(found.manifest.backend.is_some(), "declared, not available");
    let text = text
        .to_string()
        .replace("a/compact.mjs", "a")
        .replace("\"entry\":\"a\"", "\"entry\":\"a/index.mjs\"");
    write_files(dir.path(), &[("plugin.json", &text)]);
    let (found, problems) = plugin(dir.path());
    assert_eq!(problems, ["path_not_file /apps/0/entry/compact"]);
    assert!(found.backend.unwrap().ends_with("a/index.mjs"));
}

#[test]
fn row_13_and_group_a_manifests_that_are_no_files() {
    let parent = tempdir();
    let check = |name: &str, make: &dyn Fn(&Path)| {
        let dir = parent.path().join(name);
        fs::create_dir(&dir).unwrap();
        make(&dir.join("plugin.json"));
        let loaded = load_dir(&dir);
        assert!(loaded.plugin.is_none());
        assert_eq!(codes(&loaded.problems), ["manifest_unreadable "], "{name}");
        assert_eq!(loaded.problems[0].message.en, "plugin.json is not a regular file", "{name}");
    };
    check("fifo", &|path| mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap());
    check("directory", &|path| fs::create_dir(path).unwrap());
    check("link", &|path| symlink("/etc/hostname", path).unwrap());
    check("socket", &|path| drop(std::os::unix::net::UnixListener::bind(path).unwrap()));
    // A sparse file of 20 MB is refused by its size, before it is read.
    let dir = parent.path().join("large");
    fs::create_dir(&dir).unwrap();
    fs::File::create(dir.join("plugin.json")).unwrap().set_len(20_000_000).unwrap();
    assert_eq!(codes(&load_dir(&dir).problems), ["manifest_too_large "]);
}

#[test]
fn entries_that_are_fifos_or_devices_do_not_hang() {
    let dir = tempdir();
    write_files(dir.path(), &[("plugin.json", &one_app(json!("x.mjs"), Value::Null))]);
    mknodat(CWD, dir.path().join("x.mjs"), FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
    assert_eq!(plugin(dir.path()).1, ["path_not_file /apps/0/entry"]);
}

#[test]
fn row_11_prompt_sizes() {
    let dir = tempdir();
    let text = one_app(json!("x.mjs"), json!({"mcpPrompt": {"zh": "p.md"}}));
    write_files(dir.path(), &[("plugin.json", &text), ("x.mjs", "")]);
    for (content, expected) in [
        ("x".repeat(131_072).into_bytes(), None),
        ("x".repeat(131_073).into_bytes(), Some("prompt_too_large /apps/0/ai/mcpPrompt/zh")),
        (b"\xef\xbb\xbf  text \n".to_vec(), None),
        (b" \n".to_vec(), Some("prompt_empty /apps/0/ai/mcpPrompt/zh")),
        (b"\xff\xfe".to_vec(), Some("prompt_not_utf8 /apps/0/ai/mcpPrompt/zh")),
    ] {
        fs::write(dir.path().join("p.md"), &content).unwrap();
        let (plugin, problems) = plugin(dir.path());
        assert_eq!(problems, Vec::from_iter(expected));
        assert_eq!(plugin.apps[0].ai.is_some(), expected.is_none(), "an app without a usable prompt stays");
    }
    fs::write(dir.path().join("p.md"), b"\xef\xbb\xbf  text \n").unwrap();
    let (plugin, _) = plugin(dir.path());
    let prompt = plugin.apps[0].ai.as_ref().unwrap().prompt.as_ref().unwrap();
    assert_eq!((prompt.text.zh.as_deref(), prompt.title.as_str()), (Some("text"), "A MCP Prompt"));
}

#[test]
fn row_12_config_files() {
    let dir = tempdir();
    write_files(
        dir.path(),
        &[
            ("plugin.json", &one_app(json!("x.mjs"), json!({"config": "ai.yaml", "prompts": true}))),
            ("x.mjs", ""),
        ],
    );
    for (content, expected) in [
        ("a: &a [*a]\n", "config_syntax ai.yaml#"),
        ("mcpServers: !!seq [a]\n", "config_syntax ai.yaml#"),
        ("config: other.yaml\n", "config_nested ai.yaml#/config"),
        ("mcpServers: 5\n", "wrong_type ai.yaml#/mcpServers"),
        ("mcp: {entry: ../x.mjs}\n", "path_outside ai.yaml#/mcp/entry"),
        ("mcp: {entry: gone.mjs}\n", "path_missing ai.yaml#/mcp/entry"),
        ("mcpPrompt: {en: gone.md}\n", "path_missing ai.yaml#/mcpPrompt/en"),
    ] {
        write_files(dir.path(), &[("ai.yaml", content)]);
        let (plugin, problems) = plugin(dir.path());
        assert_eq!(problems, [expected], "{content}");
        let ai = plugin.apps[0].ai.as_ref().unwrap();
        assert_eq!(
            ai.prompts.exposed,
            chatos_contribution::Exposed::All,
            "the inline layer stays: {content}"
        );
    }
    fs::remove_file(dir.path().join("ai.yaml")).unwrap();
    assert_eq!(plugin(dir.path()).1, ["path_missing /apps/0/ai/config"]);
    fs::write(dir.path().join("ai.yaml"), "x".repeat(131_073)).unwrap();
    assert_eq!(plugin(dir.path()).1, ["config_too_large ai.yaml#"]);
}

#[test]
fn paths_in_a_config_file_are_relative_to_the_plugin() {
    let dir = tempdir();
    write_files(
        dir.path(),
        &[
            ("plugin.json", &one_app(json!("x.mjs"), json!("sub/ai.yaml"))),
            ("x.mjs", ""),
            ("sub/ai.yaml", "mcp:\n  entry: server.mjs\n  args: [\"a b\"]\nmcpPrompt: p.md\n"),
            ("server.mjs", ""),
            ("p.md", "hi"),
        ],
    );
    let (plugin, problems) = plugin(dir.path());
    assert!(problems.is_empty(), "{problems:?}");
    let server = plugin.apps[0].ai.as_ref().unwrap().mcp.as_ref().unwrap();
    let path = dir.path().join("server.mjs");
    assert_eq!(server.url, format!("cmd://node {} \"a b\"", path.display()));
}

#[test]
fn a_proven_path_has_no_dots_and_no_links_in_it() {
    let dir = tempdir();
    let real = fs::canonicalize(dir.path()).unwrap();
    write_files(
        &real,
        &[
            (
                "plugin.json",
                &one_app(json!("x.mjs"), json!({"mcp": {"entry": "a/../l.mjs", "command": "bin/../run*"}})),
            ),
            ("x.mjs", ""),
            ("s/t.mjs", ""),
            ("a/x", ""),
        ],
    );
    symlink("s/t.mjs", real.join("l.mjs")).unwrap();
    fs::create_dir(real.join("bin")).unwrap();
    fs::write(real.join("run*"), "").unwrap();
    let (plugin, problems) = plugin(&real);
    assert_eq!(problems, ["unusual_command /apps/0/ai/mcp/command"]);
    let server = plugin.apps[0].ai.as_ref().unwrap().mcp.as_ref().unwrap();
    assert_eq!(server.url, format!("cmd://{0}/run* {0}/s/t.mjs", real.display()));
}

#[test]
fn rows_10_23_24_servers() {
    let dir = tempdir();
    let real = fs::canonicalize(dir.path()).unwrap();
    let text = json!({"id": "com.example.tools", "name": "Tools", "providerAppId": "x", "apps": [
        {"id": "db-client", "name": "数据库客户端", "entry": {"type": "module", "path": "db-client/index.mjs"},
         "ai": {"mcp": {"entry": "db-client/mcp-server.mjs", "command": "node", "allowMain": true, "allowSub": true},
                "mcpPrompt": {"zh": "db-client/mcp-prompt.zh.md", "en": "db-client/mcp-prompt.en.md"}}},
        {"id": "broken", "name": "B", "entry": "db-client/index.mjs", "ai": {"mcp": {"command": "node"}}}]});
    let big = "//".repeat(2_000_000);
    write_files(
        &real,
        &[
            ("plugin.json", &text.to_string()),
            ("db-client/index.mjs", ""),
            ("db-client/mcp-server.mjs", &big),
            ("db-client/mcp-prompt.zh.md", "中文"),
            ("db-client/mcp-prompt.en.md", "English"),
        ],
    );
    let (plugin, problems) = plugin(&real);
    assert_eq!(problems, ["mcp_no_target /apps/1/ai/mcp", "unknown_key /providerAppId"]);
    let ai = plugin.apps[0].ai.as_ref().unwrap();
    assert_eq!(
        ai.mcp.as_ref().unwrap().url,
        format!("cmd://node {}/db-client/mcp-server.mjs", real.display())
    );
    assert_eq!(ai.prompt.as_ref().unwrap().text.en.as_deref(), Some("English"));
    assert!(plugin.apps[1].ai.is_none(), "row 10: the app is kept");
}

#[test]
fn icons() {
    let dir = tempdir();
    write_files(dir.path(), &[("x.mjs", ""), ("i/a.png", "png"), ("a.svg", "<svg/>")]);
    fs::write(dir.path().join("big.png"), vec![0; 262_145]).unwrap();
    symlink("/etc/hostname", dir.path().join("out.png")).unwrap();
    for (written, expected) in [
        ("📅", Icon::Text { text: "📅".into() }),
        ("i/a.png", Icon::File { path: "i/a.png".into() }),
        ("a.svg", Icon::File { path: "a.svg".into() }),
        ("big.png", Icon::Letter { text: "应".into() }),
        ("out.png", Icon::Letter { text: "应".into() }),
        ("gone.png", Icon::Letter { text: "应".into() }),
        ("../a.png", Icon::Letter { text: "应".into() }),
        ("https://x/y.png", Icon::Letter { text: "应".into() }),
        ("javascript:x", Icon::Letter { text: "应".into() }),
        ("", Icon::Letter { text: "应".into() }),
    ] {
        let text = manifest(json!([{"id": "a", "name": "应用", "icon": written, "entry": "x.mjs"}]));
        write_files(dir.path(), &[("plugin.json", &text)]);
        let (plugin, problems) = plugin(dir.path());
        assert_eq!((&plugin.apps[0].icon, problems.len()), (&expected, 0), "{written}");
    }
}
