//! A question of the agent itself (`elicitation/create`, forms): one question of the queue with a card of its own, kept
//! over restarts as a permission is.

use chatos_agent::WaitKind;
use chatos_inbox::{Inbox, Question};
use chatos_prompts::{Owner, effect, elicitation};
use chatos_tool::{Fault, Trace};
use serde_json::{Value, json};

use super::Work;
use super::ask::{Decided, Pen, Sequel};
use crate::link::INVALID;
use crate::message::{Kind, ToolCall};

impl Work<'_> {
    pub(super) async fn elicit(
        &mut self,
        rpc_id: Value,
        params: &Value,
    ) -> Result<Result<(), (i64, String)>, Fault> {
        let Some(program) = self.seat.as_ref().map(|seat| seat.program.clone()) else { return Ok(Ok(())) };
        if params["mode"].as_str().unwrap_or("form") != "form" {
            return Ok(Err((INVALID, "only forms are offered".to_owned())));
        }
        let turn = self.turn;
        let (message, wanted) = (params["message"].as_str().unwrap_or_default(), &params["requestedSchema"]);
        let made = elicitation::prompt(&turn.agent, message, wanted);
        let (prompt, schema) = match (made, elicitation::Schema::parse(wanted)) {
            (Ok(prompt), Ok(schema)) => (prompt, schema),
            (Err(error), _) | (_, Err(error)) => return Ok(Err((INVALID, error.to_string()))),
        };
        self.release().await?;
        let title: String = chatos_wire::card::plain(message).chars().take(80).collect();
        let call = ToolCall {
            id: format!("\u{0}form-{}", uuid::Uuid::new_v4().simple()),
            title: if title.is_empty() { "question".to_owned() } else { title },
            kind: Kind::Think,
            ..ToolCall::default()
        };
        let id = call.id.clone();
        self.announce(call.clone()).await?;
        let Some(open) = self.calls.open.get(&id) else {
            return Ok(Err((INVALID, "too many calls".to_owned())));
        };
        let trace = Trace { span_id: Some(open.step.span_id.clone()), ..turn.run.trace.clone() };
        let observer = open.observer.clone();
        let request = self.free_id(&effect::digest_of(&json!([message, wanted]))).await?;
        self.left.remove(&request);
        observer.waiting(&request, WaitKind::Elicitation);
        self.waits(&request, rpc_id.clone(), "elicitation/create", observer);
        let mut decided = Decided::new(rpc_id, id, &call, Vec::new(), Sequel::Form);
        decided.request_id.clone_from(&request);
        self.asking.spawn(ask(self.pen.clone(), turn.inbox.clone(), decided, prompt, schema, program, trace));
        Ok(Ok(()))
    }
}

async fn ask(
    pen: Pen,
    inbox: Inbox,
    mut decided: Decided,
    prompt: Value,
    schema: elicitation::Schema,
    program: String,
    trace: Trace,
) -> Result<Decided, Fault> {
    let asked = pen
        .write(Question {
            id: Some(decided.request_id.clone()),
            kept: true,
            prompt,
            owner: Owner::host_run(),
            source: program,
            trace,
            effect: None,
            whole: None,
        })
        .await;
    match asked {
        Err(fault) if fault.code != "id_conflict" => {
            decided.status = "error".to_owned();
            decided.form = json!({ "action": "cancel" });
            return Ok(decided);
        }
        _ => {}
    }
    let verdict = inbox.verdict(&decided.request_id, &Owner::host_run()).await?;
    decided.status.clone_from(&verdict.status);
    decided.form = match elicitation::outcome(&schema, &verdict.response) {
        elicitation::Outcome::Accept(values) => json!({ "action": "accept", "content": values }),
        elicitation::Outcome::Decline => json!({ "action": "decline" }),
        elicitation::Outcome::Cancel => json!({ "action": "cancel" }),
    };
    Ok(decided)
}
