//! The desktop with notification services of other makers on a real session bus: dunst, as Debian has it, on a screen
//! nobody sees, and that of python-dbusmock.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use chatos_testkit::{child, skip};

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

#[tokio::test(flavor = "multi_thread")]
async fn dunst_shows_a_question_opens_the_inbox_and_takes_it_back() {
    let Some(bus) = Bus::start() else { skip!("no dbus-daemon here") };
    let mut screen = child("Xvfb");
    screen.args(["-displayfd", "1", "-screen", "0", "640x480x8", "-nolisten", "tcp"]).stdout(Stdio::piped());
    let Some(mut screen) = Running::start(&mut screen) else { skip!("no Xvfb here") };
    let mut number = String::new();
    BufReader::new(screen.0.stdout.take().unwrap()).read_line(&mut number).unwrap();
    let mut dunst = on_bus("dunst", &bus);
    dunst.env("DISPLAY", format!(":{}", number.trim())).env("HOME", "/nonexistent").stdout(Stdio::null());
    let Some(_dunst) = Running::start(&mut dunst) else { skip!("no dunst here") };
    let ctl = |args: &[&str]| {
        let mut command = on_bus("dunstctl", &bus);
        command.args(args);
        printed(command)
    };
    let place = Place::new(Some(bus.address.clone()));
    until("dunst is there", || ctl(&["count", "displayed"]) == "0").await;
    let opened = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&opened);
    place.reach.opened_by(move || {
        counted.fetch_add(1, Ordering::SeqCst);
    });
    let id = place.ask("Blue & green?");
    place.after(1).await;
    until("it is shown", || ctl(&["count", "displayed"]) == "1").await;
    place.reach.tend();
    ctl(&["action"]);
    until("pressing it opens the inbox", || opened.load(Ordering::SeqCst) == 1).await;
    // dunst takes what was pressed away; the next one is taken back by us.
    place.cancel(&id);
    let id = place.ask("Red?");
    place.wait(31);
    place.reach.wake();
    until("the second one is shown", || ctl(&["count", "displayed"]) == "1").await;
    place.cancel(&id);
    place.reach.wake();
    until("it is taken back", || ctl(&["count", "displayed"]) == "0").await;
    let history = ctl(&["history"]);
    assert!(history.contains("Red?") && history.contains("Blue &"), "{history}");
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
