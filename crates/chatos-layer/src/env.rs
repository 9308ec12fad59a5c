//! What the servers of one process are built from. Nothing in it is opened before a call needs it, so
//! that a list of servers opens nothing and a server starts in a few milliseconds.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use chatos_store::{Store, StoreError, StoreErrorKind};
use chatos_tool::{Needed, Reason, Resource, Text, ToolError};

use crate::context::CallCx;
use crate::insight::InsightSlot;
use crate::subagent::SubagentRunner;

/// The surroundings of servers; given by whoever starts them.
#[derive(Clone)]
pub struct ServerEnv {
    /// The state directory; without one there are no journals of changes, so no file is written.
    pub state_dir: Option<PathBuf>,
    /// Directories no file tool touches: state, keys, plugin roots (servers §2.1).
    pub protected: Vec<PathBuf>,
    /// The database.
    pub store: StoreHandle,
    /// Tools that change files are registered (`--write`).
    pub write: bool,
    /// `--scope` or `MODEL_CLI_TASK_SCOPE`; by caller when absent.
    pub task_scope: Option<TaskScope>,
    /// The environment of this process; commands get an allow-list of it (servers §3.2).
    pub variables: Arc<BTreeMap<String, String>>,
    /// The host application's name, `chatos` unless overridden; older files lie under it.
    pub host_app: String,
    /// The run this process belongs to, where its environment says so.
    pub run_id: Option<String>,
    /// The session this process belongs to, where its environment says so.
    pub session_id: Option<String>,
    /// Who runs subagents: a host, where this process is one.
    pub subagents: Option<Arc<dyn SubagentRunner>>,
    /// Who knows what a change of files means for the code in them.
    pub insight: InsightSlot,
    /// The program that reads documents, where there is one: this program again, started with a word of its own.
    pub extracts: Option<OsString>,
    /// `--config`: the language servers of a person, instead of the file in the state directory.
    pub lsp_config: Option<PathBuf>,
}

impl Default for ServerEnv {
    /// Enough to say what tools there are; every call that needs the database is refused.
    fn default() -> Self {
        Self {
            state_dir: None,
            protected: Vec::new(),
            store: StoreHandle::default(),
            write: false,
            task_scope: None,
            variables: Arc::default(),
            host_app: "chatos".to_owned(),
            run_id: None,
            session_id: None,
            subagents: None,
            insight: InsightSlot::default(),
            extracts: None,
            lsp_config: None,
        }
    }
}

/// Which list of tasks is meant (servers §6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskScope {
    /// Everything that is neither of the others.
    Default,
    /// The command line.
    Cli,
    /// Chats.
    Chat,
}

impl TaskScope {
    /// The names a person may use.
    pub const WORDS: [&'static str; 6] = ["default", "cli", "chat", "terminal", "ui", "legacy"];

    /// By name or by one of its former names.
    pub fn parse(word: &str) -> Option<Self> {
        match word.trim().to_ascii_lowercase().as_str() {
            "default" | "legacy" => Some(Self::Default),
            "cli" | "terminal" => Some(Self::Cli),
            "chat" | "ui" => Some(Self::Chat),
            _ => None,
        }
    }

    /// The word in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Cli => "cli",
            Self::Chat => "chat",
        }
    }
}

/// How a database is opened when it is needed.
type Opener = dyn Fn() -> Result<Option<Store>, StoreError> + Send + Sync;

/// The database, opened by the first who needs it. Clones share it.
#[derive(Clone)]
pub struct StoreHandle {
    open: Arc<Opener>,
    kept: Arc<Mutex<Option<Store>>>,
}

impl Default for StoreHandle {
    /// No database at all.
    fn default() -> Self {
        Self::later(|| Ok(None))
    }
}

impl StoreHandle {
    /// A database that is open already.
    pub fn open(store: Store) -> Self {
        Self { open: Arc::new(|| Ok(None)), kept: Arc::new(Mutex::new(Some(store))) }
    }

    /// Opened on first use. `None` means that there is no database yet; a failure is not remembered, the
    /// next call tries again.
    pub fn later(open: impl Fn() -> Result<Option<Store>, StoreError> + Send + Sync + 'static) -> Self {
        Self { open: Arc::new(open), kept: Arc::default() }
    }

    /// The database, if there is one. Blocks while it opens.
    pub fn get(&self) -> Result<Option<Store>, StoreError> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.is_none() {
            *kept = (self.open)()?;
        }
        Ok(kept.clone())
    }

    /// The database, or why there is none.
    pub fn need(&self) -> Result<Store, StoreError> {
        self.get()?.ok_or_else(|| {
            StoreError::new(StoreErrorKind::Unavailable, "there is no database here; start `chatos` once")
        })
    }

    /// The database, if it is open and looking at it waits for no writer.
    pub fn at_hand(&self) -> Option<Store> {
        let kept = self.kept.try_lock().ok()?;
        kept.clone().filter(Store::never_waits_to_read)
    }

    /// Works with the database for a call, beside the runtime's threads.
    pub async fn run<T: Send + 'static>(
        &self,
        cx: &CallCx,
        work: impl FnOnce(&Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, ToolError> {
        let handle = self.clone();
        let task = chatos_blocking::run(move || work(&handle.need()?));
        // A commit that is under way is not undone by a cancelled call: it is awaited, which is soon.
        match task.await {
            Ok(result) => result.map_err(|error| store_error(&error)),
            Err(error) => {
                tracing::error!(call = cx.call_id, %error, "a database job panicked");
                Err(ToolError::internal(&cx.call_id))
            }
        }
    }
}

/// What a failure of the database means for a call (tools §6).
pub fn store_error(error: &StoreError) -> ToolError {
    match error.kind {
        StoreErrorKind::Full => ToolError::new(
            Reason::ResourceExhausted { resource: Resource::Disk, limit: None, actual: None },
            Text::fixed("the disk is full; nothing was stored", "磁盘已满；没有保存任何内容"),
        ),
        StoreErrorKind::Older => ToolError::unavailable(
            Needed::Database,
            Text::fixed("the database has an older layout than this program", "数据库的结构比此程序旧"),
        )
        .hint(Text::fixed(
            "start chatos once, it brings the database up to date",
            "请启动一次 chatos，它会升级数据库",
        )),
        StoreErrorKind::Internal
        | StoreErrorKind::Conflict
        | StoreErrorKind::Invalid
        | StoreErrorKind::NotFound => {
            let reference = uuid::Uuid::now_v7().to_string();
            tracing::error!(%reference, %error, "the database refused a job");
            ToolError::internal(reference)
        }
        StoreErrorKind::Unavailable
        | StoreErrorKind::Corrupt
        | StoreErrorKind::Foreign
        | StoreErrorKind::Newer => {
            tracing::warn!(%error, "the database cannot be used");
            ToolError::unavailable(
                Needed::Database,
                Text::fixed("the database cannot be used now", "数据库目前无法使用"),
            )
            .hint(Text::fixed("`chatos doctor` says why", "`chatos doctor` 会说明原因"))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn options(dir: &std::path::Path) -> chatos_store::OpenOptions {
        chatos_store::OpenOptions {
            path: dir.join("state.db"),
            backups: dir.join("backups"),
            migrate: true,
            wal: true,
            used: false,
            check: false,
        }
    }

    #[test]
    fn a_database_is_opened_once_and_a_failure_is_tried_again() {
        let dir = tempfile::tempdir().unwrap();
        let (path, tries) = (dir.path().to_owned(), Arc::new(AtomicUsize::new(0)));
        let counted = tries.clone();
        let handle = StoreHandle::later(move || match counted.fetch_add(1, Ordering::Relaxed) {
            0 => Ok(None),
            1 => Err(StoreError::new(StoreErrorKind::Unavailable, "busy")),
            _ => Store::open(options(&path)).map(Some),
        });
        assert!(handle.get().unwrap().is_none());
        assert_eq!(handle.clone().need().err().unwrap().kind, StoreErrorKind::Unavailable);
        assert!(handle.need().is_ok() && handle.clone().need().is_ok());
        assert_eq!(tries.load(Ordering::Relaxed), 3);
        assert!(StoreHandle::default().need().is_err());
    }

    #[test]
    fn a_scope_has_former_names() {
        assert!(TaskScope::WORDS.iter().all(|word| TaskScope::parse(word).is_some()));
        assert_eq!(TaskScope::parse(" UI "), Some(TaskScope::Chat));
        assert_eq!(TaskScope::parse("terminal").map(TaskScope::as_str), Some("cli"));
        assert_eq!(TaskScope::parse("other"), None);
    }
}
