//! The process that reads one document: it takes the bytes, gives up everything it could open or reach, and only then
//! looks at them. It is this program again, started with a word of its own.

use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::process::ExitCode;

use rustix::process::{Resource, Rlimit};
use serde::{Deserialize, Serialize};

use crate::FILE_BYTES;
use crate::kind::Kind;
use crate::limits::Limits;
use crate::read::{Members, Note, Read, Unread, read};

/// The program's word for "read the document on your input"; the kind of document follows.
pub const EXTRACT_COMMAND: &str = "__extract";
/// Documents nest; the usual stack is meant for programs.
const STACK: usize = 32 * 1024 * 1024;

/// Closes everything to the calling thread and what it starts: files, sockets, other processes.
pub type Sealed = fn() -> Result<(), String>;

/// Opens the bytes of a document as an archive.
pub type Opened = fn(Vec<u8>) -> Result<Box<dyn Members>, Unread>;

/// The first line of the answer; the text follows.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) note: Option<Note>,
    pub(crate) unread: Option<Unread>,
}

/// Reads the document on standard input, whose kind is the first word and whose limits the next ones, and writes its text.
pub fn serve(mut words: impl Iterator<Item = OsString>, seal: Sealed, archive: Opened) -> ExitCode {
    let Some(kind) = words.next().and_then(|word| Kind::of_word(word.to_str()?)) else {
        return ExitCode::from(2);
    };
    let Some(limits) = Limits::of_words(words) else { return ExitCode::from(2) };
    let mut bytes = Vec::new();
    // What a library prints is not the answer.
    let Ok(answer) = rustix::io::dup(rustix::stdio::stdout()) else { return ExitCode::FAILURE };
    if std::io::stdin().lock().take(FILE_BYTES as u64 + 1).read_to_end(&mut bytes).is_err()
        || rustix::stdio::dup2_stdout(rustix::stdio::stderr()).is_err()
        || limit(limits).is_err()
        || seal().is_err()
    {
        return ExitCode::FAILURE;
    }
    // What went wrong is told by the answer or by the end of this process.
    std::panic::set_hook(Box::new(|_| {}));
    let reading = std::thread::Builder::new().stack_size(STACK).spawn(move || read(kind, bytes, archive));
    let Ok(Ok(done)) = reading.map(std::thread::JoinHandle::join) else { return ExitCode::from(101) };
    let (head, text) = match done {
        Ok(Read { text, note }) => (Head { note, unread: None }, text),
        Err(unread) => (Head { note: None, unread: Some(unread) }, String::new()),
    };
    let Ok(head) = serde_json::to_string(&head) else { return ExitCode::FAILURE };
    let mut answer = std::fs::File::from(answer);
    match answer.write_all(format!("{head}\n{text}").as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn limit(limits: Limits) -> rustix::io::Result<()> {
    let at_most = |most: u64| Rlimit { current: Some(most), maximum: Some(most) };
    rustix::process::setrlimit(Resource::Core, at_most(0))?;
    rustix::process::setrlimit(Resource::Cpu, at_most(limits.seconds()))?;
    rustix::process::setrlimit(Resource::Data, at_most(limits.memory()))
}
