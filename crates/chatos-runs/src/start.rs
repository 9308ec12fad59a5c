//! Runs from their start to their end: queued ones in order, stopped ones at once, interrupted ones found
//! again when the host starts (agents §7, §8).

use std::sync::Arc;
use std::time::Duration;

use chatos_agent::End;
use chatos_apps::AppCaller;
use chatos_servers::TOO_MANY_TOOLS;
use chatos_store::{MessageRow, NewMessage, RunChange, RunRow, RunWrite, StepRow, StepWrite, now_ms};
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::chat_event::{ChatBody, ErrorBody, MessageBody};
use chatos_wire::run_line::{RunLine, StartedLine, TextLine};
use chatos_wire::session::MessageView;
use chatos_wire::{MessageKind, MessageRole, RunEnd, RunKind, RunState, Severity, StepKind, StepState};
use serde_json::json;

use super::active::Active;
use super::ask;
use super::correction::CORRECTIONS;
use super::desk::{LEASE_MS, Runs, wrong_state};
use super::stage::HostStage;
use chatos_records::{message_view, no_run};

/// How long a stopped run may take to end by itself; then it is ended.
pub(super) const PATIENCE: Duration = Duration::from_millis(1500);

impl Runs {
    /// Finds what an earlier host left in the middle, and keeps the leases of this one.
    pub fn tend(&self) {
        self.tend_others();
        let runs = self.clone();
        // Before anybody can send: a message of this start is nobody's leftover.
        let found = runs.interrupted();
        // Tests end a debug build at every write in turn (agents §16.3).
        let halt = runs.parts().environment.get("CHATOS_TEST_HALT_AT").and_then(|at| at.parse().ok());
        chatos_paths::halt_at(halt.unwrap_or_default());
        self.parts().life.spawn(Box::pin(async move {
            if let Err(fault) = runs.recover(found).await {
                tracing::error!(%fault, "interrupted runs could not be continued");
            }
            let mut tick = tokio::time::interval(Duration::from_millis(LEASE_MS as u64 / 3));
            loop {
                tokio::select! {
                    () = runs.parts().life.stop().cancelled() => return,
                    _ = tick.tick() => {}
                }
                if runs.running() == 0 {
                    continue;
                }
                let (owner, until) = (runs.owner().to_owned(), runs.lease());
                if let Err(fault) = runs.work(move |store| store.renew_runs(&owner, until)).await {
                    tracing::warn!(%fault, "the leases of runs could not be renewed");
                }
            }
        }));
    }

    /// What an earlier host left in the middle becomes `interrupted`.
    fn interrupted(&self) -> Vec<RunRow> {
        let found = self.open().map(|parts| parts.store.interrupt_runs(self.owner()));
        match found {
            Ok(Ok(found)) => found,
            Ok(Err(error)) => {
                tracing::error!(%error, "interrupted runs could not be looked for");
                Vec::new()
            }
            Err(fault) => {
                tracing::debug!(%fault, "the host is gone");
                Vec::new()
            }
        }
    }

    /// Tells of them; with `resumeRuns` = `auto` they go on where nobody has to be asked.
    async fn recover(&self, found: Vec<RunRow>) -> Result<(), Fault> {
        let parts = self.open()?;
        for run in &found {
            self.emitter(&run.session_id, &run.id)
                .run_changed(RunState::Interrupted, Some(RunEnd::HostStopped));
        }
        let mut left = Vec::new();
        for run in found {
            // Rejected with the word that it stop, and cut off before it did.
            if !self.heed_stop(&run.id).await? {
                left.push(run);
            }
        }
        let found = left;
        if parts.settings.text("resumeRuns") != "auto" {
            return Ok(());
        }
        for run in found.into_iter().filter(|run| run.kind != RunKind::Sub) {
            let (looking, found) = (Arc::clone(&parts), run.clone());
            let certain = self.work(move |_| Ok(!super::stage::has_uncertain(&looking, &found)?)).await?;
            if certain && let Err(fault) = self.resume(&run.id).await {
                tracing::warn!(%fault, run = run.id, "an interrupted run was not continued");
            }
        }
        Ok(())
    }

    /// Starts the next run that waits in a chat, when none is under way.
    pub(super) async fn start_next(&self, session: &str) -> Result<Option<String>, Fault> {
        loop {
            // Read each time: a message that came while one could not begin found the chat busy.
            let id = session.to_owned();
            let open = self.work(move |store| store.open_runs(&id)).await?;
            let Some(run) = open.into_iter().find(|run| run.state == RunState::Queued) else {
                return Ok(None);
            };
            match self.start(run.clone(), &[RunState::Queued]).await {
                Ok(_) => return Ok(Some(run.id)),
                Err(fault) if fault.code == "already_running" => return Ok(None),
                Err(fault) => self.fail_unstarted(&run, &fault).await?,
            }
        }
    }

    /// A run that could not begin ends at once, with the reason in its chat.
    async fn fail_unstarted(&self, run: &RunRow, fault: &Fault) -> Result<(), Fault> {
        let parts = self.open()?;
        let (owner, until, id) = (self.owner().to_owned(), self.lease(), run.id.clone());
        let message = fault.message.get(parts.lang()).to_owned();
        let code = fault.code.to_string();
        let row = MessageRow {
            id: uuid::Uuid::now_v7().to_string(),
            session_id: if run.kind == RunKind::Sub { run.id.clone() } else { run.session_id.clone() },
            run_id: run.id.clone(),
            role: MessageRole::System,
            kind: MessageKind::Notice,
            content: message.clone(),
            is_error: true,
            created_at: now_ms(),
            ..MessageRow::default()
        };
        let (error_code, error_message) = (code.clone(), message.clone());
        self.work(move |store| {
            let from = [RunState::Queued, RunState::Interrupted, RunState::Running];
            store.claim_run(&id, &owner, until, &from)?;
            store.write_run(RunWrite {
                run_id: id,
                owner,
                messages: vec![chatos_store::MessageWrite::Append(Box::new(NewMessage {
                    row,
                    ..NewMessage::default()
                }))],
                change: Some(RunChange {
                    state: Some(RunState::Failed),
                    stop_reason: Some(RunEnd::Error),
                    error_code: Some(error_code),
                    error_message: Some(error_message),
                    finished: true,
                    ..RunChange::default()
                }),
                ..RunWrite::default()
            })
        })
        .await?;
        let emitter = self.emitter(&run.session_id, &run.id);
        emitter.run_changed(RunState::Failed, Some(RunEnd::Error));
        emitter.chat(ChatBody::AssistantError(ErrorBody { message_id: None, code, message }));
        Ok(())
    }

    /// Takes the lease and lets the run go on its own. Gives the registration.
    pub(super) async fn start(&self, run: RunRow, from: &'static [RunState]) -> Result<Arc<Active>, Fault> {
        self.open()?;
        let parent = (run.kind == RunKind::Sub).then(|| run.parent_run_id.clone());
        let active = Arc::new(Active::new(&run.id, &run.session_id, run.kind, parent));
        {
            let mut all = self.active();
            let busy = all.values().any(|other| {
                other.run_id == run.id
                    || (run.kind != RunKind::Sub
                        && other.kind != RunKind::Sub
                        && other.session_id == run.session_id)
            });
            if busy {
                return Err(Fault::new(
                    ErrorCode::Conflict,
                    Text::fixed("this chat is answering already", "此会话正在回答中"),
                )
                .code("already_running"));
            }
            all.insert(run.id.clone(), Arc::clone(&active));
        }
        let mut registered = Registered { runs: self.clone(), active: Arc::clone(&active), began: false };
        let (owner, until, id) = (self.owner().to_owned(), self.lease(), run.id.clone());
        let before = run;
        let run = self.work(move |store| store.claim_run(&id, &owner, until, from)).await?;
        let begun = {
            let (runs, active) = (self.clone(), Arc::clone(&active));
            chatos_blocking::run(move || runs.begin(run, &active))
                .await
                .map_err(|error| super::desk::broken(&error))?
        };
        let begun = match begun {
            Ok(begun) => begun,
            Err(fault) => {
                self.put_back(before).await?;
                return Err(fault);
            }
        };
        let stage = begun.stage.clone();
        let known: &HostStage = active.stage.get_or_init(|| stage.clone());
        debug_assert_eq!(known.parts.run.id, active.run_id);
        let continued = before.started_at.is_some();
        if continued {
            stage.work(|stage| stage.note_resume()).await?;
        }
        // It failed before; also where a host was killed right after it went on.
        if !before.error_code.is_empty() {
            active.steer.ask_compact(String::new());
            stage.work(|stage| stage.take_back_failure()).await?;
        }
        stage.parts.emitter.run_changed(RunState::Running, None);
        let started = StartedLine { continued, kind: stage.parts.run.kind };
        stage.parts.emitter.line(RunLine::RunStarted(started));
        registered.began = true;
        let task = tokio::spawn(async move {
            let _registered = registered;
            drive(begun.turn, stage).await;
        });
        drop(task);
        Ok(active)
    }

    /// A run that could not begin is as it was before.
    async fn put_back(&self, before: RunRow) -> Result<(), Fault> {
        let (run_id, owner) = (before.id, self.owner().to_owned());
        let change = RunChange {
            state: Some(before.state),
            finished: before.state.is_over(),
            released: true,
            ..RunChange::default()
        };
        self.work(move |store| {
            store.write_run(RunWrite { run_id, owner, change: Some(change), ..RunWrite::default() })
        })
        .await
    }

    /// A run that only summarises; `false` when there is nothing to summarise.
    pub(super) async fn summarise(&self, run: RunRow, wish: &str) -> Result<bool, Fault> {
        let active = Arc::new(Active::new(&run.id, &run.session_id, run.kind, None));
        {
            let mut all = self.active();
            if all.values().any(|other| other.kind != RunKind::Sub && other.session_id == run.session_id) {
                return Err(Fault::new(
                    ErrorCode::Conflict,
                    Text::fixed("this chat is answering already", "此会话正在回答中"),
                ));
            }
            all.insert(run.id.clone(), Arc::clone(&active));
        }
        let _registered = Registered { runs: self.clone(), active: Arc::clone(&active), began: true };
        let (owner, until, id) = (self.owner().to_owned(), self.lease(), run.id.clone());
        let run = self
            .work(move |store| {
                store.enqueue_run(run, None, None)?;
                store.claim_run(&id, &owner, until, &[RunState::Queued])
            })
            .await?;
        let (runs, registered) = (self.clone(), Arc::clone(&active));
        let begun = chatos_blocking::run(move || runs.begin(run, &registered))
            .await
            .map_err(|error| super::desk::broken(&error))??;
        let made = tokio::select! {
            made = begun.turn.compact_now(wish) => made,
            () = active.cancel.cancelled() => Ok(false),
        };
        let end = match &made {
            Ok(_) => End::Done { reason: RunEnd::Compacted },
            Err(fault) => End::Failed { code: "internal", message: fault.message.clone() },
        };
        begun.stage.work(move |stage| stage.finish(&end)).await?;
        made
    }

    /// Stops a run: it is over within two seconds, whatever its tools do.
    pub async fn abort(&self, run_id: &str) -> Result<(), Fault> {
        if self.cancel_active(run_id) {
            return Ok(());
        }
        let id = run_id.to_owned();
        let run = self.work(move |store| store.run(&id)).await?.ok_or_else(|| no_run(run_id))?;
        let said = match run.state {
            RunState::Queued => self.discard(run_id).await,
            state => Err(Fault::new(
                ErrorCode::Conflict,
                Text::new(
                    format!("the run `{run_id}` is not under way (it is `{state}`)"),
                    format!("运行 `{run_id}` 不在进行中（状态为 `{state}`）"),
                ),
            )),
        };
        // It may have begun between the two looks.
        if said.is_err() && self.cancel_active(run_id) { Ok(()) } else { said }
    }

    /// Whether the run was under way.
    fn cancel_active(&self, run_id: &str) -> bool {
        let active = self.active().get(run_id).cloned();
        if let Some(active) = &active {
            active.cancel.cancel();
            self.cancel_children(run_id);
        }
        active.is_some()
    }

    /// Synchronous children go with their parent; each hears it at once.
    fn cancel_children(&self, run_id: &str) {
        let children: Vec<Arc<Active>> =
            self.active().values().filter(|run| run.parent.as_deref() == Some(run_id)).cloned().collect();
        for child in children {
            child.cancel.cancel();
        }
    }

    /// Stops what runs in a chat; nothing running is fine.
    pub async fn abort_session(&self, session: &str) -> Result<(), Fault> {
        self.session(session).await?;
        match self.under_way(session).await {
            Some(active) => self.abort(&active.run_id).await,
            None => Ok(()),
        }
    }

    /// Stops what an app of this plugin runs in a chat; what somebody else runs there only where the app may
    /// write in the person's chats.
    pub async fn abort_by_app(&self, session: &str, caller: &AppCaller) -> Result<(), Fault> {
        self.session(session).await?;
        let Some(active) = self.under_way(session).await else {
            return Err(Fault::new(ErrorCode::NotFound, Text::fixed("no active run", "没有进行中的运行")));
        };
        let own = self.app_runs().get(&active.run_id).is_some_and(|owner| *owner == caller.plugin_id);
        if !own && !caller.has("chat.write") {
            return Err(Fault::new(
                ErrorCode::PermissionDenied,
                Text::fixed("this run was not started by the app", "此运行不是由该应用启动的"),
            )
            .hint(Text::fixed("the person can stop it in the chat", "用户可以在会话中停止它")));
        }
        self.abort(&active.run_id).await
    }

    pub(super) async fn stop_and_wait(&self, active: &Arc<Active>) {
        active.cancel.cancel();
        self.cancel_children(&active.run_id);
        active.finished().await;
    }

    pub(super) async fn stop_all(&self, session: &str) {
        let id = session.to_owned();
        let queued = self.work(move |store| store.open_runs(&id)).await.unwrap_or_default();
        for run in queued.iter().filter(|run| run.state == RunState::Queued) {
            if let Err(fault) = self.discard(&run.id).await {
                tracing::debug!(%fault, "a queued run began meanwhile");
            }
        }
        let running: Vec<Arc<Active>> =
            self.active().values().filter(|run| run.session_id == session).cloned().collect();
        for active in running {
            self.stop_and_wait(&active).await;
        }
    }

    /// Gives up an interrupted run, or one that waits for its turn.
    pub async fn discard(&self, run_id: &str) -> Result<(), Fault> {
        let parts = self.open()?;
        let id = run_id.to_owned();
        let run = self.work(move |store| store.run(&id)).await?.ok_or_else(|| no_run(run_id))?;
        if !matches!(run.state, RunState::Interrupted | RunState::Queued) {
            return Err(wrong_state(&run, "discarded", "放弃"));
        }
        let id = run_id.to_owned();
        let children = self
            .work(move |store| {
                store.discard_run(&id)?;
                let children = store.child_runs(&id)?;
                for child in children.iter().filter(|child| child.state == RunState::Interrupted) {
                    store.discard_run(&child.id)?;
                }
                Ok(children)
            })
            .await?;
        let ids: Vec<String> =
            std::iter::once(run_id.to_owned()).chain(children.into_iter().map(|child| child.id)).collect();
        let gone = Arc::clone(&parts);
        let done = chatos_blocking::run(move || ids.iter().try_for_each(|id| ask::withdraw_all(&gone, id)));
        if let Ok(Err(fault)) = done.await {
            tracing::warn!(%fault, "questions of a discarded run stay");
        }
        self.emitter(&run.session_id, run_id).run_changed(RunState::Discarded, None);
        Ok(())
    }

    /// Corrects a run under way (agents §10.5) with a message of this id, which is the answer.
    pub(super) async fn steer_as(&self, run_id: &str, said: TextLine, abort: bool) -> Result<String, Fault> {
        let TextLine { message_id, text } = said;
        if text.trim().is_empty() {
            return Err(Fault::new(
                ErrorCode::InvalidArgument,
                Text::fixed("/text: write something", "/text：请输入内容"),
            ));
        }
        self.open()?;
        let over = || {
            Fault::new(
                ErrorCode::Conflict,
                Text::new(format!("the run `{run_id}` is over"), format!("运行 `{run_id}` 已结束")),
            )
            .hint(Text::fixed("send a new message instead", "请改为发送新消息"))
        };
        let active = self.active().get(run_id).cloned();
        let Some(active) = active else {
            let id = run_id.to_owned();
            self.work(move |store| store.run(&id)).await?.ok_or_else(|| no_run(run_id))?;
            return Err(over());
        };
        if !active.steer.begin() {
            return Err(over());
        }
        let written = self.write_correction(&active, &message_id, &text).await;
        active.steer.end(written.is_ok(), abort);
        let message = written?;
        let emitter = self.emitter(&active.session_id, run_id);
        if let Some(message) = message.map(Box::new) {
            emitter.always(ChatBody::UserMessage(MessageBody { message }));
        }
        let text = emitter.redactor.text(&text).into_owned();
        emitter.line(RunLine::Correction(TextLine { message_id: message_id.clone(), text }));
        Ok(message_id)
    }

    async fn write_correction(
        &self,
        active: &Active,
        id: &str,
        text: &str,
    ) -> Result<Option<MessageView>, Fault> {
        let session = if active.kind == RunKind::Sub { &active.run_id } else { &active.session_id };
        let row = MessageRow {
            id: id.to_owned(),
            session_id: session.clone(),
            run_id: active.run_id.clone(),
            role: MessageRole::User,
            kind: MessageKind::Correction,
            content: text.to_owned(),
            created_at: now_ms(),
            ..MessageRow::default()
        };
        let (run_id, owner, id) = (active.run_id.clone(), self.owner().to_owned(), id.to_owned());
        self.work(move |store| {
            let input = store.keep(&json!({ "messageId": id }).to_string())?;
            // Corrections are numbered from far above the steps of the loop, which counts its own.
            let steps = store.steps(&run_id)?;
            let seq = steps.iter().map(|step| step.seq).filter(|seq| *seq >= CORRECTIONS).max();
            let step = StepRow {
                seq: seq.map_or(CORRECTIONS, |seq| seq + 1),
                kind: StepKind::Correction,
                span_id: chatos_records::trace_ids::new_span(),
                state: StepState::Done,
                status: "ok".to_owned(),
                ..StepRow::default()
            };
            store.write_run(RunWrite {
                run_id,
                owner,
                messages: vec![chatos_store::MessageWrite::Append(Box::new(NewMessage {
                    row,
                    ..NewMessage::default()
                }))],
                steps: vec![StepWrite::Plan { row: Box::new(step), input }],
                ..RunWrite::default()
            })?;
            let row = store.message(&id)?;
            Ok(row.map(|row| message_view(store, row)))
        })
        .await
    }

    /// Waits until a run is over; at once when it is not under way.
    pub async fn wait(&self, run_id: &str) {
        let active = self.active().get(run_id).cloned();
        if let Some(active) = active {
            active.finished().await;
        }
    }

    /// Stops all runs when the host stops; they stay in the journal as interrupted.
    pub async fn close(&self) {
        let running: Vec<Arc<Active>> = self.active().values().cloned().collect();
        for active in running {
            active.steer.shut();
            // Each run hears of the shutdown by itself; this only waits for its last write.
            if tokio::time::timeout(PATIENCE, active.finished()).await.is_err() {
                tracing::warn!(run = active.run_id, "a run did not end in time");
            }
        }
        self.seats().clear();
    }
}

/// A run in the list of runs under way, from its start to its very end.
struct Registered {
    runs: Runs,
    active: Arc<Active>,
    /// It was under way. Who could not start it looks for the next one by itself, after it wrote that down.
    began: bool,
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.runs.active().remove(&self.active.run_id);
        self.runs.app_runs().remove(&self.active.run_id);
        self.active.steer.shut();
        self.active.finish();
        // What waited for this one begins now.
        let (runs, session) = (self.runs.clone(), self.active.session_id.clone());
        if self.active.kind == RunKind::Sub || !self.began || runs.parts().life.is_over() {
            return;
        }
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                if let Err(fault) = runs.start_next(&session).await {
                    tracing::warn!(%fault, "the next message of a chat was not begun");
                }
            });
        }
    }
}

/// Runs the loop and writes its end, whatever happens on the way.
async fn drive(turn: super::other::Work, stage: HostStage) {
    let runs = stage.parts.runs.clone();
    let cancel = turn.cancel().clone();
    let shutdown = runs.parts().life.stop().clone();
    let told = stage.is_other() && stage.is_told_to_stop().await.unwrap_or_default();
    let end = tokio::select! {
        biased;
        () = shutdown.cancelled() => None,
        () = std::future::ready(()), if told => Some(Ok(End::Aborted)),
        end = turn.run() => Some(end),
        // The loop hears the same signal; this is for tools that do not.
        () = async { cancel.cancelled().await; tokio::time::sleep(PATIENCE).await } => Some(Ok(End::Aborted)),
    };
    let Some(end) = end else {
        if let Err(fault) = stage.work(|stage| stage.interrupt()).await {
            tracing::debug!(%fault, "a run is left to the next start");
        }
        return;
    };
    let (run_id, aborted) = (stage.parts.run.id.clone(), matches!(end, Ok(End::Aborted)));
    let done = matches!(end, Ok(End::Done { .. }));
    let written = match end {
        Ok(end) => stage.work(move |stage| stage.finish(&end)).await,
        // Trying again would meet the same tools: the person has to choose.
        Err(fault) if fault.code == TOO_MANY_TOOLS => {
            let end = End::Failed { code: TOO_MANY_TOOLS, message: fault.message };
            stage.work(move |stage| stage.finish(&end)).await
        }
        Err(fault) => Err(fault),
    };
    if let Err(fault) = written {
        tracing::error!(%fault, run = run_id, "a run is left to be continued");
        stage.parts.emitter.notice(Severity::Error, "run_interrupted", &fault.message, stage.parts.lang);
        if let Err(fault) = stage.work(|stage| stage.interrupt()).await {
            tracing::error!(%fault, "that could not be written either");
        }
        return;
    }
    let run = &stage.parts.run;
    if done && run.kind != RunKind::Sub && stage.parts.agent.acp.is_none() {
        super::titles::name_later(&runs, run.clone(), stage.parts.lang);
    }
    // Nobody waits for what a stopped run asked.
    if aborted {
        let parts = Arc::clone(runs.parts());
        let done = chatos_blocking::run(move || ask::withdraw_all(&parts, &run_id)).await;
        if let Ok(Err(fault)) = done {
            tracing::warn!(%fault, "questions of a stopped run stay");
        }
    }
}
