//! `chatos prompts answer`: flags become a response; without flags the question is asked here.

use std::io::{BufRead, IsTerminal};
use std::process::ExitCode;

use chatos_tool::{Fault, Text};
use serde_json::{Map, Value, json};

use super::ask::{read_json, read_text};
use super::desk::Desk;
use super::form::{self, Outcome};
use super::{bulk, finish, input, show, together, usage};
use crate::args::PromptsAnswer;
use crate::output::Output;

pub(super) async fn run(desk: &Desk, output: &Output, flags: &PromptsAnswer) -> Result<ExitCode, Fault> {
    if let Some(filter) = &flags.filter {
        return bulk::run(desk, output, flags, filter).await;
    }
    let id = match desk.resolve(flags.id.as_deref().unwrap_or_default(), output.lang).await {
        Ok(id) => id,
        Err(fault) => return Ok(finish(output, &fault)),
    };
    let item = desk.show(&id, output.lang).await?;
    if !(flags.ok || flags.cancel || flags.decline) {
        return interactive(desk, output, &id, item, flags).await;
    }
    if flags.together || !flags.only.is_empty() {
        let said = (flags.remark.as_deref(), flags.stop);
        let done = together::by_flags(desk, output, &id, &item, flags.ok, &flags.only, said).await?;
        if output.json {
            output.json_line(&done);
        } else {
            let n = done["done"].as_array().map_or(0, Vec::len);
            output.say(&answered(n));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let response = match response(flags, &item) {
        Ok(response) => response,
        Err(fault) => return Ok(finish(output, &fault)),
    };
    if flags.diff
        && let Some(text) = desk.whole(&id, &item, output.lang).await?
    {
        show::whole(output, &text);
    }
    // The digest of what this command read; `--shown` pins one that was seen earlier.
    let shown = flags.shown.as_deref().or(item["shown"].as_str());
    let body = json!({ "response": response, "shown": shown, "by": "cli", "pid": std::process::id() });
    let done = desk.respond(&id, &body, output.lang).await?;
    if output.json {
        output.json_line(&done);
    } else {
        told(output, &done);
    }
    Ok(ExitCode::SUCCESS)
}

async fn interactive(
    desk: &Desk,
    output: &Output,
    id: &str,
    item: Value,
    flags: &PromptsAnswer,
) -> Result<ExitCode, Fault> {
    if output.json || !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        let fault = usage(
            "say how to answer: --ok with values, --cancel or --decline",
            "请说明如何作答：--ok 加上内容、--cancel 或 --decline",
        )
        .hint(Text::fixed("without flags the question is asked in a terminal", "不带参数时会在终端中询问"));
        return Ok(finish(output, &fault));
    }
    input::heed_interrupts(false);
    match form::ask(desk, output, id, item, flags.shown.as_deref(), flags.remark.as_deref()).await? {
        Outcome::Sent(done) => {
            told(output, &done);
            Ok(ExitCode::SUCCESS)
        }
        Outcome::Left => {
            output.say(&Text::fixed("Left open; nothing was sent.", "保持未答；没有发送任何内容。"));
            Ok(ExitCode::SUCCESS)
        }
        Outcome::Closed => Ok(ExitCode::from(1)),
    }
}

pub(super) fn told(output: &Output, done: &Value) {
    output.say(&Text::fixed("Answered.", "已回答。"));
    if done["mirrored"] == json!(false) {
        output.say(&Text::fixed(
            "The answer is recorded; the prompt log cannot be written right now and follows later.",
            "答案已记录；交互日志暂时无法写入，稍后补写。",
        ));
    }
}

fn response(flags: &PromptsAnswer, item: &Value) -> Result<Value, Fault> {
    let mut response = Map::new();
    if flags.decline {
        response.insert("status".into(), "canceled".into());
        response.insert("declined".into(), true.into());
    } else if flags.cancel {
        response.insert("status".into(), "canceled".into());
    } else {
        response.insert("status".into(), "ok".into());
        payload(flags, item, &mut response)?;
        if flags.without_seeing {
            response.insert("withoutSeeing".into(), true.into());
        }
        if let Some(command) = &flags.command {
            response.insert("edited".into(), json!({ "command": command }));
        }
    }
    if flags.stop {
        response.insert("stop".into(), true.into());
    }
    if let Some(remark) = &flags.remark {
        response.insert("remark".into(), remark.as_str().into());
    }
    Ok(Value::Object(response))
}

fn payload(flags: &PromptsAnswer, item: &Value, response: &mut Map<String, Value>) -> Result<(), Fault> {
    match item["kind"].as_str() {
        Some("kv") => {
            response.insert("values".into(), Value::Object(values(flags)?));
        }
        Some("choice") => {
            let multiple = item["prompt"]["multiple"] == json!(true);
            let selection = match (multiple, flags.select.as_slice()) {
                (true, many) => json!(many),
                (false, []) => Value::Null,
                (false, [one]) => json!(one),
                (false, _) => {
                    return Err(usage("this question takes one --select", "该问题只能使用一个 --select"));
                }
            };
            response.insert("selection".into(), selection);
        }
        Some("task_confirm") => {
            let tasks = match &flags.tasks_file {
                Some(file) => {
                    let read = read_json(file)?;
                    // A list, or an object that holds one.
                    if read.is_array() { read } else { read["tasks"].clone() }
                }
                None => item["prompt"]["tasks"].clone(),
            };
            response.insert("tasks".into(), tasks);
        }
        _ => {}
    }
    Ok(())
}

fn values(flags: &PromptsAnswer) -> Result<Map<String, Value>, Fault> {
    let mut values = Map::new();
    let mut put = |key: &str, value: String| -> Result<(), Fault> {
        if values.insert(key.to_owned(), value.into()).is_some() {
            return Err(usage(format!("`{key}` is given twice"), format!("`{key}` 重复给出")));
        }
        Ok(())
    };
    let pair = |text: &str| -> Result<(String, String), Fault> {
        let (key, value) = text.split_once('=').ok_or_else(|| {
            usage(
                format!("`{text}` has no `=`: use key=value"),
                format!("`{text}` 缺少 `=`：请使用 key=value"),
            )
        })?;
        Ok((key.to_owned(), value.to_owned()))
    };
    for text in &flags.value {
        let (key, value) = pair(text)?;
        put(&key, value)?;
    }
    for text in &flags.value_file {
        let (key, file) = pair(text)?;
        put(&key, read_text(file.as_ref())?)?;
    }
    for key in &flags.secret {
        put(key, secret(key)?)?;
    }
    Ok(values)
}

// From the terminal without echo, else one line of standard input; never from the command line, which
// other users can read.
fn secret(key: &str) -> Result<String, Fault> {
    if std::io::stdin().is_terminal() {
        return input::hidden(&format!("{key}: "))
            .map_err(|error| usage(error.to_string(), error.to_string()));
    }
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    match read {
        Ok(0) => Err(usage(
            format!("no value for `{key}` on standard input"),
            format!("标准输入中没有 `{key}` 的值"),
        )),
        Ok(_) => Ok(line.trim_end_matches(['\r', '\n']).to_owned()),
        Err(error) => Err(usage(error.to_string(), error.to_string())),
    }
}

/// How many were answered.
pub(super) fn answered(n: usize) -> Text {
    let questions = if n == 1 { "question" } else { "questions" };
    Text::new(format!("Answered {n} {questions}."), format!("已回答 {n} 个问题。"))
}
