//! `chatos prompts snooze`: a question is put off, by a length of time, to the next morning, to a moment, or back.

use std::process::ExitCode;

use chatos_tool::{ErrorCode, Fault, Text};
use jiff::civil::time;
use jiff::{Timestamp, ToSpan, Zoned};

use super::desk::Desk;
use crate::output::Output;

pub(super) async fn run(desk: &Desk, output: &Output, id: &str, until: &str) -> Result<ExitCode, Fault> {
    let until = moment(until, &Zoned::now())?;
    let id = desk.resolve(id, output.lang).await?;
    let item = desk.snooze(&id, until.map(|until| until.to_string()), output.lang).await?;
    if output.json {
        output.json_line(&item);
    } else {
        output.say(&match until {
            Some(until) => {
                let here =
                    until.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string();
                Text::new(format!("put off until {here}"), format!("已推迟到 {here}"))
            }
            None => Text::fixed("it is back", "已恢复"),
        });
    }
    Ok(ExitCode::SUCCESS)
}

/// The moment a person means; `None` for `off`.
fn moment(text: &str, now: &Zoned) -> Result<Option<Timestamp>, Fault> {
    let wrong = || {
        Fault::new(
            ErrorCode::InvalidArgument,
            Text::new(format!("`{text}` is no time"), format!("`{text}` 不是时间")),
        )
        .hint(Text::fixed(
            "use 15m, 1h, 2d, tomorrow, a time as in 2030-01-31T09:00:00Z, or off",
            "请使用 15m、1h、2d、tomorrow、形如 2030-01-31T09:00:00Z 的时间，或 off",
        ))
    };
    if text == "off" {
        return Ok(None);
    }
    if text == "tomorrow" {
        let morning = now.date().tomorrow().map_err(|_| wrong())?.to_datetime(time(9, 0, 0, 0));
        let morning = morning.to_zoned(now.time_zone().clone()).map_err(|_| wrong())?;
        return Ok(Some(morning.timestamp()));
    }
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Ok(Some(moment));
    }
    let cut = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
    let number: i64 = text[..cut].parse().map_err(|_| wrong())?;
    let minutes = match &text[cut..] {
        "m" => Some(number),
        "h" => number.checked_mul(60),
        "d" => number.checked_mul(24 * 60),
        _ => None,
    };
    let minutes = minutes.filter(|minutes| (1..=366 * 24 * 60).contains(minutes)).ok_or_else(wrong)?;
    now.timestamp().checked_add(minutes.minutes()).map(Some).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_mornings_and_moments() {
        let now: Zoned = "2026-11-17T20:30:00+08:00[+08:00]".parse().unwrap();
        let at = |text: &str| moment(text, &now).ok().flatten().map(|moment| moment.to_string());
        assert_eq!(at("15m").as_deref(), Some("2026-11-17T12:45:00Z"));
        assert_eq!(at("2d").as_deref(), Some("2026-11-19T12:30:00Z"));
        assert_eq!(at("tomorrow").as_deref(), Some("2026-11-18T01:00:00Z"));
        assert_eq!(at("2030-01-31T09:00:00Z").as_deref(), Some("2030-01-31T09:00:00Z"));
        assert_eq!(moment("off", &now).unwrap(), None);
        for odd in ["", "soon", "15", "0m", "99999999999999d", "m"] {
            assert!(moment(odd, &now).is_err(), "{odd}");
        }
    }
}
