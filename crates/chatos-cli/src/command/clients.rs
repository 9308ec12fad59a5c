//! `chatos clients`: which programs may approve their own actions. Only a person says so, by typing the name;
//! a script has to say which executable it means.

use std::io::IsTerminal;
use std::process::ExitCode;

use chatos_paths::Environment;
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use hyper::Method;
use serde_json::{Value, json};

use crate::args::{Clients, Global};
use chatos_terminal::client::{Api, block_on};
use chatos_terminal::output::{Output, Paint, visible};
use chatos_terminal::prompts::input;

pub(crate) fn run(
    global: &Global,
    environment: Environment,
    output: &Output,
    action: Clients,
) -> Result<ExitCode, Fault> {
    let current = environment.current_dir().to_owned();
    let api = Api::connect(global, environment)?;
    block_on(async {
        match action {
            Clients::List => {
                let list = api.get_json("/api/v1/clients", output.lang).await?;
                if output.json {
                    output.json_line(&list);
                } else {
                    print(output, &list);
                }
            }
            Clients::Allow { name, program } => {
                if program.is_none() && !is_meant(output, &name)? {
                    return Err(Fault::new(
                        ErrorCode::PermissionDenied,
                        Text::new(format!("`{name}` was not allowed"), format!("未允许 `{name}`")),
                    )
                    .code("declined"));
                }
                let project = global.project.as_ref().map(|path| current.join(path));
                let body = json!({
                    "name": name, "program": program, "project": project, "pid": std::process::id(),
                });
                let done = api.call(Method::POST, "/api/v1/clients/allow", Some(&body), output.lang).await?;
                if output.json {
                    output.json_line(&done);
                }
                let shown = visible(&name);
                output.say(&Text::new(
                    format!("{shown} can approve its own actions now"),
                    format!("{shown} 现在可以批准自己的操作"),
                ));
            }
            Clients::Forget { id } => {
                let body = json!({ "id": id });
                let done = api.call(Method::POST, "/api/v1/clients/forget", Some(&body), output.lang).await?;
                if output.json {
                    output.json_line(&done);
                }
                let shown = visible(&id);
                output.say(&Text::new(format!("{shown} is forgotten"), format!("已忘记 {shown}")));
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// A person types the name after reading what it means.
fn is_meant(output: &Output, name: &str) -> Result<bool, Fault> {
    if output.json || !std::io::stdin().is_terminal() {
        return Err(Fault::new(
            ErrorCode::PermissionDenied,
            Text::fixed(
                "only a person can let a program approve its own actions",
                "只有人可以允许程序批准自己的操作",
            ),
        )
        .code("needs_person")
        .hint(Text::fixed(
            "run this in a terminal, or name its executable with --program PATH",
            "请在终端中运行，或用 --program PATH 指定其可执行文件",
        )));
    }
    let shown = visible(name);
    output.line(&match output.lang {
        Lang::En => format!("{shown} can then approve its own actions."),
        Lang::Zh => format!("此后 {shown} 可以批准自己的操作。"),
    });
    let question = match output.lang {
        Lang::En => format!("To allow that, type its name ({shown}): "),
        Lang::Zh => format!("如要允许，请输入其名称（{shown}）："),
    };
    let typed = input::line(&question).ok().flatten().unwrap_or_default();
    Ok(typed.trim() == name)
}

fn print(output: &Output, list: &Value) {
    let items = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    if items.is_empty() {
        output.say(&Text::fixed("no program has asked yet", "还没有程序提出过请求"));
    }
    for item in items {
        let text = |key: &str| visible(item[key].as_str().unwrap_or_default());
        let may = match (item["allowed"] == true, item["project"].is_string(), output.lang) {
            (false, _, Lang::En) => "may not approve its own actions".to_owned(),
            (false, _, Lang::Zh) => "不可批准自己的操作".to_owned(),
            (true, false, Lang::En) => "approves its own actions".to_owned(),
            (true, false, Lang::Zh) => "可批准自己的操作".to_owned(),
            (true, true, Lang::En) => format!("approves its own actions in {}", text("project")),
            (true, true, Lang::Zh) => format!("可在 {} 中批准自己的操作", text("project")),
        };
        let paint = if item["allowed"] == true { Paint::Bad } else { Paint::Dim };
        let place = if item["script"].is_string() { text("script") } else { text("program") };
        let line = format!("{}  {}  {}", text("name"), output.paint(paint, &may), text("id"));
        output.line(&line);
        output.line(&format!("    {}", output.paint(Paint::Dim, &place)));
    }
}
