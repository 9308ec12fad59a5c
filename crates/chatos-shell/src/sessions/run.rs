//! `session_run`: starting a session and its first output.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chatos_layer::consent::Consent;
use chatos_layer::{Body, CallCx, NeedsInput, Outcome, Tool};
use chatos_tool::{
    Annotations, Confirm, ConflictKind, Issue, Lang, OsOpening, Reason, Resource, Text, ToolError, ToolSpec,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};

use super::capture::SessionName;
use super::client::{self, Client, Status};
use super::holding::Holding;
use super::{Found, MAX_LIVE, Record, Session, State, boot_id};
use crate::check::Finding;
use crate::command;
use crate::listing::here;
use crate::output::{Printed, Stream, clean};
use crate::prompting;
use crate::run::{self as command_run, Prepared, Wanted};
use crate::server::Shop;
use crate::supervisor::ring::Marks;
use crate::wire::{Order, Report, SessionJob};

/// Output that pauses this long is a preview.
const PAUSE: Duration = Duration::from_millis(100);

static SPEC: ToolSpec = ToolSpec {
    name: "session_run",
    title: Text::fixed("Start a session", "启动会话"),
    description: Text::fixed(
        "Starts a command that goes on in the background, on a terminal of its own unless pty is false, and returns its \
         first output. For servers, watchers, REPLs and programs that ask questions. A session of this name with the same \
         command and cwd that still runs is returned as noop; with another command it is a conflict. Checked, confined and \
         confirmed like run_shell_command. At most 16 run at once. Sessions end with the server. Continue with \
         session_capture_output, session_send_input, session_send_signal, session_kill.",
        "在后台启动一个持续运行的命令（除非 pty 为 false，否则有独立终端），并返回其最初的输出。用于服务、监视程序、REPL \
         和会提问的程序。同名、同命令、同目录且仍在运行的会话以 noop 返回；命令不同则为 conflict。检查、限制和确认与 \
         run_shell_command 相同。最多同时 16 个。会话随服务结束。之后可用 session_capture_output、session_send_input、\
         session_send_signal、session_kill。",
    ),
    annotations: Annotations::of("D O"),
    confirm: Confirm::Shell,
    version: 1,
};

pub(crate) struct SessionRun(pub(crate) Arc<Shop>);

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Args {
    /// The command line
    #[schemars(length(min = 1, max = 32768), extend("x-zh" = "命令行", "x-no-nul" = true))]
    command: String,
    /// A name; made up when absent
    #[serde(default)]
    #[schemars(extend("x-zh" = "名称；省略时自动生成", "x-no-default" = true))]
    session: Option<SessionName>,
    /// Working directory, relative to the root
    #[serde(default = "here")]
    #[schemars(length(min = 1), extend("x-zh" = "工作目录，相对于根目录", "x-max-bytes" = 4096, "x-no-nul" = true))]
    cwd: String,
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
    access: Option<chatos_access::Access>,
    /// A label
    #[serde(default)]
    #[schemars(length(max = 64), extend("x-zh" = "标签", "x-no-nul" = true))]
    window: String,
    /// Lines of output to return
    #[serde(default = "preview_lines")]
    #[schemars(range(min = 10, max = 5000), extend("x-zh" = "返回的输出行数"))]
    preview_lines: u64,
    /// How long to wait for output, in milliseconds; 0 returns none
    #[serde(default = "preview_wait")]
    #[schemars(range(min = 0, max = 5000), extend("x-zh" = "等待输出的时间（毫秒）；0 不返回输出"))]
    preview_wait_ms: u64,
    /// On a terminal of its own; plain pipes when false
    #[serde(default = "yes")]
    #[schemars(extend("x-zh" = "使用独立终端；false 时使用管道"))]
    pty: bool,
    /// Columns of the terminal
    #[serde(default = "cols")]
    #[schemars(range(min = 20, max = 500), extend("x-zh" = "终端列数"))]
    cols: u16,
    /// Rows of the terminal
    #[serde(default = "rows")]
    #[schemars(range(min = 20, max = 500), extend("x-zh" = "终端行数"))]
    rows: u16,
    /// The shell: sh, bash, dash, zsh, fish, pwsh, cmd, or its absolute path; the user's own when absent
    #[serde(default)]
    #[schemars(length(min = 1, max = 256), extend("x-zh" = "shell：sh、bash、dash、zsh、fish、pwsh、cmd 或其绝对路径；省略时为用户的 shell", "x-no-nul" = true, "x-no-default" = true))]
    shell: Option<String>,
}

fn preview_lines() -> u64 {
    120
}

fn preview_wait() -> u64 {
    300
}

fn yes() -> bool {
    true
}

pub(super) fn cols() -> u16 {
    120
}

pub(super) fn rows() -> u16 {
    40
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Data {
    session: Session,
    reused: bool,
    preview: Stream,
    findings: Vec<Finding>,
    #[serde(flatten)]
    consent: Consent,
}

impl Tool for SessionRun {
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
        let shop = &self.0;
        let name = args.session.as_ref().map_or_else(made_up_name, |name| name.0.clone());
        let wait = Duration::from_millis(args.preview_wait_ms);
        if let Some(found) = shop.alive(&name).await? {
            let dir = command::work_dir(cx, &shop.protected, &args.cwd)?;
            same_or_conflict(&found, &args.command, &dir.rel)?;
            let (preview, _) =
                preview(cx, &found, args.preview_lines, Duration::ZERO, wait > Duration::ZERO).await;
            return Ok(Outcome::Noop(body(cx, &found, true, preview, Vec::new(), Consent::default())));
        }
        let wanted = Wanted {
            command: args.command,
            cwd: args.cwd,
            shell: args.shell,
            env: args.env,
            network: args.network,
            access: args.access,
            cpu: None,
            // A name that is made up differs each time; the question has to be the same after a restart.
            note: Some(match &args.session {
                Some(name) => Text::new(
                    format!("it goes on in the background as session {}", name.0),
                    format!("它将作为会话 {} 在后台运行", name.0),
                ),
                None => Text::fixed("it goes on in the background as a session", "它将作为会话在后台运行"),
            }),
        };
        let prepared = shop.prepare(cx, wanted).await.map_err(|(error, _)| error)?;
        let terminal = args.pty.then_some((args.cols, args.rows));
        let (found, prepared) = shop.start_session(cx, &name, &args.window, terminal, prepared).await?;
        let (preview, status) = preview(cx, &found, args.preview_lines, wait, wait > Duration::ZERO).await;
        let found = Found {
            record: status.as_ref().map_or_else(|| found.record.clone(), |status| status.record.clone()),
            ..found
        };
        if let Some(mut needs) = status.as_ref().and_then(|status| waiting(cx, &found, status)) {
            needs.text.push_str(&printed(cx, &preview));
            let data = Data {
                session: found.session(),
                reused: false,
                preview,
                findings: prepared.checked.findings,
                consent: prepared.consent,
            };
            return Ok(Outcome::NeedsInput(needs, Some(data)));
        }
        Ok(Outcome::Ok(body(cx, &found, false, preview, prepared.checked.findings, prepared.consent)))
    }
}

impl Shop {
    /// The session of this name that runs, if one does.
    async fn alive(&self, name: &str) -> Result<Option<Found>, ToolError> {
        Ok(self.all_sessions().await?.into_iter().find(|found| found.running() && found.record.name == name))
    }

    /// Starts a session; from then on it is everybody's.
    pub(super) async fn start_session(
        &self,
        cx: &CallCx,
        name: &str,
        window: &str,
        terminal: Option<(u16, u16)>,
        prepared: Prepared,
    ) -> Result<(Found, Prepared), ToolError> {
        tracing::debug!(approved = ?prepared.approval.request_id(), name, "a session starts");
        if let Some(pass) = &prepared.pass {
            self.passes.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(Arc::clone(pass));
        }
        let base = self.sessions_dir()?;
        let disk = |error: std::io::Error| {
            ToolError::from_os(
                &error,
                OsOpening::Plain,
                &Text::fixed("make the files of a session", "创建会话文件"),
                None,
                &cx.call_id,
            )
        };
        super::private_dir(&base).map_err(disk)?;
        // Two processes that start the same name at once: one of them waits here and then sees the other.
        let lock = lock(&base).await.map_err(disk)?;
        let sessions = self.all_sessions().await?;
        let running: Vec<&Found> = sessions.iter().filter(|found| found.running()).collect();
        if let Some(other) = running.iter().find(|found| found.record.name == name) {
            same_or_conflict(other, &prepared.command, &prepared.dir.rel)?;
            return Ok(((*other).clone(), prepared));
        }
        if running.len() >= MAX_LIVE {
            return Err(ToolError::new(
                Reason::ResourceExhausted {
                    resource: Resource::Sessions,
                    limit: Some(MAX_LIVE as u64),
                    actual: Some(running.len() as u64),
                },
                Text::new(
                    format!("{MAX_LIVE} sessions run already"),
                    format!("已有 {MAX_LIVE} 个会话在运行"),
                ),
            )
            .hint(Text::fixed(
                "end one with session_kill; session_list shows them",
                "请用 session_kill 结束一个；session_list 可列出它们",
            )));
        }
        let id = uuid::Uuid::now_v7().simple().to_string();
        let dir = base.join(&id);
        super::private_dir(&dir).map_err(disk)?;
        let now = chatos_store::now_iso();
        let record = Record {
            id,
            name: name.to_owned(),
            command: prepared.command.clone(),
            cwd: prepared.dir.rel.clone(),
            root: cx.root.as_ref().map(|root| root.path().display().to_string()).unwrap_or_default(),
            window: window.to_owned(),
            pty: terminal.is_some(),
            state: State::Running,
            pid: 0,
            start_time: 0,
            supervisor_pid: 0,
            supervisor_start_time: 0,
            boot_id: boot_id(),
            started_at: now.clone(),
            exited_at: None,
            exit_code: None,
            signal: None,
            level: prepared.terms.level,
            network: prepared.terms.network,
            marks: Marks::default(),
            updated_at: now,
            secret: super::Secret::draw().map_err(disk)?,
        };
        let order = Order::Session(Box::new(SessionJob {
            job: prepared.job.clone(),
            dir: dir.clone(),
            record: record.clone(),
            terminal,
            log_bytes: cx.settings.shell.session_log_bytes,
            keep: cx.settings.shell.keep_sessions,
        }));
        let mut link = self.pool.spawn().map_err(|error| super::input::unreachable(&error))?;
        link.send(&order, &[prepared.dir.handle.as_fd()])
            .await
            .map_err(|error| super::input::unreachable(&error))?;
        let started = link.report().await;
        drop(lock);
        match started {
            Some(Report::Started { .. }) => {}
            Some(Report::Failed { what, message }) => {
                std::fs::remove_dir_all(&dir).ok();
                return Err(command_run::not_started(what, &message));
            }
            _ => {
                std::fs::remove_dir_all(&dir).ok();
                return Err(super::input::unreachable(&std::io::ErrorKind::UnexpectedEof.into()));
            }
        }
        let keep = self.sessions.keep(cx.settings.shell.keep_sessions);
        let holding = Holding { link, dir: dir.clone(), store: self.store.clone() };
        cx.tracker.spawn(holding.hold(keep, cx.shutdown.clone()));
        let record = Record::load(&dir).unwrap_or(record);
        Ok((Found { record, dir }, prepared))
    }
}

/// Held while a name is taken; other processes wait.
async fn lock(base: &std::path::Path) -> std::io::Result<std::fs::File> {
    use std::os::unix::fs::OpenOptionsExt;
    let file = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(base.join(".lock"))?;
    for _ in 0..500 {
        match rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            Err(errno) => return Err(errno.into()),
        }
    }
    Err(std::io::ErrorKind::TimedOut.into())
}

fn same_or_conflict(found: &Found, command: &str, cwd: &str) -> Result<(), ToolError> {
    let record = &found.record;
    if record.command == command && record.cwd == cwd {
        return Ok(());
    }
    Err(ToolError::new(
        Reason::Conflict {
            kind: ConflictKind::Exists,
            expected: Some(json!({ "command": command, "cwd": cwd })),
            found: Some(json!({ "command": record.command, "cwd": record.cwd })),
            path: None,
        },
        Text::new(
            format!("the session `{}` runs another command: {}", record.name, record.command),
            format!("会话 `{}` 正在运行另一个命令：{}", record.name, record.command),
        ),
    )
    .hint(Text::fixed(
        "choose another name, or end it with session_kill",
        "请换一个名称，或用 session_kill 结束它",
    )))
}

/// `sess_<base36 time>_<4 hex>`.
pub(super) fn made_up_name() -> String {
    let millis =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |time| time.as_millis());
    let mut number = u64::try_from(millis).unwrap_or(0);
    let mut digits = Vec::new();
    while number > 0 {
        digits.push(char::from_digit((number % 36) as u32, 36).unwrap_or('0'));
        number /= 36;
    }
    let time: String = digits.iter().rev().collect();
    let random = uuid::Uuid::new_v4().simple().to_string();
    format!("sess_{time}_{}", &random[..4])
}

/// The first output: waits until it pauses, the program ends, or time is up.
async fn preview(
    cx: &CallCx,
    found: &Found,
    lines: u64,
    wait: Duration,
    wanted: bool,
) -> (Stream, Option<Status>) {
    let empty = Printed::default().stream(0, cx.lang);
    let until = Instant::now() + wait;
    let mut status = None;
    if let Ok(mut client) = Client::connect(found).await {
        status = client.status().await.ok();
        while let Some(now) = &status {
            let left = until.saturating_duration_since(Instant::now());
            let total = now.record.marks.total;
            if left.is_zero() || now.record.state != State::Running || cx.is_stopped() {
                break;
            }
            // Something is there: wait only for what follows at once.
            let pause = if total > 0 { PAUSE.min(left) } else { left };
            let asks = prompting::question(now.tail.as_bytes()).is_some() && now.reading;
            let pause = if asks { left } else { pause };
            match tokio::time::timeout(pause, client.watch(total)).await {
                Ok(Ok(next)) => status = Some(next),
                Ok(Err(_)) => break,
                Err(_) => {
                    // The connection waits for an answer that nobody will read; a new one asks again.
                    let Ok(mut fresh) = Client::connect(found).await else { break };
                    status = fresh.status().await.ok();
                    break;
                }
            }
        }
    }
    if !wanted {
        return (empty, status);
    }
    let max = (cx.settings.text.result_chars / 2).max(500);
    match client::lines(found, None, lines, max).await {
        Ok((got, record)) => {
            let text = cx.redactor().known(&clean(&got.bytes)).into_owned();
            let omitted = record.marks.total.saturating_sub(got.bytes.len() as u64);
            let stream = Printed::of(text, omitted, got.from.saturating_sub(1)).stream(max + 200, cx.lang);
            (stream, status)
        }
        Err(_) => (empty, status),
    }
}

/// What the session waits for, if it seems to (servers §3.6).
pub(super) fn waiting(cx: &CallCx, found: &Found, status: &Status) -> Option<NeedsInput> {
    if status.record.state != State::Running || !status.reading || status.silent < prompting::SILENCE {
        return None;
    }
    let (kind, line) = prompting::question(status.tail.as_bytes())?;
    let name = &found.record.name;
    let line = cx.redactor().known(&line).into_owned();
    let mut fields = Map::new();
    fields.insert("prompt_kind".to_owned(), json!(kind));
    fields.insert("prompt_line".to_owned(), json!(line));
    fields.insert("session".to_owned(), json!(name));
    let text = Text::new(
        format!(
            "The program seems to wait for input ({kind}): {line}\nSession: {name}. Answer with session_send_input {{\"session\":\"{name}\",\"data\":…,\"enter\":true}}, or read on with session_capture_output."
        ),
        format!(
            "程序似乎在等待输入（{kind}）：{line}\n会话：{name}。请用 session_send_input {{\"session\":\"{name}\",\"data\":…,\"enter\":true}} 回答，或用 session_capture_output 继续读取。"
        ),
    );
    Some(NeedsInput {
        kind: "stdin",
        fields,
        tool: "session_send_input",
        arguments: json!({ "session": name, "enter": true }),
        text: text.get(cx.lang).to_owned(),
    })
}

/// What it has printed, as the last part of a text.
fn printed(cx: &CallCx, preview: &Stream) -> String {
    match (preview.text.trim_end(), cx.lang) {
        ("", Lang::En) => "\nOutput: <empty>".to_owned(),
        ("", Lang::Zh) => "\n输出：<empty>".to_owned(),
        (shown, Lang::En) => format!("\nOutput:\n{shown}"),
        (shown, Lang::Zh) => format!("\n输出：\n{shown}"),
    }
}

fn body(
    cx: &CallCx,
    found: &Found,
    reused: bool,
    preview: Stream,
    findings: Vec<Finding>,
    consent: Consent,
) -> Body<Data> {
    let session = found.session();
    let pick = |en: &str, zh: &str| if cx.lang == Lang::En { en.to_owned() } else { zh.to_owned() };
    let record = &found.record;
    let state = match (record.state, record.exit_code, &record.signal) {
        (State::Exited, Some(code), _) => format!("exited, exit code: {code}"),
        (State::Exited, None, Some(signal)) => format!("exited, signal: {signal}"),
        (State::Running, ..) => "running".to_owned(),
        _ => "lost".to_owned(),
    };
    let mut text = format!(
        "Session: {} | {state} | pid: {} | cwd: {} | sandbox: {}{}",
        record.name,
        record.pid,
        record.cwd,
        record.level.as_str(),
        if reused { pick(" | already running", " | 已在运行") } else { String::new() }
    );
    text.push_str(&printed(cx, &preview));
    let warnings: Vec<String> = findings
        .iter()
        .filter(|finding| finding.level >= crate::check::Grade::Warn)
        .map(|finding| format!("\n- {} – {}", finding.id, finding.message))
        .collect();
    if !warnings.is_empty() {
        text.push_str(&format!("\n\n{}{}", pick("[Warnings]", "[警告]"), warnings.concat()));
    }
    text.push_str(&consent.line(cx.lang));
    Body::content(Data { session, reused, preview, findings, consent }, text)
}
