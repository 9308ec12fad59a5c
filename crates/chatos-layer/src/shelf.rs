//! What the tools of one server that touches files share, and the way each of them does its work: beside
//! the runtime, beneath the call's root, stopping when the call has to; a change is computed, asked about
//! where a person wants that, committed and remembered in one way.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use chatos_files::change::{ChangeLog, FileChange};
use chatos_files::commit::{Engine, Journals};
use chatos_files::fs::RealFs;
use chatos_files::plan::{Plan, Planned, Sensitive};
use chatos_files::read::ScanCache;
use chatos_files::stop::Stop;
use chatos_files::{FileError, Protected, Root, Stopped, SymlinkPolicy};
use chatos_prompts::{Approval, Unasked};
use chatos_tool::{DenyRule, Text, TextLimits, ToolError};

use crate::clock::Stop as CallStop;
use crate::consent::{self, Change, Consent, Matter};
use crate::context::CallCx;
use crate::env::ServerEnv;
use crate::file_changes::{ChangeContext, ChangeStore, StoredChanges};
use crate::file_errors::explain;
use crate::insight::InsightSlot;
use crate::settings::FileSettings;

/// What servers that touch files need besides a call's own root; given by whoever starts them.
#[derive(Clone, Default)]
pub struct FileHome {
    /// The state directory; without one there are no journals, so nothing is written.
    pub state_dir: Option<PathBuf>,
    /// Directories no file tool touches: state, keys, plugin roots (servers §2.1).
    pub protected: Vec<PathBuf>,
    /// Where changes are remembered; without it every change carries a warning.
    pub changes: Option<Arc<dyn ChangeStore>>,
    /// Tools that write are registered (`--write`).
    pub write: bool,
    /// The tool that records name, where it is not the one that was called.
    pub recorded_as: Option<&'static str>,
    /// Who knows what a change means for the code.
    pub insight: InsightSlot,
    /// The program that reads documents; without one they are binary files.
    pub extracts: Option<std::ffi::OsString>,
}

impl FileHome {
    /// The home that an environment gives to file servers.
    pub fn of(env: &ServerEnv) -> Self {
        Self {
            state_dir: env.state_dir.clone(),
            protected: env.protected.clone(),
            changes: Some(Arc::new(StoredChanges::of(env))),
            write: env.write,
            recorded_as: None,
            insight: env.insight.clone(),
            extracts: env.extracts.clone(),
        }
    }
}

/// Shared by the tools of one server.
pub struct Shelf {
    journals: Option<Arc<Journals>>,
    protected: Protected,
    changes: Option<Arc<dyn ChangeStore>>,
    write: bool,
    recorded_as: Option<&'static str>,
    insight: InsightSlot,
    cache: Arc<ScanCache>,
    /// When this process last settled the leftovers of a root.
    settled: Mutex<HashMap<PathBuf, Instant>>,
}

/// One piece of work for a call, away from the runtime's threads.
pub struct Job {
    pub root: Root,
    /// What is known of files from former looks.
    pub cache: Arc<ScanCache>,
    pub settings: FileSettings,
    pub text: TextLimits,
    stop: Arc<AtomicU8>,
    // Steps that may still be done on the thread of the runtime; `None` beside it, where all may.
    steps: Option<AtomicUsize>,
}

/// Steps (chunks of a file, directories) of work that is done at once rather than handed to another
/// thread: handing it over costs more than it does.
const QUICK_STEPS: usize = 1;

/// After this long a root is looked at again: another process may have been killed meanwhile.
const SETTLE_AGAIN: Duration = Duration::from_secs(10);

impl Job {
    /// Whether the work turned out too large for the thread of the runtime.
    fn too_large(&self) -> bool {
        self.steps.as_ref().is_some_and(|left| left.load(Ordering::Relaxed) == 0)
    }
}

impl Stop for Job {
    fn stopped(&self) -> Option<Stopped> {
        if let Some(left) = &self.steps
            && left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err()
        {
            return Some(Stopped::Canceled);
        }
        match self.stop.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(Stopped::Canceled),
            _ => Some(Stopped::Deadline),
        }
    }
}

impl Shelf {
    /// A shelf in this home.
    pub fn new(home: &FileHome) -> Arc<Self> {
        let mut protected = home.protected.clone();
        protected.extend(home.state_dir.clone().filter(|dir| !home.protected.contains(dir)));
        Arc::new(Self {
            journals: home.state_dir.as_ref().map(|dir| Arc::new(Journals::new(dir.join("fs-journal")))),
            protected: Protected::new(protected),
            changes: home.changes.clone(),
            write: home.write,
            recorded_as: home.recorded_as,
            insight: home.insight.clone(),
            cache: Arc::default(),
            settled: Mutex::default(),
        })
    }

    /// Whether tools that change files are offered.
    pub fn writes(&self) -> bool {
        self.write && self.journals.is_some()
    }

    /// Looks at something that is small most of the time: at once when it is, beside the runtime when
    /// it turns out not to be or when the disk is not this machine's own.
    pub async fn quick<T: Send + 'static>(
        self: &Arc<Self>,
        cx: &CallCx,
        work: impl Fn(&Job) -> Result<T, FileError> + Send + 'static,
    ) -> Result<T, ToolError> {
        if cx.root.as_ref().is_some_and(|root| root.is_near()) {
            let mut job = self.open(cx)?;
            job.steps = Some(AtomicUsize::new(QUICK_STEPS));
            self.settle(&job);
            match work(&job) {
                Err(FileError::Stopped(_)) if job.too_large() => {}
                done => return done.map_err(explain),
            }
        }
        self.job(cx, work).await
    }

    fn open(&self, cx: &CallCx) -> Result<Job, ToolError> {
        let Some(own) = &cx.root else {
            return Err(ToolError::denied(
                DenyRule::OutsideRoot,
                Text::fixed("this call has no root directory", "此次调用没有根目录"),
            ));
        };
        let policy =
            if cx.settings.files.follow_links_out { SymlinkPolicy::Allow } else { SymlinkPolicy::Deny };
        Ok(Job {
            root: Root::on(own.anchor().clone(), policy, self.protected.clone()),
            cache: self.cache.clone(),
            settings: cx.settings.files,
            text: cx.settings.text,
            stop: Arc::new(AtomicU8::new(0)),
            steps: None,
        })
    }

    /// Does something with files for a call; a call that has to stop waits for its end, which is soon.
    pub async fn job<T: Send + 'static>(
        self: &Arc<Self>,
        cx: &CallCx,
        work: impl FnOnce(&Job) -> Result<T, FileError> + Send + 'static,
    ) -> Result<T, ToolError> {
        let job = self.open(cx)?;
        let stop = Arc::clone(&job.stop);
        let shelf = self.clone();
        let mut task = chatos_blocking::run(move || {
            shelf.settle(&job);
            work(&job)
        });
        let done = tokio::select! {
            done = &mut task => done,
            reason = cx.stopped() => {
                let word = if matches!(reason, CallStop::Timeout { .. }) { 2 } else { 1 };
                stop.store(word, Ordering::Relaxed);
                task.await
            }
        };
        match done {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(FileError::Stopped(_))) => Err(cx.stop_error()),
            Ok(Err(error)) => Err(explain(error)),
            Err(error) => {
                let reference = uuid::Uuid::now_v7().to_string();
                tracing::error!(%reference, %error, "a file operation panicked");
                Err(ToolError::internal(reference))
            }
        }
    }

    /// servers §2.5: leftovers of a dead process are settled by the next one that serves the root.
    fn settle(&self, job: &Job) {
        let mut settled = self.settled.lock().unwrap_or_else(PoisonError::into_inner);
        if settled.get(job.root.path()).is_some_and(|at| at.elapsed() < SETTLE_AGAIN) {
            return;
        }
        let Some(journals) = self.journals.as_deref().filter(|journals| journals.dir().is_dir()) else {
            return;
        };
        settled.insert(job.root.path().to_path_buf(), Instant::now());
        let engine = Engine { root: &job.root, fs: &RealFs, journals };
        match engine.recover() {
            Ok(found) if found.finished + found.rolled_back + found.failed > 0 => {
                tracing::warn!(
                    finished = found.finished,
                    rolled_back = found.rolled_back,
                    failed = found.failed,
                    "settled interrupted file changes"
                );
            }
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "cannot look for interrupted file changes"),
        }
    }

    /// Computes a change and makes it: in one piece of work where nobody has to be asked, else after the
    /// answer, computed anew. `path` names what the question is about.
    pub async fn perform<T: Send + 'static>(
        self: &Arc<Self>,
        cx: &CallCx,
        work: impl Fn(&Job) -> Result<Planned<T>, FileError> + Send + Sync + 'static,
        path: fn(&T) -> &str,
    ) -> Result<Performed<T>, ToolError> {
        let work = Arc::new(work);
        let Some(committing) = self.committing(cx) else {
            return Err(ToolError::denied(
                DenyRule::WritesDisabled,
                Text::fixed("this server does not write", "此服务不写入"),
            ));
        };
        if !cx.settings.confirm_file_changes && !cx.ask {
            cx.in_turn().await?;
            let committing = committing.clone();
            let first = Arc::clone(&work);
            let done = self.job(cx, move |job| {
                Ok(match first(job)? {
                    Planned::Noop(summary) => Some((Performed::noop(summary), Vec::new())),
                    Planned::Change(plan, summary) if plan.sensitive.is_none() => {
                        let approval = Approval::unasked(Unasked::NotWanted);
                        let paths = plan.written();
                        let warnings = committing.commit(approval, *plan, job)?;
                        let consent = Consent::default();
                        Some((Performed { summary, noop: false, consent, warnings, insight: None }, paths))
                    }
                    Planned::Change(..) => None,
                })
            });
            if let Some((mut done, paths)) = done.await? {
                done.insight = self.insight.after_change(cx, &paths).await;
                return Ok(done);
            }
        }
        let look = || {
            let work = Arc::clone(&work);
            async move {
                let planned = self.job(cx, move |job| {
                    let planned = work(job)?;
                    if let Planned::Change(plan, _) = &planned {
                        // Made here, where it holds up nobody.
                        plan.diff();
                    }
                    Ok(planned)
                });
                match planned.await? {
                    Planned::Noop(summary) => Ok((None, (None, summary))),
                    Planned::Change(plan, summary) => {
                        Ok((Some(matter(cx, &plan, path(&summary))?), (Some(plan), summary)))
                    }
                }
            }
        };
        let (consent, approval, (plan, summary)) = consent::agree(cx, look).await?;
        let Some(plan) = plan else { return Ok(Performed::noop(summary)) };
        let paths = plan.written();
        let warnings = self.job(cx, move |job| committing.commit(approval, *plan, job)).await?;
        let insight = self.insight.after_change(cx, &paths).await;
        Ok(Performed { summary, noop: false, consent, warnings, insight })
    }

    /// Computes a change without making it.
    pub async fn look<T: Send + 'static>(
        self: &Arc<Self>,
        cx: &CallCx,
        work: impl FnOnce(&Job) -> Result<Planned<T>, FileError> + Send + 'static,
    ) -> Result<Performed<T>, ToolError> {
        Ok(match self.job(cx, work).await? {
            Planned::Noop(summary) => Performed::noop(summary),
            Planned::Change(_, summary) => Performed { noop: false, ..Performed::noop(summary) },
        })
    }

    /// What a commit for this call needs; nothing where no file may be written.
    fn committing(&self, cx: &CallCx) -> Option<Committing> {
        let context = ChangeContext {
            run_id: cx.trace.run_id.clone().unwrap_or_default(),
            session_id: cx.trace.session_id.clone().unwrap_or_default(),
            user_message_id: cx.user_message_id.clone().unwrap_or_default(),
            server: cx.server,
            tool: self.recorded_as.unwrap_or(cx.tool),
            root: cx.root.as_ref().map(|root| root.path().display().to_string()).unwrap_or_default(),
        };
        let journals = self.journals.clone()?;
        Some(Committing { journals, log: Log { changes: self.changes.clone(), context } })
    }
}

/// A change that was computed and made, or found to be there already.
pub struct Performed<T> {
    /// What the plan says of itself.
    pub summary: T,
    /// It was there already.
    pub noop: bool,
    /// What the person said.
    pub consent: Consent,
    /// What could not be done besides.
    pub warnings: Vec<String>,
    /// What language servers say of the changed files now.
    pub insight: Option<String>,
}

impl<T> Performed<T> {
    fn noop(summary: T) -> Self {
        Self { summary, noop: true, consent: Consent::default(), warnings: Vec::new(), insight: None }
    }
}

#[derive(Clone)]
struct Committing {
    journals: Arc<Journals>,
    log: Log,
}

impl Committing {
    fn commit(self, approval: Approval, plan: Plan, job: &Job) -> Result<Vec<String>, FileError> {
        let engine = Engine { root: &job.root, fs: &RealFs, journals: &self.journals };
        plan.commit(approval, &engine, &self.log, job)
    }
}

#[derive(Clone)]
struct Log {
    changes: Option<Arc<dyn ChangeStore>>,
    context: ChangeContext,
}

impl ChangeLog for Log {
    fn record(&self, change: FileChange) -> Result<(), String> {
        match &self.changes {
            Some(changes) => changes.record(&self.context, change),
            None => Err("no store".to_owned()),
        }
    }

    fn keep_ahead(&self, change: &FileChange) {
        if let Some(changes) = &self.changes {
            changes.keep_ahead(change);
        }
    }

    fn give_up(&self, change: &FileChange) {
        if let Some(changes) = &self.changes {
            changes.give_up(change);
        }
    }
}

/// What a person is asked about a change.
fn matter(cx: &CallCx, plan: &Plan, path: &str) -> Result<Matter, ToolError> {
    let diff = plan.diff();
    let change = Change {
        path,
        diff: &diff.text,
        count: plan.count(),
        files: plan.facts(),
        hidden: plan.hidden(),
        sensitive: plan.sensitive.map(Sensitive::as_str),
        message: message(plan, diff.added, diff.removed),
    };
    Matter::change(cx, change)
}

/// What a question says above the diff.
fn message(plan: &Plan, added: usize, removed: usize) -> Text {
    let files = plan.count();
    let (mut en, mut zh) = (
        format!("{files} {} · +{added} −{removed}", if files == 1 { "file" } else { "files" }),
        format!("{files} 个文件 · +{added} −{removed}"),
    );
    let why = plan.sensitive.map(|sensitive| match sensitive {
        Sensitive::Git => ("contents of .git", ".git 的内容"),
        Sensitive::ShellStart => ("a file that shells run when they start", "shell 启动时执行的文件"),
        Sensitive::AuthorizedKeys => ("who may sign in", "登录授权"),
        Sensitive::Autostart => ("programs that start with the session", "随会话启动的程序"),
        Sensitive::McpConfig => ("configuration of MCP servers or agents", "MCP 服务或代理的配置"),
    });
    if let Some((why_en, why_zh)) = why {
        en = format!("{en}\nAlways asked: this changes {why_en}.");
        zh = format!("{zh}\n必须确认：此更改涉及{why_zh}。");
    }
    Text::new(en, zh)
}
