//! Retention by a person only: nothing of people's work goes by itself (state §8).

use chatos_store::{Pruned, now_ms, parse_time};
use chatos_tool::{ErrorCode, Fault, Text};
use serde_json::{Map, json};

use crate::work::Archive;

const DAY: i64 = 86_400_000;

impl Archive {
    /// Removes runs that finished before a time, or says which would go. Returns the time it understood.
    pub fn prune(&self, before: &str, dry_run: bool) -> Result<(i64, Pruned), Fault> {
        let at = moment(before).ok_or_else(|| {
            Fault::new(
                ErrorCode::InvalidArgument,
                Text::new(format!("`{before}` is not a time"), format!("`{before}` 不是有效的时间")),
            )
            .hint(Text::fixed(
                "use a date as in 2026-01-31, a time as in 2026-01-31T12:00:00Z, or days as in 90d",
                "请使用日期（如 2026-01-31）、时间（如 2026-01-31T12:00:00Z）或天数（如 90d）",
            ))
        })?;
        if dry_run {
            return Ok((at, self.parts().store.runs_before(at)?));
        }
        let pruned = self.parts().store.prune_runs(at)?;
        let mut fields = Map::new();
        fields.insert("before".to_owned(), json!(at));
        fields.insert("runs".to_owned(), json!(pruned.runs));
        self.parts().audit.note("runs_pruned", fields);
        Ok((at, pruned))
    }
}

fn moment(text: &str) -> Option<i64> {
    let text = text.trim();
    if let Some(days) = text.strip_suffix('d') {
        let days: i64 = days.parse().ok().filter(|days| (0..=36_500).contains(days))?;
        return Some(now_ms() - days * DAY);
    }
    parse_time(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_as_people_write_them() {
        assert_eq!(moment("1970-01-02"), Some(DAY));
        assert_eq!(moment("1970-01-01T00:00:01Z"), Some(1000));
        assert!(moment("0d").is_some_and(|at| at <= now_ms()));
        for nonsense in ["", "yesterday", "-1d", "d", "99999999d", "2026-13-01"] {
            assert_eq!(moment(nonsense), None, "{nonsense}");
        }
    }
}
