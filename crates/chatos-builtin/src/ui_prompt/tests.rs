//! Both tools against a queue in memory: what is asked, what comes back, every way it can end.

use std::sync::Arc;
use std::time::Duration;

use chatos_layer::person::{Elicited, Elicitor, Era, Form, Reach, Resume, Withdraw};
use chatos_layer::testing::{Bench, bench, call, nobody};
use chatos_layer::{Access, BoxFuture, CallRequest, PromptBackend, Reply, ToolSettings};
use chatos_tool::{Envelope, LogLevel, LogRules, Status};
use serde_json::{Value, json};

use super::*;

fn english() -> ToolSettings {
    ToolSettings { lang: Lang::En, ..ToolSettings::default() }
}

fn start(bench: &Bench, request: CallRequest) -> tokio::task::JoinHandle<Reply> {
    let layer = Arc::clone(&bench.layer);
    tokio::spawn(async move { layer.call(&server(), request).await.unwrap() })
}

async fn done(task: tokio::task::JoinHandle<Reply>) -> Envelope {
    // Real time, so that a paused clock does not end it: a call nobody answers is a failed test.
    let began = std::time::Instant::now();
    while !task.is_finished() {
        assert!(began.elapsed() < Duration::from_secs(20), "the call waits for an answer nobody gives");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let Reply::Done(envelope) = task.await.unwrap() else { panic!("input required") };
    let schema = server()
        .definitions(&Access::All, Lang::En)
        .into_iter()
        .find(|tool| tool["name"] == envelope.stamp.tool.as_str())
        .unwrap();
    let found = chatos_tool::schema::mismatches(&schema["outputSchema"], &envelope.structured().unwrap());
    assert_eq!(found, Vec::<String>::new(), "{}", envelope.structured().unwrap());
    *envelope
}

fn choices() -> Value {
    json!({"title": "Pick", "options": [{"value": "a", "label": "A"}, {"value": "b"}]})
}

fn values() -> Value {
    json!({"message": "Fill in", "fields": [{"key": "host", "required": true}, {"key": "pass", "secret": true, "default": "default-secret"}]})
}

#[tokio::test(start_paused = true)]
async fn a_choice_is_asked_and_answered() {
    let bench = bench(english(), None);
    let mut request = call("prompt_choices", choices());
    request.meta = json!({"runId": "run-1"}).as_object().unwrap().clone();
    let task = start(&bench, request);
    let (id, entry) = bench.queue.asked().await;
    assert_eq!(entry.request.owner.as_str(), "host:ui_prompter");
    assert_eq!(entry.request.trace.run_id.as_deref(), Some("run-1"));
    assert_eq!(
        Value::Object(entry.request.prompt),
        json!({"kind": "choice", "title": "Pick", "source": "ui_prompter/prompt_choices",
               "options": [{"value": "a", "label": "A"}, {"value": "b"}]})
    );
    tokio::time::sleep(Duration::from_secs(3 * 3600)).await;
    bench.queue.reply(&id, json!({"status": "ok", "selection": "b", "remark": "sure"}), "person:ui", None);
    let envelope = done(task).await;
    assert_eq!(envelope.status, Status::Ok, "waiting for a person stops the clocks");
    assert_eq!(
        envelope.data,
        json!({"request_id": id.as_str(), "run_id": "run-1", "multiple": false, "selection": "b", "remark": "sure"})
    );
    assert_eq!(envelope.text, format!("requestId={id}\nstatus=ok\nselection: b\nUser remark: sure"));
    assert_eq!(envelope.stamp.elapsed_ms, 0, "waiting does not count");
    assert!(bench.heard.0.lock().unwrap().contains(&"waiting".to_owned()));
}

#[tokio::test]
async fn several_are_a_list() {
    let bench = bench(english(), None);
    let mut arguments = choices();
    arguments["multiple"] = json!(true);
    arguments["min_selections"] = json!("1");
    let task = start(&bench, call("prompt_choices", arguments));
    let (id, entry) = bench.queue.asked().await;
    assert_eq!(entry.request.prompt["minSelections"], 1);
    bench.queue.reply(&id, json!({"status": "ok", "selection": ["a", "b"]}), "person:ui", None);
    let envelope = done(task).await;
    assert_eq!(envelope.data["selection"], json!(["a", "b"]));
    assert_eq!(envelope.text, format!("requestId={id}\nstatus=ok\nselection:\n- a\n- b"));
}

#[tokio::test]
async fn secret_values_stay_with_the_host() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tool-log.jsonl");
    let log = LogRules { level: LogLevel::Debug, field_chars: 4000 };
    let bench = bench(ToolSettings { log, ..english() }, Some(&path));
    let task = start(&bench, call("prompt_key_values", values()));
    let (id, entry) = bench.queue.asked().await;
    assert!(!Value::Object(entry.request.prompt).to_string().contains("default-secret"));
    let masked = json!({"status": "ok", "values": {"host": "h\nfake: x", "pass": "******"}});
    let full = json!({"status": "ok", "values": {"host": "h\nfake: x", "pass": "pw-1"}});
    bench.queue.reply(&id, masked, "person:ui", Some(full));
    let envelope = done(task).await;
    let reference = format!("secret:{id}/pass");
    assert_eq!(
        envelope.data,
        json!({"request_id": id.as_str(), "values": {"host": "h\nfake: x", "pass": "******"}, "secret_refs": {"pass": reference}})
    );
    assert_eq!(
        envelope.text,
        format!(
            "requestId={id}\nstatus=ok\nvalues:\n- host: h\n  fake: x\n- pass: ******\nsecret_refs:\n- pass: {reference}"
        )
    );
    let logged = std::fs::read_to_string(&path).unwrap();
    assert!(!logged.contains("pw-1") && !logged.contains("default-secret"), "{logged}");
}

#[tokio::test]
async fn the_setting_gives_secrets_to_the_model_and_to_no_log() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tool-log.jsonl");
    let log = LogRules { level: LogLevel::Debug, field_chars: 4000 };
    let bench = bench(ToolSettings { log, secrets_to_model: true, ..english() }, Some(&path));
    let task = start(&bench, call("prompt_key_values", values()));
    let (id, _) = bench.queue.asked().await;
    let masked = json!({"status": "ok", "values": {"host": "h", "pass": "******"}});
    bench.queue.reply(
        &id,
        masked,
        "person:ui",
        Some(json!({"status": "ok", "values": {"host": "h", "pass": "pw-1"}})),
    );
    let envelope = done(task).await;
    assert_eq!(envelope.data, json!({"request_id": id.as_str(), "values": {"host": "h", "pass": "pw-1"}}));
    assert!(!envelope.text.contains("pw-1"));
    let logged = std::fs::read_to_string(&path).unwrap();
    assert!(!logged.contains("pw-1") && logged.contains("[redacted:secret]"), "{logged}");

    let task = start(&bench, call("prompt_key_values", values()));
    let (id, _) = bench.queue.asked().await;
    let masked = json!({"status": "ok", "values": {"host": "h", "pass": "******"}});
    bench.queue.reply(
        &id,
        masked,
        "person:ui",
        Some(json!({"status": "ok", "values": {"host": "h", "pass": "long-secret-1"}})),
    );
    done(task).await;
    assert_eq!(bench.redactor.text("x long-secret-1 y"), "x [redacted:known] y", "known from then on");
}

#[tokio::test]
async fn in_minimal_mode_the_answer_comes_privately() {
    let bench = bench(english(), None);
    let task = start(&bench, call("prompt_key_values", values()));
    let (id, _) = bench.queue.asked().await;
    let full = json!({"status": "ok", "values": {"host": "h", "pass": "pw-1"}});
    bench.queue.reply(&id, json!({"status": "ok", "valueCount": 2}), "person:ui", Some(full));
    let envelope = done(task).await;
    assert_eq!(envelope.data["values"], json!({"host": "h", "pass": "******"}));
    assert_eq!(envelope.data["secret_refs"]["pass"], format!("secret:{id}/pass"));
}

#[tokio::test(start_paused = true)]
async fn every_other_end_has_its_status() {
    let rows = [
        (
            json!({"status": "canceled", "remark": "not now"}),
            "person:ui",
            Status::Canceled,
            json!({"by": "person"}),
        ),
        (
            json!({"status": "canceled", "code": "aborted"}),
            "host:abort",
            Status::Canceled,
            json!({"by": "caller"}),
        ),
        (
            json!({"status": "timeout"}),
            "host:timeout",
            Status::Timeout,
            json!({"limitMs": 5000, "phase": "prompt"}),
        ),
        (json!({"status": "error"}), "person:ui", Status::Error, json!({"what": "host"})),
    ];
    for (response, by, status, details) in rows {
        let bench = bench(english(), None);
        let mut arguments = choices();
        arguments["timeout_ms"] = json!(5000);
        let task = start(&bench, call("prompt_choices", arguments));
        let (id, entry) = bench.queue.asked().await;
        assert_eq!(entry.request.prompt["timeoutMs"], 5000);
        bench.queue.reply(&id, response.clone(), by, None);
        let envelope = done(task).await;
        assert_eq!(envelope.status, status, "{response}");
        assert_eq!(envelope.error.unwrap()["details"], details);
        assert_eq!(envelope.data["request_id"], id.as_str());
        assert_eq!(envelope.data["confirmed"], false);
        if by == "person:ui" && status == Status::Canceled {
            assert_eq!(envelope.data["remark"], "not now");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_canceled_call_withdraws_its_question() {
    for who in ["cancel", "closed", "shutdown"] {
        let bench = bench(english(), None);
        let request = call("prompt_choices", choices());
        let (cancel, closed) = (request.cancel.clone(), request.closed.clone());
        let task = start(&bench, request);
        bench.queue.asked().await;
        let began = tokio::time::Instant::now();
        match who {
            "cancel" => cancel.cancel(),
            "closed" => closed.cancel(),
            _ => bench.layer.close(Duration::from_secs(3)).await,
        }
        let envelope = done(task).await;
        assert_eq!(envelope.status, Status::Canceled);
        let by = if who == "shutdown" { "shutdown" } else { "caller" };
        assert_eq!(envelope.error.unwrap()["details"]["by"], by);
        let why = if who == "cancel" { Withdraw::Aborted } else { Withdraw::Gone };
        assert_eq!(bench.queue.withdrawn().await, why, "{who}");
        assert!(began.elapsed() < Duration::from_millis(100), "{who}: {:?}", began.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_expires_even_when_the_queue_says_nothing() {
    let bench = bench(english(), None);
    let mut arguments = choices();
    arguments["timeout_ms"] = json!(1000);
    let task = start(&bench, call("prompt_choices", arguments));
    bench.queue.asked().await;
    let envelope = done(task).await;
    assert_eq!(envelope.status, Status::Timeout);
    assert_eq!(bench.queue.withdrawn().await, Withdraw::Expired);
}

#[tokio::test]
async fn nobody_reachable_is_a_refusal_at_once() {
    for (reach, backend, asks) in [
        (nobody(), PromptBackend::Auto, false),
        (Reach::Store, PromptBackend::Auto, false),
        (nobody(), PromptBackend::File, false),
        (Reach::Store, PromptBackend::File, true),
        (Reach::Host, PromptBackend::Tty, false),
        (Reach::Host, PromptBackend::Elicitation, false),
        (Reach::Host, PromptBackend::Auto, true),
    ] {
        let bench = bench(ToolSettings { backend, ..english() }, None);
        *bench.queue.reach.lock().unwrap() = reach.clone();
        let task = start(&bench, call("prompt_choices", choices()));
        if asks {
            let (id, _) = bench.queue.asked().await;
            bench.queue.reply(&id, json!({"status": "ok", "selection": "a"}), "person:cli", None);
            assert_eq!(done(task).await.status, Status::Ok, "{reach:?} {backend:?}");
        } else {
            let envelope = done(task).await;
            assert_eq!(envelope.status, Status::Denied, "{reach:?} {backend:?}");
            assert_eq!(envelope.error.as_ref().unwrap()["details"]["rule"], "no_person");
            assert!(envelope.text.contains("chatos serve") && envelope.text.contains("uiPromptBackend"));
            assert_eq!(bench.queue.count(), 0, "nothing was written");
        }
    }
}

#[tokio::test]
async fn bad_questions_are_refused_with_places_in_the_arguments() {
    let bench = bench(english(), None);
    let option = |value: &str| json!({ "value": value });
    let rows = [
        ("prompt_choices", json!({}), "/options", "missing"),
        ("prompt_choices", json!({"options": []}), "/options", "length"),
        ("prompt_choices", json!({"options": vec![option("a"); 61]}), "/options", "length"),
        ("prompt_choices", json!({"options": [option("a"), option("a")]}), "/options/1", "exclusive"),
        ("prompt_choices", json!({"options": [option("  ")]}), "/options/0", "missing"),
        ("prompt_choices", json!({"options": [option("a")], "default": "x"}), "/default", "enum"),
        ("prompt_choices", json!({"options": [option("a")], "default": ["a"]}), "/default", "type"),
        (
            "prompt_choices",
            json!({"options": [option("a")], "multiple": true, "max_selections": 2}),
            "/max_selections",
            "range",
        ),
        (
            "prompt_choices",
            json!({"options": [option("a"), option("b")], "multiple": true, "min_selections": 2, "max_selections": 1}),
            "/min_selections",
            "range",
        ),
        ("prompt_choices", json!({"options": [option("a")], "timeout_ms": 999}), "/timeout_ms", "range"),
        ("prompt_choices", json!({"options": [option("a")], "timeoutMs": 1000}), "/timeoutMs", "unknown_key"),
        ("prompt_choices", json!({"options": [option("a")], "title": "t".repeat(201)}), "/title", "length"),
        ("prompt_key_values", json!({"fields": []}), "/fields", "length"),
        ("prompt_key_values", json!({"fields": [{"key": "a"}, {"key": " a "}]}), "/fields/1", "exclusive"),
        ("prompt_key_values", json!({"fields": [{"label": "x"}]}), "/fields/0/key", "missing"),
        ("prompt_key_values", json!({"fields": [{"key": "a\u{0}"}]}), "/fields/0/key", "format"),
        (
            "prompt_key_values",
            json!({"fields": [{"key": "a", "Secret": true}]}),
            "/fields/0/Secret",
            "unknown_key",
        ),
    ];
    for (tool, arguments, path, code) in rows {
        let envelope = done(start(&bench, call(tool, arguments.clone()))).await;
        assert_eq!(envelope.status, Status::Invalid, "{arguments}");
        let issue = &envelope.error.as_ref().unwrap()["details"]["issues"][0];
        assert_eq!(
            (issue["path"].as_str(), issue["code"].as_str()),
            (Some(path), Some(code)),
            "{arguments}: {issue}"
        );
    }
    assert_eq!(bench.queue.count(), 0, "nothing was written");
    let ignored = json!({"options": [option("a")], "min_selections": 7, "max_selections": 0});
    let task = start(&bench, call("prompt_choices", ignored));
    let (_, entry) = bench.queue.asked().await;
    assert!(!entry.request.prompt.contains_key("minSelections"), "ignored when single");
    task.abort();
}

#[tokio::test]
async fn a_message_carries_no_known_secret_to_the_queue() {
    let bench = bench(english(), None);
    bench.redactor.learn("correct horse battery");
    let mut arguments = choices();
    arguments["message"] = json!("Use correct horse battery? The password: at least 8 letters");
    let task = start(&bench, call("prompt_choices", arguments));
    let (_, entry) = bench.queue.asked().await;
    assert_eq!(entry.request.prompt["message"], "Use [redacted:known]? The password: at least 8 letters");
    task.abort();
}

struct Client {
    era: Era,
    answer: Elicited,
    delay: Duration,
}

impl Elicitor for Client {
    fn name(&self) -> &'static str {
        "tester"
    }

    fn era(&self) -> Era {
        self.era
    }
    fn can_ask(&self, _: &Form) -> bool {
        true
    }
    fn elicit(&self, _: Form) -> BoxFuture<'_, Elicited> {
        Box::pin(async {
            tokio::time::sleep(self.delay).await;
            self.answer.clone()
        })
    }
}

fn asked_through(request: CallRequest, era: Era, answer: Elicited, delay_ms: u64) -> CallRequest {
    let client = Client { era, answer, delay: Duration::from_millis(delay_ms) };
    CallRequest { elicitor: Some(Arc::new(client)), ..request }
}

fn chosen(value: &str) -> Elicited {
    Elicited::Accept(json!({ "selection": value }).as_object().unwrap().clone())
}

#[tokio::test(start_paused = true)]
async fn the_first_answer_wins_between_hub_and_client() {
    let bench = bench(english(), None);
    let task = start(&bench, asked_through(call("prompt_choices", choices()), Era::Legacy, chosen("a"), 100));
    let (id, _) = bench.queue.asked().await;
    let envelope = done(task).await;
    assert_eq!(
        (&envelope.data["selection"], &envelope.data["request_id"]),
        (&json!("a"), &json!(id.as_str()))
    );

    let task = start(&bench, asked_through(call("prompt_choices", choices()), Era::Legacy, chosen("a"), 100));
    let (id, _) = bench.queue.asked().await;
    bench.queue.reply(&id, json!({"status": "ok", "selection": "b"}), "person:ui", None);
    assert_eq!(done(task).await.data["selection"], "b");

    let task =
        start(&bench, asked_through(call("prompt_choices", choices()), Era::Legacy, Elicited::Decline, 100));
    assert_eq!(done(task).await.error.unwrap()["details"]["by"], "person");

    let task = start(
        &bench,
        asked_through(call("prompt_choices", choices()), Era::Legacy, Elicited::Dismissed, 100),
    );
    let (id, _) = bench.queue.asked().await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(!task.is_finished(), "closing a form is no answer while the hub has the question");
    bench.queue.reply(&id, json!({"status": "ok", "selection": "b"}), "person:ui", None);
    assert_eq!(done(task).await.data["selection"], "b");
}

#[tokio::test(start_paused = true)]
async fn without_a_host_the_client_alone_can_answer() {
    let bench = bench(english(), None);
    *bench.queue.reach.lock().unwrap() = nobody();
    for (answer, status) in [
        (chosen("a"), Status::Ok),
        (chosen("nonsense"), Status::Invalid),
        (Elicited::Decline, Status::Canceled),
        (Elicited::Dismissed, Status::Canceled),
    ] {
        let request = asked_through(call("prompt_choices", choices()), Era::Legacy, answer.clone(), 1);
        assert_eq!(done(start(&bench, request)).await.status, status, "{answer:?}");
    }
    let request = asked_through(call("prompt_key_values", values()), Era::Legacy, Elicited::Decline, 1);
    let secret = done(start(&bench, request)).await;
    assert_eq!(secret.error.unwrap()["details"]["rule"], "no_person", "secrets are never asked of a client");
    assert_eq!(bench.queue.count(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_modern_call_comes_again_with_its_answer() {
    let bench = bench(english(), None);
    let modern = |resume: Option<Resume>| CallRequest {
        resume,
        ..asked_through(call("prompt_choices", choices()), Era::Modern, Elicited::Dismissed, 0)
    };
    let Reply::InputRequired(required) = start(&bench, modern(None)).await.unwrap() else {
        panic!("no form")
    };
    let id = required.request_id.clone().unwrap();
    assert_eq!(required.form.schema["required"], json!(["selection"]));
    let again = |answer| {
        let (request_id, shown) = (required.request_id.clone(), Some(required.shown.clone()));
        Some(Resume { request_id, answer: Some(answer), shown })
    };
    let envelope = done(start(&bench, modern(again(chosen("b"))))).await;
    assert_eq!(
        (&envelope.data["selection"], &envelope.data["request_id"]),
        (&json!("b"), &json!(id.as_str()))
    );
    assert_eq!(bench.queue.count(), 1, "the question is not asked twice");
    let late = done(start(&bench, modern(again(chosen("a"))))).await;
    assert_eq!(late.data["selection"], "b", "the first answer won");
}
