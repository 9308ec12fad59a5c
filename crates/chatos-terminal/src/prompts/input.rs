//! Lines from a person at the terminal: plain, hidden, several at once.

use std::io::{self, BufRead, Write};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};

/// What Ctrl-C finds.
struct Terminal {
    /// A question is on the screen.
    asking: bool,
    /// How the terminal was before it hid what is typed.
    before: Option<Termios>,
    /// Somebody else ends the program when no question is on the screen.
    watching: bool,
    /// Ctrl-C leaves the question, not the program.
    leaves: bool,
}

static TERMINAL: Mutex<Terminal> =
    Mutex::new(Terminal { asking: false, before: None, watching: false, leaves: false });

/// What the terminal writes for Ctrl-C.
const INTERRUPT: u8 = 3;

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

/// From now on Ctrl-C at a question is an error of the kind `Interrupted`, and the program goes on.
pub fn leave_at_interrupts() {
    terminal().leaves = true;
}

fn restore(terminal: &Terminal) {
    if let Some(before) = &terminal.before {
        // There is nobody to tell: the question is over.
        tcsetattr(io::stdin(), OptionalActions::Now, before).ok();
    }
    writeln!(io::stdout()).ok();
}

/// The question on the screen is over without a line from the person: the terminal is as it was.
pub fn abandon() {
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
pub fn line(question: &str) -> io::Result<Option<String>> {
    let _asking = Asking::begin();
    // Not locked while it waits: Ctrl-C prints too.
    let mut out = io::stdout();
    write!(out, "{question}")?;
    out.flush()?;
    let text = one_line()?;
    if text.is_none() {
        writeln!(out)?;
    }
    Ok(text)
}

/// One line without its end; `None` at the end of input.
fn one_line() -> io::Result<Option<String>> {
    let leaves = terminal().leaves;
    let mut text = String::new();
    if leaves {
        text = leavable_line()?;
    } else {
        io::stdin().lock().read_line(&mut text)?;
    }
    Ok((!text.is_empty()).then(|| text.trim_end_matches(['\r', '\n']).to_owned()))
}

/// A line of a terminal whose Ctrl-C ends the line instead of the program. Read past the buffer of the standard
/// library: what is typed ahead stays for whoever reads next.
fn leavable_line() -> io::Result<String> {
    let stdin = io::stdin();
    let before = tcgetattr(&stdin)?;
    let mut mode = before.clone();
    mode.local_modes.remove(LocalModes::ISIG);
    mode.special_codes[SpecialCodeIndex::VEOL] = INTERRUPT;
    tcsetattr(&stdin, OptionalActions::Now, &mode)?;
    let mut bytes = Vec::new();
    let read = loop {
        let mut part = [0; 4096];
        match rustix::io::read(&stdin, &mut part) {
            Ok(0) => break Ok(()),
            Ok(count) => bytes.extend_from_slice(&part[..count]),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => break Err(io::Error::from(error)),
        }
        match bytes.last() {
            Some(&b'\n') => break Ok(()),
            Some(&INTERRUPT) => break Err(io::Error::from(io::ErrorKind::Interrupted)),
            _ => {}
        }
    };
    tcsetattr(&stdin, OptionalActions::Now, &before)?;
    if read.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::Interrupted) {
        writeln!(io::stdout())?;
    }
    read.map(|()| String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads lines until one holds only a full stop, or the input ends.
pub fn lines(question: &str) -> io::Result<Option<String>> {
    let _asking = Asking::begin();
    let mut out = io::stdout();
    writeln!(out, "{question}")?;
    out.flush()?;
    let mut all = Vec::new();
    while let Some(text) = one_line()? {
        if text == "." {
            return Ok(Some(all.join("\n")));
        }
        all.push(text);
    }
    writeln!(out)?;
    Ok(if all.is_empty() { None } else { Some(all.join("\n")) })
}

/// Reads one line without showing it.
pub fn hidden(question: &str) -> io::Result<String> {
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
pub fn rows() -> usize {
    rustix::termios::tcgetwinsize(io::stdout()).map_or(24, |size| usize::from(size.ws_row).max(5))
}
