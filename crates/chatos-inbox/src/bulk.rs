//! One decision about many questions (inbox §3.3). The host says what exactly it would be about, with one digest over all
//! of it; an answer that brings another digest answers nothing. Then each is answered by itself, so that a host that is
//! killed half-way leaves each answered or open.

use std::collections::HashSet;

use chatos_prompts::{Item, Query, Surface, View, whole};
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use chatos_wire::event::{HostEvent, PromptItem};
use chatos_wire::prompt::{BulkAction, BulkSelect, PromptQuery};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::fault::{query_fault, wrong};
use crate::inbox::Inbox;
use crate::questions::{PromptReply, Questions, parse};
use crate::sift::{Sieve, counted};

/// Most that one look can approve.
const MOST_APPROVED: usize = 500;
/// Most that are refused, put off or read at once.
const MOST: usize = 5_000;

/// One answer to many questions.
#[derive(Debug, Clone)]
pub struct BulkReply {
    pub select: BulkSelect,
    pub action: BulkAction,
    /// As the preview gave it.
    pub digest: String,
    pub remark: Option<String>,
    /// With `snooze`: until when.
    pub until: Option<String>,
    /// Who answers and where, as in [`PromptReply`].
    pub by: Option<String>,
    pub viewer: String,
    pub pid: Option<u32>,
}

/// What an order is about.
struct Chosen {
    items: Vec<Item>,
    excluded: Vec<Left>,
}

/// A question that is not answered, by its id, with why.
type Left = (String, &'static str);

impl Questions {
    /// `POST /prompts/bulk/preview`: what would be answered, what would not and why, and the digest over the first.
    pub fn bulk_preview(&self, select: &BulkSelect, action: BulkAction, lang: Lang) -> Result<Value, Fault> {
        let chosen = self.chosen(select, action)?;
        Ok(preview(&chosen, action, lang))
    }

    /// `POST /prompts/bulk`: does it, if it still is what was shown.
    pub fn bulk(&self, reply: &BulkReply, surface: Surface, lang: Lang) -> Result<Value, Fault> {
        let chosen = self.chosen(&reply.select, reply.action)?;
        if digest(&chosen.items, reply.action) != reply.digest {
            return Err(Fault::new(
                ErrorCode::Conflict,
                Text::fixed("the questions changed after they were shown", "问题在显示之后发生了变化"),
            )
            .code("shown_mismatch")
            .hint(Text::fixed("look at them again; nothing was answered", "请重新查看；未记录任何回答"))
            .details(preview(&chosen, reply.action, lang)));
        }
        let (mut done, mut skipped) = (Vec::new(), Vec::new());
        for item in &chosen.items {
            let id = item.request_id.as_str();
            match self.one_of_many(item, reply, surface, lang) {
                Ok(_) => done.push(json!(id)),
                Err(fault) => {
                    skipped.push(json!({ "id": id, "code": fault.code, "message": fault.message.get(lang) }));
                }
            }
        }
        Ok(json!({ "done": done, "skipped": skipped }))
    }

    fn one_of_many(
        &self,
        item: &Item,
        reply: &BulkReply,
        surface: Surface,
        lang: Lang,
    ) -> Result<Value, Fault> {
        let id = item.request_id.as_str();
        let status = match reply.action {
            BulkAction::Snooze => return self.snooze(id, reply.until.as_deref(), lang),
            BulkAction::Approve | BulkAction::Read => "ok",
            BulkAction::Reject => "canceled",
        };
        let mut response = json!({ "status": status });
        // A call to allow has its answers as options.
        if reply.action == BulkAction::Approve && item.kind.as_deref() == Some("choice") {
            response["selection"] = json!("once");
        }
        if let Some(remark) = reply.remark.as_deref().filter(|remark| !remark.trim().is_empty()) {
            response["remark"] = json!(remark.trim());
        }
        let one = PromptReply {
            response,
            shown: item.shown.clone(),
            by: reply.by.clone(),
            viewer: reply.viewer.clone(),
            pid: reply.pid,
            ..PromptReply::default()
        };
        self.respond(id, &one, surface, lang)
    }

    fn chosen(&self, select: &BulkSelect, action: BulkAction) -> Result<Chosen, Fault> {
        let (found, mut excluded) = self.selected(select, action)?;
        let mut items: Vec<Item> = Vec::new();
        for item in found {
            match refusal(&item, action) {
                None => items.push(item),
                Some(why) => excluded.push((item.request_id.as_str().to_owned(), why)),
            }
        }
        let most = if action == BulkAction::Approve { MOST_APPROVED } else { MOST };
        if items.len() > most {
            return Err(Fault::new(
                ErrorCode::InvalidArgument,
                Text::new(
                    format!("at most {most} questions at once; these are {}", items.len()),
                    format!("一次最多 {most} 个问题；这里有 {} 个", items.len()),
                ),
            )
            .code("too_many")
            .hint(Text::fixed("choose fewer, or narrow the filter", "请减少选择，或缩小筛选范围")));
        }
        if action == BulkAction::Approve {
            let kinds: HashSet<Option<&str>> = items.iter().map(|item| item.effect.as_deref()).collect();
            if kinds.len() > 1 {
                return Err(Fault::new(
                    ErrorCode::InvalidArgument,
                    Text::fixed(
                        "these are of several kinds; approve one kind at a time",
                        "这些问题类型不同，请一次只同意一种",
                    ),
                )
                .code("mixed_kinds")
                .hint(Text::fixed(
                    "choose only commands, or only changes of files",
                    "请只选择命令，或只选择文件更改",
                )));
            }
        }
        Ok(Chosen { items, excluded })
    }

    /// The open questions that are meant, and the ids that are none. One of several that are asked together stands
    /// for all of them.
    fn selected(&self, select: &BulkSelect, action: BulkAction) -> Result<(Vec<Item>, Vec<Left>), Fault> {
        let mut excluded = Vec::new();
        let found = match (&select.ids, &select.filter) {
            (Some(ids), None) => {
                let mut items = Vec::new();
                for id in ids.iter().take(MOST + 1) {
                    match self.item(&parse(id)?) {
                        Ok(item) => items.push(item),
                        Err(fault) if fault.class == ErrorCode::NotFound => {
                            excluded.push((id.clone(), "unknown_request"));
                        }
                        Err(fault) => return Err(fault),
                    }
                }
                items
            }
            (None, Some(filter)) if action != BulkAction::Read => {
                let sieve = Sieve::of_filter(filter);
                let snoozed = self.snoozed()?;
                let wanted = filter.snoozed.unwrap_or(false);
                let mut items = self.open_items(filter.q.as_deref())?;
                items.retain(|item| {
                    sieve.fits(item) && snoozed.contains_key(item.request_id.as_str()) == wanted
                });
                items
            }
            _ => return Err(wrong("select", "", "either ids or a filter", " ids 或 filter 之一")),
        };
        let mut seen = HashSet::new();
        let mut items = Vec::new();
        for item in found {
            for one in self.with_those_asked_together(item)? {
                if seen.insert(one.request_id.as_str().to_owned()) {
                    items.push(one);
                }
            }
        }
        Ok((items, excluded))
    }
}

impl Questions {
    /// Every open question with these words in it, oldest first.
    pub(crate) fn open_items(&self, q: Option<&str>) -> Result<Vec<Item>, Fault> {
        let ready = self.prompts().ready_within(std::time::Duration::from_secs(30));
        ready.map_err(|error| query_fault(&error.into()))?;
        let mut items = Vec::new();
        let mut query =
            Query { view: View::NeedsYou, q: q.map(str::to_owned), limit: 200, ..Query::default() };
        loop {
            let page = self.prompts().list(&query).map_err(|error| query_fault(&error))?;
            items.extend(page.items);
            if page.next_cursor.is_none() {
                return Ok(items);
            }
            query.cursor = page.next_cursor;
        }
    }

    /// `GET /prompts?facets=true`: what waits, counted by what tells questions apart.
    pub(crate) fn facets(&self, wanted: &PromptQuery, sieve: &Sieve) -> Result<Value, Fault> {
        if !matches!(wanted.view.as_deref(), None | Some("" | "needs_you")) {
            return Err(wrong("facets", "true", "the view needs_you with it", "配合视图 needs_you"));
        }
        let (snoozed, hidden) = (self.snoozed()?, self.together_hidden());
        let items = self.open_items(wanted.q.as_deref())?;
        let listed = items.iter().filter(|item| {
            let id = item.request_id.as_str();
            !snoozed.contains_key(id) && !hidden.contains(id)
        });
        Ok(counted(listed, sieve))
    }
}

impl Inbox {
    /// As [`Questions::bulk`]; pages hear of what was put off.
    pub fn answer_many(&self, reply: &BulkReply, surface: Surface, lang: Lang) -> Result<Value, Fault> {
        let done = self.questions()?.bulk(reply, surface, lang)?;
        if reply.action == BulkAction::Snooze {
            for id in done["done"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                let item = self.questions()?.show(id, lang)?;
                self.parts().events.publish(HostEvent::PromptSnoozed(PromptItem(item)));
            }
            self.tell_counts()?;
        }
        Ok(done)
    }
}

/// Why a question is not among those that are answered.
fn refusal(item: &Item, action: BulkAction) -> Option<&'static str> {
    if item.answer.is_some() || !matches!(item.state, chatos_prompts::ItemState::Pending) {
        return Some("already_answered");
    }
    match action {
        BulkAction::Approve => not_approvable(item),
        BulkAction::Reject => {
            let cancelable = item.prompt.get("allowCancel") != Some(&Value::Bool(false));
            (!cancelable || !item.needs_you()).then_some("cannot_reject")
        }
        BulkAction::Snooze => (!item.needs_you()).then_some("not_a_question"),
        BulkAction::Read => (item.kind.as_deref() != Some("result")).then_some("not_a_result"),
    }
}

/// One look at a sheet is enough only for what is shown there as a whole and costs little.
fn not_approvable(item: &Item) -> Option<&'static str> {
    let card = item.card.as_ref().unwrap_or(&Value::Null);
    let confirms = item.kind.as_deref() == Some("file_change_confirm");
    let allows = item.effect.as_deref() == Some("tool_approval") && offers_once(item);
    if item.problem.is_some() || item.effect.is_none() || !(confirms || allows) || card.is_null() {
        return Some("needs_its_own_answer");
    }
    if card["risk"] == "high" {
        return Some("high_risk");
    }
    if whole::is_partial(&item.prompt) || item.metadata_only {
        return Some("not_shown");
    }
    None
}

/// Another program's tool may come with answers of its own; only a person picks among those.
fn offers_once(item: &Item) -> bool {
    let options = item.prompt.get("options").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let several = item.prompt.get("multiple") == Some(&Value::Bool(true));
    !several && options.iter().any(|option| option["value"] == "once")
}

fn preview(chosen: &Chosen, action: BulkAction, lang: Lang) -> Value {
    let view = |item: &Item| {
        let card = item.card.as_ref().unwrap_or(&Value::Null);
        let text = |key: &str| item.prompt.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let about = match (text("command"), item.effect.as_deref(), item.prompt.get("arguments")) {
            (command, ..) if !command.is_empty() => command,
            (_, Some("tool_approval"), Some(arguments)) => arguments.to_string(),
            // Another program has them in its words.
            (_, Some("tool_approval"), None) => text("message"),
            _ => text("path"),
        };
        json!({
            "id": item.request_id,
            "title": title(item, lang),
            "about": about,
            "kind": item.effect,
            "risk": card["risk"],
            "shown": item.shown,
        })
    };
    let left = |(id, why): &(String, &'static str)| json!({ "id": id, "reason": why, "message": word(why).get(lang) });
    json!({
        "items": chosen.items.iter().map(view).collect::<Vec<_>>(),
        "excluded": chosen.excluded.iter().map(left).collect::<Vec<_>>(),
        "digest": digest(&chosen.items, action),
    })
}

/// The title of a question as lists show it.
fn title(item: &Item, lang: Lang) -> String {
    let card =
        item.card.clone().and_then(|card| serde_json::from_value::<chatos_wire::card::PromptCard>(card).ok());
    let told = card.and_then(|card| card.title()).map(|title| title.get(lang).to_owned());
    told.or_else(|| item.title().map(str::to_owned)).unwrap_or_default()
}

fn word(why: &str) -> Text {
    match why {
        "unknown_request" => Text::fixed("no such question", "没有此问题"),
        "already_answered" => Text::fixed("answered already", "已回答"),
        "high_risk" => Text::fixed("high risk: answer it by itself", "高风险：请单独回答"),
        "not_shown" => Text::fixed("too long to be shown here: answer it by itself", "内容过长：请单独回答"),
        "cannot_reject" => Text::fixed("cannot be rejected", "不能拒绝"),
        "not_a_result" | "not_a_question" => Text::fixed("nothing of this kind", "类型不符"),
        _ => Text::fixed("needs an answer of its own", "需要单独回答"),
    }
}

/// Over what is to be done, with which questions, and what each shows.
fn digest(items: &[Item], action: BulkAction) -> String {
    let mut rows: Vec<(&str, &str)> = items
        .iter()
        .map(|item| (item.request_id.as_str(), item.shown.as_deref().unwrap_or_default()))
        .collect();
    rows.sort_unstable();
    let mut hash = Sha256::new();
    hash.update(json!([action, rows]).to_string());
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
