//! `chatos tasks`: the task list in a terminal.

use std::process::ExitCode;

use chatos_paths::Environment;
use chatos_tool::{Fault, Text};
use chatos_wire::task::{TaskList, TaskView, TasksCleared};
use hyper::Method;
use serde_json::{Map, Value, json};

use crate::args::{Global, Tasks};
use chatos_desk::encode;
use chatos_terminal::client::{Answer, Api, block_on};
use chatos_terminal::output::{Output, Paint, pad, visible};

pub(crate) fn run(
    global: &Global,
    environment: Environment,
    output: &Output,
    action: Tasks,
) -> Result<ExitCode, Fault> {
    let api = Api::connect(global, environment)?;
    block_on(async {
        match action {
            Tasks::List { status, tag, query, all, limit } => {
                let mut path = format!("/api/v1/tasks?limit={limit}&open={}", !all && status.is_none());
                for (name, value) in [("status", status), ("tag", tag), ("q", query)] {
                    if let Some(value) = value {
                        path.push_str(&format!("&{name}={}", encode(&value)));
                    }
                }
                let list = api.get(&path, output.lang).await?;
                if output.json { output.json_line(&list.raw) } else { print_list(output, &list) }
            }
            Tasks::Add { title, details, priority, tag } => {
                let body = json!({ "title": title, "details": details, "priority": priority, "tags": tag, "scope": "cli" });
                let task = api.ask(Method::POST, "/api/v1/tasks", Some(&body), output.lang).await?;
                show(output, &task);
            }
            Tasks::Show { id } => {
                let task = api.get(&format!("/api/v1/tasks/{}", encode(&id)), output.lang).await?;
                show(output, &task);
            }
            Tasks::Update { id, title, details, priority, status, note } => {
                let mut body = Map::new();
                let fields = [
                    ("title", title),
                    ("details", details),
                    ("priority", priority),
                    ("status", status),
                    ("appendNote", note),
                ];
                for (name, value) in fields {
                    if let Some(value) = value {
                        body.insert(name.to_owned(), Value::from(value));
                    }
                }
                let path = format!("/api/v1/tasks/{}", encode(&id));
                let task = api.ask(Method::PATCH, &path, Some(&Value::Object(body)), output.lang).await?;
                show(output, &task);
            }
            Tasks::Done { id, note } => {
                let path = format!("/api/v1/tasks/{}/complete", encode(&id));
                let task = api.ask(Method::POST, &path, Some(&json!({ "note": note })), output.lang).await?;
                show(output, &task);
            }
            Tasks::Delete { id } => {
                let path = format!("/api/v1/tasks/{}", encode(&id));
                let answer = api.call(Method::DELETE, &path, None, output.lang).await?;
                if output.json {
                    output.json_line(&answer);
                } else {
                    output.say(&Text::new(format!("Deleted {id}."), format!("已删除 {id}。")));
                }
            }
            Tasks::Clear { all } => {
                let body = json!({ "mode": if all { "all" } else { "done" } });
                let answer = api
                    .ask::<TasksCleared>(Method::POST, "/api/v1/tasks/clear", Some(&body), output.lang)
                    .await?;
                if output.json {
                    output.json_line(&answer.raw);
                } else {
                    let (cleared, rest) = (answer.cleared, answer.remaining);
                    output.say(&Text::new(
                        format!("Cleared {cleared} task(s), {rest} remaining."),
                        format!("已清除 {cleared} 个任务，剩余 {rest} 个。"),
                    ));
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}

fn print_list(output: &Output, list: &TaskList) {
    if list.items.is_empty() {
        output.say(&Text::fixed("Task list is empty.", "任务列表为空。"));
    }
    for task in &list.items {
        output.line(&summary(output, task));
    }
    let (total, shown) = (list.total, list.items.len() as u64);
    if shown < total {
        output.say(&Text::new(format!("{shown} of {total} shown."), format!("显示 {shown} / {total}。")));
    }
}

fn summary(output: &Output, task: &TaskView) -> String {
    let state = pad(&format!("[{}/{}]", visible(&task.status), visible(&task.priority)), 16);
    let paint = match task.status.as_str() {
        "done" => Paint::Dim,
        "blocked" => Paint::Warn,
        "doing" => Paint::Good,
        _ => Paint::Bold,
    };
    let tags: String = task.tags.iter().map(|tag| format!(" #{}", visible(tag))).collect();
    format!(
        "{} {}{tags} {}",
        output.paint(paint, &state),
        visible(&task.title),
        output.paint(Paint::Dim, &visible(&task.id))
    )
}

fn show(output: &Output, task: &Answer<TaskView>) {
    if output.json {
        output.json_line(&task.raw);
        return;
    }
    output.line(&summary(output, task));
    if !task.details.is_empty() {
        output.line(&visible(&task.details));
    }
    for note in &task.notes {
        output.line(&format!("{} {}", output.paint(Paint::Dim, &note.created_at), visible(&note.text)));
    }
}
