//! The JSON blocks of the protocol documents do what the documents say.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::unnecessary_wraps,
    reason = "a test that cannot set itself up has failed"
)]

mod common;

use std::time::Duration;

use chatos_prompts::async_task::{Ack, AsyncTask, is_result_of};
use chatos_prompts::{Ask, AskError, ItemState, Owner, Status, TaskId, View};
use common::*;
use serde_json::Value;

/// A fenced block: the words after `json`, its lines, and where it begins.
struct Block {
    words: Vec<String>,
    lines: Vec<Value>,
    at: usize,
}

fn blocks(name: &str) -> Vec<Block> {
    let path = format!("{}/../../docs/protocols/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    let mut all = Vec::new();
    let mut open: Option<Block> = None;
    for (at, line) in text.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (Some(_), Some("")) => all.extend(open.take()),
            (Some(block), _) if block.words.first().is_some_and(|w| w == "json") => {
                let value = serde_json::from_str(line);
                block.lines.push(value.unwrap_or_else(|e| panic!("{name}:{}: {e}", at + 1)));
            }
            (None, Some(info)) => {
                let words = info.split_whitespace().map(str::to_owned).collect();
                open = Some(Block { words, lines: Vec::new(), at: at + 1 });
            }
            _ => {}
        }
    }
    assert!(open.is_none(), "{name}: a block does not end");
    all.retain(|block| block.words.first().is_some_and(|w| w == "json"));
    for block in &mut all {
        block.words.remove(0);
        assert!(!block.lines.is_empty(), "{name}:{}: nothing in it", block.at);
    }
    all
}

fn text(line: &Value) -> String {
    format!("{line}\n")
}

fn line(block: &Block) {
    let world = World::new();
    block.lines.iter().for_each(|line| world.append(&text(line)));
    world.prompts.catch_up();
    let health = world.prompts.health();
    assert!(health.faults.is_empty(), "line {}: {:?}", block.at, health.faults);
}

#[test]
fn the_protocol_of_prompts() {
    let mut kinds = std::collections::BTreeMap::<String, usize>::new();
    for block in blocks("ui-prompts.md") {
        let words: Vec<&str> = block.words.iter().map(String::as_str).collect();
        *kinds.entry(words[0].to_owned()).or_default() += 1;
        let at = block.at;
        match words.as_slice() {
            ["line"] => line(&block),
            ["exchange"] => {
                let [request, response] = block.lines.as_slice() else { panic!("line {at}: two lines") };
                let world = World::new();
                world.append(&text(request));
                world.prompts.catch_up();
                let id = request["requestId"].as_str().unwrap();
                let item = world.prompts.get(&common::id(id)).unwrap();
                assert!(item.problem.is_none(), "line {at}: {:?}", item.problem);
                world.answer(id, response["response"].clone()).unwrap();
                let written = world.lines().pop().unwrap();
                assert_eq!(written["response"], response["response"], "line {at}");
                assert_eq!(written["requestId"], response["requestId"], "line {at}");
                // And the same answer written by the other program closes it, valid.
                let world = World::new();
                world.append(&(text(request) + &text(response)));
                world.prompts.catch_up();
                let item = world.prompts.get(&common::id(id)).unwrap();
                assert_eq!(item.state, ItemState::Closed, "line {at}");
                assert_eq!(item.answer.unwrap().status, Status::Ok, "line {at}");
            }
            ["problem"] => {
                let world = World::new();
                block.lines.iter().for_each(|line| world.append(&text(line)));
                assert_eq!(world.ids(View::NeedsYou).len(), block.lines.len(), "line {at}");
                for request in &block.lines {
                    let id = request["requestId"].as_str().unwrap();
                    assert!(world.prompts.get(&common::id(id)).unwrap().problem.is_some(), "line {at}: {id}");
                    world.answer(id, serde_json::json!({"status":"canceled"})).unwrap();
                }
                assert_eq!(world.ids(View::NeedsYou), [""; 0]);
            }
            ["ask"] => {
                let world = World::new();
                let asked = world.prompts.request(&Ask::from_payload(Owner::user(), "t", &block.lines[0]));
                let asked = asked.unwrap();
                assert_eq!(
                    Some(asked.request_id.as_str()),
                    block.lines[0]["requestId"].as_str(),
                    "line {at}"
                );
                assert!(world.lines()[0]["chatos"]["sig"].is_string());
            }
            ["refused", code, path] => {
                let world = World::new();
                let asked = world.prompts.request(&Ask::from_payload(Owner::user(), "t", &block.lines[0]));
                let Err(AskError::Invalid(problems)) = asked else { panic!("line {at}: {asked:?}") };
                let found: Vec<(String, &str)> =
                    problems.iter().map(|p| (p.code.to_string(), p.path.as_str())).collect();
                assert_eq!(found, [((*code).to_owned(), *path)], "line {at}");
                assert_eq!(world.lines().len(), 0);
            }
            other => panic!("line {at}: {other:?}"),
        }
    }
    assert!(kinds["exchange"] >= 6 && kinds["refused"] >= 4 && kinds["line"] >= 2, "{kinds:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_protocol_of_async_tasks() {
    let mut results = 0;
    for block in blocks("async-task.md") {
        let words: Vec<&str> = block.words.iter().map(String::as_str).collect();
        let at = block.at;
        match words.as_slice() {
            ["line"] => line(&block),
            // Read by the plugin loader, whose own tests cover its rules.
            ["config"] => assert!(block.lines[0]["asyncTask"]["tools"].is_array(), "line {at}"),
            ["ack"] => {
                let world = World::new();
                let mut task = AsyncTask::begin(&world.prompts, TaskId::mint()).unwrap();
                let ack = Ack { texts: vec![block.lines[0].to_string()], structured: None };
                task.acknowledged(&ack, "taskId");
                let id = block.lines[0]["taskId"].as_str().unwrap();
                world.append(&foreign_request(id, serde_json::json!({"kind":"result","result":"by ack"})));
                let got = task.finish(Duration::from_secs(1), Duration::from_secs(60), &never()).await;
                assert!(got.unwrap().id_from_ack, "line {at}");
            }
            ["result", id] => {
                results += 1;
                for entry in &block.lines {
                    assert!(is_result_of(entry.as_object().unwrap(), id), "line {at}");
                    let world = World::new();
                    let mut task = AsyncTask::begin(&world.prompts, TaskId::given(id).unwrap()).unwrap();
                    world.append(&text(entry));
                    let got = task.finish(Duration::from_secs(1), Duration::from_secs(60), &never()).await;
                    assert_eq!(got.unwrap().text(), "final output", "line {at}");
                    // The caller does not wait for this line.
                    world.eventually("the entry is taken off", |world| world.lines().len() > 1);
                    let auto = world.lines().pop().unwrap();
                    assert_eq!(auto["response"], serde_json::json!({"status":"ok","auto":true}), "line {at}");
                }
            }
            ["other", id] => {
                for entry in &block.lines {
                    assert!(!is_result_of(entry.as_object().unwrap(), id), "line {at}: {entry}");
                }
            }
            other => panic!("line {at}: {other:?}"),
        }
    }
    assert!(results >= 2);
}
