//! A state with an inbox and channels, and a clock that is set by hand.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use chatos_events::{Events, Lifetime, Notices};
use chatos_inbox::{Inbox, InboxParts};
use chatos_paths::StateDir;
use chatos_reach::{Reach, ReachParts};
use chatos_settings::{Settings, SettingsInput};
use chatos_store::{Audit, KeyPlace, OpenOptions, Secrets, StateKey, Store, now_ms};
use chatos_tool::{Lang, Redactor};
use chatos_wire::channel::{ChannelType, NewChannel, Privacy};
use serde_json::{Value, json};

pub(crate) struct Place {
    pub(crate) reach: Reach,
    pub(crate) inbox: Inbox,
    pub(crate) store: Store,
    pub(crate) settings: Settings,
    pub(crate) redactor: Arc<Redactor>,
    pub(crate) life: Lifetime,
    clock: Arc<AtomicI64>,
    bus: Option<String>,
    parts: Arc<dyn Fn(Option<String>) -> Reach + Send + Sync>,
    _dir: tempfile::TempDir,
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
        let clock = Arc::new(AtomicI64::new(now_ms()));
        let redactor = Arc::new(Redactor::new());
        let secrets = Secrets::new(store.clone(), &key, audit.clone(), events.clone());
        let parts = {
            let (store, settings, inbox, life) =
                (store.clone(), settings.clone(), inbox.clone(), life.clone());
            let (clock, redactor) = (Arc::clone(&clock), Arc::clone(&redactor));
            move |bus| {
                let clock = Arc::clone(&clock);
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
                    now: Arc::new(move || clock.load(Ordering::SeqCst)),
                })
            }
        };
        let reach = parts(bus.clone());
        let parts = Arc::new(parts);
        Self { reach, inbox, store, settings, redactor, life, clock, bus, parts, _dir: dir }
    }

    /// A new host on this state, as after a kill: nothing is remembered but what is on the disk.
    pub(crate) fn killed(mut self) -> Self {
        self.reach = (self.parts)(self.bus.clone());
        self
    }

    pub(crate) fn now(&self) -> i64 {
        self.clock.load(Ordering::SeqCst)
    }

    /// Time goes by, and what is due is done.
    pub(crate) async fn after(&self, seconds: i64) {
        self.clock.fetch_add(seconds * 1000, Ordering::SeqCst);
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
        };
        self.reach.add(&new).await.unwrap().id
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
        self.clock.fetch_max(now_ms(), Ordering::SeqCst);
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
