//! `chatos instructions`: which texts of a project go with messages, and the person's word about them.

use std::path::Path;
use std::process::ExitCode;

use chatos_paths::Environment;
use chatos_tool::{Fault, Lang, Text};
use chatos_wire::instructions::{InstructionConsent, InstructionState, InstructionsView};
use hyper::Method;
use serde_json::json;

use crate::args::{ConsentArg, Global, Instructions};
use chatos_desk::encode;
use chatos_terminal::client::{Api, block_on};
use chatos_terminal::output::{Output, Paint, pad, visible, width};

const PATH: &str = "/api/v1/instructions";

pub(crate) fn run(
    global: &Global,
    environment: Environment,
    output: &Output,
    wish: &Instructions,
) -> Result<ExitCode, Fault> {
    let here = environment.current_dir();
    let project = global.project.as_ref().map_or_else(|| here.to_owned(), |project| here.join(project));
    let api = Api::connect(global, environment)?;
    block_on(async {
        if let Some(word) = wish.set {
            let consent = match word {
                ConsentArg::Use => Some(InstructionConsent::Use),
                ConsentArg::Skip => Some(InstructionConsent::Skip),
                ConsentArg::Ask => None,
            };
            let body = json!({ "root": project.to_string_lossy(), "consent": consent });
            api.call(Method::PUT, PATH, Some(&body), output.lang).await?;
        }
        let found = of(&api, output, &project).await?;
        if output.json {
            output.json_line(&json!(found));
        } else if wish.text {
            output.line(&visible_lines(&found.text));
        } else {
            print(output, &found);
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// What there is for a folder.
pub(crate) async fn of(api: &Api, output: &Output, project: &Path) -> Result<InstructionsView, Fault> {
    let path = format!("{PATH}?root={}", encode(&project.to_string_lossy()));
    Ok(api.get::<InstructionsView>(&path, output.lang).await?.body)
}

/// The files and what becomes of each.
pub(crate) fn print(output: &Output, found: &InstructionsView) {
    let lang = output.lang;
    let word = match found.consent {
        Some(InstructionConsent::Use) => Text::fixed("used", "使用"),
        Some(InstructionConsent::Skip) => Text::fixed("not used: you said so", "不使用：已由你决定"),
        None => Text::fixed("not decided: the next chat here asks", "尚未决定：下次在此对话时询问"),
    };
    let of_project = found.files.iter().any(|file| !file.own);
    if found.files.is_empty() {
        output.say(&Text::fixed("no instruction files here", "这里没有说明文件"));
        return;
    }
    if of_project {
        let title = Text::fixed("Instructions of", "项目说明：");
        output.line(&format!("{} {}: {}", title.get(lang), visible(&found.root), word.get(lang)));
    }
    let widest = found.files.iter().map(|file| width(&file.path)).max().unwrap_or_default().min(60);
    for file in &found.files {
        let (mark, paint) = match file.state {
            InstructionState::Used => ("✓", Paint::Good),
            InstructionState::Cut => ("✂", Paint::Warn),
            InstructionState::Shadowed | InstructionState::NotConsented => ("·", Paint::Dim),
            InstructionState::Unreadable => ("✗", Paint::Bad),
        };
        let state = state(file.state).get(lang).to_owned();
        let why = file.reason.as_ref().map(|why| format!(": {}", visible(why))).unwrap_or_default();
        let size = match lang {
            Lang::En => format!("{} bytes", file.bytes),
            Lang::Zh => format!("{} 字节", file.bytes),
        };
        output.line(&format!(
            "{} {}  {}",
            output.paint(paint, mark),
            pad(&visible(&file.path), widest),
            output.paint(Paint::Dim, &format!("{size}, {state}{why}"))
        ));
    }
    for path in &found.nested {
        let note = Text::fixed("named to the model, not read", "仅告知模型，未读取");
        let line = format!("  {}  {}", pad(&visible(path), widest), note.get(lang));
        output.line(&output.paint(Paint::Dim, &line));
    }
}

fn state(state: InstructionState) -> Text {
    match state {
        InstructionState::Used => Text::fixed("used", "已使用"),
        InstructionState::Shadowed => Text::fixed("another file takes its place", "由其他文件代替"),
        InstructionState::Cut => Text::fixed("its beginning is used", "仅使用开头"),
        InstructionState::NotConsented => Text::fixed("not used", "未使用"),
        InstructionState::Unreadable => Text::fixed("cannot be used", "无法使用"),
    }
}

/// Text of strangers, line by line.
fn visible_lines(text: &str) -> String {
    text.lines().map(visible).collect::<Vec<_>>().join("\n")
}
