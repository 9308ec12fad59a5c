//! How other processes of this user reach the host, and who makes its token anew.

use std::time::Instant;

use chatos_paths::Announcement;

/// The API's token, as whoever checks it makes a new one.
pub trait TokenKeeper: Send + Sync {
    /// Makes a token that counts from now on beside the one before.
    fn next(&self) -> String;

    /// Ends the token before, and everything that was gained with it since this moment.
    fn end_former(&self, since: Instant);
}

/// How others reach this host.
pub(crate) struct Announced {
    pub(crate) announcement: Announcement,
    pub(crate) keeper: Box<dyn TokenKeeper>,
    // The file still says what was before: the disk refused the new one.
    pub(crate) is_stale: bool,
}
