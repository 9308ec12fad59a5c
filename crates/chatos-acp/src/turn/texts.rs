//! What a person or an agent is told about a turn: ends, losses and what became of calls.

use chatos_agent::{End, Pending};
use chatos_tool::{Needed, Text, ToolError};
use chatos_wire::RunEnd;
use serde_json::Value;

use super::promised::BROKEN;
use crate::permission::Unaskable;
use crate::seat::NoSeat;

/// A call in words, for the agent.
pub(super) fn name_of(pending: &Pending) -> String {
    let arguments: Value = serde_json::from_str(&pending.call.arguments).unwrap_or_default();
    let about = ["command", "path", "title"].iter().find_map(|key| arguments[*key].as_str());
    match about {
        Some(about) => format!("{}: {}", pending.call.name, about.chars().take(400).collect::<String>()),
        None => pending.call.name.clone(),
    }
}

/// The end a stop reason stands for; `None` where the turn is simply complete.
pub(super) fn end_of(stop: &str, agent: &str) -> Option<End> {
    match stop {
        "cancelled" => Some(End::Failed {
            code: "agent_canceled",
            message: Text::new(
                format!("{agent} stopped this turn by itself"),
                format!("{agent} 自行停止了本轮"),
            ),
        }),
        "refusal" => Some(End::Done { reason: RunEnd::ContentFilter }),
        "max_tokens" => Some(End::Done { reason: RunEnd::Length }),
        "max_turn_requests" => Some(End::Done { reason: RunEnd::MaxPasses }),
        _ => None,
    }
}

/// The end of a turn whose agent did something else than it had said.
pub(super) fn stopped(agent: &str, code: &'static str) -> End {
    let message = if code == BROKEN {
        Text::new(
            format!(
                "{agent} said that it used a tool of ChatOS, and ChatOS saw no such call. The turn was stopped; look at what it did."
            ),
            format!(
                "{agent} 声称使用了 ChatOS 的工具，但 ChatOS 并未收到该调用。本轮已停止；请检查它做了什么。"
            ),
        )
    } else {
        Text::new(
            format!(
                "{agent} announced something else after you had approved it. The turn was stopped; look at what it changed."
            ),
            format!("{agent} 在你批准之后又改变了内容。本轮已停止；请检查它做了哪些更改。"),
        )
    };
    End::Failed { code, message }
}

pub(super) fn lost(agent: &str) -> Text {
    Text::new(
        format!(
            "{agent} cannot load the session of this chat, so the cut-off turn cannot go on. Send a message to begin anew; look first at what was done."
        ),
        format!("{agent} 无法载入此会话，中断的一轮无法继续。请先检查已完成的内容，再发送消息重新开始。"),
    )
}

pub(super) fn waits(agent: &str, left: std::time::Duration) -> Text {
    let seconds = left.as_secs() + 1;
    Text::new(
        format!(
            "{agent} can load a session only in a later minute than it began it; it goes on in {seconds} s."
        ),
        format!("{agent} 只能在会话开始后的下一分钟载入该会话；{seconds} 秒后继续。"),
    )
}

pub(super) fn first_again(agent: &str) -> Text {
    Text::new(
        format!(
            "{agent} had not kept its session yet: it begins anew with your message, and is told what was run and what was not."
        ),
        format!("{agent} 尚未保存其会话：它将带着你的消息重新开始，并被告知哪些已执行、哪些未执行。"),
    )
}

pub(super) fn begins_anew(agent: &str) -> Text {
    Text::new(
        format!(
            "{agent} could not load its earlier session. It was told what was said in this chat; what it had read or run itself it does not know any more."
        ),
        format!(
            "{agent} 无法载入先前的会话。已将此对话中说过的内容告诉它；它自己读过或执行过的结果已不再知道。"
        ),
    )
}

pub(super) fn gone(why: &str) -> NoSeat {
    NoSeat {
        code: "agent_gone",
        message: Text::new(format!("the agent is gone {why}"), format!("智能体已退出 {why}")),
        died: true,
    }
}

pub(super) fn not_run_error() -> ToolError {
    let text = Text::fixed("cut off before it began; it was not run", "在开始之前已中断；未执行");
    ToolError::unavailable(Needed::Process, text)
}

pub(super) fn unknown_error() -> ToolError {
    let text = Text::fixed("cut off; the agent looks whether it ran", "已中断；由智能体检查是否已执行");
    ToolError::unavailable(Needed::Process, text)
}

pub(super) fn text_cut(agent: &str) -> Text {
    Text::new(
        format!("{agent} writes more than is kept here; the rest of this answer is not shown."),
        format!("{agent} 输出的内容超出可保留的长度；其余部分不再显示。"),
    )
}

pub(super) fn unaskable(agent: &str, why: Unaskable) -> Text {
    match why {
        Unaskable::NoOptions => Text::new(
            format!("{agent} asked for permission and offered no answer to choose; it was told no"),
            format!("{agent} 请求许可却未提供任何选项；已拒绝"),
        ),
        Unaskable::TooLarge => Text::new(
            format!("{agent} asked for something too large to be shown; it was told no"),
            format!("{agent} 请求的内容过大，无法显示；已拒绝"),
        ),
    }
}
