//! Results as a request has them: long ones cut, those of one pass together within their share, old ones
//! one line each. What follows depends on the chat and the window alone, so every request says it the same way.

use std::borrow::Cow;

use chatos_model::{Image, Message, ToolCall};

use super::Said;
use crate::result::within;
use crate::room::Room;

/// No single result has less of the window, in bytes.
const LEAST: usize = 4_000;
/// However many results a pass has, each says at least this much.
const SHORTEST: usize = 200;
/// A result in a context that had to be squeezed.
const SQUEEZED: usize = 2_000;
/// Longer arguments of old calls are left out.
const ARGUMENTS: usize = 2_000;
/// Pictures that stay when old ones go.
pub(crate) const PICTURES: usize = 3;
/// Most pictures of a request.
const MOST_PICTURES: usize = 20;
/// Beyond that the oldest go so many at a time: until the next time, each request goes on as the last one ended.
const STEP: usize = 10;

/// How long things may be in a request, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    each: usize,
    pass: usize,
    user: usize,
    pruned_to: i64,
    squeezed_to: i64,
}

impl Shape {
    /// A shape in which nothing is cut or left out, for tests of the order of messages.
    #[cfg(test)]
    pub(crate) const OPEN: Self = Self {
        each: usize::MAX,
        pass: usize::MAX,
        user: usize::MAX,
        pruned_to: i64::MIN,
        squeezed_to: i64::MIN,
    };

    /// `limit` is what a person set for a result.
    pub(crate) fn new(room: &Room, limit: usize, marks: &crate::transcript::Marks) -> Self {
        let usable = room.fixed_usable() as usize;
        let pass = (usable * 3 / 4).max(SQUEEZED);
        let each = limit.min(usable * 3 / 10).max(LEAST).min(pass);
        Self { each, pass, user: usable * 3 / 2, pruned_to: marks.pruned_to, squeezed_to: marks.squeezed_to }
    }
}

/// A call with what came of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answered<'a> {
    pub(crate) seq: i64,
    pub(crate) call: &'a ToolCall,
    pub(crate) text: &'a str,
    pub(crate) is_error: bool,
}

impl Shape {
    /// Brings the words of a person into this shape.
    pub(crate) fn words(&self, seq: i64, id: &str, message: &mut Message) {
        if seq <= self.squeezed_to {
            // The text of a document is shorter than the document, and can be cut.
            message.fold_documents();
        }
        if let Message::User { text, .. } = message
            && text.len() > self.user
        {
            *text = within(text, self.user, Some(id));
        }
    }

    /// Leaves out the long arguments of old calls.
    pub(crate) fn arguments(&self, seq: i64, calls: &mut [ToolCall]) {
        if seq <= self.pruned_to {
            calls.iter_mut().for_each(shorten);
        }
    }

    /// The results of one pass as a request has them. What is left out is never copied: results may be large, and every
    /// pass of a run goes through all of them.
    pub(crate) fn results(&self, results: &[Answered<'_>]) -> Vec<String> {
        let most = |one: &Answered<'_>| {
            if one.seq <= self.squeezed_to { self.each.min(SQUEEZED) } else { self.each }
        };
        let texts: Vec<Cow<'_, str>> = results.iter().map(|one| self.text(one)).collect();
        let lengths: Vec<usize> =
            texts.iter().zip(results).map(|(text, one)| text.len().min(most(one))).collect();
        let level = level(&lengths, self.pass);
        let cut = |(text, one): (Cow<'_, str>, &Answered<'_>)| match most(one).min(level) {
            most if text.len() > most => within(&text, most, Some(&one.call.id)),
            _ => text.into_owned(),
        };
        texts.into_iter().zip(results).map(cut).collect()
    }

    fn text<'a>(&self, one: &Answered<'a>) -> Cow<'a, str> {
        if one.seq > self.pruned_to {
            return Cow::Borrowed(one.text);
        }
        let line = pruned_line(&one.call.name, &one.call.arguments, one.text, one.is_error, &one.call.id);
        // A short result says more than the line that would stand for it.
        if one.text.len() <= line.len() { Cow::Borrowed(one.text) } else { Cow::Owned(line) }
    }

    /// Old pictures but the newest of them become words, and so do the oldest of too many.
    pub(crate) fn pictures(&self, said: &mut [Said]) {
        pictures(said, self.pruned_to);
    }
}

/// The length to which the longest are cut so that all together have at most `room`.
fn level(lengths: &[usize], room: usize) -> usize {
    if lengths.iter().sum::<usize>() <= room {
        return usize::MAX;
    }
    let mut sorted = lengths.to_vec();
    sorted.sort_unstable();
    let mut left = room;
    for (index, length) in sorted.iter().enumerate() {
        let share = left / (sorted.len() - index);
        if *length > share {
            return share.max(SHORTEST);
        }
        left -= length;
    }
    usize::MAX
}

/// What stands for a result that is left out.
pub(crate) fn pruned_line(name: &str, arguments: &str, content: &str, is_error: bool, id: &str) -> String {
    let arguments: String = arguments.chars().take(120).collect();
    let status = if is_error { "error" } else { "ok" };
    let lines = content.lines().count();
    format!("[{name} {arguments} → {status}, {lines} lines, pruned; read_result id={id}]")
}

/// Long arguments of a call, as an object of the same tool.
fn shorten(call: &mut ToolCall) {
    let length = call.arguments.chars().count();
    if length > ARGUMENTS {
        let about = format!("{length} characters of arguments were left out");
        call.arguments = serde_json::json!({ "pruned": about }).to_string();
    }
}

fn pictures(said: &mut [Said], pruned_to: i64) {
    let count = |said: &[Said], old: bool| -> usize {
        let wanted = said.iter().filter(|one| !old || one.seq <= pruned_to);
        wanted.map(|one| images(&one.message).len()).sum()
    };
    let beyond = count(said, false).saturating_sub(MOST_PICTURES).div_ceil(STEP) * STEP;
    let mut old = count(said, true).saturating_sub(PICTURES);
    let mut number = 0;
    for one in said.iter_mut() {
        let is_old = one.seq <= pruned_to;
        let (text, images) = match &mut one.message {
            Message::User { text, images, .. } => (text, images),
            Message::Tool { content, images, .. } => (content, images),
            Message::Assistant { .. } => continue,
        };
        images.retain(|image| {
            number += 1;
            let goes = number <= beyond || (is_old && old > 0) || image.data.is_empty();
            if is_old {
                old = old.saturating_sub(1);
            }
            if goes {
                text.push_str("\n[a picture was left out]");
            }
            !goes
        });
    }
}

/// The pictures of a message.
pub(crate) fn images(message: &Message) -> &[Image] {
    match message {
        Message::User { images, .. } | Message::Tool { images, .. } => images,
        Message::Assistant { .. } => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::conversation;
    use crate::context::tests::{calling, entry, result};
    use crate::transcript::{Entry, Origin, Speaker, Transcript};

    fn shaped(lengths: &[usize], shape_of: Shape) -> Vec<String> {
        let ids: Vec<String> = (0..lengths.len()).map(|n| format!("c{n}")).collect();
        let names: Vec<&str> = ids.iter().map(String::as_str).collect();
        let mut entries = vec![entry(1, "r", Speaker::User, "go"), calling(2, "r", &names)];
        for (index, length) in lengths.iter().enumerate() {
            entries
                .push(Entry { text: "x\n".repeat(length / 2), ..result(3 + index as i64, "r", &ids[index]) });
        }
        let chat = Transcript { entries, ..Transcript::default() };
        let said = conversation(&chat, "r", &Origin::default(), &shape_of);
        said.into_iter()
            .filter_map(|said| match said.message {
                Message::Tool { content, .. } => Some(content),
                _ => None,
            })
            .collect()
    }

    const PLAIN: Shape = Shape { each: 4_000, pass: 6_000, user: 9_000, pruned_to: 0, squeezed_to: 0 };

    #[test]
    fn the_largest_results_of_a_pass_are_cut_and_name_the_way_to_the_rest() {
        let results = shaped(&[100, 100_000, 3_000], PLAIN);
        assert_eq!(results[0].len(), 100);
        assert!(results[1].len() < 3_400 && results[1].contains("read_result id=c1"), "{}", results[1].len());
        assert!(results.iter().map(String::len).sum::<usize>() < 6_600);
        assert!(shaped(&[8_000], PLAIN)[0].len() < 4_200);
    }

    #[test]
    fn old_results_are_one_line_and_short_ones_stay() {
        let results = shaped(&[30, 5_000], Shape { pruned_to: 9, ..PLAIN });
        assert_eq!(results[0].len(), 30);
        assert_eq!(results[1], "[t {} → ok, 2500 lines, pruned; read_result id=c1]");
        assert!(shaped(&[5_000], Shape { squeezed_to: 9, ..PLAIN })[0].len() < 2_200);
    }

    /// Passes with one result and so many pictures each, as they are after a request was made of them.
    fn pictured(passes: i64, pictures: usize, pruned_to: i64) -> Vec<(usize, usize)> {
        let mut entries = vec![entry(1, "r", Speaker::User, "go")];
        for pass in 0..passes {
            let id = format!("c{pass}");
            let image = Image { data: "AA==".to_owned(), ..Image::default() };
            entries.push(calling(pass * 2 + 2, "r", &[&id]));
            entries.push(Entry { images: vec![image; pictures], ..result(pass * 2 + 3, "r", &id) });
        }
        let chat = Transcript { entries, ..Transcript::default() };
        let said = conversation(&chat, "r", &Origin::default(), &Shape { pruned_to, ..PLAIN });
        let results = said.iter().filter_map(|said| match &said.message {
            Message::Tool { images, content, .. } => {
                Some((images.len(), content.matches("left out").count()))
            }
            _ => None,
        });
        results.collect()
    }

    #[test]
    fn pictures_leave_only_when_results_are_pruned_or_there_are_too_many() {
        assert_eq!(pictured(3, 2, 0), [(2, 0); 3]);
        // Up to the mark the newest three stay, whatever comes later.
        assert_eq!(pictured(3, 2, 7), [(0, 2), (1, 1), (2, 0)]);
        assert_eq!(pictured(5, 2, 7), [(0, 2), (1, 1), (2, 0), (2, 0), (2, 0)]);
        // Ten at a time: the twenty-first makes ten go, the next nine none.
        let sums: Vec<usize> =
            (20..=31).map(|passes| pictured(passes, 1, 0).iter().map(|one| one.0).sum()).collect();
        assert_eq!(sums, [20, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 11]);
        assert_eq!(pictured(21, 1, 0)[..11].iter().map(|one| one.1).sum::<usize>(), 10);
    }

    #[test]
    fn many_results_share_what_there_is() {
        let results = shaped(&[900; 64], PLAIN);
        assert!(results.iter().all(|text| text.len() < 400));
        assert_eq!(level(&[10, 10, 500], 120), 200);
        assert_eq!(level(&[10, 10], 120), usize::MAX);
    }
}
