//! What a plugin may do, by weight, as its trust sheet shows it: programs it runs, what reaches beyond
//! itself, what stays its own.

use chatos_tool::Lang;
use serde_json::Value;

use super::{items, text};
use chatos_terminal::output::{Output, Paint, pad, visible, width};

/// Lines of the sheet that a person allows one by one, as `--allow` takes them.
pub(super) fn ticks(rights: &Value) -> Vec<String> {
    let asked = items(rights).iter().filter(|right| right["level"] == "amber" && right["declared"] == true);
    asked
        .flat_map(|right| match text(&right["capability"]) {
            "network" => {
                items(&right["wantedHosts"]).iter().map(|host| format!("network:{}", text(host))).collect()
            }
            name => vec![name.to_owned()],
        })
        .collect()
}

pub(super) fn print_levels(output: &Output, sheet: &Value) {
    let zh = output.lang == Lang::Zh;
    let say = |en: &'static str, chinese: &'static str| if zh { chinese } else { en };
    let head = |paint: Paint, title: &str| output.line(&output.paint(paint, title));
    let programs = programs(sheet);
    output.line("");
    if programs.is_empty() {
        head(Paint::Dim, say("Runs no programs", "不运行程序"));
    } else {
        head(Paint::Bad, say("Runs programs as you", "以你的身份运行程序"));
        for program in &programs {
            output.line(&format!("  {program}"));
        }
    }
    let rights = items(&sheet["rights"]);
    let addresses: Vec<String> = items(&sheet["servers"])
        .iter()
        .filter_map(|server| {
            Some(format!("{} {}", say("connects to", "连接"), visible(server["url"].as_str()?)))
        })
        .collect();
    let lines = ticks(&sheet["rights"]);
    if lines.is_empty() && addresses.is_empty() {
        head(Paint::Dim, say("Sees and does nothing beyond itself", "不接触自身以外的内容"));
    } else {
        head(Paint::Warn, say("Sees or does things beyond itself", "会看到或操作自身以外的内容"));
        for address in &addresses {
            output.line(&format!("  {address}"));
        }
        let most = lines.iter().map(|line| width(&visible(line))).max().unwrap_or_default();
        for line in &lines {
            let mark = if is_on(rights, line) { "[x]" } else { "[ ]" };
            output.line(&format!("  {mark} {}  {}", pad(&visible(line), most), words(line, zh)));
        }
        if !lines.is_empty() {
            let note = say(
                "off unless you allow it: `chatos plugin trust ID --allow NAME`",
                "除非允许，否则保持关闭：`chatos plugin trust ID --allow 名称`",
            );
            output.line(&format!("  {}", output.paint(Paint::Dim, note)));
        }
    }
    let own: Vec<&str> = rights
        .iter()
        .filter(|right| right["level"] == "grey" && right["requested"] == true)
        .map(|right| words(text(&right["capability"]), zh))
        .collect();
    head(Paint::Dim, say("Keeps to itself", "只使用自己的内容"));
    for line in own {
        output.line(&format!("  {line}"));
    }
}

/// Programs as one line each; their tokens one by one are further up.
fn programs(sheet: &Value) -> Vec<String> {
    let backend =
        sheet["plugin"]["backend"]["entry"].as_str().map(|entry| format!("node {}", visible(entry)));
    let servers = items(&sheet["servers"]).iter().filter_map(|server| {
        let argv = server["argv"].as_array()?;
        Some(argv.iter().map(|token| visible(text(token))).collect::<Vec<_>>().join(" "))
    });
    backend.into_iter().chain(servers).collect()
}

fn is_on(rights: &[Value], line: &str) -> bool {
    let (name, host) = line.split_once(':').map_or((line, None), |(name, host)| (name, Some(host)));
    let right = rights.iter().find(|right| right["capability"] == name);
    right.is_some_and(|right| match host {
        Some(host) => items(&right["hosts"]).iter().any(|known| known == host),
        None => right["state"] == "on",
    })
}

fn words(name: &str, zh: bool) -> &'static str {
    let (en, chinese) = match name {
        "backend" => ("calls its own backend", "调用自己的后端"),
        "registry" => ("sees the list of apps", "查看应用列表"),
        "prompts" => ("asks you questions and reads your answers to them", "向你提问并读取你的回答"),
        "prompts.readAll" => {
            ("reads the questions of other apps and your answers", "读取其他应用的提问和你的回答")
        }
        "admin.read" => {
            ("sees your models, servers, tasks and names of secrets", "查看你的模型、服务器、任务和密钥名称")
        }
        "chat.own" => ("holds chats and agents of its own", "拥有自己的对话和智能体"),
        "chat.read" => ("reads all your chats", "读取你的全部对话"),
        "chat.write" => ("sends messages in your chats and stops them", "在你的对话中发送和停止消息"),
        "agents.write" => ("changes and removes your agents", "更改和移除你的智能体"),
        "navigate" => ("opens other pages of ChatOS", "打开 ChatOS 的其他页面"),
        "unsafe-eval" => ("runs code it makes itself", "运行自己生成的代码"),
        _ => ("connects to this host from its pages", "在页面中连接此主机"),
    };
    if zh { chinese } else { en }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lines_to_allow_are_those_asked_for_by_name() {
        let right = |name: &str, level: &str, declared: bool| json!({ "capability": name, "level": level, "declared": declared, "state": "off" });
        let mut network = right("network", "amber", true);
        network["wantedHosts"] = json!(["a.example", "b.example"]);
        network["hosts"] = json!(["b.example"]);
        let rights = json!([
            right("backend", "grey", true),
            right("chat.read", "amber", true),
            right("chat.write", "amber", false),
            network,
        ]);
        assert_eq!(ticks(&rights), ["chat.read", "network:a.example", "network:b.example"]);
        assert!(is_on(items(&rights), "network:b.example") && !is_on(items(&rights), "network:a.example"));
        assert!(!is_on(items(&rights), "chat.read"));
    }
}
