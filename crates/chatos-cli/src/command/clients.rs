//! `chatos clients`: which programs are there, and which may approve their own actions. Only a person says so, by
//! typing the name; a script has to say which executable it means.

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
            Clients::Show { id } => {
                let list = api.get_json("/api/v1/clients", output.lang).await?;
                let id = whole_id(&list, &id)?;
                let shown = api
                    .get_json(&format!("/api/v1/clients/{}", chatos_desk::encode(&id)), output.lang)
                    .await?;
                if output.json {
                    output.json_line(&shown);
                } else {
                    print_one(output, &shown);
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
                    format!("{shown} 现在可以自行同意自己的操作"),
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
                "只有人可以允许程序自行同意自己的操作",
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
        Lang::Zh => format!("此后 {shown} 可以自行同意自己的操作。"),
    });
    let question = match output.lang {
        Lang::En => format!("To allow that, type its name ({shown}): "),
        Lang::Zh => format!("如要允许，请输入其名称（{shown}）："),
    };
    let typed = input::line(&question).ok().flatten().unwrap_or_default();
    Ok(typed.trim() == name)
}

/// The one session whose id begins so.
fn whole_id(list: &Value, wanted: &str) -> Result<String, Fault> {
    let ids = list["sessions"].as_array().into_iter().flatten().filter_map(|each| each["id"].as_str());
    let mut fitting =
        ids.filter(|id| id.starts_with(wanted) || id.trim_start_matches("cl_").starts_with(wanted));
    match (fitting.next(), fitting.next()) {
        (Some(id), None) => Ok(id.to_owned()),
        (Some(_), Some(_)) => Err(Fault::new(
            ErrorCode::Conflict,
            Text::new(
                format!("several programs begin with `{wanted}`"),
                format!("有多个程序以 `{wanted}` 开头"),
            ),
        )
        .code("several_clients")
        .hint(Text::fixed("give more of the ID", "请给出更长的 ID"))),
        // The host says that there is none.
        (None, _) => Ok(wanted.to_owned()),
    }
}

/// `codex 2 · shop`.
fn title(session: &Value) -> String {
    let text = |key: &str| visible(session[key].as_str().unwrap_or_default());
    let number = session["number"].as_u64().filter(|number| *number > 1);
    let name = number.map_or_else(|| text("name"), |number| format!("{} {number}", text("name")));
    if session["project"].is_string() { format!("{name} · {}", text("project")) } else { name }
}

fn print_session(output: &Output, session: &Value) {
    let text = |key: &str| visible(session[key].as_str().unwrap_or_default());
    let kind = match (session["kind"].as_str().unwrap_or_default(), output.lang) {
        ("gateway", Lang::En) => "gateway",
        ("gateway", Lang::Zh) => "网关",
        ("hook", Lang::En) => "hook",
        ("hook", Lang::Zh) => "钩子",
        ("acp_editor", Lang::En) => "editor",
        ("acp_editor", Lang::Zh) => "编辑器",
        (_, Lang::En) => "agent",
        (_, Lang::Zh) => "智能体",
    };
    let (connected, paint) = match (session["connected"] == true, output.lang) {
        (true, Lang::En) => ("connected", Paint::Good),
        (true, Lang::Zh) => ("已连接", Paint::Good),
        (false, Lang::En) => ("not connected", Paint::Dim),
        (false, Lang::Zh) => ("未连接", Paint::Dim),
    };
    let waiting = session["waiting"].as_u64().unwrap_or(0);
    let mut line = format!("{}  {kind}  {}", title(session), output.paint(paint, connected));
    if waiting > 0 {
        let waits = match output.lang {
            Lang::En => format!("{waiting} waiting"),
            Lang::Zh => format!("{waiting} 个待回答"),
        };
        line.push_str(&format!("  {}", output.paint(Paint::Bad, &waits)));
    }
    output.line(&line);
    let below = [text("id"), text("version"), text("seenAt"), text("root")];
    let below: Vec<String> = below.into_iter().filter(|part| !part.is_empty()).collect();
    output.line(&format!("    {}", output.paint(Paint::Dim, &below.join("  "))));
}

fn print_one(output: &Output, shown: &Value) {
    print_session(output, &shown["session"]);
    let rows = |key: &str| shown[key].as_array().cloned().unwrap_or_default();
    let text = |row: &Value, key: &str| visible(row[key].as_str().unwrap_or_default());
    let head = |en: &'static str, zh: &'static str| output.say(&Text::fixed(en, zh));
    if !rows("uses").is_empty() {
        head("it may use:", "可使用：");
    }
    for each in rows("uses") {
        output.line(&format!("    {} ({})", text(&each, "server"), each["tools"]));
    }
    if !rows("questions").is_empty() {
        head("it asked:", "提出过的问题：");
    }
    for each in rows("questions") {
        let status = if each["status"].is_string() {
            text(&each, "status")
        } else {
            Text::fixed("open", "待回答").get(output.lang).to_owned()
        };
        let id: String = text(&each, "requestId").chars().take(8).collect();
        output.line(&format!("    {}  {status}  {id}  {}", text(&each, "askedAt"), text(&each, "title")));
    }
    if !rows("calls").is_empty() {
        head("it called:", "发起过的调用：");
    }
    for each in rows("calls") {
        let (at, status) = (text(&each, "at"), text(&each, "status"));
        output.line(&format!("    {at}  {status}  {} / {}", text(&each, "server"), text(&each, "tool")));
    }
}

fn print(output: &Output, list: &Value) {
    let sessions = list["sessions"].as_array().map(Vec::as_slice).unwrap_or_default();
    for session in sessions {
        print_session(output, session);
    }
    let items = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    if items.is_empty() && sessions.is_empty() {
        output.say(&Text::fixed("no program has asked yet", "还没有程序提出过请求"));
    }
    for item in items {
        let text = |key: &str| visible(item[key].as_str().unwrap_or_default());
        let may = match (item["allowed"] == true, item["project"].is_string(), output.lang) {
            (false, _, Lang::En) => "may not approve its own actions".to_owned(),
            (false, _, Lang::Zh) => "不可自行同意自己的操作".to_owned(),
            (true, false, Lang::En) => "approves its own actions".to_owned(),
            (true, false, Lang::Zh) => "可自行同意自己的操作".to_owned(),
            (true, true, Lang::En) => format!("approves its own actions in {}", text("project")),
            (true, true, Lang::Zh) => format!("可在 {} 中自行同意自己的操作", text("project")),
        };
        let paint = if item["allowed"] == true { Paint::Bad } else { Paint::Dim };
        let place = if item["script"].is_string() { text("script") } else { text("program") };
        let line = format!("{}  {}  {}", text("name"), output.paint(paint, &may), text("id"));
        output.line(&line);
        output.line(&format!("    {}", output.paint(Paint::Dim, &place)));
    }
}
