//! Agents that apps make and change, and what only a person decides about them (host-api §5, §6.4).

use chatos_policy::SAFE_DEFAULT;
use chatos_store::AgentRecord;
use chatos_tool::{ErrorCode, Fault, Text};
use serde_json::{Map, Value, json};

use crate::apps::Apps;
use crate::own::AppCaller;
use crate::roots::Placed;

/// What only a person decides: an app neither picks nor changes the frame its agents work in
/// (host-api §6.4: they get the safe default), nor where they work: that is a wish (§5).
const NOT_FOR_APPS: [&str; 3] = ["landConfigId", "mode", "workspaceRoot"];

impl Apps {
    /// A person changes an agent. The folder they give an agent of an app is one they chose for that app.
    pub fn update_agent(&self, id: &str, patch: Map<String, Value>) -> Result<AgentRecord, Fault> {
        let before = self.agents().agent(id)?.workspace_root;
        let agent = self.agents().update(id, patch)?;
        let root = &agent.workspace_root;
        let maker = self.store().agent_maker(id)?;
        if let Some(plugin) = maker.filter(|_| *root != before && !root.is_empty()) {
            self.root_chosen(&plugin, root)?;
        }
        Ok(agent)
    }

    /// Makes an agent for an app; it is this plugin's from then on. `placed`: where it works.
    pub(crate) fn create_agent_for_app(
        &self,
        plugin: &str,
        mut patch: Map<String, Value>,
        placed: &Placed,
    ) -> Result<AgentRecord, Fault> {
        for key in NOT_FOR_APPS {
            patch.remove(key);
        }
        let mut agent = self.agents().drafted(None, patch)?;
        SAFE_DEFAULT.clone_into(&mut agent.land_config_id);
        agent.workspace_root.clone_from(&placed.root);
        let made = self.agents().save(agent, true)?;
        let store = self.store();
        store
            .set_agent_maker(&made.id, plugin)
            .and_then(|()| store.set_agent_wish(&made.id, &placed.wished))?;
        Ok(made)
    }

    /// Changes an agent for an app. `placed`: where it works, when the app wished for another folder.
    pub(crate) fn update_agent_for_app(
        &self,
        caller: &AppCaller,
        id: &str,
        mut patch: Map<String, Value>,
        placed: Option<&Placed>,
    ) -> Result<AgentRecord, Fault> {
        self.reach_agent(caller, id)?;
        for key in NOT_FOR_APPS {
            patch.remove(key);
        }
        if let Some(placed) = placed {
            // A wish changes nothing for an agent of the person.
            if self.is_own_agent(caller, id)? {
                patch.insert("workspaceRoot".to_owned(), json!(placed.root));
                self.store().set_agent_wish(id, &placed.wished)?;
            }
        }
        self.agents().update(id, patch)
    }

    /// host-api §5: an app changes only agents its plugin made, unless it was allowed more.
    pub(crate) fn reach_agent(&self, caller: &AppCaller, id: &str) -> Result<(), Fault> {
        if self.is_own_agent(caller, id)? || caller.has("agents.write") {
            return Ok(());
        }
        Err(self.not_granted(&caller.plugin_id, "agents.write"))
    }

    /// Removes an agent for an app: not while chats talk to it (host-api §6.4); a person may.
    pub fn remove_agent_for_app(&self, caller: &AppCaller, id: &str) -> Result<(), Fault> {
        self.reach_agent(caller, id)?;
        let chats = self.store().sessions_of_agent(id)?;
        if chats > 0 {
            return Err(Fault::new(
                ErrorCode::Conflict,
                Text::new(
                    format!("{chats} chats talk to this agent"),
                    format!("有 {chats} 个会话正在使用此智能体"),
                ),
            )
            .hint(Text::fixed("the person can remove it on the Agents page", "用户可以在智能体页面移除它")));
        }
        self.agents().remove(id)
    }
}
