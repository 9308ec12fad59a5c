//! `chatos journal`: what was done in a project, in a terminal.

use std::process::ExitCode;

use chatos_paths::Environment;
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::journal::{JournalEntryView, JournalList};
use hyper::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::args::{Global, Journal};
use chatos_desk::encode;
use chatos_terminal::client::{Api, block_on};
use chatos_terminal::output::{Output, Paint, visible};

pub(crate) fn run(
    global: &Global,
    environment: Environment,
    output: &Output,
    action: Journal,
) -> Result<ExitCode, Fault> {
    let root = project(global, &environment)?;
    let place = format!("projectRoot={}", encode(&root));
    let api = Api::connect(global, environment)?;
    block_on(async {
        match action {
            Journal::List { query, tag, limit } => {
                let mut path = format!("/api/v1/journal?{place}&limit={limit}");
                for (name, value) in [("q", query), ("tag", tag)] {
                    if let Some(value) = value {
                        path.push_str(&format!("&{name}={}", encode(&value)));
                    }
                }
                let list = api.get(&path, output.lang).await?;
                if output.json { output.json_line(&list.raw) } else { print_list(output, &list) }
            }
            Journal::Show { id } => {
                let entry = api.get(&format!("/api/v1/journal/{}?{place}", encode(&id)), output.lang).await?;
                if output.json { output.json_line(&entry.raw) } else { print_entry(output, &entry) }
            }
            Journal::Add { summary, title, details, tag } => {
                let body = json!({
                    "projectRoot": root, "summary": summary, "title": title.unwrap_or_default(),
                    "details": details.unwrap_or_default(), "tags": tag,
                });
                let entry = api.ask(Method::POST, "/api/v1/journal", Some(&body), output.lang).await?;
                if output.json { output.json_line(&entry.raw) } else { print_entry(output, &entry) }
            }
            Journal::Export => {
                // One JSON object per line, oldest first: the form other programs keep their logs in.
                let mut pages = Vec::new();
                let mut cursor = String::from("0");
                loop {
                    let path = format!("/api/v1/journal?{place}&limit=200&cursor={cursor}");
                    let page = api.get::<JournalPage>(&path, output.lang).await?.body;
                    pages.extend(page.items);
                    match page.next_cursor {
                        Some(next) => cursor = next,
                        None => break,
                    }
                }
                for entry in pages.iter().rev() {
                    output.json_line(entry);
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// Journals are kept by the real path of the project the command runs in.
fn project(global: &Global, environment: &Environment) -> Result<String, Fault> {
    let current = environment.current_dir();
    let asked = global.project.as_ref().map_or_else(|| current.to_owned(), |path| current.join(path));
    std::fs::canonicalize(&asked).map(|path| path.display().to_string()).map_err(|error| {
        Fault::new(
            ErrorCode::NotFound,
            Text::new(
                format!("the project directory does not exist: {}", asked.display()),
                format!("项目文件夹不存在：{}", asked.display()),
            ),
        )
        .caused_by(&error)
    })
}

/// A page whose entries are printed as they came.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JournalPage {
    items: Vec<Value>,
    next_cursor: Option<String>,
}

fn print_list(output: &Output, list: &JournalList) {
    if list.items.is_empty() {
        output.say(&Text::fixed("The journal is empty.", "日志为空。"));
    }
    for entry in &list.items {
        output.line(&format!(
            "{} {}",
            output.paint(Paint::Dim, &visible(&entry.ts)),
            output.paint(Paint::Bold, &visible(&entry.title))
        ));
        let id = output.paint(Paint::Dim, &visible(&entry.id));
        output.line(&format!("    {} {id}", visible(&entry.summary)));
    }
}

fn print_entry(output: &Output, entry: &JournalEntryView) {
    output.line(&output.paint(Paint::Bold, &visible(&entry.title)));
    output.line(&format!(
        "{} {}",
        output.paint(Paint::Dim, &visible(&entry.ts)),
        output.paint(Paint::Dim, &visible(&entry.id))
    ));
    for text in [&entry.summary, &entry.details] {
        if !text.is_empty() {
            output.line(&visible(text));
        }
    }
    let lists = [
        (&entry.files, Text::fixed("files", "文件")),
        (&entry.highlights, Text::fixed("highlights", "要点")),
        (&entry.next_steps, Text::fixed("next", "下一步")),
    ];
    for (items, label) in lists {
        for item in items {
            output.line(&format!("- {}: {}", label.get(output.lang), visible(item)));
        }
    }
}
