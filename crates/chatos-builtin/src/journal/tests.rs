//! `project_journal` through the layer: entries, search, facts, keys, several projects, older files.

use std::sync::Arc;

use chatos_layer::testing::{self, call};
use chatos_layer::{Access, Reply, Root, StoreHandle, ToolSettings};
use chatos_store::{OpenOptions, Store};
use chatos_tool::{Lang, schema};
use serde_json::{Value, json};

use super::*;

struct Place {
    dir: tempfile::TempDir,
    bench: testing::Bench,
    server: Server,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["one", "two"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        let store = Store::open(OpenOptions {
            path: dir.path().join("state.db"),
            backups: dir.path().join("backups"),
            migrate: true,
            wal: true,
            used: false,
            check: false,
        });
        let env = ServerEnv { store: StoreHandle::open(store.unwrap()), ..ServerEnv::default() };
        let settings = ToolSettings { lang: Lang::En, ..ToolSettings::default() };
        Self { dir, bench: testing::bench(settings, None), server: server(&env) }
    }

    /// Calls a tool for a project; the result must fit the schema it was published with.
    async fn of(&self, project: &str, tool: &str, arguments: Value) -> (Value, String) {
        let mut request = call(tool, arguments.clone());
        request.root = Some(Arc::new(Root::open(&self.dir.path().join(project)).unwrap()));
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
        self.of("one", tool, arguments).await
    }
}

#[tokio::test]
async fn entries_are_added_listed_searched_and_shown() {
    let place = Place::new();
    let (added, _) = place
        .call(
            "add_exec_log",
            json!({"tag": "fix", "tags": ["ui", "fix"], "summary": "修复了登录页面的问题", "details": "long\ntext",
                   "files": ["src/登录.rs"], "highlights": ["No more CRASHES"], "next_steps": ["write tests"]}),
        )
        .await;
    let entry = &added["data"]["entry"];
    assert_eq!((&entry["tags"], &added["data"]["deduped"]), (&json!(["fix", "ui"]), &json!(false)));
    assert!(entry["title"].as_str().unwrap().ends_with("Z #fix #ui"), "{entry}");
    for number in 0..12 {
        let arguments = json!({"title": format!("entry {number}"), "summary": "more\nlines", "tags": ["n"]});
        place.call("add_exec_log", arguments).await;
    }
    let (listed, text) = place.call("list_exec_logs", json!({})).await;
    let logs = listed["data"]["logs"].as_array().unwrap();
    assert_eq!(
        (logs.len(), &listed["data"]["total"], &logs[0]["title"]),
        (10, &json!(13), &json!("entry 11"))
    );
    assert_eq!(listed["_meta"]["truncated"][0]["next"], json!({"offset": 10}));
    assert_eq!(text.lines().count(), 12, "one line per entry, the cut and the total: {text}");
    let (rest, _) = place.call("list_exec_logs", json!({"offset": 10, "limit": 200})).await;
    assert_eq!(
        (rest["data"]["logs"].as_array().unwrap().len(), &rest["data"]["truncated"]),
        (3, &json!(false))
    );
    for (query, total) in
        [("登录页", 1), ("登", 1), ("crashes", 1), ("登录.rs", 1), ("entry", 12), ("nothing", 0), ("\"", 0)]
    {
        let (found, _) = place.call("search_exec_logs", json!({"query": query})).await;
        assert_eq!(found["data"]["total"], total, "{query}");
        assert_eq!(place.call("list_exec_logs", json!({"query": query})).await.0["data"]["total"], total);
    }
    assert_eq!(
        place.call("search_exec_logs", json!({"query": "e", "tag": "fix"})).await.0["data"]["total"],
        1
    );
    let (shown, text) = place.call("get_exec_log", json!({"id": entry["id"]})).await;
    assert_eq!(shown["data"]["entry"], *entry);
    for part in ["修复了登录页面的问题", "long\ntext", "Files:\n- src/登录.rs", "Next steps:\n- write tests"]
    {
        assert!(text.contains(part), "{text}");
    }
    // Another project has another journal, also for an id that is known here.
    let (gone, _) = place.of("two", "get_exec_log", json!({"id": entry["id"]})).await;
    assert_eq!((&gone["status"], &gone["code"]), (&json!("not_found"), &json!("not_found")));
    assert_eq!(place.of("two", "list_exec_logs", json!({})).await.0["data"]["total"], 0);
}

#[tokio::test]
async fn wrong_arguments_are_refused() {
    let place = Place::new();
    let cases = [
        ("add_exec_log", json!({}), "/summary"),
        ("add_exec_log", json!({"summary": ""}), "/summary"),
        ("add_exec_log", json!({"summary": " "}), "/summary"),
        ("add_exec_log", json!({"summary": "x".repeat(4001)}), "/summary"),
        ("add_exec_log", json!({"summary": "s", "title": "x".repeat(301)}), "/title"),
        ("add_exec_log", json!({"summary": "s", "nextSteps": []}), "/nextSteps"),
        ("add_exec_log", json!({"summary": "s", "files": vec!["f"; 201]}), "/files"),
        ("search_exec_logs", json!({"query": ""}), "/query"),
        ("search_exec_logs", json!({"query": "a\u{0}"}), "/query"),
        ("list_exec_logs", json!({"limit": 0}), "/limit"),
        ("get_project_info", json!({"iterations_limit": 51}), "/iterations_limit"),
        ("set_project_info", json!({"gitUrl": "x"}), "/gitUrl"),
        ("add_project_iteration", json!({"title": " "}), "/title"),
    ];
    for (tool, arguments, path) in cases {
        let (result, _) = place.call(tool, arguments.clone()).await;
        assert_eq!(result["code"], "invalid_argument", "{tool} {arguments}");
        assert_eq!(result["error"]["details"]["issues"][0]["path"], path, "{tool} {arguments}");
    }
    assert_eq!(place.call("list_exec_logs", json!({})).await.0["data"]["total"], 0);
}

#[tokio::test]
async fn a_key_makes_one_entry_and_one_iteration() {
    let place = Place::new();
    let first = place.call("add_exec_log", json!({"summary": "s", "dedupe_key": "k"})).await.0;
    let second = place.call("add_exec_log", json!({"summary": "other", "dedupe_key": "k"})).await.0;
    assert_eq!((&second["status"], &second["data"]["deduped"]), (&json!("noop"), &json!(true)));
    assert_eq!(second["data"]["entry"], first["data"]["entry"], "nothing is overwritten");
    let elsewhere = place.of("two", "add_exec_log", json!({"summary": "s", "dedupe_key": "k"})).await.0;
    assert_eq!(elsewhere["status"], "ok");
    let first = place.call("add_project_iteration", json!({"title": "v1", "dedupe_key": "k"})).await.0;
    let second = place.call("add_project_iteration", json!({"title": "v1", "dedupe_key": "k"})).await.0;
    assert_eq!((&first["status"], &second["status"]), (&json!("ok"), &json!("noop")));
    assert_eq!(second["data"]["iteration"]["id"], first["data"]["iteration"]["id"]);
    assert_eq!(second["data"]["info"]["iterations"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn facts_are_merged_and_overwriting_keeps_iterations() {
    let place = Place::new();
    let (empty, text) = place.call("get_project_info", json!({})).await;
    assert_eq!(
        (&empty["data"]["info"]["createdAt"], &empty["data"]["info"]["version"]),
        (&Value::Null, &json!(1))
    );
    assert!(text.contains("Nothing is known"));
    assert_eq!(place.call("set_project_info", json!({})).await.0["status"], "noop");
    let facts =
        json!({"summary": "a shop", "git_url": "https://me:secret@example.org/shop.git", "tags": ["web"]});
    let (set, text) = place.call("set_project_info", facts.clone()).await;
    assert_eq!(set["data"]["info"]["gitUrl"], "https://example.org/shop.git");
    assert!(!text.contains("secret"));
    assert_eq!(place.call("set_project_info", facts).await.0["status"], "noop");
    for number in 0..12 {
        place.call("add_project_iteration", json!({"title": format!("v{number}"), "tags": ["r"]})).await;
    }
    let (merged, _) = place.call("set_project_info", json!({"notes": "n"})).await;
    assert_eq!(
        (&merged["data"]["info"]["summary"], &merged["data"]["info"]["notes"]),
        (&json!("a shop"), &json!("n"))
    );
    let (over, _) = place.call("set_project_info", json!({"background": "b", "overwrite": true})).await;
    let info = &over["data"]["info"];
    assert_eq!(
        (&info["summary"], &info["background"], &info["notes"]),
        (&json!(""), &json!("b"), &json!(""))
    );
    assert_eq!(info["createdAt"], set["data"]["info"]["createdAt"]);
    let (shown, _) = place.call("get_project_info", json!({})).await;
    assert_eq!((&shown["data"]["iterations_total"], &shown["data"]["truncated"]), (&json!(12), &json!(true)));
    assert_eq!(shown["data"]["info"]["iterations"][0]["title"], "v11");
    let (none, _) = place.call("get_project_info", json!({"include_iterations": false})).await;
    assert_eq!(
        (&none["data"]["info"]["iterations"], &none["data"]["iterations_total"]),
        (&json!([]), &json!(12))
    );
}

#[tokio::test]
async fn older_files_are_taken_over_once_and_left_alone() {
    let place = Place::new();
    let folder = place.dir.path().join("one/.deepseek_cli/chatos");
    std::fs::create_dir_all(&folder).unwrap();
    let log = "{\"id\":\"a\",\"ts\":\"2025-01-02T03:04:05.006Z\",\"title\":\"old\",\"summary\":\"s\",\"tags\":[\"t\"],\"nextSteps\":[\"n\"]}\n\
               broken\n{\"id\":\"b\",\"ts\":1700000000000,\"title\":\"older\"}\n";
    std::fs::write(folder.join("project-exec-log.jsonl"), log).unwrap();
    let info = json!({"version": 1, "createdAt": "2025-01-01T00:00:00.000Z", "summary": "from a file", "gitUrl": "https://u:p@h/r",
                      "iterations": [{"id": "i", "ts": "2025-01-01T00:00:00.000Z", "title": "first"}]});
    std::fs::write(folder.join("project-info.json"), info.to_string()).unwrap();
    // A link out of the project is not followed.
    std::os::unix::fs::symlink(
        place.dir.path().join("one/.deepseek_cli"),
        place.dir.path().join("two/.deepseek_cli"),
    )
    .unwrap();
    let (listed, _) = place.call("list_exec_logs", json!({})).await;
    let titles: Vec<&str> =
        listed["data"]["logs"].as_array().unwrap().iter().map(|log| log["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["old", "older"]);
    assert_eq!(listed["data"]["logs"][0]["ts"], "2025-01-02T03:04:05.006Z");
    let (shown, _) = place.call("get_project_info", json!({})).await;
    assert_eq!(
        (&shown["data"]["info"]["summary"], &shown["data"]["iterations_total"]),
        (&json!("from a file"), &json!(1))
    );
    assert_eq!(std::fs::read_to_string(folder.join("project-exec-log.jsonl")).unwrap(), log);
    // Another process finds the work done.
    let again = server(&ServerEnv { store: place_store(&place), ..ServerEnv::default() });
    let mut request = call("list_exec_logs", json!({}));
    request.root = Some(Arc::new(Root::open(&place.dir.path().join("one")).unwrap()));
    let Reply::Done(envelope) = place.bench.layer.call(&again, request).await.unwrap() else {
        panic!("no envelope")
    };
    assert_eq!(envelope.structured().unwrap()["data"]["total"], 2);
    assert_eq!(place.of("two", "list_exec_logs", json!({})).await.0["data"]["total"], 0);
}

fn place_store(place: &Place) -> StoreHandle {
    let path = place.dir.path().to_owned();
    StoreHandle::later(move || {
        let options = OpenOptions {
            path: path.join("state.db"),
            backups: path.join("backups"),
            migrate: false,
            wal: true,
            used: false,
            check: false,
        };
        Store::open(options).map(Some)
    })
}

#[tokio::test]
async fn without_a_root_nothing_happens() {
    let place = Place::new();
    let Reply::Done(envelope) =
        place.bench.layer.call(&place.server, call("list_exec_logs", json!({}))).await.unwrap()
    else {
        panic!("no envelope")
    };
    assert_eq!(envelope.structured().unwrap()["error"]["details"]["rule"], "outside_root");
}
