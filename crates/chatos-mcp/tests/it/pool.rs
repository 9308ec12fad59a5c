//! The pool: lazy starts, back-off, giving up, idling, replacing.

use std::sync::Arc;
use std::time::Duration;

use chatos_mcp::{Failure, Hooks, Later, NoHooks, Phase, Pool, Restarts, ServerKey};
use serde_json::json;

use crate::support::{alive, call, eventually, fixture, options, pool_of, pool_with, spec, text, within};

#[tokio::test]
async fn nothing_runs_before_somebody_needs_it() {
    let (pool, key) = pool_of(fixture(&[]));
    assert_eq!(pool.status(&key).unwrap().phase, Phase::Idle);
    assert!(pool.status(&key).unwrap().pid.is_none());
    text(&pool, &key, "echo", json!({})).await;
    let status = pool.status(&key).unwrap();
    assert_eq!((status.phase, status.kind), (Phase::Ready, "stdio"));
    assert!(status.pid.is_some());
    let nobody = ServerKey::new("nobody");
    assert_eq!(within(pool.connect(&nobody)).await.err().unwrap().failure, Failure::UnknownServer);
    assert!(pool.lease(&nobody).is_none() && pool.status(&nobody).is_none());
    pool.close().await;
}

#[tokio::test]
async fn everybody_shares_one_process() {
    let (pool, key) = pool_of(fixture(&[]));
    let calls = (0..20).map(|_| {
        let (pool, key) = (pool.clone(), key.clone());
        tokio::spawn(async move { text(&pool, &key, "pid", json!({})).await })
    });
    let mut pids = Vec::new();
    for call in calls.collect::<Vec<_>>() {
        pids.push(within(call).await.unwrap());
    }
    pids.dedup();
    assert_eq!(pids.len(), 1);
    pool.close().await;
}

#[tokio::test]
async fn a_server_that_keeps_failing_is_given_up_and_can_be_restarted() {
    let mut options = options(Arc::new(NoHooks));
    options.restarts = Restarts { first: Duration::from_millis(5), ..Restarts::default() };
    let pool = Pool::new(options);
    let key = ServerKey::new("s");
    pool.put(spec("s", fixture(&["stderr=no luck", "exit=1"])));
    let _lease = pool.lease(&key);
    let first = within(pool.connect(&key)).await.err().unwrap();
    assert!(matches!(first.failure, Failure::Exited { .. }), "the first failure is told at once: {first:?}");
    eventually("it is given up", || pool.status(&key).unwrap().phase == Phase::Failed).await;
    let error = within(pool.connect(&key)).await.err().unwrap();
    assert!(matches!(error.failure, Failure::GaveUp { failures: 5, .. }), "{error:?}");
    assert!(error.stderr.iter().any(|line| line == "no luck"));
    let fault = error.failure.fault("tools", &error.stderr);
    assert!(fault.hint.is_some() && fault.details.is_some());
    assert!(pool.restart(&key));
    eventually("it tried again and failed again", || {
        let status = pool.status(&key).unwrap();
        status.phase == Phase::Failed
    })
    .await;
    pool.close().await;
}

#[tokio::test]
async fn back_off_doubles_up_to_its_bound() {
    let mut options = options(Arc::new(NoHooks));
    options.restarts = Restarts { first: Duration::from_secs(20), ..Restarts::default() };
    let pool = Pool::new(options);
    let key = ServerKey::new("s");
    pool.put(spec("s", fixture(&["exit=1"])));
    within(pool.connect(&key)).await.err().unwrap();
    eventually("it waits", || pool.status(&key).unwrap().next_attempt.is_some()).await;
    let next = pool.status(&key).unwrap().next_attempt.unwrap();
    assert!(next > Duration::from_secs(1) && next <= Duration::from_secs(20), "{next:?}");
    let impatient = within(pool.connect_within(&key, Duration::from_millis(50))).await.err().unwrap();
    assert!(matches!(impatient.failure, Failure::Restarting { .. }), "{impatient:?}");
    // A person does not have to wait for it.
    pool.put(spec("s", fixture(&[])));
    assert_eq!(text(&pool, &key, "echo", json!({ "text": "fixed" })).await, "fixed");
    pool.close().await;
}

#[tokio::test]
async fn an_unused_server_is_stopped_and_comes_back_when_needed() {
    let mut lazy = spec("s", fixture(&[]));
    lazy.idle = Some(Duration::from_millis(100));
    let (pool, key) = pool_with(lazy, Arc::new(NoHooks));
    let pid: u32 = text(&pool, &key, "pid", json!({})).await.parse().unwrap();
    eventually("it is idle", || pool.status(&key).unwrap().phase == Phase::Idle).await;
    assert!(!alive(pid));
    let lease = pool.lease(&key);
    let again: u32 = text(&pool, &key, "pid", json!({})).await.parse().unwrap();
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert!(alive(again), "somebody holds it");
    drop(lease);
    eventually("it is idle again", || !alive(again)).await;
    pool.close().await;
}

#[tokio::test]
async fn a_new_description_replaces_the_process_and_an_equal_one_does_not() {
    let (pool, key) = pool_of(fixture(&[]));
    let first: u32 = text(&pool, &key, "pid", json!({})).await.parse().unwrap();
    pool.put(spec("s", fixture(&[])));
    let same: u32 = text(&pool, &key, "pid", json!({})).await.parse().unwrap();
    assert_eq!(first, same);
    pool.put(spec("s", fixture(&["version=2025-03-26"])));
    let other: u32 = text(&pool, &key, "pid", json!({})).await.parse().unwrap();
    assert_ne!(first, other);
    eventually("the old process is gone", || !alive(first)).await;
    assert!(within(pool.remove(&key)).await);
    assert!(!alive(other));
    assert!(pool.statuses().is_empty());
    pool.close().await;
}

#[tokio::test]
async fn a_server_that_comes_back_while_its_process_ends_stays() {
    let (pool, key) = pool_of(fixture(&[]));
    let first: u32 = text(&pool, &key, "pid", json!({})).await.parse().unwrap();
    let gone = pool.remove(&key);
    pool.put(spec("s", fixture(&[])));
    assert!(within(gone).await);
    assert!(!alive(first));
    assert_eq!(pool.statuses().len(), 1);
    let other: u32 = text(&pool, &key, "pid", json!({})).await.parse().unwrap();
    assert_ne!(first, other);
    pool.close().await;
}

#[tokio::test]
async fn many_servers_start_side_by_side_and_hanging_ones_hold_up_nobody_for_long() {
    let pool = Pool::new(options(Arc::new(NoHooks)));
    for n in 0..24 {
        pool.put(spec(&format!("s{n}"), fixture(&[])));
    }
    let starts: Vec<_> = (0..24)
        .map(|n| {
            let pool = pool.clone();
            tokio::spawn(async move {
                pool.tools(&ServerKey::new(format!("s{n}"))).await.map(|list| list.tools.len())
            })
        })
        .collect();
    for start in starts {
        assert_eq!(within(start).await.unwrap().unwrap(), 6);
    }
    let pids: Vec<u32> = pool.statuses().iter().filter_map(|status| status.pid).collect();
    assert_eq!(pids.len(), 24);
    within(pool.close()).await;
    assert!(pids.iter().all(|pid| !alive(*pid)));
}

#[tokio::test]
async fn stopping_a_start_leaves_nothing() {
    let (pool, key) = pool_of(fixture(&["silent", "ignore-eof"]));
    let connecting = tokio::spawn({
        let (pool, key) = (pool.clone(), key.clone());
        async move { pool.connect(&key).await.err() }
    });
    eventually("it starts", || pool.status(&key).unwrap().phase == Phase::Starting).await;
    within(pool.stop(&key)).await;
    let failure = within(connecting).await.unwrap().unwrap().failure;
    assert_eq!(failure, Failure::Stopped);
    within(pool.close()).await;
    let left = std::fs::read_dir("/proc").unwrap().flatten().filter(|entry| {
        let status = std::fs::read_to_string(entry.path().join("status")).unwrap_or_default();
        let parent = format!("PPid:\t{}\n", std::process::id());
        status.contains(&parent) && !status.contains("State:\tZ")
    });
    assert_eq!(left.count(), 0, "a child is left");
}

/// Lets a server begin as often as it is told to.
#[derive(Default)]
struct Gate {
    open: std::sync::atomic::AtomicBool,
    asked: std::sync::atomic::AtomicUsize,
}

impl Hooks for Gate {
    fn admit(&self, _server: &ServerKey) -> Later<Result<(), Failure>> {
        self.asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let open = self.open.load(std::sync::atomic::Ordering::SeqCst);
        let refused = Failure::Untrusted { plugin: "com.x".to_owned() };
        Box::pin(async move { if open { Ok(()) } else { Err(refused) } })
    }
}

#[tokio::test]
async fn every_start_of_a_server_is_admitted_or_does_not_happen() {
    use std::sync::atomic::Ordering::SeqCst;
    let gate = Arc::new(Gate::default());
    let mut options = options(Arc::clone(&gate) as Arc<dyn Hooks>);
    options.restarts = Restarts { first: Duration::from_millis(5), ..Restarts::default() };
    let pool = Pool::new(options);
    let key = ServerKey::new("s");
    let dir = tempfile::tempdir().unwrap();
    let canary = dir.path().join("ran");
    let touch = format!("touch={}", canary.display());
    pool.put(spec("s", fixture(&[&touch])));
    let lease = pool.lease(&key);
    for round in 0..20 {
        let error = within(pool.connect(&key)).await.err().unwrap();
        assert!(matches!(error.failure, Failure::Untrusted { .. }), "round {round}: {error:?}");
    }
    assert!(!canary.exists(), "it was started all the same");
    assert_eq!(pool.status(&key).unwrap().phase, Phase::Idle, "a refusal is no failure of the server");
    // Admitted, it runs; ended by itself it is started again, and asked about again.
    gate.open.store(true, SeqCst);
    text(&pool, &key, "echo", json!({})).await;
    gate.open.store(false, SeqCst);
    let asked = gate.asked.load(SeqCst);
    std::fs::remove_file(&canary).unwrap();
    call(&pool, &key, "crash", json!({})).await.err().unwrap();
    eventually("it is asked about again", || gate.asked.load(SeqCst) > asked).await;
    let error = within(pool.connect(&key)).await.err().unwrap();
    assert!(matches!(error.failure, Failure::Untrusted { .. }), "{error:?}");
    assert!(!canary.exists() && pool.status(&key).unwrap().pid.is_none());
    // One that is gone is asked about too: it may be gone because of that.
    drop(lease);
    within(pool.remove(&key)).await;
    let error = within(pool.connect(&key)).await.err().unwrap();
    assert!(matches!(error.failure, Failure::Untrusted { .. }), "{error:?}");
    gate.open.store(true, SeqCst);
    assert_eq!(within(pool.connect(&key)).await.err().unwrap().failure, Failure::UnknownServer);
    pool.close().await;
}
