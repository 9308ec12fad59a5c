//! Questions of one model answer that are asked together (inbox §3.1): each has its record, its digest and its one use;
//! a person sees and answers them as one. The first open one stands for the others in lists, counts and events.

use std::collections::HashSet;

use chatos_prompts::{Ask, Item, RequestId, Surface};
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::fault::lang as prompt_lang;
use crate::questions::{PromptReply, Questions, parse, worded};

/// One answer to questions that are asked together.
#[derive(Debug, Clone, Default)]
pub struct TogetherReply {
    /// The digest over all that was shown.
    pub shown: String,
    /// Those that are approved.
    pub accepted: Vec<String>,
    pub remark: Option<String>,
    /// All are refused, and the run that asks ends.
    pub stop: bool,
    /// Who answers and where, as in [`PromptReply`].
    pub by: Option<String>,
    pub viewer: String,
    pub pid: Option<u32>,
}

/// Writes on a card which questions it is asked with. Only what the host's own servers ask, and what is remembered, is.
pub(crate) fn mark(ask: &mut Ask, group: &Value) {
    let own = ask.owner.as_str().starts_with("host:");
    let fits = group["id"].is_string() && group["at"].is_u64() && group["of"].is_u64();
    let kept = ask.effect.as_ref().is_some_and(crate::rules::is_kept);
    if let (true, true, true, Some(card)) = (own, fits, kept, &mut ask.card) {
        card["group"] = json!({ "id": group["id"], "at": group["at"], "of": group["of"] });
    }
}

fn group_of(item: &Item) -> Option<String> {
    item.card.as_ref()?["group"]["id"].as_str().map(str::to_owned)
}

impl Questions {
    fn open_groups(&self) -> Vec<(String, String)> {
        let Some(store) = &self.store else { return Vec::new() };
        store.open_groups().unwrap_or_else(|error| {
            tracing::warn!(%error, "questions that belong together are shown one by one");
            Vec::new()
        })
    }

    /// Open questions that another one stands for.
    pub(crate) fn together_hidden(&self) -> HashSet<String> {
        let mut seen = HashSet::new();
        let later = |(group, id): (String, String)| (!seen.insert(group)).then_some(id);
        self.open_groups().into_iter().filter_map(later).collect()
    }

    /// The one that stands for the rest, now that this one is answered.
    pub(crate) fn together_next(&self, item: &Item) -> Option<Item> {
        let group = group_of(item)?;
        let (_, id) = self.open_groups().into_iter().find(|(name, _)| *name == group)?;
        self.prompts().get(&RequestId::parse(&id).ok()?)
    }

    fn together_items(&self, id: &str) -> Result<Vec<Item>, Fault> {
        let item = self.item(&parse(id)?)?;
        let Some(group) = group_of(&item) else { return Ok(vec![item]) };
        let ids = self.open_groups().into_iter().filter(|(name, _)| *name == group);
        ids.map(|(_, id)| self.item(&parse(&id)?)).collect()
    }

    /// A question with those it is asked together with, in their order.
    pub(crate) fn with_those_asked_together(&self, item: Item) -> Result<Vec<Item>, Fault> {
        match group_of(&item) {
            Some(_) if item.answer.is_none() => self.together_items(item.request_id.as_str()),
            _ => Ok(vec![item]),
        }
    }

    /// `GET /prompts/{id}/together`: the open questions that are asked with this one, itself among them.
    pub fn together(&self, id: &str, lang: Lang) -> Result<Value, Fault> {
        let items = self.together_items(id)?;
        let shown = digest(&items);
        let items: Vec<Value> =
            items.iter().map(|item| worded(item.to_json(prompt_lang(lang)), lang)).collect();
        Ok(json!({ "items": items, "shown": shown }))
    }

    /// `POST /prompts/{id}/together`: approves some of them and refuses the others. What was shown must be what is open
    /// now; then each is answered by itself, so that a host that is killed half-way leaves each answered or open.
    pub fn answer_together(
        &self,
        id: &str,
        reply: &TogetherReply,
        surface: Surface,
        lang: Lang,
    ) -> Result<Value, Fault> {
        let items = self.together_items(id)?;
        let known = |wanted: &String| items.iter().any(|item| item.request_id.as_str() == wanted);
        if digest(&items) != reply.shown || !reply.accepted.iter().all(known) {
            return Err(Fault::new(
                ErrorCode::Conflict,
                Text::fixed("the questions changed after they were shown", "问题在显示之后发生了变化"),
            )
            .code("shown_mismatch")
            .hint(Text::fixed("look at them again; nothing was answered", "请重新查看；未记录任何回答")));
        }
        let (mut done, mut skipped) = (Vec::new(), Vec::new());
        for item in &items {
            let id = item.request_id.as_str();
            let status = if !reply.stop && reply.accepted.iter().any(|wanted| wanted == id) {
                "ok"
            } else {
                "canceled"
            };
            let mut response = json!({ "status": status });
            if let Some(remark) = reply.remark.as_deref().filter(|remark| !remark.trim().is_empty()) {
                response["remark"] = json!(remark);
            }
            if reply.stop {
                response["stop"] = json!(true);
            }
            let one = PromptReply {
                response,
                shown: item.shown.clone(),
                by: reply.by.clone(),
                viewer: reply.viewer.clone(),
                pid: reply.pid,
                ..PromptReply::default()
            };
            match self.respond(id, &one, surface, lang) {
                Ok(_) => done.push(json!(id)),
                Err(fault) => {
                    skipped.push(json!({ "id": id, "code": fault.code, "message": fault.message.get(lang) }));
                }
            }
        }
        Ok(json!({ "done": done, "skipped": skipped }))
    }
}

/// Over which questions they are, and what each shows.
fn digest(items: &[Item]) -> String {
    let mut hash = Sha256::new();
    for item in items {
        hash.update(item.request_id.as_str());
        hash.update(b"\n");
        hash.update(item.shown.as_deref().unwrap_or_default());
        hash.update(b"\n");
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
