//! Tells a client that something is another than it knows, in the way of its era.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, RoleServer, SubscriptionContext};
use tokio::sync::broadcast::{self, error::RecvError};
use tokio_util::sync::CancellationToken;

use super::Endpoint;
use crate::feature::Change;

/// The next changes; `None` when there are no more. Whoever missed some hears that all lists changed.
async fn next(inbox: &mut broadcast::Receiver<Change>) -> Option<Vec<Change>> {
    match inbox.recv().await {
        Ok(change) => Some(vec![change]),
        Err(RecvError::Lagged(_)) => Some(vec![Change::Tools, Change::Prompts, Change::Resources]),
        Err(RecvError::Closed) => None,
    }
}

/// An older client hears of every list it was offered and of the documents it watches.
pub(super) async fn tell(
    peer: Peer<RoleServer>,
    mut inbox: broadcast::Receiver<Change>,
    endpoint: Arc<Endpoint>,
    watched: Arc<Mutex<BTreeSet<String>>>,
    closed: CancellationToken,
) {
    loop {
        let changes = tokio::select! {
            () = closed.cancelled() => return,
            changes = next(&mut inbox) => changes,
        };
        let Some(changes) = changes else { return };
        for change in changes {
            let told = match change {
                Change::Tools => peer.notify_tool_list_changed().await,
                Change::Prompts if endpoint.offers().prompts => peer.notify_prompt_list_changed().await,
                Change::Resources if endpoint.offers().resources => peer.notify_resource_list_changed().await,
                Change::Resource(uri) if is_watched(&watched, &uri) => {
                    peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await
                }
                Change::Prompts | Change::Resources | Change::Resource(_) => Ok(()),
            };
            if told.is_err() {
                return;
            }
        }
    }
}

fn is_watched(watched: &Mutex<BTreeSet<String>>, uri: &str) -> bool {
    watched.lock().unwrap_or_else(PoisonError::into_inner).contains(uri)
}

/// A modern client hears of what it listens to.
pub(super) async fn listen(
    context: &SubscriptionContext,
    mut inbox: broadcast::Receiver<Change>,
    closed: &CancellationToken,
) {
    let wanted = context.accepted().clone();
    let wants = |change: &Change| match change {
        Change::Tools => wanted.tools_list_changed == Some(true),
        Change::Prompts => wanted.prompts_list_changed == Some(true),
        Change::Resources => wanted.resources_list_changed == Some(true),
        Change::Resource(uri) => wanted.resource_subscriptions.iter().flatten().any(|own| own == uri),
    };
    loop {
        let changes = tokio::select! {
            () = context.cancelled() => return,
            () = closed.cancelled() => return,
            changes = next(&mut inbox) => changes,
        };
        let Some(changes) = changes else { return };
        for change in changes.into_iter().filter(wants) {
            let sink = context.sink();
            let told = match change {
                Change::Tools => sink.notify_tool_list_changed().await,
                Change::Prompts => sink.notify_prompt_list_changed().await,
                Change::Resources => sink.notify_resource_list_changed().await,
                Change::Resource(uri) => sink.notify_resource_updated(uri).await,
            };
            if told.is_err() {
                return;
            }
        }
    }
}
