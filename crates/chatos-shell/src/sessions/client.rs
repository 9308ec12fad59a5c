//! Talking to the supervisor of a session, whoever started it.

use std::io;
use std::os::fd::AsRawFd;
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use tokio::net::UnixStream;

use super::{Answer, Ask, CTL, Found, Record, State};
use crate::supervisor::ring::{Lines, Ring};
use crate::wire::Channel;

/// A supervisor answers at once; one that does not is stuck.
const PATIENCE: Duration = Duration::from_secs(15);

/// A connection to a supervisor.
pub(super) struct Client(Channel);

/// How a session is right now.
#[derive(Debug)]
pub(super) struct Status {
    pub(super) record: Record,
    pub(super) silent: Duration,
    pub(super) tail: String,
    pub(super) reading: bool,
}

impl Client {
    pub(super) async fn connect(found: &Found) -> io::Result<Self> {
        // Addresses of sockets are short; a handle keeps them so whatever the state directory is called.
        let handle =
            rustix::fs::open(&found.dir, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let stream = UnixStream::connect(format!("/proc/self/fd/{}/{CTL}", handle.as_raw_fd())).await?;
        let mut channel = Channel::new(stream);
        if !found.record.secret.is_empty() {
            channel.send(&Ask::Open { secret: found.record.secret.clone() }, &[]).await?;
        }
        Ok(Self(channel))
    }

    pub(super) async fn ask(&mut self, ask: &Ask) -> io::Result<Answer> {
        let answered = tokio::time::timeout(PATIENCE, async {
            self.0.send(ask, &[]).await?;
            self.0.receive().await.ok_or_else(gone)
        });
        answered.await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }

    pub(super) async fn status(&mut self) -> io::Result<Status> {
        status(self.ask(&Ask::Status).await?)
    }

    /// Waits for output beyond `beyond` or the end. May be dropped; then this connection is of no more use.
    pub(super) async fn watch(&mut self, beyond: u64) -> io::Result<Status> {
        self.0.send(&Ask::Watch { beyond }, &[]).await?;
        status(self.0.receive().await.ok_or_else(gone)?)
    }

    /// Ends everything of the session and waits until it is over.
    pub(super) async fn kill(mut self, grace: Duration) -> io::Result<()> {
        let grace_ms = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
        self.0.send(&Ask::Kill { grace_ms }, &[]).await?;
        let over = async { while self.0.receive::<Answer>().await.is_some() {} };
        tokio::time::timeout(grace + PATIENCE, over).await.map_err(|_| io::ErrorKind::TimedOut.into())
    }
}

fn status(answer: Answer) -> io::Result<Status> {
    match answer {
        Answer::Status { record, silent_ms, tail, reading } => {
            Ok(Status { record: *record, silent: Duration::from_millis(silent_ms), tail, reading })
        }
        other => Err(io::Error::new(io::ErrorKind::InvalidData, format!("{other:?}"))),
    }
}

fn gone() -> io::Error {
    io::ErrorKind::UnexpectedEof.into()
}

/// Output of a session, from its supervisor or from its file.
pub(super) async fn lines(
    found: &Found,
    from: Option<u64>,
    count: u64,
    max: usize,
) -> io::Result<(Lines, Record)> {
    if found.running()
        && let Ok(mut client) = Client::connect(found).await
        && let Ok(Answer::Lines(lines)) = client.ask(&Ask::Lines { from, count, max }).await
    {
        let record = client.status().await.map_or_else(|_| found.record.clone(), |status| status.record);
        return Ok((lines, record));
    }
    // It ended meanwhile, or long ago.
    let dir = found.dir.clone();
    let read = chatos_blocking::run(move || {
        let mut record = Record::load(&dir).map(Record::now).ok_or_else(gone)?;
        loop {
            let lines =
                Ring::open(&dir.join(super::LOG), record.marks).and_then(|ring| ring.lines(from, count, max));
            let again = Record::load(&dir).map(Record::now).ok_or_else(gone)?;
            // At its end a session puts its file in order; what was read across that moment is read again.
            if again.marks == record.marks {
                return lines.map(|lines| (lines, again));
            }
            record = again;
        }
    });
    read.await.unwrap_or_else(|_| Err(gone()))
}

/// The record once the session ended; the supervisor writes it last.
pub(super) async fn final_record(found: &Found) -> Record {
    for _ in 0..200 {
        if let Some(record) = Record::load(&found.dir)
            && record.state != State::Running
            && record.marks.size == 0
        {
            return record;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Record::load(&found.dir).map_or_else(|| found.record.clone(), Record::now)
}
