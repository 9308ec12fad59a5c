//! Prompts asked through the host: recorded, mirrored, answered once, never by a line in the file.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::unnecessary_wraps,
    clippy::disallowed_methods,
    reason = "a test that cannot set itself up has failed; it starts programs of its own"
)]

mod common;

use std::time::Duration;

use chatos_prompts::{
    Answerer, Ask, AskError, Code, Effect, Event, Owner, Policy, RequestId, RespondError, Scope, Status,
    Surface, SystemAskers, UseError, View, WaitError,
};
use common::*;
use serde_json::{Value, json};

#[test]
fn a_question_is_one_signed_line_in_the_order_of_the_protocol() {
    let world = World::new();
    let mut ask = Ask::new(Owner::host_server("ui_prompter"), "ui_prompter/prompt_key_values", kv());
    ask.run_id = json!("run-1");
    let asked = world.prompts.request(&ask).unwrap();
    assert!(asked.mirrored && !asked.repeated);
    let text = std::fs::read_to_string(world.log()).unwrap();
    assert_eq!(text.matches('\n').count(), 1);
    let line: Value = serde_json::from_str(&text).unwrap();
    let keys: Vec<&String> = line.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["ts", "type", "action", "requestId", "runId", "prompt", "chatos"]);
    let stamp: Vec<&String> = line["chatos"].as_object().unwrap().keys().collect();
    assert_eq!(stamp, ["v", "owner", "asker", "shown", "sig"]);
    assert_eq!(line["chatos"]["asker"], json!({"kind": "run", "id": "run-1"}));
    assert_eq!(line["prompt"]["source"], "ui_prompter/prompt_key_values");
    assert_eq!(line["chatos"]["shown"], asked.shown.as_str());
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(std::fs::metadata(world.log()).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(world.ids(View::NeedsYou), [asked.request_id.as_str()]);
}

#[test]
fn the_answer_is_recorded_then_mirrored() {
    let world = World::new();
    let asked = world.ask(kv());
    let id = asked.request_id.as_str();
    assert!(world.answer(id, json!({"status":"ok","values":{"a":" x "}})).unwrap().mirrored);
    assert_eq!(world.ids(View::NeedsYou), [""; 0]);
    assert_eq!(world.ids(View::History), [id]);
    let lines = world.lines();
    assert_eq!(lines[1]["response"], json!({"status":"ok","values":{"a":" x "}}));
    assert_eq!(lines[1]["chatos"]["by"], "person:ui");
    let again = world.answer(id, json!({"status":"canceled"})).unwrap_err();
    let RespondError::AlreadyAnswered { status, by, .. } = &again else { panic!("{again}") };
    assert_eq!((status.as_str(), by.as_str()), ("ok", "person:ui"));
    assert_eq!(world.lines().len(), 2, "nothing was written for the loser");
    world.eventually("rows are marked", |w| w.records.unmarked() == 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiter_gets_the_answer_given_before_or_after_it_waits() {
    let world = World::new();
    let before = world.ask(choice());
    world.answer(before.request_id.as_str(), json!({"status":"ok","selection":"x"})).unwrap();
    let got = world.prompts.wait_for_response(&before.request_id, soon(), &never()).await.unwrap();
    assert_eq!((got.status, got.response["selection"].as_str()), (Status::Ok, Some("x")));

    let after = world.ask(choice());
    let prompts = world.prompts.clone();
    let waiting = after.request_id.clone();
    let waiter = tokio::spawn(async move { prompts.wait_for_response(&waiting, soon(), &never()).await });
    tokio::time::sleep(Duration::from_millis(20)).await;
    world.answer(after.request_id.as_str(), json!({"status":"canceled","remark":"no"})).unwrap();
    let got = waiter.await.unwrap().unwrap();
    assert_eq!((got.status, got.by.as_deref()), (Status::Canceled, Some("person:ui")));
    assert_eq!(got.response["remark"], "no");
}

#[tokio::test]
async fn waits_end_by_cancel_deadline_and_unknown_id() {
    let world = World::new();
    let asked = world.ask(kv());
    let past = Some(tokio::time::Instant::now());
    let got = world.prompts.wait_for_response(&asked.request_id, past, &never()).await;
    assert_eq!(got, Err(WaitError::Timeout));
    let cancel = never();
    cancel.cancel();
    let got = world.prompts.wait_for_response(&asked.request_id, None, &cancel).await;
    assert_eq!(got, Err(WaitError::Canceled));
    let got = world.prompts.wait_for_response(&id("nope"), soon(), &never()).await;
    assert_eq!(got, Err(WaitError::UnknownRequest(id("nope"))));
}

#[test]
fn a_forged_line_neither_answers_nor_closes() {
    let world = World::new();
    let mut events = world.prompts.subscribe();
    for (prompt, forged) in [
        (change(), json!({"status":"ok"})),
        (kv(), json!({"status":"ok","values":{"a":"evil"}})),
        (json!({"kind":"task_confirm","tasks":[]}), json!({"status":"ok","tasks":[]})),
    ] {
        let asked = world.ask(prompt);
        world.append(&foreign_response(asked.request_id.as_str(), forged));
        assert!(world.ids(View::NeedsYou).contains(&asked.request_id.to_string()));
        let item = world.prompts.get(&asked.request_id).unwrap();
        assert_eq!((item.foreign_responses, item.answer.is_none()), (1, true));
        let (_, lines) = world.prompts.further_lines(&asked.request_id);
        assert!(lines[0].line.contains("\"response\""));
    }
    let mut forged = 0;
    while let Ok(event) = events.try_recv() {
        forged += usize::from(matches!(event, Event::Forged { .. }));
    }
    assert_eq!(forged, 3);
}

#[test]
fn a_copied_signed_line_answers_nothing_else() {
    let world = World::new();
    let (a, b) = (world.ask(choice()), world.ask(choice()));
    world.answer(a.request_id.as_str(), json!({"status":"ok","selection":"x"})).unwrap();
    let signed = world.lines()[2].clone();
    let mut copied = signed.clone();
    copied["requestId"] = json!(b.request_id);
    world.append(&format!("{copied}\n"));
    assert_eq!(world.ids(View::NeedsYou), [b.request_id.as_str()]);
    assert_eq!(world.prompts.get(&b.request_id).unwrap().foreign_responses, 1);
    // The same line again for its own prompt changes nothing either.
    world.append(&format!("{signed}\n"));
    assert_eq!(world.ids(View::History), [a.request_id.as_str()]);
}

#[test]
fn a_repeat_is_accepted_and_another_question_is_not() {
    let world = World::new();
    let tasks = json!({"kind":"task_confirm","tasks":[{"title":"t"}]});
    world.ask_as(Owner::user(), "q1", tasks.clone());
    let again = world.ask_as(Owner::user(), "q1", tasks);
    assert!(again.repeated);
    assert_eq!(world.lines().len(), 1);
    for (owner, prompt) in [
        (Owner::user(), kv()),
        (Owner::app("p", "a"), json!({"kind":"task_confirm","tasks":[{"title":"t"}]})),
    ] {
        let mut ask = Ask::new(owner, "test", prompt);
        ask.request_id = json!("q1");
        let error = world.prompts.request(&ask).unwrap_err();
        assert!(matches!(&error, AskError::Conflict(p) if p.code == Code::IdConflict), "{error}");
    }
    world.append(&foreign_request("theirs", kv()));
    world.append(&foreign_response("early", json!({"status":"ok"})));
    for taken in ["theirs", "early"] {
        let mut ask = Ask::new(Owner::user(), "test", kv());
        ask.request_id = json!(taken);
        assert!(matches!(world.prompts.request(&ask), Err(AskError::Conflict(_))));
    }
}

#[test]
fn who_may_answer() {
    let world = World::new();
    let (app, other) = (Owner::app("p", "a"), Owner::app("p", "b"));
    let ok = || json!({"status":"ok","values":{"a":"1"}});
    world.ask_as(app.clone(), "mine", kv());
    world.ask_as(Owner::user(), "users", kv());
    world.append(&foreign_request("foreign", kv()));
    for (asker, who) in [("mine", &other), ("users", &app), ("foreign", &app)] {
        let error = world.answer_by(Answerer::App(who.clone()), asker, ok()).unwrap_err();
        assert!(matches!(error, RespondError::NotOwner { .. }), "{asker}: {error}");
    }
    world.answer_by(Answerer::App(app.clone()), "mine", ok()).unwrap();
    world.answer_by(Answerer::Person(Surface::Cli), "users", ok()).unwrap();
    world.answer_by(Answerer::Person(Surface::Api), "foreign", ok()).unwrap();
    assert_eq!(world.ids(View::NeedsYou), [""; 0]);
    // The owner may also say that it failed; a person may not; nobody but the host says timeout.
    world.ask_as(app.clone(), "mine2", kv());
    for (by, status) in [(Answerer::Person(Surface::Ui), "error"), (Answerer::App(app.clone()), "timeout")] {
        let error = world.answer_by(by, "mine2", json!({"status": status})).unwrap_err();
        assert_eq!(error.code(), Some(Code::StatusUnsupported));
    }
    world.answer_by(Answerer::App(app), "mine2", json!({"status":"error","message":"gone"})).unwrap();
}

#[test]
fn what_was_shown_is_what_is_approved_and_only_once() {
    let world = World::new();
    let mut ask = Ask::new(Owner::host_server("code_writer"), "code_writer/write_file", change());
    let effect = |target: &str| Effect { name: "file_change".into(), material: json!({ "target": target }) };
    ask.effect = Some(effect("sha256:1"));
    let asked = world.prompts.request(&ask).unwrap();
    let respond = |shown: Option<&str>| {
        world.prompts.respond(&chatos_prompts::Respond {
            id: &asked.request_id,
            response: &json!({"status":"ok"}),
            shown,
            run_id: &Value::Null,
            by: Answerer::Person(Surface::Ui),
            seen: false,
            pid: None,
        })
    };
    for wrong in [None, Some("sha256:00"), Some("")] {
        let error = respond(wrong).unwrap_err();
        let RespondError::ShownMismatch { item } = &error else { panic!("{error}") };
        assert_eq!(item.shown.as_deref(), Some(asked.shown.as_str()));
    }
    assert_eq!(world.lines().len(), 1, "nothing was recorded");
    let used = |target: &str| world.prompts.use_approval(&asked.request_id, &effect(target));
    assert!(matches!(used("sha256:1"), Err(UseError::NotConfirmed(None))));
    respond(Some(&asked.shown)).unwrap();
    assert!(matches!(used("sha256:2"), Err(UseError::Changed)));
    assert!(!world.prompts.is_used(&asked.request_id).unwrap(), "what is not used allows it still");
    assert_eq!(used("sha256:1").unwrap().request_id(), Some(&asked.request_id));
    assert!(world.prompts.is_used(&asked.request_id).unwrap());
    assert!(matches!(used("sha256:1"), Err(UseError::AlreadyUsed)));
}

#[test]
fn of_many_that_use_one_approval_at_once_one_may_act() {
    let world = World::new();
    let mut ask = Ask::new(Owner::host_server("code_writer"), "code_writer/write_file", change());
    let effect = Effect { name: "file_change".into(), material: json!({ "target": "a" }) };
    ask.effect = Some(effect.clone());
    let asked = world.prompts.request(&ask).unwrap();
    world.answer(asked.request_id.as_str(), json!({"status":"ok"})).unwrap();
    let acted: usize = std::thread::scope(|scope| {
        let users: Vec<_> = (0..16)
            .map(|_| scope.spawn(|| world.prompts.use_approval(&asked.request_id, &effect).is_ok()))
            .collect();
        users.into_iter().map(|user| usize::from(user.join().unwrap())).sum()
    });
    assert_eq!(acted, 1);
}

#[test]
fn what_this_host_does_is_not_asked_without_its_effect() {
    let world = World::new();
    for owner in [Owner::host_server("code_writer"), Owner::host_run(), Owner::mcp("admin:1")] {
        let error = world.prompts.request(&Ask::new(owner, "x", change())).unwrap_err();
        assert!(matches!(error, AskError::NoEffect), "{error}");
    }
    // A person's script and an app ask about what they do themselves, and cannot refer to texts of the host.
    let mut foreign = change();
    foreign["diffRef"] = json!({ "sha256": "0".repeat(64), "lines": 9, "shownLines": 1 });
    for owner in [Owner::user(), Owner::app("com.x", "a")] {
        let asked = world.prompts.request(&Ask::new(owner, "x", foreign.clone())).unwrap();
        assert!(!world.prompts.get(&asked.request_id).unwrap().prompt.contains_key("diffRef"));
    }
}

#[test]
fn what_was_not_shown_cannot_be_approved_and_can_always_be_refused() {
    let world = World::new();
    let text = "+a line\n".repeat(20_000);
    let whole = chatos_prompts::whole::Whole::of(&text, chatos_prompts::whole::SHOWN_CHARS);
    let mut prompt = change();
    prompt["diff"] = json!(whole.shown);
    prompt["diffRef"] = whole.reference();
    let ask = |prompt: &Value| {
        let mut ask = Ask::new(Owner::host_server("code_writer"), "code_writer/write_file", prompt.clone());
        ask.effect = Some(Effect { name: "file_change".into(), material: json!({}) });
        world.prompts.request(&ask).unwrap()
    };
    let respond = |asked: &chatos_prompts::Asked, response: Value, seen: bool| {
        world.prompts.respond(&chatos_prompts::Respond {
            id: &asked.request_id,
            response: &response,
            shown: Some(&asked.shown),
            run_id: &Value::Null,
            by: Answerer::Person(Surface::Ui),
            pid: None,
            seen,
        })
    };
    let asked = ask(&prompt);
    let error = respond(&asked, json!({"status":"ok"}), false).unwrap_err();
    assert_eq!(error.code(), Some(Code::NotShown));
    assert_eq!(world.lines().len(), 1, "nothing was recorded");
    respond(&asked, json!({"status":"ok"}), true).unwrap();
    let other = ask(&prompt);
    respond(&other, json!({"status":"canceled"}), false).unwrap();
    // Content that nobody can show needs the word of its own.
    prompt["diffRef"] = json!({ "sha256": "x", "lines": 1, "shownLines": 1, "bytes": 1,
        "hidden": [{ "path": "a.bin", "type": "binary", "bytes": 9, "before": null, "after": "00" }] });
    let hidden = ask(&prompt);
    let error = respond(&hidden, json!({"status":"ok"}), true).unwrap_err();
    assert_eq!(error.code(), Some(Code::NotShown));
    respond(&hidden, json!({"status":"ok","withoutSeeing":true}), true).unwrap();
}

#[test]
fn an_effect_makes_a_choice_need_its_digest() {
    let world = World::new();
    let mut ask = Ask::new(Owner::host_run(), "run", choice());
    ask.effect = Some(Effect { name: "tool_approval".into(), material: json!({"argv":["rm"]}) });
    let asked = world.prompts.request(&ask).unwrap();
    let item = world.prompts.get(&asked.request_id).unwrap();
    assert_eq!((item.shown_required, item.effect.as_deref()), (true, Some("tool_approval")));
    let (run_id, response) = (Value::Null, json!({"status":"ok","selection":"x"}));
    let blind = chatos_prompts::Respond {
        id: &asked.request_id,
        response: &response,
        shown: None,
        run_id: &run_id,
        by: Answerer::Person(Surface::Ui),
        seen: false,
        pid: None,
    };
    assert!(matches!(world.prompts.respond(&blind), Err(RespondError::ShownMismatch { .. })));
    let plain = world.ask(choice());
    world.prompts.respond(&chatos_prompts::Respond { id: &plain.request_id, ..blind }).unwrap();
}

#[test]
fn secrets_go_to_the_asker_and_nowhere_else() {
    let world = World::new();
    let canary = "c4n4ry-value";
    let prompt = json!({"kind":"kv","fields":[{"key":"user"},{"key":"pw","secret":true,"default":"dflt-secret"},{"key":"pin","secret":true}]});
    let asked = world.ask(prompt);
    assert_eq!(asked.warnings[0].code, Code::SecretDefault);
    let id = asked.request_id.as_str();
    world.answer(id, json!({"status":"ok","values":{"user":"u","pw":canary}})).unwrap();
    let text = std::fs::read_to_string(world.log()).unwrap();
    assert!(!text.contains(canary) && !text.contains("dflt-secret"));
    assert_eq!(world.lines()[1]["response"]["values"], json!({"user":"u","pw":"******","pin":""}));
    let item = world.prompts.get(&asked.request_id).unwrap();
    assert!(!format!("{item:?}").contains(canary));
    assert_eq!(world.records.private_count(), 1);
    let full = world.prompts.deliver(&asked.request_id).unwrap().unwrap();
    assert_eq!(full["values"]["pw"], canary);
    assert_eq!(world.records.private_count(), 0);
    let masked = world.prompts.deliver(&asked.request_id).unwrap().unwrap();
    assert_eq!(masked["values"]["pw"], "******");
}

#[test]
fn an_app_reads_its_secret_until_it_consumes_it_or_time_is_over() {
    let clock = manual(1_768_089_600_000);
    let world = World::with(|config| config.clock = clock.clone());
    let app = Owner::app("p", "a");
    let prompt = json!({"kind":"kv","fields":[{"key":"pw","secret":true}]});
    for q in ["one", "two"] {
        world.ask_as(app.clone(), q, prompt.clone());
        world.answer(q, json!({"status":"ok","values":{"pw":"v4lue"}})).unwrap();
    }
    let pw = |q: &str, owner: &Owner| {
        world.prompts.peek(&id(q), owner).unwrap().map(|r| r["values"]["pw"].clone())
    };
    assert_eq!(pw("one", &app), Some(json!("v4lue")));
    assert_eq!(pw("one", &app), Some(json!("v4lue")), "until it is consumed");
    assert_eq!(pw("one", &Owner::app("p", "b")), None);
    world.prompts.consume_private(&id("one")).unwrap();
    assert_eq!(pw("one", &app), Some(json!("******")));
    clock.advance(Duration::from_secs(601));
    assert_eq!(pw("two", &app), Some(json!("******")));
    world.prompts.tick(Policy::default(), &SystemAskers);
    assert_eq!(world.records.private_count(), 0);
}

#[test]
fn minimal_mode_keeps_metadata_only_after_the_answer() {
    let world = World::with(|config| config.mode = chatos_prompts::LogMode::Minimal);
    let prompt = json!({"kind":"choice","title":"T","message":"long text","multiple":true,"options":[{"value":"left"},{"value":"right"}]});
    let asked = world.ask(prompt);
    assert_eq!(world.lines()[0]["prompt"]["message"], "long text", "the request line stays complete");
    let id = asked.request_id.as_str();
    world.answer(id, json!({"status":"ok","selection":["left"],"remark":"because"})).unwrap();
    assert_eq!(world.lines()[1]["response"], json!({"status":"ok","selectionCount":1,"hasRemark":true}));
    let item = world.prompts.get(&asked.request_id).unwrap();
    assert!(item.metadata_only && !item.prompt.contains_key("message"));
    assert_eq!(item.prompt["optionCount"], 2);
    let full = world.prompts.deliver(&asked.request_id).unwrap().unwrap();
    assert_eq!(json!(full), json!({"status":"ok","selection":["left"],"remark":"because"}));
    // A program that reads the file has no other way to its answer.
    world.append(&foreign_request("f", choice()));
    world.answer("f", json!({"status":"ok","selection":"y"})).unwrap();
    assert_eq!(world.lines()[3]["response"]["selection"], "y");
    let report = world.prompts.archive(i64::MAX).unwrap();
    assert_eq!((report.moved, report.kept), (4, 0));
    let archived = std::fs::read_to_string(report.file.unwrap()).unwrap();
    for content in ["long text", "left", "because", "\"y\""] {
        assert!(!archived.contains(content), "{content}");
    }
    use chatos_prompts::Records;
    let record = world.records.get(&asked.request_id).unwrap().unwrap();
    assert!(!record.entry.to_string().contains("long text"));
}

#[test]
fn timeouts_count_real_time_whatever_the_wall_clock_does() {
    let clock = manual(1_768_089_600_000);
    let mut world = World::with(|config| config.clock = clock.clone());
    let prompt = |ms: u64| json!({"kind":"kv","fields":[{"key":"a"}],"timeoutMs":ms});
    let asked = world.ask(prompt(60_000));
    assert_eq!(world.lines()[0]["chatos"]["expiresAt"], "2026-01-11T00:01:00.000Z");
    for jump in [10 * 365 * 86_400_000_i64, -20 * 365 * 86_400_000] {
        clock.jump(jump);
        assert_eq!(world.prompts.tick(Policy::default(), &SystemAskers), 0, "a jump of {jump} ms");
    }
    clock.advance(Duration::from_secs(59));
    assert_eq!(world.prompts.tick(Policy::default(), &SystemAskers), 0);
    clock.advance(Duration::from_secs(1));
    assert_eq!(world.prompts.tick(Policy::default(), &SystemAskers), 1);
    let last = world.lines().pop().unwrap();
    assert_eq!(
        (&last["response"], &last["chatos"]["by"]),
        (&json!({"status":"timeout"}), &json!("host:timeout"))
    );
    let item = world.prompts.get(&asked.request_id).unwrap();
    assert_eq!(item.answer.unwrap().status, Status::Timeout);

    // The host was down when it expired: closed before anybody can wait.
    clock.jump(10 * 365 * 86_400_000);
    let asked = world.ask(prompt(60_000));
    world.prompts.close();
    clock.advance(Duration::from_secs(61));
    let same = clock.clone();
    world.reopen(|config| config.clock = same);
    let item = world.prompts.get(&asked.request_id).unwrap();
    assert_eq!(item.answer.unwrap().by.as_deref(), Some("host:timeout"));
    // A clock set back far while it was down does not keep it longer than it was given.
    let asked = world.ask(prompt(60_000));
    world.prompts.close();
    clock.jump(-365 * 86_400_000);
    let same = clock.clone();
    world.reopen(|config| config.clock = same);
    clock.advance(Duration::from_secs(61));
    world.prompts.tick(Policy::default(), &SystemAskers);
    assert!(world.prompts.get(&asked.request_id).unwrap().answer.is_some());
}

#[test]
fn a_clock_set_back_or_forward_ends_no_question_early_and_keeps_none() {
    let clock = manual(1_768_089_600_000);
    let mut world = World::with(|config| config.clock = clock.clone());
    let prompt = || json!({"kind":"kv","fields":[{"key":"a"}],"timeoutMs":60_000});
    let (day, year) = (86_400_000_i64, 365 * 86_400_000_i64);
    for jump in [-10 * day, 10 * year, -20 * year] {
        // Asked after the clock was set, and set again while it waits.
        clock.jump(jump);
        let asked = world.ask(prompt());
        let app = world.ask_as(Owner::app("p", "a"), &format!("app{jump}"), kv());
        clock.advance(Duration::from_secs(30));
        let open = |world: &World| world.prompts.tick(Policy::default(), &SystemAskers) == 0;
        assert!(open(&world), "set by {jump} ms");
        // The host is started anew in between, with the clock set once more.
        world.prompts.close();
        clock.jump(-jump / 2);
        let same = clock.clone();
        world.reopen(|config| config.clock = same);
        let item = world.prompts.get(&asked.request_id).unwrap();
        assert!(item.answer.is_none(), "set by {jump} ms and started anew: {:?}", item.answer);
        clock.advance(Duration::from_secs(29));
        assert!(open(&world), "set by {jump} ms, after 59 seconds");
        clock.advance(Duration::from_secs(1));
        assert_eq!(world.prompts.tick(Policy::default(), &SystemAskers), 1, "set by {jump} ms");
        let item = world.prompts.get(&asked.request_id).unwrap();
        assert_eq!(item.answer.unwrap().status, Status::Timeout);
        let item = world.prompts.get(&app.request_id).unwrap();
        assert!(item.answer.is_none(), "a question of an app has days, whatever the clock says");
        world.answer(app.request_id.as_str(), json!({"status":"canceled"})).unwrap();
    }
}

#[test]
fn across_a_restart_of_the_machine_the_wall_clock_decides() {
    let clock = manual(1_768_089_600_000);
    let mut world = World::with(|config| config.clock = clock.clone());
    let prompt = || json!({"kind":"kv","fields":[{"key":"a"}],"timeoutMs":60_000});
    let (over, open) = (world.ask(prompt()).request_id, {
        clock.advance(Duration::from_secs(50));
        world.ask(prompt()).request_id
    });
    world.prompts.close();
    clock.advance(Duration::from_secs(20));
    clock.reboot();
    let same = clock.clone();
    world.reopen(|config| config.clock = same);
    assert_eq!(world.prompts.get(&over).unwrap().answer.unwrap().status, Status::Timeout);
    assert!(world.prompts.get(&open).unwrap().answer.is_none());
    clock.advance(Duration::from_secs(40));
    assert_eq!(world.prompts.tick(Policy::default(), &SystemAskers), 1);
}

#[test]
fn a_call_of_an_earlier_host_waits_for_nothing_and_cannot_be_answered() {
    let mut world = World::new();
    let ask = |call: Option<&str>, run: Option<&str>| {
        let mut ask = Ask::new(Owner::host_server("shell"), "shell/run_command", change());
        ask.call = call.map(str::to_owned);
        ask.effect = Some(Effect::new("command", chatos_prompts::Object::new()));
        ask.run_id = json!(run);
        ask
    };
    let answer = |world: &World, id: &RequestId| world.answer(id.as_str(), json!({"status":"ok"}));
    // While its host is there, it is answered like any other.
    let served = world.prompts.request(&ask(Some("c0"), None)).unwrap().request_id;
    answer(&world, &served).unwrap();
    let call = world.prompts.request(&ask(Some("c1"), None)).unwrap().request_id;
    let of_run = world.prompts.request(&ask(None, Some("r1"))).unwrap().request_id;
    world.prompts.close();
    // A terminal without a host: nobody would act on the answer, so none is taken.
    world.reopen(|config| config.role = chatos_prompts::Role::Visitor);
    let before = world.lines().len();
    let error = answer(&world, &call).unwrap_err();
    assert!(matches!(error, RespondError::AskerGone(_)), "{error}");
    assert_eq!(world.lines().len(), before, "nothing was recorded");
    // The next host closes it before anybody can answer; the run goes on.
    world.reopen(|_| {});
    let closed = world.prompts.get(&call).unwrap().answer.unwrap();
    assert_eq!((&closed.response["code"], closed.by.as_deref()), (&json!("asker_gone"), Some("host:orphan")));
    let late = answer(&world, &call).unwrap_err();
    assert!(matches!(late, RespondError::AskerGone(_)), "{late}");
    answer(&world, &of_run).unwrap();
}

#[test]
fn a_program_cannot_answer_what_it_asked() {
    let world = World::new();
    let respond = |id: &RequestId, pid: u32| {
        world.prompts.respond(&chatos_prompts::Respond {
            id,
            response: &json!({"status":"canceled"}),
            shown: None,
            run_id: &Value::Null,
            by: Answerer::Person(Surface::Cli),
            seen: false,
            pid: Some(pid),
        })
    };
    // What this host starts is below it: a command of an agent.
    let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    let run = world.ask(kv()).request_id;
    assert!(matches!(respond(&run, child.id()), Err(RespondError::OwnAsker(_))));
    respond(&run, std::process::id()).unwrap();
    // Another process asks, or the one that started it; here that is this one's parent.
    let parent = chatos_prompts::Origin::of(std::os::unix::process::parent_id());
    for (origin, starter) in [(parent, None), (chatos_prompts::Origin::of(child.id()), parent)] {
        let mut ask = Ask::new(Owner::host_server("ui_prompter"), "t", kv());
        (ask.origin, ask.starter) = (origin, starter);
        let id = world.prompts.request(&ask).unwrap().request_id;
        let error = respond(&id, std::process::id()).unwrap_err();
        assert!(matches!(error, RespondError::OwnAsker(_)), "{error}");
        respond(&id, 1).unwrap();
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn aborts_and_orphans_cancel_what_they_name() {
    let world = World::new();
    let ask = |owner: Owner, run: &str, session: Option<&str>| {
        let mut ask = Ask::new(owner, "t", json!({"kind":"kv","fields":[{"key":"a"}],"allowCancel":false}));
        ask.run_id = json!(run);
        ask.session_id = session.map(str::to_owned);
        world.prompts.request(&ask).unwrap().request_id
    };
    let code = |id: &RequestId| {
        let answer = world.prompts.get(id).unwrap().answer;
        answer.map(|a| (a.response["code"].as_str().unwrap_or("").to_owned(), a.by.unwrap_or_default()))
    };
    let run = ask(Owner::host_run(), "r1", None);
    let app = ask(Owner::app("com.x", "a"), "r2", None);
    let server = ask(Owner::mcp("app:com.x/a"), "r3", None);
    let session = ask(Owner::user(), "r4", Some("s1"));
    let other = ask(Owner::app("com.xy", "a"), "r5", None);
    assert_eq!(world.prompts.abort(Scope::Run(&chatos_prompts::RunId::parse("r1").unwrap())), 1);
    assert_eq!(code(&run), Some(("aborted".into(), "host:abort".into())));
    assert_eq!(world.prompts.orphan(Scope::Plugin("com.x")), 2);
    assert_eq!(code(&app), Some(("asker_gone".into(), "host:orphan".into())));
    assert_eq!(code(&server), code(&app));
    assert_eq!(world.prompts.abort(Scope::Session("s1")), 1);
    assert_eq!(world.prompts.abort(Scope::Request(&session)), 0);
    assert_eq!(world.prompts.abort(Scope::Owner(&Owner::app("com.xy", "a"))), 1);
    assert!(code(&other).is_some());
}

#[test]
fn a_question_of_a_process_that_is_gone_is_canceled() {
    let world = World::new();
    let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    let mut ask = Ask::new(Owner::host_server("ui_prompter"), "t", kv());
    ask.origin = chatos_prompts::Origin::of(child.id());
    assert!(ask.origin.is_some());
    let asked = world.prompts.request(&ask).unwrap();
    assert_eq!(world.prompts.tick(Policy::default(), &SystemAskers), 0);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(world.prompts.tick(Policy::default(), &SystemAskers), 1);
    let answer = world.prompts.get(&asked.request_id).unwrap().answer.unwrap();
    assert_eq!(answer.response["code"], "asker_gone");
}

#[test]
fn an_older_database_never_confirms() {
    let mut world = World::new();
    let (gone, half) = (world.ask(choice()), world.ask(choice()));
    for asked in [&gone, &half] {
        world.answer(asked.request_id.as_str(), json!({"status":"ok","selection":"x"})).unwrap();
    }
    world.records.forget(&gone.request_id);
    world.records.forget_answer(&half.request_id);
    world.reopen(|_| {});
    for asked in [&gone, &half] {
        let item = world.prompts.get(&asked.request_id).unwrap();
        let answer = item.answer.unwrap();
        assert_eq!((answer.status, answer.response["code"].as_str()), (Status::Error, Some("unrecorded")));
    }
    assert_eq!(world.ids(View::NeedsYou), [""; 0]);
    // A signed request alone gets its record back and can be answered.
    let open = world.ask(choice());
    world.records.forget(&open.request_id);
    world.reopen(|_| {});
    assert_eq!(world.ids(View::NeedsYou), [open.request_id.as_str()]);
    assert_eq!(world.prompts.get(&open.request_id).unwrap().owner, Some(Owner::user()));
    world.answer(open.request_id.as_str(), json!({"status":"ok","selection":"x"})).unwrap();
}

#[test]
fn two_surfaces_answer_at_once_and_exactly_one_wins() {
    let world = World::new();
    for round in 0..100 {
        let served = world.ask(choice()).request_id;
        let foreign = format!("f{round}");
        world.append(&foreign_request(&foreign, choice()));
        world.prompts.catch_up();
        for question in [served.as_str(), &foreign] {
            let barrier = std::sync::Barrier::new(2);
            let results: Vec<bool> = std::thread::scope(|scope| {
                let answer = |by: Surface, value: &'static str| {
                    let (world, barrier) = (&world, &barrier);
                    scope.spawn(move || {
                        barrier.wait();
                        match world.answer_by(
                            Answerer::Person(by),
                            question,
                            json!({"status":"ok","selection":value}),
                        ) {
                            Ok(_) => true,
                            Err(RespondError::AlreadyAnswered { .. }) => false,
                            Err(error) => panic!("{error}"),
                        }
                    })
                };
                let all = [answer(Surface::Ui, "x"), answer(Surface::Cli, "y")];
                all.into_iter().map(|t| t.join().unwrap()).collect()
            });
            assert_eq!(results.iter().filter(|won| **won).count(), 1, "{question}");
        }
    }
    assert_eq!(world.ids(View::NeedsYou), [""; 0]);
    assert_eq!(world.ids(View::History).len(), 200);
}

#[test]
fn host_answers_only_what_is_open() {
    let world = World::new();
    let result = json!({"kind":"result","markdown":"# done"});
    world.append(&foreign_request("task_1", result.clone()));
    world.append(&foreign_request("mcp-task:task_1", result));
    assert_eq!(world.ids(View::Results).len(), 2);
    world.prompts.consume_result(&id("task_1")).unwrap();
    assert_eq!(world.ids(View::Results), [""; 0]);
    world.prompts.tick(Policy::default(), &SystemAskers);
    let autos: Vec<Value> = world.lines().into_iter().filter(|l| l["action"] == "response").collect();
    assert_eq!(autos.len(), 2, "both spellings are closed for every reader");
    for auto in autos {
        assert_eq!(auto["response"], json!({"status":"ok","auto":true}));
        assert_eq!(auto["chatos"]["by"], "host:auto");
    }
    world.prompts.consume_result(&id("task_1")).unwrap();
    assert_eq!(world.lines().len(), 4, "once");
}
