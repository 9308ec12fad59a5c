//! Schemas in, prompts out, typed answers back.

use serde_json::json;

use super::*;
use crate::ids::RequestId;
use crate::kind;

fn object(value: &Value) -> &Object {
    value.as_object().unwrap()
}

#[test]
fn one_enum_alone_is_a_choice() {
    let schema = json!({"type":"object","properties":{"color":{"type":"string","title":"Colour",
        "enum":["r","g"],"enumNames":["Red","Green"],"default":"g"}},"required":["color"]});
    let prompt = prompt("paint", "Which?", &schema).unwrap();
    assert_eq!(
        prompt,
        json!({"kind":"choice","options":[{"value":"r","label":"Red"},{"value":"g","label":"Green"}],
            "title":"Colour","default":"g","message":"Which?","source":"mcp:paint","requestedSchema":schema})
    );
    let checked = kind::check_strict(&prompt, &RequestId::mint(), "x");
    assert_eq!(checked.problems, []);
    let parsed = Schema::parse(&schema).unwrap();
    let answer = json!({"status":"ok","selection":"r"});
    assert_eq!(outcome(&parsed, object(&answer)), Outcome::Accept(object(&json!({"color":"r"})).clone()));
}

#[test]
fn one_multi_select_alone_is_a_multiple_choice() {
    let schema = json!({"type":"object","properties":{"c":{"type":"array","minItems":1,"maxItems":2,
        "items":{"anyOf":[{"const":"a","title":"A"},{"const":"b"},{"const":"d"}]}, "default":["b","zz"]}}});
    let prompt = prompt("s", "m", &schema).unwrap();
    assert_eq!(
        (&prompt["multiple"], &prompt["minSelections"], &prompt["maxSelections"]),
        (&json!(true), &json!(0), &json!(2))
    );
    assert_eq!(prompt["default"], json!(["b"]));
    let parsed = Schema::parse(&schema).unwrap();
    assert_eq!(
        outcome(&parsed, object(&json!({"status":"ok","selection":[]}))),
        Outcome::Accept(Object::new())
    );
    assert_eq!(parsed.check_selection(&["a".into(), "b".into(), "d".into()]).len(), 1);
}

#[test]
fn anything_else_is_a_form_with_typed_answers() {
    let schema = json!({"type":"object","required":["n","ok"],"properties":{
        "n":{"type":"integer","minimum":1,"maximum":9,"default":3},
        "x":{"type":"number"}, "ok":{"type":"boolean","default":true},
        "day":{"type":"string","format":"date"}, "mail":{"type":"string","format":"email"},
        "site":{"type":"string","format":"uri"}, "at":{"type":"string","format":"date-time"},
        "name":{"type":"string","minLength":2,"maxLength":4},
        "pick":{"type":"string","enum":["u","v"]},
        "many":{"type":"array","items":{"type":"string","enum":["p","q"]}},
        "apiKey":{"type":"string","default":"sk-1"}}});
    let prompt = prompt("s", "m", &schema).unwrap();
    assert_eq!(prompt["fields"][0], json!({"key":"n","default":"3","required":true}));
    assert_eq!(prompt["fields"][2], json!({"key":"ok","default":"true","required":true}));
    assert_eq!(prompt["fields"][10], json!({"key":"apiKey","required":false,"secret":true}));
    let parsed = Schema::parse(&schema).unwrap();
    let good = json!({"status":"ok","values":{"n":"7","x":"1.5","ok":"false","day":"2026-02-28",
        "mail":"a@b.c","site":"https://x/","at":"2026-01-01T00:00:00Z","name":"中文","pick":"v",
        "many":"[\"q\",\"p\"]","apiKey":""}});
    assert_eq!(
        outcome(&parsed, object(&good)),
        Outcome::Accept(
            object(&json!({"n":7,"x":1.5,"ok":false,"day":"2026-02-28","mail":"a@b.c","site":"https://x/",
                "at":"2026-01-01T00:00:00Z","name":"中文","pick":"v","many":["p","q"]}))
            .clone()
        )
    );
    for (key, text, expected) in [
        ("n", "0", "integer 1..9"),
        ("n", "1.5", "integer 1..9"),
        ("n", "", "integer 1..9"),
        ("x", "ten", "number"),
        ("x", "inf", "number"),
        ("ok", "maybe", "true | false"),
        ("day", "2026-02-30", "YYYY-MM-DD"),
        ("mail", "a@@b", "email"),
        ("site", "no scheme", "URI"),
        ("at", "noon", "YYYY-MM-DDTHH:MM:SSZ"),
        ("name", "x", "2..4 characters"),
        ("pick", "w", "u | v"),
        ("many", "p,z", "p | q"),
    ] {
        let values = json!({ key: text });
        let problems = parsed.check_values(object(&values));
        assert_eq!(problems.len(), 1, "{key}={text}");
        assert_eq!(problems[0].path, format!("/response/values/{key}"));
        assert_eq!(problems[0].message(crate::Lang::En), format!("`{key}` must be {expected}"));
    }
}

#[test]
fn refusals_name_the_property() {
    for (schema, expected) in [
        (json!([]), "must be an object"),
        (json!({"type":"object","properties":{}}), "0 properties"),
        (json!({"properties":{"a":{"type":"object"}}}), "property `a`"),
        (json!({"properties":{"a":{}}}), "property `a`"),
        (json!({"properties":{"a":{"type":"array","items":{"type":"string"}}}}), "property `a`"),
        (json!({"properties":{"a":{"type":"string","enum":[1]}}}), "property `a`"),
        (json!({"properties":{"a":{"type":"string","enum":["x","x"]}}}), "property `a`"),
        (json!({"properties":{" a":{"type":"string"}}}), "property ` a`"),
    ] {
        let error = prompt("s", "m", &schema).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn other_answers_decline_or_cancel() {
    let schema = Schema::parse(&json!({"properties":{"a":{"type":"string"}}})).unwrap();
    for (answer, expected) in [
        (json!({"status":"canceled","declined":true}), Outcome::Decline),
        (json!({"status":"canceled"}), Outcome::Cancel),
        (json!({"status":"canceled","code":"aborted"}), Outcome::Cancel),
        (json!({"status":"timeout"}), Outcome::Cancel),
        (json!({"status":"error"}), Outcome::Cancel),
    ] {
        assert_eq!(outcome(&schema, object(&answer)), expected);
    }
}
