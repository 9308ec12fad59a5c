//! Groups A and B of the attack list through the real program: every package is refused whole with its
//! reason, and what was there before is untouched.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use chatos_testkit::zips::{Entry, dir, end, file, plugin_entries, stored, zip};
use chatos_testkit::{RunningHost, Sandbox};
use serde_json::json;

use crate::api::ended;
use crate::support::{good, json_run, sandbox, simple, tree, write};

/// Everything below the state that installs may touch.
fn state(sandbox: &Sandbox) -> Vec<(String, u32, Vec<u8>)> {
    tree(&sandbox.state().join("ui_apps"))
}

/// A host with one installed plugin, data of it, and a canary beside the state.
fn world() -> (Sandbox, RunningHost) {
    let sandbox = sandbox();
    let host = sandbox.serve();
    simple(&sandbox.root().join("before"), "com.example.before", "1", &["x"]);
    good(&sandbox, &["plugin", "install", sandbox.root().join("before").to_str().unwrap()]);
    write(&sandbox.state().join("ui_apps/data/com.example.before/notes.md"), "mine");
    write(&sandbox.root().join("canary"), "alive");
    (sandbox, host)
}

fn with(more: Vec<Entry>) -> Vec<u8> {
    let mut entries = plugin_entries("com.example.new");
    entries.extend(more);
    zip(&entries, b"")
}

fn link(name: &str, target: &str) -> Entry {
    stored(name, target.as_bytes()).mode(0o120_777)
}

/// Peak memory of the host so far, in MiB.
fn peak_of(host: &RunningHost) -> u64 {
    let text = fs::read_to_string(format!("/proc/{}/status", host.pid())).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").trim().parse::<u64>().unwrap() / 1024
}

#[test]
fn hostile_archives_are_refused_whole() {
    let (sandbox, host) = world();
    let before = state(&sandbox);
    let memory = peak_of(&host);
    let long = "n".repeat(300);
    let deep = vec!["d"; 70].join("/");
    let big = vec![0; 64 << 20];
    let lying = Entry { size: 10, ..file("lies.bin", &big) };
    let broken = Entry { crc: 1, ..file("broken.txt", b"text") };
    let good_zip = with(Vec::new());
    let mut cut = good_zip.clone();
    cut.truncate(good_zip.len() - 30);
    let mut prefixed = b"#!/bin/sh\nexit\n".to_vec();
    prefixed.extend(&good_zip);
    let mut trailing = good_zip.clone();
    trailing.extend(b"more");
    let mut empty = Vec::new();
    end(&mut empty, 0, 0, 0, b"");
    let many: Vec<Entry> = (0..20_001).map(|n| stored(&format!("f/{n}"), b"")).collect();
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("slip", with(vec![file("../../canary", b"dead")]), "entry_outside"),
        ("slip inside", with(vec![file("a/../../../canary", b"dead")]), "entry_outside"),
        ("absolute", with(vec![file("/tmp/canary", b"dead")]), "entry_outside"),
        ("drive", with(vec![file("C:\\canary", b"dead")]), "entry_outside"),
        ("unc", with(vec![file("\\\\host\\share\\x", b"dead")]), "entry_outside"),
        ("backslash", with(vec![file("a\\..\\..\\x", b"dead")]), "entry_outside"),
        ("link out", with(vec![link("out", "/etc/passwd")]), "entry_type"),
        ("link in", with(vec![link("in", "a.mjs")]), "entry_type"),
        ("link, then through it", with(vec![link("l", "../../.."), file("l/canary", b"dead")]), "entry_type"),
        ("device", with(vec![stored("dev", b"").mode(0o020_666)]), "entry_type"),
        ("fifo", with(vec![stored("pipe", b"").mode(0o010_666)]), "entry_type"),
        ("ratio", with(vec![file("bomb", &big)]), "package_ratio"),
        ("header lies", with(vec![lying]), "package_corrupt"),
        ("many files", with(many), "package_too_many_files"),
        ("twice", with(vec![file("x.txt", b"1"), file("x.txt", b"2")]), "entry_collision"),
        ("case", with(vec![file("x.txt", b"1"), file("X.TXT", b"2")]), "entry_collision"),
        ("composition", with(vec![file("é.txt", b"1"), file("e\u{301}.txt", b"2")]), "entry_collision"),
        ("file and folder", with(vec![file("x", b"1"), file("x/y", b"2")]), "entry_collision"),
        ("long name", with(vec![file(&long, b"1")]), "entry_path_too_long"),
        (
            "long path",
            with(vec![file(&format!("{}/x", vec!["p".repeat(200); 6].join("/")), b"")]),
            "entry_path_too_long",
        ),
        ("deep", with(vec![file(&format!("{deep}/x"), b"1")]), "entry_path_too_long"),
        ("control", with(vec![file("a\u{1b}[2Jb", b"1")]), "entry_name"),
        ("not UTF-8", with(vec![file("x", b"1").named(b"\xff\xfe")]), "entry_name"),
        ("empty part", with(vec![file("a//b", b"1")]), "entry_name"),
        ("dot part", with(vec![file("./a", b"1")]), "entry_name"),
        ("checksum", with(vec![broken]), "package_corrupt"),
        ("encrypted", with(vec![Entry { flags: 0x0801, ..file("secret", b"1") }]), "entry_encrypted"),
        ("truncated", cut, "package_corrupt"),
        ("data in front", prefixed, "package_corrupt"),
        ("data behind", trailing, "package_corrupt"),
        ("empty archive", empty, "package_no_manifest"),
        ("not a zip", b"hello".to_vec(), "package_corrupt"),
        ("only folders", zip(&[dir("a/"), dir("a/b/")], b""), "package_no_manifest"),
    ];
    let package = sandbox.root().join("package.zip");
    for (name, bytes, code) in &cases {
        fs::write(&package, bytes).unwrap();
        let begun = host.ask("POST", "/api/v1/plugins/install", Some(&json!({ "path": package })));
        let over = ended(&host, &begun.json());
        assert_eq!(
            (over["state"].as_str(), over["error"]["code"].as_str()),
            (Some("failed"), Some(*code)),
            "{name}: {over}"
        );
        let message = over["error"]["message"].as_str().unwrap();
        assert!(!message.is_empty() && !message.chars().any(char::is_control), "{name}: {message}");
        assert!(over["error"]["hint"].as_str().is_some_and(|hint| !hint.is_empty()), "{name}");
        assert_eq!(state(&sandbox), before, "{name}: something changed");
    }
    assert_eq!(fs::read_to_string(sandbox.root().join("canary")).unwrap(), "alive");
    let grown = peak_of(&host).saturating_sub(memory);
    assert!(grown < 64, "{grown} MiB more than before");
    // The command line says the same, with the entry's name.
    let slip = &cases[0];
    fs::write(&package, &slip.1).unwrap();
    let refused = json_run(&sandbox, &["plugin", "install", package.to_str().unwrap()]);
    assert_eq!((refused.status, refused.code().as_str()), (1, "entry_outside"));
    assert_eq!(refused.json()["error"]["details"]["entry"], "../../canary");
    let report = json_run(&sandbox, &["plugin", "validate", package.to_str().unwrap()]);
    assert_eq!((report.status, &report.json()["errors"][0]["code"]), (1, &json!("entry_outside")));
    // And an honest one still installs.
    fs::write(&package, good_zip).unwrap();
    good(&sandbox, &["plugin", "install", package.to_str().unwrap()]);
}

#[test]
fn hostile_manifests_are_refused_whole() {
    let (sandbox, host) = world();
    let before = state(&sandbox);
    let memory = peak_of(&host);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let large = format!(r#"{{"id":"com.example.new","name":"N","x":"{}"}}"#, "y".repeat(20 << 20));
    let utf16: Vec<u8> = "{\"id\":\"a\"}".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let id = |id: &str| json!({ "id": id, "name": "N" }).to_string().into_bytes();
    let mut cases: Vec<(String, Vec<u8>, &str)> = vec![
        ("empty".into(), Vec::new(), "manifest_syntax"),
        ("text".into(), b"hello".to_vec(), "manifest_syntax"),
        ("array".into(), b"[]".to_vec(), "wrong_type"),
        ("null".into(), b"null".to_vec(), "wrong_type"),
        ("UTF-16".into(), utf16, "manifest_syntax"),
        ("bad UTF-8".into(), b"{\"id\":\"\xff\"}".to_vec(), "manifest_syntax"),
        ("deep".into(), deep.into_bytes(), "manifest_syntax"),
        (
            "deep value".into(),
            format!(r#"{{"id":{}1{}}}"#, "[".repeat(100_000), "]".repeat(100_000)).into_bytes(),
            "manifest_syntax",
        ),
        ("20 MB".into(), large.into_bytes(), "manifest_too_large"),
        (
            "key twice".into(),
            br#"{"id":"com.example.new","name":"a","name":"b"}"#.to_vec(),
            "manifest_duplicate_key",
        ),
        (
            "version".into(),
            br#"{"id":"com.example.new","name":"a","manifestVersion":2}"#.to_vec(),
            "manifest_version",
        ),
        (
            "comment".into(),
            b"{\"id\":\"com.example.new\",\"name\":\"a\" /* x */}".to_vec(),
            "manifest_syntax",
        ),
    ];
    for bad in [".", "..", "../x", "a/b", "a b", "-rf", "com.example@ok", "\u{0}", "数据"] {
        cases.push((format!("id {bad:?}"), id(bad), "id_invalid"));
    }
    for bad in ["con", "NUL.txt", "node_modules", "com.example.ok.", "constructor", "lpt1"] {
        cases.push((format!("id {bad:?}"), id(bad), "id_reserved"));
    }
    let source = sandbox.root().join("source");
    for (name, bytes, code) in &cases {
        write(&source.join("plugin.json"), bytes);
        let begun = host.ask("POST", "/api/v1/plugins/install", Some(&json!({ "path": source })));
        let over = ended(&host, &begun.json());
        assert_eq!(over["error"]["code"], *code, "{name}: {over}");
        let message = over["error"]["message"].as_str().unwrap();
        assert!(message.len() < 1000 && !message.chars().any(char::is_control), "{name}: {message}");
        assert_eq!(state(&sandbox), before, "{name}: something changed");
    }
    // Put into the folder by hand, they cost only themselves.
    let user = sandbox.state().join("ui_apps/plugins");
    for (n, (_, bytes, _)) in cases.iter().enumerate() {
        write(&user.join(format!("bad-{n:02}/plugin.json")), bytes);
    }
    std::os::unix::fs::symlink("/etc/passwd", user.join("bad-00/link")).unwrap();
    fs::create_dir(user.join("fifo")).unwrap();
    make_fifo(&user.join("fifo/plugin.json"));
    host.ask("POST", "/api/v1/plugins/refresh", Some(&json!({ "deep": true })));
    let listing = host.ask("GET", "/api/v1/plugins", None).json();
    let ids: Vec<&str> =
        listing["plugins"].as_array().unwrap().iter().map(|p| p["id"].as_str().unwrap()).collect();
    assert_eq!(
        ids,
        ["com.chatos.explorer", "com.example.before", "com.chatos.notes", "com.chatos.taskboard"]
    );
    let errors = listing["errors"].as_array().unwrap();
    assert_eq!(
        errors.iter().filter(|problem| problem["severity"] == "error").count(),
        cases.len() + 1,
        "{errors:?}"
    );
    let grown = peak_of(&host).saturating_sub(memory);
    assert!(grown < 64, "{grown} MiB more than before");
}

fn make_fifo(path: &Path) {
    use rustix::fs::{CWD, FileType, Mode};
    rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

#[test]
fn hostile_folders_are_refused_whole() {
    let (sandbox, host) = world();
    let before = state(&sandbox);
    let source = sandbox.root().join("source");
    let secret = sandbox.root().join("secret");
    write(&secret, "not yours");
    let make = |change: &dyn Fn(&Path)| {
        fs::remove_dir_all(&source).ok();
        simple(&source, "com.example.new", "1", &["x"]);
        change(&source);
        let begun = host.ask("POST", "/api/v1/plugins/install", Some(&json!({ "path": source })));
        ended(&host, &begun.json())
    };
    type Change<'a> = (&'static str, Box<dyn Fn(&Path) + 'a>, &'static str);
    let cases: Vec<Change<'_>> = vec![
        ("link out", Box::new(|dir| symlink(&secret, dir.join("l")).unwrap()), "entry_outside"),
        ("folder link out", Box::new(|dir| symlink(sandbox.root(), dir.join("l")).unwrap()), "entry_outside"),
        ("loop", Box::new(|dir| symlink(".", dir.join("l")).unwrap()), "entry_type"),
        ("link to nothing", Box::new(|dir| symlink("nowhere", dir.join("l")).unwrap()), "entry_type"),
        ("fifo", Box::new(|dir| make_fifo(&dir.join("pipe"))), "entry_type"),
        (
            "socket",
            Box::new(|dir| drop(std::os::unix::net::UnixListener::bind(dir.join("s")).unwrap())),
            "entry_type",
        ),
        (
            "manifest is a link out",
            Box::new(|dir| {
                fs::remove_file(dir.join("plugin.json")).unwrap();
                symlink(&secret, dir.join("plugin.json")).unwrap();
            }),
            "entry_outside",
        ),
        (
            "entry is a link out",
            Box::new(|dir| {
                fs::remove_file(dir.join("x/index.mjs")).unwrap();
                symlink(&secret, dir.join("x/index.mjs")).unwrap();
            }),
            "entry_outside",
        ),
    ];
    for (name, change, code) in &cases {
        let over = make(change);
        assert_eq!(over["error"]["code"], *code, "{name}: {over}");
        assert_eq!(state(&sandbox), before, "{name}");
    }
    // Links that stay inside, and hard links, become plain files.
    let over = make(&|dir| {
        symlink("x/index.mjs", dir.join("inside")).unwrap();
        fs::hard_link(dir.join("x/index.mjs"), dir.join("hard")).unwrap();
    });
    assert_eq!(over["state"], "done", "{over}");
    let placed = sandbox.state().join("ui_apps/plugins/com.example.new");
    for name in ["inside", "hard"] {
        let meta = fs::symlink_metadata(placed.join(name)).unwrap();
        assert!(meta.is_file() && std::os::unix::fs::MetadataExt::nlink(&meta) == 1, "{name}");
    }
}
