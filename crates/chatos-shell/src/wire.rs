//! What a server and the supervisor of a command say to each other: frames of JSON over a socket pair,
//! the first of them with open files beside it.
//!
//! A frame is a length of four bytes and that many bytes of JSON.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::Interest;
use tokio::net::UnixStream;

use super::sandbox::{Boundary, Level};

/// Longest frame. A command has at most 128 KiB, its environment 64 values of 8 KiB.
const MAX_FRAME: usize = 4 << 20;
/// Most files beside a frame.
const MAX_FILES: usize = 4;

/// What the server wants.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Order {
    /// Run a command; beside it the working directory, stdout, stderr and, where it is spoken to, stdin.
    Run(Box<Job>),
    /// Become the supervisor of a session; beside it the working directory.
    Session(Box<SessionJob>),
    /// End everything: TERM, then KILL after this time.
    End { grace_ms: u64 },
    /// A session outlives the server, or not.
    Keep(bool),
}

/// A command to run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Job {
    pub(super) argv: Vec<String>,
    pub(super) env: Vec<(String, String)>,
    /// The private temporary directory; made before and removed after.
    pub(super) temp: PathBuf,
    /// Processor time of one process.
    pub(super) cpu_seconds: Option<u64>,
    /// Memory of all its processes together; looked at now and then.
    pub(super) memory_bytes: Option<u64>,
    /// What confines it; `None` was chosen by a person.
    pub(super) boundary: Option<Boundary>,
}

/// A session to hold.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SessionJob {
    pub(super) job: Job,
    /// Where its files are; exists already.
    pub(super) dir: PathBuf,
    /// What is known of it before it runs.
    pub(super) record: super::sessions::Record,
    /// Columns and rows of its terminal; `None` for plain pipes.
    pub(super) terminal: Option<(u16, u16)>,
    /// Bytes of output kept.
    pub(super) log_bytes: u64,
    /// It outlives the server.
    pub(super) keep: bool,
}

/// What the supervisor says.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Report {
    Started {
        pid: i32,
        start_time: u64,
        level: Level,
    },
    /// It could not be started; nothing runs.
    Failed {
        what: Failure,
        message: String,
    },
    /// Its first process ended; `left` others of it still run. With `last` nothing of it is left, its directory
    /// included: [`Self::Idle`] follows without any doubt, and the next order may be sent before.
    Exited {
        code: Option<i32>,
        signal: Option<i32>,
        left: usize,
        last: bool,
    },
    /// It had too many processes and was ended.
    TooMany {
        limit: usize,
    },
    /// It used too much memory and was ended.
    TooLarge {
        limit: u64,
    },
    /// Nothing of it runs any more; the supervisor takes the next command.
    Idle,
}

/// Why a command could not be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Failure {
    /// The boundary could not be drawn; running without it would be wrong.
    Boundary,
    /// The shell is missing or refuses to start.
    Program,
    /// The directory, the temporary directory, pipes.
    Surroundings,
}

/// Sends a frame, with files beside it; blocks when the socket does.
pub(super) fn send(
    socket: BorrowedFd<'_>,
    message: &impl Serialize,
    files: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let frame = frame(message)?;
    let mut sent = send_some(socket, &frame, files)?;
    while sent < frame.len() {
        match rustix::net::send(socket, &frame[sent..], SendFlags::NOSIGNAL) {
            Ok(more) => sent += more,
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

/// A frame as bytes.
pub(super) fn frame(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut frame = vec![0; 4];
    serde_json::to_writer(&mut frame, message)?;
    let length = frame.len() - 4;
    if length > MAX_FRAME {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the message is too long"));
    }
    frame[..4].copy_from_slice(&(length as u32).to_le_bytes());
    Ok(frame)
}

/// Sends the beginning of a frame and the files; says how much of it went.
pub(super) fn send_some(socket: BorrowedFd<'_>, frame: &[u8], files: &[BorrowedFd<'_>]) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FILES))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() && !control.push(SendAncillaryMessage::ScmRights(files)) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "too many files"));
    }
    loop {
        match rustix::net::sendmsg(socket, &[IoSlice::new(frame)], &mut control, SendFlags::NOSIGNAL) {
            Err(rustix::io::Errno::INTR) => {}
            sent => return Ok(sent?),
        }
    }
}

/// Frames on their way in, and the files that came with them.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    bytes: Vec<u8>,
    files: Vec<OwnedFd>,
}

impl Inbox {
    /// Reads what is there; `false` at the end of the stream.
    pub(super) fn fill(&mut self, socket: impl AsFd) -> io::Result<bool> {
        let mut buffer = [0; 16 << 10];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FILES))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut parts = [IoSliceMut::new(&mut buffer)];
        let got = loop {
            match rustix::net::recvmsg(&socket, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC) {
                Err(rustix::io::Errno::INTR) => {}
                got => break got?,
            }
        };
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(files) = message {
                self.files.extend(files);
            }
        }
        self.bytes.extend_from_slice(&buffer[..got.bytes]);
        Ok(got.bytes > 0)
    }

    /// The next whole frame.
    pub(super) fn next<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let Some(length) = self.bytes.first_chunk::<4>() else { return Ok(None) };
        let length = u32::from_le_bytes(*length) as usize;
        if length > MAX_FRAME {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the message is too long"));
        }
        let Some(body) = self.bytes.get(4..4 + length) else { return Ok(None) };
        let message = serde_json::from_slice(body)?;
        self.bytes.drain(..4 + length);
        Ok(Some(message))
    }

    /// The files that came since the last time.
    pub(super) fn take_files(&mut self) -> Vec<OwnedFd> {
        std::mem::take(&mut self.files)
    }
}

/// Frames over an asynchronous socket.
#[derive(Debug)]
pub(super) struct Channel {
    stream: UnixStream,
    inbox: Inbox,
}

impl Channel {
    pub(super) fn new(stream: UnixStream) -> Self {
        Self { stream, inbox: Inbox::default() }
    }

    /// Sends a message, with files beside it.
    pub(super) async fn send(
        &mut self,
        message: &impl Serialize,
        files: &[BorrowedFd<'_>],
    ) -> io::Result<()> {
        let frame = frame(message)?;
        let mut sent = 0;
        while sent < frame.len() {
            self.stream.writable().await?;
            let files = if sent == 0 { files } else { &[] };
            let tried = self
                .stream
                .try_io(Interest::WRITABLE, || send_some(self.stream.as_fd(), &frame[sent..], files));
            match tried {
                Ok(count) => sent += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Tries to send without waiting; for places that cannot wait.
    pub(super) fn send_now(&self, message: &impl Serialize) {
        if let Ok(frame) = frame(message) {
            // A peer that does not read has more to do than this; the end of the connection tells it.
            send_some(self.stream.as_fd(), &frame, &[]).ok();
        }
    }

    /// The next message; `None` when the other side is gone. May be dropped and called again.
    pub(super) async fn receive<T: DeserializeOwned>(&mut self) -> Option<T> {
        loop {
            match self.inbox.next() {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(_) => return None,
            }
            self.stream.readable().await.ok()?;
            let (stream, inbox) = (&self.stream, &mut self.inbox);
            match stream.try_io(Interest::READABLE, || inbox.fill(stream)) {
                Ok(true) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Ok(false) | Err(_) => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn frames_come_whole_however_they_are_cut_and_files_come_with_them() {
        let (one, other) = UnixStream::pair().unwrap();
        let file = std::fs::File::open("/dev/null").unwrap();
        send(one.as_fd(), &Order::End { grace_ms: 7 }, &[file.as_fd(), file.as_fd()]).unwrap();
        let bytes = frame(&Order::Keep(true)).unwrap();
        let mut inbox = Inbox::default();
        while inbox.files.is_empty() {
            assert!(inbox.fill(&other).unwrap());
        }
        assert!(matches!(inbox.next::<Order>().unwrap(), Some(Order::End { grace_ms: 7 })));
        assert_eq!(inbox.take_files().len(), 2);
        for byte in &bytes {
            assert!(inbox.next::<Order>().unwrap().is_none());
            send_some(one.as_fd(), &[*byte], &[]).unwrap();
            inbox.fill(&other).unwrap();
        }
        assert!(matches!(inbox.next::<Order>().unwrap(), Some(Order::Keep(true))));
        drop(one);
        assert!(!inbox.fill(&other).unwrap());
    }

    #[test]
    fn nonsense_is_an_error() {
        let mut inbox = Inbox { bytes: vec![255; 8], files: Vec::new() };
        assert!(inbox.next::<Order>().is_err());
        let mut inbox = Inbox { bytes: b"\x03\0\0\0xyz".to_vec(), files: Vec::new() };
        assert!(inbox.next::<Order>().is_err());
    }
}
