//! Hearing what people press elsewhere, and who presses Start: a task per channel, which asks for it over connections
//! of its own. It lives only while a button of that channel may be pressed or a code waits to be used.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chatos_tool::{ErrorCode, Fault, Lang, Text};
use chatos_wire::channel::{Answering, ChannelConnect, ChannelType, ChannelView};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::answers::Outcome;
use crate::channel::{Chat, Record, random, topic};
use crate::desk::Reach;
use crate::http::lines;
use crate::rows::Outbox;
use crate::send::tell_ntfy;
use crate::telegram::{self, News};
use crate::tokens::{Tokens, digest, millis};

/// How long a code for Start is good.
const CODE_MS: i64 = 15 * 60_000;
/// A server that answers at once is asked this often at most.
const PAUSE: Duration = Duration::from_secs(1);
/// The longest pause after failures.
const LONGEST: Duration = Duration::from_secs(60);
/// After so many failures in a row it is said.
const FAILING: u32 = 3;
/// Replies to presses of ntfy that count for nothing: a flood of presses must be no flood of messages.
const BETWEEN_REPLIES: Duration = Duration::from_secs(30);

/// Who listens, and for which codes.
#[derive(Default)]
pub(crate) struct Ears {
    running: Mutex<HashMap<String, DropGuard>>,
    codes: Mutex<HashMap<String, Code>>,
    problems: Mutex<HashMap<String, String>>,
}

struct Code {
    text: String,
    /// On the clock of the machine's start.
    made: i64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Ears {
    /// What keeps this channel from hearing anything.
    pub(crate) fn problem(&self, id: &str) -> Option<String> {
        lock(&self.problems).get(id).cloned()
    }

    /// Stops listening, for a channel that is changed or gone.
    pub(crate) fn stop(&self, id: &str) {
        lock(&self.running).remove(id);
        lock(&self.problems).remove(id);
    }

    pub(crate) fn forget(&self, id: &str) {
        self.stop(id);
        lock(&self.codes).remove(id);
    }

    fn trouble(&self, id: &str, failures: u32, error: &str) {
        if failures >= FAILING {
            lock(&self.problems).insert(id.to_owned(), error.to_owned());
        }
    }

    fn fine(&self, id: &str) {
        lock(&self.problems).remove(id);
    }
}

impl Reach {
    /// `POST /channels/{id}/connect`: a code with which a person connects their chat, good once and for a quarter of an
    /// hour.
    pub async fn connect(&self, id: &str) -> Result<ChannelView, Fault> {
        let (_, record) = self.kept(id)?;
        if record.kind != ChannelType::Telegram {
            return Err(Fault::new(
                ErrorCode::InvalidArgument,
                Text::fixed("only a Telegram channel is connected", "只有 Telegram 渠道需要连接"),
            )
            .code("channel_invalid"));
        }
        let text = random()?.get(..32).unwrap_or_default().to_owned();
        lock(&self.0.ears.codes).insert(id.to_owned(), Code { text, made: self.up() });
        self.listen()?;
        self.changed("channel_code_made", id, &record);
        self.one(id).await
    }

    /// How a person connects their chat now.
    pub(crate) fn connecting(&self, id: &str, record: &Record) -> Option<ChannelConnect> {
        let codes = lock(&self.0.ears.codes);
        let code = codes.get(id).filter(|code| self.is_good(code))?;
        let left = CODE_MS - (self.up() - code.made);
        Some(ChannelConnect {
            bot: record.bot.clone(),
            url: format!("https://t.me/{}?start={}", record.bot, code.text),
            text: format!("/start {}", code.text),
            expires_at: chatos_store::iso_from_ms(self.now() + left),
        })
    }

    fn is_good(&self, code: &Code) -> bool {
        (0..CODE_MS).contains(&(self.up() - code.made))
    }

    /// Milliseconds since the machine was started.
    pub(crate) fn up(&self) -> i64 {
        millis(self.0.parts.clock.monotonic())
    }

    /// Begins to listen where something may come, and ends it where nothing can.
    pub(crate) fn listen(&self) -> Result<(), Fault> {
        let parts = &self.0.parts;
        let live = parts.store.channels_with_tokens(self.now())?;
        let waits = |id: &str| lock(&self.0.ears.codes).get(id).is_some_and(|code| self.is_good(code));
        let mut wanted = HashMap::new();
        for row in parts.store.channels()? {
            let Some(record) = Record::read(&row.record) else { continue };
            let answers = record.answer != Answering::None && !row.paused && live.contains(&row.id);
            let heard = match record.kind {
                ChannelType::Telegram => waits(&row.id) || (answers && record.chat.is_some()),
                ChannelType::Ntfy => answers && !record.reply_topic.is_empty(),
                _ => false,
            };
            if heard {
                wanted.insert(row.id, record.kind);
            }
        }
        let mut running = lock(&self.0.ears.running);
        running.retain(|id, _| wanted.contains_key(id));
        for (id, kind) in wanted {
            running.entry(id.clone()).or_insert_with(|| {
                let (reach, stop) = (self.clone(), parts.life.stop().child_token());
                let over = stop.clone();
                parts.life.spawn(Box::pin(async move {
                    let hears = async {
                        match kind {
                            ChannelType::Telegram => reach.hear_telegram(&id).await,
                            _ => reach.hear_ntfy(&id).await,
                        }
                    };
                    tokio::select! { () = over.cancelled() => {} () = hears => {} }
                }));
                CancellationToken::drop_guard(stop)
            });
        }
        Ok(())
    }

    /// The channel as it is now and its key; nothing where it is gone.
    fn open(&self, id: &str) -> Option<(Record, String)> {
        let (_, record) = self.kept(id).ok()?;
        let secret = self.secret(&record).ok()?.unwrap_or_default();
        Some((record, secret))
    }

    async fn hear_telegram(&self, id: &str) {
        let (mut offset, mut failures) = (0, 0);
        while let Some((record, token)) = self.open(id) {
            let begun = Instant::now();
            match telegram::updates(&record, &token, offset).await {
                Ok(updates) => {
                    failures = 0;
                    self.0.ears.fine(id);
                    for update in updates {
                        offset = offset.max(update.id.saturating_add(1));
                        self.news(id, &token, update.what).await;
                    }
                }
                Err(error) => {
                    failures += 1;
                    tracing::debug!(channel = id, %error, "Telegram gives no updates");
                    self.0.ears.trouble(id, failures, &error);
                }
            }
            pause(begun, failures).await;
        }
    }

    async fn news(&self, id: &str, token: &str, news: News) {
        // What was changed since counts.
        let Ok((_, record)) = self.kept(id) else { return };
        let lang = self.0.parts.settings.languages().people;
        match news {
            News::Said { chat, text } => {
                let code = text.strip_prefix("/start ").map(str::trim);
                if code.is_some_and(|code| self.take_code(id, code)) {
                    // A task of its own: with its code used, nobody may have to listen here any more.
                    let (reach, id, token) = (self.clone(), id.to_owned(), token.to_owned());
                    self.0.parts.life.spawn(Box::pin(async move {
                        reach.bind(&id, record, &token, chat, lang).await;
                    }));
                }
            }
            News::Pressed { query, user, chat, data } => {
                let bound = record.chat.as_ref().is_some_and(|known| known.user == user && known.id == chat);
                let outcome = if bound {
                    self.pressed_there(id, &data).await
                } else {
                    let (channel, name) = (id.to_owned(), digest(&data));
                    let noted = self.blocking(move |reach| {
                        reach.refused(&channel, &name, "other_person");
                        Ok(())
                    });
                    noted.await.ok();
                    Outcome::Refused
                };
                let said = telegram::reply(&record, token, &query, outcome.words().get(lang)).await;
                if let Err(error) = said {
                    tracing::debug!(channel = id, %error, "nobody was told what became of a button");
                }
            }
            News::Other => {}
        }
    }

    /// A code counts once.
    fn take_code(&self, id: &str, said: &str) -> bool {
        let mut codes = lock(&self.0.ears.codes);
        let fits = codes.get(id).is_some_and(|code| self.is_good(code) && digest(&code.text) == digest(said));
        if fits {
            codes.remove(id);
        }
        fits
    }

    async fn bind(&self, id: &str, mut record: Record, token: &str, chat: Chat, lang: Lang) {
        record.chat = Some(chat);
        let (row, kept) = (id.to_owned(), record.clone());
        let bound = self.blocking(move |reach| {
            let (old, _) = reach.kept(&row)?;
            reach.0.parts.store.put_channel(&row, &kept.write(), old.paused, old.created_at)?;
            reach.changed("channel_connected", &row, &kept);
            Ok(())
        });
        let text = match bound.await {
            Ok(()) if lang == Lang::Zh => "已连接。有问题等待你时，ChatOS 会在这里通知你。",
            Ok(()) => "Connected. ChatOS tells you here when a question waits for you.",
            Err(fault) => {
                tracing::warn!(%fault, channel = id, "a chat was not connected");
                return;
            }
        };
        if let Err(error) = telegram::send(&record, token, text, &[], lang).await {
            tracing::debug!(channel = id, %error, "the chat was not greeted");
        }
    }

    async fn hear_ntfy(&self, id: &str) {
        let (mut since, mut failures) = ("15m".to_owned(), 0);
        let began = chatos_store::now_ms() / 1000;
        let mut replied: Option<Instant> = None;
        while let Some((record, key)) = self.open(id) {
            let Some((base, _)) = topic(&record.url) else { return };
            let url = format!("{base}/{}/json?since={since}", record.reply_topic);
            let headers: Vec<(&str, String)> =
                (!key.is_empty()).then(|| ("authorization", format!("Bearer {key}"))).into_iter().collect();
            let begun = Instant::now();
            let (sender, mut heard) = mpsc::channel(64);
            let reading = lines(&url, record.addresses(), &headers, sender);
            tokio::pin!(reading);
            let mut done = None;
            loop {
                let line = tokio::select! {
                    ended = &mut reading, if done.is_none() => {
                        done = Some(ended);
                        continue;
                    }
                    line = heard.recv() => match line {
                        Some(line) => line,
                        None => break,
                    },
                };
                let Ok(said) = serde_json::from_str::<Value>(&line) else { continue };
                failures = 0;
                self.0.ears.fine(id);
                if said["event"] != "message" {
                    continue;
                }
                if let Some(id) =
                    said["id"].as_str().filter(|id| id.bytes().all(|b| b.is_ascii_alphanumeric()))
                {
                    id.clone_into(&mut since);
                }
                let outcome =
                    self.pressed_there(id, said["message"].as_str().unwrap_or_default().trim()).await;
                // What was pressed before this host listened was answered by another one, or is long over.
                let fresh = said["time"].as_i64().is_none_or(|time| time >= began);
                let due = replied.is_none_or(|last| last.elapsed() >= BETWEEN_REPLIES);
                if !matches!(outcome, Outcome::Done(_)) && fresh && due {
                    replied = Some(Instant::now());
                    let lang = self.0.parts.settings.languages().people;
                    let told = tell_ntfy(&record, &key, outcome.words().get(lang)).await;
                    if let Err(error) = told {
                        tracing::debug!(channel = id, %error, "nobody was told that a button is over");
                    }
                }
            }
            if let Some(Err(error)) = done {
                failures += 1;
                tracing::debug!(channel = id, %error, "ntfy gives no answers");
                self.0.ears.trouble(id, failures, &error);
            }
            pause(begun, failures).await;
        }
    }
}

/// Asks again at once where the server held the call; later where it did not, or failed.
async fn pause(begun: Instant, failures: u32) {
    if failures > 0 {
        let longer = Duration::from_secs(1 << failures.min(6));
        tokio::time::sleep(longer.min(LONGEST)).await;
    } else if let Some(rest) = PAUSE.checked_sub(begun.elapsed()) {
        tokio::time::sleep(rest).await;
    }
}
