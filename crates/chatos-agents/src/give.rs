//! Giving a server or an app to an agent in one step, and taking it back (packages §9): the permissions profile and what
//! the agent chose change together. A profile that is locked or that others use is copied first, so that nobody else
//! gains or loses anything.

use chatos_events::Finding;
use chatos_policy::{
    AppEntry, AppFacts, Glob, LandConfig, Mode, Outcome, PromptLang, Role, RunRefusal, SAFE_DEFAULT,
    ServerEntry, ServerFacts, ServerState, ToolFilter, UiApp, World, changes, grants,
};
use chatos_store::AgentRecord;
use chatos_tool::names::{Named, Noun, pick};
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use chatos_wire::Severity;
use chatos_wire::agent::{AgentName, GiveAsk, GiveInput, Given, LandName, ServerUser, ServerUsers};
use chatos_wire::event::{ChangedId, HostEvent};

use crate::agents::Agents;
use crate::explain::{change_view, is_stop, server};
use crate::fault::run_refused;
use crate::lands::check;

/// The most characters the name of a permissions profile may have.
const NAME: usize = 120;

/// Whether a server is part of the program; whoever wants it finds it where agents are made.
fn is_built_in(server: &ServerUser) -> bool {
    let info = chatos_builtin::server_info(&server.name);
    info.is_some_and(|info| server.row_id.as_deref() == Some(info.id))
}

/// A server in a permissions profile: by its row, or by the app that has it.
struct Target<'w> {
    facts: &'w ServerFacts,
    app: Option<&'w AppFacts>,
}

impl Agents {
    /// Gives a server or an app to an agent, or takes it back. With `dry_run` nothing is changed.
    pub fn give(&self, wish: &GiveInput, lang: Lang) -> Result<Given, Fault> {
        let _alone = self.0.models.editing();
        let world = self.world()?;
        let target = find(&world, &wish.server)?;
        let before = self.find(&wish.agent)?;
        let land = self.land_of(&before)?;
        if !wish.revoke {
            usable(target.facts)?;
        }
        let (mut after, mut changed) = (before.clone(), land.clone());
        if wish.revoke {
            self.revoke(wish, &world, &target, &mut after, &mut changed)?;
        } else {
            let roles: &[Role] = if wish.sub { &[Role::Main, Role::Sub] } else { &[Role::Main] };
            for role in roles {
                list(&mut changed, *role, &world, &target, wish);
            }
            choose(&mut after, &world, &target);
        }
        let copied = changed != land && (land.locked || self.others_use(&land.id, &before.id)?);
        if copied {
            changed.id = format!("lc_{}", uuid::Uuid::now_v7().simple());
            changed.name = self.free_name(&format!("{} – {}", land.name, before.name))?;
            changed.locked = false;
            after.land_config_id.clone_from(&changed.id);
        }
        check(&changed)?;
        let known = self.known_tools(&world)?;
        let decide = |agent: &AgentRecord, land: &LandConfig| {
            grants(&agent.config(), Role::Main, |_| Some(land), &world).map_err(run_refused)
        };
        let (was, will) = (decide(&before, &land)?, decide(&after, &changed)?);
        let differences = changes(&was, &will, |identity| {
            known.get(identity.as_str()).map(|known| known.names.clone()).unwrap_or_default()
        });
        let given = Given {
            agent: AgentName { id: after.id.clone(), name: after.name.clone() },
            land_config: LandName { id: changed.id.clone(), name: changed.name.clone() },
            copied_from: copied.then(|| LandName { id: land.id.clone(), name: land.name.clone() }),
            changes: differences.iter().map(change_view).collect(),
            server: server(&will, &world, target.facts, &known, lang),
        };
        if !wish.dry_run && (changed != land || after != before) {
            if changed == land { drop(self.save(after, false)?) } else { self.save_both(changed, after)? }
        }
        Ok(given)
    }

    /// Writes an agent and the profile it uses from now on, both or neither.
    fn save_both(&self, land: LandConfig, agent: AgentRecord) -> Result<(), Fault> {
        let (land_id, agent_id) = (land.id.clone(), agent.id.clone());
        self.0.store.put_agent_with_land(land, agent)?;
        self.told(&land_id);
        self.0.events.publish(HostEvent::AgentsChanged(ChangedId { id: agent_id }));
        Ok(())
    }

    /// Every server, and the agents that may use it in chats.
    pub fn server_users(&self) -> Result<ServerUsers, Fault> {
        let world = self.world()?;
        let mut outcomes: Vec<(AgentName, Outcome)> = Vec::new();
        for agent in self.agents()? {
            match self.outcome_in(&agent, Role::Main, &world) {
                Ok(outcome) => outcomes.push((AgentName { id: agent.id, name: agent.name }, outcome)),
                Err(fault) if is_stop(&fault) => {}
                Err(fault) => return Err(fault),
            }
        }
        let items = world.servers().map(|facts| {
            let app = world.app_of(&facts.identity);
            let using = outcomes.iter().filter(|(_, outcome)| outcome.grants.contains_key(&facts.identity));
            ServerUser {
                identity: facts.identity.as_str().to_owned(),
                name: facts.name.clone(),
                row_id: facts.row_id.clone(),
                plugin_id: app.map(|app| app.plugin_id.clone()),
                app_id: app.map(|app| app.app_id.clone()),
                agents: using.map(|(agent, _)| agent.clone()).collect(),
            }
        });
        Ok(ServerUsers { items: items.collect() })
    }

    /// Servers that were added and that no agent may use, for the doctor.
    pub fn unused_servers(&self) -> Option<Finding> {
        let users = self.server_users().ok()?;
        let unused = users.items.iter().filter(|server| {
            let added = server.plugin_id.is_none() && server.row_id.is_some() && !is_built_in(server);
            added && server.agents.is_empty()
        });
        let names: Vec<&str> = unused.map(|server| server.name.as_str()).collect();
        let first = names.first()?;
        let first =
            if first.contains(char::is_whitespace) { format!("'{first}'") } else { (*first).to_owned() };
        Some(
            Finding::new(
                "servers_unused",
                Severity::Info,
                Text::fixed("Servers", "服务器"),
                Text::new(
                    format!("no agent may use: {}", names.join(", ")),
                    format!("没有智能体可以使用：{}", names.join("、")),
                ),
            )
            .action(Text::new(
                format!("`chatos grant {first} --agent default` gives it to your first agent"),
                format!("`chatos grant {first} --agent default` 可将其交给首个智能体"),
            )),
        )
    }

    /// The permissions profile that says the most an agent may use.
    fn land_of(&self, agent: &AgentRecord) -> Result<LandConfig, Fault> {
        let id = match (agent.land_config_id.trim(), agent.mode) {
            ("", Mode::Flow) => return Err(run_refused(RunRefusal::LandConfigRequired)),
            ("", Mode::Custom) => SAFE_DEFAULT,
            (id, _) => id,
        };
        self.0.store.land_config(id)?.ok_or_else(|| run_refused(RunRefusal::LandConfigMissing))
    }

    fn others_use(&self, land: &str, agent: &str) -> Result<bool, Fault> {
        Ok(self.land_users(land)?.iter().any(|(id, _)| id != agent))
    }

    /// Out of the agent's own choice where that is enough, else out of its profile.
    fn revoke(
        &self,
        wish: &GiveInput,
        world: &World,
        target: &Target<'_>,
        agent: &mut AgentRecord,
        land: &mut LandConfig,
    ) -> Result<(), Fault> {
        if wish.tools.is_empty() {
            unchoose(agent, world, target);
            let granted = |agent: &AgentRecord, land: &LandConfig, role| {
                let outcome = grants(&agent.config(), role, |_| Some(land), world);
                outcome
                    .map(|outcome| outcome.grants.contains_key(&target.facts.identity))
                    .map_err(run_refused)
            };
            for role in [Role::Main, Role::Sub] {
                if granted(agent, land, role)? {
                    let flow = land.flow_mut(role);
                    flow.mcp_servers.retain(|entry| !target.is_row(&entry.id, world));
                    flow.apps.retain(|entry| !target.is_app(&entry.plugin_id, &entry.app_id));
                }
            }
            return Ok(());
        }
        for role in [Role::Main, Role::Sub] {
            for filter in target.filters(land, role, world) {
                for tool in wish.tools.iter().map(Glob::new) {
                    if let Some(allow) = &mut filter.allow {
                        allow.retain(|glob| *glob != tool);
                    }
                    filter.ask.retain(|glob| *glob != tool);
                    if filter.decide(tool.as_str()) != chatos_policy::ToolDecision::Deny {
                        filter.deny.push(tool);
                    }
                }
            }
        }
        Ok(())
    }

    /// A name that no other permissions profile has, made from the wanted one.
    fn free_name(&self, wanted: &str) -> Result<String, Fault> {
        let taken: Vec<String> =
            self.land_configs()?.into_iter().map(|land| land.name.to_lowercase()).collect();
        let cut = |text: &str, most: usize| text.chars().take(most).collect::<String>();
        let mut name = cut(wanted, NAME);
        for number in 2_usize.. {
            if !taken.contains(&name.to_lowercase()) {
                break;
            }
            let suffix = format!(" ({number})");
            name = cut(wanted, NAME - suffix.len()) + &suffix;
        }
        Ok(name)
    }
}

impl Target<'_> {
    fn is_row(&self, written: &str, world: &World) -> bool {
        world.server(written).is_some_and(|facts| facts.identity == self.facts.identity)
    }

    fn is_app(&self, plugin: &str, app: &str) -> bool {
        self.app.is_some_and(|own| own.plugin_id == plugin && own.app_id == app)
    }

    /// The filters of every entry of a flow that names it.
    fn filters<'l>(&self, land: &'l mut LandConfig, role: Role, world: &World) -> Vec<&'l mut ToolFilter> {
        let flow = land.flow_mut(role);
        let servers = flow.mcp_servers.iter_mut().filter(|entry| self.is_row(&entry.id, world));
        let apps = flow.apps.iter_mut().filter(|entry| self.is_app(&entry.plugin_id, &entry.app_id));
        servers.map(|entry| &mut entry.tools).chain(apps.map(|entry| &mut entry.tools)).collect()
    }
}

/// What a person means by a server's or an app's name.
fn find<'w>(world: &'w World, written: &str) -> Result<Target<'w>, Fault> {
    let known: Vec<Named> = world
        .servers()
        .map(|facts| {
            let mut names = vec![facts.name.clone()];
            names.extend(facts.row_id.clone());
            if let Some(app) = world.app_of(&facts.identity) {
                names.push(format!("{}/{}", app.plugin_id, app.app_id));
                names.push(app.plugin_id.clone());
            }
            Named::new(facts.identity.as_str(), names)
        })
        .collect();
    let identity = &pick(Noun::SERVER, written, &known)?.id;
    let facts = world.servers().find(|facts| facts.identity.as_str() == identity);
    let facts = facts.ok_or_else(|| Fault::new(ErrorCode::NotFound, Text::same(written.to_owned())))?;
    Ok(Target { facts, app: world.app_of(&facts.identity) })
}

/// A server that is switched off can be given, one that nobody trusts yet cannot.
fn usable(facts: &ServerFacts) -> Result<(), Fault> {
    let name = &facts.name;
    match facts.state {
        ServerState::Usable | ServerState::Disabled => Ok(()),
        ServerState::Untrusted => Err(Fault::new(
            ErrorCode::PermissionDenied,
            Text::new(
                format!("the plugin of `{name}` is not trusted yet"),
                format!("`{name}` 所属的插件尚未被信任"),
            ),
        )
        .code("untrusted")
        .hint(Text::fixed(
            "review and trust it first: chatos plugin trust",
            "请先审查并信任它：chatos plugin trust",
        ))),
        ServerState::Unavailable => Err(Fault::new(
            ErrorCode::Unavailable,
            Text::new(format!("`{name}` did not load"), format!("`{name}` 未能加载")),
        )
        .hint(Text::fixed(
            "see what is wrong: chatos plugin list --problems",
            "查看原因：chatos plugin list --problems",
        ))),
    }
}

/// Lists it in a flow, or widens the entries that are there already. What a profile denies stays denied.
fn list(land: &mut LandConfig, role: Role, world: &World, target: &Target<'_>, wish: &GiveInput) {
    let tools: Vec<Glob> = wish.tools.iter().map(Glob::new).collect();
    let ask = wish.ask == GiveAsk::Each;
    let listed = target.filters(land, role, world);
    if !listed.is_empty() {
        for filter in listed {
            widen(filter, &tools, ask);
        }
        return;
    }
    let tools = ToolFilter {
        allow: (!tools.is_empty()).then_some(tools),
        deny: Vec::new(),
        ask: if ask { vec![Glob::new("*")] } else { Vec::new() },
    };
    let (name, flow) = (target.facts.name.clone(), land.flow_mut(role));
    match target.app {
        Some(app) => flow.apps.push(AppEntry {
            plugin_id: app.plugin_id.clone(),
            app_id: app.app_id.clone(),
            name,
            prompt_lang: PromptLang::Auto,
            prompt: true,
            sampling: false,
            instructions: true,
            tools,
        }),
        None => flow.mcp_servers.push(ServerEntry {
            id: target.facts.row_id.clone().unwrap_or_else(|| target.facts.identity.as_str().to_owned()),
            name,
            prompt_lang: PromptLang::Auto,
            prompt: true,
            sampling: false,
            instructions: true,
            tools,
        }),
    }
}

/// Lets more tools through. Where only some were allowed and now all are, all are asked about: a filter cannot tell
/// the former ones apart.
fn widen(filter: &mut ToolFilter, tools: &[Glob], ask: bool) {
    if tools.is_empty() {
        let some = filter.allow.take().is_some();
        if !ask {
            filter.ask.clear();
        } else if some {
            filter.ask = vec![Glob::new("*")];
        }
    }
    for tool in tools {
        let fresh =
            filter.allow.as_ref().is_some_and(|allow| !allow.iter().any(|glob| glob.matches(tool.as_str())));
        if let Some(allow) = filter.allow.as_mut().filter(|_| fresh) {
            allow.push(tool.clone());
        }
        if !ask {
            filter.ask.retain(|glob| glob != tool);
        } else if fresh && !filter.ask.contains(tool) {
            filter.ask.push(tool.clone());
        }
    }
}

/// Adds it to what the agent chose, where the agent chooses.
fn choose(agent: &mut AgentRecord, world: &World, target: &Target<'_>) {
    if agent.mode == Mode::Flow {
        return;
    }
    if let Some(app) = target.app {
        // Who chose nothing gets every app of the profile; a choice would take the others away.
        let chose_nothing = agent.ui_apps.is_empty() && agent.mcp_server_ids.is_none();
        match agent.ui_apps.iter_mut().find(|chosen| target.is_app(&chosen.plugin_id, &chosen.app_id)) {
            Some(chosen) => (chosen.mcp, chosen.prompt) = (true, true),
            None if chose_nothing => {}
            None => agent.ui_apps.push(UiApp::own(&app.plugin_id, &app.app_id)),
        }
        return;
    }
    let id = target.facts.row_id.clone().unwrap_or_else(|| target.facts.identity.as_str().to_owned());
    if let Some(ids) =
        agent.mcp_server_ids.as_mut().filter(|ids| !ids.iter().any(|id| target.is_row(id, world)))
    {
        ids.push(id);
    }
}

/// Takes it out of what the agent chose. An app stays as a choice without anything: an agent that has chosen no app
/// at all would get every one of its profile.
fn unchoose(agent: &mut AgentRecord, world: &World, target: &Target<'_>) {
    if let Some(ids) = &mut agent.mcp_server_ids {
        ids.retain(|id| !target.is_row(id, world));
    }
    for chosen in agent.ui_apps.iter_mut().filter(|chosen| target.is_app(&chosen.plugin_id, &chosen.app_id)) {
        (chosen.mcp, chosen.prompt) = (false, false);
    }
}
