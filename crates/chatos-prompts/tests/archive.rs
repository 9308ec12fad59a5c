//! The only rewrite of the log: nothing lost, nothing twice, harmless to repeat (`ui-prompts §3.7`).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::unnecessary_wraps,
    clippy::disallowed_methods,
    reason = "a test that cannot set itself up has failed; it starts programs of its own"
)]

mod common;

use std::collections::HashMap;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chatos_prompts::testing::Fault;
use chatos_prompts::{ArchiveError, Ask, AskError, Owner, View};
use common::*;
use serde_json::{Value, json};

fn archive_lines(world: &World) -> Vec<Value> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(world.dir.path().join("prompt-archive")).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with("ui-prompts-") {
            all.extend(lines(&entry.path()));
        }
    }
    all
}

fn key(line: &Value) -> (String, String) {
    (line["action"].to_string(), line["requestId"].to_string())
}

#[test]
fn closed_prompts_move_and_everything_else_stays_byte_for_byte() {
    let world = World::new();
    world.append(&foreign_request("done", kv()));
    world.append("not json at all\n{\"type\":\"note\",\"x\":1}\n");
    world.append(&foreign_request("open", kv()));
    world.append(&foreign_response("done", json!({"status":"ok","values":{"a":"1"}})));
    // Two entries on one line, one of them closed: the line stays whole.
    world.append(&format!("{}{}", foreign_request("g1", kv()).trim_end(), foreign_request("g2", kv())));
    world.append(&foreign_response("g1", json!({"status":"canceled"})));
    let served = world.ask(choice()).request_id;
    world.answer(served.as_str(), json!({"status":"ok","selection":"x"})).unwrap();
    let before = std::fs::read_to_string(world.log()).unwrap();
    let report = world.prompts.archive(i64::MAX).unwrap();
    assert_eq!((report.moved, report.kept), (4, 5));
    let after = std::fs::read_to_string(world.log()).unwrap();
    let moved = std::fs::read_to_string(report.file.unwrap()).unwrap();
    let mut expected: Vec<&str> = before.lines().collect();
    let mut got: Vec<&str> = after.lines().chain(moved.lines()).collect();
    expected.sort_unstable();
    got.sort_unstable();
    assert_eq!(got, expected);
    assert_eq!(world.ids(View::NeedsYou), ["open", "g2"]);
    // An archived id never becomes a question again, for nobody.
    world.append(&foreign_request("done", kv()));
    assert_eq!(world.ids(View::NeedsYou), ["open", "g2"]);
    let mut ask = Ask::new(Owner::user(), "t", kv());
    ask.request_id = json!("done");
    assert!(matches!(world.prompts.request(&ask), Err(AskError::Conflict(_))));
}

#[test]
fn young_answers_stay_and_a_second_run_waits_for_the_old_file() {
    let world = World::new();
    world.append(&foreign_request("old", kv()));
    world.append(&foreign_response("old", json!({"status":"ok"})));
    let young = world.ask(choice()).request_id;
    world.answer(young.as_str(), json!({"status":"ok","selection":"x"})).unwrap();
    let limit = chatos_prompts::parse_iso("2026-06-01T00:00:00Z").unwrap();
    let report = world.prompts.archive(limit).unwrap();
    assert_eq!((report.moved, report.kept), (2, 2));
    assert!(world.dir.path().join("prompt-archive/.prev").exists());
    let error = world.prompts.archive(i64::MAX).unwrap_err();
    assert!(matches!(error, ArchiveError::Previous(_)), "{error}");
    assert!(world.prompts.health().previous.is_some());
}

#[test]
fn nothing_to_move_changes_nothing() {
    let world = World::new();
    assert_eq!(world.prompts.archive(i64::MAX).unwrap().moved, 0);
    world.append(&foreign_request("open", kv()));
    let report = world.prompts.archive(i64::MAX).unwrap();
    assert_eq!((report.moved, report.kept, report.file), (0, 1, None));
    assert!(!world.dir.path().join("prompt-archive/.prev").exists());
}

#[test]
fn a_lockless_writer_loses_no_line() {
    let world = World::new();
    for i in 0..200 {
        world.append(&foreign_request(&format!("old{i}"), kv()));
        world.append(&foreign_response(&format!("old{i}"), json!({"status":"ok"})));
    }
    world.prompts.catch_up();
    let log = world.log();
    let go = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let go = &go;
        scope.spawn(move || {
            // One writer keeps its file open over the swap, as a plain program would.
            let mut open = std::fs::File::options().append(true).open(&log).unwrap();
            for i in 0..5_000 {
                open.write_all(foreign_request(&format!("new{i}"), kv()).as_bytes()).unwrap();
                if i == 500 {
                    go.store(true, Ordering::SeqCst);
                }
                if i % 100 == 0 {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        });
        while !go.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        let report = world.prompts.archive(i64::MAX).unwrap();
        assert_eq!(report.moved, 400);
    });
    world.eventually("what came late is copied", |w| w.ids(View::NeedsYou).len() == 5_000);
    let mut count: HashMap<(String, String), u32> = HashMap::new();
    for line in world.lines().iter().chain(&archive_lines(&world)) {
        *count.entry(key(line)).or_default() += 1;
    }
    assert_eq!(count.len(), 5_400);
    assert!(count.values().all(|n| *n == 1), "none twice");
    assert_eq!(world.prompts.health().lost, 0);
}

#[test]
fn the_old_inode_is_followed_after_a_restart() {
    let mut world = World::new();
    world.append(&foreign_request("done", kv()));
    world.append(&foreign_response("done", json!({"status":"ok"})));
    let mut late = std::fs::File::options().append(true).open(world.log()).unwrap();
    world.prompts.archive(i64::MAX).unwrap();
    world.reopen(|_| {});
    late.write_all(foreign_request("late", kv()).as_bytes()).unwrap();
    world.eventually("the late line arrives", |w| w.ids(View::NeedsYou) == ["late"]);
    late.write_all(foreign_request("later", kv()).trim_end().as_bytes()).unwrap();
    world.eventually("also without a newline", |w| w.ids(View::NeedsYou) == ["late", "later"]);
}

#[test]
fn quiet_for_a_day_and_open_nowhere_it_goes() {
    let clock = manual(chatos_prompts::Clock::now_ms(&chatos_prompts::SystemClock));
    let world = World::with(|config| config.clock = clock.clone());
    world.append(&foreign_request("done", kv()));
    world.append(&foreign_response("done", json!({"status":"ok"})));
    let held = std::fs::File::open(world.log()).unwrap();
    world.prompts.archive(i64::MAX).unwrap();
    let previous = world.dir.path().join("prompt-archive/.prev");
    clock.advance(Duration::from_secs(25 * 3600));
    assert!(world.prompts.archive(i64::MAX).is_err());
    assert!(previous.exists(), "somebody has it open");
    drop(held);
    world.prompts.archive(i64::MAX).unwrap();
    assert!(!previous.exists());
}

#[test]
fn any_operation_may_fail_and_the_next_run_ends_it() {
    for fault in [Fault::Stop, Fault::Error(28), Fault::Short] {
        for k in 1.. {
            let fs = faulty();
            let mut world = World::with(|config| config.fs = fs.clone());
            for i in 0..3 {
                world.append(&foreign_request(&format!("d{i}"), kv()));
                world.append(&foreign_response(&format!("d{i}"), json!({"status":"ok"})));
            }
            world.append(&foreign_request("open", kv()));
            let served = world.ask(choice()).request_id;
            world.answer(served.as_str(), json!({"status":"ok","selection":"x"})).unwrap();
            world.eventually("marked", |w| w.records.unmarked() == 0);
            let all: Vec<(String, String)> = world.lines().iter().map(key).collect();
            fs.arm(k, fault);
            let first = world.prompts.archive(i64::MAX);
            let clean = !fs.reached();
            world.reopen(|_| {});
            let check = |world: &World, when: &str| {
                let mut log: Vec<_> = world.lines().iter().map(key).collect();
                log.extend(archive_lines(world).iter().map(key));
                for line in &all {
                    assert!(log.contains(line), "{fault:?} at {k}, {when}: {line:?} is nowhere");
                }
                assert_eq!(world.ids(View::NeedsYou), ["open"], "{fault:?} at {k}, {when}");
            };
            check(&world, "after the fault");
            if first.is_err() {
                match world.prompts.archive(i64::MAX) {
                    Ok(_) | Err(ArchiveError::Previous(_)) => {}
                    Err(error) => panic!("{fault:?} at {k}: {error}"),
                }
            }
            check(&world, "after the second run");
            let mut archived: Vec<_> = archive_lines(&world).iter().map(key).collect();
            let count = archived.len();
            archived.sort();
            archived.dedup();
            assert_eq!(archived.len(), count, "{fault:?} at {k}: a line is in the archive twice");
            assert_eq!(count, 8, "{fault:?} at {k}");
            if clean {
                assert!(k > 10, "the faults reached {k} operations only");
                break;
            }
        }
    }
}
