//! What to do with a call that the journal knows and that has no result (agents §8).

use crate::dispatch::Resumed;

/// What the journal knows of a call: the newest of its steps.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StepFacts {
    /// Its place in the run.
    pub seq: i64,
    /// The call.
    pub call_id: String,
    /// Bytes may have gone out.
    pub sent: bool,
    /// By a word that counts.
    pub read_only: bool,
    /// By a word that counts.
    pub idempotent: bool,
    /// Which try this is.
    pub attempt: i64,
    /// The question it waits for.
    pub request_id: Option<String>,
    /// The AsyncTask and where its result is looked for.
    pub task: Option<(String, u64)>,
    /// The id the server of the AsyncTask minted itself.
    pub ack_id: Option<String>,
    /// A modern server waits for the answer before it goes on; the call goes out again with it.
    pub open_ask: bool,
    /// The task of the server.
    pub mcp_task: Option<String>,
    /// The run of a subagent.
    pub child_run_id: Option<String>,
    /// A built-in tool asked this and has done nothing yet.
    pub asked: Option<String>,
    /// A person already decided what to do with it, after it was found uncertain.
    pub run_again: bool,
    /// The question in which they had approved it before, which they decided about with that word.
    pub approved: Option<String>,
}

impl StepFacts {
    /// Where a call goes on that a person had run again: at its beginning, with what they approved.
    pub fn once_more(&self) -> Option<Resumed> {
        let request_id = self.approved.clone()?;
        Some(Resumed::Again { request_id })
    }
}

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Call it; it was never called.
    Execute,
    /// Call it again; that is harmless.
    Again,
    /// Do not call it; wait on.
    Wait(Resumed),
    /// Its subagent goes on; the call finds it by its own id.
    Child,
    /// Nobody but a person can know.
    Uncertain,
}

/// The table of agents §8.
pub fn decide(step: Option<&StepFacts>) -> Decision {
    let Some(step) = step else { return Decision::Execute };
    if !step.sent {
        return match &step.request_id {
            Some(id) => Decision::Wait(Resumed::Prompt { request_id: id.clone() }),
            None => Decision::Execute,
        };
    }
    if let Some(id) = &step.asked {
        return Decision::Wait(Resumed::Asked { request_id: id.clone() });
    }
    if let Some((task_id, cursor)) = &step.task {
        return Decision::Wait(Resumed::AsyncTask {
            task_id: task_id.clone(),
            cursor: *cursor,
            also: step.ack_id.clone(),
        });
    }
    if let Some(task_id) = &step.mcp_task {
        return Decision::Wait(Resumed::McpTask { task_id: task_id.clone() });
    }
    if let (true, Some(id)) = (step.open_ask, &step.request_id) {
        return Decision::Wait(Resumed::Prompt { request_id: id.clone() });
    }
    if step.child_run_id.is_some() {
        return Decision::Child;
    }
    if step.read_only || step.idempotent || step.run_again {
        return Decision::Again;
    }
    Decision::Uncertain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_row_by_row() {
        let sent = StepFacts { sent: true, ..StepFacts::default() };
        assert_eq!(decide(None), Decision::Execute);
        assert_eq!(decide(Some(&StepFacts::default())), Decision::Execute);
        let asked = StepFacts { request_id: Some("q".to_owned()), ..StepFacts::default() };
        let wait = Decision::Wait(Resumed::Prompt { request_id: "q".to_owned() });
        assert_eq!(decide(Some(&asked)), wait);
        assert_eq!(decide(Some(&StepFacts { read_only: true, ..sent.clone() })), Decision::Again);
        assert_eq!(decide(Some(&StepFacts { idempotent: true, ..sent.clone() })), Decision::Again);
        let asked = StepFacts { asked: Some("q".to_owned()), ..sent.clone() };
        let wait = Decision::Wait(Resumed::Asked { request_id: "q".to_owned() });
        assert_eq!(decide(Some(&asked)), wait);
        let task = StepFacts { task: Some(("t".to_owned(), 7)), ..sent.clone() };
        let wait = Decision::Wait(Resumed::AsyncTask { task_id: "t".to_owned(), cursor: 7, also: None });
        assert_eq!(decide(Some(&task)), wait);
        let task = StepFacts { mcp_task: Some("t".to_owned()), ..sent.clone() };
        assert_eq!(decide(Some(&task)), Decision::Wait(Resumed::McpTask { task_id: "t".to_owned() }));
        // A modern server's question: the call went out and came back with it.
        let open = StepFacts { request_id: Some("q".to_owned()), open_ask: true, ..sent.clone() };
        let wait = Decision::Wait(Resumed::Prompt { request_id: "q".to_owned() });
        assert_eq!(decide(Some(&open)), wait);
        // An old server's question died with its connection; what the call did is unknown.
        let gone = StepFacts { request_id: Some("q".to_owned()), ..sent.clone() };
        assert_eq!(decide(Some(&gone)), Decision::Uncertain);
        let child = StepFacts { child_run_id: Some("r".to_owned()), ..sent.clone() };
        assert_eq!(decide(Some(&child)), Decision::Child);
        assert_eq!(decide(Some(&sent)), Decision::Uncertain);
        // A hint does not turn a wait into a second call.
        let both = StepFacts { task: Some(("t".to_owned(), 7)), read_only: true, ..sent };
        assert!(matches!(decide(Some(&both)), Decision::Wait(_)));
    }
}
