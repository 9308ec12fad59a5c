//! From a chat to what a model is sent: runs one after the other, every call with its result, covered
//! parts replaced by their summary, long results cut, old ones named (agents §6, working-day §2).

mod shape;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::HashMap;

use chatos_model::{Message, Reasoning, ToolCall};

use crate::transcript::{Entry, Origin, Speaker, Transcript};

use shape::Answered;
pub(crate) use shape::{PICTURES, Shape, images, pruned_line};

/// What a call without a result is answered with in the context; the transcript is left alone.
const NO_RESULT: &str = "[canceled] this call was interrupted; its outcome is unknown";

/// A message with where it came from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Said {
    /// Place of its entry in the chat.
    pub seq: i64,
    /// Its id, or that of its call: what `read_result` knows it by.
    pub id: String,
    /// The message.
    pub message: Message,
    /// What is sent before it; no summary is made of it.
    pub block: String,
}

/// The conversation for a model in this shape, oldest first, without the summary.
///
/// Runs are put one after the other in the order in which they were asked for, since a person may write
/// while another run goes on.
pub(crate) fn conversation(chat: &Transcript, run_id: &str, to: &Origin, shape: &Shape) -> Vec<Said> {
    let mut said = Vec::new();
    for group in groups(chat, run_id) {
        let results: HashMap<&str, &Entry> = group
            .iter()
            .rev()
            .filter(|entry| entry.speaker == Speaker::Tool)
            .map(|entry| (entry.call_id.as_str(), *entry))
            .collect();
        for entry in &group {
            match entry.speaker {
                Speaker::Notice | Speaker::Tool => {}
                Speaker::User => {
                    let (id, block) = (entry.id.clone(), entry.block.clone());
                    let mut message = user(entry);
                    shape.words(entry.seq, &id, &mut message);
                    said.push(Said { seq: entry.seq, id, message, block });
                }
                Speaker::Assistant => {
                    if entry.text.is_empty() && entry.calls.is_empty() {
                        continue;
                    }
                    let (id, mut message) = (entry.id.clone(), answer(entry, to));
                    if let Message::Assistant { tool_calls, .. } = &mut message {
                        shape.arguments(entry.seq, tool_calls);
                    }
                    said.push(Said { seq: entry.seq, id, message, block: String::new() });
                    let answered: Vec<Answered<'_>> =
                        entry.calls.iter().map(|call| answered(entry, call, &results)).collect();
                    for (one, content) in answered.iter().zip(shape.results(&answered)) {
                        let images = results.get(one.call.id.as_str()).map(|entry| entry.images.clone());
                        let message = Message::Tool {
                            call_id: one.call.id.clone(),
                            name: one.call.name.clone(),
                            content,
                            is_error: one.is_error,
                            images: images.unwrap_or_default(),
                        };
                        said.push(Said {
                            seq: one.seq,
                            id: one.call.id.clone(),
                            message,
                            block: String::new(),
                        });
                    }
                }
            }
        }
    }
    shape.pictures(&mut said);
    said
}

/// A call of an answer with its result; one without is told so.
fn answered<'a>(entry: &Entry, call: &'a ToolCall, results: &HashMap<&str, &'a Entry>) -> Answered<'a> {
    match results.get(call.id.as_str()) {
        Some(result) => Answered { seq: result.seq, call, text: &result.text, is_error: result.is_error },
        None => Answered { seq: entry.seq, call, text: NO_RESULT, is_error: true },
    }
}

/// Entries that count, grouped by run in the order the runs were asked for.
fn groups<'a>(chat: &'a Transcript, run_id: &str) -> Vec<Vec<&'a Entry>> {
    let covered = |entry: &Entry| {
        chat.summary.as_ref().is_some_and(|summary| {
            // What waited for its turn was in nobody's context when the summary was made, and a run that goes
            // on late needs its own words whatever another one summarised meanwhile.
            entry.seq <= summary.to_seq
                && !summary.left_out.contains(&entry.run_id)
                && (entry.run_id != run_id || summary.run_id == run_id)
        })
    };
    let mut groups: Vec<(&str, Vec<&Entry>)> = Vec::new();
    for entry in &chat.entries {
        if covered(entry) || chat.queued.contains(&entry.run_id) {
            continue;
        }
        let known = groups.iter_mut().rev().find(|(id, _)| !entry.run_id.is_empty() && *id == entry.run_id);
        match known {
            Some((_, group)) => group.push(entry),
            None => match groups.last_mut() {
                Some((id, group)) if id.is_empty() && entry.run_id.is_empty() => group.push(entry),
                _ => groups.push((&entry.run_id, vec![entry])),
            },
        }
    }
    // agents §6: the current turn stands last, also when newer ones ended while it was interrupted.
    groups.sort_by_key(|(id, _)| *id == run_id);
    groups.into_iter().map(|(_, group)| group).collect()
}

fn user(entry: &Entry) -> Message {
    Message::User {
        text: entry.text.clone(),
        images: entry.images.clone(),
        documents: entry.documents.clone(),
    }
}

fn answer(entry: &Entry, to: &Origin) -> Message {
    // What a model thought goes back to that very model only.
    let own = entry.origin.gives_back_to(to);
    let reasoning = if own { entry.reasoning.clone() } else { Vec::<Reasoning>::new() };
    let mut tool_calls = entry.calls.clone();
    if !own {
        for call in &mut tool_calls {
            call.opaque = None;
        }
    }
    Message::Assistant { text: entry.text.clone(), reasoning, tool_calls }
}
