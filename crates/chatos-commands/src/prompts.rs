//! A prompt of a server as text of a person's message: what it says, what of it cannot be said, and its arguments as
//! they are typed (packages §5.1, decision 0048).

use std::collections::BTreeMap;

use chatos_mcp::{Prompt, plain_for_model};
use chatos_tool::{ErrorCode, Fault, Text, fenced};
use chatos_wire::command::{CommandArgument, CommandKind, CommandView};
use serde_json::Value;

use crate::fill::words;

/// The most that one prompt may say; a message may have 1 MiB.
const MOST_BYTES: usize = 512 * 1024;
/// Longest name that is typed.
const NAME_CHARS: usize = 100;

/// A name as it is typed: without spaces, and without what could hide in it.
pub(crate) fn typed_name(name: &str) -> String {
    let plain = plain_for_model(name);
    let joined = plain.split_whitespace().collect::<Vec<_>>().join("_");
    joined.chars().take(NAME_CHARS).collect()
}

/// As the list shows it, under its key.
pub(crate) fn view(server: &str, prompt: &Prompt) -> CommandView {
    let line = |text: &str| plain_for_model(text).split_whitespace().collect::<Vec<_>>().join(" ");
    let arguments: Vec<CommandArgument> = prompt
        .arguments
        .iter()
        .map(|argument| CommandArgument {
            name: argument.name.clone(),
            description: line(&argument.description),
            required: argument.required,
        })
        .collect();
    CommandView {
        name: typed_name(&prompt.name),
        key: key(server, &prompt.name),
        kind: CommandKind::Prompt,
        title: prompt.title.as_deref().map(line).unwrap_or_default(),
        description: line(&prompt.description),
        argument_hint: usage(&arguments),
        arguments,
        source: server.to_owned(),
    }
}

/// The name that no other command has.
pub(crate) fn key(server: &str, prompt: &str) -> String {
    format!("{}:{}", typed_name(server), typed_name(prompt))
}

/// What is typed behind the name: `file=… [depth=…]`.
fn usage(arguments: &[CommandArgument]) -> String {
    let one = |argument: &CommandArgument| {
        let name = plain_for_model(&argument.name);
        if argument.required { format!("{name}=…") } else { format!("[{name}=…]") }
    };
    arguments.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// The arguments behind a name: `key=value "two words"`; of a single argument the value alone, too.
pub(crate) fn arguments(prompt: &Prompt, typed: &str) -> Result<BTreeMap<String, String>, Fault> {
    let typed = typed.trim();
    let known = |name: &str| prompt.arguments.iter().any(|argument| argument.name == name);
    let mut given = BTreeMap::new();
    if let [only] = prompt.arguments.as_slice() {
        let named = typed.split_once('=').is_some_and(|(name, _)| name == only.name);
        if !named && !typed.is_empty() {
            // Quotes around all of it are for other programs; inside they are part of it.
            let whole = words(typed);
            let value = if whole.len() == 1 { whole[0].clone() } else { typed.to_owned() };
            given.insert(only.name.clone(), value);
            return Ok(given);
        }
    }
    for word in words(typed) {
        match word.split_once('=') {
            Some((name, value)) if known(name) => {
                given.insert(name.to_owned(), value.to_owned());
            }
            _ => return Err(wrong_arguments(prompt, &word)),
        }
    }
    Ok(given)
}

fn wrong_arguments(prompt: &Prompt, word: &str) -> Fault {
    let arguments = view("", prompt).arguments;
    let name = typed_name(&prompt.name);
    let fault = Fault::new(
        ErrorCode::InvalidArgument,
        Text::new(format!("`{word}` is no argument of `/{name}`"), format!("`{word}` 不是 `/{name}` 的参数")),
    );
    if arguments.is_empty() {
        return fault.hint(Text::fixed("it takes none", "它没有参数"));
    }
    let usage = usage(&arguments);
    fault.hint(Text::new(format!("use `/{name} {usage}`"), format!("用法：`/{name} {usage}`")))
}

/// Refuses a prompt that lacks what it needs, and arguments nobody asked for.
pub(crate) fn check(prompt: &Prompt, given: &BTreeMap<String, String>) -> Result<(), Fault> {
    if let Some(odd) = given.keys().find(|name| !prompt.arguments.iter().any(|known| known.name == **name)) {
        return Err(wrong_arguments(prompt, odd));
    }
    let missing: Vec<String> = prompt
        .arguments
        .iter()
        .filter(|argument| argument.required)
        .filter(|argument| given.get(&argument.name).is_none_or(|value| value.trim().is_empty()))
        .map(|argument| format!("`{}`", plain_for_model(&argument.name)))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let (name, missing) = (typed_name(&prompt.name), missing.join(", "));
    let usage = usage(&view("", prompt).arguments);
    Err(Fault::new(
        ErrorCode::InvalidArgument,
        Text::new(format!("`/{name}` needs {missing}"), format!("`/{name}` 缺少 {missing}")),
    )
    .code("arguments_missing")
    .hint(Text::new(format!("use `/{name} {usage}`"), format!("用法：`/{name} {usage}`"))))
}

/// What a prompt says, as the text of one message, and what was left out of it.
pub(crate) fn message(server: &str, result: &Value) -> Result<(String, Vec<Text>), Fault> {
    let odd = || {
        Fault::new(
            ErrorCode::Unavailable,
            Text::new(
                format!("`{server}` gave no messages for this prompt"),
                format!("`{server}` 没有为此提示词给出消息"),
            ),
        )
    };
    let messages = result["messages"].as_array().ok_or_else(odd)?;
    let mut said = String::new();
    let mut left_out = 0_usize;
    for message in messages {
        // Most have one block; some servers send several.
        let blocks = match &message["content"] {
            Value::Array(blocks) => blocks.as_slice(),
            one => std::slice::from_ref(one),
        };
        let mut texts = Vec::new();
        for block in blocks {
            match text_of(server, block) {
                Some(text) => texts.push(text),
                None => left_out += 1,
            }
        }
        let mut text = texts.join("\n\n");
        if text.trim().is_empty() {
            continue;
        }
        // The person says all of it; an answer the server made up is shown as what it is.
        if message["role"] == "assistant" {
            text = fenced(&format!("example of an answer, from {}", plain_for_model(server)), &text);
        }
        if !said.is_empty() {
            said.push_str("\n\n");
        }
        said.push_str(&text);
        if said.len() > MOST_BYTES {
            return Err(Fault::new(
                ErrorCode::ResourceExhausted,
                Text::fixed("the text of this prompt is larger than 512 KiB", "此提示词的文字超过 512 KiB"),
            ));
        }
    }
    if said.is_empty() {
        return Err(odd());
    }
    let notices = (left_out > 0).then(|| {
        Text::new(
            match left_out {
                1 => "one part of this prompt is not text and was left out".to_owned(),
                several => format!("{several} parts of this prompt are not text and were left out"),
            },
            format!("此提示词中有 {left_out} 处不是文字，已略去"),
        )
    });
    Ok((said, notices.into_iter().collect()))
}

fn text_of(server: &str, block: &Value) -> Option<String> {
    match block["type"].as_str()? {
        "text" => Some(plain_for_model(block["text"].as_str()?)),
        "resource" => {
            let resource = &block["resource"];
            let uri = plain_for_model(resource["uri"].as_str().unwrap_or_default());
            let label = format!("{uri}, from {}", plain_for_model(server));
            Some(fenced(&label, &plain_for_model(resource["text"].as_str()?)))
        }
        "resource_link" => {
            let uri = plain_for_model(block["uri"].as_str()?);
            let name = block["title"].as_str().or(block["name"].as_str()).unwrap_or_default();
            Some(format!("{} <{uri}>", plain_for_model(name)).trim().to_owned())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use chatos_mcp::PromptArgument;
    use serde_json::json;

    use super::*;

    fn prompt(arguments: &[(&str, bool)]) -> Prompt {
        Prompt {
            name: "code review".to_owned(),
            title: None,
            description: "a\nb \u{202e}c".to_owned(),
            arguments: arguments
                .iter()
                .map(|(name, required)| PromptArgument {
                    name: (*name).to_owned(),
                    description: String::new(),
                    required: *required,
                })
                .collect(),
        }
    }

    fn given(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn arguments_are_named_and_a_single_one_may_be_bare() {
        let two = prompt(&[("file", true), ("depth", false)]);
        assert_eq!(
            arguments(&two, r#"file="a b.txt" depth=2"#).unwrap(),
            given(&[("file", "a b.txt"), ("depth", "2")])
        );
        let fault = arguments(&two, "a.txt").unwrap_err();
        assert_eq!(fault.hint.unwrap().en, "use `/code_review file=… [depth=…]`");
        let one = prompt(&[("file", true)]);
        for (typed, expected) in [
            ("a b.txt", "a b.txt"),
            ("\"a b.txt\"", "a b.txt"),
            ("file=\"a b.txt\"", "a b.txt"),
            ("x=1", "x=1"),
        ] {
            assert_eq!(arguments(&one, typed).unwrap(), given(&[("file", expected)]), "{typed}");
        }
        assert_eq!(arguments(&prompt(&[]), "x").unwrap_err().hint.unwrap().en, "it takes none");
        assert_eq!(
            check(&two, &given(&[("depth", "1")])).unwrap_err().message.en,
            "`/code_review` needs `file`"
        );
        assert!(check(&two, &given(&[("file", "x")])).is_ok());
        assert!(check(&two, &given(&[("file", "x"), ("other", "")])).is_err());
    }

    #[test]
    fn names_and_descriptions_are_one_clean_line() {
        let shown = view("my server", &prompt(&[("file", true)]));
        assert_eq!((shown.name.as_str(), shown.key.as_str()), ("code_review", "my_server:code_review"));
        assert_eq!((shown.description.as_str(), shown.argument_hint.as_str()), ("a b c", "file=…"));
    }

    #[test]
    fn messages_become_one_text_with_labels_and_fences() {
        let result = json!({ "messages": [
            { "role": "user", "content": { "type": "text", "text": "Review this:" } },
            { "role": "user", "content": { "type": "resource", "resource": { "uri": "file:///a.md", "text": "```\nx\n```\n" } } },
            { "role": "user", "content": { "type": "image", "data": "AAAA", "mimeType": "image/png" } },
            { "role": "assistant", "content": { "type": "text", "text": "Fine." } },
        ] });
        let (text, notices) = message("docs", &result).unwrap();
        assert_eq!(
            text,
            "Review this:\n\n[file:///a.md, from docs]\n````\n```\nx\n```\n````\n\n\
             [example of an answer, from docs]\n```\nFine.\n```"
        );
        assert_eq!(notices.len(), 1);
        for bad in [
            json!({}),
            json!({ "messages": [] }),
            json!({ "messages": [{ "content": { "type": "audio" } }] }),
        ] {
            assert!(message("docs", &bad).is_err(), "{bad}");
        }
    }
}
