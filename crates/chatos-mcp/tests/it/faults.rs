//! Servers that lie, flood, tear and repeat (security §4 E): the call fails clearly or comes through,
//! and the connection goes on.

use std::sync::Arc;
use std::time::Duration;

use chatos_mcp::{Failure, Phase, ServerKey, Times, Waited};
use serde_json::json;

use crate::support::{Recorder, call, eventually, fixture, pool_of, pool_with, request, spec, text, within};

#[tokio::test]
async fn noise_between_messages_is_skipped_and_counted() {
    let (pool, key) = pool_of(fixture(&["banner"]));
    assert_eq!(text(&pool, &key, "noise", json!({})).await, "through the noise");
    let noise = pool.status(&key).unwrap().noise;
    assert!(noise.framing >= 5 && noise.foreign >= 2, "{noise:?}");
    assert_eq!(noise.sample.as_deref(), Some("Welcome to the server!"));
    pool.close().await;
}

#[tokio::test]
async fn only_a_reply_with_the_right_id_is_a_reply() {
    let (pool, key) = pool_of(fixture(&["handshake-twice"]));
    assert_eq!(text(&pool, &key, "wrong-ids", json!({})).await, "right");
    assert_eq!(text(&pool, &key, "echo", json!({ "text": "after" })).await, "after");
    pool.close().await;
}

#[tokio::test]
async fn text_arrives_whatever_its_bytes() {
    let (pool, key) = pool_of(fixture(&[]));
    assert_eq!(text(&pool, &key, "drip", json!({})).await, "一滴一滴");
    assert_eq!(text(&pool, &key, "bad-text", json!({})).await, "a\u{fffd}\0\u{fffd}b");
    let large = text(&pool, &key, "large", json!({ "bytes": 7_000_000 })).await;
    assert_eq!(large.len(), 7_000_000);
    pool.close().await;
}

#[tokio::test]
async fn replies_in_any_order_reach_their_callers() {
    let (pool, key) = pool_of(fixture(&[]));
    let calls: Vec<_> = (0..10)
        .map(|n| {
            let (pool, key) = (pool.clone(), key.clone());
            tokio::spawn(async move {
                (n.to_string(), text(&pool, &key, "reverse", json!({ "text": n.to_string() })).await)
            })
        })
        .collect();
    for call in calls {
        let (asked, answered) = within(call).await.unwrap();
        assert_eq!(asked, answered);
    }
    pool.close().await;
}

#[tokio::test]
async fn a_reply_that_cannot_be_read_ends_its_call_at_once() {
    let (pool, key) = pool_of(fixture(&[]));
    let error = call(&pool, &key, "deep", json!({})).await.unwrap_err();
    assert!(matches!(error.failure, Failure::Protocol { .. }), "{error:?}");
    assert_eq!(text(&pool, &key, "echo", json!({ "text": "on" })).await, "on");
    pool.close().await;
}

#[tokio::test]
async fn an_endless_line_ends_the_child_and_not_the_memory() {
    let (pool, key) = pool_of(fixture(&[]));
    let pid: u32 = text(&pool, &key, "pid", json!({})).await.parse().unwrap();
    let before = resident();
    let error = call(&pool, &key, "endless-line", json!({})).await.unwrap_err();
    assert_eq!(error.failure, Failure::TooLong);
    let grown = resident().saturating_sub(before);
    assert!(grown < 64 * 1024 * 1024, "{grown} bytes more");
    eventually("the child is gone", || !crate::support::alive(pid)).await;
    assert_eq!(text(&pool, &key, "echo", json!({ "text": "anew" })).await, "anew");
    pool.close().await;
}

fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

#[tokio::test]
async fn floods_of_everything_cost_their_own_time_only() {
    let hooks = Arc::new(Recorder::default());
    let (pool, key) = pool_with(spec("s", fixture(&[])), Arc::clone(&hooks) as _);
    pool.put(spec("other", fixture(&[])));
    let flood = tokio::spawn({
        let (pool, key) = (pool.clone(), key.clone());
        async move { text(&pool, &key, "flood", json!({ "count": 20_000 })).await }
    });
    let other = ServerKey::new("other");
    assert_eq!(text(&pool, &other, "echo", json!({ "text": "calm" })).await, "calm");
    assert_eq!(within(flood).await.unwrap(), "flooded");
    let told = hooks.lines.lock().unwrap().len();
    assert!(told < 20_000, "{told} lines of 20,000 reached the log");
    // Forty thousand changes are one new listing.
    within(pool.tools(&key)).await.unwrap();
    let listed: u64 = text(&pool, &key, "listed", json!({})).await.parse().unwrap();
    assert!(listed <= 2, "{listed}");
    pool.close().await;
}

#[tokio::test]
async fn a_flood_of_errors_never_blocks_the_child_and_keeps_its_end() {
    let hooks = Arc::new(Recorder::default());
    let (pool, key) = pool_with(spec("s", fixture(&[])), Arc::clone(&hooks) as _);
    assert_eq!(text(&pool, &key, "stderr-flood", json!({ "lines": 20_000 })).await, "said it all");
    eventually("the tail is there", || pool.status(&key).unwrap().stderr.len() == 30).await;
    assert!(hooks.lines.lock().unwrap().len() < 20_000);
    pool.close().await;
}

#[tokio::test]
async fn other_framings_time_out_and_are_named() {
    for framing in ["content-length", "pretty", "batch", "twice-on-a-line"] {
        let mut odd = spec("odd", fixture(&[&format!("framing={framing}")]));
        odd.times =
            Times { init: Duration::from_millis(800), probe: Duration::from_millis(100), ..Times::default() };
        let (pool, key) = pool_with(odd, Arc::new(chatos_mcp::NoHooks));
        let error = within(pool.connect(&key)).await.err().unwrap();
        let Failure::TimedOut { what: Waited::Start, noise: Some(noise), .. } = &error.failure else {
            panic!("{framing}: {error:?}")
        };
        assert!(noise.contains("invalid framing"), "{framing}: {noise}");
        pool.close().await;
    }
}

#[tokio::test]
async fn a_server_that_says_nothing_fails_its_start_and_no_other() {
    let mut silent = spec("silent", fixture(&["silent"]));
    silent.times =
        Times { init: Duration::from_millis(300), probe: Duration::from_millis(100), ..Times::default() };
    let (pool, key) = pool_with(silent, Arc::new(chatos_mcp::NoHooks));
    pool.put(spec("other", fixture(&[])));
    let calm = ServerKey::new("other");
    let (silent, other) =
        tokio::join!(within(pool.connect(&key)), text(&pool, &calm, "echo", json!({ "text": "hi" })),);
    assert_eq!(other, "hi");
    let failure = silent.err().unwrap().failure;
    assert!(matches!(failure, Failure::TimedOut { what: Waited::Start, .. }), "{failure:?}");
    pool.close().await;
}

#[tokio::test]
async fn listings_that_hang_crash_or_lie_fail_alone() {
    let mut hanging = spec("hang", fixture(&["list=hang"]));
    hanging.times = Times { list: Duration::from_millis(300), ..hanging.times };
    let (pool, key) = pool_with(hanging, Arc::new(chatos_mcp::NoHooks));
    let error = within(pool.tools(&key)).await.unwrap_err();
    assert!(matches!(error.failure, Failure::TimedOut { what: Waited::List, .. }), "{error:?}");
    assert_eq!(text(&pool, &key, "echo", json!({ "text": "still" })).await, "still");

    let crash = ServerKey::new("crash");
    pool.put(spec("crash", fixture(&["list=crash"])));
    let error = within(pool.tools(&crash)).await.unwrap_err();
    assert!(matches!(error.failure, Failure::Exited { .. }), "{error:?}");
    assert!(error.stderr.iter().any(|line| line.contains("crashes in the listing")), "{error:?}");

    let object = ServerKey::new("object");
    pool.put(spec("object", fixture(&["list=object"])));
    let error = within(pool.tools(&object)).await.unwrap_err();
    assert!(matches!(error.failure, Failure::Protocol { .. }), "{error:?}");
    pool.close().await;
}

#[tokio::test]
async fn a_tool_too_deep_to_be_read_is_left_out_alone() {
    let (pool, key) = pool_of(fixture(&["list=deep"]));
    let list = within(pool.tools(&key)).await.unwrap();
    assert_eq!(list.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["echo"]);
    let left_out: Vec<_> = list.problems.iter().filter_map(|problem| problem.tool.as_deref()).collect();
    assert_eq!(left_out, ["schema", "hint"]);
    assert!(list.problems.iter().all(|problem| problem.reason.contains("deeper")), "{:?}", list.problems);
    // What is no list comes whole or not at all.
    let error = call(&pool, &key, "deep", json!({})).await.unwrap_err();
    assert!(matches!(error.failure, Failure::Protocol { .. }), "{error:?}");
    assert_eq!(text(&pool, &key, "echo", json!({ "text": "still" })).await, "still");
    pool.close().await;
}

#[tokio::test]
async fn endless_listings_stop_at_their_bounds() {
    let (pool, _) = pool_of(fixture(&[]));
    for (name, switch, tools) in
        [("endless", "list=endless", 100), ("loop", "list=loop", 6), ("many", "list=100000", 1_000)]
    {
        pool.put(spec(name, fixture(&[switch])));
        let list = within(pool.tools(&ServerKey::new(name))).await.unwrap();
        assert!(list.partial, "{name}");
        assert_eq!(list.tools.len(), tools, "{name}");
        assert!(list.tools.is_sorted_by(|a, b| a.name < b.name));
    }
    pool.close().await;
}

#[tokio::test]
async fn a_tool_that_changes_after_approval_is_seen() {
    let (pool, key) = pool_of(fixture(&["list=changing"]));
    let approved = within(pool.tools(&key)).await.unwrap().pins();
    assert_eq!(within(pool.tools(&key)).await.unwrap().compare(&approved), chatos_mcp::PinReport::default());
    text(&pool, &key, "change-tools", json!({})).await;
    let report = within(pool.tools(&key)).await.unwrap().compare(&approved);
    assert_eq!(report.changed, ["echo"]);
    pool.close().await;
}

#[tokio::test]
async fn a_crash_in_a_call_ends_all_its_calls_and_the_server_comes_back() {
    let (pool, key) = pool_of(fixture(&[]));
    let _lease = pool.lease(&key);
    text(&pool, &key, "echo", json!({})).await;
    let waiting: Vec<_> = (0..5)
        .map(|_| {
            let (pool, key) = (pool.clone(), key.clone());
            tokio::spawn(async move { pool.call(&key, request("hang", json!({}))).await })
        })
        .collect();
    eventually("they run", || pool.status(&key).unwrap().calls == 5).await;
    let error = call(&pool, &key, "crash", json!({})).await.unwrap_err();
    assert!(matches!(error.failure, Failure::Exited { .. }), "{error:?}");
    assert!(error.sent, "what it did is unknown");
    for call in waiting {
        let error = within(call).await.unwrap().unwrap_err();
        assert!(matches!(error.failure, Failure::Exited { .. }), "{error:?}");
    }
    let last = pool.status(&key).unwrap().last_error.expect("the crash is remembered");
    assert!(last.stderr.iter().any(|line| line == "the last words"), "{last:?}");
    eventually("it is back", || pool.status(&key).unwrap().phase == Phase::Ready).await;
    assert_eq!(text(&pool, &key, "echo", json!({ "text": "back" })).await, "back");
    let torn = call(&pool, &key, "torn", json!({})).await.unwrap_err();
    assert!(matches!(torn.failure, Failure::Exited { .. }), "{torn:?}");
    pool.close().await;
}
