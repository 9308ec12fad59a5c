//! `task_manager` through the layer: every tool, every refusal, keys from several processes, and the
//! confirmation with a person who edits.

use std::sync::Arc;

use chatos_layer::testing::{self, call};
use chatos_layer::{Access, Reply, StoreHandle, ToolSettings};
use chatos_store::{OpenOptions, Store};
use chatos_tool::{Transport, schema};
use serde_json::{Value, json};

use super::*;

struct Place {
    dir: tempfile::TempDir,
    bench: testing::Bench,
    server: Server,
}

fn open(dir: &std::path::Path) -> Store {
    Store::open(OpenOptions {
        path: dir.join("state.db"),
        backups: dir.join("backups"),
        migrate: true,
        wal: true,
        used: false,
        check: false,
    })
    .unwrap()
}

impl Place {
    fn new(settings: ToolSettings) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let env = ServerEnv { store: StoreHandle::open(open(dir.path())), ..ServerEnv::default() };
        Self {
            dir,
            bench: testing::bench(ToolSettings { lang: Lang::En, ..settings }, None),
            server: server(&env),
        }
    }

    /// Calls a tool; the result must fit the schema it was published with.
    async fn meta(&self, tool: &str, arguments: Value, meta: Value) -> (Value, String) {
        let mut request = call(tool, arguments.clone());
        request.meta = meta.as_object().unwrap().clone();
        request.transport = Transport::Stdio;
        let Reply::Done(envelope) = self.bench.layer.call(&self.server, request).await.unwrap() else {
            panic!("no envelope")
        };
        let mut structured = envelope.structured().unwrap();
        let definitions = self.server.definitions(&Access::All, Lang::En);
        let definition = definitions.iter().find(|definition| definition["name"] == tool).unwrap();
        let wrong = schema::mismatches(&definition["outputSchema"], &structured);
        assert_eq!(wrong, Vec::<String>::new(), "{tool} {arguments}: {structured:#}");
        structured["_meta"] = envelope.context();
        (structured, envelope.text.clone())
    }

    async fn call(&self, tool: &str, arguments: Value) -> (Value, String) {
        self.meta(tool, arguments, json!({})).await
    }

    async fn add(&self, arguments: Value) -> Value {
        let (result, _) = self.call("add_task", arguments).await;
        assert_eq!(result["status"], "ok", "{result:#}");
        result["data"]["created"][0].clone()
    }
}

#[tokio::test]
async fn a_task_lives_from_adding_to_deleting() {
    let place = Place::new(ToolSettings::default());
    let (added, text) = place
        .call(
            "add_task",
            json!({"title": "写文档", "details": "short", "tags": ["b", "a", "b"], "priority": "high"}),
        )
        .await;
    assert_eq!((&added["status"], &added["data"]["open"]), (&json!("ok"), &json!(1)));
    assert!(
        text.starts_with("✓ Created 1 task(s) (1 total open, 0 deduped)\n- [todo/high] 写文档 (id="),
        "{text}"
    );
    assert!(text.contains("Hint: some details are very short"));
    let id = added["data"]["created"][0]["id"].as_str().unwrap();
    let (shown, text) = place.call("get_task", json!({"id": id})).await;
    assert_eq!(shown["data"]["task"]["details"], "short", "details are stored as given");
    assert_eq!(shown["data"]["task"]["tags"], json!(["a", "b"]));
    assert_eq!(text, format!("[todo/high] 写文档 (id={id}) #a #b\nshort"));
    let (changed, text) = place
        .call("update_task", json!({"id": id, "status": "doing", "append_note": "half way", "details": ""}))
        .await;
    assert_eq!(changed["data"]["changed"], json!(["details", "status", "notes"]));
    assert!(text.ends_with("\nNote: half way"), "{text}");
    let (same, _) = place.call("update_task", json!({"id": id, "status": "doing"})).await;
    assert_eq!((&same["status"], &same["data"]["changed"]), (&json!("noop"), &json!([])));
    let (done, _) = place.call("complete_task", json!({"id": id, "note": "all written"})).await;
    assert_eq!(done["data"]["task"]["status"], "done");
    assert!(done["data"]["task"]["completedAt"].as_str().unwrap().ends_with('Z'));
    assert_eq!(
        place.call("complete_task", json!({"id": id, "note": "all written"})).await.0["status"],
        "noop"
    );
    assert_eq!(place.call("complete_task", json!({"id": id, "note": "other words"})).await.0["status"], "ok");
    let (deleted, _) = place.call("delete_task", json!({"id": id, "confirm": true})).await;
    assert_eq!(deleted["data"]["deleted"], *id);
    for (tool, arguments) in [
        ("delete_task", json!({"id": id, "confirm": true})),
        ("get_task", json!({"id": id})),
        ("update_task", json!({"id": id, "title": "x"})),
        ("complete_task", json!({"id": "nonsense", "note": "12345"})),
    ] {
        let (gone, text) = place.call(tool, arguments).await;
        assert_eq!((&gone["status"], &gone["code"]), (&json!("not_found"), &json!("not_found")));
        assert!(text.starts_with("✗ [not_found]"), "{text}");
    }
}

#[tokio::test]
async fn wrong_arguments_are_refused_with_their_place() {
    let place = Place::new(ToolSettings::default());
    let long = "x".repeat(301);
    let many: Vec<Value> = (0..101).map(|n| json!({"title": n.to_string()})).collect();
    let cases = [
        (json!({}), "/title", "missing"),
        (json!({"title": ""}), "/title", "length"),
        (json!({"title": "  "}), "/title", "missing"),
        (json!({"title": long}), "/title", "length"),
        (json!({"title": "a", "tasks": [{"title": "b"}]}), "/tasks", "exclusive"),
        (json!({"titel": "a"}), "/titel", "unknown_key"),
        (json!({"title": "a", "priority": "urgent"}), "/priority", "enum"),
        (json!({"title": "a", "details": "x".repeat(16_001)}), "/details", "length"),
        (json!({"title": "a", "tags": ["x".repeat(65)]}), "/tags/0", "length"),
        (json!({"title": "a", "dedupe_key": "a\u{0}b"}), "/dedupe_key", "format"),
        (json!({"tasks": []}), "/tasks", "length"),
        (json!({"tasks": many}), "/tasks", "length"),
        (json!({"tasks": [{"title": "a"}, {"details": "b"}]}), "/tasks/1/title", "missing"),
        (json!({"tasks": [{"title": "a"}, {"title": " "}]}), "/tasks/1/title", "missing"),
        (json!({"tasks": "[{\"title\": \"a\"}, {\"titel\": \"b\"}]"}), "/tasks/1/titel", "unknown_key"),
        (json!({"tasks": "not json"}), "/tasks", "format"),
        (json!({"tasks": "{}"}), "/tasks", "type"),
    ];
    for (arguments, path, code) in cases {
        let (result, _) = place.call("add_task", arguments.clone()).await;
        assert_eq!(result["code"], "invalid_argument", "{arguments}");
        let issues = result["error"]["details"]["issues"].as_array().unwrap();
        let found = issues.iter().any(|issue| issue["path"] == path && issue["code"] == code);
        assert!(found, "{arguments}: {issues:?}");
    }
    for arguments in
        [json!({"id": "x", "confirm": false}), json!({"id": "x"}), json!({"id": "", "confirm": true})]
    {
        assert_eq!(place.call("delete_task", arguments).await.0["code"], "invalid_argument");
    }
    assert_eq!(
        place.call("complete_task", json!({"id": "x", "note": "1234"})).await.0["code"],
        "invalid_argument"
    );
    assert_eq!(place.call("list_tasks", json!({"limit": 201})).await.0["code"], "invalid_argument");
    assert_eq!(place.call("clear_tasks", json!({"mode": "everything"})).await.0["code"], "invalid_argument");
    assert_eq!(place.call("list_tasks", json!({})).await.0["data"]["total"], 0, "nothing was added");
    let (hint, _) = place.call("add_task", json!({"titel": "a"})).await;
    assert!(hint["error"]["details"]["issues"][0]["hint"].as_str().unwrap().contains("title"));
}

#[tokio::test]
async fn lists_are_scoped_paged_and_newest_first() {
    let place = Place::new(ToolSettings::default());
    let (empty, text) = place.call("list_tasks", json!({})).await;
    assert_eq!(empty["data"]["total"], 0);
    assert!(text.starts_with("Task list is empty."));
    let tasks: Vec<Value> = (0..7).map(|n| json!({"title": format!("t{n}"), "tags": ["x"]})).collect();
    place.meta("add_task", json!({"tasks": tasks}), json!({"sessionId": "s1", "runId": "r1"})).await;
    place.meta("add_task", json!({"title": "other"}), json!({"sessionId": "s2"})).await;
    place.call("add_task", json!({"title": "by argument", "sessionId": "s3", "runId": "r3"})).await;
    place
        .meta("add_task", json!({"title": "meta wins", "sessionId": "s9"}), json!({"sessionId": "s4"}))
        .await;
    let titles = |result: &Value| -> Vec<String> {
        let tasks = result["data"]["tasks"].as_array().unwrap();
        tasks.iter().map(|task| task["title"].as_str().unwrap().to_owned()).collect()
    };
    let own = json!({"sessionId": "s1", "runId": "r1"});
    let (page, text) = place.meta("list_tasks", json!({"limit": 3}), own.clone()).await;
    assert_eq!(titles(&page), ["t6", "t5", "t4"]);
    assert_eq!((&page["data"]["total"], &page["data"]["truncated"]), (&json!(7), &json!(true)));
    assert_eq!(page["_meta"]["truncated"][0]["next"], json!({"offset": 3}));
    assert!(text.contains("[… 4 tasks omitted; continue with offset=3 …]"), "{text}");
    let (rest, _) = place.meta("list_tasks", json!({"limit": 5, "offset": 3}), own.clone()).await;
    assert_eq!((titles(&rest).len(), &rest["data"]["truncated"]), (4, &json!(false)));
    let (all, _) = place.meta("list_tasks", json!({"allSessions": true, "allRuns": true}), own.clone()).await;
    assert_eq!(all["data"]["total"], 10);
    let (other, _) = place.meta("list_tasks", json!({"sessionId": "s2", "allRuns": true}), own.clone()).await;
    assert_eq!(titles(&other), ["other"]);
    let (argument, _) = place.call("list_tasks", json!({"sessionId": "s3"})).await;
    assert_eq!((titles(&argument).len(), &argument["data"]["tasks"][0]["runId"]), (1, &json!("r3")));
    assert_eq!(place.call("list_tasks", json!({"sessionId": "s4"})).await.0["data"]["total"], 1);
    let id = page["data"]["tasks"][2]["id"].clone();
    place.call("update_task", json!({"id": id, "status": "blocked"})).await;
    let (newest, _) = place.meta("list_tasks", json!({"limit": 1, "tag": "x"}), own.clone()).await;
    assert_eq!(titles(&newest), ["t4"]);
    let (blocked, _) = place.meta("list_tasks", json!({"status": "blocked"}), own).await;
    assert_eq!(blocked["data"]["total"], 1);
}

#[tokio::test]
async fn clearing_takes_the_own_tasks_only() {
    let place = Place::new(ToolSettings::default());
    place
        .meta(
            "add_task",
            json!({"tasks": [{"title": "a", "status": "done"}, {"title": "b"}]}),
            json!({"sessionId": "s"}),
        )
        .await;
    place.add(json!({"title": "nobody's", "status": "done"})).await;
    let (none, _) = place.call("clear_tasks", json!({"mode": "all"})).await;
    assert_eq!(none["data"], json!({"cleared": 1, "remaining": 0}), "only what belongs to no session");
    let (done, text) = place.meta("clear_tasks", json!({}), json!({"sessionId": "s"})).await;
    assert_eq!(done["data"], json!({"cleared": 1, "remaining": 1}));
    assert_eq!(text, "✓ Cleared 1 task(s), 1 remaining.");
    let again = place.meta("clear_tasks", json!({}), json!({"sessionId": "s"})).await.0;
    assert_eq!(again["status"], "noop");
    let (all, _) =
        place.call("clear_tasks", json!({"mode": "all", "allSessions": true, "allRuns": true})).await;
    assert_eq!(all["data"], json!({"cleared": 1, "remaining": 0}));
}

#[tokio::test]
async fn one_key_makes_one_task_also_from_two_processes_at_once() {
    let place = Place::new(ToolSettings::default());
    let first = place.add(json!({"title": "once", "dedupe_key": "k"})).await;
    let (again, text) = place.call("add_task", json!({"title": "once", "dedupe_key": "k"})).await;
    assert_eq!((&again["status"], &again["code"]), (&json!("noop"), &json!("ok")));
    assert_eq!(again["data"]["deduped"][0]["id"], first["id"]);
    assert_eq!(again["data"]["deduped"][0]["differs"], false);
    assert!(text.starts_with("= Created 0 task(s) (1 total open, 1 deduped)"), "{text}");
    let (other, _) = place.call("add_task", json!({"title": "twice", "dedupe_key": "k"})).await;
    assert_eq!(other["data"]["deduped"][0]["differs"], true);
    assert_eq!(place.call("get_task", json!({"id": first["id"]})).await.0["data"]["task"]["title"], "once");
    let batch = json!({"tasks": [{"title": "x", "dedupe_key": "b"}, {"title": "y", "dedupe_key": "b"}]});
    assert_eq!(place.call("add_task", batch).await.0["data"]["created"].as_array().unwrap().len(), 1);
    // Another process: a store of its own on the same file.
    let second =
        server(&ServerEnv { store: StoreHandle::open(open(place.dir.path())), ..ServerEnv::default() });
    let second = Arc::new(second);
    let layer = place.bench.layer.clone();
    let mut made = 0;
    for round in 0..20 {
        let arguments = json!({"title": "race", "dedupe_key": format!("race-{round}")});
        let (layer, second, theirs) = (layer.clone(), second.clone(), call("add_task", arguments.clone()));
        let other = tokio::spawn(async move { layer.call(&second, theirs).await });
        let mut own = call("add_task", arguments);
        own.transport = Transport::InProcess;
        let own = layer_call(&place, own).await;
        let Ok(Reply::Done(theirs)) = other.await.unwrap() else { panic!("no envelope") };
        for envelope in [own, theirs.structured().unwrap()] {
            made += envelope["data"]["created"].as_array().unwrap().len();
        }
    }
    assert_eq!(made, 20);
}

async fn layer_call(place: &Place, request: chatos_layer::CallRequest) -> Value {
    match place.bench.layer.call(&place.server, request).await.unwrap() {
        Reply::Done(envelope) => envelope.structured().unwrap(),
        _ => panic!("no envelope"),
    }
}

#[tokio::test]
async fn what_the_person_confirms_is_what_is_created() {
    let place = Place::new(ToolSettings { confirm_main_tasks: true, ..ToolSettings::default() });
    let proposal = json!({"tasks": [
        {"title": "keep", "dedupe_key": "k1"}, {"title": "rename"}, {"title": "drop"},
    ]});
    let answer = async {
        let (id, entry) = place.bench.queue.asked().await;
        assert_eq!(entry.request.source, "main");
        assert_eq!(entry.request.owner.as_str(), "host:task_manager");
        let prompt = &entry.request.prompt;
        assert_eq!(
            (&prompt["kind"], &prompt["title"]),
            (&json!("task_confirm"), &json!("Confirm main tasks"))
        );
        let tasks = prompt["tasks"].as_array().unwrap();
        assert!(tasks.iter().all(|task| uuid::Uuid::parse_str(task["draftId"].as_str().unwrap()).is_ok()));
        let mut renamed = tasks[1].clone();
        renamed["title"] = json!("renamed");
        let new = json!({"draftId": "mine", "title": "new one", "priority": "low", "tags": ["p"]});
        let tasks = json!([new, renamed, tasks[0]]);
        let response = json!({"status": "ok", "tasks": tasks, "remark": "better so"});
        place.bench.queue.reply(&id, response, "person:ui", None);
    };
    let ((added, text), ()) = tokio::join!(place.call("add_task", proposal.clone()), answer);
    let titles: Vec<&str> =
        added["data"]["created"].as_array().unwrap().iter().map(|t| t["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["new one", "renamed", "keep"]);
    assert_eq!(
        added["data"]["user_changes"],
        json!({
            "added": [{"title": "new one"}], "removed": [{"title": "drop"}],
            "modified": [{"before": {"title": "rename"}, "after": {"title": "renamed"}}],
        })
    );
    assert_eq!((&added["data"]["confirmed"], &added["data"]["remark"]), (&json!(true), &json!("better so")));
    for line in [
        "User added: new one",
        "User removed: drop",
        "User changed: rename -> renamed",
        "User remark: better so",
    ] {
        assert!(text.contains(line), "{text}");
    }
    // The same key again: the person has decided and is not asked a second time.
    let known = place.call("add_task", json!({"title": "keep", "dedupe_key": "k1"})).await.0;
    assert_eq!((&known["status"], place.bench.queue.count()), (&json!("noop"), 1));
}

#[tokio::test]
async fn a_refused_or_emptied_list_creates_nothing() {
    let place = Place::new(ToolSettings { confirm_main_tasks: true, ..ToolSettings::default() });
    let decline = async {
        let (id, _) = place.bench.queue.asked().await;
        place.bench.queue.reply(&id, json!({"status": "canceled", "remark": "not now"}), "person:ui", None);
    };
    let ((result, text), ()) = tokio::join!(place.call("add_task", json!({"title": "a"})), decline);
    assert_eq!((&result["status"], &result["code"]), (&json!("canceled"), &json!("canceled")));
    assert_eq!(result["data"]["remark"], "not now");
    assert!(text.starts_with('–'), "{text}");
    let empty = async {
        let (id, _) = place.bench.queue.asked().await;
        place.bench.queue.reply(&id, json!({"status": "ok", "tasks": []}), "person:ui", None);
    };
    let ((result, _), ()) = tokio::join!(place.call("add_task", json!({"title": "a"})), empty);
    assert_eq!((&result["status"], &result["data"]["created"]), (&json!("noop"), &json!([])));
    *place.bench.queue.reach.lock().unwrap() = testing::nobody();
    let (denied, _) = place.call("add_task", json!({"title": "a"})).await;
    assert_eq!(denied["error"]["details"]["rule"], "no_person");
    assert_eq!(place.call("list_tasks", json!({})).await.0["data"]["total"], 0);
    // A subagent has a switch of its own, which is off here.
    let (sub, _) = place.call("add_task", json!({"title": "sub", "caller": "worker"})).await;
    assert_eq!((&sub["status"], &sub["data"]["caller"]), (&json!("ok"), &json!("subagent")));
}

#[tokio::test]
async fn without_a_database_the_answer_says_so() {
    let place = Place::new(ToolSettings::default());
    let server = server(&ServerEnv::default());
    let Reply::Done(envelope) = place.bench.layer.call(&server, call("list_tasks", json!({}))).await.unwrap()
    else {
        panic!("no envelope")
    };
    let result = envelope.structured().unwrap();
    assert_eq!((&result["code"], &result["error"]["retryable"]), (&json!("unavailable"), &json!(true)));
    assert_eq!(result["error"]["details"]["what"], "database");
}

#[tokio::test]
async fn results_beyond_every_limit_say_what_was_cut() {
    let mut settings = ToolSettings::default();
    settings.text.result_chars = 2_000;
    let place = Place::new(settings);
    let tasks: Vec<Value> = (0..100)
        .map(|n| json!({"title": format!("{n} {}", "长".repeat(250)), "details": "y".repeat(1000)}))
        .collect();
    place.call("add_task", json!({"tasks": tasks})).await;
    let (listed, text) = place.call("list_tasks", json!({"limit": 200})).await;
    assert!(text.chars().count() <= 2_000, "{}", text.chars().count());
    assert_eq!(listed["data"]["truncated"], true);
    assert_eq!(listed["data"]["total"], 100, "numbers stay");
    assert!(listed["_meta"]["truncated"].as_array().unwrap().len() >= 2);
    assert!(serde_json::to_string(&listed["data"]).unwrap().len() <= 8_100);
}
