//! The manifest table, row by row: what is dropped, where the problem points, and its sentence.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::fmt::Write as _;

use chatos_manifest::{
    Exposure, Lang, McpProgram, McpTarget, Parsed, ProblemCode, PromptSource, Slot, parse,
};
use expect_test::{Expect, expect};
use serde_json::{Value, json};

/// The surviving parts and the problems, one line each.
fn render(parsed: &Parsed) -> String {
    let mut out = match &parsed.manifest {
        None => "dropped\n".to_owned(),
        Some(m) => {
            let apps: Vec<String> = m
                .apps
                .iter()
                .map(|app| {
                    let compact = if app.entry.compact.is_some() { "+compact" } else { "" };
                    format!("{}{compact}", app.id)
                })
                .collect();
            format!("{} {} [{}]\n", m.id, m.version, apps.join(" "))
        }
    };
    for p in &parsed.problems {
        let severity = if p.is_error() { "error" } else { "warning" };
        writeln!(out, "{severity} {:?} {} {}", p.path, p.code, p.message.en).unwrap();
        assert!(!p.message.zh.is_empty() && !p.hint(Lang::Zh).is_empty() && !p.hint(Lang::En).is_empty());
        assert_written(p.document());
    }
    out
}

/// A problem leads to a chapter that is there.
fn assert_written(document: &str) {
    let (file, chapter) = document.split_once('#').unwrap();
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    let slug = |heading: &str| -> String {
        let plain = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        plain.chars().filter(|c| c.is_alphanumeric() || *c == '-').collect()
    };
    let has = text.lines().filter(|line| line.starts_with('#')).any(|line| slug(line) == chapter);
    assert!(has, "{document}");
}

#[test]
fn each_problem_leads_to_the_chapter_of_its_rule() {
    let problem = |code, path: &str| {
        let problem = chatos_manifest::Problem::new(code, path, chatos_manifest::Text::new("a", "b"));
        assert_written(problem.document());
        problem.document().rsplit_once('/').unwrap().1
    };
    for (code, path, document) in [
        (ProblemCode::PathMissing, "/apps/1/entry/path", "plugin-manifest.md#paths"),
        (ProblemCode::UnknownKey, "/futureThing", "plugin-manifest.md#top-level"),
        (ProblemCode::WrongType, "/apps/0/name", "plugin-manifest.md#apps"),
        (ProblemCode::ManifestSyntax, "", "plugin-manifest.md#the-file"),
        (ProblemCode::IdInvalid, "/id", "plugin-manifest.md#ids"),
        (ProblemCode::PromptNoLanguage, "/apps/0/ai/mcpPrompt", "ai-contributions.md#prompt-aimcpprompt"),
        (ProblemCode::WrongType, "app/ai.yaml#/mcp/args", "ai-contributions.md#server-aimcp"),
        (ProblemCode::WrongType, "/apps/0/ai", "ai-contributions.md#forms"),
        (ProblemCode::CmdEmpty, "/apps/0/ai/mcp/url", "ai-contributions.md#cmd"),
        (
            ProblemCode::AsyncInvalid,
            "/apps/0/ai/mcp/callMeta/asyncTask/tools",
            "ai-contributions.md#asynctask-callmetaasynctask",
        ),
        (ProblemCode::WrongType, "/apps/0/ai/mcp/callMeta", "ai-contributions.md#call-metadata"),
        (
            ProblemCode::ExposureEmptyList,
            "/apps/0/ai/mcpServers",
            "ai-contributions.md#exposure-aimcpservers-aiprompts",
        ),
        (ProblemCode::UnbundledImport, "/backend/entry", "first-plugin.md#6-use-a-package-from-npm"),
        (ProblemCode::NodeUnavailable, "", "plugin-manifest.md#problems"),
    ] {
        assert_eq!(problem(code, path), document, "{path}");
    }
}

fn check(input: impl AsRef<[u8]>, expect: Expect) {
    expect.assert_eq(&render(&parse(input.as_ref())));
}

fn check_json(value: Value, expect: Expect) {
    check(value.to_string(), expect);
}

/// A plugin with the given fields besides id and name.
fn plugin(fields: Value) -> Value {
    let mut base = json!({"id": "com.example.ok", "name": "Ok"});
    for (key, value) in fields.as_object().unwrap() {
        base[key] = value.clone();
    }
    base
}

/// A plugin with one app with the given fields.
fn app(fields: Value) -> Value {
    let mut base = json!({"id": "a", "name": "A", "entry": {"type": "module", "path": "a.mjs"}});
    for (key, value) in fields.as_object().unwrap() {
        base[key] = value.clone();
    }
    plugin(json!({"apps": [base]}))
}

fn ai(ai: Value) -> Value {
    app(json!({ "ai": ai }))
}

fn codes(value: Value) -> Vec<&'static str> {
    parse(value.to_string().as_bytes()).problems.iter().map(|p| p.code.as_str()).collect()
}

#[test]
fn the_minimal_example_and_the_defaults() {
    let text = r#"{
      "manifestVersion": 1, "id": "com.example.tools", "name": "Example Tools", "version": "0.1.0",
      "apps": [{ "id": "hello", "name": "Hello App（Module）",
                 "entry": { "type": "module", "path": "hello/index.mjs" } }]
    }"#;
    check(
        text,
        expect![[r"
        com.example.tools 0.1.0 [hello]
    "]],
    );
    let parsed = parse(br#"{"id":"a","name":"b"}"#);
    let manifest = parsed.manifest.unwrap();
    assert_eq!((manifest.version.as_str(), manifest.description.as_str()), ("0.0.0", ""));
    assert!(manifest.backend.is_none() && manifest.capabilities.is_none() && manifest.apps.is_empty());
    assert!(parsed.problems.is_empty());
}

#[test]
fn a_bom_is_ignored_and_ids_are_trimmed() {
    check(
        "\u{feff}{\"id\":\" com.example.ok \",\"name\":\" N \"}",
        expect![[r"
        com.example.ok 0.0.0 []
    "]],
    );
}

#[test]
fn files_that_are_not_manifests() {
    check(
        "",
        expect![[r#"
        dropped
        error "" manifest_syntax plugin.json is empty
    "#]],
    );
    check(
        "not json",
        expect![[r#"
        dropped
        error "" manifest_syntax plugin.json line 1, column 1: expected true, false or null
    "#]],
    );
    check(
        "[]",
        expect![[r#"
        dropped
        error "" wrong_type plugin.json must hold a JSON object, found an array
    "#]],
    );
    check(
        "null",
        expect![[r#"
        dropped
        error "" wrong_type plugin.json must hold a JSON object, found null
    "#]],
    );
    check(
        b"\xff\xfe{\0}\0",
        expect![[r#"
        dropped
        error "" manifest_syntax plugin.json is UTF-16; it must be UTF-8
    "#]],
    );
    check(
        b"{\n\"id\":\"\xff\"}",
        expect![[r#"
        dropped
        error "" manifest_syntax plugin.json line 2: not valid UTF-8
    "#]],
    );
    check(
        "{\"id\":\"a\",\n\n\"name\":\"b\",\n\"id\":\"c\"}",
        expect![[r#"
        dropped
        error "" manifest_duplicate_key plugin.json line 4: key "id" appears twice
    "#]],
    );
    check(
        "{\"id\":\"a\",\"name\":\"b\",\"extra\":{\"x\":1,\"x\":1}}",
        expect![[r#"
        dropped
        error "" manifest_duplicate_key plugin.json line 1: key "x" appears twice
    "#]],
    );
    check(
        "{\"id\":\"a\", // no\n\"name\":\"b\"}",
        expect![[r#"
        dropped
        error "" manifest_syntax plugin.json line 1, column 12: expected a key in double quotes
    "#]],
    );
}

#[test]
fn deep_and_large_files_are_refused_without_overflow() {
    check(
        format!("{{\"a\":{}", "[".repeat(100_000)),
        expect![[r#"
        dropped
        error "" manifest_syntax plugin.json line 1: nested deeper than 64 levels
    "#]],
    );
    check(
        vec![b' '; 300_000],
        expect![[r#"
        dropped
        error "" manifest_too_large plugin.json has 300000 bytes; at most 262144 are allowed
    "#]],
    );
    let at_limit = |bytes: usize| {
        let head = "{\"id\":\"a\",\"name\":\"b\",\"x\":\"";
        format!("{head}{}\"}}", "y".repeat(bytes - head.len() - 2))
    };
    assert!(parse(at_limit(262_144).as_bytes()).manifest.is_some());
    assert!(parse(at_limit(262_145).as_bytes()).manifest.is_none());
}

#[test]
fn plugin_ids() {
    for bad in ["..", ".", "a/b", "a b", "-rf", "com.example@ok", "../x"] {
        assert_eq!(codes(json!({"id": bad, "name": "x"})), ["id_invalid"], "{bad}");
    }
    for reserved in ["node_modules", "com.example.ok.", "con"] {
        assert_eq!(codes(json!({"id": reserved, "name": "x"})), ["id_reserved"], "{reserved}");
    }
    check_json(
        json!({"id": "../x", "name": "x"}),
        expect![[r#"
        dropped
        error "/id" id_invalid Plugin id "../x" may only hold letters, digits, ".", "_", "-"
    "#]],
    );
    check_json(
        json!({"id": "a".repeat(129), "name": "x"}),
        expect![[r#"
        dropped
        error "/id" id_invalid Plugin id "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…" has 129 characters; at most 128 are allowed
    "#]],
    );
    check_json(
        json!({"id": 7, "name": "x"}),
        expect![[r#"
        dropped
        error "/id" wrong_type "id" must be a string, found number
    "#]],
    );
}

#[test]
fn required_and_typed_top_level_fields_are_all_reported_at_once() {
    check_json(
        json!({"manifestVersion": 2, "name": "  ", "version": null, "description": 1, "apps": {}}),
        expect![[r#"
        dropped
        error "/id" missing_field "id" is required
        error "/manifestVersion" manifest_version manifestVersion 2 is not supported; only 1 is
        error "/name" missing_field "name" is required
        error "/version" wrong_type "version" must be a string, found null
        error "/description" wrong_type "description" must be a string, found number
        error "/apps" wrong_type "apps" must be an array, found object
    "#]],
    );
    for version in [json!("1"), json!(1.5), json!(0), json!(null), json!(true)] {
        assert_eq!(codes(plugin(json!({ "manifestVersion": version }))), ["manifest_version"], "{version}");
    }
    assert!(codes(plugin(json!({"manifestVersion": 1.0}))).is_empty());
    assert_eq!(codes(json!({"id": "a", "name": "n".repeat(201)})), ["value_too_long"]);
    assert!(codes(json!({"id": "a", "name": "数".repeat(200)})).is_empty(), "characters, not bytes");
    assert_eq!(codes(json!({"id": "a", "name": "a\u{1b}[31mb"})), ["value_invalid"]);
    assert_eq!(codes(plugin(json!({"version": "1".repeat(65)}))), ["value_too_long"]);
}

#[test]
fn display_fields_cost_themselves_only() {
    let parsed = parse(
        plugin(json!({"publisher": 5, "homepage": null, "license": {"type": "MIT"},
            "capabilities": ["chat.read", "fly", 3, "network:api.example.com"]}))
        .to_string()
        .as_bytes(),
    );
    expect![[r#"
        com.example.ok 0.0.0 []
        error "/publisher" wrong_type "publisher" must be a string or an object, found number
        error "/homepage" wrong_type "homepage" must be a string, found null
        error "/license" wrong_type "license" must be a string, found object
        warning "/capabilities/1" capability_unknown Capability "fly" is not known
        error "/capabilities/2" wrong_type capabilities #3 must be a string, found number
    "#]]
    .assert_eq(&render(&parsed));
    let manifest = parsed.manifest.unwrap();
    assert_eq!(manifest.capabilities.unwrap(), ["chat.read", "fly", "network:api.example.com"]);
    // A list that cannot be read narrows to nothing; the defaults would be wider.
    let parsed = parse(plugin(json!({"capabilities": "all"})).to_string().as_bytes());
    assert_eq!(parsed.manifest.unwrap().capabilities, Some(vec![]));
    let parsed =
        parse(plugin(json!({"publisher": {"name": "P", "url": "https://p"}})).to_string().as_bytes());
    assert_eq!(parsed.manifest.unwrap().publisher.unwrap().name.as_deref(), Some("P"));
}

#[test]
fn unknown_keys_are_kept_and_are_warnings() {
    let parsed = parse(
        plugin(json!({"$schema": "x", "futureThing": {"a": [1, {"b": null}]}, "a/b~c": 1,
            "apps": [{"id": "a", "name": "A", "entry": {"type": "module", "path": "a.mjs", "lazy": true}, "beta": 1}]}))
        .to_string()
        .as_bytes(),
    );
    expect![[r#"
        com.example.ok 0.0.0 [a]
        warning "/apps/0/entry/lazy" unknown_key Unknown key "lazy" is ignored
        warning "/apps/0/beta" unknown_key App #1: Unknown key "beta" is ignored
        warning "/futureThing" unknown_key Unknown key "futureThing" is ignored
        warning "/a~1b~0c" unknown_key Unknown key "a/b~c" is ignored
    "#]]
    .assert_eq(&render(&parsed));
    let manifest = parsed.manifest.unwrap();
    assert_eq!(manifest.extra["futureThing"], json!({"a": [1, {"b": null}]}));
    assert_eq!(manifest.apps[0].extra["beta"], 1);
    assert_eq!(manifest.apps[0].entry.extra["lazy"], true);
}

#[test]
fn a_bad_app_never_takes_the_others_along() {
    check_json(
        plugin(json!({"apps": [
            {"id": "one", "name": "1", "entry": "one.mjs"},
            {"id": "two", "name": 7, "entry": "two.mjs"},
            {"id": "three", "name": "3", "entry": {"type": "module", "path": "../../etc/passwd"}},
            "four",
            {"id": "../five", "name": "5", "entry": "five.mjs"},
            {"id": "one", "name": "again", "entry": "one.mjs"},
            {"id": "six", "name": "6"},
            {"id": "con", "name": "7", "entry": "x.mjs"},
            {"id": "eight", "name": "8", "entry": "a..b/..foo.mjs"}
        ]})),
        expect![[r#"
            com.example.ok 0.0.0 [one eight]
            error "/apps/1/name" wrong_type App #2: "name" must be a string, found number
            error "/apps/2/entry/path" path_outside entry.path leaves the plugin directory: ../../etc/passwd
            error "/apps/3" wrong_type App #4: must be an object, found string
            error "/apps/4/id" id_invalid App #5: App id "../five" may only hold letters, digits, ".", "_", "-"
            error "/apps/5/id" duplicate_app App id "one" is declared twice in com.example.ok
            error "/apps/6/entry" missing_field App #7: "entry" is required
            error "/apps/7/id" id_reserved App #8: App id "con" is reserved
        "#]],
    );
    let many: Vec<Value> =
        (0..101).map(|i| json!({"id": format!("a{i}"), "name": "x", "entry": "x.mjs"})).collect();
    check_json(
        plugin(json!({ "apps": many })),
        expect![[r#"
        dropped
        error "/apps" too_many_apps 101 apps declared; at most 100 are allowed
    "#]],
    );
}

#[test]
fn entries() {
    for (entry, expected) in [
        (json!({"type": "iframe", "path": "a.html"}), "entry_type"),
        (json!({"type": "url", "url": "https://x"}), "entry_type"),
        (json!({"path": "a.mjs"}), "entry_type"),
        (json!({"type": 1, "path": "a.mjs"}), "entry_type"),
        (json!({"type": "module"}), "missing_field"),
        (json!({"type": "module", "path": 1}), "wrong_type"),
        (json!({"type": "module", "path": ""}), "path_invalid"),
        (json!({"type": "module", "path": "/etc/passwd"}), "path_invalid"),
        (json!({"type": "module", "path": "C:\\x"}), "path_invalid"),
        (json!({"type": "module", "path": "a\\..\\b"}), "path_invalid"),
        (json!({"type": "module", "path": "https://x/y.mjs"}), "path_invalid"),
        (json!({"type": "module", "path": "a\0b"}), "path_invalid"),
        (json!({"type": "module", "path": "~/x"}), "path_invalid"),
        (json!({"type": "module", "path": "x".repeat(1025)}), "path_invalid"),
        (json!("../x.mjs"), "path_outside"),
        (json!(null), "wrong_type"),
        (json!(["a.mjs"]), "wrong_type"),
    ] {
        let parsed = parse(app(json!({"entry": entry})).to_string().as_bytes());
        let found: Vec<_> =
            parsed.problems.iter().filter(|p| p.is_error()).map(|p| p.code.as_str()).collect();
        assert_eq!(found, [expected], "{entry}");
        assert!(parsed.manifest.unwrap().apps.is_empty());
    }
    check_json(
        app(json!({"entry": {"type": "iframe", "path": "x"}})),
        expect![[r#"
        com.example.ok 0.0.0 []
        error "/apps/0/entry/type" entry_type entry.type "iframe" is not supported; only "module" is
    "#]],
    );
    check_json(
        app(json!({"entry": "../x.mjs"})),
        expect![[r#"
        com.example.ok 0.0.0 []
        error "/apps/0/entry" path_outside entry.path leaves the plugin directory: ../x.mjs
    "#]],
    );
}

#[test]
fn compact_costs_itself_and_points_at_itself() {
    for (compact, code) in [
        (json!({"type": "url", "path": "c.mjs"}), "entry_type"),
        (json!({"path": "c.mjs"}), "entry_type"),
        (json!({"type": "module", "path": "../c.mjs"}), "path_outside"),
        (json!({"type": "module"}), "missing_field"),
        (json!({"type": "module", "path": 3}), "wrong_type"),
        (json!("/c.mjs"), "path_invalid"),
        (json!(null), "wrong_type"),
    ] {
        let entry = json!({"type": "module", "path": "a.mjs", "compact": compact});
        let parsed = parse(app(json!({"entry": entry})).to_string().as_bytes());
        let problem = &parsed.problems[0];
        assert_eq!(
            (problem.code.as_str(), problem.path.as_str()),
            (code, "/apps/0/entry/compact"),
            "{compact}"
        );
        let app = &parsed.manifest.unwrap().apps[0];
        assert!(app.entry.compact.is_none(), "{compact}");
    }
    check_json(
        app(json!({"entry": {"type": "module", "path": "a.mjs", "compact": "c.mjs"}})),
        expect![[r"
        com.example.ok 0.0.0 [a+compact]
    "]],
    );
}

#[test]
fn a_bad_backend_keeps_the_plugin() {
    for (backend, code, pointer) in [
        (json!({"entry": "../b.mjs"}), "path_outside", "/backend/entry"),
        (json!({"entry": "/b.mjs"}), "path_invalid", "/backend/entry"),
        (json!({}), "missing_field", "/backend/entry"),
        (json!({"entry": 5}), "wrong_type", "/backend/entry"),
        (json!("b.mjs"), "wrong_type", "/backend"),
        (json!(null), "wrong_type", "/backend"),
    ] {
        let parsed = parse(plugin(json!({"backend": backend})).to_string().as_bytes());
        let problem = &parsed.problems[0];
        assert_eq!((problem.code.as_str(), problem.path.as_str()), (code, pointer), "{backend}");
        assert_eq!(parsed.manifest.unwrap().backend.unwrap().path, None, "declared, not available");
    }
}

#[test]
fn mcp_fields() {
    let long = "x".repeat(4097);
    let nested = (0..33).fold(json!(1), |inner, _| json!({ "a": inner }));
    for (mcp, code) in [
        (json!({"command": "node"}), "mcp_no_target"),
        (json!({"url": "  "}), "mcp_no_target"),
        (json!({}), "mcp_no_target"),
        (json!([]), "wrong_type"),
        (json!({"url": 1}), "wrong_type"),
        (json!({"url": "ftp://x"}), "url_scheme"),
        (json!({"url": "https://user:pw@x/"}), "url_credentials"),
        (json!({"url": "https://"}), "url_invalid"),
        (json!({"url": "https://a\u{7}b/"}), "value_invalid"),
        (json!({"url": format!("https://{}", "x".repeat(2100))}), "value_too_long"),
        (json!({"entry": "../x.mjs"}), "path_outside"),
        (json!({"entry": "x.mjs", "command": "./../../bin/sh"}), "path_outside"),
        (json!({"entry": "x.mjs", "command": " "}), "missing_field"),
        (json!({"entry": "x.mjs", "command": "a\0b"}), "value_invalid"),
        (json!({"entry": "x.mjs", "args": "--x"}), "wrong_type"),
        (json!({"entry": "x.mjs", "args": [1]}), "wrong_type"),
        (json!({"entry": "x.mjs", "args": ["a\0"]}), "value_invalid"),
        (json!({"entry": "x.mjs", "args": [long]}), "value_too_long"),
        (json!({"entry": "x.mjs", "args": vec!["a"; 65]}), "too_many_items"),
        (json!({"entry": "x.mjs", "startTimeoutMs": "60000"}), "wrong_type"),
        (json!({"entry": "x.mjs", "startTimeoutMs": 999}), "wrong_type"),
        (json!({"entry": "x.mjs", "startTimeoutMs": 600_001}), "wrong_type"),
        (json!({"entry": "x.mjs", "callMeta": "x"}), "wrong_type"),
        (json!({"entry": "x.mjs", "callMeta": {"a": "x".repeat(66_000)}}), "meta_too_large"),
        (json!({"entry": "x.mjs", "callMeta": nested}), "meta_too_large"),
        (json!({"entry": "x.mjs", "enabled": null}), "wrong_type"),
        (json!({"entry": "x.mjs", "allowMain": "yes"}), "wrong_type"),
        (json!({"entry": "x.mjs", "allowSub": 1}), "wrong_type"),
        (json!({"entry": "x.mjs", "description": 1}), "wrong_type"),
        (json!({"entry": "x.mjs", "tags": "a"}), "wrong_type"),
        (json!({"entry": "x.mjs", "tags": vec!["a"; 33]}), "too_many_items"),
        (json!({"entry": "x.mjs", "tags": ["t".repeat(65)]}), "value_too_long"),
        (json!({"entry": "x.mjs", "auth": []}), "wrong_type"),
        (json!({"entry": "x.mjs", "auth": {"token": "a\r\nb"}}), "auth_header"),
        (json!({"entry": "x.mjs", "auth": {"headers": {"Host": "x"}}}), "auth_header"),
        (json!({"entry": "x.mjs", "auth": {"headers": {"content-type": "x"}}}), "auth_header"),
        (json!({"entry": "x.mjs", "auth": {"headers": {"Sec-Fetch-Site": "x"}}}), "auth_header"),
        (json!({"entry": "x.mjs", "auth": {"headers": {"MCP-Session-Id": "x"}}}), "auth_header"),
        (json!({"entry": "x.mjs", "auth": {"headers": {"Upgrade": "x"}}}), "auth_header"),
        (json!({"entry": "x.mjs", "auth": {"headers": {"a b": "x"}}}), "auth_header"),
        (json!({"entry": "x.mjs", "auth": {"headers": {"X-A": "x\ny"}}}), "auth_header"),
        (json!({"entry": "x.mjs", "auth": {"headers": {"X-A": "1", "x-a": "2"}}}), "auth_header"),
        (json!({"entry": "x.mjs", "auth": {"headers": {"X-A": 1}}}), "wrong_type"),
        (json!({"entry": "x.mjs", "auth": {"basic": "u:p"}}), "wrong_type"),
    ] {
        let parsed = parse(ai(json!({"mcp": mcp})).to_string().as_bytes());
        let found: Vec<_> =
            parsed.problems.iter().filter(|p| p.is_error()).map(|p| p.code.as_str()).collect();
        assert_eq!(found, [code], "{mcp}");
        let app = &parsed.manifest.unwrap().apps[0];
        assert_eq!(
            app.ai.as_ref().unwrap().inline.mcp,
            Slot::Dropped,
            "the app stays, its server goes: {mcp}"
        );
    }
}

#[test]
fn mcp_targets() {
    let mcp = |value: Value| {
        let parsed = parse(ai(json!({"mcp": value})).to_string().as_bytes());
        let mut manifest = parsed.manifest.unwrap();
        match manifest.apps.remove(0).ai.unwrap().inline.mcp {
            Slot::Present(mcp) => (mcp, parsed.problems),
            other => panic!("{other:?} {:?}", parsed.problems),
        }
    };
    let (decl, problems) =
        mcp(json!({"entry": "s.mjs", "args": ["", " -x "], "allowMain": false, "startTimeoutMs": 90_000}));
    assert!(problems.is_empty());
    assert_eq!(decl.start_timeout_ms, Some(90_000));
    let McpTarget::Entry { entry, program, args } = decl.target else { panic!() };
    assert_eq!(
        (entry.as_str(), program, args),
        ("s.mjs", McpProgram::Name("node".into()), vec![String::new(), " -x ".into()])
    );
    assert_eq!((decl.allow_main, decl.allow_sub, decl.enabled), (Some(false), None, None));

    let (decl, problems) = mcp(json!({"entry": "s.py", "command": "bin/py", "url": " https://x/ "}));
    assert_eq!(
        problems.iter().map(|p| p.code).collect::<Vec<_>>(),
        [ProblemCode::UnusualCommand, ProblemCode::McpBoth]
    );
    assert!(matches!(decl.target, McpTarget::Url { url, .. } if url == "https://x/"));

    let (decl, _) = mcp(json!({"entry": "s.py", "command": "bin/py"}));
    assert!(matches!(decl.target, McpTarget::Entry { program: McpProgram::File(_), .. }));
    let (_, problems) = mcp(json!({"url": "http://169.254.169.254/latest"}));
    assert_eq!(problems[0].code, ProblemCode::UrlLinkLocal);
    let (_, problems) = mcp(json!({"entry": "s.mjs", "allowMain": false, "allowSub": false}));
    assert_eq!(problems[0].code, ProblemCode::NeverUsable);
    let (decl, problems) = mcp(json!({"entry": "s.mjs", "tags": ["db", "db", "uiapp:x", " "]}));
    assert_eq!((decl.tags, problems[0].code), (vec!["db".to_owned()], ProblemCode::TagReserved));
    let (decl, problems) = mcp(
        json!({"entry": "s.mjs", "callMeta": {"__proto__": 1, "a": {"constructor": 2, "b": [{"prototype": 3, "c": 4}]}}}),
    );
    assert_eq!(Value::Object(decl.call_meta.unwrap()), json!({"a": {"b": [{"c": 4}]}}));
    assert_eq!(
        problems.iter().map(|p| p.path.as_str()).collect::<Vec<_>>(),
        [
            "/apps/0/ai/mcp/callMeta/__proto__",
            "/apps/0/ai/mcp/callMeta/a/constructor",
            "/apps/0/ai/mcp/callMeta/a/b/0/prototype"
        ]
    );
}

#[test]
fn secrets_do_not_show() {
    let value =
        ai(json!({"mcp": {"url": "https://x/", "auth": {"token": "tok-canary", "apiKey": "key-canary",
        "basic": {"username": "u", "password": "pw-canary"}, "headers": {"X-Key": "hdr-canary"}}}}));
    let parsed = parse(value.to_string().as_bytes());
    let shown = format!("{:?}", parsed.manifest.unwrap().apps[0].ai) + &format!("{:?}", parsed.problems);
    assert!(!shown.contains("canary"), "{shown}");
    let bad = ai(json!({"mcp": {"url": "https://u:pw-canary@x/"}}));
    assert!(!format!("{:?}", parse(bad.to_string().as_bytes()).problems).contains("canary"));
}

#[test]
fn async_task_configuration() {
    let call_meta = |task: Value| json!({"entry": "s.mjs", "callMeta": {"asyncTask": task}});
    for bad in [
        json!(5),
        json!({"tools": "x"}),
        json!({"tools": [1]}),
        json!({"tools": ["x"], "taskIdKey": ""}),
        json!({"tools": ["x"], "taskIdKey": "chatos"}),
        json!({"tools": ["x"], "taskIdKey": "progressToken"}),
        json!({"tools": ["x"], "taskIdKey": "__proto__"}),
        json!({"tools": ["x"], "resultSource": "file"}),
        json!({"tools": ["x"], "pollIntervalMs": "fast"}),
        json!({"tools": ["x"], "timeoutMs": null}),
    ] {
        assert_eq!(codes(ai(json!({"mcp": call_meta(bad.clone())}))), ["async_invalid"], "{bad}");
    }
    let task = |value: Value| {
        let parsed = parse(ai(json!({"mcp": value})).to_string().as_bytes());
        let codes: Vec<_> = parsed.problems.iter().map(|p| p.code.as_str()).collect();
        match parsed.manifest.unwrap().apps.remove(0).ai.unwrap().inline.mcp {
            Slot::Present(mcp) => (mcp.async_task, codes),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(task(call_meta(json!({}))), (None, vec![]), "no tools: does not apply");
    assert_eq!(task(call_meta(json!({"tools": []}))), (None, vec![]));
    let (found, warnings) =
        task(call_meta(json!({"tools": ["Report_Run"], "pollIntervalMs": 0, "timeoutMs": 1e12,
        "uiPromptFile": "/etc/passwd"})));
    let found = found.unwrap();
    assert_eq!(
        (found.poll_interval_ms, found.timeout_ms, found.task_id_key.as_str()),
        (200, 86_400_000, "taskId")
    );
    assert_eq!(warnings, ["async_prompt_file"]);
    assert!(found.covers("report_run") && !found.covers("report"));
    let (found, warnings) = task(
        json!({"entry": "s.mjs", "callMeta": {"jobId": "fixed", "asyncTask": {"tools": ["*"], "taskIdKey": "jobId"}}}),
    );
    assert!(found.unwrap().covers("anything"));
    assert_eq!(warnings, ["static_task_id"]);
}

#[test]
fn prompts() {
    let prompt = |value: Value| {
        let parsed = parse(ai(json!({"mcpPrompt": value})).to_string().as_bytes());
        let codes: Vec<_> = parsed.problems.iter().map(|p| (p.path.clone(), p.code.as_str())).collect();
        (parsed.manifest.unwrap().apps.remove(0).ai.unwrap().inline.mcp_prompt, codes)
    };
    let at = |rest: &str, code| vec![(format!("/apps/0/ai/mcpPrompt{rest}"), code)];
    let (slot, problems) = prompt(json!("p.md"));
    let Slot::Present(decl) = slot else { panic!() };
    assert!(matches!(decl.zh, Some(PromptSource::File { .. })) && decl.en.is_none() && problems.is_empty());
    assert_eq!(prompt(json!({})), (Slot::Dropped, at("", "prompt_no_language")));
    assert_eq!(prompt(json!({"title": "x"})), (Slot::Dropped, at("", "prompt_no_language")));
    assert_eq!(prompt(json!(3)), (Slot::Dropped, at("", "wrong_type")));
    assert_eq!(prompt(json!({"zh": 3})), (Slot::Dropped, at("/zh", "wrong_type")));
    assert_eq!(prompt(json!({"zh": {}})), (Slot::Dropped, at("/zh", "prompt_empty")));
    assert_eq!(prompt(json!({"zh": {"content": " \n"}})), (Slot::Dropped, at("/zh", "prompt_empty")));
    assert_eq!(
        prompt(json!({"zh": {"content": "x".repeat(131_073)}})),
        (Slot::Dropped, at("/zh/content", "prompt_too_large"))
    );
    assert!(prompt(json!({"zh": {"content": "x".repeat(131_072)}})).1.is_empty());
    // One bad language leaves the other.
    let (slot, problems) = prompt(json!({"zh": "../p.md", "en": {"content": " hi "}}));
    assert_eq!(problems, at("/zh", "path_outside"));
    let Slot::Present(decl) = slot else { panic!() };
    assert_eq!((decl.zh, decl.en), (None, Some(PromptSource::Inline("hi".into()))));
    // Inline text wins over a path.
    let (slot, problems) = prompt(json!({"en": {"path": "no-such.md", "content": "text"}}));
    let Slot::Present(decl) = slot else { panic!() };
    assert_eq!((decl.en, problems.len()), (Some(PromptSource::Inline("text".into())), 0));
    let (slot, _) = prompt(json!({"en": {"path": "p.md", "content": "  "}}));
    assert!(matches!(slot, Slot::Present(decl) if matches!(decl.en, Some(PromptSource::File { .. }))));
}

#[test]
fn exposures() {
    let exposure = |value: Value| {
        let parsed = parse(ai(json!({"mcpServers": value})).to_string().as_bytes());
        let codes: Vec<_> = parsed.problems.iter().map(|p| p.code.as_str()).collect();
        (parsed.manifest.unwrap().apps.remove(0).ai.unwrap().inline.mcp_servers, codes)
    };
    assert_eq!(exposure(json!(true)), (Exposure::All, vec![]));
    assert_eq!(exposure(json!(false)), (Exposure::Off, vec![]));
    assert_eq!(
        exposure(json!([" a ", "b", "a", ""])),
        (Exposure::List(vec!["a".into(), "b".into()]), vec![])
    );
    assert_eq!(exposure(json!([])), (Exposure::Off, vec!["exposure_empty_list"]));
    for wrong in [json!("a"), json!(null), json!(1), json!({}), json!(["a", 1])] {
        assert_eq!(exposure(wrong.clone()), (Exposure::Unset, vec!["wrong_type"]), "{wrong}");
    }
    assert_eq!(exposure(json!(vec!["n"; 501])), (Exposure::Unset, vec!["too_many_items"]));
    check_json(
        ai(json!({"mcpServers": "x"})),
        expect![[r#"
        com.example.ok 0.0.0 [a]
        error "/apps/0/ai/mcpServers" wrong_type ai.mcpServers must be true, false or a list of names
    "#]],
    );
}

#[test]
fn ai_forms() {
    for wrong in [json!(5), json!(null), json!(["x"]), json!(true)] {
        let parsed = parse(ai(wrong.clone()).to_string().as_bytes());
        assert_eq!(parsed.problems[0].code, ProblemCode::WrongType);
        assert!(parsed.manifest.unwrap().apps[0].ai.is_none(), "{wrong}");
    }
    let parsed = parse(ai(json!(" my-app/ai.yaml ")).to_string().as_bytes());
    let (path, pointer) = parsed.manifest.unwrap().apps.remove(0).ai.unwrap().config.unwrap();
    assert_eq!((path.as_str(), pointer.as_str()), ("my-app/ai.yaml", "/apps/0/ai"));
    let parsed = parse(ai(json!({"config": "../ai.yaml", "prompts": true})).to_string().as_bytes());
    assert_eq!(
        (parsed.problems[0].code, parsed.problems[0].path.as_str()),
        (ProblemCode::PathOutside, "/apps/0/ai/config")
    );
    let ai_part = parsed.manifest.unwrap().apps.remove(0).ai.unwrap();
    assert!(ai_part.config.is_none() && ai_part.inline.prompts == Exposure::All, "only that layer goes");
    assert_eq!(codes(ai(json!({"agent": {"description": "x"}}))), ["missing_field"]);
    assert_eq!(codes(ai(json!({"agent": {"name": "Helper", "modelId": "m", "future": 1}}))), ["unknown_key"]);
}

#[test]
fn codes_are_unique_and_have_both_hints() {
    let mut seen = std::collections::HashSet::new();
    for code in ProblemCode::ALL {
        assert!(seen.insert(code.as_str()), "{code}");
        assert!(code.as_str().bytes().all(|b| b.is_ascii_lowercase() || b == b'_' || b.is_ascii_digit()));
        assert_ne!(code.hint(Lang::En), code.hint(Lang::Zh));
    }
}

#[test]
fn a_problem_on_the_wire() {
    let parsed = parse(app(json!({"entry": {"type": "module", "path": "../x.mjs"}})).to_string().as_bytes());
    let problem = parsed.problems[0].clone().in_dir("/plugins/x");
    let wire = serde_json::to_value(problem.view(Lang::En)).unwrap();
    assert_eq!(
        wire,
        json!({"path": "/apps/0/entry/path", "code": "path_outside", "severity": "error",
            "message": "App \"com.example.ok:a\": entry.path leaves the plugin directory: ../x.mjs",
            "hint": "Use a path relative to plugin.json that stays inside the plugin directory.",
            "dir": "/plugins/x", "pluginId": "com.example.ok", "appId": "a", "source": "entry"})
    );
    let zh = serde_json::to_value(problem.view(Lang::Zh)).unwrap();
    assert_eq!(zh["message"], "应用 \"com.example.ok:a\"：entry.path 越出了插件目录：../x.mjs");
}
