//! A command line that is nothing but literal words: simple commands, joined by `|` or `&&` (inbox §4.3).
//!
//! Everything else is refused: what this reader does not understand completely cannot be answered by a rule. A line
//! that was read is run as [`Line::run_as`], so that a shell which reads it in another way runs the same words.

use std::fmt::Write;
use std::path::PathBuf;

/// Longest line that is read.
const MAX_BYTES: usize = 8 * 1024;
/// Most commands of a line.
const MAX_COMMANDS: usize = 20;
/// Most words of a line.
const MAX_WORDS: usize = 200;

/// How a command hangs on the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Join {
    Pipe,
    And,
}

impl Join {
    /// As it is written.
    pub fn text(self) -> &'static str {
        match self {
            Self::Pipe => "|",
            Self::And => "&&",
        }
    }
}

/// A program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simple {
    /// How it is joined to the one before; nothing for the first.
    pub join: Option<Join>,
    /// The program and its arguments; never empty.
    pub words: Vec<String>,
}

impl Simple {
    /// The program as it was written.
    pub fn program(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }
}

/// A line of literal commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub commands: Vec<Simple>,
}

impl Line {
    /// The same commands with every word in single quotes, each program by the file that was found for its name: the
    /// text that is run. No alias, function, builtin or search path decides about it any more.
    pub fn run_as(&self, programs: &[PathBuf]) -> Option<String> {
        let mut out = String::new();
        if programs.len() != self.commands.len() {
            return None;
        }
        for (command, program) in self.commands.iter().zip(programs) {
            out.push_str(match command.join {
                None => "",
                Some(Join::Pipe) => " | ",
                Some(Join::And) => " && ",
            });
            // A word holds no single quote: the reader refuses it.
            let program = program.to_str().filter(|path| path.starts_with('/') && !path.contains('\''))?;
            write!(out, "'{program}'").ok()?;
            for word in command.words.iter().skip(1) {
                write!(out, " '{word}'").ok()?;
            }
        }
        Some(out)
    }
}

/// Why a line is not literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotLiteral {
    /// Too many bytes, words or commands.
    TooLong,
    /// There is nothing to run.
    Empty,
    /// A character that a shell reads as something else than itself.
    Special(char),
    /// A quote that is not closed.
    Open,
    /// `NAME=value` before a command.
    Assignment,
    /// A word of the shell's own grammar.
    Reserved,
    /// An operator other than `|` and `&&`.
    Operator,
}

impl NotLiteral {
    /// In words, for the simulator.
    pub fn text(self) -> (String, String) {
        let fixed = |en: &str, zh: &str| (en.to_owned(), zh.to_owned());
        match self {
            Self::TooLong => fixed("too long", "过长"),
            Self::Empty => fixed("empty", "为空"),
            Self::Special(c) => (
                format!("holds {:?}, which a shell may expand", c.escape_default().to_string()),
                format!("含有 shell 可能展开的字符 {:?}", c.escape_default().to_string()),
            ),
            Self::Open => fixed("a quote is not closed", "引号未闭合"),
            Self::Assignment => fixed("sets a variable", "设置了变量"),
            Self::Reserved => fixed("a word of the shell's grammar", "含有 shell 语法关键字"),
            Self::Operator => fixed("an operator other than | and &&", "含有 | 与 && 以外的运算符"),
        }
    }
}

/// Words that begin something else than a simple command, in one shell or another.
const RESERVED: [&str; 24] = [
    "if",
    "then",
    "else",
    "elif",
    "fi",
    "while",
    "until",
    "for",
    "do",
    "done",
    "case",
    "esac",
    "select",
    "function",
    "time",
    "coproc",
    "in",
    "end",
    "begin",
    "repeat",
    "foreach",
    "nocorrect",
    "noglob",
    "namespace",
];

/// Reads a line, or says why a rule cannot be about it.
pub fn read(text: &str) -> Result<Line, NotLiteral> {
    if text.len() > MAX_BYTES {
        return Err(NotLiteral::TooLong);
    }
    let mut reader =
        Reader { commands: Vec::new(), current: Simple { join: None, words: Vec::new() }, words: 0 };
    let mut chars = text.chars().peekable();
    while let Some(&c) = chars.peek() {
        match c {
            ' ' | '\t' => {
                chars.next();
            }
            '|' => {
                chars.next();
                if matches!(chars.peek(), Some('|' | '&')) {
                    return Err(NotLiteral::Operator);
                }
                reader.next_command(Join::Pipe)?;
            }
            '&' => {
                chars.next();
                if chars.next() != Some('&') || chars.peek() == Some(&'&') {
                    return Err(NotLiteral::Operator);
                }
                reader.next_command(Join::And)?;
            }
            ';' | '\n' | '\r' => return Err(NotLiteral::Operator),
            _ => {
                let word = word(&mut chars)?;
                reader.push(word)?;
            }
        }
    }
    reader.finish()
}

struct Reader {
    commands: Vec<Simple>,
    current: Simple,
    words: usize,
}

impl Reader {
    fn push(&mut self, word: Word) -> Result<(), NotLiteral> {
        self.words += 1;
        if self.words > MAX_WORDS {
            return Err(NotLiteral::TooLong);
        }
        if self.current.words.is_empty() {
            if word.text.is_empty() {
                return Err(NotLiteral::Empty);
            }
            if word.text.contains('=') {
                return Err(NotLiteral::Assignment);
            }
            if RESERVED.contains(&word.text.as_str()) {
                return Err(NotLiteral::Reserved);
            }
        }
        // `=ls` is a path in one shell.
        if word.bare && word.text.starts_with('=') {
            return Err(NotLiteral::Special('='));
        }
        self.current.words.push(word.text);
        Ok(())
    }

    fn next_command(&mut self, join: Join) -> Result<(), NotLiteral> {
        let next = Simple { join: Some(join), words: Vec::new() };
        let done = std::mem::replace(&mut self.current, next);
        if done.words.is_empty() {
            return Err(NotLiteral::Empty);
        }
        self.commands.push(done);
        if self.commands.len() >= MAX_COMMANDS {
            return Err(NotLiteral::TooLong);
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Line, NotLiteral> {
        if self.current.words.is_empty() {
            return Err(NotLiteral::Empty);
        }
        self.commands.push(self.current);
        Ok(Line { commands: self.commands })
    }
}

struct Word {
    text: String,
    /// None of it stood in quotes.
    bare: bool,
}

fn word(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<Word, NotLiteral> {
    let mut out = Word { text: String::new(), bare: true };
    while let Some(&c) = chars.peek() {
        match c {
            ' ' | '\t' | '|' | '&' | ';' | '\n' | '\r' => break,
            '\'' | '"' => {
                chars.next();
                out.bare = false;
                inside(chars, c, &mut out.text)?;
            }
            _ if is_plain(c) => {
                chars.next();
                out.text.push(c);
            }
            _ => return Err(NotLiteral::Special(c)),
        }
    }
    Ok(out)
}

/// The text up to the closing quote.
fn inside(
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    quote: char,
    out: &mut String,
) -> Result<(), NotLiteral> {
    for c in chars.by_ref() {
        if c == quote {
            return Ok(());
        }
        // What would have to be quoted in another way, or is not what it looks like.
        let bad = match quote {
            '"' => matches!(c, '$' | '`' | '\\' | '!' | '\''),
            _ => c == '\\',
        };
        if bad || c.is_control() || !is_visible(c) {
            return Err(NotLiteral::Special(c));
        }
        out.push(c);
    }
    Err(NotLiteral::Open)
}

/// Means itself outside quotes in every shell there is.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | ':' | '=' | '@' | '+' | ',' | '-')
}

/// ASCII, or a letter or digit of another script: nothing that changes how its neighbours look.
fn is_visible(c: char) -> bool {
    c.is_ascii() || c.is_alphanumeric()
}
