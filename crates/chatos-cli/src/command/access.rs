//! `chatos access`: what commands of agents may use beyond their sandbox, project by project.

mod explain;

use std::process::ExitCode;

use chatos_paths::Environment;
use chatos_tool::names::Noun;
use chatos_tool::{Fault, Lang, Text};
use chatos_wire::access::AccessExplained;
use hyper::Method;
use serde_json::{Value, json};

use crate::args::{Access, AccessKind, Global};
use chatos_terminal::client::{Answer, Api, block_on};
use chatos_terminal::names::Names;
use chatos_terminal::output::{Output, Paint, visible};

const PATH: &str = "/api/v1/access";
/// What is open to commands; it answers to its path or machine, too.
const OPEN: Noun =
    Noun { en: "grant", zh: "开放项", list: "chatos access list", missing: "unknown_access" };

pub(crate) fn run(
    global: &Global,
    environment: Environment,
    output: &Output,
    action: Access,
) -> Result<ExitCode, Fault> {
    let current = environment.current_dir().to_owned();
    let project = global.project.as_ref().map(|path| current.join(path));
    let api = Api::connect(global, environment)?;
    block_on(async {
        match action {
            Access::List => {
                let mut list = api.get_json(PATH, output.lang).await?;
                if let (Some(project), Some(items)) = (&project, list["items"].as_array_mut()) {
                    let real = std::fs::canonicalize(project).unwrap_or_else(|_| project.clone());
                    items.retain(|item| item["root"].as_str() == real.to_str());
                }
                if output.json {
                    output.json_line(&list);
                } else {
                    print(output, items(&list));
                }
            }
            Access::Allow { kind, value } => {
                let kind = match kind {
                    AccessKind::Read => "read",
                    AccessKind::Write => "write",
                    AccessKind::Host => "host",
                };
                let root = project.unwrap_or(current);
                let body = json!({ "root": root, "kind": kind, "value": value });
                let done = api.call(Method::POST, PATH, Some(&body), output.lang).await?;
                if output.json {
                    output.json_line(&done);
                }
                let (what, root) = (text(&done, "value"), text(&done, "root"));
                output.say(&Text::new(
                    format!("commands of agents in {root} may now {} {what}", verb(kind, Lang::En)),
                    format!("{root} 中智能体的命令现在可以{} {what}", verb(kind, Lang::Zh)),
                ));
            }
            Access::Explain { command } => {
                let body = json!({
                    "root": project.unwrap_or(current), "command": explain::command_line(&command),
                });
                let path = format!("{PATH}/explain");
                let answer: Answer<AccessExplained> =
                    api.ask(Method::POST, &path, Some(&body), output.lang).await?;
                if output.json {
                    output.json_line(&answer.raw);
                } else {
                    explain::print(output, &answer.body);
                }
            }
            Access::Revoke { id } => {
                let id = Names::new(&api, output.lang).one(OPEN, PATH, &["value"], &id).await?;
                let done = api.call(Method::DELETE, &format!("{PATH}/{id}"), None, output.lang).await?;
                if output.json {
                    output.json_line(&done);
                }
                let what = text(&done, "value");
                output.say(&Text::new(format!("{what} is closed again"), format!("已收回 {what}")));
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}

fn items(list: &Value) -> &[Value] {
    list["items"].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(item: &Value, key: &str) -> String {
    visible(item[key].as_str().unwrap_or_default())
}

fn verb(kind: &str, lang: Lang) -> &'static str {
    match (kind, lang) {
        ("read", Lang::En) => "read",
        ("write", Lang::En) => "write",
        (_, Lang::En) => "reach",
        ("read", Lang::Zh) => "读取",
        ("write", Lang::Zh) => "写入",
        (_, Lang::Zh) => "访问",
    }
}

fn print(output: &Output, items: &[Value]) {
    if items.is_empty() {
        output.say(&Text::fixed(
            "nothing is open: commands of agents have what their sandbox gives",
            "没有开放项：智能体的命令只有沙箱给予的权限",
        ));
        return;
    }
    let mut root = "";
    for item in items {
        let now = item["root"].as_str().unwrap_or_default();
        if now != root {
            output.line(&output.paint(Paint::Bold, &visible(now)));
            root = now;
        }
        let kind = item["kind"].as_str().unwrap_or_default();
        let id = output.paint(Paint::Dim, &text(item, "id"));
        output.line(&format!("  {} {}  {id}", verb(kind, output.lang), text(item, "value")));
    }
}
