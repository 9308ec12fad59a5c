//! When and where a conversation is made smaller (working-day §2). Pure: what is decided here is written down
//! by the caller and then followed by every request.

use chatos_model::Message;

use crate::context::{PICTURES, Said, images, pruned_line};
use crate::room::{Room, of_pictures};

/// From this share of the room on, old results become lines.
const PRUNE_AT: u64 = 60;
/// The newest results that are never pruned, in tokens.
const NEWEST: u64 = 40_000;
/// Pruning that frees less changes every cache for little.
const WORTH: u64 = 4_000;

/// Whether a summary is due. `threshold` 0 leaves it to the window.
pub(crate) fn is_due(used: u64, room: &Room, share: u64, threshold: u64) -> bool {
    used > room.share(share) || (threshold > 0 && room.whole(used) > threshold)
}

/// How much of the conversation stays when results are pruned.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Keep {
    pub(crate) passes: usize,
    /// Newest tokens of results.
    pub(crate) tokens: u64,
    /// Pruning is worth it from so many tokens on.
    pub(crate) worth: u64,
}

impl Keep {
    /// As it is done by itself.
    pub(crate) fn usual(room: &Room) -> Self {
        let worth = (room.usable / 10).max(WORTH).min(room.usable / 4);
        Self { passes: 2, tokens: room.share(25).min(NEWEST), worth }
    }

    pub(crate) fn least() -> Self {
        Self { passes: 1, tokens: 0, worth: 1 }
    }
}

/// Whether old results may go.
pub(crate) fn may_prune(used: u64, room: &Room) -> bool {
    used > room.share(PRUNE_AT)
}

/// Up to where results become lines, and how many tokens that frees.
pub(crate) fn prune(said: &[Said], room: &Room, keep: Keep) -> Option<(i64, u64)> {
    let (mut passes, mut newer) = (0, 0);
    let mut first_kept = i64::MAX;
    let mut to_seq = None;
    let mut freed = 0;
    let mut pictures = Vec::new();
    for (at, one) in said.iter().enumerate().rev() {
        match &one.message {
            Message::Tool { name, content, is_error, call_id, .. } => {
                let tokens = room.tokens(&one.message);
                if passes < keep.passes || newer < keep.tokens {
                    first_kept = first_kept.min(one.seq);
                } else if to_seq.is_some() || one.seq < first_kept {
                    to_seq.get_or_insert(one.seq);
                    let arguments = arguments_of(&said[..at], call_id);
                    let line = pruned_line(name, arguments, content, *is_error, call_id);
                    freed += room.of_text(content).saturating_sub(room.of_text(&line));
                }
                newer += tokens;
            }
            Message::Assistant { tool_calls, .. } if !tool_calls.is_empty() => passes += 1,
            _ => {}
        }
        if to_seq.is_some() {
            pictures.extend(
                images(&one.message).iter().rev().map(|image| of_pictures(std::slice::from_ref(image))),
            );
        }
    }
    let to_seq = to_seq?.min(first_kept.saturating_sub(1));
    // Of the pictures before, the newest stay.
    freed += pictures.iter().skip(PICTURES).sum::<u64>();
    (freed >= keep.worth).then_some((to_seq, freed))
}

fn arguments_of<'a>(before: &'a [Said], call_id: &str) -> &'a str {
    let calls = before.iter().rev().find_map(|said| match &said.message {
        Message::Assistant { tool_calls, .. } if !tool_calls.is_empty() => Some(tool_calls),
        _ => None,
    });
    let call = calls.and_then(|calls| calls.iter().find(|call| call.id == call_id));
    call.map_or("", |call| call.arguments.as_str())
}

/// The part of a chat that a summary replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    /// So many messages from the beginning.
    pub(crate) at: usize,
    pub(crate) from_seq: i64,
    /// Everything up to here is covered.
    pub(crate) to_seq: i64,
}

/// Where to cut so that about `tail` tokens stay; `None` when nothing can go.
///
/// What stays is at least one complete pass and never begins with a tool's result; it may lie behind the last
/// message of the person, whose words are kept beside the summary.
pub(crate) fn cut(said: &[Said], room: &Room, tail: u64) -> Option<Cut> {
    let last_pass = said.iter().rposition(
        |one| matches!(&one.message, Message::Assistant { tool_calls, .. } if !tool_calls.is_empty()),
    );
    let last_user = said.iter().rposition(|one| matches!(one.message, Message::User { .. }));
    // The newest words of either side stay as they are.
    let newest = last_pass.max(last_user)?;
    let mut kept = 0;
    let mut at = said.len();
    while at > 0 && kept + room.tokens(&said[at - 1].message) <= tail {
        at -= 1;
        kept += room.tokens(&said[at].message);
    }
    let mut at = at.min(newest);
    while matches!(said[at].message, Message::Tool { .. }) {
        at += 1;
    }
    let (gone, stays) = said.split_at(at);
    if !gone.iter().any(|one| matches!(one.message, Message::Assistant { .. })) {
        return None;
    }
    // Runs that went on late stand behind newer ones; only what lies before everything that stays is covered.
    let first_kept = stays.iter().map(|one| one.seq).min().unwrap_or(i64::MAX);
    let from_seq = gone.iter().map(|one| one.seq).min()?;
    let to_seq = gone.iter().map(|one| one.seq).max()?.min(first_kept.saturating_sub(1));
    (to_seq >= from_seq).then_some(Cut { at, from_seq, to_seq })
}

#[cfg(test)]
mod tests;
