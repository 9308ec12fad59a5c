//! The tools of each program: which only read, which run commands, which change files.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::Program;

/// Tools that change nothing and reach nobody.
pub(super) fn only_reads(program: Program, tool: &str) -> bool {
    let names: &[&str] = match program {
        Program::Claude => &[
            "Read",
            "Glob",
            "Grep",
            "LS",
            "LSP",
            "NotebookRead",
            "TodoRead",
            "TodoWrite",
            "TaskList",
            "TaskGet",
            "TaskOutput",
            "ToolSearch",
            "BashOutput",
            "ListMcpResourcesTool",
            "EnterPlanMode",
        ],
        Program::Codex => &["update_plan", "view_image", "list_mcp_resources"],
        Program::Gemini => &[
            "read_file",
            "read_many_files",
            "list_directory",
            "glob",
            "search_file_content",
            "grep_search",
            "write_todos",
            "get_internal_docs",
            "codebase_investigator",
        ],
        Program::Opencode => &["read", "glob", "grep", "list", "todoread", "todowrite", "lsp", "skill"],
    };
    names.contains(&tool)
}

/// Tools of our own gateway, as programs name those of a server called `chatos`.
pub(super) fn is_own(program: Program, tool: &str) -> bool {
    let prefix = match program {
        Program::Claude | Program::Codex => "mcp__chatos__",
        Program::Gemini => "mcp_chatos_",
        Program::Opencode => "chatos_",
    };
    tool.starts_with(prefix)
}

/// What already is a question of the program to its person.
pub(super) fn is_question(program: Program, tool: &str) -> bool {
    match program {
        Program::Claude => tool == "AskUserQuestion" || tool == "ExitPlanMode",
        Program::Codex => tool == "request_user_input",
        Program::Gemini => tool == "ask_user" || tool == "exit_plan_mode",
        Program::Opencode => tool == "question" || tool == "plan_exit",
    }
}

/// The tool of ours that does the same, as server and tool: what a permissions profile says of it counts for the
/// program's own. `None` where we have none like it.
pub(super) fn like(program: Program, tool: &str) -> Option<(&'static str, &'static str)> {
    if only_reads(program, tool) {
        return Some(("project_files", "read_file"));
    }
    let (commands, changes): (&[&str], &[&str]) = match program {
        Program::Claude => (&["Bash"], &["Write", "Edit", "MultiEdit", "NotebookEdit"]),
        Program::Codex => {
            (&["Bash", "shell", "exec_command", "local_shell"], &["apply_patch", "Edit", "Write"])
        }
        Program::Gemini => (&["run_shell_command"], &["write_file", "replace", "edit"]),
        Program::Opencode => (&["bash"], &["write", "edit", "multiedit", "patch", "apply_patch"]),
    };
    if commands.contains(&tool) {
        return Some(("shell_tasks", "run_shell_command"));
    }
    changes.contains(&tool).then_some(("code_writer", "write_file"))
}

/// `*` stands for any text.
pub(super) fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// What a call is about, as a person wants to see it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Subject {
    Command {
        text: String,
        cwd: PathBuf,
    },
    /// One file: its content now and afterwards. `None` is a file that is not there; no `after`: it is not known.
    File {
        path: PathBuf,
        before: Option<Vec<u8>>,
        after: Option<Vec<u8>>,
    },
    /// A patch in the program's own form.
    Patch(String),
    /// Anything else: its arguments.
    Other,
}

/// Largest file that is compared.
const MAX_FILE: u64 = 5 << 20;

pub(super) fn subject(tool: &str, input: &Value, cwd: &Path) -> Subject {
    let text = |keys: &[&str]| keys.iter().find_map(|key| input.get(*key).and_then(Value::as_str));
    match tool {
        "Bash" | "bash" | "shell" | "local_shell" | "exec_command" | "run_shell_command" | "unified_exec" => {
            let Some(command) = command(input) else { return Subject::Other };
            let folder = text(&["workdir", "cwd", "dir_path", "directory"]);
            Subject::Command {
                text: command,
                cwd: folder.map_or_else(|| cwd.to_owned(), |dir| cwd.join(dir)),
            }
        }
        "apply_patch" => match text(&["command", "patch", "patchText", "input"]) {
            Some(patch) => Subject::Patch(patch.to_owned()),
            None => Subject::Other,
        },
        "Write" | "write" | "write_file" => {
            let (Some(path), Some(content)) = (text(&["file_path", "filePath", "path"]), text(&["content"]))
            else {
                return Subject::Other;
            };
            let path = cwd.join(path);
            let before = read(&path);
            Subject::File { path, before, after: Some(content.as_bytes().to_vec()) }
        }
        "Edit" | "edit" | "replace" | "MultiEdit" => edit(input, cwd).unwrap_or(Subject::Other),
        _ => Subject::Other,
    }
}

/// A command as one line of text, however the program gives it.
fn command(input: &Value) -> Option<String> {
    match input.get("command").or_else(|| input.get("cmd"))? {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            match words.as_slice() {
                [] => None,
                // A shell and its one line.
                [shell, flag, line] if shell.ends_with("sh") && flag.starts_with('-') => {
                    Some((*line).to_owned())
                }
                words => Some(words.join(" ")),
            }
        }
        _ => None,
    }
}

fn edit(input: &Value, cwd: &Path) -> Option<Subject> {
    let text = |value: &Value, keys: [&str; 2]| {
        keys.iter().find_map(|key| value.get(*key).and_then(Value::as_str)).map(str::to_owned)
    };
    let path = cwd.join(text(input, ["file_path", "filePath"])?);
    let before = read(&path);
    let single = std::slice::from_ref(input);
    let edits = input.get("edits").and_then(Value::as_array).map_or(single, Vec::as_slice);
    let mut content = String::from_utf8(before.clone().unwrap_or_default()).ok()?;
    for edit in edits {
        let (old, new) = (text(edit, ["old_string", "oldString"])?, text(edit, ["new_string", "newString"])?);
        let all = edit.get("replace_all").or_else(|| edit.get("replaceAll")) == Some(&Value::Bool(true));
        if old.is_empty() && content.is_empty() {
            content = new;
        } else if old.is_empty() || !content.contains(&old) {
            // The program finds the place by rules of its own: the arguments are shown as they are.
            return None;
        } else if all {
            content = content.replace(&old, &new);
        } else {
            content = content.replacen(&old, &new, 1);
        }
    }
    Some(Subject::File { path, before, after: Some(content.into_bytes()) })
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let small = std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() <= MAX_FILE);
    if small { std::fs::read(path).ok() } else { None }
}
