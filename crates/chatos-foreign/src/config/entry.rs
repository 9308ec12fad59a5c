//! Our entry, as each program wants it (other-agents §6.3).

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::Program;

/// How the file for opencode begins.
pub(super) const PLUGIN_MARK: &str = "// chatos hook opencode";
const PLUGIN: &str = include_str!("opencode.js");

/// The command a hook runs.
#[derive(Debug, Clone)]
pub struct Command {
    /// This program, by its full path.
    pub program: PathBuf,
    /// `--state-dir`, where it is not the default one.
    pub state_dir: Option<PathBuf>,
    /// How long a person is waited for, in seconds.
    pub wait_s: u64,
    /// `--agent`: whose permissions profile counts first.
    pub agent: Option<String>,
}

/// Our entry for a program.
#[derive(Debug, Clone)]
pub struct Entry {
    program: Program,
    command: Command,
    /// Claude Code: every call that matches, and not only those it would ask about.
    every_call: bool,
}

impl Entry {
    pub fn new(program: Program, command: Command, every_call: bool) -> Self {
        Self { program, command, every_call }
    }

    /// The words of the command.
    fn words(&self) -> Vec<String> {
        let mut words = vec![
            self.command.program.display().to_string(),
            "hook".to_owned(),
            self.program.word().to_owned(),
        ];
        words.extend(["--wait".to_owned(), format!("{}s", self.command.wait_s)]);
        if let Some(agent) = &self.command.agent {
            words.extend(["--agent".to_owned(), agent.clone()]);
        }
        if let Some(dir) = &self.command.state_dir {
            words.extend(["--state-dir".to_owned(), dir.display().to_string()]);
        }
        words
    }

    /// The line a shell runs.
    fn line(&self) -> String {
        self.words().iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }

    /// The moment the program calls us at.
    pub fn event(&self) -> &'static str {
        match self.program {
            Program::Claude if self.every_call => "PreToolUse",
            Program::Claude | Program::Codex => "PermissionRequest",
            Program::Gemini => "BeforeTool",
            Program::Opencode => "tool.execute.before",
        }
    }

    /// The element of the list of that moment.
    pub fn value(&self) -> Value {
        let line = self.line();
        // The program gives up a minute after us.
        let limit = self.command.wait_s + 60;
        match self.program {
            Program::Claude if self.every_call => json!({
                "matcher": "Bash|Write|Edit|MultiEdit|NotebookEdit|WebFetch|mcp__.*",
                "hooks": [{ "type": "command", "command": line, "timeout": limit }],
            }),
            Program::Claude => {
                json!({ "matcher": "*", "hooks": [{ "type": "command", "command": line, "timeout": limit }] })
            }
            Program::Codex => json!({
                "matcher": "*",
                "hooks": [{ "type": "command", "command": line, "timeout": limit, "statusMessage": "waiting for ChatOS" }],
            }),
            Program::Gemini => json!({
                "matcher": "run_shell_command|write_file|replace|web_fetch|mcp_.*",
                "hooks": [{ "name": "chatos", "type": "command", "command": line, "timeout": limit * 1_000 }],
            }),
            Program::Opencode => Value::Null,
        }
    }

    /// What `--print` prints: the text of the file, with nothing else in it.
    pub fn text(&self) -> String {
        if self.program == Program::Opencode {
            let words = serde_json::to_string(&self.words()).unwrap_or_default();
            return PLUGIN.replace("__COMMAND__", &words);
        }
        let whole = json!({ "hooks": { self.event(): [self.value()] } });
        serde_json::to_string_pretty(&whole).unwrap_or_default()
    }
}

/// Whether a command line is one of ours.
pub(super) fn is_ours(line: &str) -> bool {
    let Some((program, rest)) = line.split_once(" hook ") else { return false };
    let name = program.trim_end_matches('\'').rsplit('/').next().unwrap_or_default();
    let word = rest.split_whitespace().next().unwrap_or_default();
    name.trim_start_matches('\'').starts_with("chatos")
        && Program::ALL.iter().any(|program| program.word() == word)
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | '=' | ':');
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
