//! The inbox of one host: opened at the first use, because most commands never look at it.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use chatos_events::{Events, Lifetime};
use chatos_keys::StateKey;
use chatos_lines::{DiskFs, Paths};
use chatos_paths::StateDir;
use chatos_prompts::{Config, Event, Item, LogMode, Prompts, Role, Scope, SystemClock};
use chatos_settings::Settings;
use chatos_store::{Audit, Store};
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use tokio::sync::broadcast;

use crate::covered::{Acts, Covered};
use crate::questions::Questions;
use crate::records::{StoreRecords, signer};

/// What an inbox is made of.
pub struct InboxParts {
    pub dir: StateDir,
    pub store: Store,
    pub settings: Settings,
    pub key: StateKey,
    pub audit: Audit,
    pub events: Events,
    pub life: Lifetime,
    /// This process serves; a command that opened the state for a moment does not.
    pub serving: bool,
}

/// The questions to the person. Clones are the same inbox.
#[derive(Clone)]
pub struct Inbox(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) parts: InboxParts,
    questions: OnceLock<Questions>,
    /// A person sits before the command that opened this state and is shown its questions.
    attended: AtomicBool,
    /// Acts a person agreed to as another program announced them, by the span of the call.
    covered: Acts,
}

impl Inbox {
    /// Nothing is opened yet.
    pub fn new(parts: InboxParts) -> Self {
        Self(Arc::new(Inner {
            parts,
            questions: OnceLock::new(),
            attended: AtomicBool::new(false),
            covered: Acts::default(),
        }))
    }

    pub(crate) fn parts(&self) -> &InboxParts {
        &self.0.parts
    }

    /// The call with this span does what a person agreed to; it may do that once without another question.
    pub fn cover(&self, span: &str, what: Covered) {
        self.0.covered.cover(span, what);
    }

    /// The call is over.
    pub fn uncover(&self, span: &str) {
        self.0.covered.uncover(span);
    }

    /// What a person agreed to elsewhere.
    pub(crate) fn covered(&self) -> &Acts {
        &self.0.covered
    }

    /// The queue. Opens it at the first use, which reads the end of the log; may block.
    pub fn questions(&self) -> Result<&Questions, Fault> {
        if let Some(questions) = self.0.questions.get() {
            return Ok(questions);
        }
        let parts = self.parts();
        let role = if parts.serving { Role::Host } else { Role::Visitor };
        let mode = log_mode(&parts.settings);
        let (prompts, events) = open_queue(&parts.store, &parts.key, parts.dir.path(), role, mode)?;
        Ok(self.0.questions.get_or_init(|| Questions::of_host(prompts, events, &parts.store)))
    }

    /// As [`Inbox::questions`], without blocking the runtime.
    pub async fn opened(&self) -> Result<&Questions, Fault> {
        if self.0.questions.get().is_none() {
            self.blocking(|_| Ok(())).await?;
        }
        self.questions()
    }

    /// Work at the queue that may block, off the runtime's threads.
    pub async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Questions) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let inbox = self.clone();
        let done = chatos_blocking::run(move || work(inbox.questions()?)).await;
        done.map_err(|error| {
            Fault::new(ErrorCode::Internal, Text::same("work at the prompt queue failed")).caused_by(&error)
        })?
    }

    /// Opens the queue and tends it until the host stops: events, timeouts, orphans, audit.
    pub fn tend(&self) -> Result<(), Fault> {
        self.questions()?;
        self.parts().life.spawn(Box::pin(crate::follow::follow(self.clone())));
        Ok(())
    }

    /// Stops reading; for a clean stop before the database closes.
    pub fn close(&self) {
        if let Some(questions) = self.0.questions.get() {
            questions.close();
        }
    }

    /// A command says that it shows the questions of this state to the person before it.
    pub fn attend(&self) {
        self.0.attended.store(true, Ordering::Relaxed);
    }

    /// Whether a command said that it shows questions to the person before it.
    pub fn is_attended(&self) -> bool {
        self.0.attended.load(Ordering::Relaxed)
    }

    /// Whether this process serves and so keeps the clock of every question.
    pub fn is_serving(&self) -> bool {
        self.parts().serving
    }

    /// Whether a run of this name is kept here and is continued after a restart. A direct call may name a run of
    /// its own making, which is not. Blocks.
    pub fn knows_run(&self, run: Option<&str>) -> bool {
        run.is_some_and(|run| match self.parts().store.run(run) {
            Ok(found) => found.is_some(),
            Err(error) => {
                tracing::warn!(%error, "a run cannot be looked up; its question is kept");
                true
            }
        })
    }

    /// Another answer decided what open questions about this effect in this folder ask: they close, and whoever asked
    /// looks again. Gives how many; blocks.
    pub fn supersede(&self, effect: &str, root: &Path) -> Result<usize, Fault> {
        let questions = self.questions()?;
        let here = |item: &Item| {
            let folder = item.card.as_ref().and_then(|card| card.pointer("/project/root")?.as_str());
            item.effect.as_deref() == Some(effect) && folder.is_some_and(|folder| Path::new(folder) == root)
        };
        let open = questions.open_items(None)?;
        let closed = open
            .iter()
            .filter(|item| here(item))
            .map(|item| questions.prompts().supersede(Scope::Request(&item.request_id)));
        Ok(closed.sum())
    }

    pub(crate) fn lang(&self) -> Lang {
        self.parts().settings.languages().people
    }
}

/// Opens the queue of a state directory, with a subscription that misses nothing.
pub(crate) fn open_queue(
    store: &Store,
    key: &StateKey,
    state_dir: &Path,
    role: Role,
    mode: LogMode,
) -> Result<(Prompts, broadcast::Receiver<Event>), Fault> {
    let config = Config {
        paths: Paths::in_state_dir(state_dir),
        records: Arc::new(StoreRecords::new(store, key)),
        signer: Arc::new(signer(key)),
        clock: Arc::new(SystemClock),
        fs: Arc::new(DiskFs),
        role,
        mode,
    };
    Prompts::open_with_events(config).map_err(|error| {
        Fault::new(
            ErrorCode::Unavailable,
            Text::fixed("cannot open the prompt queue", "无法打开交互待办队列"),
        )
        .code("prompts_unusable")
        .caused_by(&error)
    })
}

/// The setting `uiPromptLogMode`.
pub(crate) fn log_mode(settings: &Settings) -> LogMode {
    if settings.text("uiPromptLogMode") == "minimal" { LogMode::Minimal } else { LogMode::Full }
}
