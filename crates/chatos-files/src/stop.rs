//! A way to end long work early: the caller's cancel, or a deadline.

use super::error::{FileError, Result, Stopped};

/// Asked between blocks, files and directories.
pub trait Stop: Sync {
    /// The reason to stop now, if any.
    fn stopped(&self) -> Option<Stopped>;

    /// An error when it is time to stop.
    fn check(&self) -> Result<()> {
        match self.stopped() {
            Some(reason) => Err(FileError::Stopped(reason)),
            None => Ok(()),
        }
    }
}

/// Never stops.
#[derive(Debug, Clone, Copy)]
pub struct Never;

impl Stop for Never {
    fn stopped(&self) -> Option<Stopped> {
        None
    }
}

impl<F: Fn() -> Option<Stopped> + Sync> Stop for F {
    fn stopped(&self) -> Option<Stopped> {
        self()
    }
}
