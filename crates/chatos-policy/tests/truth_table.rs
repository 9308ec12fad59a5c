//! The truth table of grants, row by row, and what must never happen.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use chatos_contribution::{Exposed, ServerIdentity};
use chatos_policy::{
    AgentApps, AgentConfig, AppEntry, AppFacts, Code, Explanation, Flow, Glob, LandConfig, Limits, Mode,
    Outcome, PromptLang, ROUTER_SERVER, Role, RunRefusal, SAFE_DEFAULT, ServerEntry, ServerFacts,
    ServerState, ToolDecision, ToolFilter, UiApp, Via, World, built_in, changes, explain, grants,
};

const ROLES: [Role; 2] = [Role::Main, Role::Sub];

fn server(id: &str) -> ServerFacts {
    ServerFacts {
        identity: ServerIdentity::admin(id),
        row_id: Some(id.to_owned()),
        name: id.to_owned(),
        state: ServerState::Usable,
        allow_main: true,
        allow_sub: true,
        is_router: id == ROUTER_SERVER,
    }
}

fn app_identity(plugin: &str, app: &str) -> ServerIdentity {
    serde_json::from_value(serde_json::json!(format!("app:{plugin}/{app}"))).unwrap()
}

fn app_server(plugin: &str, app: &str) -> ServerFacts {
    ServerFacts {
        identity: app_identity(plugin, app),
        row_id: None,
        name: format!("{plugin}.{app}"),
        ..server("unused")
    }
}

fn app(plugin: &str, id: &str, exposes: Exposed) -> AppFacts {
    AppFacts {
        plugin_id: plugin.to_owned(),
        app_id: id.to_owned(),
        name: id.to_owned(),
        own_server: Some(app_identity(plugin, id)),
        exposes,
    }
}

fn entry(id: &str) -> ServerEntry {
    ServerEntry {
        id: id.to_owned(),
        name: String::new(),
        prompt_lang: PromptLang::Auto,
        prompt: true,
        sampling: false,
        instructions: true,
        tools: ToolFilter::default(),
    }
}

fn app_entry(plugin: &str, id: &str) -> AppEntry {
    AppEntry {
        plugin_id: plugin.to_owned(),
        app_id: id.to_owned(),
        name: String::new(),
        prompt_lang: PromptLang::Auto,
        prompt: true,
        sampling: false,
        instructions: true,
        tools: ToolFilter::default(),
    }
}

/// The same flow for both roles.
fn land(flow: Flow) -> LandConfig {
    LandConfig {
        id: "lc".to_owned(),
        name: "Land".to_owned(),
        description: String::new(),
        locked: false,
        main: flow.clone(),
        sub: flow,
        limits: Limits::default(),
    }
}

fn listing(ids: &[&str]) -> LandConfig {
    land(Flow { mcp_servers: ids.iter().map(|id| entry(id)).collect(), ..Flow::default() })
}

fn agent(mode: Mode) -> AgentConfig {
    AgentConfig { mode, land_config_id: Some("lc".to_owned()), mcp_server_ids: None, ui_apps: Vec::new() }
}

fn decide(agent: &AgentConfig, role: Role, land: &LandConfig, world: &World) -> Outcome {
    grants(agent, role, |id| (id == land.id).then_some(land), world).unwrap()
}

fn codes(outcome: &Outcome) -> Vec<Code> {
    outcome.refusals.iter().map(|refusal| refusal.code).collect()
}

fn granted(outcome: &Outcome) -> Vec<&str> {
    outcome.grants.keys().map(ServerIdentity::as_str).collect()
}

#[test]
fn row_1_flow_without_a_land_config_is_refused() {
    let land = listing(&["a"]);
    for id in [None, Some(String::new()), Some("  ".to_owned())] {
        let agent = AgentConfig { land_config_id: id, ..agent(Mode::Flow) };
        for role in ROLES {
            let refused = grants(&agent, role, |_| Some(&land), &World::default()).unwrap_err();
            assert_eq!(refused, RunRefusal::LandConfigRequired);
        }
    }
}

#[test]
fn row_2_an_unknown_land_config_is_refused_in_both_modes() {
    for mode in [Mode::Flow, Mode::Custom] {
        for role in ROLES {
            let refused = grants(&agent(mode), role, |_| None, &World::default()).unwrap_err();
            assert_eq!(refused, RunRefusal::LandConfigMissing);
        }
    }
    // Without Safe default there is nothing to fall back to either.
    let none = AgentConfig { land_config_id: None, ..agent(Mode::Custom) };
    assert_eq!(
        grants(&none, Role::Main, |_| None, &World::default()).unwrap_err(),
        RunRefusal::LandConfigMissing
    );
}

#[test]
fn rows_3_and_4_flow_gets_what_is_listed_and_nothing_else() {
    let world = World::new(vec![server("a"), server("b")], Vec::new());
    // Choices stored in a flow agent are ignored.
    let agent = AgentConfig { mcp_server_ids: Some(vec!["b".to_owned()]), ..agent(Mode::Flow) };
    for role in ROLES {
        let outcome = decide(&agent, role, &listing(&["a"]), &world);
        assert_eq!(granted(&outcome), ["admin:a"]);
        let b = explain(&outcome, &world, &ServerIdentity::admin("b"), "t");
        assert!(matches!(b, Explanation::Refused(refusal) if refusal.code == Code::NotInLandConfig));
    }
}

#[test]
fn row_5_a_server_that_is_off_or_untrusted() {
    for (state, code) in [
        (ServerState::Disabled, Code::Disabled),
        (ServerState::Untrusted, Code::Untrusted),
        (ServerState::Unavailable, Code::Unavailable),
    ] {
        let world = World::new(vec![ServerFacts { state, ..server("a") }], Vec::new());
        for role in ROLES {
            let outcome = decide(&agent(Mode::Flow), role, &listing(&["a"]), &world);
            assert_eq!((granted(&outcome), codes(&outcome)), (vec![], vec![code]));
        }
    }
}

#[test]
fn row_6_the_flag_of_the_role() {
    for (role, code) in [(Role::Main, Code::MainNotAllowed), (Role::Sub, Code::SubNotAllowed)] {
        let closed =
            ServerFacts { allow_main: role != Role::Main, allow_sub: role != Role::Sub, ..server("a") };
        let world = World::new(vec![closed], Vec::new());
        for asked in ROLES {
            let outcome = decide(&agent(Mode::Flow), asked, &listing(&["a"]), &world);
            if asked == role {
                assert_eq!((granted(&outcome), codes(&outcome)), (vec![], vec![code]));
            } else {
                assert_eq!(granted(&outcome), ["admin:a"]);
            }
        }
    }
}

#[test]
fn row_7_the_tool_filter() {
    let tools = |allow: Option<&[&str]>, deny: &[&str], ask: &[&str]| {
        let globs = |list: &[&str]| list.iter().map(|g| Glob::new(*g)).collect::<Vec<_>>();
        ToolFilter { allow: allow.map(globs), deny: globs(deny), ask: globs(ask) }
    };
    let world = World::new(vec![server("a")], Vec::new());
    for (filter, tool, expected) in [
        (tools(None, &[], &[]), "x", ToolDecision::Allow),
        (tools(Some(&[]), &[], &[]), "x", ToolDecision::Deny),
        (tools(Some(&["x"]), &[], &[]), "X", ToolDecision::Allow),
        (tools(Some(&["x"]), &[], &[]), "xy", ToolDecision::Deny),
        (tools(Some(&["x*"]), &["xy"], &[]), "xy", ToolDecision::Deny),
        (tools(None, &["*"], &["x"]), "x", ToolDecision::Deny),
        (tools(None, &[], &["x"]), "x", ToolDecision::Ask),
        (tools(Some(&["y"]), &[], &["x"]), "x", ToolDecision::Deny),
    ] {
        let land = land(Flow {
            mcp_servers: vec![ServerEntry { tools: filter.clone(), ..entry("a") }],
            ..Flow::default()
        });
        for role in ROLES {
            let outcome = decide(&agent(Mode::Custom), role, &land, &world);
            let id = ServerIdentity::admin("a");
            assert_eq!(outcome.tool(&id, tool), Some(expected), "{filter:?} {tool}");
            match explain(&outcome, &world, &id, tool) {
                Explanation::Allowed { ask, .. } => assert_eq!(ask, expected == ToolDecision::Ask),
                Explanation::Refused(refusal) => {
                    assert_eq!((refusal.code, expected), (Code::ToolFiltered, ToolDecision::Deny));
                    assert!(refusal.en().contains(tool) && refusal.zh().contains(tool));
                }
            }
        }
    }
}

#[test]
fn row_8_custom_without_anything_is_the_safe_default() {
    let all = built_in();
    let servers: Vec<_> = all[1].main.mcp_servers.iter().map(|entry| server(&entry.id)).collect();
    let world = World::new(servers, Vec::new());
    let agent = AgentConfig { land_config_id: None, ..agent(Mode::Custom) };
    for role in ROLES {
        let outcome = grants(&agent, role, |id| all.iter().find(|land| land.id == id), &world).unwrap();
        assert_eq!(outcome.land_id, SAFE_DEFAULT);
        let expected = all[0].flow(role).mcp_servers.len();
        assert_eq!(outcome.grants.len(), expected);
    }
}

#[test]
fn rows_9_and_10_choice_and_land_config_are_intersected() {
    let world = World::new(vec![server("a"), server("b"), server("c")], Vec::new());
    let agent =
        AgentConfig { mcp_server_ids: Some(vec!["b".to_owned(), "c".to_owned()]), ..agent(Mode::Custom) };
    for role in ROLES {
        let outcome = decide(&agent, role, &listing(&["a", "b"]), &world);
        assert_eq!(granted(&outcome), ["admin:b"]);
        let mut refused = codes(&outcome);
        refused.sort();
        assert_eq!(refused, [Code::NotInLandConfig, Code::NotChosen]);
    }
    // `[]` is a choice: none.
    let none = AgentConfig { mcp_server_ids: Some(Vec::new()), ..agent };
    assert_eq!(granted(&decide(&none, Role::Main, &listing(&["a", "b"]), &world)), Vec::<&str>::new());
}

#[test]
fn rows_11_and_12_an_app_the_agent_chose() {
    let world = World::new(vec![app_server("p", "x")], vec![app("p", "x", Exposed::None)]);
    let agent = AgentConfig { ui_apps: vec![UiApp::own("p", "x")], ..agent(Mode::Custom) };
    for role in ROLES {
        let trusted = land(Flow { agent_apps: AgentApps::Trusted, ..Flow::default() });
        let outcome = decide(&agent, role, &trusted, &world);
        assert_eq!(granted(&outcome), ["app:p/x"]);
        assert_eq!(outcome.grants.values().next().unwrap().via, Via::AgentApp);
        let outcome = decide(&agent, role, &land(Flow::default()), &world);
        assert_eq!((granted(&outcome), codes(&outcome)), (vec![], vec![Code::NotInLandConfig]));
        // In flow mode the same land_config grants nothing.
        let flow = AgentConfig { mode: Mode::Flow, ..agent.clone() };
        assert_eq!(granted(&decide(&flow, role, &trusted, &world)), Vec::<&str>::new());
    }
}

#[test]
fn row_13_sub_agents_never_get_the_router() {
    let world = World::new(vec![server(ROUTER_SERVER)], Vec::new());
    let land = listing(&[ROUTER_SERVER]);
    for mode in [Mode::Custom, Mode::Flow] {
        assert_eq!(decide(&agent(mode), Role::Main, &land, &world).grants.len(), 1);
        let sub = decide(&agent(mode), Role::Sub, &land, &world);
        assert_eq!((sub.grants.len(), codes(&sub)), (0, vec![Code::RouterInSub]));
    }
    // With no depth the main agent does not get it either.
    let flat = LandConfig { limits: Limits { max_sub_depth: Some(0), ..Limits::default() }, ..land };
    let main = decide(&agent(Mode::Flow), Role::Main, &flat, &world);
    assert_eq!((main.grants.len(), codes(&main)), (0, vec![Code::SubDepthZero]));
}

#[test]
fn names_do_not_grant_each_other() {
    let world = World::new(vec![server("code"), server("code_writer")], Vec::new());
    let outcome = decide(&agent(Mode::Flow), Role::Main, &listing(&["code"]), &world);
    assert_eq!(granted(&outcome), ["admin:code"]);
    // A server somebody gave the name of another one is not that other one.
    let double = ServerFacts { name: "code".to_owned(), ..server("x") };
    let world = World::new(vec![server("code"), double], Vec::new());
    let agent = AgentConfig { mcp_server_ids: Some(vec!["code".to_owned()]), ..agent(Mode::Custom) };
    assert_eq!(granted(&decide(&agent, Role::Main, &listing(&["code", "x"]), &world)), ["admin:code"]);
}

#[test]
fn a_row_that_mirrors_an_app_is_that_app() {
    let mirrored = ServerFacts { row_id: Some("row".to_owned()), ..app_server("p", "x") };
    let world = World::new(vec![mirrored], vec![app("p", "x", Exposed::None)]);
    let by_row = decide(&agent(Mode::Flow), Role::Main, &listing(&["row"]), &world);
    let by_app = land(Flow { apps: vec![app_entry("p", "x")], ..Flow::default() });
    let by_app = decide(&agent(Mode::Flow), Role::Main, &by_app, &world);
    assert_eq!(granted(&by_row), granted(&by_app));
    assert_eq!(granted(&by_row), ["app:p/x"]);
}

#[test]
fn selected_servers_of_an_app_must_be_exposed_and_listed() {
    let world = World::new(
        vec![server("a"), server("b"), app_server("p", "x")],
        vec![app("p", "x", Exposed::List(vec!["a".to_owned()]))],
    );
    let wanted = UiApp { mcp_server_ids: vec!["a".into(), "b".into()], ..UiApp::own("p", "x") };
    let agent =
        AgentConfig { mcp_server_ids: Some(Vec::new()), ui_apps: vec![wanted], ..agent(Mode::Custom) };
    let outcome = decide(&agent, Role::Main, &listing(&["a", "b"]), &world);
    assert_eq!(granted(&outcome), ["admin:a"]);
    assert!(codes(&outcome).contains(&Code::NotExposed));
    // Exposed but not listed: `agentApps` covers an app's own server, never what it exposes.
    let trusted = land(Flow { agent_apps: AgentApps::Trusted, ..Flow::default() });
    let outcome = decide(&agent, Role::Main, &trusted, &world);
    assert_eq!(granted(&outcome), Vec::<&str>::new());
}

#[test]
fn what_is_gone_is_named_and_grants_nothing() {
    let world = World::new(vec![server("a")], Vec::new());
    let land = land(Flow {
        mcp_servers: vec![entry("a"), ServerEntry { name: "Old".into(), ..entry("gone") }],
        apps: vec![app_entry("p", "x")],
        ..Flow::default()
    });
    let agent = AgentConfig { ui_apps: vec![UiApp::own("q", "y")], ..agent(Mode::Custom) };
    let outcome = decide(&agent, Role::Main, &land, &world);
    let names: Vec<_> = outcome.refusals.iter().map(|refusal| refusal.server.as_str()).collect();
    assert_eq!((granted(&outcome), names), (vec!["admin:a"], vec!["Old", "p.x", "q.y"]));
}

#[test]
fn listed_twice_means_both_filters() {
    let globs = |list: &[&str]| Some(list.iter().map(|g| Glob::new(*g)).collect());
    let land = land(Flow {
        mcp_servers: vec![
            ServerEntry {
                tools: ToolFilter { allow: globs(&["a", "b"]), ..ToolFilter::default() },
                ..entry("s")
            },
            ServerEntry {
                tools: ToolFilter { allow: globs(&["b", "c"]), ..ToolFilter::default() },
                ..entry("s")
            },
        ],
        ..Flow::default()
    });
    assert!(land.faults().iter().all(chatos_policy::LandConfigFault::is_warning));
    assert_eq!(land.faults().len(), 2, "once per role");
    let world = World::new(vec![server("s")], Vec::new());
    let outcome = decide(&agent(Mode::Flow), Role::Main, &land, &world);
    let id = ServerIdentity::admin("s");
    let said: Vec<_> = ["a", "b", "c"].iter().map(|tool| outcome.tool(&id, tool).unwrap()).collect();
    assert_eq!(said, [ToolDecision::Deny, ToolDecision::Allow, ToolDecision::Deny]);
}

#[test]
fn a_person_sees_what_changes_before_saving() {
    let world = World::new(vec![server("a"), server("b")], Vec::new());
    let before = decide(&agent(Mode::Flow), Role::Main, &listing(&["a"]), &world);
    let filtered = land(Flow {
        mcp_servers: vec![
            ServerEntry {
                tools: ToolFilter { ask: vec![Glob::new("w*")], ..ToolFilter::default() },
                ..entry("a")
            },
            entry("b"),
        ],
        ..Flow::default()
    });
    let after = decide(&agent(Mode::Flow), Role::Main, &filtered, &world);
    let changes = changes(&before, &after, |_| vec!["read".to_owned(), "write".to_owned()]);
    let said: Vec<_> =
        changes.iter().map(|c| (c.server.as_str(), c.tool.as_deref(), c.before, c.after)).collect();
    assert_eq!(
        said,
        [
            ("a", Some("write"), Some(ToolDecision::Allow), Some(ToolDecision::Ask)),
            ("b", None, None, Some(ToolDecision::Allow)),
        ]
    );
}
