//! The built-in model (agents §1.4): offline, deterministic, and honest about what it is.
//!
//! It is a function from a request to an answer. What it does beyond talking it does with the tools
//! it was offered, through the same loop as every other model.

mod intent;
mod order;
mod words;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{Event, EventStream, Message, Provider, Request, Stop, Tool, Usage, from_events};

use intent::{Intent, intent_of};
use order::{Order, orders};
use words::Words;

/// The demo model.
#[derive(Debug, Clone, Copy, Default)]
pub struct Demo;

impl Provider for Demo {
    fn stream(&self, request: Request, cancel: CancellationToken) -> EventStream {
        from_events(answer(&request).into_iter().map(Ok).collect(), cancel)
    }
}

/// Characters per piece of a streamed text: enough pieces to see it stream, few enough to cost nothing.
const PIECE: usize = 16;
/// Characters of a tool's answer that are shown again.
const SHOWN: usize = 1_500;
/// The file the demo offers to write.
const FILE: &str = "chatos-demo.md";

/// What it says, and the tool it calls, if any.
struct Reply {
    text: String,
    call: Option<(String, Value)>,
}

impl Reply {
    fn say(text: impl Into<String>) -> Self {
        Self { text: text.into(), call: None }
    }

    fn call(text: impl Into<String>, tool: &Tool, arguments: Value) -> Self {
        Self { text: text.into(), call: Some((tool.name.clone(), arguments)) }
    }
}

/// The whole answer to a request; it depends on nothing else.
fn answer(request: &Request) -> Vec<Event> {
    let reply = reply(request);
    let mut events = Vec::new();
    let chars: Vec<char> = reply.text.chars().collect();
    events.extend(chars.chunks(PIECE).map(|piece| Event::Text(piece.iter().collect())));
    let mut output = reply.text.len();
    let stop = match reply.call {
        None => Stop::End,
        Some((name, arguments)) => {
            let arguments = arguments.to_string();
            output += arguments.len();
            let before = calls_in(&request.messages);
            let id = Some(format!("demo_{}", before + 1));
            events.push(Event::ToolUse {
                index: 0,
                id,
                name: Some(name),
                args_delta: String::new(),
                opaque: None,
            });
            let args_delta = arguments;
            events.push(Event::ToolUse { index: 0, id: None, name: None, args_delta, opaque: None });
            Stop::ToolUse
        }
    };
    let input: usize = request.system.iter().map(String::len).chain(request.messages.iter().map(size)).sum();
    let tokens = |bytes: usize| u64::try_from(bytes.div_ceil(3)).unwrap_or(u64::MAX);
    events.push(Event::Usage(Usage {
        input: tokens(input),
        output: tokens(output),
        estimated: true,
        ..Usage::default()
    }));
    events.push(Event::Done(stop));
    events
}

fn size(message: &Message) -> usize {
    match message {
        Message::User { text, .. } => text.len(),
        Message::Assistant { text, tool_calls, .. } => {
            text.len() + tool_calls.iter().map(|call| call.arguments.len()).sum::<usize>()
        }
        Message::Tool { content, .. } => content.len(),
    }
}

fn calls_in(messages: &[Message]) -> usize {
    let count = |message: &Message| match message {
        Message::Assistant { tool_calls, .. } => tool_calls.len(),
        _ => 0,
    };
    messages.iter().map(count).sum()
}

fn reply(request: &Request) -> Reply {
    let asked = request.messages.iter().rposition(|message| matches!(message, Message::User { .. }));
    let Some(Message::User { text, images, .. }) = asked.map(|at| &request.messages[at]) else {
        return Reply::say(Words::of("").greeting());
    };
    let words = Words::of(text);
    // What was done for this very message: tool name, answer, whether it failed.
    let done: Vec<(&str, &str, bool)> = request.messages[asked.unwrap_or_default()..]
        .iter()
        .filter_map(|message| match message {
            Message::Tool { name, content, is_error, .. } => {
                Some((name.as_str(), content.as_str(), *is_error))
            }
            _ => None,
        })
        .collect();
    if let Some(ordered) = orders(text) {
        return obey(request, &words, ordered, &done);
    }
    if let Some((name, content, failed)) = done.last() {
        return after(request, &words, text, &done, (name, content, *failed));
    }
    let tool = |own: &str| find(&request.tools, own);
    let missing = |what: &str| Reply::say(words.not_granted(what));
    match intent_of(text) {
        Intent::Greet => Reply::say(words.greeting()),
        Intent::Help => Reply::say(words.help(&offered(request))),
        Intent::Time => match tool("get_current_time") {
            Some(tool) => Reply::call(words.calling(), tool, json!({})),
            None => missing("get_current_time"),
        },
        Intent::ListFiles => match tool("list_directory") {
            Some(tool) => Reply::call(words.calling(), tool, json!({ "path": "." })),
            None => missing("project_files"),
        },
        Intent::AddTask(title) => match tool("add_task") {
            Some(tool) => {
                let title = if title.is_empty() { words.task_title().to_owned() } else { title };
                Reply::call(words.adding(), tool, json!({ "title": title, "tags": ["demo"] }))
            }
            None => missing("task_manager"),
        },
        Intent::ListTasks => match tool("list_tasks") {
            Some(tool) => Reply::call(words.calling(), tool, json!({ "allSessions": true, "allRuns": true })),
            None => missing("task_manager"),
        },
        Intent::AskForm => match tool("prompt_key_values") {
            Some(tool) => Reply::call(words.asking(), tool, words.form()),
            None => missing("ui_prompter"),
        },
        Intent::AskChoice => match tool("prompt_choices") {
            Some(tool) => Reply::call(words.asking(), tool, words.choice()),
            None => missing("ui_prompter"),
        },
        Intent::Diff => match tool("write_file") {
            Some(tool) => {
                let arguments = json!({ "path": FILE, "contents": words.file(), "mode": "overwrite" });
                Reply::call(words.proposing(FILE), tool, arguments)
            }
            None => Reply::say(words.cannot_write()),
        },
        Intent::SubAgent => match tool("run_sub_agent") {
            Some(tool) => Reply::call(words.delegating(), tool, json!({ "task": words.sub_task() })),
            None => missing("subagent_router"),
        },
        Intent::Summarise(text) => {
            let text = if text.is_empty() { earlier(request, asked.unwrap_or_default()) } else { text };
            Reply::say(if text.is_empty() {
                words.nothing_to_summarise()
            } else {
                words.summary(&summary(&text))
            })
        }
        Intent::Unknown if !images.is_empty() => Reply::say(words.cannot_see()),
        Intent::Unknown => Reply::say(words.unknown()),
    }
}

/// The next of the ordered calls, then what all of them gave.
fn obey(
    request: &Request,
    words: &Words,
    ordered: Result<Vec<Order>, String>,
    done: &[(&str, &str, bool)],
) -> Reply {
    let ordered = match ordered {
        Ok(ordered) => ordered,
        Err(wrong) => return Reply::say(words.bad_order(&wrong)),
    };
    match ordered.get(done.len()) {
        Some(next) => {
            match find(&request.tools, &next.tool).or_else(|| find(&request.tools, &spelled(&next.tool))) {
                Some(tool) => Reply::call(words.calling(), tool, next.arguments.clone()),
                None => {
                    let names: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
                    Reply::say(words.no_such_tool(&next.tool, &names))
                }
            }
        }
        None => {
            let all = done.iter().map(|(name, content, _)| format!("{name}\n{}", shown(content)));
            Reply::say(words.result(&all.collect::<Vec<_>>().join("\n\n")))
        }
    }
}

/// What is said once a tool has answered. One call per message is enough for a demo, except that a
/// new task is shown in the list.
fn after(
    request: &Request,
    words: &Words,
    text: &str,
    done: &[(&str, &str, bool)],
    last: (&str, &str, bool),
) -> Reply {
    let (name, content, failed) = last;
    if failed {
        return Reply::say(words.failed(&shown(content)));
    }
    // A no of the person is no error.
    if ["– the person declined", "– 用户拒绝"].iter().any(|no| content.contains(no)) {
        return Reply::say(words.declined());
    }
    if let (Intent::AddTask(_), 1, Some(list)) =
        (intent_of(text), done.len(), find(&request.tools, "list_tasks"))
    {
        let arguments = json!({ "allSessions": true, "allRuns": true });
        return Reply::call(words.added(), list, arguments);
    }
    let own = |tool: &str| is(name, tool);
    if own("prompt_key_values") || own("prompt_choices") {
        return Reply::say(words.answered(&shown(content)));
    }
    if own("write_file") {
        return Reply::say(words.written(FILE));
    }
    if own("run_sub_agent") {
        return Reply::say(words.reported(&shown(content)));
    }
    Reply::say(words.result(&shown(content)))
}

/// Whether an offered name stands for a tool of ours: `mcp_<server>_<tool>`.
fn is(offered: &str, tool: &str) -> bool {
    offered == tool || offered.strip_suffix(tool).is_some_and(|head| head.ends_with('_'))
}

fn find<'t>(tools: &'t [Tool], own: &str) -> Option<&'t Tool> {
    tools.iter().find(|tool| is(&tool.name, own))
}

/// A tool's own name as it is part of an offered one.
fn spelled(tool: &str) -> String {
    tool.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}

/// What can be tried with the tools at hand.
fn offered(request: &Request) -> Vec<&'static str> {
    ["list_directory", "add_task", "prompt_key_values", "write_file", "run_sub_agent"]
        .into_iter()
        .filter(|tool| find(&request.tools, tool).is_some())
        .collect()
}

fn shown(content: &str) -> String {
    let content = content.trim();
    let mut short: String = content.chars().take(SHOWN).collect();
    if short.len() < content.len() {
        short.push('…');
    }
    without_ids(&short)
}

/// Without `(id=…, session=…)`: a person has no use for them, and the card of the call has them.
fn without_ids(text: &str) -> String {
    let is_id = |part: &str| part.split_once('=').is_some_and(|(_, id)| id.len() == 36 && id.contains('-'));
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, (inside, after))) =
        rest.split_once(" (").and_then(|(before, tail)| Some((before, tail.split_once(')')?)))
    {
        let kept: Vec<&str> = inside.split(", ").filter(|part| !is_id(part)).collect();
        out.push_str(before);
        if !kept.is_empty() {
            out.push_str(&format!(" ({})", kept.join(", ")));
        }
        rest = after;
    }
    out + rest
}

/// The conversation before a message, as one text.
fn earlier(request: &Request, at: usize) -> String {
    let texts = request.messages[..at].iter().filter_map(|message| match message {
        Message::User { text, .. } | Message::Assistant { text, .. } if !text.trim().is_empty() => {
            Some(text.as_str())
        }
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Picks sentences: the first, the longest in between, the last. It understands nothing.
fn summary(text: &str) -> Vec<String> {
    let sentences: Vec<&str> = text
        .split_inclusive(['.', '!', '?', '。', '！', '？', '\n'])
        .map(str::trim)
        .filter(|sentence| sentence.chars().count() > 3)
        .collect();
    let mut picked = Vec::new();
    if let Some((first, rest)) = sentences.split_first() {
        picked.push(*first);
        if let Some((last, middle)) = rest.split_last() {
            picked.extend(middle.iter().max_by_key(|sentence| sentence.chars().count()));
            picked.push(last);
        }
    }
    picked.into_iter().map(|sentence| sentence.chars().take(240).collect()).collect()
}

#[cfg(test)]
mod tests;
