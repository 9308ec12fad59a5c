//! What the serving host does with the queue in the background: events to the page, the scheduler's step,
//! the audit record of forged lines, old drafts.

use std::sync::Arc;
use std::time::Duration;

use chatos_prompts::{Event, Item, LineRef, Policy, SystemAskers};
use chatos_store::now_ms;
use chatos_tool::Lang;
use chatos_wire::event::{ForgedLine, HostEvent, LogPlace, Nothing, PromptItem, PromptLogHealth};
use chatos_wire::prompt::PromptCounts;
use serde_json::{Map, json};
use sha2::{Digest, Sha256};
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, MissedTickBehavior};

use super::fault::lang as prompt_lang;
use super::log_mode;
use crate::host::Host;

/// Counts are told at most this often; in a burst the last one is enough.
const COUNTS_EVERY: Duration = Duration::from_millis(100);

/// Drafts nobody touched for this long go.
const DRAFT_MS: i64 = 30 * 86_400_000;

/// Runs until the host stops.
pub(super) async fn follow(host: Arc<Host>) {
    let mut events = match host.prompts() {
        Ok(desk) => desk.take_events(),
        Err(fault) => {
            tracing::error!(%fault, "the prompt queue is not tended");
            return;
        }
    };
    let mut step = tokio::time::interval(Duration::from_secs(1));
    step.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut sweep = tokio::time::interval(Duration::from_secs(3600));
    let mut counts: Option<PromptCounts> = None;
    let mut told = Instant::now() - COUNTS_EVERY;
    loop {
        tokio::select! {
            () = host.shutdown().cancelled() => return,
            event = events.recv() => match event {
                Ok(Event::Counts(now)) => counts = Some(PromptCounts { needs_you: now.needs_you, results: now.results }),
                Ok(event) => handle(&host, event).await,
                Err(RecvError::Lagged(_)) => publish(&host, HostEvent::PromptResync(Nothing {})),
                Err(RecvError::Closed) => return,
            },
            _ = step.tick() => blocking(&host, |host| {
                let Ok(desk) = host.prompts() else { return };
                let settings = host.settings();
                desk.prompts().set_mode(log_mode(&settings.text("uiPromptLogMode")));
                let days = |key: &str| u32::try_from(settings.int(key)).unwrap_or(0);
                let policy = Policy { orphan_days: days("promptOrphanDays"), foreign_days: days("promptForeignDays") };
                desk.prompts().tick(policy, &SystemAskers);
            }).await,
            _ = sweep.tick() => blocking(&host, |host| {
                if let Err(error) = host.store().sweep_prompt_drafts(now_ms() - DRAFT_MS) {
                    tracing::warn!(%error, "cannot delete old drafts");
                }
            }).await,
            () = tokio::time::sleep_until(told + COUNTS_EVERY), if counts.is_some() => {
                if let Some(now) = counts.take() {
                    publish(&host, HostEvent::PromptCounts(now));
                    told = Instant::now();
                }
            }
        }
    }
}

async fn handle(host: &Arc<Host>, event: Event) {
    match event {
        Event::Requested(item) => publish(host, HostEvent::PromptRequested(listed(host, &item))),
        Event::Answered(item) => {
            publish(host, HostEvent::PromptAnswered(listed(host, &item)));
            forget_drafts(host, &item).await;
        }
        Event::Expired(item) => {
            publish(host, HostEvent::PromptExpired(listed(host, &item)));
            forget_drafts(host, &item).await;
        }
        Event::Forged { item, line } => {
            let place = LogPlace { offset: line.offset, line: line.line.clone() };
            let forged = ForgedLine { item: listed(host, &item), line: place };
            publish(host, HostEvent::PromptForged(forged));
            blocking(host, move |host| audit_forged(host, &item, &line)).await;
        }
        Event::LogProblem(health) => {
            publish(host, HostEvent::PromptLogProblem(PromptLogHealth(health.to_json())));
        }
        Event::Resync => publish(host, HostEvent::PromptResync(Nothing {})),
        Event::Counts(_) => {}
    }
}

fn listed(host: &Host, item: &Item) -> PromptItem {
    let lang = match host.lang() {
        Lang::Zh => prompt_lang(Lang::Zh),
        Lang::En => prompt_lang(Lang::En),
    };
    PromptItem(item.to_list_json(lang))
}

fn publish(host: &Host, event: HostEvent) {
    host.events().publish(event);
}

async fn forget_drafts(host: &Arc<Host>, item: &Item) {
    let id = item.request_id.as_str().to_owned();
    blocking(host, move |host| {
        if let Err(error) = host.store().delete_prompt_drafts(&id, None) {
            tracing::debug!(%error, "cannot delete the drafts of a closed prompt");
        }
    })
    .await;
}

// Each forged line is audited once, also across restarts: the fold meets it again every time.
fn audit_forged(host: &Host, item: &Item, line: &LineRef) {
    const SEEN: &str = "prompt_forged_seen";
    let file = host.prompts().ok().and_then(|desk| std::fs::metadata(&desk.prompts().paths().log).ok());
    let inode = file.map_or(0, |meta| std::os::unix::fs::MetadataExt::ino(&meta));
    let seen = host.store().meta(SEEN).ok().flatten().unwrap_or_default();
    let number = |text: &str| text.parse::<u64>().ok();
    let known = seen.split_once(':').and_then(|(file, offset)| Some((number(file)?, number(offset)?)));
    if known.is_some_and(|(file, offset)| file == inode && line.offset <= offset) {
        return;
    }
    let digest = Sha256::digest(line.line.as_bytes());
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut fields = Map::new();
    fields.insert("requestId".to_owned(), item.request_id.as_str().into());
    fields.insert("owner".to_owned(), json!(item.owner));
    fields.insert("offset".to_owned(), line.offset.into());
    fields.insert("lineSha256".to_owned(), hex.into());
    host.audit("prompt_forged", fields);
    if let Err(error) = host.store().set_meta(SEEN, &format!("{inode}:{}", line.offset)) {
        tracing::warn!(%error, "cannot note an audited line");
    }
}

async fn blocking(host: &Arc<Host>, work: impl FnOnce(&Host) + Send + 'static) {
    let host = Arc::clone(host);
    if let Err(error) = tokio::task::spawn_blocking(move || work(&host)).await {
        tracing::error!(%error, "background work on the prompt queue failed");
    }
}
