//! A program that is spoken to over its standard streams and lives longer than a call, such as a language
//! server: held by a supervisor of its own, inside the boundary of commands, gone when its holder is.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chatos_layer::CallCx;
use chatos_tool::{Needed, Text, ToolError};
use rustix::fs::{Mode, OFlags};
use tokio::net::unix::pipe::{Receiver, Sender};

use crate::command;
use crate::gate;
use crate::pool::{self, Link, Pool};
use crate::run::not_started;
use crate::sandbox::{self, Kernel, Level, Places, Programs, Toolchains};
use crate::server::{ShellHome, temp_in};
use crate::wire::{Job, Order, Report};

/// Starts programs for one server.
pub struct Launcher {
    pool: Arc<Pool>,
    kernel: Option<Kernel>,
    variables: BTreeMap<String, String>,
    protected: Vec<PathBuf>,
    programs: Programs,
}

/// A program to start.
pub struct ProgramOrder<'a> {
    pub argv: Vec<String>,
    /// Variables over the usual ones of a command.
    pub env: BTreeMap<String, String>,
    /// What it may change, as the root of a call is to a command.
    pub root: &'a Path,
    pub cwd: &'a Path,
    /// What it may read besides.
    pub read: Vec<PathBuf>,
    /// What was made for it alone and may be changed, wherever it lies.
    pub own: Vec<PathBuf>,
    /// Memory of all its processes together.
    pub memory_bytes: u64,
}

/// The three streams of a program, from this side.
pub struct Streams {
    pub stdin: Sender,
    pub stdout: Receiver,
    /// What it complains about.
    pub stderr: Receiver,
}

/// A program that runs. Dropping it ends it and everything it started.
pub struct Program {
    link: Link,
    token: String,
    level: Level,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// By itself, or by a signal.
    Exited { code: Option<i32>, signal: Option<i32> },
    /// It used more memory than it may.
    Memory { limit: u64 },
    /// It started more processes than it may.
    Processes { limit: usize },
    /// Its supervisor was killed; what it left is ended.
    Lost,
}

impl Launcher {
    /// Programs in the home of the shell server.
    pub fn of(home: &ShellHome) -> Self {
        let mut protected = home.protected.clone();
        protected.extend(home.state_dir.clone());
        Self {
            pool: Pool::new(home.launcher.clone()),
            kernel: home.kernel,
            variables: home.variables.clone(),
            protected,
            programs: Programs::default(),
        }
    }

    /// The environment that programs are started from.
    pub fn variables(&self) -> &BTreeMap<String, String> {
        &self.variables
    }

    /// How much the system would confine a program started for this call.
    pub fn level(&self, cx: &CallCx) -> Result<Level, ToolError> {
        Ok(gate::terms(&cx.settings.shell, || self.kernel.unwrap_or_else(Kernel::here), false)?.level)
    }

    pub async fn start(&self, cx: &CallCx, order: ProgramOrder<'_>) -> Result<(Program, Streams), ToolError> {
        let terms = gate::terms(&cx.settings.shell, || self.kernel.unwrap_or_else(Kernel::here), false)?;
        let temp = temp_in(&self.variables, &self.protected);
        let token = uuid::Uuid::new_v4().simple().to_string();
        let toolchains =
            (terms.level > Level::None).then(|| self.toolchains(cx, order.root, terms.network)).flatten();
        let boundary = terms.kernel.map(|kernel| {
            let places = Places {
                root: order.root,
                temp: &temp,
                variables: &self.variables,
                protected: &self.protected,
                programs: &self.programs,
            };
            let mut boundary =
                sandbox::boundary(&cx.settings.shell, kernel, places, terms.network, toolchains.as_deref());
            boundary.read.extend(order.read);
            boundary.own = order.own;
            boundary
        });
        let given = toolchains.as_ref().map(|toolchains| &toolchains.env);
        let job = Job {
            argv: order.argv,
            env: command::environment(&self.variables, &temp, &token, given, order.env).into_iter().collect(),
            temp,
            cpu_seconds: None,
            memory_bytes: Some(order.memory_bytes),
            boundary,
        };
        let (mut link, streams) = self.give(job, order.cwd).await.map_err(|error| {
            tracing::warn!(%error, "a program cannot be started");
            not_running(&error)
        })?;
        match link.report().await {
            Some(Report::Started { level, .. }) => Ok((Program { link, token, level }, streams)),
            Some(Report::Failed { what, message }) => Err(not_started(what, &message)),
            _ => Err(ToolError::unavailable(
                Needed::Process,
                Text::fixed("the supervisor of the program is gone", "程序的监管进程已退出"),
            )),
        }
    }

    /// The toolchains of the home, as commands get them: a program behind a shim needs what the shim needs.
    fn toolchains(&self, cx: &CallCx, root: &Path, network: bool) -> Option<Arc<Toolchains>> {
        let found = self.programs.toolchains(&cx.settings.shell, &self.variables, root)?;
        match found.prepare(network) {
            Ok(()) => Some(found),
            Err(error) => {
                tracing::warn!(%error, "the private cache of a project cannot be made");
                Some(Arc::new(found.without_cache()))
            }
        }
    }

    async fn give(&self, job: Job, cwd: &Path) -> std::io::Result<(Link, Streams)> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let cwd = rustix::fs::open(cwd, flags, Mode::empty())?;
        let (out_read, stdout) = pool::pipe()?;
        let (err_read, stderr) = pool::pipe()?;
        let (stdin, in_write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        rustix::fs::fcntl_setfl(&in_write, OFlags::NONBLOCK)?;
        let streams = Streams {
            stdin: Sender::from_owned_fd(in_write)?,
            stdout: Receiver::from_owned_fd(out_read)?,
            stderr: Receiver::from_owned_fd(err_read)?,
        };
        let mut link = self.pool.spawn()?;
        let files: [&OwnedFd; 4] = [&cwd, &stdout, &stderr, &stdin];
        link.send(&Order::Run(Box::new(job)), &files.map(AsFd::as_fd)).await?;
        Ok((link, streams))
    }
}

fn not_running(error: &std::io::Error) -> ToolError {
    ToolError::unavailable(
        Needed::Process,
        Text::new(format!("the program cannot be started: {error}"), format!("无法启动程序：{error}")),
    )
}

impl Program {
    /// How much the system confines it.
    pub fn level(&self) -> Level {
        self.level
    }

    /// Asks it and everything it started to end, and makes them after this time.
    pub fn end(&self, grace: Duration) {
        self.link.send_now(&Order::End { grace_ms: grace.as_millis() as u64 });
    }

    /// Waits until its first process ended. May be dropped and called again.
    pub async fn ended(&mut self) -> Ended {
        loop {
            match self.link.report().await {
                Some(Report::Exited { code, signal, .. }) => return Ended::Exited { code, signal },
                Some(Report::TooLarge { limit }) => return Ended::Memory { limit },
                Some(Report::TooMany { limit }) => return Ended::Processes { limit },
                Some(Report::Idle) => return Ended::Exited { code: None, signal: None },
                Some(Report::Started { .. } | Report::Failed { .. }) => {}
                None => {
                    let token = self.token.clone();
                    // A supervisor that was killed leaves its program: it is found by its mark.
                    if let Err(error) = chatos_blocking::run(move || pool::sweep(&token)).await {
                        tracing::error!(%error, "what a killed supervisor left could not be ended");
                    }
                    return Ended::Lost;
                }
            }
        }
    }
}
