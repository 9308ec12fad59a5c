//! Which buttons a message has (inbox §5.2). Rejecting and putting off harm nothing; approving is offered for one sort
//! of question only: a command of low or medium risk, told whole, so that what is approved was on the screen.

use chatos_prompts::{Class, Item, whole};
use chatos_tool::{Lang, Redactor};
use chatos_wire::card::{CardRisk, CardVerb, is_invisible};
use chatos_wire::channel::{Answering, Privacy};
use serde_json::Value;

use crate::tokens::Action;
use crate::words::{MOST, card};

/// What may be done about a question from a channel that may answer so much and is told so much.
pub(crate) fn offered(item: &Item, answer: Answering, privacy: Privacy, redactor: &Redactor) -> Vec<Action> {
    let mut actions = Vec::new();
    if answer == Answering::Direct && privacy == Privacy::Full && told_whole(item, redactor).is_some() {
        actions.push(Action::Approve);
    }
    if answer != Answering::None {
        if item.prompt.get("allowCancel") != Some(&false.into()) {
            actions.push(Action::Reject);
        }
        actions.push(Action::Snooze);
    }
    actions
}

/// Everything a person decides over when they approve a command, if it can be told as it is: the command, where it
/// runs, and what the host says about it. Nothing of it hidden, cut or redacted.
pub(crate) fn told_whole(item: &Item, redactor: &Redactor) -> Option<String> {
    let card = card(item)?;
    let ours = item.class == Class::Served && item.effect.as_deref() == Some("command");
    let known = ours && item.shown.is_some() && !item.metadata_only && !whole::is_partial(&item.prompt);
    if !known || card.deed.verb != CardVerb::RunCommand || card.risk == CardRisk::High {
        return None;
    }
    let text = |key: &str| item.prompt.get(key).and_then(Value::as_str).unwrap_or_default();
    let command = text("command");
    let seen = |text: &str, lines: bool| {
        !text.chars().any(|c| is_invisible(c) || (c.is_control() && !(lines && c == '\n')))
    };
    if command.trim().is_empty() || !seen(command, false) || !seen(text("cwd"), false) {
        return None;
    }
    let mut all = command.to_owned();
    if !matches!(text("cwd"), "" | ".") {
        all.push_str("\n↳ ");
        all.push_str(text("cwd"));
    }
    if !text("message").is_empty() {
        all.push('\n');
        all.push_str(text("message"));
    }
    let fits = all.chars().count() <= MOST && seen(text("message"), true);
    (fits && redactor.text(&all) == all.as_str()).then_some(all)
}

/// The words on a button.
pub(crate) fn label(action: Action, lang: Lang) -> &'static str {
    match (action, lang) {
        (Action::Approve, Lang::Zh) => "同意",
        (Action::Reject, Lang::Zh) => "拒绝",
        (Action::Snooze, Lang::Zh) => "15 分钟后提醒",
        (Action::Approve, _) => "Approve",
        (Action::Reject, _) => "Reject",
        (Action::Snooze, _) => "Snooze 15 min",
    }
}
