//! Notifications of the desktop over the session bus (freedesktop notifications). Every program of the session can
//! send the signal that a button was pressed, so no button approves anything, and a signal counts only from whoever
//! owns the name of the notification service.

use std::collections::HashMap;
use std::time::Duration;

use chatos_events::Lifetime;
use futures_util::StreamExt;
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::DropGuard;
use zbus::{Proxy, Variant};

use crate::words::Said;

const NAME: &str = "org.freedesktop.Notifications";
const PATH: &str = "/org/freedesktop/Notifications";
/// A bus that does not answer in this time counts as none.
const PATIENCE: Duration = Duration::from_secs(5);

/// A button or the notification itself was pressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pressed {
    /// What the service calls the notification.
    pub(crate) handle: String,
    /// `default`, `open`, `snooze` or `reject`.
    pub(crate) action: String,
}

/// The words of the buttons; none where a notification is about several questions.
pub(crate) struct Buttons {
    pub(crate) open: &'static str,
    pub(crate) snooze: &'static str,
    /// Absent where the question cannot be refused.
    pub(crate) reject: Option<&'static str>,
}

/// The desktop of this session, connected at the first use.
pub(crate) struct Desktop {
    live: Mutex<Option<Live>>,
    pressed: mpsc::Sender<Pressed>,
    /// Where the session bus is; none where there is no session.
    bus: Option<String>,
    /// Listening ends with the host.
    life: Lifetime,
}

struct Live {
    proxy: Proxy<'static>,
    actions: bool,
    markup: bool,
    /// Listening ends with the connection.
    _listening: DropGuard,
}

impl Desktop {
    /// Nothing is connected yet. What is pressed goes to `pressed`.
    pub(crate) fn new(bus: Option<String>, life: Lifetime, pressed: mpsc::Sender<Pressed>) -> Self {
        Self { live: Mutex::new(None), pressed, bus, life }
    }

    /// Why there is no desktop to tell; `Ok` when there is one.
    pub(crate) async fn look(&self) -> Result<(), String> {
        self.with(|live| {
            Box::pin(async move { live.proxy.call::<_, _, Vec<String>>("GetCapabilities", &()).await })
        })
        .await
        .map(drop)
    }

    /// Shows a notification, in place of another one where `replaces` names it. Gives its name.
    pub(crate) async fn show(
        &self,
        said: &Said,
        buttons: Option<Buttons>,
        replaces: Option<&str>,
    ) -> Result<String, String> {
        let replaces: u32 = replaces.and_then(|handle| handle.parse().ok()).unwrap_or(0);
        let (title, body) = (said.title.clone(), said.body.clone());
        let id: u32 = self
            .with(move |live| {
                let mut actions = vec![];
                if let Some(buttons) = buttons.as_ref().filter(|_| live.actions) {
                    actions.extend(["default", buttons.open, "open", buttons.open, "snooze", buttons.snooze]);
                    if let Some(reject) = buttons.reject {
                        actions.extend(["reject", reject]);
                    }
                }
                let body = if live.markup { escaped(&body) } else { body.clone() };
                let hints: HashMap<&str, Variant<'_>> = HashMap::from([
                    ("urgency", Variant::from(1_u8)),
                    ("suppress-sound", Variant::from(true)),
                ]);
                let title = title.clone();
                Box::pin(async move {
                    let message =
                        ("ChatOS", replaces, "", title.as_str(), body.as_str(), actions, hints, -1_i32);
                    live.proxy.call("Notify", &message).await
                })
            })
            .await?;
        Ok(id.to_string())
    }

    /// Takes a notification back; one that is gone already is fine.
    pub(crate) async fn close(&self, handle: &str) {
        let Ok(id) = handle.parse::<u32>() else { return };
        let closed = self.with(|live| {
            Box::pin(async move { live.proxy.call::<_, _, ()>("CloseNotification", &id).await })
        });
        if let Err(error) = closed.await {
            tracing::debug!(%error, "a notification was not taken back");
        }
    }

    /// Does something at the service. A connection that broke is made again once.
    async fn with<T>(
        &self,
        work: impl for<'a> Fn(&'a Live) -> std::pin::Pin<Box<dyn Future<Output = zbus::Result<T>> + Send + 'a>>,
    ) -> Result<T, String> {
        let mut kept = self.live.lock().await;
        let had = kept.is_some();
        let told = |error: zbus::Error| error.to_string();
        for again in [had, false] {
            let live = match kept.as_ref() {
                Some(live) => live,
                None => {
                    let bus = self.bus.as_deref().ok_or("there is no session bus")?;
                    kept.insert(connect(bus, &self.life, self.pressed.clone()).await?)
                }
            };
            match tokio::time::timeout(PATIENCE, work(live)).await {
                Ok(Ok(done)) => return Ok(done),
                Ok(Err(error)) if !again => {
                    *kept = None;
                    return Err(told(error));
                }
                Err(_) if !again => {
                    *kept = None;
                    return Err("the desktop does not answer".to_owned());
                }
                _ => *kept = None,
            }
        }
        Err("the desktop does not answer".to_owned())
    }
}

async fn connect(address: &str, life: &Lifetime, pressed: mpsc::Sender<Pressed>) -> Result<Live, String> {
    let made = async {
        let bus = zbus::connection::Builder::address(address).build().await?;
        let proxy: Proxy<'static> = Proxy::new(&bus, NAME, PATH, NAME).await?;
        let can: Vec<String> = proxy.call("GetCapabilities", &()).await?;
        let mut signals = proxy.receive_signal("ActionInvoked").await?;
        let owners = zbus::fdo::DBusProxy::new(&bus).await?;
        let over = life.stop().child_token();
        let listening = over.clone();
        life.spawn(Box::pin(async move {
            loop {
                let message = tokio::select! {
                    () = listening.cancelled() => return,
                    message = signals.next() => match message {
                        Some(message) => message,
                        None => return,
                    },
                };
                let sender = message.header().sender().map(|name| name.as_str().to_owned());
                let owner = match zbus::names::BusName::try_from(NAME) {
                    Ok(name) => owners.get_name_owner(name).await.ok().map(|owner| owner.to_string()),
                    Err(_) => None,
                };
                if sender.is_none() || sender != owner {
                    tracing::warn!(
                        "a program other than the notification service said that a button was pressed"
                    );
                    continue;
                }
                let Ok((id, action)) = message.body().deserialize::<(u32, String)>() else { continue };
                if pressed.send(Pressed { handle: id.to_string(), action }).await.is_err() {
                    return;
                }
            }
        }));
        let has = |wanted: &str| can.iter().any(|known| known == wanted);
        zbus::Result::Ok(Live {
            proxy,
            actions: has("actions"),
            markup: has("body-markup"),
            _listening: over.drop_guard(),
        })
    };
    match tokio::time::timeout(PATIENCE, made).await {
        Ok(made) => made.map_err(|error| error.to_string()),
        Err(_) => Err("the session bus does not answer".to_owned()),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
