//! How long a sign-in lasts: 30 days unused, 180 in all, by time that passed. The clock decides only across a restart of
//! the machine (inbox §1.6), and one that was set back lets no time pass.

use chatos_store::BrowserRow;

const DAY_MS: i64 = 24 * 3600 * 1000;
/// Unused for longer than this, a browser has to sign in again.
const UNUSED_MS: i64 = 30 * DAY_MS;
/// Used or not, this long after signing in.
const WHOLE_MS: i64 = 180 * DAY_MS;

/// Now, on both clocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    /// Milliseconds since 1970, as the clock is set.
    pub wall_ms: i64,
    /// Names this start of the machine; empty when that is not known.
    pub boot_id: String,
    /// Milliseconds since it; never goes back.
    pub boot_ms: i64,
}

/// How long ago the browser was last seen.
pub(crate) fn unseen_for(row: &BrowserRow, now: &Moment) -> i64 {
    let same_start = !now.boot_id.is_empty() && row.boot_id == now.boot_id;
    let passed = if same_start {
        now.boot_ms.saturating_sub(row.boot_ms)
    } else {
        now.wall_ms.saturating_sub(row.seen_at)
    };
    passed.max(0)
}

/// How long it may stay away; nothing when it is over.
pub(crate) fn left(row: &BrowserRow, now: &Moment) -> Option<i64> {
    let passed = unseen_for(row, now);
    let whole = WHOLE_MS.saturating_sub(row.age_ms).saturating_sub(passed);
    Some((UNUSED_MS - passed).min(whole)).filter(|left| *left > 0)
}

/// It is here now.
pub(crate) fn see(row: &mut BrowserRow, now: &Moment) {
    row.age_ms = row.age_ms.saturating_add(unseen_for(row, now));
    row.seen_at = now.wall_ms;
    row.boot_id.clone_from(&now.boot_id);
    row.boot_ms = now.boot_ms;
}
