//! Tasks and journal with the real program, with and without a running host.

use chatos_testkit::Sandbox;
use serde_json::json;

fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_chatos"))
}

#[test]
fn a_task_lives_through_all_commands_without_a_host() {
    let sandbox = sandbox();
    let task =
        sandbox.run(&["tasks", "add", "写文档", "--tag", "docs", "--details", "- one", "--json"]).json();
    let id = task["id"].as_str().unwrap().to_owned();
    assert_eq!((&task["details"], &task["scope"]), (&json!("- one"), &json!("cli")));
    assert!(sandbox.run(&["tasks", "list"]).stdout.contains("写文档 #docs"));
    let changed =
        sandbox.run(&["tasks", "update", &id, "--status", "doing", "--note", "began", "--json"]).json();
    assert_eq!((&changed["status"], &changed["notes"][0]["text"]), (&json!("doing"), &json!("began")));
    let done = sandbox.run(&["tasks", "done", &id, "--note", "all good", "--json"]).json();
    assert_eq!(done["status"], "done");
    assert!(done["completedAt"].is_string());
    assert_eq!(sandbox.run(&["tasks", "list", "--json"]).json()["items"], json!([]));
    assert_eq!(sandbox.run(&["tasks", "list", "--all", "--json"]).json()["total"], 1);
    assert_eq!(sandbox.run(&["tasks", "clear", "--json"]).json(), json!({ "cleared": 1, "remaining": 0 }));
    assert_eq!(sandbox.run(&["tasks", "show", &id]).status, 4);
}

#[test]
fn bad_tasks_are_refused_with_a_pointer_and_nothing_is_kept() {
    let sandbox = sandbox();
    let long = "x".repeat(301);
    for (args, pointer) in [
        (["tasks", "add", "  ", "--json"], "/tasks/0/title"),
        (["tasks", "add", &long, "--json"], "/tasks/0/title"),
        (["tasks", "add", "a", "--priority=urgent"], "/tasks/0/priority"),
    ] {
        let mut args = args.to_vec();
        if !args.contains(&"--json") {
            args.push("--json");
        }
        let refused = sandbox.run(&args);
        assert_eq!(refused.status, 1, "{refused:?}");
        assert_eq!(refused.json()["error"]["details"]["errors"][0]["path"], pointer);
    }
    assert_eq!(sandbox.run(&["tasks", "list", "--all", "--json"]).json()["total"], 0);
}

#[test]
fn commands_and_the_running_host_see_the_same_tasks() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    sandbox.run(&["tasks", "add", "from the terminal", "--json"]).json();
    let body = json!({ "title": "from the API", "dedupeKey": "k" });
    assert_eq!(host.ask("POST", "/api/v1/tasks", Some(&body)).status, 201);
    assert_eq!(host.ask("POST", "/api/v1/tasks", Some(&body)).status, 200);
    assert_eq!(host.ask("GET", "/api/v1/tasks", None).json()["total"], 2);
    assert_eq!(sandbox.run(&["tasks", "list", "--json"]).json()["total"], 2);
    let unknown = host.ask("PATCH", "/api/v1/tasks/nope", Some(&json!({ "status": "done" })));
    assert_eq!(unknown.status, 404);
    let typo = host.ask("POST", "/api/v1/tasks", Some(&json!({ "title": "x", "tag": ["y"] })));
    assert_eq!(typo.status, 400);
    assert!(host.stop().success());
}

#[test]
fn the_journal_belongs_to_the_project_and_exports_oldest_first() {
    let sandbox = sandbox();
    for summary in ["first 第一", "second"] {
        sandbox.run(&["journal", "add", summary, "--tag", "t", "--json"]).json();
    }
    let found = sandbox.run(&["journal", "list", "--query", "第", "--json"]).json();
    assert_eq!(found["items"].as_array().unwrap().len(), 1);
    let lines = sandbox.run(&["journal", "export"]).stdout;
    let order: Vec<_> = lines.lines().map(|line| line.contains("first")).collect();
    assert_eq!(order, [true, false]);
    std::fs::create_dir(sandbox.root().join("other")).unwrap();
    assert_eq!(sandbox.run(&["journal", "list", "--project", "other", "--json"]).json()["total"], 0);
    assert_eq!(sandbox.run(&["journal", "list", "--project", "missing"]).status, 4);
}
