//! The server `ui_prompter`: asks the person for values or a choice (servers §8).

mod choices;
mod key_values;

use chatos_layer::person::{self, Question};
use chatos_layer::{Server, ServerInfo};
use chatos_prompts::RequestId;
use chatos_tool::{Issue, Lang, Text};
use serde_json::{Map, Value, json};

/// Identity, limits and texts.
pub static INFO: ServerInfo = ServerInfo {
    name: person::UI_PROMPTER,
    id: "bdc91c89-b9d8-44d2-a572-5afa9c0cccb9",
    title: Text::fixed("Ask the person", "询问用户"),
    instructions: Text::fixed(
        "Asks the human in front of this machine. Questions appear in the ChatOS hub and in `chatos prompts`; a call \
         returns when the person answered, declined, or the time given was over. Ask only for what you cannot find \
         out yourself, put everything for one decision into one question, and never guess an answer.",
        "向本机前的用户提问。问题会出现在 ChatOS 的交互中心和 `chatos prompts` 中；用户回答、拒绝或超时后调用才会返回。\
         只询问自己无法得知的内容，把同一个决定所需的信息放进一个问题，切勿猜测答案。",
    ),
    needs_root: false,
    slots: 64,
    waits_hold_slot: true,
};

/// The server with its tools.
pub fn server() -> Server {
    Server::new(&INFO).with(key_values::PromptKeyValues).with(choices::PromptChoices)
}

/// Longest texts of a question. The queue takes more; a person does not read more.
const TITLE_CHARS: u32 = 200;
const MESSAGE_CHARS: u32 = 20_000;

/// The parts both kinds of question share, in the order the queue writes them.
fn prompt(kind: &str, title: &str, message: &str, allow_cancel: bool, timeout_ms: u32) -> Map<String, Value> {
    let mut prompt = Map::new();
    prompt.insert("kind".to_owned(), json!(kind));
    put_text(&mut prompt, "title", title);
    put_text(&mut prompt, "message", message);
    if !allow_cancel {
        prompt.insert("allowCancel".to_owned(), json!(false));
    }
    if timeout_ms > 0 {
        prompt.insert("timeoutMs".to_owned(), json!(timeout_ms));
    }
    prompt
}

fn put_text(map: &mut Map<String, Value>, key: &str, text: &str) {
    if !text.is_empty() {
        map.insert(key.to_owned(), json!(text));
    }
}

/// Checks a question by the queue's rules; problems point to the tool's own arguments.
fn question(tool: &str, prompt: Map<String, Value>) -> Result<Question, Vec<Issue>> {
    Question::check(INFO.name, tool, &Value::Object(prompt))
        .map_err(|problems| problems.iter().map(|problem| person::issue(problem, argument)).collect())
}

/// `/prompt/minSelections` → `/min_selections`.
fn argument(pointer: &str) -> String {
    let mut place = String::with_capacity(pointer.len());
    for c in pointer.strip_prefix("/prompt").unwrap_or(pointer).chars() {
        if c.is_ascii_uppercase() {
            place.push('_');
        }
        place.push(c.to_ascii_lowercase());
    }
    place
}

/// `requestId=…` and `status=ok`, the head of every answer's text.
fn head(id: &RequestId) -> String {
    format!("requestId={id}\nstatus=ok\n")
}

/// A value on its line; further lines are indented, so that they cannot be taken for other entries.
fn entry(name: &str, value: &str) -> String {
    format!("- {}: {}\n", name.replace('\n', " "), value.replace('\n', "\n  "))
}

fn remark_line(remark: &str, lang: Lang) -> String {
    match lang {
        Lang::En => format!("User remark: {remark}\n"),
        Lang::Zh => format!("用户备注：{remark}\n"),
    }
}

#[cfg(test)]
mod tests;
