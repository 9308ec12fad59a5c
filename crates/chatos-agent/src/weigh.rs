//! What every pass of a run begins with, for whoever measures it: the conversation in its shape, its estimate, and what
//! pruning would free.

use chatos_model::Window;

use crate::compact::{Keep, prune};
use crate::context::{Shape, conversation};
use crate::room::{Fixed, Room};
use crate::transcript::{Origin, Transcript};

/// Estimated tokens of a chat as a model with this window is sent it, and the tokens that pruning frees.
pub fn weigh(chat: &Transcript, run_id: &str, window: Window, result_chars: usize) -> (u64, Option<u64>) {
    let origin = Origin::default();
    let fixed = Fixed { system: &[], tools: &[] };
    let room = Room::new(window, None, chat, ("", &origin), &fixed);
    let said = conversation(chat, run_id, &origin, &Shape::new(&room, result_chars, &chat.marks));
    let used = said.iter().map(|one| room.tokens(&one.message)).sum();
    (room.whole(used), prune(&said, &room, Keep::usual(&room)).map(|(_, freed)| freed))
}
