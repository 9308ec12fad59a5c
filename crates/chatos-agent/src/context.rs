//! From a chat to what a model is sent: runs one after the other, every call with its result, covered
//! parts replaced by their summary, long results cut, old ones named (agents §6, working-day §2).

mod shape;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::HashMap;

use chatos_model::{Message, Reasoning};

use crate::transcript::{Entry, Origin, Speaker, Transcript};

pub(crate) use shape::{PICTURES, Shape, images, pruned_line, shape};

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

/// The conversation for a model, oldest first, without the summary.
///
/// Runs are put one after the other in the order in which they were asked for, since a person may write
/// while another run goes on.
pub(crate) fn conversation(chat: &Transcript, run_id: &str, to: &Origin) -> Vec<Said> {
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
                    said.push(Said { seq: entry.seq, id, message: user(entry), block });
                }
                Speaker::Assistant => {
                    if entry.text.is_empty() && entry.calls.is_empty() {
                        continue;
                    }
                    let (id, message) = (entry.id.clone(), answer(entry, to));
                    said.push(Said { seq: entry.seq, id, message, block: String::new() });
                    for call in &entry.calls {
                        let result = results.get(call.id.as_str());
                        let message = Message::Tool {
                            call_id: call.id.clone(),
                            name: call.name.clone(),
                            content: result.map_or(NO_RESULT, |entry| entry.text.as_str()).to_owned(),
                            is_error: result.is_none_or(|entry| entry.is_error),
                            images: result.map(|entry| entry.images.clone()).unwrap_or_default(),
                        };
                        let seq = result.map_or(entry.seq, |entry| entry.seq);
                        said.push(Said { seq, id: call.id.clone(), message, block: String::new() });
                    }
                }
            }
        }
    }
    said
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
