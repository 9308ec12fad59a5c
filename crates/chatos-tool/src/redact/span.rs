//! The places of a text that go, joined where they overlap.

use std::borrow::Cow;

use super::marker;

/// Why a place goes. Of two rules for the same place the earlier one here names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rule {
    Known,
    Bearer,
    Basic,
    UserInfo,
    Pattern,
    Option,
    Assignment,
}

impl Rule {
    fn name(self) -> &'static str {
        match self {
            Self::Known => "known",
            Self::Bearer => "bearer",
            Self::Basic => "basic",
            Self::UserInfo => "userinfo",
            Self::Pattern => "pattern",
            Self::Option => "option",
            Self::Assignment => "assignment",
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Span {
    start: usize,
    end: usize,
    rule: Rule,
}

/// Places found so far, in any order.
#[derive(Debug, Default)]
pub(super) struct Spans(Vec<Span>);

impl Spans {
    pub(super) fn add(&mut self, start: usize, end: usize, rule: Rule) {
        if start < end {
            self.0.push(Span { start, end, rule });
        }
    }

    /// Forgets places that begin at or behind `end`; gives `end`, or the end of a place across it.
    pub(super) fn clip(&mut self, end: usize) -> usize {
        self.0.retain(|span| span.start < end);
        self.0.iter().map(|span| span.end).fold(end, usize::max)
    }

    /// The text with a marker for every place.
    pub(super) fn apply(mut self, text: &str) -> Cow<'_, str> {
        if self.0.is_empty() {
            return Cow::Borrowed(text);
        }
        self.0.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end), span.rule));
        let mut joined: Vec<Span> = Vec::new();
        for span in self.0 {
            match joined.last_mut() {
                Some(last) if span.start < last.end => {
                    // The wider of the two says what it is; equal ones by the order of the rules.
                    let (own, other) = (last.end - last.start, span.end - span.start);
                    if other > own || (other == own && span.rule < last.rule) {
                        last.rule = span.rule;
                    }
                    last.end = last.end.max(span.end);
                }
                _ => joined.push(span),
            }
        }
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for span in joined {
            out.push_str(&text[at..span.start]);
            out.push_str(&marker(span.rule.name()));
            at = span.end;
        }
        out.push_str(&text[at..]);
        Cow::Owned(out)
    }
}
