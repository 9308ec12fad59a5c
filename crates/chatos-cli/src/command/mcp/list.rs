//! `chatos mcp list`: every built-in server with its tools, as clients get them.

use std::process::ExitCode;

use chatos_builtin as builtin;
use chatos_desk::Beside;
use chatos_layer::{Access, ServerEnv};
use chatos_paths::Environment;
use chatos_tool::Fault;
use serde_json::{Value, json};

use super::{client_lang, spoken};
use crate::args::Global;
use chatos_terminal::client::state_path;
use chatos_terminal::output::{Output, Paint, pad, width};

pub(super) fn run(global: &Global, environment: Environment, output: &Output) -> Result<ExitCode, Fault> {
    // Everything a server can offer; building it opens nothing.
    let state_dir = state_path(global, &environment).unwrap_or_default();
    let beside = Beside::find(environment, global.state_dir.clone(), spoken(global).into_iter().collect())?;
    let lang = client_lang(&beside);
    beside.close();
    let env = ServerEnv { write: true, state_dir: Some(state_dir), ..ServerEnv::default() };
    let servers: Vec<_> =
        builtin::server_names().filter_map(|name| builtin::find_server(name, &env)).collect();
    if output.json {
        let servers: Vec<Value> = servers
            .iter()
            .map(|server| {
                let info = server.info();
                json!({
                    "name": info.name, "id": info.id, "title": info.title.get(lang),
                    "instructions": info.instructions.get(lang), "needsRoot": info.needs_root,
                    "tools": server.definitions(&Access::All, lang),
                })
            })
            .collect();
        output.json_line(&json!({ "servers": servers }));
        return Ok(ExitCode::SUCCESS);
    }
    for server in &servers {
        let info = server.info();
        output.line(&format!("{}  {}", output.paint(Paint::Bold, info.name), info.title.get(lang)));
        let tools = server.definitions(&Access::All, lang);
        let name = |tool: &Value| tool["name"].as_str().unwrap_or_default().to_owned();
        let widest = tools.iter().map(|tool| width(&name(tool))).max().unwrap_or_default();
        for tool in &tools {
            let hint = |key: &str| tool["annotations"][key] == true;
            let mark = match (hint("readOnlyHint"), hint("destructiveHint")) {
                (true, _) => "r",
                (_, true) => "!",
                _ => "·",
            };
            let title = tool["title"].as_str().unwrap_or_default();
            output.line(&format!(
                "  {mark} {}  {}",
                pad(&name(tool), widest),
                output.paint(Paint::Dim, title)
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}
