//! Proposed tasks, the question about them, and what the person made of them (tools §15).

use chatos_layer::consent::Consent;
use chatos_layer::person::{self, Question};
use chatos_layer::{CallCx, Caller};
use chatos_store::NewTask;
use chatos_tool::{Lang, Text, ToolError};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// What the person changed.
#[derive(Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(super) struct UserChanges {
    added: Vec<Titled>,
    removed: Vec<Titled>,
    modified: Vec<Modified>,
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub(super) struct Titled {
    title: String,
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub(super) struct Modified {
    before: Titled,
    after: Titled,
}

impl UserChanges {
    /// The lines of the text.
    pub(super) fn lines(&self, lang: Lang) -> String {
        let titles =
            |tasks: &[Titled]| tasks.iter().map(|task| task.title.as_str()).collect::<Vec<_>>().join("; ");
        let mut text = String::new();
        let mut line = |en: &str, zh: &str, what: String| {
            if !what.is_empty() {
                text.push_str(&match lang {
                    Lang::En => format!("\n{en}: {what}"),
                    Lang::Zh => format!("\n{zh}：{what}"),
                });
            }
        };
        line("User added", "用户新增任务", titles(&self.added));
        line("User removed", "用户删除任务", titles(&self.removed));
        let modified: Vec<String> =
            self.modified.iter().map(|m| format!("{} -> {}", m.before.title, m.after.title)).collect();
        line("User changed", "用户变更任务", modified.join("; "));
        text
    }
}

/// Shows the tasks to the person; gives the list to create, which is theirs in content and order.
pub(super) async fn confirm(
    cx: &CallCx,
    caller: Caller,
    proposed: Vec<NewTask>,
) -> Result<(Vec<NewTask>, UserChanges, Consent), ToolError> {
    let title = match caller {
        Caller::Main => Text::fixed("Confirm main tasks", "主流程任务创建确认"),
        Caller::Subagent => Text::fixed("Confirm subagent tasks", "子流程任务创建确认"),
    };
    let drafts: Vec<Value> = proposed
        .iter()
        .enumerate()
        .map(|(index, task)| {
            json!({
                "draftId": draft_id(index, task),
                "title": task.title,
                "details": task.details,
                "priority": task.priority,
                "status": task.status,
                "tags": task.tags,
            })
        })
        .collect();
    let mut prompt = json!({
        "kind": "task_confirm",
        "title": title.get(cx.lang),
        "allowCancel": true,
        "source": caller.as_str(),
        "tasks": &drafts,
    });
    if cx.settings.confirm_timeout_ms > 0 {
        prompt["timeoutMs"] = json!(cx.settings.confirm_timeout_ms);
    }
    let mut question = Question::check(cx.server, cx.tool, &prompt).map_err(|problems| {
        ToolError::invalid(problems.iter().map(|problem| person::issue(problem, str::to_owned)).collect())
    })?;
    // tools §15: the source of this question says which flow asks.
    caller.as_str().clone_into(&mut question.source);
    let effect = cx.effect("tasks").with("caller", json!(caller.as_str())).with("tasks", json!(drafts));
    question.effect = Some(effect.clone());
    let agreed = person::ask(cx, question).await?;
    let consent = Consent::of(&agreed);
    // What is proposed cannot change under the answer; the answer is used once all the same.
    if person::use_approval(cx, &agreed, &effect, &effect).await?.is_none() {
        return Err(person::changed_meanwhile());
    }
    let answered = agreed.response.get("tasks").and_then(Value::as_array).cloned().unwrap_or_default();
    let (tasks, changes) = compare(proposed, &answered);
    Ok((tasks, changes, consent))
}

/// The person's list as tasks, and how it differs from the proposal.
fn compare(proposed: Vec<NewTask>, answered: &[Value]) -> (Vec<NewTask>, UserChanges) {
    let mut rest: Vec<(String, NewTask)> =
        proposed.into_iter().enumerate().map(|(index, task)| (draft_id(index, &task), task)).collect();
    let (mut tasks, mut changes) = (Vec::with_capacity(answered.len()), UserChanges::default());
    for answer in answered {
        let text = |key: &str| answer.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let or = |text: String, fallback: &str| if text.is_empty() { fallback.to_owned() } else { text };
        let tags = answer.get("tags").and_then(Value::as_array).into_iter().flatten();
        let mut task = NewTask {
            title: text("title"),
            details: text("details"),
            priority: or(text("priority"), "medium"),
            status: or(text("status"), "todo"),
            tags: tags.filter_map(Value::as_str).map(str::to_owned).collect(),
            dedupe_key: None,
        };
        let id = text("draftId");
        match rest.iter().position(|(own, _)| *own == id) {
            Some(at) => {
                let (_, before) = rest.remove(at);
                task.dedupe_key.clone_from(&before.dedupe_key);
                if task != before {
                    changes.modified.push(Modified {
                        before: Titled { title: before.title },
                        after: Titled { title: task.title.clone() },
                    });
                }
            }
            None => changes.added.push(Titled { title: task.title.clone() }),
        }
        tasks.push(task);
    }
    changes.removed = rest.into_iter().map(|(_, task)| Titled { title: task.title }).collect();
    (tasks, changes)
}

/// The same proposal has the same ids, so that a call that comes again asks the same question.
fn draft_id(index: usize, task: &NewTask) -> String {
    let mut hash = Sha256::new();
    hash.update((index as u64).to_le_bytes());
    for part in [&task.title, &task.details, &task.priority, &task.status, &task.tags.join("\u{1f}")] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash.finalize()[..16]);
    uuid::Builder::from_custom_bytes(bytes).into_uuid().to_string()
}
