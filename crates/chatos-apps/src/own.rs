//! What an app reaches of chats and agents: those its plugin made, and more where it was allowed more
//! (host-api §5).

use chatos_store::AgentRecord;
use chatos_tool::Fault;
use serde_json::{Map, Value};

use crate::apps::{Apps, broken};

/// Who asks, and what it may.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppCaller {
    /// Id of the plugin the calling app belongs to.
    pub plugin_id: String,
    /// Id of the calling app inside its plugin.
    pub app_id: String,
    /// The capabilities it has.
    pub may: Vec<&'static str>,
}

impl AppCaller {
    /// Whether it has a capability.
    pub fn has(&self, capability: &str) -> bool {
        self.may.contains(&capability)
    }

    /// The app's full name, `<pluginId>/<appId>`.
    pub fn key(&self) -> String {
        format!("{}/{}", self.plugin_id, self.app_id)
    }

    /// As the owner of questions.
    pub fn owner(&self) -> String {
        format!("app:{}", self.key())
    }
}

impl Apps {
    /// Makes an agent for an app; also the question about the folder it wished for.
    pub async fn create_app_agent(
        &self,
        caller: &AppCaller,
        patch: Map<String, Value>,
    ) -> Result<(AgentRecord, Option<String>), Fault> {
        let (host, drafted) = (self.clone(), without_root(&patch));
        // What is wrong with it is said before a person is asked about a folder.
        off_thread(move || host.agents().drafted(None, drafted)).await?;
        let wish = patch.get("workspaceRoot").and_then(Value::as_str);
        let placed = self.place_for_app(&caller.plugin_id, &caller.app_id, wish).await?;
        let (host, plugin, pending) = (self.clone(), caller.plugin_id.clone(), placed.pending.clone());
        let made = off_thread(move || host.create_agent_for_app(&plugin, patch, &placed)).await?;
        Ok((made, pending))
    }

    /// Changes an agent for an app; also the question about the folder it wished for.
    pub async fn update_app_agent(
        &self,
        caller: &AppCaller,
        id: &str,
        patch: Map<String, Value>,
    ) -> Result<(AgentRecord, Option<String>), Fault> {
        let (host, by, agent, drafted) = (self.clone(), caller.clone(), id.to_owned(), without_root(&patch));
        off_thread(move || {
            host.reach_agent(&by, &agent)?;
            host.agents().drafted(Some(&host.agents().agent(&agent)?), drafted)
        })
        .await?;
        let placed = match patch.get("workspaceRoot").and_then(Value::as_str) {
            Some(wish) => Some(self.place_for_app(&caller.plugin_id, &caller.app_id, Some(wish)).await?),
            None => None,
        };
        let pending = placed.as_ref().and_then(|placed| placed.pending.clone());
        let (host, by, agent) = (self.clone(), caller.clone(), id.to_owned());
        let changed =
            off_thread(move || host.update_agent_for_app(&by, &agent, patch, placed.as_ref())).await?;
        Ok((changed, pending))
    }

    /// Refuses a chat the plugin did not make, unless the app has `capability`. Blocks.
    pub fn reach_session(&self, caller: &AppCaller, session: &str, capability: &str) -> Result<(), Fault> {
        if caller.has(capability) {
            return Ok(());
        }
        let store = self.store();
        if store.session(session)?.is_none() {
            return Err(chatos_records::no_session(session));
        }
        let maker = store.session_maker(session)?;
        if maker.as_deref() == Some(caller.plugin_id.as_str()) {
            return Ok(());
        }
        Err(self.not_granted(&caller.plugin_id, capability))
    }

    /// Whether the plugin made an agent; an agent that is not there is a fault.
    pub fn is_own_agent(&self, caller: &AppCaller, agent: &str) -> Result<bool, Fault> {
        self.agents().agent(agent)?;
        let maker = self.store().agent_maker(agent)?;
        Ok(maker.as_deref() == Some(caller.plugin_id.as_str()))
    }

    /// Refuses to let an agent answer that is neither the plugin's own nor the default one.
    pub fn reach_answering(&self, caller: &AppCaller, agent: &str) -> Result<(), Fault> {
        if caller.has("chat.write")
            || self.is_own_agent(caller, agent)?
            || self.agents().first_agent()?.id == agent
        {
            return Ok(());
        }
        Err(self.not_granted(&caller.plugin_id, "chat.write"))
    }

    /// The agent a chat of the app begins with when it names none: the newest it made, else the default one.
    pub fn agent_of_app(&self, plugin_id: &str) -> Result<AgentRecord, Fault> {
        let makers = self.store().agent_makers()?;
        let own = self.agents().agents()?.into_iter();
        let own = own.filter(|agent| makers.get(&agent.id).is_some_and(|maker| maker == plugin_id));
        own.max_by_key(|agent| agent.updated_at).map_or_else(|| self.agents().first_agent(), Ok)
    }
}

fn without_root(patch: &Map<String, Value>) -> Map<String, Value> {
    let mut patch = patch.clone();
    patch.remove("workspaceRoot");
    patch
}

async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    chatos_blocking::run(work).await.map_err(|error| broken(&error))?
}
