//! A request that was too long (working-day §2 stage 3): what the vendor said is remembered, then less is sent,
//! one measure after the other.

use chatos_model::{ModelError, Source, Usage};
use chatos_tool::Fault;

use super::Turn;
use super::fit::Drawn;
use crate::compact::{Keep, prune};
use crate::stage::{CompactKind, Mark};
use crate::transcript::{Transcript, WindowMark};

/// A shorter answer than this is no help; the conversation has to be.
const WORTH: u64 = 4_096;
/// Left between the input and the longest answer.
const MARGIN: u64 = 1_000;
/// A window below this is a misunderstanding.
const SMALLEST: u64 = 1_024;
/// Hundredths of the room that stay after a refusal.
const TAIL: u64 = 10;

/// What was tried in this pass.
#[derive(Debug, Default)]
pub(super) struct Tried {
    lowered: bool,
    pruned: bool,
    summarised: bool,
}

impl Tried {
    pub(super) fn is_over(&self) -> bool {
        self.summarised
    }
}

pub(super) enum Measure {
    /// Ask again with at most so many tokens of answer.
    Answer(u32),
    /// Ask again; the context is smaller.
    Smaller,
    Nothing,
}

impl Turn {
    /// The next measure against a refusal.
    pub(super) async fn overflow(
        &self,
        tried: &mut Tried,
        error: &ModelError,
        chat: &Transcript,
        drawn: &Drawn,
    ) -> Result<Measure, Fault> {
        self.learn_window(error, chat, drawn).await?;
        if let (false, Some(limit), Some(input)) = (tried.lowered, error.limit, error.input)
            && let Some(room) = limit.checked_sub(input + MARGIN).filter(|room| *room >= WORTH)
        {
            tried.lowered = true;
            return Ok(Measure::Answer(u32::try_from(room).unwrap_or(u32::MAX)));
        }
        if !tried.pruned {
            tried.pruned = true;
            if let Some((to_seq, freed)) = prune(&drawn.said, &drawn.room, Keep::least()) {
                self.mark_pruned(drawn, (to_seq, freed), CompactKind::Overflow).await?;
                return Ok(Measure::Smaller);
            }
        }
        if !tried.summarised {
            tried.summarised = true;
            if let Some(to_seq) = drawn.said.iter().map(|said| said.seq).max() {
                self.stage.mark(Mark::Squeeze { to_seq }).await?;
            }
            let chat = self.stage.chat().await?;
            let said = self.shaped(&chat, &drawn.room);
            let tail = drawn.room.share(TAIL);
            self.compact(&chat, &said, drawn, tail, CompactKind::Overflow, "").await?;
            return Ok(Measure::Smaller);
        }
        Ok(Measure::Nothing)
    }

    pub(super) async fn mark_pruned(
        &self,
        drawn: &Drawn,
        found: (i64, u64),
        kind: CompactKind,
    ) -> Result<(), Fault> {
        let (to_seq, freed) = found;
        let messages = drawn.said.iter().filter(|said| said.seq <= to_seq).count();
        let tokens = (drawn.estimate(), drawn.estimate().saturating_sub(freed));
        self.stage.mark(Mark::Prune { to_seq, messages, tokens, kind }).await
    }

    /// Remembers what a refusal says about the window, for the rest of the chat.
    async fn learn_window(&self, error: &ModelError, chat: &Transcript, drawn: &Drawn) -> Result<(), Fault> {
        let (bytes, pictures) = drawn.room.request_bytes(&drawn.request.messages);
        let limit = error.limit.filter(|limit| *limit >= SMALLEST);
        let counted = error.input.or(error.requested);
        let texts = match (limit, counted) {
            (None, None) => drawn.room.denser((bytes, pictures)),
            _ => counted.and_then(|counted| counted.checked_sub(pictures)).filter(|texts| *texts > 0),
        };
        let window = match (limit, counted) {
            (Some(limit), _) => (limit != drawn.room.window.tokens).then_some(limit),
            (None, None) if texts.is_some() => None,
            _ => Some((drawn.estimate() * 8 / 10).max(SMALLEST)),
        };
        let measured = texts.map(|texts| (bytes, texts));
        if window.is_none() && measured.is_none() {
            return Ok(());
        }
        let to_seq = chat.entries.iter().map(|entry| entry.seq).max().unwrap_or_default();
        let mark = WindowMark { model_id: self.model.id.clone(), to_seq, window, measured };
        self.stage.mark(Mark::Window(mark)).await
    }
}

/// Whether an answer came from a request that was silently shortened. `cuts` says that the server is known to drop
/// what does not fit without a word.
pub(super) fn is_shortened(drawn: &Drawn, usage: &Usage, cut_off: bool, cuts: bool) -> bool {
    let window = drawn.room.window;
    if usage.estimated || window.source == Source::Default {
        return false;
    }
    let input = usage.input + usage.cache_read + usage.cache_write;
    input > window.tokens
        || (cut_off && usage.output == 0 && input * 100 >= window.tokens * 99)
        || (cuts && is_dropped(drawn.before(), drawn.measured(usage), drawn.estimate(), window.tokens))
}

/// A request that goes on where the last one ended has no fewer tokens than that; room is always left for the answer,
/// so one that fills the window was cut to it.
fn is_dropped(before: Option<(u64, u64)>, now: Option<(u64, u64)>, estimate: u64, window: u64) -> bool {
    let Some((bytes, tokens)) = now else { return false };
    let fewer = before.is_some_and(|(before, counted)| bytes >= before && tokens * 20 < counted * 19);
    (fewer && estimate * 2 >= window) || tokens * 100 >= window * 97
}

#[cfg(test)]
mod tests {
    use super::is_dropped;

    #[test]
    fn a_longer_request_with_fewer_tokens_was_cut() {
        let window = 8_192;
        assert!(is_dropped(Some((9_000, 4_000)), Some((12_000, 3_000)), 5_000, window));
        assert!(is_dropped(Some((9_000, 4_000)), Some((12_000, 8_100)), 5_000, window));
        // More of both, or less of both: after a summary requests are shorter.
        assert!(!is_dropped(Some((9_000, 4_000)), Some((12_000, 5_000)), 5_000, window));
        assert!(!is_dropped(Some((9_000, 4_000)), Some((4_000, 2_000)), 5_000, window));
        // A server that counts only what it had not read before is believed as long as there is room.
        assert!(!is_dropped(Some((9_000, 3_000)), Some((9_500, 100)), 3_200, window));
        assert!(!is_dropped(None, Some((9_500, 100)), 6_000, window));
        assert!(!is_dropped(Some((9_000, 4_000)), None, 6_000, window));
    }
}
