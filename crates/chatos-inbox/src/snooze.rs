//! Putting a question off for a while (inbox §3.4): it leaves the list and the badge, whoever asked keeps waiting, and
//! it returns with one notice. A mark of this state, nothing of the log.

use std::collections::HashMap;

use chatos_prompts::{Item, format_ms, parse_iso};
use chatos_store::now_ms;
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use chatos_wire::event::{HostEvent, PromptItem};
use chatos_wire::prompt::PromptCounts;
use serde_json::{Value, json};

use crate::fault::{lang as prompt_lang, wrong};
use crate::inbox::Inbox;
use crate::questions::{Questions, parse, worded};

/// The longest a question is put off.
const MOST_MS: i64 = 30 * 86_400_000;

impl Questions {
    /// The questions that are put off, with the moment each returns.
    pub(crate) fn snoozed(&self) -> Result<HashMap<String, i64>, Fault> {
        match &self.store {
            Some(store) => Ok(store.snoozed_prompts(now_ms())?),
            None => Ok(HashMap::new()),
        }
    }

    /// Numbers for badges; what is put off counts apart.
    pub fn told_counts(&self) -> PromptCounts {
        let counts = self.counts();
        // A table that cannot be read leaves the questions counted.
        let snoozed = self.snoozed().map_or(0, |marks| marks.len()).min(counts.needs_you);
        PromptCounts { needs_you: counts.needs_you - snoozed, results: counts.results, snoozed }
    }

    /// `GET /prompts?view=snoozed`: what is put off, by the moment it returns.
    pub(crate) fn list_snoozed(&self, lang: Lang) -> Result<Value, Fault> {
        let mut marks: Vec<(String, i64)> = self.snoozed()?.into_iter().collect();
        marks.sort_by(|a, b| (a.1, &a.0).cmp(&(b.1, &b.0)));
        let mut items = Vec::new();
        for (id, until) in marks.into_iter().take(200) {
            let item = self.prompts().get(&parse(&id)?).filter(Item::needs_you);
            items.extend(item.map(|item| listed(&item, Some(until), lang)));
        }
        Ok(json!({
            "items": items,
            "nextCursor": null,
            "counts": self.told_counts(),
            "problems": self.prompts().health().to_json(),
        }))
    }

    /// `POST /prompts/{id}/snooze`: off until a moment, or back at once without one. Gives the item.
    pub fn snooze(&self, id: &str, until: Option<&str>, lang: Lang) -> Result<Value, Fault> {
        let id = parse(id)?;
        let item = self.item(&id)?;
        let now = now_ms();
        let until = match until {
            None => None,
            Some(text) => Some(checked(&item, text, now)?),
        };
        if !item.needs_you() {
            return Err(Fault::new(
                ErrorCode::Conflict,
                Text::new(format!("`{id}` no longer waits for you"), format!("`{id}` 已不再等待你处理")),
            )
            .code("already_answered"));
        }
        let _moment = self.moment()?;
        if let Some(store) = &self.store {
            store.snooze_prompt(id.as_str(), until, now)?;
        }
        Ok(listed(&item, until, lang))
    }
}

impl Inbox {
    /// As [`Questions::snooze`], and every page hears of it.
    pub fn snooze(&self, id: &str, until: Option<&str>, lang: Lang) -> Result<Value, Fault> {
        let item = self.questions()?.snooze(id, until, lang)?;
        self.parts().events.publish(HostEvent::PromptSnoozed(PromptItem(item.clone())));
        self.tell_counts()?;
        Ok(item)
    }

    /// Questions whose time is over are back, for everybody who looks.
    pub(crate) fn bring_back(&self) -> Result<(), Fault> {
        let back = self.parts().store.returned_prompts(now_ms())?;
        if back.is_empty() {
            return Ok(());
        }
        let questions = self.questions()?;
        for id in back {
            if let Some(item) = questions.prompts().get(&parse(&id)?).filter(Item::needs_you) {
                let item = listed(&item, None, self.lang());
                self.parts().events.publish(HostEvent::PromptSnoozed(PromptItem(item)));
            }
        }
        self.tell_counts()
    }

    pub(crate) fn tell_counts(&self) -> Result<(), Fault> {
        let counts = self.questions()?.told_counts();
        self.parts().events.publish(HostEvent::PromptCounts(counts));
        Ok(())
    }
}

/// An item in a list, with the moment it returns.
pub(crate) fn listed(item: &Item, until: Option<i64>, lang: Lang) -> Value {
    let mut json = worded(item.to_list_json(prompt_lang(lang)), lang);
    json["snoozedUntil"] = until.map(format_ms).into();
    json
}

fn checked(item: &Item, text: &str, now: i64) -> Result<i64, Fault> {
    let until = parse_iso(text).filter(|until| *until > now);
    let until = until.ok_or_else(|| {
        wrong(
            "until",
            text,
            "a moment to come, as in 2030-01-31T09:00:00Z",
            "将来的时间，例如 2030-01-31T09:00:00Z",
        )
    })?;
    let too_far = |en: &'static str, zh: &'static str| {
        Err(Fault::new(ErrorCode::InvalidArgument, Text::fixed(en, zh))
            .code("until_too_far")
            .hint(Text::fixed("choose an earlier moment", "请选择更早的时间")))
    };
    if until - now > MOST_MS {
        return too_far("a question is put off for at most 30 days", "最多可将问题推迟 30 天");
    }
    if item.expires_at.is_some_and(|end| until >= end) {
        return too_far("the question ends before that", "在那之前该问题就会过期");
    }
    Ok(until)
}
