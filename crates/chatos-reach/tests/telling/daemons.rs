//! The desktop with notification services of other makers on a real session bus: dunst, as Debian has it, on a screen
//! nobody sees, and that of python-dbusmock.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use chatos_testkit::{child, skip};
use chatos_wire::channel::ChannelPatch;
use serde_json::Value;

use crate::answers::patch;
use crate::canary::{LEVELS, canaries, judge};
use crate::desktop::Bus;
use crate::place::{Place, until};

/// A program that ends with the test.
struct Running(Child);

impl Running {
    fn start(command: &mut Command) -> Option<Self> {
        command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().ok().map(Self)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn on_bus(program: &str, bus: &Bus) -> Command {
    let mut command = child(program);
    command.env("DBUS_SESSION_BUS_ADDRESS", &bus.address);
    command
}

/// What a program of the same session prints; nothing where it fails.
fn printed(mut command: Command) -> String {
    let mut text = String::new();
    if let Ok(mut running) = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn() {
        if let Some(out) = &mut running.stdout {
            out.read_to_string(&mut text).ok();
        }
        running.wait().ok();
    }
    text.trim().to_owned()
}

/// dunst on a bus and a screen of its own.
struct Dunst {
    bus: Bus,
    _screen: Running,
    _service: Running,
}

impl Dunst {
    /// An `Err` names what this machine lacks.
    fn start() -> Result<Self, &'static str> {
        let bus = Bus::start().ok_or("no dbus-daemon here")?;
        let mut screen = child("Xvfb");
        screen
            .args(["-displayfd", "1", "-screen", "0", "640x480x8", "-nolisten", "tcp"])
            .stdout(Stdio::piped());
        let mut screen = Running::start(&mut screen).ok_or("no Xvfb here")?;
        let mut number = String::new();
        BufReader::new(screen.0.stdout.take().unwrap()).read_line(&mut number).unwrap();
        let mut dunst = on_bus("dunst", &bus);
        dunst.env("DISPLAY", format!(":{}", number.trim())).env("HOME", "/nonexistent").stdout(Stdio::null());
        let service = Running::start(&mut dunst).ok_or("no dunst here")?;
        Ok(Self { bus, _screen: screen, _service: service })
    }

    fn ctl(&self, args: &[&str]) -> String {
        let mut command = on_bus("dunstctl", &self.bus);
        command.args(args);
        printed(command)
    }

    /// Waits until so many notifications are on the screen.
    async fn shows(&self, what: &str, count: &str) {
        until(what, || self.ctl(&["count", "displayed"]) == count).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn dunst_shows_a_question_opens_the_inbox_and_takes_it_back() {
    let dunst = match Dunst::start() {
        Ok(dunst) => dunst,
        Err(why) => skip!("{why}"),
    };
    let place = Place::new(Some(dunst.bus.address.clone()));
    dunst.shows("dunst is there", "0").await;
    let opened = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&opened);
    place.reach.opened_by(move || {
        counted.fetch_add(1, Ordering::SeqCst);
    });
    let id = place.ask("Blue & green?");
    place.after(1).await;
    dunst.shows("it is shown", "1").await;
    place.reach.tend();
    dunst.ctl(&["action"]);
    until("pressing it opens the inbox", || opened.load(Ordering::SeqCst) == 1).await;
    // dunst takes what was pressed away; the next one is taken back by us.
    place.cancel(&id);
    let id = place.ask("Red?");
    place.wait(31);
    place.reach.wake();
    dunst.shows("the second one is shown", "1").await;
    place.cancel(&id);
    place.reach.wake();
    dunst.shows("it is taken back", "0").await;
    let history = dunst.ctl(&["history"]);
    assert!(history.contains("Red?") && history.contains("Blue &"), "{history}");
}

#[tokio::test(flavor = "multi_thread")]
async fn dunst_is_told_no_more_than_the_level() {
    let dunst = match Dunst::start() {
        Ok(dunst) => dunst,
        Err(why) => skip!("{why}"),
    };
    let place = Place::new(Some(dunst.bus.address.clone()));
    place.redactor.learn("canary-secret-1234567890");
    dunst.shows("dunst is there", "0").await;
    let desktop = place.reach.list().await.unwrap().items[0].id.clone();
    for (level, count) in LEVELS.into_iter().zip([3, 6, 9, 12]) {
        let patch = ChannelPatch { privacy: Some(level), ..patch() };
        place.reach.change(&desktop, &patch).await.unwrap();
        for question in canaries() {
            let id = place.ask_whole(&question);
            place.after(31).await;
            dunst.shows("it is shown", "1").await;
            place.cancel(&id);
            place.after(31).await;
            dunst.shows("it is taken back", "0").await;
        }
        // All that dunst knows of them: words, buttons, the program.
        let told: Value = serde_json::from_str(&dunst.ctl(&["history"])).unwrap();
        let newest = told["data"][0].as_array().unwrap();
        assert_eq!(newest.len(), count, "{level}: {told}");
        judge(level, "dunst", &format!("{:?}", &newest[..3]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_without_buttons_is_told_without_buttons() {
    let Some(bus) = Bus::start() else { skip!("no dbus-daemon here") };
    // Debian's own Python has the package, whichever one is first in the path.
    let python = "/usr/bin/python3";
    let has = child(python).args(["-c", "import dbusmock"]).stderr(Stdio::null()).status();
    if !has.is_ok_and(|status| status.success()) {
        skip!("no python3-dbusmock here");
    }
    let place = Place::new(Some(bus.address.clone()));
    let log = place.path().join("mock.log");
    let mut mock = on_bus(python, &bus);
    mock.args(["-m", "dbusmock", "--session", "-t", "notification_daemon", "-l"])
        .arg(&log)
        .stdout(Stdio::null());
    let _mock = Running::start(&mut mock).unwrap();
    let logged = || std::fs::read_to_string(&log).unwrap_or_default();
    until("the service is there", || log.exists()).await;
    let there =
        async || place.reach.list().await.unwrap().items[0].state == chatos_wire::channel::ChannelState::Ok;
    while !there().await {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let id = place.ask("Is <this> it?");
    place.after(1).await;
    let shown = logged();
    let line = shown.lines().find(|line| line.contains("Notify")).unwrap_or_else(|| panic!("{shown}"));
    assert!(line.contains("Is <this> it?") && line.contains("[]"), "{line}");
    place.cancel(&id);
    place.after(1).await;
    assert!(logged().contains("CloseNotification"), "{}", logged());
}
