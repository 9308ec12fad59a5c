//! `run_shell_command`: run, wait, return what was printed.

mod follow;
mod more;
mod report;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use chatos_access::{Access, Granted, Pass, Proxy};
use chatos_files::stop::Never;
use chatos_layer::consent::{self, Consent, Matter};
use chatos_layer::{CallCx, ChangeContext, Outcome, SafetyMode, Tool};
use chatos_prompts::{Approval, effect};
use chatos_tool::{Annotations, Confirm, Issue, Needed, Reason, Text, ToolError, ToolSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::changes::{self, Changed};
use super::check::{self, Checked, Estimate, Finding, Grade, Surroundings};
use super::command::{self, Shell, WorkDir};
use super::denied::{self, Denial};
use super::gate::{self, Policy, Request, Terms};
use super::listing::here;
use super::output::Stream;
use super::prompting::InputHint;
use super::sandbox::{self, Level, Places, Toolchains};
use super::sessions;
use super::wire::{Failure, Job};
use crate::server::Shop;
use follow::Followed;
pub(super) use follow::GRACE_MS;
pub(super) use more::SSH_REMOTE;
pub(super) use report::on_terminal;

static SPEC: ToolSpec = ToolSpec {
    name: "run_shell_command",
    title: Text::fixed("Run a command", "运行命令"),
    description: Text::fixed(
        "Runs a command in a shell inside the root and waits for it. Standard input is empty. Output keeps its start \
         and end; exit code, signal and elapsed time are always there, and a non-zero exit code is ok. At the time limit \
         the command and everything it started is ended: timeout, with what was printed. For servers, watchers and \
         programs that ask questions use session_run (or interactive). Commands run in a sandbox: they write only in the root, \
         read toolchains of the home directory but none of its other files, and have no network unless settings or the \
         person open it. What the sandbox refused is named in the warnings (sandbox_denied); the command is not at fault \
         then, and access asks the person for more: paths, machines, or once outside. Refusals: denied/shell_blocked lists why; canceled means the person said no and \
         nothing ran.",
        "在根目录内用 shell 运行命令并等待结束。标准输入为空。输出保留首尾；始终给出退出码、信号和耗时，非零退出码仍为 ok。\
         到达时间限制时，命令及其启动的一切都会被结束：timeout，并附上已有输出。服务、监视程序和会提问的程序请用 \
         session_run（或 interactive）。命令在沙箱中运行：只能写入根目录，可读取主目录中的工具链但不能读取其中其他文件，没有网络，\
         除非由设置或用户开放。沙箱拒绝了什么会在警告中注明（sandbox_denied），此时命令本身没有错；可用 access 向用户请求更多：路径、主机，或在沙箱外运行一次。拒绝时：denied/shell_blocked 会列出原因；canceled 表示用户拒绝且没有运行。",
    ),
    annotations: Annotations::of("D O"),
    confirm: Confirm::Shell,
    version: 1,
};

pub(super) struct RunShellCommand(pub(super) Arc<Shop>);

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Args {
    /// The command line
    #[schemars(length(min = 1, max = 32768), extend("x-zh" = "命令行", "x-no-nul" = true))]
    command: String,
    /// Working directory, relative to the root
    #[serde(default = "here")]
    #[schemars(length(min = 1), extend("x-zh" = "工作目录，相对于根目录", "x-max-bytes" = 4096, "x-no-nul" = true))]
    cwd: String,
    /// Time limit in milliseconds; the setting shellTimeoutMs when absent
    #[serde(default)]
    #[schemars(range(min = 1000, max = 900_000), extend("x-zh" = "时间限制（毫秒）；省略时为设置 shellTimeoutMs", "x-no-default" = true))]
    timeout_ms: Option<u64>,
    /// The shell: sh, bash, dash, zsh, fish, pwsh, cmd, or its absolute path; the user's own when absent
    #[serde(default)]
    #[schemars(length(min = 1, max = 256), extend("x-zh" = "shell：sh、bash、dash、zsh、fish、pwsh、cmd 或其绝对路径；省略时为用户的 shell", "x-no-nul" = true, "x-no-default" = true))]
    shell: Option<String>,
    /// Further environment variables, at most 64; secret:<requestId>/<key> stands for a secret the person entered
    #[serde(default)]
    #[schemars(extend("x-zh" = "额外的环境变量，最多 64 个；secret:<requestId>/<key> 表示用户输入的密钥"))]
    env: command::Variables,
    /// Needs the network; in strict mode a person is asked
    #[serde(default)]
    #[schemars(extend("x-zh" = "需要网络；严格模式下会询问用户"))]
    network: bool,
    /// More than the sandbox gives; a person is asked
    #[serde(default)]
    #[schemars(extend("x-zh" = "超出沙箱的权限；会询问用户", "x-no-default" = true))]
    access: Option<Access>,
    /// Runs on a terminal and becomes a session when it waits for input
    #[serde(default)]
    #[schemars(extend("x-zh" = "在终端中运行，等待输入时转为会话"))]
    interactive: bool,
}

/// The boundary a command ran in.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Ran {
    /// full, fs or none
    level: Level,
    /// The network was open
    network: bool,
    /// Machines it could reach
    #[serde(skip_serializing_if = "Option::is_none")]
    hosts: Option<Vec<String>>,
    /// What it was refused
    #[serde(skip_serializing_if = "Option::is_none")]
    denied: Option<Vec<Denial>>,
    /// The project to whose commands what lifts it is opened
    #[serde(skip_serializing_if = "Option::is_none")]
    root: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Data {
    command: String,
    cwd: String,
    shell: String,
    mode: SafetyMode,
    sandbox: Ran,
    exit_code: Option<i32>,
    signal: Option<String>,
    timed_out: bool,
    elapsed_ms: u64,
    stdout: Stream,
    stderr: Stream,
    findings: Vec<Finding>,
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate: Option<Estimate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_hint: Option<InputHint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changed_files: Option<Vec<Changed>>,
    #[serde(flatten)]
    consent: Consent,
}

/// A command that may run.
pub(super) struct Prepared {
    pub(super) command: String,
    pub(super) dir: WorkDir,
    pub(super) shell: Shell,
    pub(super) checked: Checked,
    pub(super) terms: Terms,
    pub(super) consent: Consent,
    pub(super) job: Job,
    /// Marks every process of it.
    pub(super) token: String,
    /// It may run, once.
    pub(super) approval: Approval,
    /// What is open to it besides.
    pub(super) granted: Granted,
    /// A person let it run without a boundary.
    pub(super) outside: bool,
    /// Lets it through to the machines it may reach.
    pub(super) pass: Option<Arc<Pass>>,
}

/// A command and its surroundings at one moment.
struct Looked {
    shell: Shell,
    dir: WorkDir,
    terms: Terms,
    checked: Checked,
    granted: Granted,
    lacks: more::Lacks,
}

impl Looked {
    fn denied(&self) -> Denied {
        Denied {
            cwd: self.dir.rel.clone(),
            shell: self.shell.path.clone(),
            terms: self.terms,
            findings: self.checked.findings.clone(),
        }
    }
}

/// What a call says about the command it wants.
#[derive(Clone)]
pub(super) struct Wanted {
    pub(super) command: String,
    pub(super) cwd: String,
    pub(super) shell: Option<String>,
    pub(super) env: command::Variables,
    pub(super) network: bool,
    pub(super) access: Option<Access>,
    pub(super) cpu: Option<Duration>,
    pub(super) note: Option<Text>,
}

impl Shop {
    /// Looks, decides, asks; afterwards the command may be started as it is.
    pub(super) async fn prepare(
        &self,
        cx: &CallCx,
        mut wanted: Wanted,
    ) -> Result<Prepared, (ToolError, Option<Box<Denied>>)> {
        let plain = |error: ToolError| (error, None);
        command::refuse_variables(&wanted.env).map_err(plain)?;
        let denied = Mutex::new(None);
        // Looked at again after an answer: the directory, the shell, the boundary as they are then.
        let look = |edited: Option<String>| {
            let wanted = match edited {
                Some(command) => &Wanted { command, ..wanted.clone() },
                None => &wanted,
            };
            let looked = self.look_around(cx, wanted).and_then(|looked| {
                let known = Some(Box::new(looked.denied()));
                *denied.lock().unwrap_or_else(PoisonError::into_inner) = known;
                Ok((self.matter(cx, wanted, &looked)?, looked))
            });
            std::future::ready(looked)
        };
        let first = self.look_around(cx, &wanted).map_err(plain)?;
        let (agreed, chosen) = if first.lacks.is_empty() {
            (consent::agree_or_edit(cx, look).await, None)
        } else {
            let asked = consent::choose(cx, || {
                let looked = self.look_around(cx, &wanted);
                std::future::ready(
                    looked.and_then(|looked| Ok((self.access_matter(cx, &wanted, &looked)?, looked))),
                )
            });
            match asked.await {
                Ok((consent, approval, chosen, looked)) => {
                    let chosen = match chosen.as_str() {
                        "outside" => more::Chosen::Outside,
                        "project" => more::Chosen::Project,
                        _ => more::Chosen::Once,
                    };
                    (Ok((consent, approval, looked)), Some(chosen))
                }
                Err(error) => (Err(error), None),
            }
        };
        let known = denied.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (consent, approval, mut looked) = agreed.map_err(|error| (error, known))?;
        let outside = chosen == Some(more::Chosen::Outside);
        if outside {
            looked.terms = Terms { kernel: None, level: Level::None, network: true };
        } else if let Some(chosen) = chosen {
            let request = consent.request_id.as_deref();
            self.open(cx, chosen, request, &looked.lacks, &mut looked.granted);
        }
        if let Some(edited) = &consent.edited {
            wanted.command.clone_from(edited);
        }
        let Looked { mut shell, dir, terms, mut checked, granted, .. } = looked;
        if consent.run_as.is_some() {
            // Nothing of its grammar is used that shells read in different ways.
            shell = command::shell(Some("sh"), &self.variables).map_err(plain)?;
        }
        let mut env = BTreeMap::new();
        for (name, value) in wanted.env {
            env.insert(name, self.secrets.resolve(cx, &value.0).await.map_err(plain)?);
        }
        let temp = self.temp();
        let token = uuid::Uuid::new_v4().simple().to_string();
        let toolchains = self.given(cx, &wanted.command, terms, &granted, &mut checked.findings);
        let given = toolchains.as_ref().map(|toolchains| &toolchains.env);
        let pass = self.pass(cx, terms, &granted).await.map_err(plain)?;
        let mut proxied = pass.as_ref().map(|pass| pass.environment()).unwrap_or_default();
        proxied.retain(|(name, _)| !env.contains_key(name));
        let mut env = command::environment(&self.variables, &temp, &token, given, env);
        env.extend(proxied);
        let mut boundary = self.boundary(cx, terms, &temp, toolchains.as_deref(), &granted);
        if let (Some(boundary), Some(pass)) = (&mut boundary, &pass) {
            boundary.proxy = Some(pass.port());
        }
        let job = Job {
            // What a rule was matched against is what runs.
            argv: shell.argv(consent.run_as.as_deref().unwrap_or(&wanted.command)),
            env: env.into_iter().collect(),
            temp,
            // A process with several threads uses several seconds in one.
            cpu_seconds: wanted.cpu.map(|cpu| (cpu.as_secs() + 1) * cores()),
            memory_bytes: None,
            boundary,
        };
        let command = wanted.command;
        Ok(Prepared {
            command,
            dir,
            shell,
            checked,
            terms,
            consent,
            job,
            token,
            approval,
            granted,
            outside,
            pass,
        })
    }

    fn look_around(&self, cx: &CallCx, wanted: &Wanted) -> Result<Looked, ToolError> {
        let shell = command::shell(wanted.shell.as_deref(), &self.variables)?;
        let dir = command::work_dir(cx, &self.protected, &wanted.cwd)?;
        let terms = gate::terms(&cx.settings.shell, || self.kernel(), wanted.network)?;
        let checked = self.look(cx, &wanted.command, &dir, terms);
        let granted = self.granted(cx);
        let lacks = self.lacks(cx, wanted, &dir.path, terms, &granted)?;
        Ok(Looked { shell, dir, terms, checked, granted, lacks })
    }

    /// What lets a command through to the machines it may reach, where it may not reach all.
    async fn pass(
        &self,
        cx: &CallCx,
        terms: Terms,
        granted: &Granted,
    ) -> Result<Option<Arc<Pass>>, ToolError> {
        let held = terms.kernel.is_some_and(sandbox::Kernel::holds_hosts) && !terms.network;
        if granted.hosts.is_empty() || !held {
            return Ok(None);
        }
        let proxy =
            self.proxy.get_or_try_init(|| Proxy::start(cx.tracker.clone(), cx.shutdown.clone())).await;
        let pass = proxy.and_then(|proxy| proxy.admit(granted.hosts.clone()));
        pass.map(|pass| Some(Arc::new(pass)))
            .map_err(|error| not_started(Failure::Surroundings, &error.to_string()))
    }

    fn request<'a>(wanted: &'a Wanted, looked: &'a Looked, names: &'a [&'a str]) -> Request<'a> {
        Request {
            checked: &looked.checked,
            network: wanted.network,
            variables: names,
            shell: wanted.shell.is_some().then_some(looked.shell.path.as_str()),
            note: wanted.note.as_ref(),
        }
    }

    /// What a person is asked about a command; nothing where nobody has to be.
    fn matter(&self, cx: &CallCx, wanted: &Wanted, looked: &Looked) -> Result<Option<Matter>, ToolError> {
        let names: Vec<&str> = wanted.env.keys().map(String::as_str).collect();
        let request = Self::request(wanted, looked, &names);
        let Some(message) = gate::question(Policy::of(cx), request, looked.terms)? else { return Ok(None) };
        let facts = self.facts(cx, wanted, looked, &names);
        Ok(Some(Matter::command(cx, &wanted.command, &looked.dir.rel, message, facts)))
    }

    /// Everything that decides what a command does.
    fn facts(&self, cx: &CallCx, wanted: &Wanted, looked: &Looked, names: &[&str]) -> serde_json::Value {
        let Looked { shell, dir, terms, checked, granted, .. } = looked;
        let given: BTreeMap<&str, &str> =
            wanted.env.iter().map(|(name, value)| (name.as_str(), value.0.as_str())).collect();
        // Each command gets a directory for temporary files of its own; the rest is the policy.
        let toolchains = self.toolchains(cx, *terms, granted);
        let policy =
            self.boundary(cx, *terms, Path::new("/tmp/chatos-shell"), toolchains.as_deref(), granted);
        json!({
            "text": wanted.command,
            "cwd": effect::directory(&dir.path),
            "shell": shell.path,
            "env": names,
            "envDigest": effect::digest_of(&json!({ "given": given, "own": &self.variables })),
            "path": command::search_path(&self.variables),
            "writable": policy.as_ref().map(|policy| &policy.write),
            "network": terms.network,
            "hosts": granted.hosts.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "findings": checked.serious(),
            "sandbox": { "level": terms.level.as_str(), "policyDigest": effect::digest_of(&json!(policy)) },
        })
    }

    fn boundary(
        &self,
        cx: &CallCx,
        terms: Terms,
        temp: &Path,
        toolchains: Option<&Toolchains>,
        granted: &Granted,
    ) -> Option<sandbox::Boundary> {
        let root = cx.root.as_ref().map(|root| root.path().to_owned()).unwrap_or_default();
        terms.kernel.map(|kernel| {
            // What the server was given decides about paths, not what the call puts into `env`.
            let places = Places {
                root: &root,
                temp,
                variables: &self.variables,
                protected: &self.protected,
                programs: &self.programs,
            };
            sandbox::boundary(&Self::settings(cx, granted), kernel, places, terms.network, toolchains)
        })
    }

    /// The toolchains of the home, where something confines the command.
    fn toolchains(&self, cx: &CallCx, terms: Terms, granted: &Granted) -> Option<Arc<Toolchains>> {
        let root = cx.root.as_ref()?;
        let confined = terms.level > Level::None;
        let programs = &self.programs;
        let settings = Self::settings(cx, granted);
        confined.then(|| programs.toolchains(&settings, &self.variables, root.path())).flatten()
    }

    /// The same, ready to be used; what a person or a model should know of it is among the findings.
    fn given(
        &self,
        cx: &CallCx,
        command: &str,
        terms: Terms,
        granted: &Granted,
        findings: &mut Vec<Finding>,
    ) -> Option<Arc<Toolchains>> {
        let mut tell = |id, level, message: Text| {
            let message = message.get(cx.lang).to_owned();
            findings.push(Finding { id, level, message, said: None, text: None, denied: None });
        };
        let root = cx.root.as_ref().map(|root| root.path().to_owned()).unwrap_or_default();
        let mut toolchains = self.toolchains(cx, terms, granted);
        let downloads = terms.network || !granted.hosts.is_empty();
        if let Some(found) = &toolchains
            && let Err(error) = found.prepare(downloads)
        {
            tracing::warn!(%error, "the private cache of a project cannot be made");
            tell(
                "cache_unavailable",
                Grade::Warn,
                Text::new(
                    format!(
                        "the private cache of this project cannot be made ({error}); package managers may fail"
                    ),
                    format!("无法创建此项目的私有缓存（{error}）；包管理器可能失败"),
                ),
            );
            toolchains = Some(Arc::new(found.without_cache()));
        }
        if let Some(found) = toolchains.as_deref() {
            if !found.filtered.is_empty() {
                let names: Vec<String> =
                    found.filtered.iter().map(|path| path.display().to_string()).collect();
                let names = names.join(", ");
                tell(
                    "config_filtered",
                    Grade::Info,
                    Text::new(
                        format!("these files hold secrets, so the command sees copies without them: {names}"),
                        format!("这些文件含有密钥，命令看到的是去除密钥的副本：{names}"),
                    ),
                );
            }
            if found.signs && check::makes_signable(command) {
                tell(
                    "unsigned_commit",
                    Grade::Warn,
                    Text::fixed(
                        "what is made here is not signed: keys stay outside the sandbox; a person signs it with `git commit --amend -S --no-edit`",
                        "此处创建的提交没有签名：密钥不进入沙箱；用户可用 `git commit --amend -S --no-edit` 签名",
                    ),
                );
            }
        }
        let asks = cx.ask || cx.settings.shell.confirm == chatos_layer::ConfirmUse::Always;
        let cache = toolchains.as_ref().and_then(|found| found.cache.clone());
        if terms.level == Level::Full && !asks && self.greeted.is_first(&root, cache.as_deref()) {
            let folder = root.display();
            tell(
                "first_use",
                Grade::Info,
                if terms.network {
                    Text::new(
                        format!("Commands run in a sandbox without asking: they write only in {folder}."),
                        format!("命令在沙箱中运行，不再逐个询问：只能写入 {folder}。"),
                    )
                } else {
                    Text::new(
                        format!(
                            "Commands run in a sandbox without asking: they write only in {folder}, no network."
                        ),
                        format!("命令在沙箱中运行，不再逐个询问：只能写入 {folder}，没有网络。"),
                    )
                },
            );
        }
        toolchains
    }

    /// The look at a command before it runs.
    pub(super) fn look(&self, cx: &CallCx, text: &str, dir: &WorkDir, terms: Terms) -> Checked {
        let root = cx.root.as_ref().map(|root| root.path().to_owned()).unwrap_or_default();
        let home = self.variables.get("HOME").map(std::path::PathBuf::from);
        let place = Surroundings {
            root: &root,
            cwd: &dir.path,
            home: home.as_deref(),
            level: terms.level,
            network: terms.network,
            lang: cx.lang,
        };
        check::check(text, place)
    }
}

/// How many cores there are. Asked once: the answer is in half a dozen files.
fn cores() -> u64 {
    static CORES: OnceLock<u64> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64))
}

/// What is known of a command that was not run.
pub(super) struct Denied {
    cwd: String,
    shell: String,
    terms: Terms,
    findings: Vec<Finding>,
}

/// Why a command did not start.
pub(super) fn not_started(what: Failure, message: &str) -> ToolError {
    match what {
        Failure::Boundary => ToolError::unavailable(
            Needed::Process,
            Text::new(format!("the sandbox cannot be set up: {message}"), format!("无法建立沙箱：{message}")),
        )
        .hint(Text::fixed(
            "nothing was run; a person can look with `chatos doctor`",
            "没有运行任何内容；用户可用 `chatos doctor` 检查",
        )),
        Failure::Program | Failure::Surroundings => ToolError::unavailable(
            Needed::Process,
            Text::new(
                format!("the command cannot be started: {message}"),
                format!("无法启动命令：{message}"),
            ),
        ),
    }
}

impl Tool for RunShellCommand {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    fn check(&self, args: &Args) -> Vec<Issue> {
        let mut issues = command::check(&args.command, &args.env);
        issues.extend(args.access.iter().flat_map(|access| access.issues("/access")));
        issues
    }

    async fn call(&self, args: Args, cx: &CallCx) -> Result<Outcome<Data>, ToolError> {
        let timeout = args.timeout_ms.map_or(cx.settings.shell.timeout, Duration::from_millis);
        let wanted = Wanted {
            command: args.command.clone(),
            cwd: args.cwd,
            shell: args.shell,
            env: args.env,
            network: args.network,
            access: args.access,
            cpu: Some(timeout),
            note: None,
        };
        let prepared = match self.0.prepare(cx, wanted).await {
            Ok(prepared) => prepared,
            Err((error, denied)) => {
                let is_blocked = matches!(&error.reason, Reason::PermissionDenied { .. });
                return Err(match denied {
                    Some(denied) if is_blocked && error.data.is_none() => {
                        error.data(report::denied(cx, &args.command, *denied))
                    }
                    _ => error,
                });
            }
        };
        if args.interactive {
            return sessions::interactive::interactive(&self.0, cx, prepared, timeout).await;
        }
        let before = self.before(cx, &prepared).await;
        let later = more::before(&self.0, cx, &prepared).await;
        let mut prepared = prepared;
        let mut followed = follow::follow(&self.0, cx, &prepared, timeout).await?;
        let reached = more::unreached(cx, &prepared);
        let refused = self.refused(cx, &prepared, &followed);
        // What the proxy refused is certain; what was printed about it says nothing new.
        let known = |finding: &Finding| reached.iter().any(|one| finding.is_about(one));
        followed.findings.extend(refused.into_iter().filter(|finding| !known(finding)));
        followed.findings.extend(reached);
        if let Some(later) = later {
            more::after(&self.0, cx, &mut prepared, later).await;
        }
        let changed = match before {
            Some(before) => self.after(cx, before, &mut prepared.checked.findings).await,
            None => None,
        };
        Ok(report::outcome(cx, prepared, followed, changed))
    }
}

impl RunShellCommand {
    /// What the boundary refused it, as far as it said so.
    fn refused(&self, cx: &CallCx, prepared: &Prepared, followed: &Followed) -> Vec<Finding> {
        let Some(boundary) = &prepared.job.boundary else { return Vec::new() };
        if followed.level == Level::None {
            return Vec::new();
        }
        let home = sandbox::home_of(&self.0.variables);
        denied::find(&denied::Ended {
            exit_code: followed.exit_code,
            stdout: followed.stdout.end(),
            stderr: followed.stderr.end(),
            cwd: &prepared.dir.path,
            home: home.as_deref(),
            boundary,
            hosts: &prepared.granted.hosts,
            lang: cx.lang,
        })
    }

    async fn before(&self, cx: &CallCx, prepared: &Prepared) -> Option<changes::Before> {
        if !prepared.checked.may_write {
            return None;
        }
        let root = command::open_root(cx, &self.0.protected).ok()?;
        let named = prepared.checked.named.clone();
        let task = chatos_blocking::run(move || changes::before(&root, &named, &Never));
        cx.unless_stopped(task).await.ok()?.ok()?
    }

    /// Finds and remembers what changed; a change that cannot be remembered is said (servers §2.7).
    async fn after(
        &self,
        cx: &CallCx,
        before: changes::Before,
        findings: &mut Vec<Finding>,
    ) -> Option<Vec<Changed>> {
        let root = command::open_root(cx, &self.0.protected).ok()?;
        let context = ChangeContext {
            run_id: cx.trace.run_id.clone().unwrap_or_default(),
            session_id: cx.trace.session_id.clone().unwrap_or_default(),
            user_message_id: cx.user_message_id.clone().unwrap_or_default(),
            server: cx.server,
            tool: cx.tool,
            root: root.path().display().to_string(),
        };
        let store = self.0.changes.clone();
        let task = chatos_blocking::run(move || {
            let mut after = changes::after(&root, &before, &Never);
            let mut lost = 0;
            for change in std::mem::take(&mut after.records) {
                let stored = match &store {
                    Some(store) => store.record(&context, change),
                    None => Err("no store".to_owned()),
                };
                lost += usize::from(stored.is_err());
            }
            (after, lost)
        });
        let (after, lost) = task.await.ok()?;
        if lost > 0 {
            let message = Text::new(
                format!("{lost} changed files could not be recorded for undo"),
                format!("{lost} 个文件更改未能记录，无法撤销"),
            );
            let message = message.get(cx.lang).to_owned();
            findings.push(Finding {
                id: "change_not_recorded",
                level: Grade::Warn,
                message,
                said: None,
                text: None,
                denied: None,
            });
        }
        if after.total > after.changed.len() {
            let more = after.total - after.changed.len();
            let message = Text::new(
                format!("{more} more files changed than are listed"),
                format!("另有 {more} 个更改的文件未列出"),
            );
            let message = message.get(cx.lang).to_owned();
            findings.push(Finding {
                id: "more_changes",
                level: Grade::Info,
                message,
                said: None,
                text: None,
                denied: None,
            });
        }
        Some(after.changed)
    }
}
