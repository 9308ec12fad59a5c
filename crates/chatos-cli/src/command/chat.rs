//! `chatos chat`: the same agents in a terminal, questions included; `-p` for scripts.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use chatos_paths::Environment;
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::run::RunView;
use hyper::Method;
use serde_json::{Value, json};

use super::prompts::{Desk, answer_here, input};
use crate::args::{Chat, Global};
use crate::client::{Api, block_on, encode};
use crate::output::{Output, Paint, visible};

/// How long one look for events stays open.
const WAIT_MS: u32 = 20_000;

pub(crate) fn run(
    global: &Global,
    environment: Environment,
    output: &Output,
    options: &Chat,
) -> Result<ExitCode, Fault> {
    let api = Api::connect(global, environment.clone())?;
    let desk = Desk::over(api, global, environment);
    block_on(async {
        let done = Terminal::begin(&desk, output, options).await;
        let done = match done {
            Ok(mut terminal) => terminal.converse(options).await,
            Err(fault) => Err(fault),
        };
        if let Some(api) = desk.api() {
            api.finish().await;
        }
        done
    })
}

/// One chat in this terminal.
struct Terminal<'a> {
    desk: &'a Desk,
    output: &'a Output,
    session: String,
    since: u64,
    interactive: bool,
}

impl<'a> Terminal<'a> {
    async fn begin(desk: &'a Desk, output: &'a Output, options: &Chat) -> Result<Self, Fault> {
        let mut order = json!({});
        for (key, value) in [("agentId", &options.agent), ("modelId", &options.model)] {
            if let Some(value) = value {
                order[key] = json!(value);
            }
        }
        let lang = output.lang;
        let session = match &options.session {
            Some(id) => {
                let api = api(desk)?;
                let path = format!("/api/v1/sessions/{}", encode(id));
                let found = api.get_json(&path, lang).await?;
                if order.as_object().is_some_and(|order| !order.is_empty()) {
                    api.call(Method::PATCH, &path, Some(&order), lang).await?;
                }
                found
            }
            None => api(desk)?.call(Method::POST, "/api/v1/sessions", Some(&order), lang).await?,
        };
        let session = session["id"].as_str().unwrap_or_default().to_owned();
        let interactive = std::io::stdin().is_terminal() && std::io::stdout().is_terminal() && !output.json;
        if interactive {
            api(desk)?.attend();
        }
        let mut terminal = Self { desk, output, session, since: 0, interactive };
        let page = terminal.events(0).await?;
        terminal.since = page["next"].as_u64().unwrap_or_default();
        Ok(terminal)
    }

    async fn events(&self, wait_ms: u32) -> Result<Value, Fault> {
        let path = format!(
            "/api/v1/sessions/{}/events?since={}&waitMs={wait_ms}",
            encode(&self.session),
            self.since
        );
        api(self.desk)?.call_patiently(Method::GET, &path, None, self.output.lang).await
    }

    async fn converse(&mut self, options: &Chat) -> Result<ExitCode, Fault> {
        if let Some(text) = &options.prompt {
            return self.turn(text).await;
        }
        if !self.interactive {
            return Err(Fault::new(
                ErrorCode::InvalidArgument,
                Text::fixed("there is no terminal to chat in", "没有可供对话的终端"),
            )
            .hint(Text::fixed(
                "use `chatos chat -p TEXT` in scripts",
                "脚本中请使用 `chatos chat -p 文本`",
            )));
        }
        self.output.say(&Text::new(
            format!("Chat {}. An empty line ends it.", self.session),
            format!("会话 {}。输入空行结束。", self.session),
        ));
        loop {
            let line = input::line("> ").map_err(|error| {
                Fault::new(
                    ErrorCode::Unavailable,
                    Text::fixed("cannot read from the terminal", "无法从终端读取"),
                )
                .caused_by(&error)
            })?;
            let Some(text) = line.filter(|text| !text.trim().is_empty()) else {
                return Ok(ExitCode::SUCCESS);
            };
            if let Err(fault) = self.turn(&text).await {
                self.output.fault(&fault);
            }
        }
    }

    /// One message and its answer.
    async fn turn(&mut self, text: &str) -> Result<ExitCode, Fault> {
        let path = format!("/api/v1/sessions/{}/send", encode(&self.session));
        let body = json!({ "text": text });
        let sent = api(self.desk)?.call(Method::POST, &path, Some(&body), self.output.lang).await?;
        let run = sent["runId"].as_str().unwrap_or_default().to_owned();
        let stop = tokio::signal::ctrl_c();
        tokio::pin!(stop);
        let mut stopping = false;
        let mut screen = Screen::default();
        loop {
            let page = tokio::select! {
                page = self.events(WAIT_MS) => page?,
                _ = &mut stop, if !stopping => {
                    stopping = true;
                    let path = format!("/api/v1/runs/{}/abort", encode(&run));
                    let stopped = api(self.desk)?.call(Method::POST, &path, Some(&json!({})), self.output.lang).await;
                    if let Err(fault) = stopped {
                        self.output.fault(&fault);
                    }
                    continue;
                }
            };
            self.since = page["next"].as_u64().unwrap_or(self.since);
            for event in page["events"].as_array().map(Vec::as_slice).unwrap_or_default() {
                if self.output.json {
                    self.output.json_line(event);
                } else {
                    screen.show(self.output, event);
                }
                let ends = event["runId"] == run.as_str();
                match event["type"].as_str().unwrap_or_default() {
                    "prompt_waiting" if self.interactive => {
                        screen.break_line(self.output);
                        let id = event["requestId"].as_str().unwrap_or_default();
                        answer_here(self.desk, self.output, id).await?;
                    }
                    "assistant_done" if ends => {
                        screen.break_line(self.output);
                        return Ok(ExitCode::SUCCESS);
                    }
                    "assistant_error" if ends => {
                        screen.break_line(self.output);
                        if self.output.json {
                            return Ok(ExitCode::from(1));
                        }
                        return Err(failed(event));
                    }
                    "assistant_aborted" if ends => {
                        screen.break_line(self.output);
                        return Ok(ExitCode::from(1));
                    }
                    _ => {}
                }
            }
            if page["resync"] == true {
                self.output.say(&Text::fixed("(some events were missed)", "（遗漏了一些事件）"));
                if self.is_over(&run).await? {
                    return Ok(ExitCode::SUCCESS);
                }
            }
        }
    }

    async fn is_over(&self, run: &str) -> Result<bool, Fault> {
        let path = format!("/api/v1/runs/{}", encode(run));
        let found = api(self.desk)?.get::<RunView>(&path, self.output.lang).await?;
        Ok(found.state.is_over())
    }
}

fn api(desk: &Desk) -> Result<&Api, Fault> {
    desk.api().ok_or_else(|| Fault::new(ErrorCode::Internal, Text::same("the chat has no host")))
}

fn failed(event: &Value) -> Fault {
    let message = event["message"].as_str().unwrap_or_default().to_owned();
    let class = match event["code"].as_str().unwrap_or_default() {
        "auth" | "permission" => ErrorCode::PermissionDenied,
        "not_found" | "config" => ErrorCode::NotFound,
        "rate_limited" | "quota" => ErrorCode::RateLimited,
        _ => ErrorCode::Unavailable,
    };
    Fault::new(class, Text::same(message)).hint(Text::fixed(
        "`chatos models test` tries the model alone",
        "`chatos models test` 可单独测试模型",
    ))
}

/// What stands on the line right now.
#[derive(Default)]
struct Screen {
    open: bool,
}

impl Screen {
    fn show(&mut self, output: &Output, event: &Value) {
        let text = |name: &str| visible(event[name].as_str().unwrap_or_default());
        match event["type"].as_str().unwrap_or_default() {
            "assistant_delta" => {
                let delta = event["delta"].as_str().unwrap_or_default();
                let mut out = std::io::stdout().lock();
                // A closed pipe is not an error; the run goes on either way.
                out.write_all(plain(delta).as_bytes()).and_then(|()| out.flush()).ok();
                self.open = !delta.ends_with('\n');
            }
            "assistant_retry" => {
                self.break_line(output);
                output.line(&output.paint(Paint::Warn, &format!("[{} …]", text("class"))));
            }
            "tool_call" => {
                self.break_line(output);
                let line = format!("→ {} {} {}", text("server"), text("tool"), text("args"));
                output.line(&output.paint(Paint::Dim, &line));
            }
            "tool_progress" if !text("message").is_empty() => {
                self.break_line(output);
                output.line(&output.paint(Paint::Dim, &format!("… {}", visible(&text("message")))));
            }
            "tool_result" => {
                self.break_line(output);
                let message = &event["message"];
                let first =
                    message["content"].as_str().unwrap_or_default().lines().next().unwrap_or_default();
                let line = format!("← {} {}", message["status"].as_str().unwrap_or_default(), visible(first));
                output.line(&output.paint(Paint::Dim, &line));
            }
            "notice" => {
                self.break_line(output);
                output.line(&output.paint(Paint::Warn, &text("message")));
            }
            _ => {}
        }
    }

    fn break_line(&mut self, output: &Output) {
        if std::mem::take(&mut self.open) && !output.json {
            output.line("");
        }
    }
}

/// Model text on a terminal: line breaks stay, codes that move the cursor do not.
fn plain(text: &str) -> String {
    text.chars().filter(|c| *c == '\n' || *c == '\t' || !c.is_control()).collect()
}
