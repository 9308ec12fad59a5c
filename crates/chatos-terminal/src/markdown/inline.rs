//! The marks inside of a line: what of it can be shown already, and how it looks. A mark is held until its other half
//! is there, or the line ends and it was only a letter.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::lines::{CYAN, Span, Style};

/// Bytes a mark may wait for its other half.
const HOLD: usize = 500;

/// What stands before the text given to the parser, so that nothing in it begins a block.
const SHELTER: &str = "x ";

/// What the beginning of a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// So many bytes without any mark.
    Plain(usize),
    /// So many bytes that belong together.
    Marked(usize),
    /// A mark whose other half is not there yet, of so many bytes.
    Open(usize),
}

const MARKS: [char; 9] = ['\\', '`', '*', '_', '[', '!', '<', '&', '~'];

/// Looks at the beginning of a text. `before`: the letter in front of it. `ended`: nothing more comes.
pub(super) fn next(text: &str, before: Option<char>, ended: bool) -> Next {
    let Some(at) = text.find(MARKS) else { return Next::Plain(text.len()) };
    if at > 0 {
        return Next::Plain(at);
    }
    let mut end = text.len().min(HOLD);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let seen = &text[..end];
    // What is too long to wait for is a letter.
    let ended = ended || text.len() > HOLD;
    let first = seen.chars().next().unwrap_or_default();
    let run = seen.chars().take_while(|c| *c == first).count();
    let rest = &seen[run..];
    let open = |bytes: usize| if ended { Next::Plain(bytes) } else { Next::Open(bytes) };
    match first {
        '\\' => match seen[1..].chars().next() {
            Some(c) if c.is_ascii_punctuation() => Next::Marked(2),
            Some(_) => Next::Plain(1),
            None => open(1),
        },
        '`' if rest.is_empty() => open(run),
        '`' => match closing_ticks(rest, run, ended) {
            Some(end) => Next::Marked(run + end),
            None => open(run),
        },
        '*' | '_' | '~' => {
            let inside = first == '_' && before.is_some_and(char::is_alphanumeric);
            if inside || (first == '~' && run > 2) || run > 3 {
                return Next::Plain(run);
            }
            match rest.chars().next() {
                None => open(run),
                Some(c) if c.is_whitespace() => Next::Plain(run),
                Some(_) => match closing(rest, first, run, ended) {
                    Some(end) => Next::Marked(run + end),
                    None => open(run),
                },
            }
        }
        '!' => match seen[1..].chars().next() {
            Some('[') => link(&seen[1..], ended).map_or_else(|| open(1), |end| whole(end, 1)),
            Some(_) => Next::Plain(1),
            None => open(1),
        },
        '[' => link(seen, ended).map_or_else(|| open(1), |end| whole(end, 0)),
        '<' => match seen[1..].chars().next() {
            Some(c) if c.is_ascii_alphabetic() => match seen.find('>') {
                Some(end) => Next::Marked(end + 1),
                None if seen.contains(' ') => Next::Plain(1),
                None => open(1),
            },
            Some(_) => Next::Plain(1),
            None => open(1),
        },
        _ => {
            let name = seen[1..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '#').count();
            match seen[1 + name..].chars().next() {
                Some(';') if name > 0 => Next::Marked(name + 2),
                None if name < 32 => open(1),
                _ => Next::Plain(1),
            }
        }
    }
}

/// `end` of 0 says that it is no link.
fn whole(end: usize, more: usize) -> Next {
    if end == 0 { Next::Plain(more + 1) } else { Next::Marked(end + more) }
}

/// Where a span of code ends: a run of as many ticks.
fn closing_ticks(text: &str, count: usize, ended: bool) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = text[at..].find('`') {
        let from = at + found;
        let run = text[from..].chars().take_while(|c| *c == '`').count();
        let end = from + run;
        if run == count {
            // One more tick may still come.
            return (ended || end < text.len()).then_some(end);
        }
        at = end;
    }
    None
}

/// Where emphasis ends: a run of the mark behind a letter. What stands in code does not count.
fn closing(text: &str, mark: char, count: usize, ended: bool) -> Option<usize> {
    let mut before = ' ';
    let mut letters = text.char_indices();
    let mut skip = 0;
    while let Some((at, c)) = letters.next() {
        if at < skip {
            before = c;
            continue;
        }
        if c == '`' {
            let run = text[at..].chars().take_while(|c| *c == '`').count();
            skip = at + run + closing_ticks(&text[at + run..], run, ended)?;
        } else if c == '\\' {
            letters.next();
            before = 'x';
            continue;
        } else if c == mark && !before.is_whitespace() && before != mark {
            let run = text[at..].chars().take_while(|c| *c == mark).count();
            let end = at + run;
            let after = text[end..].chars().next();
            let closes = mark != '_' || !after.is_some_and(char::is_alphanumeric);
            if closes && (run == count || run == 3) {
                return (ended || after.is_some()).then_some(end);
            }
        }
        before = c;
    }
    None
}

/// Where a link `[text](address)` ends; `0` when it is none, nothing while that is open.
fn link(text: &str, ended: bool) -> Option<usize> {
    let mut depth = 0_usize;
    let mut close = None;
    for (at, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => {
                depth -= 1;
                if depth == 0 {
                    close = Some(at + 1);
                    break;
                }
            }
            _ => {}
        }
    }
    let none = ended.then_some(0);
    let Some(close) = close else { return none };
    match text[close..].chars().next() {
        None => none,
        Some('(') => {
            let mut depth = 0_usize;
            for (at, c) in text[close..].char_indices() {
                match c {
                    '(' => depth += 1,
                    ')' if depth == 1 => return Some(close + at + 1),
                    ')' => depth -= 1,
                    _ => {}
                }
            }
            none
        }
        Some(_) => Some(0),
    }
}

/// A line's text with its marks read, in the looks of its block.
pub(super) fn spans(text: &str, base: Style) -> Vec<Span> {
    let sheltered = format!("{SHELTER}{text}");
    let mut styles = vec![base];
    let mut links: Vec<(String, String)> = Vec::new();
    let mut all: Vec<Span> = Vec::new();
    let mut skip = SHELTER.len();
    for event in Parser::new_ext(&sheltered, Options::ENABLE_STRIKETHROUGH) {
        let now = styles.last().copied().unwrap_or(base);
        let mut say = |text: &str, style: Style| {
            let text = match skip {
                0 => text,
                shelter => {
                    skip = shelter.saturating_sub(text.len());
                    text.get(shelter..).unwrap_or_default()
                }
            };
            if let Some((said, _)) = links.last_mut() {
                said.push_str(text);
            }
            if !text.is_empty() {
                all.push((text.to_owned(), style));
            }
        };
        match event {
            Event::Text(text) | Event::InlineHtml(text) | Event::Html(text) => say(&text, now),
            Event::Code(code) => say(&code, Style { colour: Some(CYAN), ..now }),
            Event::SoftBreak | Event::HardBreak => say(" ", now),
            Event::Start(tag) => match tag {
                Tag::Emphasis => styles.push(Style { italic: true, ..now }),
                Tag::Strong => styles.push(Style { bold: true, ..now }),
                Tag::Strikethrough => styles.push(Style { strike: true, ..now }),
                Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                    links.push((String::new(), dest_url.into_string()));
                    styles.push(Style { underline: true, ..now });
                }
                _ => {}
            },
            Event::End(end) => match end {
                TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => drop(styles.pop()),
                TagEnd::Link | TagEnd::Image => {
                    styles.pop();
                    // Where it leads is always said: a text can lie.
                    if let Some((said, to)) = links.pop().filter(|(said, to)| said != to && !to.is_empty()) {
                        let gap = if said.is_empty() { "" } else { " " };
                        all.push((format!("{gap}({})", super::clean(&to)), Style::DIM));
                    }
                }
                _ => {}
            },
            _ => {}
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_waits_for_its_other_half_and_no_longer_than_the_line() {
        use Next::{Marked, Open, Plain};
        for (text, expected, at_end) in [
            ("plain *x*", Plain(6), Plain(6)),
            ("*x* y", Marked(3), Marked(3)),
            ("*x", Open(1), Plain(1)),
            ("**x**", Open(2), Marked(5)),
            ("**x** ", Marked(5), Marked(5)),
            ("**x *y* z** ", Marked(11), Marked(11)),
            ("*x **y** z* ", Marked(11), Marked(11)),
            ("**x *y*** ", Marked(9), Marked(9)),
            ("* x", Plain(1), Plain(1)),
            ("`a` b", Marked(3), Marked(3)),
            ("``a ` b`` c", Marked(9), Marked(9)),
            ("`a", Open(1), Plain(1)),
            ("**a `*` b** c", Marked(11), Marked(11)),
            ("[a](b) c", Marked(6), Marked(6)),
            ("[a](b", Open(1), Plain(1)),
            ("[a] b", Plain(1), Plain(1)),
            ("![a](b) c", Marked(7), Marked(7)),
            ("!x", Plain(1), Plain(1)),
            ("<https://a.b> c", Marked(13), Marked(13)),
            ("< 3", Plain(1), Plain(1)),
            ("&amp; c", Marked(5), Marked(5)),
            ("& c", Plain(1), Plain(1)),
            ("\\* c", Marked(2), Marked(2)),
            ("~~a~~ b", Marked(5), Marked(5)),
        ] {
            assert_eq!(next(text, None, false), expected, "{text}");
            assert_eq!(next(text, None, true), at_end, "{text} at the end");
        }
        assert_eq!(next("_case", Some('e'), false), Plain(1));
        assert_eq!(next(&format!("[{}", "x".repeat(5_000)), None, false), Plain(1));
    }

    #[test]
    fn marks_become_looks_and_links_say_where_they_lead() {
        let texts = |text: &str| -> Vec<String> {
            spans(text, Style::PLAIN).into_iter().map(|(text, _)| text).collect()
        };
        assert_eq!(texts("**a** `b` ~~c~~").concat(), "a b c");
        assert_eq!(texts("[here](https://x.y)").concat(), "here (https://x.y)");
        assert_eq!(texts("<https://x.y>").concat(), "https://x.y");
        assert_eq!(texts("# no heading, 1. no list").concat(), "# no heading, 1. no list");
        assert_eq!(texts("a &amp; b \\*c").concat(), "a & b *c");
        let bold = spans("**a**", Style::PLAIN);
        assert_eq!(bold, [("a".to_owned(), Style::BOLD)]);
    }
}
