//! What a channel is told, at the level of privacy a person chose for it. Redacted here, whoever calls (security T15):
//! text that left this computer cannot be taken back.

use chatos_prompts::{Item, Status};
use chatos_tool::{Lang, Redactor, Text};
use chatos_wire::card::{CardRisk, PromptCard, is_invisible, plain};
use chatos_wire::channel::Privacy;
use serde_json::Value;

/// Most characters of a command or a path.
pub(crate) const MOST: usize = 300;

/// A notice in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) title: String,
    pub(crate) body: String,
    pub(crate) count: usize,
}

impl Said {
    /// Both on one line each.
    pub(crate) fn text(&self) -> String {
        if self.body.is_empty() { self.title.clone() } else { format!("{}\n{}", self.title, self.body) }
    }
}

/// The notice about these questions. `whole` stands in place of the command or path where it can be approved.
pub(crate) fn said(
    items: &[Item],
    privacy: Privacy,
    lang: Lang,
    redactor: &Redactor,
    whole: Option<&str>,
) -> Said {
    let count = items.len();
    let zh = lang == Lang::Zh;
    let needs = if zh {
        format!("ChatOS 需要你处理（{count}）")
    } else {
        format!("ChatOS needs you ({count})")
    };
    let plainly = |title: String, body: String| Said {
        title: redactor.text(&title).into_owned(),
        body: redactor.text(&body).into_owned(),
        count,
    };
    match (items, privacy) {
        (_, Privacy::Count) => plainly(needs, String::new()),
        ([item], Privacy::Tool) => plainly(needs, deed(item, zh)),
        ([item], Privacy::Title) => plainly(title(item, lang), who(item, zh)),
        ([item], Privacy::Full) => {
            let thing = whole.map_or_else(|| redactor.trimmed(&thing(item), MOST), str::to_owned);
            let parts = [thing, who(item, zh)].into_iter().filter(|part| !part.is_empty());
            plainly(title(item, lang), parts.collect::<Vec<_>>().join("\n"))
        }
        (_, Privacy::Tool) => plainly(needs, together(items, false, zh)),
        (_, Privacy::Title | Privacy::Full) => plainly(together(items, true, zh), String::new()),
    }
}

/// What became of these questions, for a message that is left standing.
pub(crate) fn ended(items: &[Item]) -> Text {
    let outcome = |item: &Item| match (&item.answer, item.effect.is_some()) {
        (Some(answer), true) if answer.status == Status::Ok => Text::fixed("✓ Approved", "✓ 已同意"),
        (Some(answer), false) if answer.status == Status::Ok => Text::fixed("✓ Answered", "✓ 已回答"),
        (Some(answer), _) if answer.status == Status::Canceled => Text::fixed("✗ Rejected", "✗ 已拒绝"),
        (Some(_), _) => Text::fixed("No longer open", "已结束"),
        (None, _) => Text::fixed("Put off", "已推迟"),
    };
    match items {
        [item] => outcome(item),
        _ => Text::fixed("No longer open", "已结束"),
    }
}

/// How risky a question is; what the host knows nothing of is not called harmless.
pub(crate) fn risk(item: &Item) -> CardRisk {
    card(item).map_or(CardRisk::Medium, |card| card.risk)
}

pub(crate) fn card(item: &Item) -> Option<PromptCard> {
    serde_json::from_value(item.card.clone()?).ok()
}

fn title(item: &Item, lang: Lang) -> String {
    let known = card(item).and_then(|card| card.title()).map(|title| title.get(lang).to_owned());
    let asked = || item.title().map(plain).filter(|title| !title.is_empty());
    let none = if lang == Lang::Zh { "有一个问题等待你回答" } else { "A question waits for you" };
    known.or_else(asked).unwrap_or_else(|| none.to_owned())
}

/// Who asks for what, and how risky: names only.
fn deed(item: &Item, zh: bool) -> String {
    let Some(card) = card(item) else {
        return if zh { "来自外部程序" } else { "From an external program" }.to_owned();
    };
    let asker = card.agent.as_deref().or(client(item)).or(card.client.as_deref());
    let parts = [asker, card.sub_agent.as_deref(), card.tool.as_deref().or(card.server.as_deref())];
    let chain = parts.into_iter().flatten().collect::<Vec<_>>().join(" ▸ ");
    let risk = match (card.risk, zh) {
        (CardRisk::Low, false) => "low risk",
        (CardRisk::Medium, false) => "medium risk",
        (CardRisk::High, false) => "high risk",
        (CardRisk::Low, true) => "低风险",
        (CardRisk::Medium, true) => "中风险",
        (CardRisk::High, true) => "高风险",
    };
    if chain.is_empty() { risk.to_owned() } else { format!("{chain} · {risk}") }
}

/// As [`deed`], and the folder it is about.
fn who(item: &Item, zh: bool) -> String {
    let deed = deed(item, zh);
    match project(item) {
        Some(project) => format!("{deed} · {project}"),
        None => deed,
    }
}

fn client(item: &Item) -> Option<&str> {
    item.client.as_ref()?.get("name")?.as_str()
}

fn project(item: &Item) -> Option<String> {
    let of_client = || item.client.as_ref()?.get("project")?.as_str().map(plain);
    card(item).and_then(|card| card.project).map(|project| project.name).or_else(of_client)
}

/// The command or the path itself. Arguments of tools are not among it.
fn thing(item: &Item) -> String {
    let text = |key: &str| item.prompt.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let seen = |c: char| if c.is_control() || is_invisible(c) { '\u{fffd}' } else { c };
    text("command").or_else(|| text("path")).unwrap_or_default().chars().map(seen).collect()
}

/// Several questions: who asks, if it is one, and where.
fn together(items: &[Item], places: bool, zh: bool) -> String {
    let count = items.len();
    let same = |of: &dyn Fn(&Item) -> Option<String>| {
        let first = items.first().and_then(of)?;
        items.iter().all(|item| of(item).as_ref() == Some(&first)).then_some(first)
    };
    let asker = same(&|item| {
        let card = card(item);
        card.as_ref()
            .and_then(|card| card.agent.clone())
            .or_else(|| client(item).map(plain))
            .or_else(|| card.and_then(|card| card.client))
    });
    let place = if places { same(&project) } else { None };
    match (asker, place, zh) {
        (Some(asker), Some(place), false) => format!("{count} questions from {asker} in {place}"),
        (Some(asker), None, false) => format!("{count} questions from {asker}"),
        (None, Some(place), false) => format!("{count} questions in {place}"),
        (None, None, false) => format!("{count} questions wait for you"),
        (Some(asker), Some(place), true) => format!("{asker} 在 {place} 中提出了 {count} 个问题"),
        (Some(asker), None, true) => format!("{asker} 提出了 {count} 个问题"),
        (None, Some(place), true) => format!("{place} 中有 {count} 个问题"),
        (None, None, true) => format!("有 {count} 个问题等待你回答"),
    }
}
