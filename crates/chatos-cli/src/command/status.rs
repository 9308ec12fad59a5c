//! `chatos status`: is a host running on this state directory, and how does it do.

use std::process::ExitCode;

use chatos_paths::Environment;
use chatos_tool::{Fault, Text};
use chatos_wire::status::Status;
use serde_json::{Value, json};

use crate::args::Global;
use chatos_terminal::client::{Api, block_on, state_path};
use chatos_terminal::output::{Output, Paint, pad};

pub(crate) fn run(global: &Global, environment: Environment, output: &Output) -> Result<ExitCode, Fault> {
    let dir = state_path(global, &environment)?;
    let Some(host) = Api::running(global, &environment)? else {
        if output.json {
            output.json_line(&json!({ "running": false, "stateDir": dir }));
        } else {
            output.say(&Text::new(
                format!("ChatOS is not running on {}", dir.display()),
                format!("ChatOS 没有在 {} 上运行", dir.display()),
            ));
        }
        return Ok(ExitCode::from(1));
    };
    let status = block_on(Api::Remote(host).get::<Status>("/api/v1/status", output.lang))?;
    if output.json {
        output.json_line(&status.raw);
        return Ok(ExitCode::SUCCESS);
    }
    let zh = output.lang == chatos_tool::Lang::Zh;
    let row = |en: &str, zh_label: &str, value: String| {
        let label = pad(if zh { zh_label } else { en }, 14);
        output.line(&format!("{} {value}", output.paint(Paint::Dim, &label)));
    };
    output.line(&output.paint(Paint::Good, if zh { "ChatOS 正在运行" } else { "ChatOS is running" }));
    row("address", "地址", status.url.clone());
    row("version", "版本", format!("{} (pid {})", status.version, status.pid));
    row("running for", "已运行", duration(status.uptime_ms.unsigned_abs(), zh));
    row("state", "状态文件夹", status.state_dir.clone());
    row("project", "项目", status.project_root.clone());
    row("waiting", "等待处理", status.counts.needs_you.to_string());
    row("running chats", "运行中的对话", status.counts.running_chats.to_string());
    row("plugins", "插件", status.counts.plugins.to_string());
    row("memory", "内存", format!("{} MiB", status.rss_bytes >> 20));
    for notice in &status.notices {
        row("note", "提示", output.paint(Paint::Warn, &notice.message));
    }
    Ok(ExitCode::SUCCESS)
}

fn duration(ms: u64, zh: bool) -> String {
    let seconds = ms / 1000;
    let (value, en, zh_unit) = match seconds {
        0..60 => (seconds, "s", "秒"),
        60..3600 => (seconds / 60, "min", "分钟"),
        3600..86_400 => (seconds / 3600, "h", "小时"),
        _ => (seconds / 86_400, "days", "天"),
    };
    if zh { format!("{value} {zh_unit}") } else { format!("{value} {en}") }
}

/// A value of an answer as text, for tables.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
