//! `chatos settings`: every setting with its effective value and where it comes from.

use std::process::ExitCode;

use chatos_host::{Environment, Fault, Lang, SettingError, setting_fault};
use chatos_settings::find_setting;
use hyper::Method;
use serde_json::{Value, json};

use crate::args::{Global, Settings};
use crate::client::{Api, block_on, encode};
use crate::command::status::plain;
use crate::output::{Output, Paint, pad, usage_fault, visible, width};

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
                let fault = setting_fault(key, &SettingError::Refused(issues));
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
                let mut list = api.get("/api/v1/settings", output.lang).await?;
                if let (true, Some(items)) = (changed, list["items"].as_array_mut()) {
                    items.retain(|item| item["source"] != "default");
                }
                if output.json { output.json_line(&list) } else { print_list(output, &list) }
            }
            Settings::Get { key } => {
                let setting = api.get(&path(&key), output.lang).await?;
                if output.json { output.json_line(&setting) } else { print_one(output, &setting) }
            }
            Settings::Set { key, .. } => {
                let body = json!({ "value": parsed });
                let setting = api.call(Method::PUT, &path(&key), Some(&body), output.lang).await?;
                if output.json { output.json_line(&setting) } else { print_one(output, &setting) }
            }
            Settings::Reset { key } => {
                let setting = api.call(Method::DELETE, &path(&key), None, output.lang).await?;
                if output.json { output.json_line(&setting) } else { print_one(output, &setting) }
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}

fn path(key: &str) -> String {
    format!("/api/v1/settings/{}", encode(key))
}

fn print_list(output: &Output, list: &Value) {
    let items = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    let widest =
        items.iter().map(|item| width(item["key"].as_str().unwrap_or_default())).max().unwrap_or_default();
    let mut section = "";
    for item in items {
        let own = item["section"].as_str().unwrap_or_default();
        if own != section {
            section = own;
            output.line(&output.paint(Paint::Bold, section));
        }
        let key = pad(item["key"].as_str().unwrap_or_default(), widest);
        output.line(&format!("  {key}  {}  {}", visible(&plain(&item["value"])), source(output, item)));
    }
}

fn print_one(output: &Output, item: &Value) {
    let key = item["key"].as_str().unwrap_or_default();
    output.line(&format!("{key} = {}  {}", visible(&plain(&item["value"])), source(output, item)));
    let lang = if output.lang == Lang::Zh { "zh" } else { "en" };
    if !output.quiet {
        output.line(&output.paint(Paint::Dim, item["description"][lang].as_str().unwrap_or_default()));
    }
    if let Some(warning) = item["warning"].as_str() {
        output.line(&output.paint(Paint::Warn, &visible(warning)));
    }
}

fn source(output: &Output, item: &Value) -> String {
    let word = item["source"].as_str().unwrap_or_default();
    let text = match item["sourceName"].as_str() {
        Some(name) => format!("({word} {name})"),
        None => format!("({word})"),
    };
    output.paint(Paint::Dim, &visible(&text))
}
