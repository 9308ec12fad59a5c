//! Calls: results, metadata, progress, deadlines, cancels, limits.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use chatos_mcp::{Block, CallOutcome, CallRequest, Failure, Times, Waited};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::{call, fixture, pool_of, pool_with, request, spec, text, within};

#[tokio::test]
async fn a_call_carries_its_metadata_and_brings_its_result() {
    let (pool, key) = pool_of(fixture(&[]));
    assert_eq!(text(&pool, &key, "files.read", json!({ "text": "读" })).await, "读");
    let mut with_meta = request("meta", json!({}));
    with_meta.meta =
        json!({ "chatos": { "trace": { "traceId": "t" } }, "workdir": "/w" }).as_object().cloned().unwrap();
    let Ok(CallOutcome::Complete(result)) = within(pool.call(&key, with_meta)).await else {
        panic!("no result")
    };
    let meta: Value = serde_json::from_str(&result.text()).unwrap();
    assert_eq!(meta["chatos"]["trace"]["traceId"], "t");
    assert_eq!(meta["workdir"], "/w");
    assert!(meta["progressToken"].is_u64());
    assert!(
        meta.get("io.modelcontextprotocol/protocolVersion").is_none(),
        "an old server sees none of the new"
    );
    let failed = call(&pool, &key, "fail", json!({})).await.unwrap();
    assert!(failed.is_error);
    assert_eq!(failed.text(), "it did not work");
    let unknown = call(&pool, &key, "no-such-tool", json!({})).await.unwrap_err();
    assert!(matches!(&unknown.failure, Failure::Rpc(error) if error.code == -32602), "{unknown:?}");
    assert!(unknown.sent);
    pool.close().await;
}

#[tokio::test]
async fn odd_content_is_kept_and_makes_the_call_fail() {
    let (pool, key) = pool_of(fixture(&[]));
    let odd = call(&pool, &key, "odd-content", json!({})).await.unwrap();
    assert_eq!(odd.content.len(), 5);
    assert_eq!(odd.content.iter().filter(|block| matches!(block, Block::Unknown(_))).count(), 4);
    assert_eq!(odd.text(), "still here");
    assert!(odd.is_error && !odd.problems.is_empty(), "what is no proper content is no success");
    let null = call(&pool, &key, "null-result", json!({})).await.unwrap();
    assert!(null.is_error);
    pool.close().await;
}

#[tokio::test]
async fn a_silent_call_ends_at_its_idle_time_and_the_server_learns_it() {
    let (pool, key) = pool_of(fixture(&[]));
    let mut silent = request("hang", json!({}));
    silent.idle = Some(Duration::from_millis(150));
    let error = within(pool.call(&key, silent)).await.unwrap_err();
    assert!(matches!(error.failure, Failure::TimedOut { what: Waited::CallIdle, .. }), "{error:?}");
    assert!(error.sent);
    let cancelled: Vec<u64> = serde_json::from_str(&text(&pool, &key, "cancelled", json!({})).await).unwrap();
    assert_eq!(cancelled.len(), 1, "{cancelled:?}");
    pool.close().await;
}

#[tokio::test]
async fn progress_extends_a_call_and_is_seen() {
    let (pool, key) = pool_of(fixture(&[]));
    let (sender, mut seen) = tokio::sync::mpsc::channel(64);
    // Twenty steps of 100 ms with an idle time of a second: only the steps keep it alive.
    let mut steps = request("progress", json!({ "count": 20, "pause": 100 }));
    steps.idle = Some(Duration::from_secs(1));
    steps.progress = Some(sender);
    let outcome = within(pool.call(&key, steps)).await;
    let Ok(CallOutcome::Complete(result)) = outcome else { panic!("{outcome:?}") };
    assert_eq!(result.text(), "arrived");
    let first = seen.recv().await.unwrap();
    assert_eq!((first.progress, first.total, first.message.as_deref()), (0.0, Some(20.0), Some("going on")));
    pool.close().await;
}

#[tokio::test]
async fn progress_for_ever_ends_at_the_hard_limit() {
    let (pool, key) = pool_of(fixture(&[]));
    text(&pool, &key, "echo", json!({ "text": "x" })).await;
    let mut forever = request("progress", json!({ "count": 1_000_000, "pause": 20 }));
    forever.idle = Some(Duration::from_secs(30));
    forever.total = Some(Duration::from_millis(400));
    let error = within(pool.call(&key, forever)).await.unwrap_err();
    assert!(matches!(error.failure, Failure::TimedOut { what: Waited::CallTotal, .. }), "{error:?}");
    pool.close().await;
}

#[tokio::test]
async fn a_cancel_returns_at_once_and_is_told_to_the_server() {
    let (pool, key) = pool_of(fixture(&[]));
    text(&pool, &key, "echo", json!({})).await;
    let cancel = CancellationToken::new();
    let mut hanging = request("hang", json!({}));
    hanging.cancel = cancel.clone();
    let running = tokio::spawn({
        let (pool, key) = (pool.clone(), key.clone());
        async move { pool.call(&key, hanging).await }
    });
    crate::support::eventually("the call runs", || pool.status(&key).unwrap().calls == 1).await;
    cancel.cancel();
    let error = within(running).await.unwrap().unwrap_err();
    assert_eq!(error.failure, Failure::Canceled);
    let cancelled = text(&pool, &key, "cancelled", json!({})).await;
    assert_ne!(cancelled, "[]");
    pool.close().await;
}

#[tokio::test]
async fn a_dropped_call_is_withdrawn() {
    let (pool, key) = pool_of(fixture(&[]));
    text(&pool, &key, "echo", json!({})).await;
    let running = tokio::spawn({
        let (pool, key) = (pool.clone(), key.clone());
        async move { pool.call(&key, request("hang", json!({}))).await }
    });
    crate::support::eventually("the call runs", || pool.status(&key).unwrap().calls == 1).await;
    running.abort();
    assert!(within(running).await.unwrap_err().is_cancelled());
    // The cancellation went out before the next call.
    let cancelled = text(&pool, &key, "cancelled", json!({})).await;
    assert_ne!(cancelled, "[]");
    pool.close().await;
}

#[tokio::test]
async fn what_must_be_written_down_before_sending_decides_whether_it_is_sent() {
    let (pool, key) = pool_of(fixture(&[]));
    let ran = Arc::new(AtomicUsize::new(0));
    let counting = |ran: &Arc<AtomicUsize>, outcome: Result<(), String>| -> CallRequest {
        let ran = Arc::clone(ran);
        let mut call = request("echo", json!({ "text": "x" }));
        call.before_send = Some(Box::pin(async move {
            ran.fetch_add(1, Ordering::SeqCst);
            outcome
        }));
        call
    };
    within(pool.call(&key, counting(&ran, Ok(())))).await.unwrap();
    let error = within(pool.call(&key, counting(&ran, Err("disk full".into())))).await.unwrap_err();
    assert_eq!(error.failure, Failure::BeforeSend { reason: "disk full".into() });
    assert!(!error.sent);
    assert_eq!(ran.load(Ordering::SeqCst), 2);
    pool.close().await;
}

#[tokio::test]
async fn a_thousand_calls_over_ten_servers_each_get_their_own_answer() {
    let (pool, _) = pool_of(fixture(&[]));
    for n in 0..10 {
        pool.put(spec(&format!("s{n}"), fixture(&[])));
    }
    let calls = (0..1_000).map(|n| {
        let (pool, key) = (pool.clone(), chatos_mcp::ServerKey::new(format!("s{}", n % 10)));
        tokio::spawn(async move {
            (n.to_string(), text(&pool, &key, "echo", json!({ "text": n.to_string() })).await)
        })
    });
    for call in calls.collect::<Vec<_>>() {
        let (asked, answered) = within(call).await.unwrap();
        assert_eq!(asked, answered);
    }
    assert!(
        pool.statuses().iter().filter(|status| status.key.as_str() != "s").all(|status| status.calls == 0)
    );
    pool.close().await;
}

#[tokio::test]
async fn a_server_that_does_not_read_fails_its_calls_and_blocks_nobody() {
    let mut deaf = spec("deaf", fixture(&[]));
    deaf.times = Times { send: Duration::from_millis(300), call_total: Duration::from_secs(5), ..deaf.times };
    let (pool, key) = pool_with(deaf, Arc::new(chatos_mcp::NoHooks));
    pool.put(spec("other", fixture(&[])));
    let other = chatos_mcp::ServerKey::new("other");
    text(&pool, &key, "go-deaf", json!({})).await;
    let big = "z".repeat(100_000);
    let calls = (0..200).map(|_| {
        let (pool, key, big) = (pool.clone(), key.clone(), big.clone());
        tokio::spawn(async move {
            let mut call = request("echo", json!({ "text": big }));
            call.total = Some(Duration::from_secs(2));
            pool.call(&key, call).await
        })
    });
    let calls: Vec<_> = calls.collect();
    assert_eq!(text(&pool, &other, "echo", json!({ "text": "here" })).await, "here");
    for call in calls {
        within(call).await.unwrap().unwrap_err();
    }
    pool.close().await;
}

#[tokio::test]
async fn too_many_waiting_calls_are_refused() {
    let (pool, key) = pool_of(fixture(&[]));
    text(&pool, &key, "echo", json!({})).await;
    let cancel = CancellationToken::new();
    let calls: Vec<_> = (0..chatos_mcp::limits::IN_FLIGHT + chatos_mcp::limits::WAITING + 50)
        .map(|_| {
            let (pool, key) = (pool.clone(), key.clone());
            let mut call = request("hang", json!({}));
            call.cancel = cancel.clone();
            tokio::spawn(async move { pool.call(&key, call).await })
        })
        .collect();
    crate::support::eventually("the refused ones have ended", || {
        calls.iter().filter(|call| call.is_finished()).count() >= 50
    })
    .await;
    assert_eq!(pool.status(&key).unwrap().calls, chatos_mcp::limits::IN_FLIGHT);
    cancel.cancel();
    let mut busy = 0;
    for call in calls {
        let error = within(call).await.unwrap().unwrap_err();
        match error.failure {
            Failure::Busy { .. } => busy += 1,
            Failure::Canceled => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(busy, 50);
    pool.close().await;
}
