//! Both eras of the protocol, and how the client finds out.

use std::sync::Arc;
use std::time::Duration;

use chatos_mcp::{CallOutcome, Elicitation, Era, Failure, InputRequest, NoHooks, Resume, TaskStatus, Times};
use serde_json::{Value, json};

use crate::support::{eventually, fixture, pool_of, pool_with, request, spec, text, within};

#[tokio::test]
async fn an_old_server_works_as_it_is() {
    // Protocol 2024-11-05, no ping, dotted tool names, errors on what it does not know.
    let (pool, key) = pool_of(fixture(&["version=2024-11-05"]));
    let list = within(pool.tools(&key)).await.unwrap();
    assert!(list.get("files.read").is_some());
    assert_eq!(text(&pool, &key, "files.read", json!({ "text": "x" })).await, "x");
    let peer = pool.status(&key).unwrap().peer.unwrap();
    assert_eq!((peer.era, peer.version.as_str()), (Era::Legacy, "2024-11-05"));
    pool.close().await;
}

#[tokio::test]
async fn a_server_that_ignores_the_probe_gets_the_old_handshake() {
    let (pool, key) = pool_of(fixture(&["unknown=ignore"]));
    assert_eq!(text(&pool, &key, "echo", json!({ "text": "x" })).await, "x");
    assert_eq!(pool.status(&key).unwrap().peer.unwrap().era, Era::Legacy);
    pool.close().await;
}

#[tokio::test]
async fn a_server_that_dies_of_the_probe_is_started_again_without_it() {
    let (pool, key) = pool_of(fixture(&["unknown=exit"]));
    assert_eq!(text(&pool, &key, "echo", json!({ "text": "x" })).await, "x");
    let status = pool.status(&key).unwrap();
    assert_eq!(status.peer.unwrap().era, Era::Legacy);
    assert!(status.last_error.is_none(), "that is no failure of the server");
    pool.close().await;
}

#[tokio::test]
async fn a_slow_modern_server_is_still_modern() {
    let mut slow = spec("s", fixture(&["era=modern", "delay=600"]));
    slow.times = Times { probe: Duration::from_millis(100), ..Times::default() };
    let (pool, key) = pool_with(slow, Arc::new(NoHooks));
    assert_eq!(text(&pool, &key, "echo", json!({ "text": "x" })).await, "x");
    assert_eq!(pool.status(&key).unwrap().peer.unwrap().era, Era::Modern);
    pool.close().await;
}

#[tokio::test]
async fn a_modern_server_sees_who_calls_in_every_request() {
    let (pool, key) = pool_of(fixture(&["era=modern"]));
    let meta: Value = serde_json::from_str(&text(&pool, &key, "meta", json!({})).await).unwrap();
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "chatos");
    let capabilities = &meta["io.modelcontextprotocol/clientCapabilities"];
    assert!(capabilities["elicitation"]["url"].is_object());
    assert!(capabilities["extensions"]["io.modelcontextprotocol/tasks"].is_object());
    let peer = pool.status(&key).unwrap().peer.unwrap();
    assert_eq!((peer.era, peer.info["name"].as_str()), (Era::Modern, Some("fixture")));
    assert_eq!(peer.instructions.as_deref(), Some("be kind"));
    pool.close().await;
}

#[tokio::test]
async fn a_question_of_a_modern_server_is_answered_by_calling_again() {
    let (pool, key) = pool_of(fixture(&["era=modern"]));
    let outcome = within(pool.call(&key, request("confirm", json!({ "a": 1 })))).await.unwrap();
    let CallOutcome::InputRequired(required) = outcome else { panic!("{outcome:?}") };
    let [(name, InputRequest::Elicitation(Elicitation::Form { message, .. }))] = required.requests.as_slice()
    else {
        panic!("{required:?}")
    };
    assert_eq!((name.as_str(), message.as_str()), ("sure", "sure?"));
    let mut again = request("confirm", json!({ "a": 1 }));
    let answers = json!({ "sure": { "action": "accept", "content": { "yes": true } } });
    again.resume = Some(Resume {
        request_state: required.request_state.clone(),
        answers: answers.as_object().cloned().unwrap(),
    });
    let outcome = within(pool.call(&key, again)).await.unwrap();
    let CallOutcome::Complete(result) = outcome else { panic!("{outcome:?}") };
    let echoed: Value = serde_json::from_str(&result.text()).unwrap();
    assert_eq!(echoed, json!({ "answers": answers, "state": "sealed" }));
    pool.close().await;
}

#[tokio::test]
async fn a_task_is_followed_answered_and_finished() {
    let (pool, key) = pool_of(fixture(&["era=modern"]));
    let outcome = within(pool.call(&key, request("job", json!({})))).await.unwrap();
    let CallOutcome::Task(task) = outcome else { panic!("{outcome:?}") };
    assert_eq!((task.id.as_str(), task.is_over()), ("job-1", false));
    // A new connection is all that is needed to go on.
    pool.stop(&key).await;
    pool.restart(&key);
    let connection = within(pool.connect(&key)).await.unwrap();
    let first = within(connection.task(&task.id)).await.unwrap();
    assert_eq!(first.status, TaskStatus::Working);
    let second = within(connection.task(&task.id)).await.unwrap();
    let TaskStatus::InputRequired(asks) = &second.status else { panic!("{second:?}") };
    assert_eq!(asks[0].0, "n");
    let answers = json!({ "n": { "action": "accept", "content": {} } });
    within(connection.answer_task(&task.id, answers.as_object().cloned().unwrap())).await.unwrap();
    let third = within(connection.task(&task.id)).await.unwrap();
    assert!(
        matches!(&third.status, TaskStatus::Completed(result) if result.text() == "job done"),
        "{third:?}"
    );
    within(connection.cancel_task(&task.id)).await.unwrap();
    pool.close().await;
}

#[tokio::test]
async fn a_modern_server_tells_changes_over_its_subscription() {
    let (pool, key) = pool_of(fixture(&["era=both", "list=changing"]));
    let before = within(pool.tools(&key)).await.unwrap();
    text(&pool, &key, "change-tools", json!({})).await;
    let after = within(pool.tools(&key)).await.unwrap();
    assert_ne!(before.tools[0].description, after.tools[0].description);
    pool.close().await;
}

#[tokio::test]
async fn what_was_learned_is_remembered_and_a_wrong_memory_corrected() {
    let (pool, key) = pool_of(fixture(&["unknown=ignore"]));
    pool.remember_era(&key, "", Era::Legacy);
    assert_eq!(text(&pool, &key, "echo", json!({ "text": "x" })).await, "x");
    pool.close().await;
    let (pool, key) = pool_of(fixture(&[]));
    pool.remember_era(&key, "", Era::Modern);
    assert_eq!(text(&pool, &key, "echo", json!({ "text": "x" })).await, "x");
    assert_eq!(pool.status(&key).unwrap().peer.unwrap().era, Era::Legacy);
    pool.close().await;
}

#[tokio::test]
async fn a_server_that_answers_with_a_version_nobody_knows_is_refused() {
    for version in ["1999-01-01", "2099-01-01", "2026-07-28", "2025-06-17", "1.0", ""] {
        let (pool, key) = pool_of(fixture(&[&format!("version={version}")]));
        let failure = within(pool.connect(&key)).await.err().unwrap().failure;
        let Failure::Protocol { detail } = &failure else { panic!("{version}: {failure:?}") };
        assert!(detail.contains(&format!("`{version}`")) && detail.contains("2025-11-25"), "{detail}");
        pool.close().await;
    }
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let (pool, key) = pool_of(fixture(&[&format!("version={version}")]));
        assert_eq!(text(&pool, &key, "echo", json!({ "text": "x" })).await, "x", "{version}");
        pool.close().await;
    }
}

#[tokio::test]
async fn a_server_of_another_protocol_is_refused_clearly() {
    let (pool, key) = pool_of(crate::support::command("cat", &[]));
    // It echoes our own request: a request with our id is no reply.
    let mut echo = spec("cat", crate::support::command("cat", &[]));
    echo.times =
        Times { init: Duration::from_millis(500), probe: Duration::from_millis(100), ..Times::default() };
    let cat = echo.key.clone();
    pool.put(echo);
    let failure = within(pool.connect(&cat)).await.err().unwrap().failure;
    assert!(matches!(failure, Failure::TimedOut { .. } | Failure::Rpc(_)), "{failure:?}");
    drop(key);
    eventually("done", || true).await;
    pool.close().await;
}
