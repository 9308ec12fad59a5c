//! The line a person types: edited, remembered, completed; on a thread of its own, because it waits.

use std::io;
use std::sync::mpsc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::{History as _, MemHistory};
use rustyline::validate::Validator;
use rustyline::{
    Cmd, ConditionalEventHandler, Config, Context, Event, EventContext, EventHandler, Helper, KeyCode,
    KeyEvent, Modifiers, Movement, RepeatCount,
};
use tokio::sync::{mpsc as unbounded, oneshot};

use chatos_commands::built_in;

/// What came of a prompt.
#[derive(Debug)]
pub(super) enum Typed {
    Line(String),
    /// Ctrl-C on an empty line.
    Interrupted,
    /// Ctrl-D on an empty line, or the terminal is gone.
    End,
}

struct Wanted {
    prompt: String,
    typed: oneshot::Sender<io::Result<Typed>>,
}

/// What somebody who pressed Tab behind an `@` waits for.
pub(super) struct Lookup {
    /// What stands behind the `@`.
    pub(super) word: String,
    /// Takes what may stand there, the best first.
    pub(super) found: mpsc::Sender<Vec<String>>,
}

/// How long somebody who pressed Tab waits; without an answer nothing is completed.
const LOOKING: Duration = Duration::from_secs(4);

/// A person's line, asked for when it is their turn.
pub(super) struct LineEditor {
    wanted: mpsc::Sender<Wanted>,
}

impl LineEditor {
    /// `past`: what the arrow keys bring back, oldest first.
    /// `words`: commands beside those of the chat itself, each with its `/`.
    /// Whoever reads lines answers the lookups meanwhile.
    pub(super) fn start(
        past: Vec<String>,
        words: Vec<String>,
    ) -> io::Result<(Self, unbounded::UnboundedReceiver<Lookup>)> {
        let (wanted, asked) = mpsc::channel::<Wanted>();
        let (lookups, looked_up) = unbounded::unbounded_channel();
        let edit = move || {
            let mut editor = match editor(&past, Words { words, lookups }) {
                Ok(editor) => editor,
                Err(error) => {
                    if let Ok(one) = asked.recv() {
                        one.typed.send(Err(io::Error::other(error))).ok();
                    }
                    return;
                }
            };
            while let Ok(one) = asked.recv() {
                let typed = match editor.readline(&one.prompt) {
                    Ok(text) => {
                        // Only what it says itself not to keep is not kept.
                        editor.add_history_entry(&text).ok();
                        Ok(Typed::Line(text))
                    }
                    Err(ReadlineError::Interrupted) => Ok(Typed::Interrupted),
                    Err(ReadlineError::Eof) => Ok(Typed::End),
                    Err(error) => Err(io::Error::other(error)),
                };
                // Nobody waits for it any more when this fails.
                one.typed.send(typed).ok();
            }
        };
        std::thread::Builder::new().name("line".to_owned()).spawn(edit)?;
        Ok((Self { wanted }, looked_up))
    }

    /// Shows the prompt and waits for the line.
    pub(super) async fn read(&self, prompt: &str) -> io::Result<Typed> {
        let gone = || io::Error::other("the line editor has ended");
        let (typed, line) = oneshot::channel();
        self.wanted.send(Wanted { prompt: prompt.to_owned(), typed }).map_err(|_| gone())?;
        line.await.map_err(|_| gone())?
    }
}

type Editor = rustyline::Editor<Words, MemHistory>;

fn editor(past: &[String], words: Words) -> rustyline::Result<Editor> {
    let config = Config::builder().max_history_size(500)?.history_ignore_space(true).build();
    let mut history = MemHistory::with_config(&config);
    for text in past {
        history.add(text)?;
    }
    let mut editor = Editor::with_history(config, history)?;
    editor.set_helper(Some(words));
    editor.bind_sequence(KeyEvent::ctrl('C'), EventHandler::Conditional(Box::new(ClearFirst)));
    let newline = KeyEvent(KeyCode::Enter, Modifiers::ALT);
    editor.bind_sequence(newline, EventHandler::Simple(Cmd::Newline));
    Ok(editor)
}

/// Ctrl-C clears what is typed; on an empty line it is the chat's.
struct ClearFirst;

impl ConditionalEventHandler for ClearFirst {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, line: &EventContext<'_>) -> Option<Cmd> {
        Some(if line.line().is_empty() { Cmd::Interrupt } else { Cmd::Kill(Movement::WholeBuffer) })
    }
}

/// Completes the names of commands: those of the chat, and these; behind an `@` files and resources.
struct Words {
    words: Vec<String>,
    lookups: unbounded::UnboundedSender<Lookup>,
}

impl Words {
    /// What may stand behind an `@`.
    fn look_up(&self, word: &str) -> Vec<String> {
        let (found, answer) = mpsc::channel();
        let asked = self.lookups.send(Lookup { word: word.to_owned(), found });
        asked.ok().and_then(|()| answer.recv_timeout(LOOKING).ok()).unwrap_or_default()
    }
}

impl Completer for Words {
    type Candidate = Pair;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let typed = line.get(..at).unwrap_or_default();
        let from = typed.rfind(|c: char| c.is_whitespace() || c == '(').map_or(0, |at| at + 1);
        if let Some(word) = typed.get(from..).and_then(|word| word.strip_prefix('@')) {
            return Ok((from, self.look_up(word).iter().map(|path| mention(path)).collect()));
        }
        let all =
            built_in::ALL.iter().map(|command| command.word).chain(self.words.iter().map(String::as_str));
        let found = all.filter(|word| word.starts_with(typed) && !typed.is_empty());
        let pair = |word: &str| Pair { display: word.to_owned(), replacement: format!("{word} ") };
        Ok((0, found.map(pair).collect()))
    }
}

/// A folder goes on, and so does an address up to its first place; everything else is done.
fn mention(path: &str) -> Pair {
    let replacement = match path.split_once('{') {
        Some((beginning, _)) => format!("@{beginning}"),
        None if path.ends_with('/') => format!("@{path}"),
        None => format!("@{path} "),
    };
    Pair { display: format!("@{path}"), replacement }
}

impl Hinter for Words {
    type Hint = String;
}
impl Highlighter for Words {}
impl Validator for Words {}
impl Helper for Words {}

/// The terminal while an agent works: keys are not shown and are there at once, for the line that begins with them.
pub(super) struct Quiet(Termios);

impl Quiet {
    pub(super) fn begin() -> io::Result<Self> {
        let stdin = io::stdin();
        let before = tcgetattr(&stdin)?;
        let mut mode = before.clone();
        mode.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        mode.special_codes[SpecialCodeIndex::VMIN] = 1;
        mode.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(&stdin, OptionalActions::Now, &mode)?;
        Ok(Self(before))
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing.
        tcsetattr(io::stdin(), OptionalActions::Now, &self.0).ok();
    }
}

/// How often it is looked whether a key was pressed: at once for a person, nothing for the machine.
const LOOK: Duration = Duration::from_millis(30);

/// Waits until a key was pressed; the key stays for whoever reads. A terminal that is gone counts as one.
pub(super) async fn key() {
    loop {
        let stdin = io::stdin();
        let mut watched = [PollFd::new(&stdin, PollFlags::IN)];
        if poll(&mut watched, Some(&Timespec::default())).is_ok_and(|ready| ready > 0) {
            return;
        }
        tokio::time::sleep(LOOK).await;
    }
}
