//! `chatos prompts answer --where …`: one answer for all questions that fit. What it would be about is printed first, and
//! only that is answered: the host compares a digest over all of it.

use std::io::IsTerminal;
use std::process::ExitCode;

use chatos_tool::{Fault, Text};
use serde_json::{Map, Value, json};

use super::desk::Desk;
use super::{finish, input, show, usage};
use crate::args::PromptsAnswer;
use crate::output::{Output, Paint};

/// What a filter can name.
const NAMES: [&str; 8] = ["agent", "project", "client", "chat", "risk", "kind", "source", "q"];

pub(super) async fn run(
    desk: &Desk,
    output: &Output,
    flags: &PromptsAnswer,
    text: &str,
) -> Result<ExitCode, Fault> {
    let action = match (flags.ok, flags.cancel) {
        (true, false) => "approve",
        (false, true) => "reject",
        _ => {
            let fault = usage("say --ok or --cancel with --where", "--where 须配合 --ok 或 --cancel");
            return Ok(finish(output, &fault));
        }
    };
    let filter = match filter(text) {
        Ok(filter) => filter,
        Err(fault) => return Ok(finish(output, &fault)),
    };
    let look = json!({ "select": { "filter": filter }, "action": action });
    let found = desk.bulk_preview(&look, output.lang).await?;
    let empty = Vec::new();
    let items = found["items"].as_array().unwrap_or(&empty);
    // A script looks first, and answers what it saw.
    if output.json && flags.digest.is_none() {
        output.json_line(&found);
        return Ok(ExitCode::SUCCESS);
    }
    if !output.json {
        print(output, items, found["excluded"].as_array().unwrap_or(&empty));
    }
    if items.is_empty() {
        let left = found["excluded"].as_array().is_some_and(|left| !left.is_empty());
        output.say(&if left {
            Text::fixed(
                "None of these can be answered together; answer them one by one.",
                "这些问题都不能一起回答，请逐个回答。",
            )
        } else {
            Text::fixed("No open question fits.", "没有符合条件的待答问题。")
        });
        return Ok(ExitCode::SUCCESS);
    }
    let digest = match &flags.digest {
        Some(digest) => digest.clone(),
        None if std::io::stdin().is_terminal() => {
            let n = items.len();
            let question = if flags.ok {
                Text::new(format!("Approve these {n}? [y/N] "), format!("同意这 {n} 个？[y/N] "))
            } else {
                Text::new(format!("Reject these {n}? [y/N] "), format!("拒绝这 {n} 个？[y/N] "))
            };
            let typed = input::line(question.get(output.lang)).ok().flatten().unwrap_or_default();
            if !matches!(typed.trim(), "y" | "Y" | "yes") {
                output.say(&Text::fixed("Left open; nothing was sent.", "保持未答；没有发送任何内容。"));
                return Ok(ExitCode::SUCCESS);
            }
            found["digest"].as_str().unwrap_or_default().to_owned()
        }
        None => {
            let fault = usage(
                "without a terminal, --digest says what you saw",
                "不在终端中时，须用 --digest 说明所看到的内容",
            )
            .hint(Text::fixed(
                "`--json` without `--digest` prints the questions and their digest",
                "不带 `--digest` 的 `--json` 会打印这些问题及其摘要",
            ));
            return Ok(finish(output, &fault));
        }
    };
    let order = json!({
        "select": look["select"], "action": action, "digest": digest, "remark": flags.remark, "by": "cli",
        "pid": std::process::id(),
    });
    let done = desk.bulk(&order, output.lang).await?;
    if output.json {
        output.json_line(&done);
    } else {
        let n = done["done"].as_array().map_or(0, Vec::len);
        output.say(&super::answer::answered(n));
        for one in done["skipped"].as_array().into_iter().flatten() {
            let (id, why) = (&one["id"], &one["message"]);
            let line =
                format!("    {}  {}", id.as_str().unwrap_or_default(), why.as_str().unwrap_or_default());
            output.line(&output.paint(Paint::Warn, &show::exact(&line)));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// `project=x kind=command`: names and values, apart by spaces; a value with spaces stands in quotes.
fn filter(text: &str) -> Result<Map<String, Value>, Fault> {
    let mut filter = Map::new();
    for word in words(text) {
        let (name, value) = word.split_once('=').unwrap_or((word.as_str(), ""));
        if !NAMES.contains(&name) || value.is_empty() {
            let known = NAMES.join(", ");
            return Err(usage(
                format!("`{word}` is no part of a filter; use name=value with one of {known}"),
                format!("`{word}` 不是筛选条件；请使用 名称=值，名称为 {known} 之一"),
            ));
        }
        filter.insert(name.to_owned(), value.into());
    }
    Ok(filter)
}

fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut quoted) = (String::new(), false);
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            c if c.is_whitespace() && !quoted => {
                words.extend(Some(std::mem::take(&mut word)).filter(|w| !w.is_empty()));
            }
            c => word.push(c),
        }
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    words
}

fn print(output: &Output, items: &[Value], excluded: &[Value]) {
    let text = |value: &Value| show::exact(value.as_str().unwrap_or_default());
    for item in items {
        output.line(&output.paint(Paint::Bold, &text(&item["title"])));
        for line in item["about"].as_str().unwrap_or_default().lines() {
            output.line(&format!("    {}", show::exact(line)));
        }
    }
    for one in excluded {
        output.line(&output.paint(Paint::Dim, &format!("{}  {}", text(&one["id"]), text(&one["message"]))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_names_and_values() {
        let read = |text: &str| filter(text).map(Value::Object).ok();
        assert_eq!(
            read("project=shop  kind=command q=\"rm x\""),
            Some(json!({ "project": "shop", "kind": "command", "q": "rm x" }))
        );
        assert_eq!(read(""), Some(json!({})));
        for wrong in ["shop", "colour=red", "kind=", "=x"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
