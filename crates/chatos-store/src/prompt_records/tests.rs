//! Records, outbox, private answers and drafts on a real database.

use super::*;

fn open(dir: &std::path::Path) -> Store {
    Store::open(crate::OpenOptions {
        path: dir.join("state.db"),
        backups: dir.join("backups"),
        migrate: true,
        wal: true,
        used: false,
        check: false,
    })
    .unwrap()
}

fn new(id: &str) -> NewPrompt {
    NewPrompt {
        request_id: id.into(),
        owner: "user".into(),
        entry: r#"{"prompt":{}}"#.into(),
        shown: "sha256:1".into(),
        expires_at: Some(9),
        created_at: 5,
        line: Some("line\n".into()),
        diff: None,
        tell: true,
    }
}

fn answer(by: &str) -> NewPromptAnswer {
    NewPromptAnswer {
        answer: r#"{"status":"ok"}"#.into(),
        by: by.into(),
        at: 7,
        line: Some("answer\n".into()),
        private: Some(("user".into(), "enc:v2:x".into(), Some(100))),
    }
}

#[test]
fn a_prompt_is_recorded_once_and_answered_once() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    assert!(matches!(store.insert_prompt(new("a")).unwrap(), Ok(Some(_))));
    let taken = store.insert_prompt(NewPrompt { owner: "other".into(), ..new("a") }).unwrap().unwrap_err();
    assert_eq!(taken.owner, "user");
    assert_eq!(store.answer_prompt("nobody", answer("x")).unwrap(), PromptAnswered::Unknown);
    assert!(matches!(store.answer_prompt("a", answer("person:ui")).unwrap(), PromptAnswered::Won(Some(_))));
    let PromptAnswered::Lost(first) = store.answer_prompt("a", answer("person:cli")).unwrap() else {
        panic!("two answers won")
    };
    assert_eq!((first.answer_by.as_str(), first.answered_at), ("person:ui", Some(7)));
    assert_eq!(store.prompt("a").unwrap(), Some(*first));
    assert!(store.use_prompt("a", 8).unwrap());
    assert!(!store.use_prompt("a", 9).unwrap());
    let mut seen = Vec::new();
    store.each_prompt(|id, _, answer, at| seen.push((id.to_owned(), answer.is_some(), at))).unwrap();
    assert_eq!(seen, [("a".to_owned(), true, Some(7))]);
}

#[test]
fn only_the_word_of_the_answer_itself_stops_a_run() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    store.create_session(crate::SessionRow { id: "chat".into(), ..Default::default() }).unwrap();
    let run = |id: &str, root: &str| crate::RunRow {
        id: id.into(),
        session_id: "chat".into(),
        root_run_id: root.into(),
        ..Default::default()
    };
    store.enqueue_run(run("r", "r"), None, None).unwrap();
    store.enqueue_run(run("sub", "r"), None, None).unwrap();
    for (id, run, said) in [
        ("form", "r", r#"{"status":"ok","values":{"stop":true}}"#),
        ("no", "r", r#"{"status":"canceled","stop":false,"remark":"\"stop\":true"}"#),
        ("other", "x", r#"{"status":"canceled","stop":true}"#),
    ] {
        let entry = format!(r#"{{"runId":"{run}","prompt":{{}}}}"#);
        store.insert_prompt(NewPrompt { entry, ..new(id) }).unwrap().unwrap();
        store.answer_prompt(id, NewPromptAnswer { answer: said.into(), ..answer("person:ui") }).unwrap();
    }
    assert!(!store.is_told_to_stop("r").unwrap());
    let entry = r#"{"runId":"sub","prompt":{}}"#.to_owned();
    store.insert_prompt(NewPrompt { entry, ..new("last") }).unwrap().unwrap();
    let said = r#"{"status":"canceled","stop":true}"#.to_owned();
    store.answer_prompt("last", NewPromptAnswer { answer: said, ..answer("person:ui") }).unwrap();
    assert!(store.is_told_to_stop("r").unwrap(), "what a run of its own was told counts for it");
}

#[test]
fn lines_wait_until_they_are_marked_and_go_later() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    store.insert_prompt(new("a")).unwrap().unwrap();
    store.insert_prompt(NewPrompt { line: None, ..new("restored") }).unwrap().unwrap();
    store.answer_prompt("a", answer("person:ui")).unwrap();
    let lines = store.unmirrored_lines(10).unwrap();
    assert_eq!(lines.iter().map(|l| l.line.as_str()).collect::<Vec<_>>(), ["line\n", "answer\n"]);
    store.mark_mirrored(&[lines[0].id], 1_000).unwrap();
    assert_eq!(store.unmirrored_lines(10).unwrap().len(), 1);
    store.mark_mirrored(&[lines[1].id], 1_000 + KEEP_MIRRORED_MS + 1).unwrap();
    let left: i64 =
        store.read(|c| Ok(c.query_row("SELECT count(*) FROM prompt_outbox", [], |row| row.get(0))?)).unwrap();
    assert_eq!(left, 1, "what was marked an hour ago is gone");
}

#[test]
fn a_private_answer_is_taken_once_or_expires() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    for id in ["a", "b"] {
        store.insert_prompt(new(id)).unwrap().unwrap();
        store.answer_prompt(id, answer("person:ui")).unwrap();
    }
    assert!(store.sealed_answer("a").unwrap().is_some());
    assert_eq!(store.take_sealed_answer("a").unwrap().unwrap().sealed, "enc:v2:x");
    assert_eq!(store.take_sealed_answer("a").unwrap(), None);
    assert_eq!(store.sweep_sealed_answers(99).unwrap(), 0);
    assert_eq!(store.sweep_sealed_answers(100).unwrap(), 1);
    assert_eq!(store.sealed_answer("b").unwrap(), None);
}

#[test]
fn drafts_belong_to_a_prompt_and_a_browser() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    for (client, draft) in [("one", "{\"a\":1}"), ("one", "{\"a\":2}"), ("two", "{\"b\":1}")] {
        store.save_prompt_draft("p", client, draft.into(), 50).unwrap();
    }
    assert_eq!(store.prompt_draft("p", "one").unwrap(), Some(("{\"a\":2}".into(), 50)));
    store.delete_prompt_drafts("p", Some("one")).unwrap();
    assert_eq!(store.prompt_draft("p", "one").unwrap(), None);
    assert!(store.prompt_draft("p", "two").unwrap().is_some());
    store.delete_prompt_drafts("p", None).unwrap();
    assert_eq!(store.prompt_draft("p", "two").unwrap(), None);
    store.save_prompt_draft("q", "one", "{}".into(), 50).unwrap();
    assert_eq!(store.sweep_prompt_drafts(51).unwrap(), 1);
}

#[test]
fn a_reduced_record_keeps_its_answer_time_and_nothing_of_the_text() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    store.insert_prompt(new("a")).unwrap().unwrap();
    store.reduce_prompt("a", "{}".into(), "{}".into()).unwrap();
    assert_eq!(store.prompt("a").unwrap().unwrap().entry, r#"{"prompt":{}}"#, "open ones stay whole");
    store.answer_prompt("a", answer("person:ui")).unwrap();
    store.reduce_prompt("a", "{\"x\":1}".into(), "{\"status\":\"ok\"}".into()).unwrap();
    let row = store.prompt("a").unwrap().unwrap();
    assert_eq!((row.entry.as_str(), row.answered_at), ("{\"x\":1}", Some(7)));
}

#[test]
fn the_text_of_a_question_is_kept_until_it_is_reduced() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let text = "x".repeat(100_000);
    let diff = store.keep_blob(text.as_bytes()).unwrap();
    let blob = diff.blob_id().unwrap().to_owned();
    store.insert_prompt(NewPrompt { diff: Some(diff), ..new("long") }).unwrap().unwrap();
    assert_eq!(store.prompt("long").unwrap().unwrap().diff_blob, blob);
    assert_eq!(store.blob_state(true).unwrap().miscounted, 0);
    store.answer_prompt("long", answer("person:ui")).unwrap();
    store.reduce_prompt("long", "{}".into(), "{}".into()).unwrap();
    assert_eq!(store.prompt("long").unwrap().unwrap().diff_blob, "");
    let now = store.blob_state(true).unwrap();
    assert_eq!(
        (now.miscounted, now.rows),
        (0, 1),
        "counted down; the sweep takes it after the days of grace"
    );
}
