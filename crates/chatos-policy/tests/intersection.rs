//! Property: for any land_config, agent, flags and role, what is granted is exactly the specified
//! intersection, written here a second time as sets.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::collections::BTreeSet;

use chatos_contribution::{Exposed, ServerIdentity};
use chatos_policy::{
    AgentApps, AgentConfig, AppEntry, AppFacts, Flow, Glob, LandConfig, Limits, Mode, PromptLang, Role,
    ServerEntry, ServerFacts, ServerState, ToolDecision, ToolFilter, UiApp, World, grants,
};
use proptest::prelude::*;

const SERVERS: [&str; 5] = ["s0", "s1", "s2", "router", "gone"];
const APPS: [&str; 3] = ["x", "y", "gone"];

fn app_identity(app: &str) -> ServerIdentity {
    serde_json::from_value(serde_json::json!(format!("app:p/{app}"))).unwrap()
}

fn state() -> impl Strategy<Value = ServerState> + Clone {
    prop_oneof![
        4 => Just(ServerState::Usable),
        1 => Just(ServerState::Disabled),
        1 => Just(ServerState::Untrusted),
        1 => Just(ServerState::Unavailable),
    ]
}

fn subset(of: &'static [&'static str]) -> impl Strategy<Value = Vec<&'static str>> {
    proptest::sample::subsequence(of, 0..=of.len())
}

/// Patterns, and what each of them matches of [`TOOLS`], worked out by hand.
const GLOBS: [(&str, [bool; 4]); 6] = [
    ("*", [true, true, true, true]),
    ("read_*", [true, true, false, false]),
    ("READ_FILE", [true, false, false, false]),
    ("*_file", [true, false, true, false]),
    ("write_fil?", [false, false, true, false]),
    ("other", [false, false, false, false]),
];
const TOOLS: [&str; 4] = ["read_file", "read_list", "write_file", "run"];

fn globs() -> impl Strategy<Value = Vec<Glob>> {
    proptest::sample::subsequence(&GLOBS[..], 0..=2)
        .prop_map(|all| all.into_iter().map(|(glob, _)| Glob::new(glob)).collect())
}

fn filter() -> impl Strategy<Value = ToolFilter> {
    (proptest::option::of(globs()), globs(), globs()).prop_map(|(allow, deny, ask)| ToolFilter {
        allow,
        deny,
        ask,
    })
}

fn matches(globs: &[Glob], tool: usize) -> bool {
    globs.iter().any(|glob| GLOBS.iter().any(|(known, hits)| *known == glob.as_str() && hits[tool]))
}

/// deny beats allow; an `allow` that is there, even empty, allows only what it matches; then ask.
fn word(filter: Option<&ToolFilter>, tool: usize) -> ToolDecision {
    let Some(filter) = filter else { return ToolDecision::Allow };
    if matches(&filter.deny, tool) || filter.allow.as_ref().is_some_and(|allow| !matches(allow, tool)) {
        ToolDecision::Deny
    } else if matches(&filter.ask, tool) {
        ToolDecision::Ask
    } else {
        ToolDecision::Allow
    }
}

fn flow() -> impl Strategy<Value = Flow> {
    let filters = proptest::collection::vec(filter(), SERVERS.len() + APPS.len());
    (subset(&SERVERS), subset(&APPS), any::<bool>(), filters).prop_map(|(servers, apps, trusted, filters)| {
        Flow {
            mcp_servers: servers
                .into_iter()
                .zip(filters.clone())
                .map(|(id, tools)| ServerEntry {
                    id: id.to_owned(),
                    name: String::new(),
                    prompt_lang: PromptLang::Auto,
                    prompt: true,
                    sampling: false,
                    instructions: true,
                    tools,
                })
                .collect(),
            apps: apps
                .into_iter()
                .zip(filters.into_iter().skip(SERVERS.len()))
                .map(|(id, tools)| AppEntry {
                    plugin_id: "p".to_owned(),
                    app_id: id.to_owned(),
                    name: String::new(),
                    prompt_lang: PromptLang::Auto,
                    prompt: true,
                    sampling: false,
                    instructions: true,
                    tools,
                })
                .collect(),
            agent_apps: if trusted { AgentApps::Trusted } else { AgentApps::None },
            ..Flow::default()
        }
    })
}

fn world() -> impl Strategy<Value = World> {
    let flags = (state(), any::<bool>(), any::<bool>());
    let exposes = prop_oneof![
        Just(Exposed::None),
        Just(Exposed::All),
        subset(&SERVERS).prop_map(|names| Exposed::List(names.into_iter().map(str::to_owned).collect())),
    ];
    (
        proptest::collection::vec(flags.clone(), 4),
        proptest::collection::vec((flags, any::<bool>(), exposes), 2),
    )
        .prop_map(|(servers, apps)| {
            let mut all = Vec::new();
            for (id, (state, allow_main, allow_sub)) in SERVERS.iter().zip(servers) {
                all.push(ServerFacts {
                    identity: ServerIdentity::admin(id),
                    row_id: Some((*id).to_owned()),
                    name: (*id).to_owned(),
                    state,
                    allow_main,
                    allow_sub,
                    is_router: *id == "router",
                });
            }
            let mut facts = Vec::new();
            for (id, ((state, allow_main, allow_sub), own, exposes)) in APPS.iter().zip(apps) {
                if own {
                    all.push(ServerFacts {
                        identity: app_identity(id),
                        row_id: None,
                        name: format!("p.{id}"),
                        state,
                        allow_main,
                        allow_sub,
                        is_router: false,
                    });
                }
                facts.push(AppFacts {
                    plugin_id: "p".to_owned(),
                    app_id: (*id).to_owned(),
                    name: (*id).to_owned(),
                    own_server: own.then(|| app_identity(id)),
                    exposes,
                });
            }
            World::new(all, facts)
        })
}

fn ui_app() -> impl Strategy<Value = UiApp> {
    (proptest::sample::select(&APPS[..]), any::<bool>(), subset(&SERVERS)).prop_map(|(id, mcp, ids)| UiApp {
        mcp,
        mcp_server_ids: ids.into_iter().map(str::to_owned).collect(),
        ..UiApp::own("p", id)
    })
}

fn agent() -> impl Strategy<Value = AgentConfig> {
    (
        prop_oneof![Just(Mode::Custom), Just(Mode::Flow)],
        proptest::option::of(subset(&SERVERS)),
        proptest::collection::vec(ui_app(), 0..3),
    )
        .prop_map(|(mode, ids, ui_apps)| AgentConfig {
            mode,
            land_config_id: Some("lc".to_owned()),
            mcp_server_ids: ids.map(|ids| ids.into_iter().map(str::to_owned).collect()),
            ui_apps,
        })
}

/// The specified set, from the definitions alone.
fn specified(agent: &AgentConfig, role: Role, land: &LandConfig, world: &World) -> BTreeSet<ServerIdentity> {
    let flow = land.flow(role);
    let resolve = |id: &str| world.server(id).map(|server| server.identity.clone());
    let own = |app: &str| world.app("p", app).and_then(|facts| facts.own_server.clone());
    let listed_servers: BTreeSet<_> = flow.mcp_servers.iter().filter_map(|e| resolve(&e.id)).collect();
    let listed_apps: BTreeSet<_> = flow.apps.iter().filter_map(|e| own(&e.app_id)).collect();
    let listed: BTreeSet<_> = listed_servers.union(&listed_apps).cloned().collect();
    let chosen: BTreeSet<_> = if agent.mode == Mode::Flow {
        listed.clone()
    } else {
        let mut chosen: BTreeSet<_> = match &agent.mcp_server_ids {
            Some(ids) => ids.iter().filter_map(|id| resolve(id)).collect(),
            None if agent.ui_apps.is_empty() => listed.clone(),
            None => listed_servers,
        };
        for wanted in agent.ui_apps.iter().filter(|wanted| wanted.mcp) {
            let Some(facts) = world.app("p", &wanted.app_id) else { continue };
            if wanted.mcp_server_ids.is_empty() {
                chosen.extend(facts.own_server.clone());
            }
            for id in &wanted.mcp_server_ids {
                let exposed = match &facts.exposes {
                    Exposed::None => false,
                    Exposed::All => true,
                    Exposed::List(names) => names.contains(id),
                };
                if exposed {
                    chosen.extend(resolve(id));
                }
            }
        }
        chosen
    };
    let added: BTreeSet<_> = if agent.mode == Mode::Custom && flow.agent_apps == AgentApps::Trusted {
        agent.ui_apps.iter().filter(|wanted| wanted.mcp).filter_map(|wanted| own(&wanted.app_id)).collect()
    } else {
        BTreeSet::new()
    };
    chosen
        .into_iter()
        .filter(|identity| listed.contains(identity) || added.contains(identity))
        .filter(|identity| {
            let server = world.by_identity(identity).unwrap();
            let allowed = if role == Role::Main { server.allow_main } else { server.allow_sub };
            let router = server.is_router && (role == Role::Sub || land.limits.max_sub_depth == Some(0));
            server.state == ServerState::Usable && allowed && !router
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn granted_is_the_specified_intersection(
        agent in agent(),
        main in flow(),
        sub in flow(),
        depth in proptest::option::of(0u32..=1),
        world in world(),
    ) {
        let land = LandConfig {
            id: "lc".to_owned(),
            name: "Land".to_owned(),
            description: String::new(),
            locked: false,
            main,
            sub,
            limits: Limits { max_sub_depth: depth, ..Limits::default() },
        };
        for role in [Role::Main, Role::Sub] {
            let outcome = grants(&agent, role, |_| Some(&land), &world).unwrap();
            let granted: BTreeSet<_> = outcome.grants.keys().cloned().collect();
            prop_assert_eq!(&granted, &specified(&agent, role, &land, &world));
            // Tool by tool: the filter of the entry, none for what the agent added itself.
            let flow = land.flow(role);
            for (identity, grant) in &outcome.grants {
                let server = flow.mcp_servers.iter().find(|entry| {
                    world.server(&entry.id).is_some_and(|server| server.identity == *identity)
                });
                let app = flow.apps.iter().find(|entry| {
                    world.app("p", &entry.app_id).and_then(|app| app.own_server.as_ref()) == Some(identity)
                });
                let filter = server.map(|entry| &entry.tools).or(app.map(|entry| &entry.tools));
                for (index, tool) in TOOLS.iter().enumerate() {
                    prop_assert_eq!(grant.tool(tool), word(filter, index), "{} of {}", tool, identity.as_str());
                }
            }
            // Without the land_config there is nothing at all, and no other one in its place.
            prop_assert!(grants(&agent, role, |_| None, &world).is_err());
            let none = AgentConfig { mode: Mode::Flow, land_config_id: None, ..agent.clone() };
            prop_assert!(grants(&none, role, |_| Some(&land), &world).is_err());
            // And without servers and apps there is nothing either.
            let empty = World::new(Vec::new(), Vec::new());
            prop_assert!(grants(&agent, role, |_| Some(&land), &empty).unwrap().grants.is_empty());
            // Nobody is both granted and refused.
            prop_assert!(outcome.refusals.iter().all(|r| r.identity.as_ref().is_none_or(|i| !granted.contains(i)
                || r.code == chatos_policy::Code::NotExposed)));
        }
    }
}
