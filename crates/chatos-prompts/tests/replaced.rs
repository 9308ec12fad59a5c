//! The file is cut, moved, rewritten, removed or made unusable while it is in use (`ui-prompts §3.4–3.5`).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::unnecessary_wraps,
    clippy::disallowed_methods,
    reason = "a test that cannot set itself up has failed; it starts programs of its own"
)]

mod common;

use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::Ordering;
use std::time::Duration;

use chatos_prompts::{ItemState, Query, RespondError, Status, View};
use common::*;
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn a_waiter_gets_its_answer_across_truncate_move_and_rewrite() {
    for way in ["truncate", "move", "rewrite", "unlink"] {
        let world = World::new();
        world.append(&foreign_request("f1", kv()));
        let asked = world.ask(choice());
        let log = world.log();
        let waiting = tokio::spawn({
            let (prompts, id) = (world.prompts.clone(), asked.request_id.clone());
            async move { prompts.wait_for_response(&id, soon(), &never()).await }
        });
        tokio::time::sleep(Duration::from_millis(20)).await;
        match way {
            "truncate" => std::fs::write(&log, "").unwrap(),
            "move" => {
                std::fs::rename(&log, log.with_extension("moved")).unwrap();
                append(&log, foreign_request("f2", kv()).as_bytes());
            }
            "unlink" => std::fs::remove_file(&log).unwrap(),
            _ => {
                let more: String = (0..50).map(|i| foreign_request(&format!("new{i}"), kv())).collect();
                std::fs::write(&log, more).unwrap();
            }
        }
        if way != "unlink" {
            // The served question stands in the file again, unchanged.
            world.eventually(&format!("{way}: the question is back"), |w| {
                w.lines()
                    .iter()
                    .any(|l| l["requestId"] == asked.request_id.as_str() && l["action"] == "request")
            });
        }
        world.answer(asked.request_id.as_str(), json!({"status":"ok","selection":"x"})).unwrap();
        let got = waiting.await.unwrap().unwrap();
        assert_eq!(got.status, Status::Ok, "{way}");
        if way != "unlink" {
            assert!(!world.ids(View::NeedsYou).contains(&"f1".to_owned()), "{way}: it vanished");
            let lost =
                world.prompts.list(&Query { view: View::History, limit: 200, ..Query::default() }).unwrap();
            let lost: Vec<_> = lost.items.iter().filter(|i| i.state == ItemState::Lost).collect();
            assert_eq!(lost.len(), 1, "{way}");
            assert_eq!(lost[0].request_id.as_str(), "f1");
            assert!(world.prompts.health().replaced > 0);
        }
    }
}

#[test]
fn new_lines_are_seen_after_unlink_and_recreation() {
    let world = World::new();
    world.append(&foreign_request("f1", kv()));
    assert_eq!(world.ids(View::NeedsYou), ["f1"]);
    std::fs::remove_file(world.log()).unwrap();
    world.eventually("it is noticed", |w| {
        w.prompts.catch_up();
        w.prompts.health().missing
    });
    assert_eq!(world.ids(View::NeedsYou), ["f1"], "nothing replaced it: the queue stays");
    world.append(&foreign_request("f2", kv()));
    world.eventually("the new file is read", |w| w.ids(View::NeedsYou) == ["f2"]);
}

#[test]
fn a_rewrite_of_the_same_size_is_noticed() {
    let world = World::new();
    world.append(&foreign_request("aaaa", kv()));
    assert_eq!(world.ids(View::NeedsYou), ["aaaa"]);
    std::thread::sleep(Duration::from_millis(20));
    std::fs::write(world.log(), foreign_request("bbbb", kv())).unwrap();
    world.eventually("the other content is read", |w| w.ids(View::NeedsYou) == ["bbbb"]);
}

#[test]
fn a_directory_that_appears_late_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("not/yet");
    let records = std::sync::Arc::new(chatos_prompts::testing::TestRecords::memory());
    let prompts = open(&state, &records, |_| {});
    assert_eq!(ids(&prompts, View::NeedsYou), [""; 0]);
    let mut subscription = prompts.subscribe();
    std::fs::create_dir_all(&state).unwrap();
    append(&state.join("ui-prompts.jsonl"), foreign_request("late", kv()).as_bytes());
    eventually("it is read", || ids(&prompts, View::NeedsYou) == ["late"]);
    eventually("and told", || !subscription.is_empty());
    subscription.try_recv().unwrap();
}

#[test]
fn a_log_that_is_no_file_is_named_and_the_queue_goes_on() {
    for sort in ["directory", "fifo", "link"] {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("ui-prompts.jsonl");
        match sort {
            "directory" => std::fs::create_dir(&log).unwrap(),
            "fifo" => rustix::fs::mknodat(rustix::fs::CWD, &log, rustix::fs::FileType::Fifo, 0o600.into(), 0)
                .unwrap(),
            _ => {
                let outside = dir.path().join("outside.txt");
                std::fs::write(&outside, foreign_request("evil", kv())).unwrap();
                std::os::unix::fs::symlink(outside, &log).unwrap();
            }
        }
        let records = std::sync::Arc::new(chatos_prompts::testing::TestRecords::memory());
        let prompts = open(dir.path(), &records, |_| {});
        assert!(prompts.health().unreadable.is_some(), "{sort}");
        let asked =
            prompts.request(&chatos_prompts::Ask::new(chatos_prompts::Owner::user(), "t", kv())).unwrap();
        assert!(!asked.mirrored, "{sort}: recorded, not mirrored");
        assert_eq!(
            ids(&prompts, View::NeedsYou),
            [asked.request_id.as_str()],
            "{sort}: never a link's content"
        );
        assert!(prompts.health().unwritable.is_some());
    }
}

#[test]
fn a_wide_mode_is_narrowed_once() {
    let world = World::new();
    world.append("");
    std::fs::set_permissions(world.log(), std::fs::Permissions::from_mode(0o644)).unwrap();
    world.ask(kv());
    world.ask(kv());
    assert_eq!(std::fs::metadata(world.log()).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(world.prompts.health().narrowed, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_loses_nothing_and_catches_up() {
    let fs = faulty();
    let world = World::with(|config| config.fs = fs.clone());
    world.append(&foreign_request("f1", kv()));
    let before = world.ask(choice());
    fs.disk_full.store(true, Ordering::SeqCst);
    let during = world.ask(choice());
    assert!(!during.mirrored && before.mirrored);
    assert!(world.prompts.health().unwritable.unwrap().contains("ui-prompts.jsonl"));
    // Both can be answered; waiters get it although no line can be written.
    let waiting = tokio::spawn({
        let (prompts, id) = (world.prompts.clone(), during.request_id.clone());
        async move { prompts.wait_for_response(&id, soon(), &never()).await }
    });
    for asked in [&before, &during] {
        let done = world.answer(asked.request_id.as_str(), json!({"status":"ok","selection":"x"})).unwrap();
        assert!(!done.mirrored);
    }
    assert_eq!(waiting.await.unwrap().unwrap().status, Status::Ok);
    // A foreign prompt has no outbox: its answer is refused, not lost silently.
    let refused = world.answer("f1", json!({"status":"ok","values":{"a":"1"}})).unwrap_err();
    assert!(matches!(&refused, RespondError::Append(e) if e.is_full()), "{refused}");
    assert_eq!(world.ids(View::NeedsYou), ["f1"]);
    assert_eq!(world.lines().len(), 2);
    fs.disk_full.store(false, Ordering::SeqCst);
    world.eventually("the lines are written when there is space", |w| w.lines().len() == 5);
    world.eventually("the problem is over", |w| w.prompts.health().unwritable.is_none());
    let text = std::fs::read_to_string(world.log()).unwrap();
    assert!(text.lines().all(|l| serde_json::from_str::<serde_json::Value>(l).is_ok()), "no glued record");
    world.answer("f1", json!({"status":"ok","values":{"a":"1"}})).unwrap();
}

#[test]
fn a_store_that_cannot_commit_says_so_and_nothing_is_asked() {
    let world = World::new();
    world.records.full.store(true, Ordering::SeqCst);
    let error = world
        .prompts
        .request(&chatos_prompts::Ask::new(chatos_prompts::Owner::user(), "t", kv()))
        .unwrap_err();
    assert!(error.is_full());
    assert_eq!(world.lines().len(), 0);
    world.records.full.store(false, Ordering::SeqCst);
    let asked = world.ask(kv());
    world.records.full.store(true, Ordering::SeqCst);
    let error =
        world.answer(asked.request_id.as_str(), json!({"status":"ok","values":{"a":""}})).unwrap_err();
    assert!(error.is_full());
    assert_eq!(world.ids(View::NeedsYou).len(), 1, "never a false saved");
}

#[test]
fn a_failed_sync_is_not_repeated_on_its_descriptor() {
    let fs = faulty();
    let world = World::with(|config| config.fs = fs.clone());
    world.ask(kv());
    fs.fail_syncs.store(true, Ordering::SeqCst);
    let asked = world.ask(kv());
    assert!(!asked.mirrored, "not durable, and not called so");
    fs.fail_syncs.store(false, Ordering::SeqCst);
    world.eventually("it is written again", |w| w.records.unmarked() == 0);
    let copies = world.lines().iter().filter(|l| l["requestId"] == asked.request_id.as_str()).count();
    assert!(copies >= 2, "written again, not synced again: {copies}");
    assert_eq!(world.ids(View::NeedsYou).len(), 2, "and still one question");
}

#[test]
fn a_stuck_lock_does_not_stop_a_question() {
    let world = World::new();
    world.append("");
    let lock = std::fs::File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(world.dir.path().join("ui-prompts.lock"))
        .unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let asked = world.ask(kv());
    assert!(asked.mirrored);
    assert_eq!(world.prompts.health().lock_missed, 1);
    assert_eq!(world.ids(View::NeedsYou), [asked.request_id.as_str()]);
}
