//! Questions, answers and the state of the log as people read them.

use chatos_tool::{Lang, Text};
use chatos_wire::card::{CardRisk, CardVerb, PromptCard};
use serde_json::Value;

use crate::output::{Output, Paint, pad, visible};

/// How much of a question is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Whole,
    /// What stands above a form: the form itself lists what there is to choose, to fill in and to change.
    Head,
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn both<'a>(output: &Output, en: &'a str, zh: &'a str) -> &'a str {
    if output.lang == Lang::Zh { zh } else { en }
}

pub(super) fn list(output: &Output, page: &Value, view: &str) {
    let items = page["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    if items.is_empty() {
        output.say(&match view {
            "results" => Text::fixed("No unread results.", "没有未读的结果。"),
            "snoozed" => Text::fixed("Nothing is put off.", "没有推迟的问题。"),
            "history" => Text::fixed("Nothing was answered yet.", "还没有已回答的问题。"),
            _ => Text::fixed("Nothing needs you.", "没有需要你处理的问题。"),
        });
    }
    for item in items {
        output.line(&summary(output, item));
    }
    if page["nextCursor"].is_string() {
        output.say(&Text::fixed("There are more; raise --limit.", "还有更多；可增大 --limit。"));
    }
    let bad = page["problems"]["unreadableLines"].as_u64().unwrap_or(0);
    if bad > 0 {
        output.say(&Text::new(
            format!("{bad} unreadable line(s) in the log; see `chatos prompts check`."),
            format!("日志中有 {bad} 行无法读取；请运行 `chatos prompts check`。"),
        ));
    }
}

/// A text as it is, line by line; on standard error where standard output is for programs.
pub(super) fn whole(output: &Output, text: &str) {
    for line in text.lines() {
        if output.json {
            crate::output::plain_error(&exact(line));
        } else {
            output.line(&diff_line(output, line));
        }
    }
}

/// Files whose content no surface can show.
fn hidden(output: &Output, prompt: &Value) {
    for file in prompt["diffRef"]["hidden"].as_array().into_iter().flatten() {
        let digest = |key: &str| file[key].as_str().unwrap_or("-").to_owned();
        let line = format!(
            "{}: {} ({}, {} {}; sha256 {} -> {})",
            both(output, "Content cannot be shown", "无法显示内容"),
            exact(text(file, "path")),
            text(file, "type"),
            file["bytes"],
            both(output, "bytes", "字节"),
            digest("before"),
            digest("after"),
        );
        output.line(&output.paint(Paint::Warn, &line));
    }
}

/// One line: state, what is asked for, title with the command, risk, who asks, id.
pub(super) fn summary(output: &Output, item: &Value) -> String {
    let (paint, state) = match (text(item, "state"), text(&item["answer"], "status")) {
        ("pending", _) => (Paint::Warn, both(output, "waiting", "待处理")),
        ("lost", _) => (Paint::Bad, both(output, "lost", "已丢失")),
        (_, "ok") => (Paint::Good, "ok"),
        (_, "timeout") => (Paint::Dim, both(output, "timeout", "已超时")),
        (_, "error") => (Paint::Bad, both(output, "error", "出错")),
        _ => (Paint::Dim, both(output, "canceled", "已取消")),
    };
    let kind = item["kind"].as_str().unwrap_or("?");
    let title = match title_of(output, item) {
        Some(title) => exact(&one_line(title.trim(), 70)),
        None => default_title(output, kind).to_owned(),
    };
    let known = card(item).filter(|_| item["shownRequired"] == true);
    // The title of a command does not say which one; that of another program's may.
    let command =
        known.as_ref().filter(|card| card.deed.verb == CardVerb::RunCommand && card.deed.count == 1);
    let title = match (command.map(|card| card.deed.object.trim()), item["title"].as_str()) {
        (Some(object), _) if !object.is_empty() => format!("{title} {}", exact(&one_line(object, 60))),
        (Some(_), Some(own)) => exact(&one_line(own.trim(), 90)),
        _ => title,
    };
    let risky = known.is_some_and(|card| card.risk == CardRisk::High) && text(item, "state") == "pending";
    let risk = if risky {
        format!(" {}", output.paint(Paint::Warn, both(output, "high risk", "高风险")))
    } else {
        String::new()
    };
    let forged = if item["foreignResponses"].as_u64().unwrap_or(0) > 0 && text(item, "state") == "pending" {
        format!(
            " {}",
            output
                .paint(Paint::Bad, both(output, "(another program tried to answer)", "（其他程序试图回答）"))
        )
    } else {
        String::new()
    };
    format!(
        "{} {} {title}{risk}{forged} {}",
        output.paint(paint, &pad(state, 9)),
        pad(sort(output, item, kind), 8),
        output.paint(
            Paint::Dim,
            &format!("{}  {}", exact(&one_line(&asker(item), 40)), exact(text(item, "requestId")))
        )
    )
}

/// What is asked for, in a word.
fn sort(output: &Output, item: &Value, kind: &str) -> &'static str {
    let command = item["card"]["verb"] == "run_command" || item["card"]["verb"] == "send_input";
    match kind {
        "kv" => both(output, "form", "表单"),
        "choice" => both(output, "choice", "选择"),
        "task_confirm" => both(output, "tasks", "任务"),
        "file_change_confirm" if command => both(output, "command", "命令"),
        "file_change_confirm" => both(output, "change", "变更"),
        "result" => both(output, "result", "结果"),
        _ => "?",
    }
}

fn default_title(output: &Output, kind: &str) -> &'static str {
    match (kind, output.lang) {
        ("kv", Lang::Zh) => "需要你补充信息",
        ("kv", Lang::En) => "Some information is needed",
        ("choice", Lang::Zh) => "需要你做出选择",
        ("choice", Lang::En) => "A choice is needed",
        ("task_confirm", Lang::Zh) => "任务创建确认",
        ("task_confirm", Lang::En) => "Confirm tasks",
        ("file_change_confirm", Lang::Zh) => "文件变更确认",
        ("file_change_confirm", Lang::En) => "Confirm a change",
        ("result", Lang::Zh) => "结果",
        ("result", Lang::En) => "A result",
        (_, Lang::Zh) => "无法显示的问题",
        (_, Lang::En) => "A question that cannot be drawn",
    }
}

/// What the host knows of it; another program by the name people know it by, where it has one.
fn card(item: &Value) -> Option<PromptCard> {
    let mut card: PromptCard = serde_json::from_value(item["card"].clone()).ok()?;
    if let Some(name) = item["client"]["name"].as_str().filter(|name| !name.is_empty()) {
        card.client = Some(name.to_owned());
    }
    Some(card)
}

fn title_of(output: &Output, item: &Value) -> Option<String> {
    let known = card(item).and_then(|card| card.title()).map(|title| title.get(output.lang).to_owned());
    known.or_else(|| item["title"].as_str().map(str::to_owned)).filter(|title| !title.trim().is_empty())
}

/// Who asks, by the names people know, or as it calls itself.
fn asker(item: &Value) -> String {
    let known = card(item).filter(|card| card.agent.is_some() || item["shownRequired"] == true);
    let known = known.map(|card| card.who()).filter(|who| !who.is_empty());
    known.unwrap_or_else(|| source(item).to_owned())
}

fn source(item: &Value) -> &str {
    item["source"].as_str().unwrap_or("-")
}

fn one_line(value: &str, most: usize) -> String {
    let line = value.lines().next().unwrap_or_default();
    if line.chars().count() <= most {
        line.to_owned()
    } else {
        line.chars().take(most).chain(['…']).collect()
    }
}

/// The whole question.
pub(super) fn item(output: &Output, item: &Value, part: Part) {
    let prompt = &item["prompt"];
    let kind = item["kind"].as_str().unwrap_or("?");
    let title = title_of(output, item).unwrap_or_else(|| default_title(output, kind).to_owned());
    output.line(&output.paint(Paint::Bold, &exact(&title)));
    if let Some(card) = card(item).filter(|_| item["shownRequired"] == true) {
        output.line(&exact(&card.who()));
        let paint = if card.risk == CardRisk::High { Paint::Warn } else { Paint::Dim };
        output.line(&output.paint(paint, &exact(card.risk_line().get(output.lang))));
    }
    let mut facts = Vec::new();
    if part == Part::Whole {
        facts.extend([exact(kind), exact(source(item))]);
    }
    if text(item, "class") != "served" {
        facts.push(both(output, "written by another program", "由其他程序写入").to_owned());
    } else if part == Part::Whole {
        facts.push(exact(item["owner"].as_str().unwrap_or_default()));
    }
    if part == Part::Whole {
        facts.push(exact(text(item, "ts")));
        if let Some(run) = item["runId"].as_str() {
            facts.push(format!("{} {}", both(output, "run", "运行"), exact(run)));
        }
    }
    if let Some(expires) = item["expiresAt"].as_str() {
        facts.push(format!("{} {}", both(output, "expires", "截止"), exact(expires)));
    }
    if part == Part::Whole {
        facts.push(exact(text(item, "requestId")));
    }
    if !facts.is_empty() {
        output.line(&output.paint(Paint::Dim, &facts.join(" · ")));
    }
    if let Some(message) = prompt["message"].as_str().filter(|m| !m.trim().is_empty()) {
        output.line("");
        output.line(&quoted(message, ""));
    }
    if item["foreignResponses"].as_u64().unwrap_or(0) > 0 {
        output.line(&output.paint(
            Paint::Bad,
            both(output, "Another program tried to answer this question.", "其他程序试图回答这个问题。"),
        ));
    }
    output.line("");
    body(output, item, part);
    warnings(output, &item["warnings"]);
    if item["answer"].is_object() {
        answered(output, item);
    }
}

fn body(output: &Output, item: &Value, part: Part) {
    let prompt = &item["prompt"];
    if item["problem"].is_object() {
        output.line(&output.paint(Paint::Bad, &exact(text(&item["problem"], "message"))));
        output.line(&quoted(text(item, "raw"), ""));
        return;
    }
    match item["kind"].as_str() {
        Some("kv" | "choice" | "task_confirm") if part == Part::Head => {}
        Some("kv") => {
            for field in prompt["fields"].as_array().into_iter().flatten() {
                output.line(&field_line(output, field));
            }
            if item["plainSecrets"] == Value::Bool(true) {
                output.line(&output.paint(Paint::Warn, plain_secret_note(output)));
            }
        }
        Some("choice") => {
            for (i, option) in prompt["options"].as_array().into_iter().flatten().enumerate() {
                output.line(&option_line(i, option));
            }
        }
        Some("task_confirm") => {
            for (i, task) in prompt["tasks"].as_array().into_iter().flatten().enumerate() {
                output.line(&task_line(output, i, task));
            }
        }
        Some("file_change_confirm") => {
            for (key, en, zh) in
                [("path", "Path", "路径"), ("command", "Command", "命令"), ("cwd", "In", "目录")]
            {
                if let Some(value) = prompt[key].as_str().filter(|v| !v.is_empty()) {
                    output.line(&format!("{}: {}", both(output, en, zh), exact(value)));
                }
            }
            hidden(output, prompt);
            if part == Part::Whole {
                for line in text(prompt, "diff").lines() {
                    output.line(&diff_line(output, line));
                }
            }
        }
        Some("result") => output.line(&quoted(&result_text(prompt), "")),
        _ => {}
    }
    if part == Part::Whole && item["kind"] != "file_change_confirm" {
        whole(output, text(prompt, "diff"));
    }
    let (lines, shown) = (&prompt["diffRef"]["lines"], &prompt["diffRef"]["shownLines"]);
    if part == Part::Whole && shown.as_u64() < lines.as_u64() {
        output.say(&Text::new(
            format!("Shown: {shown} of {lines} lines; `chatos prompts show ID --diff` shows all of them."),
            format!("已显示 {shown} / {lines} 行；`chatos prompts show ID --diff` 可查看全部。"),
        ));
    }
}

/// What every surface says before a secret is typed for a program that reads the file.
pub(super) fn plain_secret_note(output: &Output) -> &'static str {
    match output.lang {
        Lang::Zh => "该程序从文件读取答案；保密内容将以明文保存。",
        Lang::En => "This program reads the answer from a file; the secret will be stored in plain text.",
    }
}

pub(super) fn field_line(output: &Output, field: &Value) -> String {
    let key = exact(text(field, "key"));
    let label = field["label"].as_str().map(exact).filter(|l| !l.is_empty() && *l != key);
    let mut line = label.map_or_else(|| key.clone(), |label| format!("{label} ({key})"));
    if field["required"] == Value::Bool(true) {
        line.push_str(" *");
    }
    if field["secret"] == Value::Bool(true) {
        line.push_str(both(output, " [secret]", " [保密]"));
    } else if let Some(default) = field["default"].as_str().filter(|d| !d.is_empty()) {
        line.push_str(&format!(" [{}]", exact(&one_line(default, 60))));
    }
    if let Some(description) = field["description"].as_str().filter(|d| !d.is_empty()) {
        line.push_str(&format!("\n    {}", output.paint(Paint::Dim, &exact(description))));
    }
    line
}

pub(super) fn option_line(index: usize, option: &Value) -> String {
    let value = exact(text(option, "value"));
    let label = option["label"].as_str().map(exact).filter(|l| !l.is_empty() && *l != value);
    let mut line = match label {
        Some(label) => format!("{:>3}) {label} ({value})", index + 1),
        None => format!("{:>3}) {value}", index + 1),
    };
    if let Some(description) = option["description"].as_str().filter(|d| !d.is_empty()) {
        line.push_str(&format!(" — {}", exact(description)));
    }
    line
}

pub(super) fn task_line(output: &Output, index: usize, task: &Value) -> String {
    let tags: String = task["tags"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(|t| format!(" #{}", exact(t)))
        .collect();
    let mut line = format!(
        "{:>3}) {} {}{tags}",
        index + 1,
        exact(text(task, "title")),
        output.paint(
            Paint::Dim,
            &format!("[{}/{}]", exact(text(task, "priority")), exact(text(task, "status")))
        )
    );
    if let Some(details) = task["details"].as_str().filter(|d| !d.is_empty()) {
        line.push_str(&format!("\n{}", quoted(details, "     ")));
    }
    line
}

pub fn diff_line(output: &Output, line: &str) -> String {
    let paint = match line.as_bytes().first() {
        Some(b'+') if !line.starts_with("+++") => Paint::Good,
        Some(b'-') if !line.starts_with("---") => Paint::Bad,
        Some(b'@') => Paint::Warn,
        _ => return exact(line),
    };
    output.paint(paint, &exact(line))
}

// security T10: what a stranger wrote shows its exact bytes; a line break inside a title, an option or a
// command is not allowed to look like a line of ours.
pub fn exact(value: &str) -> String {
    visible(value).replace('\n', "\\n")
}

/// A text that may have many lines, each of them marked, so that none can pass for one of ours.
fn quoted(value: &str, indent: &str) -> String {
    let lines: Vec<String> = value.lines().map(|line| format!("{indent}│ {}", visible(line))).collect();
    lines.join("\n")
}

pub(super) fn result_text(prompt: &Value) -> String {
    let sources = ["markdown", "result", "content"];
    let first = sources.iter().filter_map(|key| prompt[*key].as_str()).find(|text| !text.trim().is_empty());
    let json = || {
        sources.iter().map(|key| &prompt[*key]).find(|v| v.is_object() || v.is_array()).map(Value::to_string)
    };
    first.map(str::to_owned).or_else(json).unwrap_or_else(|| "(no content)".to_owned())
}

pub(super) fn warnings(output: &Output, warnings: &Value) {
    for warning in warnings.as_array().into_iter().flatten() {
        let line = format!("{}: {}", text(warning, "path"), text(warning, "message"));
        output.line(&output.paint(Paint::Warn, &exact(&line)));
    }
}

/// How a question ended: by whom, when, and with which answer.
pub(super) fn answered(output: &Output, item: &Value) {
    let answer = &item["answer"];
    let by = match answer["by"].as_str() {
        Some(by) => by.to_owned(),
        None => both(output, "another program", "其他程序").to_owned(),
    };
    output.line("");
    output.line(&format!(
        "{} {} · {} · {}",
        output.paint(Paint::Bold, both(output, "Answered:", "已回答：")),
        exact(text(answer, "status")),
        exact(&by),
        exact(text(answer, "ts")),
    ));
    response(output, &answer["response"]);
}

pub(super) fn response(output: &Output, response: &Value) {
    for (key, value) in response["values"].as_object().into_iter().flatten() {
        output.line(&format!("  {}: {}", exact(key), exact(value.as_str().unwrap_or_default())));
    }
    match &response["selection"] {
        Value::String(one) => output.line(&format!("  {}", exact(one))),
        Value::Array(many) => {
            for one in many.iter().filter_map(Value::as_str) {
                output.line(&format!("  {}", exact(one)));
            }
        }
        _ => {}
    }
    for (i, task) in response["tasks"].as_array().into_iter().flatten().enumerate() {
        output.line(&task_line(output, i, task));
    }
    for key in ["code", "message", "remark"] {
        if let Some(value) = response[key].as_str().filter(|v| !v.is_empty()) {
            output.line(&format!("  {key}: {}", exact(value)));
        }
    }
    if response["status"] != "ok" && response["values"].is_null() {
        output.line(&output.paint(Paint::Dim, &format!("  status: {}", exact(text(response, "status")))));
    }
}

pub(super) fn archived(output: &Output, report: &Value) {
    let (moved, kept) = (&report["moved"], &report["kept"]);
    match report["file"].as_str() {
        Some(file) => output.say(&Text::new(
            format!("Moved {moved} line(s) to {file}, kept {kept}."),
            format!("已将 {moved} 行移动到 {file}，保留 {kept} 行。"),
        )),
        None => output.say(&Text::new(
            format!("Nothing is old enough; {kept} line(s) stay."),
            format!("没有足够旧的内容；保留 {kept} 行。"),
        )),
    }
}

pub(super) fn health(output: &Output, report: &Value) {
    output.line(&format!("{} ({} bytes)", text(report, "path"), report["bytes"]));
    let counts = &report["counts"];
    output.say(&Text::new(
        format!("{} open, {} unread result(s)", counts["needsYou"], counts["results"]),
        format!("{} 个待处理，{} 个未读结果", counts["needsYou"], counts["results"]),
    ));
    for (code, found) in report["lines"].as_object().into_iter().flatten() {
        let offsets: Vec<String> =
            found["offsets"].as_array().into_iter().flatten().map(ToString::to_string).collect();
        output.line(&format!("  {} {}  @ {}", pad(code, 10), found["count"], offsets.join(", ")));
    }
    for (key, en, zh) in [
        ("unreadable", "cannot be read", "无法读取"),
        ("unwritable", "cannot be written", "无法写入"),
        ("previous", "the last archive is still followed", "仍在跟踪上一次归档"),
    ] {
        if let Some(why) = report[key].as_str() {
            output.line(&output.paint(Paint::Warn, &format!("  {}: {}", both(output, en, zh), exact(why))));
        }
    }
    for (key, en, zh) in [
        ("lockMissed", "lines written without the lock", "未取得锁而写入的行"),
        ("replaced", "times cut or replaced by another program", "次被其他程序截断或替换"),
        ("lost", "questions of other programs lost with it", "个其他程序的问题随之丢失"),
    ] {
        if report[key].as_u64().unwrap_or(0) > 0 {
            output.line(&format!("  {} {}", report[key], both(output, en, zh)));
        }
    }
    let named = |key: &str| report[key].as_u64().unwrap_or(0) > 0;
    let (paint, verdict) = match report["ok"] == Value::Bool(true) {
        false => (Paint::Bad, both(output, "The log is not in order.", "日志存在问题。")),
        true if named("replaced") || named("lockMissed") => {
            (Paint::Warn, both(output, "No question is lost.", "没有问题丢失。"))
        }
        true => (Paint::Good, both(output, "The log is fine.", "日志正常。")),
    };
    output.line(&output.paint(paint, verdict));
}
