//! The forms of `chatos prompts answer` on a real terminal, one per kind.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

#[path = "support/terminal.rs"]
mod terminal;

use std::fs;

use chatos_testkit::Sandbox;
use serde_json::{Value, json};
use terminal::Terminal;

fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_chatos"))
}

fn ask(sandbox: &Sandbox, prompt: &Value) -> String {
    let path = sandbox.root().join("prompt.json");
    fs::write(&path, prompt.to_string()).unwrap();
    let asked = sandbox.run(&["prompts", "request", "--file", &path.to_string_lossy(), "--json"]);
    assert_eq!(asked.status, 0, "{asked:?}");
    asked.json()["requestId"].as_str().unwrap().to_owned()
}

fn answer(sandbox: &Sandbox, id: &str) -> Terminal {
    Terminal::start(sandbox, &["prompts", "answer", id])
}

fn response(sandbox: &Sandbox, id: &str) -> Value {
    sandbox.run(&["prompts", "show", id, "--json"]).json()["answer"]["response"].clone()
}

#[test]
fn kv_asks_field_by_field_and_hides_secrets() {
    let sandbox = sandbox();
    let id = ask(
        &sandbox,
        &json!({"kind":"kv","title":"Deploy","message":"Fill this in","fields":[
            {"key":"env","label":"Environment","default":"staging"},
            {"key":"name","label":"Name","required":true},
            {"key":"notes","label":"Notes","multiline":true},
            {"key":"token","label":"Token","secret":true},
        ]}),
    );
    let mut terminal = answer(&sandbox, &id);
    terminal.expect("Deploy").expect("Fill this in").expect("Environment").enter("");
    terminal.expect("Name").enter("").expect("must be filled in").expect("Name").enter("阿明");
    terminal.expect("Notes").expect("full stop").enter("one").enter("two").enter(".");
    terminal.expect("Token").enter("s3cr3t-value");
    terminal.expect("Enter = send").enter("");
    terminal.expect("Answered");
    let (status, screen) = terminal.end();
    assert_eq!(status, Some(0), "{screen}");
    assert!(!screen.contains("s3cr3t-value"), "{screen}");
    let values = json!({"env":"staging","name":"阿明","notes":"one\ntwo","token":"******"});
    assert_eq!(response(&sandbox, &id), json!({"status":"ok","values":values}));
}

#[test]
fn leaving_keeps_the_question_and_canceling_closes_it() {
    let sandbox = sandbox();
    let id = ask(&sandbox, &json!({"kind":"kv","fields":[{"key":"a","label":"Aaa"}]}));
    let mut terminal = answer(&sandbox, &id);
    terminal.expect("Aaa").enter("x").expect("q = leave").enter("q").expect("Left open");
    assert_eq!(terminal.end().0, Some(0));
    assert_eq!(response(&sandbox, &id), Value::Null);
    let mut terminal = answer(&sandbox, &id);
    terminal.expect("Aaa").enter("x").expect("cancel the question").enter("c").expect("Answered");
    assert_eq!(terminal.end().0, Some(0));
    assert_eq!(response(&sandbox, &id), json!({"status":"canceled"}));
    // Closed: shown, not asked again.
    let mut terminal = answer(&sandbox, &id);
    terminal.expect("canceled");
    assert_eq!(terminal.end().0, Some(1));
}

#[test]
fn choices_by_number_value_and_default_within_their_limits() {
    let sandbox = sandbox();
    let options = json!([{"value":"red","label":"Red one"},{"value":"green"},{"value":"blue"}]);
    let one = ask(&sandbox, &json!({"kind":"choice","options":options,"default":"green"}));
    let mut terminal = answer(&sandbox, &one);
    terminal.expect("1) Red one (red)").expect("[green]").enter("yellow");
    terminal.expect("is not one of the options").expect("Number or value").enter("1,2");
    terminal.expect("exactly one").expect("Number or value").enter("").expect("Answered");
    assert_eq!(terminal.end().0, Some(0));
    assert_eq!(response(&sandbox, &one)["selection"], "green");

    let many = ask(
        &sandbox,
        &json!({"kind":"choice","multiple":true,"minSelections":1,"maxSelections":2,"options":options}),
    );
    let mut terminal = answer(&sandbox, &many);
    terminal.expect("1 to 2").enter("1, 2, 3");
    // The queue refuses; the form is asked again with the reason.
    terminal.expect("1 to 2").enter("3,red").expect("Answered");
    let (status, screen) = terminal.end();
    assert_eq!(status, Some(0), "{screen}");
    assert_eq!(response(&sandbox, &many)["selection"], json!(["red", "blue"]), "in the order of the options");
}

#[test]
fn tasks_are_added_edited_moved_and_deleted() {
    let sandbox = sandbox();
    let id = ask(
        &sandbox,
        &json!({"kind":"task_confirm","title":"Plan","tasks":[
            {"draftId":"d1","title":"First","priority":"high"},
            {"draftId":"d2","title":"Second"},
            {"draftId":"d3","title":"Third"},
        ]}),
    );
    let mut terminal = answer(&sandbox, &id);
    terminal.expect("3) Third").expect("ok = accept").enter("d 2");
    terminal.expect("2) Third").expect("ok = accept").enter("m 2 1");
    terminal.expect("1) Third").expect("ok = accept").enter("e 1");
    terminal.expect("Title [Third]").enter("Third, better").expect("Details").enter("- a");
    terminal.expect("priority").enter("low").expect("status").enter("").expect("Tags").enter("x, y");
    terminal.expect("Third, better").expect("ok = accept").enter("a");
    terminal.expect("Title").enter("").expect("needs a title").expect("Title").enter("Fourth");
    terminal.expect("Details").enter("").expect("priority").enter("urgent").expect("priority").enter("");
    terminal.expect("status").enter("doing").expect("Tags").enter("");
    terminal.expect("ok = accept").enter("d 9").expect("no such task").expect("ok = accept").enter("r");
    terminal.expect("Remark").enter("好的").expect("ok = accept").enter("ok").expect("Answered");
    let (status, screen) = terminal.end();
    assert_eq!(status, Some(0), "{screen}");
    let got = response(&sandbox, &id);
    assert_eq!((&got["status"], &got["remark"]), (&json!("ok"), &json!("好的")));
    let tasks = got["tasks"].as_array().unwrap();
    let titles: Vec<&str> = tasks.iter().map(|t| t["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["Third, better", "First", "Fourth"]);
    assert_eq!((&tasks[0]["draftId"], &tasks[0]["priority"]), (&json!("d3"), &json!("low")));
    assert_eq!((&tasks[0]["tags"], &tasks[2]["status"]), (&json!(["x", "y"]), &json!("doing")));
}

#[test]
fn a_change_is_approved_only_after_all_of_it_was_shown() {
    let sandbox = sandbox();
    let diff: String = (0..80).map(|i| format!("+line {i}\n")).collect();
    let prompt = json!({"kind":"file_change_confirm","path":"src/a.rs","command":"apply it","diff":diff});
    let id = ask(&sandbox, &prompt);
    let mut terminal = answer(&sandbox, &id);
    terminal.expect("src/a.rs").expect("+line 0").expect("Enter = more").enter("q");
    terminal.expect("needed to approve").enter("a").expect("needed to approve").enter("s");
    // As many screens as this terminal needs.
    for _ in 0..100 {
        if terminal.screen().contains("+line 79") {
            break;
        }
        terminal.enter("");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    terminal.expect("+line 79").expect("a = approve").enter("r").expect("Remark").enter("fine");
    terminal.expect("approve with it").enter("a").expect("Answered");
    let (status, screen) = terminal.end();
    assert_eq!(status, Some(0), "{screen}");
    assert_eq!(response(&sandbox, &id), json!({"status":"ok","remark":"fine"}));

    let refused = ask(&sandbox, &json!({"kind":"file_change_confirm","path":"b","diff":"+x\n"}));
    let mut terminal = answer(&sandbox, &refused);
    terminal.expect("a = approve").enter("c").expect("Answered");
    assert_eq!(terminal.end().0, Some(0));
    assert_eq!(response(&sandbox, &refused)["status"], "canceled");
}

#[test]
fn the_form_says_when_somebody_else_was_faster() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    let id = ask(&sandbox, &json!({"kind":"choice","options":[{"value":"x"},{"value":"y"}]}));
    let mut terminal = answer(&sandbox, &id);
    terminal.expect("Number or value");
    let body = json!({"response":{"status":"ok","selection":"y"}});
    assert_eq!(host.ask("POST", &format!("/api/v1/prompts/{id}/response"), Some(&body)).status, 200);
    terminal.enter("1").expect("already").expect("y");
    assert_eq!(terminal.end().0, Some(1));
    assert_eq!(response(&sandbox, &id)["selection"], "y");
}

#[test]
fn ctrl_c_at_a_hidden_field_ends_it_and_the_question_stays() {
    let sandbox = sandbox();
    let id = ask(&sandbox, &json!({"kind":"kv","fields":[{"key":"pw","label":"Password","secret":true}]}));
    let mut terminal = answer(&sandbox, &id);
    terminal.expect("Password").press("\u{3}");
    assert_eq!(terminal.end().0, Some(130));
    assert_eq!(response(&sandbox, &id), Value::Null);
}

#[test]
fn watch_answers_each_new_question_here() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    let mut terminal = Terminal::start(&sandbox, &["prompts", "watch", "--answer"]);
    terminal.expect("Nothing waits");
    let mut ids = Vec::new();
    for value in ["x", "y"] {
        let id = ask(&sandbox, &json!({"kind":"choice","options":[{"value":"x"},{"value":"y"}]}));
        terminal.expect("Number or value").enter(value).expect("Answered");
        ids.push((id, value));
    }
    for (id, value) in ids {
        assert_eq!(response(&sandbox, &id)["selection"], value);
    }
    terminal.press("\u{3}");
    assert_eq!(terminal.end().0, Some(0), "nothing is asked: an ordinary end");
    drop(host);
}

#[test]
fn hostile_texts_of_a_card_are_letters_in_the_terminal() {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_chatos"));
    let host = sandbox.serve();
    let long = format!("echo {}", "x".repeat(1_000_000));
    for (i, text) in [
        "\u{1b}[2J\u{1b}[31mred\u{1b}]0;title\u{7}",
        "\u{202e}txt.exe\u{2066}\u{200b}\u{feff}",
        "one\r\ntwo\u{2028}three\u{85}four\u{8}\u{8}",
        "<img src=x onerror=alert(1)> \u{9b}31m",
        &long,
    ]
    .iter()
    .enumerate()
    {
        let id = format!("hostile-{i}");
        let name: String = text.chars().take(200).collect();
        let prompt = json!({
            "kind": "file_change_confirm", "title": name, "message": name, "source": name, "path": name,
            "command": text, "cwd": name, "diff": format!("-{name}\n+{name}\n"),
        });
        let asked = host.ask("POST", "/api/v1/prompts", Some(&json!({ "prompt": prompt, "requestId": id })));
        assert!(asked.status < 300, "{id}: {}", asked.text());
        let show = ["prompts", "show", id.as_str()];
        for args in [
            &show[..],
            &[&show[..], &["--diff"]].concat(),
            &["prompts", "list"],
            &["prompts", "list", "--json"],
        ] {
            let out = sandbox.run(args);
            assert_eq!(out.status, 0, "{args:?}: {out:?}");
            let bad = out.stdout.chars().find(|c| {
                (c.is_control() && !matches!(c, '\n' | '\t'))
                    || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
            });
            // JSON for programs keeps what was written, escaped where it controls a terminal.
            let json = args.contains(&"--json");
            let controls = |c: char| c.is_control();
            assert!(bad.is_none_or(|c| json && !controls(c)), "{args:?}: {bad:?}");
        }
    }
    host.stop();
}
