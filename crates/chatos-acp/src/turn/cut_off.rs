//! A turn that goes on after it was cut off: what became of its calls, and what the agent is told of them.

use chatos_agent::{CallStep, Pending, PersonsWord, PlannedCall, Speaker, Transcript};
use chatos_tool::{Fault, Text, ToolError};
use chatos_wire::Severity;
use serde_json::{Value, json};

use super::Work;
use super::ask::was_allowed;
use super::texts::{name_of, not_run_error, unknown_error};
use crate::calls::call_end;
use crate::message::{Kind, ToolCall};
use crate::recover::{self, Fate, Replay};

impl Work<'_> {
    /// Judges every call that was cut off and says what became of them.
    pub(super) async fn recovered(
        &mut self,
        chat: &Transcript,
        replayed: &Replay,
    ) -> Result<Vec<Value>, Fault> {
        let turn = self.turn;
        let open = recover::open_calls(chat, &turn.run.id);
        self.left.extend(open.iter().filter_map(|call| call.step.as_ref()?.request_id.clone()));
        let told = replayed.of(&turn.run.id);
        let (mut not_run, mut worked, mut failed, mut unknown) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for pending in open {
            // A plan is words; what it says now is said again.
            if pending.call.name == Kind::Plan.word() {
                self.close_call(pending, &ToolCall::default(), None).await?;
                continue;
            }
            let name = name_of(&pending);
            let allowed = match pending.step.as_ref().and_then(|step| step.request_id.clone()) {
                Some(question) => was_allowed(&turn.inbox, &question).await?,
                None => true,
            };
            match recover::fate(&pending, &told, allowed) {
                Fate::Told(call) => self.close_call(pending, &call, None).await?,
                Fate::NotRun => {
                    self.close_call(pending, &ToolCall::default(), Some(not_run_error())).await?;
                    not_run.push(name);
                }
                Fate::Uncertain => match turn.stage.uncertain(pending.clone()).await? {
                    PersonsWord::Worked => {
                        turn.stage.settle_call(pending, true).await?;
                        worked.push(name);
                    }
                    PersonsWord::Failed => {
                        turn.stage.settle_call(pending, false).await?;
                        failed.push(name);
                    }
                    PersonsWord::Again(_) => {
                        self.close_call(pending, &ToolCall::default(), Some(unknown_error())).await?;
                        unknown.push(name);
                    }
                },
            }
        }
        let mut text = recover::words(turn.run.lang, &not_run, &worked, &failed, &unknown);
        // The agent may have been cut off before the message reached it.
        let asked =
            chat.entries.iter().rfind(|entry| entry.run_id == turn.run.id && entry.speaker == Speaker::User);
        if let Some(asked) = asked {
            let quoted: String = asked.text.chars().take(20_000).collect();
            text.push_str(match turn.run.lang {
                chatos_tool::Lang::En => "\nThe message of that turn, in case it did not arrive:\n\n",
                chatos_tool::Lang::Zh => "\n该轮的消息如下，以防未送达：\n\n",
            });
            text.push_str(&quoted);
        }
        let notice = Text::new(
            format!("{} goes on where it was cut off.", turn.agent),
            format!("{} 从中断处继续。", turn.agent),
        );
        turn.stage.notice(Severity::Info, "acp_continued", &notice);
        Ok(vec![json!({ "type": "text", "text": text })])
    }

    async fn close_call(
        &self,
        pending: Pending,
        call: &ToolCall,
        error: Option<ToolError>,
    ) -> Result<(), Fault> {
        let Some(facts) = &pending.step else { return Ok(()) };
        let before = CallStep { seq: facts.seq, call_id: pending.call.id.clone(), span_id: String::new() };
        let planned = PlannedCall {
            pending: pending.clone(),
            server_identity: String::new(),
            server: self.turn.agent.clone(),
            tool: pending.call.name.clone(),
            read_only: false,
            idempotent: false,
            goes_on: Some(before),
        };
        let step = self.turn.stage.begin_call(planned).await?;
        let mut end = call_end(&self.scene(), call, error, &step.span_id, 0, true);
        end.envelope.stamp.tool.clone_from(&pending.call.name);
        self.turn.stage.finish_call(step, pending, end).await
    }
}
