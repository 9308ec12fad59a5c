//! Time as this crate needs it: wall time for what is written and shown, monotonic time for timeouts.
//!
//! A clock that jumps must not expire a question or keep it for ever (`security §4.G` row 13), so
//! every deadline is counted on [`Clock::monotonic`]; the wall clock decides only across a restart of the machine.

use std::sync::OnceLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};

/// The clock passed in by the host.
pub trait Clock: Send + Sync {
    /// Milliseconds since the epoch, UTC.
    fn now_ms(&self) -> i64;
    /// Time since the machine was started; never goes back, whatever the wall clock is set to.
    fn monotonic(&self) -> Duration;
    /// Names that start: [`Clock::monotonic`] of processes with the same name can be compared. Empty when
    /// it is not known.
    fn boot_id(&self) -> String;
}

/// The machine's clock. Its monotonic side goes on while the machine sleeps: a question with a
/// timeout of an hour is over when the lid was closed for two.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> i64 {
        match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
            Err(before) => -i64::try_from(before.duration().as_millis()).unwrap_or(i64::MAX),
        }
    }

    fn monotonic(&self) -> Duration {
        let now = clock_gettime(ClockId::Boottime);
        Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
    }

    fn boot_id(&self) -> String {
        static ID: OnceLock<String> = OnceLock::new();
        let read = || std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        ID.get_or_init(|| read().trim().to_owned()).clone()
    }
}

/// Earliest and latest times that print with a four-digit year; others are clamped.
const MIN_MS: i64 = -62_135_596_800_000; // 0001-01-01
const MAX_MS: i64 = 253_402_300_799_999; // 9999-12-31

/// `2026-01-11T00:00:00.000Z`, the one form written to files and JSON.
pub fn format_ms(ms: i64) -> String {
    let ms = ms.clamp(MIN_MS, MAX_MS);
    let days = ms.div_euclid(86_400_000);
    let of_day = ms.rem_euclid(86_400_000);
    let (year, month, day) = civil(days);
    let (h, m, s, milli) = (of_day / 3_600_000, of_day / 60_000 % 60, of_day / 1000 % 60, of_day % 1000);
    format!("{year:04}-{month:02}-{day:02}T{h:02}:{m:02}:{s:02}.{milli:03}Z")
}

/// `YYYY-MM` of a time, for the name of an archive file.
pub(crate) fn year_month(ms: i64) -> String {
    format_ms(ms)[..7].to_owned()
}

/// An ISO 8601 time with any offset, or `None`.
pub fn parse_iso(text: &str) -> Option<i64> {
    parse_fixed(text.as_bytes()).or_else(|| {
        let at: jiff::Timestamp = text.trim().parse().ok()?;
        Some(at.as_millisecond())
    })
}

/// `ui-prompts §3.3`: a numeric `ts` below 1e12 counts seconds, else milliseconds.
pub(crate) fn from_number(n: f64) -> Option<i64> {
    if !n.is_finite() || n < 0.0 {
        return None;
    }
    let ms = if n < 1e12 { n * 1000.0 } else { n };
    (ms <= MAX_MS as f64).then_some(ms as i64)
}

/// The fixed 24-byte form, without allocation: nearly every line of a log has it.
pub(crate) fn parse_fixed(b: &[u8]) -> Option<i64> {
    let &[
        y0,
        y1,
        y2,
        y3,
        b'-',
        m0,
        m1,
        b'-',
        d0,
        d1,
        b'T',
        h0,
        h1,
        b':',
        n0,
        n1,
        b':',
        s0,
        s1,
        b'.',
        f0,
        f1,
        f2,
        b'Z',
    ] = b
    else {
        return None;
    };
    let year = two(y0, y1)? * 100 + two(y2, y3)?;
    let (month, day) = (two(m0, m1)?, two(d0, d1)?);
    if month == 0 || month > 12 || day == 0 || day > days_in(year, month) {
        return None;
    }
    let of_day = of_day(&[h0, h1, b':', n0, n1, b':', s0, s1, b'.', f0, f1, f2, b'Z'])?;
    Some(days_from_civil(year, month, day) * 86_400_000 + of_day)
}

// `00:00:00.000Z` in milliseconds.
fn of_day(b: &[u8; 13]) -> Option<i64> {
    let &[h0, h1, b':', n0, n1, b':', s0, s1, b'.', f0, f1, f2, b'Z'] = b else { return None };
    let (hour, minute, second) = (two(h0, h1)?, two(n0, n1)?, two(s0, s1)?);
    let milli = two(f0, f1)? * 10 + two(b'0', f2)?;
    let fits = hour <= 23 && minute <= 59 && second <= 59;
    fits.then_some((hour * 3600 + minute * 60 + second) * 1000 + milli)
}

fn two(a: u8, b: u8) -> Option<i64> {
    (a.is_ascii_digit() && b.is_ascii_digit()).then(|| i64::from(a - b'0') * 10 + i64::from(b - b'0'))
}

/// Reads stamps of the fixed form one after the other. Neighbours in a log are of the same day, so its
/// date is worked out once.
#[derive(Debug, Default)]
pub(crate) struct Days {
    date: [u8; 11],
    start: i64,
}

impl Days {
    /// The same as [`parse_fixed`].
    #[inline]
    pub(crate) fn parse(&mut self, b: &[u8]) -> Option<i64> {
        let (date, time) = b.split_first_chunk::<11>()?;
        let time: &[u8; 13] = time.try_into().ok()?;
        if *date == self.date {
            return Some(self.start + of_day(time)?);
        }
        let whole = parse_fixed(b)?;
        (self.date, self.start) = (*date, whole - of_day(time)?);
        Some(whole)
    }
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

// Days since 1970-01-01 of a proleptic Gregorian date, counting years from March so that the leap
// day is the last of its year.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let y = if month <= 2 { year - 1 } else { year };
    let era = y.div_euclid(400);
    let of_era = y - era * 400;
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn civil(days: i64) -> (i64, i64, i64) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z - era * 146_097;
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = doy - (153 * mp + 2) / 5 + 1;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    (yoe + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn format_and_parse_are_inverse() {
        for ms in [0, 1, -1, 951_827_696_789, 1_768_089_600_000, MIN_MS, MAX_MS, 4_102_444_799_999] {
            let text = format_ms(ms);
            assert_eq!(parse_fixed(text.as_bytes()), Some(ms), "{text}");
            if let Ok(by_jiff) = text.parse::<jiff::Timestamp>() {
                assert_eq!(by_jiff.as_millisecond(), ms, "{text}");
            } else {
                assert_eq!(ms, MAX_MS, "only the last day of 9999 is beyond jiff");
            }
        }
    }

    #[test]
    fn a_remembered_day_changes_nothing() {
        let mut days = Days::default();
        for text in [
            "2026-01-11T00:00:00.000Z",
            "2026-01-11T23:59:59.999Z",
            "2026-01-11T24:00:00.000Z",
            "2026-01-11T10:00:00,000Z",
            "2026-02-30T00:00:00.000Z",
            "2026-02-30T00:00:00.000Z",
            "2024-02-29T01:02:03.004Z",
            "2026-01-11T10:00:00.00Z",
            "2026-01-11T10:00:00.000Zx",
            "",
        ] {
            assert_eq!(days.parse(text.as_bytes()), parse_fixed(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn other_iso_forms_are_read() {
        assert_eq!(parse_iso("2026-01-11T08:00:00+08:00"), Some(1_768_089_600_000));
        assert_eq!(parse_iso("2026-01-11T00:00:00Z"), Some(1_768_089_600_000));
        assert_eq!(parse_iso("2026-02-30T00:00:00.000Z"), None);
        assert_eq!(parse_iso("yesterday"), None);
    }

    #[test]
    fn numbers_are_seconds_or_milliseconds() {
        assert_eq!(from_number(1_768_089_600.0), Some(1_768_089_600_000));
        assert_eq!(from_number(1_768_089_600_000.0), Some(1_768_089_600_000));
        assert_eq!(from_number(-5.0), None);
        assert_eq!(from_number(f64::INFINITY), None);
    }
}
