//! What a program's hook says on standard input, and what it wants to hear on standard output
//! (other-agents §6.2).
//!
//! Every program goes on by itself when its hook ends with a code it does not know, so there are two codes only:
//! 0 with an answer in its words, and 2, which is a no.

mod question;
mod tools;

use std::path::PathBuf;

use chatos_tool::{Lang, Text};
use serde_json::{Value, json};

use crate::Program;
pub use question::{Asked, SOURCE_OWNER};

/// Largest input that is read.
pub const MAX_INPUT: usize = 8 << 20;

/// A call that a program is about to make.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub program: Program,
    /// The program's own name of the moment, such as `PreToolUse`.
    pub event: String,
    pub tool: String,
    pub input: Value,
    /// The folder the program works in.
    pub cwd: PathBuf,
    /// What the program calls its session.
    pub session: String,
}

/// Why an input cannot be asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable(pub Text);

fn unreadable(en: impl Into<String>, zh: impl Into<String>) -> Unreadable {
    Unreadable(Text::new(en.into(), zh.into()))
}

impl Call {
    /// Reads what a hook was given.
    pub fn read(program: Program, input: &[u8]) -> Result<Self, Unreadable> {
        if input.len() > MAX_INPUT {
            return Err(unreadable("the input is larger than 8 MiB", "输入超过 8 MiB"));
        }
        let value: Value = serde_json::from_slice(input).map_err(|error| {
            unreadable(format!("the input is not JSON: {error}"), format!("输入不是 JSON：{error}"))
        })?;
        let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (event, tool, input, cwd, session) = match program {
            Program::Opencode => (
                "tool.execute.before".to_owned(),
                text("tool"),
                value.get("args"),
                text("directory"),
                text("sessionID"),
            ),
            _ => {
                let event = text("hook_event_name");
                (event, text("tool_name"), value.get("tool_input"), text("cwd"), text("session_id"))
            }
        };
        let known: &[&str] = match program {
            Program::Claude => &["PermissionRequest", "PreToolUse"],
            Program::Codex => &["PermissionRequest"],
            Program::Gemini => &["BeforeTool"],
            Program::Opencode => &["tool.execute.before"],
        };
        if !known.contains(&event.as_str()) {
            let (title, known) = (program.title(), known.join(", "));
            return Err(unreadable(
                format!("{title} sent the event `{event}`; only {known} is answered"),
                format!("{title} 发来了事件 `{event}`；只回答 {known}"),
            ));
        }
        if tool.is_empty() {
            return Err(unreadable("the input names no tool", "输入没有说明工具"));
        }
        let cwd = PathBuf::from(cwd);
        if !cwd.is_absolute() {
            return Err(unreadable("the input names no folder", "输入没有说明文件夹"));
        }
        let input = input.cloned().unwrap_or(Value::Null);
        Ok(Self { program, event, tool, input, cwd, session })
    }

    /// The tool of ours that does what this call does, as server and tool.
    pub fn like(&self) -> Option<(&'static str, &'static str)> {
        tools::like(self.program, &self.tool)
    }

    /// Whether a person is asked at all. Tools that only read are left to the program, and so are those of our own
    /// gateway, which asks itself, and what is a question of the program already.
    pub fn is_asked(&self, only: &[String]) -> bool {
        if tools::is_own(self.program, &self.tool) || tools::is_question(self.program, &self.tool) {
            return false;
        }
        if only.is_empty() {
            return !tools::only_reads(self.program, &self.tool);
        }
        only.iter().any(|pattern| tools::fits(pattern, &self.tool))
    }
}

/// What the program is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// A person said yes.
    Allow,
    /// No, with what the model is told.
    Deny(String),
    /// No, and the program is to stop. What has no word for that is told no.
    Stop(String),
    /// The program asks itself; where it cannot, this is a no.
    Own(String),
    /// Nothing is said: the program goes on as without us.
    None,
}

/// What the process says and how it ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// On standard output; nothing when empty.
    pub stdout: String,
    pub stderr: String,
    pub code: u8,
}

impl Answer {
    /// In the words of the program. `event` is that of the call, where it could be read.
    pub fn say(&self, program: Program, event: &str) -> Said {
        let said = |value: Value| Said { stdout: value.to_string(), stderr: String::new(), code: 0 };
        let nothing = || Said { stdout: String::new(), stderr: String::new(), code: 0 };
        let refused = |reason: &str| Said { stdout: String::new(), stderr: reason.to_owned(), code: 2 };
        let specific = |value: Value| {
            let mut value = value;
            value["hookEventName"] = json!(event);
            said(json!({ "hookSpecificOutput": value }))
        };
        let before_tool = event == "PreToolUse";
        match (program, self) {
            (Program::Claude, Self::Stop(reason)) if before_tool => said(json!({
                "continue": false, "stopReason": reason,
                "hookSpecificOutput": {
                    "permissionDecision": "deny", "permissionDecisionReason": reason, "hookEventName": event,
                },
            })),
            (Program::Claude, Self::Stop(reason)) => {
                specific(json!({ "decision": { "behavior": "deny", "message": reason, "interrupt": true } }))
            }
            (Program::Gemini, Self::Stop(reason)) => {
                said(json!({ "decision": "deny", "reason": reason, "continue": false, "stopReason": reason }))
            }
            (Program::Codex | Program::Opencode, Self::Stop(reason)) => {
                Self::Deny(reason.clone()).say(program, event)
            }
            (Program::Claude, Self::Allow) if before_tool => specific(
                json!({ "permissionDecision": "allow", "permissionDecisionReason": "approved in ChatOS" }),
            ),
            (Program::Claude, Self::Deny(reason)) if before_tool => {
                specific(json!({ "permissionDecision": "deny", "permissionDecisionReason": reason }))
            }
            (Program::Claude, Self::Own(reason)) if before_tool => {
                specific(json!({ "permissionDecision": "ask", "permissionDecisionReason": reason }))
            }
            (Program::Claude | Program::Codex, Self::Allow) => {
                specific(json!({ "decision": { "behavior": "allow" } }))
            }
            (Program::Claude | Program::Codex, Self::Deny(reason)) => {
                specific(json!({ "decision": { "behavior": "deny", "message": reason } }))
            }
            (Program::Claude | Program::Codex, Self::Own(reason)) => {
                Said { stderr: reason.clone(), ..nothing() }
            }
            (Program::Claude | Program::Codex, Self::None) => nothing(),
            (Program::Gemini, Self::Allow | Self::None) => said(json!({})),
            (Program::Gemini, Self::Deny(reason)) => said(json!({ "decision": "deny", "reason": reason })),
            (Program::Gemini, Self::Own(reason)) => said(json!({ "decision": "ask", "reason": reason })),
            (Program::Opencode, Self::Allow) => said(json!({ "decision": "allow" })),
            (Program::Opencode, Self::None) => said(json!({ "decision": "none" })),
            (Program::Opencode, Self::Deny(reason) | Self::Own(reason)) => refused(reason),
        }
    }
}

impl Said {
    /// A no without anything known of the call.
    pub fn refusal(reason: &str) -> Self {
        Self { stdout: String::new(), stderr: reason.to_owned(), code: 2 }
    }
}

/// What the model is told when a person said no.
pub fn declined(remark: Option<&str>, lang: Lang) -> String {
    let note = remark.and_then(chatos_tool::persons_note);
    match (note, lang) {
        (Some(note), Lang::En) => format!("The person declined; nothing was done. Their note: \"{note}\""),
        (Some(note), Lang::Zh) => format!("用户拒绝，未执行任何操作。备注：“{note}”"),
        (None, Lang::En) => "The person declined; nothing was done.".to_owned(),
        (None, Lang::Zh) => "用户拒绝，未执行任何操作。".to_owned(),
    }
}

#[cfg(test)]
mod tests;
