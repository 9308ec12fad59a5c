//! Thinking beside the text of an answer: read under whatever name it comes, and sent back over chat completions as
//! each vendor wants it (working-day §4). Ollama's is read here, too.

use serde_json::{Map, Value, json};

use crate::protocol::THINKING;
use crate::{Dialect, Event, Message, Reasoning, Replay, Request};

const NAMES: [&str; 3] = [THINKING, "reasoning", "thinking"];
const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// What is sent back in this request.
pub(super) fn replay(request: &Request, dialect: &Dialect) -> Replay {
    if !dialect.sends(THINKING) {
        return Replay::Nothing;
    }
    if dialect.insists(THINKING) {
        return Replay::Content;
    }
    if request.params.replay != Replay::Auto {
        return request.params.replay;
    }
    let shown = request.messages.iter().any(|message| match message {
        Message::Assistant { reasoning, tool_calls, .. } => {
            !tool_calls.is_empty() && reasoning.iter().any(|part| field(part) == Some(THINKING))
        }
        _ => false,
    });
    if shown { Replay::Content } else { Replay::Nothing }
}

fn field(part: &Reasoning) -> Option<&str> {
    part.opaque.as_ref()?.get("field")?.as_str()
}

/// Puts the thinking of an answer beside it.
pub(super) fn put(said: &mut Map<String, Value>, reasoning: &[Reasoning], calls: bool, replay: Replay) {
    match replay {
        Replay::Auto | Replay::Nothing => {}
        Replay::Details => {
            let details = reasoning.iter().find_map(|part| part.opaque.as_ref()?.get("details"));
            if let Some(details) = details {
                said.insert("reasoning_details".to_owned(), details.clone());
            }
        }
        Replay::Content => {
            let own = reasoning.iter().filter(|part| field(part).is_some());
            let text: String = own.clone().map(|part| part.text.as_str()).collect();
            let name = own.clone().find_map(field).unwrap_or(THINKING);
            if !text.is_empty() || calls {
                said.insert(name.to_owned(), json!(text));
            }
        }
    }
}

/// The thinking of a streamed answer.
#[derive(Debug, Default)]
pub(super) struct Thinking {
    name: Option<&'static str>,
    details: Vec<Value>,
    tags: Tags,
    /// Text that may still become a tag.
    held: String,
}

#[derive(Debug, Default, PartialEq)]
enum Tags {
    /// Nothing was said yet.
    #[default]
    Before,
    /// The tag was read, nothing behind it yet.
    Opened,
    Inside,
    Over,
}

impl Thinking {
    pub(super) fn delta(&mut self, delta: &Value, events: &mut Vec<Event>) {
        let said = NAMES.iter().find_map(|name| {
            let text = delta.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())?;
            Some((*name, text))
        });
        if let Some((name, text)) = said {
            self.name.get_or_insert(name);
            events.push(Event::Reasoning(text.to_owned()));
        }
        for detail in delta.get("reasoning_details").and_then(Value::as_array).into_iter().flatten() {
            self.detail(detail);
        }
    }

    /// Pieces of one detail belong together; everything else stays as it came.
    fn detail(&mut self, piece: &Value) {
        let same =
            |one: &Value| one.get("index") == piece.get("index") && one.get("type") == piece.get("type");
        let Some(Value::Object(last)) = self.details.last_mut().filter(|last| same(last)) else {
            self.details.push(piece.clone());
            return;
        };
        for (member, value) in piece.as_object().into_iter().flatten() {
            let grows = matches!(member.as_str(), "text" | "summary" | "data");
            match (last.get_mut(member), value) {
                (Some(Value::String(so_far)), Value::String(more)) if grows => so_far.push_str(more),
                (_, Value::Null) => {}
                _ => {
                    last.insert(member.clone(), value.clone());
                }
            }
        }
    }

    /// Text, of which thoughts in tags at the very beginning are thinking.
    pub(super) fn text(&mut self, text: &str, events: &mut Vec<Event>) {
        if self.tags == Tags::Over {
            events.push(Event::Text(text.to_owned()));
            return;
        }
        self.held.push_str(text);
        if self.tags == Tags::Before {
            let begun = self.held.trim_start();
            if begun.is_empty() || (OPEN.starts_with(begun) && begun.len() < OPEN.len()) {
                return;
            }
            match begun.strip_prefix(OPEN) {
                Some(rest) => {
                    self.held = rest.to_owned();
                    self.tags = Tags::Opened;
                }
                None => {
                    self.tags = Tags::Over;
                    events.push(Event::Text(std::mem::take(&mut self.held)));
                    return;
                }
            }
        }
        if self.tags == Tags::Opened {
            self.held = self.held.trim_start_matches('\n').to_owned();
            if self.held.is_empty() {
                return;
            }
            self.tags = Tags::Inside;
        }
        if let Some(at) = self.held.find(CLOSE) {
            let rest = self.held.split_off(at);
            if !self.held.is_empty() {
                events.push(Event::Reasoning(std::mem::take(&mut self.held)));
            }
            self.tags = Tags::Over;
            let rest = rest[CLOSE.len()..].trim_start_matches('\n');
            if !rest.is_empty() {
                events.push(Event::Text(rest.to_owned()));
            }
            self.held.clear();
            return;
        }
        // The end may be the beginning of the closing tag.
        let kept = (1..CLOSE.len()).rev().find(|n| self.held.ends_with(&CLOSE[..*n])).unwrap_or(0);
        let tail = self.held.split_off(self.held.len() - kept);
        if !self.held.is_empty() {
            events.push(Event::Reasoning(std::mem::take(&mut self.held)));
        }
        self.held = tail;
    }

    /// What was held back, and the block that goes back with the next request.
    pub(super) fn end(&mut self, events: &mut Vec<Event>) {
        if !self.held.is_empty() {
            let held = std::mem::take(&mut self.held);
            events.push(if self.tags == Tags::Inside { Event::Reasoning(held) } else { Event::Text(held) });
        }
        if !self.details.is_empty() {
            let details = std::mem::take(&mut self.details);
            events.push(Event::ReasoningBlock { opaque: json!({ "field": self.name, "details": details }) });
        } else if let Some(name) = self.name.take() {
            events.push(Event::ReasoningBlock { opaque: json!({ "field": name }) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(pieces: &[&str]) -> (String, String) {
        let (mut thinking, mut events) = (Thinking::default(), Vec::new());
        for piece in pieces {
            thinking.text(piece, &mut events);
        }
        thinking.end(&mut events);
        let mut out = (String::new(), String::new());
        for event in events {
            match event {
                Event::Reasoning(text) => out.0.push_str(&text),
                Event::Text(text) => out.1.push_str(&text),
                other => panic!("{other:?}"),
            }
        }
        out
    }

    #[test]
    fn tags_at_the_beginning_are_thinking_however_they_are_cut() {
        let whole = "<think>\nwhy < not</think>\n\nthe answer </think> stays";
        for size in 1..9 {
            let chars: Vec<char> = whole.chars().collect();
            let pieces: Vec<String> = chars.chunks(size).map(|part| part.iter().collect()).collect();
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            let (thought, text) = split(&pieces);
            assert_eq!(thought, "why < not", "{size}");
            assert_eq!(text.trim_start(), "the answer </think> stays", "{size}");
        }
        assert_eq!(split(&["say <think>x</think>"]).1, "say <think>x</think>");
        assert_eq!(split(&["<thin"]).1, "<thin");
        assert_eq!(split(&["<think>open"]).0, "open");
    }

    #[test]
    fn details_are_put_together_and_go_back_as_they_are() {
        let (mut thinking, mut events) = (Thinking::default(), Vec::new());
        for text in ["a", "b"] {
            let piece = json!({ "type": "reasoning.text", "index": 0, "text": text });
            thinking.delta(&json!({ "reasoning": text, "reasoning_details": [piece] }), &mut events);
        }
        let signed = json!({ "type": "reasoning.text", "index": 0, "signature": "s" });
        thinking.delta(&json!({ "reasoning_details": [signed] }), &mut events);
        thinking.end(&mut events);
        let Some(Event::ReasoningBlock { opaque }) = events.pop() else { panic!() };
        let whole = json!([{ "type": "reasoning.text", "index": 0, "text": "ab", "signature": "s" }]);
        assert_eq!(opaque["details"], whole);
        let mut said = Map::new();
        put(&mut said, &[Reasoning { text: "ab".into(), opaque: Some(opaque) }], true, Replay::Details);
        assert_eq!(said["reasoning_details"], whole);
    }
}
