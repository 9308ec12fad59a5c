//! A person's agreement to a change of files, asked before anything happens (tools §15).
//!
//! Used by every server that changes files; how a person is reached is `person`'s matter.

use chatos_tool::{Lang, Text, ToolError};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::context::CallCx;
use crate::person::{self, Question};

/// tools §15: characters of a diff in a question.
const DIFF_CHARS: usize = 60_000;

/// What a person is asked to agree to.
#[derive(Debug, Clone)]
pub(crate) struct Change<'a> {
    /// The path, or the first of several.
    pub(crate) path: &'a str,
    /// Everything that changes.
    pub(crate) diff: &'a str,
    /// Totals and reasons, one line each.
    pub(crate) message: Text,
}

/// A command a person is asked to agree to; shown exactly as it would run.
#[derive(Debug, Clone)]
pub(crate) struct Command<'a> {
    /// The command.
    pub(crate) command: &'a str,
    /// Where it would run, relative to the root.
    pub(crate) cwd: &'a str,
    /// Why it is asked and what was seen in it, one line each.
    pub(crate) message: Text,
}

/// The part of `data` that says what the person said.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub(crate) struct Consent {
    /// A person agreed to this call
    pub(crate) confirmed: bool,
    /// The question in the queue
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) request_id: Option<String>,
    /// What the person remarked
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) remark: Option<String>,
}

impl Consent {
    /// The remark as a line of the text.
    pub(crate) fn line(&self, lang: Lang) -> String {
        match (&self.remark, lang) {
            (None, _) => String::new(),
            (Some(remark), Lang::En) => format!("\nUser remark: {remark}"),
            (Some(remark), Lang::Zh) => format!("\n用户备注：{remark}"),
        }
    }
}

/// Asks and waits for a yes. Anything else is an error, and nothing has happened then.
pub(crate) async fn file_change(cx: &CallCx, change: Change<'_>) -> Result<Consent, ToolError> {
    let (diff, cut) = cut_at_hunk(change.diff);
    let mut message = change.message.get(cx.lang).to_owned();
    if cut > 0 {
        message.push_str(&match cx.lang {
            Lang::En => format!("\nThe diff is cut: {cut} more lines are not shown here."),
            Lang::Zh => format!("\n差异已截断：另有 {cut} 行未在此显示。"),
        });
    }
    ask(cx, &message, json!({ "path": change.path, "diff": diff })).await
}

/// Asks for a command and waits for a yes. Anything else is an error, and nothing has run then.
pub(crate) async fn command(cx: &CallCx, command: Command<'_>) -> Result<Consent, ToolError> {
    let what = json!({ "command": command.command, "cwd": command.cwd });
    ask(cx, command.message.get(cx.lang), what).await
}

async fn ask(cx: &CallCx, message: &str, what: Value) -> Result<Consent, ToolError> {
    let title = Text::fixed("File change confirmation", "文件变更确认");
    let mut prompt = json!({
        "kind": "file_change_confirm",
        "title": title.get(cx.lang),
        "message": message,
        "allowCancel": true,
    });
    if let (Some(prompt), Value::Object(what)) = (prompt.as_object_mut(), what) {
        prompt.extend(what);
    }
    if cx.settings.confirm_timeout_ms > 0 {
        prompt["timeoutMs"] = json!(cx.settings.confirm_timeout_ms);
    }
    let question = Question::check(cx.server, cx.tool, &prompt).map_err(|problems| {
        ToolError::invalid(problems.iter().map(|problem| person::issue(problem, str::to_owned)).collect())
    })?;
    let agreed = person::ask(cx, question).await?;
    let remark = agreed.response.get("remark").and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    Ok(Consent {
        confirmed: true,
        request_id: Some(agreed.request_id.as_str().to_owned()),
        remark: remark.map(str::to_owned),
    })
}

/// The diff up to the last hunk that fits, and how many lines are left out.
fn cut_at_hunk(diff: &str) -> (&str, usize) {
    let Some((end, _)) = diff.char_indices().nth(DIFF_CHARS) else { return (diff, 0) };
    let head = &diff[..end];
    let hunk = head.rfind("\n@@ ").or_else(|| head.rfind("\n--- "));
    let at = hunk.or_else(|| head.rfind('\n')).map_or(end, |at| at + 1);
    // A first hunk that is too long by itself is shown as far as it goes.
    let at = if at < end / 2 { head.rfind('\n').map_or(end, |at| at + 1) } else { at };
    (&diff[..at], diff[at..].lines().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_diff_is_cut_at_a_hunk_and_counted() {
        assert_eq!(cut_at_hunk("--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n").1, 0);
        let hunk = format!("@@ -1 +1 @@\n{}", "+line of text\n".repeat(1000));
        let diff = format!("--- a\n+++ b\n{}", hunk.repeat(10));
        let (head, left) = cut_at_hunk(&diff);
        assert!(head.ends_with("+line of text\n") && head.chars().count() <= DIFF_CHARS);
        assert_eq!(head.lines().count() + left, diff.lines().count());
        assert!(diff[head.len()..].starts_with("@@ -1 +1 @@"));
        let single = format!("@@ -1 +1 @@\n{}", "+line of text\n".repeat(10_000));
        assert!(cut_at_hunk(&single).0.chars().count() > DIFF_CHARS - 100);
    }
}
