//! `chatos state recover` and `chatos state prune`: what goes is shown before it goes.

use std::io::IsTerminal;
use std::process::ExitCode;

use chatos_archive::{RecoverChoice, examine_damage};
use chatos_paths::Environment;
use chatos_tool::{ErrorCode, Fault, Text};
use hyper::Method;
use serde_json::{Value, json};

use super::backup::is_zh;
use crate::args::{Global, UseFor};
use chatos_terminal::client::{Api, block_on};
use chatos_terminal::output::{Output, Paint, pad, visible};
use chatos_terminal::prompts::input;

pub(crate) fn recover(
    global: &Global,
    environment: &Environment,
    output: &Output,
    wanted: Option<UseFor>,
) -> Result<ExitCode, Fault> {
    let Some(recovery) = examine_damage(environment, global.state_dir.clone())? else {
        if output.json {
            output.json_line(&json!({ "state": "whole" }));
        }
        output.say(&Text::fixed("the database is whole; nothing was changed", "数据库完好；没有任何更改"));
        return Ok(ExitCode::SUCCESS);
    };
    let report = recovery.report();
    if !output.json {
        print(output, &report);
    }
    let choice = match wanted {
        Some(UseFor::Salvaged) => Some(RecoverChoice::Salvaged),
        Some(UseFor::Backup) => Some(RecoverChoice::Backup),
        None if !output.json && std::io::stdin().is_terminal() => ask(output),
        None => None,
    };
    let Some(choice) = choice else {
        if output.json {
            output.json_line(&report);
        }
        output.say(&Text::fixed(
            "nothing was changed; choose with --use salvaged or --use backup",
            "没有任何更改；请用 --use salvaged 或 --use backup 选择",
        ));
        return Ok(ExitCode::from(1));
    };
    let done = recovery.apply(choice)?;
    if output.json {
        output.json_line(&done);
    }
    let kept = visible(done["kept"].as_str().unwrap_or_default());
    output.say(&Text::new(
        format!("done; the damaged database is kept: {kept}"),
        format!("已完成；损坏的数据库已保留：{kept}"),
    ));
    Ok(ExitCode::SUCCESS)
}

fn print(output: &Output, report: &Value) {
    let zh = is_zh(output);
    let text = |value: &Value| visible(value.as_str().unwrap_or_default());
    output.line(&format!(
        "{} {}",
        output.paint(Paint::Bad, if zh { "数据库已损坏：" } else { "the database is damaged:" }),
        text(&report["damage"])
    ));
    let salvaged = &report["salvaged"];
    let rows = salvaged["rows"].as_u64().unwrap_or_default();
    let complete = salvaged["complete"] == true;
    output.line(&match (zh, complete) {
        (false, true) => format!("salvaged: all {rows} rows can be read"),
        (false, false) => format!("salvaged: {rows} rows can be read, some cannot"),
        (true, true) => format!("salvaged：全部 {rows} 行均可读取"),
        (true, false) => format!("salvaged：可读取 {rows} 行，另有部分无法读取"),
    });
    for table in salvaged["tables"].as_array().map(Vec::as_slice).unwrap_or_default() {
        let damaged = table["damaged"] == true || table["refused"].as_u64().unwrap_or_default() > 0;
        let note = match (damaged, zh) {
            (false, _) => "",
            (true, false) => "incomplete",
            (true, true) => "不完整",
        };
        let line = format!(
            "  {} {:>8} {}",
            pad(&text(&table["name"]), 24),
            table["rows"],
            output.paint(Paint::Warn, note)
        );
        output.line(line.trim_end());
    }
    match &report["backup"] {
        Value::Null => {
            output.line(if zh { "backup：没有完好的备份" } else { "backup: there is no good one" });
        }
        backup => output.line(&format!(
            "backup{} {} ({})",
            if zh { "：" } else { ":" },
            text(&backup["file"]),
            text(&backup["madeAt"])
        )),
    }
}

fn ask(output: &Output) -> Option<RecoverChoice> {
    let question = if is_zh(output) {
        "使用哪一个？输入 salvaged 或 backup，直接回车不做更改："
    } else {
        "Use which? Type salvaged or backup, or press Enter to change nothing: "
    };
    match input::line(question).ok().flatten()?.trim() {
        "salvaged" => Some(RecoverChoice::Salvaged),
        "backup" => Some(RecoverChoice::Backup),
        _ => None,
    }
}

/// Removes the private caches of commands. They lie outside the state, so no host is needed.
pub(crate) fn prune_shell_caches(environment: &Environment, output: &Output) -> Result<(), Fault> {
    let pruned = chatos_shell::prune_caches(environment.variables(), true).map_err(|error| {
        Fault::new(
            ErrorCode::Internal,
            Text::new(
                format!("the private caches of commands cannot be removed: {error}"),
                format!("无法删除命令的私有缓存：{error}"),
            ),
        )
    })?;
    let mebibytes = pruned.bytes >> 20;
    if output.json {
        output.json_line(&json!({ "shellCaches": pruned.caches, "bytes": pruned.bytes }));
    } else {
        output.say(&Text::new(
            format!("{} private caches of commands were removed ({mebibytes} MiB)", pruned.caches),
            format!("已删除 {} 个命令私有缓存（{mebibytes} MiB）", pruned.caches),
        ));
    }
    Ok(())
}

pub(crate) fn prune(
    global: &Global,
    environment: Environment,
    output: &Output,
    runs_before: &str,
    yes: bool,
) -> Result<ExitCode, Fault> {
    let api = Api::connect(global, environment)?;
    block_on(async {
        let ask = |dry: bool| json!({ "runsBefore": runs_before, "dryRun": dry });
        let path = "/api/v1/state/prune";
        let shown = api.call(Method::POST, path, Some(&ask(true)), output.lang).await?;
        let runs = shown["runs"].as_u64().unwrap_or_default();
        let text = |name: &str| visible(shown[name].as_str().unwrap_or_default());
        if !output.json {
            output.say(&Text::new(
                format!("{runs} runs with {} steps finished before {}", shown["steps"], text("before")),
                format!("{} 之前结束的运行：{runs} 个，共 {} 步", text("before"), shown["steps"]),
            ));
        }
        let go = yes || (runs > 0 && !output.json && std::io::stdin().is_terminal() && agreed(output));
        if runs == 0 || !go {
            if output.json {
                output.json_line(&shown);
            } else if runs > 0 {
                output.say(&Text::fixed(
                    "nothing was removed; --yes removes them",
                    "没有删除任何内容；--yes 会删除",
                ));
            }
            return Ok(ExitCode::SUCCESS);
        }
        // The time that was shown, not the words: "90d" means another moment by now.
        let body = json!({ "runsBefore": shown["before"], "dryRun": false });
        let gone = api.call(Method::POST, path, Some(&body), output.lang).await?;
        if output.json {
            output.json_line(&gone);
        }
        output.say(&Text::new(
            format!("{} runs were removed", gone["runs"]),
            format!("已删除 {} 个运行", gone["runs"]),
        ));
        Ok(ExitCode::SUCCESS)
    })
}

fn agreed(output: &Output) -> bool {
    let question = if is_zh(output) {
        "删除它们？输入 yes 确认："
    } else {
        "Remove them? Type yes to confirm: "
    };
    input::line(question).ok().flatten().is_some_and(|answer| answer.trim() == "yes")
}
