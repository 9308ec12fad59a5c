//! The agents of one state, their land_configs and their texts. Everything here blocks on the database; async callers
//! use a blocking thread.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use chatos_contribution::AppText;
use chatos_events::Events;
use chatos_model::Models;
use chatos_paths::StateDir;
use chatos_plugins::PluginHome;
use chatos_policy::{LandConfig, Outcome, Role, SAFE_DEFAULT, World, grants};
use chatos_servers::Servers;
use chatos_settings::Settings;
use chatos_store::{AgentRecord, Store, SystemPrompt};
use chatos_tool::names::{Named, Noun, pick};
use chatos_tool::{Fault, Lang};

use crate::blocks::{Assembly, BlockContext, SystemBlocks};
use crate::book::{PromptBook, language};
use crate::fault::{no_agent, no_land_config, run_refused};
use crate::seeds::FIRST_AGENT;
use crate::world;

/// What agents are made of.
pub struct AgentParts {
    pub dir: StateDir,
    /// The folder the host was started in: where an agent without one of its own works.
    pub project: PathBuf,
    pub store: Store,
    pub settings: Settings,
    pub events: Events,
    pub models: Models,
    pub plugins: PluginHome,
    /// The servers once something of them was needed; what they offer now is known only then.
    pub servers: Arc<OnceLock<Servers>>,
}

/// The agents of one state. Clones are the same.
#[derive(Clone)]
pub struct Agents(pub(crate) Arc<AgentParts>);

impl Agents {
    /// Nothing is opened for it.
    pub fn new(parts: AgentParts) -> Self {
        Self(Arc::new(parts))
    }

    /// All agents in a person's order.
    pub fn agents(&self) -> Result<Vec<AgentRecord>, Fault> {
        self.0.store.agents().map_err(Fault::from)
    }

    /// One agent by id.
    pub fn agent(&self, id: &str) -> Result<AgentRecord, Fault> {
        let found = self.0.store.agent(id)?;
        found.ok_or_else(|| no_agent(id))
    }

    /// One agent by id, or by its name as people write it; `default` is the one a chat begins with.
    pub fn find(&self, text: &str) -> Result<AgentRecord, Fault> {
        if text == "default" {
            return self.first_agent();
        }
        let mut agents = self.agents()?;
        let known: Vec<Named> = agents.iter().map(|agent| Named::new(&agent.id, [&agent.name])).collect();
        let id = &pick(Noun::AGENT, text, &known)?.id;
        let at = agents.iter().position(|agent| agent.id == *id);
        at.map(|at| agents.swap_remove(at)).ok_or_else(|| no_agent(text))
    }

    /// The agent of a chat that names none: the first in a person's order.
    pub fn first_agent(&self) -> Result<AgentRecord, Fault> {
        let agents = self.agents()?;
        let made = agents.iter().position(|agent| agent.id == FIRST_AGENT).unwrap_or_default();
        agents.into_iter().nth(made).ok_or_else(|| no_agent(FIRST_AGENT))
    }

    /// All land_configs, the built-in ones first.
    pub fn land_configs(&self) -> Result<Vec<LandConfig>, Fault> {
        self.0.store.land_configs().map_err(Fault::from)
    }

    /// One land_config by id.
    pub fn land_config(&self, id: &str) -> Result<LandConfig, Fault> {
        let found = self.0.store.land_config(id)?;
        found.ok_or_else(|| no_land_config(id))
    }

    /// All texts for models.
    pub fn system_prompts(&self) -> Result<Vec<SystemPrompt>, Fault> {
        self.0.store.system_prompts().map_err(Fault::from)
    }

    /// One snapshot of servers and apps; a run keeps the one it began with.
    pub fn world(&self) -> Result<World, Fault> {
        world::world(&self.0)
    }

    /// What an agent may use in a role, at this moment. A run that may not begin at all is a fault
    /// with the code `land_config_required` or `land_config_missing`.
    pub fn outcome(&self, agent: &AgentRecord, role: Role) -> Result<Outcome, Fault> {
        self.outcome_in(agent, role, &self.world()?)
    }

    /// The same against a snapshot.
    pub fn outcome_in(&self, agent: &AgentRecord, role: Role, world: &World) -> Result<Outcome, Fault> {
        let lands = self.land_configs()?;
        let find = |id: &str| lands.iter().find(|land| land.id == id);
        grants(&agent.config(), role, find, world).map_err(run_refused)
    }

    /// What a run that an app started may use: Safe default, no wider than the agent, and of the apps only
    /// those of `plugin` (host-api §5). Without a plugin all apps of the agent.
    pub fn outcome_for_app(
        &self,
        agent: &AgentRecord,
        role: Role,
        plugin: Option<&str>,
    ) -> Result<Outcome, Fault> {
        let (world, lands) = (self.world()?, self.land_configs()?);
        let find = |id: &str| lands.iter().find(|land| land.id == id);
        let mut config = agent.config();
        let own = grants(&config, role, find, &world).map_err(run_refused)?;
        config.land_config_id = Some(SAFE_DEFAULT.to_owned());
        if let Some(plugin) = plugin {
            config.ui_apps.retain(|app| app.plugin_id == plugin);
        }
        let mut outcome = grants(&config, role, find, &world).map_err(run_refused)?;
        outcome.grants.retain(|identity, grant| {
            let wider = own.grants.get(identity);
            wider.is_some_and(|wider| {
                grant.narrow(wider);
                true
            })
        });
        Ok(outcome)
    }

    /// The language a model reads on behalf of this agent: its own choice, else that of the settings.
    pub fn language(&self, agent: &AgentRecord) -> Lang {
        language(&[agent.prompt_lang], self.0.settings.languages().models)
    }

    /// Texts of apps that a person may hand to this agent's model by name.
    pub fn app_texts(&self, agent: &AgentRecord, outcome: &Outcome) -> Result<Vec<AppText>, Fault> {
        let land = self.land_config(&outcome.land_id)?;
        let book = PromptBook::read(&self.0)?;
        let setting = self.0.settings.languages().models;
        let context = BlockContext::default();
        let assembly = Assembly { agent, land: &land, outcome, book: &book, setting, context: &context };
        let snapshot = self.0.plugins.plugins()?.snapshot();
        let found = snapshot.contributions().into_iter().filter_map(|app| {
            let (plugin, id) = (app.plugin_id.to_string(), app.app_id.to_string());
            let text = assembly.own_text(&plugin, &id)?.to_owned();
            Some(AppText { title: app.mcp_prompt?.title, text, plugin, app: id })
        });
        Ok(found.collect())
    }

    /// The system prompt of a run (agents §6): `outcome` is what was granted for its role.
    pub fn system_blocks(
        &self,
        agent: &AgentRecord,
        outcome: &Outcome,
        context: &BlockContext,
    ) -> Result<SystemBlocks, Fault> {
        let land = self.land_config(&outcome.land_id)?;
        let book = PromptBook::read(&self.0)?;
        let setting = self.0.settings.languages().models;
        let assembly = Assembly { agent, land: &land, outcome, book: &book, setting, context };
        Ok(assembly.assemble())
    }
}
