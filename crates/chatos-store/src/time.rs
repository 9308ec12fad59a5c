//! Times as the formats want them: ISO 8601 UTC with milliseconds in files, integers in the database.

use jiff::Timestamp;
use jiff::fmt::temporal::DateTimePrinter;

/// Milliseconds since 1970, UTC.
pub fn now_ms() -> i64 {
    Timestamp::now().as_millisecond()
}

/// The present as `2026-01-11T00:00:00.000Z`.
pub fn now_iso() -> String {
    iso_from_ms(now_ms())
}

/// Milliseconds as `2026-01-11T00:00:00.000Z`; out-of-range numbers become the nearest time there is.
pub fn iso_from_ms(ms: i64) -> String {
    let limit = if ms < 0 { Timestamp::MIN } else { Timestamp::MAX };
    let time = Timestamp::from_millisecond(ms).unwrap_or(limit);
    let mut text = String::with_capacity(24);
    // Writing to a String cannot fail; an empty text would be visible at once.
    DateTimePrinter::new().precision(Some(3)).print_timestamp(&time, &mut text).ok();
    text
}

/// A date or a time as people and files write it, in milliseconds; a date is its first moment in UTC.
pub fn parse_time(text: &str) -> Option<i64> {
    let text = text.trim();
    let date = || text.parse::<jiff::civil::Date>().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok();
    text.parse::<Timestamp>().ok().or_else(|| date().map(|at| at.timestamp())).map(|at| at.as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_decimals_and_a_z() {
        assert_eq!(iso_from_ms(1_768_089_600_007), "2026-01-11T00:00:00.007Z");
        assert_eq!(iso_from_ms(0), "1970-01-01T00:00:00.000Z");
        assert!(iso_from_ms(i64::MAX).ends_with('Z'));
    }
}
