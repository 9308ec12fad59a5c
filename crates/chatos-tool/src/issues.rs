//! What is wrong with a payload, all of it at once, with pointers to the places.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::error_code::ErrorCode;
use crate::fault::Fault;
use crate::text::Text;
use crate::validation::nearest;

/// Problems with a payload, reported together with JSON pointers.
#[derive(Default)]
pub struct Issues(Vec<Value>, Option<Text>);

impl Issues {
    /// Adds one; the first is the message of the fault.
    pub fn add(&mut self, path: &str, code: &str, en: &str, zh: &str) {
        self.0.push(json!({ "path": path, "code": code, "message": en }));
        self.1.get_or_insert_with(|| Text::new(format!("{path}: {en}"), format!("{path}：{zh}")));
    }

    /// A title must be there and not be endless.
    pub fn title(&mut self, path: &str, title: &str) {
        if title.trim().is_empty() {
            self.add(path, "missing", "a title is needed", "需要填写标题");
        }
        self.longest(path, title, 300);
    }

    /// A text of at most `most` characters.
    pub fn longest(&mut self, path: &str, text: &str, most: usize) {
        if text.chars().count() > most {
            self.add(path, "length", &format!("at most {most} characters"), &format!("最多 {most} 个字符"));
        }
    }

    /// A word of a closed list.
    pub fn one_of(&mut self, path: &str, word: &str, words: &[&str]) {
        if !words.contains(&word) {
            let all = words.join(", ");
            self.add(path, "enum", &format!("use one of {all}"), &format!("请使用以下之一：{all}"));
        }
    }

    /// A list of tags.
    pub fn tags(&mut self, path: &str, tags: &[String]) {
        if tags.len() > 20 || tags.iter().any(|tag| tag.trim().is_empty() || tag.chars().count() > 64) {
            self.add(
                path,
                "length",
                "at most 20 tags of 1 to 64 characters",
                "最多 20 个标签，每个 1 到 64 个字符",
            );
        }
    }

    /// A text that must be there, at most `most` characters.
    pub fn needed(&mut self, path: &str, text: &str, most: usize) {
        if text.trim().is_empty() {
            self.add(path, "missing", "a value is needed", "需要填写");
        }
        self.longest(path, text, most);
    }

    /// A list of references: not endless, nothing blank.
    pub fn references(&mut self, path: &str, list: &[String], most: usize) {
        if list.len() > most {
            self.add(path, "length", &format!("at most {most} entries"), &format!("最多 {most} 项"));
        }
        for (index, text) in list.iter().enumerate() {
            self.needed(&format!("{path}/{index}"), text, 256);
        }
    }

    /// The fault with all of them, if there is one.
    pub fn done(self) -> Result<(), Fault> {
        match self.1 {
            None => Ok(()),
            Some(message) => {
                Err(Fault::new(ErrorCode::InvalidArgument, message).details(json!({ "errors": self.0 })))
            }
        }
    }
}

/// The record with what `patch` says put over it: what is absent stays, `null` is a value. Members
/// that only the host writes are passed over, so that what was read can be sent back; others that
/// nobody knows are refused with their name.
pub fn overlay<T: Serialize + DeserializeOwned>(
    current: &T,
    patch: Map<String, Value>,
    read_only: &[&str],
) -> Result<T, Fault> {
    let mut value = serde_json::to_value(current).map_err(|error| unreadable("", &error))?;
    for (member, new) in patch {
        if read_only.contains(&member.as_str()) {
            continue;
        }
        let Some(object) = value.as_object_mut() else { break };
        if !object.contains_key(&member) {
            let known: Vec<&str> =
                object.keys().map(String::as_str).filter(|known| !read_only.contains(known)).collect();
            return Err(unknown_member(&member, &known));
        }
        object.insert(member.clone(), new);
        // Tried one by one, so that the refusal can name the member.
        serde_json::from_value::<T>(value.clone()).map_err(|error| unreadable(&member, &error))?;
    }
    serde_json::from_value(value).map_err(|error| unreadable("", &error))
}

fn unreadable(member: &str, error: &serde_json::Error) -> Fault {
    let path = if member.is_empty() { String::new() } else { format!("/{member}") };
    Fault::new(ErrorCode::InvalidArgument, Text::new(format!("{path}: {error}"), format!("{path}：{error}")))
        .details(json!({ "errors": [{ "path": path, "code": "type", "message": error.to_string() }] }))
}

fn unknown_member(member: &str, known: &[&str]) -> Fault {
    let path = format!("/{member}");
    let fault = Fault::new(
        ErrorCode::InvalidArgument,
        Text::new(format!("there is no member `{member}`"), format!("没有字段 `{member}`")),
    )
    .details(
        json!({ "errors": [{ "path": path, "code": "unknown", "message": "nobody knows this member" }] }),
    );
    fault.hint(match nearest(member, known.iter().copied()) {
        Some(near) => Text::new(format!("did you mean `{near}`?"), format!("是否指 `{near}`？")),
        None => {
            Text::new(format!("use one of {}", known.join(", ")), format!("可用字段：{}", known.join("、")))
        }
    })
}
