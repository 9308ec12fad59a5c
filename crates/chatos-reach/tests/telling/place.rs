//! A state with an inbox and channels, and a clock that is set by hand.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use chatos_events::{Events, Lifetime, Notices};
use chatos_inbox::{Inbox, InboxParts};
use chatos_keys::{KeyPlace, StateKey};
use chatos_paths::StateDir;
use chatos_prompts::Clock;
use chatos_reach::{Reach, ReachParts};
use chatos_settings::{Settings, SettingsInput};
use chatos_store::{Audit, OpenOptions, Secrets, Store, now_ms};
use chatos_testkit::{BOT_TOKEN, Telegram};
use chatos_tool::{Lang, Redactor};
use chatos_wire::channel::{Answering, ChannelType, NewChannel, Privacy};
use serde_json::{Value, json};

/// Time goes by when the test says so; the clock on the wall may be set apart from it.
#[derive(Default)]
pub(crate) struct Time {
    goes: AtomicI64,
    set: AtomicI64,
}

impl Clock for Time {
    fn now_ms(&self) -> i64 {
        self.goes.load(Ordering::SeqCst) + self.set.load(Ordering::SeqCst)
    }

    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.goes.load(Ordering::SeqCst).unsigned_abs())
    }

    fn boot_id(&self) -> String {
        "this start".to_owned()
    }
}

pub(crate) struct Place {
    pub(crate) reach: Reach,
    pub(crate) inbox: Inbox,
    pub(crate) store: Store,
    pub(crate) settings: Settings,
    pub(crate) redactor: Arc<Redactor>,
    pub(crate) life: Lifetime,
    clock: Arc<Time>,
    bus: Option<String>,
    parts: Arc<dyn Fn(Option<String>) -> Reach + Send + Sync>,
    dir: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new(bus: Option<String>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (state, _) = StateDir::prepare(&dir.path().join("state"), true).unwrap();
        let store = Store::open(OpenOptions {
            path: state.database(),
            backups: state.backups(),
            migrate: true,
            wal: true,
            used: false,
            check: false,
        })
        .unwrap();
        let settings = store.load_settings(SettingsInput::default()).unwrap();
        let place = KeyPlace::new(dir.path().join("keys"));
        let key = StateKey::open(&place, &store.instance_id().unwrap()).unwrap();
        let events = Events::new(0);
        let notices = Notices::new(events.clone());
        let audit = Audit::open(state.audit(), key.sub_key("audit"), store.clone(), notices).unwrap();
        let life = Lifetime::new();
        let inbox = Inbox::new(InboxParts {
            dir: state,
            store: store.clone(),
            settings: settings.clone(),
            key: key.clone(),
            audit: audit.clone(),
            events: events.clone(),
            life: life.clone(),
            serving: true,
        });
        let clock = Arc::new(Time { goes: AtomicI64::new(now_ms()), ..Time::default() });
        let redactor = Arc::new(Redactor::new());
        let secrets = Secrets::new(store.clone(), &key, audit.clone(), events.clone());
        let parts = {
            let (store, settings, inbox, life) =
                (store.clone(), settings.clone(), inbox.clone(), life.clone());
            let (clock, redactor) = (Arc::clone(&clock), Arc::clone(&redactor));
            move |bus| {
                let clock: Arc<dyn Clock> = Arc::clone(&clock) as _;
                Reach::new(ReachParts {
                    store: store.clone(),
                    settings: settings.clone(),
                    secrets: secrets.clone(),
                    audit: audit.clone(),
                    events: events.clone(),
                    redactor: Arc::clone(&redactor),
                    inbox: inbox.clone(),
                    life: life.clone(),
                    bus,
                    clock,
                })
            }
        };
        let reach = parts(bus.clone());
        let parts = Arc::new(parts);
        Self { reach, inbox, store, settings, redactor, life, clock, bus, parts, dir }
    }

    /// A new host on this state, as after a kill: nothing is remembered but what is on the disk.
    pub(crate) fn killed(mut self) -> Self {
        self.reach = (self.parts)(self.bus.clone());
        self
    }

    /// Where it is on the disk.
    pub(crate) fn path(&self) -> &std::path::Path {
        self.dir.path()
    }

    pub(crate) fn now(&self) -> i64 {
        self.clock.now_ms()
    }

    /// Somebody sets the clock on the wall.
    pub(crate) fn set_clock(&self, seconds: i64) {
        self.clock.set.fetch_add(seconds * 1000, Ordering::SeqCst);
    }

    /// Time goes by, and nothing is done yet.
    pub(crate) fn wait(&self, seconds: i64) {
        self.clock.goes.fetch_add(seconds * 1000, Ordering::SeqCst);
    }

    /// Time goes by, and what is due is done.
    pub(crate) async fn after(&self, seconds: i64) {
        self.wait(seconds);
        self.reach.step().await.unwrap();
    }

    pub(crate) async fn channel(&self, kind: ChannelType, url: String, privacy: Privacy) -> String {
        self.keyed(kind, url, privacy, None).await
    }

    pub(crate) async fn keyed(
        &self,
        kind: ChannelType,
        url: String,
        privacy: Privacy,
        secret: Option<&str>,
    ) -> String {
        let new = NewChannel {
            kind,
            name: "mine".to_owned(),
            url,
            secret: secret.map(str::to_owned),
            privacy: Some(privacy),
            delay: None,
            min_risk: None,
            on_my_network: true,
            answer: None,
        };
        self.reach.add(&new).await.unwrap().id
    }

    /// A channel that may answer, told everything.
    pub(crate) async fn answering(
        &self,
        kind: ChannelType,
        url: String,
        secret: Option<&str>,
        answer: Answering,
    ) -> String {
        let new = NewChannel {
            kind,
            name: "mine".to_owned(),
            url,
            secret: secret.map(str::to_owned),
            privacy: Some(Privacy::Full),
            delay: Some(0),
            min_risk: None,
            on_my_network: true,
            answer: Some(answer),
        };
        self.reach.add(&new).await.unwrap().id
    }

    /// A bot whose chat with user 42 is connected.
    pub(crate) async fn bot(&self, telegram: &Telegram, answer: Answering) -> String {
        let id = self.answering(ChannelType::Telegram, telegram.url(), Some(BOT_TOKEN), answer).await;
        let connect = self.reach.list().await.unwrap().items.pop().unwrap().connect.unwrap();
        telegram.say(42, &connect.text);
        until("the chat is connected", || telegram.messages().len() == 1).await;
        id
    }

    /// Asks for a command as the shell does; gives the id.
    pub(crate) fn ask_command(&self, command: &str, sandbox: &str) -> String {
        let material = json!({ "v": 2, "kind": "command", "tool": "run_shell_command", "command": {
            "text": command, "cwd": { "path": "/work" }, "shell": "/bin/sh", "env": [], "network": false,
            "findings": [], "sandbox": { "level": sandbox },
        }});
        let payload = json!({
            "owner": "host:shell_runner",
            "prompt": { "kind": "file_change_confirm", "title": "Run this command?", "command": command,
                "cwd": ".", "message": "- commands are asked about" },
            "effect": { "name": "command", "material": material },
        });
        let asked = self.inbox.questions().unwrap().request(&payload, "api", Lang::En).unwrap();
        self.clock.goes.fetch_max(now_ms(), Ordering::SeqCst);
        asked["requestId"].as_str().unwrap().to_owned()
    }

    /// Asks with everything a question has; gives the id.
    pub(crate) fn ask_whole(&self, payload: &Value) -> String {
        let asked = self.inbox.questions().unwrap().request(payload, "api", Lang::En).unwrap();
        self.clock.goes.fetch_max(now_ms(), Ordering::SeqCst);
        asked["requestId"].as_str().unwrap().to_owned()
    }

    /// The question as everybody sees it.
    pub(crate) fn show(&self, id: &str) -> Value {
        self.inbox.questions().unwrap().show(id, Lang::En).unwrap()
    }

    /// Why presses were refused, oldest first.
    pub(crate) fn refusals(&self) -> Vec<String> {
        self.audited("answer_refused", "reason")
    }

    /// One field of the audit records of a kind.
    pub(crate) fn audited(&self, kind: &str, field: &str) -> Vec<String> {
        let folder = self.dir.path().join("state/audit");
        let mut files: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let text: String =
            files.iter().map(|file| std::fs::read_to_string(file).unwrap_or_default()).collect();
        let records = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let kinds = records.filter(|record| record.to_string().contains(&format!("\"{kind}\"")));
        kinds
            .filter_map(|record| {
                let at =
                    record.get(field).or_else(|| record.get("fields").and_then(|fields| fields.get(field)));
                at.and_then(Value::as_str).map(str::to_owned)
            })
            .collect()
    }

    /// Asks; gives the id.
    pub(crate) fn ask(&self, title: &str) -> String {
        self.ask_this(&json!({
            "kind": "choice", "title": title, "options": [{ "value": "a" }, { "value": "b" }],
        }))
    }

    pub(crate) fn ask_this(&self, prompt: &Value) -> String {
        let asked =
            self.inbox.questions().unwrap().request(&json!({ "prompt": prompt }), "api", Lang::En).unwrap();
        // The question has its own clock; the test's goes on from there.
        self.clock.goes.fetch_max(now_ms(), Ordering::SeqCst);
        asked["requestId"].as_str().unwrap().to_owned()
    }

    pub(crate) fn cancel(&self, id: &str) {
        let reply =
            chatos_inbox::PromptReply { response: json!({ "status": "canceled" }), ..Default::default() };
        self.inbox.answer(id, &reply, chatos_prompts::Surface::Api, Lang::En).unwrap();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.life.stop().cancel();
        self.inbox.close();
        self.store.close();
    }
}

/// Looks again and again until it is so.
pub(crate) async fn until(what: &str, mut so: impl FnMut() -> bool) {
    for _ in 0..4_000 {
        if so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("never happened: {what}");
}
