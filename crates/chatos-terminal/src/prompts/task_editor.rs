//! A list of tasks edited in the terminal: list, add, edit, delete, move, accept, refuse.

use chatos_tool::Lang;
use serde_json::{Map, Value, json};

use super::form::{Reply, canceled, ok, word};
use super::{input, show};
use crate::output::{Output, Paint};

pub(super) fn run(output: &Output, item: &Value, remark: Option<&str>) -> std::io::Result<Reply> {
    let mut tasks = item["prompt"]["tasks"].as_array().cloned().unwrap_or_default();
    let mut remark = remark.or(item["prompt"]["defaultRemark"].as_str()).unwrap_or_default().to_owned();
    print(output, &tasks);
    loop {
        let question = match output.lang {
            Lang::En => {
                "l = list, a = add, e N = edit, d N = delete, m N M = move, r = remark, ok = accept, no = refuse, q = leave: "
            }
            Lang::Zh => {
                "l = 列出，a = 添加，e N = 编辑，d N = 删除，m N M = 移动，r = 备注，ok = 接受，no = 拒绝，q = 离开："
            }
        };
        let Some(text) = input::line(question)? else { return Ok(Reply::Leave) };
        let words: Vec<&str> = text.split_whitespace().collect();
        let number =
            |i: usize| words.get(i).and_then(|w| w.parse::<usize>().ok()).and_then(|n| n.checked_sub(1));
        match (words.first().copied(), number(1), number(2)) {
            (Some("l"), ..) => print(output, &tasks),
            (Some("a"), ..) => {
                if let Some(task) = edit(output, &json!({}))? {
                    tasks.push(task);
                    print(output, &tasks);
                }
            }
            (Some("e"), Some(at), _) if at < tasks.len() => {
                if let Some(task) = edit(output, &tasks[at])? {
                    tasks[at] = task;
                    print(output, &tasks);
                }
            }
            (Some("d"), Some(at), _) if at < tasks.len() => {
                tasks.remove(at);
                print(output, &tasks);
            }
            (Some("m"), Some(from), Some(to)) if from < tasks.len() && to < tasks.len() => {
                let task = tasks.remove(from);
                tasks.insert(to, task);
                print(output, &tasks);
            }
            (Some("r"), ..) => {
                if let Some(text) = input::line(word(output, "Remark: ", "备注："))? {
                    remark = text;
                }
            }
            (Some("ok" | "y" | "yes"), ..) => {
                let untitled =
                    tasks.iter().position(|t| t["title"].as_str().unwrap_or_default().trim().is_empty());
                if let Some(at) = untitled {
                    let line = format!("{} {}", at + 1, word(output, "needs a title", "缺少标题"));
                    output.line(&output.paint(Paint::Bad, &line));
                    continue;
                }
                let mut payload = Map::new();
                payload.insert("tasks".to_owned(), tasks.into());
                return Ok(ok(payload, Some(&remark)));
            }
            (Some("no" | "n"), ..) => return Ok(canceled(false, Some(&remark))),
            (Some("q"), ..) => return Ok(Reply::Leave),
            _ => output
                .line(&output.paint(Paint::Dim, word(output, "There is no such task.", "没有这个任务。"))),
        }
    }
}

fn print(output: &Output, tasks: &[Value]) {
    if tasks.is_empty() {
        output.line(&output.paint(
            Paint::Dim,
            word(output, "(no tasks: nothing would be created)", "（没有任务：不会创建任何内容）"),
        ));
    }
    for (i, task) in tasks.iter().enumerate() {
        output.line(&show::task_line(output, i, task));
    }
}

// Enter keeps what stands there. `None`: the input ended, nothing changes.
fn edit(output: &Output, before: &Value) -> std::io::Result<Option<Value>> {
    let mut task = before.as_object().cloned().unwrap_or_default();
    let one_of = [
        ("priority", &["high", "medium", "low"][..], "medium"),
        ("status", &["todo", "doing", "blocked", "done"][..], "todo"),
    ];
    loop {
        let Some(title) = field(word(output, "Title", "标题"), task.get("title"))? else { return Ok(None) };
        if !title.trim().is_empty() {
            task.insert("title".to_owned(), title.into());
            break;
        }
        output.line(&output.paint(Paint::Bad, word(output, "A task needs a title.", "任务需要标题。")));
    }
    let Some(details) = field(word(output, "Details", "详情"), task.get("details"))? else {
        return Ok(None);
    };
    task.insert("details".to_owned(), details.into());
    for (key, allowed, default) in one_of {
        loop {
            let label = format!("{key} <{}>", allowed.join(" | "));
            let now = task.get(key).cloned().unwrap_or_else(|| default.into());
            let Some(text) = field(&label, Some(&now))? else { return Ok(None) };
            if allowed.contains(&text.trim()) {
                task.insert(key.to_owned(), text.trim().into());
                break;
            }
        }
    }
    let tags: Vec<&str> =
        task.get("tags").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let now = Value::from(tags.join(", "));
    let Some(text) = field(word(output, "Tags, separated by commas", "标签，用逗号分隔"), Some(&now))?
    else {
        return Ok(None);
    };
    let tags: Vec<&str> = text.split(',').map(str::trim).filter(|t| !t.is_empty()).collect();
    task.insert("tags".to_owned(), json!(tags));
    Ok(Some(Value::Object(task)))
}

fn field(label: &str, now: Option<&Value>) -> std::io::Result<Option<String>> {
    let now = now.and_then(Value::as_str).unwrap_or_default();
    let shown = if now.is_empty() { String::new() } else { format!(" [{}]", super::show::exact(now)) };
    let text = input::line(&format!("{label}{shown}: "))?;
    Ok(text.map(|text| if text.is_empty() { now.to_owned() } else { text }))
}
