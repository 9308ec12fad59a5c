//! What the agent may do, and what it did to files: `/tools`, `/access`, and differences beside the reply.

use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::agent::{AcpSession, AgentExplanation};
use chatos_wire::change::{FileChangeDetail, FileChangeList};
use hyper::Method;
use serde_json::{Value, json};

use super::Live;
use crate::markdown::hung;
use crate::output::{Paint, columns, pad, visible, width};
use crate::prompts::show::diff_line;
use chatos_desk::encode;

/// Lines of a difference that are shown beside the reply.
const DIFF: usize = 30;
/// Changes of one call that are shown.
const CHANGES: usize = 8;
/// Tools that `/access` names.
const NAMED: usize = 12;

impl Live<'_, '_> {
    async fn explained(&self) -> Result<AgentExplanation, Fault> {
        let agent = self.talk.session().await?.agent_id;
        let path = format!("/api/v1/agents/{}/explain?role=main", encode(&agent));
        Ok(self.talk.api().get::<AgentExplanation>(&path, self.output.lang).await?.body)
    }

    /// What the agent can call, by server; what asks first is marked.
    pub(super) async fn tools(&self) -> Result<(), Fault> {
        let known = self.explained().await?;
        if let Some(stop) = &known.stop {
            self.output.line(&self.output.paint(Paint::Warn, &visible(&stop.message)));
            return Ok(());
        }
        let granted: Vec<_> = known.servers.iter().filter(|server| server.granted).collect();
        if granted.is_empty() {
            self.dim(&Text::fixed("It can call no tools.", "没有可调用的工具。"));
        }
        let widest = granted.iter().map(|server| width(&visible(&server.name))).max().unwrap_or_default();
        for server in granted {
            let tools = server.tools.as_deref().unwrap_or_default();
            let names: Vec<String> = tools
                .iter()
                .filter(|tool| tool.granted)
                .map(|tool| format!("{}{}", visible(&tool.tool), if tool.ask { "?" } else { "" }))
                .collect();
            let names = match names.as_slice() {
                [] => Text::fixed("not connected yet", "尚未连接").get(self.output.lang).to_owned(),
                names => names.join(", "),
            };
            let head = format!("  {}  ", pad(&visible(&server.name), widest));
            self.output.line(&hung(&head, self.output.paints(), &names, false, columns()));
        }
        if known
            .servers
            .iter()
            .any(|server| server.tools.iter().flatten().any(|tool| tool.granted && tool.ask))
        {
            self.dim(&Text::fixed("? asks you before each call", "? 每次调用前会问你"));
        }
        Ok(())
    }

    /// What the agent may reach: folder, profile, what confines commands, and who answers its questions.
    pub(super) async fn access(&self) -> Result<(), Fault> {
        let lang = self.output.lang;
        let session = self.talk.session().await?;
        let agent =
            self.talk.api().get_json(&format!("/api/v1/agents/{}", encode(&session.agent_id)), lang).await?;
        let known = self.explained().await?;
        let said = |en: &'static str, zh: &'static str| Text::fixed(en, zh).get(lang).to_owned();
        let mut rows = vec![
            (said("Folder", "文件夹"), visible(&self.talk.folder(&session, &agent))),
            (
                said("Permissions profile", "授权配置"),
                known.land_config.as_ref().map_or_else(|| said("none", "无"), |land| visible(&land.name)),
            ),
        ];
        let tools: Vec<_> = known
            .servers
            .iter()
            .filter(|server| server.granted)
            .flat_map(|server| server.tools.iter().flatten().map(|tool| (&server.name, tool)))
            .collect();
        if tools.iter().any(|(_, tool)| tool.granted && tool.tool == "run_shell_command") {
            for (key, en, zh) in [
                ("shellSandbox", "Sandbox of commands", "命令沙箱"),
                ("shellNetwork", "Network of commands", "命令的网络"),
                ("shellReadPaths", "Commands may also read", "命令还可读取"),
                ("shellWritePaths", "Commands may also write", "命令还可写入"),
            ] {
                let setting = self.talk.api().get_json(&format!("/api/v1/settings/{key}"), lang).await?;
                let value = plain(&setting["value"]);
                if !value.is_empty() {
                    rows.push((said(en, zh), value));
                }
            }
        } else {
            rows.push((said("Commands", "命令"), said("none", "无")));
        }
        let mut asks: Vec<String> = tools
            .iter()
            .filter(|(_, tool)| tool.granted && tool.ask)
            .map(|(_, tool)| visible(&tool.tool))
            .collect();
        let more = asks.len().saturating_sub(NAMED);
        asks.truncate(NAMED);
        if more > 0 {
            asks.push(format!("+{more}"));
        }
        if !asks.is_empty() {
            rows.push((said("Asks you before", "调用前会问你"), asks.join(", ")));
        }
        let rules = self.talk.api().get_json("/api/v1/rules", lang).await?;
        let counting = |rule: &&Value| rule["ours"] == true && rule["ended"] == false;
        let rules = rules["items"].as_array().into_iter().flatten().filter(counting).count();
        if rules > 0 {
            rows.push((
                said("Rules that answer for you", "代你回答的规则"),
                format!("{rules} (`chatos rules list`)"),
            ));
        }
        let widest = rows.iter().map(|(name, _)| width(name)).max().unwrap_or_default();
        for (name, value) in rows {
            let head = format!("  {}  ", pad(&name, widest));
            self.output.line(&hung(&head, self.output.paints(), &value, false, columns()));
        }
        let name = visible(agent["name"].as_str().unwrap_or_default());
        self.dim(&Text::new(
            format!("`/tools` lists the tools, `chatos agent explain '{name}'` says why"),
            format!("`/tools` 列出工具，`chatos agent explain '{name}'` 说明原因"),
        ));
        Ok(())
    }

    /// Mode, model and options of an agent that is another program: shown, or one of them chosen.
    pub(super) async fn options(&self, rest: &str) -> Result<(), Fault> {
        let lang = self.output.lang;
        let path = format!("/api/v1/acp/sessions/{}", encode(&self.talk.id));
        let mut words = rest.split_whitespace();
        let known: AcpSession = match (words.next(), words.next(), words.next()) {
            (Some(option), Some(value), word) => {
                let order = json!({ "option": option, "value": value, "confirmed": word == Some("confirm") });
                let set = self.talk.api().call(Method::POST, &path, Some(&order), lang).await;
                let set = set.map_err(|fault| {
                    if fault.code != "not_confirmed" {
                        return fault;
                    }
                    fault.hint(Text::new(
                        format!("agree with `/options {option} {value} confirm`"),
                        format!("用 `/options {option} {value} confirm` 表示同意"),
                    ))
                })?;
                serde_json::from_value(set).map_err(|error| {
                    Fault::new(ErrorCode::Internal, Text::same("the host's answer cannot be read"))
                        .caused_by(&error)
                })?
            }
            _ => self.talk.api().get::<AcpSession>(&path, lang).await?.body,
        };
        for option in &known.told.options {
            let all: Vec<String> = option
                .choices
                .iter()
                .map(|choice| {
                    let mark = if choice.id == option.value { "*" } else { "" };
                    format!("{}{mark}", visible(&choice.id))
                })
                .collect();
            let head = format!("  {}  ", visible(&option.id));
            self.output.line(&hung(&head, self.output.paints(), &all.join(", "), false, columns()));
        }
        if known.told.options.is_empty() {
            self.dim(&Text::fixed(
                "It has told no options yet; say something first.",
                "它尚未告知任何选项；请先发送一条消息。",
            ));
        }
        if let Some(cost) = &known.told.cost {
            let amount = format!("{} {}", cost.amount, visible(&cost.currency));
            self.dim(&Text::new(format!("Cost so far: {amount}"), format!("累计费用：{amount}")));
        }
        Ok(())
    }

    /// The differences a call made to files, in colours. What cannot be read is on the Changes page all the same.
    pub(super) async fn show_changes(&mut self, event: &Value) {
        let message = &event["message"];
        let data = &message["toolStructuredContent"]["data"];
        let changed = ["diff_stat", "changed_files", "files"].iter().any(|name| !data[*name].is_null());
        let Some(run) = event["runId"].as_str().filter(|_| changed && message["toolIsError"] != true) else {
            return;
        };
        let path = format!("/api/v1/changes?runId={}&limit={CHANGES}", encode(run));
        let Ok(list) = self.talk.api().get::<FileChangeList>(&path, self.output.lang).await else { return };
        // What was just approved here was seen here.
        let seen = std::mem::take(&mut self.approved);
        for change in list.body.changes.into_iter().rev() {
            if !self.changes.insert(change.id.clone()) || seen {
                continue;
            }
            let path = format!("/api/v1/changes/{}", encode(&change.id));
            let Ok(detail) = self.talk.api().get::<FileChangeDetail>(&path, self.output.lang).await else {
                continue;
            };
            let lines: Vec<&str> = detail.body.diff.lines().collect();
            for line in lines.iter().take(DIFF) {
                self.output.line(&format!("  {}", diff_line(self.output, line)));
            }
            if lines.len() > DIFF {
                let (more, id) = (lines.len() - DIFF, visible(&change.id));
                self.dim(&Text::new(
                    format!("  … {more} more lines: `chatos changes show {id}`"),
                    format!("  … 还有 {more} 行：`chatos changes show {id}`"),
                ));
            }
        }
    }
}

/// A value as people write it.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => visible(text),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        Value::Null => String::new(),
        other => visible(&other.to_string()),
    }
}
