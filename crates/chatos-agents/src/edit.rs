//! Making, changing and removing agents (agents §3). What is refused is refused at save; what is
//! gone later shows as a problem and never as a wider right.

use std::path::Path;

use chatos_policy::{Code, Mode, Role, SAFE_DEFAULT, World};
use chatos_store::{AcpLaunch, AgentRecord, StoreErrorKind};
use chatos_tool::{ErrorCode, Fault, Issues, Lang, Text, overlay};
use chatos_wire::agent::Reason;
use chatos_wire::event::{ChangedId, HostEvent};
use serde_json::{Map, Value, json};

use crate::agents::Agents;
use crate::explain::is_stop;
use crate::fault::{no_agent, run_refused};

/// agents §6: a longer text is refused at save.
pub(crate) const PROMPT_BYTES: usize = 128 * 1024;
/// References of one kind an agent may have.
const REFERENCES: usize = 200;

/// Bytes of what others may keep beside a chosen app.
const EXTRA_BYTES: usize = 16 * 1024;

/// Members of an agent as the API gives it that nobody can set.
const READ_ONLY: [&str; 7] = ["id", "createdAt", "updatedAt", "problems", "cleared", "landConfig", "madeBy"];

impl Agents {
    /// The agent a patch would make, checked, without saving it. `base`: the saved one.
    pub fn drafted(
        &self,
        base: Option<&AgentRecord>,
        patch: Map<String, Value>,
    ) -> Result<AgentRecord, Fault> {
        let fresh;
        let base = match base {
            Some(base) => base,
            None => {
                fresh = AgentRecord::new("", &self.land_of_new_agents());
                &fresh
            }
        };
        let mut agent = overlay(base, patch, &READ_ONLY)?;
        agent.id.clone_from(&base.id);
        agent.acp.clone_from(&base.acp);
        agent.name = agent.name.trim().to_owned();
        agent.land_config_id = agent.land_config_id.trim().to_owned();
        agent.model_id = agent.model_id.filter(|id| !id.trim().is_empty());
        self.check(base, &agent)?;
        refuse_for_acp(&agent)?;
        if agent.mode == Mode::Flow {
            agent.clear_choices();
        }
        Ok(agent)
    }

    /// As [`Agents::drafted`] for looking at: a flow agent without a land_config is shown as
    /// refused instead of failing.
    pub fn previewed(
        &self,
        base: Option<&AgentRecord>,
        patch: Map<String, Value>,
    ) -> Result<AgentRecord, Fault> {
        match self.drafted(base, patch.clone()) {
            Err(fault) if is_stop(&fault) => {
                let fresh = AgentRecord::new("", SAFE_DEFAULT);
                let mut agent = overlay(base.unwrap_or(&fresh), patch, &READ_ONLY)?;
                agent.acp = base.and_then(|base| base.acp.clone());
                if agent.mode == Mode::Flow {
                    agent.clear_choices();
                }
                Ok(agent)
            }
            drafted => drafted,
        }
    }

    /// Makes an agent.
    pub fn create(&self, patch: Map<String, Value>) -> Result<AgentRecord, Fault> {
        let agent = self.drafted(None, patch)?;
        self.save(agent, true)
    }

    /// Makes an agent of a program of another maker (decision 0055), at a person's own wish only: it has their rights.
    pub fn create_acp(&self, patch: Map<String, Value>, launch: AcpLaunch) -> Result<AgentRecord, Fault> {
        let mut issues = Issues::default();
        issues.needed("/program", &launch.program, 4_096);
        if launch.args.len() > 100 || launch.args.iter().any(|word| word.len() > 4_096) {
            issues.add("/args", "length", "too many or too long arguments", "参数过多或过长");
        }
        if launch.pass_env.len() > 100
            || launch.pass_env.iter().any(|name| name.is_empty() || name.contains('='))
        {
            issues.add("/passEnv", "invalid", "names of variables", "环境变量名无效");
        }
        issues.done()?;
        let mut agent = self.drafted(None, patch)?;
        agent.acp = Some(launch);
        refuse_for_acp(&agent)?;
        self.save(agent, true)
    }

    /// Changes an agent: what the patch does not name stays.
    pub fn update(&self, id: &str, patch: Map<String, Value>) -> Result<AgentRecord, Fault> {
        let _alone = self.0.models.editing();
        let agent = self.drafted(Some(&self.agent(id)?), patch)?;
        self.save(agent, false)
    }

    /// Removes an agent.
    pub fn remove(&self, id: &str) -> Result<(), Fault> {
        if !self.0.store.remove_agent(id)? {
            return Err(no_agent(id));
        }
        self.0.events.publish(HostEvent::AgentsChanged(ChangedId { id: id.to_owned() }));
        Ok(())
    }

    /// Writes an agent down as it is; for whoever drafted it.
    pub fn save(&self, agent: AgentRecord, new: bool) -> Result<AgentRecord, Fault> {
        let id = agent.id.clone();
        self.0.store.put_agent(agent, new).map_err(|error| match error.kind {
            StoreErrorKind::NotFound => no_agent(&id),
            _ => Fault::from(error),
        })?;
        self.0.events.publish(HostEvent::AgentsChanged(ChangedId { id: id.clone() }));
        self.agent(&id)
    }

    fn land_of_new_agents(&self) -> String {
        let wanted = self.0.settings.text("defaultLandConfigId");
        match self.0.store.land_config(wanted.trim()) {
            Ok(Some(land)) => land.id,
            // One that is gone is no reason for a wider one.
            _ => SAFE_DEFAULT.to_owned(),
        }
    }

    fn check(&self, base: &AgentRecord, agent: &AgentRecord) -> Result<(), Fault> {
        let mut issues = Issues::default();
        issues.needed("/name", &agent.name, 120);
        issues.longest("/description", &agent.description, 4_000);
        issues.longest("/workspaceRoot", &agent.workspace_root, 4_096);
        if agent.prompt.len() > PROMPT_BYTES {
            issues.add("/prompt", "length", "at most 128 KiB", "最多 128 KiB");
        }
        issues.references("/promptIds", &agent.prompt_ids, REFERENCES);
        issues.references("/mcpServerIds", agent.mcp_server_ids.as_deref().unwrap_or_default(), REFERENCES);
        issues.references("/subagentIds", agent.subagent_ids.as_deref().unwrap_or_default(), REFERENCES);
        issues.references("/skills", &agent.skills, REFERENCES);
        if agent.ui_apps.len() > REFERENCES {
            issues.add("/uiApps", "length", "at most 200 apps", "最多 200 个应用");
        }
        for (index, app) in agent.ui_apps.iter().enumerate() {
            let at = |field: &str| format!("/uiApps/{index}/{field}");
            issues.needed(&at("pluginId"), &app.plugin_id, 256);
            issues.needed(&at("appId"), &app.app_id, 256);
            issues.references(&at("mcpServerIds"), &app.mcp_server_ids, REFERENCES);
            issues.references(&at("promptIds"), &app.prompt_ids, REFERENCES);
            if serde_json::to_string(&app.extra).is_ok_and(|extra| extra.len() > EXTRA_BYTES) {
                issues.add(&format!("/uiApps/{index}"), "length", "too much beside it", "附加内容过多");
            }
            let same = |other: &&chatos_policy::UiApp| {
                (&other.plugin_id, &other.app_id) == (&app.plugin_id, &app.app_id)
            };
            if agent.ui_apps[..index].iter().any(|other| same(&other)) {
                issues.add(&at("appId"), "duplicate", "this app is chosen twice", "该应用被选择了两次");
            }
        }
        // What was there before and is gone now stays, as a problem; only a new choice must exist.
        if agent.workspace_root != base.workspace_root && !is_directory(&agent.workspace_root) {
            issues.add(
                "/workspaceRoot",
                "not_found",
                "must be an existing directory with an absolute path",
                "必须是已存在的目录（绝对路径）",
            );
        }
        if let Some(model) = agent.model_id.as_ref().filter(|_| agent.model_id != base.model_id)
            && self.0.store.model(model)?.is_none()
        {
            issues.add("/modelId", "not_found", "there is no such model", "没有该模型");
        }
        issues.done()?;
        if agent.mode == Mode::Flow && agent.land_config_id.is_empty() {
            return Err(invalid(run_refused(chatos_policy::RunRefusal::LandConfigRequired)));
        }
        let chosen = !agent.land_config_id.is_empty() && agent.land_config_id != base.land_config_id;
        if chosen && self.0.store.land_config(&agent.land_config_id)?.is_none() {
            return Err(invalid(run_refused(chatos_policy::RunRefusal::LandConfigMissing)));
        }
        Ok(())
    }

    /// What is wrong with an agent as it stands: things that are gone, or chosen in vain.
    pub fn problems(&self, agent: &AgentRecord, lang: Lang) -> Result<Vec<Reason>, Fault> {
        self.problems_in(agent, &self.world()?, lang)
    }

    pub(crate) fn problems_in(
        &self,
        agent: &AgentRecord,
        world: &World,
        lang: Lang,
    ) -> Result<Vec<Reason>, Fault> {
        let mut problems: Vec<Reason> = Vec::new();
        let reason = |code: &str, message: Text, fix: &str| Reason {
            code: code.to_owned(),
            message: message.get(lang).to_owned(),
            fix: Some(fix.to_owned()),
        };
        if let Some(id) = &agent.model_id {
            match self.0.store.model(id)? {
                None => problems.push(reason(
                    "model_missing",
                    Text::fixed("The model of this agent no longer exists.", "该智能体的模型已不存在。"),
                    "agents",
                )),
                Some(model) if !model.enabled => problems.push(reason(
                    "model_disabled",
                    Text::new(
                        format!("The model “{}” is disabled.", model.name),
                        format!("模型「{}」已停用。", model.name),
                    ),
                    "agents/models",
                )),
                Some(_) => {}
            }
        }
        if !is_directory(&agent.workspace_root) {
            problems.push(reason(
                "workspace_missing",
                Text::fixed(
                    "The workspace of this agent is not a directory.",
                    "该智能体的工作目录不存在或不是目录。",
                ),
                "agents",
            ));
        }
        for role in [Role::Main, Role::Sub] {
            let outcome = match self.outcome_in(agent, role, world) {
                Ok(outcome) => outcome,
                Err(fault) if is_stop(&fault) => {
                    problems.push(reason(&fault.code, fault.message, "agents"));
                    break;
                }
                Err(fault) => return Err(fault),
            };
            for refusal in &outcome.refusals {
                // The router in a sub flow and what was not chosen are decisions, not problems; and
                // what the sub flow leaves out of a choice is what a land_config is for.
                let tell = match refusal.code {
                    Code::NotChosen | Code::RouterInSub | Code::SubDepthZero | Code::SubNotAllowed => false,
                    Code::NotInLandConfig => role == Role::Main,
                    _ => true,
                };
                let told = reason(
                    &serde_json::to_value(refusal.code)
                        .map_or_else(|_| String::new(), |word| word.as_str().unwrap_or_default().to_owned()),
                    Text::new(refusal.en(), refusal.zh()),
                    refusal.page(),
                );
                if tell && !problems.contains(&told) {
                    problems.push(told);
                }
            }
        }
        Ok(problems)
    }
}

/// A program of another maker has its own model, texts and tools.
fn refuse_for_acp(agent: &AgentRecord) -> Result<(), Fault> {
    if agent.acp.is_none() {
        return Ok(());
    }
    let fields = [
        ("/modelId", agent.model_id.is_some()),
        ("/prompt", !agent.prompt.is_empty()),
        ("/promptIds", !agent.prompt_ids.is_empty()),
        ("/mcpServerIds", agent.mcp_server_ids.is_some()),
        ("/subagentIds", agent.subagent_ids.is_some()),
        ("/skills", !agent.skills.is_empty()),
        ("/uiApps", !agent.ui_apps.is_empty()),
    ];
    let Some((field, _)) = fields.into_iter().find(|(_, set)| *set) else { return Ok(()) };
    Err(Fault::new(
        ErrorCode::InvalidArgument,
        Text::new(
            format!("{field}: `{}` is another program, which has its own model, texts and tools", agent.name),
            format!("{field}：`{}` 是另一个程序，使用它自己的模型、提示词和工具", agent.name),
        ),
    )
    .code("not_for_acp")
    .hint(Text::fixed(
        "name, description, working folder and permissions profile can be changed",
        "可以更改名称、说明、工作目录和授权配置",
    )))
}

/// At save it is the caller's mistake, not a refused run.
fn invalid(mut fault: Fault) -> Fault {
    fault.class = ErrorCode::InvalidArgument;
    fault.details = Some(
        json!({ "errors": [{ "path": "/landConfigId", "code": fault.code, "message": fault.message.en }] }),
    );
    fault
}

/// Empty is no choice, and fine.
fn is_directory(path: &str) -> bool {
    path.is_empty() || (Path::new(path).is_absolute() && Path::new(path).is_dir())
}
