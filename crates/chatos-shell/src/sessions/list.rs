//! `session_list` and `session_kill`.

use std::sync::Arc;
use std::time::Duration;

use chatos_layer::{Body, CallCx, Outcome, Tool};
use chatos_tool::{Annotations, Confirm, Text, ToolError, ToolSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::capture::SessionName;
use super::client::{self, Client};
use super::{Session, State};
use crate::run::GRACE_MS;
use crate::server::Shop;

static LIST: ToolSpec = ToolSpec {
    name: "session_list",
    title: Text::fixed("List sessions", "列出会话"),
    description: Text::fixed(
        "All sessions, newest first, with state, command and directory; ended ones stay for 7 days.",
        "列出所有会话，最新的在前，包含状态、命令和目录；已结束的会话保留 7 天。",
    ),
    annotations: Annotations::of("R I"),
    confirm: Confirm::None,
    version: 1,
};

pub(crate) struct SessionList(pub(crate) Arc<Shop>);

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct NoArgs {}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ListData {
    count: usize,
    sessions: Vec<Session>,
}

impl Tool for SessionList {
    type Args = NoArgs;
    type Data = ListData;

    fn spec(&self) -> &'static ToolSpec {
        &LIST
    }

    async fn call(&self, _: NoArgs, cx: &CallCx) -> Result<Outcome<ListData>, ToolError> {
        let found = cx.unless_stopped(self.0.all_sessions()).await??;
        let mut lines: Vec<String> = Vec::new();
        for one in &found {
            let record = &one.record;
            let state = match (record.state, record.exit_code, &record.signal) {
                (State::Running, ..) => "running".to_owned(),
                (State::Lost, ..) => "lost".to_owned(),
                (State::Exited, Some(code), _) => format!("exited {code}"),
                (State::Exited, None, Some(signal)) => format!("exited {signal}"),
                (State::Exited, None, None) => "exited".to_owned(),
            };
            let command: String =
                record.command.chars().map(|c| if c.is_control() { ' ' } else { c }).take(120).collect();
            lines.push(format!(
                "- {} [{state}] pid {} cwd {} $ {command}",
                record.name, record.pid, record.cwd
            ));
        }
        let sessions: Vec<Session> = found.iter().map(super::Found::session).collect();
        let head = match cx.lang {
            chatos_tool::Lang::En => format!("{} session(s)", sessions.len()),
            chatos_tool::Lang::Zh => format!("{} 个会话", sessions.len()),
        };
        let text = if lines.is_empty() {
            format!("{head}\n<empty>")
        } else {
            format!("{head}\n{}", lines.join("\n"))
        };
        Ok(Outcome::Ok(Body::content(ListData { count: sessions.len(), sessions }, text)))
    }
}

static KILL: ToolSpec = ToolSpec {
    name: "session_kill",
    title: Text::fixed("End a session", "结束会话"),
    description: Text::fixed(
        "Ends a session and everything it started: SIGTERM, then SIGKILL after 2 seconds. A session that has ended is a \
         noop. Its output stays readable.",
        "结束会话及其启动的一切：先 SIGTERM，2 秒后 SIGKILL。已结束的会话为 noop。其输出仍可读取。",
    ),
    annotations: Annotations::of("D I"),
    confirm: Confirm::None,
    version: 1,
};

pub(crate) struct SessionKill(pub(crate) Arc<Shop>);

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct KillArgs {
    /// The session's name
    #[schemars(extend("x-zh" = "会话名称"))]
    session: SessionName,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct KillData {
    session: String,
    #[serde(rename = "exitCode")]
    exit_code: Option<i32>,
    signal: Option<String>,
}

impl Tool for SessionKill {
    type Args = KillArgs;
    type Data = KillData;

    fn spec(&self) -> &'static ToolSpec {
        &KILL
    }

    async fn call(&self, args: KillArgs, cx: &CallCx) -> Result<Outcome<KillData>, ToolError> {
        let found = self.0.session(&args.session.0).await?;
        // One whose program ended may still have others running; its supervisor is then there. It is there for a
        // moment without them as well.
        let noop = !found.running() && !found.record.runs_on();
        let connected = Client::connect(&found).await;
        let mut record = found.record.clone();
        if let Ok(client) = connected {
            let ended = cx.unless_stopped(client.kill(Duration::from_millis(GRACE_MS))).await?;
            ended.map_err(|error| super::input::unreachable(&error))?;
            record = client::final_record(&found).await;
        }
        let how = match (record.exit_code, &record.signal) {
            (Some(code), _) => format!("exit code: {code}"),
            (None, Some(signal)) => format!("signal: {signal}"),
            (None, None) => "lost".to_owned(),
        };
        let name = record.name;
        let text = if noop {
            Text::new(format!("{name} had ended already ({how})."), format!("{name} 已经结束（{how}）。"))
        } else {
            Text::new(format!("Ended {name} ({how})."), format!("已结束 {name}（{how}）。"))
        };
        let data = KillData { session: name, exit_code: record.exit_code, signal: record.signal };
        let body = Body::new(data, text.get(cx.lang));
        Ok(if noop { Outcome::Noop(body) } else { Outcome::Ok(body) })
    }
}
