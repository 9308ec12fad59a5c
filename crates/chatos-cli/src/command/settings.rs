//! `chatos settings`: every setting with its effective value and where it comes from.

use std::process::ExitCode;

use chatos_paths::Environment;
use chatos_settings::find_setting;
use chatos_tool::{Fault, Lang};
use chatos_wire::setting::{Setting, SettingList, ValueSource};
use hyper::Method;
use serde_json::{Value, json};

use crate::args::{Global, Settings};
use crate::command::status::plain;
use chatos_desk::encode;
use chatos_terminal::client::{Answer, Api, block_on, typed};
use chatos_terminal::output::{Output, Paint, pad, usage_fault, visible, width};

pub(crate) fn run(
    global: &Global,
    environment: Environment,
    output: &Output,
    action: Settings,
) -> Result<ExitCode, Fault> {
    // A value that cannot be meant is wrong usage, found before anything is opened.
    let parsed = match &action {
        Settings::Set { key, value } => match find_setting(key).map(|spec| spec.parse(value)) {
            Some(Err(issues)) => {
                let fault = chatos_settings::refused_setting(&issues);
                return Ok(usage_fault(output, &fault));
            }
            Some(Ok(value)) => value,
            None => Value::Null,
        },
        _ => Value::Null,
    };
    let api = Api::connect(global, environment)?;
    block_on(async {
        match action {
            Settings::List { changed } => {
                let mut list = api.get_json("/api/v1/settings", output.lang).await?;
                if let (true, Some(items)) = (changed, list.get_mut("items").and_then(Value::as_array_mut)) {
                    items.retain(|item| item.get("source").is_none_or(|source| source != "default"));
                }
                let list: Answer<SettingList> = typed(list)?;
                if output.json { output.json_line(&list.raw) } else { print_list(output, &list) }
            }
            Settings::Get { key } => {
                let setting = api.get(&path(&key), output.lang).await?;
                if output.json { output.json_line(&setting.raw) } else { print_one(output, &setting) }
            }
            Settings::Set { key, .. } => {
                let body = json!({ "value": parsed });
                let setting = api.ask(Method::PUT, &path(&key), Some(&body), output.lang).await?;
                if output.json { output.json_line(&setting.raw) } else { print_one(output, &setting) }
            }
            Settings::Reset { key } => {
                let setting = api.ask(Method::DELETE, &path(&key), None, output.lang).await?;
                if output.json { output.json_line(&setting.raw) } else { print_one(output, &setting) }
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}

fn path(key: &str) -> String {
    format!("/api/v1/settings/{}", encode(key))
}

fn print_list(output: &Output, list: &SettingList) {
    let widest = list.items.iter().map(|item| width(&item.key)).max().unwrap_or_default();
    let mut section = "";
    for item in &list.items {
        if item.section != section {
            section = &item.section;
            output.line(&output.paint(Paint::Bold, section));
        }
        let key = pad(&item.key, widest);
        output.line(&format!("  {key}  {}  {}", visible(&plain(&item.value)), source(output, item)));
    }
}

fn print_one(output: &Output, item: &Setting) {
    output.line(&format!("{} = {}  {}", item.key, visible(&plain(&item.value)), source(output, item)));
    let about = if output.lang == Lang::Zh { &item.description.zh } else { &item.description.en };
    if !output.quiet {
        output.line(&output.paint(Paint::Dim, about));
    }
    if let Some(warning) = &item.warning {
        output.line(&output.paint(Paint::Warn, &visible(warning)));
    }
}

fn source(output: &Output, item: &Setting) -> String {
    let word = match item.source {
        ValueSource::Flag => "flag",
        ValueSource::Env => "env",
        ValueSource::Setting => "setting",
        ValueSource::Default => "default",
    };
    let text = match &item.source_name {
        Some(name) => format!("({word} {name})"),
        None => format!("({word})"),
    };
    output.paint(Paint::Dim, &visible(&text))
}
