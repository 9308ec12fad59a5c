//! One line of the table per measurement, with what it must reach and what it aims at.

use std::time::Duration;

use super::peer::Kind;
use crate::measure::{human, ratio};

/// A bar: what it says and whether it is met.
pub(crate) struct Bar(String, bool);

impl Bar {
    pub(crate) fn new(words: impl Into<String>, met: bool) -> Self {
        Self(words.into(), met)
    }

    /// At most so many times the limit.
    pub(crate) fn times(ours: Duration, limit: Duration, most: f64) -> Self {
        Self(format!("≤ {most}× limit"), ratio(ours, limit) <= most)
    }

    /// At most so many times rust-mcp-filesystem; nothing to say where it is not there.
    pub(crate) fn rust(ours: Duration, rust: Option<Duration>, most: f64) -> Option<Self> {
        let rust = rust?;
        Some(Self(format!("≤ {most}× rust-mcp-fs"), ratio(ours, rust) <= most))
    }

    /// Both.
    pub(crate) fn and(self, other: Option<Self>) -> Self {
        match other {
            None => self,
            Some(other) => Self(format!("{}, {}", self.0, other.0), self.1 && other.1),
        }
    }

    pub(crate) fn at_most(ours: Duration, most: Duration) -> Self {
        Self(format!("≤ {}", human(most)), ours <= most)
    }
}

pub(crate) fn head() {
    println!("| operation | ChatOS | peers | limit | ratio to limit | must | aim |");
    println!("|---|---|---|---|---|---|---|");
}

/// A line of times.
pub(crate) fn row(
    operation: &str,
    ours: Duration,
    peers: &[(Kind, Option<Duration>)],
    limit: Option<(&str, Duration)>,
    must: Option<Bar>,
    aim: Option<Bar>,
) {
    let cell = |(kind, time): &(Kind, Option<Duration>)| match time {
        Some(time) => format!("{} {}", kind.name(), human(*time)),
        None => format!("{} fails", kind.name()),
    };
    let peers: Vec<String> = peers.iter().map(cell).collect();
    let (limit, times) = match limit {
        Some((name, time)) => (format!("{name} {}", human(time)), format!("{:.2}×", ratio(ours, time))),
        None => (String::new(), String::new()),
    };
    words(operation, &human(ours), &peers.join(", "), &limit, &times, must, aim);
}

/// A line of anything.
pub(crate) fn words(
    operation: &str,
    ours: &str,
    peers: &str,
    limit: &str,
    times: &str,
    must: Option<Bar>,
    aim: Option<Bar>,
) {
    let cell = |text: &str| if text.is_empty() { "–".to_owned() } else { text.to_owned() };
    let bar = |bar: Option<Bar>| match bar {
        None => "–".to_owned(),
        Some(Bar(words, met)) => format!("{words} {}", if met { "✓" } else { "✗" }),
    };
    println!(
        "| {operation} | {ours} | {} | {} | {} | {} | {} |",
        cell(peers),
        cell(limit),
        cell(times),
        bar(must),
        bar(aim)
    );
}
