//! Gives a task to a subagent and waits for its report: the tool `run_sub_agent`.

use chatos_layer::{Body, CallCx, Outcome, SubOrder, Tool};
use chatos_tool::{
    Annotations, CanceledBy, Confirm, ErrorCode, Needed, Reason, Resource, Text, ToolError, ToolSpec,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::Home;
use super::asking::unknown;
use super::choose::{Wanted, choose};

static RUN: ToolSpec = ToolSpec {
    name: "run_sub_agent",
    title: Text::fixed("Run a subagent", "运行子智能体"),
    description: Text::fixed(
        "Gives a task to a subagent and waits for its report. Without agent_id the best fitting one is chosen; when \
         none fits, nothing runs. The subagent works with its own context and may use at most what the sub flow \
         grants.",
        "把任务交给子智能体并等待其汇报。未指定 agent_id 时选择最合适的；没有合适的则不运行。子智能体有自己的上下文，最多使用子流程授权的工具。",
    ),
    annotations: Annotations::of("D O"),
    confirm: Confirm::None,
    version: 1,
};

/// Runs one.
pub(super) struct Run(pub(super) Home);

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct RunArgs {
    /// The whole task; the subagent knows nothing else
    #[schemars(length(min = 1, max = 100_000), extend("x-zh" = "完整的任务；子智能体不了解其他内容"))]
    task: String,
    /// Which subagent; the best fitting one when absent
    #[serde(default)]
    #[schemars(length(max = 260), extend("x-zh" = "子智能体；缺省时选择最合适的", "x-no-default" = true))]
    agent_id: Option<String>,
    /// Only of this category
    #[serde(default)]
    #[schemars(length(max = 128), extend("x-zh" = "仅此类别", "x-no-default" = true))]
    category: Option<String>,
    /// Skills to work by
    #[serde(default)]
    #[schemars(length(max = 32), inner(length(max = 128)), extend("x-zh" = "使用的技能", "x-no-default" = true))]
    skills: Option<Vec<String>>,
    /// Model to use
    #[serde(default)]
    #[schemars(length(max = 200), extend("x-zh" = "使用的模型", "x-no-default" = true))]
    model: Option<String>,
    /// Model of the caller, used when nothing else names one
    #[serde(default)]
    #[schemars(length(max = 200), extend("x-zh" = "调用者的模型，未指定其他模型时使用", "x-no-default" = true))]
    caller_model: Option<String>,
    /// Further words to choose by
    #[serde(default)]
    #[schemars(length(max = 2000), extend("x-zh" = "选择时的补充关键词", "x-no-default" = true))]
    query: Option<String>,
    /// A command of the subagent's plugin
    #[serde(default)]
    #[schemars(length(max = 128), extend("x-zh" = "子智能体插件的命令", "x-no-default" = true))]
    command_id: Option<String>,
    /// Servers it may use at most, as mcp_<server>_
    #[serde(default)]
    #[schemars(length(max = 64), inner(length(max = 256)), extend("x-zh" = "最多可用的服务器，写作 mcp_<server>_", "x-no-default" = true))]
    mcp_allow_prefixes: Option<Vec<String>>,
    /// The same key makes one job
    #[serde(default)]
    #[schemars(length(max = 200), extend("x-zh" = "相同的键只产生一个任务", "x-no-default" = true))]
    dedupe_key: Option<String>,
}

impl Home {
    /// What to run, chosen from the catalogue.
    pub(super) async fn order(&self, args: RunArgs, cx: &CallCx) -> Result<SubOrder, ToolError> {
        let all = self.catalogue(cx).await?;
        let skills = args.skills.unwrap_or_default();
        let wanted = Wanted {
            agent_id: args.agent_id.as_deref(),
            command_id: args.command_id.as_deref(),
            category: args.category.as_deref(),
            text: format!("{} {}", args.query.unwrap_or_default(), args.task),
            skills: &skills,
        };
        let found = choose(&all, &wanted).ok_or_else(|| match &args.agent_id {
            Some(id) => unknown(&all, id),
            None => ToolError::new(
                Reason::NotFound { what: "subagent".to_owned(), id: None, path: None, nearest: Vec::new() },
                Text::fixed("no subagent fits this task", "没有适合此任务的子智能体"),
            )
            .hint(Text::fixed("name one with agent_id", "请用 agent_id 指定")),
        })?;
        let found = self.decide(found, &wanted, cx).await?;
        let command = found.command.or_else(|| {
            let id = found.agent.default_command.as_deref()?;
            found.plugin.commands.iter().find(|command| command.id == id)
        });
        let models =
            [args.model, command.and_then(|command| command.model.clone()), found.agent.model.clone()];
        Ok(SubOrder {
            task: args.task,
            plugin: found.plugin.id.clone(),
            agent_id: found.agent.id.clone(),
            agent_name: found.agent.name.clone(),
            command_id: command.map(|command| command.id.clone()),
            skills,
            models: models.into_iter().flatten().collect(),
            caller_model: args.caller_model,
            mcp_allow_prefixes: args.mcp_allow_prefixes,
            dedupe_key: args.dedupe_key,
            root: cx.root.as_ref().map(|root| root.path().to_owned()),
        })
    }
}

impl Tool for Run {
    type Args = RunArgs;
    type Data = Value;

    fn spec(&self) -> &'static ToolSpec {
        &RUN
    }

    async fn call(&self, args: RunArgs, cx: &CallCx) -> Result<Outcome<Value>, ToolError> {
        let order = self.0.order(args, cx).await?;
        let (steps, mut heard) = tokio::sync::mpsc::unbounded_channel::<Value>();
        let run = self.0.runner()?.run(order, cx.trace.clone(), cx.call_id.clone(), steps);
        tokio::pin!(run);
        let done = loop {
            tokio::select! {
                done = &mut run => break done?,
                _ = cx.stopped() => return Err(cx.stop_error()),
                Some(step) = heard.recv() => {
                    let index = step["index"].as_f64();
                    let kind = step["type"].as_str().unwrap_or("step").to_owned();
                    cx.progress(index, None, &Text::same(kind), Some(step));
                }
            }
        };
        match done.failed {
            None => Ok(Outcome::Ok(Body::content(done.data, done.response))),
            Some((code, message)) => {
                let error = failure(code, message);
                Ok(Outcome::Failed(Body::new(done.data, done.response), error))
            }
        }
    }
}

/// A failed subagent as a typed error (servers §9).
fn failure(code: ErrorCode, message: Text) -> ToolError {
    match code {
        ErrorCode::RateLimited => ToolError::new(Reason::RateLimited { retry_after_ms: 0 }, message),
        ErrorCode::ResourceExhausted => {
            let reason = Reason::ResourceExhausted { resource: Resource::Entries, limit: None, actual: None };
            ToolError::new(reason, message)
        }
        ErrorCode::Canceled => ToolError::canceled(CanceledBy::Caller),
        _ => ToolError::unavailable(Needed::Host, message),
    }
}
