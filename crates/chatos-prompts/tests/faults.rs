//! The k-th write, sync or open fails, is short, or the process stops there (`security §5`): what was
//! acknowledged is there, nothing takes effect twice, the log stays readable.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::unnecessary_wraps,
    clippy::disallowed_methods,
    reason = "a test that cannot set itself up has failed; it starts programs of its own"
)]

mod common;

use chatos_prompts::testing::Fault;
use chatos_prompts::{Status, View};
use common::*;
use serde_json::json;

#[test]
fn any_operation_of_asking_and_answering_may_fail() {
    for fault in [Fault::Stop, Fault::Error(28), Fault::Error(5), Fault::Short] {
        for k in 1.. {
            let fs = faulty();
            let mut world = World::with(|config| config.fs = fs.clone());
            world.append(&foreign_request("foreign", choice()));
            world.prompts.catch_up();
            fs.arm(k, fault);
            // Acknowledged means: the call returned well.
            let mut asked = Vec::new();
            for _ in 0..2 {
                asked.push(world.ask(choice()).request_id);
            }
            let ok = json!({"status":"ok","selection":"x"});
            let served = world.answer(asked[0].as_str(), ok.clone());
            let foreign = world.answer("foreign", ok);
            let clean = !fs.reached();
            // The process ends here; the next one has a healthy disk.
            world.reopen(|_| {});
            world.eventually("every line is mirrored", |w| w.records.unmarked() == 0);
            for id in &asked {
                let item = world.prompts.get(id).unwrap_or_else(|| panic!("{fault:?} at {k}: {id} is gone"));
                let answered = item.answer.map(|a| a.status);
                let expected = (served.is_ok() && *id == asked[0]).then_some(Status::Ok);
                assert_eq!(answered, expected, "{fault:?} at {k}: {id}");
                let lines = world
                    .lines()
                    .iter()
                    .filter(|l| l["requestId"] == id.as_str() && l["action"] == "request")
                    .count();
                assert!(lines >= 1, "{fault:?} at {k}: {id} is not in the log");
            }
            if foreign.is_ok() {
                let answer = world.prompts.get(&id("foreign")).unwrap().answer;
                assert_eq!(answer.map(|a| a.status), Some(Status::Ok), "{fault:?} at {k}");
            }
            // At most the one line that was being written is unreadable, and it hides nothing.
            assert!(world.prompts.health().unreadable_lines() <= 1, "{fault:?} at {k}");
            let later = world.ask(kv()).request_id;
            assert!(world.ids(View::NeedsYou).contains(&later.to_string()));
            if clean {
                assert!(k > 8, "the faults reached {k} operations only");
                break;
            }
        }
    }
}

#[test]
fn a_kill_at_every_byte_of_an_append_costs_one_line_at_most() {
    let line = foreign_request("torn", json!({"kind":"kv","title":"标题","fields":[{"key":"a"}]}));
    for cut in 1..line.len() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("ui-prompts.jsonl");
        append(&log, foreign_request("before", kv()).as_bytes());
        append(&log, &line.as_bytes()[..cut]);
        let records = std::sync::Arc::new(chatos_prompts::testing::TestRecords::memory());
        let prompts = open(dir.path(), &records, |_| {});
        let asked =
            prompts.request(&chatos_prompts::Ask::new(chatos_prompts::Owner::user(), "t", kv())).unwrap();
        append(&log, foreign_request("after", kv()).as_bytes());
        prompts.catch_up();
        let mut found = ids(&prompts, View::NeedsYou);
        found.retain(|id| id != "torn");
        found.sort();
        let mut expected = vec!["before".to_owned(), "after".to_owned(), asked.request_id.to_string()];
        expected.sort();
        assert_eq!(found, expected, "cut at {cut}");
        assert!(prompts.health().unreadable_lines() <= 1, "cut at {cut}");
    }
}
