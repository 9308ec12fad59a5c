//! The right to do one thing once: what a person's yes becomes when it is used (`security T24`).
//!
//! Made by [`crate::Prompts::use_approval`], or by [`Approval::unasked`] where nobody had to be asked.
//! What acts (a commit of files, a command, a call that goes out) takes it by value.

use crate::ids::RequestId;
use crate::json::Object;

/// Why something may be done without a question of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unasked {
    /// The settings and the land_config want no question for this.
    NotWanted,
    /// A person allowed the tool for the rest of the run or the chat.
    AllowedBefore,
    /// The tool asks by itself, with what it is about to do.
    AsksItself,
    /// The call went out before an earlier process ended; what is left is its end.
    SentBefore,
    /// This very call had used its approval when an earlier process ended, and had not gone out or is to go once more.
    UsedBefore,
    /// A rule of the person answers for it.
    ByRule,
    /// The connected client's person answered on the call's own connection, where no queue is.
    OwnConnection,
}

/// What the rules of a person say about a call (inbox §4). A rule removes a question and nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ruling {
    /// The person is asked.
    Ask,
    /// Nobody has to be; a command is run as this text.
    Allow { rule: String, name: String, run_as: Option<String> },
    /// It is refused without a question.
    Deny { rule: String, name: String },
}

/// The right to one effect. It can be moved, not copied.
#[derive(Debug)]
#[must_use = "an approval is spent by what it allows"]
pub struct Approval {
    basis: Basis,
}

#[derive(Debug)]
enum Basis {
    Answer { request_id: RequestId, response: Object },
    Unasked(Unasked),
}

impl Approval {
    pub(crate) fn used(request_id: RequestId, response: Object) -> Self {
        Self { basis: Basis::Answer { request_id, response } }
    }

    /// Nobody is asked for this, and the reason.
    pub fn unasked(why: Unasked) -> Self {
        Self { basis: Basis::Unasked(why) }
    }

    /// The question it came from.
    pub fn request_id(&self) -> Option<&RequestId> {
        match &self.basis {
            Basis::Answer { request_id, .. } => Some(request_id),
            Basis::Unasked(_) => None,
        }
    }

    /// Why nobody was asked, where that is so.
    pub fn why_unasked(&self) -> Option<Unasked> {
        match &self.basis {
            Basis::Answer { .. } => None,
            Basis::Unasked(why) => Some(*why),
        }
    }

    /// The answer as it was recorded.
    pub fn response(&self) -> Option<&Object> {
        match &self.basis {
            Basis::Answer { response, .. } => Some(response),
            Basis::Unasked(_) => None,
        }
    }
}
