//! `chatos acp`: starts a host if there is none, and lets an editor drive its agents.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use chatos_desk::{Beside, Editor, Line};
use chatos_paths::Environment;
use chatos_tool::{ErrorCode, Fault, Text};
use serde_json::json;

use crate::args::{Acp, EditorName, Global};
use chatos_terminal::output::Output;

pub(crate) fn run(
    global: &Global,
    environment: Environment,
    output: &Output,
    options: &Acp,
) -> Result<ExitCode, Fault> {
    if let Some(editor) = options.print_config {
        print(editor, global, output, options);
        return Ok(ExitCode::SUCCESS);
    }
    chatos_host::log_to_stderr(global.verbose);
    let beside = Beside::find(environment, global.state_dir.clone(), std::collections::BTreeMap::new())?;
    if beside.running().is_none() && !options.no_serve {
        start_host(&beside);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| {
        Fault::new(ErrorCode::Unavailable, Text::fixed("cannot start the runtime", "无法启动运行环境"))
            .caused_by(&error)
    })?;
    let line = Line::new(Arc::clone(&beside));
    runtime.block_on(Editor::serve(line, options.agent.clone(), !options.no_serve, output.lang));
    runtime.shutdown_timeout(Duration::from_millis(200));
    beside.close();
    Ok(ExitCode::SUCCESS)
}

/// A host of its own session: it outlives the program that needed it.
#[expect(clippy::disallowed_methods, reason = "the host that other programs need; nobody else starts it")]
pub(crate) fn start_host(beside: &Beside) {
    use std::os::unix::process::CommandExt;
    let Ok(program) = std::env::current_exe() else { return };
    let mut command = std::process::Command::new(program);
    command.args(["serve", "--no-open", "--state-dir"]).arg(beside.state_dir()).process_group(0);
    command
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    // Whether it came is seen when the first request looks for it.
    if let Err(error) = command.spawn() {
        tracing::warn!(%error, "no host could be started");
    }
}

fn print(editor: EditorName, global: &Global, output: &Output, options: &Acp) {
    let program =
        std::env::current_exe().map_or_else(|_| "chatos".to_owned(), |path| path.display().to_string());
    let mut args = vec!["acp".to_owned()];
    if let Some(agent) = &options.agent {
        args.extend(["--agent".to_owned(), agent.clone()]);
    }
    if let Some(dir) = &global.state_dir {
        let whole = std::path::absolute(dir).unwrap_or_else(|_| dir.clone());
        args.extend(["--state-dir".to_owned(), whole.display().to_string()]);
    }
    let entry = json!({ "command": program, "args": args, "env": {} });
    let (whole, place) = match editor {
        EditorName::Zed => (json!({ "agent_servers": { "ChatOS": entry } }), "Zed: settings.json"),
        EditorName::Jetbrains => {
            (json!({ "agent_servers": { "ChatOS": entry } }), "JetBrains: ~/.jetbrains/acp.json")
        }
    };
    output.line(&serde_json::to_string_pretty(&whole).unwrap_or_default());
    output.say(&Text::new(format!("paste into {place}"), format!("请粘贴到 {place}")));
}
