//! Working off what has to be told: the loop of a host that serves, and one step of it.
//!
//! Questions of this host have their rows from the commit that recorded them; questions that other programs wrote into
//! the log are no records, so they are added when the host reads them, and looked for at every start.

use std::collections::BTreeMap;
use std::time::Duration;

use chatos_inbox::PromptReply;
use chatos_prompts::{Class, Event, Item, Query, RequestId, Surface, View};
use chatos_tool::{Fault, Lang};
use chatos_wire::channel::ChannelType;
use chatos_wire::event::{ChangedId, HostEvent};
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;

use crate::channel::Record;
use crate::desk::{FAILING, Reach};
use crate::desktop::{Buttons, Pressed};
use crate::plan::{BETWEEN_MS, Step, reminder, retry, step};
use crate::quiet::Quiet;
use crate::rows::{ChannelRow, NoticeRow, Outbox};
use crate::send::send;
use crate::words::{risk, said};

/// The longest the loop sleeps: settings may change without a word.
const LONGEST_MS: i64 = 60_000;
/// The shortest: a burst of events is one step.
const SHORTEST: Duration = Duration::from_millis(50);
/// Questions of other programs older than this are not told of after a start.
const OLD_MS: i64 = 86_400_000;
/// How often closed notices are looked through.
const SWEEP_MS: i64 = 3_600_000;
/// Snooze on the desktop.
const SNOOZE_MS: i64 = 15 * 60_000;

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
                let sweep = self.blocking(move |reach| Ok(reach.0.parts.store.sweep_notices(swept)?));
                if let Err(fault) = sweep.await {
                    tracing::warn!(%fault, "closed notices stay");
                }
            }
            let next = match self.step().await {
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

    /// Does what is due now; gives the moment something is due next.
    pub async fn step(&self) -> Result<i64, Fault> {
        self.take_back().await?;
        let now = self.now();
        let (channels, due) = self
            .blocking(move |reach| {
                let store = &reach.0.parts.store;
                Ok((store.channels()?, store.due_notices(now)?))
            })
            .await?;
        let mut next = now + LONGEST_MS;
        let mut by_channel: BTreeMap<String, Vec<NoticeRow>> = BTreeMap::new();
        for notice in due {
            by_channel.entry(notice.channel.clone()).or_default().push(notice);
        }
        for (id, notices) in by_channel {
            let channel = channels.iter().find(|channel| channel.id == id);
            next = next.min(self.tell(channel, notices).await?);
        }
        let later = self.blocking(move |reach| Ok(reach.0.parts.store.next_notice()?)).await?;
        // What is due already waits for what `tell` said.
        Ok(later.filter(|later| *later > now).map_or(next, |later| next.min(later)))
    }

    /// Tells one channel what is due; gives the moment it may be told again.
    async fn tell(&self, channel: Option<&ChannelRow>, notices: Vec<NoticeRow>) -> Result<i64, Fault> {
        let now = self.now();
        let ids: Vec<i64> = notices.iter().map(|notice| notice.id).collect();
        let record = channel.filter(|channel| !channel.paused).and_then(|row| Record::read(&row.record));
        let (Some(channel), Some(record)) = (channel, record) else { return self.drop(ids).await };
        let desktop = record.kind == ChannelType::Desktop;
        if desktop && !self.0.parts.settings.bool("desktopNotifications") {
            return self.drop(ids).await;
        }
        // Whoever is at a page sees it there; at night it waits for the morning.
        if let Some(until) = self.0.presence.until(now).or_else(|| self.quiet_until(now)) {
            self.blocking(move |reach| Ok(reach.0.parts.store.put_off_notices(ids, until)?)).await?;
            return Ok(until);
        }
        let moments: Vec<i64> = notices.iter().filter_map(|notice| notice.next_at).collect();
        if let Step::Wait(until) = step(now, &moments, channel.last_sent_at) {
            return Ok(until);
        }
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
        Ok(now + BETWEEN_MS)
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
        let words = said(&kept, self.privacy(record), lang, &self.0.parts.redactor);
        let sent = if record.kind == ChannelType::Desktop {
            self.show(notices, &kept, &words, lang).await
        } else {
            match self.secret(record) {
                Ok(secret) => send(record, secret.as_deref(), &bundle, &words).await.map(|()| String::new()),
                Err(error) => Err(error),
            }
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

    /// What is shown although nobody waits for it any more is taken back.
    async fn take_back(&self) -> Result<(), Fault> {
        let stale = self.blocking(|reach| Ok(reach.0.parts.store.stale_handles()?)).await?;
        for (channel, handle) in stale {
            self.0.desktop.close(&handle).await;
            self.blocking(move |reach| Ok(reach.0.parts.store.forget_handle(&channel, &handle)?)).await?;
        }
        Ok(())
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

    async fn drop(&self, ids: Vec<i64>) -> Result<i64, Fault> {
        self.blocking(move |reach| Ok(reach.0.parts.store.drop_notices(ids)?)).await?;
        Ok(i64::MAX)
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

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let reach = self.clone();
        self.0.parts.inbox.blocking(move |_| work(&reach)).await
    }
}
