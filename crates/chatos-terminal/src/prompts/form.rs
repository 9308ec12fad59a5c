//! Asks one question in the terminal: a form per kind, checked by the queue itself.

use chatos_tool::{ErrorCode, Fault, Lang, Text};
use serde_json::{Map, Value, json};

use super::desk::Desk;
use super::{input, show, task_editor, together};
use crate::output::{Output, Paint};

/// How the form ended.
pub(super) enum Outcome {
    /// The answer was accepted.
    Sent(Value),
    /// The person went away without answering; the question stays open.
    Left,
    /// Somebody else answered first.
    Closed,
}

/// What the person wants to send.
pub(super) enum Reply {
    Response(Value),
    Leave,
}

/// Shows the question, asks until the answer is accepted or the person leaves.
pub(super) async fn ask(
    desk: &Desk,
    output: &Output,
    id: &str,
    mut item: Value,
    pinned: Option<&str>,
    remark: Option<&str>,
) -> Result<Outcome, Fault> {
    let mut errors = Value::Null;
    if together::is_one_of_several(&item) {
        // Answered with the others.
        if item["state"] != "pending" {
            return Ok(Outcome::Closed);
        }
        if let Some(outcome) = together::ask(desk, output, id, &item).await? {
            return Ok(outcome);
        }
    }
    loop {
        if item["state"] != "pending" {
            show::item(output, &item, show::Part::Whole);
            return Ok(Outcome::Closed);
        }
        show::item(output, &item, show::Part::Head);
        if let Some(text) = desk.whole(id, &item, output.lang).await? {
            // The pager of a change shows all of it; other questions have it above them.
            if item["kind"] == "file_change_confirm" {
                item["prompt"]["diff"] = text.into();
            } else {
                show::whole(output, &text);
            }
        }
        tell_errors(output, &errors);
        let reply = match at_terminal(output, &item, remark).await {
            Ok(reply) => reply,
            // Ctrl-C where the program goes on: the question stays, and nothing that was typed is used.
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => return Ok(Outcome::Left),
            Err(error) => {
                let fault = Fault::new(
                    ErrorCode::Unavailable,
                    Text::fixed("cannot read from the terminal", "无法从终端读取"),
                );
                return Err(fault.caused_by(&error));
            }
        };
        let response = match reply {
            Reply::Leave => return Ok(Outcome::Left),
            Reply::Response(response) => response,
        };
        let shown = pinned.or(item["shown"].as_str());
        let body = json!({ "response": response, "shown": shown, "by": "cli", "pid": std::process::id() });
        match desk.respond(id, &body, output.lang).await {
            Ok(done) => return Ok(Outcome::Sent(done)),
            Err(fault) if fault.code == "already_answered" => {
                let item = desk.show(id, output.lang).await?;
                output.line(&output.paint(Paint::Warn, &show::exact(fault.message.get(output.lang))));
                show::answered(output, &item);
                return Ok(Outcome::Closed);
            }
            Err(fault) if fault.code == "shown_mismatch" && pinned.is_none() => {
                // The question changed while it was on the screen: show it again.
                output.line(&output.paint(Paint::Warn, &show::exact(fault.message.get(output.lang))));
                item = desk.show(id, output.lang).await?;
            }
            Err(fault) if fault.class == ErrorCode::InvalidArgument => {
                errors = fault.details.unwrap_or_default()["errors"].take();
            }
            Err(fault) => return Err(fault),
        }
    }
}

/// The form on a thread of its own: meanwhile this process may be the host that keeps the question, and
/// whoever waits for the form may stop waiting.
async fn at_terminal(output: &Output, item: &Value, remark: Option<&str>) -> std::io::Result<Reply> {
    let (output, item, remark) = (output.clone(), item.clone(), remark.map(str::to_owned));
    let (filled, reply) = tokio::sync::oneshot::channel();
    std::thread::Builder::new().name("form".to_owned()).spawn(move || {
        // Nobody waits for it any more when this fails.
        filled.send(fill(&output, &item, remark.as_deref())).ok();
    })?;
    reply.await.unwrap_or_else(|_| Err(std::io::Error::other("the form failed")))
}

fn tell_errors(output: &Output, errors: &Value) {
    for error in errors.as_array().into_iter().flatten() {
        let line = format!(
            "{} — {}",
            error["message"].as_str().unwrap_or_default(),
            error["hint"].as_str().unwrap_or_default()
        );
        output.line(&output.paint(Paint::Bad, &show::exact(&line)));
    }
}

fn fill(output: &Output, item: &Value, remark: Option<&str>) -> std::io::Result<Reply> {
    let prompt = &item["prompt"];
    if item["problem"].is_object() {
        return dismiss(output);
    }
    match item["kind"].as_str() {
        Some("kv") => kv(output, item, remark),
        Some("choice") => choice(output, item, remark),
        Some("task_confirm") => task_editor::run(output, item, remark),
        Some("file_change_confirm") => change(output, item, remark),
        Some("result") => {
            let question = word(output, "Got it? [Enter = yes, q = leave] ", "已阅？[回车 = 是，q = 离开] ");
            match input::line(question)?.as_deref().map(str::trim) {
                None | Some("q") => Ok(Reply::Leave),
                Some(_) => Ok(ok(Map::new(), None)),
            }
        }
        _ => {
            output.line(&show::exact(&prompt.to_string()));
            dismiss(output)
        }
    }
}

fn dismiss(output: &Output) -> std::io::Result<Reply> {
    let question = word(output, "Dismiss it? [d = dismiss, q = leave] ", "忽略它？[d = 忽略，q = 离开] ");
    match input::line(question)?.as_deref().map(str::trim) {
        Some("d") => Ok(canceled(false, None)),
        _ => Ok(Reply::Leave),
    }
}

fn kv(output: &Output, item: &Value, remark: Option<&str>) -> std::io::Result<Reply> {
    let fields = item["prompt"]["fields"].as_array().cloned().unwrap_or_default();
    let schema = &item["prompt"]["requestedSchema"]["properties"];
    let mut values = Map::new();
    loop {
        for field in &fields {
            let key = field["key"].as_str().unwrap_or_default();
            let Some(value) = one_field(output, item, field, &schema[key], values.get(key))? else {
                return Ok(Reply::Leave);
            };
            values.insert(key.to_owned(), value.into());
        }
        match send(output, item)? {
            Send::Yes => {
                let mut payload = Map::new();
                payload.insert("values".to_owned(), Value::Object(values));
                return Ok(ok(payload, remark));
            }
            Send::Edit => {}
            Send::Cancel { declined } => return Ok(canceled(declined, remark)),
            Send::Leave => return Ok(Reply::Leave),
        }
    }
}

// `None`: the input ended.
fn one_field(
    output: &Output,
    item: &Value,
    field: &Value,
    schema: &Value,
    before: Option<&Value>,
) -> std::io::Result<Option<String>> {
    let head = show::field_line(output, field);
    let secret = field["secret"] == Value::Bool(true);
    let multiline = field["multiline"] == Value::Bool(true);
    loop {
        let text = if secret {
            if item["plainSecrets"] == Value::Bool(true) {
                output.line(&output.paint(Paint::Warn, show::plain_secret_note(output)));
            }
            Some(input::hidden(&format!("{head}: "))?)
        } else if multiline {
            let end =
                word(output, "(end with a line that holds only a full stop)", "（以仅含一个句点的行结束）");
            input::lines(&format!("{head} {end}"))?
        } else {
            let expected =
                expected(schema).map(|text| format!(" <{}>", show::exact(&text))).unwrap_or_default();
            let kept = before.and_then(Value::as_str).filter(|b| !b.is_empty());
            let kept = kept.map(|kept| format!(" ({})", show::exact(kept))).unwrap_or_default();
            input::line(&format!("{head}{expected}{kept}: "))?
        };
        let Some(mut text) = text else { return Ok(None) };
        if text.is_empty() {
            // Enter keeps what was entered before, or takes the default.
            let kept = before.and_then(Value::as_str).filter(|_| !secret);
            text = kept.or(field["default"].as_str()).unwrap_or_default().to_owned();
        }
        if field["required"] == Value::Bool(true) && text.trim().is_empty() {
            output.line(&output.paint(Paint::Bad, word(output, "This must be filled in.", "必须填写。")));
            continue;
        }
        return Ok(Some(text));
    }
}

fn expected(schema: &Value) -> Option<String> {
    if let Some(options) = schema["enum"].as_array() {
        let names: Vec<&str> = options.iter().filter_map(Value::as_str).collect();
        return Some(names.join(" | "));
    }
    match (schema["type"].as_str()?, schema["format"].as_str()) {
        ("boolean", _) => Some("true | false".to_owned()),
        ("string", Some("date")) => Some("YYYY-MM-DD".to_owned()),
        ("string", Some(format)) => Some(format.to_owned()),
        ("string", None) => None,
        (kind, _) => Some(kind.to_owned()),
    }
}

fn choice(output: &Output, item: &Value, remark: Option<&str>) -> std::io::Result<Reply> {
    let prompt = &item["prompt"];
    let options = prompt["options"].as_array().cloned().unwrap_or_default();
    let multiple = prompt["multiple"] == Value::Bool(true);
    for (i, option) in options.iter().enumerate() {
        output.line(&show::option_line(i, option));
    }
    let default: Vec<String> = match &prompt["default"] {
        Value::String(one) => vec![one.clone()],
        Value::Array(many) => many.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    let most = prompt["maxSelections"].as_u64().unwrap_or(options.len() as u64);
    let least = prompt["minSelections"].as_u64().unwrap_or(0);
    let how = match (multiple, output.lang) {
        (false, Lang::En) => "Number or value".to_owned(),
        (false, Lang::Zh) => "编号或值".to_owned(),
        (true, Lang::En) => format!("Numbers or values, separated by commas, {least} to {most}"),
        (true, Lang::Zh) => format!("编号或值，用逗号分隔，{least} 到 {most} 项"),
    };
    let stops = may_stop(item) && prompt["allowCancel"] != Value::Bool(false);
    let leave = if stops {
        word(
            output,
            "r = note, c = cancel, x = reject and stop, q = leave",
            "r = 备注，c = 取消，x = 拒绝并停止，q = 离开",
        )
    } else {
        word(output, "r = note, c = cancel, q = leave", "r = 备注，c = 取消，q = 离开")
    };
    let mut remark = remark.map(str::to_owned);
    let shown =
        if default.is_empty() { String::new() } else { format!(" [{}]", show::exact(&default.join(", "))) };
    loop {
        let Some(text) = input::line(&format!("{how}{shown} ({leave}): "))? else { return Ok(Reply::Leave) };
        let text = text.trim();
        // A value may be called c, x or q; then its number chooses it.
        match text {
            "q" => return Ok(Reply::Leave),
            "x" if stops => return Ok(stopped(remark.as_deref())),
            "c" | "d" if item["prompt"]["allowCancel"] != Value::Bool(false) => {
                let declined = text == "d" && item["canDecline"] == Value::Bool(true);
                return Ok(canceled(declined, remark.as_deref()));
            }
            "r" => {
                remark = input::line(word(output, "Remark: ", "备注："))?.or(remark);
                continue;
            }
            _ => {}
        }
        let words: Vec<&str> = text.split(',').map(str::trim).filter(|w| !w.is_empty()).collect();
        let mut chosen: Vec<String> = Vec::new();
        let mut wrong = None;
        for word in &words {
            match meant(&options, word) {
                Some(value) => chosen.push(value.to_owned()),
                None => wrong = Some(*word),
            }
        }
        if let Some(wrong) = wrong {
            let line = format!(
                "`{}` {}",
                show::exact(wrong),
                word(output, "is not one of the options", "不在选项中")
            );
            output.line(&output.paint(Paint::Bad, &line));
            continue;
        }
        if words.is_empty() {
            chosen.clone_from(&default);
        }
        let selection = if multiple {
            json!(chosen)
        } else {
            match chosen.as_slice() {
                [one] => json!(one),
                _ => {
                    output.line(
                        &output.paint(Paint::Bad, word(output, "Choose exactly one.", "请只选择一项。")),
                    );
                    continue;
                }
            }
        };
        let mut payload = Map::new();
        payload.insert("selection".to_owned(), selection);
        return Ok(ok(payload, remark.as_deref()));
    }
}

/// Values and labels of options that say yes and no, the narrowest yes first: `y` never says more than `once`.
const YES: [&str; 12] =
    ["yes", "once", "approve", "allow", "accept", "ok", "continue", "open", "是", "同意", "批准", "允许"];
const NO: [&str; 10] = ["no", "deny", "decline", "reject", "refuse", "not_now", "stop", "否", "拒绝", "不"];

/// The option that a word means: its number, its value, `y` or `n`, or a beginning only it has.
fn meant<'o>(options: &'o [Value], word: &str) -> Option<&'o str> {
    let value = |option: &'o Value| option["value"].as_str();
    if let Some(option) = word.parse::<usize>().ok().and_then(|n| options.get(n.checked_sub(1)?)) {
        return value(option);
    }
    if let Some(option) = options.iter().find(|option| option["value"].as_str() == Some(word)) {
        return value(option);
    }
    let lower = word.to_lowercase();
    let begins = |option: &Value, with: &str| {
        [&option["value"], &option["label"]]
            .iter()
            .any(|text| text.as_str().is_some_and(|text| text.to_lowercase().starts_with(with)))
    };
    let only = |fits: &dyn Fn(&Value) -> bool| {
        let mut found = options.iter().filter(|option| fits(option));
        found.next().filter(|_| found.next().is_none()).and_then(value)
    };
    let words = match lower.as_str() {
        "y" | "yes" | "是" => &YES[..],
        "n" | "no" | "否" => &NO[..],
        _ => &[],
    };
    let is = |word: &&str| options.iter().find(|option| option["value"].as_str() == Some(*word));
    let said = words.iter().find_map(is).and_then(value);
    let said = said.or_else(|| only(&|option| words.iter().any(|word| begins(option, word))));
    said.or_else(|| only(&|option| begins(option, &lower)))
}

fn change(output: &Output, item: &Value, remark: Option<&str>) -> std::io::Result<Reply> {
    let diff = item["prompt"]["diff"].as_str().unwrap_or_default();
    let lines: Vec<&str> = diff.lines().collect();
    let mut seen = page(output, &lines, 0)?;
    loop {
        let all = seen >= lines.len();
        let stop =
            if may_stop(item) { word(output, "x = reject and stop, ", "x = 拒绝并停止，") } else { "" };
        let question = match (all, output.lang) {
            (true, Lang::En) => {
                format!("y or a = approve, n or c = reject, {stop}r = note, s = show again, q = leave: ")
            }
            (true, Lang::Zh) => {
                format!("y 或 a = 同意，n 或 c = 拒绝，{stop}r = 备注，s = 再看一次，q = 离开：")
            }
            // security T24: approving needs the whole of it on the screen first.
            (false, Lang::En) => {
                format!("s = show the rest (needed to approve), n or c = reject, {stop}q = leave: ")
            }
            (false, Lang::Zh) => {
                format!("s = 显示剩余内容（同意前必须看完），n 或 c = 拒绝，{stop}q = 离开：")
            }
        };
        let Some(text) = input::line(&question)? else { return Ok(Reply::Leave) };
        match text.trim() {
            "a" | "y" | "yes" if all => return approve(output, item, remark),
            "c" | "n" | "no" => return Ok(canceled(false, remark)),
            "x" if may_stop(item) => return Ok(stopped(remark)),
            "r" if all => {
                let question = word(output, "Remark: ", "备注：");
                if let Some(text) = input::line(question)? {
                    let question = word(
                        output,
                        "a = approve with it, c = refuse with it: ",
                        "a = 附备注同意，c = 附备注拒绝：",
                    );
                    match input::line(question)?.as_deref().map(str::trim) {
                        Some("a" | "y" | "yes") => return approve(output, item, Some(&text)),
                        Some("c" | "n" | "no") => return Ok(canceled(false, Some(&text))),
                        _ => {}
                    }
                }
            }
            "s" => seen = page(output, &lines, if all { 0 } else { seen })?.max(seen),
            "q" => return Ok(Reply::Leave),
            _ => {}
        }
    }
}

/// What cannot be shown needs a word of its own.
fn approve(output: &Output, item: &Value, remark: Option<&str>) -> std::io::Result<Reply> {
    let mut payload = Map::new();
    if item["prompt"]["diffRef"]["hidden"].as_array().is_some_and(|hidden| !hidden.is_empty()) {
        let question = word(
            output,
            "The content of some files cannot be shown. Approve without seeing it? [yes = approve] ",
            "部分文件的内容无法显示。不查看内容就同意？[输入 yes 同意] ",
        );
        if input::line(question)?.as_deref().map(str::trim) != Some("yes") {
            return Ok(Reply::Leave);
        }
        payload.insert("withoutSeeing".to_owned(), true.into());
    }
    Ok(ok(payload, remark))
}

// Prints from `from`, a screen at a time; returns how far it got.
fn page(output: &Output, lines: &[&str], from: usize) -> std::io::Result<usize> {
    let step = input::rows().saturating_sub(3).max(5);
    let mut at = from;
    while at < lines.len() {
        let end = (at + step).min(lines.len());
        for line in &lines[at..end] {
            output.line(&show::diff_line(output, line));
        }
        at = end;
        if at < lines.len() {
            let question = match output.lang {
                Lang::En => format!("-- {at} of {} lines; Enter = more, q = stop -- ", lines.len()),
                Lang::Zh => format!("-- 第 {at} / {} 行；回车 = 继续，q = 停止 -- ", lines.len()),
            };
            match input::line(&question)? {
                Some(text) if text.trim() != "q" => {}
                _ => break,
            }
        }
    }
    Ok(at)
}

enum Send {
    Yes,
    Edit,
    Cancel { declined: bool },
    Leave,
}

fn send(output: &Output, item: &Value) -> std::io::Result<Send> {
    let cancel = item["prompt"]["allowCancel"] != Value::Bool(false);
    let decline = item["canDecline"] == Value::Bool(true);
    let mut choices = word(output, "Enter = send, e = edit", "回车 = 发送，e = 修改").to_owned();
    if cancel {
        choices.push_str(word(output, ", c = cancel the question", "，c = 取消该问题"));
    }
    if decline {
        choices.push_str(word(output, ", d = decline", "，d = 谢绝"));
    }
    choices.push_str(word(output, ", q = leave: ", "，q = 离开："));
    loop {
        match input::line(&choices)?.as_deref().map(str::trim) {
            Some("" | "y" | "yes") => return Ok(Send::Yes),
            Some("e") => return Ok(Send::Edit),
            Some("c" | "n" | "no") if cancel => return Ok(Send::Cancel { declined: false }),
            Some("d") if decline => return Ok(Send::Cancel { declined: true }),
            None | Some("q") => return Ok(Send::Leave),
            Some(_) => {}
        }
    }
}

pub(super) fn ok(mut payload: Map<String, Value>, remark: Option<&str>) -> Reply {
    payload.insert("status".to_owned(), "ok".into());
    if let Some(remark) = remark.filter(|r| !r.is_empty()) {
        payload.insert("remark".to_owned(), remark.into());
    }
    Reply::Response(Value::Object(payload))
}

pub(super) fn canceled(declined: bool, remark: Option<&str>) -> Reply {
    let mut payload = Map::new();
    payload.insert("status".to_owned(), "canceled".into());
    if declined {
        payload.insert("declined".to_owned(), true.into());
    }
    if let Some(remark) = remark.filter(|r| !r.is_empty()) {
        payload.insert("remark".to_owned(), remark.into());
    }
    Reply::Response(Value::Object(payload))
}

/// Whether who asks can be ended with the answer.
pub(super) fn may_stop(item: &Value) -> bool {
    item["card"]["stops"] == Value::Bool(true)
}

/// Rejected, and the run that asks ends.
fn stopped(remark: Option<&str>) -> Reply {
    match canceled(false, remark) {
        Reply::Response(mut response) => {
            response["stop"] = true.into();
            Reply::Response(response)
        }
        Reply::Leave => Reply::Leave,
    }
}

pub(super) fn word<'a>(output: &Output, en: &'a str, zh: &'a str) -> &'a str {
    match output.lang {
        Lang::En => en,
        Lang::Zh => zh,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_meant_by_number_value_yes_no_or_a_beginning_only_it_has() {
        let options = json!([
            {"value": "approve_once", "label": "Approve once"},
            {"value": "reject", "label": "Reject"},
            {"value": "red"}, {"value": "拒绝2", "label": "改天"},
        ]);
        let options = options.as_array().unwrap();
        for (word, value) in [
            ("1", Some("approve_once")),
            ("9", None),
            ("red", Some("red")),
            ("y", Some("approve_once")),
            ("YES", Some("approve_once")),
            ("A", Some("approve_once")),
            ("rej", Some("reject")),
            ("re", None),
            ("改", Some("拒绝2")),
            ("n", Some("reject")),
        ] {
            assert_eq!(meant(options, word), value, "{word}");
        }
        assert_eq!(meant(&options[..2], "n"), Some("reject"));
        let asked = json!([{"value": "run", "label": "Allow for this run"}, {"value": "once", "label": "Allow once"},
                           {"value": "no", "label": "Do not allow"}]);
        let asked = asked.as_array().unwrap();
        assert_eq!((meant(asked, "y"), meant(asked, "n")), (Some("once"), Some("no")));
    }
}
