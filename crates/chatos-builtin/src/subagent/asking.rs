//! `get_sub_agent` and `suggest_sub_agent`.

use chatos_layer::{Body, CallCx, Outcome, Tool};
use chatos_tool::{Annotations, Confirm, Lang, Reason, Text, ToolError, ToolSpec, validation};
use chatos_wire::subagent::{SubAgent, SubPlugin};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Home;
use super::choose::{Wanted, choose};

static GET: ToolSpec = ToolSpec {
    name: "get_sub_agent",
    title: Text::fixed("Show a subagent", "查看子智能体"),
    description: Text::fixed(
        "Shows one subagent of the catalogue: what it is for, its skills and commands, and the beginning of its \
         instructions. An unknown id is answered with the nearest ones.",
        "查看目录中的一个子智能体：用途、技能、命令，以及其指令的开头。未知 ID 会给出相近的 ID。",
    ),
    annotations: Annotations::of("R I"),
    confirm: Confirm::None,
    version: 1,
};

static SUGGEST: ToolSpec = ToolSpec {
    name: "suggest_sub_agent",
    title: Text::fixed("Suggest a subagent", "推荐子智能体"),
    description: Text::fixed(
        "Names the subagent that fits a task best, or none when nothing fits. Runs nothing.",
        "给出最适合某任务的子智能体；没有合适的则返回空。不会运行任何内容。",
    ),
    annotations: Annotations::of("R O"),
    confirm: Confirm::None,
    version: 1,
};

/// Shows one.
pub(super) struct Get(pub(super) Home);

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetArgs {
    /// Id of the subagent, or plugin/agent
    #[schemars(length(min = 1, max = 260), extend("x-zh" = "子智能体 ID，或 插件/智能体"))]
    agent_id: String,
}

impl Tool for Get {
    type Args = GetArgs;
    type Data = Value;

    fn spec(&self) -> &'static ToolSpec {
        &GET
    }

    async fn call(&self, args: GetArgs, cx: &CallCx) -> Result<Outcome<Value>, ToolError> {
        let all = self.0.catalogue(cx).await?;
        let wanted = Wanted { agent_id: Some(&args.agent_id), ..Wanted::default() };
        let found = choose(&all, &wanted).ok_or_else(|| unknown(&all, &args.agent_id))?;
        let agent = view(found.plugin, found.agent);
        let preview: String = found.agent.system.chars().take(500).collect();
        let text = shown(found.plugin, found.agent, &preview, cx.lang);
        let data = json!({
            "agent": agent, "plugin": found.plugin.id, "model": found.agent.model,
            "default_skills": found.agent.default_skills, "commands": agent["commands"],
            "system_prompt_preview": preview,
        });
        Ok(Outcome::Ok(Body::new(data, text)))
    }
}

/// Everything `data` says that a model needs to choose it and to use it.
fn shown(plugin: &SubPlugin, agent: &SubAgent, preview: &str, lang: Lang) -> String {
    let mut text = format!("{} ({}/{}): {}", agent.name, plugin.id, agent.id, agent.description);
    let mut line = |heading: &Text, value: &str| {
        if !value.is_empty() {
            text.push_str(&format!("\n{}: {value}", heading.get(lang)));
        }
    };
    line(&Text::fixed("Model", "模型"), agent.model.as_deref().unwrap_or_default());
    line(&Text::fixed("Skills", "技能"), &agent.skills.join(", "));
    line(&Text::fixed("Skills it starts with", "默认技能"), &agent.default_skills.join(", "));
    for command in &plugin.commands {
        let of = format!("{} – {}: {}", command.id, command.name, command.description);
        line(&Text::fixed("Command", "命令"), &of);
    }
    line(&Text::fixed("Default command", "默认命令"), agent.default_command.as_deref().unwrap_or_default());
    line(&Text::fixed("Its instructions begin", "指令开头"), preview);
    text
}

/// Names the best one.
pub(super) struct Suggest(pub(super) Home);

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct SuggestArgs {
    /// What has to be done
    #[schemars(length(min = 1, max = 100_000), extend("x-zh" = "要完成的任务"))]
    task: String,
    /// Only of this category
    #[serde(default)]
    #[schemars(length(max = 128), extend("x-zh" = "仅此类别", "x-no-default" = true))]
    category: Option<String>,
    /// Skills it should have
    #[serde(default)]
    #[schemars(length(max = 32), inner(length(max = 128)), extend("x-zh" = "需要的技能", "x-no-default" = true))]
    skills: Option<Vec<String>>,
    /// Further words to look for
    #[serde(default)]
    #[schemars(length(max = 2000), extend("x-zh" = "补充关键词", "x-no-default" = true))]
    query: Option<String>,
    /// A command it must offer
    #[serde(default)]
    #[schemars(length(max = 128), extend("x-zh" = "必须提供的命令", "x-no-default" = true))]
    command_id: Option<String>,
}

impl Tool for Suggest {
    type Args = SuggestArgs;
    type Data = Value;

    fn spec(&self) -> &'static ToolSpec {
        &SUGGEST
    }

    async fn call(&self, args: SuggestArgs, cx: &CallCx) -> Result<Outcome<Value>, ToolError> {
        let all = self.0.catalogue(cx).await?;
        let skills = args.skills.unwrap_or_default();
        let wanted = Wanted {
            agent_id: None,
            command_id: args.command_id.as_deref(),
            category: args.category.as_deref(),
            text: format!("{} {}", args.query.unwrap_or_default(), args.task),
            skills: &skills,
        };
        let Some(found) = choose(&all, &wanted) else {
            let data = json!({ "agent_id": null, "reason": "nothing in the catalogue fits" });
            return Ok(Outcome::Ok(Body::new(data, "no subagent fits this task")));
        };
        let found = self.0.decide(found, &wanted, cx).await?;
        let data = json!({
            "agent_id": found.agent.id, "agent_name": found.agent.name, "plugin": found.plugin.id,
            "model": found.agent.model, "command_id": found.command.map(|command| &command.id),
            "skills": found.agent.default_skills, "reason": found.reason,
        });
        let command =
            found.command.map(|command| format!(" (command_id={})", command.id)).unwrap_or_default();
        let text = format!("{}/{}{command}: {}", found.plugin.id, found.agent.id, found.reason);
        Ok(Outcome::Ok(Body::new(data, text)))
    }
}

pub(super) fn view(plugin: &SubPlugin, agent: &SubAgent) -> Value {
    let commands: Vec<Value> = plugin
        .commands
        .iter()
        .map(|command| json!({ "id": command.id, "name": command.name, "description": command.description }))
        .collect();
    json!({
        "id": agent.id, "name": agent.name, "plugin": plugin.id, "plugin_name": plugin.name,
        "plugin_category": plugin.category, "category": plugin.category,
        "plugin_description": plugin.description, "model": agent.model, "skills": agent.skills,
        "default_skills": agent.default_skills, "default_command": agent.default_command,
        "commands": commands, "description": agent.description,
    })
}

/// No such agent, and which ones look alike.
pub(super) fn unknown(all: &[SubPlugin], id: &str) -> ToolError {
    let ids: Vec<&str> =
        all.iter().flat_map(|plugin| plugin.agents.iter().map(|agent| agent.id.as_str())).collect();
    let nearest: Vec<String> =
        validation::nearest(id, ids.iter().copied()).map(str::to_owned).into_iter().collect();
    let known = ids.iter().take(12).map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ");
    ToolError::new(
        Reason::NotFound { what: "subagent".to_owned(), id: Some(id.to_owned()), path: None, nearest },
        Text::new(format!("there is no subagent `{id}`"), format!("没有子智能体 `{id}`")),
    )
    .hint(Text::new(format!("there are {known}"), format!("现有 {known}")))
}
