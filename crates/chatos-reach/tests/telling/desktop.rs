//! The desktop: a real session bus, and a notification service that speaks the freedesktop protocol on it.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};

use chatos_reach::Outbox;
use chatos_testkit::{child, skip};
use chatos_tool::Lang;
use chatos_wire::channel::{ChannelPatch, Privacy};
use futures_util::StreamExt;
use serde_json::json;
use zbus::{Connection, MessageStream};

use crate::answers::patch;
use crate::canary::{canaries, judge};
use crate::place::{Place, until};

/// A bus of its own; ended when dropped.
pub(crate) struct Bus {
    process: Child,
    pub(crate) address: String,
}

impl Bus {
    /// `None`: this machine has no `dbus-daemon`.
    pub(crate) fn start() -> Option<Self> {
        let mut command = child("dbus-daemon");
        command.args(["--session", "--nofork", "--nopidfile", "--print-address"]).stdout(Stdio::piped());
        let mut process = command.spawn().ok()?;
        let mut address = String::new();
        BufReader::new(process.stdout.take()?).read_line(&mut address).ok()?;
        (!address.trim().is_empty()).then(|| Self { process, address: address.trim().to_owned() })
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

#[derive(Debug, Clone, Default)]
struct Seen {
    shown: Vec<(String, String, Vec<String>)>,
    closed: Vec<u32>,
}

/// The service: takes notifications, gives them numbers.
struct Service {
    bus: Connection,
    seen: Arc<Mutex<Seen>>,
}

const NAME: &str = "org.freedesktop.Notifications";
const PATH: &str = "/org/freedesktop/Notifications";

impl Service {
    async fn start(address: &str) -> Self {
        let bus = zbus::connection::Builder::address(address).build().await.unwrap();
        let seen = Arc::<Mutex<Seen>>::default();
        let (answering, kept) = (bus.clone(), Arc::clone(&seen));
        let mut calls = MessageStream::from(&bus);
        bus.request_name(NAME).await.unwrap();
        tokio::spawn(async move {
            type Notify = (
                String,
                u32,
                String,
                String,
                String,
                Vec<String>,
                std::collections::HashMap<String, zbus::OwnedVariant>,
                i32,
            );
            while let Some(Ok(message)) = calls.next().await {
                let header = message.header();
                let member = header.member().map(|member| member.to_string()).unwrap_or_default();
                match member.as_str() {
                    "GetCapabilities" => {
                        let can = vec!["actions", "body", "body-markup"];
                        answering.reply(&header, &can).await.unwrap();
                    }
                    "Notify" => {
                        let body = message.body();
                        let (_, _, _, title, text, actions, _, _): Notify = body.deserialize().unwrap();
                        let number = {
                            let mut seen = kept.lock().unwrap();
                            seen.shown.push((title, text, actions));
                            u32::try_from(seen.shown.len()).unwrap()
                        };
                        answering.reply(&header, &number).await.unwrap();
                    }
                    "CloseNotification" => {
                        let number: u32 = message.body().deserialize().unwrap();
                        kept.lock().unwrap().closed.push(number);
                        answering.reply(&header, &()).await.unwrap();
                    }
                    _ => {}
                }
            }
        });
        Self { bus, seen }
    }

    fn seen(&self) -> Seen {
        self.seen.lock().unwrap().clone()
    }

    async fn press(&self, number: u32, action: &str) {
        press(&self.bus, number, action).await;
    }
}

async fn press(bus: &Connection, number: u32, action: &str) {
    bus.emit_signal(None::<&str>, PATH, NAME, "ActionInvoked", &(number, action)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_desktop_shows_a_question_and_takes_it_back_when_it_is_answered() {
    let Some(bus) = Bus::start() else { skip!("no dbus-daemon here") };
    let service = Service::start(&bus.address).await;
    let place = Place::new(Some(bus.address.clone()));
    let id = place.ask("A <b> or b?");
    place.after(1).await;
    let shown = service.seen().shown;
    assert_eq!(shown.len(), 1);
    assert_eq!(shown[0].0, "A <b> or b?");
    // Never a button that approves.
    let keys: Vec<&str> = shown[0].2.iter().step_by(2).map(String::as_str).collect();
    assert_eq!(keys, ["default", "open", "snooze", "reject"]);
    assert!(shown[0].2.iter().all(|word| !word.to_lowercase().contains("approve")));
    place.cancel(&id);
    place.after(1).await;
    assert_eq!(service.seen().closed, [1]);
    for number in 0..10 {
        place.ask(&format!("Question {number}?"));
    }
    place.after(31).await;
    let shown = service.seen().shown;
    assert_eq!(shown.len(), 2, "a burst is one notification");
    assert!(shown[1].0.contains("10"), "{:?}", shown[1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_desktop_tells_no_more_than_its_level() {
    let Some(bus) = Bus::start() else { skip!("no dbus-daemon here") };
    let service = Service::start(&bus.address).await;
    let place = Place::new(Some(bus.address.clone()));
    place.redactor.learn("canary-secret-1234567890");
    let desktop = place.reach.list().await.unwrap().items[0].id.clone();
    for level in [Privacy::Count, Privacy::Tool, Privacy::Title, Privacy::Full] {
        let patch = ChannelPatch { privacy: Some(level), ..patch() };
        place.reach.change(&desktop, &patch).await.unwrap();
        let before = service.seen().shown.len();
        for question in canaries() {
            let id = place.ask_whole(&question);
            place.after(31).await;
            place.cancel(&id);
            place.after(31).await;
        }
        let shown = service.seen().shown;
        assert_eq!(shown.len(), before + 3, "{level}");
        judge(level, "desktop", &format!("{:?}", &shown[before..]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn buttons_work_and_a_forged_press_does_nothing() {
    let Some(bus) = Bus::start() else { skip!("no dbus-daemon here") };
    let service = Service::start(&bus.address).await;
    let place = Place::new(Some(bus.address.clone()));
    let later = place.ask("Later?");
    place.after(1).await;
    place.reach.tend();
    let stranger = zbus::connection::Builder::address(bus.address.as_str()).build().await.unwrap();
    let waits = |id: &str| place.inbox.questions().unwrap().show(id, Lang::En).unwrap();
    // The service's own press comes after the forged one on the same bus, so that one was heard or dropped by then.
    press(&stranger, 1, "reject").await;
    service.press(1, "snooze").await;
    until("the question is put off", || !waits(&later)["snoozedUntil"].is_null()).await;
    assert_eq!(waits(&later)["state"], "pending");
    let no = place.ask("No?");
    place.after(31).await;
    until("the second one is shown", || service.seen().shown.len() == 2).await;
    until("its name is kept", || place.store.notices_of(&no).unwrap().iter().any(|row| row.handle == "2"))
        .await;
    service.press(2, "reject").await;
    until("the question is refused", || waits(&no)["state"] == "closed").await;
    assert_eq!(waits(&no)["answer"]["by"], json!("person:link:desktop"));
    assert_eq!(waits(&no)["answer"]["status"], json!("canceled"));
    // What can be done is also what is undone: a press on one that is closed changes nothing.
    service.press(2, "reject").await;
    service.press(77, "reject").await;
    assert_eq!(waits(&later)["state"], "pending");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_desktop_is_no_failure_and_said_by_the_doctor() {
    let place = Place::new(None);
    let id = place.ask("Anybody?");
    place.after(1).await;
    assert_eq!(place.store.notices_of(&id).unwrap()[0].state, "gone");
    assert!(place.reach.examine().await.iter().any(|finding| finding.code == "desktop_unavailable"));
}
