//! Asking for the text of a document: starts the process that reads it, waits as long as one may, and says in words
//! what became of it.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;

use chatos_child::{Program, Spawning, Streams, start};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::Semaphore;

use crate::child::{EXTRACT_COMMAND, Head};
use crate::kind::Kind;
use crate::limits::Limits;
use crate::read::{Read, Unread};
use crate::{FILE_BYTES, TEXT_BYTES};

/// Documents that are read at the same time.
const AT_ONCE: usize = 2;
/// What is kept of the complaints of a reader.
const COMPLAINT: u64 = 4 * 1024;

/// Reads documents in processes of their own.
#[derive(Debug)]
pub struct Extractor {
    spawning: Spawning,
    /// The program that answers to [`EXTRACT_COMMAND`].
    program: Option<OsString>,
    slots: Semaphore,
    limits: Limits,
}

impl Extractor {
    /// One that starts `program`; without one only text can be read. `limits` is the value of
    /// [`crate::LIMITS_VARIABLE`], or empty where nobody lowers them.
    pub fn new(spawning: Spawning, program: Option<OsString>, limits: &str) -> Self {
        Self { spawning, program, slots: Semaphore::new(AT_ONCE), limits: Limits::lowered(limits) }
    }

    /// The text of a document.
    pub async fn extract(&self, kind: Kind, bytes: Vec<u8>) -> Result<Read, Unread> {
        if kind == Kind::Text {
            let text = String::from_utf8(bytes).map_err(Unread::damaged)?;
            return Ok(Read { text, note: None });
        }
        if bytes.len() > FILE_BYTES {
            return Err(Unread::new("too_large", "it is larger than 25 MiB", "文件超过 25 MiB"));
        }
        let _slot = self.slots.acquire().await.map_err(|_| unavailable("closing"))?;
        let program =
            self.program.clone().ok_or_else(|| unavailable("this program does not start others"))?;
        let program = Program {
            program,
            arguments: [EXTRACT_COMMAND.into(), kind.as_str().into()]
                .into_iter()
                .chain(self.limits.words())
                .collect(),
            directory: Some("/".into()),
            environment: Vec::new(),
        };
        let (mut process, streams) =
            start(&program, &self.spawning).await.map_err(|error| unavailable(&error.to_string()))?;
        let work = async {
            let (answer, complaint) = talk(streams, bytes).await;
            (process.wait().await, answer, complaint)
        };
        // A little longer than its own limit: most of the time it ends by itself.
        let done = tokio::time::timeout(self.limits.time(), work).await;
        let Ok((status, answer, complaint)) = done else {
            process.signal(rustix::process::Signal::KILL);
            process.wait().await.ok();
            process.end_rest().await;
            return Err(slow(self.limits));
        };
        process.end_rest().await;
        match status {
            Ok(status) if status.success() => understood(&answer),
            Ok(status) => Err(ended(status.signal(), &complaint, self.limits)),
            Err(error) => Err(unavailable(&error.to_string())),
        }
    }
}

/// Gives the bytes and takes what comes back, both within limits.
async fn talk(streams: Streams, bytes: Vec<u8>) -> (Vec<u8>, String) {
    let Streams { stdin, stdout, stderr } = streams;
    let (mut answer, mut complaint) = (Vec::new(), Vec::new());
    let give = async {
        if let Some(mut stdin) = stdin {
            // One that reads no further says why by its end.
            stdin.write_all(&bytes).await.ok();
        }
    };
    let most = TEXT_BYTES as u64 + 64 * 1024;
    let (mut stdout, mut stderr) = (stdout.take(most), stderr);
    let hear = async {
        stdout.read_to_end(&mut answer).await.ok();
    };
    let listen = async {
        (&mut stderr).take(COMPLAINT).read_to_end(&mut complaint).await.ok();
        // The rest is let go, so that nobody waits for room.
        tokio::io::copy(&mut stderr, &mut tokio::io::sink()).await.ok();
    };
    tokio::join!(give, hear, listen);
    (answer, String::from_utf8_lossy(&complaint).into_owned())
}

fn understood(answer: &[u8]) -> Result<Read, Unread> {
    let garbled = || Unread::new("crashed", "its reader gave no answer", "读取程序没有返回结果");
    let at = memchr::memchr(b'\n', answer).ok_or_else(garbled)?;
    let head: Head = serde_json::from_slice(&answer[..at]).map_err(|_| garbled())?;
    if let Some(unread) = head.unread {
        return Err(unread);
    }
    let text = String::from_utf8(answer[at + 1..].to_vec()).map_err(|_| garbled())?;
    Ok(Read { text, note: head.note })
}

fn ended(signal: Option<i32>, complaint: &str, limits: Limits) -> Unread {
    let xcpu = rustix::process::Signal::XCPU.as_raw();
    let kill = rustix::process::Signal::KILL.as_raw();
    if signal == Some(xcpu) || signal == Some(kill) {
        return slow(limits);
    }
    if complaint.contains("memory allocation") {
        return Unread::new(
            "memory",
            format!("reading it takes more than {} MiB of memory", limits.mib()),
            format!("读取它所需的内存超过 {} MiB", limits.mib()),
        );
    }
    Unread::new(
        "crashed",
        "its reader ended without an answer; the file is probably damaged",
        "读取程序意外退出；文件可能已损坏",
    )
}

fn slow(limits: Limits) -> Unread {
    let (en, zh) = limits.time_said();
    Unread::new("slow", format!("reading it takes longer than {en}"), format!("读取时间超过 {zh}"))
}

fn unavailable(detail: &str) -> Unread {
    Unread::new(
        "unavailable",
        format!("its reader cannot be started ({detail})"),
        format!("无法启动读取程序（{detail}）"),
    )
}
