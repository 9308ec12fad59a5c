//! A turn that was cut off goes on (other-agents §4.9): what became of each call, and what the agent is told. Nothing is
//! run by us, nothing is approved from memory for another call.

use std::collections::{HashMap, VecDeque};

use chatos_agent::{Decision, Pending, Speaker, Transcript, decide};
use chatos_tool::Lang;
use serde_json::Value;

use crate::calls::{CALLS, call_id};
use crate::message::{Progress, ToolCall};

/// What is known of a call that had no outcome when the turn was cut off.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fate {
    /// The agent tells how it ended.
    Told(Box<ToolCall>),
    /// The agent was still waiting for us.
    NotRun,
    /// Nobody but a person can know.
    Uncertain,
}

/// Calls of a run without a result, oldest first.
pub(crate) fn open_calls(chat: &Transcript, run_id: &str) -> Vec<Pending> {
    let own: Vec<_> = chat.entries.iter().filter(|entry| entry.run_id == run_id).collect();
    let answered = |id: &str| own.iter().any(|entry| entry.speaker == Speaker::Tool && entry.call_id == id);
    let calls =
        own.iter().flat_map(|entry| entry.calls.iter().map(move |call| (entry.id.clone(), call.clone())));
    calls
        .filter(|(_, call)| !answered(&call.id))
        .map(|(message_id, call)| Pending {
            step: chat.steps.iter().find(|step| step.call_id == call.id).cloned(),
            message_id,
            call,
        })
        .collect()
}

/// What an agent tells of its calls when its session is loaded. What was cut off stands at the end: of a session
/// without end the newest calls are kept.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Replay {
    calls: HashMap<String, ToolCall>,
    /// Oldest first.
    order: VecDeque<String>,
    held: usize,
}

impl Replay {
    const BYTES: usize = 16 << 20;

    pub(crate) fn told(&mut self, update: &Value) {
        let Some(id) = update["toolCallId"].as_str().filter(|id| id.len() <= 1_000) else { return };
        if !self.calls.contains_key(id) {
            self.order.push_back(id.to_owned());
        }
        let call = self.calls.entry(id.to_owned()).or_default();
        id.clone_into(&mut call.id);
        let before = call.held();
        call.told(update);
        self.held = (self.held + call.held()).saturating_sub(before);
        while self.order.len() > CALLS || (self.held > Self::BYTES && self.order.len() > 1) {
            let Some(oldest) = self.order.pop_front().and_then(|id| self.calls.remove(&id)) else { return };
            self.held = self.held.saturating_sub(oldest.held());
        }
    }

    /// By our ids of the calls of this run.
    pub(crate) fn of(&self, run_id: &str) -> HashMap<String, ToolCall> {
        self.calls.iter().map(|(id, call)| (call_id(run_id, id), call.clone())).collect()
    }
}

/// What became of a call. `allowed`: its question, where there was one, may have been answered with a yes that reached
/// the agent.
pub(crate) fn fate(pending: &Pending, replayed: &HashMap<String, ToolCall>, allowed: bool) -> Fate {
    if let Some(call) = replayed.get(&pending.call.id)
        && matches!(call.progress, Progress::Done | Progress::Failed)
    {
        return Fate::Told(Box::new(call.clone()));
    }
    // Some announce a call as running and then ask: they wait for our yes all the same.
    if !allowed {
        return Fate::NotRun;
    }
    // Nothing that was not announced as running, and got no yes of ours, ran.
    let sent = pending.step.as_ref().is_some_and(|step| step.sent);
    match decide(pending.step.as_ref()) {
        // A look may be repeated.
        Decision::Again => Fate::NotRun,
        Decision::Uncertain => Fate::Uncertain,
        _ if sent => Fate::Uncertain,
        _ => Fate::NotRun,
    }
}

/// What the agent is told, in the language its model reads.
pub(crate) fn words(
    lang: Lang,
    not_run: &[String],
    worked: &[String],
    failed: &[String],
    unknown: &[String],
) -> String {
    let list = |names: &[String]| names.iter().map(|name| format!("\n- {name}")).collect::<String>();
    let mut text = match lang {
        Lang::En => "The last turn was cut off by a restart of ChatOS.".to_owned(),
        Lang::Zh => "上一轮因 ChatOS 重启而中断。".to_owned(),
    };
    let parts = match lang {
        Lang::En => [
            (not_run, "These calls were not run:"),
            (worked, "A person confirmed that these calls worked:"),
            (failed, "A person said that these calls failed:"),
            (unknown, "Nobody knows whether these calls ran; look before you repeat one:"),
        ],
        Lang::Zh => [
            (not_run, "以下调用没有执行："),
            (worked, "用户确认以下调用已成功："),
            (failed, "用户表示以下调用已失败："),
            (unknown, "无法确定以下调用是否已执行；重复之前请先检查："),
        ],
    };
    for (names, words) in parts {
        if !names.is_empty() {
            text.push_str(&format!("\n{words}{}", list(names)));
        }
    }
    text.push_str(match lang {
        Lang::En => "\nGo on with the task. Ask again for permission for whatever still needs it.",
        Lang::Zh => "\n请继续完成任务；仍需许可的操作请重新请求。",
    });
    text
}

/// How much of a chat a session that begins anew is told; the newest is kept.
const BEFORE_CHARS: usize = 24_000;

/// What was said in this chat before the run, for an agent whose session is gone. `None` where nothing was.
pub(crate) fn before(chat: &Transcript, run_id: &str, lang: Lang) -> Option<String> {
    let (person, agent, ran, failed) = match lang {
        Lang::En => ("Person", "You", "you ran", "failed"),
        Lang::Zh => ("用户", "你", "你执行过", "失败"),
    };
    let earlier = chat.entries.iter().take_while(|entry| entry.run_id != run_id);
    let mut parts: Vec<String> = chat.summary.iter().map(|summary| summary.text.clone()).collect();
    for entry in earlier.filter(|entry| !chat.queued.contains(&entry.run_id)) {
        let text = entry.text.trim();
        match entry.speaker {
            Speaker::User if !text.is_empty() => parts.push(format!("{person}: {text}")),
            Speaker::Assistant if !text.is_empty() => parts.push(format!("{agent}: {text}")),
            Speaker::Tool => {
                let end = if entry.is_error { format!(" ({failed})") } else { String::new() };
                parts.push(format!("[{ran}: {}{end}]", entry.tool_name));
            }
            _ => {}
        }
    }
    if parts.is_empty() {
        return None;
    }
    let whole = parts.join("\n");
    let skipped = whole.chars().count().saturating_sub(BEFORE_CHARS);
    let kept: String = whole.chars().skip(skipped).collect();
    let cut = if skipped > 0 { "…" } else { "" };
    let intro = match lang {
        Lang::En => {
            "Your earlier session of this chat could not be loaded. This is what was said in it; results of calls are not repeated, so look again where you need them. The new message follows after it."
        }
        Lang::Zh => {
            "你在此对话中先前的会话无法载入。以下是其中说过的话；调用的结果不再重复，需要时请重新查看。新消息在其后。"
        }
    };
    Some(format!("{intro}\n\n{cut}{kept}"))
}

#[cfg(test)]
mod tests {
    use chatos_agent::StepFacts;
    use serde_json::json;

    use super::*;

    fn pending(step: StepFacts) -> Pending {
        let call = chatos_model::ToolCall {
            id: call_id("r", "t"),
            name: "execute".to_owned(),
            arguments: String::new(),
            opaque: None,
        };
        Pending { message_id: "m".to_owned(), call, step: Some(step) }
    }

    #[test]
    fn only_what_got_a_yes_is_uncertain_and_the_agents_own_word_counts() {
        let nothing = HashMap::new();
        let fate = |pending: &Pending, told: &HashMap<_, _>| fate(pending, told, true);
        let asked = StepFacts { request_id: Some("q".to_owned()), ..StepFacts::default() };
        assert_eq!(fate(&pending(asked.clone()), &nothing), Fate::NotRun);
        let sent = StepFacts { sent: true, ..asked };
        assert_eq!(fate(&pending(sent.clone()), &nothing), Fate::Uncertain);
        let replayed = |status: &str| {
            let mut replay = Replay::default();
            replay.told(&json!({ "toolCallId": "t", "status": status }));
            replay.of("r")
        };
        let told = replayed("completed");
        assert!(matches!(fate(&pending(sent.clone()), &told), Fate::Told(_)));
        // A call the agent shows as running for ever is still nobody's success.
        let running = replayed("in_progress");
        assert_eq!(fate(&pending(sent.clone()), &running), Fate::Uncertain);
        // Announced as running, then asked, and nobody said yes.
        assert_eq!(super::fate(&pending(sent), &running, false), Fate::NotRun);
    }

    #[test]
    fn of_a_session_without_end_the_newest_calls_are_kept() {
        let mut replay = Replay::default();
        for n in 0..3 * CALLS {
            replay.told(&json!({ "toolCallId": format!("c{n}"), "status": "in_progress" }));
        }
        assert_eq!((replay.calls.len(), replay.order.len()), (CALLS, CALLS));
        let text = "x".repeat(1 << 20);
        for n in 0..100 {
            replay.told(&json!({ "toolCallId": format!("large{n}"), "rawInput": { "text": text } }));
        }
        replay.told(&json!({ "toolCallId": "large99", "status": "completed" }));
        assert!(replay.held <= Replay::BYTES && replay.calls.len() < 20, "{}", replay.calls.len());
        assert_eq!(replay.of("r")[&call_id("r", "large99")].progress, Progress::Done);
    }

    #[test]
    fn the_words_name_what_matters() {
        let text = words(Lang::En, &["ls".to_owned()], &[], &[], &["rm".to_owned()]);
        assert!(
            text.contains("not run:\n- ls")
                && text.contains("repeat one:\n- rm")
                && !text.contains("confirmed")
        );
    }

    #[test]
    fn a_session_that_begins_anew_is_told_what_was_said_before_and_no_more() {
        let said = |run: &str, speaker: Speaker, text: &str| chatos_agent::Entry {
            run_id: run.to_owned(),
            speaker,
            text: text.to_owned(),
            tool_name: if speaker == Speaker::Tool { "execute".to_owned() } else { String::new() },
            is_error: true,
            ..chatos_agent::Entry::default()
        };
        let first = vec![said("now", Speaker::User, "first")];
        let mut chat = Transcript { entries: first, ..Transcript::default() };
        assert_eq!(before(&chat, "now", Lang::En), None, "nothing was said before");
        chat.entries = vec![
            said("one", Speaker::User, "my word is paprika"),
            said("one", Speaker::Tool, "a long result"),
            said("one", Speaker::Notice, "for people only"),
            said("one", Speaker::Assistant, "noted"),
            said("later", Speaker::User, "this waits"),
            said("now", Speaker::User, "which word?"),
        ];
        chat.queued = vec!["later".to_owned()];
        let text = before(&chat, "now", Lang::En).unwrap();
        assert!(
            text.ends_with("Person: my word is paprika\n[you ran: execute (failed)]\nYou: noted"),
            "{text}"
        );
        chat.entries[0].text = "很".repeat(30_000);
        let text = before(&chat, "now", Lang::Zh).unwrap();
        assert!(
            text.chars().count() < 25_000 && text.ends_with("你: noted") && text.contains("…很"),
            "{text}"
        );
    }
}
