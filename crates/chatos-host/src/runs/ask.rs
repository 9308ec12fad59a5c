//! Questions of a run itself: into the queue, and the verified answer out of it.

use std::sync::Arc;
use std::time::Duration;

use chatos_prompts::Owner;
use chatos_tool::{Fault, Lang, Trace};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::host::Host;

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

/// Asks; blocks on the database.
pub(crate) fn put(host: &Host, prompt: &Value, source: &str, trace: &Trace) -> Result<String, Fault> {
    let payload = json!({
        "prompt": prompt, "owner": Owner::host_run().as_str(), "trace": trace,
        "runId": trace.run_id, "sessionId": trace.session_id,
    });
    let asked = host.prompts()?.request(&payload, source, Lang::En)?;
    Ok(asked["requestId"].as_str().unwrap_or_default().to_owned())
}

/// Waits for the answer, however long it takes.
pub(crate) async fn wait(host: &Arc<Host>, request_id: &str) -> Result<Said, Fault> {
    loop {
        let desk = host.shared_prompts()?;
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
pub(crate) fn withdraw_all(host: &Host, run_id: &str) -> Result<(), Fault> {
    let desk = host.prompts()?;
    let wanted = crate::prompts::PromptList {
        view: Some("pending".to_owned()),
        run_id: Some(run_id.to_owned()),
        limit: Some(200),
        ..crate::prompts::PromptList::default()
    };
    let list = desk.list(&wanted, Lang::En)?;
    for item in list["items"].as_array().into_iter().flatten() {
        let (Some(id), owner) = (item["requestId"].as_str(), item["owner"].clone()) else { continue };
        if let Err(fault) = desk.withdraw(id, &owner, "aborted") {
            tracing::debug!(%fault, id, "a question of a stopped run stays");
        }
    }
    Ok(())
}
