//! What the serving host does with the queue in the background: events to the page, the scheduler's step,
//! the audit record of forged lines, old drafts.

use std::time::Duration;

use chatos_prompts::{Event, Item, LineRef, Policy, SystemAskers};
use chatos_store::now_ms;
use chatos_wire::event::{ForgedLine, HostEvent, LogPlace, Nothing, PromptItem, PromptLogHealth};
use serde_json::{Map, json};
use sha2::{Digest, Sha256};
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, MissedTickBehavior};

use crate::fault::lang as prompt_lang;
use crate::inbox::{Inbox, log_mode};

/// Counts are told at most this often; in a burst the last one is enough.
const COUNTS_EVERY: Duration = Duration::from_millis(100);

/// Drafts nobody touched for this long go.
const DRAFT_MS: i64 = 30 * 86_400_000;

/// Runs until the host stops.
pub(crate) async fn follow(inbox: Inbox) {
    let mut events = match inbox.questions() {
        Ok(questions) => questions.take_events(),
        Err(fault) => {
            tracing::error!(%fault, "the prompt queue is not tended");
            return;
        }
    };
    let mut step = tokio::time::interval(Duration::from_secs(1));
    step.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut sweep = tokio::time::interval(Duration::from_secs(3600));
    let mut counted = false;
    let mut told = Instant::now() - COUNTS_EVERY;
    loop {
        tokio::select! {
            () = inbox.parts().life.stop().cancelled() => return,
            event = events.recv() => match event {
                Ok(Event::Counts(_)) => counted = true,
                Ok(event) => handle(&inbox, event).await,
                Err(RecvError::Lagged(_)) => publish(&inbox, HostEvent::PromptResync(Nothing {})),
                Err(RecvError::Closed) => return,
            },
            _ = step.tick() => blocking(&inbox, |inbox| {
                let Ok(questions) = inbox.questions() else { return };
                let settings = &inbox.parts().settings;
                questions.prompts().set_mode(log_mode(settings));
                let days = |key: &str| u32::try_from(settings.int(key)).unwrap_or(0);
                let policy = Policy { orphan_days: days("promptOrphanDays"), foreign_days: days("promptForeignDays") };
                questions.prompts().tick(policy, &SystemAskers);
                if let Err(fault) = inbox.bring_back() {
                    tracing::warn!(%fault, "questions that were put off stay so");
                }
            }).await,
            _ = sweep.tick() => blocking(&inbox, |inbox| {
                if let Err(error) = inbox.parts().store.sweep_prompt_drafts(now_ms() - DRAFT_MS) {
                    tracing::warn!(%error, "cannot delete old drafts");
                }
            }).await,
            () = tokio::time::sleep_until(told + COUNTS_EVERY), if counted => {
                counted = false;
                blocking(&inbox, |inbox| {
                    if let Ok(questions) = inbox.questions() {
                        publish(inbox, HostEvent::PromptCounts(questions.told_counts()));
                    }
                }).await;
                told = Instant::now();
            }
        }
    }
}

async fn handle(inbox: &Inbox, event: Event) {
    match event {
        Event::Requested(item) => {
            let hidden = inbox
                .questions()
                .is_ok_and(|questions| questions.together_hidden().contains(item.request_id.as_str()));
            // One of several that are asked together: the first stands for them.
            if !hidden {
                publish(inbox, HostEvent::PromptRequested(listed(inbox, &item)));
            }
        }
        Event::Answered(item) => {
            publish(inbox, HostEvent::PromptAnswered(listed(inbox, &item)));
            let code = item.answer.as_ref().and_then(|answer| answer.response.get("code"));
            if code.is_some_and(|code| code == "superseded") {
                superseded(inbox, &item).await;
            }
            publish_next(inbox, &item);
            forget_drafts(inbox, &item).await;
        }
        Event::Expired(item) => {
            publish(inbox, HostEvent::PromptExpired(listed(inbox, &item)));
            publish_next(inbox, &item);
            forget_drafts(inbox, &item).await;
        }
        Event::Superseded(item) => superseded(inbox, &item).await,
        Event::Forged { item, line } => {
            let place = LogPlace { offset: line.offset, line: line.line.clone() };
            let forged = ForgedLine { item: listed(inbox, &item), line: place };
            publish(inbox, HostEvent::PromptForged(forged));
            blocking(inbox, move |inbox| audit_forged(inbox, &item, &line)).await;
        }
        Event::LogProblem(health) => {
            publish(inbox, HostEvent::PromptLogProblem(PromptLogHealth(health.to_json())));
        }
        Event::Resync => publish(inbox, HostEvent::PromptResync(Nothing {})),
        Event::Counts(_) => {}
    }
}

/// Told and audited: the answer to it decides nothing, or another one did (inbox §1.2).
async fn superseded(inbox: &Inbox, item: &Item) {
    publish(inbox, HostEvent::PromptSuperseded(listed(inbox, item)));
    let (id, effect, run) = (item.request_id.as_str().to_owned(), item.effect.clone(), item.run_id.clone());
    blocking(inbox, move |inbox| {
        let fields = [("requestId", json!(id)), ("effect", json!(effect)), ("runId", json!(run))];
        let fields = fields.map(|(key, value)| (key.to_owned(), value));
        inbox.parts().audit.note("prompt_superseded", Map::from_iter(fields));
    })
    .await;
}

/// The next of those asked together stands for the rest.
fn publish_next(inbox: &Inbox, item: &Item) {
    let next = inbox.questions().ok().and_then(|questions| questions.together_next(item));
    if let Some(next) = next {
        publish(inbox, HostEvent::PromptRequested(listed(inbox, &next)));
    }
}

fn listed(inbox: &Inbox, item: &Item) -> PromptItem {
    PromptItem(item.to_list_json(prompt_lang(inbox.lang())))
}

fn publish(inbox: &Inbox, event: HostEvent) {
    inbox.parts().events.publish(event);
}

async fn forget_drafts(inbox: &Inbox, item: &Item) {
    let id = item.request_id.as_str().to_owned();
    blocking(inbox, move |inbox| {
        if let Err(error) = inbox.parts().store.delete_prompt_drafts(&id, None) {
            tracing::debug!(%error, "cannot delete the drafts of a closed prompt");
        }
    })
    .await;
}

// Each forged line is audited once, also across restarts: the fold meets it again every time.
fn audit_forged(inbox: &Inbox, item: &Item, line: &LineRef) {
    const SEEN: &str = "prompt_forged_seen";
    let file = inbox.questions().ok().and_then(|all| std::fs::metadata(&all.prompts().paths().log).ok());
    let inode = file.map_or(0, |meta| std::os::unix::fs::MetadataExt::ino(&meta));
    let seen = inbox.parts().store.meta(SEEN).ok().flatten().unwrap_or_default();
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
    inbox.parts().audit.note("prompt_forged", fields);
    if let Err(error) = inbox.parts().store.set_meta(SEEN, &format!("{inode}:{}", line.offset)) {
        tracing::warn!(%error, "cannot note an audited line");
    }
}

async fn blocking(inbox: &Inbox, work: impl FnOnce(&Inbox) + Send + 'static) {
    let inbox = inbox.clone();
    if let Err(error) = chatos_blocking::run(move || work(&inbox)).await {
        tracing::error!(%error, "background work on the prompt queue failed");
    }
}
