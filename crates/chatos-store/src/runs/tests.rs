//! One moment is one transaction; without the lease nothing is written; what is cut off is found again.

use super::*;
use crate::db::tests::options;
use crate::messages::MessageRow;
use crate::usage::UsageBy;
use chatos_wire::{MessageKind, MessageRole};

fn store() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(options(dir.path())).unwrap();
    (dir, store)
}

fn session(id: &str) -> SessionRow {
    SessionRow { id: id.to_owned(), created_at: 1, updated_at: 1, ..SessionRow::default() }
}

fn message(id: &str, session: &str, role: MessageRole, content: &str) -> NewMessage {
    let row = MessageRow {
        id: id.to_owned(),
        session_id: session.to_owned(),
        run_id: "r".to_owned(),
        role,
        content: content.to_owned(),
        created_at: 5,
        ..MessageRow::default()
    };
    NewMessage { row, ..NewMessage::default() }
}

fn begin(store: &Store) {
    let run = RunRow { id: "r".to_owned(), session_id: "s".to_owned(), created_at: 2, ..RunRow::default() };
    store
        .enqueue_run(run, Some(session("s")), Some(message("m1", "s", MessageRole::User, "hello there")))
        .unwrap();
}

fn write(steps: Vec<StepWrite>) -> RunWrite {
    RunWrite { run_id: "r".to_owned(), owner: "me".to_owned(), steps, ..RunWrite::default() }
}

#[test]
fn a_message_begins_one_run_however_often_it_comes() {
    let (_dir, store) = store();
    begin(&store);
    let again =
        RunRow { id: "r2".to_owned(), session_id: "s".to_owned(), created_at: 3, ..RunRow::default() };
    let refused = store.enqueue_run(again, None, Some(message("m1", "s", MessageRole::User, "hello there")));
    assert_eq!(refused.unwrap_err().kind, StoreErrorKind::Conflict);
    assert!(store.run("r2").unwrap().is_none());
}

#[test]
fn a_moment_is_whole_or_not_at_all_and_needs_the_lease() {
    let (_dir, store) = store();
    begin(&store);
    assert_eq!(store.write_run(write(Vec::new())).unwrap_err().kind, StoreErrorKind::Conflict);
    let run = store.claim_run("r", "me", 99, &[RunState::Queued]).unwrap();
    assert_eq!((run.state, run.lease_owner.as_str()), (RunState::Running, "me"));
    assert_eq!(
        store.claim_run("r", "you", 99, &[RunState::Queued]).unwrap_err().kind,
        StoreErrorKind::Conflict
    );
    let step = StepRow { seq: 1, kind: StepKind::Tool, call_id: Some("c1".to_owned()), ..StepRow::default() };
    let args = store.keep(&"a".repeat(9000)).unwrap();
    store
        .write_run(write(vec![StepWrite::Plan { row: Box::new(step.clone()), input: args.clone() }]))
        .unwrap();
    // The second half fails (the same step again), so the first half is undone.
    let twice = RunWrite {
        messages: vec![MessageWrite::Append(Box::new(message("m2", "s", MessageRole::Tool, "x")))],
        ..write(vec![StepWrite::Plan { row: Box::new(step), input: args }])
    };
    assert_eq!(store.write_run(twice).unwrap_err().kind, StoreErrorKind::Conflict);
    assert_eq!(store.messages("s", None, 10).unwrap().0.len(), 1);
    store
        .write_run(write(vec![StepWrite::Sent { seq: 1, task_id: String::new(), detail: String::new() }]))
        .unwrap();
    let done = StepWrite::Finish {
        seq: 1,
        state: StepState::Done,
        status: "ok".to_owned(),
        code: String::new(),
        elapsed_ms: Some(3),
        output: store.keep("{}").unwrap(),
    };
    let end = RunWrite {
        messages: vec![MessageWrite::Append(Box::new(message("m2", "s", MessageRole::Tool, "x")))],
        change: Some(RunChange { state: Some(RunState::Done), finished: true, ..RunChange::default() }),
        ..write(vec![done])
    };
    store.write_run(end).unwrap();
    let steps = store.steps("r").unwrap();
    assert_eq!((steps[0].state, steps[0].status.as_str()), (StepState::Done, "ok"));
    assert_eq!(store.kept(&steps[0].input_blob).unwrap().len(), 9000);
    assert_eq!(store.blob_state(true).unwrap().miscounted, 0);
    assert_eq!(store.run("r").unwrap().unwrap().lease_owner, "");
    assert_eq!(store.write_run(write(Vec::new())).unwrap_err().kind, StoreErrorKind::Conflict);
}

#[test]
fn what_a_dead_host_left_is_interrupted_and_can_be_taken_up_or_given_up() {
    let (_dir, store) = store();
    begin(&store);
    store.claim_run("r", "dead", 99, &[RunState::Queued]).unwrap();
    assert!(store.interrupt_runs("dead").unwrap().is_empty());
    let found = store.interrupt_runs("me").unwrap();
    assert_eq!((found.len(), found[0].state), (1, RunState::Interrupted));
    assert!(store.interrupt_runs("me").unwrap().is_empty());
    store.claim_run("r", "me", 99, &[RunState::Interrupted]).unwrap();
    assert_eq!(store.discard_run("r").unwrap_err().kind, StoreErrorKind::Conflict);
    store.interrupt_runs("other").unwrap();
    store.discard_run("r").unwrap();
    assert_eq!(store.run("r").unwrap().unwrap().state, RunState::Discarded);
    assert_eq!(store.discard_run("none").unwrap_err().kind, StoreErrorKind::NotFound);
}

#[test]
fn pages_are_in_order_and_texts_are_found_in_both_languages() {
    let (_dir, store) = store();
    store.create_session(session("s")).unwrap();
    for number in 1..=25 {
        let text = if number == 7 { "你好世界 needle".to_owned() } else { format!("message {number}") };
        store.append_message(message(&format!("m{number}"), "s", MessageRole::User, &text)).unwrap();
    }
    let (page, more) = store.messages("s", None, 10).unwrap();
    assert_eq!((page[0].seq, page[9].seq, more), (16, 25, true));
    let (page, more) = store.messages("s", Some(6), 10).unwrap();
    assert_eq!((page.len(), more), (5, false));
    assert_eq!(store.append_message(message("m3", "s", MessageRole::User, "again")).unwrap(), 3);
    for text in ["needle", "好世界", "好世"] {
        assert_eq!(store.search_messages(text, 10).unwrap()[0].message_id, "m7", "{text}");
    }
    assert!(store.search_messages("\" OR *", 10).unwrap().is_empty());
    assert!(store.delete_session("s").unwrap() && !store.delete_session("s").unwrap());
    assert!(store.search_messages("needle", 10).unwrap().is_empty());
    let refused = store.append_message(message("m99", "s", MessageRole::User, "x"));
    assert_eq!(refused.unwrap_err().kind, StoreErrorKind::NotFound);
}

#[test]
fn unknown_costs_are_not_zero_and_currencies_are_not_mixed() {
    let (_dir, store) = store();
    for (id, cost, currency) in [("1", Some(1.5), "USD"), ("2", None, ""), ("3", Some(2.0), "CNY")] {
        let row = UsageRow {
            id: id.to_owned(),
            model_id: "m".to_owned(),
            input: 10,
            cost,
            currency: currency.to_owned(),
            created_at: 1_768_089_600_000,
            ..UsageRow::default()
        };
        store.add_usage(row).unwrap();
    }
    let sums = store.usage(UsageBy::Model, 0, Some("m")).unwrap();
    assert_eq!(sums.len(), 3);
    assert_eq!((sums[0].cost, sums[0].unknown_cost), (None, 1));
    let days = store.usage(UsageBy::Day, 0, None).unwrap();
    assert_eq!(days[0].key, "2026-01-11");
}

#[test]
fn every_word_comes_back_from_the_database() {
    let (_dir, store) = store();
    store.create_session(session("s")).unwrap();
    // The work of another program is read from its calls and questions; it has no row.
    let kinds: Vec<RunKind> = RunKind::ALL.iter().copied().filter(|kind| *kind != RunKind::Client).collect();
    for (number, state) in RunState::ALL.iter().enumerate() {
        for kind in &kinds {
            for role in [Role::Main, Role::Sub] {
                let id = format!("{number}-{kind}-{role}");
                let run = RunRow { id: id.clone(), kind: *kind, role, state: *state, ..RunRow::default() };
                store.enqueue_run(run, None, None).unwrap();
                let read = store.run(&id).unwrap().unwrap();
                assert_eq!((read.kind, read.role, read.state, read.stop_reason), (*kind, role, *state, None));
            }
        }
        assert_eq!(store.runs_in(&[*state]).unwrap().len(), kinds.len() * 2);
    }
    begin(&store);
    store.claim_run("r", "me", 99, &[RunState::Queued]).unwrap();
    for end in RunEnd::ALL {
        let change = RunChange { stop_reason: Some(*end), ..RunChange::default() };
        store.write_run(RunWrite { change: Some(change), ..write(Vec::new()) }).unwrap();
        assert_eq!(store.run("r").unwrap().unwrap().stop_reason, Some(*end));
    }
    let steps = StepKind::ALL.iter().flat_map(|kind| StepState::ALL.iter().map(move |state| (*kind, *state)));
    let steps: Vec<(StepKind, StepState)> = steps.collect();
    let plan = steps.iter().zip(1..).map(|((kind, state), seq)| StepWrite::Plan {
        row: Box::new(StepRow { seq, kind: *kind, state: *state, ..StepRow::default() }),
        input: Kept::default(),
    });
    store.write_run(write(plan.collect())).unwrap();
    let read: Vec<_> = store.steps("r").unwrap().into_iter().map(|step| (step.kind, step.state)).collect();
    assert_eq!(read, steps);
    for role in MessageRole::ALL {
        for kind in MessageKind::ALL {
            let mut said = message(&format!("{role}-{kind}"), "s", *role, "x");
            said.row.kind = *kind;
            store.append_message(said).unwrap();
            let read = store.message(&format!("{role}-{kind}")).unwrap().unwrap();
            assert_eq!((read.role, read.kind), (*role, *kind));
        }
    }
}

#[test]
fn an_unknown_word_is_damage_with_its_place() {
    let (_dir, store) = store();
    begin(&store);
    for (sql, said) in [
        ("UPDATE runs SET state = 'sleeping'", "runs `r`: `sleeping` is no RunState"),
        ("UPDATE runs SET state = 'done', stop_reason = 'bored'", "runs `r`: `bored` is no RunEnd"),
    ] {
        store.write(move |connection| Ok(connection.execute(sql, [])?)).unwrap();
        for read in
            [store.run("r").map(drop), store.runs(&RunFilter { limit: 9, ..RunFilter::default() }).map(drop)]
        {
            let error = read.unwrap_err();
            assert_eq!((error.kind, error.message.as_str()), (StoreErrorKind::Corrupt, said));
        }
    }
}

#[test]
fn a_page_of_a_list_is_read_from_an_index_in_its_order() {
    let (_dir, store) = store();
    let runs = |filter: RunFilter| super::read::list(&filter).0;
    let after = Some((1, "x".to_owned()));
    let queries = [
        runs(RunFilter::default()),
        runs(RunFilter { before: after.clone(), ..RunFilter::default() }),
        runs(RunFilter { state: Some(RunState::Failed), before: after.clone(), ..RunFilter::default() }),
        runs(RunFilter { kind: Some(RunKind::Sub), before: after.clone(), ..RunFilter::default() }),
        runs(RunFilter { session_id: Some("x".to_owned()), before: after, ..RunFilter::default() }),
        crate::sessions::list(),
        crate::usage::sums(UsageBy::Run, true),
        crate::usage::sums(UsageBy::RootRun, true),
        crate::usage::sums(UsageBy::Session, true),
        "SELECT * FROM tasks WHERE 1 ORDER BY updated_at DESC, id DESC LIMIT 50".to_owned(),
        "SELECT * FROM tasks WHERE status = 'todo' ORDER BY updated_at DESC, id DESC LIMIT 50".to_owned(),
        "SELECT * FROM tasks WHERE scope = 'chat' AND session_id = 'x' ORDER BY updated_at DESC, id DESC LIMIT 50"
            .to_owned(),
    ];
    for query in queries {
        let plan: Vec<String> = store
            .read(|connection| {
                let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {query}"))?;
                Ok(statement.raw_query().mapped(|row| row.get(3)).collect::<Result<_, _>>()?)
            })
            .unwrap();
        let unordered = plan.iter().any(|step| step == "USE TEMP B-TREE FOR ORDER BY");
        let through_all = plan.iter().any(|step| step.starts_with("SCAN") && !step.contains("INDEX"));
        assert!(!unordered && !through_all, "{query}\n{plan:#?}");
    }
}
