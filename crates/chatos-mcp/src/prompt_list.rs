//! The prompts of a server as data: read leniently, bounded, cleaned of nothing (who shows them cleans them).

use serde_json::Value;

use crate::limits::{LIST_PROMPTS, PROMPT_ARGUMENTS, TOOL_NAME_BYTES};

/// Longest description that is kept of a prompt or an argument.
const DESCRIPTION_CHARS: usize = 2_000;

/// A prompt as its server describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// The server's own name of it.
    pub name: String,
    /// What people call it.
    pub title: Option<String>,
    /// What it is for.
    pub description: String,
    /// What it is filled with.
    pub arguments: Vec<PromptArgument>,
}

/// An argument of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptArgument {
    /// The name under which it is given.
    pub name: String,
    /// What it is, in the words of the server.
    pub description: String,
    /// The prompt cannot be had without it.
    pub required: bool,
}

/// Adds the usable prompts of a page, each name once; says whether there may be another page.
pub(crate) fn take(list: &mut Vec<Prompt>, page: &[Value]) -> bool {
    for value in page {
        if list.len() == LIST_PROMPTS {
            return false;
        }
        if let Some(prompt) = read(value)
            && !list.iter().any(|known| known.name == prompt.name)
        {
            list.push(prompt);
        }
    }
    true
}

fn read(value: &Value) -> Option<Prompt> {
    let listed = value["arguments"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut arguments: Vec<PromptArgument> = Vec::new();
    for argument in listed.iter().take(PROMPT_ARGUMENTS) {
        let Some(name) = name(argument) else { continue };
        if arguments.iter().any(|known| known.name == name) {
            continue;
        }
        arguments.push(PromptArgument {
            name,
            description: argument["description"].as_str().map(cut).unwrap_or_default(),
            required: argument["required"] == Value::Bool(true),
        });
    }
    Some(Prompt {
        name: name(value)?,
        title: value["title"].as_str().filter(|title| !title.is_empty()).map(cut),
        description: value["description"].as_str().map(cut).unwrap_or_default(),
        arguments,
    })
}

fn name(value: &Value) -> Option<String> {
    let name = value["name"].as_str()?;
    let usable = !name.is_empty() && name.len() <= TOOL_NAME_BYTES && !name.chars().any(char::is_control);
    usable.then(|| name.to_owned())
}

fn cut(text: &str) -> String {
    text.chars().take(DESCRIPTION_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_usable_is_kept_and_the_rest_is_not_there() {
        let mut list = Vec::new();
        let page = json!([
            { "name": "review", "title": "Review", "arguments": [
                { "name": "file", "required": true }, { "name": 3 }, { "name": "file" }, { "name": "depth", "description": "how deep" },
            ] },
            { "name": "review", "description": "again" },
            { "name": "" }, { "title": "nameless" }, 7, { "name": "line\nbreak" },
            { "name": "bare", "arguments": "none", "description": 5 },
        ]);
        assert!(take(&mut list, page.as_array().unwrap()));
        let names: Vec<&str> = list.iter().map(|prompt| prompt.name.as_str()).collect();
        assert_eq!(names, ["review", "bare"]);
        let arguments: Vec<(&str, bool)> =
            list[0].arguments.iter().map(|one| (one.name.as_str(), one.required)).collect();
        assert_eq!(arguments, [("file", true), ("depth", false)]);
        let many: Vec<Value> = (0..LIST_PROMPTS + 5).map(|n| json!({ "name": format!("p{n}") })).collect();
        assert!(!take(&mut list, &many));
        assert_eq!(list.len(), LIST_PROMPTS);
    }
}
