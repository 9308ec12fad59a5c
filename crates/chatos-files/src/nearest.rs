//! Names that look like the one that is missing, so that a caller can correct a slip.

use super::resolve::Place;
use super::walk::read_dir;

/// Directory entries looked at; a larger directory gives no suggestion from its rest.
const MAX_ENTRIES: usize = 5_000;

/// Up to three paths beside a missing place whose names resemble the missing one.
pub(crate) fn names(place: &Place) -> Vec<String> {
    let wanted = match place.missing.first() {
        Some(name) => String::from_utf8_lossy(name).into_owned(),
        None => String::from_utf8_lossy(&place.name).into_owned(),
    };
    let Ok(handle) = place.reopen_parent() else { return Vec::new() };
    let mut best: Vec<(usize, String)> = Vec::new();
    let limit = (wanted.chars().count() / 3).clamp(1, 4);
    let listed = read_dir(&handle, |name, _| {
        if best.len() >= MAX_ENTRIES {
            return;
        }
        let name = String::from_utf8_lossy(name);
        let distance = distance(&wanted.to_lowercase(), &name.to_lowercase(), limit);
        if distance <= limit {
            best.push((distance, name.into_owned()));
        }
    });
    if listed.is_err() {
        return Vec::new();
    }
    best.sort();
    best.truncate(3);
    best.into_iter().map(|(_, name)| place.sibling(&name)).collect()
}

/// Edit distance, or something above `limit` as soon as it is known to be larger.
pub(crate) fn distance(left: &str, right: &str, limit: usize) -> usize {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    if left.len().abs_diff(right.len()) > limit {
        return limit + 1;
    }
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[right.len()]
}
