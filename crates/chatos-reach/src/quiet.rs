//! Quiet hours: `22:00-07:00`, with days `22:00-07:00 mon-fri` or `sat,sun`; a day is the one on which they begin.

use jiff::civil::{Time, Weekday};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

/// When nothing is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quiet {
    from: Time,
    to: Time,
    days: Vec<Weekday>,
}

const DAYS: [(&str, Weekday); 7] = [
    ("mon", Weekday::Monday),
    ("tue", Weekday::Tuesday),
    ("wed", Weekday::Wednesday),
    ("thu", Weekday::Thursday),
    ("fri", Weekday::Friday),
    ("sat", Weekday::Saturday),
    ("sun", Weekday::Sunday),
];

impl Quiet {
    /// Reads what `chatos_settings` has checked; nothing for an empty or odd text.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split_whitespace();
        let (from, to) = parts.next()?.split_once('-')?;
        let (from, to) = (time(from)?, time(to)?);
        let days = match parts.next() {
            None => DAYS.iter().map(|(_, day)| *day).collect(),
            Some(text) => days(text)?,
        };
        (parts.next().is_none() && from != to).then_some(Self { from, to, days })
    }

    /// The end of the quiet hours that hold at `now`, in milliseconds; `None` when none do.
    pub fn until(&self, now: i64, zone: &TimeZone) -> Option<i64> {
        let here = Timestamp::from_millisecond(now).ok()?.to_zoned(zone.clone());
        // They began today or yesterday.
        for back in [0, 1] {
            let day = here.date().checked_sub(Span::new().days(back)).ok()?;
            if !self.days.contains(&day.weekday()) {
                continue;
            }
            let last = if self.to > self.from { day } else { day.tomorrow().ok()? };
            let at = |day: jiff::civil::Date, time: Time| {
                let zoned = day.to_datetime(time).to_zoned(zone.clone()).ok()?;
                Some(zoned.timestamp().as_millisecond())
            };
            let (begin, end) = (at(day, self.from)?, at(last, self.to)?);
            if (begin..end).contains(&now) {
                return Some(end);
            }
        }
        None
    }
}

fn time(text: &str) -> Option<Time> {
    let (hour, minute) = text.split_once(':')?;
    let number = |text: &str| (text.len() == 2).then(|| text.parse::<i8>().ok()).flatten();
    Time::new(number(hour)?, number(minute)?, 0, 0).ok()
}

fn days(text: &str) -> Option<Vec<Weekday>> {
    let place = |name: &str| DAYS.iter().position(|(known, _)| *known == name);
    let mut found = Vec::new();
    for part in text.split(',') {
        let (first, last) = match part.split_once('-') {
            Some((first, last)) => (place(first)?, place(last)?),
            None => (place(part)?, place(part)?),
        };
        // From Saturday to Monday goes over the end of the week.
        let mut day = first;
        loop {
            found.push(DAYS[day].1);
            if day == last {
                break;
            }
            day = (day + 1) % 7;
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> i64 {
        text.parse::<Timestamp>().unwrap().as_millisecond()
    }

    #[test]
    fn quiet_hours_go_over_midnight_and_name_the_day_they_begin() {
        let until = |quiet: &str, now: &str| {
            let end = Quiet::parse(quiet).unwrap().until(at(now), &TimeZone::UTC)?;
            Some(Timestamp::from_millisecond(end).unwrap().to_string())
        };
        // 2026-11-20 is a Friday.
        assert_eq!(until("22:00-07:00", "2026-11-20T21:59:59Z"), None);
        assert_eq!(until("22:00-07:00", "2026-11-20T22:00:00Z").as_deref(), Some("2026-11-21T07:00:00Z"));
        assert_eq!(until("22:00-07:00", "2026-11-21T06:59:00Z").as_deref(), Some("2026-11-21T07:00:00Z"));
        assert_eq!(until("22:00-07:00", "2026-11-21T07:00:00Z"), None);
        assert_eq!(
            until("12:00-13:00 mon-fri", "2026-11-20T12:30:00Z").as_deref(),
            Some("2026-11-20T13:00:00Z")
        );
        assert_eq!(until("12:00-13:00 sat,sun", "2026-11-20T12:30:00Z"), None);
        assert_eq!(until("22:00-07:00 fri", "2026-11-21T06:00:00Z").as_deref(), Some("2026-11-21T07:00:00Z"));
        assert_eq!(until("22:00-07:00 sat-mon", "2026-11-21T06:00:00Z"), None);
    }

    #[test]
    fn what_is_no_pair_of_times_is_none() {
        for odd in ["", "22:00", "22:00-22:00", "24:00-01:00", "2:00-3:00", "22:00-07:00 someday", "a-b"] {
            assert_eq!(Quiet::parse(odd), None, "{odd}");
        }
    }
}
