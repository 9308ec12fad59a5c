//! Every code of `ui-prompts §5` and `§6`, produced by a fixture, with its place and its texts in both
//! languages.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::unnecessary_wraps,
    clippy::disallowed_methods,
    reason = "a test that cannot set itself up has failed; it starts programs of its own"
)]

mod common;

use std::collections::BTreeSet;

use chatos_prompts::{Answerer, Ask, AskError, Code, Lang, Owner, Problem, RespondError, Surface, View};
use common::*;
use serde_json::{Value, json};

fn texts(problem: &Problem) {
    for lang in [Lang::En, Lang::Zh] {
        let (message, hint) = (problem.message(lang), problem.hint(lang));
        for text in [&message, &hint] {
            assert!(text.chars().count() >= 4, "{}: {text}", problem.code);
            assert!(!text.contains("{0}") && !text.contains("{1}"), "{}: {text}", problem.code);
        }
        assert!(message.chars().any(|c| c >= '\u{4e00}') == (lang == Lang::Zh), "{message}");
    }
    let object = problem.to_json(Lang::En);
    let keys: Vec<&String> = object.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["path", "code", "message", "hint"]);
}

fn kv_with(field: Value) -> Value {
    json!({"kind":"kv","fields":[field]})
}

fn choice_with(more: Value) -> Value {
    let mut prompt = json!({"kind":"choice","multiple":true,"options":[{"value":"a"},{"value":"b"}]});
    prompt.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    prompt
}

fn tasks_with(task: Value) -> Value {
    json!({"kind":"task_confirm","tasks":[{"title":"ok","draftId":"d1"}, task]})
}

fn many(n: usize, item: &str, key: &str) -> Value {
    let items: Vec<Value> = (0..n).map(|i| json!({ key: format!("v{i}") })).collect();
    json!({"kind": if item == "fields" {"kv"} else {"choice"}, item: items})
}

// (payload part, code, path)
fn request_fixtures() -> Vec<(Value, Code, &'static str)> {
    let big = "x".repeat(1 << 20);
    vec![
        (json!({"prompt":null}), Code::PromptRequired, "/prompt"),
        (json!({"prompt":[]}), Code::PromptRequired, "/prompt"),
        (json!({}), Code::PromptRequired, "/prompt"),
        (json!({"prompt":{}}), Code::KindRequired, "/prompt/kind"),
        (json!({"prompt":{"kind":" "}}), Code::KindRequired, "/prompt/kind"),
        (json!({"prompt":{"kind":"wizard"}}), Code::KindUnsupported, "/prompt/kind"),
        (json!({"prompt":{"kind":7}}), Code::KindUnsupported, "/prompt/kind"),
        (json!({"prompt":{"kind":"file_change_confirm","diff":1}}), Code::TypeString, "/prompt/diff"),
        (json!({"prompt":{"kind":"file_change_confirm","title":null}}), Code::TypeString, "/prompt/title"),
        (
            json!({"prompt":kv_with(json!({"key":"a","default":1}))}),
            Code::TypeString,
            "/prompt/fields/0/default",
        ),
        (
            json!({"prompt":choice_with(json!({"options":[{"value":"a","label":2}]}))}),
            Code::TypeString,
            "/prompt/options/0/label",
        ),
        (json!({"prompt":tasks_with(json!({"title":3}))}), Code::TypeString, "/prompt/tasks/1/title"),
        (
            json!({"prompt":kv_with(json!({"key":"a","secret":"yes"}))}),
            Code::TypeBoolean,
            "/prompt/fields/0/secret",
        ),
        (json!({"prompt":choice_with(json!({"multiple":1}))}), Code::TypeBoolean, "/prompt/multiple"),
        (
            json!({"prompt":{"kind":"file_change_confirm","allowCancel":0}}),
            Code::TypeBoolean,
            "/prompt/allowCancel",
        ),
        (json!({"prompt":kv(),"requestId":"a\u{7}b"}), Code::IdInvalid, "/requestId"),
        (json!({"prompt":kv(),"requestId":"x".repeat(257)}), Code::IdInvalid, "/requestId"),
        (json!({"prompt":kv(),"requestId":5}), Code::IdInvalid, "/requestId"),
        (json!({"prompt":kv(),"runId":"r\nx"}), Code::IdInvalid, "/runId"),
        (json!({"prompt":{"kind":"kv"}}), Code::FieldsRequired, "/prompt/fields"),
        (json!({"prompt":{"kind":"kv","fields":[]}}), Code::FieldsCount, "/prompt/fields"),
        (json!({"prompt":many(51,"fields","key")}), Code::FieldsCount, "/prompt/fields"),
        (json!({"prompt":kv_with(json!("a"))}), Code::FieldObject, "/prompt/fields/0"),
        (json!({"prompt":kv_with(json!({"key":"  "}))}), Code::FieldKeyRequired, "/prompt/fields/0"),
        (
            json!({"prompt":{"kind":"kv","fields":[{"key":"a"},{"key":" a"}]}}),
            Code::FieldKeyDuplicate,
            "/prompt/fields/1",
        ),
        (json!({"prompt":{"kind":"choice","options":{}}}), Code::OptionsRequired, "/prompt/options"),
        (json!({"prompt":many(61,"options","value")}), Code::OptionsCount, "/prompt/options"),
        (json!({"prompt":{"kind":"choice","options":[null]}}), Code::OptionObject, "/prompt/options/0"),
        (
            json!({"prompt":{"kind":"choice","options":[{"value":5}]}}),
            Code::OptionValueRequired,
            "/prompt/options/0",
        ),
        (
            json!({"prompt":{"kind":"choice","options":[{"value":"a"},{"value":"a"}]}}),
            Code::OptionValueDuplicate,
            "/prompt/options/1",
        ),
        (json!({"prompt":choice_with(json!({"default":"a"}))}), Code::DefaultType, "/prompt/default"),
        (
            json!({"prompt":{"kind":"choice","options":[{"value":"a"}],"default":["a"]}}),
            Code::DefaultType,
            "/prompt/default",
        ),
        (json!({"prompt":choice_with(json!({"default":["z"]}))}), Code::DefaultUnknown, "/prompt/default"),
        (
            json!({"prompt":choice_with(json!({"default":["a","b"],"maxSelections":1}))}),
            Code::DefaultUnknown,
            "/prompt/default",
        ),
        (
            json!({"prompt":choice_with(json!({"default":["a","a"]}))}),
            Code::DefaultDuplicate,
            "/prompt/default",
        ),
        (json!({"prompt":choice_with(json!({"minSelections":-1}))}), Code::MinRange, "/prompt/minSelections"),
        (
            json!({"prompt":choice_with(json!({"minSelections":1.5}))}),
            Code::MinRange,
            "/prompt/minSelections",
        ),
        (json!({"prompt":choice_with(json!({"maxSelections":0}))}), Code::MaxRange, "/prompt/maxSelections"),
        (json!({"prompt":choice_with(json!({"maxSelections":3}))}), Code::MaxRange, "/prompt/maxSelections"),
        (
            json!({"prompt":choice_with(json!({"minSelections":2,"maxSelections":1}))}),
            Code::MinGtMax,
            "/prompt/minSelections",
        ),
        (json!({"prompt":{"kind":"task_confirm","tasks":"x"}}), Code::TasksType, "/prompt/tasks"),
        (
            json!({"prompt":{"kind":"task_confirm","tasks":vec![json!({}); 201]}}),
            Code::TasksType,
            "/prompt/tasks",
        ),
        (json!({"prompt":tasks_with(json!(1))}), Code::TaskObject, "/prompt/tasks/1"),
        (json!({"prompt":tasks_with(json!({"priority":"urgent"}))}), Code::TaskPriority, "/prompt/tasks/1"),
        (json!({"prompt":tasks_with(json!({"status":1}))}), Code::TaskStatus, "/prompt/tasks/1"),
        (json!({"prompt":tasks_with(json!({"tags":["a",1]}))}), Code::TaskTags, "/prompt/tasks/1/tags"),
        (
            json!({"prompt":tasks_with(json!({"draftId":"d1"}))}),
            Code::TaskDraftDuplicate,
            "/prompt/tasks/1/draftId",
        ),
        (json!({"prompt":{"kind":"result"}}), Code::ResultTextRequired, "/prompt"),
        (json!({"prompt":{"kind":"result","markdown":5}}), Code::ResultTextRequired, "/prompt"),
        (
            json!({"prompt":{"kind":"kv","fields":[{"key":"a"}],"timeoutMs":999}}),
            Code::TimeoutRange,
            "/prompt/timeoutMs",
        ),
        (
            json!({"prompt":{"kind":"kv","fields":[{"key":"a"}],"timeoutMs":"1s"}}),
            Code::TimeoutRange,
            "/prompt/timeoutMs",
        ),
        (
            json!({"prompt":{"kind":"kv","fields":[{"key":"a"}],"chain":{"id":"","step":1}}}),
            Code::ChainShape,
            "/prompt/chain",
        ),
        (
            json!({"prompt":{"kind":"kv","fields":[{"key":"a"}],"chain":{"id":"c","step":0}}}),
            Code::ChainShape,
            "/prompt/chain",
        ),
        (json!({"prompt":{"kind":"file_change_confirm","diff":big}}), Code::TooLarge, ""),
    ]
}

#[test]
fn every_request_code_has_its_fixture() {
    let world = World::new();
    let mut seen = BTreeSet::new();
    for (payload, code, path) in request_fixtures() {
        let shown: String = payload.to_string().chars().take(120).collect();
        let error = world.prompts.request(&Ask::from_payload(Owner::user(), "t", &payload)).unwrap_err();
        let AskError::Invalid(problems) = &error else { panic!("{shown}: {error}") };
        let found = problems.iter().find(|p| p.code == code && p.path == path);
        let found = found.unwrap_or_else(|| panic!("{shown}: {problems:?}"));
        texts(found);
        seen.insert(found.code);
    }
    assert_eq!(world.lines().len(), 0, "nothing was written");
    world.ask_as(Owner::user(), "taken", kv());
    let mut again = Ask::new(Owner::user(), "t", choice());
    again.request_id = json!("taken");
    let AskError::Conflict(conflict) = world.prompts.request(&again).unwrap_err() else { panic!() };
    texts(&conflict);
    seen.insert(conflict.code);
    let warned =
        world.ask(json!({"kind":"kv","fields":[{"key":"s","secret":true,"multiline":true,"default":"x"}]}));
    for warning in &warned.warnings {
        texts(warning);
        seen.insert(warning.code);
    }
    let answers = answer_codes();
    let missing: Vec<_> = Code::ALL.iter().filter(|c| !seen.contains(c) && !answers.contains(c)).collect();
    assert!(missing.is_empty(), "no fixture for {missing:?}");
}

fn answer_codes() -> BTreeSet<Code> {
    Code::ALL.iter().copied().skip_while(|c| *c != Code::UnknownRequest).collect()
}

#[test]
fn all_problems_are_reported_at_once() {
    let world = World::new();
    let payload = json!({"requestId":"a\nb","prompt":{"kind":"choice","title":1,"allowCancel":"x","timeoutMs":1,
        "options":[{"value":"a"},{"value":"a"},7]}});
    let AskError::Invalid(problems) =
        world.prompts.request(&Ask::from_payload(Owner::user(), "t", &payload)).unwrap_err()
    else {
        panic!()
    };
    let codes: Vec<Code> = problems.iter().map(|p| p.code).collect();
    for code in [
        Code::IdInvalid,
        Code::TypeString,
        Code::TypeBoolean,
        Code::TimeoutRange,
        Code::OptionValueDuplicate,
        Code::OptionObject,
    ] {
        assert!(codes.contains(&code), "{codes:?}");
    }
}

#[test]
fn every_answer_code_has_its_fixture() {
    let world = World::new();
    let ok = |more: Value| {
        let mut response = json!({"status":"ok"});
        response.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        response
    };
    let form = json!({"kind":"kv","fields":[{"key":"a","required":true},{"key":"b"}]});
    let typed = json!({"kind":"kv","fields":[{"key":"n"}],"requestedSchema":{"type":"object","properties":{"n":{"type":"integer"},"m":{"type":"string"}}}});
    let multi = json!({"kind":"choice","multiple":true,"minSelections":1,"maxSelections":2,"options":[{"value":"x"},{"value":"y"},{"value":"z"}]});
    let tasks = json!({"kind":"task_confirm","tasks":[{"title":"t"}]});
    let fixed = json!({"kind":"kv","fields":[{"key":"a"}],"allowCancel":false});
    let fixtures: Vec<(Value, Value, Code, &str)> = vec![
        (kv(), json!(null), Code::ResponseRequired, "/response"),
        (kv(), json!([]), Code::ResponseRequired, "/response"),
        (kv(), json!({}), Code::StatusRequired, "/response/status"),
        (kv(), json!({"status":""}), Code::StatusRequired, "/response/status"),
        (kv(), json!({"status":"maybe"}), Code::StatusUnsupported, "/response/status"),
        (kv(), json!({"status":"timeout"}), Code::StatusUnsupported, "/response/status"),
        (kv(), json!({"status":"error"}), Code::StatusUnsupported, "/response/status"),
        (kv(), json!({"status":1}), Code::StatusUnsupported, "/response/status"),
        (fixed, json!({"status":"canceled"}), Code::CancelNotAllowed, "/response/status"),
        (form.clone(), json!({"status":"ok"}), Code::ValuesRequired, "/response/values"),
        (form.clone(), ok(json!({"values":{"a":1}})), Code::ValueType, "/response/values/a"),
        (form.clone(), ok(json!({"values":{"a":"1","x/y":"2"}})), Code::UnknownKey, "/response/values/x~1y"),
        (form.clone(), ok(json!({"values":{"a":" "}})), Code::RequiredMissing, "/response/values/a"),
        (typed, ok(json!({"values":{"n":"ten"}})), Code::ValueFormat, "/response/values/n"),
        (choice(), json!({"status":"ok"}), Code::SelectionRequired, "/response/selection"),
        (choice(), ok(json!({"selection":["x"]})), Code::SelectionType, "/response/selection"),
        (multi.clone(), ok(json!({"selection":"x"})), Code::SelectionType, "/response/selection"),
        (choice(), ok(json!({"selection":"q"})), Code::SelectionUnknown, "/response/selection"),
        (multi.clone(), ok(json!({"selection":["x","q"]})), Code::SelectionUnknown, "/response/selection/1"),
        (
            multi.clone(),
            ok(json!({"selection":["x","x"]})),
            Code::SelectionDuplicate,
            "/response/selection/1",
        ),
        (multi.clone(), ok(json!({"selection":[]})), Code::TooFew, "/response/selection"),
        (multi, ok(json!({"selection":["x","y","z"]})), Code::TooMany, "/response/selection"),
        (tasks.clone(), json!({"status":"ok"}), Code::TasksRequired, "/response/tasks"),
        (
            tasks.clone(),
            ok(json!({"tasks":[{"title":" "}]})),
            Code::TaskTitleRequired,
            "/response/tasks/0/title",
        ),
        (
            tasks.clone(),
            ok(json!({"tasks":[{"title":"t","priority":"x"}]})),
            Code::TaskPriority,
            "/response/tasks/0",
        ),
        (
            tasks.clone(),
            ok(json!({"tasks":[{"title":"a","draftId":"d"},{"title":"b","draftId":"d"}]})),
            Code::DraftDuplicate,
            "/response/tasks/1/draftId",
        ),
        (change(), ok(json!({"remark":5})), Code::RemarkType, "/response/remark"),
        (
            change(),
            json!({"status":"canceled","remark":"x".repeat(16 * 1024 + 1)}),
            Code::RemarkType,
            "/response/remark",
        ),
        (form, ok(json!({"values":{"a":"x".repeat(1 << 20)}})), Code::TooLarge, ""),
    ];
    let mut seen = BTreeSet::new();
    for (prompt, response, code, path) in fixtures {
        let shown: String = response.to_string().chars().take(100).collect();
        let id = world.ask(prompt).request_id;
        let before = world.lines().len();
        let error = world.answer(id.as_str(), response).unwrap_err();
        let RespondError::Invalid(problems) = &error else { panic!("{shown}: {error}") };
        let found = problems.iter().find(|p| p.code == code && p.path == path);
        texts(found.unwrap_or_else(|| panic!("{shown}: {problems:?}")));
        seen.insert(code);
        assert_eq!(world.lines().len(), before, "nothing was recorded");
        assert!(world.ids(View::NeedsYou).contains(&id.to_string()));
    }
    let app = Answerer::App(Owner::app("p", "a"));
    let served = world.ask(change()).request_id;
    let stale = chatos_prompts::Respond {
        id: &served,
        response: &json!({"status":"ok"}),
        shown: Some("sha256:0"),
        run_id: &Value::Null,
        by: Answerer::Person(Surface::Api),
        seen: false,
        pid: None,
    };
    let done = world.ask(kv()).request_id;
    world.answer(done.as_str(), json!({"status":"canceled"})).unwrap();
    let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    let mut ask = Ask::new(Owner::host_server("ui_prompter"), "t", kv());
    ask.origin = chatos_prompts::Origin::of(child.id());
    let left = world.prompts.request(&ask).unwrap().request_id;
    child.kill().unwrap();
    child.wait().unwrap();
    ask.origin = chatos_prompts::Origin::of(std::os::unix::process::parent_id());
    let own = world.prompts.request(&ask).unwrap().request_id;
    let from_inside = chatos_prompts::Respond {
        id: &own,
        response: &json!({"status":"canceled"}),
        shown: None,
        run_id: &Value::Null,
        by: Answerer::Person(Surface::Cli),
        seen: false,
        pid: Some(std::process::id()),
    };
    let mut long = change();
    long["diffRef"] = json!({ "sha256": "x", "bytes": 9, "lines": 3, "shownLines": 1 });
    let mut long = Ask::new(Owner::host_server("code_writer"), "code_writer/write_file", long);
    long.effect = Some(chatos_prompts::Effect::new("file_change", chatos_prompts::Object::new()));
    let long = world.prompts.request(&long).unwrap().request_id;
    for error in [
        world.answer(left.as_str(), json!({"status":"canceled"})).unwrap_err(),
        world.prompts.respond(&from_inside).unwrap_err(),
        world.answer(long.as_str(), json!({"status":"ok"})).unwrap_err(),
        world.answer("nobody", json!({"status":"ok"})).unwrap_err(),
        world.answer(done.as_str(), json!({"status":"ok"})).unwrap_err(),
        world.answer_by(app, served.as_str(), json!({"status":"ok"})).unwrap_err(),
        world.prompts.respond(&stale).unwrap_err(),
    ] {
        let problems = error.problems();
        texts(&problems[0]);
        seen.insert(problems[0].code);
    }
    // The task rows of the request apply to answers too and were met above.
    let missing: Vec<_> = answer_codes().into_iter().filter(|c| !seen.contains(c)).collect();
    assert!(missing.is_empty(), "no fixture for {missing:?}");
}

#[test]
fn what_is_written_is_in_normal_form() {
    let world = World::new();
    let asked = world.ask(json!({"future":{"x":1},"allowCancel":true,"fields":[{"secret":false,"key":" k ","hint":"h","default":"d"}],"title":"T","kind":"kv","timeoutMs":0}));
    let prompt = &world.lines()[0]["prompt"];
    assert_eq!(
        prompt.to_string(),
        r#"{"kind":"kv","title":"T","source":"cli","fields":[{"key":"k","default":"d","secret":false,"hint":"h"}],"timeoutMs":0,"future":{"x":1}}"#
    );
    world
        .answer(asked.request_id.as_str(), json!({"status":"ok","values":{},"extra":1,"remark":"r"}))
        .unwrap();
    assert_eq!(
        world.lines()[1]["response"].to_string(),
        r#"{"status":"ok","values":{"k":"d"},"remark":"r"}"#
    );
    let multi = world.ask(json!({"kind":"choice","multiple":true,"options":[{"value":"b"},{"value":"a"}]}));
    world.answer(multi.request_id.as_str(), json!({"status":"ok","selection":["a","b"]})).unwrap();
    assert_eq!(world.lines()[3]["response"]["selection"], json!(["b", "a"]), "in option order");
    let single =
        world.ask(json!({"kind":"choice","options":[{"value":" b "}],"default":"b ","minSelections":"odd"}));
    assert_eq!(world.lines()[4]["prompt"]["default"], "b");
    world
        .answer(
            single.request_id.as_str(),
            json!({"status":"cancelled","selection":"b","code":"x","declined":true}),
        )
        .unwrap();
    assert_eq!(
        world.lines()[5]["response"].to_string(),
        r#"{"status":"canceled","declined":true,"code":"x"}"#
    );
    let tasks = world.ask(json!({"kind":"task_confirm","tasks":[{"title":"t","tags":[" a ",""],"x":1}]}));
    let draft = world.lines()[6]["prompt"]["tasks"][0]["draftId"].as_str().unwrap().to_owned();
    assert_eq!(
        world.lines()[6]["prompt"]["tasks"][0],
        json!({"draftId":draft,"title":"t","details":"","priority":"medium","status":"todo","tags":["a"],"x":1})
    );
    world.answer(tasks.request_id.as_str(), json!({"status":"ok","tasks":[]})).unwrap();
    assert_eq!(world.lines()[7]["response"], json!({"status":"ok","tasks":[]}));
}

#[test]
fn hostile_shapes_are_refused_and_never_panic() {
    let world = World::new();
    let mut deep = json!({"kind":"result","markdown":"x"});
    for _ in 0..100 {
        deep = json!({ "kind":"result", "markdown":"x", "content": [deep] });
    }
    let AskError::Invalid(problems) = world.prompts.request(&Ask::new(Owner::user(), "t", deep)).unwrap_err()
    else {
        panic!()
    };
    assert_eq!(problems[0].code, Code::TooLarge);
    for text in ["\u{0}", "\u{202e}", "a\nb", "\u{2028}", "😀", "\u{7f}"] {
        let asked = world.ask(
            json!({"kind":"kv","title":text,"message":text,"fields":[{"key":text.trim().to_owned() + "k"}]}),
        );
        let raw = std::fs::read(world.log()).unwrap();
        let line = raw.split(|b| *b == b'\n').rev().nth(1).unwrap();
        assert!(serde_json::from_slice::<Value>(line).is_ok());
        assert_eq!(world.prompts.get(&asked.request_id).unwrap().title(), Some(text), "read back exactly");
    }
}
