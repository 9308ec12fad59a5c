//! Deciding about a plugin in a terminal (devkit §2.4): the same content as the page, and a person who
//! types the id. A script can only pin a digest that was reviewed elsewhere.

use std::io::{BufRead, IsTerminal, Write};
use std::process::ExitCode;

use chatos_tool::{ErrorCode, Fault, Lang, Text};
use hyper::Method;
use serde_json::json;

use super::levels::{print_levels, ticks};
use super::show::print_details;
use super::{items, path_of, text};
use crate::args::GrantFlags;
use crate::command::grant::{after, check};
use chatos_terminal::client::Api;
use chatos_terminal::output::{Output, Paint, visible};

/// Refuses where nobody can be asked.
pub(super) fn needs_terminal(output: &Output) -> Result<(), Fault> {
    if !output.json && std::io::stdin().is_terminal() {
        return Ok(());
    }
    Err(Fault::new(
        ErrorCode::PermissionDenied,
        Text::fixed("only a person can trust a plugin", "只有人可以信任插件"),
    )
    .code("needs_person")
    .hint(Text::fixed(
        "run this in a terminal, use the Apps page, or pin reviewed bytes with --digest sha256:…",
        "请在终端中运行、使用“应用”页面，或用 --digest sha256:… 指定已审查的内容",
    )))
}

/// What there is to decide about; nothing is decided.
pub(super) async fn show(api: &Api, output: &Output, id: &str) -> Result<ExitCode, Fault> {
    let mut sheet = api.get_json(&path_of(id, "/trust-sheet"), output.lang).await?;
    if output.json {
        sheet["ok"] = json!(true);
        sheet["command"] = json!("plugin.trust");
        output.json_line(&sheet);
    } else {
        print_sheet(output, &sheet);
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn trust(
    api: &Api,
    output: &Output,
    id: &str,
    digest: Option<&str>,
    mut inside: bool,
    mut allow: Vec<String>,
    grant: &GrantFlags,
) -> Result<ExitCode, Fault> {
    check(api, output, grant).await?;
    // A script that names nothing leaves what a person ticked before.
    let exact = digest.is_none() || !allow.is_empty();
    let digest = match digest {
        Some(digest) => digest.to_owned(),
        None => {
            let sheet = api.get_json(&path_of(id, "/trust-sheet"), output.lang).await?;
            needs_terminal(output)?;
            print_sheet(output, &sheet);
            let reaches_inside = items(&sheet["servers"])
                .iter()
                .any(|server| !matches!(text(&server["hostClass"]), "" | "public"));
            inside = inside || (reaches_inside && ask_inside(output));
            let beyond = ticks(&sheet["rights"]);
            if allow.is_empty() && !beyond.is_empty() {
                allow = ask_beyond(output, &beyond);
            }
            if (reaches_inside && !inside) || !ask(output, id) {
                return Err(Fault::new(
                    ErrorCode::PermissionDenied,
                    Text::new(format!("{id} was not trusted"), format!("未信任 {id}")),
                )
                .code("declined"));
            }
            text(&sheet["digest"]).to_owned()
        }
    };
    let body = json!({ "digest": digest, "allowInsideNetwork": inside, "allow": exact.then_some(allow) });
    let mut entry = api.call(Method::POST, &path_of(id, "/trust"), Some(&body), output.lang).await?;
    output.say(&Text::new(format!("{id} is trusted"), format!("已信任 {id}")));
    let using = after(api, output, grant, |server| server.plugin_id.as_deref() == Some(id)).await?;
    if output.json {
        output.json_line(&json!({
            "ok": true, "command": "plugin.trust", "plugin": entry.take(), "digest": digest, "grantedTo": using,
        }));
    }
    Ok(ExitCode::SUCCESS)
}

fn print_sheet(output: &Output, sheet: &serde_json::Value) {
    print_details(output, sheet);
    print_levels(output, sheet);
    for diff in items(&sheet["diffs"]) {
        if let Some(unified) = diff["unified"].as_str() {
            for line in unified.lines() {
                let paint = match line.chars().next() {
                    Some('+') => Paint::Good,
                    Some('-') => Paint::Bad,
                    _ => Paint::Dim,
                };
                output.line(&output.paint(paint, &visible(line)));
            }
        }
    }
    output.say(&Text::fixed(
        "If you trust it, the commands above run as your user. Nothing is signed: check where it comes from.",
        "信任后，上述命令将以你的用户身份运行。插件没有签名：请确认其来源。",
    ));
}

/// The ticks of the trust page; what is not typed stays off.
fn ask_beyond(output: &Output, beyond: &[String]) -> Vec<String> {
    let names = beyond.join(" ");
    let question = if output.lang == Lang::Zh {
        format!("它还请求：{names}\n输入要允许的项目，用空格分隔；直接回车则都不允许：")
    } else {
        format!("It also asks for: {names}\nType those to allow, separated by spaces, or nothing: ")
    };
    typed(&question).split_whitespace().map(str::to_owned).collect()
}

fn ask(output: &Output, id: &str) -> bool {
    let question = if output.lang == Lang::Zh {
        format!("要信任该插件，请输入其 id（{id}）：")
    } else {
        format!("To trust it, type its id ({id}): ")
    };
    typed(&question) == id
}

/// The tick of the trust page (security T20).
fn ask_inside(output: &Output) -> bool {
    let question = if output.lang == Lang::Zh {
        "它会连接本机或内网地址。允许请输入 inside："
    } else {
        "It connects to addresses inside this computer or network. Type inside to allow that: "
    };
    typed(question) == "inside"
}

/// What a person types after a question; empty at the end of input.
pub(in crate::command) fn typed(question: &str) -> String {
    // A terminal that is gone is noticed by the read.
    write!(std::io::stderr(), "{question}").and_then(|()| std::io::stderr().flush()).ok();
    let mut answer = String::new();
    match std::io::stdin().lock().read_line(&mut answer) {
        Ok(_) => answer.trim().to_owned(),
        Err(_) => String::new(),
    }
}

pub(super) async fn untrust(api: &Api, output: &Output, id: &str) -> Result<ExitCode, Fault> {
    let entry = api.call(Method::POST, &path_of(id, "/untrust"), Some(&json!({})), output.lang).await?;
    if output.json {
        output.json_line(&json!({ "ok": true, "command": "plugin.untrust", "plugin": entry }));
    } else {
        output.say(&Text::new(format!("{id} is not trusted any more"), format!("已取消信任 {id}")));
    }
    Ok(ExitCode::SUCCESS)
}
