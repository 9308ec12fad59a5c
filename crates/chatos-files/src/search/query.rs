//! The text or pattern of a search, compiled with bounds.

use grep_regex::{RegexMatcher, RegexMatcherBuilder};

use crate::error::{FileError, Result};

/// servers §4: the compiled pattern's size.
const COMPILED_BYTES: usize = 10 << 20;

/// How the query is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// As it is.
    #[default]
    Literal,
    /// As a regular expression of the linear-time kind.
    Regex,
}

/// What to look for.
#[derive(Debug, Clone)]
pub struct Query {
    /// The text.
    pub text: String,
    /// How it is read.
    pub mode: Mode,
    /// `A` is not `a`.
    pub case_sensitive: bool,
    /// Only between word borders.
    pub whole_word: bool,
}

/// A compiled query.
#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) matcher: RegexMatcher,
    /// It may match across lines, so files are searched as a whole.
    pub(super) multi_line: bool,
}

impl Query {
    /// Compiles; a pattern that cannot be read is refused with the position of the fault.
    pub(super) fn compile(&self) -> Result<Compiled> {
        if self.mode == Mode::Regex
            && let Err(error) = regex_syntax::Parser::new().parse(&self.text)
        {
            return Err(bad_pattern(&error));
        }
        match self.builder().line_terminator(Some(b'\n')).build(&self.pattern()) {
            Ok(matcher) => Ok(Compiled { matcher, multi_line: false }),
            // The pattern asks for a line end: search whole files.
            Err(_) => match self.builder().multi_line(true).build(&self.pattern()) {
                Ok(matcher) => Ok(Compiled { matcher, multi_line: true }),
                Err(error) => Err(FileError::invalid(
                    "/query",
                    format!("the pattern cannot be used: {error}"),
                    format!("无法使用该表达式：{error}"),
                )),
            },
        }
    }

    fn builder(&self) -> RegexMatcherBuilder {
        let mut builder = RegexMatcherBuilder::new();
        builder
            .case_insensitive(!self.case_sensitive)
            .word(self.whole_word)
            .size_limit(COMPILED_BYTES)
            .dfa_size_limit(COMPILED_BYTES);
        builder
    }

    fn pattern(&self) -> String {
        match self.mode {
            Mode::Literal => regex_syntax::escape(&self.text),
            Mode::Regex => self.text.clone(),
        }
    }
}

fn bad_pattern(error: &regex_syntax::Error) -> FileError {
    let (kind, offset) = match error {
        regex_syntax::Error::Parse(error) => (error.kind().to_string(), error.span().start.offset),
        regex_syntax::Error::Translate(error) => (error.kind().to_string(), error.span().start.offset),
        other => (other.to_string(), 0),
    };
    FileError::invalid(
        "/query",
        format!("bad regular expression at position {}: {kind}", offset + 1),
        format!("正则表达式第 {} 位有误：{kind}", offset + 1),
    )
}
