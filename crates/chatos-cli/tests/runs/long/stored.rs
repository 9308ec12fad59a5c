//! What a long run leaves in its chat: every message, call and result as if there were no window.

use std::path::Path;

use serde_json::{Value, json};

use super::{Kind, TASK, kind, size};

/// Bytes of a result that are kept; what is longer is cut in its middle.
const KEPT: usize = 120_000;

/// The whole text that the server answers a call with.
fn whole(number: usize) -> String {
    let line = format!("k-{number} abcdefghijklmnopqrstuvwxyz 0123456789\n");
    line.repeat(size(number).div_ceil(line.len()))
}

fn text<'a>(message: &'a Value, member: &str) -> &'a str {
    message[member].as_str().unwrap_or_default()
}

/// Holds the messages against what was called and what the tools answered.
pub(super) fn check(said: &[Value], calls: usize) {
    let people: Vec<&str> =
        said.iter().filter(|one| one["role"] == "user").map(|one| text(one, "content")).collect();
    assert_eq!(people, [TASK]);
    assert_eq!(text(said.last().unwrap(), "content"), "done");
    // Every call is there as it was made, with its result behind it.
    let mut numbers = std::collections::BTreeSet::new();
    let mut open: Vec<&Value> = Vec::new();
    for message in said {
        if message["role"] == "assistant" {
            assert_eq!(open, Vec::<&Value>::new(), "calls without results");
            open = message["toolCalls"].as_array().into_iter().flatten().collect();
            continue;
        }
        if message["role"] != "tool" {
            continue;
        }
        let at = open.iter().position(|call| call["callId"] == message["toolCallId"]);
        let call = open.remove(at.unwrap_or_else(|| panic!("a result without its call: {message}")));
        let arguments: Value = serde_json::from_str(text(call, "args")).unwrap();
        // Where there are many tools they are called through the one that stands for all.
        let (tool, arguments) = match text(call, "tool") {
            "call_tool" => {
                (text(&arguments, "name").trim_start_matches("mcp_counter_"), &arguments["arguments"])
            }
            tool => (tool, &arguments),
        };
        if tool == "add_task" {
            continue;
        }
        let number = made(tool, arguments);
        numbers.insert(number);
        let content = text(message, "content");
        // A call that a kill cut off has what a person said of it.
        if content.contains("a person confirmed") {
            continue;
        }
        assert_eq!(message["toolIsError"], false, "{message}");
        match kind(number) {
            Kind::Read => {
                let whole = whole(number);
                if whole.len() <= KEPT {
                    assert!(
                        content == whole,
                        "call {number} kept {} of {} bytes",
                        content.len(),
                        whole.len()
                    );
                } else {
                    let head = &content[..KEPT / 1_000];
                    assert!(whole.starts_with(head), "call {number}: {content:.200}");
                    assert!(content.len() + 200 >= KEPT, "call {number} kept {} bytes", content.len());
                }
            }
            Kind::Picture => assert!(content.starts_with("counted picture-1-"), "{message}"),
            Kind::Command => {
                assert!(content.contains("| exit code: 0 |"), "an ordinary command failed: {content}");
            }
            Kind::Edit => {}
        }
    }
    let all: Vec<usize> = (1..=numbers.len()).collect();
    assert!(numbers.iter().eq(&all) && all.len() >= calls, "not every call is there: {numbers:?}");
}

/// Which call it was, by its tool and arguments.
fn made(tool: &str, arguments: &Value) -> usize {
    let (member, behind) = match tool {
        "big" => ("key", "k-"),
        "count" => ("key", "picture-1-"),
        "edit_file" => ("new_string", "e-"),
        "run_shell_command" => ("command", "s-"),
        other => panic!("nobody called {other}"),
    };
    let told = text(arguments, member);
    let told = if tool == "run_shell_command" { &told[told.rfind(behind).unwrap()..] } else { told };
    let number = number(told, behind) - if tool == "count" { 40 } else { 0 };
    let of_that_kind = match tool {
        "big" => kind(number) == Kind::Read && arguments["size"] == json!(size(number)),
        "count" => kind(number) == Kind::Picture,
        "edit_file" => kind(number) == Kind::Edit,
        _ => kind(number) == Kind::Command,
    };
    assert!(of_that_kind, "{tool} {arguments}");
    number
}

/// The number behind these letters.
fn number(text: &str, behind: &str) -> usize {
    let rest = text.strip_prefix(behind).unwrap_or_else(|| panic!("{text} does not begin with {behind}"));
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

/// Compares two chats in which the same was done, in two projects.
pub(super) fn same(one: &[Value], its_root: &Path, other: &[Value], other_root: &Path) {
    let plain = |said: &[Value], root: &Path| -> Vec<Value> {
        said.iter().map(|message| plain(message, root)).collect()
    };
    let (one, other) = (plain(one, its_root), plain(other, other_root));
    for (one, other) in one.iter().zip(&other) {
        assert!(one == other, "{one}\nis not\n{other}");
    }
    assert_eq!(one.len(), other.len());
}

/// A message without what belongs to its run alone: ids, times, places and what the vendor counted.
fn plain(message: &Value, root: &Path) -> Value {
    let members =
        ["role", "kind", "content", "reasoning", "toolCallId", "tool", "server", "status", "toolIsError"];
    let mut kept = json!({});
    for member in members {
        kept[member] = message[member].clone();
    }
    kept["calls"] = message["toolCalls"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|call| json!([call["callId"], call["args"]]))
        .collect();
    kept["pictures"] = json!(message["attachments"].as_array().map(Vec::len));
    let text = kept.to_string().replace("\\n", "\n").replace(&root.display().to_string(), "<root>");
    // Commits and to-dos have other names, commands other times.
    let words = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
    let words = words.map(|word| {
        let name = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let is_name = name.len() >= 4 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_time = name.strip_suffix("ms").is_some_and(|n| n.bytes().all(|byte| byte.is_ascii_digit()));
        if is_name || is_time { word.replacen(name, "#", 1) } else { word.to_owned() }
    });
    Value::String(words.collect())
}
