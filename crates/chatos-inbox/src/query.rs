//! Which questions a list shows: the wishes of a surface, checked.

use chatos_prompts::{Query, Status, View};
use chatos_store::now_ms;
use chatos_tool::Fault;
use chatos_wire::prompt::PromptQuery;

use crate::fault::wrong;

/// A list as it was asked for, or what is wrong with the wish.
pub(crate) fn query(wanted: &PromptQuery) -> Result<Query, Fault> {
    let view = match wanted.view.as_deref() {
        None | Some("") => View::NeedsYou,
        Some(text) => View::parse(text).ok_or_else(|| {
            wrong(
                "view",
                text,
                "needs_you, snoozed, results, history or all",
                " needs_you、snoozed、results、history 或 all",
            )
        })?,
    };
    let status = match wanted.status.as_deref() {
        None | Some("") => None,
        Some(text @ ("ok" | "canceled" | "timeout" | "error")) => Some(Status::read(text)),
        Some(text) => {
            return Err(wrong(
                "status",
                text,
                "ok, canceled, timeout or error",
                " ok、canceled、timeout 或 error",
            ));
        }
    };
    let time = |name: &str, text: &Option<String>| -> Result<Option<i64>, Fault> {
        match text.as_deref() {
            None | Some("") => Ok(None),
            Some(text) => day_or_time(text)
                .map(Some)
                .ok_or_else(|| wrong(name, text, "a date or an ISO time", "日期或 ISO 时间")),
        }
    };
    let limit = wanted.limit.unwrap_or(50);
    if limit == 0 || limit > 200 {
        return Err(wrong("limit", &limit.to_string(), "1 to 200", " 1 到 200"));
    }
    let text = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    Ok(Query {
        view,
        run_id: text(&wanted.run_id),
        source: text(&wanted.source),
        kind: text(&wanted.kind),
        status,
        auto: wanted.auto,
        q: text(&wanted.q),
        since: time("since", &wanted.since)?,
        until: time("until", &wanted.until)?,
        cursor: text(&wanted.cursor),
        limit,
    })
}

fn day_or_time(text: &str) -> Option<i64> {
    chatos_prompts::parse_iso(text).or_else(|| chatos_prompts::parse_iso(&format!("{text}T00:00:00.000Z")))
}

/// `30d`, `12h`, a date or a time.
pub(crate) fn before_ms(text: &str) -> Result<i64, Fault> {
    let text = text.trim();
    let ago = |number: &str, unit: i64| number.parse::<u32>().ok().map(|n| now_ms() - i64::from(n) * unit);
    let found = match text.strip_suffix('d') {
        Some(days) => ago(days, 86_400_000),
        None => match text.strip_suffix('h') {
            Some(hours) => ago(hours, 3_600_000),
            None => day_or_time(text),
        },
    };
    found.ok_or_else(|| wrong("before", text, "a date, or days as in 30d", "日期，或天数如 30d"))
}
