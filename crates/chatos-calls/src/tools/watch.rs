//! What the page has to know of tools: calls of this host as they happen, and what other processes on
//! the same state changed (tools §8, state §4).

use std::sync::Arc;
use std::time::Duration;

use chatos_agent::Running;
use chatos_events::Events;
use chatos_layer::{CallEvent, Observer};
use chatos_settings::Settings;
use chatos_store::{Store, StoreError};
use chatos_wire::event::{
    ChangedIds, ChangedProject, ChangedSetting, HostEvent, ToolFinished, ToolStarted, ToolWaiting,
};
use tokio_util::sync::CancellationToken;

use crate::RunsOfCalls;

/// Calls as events; the words are those of tools §8.
pub(super) struct Told {
    pub(super) events: Events,
    pub(super) running: Running,
    pub(super) runs: Arc<dyn RunsOfCalls>,
}

impl Observer for Told {
    fn event(&self, event: CallEvent) {
        match event {
            CallEvent::Started { server, trace } => {
                self.events.publish(HostEvent::ToolStarted(ToolStarted { server: server.to_owned(), trace }));
            }
            // Told per call, with its id.
            CallEvent::Progress { .. } => {}
            CallEvent::Waiting { call_id, trace, request_id } => {
                self.events.publish(HostEvent::ToolWaiting(ToolWaiting {
                    call_id: Some(call_id.clone()),
                    request_id: request_id.clone(),
                    trace: trace.clone(),
                }));
                self.running.waits(&call_id, &request_id);
                self.runs.waits(&trace, &request_id);
            }
            CallEvent::Finished { server, trace, status, code, elapsed_ms, size } => {
                self.events.publish(HostEvent::ToolFinished(ToolFinished {
                    server: server.to_owned(),
                    status: status.as_str().to_owned(),
                    code: code.to_owned(),
                    elapsed_ms,
                    size,
                    trace,
                }));
            }
        }
    }
}

/// Tasks, journals and changes of files as values; another value means that somebody changed them.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamps {
    tasks: (i64, i64),
    journal: i64,
    changes: Option<String>,
}

/// Looks every second whether anybody committed something, and tells what it was. The host's own changes
/// are told where they are made; a second word about them does no harm.
pub(super) async fn others(store: Store, settings: Settings, events: Events, stop: CancellationToken) {
    let mut tick = tokio::time::interval(Duration::from_secs(1));
    let mut known: Known = (None, None);
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = tick.tick() => {}
        }
        let (store, settings, events) = (store.clone(), settings.clone(), events.clone());
        let before = known.clone();
        let looked = chatos_blocking::run(move || {
            look(&store, &settings, &events, &before).unwrap_or_else(|error| {
                tracing::debug!(%error, "cannot look for changes of other processes");
                before
            })
        });
        match looked.await {
            Ok(now) => known = now,
            Err(error) => {
                tracing::error!(%error, "looking for changes of other processes failed");
                return;
            }
        }
    }
}

type Known = (Option<i64>, Option<Stamps>);

fn look(store: &Store, settings: &Settings, events: &Events, known: &Known) -> Result<Known, StoreError> {
    let now = store.data_version()?;
    if known.0 == Some(now) {
        return Ok(known.clone());
    }
    if store.reload_settings(settings)? {
        events.publish(HostEvent::SettingsChanged(ChangedSetting { key: None }));
    }
    let found = Stamps {
        tasks: store.tasks_stamp()?,
        journal: store.journal_stamp()?,
        changes: store.newest_change()?,
    };
    if let Some(before) = &known.1 {
        if before.tasks != found.tasks {
            events.publish(HostEvent::TasksChanged(ChangedIds::default()));
        }
        if before.journal != found.journal {
            events.publish(HostEvent::JournalChanged(ChangedProject { project_root: None }));
        }
        if before.changes != found.changes {
            events.publish(HostEvent::FileChangesChanged(ChangedIds::default()));
        }
    }
    Ok((Some(now), Some(found)))
}
