//! The one function that decides grants (agents §4): land_config ∩ choice ∩ state ∩ role flags.
//! Nothing is granted that is not written down somewhere, and nothing missing widens anything.

use std::collections::{BTreeMap, BTreeSet};

use chatos_contribution::ServerIdentity;
use serde::Serialize;

use crate::{
    AgentApps, AgentConfig, Code, LandConfig, Mode, PromptLang, Refusal, Role, RunRefusal, SAFE_DEFAULT,
    ServerFacts, ServerState, ToolFilter, World,
};

/// A server that a run may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Which.
    pub identity: ServerIdentity,
    /// What people call it.
    pub server: String,
    /// Why it is granted.
    pub via: Via,
    /// Filters of its tools; a tool must pass every one.
    filters: Vec<ToolFilter>,
    /// Whether its prompt joins the system prompt, and in which language.
    pub prompt: Option<PromptLang>,
    /// Whether it may ask for model answers.
    pub sampling: bool,
    /// Whether what it says about itself joins the system prompt.
    pub instructions: bool,
}

/// The rule that granted a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// An entry of the land_config.
    LandConfig,
    /// A trusted app the agent chose, under `agentApps: trusted`.
    AgentApp,
}

/// What a filter says of one tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolDecision {
    /// May be called.
    Allow,
    /// May be called after a person said yes.
    Ask,
    /// Is not offered.
    Deny,
}

impl ToolFilter {
    /// What this filter says of a raw tool name. `deny` beats everything.
    pub fn decide(&self, tool: &str) -> ToolDecision {
        let any = |globs: &[crate::Glob]| globs.iter().any(|glob| glob.matches(tool));
        if any(&self.deny) || self.allow.as_deref().is_some_and(|allow| !any(allow)) {
            ToolDecision::Deny
        } else if any(&self.ask) {
            ToolDecision::Ask
        } else {
            ToolDecision::Allow
        }
    }
}

/// The line of a filter that decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolRule {
    /// Nothing restricts the tools of this server.
    Unrestricted,
    /// A pattern of `allow`.
    Allow(String),
    /// `allow` is there and none of its patterns fits.
    NotInAllow,
    /// A pattern of `deny`.
    Deny(String),
    /// A pattern of `ask`.
    Ask(String),
}

impl ToolFilter {
    /// Which line decides about a raw tool name.
    pub fn rule(&self, tool: &str) -> ToolRule {
        let first = |globs: &[crate::Glob]| {
            globs.iter().find(|glob| glob.matches(tool)).map(|glob| glob.as_str().to_owned())
        };
        if let Some(glob) = first(&self.deny) {
            return ToolRule::Deny(glob);
        }
        let allowed = match &self.allow {
            None => ToolRule::Unrestricted,
            Some(allow) => match first(allow) {
                Some(glob) => ToolRule::Allow(glob),
                None => return ToolRule::NotInAllow,
            },
        };
        first(&self.ask).map_or(allowed, ToolRule::Ask)
    }
}

impl Grant {
    /// The line that decided about a raw tool name: of the filter whose word was the strictest.
    pub fn rule(&self, tool: &str) -> ToolRule {
        let decision = self.tool(tool);
        let deciding = self.filters.iter().filter(|filter| filter.decide(tool) == decision);
        deciding.map(|filter| filter.rule(tool)).next().unwrap_or(ToolRule::Unrestricted)
    }

    /// What all filters together say of a raw tool name: the strictest word counts.
    pub fn tool(&self, tool: &str) -> ToolDecision {
        self.filters.iter().fold(ToolDecision::Allow, |so_far, filter| match (so_far, filter.decide(tool)) {
            (ToolDecision::Deny, _) | (_, ToolDecision::Deny) => ToolDecision::Deny,
            (ToolDecision::Ask, _) | (_, ToolDecision::Ask) => ToolDecision::Ask,
            _ => ToolDecision::Allow,
        })
    }
}

impl Grant {
    /// Also keeps the filters of an earlier grant of the same server, so that nothing widens.
    pub fn narrow(&mut self, before: &Self) {
        self.filters.extend(
            before
                .filters
                .iter()
                .filter(|filter| !self.filters.contains(filter))
                .cloned()
                .collect::<Vec<_>>(),
        );
        self.sampling &= before.sampling;
        self.instructions &= before.instructions;
    }

    /// Hides tools that are for programs, not for models (agents §10.2).
    pub fn hide(&mut self, tools: &[&str]) {
        let deny = tools.iter().map(|tool| crate::Glob::new(*tool)).collect();
        self.filters.push(ToolFilter { deny, ..ToolFilter::default() });
    }
}

/// What a run may use, and why not the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// For which role.
    pub role: Role,
    /// The land_config that bounded it.
    pub land_id: String,
    /// Its name.
    pub land: String,
    /// Granted servers, by identity.
    pub grants: BTreeMap<ServerIdentity, Grant>,
    /// Everything listed or chosen that is not granted, once each.
    pub refusals: Vec<Refusal>,
}

impl Outcome {
    /// What may be done with one tool of one server; `None` when the server is not granted.
    pub fn tool(&self, identity: &ServerIdentity, tool: &str) -> Option<ToolDecision> {
        self.grants.get(identity).map(|grant| grant.tool(tool))
    }
}

/// Decides what `agent` may use in `role`. `lands` finds a land_config by id.
pub fn grants<'l>(
    agent: &AgentConfig,
    role: Role,
    lands: impl Fn(&str) -> Option<&'l LandConfig>,
    world: &World,
) -> Result<Outcome, RunRefusal> {
    // 1. The land_config. Whitespace is nothing; an id that is gone never falls back.
    let wanted = agent.land_config_id.as_deref().map(str::trim).filter(|id| !id.is_empty());
    let id = match (wanted, agent.mode) {
        (Some(id), _) => id,
        (None, Mode::Flow) => return Err(RunRefusal::LandConfigRequired),
        (None, Mode::Custom) => SAFE_DEFAULT,
    };
    let land = lands(id).ok_or(RunRefusal::LandConfigMissing)?;

    let mut deciding = Deciding { role, land, world, refusals: Vec::new(), refused: BTreeSet::new() };
    let listed = deciding.listed();
    let chosen = deciding.chosen(agent, &listed);
    let added = deciding.added(agent);

    let mut grants = BTreeMap::new();
    for identity in &chosen {
        let Some(server) = world.by_identity(identity) else { continue };
        // 4. Bound: what the land_config lists, or an app of its own choice where that is allowed.
        let bound = match (listed.get(identity), added.contains(identity)) {
            (Some(listed), _) => Some(Grant {
                identity: identity.clone(),
                server: server.name.clone(),
                via: Via::LandConfig,
                filters: listed.filters.clone(),
                prompt: listed.prompt,
                sampling: listed.sampling,
                instructions: listed.instructions,
            }),
            (None, true) => Some(Grant {
                identity: identity.clone(),
                server: server.name.clone(),
                via: Via::AgentApp,
                filters: Vec::new(),
                prompt: Some(PromptLang::Auto),
                sampling: false,
                instructions: true,
            }),
            (None, false) => None,
        };
        match bound {
            None => deciding.refuse(Code::NotInLandConfig, server),
            Some(grant) => match deciding.state_of(server) {
                Some(code) => deciding.refuse(code, server),
                None => {
                    grants.insert(identity.clone(), grant);
                }
            },
        }
    }
    for identity in listed.keys().filter(|identity| !chosen.contains(identity)) {
        if let Some(server) = world.by_identity(identity) {
            deciding.refuse(Code::NotChosen, server);
        }
    }
    let refusals = deciding.refusals;
    Ok(Outcome { role, land_id: land.id.clone(), land: land.name.clone(), grants, refusals })
}

/// One listed server: all entries that name it, taken together.
struct Listed {
    filters: Vec<ToolFilter>,
    prompt: Option<PromptLang>,
    sampling: bool,
    instructions: bool,
    /// By an `mcpServers` entry, not only by an `apps` entry.
    as_server: bool,
}

struct Deciding<'a> {
    role: Role,
    land: &'a LandConfig,
    world: &'a World,
    refusals: Vec<Refusal>,
    refused: BTreeSet<(Code, String)>,
}

impl Deciding<'_> {
    /// 2. Listed: every entry that names something that exists.
    fn listed(&mut self) -> BTreeMap<ServerIdentity, Listed> {
        let mut listed: BTreeMap<ServerIdentity, Listed> = BTreeMap::new();
        let flow = self.land.flow(self.role);
        let mut add = |identity: &ServerIdentity, entry: Listed| match listed.get_mut(identity) {
            // Named twice: filters are intersected, and the stricter flag counts.
            Some(before) => {
                before.filters.extend(entry.filters);
                before.prompt = before.prompt.and(entry.prompt);
                before.sampling &= entry.sampling;
                before.instructions &= entry.instructions;
                before.as_server |= entry.as_server;
            }
            None => {
                listed.insert(identity.clone(), entry);
            }
        };
        let mut missing = Vec::new();
        for entry in &flow.mcp_servers {
            match self.world.server(&entry.id) {
                Some(server) => add(
                    &server.identity,
                    Listed {
                        filters: vec![entry.tools.clone()],
                        prompt: entry.prompt.then_some(entry.prompt_lang),
                        sampling: entry.sampling,
                        instructions: entry.instructions,
                        as_server: true,
                    },
                ),
                None if entry.name.is_empty() => missing.push(entry.id.clone()),
                None => missing.push(entry.name.clone()),
            }
        }
        for entry in &flow.apps {
            let own = self.world.app(&entry.plugin_id, &entry.app_id).and_then(|app| app.own_server.as_ref());
            match own.and_then(|identity| self.world.by_identity(identity)) {
                Some(server) => add(
                    &server.identity,
                    Listed {
                        filters: vec![entry.tools.clone()],
                        prompt: entry.prompt.then_some(entry.prompt_lang),
                        sampling: entry.sampling,
                        instructions: entry.instructions,
                        as_server: false,
                    },
                ),
                None => missing.push(format!("{}.{}", entry.plugin_id, entry.app_id)),
            }
        }
        for written in missing {
            self.refuse_missing(written);
        }
        listed
    }

    /// 3. Chosen: by the agent, or by nobody in particular.
    fn chosen(
        &mut self,
        agent: &AgentConfig,
        listed: &BTreeMap<ServerIdentity, Listed>,
    ) -> BTreeSet<ServerIdentity> {
        if agent.mode == Mode::Flow {
            return listed.keys().cloned().collect();
        }
        let mut chosen = BTreeSet::new();
        match &agent.mcp_server_ids {
            None => {
                // Not configured: every listed server; the listed apps too unless apps were chosen.
                let apps_too = agent.ui_apps.is_empty();
                let all = listed.iter().filter(|(_, entry)| entry.as_server || apps_too);
                chosen.extend(all.map(|(identity, _)| identity.clone()));
            }
            Some(ids) => {
                for id in ids {
                    match self.world.server(id) {
                        Some(server) => {
                            chosen.insert(server.identity.clone());
                        }
                        None => self.refuse_missing(id.clone()),
                    }
                }
            }
        }
        for wanted in agent.ui_apps.iter().filter(|app| app.mcp) {
            let Some(app) = self.world.app(&wanted.plugin_id, &wanted.app_id) else {
                self.refuse_missing(format!("{}.{}", wanted.plugin_id, wanted.app_id));
                continue;
            };
            if wanted.mcp_server_ids.is_empty() {
                chosen.extend(app.own_server.clone());
            }
            for id in &wanted.mcp_server_ids {
                match self.world.server(id) {
                    Some(server) if self.world.selectable(app, server) => {
                        chosen.insert(server.identity.clone());
                    }
                    Some(server) => self.refuse(Code::NotExposed, server),
                    None => self.refuse_missing(id.clone()),
                }
            }
        }
        chosen
    }

    /// The own servers of apps the agent explicitly chose, where the land_config lets it.
    fn added(&self, agent: &AgentConfig) -> BTreeSet<ServerIdentity> {
        let flow = self.land.flow(self.role);
        if agent.mode == Mode::Flow || flow.agent_apps == AgentApps::None {
            return BTreeSet::new();
        }
        let apps = agent.ui_apps.iter().filter(|app| app.mcp);
        apps.filter_map(|app| self.world.app(&app.plugin_id, &app.app_id)?.own_server.clone()).collect()
    }

    /// 5 and 6. State of the server, flag of the role, and no subagents of subagents.
    fn state_of(&self, server: &ServerFacts) -> Option<Code> {
        if server.is_router && self.role == Role::Sub {
            return Some(Code::RouterInSub);
        }
        match server.state {
            ServerState::Disabled => return Some(Code::Disabled),
            ServerState::Untrusted => return Some(Code::Untrusted),
            ServerState::Unavailable => return Some(Code::Unavailable),
            ServerState::Usable => {}
        }
        if !server.allows(self.role) {
            return Some(match self.role {
                Role::Main => Code::MainNotAllowed,
                Role::Sub => Code::SubNotAllowed,
            });
        }
        if server.is_router && self.land.limits.max_sub_depth == Some(0) {
            return Some(Code::SubDepthZero);
        }
        None
    }

    fn refuse(&mut self, code: Code, server: &ServerFacts) {
        if self.refused.insert((code, server.identity.to_string())) {
            self.refusals.push(Refusal {
                code,
                identity: Some(server.identity.clone()),
                server: server.name.clone(),
                tool: None,
                role: self.role,
                land: self.land.name.clone(),
            });
        }
    }

    fn refuse_missing(&mut self, written: String) {
        if self.refused.insert((Code::NotFound, written.clone())) {
            self.refusals.push(Refusal {
                code: Code::NotFound,
                identity: None,
                server: written,
                tool: None,
                role: self.role,
                land: self.land.name.clone(),
            });
        }
    }
}
