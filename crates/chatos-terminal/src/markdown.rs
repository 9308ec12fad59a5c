//! Markdown on a terminal, while it is written: headings, lists, quotes, code, tables, links and emphasis as colours and
//! lines. Text appears as it comes; only a mark that is open, a word that has not ended and a table are held, and nothing
//! that was printed is printed again (decision 0052).
//!
//! Blocks are read line by line here; the marks inside of a line are read by `pulldown-cmark`.

mod inline;
mod lines;
mod table;

use self::inline::Next;
use self::lines::{GREEN, Lines, RED, Style, YELLOW};
use crate::output::is_hostile;

/// Prose is not spread over more columns.
const PROSE: usize = 100;
/// A line that is longer is not read for marks any more.
const LONGEST: usize = 64 * 1024;
/// Bytes of a table or of an undecided beginning that are held.
const MOST_HELD: usize = 256 * 1024;
/// Columns of a thematic break.
const RULE: usize = 40;
const BULLETS: [&str; 3] = ["• ", "◦ ", "▪ "];

/// A text on its way to a terminal.
pub(crate) struct Markdown {
    lines: Lines,
    columns: usize,
    mode: Mode,
    at: At,
    /// What came and is not shown yet.
    held: String,
    /// The lists one is in.
    lists: Vec<Item>,
    /// The line before is empty, or there is none.
    blank: bool,
}

enum Mode {
    Text,
    Fence(Fence),
    /// Its lines so far, and their bytes.
    Table(Vec<String>, usize),
}

struct Fence {
    mark: char,
    count: usize,
    quotes: usize,
    diff: bool,
}

/// Where in its line a text is.
enum At {
    Start,
    Words { base: Style, bytes: usize, before: Option<char> },
    Code(Style),
}

struct Item {
    /// The column of its mark.
    indent: usize,
    /// Where its text begins on the terminal.
    hang: usize,
}

/// What a line is, as far as it came.
enum Kind {
    /// More is needed to say.
    Open,
    /// It is looked at as a whole.
    Whole,
    Heading(usize),
    Item {
        indent: usize,
        mark: String,
        task: Option<bool>,
    },
    Paragraph(usize),
}

impl Markdown {
    /// `columns`: of the terminal.
    pub(crate) fn new(columns: usize) -> Self {
        Self {
            lines: Lines::new(columns.min(PROSE)),
            columns,
            mode: Mode::Text,
            at: At::Start,
            held: String::new(),
            lists: Vec::new(),
            blank: true,
        }
    }

    /// The whole of a text at once.
    pub(crate) fn whole(text: &str, columns: usize) -> String {
        let mut all = Self::new(columns);
        let mut shown = all.push(text);
        shown.push_str(&all.end());
        shown
    }

    /// The terminal may have become wider or narrower.
    pub(crate) fn set_columns(&mut self, columns: usize) {
        self.columns = columns;
        self.lines.set_width(columns.min(PROSE));
    }

    /// What can be printed after this came.
    pub(crate) fn push(&mut self, text: &str) -> String {
        let text = clean(text).replace('\t', "    ");
        let mut parts = text.split('\n');
        self.feed(parts.next().unwrap_or_default());
        for part in parts {
            self.end_line();
            self.feed(part);
        }
        self.lines.take()
    }

    /// Something else is printed now: what stands on a line is ended, and the text goes on later.
    pub(crate) fn pause(&mut self) -> String {
        self.lines.interrupt();
        self.lines.take()
    }

    /// The text has ended.
    pub(crate) fn end(&mut self) -> String {
        if !self.held.is_empty() || !matches!(self.at, At::Start) {
            self.end_line();
        }
        self.end_table();
        self.lines.interrupt();
        (self.mode, self.at, self.blank) = (Mode::Text, At::Start, true);
        self.lists.clear();
        self.lines.take()
    }

    fn feed(&mut self, part: &str) {
        if part.is_empty() {
            return;
        }
        if let At::Code(style) = self.at {
            self.lines.raw(part, style);
            return;
        }
        self.held.push_str(part);
        match (&self.at, &self.mode) {
            (At::Words { .. }, _) => self.say(false),
            (_, Mode::Fence(_)) => self.code(false),
            _ => self.start(false),
        }
    }

    fn end_line(&mut self) {
        match (&self.at, &self.mode) {
            (At::Words { .. }, _) => {
                self.say(true);
                self.blank = false;
                self.lines.newline();
            }
            (At::Code(_), _) => self.lines.newline(),
            (At::Start, Mode::Fence(_)) => self.code(true),
            (At::Start, _) => self.start(true),
        }
        self.at = At::Start;
        self.held.clear();
    }

    /// A line of code, or the end of the block.
    fn code(&mut self, whole: bool) {
        let Mode::Fence(fence) = &self.mode else { return };
        let (depth, line) = unquoted(&self.held, fence.quotes);
        if depth < fence.quotes && (whole || !self.held.trim_start().is_empty()) {
            // The quote has ended, and the block with it.
            self.mode = Mode::Text;
            return self.start(whole);
        }
        let bare = line.trim();
        let closes = bare.chars().all(|c| c == fence.mark);
        if closes && !whole {
            return;
        }
        if closes && bare.chars().count() >= fence.count {
            let text = format!("{}{bare}", bars(fence.quotes));
            self.lines.raw(&text, Style::DIM);
            self.mode = Mode::Text;
            self.blank = false;
            return self.lines.newline();
        }
        if fence.diff && line.len() < 3 && !whole {
            return;
        }
        let style = if fence.diff { diff_style(line) } else { Style::PLAIN };
        let (bars, line) = (bars(fence.quotes), line.to_owned());
        self.lines.raw(&bars, Style::DIM);
        self.lines.raw(&line, style);
        if whole {
            self.lines.newline();
        } else {
            self.at = At::Code(style);
            self.held.clear();
        }
    }

    /// The beginning of a line, as far as it came.
    fn start(&mut self, whole: bool) {
        let (quotes, line) = unquoted(&self.held, usize::MAX);
        let line = line.to_owned();
        let is_row = quotes == 0 && line.trim_start().starts_with('|');
        if !is_row && (whole || !line.trim().is_empty()) {
            self.end_table();
        }
        if whole && self.whole_line(quotes, &line, is_row) {
            return;
        }
        let kind = match kind(&line, whole, quotes == 0 && self.blank && self.lists.is_empty()) {
            Kind::Open | Kind::Whole if !whole && self.held.len() < MOST_HELD => return,
            Kind::Open | Kind::Whole => Kind::Paragraph(indent_of(&line).0),
            kind => kind,
        };
        self.begin(quotes, &line, kind);
        self.say(whole);
        if whole {
            self.blank = false;
            self.lines.newline();
        }
    }

    /// Lines that are one thing as a whole; `false` when this is none of them.
    fn whole_line(&mut self, quotes: usize, line: &str, is_row: bool) -> bool {
        let bare = line.trim();
        if bare.is_empty() {
            self.lines.raw(bars(quotes).trim_end(), Style::DIM);
            self.lines.newline();
            self.blank = true;
            return true;
        }
        if is_row {
            let (mut rows, mut bytes) = match std::mem::replace(&mut self.mode, Mode::Text) {
                Mode::Table(rows, bytes) => (rows, bytes),
                _ => (Vec::new(), 0),
            };
            bytes += line.len();
            rows.push(line.to_owned());
            self.mode = Mode::Table(rows, bytes);
            if bytes > MOST_HELD {
                self.end_table();
            }
            return true;
        }
        let mark = bare.chars().next().unwrap_or_default();
        let count = bare.chars().take_while(|c| *c == mark).count();
        if matches!(mark, '`' | '~') && count >= 3 && !(mark == '`' && bare[count..].contains('`')) {
            let language = bare[count..].split_whitespace().next().unwrap_or_default();
            let diff = matches!(language, "diff" | "patch");
            self.lines.raw(&format!("{}{bare}", bars(quotes)), Style::DIM);
            self.lines.newline();
            self.mode = Mode::Fence(Fence { mark, count, quotes, diff });
            return true;
        }
        let rule = matches!(mark, '-' | '*' | '_') && bare.chars().all(|c| c == mark || c == ' ');
        if rule && bare.chars().filter(|c| *c == mark).count() >= 3 {
            let line = "─".repeat(RULE.min(self.lines.width()));
            self.lines.raw(&format!("{}{line}", bars(quotes)), Style::DIM);
            self.lines.newline();
            self.lists.clear();
            return true;
        }
        false
    }

    /// Prints what a line begins with; what is held afterwards is its text.
    fn begin(&mut self, quotes: usize, line: &str, kind: Kind) {
        let bar = (bars(quotes), Style::DIM);
        let mut base = Style::PLAIN;
        let (head, hang, text) = match kind {
            Kind::Heading(depth) => {
                base = Style { bold: true, underline: depth == 1, ..Style::PLAIN };
                self.lists.clear();
                (vec![bar.clone()], vec![bar], line.trim_start().trim_start_matches('#').trim_start())
            }
            Kind::Item { indent, mark, task } => {
                while self.lists.last().is_some_and(|item| indent < item.indent + 2) {
                    self.lists.pop();
                }
                let bullet = BULLETS[self.lists.len().min(BULLETS.len() - 1)];
                let from = self.lists.last().map_or(0, |item| item.hang);
                let numbered = mark.starts_with(|c: char| c.is_ascii_digit());
                let shown = if numbered { format!("{mark} ") } else { bullet.to_owned() };
                let hang = from + lines::width(&shown);
                self.lists.push(Item { indent, hang });
                let mut text = line.trim_start().get(mark.len()..).unwrap_or_default().trim_start();
                let mut head = vec![bar.clone(), (" ".repeat(from), Style::PLAIN), (shown, Style::DIM)];
                if let Some(done) = task {
                    text = text.get(3..).unwrap_or_default();
                    head.push((if done { "☑ " } else { "☐ " }.to_owned(), Style::PLAIN));
                }
                (head, vec![bar, (" ".repeat(hang), Style::PLAIN)], text)
            }
            Kind::Paragraph(indent) if indent >= 4 && self.blank && self.lists.is_empty() => {
                self.lines.raw(&bar.0, Style::DIM);
                self.lines.raw(line, Style::PLAIN);
                self.at = At::Code(Style::PLAIN);
                self.held.clear();
                return;
            }
            Kind::Open | Kind::Whole | Kind::Paragraph(_) => {
                let indent = indent_of(line).0;
                if indent == 0 && self.blank {
                    self.lists.clear();
                }
                while indent > 0 && self.lists.last().is_some_and(|item| indent <= item.indent) {
                    self.lists.pop();
                }
                let from = self.lists.last().map_or(0, |item| item.hang);
                let start = (" ".repeat(from), Style::PLAIN);
                (vec![bar.clone(), start.clone()], vec![bar, start], line.trim_start())
            }
        };
        let text = text.to_owned();
        self.lines.begin(&head, hang);
        self.at = At::Words { base, bytes: 0, before: None };
        self.held = text;
    }

    /// Shows what of the held text can be shown.
    fn say(&mut self, ended: bool) {
        let At::Words { base, mut bytes, mut before } = self.at else { return };
        let held = std::mem::take(&mut self.held);
        let mut rest = held.as_str();
        while !rest.is_empty() {
            if bytes > LONGEST {
                self.lines.words(rest, base);
                rest = "";
                break;
            }
            let (taken, marked) = match inline::next(rest, before, ended) {
                Next::Plain(taken) => (taken, false),
                Next::Marked(taken) => (taken, true),
                Next::Open(_) => break,
            };
            let (now, later) = rest.split_at(taken);
            if marked {
                for (text, style) in inline::spans(now, base) {
                    self.lines.words(&text, style);
                }
            } else {
                self.lines.words(now, base);
            }
            bytes += taken;
            before = now.chars().next_back();
            rest = later;
        }
        self.held = rest.to_owned();
        self.at = At::Words { base, bytes, before };
    }

    fn end_table(&mut self) {
        if !matches!(self.mode, Mode::Table(..)) {
            return;
        }
        let Mode::Table(rows, _) = std::mem::replace(&mut self.mode, Mode::Text) else { return };
        let drawn = table::lines(&rows, self.columns);
        let plain = || rows.iter().map(|row| vec![(row.clone(), Style::PLAIN)]).collect();
        for line in drawn.unwrap_or_else(plain) {
            for (text, style) in line {
                self.lines.raw(&text, style);
            }
            self.lines.newline();
        }
        self.blank = false;
    }
}

/// A line of a list: what it is about, and a text that hangs beside it where it needs several lines. Looks are for
/// terminals that have them.
pub(crate) fn hung(head: &str, bold: bool, text: &str, dim: bool, columns: usize) -> String {
    let mut lines = Lines::new(columns);
    let look = |on: bool, style: Style| if on { style } else { Style::PLAIN };
    let hang = " ".repeat(lines::width(head));
    lines.begin(&[(head.to_owned(), look(bold, Style::BOLD))], vec![(hang, Style::PLAIN)]);
    lines.words(text, look(dim, Style::DIM));
    lines.end_word();
    lines.take()
}

/// The bars of so many quotes.
fn bars(quotes: usize) -> String {
    "▌ ".repeat(quotes)
}

/// How deep a line is quoted, and the rest of it.
fn unquoted(line: &str, most: usize) -> (usize, &str) {
    let mut rest = line;
    let mut depth = 0;
    while depth < most.min(16) {
        let Some(inner) = rest.trim_start_matches(' ').strip_prefix('>') else { break };
        rest = inner.strip_prefix(' ').unwrap_or(inner);
        depth += 1;
    }
    (depth, rest)
}

/// The column a line begins at, and the line from there.
fn indent_of(line: &str) -> (usize, &str) {
    let bare = line.trim_start_matches([' ', '\t']);
    let blank = &line[..line.len() - bare.len()];
    (blank.chars().map(|c| if c == '\t' { 4 } else { 1 }).sum(), bare)
}

/// What a line is. `code`: it is code where it is indented far enough.
fn kind(line: &str, whole: bool, code: bool) -> Kind {
    let (indent, bare) = indent_of(line);
    let Some(first) = bare.chars().next() else { return Kind::Open };
    if code && indent >= 4 {
        return Kind::Paragraph(indent);
    }
    let run = bare.chars().take_while(|c| *c == first).count();
    let open = || if whole { Kind::Paragraph(indent) } else { Kind::Open };
    match first {
        '|' => Kind::Whole,
        '`' | '~' if bare.len() == run => open(),
        '`' | '~' if run >= 3 => Kind::Whole,
        '#' if run > 6 => Kind::Paragraph(indent),
        '#' => match bare[run..].chars().next() {
            Some(' ') => Kind::Heading(run),
            Some(_) => Kind::Paragraph(indent),
            None if whole => Kind::Heading(run),
            None => Kind::Open,
        },
        '-' | '*' | '+' => {
            let rest = &bare[1..];
            let rule = first != '+' && rest.chars().all(|c| c == first || c == ' ');
            if rest.starts_with(' ') {
                let open = !whole && (rule || rest.trim().is_empty());
                return if open { Kind::Open } else { item(indent, "-", rest, whole) };
            }
            if rest.is_empty() && whole {
                return item(indent, "-", "", whole);
            }
            if rest.is_empty() || (rule && !whole) { Kind::Open } else { Kind::Paragraph(indent) }
        }
        '_' if bare.chars().all(|c| c == '_' || c == ' ') => open(),
        '0'..='9' => {
            let digits = bare.chars().take_while(char::is_ascii_digit).count();
            let mut after = bare[digits..].chars();
            match (digits <= 9, after.next(), after.next()) {
                (true, None, _) => open(),
                (true, Some('.' | ')'), None) => open(),
                (true, Some('.' | ')'), Some(' ')) => {
                    item(indent, &bare[..=digits], &bare[digits + 1..], whole)
                }
                _ => Kind::Paragraph(indent),
            }
        }
        _ => Kind::Paragraph(indent),
    }
}

fn item(indent: usize, mark: &str, rest: &str, whole: bool) -> Kind {
    let text = rest.trim_start();
    let task = match text.get(..4) {
        Some("[ ] ") => Some(false),
        Some("[x] " | "[X] ") => Some(true),
        None if !whole && "[ ] [x] [X] ".split_inclusive("] ").any(|known| known.starts_with(text)) => {
            return Kind::Open;
        }
        _ => None,
    };
    Kind::Item { indent, mark: mark.to_owned(), task }
}

/// How a line of a difference looks.
fn diff_style(line: &str) -> Style {
    match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => Style::BOLD,
        [b'+', ..] => Style::coloured(GREEN),
        [b'-', ..] => Style::coloured(RED),
        [b'@', b'@', ..] => Style::coloured(YELLOW),
        _ => Style::PLAIN,
    }
}

/// Text of strangers: what a terminal would obey is gone, what would turn lines around is shown as what it is, and
/// letters that join others stay.
pub(crate) fn clean(text: &str) -> String {
    let harmless = |c: char| matches!(c, '\u{200c}' | '\u{200d}') || !is_hostile(c);
    if text.chars().all(harmless) {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}' => {}
            c if harmless(c) => shown.push(c),
            c if c.is_control() => {}
            c => shown.push_str(&format!("\\u{{{:x}}}", c as u32)),
        }
    }
    shown
}

#[cfg(test)]
mod tests;
