//! The server `shell_tasks` with its tools: what it is built from, and what its tools share (servers §3).

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use chatos_layer::{ChangeStore, Server, ServerEnv, ServerInfo, StoreHandle, StoredChanges};
use chatos_tool::Text;

use crate::pool::Pool;
use crate::sandbox::{self, Kernel};
use crate::secrets::Secrets;
use crate::{listing, run, sessions};

/// The hidden command that makes this program a supervisor; see [`crate::supervise`].
pub const SUPERVISOR_COMMAND: &str = "__shell-supervisor";

/// What the shell server needs besides a call's own root; given by whoever starts it.
#[derive(Clone)]
pub struct ShellHome {
    /// The state directory; without one there are no sessions.
    pub state_dir: Option<PathBuf>,
    /// Directories no command reads or writes: state and keys (servers §3.1).
    pub protected: Vec<PathBuf>,
    /// Where changes are remembered; without it every change carries a warning.
    pub changes: Option<Arc<dyn ChangeStore>>,
    /// Where sessions are remembered.
    pub store: StoreHandle,
    /// The environment of this process; commands get an allow-list of it.
    pub variables: BTreeMap<String, String>,
    /// How a supervisor is started: this program with [`SUPERVISOR_COMMAND`].
    pub launcher: Vec<OsString>,
    /// What the kernel offers; asked on first use.
    pub kernel: Option<Kernel>,
}

impl Default for ShellHome {
    fn default() -> Self {
        Self {
            state_dir: None,
            protected: Vec::new(),
            changes: None,
            store: StoreHandle::default(),
            variables: BTreeMap::new(),
            // The running program itself, also when its file was replaced meanwhile.
            launcher: vec![OsString::from("/proc/self/exe"), OsString::from(SUPERVISOR_COMMAND)],
            kernel: None,
        }
    }
}

impl ShellHome {
    /// The home that an environment gives to the shell server.
    pub fn of(env: &ServerEnv) -> Self {
        Self {
            state_dir: env.state_dir.clone(),
            protected: env.protected.clone(),
            changes: Some(Arc::new(StoredChanges::of(env))),
            store: env.store.clone(),
            variables: (*env.variables).clone(),
            ..Self::default()
        }
    }
}

/// `shell_tasks`.
pub static INFO: ServerInfo = ServerInfo {
    name: "shell_tasks",
    id: "a176d672-15f4-43c5-8c5f-6516cad8240f",
    title: Text::fixed("Run commands", "运行命令"),
    instructions: Text::fixed(
        "Runs shell commands inside one root directory. The operating system confines them where it can; every result \
         says how much (sandbox: full, fs or none). Commands have no input and no network unless asked for; a person \
         may be asked first. For programs that keep running or ask questions use session_run; read with \
         session_capture_output, answer with session_send_input. Output keeps its start and end; a non-zero exit code \
         is a result, not an error.",
        "在一个根目录内运行 shell 命令。操作系统会尽可能限制它们；每个结果都会说明限制程度（sandbox：full、fs 或 none）。\
         命令没有输入，未经请求没有网络；可能先请用户确认。需要持续运行或会提问的程序请用 session_run，\
         用 session_capture_output 读取，用 session_send_input 回答。输出保留首尾；非零退出码是结果而不是错误。",
    ),
    needs_root: true,
    slots: 4,
    waits_hold_slot: false,
};

/// `shell_tasks` with its tools.
pub fn server(home: &ShellHome) -> Server {
    let shop = Arc::new(Shop::new(home));
    Server::new(&INFO)
        .with(run::RunShellCommand(shop.clone()))
        .with(listing::ListWorkspaceFiles(shop.clone()))
        .with(sessions::run::SessionRun(shop.clone()))
        .with(sessions::capture::SessionCaptureOutput(shop.clone()))
        .with(sessions::input::SessionSendInput(shop.clone()))
        .with(sessions::input::SessionSendSignal(shop.clone()))
        .with(sessions::list::SessionKill(shop.clone()))
        .with(sessions::list::SessionList(shop))
}

/// Shared by the tools of one server.
pub(crate) struct Shop {
    pub(crate) protected: Vec<PathBuf>,
    pub(crate) state_dir: Option<PathBuf>,
    pub(crate) changes: Option<Arc<dyn ChangeStore>>,
    pub(crate) store: StoreHandle,
    pub(crate) variables: BTreeMap<String, String>,
    pub(crate) kernel: Option<Kernel>,
    pub(crate) pool: Arc<Pool>,
    pub(crate) secrets: Secrets,
    pub(crate) sessions: sessions::Book,
    pub(crate) programs: sandbox::Programs,
    pub(crate) greeted: Greeted,
    /// The way to single machines; started with the first command that has one.
    pub(crate) proxy: tokio::sync::OnceCell<chatos_access::Proxy>,
    /// Of sessions, for as long as this process holds them.
    pub(crate) passes: Mutex<Vec<Arc<chatos_access::Pass>>>,
}

/// Projects whose person was told how commands run.
#[derive(Debug, Default)]
pub(crate) struct Greeted(Mutex<BTreeSet<PathBuf>>);

impl Greeted {
    /// Whether this is the first command of a project: of this process, and of all where there is a cache to note it.
    pub(crate) fn is_first(&self, root: &Path, cache: Option<&Path>) -> bool {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(root.to_owned()) && cache.is_none_or(sandbox::note_use)
    }
}

impl Shop {
    fn new(home: &ShellHome) -> Self {
        let mut protected = home.protected.clone();
        protected.extend(home.state_dir.clone());
        Self {
            protected,
            state_dir: home.state_dir.clone(),
            changes: home.changes.clone(),
            store: home.store.clone(),
            variables: home.variables.clone(),
            kernel: home.kernel,
            pool: Pool::new(home.launcher.clone()),
            secrets: Secrets::default(),
            sessions: sessions::Book::default(),
            programs: sandbox::Programs::default(),
            greeted: Greeted::default(),
            proxy: tokio::sync::OnceCell::new(),
            passes: Mutex::default(),
        }
    }

    /// What the kernel offers; the first call asks it.
    pub(crate) fn kernel(&self) -> Kernel {
        self.kernel.unwrap_or_else(Kernel::here)
    }

    /// A new private temporary directory; made by the supervisor.
    pub(crate) fn temp(&self) -> PathBuf {
        temp_in(&self.variables, &self.protected)
    }
}

/// The name of a new private temporary directory.
pub(crate) fn temp_in(variables: &BTreeMap<String, String>, protected: &[PathBuf]) -> PathBuf {
    let base = variables.get("TMPDIR").map(PathBuf::from).filter(|path| {
        path.is_absolute() && path.is_dir() && !protected.iter().any(|closed| path.starts_with(closed))
    });
    base.unwrap_or_else(|| PathBuf::from("/tmp"))
        .join(format!("chatos-shell-{}", uuid::Uuid::new_v4().simple()))
}

/// The name of a signal.
pub(crate) fn signal_name(number: i32) -> String {
    const NAMES: [(i32, &str); 21] = [
        (1, "SIGHUP"),
        (2, "SIGINT"),
        (3, "SIGQUIT"),
        (4, "SIGILL"),
        (5, "SIGTRAP"),
        (6, "SIGABRT"),
        (7, "SIGBUS"),
        (8, "SIGFPE"),
        (9, "SIGKILL"),
        (10, "SIGUSR1"),
        (11, "SIGSEGV"),
        (12, "SIGUSR2"),
        (13, "SIGPIPE"),
        (14, "SIGALRM"),
        (15, "SIGTERM"),
        (18, "SIGCONT"),
        (19, "SIGSTOP"),
        (24, "SIGXCPU"),
        (25, "SIGXFSZ"),
        (31, "SIGSYS"),
        (20, "SIGTSTP"),
    ];
    NAMES
        .iter()
        .find(|(known, _)| *known == number)
        .map_or_else(|| format!("SIG{number}"), |(_, name)| (*name).to_owned())
}

#[cfg(test)]
mod tests;
