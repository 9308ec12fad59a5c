//! A terminal for the program: what it prints is read, what a person types is written, and the test
//! waits for a question before it answers.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use chatos_testkit::Sandbox;

const PATIENCE: Duration = Duration::from_secs(120);

/// A running program and the person's side of its terminal.
pub(crate) struct Terminal {
    process: Child,
    keyboard: ChildStdin,
    screen: Arc<(Mutex<Screen>, Condvar)>,
    /// How far [`Terminal::expect`] has read.
    seen: usize,
}

#[derive(Default)]
struct Screen {
    text: String,
    ended: bool,
}

impl Terminal {
    /// Starts the program on the sandbox's state with a terminal, which `script` makes for it.
    pub(crate) fn start(sandbox: &Sandbox, args: &[&str]) -> Self {
        Self::start_as(sandbox, args, "dumb")
    }

    /// The same on a terminal of this kind; one that is not `dumb` can move the cursor.
    pub(crate) fn start_as(sandbox: &Sandbox, args: &[&str], kind: &str) -> Self {
        let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
        let mut words = vec![quoted(&sandbox.program().to_string_lossy())];
        words.extend(args.iter().map(|arg| quoted(arg)));
        words.extend(["--state-dir".to_owned(), quoted(&sandbox.state().to_string_lossy())]);
        let mut command = sandbox.under("script");
        command.args(["-q", "-e", "-c", &format!("exec {}", words.join(" ")), "/dev/null"]);
        command.env("TERM", kind).env("SHELL", "/bin/sh");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut process = command.spawn().unwrap();
        let keyboard = process.stdin.take().unwrap();
        let mut from = process.stdout.take().unwrap();
        let screen = Arc::new((Mutex::new(Screen::default()), Condvar::new()));
        let written = screen.clone();
        std::thread::spawn(move || {
            let mut bytes = [0u8; 4096];
            let mut rest = Vec::new();
            loop {
                let read = from.read(&mut bytes).unwrap_or(0);
                let mut screen = written.0.lock().unwrap();
                rest.extend_from_slice(&bytes[..read]);
                let whole = match std::str::from_utf8(&rest) {
                    Ok(text) => text.len(),
                    Err(error) => error.valid_up_to(),
                };
                screen.text.push_str(&String::from_utf8_lossy(&rest[..whole]));
                rest.drain(..whole);
                screen.ended = read == 0;
                written.1.notify_all();
                if read == 0 {
                    return;
                }
            }
        });
        Self { process, keyboard, screen, seen: 0 }
    }

    /// Waits until `text` is on the screen after what was waited for before.
    pub(crate) fn expect(&mut self, text: &str) -> &mut Self {
        let deadline = Instant::now() + PATIENCE;
        let mut screen = self.screen.0.lock().unwrap();
        loop {
            if let Some(at) = screen.text[self.seen..].find(text) {
                self.seen += at + text.len();
                drop(screen);
                return self;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(
                !screen.ended && !left.is_zero(),
                "`{text}` is not on the screen after:\n{}",
                &screen.text[self.seen..]
            );
            screen = self.screen.1.wait_timeout(screen, left).unwrap().0;
        }
    }

    /// Types a line and Enter.
    pub(crate) fn enter(&mut self, text: &str) -> &mut Self {
        self.press(&format!("{text}\r"))
    }

    /// Presses keys.
    pub(crate) fn press(&mut self, keys: &str) -> &mut Self {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
        self
    }

    /// Everything printed so far, what was typed with echo included.
    pub(crate) fn screen(&self) -> String {
        self.screen.0.lock().unwrap().text.clone()
    }

    /// Waits for the end.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.process.try_wait().unwrap() {
                let mut screen = self.screen.0.lock().unwrap();
                while !screen.ended {
                    screen = self.screen.1.wait_timeout(screen, Duration::from_secs(5)).unwrap().0;
                }
                return (status.code(), screen.text.clone());
            }
            assert!(Instant::now() < deadline, "it does not end:\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Both fail harmlessly when it has ended already.
        self.process.kill().ok();
        self.process.wait().ok();
    }
}
