//! The work of another program as a run (other-agents §2.3): its calls and questions are the steps. Nothing of it is kept
//! twice: the session is in the list of programs, calls are in the tool log, questions in the queue.

use std::collections::HashMap;

use chatos_store::{RunRow, parse_time};
use chatos_wire::client::{ClientQuestion, ClientSession};
use chatos_wire::run::{RunView, Sizes, StepView};
use chatos_wire::{RunKind, RunState, StepKind, StepState};
use serde_json::{Value, json};

use crate::views::run_view;

/// What ids of programs' sessions begin with; no other run has such an id.
const PREFIX: &str = "cl_";

/// Whether this is the id of a program's session.
pub fn is_client_run(id: &str) -> bool {
    id.starts_with(PREFIX)
}

/// The session as a run, without its steps.
pub fn client_run(session: ClientSession) -> RunView {
    let state = match (session.waiting > 0, session.connected) {
        (true, _) => RunState::WaitingPrompt,
        (false, true) => RunState::Running,
        (false, false) => RunState::Done,
    };
    let name = if session.number > 1 { format!("{} {}", session.name, session.number) } else { session.name };
    let task = match &session.project {
        Some(project) => format!("{name} · {project}"),
        None => name,
    };
    let at = |text: &str| parse_time(text).unwrap_or_default();
    let (first, last) = (at(&session.first_at), at(&session.seen_at));
    run_view(RunRow {
        kind: RunKind::Client,
        // A program's work belongs to no chat of ours.
        agent_id: session.agent.unwrap_or_default(),
        root_run_id: session.id.clone(),
        id: session.id,
        task,
        state,
        created_at: first,
        started_at: Some(first),
        updated_at: last,
        finished_at: (state == RunState::Done).then_some(last),
        ..RunRow::default()
    })
}

/// Its calls, as the tool log has them, and its questions, in the order they began.
pub fn client_steps(records: &[Value], questions: Vec<ClientQuestion>) -> Vec<StepView> {
    let mut steps: Vec<(String, StepView)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    // The log is read from its end; a call begins before it ends.
    for record in records.iter().rev() {
        let text = |key: &str| record[key].as_str().unwrap_or_default().to_owned();
        let (call, at) = (text("callId"), text("ts"));
        let place = *places.entry(call.clone()).or_insert_with(|| {
            steps.push((at.clone(), call_step(record, call, &at)));
            steps.len() - 1
        });
        if record["type"] != "tool_call" {
            ended(&mut steps[place].1, record, &at);
        }
    }
    steps.extend(questions.into_iter().map(|question| (question.asked_at.clone(), question_step(question))));
    steps.sort_by_key(|(at, _)| parse_time(at).unwrap_or_default());
    let numbered = steps.into_iter().zip(1..).map(|((_, step), seq)| StepView { seq, ..step });
    numbered.collect()
}

fn call_step(record: &Value, call: String, at: &str) -> StepView {
    let text = |key: &str| record[key].as_str().map(str::to_owned);
    StepView {
        kind: StepKind::Tool,
        call_id: Some(call),
        server: text("server"),
        server_name: text("server"),
        tool: text("toolName"),
        input: record.get("args").cloned(),
        sizes: None,
        ..empty(at)
    }
}

fn ended(step: &mut StepView, record: &Value, at: &str) {
    let text = |key: &str| record[key].as_str().map(str::to_owned);
    let number = |key: &str| record[key].as_i64();
    step.state = StepState::Done;
    step.status = text("status");
    step.code = text("code").filter(|_| record["isError"] == true);
    // Without the time a person was being asked.
    step.elapsed_ms = number("elapsedMs").map(|all| (all - number("waitedMs").unwrap_or_default()).max(0));
    step.finished_at = Some(at.to_owned());
    step.output = record.get("error").or_else(|| record.get("data")).filter(|told| !told.is_null()).cloned();
    step.sizes = record["size"]
        .as_u64()
        .and_then(|size| size.try_into().ok())
        .map(|output| Sizes { input: 0, output });
}

fn question_step(question: ClientQuestion) -> StepView {
    let open = question.status.is_none();
    StepView {
        kind: StepKind::Prompt,
        state: if open { StepState::Sent } else { StepState::Done },
        input: (!question.title.is_empty()).then(|| json!({ "text": question.title })),
        status: question.status.or_else(|| Some("open".to_owned())),
        code: question.code,
        finished_at: question.answered_at,
        request_id: Some(question.request_id),
        ..empty(&question.asked_at)
    }
}

fn empty(at: &str) -> StepView {
    StepView {
        seq: 0,
        kind: StepKind::Tool,
        span_id: String::new(),
        parent_span_id: String::new(),
        state: StepState::Sent,
        call_id: None,
        server: None,
        server_name: None,
        tool: None,
        read_only: false,
        idempotent: false,
        attempt: 1,
        status: None,
        code: None,
        elapsed_ms: None,
        started_at: Some(at.to_owned()),
        finished_at: None,
        child_run_id: None,
        request_id: None,
        task_id: None,
        input: None,
        output: None,
        sizes: None,
        usage: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session() -> ClientSession {
        serde_json::from_value(json!({
            "id": "cl_1", "kind": "gateway", "name": "codex", "number": 2, "unconfirmed": false,
            "project": "shop", "agent": "a", "firstAt": "2026-01-01T00:00:00.000Z",
            "seenAt": "2026-01-01T00:01:00.000Z", "connected": true, "waiting": 0, "mayDecide": false,
        }))
        .unwrap()
    }

    #[test]
    fn a_session_is_a_run_that_waits_works_or_is_over() {
        let of =
            |connected: bool, waiting: usize| client_run(ClientSession { connected, waiting, ..session() });
        assert_eq!(of(true, 0).state, RunState::Running);
        assert_eq!(of(true, 1).state, RunState::WaitingPrompt);
        let over = of(false, 0);
        assert_eq!((over.state, over.kind), (RunState::Done, RunKind::Client));
        assert_eq!(over.task, "codex 2 · shop");
        assert!(over.finished_at.is_some() && of(true, 0).finished_at.is_none());
        assert!(is_client_run(&over.id) && !is_client_run("01a1ed68"));
    }

    #[test]
    fn calls_and_questions_are_steps_in_the_order_they_began() {
        let log = [
            json!({ "type": "tool_call", "callId": "b", "ts": "2026-01-01T00:00:05.000Z", "server": "s", "toolName": "still" }),
            json!({ "type": "tool_error", "callId": "a", "ts": "2026-01-01T00:00:04.000Z", "server": "s", "toolName": "write",
                "status": "error", "code": "conflict", "isError": true, "elapsedMs": 3000, "waitedMs": 2500, "size": 7,
                "error": { "message": "no" } }),
            json!({ "type": "tool_call", "callId": "a", "ts": "2026-01-01T00:00:01.000Z", "server": "s", "toolName": "write",
                "args": { "path": "x" } }),
        ];
        let asked: ClientQuestion = serde_json::from_value(json!({
            "requestId": "q", "title": "Write?", "askedAt": "2026-01-01T00:00:02.000Z",
            "answeredAt": "2026-01-01T00:00:03.000Z", "status": "ok",
        }))
        .unwrap();
        let steps = client_steps(&log, vec![asked]);
        let told: Vec<_> = steps.iter().map(|step| (step.seq, step.tool.as_deref(), step.state)).collect();
        assert_eq!(
            told,
            [
                (1, Some("write"), StepState::Done),
                (2, None, StepState::Done),
                (3, Some("still"), StepState::Sent),
            ]
        );
        assert_eq!((steps[0].elapsed_ms, steps[0].code.as_deref()), (Some(500), Some("conflict")));
        assert_eq!(steps[0].input, Some(json!({ "path": "x" })));
        assert_eq!(steps[1].request_id.as_deref(), Some("q"));
        assert_eq!(steps[1].input, Some(json!({ "text": "Write?" })));
    }
}
