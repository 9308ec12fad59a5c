//! When and where a conversation is summarised (agents §9). The transcript is never touched.

use chatos_model::Message;

use crate::context::{Said, tokens};

/// The share of the conversation that stays as it is.
const TAIL: f64 = 0.3;
/// The share of the model's window that may be filled.
const WINDOW: f64 = 0.85;

/// Whether it is time. `threshold` 0 switches the first rule off; `window` 0 means unknown.
pub(crate) fn is_due(estimate: u64, threshold: u64, window: u64) -> bool {
    let over = threshold > 0 && estimate > threshold;
    over || (window > 0 && estimate as f64 > window as f64 * WINDOW)
}

/// How many messages from the beginning to summarise; `None` when nothing can go.
///
/// What stays is about a third, never begins with a tool's result, and has the last message of the
/// person in it.
pub(crate) fn cut(said: &[Said]) -> Option<usize> {
    let last_user = said.iter().rposition(|s| matches!(s.message, Message::User { .. }))?;
    let sizes: Vec<u64> = said.iter().map(|said| tokens(&said.message)).collect();
    let keep = (sizes.iter().sum::<u64>() as f64 * TAIL) as u64;
    let mut kept = 0;
    let mut at = said.len();
    while at > 0 && kept + sizes[at - 1] <= keep {
        at -= 1;
        kept += sizes[at];
    }
    let mut at = at.min(last_user);
    while at > 0 && matches!(said[at].message, Message::Tool { .. }) {
        at -= 1;
    }
    (at > 0).then_some(at)
}

/// The conversation cut at the front until it fits, when summarising did not help. Keeps the rules of
/// [`cut`]: the last message of the person stays, with what follows it as far as there is room.
pub(crate) fn trim(said: &[Said], budget: u64) -> usize {
    let Some(last_user) = said.iter().rposition(|s| matches!(s.message, Message::User { .. })) else {
        return 0;
    };
    let mut left: u64 = said.iter().map(|said| tokens(&said.message)).sum();
    let mut at = 0;
    while at < last_user && left > budget {
        left -= tokens(&said[at].message);
        at += 1;
    }
    while at < last_user && matches!(said[at].message, Message::Tool { .. }) {
        at += 1;
    }
    at
}

/// What the model is asked for a summary.
pub(crate) const INSTRUCTION: &str = "Summarise the conversation above for yourself, so that the work can go on without \
it. Keep: what the person wants, decisions and their reasons, names, paths, numbers and ids exactly, what was done \
and found, what is still open. Leave out greetings and repeated text. Answer with the summary alone, in the language \
of the conversation.";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::conversation;
    use crate::context::tests::{calling, entry, result};
    use crate::transcript::{Speaker, Transcript};

    fn chat(rounds: i64) -> Vec<Said> {
        let mut entries = Vec::new();
        for round in 0..rounds {
            let run = format!("r{round}");
            entries.push(entry(round * 4 + 1, &run, Speaker::User, &"question ".repeat(20)));
            entries.push(calling(round * 4 + 2, &run, &["c"]));
            entries.push(result(round * 4 + 3, &run, "c"));
            entries.push(entry(round * 4 + 4, &run, Speaker::Assistant, &"answer ".repeat(40)));
        }
        conversation(&Transcript { entries, ..Transcript::default() }, "", "")
    }

    #[test]
    fn the_tail_is_about_a_third_and_begins_well() {
        let said = chat(125);
        let at = cut(&said).unwrap();
        assert!(!matches!(said[at].message, Message::Tool { .. }));
        let all: u64 = said.iter().map(|s| tokens(&s.message)).sum();
        let kept: u64 = said[at..].iter().map(|s| tokens(&s.message)).sum();
        assert!(kept * 10 >= all * 2 && kept * 10 <= all * 4, "{kept} of {all}");
        assert!(said[at..].iter().any(|s| matches!(s.message, Message::User { .. })));
    }

    #[test]
    fn the_last_message_of_the_person_stays_however_much_follows_it() {
        let mut said = chat(1);
        said.extend(chat(1));
        let long = entry(99, "z", Speaker::Assistant, &"x".repeat(90_000));
        said.extend(conversation(&Transcript { entries: vec![long], ..Transcript::default() }, "", ""));
        let at = cut(&said).unwrap();
        assert!(at <= said.len() / 2);
        assert_eq!(cut(&chat(1)), None);
        assert_eq!(cut(&[]), None);
    }

    #[test]
    fn due_by_either_rule() {
        assert!(is_due(60_001, 60_000, 0) && !is_due(60_000, 60_000, 0));
        assert!(!is_due(1_000_000, 0, 0) && is_due(90, 0, 100) && !is_due(80, 0, 100));
    }

    #[test]
    fn trimming_stops_at_the_last_question() {
        let said = chat(10);
        assert_eq!(trim(&said, u64::MAX), 0);
        let at = trim(&said, 0);
        assert!(matches!(said[at].message, Message::User { .. }));
        assert!(said[at + 1..].iter().all(|s| !matches!(s.message, Message::User { .. })));
    }
}
