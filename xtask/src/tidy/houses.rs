//! Large crates: one crate is one noun, and a noun that needs more lines than this is two.

use std::collections::BTreeMap;

use crate::tidy::finding::Finding;
use crate::tidy::settings::Settings;
use crate::tidy::source::Source;

/// From here on the author looks for the second noun.
const WARN: usize = 10_500;
/// Nothing is added to a crate this large.
const FAIL: usize = 12_000;

pub(crate) fn check(sources: &[Source], settings: &Settings) -> Vec<Finding> {
    let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
    for source in sources {
        *lines.entry(&source.krate).or_default() += source.text.lines().count();
    }
    lines.into_iter().filter_map(|(krate, lines)| judge(krate, lines, settings)).collect()
}

fn judge(krate: &str, lines: usize, settings: &Settings) -> Option<Finding> {
    let path = format!("crates/{krate}");
    let message = format!("has {lines} lines of product code");
    let allowed = settings.large.get(krate).copied().unwrap_or_default();
    if lines > FAIL.max(allowed) {
        let hint = format!("move one of its nouns into a crate of its own (limit {})", FAIL.max(allowed));
        return Some(Finding::error("houses", path, message).hint(hint));
    }
    (lines > WARN).then(|| Finding::warning("houses", path, message))
}
