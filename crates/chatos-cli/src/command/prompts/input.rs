//! Lines from a person at the terminal: plain, hidden, several at once.

use std::io::{self, BufRead, Write};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

/// What Ctrl-C finds.
struct Terminal {
    /// A question is on the screen.
    asking: bool,
    /// How the terminal was before it hid what is typed.
    before: Option<Termios>,
    /// Somebody else ends the program when no question is on the screen.
    watching: bool,
}

static TERMINAL: Mutex<Terminal> = Mutex::new(Terminal { asking: false, before: None, watching: false });

fn terminal() -> MutexGuard<'static, Terminal> {
    TERMINAL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on Ctrl-C at a question ends the program with the terminal as it was. `watching`: at other
/// times the caller takes care of it.
#[expect(clippy::exit, reason = "the other thread waits for a line that will not come")]
pub(super) fn heed_interrupts(watching: bool) {
    static STARTED: Once = Once::new();
    terminal().watching = watching;
    STARTED.call_once(|| {
        let heed = || {
            // Without a runtime Ctrl-C does what the system does.
            let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
                return;
            };
            while runtime.block_on(tokio::signal::ctrl_c()).is_ok() {
                let terminal = terminal();
                if terminal.asking || !terminal.watching {
                    restore(&terminal);
                    std::process::exit(130);
                }
            }
        };
        // Without the thread Ctrl-C does what the system does.
        std::thread::Builder::new().name("interrupts".to_owned()).spawn(heed).ok();
    });
}

fn restore(terminal: &Terminal) {
    if let Some(before) = &terminal.before {
        // There is nobody to tell: the question is over.
        tcsetattr(io::stdin(), OptionalActions::Now, before).ok();
    }
    writeln!(io::stdout()).ok();
}

/// The question on the screen is over without a line from the person: the terminal is as it was.
pub(crate) fn abandon() {
    let mut terminal = terminal();
    if terminal.asking {
        restore(&terminal);
        terminal.before = None;
    }
}

/// Says that a question is on the screen while it lives.
struct Asking;

impl Asking {
    fn begin() -> Self {
        terminal().asking = true;
        Self
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        terminal().asking = false;
    }
}

/// Prints a question and reads one line; `None` at the end of input.
pub(crate) fn line(question: &str) -> io::Result<Option<String>> {
    let _asking = Asking::begin();
    // Not locked while it waits: Ctrl-C prints too.
    let mut out = io::stdout();
    write!(out, "{question}")?;
    out.flush()?;
    let mut text = String::new();
    if io::stdin().lock().read_line(&mut text)? == 0 {
        writeln!(out)?;
        return Ok(None);
    }
    Ok(Some(text.trim_end_matches(['\r', '\n']).to_owned()))
}

/// Reads lines until one holds only a full stop, or the input ends.
pub(crate) fn lines(question: &str) -> io::Result<Option<String>> {
    let _asking = Asking::begin();
    let mut out = io::stdout();
    writeln!(out, "{question}")?;
    out.flush()?;
    let mut all = Vec::new();
    for text in io::stdin().lock().lines() {
        let text = text?;
        if text == "." {
            return Ok(Some(all.join("\n")));
        }
        all.push(text);
    }
    writeln!(out)?;
    Ok(if all.is_empty() { None } else { Some(all.join("\n")) })
}

/// Reads one line without showing it.
pub(crate) fn hidden(question: &str) -> io::Result<String> {
    let stdin = io::stdin();
    let before = tcgetattr(&stdin)?;
    let mut quiet = before.clone();
    quiet.local_modes.remove(LocalModes::ECHO);
    terminal().before = Some(before.clone());
    tcsetattr(&stdin, OptionalActions::Flush, &quiet)?;
    let read = line(question);
    // Whatever happened, the terminal shows again what is typed.
    tcsetattr(&stdin, OptionalActions::Flush, &before)?;
    terminal().before = None;
    writeln!(io::stdout().lock())?;
    Ok(read?.unwrap_or_default())
}

/// How many rows the terminal has.
pub(crate) fn rows() -> usize {
    rustix::termios::tcgetwinsize(io::stdout()).map_or(24, |size| usize::from(size.ws_row).max(5))
}
