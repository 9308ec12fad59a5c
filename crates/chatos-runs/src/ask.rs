//! Questions of a run itself: into the queue, and the verified answer out of it.

use std::sync::Arc;
use std::time::Duration;

use chatos_prompts::{Ask, Effect, Owner, RunId, Scope};
use chatos_tool::{Fault, Trace};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::parts::RunParts;

/// The longest single wait; what has expired is closed in between.
const STEP: Duration = Duration::from_secs(25);

/// What a person said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    /// `ok`, `canceled`, `timeout` or `error`.
    pub(crate) status: String,
    /// What was chosen, when something was.
    pub(crate) selection: Option<String>,
}

/// Asks under an id that is written down already; blocks on the database. The same question again is that one,
/// also when it was asked in another language or by an earlier version.
pub(crate) fn put(
    parts: &RunParts,
    id: &str,
    prompt: &Value,
    effect: Effect,
    source: &str,
    trace: &Trace,
) -> Result<String, Fault> {
    let mut ask = Ask::new(Owner::host_run(), source.to_owned(), prompt.clone());
    ask.request_id = json!(id);
    ask.run_id = json!(trace.run_id);
    ask.session_id.clone_from(&trace.session_id);
    ask.trace = Some(json!(trace));
    ask.effect = Some(effect);
    match parts.inbox.questions()?.ask(&ask) {
        Err(fault) if fault.code == "id_conflict" => Ok(id.to_owned()),
        asked => asked,
    }
}

/// Waits for the answer, however long it takes.
pub(crate) async fn wait(parts: &Arc<RunParts>, request_id: &str) -> Result<Said, Fault> {
    loop {
        let desk = parts.inbox.questions()?;
        // Right after a start the queue is still being read.
        desk.prompts().ready().await;
        let limit = desk.prompts().next_expiry().map_or(STEP, |left| STEP.min(left));
        let never = CancellationToken::new();
        let state = desk.wait(request_id, limit, &never).await?;
        if state["state"] == "closed" {
            let response = &state["response"];
            let selection = match &response["selection"] {
                Value::String(one) => Some(one.clone()),
                Value::Array(many) => many.first().and_then(Value::as_str).map(str::to_owned),
                _ => None,
            };
            let status = response["status"].as_str().unwrap_or("error").to_owned();
            return Ok(Said { selection: selection.filter(|_| status == "ok"), status });
        }
    }
}

/// Closes the open questions of a run that is over; blocks on the database.
pub(crate) fn withdraw_all(parts: &RunParts, run_id: &str) -> Result<(), Fault> {
    if let Ok(run) = RunId::parse(run_id) {
        parts.inbox.questions()?.prompts().abort(Scope::Run(&run));
    }
    Ok(())
}
