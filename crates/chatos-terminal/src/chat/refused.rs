//! What the sandbox refused a command of the agent, said to the person with the one line that lifts it.

use chatos_tool::{Lang, Text};
use serde_json::Value;

use crate::output::{shell_word, visible};

/// Refusals of one command that are told.
const TOLD: usize = 3;

/// The lines for a result; none where nothing was refused for certain, or where another server says so.
pub(super) fn lines(event: &Value, lang: Lang) -> Vec<String> {
    let message = &event["message"];
    if message["server"] != "shell_tasks" {
        return Vec::new();
    }
    let sandbox = &message["toolStructuredContent"]["data"]["sandbox"];
    let root = sandbox["root"].as_str();
    let denied = sandbox["denied"].as_array().map(Vec::as_slice).unwrap_or_default();
    let certain = denied.iter().filter(|one| one["certain"] == true);
    certain.take(TOLD).map(|one| line(one, root).get(lang).to_owned()).collect()
}

fn line(denied: &Value, root: Option<&str>) -> Text {
    let text = |value: &Value| visible(value.as_str().unwrap_or_default());
    let (en, zh) = match denied["access"].as_str() {
        Some("write") => ("write", "写入"),
        Some("execute") => ("run", "运行"),
        Some("network") => ("reach", "访问"),
        _ => ("read", "读取"),
    };
    let what = if denied["path"].is_string() { text(&denied["path"]) } else { text(&denied["host"]) };
    let refused = Text::new(
        format!("The sandbox didn’t let the command {en} {what}."),
        format!("沙箱不允许命令{zh} {what}。"),
    );
    let lifts = match (&denied["opens"], root) {
        (Value::Object(opens), Some(root)) => {
            let (kind, value) = (text(&opens["kind"]), quoted(opens["value"].as_str().unwrap_or_default()));
            let command = format!("`chatos access allow {kind} {value} --project {}`", quoted(root));
            Text::new(
                format!("Nothing is wrong with the command; {command} opens it to this project."),
                format!("命令本身没有问题；{command} 可向此项目开放。"),
            )
        }
        _ if denied["setting"].is_null() => {
            Text::fixed("ChatOS never opens its own files to commands.", "ChatOS 不会向命令开放自己的文件。")
        }
        _ if denied["path"].is_string() => Text::fixed(
            "This place stays closed; the agent can ask to run the command once outside the sandbox.",
            "这个位置始终关闭；智能体可以请求在沙箱外运行一次该命令。",
        ),
        _ => Text::fixed(
            "The agent can ask for the network; you are asked then.",
            "智能体可以请求使用网络，届时会询问你。",
        ),
    };
    Text::new(format!("{} {}", refused.en, lifts.en), format!("{}{}", refused.zh, lifts.zh))
}

/// A word of a command line, as a person can copy it.
fn quoted(word: &str) -> String {
    shell_word(&visible(word))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(server: &str, denied: &Value) -> Vec<String> {
        let data = json!({ "sandbox": { "denied": [denied], "root": "/home/a/my code" } });
        let event = json!({ "message": { "server": server, "toolStructuredContent": { "data": data } } });
        lines(&event, Lang::En)
    }

    #[test]
    fn a_refusal_names_the_line_that_lifts_it() {
        let host = json!({ "certain": true, "access": "network", "host": "example.org", "setting": "shellNetwork",
            "opens": { "kind": "host", "value": "example.org" } });
        let said = told("shell_tasks", &host);
        assert!(said[0].contains("didn’t let the command reach example.org"), "{said:?}");
        let line = "`chatos access allow host example.org --project '/home/a/my code'`";
        assert!(said[0].contains(line), "{said:?}");
        let closed = json!({ "certain": true, "access": "read", "path": "/home/a/.ssh/id", "setting": "shellReadPaths" });
        assert!(told("shell_tasks", &closed)[0].contains("once outside the sandbox"));
        let own = json!({ "certain": true, "access": "read", "path": "/home/a/state.db" });
        assert!(told("shell_tasks", &own)[0].contains("never opens its own files"));
        assert!(told("shell_tasks", &json!({ "certain": false, "access": "read" })).is_empty());
        assert!(told("somebody", &host).is_empty(), "nobody else names commands to copy");
    }
}
