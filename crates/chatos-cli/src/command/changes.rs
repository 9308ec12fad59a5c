//! `chatos changes`: what tools changed in files, and undoing it, in a terminal.

use std::io::IsTerminal;
use std::process::ExitCode;

use chatos_paths::Environment;
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use hyper::Method;
use serde_json::{Value, json};

use crate::args::{Changes, Global};
use chatos_desk::encode;
use chatos_terminal::client::{Api, block_on};
use chatos_terminal::output::{Output, Paint, pad};
use chatos_terminal::prompts::input;
use chatos_terminal::prompts::show::{diff_line, exact};

pub(crate) fn run(
    global: &Global,
    environment: Environment,
    output: &Output,
    action: Changes,
) -> Result<ExitCode, Fault> {
    let api = Api::connect(global, environment)?;
    block_on(async {
        match action {
            Changes::List { path, root, run, session, server, tool, change, limit, before } => {
                let mut address = format!("/api/v1/changes?limit={limit}");
                let wanted = [
                    ("path", path),
                    ("root", root),
                    ("runId", run),
                    ("sessionId", session),
                    ("server", server),
                    ("tool", tool),
                    ("change", change),
                    ("before", before),
                ];
                for (name, value) in wanted {
                    if let Some(value) = value {
                        address.push_str(&format!("&{name}={}", encode(&value)));
                    }
                }
                let list = api.get_json(&address, output.lang).await?;
                if output.json { output.json_line(&list) } else { print_list(output, &list) }
            }
            Changes::Show { id } => {
                let detail = api.get_json(&format!("/api/v1/changes/{}", encode(&id)), output.lang).await?;
                if output.json { output.json_line(&detail) } else { print_detail(output, &detail) }
            }
            Changes::Undo { ids, run, dry_run, yes } => {
                let body = match run {
                    Some(run) => json!({ "runId": run }),
                    None => json!({ "ids": ids }),
                };
                return undo(&api, output, body, dry_run, yes).await;
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}

async fn undo(
    api: &Api,
    output: &Output,
    mut body: Value,
    dry_run: bool,
    yes: bool,
) -> Result<ExitCode, Fault> {
    const PATH: &str = "/api/v1/changes/undo";
    if dry_run || !yes {
        if !dry_run && (output.json || !std::io::stdin().is_terminal()) {
            return Err(needs_yes());
        }
        body["dryRun"] = json!(true);
        let would = api.call(Method::POST, PATH, Some(&body), output.lang).await?;
        if dry_run && output.json {
            output.json_line(&would);
            return Ok(ExitCode::SUCCESS);
        }
        print_steps(output, &would, false);
        if dry_run {
            return Ok(ExitCode::SUCCESS);
        }
        if !agreed(output) {
            return Err(Fault::new(ErrorCode::Canceled, Text::fixed("nothing was undone", "未撤销任何内容")));
        }
        body["dryRun"] = json!(false);
    }
    let done = api.call(Method::POST, PATH, Some(&body), output.lang).await?;
    if output.json {
        output.json_line(&done);
        return Ok(ExitCode::SUCCESS);
    }
    // Whoever agreed has seen them already.
    if yes {
        print_steps(output, &done, true);
    }
    for warning in items(&done["warnings"]) {
        output.line(&output.paint(Paint::Warn, &exact(warning.as_str().unwrap_or_default())));
    }
    let ids: Vec<&str> = items(&done["changes"]).iter().filter_map(|change| change["id"].as_str()).collect();
    let (count, ids) = (items(&done["steps"]).len(), ids.join(" "));
    output.say(&Text::new(
        format!("{count} file(s) are as they were. To undo this: chatos changes undo {ids}"),
        format!("{count} 个文件已恢复原状。如需撤销本次操作：chatos changes undo {ids}"),
    ));
    Ok(ExitCode::SUCCESS)
}

fn needs_yes() -> Fault {
    Fault::new(
        ErrorCode::NeedsInput,
        Text::fixed("nobody can be asked here; nothing was undone", "此处无法询问；未撤销任何内容"),
    )
    .code("needs_yes")
    .hint(Text::fixed(
        "--dry-run shows what would happen, --yes does it",
        "--dry-run 会显示将发生什么，--yes 会执行",
    ))
}

fn agreed(output: &Output) -> bool {
    let question = match output.lang {
        Lang::Zh => "确定撤销？[y/N] ",
        Lang::En => "Undo this? [y/N] ",
    };
    let answer = input::line(question).ok().flatten().unwrap_or_default();
    matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

fn print_list(output: &Output, list: &Value) {
    let changes = items(&list["changes"]);
    if changes.is_empty() {
        output.say(&Text::fixed("No file was changed by a tool.", "没有工具更改过文件。"));
    }
    for change in changes {
        output.line(&summary(output, change));
    }
    if let Some(next) = list["next"].as_str() {
        output.say(&Text::new(
            format!("There are older ones: --before {next}"),
            format!("还有更早的更改：--before {next}"),
        ));
    }
}

fn summary(output: &Output, change: &Value) -> String {
    let text = |name: &str| exact(change[name].as_str().unwrap_or_default());
    let (en, zh, paint) = match change["change"].as_str() {
        Some("created") => ("created", "新建", Paint::Good),
        Some("deleted") => ("deleted", "删除", Paint::Bad),
        Some("moved") => ("moved", "移动", Paint::Bold),
        _ => ("modified", "修改", Paint::Warn),
    };
    let word = if output.lang == Lang::Zh { zh } else { en };
    let path = match change["from"].as_str() {
        Some(from) => format!("{} → {}", exact(from), text("path")),
        None => text("path"),
    };
    let undone = match (change["undoneBy"].is_string(), output.lang) {
        (false, _) => "",
        (true, Lang::En) => " (undone)",
        (true, Lang::Zh) => "（已撤销）",
    };
    format!(
        "{} {} +{} −{} {path}{undone} {}",
        output.paint(Paint::Dim, &text("createdAt")),
        output.paint(paint, &pad(word, 8)),
        change["added"],
        change["removed"],
        output.paint(Paint::Dim, &format!("{}/{} {}", text("server"), text("tool"), text("id")))
    )
}

fn print_detail(output: &Output, detail: &Value) {
    let change = &detail["change"];
    let text = |name: &str| exact(change[name].as_str().unwrap_or_default());
    output.line(&summary(output, change));
    let mut facts = vec![text("root")];
    if !text("runId").is_empty() {
        facts.push(format!("{} {}", if output.lang == Lang::Zh { "运行" } else { "run" }, text("runId")));
    }
    output.line(&output.paint(Paint::Dim, &facts.join(" · ")));
    // A move is in the line above; names in it may hold line ends.
    let mut diff = detail["diff"].as_str().unwrap_or_default();
    if let (Some(from), Some(to)) = (change["from"].as_str(), change["path"].as_str()) {
        let words = format!("rename from {from}\nrename to {to}\n");
        diff = diff.strip_prefix(words.as_str()).unwrap_or(diff);
    }
    for line in diff.lines() {
        output.line(&diff_line(output, line));
    }
    if detail["diffTruncated"] == json!(true) {
        output.say(&Text::fixed("The diff goes on.", "差异未完整显示。"));
    }
    let undo = &detail["undo"];
    if undo["possible"] == json!(true) {
        let id = text("id");
        output.say(&Text::new(
            format!("To undo it: chatos changes undo {id}"),
            format!("撤销：chatos changes undo {id}"),
        ));
    } else {
        let said = |what: &str, lang: &str| exact(undo[what][lang].as_str().unwrap_or_default());
        output.say(&Text::new(
            format!("It cannot be undone: {}", said("reason", "en")),
            format!("无法撤销：{}", said("reason", "zh")),
        ));
        if undo["hint"].is_object() {
            output.say(&Text::new(said("hint", "en"), said("hint", "zh")));
        }
    }
}

fn print_steps(output: &Output, answer: &Value, done: bool) {
    for step in items(&answer["steps"]) {
        let (en, zh, paint) = match (step["action"].as_str().unwrap_or_default(), done) {
            ("restored", false) => ("restore", "恢复", Paint::Warn),
            ("restored", true) => ("restored", "已恢复", Paint::Warn),
            ("removed", false) => ("remove", "删除", Paint::Bad),
            ("removed", true) => ("removed", "已删除", Paint::Bad),
            ("recreated", false) => ("recreate", "重新创建", Paint::Good),
            ("recreated", true) => ("recreated", "已重新创建", Paint::Good),
            (_, false) => ("move back", "移回", Paint::Bold),
            (_, true) => ("moved back", "已移回", Paint::Bold),
        };
        let word = if output.lang == Lang::Zh { zh } else { en };
        let path = exact(step["path"].as_str().unwrap_or_default());
        output.line(&format!("{} {path}", output.paint(paint, &pad(word, 10))));
    }
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}
