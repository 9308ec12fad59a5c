//! `chatos tools`: every built-in tool in a terminal, called through the host's one path.

mod call;

use std::process::ExitCode;

use chatos_paths::Environment;
use chatos_tool::{ErrorCode, Fault, Text};
use hyper::Method;
use serde_json::Value;

use crate::args::{Global, Tools};
use chatos_desk::encode;
use chatos_terminal::client::{Api, block_on};
use chatos_terminal::output::{Output, Paint, pad, visible, width};

pub(crate) fn run(
    global: &Global,
    environment: Environment,
    output: &Output,
    action: Tools,
) -> Result<ExitCode, Fault> {
    match action {
        Tools::List { agent: Some(agent), role } => {
            let api = Api::connect(global, environment)?;
            let path = format!("/api/v1/tools?agent={}&role={}", encode(&agent), encode(&role));
            let list = block_on(async {
                let list = api.call_patiently(Method::GET, &path, None, output.lang).await;
                api.finish().await;
                list
            })?;
            print_toolset(output, &list);
            Ok(ExitCode::SUCCESS)
        }
        Tools::List { agent: None, .. } => {
            let api = Api::connect(global, environment)?;
            let list = block_on(api.get_json("/api/v1/tools", output.lang))?;
            print_servers(output, &list);
            Ok(ExitCode::SUCCESS)
        }
        Tools::Show { server, tool } => {
            let api = Api::connect(global, environment)?;
            let path = format!("/api/v1/tools/{}", encode(&server));
            let found = block_on(async {
                let found = api.call_patiently(Method::GET, &path, None, output.lang).await;
                api.finish().await;
                found
            })?;
            show(output, &found, tool.as_deref())?;
            Ok(ExitCode::SUCCESS)
        }
        Tools::Call(wanted) => call::run(global, environment, output, wanted),
        Tools::Log { server, tool, errors, run, limit } => {
            let api = Api::connect(global, environment)?;
            let mut path = format!("/api/v1/tool-log?limit={limit}");
            for (name, value) in [("server", server), ("tool", tool), ("runId", run)] {
                if let Some(value) = value {
                    path.push_str(&format!("&{name}={}", encode(&value)));
                }
            }
            if errors {
                path.push_str("&isError=true");
            }
            let page = block_on(api.get_json(&path, output.lang))?;
            print_log(output, &page);
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// What an agent may use, and why not the rest.
fn print_toolset(output: &Output, list: &Value) {
    if output.json {
        output.json_line(list);
        return;
    }
    let items: Vec<&Value> = list["tools"].as_array().into_iter().flatten().collect();
    let names = items.iter().map(|item| width(item["name"].as_str().unwrap_or_default())).max().unwrap_or(4);
    for item in items {
        let name = pad(&visible(item["name"].as_str().unwrap_or_default()), names);
        if item["granted"] == true {
            let ask = if item["ask"] == true { "  asks first" } else { "" };
            output.line(&format!("{}  {}{ask}", output.paint(Paint::Good, "✓"), name.trim_end()));
        } else {
            let why = visible(item["why"].as_str().unwrap_or_default());
            output.line(&format!(
                "{}  {name}  {}",
                output.paint(Paint::Dim, "–"),
                output.paint(Paint::Dim, &why)
            ));
        }
    }
    for problem in list["problems"].as_array().into_iter().flatten() {
        let message = problem["message"].as_str().unwrap_or_default();
        output.line(&output.paint(Paint::Warn, &visible(message)));
    }
}

fn print_servers(output: &Output, list: &Value) {
    if output.json {
        return output.json_line(list);
    }
    for server in list["servers"].as_array().into_iter().flatten() {
        let name = visible(server["name"].as_str().unwrap_or_default());
        let title = visible(server["title"].as_str().unwrap_or_default());
        output.line(&format!("{}  {title}", output.paint(Paint::Bold, &name)));
        print_tools(output, server);
    }
}

fn print_tools(output: &Output, server: &Value) {
    let tools: Vec<&Value> = server["tools"].as_array().into_iter().flatten().collect();
    let name = |tool: &Value| visible(tool["name"].as_str().unwrap_or_default());
    let columns = tools.iter().map(|tool| width(&name(tool))).max().unwrap_or_default();
    for tool in tools {
        let title = visible(tool["title"].as_str().unwrap_or_default());
        let mut notes = Vec::new();
        if tool["annotations"]["readOnlyHint"] == true {
            notes.push(Text::fixed("reads", "只读"));
        }
        if tool["annotations"]["destructiveHint"] == true {
            notes.push(Text::fixed("may destroy", "可能破坏"));
        }
        if tool["confirm"].as_str().is_some_and(|confirm| confirm != "none") {
            notes.push(Text::fixed("may ask first", "可能先询问"));
        }
        let notes: Vec<&str> = notes.iter().map(|note| note.get(output.lang)).collect();
        let notes = output.paint(Paint::Dim, &notes.join(", "));
        output.line(&format!("  {}  {title}  {notes}", pad(&name(tool), columns)));
    }
}

fn show(output: &Output, server: &Value, wanted: Option<&str>) -> Result<(), Fault> {
    let Some(wanted) = wanted else {
        if output.json {
            output.json_line(server);
        } else {
            let text = |key: &str| visible(server[key].as_str().unwrap_or_default());
            output.line(&format!(
                "{}  {}\n{}\n",
                output.paint(Paint::Bold, &text("name")),
                text("title"),
                text("instructions")
            ));
            print_tools(output, server);
        }
        return Ok(());
    };
    let found = server["tools"].as_array().into_iter().flatten().find(|tool| tool["name"] == wanted);
    let tool = found.ok_or_else(|| {
        let name = server["name"].as_str().unwrap_or_default();
        Fault::new(
            ErrorCode::NotFound,
            Text::new(format!("`{name}` has no tool `{wanted}`"), format!("`{name}` 没有工具 `{wanted}`")),
        )
        .hint(Text::new(
            format!("`chatos tools show {name}` lists its tools"),
            format!("`chatos tools show {name}` 会列出其工具"),
        ))
    })?;
    if output.json {
        output.json_line(tool);
        return Ok(());
    }
    let text = |key: &str| visible(tool[key].as_str().unwrap_or_default());
    output.line(&format!(
        "{}  {}\n{}",
        output.paint(Paint::Bold, &text("name")),
        text("title"),
        text("description")
    ));
    let schema = &tool["inputSchema"];
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let kind = property["type"].as_str().unwrap_or("any");
        let mut facts = vec![kind.to_owned()];
        if required.contains(&name.as_str()) {
            facts.push(Text::fixed("required", "必填").get(output.lang).to_owned());
        }
        if let Some(default) = property.get("default") {
            facts.push(format!("= {default}"));
        }
        if let Some(values) = property["enum"].as_array() {
            facts.push(values.iter().map(|v| v.as_str().unwrap_or_default()).collect::<Vec<_>>().join("|"));
        }
        let facts = output.paint(Paint::Dim, &visible(&facts.join(", ")));
        let description = visible(property["description"].as_str().unwrap_or_default());
        output.line(&format!("  {}  {facts}\n      {description}", visible(name)));
    }
    Ok(())
}

fn print_log(output: &Output, page: &Value) {
    if output.json {
        return output.json_line(page);
    }
    let items: Vec<&Value> = page["items"].as_array().into_iter().flatten().collect();
    if items.is_empty() {
        return output.say(&Text::fixed("No calls.", "没有调用记录。"));
    }
    for item in items {
        let text = |key: &str| visible(item[key].as_str().unwrap_or_default());
        let outcome = match item["type"].as_str() {
            Some("tool_call") => output.paint(Paint::Dim, "…"),
            Some("tool_error") => output.paint(Paint::Bad, &text("code")),
            _ => output.paint(Paint::Good, &text("status")),
        };
        let elapsed = item["elapsedMs"].as_u64().map(|ms| format!(" {ms} ms")).unwrap_or_default();
        output.line(&format!("{}  {}/{}  {outcome}{elapsed}", text("ts"), text("server"), text("toolName")));
    }
}
