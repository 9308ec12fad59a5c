//! How much of a model's window is left for the conversation, counted in estimated tokens (working-day §2).

use chatos_model::{Image, Message, Reasoning, Source, Tool, Window};

use crate::transcript::{Origin, Speaker, Transcript};

/// Tokens of a picture whose size nobody knows, as large ones count with most vendors.
const PICTURE: u64 = 1_600;
/// Pixels that make a token.
const PIXELS: u64 = 750;
/// What a message costs beside its text.
const FRAME: u64 = 4;
/// Tokens per byte before a vendor has counted anything.
const RATIO: f64 = 1.0 / 3.0;
/// Tokens per byte that no text goes below or above.
const RATIOS: (f64, f64) = (0.15, 0.7);
/// Longest answer that is kept free.
const RESERVE: u64 = 20_000;
/// A text that was counted anew has at least this many times the tokens it was thought to have.
const DENSER: f64 = 1.05;
/// Fewest tokens in which a conversation works.
const LEAST: u64 = 2_000;

/// The window of a model, divided up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Room {
    pub(crate) window: Window,
    /// Kept for the answer.
    pub(crate) reserve: u64,
    pub(crate) system: u64,
    pub(crate) tools: u64,
    /// What messages may fill.
    pub(crate) usable: u64,
    pub(crate) ratio: f64,
    pub(crate) counted: Option<Counted>,
    /// Whether a conversation has no room at all.
    pub(crate) is_too_small: bool,
    /// Bytes of system and tools.
    overhead: u64,
}

/// The newest request that this vendor counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Counted {
    /// It had what stands before this.
    pub(crate) until: i64,
    pub(crate) bytes: u64,
    pub(crate) tokens: u64,
}

/// What goes with every request of a pass.
pub(crate) struct Fixed<'a> {
    pub(crate) system: &'a [String],
    pub(crate) tools: &'a [Tool],
}

impl Fixed<'_> {
    fn bytes(&self) -> (u64, u64) {
        let system: usize = self.system.iter().map(String::len).sum();
        let tools: usize = self
            .tools
            .iter()
            .map(|tool| tool.name.len() + tool.description.len() + size_of(&tool.parameters) + 24)
            .sum();
        (system as u64, tools as u64)
    }
}

/// Bytes of a value as JSON, without writing it.
fn size_of(value: &serde_json::Value) -> usize {
    use serde_json::Value;
    match value {
        Value::Null => 4,
        Value::Bool(_) => 5,
        Value::Number(_) => 6,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(|item| size_of(item) + 1).sum::<usize>() + 2,
        Value::Object(members) => {
            members.iter().map(|(name, value)| name.len() + size_of(value) + 4).sum::<usize>() + 2
        }
    }
}

impl Room {
    /// The room of a pass, with what the chat has taught about this model.
    pub(crate) fn new(
        stated: Window,
        most_output: Option<u32>,
        chat: &Transcript,
        who: (&str, &Origin),
        fixed: &Fixed<'_>,
    ) -> Self {
        let all = counted(chat, who.0, who.1);
        let counted = all.iter().copied().max_by_key(|counted| counted.until);
        let ratio = counted.map_or(RATIO, Counted::ratio);
        let (system_bytes, tool_bytes) = fixed.bytes();
        let tokens = |bytes: u64| (bytes as f64 * ratio) as u64;
        let (system, tools) = (tokens(system_bytes), tokens(tool_bytes));
        let mut window = stated;
        for mark in chat.marks.windows.iter().filter(|mark| mark.model_id == who.0) {
            if let Some(said) =
                mark.window.filter(|said| *said < stated.tokens || window.source == Source::Default)
            {
                window = Window { tokens: said, source: Source::Learned };
            }
        }
        let reserve = reserve(window.tokens, most_output);
        if window.source == Source::Default {
            // An assumption must not refuse what the model may well take; the vendor says so where it does not. By bytes
            // alone, not by what was learned: lengths of results follow from it, and every request begins as the last one.
            window.tokens = window.tokens.max((system_bytes + tool_bytes) * 4 / 5 + reserve);
        }
        // Dense results make no tool longer: whether there is room at all is told by the sparsest request.
        let overhead = system_bytes + tool_bytes;
        let sparsest = all.into_iter().map(Counted::ratio).fold(ratio, f64::min);
        let most = window.tokens.saturating_sub(reserve + (overhead as f64 * sparsest) as u64);
        let least = LEAST.max(window.tokens / 4);
        let is_too_small = window.source != Source::Default && most < least;
        let usable = window.tokens.saturating_sub(reserve + system + tools).max(least.min(most));
        Self { window, reserve, system, tools, usable, ratio, counted, is_too_small, overhead }
    }

    /// Tokens of a message.
    pub(crate) fn tokens(&self, message: &Message) -> u64 {
        let (bytes, pictures) = weight(message);
        (bytes as f64 * self.ratio) as u64 + FRAME + pictures
    }

    /// Tokens of a text.
    pub(crate) fn of_text(&self, text: &str) -> u64 {
        (text.len() as f64 * self.ratio) as u64
    }

    /// Bytes that make so many tokens.
    pub(crate) fn bytes(&self, tokens: u64) -> usize {
        (tokens as f64 / self.ratio) as usize
    }

    /// Tokens of a request with these messages.
    pub(crate) fn whole(&self, messages: u64) -> u64 {
        self.system + self.tools + messages
    }

    /// `share` hundredths of what messages may fill.
    pub(crate) fn share(&self, share: u64) -> u64 {
        self.usable * share / 100
    }

    /// Usable tokens by a fixed ratio: what follows from them stays the same from request to request.
    pub(crate) fn fixed_usable(&self) -> u64 {
        self.window.tokens.saturating_sub(self.reserve + self.overhead / 3).max(LEAST)
    }

    /// Bytes of a request, for what the vendor counts to be compared with; without pictures.
    pub(crate) fn request_bytes(&self, messages: &[Message]) -> (u64, u64) {
        let (bytes, pictures) =
            messages.iter().map(weight).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        (self.overhead + bytes, pictures)
    }

    /// The tokens the texts of a request have at least when it was refused without a number: what its pictures leave
    /// of the window, where somebody stated it and a text can be so dense. `None` when the window must be smaller.
    pub(crate) fn denser(&self, (bytes, pictures): (u64, u64)) -> Option<u64> {
        let tokens = self.window.tokens.saturating_sub(pictures);
        let ratio = tokens as f64 / bytes.max(1) as f64;
        let stated = !matches!(self.window.source, Source::Default | Source::Learned);
        (stated && ratio > self.ratio * DENSER && ratio <= RATIOS.1).then_some(tokens)
    }
}

/// Tokens kept free for the answer.
fn reserve(window: u64, most_output: Option<u32>) -> u64 {
    most_output.map_or(RESERVE, u64::from).min(RESERVE).min(window / 4)
}

/// What the vendor counted in this chat, in answers and in refusals.
fn counted(chat: &Transcript, model_id: &str, origin: &Origin) -> Vec<Counted> {
    let one = |until, (bytes, tokens)| Counted { until, bytes, tokens };
    let answers = chat.entries.iter().filter(|entry| entry.speaker == Speaker::Assistant);
    let answers = answers
        .filter(|entry| entry.origin == *origin)
        .filter_map(|entry| entry.measured.map(|measured| one(entry.seq, measured)));
    let marks = chat.marks.windows.iter().filter(|mark| mark.model_id == model_id);
    let marks = marks.filter_map(|mark| mark.measured.map(|measured| one(mark.to_seq + 1, measured)));
    // An answer behind a refusal in the same pass is the newer of the two.
    marks.chain(answers).filter(|counted| counted.bytes > 0).collect()
}

impl Counted {
    /// Tokens per byte, within reason.
    fn ratio(self) -> f64 {
        (self.tokens as f64 / self.bytes as f64).clamp(RATIOS.0, RATIOS.1)
    }
}

/// Tokens that pictures cost together.
pub(crate) fn of_pictures(images: &[Image]) -> u64 {
    let one = |image: &Image| {
        image
            .pixels
            .map_or(PICTURE, |(width, height)| (u64::from(width) * u64::from(height)).div_ceil(PIXELS))
    };
    images.iter().map(one).sum()
}

/// Bytes of a piece of thinking when it goes back. A sealed one holds its text; of others a name says under what their
/// text goes back, but for `reasoning`, which hardly any vendor wants.
fn thought(part: &Reasoning) -> usize {
    let name = part.opaque.as_ref().and_then(|opaque| opaque.get("field")?.as_str());
    match (name, &part.opaque) {
        (Some("reasoning_content" | "thinking"), _) | (_, None) => part.text.len(),
        (_, Some(opaque)) => size_of(opaque),
    }
}

/// Bytes of a message, and the tokens of its pictures and files.
pub(crate) fn weight(message: &Message) -> (u64, u64) {
    match message {
        Message::User { text, images, documents } => {
            let files: u64 = documents.iter().map(|document| document.tokens).sum();
            (text.len() as u64, of_pictures(images) + files)
        }
        Message::Assistant { text, reasoning, tool_calls } => {
            let thought: usize = reasoning.iter().map(thought).sum();
            let calls: usize =
                tool_calls.iter().map(|call| call.name.len() + call.arguments.len() + 48).sum();
            ((text.len() + thought + calls) as u64, 0)
        }
        Message::Tool { content, name, images, .. } => {
            ((content.len() + name.len() + 32) as u64, of_pictures(images))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::tests::entry;
    use crate::transcript::{Entry, WindowMark};

    fn room(tokens: u64, source: Source, chat: &Transcript, system: usize) -> Room {
        let system = vec!["s".repeat(system)];
        let fixed = Fixed { system: &system, tools: &[] };
        Room::new(Window { tokens, source }, None, chat, ("m", &Origin::default()), &fixed)
    }

    #[test]
    fn the_window_is_divided_and_a_known_small_one_is_refused() {
        let none = Transcript::default();
        let eight = room(8_192, Source::Person, &none, 3_000);
        assert_eq!((eight.reserve, eight.system, eight.usable), (2_048, 1_000, 5_144));
        assert!(!eight.is_too_small);
        assert!(room(8_192, Source::Person, &none, 15_000).is_too_small);
        // Nobody said that it is so small: the vendor is asked.
        let guessed = room(8_192, Source::Default, &none, 30_000);
        assert!(!guessed.is_too_small && guessed.usable >= 10_000, "{guessed:?}");
    }

    #[test]
    fn a_refusal_without_a_number_is_explained_by_dense_texts_where_it_can_be() {
        let eight = room(8_192, Source::Person, &Transcript::default(), 0);
        assert_eq!(eight.denser((16_000, 0)), Some(8_192));
        // No text has so many tokens, or so much was expected of it: the window is smaller than was stated.
        assert_eq!((eight.denser((9_000, 0)), eight.denser((24_000, 0))), (None, None));
    }

    #[test]
    fn thinking_that_goes_back_counts_by_its_text() {
        let bytes = |opaque: Option<serde_json::Value>| {
            let reasoning = vec![Reasoning { text: "t".repeat(5_000), opaque }];
            weight(&Message::Assistant { text: String::new(), reasoning, tool_calls: Vec::new() }).0
        };
        let named = |name: &str| bytes(Some(serde_json::json!({ "field": name })));
        assert_eq!((bytes(None), named("reasoning_content"), named("thinking")), (5_000, 5_000, 5_000));
        assert!(named("reasoning") < 100);
        assert!(bytes(Some(serde_json::json!({ "signature": "s".repeat(900) }))) > 900);
    }

    #[test]
    fn an_assumed_window_is_the_same_whatever_was_counted() {
        let mut chat = Transcript::default();
        let before = room(8_192, Source::Default, &chat, 30_000);
        chat.entries.push(Entry { measured: Some((1_000, 450)), ..entry(5, "r", Speaker::Assistant, "a") });
        let after = room(8_192, Source::Default, &chat, 30_000);
        assert!(after.ratio > before.ratio && after.usable > 0);
        assert_eq!(after.fixed_usable(), before.fixed_usable());
    }

    #[test]
    fn a_vendors_word_makes_the_window_smaller_and_the_count_true() {
        let mut chat = Transcript::default();
        chat.entries.push(Entry { measured: Some((1_000, 500)), ..entry(5, "r", Speaker::Assistant, "a") });
        assert!((room(8_192, Source::Person, &chat, 0).ratio - 0.5).abs() < 1e-9);
        let mark = |window, measured, to_seq| WindowMark { model_id: "m".into(), to_seq, window, measured };
        chat.marks.windows.push(mark(Some(4_096), Some((1_000, 400)), 7));
        let learned = room(8_192, Source::Person, &chat, 0);
        assert_eq!(
            (learned.window.tokens, learned.window.source, learned.ratio),
            (4_096, Source::Learned, 0.4)
        );
        // What is known to be smaller is not explained by dense texts, nor is what was only assumed.
        assert_eq!(learned.denser((8_000, 0)), None);
        assert_eq!(room(8_192, Source::Default, &chat, 0).denser((16_000, 0)), None);
        // A vendor never makes larger what a person made small, and nonsense is bounded.
        chat.marks.windows.push(mark(Some(32_000), Some((1_000, 9)), 9));
        let bounded = room(8_192, Source::Person, &chat, 0);
        assert_eq!((bounded.window.tokens, bounded.ratio), (4_096, 0.15));
    }
}
