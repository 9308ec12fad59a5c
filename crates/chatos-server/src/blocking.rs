//! Work of a route that blocks: the database, folders of plugins, locks of other processes.

use std::sync::Arc;

use chatos_blocking::{Work, WorkError};
use chatos_host::Host;
use chatos_tool::{ErrorCode, Fault, Text};

use crate::api::ApiError;

/// Does `work` with the host on a thread that may block.
pub(crate) fn blocking<T: Send + 'static>(
    host: &Arc<Host>,
    work: impl FnOnce(&Arc<Host>) -> Result<T, Fault> + Send + 'static,
) -> impl Future<Output = Result<T, ApiError>> + Send {
    let host = Arc::clone(host);
    ended(chatos_blocking::run(move || work(&host)))
}

async fn ended<T: Send + 'static>(work: Work<Result<T, Fault>>) -> Result<T, ApiError> {
    Ok(work.await.map_err(|error| failed(&error))??)
}

/// Work that gave nothing is a fault of ours.
pub(crate) fn failed(error: &WorkError) -> Fault {
    Fault::new(ErrorCode::Internal, Text::same(error.to_string()))
}
