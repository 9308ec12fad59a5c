//! A model that makes the same failing call over and over (agents §7).

use chatos_tool::canonical;
use serde_json::Value;

use crate::transcript::{Speaker, Transcript};

/// After this many the model is told.
const TELL: usize = 3;
/// After this many the run ends.
const STOP: usize = 6;

/// What to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeating {
    /// Nothing.
    No,
    /// Tell the model.
    Tell,
    /// End the run.
    Stop,
}

/// What the model is told.
pub(crate) const NOTE: &str = "The last calls were the same call with the same arguments, and every one of them failed. \
Do not repeat it: change the arguments, use another tool, or tell the person what stands in the way.";

/// Looks at the end of a run: the same call, with equal arguments, failing in a row.
pub(crate) fn look(chat: &Transcript, run_id: &str) -> Repeating {
    let own: Vec<_> = chat.entries.iter().filter(|entry| entry.run_id == run_id).collect();
    let failed = |call: &str| {
        own.iter().find(|e| e.speaker == Speaker::Tool && e.call_id == call).is_some_and(|e| e.is_error)
    };
    let mut last: Option<(String, Option<Vec<u8>>)> = None;
    let mut count = 0;
    let calls = own.iter().rev().flat_map(|entry| entry.calls.iter().rev());
    for call in calls {
        if !failed(&call.id) {
            break;
        }
        let this = (call.name.clone(), arguments(&call.arguments));
        if last.as_ref().is_some_and(|last| *last != this) {
            break;
        }
        last = Some(this);
        count += 1;
    }
    match count {
        0..TELL => Repeating::No,
        TELL..STOP => Repeating::Tell,
        _ => Repeating::Stop,
    }
}

/// Arguments to compare: however they are written, and broken in whatever way (no JSON object is like another).
fn arguments(text: &str) -> Option<Vec<u8>> {
    let value = serde_json::from_str(text).ok().filter(Value::is_object)?;
    let mut bytes = Vec::new();
    canonical(&value, &mut |part| bytes.extend_from_slice(part));
    Some(bytes)
}

/// How often in a row the newest calls of a run had broken arguments for this tool, this one not counted.
pub(crate) fn resent(chat: &Transcript, run_id: &str, name: &str, except: &str) -> usize {
    let own = chat.entries.iter().rev().filter(|entry| entry.run_id == run_id);
    let calls = own.flat_map(|entry| entry.calls.iter().rev());
    let same = calls.filter(|call| call.name == name && call.id != except);
    same.take_while(|call| arguments(&call.arguments).is_none()).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::tests::{calling, result};
    use crate::transcript::Entry;

    fn chat(arguments: &[(&str, bool)]) -> Transcript {
        let mut entries = Vec::new();
        for (index, (arguments, fails)) in arguments.iter().enumerate() {
            let id = format!("c{index}");
            let mut call = calling(index as i64 * 2, "r", &[&id]);
            call.calls[0].arguments = (*arguments).to_owned();
            entries.push(call);
            entries.push(Entry { is_error: *fails, ..result(index as i64 * 2 + 1, "r", &id) });
        }
        Transcript { entries, ..Transcript::default() }
    }

    #[test]
    fn equal_arguments_count_however_they_are_written() {
        let same = [("{\"a\":1,\"b\":2}", true), ("{\"b\": 2, \"a\": 1}", true), ("{\"a\":1,\"b\":2}", true)];
        assert_eq!(look(&chat(&same), "r"), Repeating::Tell);
        assert_eq!(look(&chat(&same[..2]), "r"), Repeating::No);
        assert_eq!(look(&chat(&same), "other"), Repeating::No);
        assert_eq!(look(&chat(&[("{}", true); 6]), "r"), Repeating::Stop);
    }

    #[test]
    fn broken_arguments_are_alike_and_counted() {
        let broken = [("{\"a\": 1", true), ("{a", true), ("[]", true), ("{\"a\"", true)];
        assert_eq!(look(&chat(&broken), "r"), Repeating::Tell);
        let whole = chat(&broken);
        let name = whole.entries[0].calls[0].name.clone();
        assert_eq!(resent(&whole, "r", &name, "c3"), 3);
        assert_eq!(resent(&whole, "r", "other", "c3"), 0);
        assert_eq!(resent(&chat(&[("{", true), ("{}", true), ("{", true)]), "r", &name, "c2"), 0);
    }

    #[test]
    fn a_success_or_another_call_begins_anew() {
        let mut calls = vec![("{}", true); 5];
        calls.push(("{}", false));
        assert_eq!(look(&chat(&calls), "r"), Repeating::No);
        calls.extend([("{}", true), ("{\"x\":1}", true), ("{\"x\":1}", true)]);
        assert_eq!(look(&chat(&calls), "r"), Repeating::No);
    }
}
