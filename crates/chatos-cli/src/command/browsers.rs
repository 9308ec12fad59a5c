//! `chatos browsers`: which browsers are signed in, and signing them out.

use std::process::ExitCode;

use chatos_paths::Environment;
use chatos_tool::names::Noun;
use chatos_tool::{Fault, Lang, Text};
use hyper::Method;
use serde_json::Value;

use crate::args::{Browsers, Global};
use chatos_terminal::client::{Api, block_on};
use chatos_terminal::names::Names;
use chatos_terminal::output::{Output, Paint, visible};

const PATH: &str = "/api/v1/browsers";
const BROWSER: Noun = Noun {
    en: "signed-in browser",
    zh: "已登录的浏览器",
    list: "chatos browsers list",
    missing: "unknown_browser",
};

pub(crate) fn run(
    global: &Global,
    environment: Environment,
    output: &Output,
    action: Browsers,
) -> Result<ExitCode, Fault> {
    let api = Api::connect(global, environment)?;
    block_on(async {
        match action {
            Browsers::List => {
                let list = api.get_json(PATH, output.lang).await?;
                if output.json {
                    output.json_line(&list);
                } else {
                    print(output, &list);
                }
            }
            Browsers::Revoke { id, .. } => {
                let path = match &id {
                    None => PATH.to_owned(),
                    Some(start) => {
                        let id = Names::new(&api, output.lang).one(BROWSER, PATH, &[], start).await?;
                        format!("{PATH}/{id}")
                    }
                };
                let done = api.call(Method::DELETE, &path, None, output.lang).await?;
                if output.json {
                    output.json_line(&done);
                }
                let count = done["revoked"].as_u64().unwrap_or_default();
                output.say(&match count {
                    0 => Text::fixed("no browser was signed in", "没有已登录的浏览器"),
                    1 => Text::fixed("1 browser was signed out", "已退出 1 个浏览器"),
                    _ => Text::new(
                        format!("{count} browsers were signed out"),
                        format!("已退出 {count} 个浏览器"),
                    ),
                });
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}

fn items(list: &Value) -> &[Value] {
    list["items"].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn print(output: &Output, list: &Value) {
    if items(list).is_empty() {
        output.say(&Text::fixed("no browser is signed in", "没有已登录的浏览器"));
    }
    for item in items(list) {
        let text = |key: &str| visible(item[key].as_str().unwrap_or_default());
        let minute = |key: &str| text(key).get(..16).unwrap_or_default().replace('T', " ");
        let name = match (text("name"), output.lang) {
            (name, _) if !name.is_empty() => name,
            (_, Lang::En) => "unnamed browser".to_owned(),
            (_, Lang::Zh) => "未命名的浏览器".to_owned(),
        };
        let place =
            if item["address"].is_string() { format!(" · {}", text("address")) } else { String::new() };
        let seen = match output.lang {
            Lang::En => format!(
                "last seen {} UTC, signed in until {} UTC{place}",
                minute("lastSeen"),
                minute("expiresAt")
            ),
            Lang::Zh => {
                format!("最近使用 {} UTC，登录有效至 {} UTC{place}", minute("lastSeen"), minute("expiresAt"))
            }
        };
        output.line(&format!("{}  {}", text("id"), name));
        output.line(&format!("    {}", output.paint(Paint::Dim, &seen)));
    }
}
