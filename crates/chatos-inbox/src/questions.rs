//! Everything a surface can do with the queue, as JSON in and JSON out: the HTTP routes and the terminal
//! without a host both go through it, so they cannot differ.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use chatos_paths::{FileLock, StateDir, take_lock};
use chatos_prompts::effect::Difference;
use chatos_prompts::{
    Answerer, Approval, Ask, Counts, Effect, Event, Item, Origin, Owner, Prompts, RequestId, Respond, Scope,
    Surface, Unasked, Viewer, WaitError, shown, whole,
};
use chatos_store::{Store, StoreError};
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use chatos_wire::prompt::PromptQuery;
use serde_json::{Value, json};
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use crate::card;
use crate::fault::{
    archive_fault, ask_fault, lang as prompt_lang, query_fault, records_fault, respond_fault, unknown,
    use_fault, wrong,
};
use crate::query::{before_ms, query};
use crate::rules::WantedRule;
use crate::seen::Seen;
use crate::sift::Sieve;
use crate::snooze;
use crate::starter::Starter;

/// Longest command or arguments that a person may write instead of what was asked.
const MAX_EDITED: usize = 32 * 1024;

/// An answer as a surface sends it.
#[derive(Debug, Clone, Default)]
pub struct PromptReply {
    pub response: Value,
    pub shown: Option<String>,
    pub run_id: Value,
    /// `cli` or `client`; otherwise the surface is known from the session.
    pub by: Option<String>,
    /// `<pluginId>/<appId>`: the app answers its own prompt through its port.
    pub app: Option<String>,
    /// Which page or terminal answers, as in [`Questions::text`]; never taken from the body.
    pub viewer: String,
    /// The process that answers, where it says so: no program answers what it asked itself.
    pub pid: Option<u32>,
    /// The rule to make of it.
    pub rule: Option<WantedRule>,
}

impl PromptReply {
    /// From the body `{response, shown?, runId?, by?, app?, pid?, rule?}`.
    pub fn from_payload(body: &Value) -> Result<Self, Fault> {
        let text = |key: &str| match body.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => Err(wrong(key, &other.to_string(), "a string", "字符串")),
        };
        Ok(Self {
            response: body.get("response").cloned().unwrap_or(Value::Null),
            shown: text("shown")?,
            run_id: body.get("runId").cloned().unwrap_or(Value::Null),
            by: text("by")?,
            app: text("app")?,
            viewer: String::new(),
            pid: body.get("pid").and_then(Value::as_u64).and_then(|pid| u32::try_from(pid).ok()),
            rule: body
                .get("rule")
                .filter(|rule| !rule.is_null())
                .map(WantedRule::from_payload)
                .transpose()?,
        })
    }
}

/// The queue of one state directory.
pub struct Questions {
    prompts: Prompts,
    /// Absent when there is no database yet: then only foreign prompts exist.
    pub(crate) store: Option<Store>,
    /// Where `host.lock` is taken for the moment of a record; `None` for a host, which holds it for life.
    lock: Option<StateDir>,
    /// The subscription made when the queue was opened; the one who tends it takes it.
    events: Mutex<Option<broadcast::Receiver<Event>>>,
    seen: Seen,
}

impl Questions {
    pub(crate) fn new(prompts: Prompts, store: Option<Store>, lock: Option<StateDir>) -> Self {
        Self { prompts, store, lock, events: Mutex::new(None), seen: Seen::default() }
    }

    pub(crate) fn of_host(prompts: Prompts, events: broadcast::Receiver<Event>, store: &Store) -> Self {
        let (store, events) = (Some(store.clone()), Mutex::new(Some(events)));
        Self { prompts, store, lock: None, events, seen: Seen::default() }
    }

    /// Knows a question that another process asked.
    pub fn adopt(&self, id: &RequestId) -> Result<(), Fault> {
        self.prompts.ready_within(Duration::from_secs(30)).map_err(|error| query_fault(&error.into()))?;
        if self.prompts.adopt(id).map_err(|error| records_fault(&error))? {
            return Ok(());
        }
        Err(unknown(id.as_str()))
    }

    pub(crate) fn take_events(&self) -> broadcast::Receiver<Event> {
        let kept = self.events.lock().unwrap_or_else(PoisonError::into_inner).take();
        kept.unwrap_or_else(|| self.prompts.subscribe())
    }

    /// The queue itself, for built-in servers and runs.
    pub fn prompts(&self) -> &Prompts {
        &self.prompts
    }

    /// Numbers for badges.
    pub fn counts(&self) -> Counts {
        self.counted(self.prompts.counts())
    }

    /// Questions that are asked together are one.
    pub(crate) fn counted(&self, counts: Counts) -> Counts {
        let hidden = self.together_hidden().len();
        Counts { needs_you: counts.needs_you.saturating_sub(hidden), ..counts }
    }

    /// Stops reading; for a clean stop before the database closes.
    pub fn close(&self) {
        self.prompts.close();
    }

    // state §9: asking, and answering a served prompt, takes `host.lock` for that moment.
    pub(crate) fn moment(&self) -> Result<Option<FileLock>, Fault> {
        self.lock.as_ref().map(|dir| take_lock(dir, Duration::from_secs(3))).transpose()
    }

    /// `GET /prompts`.
    pub fn list(&self, wanted: &PromptQuery, lang: Lang) -> Result<Value, Fault> {
        if wanted.view.as_deref() == Some("snoozed") {
            return self.list_snoozed(lang);
        }
        let mut query = query(wanted)?;
        let sieve = Sieve::of_query(wanted);
        let (snoozed, hidden) = (self.snoozed()?, self.together_hidden());
        let waits = matches!(wanted.view.as_deref(), None | Some("" | "needs_you"));
        let until = |item: &Item| snoozed.get(item.request_id.as_str()).copied();
        let shown = |item: &&Item| !hidden.contains(item.request_id.as_str()) && sieve.fits(item);
        let mut items = Vec::new();
        let next = loop {
            let page = self.prompts.list(&query).map_err(|error| query_fault(&error))?;
            let fitting = page.items.iter().filter(shown).filter(|item| !waits || until(item).is_none());
            items.extend(fitting.map(|item| snooze::listed(item, until(item), lang)));
            // A sieve may leave little of a page.
            if sieve.is_open() || page.next_cursor.is_none() || !items.is_empty() {
                break page.next_cursor;
            }
            query.cursor = page.next_cursor;
        };
        let facets = wanted.facets.then(|| self.facets(wanted, &sieve)).transpose()?;
        let mut list = json!({
            "items": items,
            "nextCursor": next,
            "counts": self.told_counts(),
            "problems": self.prompts.health().to_json(),
        });
        if let Some(facets) = facets {
            list["facets"] = facets;
        }
        Ok(list)
    }

    /// `GET /prompts/{id}`: the whole item and the lines that did not count.
    pub fn show(&self, id: &str, lang: Lang) -> Result<Value, Fault> {
        let id = parse(id)?;
        let item = self.item(&id)?;
        let (ignored, foreign) = self.prompts.further_lines(&id);
        let lines = |lines: Vec<chatos_prompts::LineRef>| -> Vec<Value> {
            lines.into_iter().map(|line| json!({ "offset": line.offset, "line": line.line })).collect()
        };
        let mut shown = worded(item.to_json(prompt_lang(lang)), lang);
        shown["snoozedUntil"] =
            self.snoozed()?.get(id.as_str()).copied().map(chatos_prompts::format_ms).into();
        shown["ignoredLines"] = lines(ignored).into();
        shown["foreignLines"] = lines(foreign).into();
        Ok(shown)
    }

    pub(crate) fn item(&self, id: &RequestId) -> Result<Item, Fault> {
        self.prompts.ready_within(Duration::from_secs(30)).map_err(|error| query_fault(&error.into()))?;
        self.prompts.get(id).ok_or_else(|| unknown(id.as_str()))
    }

    /// Ids that begin with a prefix of at least four characters.
    pub fn find(&self, prefix: &str) -> Result<Vec<String>, Fault> {
        self.prompts.ready_within(Duration::from_secs(30)).map_err(|error| query_fault(&error.into()))?;
        self.prompts.catch_up();
        Ok(self.prompts.find_prefix(prefix, 10).into_iter().map(|id| id.to_string()).collect())
    }

    /// `POST /prompts`: `{prompt, requestId?, runId?, owner?, origin?, sessionId?, trace?}`.
    pub fn request(&self, payload: &Value, source: &str, lang: Lang) -> Result<Value, Fault> {
        let (owner, source) = asker(payload.get("owner").unwrap_or(&Value::Null), source)?;
        let mut ask = Ask::from_payload(owner, source, payload);
        ask.origin = origin(payload.get("origin").unwrap_or(&Value::Null))?;
        ask.starter = origin(payload.pointer("/origin/starter").unwrap_or(&Value::Null))?;
        ask.call = payload.get("call").and_then(Value::as_str).map(str::to_owned);
        ask.session_id = payload.get("sessionId").and_then(Value::as_str).map(str::to_owned);
        ask.trace = payload.get("trace").filter(|trace| trace.is_object()).cloned();
        self.name_client(&mut ask)?;
        self.say_through(&mut ask);
        ask.effect = match payload.get("effect") {
            None | Some(Value::Null) => None,
            Some(effect) => Some(Effect::from_payload(effect).ok_or_else(|| {
                wrong("effect", &effect.to_string(), "{name, material}", " {name, material}")
            })?),
        };
        ask.card = self.card(&ask);
        crate::together::mark(&mut ask, &payload["group"]);
        let _moment = self.moment()?;
        // Known before the question is told, so that those asked together are never shown as several.
        if let Some(id) = ask.request_id.as_str() {
            crate::rules::remember(self.store.as_ref(), id, &ask);
        }
        let asked = self.prompts.request(&ask).map_err(|error| ask_fault(&error, lang))?;
        crate::rules::remember(self.store.as_ref(), asked.request_id.as_str(), &ask);
        let warnings: Vec<Value> = asked.warnings.iter().map(|w| w.to_json(prompt_lang(lang))).collect();
        Ok(json!({
            "ok": true,
            "requestId": asked.request_id,
            "warnings": warnings,
            "mirrored": asked.mirrored,
            "repeated": asked.repeated,
            "shown": asked.shown,
        }))
    }

    /// Asks for a caller inside the host; gives the id.
    pub fn ask(&self, ask: &Ask) -> Result<String, Fault> {
        let mut ask = ask.clone();
        self.name_client(&mut ask)?;
        self.say_through(&mut ask);
        ask.card = self.card(&ask);
        let _moment = self.moment()?;
        let asked = self.prompts.request(&ask).map_err(|error| ask_fault(&error, Lang::En))?;
        crate::rules::remember(self.store.as_ref(), asked.request_id.as_str(), &ask);
        Ok(asked.request_id.to_string())
    }

    /// A question of another program's session names the program and where it works (other-agents §2.2). Only the
    /// host's own record counts, whatever the asker says.
    fn name_client(&self, ask: &mut Ask) -> Result<(), Fault> {
        let (Some(store), Some(id)) = (&self.store, ask.session_id.as_deref()) else { return Ok(()) };
        if !id.starts_with("cl_") {
            return Ok(());
        }
        let Some(client) = store.client(id)? else { return Ok(()) };
        ask.client = Some(client.view());
        // Its process waits for the answer, whichever host it was asked of: it outlives a restart of the host and
        // is over with that process.
        if let (Some(_), None, Some((pid, pid_start))) = (&ask.call, ask.origin, client.process) {
            ask.origin = Some(Origin { pid, pid_start });
            ask.call = None;
            // The program itself, so that it does not answer from its own shell.
            ask.starter = ask.starter.or_else(|| Starter::of(pid).map(|starter| starter.origin));
        }
        Ok(())
    }

    fn card(&self, ask: &Ask) -> Option<Value> {
        serde_json::to_value(card::of(ask, self.store.as_ref())).ok()
    }

    /// A question of a run that an app started names the app beside whoever asks (host-api §5).
    fn say_through(&self, ask: &mut Ask) {
        let (Some(store), Some(run)) = (&self.store, ask.run_id.as_str()) else { return };
        let Ok(Some(through)) = through(store, run) else { return };
        let given = ask.prompt.get("source").and_then(Value::as_str).filter(|source| !source.is_empty());
        let source = format!("{} · {through}", given.unwrap_or(&ask.source));
        if let Some(prompt) = ask.prompt.as_object_mut() {
            prompt.insert("source".to_owned(), source.into());
        }
    }

    /// `POST /prompts/{id}/response`.
    pub fn respond(
        &self,
        id: &str,
        reply: &PromptReply,
        surface: Surface,
        lang: Lang,
    ) -> Result<Value, Fault> {
        let id = parse(id)?;
        let by = match (&reply.app, reply.by.as_deref()) {
            (Some(app), _) => {
                let (plugin, app_id) = app
                    .split_once('/')
                    .ok_or_else(|| wrong("app", app, "pluginId/appId", "pluginId/appId"))?;
                Answerer::App(Owner::app(plugin, app_id))
            }
            (None, None) => Answerer::Person(surface),
            (None, Some("cli")) => Answerer::Person(Surface::Cli),
            (None, Some("client")) => Answerer::Person(Surface::Client),
            (None, Some(other)) => return Err(wrong("by", other, "cli or client", " cli 或 client")),
        };
        self.may_edit(&id, reply, &by)?;
        self.may_stop(&id, reply, &by)?;
        let served = match &self.store {
            Some(store) => store.prompt(id.as_str())?.is_some(),
            None => false,
        };
        let _moment = if served { self.moment()? } else { None };
        let shown = reply.shown.as_deref();
        // A client's form is not among the viewers: what it shows is cut.
        let seen =
            by != Answerer::Person(Surface::Client) && self.seen.has_all(&self.prompts, &id, &reply.viewer);
        let answer = Respond {
            id: &id,
            response: &reply.response,
            shown,
            run_id: &reply.run_id,
            by,
            seen,
            pid: reply.pid,
        };
        let done = self.prompts.respond(&answer).map_err(|error| respond_fault(&error, lang))?;
        Ok(json!({ "ok": true, "mirrored": done.mirrored }))
    }

    /// What a person wrote instead of what was asked is taken only by an asker that knows of it, and only from a
    /// person at this computer (inbox §2.4).
    fn may_edit(&self, id: &RequestId, reply: &PromptReply, by: &Answerer) -> Result<(), Fault> {
        if reply.response.get("edited").is_none() {
            return Ok(());
        }
        let here = matches!(by, Answerer::Person(Surface::Ui | Surface::Cli | Surface::Api));
        let item = self.item(id)?;
        let takes = item.card.is_some_and(|card| card["editable"] == true);
        let edited = &reply.response["edited"];
        let fits = match item.effect.as_deref() {
            Some("command") => edited["command"].as_str().is_some_and(|text| {
                !text.trim().is_empty() && text.len() <= MAX_EDITED && !text.contains('\0')
            }),
            Some("tool_approval") => {
                edited["arguments"].is_object() && edited.to_string().len() <= MAX_EDITED
            }
            _ => false,
        };
        if here && takes && fits {
            return Ok(());
        }
        Err(Fault::new(
            ErrorCode::InvalidArgument,
            Text::fixed("this question cannot be changed before it is approved", "该问题不能修改后再同意"),
        )
        .code("not_editable")
        .hint(Text::fixed("reject it with a note instead", "请改为拒绝并附上备注")))
    }

    /// "Reject and stop" is taken only where there is something that can be ended, and only from a person at this
    /// computer (inbox §1.4).
    fn may_stop(&self, id: &RequestId, reply: &PromptReply, by: &Answerer) -> Result<(), Fault> {
        if matches!(reply.response.get("stop"), None | Some(Value::Null | Value::Bool(false))) {
            return Ok(());
        }
        let here = matches!(by, Answerer::Person(Surface::Ui | Surface::Cli | Surface::Api));
        let stops = self.item(id)?.card.is_some_and(|card| card["stops"] == true);
        let rejects = reply.response["status"] != "ok" && reply.response["stop"] == true;
        if here && stops && rejects {
            return Ok(());
        }
        Err(Fault::new(
            ErrorCode::InvalidArgument,
            Text::fixed("nothing can be stopped with this answer", "无法随此回答停止任何运行"),
        )
        .code("cannot_stop")
        .hint(Text::fixed(
            "only rejecting stops, and only where an agent of this host asks; reject it without stopping",
            "只有拒绝时才能停止，且提问者须是本机的智能体；请只拒绝",
        )))
    }

    /// Keeps a text that a question will show only in part; before the question is asked.
    pub fn keep(&self, text: &str) -> Result<(), Fault> {
        let Some(store) = &self.store else { return Ok(()) };
        store.put_blob(text.as_bytes()).map(drop).map_err(Fault::from)
    }

    /// `GET /prompts/{id}/diff`: lines of the whole text. `viewer` names the page or terminal they go to;
    /// what it was given it may approve.
    pub fn text(&self, id: &str, from: usize, lines: usize, viewer: &str) -> Result<Value, Fault> {
        let id = parse(id)?;
        let item = self.item(&id)?;
        let cut = whole::cut_reference(&item.prompt);
        let text = match (&cut, &self.store) {
            (None, _) => item.prompt.get("diff").and_then(Value::as_str).map(str::to_owned),
            // The record says which text, whatever a line claims.
            (Some(_), Some(store)) => {
                let row = store.prompt(id.as_str())?;
                let bytes = row.and_then(|row| store.blob(&row.diff_blob));
                bytes.and_then(|bytes| String::from_utf8(bytes).ok())
            }
            (Some(_), None) => None,
        };
        let text = text.ok_or_else(|| {
            Fault::new(
                ErrorCode::NotFound,
                Text::new(format!("`{id}` has no text to show"), format!("`{id}` 没有可显示的全文")),
            )
            .code("no_text")
        })?;
        let (part, count) = whole::part(&text, from, lines.clamp(1, whole::MAX_LINES));
        self.seen.given(&id, viewer, from, count);
        let (_, total) = whole::part(&text, 0, usize::MAX);
        Ok(json!({ "from": from, "lines": count, "total": total, "text": part }))
    }

    /// Uses the approval of a question: once, for exactly this effect.
    pub fn use_approval(&self, id: &str, effect: &Effect) -> Result<Approval, Fault> {
        self.prompts.use_approval(&parse(id)?, effect).map_err(|error| use_fault(&error))
    }

    /// The right to do once more what a person approved in this question, after they saw that nobody knows what became
    /// of it and said that it be done again. Nothing where the approval was not used, was given to another text than the
    /// one that was asked about, or `effect`, which is what would happen now, is not exactly what was shown then.
    pub fn once_more(&self, id: &str, effect: &Effect) -> Result<Option<Approval>, Fault> {
        let id = parse(id)?;
        let item = self.item(&id)?;
        let as_asked = item.answer.as_ref().is_some_and(|answer| !answer.response.contains_key("edited"));
        let same =
            item.shown.is_some_and(|shown| shown == shown::digest(&item.prompt, Some(&effect.material)));
        let used = self.prompts.is_used(&id).map_err(|error| records_fault(&error))?;
        Ok((as_asked && same && used).then(|| Approval::unasked(Unasked::UsedBefore)))
    }

    /// What would happen now otherwise than when this question was asked; nothing where it is the same, or not known.
    pub fn changed_since(&self, id: &str, now: &Effect) -> Option<Difference> {
        crate::rules::changed_since(self.store.as_ref(), id, now)
    }

    /// `GET /prompts/{id}/wait`: the answer, or `pending` when the time is over.
    pub async fn wait(&self, id: &str, limit: Duration, cancel: &CancellationToken) -> Result<Value, Fault> {
        let id = parse(id)?;
        let deadline = tokio::time::Instant::now() + limit;
        match self.prompts.wait_for_response(&id, Some(deadline), cancel).await {
            Ok(answer) => {
                let private = match &self.store {
                    Some(store) => {
                        let sealed = store.sealed_answer(id.as_str())?;
                        sealed.is_some()
                    }
                    None => false,
                };
                Ok(json!({
                    "state": "closed",
                    "response": answer.response,
                    "by": answer.by,
                    "at": chatos_prompts::format_ms(answer.at),
                    "private": private,
                }))
            }
            Err(WaitError::Timeout) => Ok(json!({ "state": "pending" })),
            Err(WaitError::UnknownRequest(_)) => Err(unknown(id.as_str())),
            Err(WaitError::Canceled | WaitError::Closed) => {
                Err(Fault::new(ErrorCode::Unavailable, Text::fixed("the host is stopping", "主机正在停止")))
            }
            Err(error @ WaitError::LogUnreadable { .. }) => {
                Err(Fault::new(ErrorCode::Unavailable, Text::same(error.to_string())).code("log_unavailable"))
            }
        }
    }

    /// Closes what has expired, for a process that keeps the clock itself because no host serves.
    pub fn expire(&self) -> Result<(), Fault> {
        if self.store.is_none() || self.prompts.next_expiry().is_none_or(|left| !left.is_zero()) {
            return Ok(());
        }
        let _moment = self.moment()?;
        self.prompts.expire();
        Ok(())
    }

    /// `POST /prompts/{id}/take`: the answer with its private values, once, for its owner.
    /// Without `secrets` the values of secret fields stay sealed and come masked.
    pub fn take(&self, id: &str, owner: &Value, secrets: bool) -> Result<Value, Fault> {
        let id = parse(id)?;
        self.owned(&id, owner)?;
        let none = || {
            Fault::new(
                ErrorCode::NotFound,
                Text::new(format!("nothing is left to take of `{id}`"), format!("`{id}` 已没有可取的内容")),
            )
            .code("nothing_private")
            .hint(Text::fixed("private values are delivered once", "私密值只交付一次"))
        };
        let store = self.store.as_ref().ok_or_else(none)?;
        if store.sealed_answer(id.as_str())?.is_none() {
            return Err(none());
        }
        let _moment = self.moment()?;
        let response =
            if secrets { self.prompts.deliver(&id) } else { self.prompts.deliver_without_secrets(&id) };
        let response = response.map_err(|error| records_fault(&error))?.ok_or_else(none)?;
        Ok(json!({ "response": response }))
    }

    /// `POST /prompts/{id}/consume`: an app is done with its private values.
    pub fn consume(&self, id: &str, owner: &Value) -> Result<Value, Fault> {
        let id = parse(id)?;
        self.owned(&id, owner)?;
        self.prompts.consume_private(&id).map_err(|error| records_fault(&error))?;
        Ok(json!({ "ok": true }))
    }

    /// `POST /prompts/{id}/close`: the asker withdraws its question.
    pub fn withdraw(&self, id: &str, owner: &Value, code: &str) -> Result<Value, Fault> {
        self.withdraw_as(id, &asker(owner, "")?.0, code)
    }

    /// As above, for an asker inside of the host: whom it asks for is known, not claimed.
    pub(crate) fn withdraw_as(&self, id: &str, owner: &Owner, code: &str) -> Result<Value, Fault> {
        let id = parse(id)?;
        self.asked_by(&id, owner)?;
        let _moment = self.moment()?;
        let scope = Scope::Request(&id);
        // Another program that withdraws its call, or is gone, waits for no answer (other-agents §3.3).
        let foreign = || self.prompts.get(&id).is_some_and(|item| item.client.is_some());
        let closed = match code {
            "aborted" if foreign() => self.prompts.orphan(scope),
            "aborted" => self.prompts.abort(scope),
            "asker_gone" => self.prompts.orphan(scope),
            other => return Err(wrong("code", other, "aborted or asker_gone", " aborted 或 asker_gone")),
        };
        Ok(json!({ "ok": true, "already": closed == 0 }))
    }

    /// Refuses a question that `owner` did not ask.
    pub fn owned_by(&self, id: &str, owner: &str) -> Result<(), Fault> {
        self.owned(&parse(id)?, &Value::from(owner))
    }

    /// The answer to an app's own question with its private values, while they are kept.
    pub fn private_answer(&self, id: &str, owner: &str) -> Result<Option<Value>, Fault> {
        let (owner, _) = asker(&Value::from(owner), "")?;
        let full = self.prompts.peek(&parse(id)?, &owner).map_err(|error| records_fault(&error))?;
        Ok(full.map(Value::Object))
    }

    /// A frame of `app` was closed: the private values of its answers are erased (host-api §6.3).
    pub fn app_closed(&self, app: &str) -> Result<(), Fault> {
        let (plugin, app_id) =
            app.split_once('/').ok_or_else(|| wrong("app", app, "pluginId/appId", " pluginId/appId"))?;
        let owner = Owner::app(plugin, app_id);
        let viewer = Viewer::App { owner: owner.clone(), read_all: false };
        for entry in self.prompts.read_entries(&viewer) {
            let id = entry["requestId"].as_str().and_then(|id| RequestId::parse(id).ok());
            let (true, Some(id)) = (entry["action"] == "response", id) else { continue };
            if self.prompts.peek(&id, &owner).map_err(|error| records_fault(&error))?.is_some() {
                self.prompts.consume_private(&id).map_err(|error| records_fault(&error))?;
            }
        }
        Ok(())
    }

    // The caller says as whom it comes; the record says whose the prompt is.
    fn owned(&self, id: &RequestId, owner: &Value) -> Result<(), Fault> {
        self.asked_by(id, &asker(owner, "")?.0)
    }

    fn asked_by(&self, id: &RequestId, claimed: &Owner) -> Result<(), Fault> {
        let item = self.item(id)?;
        if item.owner.as_ref() == Some(claimed) {
            return Ok(());
        }
        Err(Fault::new(
            ErrorCode::PermissionDenied,
            Text::new(format!("`{claimed}` did not ask `{id}`"), format!("`{id}` 不是由 `{claimed}` 提出的")),
        )
        .code("not_owner"))
    }

    /// `GET /prompts/log`: entries for a person, or for an app as it may see them, its own private values
    /// put in.
    pub fn log(&self, app: Option<&str>, read_all: bool) -> Result<Value, Fault> {
        let viewer = match app {
            None => Viewer::Person,
            Some(app) => {
                let (plugin, app_id) = app
                    .split_once('/')
                    .ok_or_else(|| wrong("app", app, "pluginId/appId", " pluginId/appId"))?;
                Viewer::App { owner: Owner::app(plugin, app_id), read_all }
            }
        };
        self.prompts.ready_within(Duration::from_secs(30)).map_err(|error| query_fault(&error.into()))?;
        let mut entries = self.prompts.read_entries(&viewer);
        if let Viewer::App { owner, .. } = &viewer {
            for entry in &mut entries {
                self.put_in_private(owner, entry)?;
            }
        }
        let path = match app {
            Some(_) => "ui-prompts.jsonl".to_owned(),
            None => self.prompts.paths().log.display().to_string(),
        };
        Ok(json!({ "path": path, "entries": entries }))
    }

    // ui-prompts §7.4: substituted only in what is given to the app that asked.
    fn put_in_private(&self, owner: &Owner, entry: &mut Value) -> Result<(), Fault> {
        if entry["action"] != "response" {
            return Ok(());
        }
        let Some(id) = entry["requestId"].as_str().and_then(|id| RequestId::parse(id).ok()) else {
            return Ok(());
        };
        if let Some(full) = self.prompts.peek(&id, owner).map_err(|error| records_fault(&error))? {
            entry["response"] = Value::Object(full);
        }
        Ok(())
    }

    /// `POST /prompts/archive`.
    pub fn archive(&self, before: Option<&str>) -> Result<Value, Fault> {
        let limit = before_ms(before.unwrap_or("30d"))?;
        let report = self.prompts.archive(limit).map_err(|error| archive_fault(&error))?;
        Ok(json!({ "moved": report.moved, "kept": report.kept, "file": report.file }))
    }

    /// `chatos prompts check`: the state of the log.
    pub fn check(&self) -> Result<Value, Fault> {
        self.prompts.ready_within(Duration::from_secs(30)).map_err(|error| query_fault(&error.into()))?;
        self.prompts.catch_up();
        let health = self.prompts.health();
        let path = &self.prompts.paths().log;
        let bytes = std::fs::metadata(path).map_or(0, |meta| meta.len());
        let mut report = health.to_json();
        report["path"] = path.display().to_string().into();
        report["bytes"] = bytes.into();
        report["counts"] = json!(self.told_counts());
        report["ok"] = health.is_fine().into();
        Ok(report)
    }
}

/// An item in the words of who reads it, where its asker gave them in both languages.
pub(crate) fn worded(mut item: Value, lang: Lang) -> Value {
    if item["class"] == "served" && item["prompt"]["words"].is_object() {
        chatos_tool::in_words_of(&mut item["prompt"], lang);
        item["title"] = item["prompt"]["title"].clone();
    }
    item
}

pub(crate) fn parse(id: &str) -> Result<RequestId, Fault> {
    RequestId::parse(id).map_err(|_| unknown(id))
}

// Who asks: a person's script, a built-in server in its own process, or an app through its port. The
// token belongs to the person, so the claim is theirs to make; anything else is refused.
fn asker(owner: &Value, source: &str) -> Result<(Owner, String), Fault> {
    let bad = |text: &str| {
        Err(wrong(
            "owner",
            text,
            "host:<built-in server> or app:<pluginId>/<appId>, or leave it out",
            " host:<内置服务> 或 app:<pluginId>/<appId>，或省略",
        ))
    };
    let text = match owner {
        Value::Null => return Ok((Owner::user(), source.to_owned())),
        Value::String(text) if text == "user" => return Ok((Owner::user(), source.to_owned())),
        Value::String(text) => text,
        other => return bad(&other.to_string()),
    };
    let plain = |name: &str, more: &[u8]| {
        (1..=128).contains(&name.len())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || more.contains(&b))
    };
    if let Some(server) = text.strip_prefix("host:")
        && plain(server, b"_")
        && server != "run"
    {
        return Ok((Owner::host_server(server), server.to_owned()));
    }
    if let Some((plugin, app)) = text.strip_prefix("app:").and_then(|rest| rest.split_once('/'))
        && plain(plugin, b"._-")
        && plain(app, b"._-")
    {
        return Ok((Owner::app(plugin, app), format!("{plugin}:{app}")));
    }
    bad(text)
}

fn origin(value: &Value) -> Result<Option<Origin>, Fault> {
    if value.is_null() {
        return Ok(None);
    }
    let read = || {
        Some(Origin {
            pid: u32::try_from(value.get("pid")?.as_u64()?).ok()?,
            pid_start: value.get("pidStart")?.as_u64()?,
        })
    };
    read().map(Some).ok_or_else(|| wrong("origin", &value.to_string(), "{pid, pidStart}", " {pid, pidStart}"))
}

/// What cards of a run that an app started say; nothing for others.
pub(crate) fn through(store: &Store, run_id: &str) -> Result<Option<String>, StoreError> {
    let Some(run) = store.run(run_id)? else { return Ok(None) };
    let root = if run.root_run_id == run.id { Some(run) } else { store.run(&run.root_run_id)? };
    let options: Option<Value> = root.and_then(|root| serde_json::from_str(&root.options).ok());
    Ok(options.and_then(|options| options["through"].as_str().map(str::to_owned)))
}
