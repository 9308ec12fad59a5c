//! A button of a message elsewhere was pressed: whether it counts, and then the answer, which goes the way of every
//! other answer. What does not count gets one and the same reply, whatever the reason; the audit log has the reason.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use chatos_inbox::PromptReply;
use chatos_prompts::{RequestId, Surface};
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::channel::ChannelType;
use serde_json::{Map, Value, json};

use crate::buttons::offered;
use crate::channel::Record;
use crate::desk::Reach;
use crate::rows::Outbox;
use crate::tokens::{Action, Tokens, digest, millis};

/// Snooze on a button.
pub(crate) const SNOOZE_MS: i64 = 15 * 60_000;
/// Refusals of a channel that are audited in a minute; a flood of them must not fill the disk.
const AUDITED: u32 = 20;
const MINUTE_MS: i64 = 60_000;

/// What became of a press.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done(Action),
    /// It counts for nothing.
    Refused,
    /// It would have counted, but could not be recorded.
    Failed,
}

impl Outcome {
    pub(crate) fn words(&self) -> Text {
        match self {
            Self::Done(Action::Approve) => Text::fixed("Approved", "已同意"),
            Self::Done(Action::Reject) => Text::fixed("Rejected", "已拒绝"),
            Self::Done(Action::Snooze) => Text::fixed("Snoozed for 15 minutes", "15 分钟后再提醒"),
            Self::Refused => Text::fixed("This is no longer valid", "此操作已失效"),
            Self::Failed => {
                Text::fixed("Could not be recorded; answer on the computer", "未能记录，请在电脑上回答")
            }
        }
    }
}

/// How many presses of each channel were refused lately.
#[derive(Default)]
pub(crate) struct Refusals(Mutex<HashMap<String, Window>>);

#[derive(Default)]
struct Window {
    since: i64,
    count: u32,
}

impl Refusals {
    /// Whether this one is audited; and how many of the window before were not.
    fn count(&self, channel: &str, now: i64) -> Option<u32> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let window = all.entry(channel.to_owned()).or_default();
        let mut left_out = 0;
        if window.count == 0 || now - window.since >= MINUTE_MS {
            left_out = window.count.saturating_sub(AUDITED);
            *window = Window { since: now, count: 0 };
        }
        window.count = window.count.saturating_add(1);
        (window.count <= AUDITED).then_some(left_out)
    }
}

impl Reach {
    /// Somebody pressed a button of this channel that carries `token`.
    pub(crate) async fn pressed_there(&self, channel: &str, token: &str) -> Outcome {
        let (channel, token) = (channel.to_owned(), token.to_owned());
        let failed = channel.clone();
        let done = self.blocking(move |reach| Ok(reach.answer_with(&channel, &token))).await;
        let outcome = done.unwrap_or_else(|fault| {
            tracing::warn!(%fault, channel = %failed, "a button did nothing");
            Outcome::Failed
        });
        self.0.wake.notify_one();
        outcome
    }

    fn answer_with(&self, channel: &str, token: &str) -> Outcome {
        let name = digest(token);
        match self.try_answer(channel, token, &name) {
            Ok((action, request)) => {
                let fields = json!({ "channel": channel, "token": name.get(..16), "request": request,
                    "action": action.as_str() });
                self.audit("answer_from_channel", fields);
                Outcome::Done(action)
            }
            Err(Refusal::Why(why)) => {
                self.refused(channel, &name, &why);
                Outcome::Refused
            }
            Err(Refusal::Failed(fault)) => {
                tracing::warn!(%fault, channel, "an answer from elsewhere was not recorded");
                Outcome::Failed
            }
        }
    }

    /// A press that counts for nothing, whoever it came from.
    pub(crate) fn refused(&self, channel: &str, digest: &str, why: &str) {
        let now = millis(self.0.parts.clock.monotonic());
        let Some(left_out) = self.0.refusals.count(channel, now) else { return };
        let mut fields = json!({ "channel": channel, "token": digest.get(..16), "reason": why });
        if left_out > 0 {
            fields["notRecorded"] = left_out.into();
        }
        self.audit("answer_refused", fields);
    }

    fn audit(&self, what: &'static str, fields: Value) {
        let fields: Map<String, Value> = fields.as_object().cloned().unwrap_or_default();
        self.0.parts.audit.note(what, fields);
    }

    fn try_answer(&self, channel: &str, token: &str, name: &str) -> Result<(Action, String), Refusal> {
        let parts = &self.0.parts;
        let why = |why: &str| Err(Refusal::Why(why.to_owned()));
        if token.len() != 64 || !token.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return why("malformed");
        }
        let Some(row) = parts.store.token(name).map_err(Fault::from)? else { return why("unknown") };
        let Some(action) = row.action() else { return why("unknown") };
        if row.channel != channel {
            return why("other_channel");
        }
        if row.used {
            return why("used");
        }
        if row.is_over(&*parts.clock) {
            return why("expired");
        }
        let kept = parts.store.channels().map_err(Fault::from)?.into_iter().find(|kept| kept.id == channel);
        let record = kept.filter(|kept| !kept.paused).and_then(|kept| Record::read(&kept.record));
        let Some(record) = record else { return why("not_allowed") };
        let id = RequestId::parse(&row.request_id).map_err(|_| Refusal::Why("unknown".to_owned()))?;
        let item = parts.inbox.questions()?.prompts().get(&id);
        let Some(item) = item.filter(|item| item.needs_you()) else { return why("closed") };
        if item.shown.as_deref().unwrap_or_default() != row.shown {
            return why("superseded");
        }
        if !offered(&item, record.answer, self.privacy(&record), &parts.redactor).contains(&action) {
            return why("not_allowed");
        }
        let lang = parts.settings.languages().people;
        let surface = match record.kind {
            ChannelType::Telegram => Surface::Telegram,
            _ => Surface::Ntfy,
        };
        let status = match action {
            Action::Approve => "ok",
            Action::Reject => "canceled",
            Action::Snooze => {
                parts.store.burn_tokens(&row.request_id).map_err(Fault::from)?;
                let until = chatos_prompts::format_ms(self.now() + SNOOZE_MS);
                parts.inbox.snooze(&row.request_id, Some(&until), lang)?;
                return Ok((action, row.request_id));
            }
        };
        let reply = PromptReply {
            response: json!({ "status": status }),
            shown: item.shown.clone(),
            ..PromptReply::default()
        };
        match parts.inbox.answer(&row.request_id, &reply, surface, lang) {
            Ok(_) => Ok((action, row.request_id)),
            // Somebody else was first, or nobody waits any more: none of its buttons counts again.
            Err(fault) => {
                let again = matches!(fault.class, ErrorCode::Unavailable | ErrorCode::ResourceExhausted);
                if again {
                    return Err(Refusal::Failed(fault));
                }
                parts.store.burn_tokens(&row.request_id).map_err(Fault::from)?;
                why(&fault.code)
            }
        }
    }
}

/// Why a press is no answer.
enum Refusal {
    Why(String),
    Failed(Fault),
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        match fault.class {
            ErrorCode::Unavailable | ErrorCode::ResourceExhausted | ErrorCode::Internal => {
                Self::Failed(fault)
            }
            _ => Self::Why(fault.code.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_refusals_leaves_few_records_and_says_how_many_it_left_out() {
        let refusals = Refusals::default();
        let audited = (0..1_000).filter(|_| refusals.count("a", 5).is_some()).count();
        assert_eq!(audited, 20);
        assert_eq!(refusals.count("b", 5), Some(0));
        assert_eq!(refusals.count("a", 60_005), Some(980));
        assert_eq!(refusals.count("a", 60_006), Some(0));
    }
}
