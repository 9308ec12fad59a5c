//! What a person does with channels: list, add, change, test, remove. Every change is audited.

use std::sync::{Arc, OnceLock};

use chatos_events::{Events, Lifetime};
use chatos_inbox::Inbox;
use chatos_prompts::Clock;
use chatos_settings::Settings;
use chatos_store::{Audit, Secrets, Store, iso_from_ms};
use chatos_tool::{ErrorCode, Fault, Lang, Redactor, Text};
use chatos_wire::channel::{
    Answering, ChannelList, ChannelPatch, ChannelState, ChannelType, ChannelView, NewChannel, Privacy,
};
use chatos_wire::event::{ChangedId, ChangedSetting, HostEvent};
use serde_json::{Map, Value, json};
use tokio::sync::{Notify, mpsc};

use crate::answers::Refusals;
use crate::channel::{DESKTOP, Record};
use crate::desktop::{Desktop, Pressed};
use crate::listen::Ears;
use crate::presence::Presence;
use crate::rows::{ChannelRow, Outbox};
use crate::send::{Letter, send};
use crate::telegram;
use crate::tend::Pace;
use crate::words::Said;

/// After so many failures in a row a channel is said to fail.
pub(crate) const FAILING: i64 = 3;

/// What telling is made of.
pub struct ReachParts {
    pub store: Store,
    pub settings: Settings,
    pub secrets: Secrets,
    pub audit: Audit,
    pub events: Events,
    pub redactor: Arc<Redactor>,
    pub inbox: Inbox,
    pub life: Lifetime,
    /// Where the session bus of this desktop is.
    pub bus: Option<String>,
    /// Tests have a clock of their own.
    pub clock: Arc<dyn Clock>,
}

/// The channels of a state. Clones are the same ones.
#[derive(Clone)]
pub struct Reach(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) parts: ReachParts,
    pub(crate) presence: Presence,
    pub(crate) desktop: Desktop,
    pub(crate) pressed: tokio::sync::Mutex<mpsc::Receiver<Pressed>>,
    pub(crate) wake: Notify,
    pub(crate) pace: Pace,
    pub(crate) ears: Ears,
    pub(crate) refusals: Refusals,
    /// Opens the inbox in the person's browser.
    pub(crate) opener: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

impl Reach {
    /// Nothing is connected or sent yet; see [`Reach::tend`].
    pub fn new(parts: ReachParts) -> Self {
        let (sender, pressed) = mpsc::channel(16);
        let desktop = Desktop::new(parts.bus.clone(), parts.life.clone(), sender);
        Self(Arc::new(Inner {
            parts,
            presence: Presence::default(),
            desktop,
            pressed: tokio::sync::Mutex::new(pressed),
            wake: Notify::new(),
            pace: Pace::default(),
            ears: Ears::default(),
            refusals: Refusals::default(),
            opener: OnceLock::new(),
        }))
    }

    /// How the inbox is opened when a person presses Open on their desktop.
    pub fn opened_by(&self, opener: impl Fn() + Send + Sync + 'static) {
        self.0.opener.get_or_init(|| Box::new(opener));
    }

    /// A page is in view and used, or went out of sight.
    pub fn present(&self, page: &str, visible: bool) {
        self.0.presence.told(page, visible, self.up());
        self.0.wake.notify_one();
    }

    /// Something changed that may be due, or has to be taken back.
    pub fn wake(&self) {
        self.0.wake.notify_one();
    }

    pub(crate) fn now(&self) -> i64 {
        self.0.parts.clock.now_ms()
    }

    /// Every channel and how it fares, for `GET /channels`.
    pub async fn list(&self) -> Result<ChannelList, Fault> {
        let mut items = Vec::new();
        for row in self.0.parts.store.channels()? {
            let Some(record) = Record::read(&row.record) else { continue };
            items.push(self.view(&row, &record).await);
        }
        Ok(ChannelList { items })
    }

    async fn view(&self, row: &ChannelRow, record: &Record) -> ChannelView {
        let mut paused = row.paused;
        let mut problem = (row.failures > 0).then(|| row.last_error.clone());
        let mut state = if row.failures >= FAILING { ChannelState::Failing } else { ChannelState::Ok };
        if record.kind == ChannelType::Desktop {
            paused |= !self.0.parts.settings.bool("desktopNotifications");
            if let Err(error) = self.0.desktop.look().await {
                (state, problem) = (ChannelState::Unavailable, Some(error));
            }
        }
        if record.kind == ChannelType::Telegram && record.chat.is_none() {
            state = ChannelState::Waiting;
        }
        if paused {
            state = ChannelState::Paused;
        }
        ChannelView {
            id: row.id.clone(),
            kind: record.kind,
            name: record.name.clone(),
            url: record.url.clone(),
            has_secret: record.secret_name.is_some(),
            privacy: record.privacy,
            delay: record.delay,
            min_risk: record.min_risk,
            on_my_network: record.on_my_network,
            answer: record.answer,
            person: record.chat.as_ref().map(|chat| chat.person.clone()),
            connect: self.connecting(&row.id, record),
            paused,
            state,
            problem: problem.or_else(|| self.0.ears.problem(&row.id)),
            last_sent_at: row.last_sent_at.map(iso_from_ms),
        }
    }

    pub(crate) async fn one(&self, id: &str) -> Result<ChannelView, Fault> {
        let (row, record) = self.kept(id)?;
        Ok(self.view(&row, &record).await)
    }

    pub(crate) fn kept(&self, id: &str) -> Result<(ChannelRow, Record), Fault> {
        let rows = self.0.parts.store.channels()?;
        let found = rows.into_iter().find(|row| row.id == id);
        let found = found.and_then(|row| Record::read(&row.record).map(|record| (row, record)));
        found.ok_or_else(|| unknown(id))
    }

    /// Adds a channel and keeps its key, for `POST /channels`.
    pub async fn add(&self, new: &NewChannel) -> Result<ChannelView, Fault> {
        let id = uuid::Uuid::now_v7().to_string();
        let (mut record, secret) = Record::wanted(new, &id)?;
        let parts = &self.0.parts;
        if let (ChannelType::Telegram, Some(token)) = (record.kind, &secret) {
            parts.redactor.learn(token);
            record.bot = telegram::name(&record, token).await.map_err(|error| unreachable(&error))?;
        }
        if let (Some(name), Some(secret)) = (&record.secret_name, &secret) {
            parts.redactor.learn(secret);
            parts.secrets.set(name, secret, Some(format!("ChatOS notifications: {}", record.name)))?;
        }
        parts.store.put_channel(&id, &record.write(), false, self.now())?;
        self.changed("channel_added", &id, &record);
        if record.kind == ChannelType::Telegram {
            return self.connect(&id).await;
        }
        self.one(&id).await
    }

    /// Changes or pauses a channel, for `PATCH /channels/{id}`.
    pub async fn change(&self, id: &str, patch: &ChannelPatch) -> Result<ChannelView, Fault> {
        let (row, mut record) = self.kept(id)?;
        let paused = patch.paused.unwrap_or(row.paused);
        record.privacy = patch.privacy.unwrap_or(record.privacy);
        record.delay = patch.delay.unwrap_or(record.delay).min(3600);
        record.min_risk = patch.min_risk.unwrap_or(record.min_risk);
        record.answer = patch.answer.unwrap_or(record.answer);
        record.settle_answer()?;
        let stored = if id == DESKTOP { false } else { paused };
        if id == DESKTOP
            && let Some(paused) = patch.paused
        {
            // One switch, wherever it is pressed.
            let parts = &self.0.parts;
            let (key, on) = ("desktopNotifications", json!(!paused));
            parts.store.set_setting(&parts.settings, key, &on, "person").map_err(|error| error.fault(key))?;
            parts.events.publish(HostEvent::SettingsChanged(ChangedSetting { key: Some(key.to_owned()) }));
        }
        self.0.parts.store.put_channel(id, &record.write(), stored, self.now())?;
        self.changed("channel_changed", id, &record);
        self.0.ears.stop(id);
        self.listen()?;
        self.one(id).await
    }

    /// `DELETE /channels/{id}`: with its key.
    pub fn remove(&self, id: &str) -> Result<(), Fault> {
        let (_, record) = self.kept(id)?;
        if id == DESKTOP {
            return Err(Fault::new(
                ErrorCode::InvalidArgument,
                Text::fixed("the desktop cannot be removed", "桌面通知不能移除"),
            )
            .hint(Text::fixed("pause it instead", "可以改为暂停")));
        }
        self.0.parts.store.remove_channel(id)?;
        self.0.ears.forget(id);
        if let Some(name) = &record.secret_name
            && let Err(fault) = self.0.parts.secrets.remove(name)
        {
            tracing::debug!(%fault, "the key of a channel was gone");
        }
        self.changed("channel_removed", id, &record);
        Ok(())
    }

    /// `POST /channels/{id}/test`: a notice now, whatever waits.
    pub async fn test(&self, id: &str, lang: Lang) -> Result<ChannelView, Fault> {
        let (_, record) = self.kept(id)?;
        if record.kind == ChannelType::Telegram && record.chat.is_none() {
            return Err(Fault::new(
                ErrorCode::InvalidArgument,
                Text::fixed("nobody pressed Start in its chat yet", "尚未有人在对话中点“开始”"),
            )
            .code("channel_waiting")
            .hint(Text::fixed(
                "connect it: *Connect* on the page, or `chatos reach connect`",
                "请先连接：页面上的“连接”，或 `chatos reach connect`",
            )));
        }
        let said = Said {
            title: if lang == Lang::Zh { "ChatOS 测试通知" } else { "ChatOS test notification" }.to_owned(),
            body: if lang == Lang::Zh {
                "如果你看到这条消息，说明有问题等待时你会收到通知。"
            } else {
                "If you can read this, you will be told when a question waits for you."
            }
            .to_owned(),
            count: 0,
        };
        let notice = uuid::Uuid::now_v7().to_string();
        let sent = self.deliver(&record, &notice, &said, lang).await;
        sent.map_err(|error| match record.kind {
            ChannelType::Desktop => no_desktop(),
            _ => unreachable(&error),
        })?;
        self.0.parts.store.notices_sent(id, &notice, "", self.now())?;
        self.one(id).await
    }

    /// One message that is nobody's question.
    async fn deliver(&self, record: &Record, notice: &str, said: &Said, lang: Lang) -> Result<(), String> {
        if record.kind == ChannelType::Desktop {
            return self.0.desktop.show(said, None, None).await.map(drop);
        }
        let letter = Letter { notice, said, buttons: &[], lang };
        send(record, self.secret(record)?.as_deref(), &letter).await.map(drop)
    }

    /// The key a channel is sent with, opened for the one moment it is used.
    pub(crate) fn secret(&self, record: &Record) -> Result<Option<String>, String> {
        let Some(name) = &record.secret_name else { return Ok(None) };
        let value = self.0.parts.secrets.open(name).map_err(|fault| fault.message.en)?;
        let value = value.map(|value| value.expose().to_owned());
        if let Some(value) = &value {
            self.0.parts.redactor.learn(value);
        }
        value.map(Some).ok_or_else(|| "its key is gone; add the channel again".to_owned())
    }

    /// How much a channel is told: where little is logged, little is told.
    pub(crate) fn privacy(&self, record: &Record) -> Privacy {
        let minimal = self.0.parts.settings.text("uiPromptLogMode") == "minimal";
        if minimal { record.privacy.min(Privacy::Tool) } else { record.privacy }
    }

    pub(crate) fn changed(&self, what: &'static str, id: &str, record: &Record) {
        let mut fields: Map<String, Value> = Map::new();
        fields.insert("id".to_owned(), id.into());
        fields.insert("type".to_owned(), record.kind.as_str().into());
        fields.insert("privacy".to_owned(), record.privacy.as_str().into());
        if record.answer != Answering::None {
            fields.insert("answer".to_owned(), record.answer.as_str().into());
        }
        if let Some(chat) = &record.chat {
            fields.insert("user".to_owned(), chat.user.into());
        }
        self.0.parts.audit.note(what, fields);
        self.0.parts.events.publish(HostEvent::ChannelsChanged(ChangedId { id: id.to_owned() }));
        self.0.wake.notify_one();
    }
}

fn unreachable(error: &str) -> Fault {
    Fault::new(
        ErrorCode::Unavailable,
        Text::new(format!("the message did not get through: {error}"), format!("消息未能送达：{error}")),
    )
    .code("channel_unreachable")
    .hint(Text::fixed("check the address and the key", "请检查地址与密钥"))
}

/// In words of our own: those of the bus are for programmers, and in English.
fn no_desktop() -> Fault {
    Fault::new(
        ErrorCode::Unavailable,
        Text::fixed("no desktop session to show notifications in", "没有可显示通知的桌面会话"),
    )
    .code("channel_unreachable")
    .hint(Text::fixed(
        "add another channel with `chatos reach add`, if you want to be told",
        "如需接收通知，请用 `chatos reach add` 添加其他渠道",
    ))
}

fn unknown(id: &str) -> Fault {
    Fault::new(
        ErrorCode::NotFound,
        Text::new(format!("there is no channel `{id}`"), format!("没有通知渠道 `{id}`")),
    )
    .code("unknown_channel")
    .hint(Text::fixed("`chatos reach list` names them", "`chatos reach list` 会列出全部渠道"))
}
