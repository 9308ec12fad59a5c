//! A command on a terminal of its own: what it shows a person, and what the person types.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

const PATIENCE: Duration = Duration::from_secs(120);

/// A running command that believes a person is there.
pub struct Terminal {
    process: Child,
    keyboard: File,
    screen: Arc<Screen>,
}

#[derive(Default)]
struct Screen {
    text: Mutex<Vec<u8>>,
    news: Condvar,
}

impl Terminal {
    /// Starts a prepared command with a terminal as its three streams.
    pub fn start(mut command: Command) -> Self {
        let (master, slave) = match pair() {
            Ok(pair) => pair,
            Err(error) => panic!("no terminal: {error}"),
        };
        let streams = [slave.try_clone(), slave.try_clone(), Ok(slave)];
        let [Ok(input), Ok(output), Ok(error)] = streams else { panic!("a terminal cannot be shared") };
        command.stdin(input).stdout(output).stderr(error);
        let process = match command.spawn() {
            Ok(process) => process,
            Err(error) => panic!("cannot start {command:?}: {error}"),
        };
        // The command holds the other side; without this the end would never be read.
        drop(command);
        let screen = Arc::<Screen>::default();
        let (Ok(mut reader), shown) = (master.try_clone(), Arc::clone(&screen)) else {
            panic!("a terminal cannot be shared")
        };
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // Reading from a terminal nobody holds any more is an error: the end.
            while let Ok(count @ 1..) = reader.read(&mut buffer) {
                shown.text.lock().unwrap_or_else(PoisonError::into_inner).extend(&buffer[..count]);
                shown.news.notify_all();
            }
            shown.news.notify_all();
        });
        Self { process, keyboard: master, screen }
    }

    /// Waits until the command has shown this.
    pub fn wait_for(&self, wanted: &str) {
        let deadline = Instant::now() + PATIENCE;
        let mut text = self.screen.text.lock().unwrap_or_else(PoisonError::into_inner);
        while !String::from_utf8_lossy(&text).contains(wanted) {
            assert!(Instant::now() < deadline, "never shown: {wanted}\n{}", String::from_utf8_lossy(&text));
            text = match self.screen.news.wait_timeout(text, Duration::from_millis(200)) {
                Ok((text, _)) => text,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
    }

    /// Types a line.
    pub fn type_line(&mut self, line: &str) {
        let typed = self.keyboard.write_all(format!("{line}\n").as_bytes());
        assert!(typed.is_ok(), "cannot type: {typed:?}");
    }

    /// The process.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Waits for the end: exit status (-1 for a signal) and everything that was shown.
    pub fn end(mut self) -> (i32, String) {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            match self.process.try_wait() {
                Ok(Some(status)) => break status.code().unwrap_or(-1),
                Ok(None) => assert!(Instant::now() < deadline, "the command does not end"),
                Err(error) => panic!("cannot wait: {error}"),
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        // The reader ends when the last byte was read and nobody holds the other side.
        while Arc::strong_count(&self.screen) > 1 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        let text = self.screen.text.lock().unwrap_or_else(PoisonError::into_inner);
        (status, String::from_utf8_lossy(&text).into_owned())
    }
}

fn pair() -> std::io::Result<(File, File)> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let name = ptsname(&master, Vec::new())?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let slave = rustix::fs::open(name, flags, Mode::empty())?;
    Ok((File::from(master), File::from(slave)))
}
