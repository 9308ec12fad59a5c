//! Pictures of tools where a result is text alone: they follow in one message once all results of a pass are said.
//! Used by chat completions and Ollama.

use std::borrow::Cow;

use crate::{Image, Message};

/// Stands before the pictures of tools: they are no words of the person.
const RETURNED: &str = "Pictures returned by the tools above:";

/// The conversation with results of text alone, each naming the pictures that follow behind its pass.
pub(super) fn behind(messages: &[Message]) -> Vec<Cow<'_, Message>> {
    let mut out = Vec::with_capacity(messages.len());
    let mut waiting: Vec<Image> = Vec::new();
    for message in messages {
        let Message::Tool { call_id, name, content, is_error, images } = message else {
            flush(&mut waiting, &mut out);
            out.push(Cow::Borrowed(message));
            continue;
        };
        if images.is_empty() {
            out.push(Cow::Borrowed(message));
            continue;
        }
        let mut content = content.clone();
        for number in 1..=images.len() {
            let gap = if content.is_empty() { "" } else { "\n" };
            content.push_str(&format!("{gap}[picture {number} of call {call_id} follows]"));
        }
        waiting.extend_from_slice(images);
        let (call_id, name, is_error) = (call_id.clone(), name.clone(), *is_error);
        out.push(Cow::Owned(Message::Tool { call_id, name, content, is_error, images: Vec::new() }));
    }
    flush(&mut waiting, &mut out);
    out
}

fn flush(waiting: &mut Vec<Image>, out: &mut Vec<Cow<'_, Message>>) {
    if !waiting.is_empty() {
        let images = std::mem::take(waiting);
        out.push(Cow::Owned(Message::User { text: RETURNED.to_owned(), images, documents: Vec::new() }));
    }
}
