//! Working off what has to be told: the loop of a host that serves, and one step of it.
//!
//! Questions of this host have their rows from the commit that recorded them; questions that other programs wrote into
//! the log are no records, so they are added when the host reads them, and looked for at every start.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chatos_inbox::PromptReply;
use chatos_prompts::{Class, Event, Item, Query, RequestId, Surface, View};
use chatos_tool::{Fault, Lang};
use chatos_wire::channel::ChannelType;
use chatos_wire::event::{ChangedId, HostEvent};
use futures_util::future::join_all;
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;

use crate::answers::SNOOZE_MS;
use crate::buttons::{offered, told_whole};
use crate::channel::{Record, random};
use crate::desk::{FAILING, Reach};
use crate::desktop::{Buttons, Pressed};
use crate::plan::{Step, reminder, retry, step};
use crate::quiet::Quiet;
use crate::rows::{ChannelRow, NoticeRow, Outbox};
use crate::send::{Letter, send};
use crate::telegram;
use crate::tokens::{Action, Button, Tokens};
use crate::words::{ended, risk, said};

/// The longest the loop sleeps: settings may change without a word.
const LONGEST_MS: i64 = 60_000;
/// The shortest: a burst of events is one step.
const SHORTEST: Duration = Duration::from_millis(50);
/// Questions of other programs older than this are not told of after a start.
const OLD_MS: i64 = 86_400_000;
/// How often closed notices are looked through.
const SWEEP_MS: i64 = 3_600_000;
/// A page in use holds notices back for this long at least.
const HELD_MS: i64 = 60_000;
/// Most notices of which it is remembered since when they are held back.
const HELD_MOST: usize = 10_000;
/// Clocks that differ by this much were set.
const CLOCK_SET_MS: i64 = 5_000;

/// What one channel has to do.
#[derive(Default)]
struct Work {
    id: String,
    channel: Option<ChannelRow>,
    notices: Vec<NoticeRow>,
    /// What is shown there although nobody waits for it any more.
    stale: Vec<String>,
}

/// What telling remembers between two looks.
#[derive(Default)]
pub(crate) struct Pace {
    /// Channels that are being told.
    busy: Mutex<HashSet<String>>,
    /// When a channel may be told what is due.
    free: Mutex<HashMap<String, i64>>,
    /// Since when a notice is held back by somebody at a page, on the clock of the machine's start.
    held: Mutex<HashMap<i64, i64>>,
    /// The wall clock and the other one at the last look.
    clock: Mutex<Option<(i64, i64)>>,
}

impl Pace {
    fn forget(&self, ids: &[i64]) {
        let mut held = lock(&self.held);
        for id in ids {
            held.remove(id);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Reach {
    /// Tells until the host stops.
    pub fn tend(&self) {
        let reach = self.clone();
        self.0.parts.life.spawn(Box::pin(async move { reach.run().await }));
    }

    async fn run(&self) {
        let mut events = match self.0.parts.inbox.opened().await {
            Ok(questions) => questions.prompts().subscribe(),
            Err(fault) => {
                tracing::error!(%fault, "nobody is told of questions");
                return;
            }
        };
        let stop = self.0.parts.life.stop().clone();
        let mut pressed = self.0.pressed.lock().await;
        self.look_at_log().await;
        let mut swept = i64::MIN;
        loop {
            if swept < self.now() - SWEEP_MS {
                swept = self.now();
                let sweep = self.blocking(move |reach| {
                    reach.0.parts.store.sweep_notices(swept)?;
                    Ok(reach.0.parts.store.sweep_tokens(swept)?)
                });
                if let Err(fault) = sweep.await {
                    tracing::warn!(%fault, "closed notices stay");
                }
            }
            if let Err(fault) = self.listen() {
                tracing::warn!(%fault, "buttons pressed elsewhere are not heard");
            }
            let next = match self.begin().await {
                Ok(next) => next,
                Err(fault) => {
                    tracing::warn!(%fault, "telling of questions failed; it is tried again");
                    self.now() + LONGEST_MS
                }
            };
            let wait = next.saturating_sub(self.now()).clamp(0, LONGEST_MS);
            let wait = Duration::from_millis(wait.unsigned_abs()).max(SHORTEST);
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(wait) => {}
                () = self.0.wake.notified() => {}
                Some(press) = pressed.recv() => self.pressed(press).await,
                event = events.recv() => match event {
                    Ok(event) => self.heard(event).await,
                    Err(RecvError::Lagged(_)) => self.look_at_log().await,
                    Err(RecvError::Closed) => return,
                },
            }
            // What came at the same time is taken along.
            while let Ok(event) = events.try_recv() {
                self.heard(event).await;
            }
        }
    }

    async fn heard(&self, event: Event) {
        let done = match event {
            Event::Requested(item) if item.class == Class::Foreign && item.needs_you() => {
                let (id, at) = (item.request_id.to_string(), item.ts.min(self.now()));
                self.blocking(move |reach| Ok(reach.0.parts.store.add_notices(&id, at)?)).await
            }
            Event::Answered(item) | Event::Expired(item) if item.class == Class::Foreign => {
                let id = item.request_id.to_string();
                self.blocking(move |reach| Ok(reach.0.parts.store.close_notices(&id)?)).await
            }
            _ => Ok(()),
        };
        if let Err(fault) = done {
            tracing::warn!(%fault, "a question of another program is not told");
        }
    }

    /// Finds questions of other programs that came or were closed while nobody listened.
    async fn look_at_log(&self) {
        let looked = self.blocking(|reach| {
            let prompts = reach.0.parts.inbox.questions()?.prompts();
            let since = reach.now() - OLD_MS;
            let mut cursor = None;
            if prompts.ready_within(Duration::from_secs(30)).is_err() {
                return Ok(());
            }
            for id in reach.0.parts.store.open_notices()? {
                let item = RequestId::parse(&id).ok().and_then(|id| prompts.get(&id));
                if !item.is_some_and(|item| item.needs_you()) {
                    reach.0.parts.store.close_notices(&id)?;
                }
            }
            loop {
                let query = Query {
                    view: View::NeedsYou,
                    since: Some(since),
                    cursor,
                    limit: 200,
                    ..Query::default()
                };
                let Ok(page) = prompts.list(&query) else { return Ok(()) };
                for item in page.items.iter().filter(|item| item.class == Class::Foreign) {
                    reach.0.parts.store.add_notices(item.request_id.as_str(), item.ts)?;
                }
                cursor = page.next_cursor;
                if cursor.is_none() {
                    return Ok(());
                }
            }
        });
        if let Err(fault) = looked.await {
            tracing::warn!(%fault, "questions of other programs were not looked for");
        }
    }

    /// Does what is due now, and waits until it is done; gives the moment something is due next.
    pub async fn step(&self) -> Result<i64, Fault> {
        let (mut next, works) = self.due().await?;
        for told in join_all(works.into_iter().map(|work| self.work(work))).await {
            next = next.min(told?.unwrap_or(i64::MAX));
        }
        Ok(next)
    }

    /// As [`Reach::step`] without waiting: each channel is told by a task of its own, so that one that hangs holds up no
    /// other.
    async fn begin(&self) -> Result<i64, Fault> {
        let (mut next, works) = self.due().await?;
        for work in works {
            let now = self.now();
            let free = lock(&self.0.pace.free).get(&work.id).copied().filter(|free| *free > now);
            if let (Some(free), true) = (free, work.stale.is_empty()) {
                next = next.min(free);
                continue;
            }
            if !lock(&self.0.pace.busy).insert(work.id.clone()) {
                continue;
            }
            let reach = self.clone();
            self.0.parts.life.spawn(Box::pin(async move {
                let id = work.id.clone();
                let told = reach.work(work).await.unwrap_or_else(|fault| {
                    tracing::warn!(%fault, "telling of questions failed; it is tried again");
                    Some(reach.now() + LONGEST_MS)
                });
                match told {
                    Some(until) => lock(&reach.0.pace.free).insert(id.clone(), until),
                    None => lock(&reach.0.pace.free).remove(&id),
                };
                lock(&reach.0.pace.busy).remove(&id);
                reach.wake();
            }));
        }
        Ok(next)
    }

    /// What each channel has to be told or has to take back; and when something is due next.
    async fn due(&self) -> Result<(i64, Vec<Work>), Fault> {
        self.follow_clock().await?;
        let now = self.now();
        let (channels, due, stale, later) = self
            .blocking(move |reach| {
                let store = &reach.0.parts.store;
                Ok((store.channels()?, store.due_notices(now)?, store.stale_handles()?, store.next_notice()?))
            })
            .await?;
        let mut works: BTreeMap<String, Work> = BTreeMap::new();
        for notice in due {
            works.entry(notice.channel.clone()).or_default().notices.push(notice);
        }
        for (channel, handle) in stale {
            works.entry(channel).or_default().stale.push(handle);
        }
        for (id, work) in &mut works {
            id.clone_into(&mut work.id);
        }
        for channel in channels {
            if let Some(work) = works.get_mut(&channel.id) {
                work.channel = Some(channel);
            }
        }
        // What is due already waits for what its channel says.
        let later = later.filter(|later| *later > now).unwrap_or(i64::MAX);
        Ok((later.min(now + LONGEST_MS), works.into_values().collect()))
    }

    /// Somebody set the clock: nothing is told early and nothing is silent for it.
    async fn follow_clock(&self) -> Result<(), Fault> {
        let (wall, up) = (self.now(), self.up());
        let before = lock(&self.0.pace.clock).replace((wall, up));
        let Some((wall_before, up_before)) = before else { return Ok(()) };
        let by = (wall - wall_before) - (up - up_before);
        if by.abs() < CLOCK_SET_MS {
            return Ok(());
        }
        lock(&self.0.pace.free).clear();
        self.blocking(move |reach| Ok(reach.0.parts.store.shift_notices(by)?)).await
    }

    /// Does the work of one channel; gives the moment it may be told what is due, if that is later.
    async fn work(&self, work: Work) -> Result<Option<i64>, Fault> {
        let Work { id, channel, notices, stale } = work;
        for handle in stale {
            self.take_back(channel.as_ref(), &id, &handle).await?;
        }
        if notices.is_empty() { Ok(None) } else { self.tell(channel.as_ref(), notices).await }
    }

    /// Tells one channel what is due; gives the moment it may be told, if that is later.
    async fn tell(
        &self,
        channel: Option<&ChannelRow>,
        notices: Vec<NoticeRow>,
    ) -> Result<Option<i64>, Fault> {
        let now = self.now();
        let ids: Vec<i64> = notices.iter().map(|notice| notice.id).collect();
        let record = channel.filter(|channel| !channel.paused).and_then(|row| Record::read(&row.record));
        let (Some(channel), Some(record)) = (channel, record) else { return self.drop(ids).await };
        let desktop = record.kind == ChannelType::Desktop;
        if desktop && !self.0.parts.settings.bool("desktopNotifications") {
            return self.drop(ids).await;
        }
        // Nobody is there to be told yet.
        if record.kind == ChannelType::Telegram && record.chat.is_none() {
            return self.drop(ids).await;
        }
        // Whoever is at a page sees it there, for a while; at night it waits for the morning.
        if let Some(until) = self.held(&record, &ids).or_else(|| self.quiet_until(now)) {
            self.blocking(move |reach| Ok(reach.0.parts.store.put_off_notices(ids, until)?)).await?;
            return Ok(None);
        }
        let moments: Vec<i64> = notices.iter().filter_map(|notice| notice.next_at).collect();
        if let Step::Wait(until) = step(now, &moments, channel.last_sent_at) {
            return Ok(Some(until));
        }
        self.0.pace.forget(&ids);
        // No desktop here: that is no failure, and nothing to make up for later.
        if desktop && self.0.desktop.look().await.is_err() {
            return self.drop(ids).await;
        }
        let (open, gone): (Vec<_>, Vec<_>) =
            self.looked_up(notices).await?.into_iter().partition(|(_, item)| {
                item.as_ref().is_some_and(|item| item.needs_you() && risk(item) >= record.min_risk)
            });
        if !gone.is_empty() {
            self.drop(gone.iter().map(|(notice, _)| notice.id).collect()).await?;
        }
        let (notices, items): (Vec<NoticeRow>, Vec<Item>) =
            open.into_iter().filter_map(|(notice, item)| Some((notice, item?))).unzip();
        if !notices.is_empty() {
            self.send(channel, &record, &notices, &items).await?;
        }
        Ok(None)
    }

    /// inbox §5.1: a page in use holds a channel back for as long as its `delay`, a minute at least; then it is told,
    /// whoever sits there.
    fn held(&self, record: &Record, ids: &[i64]) -> Option<i64> {
        let up = self.up();
        let there = self.0.presence.until(up)?;
        let most = (i64::from(record.delay) * 1000).max(HELD_MS);
        let mut held = lock(&self.0.pace.held);
        if held.len() > HELD_MOST {
            held.clear();
        }
        let first = ids.iter().map(|id| *held.entry(*id).or_insert(up)).min().unwrap_or(up);
        let until = there.min(first + most);
        (until > up).then(|| self.now() + (until - up))
    }

    async fn send(
        &self,
        channel: &ChannelRow,
        record: &Record,
        notices: &[NoticeRow],
        items: &[Item],
    ) -> Result<(), Fault> {
        let now = self.now();
        let bundle = uuid::Uuid::now_v7().to_string();
        let told = |notice: &NoticeRow| notice.reminders + i64::from(notice.state == "sent");
        let claims = notices.iter().map(|notice| (notice.id, reminder(now, told(notice)))).collect();
        let name = bundle.clone();
        let claimed =
            self.blocking(move |reach| Ok(reach.0.parts.store.claim_notices(claims, &name, now)?)).await?;
        let kept: Vec<Item> = notices
            .iter()
            .zip(items)
            .filter(|(notice, _)| claimed.contains(&notice.id))
            .map(|(_, item)| item.clone())
            .collect();
        if kept.is_empty() {
            return Ok(());
        }
        let lang = self.0.parts.settings.languages().people;
        let (privacy, redactor) = (self.privacy(record), &self.0.parts.redactor);
        let buttons = self.buttons(channel, record, &kept).await?;
        let approves = buttons.iter().any(|button| button.action == Action::Approve);
        let whole = kept.first().filter(|_| approves).and_then(|item| told_whole(item, redactor));
        let words = said(&kept, privacy, lang, redactor, whole.as_deref());
        let sent = if record.kind == ChannelType::Desktop {
            self.show(notices, &kept, &words, lang).await
        } else {
            let letter = Letter { notice: &bundle, said: &words, buttons: &buttons, lang };
            self.sent(channel, record, notices, &letter).await
        };
        let (id, at) = (channel.id.clone(), self.now());
        match sent {
            Ok(handle) => {
                self.blocking(move |reach| Ok(reach.0.parts.store.notices_sent(&id, &bundle, &handle, at)?))
                    .await
            }
            Err(error) => {
                let attempts = notices.iter().map(|notice| notice.attempts).max().unwrap_or_default() + 1;
                let error = self.0.parts.redactor.text(&error).into_owned();
                tracing::info!(channel = %id, %error, attempts, "a notice did not get through");
                let again = retry(at, attempts);
                let name = id.clone();
                let failures = self
                    .blocking(move |reach| {
                        Ok(reach.0.parts.store.notices_failed(&name, &bundle, &error, again, at)?)
                    })
                    .await?;
                if failures == FAILING {
                    self.0.parts.events.publish(HostEvent::NoticeFailed(ChangedId { id }));
                }
                Ok(())
            }
        }
    }

    /// Buttons with tokens, kept before anybody can press them. Several questions at once have none.
    async fn buttons(
        &self,
        channel: &ChannelRow,
        record: &Record,
        items: &[Item],
    ) -> Result<Vec<Button>, Fault> {
        let [item] = items else { return Ok(Vec::new()) };
        let actions = offered(item, record.answer, self.privacy(record), &self.0.parts.redactor);
        let buttons = actions.into_iter().map(|action| Ok(Button { action, token: random()? }));
        let buttons = buttons.collect::<Result<Vec<_>, Fault>>()?;
        if !buttons.is_empty() {
            let (id, request, made) = (channel.id.clone(), item.request_id.to_string(), buttons.clone());
            let shown = item.shown.clone().unwrap_or_default();
            self.blocking(move |reach| {
                let parts = &reach.0.parts;
                Ok(parts.store.put_tokens(&id, &request, &shown, &made, &*parts.clock)?)
            })
            .await?;
        }
        Ok(buttons)
    }

    /// Sends over HTTP. A reminder takes the place of what it reminds of, where the channel can.
    async fn sent(
        &self,
        channel: &ChannelRow,
        record: &Record,
        notices: &[NoticeRow],
        letter: &Letter<'_>,
    ) -> Result<String, String> {
        let secret = self.secret(record)?;
        let handle = send(record, secret.as_deref(), letter).await?;
        if record.kind == ChannelType::Telegram {
            let mut old: Vec<String> = notices.iter().map(|notice| notice.handle.clone()).collect();
            old.retain(|handle| !handle.is_empty());
            old.dedup();
            for before in old {
                // One that is also about something else stays.
                let others = self.0.parts.store.requests_of_handle(&channel.id, &before).unwrap_or_default();
                let all = others.iter().all(|id| notices.iter().any(|notice| notice.request_id == *id));
                if all
                    && let Err(error) =
                        telegram::delete(record, secret.as_deref().unwrap_or_default(), &before).await
                {
                    tracing::debug!(%error, "an older message stays");
                }
            }
        }
        Ok(handle)
    }

    async fn show(
        &self,
        notices: &[NoticeRow],
        items: &[Item],
        words: &crate::words::Said,
        lang: Lang,
    ) -> Result<String, String> {
        let zh = lang == Lang::Zh;
        let buttons = match items {
            [item] => {
                let refusable = item.prompt.get("allowCancel") != Some(&false.into());
                Some(Buttons {
                    open: if zh { "打开" } else { "Open" },
                    snooze: if zh { "15 分钟后提醒" } else { "Snooze 15 min" },
                    reject: refusable.then_some(if zh { "拒绝" } else { "Reject" }),
                })
            }
            // Pressing it opens the inbox.
            _ => Some(Buttons {
                open: if zh { "打开" } else { "Open" },
                snooze: if zh { "15 分钟后提醒" } else { "Snooze 15 min" },
                reject: None,
            }),
        };
        let mut shown: Vec<&str> =
            notices.iter().map(|notice| notice.handle.as_str()).filter(|handle| !handle.is_empty()).collect();
        shown.dedup();
        let handle = self.0.desktop.show(words, buttons, shown.first().copied()).await?;
        for other in shown.into_iter().skip(1) {
            self.0.desktop.close(other).await;
        }
        Ok(handle)
    }

    /// What is shown although nobody waits for it any more is taken back: closed, or edited to say what became of it.
    async fn take_back(&self, channel: Option<&ChannelRow>, id: &str, handle: &str) -> Result<(), Fault> {
        let record = channel.and_then(|channel| Record::read(&channel.record));
        match record {
            Some(record) if record.kind == ChannelType::Telegram => {
                let text = self.became(&record, id, handle).await?;
                let edited = match self.secret(&record) {
                    Ok(token) => {
                        telegram::edit(&record, token.as_deref().unwrap_or_default(), handle, &text).await
                    }
                    Err(error) => Err(error),
                };
                // Its buttons count for nothing either way.
                if let Err(error) = edited {
                    tracing::info!(channel = id, %error, "a message was not edited");
                }
            }
            Some(record) if record.kind != ChannelType::Desktop => {}
            _ => self.0.desktop.close(handle).await,
        }
        let (id, handle) = (id.to_owned(), handle.to_owned());
        self.blocking(move |reach| Ok(reach.0.parts.store.forget_handle(&id, &handle)?)).await
    }

    /// What a message said, and what became of it.
    async fn became(&self, record: &Record, id: &str, handle: &str) -> Result<String, Fault> {
        let lang = self.0.parts.settings.languages().people;
        let (id, handle) = (id.to_owned(), handle.to_owned());
        let items: Vec<Item> = self
            .blocking(move |reach| {
                let ids = reach.0.parts.store.told_under(&id, &handle)?;
                let prompts = reach.0.parts.inbox.questions()?.prompts();
                Ok(ids.iter().filter_map(|id| prompts.get(&RequestId::parse(id).ok()?)).collect())
            })
            .await?;
        let end = ended(&items).get(lang).to_owned();
        if items.is_empty() {
            return Ok(end);
        }
        let words = said(&items, self.privacy(record), lang, &self.0.parts.redactor, None);
        Ok(format!("{}\n\n{end}", words.text()))
    }

    /// A button of a notification was pressed.
    async fn pressed(&self, press: Pressed) {
        let Pressed { handle, action } = press;
        let done = self.blocking(move |reach| {
            let parts = &reach.0.parts;
            let ids = parts.store.requests_of_handle(crate::channel::DESKTOP, &handle)?;
            // The service tells everybody of everybody's notifications: this one is none of ours.
            if ids.is_empty() {
                return Ok(());
            }
            let lang = parts.settings.languages().people;
            match (action.as_str(), ids.as_slice()) {
                ("default" | "open", _) => {
                    if let Some(open) = reach.0.opener.get() {
                        open();
                    }
                }
                ("snooze", ids) => {
                    let until = chatos_prompts::format_ms(reach.now() + SNOOZE_MS);
                    for id in ids {
                        parts.inbox.snooze(id, Some(&until), lang)?;
                    }
                }
                ("reject", [id]) => {
                    let response = json!({ "status": "canceled" });
                    let reply = PromptReply { response, ..PromptReply::default() };
                    parts.inbox.answer(id, &reply, Surface::Desktop, lang)?;
                }
                _ => {}
            }
            Ok(())
        });
        if let Err(fault) = done.await {
            tracing::info!(%fault, "a button of a notification did nothing");
        }
    }

    fn quiet_until(&self, now: i64) -> Option<i64> {
        let quiet = Quiet::parse(&self.0.parts.settings.text("reachQuiet"))?;
        quiet.until(now, &jiff::tz::TimeZone::system())
    }

    async fn drop(&self, ids: Vec<i64>) -> Result<Option<i64>, Fault> {
        self.0.pace.forget(&ids);
        self.blocking(move |reach| Ok(reach.0.parts.store.drop_notices(ids)?)).await?;
        Ok(None)
    }

    async fn looked_up(&self, notices: Vec<NoticeRow>) -> Result<Vec<(NoticeRow, Option<Item>)>, Fault> {
        self.blocking(move |reach| {
            let prompts = reach.0.parts.inbox.questions()?.prompts();
            Ok(notices
                .into_iter()
                .map(|notice| {
                    let item = RequestId::parse(&notice.request_id).ok().and_then(|id| prompts.get(&id));
                    (notice, item)
                })
                .collect())
        })
        .await
    }

    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let reach = self.clone();
        self.0.parts.inbox.blocking(move |_| work(&reach)).await
    }
}
