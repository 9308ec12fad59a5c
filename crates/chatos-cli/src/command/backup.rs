//! `chatos backup` and `chatos restore`: the whole state into a file and back (state §8).

use std::io::IsTerminal;
use std::process::ExitCode;

use chatos_archive::{RestoreOrder, restore};
use chatos_paths::Environment;
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use hyper::Method;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::args::{Backup, Global, Restore};
use crate::command::operation::{follow, size};
use chatos_terminal::client::{Api, block_on};
use chatos_terminal::output::{Output, Paint, visible};
use chatos_terminal::prompts::input;

pub(crate) fn backup(
    global: &Global,
    environment: Environment,
    output: &Output,
    options: &Backup,
) -> Result<ExitCode, Fault> {
    let path = environment.current_dir().join(&options.file);
    let passphrase = if options.with_key { Some(new_passphrase(output)?) } else { None };
    let api = Api::connect(global, environment)?;
    let result = block_on(async {
        let body = json!({
            "path": path, "noBlobs": options.no_blobs, "passphrase": passphrase.as_deref().map(String::as_str),
        });
        let operation = api.call(Method::POST, "/api/v1/state/backup", Some(&body), output.lang).await?;
        follow(&api, output, operation).await
    });
    let result = match result {
        // The file is there already: the answer is "refused", not "a bug".
        Err(fault) if fault.class == ErrorCode::Conflict => {
            output.fault(&fault);
            return Ok(ExitCode::from(3));
        }
        other => other?,
    };
    if output.json {
        output.json_line(&result);
        return Ok(ExitCode::SUCCESS);
    }
    let number = |name: &str| result[name].as_u64().unwrap_or_default();
    let file = visible(result["file"].as_str().unwrap_or_default());
    output.say(&Text::new(
        format!("{file}: {} files, {}, checked", number("files"), size(number("bytes"))),
        format!("{file}：{} 个文件，{}，已校验", number("files"), size(number("bytes"))),
    ));
    if result["withKey"] != true {
        output.say(&Text::fixed(
            "secrets in it stay sealed; the key is not in it (--with-key adds it)",
            "其中的密钥内容仍是加密的；不含状态密钥（--with-key 可加入）",
        ));
    }
    left_out(output, &result["leftOut"]);
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn bring_back(
    global: &Global,
    environment: &Environment,
    output: &Output,
    options: Restore,
) -> Result<ExitCode, Fault> {
    let mut ask = || {
        let question = Text::fixed(
            "Passphrase of the key in the backup (empty: restore without it): ",
            "备份中密钥的口令（留空则不恢复密钥）：",
        );
        read_passphrase(output, &question).ok().filter(|text| !text.is_empty())
    };
    let result = restore(RestoreOrder {
        environment,
        state_dir: global.state_dir.clone(),
        into: options.into,
        archive: options.file,
        dry_run: options.dry_run,
        passphrase: &mut ask,
        progress: &mut |_| true,
    })?;
    if output.json {
        output.json_line(&result);
    } else {
        print_restore(output, &result);
    }
    Ok(ExitCode::SUCCESS)
}

fn print_restore(output: &Output, result: &Value) {
    let text = |name: &str| visible(result[name].as_str().unwrap_or_default());
    let number = |name: &str| result[name].as_u64().unwrap_or_default();
    output.say(&Text::new(
        format!(
            "the backup is whole: {} files, {}, made {} by ChatOS {}",
            number("files"),
            size(number("bytes")),
            text("createdAt"),
            text("chatos")
        ),
        format!(
            "备份完好：{} 个文件，{}，由 ChatOS {} 于 {} 生成",
            number("files"),
            size(number("bytes")),
            text("chatos"),
            text("createdAt")
        ),
    ));
    if result["state"] == "verified" {
        output.say(&Text::new(
            format!("it would take the place of {}; nothing was changed", text("target")),
            format!("它将替换 {}；没有任何更改", text("target")),
        ));
    } else {
        let target = output.paint(Paint::Bold, &text("target"));
        output.say(&Text::new(format!("restored to {target}"), format!("已恢复到 {target}")));
        if result["previous"].is_string() {
            output.say(&Text::new(
                format!("the former state is kept: {}", text("previous")),
                format!("原状态已保留：{}", text("previous")),
            ));
        }
    }
    let key = match result["key"].as_str().unwrap_or_default() {
        "restored" => Text::fixed("the state key was brought back too", "状态密钥也已恢复"),
        "present" => return,
        "in_backup" => Text::fixed(
            "the state key is in the backup but was not brought back; secrets cannot be opened without it",
            "备份中含状态密钥但未恢复；没有它无法打开密钥内容",
        ),
        _ => Text::fixed(
            "the state key is not on this machine; secrets cannot be opened without it",
            "本机没有状态密钥；没有它无法打开密钥内容",
        ),
    };
    output.say(&key);
    left_out(output, &result["leftOut"]);
}

fn left_out(output: &Output, list: &Value) {
    let count = list.as_array().map(Vec::len).unwrap_or_default();
    if count > 0 {
        output.say(&Text::new(
            format!("{count} links or special files of plugins were left out"),
            format!("未包含 {count} 个插件的链接或特殊文件"),
        ));
    }
}

/// Typed twice at a terminal; one line of standard input otherwise.
fn new_passphrase(output: &Output) -> Result<Zeroizing<String>, Fault> {
    let first = read_passphrase(output, &Text::fixed("Passphrase for the key: ", "密钥的口令："))?;
    if std::io::stdin().is_terminal() {
        let again = read_passphrase(output, &Text::fixed("Once more: ", "再次输入："))?;
        if *first != *again {
            return Err(Fault::new(
                ErrorCode::InvalidArgument,
                Text::fixed("the two passphrases differ", "两次输入的口令不一致"),
            )
            .hint(Text::fixed("try again; nothing was written", "请重试；没有写入任何内容")));
        }
    }
    Ok(first)
}

fn read_passphrase(output: &Output, question: &Text) -> Result<Zeroizing<String>, Fault> {
    let read = if std::io::stdin().is_terminal() {
        input::hidden(question.get(output.lang)).map(Zeroizing::new)
    } else {
        let mut line = Zeroizing::new(String::new());
        std::io::stdin().read_line(&mut line).map(|_| {
            let length = line.trim_end_matches(['\r', '\n']).len();
            line.truncate(length);
            line
        })
    };
    read.map_err(|error| {
        Fault::new(ErrorCode::InvalidArgument, Text::fixed("the passphrase cannot be read", "无法读取口令"))
            .caused_by(&error)
    })
}

/// `true` when the language is Chinese.
pub(super) fn is_zh(output: &Output) -> bool {
    output.lang == Lang::Zh
}
