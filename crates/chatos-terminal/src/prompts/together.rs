//! Several changes or commands of one answer of the agent, asked as one question in the terminal: all, none, or some.

use std::time::Duration;

use chatos_tool::{ErrorCode, Fault, Text};
use serde_json::{Value, json};

use super::desk::Desk;
use super::form::{Outcome, may_stop, word};
use super::{input, show, usage};
use crate::output::{Output, Paint};

/// The questions are put one after the other; the last is there a moment after the first.
const AGAIN: Duration = Duration::from_millis(100);
const LOOKS: usize = 30;

/// Whether a question is one of several.
pub(super) fn is_one_of_several(item: &Value) -> bool {
    item["card"]["group"]["of"].as_u64().is_some_and(|of| of > 1)
}

/// The open questions that are asked with this one, as soon as all of them are there.
async fn load(desk: &Desk, output: &Output, id: &str, item: &Value) -> Result<Value, Fault> {
    let of = item["card"]["group"]["of"].as_u64().and_then(|of| usize::try_from(of).ok()).unwrap_or(1);
    for _ in 0..LOOKS {
        let found = desk.together(id, output.lang).await?;
        if found["items"].as_array().is_some_and(|items| items.len() >= of) {
            return Ok(found);
        }
        tokio::time::sleep(AGAIN).await;
    }
    desk.together(id, output.lang).await
}

/// Shows them all and asks once. Nothing where there is only one left.
pub(super) async fn ask(
    desk: &Desk,
    output: &Output,
    id: &str,
    item: &Value,
) -> Result<Option<Outcome>, Fault> {
    loop {
        let found = load(desk, output, id, item).await?;
        let items = found["items"].as_array().cloned().unwrap_or_default();
        if items.len() < 2 {
            return Ok(None);
        }
        for (i, item) in items.iter().enumerate() {
            output.line(&output.paint(Paint::Bold, &format!("[{}]", i + 1)));
            show::item(output, item, show::Part::Whole);
        }
        let n = items.len();
        let stops = items.iter().all(may_stop);
        let stop = if stops { word(output, "x = none, and stop, ", "x = 都不并停止，") } else { "" };
        let question = Text::new(
            format!("Approve all {n}? [y = all, n = none, 1,3 = only these, {stop}q = leave] "),
            format!("全部 {n} 项都同意？[y = 全部，n = 都不，1,3 = 仅这些，{stop}q = 离开] "),
        );
        let question = question.get(output.lang).to_owned();
        let typed = chatos_blocking::run(move || input::line(&question)).await;
        let Ok(Ok(Some(typed))) = typed else { return Ok(Some(Outcome::Left)) };
        let accepted = match typed.trim() {
            "" | "q" => return Ok(Some(Outcome::Left)),
            "y" | "Y" => items.iter().map(|item| item["requestId"].clone()).collect(),
            "n" | "N" => Vec::new(),
            "x" if stops => Vec::new(),
            some => match chosen(&items, &[some.to_owned()]) {
                Ok(chosen) => chosen,
                Err(fault) => {
                    output.line(&output.paint(Paint::Bad, &show::exact(fault.message.get(output.lang))));
                    continue;
                }
            },
        };
        let stop = stops && typed.trim() == "x";
        match send(desk, output, id, &found, &accepted, None, stop).await {
            Ok(done) => return Ok(Some(Outcome::Sent(done))),
            Err(fault) if fault.code == "shown_mismatch" => {
                output.line(&output.paint(Paint::Warn, &show::exact(fault.message.get(output.lang))));
            }
            Err(fault) => return Err(fault),
        }
    }
}

/// `--together`, and `--only` with what is approved of them.
pub(super) async fn by_flags(
    desk: &Desk,
    output: &Output,
    id: &str,
    item: &Value,
    ok: bool,
    only: &[String],
    (remark, stop): (Option<&str>, bool),
) -> Result<Value, Fault> {
    let found = load(desk, output, id, item).await?;
    let items = found["items"].as_array().cloned().unwrap_or_default();
    let accepted = match (ok, only) {
        (false, _) => Vec::new(),
        (true, []) => items.iter().map(|item| item["requestId"].clone()).collect(),
        (true, only) => chosen(&items, only)?,
    };
    send(desk, output, id, &found, &accepted, remark, stop).await
}

async fn send(
    desk: &Desk,
    output: &Output,
    id: &str,
    found: &Value,
    accepted: &[Value],
    remark: Option<&str>,
    stop: bool,
) -> Result<Value, Fault> {
    let body = json!({
        "shown": found["shown"], "accepted": accepted, "remark": remark, "stop": stop, "by": "cli",
        "pid": std::process::id(),
    });
    let done = desk.answer_together(id, &body, output.lang).await?;
    if let Some(first) = done["skipped"].as_array().and_then(|skipped| skipped.first()) {
        let message = first["message"].as_str().unwrap_or_default().to_owned();
        return Err(Fault::new(ErrorCode::Conflict, Text::same(message)).code("skipped"));
    }
    Ok(done)
}

/// By number, path, command or id.
fn chosen(items: &[Value], wanted: &[String]) -> Result<Vec<Value>, Fault> {
    let mut chosen = Vec::new();
    for one in wanted.iter().flat_map(|text| text.split(',')).map(str::trim).filter(|one| !one.is_empty()) {
        let named = |item: &&Value| {
            let prompt = &item["prompt"];
            [&item["requestId"], &prompt["path"], &prompt["command"]]
                .iter()
                .any(|text| text.as_str() == Some(one))
        };
        let by_number = one.parse::<usize>().ok().and_then(|n| items.get(n.checked_sub(1)?));
        let Some(item) = by_number.or_else(|| items.iter().find(named)) else {
            return Err(usage(
                format!("`{one}` is none of these questions; name a number, a path or a command"),
                format!("`{one}` 不是其中的问题；请给出序号、路径或命令"),
            ));
        };
        chosen.push(item["requestId"].clone());
    }
    Ok(chosen)
}
