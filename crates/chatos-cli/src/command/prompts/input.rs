//! Lines from a person at the terminal: plain, hidden, several at once.

use std::io::{self, BufRead, Write};

use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

/// Prints a question and reads one line; `None` at the end of input.
pub(crate) fn line(question: &str) -> io::Result<Option<String>> {
    let mut out = io::stdout().lock();
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
    let mut out = io::stdout().lock();
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
    tcsetattr(&stdin, OptionalActions::Flush, &quiet)?;
    let read = line(question);
    // Whatever happened, the terminal shows again what is typed.
    tcsetattr(&stdin, OptionalActions::Flush, &before)?;
    writeln!(io::stdout().lock())?;
    Ok(read?.unwrap_or_default())
}

/// How many rows the terminal has.
pub(crate) fn rows() -> usize {
    rustix::termios::tcgetwinsize(io::stdout()).map_or(24, |size| usize::from(size.ws_row).max(5))
}
