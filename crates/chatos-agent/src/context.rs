//! From a chat to what a model is sent: runs one after the other, every call with its result, covered
//! parts replaced by their summary (agents §6, §9).

use std::collections::HashSet;

use chatos_model::{Message, Reasoning};

use crate::transcript::{Entry, Speaker, Transcript};

/// What a call without a result is answered with in the context; the transcript is left alone.
const NO_RESULT: &str = "[canceled] this call was interrupted; its outcome is unknown";

/// A message with where it came from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Said {
    /// Place of its entry in the chat.
    pub seq: i64,
    /// The message.
    pub message: Message,
}

/// The conversation for a model that speaks `protocol`, oldest first, without the summary.
///
/// Runs are put one after the other in the order in which they were asked for, since a person may write
/// while another run goes on. `trim` leaves out that many messages at the beginning.
pub(crate) fn conversation(chat: &Transcript, run_id: &str, protocol: &str) -> Vec<Said> {
    let mut said = Vec::new();
    for group in groups(chat, run_id) {
        let mut used: HashSet<&str> = HashSet::new();
        for entry in &group {
            match entry.speaker {
                Speaker::Notice => {}
                Speaker::Tool => {}
                Speaker::User => said.push(Said { seq: entry.seq, message: user(entry) }),
                Speaker::Assistant => {
                    if entry.text.is_empty() && entry.calls.is_empty() {
                        continue;
                    }
                    said.push(Said { seq: entry.seq, message: answer(entry, protocol) });
                    for call in &entry.calls {
                        used.insert(&call.id);
                        let result =
                            group.iter().find(|e| e.speaker == Speaker::Tool && e.call_id == call.id);
                        let message = Message::Tool {
                            call_id: call.id.clone(),
                            name: call.name.clone(),
                            content: result.map_or(NO_RESULT, |entry| entry.text.as_str()).to_owned(),
                            is_error: result.is_none_or(|entry| entry.is_error),
                        };
                        said.push(Said { seq: result.map_or(entry.seq, |entry| entry.seq), message });
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
            // What waited for its turn was in nobody's context when the summary was made.
            entry.seq <= summary.to_seq && (entry.run_id != run_id || summary.run_id == run_id)
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
    Message::User { text: entry.text.clone(), images: entry.images.clone() }
}

fn answer(entry: &Entry, protocol: &str) -> Message {
    // A vendor's own blocks go back to that vendor only.
    let own = entry.protocol == protocol;
    let reasoning = if own { entry.reasoning.clone() } else { Vec::<Reasoning>::new() };
    let mut tool_calls = entry.calls.clone();
    if !own {
        for call in &mut tool_calls {
            call.opaque = None;
        }
    }
    Message::Assistant { text: entry.text.clone(), reasoning, tool_calls }
}

/// Estimated tokens of a message: UTF-8 bytes by three, arguments and pictures included (agents §9).
pub(crate) fn tokens(message: &Message) -> u64 {
    let bytes = match message {
        Message::User { text, images } => {
            text.len() + images.iter().map(|image| image.data.len() / 4).sum::<usize>()
        }
        Message::Assistant { text, reasoning, tool_calls } => {
            let thought: usize = reasoning.iter().map(|r| r.text.len()).sum();
            let calls: usize = tool_calls.iter().map(|c| c.name.len() + c.arguments.len() + 16).sum();
            text.len() + thought + calls
        }
        Message::Tool { content, name, .. } => content.len() + name.len(),
    };
    bytes as u64 / 3 + 4
}

#[cfg(test)]
pub(crate) mod tests {
    use chatos_model::ToolCall;

    use super::*;
    use crate::transcript::Summary;

    pub(crate) fn entry(seq: i64, run: &str, speaker: Speaker, text: &str) -> Entry {
        Entry {
            id: format!("m{seq}"),
            seq,
            run_id: run.to_owned(),
            speaker,
            text: text.to_owned(),
            images: Vec::new(),
            reasoning: Vec::new(),
            protocol: String::new(),
            calls: Vec::new(),
            call_id: String::new(),
            tool_name: String::new(),
            is_error: false,
            partial: false,
        }
    }

    pub(crate) fn calling(seq: i64, run: &str, ids: &[&str]) -> Entry {
        let calls = ids.iter().map(|id| ToolCall {
            id: (*id).to_owned(),
            name: "t".to_owned(),
            arguments: "{}".to_owned(),
            opaque: None,
        });
        Entry { calls: calls.collect(), ..entry(seq, run, Speaker::Assistant, "") }
    }

    pub(crate) fn result(seq: i64, run: &str, id: &str) -> Entry {
        Entry { call_id: id.to_owned(), ..entry(seq, run, Speaker::Tool, id) }
    }

    fn texts(said: &[Said]) -> Vec<String> {
        said.iter()
            .map(|said| match &said.message {
                Message::User { text, .. } => format!("u:{text}"),
                Message::Assistant { text, tool_calls, .. } => format!("a:{text}{}", tool_calls.len()),
                Message::Tool { call_id, is_error, .. } => format!("t:{call_id}:{is_error}"),
            })
            .collect()
    }

    #[test]
    fn a_message_sent_meanwhile_comes_after_the_run_it_waited_for() {
        let chat = Transcript {
            entries: vec![
                entry(1, "r1", Speaker::User, "one"),
                calling(2, "r1", &["c1"]),
                entry(3, "r2", Speaker::User, "two"),
                result(4, "r1", "c1"),
                entry(5, "r1", Speaker::Assistant, "done"),
            ],
            ..Transcript::default()
        };
        let all = ["u:one", "a:1", "t:c1:false", "a:done0", "u:two"];
        assert_eq!(texts(&conversation(&chat, "r2", "")), all);
        let waiting = Transcript { queued: vec!["r2".to_owned()], ..chat };
        assert_eq!(texts(&conversation(&waiting, "r1", "")), all[..4]);
    }

    #[test]
    fn a_run_that_is_continued_late_comes_after_what_was_said_meanwhile() {
        let chat = Transcript {
            entries: vec![
                entry(1, "r1", Speaker::User, "one"),
                calling(2, "r1", &["c1"]),
                entry(3, "r2", Speaker::User, "two"),
                entry(4, "r2", Speaker::Assistant, "done"),
                result(5, "r1", "c1"),
            ],
            ..Transcript::default()
        };
        let wanted = ["u:two", "a:done0", "u:one", "a:1", "t:c1:false"];
        assert_eq!(texts(&conversation(&chat, "r1", "")), wanted);
    }

    #[test]
    fn every_call_has_a_result_right_behind_it_whatever_was_written_between() {
        let chat = Transcript {
            entries: vec![
                entry(1, "r", Speaker::User, "go"),
                calling(2, "r", &["c1", "c2"]),
                entry(3, "r", Speaker::User, "correction"),
                result(4, "r", "c2"),
                entry(5, "r", Speaker::Notice, "shown only"),
                result(6, "r", "stray"),
            ],
            ..Transcript::default()
        };
        let wanted = ["u:go", "a:2", "t:c1:true", "t:c2:false", "u:correction"];
        assert_eq!(texts(&conversation(&chat, "r", "")), wanted);
    }

    #[test]
    fn what_a_summary_covers_is_left_out_but_not_what_waited() {
        let chat = Transcript {
            entries: vec![
                entry(1, "r1", Speaker::User, "old"),
                entry(2, "r2", Speaker::User, "waited"),
                entry(3, "r1", Speaker::Assistant, "older"),
            ],
            summary: Some(Summary {
                id: "s".to_owned(),
                to_seq: 3,
                run_id: "r1".to_owned(),
                text: "sum".to_owned(),
            }),
            ..Transcript::default()
        };
        assert_eq!(texts(&conversation(&chat, "r2", "")), ["u:waited"]);
    }
}
