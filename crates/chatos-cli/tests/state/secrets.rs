//! `chatos secrets`: values go in and never come out.

use std::fs;

use serde_json::json;

use super::backup::with_input;
use super::sandbox;

const VALUE: &str = "canary-5d41402abc4b2a76b9719d911017c592";

#[test]
fn names_are_shown_values_never() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    let set = with_input(
        &sandbox,
        &["secrets", "set", "API_KEY", "--description", "for tests", "--json"],
        &format!("{VALUE}\n"),
    );
    assert_eq!(
        (set.status, set.json()),
        (0, json!({ "name": "API_KEY", "set": true, "created": true })),
        "{set:?}"
    );
    let again = with_input(&sandbox, &["secrets", "set", "api_key"], VALUE);
    assert!(again.status == 0 && again.stdout.contains("new value"), "{again:?}");
    let list = sandbox.run(&["secrets", "list"]);
    assert!(list.stdout.contains("API_KEY") && list.stdout.contains("••••"), "{list:?}");
    let answers = [
        host.ask("GET", "/api/v1/secrets", None),
        host.ask("GET", "/api/v1/secrets/API_KEY", None),
        host.ask("PUT", "/api/v1/secrets/API_KEY", Some(&json!({ "value": VALUE, "odd": 1 }))),
        host.ask("PUT", "/api/v1/secrets/bad-name", Some(&json!({ "value": VALUE }))),
        host.ask("PUT", "/api/v1/secrets/EMPTY", Some(&json!({ "value": "" }))),
        host.ask("GET", "/api/v1/doctor", None),
        host.ask("GET", "/api/v1/status", None),
    ];
    assert_eq!(answers.each_ref().map(|answer| answer.status), [200, 405, 400, 422, 422, 200, 200]);
    for answer in &answers {
        assert!(!String::from_utf8_lossy(&answer.body).contains(VALUE), "{answer:?}");
    }
    let removed = sandbox.run(&["secrets", "remove", "API_KEY", "--json"]);
    assert_eq!(removed.status, 0, "{removed:?}");
    let gone = sandbox.run(&["secrets", "remove", "API_KEY", "--json"]);
    assert_eq!((gone.status, gone.code().as_str()), (4, "not_found"));
    with_input(&sandbox, &["secrets", "set", "KEPT"], VALUE);
    assert!(host.stop().success());
    // state §11.4: no 16 bytes of it in any file.
    let mut open = vec![sandbox.root().to_owned()];
    let mut files = 0;
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            if entry.path().is_dir() {
                open.push(entry.path());
                continue;
            }
            files += 1;
            let bytes = fs::read(entry.path()).unwrap();
            for window in VALUE.as_bytes().windows(16).step_by(4) {
                assert!(!bytes.windows(16).any(|part| part == window), "{}", entry.path().display());
            }
        }
    }
    assert!(files > 5);
}

#[test]
fn a_value_on_the_command_line_is_wrong_usage_and_odd_input_is_refused() {
    let sandbox = sandbox();
    assert_eq!(sandbox.run(&["secrets", "set", "A", "value", "--json"]).status, 2);
    let empty = with_input(&sandbox, &["secrets", "set", "A", "--json"], "\n");
    assert_eq!(empty.code(), "invalid_argument", "{empty:?}");
    let name = with_input(&sandbox, &["secrets", "set", "1st", "--json"], "x");
    assert!(name.json()["error"]["hint"].as_str().unwrap().contains("OPENAI_API_KEY"), "{name:?}");
    let long = with_input(&sandbox, &["secrets", "set", "A", "--json"], &"x".repeat(70_000));
    assert_eq!(long.code(), "invalid_argument", "{long:?}");
    let none = sandbox.run(&["secrets", "list", "--lang", "zh"]);
    assert!(none.stdout.contains("没有设置"), "{none:?}");
}
