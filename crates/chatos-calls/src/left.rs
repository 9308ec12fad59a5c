//! What an earlier process left in the middle: waits for results, questions of servers (mcp
//! "elicitation", "tasks"). Those of runs wait until the run is continued; a call by hand goes on by
//! itself when its question is answered, and its result goes into the queue.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chatos_agent::{CallOrder, NoObserver, OpenAsk, Resumed, ToolRef};
use chatos_policy::Role;
use chatos_prompts::{Prompts, Scope};
use chatos_servers::{SIGN_IN_PREFIX, pending};
use chatos_store::{OpenAskRow, Store, StoreError};
use chatos_tool::{Fault, Trace};
use serde_json::Value;

use super::desk::Calls;
use super::ports::open_ask;

/// How long the queue may take to read its log before questions of old servers are looked for.
const READY: Duration = Duration::from_secs(60);

impl Calls {
    /// Takes note of waits that nobody waits for any more. Blocks; before anybody can call.
    pub fn interrupt_waits(&self) {
        if let Err(error) = self.parts().store.interrupt_async_tasks() {
            tracing::error!(%error, "waits of an earlier host cannot be looked for");
        }
    }

    /// Goes on with calls by hand whose question is open, and closes questions nobody can take an
    /// answer to any more.
    pub async fn pick_up_asks(self) {
        let calls = self.clone();
        let found = chatos_blocking::run(move || calls.sort_asks()).await;
        let by_hand = match found {
            Ok(Ok(by_hand)) => by_hand,
            Ok(Err(fault)) => return tracing::error!(%fault, "open questions of servers are lost"),
            Err(error) => return tracing::error!(%error, "open questions of servers are lost"),
        };
        self.parts().apps.pick_up_roots();
        if let Err(fault) = self.parts().servers.open().pick_up_sign_ins().await {
            tracing::warn!(%fault, "open questions about sign-ins are not attended to");
        }
        for ask in by_hand {
            let (calls, key) = (self.clone(), ask.key.clone());
            self.parts().life.spawn(Box::pin(async move {
                let stop = calls.parts().life.stop().clone();
                tokio::select! {
                    // It stays written down; the next host goes on with it.
                    () = stop.cancelled() => {}
                    done = go_on(&calls, ask) => if let Err(fault) = done {
                        tracing::warn!(%fault, call = key, "a call by hand cannot be continued");
                    },
                }
            }));
        }
    }

    /// Which questions go on by themselves. Those of runs that ended are forgotten; a legacy server's
    /// died with its connection and its prompt is closed (ui-prompts §9).
    fn sort_asks(&self) -> Result<Vec<OpenAsk>, Fault> {
        let parts = self.parts();
        let rows = parts.store.open_asks()?;
        let (mut by_hand, mut kept) = (Vec::new(), HashSet::new());
        for row in rows {
            match fate(&parts.store, &row)? {
                Fate::Over => parts.store.end_open_ask(&row.call_id)?,
                Fate::OfRun => kept.extend(prompts_of(&open_ask(row))),
                Fate::ByHand => {
                    let ask = open_ask(row);
                    kept.extend(prompts_of(&ask));
                    by_hand.push(ask);
                }
            }
        }
        let desk = parts.inbox.questions()?;
        if let Err(error) = desk.prompts().ready_within(READY) {
            tracing::warn!(%error, "questions of earlier servers stay open: the queue is not ready");
            return Ok(by_hand);
        }
        close_orphans(desk.prompts(), &kept, parts.started_at);
        Ok(by_hand)
    }
}

/// What becomes of an open question.
enum Fate {
    /// Its run ended otherwise.
    Over,
    /// It waits until its run is continued.
    OfRun,
    /// It belongs to no run.
    ByHand,
}

fn fate(store: &Store, row: &OpenAskRow) -> Result<Fate, StoreError> {
    if row.run_id.is_empty() {
        return Ok(Fate::ByHand);
    }
    Ok(match store.run(&row.run_id)? {
        // A call by hand may name a run of its own making.
        None => Fate::ByHand,
        Some(run) if run.state.is_over() => Fate::Over,
        Some(_) => Fate::OfRun,
    })
}

fn prompts_of(ask: &OpenAsk) -> Vec<String> {
    ask.prompts.values().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Closes every question of a server from before this start that no open call knows.
fn close_orphans(prompts: &Prompts, kept: &HashSet<String>, started_at: i64) {
    let orphans = pending(prompts, Some(started_at), |item| {
        item.owner.as_ref().is_some_and(|owner| owner.as_str().starts_with("mcp:"))
            && !item.request_id.as_str().starts_with(SIGN_IN_PREFIX)
            && !kept.contains(item.request_id.as_str())
    });
    for item in orphans {
        prompts.orphan(Scope::Request(&item.request_id));
    }
}

/// Waits for the answer, sends the call again with it, and puts the result into the queue.
async fn go_on(calls: &Calls, ask: OpenAsk) -> Result<(), Fault> {
    let parts = calls.parts();
    let tool = ask.params["name"].as_str().unwrap_or_default().to_owned();
    let meta = ask.params["_meta"].as_object().cloned().unwrap_or_default();
    let trace: Trace = serde_json::from_value(ask.params["_meta"]["chatos"]["trace"].clone())
        .unwrap_or_else(|_| Trace::default());
    let call_id = ask.params["_meta"]["toolCallId"].as_str().unwrap_or(&ask.key).to_owned();
    let request_id = prompts_of(&ask).into_iter().next().unwrap_or_default();
    let workdir = meta.get("workdir").and_then(Value::as_str).map(PathBuf::from);
    let order = CallOrder {
        tool: ToolRef::Direct { server: ask.identity.clone(), tool },
        arguments: ask.params["arguments"].as_object().cloned().unwrap_or_default(),
        raw_arguments: None,
        user_message_id: meta.get("userMessageId").and_then(Value::as_str).map(str::to_owned),
        trace,
        call_id,
        role: Role::Main,
        workdir: workdir.unwrap_or_else(|| parts.project.clone()),
        lang: parts.settings.languages().models,
        people: parts.lang(),
        cancel: parts.life.stop().clone(),
        // What the person added then, and the same values of everything else.
        extra_meta: meta,
        resume: Some(Resumed::Prompt { request_id }),
        to_queue: true,
        together: None,
    };
    let models = parts.settings.languages().models;
    let set = parts.servers.open().toolset_of(&ask.identity, models).await?;
    calls.dispatcher().call(&set, order, Arc::new(NoObserver)).await;
    Ok(())
}
