//! What a model is sent of a chat.

use chatos_model::ToolCall;

use super::*;
use crate::transcript::Summary;

pub(crate) fn entry(seq: i64, run: &str, speaker: Speaker, text: &str) -> Entry {
    Entry {
        id: format!("m{seq}"),
        seq,
        run_id: run.to_owned(),
        speaker,
        text: text.to_owned(),
        ..Entry::default()
    }
}

pub(crate) fn calling(seq: i64, run: &str, ids: &[&str]) -> Entry {
    let calls = ids.iter().map(|id| ToolCall {
        id: (*id).to_owned(),
        name: "t".to_owned(),
        arguments: "{}".to_owned(),
        opaque: None,
    });
    Entry { calls: calls.collect(), ..entry(seq, run, Speaker::Assistant, "") }
}

pub(crate) fn result(seq: i64, run: &str, id: &str) -> Entry {
    Entry { call_id: id.to_owned(), ..entry(seq, run, Speaker::Tool, id) }
}

fn texts(said: &[Said]) -> Vec<String> {
    said.iter()
        .map(|said| match &said.message {
            Message::User { text, .. } => format!("u:{text}"),
            Message::Assistant { text, tool_calls, .. } => format!("a:{text}{}", tool_calls.len()),
            Message::Tool { call_id, is_error, .. } => format!("t:{call_id}:{is_error}"),
        })
        .collect()
}

#[test]
fn a_message_sent_meanwhile_comes_after_the_run_it_waited_for() {
    let chat = Transcript {
        entries: vec![
            entry(1, "r1", Speaker::User, "one"),
            calling(2, "r1", &["c1"]),
            entry(3, "r2", Speaker::User, "two"),
            result(4, "r1", "c1"),
            entry(5, "r1", Speaker::Assistant, "done"),
        ],
        ..Transcript::default()
    };
    let all = ["u:one", "a:1", "t:c1:false", "a:done0", "u:two"];
    assert_eq!(texts(&conversation(&chat, "r2", &Origin::default(), &Shape::OPEN)), all);
    let waiting = Transcript { queued: vec!["r2".to_owned()], ..chat };
    assert_eq!(texts(&conversation(&waiting, "r1", &Origin::default(), &Shape::OPEN)), all[..4]);
}

#[test]
fn a_run_that_is_continued_late_comes_after_what_was_said_meanwhile() {
    let chat = Transcript {
        entries: vec![
            entry(1, "r1", Speaker::User, "one"),
            calling(2, "r1", &["c1"]),
            entry(3, "r2", Speaker::User, "two"),
            entry(4, "r2", Speaker::Assistant, "done"),
            result(5, "r1", "c1"),
        ],
        ..Transcript::default()
    };
    let wanted = ["u:two", "a:done0", "u:one", "a:1", "t:c1:false"];
    assert_eq!(texts(&conversation(&chat, "r1", &Origin::default(), &Shape::OPEN)), wanted);
}

#[test]
fn every_call_has_a_result_right_behind_it_whatever_was_written_between() {
    let chat = Transcript {
        entries: vec![
            entry(1, "r", Speaker::User, "go"),
            calling(2, "r", &["c1", "c2"]),
            entry(3, "r", Speaker::User, "correction"),
            result(4, "r", "c2"),
            entry(5, "r", Speaker::Notice, "shown only"),
            result(6, "r", "stray"),
        ],
        ..Transcript::default()
    };
    let wanted = ["u:go", "a:2", "t:c1:true", "t:c2:false", "u:correction"];
    assert_eq!(texts(&conversation(&chat, "r", &Origin::default(), &Shape::OPEN)), wanted);
}

#[test]
fn what_a_summary_covers_is_left_out_but_not_what_waited() {
    let chat = Transcript {
        entries: vec![
            entry(1, "r1", Speaker::User, "old"),
            entry(2, "r2", Speaker::User, "waited"),
            entry(3, "r1", Speaker::Assistant, "older"),
        ],
        summary: Some(Summary {
            id: "s".to_owned(),
            to_seq: 3,
            run_id: "r1".to_owned(),
            text: "sum".to_owned(),
            block: String::new(),
            left_out: Vec::new(),
        }),
        ..Transcript::default()
    };
    assert_eq!(texts(&conversation(&chat, "r2", &Origin::default(), &Shape::OPEN)), ["u:waited"]);
}

#[test]
fn a_block_stands_beside_the_words_of_a_person_and_is_not_part_of_them() {
    let chat = Transcript {
        entries: vec![
            Entry { block: "[instructions] x".to_owned(), ..entry(1, "r", Speaker::User, "one") },
            entry(2, "r", Speaker::Assistant, "done"),
        ],
        ..Transcript::default()
    };
    let said = conversation(&chat, "r", &Origin::default(), &Shape::OPEN);
    assert_eq!(texts(&said), ["u:one", "a:done0"]);
    assert_eq!(said.iter().map(|said| said.block.as_str()).collect::<Vec<_>>(), ["[instructions] x", ""]);
}
