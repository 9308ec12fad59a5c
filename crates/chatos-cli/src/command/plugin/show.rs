//! Looking at plugins: the list, one of them, what an app contributes.

use std::process::ExitCode;

use chatos_tool::{Fault, Text};
use serde_json::{Value, json};

use super::{items, path_of, size, text};
use crate::args::PluginSource;
use chatos_desk::encode;
use chatos_terminal::client::Api;
use chatos_terminal::output::{Output, Paint, pad, visible, width};

pub(super) async fn list(
    api: &Api,
    output: &Output,
    problems: bool,
    source: Option<PluginSource>,
) -> Result<ExitCode, Fault> {
    let mut listing = api.get_json("/api/v1/plugins", output.lang).await?;
    if let Some(source) = source {
        let word = source.as_str();
        if let Some(plugins) = listing["plugins"].as_array_mut() {
            plugins.retain(|plugin| plugin["source"] == word);
        }
        if let Some(apps) = listing["apps"].as_array_mut() {
            apps.retain(|app| app["plugin"]["source"] == word);
        }
    }
    if output.json {
        listing["command"] = json!("plugin.list");
        output.json_line(&listing);
        return Ok(ExitCode::SUCCESS);
    }
    let plugins = items(&listing["plugins"]);
    if plugins.is_empty() {
        output.say(&Text::fixed(
            "No plugins. Install one with `chatos plugin install PATH`.",
            "没有插件。请用 `chatos plugin install 路径` 安装。",
        ));
    }
    let rows: Vec<[String; 6]> = plugins
        .iter()
        .map(|plugin| {
            [
                visible(text(&plugin["id"])),
                visible(text(&plugin["name"])),
                visible(text(&plugin["version"])),
                text(&plugin["source"]).to_owned(),
                trust_word(output, plugin),
                items(&plugin["apps"])
                    .iter()
                    .map(|app| visible(text(&app["id"])))
                    .collect::<Vec<_>>()
                    .join(", "),
            ]
        })
        .collect();
    let mut widths = [0; 6];
    for row in &rows {
        for (column, cell) in row.iter().enumerate() {
            widths[column] = widths[column].max(width(cell));
        }
    }
    for row in &rows {
        let cells: Vec<String> = row.iter().zip(widths).map(|(cell, width)| pad(cell, width)).collect();
        output.line(cells.join("  ").trim_end());
    }
    let errors = items(&listing["errors"]);
    if problems {
        for problem in errors {
            print_problem(output, problem);
        }
    } else if !errors.is_empty() {
        let count = errors.len();
        output.say(&Text::new(
            format!("{count} problems; `chatos plugin list --problems` shows them"),
            format!("{count} 个问题；`chatos plugin list --problems` 可查看"),
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn trust_word(output: &Output, plugin: &Value) -> String {
    let zh = output.lang == chatos_tool::Lang::Zh;
    match text(&plugin["trust"]["state"]) {
        "trusted" if plugin["source"] == "user" => if zh { "已信任" } else { "trusted" }.to_owned(),
        "trusted" => "–".to_owned(),
        "changed" => if zh { "已改变" } else { "changed" }.to_owned(),
        _ => if zh { "未信任" } else { "untrusted" }.to_owned(),
    }
}

/// One problem: where, code, sentence, and what to do.
pub(super) fn print_problem(output: &Output, problem: &Value) {
    let severity = text(&problem["severity"]);
    let paint = if severity == "error" { Paint::Bad } else { Paint::Warn };
    let place = match (text(&problem["pluginId"]), text(&problem["path"])) {
        ("", "") => text(&problem["dir"]).to_owned(),
        ("", path) => path.to_owned(),
        (id, path) => format!("{id} {path}"),
    };
    output.line(&format!(
        "{} {}  {}  {}",
        output.paint(paint, &pad(severity, 7)),
        visible(place.trim()),
        text(&problem["code"]),
        visible(text(&problem["message"])),
    ));
    if !output.quiet && !text(&problem["hint"]).is_empty() {
        output.line(&format!("        {} {}", hint_word(output), visible(text(&problem["hint"]))));
    }
}

pub(super) fn hint_word(output: &Output) -> &'static str {
    if output.lang == chatos_tool::Lang::Zh { "提示：" } else { "hint:" }
}

pub(super) async fn one(api: &Api, output: &Output, id: &str) -> Result<ExitCode, Fault> {
    let mut details = api.get_json(&path_of(id, ""), output.lang).await?;
    if output.json {
        details["ok"] = json!(true);
        details["command"] = json!("plugin.show");
        output.json_line(&details);
    } else {
        print_details(output, &details);
    }
    Ok(ExitCode::SUCCESS)
}

/// A line with its label, dimmed and padded, in front.
fn row(output: &Output, en: &str, zh: &str, value: &str) {
    let label = if output.lang == chatos_tool::Lang::Zh { zh } else { en };
    output.line(&format!("{} {value}", output.paint(Paint::Dim, &pad(label, 14))));
}

/// Everything a person decides by, in plain words (plugins §7).
pub(super) fn print_details(output: &Output, details: &Value) {
    let plugin = &details["plugin"];
    let zh = output.lang == chatos_tool::Lang::Zh;
    let title = format!("{} {}", text(&plugin["name"]), text(&plugin["version"]));
    output.line(&output.paint(Paint::Bold, &visible(&title)));
    row(output, "id", "id", &visible(text(&plugin["id"])));
    if !text(&plugin["description"]).is_empty() {
        row(output, "description", "说明", &visible(text(&plugin["description"])));
    }
    let publisher = match plugin["publisher"]["name"].as_str() {
        Some(name) if zh => format!("{}（未经验证）", visible(name)),
        Some(name) => format!("{} (unverified)", visible(name)),
        None => if zh { "未注明" } else { "not given" }.to_owned(),
    };
    row(output, "publisher", "发布者", &publisher);
    row(output, "source", "来源", text(&plugin["source"]));
    row(output, "directory", "目录", &visible(text(&details["dir"])));
    row(output, "trust", "信任", &trust_word(output, plugin));
    row(output, "digest", "摘要", details["digest"].as_str().unwrap_or("–"));
    if let Some(reason) = details["unreadable"].as_str() {
        row(output, "unreadable", "无法读取", &output.paint(Paint::Bad, &visible(reason)));
    }
    let (count, bytes) = (
        details["fileCount"].as_u64().unwrap_or_default(),
        details["totalBytes"].as_u64().unwrap_or_default(),
    );
    row(output, "files", "文件", &format!("{count}, {}", size(bytes)));
    if let Some(entry) = plugin["backend"]["entry"].as_str() {
        let available = plugin["backend"]["available"] == true;
        let note = if available {
            ""
        } else if zh {
            "（不可用）"
        } else {
            " (not available)"
        };
        row(output, "runs", "运行", &format!("node {}{note}", visible(entry)));
    }
    if details["overridesBuiltin"] == true {
        let warning =
            if zh { "替换同 id 的内置插件" } else { "replaces the built-in plugin of this id" };
        row(output, "overrides", "覆盖", &output.paint(Paint::Warn, warning));
    }
    // A trust sheet tells them by weight.
    if let Some(capabilities) = details["capabilities"].as_array().filter(|_| details["rights"].is_null()) {
        let names: Vec<String> = capabilities.iter().map(|name| visible(text(name))).collect();
        row(output, "capabilities", "能力", &names.join(", "));
    }
    for server in items(&details["servers"]) {
        print_server(output, server);
    }
    let lent: Vec<String> = items(&details["lent"]).iter().map(|name| visible(text(name))).collect();
    if !lent.is_empty() {
        let line = lent.join(", ");
        let line = if zh { format!("ChatOS 自带的 {line}") } else { format!("ChatOS's copy of {line}") };
        row(output, "uses", "使用", &line);
    }
    for prompt in items(&details["prompts"]) {
        let line = format!(
            "{} ({}, {})",
            visible(text(&prompt["name"])),
            text(&prompt["language"]),
            size(prompt["bytes"].as_u64().unwrap_or_default())
        );
        row(output, "prompt", "提示词", &line);
    }
    for exposure in items(&details["exposure"]) {
        for (key, en) in [("mcpServers", "servers"), ("prompts", "prompts")] {
            if !exposure[key].is_null() {
                let line =
                    format!("{} {en}: {}", visible(text(&exposure["appId"])), exposed(&exposure[key], zh));
                row(output, "may select", "可选择", &line);
            }
        }
    }
    print_changes(output, &details["changes"]);
    for problem in items(&details["problems"]) {
        print_problem(output, problem);
    }
}

fn print_server(output: &Output, server: &Value) {
    let zh = output.lang == chatos_tool::Lang::Zh;
    row(output, "server", "服务器", &visible(text(&server["name"])));
    if let Some(argv) = server["argv"].as_array() {
        // One token per line: nothing can hide behind spaces.
        for (index, token) in argv.iter().enumerate() {
            row(
                output,
                if index == 0 { "  runs" } else { "" },
                if index == 0 { "  运行" } else { "" },
                &visible(text(token)),
            );
        }
    }
    if let Some(url) = server["url"].as_str() {
        row(output, "  connects to", "  连接", &visible(url));
    }
    if !matches!(text(&server["hostClass"]), "" | "public") {
        let warning = if zh { "本机或内网地址" } else { "an address inside this computer or network" };
        row(output, "", "", &output.paint(Paint::Warn, warning));
    }
    if server["unusualCommand"] == true {
        let warning = if zh { "程序不是 node" } else { "the program is not node" };
        row(output, "", "", &output.paint(Paint::Warn, warning));
    }
    for host in items(&server["authHosts"]) {
        row(output, "  credentials", "  凭据", &visible(text(host)));
    }
    if let Some(workdir) = server["workdirOutside"].as_str() {
        row(output, "  works in", "  工作目录", &output.paint(Paint::Warn, &visible(workdir)));
    }
    let roles: Vec<&str> = [
        ("allowMain", if zh { "主流程" } else { "main" }),
        ("allowSub", if zh { "子智能体" } else { "sub" }),
    ]
    .into_iter()
    .filter(|(key, _)| server[*key] == true)
    .map(|(_, word)| word)
    .collect();
    let state = if server["enabled"] == false { if zh { "，已停用" } else { ", disabled" } } else { "" };
    row(output, "  for", "  用于", &format!("{}{state}", roles.join(", ")));
}

fn exposed(value: &Value, zh: bool) -> String {
    match value {
        Value::Bool(true) => if zh { "全部" } else { "all" }.to_owned(),
        Value::Array(names) => names.iter().map(|name| visible(text(name))).collect::<Vec<_>>().join(", "),
        _ => if zh { "无" } else { "none" }.to_owned(),
    }
}

fn print_changes(output: &Output, changes: &Value) {
    for (key, mark, paint) in
        [("added", "+", Paint::Good), ("removed", "-", Paint::Bad), ("changed", "~", Paint::Warn)]
    {
        for file in items(&changes[key]) {
            row(
                output,
                "changed",
                "变化",
                &output.paint(paint, &format!("{mark} {}", visible(text(&file["path"])))),
            );
        }
    }
}

pub(super) async fn ai(api: &Api, output: &Output, app: &str) -> Result<ExitCode, Fault> {
    let found = api.get_json(&format!("/api/v1/apps/{}/ai?preview=true", encode(app)), output.lang).await?;
    if output.json {
        let mut value = found["contribution"].clone();
        if !value.is_object() {
            value = json!({ "pluginId": found["pluginId"], "appId": found["appId"], "mcp": null, "mcpPrompt": null,
                "mcpServers": null, "prompts": null, "agent": null });
        }
        value["ok"] = json!(true);
        value["command"] = json!("plugin.ai");
        value["trusted"] = found["trusted"].clone();
        output.json_line(&value);
        return Ok(ExitCode::SUCCESS);
    }
    let zh = output.lang == chatos_tool::Lang::Zh;
    let contribution = &found["contribution"];
    output.line(
        &output.paint(Paint::Bold, &format!("{} / {}", text(&found["pluginId"]), text(&found["appId"]))),
    );
    if found["trusted"] != true {
        output.line(&output.paint(
            Paint::Warn,
            if zh {
                "未被信任：以下内容均未启用"
            } else {
                "not trusted: none of this is in use"
            },
        ));
    }
    if contribution.is_null() {
        output.line(if zh { "没有贡献内容" } else { "contributes nothing" });
        return Ok(ExitCode::SUCCESS);
    }
    let server = &contribution["mcp"];
    if server.is_object() {
        row(output, "server", "服务器", &visible(text(&server["name"])));
        row(output, "  identity", "  标识", &visible(text(&server["identity"])));
        row(output, "  called", "  名称", &visible(text(&server["normalizedName"])));
        row(output, "  url", "  地址", &visible(text(&server["url"])));
        row(output, "  tools", "  工具", &format!("mcp_{}_<tool>", visible(text(&server["normalizedName"]))));
        row(
            output,
            "  tags",
            "  标签",
            &items(&server["tags"]).iter().map(|tag| visible(text(tag))).collect::<Vec<_>>().join(", "),
        );
        for key in ["enabled", "allowMain", "allowSub"] {
            row(output, &format!("  {key}"), &format!("  {key}"), &server[key].to_string());
        }
        if !server["auth"].is_null() {
            row(output, "  auth", "  凭据", &visible(&server["auth"].to_string()));
        }
        if !server["callMeta"].is_null() {
            row(output, "  callMeta", "  callMeta", &visible(&server["callMeta"].to_string()));
        }
    }
    let prompt = &contribution["mcpPrompt"];
    if prompt.is_object() {
        for language in ["zh", "en"] {
            let body = text(&prompt[language]);
            if !body.is_empty() {
                row(output, "prompt", "提示词", &visible(text(&prompt["names"][language])));
                for line in body.lines() {
                    output.line(&format!("    {}", visible(line)));
                }
            }
        }
    }
    for (key, en, word) in [("mcpServers", "servers", "服务器"), ("prompts", "prompts", "提示词")] {
        let names = exposed(&contribution[key], zh);
        let line = match (text(&contribution["decidedBy"][key]), zh) {
            ("none", _) => names,
            (by, true) => format!("{names}（由 {by} 决定）"),
            (by, false) => format!("{names} (decided by {by})"),
        };
        row(output, en, word, &line);
    }
    Ok(ExitCode::SUCCESS)
}
