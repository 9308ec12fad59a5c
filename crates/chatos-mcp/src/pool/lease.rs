//! Somebody's wish that a server stays.

use std::sync::Arc;

use super::supervisor::Server;

/// Held by a run for every server it uses; dropping it lets the server become idle.
pub struct Lease {
    server: Arc<Server>,
}

impl Lease {
    pub(super) fn new(server: Arc<Server>) -> Self {
        server.hold();
        Self { server }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.server.release();
    }
}
