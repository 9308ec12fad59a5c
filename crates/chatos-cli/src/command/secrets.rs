//! `chatos secrets`: names are shown, values only go in, from a hidden prompt or standard input.

use std::io::{IsTerminal, Read};
use std::process::ExitCode;

use chatos_paths::Environment;
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use hyper::Method;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::args::{Global, KeyTarget, Secrets};
use chatos_desk::encode;
use chatos_terminal::client::{Api, block_on};
use chatos_terminal::output::{Output, Paint, pad, visible, width};
use chatos_terminal::prompts::input;

/// Larger than any secret that is kept; what is longer is refused there with its words.
const READ: u64 = 128 * 1024;

pub(crate) fn run(
    global: &Global,
    environment: Environment,
    output: &Output,
    action: Secrets,
) -> Result<ExitCode, Fault> {
    // Read before anything is opened: a person may take a while to type.
    let value = match &action {
        Secrets::Set { name, .. } => Some(read_value(output, name)?),
        _ => None,
    };
    let api = Api::connect(global, environment)?;
    block_on(async {
        let path = |name: &str| format!("/api/v1/secrets/{}", encode(name));
        match action {
            Secrets::List => {
                let list = api.get_json("/api/v1/secrets", output.lang).await?;
                if output.json {
                    output.json_line(&list);
                } else {
                    print(output, &list);
                }
            }
            Secrets::Set { name, description } => {
                let body =
                    json!({ "value": value.as_deref().map(String::as_str), "description": description });
                let done = api.call(Method::PUT, &path(&name), Some(&body), output.lang).await?;
                if output.json {
                    output.json_line(&json!({ "name": name, "set": true, "created": done["created"] }));
                }
                output.say(&if done["created"] == true {
                    Text::new(format!("`{name}` is set"), format!("已设置 `{name}`"))
                } else {
                    Text::new(format!("`{name}` has a new value"), format!("已更新 `{name}` 的值"))
                });
            }
            Secrets::Remove { name } => {
                api.call(Method::DELETE, &path(&name), None, output.lang).await?;
                if output.json {
                    output.json_line(&json!({ "name": name, "removed": true }));
                }
                output.say(&Text::new(format!("`{name}` is removed"), format!("已删除 `{name}`")));
            }
            Secrets::Rotate => {
                let path = "/api/v1/state-key/rotate";
                let done = api.call(Method::POST, path, Some(&json!({})), output.lang).await?;
                if output.json {
                    output.json_line(&done);
                }
                output.say(&rotated(&done));
            }
            Secrets::MoveKey { to } => {
                let word = if to == KeyTarget::Keychain { "keychain" } else { "file" };
                let body = json!({ "to": word });
                let done = api.call(Method::POST, "/api/v1/state-key/move", Some(&body), output.lang).await?;
                if output.json {
                    output.json_line(&done);
                }
                output.say(&moved(&done, to));
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}

fn rotated(done: &Value) -> Text {
    let (from, to) = (done["from"].as_str().unwrap_or_default(), done["to"].as_str().unwrap_or_default());
    let (sealed, left) = (done["resealed"].as_u64().unwrap_or(0), done["left"].as_u64().unwrap_or(0));
    let mut text = Text::new(
        format!("the state key is {to} now (was {from}); values sealed anew: {sealed}"),
        format!("状态密钥现为 {to}（原为 {from}）；重新加密的值：{sealed}"),
    );
    if left > 0 {
        text.en.to_mut().push_str(&format!("; sealed with a lost key and left as they are: {left}"));
        text.zh.to_mut().push_str(&format!("；由已丢失的密钥加密、保持原样：{left}"));
    }
    text.en.to_mut().push_str("\nmake a new backup: older ones hold values only the former key opens");
    text.zh.to_mut().push_str("\n请重新备份：旧备份中的值只有原来的密钥才能打开");
    text
}

fn moved(done: &Value, to: KeyTarget) -> Text {
    let path = done["key"]["path"].as_str().unwrap_or_default();
    match (done["moved"] == true, to) {
        (true, KeyTarget::Keychain) => {
            Text::fixed("the state key is in the keychain now", "状态密钥已移入钥匙串")
        }
        (false, KeyTarget::Keychain) => {
            Text::fixed("the state key is in the keychain already", "状态密钥已在钥匙串中")
        }
        (true, KeyTarget::File) => Text::new(
            format!("the state key is in a file now: {path}"),
            format!("状态密钥已移入文件：{path}"),
        ),
        (false, KeyTarget::File) => Text::new(
            format!("the state key is in a file already: {path}"),
            format!("状态密钥已在文件中：{path}"),
        ),
    }
}

/// From the terminal without echo, or all of standard input without its last line end.
pub(super) fn read_value(output: &Output, name: &str) -> Result<Zeroizing<String>, Fault> {
    let fail = |error: std::io::Error| {
        Fault::new(ErrorCode::InvalidArgument, Text::fixed("the value cannot be read", "无法读取密钥的值"))
            .caused_by(&error)
            .hint(Text::fixed(
                "type it, or pipe it in as UTF-8 text",
                "请直接输入，或以 UTF-8 文本通过管道传入",
            ))
    };
    if std::io::stdin().is_terminal() {
        let question =
            if output.lang == Lang::Zh { format!("{name} 的值：") } else { format!("Value of {name}: ") };
        return input::hidden(&question).map(Zeroizing::new).map_err(fail);
    }
    let mut text = Zeroizing::new(String::new());
    std::io::stdin().lock().take(READ).read_to_string(&mut text).map_err(fail)?;
    let length = text.strip_suffix('\n').map(|text| text.strip_suffix('\r').unwrap_or(text).len());
    if let Some(length) = length {
        text.truncate(length);
    }
    Ok(text)
}

fn print(output: &Output, list: &Value) {
    let items = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    if items.is_empty() {
        output.say(&Text::fixed("no secrets are set", "没有设置任何密钥"));
    }
    let name = |item: &Value| visible(item["name"].as_str().unwrap_or_default());
    let widest = items.iter().map(|item| width(&name(item))).max().unwrap_or_default();
    for item in items {
        let since = item["updatedAt"].as_str().unwrap_or_default().get(..10).unwrap_or_default();
        let set = if output.lang == Lang::Zh {
            format!("••••  设置于 {since}")
        } else {
            format!("••••  set on {since}")
        };
        let mut line = format!("{}  {set}", pad(&name(item), widest));
        if item["openable"] == false {
            let note = Text::fixed("cannot be opened: another key", "无法打开：密钥不符");
            line.push_str(&format!("  {}", output.paint(Paint::Bad, note.get(output.lang))));
        }
        if let Some(text) = item["description"].as_str().filter(|text| !text.is_empty()) {
            line.push_str(&format!("  {}", output.paint(Paint::Dim, &visible(text))));
        }
        output.line(&line);
    }
}
