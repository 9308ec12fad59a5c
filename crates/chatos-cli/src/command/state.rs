//! `chatos state`: taking over an older state (state §7); recovering and pruning are beside it.

use std::process::ExitCode;

use chatos_paths::Environment;
use chatos_tool::{Fault, Lang, Text};
use hyper::Method;
use serde_json::{Value, json};

use crate::args::{Global, State};
use crate::command::operation::follow;
use crate::command::recover;
use chatos_terminal::client::{Api, block_on};
use chatos_terminal::output::{Output, Paint, pad, visible};

/// Skipped rows shown to people; the report has all of them.
const SHOWN: usize = 20;

pub(crate) fn run(
    global: &Global,
    environment: Environment,
    output: &Output,
    action: State,
) -> Result<ExitCode, Fault> {
    match action {
        State::Recover { r#use } => recover::recover(global, &environment, output, r#use),
        State::Prune { runs_before, shell_cache, yes } => {
            if shell_cache {
                recover::prune_shell_caches(&environment, output)?;
            }
            match runs_before {
                Some(before) => recover::prune(global, environment, output, &before, yes),
                None => Ok(ExitCode::SUCCESS),
            }
        }
        State::Import { path } => {
            let path = path.map(|path| environment.current_dir().join(path));
            let api = Api::connect(global, environment)?;
            block_on(async {
                let body = json!({ "path": path });
                let operation =
                    api.call(Method::POST, "/api/v1/state/import", Some(&body), output.lang).await?;
                let result = follow(&api, output, operation).await?;
                if output.json {
                    output.json_line(&result);
                } else {
                    print_import(output, &result);
                }
                Ok(ExitCode::SUCCESS)
            })
        }
    }
}

fn print_import(output: &Output, result: &Value) {
    let items = result["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    if items.is_empty() {
        output.say(&Text::fixed("there is no older state to take over", "没有可导入的旧状态"));
    }
    for item in items {
        let text = |name: &str| visible(item[name].as_str().unwrap_or_default());
        let source = output.paint(Paint::Bold, &text("source"));
        match item["state"].as_str().unwrap_or_default() {
            "imported" => {
                output.line(&source);
                print_counts(output, &item["counts"]);
                print_skipped(output, item);
                output.say(&Text::new(
                    format!("report: {}\nbackup from before: {}", text("report"), text("backup")),
                    format!("报告：{}\n导入前的备份：{}", text("report"), text("backup")),
                ));
                if item["oldKeyFile"].is_string() {
                    output.say(&Text::new(
                        format!("the older key file may be deleted now: {}", text("oldKeyFile")),
                        format!("旧密钥文件现在可以删除：{}", text("oldKeyFile")),
                    ));
                }
            }
            "already_done" => output.say(&Text::new(
                format!("{source}: taken over already at {}; nothing was changed", text("importedAt")),
                format!("{source}：已于 {} 导入；没有任何更改", text("importedAt")),
            )),
            _ => output.say(&Text::new(
                format!("{source}: not the state of an older program"),
                format!("{source}：不是旧程序的状态"),
            )),
        }
    }
}

fn print_counts(output: &Output, counts: &Value) {
    let Some(counts) = counts.as_object() else { return };
    for (table, count) in counts {
        let number = |name: &str| count[name].as_u64().unwrap_or_default();
        let (found, new, updated, skipped, mended) =
            (number("found"), number("imported"), number("updated"), number("skipped"), number("repaired"));
        let line = if output.lang == Lang::Zh {
            format!("共 {found} 行：新增 {new}，更新 {updated}，跳过 {skipped}，修正 {mended}")
        } else {
            format!("{found} rows: {new} new, {updated} updated, {skipped} skipped, {mended} mended")
        };
        output.line(&format!("  {} {line}", pad(&visible(table), 16)));
    }
}

fn print_skipped(output: &Output, item: &Value) {
    let skipped = item["skipped"].as_array().map(Vec::as_slice).unwrap_or_default();
    let field = if output.lang == Lang::Zh { "messageZh" } else { "message" };
    for row in skipped.iter().take(SHOWN) {
        let text = |name: &str| visible(row[name].as_str().unwrap_or_default());
        let line = format!("  - {} {}: {}", text("table"), text("id"), text(field));
        output.line(&output.paint(Paint::Dim, &line));
    }
    if skipped.len() > SHOWN {
        let more = skipped.len() - SHOWN;
        output.say(&Text::new(
            format!("  … and {more} more in the report"),
            format!("  …… 其余 {more} 行见报告"),
        ));
    }
    for note in item["notes"].as_array().map(Vec::as_slice).unwrap_or_default() {
        output.line(&output.paint(Paint::Warn, &visible(note[field].as_str().unwrap_or_default())));
    }
}
