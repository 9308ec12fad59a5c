//! `session_capture_output`: what a session printed.

use std::sync::Arc;
use std::time::Duration;

use chatos_layer::{Body, CallCx, Outcome, Tool};
use chatos_tool::{Annotations, Confirm, Cut, Keep, Text, ToolError, ToolSpec, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::client::{self, Client};
use super::{Session, State};
use crate::output::clean;
use crate::server::Shop;

static SPEC: ToolSpec = ToolSpec {
    name: "session_capture_output",
    title: Text::fixed("Read a session", "读取会话输出"),
    description: Text::fixed(
        "Output of a session: by default the last lines, from_line pages forward from a line. Lines keep their numbers; \
         old ones go when the log is full and the result says so. wait_ms waits for new output or the end. Works for \
         ended sessions too. An unknown session is not_found with the names there are.",
        "会话的输出：默认取最后若干行，from_line 从某行开始向后翻页。行号保持不变；日志写满后旧行会被丢弃并在结果中说明。\
         wait_ms 等待新输出或结束。已结束的会话也可读取。未知会话为 not_found，并列出现有名称。",
    ),
    annotations: Annotations::of("R I"),
    confirm: Confirm::None,
    version: 1,
};

pub(crate) struct SessionCaptureOutput(pub(crate) Arc<Shop>);

/// The name of a session.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct SessionName(#[schemars(regex(pattern = "^[A-Za-z0-9_-]{1,64}$"))] pub(crate) String);

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Args {
    /// The session's name
    #[schemars(extend("x-zh" = "会话名称"))]
    session: SessionName,
    /// How many lines
    #[serde(default = "lines")]
    #[schemars(range(min = 10, max = 5000), extend("x-zh" = "行数"))]
    lines: u64,
    /// The first line; the last lines when absent
    #[serde(default)]
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_u64), extend("x-zh" = "起始行；省略时为最后若干行", "x-no-default" = true))]
    from_line: Option<u64>,
    /// How long to wait for new output, in milliseconds
    #[serde(default)]
    #[schemars(range(min = 0, max = 60_000), extend("x-zh" = "等待新输出的时间（毫秒）"))]
    wait_ms: u64,
}

fn lines() -> u64 {
    500
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Data {
    session: Session,
    lines: u64,
    from_line: u64,
    to_line: u64,
    total_lines: u64,
    text: String,
    truncated: bool,
    state: State,
    #[serde(rename = "exitCode")]
    exit_code: Option<i32>,
}

impl Tool for SessionCaptureOutput {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, args: Args, cx: &CallCx) -> Result<Outcome<Data>, ToolError> {
        let mut found = self.0.session(&args.session.0).await?;
        if args.wait_ms > 0 && found.running() {
            wait(cx, &found, args.from_line, Duration::from_millis(args.wait_ms)).await?;
        }
        // Room for the header and the notices.
        let max = cx.settings.text.result_chars.saturating_sub(400).max(600);
        let read = cx.unless_stopped(client::lines(&found, args.from_line, args.lines, max)).await?;
        let (got, record) = read.map_err(|error| super::input::unreachable(&error))?;
        found.record = record;
        let text = clean(&got.bytes);
        let text = cx.redactor().known(&text).into_owned();
        let wanted_to = args.from_line.map_or(got.total, |from| (from + args.lines - 1).min(got.total));
        let cut_end = got.to < wanted_to;
        let truncated = got.gone || cut_end;
        let mut shown =
            format!("Session: {}\nLines: {}-{} of {}\n\n", found.record.name, got.from, got.to, got.total);
        if got.gone {
            let notice = Text::new(
                format!("[… earlier lines omitted; the first here is line {} …]\n", got.from),
                format!("[… 省略更早的行；此处从第 {} 行开始 …]\n", got.from),
            );
            shown.push_str(notice.get(cx.lang));
        }
        shown.push_str(&text);
        let mut cuts = Vec::new();
        if truncated {
            cuts.push(Cut {
                field: "/text".to_owned(),
                unit: Unit::Lines,
                keep: if args.from_line.is_some() { Keep::Head } else { Keep::Tail },
                limit: args.lines,
                kept: (got.to + 1).saturating_sub(got.from),
                total: Some(got.total),
                next: cut_end.then(|| json!({ "session": found.record.name, "from_line": got.to + 1 })),
            });
        }
        if cut_end {
            let next = got.to + 1;
            let notice = Text::new(
                format!("\n[… lines omitted; continue with from_line={next} …]"),
                format!("\n[… 省略若干行；用 from_line={next} 继续 …]"),
            );
            shown.push_str(notice.get(cx.lang));
        }
        let data = Data {
            lines: (got.to + 1).saturating_sub(got.from),
            from_line: got.from,
            to_line: got.to,
            total_lines: got.total,
            text,
            truncated,
            state: found.record.state,
            exit_code: found.record.exit_code,
            session: found.session(),
        };
        Ok(Outcome::Ok(Body::content(data, shown.trim_end()).truncated(cuts).keep(Keep::Tail)))
    }
}

/// Until there is something new, it ended, or time is up.
async fn wait(cx: &CallCx, found: &super::Found, from: Option<u64>, time: Duration) -> Result<(), ToolError> {
    let Ok(mut client) = Client::connect(found).await else { return Ok(()) };
    let Ok(status) = client.status().await else { return Ok(()) };
    // Lines the caller has not seen are news already.
    if from.is_some_and(|from| status.record.marks.lines >= from) {
        return Ok(());
    }
    let watching = client.watch(status.record.marks.total);
    // News, an end or nothing at all: what follows reads whatever there is.
    cx.unless_stopped(tokio::time::timeout(time, watching)).await?.ok();
    Ok(())
}
