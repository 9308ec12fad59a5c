//! What runs between the start of a child and the server's own program.
//!
//! Setting a session, limits and the parent-death signal needs code in the child before the server
//! begins. This program does it for itself as a first step and then becomes the server, so the host
//! needs no unsafe code: the host's program calls [`exec`] when it is started with its launch command.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;

use rustix::process::{Resource, Rlimit, Signal};

/// The word before the parent's number that says: standard input is a channel, put it at descriptor 3.
pub const CHANNEL: &str = "--channel";
/// Names the channel's descriptor where 3 was taken by something this program inherited itself.
pub const CHANNEL_VARIABLE: &str = "CHATOS_CHANNEL_FD";

/// The program to go through, with the words that make it a launcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launcher {
    /// Usually the running program itself.
    pub program: PathBuf,
    /// Its launch command; the parent's number, the program and its arguments follow.
    pub arguments: Vec<OsString>,
}

/// Becomes the server: `words` are the parent's number, the program, and its arguments. Returns only
/// when that failed.
pub fn exec(words: impl IntoIterator<Item = OsString>) -> io::Error {
    match prepare(words) {
        Ok(mut program) => program.exec(),
        Err(error) => error,
    }
}

fn prepare(words: impl IntoIterator<Item = OsString>) -> io::Result<std::process::Command> {
    let mut words = words.into_iter().peekable();
    let channel = words.next_if(|word| word == CHANNEL).is_some();
    let parent: Option<i32> = words.next().and_then(|word| word.to_str()?.parse().ok());
    let usage = || io::Error::new(io::ErrorKind::InvalidInput, "expected a process number and a program");
    let parent = parent.ok_or_else(usage)?;
    let program = words.next().ok_or_else(usage)?;
    rustix::process::setsid()?;
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    // The parent may have died before the signal was asked for.
    if rustix::process::getppid().map(rustix::process::Pid::as_raw_nonzero).map(i32::from) != Some(parent) {
        return Err(io::Error::other("the host is gone"));
    }
    crate::keep_streams_only();
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    rustix::process::setrlimit(Resource::Core, none)?;
    #[expect(clippy::disallowed_methods, reason = "this process becomes the server; it starts no other")]
    let mut command = std::process::Command::new(program);
    command.args(words);
    if channel {
        let place = move_channel()?;
        if place != 3 {
            command.env(CHANNEL_VARIABLE, place.to_string());
        }
    }
    Ok(command)
}

/// Moves the channel from standard input to the first free descriptor from 3 on, which stays open when
/// this process becomes the other, and leaves nothing to read on standard input.
fn move_channel() -> io::Result<i32> {
    use rustix::fs::{Mode, OFlags};
    use std::os::fd::IntoRawFd;
    let channel = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    rustix::io::fcntl_setfd(&channel, rustix::io::FdFlags::empty())?;
    let nothing = rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::stdio::dup2_stdin(&nothing)?;
    Ok(channel.into_raw_fd())
}
