//! Agents, land_configs and the texts for models: the one place the API, the terminal and runs ask.

mod blocks;
mod book;
mod edit;
mod explain;
mod fault;
mod known;
mod lands;
mod prompts;
mod seeds;
mod world;

use chatos_policy::{LandConfig, Outcome, Role, SAFE_DEFAULT, World, grants};
use chatos_store::{AgentRecord, SystemPrompt};
use chatos_tool::{Fault, Lang};

use crate::host::Host;

pub use blocks::{Block, BlockContext, PromptUse, SubTexts, SystemBlocks};
pub(crate) use fault::{no_agent, no_land_config, run_refused};
pub use seeds::FIRST_AGENT;
pub(crate) use seeds::seed;

/// Agents of one host. Everything here blocks on the database; async callers use a blocking thread.
pub struct AgentDesk<'h> {
    host: &'h Host,
}

impl Host {
    /// Agents, land_configs and texts for models.
    pub fn agents(&self) -> AgentDesk<'_> {
        AgentDesk { host: self }
    }
}

impl AgentDesk<'_> {
    /// All agents in a person's order.
    pub fn agents(&self) -> Result<Vec<AgentRecord>, Fault> {
        self.host.store().agents().map_err(Fault::from)
    }

    /// One agent by id.
    pub fn agent(&self, id: &str) -> Result<AgentRecord, Fault> {
        let found = self.host.store().agent(id)?;
        found.ok_or_else(|| no_agent(id))
    }

    /// One agent by id, or by its name as people write it; `default` is the one a chat begins with.
    pub fn find(&self, text: &str) -> Result<AgentRecord, Fault> {
        let agents = self.agents()?;
        if text == "default" {
            return self.first_agent();
        }
        let found = agents.iter().find(|agent| agent.id == text).or_else(|| {
            let mut named = agents.iter().filter(|agent| agent.name.eq_ignore_ascii_case(text));
            named.next().filter(|_| named.next().is_none())
        });
        found.cloned().ok_or_else(|| no_agent(text))
    }

    /// The agent of a chat that names none: the first in a person's order.
    pub fn first_agent(&self) -> Result<AgentRecord, Fault> {
        let agents = self.agents()?;
        let made = agents.iter().position(|agent| agent.id == FIRST_AGENT).unwrap_or_default();
        agents.into_iter().nth(made).ok_or_else(|| no_agent(FIRST_AGENT))
    }

    /// All land_configs, the built-in ones first.
    pub fn land_configs(&self) -> Result<Vec<LandConfig>, Fault> {
        self.host.store().land_configs().map_err(Fault::from)
    }

    /// One land_config by id.
    pub fn land_config(&self, id: &str) -> Result<LandConfig, Fault> {
        let found = self.host.store().land_config(id)?;
        found.ok_or_else(|| no_land_config(id))
    }

    /// All texts for models.
    pub fn system_prompts(&self) -> Result<Vec<SystemPrompt>, Fault> {
        self.host.store().system_prompts().map_err(Fault::from)
    }

    /// One snapshot of servers and apps; a run keeps the one it began with.
    pub fn world(&self) -> Result<World, Fault> {
        world::world(self.host)
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

    /// The system prompt of a run (agents §6): `outcome` is what was granted for its role.
    pub fn system_blocks(
        &self,
        agent: &AgentRecord,
        outcome: &Outcome,
        context: &BlockContext,
    ) -> Result<SystemBlocks, Fault> {
        let land = self.land_config(&outcome.land_id)?;
        let book = book::PromptBook::read(self.host)?;
        let setting = if self.host.settings().text("promptLanguage") == "en" { Lang::En } else { Lang::Zh };
        let assembly = blocks::Assembly { agent, land: &land, outcome, book: &book, setting, context };
        Ok(assembly.assemble())
    }
}
