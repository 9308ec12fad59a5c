//! Printing: for people aligned and coloured, for scripts one JSON value; errors in one form.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use chatos_paths::Environment;
use chatos_settings::{Settings, SettingsInput, languages};
use chatos_tool::names::AMBIGUOUS;
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use serde_json::{Value, json};

use crate::args::{Color, Global};
use crate::client::existing_dir;

/// How this command speaks.
#[derive(Debug, Clone)]
pub struct Output {
    pub json: bool,
    pub quiet: bool,
    pub lang: Lang,
    color: bool,
    color_errors: bool,
}

/// A colour with a meaning.
#[derive(Debug, Clone, Copy)]
pub enum Paint {
    Bold,
    Dim,
    Good,
    Warn,
    Bad,
}

impl Output {
    pub fn new(global: &Global, environment: &Environment) -> Self {
        let allowed = |terminal: bool| match global.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                let dumb = environment.get("TERM") == Some("dumb");
                terminal && !dumb && environment.get("NO_COLOR").is_none()
            }
        };
        Self {
            json: global.json,
            quiet: global.quiet,
            lang: global.lang.unwrap_or_else(|| spoken(global, environment)),
            color: allowed(io::stdout().is_terminal()),
            color_errors: allowed(io::stderr().is_terminal()),
        }
    }

    /// Whether looks mean something where stdout goes.
    pub(crate) fn paints(&self) -> bool {
        self.color
    }

    /// Prints a line on stdout. A closed pipe is not an error: the reader has seen enough.
    pub fn line(&self, text: &str) {
        let mut out = io::stdout().lock();
        writeln!(out, "{text}").and_then(|()| out.flush()).ok();
    }

    /// Prints a line for people only.
    pub fn say(&self, text: &Text) {
        if !self.json && !self.quiet {
            self.line(text.get(self.lang));
        }
    }

    /// Prints a line for whoever looks, beside what the command gives.
    pub fn aside(&self, paint: Paint, text: &str) {
        if !self.quiet {
            writeln!(io::stderr(), "{}", dress(self.color_errors, paint, text)).ok();
        }
    }

    /// Prints text as it comes, without an end of the line.
    pub fn piece(&self, text: &str) {
        let mut out = io::stdout().lock();
        write!(out, "{text}").and_then(|()| out.flush()).ok();
    }

    /// Prints one JSON value on one line.
    pub fn json_line(&self, value: &Value) {
        self.line(&harmless_json(&value.to_string()));
    }

    /// Prints one JSON value to be read by people too.
    pub fn json_pretty(&self, value: &Value) -> Result<ExitCode, Fault> {
        let text = serde_json::to_string_pretty(value)
            .map_err(|error| Fault::new(ErrorCode::Internal, Text::same(error.to_string())))?;
        self.line(&harmless_json(&text));
        Ok(ExitCode::SUCCESS)
    }

    /// Paints text for stdout where colours are wanted.
    pub fn paint(&self, paint: Paint, text: &str) -> String {
        dress(self.color, paint, text)
    }

    /// Prints an error in its form and gives its exit status.
    pub fn fault(&self, fault: &Fault) -> ExitCode {
        let status = exit_status(fault);
        if self.json {
            self.json_line(&fault.to_json(self.lang));
            return status;
        }
        // A Chinese colon brings its own room.
        let (error, cause, hint) = match self.lang {
            Lang::En => ("error: ", "caused by: ", "hint: "),
            Lang::Zh => ("错误：", "原因：", "提示："),
        };
        let named = |paint: Paint, name: &str| dress(self.color_errors, paint, name);
        let mut text = format!("{}{}\n", named(Paint::Bad, error), visible(fault.message.get(self.lang)));
        for told in &fault.causes {
            writeln!(text, "  {}{}", named(Paint::Dim, cause), visible(told)).ok();
        }
        if let Some(told) = &fault.hint {
            writeln!(text, "{}{}", named(Paint::Good, hint), visible(told.get(self.lang))).ok();
        }
        io::stderr().write_all(text.as_bytes()).ok();
        status
    }
}

/// The language of people: what they set, else what the environment asks for. A state that cannot be read says nothing.
fn spoken(global: &Global, environment: &Environment) -> Lang {
    let env = environment.variables();
    let settings = Settings::unstored(SettingsInput { env: env.clone(), ..SettingsInput::default() });
    let stored = existing_dir(global, environment)
        .ok()
        .flatten()
        .and_then(|dir| chatos_store::stored_setting(&dir.database(), "language"));
    settings.note_stored("language", stored.map(|value| (value, 0)));
    languages(env, &settings).people
}

/// How many columns the terminal has.
pub(crate) fn columns() -> usize {
    let known = rustix::termios::tcgetwinsize(io::stdout()).map_or(0, |size| usize::from(size.ws_col));
    if known == 0 { 80 } else { known }
}

/// A name that means several things is wrong usage; everything else ends as its class says.
fn exit_status(fault: &Fault) -> ExitCode {
    ExitCode::from(if fault.code == AMBIGUOUS { 2 } else { fault.class.exit_status() })
}

/// What clap has to say, or `instead` in its place: help and version are no errors; wrong usage is exit 2, as JSON
/// where that was asked for.
pub fn usage(error: &clap::Error, instead: Option<&str>) -> ExitCode {
    use clap::error::ErrorKind;
    let harmless = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if !harmless && std::env::args_os().any(|arg| arg == "--json") {
        let text = error.render().to_string();
        // The first paragraph: what is missing stands in lines of its own.
        let said: Vec<&str> = text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
        let message = said.join(" ").trim_start_matches("error: ").to_owned();
        let body = json!({ "error": {
            "code": "usage", "message": message, "hint": "see `chatos help`",
        } });
        writeln!(io::stdout(), "{body}").ok();
        return ExitCode::from(2);
    }
    match instead {
        Some(text) if error.use_stderr() => io::stderr().write_all(text.as_bytes()).ok(),
        Some(text) => io::stdout().write_all(text.as_bytes()).ok(),
        None => error.print().ok(),
    };
    if harmless { ExitCode::SUCCESS } else { ExitCode::from(2) }
}

/// A wrong value that clap could not see: exit 2 all the same.
pub fn usage_fault(output: &Output, fault: &Fault) -> ExitCode {
    output.fault(fault);
    ExitCode::from(2)
}

fn dress(color: bool, paint: Paint, text: &str) -> String {
    if !color {
        return text.to_owned();
    }
    let code = match paint {
        Paint::Bold => "1",
        Paint::Dim => "2",
        Paint::Good => "32",
        Paint::Warn => "33",
        Paint::Bad => "1;31",
    };
    format!("\u{1b}[{code}m{text}\u{1b}[0m")
}

/// Characters that move the cursor, or hide themselves or others.
pub(crate) fn is_hostile(c: char) -> bool {
    let bidi = matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}'..='\u{200f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}');
    (c.is_control() && c != '\n' && c != '\t') || bidi
}

/// JSON as it is, with what a terminal could obey as escapes: such characters are only inside of strings.
fn harmless_json(json: &str) -> String {
    if !json.chars().any(is_hostile) {
        return json.to_owned();
    }
    let mut shown = String::with_capacity(json.len());
    for c in json.chars() {
        if is_hostile(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(shown, "\\u{unit:04x}").ok();
            }
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Text from elsewhere must not move the cursor or hide itself: control and bidi characters are
/// shown as escapes (security T19).
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hostile(c) {
            write!(shown, "\\u{{{:x}}}", c as u32).ok();
        } else {
            shown.push(c);
        }
    }
    shown
}

/// How many columns a text takes on a terminal: CJK characters take two.
pub fn width(text: &str) -> usize {
    text.chars().map(|c| if is_wide(c) { 2 } else { 1 }).sum()
}

fn is_wide(c: char) -> bool {
    matches!(c as u32, 0x1100..=0x115F | 0x2E80..=0xA4CF | 0xAC00..=0xD7A3 | 0xF900..=0xFAFF | 0xFE30..=0xFE6F | 0xFF00..=0xFF60 | 0xFFE0..=0xFFE6 | 0x1F300..=0x1FAFF | 0x20000..=0x3FFFD)
}

/// Pads a text to a number of columns.
pub fn pad(text: &str, columns: usize) -> String {
    let missing = columns.saturating_sub(width(text));
    format!("{text}{}", " ".repeat(missing))
}

/// A word of a command line, as a shell reads it.
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-:@+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// A line on the error stream before anything is known about how to speak. A closed stream hears nothing.
pub fn plain_error(text: &str) {
    writeln!(io::stderr(), "{text}").ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_is_made_visible() {
        assert_eq!(visible("a\u{1b}[2Jb\u{202e}c\nd"), "a\\u{1b}[2Jb\\u{202e}c\nd");
    }

    #[test]
    fn json_is_the_same_value_without_what_a_terminal_obeys() {
        let value = serde_json::json!({ "a": "\u{9b}31m\u{202e}\u{e0001}语\n\u{1b}" });
        let shown = harmless_json(&value.to_string());
        assert_eq!(shown, r#"{"a":"\u009b31m\u202e\udb40\udc01语\n\u001b"}"#);
        assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), value);
    }

    #[test]
    fn chinese_takes_two_columns() {
        assert_eq!(width("语言 a"), 6);
        assert_eq!(pad("语言", 6), "语言  ");
    }
}
