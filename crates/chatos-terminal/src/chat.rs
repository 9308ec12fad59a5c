//! `chatos chat`: the same agents in a terminal, questions included; in a pipe, one message and its reply.

mod commands;
mod editor;
mod files;
mod line;
mod live;
mod once;
mod refused;
mod screen;
mod talk;

use std::io::IsTerminal;
use std::process::ExitCode;

use chatos_paths::Environment;
use chatos_tool::{ErrorCode, Fault, Text};

use crate::args::{Chat, Global};
use crate::client::{Api, block_on};
use crate::output::{Output, usage_fault};
use crate::prompts::Desk;
use talk::Talk;

pub fn run(
    global: &Global,
    environment: Environment,
    output: &Output,
    options: &Chat,
) -> Result<ExitCode, Fault> {
    let here = environment.current_dir().to_owned();
    let edits = !matches!(environment.get("TERM"), Some("dumb" | "cons25" | "emacs"));
    let editor = editor::Editor::of(&environment);
    let keyboard = std::io::stdin().is_terminal();
    // A person who can be asked is there.
    let attended = keyboard && std::io::stdout().is_terminal() && !output.json;
    // What comes through a pipe is read before anything is opened.
    let message = match (&options.prompt, keyboard) {
        (None, true) if attended => None,
        (None, true) => return Ok(usage_fault(output, &no_terminal())),
        (prompt, _) => match once::message(prompt.as_deref(), keyboard, output) {
            Ok(message) => Some(message),
            Err(fault) => return Ok(usage_fault(output, &fault)),
        },
    };
    let mut files = files::read_all(&options.attach, &here)?;
    for file in &mut files {
        file.name_only = options.names_only;
    }
    let api = Api::connect(global, environment.clone())?;
    let desk = Desk::over(api, global, environment);
    block_on(async {
        let done = match Talk::begin(&desk, output, options, here).await {
            Ok(mut talk) => {
                talk.files = files;
                if attended {
                    talk.instructions.get_or_insert("ask");
                }
                let done = match message {
                    Some(message) => once::run(&mut talk, message, attended, options.wait_prompts).await,
                    None => live::run(&mut talk, options.thinking, edits, editor).await,
                };
                talk.leave().await;
                done
            }
            Err(fault) => Err(fault),
        };
        if let Some(api) = desk.api() {
            api.finish().await;
        }
        done
    })
}

fn no_terminal() -> Fault {
    Fault::new(
        ErrorCode::InvalidArgument,
        Text::fixed("there is no terminal to chat in", "没有可供对话的终端"),
    )
    .hint(Text::fixed(
        "in scripts use `chatos chat -p TEXT`, or `echo TEXT | chatos chat`",
        "脚本中请使用 `chatos chat -p 文本`，或 `echo 文本 | chatos chat`",
    ))
}
