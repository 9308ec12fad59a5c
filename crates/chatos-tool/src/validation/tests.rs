//! Tables of arguments and what is said about them.

use serde_json::json;

use super::*;

fn schema() -> Value {
    json!({
        "type": "object", "additionalProperties": false, "required": ["path"],
        "properties": {
            "path": {"type": "string", "minLength": 1, "x-max-bytes": 10, "x-no-nul": true},
            "max_results": {"type": "integer", "minimum": 1, "maximum": 200},
            "case_sensitive": {"type": "boolean"},
            "mode": {"type": "string", "enum": ["strict", "relaxed"]},
            "ratio": {"type": "number", "minimum": 0, "maximum": 1},
            "tags": {"type": "array", "maxItems": 2, "items": {"type": "string", "maxLength": 3}},
            "default": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
            "env": {"type": "object", "additionalProperties": {"type": "string"}},
            "name": {"type": "string", "pattern": "^[a-z]+$"},
            "field": {"type": "object", "additionalProperties": false, "required": ["key"],
                      "properties": {"key": {"$ref": "#/$defs/key"}}},
        },
        "$defs": {"key": {"type": "string", "minLength": 1}},
    })
}

fn ok(arguments: Value) -> Value {
    Value::Object(check(&schema(), Some(arguments)).unwrap())
}

fn issues(arguments: Value) -> Vec<(String, &'static str, Option<String>)> {
    let issues = check(&schema(), Some(arguments)).unwrap_err();
    issues
        .into_iter()
        .map(|issue| (issue.path, issue.code.as_str(), issue.hint.map(|hint| hint.en.into_owned())))
        .collect()
}

fn one(arguments: Value) -> (String, &'static str, Option<String>) {
    let mut all = issues(arguments);
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

#[test]
fn lossless_conversions_and_nothing_else() {
    assert_eq!(ok(json!({"path": "a", "max_results": "12"}))["max_results"], 12);
    assert_eq!(ok(json!({"path": "a", "max_results": 12.0}))["max_results"], 12);
    assert_eq!(ok(json!({"path": "a", "case_sensitive": "true"}))["case_sensitive"], true);
    assert_eq!(ok(json!({"path": "a", "case_sensitive": "false"}))["case_sensitive"], false);
    for (key, value) in [
        ("max_results", json!("12.0")),
        ("max_results", json!(" 12")),
        ("max_results", json!("+12")),
        ("max_results", json!("0x1")),
        ("max_results", json!("99999999999999999999999")),
        ("max_results", json!(1.5)),
        ("max_results", json!(true)),
        ("case_sensitive", json!("yes")),
        ("case_sensitive", json!("True")),
        ("case_sensitive", json!(1)),
        ("path", json!(7)),
        ("tags", json!("a")),
        ("env", json!({"A": 1})),
        ("ratio", json!("0.5")),
    ] {
        let mut arguments = json!({"path": "a"});
        arguments[key] = value.clone();
        assert_eq!(one(arguments).1, "type", "{key} {value}");
    }
}

#[test]
fn null_is_absent_where_a_key_is_optional() {
    assert_eq!(ok(json!({"path": "a", "max_results": null, "tags": null})), json!({"path": "a"}));
    assert_eq!(one(json!({"path": null})), ("/path".into(), "missing", None));
    assert_eq!(one(json!({"path": "a", "nonsense": null})).1, "unknown_key");
}

#[test]
fn an_unknown_key_is_refused_with_the_nearest_known_one() {
    let hint = |near: &str| Some(format!("did you mean \"{near}\"?"));
    assert_eq!(
        one(json!({"path": "a", "maxResults": 5})),
        ("/maxResults".into(), "unknown_key", hint("max_results"))
    );
    assert_eq!(one(json!({"path": "a", "CASE-SENSITIVE": true})).2, hint("case_sensitive"));
    assert_eq!(one(json!({"path": "a", "tgs": []})).2, hint("tags"));
    let far = one(json!({"path": "a", "zzzzzzzz": 1})).2.unwrap();
    assert!(far.starts_with("known keys: path, max_results"), "{far}");
    assert_eq!(one(json!({"path": "a", "a/b~c": 1})).0, "/a~1b~0c");
    assert_eq!(one(json!({"path": "a", "field": {"key": "k", "kee": 1}})).0, "/field/kee");
}

#[test]
fn all_problems_are_reported_together() {
    let found = issues(json!({
        "maxResults": 1, "max_results": 0, "mode": "strikt", "tags": ["long", "ok"], "name": "A1",
        "field": {"key": ""}, "ratio": 1.5,
    }));
    let pairs: Vec<_> = found.iter().map(|(path, code, _)| (path.as_str(), *code)).collect();
    assert_eq!(
        pairs,
        [
            ("/path", "missing"),
            ("/maxResults", "unknown_key"),
            ("/max_results", "range"),
            ("/mode", "enum"),
            ("/tags/0", "length"),
            ("/name", "pattern"),
            ("/field/key", "length"),
            ("/ratio", "range"),
        ]
    );
    assert_eq!(found[3].2.as_deref(), Some("did you mean \"strict\"?"));
}

#[test]
fn alternatives_are_tried_and_the_nearest_explains() {
    assert_eq!(ok(json!({"path": "a", "default": "x"}))["default"], "x");
    assert_eq!(ok(json!({"path": "a", "default": ["x"]}))["default"], json!(["x"]));
    assert_eq!(one(json!({"path": "a", "default": [1]})), ("/default/0".into(), "type", None));
    assert_eq!(one(json!({"path": "a", "default": 7})), ("/default".into(), "type", None));
}

#[test]
fn hostile_shapes_are_refused_quickly() {
    assert_eq!(one(json!({"path": "a\u{0}b"})).1, "format");
    assert_eq!(one(json!({"path": "ééééééé"})).1, "length", "bytes, not characters");
    assert_eq!(one(json!({"path": "a", "tags": vec!["x"; 100_000]})).1, "length");
    let mut many = json!({"path": "a"});
    for i in 0..1000 {
        many[format!("k{i}")] = json!(1);
    }
    assert_eq!(issues(many).len(), limits::ISSUES + 1);
    let long = "k".repeat(1_000_000);
    assert!(one(json!({"path": "a", long: 1})).0.len() < 100);
    let not_object = check(&schema(), Some(json!([1]))).unwrap_err();
    assert_eq!((not_object[0].path.as_str(), not_object[0].code), ("", IssueCode::Type));
    assert_eq!(check(&schema(), None).unwrap_err()[0].path, "/path");
}

#[test]
fn deep_nesting_ends() {
    let recursive = json!({"type": "object", "properties": {"a": {"$ref": "#"}}});
    let mut value = json!({});
    for _ in 0..limits::ARGUMENT_DEPTH + 2 {
        value = json!({ "a": value });
    }
    let issues = check(&recursive, Some(value)).unwrap_err();
    assert_eq!(issues[0].code, IssueCode::Format);
}

#[test]
fn near_names() {
    assert_eq!(nearest("pth", ["path", "mode"]), Some("path"));
    assert_eq!(nearest("x", ["path", "mode"]), None);
    assert_eq!(nearest("ab", ["xyz"]), None, "short words are not all alike");
    assert_eq!(nearest("minSelections", ["min_selections", "max_selections"]), Some("min_selections"));
}
