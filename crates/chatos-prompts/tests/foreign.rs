//! Prompts other programs write into the file: read leniently, answered in the file, first line wins.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::unnecessary_wraps,
    clippy::disallowed_methods,
    reason = "a test that cannot set itself up has failed; it starts programs of its own"
)]

mod common;

use std::time::Duration;

use chatos_prompts::async_task::{Ack, AsyncTask, CallError, TaskError, cancel_arguments, is_result_of};
use chatos_prompts::{
    Answerer, Class, Code, Event, ItemState, LineFault, Owner, Policy, Query, RespondError, Role, RunId,
    Status, Surface, SystemAskers, TaskId, View, Viewer,
};
use common::*;
use serde_json::{Value, json};

#[test]
fn any_program_asks_by_appending_one_line() {
    let world = World::new();
    world.append(&foreign_request("f1", kv()));
    world.eventually("it is listed", |w| w.ids(View::NeedsYou) == ["f1"]);
    let item = world.prompts.get(&id("f1")).unwrap();
    assert_eq!((item.class, item.owner), (Class::Foreign, None));
    world.answer("f1", json!({"status":"ok","values":{"a":"plain"}})).unwrap();
    let line = world.lines().pop().unwrap();
    assert_eq!(line["response"], json!({"status":"ok","values":{"a":"plain"}}));
    assert_eq!((&line["action"], &line["requestId"]), (&json!("response"), &json!("f1")));
    assert_eq!(world.ids(View::NeedsYou), [""; 0]);
    let item = world.prompts.get(&id("f1")).unwrap();
    assert!(item.answer.unwrap().verified, "our own signed line is known as ours");
}

#[test]
fn another_program_may_answer_another_programs_question() {
    let world = World::new();
    world.append(&foreign_request("f1", choice()));
    world.append(&foreign_response("f1", json!({"status":"dismissed"})));
    world.append(&foreign_response("f1", json!({"status":"ok","selection":"x"})));
    assert_eq!(world.ids(View::NeedsYou), [""; 0]);
    let item = world.prompts.get(&id("f1")).unwrap();
    let answer = item.answer.unwrap();
    assert_eq!((answer.status, answer.by, answer.verified), (Status::Canceled, None, false));
    assert_eq!(item.ignored_responses, 1);
    let error = world.answer("f1", json!({"status":"ok","selection":"x"})).unwrap_err();
    assert!(matches!(error, RespondError::AlreadyAnswered { .. }));
}

#[test]
fn every_order_and_spelling_of_a_file_that_grew_wild() {
    let world = World::new();
    let torn = foreign_request("torn", kv());
    world.append(&format!("\u{feff}{}", foreign_request("bom", kv())));
    world.append(&foreign_request("crlf", kv()).replace('\n', "\r\n"));
    world.append("{\"type\":\"note\"}\nnot json\n");
    world.append(&torn[..50]);
    world.append(&foreign_request("glued", kv()));
    world.append(foreign_request("no-newline", kv()).trim_end());
    assert_eq!(world.ids(View::NeedsYou), ["bom", "crlf", "glued", "no-newline"]);
    // Our own append closes the open line first.
    let asked = world.ask(kv());
    assert!(world.ids(View::NeedsYou).contains(&asked.request_id.to_string()));
    let health = world.prompts.health();
    assert_eq!(health.faults[&LineFault::BadJson].count, 2);
    assert_eq!(health.faults[&LineFault::Salvaged].count, 1);
    assert_eq!(health.unreadable_lines(), 2);
}

#[test]
fn what_cannot_be_drawn_is_a_card_that_can_be_dismissed() {
    let world = World::new();
    for (name, prompt, code) in [
        ("unknown", json!({"kind":"hologram"}), Code::KindUnsupported),
        ("none", json!({"title":"?"}), Code::KindRequired),
        ("empty", json!({"kind":"kv","fields":[]}), Code::FieldsCount),
        ("nofields", json!({"kind":"kv"}), Code::FieldsRequired),
        ("broken", json!({"kind":"choice","options":[1,{}]}), Code::OptionsCount),
    ] {
        world.append(&foreign_request(name, prompt));
        let item = world.prompts.get(&id(name)).unwrap();
        assert_eq!(item.problem.as_ref().map(|p| p.code), Some(code), "{name}");
        assert!(item.needs_you() && item.raw.is_some());
        let error = world.answer(name, json!({"status":"ok"})).unwrap_err();
        assert_eq!(error.code(), Some(Code::StatusUnsupported));
        world.answer(name, json!({"status":"canceled"})).unwrap();
    }
    assert_eq!(world.ids(View::NeedsYou), [""; 0], "nothing sticks");
}

#[test]
fn what_can_be_repaired_is_drawn_with_a_warning() {
    let world = World::new();
    world.append(&foreign_request(
        "messy",
        json!({"kind":"kv","title":7,"allowCancel":"no","timeoutMs":5,"chain":{},"source":null,
            "fields":[3,{"key":" a ","secret":"yes"},{"key":"a"},{"key":""}]}),
    ));
    let item = world.prompts.get(&id("messy")).unwrap();
    assert!(item.problem.is_none());
    assert_eq!(item.prompt["fields"], json!([{"key":"a"}]));
    let codes: Vec<Code> = item.warnings.iter().map(|w| w.code).collect();
    for code in [
        Code::TypeString,
        Code::TypeBoolean,
        Code::TimeoutRange,
        Code::ChainShape,
        Code::FieldObject,
        Code::FieldKeyDuplicate,
        Code::FieldKeyRequired,
    ] {
        assert!(codes.contains(&code), "{code}: {codes:?}");
    }
    world.answer("messy", json!({"status":"ok","values":{"a":"1"}})).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_does_not_fit_is_no_confirmation() {
    let world = World::new();
    world.append(&foreign_request("f1", choice()));
    world.append(&foreign_request("f2", choice()));
    world.prompts.catch_up();
    world.append(&foreign_response("f1", json!({"status":"ok","selection":"nothing of it"})));
    world.append(&foreign_response("f2", json!({"status":"ok","selection":"y"})));
    let got = world.prompts.wait_for_response(&id("f1"), soon(), &never()).await.unwrap();
    assert_eq!((got.status, got.response["code"].as_str()), (Status::Error, Some("invalid_response")));
    let got = world.prompts.wait_for_response(&id("f2"), soon(), &never()).await.unwrap();
    assert_eq!((got.status, got.response["selection"].as_str()), (Status::Ok, Some("y")));
}

#[test]
fn a_reused_id_cannot_swap_a_question() {
    let world = World::new();
    world.append(&foreign_request("f1", json!({"kind":"kv","title":"first","fields":[{"key":"a"}]})));
    world.append(&foreign_request("f1", json!({"kind":"kv","title":"second","fields":[{"key":"b"}]})));
    assert_eq!(world.ids(View::NeedsYou), ["f1"]);
    assert_eq!(world.prompts.get(&id("f1")).unwrap().title(), Some("first"));
    assert_eq!(world.prompts.health().faults[&LineFault::ReusedId].count, 1);
}

#[test]
fn foreign_timeouts_and_old_age_follow_the_settings() {
    let clock = manual(1_768_089_600_000);
    let world = World::with(|config| config.clock = clock.clone());
    let timed = json!({"kind":"kv","fields":[{"key":"a"}],"timeoutMs":5000});
    world.append(&foreign_request("timed", timed));
    world.append(&foreign_request("old", kv()));
    assert_eq!(world.ids(View::NeedsYou).len(), 2);
    clock.advance(Duration::from_secs(4));
    assert_eq!(world.prompts.tick(Policy::default(), &SystemAskers), 0);
    clock.advance(Duration::from_secs(2));
    assert_eq!(world.prompts.tick(Policy::default(), &SystemAskers), 1);
    assert_eq!(world.lines().pop().unwrap()["response"], json!({"status":"timeout"}));
    clock.advance(Duration::from_secs(400 * 86_400));
    assert_eq!(world.prompts.tick(Policy::default(), &SystemAskers), 0, "never by itself");
    let policy = Policy { foreign_days: 365, ..Policy::default() };
    assert_eq!(world.prompts.tick(policy, &SystemAskers), 1);
    assert_eq!(world.lines().pop().unwrap()["response"]["code"], "orphaned");
}

#[test]
fn lists_are_paged_filtered_and_searched() {
    let world = World::new();
    for i in 0..25 {
        let mut line: Value = serde_json::from_str(&foreign_request(&format!("q{i:02}"), json!({"kind":"kv","title":format!("Title {i}"),"message":"中文 Inhalt","source":if i % 2 == 0 {"even"} else {"odd"},"fields":[{"key":"a"}]}))).unwrap();
        line["runId"] = json!(format!("run{}", i % 3));
        world.append(&format!("{line}\n"));
    }
    for i in 0..10 {
        world.append(&foreign_response(
            &format!("q{i:02}"),
            json!({"status": if i < 5 {"ok"} else {"canceled"},"values":{"a":"needle"}}),
        ));
    }
    world.prompts.catch_up();
    let list = |query: Query| -> Vec<String> {
        world.prompts.list(&query).unwrap().items.into_iter().map(|i| i.request_id.to_string()).collect()
    };
    let history = Query { view: View::History, limit: 200, ..Query::default() };
    assert_eq!(list(history.clone())[0], "q09", "newest response first");
    assert_eq!(list(Query { status: Some(Status::Ok), ..history.clone() }).len(), 5);
    assert_eq!(list(Query { q: Some("NEEDLE".into()), ..history.clone() }).len(), 10);
    assert_eq!(list(Query { q: Some("title 7".into()), ..history.clone() }), ["q07"]);
    let open = Query { limit: 200, ..Query::default() };
    assert_eq!(list(Query { source: Some("even".into()), ..open.clone() }).len(), 8);
    assert_eq!(list(Query { run_id: Some("run1".into()), ..open.clone() }).len(), 5);
    assert_eq!(list(Query { run_id: Some("nope".into()), ..open.clone() }).len(), 0);
    assert_eq!(list(Query { q: Some("中文".into()), kind: Some("kv".into()), ..open.clone() }).len(), 15);
    assert_eq!(list(Query { kind: Some("choice".into()), ..open }).len(), 0);
    let mut paged = Vec::new();
    let mut query = Query { view: View::All, limit: 7, ..Query::default() };
    loop {
        let page = world.prompts.list(&query).unwrap();
        assert!(page.items.len() <= 7);
        paged.extend(page.items.into_iter().map(|i| i.request_id.to_string()));
        match page.next_cursor {
            Some(cursor) => query.cursor = Some(cursor),
            None => break,
        }
    }
    let mut sorted = paged.clone();
    sorted.sort();
    sorted.dedup();
    assert_eq!((paged.len(), sorted.len()), (25, 25), "each once");
    assert!(world.prompts.list(&Query { cursor: Some("nonsense".into()), ..Query::default() }).is_err());
    assert_eq!(world.prompts.find_prefix("q0", 100).len(), 10);
    let active = |open: Option<&str>, run: Option<&str>| {
        let run = run.map(|r| RunId::parse(r).unwrap());
        world.prompts.active(open.map(id).as_ref(), run.as_ref()).unwrap().to_string()
    };
    assert_eq!(active(Some("q20"), Some("run1")), "q20");
    assert_eq!(active(Some("q01"), Some("run2")), "q11");
    assert_eq!(active(None, Some("none")), "q10");
}

#[test]
fn an_app_sees_its_own_and_foreign_entries_whole_and_others_reduced() {
    let world = World::new();
    let (mine, other) = (Owner::app("p", "a"), Owner::app("p", "b"));
    let secret = json!({"kind":"kv","message":"text","fields":[{"key":"pw","secret":true}]});
    world.ask_as(mine.clone(), "mine", secret.clone());
    world.ask_as(other.clone(), "other", secret.clone());
    world.append(&foreign_request("foreign", secret));
    for q in ["mine", "other", "foreign"] {
        world.answer(q, json!({"status":"ok","values":{"pw":"v4lue"}})).unwrap();
    }
    let by = |viewer: &Viewer, q: &str, action: &str| -> Value {
        let entries = world.prompts.read_entries(viewer);
        entries.into_iter().find(|e| e["requestId"] == q && e["action"] == action).unwrap()
    };
    let app = Viewer::App { owner: mine, read_all: false };
    assert_eq!(by(&app, "mine", "request")["prompt"]["message"], "text");
    assert_eq!(by(&app, "foreign", "request")["prompt"]["message"], "text");
    assert_eq!(by(&app, "other", "request")["prompt"]["message"], Value::Null);
    assert_eq!(
        by(&app, "other", "response")["response"],
        json!({"status":"ok","valueCount":1,"hasRemark":false})
    );
    let all = Viewer::App { owner: other, read_all: true };
    assert_eq!(by(&all, "mine", "request")["prompt"]["message"], "text");
    for viewer in [&app, &all, &Viewer::Person] {
        for q in ["mine", "other", "foreign"] {
            assert_ne!(by(viewer, q, "response")["response"]["values"]["pw"], "v4lue", "{viewer:?} {q}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_in_two_writes_split_inside_a_character_wakes_once_with_the_exact_text() {
    let world = World::new();
    let task = TaskId::mint();
    let mut waiting = AsyncTask::begin(&world.prompts, task.clone()).unwrap();
    let line = foreign_request(task.as_str(), json!({"kind":"result","markdown":"结果：完成"}));
    let cut = line.find('果').unwrap() + 1;
    let (log, bytes) = (world.log(), line.into_bytes());
    let writer = std::thread::spawn(move || {
        append(&log, &bytes[..cut]);
        std::thread::sleep(Duration::from_millis(50));
        append(&log, &bytes[cut..]);
    });
    let got = waiting.finish(Duration::from_secs(1), Duration::from_secs(20), &never()).await.unwrap();
    writer.join().unwrap();
    assert_eq!((got.text().as_str(), got.is_error, got.id_from_ack), ("结果：完成", false, false));
    world.eventually("acknowledged", |world| world.ids(View::Results).is_empty());
    let auto = world.lines().pop().unwrap();
    assert_eq!(
        (&auto["response"], &auto["chatos"]["by"]),
        (&json!({"status":"ok","auto":true}), &json!("host:auto"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn results_are_matched_by_id_twin_ack_and_cursor() {
    let world = World::new();
    let result = |text: &str| json!({"kind":"result","markdown":"  ","result":text,"content":{"x":1}});
    // An older result with the same id does not count; the same id after the cursor does.
    world.append(&foreign_request("given-id", result("old")));
    world.prompts.catch_up();
    let mut task = AsyncTask::begin(&world.prompts, TaskId::given("given-id").unwrap()).unwrap();
    world.append(&foreign_request("given-id", result("new")));
    let got = task.finish(Duration::from_secs(1), Duration::from_secs(20), &never()).await.unwrap();
    assert_eq!(got.text(), "new");
    // Written before anybody waits, but after the cursor; and by its second spelling.
    let task_id = TaskId::mint();
    let mut task = AsyncTask::begin(&world.prompts, task_id.clone()).unwrap();
    world.append(&foreign_request(
        &format!("mcp-task:{task_id}"),
        json!({"kind":"result","content":["a",1],"isError":true}),
    ));
    world.prompts.catch_up();
    let got = task.finish(Duration::from_secs(1), Duration::from_secs(20), &never()).await.unwrap();
    assert_eq!((got.text().as_str(), got.is_error), (r#"["a",1]"#, true));
    // A server that mints its own id says so in its ACK.
    let mut task = AsyncTask::begin(&world.prompts, TaskId::mint()).unwrap();
    world.append(&foreign_request("server-minted-1", result("theirs")));
    let named = r#"{"status":"accepted","taskId":"server-minted-1"}"#;
    let ack = Ack { texts: vec!["noise".to_owned(), named.to_owned()], structured: None };
    task.acknowledged(&ack, "taskId");
    let got = task.finish(Duration::from_secs(1), Duration::from_secs(20), &never()).await.unwrap();
    assert_eq!((got.text().as_str(), got.id_from_ack), ("theirs", true));
    // No text is an outcome of its own.
    let task_id = TaskId::mint();
    let mut task = AsyncTask::begin(&world.prompts, task_id.clone()).unwrap();
    world.append(&foreign_request(task_id.as_str(), json!({"kind":"result","markdown":""})));
    let got = task.finish(Duration::from_secs(1), Duration::from_secs(20), &never()).await.unwrap();
    assert!(got.is_empty() && got.text().contains(task_id.as_str()));
    // A kv question with that id is no result; the text of a timeout says what was seen.
    let task_id = TaskId::mint();
    let mut task = AsyncTask::begin(&world.prompts, task_id.clone()).unwrap();
    world.append(&foreign_request(task_id.as_str(), kv()));
    world.append(&foreign_request("someone-elses", result("x")));
    world.prompts.catch_up();
    let error = task.finish(Duration::from_secs(1), Duration::from_millis(300), &never()).await.unwrap_err();
    let TaskError::Timeout { seen, .. } = &error else { panic!("{error}") };
    assert_eq!(*seen, 1);
    assert!(error.to_string().contains("ui-prompts.jsonl") && error.to_string().contains(task_id.as_str()));
    let cancel = never();
    cancel.cancel();
    let mut task = AsyncTask::begin(&world.prompts, TaskId::mint()).unwrap();
    let error = task.finish(Duration::from_secs(1), Duration::from_secs(20), &cancel).await.unwrap_err();
    assert!(matches!(error, TaskError::Canceled { .. }));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_ack_and_the_result_may_come_in_any_order() {
    let world = World::new();
    let (poll, limit) = (Duration::from_secs(1), Duration::from_secs(60));
    let result = |text: &str| json!({"kind":"result","markdown":text});
    // The result first; the ACK comes after it.
    let id = TaskId::mint();
    let mut task = AsyncTask::begin(&world.prompts, id.clone()).unwrap();
    world.append(&foreign_request(id.as_str(), result("early")));
    let (acked, ack) = tokio::sync::oneshot::channel::<()>();
    let ack = async {
        ack.await.ok();
        Ok::<_, &str>(Ack::default())
    };
    let answering = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(50)).await;
        acked.send(()).ok();
    });
    let got = task.finish_with_ack(ack, "taskId", poll, limit, &never()).await.unwrap();
    answering.await.unwrap();
    assert_eq!(got.text(), "early");
    // The ACK first, with an id of the server's own.
    let mut task = AsyncTask::begin(&world.prompts, TaskId::mint()).unwrap();
    world.append(&foreign_request("minted-by-server", result("late")));
    let ack = async {
        Ok::<_, &str>(Ack { structured: Some(json!({"taskId":"minted-by-server"})), texts: vec![] })
    };
    let got = task.finish_with_ack(ack, "taskId", poll, limit, &never()).await.unwrap();
    assert_eq!((got.text().as_str(), got.id_from_ack), ("late", true));
    // An ACK that is an error ends the call at once.
    let mut task = AsyncTask::begin(&world.prompts, TaskId::mint()).unwrap();
    let refused = task.finish_with_ack(async { Err("refused") }, "taskId", poll, limit, &never()).await;
    assert_eq!(refused.unwrap_err(), CallError::Ack("refused"));
    // Cancelled while the ACK is outstanding.
    let cancel = never();
    cancel.cancel();
    let mut task = AsyncTask::begin(&world.prompts, TaskId::mint()).unwrap();
    let ack = std::future::pending::<Result<Ack, &str>>();
    let ended = task.finish_with_ack(ack, "taskId", poll, limit, &cancel).await.unwrap_err();
    assert!(matches!(ended, CallError::Task(TaskError::Canceled { .. })));
}

#[test]
fn the_cancel_tool_gets_what_its_schema_allows() {
    let id = TaskId::given("task_9").unwrap();
    let closed = json!({"properties":{"task_id":{},"toolCallId":{},"other":{}},"additionalProperties":false});
    let got = cancel_arguments(&id, "jobId", Some("s1"), Some("c1"), &closed);
    assert_eq!(json!(got), json!({"task_id":"task_9","toolCallId":"c1"}));
    let got = cancel_arguments(&id, "jobId", None, Some("c1"), &json!({"type":"object"}));
    let all =
        json!({"taskId":"task_9","task_id":"task_9","jobId":"task_9","toolCallId":"c1","tool_call_id":"c1"});
    assert_eq!(json!(got), all);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_goes_on_after_a_restart_from_its_stored_cursor() {
    let mut world = World::new();
    world.append(&foreign_request("before", json!({"kind":"result","markdown":"x"})));
    let task = AsyncTask::begin(&world.prompts, TaskId::given("job-0001").unwrap()).unwrap();
    let offset = task.cursor().offset();
    drop(task);
    world.append(&foreign_request("job-0001", json!({"kind":"result","markdown":"while down"})));
    world.reopen(|_| {});
    let cursor = chatos_prompts::Cursor::from_offset(offset);
    let mut task = AsyncTask::resume(&world.prompts, TaskId::given("job-0001").unwrap(), cursor);
    let got = task.finish(Duration::from_secs(1), Duration::from_secs(20), &never()).await.unwrap();
    assert_eq!(got.text(), "while down");
}

#[test]
fn the_rule_of_seed_003_in_one_place() {
    let entry = |change: &dyn Fn(&mut Value)| {
        let mut entry: Value =
            serde_json::from_str(&foreign_request("task_1", json!({"kind":"result"}))).unwrap();
        change(&mut entry);
        is_result_of(entry.as_object().unwrap(), "task_1")
    };
    assert!(entry(&|_| {}));
    assert!(entry(&|e| e["requestId"] = json!("mcp-task:task_1")));
    assert!(!entry(&|e| e["requestId"] = json!("mcp-task:task_12")));
    assert!(!entry(&|e| e["prompt"]["kind"] = json!("kv")));
    assert!(!entry(&|e| e["action"] = json!("response")));
    assert!(!entry(&|e| e["type"] = json!("note")));
}

#[test]
fn subscribers_get_the_item_and_the_counts() {
    let world = World::new();
    let mut events = world.prompts.subscribe();
    world.append(&foreign_request("f1", kv()));
    world.prompts.catch_up();
    world.answer("f1", json!({"status":"ok","values":{"a":""}})).unwrap();
    let mut seen = Vec::new();
    while let Ok(event) = events.try_recv() {
        seen.push(match event {
            Event::Requested(item) => format!("requested {}", item.request_id),
            Event::Answered(item) => format!("answered {}", item.request_id),
            Event::Counts(counts) => format!("counts {}", counts.needs_you),
            other => format!("{other:?}"),
        });
    }
    assert_eq!(seen, ["requested f1", "counts 1", "answered f1", "counts 0"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_asker_in_its_own_process_sees_the_answer_given_elsewhere() {
    let world = World::new();
    for i in 0..100 {
        world.append(&foreign_request(&format!("old{i}"), kv()));
    }
    let asker = open(world.dir.path(), &world.records, |config| config.role = Role::Asker);
    let asked =
        asker.request(&chatos_prompts::Ask::new(Owner::host_server("ui_prompter"), "t", choice())).unwrap();
    world.eventually("the host sees it", |w| w.ids(View::NeedsYou).contains(&asked.request_id.to_string()));
    let item = world.prompts.get(&asked.request_id).unwrap();
    assert_eq!((item.class, item.state), (Class::Served, ItemState::Pending));
    let waiting = tokio::spawn({
        let (asker, id) = (asker.clone(), asked.request_id.clone());
        async move { asker.wait_for_response(&id, soon(), &never()).await }
    });
    world
        .answer_by(
            Answerer::Person(Surface::Cli),
            asked.request_id.as_str(),
            json!({"status":"ok","selection":"y"}),
        )
        .unwrap();
    let got = waiting.await.unwrap().unwrap();
    assert_eq!((got.response["selection"].as_str(), got.by.as_deref()), (Some("y"), Some("person:cli")));
}
