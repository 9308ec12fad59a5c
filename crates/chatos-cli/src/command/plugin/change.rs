//! Installing and removing.

use std::io::{BufRead, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use chatos_tool::{Fault, Lang, Text};
use hyper::Method;
use serde_json::{Value, json};

use super::show::print_problem;
use super::{items, path_of, text, trust};
use crate::args::{GrantFlags, PluginData};
use crate::command::operation::follow;
use chatos_terminal::client::Api;
use chatos_terminal::output::{Output, Paint, visible};

/// The package or folder to install, and how much of it may be wrong.
pub(super) struct Order {
    pub(super) path: PathBuf,
    pub(super) allow_problems: bool,
    pub(super) dry_run: bool,
}

pub(super) async fn install(
    api: &Api,
    output: &Output,
    order: &Order,
    then_trust: Option<&GrantFlags>,
) -> Result<ExitCode, Fault> {
    let body = json!({ "path": order.path, "allowProblems": order.allow_problems, "dryRun": order.dry_run });
    let operation = api.call(Method::POST, "/api/v1/plugins/install", Some(&body), output.lang).await?;
    let mut result = follow(api, output, operation).await?;
    if output.json {
        result["command"] = json!("plugin.install");
        output.json_line(&result);
    } else {
        print_result(output, &result);
    }
    if let Some(grant) = then_trust.filter(|_| !order.dry_run) {
        for plugin in items(&result["plugins"]) {
            if plugin["trust"] != "trusted" {
                let code =
                    trust::trust(api, output, text(&plugin["id"]), None, false, Vec::new(), grant).await?;
                if code != ExitCode::SUCCESS {
                    return Ok(code);
                }
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn print_result(output: &Output, result: &Value) {
    let zh = output.lang == Lang::Zh;
    let dry = result["dryRun"] == true;
    for plugin in items(&result["plugins"]) {
        let name = format!("{} {}", text(&plugin["id"]), text(&plugin["version"]));
        let verb = match (dry, plugin["replaced"] == true, zh) {
            (true, _, false) => "would install",
            (true, _, true) => "将安装",
            (false, true, false) => "updated",
            (false, true, true) => "已更新",
            (false, false, false) => "installed",
            (false, false, true) => "已安装",
        };
        output.line(&format!("{verb} {}", output.paint(Paint::Bold, &visible(&name))));
        for change in items(&plugin["changes"]) {
            let mark = match text(&change["change"]) {
                "added" => "+",
                "removed" => "-",
                _ => "~",
            };
            output.line(&format!("  {mark} {}", visible(text(&change["path"]))));
        }
        let id = visible(text(&plugin["id"]));
        match text(&plugin["trust"]) {
            "trusted" => {}
            "changed" => output.say(&Text::new(
                format!("  its content changed: look again with `chatos plugin trust {id}`"),
                format!("  内容已改变：请用 `chatos plugin trust {id}` 重新查看"),
            )),
            _ => output.say(&Text::new(
                format!("  nothing of it runs until you trust it: `chatos plugin trust {id}`"),
                format!("  在你信任之前不会运行：`chatos plugin trust {id}`"),
            )),
        }
    }
    for warning in items(&result["warnings"]) {
        print_problem(output, warning);
    }
}

pub(super) async fn remove(
    api: &Api,
    output: &Output,
    id: &str,
    data: Option<PluginData>,
    yes: bool,
) -> Result<ExitCode, Fault> {
    let data = match data {
        Some(data) => data,
        None if yes || output.json || !std::io::stdin().is_terminal() => PluginData::Keep,
        None => {
            // Known first: asking about the data of nothing would be odd.
            api.get_json(&path_of(id, ""), output.lang).await?;
            ask_about_data(output, id)
        }
    };
    let word = match data {
        PluginData::Keep => "keep",
        PluginData::Delete => "delete",
    };
    let mut result =
        api.call(Method::DELETE, &path_of(id, &format!("?data={word}")), None, output.lang).await?;
    if output.json {
        result["command"] = json!("plugin.remove");
        output.json_line(&result);
    } else {
        let kept = match data {
            PluginData::Keep => Text::fixed("its data is kept", "数据已保留"),
            PluginData::Delete => Text::fixed("its data is deleted", "数据已删除"),
        };
        output.say(&Text::new(format!("removed {id}; {}", kept.en), format!("已删除 {id}；{}", kept.zh)));
        for folder in items(&result["kept"]) {
            let (from, to) = (visible(text(&folder["from"])), visible(text(&folder["to"])));
            output.say(&Text::new(
                format!("  not installed, or changed since, and therefore moved aside: {from}\n  it is now at {to}"),
                format!("  不是安装的，或安装后被修改过，因此移到一旁：{from}\n  现在位于 {to}"),
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Anything but a clear "delete" keeps the data.
fn ask_about_data(output: &Output, id: &str) -> PluginData {
    let question = if output.lang == Lang::Zh {
        format!("同时删除 {id} 的数据吗？输入 delete 删除，直接回车保留：")
    } else {
        format!("Delete the data of {id} as well? Type delete, or press Enter to keep it: ")
    };
    write!(std::io::stderr(), "{question}").and_then(|()| std::io::stderr().flush()).ok();
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    if read.is_ok() && answer.trim() == "delete" { PluginData::Delete } else { PluginData::Keep }
}
