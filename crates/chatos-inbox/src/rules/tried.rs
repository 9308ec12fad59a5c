//! A call that nobody made, for asking what the rules would say about it (inbox §4.4).

use std::path::Path;

use chatos_tool::Fault;
use chatos_wire::rule::TryRules;
use serde_json::{Value, json};

/// Built-in tools whose question is about the file in their argument `path`.
const FILE_TOOLS: [&str; 3] = ["write_file", "edit_file", "delete_path"];

/// The kind and the facts of a call as it would be asked about: commands sandboxed, without network and variables.
pub(super) fn facts(wanted: &TryRules, path: &str) -> Result<(&'static str, Value), Fault> {
    let project = wanted.project.as_str();
    let root = json!({ "path": project });
    let arguments = json!(wanted.arguments);
    let command = wanted.command.as_deref().or_else(|| {
        let is_shell = wanted.tool.as_deref() == Some("run_shell_command");
        is_shell.then(|| arguments["command"].as_str()).flatten()
    });
    if let Some(command) = command {
        let facts = json!({
            "identity": "builtin:shell_tasks", "tool": "run_shell_command", "root": root,
            "command": {
                "text": command, "cwd": { "path": project }, "shell": "/bin/sh", "env": [], "network": false,
                "sandbox": { "level": "full" }, "findings": [], "writable": [project], "path": path,
            },
        });
        return Ok(("command", facts));
    }
    let (Some(server), Some(tool)) = (&wanted.server, &wanted.tool) else {
        return Err(crate::fault::wrong(
            "command",
            "",
            "a command, or a server and a tool",
            "命令，或服务与工具",
        ));
    };
    let identity = if server.contains(':') { server.clone() } else { format!("builtin:{server}") };
    if identity.starts_with("builtin:") && FILE_TOOLS.contains(&tool.as_str()) {
        let file = arguments["path"].as_str().unwrap_or_default();
        let change = match (tool.starts_with("delete"), Path::new(project).join(file).exists()) {
            (true, _) => "deleted",
            (false, true) => "modified",
            (false, false) => "created",
        };
        let files = json!([{ "path": file, "change": change }]);
        return Ok((
            "file_change",
            json!({ "identity": identity, "tool": tool, "root": root, "files": files }),
        ));
    }
    let arguments = wanted.arguments.clone().unwrap_or_default();
    Ok(("tool_approval", json!({ "identity": identity, "tool": tool, "root": root, "arguments": arguments })))
}
