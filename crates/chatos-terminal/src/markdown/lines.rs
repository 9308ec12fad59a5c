//! Styled text on lines of a terminal, as it comes: broken between words, at the width that is there. What is printed
//! is never taken back.

use unicode_width::UnicodeWidthChar;

/// How a piece of text looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Style {
    pub(crate) bold: bool,
    pub(crate) dim: bool,
    pub(crate) italic: bool,
    pub(crate) underline: bool,
    pub(crate) strike: bool,
    /// A colour of the terminal's own palette, as its code.
    pub(crate) colour: Option<u8>,
}

pub(crate) const GREEN: u8 = 32;
pub(crate) const RED: u8 = 31;
pub(crate) const YELLOW: u8 = 33;
pub(crate) const CYAN: u8 = 36;

impl Style {
    pub(crate) const PLAIN: Self =
        Self { bold: false, dim: false, italic: false, underline: false, strike: false, colour: None };
    pub(crate) const DIM: Self = Self { dim: true, ..Self::PLAIN };
    pub(crate) const BOLD: Self = Self { bold: true, ..Self::PLAIN };

    pub(crate) const fn coloured(colour: u8) -> Self {
        Self { colour: Some(colour), ..Self::PLAIN }
    }

    fn sequence(self) -> String {
        let flags = [(self.bold, 1), (self.dim, 2), (self.italic, 3), (self.underline, 4), (self.strike, 9)];
        let codes = flags.iter().filter(|(on, _)| *on).map(|(_, code)| *code).chain(self.colour);
        let codes: Vec<String> = codes.map(|code| code.to_string()).collect();
        format!("\u{1b}[{}m", codes.join(";"))
    }
}

/// A piece of text and how it looks.
pub(crate) type Span = (String, Style);

/// Text on its way to the terminal.
pub(crate) struct Lines {
    out: String,
    /// Columns that a line of words may have.
    width: usize,
    column: usize,
    /// What a line begins with when the one before was full.
    hang: Vec<Span>,
    /// The word that has not ended yet.
    word: Vec<Span>,
    word_width: usize,
    /// A space stands before it.
    space: bool,
    /// Nothing but the beginning stands on the line.
    fresh: bool,
    /// The word is longer than a line: the terminal breaks it, and whoever copies it gets it whole.
    flows: bool,
    shown: Style,
    /// How the last piece looked.
    last: Style,
}

impl Lines {
    pub(crate) fn new(width: usize) -> Self {
        Self {
            out: String::new(),
            width,
            column: 0,
            hang: Vec::new(),
            word: Vec::new(),
            word_width: 0,
            space: false,
            fresh: true,
            flows: false,
            shown: Style::PLAIN,
            last: Style::PLAIN,
        }
    }

    pub(crate) fn set_width(&mut self, width: usize) {
        self.width = width.max(10);
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Begins a line; what follows a full one begins below `hang`.
    pub(crate) fn begin(&mut self, head: &[Span], hang: Vec<Span>) {
        for (text, style) in head {
            self.raw(text, *style);
        }
        self.hang = hang;
        self.fresh = true;
        self.space = false;
    }

    /// Words, broken where a line is full.
    pub(crate) fn words(&mut self, text: &str, style: Style) {
        for c in text.chars() {
            if c == ' ' || c == '\t' {
                self.end_word();
                self.flows = false;
                self.space = !self.fresh;
                continue;
            }
            if self.flows {
                self.put(c.encode_utf8(&mut [0; 4]), style);
                continue;
            }
            let before = self.word.last().and_then(|(text, _)| text.chars().next_back());
            if before.is_some_and(|before| may_part(before, c)) {
                self.end_word();
            } else if self.word_width >= self.width {
                self.end_word();
                self.flows = true;
                self.put(c.encode_utf8(&mut [0; 4]), style);
                continue;
            }
            let joined = before == Some('\u{200d}');
            self.word_width += if joined { 0 } else { c.width().unwrap_or(0) };
            match self.word.last_mut() {
                Some((text, same)) if *same == style => text.push(c),
                _ => self.word.push((c.to_string(), style)),
            }
        }
    }

    /// Text that is not broken: code, rules, tables.
    pub(crate) fn raw(&mut self, text: &str, style: Style) {
        self.end_word();
        self.put(text, style);
    }

    pub(crate) fn end_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let gap = usize::from(self.space);
        if !self.fresh && self.column + gap + self.word_width > self.width {
            self.break_line();
        } else if self.space {
            // Between two words that look alike it looks like them: an underline has no gaps.
            let alike = self.word.first().is_some_and(|(_, style)| *style == self.last);
            self.put(" ", if alike { self.last } else { Style::PLAIN });
        }
        self.space = false;
        for (text, style) in std::mem::take(&mut self.word) {
            self.put(&text, style);
        }
        self.word_width = 0;
        self.fresh = false;
    }

    fn break_line(&mut self) {
        self.plain();
        self.out.push('\n');
        self.column = 0;
        for (text, style) in self.hang.clone() {
            self.put(&text, style);
        }
    }

    /// Ends the line; the next one begins at the left.
    pub(crate) fn newline(&mut self) {
        self.end_word();
        self.plain();
        self.out.push('\n');
        (self.column, self.space, self.fresh, self.flows) = (0, false, true, false);
        self.hang.clear();
    }

    /// Ends the line in the middle of what it says; the rest goes on below its beginning.
    pub(crate) fn interrupt(&mut self) {
        self.end_word();
        if self.column > 0 {
            self.plain();
            self.out.push('\n');
            (self.column, self.space, self.fresh) = (0, false, true);
        }
    }

    fn put(&mut self, text: &str, style: Style) {
        if text.is_empty() {
            return;
        }
        if style != self.shown {
            self.plain();
            if style != Style::PLAIN {
                self.out.push_str(&style.sequence());
                self.shown = style;
            }
        }
        self.out.push_str(text);
        self.last = style;
        self.column += width(text);
    }

    fn plain(&mut self) {
        if self.shown != Style::PLAIN {
            self.out.push_str("\u{1b}[0m");
            self.shown = Style::PLAIN;
        }
    }

    /// What can be printed now; the terminal is left plain.
    pub(crate) fn take(&mut self) -> String {
        self.plain();
        std::mem::take(&mut self.out)
    }
}

/// Columns that a text takes.
pub(crate) fn width(text: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(text)
}

/// Whether a line may end between two letters of one word: beside characters that stand for themselves, but not before
/// what closes a phrase or behind what opens one.
pub(crate) fn may_part(before: char, after: char) -> bool {
    let wide = |c: char| c.width() == Some(2);
    let joins = |c: char| c.width() == Some(0) || matches!(c as u32, 0x1f3fb..=0x1f3ff | 0x1f1e6..=0x1f1ff);
    if before == '\u{200d}' || joins(after) || !(wide(before) || wide(after)) {
        return false;
    }
    !"，。、；：！？）】》」』”’…—～·,.;:!?)]}".contains(after) && !"（【《「『“‘([{".contains(before)
}
