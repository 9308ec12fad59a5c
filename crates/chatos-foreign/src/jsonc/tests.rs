//! Texts changed and changed back.

use proptest::prelude::*;
use serde_json::json;

use super::*;

#[test]
fn comments_and_hanging_commas_are_read_and_kept() {
    let text = "// mine\n{\n  \"a\": [1, 2,], /* x */\n  \"b\": \"// no comment\" // end\n}\n";
    assert_eq!(parse(text).unwrap(), json!({ "a": [1, 2], "b": "// no comment" }));
    let more = push(text, &["hooks", "X"], &json!({ "n": 1 })).unwrap();
    assert!(
        more.contains("/* x */") && more.contains("\"b\": \"// no comment\", // end\n  \"hooks\""),
        "{more}"
    );
    assert_eq!(parse(&more).unwrap()["hooks"]["X"], json!([{ "n": 1 }]));
}

#[test]
fn the_line_of_a_fault_is_named() {
    for (text, line) in
        [("{\n\"a\": 1\n\"b\": 2}", 3), ("{\n\n\"a\": }", 3), ("{} x", 1), ("{\"a\": \"x\ny\"}", 1), ("[", 1)]
    {
        assert_eq!(parse(text).unwrap_err().line, line, "{text}");
    }
    assert!(parse(&"[".repeat(100_000)).is_err());
    assert_eq!(parse("").unwrap(), json!({}));
    assert_eq!(push("{\"hooks\": 3}", &["hooks", "X"], &json!(1)).unwrap_err().line, 1);
}

#[test]
fn one_line_stays_one_line() {
    assert_eq!(push(r#"{"a": [1]}"#, &["a"], &json!({ "b": 2 })).unwrap(), r#"{"a": [1, { "b": 2 }]}"#);
    assert_eq!(
        remove(r#"{"a": [1, { "b": 2 }]}"#, &[Step::Key("a".into()), Step::Item(1)]).unwrap(),
        r#"{"a": [1]}"#
    );
    assert_eq!(
        remove(r#"{"a": [1, 2, 3]}"#, &[Step::Key("a".into()), Step::Item(0)]).unwrap(),
        r#"{"a": [2, 3]}"#
    );
    assert_eq!(
        remove(r#"{"a": [1, 2, 3]}"#, &[Step::Key("a".into()), Step::Item(1)]).unwrap(),
        r#"{"a": [1, 3]}"#
    );
}

fn tree() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|b| json!(b)),
        any::<i32>().prop_map(|n| json!(n)),
        "[a-z\"\\\\/ \u{4e00}]{0,6}".prop_map(|s| json!(s)),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            proptest::collection::vec(("[a-c]{1,2}", inner), 0..4)
                .prop_map(|list| Value::Object(list.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn in_and_out_again_changes_nothing_else(
        members in proptest::collection::vec(("[a-z]{1,4}", tree()), 0..4),
        others in proptest::collection::vec(tree(), 0..3),
        pretty in any::<bool>(),
        with_event in any::<bool>(),
    ) {
        let mut whole: serde_json::Map<String, Value> = members.into_iter().collect();
        if with_event {
            whole.insert("hooks".into(), json!({ "E": others }));
        } else {
            whole.remove("hooks");
        }
        let before = Value::Object(whole);
        let text = if pretty { serde_json::to_string_pretty(&before) } else { serde_json::to_string(&before) }.unwrap();
        let ours = json!({ "matcher": "*", "hooks": [{ "command": "x" }] });
        let with = push(&text, &["hooks", "E"], &ours).unwrap();
        let mut expected = before.clone();
        if expected.get("hooks").is_none() {
            expected["hooks"] = json!({ "E": [] });
        }
        expected["hooks"]["E"].as_array_mut().unwrap().push(ours);
        prop_assert_eq!(parse(&with).unwrap(), expected.clone());
        let last = expected["hooks"]["E"].as_array().unwrap().len() - 1;
        let key = |key: &str| Step::Key(key.to_owned());
        let mut out = remove(&with, &[key("hooks"), key("E"), Step::Item(last)]).unwrap();
        if !with_event {
            out = remove(&out, &[key("hooks")]).unwrap();
        }
        prop_assert_eq!(parse(&out).unwrap(), before);
    }
}
