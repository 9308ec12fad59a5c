//! When a channel is told, and what of it together. Pure: the clock and the rows are handed in.

/// Questions that come this close together are told together.
const GATHER_MS: i64 = 700;
/// And are waited for no longer than this.
const MOST_GATHER_MS: i64 = 2_000;
/// Between two notices of a channel.
const BETWEEN_MS: i64 = 30_000;
/// After the first notice a person is reminded at these distances: 10 minutes, 1 hour, 8 hours after it.
const REMINDERS_MS: [i64; 3] = [10 * 60_000, 50 * 60_000, 7 * 60 * 60_000];
/// How often sending is tried.
pub(crate) const TRIES: i64 = 5;

/// What a channel does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Everything that is due goes out as one notice.
    Send,
    /// Nothing before this moment.
    Wait(i64),
}

/// Decides over one channel. `due` are the moments at which its notices were due, `last` when it was told last.
pub(crate) fn step(now: i64, due: &[i64], last: Option<i64>) -> Step {
    let (Some(first), Some(newest)) = (due.iter().min(), due.iter().max()) else {
        return Step::Wait(i64::MAX);
    };
    // A clock that was set back must not silence a channel.
    let free = last.filter(|last| *last <= now).map_or(i64::MIN, |last| last + BETWEEN_MS);
    let gathered = (newest + GATHER_MS).min(first + MOST_GATHER_MS);
    match free.max(gathered) {
        until if until > now => Step::Wait(until),
        _ => Step::Send,
    }
}

/// When the person is reminded after a notice, `sent` of which were reminders; never for ever.
pub(crate) fn reminder(now: i64, sent: i64) -> Option<i64> {
    let distance = usize::try_from(sent).ok().and_then(|sent| REMINDERS_MS.get(sent));
    distance.map(|distance| now + distance)
}

/// When sending is tried again after so many failures: 10 s, 40 s, 160 s, 10 min; then no more.
pub(crate) fn retry(now: i64, attempts: i64) -> Option<i64> {
    if attempts >= TRIES {
        return None;
    }
    let power = u32::try_from(attempts - 1).unwrap_or(0).min(4);
    Some(now + (10_000 * 4_i64.pow(power)).min(600_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_one_notice_and_a_single_question_does_not_wait_long() {
        assert_eq!(step(1_000, &[1_000], None), Step::Wait(1_700));
        assert_eq!(step(1_700, &[1_000], None), Step::Send);
        assert_eq!(step(1_700, &[1_000, 1_600], None), Step::Wait(2_300));
        // Somebody who asks without pause does not put it off for ever.
        assert_eq!(step(3_000, &[1_000, 2_900], None), Step::Send);
        assert_eq!(step(5, &[], None), Step::Wait(i64::MAX));
    }

    #[test]
    fn a_channel_is_told_at_most_every_half_minute_whatever_the_clock_does() {
        assert_eq!(step(20_000, &[10_000], Some(0)), Step::Wait(30_000));
        assert_eq!(step(30_000, &[10_000], Some(0)), Step::Send);
        assert_eq!(step(30_000, &[10_000], Some(9_000_000)), Step::Send);
    }

    #[test]
    fn three_reminders_and_five_tries_then_none() {
        let times: Vec<_> = (0..5).map(|sent| reminder(0, sent)).collect();
        assert_eq!(times, [Some(600_000), Some(3_000_000), Some(25_200_000), None, None]);
        let tries: Vec<_> = (1..7).map(|attempts| retry(0, attempts)).collect();
        assert_eq!(tries, [Some(10_000), Some(40_000), Some(160_000), Some(600_000), None, None]);
    }
}
