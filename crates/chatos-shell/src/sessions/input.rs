//! `session_send_input` and `session_send_signal`.

use std::io;
use std::sync::Arc;

use chatos_layer::consent::{self, Consent, Matter};
use chatos_layer::{Body, CallCx, Outcome, Tool};
use chatos_prompts::Approval;
use chatos_tool::{Annotations, Confirm, ConflictKind, Needed, Reason, Resource, Text, ToolError, ToolSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::capture::SessionName;
use super::client::Client;
use super::{Answer, Ask, Found, signals};
use crate::check::{self, Surroundings};
use crate::gate::{self, Policy, Request, Terms};
use crate::server::Shop;

static INPUT: ToolSpec = ToolSpec {
    name: "session_send_input",
    title: Text::fixed("Type into a session", "向会话输入"),
    description: Text::fixed(
        "Writes data to a session's input exactly as given; enter adds a line end. Input for a shell or interpreter is \
         checked like a command and a person may be asked first. data secret:<requestId>/<key> types a secret the person \
         entered. An ended session is a conflict; a program that does not read is resource_exhausted. Read the answer \
         with session_capture_output.",
        "按原样写入会话的输入；enter 会追加换行。发往 shell 或解释器的输入会像命令一样检查，并可能先请用户确认。\
         data 为 secret:<requestId>/<key> 时输入用户提供的密钥。已结束的会话为 conflict；程序不读取输入时为 \
         resource_exhausted。用 session_capture_output 读取结果。",
    ),
    annotations: Annotations::of("D O"),
    confirm: Confirm::Shell,
    version: 1,
};

pub(crate) struct SessionSendInput(pub(crate) Arc<Shop>);

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct InputArgs {
    /// The session's name
    #[schemars(extend("x-zh" = "会话名称"))]
    session: SessionName,
    /// What to type
    #[serde(default)]
    #[schemars(extend("x-zh" = "要输入的内容", "x-max-bytes" = 65_536))]
    data: String,
    /// Add a line end
    #[serde(default)]
    #[schemars(extend("x-zh" = "追加换行"))]
    enter: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct InputData {
    session: String,
    bytes: u64,
    #[serde(flatten)]
    consent: Consent,
}

impl Tool for SessionSendInput {
    type Args = InputArgs;
    type Data = InputData;

    fn spec(&self) -> &'static ToolSpec {
        &INPUT
    }

    /// What is typed may be a password.
    fn private(&self, _: &Value) -> Vec<String> {
        vec!["/data".to_owned()]
    }

    async fn call(&self, args: InputArgs, cx: &CallCx) -> Result<Outcome<InputData>, ToolError> {
        let look = || async {
            let found = self.0.session(&args.session.0).await?;
            if !found.running() {
                return Err(ended(&found));
            }
            Ok((self.matter(cx, &found, &args.data, args.enter)?, found))
        };
        let (consent, approval, found) = consent::agree(cx, look).await?;
        let mut data = self.0.secrets.resolve(cx, &args.data).await?;
        if args.enter {
            data.push(if found.record.pty { '\r' } else { '\n' });
        }
        let bytes = data.len() as u64;
        match self.0.type_in(cx, &found, data, approval).await? {
            Answer::Taken { .. } => {}
            Answer::Full { limit } => {
                return Err(ToolError::new(
                    Reason::ResourceExhausted {
                        resource: Resource::Output,
                        limit: Some(limit),
                        actual: None,
                    },
                    Text::fixed("the program does not read its input", "程序没有读取输入"),
                )
                .hint(Text::fixed(
                    "look at what it does with session_capture_output",
                    "请用 session_capture_output 查看它在做什么",
                )));
            }
            _ => return Err(ended(&found)),
        }
        let name = found.record.name.clone();
        let text =
            Text::new(format!("Sent {bytes} bytes to {name}."), format!("已向 {name} 发送 {bytes} 字节。"));
        let text = format!("{}{}", text.get(cx.lang), consent.line(cx.lang));
        Ok(Outcome::Ok(Body::new(InputData { session: name, bytes, consent }, text)))
    }
}

impl SessionSendInput {
    /// What is typed into a shell is a command (servers §3.3).
    fn matter(
        &self,
        cx: &CallCx,
        found: &Found,
        data: &str,
        enter: bool,
    ) -> Result<Option<Matter>, ToolError> {
        let record = &found.record;
        let is_secret = data.starts_with("secret:");
        let plain = data.trim().is_empty() || is_secret || !check::takes_commands(&record.command);
        if plain && !cx.ask {
            return Ok(None);
        }
        let shown = if is_secret { "******" } else { data };
        let checked = if plain {
            check::Checked { read_only: true, ..check::Checked::default() }
        } else {
            let root = std::path::PathBuf::from(&record.root);
            let cwd = root.join(&record.cwd);
            let home = self.0.variables.get("HOME").map(std::path::PathBuf::from);
            let place = Surroundings {
                root: &root,
                cwd: &cwd,
                home: home.as_deref(),
                level: record.level,
                network: record.network,
                lang: cx.lang,
            };
            check::check(data, place)
        };
        let note = note(found);
        let Some(message) = gate::question(Policy::of(cx), request(&checked, &note), terms(found))? else {
            return Ok(None);
        };
        // Which session it is, not what it is called.
        let facts = json!({
            "text": data, "enter": enter, "session": record.id, "name": record.name, "runs": record.command,
            "pid": record.pid, "startTime": record.start_time, "bootId": record.boot_id,
            "network": record.network, "findings": checked.serious(), "sandbox": { "level": record.level.as_str() },
        });
        Ok(Some(Matter::command(cx, shown, &record.cwd, message, facts)))
    }
}

fn request<'a>(checked: &'a check::Checked, note: &'a Text) -> Request<'a> {
    Request { checked, network: false, variables: &[], shell: None, note: Some(note) }
}

fn note(found: &Found) -> Text {
    let name = &found.record.name;
    Text::new(
        format!("typed into session {name}, which runs: {}", found.record.command),
        format!("输入到会话 {name}，其命令为：{}", found.record.command),
    )
}

fn terms(found: &Found) -> Terms {
    Terms { kernel: None, level: found.record.level, network: found.record.network }
}

impl Shop {
    /// Types into a session what may be typed, once.
    async fn type_in(
        &self,
        cx: &CallCx,
        found: &Found,
        data: String,
        approval: Approval,
    ) -> Result<Answer, ToolError> {
        tracing::debug!(approved = ?approval.request_id(), session = found.record.name, "input goes to a session");
        self.ask(cx, found, &Ask::Input { data }).await
    }

    /// Asks the supervisor of a session.
    pub(super) async fn ask(&self, cx: &CallCx, found: &Found, ask: &Ask) -> Result<Answer, ToolError> {
        let answer = cx.unless_stopped(async { Client::connect(found).await?.ask(ask).await }).await?;
        answer.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused | io::ErrorKind::UnexpectedEof => {
                ended(found)
            }
            _ => unreachable(&error),
        })
    }
}

/// The session is over.
pub(super) fn ended(found: &Found) -> ToolError {
    let name = &found.record.name;
    ToolError::new(
        Reason::Conflict {
            kind: ConflictKind::Version,
            expected: Some(json!("running")),
            found: Some(json!(found.record.state)),
            path: None,
        },
        Text::new(format!("the session `{name}` has ended"), format!("会话 `{name}` 已结束")),
    )
    .hint(Text::fixed("start it again with session_run", "请用 session_run 重新启动"))
}

/// Its supervisor does not answer.
pub(super) fn unreachable(error: &io::Error) -> ToolError {
    tracing::warn!(%error, "a session does not answer");
    ToolError::unavailable(Needed::Process, Text::fixed("the session does not answer", "会话没有响应")).hint(
        Text::fixed(
            "try again; session_list says which sessions run",
            "请重试；session_list 会列出正在运行的会话",
        ),
    )
}

static SIGNAL: ToolSpec = ToolSpec {
    name: "session_send_signal",
    title: Text::fixed("Signal a session", "向会话发送信号"),
    description: Text::fixed(
        "Sends a signal to the command of a session; SIGINT and SIGQUIT go to what is in front of its terminal, like the \
         keys. To end a session for good use session_kill. Other names are invalid; an ended session gives delivered \
         false.",
        "向会话的命令发送信号；SIGINT 和 SIGQUIT 与按键一样发往终端前台。要彻底结束会话请用 session_kill。\
         其他信号名为 invalid；已结束的会话 delivered 为 false。",
    ),
    annotations: Annotations::of("D"),
    confirm: Confirm::None,
    version: 1,
};

pub(crate) struct SessionSendSignal(pub(crate) Arc<Shop>);

/// A signal by its name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
enum SignalName {
    #[serde(rename = "SIGINT")]
    Int,
    #[default]
    #[serde(rename = "SIGTERM")]
    Term,
    #[serde(rename = "SIGKILL")]
    Kill,
    #[serde(rename = "SIGHUP")]
    Hup,
    #[serde(rename = "SIGQUIT")]
    Quit,
    #[serde(rename = "SIGUSR1")]
    Usr1,
    #[serde(rename = "SIGUSR2")]
    Usr2,
    #[serde(rename = "SIGSTOP")]
    Stop,
    #[serde(rename = "SIGCONT")]
    Cont,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct SignalArgs {
    /// The session's name
    #[schemars(extend("x-zh" = "会话名称"))]
    session: SessionName,
    /// The signal
    #[serde(default)]
    #[schemars(extend("x-zh" = "信号"))]
    signal: SignalName,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SignalData {
    session: String,
    signal: SignalName,
    delivered: bool,
}

impl Tool for SessionSendSignal {
    type Args = SignalArgs;
    type Data = SignalData;

    fn spec(&self) -> &'static ToolSpec {
        &SIGNAL
    }

    async fn call(&self, args: SignalArgs, cx: &CallCx) -> Result<Outcome<SignalData>, ToolError> {
        let found = self.0.session(&args.session.0).await?;
        let word = serde_json::to_value(args.signal)
            .ok()
            .and_then(|value| value.as_str().map(str::to_owned))
            .unwrap_or_default();
        let number = signals().get(word.as_str()).copied().unwrap_or_default();
        let delivered = found.running()
            && matches!(
                self.0.ask(cx, &found, &Ask::Signal { signal: number }).await,
                Ok(Answer::Delivered(true))
            );
        let name = found.record.name;
        let text = if delivered {
            Text::new(format!("Sent {word} to {name}."), format!("已向 {name} 发送 {word}。"))
        } else {
            Text::new(
                format!("{name} does not run; {word} was not delivered."),
                format!("{name} 未在运行；{word} 未送达。"),
            )
        };
        let data = SignalData { session: name, signal: args.signal, delivered };
        Ok(Outcome::Ok(Body::new(data, text.get(cx.lang))))
    }
}
