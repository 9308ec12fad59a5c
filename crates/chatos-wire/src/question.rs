//! What is asked, by kind, and what an answer says (ui-prompts §5, §6).
//!
//! Any program may put a line into the log, and what it adds to a question is kept as it is. So bodies carry the
//! object itself ([`PromptBody`], [`PromptResponse`]); the types here say what it holds when the host could read it,
//! and are what OpenAPI and the page are made from.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::described::JsonSchema;
use crate::words::words;

words! {
    /// How a question ended, as every reader understands it.
    AnswerStatus {
        Ok = "ok",
        Canceled = "canceled",
        Timeout = "timeout",
        /// Not confirmed: an error, or a word nobody knows.
        Error = "error",
    }
}

words! {
    /// How soon a task is wanted.
    DraftPriority {
        High = "high",
        Medium = "medium",
        Low = "low",
    }
}

words! {
    /// Where a task stands.
    DraftStatus {
        Todo = "todo",
        Doing = "doing",
        Blocked = "blocked",
        Done = "done",
    }
}

words! {
    /// The word of its kind.
    KvWord {
        Kv = "kv",
    }
}

words! {
    /// The word of its kind.
    ChoiceWord {
        Choice = "choice",
    }
}

words! {
    /// The word of its kind.
    TaskConfirmWord {
        TaskConfirm = "task_confirm",
    }
}

words! {
    /// The word of its kind.
    FileChangeConfirmWord {
        FileChangeConfirm = "file_change_confirm",
    }
}

words! {
    /// The word of its kind.
    ResultWord {
        Result = "result",
    }
}

/// A question as views carry it: a [`PromptForm`], or a [`PromptSummary`] where the view is partial, has no content or
/// has a problem. Members that no kind knows are those of whoever asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PromptBody(pub Map<String, Value>);

impl PromptBody {
    /// The question by its kind. `None`: it cannot be drawn, or only its summary is here.
    pub fn form(&self) -> Option<PromptForm> {
        serde_json::from_value(Value::Object(self.0.clone())).ok()
    }
}

/// A question that can be drawn and answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum PromptForm {
    /// A form of named texts.
    Kv(KvForm),
    /// One or several of a list.
    Choice(ChoiceForm),
    /// Tasks, to be changed and agreed to.
    TaskConfirm(TaskForm),
    /// A difference or a command, to be approved before it happens.
    FileChangeConfirm(ChangeForm),
    /// A text to read.
    Result(ResultForm),
}

/// What every kind may have.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FormHead {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Who asks, in its own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Absent: it may be dismissed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_cancel: Option<bool>,
    /// 0: it waits for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Questions that belong together, one after the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chain: Option<FormChain>,
    /// The words in each language, where the host asks; as given where somebody else does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<Value>,
    /// Which part of the text is here and which files nobody can show; as the asker gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff_ref: Option<Value>,
    /// What a tool would be called with; as the asker gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// The schema an MCP server asked with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_schema: Option<Value>,
}

/// Where a question stands among those that follow one another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FormChain {
    pub id: String,
    /// From 1.
    pub step: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<f64>,
}

/// `kv`: a form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KvForm {
    pub kind: KvWord,
    #[serde(flatten)]
    pub head: FormHead,
    /// At least one, each key once.
    pub fields: Vec<KvFormField>,
}

/// A field of a form.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KvFormField {
    pub key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<String>,
    /// Never of a secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multiline: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<bool>,
}

/// `choice`: a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChoiceForm {
    pub kind: ChoiceWord,
    #[serde(flatten)]
    pub head: FormHead,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multiple: Option<bool>,
    /// At least one, each value once.
    pub options: Vec<ChoiceOption>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Chosen>,
    /// A number where several may be chosen; means nothing otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_selections: Option<Value>,
    /// A number where several may be chosen; means nothing otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_selections: Option<Value>,
    /// The page a person is asked to open; as the asker gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<Value>,
}

/// One of a list.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChoiceOption {
    pub value: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// One value, or several where several may be chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Chosen {
    One(String),
    Several(Vec<String>),
}

/// `task_confirm`: tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskForm {
    pub kind: TaskConfirmWord,
    #[serde(flatten)]
    pub head: FormHead,
    pub tasks: Vec<TaskDraft>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_remark: Option<String>,
}

/// A task to be agreed to; members besides these are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskDraft {
    pub draft_id: String,
    pub title: String,
    pub details: String,
    pub priority: DraftPriority,
    pub status: DraftStatus,
    pub tags: Vec<String>,
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// `file_change_confirm`: a difference or a command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangeForm {
    pub kind: FileChangeConfirmWord,
    #[serde(flatten)]
    pub head: FormHead,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_remark: Option<String>,
}

/// `result`: the first of `markdown`, `result` and `content` that is a text, else the first that is an object or a
/// list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResultForm {
    pub kind: ResultWord,
    #[serde(flatten)]
    pub head: FormHead,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub markdown: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
}

/// What is left of a question without its content.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptSummary {
    /// As written, also when it is none of the known kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_cancel: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field_count: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option_count: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multiple: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_selections: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_selections: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_count: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_bytes: Option<u64>,
}

/// An answer as views carry it: a [`ResponseForm`] where this host recorded it; of an answer that another program wrote
/// into the log, whatever that program wrote.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PromptResponse(pub Map<String, Value>);

impl PromptResponse {
    /// What it says. `None`: another program wrote something else.
    pub fn form(&self) -> Option<ResponseForm> {
        serde_json::from_value(Value::Object(self.0.clone())).ok()
    }
}

/// What an answer says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResponseForm {
    pub status: AnswerStatus,
    /// Of a form, by key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<BTreeMap<String, String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<Chosen>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<Vec<TaskDraft>>,
    /// A note to whoever asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
    /// What the person wrote instead of what was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<EditedCall>,
    /// The person agreed to content that no surface could show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without_seeing: Option<bool>,
    /// The host answered it itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto: Option<bool>,
    /// A no that was said, instead of a question that was put away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declined: Option<bool>,
    /// The run that asked ends with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// How many values there were, where the content was not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value_count: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection_count: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_count: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub has_remark: Option<bool>,
}

/// What a person wrote instead of what was asked: another command, or other arguments.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EditedCall {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Map<String, Value>>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn body(value: Value) -> PromptBody {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_question_is_read_by_its_kind_and_carried_as_it_is() {
        for (value, is_form) in [
            (
                json!({"kind":"kv","title":"T","fields":[{"key":"a","secret":true,"mine":1}],"x":{"y":null}}),
                true,
            ),
            (json!({"kind":"choice","options":[{"value":"a"}],"default":"a","minSelections":"any"}), true),
            (
                json!({"kind":"choice","multiple":true,"options":[{"value":"a"}],"default":["a"],"maxSelections":1}),
                true,
            ),
            (
                json!({"kind":"task_confirm","tasks":[{"draftId":"d","title":"","details":"","priority":"low",
                    "status":"todo","tags":["t"],"mine":[1]}],"defaultRemark":"r"}),
                true,
            ),
            (json!({"kind":"file_change_confirm","command":"ls","diffRef":5,"allowCancel":false}), true),
            (json!({"kind":"result","content":{"a":1},"timeoutMs":0,"chain":{"id":"c","step":1}}), true),
            (json!({"kind":"kv","title":"T","allowCancel":true,"fieldCount":2}), false),
            (json!({"kind":"mine","title":null,"fields":7}), false),
            (json!({}), false),
        ] {
            let body = body(value.clone());
            assert_eq!(body.form().is_some(), is_form, "{value}");
            assert_eq!(json!(body), value);
        }
    }

    #[test]
    fn an_answer_of_another_program_stays_what_it_is() {
        let ours = json!({"status":"ok","selection":["a","b"],"edited":{"command":"ls"},"remark":"r"});
        let read: PromptResponse = serde_json::from_value(ours.clone()).unwrap();
        let form = read.form().unwrap();
        assert_eq!(form.selection, Some(Chosen::Several(vec!["a".to_owned(), "b".to_owned()])));
        assert_eq!(json!(form), ours);
        let theirs = json!({"status":"whatever","values":[1,null],"remark":{}});
        let read: PromptResponse = serde_json::from_value(theirs.clone()).unwrap();
        assert!(read.form().is_none());
        assert_eq!(json!(read), theirs);
    }
}
